"""The classic algorithms beside their originals, on C4.5's own data: `python -m benchmarks.classic FOLDER`.

FOLDER is that of `benchmarks.c45`. The first line of each data set is what Release 8 of the program prints
with its default options, the second is `C45Classifier`; nodes are counted as the program does: a split into
many branches is one, and so is a branch for each category that it was told of. The program was told of a
category of crx that no training row has. Then, on the test rows, the other classic algorithms.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.c45 import C45, SHARED, Printed, line, read
from treewright import C45Classifier, CARTClassifier, CHAIDClassifier, Dataset, Tree, encode
from treewright.pruning.fractional_rows import size
from treewright.tree.predict import codes

DECLARED = {"crx": {"A4": ("t",)}}


def rows_of(path: Path, more: dict[str, tuple[str, ...]]) -> Dataset:
    """The rows of a file, with categories that none of them has."""
    data = encode(*read(path))
    columns = tuple(
        replace(column, categories=(*column.categories, *more.get(column.name, ())))
        for column in data.schema.columns
    )
    return Dataset(replace(data.schema, columns=columns), data.columns, data.targets)


def errors(tree: Tree, data: Dataset) -> int:
    """How many rows the tree answers wrongly, divided ones by their mixture."""
    assert data.targets is not None
    return int((codes(tree, data)[:, 0] != data.targets[0]).sum())


def compared(name: str, folder: Path) -> list[str]:
    """The lines of a data set: the program's, ours, the others'."""
    whole, theirs = folder / f"{name}.csv", C45[name]
    train = rows_of(whole if whole.exists() else folder / f"{name}.train.csv", DECLARED.get(name, {}))
    start = perf_counter()
    _, path, _ = C45Classifier()._model(train, None)
    took = f"{perf_counter() - start:.2f} s"
    assert path is not None
    test = None
    if theirs.test is not None:
        rows = encode(*read(folder / f"{name}.test.csv"), schema=train.schema)
        test = errors(path.full_tree, rows), errors(path.pruned, rows)
    before, after = ((size(tree), errors(tree, train)) for tree in (path.full_tree, path.pruned))
    ours = Printed(before, after, path.details["estimate"], test)
    lines = [line(name, "C4.5", theirs, ""), line("", "here", ours, took)]
    if test is None:
        return lines
    others: tuple[Any, ...] = CARTClassifier(), CHAIDClassifier()
    for model in others:
        tree, *_ = model._model(train, None)
        told = f"{tree.n_splits:4} splits, {errors(tree, rows)} test errors"
        lines.append(f"{'':6}{type(model).__name__:18}{told}")
    return lines


def main() -> None:
    """Print the table, if the data is there."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else SHARED
    if not folder.is_dir():
        sys.exit(f"there is no folder {folder}; give the one with golf.csv, vote.train.csv …")
    print(f"{'':18}nodes / errors, pruned{'estimate':>12}{'test errors':>17}")
    print("\n".join(told for name in C45 for told in compared(name, folder)))


if __name__ == "__main__":
    main()
