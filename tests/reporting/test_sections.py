"""Sections are found by the names of their files: values in Python, a script that draws them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.reporting.test_page_accessibility import PAGE
from treewright import encode, grow, report
from treewright.reporting import sections


def test_every_section_with_values_has_a_script() -> None:
    scripts = {re.sub(r"^\d+_", "", path.stem) for path in (PAGE / "sections").glob("*.js")}
    assert set(sections.SECTIONS.names) <= scripts
    assert scripts - set(sections.SECTIONS.names) == {"quality"}  # drawn from the counts at the nodes
    for path in (PAGE / "sections").glob("*.js"):
        name = re.sub(r"^\d+_", "", path.stem)
        assert f'addSection({{ id: "{name}"' in path.read_text(encoding="utf-8"), path.name


def test_a_new_file_is_a_new_section(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "depth.py").write_text("def values(context):\n    return int(context.tree.levels.max())\n")
    (tmp_path / "nothing.py").write_text("def values(context):\n    return None\n")
    monkeypatch.setattr(sections, "__path__", [*sections.__path__, str(tmp_path)])
    monkeypatch.setattr(sections, "SECTIONS", replace(sections.SECTIONS, path=sections.__path__))
    data = encode({"x": [1, 2, 3, 4]}, ["a", "b", "a", "b"])
    payload = report(grow(data), train=data).payload
    assert payload["depth"] == grow(data).levels.max()
    assert "nothing" not in payload
