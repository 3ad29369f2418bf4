"""Forests: draws as weights, votes, rows out of bag, near rows and quantiles, each against its definition."""

from __future__ import annotations

import pickle
from importlib import import_module

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.checks import same_tree
from treewright import Forest, encode, grow, grow_forest
from treewright.ensembles import importance_of, out_of_bag, proximity
from treewright.ensembles.bootstrap import Draws
from treewright.ensembles.forest import tree_seed
from treewright.ensembles.out_of_bag import votes_against
from treewright.ensembles.proximity import LeafTargets
from treewright.ensembles.side_by_side import side_by_side
from treewright.ensembles.totals import TreeSum


def table(n=300, seed=0, holes=0.0):
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, 3)).round(2)
    x[random.random(x.shape) < holes] = np.nan
    sky = random.choice(["clear", "rain", "clouds"], n)
    return {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "sky": sky}


def classes_of(rows, seed=0):
    random = np.random.default_rng(seed)
    score = np.nan_to_num(rows["a"]) + (rows["sky"] == "rain") + random.normal(size=len(rows["a"])) / 2
    return np.select([score < -0.3, score < 0.7], ["low", "middle"], "high")


def numbers_of(rows, seed=0):
    random = np.random.default_rng(seed)
    return np.nan_to_num(rows["a"]) ** 2 + random.normal(size=len(rows["a"])) / 4


@pytest.fixture(scope="module", params=["classes", "numbers"])
def data(request):
    rows = table(holes=0.05)
    return encode(rows, classes_of(rows) if request.param == "classes" else numbers_of(rows))


def test_a_tree_is_that_of_its_rows(data):
    """Rows drawn as weights give the tree of a table in which they are repeated; by plain gains, because a
    row that was drawn twice tells no more than once, whereas two rows do.
    """
    forest = grow_forest(
        data, n_estimators=5, max_features=2, random_state=3, min_samples_leaf=1, category_gain="plain"
    )
    for member, tree in enumerate(forest):
        rows = np.sort(forest.draws.rows(member))
        seed = int(forest.draws.random(member, 1).integers(2**31 - 1))
        repeated = grow(data.take(rows), max_features=2, random_state=seed, category_gain="plain")
        assert_array_equal(tree.feature, repeated.feature)
        assert_array_equal(tree.threshold, repeated.threshold)
        assert_allclose(tree.statistic, repeated.statistic, rtol=1e-12)


def test_draws_by_replacement():
    data = encode([[0.0]] * 1000, [0] * 500 + [1] * 500, weight=[0.0] * 500 + [2.0] * 499 + [500.0])
    draws = Draws.of(data, seed=1, size=20000, replace=True)
    rows = draws.rows(0)
    assert rows.min() >= 500
    assert len(rows) == 20000
    assert abs((rows == 999).mean() - 500 / 1498) < 0.02  # by weight
    assert_array_equal(draws.weights(0), np.bincount(rows, minlength=1000))
    assert set(draws.left_out(0)) == set(range(500, 1000)) - set(rows)


def test_two_thirds_without_replacement():
    data = encode([[0.0]] * 300, [0, 1] * 150)
    draws = Draws.of(data, seed=1, size=200, replace=False)
    rows = draws.rows(4)
    assert len(set(rows)) == len(rows) == 200
    assert len(draws.left_out(4)) == 100
    assert sorted(set(draws.weights(4))) == [0.0, 1.0]
    with pytest.raises(ValueError, match="301 rows cannot be drawn without replacement from 300"):
        Draws.of(data, seed=1, size=301, replace=False)


def test_a_bootstrap_leaves_out_a_third():
    draws = Draws.of(encode(np.zeros((5000, 1)), np.zeros(5000, int)), seed=0, size=None, replace=True)
    shares = [len(draws.left_out(member)) / 5000 for member in range(20)]
    assert abs(np.mean(shares) - np.exp(-1)) < 0.01


def test_members_do_not_depend_on_the_others(data):
    few, many = (
        grow_forest(data, n_estimators=3, random_state=5),
        grow_forest(data, n_estimators=8, random_state=5, n_jobs=3),
    )
    assert list(few) == list(many)[:3]
    assert list(many.first(3)) == list(few)
    with pytest.raises(ValueError, match="n_estimators is 9; it must be from 1 to 8"):
        many.first(9)


def test_votes(data):
    """Soft votes are means of shares, hard ones count answers; numbers are averaged."""
    for voting in ("soft", "hard"):
        forest = grow_forest(data, n_estimators=7, random_state=2, voting=voting, max_depth=4)
        fresh = table(80, seed=9, holes=0.1)
        if not data.schema.predicts_classes:
            said = np.mean([tree.predict(fresh) for tree in forest], axis=0)
            assert_allclose(forest.predict(fresh), said, rtol=1e-12)
            continue
        shares = np.mean([tree.predict_proba(fresh) for tree in forest], axis=0)
        classes = np.array(data.schema.targets[0].classes)
        if voting == "hard":
            answers = np.array([tree.predict(fresh) for tree in forest])
            shares = np.stack([(answers == name).mean(axis=0) for name in classes], axis=1)
        assert_allclose(forest.predict_proba(fresh), shares, rtol=1e-12)
        assert_array_equal(forest.predict(fresh), classes[shares.round(9).argmax(axis=1)])


def test_votes_of_several_targets():
    rows = table()
    both = np.stack([classes_of(rows), rows["sky"]], axis=1)
    forest = grow_forest(encode(rows, both), n_estimators=5)
    shares = forest.predict_proba(rows)
    for k in range(2):
        assert_allclose(shares[k], np.mean([tree.predict_proba(rows)[k] for tree in forest], axis=0))
    assert forest.predict(rows).shape == (300, 2)


def test_votes_of_very_many_classes():
    random = np.random.default_rng(0)
    data = encode(random.normal(size=(900, 2)), random.integers(0, 300, 900))
    forest = grow_forest(data, n_estimators=4, min_samples_leaf=5)
    assert_allclose(
        forest.predict_proba(data.columns), np.mean([t.predict_proba(data.columns) for t in forest], axis=0)
    )


def test_out_of_bag(data):
    """Each row is judged by the trees that have not seen it, tree after tree."""
    forest = grow_forest(data, n_estimators=12, random_state=1)
    out = out_of_bag(forest, data, n_jobs=2)
    truth = data.targets[0]
    for size in (1, 5, 12):
        votes = [[] for _ in range(data.n_rows)]
        for member in range(size):
            said = forest.tree_votes(member, data)
            for row in forest.draws.left_out(member):
                votes[row].append(said[row])
        heard = [row for row in range(data.n_rows) if votes[row]]
        means = np.array([np.sum(votes[row], axis=0) for row in heard])
        if data.schema.predicts_classes:
            loss = (means.argmax(axis=1) != truth[heard]).mean()
        else:
            counts = np.array([len(votes[row]) for row in heard])
            loss = ((means[:, 0] / counts - truth[heard]) ** 2).mean()
        assert_allclose(out.curve[size - 1], loss, rtol=1e-9)
    assert out.loss == out.curve[-1]
    assert_array_equal(out.votes, [len(v) for v in votes])


def test_out_of_bag_needs_its_rows(data):
    forest = grow_forest(data, n_estimators=3)
    with pytest.raises(ValueError, match="not the training rows: the forest was grown from 300 rows"):
        out_of_bag(forest, data.take(range(50)))
    everything = grow_forest(data, n_estimators=3, bootstrap=False)
    with pytest.raises(ValueError, match="there are none out of bag"):
        out_of_bag(everything, data)


def test_importance(data):
    """The rise of each tree's loss on its unseen rows, against the same by hand."""
    forest = grow_forest(data, n_estimators=6, random_state=4, max_features=3)
    found = importance_of(forest, data, n_jobs=2)
    rises = np.zeros((6, 4))
    for member, tree in enumerate(forest):
        rows = forest.draws.left_out(member)
        random = forest.draws.random(member, 2)

        def loss(some, tree=tree, rows=rows):
            said = tree.label[tree.apply(some), 0] if tree.schema.predicts_classes else None
            if said is not None:
                return (said != data.targets[0, rows]).mean()
            return ((tree.value[tree.apply(some), 0] - data.targets[0, rows]) ** 2).mean()

        plain = data.take(rows)
        for j in sorted({int(f) for f in tree.feature if f >= 0}):
            columns = list(plain.columns)
            columns[j] = columns[j][random.permutation(len(rows))]
            rises[member, j] = loss(encode_columns(plain, columns)) - loss(plain)
    assert_allclose(found.rises, rises.mean(axis=0), rtol=1e-9, atol=1e-12)
    assert found.ranked[0].column == "a"
    assert "risk reduction (biased)" in str(found)


def encode_columns(data, columns):
    from dataclasses import replace

    return replace(data, columns=tuple(columns))


def test_importance_of_noise_is_nothing():
    """Shares of gain prefer a column of many values over one of two; shuffled unseen rows do not."""
    random = np.random.default_rng(0)
    useful = random.integers(0, 2, 400)
    y = np.where(random.random(400) < 0.25, 1 - useful, useful)
    data = encode({"useful": useful.astype(float), "noise": random.random(400)}, y)
    forest = grow_forest(data, n_estimators=60, max_features=2)
    found = importance_of(forest, data)
    assert forest.gain_shares[1] > 0.4  # biased
    assert found.rises[0] > 0.1 > abs(found.rises[1])


def test_votes_against():
    rows = table()
    data = encode(rows, classes_of(rows))
    for voting in ("soft", "hard"):
        forest = grow_forest(data, n_estimators=4, voting=voting, max_depth=3)
        against, unseen = votes_against(forest, data, n_jobs=2)
        for member, tree in enumerate(forest):
            assert_array_equal(np.flatnonzero(unseen[member]), forest.draws.left_out(member))
            leaf = tree.apply(data)
            share = tree.proportions[0][leaf, data.targets[0]]
            right = share if voting == "soft" else tree.label[leaf, 0] == data.targets[0]
            assert_allclose(against[member], np.where(unseen[member], 1 - right, 0))


def test_proximity(data):
    forest = grow_forest(data, n_estimators=9, min_samples_leaf=5)
    leaves = np.stack([tree.apply(data) for tree in forest], axis=1)
    near = (leaves[:, np.newaxis] == leaves[np.newaxis]).mean(axis=2)
    assert_allclose(proximity(forest, data), near)
    assert_allclose(proximity(forest, data.take(range(7)), data), near[:7])
    out = proximity(forest, data, out_of_bag=True)
    unseen = np.array([np.isin(np.arange(300), forest.draws.left_out(m)) for m in range(9)])
    i, j = 3, 11
    both = unseen[:, i] & unseen[:, j]
    expected = (leaves[i] == leaves[j])[both].mean() if both.any() else 0.0
    assert_allclose(out[i, j], expected)


def test_proximity_says_when_it_is_too_large(data, monkeypatch):
    monkeypatch.setattr(import_module("treewright.ensembles.proximity"), "available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="the proximity of 300 to 300 rows takes"):
        proximity(grow_forest(data, n_estimators=2), data)


@pytest.mark.parametrize("least", [1, 6])
def test_quantiles(least):
    """The weighted quantiles of the training rows that share leaves, by their definition."""
    rows = table()
    y = numbers_of(rows).round(1)
    data = encode(rows, y)
    forest = grow_forest(data, n_estimators=8, min_samples_leaf=least)
    kept = LeafTargets.of(forest.trees, forest.draws, data, n_jobs=2)
    fresh = encode(table(40, seed=3), schema=data.schema)
    levels = [0.0, 0.1, 0.5, 0.9, 1.0]
    found = kept.quantiles(forest, fresh, levels)
    weights = np.zeros((40, 300))
    for member, tree in enumerate(forest):
        drawn = forest.draws.weights(member)
        own, leaf = tree.apply(data), tree.apply(fresh)
        share = (own == leaf[:, np.newaxis]) * drawn
        weights += share / share.sum(axis=1, keepdims=True)
    order = np.argsort(y, kind="stable")
    reached = np.cumsum(weights[:, order], axis=1) / len(forest)
    for k, level in enumerate(levels):
        place = [np.flatnonzero(line >= level - 1e-6)[0] for line in reached]
        positive = weights[:, order] > 0
        place = [np.flatnonzero(positive[i])[0] if level == 0 else p for i, p in enumerate(place)]
        assert_array_equal(found[:, k], y[order][place])
    with pytest.raises(ValueError, match=r"quantiles are .* they must be numbers from 0 to 1"):
        kept.quantiles(forest, fresh, [1.5])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["float64", "float32", "columns", "strided"])
@pytest.mark.parametrize("depth", [2, 8, None])
def test_totals(kind, depth):
    """Sums over trees by the kernel, against one tree at a time."""
    random = np.random.default_rng(1)
    x = random.normal(size=(3000, 4)).round(1)
    x[random.random(x.shape) < 0.05] = np.nan
    y = random.integers(0, 3, 3000)
    trees = [grow(encode(x, y), max_depth=depth, max_features=2, random_state=s) for s in range(6)]
    table = {
        "float64": lambda: encode(x, schema=trees[0].schema),
        "float32": lambda: encode(x.astype(np.float32), schema=trees[0].schema),
        "columns": lambda: encode(
            {f"x{j}": x[:, j].astype([np.float32, np.float64][j % 2]) for j in range(4)},
            schema=trees[0].schema,
        ),
        "strided": lambda: encode(np.asfortranarray(x)[::-1], schema=trees[0].schema),
    }[kind]()
    told = [tree.proportions[0] for tree in trees]
    for n in (3000, 300, 1):
        some = table.take(slice(0, n))
        expected = np.zeros((n, 3))
        for tree, lines in zip(trees, told, strict=True):
            expected += lines[tree.apply(some)]
        for n_threads in (1, 3):
            assert_array_equal(TreeSum.of(trees, told).totals(some, n_threads), expected)


def test_totals_refuse_what_does_not_fit():
    tree = grow(encode([[0.0], [1.0]], [0, 1]))
    data = encode([[0.0]], schema=tree.schema)
    with pytest.raises(ValueError, match="a line of the same width for each node"):
        TreeSum.of([tree, tree], [tree.proportions[0], np.zeros((2, 2))]).totals(data)


def test_side_by_side_stops_as_a_whole():
    asked = []

    def work(member, listener):
        asked.append(member)
        if member == 3:
            raise RuntimeError("three")
        return member

    done = []
    with pytest.raises(RuntimeError, match="three"):
        side_by_side(work, range(1000), 3, done.append)
    assert done == [0, 1, 2]
    assert len(asked) < 1000


def test_options(data):
    for parameters, message in (
        ({"n_estimators": 0}, "n_estimators=0 is not possible; it must be an int >= 1"),
        ({"voting": "loud"}, "voting='loud' is not possible; it must be one of 'soft', 'hard'"),
        ({"max_samples": 0}, "max_samples=0 is not possible"),
        ({"random_state": -1}, "random_state=-1 is not possible"),
        ({"max_features": 0}, "max_features=0 is not possible"),
    ):
        with pytest.raises(ValueError, match=message):
            grow_forest(data, **parameters)
    shares = []
    grow_forest(data, n_estimators=4, progress=shares.append)
    assert shares == [0.25, 0.5, 0.75, 1.0]


def test_memory_is_estimated_before_a_huge_forest(data, monkeypatch):
    monkeypatch.setattr("treewright.growing.memory.available_memory", lambda: 10**9)
    monkeypatch.setattr("treewright.ensembles.forest.tree_bytes", lambda tree: 10**9)
    with pytest.raises(MemoryError, match=r"a forest of 100 such trees needs about 99\.0 GB of memory, but"):
        grow_forest(data, n_estimators=100)


def test_pickling(data):
    forest = grow_forest(data, n_estimators=3)
    expected = forest.answers(data)
    again = pickle.loads(pickle.dumps(forest))
    assert isinstance(again, Forest)
    assert_array_equal(again.answers(data), expected)
    assert repr(again) == repr(forest)


@pytest.mark.parametrize("splitter", ["best", "random"])
def test_trees_on_a_wide_table_share_its_columns(splitter):
    """The trees are those of a table that shares nothing, with two threads, too."""
    random = np.random.default_rng(0)
    x = random.normal(size=(40, 200))
    x[random.random(x.shape) < 0.05] = np.nan
    data, options = (
        encode(x, random.integers(3, size=40)),
        {"max_features": 10, "splitter": splitter, "min_samples_leaf": 1},
    )
    forest = grow_forest(data, n_estimators=8, n_jobs=2, **options)
    for member, tree in enumerate(forest):
        alone = data.take(slice(None))
        assert not alone.has_shared
        rows = alone.with_weight(forest.draws.weights(member), is_drawn=True)
        same_tree(tree, grow(rows, **options, random_state=tree_seed(forest.draws, member)))
    data.shared()
    assert not pickle.loads(pickle.dumps(data)).has_shared
