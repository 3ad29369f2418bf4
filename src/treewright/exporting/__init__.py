"""A tree for readers and other programs: one file per format, and this folder is the list of formats."""

from __future__ import annotations

from typing import Any

from treewright.enlisting import Folder
from treewright.presenting import as_tree

FORMATS = Folder(__name__, __path__, "format", shared="render")


def formats() -> tuple[str, ...]:
    """The names of the formats that `export` knows.

    >>> "text" in formats()
    True
    """
    return FORMATS.names


def export(model: Any, format: str = "text", **options: Any) -> str | bytes:
    """A tree, or that of a fitted model, in a format; `options` are those of the format's `render`.

    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"]))
    >>> print(export(tree))
    4 rows
    ├─ x <= 2.5   a   2 rows   100 %
    └─ x > 2.5    b   2 rows   100 %
    """
    FORMATS.check(format, options)
    rendered: str | bytes = FORMATS.function(format)(as_tree(model), **options)
    return rendered
