"""A first split that is given, other decisions at single nodes: what follows, what stays, what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from treewright import Among, Below, DecisionTreeClassifier, Tree, criteria, encode, grow, regrow
from treewright.encoding import Dataset
from treewright.parameters import Gain


def random_data(seed: int, *, classes: bool) -> Dataset:
    """A table with numbers, missing ones, categories and, half of the time, weights."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 70))
    table = {
        "x": np.where(rng.random(n) < 0.15, np.nan, rng.integers(0, 9, n).astype(float)),
        "z": rng.normal(size=n).round(1),
        "sky": rng.choice(["clear", "rain", "snow", "fog"], n).tolist(),
    }
    y = rng.integers(0, 3, n).astype(str) if classes else rng.integers(1, 7, n).astype(float)
    weight = rng.integers(0, 3, n).astype(float) if seed % 2 and n > 20 else None
    return encode(table, y, weight=weight)


def assert_same(ours: Tree, theirs: Tree, steps: bool = True) -> None:
    """Equal trees, but for the last bits of joined moments; and, if asked, for the order of the splits."""
    names = ["end", "feature", "threshold", "subset", "subsets", "missing_left", "rows"]
    for name in names + ["step"] * steps:
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)
    np.testing.assert_allclose(
        np.asarray(ours.statistic), np.asarray(theirs.statistic), rtol=1e-12, atol=1e-9
    )


GAINS = ["plain", "corrected"]  # a corrected gain is not kept: parts of a tree are ordered by plain ones
LIMITS = [
    {},
    {"max_leaf_nodes": 5},
    {"max_depth": 3, "min_samples_leaf": 2},
    {"max_leaf_nodes": 4, "min_samples_split": 4, "threshold": "midpoint"},
]


@pytest.mark.slow
@pytest.mark.parametrize("gain", GAINS)
@pytest.mark.parametrize("criterion", criteria())
@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_what_is_not_overruled_is_grown_as_before(criterion: str, limits: dict, gain: str) -> None:
    is_plain, has_budget = gain == "plain", "max_leaf_nodes" in limits
    limits = {**limits, "category_gain": gain}
    for seed in range(6):
        data = random_data(seed, classes=criterion in criteria("classes"))
        tree = grow(data, criterion=criterion, **limits)
        if tree.n_leaves < 2:
            continue
        for root in (tree.schema.names[tree.feature[0]], tree.test(0)):
            given = grow(data, criterion=criterion, root=root, **limits)
            given.check()
            assert given.n_leaves == tree.n_leaves
            if is_plain or not has_budget:
                assert_same(given, tree, steps=is_plain)
        for node in range(tree.n_nodes):
            again = regrow(tree, node, "best", data, **limits)
            again.check()
            assert_same(again, tree, steps=is_plain)


@pytest.mark.slow
def test_parts_are_corrected_as_the_whole_was() -> None:
    """Weights with one fraction among them are no numbers of rows, in parts without the fraction neither."""
    differing = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = 120
        table = {"x": rng.normal(size=n), "town": rng.choice([f"t{i}" for i in range(25)], n)}
        weight = rng.integers(1, 6, n).astype(float)
        weight[0] = 0.5
        data = encode(table, (table["x"] + rng.normal(size=n) > 0).astype(int), weight=weight)
        tree = grow(data)
        for node in np.flatnonzero(~tree.is_leaf).tolist():
            assert_same(regrow(tree, node, "best", data), tree, steps=False)
        assert_same(grow(data, root=tree.test(0)), tree, steps=False)
        whole = grow(data.with_weight(np.ceil(weight)))
        differing += whole.feature.tolist() != tree.feature.tolist()
    assert differing > 0  # else nothing was at stake


@pytest.mark.slow
@pytest.mark.parametrize("gain", GAINS)
@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_another_decision_leaves_the_rest_as_it_is(limits: dict, gain: str) -> None:
    done, limits = 0, {**limits, "category_gain": gain}
    for seed in range(12):
        data = random_data(seed, classes=seed % 3 > 0)
        tree = grow(data, **limits)
        for node in range(tree.n_nodes):
            try:
                other = regrow(tree, node, "z", data, **limits)
            except ValueError:  # the limits allow none here
                continue
            done += 1
            other.check()
            assert other.test(node).column == "z"
            assert_same(other.collapse([node]), replaced_steps(tree.collapse([node]), other.collapse([node])))
            assert other.n_leaves <= limits.get("max_leaf_nodes", 10**6)
            assert other.depth <= limits.get("max_depth", 10**6)
            assert (other.rows[other.is_leaf] >= limits.get("min_samples_leaf", 1)).all()
            assert_same(regrow(other, node, "best", data, **limits), tree, steps=gain == "plain")
    assert done > 20


def replaced_steps(tree: Tree, other: Tree) -> Tree:
    """The tree with the steps of another one, after seeing that they come in the same order."""
    inner = ~tree.is_leaf
    assert (np.argsort(tree.step[inner]) == np.argsort(other.step[inner])).all()
    return replace(tree, step=other.step)


def test_a_budget_goes_to_the_splits_of_the_largest_gain() -> None:
    rng = np.random.default_rng(5)
    x = rng.uniform(size=(300, 3))
    data = encode(x, (x[:, 0] * x[:, 1] > 0.2).astype(int) + (x[:, 2] > 0.9))
    whole = grow(data, root=Below("x2", 0.5))
    for leaves in (2, 3, 5, 9):
        tree = grow(data, root=Below("x2", 0.5), max_leaf_nodes=leaves)
        assert tree == whole.first(leaves - 1)
    opened = [0]
    for _ in range(whole.n_leaves - 1):  # best first, once more and naively
        node = max(opened, key=lambda i: (whole.gain[i].round(9), -opened.index(i)))
        assert whole.gain[node] == pytest.approx(max(whole.gain[i] for i in opened))
        opened.remove(node)
        opened += [i for i in whole.branches(node) if not whole.is_leaf[i]]


def test_a_leaf_instead_and_categories_instead() -> None:
    data = encode({"sky": ["rain", "snow", "clear", "rain"], "x": [1, 2, 3, 4]}, [1.0, 2.0, 3.0, 9.0])
    tree = grow(data)
    assert regrow(tree, 0, None, data).n_leaves == 1
    other = regrow(tree, 0, Among("sky", ("rain",)), data, max_depth=1)
    assert other.test(0) == Among("sky", ("rain",))
    assert other.value[:, 0].tolist() == [3.75, 5.0, 2.5]


@pytest.mark.parametrize("left", [True, False])
def test_missing_values_go_where_they_gain_more(left: bool) -> None:
    x = [1.0, 2.0, 3.0, 4.0, np.nan, np.nan]
    data = encode({"x": x}, list("aabbaa" if left else "aabbbb"))
    tree = grow(data, root=Below("x", 2.5))
    assert tree.missing_left[0] == left
    assert tree.n_leaves == 2
    none = grow(encode({"x": [1.0, 2.0, 3.0]}, list("abb")), root=Below("x", 1.5))
    assert not none.missing_left[0]  # the heavier side


def test_many_classes_and_several_targets() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 50, (400, 2)).astype(float)
    wide = encode(x, [f"c{i}" for i in rng.integers(0, 300, 400)])
    tree = grow(wide, min_samples_leaf=20)
    again = regrow(tree, 1, "best", wide, min_samples_leaf=20)
    again.check()
    assert again == tree
    two = encode(x, rng.integers(0, 3, (400, 2)))
    tree = grow(two, max_leaf_nodes=9)
    assert regrow(tree, 2, "best", two, max_leaf_nodes=9) == tree


@pytest.mark.parametrize(
    ("root", "limits", "says"),
    [
        (Below("x", 99), {}, r"Below\(column='x', threshold=99\) sends all rows the same way"),
        (Among("sky", ()), {}, "sends all rows the same way"),
        (Below("x", 1.5), {"min_samples_leaf": 2}, "breaks min_samples_leaf=2: one side has 1 row"),
        (Below("x", 2.5), {"min_samples_split": 9}, "breaks min_samples_split=9: there are 4 rows"),
        (
            Below("x", 1.5),
            {"min_weight_fraction_leaf": 0.5},
            "breaks min_weight.*: one side weighs 1, less than 2",
        ),
        (Below("x", 2.5), {"min_impurity_decrease": 2}, "breaks min_impurity_decrease: .* is 2, less than 8"),
        (Below("x", 2.5), {"max_depth": 0}, "breaks max_depth"),
        (Below("x", 2.5), {"max_leaf_nodes": 1}, "breaks max_leaf_nodes"),
        (Below("x", 1.5), {"selection": Gain(significance=0.001)}, "breaks significance=0.001"),
        (Below("x", np.nan), {}, "must be a number"),
        (Below("sky", 1), {}, "test it with Among"),
        (Among("sky", ("hail",)), {}, "no category 'hail'"),
        ("flat", {}, "column 'flat' has no split"),
    ],
)
def test_what_cannot_be_is_refused(root: object, limits: dict, says: str) -> None:
    table = {"x": [1, 2, 3, 4], "sky": ["rain", "rain", "snow", "snow"], "flat": [1, 1, 1, 1]}
    with pytest.raises(ValueError, match=says):
        grow(encode(table, list("aabb")), root=root, **limits)


def test_other_refusals() -> None:
    data = encode({"x": [1, 2, 3, 4]}, list("abab"))
    tree = grow(data)
    with pytest.raises(ValueError, match="Below"):
        grow(data, root=3)
    with pytest.raises(ValueError, match="no column 'z'"):
        grow(data, root="z")
    with pytest.raises(IndexError):
        regrow(tree, 99, None, data)
    with pytest.raises(ValueError, match="not what the tree was grown from: 3 rows reach node 0"):
        regrow(tree, 0, None, data.take([0, 1, 2]))
    with pytest.raises(ValueError, match="grown by 'gini'"):
        regrow(tree, 0, "x", data, criterion="entropy")
    counts = encode({"x": [1, 2, 3, 4]}, [0.0, 0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="every number is 0"):
        grow(counts, criterion="poisson", root=Below("x", 2.5))


def test_estimators_take_a_first_split() -> None:
    x, y = np.random.default_rng(1).normal(size=(80, 3)), np.arange(80) % 2
    model = DecisionTreeClassifier(root=Below("x2", 0.25), max_leaf_nodes=4).fit(x, y)
    assert model.model_.test(0) == Below("x2", 0.25)
    assert model.get_n_leaves() == 4
    other = regrow(model, 1, "x0", (x, y), max_leaf_nodes=4)
    assert other.test(1).column == "x0"
    with pytest.raises(ValueError, match="root="):
        DecisionTreeClassifier(root=3).fit(x, y)


def test_draws_come_again() -> None:
    x = np.random.default_rng(2).normal(size=(90, 4))
    data = encode(x, (x[:, 0] > x[:, 1]).astype(int))
    trees = [grow(data, root="x3", max_features=1, random_state=seed) for seed in (1, 1, 2)]
    assert trees[0] == trees[1] != trees[2]
    seen: list[float] = []
    grow(data, root="x3", progress=seen.append)
    assert all(0 <= share <= 1 for share in seen)
