"""What `treewright fit` tells: the table, which rows did what, the errors, the tree, its certificate."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from treewright._text import aligned, escape
from treewright.certifying import Certificates
from treewright.cli.console import in_colour, terminal_width
from treewright.cli.errors import count
from treewright.cli.parts import FEWEST_ROWS, Parts, is_small
from treewright.cli.plans import in_words
from treewright.encoding import Dataset
from treewright.exporting.text import render
from treewright.metrics import Metrics, class_word
from treewright.pruning import PruningPath
from treewright.selecting.planning import Plan
from treewright.tree import Tree

MOST_LEAVES = 30  # of a tree that is shown as a whole
FIRST_LEVELS = 3  # of a larger one
MOST_CLASSES = 6  # that are named with their shares


@dataclass(frozen=True)
class Fit:
    """A fit, as far as there is something to tell of it."""

    data: Dataset  # all rows of the table
    dropped: int  # rows without a target
    parts: Parts
    test_file: str | None
    plan: Plan | None
    grown: Tree
    tree: Tree
    path: PruningPath | None
    scores: dict[str, Metrics]  # by part: training, validation, test
    certificate: Certificates | str
    seconds: dict[str, float]  # of each stage

    @property
    def judged(self) -> tuple[str, Metrics]:
        """The part whose rows say most about new ones, and the metrics on it."""
        part = (
            "test" if "test" in self.scores else "validation" if "validation" in self.scores else "training"
        )
        return part, self.scores[part]


def _duration(seconds: float) -> str:
    """
    >>> _duration(0.0123), _duration(2.345)
    ('12 ms', '2.3 s')
    """
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def summary(path: str | os.PathLike[str], fit: Fit) -> str:
    """All that is told of a new tree before it is saved, as lines."""
    lines = [_table(path, fit.data, fit.dropped), _target(fit.data), headline(fit), ""]
    lines += [_dealt(fit), _pruned(fit), "", *_scores(fit.scores), *_figures(fit), "", picture(fit.tree)]
    return "\n".join(lines)


def headline(fit: Fit) -> str:
    """The error on the rows that say most about new ones, beside that of a constant answer."""
    part, found = fit.judged
    return found.comparison(part)


def picture(tree: Tree) -> str:
    """A tree as text; of a large one the first levels."""
    shown = None if tree.n_leaves <= MOST_LEAVES else FIRST_LEVELS
    text = render(tree, max_depth=shown, color=in_colour(), width=terminal_width())
    if shown is None:
        return text
    levels = f"These are the first {FIRST_LEVELS} of {tree.height} levels; treewright show has all of them"
    return f"{text}\n\n{levels}"


def where(files: dict[str, str]) -> str:
    """Which files a fit has left, and what they are for."""
    model, report = files["model"], files.get("report")
    uses = f"Saved to {model}; treewright predict {model} NEW.csv uses it"
    return uses if report is None else f"{uses}\nAll about it in {report}; open it in a browser"


def certificate(fit: Fit) -> str:
    """The last lines of a fit."""
    return f"no certificate: {fit.certificate}" if isinstance(fit.certificate, str) else str(fit.certificate)


def _dealt(fit: Fit) -> str:
    """Which rows did what."""
    parts, by_itself = fit.parts, fit.plan is not None and fit.parts.validation is None
    text = f"{'grown and pruned' if by_itself else 'grown'} from {count(parts.training.n_rows, 'row')}"
    if parts.validation is not None:
        text += f", pruned by {parts.validation.n_rows:,}"
    if parts.test is not None:
        text += f", tested on {parts.test.n_rows:,}"
        text += "" if fit.test_file is None else f" of {fit.test_file}"
    return text


def _pruned(fit: Fit) -> str:
    """The size before and after."""
    took = _duration(fit.seconds["growing"])
    grown = f"{in_leaves(fit.grown.n_leaves)} grown by {fit.tree.criterion} in {took}"
    if fit.plan is None or fit.path is None:
        small = f" (fewer than {FEWEST_ROWS} rows; --prune prunes)" if is_small(fit.data) else ""
        return f"{grown}, depth {fit.tree.height}; not pruned{small}"
    how = f"{in_words(fit.plan, fit.path.details)} in {_duration(fit.seconds['pruning'])}"
    return f"{grown}; {fit.tree.n_leaves:,} kept, depth {fit.tree.height}, by {how}"


def in_leaves(number: int) -> str:
    """The size of a tree."""
    return "1 leaf" if number == 1 else f"{number:,} leaves"


def _table(path: str | os.PathLike[str], data: Dataset, dropped: int) -> str:
    kinds = [column.kind for column in data.schema.columns]
    counted = [count(kinds.count(kind), kind) for kind in ("number", "category", "time") if kind in kinds]
    missing = missing_cells(data)
    size = f"{count(data.n_rows, 'row')}, {count(len(kinds), 'column')}"
    text = f"{os.fspath(path)}: {size} ({', '.join(counted)})"
    if missing:
        text += f", {count(missing, 'missing value')}"
    return text + (f"; {count(dropped, 'row')} without a target left out" if dropped else "")


def missing_cells(data: Dataset) -> int:
    """How many cells of a table are missing."""
    pairs = zip(data.schema.columns, data.columns, strict=True)
    return sum(
        int(np.sum(cells < 0 if column.kind == "category" else np.isnan(cells))) for column, cells in pairs
    )


def _target(data: Dataset) -> str:
    target, values = data.schema.targets[0], data.targets
    assert values is not None
    name = escape(target.name)
    if target.classes is None:
        return f"target {name}: numbers from {values.min():.6g} to {values.max():.6g}"
    weights = np.bincount(values[0], data.weight, minlength=len(target.classes))
    order = np.argsort(-weights, kind="stable")
    named = [
        f"{class_word(target.classes[code])} {percent(weights[code] / weights.sum())}"
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


def _scores(scores: dict[str, Metrics]) -> list[str]:
    """The errors as a table: on the rows learnt from, on others, and without a tree."""
    first = scores["training"]
    rows = [[first.measure, "tree", f"always {first.constant_in_words}"]]
    rows += [
        [f"on {part} rows", own.in_words(own.error), own.in_words(own.constant_error)]
        for part, own in scores.items()
    ]
    return aligned(rows, right=(1, 2))


def _figures(fit: Fit) -> list[str]:
    """What belongs beside the error: recall, precision, balanced accuracy and AUC, or R² and MAE."""
    part, found = fit.judged
    told = ", ".join(f"{name} {value}" for name, value in found.figures)
    positive = "" if found.positive is None else f", for {class_word(found.positive.name)}"
    return [f"on {part} rows{positive}: {told}"]
