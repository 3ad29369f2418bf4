"""`treewright demo`: trees of the built-in spam data, pruned in several ways, and one of them certified."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treewright._text import aligned
from treewright.certifying import Certificates, certify
from treewright.cli.console import Stages, Voice, in_colour, terminal_width
from treewright.cli.errors import check_output, writing_to
from treewright.cli.options import TEXT, OutputFile, Style
from treewright.cli.summary import certificates_document, nodes_document, percent
from treewright.datasets import SpamData, load_spam
from treewright.encoding import Dataset, encode
from treewright.exporting.text import render
from treewright.growing import grow
from treewright.pruning import PruningPath
from treewright.reporting import report as report_on
from treewright.selecting.planning import Plan
from treewright.tree import Tree

CRITERIA = ("gini", "entropy")
LEAVES = 17  # as many as in the tree of "The Elements of Statistical Learning"
READABLE = f"minimum_errors, {LEAVES} leaves"
# What to show of pruning; none of these looks at test rows.
PLANS: dict[str, tuple[str, str | None, dict[str, Any]]] = {
    "cost_complexity, 10 folds": ("cost_complexity", "folds", {"rule": "0-SE"}),
    "pessimistic (C4.5)": ("pessimistic", None, {}),
    "bottom_up (Kearns and Mansour)": ("bottom_up", None, {}),
    READABLE: ("minimum_errors", "leaves", {"leaves": LEAVES}),
}


def demo(
    *,
    report: OutputFile = None,
    style: Style = TEXT,
) -> None:
    """Grow and prune trees of the built-in spam data; show their errors, a small tree and its certificate.

    Parameters
    ----------
    report
        Write a page about the small tree to this file, to read, to try and to prune by a slider.

    Examples
    --------
    treewright demo
        grow, prune, test and certify, in a second or two
    treewright demo --report spam.report.html
        and a page to open in a browser
    treewright demo --json
        the same figures for a program
    """
    if report is not None:
        check_output(report, [])
    voice = Voice(style)
    with voice.stages() as work:
        result = _Demo.of(work)
        if report is not None:
            work.begin("reporting", str(report))
            result.write_report(report)
    written = "" if report is None else f"\n\nAll about it in {report}; open it in a browser"
    voice.answer(
        lambda: result.text() + written,
        lambda: {**result.document(), "files": {} if report is None else {"report": str(report)}},
    )


@dataclass(frozen=True)
class _Demo:
    """Trees of the spam data by criterion and pruning, their test errors, and what one of them guarantees."""

    spam: SpamData
    data: Dataset  # to grow and prune
    test: Dataset
    trees: dict[str, dict[str, Tree]]  # by criterion, by pruning
    errors: dict[str, dict[str, float]]
    certificates: Certificates
    seconds: float

    @staticmethod
    def of(work: Stages) -> _Demo:
        began = time.perf_counter()
        work.begin("growing", "trees of the spam data")
        spam = load_spam()
        held = spam.is_test
        data = encode(spam.table(~held), {"e-mail": spam.target[~held]})
        test = encode(spam.table(held), {"e-mail": spam.target[held]}, schema=data.schema)
        trees = {criterion: _trees(data, criterion) for criterion in CRITERIA}
        errors = {
            criterion: {name: _error(tree, test) for name, tree in named.items()}
            for criterion, named in trees.items()
        }
        tree = trees[CRITERIA[0]][READABLE]
        sure = Certificates((certify(tree, test=test), certify(tree, data=data)))
        return _Demo(spam, data, test, trees, errors, sure, time.perf_counter() - began)

    @property
    def readable(self) -> Tree:
        return self.trees[CRITERIA[0]][READABLE]

    def write_report(self, file: Path) -> None:
        grown = next(iter(self.trees[CRITERIA[0]].values()))
        path = _planned(READABLE, grown, self.data, {})
        with writing_to(file):
            report_on(path, train=self.data, test=self.test, title="Is this e-mail spam?").save(file)

    def text(self) -> str:
        n, width = self.spam.data.shape
        table = [["pruning", *(cell for name in CRITERIA for cell in (f"{name}: leaves", "test error"))]]
        for kept in self.trees[CRITERIA[0]]:
            pairs = ((self.trees[each][kept].n_leaves, self.errors[each][kept]) for each in CRITERIA)
            table.append(
                [kept, *(cell for leaves, error in pairs for cell in (f"{leaves:,}", percent(error)))]
            )
        lines = [
            f"UCI Spambase: {n:,} e-mails, {width} columns; is it spam?",
            f"{self.data.n_rows:,} rows grow and prune the trees, {self.test.n_rows:,} only test them.",
            "",
            *aligned(table, right=(1, 2, 3, 4)),
            "",
            f"Of all prunings with at most {LEAVES} leaves this one makes the fewest errors on its own rows:",
            "",
            render(self.readable, color=in_colour(), width=terminal_width()),
            "",
            f"Done in {self.seconds:.1f} seconds.",
            "",
            str(self.certificates),
        ]
        return "\n".join(lines)

    def document(self) -> dict[str, Any]:
        return {
            "rows": {"training": self.data.n_rows, "test": self.test.n_rows},
            "trees": [
                {
                    "criterion": each,
                    "pruning": kept,
                    "leaves": tree.n_leaves,
                    "error": self.errors[each][kept],
                }
                for each, named in self.trees.items()
                for kept, tree in named.items()
            ],
            "nodes": nodes_document(self.readable),
            **certificates_document(self.certificates),
            "seconds": self.seconds,
        }


def _trees(data: Dataset, criterion: str) -> dict[str, Tree]:
    """The tree that a criterion grows, and what each plan makes of it."""
    growing: dict[str, Any] = {"criterion": criterion, "n_jobs": -1}
    grown = grow(data, **growing)
    trees = {"grown to purity": grown}
    return trees | {name: _planned(name, grown, data, growing).pruned for name in PLANS}


def _planned(name: str, grown: Tree, data: Dataset, growing: dict[str, Any]) -> PruningPath:
    method, by, options = PLANS[name]
    return Plan.of(method, options, by).path(grown, data, None, growing, seed=0)


def _error(tree: Tree, test: Dataset) -> float:
    """The error of a tree on test rows."""
    return float(tree.mean(tree.loss_of(test)[tree.is_leaf].sum(), test))
