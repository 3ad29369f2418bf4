"""Trees by hand: tests, branches and leaves, and how they become arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.schema import Schema

_MOST_ROWS = 2**31  # that a leaf counts for, however heavy it is: the sum over all leaves stays an int64


@dataclass(frozen=True)
class Below:
    """The test `value <= threshold` of a number or a time."""

    column: str
    threshold: float


@dataclass(frozen=True)
class Among:
    """The test whether a category is one of `categories`."""

    column: str
    categories: tuple[Any, ...]


@dataclass(frozen=True)
class Leaf:
    """A leaf: the weight of each class; or weight, value and deviation of each target of numbers."""

    statistic: Sequence[float]


@dataclass(frozen=True)
class Branch:
    """A test and what follows: `left` where it holds, `right` where not.

    Missing values go left, right, or by default to the heavier side.
    """

    test: Below | Among
    left: Branch | Leaf
    right: Branch | Leaf
    missing_left: bool | None = None


def flatten(schema: Schema, root: Branch | Leaf) -> dict[str, NDArray[Any]]:
    """The arrays of a tree, in preorder; no recursion, so that any depth will do."""
    nodes: list[Branch | Leaf] = []
    stack = [root]
    while stack:
        node = stack.pop()
        nodes.append(node)
        if isinstance(node, Branch):
            stack += [node.right, node.left]
        elif not isinstance(node, Leaf):
            raise TypeError(f"a tree is written of Branch and Leaf, not of {node!r}")
    n = len(nodes)
    end = np.arange(1, n + 1, dtype=np.int32)
    statistic = np.zeros((n, schema.width))
    missing_left = np.zeros(n, np.bool_)
    rows = np.zeros(n, np.int64)
    for i in range(n - 1, -1, -1):
        node = nodes[i]
        if isinstance(node, Leaf):
            statistic[i] = _leaf_statistic(schema, node)
            rows[i] = round(min(_weight(schema, statistic[i]), _MOST_ROWS))
        else:
            left, right = i + 1, end[i + 1]
            end[i] = end[right]
            statistic[i] = _joined(schema, statistic[left], statistic[right])
            rows[i] = rows[left] + rows[right]
            heavier_left = _weight(schema, statistic[left]) >= _weight(schema, statistic[right])
            missing_left[i] = heavier_left if node.missing_left is None else node.missing_left
    branches = np.array([isinstance(node, Branch) for node in nodes])
    tests = [
        _encoded_test(schema, node.test) if isinstance(node, Branch) else (-1, np.nan, b"") for node in nodes
    ]
    lengths = np.array([len(bits) for _, _, bits in tests])
    return {
        "end": end,
        "feature": np.array([feature for feature, _, _ in tests], np.int32),
        "threshold": np.array([threshold for _, threshold, _ in tests], np.float64),
        "subset": np.where(lengths > 0, np.cumsum(lengths) - lengths, -1),
        "missing_left": missing_left,
        "step": np.where(branches, np.cumsum(branches) - 1, -1).astype(np.int32),
        "rows": rows,
        "statistic": statistic,
        "subsets": np.frombuffer(b"".join(bits for _, _, bits in tests), np.uint8).copy(),
    }


def _leaf_statistic(schema: Schema, leaf: Leaf) -> NDArray[np.float64]:
    statistic = np.asarray(leaf.statistic, np.float64)
    if statistic.shape != (schema.width,):
        wanted = "a weight per class" if schema.predicts_classes else "weight, value, deviation per target"
        raise ValueError(f"a leaf has {statistic.size} numbers; this schema wants {schema.width} ({wanted})")
    if not _weight(schema, statistic) > 0:
        raise ValueError(f"a leaf needs a positive weight; got {leaf.statistic!r}")
    return statistic


def _weight(schema: Schema, statistic: NDArray[np.float64]) -> float:
    return float(statistic[: schema.block_widths[0]].sum() if schema.predicts_classes else statistic[0])


def _joined(schema: Schema, a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """The statistic of a parent from its children's."""
    if schema.predicts_classes:
        return a + b
    weight, share = a[::3] + b[::3], b[::3] / (a[::3] + b[::3])
    distance = b[1::3] - a[1::3]
    deviation = a[2::3] + b[2::3] + distance**2 * a[::3] * share
    return np.stack([weight, a[1::3] + distance * share, deviation], axis=1).ravel()


def _encoded_test(schema: Schema, test: Below | Among) -> tuple[int, float, bytes]:
    """(column, threshold, bits of the categories that go left)."""
    if not isinstance(test, Below | Among):
        raise TypeError(f"a test is Below(column, threshold) or Among(column, categories), not {test!r}")
    position = schema.position(test.column)
    column = schema.columns[position]
    if isinstance(test, Below):
        if column.kind == "category":
            raise ValueError(f"column {column.name!r} is a category; test it with Among")
        return position, float(test.threshold), b""
    if column.kind != "category":
        raise ValueError(f"column {column.name!r} is a {column.kind}; test it with Below")
    if isinstance(test.categories, str):
        raise TypeError(f"categories are a tuple: Among({column.name!r}, ({test.categories!r},))")
    unknown = [category for category in test.categories if category not in column.categories]
    if unknown:
        raise ValueError(
            f"column {column.name!r} has no category {unknown[0]!r}; it has {list(column.categories)}"
        )
    bits = np.isin(np.arange(len(column.categories)), [column.categories.index(c) for c in test.categories])
    return position, np.nan, np.packbits(bits, bitorder="little").tobytes()
