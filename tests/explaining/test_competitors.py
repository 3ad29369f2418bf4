"""Competitors: the best split of each other column, judged by the naive oracle that tries every split."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle import CLASSES, NUMBERS
from tests.strategies import ABSOLUTE, Table, tables
from treewright import DecisionTreeClassifier, DecisionTreeRegressor, Tree, competitors, encode, explain, grow


def counted_rows(table: Table, tree: Tree, node: int) -> Any:
    """The rows at a node, numbered as the oracle does, which drops those of weight 0."""
    leaf = tree.apply(table.dataset())
    inside = (leaf >= node) & (leaf < tree.end[node])
    return np.flatnonzero(inside if table.weight is None else inside[table.weight > 0])


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(st.data(), st.sampled_from([*CLASSES, *NUMBERS]))
def test_each_is_the_best_split_of_its_column(data: Any, criterion: str) -> None:
    table = data.draw(tables(criterion))
    limits = data.draw(st.sampled_from([{}, {"min_samples_leaf": 2}, {"min_weight_leaf": 1.0}]))
    plain = {ABSOLUTE.get(name, name): value for name, value in limits.items()}
    tree, growth = table.grow(criterion, **limits), table.growth(criterion, **limits)
    grown = {**plain, "max_depth": 9, "category_gain": "plain"}
    found = competitors(tree, table.dataset(), most=None, growing=grown)
    assert list(found) == np.flatnonzero(~tree.is_leaf).tolist()
    for node in found:
        rows = counted_rows(table, tree, node)
        parent, noise = growth.risk_of(rows), growth.noise(rows)
        every = growth.splits(rows)
        best = {
            column: growth._first_best([s for s in every if s.column == column], parent)
            for column in {s.column for s in every} - {int(tree.feature[node])}
        }
        named = {each.position: each for each in found[node]}
        certain = {column for column, split in best.items() if split.gain > 1e-9 * parent + 10 * noise}
        assert certain <= set(named) <= set(best)
        for column in certain:
            np.testing.assert_allclose(named[column].gain, float(best[column].gain), rtol=1e-6)
            if best[column].categories is None:
                threshold = float(named[column].split.threshold[0])
                assert best[column].lo <= threshold < best[column].hi or threshold == best[column].lo
        gains = [each.gain for each in found[node]]
        assert gains == sorted(gains, reverse=True)
        json.dumps(found.to_dict(), allow_nan=False)


def test_share_agreement_and_words() -> None:
    # z parts 7 of the 8 rows as x does, the other way round
    data = encode({"x": [1, 2, 3, 4, 5, 6, 7, 8], "z": [9, 9, 9, 9, 2, 2, 2, 9]}, list("aaaabbbb"))
    tree = grow(data)
    (other,) = competitors(tree, data)[0]
    assert (other.column, other.words, other.other_words) == ("z", "z <= 5", "z > 5")
    assert other.agreement == 7 / 8
    # gini: 4 left of 8 rows; z leaves 5 rows of which one is b: 2 · 4 · 1 / 5
    assert other.gain == pytest.approx(4 - 1.6)
    assert other.share == pytest.approx((4 - 1.6) / 4)
    assert other.split.rows.tolist() == [8, 3, 5]
    named = encode({"x": [1, 2, 3, 4], "c": list("uvwv")}, list("aabb"))
    (by_name,) = competitors(grow(named), named, growing={"category_gain": "plain"})[0]
    assert (by_name.to_dict()["categories"], by_name.to_dict()["threshold"]) == (["u"], None)
    weighted = encode({"x": [1, 2, 3], "z": [1, 2, 2]}, ["a", "a", "b"], weight=[1.0, 2.0, 4.0])
    (light,) = competitors(grow(weighted, max_leaf_nodes=2), weighted)[0]
    assert light.agreement == pytest.approx(5 / 7)


@pytest.mark.filterwarnings("ignore::treewright.AdviceWarning")  # ids are the point
@pytest.mark.parametrize("weighted", [False, True])
def test_categories_that_are_no_better_than_chance_do_not_compete(weighted: bool) -> None:
    rng = np.random.default_rng(0)
    n = 400
    good = rng.integers(0, 4, n)
    y = (good % 2 + rng.normal(size=n) * 0.5 > 0.5).astype(int)
    table = {
        "x": y + rng.normal(size=n) * 0.3,
        "good": [f"g{code}" for code in good],
        "noise": [f"n{code}" for code in rng.integers(0, 80, n)],  # five rows each
        "id": [f"r{row}" for row in range(n)],
    }
    data = encode(table, y, weight=0.5 + rng.random(n) if weighted else None)
    tree = grow(data, max_leaf_nodes=2)
    assert tree.test(0).column == "x"
    (only,) = competitors(tree, data)[0]
    assert only.column == "good"
    plain = competitors(tree, data, growing={"category_gain": "plain"})[0]
    assert {each.column for each in plain} == {"good", "noise", "id"}
    assert next(each for each in plain if each.column == "good").gain == only.gain  # the whole drop of risk
    model = DecisionTreeClassifier(max_leaf_nodes=2, n_competitors=5, category_gain="plain", root="x")
    assert len(model.fit(table, y).competitors_[0]) == 3


def test_other_rows_give_their_own_gains() -> None:
    data = encode({"x": [1, 2, 3, 4], "z": [1, 2, 9, 9]}, list("aabb"))
    other = encode({"x": [1, 2, 3, 4], "z": [1, 9, 2, 9]}, list("abab"), schema=data.schema)
    (each,) = competitors(grow(data), other)[0]
    assert each.share == np.inf  # the tree's own test is worth nothing to them
    assert each.to_dict()["share"] is None
    assert each.gain == pytest.approx(2.0)


def test_rows_without_counts_part_nothing() -> None:
    data = encode({"x": [1, 2, 3, 4], "z": [1, 2, 9, 9]}, [0.0, 1.0, 5.0, 6.0])
    tree = grow(data, criterion="poisson", max_leaf_nodes=2)
    assert competitors(tree, data)[0]
    nothing = encode({"x": [1, 4], "z": [1, 9]}, [0.0, 0.0], schema=data.schema)
    assert competitors(tree, nothing)[0] == ()


def test_a_limited_tree_may_have_better_competitors() -> None:
    data = encode({"x": [1, 2, 3, 4, 5, 6], "z": [1, 1, 1, 1, 1, 2]}, list("aababb"))
    tree = grow(data, max_leaf_nodes=2)
    free = competitors(tree.collapse([]), data)[0]
    bound = competitors(tree, data, growing={"min_samples_leaf": 2})[0]
    assert [each.column for each in free] == ["z"]
    assert bound == ()
    assert "no other column splits these rows" in str(
        competitors(tree, data, growing={"min_samples_leaf": 2})
    )


def test_nodes_and_numbers_are_checked() -> None:
    data = encode({"x": [1, 2, 3, 4], "z": [1, 2, 9, 9]}, list("aabb"))
    tree = grow(data)
    with pytest.raises(ValueError, match="node 1 is a leaf"):
        competitors(tree, data, nodes=[1])
    with pytest.raises(IndexError, match="nodes 0 … 2"):
        competitors(tree, data, nodes=[7])
    with pytest.raises(ValueError, match="most is -1"):
        competitors(tree, data, most=-1)
    with pytest.raises(ValueError, match="data has no target"):
        competitors(tree, encode({"x": [1], "z": [2]}, schema=data.schema))
    with pytest.raises(ValueError, match="columns of data are not the tree's"):
        competitors(tree, encode({"u": [1, 2]}, ["a", "b"]))
    nothing = competitors(tree.collapse([0]), data)
    assert len(nothing) == 0
    assert "there are no competitors" in str(nothing)


def test_of_a_large_tree_the_largest_branches() -> None:
    rng = np.random.default_rng(0)
    data = encode(rng.normal(size=(600, 3)), rng.normal(size=600))
    tree = grow(data)
    found = competitors(tree, data, most=1)
    assert len(found) == 64
    left_out = set(np.flatnonzero(~tree.is_leaf).tolist()) - set(found)
    assert tree.rows[list(found)].min() >= tree.rows[list(left_out)].max()
    again = pickle.loads(pickle.dumps(found))
    assert again.to_dict() == found.to_dict()
    with pytest.raises(TypeError, match="does not support item assignment"):
        found.by_node[0] = ()  # type: ignore[index]


def test_a_decision_names_them_as_the_row_answers_them() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(200, 3))
    y = np.where(x[:, 0] + 0.5 * x[:, 1] > 0, 3.0, 1.0) + rng.normal(size=200)
    model = DecisionTreeRegressor(max_depth=2).fit(x, y)
    decision = explain(model, x[0], data=(x, y), most=2)
    for step in decision.steps:
        whole = competitors(model, (x, y), nodes=[step.node], most=2)[step.node]
        assert step.competitors == whole
        for each, words in zip(step.competitors, step.competitor_words, strict=True):
            goes_left = x[0, each.position] <= each.split.threshold[0]
            assert words == (each.words if goes_left else each.other_words)
            assert f"or: {words}" in str(decision)


def test_estimators_keep_competitors_of_the_rows_that_grew_the_tree() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(300, 5))
    y = (x[:, 0] + x[:, 1] + 0.3 * rng.normal(size=300) > 0).astype(int)
    model = DecisionTreeClassifier(max_depth=3, n_competitors=2).fit(x, y)
    kept = model.competitors_
    assert all(len(kept[node]) <= 2 for node in kept)
    assert kept.to_dict() == competitors(model, (x, y), most=2).to_dict()
    told = explain(model, x[0])
    assert told.steps[0].competitors == kept[0]
    assert "of the gain" in str(told)
    pruned = DecisionTreeClassifier(n_competitors=1, pruning="reduced_error").fit(x, y)
    assert set(pruned.competitors_) == set(np.flatnonzero(~pruned.model_.is_leaf).tolist())
    assert not hasattr(DecisionTreeClassifier().fit(x, y), "competitors_")
    assert not hasattr(model.set_params(n_competitors=0).fit(x, y), "competitors_")
    with pytest.raises(ValueError, match="n_competitors"):
        DecisionTreeClassifier(n_competitors=-1).fit(x, y)
