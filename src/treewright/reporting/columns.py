"""The "Columns" section of a report: importance, competitors, distributions of values in the leaves."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright._text import LONGEST_LIST, label_text
from treewright.encoding import Dataset
from treewright.encoding.schema import Column
from treewright.explaining.competitors import Competitor, competitors
from treewright.explaining.importance import ColumnImportance, importance
from treewright.reporting.rounding import short
from treewright.reporting.samples import ROWS_IN_WORDS, AnySample, Sample
from treewright.reporting.subject import Subject
from treewright.tree import Tree
from treewright.tree.evaluate import leaves_of
from treewright.tree.oblique import asked_columns, by_column

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_COMPETED = 64  # branches with competitors
MOST_COMPETITORS = 5  # of each
FEWEST_ROWS = 5  # of a category that is named although the tree does not test it
_MOST_CELLS_COMPETED = 12_000_000  # rows × columns searched for competitors; the root always is
_MOST_SPLITS = 4_000  # searches, of one node by one column
N_REPEATS = 10  # of a permutation
MOST_PERMUTED = 20_000  # rows of a permutation; a larger sample is subsampled
MOST_NODES = 128  # of the frontier of counted nodes
MOST_COUNTS = 20_000  # numbers in total
BINS = 10
_FEWEST_COLUMNS = 4


def competitor_facts(subject: Subject, samples: Mapping[str, AnySample]) -> dict[int, list[Competitor]]:
    """The competitors of the branches with the most rows, those of the model first."""
    train = samples.get("train")
    if not isinstance(train, Sample):
        return {}
    tree = subject.shown
    inner = np.flatnonzero(~tree.is_leaf)
    is_branch = subject.inside.copy()
    is_branch[subject.leaves] = False
    most = min(MOST_COMPETED, _MOST_SPLITS // train.data.n_columns)
    order = inner[np.lexsort((-train.rows[inner], ~is_branch[inner]))][:most]
    cells = np.cumsum(train.rows[order]) * train.data.n_columns
    wanted = np.sort(order[(cells <= _MOST_CELLS_COMPETED) | (order == 0)])
    found = competitors(tree, train.data, wanted.tolist(), MOST_COMPETITORS).by_node
    used = set(asked_columns(tree))
    return {
        node: [each for each in rivals if each.position in used or _names_no_rare_category(each, train)]
        for node, rivals in found.items()
    }


def _names_no_rare_category(rival: Competitor, train: Sample) -> bool:
    """Privacy: a category that only a few rows have could identify them, so a split must not name it."""
    if rival.split.subset[0] < 0:
        return True
    cells, goes_left = train.cells[rival.position], rival.split.goes_left(0)
    rows = np.bincount(cells[cells >= 0], minlength=len(goes_left))
    sides = [np.flatnonzero(goes_left), np.flatnonzero(~goes_left)]
    named = min(sides, key=len)[:LONGEST_LIST]
    return bool((rows[named] >= FEWEST_ROWS).all())


def competitors_as_json(
    tree: Tree, rivals: dict[int, list[Competitor]], place: Mapping[int, int]
) -> dict[str, list[dict[str, Any]]]:
    """Competitors for the payload: gains as shares of the risk at the root, columns by their index there."""
    risk = float(tree.risk[0]) or 1.0
    return {
        str(node): [
            {"words": each.words, "gain": short(each.gain / risk, 4), "column": place[each.position]}
            for each in found
        ]
        for node, found in rivals.items()
        if found
    }


def gains(tree: Tree) -> Floats:
    """The share of each column in the total gain of a tree."""
    gain = by_column(tree, tree.gain)
    return np.asarray(gain / (gain.sum() or 1.0))


def importance_facts(
    subject: Subject, samples: Mapping[str, AnySample], place: Mapping[int, int], seed: int, delta: float
) -> dict[str, Any]:
    """Gain and permutation importance of the columns of the model, the most important first."""
    tree = subject.chosen
    share = gains(tree)
    used = np.array(asked_columns(tree), np.int64)
    used = used[np.argsort(-share[used], kind="stable")].tolist()
    name = next(
        (name for name in ("test", "validation", "train") if isinstance(samples.get(name), Sample)), None
    )
    sample = None if name is None else samples[name]
    shuffled: dict[int, ColumnImportance] = {}
    rows = "no rows were given, so there is only the gain on the training rows"
    if isinstance(sample, Sample) and name is not None:
        data = _some(sample.data, seed)
        found = importance(tree, data, n_repeats=N_REPEATS, seed=seed, delta=delta)
        shuffled = {each.position: each for each in found}
        many = data.n_rows < sample.data.n_rows
        rows = f"on {f'{data.n_rows:,} of ' if many else ''}the {sample.data.n_rows:,} {ROWS_IN_WORDS[name]}"
    note = (
        "The gain is measured on the training rows and is biased towards columns with many distinct values. "
        "Permutation importance is not, but correlated columns share their importance."
    )
    if name == "train":
        note += " It was computed on the rows that the tree was grown from, which overstates it."
    columns = [
        {
            "column": place[column],
            "gain": short(float(share[column])),
            **{
                name: _short_or_none(getattr(shuffled.get(column), name, None))
                for name in ("permutation", "lower", "upper")
            },
        }
        for column in used
    ]
    return {"columns": columns, "rows": rows, "note": note}


def _short_or_none(value: float | None) -> int | float | None:
    return None if value is None else short(value)


def _some(data: Dataset, seed: int) -> Dataset:
    if data.n_rows <= MOST_PERMUTED:
        return data
    rows = np.random.default_rng(seed).choice(data.n_rows, MOST_PERMUTED, replace=False)
    kept = data.take(np.sort(rows))
    return kept if kept.total_weight > 0 else data


# ---- distributions of values in the leaves ------------------------------------------------------------


def distribution_facts(subject: Subject, sample: Sample, place: dict[int, int]) -> dict[str, Any] | None:
    """Histograms of the columns at the nodes of a frontier; those of the nodes above are their sums."""
    tree = subject.shown
    share = gains(subject.chosen)
    used = np.array(asked_columns(tree), np.int64)
    if not used.size:
        return None
    nodes = frontier(subject, sample.rows)
    most = max(MOST_COUNTS // (len(nodes) * (BINS + 1)), _FEWEST_COLUMNS)
    wanted = used[np.lexsort((used, -share[used]))][:most].tolist()
    leaf = leaves_of(tree, sample.data)
    if sample.data.weight is not None:
        leaf = leaf[sample.data.counted]
    owner = np.searchsorted(nodes, leaf, side="right") - 1  # frontier and leaves are in preorder
    columns, counts = [], []
    for i in wanted:
        edges, labels, bins = binned_column(tree.schema.columns[i], sample.cells[i])
        table = np.bincount(owner * len(labels) + bins, minlength=len(nodes) * len(labels))
        counts.append(table.reshape(len(nodes), len(labels)).tolist())
        columns.append({"column": place[i], "edges": edges, "labels": labels})
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
    tree: Tree = subject.shown
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
