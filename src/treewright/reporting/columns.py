"""The columns of a report: how much each matters, and what else a node could have asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright.encoding import Dataset
from treewright.growing import grow
from treewright.reporting.parts import ROWS_IN_WORDS, Part, Rows
from treewright.reporting.rounding import short
from treewright.reporting.subjects import Subject
from treewright.rule_lists import column_of
from treewright.schema import Column, Schema
from treewright.tree import Tree
from treewright.wording import LONGEST_LIST, branch_in_words

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_COMPETED = 64  # branches with competitors
MOST_COMPETITORS = 5  # of each
FEWEST_ROWS = 5  # of a category that is named though the tree does not ask for it
_MOST_CELLS_COMPETED = 30_000_000  # of rows × columns that are split for them; the root always is
_MOST_SPLITS = 4_000  # of one node by one column
N_REPEATS = 10  # of a permutation
MOST_PERMUTED = 20_000  # rows of a permutation; of more, some


# ---- adapters ------------------------------------------------------------------------------------------


class Rival(NamedTuple):
    """The best split of a node's rows by another column."""

    column: int
    gain: float
    words: str
    split: Tree


def _competitors(tree: Tree, data: Dataset, nodes: list[int], most: int) -> dict[int, list[Rival]]:
    """The best splits of some nodes' rows by other columns, each found by growing on that column alone."""
    leaf = tree.apply(data)
    found = {}
    for node in nodes:
        inside = (leaf >= node) & (leaf < tree.end[node]) & (data.row_weights > 0)
        here = np.flatnonzero(inside)
        rivals = []
        for position, column in enumerate(tree.schema.columns):
            if position == tree.feature[node] or not here.size:
                continue
            split = _split_by(tree, data, position, column, here)
            if split.n_leaves == 2 and split.gain[0] > 0:
                rivals.append(Rival(position, float(split.gain[0]), branch_in_words(split, 0, True), split))
        found[node] = sorted(rivals, key=lambda rival: (-rival.gain, rival.column))[:most]
    return found


def _split_by(tree: Tree, data: Dataset, position: int, column: Column, here: Ints) -> Tree:
    schema = Schema((column,), tree.schema.targets)
    assert data.targets is not None
    cells = column_of(data, position)[here]
    columns = cells[:, np.newaxis] if column.kind == "number" else (cells,)
    weight = None if data.weight is None else data.weight[here]
    return grow(
        Dataset(schema, columns, data.targets[:, here], weight), criterion=tree.criterion, max_splits=1
    )


class Shuffled(NamedTuple):
    """How much more is lost when a column is shuffled, and between which limits that lies."""

    mean: float
    lower: float
    upper: float


def _permutation(
    tree: Tree, data: Dataset, columns: list[int], seed: int, delta: float
) -> dict[int, Shuffled]:
    """The mean rise of the loss where the values of a column are shuffled, and how far the rises spread."""
    from scipy.special import ndtri

    wide = float(-ndtri(delta / 2))
    before = float(tree.mean(tree.loss_of(data)[tree.is_leaf].sum(), data))
    found = {}
    for column in columns:
        random = np.random.default_rng([seed, column])
        rises = []
        for _ in range(N_REPEATS):
            other = _shuffled(data, column, random.permutation(data.n_rows))
            rises.append(float(tree.mean(tree.loss_of(other)[tree.is_leaf].sum(), data)) - before)
        mean, error = float(np.mean(rises)), float(np.std(rises, ddof=1))
        found[column] = Shuffled(mean, mean - wide * error, mean + wide * error)
    return found


def _shuffled(data: Dataset, column: int, order: Ints) -> Dataset:
    if isinstance(data.columns, np.ndarray):
        columns: Any = data.columns.copy()
        columns[:, column] = columns[order, column]
    else:
        columns = tuple(cells[order] if i == column else cells for i, cells in enumerate(data.columns))
    return Dataset(data.schema, columns, data.targets, data.weight)


# ---- competitors and importance ------------------------------------------------------------------------


def competitor_facts(subject: Subject, parts: Mapping[str, Rows]) -> dict[int, list[Rival]]:
    """The competitors of the branches with the most rows, those of the model first."""
    train = parts.get("train")
    if not isinstance(train, Part):
        return {}
    tree = subject.shown
    inner = np.flatnonzero(~tree.is_leaf)
    is_branch = subject.inside.copy()
    is_branch[subject.leaves] = False
    most = min(MOST_COMPETED, _MOST_SPLITS // train.data.n_columns)
    order = inner[np.lexsort((-train.rows[inner], ~is_branch[inner]))][:most]
    cells = np.cumsum(train.rows[order]) * train.data.n_columns
    wanted = np.sort(order[(cells <= _MOST_CELLS_COMPETED) | (order == 0)])
    found = _competitors(tree, train.data, wanted.tolist(), MOST_COMPETITORS)
    used = set(tree.feature.tolist())
    return {
        node: [each for each in rivals if each.column in used or _tells_of_many(each, train)]
        for node, rivals in found.items()
    }


def _tells_of_many(rival: Rival, train: Part) -> bool:
    """Whether a split names only categories of several rows: a name that one row has would give it away."""
    if rival.split.subset[0] < 0:
        return True
    cells, goes_left = train.cells[rival.column], rival.split.goes_left(0)
    rows = np.bincount(cells[cells >= 0], minlength=len(goes_left))
    sides = [np.flatnonzero(goes_left), np.flatnonzero(~goes_left)]
    named = min(sides, key=len)[:LONGEST_LIST]
    return bool((rows[named] >= FEWEST_ROWS).all())


def competitors_as_json(
    tree: Tree, rivals: dict[int, list[Rival]], place: Mapping[int, int]
) -> dict[str, list[dict[str, Any]]]:
    """The same for the page: gains as shares of the root's risk, columns by their place on the page."""
    risk = float(tree.risk[0]) or 1.0
    return {
        str(node): [
            {"words": each.words, "gain": short(each.gain / risk, 4), "column": place[each.column]}
            for each in found
        ]
        for node, found in rivals.items()
        if found
    }


def gains(tree: Tree) -> Floats:
    """The share of each column in all that the tests of a tree gain."""
    inner = ~tree.is_leaf
    by_column = np.bincount(tree.feature[inner], tree.gain[inner], len(tree.schema.columns))
    return np.asarray(by_column / (by_column.sum() or 1.0))


def importance_facts(
    subject: Subject, parts: Mapping[str, Rows], place: Mapping[int, int], seed: int, delta: float
) -> dict[str, Any]:
    """How much the columns of the model matter, the most important first."""
    tree = subject.chosen
    share = gains(tree)
    used = np.unique(tree.feature[~tree.is_leaf])
    used = used[np.argsort(-share[used], kind="stable")].tolist()
    name = next((name for name in ("test", "validation", "train") if isinstance(parts.get(name), Part)), None)
    part = None if name is None else parts[name]
    shuffled: dict[int, Shuffled] = {}
    rows = "no rows were given, so only the gain on the training rows is known"
    if isinstance(part, Part) and name is not None:
        data = _some(part.data, seed)
        shuffled = _permutation(tree, data, used, seed, delta)
        many = data.n_rows < part.data.n_rows
        rows = f"on {f'{data.n_rows:,} of ' if many else ''}the {part.data.n_rows:,} {ROWS_IN_WORDS[name]}"
    note = (
        "The gain is counted on the training rows and favours columns with many different values; the loss "
        "after shuffling a column does not, but columns that say the same can stand in for each other."
    )
    if name == "train":
        note += " These are the rows that the tree was grown from: on others, columns matter less."
    columns = [
        {
            "column": place[column],
            "gain": short(float(share[column])),
            "permutation": short(shuffled[column].mean) if column in shuffled else None,
            "lower": short(shuffled[column].lower) if column in shuffled else None,
            "upper": short(shuffled[column].upper) if column in shuffled else None,
        }
        for column in used
    ]
    return {"columns": columns, "rows": rows, "note": note}


def _some(data: Dataset, seed: int) -> Dataset:
    if data.n_rows <= MOST_PERMUTED:
        return data
    rows = np.random.default_rng(seed).choice(data.n_rows, MOST_PERMUTED, replace=False)
    kept = data.take(np.sort(rows))
    return kept if kept.total_weight > 0 else data
