"""The commands: one file each, with a function of the same name; the folder is the registry."""

from __future__ import annotations

import pkgutil

_ORDER = (
    "describe",
    "fit",
    "prune",
    "improve",
    "compare",
    "predict",
    "explain",
    "report",
    "show",
    "rules",
    "export",
    "demo",
)  # of `treewright --help`; commands that are not listed come last


def _place(name: str) -> tuple[int, str]:
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)


COMMANDS = tuple(sorted((module.name for module in pkgutil.iter_modules(__path__)), key=_place))
