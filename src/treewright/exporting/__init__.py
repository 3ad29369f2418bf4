"""Formats of trees for people and other programs: one file each; this folder is the list of formats.

A format is a file with a function `render`. It may have `SUFFIXES`, those of its files if they differ from
its name, and `answers`, which runs what `render` made for a check of its predictions.
"""

from __future__ import annotations

from typing import Any

from treewright._registry import Folder
from treewright.exporting._check.probes import probes as probes
from treewright.tree.shortcuts import as_tree

FORMATS = Folder(__name__, __path__, "format", shared="render")


def formats() -> tuple[str, ...]:
    """The names of the formats that `export` knows.

    >>> "text" in formats()
    True
    """
    return FORMATS.names


def suffixes() -> dict[str, str]:
    """The formats by the suffixes of their files.

    >>> suffixes()[".py"], suffixes()[".sql"]
    ('python', 'sql')
    """
    return {
        suffix: name
        for name in FORMATS.names
        for suffix in getattr(FORMATS.module(name), "SUFFIXES", (f".{name}",))
    }


def export(model: Any, format: str = "text", *, check: Any = None, **options: Any) -> str | bytes:
    """A tree, or that of a fitted model, in a format.

    Parameters
    ----------
    model : Tree or fitted estimator
        What to export.
    format : str, default="text"
        One of `treewright.exporting.formats()`.
    check : bool, table, tuple (table, target) or Dataset, optional
        Run the result before it is returned, and compare its predictions with those of the model, to the last
        bit: on the rows, or, with True, on 10,000 rows at and next to every threshold, with missing and
        infinite values and unseen categories. ValueError names the first row that differs, ImportError what
        is missing to run it.
    **options
        Those of the format: the keyword arguments of its `render`.

    Returns
    -------
    str or bytes
        The tree in the format.

    Examples
    --------
    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"]))
    >>> print(export(tree))
    4 rows
    ├─ x <= 2.5   a   2 rows   100 %
    └─ x > 2.5    b   2 rows   100 %
    >>> "def predict(row)" in export(tree, "python", check=True)
    True
    """
    FORMATS.check(format, options, ("check", "format"))
    tree = as_tree(model)
    rendered: str | bytes = FORMATS.function(format)(tree, **options)
    if check is not None and check is not False:
        from treewright.exporting._check.agreement import check_export

        check_export(rendered, tree, FORMATS.module(format), check, options)
    return rendered
