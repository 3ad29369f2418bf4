"""Draw the pictures of docs/gallery.md by the code on that page: `python docs/pictures/gallery.py`."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib

FOLDER = Path(__file__).parent
PAGE = FOLDER.parent / "gallery.md"
ROOM = re.compile(
    r"^```python\n(.*?)^```\n(?:\n!\[[^\]]*\]\(pictures/([\w-]+)\.svg\))?", re.DOTALL | re.MULTILINE
)
STYLE = {
    "svg.hashsalt": "treewright",  # the same to the byte whenever it is drawn
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def draw() -> Iterator[tuple[str, str]]:
    """The name and the SVG of each picture, in the order of the page."""
    from matplotlib import pyplot

    matplotlib.use("Agg")  # not "svg", which tests of the same process would draw with as well
    names: dict[str, Any] = {}
    with matplotlib.rc_context(STYLE):
        for number, (code, picture) in enumerate(ROOM.findall(PAGE.read_text(encoding="utf-8")), start=1):
            for result in ("svg", "figure", "ax"):
                names.pop(result, None)
            exec(compile(code, f"{PAGE.name}, block {number}", "exec"), names)
            if picture:
                yield picture, picture_of(names)
                pyplot.close("all")


def picture_of(names: dict[str, Any]) -> str:
    """What a block has drawn: `svg`, `figure`, or the figure of `ax`."""
    if "svg" in names:
        return str(names["svg"])
    figure = names["figure"] if "figure" in names else names["ax"].figure
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


if __name__ == "__main__":
    for picture, text in draw():
        (FOLDER / f"{picture}.svg").write_text(text, encoding="utf-8")
