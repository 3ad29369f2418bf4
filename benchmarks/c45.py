"""C4.5's numbers beside those of error-based pruning here, on its data: `python -m benchmarks.c45 FOLDER`.

FOLDER has golf.csv, and vote, crx and hypo as .train.csv and .test.csv, as they come with the program; the
column `class` is the target, an empty cell is a missing value. C4.5's numbers are those that Release 8 prints
with its default options. Ours come from `gain_ratio` with at least two rows per leaf, without the splits that
change no training error (the program leaves those out while it grows), then `pessimistic`.

They differ because the trees do, not the pruning: C4.5 splits a category into one branch per value, which are
many nodes of few rows, where a test here has two sides and may be followed by another one on the same column;
it sends a row without a value down all branches in parts, which turns errors into fractions, where here it
goes the one way that is better; and it lowers the gain of a threshold by the logarithm of those tried.
"""

from __future__ import annotations

import csv
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treewright import Dataset, Tree, encode, grow, prune

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "mixed"


@dataclass(frozen=True)
class Printed:
    """Nodes and errors before and after pruning, the estimate, the errors on test rows before and after."""

    before: tuple[int, int]
    after: tuple[int, int]
    estimate: float
    test: tuple[int, int] | None = None


C45 = {
    "golf": Printed((8, 0), (8, 0), 0.385),
    "vote": Printed((25, 8), (7, 13), 0.069, (7, 4)),
    "crx": Printed((90, 19), (58, 24), 0.119, (34, 34)),
    "hypo": Printed((21, 6), (21, 6), 0.009, (8, 8)),
}


def read(path: Path) -> tuple[dict[str, list[Any]], list[str]]:
    """The columns of a file, and its classes; a column is numbers where every cell is one."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    table = {name: [row[name] or None for row in rows] for name in rows[0] if name != "class"}
    return {name: numbers(cells) for name, cells in table.items()}, [row["class"] for row in rows]


def numbers(cells: list[Any]) -> list[Any]:
    """The cells as floats, if they are."""
    try:
        return [None if cell is None else float(cell) for cell in cells]
    except ValueError:
        return cells


def errors(tree: Tree, data: Dataset) -> int:
    """How many rows the tree gets wrong."""
    return round(float(tree.loss_of(data)[tree.is_leaf].sum()))


def compared(name: str, folder: Path) -> list[str]:
    """The two lines of a data set: the program's, ours."""
    path = folder / f"{name}.csv"
    data = encode(*read(path if path.exists() else folder / f"{name}.train.csv"))
    grown = prune(grow(data, criterion="gain_ratio", min_samples_leaf=2), "cost_complexity", alpha=0.0).pruned
    pruning = prune(grown, "pessimistic", data=data)
    pruned, theirs = pruning.pruned, C45[name]
    test = None
    if theirs.test is not None:
        table, classes = read(folder / f"{name}.test.csv")
        rows = encode(table, classes, schema=data.schema)
        test = (errors(grown, rows), errors(pruned, rows))
    ours = Printed(
        (grown.n_nodes, errors(grown, data)),
        (pruned.n_nodes, errors(pruned, data)),
        pruning.details["estimate"],
        test,
    )
    raised = f"{pruning.details['raised']} raised"
    return [line(name, "C4.5", theirs, ""), line("", "treewright", ours, raised)]


def line(name: str, who: str, told: Printed, more: str) -> str:
    """One line of the table."""
    (nodes, wrong), (nodes_after, wrong_after) = told.before, told.after
    text = f"{name:6}{who:12}{nodes:4} /{wrong:3} → {nodes_after:4} /{wrong_after:3}{told.estimate:12.1%}"
    return (text + (f"{told.test[0]:12} → {told.test[1]}" if told.test else " " * 16) + f"   {more}").rstrip()


def table(folder: Path) -> list[str]:
    """All data sets, with a line above that says what is told of each."""
    head = f"{'':18}nodes / errors, pruned{'estimate':>12}{'test errors':>17}"
    return [head, *(told for name in C45 for told in compared(name, folder))]


def main() -> None:
    """Print the table, if the data is there."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else SHARED
    if not folder.is_dir():
        sys.exit(f"there is no folder {folder}; give the one with golf.csv, vote.train.csv …")
    print("\n".join(table(folder)))


if __name__ == "__main__":
    main()
