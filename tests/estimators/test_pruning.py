"""Pruning at scikit-learn's door: every method, roles of rows, options, refusals, certificates."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import GridSearchCV

from treewright import (
    Bound,
    CostComplexity,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    Gain,
    ReducedError,
    encode,
    grow,
    prune,
    select,
)
from treewright.encoding import Dataset
from treewright.estimators import fitting
from treewright.pruning import methods
from treewright.selecting import ways
from treewright.selecting.planning import Plan

X, Y = load_breast_cancer(return_X_y=True)
SEEN, NEW = slice(0, 400), slice(400, None)
NUMBERS, TARGET = load_diabetes(return_X_y=True)
OF_NUMBERS = ["cost_complexity", "minimum_errors", "reduced_error"]


@pytest.mark.parametrize("method", methods())
def test_every_method_fits(method: str) -> None:
    whole = DecisionTreeClassifier().fit(X[SEEN], Y[SEEN])
    model = DecisionTreeClassifier(pruning=method).fit(X[SEEN], Y[SEEN])
    assert model.get_n_leaves() <= whole.get_n_leaves()
    assert model.pruning_path_.method == method
    assert model.pruning_path_.pruned == model.model_
    assert model.score(X[NEW], Y[NEW]) > 0.85
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert not hasattr(whole, "pruning_path_")


@pytest.mark.parametrize("method", OF_NUMBERS)
def test_numbers(method: str) -> None:
    whole = DecisionTreeRegressor().fit(NUMBERS[:300], TARGET[:300])
    model = DecisionTreeRegressor(pruning=method).fit(NUMBERS[:300], TARGET[:300])
    assert model.get_n_leaves() < whole.get_n_leaves() / 4
    assert model.score(NUMBERS[300:], TARGET[300:]) > whole.score(NUMBERS[300:], TARGET[300:])


@pytest.mark.parametrize("by", ways())
def test_every_way_chooses(by: str) -> None:
    options = {"select": by, **({"leaves": 4} if by == "leaves" else {})}
    model = DecisionTreeClassifier(pruning=CostComplexity(**options)).fit(X[SEEN], Y[SEEN])
    assert 1 < model.get_n_leaves() < 20


def test_no_row_has_two_roles(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows that grow and those that choose are parts of the table, and share none."""
    grown: list[Dataset] = []

    def watched(data: Dataset, **limits: Any) -> Any:
        grown.append(data)
        return grow(data, **limits)

    monkeypatch.setattr(fitting, "grow", watched)
    table = np.arange(200.0)[:, np.newaxis]
    y = np.arange(200) // 7 % 2
    model = DecisionTreeClassifier(pruning="reduced_error").fit(table, y)
    (data,) = grown
    assert isinstance(data.columns, np.ndarray)
    seen = data.columns[:, 0]
    assert len(seen) == len(set(seen)) == 150
    held = np.setdiff1d(table[:, 0], seen)
    path = model.pruning_path_
    others = encode(held[:, np.newaxis], y[held.astype(int)], schema=model.model_.schema)
    np.testing.assert_array_equal(path.losses(others), path.validation)


def test_the_parts_follow_the_seed() -> None:
    def leaves(**given: Any) -> list[int]:
        model = DecisionTreeClassifier(pruning="cost_complexity", **given).fit(X, Y)
        assert model.pruning_path_.validation is not None
        return [round(1e6 * v) for v in model.pruning_path_.validation]

    assert leaves() == leaves() == leaves(random_state=0)
    assert leaves(random_state=1) != leaves()
    assert leaves(random_state=np.random.RandomState(1)) != leaves()


def test_the_folds_grow_as_the_estimator_does() -> None:
    """By its parameters, and dealt by its seed."""
    options = {"select": "folds", "n_folds": 4}
    model = DecisionTreeClassifier(
        max_depth=3, criterion="entropy", pruning=CostComplexity(**options), random_state=5
    ).fit(X[SEEN], Y[SEEN])
    data = encode(X[SEEN], Y[SEEN])
    path = prune(grow(data, max_depth=3, criterion="entropy"))
    expected = select(path, data=data, n_folds=4, growing={"max_depth": 3}, random_state=5)
    np.testing.assert_array_equal(model.pruning_path_.validation, expected.validation)
    others = [{"growing": {}, "random_state": 5}, {"growing": {"max_depth": 3}, "random_state": 0}]
    for other in others:
        assert (select(path, data=data, n_folds=4, **other).validation != expected.validation).any()


def test_an_option_belongs_to_the_method_first() -> None:
    plan = Plan.of("srm", {"c": 0.3, "size": "leaves"}, "srm")
    assert plan.pruning == {"c": 0.3, "size": "leaves"}
    assert plan.choosing == {}


def test_rows_of_ones_own() -> None:
    model = DecisionTreeClassifier(pruning="reduced_error")
    model.fit(X[:300], Y[:300], validation=(X[300:400], Y[300:400]))
    assert model.model_.rows[0] == 300  # none was set aside
    weighted = clone(model).fit(X[:300], Y[:300], validation=(X[300:400], Y[300:400], np.ones(100)))
    assert weighted.model_ == model.model_
    by_class = clone(model).set_params(class_weight={0: 1.0, 1: 5.0})
    by_class.fit(X[:300], Y[:300], validation=(X[300:400], Y[300:400]))
    wrong = by_class.predict(X[300:400]) != Y[300:400]
    weight = np.where(Y[300:400] == 1, 5.0, 1.0)
    assert by_class.pruning_path_.validation[-1] == pytest.approx(np.average(wrong, weights=weight))


def test_a_class_that_validation_lacks_and_a_category_that_training_lacks() -> None:
    table = {"k": ["a", "b", "c"] * 30, "x": list(range(90))}
    y = ["u", "v", "w"] * 30
    other = {"k": ["a", "z", "b", "z"], "x": [1, 2, 3, 4]}
    model = DecisionTreeClassifier(pruning="reduced_error")
    model.fit(table, y, validation=(other, ["u", "u", "v", "v"]))
    assert set(model.predict(other)) <= {"u", "v", "w"}
    with pytest.raises(ValueError, match="never"):
        model.fit(table, y, validation=(other, ["u", "u", "v", "never"]))
    with pytest.raises(ValueError, match="x"):
        model.fit(table, y, validation=({"k": ["a"]}, ["u"]))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"pruning": "shears"}, "pruning='shears' is unknown; known: None, .*cost_complexity"),
        ({"pruning": "cost_complexty"}, "did you mean 'cost_complexity'?"),
        ({"criterion": "ginni"}, "did you mean 'gini'?"),
        ({"pruning": "rules"}, "RuleListClassifier makes them"),
        ({"pruning": 3}, "name of a pruning method"),
        ({"pruning": CostComplexity(ruler=1)}, "CostComplexity has 'ruler'.*known: select, .*alpha"),
        ({"pruning": CostComplexity(select="luck")}, "select='luck' is unknown"),
        ({"pruning": "cost_complexity", "ccp_alpha": 0.1}, "ccp_alpha=0.1"),
        ({"pruning": CostComplexity(costs=np.eye(3))}, "shape"),
    ],
)
def test_refusals(parameters: dict[str, Any], message: str) -> None:
    model = DecisionTreeClassifier(**parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)
    assert not hasattr(model, "model_")


def test_options_refuse_what_they_cannot_be() -> None:
    for fraction in (1.5, 0.0):
        with pytest.raises(ValueError, match=r"ReducedError: validation_fraction=.* a float in \(0, 1\)"):
            ReducedError(validation_fraction=fraction)
    with pytest.raises(ValueError, match=r"Gain: significance=2.0 .* a number in \(0, 1\]"):
        Gain(significance=2.0)
    with pytest.raises(ValueError, match="pruning__alpha cannot be set, because pruning=None has no options"):
        DecisionTreeClassifier().set_params(pruning__alpha=1)


def test_refused_validation() -> None:
    model = DecisionTreeClassifier(pruning="reduced_error")
    for given, message in (
        ((X, Y), "rows of the fit"),
        ((X.copy(), Y), "rows of the fit"),
        (X[:5], "tuple"),
        ((X[:0], Y[:0]), "^validation: the table has no rows"),
        ((X[:5, :3], Y[:5]), "^validation: .*3"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X, Y, validation=given)
    with pytest.raises(ValueError, match="pruning is None"):
        DecisionTreeClassifier().fit(X, Y, validation=(X[:5], Y[:5]))


def test_costs_reach_the_answers() -> None:
    options = {"costs": [[0, 20], [1, 0]]}
    plain = DecisionTreeClassifier(pruning="cost_complexity").fit(X[SEEN], Y[SEEN])
    wary = DecisionTreeClassifier(pruning=CostComplexity(**options)).fit(X[SEEN], Y[SEEN])
    missed = [int(((m.predict(X[NEW]) == 1) & (Y[NEW] == 0)).sum()) for m in (plain, wary)]
    assert missed[1] < missed[0]


def test_significance_stops_the_growing() -> None:
    whole = DecisionTreeClassifier().fit(X, Y)
    careful = DecisionTreeClassifier(selection=Gain(significance=1e-6)).fit(X, Y)
    assert 1 < careful.get_n_leaves() < whole.get_n_leaves()


def test_options_can_be_searched() -> None:
    grid = {"pruning__select": ["leaves"], "pruning__leaves": [2, 5, 9]}
    search = GridSearchCV(DecisionTreeClassifier(pruning="cost_complexity"), grid, cv=3).fit(X, Y)
    assert search.best_estimator_.get_n_leaves() <= 9


def test_an_option_tells_the_way() -> None:
    for options in ({"leaves": 5}, {"select": "leaves", "leaves": 5}):
        model = DecisionTreeClassifier(pruning=CostComplexity(**options)).fit(X, Y)
        assert model.get_n_leaves() <= 5
        assert model.pruning_path_.full_tree.rows[0] == len(Y)  # none was set aside
    # delta is the method's own here, and says nothing about a choice
    bound = DecisionTreeClassifier(pruning=Bound(delta=0.1)).fit(X, Y)
    assert "chosen_by" not in bound.pruning_path_.details


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_rows_that_pruned_by_reduced_error_chose_among_all_prunings(class_weight: str | None) -> None:
    model = DecisionTreeClassifier(pruning="reduced_error", class_weight=class_weight)
    pruning = X[300:400], Y[300:400]
    model.fit(X[:300], Y[:300], validation=pruning)
    for choices in (1, 2, 1000):  # no number of trees is enough
        with pytest.raises(ValueError, match="method='reduced_error'"):
            model.certify(*pruning, choices=choices)
    found = model.certify(*pruning, method="reduced_error")
    assert found.breakdown == {"shape": model.model_.n_nodes}
    assert found.check()
    with pytest.raises(ValueError, match="choices is for method='held_out'"):
        model.certify(*pruning, method="reduced_error", choices=2)
    with pytest.raises(ValueError, match="method is 'occam'"):
        model.certify(*pruning, method="occam")


def test_rows_that_chose_pay_for_all_trees_and_rows_that_did_not_pay_nothing() -> None:
    others = X[300:400], Y[300:400]
    model = DecisionTreeClassifier(pruning="cost_complexity").fit(X[:300], Y[:300], validation=others)
    with pytest.raises(ValueError, match="have chosen 1 of the"):
        model.certify(*others, choices=len(model.pruning_path_) - 1)
    looked_at = DecisionTreeClassifier(pruning="bottom_up").fit(X[:300], Y[:300], validation=others)
    assert looked_at.certify(*others).choices == 1


@pytest.mark.parametrize("pruning", [None, *methods()])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_rows_of_the_fit_certify_nothing(pruning: str | None, class_weight: str | None) -> None:
    model = DecisionTreeClassifier(pruning=pruning, class_weight=class_weight).fit(X[SEEN], Y[SEEN])
    again = pickle.loads(pickle.dumps(model))
    for fitted in (model, again):
        with pytest.raises(ValueError, match="are rows of the fit"):
            fitted.certify(X[SEEN], Y[SEEN])
    assert model.certify(X[NEW], Y[NEW]).check()


def test_certificates() -> None:
    model = DecisionTreeClassifier(pruning="cost_complexity")
    model.fit(X[:300], Y[:300], validation=(X[300:400], Y[300:400]))
    found = model.certify(X[NEW], Y[NEW])
    assert 1 - model.score(X[NEW], Y[NEW]) < found.value < 0.25
    assert model.certify(X[NEW], Y[NEW], delta=0.01).value > found.value
    assert found.check()
    with pytest.raises(ValueError, match=r"have chosen 1 of the .* trees"):
        model.certify(X[300:400], Y[300:400])
    several = len(model.pruning_path_)
    assert model.certify(X[300:400], Y[300:400], choices=several).value > 0
    with pytest.raises(ValueError, match="are rows of the fit"):
        model.certify(X[:300], Y[:300])
    with pytest.raises(ValueError, match="delta"):
        model.certify(X[NEW], Y[NEW], delta=1.0)
    numbers = DecisionTreeRegressor(max_depth=2).fit(NUMBERS[9:], TARGET[9:])
    assert numbers.certify(NUMBERS[:9], TARGET[:9]).value > 0
    with pytest.raises(ValueError, match="are rows of the fit"):
        numbers.certify(NUMBERS[9:18], TARGET[9:18])
