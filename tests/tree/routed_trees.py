"""Trees that treat missing values in other ways than by a side, and a slow, plain reading of what they do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.strategies import Table, tables
from treewright import Tree
from treewright.encoding import Dataset
from treewright.tree.surrogates import Surrogates

Array = NDArray[Any]


# ---- making ----------------------------------------------------------------------------------------


def with_surrogates(tree: Tree, rng: np.random.Generator, most: int = 3) -> Tree:
    """The tree with random surrogates at random nodes."""
    entries: list[tuple[Any, ...]] = []
    subsets: list[Array] = []
    columns = tree.schema.columns
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        others = [j for j in range(len(columns)) if j != tree.feature[node]]
        for j in rng.permutation(others)[: rng.integers(0, most + 1)].tolist():
            threshold, subset = np.nan, -1
            if columns[j].kind == "category":
                bits = rng.random(len(columns[j].categories)) < 0.5
                subset = sum(map(len, subsets))
                subsets.append(np.packbits(bits, bitorder="little"))
            else:
                known = tree.threshold[(tree.feature == j) & np.isfinite(tree.threshold)]
                threshold = float(rng.choice([*known, 0.0, 1.0, 2.0]))
            entries.append((node, j, threshold, subset, bool(rng.random() < 0.5), 0.75, 0.5))
    if not entries:
        return replace(tree, missing="surrogate")
    node, feature, threshold, subset, is_reversed, agreement, adjusted = zip(*entries, strict=True)
    surrogates = Surrogates(
        np.array(node, np.int32),
        np.array(feature, np.int32),
        np.array(threshold, np.float64),
        np.array(subset, np.int64),
        np.array(is_reversed, np.bool_),
        np.array(agreement, np.float64),
        np.array(adjusted, np.float64),
        np.concatenate([np.zeros(0, np.uint8), *subsets]),
    )
    return replace(tree, missing="surrogate", surrogates=surrogates)


@st.composite
def routed(draw: Any, criterion: str, missing: str) -> tuple[Tree, Dataset]:
    """A small tree with a way of missing values, and rows with holes and categories never seen."""
    table: Table = draw(tables(criterion, min_rows=4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    tree = table.grow(criterion, min_samples_leaf=draw(st.integers(1, 2)))
    tree = with_surrogates(tree, rng) if missing == "surrogate" else tree.with_missing(missing)
    tree.check()
    return tree, with_holes(table.dataset(), rng, draw(st.sampled_from([0.0, 0.2, 0.6])))


def with_holes(data: Dataset, rng: np.random.Generator, share: float) -> Dataset:
    """The rows with values taken away, some categories that nobody knows, and a row without any value."""
    columns = []
    for column in data.columns:
        cells = column.copy()
        gone = rng.random(len(cells)) < share
        if cells.dtype.kind == "i":
            cells[rng.random(len(cells)) < share / 2] = -2
            cells[gone] = -1
            cells[-1] = -1
        else:
            cells[gone] = np.nan
            cells[-1] = np.nan
        columns.append(cells)
    return Dataset(data.schema, tuple(columns), data.targets, data.weight)


# ---- reading ---------------------------------------------------------------------------------------


def value(data: Dataset, row: int, column: int) -> float:
    columns = data.columns.T if isinstance(data.columns, np.ndarray) else data.columns
    return float(columns[column][row])


def passes(tree: Tree, row: float, column: int, threshold: float, bits: Array, start: int) -> bool | None:
    """Whether a known value passes a test; None where it is missing, -2 where nobody knows the category."""
    if tree.schema.columns[column].kind != "category":
        return None if np.isnan(row) else bool(row <= threshold)
    code = int(row)
    return None if code < 0 else bool(bits[start + code // 8] >> (code % 8) & 1)


def side(tree: Tree, node: int, data: Dataset, row: int) -> bool | None:
    """Whether a row goes left; None where its value is missing."""
    column = int(tree.feature[node])
    cell = value(data, row, column)
    if cell == -2 and tree.schema.columns[column].kind == "category":
        left, right = int(tree.left[node]), int(tree.right[node])
        return bool(tree.weight[left] >= tree.weight[right])
    return passes(tree, cell, column, tree.threshold[node], tree.subsets, int(tree.subset[node]))


def parts(tree: Tree, data: Dataset, row: int, node: int = 0, share: float = 1.0) -> dict[int, float]:
    """The leaves of a row with its share in each."""
    if tree.is_leaf[node]:
        return {node: share}
    left, right = int(tree.left[node]), int(tree.right[node])
    goes_left = side(tree, node, data, row)
    if goes_left is None and tree.missing == "fractional":
        found = {}
        for child in (left, right):
            found |= parts(tree, data, row, child, share * (tree.weight[child] / tree.weight[node]))
        return {leaf: part for leaf, part in found.items() if part > 0}
    if goes_left is None:
        goes_left = bool(tree.missing_left[node])
        others = tree.surrogates
        for i in np.flatnonzero(others.node == node).tolist():
            column = int(others.feature[i])
            told = passes(
                tree,
                value(data, row, column),
                column,
                others.threshold[i],
                others.subsets,
                int(others.subset[i]),
            )
            if told is not None:
                goes_left = told != others.reversed[i]
                break
    return parts(tree, data, row, left if goes_left else right, share)


def all_parts(tree: Tree, data: Dataset) -> list[dict[int, float]]:
    return [parts(tree, data, row) for row in range(data.n_rows)]


def way_up(tree: Tree, leaf: int) -> list[int]:
    way = [leaf]
    while way[-1]:
        way.append(int(tree.parent[way[-1]]))
    return way


def mixture(tree: Tree, found: dict[int, float], target: int) -> Array:
    """What the leaves of a row say together."""
    told = tree.proportions[target] if tree.schema.predicts_classes else tree.value[:, target : target + 1]
    return np.sum([share * told[leaf] for leaf, share in found.items()], axis=0)
