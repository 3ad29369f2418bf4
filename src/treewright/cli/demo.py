"""The command line: `treewright demo` and `treewright --version`."""

from __future__ import annotations

import sys
import time

from treewright import __version__

# cyclopts and rich come with the extra [cli]; they are imported inside the functions, so that `main` can say
# what is missing.


def demo() -> None:
    """Train on the built-in spam data, and show the error on held-out rows and the tree."""
    from rich.console import Console
    from rich.table import Table

    from treewright.datasets import load_spam
    from treewright.encoding import encode
    from treewright.exporting.text import render
    from treewright.growing import grow

    console = Console(highlight=False)
    spam = load_spam()
    test = spam.is_test
    console.print(f"UCI Spambase: {spam.data.shape[0]} e-mails, {spam.data.shape[1]} columns; is it spam?")
    console.print(f"{(~test).sum()} rows to learn from, {test.sum()} held out ({test.mean():.0%}).\n")

    began = time.perf_counter()
    data = encode(spam.table(~test), spam.target[~test])
    report = Table("tree", "leaves", "depth", "error on held-out rows", "seconds", box=None)
    for name, leaves in (("grown to purity", None), ("best-first, 17 leaves", 17)):
        started = time.perf_counter()
        tree = grow(data, max_leaf_nodes=leaves)
        seconds = time.perf_counter() - started
        error = (tree.predict(spam.table(test)) != spam.target[test]).mean()
        report.add_row(name, str(tree.n_leaves), str(tree.depth), f"{error:.2%}", f"{seconds:.3f}")
    console.print(report)
    console.print("\nThe tree of 17 leaves:\n")
    print(render(tree, color=console.is_terminal))
    console.print(f"\nDone in {time.perf_counter() - began:.2f} seconds.")


def main() -> None:
    """Run the command line."""
    try:
        import cyclopts
        import rich  # noqa: F401
    except ModuleNotFoundError as error:
        sys.exit(f"the command line needs {error.name}: pip install 'treewright[cli]'")
    app = cyclopts.App(name="treewright", help="Decision trees that people can read.", version=__version__)
    app.command(demo)
    app()
