"""The pictures of docs/gallery.md are those that its code draws today."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parent.parent.parent / "docs"
WORDS = re.compile(r"<text[^>]*>(.*?)</text>", re.DOTALL)
MATPLOTLIB = re.compile(r"Matplotlib v([\d.]+)")
OTHER_SCRIPTS = {"scaling.svg", "pruning.svg", "report.png"}  # of the benchmarks, and a screenshot


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gallery", DOCS / "pictures" / "gallery.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_pictures_are_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    """Trees to the byte; what matplotlib draws, by its words, since other versions place them otherwise."""
    pytest.importorskip("matplotlib")
    stale, drawn = [], set()
    for name, svg in script().draw():
        kept = (DOCS / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
        drawn.add(f"{name}.svg")
        same = WORDS.findall(svg) == WORDS.findall(kept) if MATPLOTLIB.search(svg) else svg == kept
        if not same:
            stale.append(name)
    assert not stale, "run `python docs/pictures/gallery.py`"
    present = {path.name for path in (DOCS / "pictures").iterdir() if path.suffix in (".svg", ".png")}
    assert present - OTHER_SCRIPTS == drawn
    assert drawn == set(re.findall(r"pictures/([\w-]+\.svg)", (DOCS / "gallery.md").read_text()))
