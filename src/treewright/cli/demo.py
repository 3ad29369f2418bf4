"""`treewright demo`: trees of the built-in spam data, pruned in several ways, and one of them certified."""

from __future__ import annotations

import time
from typing import Any

from treewright.aligning import aligned
from treewright.certifying import Certificates, certify
from treewright.cli.console import in_colour, terminal_width, unbroken_pipe
from treewright.cli.summary import percent
from treewright.datasets import load_spam
from treewright.encoding import Dataset, encode
from treewright.exporting.text import render
from treewright.growing import grow
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


def demo() -> None:
    """Grow and prune trees of the built-in spam data; show their errors, a small tree and its certificate."""
    with unbroken_pipe():
        _demo()


def _demo() -> None:
    began = time.perf_counter()
    spam = load_spam()
    held = spam.is_test
    data = encode(spam.table(~held), spam.target[~held])
    test = encode(spam.table(held), spam.target[held], schema=data.schema)
    print(f"UCI Spambase: {spam.data.shape[0]:,} e-mails, {spam.data.shape[1]} columns; is it spam?")
    print(f"{data.n_rows:,} rows grow and prune the trees, {test.n_rows:,} only test them.\n")

    names = ["pruning", *(cell for name in CRITERIA for cell in (f"{name}: leaves", "test error"))]
    trees = {criterion: _trees(data, criterion) for criterion in CRITERIA}
    report = [names]
    for kept in trees[CRITERIA[0]]:
        pairs = [(trees[criterion][kept], test) for criterion in CRITERIA]
        report.append([kept, *(cell for pair in pairs for cell in _cells(*pair))])
    print("\n".join(aligned(report, right=(1, 2, 3, 4))))

    tree = trees[CRITERIA[0]][READABLE]
    print(
        f"\nOf all prunings with at most {LEAVES} leaves this one makes the fewest errors on its own rows:\n"
    )
    print(render(tree, color=in_colour(), width=terminal_width()))
    print(f"\nDone in {time.perf_counter() - began:.1f} seconds.\n")
    print(Certificates((certify(tree, test=test), certify(tree, data=data))))


def _trees(data: Dataset, criterion: str) -> dict[str, Tree]:
    """The tree that a criterion grows, and what each plan makes of it."""
    growing: dict[str, Any] = {"criterion": criterion, "n_jobs": -1}
    grown = grow(data, **growing)
    trees = {"grown to purity": grown}
    for name, (method, by, options) in PLANS.items():
        trees[name] = Plan.of(method, options, by).path(grown, data, None, growing, seed=0).pruned
    return trees


def _cells(tree: Tree, test: Dataset) -> tuple[str, str]:
    """The size of a tree and its error on test rows."""
    error = float(tree.mean(tree.loss_of(test)[tree.is_leaf].sum(), test))
    return f"{tree.n_leaves:,}", percent(error)
