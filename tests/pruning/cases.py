"""Small trees with their rows, and plain walks through them: for the tests of pruning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

from treewright import Among, Below, Branch, Column, Dataset, Leaf, Schema, Target, Tree, encode, grow

DEPTH = 100_000
ROWS = 60


@dataclass(frozen=True)
class Case:
    """A tree, the rows that it was grown from, and as many others."""

    tree: Tree
    data: Dataset
    validation: Dataset


def case(
    seed: int, *, classes: int = 2, weights: str | None = None, mixed: bool = False, **limits: Any
) -> Case:
    """A tree of noise with some sense in it; `classes=0`: of numbers; `mixed`: categories, missing values."""
    rng = np.random.default_rng(seed)
    n = 2 * ROWS
    x = rng.integers(0, 8, n).astype(float)
    y = rng.integers(0, 8, n).astype(float)
    table: dict[str, Any] = {"x": x, "y": y}
    sense = (x > 3).astype(int) + (y > 5)
    if mixed:
        x[rng.random(n) < 0.15] = np.nan
        table["job"] = rng.choice(["clerk", "cook", "pilot", "none"], n).astype(object)
        table["job"][rng.random(n) < 0.1] = None
    noise = rng.integers(0, max(classes, 2), n)
    target: Any = np.where(rng.random(n) < 0.6, sense % max(classes, 2), noise)
    if classes == 0:
        target = target + rng.normal(size=n).round(2)
    weight = None
    if weights == "whole":
        weight = rng.integers(0, 4, n).astype(float)
    elif weights == "parts":
        weight = rng.random(n) + 0.1
    whole = encode(table, target, weight=weight, classes=classes > 0)
    data, validation = whole.take(slice(0, ROWS)), whole.take(slice(ROWS, n))
    return Case(grow(data, **limits), data, validation)


def random_tree(seed: int, data: Dataset, depth: int = 5) -> Tree:
    """A tree of random tests, each of which has rows on both sides: no test is better than the others, so
    that every way of pruning has its turn.
    """
    rng = np.random.default_rng(seed)

    def node(rows: np.ndarray, depth: int) -> Branch | Leaf:
        for _ in range(4 if depth else 0):
            j = int(rng.integers(len(data.schema.columns)))
            column, values, missing_left = (
                data.schema.columns[j],
                data.column(j)[rows],
                rng.random() < 0.5,
            )
            test: Below | Among
            if column.kind == "category":
                chosen = rng.permutation(len(column.categories))[: rng.integers(1, len(column.categories))]
                test = Among(column.name, tuple(column.categories[i] for i in chosen))
                left = np.where(values < 0, missing_left, np.isin(values, chosen))
            else:
                test = Below(column.name, float(rng.integers(0, 7)) + 0.5)
                left = np.where(np.isnan(values), missing_left, values <= test.threshold)
            if left.any() and not left.all():
                sides = node(rows[left], depth - 1), node(rows[~left], depth - 1)
                return Branch(test, *sides, missing_left=bool(missing_left))
        return Leaf([1.0 / width for width in data.schema.block_widths for _ in range(width)])

    rows = np.array([row for row in range(data.n_rows) if weight_of(data, row) > 0])
    return Tree.write(data.schema, node(rows, depth)).recount(data)


def rows_at(tree: Tree, data: Dataset, node: int) -> list[int]:
    """The rows of positive weight that arrive at a node."""
    leaves = tree.apply(data).tolist()
    return [i for i, leaf in enumerate(leaves) if node <= leaf < tree.end[node] and weight_of(data, i) > 0]


def weight_of(data: Dataset, row: int) -> float:
    return 1.0 if data.weight is None else float(data.weight[row])


def bottom_up_leaves(tree: Tree, collapses: Callable[[int, list[int]], bool], node: int = 0) -> list[int]:
    """The leaves that are left below a node when each branch is asked after those below it."""
    if tree.is_leaf[node]:
        return [node]
    leaves = bottom_up_leaves(tree, collapses, node + 1) + bottom_up_leaves(
        tree, collapses, int(tree.right[node])
    )
    return [node] if collapses(node, leaves) else leaves


def pruned_to(tree: Tree, leaves: list[int]) -> Tree:
    """The tree that has exactly these leaves."""
    return tree.collapse([leaf for leaf in leaves if not tree.is_leaf[leaf]])


@cache
def chain(numbers: bool = False, depth: int = DEPTH) -> Tree:
    """x <= 0, x <= 1, … one after the other, a leaf at each."""
    node: Branch | Leaf = Leaf([1.0, 0.5, 0.0] if numbers else [2, 1])
    for i in range(depth - 1, -1, -1):
        node = Branch(
            Below("x", float(i)), Leaf([1.0, float(i % 7), 0.0] if numbers else [i % 2, 1 - i % 2]), node
        )
    return Tree.write(Schema((Column("x"),), (Target("y", None if numbers else ("even", "odd")),)), node)


def rows_of_the_chain(depth: int = DEPTH) -> Dataset:
    """Rows that reach every leaf of `chain` as it says."""
    x = np.concatenate([np.arange(float(depth)), np.full(3, float(depth))])
    y = np.concatenate([np.where(np.arange(depth) % 2, "even", "odd"), ["even", "even", "odd"]])
    return encode({"x": x}, y)


def one_leaf() -> Case:
    """A tree without a split."""
    data = encode({"x": [1.0, 2.0]}, ["a", "a"])
    return Case(grow(data), data, data.take([0]))


def bad_rows(tree: Tree, data: Dataset) -> Iterator[tuple[Any, type[Exception], str]]:
    """Rows that no method can use, with the error that says so."""
    yield data.take([]), ValueError, "no rows"
    nothing = Dataset(data.schema, data.columns, data.targets, np.zeros(data.n_rows))
    yield nothing, ValueError, "weigh"
    yield Dataset(data.schema, data.columns), ValueError, "no target"
    other = encode({"z": [1.0, 2.0]}, ["a", "b"])
    yield other, ValueError, "columns|targets"
    yield {"x": [1.0]}, TypeError, "Dataset"


def check_bad_rows(name: str, tree: Tree, data: Dataset, prune: Callable[..., Any]) -> None:
    """Every kind of unusable rows is refused, with the name of the parameter or what is wrong."""
    for rows, error, message in bad_rows(tree, data):
        with pytest.raises(error, match=message):
            prune(tree, **{name: rows})
