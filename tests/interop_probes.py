"""Rows that are as hard as can be for a tree: on its thresholds, beside them, beyond, missing, unseen."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright import Tree


def probes(tree: Tree, n: int = 10_000, seed: int = 0) -> dict[str, Any]:
    """A table of `n` rows for the columns of a tree."""
    rng = np.random.default_rng(seed)
    table: dict[str, Any] = {}
    for j, column in enumerate(tree.schema.columns):
        if column.kind == "category":
            pool = [*column.categories, *_unseen(column.categories), None]
            values = [pool[i] for i in rng.integers(0, len(pool), n)]
            is_text = isinstance(column.categories[0], str)
            table[column.name] = np.array(values, object) if is_text else values
            continue
        thresholds = tree.threshold[tree.feature == j]
        finite = thresholds[np.isfinite(thresholds)]
        with np.errstate(over="ignore"):
            spread = rng.normal(size=50) * (np.abs(finite).max() if finite.size else 1.0)
            beside = [np.nextafter(thresholds, side) for side in (-np.inf, np.inf)]
            single = thresholds.astype(np.float32)
            casts = [single, np.nextafter(single, np.float32(np.inf)), np.nextafter(single, -np.float32(np.inf))]
        odd = [0.0, -0.0, np.inf, -np.inf, np.nan, np.nan, 5e-324, -5e-324, 1.7976931348623157e308]
        pool = np.concatenate([*[thresholds] * 3, *beside, *[c.astype(float) for c in casts], odd, spread])
        drawn = pool[rng.integers(0, len(pool), n)]
        if column.kind == "time":
            whole = np.where(np.abs(drawn) < 9e18, drawn, np.nan)
            stamps = np.full(n, np.datetime64("NaT", "us"))
            known = ~np.isnan(whole)
            stamps[known] = np.floor(whole[known]).astype(np.int64).astype("datetime64[us]")
            drawn = stamps
        table[column.name] = drawn
    return table


def _unseen(categories: tuple[Any, ...]) -> list[Any]:
    """Values that are none of the categories, of their type."""
    if isinstance(categories[0], str):
        return [text for text in ("never seen", "0", " ", categories[0] + " ") if text not in categories]
    if isinstance(categories[0], bool):
        return []
    return [number for number in (-7, 10**6, max(categories) + 1) if number not in categories]
