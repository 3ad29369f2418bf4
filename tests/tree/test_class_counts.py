"""Trees of very many classes: compressed rows say what a table would, in a small part of the memory."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import treewright.encoding.schema
from tests.checks import check_tree, criteria
from tests.comparison import compare
from tests.strategies import table_of
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
    export,
    grow,
)
from treewright.encoding import Dataset
from treewright.estimators import fitting
from treewright.pruning import cost_complexity_path, cut_at
from treewright.tree.class_counts import SparseRows

ARRAYS = ("end", "start", "column", "value")


def many_classes(
    n: int = 900, classes: int = 300, targets: int = 1, weighted: bool = True, seed: int = 0
) -> Dataset:
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, 3)).round(1)
    y = np.stack([(np.arange(n) * (7 + k)) % classes for k in range(targets)], axis=1)
    return encode(x, y[:, 0] if targets == 1 else y, weight=random.gamma(1.0, size=n) if weighted else None)


def as_table(tree: Tree) -> Tree:
    """The same tree with its statistic as a table."""
    return replace(tree, statistic=np.asarray(tree.statistic))


CASES = [{}, {"targets": 2}, {"weighted": False}]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("criterion", criteria("classes"))
def test_the_core_lists_the_numbers_of_its_table(
    criterion: str, case: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = grow(many_classes(**case), criterion=criterion, max_depth=8)
    monkeypatch.setattr(treewright.encoding.schema, "WIDEST_TABLE", 10**6)
    table = grow(many_classes(**case), criterion=criterion, max_depth=8)
    assert isinstance(wide.statistic, SparseRows)
    assert isinstance(table.statistic, np.ndarray)
    np.testing.assert_array_equal(np.asarray(wide.statistic), table.statistic)
    assert wide == table
    assert table == wide


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("criterion", criteria("classes"))
def test_all_that_follows_is_the_same(criterion: str, case: dict[str, Any]) -> None:
    data = many_classes(**case)
    wide = grow(data, criterion=criterion, max_depth=7)
    check_tree(wide)
    table = as_table(wide)
    np.testing.assert_array_equal(wide.risk, table.risk)
    np.testing.assert_array_equal(wide.label, table.label)
    np.testing.assert_allclose(wide.weight, table.weight, rtol=1e-14)
    np.testing.assert_allclose(wide.gain, table.gain, rtol=1e-12, atol=1e-12 * wide.risk[0])
    np.testing.assert_allclose(wide.confidence, table.confidence, rtol=1e-14)
    for one, two in zip(wide.proportions, table.proportions, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-14)
    assert export(wide) == export(table)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_other_rows(case: dict[str, Any]) -> None:
    wide = grow(many_classes(**case), max_depth=7)
    table = as_table(wide)
    other = replace(many_classes(**case, seed=1), schema=wide.schema)
    np.testing.assert_array_equal(np.asarray(wide.statistic_of(other)), table.statistic_of(other))
    np.testing.assert_allclose(wide.curve(other), table.curve(other), rtol=1e-12)
    x = np.random.default_rng(2).normal(size=(50, 3))
    np.testing.assert_array_equal(wide.predict(x), table.predict(x))
    for one, two in zip(wide.predict_proba(x), table.predict_proba(x), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-14)


def test_surgery() -> None:
    wide = grow(many_classes(), max_depth=9)
    table = as_table(wide)
    for n_splits in (0, 1, wide.n_leaves // 2, wide.n_leaves):
        check_tree(wide.first(n_splits))
        assert wide.first(n_splits) == table.first(n_splits)
    assert wide.collapse([1, 3]) == table.collapse([1, 3])
    assert wide.collapse([]) == wide
    path = cost_complexity_path(wide)
    np.testing.assert_allclose(path.alpha, cost_complexity_path(table).alpha, rtol=1e-13)
    middle = len(path.alpha) // 2
    alpha = float(path.alpha[middle : middle + 2].mean())
    assert cut_at(wide, alpha) == cut_at(table, alpha)
    assert 1 < cut_at(wide, alpha).n_leaves < wide.n_leaves


def test_copies_and_differences() -> None:
    tree = grow(many_classes(), max_depth=4)
    rows = tree.statistic
    assert isinstance(rows, SparseRows)
    for twin in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree), replace(tree)):
        assert twin == tree
        assert not any(getattr(twin.statistic, name).flags.writeable for name in ARRAYS)
    heavier = replace(tree, statistic=replace(rows, value=rows.value * 2))
    assert heavier != tree
    assert as_table(heavier) != tree
    check_tree(heavier)


@pytest.mark.parametrize("key", [0, 3, -1, [0, 2, 2], [5, 4], slice(1, 9), (0, slice(3, 7)), ([2, 0], 4)])
def test_rows_are_read_like_an_array(key: Any) -> None:
    tree = grow(many_classes(), max_depth=5)
    np.testing.assert_array_equal(tree.statistic[key], np.asarray(tree.statistic)[key])
    assert tree.statistic.shape == (tree.n_nodes, 300)
    np.testing.assert_array_equal(tree.root.right.statistic, np.asarray(tree.statistic)[tree.right[0]])


def test_any_nodes_together_are_what_they_are_alone() -> None:
    tree = grow(many_classes(), max_depth=6)
    table = np.asarray(tree.statistic)
    random = np.random.default_rng(0)
    for size in (1, 2, 3, 10):
        nodes = random.integers(0, tree.n_nodes, size)
        np.testing.assert_array_equal(tree.statistic[nodes], table[nodes])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": -1.0}, "without weight"),
        ({"value": np.nan}, "not finite"),
        ({"column": 300}, "unknown class"),
        ({"column": -1}, "unknown class"),
        ({"start": 1}, "of its own"),
        ({"end": 1}, "another tree"),
    ],
)
def test_damage_is_noticed(change: dict[str, Any], message: str) -> None:
    tree = grow(many_classes(), max_depth=4)
    ((name, number),) = change.items()
    array = getattr(tree.statistic, name).copy()
    if name == "start":  # the first cell, of the leftmost leaf, becomes the root's
        array[1 : int(np.flatnonzero(tree.is_leaf)[0]) + 1] = number
    else:
        array[0] = number
    with pytest.raises(ValueError, match=message):
        replace(tree, statistic=replace(tree.statistic, **{name: array})).check()


def test_a_leaf_without_a_target_is_noticed() -> None:
    tree = grow(many_classes(targets=2), max_depth=2)
    rows = tree.statistic
    first = rows.column < 300  # the second target is left out of the last leaf
    kept = first | (np.arange(len(first)) < rows.start[-2])
    start = np.append(rows.start[:-1], kept.sum())
    lacking = replace(rows, start=start, column=rows.column[kept], value=rows.value[kept])
    with pytest.raises(ValueError, match="no weight"):
        replace(tree, statistic=lacking).check()


def test_the_form_follows_from_the_number_of_classes() -> None:
    with pytest.raises(ValueError, match="not compressed"):
        as_table(grow(many_classes(), max_depth=3)).check()
    small = grow(many_classes(classes=20), max_depth=3)
    with pytest.raises(ValueError, match="is compressed"):
        replace(small, statistic=SparseRows.of(small.end, small.statistic)).check()


def test_a_foreign_shape_is_refused_by_the_core() -> None:
    tree = grow(many_classes(), max_depth=3)
    with pytest.raises(ValueError, match="shape of a tree"):
        replace(tree.statistic, end=np.full(tree.n_nodes, tree.n_nodes, np.int32)).summary("gini", (300,))
    with pytest.raises(ValueError, match="rows of a tree"):
        replace(tree.statistic, start=tree.statistic.start + 1).summary("gini", (300,))


def test_by_hand() -> None:
    schema = Schema((Column("x"),), (Target("y", tuple(range(400))),))
    left, right = np.zeros((2, 400))
    left[7], right[[7, 399]] = 3, [1, 2]
    tree = Tree.write(schema, Branch(Below("x", 1.0), Leaf(left.tolist()), Leaf(right.tolist())))
    assert tree.statistic[0][[7, 399]].tolist() == [4, 2]
    assert (tree.statistic.column.tolist(), tree.statistic.start.tolist()) == ([7, 7, 399], [0, 0, 1, 3])
    assert tree.predict({"x": [0.0, 2.0]}).tolist() == [7, 399]
    assert str(tree).splitlines()[2].split() == ["└─", "x", ">", "1", "399", "3", "rows", "66.7", "%"]
    with pytest.raises(ValueError, match="without weight"):
        Tree.write(schema, Leaf([*left[:-1], -1.0]))


# ---- growing -----------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", criteria("classes"))
@pytest.mark.parametrize("spread", [0.0, 1.0, 12.0])
def test_weights_of_many_classes_against_the_oracle(criterion: str, spread: float) -> None:
    """Enough classes that risks are kept up to date, and weights that lie far apart."""
    random = np.random.default_rng(3)
    n = 110
    y = np.concatenate([np.arange(45), random.integers(0, 45, n - 45)])
    x = [random.integers(0, 9, n), random.normal(size=n), np.where(random.random(n) < 0.2, np.nan, y % 5)]
    table = table_of(x, y, weight=10.0 ** (spread * random.random(n).round(2)))
    limit = {"max_depth": 3}
    compare(table.grow(criterion, **limit), table.growth(criterion, **limit))


@pytest.mark.parametrize("criterion", criteria("classes"))
def test_weights_of_one_change_nothing(criterion: str) -> None:
    data = many_classes(weighted=False)
    weighted = replace(data, weight=np.full(data.n_rows, 1.0))
    one, two = grow(data, criterion=criterion), grow(weighted, criterion=criterion)
    np.testing.assert_array_equal(one.threshold, two.threshold)
    np.testing.assert_array_equal(one.end, two.end)


# ---- estimators and memory ---------------------------------------------------------------------


def test_the_view_for_scikit_learn_is_made_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    x, y = random.normal(size=(600, 2)), np.arange(600) % 300
    made: list[Tree] = []
    original = fitting.sklearn_tree
    monkeypatch.setattr(fitting, "sklearn_tree", lambda tree: made.append(tree) or original(tree))
    model = DecisionTreeClassifier(max_depth=6, ccp_alpha=1e-5).fit(x, y)
    shares = model.predict_proba(x)
    assert shares.shape == (600, 300)
    np.testing.assert_array_equal(model.predict(x), shares.argmax(axis=1))
    model.feature_importances_, model.get_depth(), model.apply(x), pickle.dumps(model), str(model)
    assert not made
    np.testing.assert_allclose(model.tree_.value[:, 0], model.model_.proportions[0])
    assert len(made) == 1


MEASURED = """
import pickle, resource
import numpy as np
from treewright import DecisionTreeClassifier, encode
from treewright.pruning import cost_complexity_path, cut_at

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

random = np.random.default_rng(0)
n, classes = 16_000, 4_000
y = np.arange(n) % classes
x = random.normal(size=(classes, 4))[y] + random.normal(size=(n, 4))
before = peak()
model = DecisionTreeClassifier().fit(x, y)
tree = model.model_
tree.check()
tree.weight, tree.gain, tree.label
model.predict(x), model.predict_proba(x[:100])
assert pickle.loads(pickle.dumps(tree)) == tree
str(tree), tree.curve(encode(x, y))
tree.first(tree.n_leaves // 2).check()
path = cost_complexity_path(tree)
cut_at(tree, path.alpha[len(path.alpha) // 2])
print(int(peak() - before), tree.n_nodes * classes * 8 >> 20)
"""


@pytest.mark.slow
def test_memory_of_many_classes_is_bounded() -> None:
    pytest.importorskip("resource")
    run = subprocess.run(
        [sys.executable, "-c", MEASURED], capture_output=True, text=True, timeout=300, check=False
    )
    assert run.returncode == 0, run.stderr
    more, table = map(int, run.stdout.split())
    assert table > 500  # megabytes that a table of nodes by classes would take
    assert more < 100


def test_a_chain_of_classes_takes_no_more_than_its_leaves() -> None:
    """All cuts between classes gain the same, so that the first is taken: each split peels one class."""
    n = 1500
    tree = grow(encode({"x": np.arange(float(n))}, np.arange(n)))
    assert (tree.depth, tree.n_leaves) == (n - 1, n)
    assert len(tree.statistic.column) == n
    assert tree.statistic[0].tolist() == [1.0] * n
    tree.check()
