"""Which values arrive where: the rows at some nodes, counted by bins of each column."""

from __future__ import annotations

import heapq
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright._text import label_text
from treewright.encoding.schema import Column
from treewright.reporting.columns import gains
from treewright.reporting.parts import Part
from treewright.reporting.subjects import Subject
from treewright.tree import Tree
from treewright.tree.evaluate import leaves_of
from treewright.tree.oblique import asked_columns

Ints = NDArray[np.int64]

MOST_NODES = 128  # of the frontier
MOST_COUNTS = 20_000  # numbers in all
BINS = 10
_FEWEST_COLUMNS = 4


def distribution_facts(subject: Subject, part: Part, place: dict[int, int]) -> dict[str, Any] | None:
    """Counts per bin at the nodes of a frontier, whose sums are those of the nodes above."""
    tree = subject.shown
    share = gains(subject.chosen)
    used = np.array(asked_columns(tree), np.int64)
    if not used.size:
        return None
    nodes = frontier(subject, part.rows)
    most = max(MOST_COUNTS // (len(nodes) * (BINS + 1)), _FEWEST_COLUMNS)
    wanted = used[np.lexsort((used, -share[used]))][:most].tolist()
    leaf = leaves_of(tree, part.data)
    if part.data.weight is not None:
        leaf = leaf[part.data.counted]
    owner = np.searchsorted(nodes, leaf, side="right") - 1  # a frontier is in preorder, and so are the leaves
    columns, counts = [], []
    for i in wanted:
        edges, labels, bins = binned(tree.schema.columns[i], part.cells[i])
        table = np.bincount(owner * len(labels) + bins, minlength=len(nodes) * len(labels))
        counts.append(table.reshape(len(nodes), len(labels)).tolist())
        columns.append({"column": place[i], "edges": edges, "labels": labels})
    return {
        "part": "train",
        "columns": columns,
        "nodes": nodes.tolist(),
        "counts": {str(node): [table[k] for table in counts] for k, node in enumerate(nodes.tolist())},
    }


def frontier(subject: Subject, rows: Ints) -> Ints:
    """Nodes that have all rows between them: the branches of the model are opened first, then the others,
    those with the most rows first, until there are enough nodes.
    """
    tree: Tree = subject.shown
    inside = subject.inside.copy()
    inside[subject.cuts] = False  # opened later: they are leaves of the model
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


def binned(column: Column, cells: NDArray[Any]) -> tuple[list[float] | None, list[str], Ints]:
    """Borders and labels of the bins of a column, and the bin of each row; the last is for missing values."""
    if column.kind == "category":
        counts = np.bincount(cells[cells >= 0], minlength=len(column.categories))
        named = np.sort(np.argsort(-counts, kind="stable")[: BINS if len(counts) <= BINS else BINS - 1])
        labels = [label_text(column.categories[code]) for code in named.tolist()]
        if len(counts) > len(named) or (cells == -2).any():
            labels.append("others")
        bins = np.full(
            len(counts) + 2, len(labels) - 1, np.int64
        )  # code -2, an unknown category, is the last but one
        bins[named] = np.arange(len(named))
        bins[-1] = len(labels)
        return None, [*labels, "missing"], bins[cells]
    values = np.asarray(cells, np.float64)
    missing = np.isnan(values)
    there = np.unique(values[~missing])
    if 0 < len(there) <= BINS:  # such as 0 and 1, or a number of children: one bar for each
        labels = [column.threshold_text(value) for value in there.tolist()]
        return None, [*labels, "missing"], np.searchsorted(there, values)  # missing values are sorted last
    edges = borders(values[np.isfinite(values)])
    bins = np.clip(np.searchsorted(edges, values, side="left") - 1, 0, len(edges) - 2)
    bins[missing] = len(edges) - 1
    words = [column.threshold_text(edge) for edge in edges.tolist()]
    labels = [f"{a} to {b}" if a != b else a for a, b in pairwise(words)]
    return edges.tolist(), [*labels, "missing"], bins


def borders(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Borders between about as many rows in each bin, of few digits; a value on a border is below it."""
    if not values.size:
        return np.zeros(2)
    least, most = float(values.min()), float(values.max())
    inner = np.unique(np.quantile(values, np.linspace(0, 1, BINS + 1)[1:-1]))
    step = (most - least) / 1000
    if np.isfinite(step) and step > 0:
        unit = 10.0 ** np.floor(np.log10(step))
        inner = np.unique([float(f"{x:.12g}") for x in np.rint(inner / unit) * unit])
    return np.array([least, *inner[(inner > least) & (inner < most)].tolist(), most])
