"""The columns of a report: how much each matters, and what else a node could have asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright._text import LONGEST_LIST
from treewright.encoding import Dataset
from treewright.explaining.competitors import Competitor, competitors
from treewright.explaining.importance import ColumnImportance, importance
from treewright.reporting.parts import ROWS_IN_WORDS, Part, Rows
from treewright.reporting.rounding import short
from treewright.reporting.subjects import Subject
from treewright.tree import Tree
from treewright.tree.oblique import asked_columns, by_column

Floats = NDArray[np.float64]

MOST_COMPETED = 64  # branches with competitors
MOST_COMPETITORS = 5  # of each
FEWEST_ROWS = 5  # of a category that is named though the tree does not ask for it
_MOST_CELLS_COMPETED = 12_000_000  # of rows × columns that are split for them; the root always is
_MOST_SPLITS = 4_000  # of one node by one column
N_REPEATS = 10  # of a permutation
MOST_PERMUTED = 20_000  # rows of a permutation; of more, some


def competitor_facts(subject: Subject, parts: Mapping[str, Rows]) -> dict[int, list[Competitor]]:
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
    found = competitors(tree, train.data, wanted.tolist(), MOST_COMPETITORS).by_node
    used = set(asked_columns(tree))
    return {
        node: [each for each in rivals if each.position in used or _tells_of_many(each, train)]
        for node, rivals in found.items()
    }


def _tells_of_many(rival: Competitor, train: Part) -> bool:
    """Whether a split names only categories of several rows: a name that one row has would give it away."""
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
    """The same for the page: gains as shares of the root's risk, columns by their place on the page."""
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
    """The share of each column in all that the tests of a tree gain."""
    gain = by_column(tree, tree.gain)
    return np.asarray(gain / (gain.sum() or 1.0))


def importance_facts(
    subject: Subject, parts: Mapping[str, Rows], place: Mapping[int, int], seed: int, delta: float
) -> dict[str, Any]:
    """How much the columns of the model matter, the most important first."""
    tree = subject.chosen
    share = gains(tree)
    used = np.array(asked_columns(tree), np.int64)
    used = used[np.argsort(-share[used], kind="stable")].tolist()
    name = next((name for name in ("test", "validation", "train") if isinstance(parts.get(name), Part)), None)
    part = None if name is None else parts[name]
    shuffled: dict[int, ColumnImportance] = {}
    rows = "no rows were given, so only the gain on the training rows is known"
    if isinstance(part, Part) and name is not None:
        data = _some(part.data, seed)
        found = importance(tree, data, n_repeats=N_REPEATS, seed=seed, delta=delta)
        shuffled = {each.position: each for each in found}
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
