"""`treewright demo`: trees of the built-in spam data, pruned in several ways, and one of them certified."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from treewright._text import aligned
from treewright.certifying import Certificates, certify
from treewright.cli import options as opt
from treewright.cli.console import Stages, Voice, in_colour, terminal_width
from treewright.cli.errors import check_output, writing_to
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
UNPRUNED = "grown to purity"
LEAVES = 17  # as many as in the tree of "The Elements of Statistical Learning"
READABLE = f"minimum_errors, {LEAVES} leaves"
# The prunings to show: method, selection, options. None of them uses test rows.
PLANS: dict[str, tuple[str, str | None, dict[str, Any]]] = {
    "cost_complexity, 10 folds": ("cost_complexity", "folds", {"rule": "0-SE"}),
    "pessimistic (C4.5)": ("pessimistic", None, {}),
    "bottom_up (Kearns and Mansour)": ("bottom_up", None, {}),
    READABLE: ("minimum_errors", "leaves", {"leaves": LEAVES}),
}


def demo(
    *,
    report: opt.OutputFile = None,
    style: opt.Style = opt.TEXT,
) -> None:
    """Grow and prune trees of the built-in spam data; show their errors, a small tree and its certificate.

    The test rows are those of "The Elements of Statistical Learning"; they are used for testing only.

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
            path = _path(READABLE, result.trees[UNPRUNED, CRITERIA[0]], result.data, {})
            with writing_to(report):
                page = report_on(path, train=result.data, test=result.test, title="Is this e-mail spam?")
                page.save(report)
    hint = "" if report is None else f"\n\nAll about it in {report}; open it in a browser"
    voice.answer(
        lambda: result.text() + hint,
        lambda: {**result.document(), "files": {} if report is None else {"report": str(report)}},
    )


@dataclass(frozen=True)
class _Demo:
    """Trees of the spam data by criterion and pruning, their test errors, and the certificate of one."""

    spam: SpamData
    data: Dataset  # to grow and prune
    test: Dataset
    trees: dict[tuple[str, str], Tree]  # by pruning and criterion
    errors: dict[tuple[str, str], float]
    certificates: Certificates
    seconds: float

    @staticmethod
    def of(work: Stages) -> _Demo:
        start = time.perf_counter()
        work.begin("growing", "trees of the spam data")
        spam = load_spam()
        rows = spam.is_test
        data = encode(spam.table(~rows), {"e-mail": spam.target[~rows]})
        test = encode(spam.table(rows), {"e-mail": spam.target[rows]}, schema=data.schema)
        trees = {(name, each): tree for each in CRITERIA for name, tree in _trees(data, each).items()}
        errors = {key: tree.mean(tree.loss_of(test)[tree.is_leaf].sum(), test) for key, tree in trees.items()}
        tree = trees[READABLE, CRITERIA[0]]
        certificates = Certificates((certify(tree, test=test), certify(tree, data=data)))
        return _Demo(spam, data, test, trees, errors, certificates, time.perf_counter() - start)

    @property
    def readable(self) -> Tree:
        return self.trees[READABLE, CRITERIA[0]]

    def text(self) -> str:
        n, width = self.spam.data.shape
        table = [["pruning", *(title for each in CRITERIA for title in (f"{each}: leaves", "test error"))]]
        for name in (UNPRUNED, *PLANS):
            keys = [(name, each) for each in CRITERIA]
            pairs = [(f"{self.trees[key].n_leaves:,}", percent(self.errors[key])) for key in keys]
            table.append([name, *(cell for pair in pairs for cell in pair)])
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
                    "pruning": name,
                    "leaves": tree.n_leaves,
                    "error": self.errors[name, each],
                }
                for (name, each), tree in self.trees.items()
            ],
            "nodes": nodes_document(self.readable),
            **certificates_document(self.certificates),
            "seconds": self.seconds,
        }


def _trees(data: Dataset, criterion: str) -> dict[str, Tree]:
    """The tree that a criterion grows, and its prunings."""
    growing: dict[str, Any] = {"criterion": criterion, "n_jobs": -1}
    unpruned = grow(data, **growing)
    return {UNPRUNED: unpruned} | {name: _path(name, unpruned, data, growing).pruned for name in PLANS}


def _path(name: str, tree: Tree, data: Dataset, growing: dict[str, Any]) -> PruningPath:
    method, by, options = PLANS[name]
    return Plan.of(method, options, by).path(tree, data, None, growing, random_state=0)
