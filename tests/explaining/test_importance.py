"""Importance beside naive loops, beside scikit-learn, and its intervals over many draws of the rows."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.inspection import permutation_importance
from sklearn.tree import DecisionTreeClassifier as PeerClassifier
from sklearn.tree import DecisionTreeRegressor as PeerRegressor

from tests.explaining.test_decision_path import Tags
from treewright import (
    Below,
    Branch,
    Column,
    DecisionTreeClassifier,
    Leaf,
    Schema,
    Target,
    Tree,
    encode,
    grow,
    importance,
)
from treewright.encoding import Dataset

RNG = np.random.default_rng(5)
N = 240


def mixed(n: int = N, seed: int = 0) -> dict[str, Any]:
    """Numbers with holes, categories, times, and a column that says nothing."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    x[rng.random(n) < 0.1] = np.nan
    return {
        "x": x,
        "c": rng.choice(["u", "v", "w", "t"], n),
        "when": rng.integers(0, 10**9, n).astype("datetime64[s]"),
        "noise": rng.normal(size=n),
    }


def labels(table: dict[str, Any], seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    score = np.nan_to_num(table["x"], nan=1.0) + (table["c"] == "u") + rng.normal(0, 0.5, len(table["x"]))
    return np.where(score > 1.2, "high", np.where(score > 0, "middle", "low"))


def naive_rises(tree: Tree, table: dict[str, Any], targets: Any, weight: Any, repeats: int, seed: int) -> Any:
    """Shuffle a column, send all rows down the whole tree again, and look what they lose."""
    data = encode(table, targets, schema=tree.schema)

    def lost(changed: dict[str, Any]) -> Any:
        answers = np.reshape(tree.predict(changed), (data.n_rows, -1))
        total = np.zeros(data.n_rows)
        for i, target in enumerate(tree.schema.targets):
            truth = np.asarray(data.targets)[i]
            for row, answer in enumerate(answers[:, i]):
                if target.classes is None:
                    total[row] += (truth[row] - answer) ** 2
                elif target.costs is not None:
                    total[row] += target.costs[truth[row]][target.classes.index(answer)]
                else:
                    total[row] += target.classes[truth[row]] != answer
        return total / len(tree.schema.targets)

    base = lost(table)
    rises = {}
    for j, name in enumerate(tree.schema.names):
        rng = np.random.default_rng([seed, j])
        rises[name] = 0.0
        if (tree.feature == j).any():
            drawn = []
            for _ in range(repeats):
                chances = None if weight is None else weight / weight.sum()
                n = data.n_rows
                donor = rng.permutation(n) if weight is None else rng.choice(n, n, p=chances)
                drawn.append(np.average(lost({**table, name: table[name][donor]}) - base, weights=weight))
            rises[name] = float(np.mean(drawn))
    return rises, float(np.average(base, weights=weight))


@pytest.mark.parametrize(
    "case", ["classes", "costs", "numbers", "several classes", "several numbers", "weights"]
)
def test_rises_are_those_of_naive_shuffles(case: str) -> None:
    table = mixed()
    y: Any = labels(table)
    if case == "several classes":
        y = {"first": y, "second": labels(table, 3)}
    elif case == "numbers":
        y = np.nan_to_num(table["x"]) * 2 + RNG.normal(size=N)
    elif case == "several numbers":
        y = np.stack([np.nan_to_num(table["x"]), (table["c"] == "u") * 3.0], axis=1) + RNG.normal(size=(N, 2))
    weight = RNG.uniform(0.5, 3.0, N) if case == "weights" else None
    tree = grow(encode(table, y, weight=weight), max_leaf_nodes=12)
    if case == "costs":
        tree = tree.with_costs({"low": {"high": 4.0}, "high": {"low": 7.0, "middle": 2.5}})
    test = mixed(seed=1)
    truth: Any = labels(test, 1)
    if case == "several classes":
        truth = {"first": truth, "second": labels(test, 4)}
    elif case == "numbers":
        truth = np.nan_to_num(test["x"]) * 2
    elif case == "several numbers":
        truth = np.stack([np.nan_to_num(test["x"]), (test["c"] == "u") * 3.0], axis=1)
    found = importance(tree, (test, truth, weight), n_repeats=3, random_state=7)
    expected, base = naive_rises(tree, test, truth, weight, 3, 7)
    assert found.base == pytest.approx(base)
    assert found.loss == {
        "costs": "cost",
        "numbers": "squared error",
        "several numbers": "squared error",
    }.get(case, "error")
    for column in found:
        assert column.permutation == pytest.approx(expected[column.column], abs=1e-12)
        assert column.lower <= column.permutation <= column.upper
        assert column.splits == (tree.feature == column.position).sum()
    assert any(column.permutation > 0 for column in found)


def test_numbers_do_not_depend_on_threads_or_on_the_kind_of_table() -> None:
    x = np.random.default_rng(0).normal(size=(300, 5))
    y = (x[:, 0] + x[:, 2] > 0).astype(int)
    data = encode(x, y)
    tree = grow(data, max_leaf_nodes=9)
    columns = Dataset(data.schema, tuple(np.asfortranarray(x).T), data.targets)
    assert importance(tree, data).columns == importance(tree, columns, n_jobs=2).columns


def test_gain_is_scikit_learns_feature_importance() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(400, 6)).astype(np.float32)
    y = (x[:, 0] + x[:, 1] * x[:, 2] > 0).astype(int)
    for criterion in ("gini", "entropy"):  # few leaves: in small nodes splits tie, and the peer draws one
        tree = grow(encode(x, y), criterion=criterion, max_leaf_nodes=6)
        peer = PeerClassifier(criterion=criterion, max_leaf_nodes=6, random_state=0).fit(x, y)
        ours = [column.gain for column in importance(tree)]
        np.testing.assert_allclose(ours, peer.feature_importances_, atol=1e-9)
    value = x[:, 0] * 3 + np.abs(x[:, 1])
    tree = grow(encode(x, value), max_leaf_nodes=20)
    peer = PeerRegressor(max_leaf_nodes=20, random_state=0).fit(x, value)
    np.testing.assert_allclose([c.gain for c in importance(tree)], peer.feature_importances_, atol=1e-9)


@pytest.mark.slow
def test_permutation_is_scikit_learns() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(500, 4))
    y = (x[:, 0] + 0.5 * x[:, 1] + 0.3 * rng.normal(size=500) > 0).astype(int)
    model = DecisionTreeClassifier(max_leaf_nodes=10).fit(x[:300], y[:300])
    ours = importance(model, (x[300:], y[300:]), n_repeats=200)
    peer = permutation_importance(model, x[300:], y[300:], n_repeats=200, random_state=0)
    for j, column in enumerate(ours):
        assert abs(column.permutation - peer.importances_mean[j]) <= 5 * peer.importances_std[j] / np.sqrt(
            100
        )


@pytest.mark.slow
def test_many_shuffles_come_to_all_pairs() -> None:
    """The mean over all ways to give a row another's value, weighted as the rows are."""
    x = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 2.0])
    y = np.array(["a", "b", "b", "b", "a", "b"])
    weight = np.array([1.0, 2.0, 1.0, 0.5, 3.0, 1.0])
    tree = grow(encode({"x": [0.0, 1.0, 2.0]}, ["a", "b", "b"]))
    answers = tree.predict({"x": x})
    for given, w in ((None, np.ones(6)), (weight, weight)):
        wrong = (answers[np.newaxis, :] != y[:, np.newaxis]).astype(float)  # row, donor
        exact = w @ wrong @ w / w.sum() ** 2 - np.average(answers != y, weights=w)
        found = importance(tree, ({"x": x}, y, given), n_repeats=3000)
        assert found["x"].permutation == pytest.approx(exact, abs=0.015)


@pytest.mark.slow
def test_weights_are_repetitions_and_zeros_are_absent() -> None:
    table = {"x": np.arange(12.0) % 5, "z": np.arange(12.0) % 3}
    y = np.array(list("aabbabbbaaba"))
    tree = grow(encode({"x": [0.0, 2.0, 4.0, 1.0], "z": [0.0, 1.0, 2.0, 2.0]}, list("abba")))
    counts = np.array([0, 1, 2, 3, 1, 0, 2, 1, 1, 4, 1, 2])
    repeated = {name: np.repeat(values, counts) for name, values in table.items()}
    weighted = importance(tree, (table, y, counts), n_repeats=2000)
    twice = importance(tree, (repeated, np.repeat(y, counts)), n_repeats=2000)
    for one, two in zip(weighted, twice, strict=True):
        assert one.permutation == pytest.approx(two.permutation, abs=0.025)
    assert weighted.base == pytest.approx(twice.base)
    kept = counts > 0
    fewer = importance(tree, ({n: v[kept] for n, v in table.items()}, y[kept], counts[kept]), n_repeats=9)
    assert importance(tree, (table, y, counts), n_repeats=9).columns == fewer.columns


@pytest.mark.slow
def test_intervals_hold_as_often_as_they_say() -> None:
    """x agrees with y in 9 of 10 rows; shuffled it says nothing, so that the true rise is 0.4."""
    tree = grow(encode({"x": [0.0, 1.0]}, ["a", "b"]))
    rng, held, widths, rises = np.random.default_rng(8), 0, [], []
    for draw in range(400):
        truth = rng.random(80) < 0.5
        x = np.where(rng.random(80) < 0.9, truth, ~truth).astype(float)
        found = importance(tree, ({"x": x}, np.where(truth, "b", "a")), n_repeats=5, random_state=draw)["x"]
        held += found.lower <= 0.4 <= found.upper
        widths.append(found.upper - found.lower)
        rises.append(found.permutation)
    assert 0.92 <= held / 400 <= 0.995
    assert 1.0 <= np.mean(widths) / (2 * 1.99 * np.std(rises)) <= 1.6


@pytest.mark.slow
def test_intervals_hold_for_columns_that_few_rows_are_asked_about() -> None:
    """One row in 50 is asked about z, which is right for it; shuffled, it is right for half of them."""
    schema = Schema((Column("x"), Column("z")), (Target("y", ("a", "b")),))
    below = Branch(Below("z", 0.5), Leaf([1, 0]), Leaf([0, 1]))
    tree = Tree.write(schema, Branch(Below("x", 0.5), below, Leaf([40, 0])))
    rng, held = np.random.default_rng(9), 0
    for draw in range(300):
        z, x = rng.integers(0, 2, 60), rng.random(60) > 0.02
        y = np.where(~x & (z == 1), "b", "a")
        found = importance(tree, ({"x": x * 1.0, "z": z * 1.0}, y), n_repeats=3, random_state=draw)["z"]
        held += found.lower <= 0.01 <= found.upper
    assert held / 300 >= 0.93


def test_training_rows_are_marked() -> None:
    table = mixed()
    data = encode(table, labels(table))
    tree = grow(data, max_leaf_nodes=8)
    assert importance(tree, data).own_rows
    assert "biased upwards" in str(importance(tree, data)).replace("\n", " ")
    other = importance(tree, (mixed(seed=1), labels(mixed(seed=1))))
    assert not other.own_rows
    assert "biased upwards" not in str(other).replace("\n", " ")
    assert "importance is the rise of the mean error over 10 shuffles" in str(other).replace("\n", " ")
    assert "importance is the rise" not in str(importance(tree))
    assert "favours many-valued columns" in " ".join(str(importance(tree)).split())


def test_text_json_and_page() -> None:
    table = mixed()
    table["<b>"] = table.pop("x")
    tree = grow(encode(table, labels({**table, "x": table["<b>"]})), max_leaf_nodes=6)
    for found in (importance(tree), importance(tree, (table, labels({**table, "x": table["<b>"]})))):
        plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert [column["column"] for column in plain["columns"]] == list(tree.schema.names)
        assert sum(column["gain"] for column in plain["columns"]) == pytest.approx(1.0)
        page = Tags()
        page.feed(found._repr_html_())
        assert "<b>" in page.text
        assert "b" not in page.tags
        assert str(found).splitlines()[1].startswith(found.ranked[0].column)
    with pytest.raises(KeyError, match="no column 'age'"):
        importance(tree)["age"]


def test_a_single_leaf_uses_nothing() -> None:
    data = encode({"x": [1.0, 1.0]}, ["a", "b"])
    found = importance(grow(data), data)
    assert (found["x"].gain, found["x"].permutation) == (0.0, 0.0)
    assert "1 column is not used at all" in str(found)


def test_a_split_that_gains_nothing_has_no_bar() -> None:
    schema = Schema((Column("x\n<b>"),), (Target("y", ("a", "b")),))
    tree = Tree.write(schema, Branch(Below("x\n<b>", 1.0), Leaf([2, 1]), Leaf([2, 1])))
    line = str(importance(tree)).splitlines()[1]
    assert line.split() == [r"x\n<b>", "1", "0.0", "%"]


def test_a_column_that_no_row_is_asked_about_is_worth_nothing() -> None:
    schema = Schema((Column("x"), Column("z")), (Target("y", ("a", "b")),))
    below = Branch(Below("z", 1.0), Leaf([2, 0]), Leaf([0, 1]))
    tree = Tree.write(schema, Branch(Below("x", 1.0), below, Leaf([0, 3])))
    found = importance(tree, ({"x": [2.0, 3.0], "z": [0.0, 5.0]}, ["b", "a"]))
    assert found["z"].permutation == 0.0
    assert found["z"].lower < -1  # two rows prove nothing of those that would be asked
    assert found.base == 0.5


def test_an_infinite_loss_has_no_rise() -> None:
    tree = grow(encode({"x": [1.0, 2.0, 3.0]}, [1.0, 1.0, 4.0]), criterion="poisson")
    nothing = replace(tree, statistic=tree.statistic * np.array([1.0, 0.0, 1.0]))  # answers 0 to all
    found = importance(nothing, ({"x": [1.0, 3.0]}, [1.0, 2.0]))
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["columns"][0]["permutation"] is None
    assert str(found)


def test_a_single_row_has_no_interval() -> None:
    tree = grow(encode({"x": [0.0, 1.0]}, ["a", "b"]))
    found = importance(tree, ({"x": [0.0]}, ["a"]))
    assert found["x"].permutation == 0.0
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_repeats": 0}, "n_repeats is 0; it must be at least 1"),
        ({"random_state": -1}, "random_state is -1"),
        ({"delta": 0}, "delta is 0"),
        ({"n_jobs": 0}, "n_jobs is 0"),
    ],
)
def test_options_are_checked(options: dict[str, Any], message: str) -> None:
    data = encode({"x": [0.0, 1.0]}, ["a", "b"])
    with pytest.raises(ValueError, match=message):
        importance(grow(data), data, **options)
