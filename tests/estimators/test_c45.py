"""C4.5: the numbers that its program prints, and its pruning beside a naive one."""

from __future__ import annotations

import csv
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from treewright import C45Classifier, Dataset, Tree, encode, prune
from treewright.estimators.classic import RELEASE_8
from treewright.growing import grow
from treewright.pruning.fractional_rows import collapse_useless_splits, size
from treewright.pruning.pessimistic_errors import add_errors

GOLF = """
sunny 85 85 false stay | sunny 80 90 true stay | overcast 83 78 false play | rain 70 96 false play
rain 68 80 false play | rain 65 70 true stay | overcast 64 65 true play | sunny 72 95 false stay
sunny 69 70 false play | rain 75 80 false play | sunny 75 70 true play | overcast 72 90 true play
overcast 81 75 false play | rain 71 80 true stay
"""
DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "mixed"
# size and errors before and after pruning, the estimate, test errors: as Release 8 prints them by default
PRINTED = {
    "vote": ((25, 8), (7, 13), 0.069, (7, 4)),
    "crx": ((90, 19), (58, 24), 0.119, (34, 34)),
    "hypo": ((21, 6), (21, 6), 0.009, (8, 8)),
}
DECLARED = {"crx": {"A4": ("t",)}}  # categories that the program is told of and no training row has


def golf() -> tuple[dict, list]:
    rows = [row.split() for row in GOLF.strip().replace("\n", " | ").split(" | ")]
    table = {
        "outlook": [row[0] for row in rows],
        "temperature": [float(row[1]) for row in rows],
        "humidity": [float(row[2]) for row in rows],
        "windy": [row[3] for row in rows],
    }
    return table, [row[4] for row in rows]


def test_golf_is_the_tree_of_the_program() -> None:
    table, labels = golf()
    model = C45Classifier().fit(table, labels)
    lines = """
14 rows
├─ outlook = overcast   play   4 rows   100 %
├─ outlook = rain
│  ├─ windy = false     play   3 rows   100 %
│  └─ windy = true      stay   2 rows   100 %
└─ outlook = sunny
   ├─ humidity <= 75    play   2 rows   100 %
   └─ humidity > 75     stay   3 rows   100 %
"""
    assert str(model.model_).startswith(lines.strip())
    path = model.pruning_path_
    assert size(path.full_tree) == size(model.model_) == 8
    assert path.details["estimate"] == pytest.approx(0.385, abs=5e-4)
    assert model.score(table, labels) == 1.0


def read(path: Path) -> tuple[dict, list]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))

    def numbers(cells: list) -> list:
        try:
            return [None if cell is None else float(cell) for cell in cells]
        except ValueError:
            return cells

    table = {name: numbers([row[name] or None for row in rows]) for name in rows[0] if name != "class"}
    return table, [row["class"] for row in rows]


def declared(data: Dataset, more: dict) -> Dataset:
    """The same rows with categories that none of them has."""
    columns = tuple(
        replace(column, categories=(*column.categories, *more.get(column.name, ())))
        for column in data.schema.columns
    )
    return Dataset(replace(data.schema, columns=columns), data.columns, data.targets, data.weight)


@pytest.mark.skipif(not DATA.is_dir(), reason="the data of the program is not here")
@pytest.mark.parametrize("name", PRINTED)
def test_the_numbers_of_the_program(name: str) -> None:
    before, after, estimate, test_errors = PRINTED[name]
    table, labels = read(DATA / f"{name}.train.csv")
    data = declared(encode(table, labels), DECLARED.get(name, {}))
    path = C45Classifier()._model(data, None)[1]
    grown = path.full_tree
    test = encode(*read(DATA / f"{name}.test.csv"), schema=data.schema)

    def errors(tree: Tree, rows: Dataset) -> int:
        from treewright.tree.predict import codes

        return int((codes(tree, rows)[:, 0] != rows.targets[0]).sum())

    assert (size(grown), errors(grown, data)) == before
    assert (size(path.pruned), errors(path.pruned, data)) == after
    assert path.details["estimate"] == pytest.approx(estimate, abs=6e-4)
    assert (errors(grown, test), errors(path.pruned, test)) == test_errors


# ---- the pruning, naive ------------------------------------------------------------------------------


@dataclass
class Node:
    """What the naive one prunes: a test with its branches, or a leaf."""

    column: str = ""
    values: list = field(default_factory=list)  # per branch: categories, or None for the sides of `cut`
    cut: float = 0.0
    branches: list = field(default_factory=list)


def nodes_of(tree: Tree, node: int = 0) -> Node:
    if tree.is_leaf[node]:
        return Node()
    column = tree.schema.columns[tree.feature[node]]
    found = Node(column.name, [], float(tree.threshold[node]), [])
    for branch in tree.branches(node):
        own, at = np.ones(len(column.categories), bool), branch
        while column.categories and at != node:
            parent = int(tree.parent[at])
            own &= tree.goes_left(parent) == (at == parent + 1)
            at = parent
        found.values.append(
            {column.categories[i] for i in np.flatnonzero(own)} if column.categories else None
        )
        found.branches.append(nodes_of(tree, branch))
    return found


def branch_of(node: Node, row: dict) -> int | None:
    value = row[node.column]
    if value is None:
        return None
    if node.values[0] is None:
        return 0 if value <= node.cut else 1
    return next(i for i, values in enumerate(node.values) if value in values)


def charged(rows: list) -> float:
    counts: dict = {}
    for row, share in rows:
        counts[row["class"]] = counts.get(row["class"], 0.0) + share
    total = sum(counts.values())
    errors = total - max(counts.values())
    return errors + float(add_errors(total, errors, 0.25))


def estimate(node: Node, rows: list, changes: bool) -> float:
    """The errors to fear below a node, which is pruned on the way where it may change."""
    if not node.branches:
        return charged(rows)
    known: list = [[] for _ in node.branches]
    unknown = []
    for row, share in rows:
        place = branch_of(node, row)
        (unknown if place is None else known[place]).append((row, share))
    total, whole, best = 0.0, sum(share for part in known for _, share in part), (0.0, -1)
    for i, part in enumerate(known):
        if part:
            factor = sum(share for _, share in part) / whole
            best = max(best, (factor, i), key=lambda pair: (pair[0], pair[1]))
            total += estimate(
                node.branches[i], part + [(row, share * factor) for row, share in unknown], changes
            )
    if not changes:
        return total
    leaf, largest = charged(rows), node.branches[best[1]]
    raised = estimate(largest, rows, False)
    if leaf <= raised + 0.1 and leaf <= total + 0.1:
        node.branches = []
        return leaf
    if raised <= total + 0.1:
        total = estimate(largest, rows, True)
        node.column, node.values, node.cut, node.branches = (
            largest.column,
            largest.values,
            largest.cut,
            largest.branches,
        )
    return total


def shape(node: Node) -> object:
    if not node.branches:
        return "leaf"
    return (
        node.column,
        node.cut if node.values[0] is None else None,
        [shape(branch) for branch in node.branches],
    )


def drawn(seed: int, n: int = 160) -> tuple[dict, list]:
    rng = np.random.default_rng(seed)
    holes = rng.random((n, 4)) < 0.12
    cells = [
        rng.choice(list("abcd"), n).astype(object),
        rng.choice(list("pqr"), n).astype(object),
        rng.normal(size=n).round(1).astype(object),
        rng.integers(0, 9, n).astype(float).astype(object),
    ]
    signal = (
        np.isin(cells[0], ["a", "c"]).astype(int)
        + (cells[2].astype(float) > 0)
        + (cells[3].astype(float) > 6)
    )
    labels = np.array(["no", "yes", "so"])[np.where(rng.random(n) < 0.3, rng.integers(0, 3, n), signal % 3)]
    for i, column in enumerate(cells):
        column[holes[:, i]] = None
    return dict(
        zip(("c", "d", "x", "k"), (column.tolist() for column in cells), strict=True)
    ), labels.tolist()


def plain_grown(data: Dataset) -> Tree:
    tree = grow(
        data, criterion="gain_ratio", missing="fractional", min_samples_leaf=2, _constraints=RELEASE_8
    )
    return collapse_useless_splits(tree)


@pytest.mark.parametrize("seed", range(10))
def test_the_pruning_is_that_of_the_naive_one(seed: int) -> None:
    table, labels = drawn(seed)
    data = encode(table, labels)
    tree = plain_grown(data)
    tree.check()
    path = prune(tree, "pessimistic", data=data)
    path.pruned.check()
    names = list(table)
    rows = [
        ({"class": label} | dict(zip(names, row, strict=True)), 1.0)
        for *row, label in zip(*table.values(), labels, strict=True)
    ]
    naive = nodes_of(tree)
    errors = estimate(naive, rows, True)
    assert shape(nodes_of(path.pruned)) == shape(naive)
    assert path.details["estimate"] * len(labels) == pytest.approx(errors, rel=1e-9)
    leaves = path.pruned.is_leaf
    assert path.pruned.weight[leaves].sum() == pytest.approx(len(labels))


def test_some_branches_rise_and_some_trees_differ() -> None:
    raised = [
        prune(plain_grown(data), "pessimistic", data=data).details["raised"]
        for data in (encode(*drawn(s)) for s in range(10))
    ]
    assert sum(raised) > 0
    table, labels = drawn(4)
    with_raising = C45Classifier().fit(table, labels)
    without = C45Classifier(raising=False).fit(table, labels)
    assert without.pruning_path_.details["raised"] == 0
    assert size(with_raising.model_) <= size(with_raising.pruning_path_.full_tree)
    strict = C45Classifier(confidence=0.001).fit(table, labels)
    assert size(strict.model_) <= size(with_raising.model_)


def test_splits_that_save_no_error_are_left_out() -> None:
    tree = plain_grown(encode(*drawn(1)))
    for node in np.flatnonzero(~tree.is_leaf & ~tree.joined).tolist():
        inside = np.flatnonzero(tree.is_leaf[node : tree.end[node]]) + node
        assert tree.loss[inside].sum() < tree.loss[node] - 1e-3


def test_rows_without_a_value_are_answered_by_all_branches() -> None:
    table, labels = golf()
    model = C45Classifier().fit(table, labels)
    row = {"outlook": [None], "temperature": [70.0], "humidity": [80.0], "windy": ["false"]}
    shares = dict(zip(model.classes_, model.predict_proba(row)[0], strict=True))
    assert shares["play"] == pytest.approx((4 + 5) / 14)  # overcast and rain play; sunny and humid stays
    assert shares["stay"] == pytest.approx(5 / 14)


def test_parameters_that_cannot_be_are_refused() -> None:
    table, labels = golf()
    for options in ({"min_objs": 0}, {"confidence": 0.0}, {"raising": "yes"}):
        with pytest.raises(ValueError, match=next(iter(options))):
            C45Classifier(**options).fit(table, labels)
