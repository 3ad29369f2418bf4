"""Splits by what mistakes cost: rpart's numbers, altered priors against weights by hand, true rows after."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV

from treewright import (
    Column,
    CostComplexity,
    Costs,
    DecisionTreeClassifier,
    ExtraTreeClassifier,
    Leaf,
    Schema,
    Target,
    Tree,
    certify,
    compare,
    competitors,
    encode,
    grow,
    load,
    prune,
    report,
    select,
)
from treewright.datasets import load_spam
from treewright.encoding import Dataset
from treewright.tree.costs import cheapest, class_losses

COSTS = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 0.5], [1.0, 4.0, 0.0]])

# rpart's vignette "An Introduction to Recursive Partitioning Using the RPART Routines", section "Test Cases"
L, PRIORS = [[0, 2, 2], [2, 0, 6], [1, 1, 0]], [0.2, 0.3, 0.5]
Y = [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 1]
NAN = np.nan
TABLE = {
    "x1": [*range(1, 16)],
    "x2": [*range(1, 7), *range(1, 7), 1, 2, 3],
    "x3": [NAN, 22, 38, 12, NAN, 48, 14, 32, 40, NAN, 30, 46, 28, 34, 48],
}


def problem(seed: int, n: int = 80, weighted: bool = False) -> Dataset:
    rng = np.random.default_rng(seed)
    table = {"x": rng.normal(size=n).round(1), "k": rng.choice(["u", "v", "w"], n), "z": rng.normal(size=n)}
    weight = rng.integers(0, 4, n).astype(float) if weighted else None
    y = np.append(np.repeat(np.arange(3), 2), rng.integers(0, 3, n - 6))
    return encode(table, y, weight=None if weight is None else np.append([1.0] * 6, weight[6:]))


def by_hand(data: Dataset, costs: Any, priors: Any) -> Dataset:
    """The rows with the weights of the altered priors, from the formula."""
    codes, weight = np.asarray(data.targets)[0], data.row_weights
    shares = np.bincount(codes, weight, 3) / weight.sum()
    altered = (shares if priors is None else np.array(priors)) * np.asarray(costs, float).sum(axis=1)
    return data.with_weight(weight * (altered / altered.sum() / shares)[codes])


def test_rparts_test_case() -> None:
    """Expected losses 1.1, 0.9 and 2.2 of the answers at the root, Gini index 256/441 by altered priors, and
    the improvements of the best splits, which are 15 times the drops of that index.
    """
    data = encode({name: TABLE[name] for name in ("x1", "x2")}, Y, classes=True)
    options: dict[str, Any] = {"costs": Costs(L, priors=PRIORS), "min_samples_leaf": 2}
    tree = grow(data, max_leaf_nodes=2, **options)
    costs = np.array(tree.schema.targets[0].costs)
    assert (np.asarray(tree.statistic[0]) @ costs / 15).tolist() == pytest.approx([1.1, 0.9, 2.2])
    assert (tree.label[0, 0], tree.loss[0]) == (1, pytest.approx(13.5))
    assert tree.risk[0] / 15 == pytest.approx(256 / 441)
    assert np.array(tree.schema.targets[0].emphasis) * [6, 5, 4] / 15 == pytest.approx(
        np.array([4, 12, 5]) / 21
    )
    assert (tree.root.test.column, tree.root.test.threshold) == ("x2", 5.5)  # type: ignore[union-attr]
    assert tree.gain[0] == pytest.approx(1.9121161978)
    (rival,) = competitors(tree, data, nodes=[0], growing=options)[0]
    assert (rival.words, rival.gain) == ("x1 <= 12.5", pytest.approx(0.2904945762))
    known = np.flatnonzero(~np.isnan(TABLE["x3"]))  # rpart leaves out the rows whose value is missing
    third = {"x3": np.array(TABLE["x3"])[known]}
    third_schema = Schema((Column("x3"),), tree.schema.targets)
    split = grow(encode(third, np.array(Y)[known], schema=third_schema), min_samples_leaf=2, max_leaf_nodes=2)
    assert (split.threshold[0], split.gain[0]) == (36.0, pytest.approx(3.9876305))
    assert split.statistic[1:].tolist() == [[3, 4, 0], [1, 0, 4]]


# rpart 4.1.19: rpart(…, method="class", parms=list(loss=, prior=), control=rpart.control(minsplit=2,
# minbucket=5 or 20, cp=0, maxsurrogate=0, maxdepth=2 for spam)): splits, improvements, and `dev` of the nodes
IRIS = {
    (False, True): (
        [("petal width (cm)", 1.75, 49.152846480511), ("petal length (cm)", 2.45, 24.888534923405)],
        [120.0, 45.0, 0.0, 15.0, 3.0, 7.8, 4.5],
    ),
    (True, True): (
        [("petal width (cm)", 1.75, 96.706426071099), ("petal length (cm)", 2.45, 49.549490469932)],
        [240.0, 92.67326732673, 0.0, 32.67326732673, 5.94059405941, 18.76633663366, 9.0],
    ),
    (True, False): (
        [("petal width (cm)", 1.75, 77.493977574778), ("petal length (cm)", 2.45, 77.699073031380)],
        [201.0, 109.0, 0.0, 22.0, 4.0, 15.0, 10.0],
    ),
}


@pytest.mark.parametrize(("weighted", "with_priors"), IRIS)
def test_iris_as_by_rpart(weighted: bool, with_priors: bool) -> None:
    iris = load_iris(as_frame=True)
    weight = np.arange(150) % 3 + 1.0 if weighted else None
    data = encode(iris.data, iris.target, weight=weight, classes=True)
    priors = PRIORS if with_priors else None
    tree = grow(data, costs=Costs([[0, 1, 1], [1, 0, 5], [1, 2, 0]], priors=priors), min_samples_leaf=5)
    splits, losses = IRIS[weighted, with_priors]
    for node, (column, threshold, gain) in enumerate(splits):
        test: Any = tree.test(node)
        assert (test.column, tree.gain[node]) == (column, pytest.approx(gain, rel=1e-10))
        assert tree.rows[node + 1] == (iris.data[column] <= threshold).sum()
    kept = tree.collapse([node for node in (4, 5, tree.right[0]) if not tree.is_leaf[node]])
    assert kept.loss == pytest.approx(losses, rel=1e-10)  # of rpart's nodes 1, 2, 4, 5, 10, 11 and 3
    if not weighted:  # cp · R(root) of its cptable
        path = prune(kept)
        assert path.level[1:] == pytest.approx(np.array([0.035, 0.25, 0.5875]) * 0.8)


def test_spam_as_by_rpart() -> None:
    spam = load_spam()
    data = encode(spam.table(), spam.target)
    matrix = {"nonspam": {"spam": 10}}
    dear: dict[str, Any] = {"costs": matrix, "min_samples_leaf": 20, "max_depth": 2}
    tree = grow(data, **dear)
    assert [data.schema.names[tree.feature[i]] for i in (0, 4)] == ["remove", "charExclamation"]
    assert tree.gain[[0, 4]] == pytest.approx([129.1593160692, 22.1880239121], rel=1e-10)
    assert tree.loss[[0, 1, 4, 5, 6]].tolist() == [1813, 1049, 430, 128, 140]
    rivals = competitors(tree, data, nodes=[0], most=2, growing=dear)[0]
    assert [(each.column, each.gain) for each in rivals] == [
        ("charDollar", pytest.approx(110.0428175678, rel=1e-10)),
        ("money", pytest.approx(97.8644735702, rel=1e-10)),
    ]
    by_bits = grow(data, **{**dear, "criterion": "entropy", "costs": Costs(matrix, priors=[0.2, 0.8])})
    gains = by_bits.gain[[0, 1, 4]] * np.log(2)  # rpart counts in nats
    assert gains == pytest.approx([710.4179293435, 341.2494592810, 127.8444636721], rel=1e-10)
    losses = [3680.8, 1656.6645339217, 1047.5966905681, 99.0172166428, 438.9763271162]
    assert by_bits.loss[:5] == pytest.approx(losses, rel=1e-10)


@given(
    seed=st.integers(0, 2**20),
    weighted=st.booleans(),
    prior=st.booleans(),
    criterion=st.sampled_from(["gini", "entropy", "error", "gain_ratio"]),
)
def test_altered_priors_are_weights(seed: int, weighted: bool, prior: bool, criterion: str) -> None:
    """The tests, their order and gains are those of the altered weights; all else is of the true ones."""
    data = problem(seed, weighted=weighted)
    priors = PRIORS if prior else None
    options: dict[str, Any] = {"criterion": criterion, "max_leaf_nodes": 7}
    tree = grow(data, costs=Costs(COSTS, priors=priors), **options)
    altered = grow(by_hand(data, COSTS, priors), **options)
    tree.check()
    for name in ("end", "feature", "threshold", "subset", "subsets", "missing_left", "step"):
        np.testing.assert_array_equal(getattr(tree, name), getattr(altered, name))
    np.testing.assert_allclose(tree.risk, altered.risk, rtol=1e-9, atol=1e-9)
    counted = data.counted
    assert tree.rows[0] == len(counted)
    assert tree.weight[0] == pytest.approx(data.total_weight)
    np.testing.assert_allclose(tree.statistic, tree.statistic_of(data))
    plain = grow(data, costs=Costs(COSTS, priors=priors, split="none"), **options)
    np.testing.assert_array_equal(plain.threshold, grow(data, **options).threshold)
    assert plain.schema.targets[0].costs == tree.schema.targets[0].costs
    assert plain == grow(data, **options).with_costs(COSTS, priors)


@given(seed=st.integers(0, 2**20), factor=st.sampled_from([0.25, 3.0, 1e9]))
def test_equal_costs_change_nothing_and_the_unit_of_costs_no_split(seed: int, factor: float) -> None:
    data = problem(seed)
    plain, equal = grow(data), grow(data, costs=factor * (1 - np.eye(3)))
    assert equal.schema.targets[0].emphasis is None
    assert equal.with_costs() == plain.with_costs()
    one, other = grow(data, costs=COSTS), grow(data, costs=factor * COSTS)
    np.testing.assert_array_equal(one.threshold, other.threshold)
    np.testing.assert_allclose(other.loss, factor * one.loss)


@given(
    children=st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3), min_size=1, max_size=4),
    entries=st.lists(st.integers(0, 5), min_size=6, max_size=6),
)
def test_a_split_into_any_number_of_branches_never_loses_more(
    children: list[list[int]], entries: list[int]
) -> None:
    """Err_cost(t) >= Σ Err_cost(t_i), with equality iff the answer of t is optimal in every child."""
    costs = np.zeros((3, 3))
    costs[~np.eye(3, dtype=bool)] = entries
    below = np.array(children, float)
    above = below.sum(axis=0, keepdims=True)
    (label,) = cheapest(above, costs)
    whole = class_losses(above, np.array([label]), costs)[0]
    least = class_losses(below, cheapest(below, costs), costs)
    with_label = (below @ costs)[:, label]
    assert whole >= least.sum()
    assert (whole == least.sum()) == bool((with_label == least).all())


def test_a_class_whose_mistakes_are_free_counts_for_no_split() -> None:
    data = problem(3)
    free = np.array([[0, 1, 1], [1, 0, 1], [0, 0, 0]])
    tree = grow(data, costs=free)
    tree.check()
    assert tree.schema.targets[0].emphasis[2] == 0  # type: ignore[index]
    assert tree.rows[0] == data.n_rows
    assert tree.loss[tree.is_leaf].sum() == 0
    only = grow(data.take(np.asarray(data.targets)[0] == 2), costs=free)  # nothing costs anything
    assert only.n_leaves == 1
    assert only.loss[0] == 0


def test_files_keep_how_splits_were_chosen(tmp_path: Path) -> None:
    tree = grow(problem(1), costs=Costs(COSTS, priors=PRIORS))
    tree.save(tmp_path / "tree.json")
    again = load(tmp_path / "tree.json")
    assert again == tree
    assert again.schema.targets == tree.schema.targets
    np.testing.assert_array_equal(again.gain, tree.gain)
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert '"version": 5' in (tmp_path / "tree.json").read_text()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"emphasis": (1.0,)}, "emphasis"),
        ({"emphasis": (0.0, 0.0)}, "emphasis"),
        ({"emphasis": (-1.0, 1.0)}, "at least 0"),
        ({"emphasis": (1, 1)}, "finite numbers"),
        ({"stakes": ((0.0, 1.0),)}, "not a row per class"),
        ({"stakes": ((0.0, np.inf), (1.0, 0.0))}, "finite numbers"),
    ],
)
def test_a_tree_with_odd_emphasis_is_no_tree(more: Any, message: str) -> None:
    schema = Schema((Column("x"),), (Target("y", ("a", "b"), **more),))
    with pytest.raises(ValueError, match=message):
        Tree.write(schema, Leaf([1, 2]))


def test_later_costs_leave_the_gains() -> None:
    tree = grow(problem(5), costs=COSTS)
    other = tree.with_costs({0: {1: 9}})
    np.testing.assert_array_equal(other.gain, tree.gain)
    assert other.schema.targets[0].costs != tree.schema.targets[0].costs


def test_folds_grow_by_the_trees_own_costs() -> None:
    """Also where a fold lacks a class, of which the priors know; and the same from any room."""
    data = problem(7, n=60)
    rare = data.take(np.append([0], np.flatnonzero(np.asarray(data.targets)[0] != 0)))  # one row of class 0
    how: dict[str, Any] = {"costs": Costs(COSTS, priors=PRIORS), "max_depth": 4}
    tree = grow(rare, **how)
    chosen = select(prune(tree), data=rare, growing=how, n_folds=5)
    same = select(prune(tree), data=rare, growing={"max_depth": 4}, n_folds=5)
    np.testing.assert_array_equal(chosen.validation, same.validation)
    assert chosen.pruned.schema == tree.schema
    tuned = prune(tree, "bottom_up", c="cv", data=rare, growing=how)
    assert tuned.pruned.schema == tree.schema
    assert len(compare(data, ["cost_complexity"], growing=how).rows) == 5
    by_argument = compare(data, ["cost_complexity"], costs=Costs(COSTS, priors=PRIORS))
    again = compare(data, ["cost_complexity"], growing={"costs": Costs(COSTS, priors=PRIORS)})
    assert [row["test"] for row in by_argument.rows] == [row["test"] for row in again.rows]


def test_costs_are_for_the_classes_of_one_target() -> None:
    x = [[1.0], [2.0], [3.0], [4.0]]
    for y, what in (([0.5, 1.5, 2.5, 3.5], "numbers"), ([[0, 1], [1, 0], [0, 0], [1, 1]], "2 targets")):
        for options in ({"costs": [[0, 1], [2, 0]]}, {"costs": Costs(priors=[0.5, 0.5])}):
            with pytest.raises(ValueError, match=f"classes of one target; this is about {what}"):
                grow(encode(x, y), **options)
    with pytest.raises(ValueError, match="split='gini' is not possible; it must be one of 'altered_priors'"):
        grow(problem(0), costs=Costs(split="gini"))
    wide = encode([[float(i)] for i in range(300)], [f"c{i}" for i in range(300)])
    with pytest.raises(ValueError, match="up to 256 classes; there are 300"):
        grow(wide, costs=Costs(priors=[1 / 300] * 300))
    absent = encode(
        {"x": [1.0, 2.0]}, ["a", "b"], schema=Schema((Column("x"),), (Target("y", ("a", "b", "c")),))
    )
    with pytest.raises(ValueError, match=r"class 'c' a share of 0\.2, but there is no row of it"):
        grow(absent, costs=Costs(priors=[0.4, 0.4, 0.2]))


@pytest.mark.parametrize("split", ["altered_priors", "generalised_gini", "none"])
@pytest.mark.parametrize("missing", ["learn", "surrogate", "category", "fractional"])
def test_missing_values_arrive_where_they_were_counted(missing: Any, split: Any) -> None:
    """Also after the rows have their true weights again."""
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(120, 3)).round(1), np.append(np.arange(3), rng.integers(0, 3, 117))
    x[rng.random(x.shape) < 0.2] = np.nan
    data = encode(x, y, classes=True, weight=rng.integers(1, 4, 120).astype(float))
    options: dict[str, Any] = {"missing": missing, "max_depth": 4}
    if missing == "fractional" and split != "none":
        with pytest.raises(ValueError, match=re.escape("set costs=Costs(…, split='none')")):
            grow(data, costs=Costs(COSTS, priors=PRIORS, split=split), **options)
        split, priors = "generalised_gini", None  # which leaves the weights as they are
    else:
        priors = PRIORS
    tree = grow(data, costs=Costs(COSTS, priors=priors, split=split), **options)
    tree.check()
    assert tree.weight[0] == pytest.approx(data.total_weight)
    np.testing.assert_allclose(np.asarray(tree.statistic_of(data)), tree.statistic, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(tree.loss_of(data), tree.loss, rtol=1e-9, atol=1e-9)


# ---- the generalised Gini index --------------------------------------------------------------------------


def pair_risk(weights: np.ndarray[Any, Any], costs: np.ndarray[Any, Any]) -> float:
    """Σ C(i, j) nᵢ nⱼ / n, pair by pair."""
    pairs = sum(costs[i, j] * weights[i] * weights[j] for i in range(3) for j in range(3))
    return float(pairs / weights.sum()) if weights.sum() > 0 else 0.0


@given(seed=st.integers(0, 2**20), weighted=st.booleans(), prior=st.booleans())
def test_the_generalised_gini_takes_the_best_cut_of_all(seed: int, weighted: bool, prior: bool) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 6, (30, 2)).astype(float), np.append(np.arange(3), rng.integers(0, 3, 27))
    weight = rng.integers(1, 4, 30).astype(float) if weighted else None
    data, priors = encode(x, y, weight=weight, classes=True), PRIORS if prior else None
    tree = grow(data, costs=Costs(COSTS, priors=priors, split="generalised_gini"), max_leaf_nodes=5)
    tree.check()
    assert tree.schema.targets[0].costs == grow(data).with_costs(COSTS, priors).schema.targets[0].costs
    shares = np.bincount(y, data.row_weights) / data.total_weight
    weights = data.row_weights * (np.array(priors) / shares if prior else np.ones(3))[y]
    leaf = tree.apply(data)

    def risk(rows: Any) -> float:
        return pair_risk(np.bincount(y[rows], weights[rows], 3), COSTS)

    for node in range(tree.n_nodes):
        here = (leaf >= node) & (leaf < tree.end[node])
        assert tree.risk[node] == pytest.approx(risk(here), abs=1e-9)
        assert tree.weight[node] == pytest.approx(data.row_weights[here].sum())
        sides = [here & (x[:, column] <= cut) for column in range(2) for cut in range(6)]
        cuts = [left for left in sides if 0 < left.sum() < here.sum()]
        gains = [risk(here) - risk(left) - risk(here & ~left) for left in cuts]
        if not tree.is_leaf[node]:
            assert tree.gain[node] == pytest.approx(max(gains), abs=1e-9)


def test_the_generalised_gini_of_two_classes_is_blind_to_costs() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    data = encode(x, y, classes=True)
    plain, dear = grow(data), grow(data, costs=Costs([[0, 1], [9, 0]], split="generalised_gini"))
    np.testing.assert_array_equal(plain.threshold, dear.threshold)
    np.testing.assert_allclose(dear.gain, 5 * plain.gain, atol=1e-9)


def test_the_generalised_gini_sees_pairs_and_altered_priors_sums() -> None:
    """Two columns: one tells a from the others, one b from c. Where b and c may be mixed up, and only there,
    the first is the better one; the sums of the rows are equal both times.
    """
    table = {"a": [0] * 10 + [1] * 20, "bc": [0, 1] * 5 + [0] * 10 + [1] * 10}
    y = ["a"] * 10 + ["b"] * 10 + ["c"] * 10
    data = encode(table, y)
    near = np.array([[0, 5, 5], [9, 0, 1], [9, 1, 0]])  # b and c are nearly the same
    far = np.array([[0, 5, 5], [1, 0, 9], [1, 9, 0]])

    def roots(how: Any) -> list[str]:
        trees = [grow(data, costs=Costs(costs, split=how), max_leaf_nodes=2) for costs in (near, far)]
        return [data.schema.names[tree.feature[0]] for tree in trees]

    assert roots("generalised_gini") == ["a", "bc"]
    assert len(set(roots("altered_priors"))) == 1


def test_the_generalised_gini_is_of_the_gini_index() -> None:
    data, matrix = problem(4), COSTS
    with pytest.raises(ValueError, match="needs criterion='gini'"):
        grow(data, costs=Costs(matrix, split="generalised_gini"), criterion="entropy")
    x, y = np.asarray(data.columns[2])[:, np.newaxis], np.asarray(data.targets)[0]
    for kind in (DecisionTreeClassifier, ExtraTreeClassifier):
        model = kind(costs=Costs(matrix, split="generalised_gini"), max_depth=2).fit(x, y)
        assert model.model_.schema.targets[0].stakes == tuple(map(tuple, COSTS.tolist()))


def test_files_keep_the_stakes(tmp_path: Path) -> None:
    tree = grow(problem(1), costs=Costs(COSTS, priors=PRIORS, split="generalised_gini"), max_depth=3)
    tree.save(tmp_path / "tree.json")
    again = load(tmp_path / "tree.json")
    assert again == tree
    np.testing.assert_array_equal(again.gain, tree.gain)
    rivals = competitors(tree, problem(1), nodes=[0])[0]
    assert all(each.share <= 1 + 1e-9 for each in rivals)


@pytest.mark.parametrize("split", ["altered_priors", "generalised_gini", "none"])
def test_a_report_tells_how_to_grow_the_tree_again(split: Any) -> None:
    data = problem(9)
    tree = grow(data, costs=Costs(COSTS, priors=PRIORS, split=split))
    code = report(tree, train=data).payload["reproduce"]["code"]
    names: dict[str, Any] = {"train": data}
    exec(code.splitlines()[0], names)
    exec(next(line for line in code.splitlines() if line.startswith("tree = ")), names)
    np.testing.assert_array_equal(names["tree"].threshold, tree.threshold)
    np.testing.assert_allclose(names["tree"].loss, tree.loss)


# ---- estimators ------------------------------------------------------------------------------------------


def test_estimators_take_costs() -> None:
    data = problem(11, n=200)
    x, y = np.column_stack([data.columns[0], data.columns[2]]), np.asarray(data.targets)[0]
    model = DecisionTreeClassifier(costs=Costs(COSTS, priors=PRIORS), max_depth=3).fit(x, y)
    tree = grow(encode(x, y, classes=True), costs=Costs(COSTS, priors=PRIORS), max_depth=3)
    assert model.model_ == tree
    weighted = DecisionTreeClassifier(costs=COSTS, class_weight={0: 5.0}, max_depth=3).fit(x, y)
    by_rows = grow(encode(x, y, weight=np.where(y == 0, 5.0, 1.0), classes=True), costs=COSTS, max_depth=3)
    assert weighted.model_ == by_rows
    by_priors = clone(weighted).set_params(costs__priors=PRIORS).fit(x, y)  # priors undo class_weight
    np.testing.assert_array_equal(by_priors.predict(x), model.predict(x))
    extra = ExtraTreeClassifier(costs=COSTS, random_state=1).fit(x, y)
    assert extra.model_.schema.has_costs
    assert extra.model_.schema.targets[0].emphasis is not None
    certificate = model.certify(x[:50] + 0.01, y[:50])
    assert certificate.what == "cost"
    assert certificate.value == certify(tree, test=encode(x[:50] + 0.01, y[:50], schema=tree.schema)).value


def test_ccp_alpha_is_the_price_of_a_leaf_in_costs() -> None:
    data = problem(12, n=200)
    x, y = np.column_stack([data.columns[0], data.columns[2]]), np.asarray(data.targets)[0]
    path = DecisionTreeClassifier(costs=COSTS).cost_complexity_pruning_path(x, y)
    tree = grow(encode(x, y, classes=True), costs=COSTS)
    ours = prune(tree)
    np.testing.assert_allclose(path.ccp_alphas, ours.level)
    np.testing.assert_allclose(path.impurities, ours.training)
    alpha = float(path.ccp_alphas[-2])
    model = DecisionTreeClassifier(costs=COSTS, ccp_alpha=alpha).fit(x, y)
    assert model.model_ == ours[len(ours) - 2]


def test_costs_in_a_grid_search() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 3))
    y = np.where(x[:, 0] + rng.normal(size=300) > 0.8, "ill", "well")

    def paid(truth: Any, answer: Any) -> float:
        return -float(np.where(truth == "ill", 10.0, 1.0)[truth != answer].sum())

    grid = {"costs": [None, {"ill": {"well": 10}}, [[0, 10], [1, 0]]], "max_depth": [3]}
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), grid, scoring=make_scorer(paid), cv=3).fit(
        x, y
    )
    scores = search.cv_results_["mean_test_score"]
    assert scores[1] == scores[2] > scores[0]
    assert search.best_params_["costs"] is not None
    assert clone(search.best_estimator_).get_params()["costs"] == search.best_params_["costs"]
    for split in ("altered_priors", "generalised_gini", "none"):
        model = DecisionTreeClassifier(costs=Costs([[0, 10], [1, 0]], split=split), pruning="cost_complexity")
        model.fit(x, y)
        assert model.pruning_path_.full_tree.schema.has_costs
        folds = clone(model).set_params(pruning=CostComplexity(select="folds", n_folds=3)).fit(x, y)
        assert folds.model_.schema.has_costs


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"matrix": [[0, 1]]}, r"must be \(2, 2\)"),
        ({"matrix": {"ham": {"b": 1}}}, "the classes are "),
        ({"priors": [1, 1]}, "add up to 2"),
        ({"priors": {"a": 1.0}}, "every class once"),
    ],
)
def test_estimators_refuse_odd_costs(options: Any, message: str) -> None:
    model = DecisionTreeClassifier(costs=Costs(**options))
    with pytest.raises(ValueError, match=message):
        model.fit([[1.0], [2.0]], ["a", "b"])
    assert not hasattr(model, "model_")


@pytest.mark.parametrize("split", ["both", None])
def test_costs_refuse_unknown_splits(split: Any) -> None:
    with pytest.raises(
        ValueError, match=f"Costs: split={split!r} is not possible; it must be one of 'altered_priors'"
    ):
        Costs(COSTS, split=split)
