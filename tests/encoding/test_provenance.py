"""Where the counts of a tree come from: known of every tree, kept by every change, told by its file."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treewright import Below, born_again, certify, distill, encode, grow, grow_forest, load, prune, regrow
from treewright.certifying import BOUNDS
from treewright.converting import from_sklearn
from treewright.encoding import Dataset, Provenance
from treewright.estimators import CHAIDClassifier, ID3Classifier
from treewright.parameters import Costs, FeatureCosts
from treewright.tree import Tree

DRAWN = Provenance("observed", "equal", ())


def coins(n: int = 400, weight: Any = None, gaps: bool = False) -> Dataset:
    """Fair coins, and two columns that have nothing to do with them."""
    rng = np.random.default_rng(5)
    x, z = rng.integers(0, 4, (2, n)).astype(float)
    if gaps:
        z[3] = np.nan
    return encode({"x": x, "z": z}, rng.integers(0, 2, n), weight=weight, classes=True)


def averaging_out() -> Dataset:
    """In both leaves half the rows are of each class, but those of one weigh three times those of the other:
    each leaf seems to have as many rows as its weight, and three quarters of them right.
    """
    y = np.tile([0, 1], 48)
    x = np.repeat([0.0, 1.0], 48)
    return encode({"x": x}, y, weight=np.where(y == x, 1.5, 0.5), classes=True)


def test_weights_that_average_out_in_every_leaf_are_known() -> None:
    tree = grow(averaging_out(), max_leaf_nodes=2)
    assert tree.weight.tolist() == tree.rows.tolist()
    assert tree.statistic[1:].tolist() == [[36, 12], [12, 36]]  # whole numbers, as if they were counts
    assert tree.provenance == Provenance("observed", "unequal", ())
    for method in BOUNDS:
        for data in (None, averaging_out()):
            with pytest.raises(ValueError, match="different weights"):
                certify(tree, method, data=data)


@pytest.mark.parametrize(
    "change",
    [
        lambda tree, data: tree.collapse([1]),
        lambda tree, data: tree.first(1),
        lambda tree, data: tree.with_costs([[0, 1], [2, 0]]),
        lambda tree, data: tree.graft({0: int(tree.right[0])}, data),
        lambda tree, data: regrow(tree, 0, Below("z", 1.5), data),
        lambda tree, data: prune(tree, "pessimistic", data=data).pruned,
        lambda tree, data: prune(tree).pruned,
        lambda tree, data: pickle.loads(pickle.dumps(tree)),
    ],
)
@pytest.mark.parametrize("weight", [None, [1.0, 2.0] * 200])
def test_it_stays_with_every_change(change: Any, weight: Any) -> None:
    data = coins(weight=weight, gaps=True)
    tree = grow(data)
    assert tree.provenance == Provenance("observed", "equal" if weight is None else "unequal", (1,))
    assert change(tree, data).provenance == tree.provenance


def test_another_way_of_missing_values_leaves_the_counts_behind() -> None:
    """Rows that miss a value were counted where their surrogates sent them."""
    rng = np.random.default_rng(2)
    x = rng.integers(0, 8, 400).astype(float)
    near = np.where(rng.random(400) < 0.35, rng.integers(0, 8, 400), x)
    table = {"x": np.where(rng.random(400) < 0.3, np.nan, x), "near": near}
    data = encode(table, np.where(x < 4, "a", "b"))
    by_surrogates = grow(data, max_leaf_nodes=2, missing="surrogate")
    changed = by_surrogates.with_missing("learn")
    assert changed.provenance is None
    with pytest.raises(ValueError, match="not known how the training rows"):
        certify(changed)
    with pytest.raises(ValueError, match="its nodes count others"):
        certify(changed, data=data)
    assert by_surrogates.with_missing("surrogate").provenance == by_surrogates.provenance
    assert grow(coins()).with_missing("fractional").provenance == DRAWN


@pytest.mark.parametrize(
    "growing",
    [
        {"missing": "surrogate"},
        {"monotonic_cst": {"x": 1}},
        {"selection": "test"},
        {"split": "oblique"},
        {"root": Below("x", 1.5)},
        {"costs": [[0, 1], [2, 0]]},
        {"splitter": "random"},
    ],
    ids=str,
)
def test_every_way_of_growing_tells_it(growing: dict[str, Any]) -> None:
    assert grow(coins(), **growing).provenance == DRAWN
    assert grow(coins(weight=[1.0, 2.0] * 200), **growing).provenance.weights == "unequal"


@pytest.mark.parametrize("model", [CHAIDClassifier(), ID3Classifier()])
def test_classic_trees_tell_it(model: Any) -> None:
    rows = [["a", "b"], ["a", "c"], ["b", "c"], ["b", "b"]] * 30
    y = ["yes", "no", "yes", "yes"] * 30
    assert model.fit(rows, y).model_.provenance == DRAWN
    assert model.fit(rows, y, sample_weight=[1, 2, 1, 2] * 30).model_.provenance.weights == "unequal"


def test_rows_of_no_weight_miss_nothing() -> None:
    data = coins(gaps=True)
    weight = np.ones(400)
    weight[3] = 0
    assert grow(data.with_weight(weight)).provenance == DRAWN


def test_sums_of_opposite_infinities_are_incomplete() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(200, 2))
    y = x.sum(axis=1) > 0
    x[0] = [np.inf, -np.inf]
    data = encode(x, y, classes=True)
    tree = grow(data, split="oblique", max_leaf_nodes=2)
    assert tree.directions
    assert tree.provenance.incomplete == (0, 1)
    assert certify(tree) == certify(tree, data=data)


def test_answers_of_a_model_are_no_labels() -> None:
    data = coins()
    forest = grow_forest(data, n_estimators=3, max_features=1)
    for tree in (distill(forest, data, max_leaf_nodes=4), born_again(forest.trees).tree):
        assert tree.provenance.labels == "predicted"
        for given in (None, data):
            with pytest.raises(ValueError, match=r"distilled|not the rows that the tree was grown from"):
                certify(tree, data=given)
        with pytest.raises(ValueError, match="predictions of another model"):
            certify(tree)
        assert certify(tree, test=coins(700).take(slice(400, 700))).value > 0.4
    restated = distill(forest, data, max_leaf_nodes=4, restate="truth")
    assert restated.provenance == DRAWN
    assert certify(restated).value > 0.5


def test_one_number_for_one_tree() -> None:
    for gaps in (False, True):
        data = coins(gaps=gaps)
        for tree in (grow(data), grow(data, feature_costs=FeatureCosts(max_used=1)), prune(grow(data))[1]):
            assert certify(tree) == certify(tree, data=data)
    complete, incomplete = grow(coins(), max_leaf_nodes=9), grow(coins(gaps=True), max_leaf_nodes=9)
    assert certify(complete).complete
    assert not certify(incomplete).complete


@pytest.mark.slow
@pytest.mark.parametrize("weight", [None, [1.0, 2.0] * 200])
def test_a_file_tells_it(weight: Any, tmp_path: Path) -> None:
    data = coins(weight=weight, gaps=True)
    forest = grow_forest(data, n_estimators=2)
    for model in (grow(data), distill(forest, data), forest, born_again(forest.trees).tree):
        model.save(tmp_path / "model.json")
        again: Any = load(tmp_path / "model.json")
        for one, other in zip(
            getattr(model, "trees", [model]), getattr(again, "trees", [again]), strict=True
        ):
            assert one.provenance == other.provenance is not None


def test_where_it_is_not_known_the_training_rows_tell_it() -> None:
    """Files of old and trees of other libraries."""
    from sklearn.tree import DecisionTreeClassifier

    data = coins()
    X, y = np.column_stack(data.columns), data.targets[0]
    tree = from_sklearn(DecisionTreeClassifier(max_leaf_nodes=4).fit(X, y))
    assert tree.provenance is None
    with pytest.raises(ValueError, match="not known how the training rows"):
        certify(tree)
    rows = encode(X, y, schema=tree.schema)
    assert certify(tree, data=rows).value > 0.5
    assert from_sklearn(DecisionTreeClassifier(max_leaf_nodes=4).fit(X, y), data=(X, y)).provenance == DRAWN
    old = load(Path(__file__).parents[1] / "saving" / "models" / "two_classes.model.json")
    assert isinstance(old, Tree)
    assert old.provenance is None
    with pytest.raises(ValueError, match="not known how the training rows"):
        certify(old)


def test_priors_scale_costs_by_the_training_rows() -> None:
    data = coins()
    for tree in (grow(data, costs=Costs(priors=[0.3, 0.7])), grow(data).with_costs(priors=[0.3, 0.7])):
        assert tree.schema.targets[0].priors == (0.3, 0.7)
        with pytest.raises(ValueError, match="scaled by its priors"):
            certify(tree)
        fresh = certify(tree, test=coins(700).take(slice(400, 700)))
        assert any("times the prior of its class" in each for each in fresh.assumptions)
        plain = certify(tree, test=coins(700).take(slice(400, 700)), costs=[[0, 1], [1, 0]])
        assert not any("prior" in each for each in plain.assumptions)
    assert grow(data, costs=[[0, 1], [2, 0]]).schema.targets[0].priors is None
