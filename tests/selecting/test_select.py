"""Selecting: every way against the naive one, on classes, numbers, weights and costs; and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checks import same_tree
from tests.pruning.test_cost_complexity import chain
from treewright import encode, grow, overfitting_curve, prune, select
from treewright.certifying import certify
from treewright.encoding import Dataset
from treewright.encoding.splits import folds as dealt
from treewright.encoding.splits import split
from treewright.pruning import PruningPath, cut_at
from treewright.selecting import OverfittingCurve, ways
from treewright.selecting.folds import middle_levels
from treewright.selecting.one_standard_error import by_rule, least
from treewright.tree import Tree

KINDS = ["classes", "weights", "costs", "numbers", "absolute", "two targets", "categories"]
COSTS = [[0, 1, 4], [2, 0, 1], [1, 3, 0]]


def table(kind: str, seed: int = 0, n: int = 90) -> Dataset:
    """A table in which two columns tell something and the rest is noise."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, size=(n, 4)).astype(float)
    y = ((X[:, 0] > 3).astype(int) + (X[:, 1] > 5) + (rng.random(n) < 0.25)) % 3
    if kind in ("numbers", "absolute"):
        return encode(X, X[:, 0] + rng.normal(size=n), classes=False)
    if kind == "two targets":
        return encode(X, np.column_stack([y, rng.integers(0, 2, n)]), classes=True)
    if kind == "categories":
        return encode({"a": [f"c{int(x)}" for x in X[:, 0]], "b": X[:, 1]}, y)
    weight = np.maximum(rng.integers(-1, 4, n), 0).astype(float) if kind == "weights" else None
    return encode(X, y, weight=weight)


def growing_of(kind: str) -> dict[str, object]:
    return {"criterion": "absolute_error"} if kind == "absolute" else {"max_depth": 6}


def path_of(kind: str, data: Dataset, **options: object) -> PruningPath:
    costs = {"costs": COSTS} if kind == "costs" else {}
    return prune(grow(data, **growing_of(kind)), "cost_complexity", **options, **costs)


def row_losses(tree: Tree, data: Dataset) -> np.ndarray:
    """What each row loses, one by one."""
    leaf = tree.apply(data)
    if not tree.schema.predicts_classes:
        distance = np.abs(tree.value[leaf].T - data.targets)
        return (distance if tree.criterion == "absolute_error" else distance**2).mean(axis=0)
    if tree.schema.has_costs:
        costs = np.array(tree.schema.targets[0].costs)
        return costs[data.targets[0], tree.label[leaf, 0]]
    return (data.targets != tree.label[leaf].T).mean(axis=0)


def naive_folds(
    path: PruningPath, data: Dataset, kind: str, n_folds: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Cross validation as the book tells it: a tree for each fold and price, every row predicted."""
    weight = np.ones(data.n_rows) if data.weight is None else data.weight
    betas = [0.0, *np.sqrt(path.level[1:-1] * path.level[2:]), np.inf]
    if len(path) == 1:
        betas = [np.inf]
    fold, losses = dealt(data, n_folds, seed), np.zeros((len(betas), data.n_rows))
    for i in range(n_folds):
        tree = grow(data.take(np.flatnonzero(fold != i)), **growing_of(kind))
        tree = replace(tree, schema=path.full_tree.schema)
        risk = tree.loss if path.details["on"] == "loss" else tree.risk
        for j, beta in enumerate(betas):
            losses[j, fold == i] = row_losses(cut_at(tree, beta, risk), data.take(fold == i))
    n = weight.sum()
    loss, squares = losses @ weight, losses**2 @ weight
    return loss / n, np.sqrt(np.maximum(squares - loss**2 / n, 0)) / n


def naive_choice(path: PruningPath, loss: np.ndarray, error: np.ndarray, rule: str) -> int:
    places = range(len(path))
    best = min(places, key=lambda i: (round(loss[i], 12), path.leaves[i]))
    if rule == "0-SE":
        return best
    return min(
        (i for i in places if loss[i] <= loss[best] + error[best] + 1e-12), key=lambda i: path.leaves[i]
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("on", ["loss", "impurity"])
def test_folds_are_the_naive_loop(kind: str, on: str) -> None:
    data = table(kind)
    path = path_of(kind, data, on=on)
    loss, error = naive_folds(path, data, kind, 5, 3)
    for rule in ("0-SE", "1-SE"):
        got = select(
            path, by="folds", data=data, n_folds=5, random_state=3, rule=rule, growing=growing_of(kind)
        )
        np.testing.assert_allclose(got.validation, loss, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(got.standard_error, error, rtol=1e-9, atol=1e-9)
        if kind in ("classes", "categories"):
            assert got.validation.tolist() == loss.tolist()
        assert got.chosen == naive_choice(path, loss, error, rule)
        assert not got.is_open
        assert got.pruned.n_leaves == path.leaves[got.chosen]


@pytest.mark.slow
@given(seed=st.integers(0, 500), n_folds=st.integers(2, 7))
def test_folds_of_random_tables(seed: int, n_folds: int) -> None:
    data = table("classes", seed, 30)
    path = path_of("classes", data)
    loss, _ = naive_folds(path, data, "classes", n_folds, seed)
    got = select(path, data=data, n_folds=n_folds, random_state=seed, growing=growing_of("classes"))
    assert got.validation.tolist() == loss.tolist()


def test_the_middle_of_each_range() -> None:
    data = table("classes")
    path = path_of("classes", data)
    betas = middle_levels(path)
    assert betas[0] == 0
    assert betas[-1] == np.inf
    assert (betas[1:-1] > path.level[1:-1]).all()
    assert (betas[:-1] < path.level[1:]).all()
    np.testing.assert_allclose(betas[1:-1] ** 2, path.level[1:-1] * path.level[2:])
    short = path_of("classes", data, alpha=float(path.level[2]))
    np.testing.assert_array_equal(middle_levels(short), betas[:3])  # the last one is not the root


def test_folds_are_the_same_for_any_threads_and_follow_the_seed() -> None:
    data = table("classes", n=400)
    path = path_of("classes", data)
    one, two = (select(path, data=data, n_jobs=n, growing={"max_depth": 6}) for n in (1, 2))
    np.testing.assert_array_equal(one.validation, two.validation)
    other = select(path, data=data, random_state=1, growing={"max_depth": 6})
    assert (one.validation != other.validation).any()
    assert path.validation is None  # the path given is left as it is
    assert path.is_open


def test_rows_of_no_weight_do_not_matter() -> None:
    data = table("weights")
    counted = data.take(data.weight > 0)
    assert counted.n_rows < data.n_rows
    got = [select(path_of("weights", rows), data=rows, growing={"max_depth": 6}) for rows in (data, counted)]
    np.testing.assert_array_equal(got[0].validation, got[1].validation)
    np.testing.assert_array_equal(got[0].standard_error, got[1].standard_error)


def test_bins_of_all_rows_grow_the_same_trees_of_some() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 5)).round(3)
    data = encode(X, (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int))
    rows = rng.random(len(X)) < 0.7
    alone = grow(encode(X[rows], data.targets[0][rows]))
    data.bins()
    for part in (rows, np.flatnonzero(rows)):
        assert "_bins" in data.take(part).__dict__
        same_tree(grow(data.take(part)), alone)
    sliced = data.take(slice(None, None, 2))
    same_tree(grow(sliced), grow(encode(X[::2], data.targets[0][::2])))


@pytest.mark.parametrize("kind", KINDS)
def test_held_out_rows_choose_the_least(kind: str) -> None:
    train, validation = split(table(kind, n=240), (2, 1))
    path = path_of(kind, train)
    weight = np.ones(validation.n_rows) if validation.weight is None else validation.weight
    each = np.array([row_losses(tree, validation) for tree in path])
    loss = each @ weight / weight.sum()
    error = np.sqrt(np.maximum(each**2 @ weight / weight.sum() - loss**2, 0) / weight.sum())
    for rule in ("0-SE", "1-SE"):
        got = select(path, validation=validation, rule=rule)
        np.testing.assert_allclose(got.validation, loss, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(got.standard_error, error, rtol=1e-6, atol=1e-8)
        assert got.chosen == naive_choice(path, loss, error, rule)
    again = select(path.with_validation(validation), by="held_out")
    assert again.chosen == select(path, validation=validation).chosen


def test_folds_grow_by_the_criterion_of_the_tree() -> None:
    data = table("classes")
    path = prune(grow(data, criterion="entropy", max_depth=6))
    for growing in ({"criterion": None}, {"criterion": "log_loss"}, {}):
        got = select(path, data=data, growing={"max_depth": 6, **growing}, n_folds=4)
        same = select(path, data=data, growing={"max_depth": 6, "criterion": "entropy"}, n_folds=4)
        np.testing.assert_array_equal(got.validation, same.validation)


def test_sums_that_differ_by_rounding_are_equal() -> None:
    path = path_of("classes", table("classes"))
    worth = np.full(len(path), 0.9)
    worth[1:4] = 0.3, 0.1 + 0.2, 0.3
    assert worth[2] > worth[1]
    assert least(path, worth) == 3
    assert least(path, np.where(np.arange(len(path)) == 3, 0.1 + 0.2, worth)) == 3
    judged = replace(path, validation=worth, standard_error=np.where(worth < 0.5, 0.6, 0.0))
    assert by_rule(judged, "1-SE", "").chosen == len(path) - 1
    judged = replace(path, validation=worth, standard_error=np.where(worth < 0.5, 0.0, 0.6))
    assert by_rule(judged, "1-SE", "").chosen == 3  # the error is that of the best


def test_certificates_pay_for_directions_unless_no_value_was_missing() -> None:
    data = table("classes", n=400)
    columns = np.asarray(data.columns).copy()
    columns[::9, 0] = np.nan
    missing = encode(columns, data.targets[0])
    for rows, known in ((missing, missing), (missing, None), (data, None), (data, data)):
        path = prune(grow(rows, max_leaf_nodes=12))
        got = select(path, by="certificate", data=known).details["certificates"]
        naive = [certify(tree, complete=rows is data).value for tree in path]
        np.testing.assert_allclose(got, naive, rtol=1e-9)


def test_among_equals_the_smallest_is_chosen() -> None:
    """No held-out row tells the trees apart."""
    train = encode({"x": [1, 2, 3, 4, 5, 6]}, ["a", "a", "a", "b", "a", "b"])
    path = prune(grow(train))
    validation = encode({"x": [1, 1, 2]}, ["a", "a", "a"], schema=train.schema)
    assert select(path, validation=validation).pruned.n_leaves == 1


@pytest.mark.parametrize("size", ["nodes", "leaves"])
@given(seed=st.integers(0, 500), c=st.sampled_from([0.0, 0.05, 0.2, 0.5, 1.0, 3.0]))
def test_structural_risk(size: str, seed: int, c: float) -> None:
    data = table("classes", seed, 60)
    path = path_of("classes", data)
    got = select(path, by="srm", c=c, size=size)
    k = path.leaves if size == "leaves" else 2 * path.leaves - 1
    worth = path.training + c * np.sqrt(k / 60)
    assert worth[got.chosen] == pytest.approx(worth.min(), abs=1e-15)
    assert got.pruned.n_leaves == path.leaves[got.chosen]


@pytest.mark.parametrize("method", ["occam", "pac_bayes", "occam_hoeffding", "mdl", "vc", "compression"])
@pytest.mark.parametrize("kind", ["classes", "costs", "categories", "two targets"])
def test_certificates_are_those_of_each_tree(kind: str, method: str) -> None:
    data = table(kind, n=400)
    path = path_of(kind, data)
    if method == "vc" and kind in ("costs", "two targets"):
        with pytest.raises(ValueError, match="right or wrong"):
            select(path, by="certificate", method=method, data=data)
        return
    got = select(path, by="certificate", method=method, delta=0.1, data=data)
    naive = [certify(tree, method, data=data, delta=0.1).value for tree in path]
    np.testing.assert_allclose(got.details["certificates"], naive, rtol=1e-9)
    assert naive[got.chosen] == pytest.approx(min(naive), rel=1e-9)
    assert got.details["delta"] == 0.1


def test_certificates_on_a_path_that_is_not_nested() -> None:
    data = table("classes", n=300)
    path = prune(grow(data), "minimum_errors")
    got = select(path, by="certificate", data=data)
    naive = [certify(tree, data=data).value for tree in path]
    np.testing.assert_allclose(got.details["certificates"], naive, rtol=1e-9)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_size(kind: str) -> None:
    path = path_of(kind, table(kind))
    for leaves in (1, 2, 5, 17, 10**9):
        got = select(path, leaves=leaves)
        assert got.pruned.n_leaves == max(n for n in path.leaves if n <= leaves)
        assert got.details["chosen_by"] == f"size, at most {leaves} leaves"


def test_places_of_a_path() -> None:
    train, other = split(table("weights", n=240), (3, 1))
    path = path_of("weights", train)
    assert path.choose(-1).chosen == len(path) - 1
    for place in (len(path), -len(path) - 1):
        with pytest.raises(IndexError, match=f"there is no place {place}"):
            _ = path[place]
    np.testing.assert_allclose(path.losses(other), path.with_validation(other).validation, rtol=1e-12)


def test_the_folder_is_the_list() -> None:
    assert ways() == ("certificate", "folds", "held_out", "leaves", "srm")


# ---- what is refused, and edges ------------------------------------------------------------------------


def test_unknown_ways_and_options() -> None:
    data = table("classes")
    path = path_of("classes", data)
    with pytest.raises(ValueError, match="by 'guess' is unknown; known: certificate, folds"):
        select(path, by="guess")
    with pytest.raises(TypeError, match="select needs by="):
        select(path)
    with pytest.raises(TypeError, match="select needs by="):
        select(path, data=data, leaves=3)
    with pytest.raises(TypeError, match=r"select has no option 'leavs'.*did you mean 'leaves'"):
        select(path, leavs=3)
    with pytest.raises(TypeError, match="srm has no option 'cc'; its options are c, size"):
        select(path, by="srm", cc=1)
    with pytest.raises(TypeError, match="folds needs data="):
        select(path, by="folds")
    with pytest.raises(TypeError, match="leaves needs leaves="):
        select(path, by="leaves")
    with pytest.raises(TypeError, match="select takes a PruningPath"):
        select(path.full_tree, by="srm")


@pytest.mark.parametrize("by", ["folds", "held_out"])
def test_unknown_rules(by: str) -> None:
    data = table("classes")
    rows = {"data": data} if by == "folds" else {"validation": table("classes", 1)}
    with pytest.raises(ValueError, match="rule is '2-SE'; it must be one of 0-SE, 1-SE"):
        select(path_of("classes", data), by=by, rule="2-SE", **rows)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"n_folds": 1}, "number of folds is 1"),
        ({"n_folds": 91}, "number of folds is 91; it must be from 2 to the number of rows, 90"),
        ({"n_folds": 2.5}, "number of folds is 2.5"),
        ({"random_state": -1}, "random_state is -1"),
        ({"growing": {"criterion": "entropy"}}, "criterion 'entropy'; the tree was grown by 'gini'"),
        ({"growing": {"max_dept": 3}}, "grow has no parameter 'max_dept'; did you mean 'max_depth'"),
    ],
)
def test_wrong_options_of_folds(options: dict[str, object], told: str) -> None:
    data = table("classes")
    with pytest.raises((ValueError, TypeError), match=told):
        select(path_of("classes", data), data=data, **options)


def test_folds_need_the_rows_of_the_tree() -> None:
    data = table("classes")
    path = path_of("classes", data)
    with pytest.raises(ValueError, match="data has 40 rows, but the tree was grown from 90"):
        select(path, data=data.take(range(40)))
    with pytest.raises(ValueError, match="data has 91 rows, but the tree was grown from 90"):
        select(path, data=data.take([0, *range(90)]))
    with pytest.raises(ValueError, match="other columns than the tree"):
        select(path, data=encode({"x": range(90)}, data.targets[0]))
    with pytest.raises(ValueError, match="other targets than the tree"):
        select(path, data=encode(np.asarray(data.columns), np.arange(90) % 2))
    with pytest.raises(TypeError, match="data must be a Dataset"):
        select(path, data=np.zeros((90, 4)))
    with pytest.raises(ValueError, match="data has no target"):
        select(path, data=encode(np.asarray(data.columns), schema=data.schema))


def test_folds_need_the_price_of_a_leaf() -> None:
    data = table("classes")
    for method in ("minimum_errors", "srm"):
        with pytest.raises(ValueError, match=f"folds choose the price of a leaf, .* {method!r} has not"):
            select(prune(grow(data), method), data=data)


def test_wrong_validation_rows() -> None:
    data = table("categories")
    path = path_of("categories", data)
    with pytest.raises(TypeError, match="by='held_out' needs validation="):
        select(path, by="held_out")
    with pytest.raises(ValueError, match="validation has no rows"):
        select(path, validation=data.take([]))
    with pytest.raises(ValueError, match="validation has no rows of positive weight"):
        select(path, validation=replace(data, weight=np.zeros(data.n_rows)))
    with pytest.raises(ValueError, match="validation has no target"):
        select(path, validation=encode({"a": ["c1"], "b": [1.0]}, schema=data.schema))
    with pytest.raises(ValueError, match="columns are not the tree's"):
        select(path, validation=encode({"a": ["c1", "c2", "c3"], "b": [1.0, 2.0, 3.0]}, [0, 1, 2]))
    with pytest.raises(ValueError, match="validation contains the rows that the tree was grown from"):
        select(path, validation=data)
    other = table("categories", 1)  # as many
    assert path.full_tree.n_leaves >= 8
    assert select(path, validation=other).details["judged_by"] == "90 held-out rows"


def test_missing_classes_and_unseen_categories_are_judged() -> None:
    data = table("categories")
    path = path_of("categories", data)
    rows = {"a": ["c1", "never seen", None], "b": [1.0, 2.0, np.nan]}
    validation = encode(rows, [1, 1, 1], schema=data.schema)
    got = select(path, validation=validation)
    np.testing.assert_allclose(got.validation, [row_losses(tree, validation).mean() for tree in path])
    with pytest.raises(ValueError, match="targets are not the tree's"):
        select(path, validation=replace(validation, schema=encode(rows, [1, 1, 1]).schema))


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, 2.0, float("nan")])
def test_delta_outside_of_its_range(delta: float) -> None:
    with pytest.raises(ValueError, match="delta"):
        select(path_of("classes", table("classes")), delta=delta)


def test_what_is_not_for_numbers() -> None:
    path = path_of("numbers", table("numbers"))
    with pytest.raises(ValueError, match="predicts numbers"):
        select(path, by="srm")
    with pytest.raises(ValueError, match="this one predicts numbers; select by held_out or folds"):
        select(path, by="certificate")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"by": "srm", "c": -1.0}, "c is -1.0; it must be a number >= 0$"),
        ({"by": "srm", "c": float("nan")}, "c is nan"),
        ({"by": "srm", "c": "cv"}, "c is 'cv'"),
        ({"by": "srm", "size": "depth"}, "size is 'depth'"),
        ({"by": "leaves", "leaves": 0}, "as small as 0 leaves; the smallest has 1"),
        ({"by": "leaves", "leaves": 2.5}, "leaves is 2.5"),
        ({"by": "certificate", "method": "hope"}, "method 'hope' is unknown"),
    ],
)
def test_wrong_options(options: dict[str, object], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        select(path_of("classes", table("classes")), **options)


def test_a_single_leaf() -> None:
    data = encode({"x": [1.0, 1.0, 1.0, 1.0]}, ["a", "a", "b", "a"])
    path = prune(grow(data))
    assert len(path) == 1
    others = encode({"x": [1.0, 2.0]}, ["a", "b"], schema=data.schema)
    ways_and_options = {
        "held_out": {"validation": others},
        "folds": {"data": data, "n_folds": 2},
        "srm": {},
        "certificate": {},
        "leaves": {"leaves": 1},
    }
    assert sorted(ways_and_options) == list(ways())
    for by, options in ways_and_options.items():
        got = select(path, by=by, **options)
        assert got.pruned.n_leaves == 1
    folds = select(path, by="folds", data=data, n_folds=2)
    assert folds.validation.tolist() == [0.25]


@pytest.mark.slow
def test_very_deep_trees() -> None:
    tree = chain(100_000)
    path = prune(tree)
    assert select(path, leaves=100).pruned.n_leaves <= 100
    worth = path.training + np.sqrt((2 * path.leaves - 1) / tree.weight[0])
    assert select(path, by="srm").chosen == worth.argmin()
    assert select(path, by="certificate").pruned.n_leaves == 1


# ---- the growing sequence ------------------------------------------------------------------------------


def test_the_overfitting_curve_is_that_of_the_first_splits() -> None:
    train, validation, test = split(table("classes", n=200))
    curve = overfitting_curve(train, validation=validation, test=test, growing={"criterion": "entropy"})
    assert curve.tree.criterion == "entropy"
    assert curve.leaves.tolist() == list(range(1, curve.tree.n_leaves + 1))
    for n in range(0, curve.tree.n_leaves, 5):
        tree = curve.tree.first(n)
        for line, rows in ((curve.training, train), (curve.validation, validation), (curve.test, test)):
            assert line[n] == pytest.approx(row_losses(tree, rows).mean())
    assert curve.best == int(np.argmin(curve.validation))
    again = overfitting_curve(train, test=test, tree=curve.tree)
    assert again.validation is None
    assert again.best == int(np.argmin(curve.test))


def test_the_best_of_a_curve() -> None:
    """By validation rows before test rows; the first of those that differ by rounding only."""
    tree = grow(table("classes"), max_leaf_nodes=4)
    leaves, training = np.arange(1, 5), np.zeros(4)
    both = OverfittingCurve(tree, leaves, training, np.array([0.9, 0.1 + 0.2, 0.3, 0.5]), np.arange(4.0))
    assert both.best == 1
    assert replace(both, validation=None).best == 0


def test_wrong_rows_for_the_overfitting_curve() -> None:
    data = table("classes")
    with pytest.raises(ValueError, match="data and validation are the same rows"):
        overfitting_curve(data, validation=data)
    with pytest.raises(ValueError, match="test has no rows"):
        overfitting_curve(data, test=data.take([]))
    with pytest.raises(ValueError, match="no held-out rows"):
        _ = overfitting_curve(data).best
    with pytest.raises(ValueError, match="overfitting_curve: the table has no target"):
        overfitting_curve({"x": [1.0]})
    with pytest.raises(TypeError, match="a tree or how to grow one"):
        overfitting_curve(data, tree=grow(data), growing={})


def test_a_path_says_whether_a_tree_was_chosen() -> None:
    tree = grow(encode({"x": [1, 2, 3, 4, 5, 6]}, ["a", "a", "a", "b", "a", "b"]))
    path = prune(tree)
    assert repr(path) == "<PruningPath by cost_complexity: 3 trees of 4 to 1 leaves, none chosen>"
    assert str(path).splitlines()[0] == "cost_complexity: 3 trees, none chosen yet: use select"
    assert "→" not in str(path)
    chosen = select(path, leaves=1)
    assert repr(chosen) == "<PruningPath by cost_complexity: 3 trees of 4 to 1 leaves, that of 1 leaf chosen>"
    assert str(chosen).splitlines()[0] == "cost_complexity: 3 trees"
    assert str(chosen).splitlines()[-1].startswith("→")
    single = prune(tree.collapse([0]))
    assert repr(single) == "<PruningPath by cost_complexity: 1 tree of 1 leaf, none chosen>"


@pytest.mark.parametrize("method", ["occam", "mdl"])
def test_certificates_are_of_the_rows_that_grew_the_tree(method: str) -> None:
    grown, other = (
        encode({"x": [1.0, 2.0, 3.0, last] * 20}, ["a", "a", "b", "b"] * 20) for last in (np.nan, 0.0)
    )
    path = prune(grow(grown), "cost_complexity")
    assert select(path, by="certificate", method=method, data=grown).pruned.n_leaves > 1
    with pytest.raises(ValueError, match="not the rows that the tree was grown from"):
        select(path, by="certificate", method=method, data=other)
