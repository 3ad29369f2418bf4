"""All pruning methods on ESL's rows: sizes and test errors that were found by other means."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from treewright import Dataset, Tree, certify, encode, grow, prune, select
from treewright.certifying import BOUNDS
from treewright.datasets import load_spam
from treewright.encoding.splits import split
from treewright.pruning import PruningPath


@pytest.fixture(scope="module")
def spam() -> tuple[Tree, Dataset, Dataset]:
    """The tree of least entropy grown to purity, its rows, the test rows."""
    source = load_spam()
    data = encode(source.data[~source.is_test], source.target[~source.is_test])
    test = encode(source.data[source.is_test], source.target[source.is_test], schema=data.schema)
    return grow(data, criterion="entropy"), data, test


@pytest.fixture(scope="module")
def path(spam: tuple[Tree, Dataset, Dataset]) -> PruningPath:
    tree, _, test = spam
    return prune(tree, "cost_complexity", validation=test)


def error(tree: Tree, test: Dataset) -> float:
    return float(tree.loss_of(test)[tree.is_leaf].sum()) / test.n_rows


# Ties between splits leave some room: another exact program's tree has 167 leaves, ours 166.
@pytest.mark.parametrize(
    ("method", "options", "leaves", "wrong"),
    [
        ("srm", {"c": 1.0}, 7, 0.102),
        ("srm", {"c": 0.5}, 19, 0.086),
        ("srm", {"c": 0.3}, 76, 0.071),
        ("pessimistic", {"confidence": 0.25}, 112, 0.069),
        ("pessimistic", {"confidence": 0.05}, 81, 0.066),
    ],
)
def test_sizes_and_errors(
    spam: tuple[Tree, Dataset, Dataset], method: str, options: dict[str, Any], leaves: int, wrong: float
) -> None:
    tree, data, test = spam
    more = {"data": data} if method == "pessimistic" else {}
    pruned = prune(tree, method, **more, **options).pruned
    assert tree.n_leaves == 166
    assert pruned.n_leaves == pytest.approx(leaves, rel=0.06)
    assert error(pruned, test) == pytest.approx(wrong, abs=0.006)


def test_the_least_bound_of_the_book(path: PruningPath) -> None:
    """The bound is concave in the size: the best of all prunings is on the path. It has 6 leaves."""
    value = BOUNDS["mdl"](path.training * 3065, 3065, leaves=path.leaves, columns=57)
    best = int(value.argmin())
    assert path.leaves[best] == 6
    assert path.validation is not None
    assert path.validation[best] == pytest.approx(0.109, abs=5e-4)


@pytest.mark.slow
def test_folds_take_a_middling_tree(spam: tuple[Tree, Dataset, Dataset], path: PruningPath) -> None:
    _, data, test = spam
    least, within = (select(path, "folds", data=data, rule=rule) for rule in ("0-SE", "1-SE"))
    assert 15 <= within.pruned.n_leaves <= least.pruned.n_leaves <= 90
    assert 0.065 <= error(least.pruned, test) <= error(within.pruned, test) + 0.01 <= 0.1


def test_reduced_error_by_a_third_of_the_rows(spam: tuple[Tree, Dataset, Dataset]) -> None:
    _, data, test = spam
    found = []
    for seed in range(5):
        growing, pruning = split(data, (2, 1), seed)
        pruned = prune(grow(growing, criterion="entropy"), "reduced_error", validation=pruning).pruned
        found.append((pruned.n_leaves, error(pruned, test)))
    leaves, errors = np.transpose(found)
    assert 30 <= np.median(leaves) <= 60
    assert 0.07 <= errors.min() <= errors.max() <= 0.105


def test_certificates_along_the_path(spam: tuple[Tree, Dataset, Dataset], path: PruningPath) -> None:
    """18 leaves: 6.8 % of the training and 8.7 % of the test rows; the least certificate has 8 leaves."""
    _, data, test = spam
    tree = path[int(np.flatnonzero(path.leaves == 18)[0])]
    found = certify(tree, data=data)
    assert (round(found.error, 3), round(error(tree, test), 3)) == (0.068, 0.087)
    assert 7 <= found.breakdown["thresholds"] / 17 <= 8.5
    assert found.value == pytest.approx(0.192, abs=0.006)
    best = select(path, "certificate", data=data).pruned
    assert best.n_leaves == 8
    assert certify(best, data=data).value == pytest.approx(0.173, abs=0.004)
    assert error(best, test) == pytest.approx(0.103, abs=5e-4)
