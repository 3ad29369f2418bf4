"""What `treewright fit` tells: the table, the tree, its error beside that of no tree at all."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.cli.console import aligned, in_colour, terminal_width
from treewright.cli.errors import count
from treewright.encoding import Dataset
from treewright.exporting.text import escape, render, word
from treewright.tree import Tree

MOST_LEAVES = 30  # of a tree that is shown as a whole
FIRST_LEVELS = 3  # of a larger one
MOST_CLASSES = 6  # that are named with their shares


@dataclass(frozen=True)
class Score:
    """The error of a tree on some rows, beside that of its root, which says the same of all rows."""

    rows: str
    n_rows: int
    error: float
    root_error: float
    best_leaves: int | None = None  # the size with the least error among the first splits, where it is told
    best_error: float = np.nan

    @staticmethod
    def of(rows: str, tree: Tree, data: Dataset, n_threads: int, *, curve: bool = False) -> Score:
        """Apply a tree to rows; `curve` looks for the number of leaves with the least error."""
        leaf = tree.apply(data, n_threads=n_threads)
        error, root_error = _error(tree, data, leaf), _error(tree, data, np.zeros_like(leaf))
        if not curve or tree.n_leaves == 1 or tree.criterion == "absolute_error":  # the curve is of squares
            return Score(rows, data.n_rows, error, root_error)
        losses = tree.curve(data)
        best = int(np.argmin(losses))
        least = float(losses[best] if tree.schema.predicts_classes else np.sqrt(losses[best]))
        return Score(rows, data.n_rows, error, root_error, best + 1, least)


def _error(tree: Tree, data: Dataset, node: Any) -> float:
    """The share of wrong classes; or the root of the mean square, or the mean, of the distance to numbers."""
    assert data.targets is not None
    if tree.schema.predicts_classes:
        return float(np.average(tree.label[node, 0] != data.targets[0], weights=data.weight))
    distance = np.abs(tree.value[node, 0] - data.targets[0])
    if tree.criterion == "absolute_error":
        return float(np.average(distance, weights=data.weight))
    return float(np.sqrt(np.average(distance**2, weights=data.weight)))


def _duration(seconds: float) -> str:
    """
    >>> _duration(0.0123), _duration(2.345)
    ('12 ms', '2.3 s')
    """
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def summary(
    path: str | os.PathLike[str], tree: Tree, data: Dataset, scores: list[Score], seconds: float, dropped: int
) -> str:
    """All that is told of a new tree, as lines."""
    lines = [_table(path, data, dropped), _target(data), ""]
    lines.append(
        f"{_leaves(tree.n_leaves)}, depth {tree.depth}, by {tree.criterion}, grown in {_duration(seconds)}"
    )
    lines += ["", *_scores(tree, scores)]
    shown = None if tree.n_leaves <= MOST_LEAVES else FIRST_LEVELS
    lines += ["", render(tree, max_depth=shown, color=in_colour(), width=terminal_width())]
    if shown is not None:
        lines += [
            "",
            f"These are the first {FIRST_LEVELS} of {tree.depth} levels; treewright show has all of them",
        ]
    return "\n".join(lines)


def _leaves(number: int) -> str:
    return "1 leaf" if number == 1 else f"{number:,} leaves"


def _table(path: str | os.PathLike[str], data: Dataset, dropped: int) -> str:
    kinds = [column.kind for column in data.schema.columns]
    counted = [count(kinds.count(kind), kind) for kind in ("number", "category", "time") if kind in kinds]
    missing = sum(
        int(np.sum(cells < 0 if kind == "category" else np.isnan(cells))) for kind, cells in _cells(data)
    )
    size = f"{count(data.n_rows, 'row')}, {count(len(kinds), 'column')}"
    text = f"{os.fspath(path)}: {size} ({', '.join(counted)})"
    if missing:
        text += f", {count(missing, 'missing value')}"
    return text + (f"; {count(dropped, 'row')} without a target left out" if dropped else "")


def _cells(data: Dataset) -> Any:
    return ((column.kind, cells) for column, cells in zip(data.schema.columns, data.columns, strict=True))


def _target(data: Dataset) -> str:
    target, values = data.schema.targets[0], data.targets
    assert values is not None
    name = escape(target.name)
    if target.classes is None:
        return f"target {name}: numbers from {values.min():.6g} to {values.max():.6g}"
    weights = np.bincount(values[0], data.weight, minlength=len(target.classes))
    order = np.argsort(-weights, kind="stable")
    named = [
        f"{_said(target.classes[code])} {percent(weights[code] / weights.sum())}"
        for code in order[:MOST_CLASSES]
    ]
    more = ["…"] if len(order) > MOST_CLASSES else []
    return f"target {name}: {count(len(order), 'class')}: {', '.join(named + more)}"


def percent(share: float) -> str:
    """A share as per cent; only none is 0 %.

    >>> percent(0.1234), percent(0.0001), percent(0.0)
    ('12.3 %', '< 0.1 %', '0 %')
    """
    return "0 %" if share == 0 else "< 0.1 %" if share < 0.0005 else f"{100 * share:.1f} %"


def _said(label: Any) -> str:
    return str(label).lower() if isinstance(label, bool) else word(label)


def _scores(tree: Tree, scores: list[Score]) -> list[str]:
    """The errors as a table: on the rows learnt from, on others, and without a tree."""
    target = tree.schema.targets[0]
    if target.classes is None:
        absolute = tree.criterion == "absolute_error"
        measure = "mean absolute error" if absolute else "root mean squared error"
        alone = f"always {tree.value[0, 0]:.6g}"
    else:
        measure, alone = "error", f"always {_said(target.classes[tree.label[0, 0]])}"

    def said(error: float) -> str:
        return f"{error:.6g}" if target.classes is None else percent(error)

    rows = [[measure, "tree", alone]]
    rows += [[f"on {score.rows}", said(score.error), said(score.root_error)] for score in scores]
    lines = aligned(rows, right=(1, 2))
    for score in scores:
        if score.rows == "held-out rows":
            rest = scores[0].n_rows - score.n_rows
            lines.append(
                f"({count(score.n_rows, 'row')} held out from a tree of the other {rest:,}; "
                "the saved tree knows all)"
            )
        if (
            score.best_leaves is not None
            and score.best_leaves < tree.n_leaves
            and score.best_error < score.error
        ):
            best = _leaves(score.best_leaves) + (" does" if score.best_leaves == 1 else " do")
            lines.append(
                f"On these rows {best} best ({said(score.best_error)}, flattered by the choice); "
                f"--max-leaves {score.best_leaves} grows such a tree"
            )
    return lines
