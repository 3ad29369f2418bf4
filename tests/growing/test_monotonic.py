"""Monotone answers, proven on a grid: a row in every cell that the tests of a tree can tell apart."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle import CLASSES, NUMBERS
from tests.strategies import Table, table_of, tables
from treewright import DecisionTreeClassifier, DecisionTreeRegressor, prune
from treewright.encoding import Dataset
from treewright.tree import Tree

MOST_CELLS = 20_000


def values_to_try(tree: Tree, column: int) -> list[Any]:
    """A value for each answer that the tests of a column can give, missing and unseen ones included."""
    own = tree.feature == column
    if tree.schema.columns[column].kind == "category":
        return [-1, *range(len(tree.schema.columns[column].categories))] if own.any() else [0]
    cuts = sorted({float(t) for t in tree.threshold[own]})
    return [math.nan, *cuts, math.inf] if cuts else [0.0]


def answers(tree: Tree, columns: list[np.ndarray]) -> np.ndarray:
    """What must not fall as a column of sign 1 grows: the number, or the share of all later classes."""
    arrays = tuple(
        x.astype(np.int32 if column.kind == "category" else np.float64)
        for x, column in zip(columns, tree.schema.columns, strict=True)
    )
    leaves = tree.apply(Dataset(tree.schema, arrays))
    if not tree.schema.predicts_classes:
        return tree.value[leaves]
    return 1 - np.cumsum(tree.shares(leaves)[0], axis=1)[:, :-1]


def check_monotone(tree: Tree, signs: Any) -> int:
    """Compare all rows of the grid that differ in one constrained column; the number of such pairs."""
    tried = [values_to_try(tree, j) for j in range(len(tree.schema.columns))]
    if math.prod(map(len, tried)) > MOST_CELLS:
        return 0
    shape = tuple(map(len, tried))
    cells = list(product(*tried))
    found = answers(tree, [np.array([cell[j] for cell in cells]) for j in range(len(tried))])
    found = found.reshape(*shape, -1)
    pairs = 0
    for j, sign in enumerate(signs):
        if sign and len(tried[j]) > 1:
            known = np.take(found, range(1, len(tried[j])), axis=j)  # the first one is missing
            steps = sign * np.diff(known, axis=j)
            pairs += steps.size
            assert (steps >= -1e-12).all(), f"column {j} is not monotone: {steps.min()}"
    return pairs


def signs_for(table: Table) -> st.SearchStrategy[tuple[int, ...]]:
    """A direction for each column; none for categories."""
    return st.tuples(*(st.just(0) if k == "category" else st.sampled_from([1, -1, 0]) for k in table.kinds))


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["learn", "category"])
@pytest.mark.parametrize("criterion", [*CLASSES, *NUMBERS])
@pytest.mark.parametrize("splitter", ["best", "random"])
@settings(max_examples=25)
@given(data=st.data())
def test_on_a_grid(splitter: str, criterion: str, missing: str, data: st.DataObject) -> None:
    """Any table; the tree as grown, and each one that a pruning or an early stop makes of it."""
    table = data.draw(tables(criterion, max_rows=24, outputs=1))
    signs, seed = data.draw(signs_for(table)), data.draw(st.integers(0, 99))
    tree = table.grow(criterion, monotonic_cst=signs, missing=missing, splitter=splitter, random_state=seed)
    check_monotone(tree, signs)
    for smaller in prune(tree, "cost_complexity"):
        check_monotone(smaller, signs)
    for n_splits in range(min(4, tree.n_leaves)):
        check_monotone(tree.first(n_splits), signs)


def noisy(n: int, seed: int, n_classes: int = 0) -> Table:
    """Numbers that rise with x0, fall with x1 and wave with x2, with noise and holes."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, 3))
    y = x[:, 0] - x[:, 1] + np.sin(3 * x[:, 2]) + random.normal(size=n)
    x[random.random((n, 3)) < 0.1] = np.nan
    if n_classes:
        y = np.searchsorted(np.quantile(y, np.linspace(0, 1, n_classes + 1)[1:-1]), y)
    return table_of(list(x.T), y)


@pytest.mark.parametrize("missing", ["learn", "category"])
@pytest.mark.parametrize("splitter", ["best", "random"])
@pytest.mark.parametrize(
    ("criterion", "n_classes"), [("gini", 2), ("gini", 4), ("squared_error", 0), ("absolute_error", 0)]
)
def test_noisy_rows(criterion: str, n_classes: int, splitter: str, missing: str) -> None:
    """Without the rule the noise breaks the order, with it nothing does; the tree is still of use."""
    table, signs = noisy(300, 1, n_classes), (1, -1, 0)
    limit: dict[str, Any] = {"max_leaf_nodes": 24, "min_samples_leaf": 3, "missing": missing}
    limit |= {"splitter": splitter, "random_state": 2}
    tree = table.grow(criterion, monotonic_cst=signs, **limit)
    assert tree.n_leaves > 5
    assert check_monotone(tree, signs) > 100
    for smaller in prune(tree, "cost_complexity"):
        check_monotone(smaller, signs)
    for node in np.flatnonzero(~tree.is_leaf):
        check_monotone(tree.collapse([int(node)]), signs)
    with pytest.raises(AssertionError, match="is not monotone"):
        check_monotone(table.grow(criterion, **limit), signs)


def test_the_second_class_becomes_likelier() -> None:
    """The sign is that of the later class, as in scikit-learn."""
    table = {"x": [1.0, 2, 3, 4], "z": [0.0, 0, 0, 1]}
    rising = DecisionTreeClassifier(monotonic_cst={"x": 1}).fit(table, ["no", "no", "yes", "yes"])
    assert rising.predict_proba({"x": [1.0, 4], "z": [0, 0]})[:, 1].tolist() == [0.0, 1.0]
    falling = DecisionTreeClassifier(monotonic_cst={"x": -1}).fit(table, ["no", "no", "yes", "yes"])
    assert 0 not in falling.model_.feature, "x only rises here"


def test_as_scikit_learn_says_it() -> None:
    """Signs by position, and an answer that is ordered wherever one looks."""
    table = noisy(200, 2)
    x = np.nan_to_num(np.stack(table.columns, axis=1))
    model = DecisionTreeRegressor(monotonic_cst=[1, -1, 0]).fit(x, table.targets[0])
    random = np.random.default_rng(0)
    probes = random.normal(size=(500, 3))
    higher = probes + np.array([1.0, 0, 0]) * random.exponential(size=(500, 1))
    assert (model.predict(higher) >= model.predict(probes)).all()
    lower = probes + np.array([0.0, 1, 0]) * random.exponential(size=(500, 1))
    assert (model.predict(lower) <= model.predict(probes)).all()


def test_equal_answers_are_in_order() -> None:
    """A cut between sides of equal value is allowed, whatever the sign."""
    table = table_of([[1, 1, 2, 2], [0, 1, 0, 1]], [0, 1, 1, 0])
    for sign in (1, -1):
        assert table.grow("gini", monotonic_cst=[sign, 0]).feature[0] == 0


def test_the_middle_bounds_what_is_below() -> None:
    """The sides of the root answer 2.5 and 6.75; a leaf of 5 on the left would cross the middle, 4.625."""
    table = table_of([[0, 0, 1, 1], [0, 1, 0, 1]], [0.0, 5.0, 5.5, 8.0])
    assert table.grow("squared_error").value[:, 0].tolist() == [4.625, 2.5, 0.0, 5.0, 6.75, 5.5, 8.0]
    tree = table.grow("squared_error", monotonic_cst=[1, 0])
    assert tree.value[:, 0].tolist() == [4.625, 2.5, 6.75, 5.5, 8.0]


def test_pruned_by_the_estimator() -> None:
    table = noisy(300, 4, 3)
    x = np.stack(table.columns, axis=1)
    for method in ("cost_complexity", "reduced_error", "minimum_errors"):
        model = DecisionTreeClassifier(monotonic_cst=[1, -1, 0], max_leaf_nodes=20, pruning=method)
        check_monotone(model.fit(x, table.targets[0]).model_, (1, -1, 0))
