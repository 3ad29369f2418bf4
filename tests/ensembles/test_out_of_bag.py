"""Figures from rows out of bag are about what `predict` answers, and true: tried on many simulated draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from treewright import (
    BaggingClassifier,
    Costs,
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    encode,
    grow_forest,
)
from treewright.ensembles import importance_of, out_of_bag, proximity, votes_against

COSTS = [[0.0, 1.0], [30.0, 0.0]]


def noise(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a class that one in ten has, whatever its columns: with costs all are answered by it."""
    draw = np.random.default_rng(seed)
    return draw.random((n, 2)), (draw.random(n) < 0.1).astype(int)


def shifted(seed: int, n: int, rare: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a rare class beside the others, with an overlap."""
    draw = np.random.default_rng(seed)
    y = (draw.random(n) < rare).astype(int)
    return draw.normal(size=(n, 3)) + 1.2 * y[:, np.newaxis], y


def bagged(voting: str, **tree: Any) -> BaggingClassifier:
    member = DecisionTreeClassifier(min_samples_leaf=10, **tree)
    return BaggingClassifier(member, 12, voting=voting, random_state=0)


VOTERS = {
    "soft": lambda: bagged("soft"),
    "hard": lambda: bagged("hard"),
    "hard, costs": lambda: bagged("hard", costs=Costs(COSTS, split="none")),
    "hard, priors": lambda: bagged("hard", costs=Costs(priors=[0.02, 0.98], split="none")),
    "soft, weights of classes in the tree": lambda: bagged("soft", class_weight="balanced"),
    "forest": lambda: RandomForestClassifier(12, min_samples_leaf=10, random_state=0),
    "forest, weights of classes": lambda: RandomForestClassifier(
        12, min_samples_leaf=10, class_weight={0: 1, 1: 20}, random_state=0
    ),
    "forest, weights in each draw": lambda: RandomForestClassifier(
        12, min_samples_leaf=10, class_weight="balanced_subsample", voting="hard", random_state=0
    ),
    "extra trees": lambda: ExtraTreesClassifier(
        12, min_samples_leaf=10, bootstrap=True, class_weight={0: 1, 1: 9}, random_state=0
    ),
    "without replacement": lambda: RandomForestClassifier(
        12, min_samples_leaf=10, bootstrap=False, max_samples=0.6, class_weight={0: 1, 1: 9}, random_state=0
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", VOTERS)
def test_the_bounded_vote_is_the_one_that_predicts(kind: str) -> None:
    """Wherever `predict` is wrong, half of the bounded votes are against the truth: all bounds rest on it."""
    model = VOTERS[kind]().fit(*shifted(1, 400, 0.2))
    assert 0 < model.oob_certificate(*shifted(1, 400, 0.2)).value <= 1
    fresh, truth = shifted(2, 4000, 0.2)
    rows = encode(fresh, schema=model.model_.schema)
    said = np.mean([model.model_.tree_votes(i, rows) for i in range(12)], axis=0)
    against = 1 - said[np.arange(4000), truth]
    wrong = model.predict(fresh) != truth
    assert 0 < wrong.mean() < 1
    assert against[wrong].min() >= 0.5 - 1e-12
    assert (against[~wrong] <= 0.5 + 1e-12).all()  # of two classes: one vote decides as the other does


@pytest.mark.slow
@pytest.mark.parametrize("kind", VOTERS)
def test_certificates_hold(kind: str) -> None:
    """Of rows that the columns say nothing of: with costs most answers are wrong."""
    fresh, truth = noise(10**6, 3000)
    n_false = 0
    for seed in range(30):
        x, y = noise(seed, 200)
        model = VOTERS[kind]().fit(x, y)
        n_false += model.oob_certificate(x, y, delta=0.05).value < (model.predict(fresh) != truth).mean()
    assert n_false <= 1  # of 30; the soft vote of trees with costs was bounded falsely in every one


@pytest.mark.parametrize("costs", [Costs(COSTS, split="none"), Costs(priors=[0.5, 0.5], split="none")])
def test_soft_votes_for_what_costs_least_are_not_bounded(costs: Costs) -> None:
    x, y = noise(0, 200)
    model = bagged("soft", costs=costs).fit(x, y)
    with pytest.raises(ValueError, match=r"the smallest expected cost, .* voting='hard'"):
        model.oob_certificate(x, y)
    with pytest.raises(ValueError, match="the forest predicts the class of the smallest expected cost"):
        votes_against(model.model_, encode(x, y, schema=model.model_.schema))


@pytest.mark.slow
def test_hard_votes_count_the_answers_of_trees_with_costs() -> None:
    """A tree knows its costs already: counting them again would answer what hardly any tree says."""
    x, y = shifted(0, 400, 0.2)
    model = bagged("hard", costs=Costs([[0.0, 1.0], [5.0, 0.0]], split="none")).fit(x, y)
    counts = np.mean([tree.predict(x) for tree in model.estimators_], axis=0)
    assert_array_equal(model.predict(x), counts > 0.5)


def test_several_targets_are_not_certified() -> None:
    x, y = noise(0, 100)
    model = RandomForestClassifier(5, random_state=0).fit(x, np.c_[y, 1 - y])
    with pytest.raises(ValueError, match="one target of classes"):
        model.oob_certificate(x, np.c_[y, 1 - y])


@pytest.mark.filterwarnings("ignore::treewright.AdviceWarning")  # trees of one leaf are meant
def test_weights_of_classes_that_all_rows_have_settled_certify_nothing() -> None:
    x, y = shifted(0, 300, 0.2)
    model = RandomForestClassifier(5, class_weight="balanced", random_state=0).fit(x, y)
    with pytest.raises(ValueError, match="class_weight='balanced_subsample' or a dict"):
        model.oob_certificate(x, y)
    absent = RandomForestClassifier(60, class_weight={0: 1, 1: 0}, oob_score=True, random_state=0).fit(x, y)
    assert (absent.predict(x) == 0).all()
    assert absent.oob_score_ == pytest.approx((y == 0).mean())  # a class that is not learnt is judged
    with pytest.raises(ValueError, match="leaves a class out"):
        absent.oob_certificate(x, y)
    rare = np.arange(300) < 2  # many draws have no row that weighs anything
    few = RandomForestClassifier(40, class_weight={False: 0, True: 1}, random_state=0).fit(x, rare)
    assert few.predict(x).all()
    with pytest.raises(ValueError, match="all weights are zero after class_weight"):
        RandomForestClassifier(5, class_weight={0: 0, 1: 0}).fit(x, y)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("by_class", ["balanced", "balanced_subsample", {0: 1, 1: 19}])
def test_the_error_out_of_bag_is_that_of_fresh_rows(kind: Any, by_class: Any) -> None:
    """Weights of classes say how much a row weighs in a tree, not how often it is drawn: of a rare class as
    many rows are out of bag as of the others.
    """
    fresh, truth = shifted(10**6, 20_000)
    figures = []
    for seed in range(6):
        x, y = shifted(seed, 1500)
        model = kind(
            60, bootstrap=True, oob_score=True, class_weight=by_class, min_samples_leaf=10, random_state=seed
        ).fit(x, y)
        assert np.isfinite(model.oob_decision_function_).all()
        plain = kind(60, bootstrap=True, min_samples_leaf=10, random_state=seed).fit(x, y)
        assert_array_equal(model.estimators_samples_[7], plain.estimators_samples_[7])
        rare_error = 1 - (model.predict(fresh)[truth == 1] == 1).mean()
        rare_out = 1 - (model.oob_decision_function_[y == 1, 1] > 0.5).mean()
        figures.append((1 - model.oob_score_, (model.predict(fresh) != truth).mean(), rare_out, rare_error))
    out, true, rare_out, rare_true = np.mean(figures, axis=0)
    assert abs(out - true) < 0.012
    assert abs(rare_out - rare_true) < 0.1


def test_weights_of_classes_multiply_in_the_trees() -> None:
    x, y = shifted(0, 300, 0.2)
    model = RandomForestClassifier(3, class_weight={0: 1, 1: 4}, random_state=0).fit(x, y)
    for tree, rows in zip(model.model_, model.estimators_samples_, strict=True):
        assert_array_equal(tree.statistic[0], np.bincount(y[rows]) * [1, 4])


def test_rows_out_of_bag_are_known_by_their_place() -> None:
    """The same rows in another order would be taken for rows that a tree has not seen."""
    x, y = shifted(0, 300, 0.3)
    turned = np.random.default_rng(0).permutation(300)
    data = encode(x, y)
    forest = grow_forest(data, n_estimators=10)
    whole = RandomForestClassifier(10, class_weight="balanced", random_state=0).fit(x, y)
    for grown in (forest, whole.model_):
        rows, flipped = data.take(turned), encode(x, np.where(np.arange(300) < 9, 1 - y, y))
        assert out_of_bag(grown, data).loss > 0
        for asked in (out_of_bag, importance_of, votes_against):
            for others in (rows, flipped):
                with pytest.raises(ValueError, match="not the training rows in their order"):
                    asked(grown, others)
        with pytest.raises(ValueError, match="not the training rows in their order"):
            proximity(grown, rows, out_of_bag=True)
        proximity(grown, data, out_of_bag=True)
        proximity(grown, rows)
    model = RandomForestClassifier(10, random_state=0).fit(x, y)
    for asked in (model.oob_certificate, model.oob_importance):
        with pytest.raises(ValueError, match="in another order; give them in the order of the fit"):
            asked(x[turned], y[turned])
        with pytest.raises(ValueError, match="with other targets; give them with those of the fit"):
            asked(x, 1 - y)
        with pytest.raises(ValueError, match="these are not the rows of the fit; give all of them"):
            asked(x[1:], y[1:])
