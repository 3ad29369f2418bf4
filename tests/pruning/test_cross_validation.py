"""Constants of pruning methods by folds: against a loop over the rows, and what the methods tell of them."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
import pytest

from tests.pruning.cases import case
from treewright import grow, prune
from treewright.encoding.splits import folds
from treewright.pruning.cross_validation import cross_validated_losses
from treewright.pruning.path import TreeList


def test_cross_validation_is_what_it_says() -> None:
    """Against a loop over the rows, with weights and costs."""
    example = case(3, weights="whole", classes=3)
    data, levels = example.data, [0, 2, 5]
    mean, error = cross_validated_losses(
        data, {"criterion": "entropy"}, 4, 7, lambda t: TreeList(tuple(map(t.first, levels)))
    )
    fold = folds(data, 4, 7)
    weight = data.weight
    for place, level in enumerate(levels):
        lost = np.zeros(data.n_rows)
        for number in range(4):
            tree = grow(data.take(fold != number), criterion="entropy").first(level)
            out = np.flatnonzero(fold == number)
            leaf = tree.apply(data.take(out))
            lost[out] = tree.label[leaf, 0] != data.targets[0, out]
        average = (weight * lost).sum() / weight.sum()
        assert mean[place] == pytest.approx(average)
        spread = (weight * lost**2).sum() / weight.sum() - average**2
        assert error[place] == pytest.approx(sqrt(spread / weight.sum()))


@pytest.mark.parametrize("method", ["srm", "bottom_up"])
def test_the_constant_that_loses_least(method: str) -> None:
    """The largest among equals; the pruning is that of the constant."""
    example = case(4)
    path = prune(example.tree, method, c="cv", data=example.data, n_folds=4, growing={"max_depth": 5})
    told = path.details
    assert len(told["tried"]) == len(told["losses"]) == len(told["standard_errors"])
    least = max(
        c for c, loss in zip(told["tried"], told["losses"], strict=True) if loss == told["losses"].min()
    )
    assert told["c"] == least
    assert path.pruned == prune(example.tree, method, c=least).pruned
    other = prune(
        example.tree, method, c="cv", data=example.data, n_folds=4, random_state=1, growing={"max_depth": 5}
    )
    assert (other.details["losses"] != told["losses"]).any()


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("srm", {"size": "leaves"}),
        ("bottom_up", {"form": "mansour97"}),
        ("bottom_up", {"form": "counted", "delta": 1e-9}),
    ],
)
def test_the_folds_prune_by_the_same_options(method: str, options: dict[str, Any]) -> None:
    """The options beside the constant count in the folds, and so does the criterion of the tree."""
    example = case(4, classes=3)
    tree = grow(example.data, criterion="error")
    told = prune(tree, method, c="cv", data=example.data, n_folds=4, random_state=2, **options).details
    mean, error = cross_validated_losses(
        example.data,
        {"criterion": "error"},
        4,
        2,
        lambda grown: TreeList(tuple(prune(grown, method, c=c, **options).pruned for c in told["tried"])),
    )
    np.testing.assert_array_equal(told["losses"], mean)
    np.testing.assert_array_equal(told["standard_errors"], error)


def test_the_standard_error_of_costs() -> None:
    """Rows that lose nothing, 1 or 9."""
    example = case(5, classes=3)
    tree = example.tree.with_costs([[0, 1, 9], [9, 0, 1], [1, 1, 0]])
    told = prune(tree, "srm", c="cv", data=example.data, n_folds=3).details
    data = replace(example.data, schema=tree.schema)
    fold = folds(data, 3, 0)
    lost = np.zeros(data.n_rows)
    for number in range(3):
        grown = grow(data.take(fold != number), criterion=tree.criterion)
        grown = prune(grown, "srm", c=told["tried"][0]).pruned
        out = np.flatnonzero(fold == number)
        answer = grown.label[grown.apply(data.take(out)), 0]
        lost[out] = np.array(tree.schema.targets[0].costs)[data.targets[0, out], answer]
    assert told["losses"][0] == pytest.approx(lost.mean())
    assert told["standard_errors"][0] == pytest.approx(lost.std() / sqrt(len(lost)))


@pytest.mark.parametrize("method", ["srm", "bottom_up"])
def test_costs_count_in_the_folds(method: str) -> None:
    example = case(5)
    costed = example.tree.with_costs([[0, 1], [9, 0]])
    plain, dear = (
        prune(tree, method, c="cv", data=example.data, n_folds=3).details["losses"]
        for tree in (example.tree, costed)
    )
    assert (dear != plain).any()
