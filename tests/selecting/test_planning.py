"""Pruning inside a fit: everything is computed once, and the trees of the folds are grown like the tree."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import pytest

from tests.selecting.test_select import table
from treewright import CARTClassifier, DecisionTreeClassifier, _core, compare, grow
from treewright.encoding.splits import split
from treewright.estimators import fitting
from treewright.pruning import cross_validation
from treewright.selecting.planning import Plan
from treewright.tree import Tree


def count_calls(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[tuple[Any, ...]]:
    """The arguments of all calls of a function from now on."""
    calls: list[tuple[Any, ...]] = []
    original: Callable[..., Any] = getattr(owner, name)

    @wraps(original)
    def counted(*args: Any, **options: Any) -> Any:
        calls.append((*args, options))
        return original(*args, **options)

    monkeypatch.setattr(owner, name, counted)
    return calls


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("cost_complexity", {}),
        ("cost_complexity", {"leaves": 4}),
        ("minimum_errors", {"rule": "1-SE"}),
        ("cost_complexity", {"alpha": 0.01}),
        ("pessimistic", {}),
        ("reduced_error", {}),
        ("reduced_error", {"select": "held_out", "rule": "1-SE"}),
        ("reduced_error", {"select": "leaves", "leaves": 99}),
    ],
)
def test_validation_rows_are_evaluated_once(
    method: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    train, validation = split(table("classes", n=200), (2, 1))
    tree = grow(train)
    calls = count_calls(monkeypatch, Tree, "loss_of")
    others = {name: value for name, value in options.items() if name != "select"}
    path = Plan.of(method, others, options.get("select")).path(tree, train, validation, {}, 0)
    n_trees = 2 if method == "pessimistic" else 1  # two trees that are not prunings of each other
    assert [call[1] is validation for call in calls] == [True] * n_trees
    assert path.validation is not None
    assert path.n_validation == validation.n_rows
    expected = [tree.mean(each.loss_of(validation)[each.is_leaf].sum(), validation) for each in path]
    np.testing.assert_allclose(path.validation, expected)


def test_folds_leave_the_validation_rows_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their estimate is the path's, so the validation rows are not evaluated."""
    train, validation = split(table("classes", n=200), (2, 1))
    tree = grow(train)
    calls = count_calls(monkeypatch, Tree, "loss_of")
    Plan.of("cost_complexity", {"n_folds": 4}, "folds").path(tree, train, validation, {}, 0)
    assert len(calls) == 4
    assert not any(call[1] is validation for call in calls)


def test_weakest_links_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for the tree, and once for the tree of each fold."""
    data = table("classes", n=200)
    tree = grow(data)
    calls = count_calls(monkeypatch, _core, "weakest_links")
    Plan.of("cost_complexity", {}).path(tree, data, table("classes", 1), {}, 0)
    assert len(calls) == 1
    Plan.of("cost_complexity", {"n_folds": 3}, "folds").path(tree, data, None, {}, 0)
    assert len(calls) == 1 + 1 + 3


def test_compare_prunes_once_for_all_validation_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The path does not depend on the validation rows and their halves, which only choose."""
    train, validation, test = split(table("classes", n=300))
    calls = count_calls(monkeypatch, _core, "weakest_links")
    compare(train, ["cost_complexity"], validation=validation, test=test, options={"folds": {"n_folds": 3}})
    assert len(calls) == 1 + 1 + 3  # by held-out rows; by folds, with three trees


@pytest.mark.parametrize("random_state", [5, np.random.RandomState(5), None])
@pytest.mark.parametrize(
    ("pruning", "options"),
    [("cost_complexity", {"pruning__select": "folds"}), ("srm", {"pruning__c": "cv"})],
)
def test_the_trees_of_folds_have_the_seed_of_the_tree(
    pruning: str, options: dict[str, Any], random_state: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = table("classes", n=120)
    X, y = np.asarray(data.columns), data.targets[0]
    model = DecisionTreeClassifier(pruning=pruning, max_features=2, random_state=random_state)
    model.set_params(**options)
    whole = count_calls(monkeypatch, fitting, "grow")
    parts = count_calls(monkeypatch, cross_validation, "grow")
    model.fit(X, y)
    assert len(whole) == 1
    assert len(parts) == 10
    own = whole[0][-1]
    assert own["max_features"] == 2
    assert all({**own, **call[-1]} == own for call in parts)
    assert all(call[-1]["random_state"] == own["random_state"] for call in parts)


def test_cart_grows_its_folds_like_its_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """A numpy generator is drawn from once for the tree and for all folds."""
    data = table("classes", n=120)
    drawn = count_calls(monkeypatch, CARTClassifier, "_growing")
    CARTClassifier(random_state=np.random.RandomState(0)).fit(np.asarray(data.columns), data.targets[0])
    assert len(drawn) == 1
