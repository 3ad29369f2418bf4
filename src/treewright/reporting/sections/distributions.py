"""The distributions of the columns in the leaves: histograms at some nodes, summed above them."""

from __future__ import annotations

import heapq
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright._text import label_text
from treewright.encoding.schema import Column
from treewright.reporting.context import Context
from treewright.reporting.subject import Subject, gain_shares
from treewright.tree import Tree
from treewright.tree.evaluate import leaves_of
from treewright.tree.oblique import asked_columns

Ints = NDArray[np.int64]

MOST_NODES = 128  # of the frontier of counted nodes
MOST_COUNTS = 20_000  # numbers in total
BINS = 10
_FEWEST_COLUMNS = 4


def values(context: Context) -> dict[str, Any] | None:
    """Histograms of the columns at the nodes of a frontier; those of the nodes above are their sums."""
    tree, sample = context.tree, context.sample("train")
    share = gain_shares(context.subject.model_tree)
    tested = np.array(asked_columns(tree), np.int64)
    if sample is None or not tested.size:
        return None
    nodes = frontier(context.subject, sample.rows)
    most = max(MOST_COUNTS // (len(nodes) * (BINS + 1)), _FEWEST_COLUMNS)
    leaf = leaves_of(tree, sample.data)
    if sample.data.weight is not None:
        leaf = leaf[sample.data.counted]
    owner = np.searchsorted(nodes, leaf, side="right") - 1  # frontier and leaves are in preorder
    columns, counts = [], []
    for i in tested[np.lexsort((tested, -share[tested]))][:most].tolist():
        edges, labels, bins = binned_column(tree.schema.columns[i], sample.cells[i])
        table = np.bincount(owner * len(labels) + bins, minlength=len(nodes) * len(labels))
        counts.append(table.reshape(len(nodes), len(labels)).tolist())
        columns.append({"column": context.place[i], "edges": edges, "labels": labels})
    return {
        "sample": "train",
        "columns": columns,
        "nodes": nodes.tolist(),
        "counts": {str(node): [table[k] for table in counts] for k, node in enumerate(nodes.tolist())},
    }


def frontier(subject: Subject, rows: Ints) -> Ints:
    """At most `MOST_NODES` nodes that partition the rows: expanded from the root, the branches of the model
    before others and those with the most rows first.
    """
    tree: Tree = subject.tree
    inside = subject.inside.copy()
    inside[subject.cuts] = False  # leaves of the model are expanded later
    waiting = [(not inside[0], -int(rows[0]), 0)]
    done: list[int] = []
    while waiting and len(waiting) + len(done) < MOST_NODES:
        *_, node = heapq.heappop(waiting)
        if tree.is_leaf[node]:
            done.append(node)
            continue
        for child in (int(tree.left[node]), int(tree.right[node])):
            heapq.heappush(waiting, (not inside[child], -int(rows[child]), child))
    return np.sort(np.array([*done, *(node for *_, node in waiting)], np.int64))


def binned_column(column: Column, cells: NDArray[Any]) -> tuple[list[float] | None, list[str], Ints]:
    """Edges and labels of the bins of a column, and the bin of each row; the last is for missing values."""
    if column.type.is_category:
        counts = np.bincount(cells[cells >= 0], minlength=len(column.categories))
        named = np.sort(np.argsort(-counts, kind="stable")[: BINS if len(counts) <= BINS else BINS - 1])
        labels = [label_text(column.categories[code]) for code in named.tolist()]
        if len(counts) > len(named) or (cells == -2).any():
            labels.append("others")
        bins = np.full(len(counts) + 2, len(labels) - 1, np.int64)  # the last but one: UNSEEN, code -2
        bins[named] = np.arange(len(named))
        bins[-1] = len(labels)
        return None, [*labels, "missing"], bins[cells]
    values = np.asarray(cells, np.float64)
    missing = np.isnan(values)
    there = np.unique(values[~missing])
    if 0 < len(there) <= BINS:  # few distinct values, such as 0 and 1: one bar each
        labels = [column.threshold_text(value) for value in there.tolist()]
        return None, [*labels, "missing"], np.searchsorted(there, values)  # missing values are sorted last
    edges = quantile_edges(values[np.isfinite(values)])
    bins = np.clip(np.searchsorted(edges, values, side="left") - 1, 0, len(edges) - 2)
    bins[missing] = len(edges) - 1
    words = [column.threshold_text(edge) for edge in edges.tolist()]
    labels = [f"{a} to {b}" if a != b else a for a, b in pairwise(words)]
    return edges.tolist(), [*labels, "missing"], bins


def quantile_edges(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Edges of bins with about equal numbers of rows, of few digits; bins include their upper edge."""
    if not values.size:
        return np.zeros(2)
    least, most = float(values.min()), float(values.max())
    inner = np.unique(np.quantile(values, np.linspace(0, 1, BINS + 1)[1:-1]))
    step = (most - least) / 1000
    if np.isfinite(step) and step > 0:
        unit = 10.0 ** np.floor(np.log10(step))
        inner = np.unique([float(f"{x:.12g}") for x in np.rint(inner / unit) * unit])
    return np.array([least, *inner[(inner > least) & (inner < most)].tolist(), most])
