"""Every invariant of a tree, stated once. Tests and loaders call it; a tree that passes is safe to walk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.sparse import SparseRows

if TYPE_CHECKING:
    from treewright.tree import Tree

_TYPES = {
    "end": np.int32,
    "feature": np.int32,
    "threshold": np.float64,
    "subset": np.int64,
    "missing_left": np.bool_,
    "step": np.int32,
    "rows": np.int64,
    "statistic": np.float64,
    "subsets": np.uint8,
}


def check(tree: Tree) -> None:
    """Raise ValueError with the first invariant that does not hold."""
    task = "classes" if tree.schema.predicts_classes else "numbers"
    known = [name for name, of in _core.criteria() if of == task]
    _demand(tree.criterion in known, f"criterion {tree.criterion!r} is not one of {task}: {', '.join(known)}")
    _check_arrays(tree)
    _check_shape(tree)
    _check_tests(tree)
    if isinstance(tree.statistic, SparseRows):
        _check_sparse(tree, tree.statistic)
    else:
        _check_table(tree, tree.statistic)


def _demand(holds: object, message: str) -> None:
    if not holds:
        raise ValueError(f"this is not a tree: {message}")


def _check_arrays(tree: Tree) -> None:
    n = len(tree.end)
    _demand(n > 0, "it has no nodes")
    for name, dtype in _TYPES.items():
        array = getattr(tree, name)
        _demand(array.dtype == dtype, f"{name} has type {array.dtype}, not {np.dtype(dtype)}")
        shape = {"statistic": (n, tree.schema.width), "subsets": array.shape[:1]}.get(name, (n,))
        _demand(array.shape == shape, f"{name} has shape {array.shape}, not {shape}")
    _demand(
        isinstance(tree.statistic, SparseRows) == tree.schema.is_wide,
        f"the statistic of {tree.schema.width} numbers is "
        + ("not compressed" if tree.schema.is_wide else "compressed"),
    )


def _check_shape(tree: Tree) -> None:
    """`end` is the shape of a binary tree: subtrees nest, and a branch has exactly two children."""
    n = len(tree.end)
    nodes = np.arange(n)
    leaf = tree.end == nodes + 1
    _demand(
        (leaf == (tree.feature < 0)).all(), "a node is a leaf by `end` but not by `feature`, or the reverse"
    )
    _demand(((tree.end > nodes) & (tree.end <= n)).all(), "`end` points outside the tree")
    _demand(tree.end[0] == n, "the root does not span all nodes")
    inner = np.flatnonzero(~leaf)
    left_end = tree.end[inner + 1]
    _demand((left_end < tree.end[inner]).all(), "a branch has no right child")
    _demand(
        (tree.end[np.minimum(left_end, n - 1)] == tree.end[inner]).all(), "a branch's children do not fill it"
    )
    steps = np.sort(tree.step[inner])
    _demand((tree.step[leaf] == -1).all() and (steps >= 0).all(), "`step` is -1 exactly at leaves")
    _demand((np.diff(steps) > 0).all(), "two nodes have the same step")


def _check_tests(tree: Tree) -> None:
    columns = tree.schema.columns
    inner = tree.feature >= 0
    _demand((tree.feature < len(columns)).all(), f"a test names a column beyond the {len(columns)} there are")
    _demand((tree.feature >= -1).all(), "a test names a column below -1")
    is_category = np.array([column.kind == "category" for column in columns] + [False])[tree.feature]
    _demand(
        (np.isnan(tree.threshold) == (~inner | is_category)).all(), "only tests of numbers have thresholds"
    )
    _demand(((tree.subset >= 0) == (inner & is_category)).all(), "only tests of categories have subsets")
    n_bytes = np.array([*tree.schema.subset_sizes, 0])[tree.feature]
    _demand(
        (tree.subset + n_bytes <= len(tree.subsets))[tree.subset >= 0].all(),
        "a subset lies outside `subsets`",
    )
    _demand(not tree.missing_left[~inner].any(), "a leaf sends missing values left")
    _demand((tree.rows >= 0).all(), "a node has fewer than 0 rows")


def _check_sparse(tree: Tree, rows: SparseRows) -> None:
    """Each leaf holds positive weights of ascending classes; the branches are their sums by construction."""
    types = {"end": np.int32, "start": np.int64, "column": np.int32, "value": np.float64}
    for name, dtype in types.items():
        array = getattr(rows, name)
        _demand(array.dtype == dtype, f"{name} has type {array.dtype}, not {np.dtype(dtype)}")
        _demand(array.ndim == 1, f"{name} has {array.ndim} dimensions, not 1")
    _demand(np.array_equal(rows.end, tree.end), "the statistic is that of another tree")
    n = len(rows.end)
    _demand(
        len(rows.start) == n + 1 and rows.start[0] == 0 and (np.diff(rows.start) >= 0).all(),
        "`start` does not tell where each row of the statistic begins",
    )
    _demand(len(rows.column) == len(rows.value) == rows.start[-1], "the statistic has loose ends")
    node = np.repeat(np.arange(n), np.diff(rows.start))
    _demand(tree.is_leaf[node].all(), "a branch has a statistic of its own")
    _demand(((rows.column >= 0) & (rows.column < rows.width)).all(), "the statistic names an unknown class")
    _demand((np.diff(node * rows.width + rows.column) > 0).all(), "the classes of a leaf do not ascend")
    _demand(np.isfinite(rows.value).all(), "the statistic has numbers that are not finite")
    _demand((rows.value > 0).all(), "a leaf lists a class without weight")
    ends = np.cumsum(tree.schema.block_widths)
    n_targets = len(ends)
    told = np.unique(node * n_targets + np.searchsorted(ends, rows.column, side="right"))
    _demand(len(told) == tree.n_leaves * n_targets, "a node has no weight")


def _check_table(tree: Tree, statistic: NDArray[np.float64]) -> None:
    _demand(np.isfinite(statistic).all(), "the statistic has numbers that are not finite")
    _demand((tree.weight > 0).all(), "a node has no weight")
    left, right = tree.left[~tree.is_leaf], tree.right[~tree.is_leaf]
    parts = statistic if tree.schema.predicts_classes else statistic[:, ::3]
    _demand((parts >= 0).all(), "a weight is negative")
    _demand(
        np.allclose(parts[~tree.is_leaf], parts[left] + parts[right], rtol=1e-9, atol=0),
        "a node's weight is not the sum of its children's",
    )
    if not tree.schema.predicts_classes:
        _demand((statistic[:, 2::3] >= 0).all(), "a deviation is negative")
