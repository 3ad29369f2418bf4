"""`treewright demo`: two trees of the built-in spam data."""

from __future__ import annotations

import time

from treewright.cli.console import aligned, in_colour, terminal_width, unbroken_pipe
from treewright.datasets import load_spam
from treewright.encoding import encode
from treewright.exporting.text import render
from treewright.growing import grow


def demo() -> None:
    """Train on the built-in spam data, and show the error on held-out rows and the tree."""
    with unbroken_pipe():
        _demo()


def _demo() -> None:
    spam = load_spam()
    test = spam.is_test
    print(f"UCI Spambase: {spam.data.shape[0]} e-mails, {spam.data.shape[1]} columns; is it spam?")
    print(f"{(~test).sum()} rows to learn from, {test.sum()} held out ({test.mean():.0%}).\n")

    began = time.perf_counter()
    data = encode(spam.table(~test), spam.target[~test])
    report = [["tree", "leaves", "depth", "error on held-out rows", "seconds"]]
    for name, leaves in (("grown to purity", None), ("best-first, 17 leaves", 17)):
        started = time.perf_counter()
        tree = grow(data, max_leaf_nodes=leaves)
        seconds = time.perf_counter() - started
        error = (tree.predict(spam.table(test)) != spam.target[test]).mean()
        report.append([name, str(tree.n_leaves), str(tree.depth), f"{error:.2%}", f"{seconds:.3f}"])
    print("\n".join(aligned(report, right=(1, 2, 3, 4))))
    print("\nThe tree of 17 leaves:\n")
    print(render(tree, color=in_colour(), width=terminal_width()))
    print(f"\nDone in {time.perf_counter() - began:.2f} seconds.")
