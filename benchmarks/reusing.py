"""Figures of peers from the last run: taken again where the table and the library's version are the same."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from benchmarks import keeping


def fingerprint(text: str) -> str:
    """What tells whether a table is the one that was measured."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def kept(room: str, versions: Mapping[str, str], packages: Mapping[str, str]) -> list[dict[str, Any]]:
    """The kept figures of a room, without the methods whose package has another version by now.

    `packages` names the package of each method that may be reused; all other methods are left out.
    """
    if not (keeping.RESULTS / f"{room}.json").exists():
        return []
    origin, figures = keeping.load(room)
    same = {
        method
        for method, package in packages.items()
        if package in versions and versions[package] == origin.versions.get(package)
    }
    return [_only(figure, same) for figure in figures["tables"]]


def _only(figure: dict[str, Any], methods: set[str]) -> dict[str, Any]:
    results = {
        variant: {name: found for name, found in results.items() if name in methods}
        for variant, results in figure["results"].items()
    }
    return figure | {"results": results}
