"""A tree for readers and other programs: one file per format, and this folder is the list of formats."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Any

from treewright.tree import Tree


def formats() -> tuple[str, ...]:
    """The names of the formats that `export` knows.

    >>> "text" in formats()
    True
    """
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


def export(tree: Tree, format: str = "text", **options: Any) -> str | bytes:
    """Render `tree` in a format; `options` are those of the format's `render`.

    >>> export(None, "papyrus")
    Traceback (most recent call last):
    ValueError: format 'papyrus' is unknown; known: text
    """
    if format not in formats():
        raise ValueError(f"format {format!r} is unknown; known: {', '.join(formats())}")
    rendered: str | bytes = import_module(f"{__name__}.{format}").render(tree, **options)
    return rendered
