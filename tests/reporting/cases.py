"""Trees, paths and rows of every kind for tests of the report, and a reader of its facts."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright import Dataset, PruningPath, Tree, encode, grow, prune, report, select
from treewright.encoding.splits import split
from treewright.reporting import Report

Payload = dict[str, Any]
Parts = tuple[Dataset, Dataset, Dataset]


def some_rows(n: int, kind: str, seed: int = 0, weights: bool = False) -> Dataset:
    """A table with numbers, categories, dates and missing values."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=n).round(2), rng.normal(size=n).round(1)
    town = rng.integers(0, 6, n)
    day = rng.integers(0, 2000, n)
    score = x + 0.7 * (town % 3) + 0.0007 * day + rng.normal(size=n) / 2
    table = {
        "x": np.where(rng.random(n) < 0.1, np.nan, x),
        "town": np.array(["Bern", "Köln", "a, b", "Ulm", "Zug", ""], object)[town],
        "day": [datetime(2020, 1, 1) + timedelta(days=int(d)) for d in day],
        "z": z,
    }
    classes = {"two": 2, "few": 5, "many": 30, "very many": 300}
    target: Any = score
    if kind in classes:
        k = classes[kind]
        code = np.clip((np.argsort(np.argsort(score)) * k) // n, 0, k - 1)
        target = np.array([f"class {c}" for c in range(k)])[
            np.where(rng.random(n) < 0.1, rng.integers(0, k, n), code)
        ]
    return encode(table, target, weight=rng.integers(1, 4, n).astype(float) if weights else None)


@cache
def case(name: str) -> tuple[Tree, PruningPath | None, Parts]:
    """A tree, the path that it comes from, and rows to train, to validate and to test."""
    kind, _, more = name.partition("; ")
    data = some_rows(1200 if kind == "very many" else 600, kind, weights=more == "weights")
    train, validation, test = split(data, (0.5, 0.25, 0.25))
    tree = grow(train, max_leaf_nodes=60, criterion="absolute_error" if more == "absolute" else None)
    if more == "costs":
        tree = tree.with_costs({"class 1": {"class 0": 5.0}})
    if more == "alone":
        return tree, None, (train, validation, test)
    method = more if more in ("minimum_errors", "reduced_error") else "cost_complexity"
    path = prune(tree, method, **({"validation": validation} if method == "reduced_error" else {}))
    return tree, select(path, validation=validation) if path.is_open else path, (train, validation, test)


CASES = [
    "two",
    "two; alone",
    "two; minimum_errors",
    "two; reduced_error",
    "two; weights",
    "two; costs",
    "few",
    "many",
    "very many",
    "numbers",
    "numbers; alone",
    "numbers; absolute",
    "numbers; weights",
]


@cache
def made(name: str) -> Report:
    tree, path, (train, validation, test) = case(name)
    return report(path or tree, train=train, validation=validation, test=test)


def leaves_at(payload: Payload, path: Payload, place: int) -> NDArray[np.int64]:
    """The leaves of the tree at a place of a path, from the payload alone."""
    end, feature = payload["tree"]["end"], payload["tree"]["feature"]
    cuts = set(path["cuts"][place]) if "cuts" in path else None
    found, node = [], 0
    while node < len(end):
        first = -1 if cuts is not None else path["leaf_from"][node]
        gone = node in cuts if cuts is not None else 0 <= first <= place
        if feature[node] < 0 or gone:
            found.append(node)
            node = end[node]
        else:
            node += 1
    return np.array(found)


def walk(payload: Payload, row: list[Any]) -> int:
    """The leaf of a row, one value for each column: a number, a code of the page, None or "another"."""
    tree, node = payload["tree"], 0
    while tree["feature"][node] >= 0:
        value = row[tree["feature"][node]]
        if value is None:
            left = tree["missing_left"][node]
        elif payload["columns"][tree["feature"][node]]["kind"] == "category":
            codes = tree["left_categories"][str(node)]
            left = tree["heavier_left"][node] if value == "another" else value in codes
        else:
            threshold = tree["threshold"][node]
            left = value <= (np.inf if threshold == "inf" else threshold)
        node = node + 1 if left else tree["end"][node + 1]
    return node
