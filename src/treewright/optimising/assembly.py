"""From tests in preorder to a `Tree` with the statistics of the rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from treewright._arrays import Flags, Floats, Ints
from treewright.encoding import Dataset
from treewright.growing import grow
from treewright.growing.thresholds import Threshold
from treewright.optimising.views import Codes, Views, named_test
from treewright.tree import Tree
from treewright.tree.builder import (
    LEAF,
    NodeEntry,
    best_first_order,
    node_arrays,
    preorder_steps,
    subtree_ends,
)
from treewright.tree.class_counts import SparseRows
from treewright.tree.evaluate import rows_of
from treewright.tree.oblique import Direction, column_at, provenance
from treewright.tree.surgery import rounded_gains


class Found(NamedTuple):
    """A tree of views in preorder: rows whose code in the view is at most `code` go left; -1 at a leaf."""

    view: Ints
    code: Codes


def named_tests(views: Views, found: Found, threshold: Threshold) -> list[NodeEntry]:
    """The tests that the cuts of a tree of views stand for, in preorder."""
    ends = subtree_ends((found.view < 0).tolist())
    tests: list[NodeEntry] = []
    stack = [(0, np.arange(views.data.n_rows))]
    while stack:
        node, rows = stack.pop()
        view = int(found.view[node])
        if view < 0:
            tests.append(LEAF)
            continue
        left: Flags = views.codes[view, rows] <= found.code[node]
        test = named_test(views.data, int(views.column[view]), rows, left, threshold)
        tests.append(test.entry)
        sides = [(node + 1, rows[left]), (int(ends[node + 1]), rows[~left])]
        stack += sides if test.is_swapped else reversed(sides)
    return tests


def tree_of(
    data: Dataset, tests: Iterable[NodeEntry], criterion: str, directions: tuple[Direction, ...] = ()
) -> Tree:
    """The tree of tests in preorder, with the statistics of the rows of `data` and steps by their gains."""
    arrays = node_arrays(tests)
    end, schema = arrays["end"], data.schema
    one = np.ones((len(end), schema.width))
    tree = Tree(
        **arrays,
        step=preorder_steps(arrays["feature"] < 0),
        rows=np.ones(len(end), np.int64),
        statistic=SparseRows.of(end, one) if schema.is_wide else one,
        schema=schema,
        criterion=criterion,
        directions=directions,
        provenance=provenance(data, directions),
    )
    if schema.predicts_classes:
        tree = tree.recount(data)
    else:
        tree = replace(tree, rows=rows_of(tree, data), statistic=_moments(tree, data))
    return replace(tree, step=best_first_order(end, rounded_gains(tree.gain)))


def rows_at(tree: Tree, data: Dataset) -> list[Ints]:
    """The positions of the rows at each node."""
    leaf = tree.apply(data)
    order = np.argsort(leaf, kind="stable")
    starts = np.searchsorted(leaf[order], np.arange(tree.n_nodes + 1))
    return [order[starts[node] : starts[end]] for node, end in enumerate(tree.end.tolist())]


def _moments(tree: Tree, data: Dataset) -> Floats:
    """The statistic of numbers at each node, as the grower sums it: in any order of the rows."""
    target = data.select_columns([0])
    leaves = [grow(target.take(rows), max_depth=0, criterion=tree.criterion) for rows in rows_at(tree, data)]
    return np.concatenate([np.asarray(leaf.statistic) for leaf in leaves])


def cheapest_pruning(tree: Tree, price: float) -> Tree:
    """The pruning of least loss plus price for each leaf; of several, that of the fewest leaves.

    Leaves of the same answer under one node are merged with it: they lose what it loses.
    """
    best, slack = tree.loss.copy(), 1e-12 * float(tree.loss[0])
    best += price
    collapsed = []
    for node in range(tree.n_nodes - 1, -1, -1):
        if tree.is_leaf[node]:
            continue
        below = best[tree.left[node]] + best[tree.right[node]]
        if best[node] <= below + slack:
            collapsed.append(node)
        else:
            best[node] = below
    return tree.collapse(collapsed) if collapsed else tree


def found_of(views: Views, tree: Tree) -> Found:
    """A tree as one of views; a test that is the cut of no view becomes a leaf."""
    view, code = list[int](), list[int]()
    stack = [(0, np.arange(views.data.n_rows))]
    while stack:
        node, rows = stack.pop()
        cut = None
        if not tree.is_leaf[node]:
            left = goes_left(tree, node, views.data, rows)
            if left.any() and not left.all() and tree.feature[node] < views.data.n_columns:
                cut = views.cut_like(int(tree.feature[node]), left, rows)
        if cut is None:
            view.append(-1)
            code.append(0)
            continue
        view.append(cut[0])
        code.append(cut[1])
        sides = [(int(tree.left[node]), rows[left]), (int(tree.right[node]), rows[~left])]
        stack += sides if cut[2] else reversed(sides)
    return Found(np.array(view, np.int32), np.array(code, np.uint32))


def goes_left(tree: Tree, node: int, data: Dataset, rows: Ints) -> Flags:
    """Which rows go left at a node."""
    test, values = tree.stored_test(node), column_at(tree, data, int(tree.feature[node]), rows)
    missing = test.column.type.is_missing(values)
    unknown = ~test.is_known(values) & ~missing
    left = np.where(missing, bool(tree.missing_left[node]), test.holds(values))
    return np.asarray(np.where(unknown, bool(tree.heavier_left[node]), left), np.bool_)
