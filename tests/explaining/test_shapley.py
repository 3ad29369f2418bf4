"""Shapley values: against all subsets in exact fractions, against shap, at any depth, in any threads."""

from __future__ import annotations

import json
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import Table, tables
from treewright import Below, Branch, Column, DecisionTreeClassifier, Leaf, Schema, Target, Tree, encode, grow
from treewright.encoding import Dataset
from treewright.explaining.shapley import shapley_values

# ---- the oracle: the definition, over all subsets of the columns, in fractions -----------------------------


def turns_left(tree: Tree, node: int, data: Dataset, row: int) -> bool:
    condition = tree.condition(node, True)
    column = tree.schema.columns[tree.feature[node]]
    return bool(condition.holds(data.column(tree.feature[node])[[row]], column.categories)[0])


def expected(tree: Tree, data: Dataset, row: int, known: frozenset[int], node: int = 0) -> list[Fraction]:
    """The answer where some columns are known; the others follow the weights."""
    if tree.is_leaf[node]:
        return [Fraction(float(number)) for number in answers_of(tree, node)]
    left, right = node + 1, int(tree.right[node])
    if int(tree.feature[node]) in known:
        return expected(tree, data, row, known, left if turns_left(tree, node, data, row) else right)
    weight = [Fraction(float(tree.weight[child])) for child in (left, right)]
    sides = [expected(tree, data, row, known, child) for child in (left, right)]
    return [(weight[0] * a + weight[1] * b) / (weight[0] + weight[1]) for a, b in zip(*sides, strict=True)]


def answers_of(tree: Tree, node: int) -> Any:
    if tree.schema.predicts_classes:
        return np.concatenate([shares[0] for shares in tree.shares(np.array([node]))])
    return tree.value[node]


def mixed(tree: Tree, data: Dataset, row: int, others: Dataset, known: frozenset[int]) -> list[Fraction]:
    """The answer where the other columns take the values of a background, on average."""
    sums = [Fraction(0)] * len(answers_of(tree, 0))
    weights = [Fraction(float(weight)) for weight in others.row_weights]
    for other, weight in enumerate(weights):
        node = 0
        while not tree.is_leaf[node]:
            of_row = int(tree.feature[node]) in known
            left = turns_left(tree, node, data if of_row else others, row if of_row else other)
            node = node + 1 if left else int(tree.right[node])
        sums = [s + weight * Fraction(float(a)) for s, a in zip(sums, answers_of(tree, node), strict=True)]
    return [s / sum(weights) for s in sums]


def by_definition(tree: Tree, data: Dataset, row: int, others: Dataset | None = None) -> Any:
    """(columns, outputs) as floats of the exact values."""
    n = len(tree.schema.columns)
    used = sorted(set(tree.feature[~tree.is_leaf].tolist()))
    worth = {
        frozenset(some): expected(tree, data, row, frozenset(some))
        if others is None
        else mixed(tree, data, row, others, frozenset(some))
        for size in range(len(used) + 1)
        for some in combinations(used, size)
    }
    values = np.zeros((n, len(answers_of(tree, 0))))
    for j in used:
        sums = [Fraction(0)] * values.shape[1]
        for some, before in worth.items():
            if j not in some:
                k, d = len(some), len(used)
                share = Fraction(math.factorial(k) * math.factorial(d - k - 1), math.factorial(d))
                sums = [s + share * (a - b) for s, a, b in zip(sums, worth[some | {j}], before, strict=True)]
        values[j] = [float(s) for s in sums]
    return values


def check(tree: Tree, data: Dataset, others: Dataset | None = None) -> None:
    found = shapley_values(tree, data, background=others)
    values = found.values.reshape(data.n_rows, data.n_columns, -1)
    scale = max(1e-300, float(np.abs(found.predictions).max()), float(np.abs(found.base).max()))
    for row in range(data.n_rows):
        assert np.abs(values[row] - by_definition(tree, data, row, others)).max() <= 1e-13 * scale
    total = found.base + found.values.sum(axis=1)
    assert np.abs(total - found.predictions).max() <= 1e-13 * scale


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    table=st.sampled_from(["gini", "squared_error", "absolute_error"]).flatmap(
        lambda criterion: st.tuples(st.just(criterion), tables(criterion, max_rows=16))
    )
)
def test_small_trees_have_the_values_of_the_definition(table: tuple[str, Table]) -> None:
    criterion, made = table
    tree = made.grow(criterion, max_leaf_nodes=9)
    check(tree, made.dataset().take(np.arange(min(4, made.n_rows))))


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(table=tables("entropy", max_rows=14))
def test_a_background_has_the_values_of_the_definition(table: Table) -> None:
    tree, data = table.grow("entropy", max_leaf_nodes=8), table.dataset()
    check(tree, data.take([0, 1]), data.take(np.flatnonzero(data.row_weights)[:5]))


@pytest.mark.slow
def test_a_large_background_is_the_mean_of_its_parts() -> None:
    # Many leaves make the patterns of the background's rows long: they are asked for in several portions.
    random = np.random.default_rng(0)
    x, y = random.random((40_000, 3)), random.random(40_000)
    tree = grow(encode(x[:20_000], y[:20_000]))
    parts = [shapley_values(tree, x[:1], background=x[i : i + 8_000]).values for i in range(0, len(x), 8_000)]
    whole = shapley_values(tree, x[:1], background=x).values
    np.testing.assert_allclose(whole, np.mean(parts, axis=0), rtol=0, atol=1e-12)


def test_missing_values_and_new_categories() -> None:
    random = np.random.default_rng(1)
    n = 120
    table = {
        "x": np.where(random.random(n) < 0.2, np.nan, random.normal(size=n)),
        "c": random.choice(list("abcd"), n),
        "z": random.normal(size=n),
    }
    y = (np.nan_to_num(table["x"]) + (table["c"] == "b") + table["z"] > 0.3).astype(str)
    tree = grow(encode(table, y, weight=random.integers(1, 4, n)), max_leaf_nodes=12)
    rows = encode(
        {"x": [None, 0.5, 9.0], "c": ["a", "new", None], "z": [0.1, None, -2.0]}, schema=tree.schema
    )
    check(tree, rows)
    check(tree, rows, encode({key: value[:6] for key, value in table.items()}, schema=tree.schema))


# ---- many columns on one path: the polynomial in fractions -------------------------------------------------


def chain(n_columns: int, repeats: int = 1) -> Tree:
    """x0 <= 0, x1 <= 0, … one after the other, `repeats` times with growing thresholds."""
    node: Any = Leaf([3.0, 1.0, 0.0])
    for i in range(n_columns * repeats - 1, -1, -1):
        leaf = Leaf([1.0 + i % 3, float(i % 5 - 2), 0.0])
        node = Branch(Below(f"x{i % n_columns}", float(i // n_columns)), leaf, node)
    columns = tuple(Column(f"x{i}") for i in range(n_columns))
    return Tree.write(Schema(columns, (Target("y"),)), node)


def by_polynomials(tree: Tree, row: Any) -> Any:
    """The formula leaf by leaf: the integral of the product of z + (o − z) t, with hundreds of digits."""
    with localcontext() as context:
        context.prec = 250
        values = [Decimal(0)] * len(tree.schema.columns)
        for leaf in np.flatnonzero(tree.is_leaf).tolist():
            ways = ways_to(tree, leaf, row)
            product = [Decimal(1)]
            for z, slope in ways.values():
                product = [z * a + slope * b for a, b in zip([*product, 0], [0, *product], strict=True)]
            for i, (z, slope) in ways.items():
                without, last = [], Decimal(0)  # the product without the factor of i
                for c in product[:-1]:
                    last = (c - slope * last) / z
                    without.append(last)
                integral = sum(c / (k + 1) for k, c in enumerate(without))
                values[i] += Decimal(float(tree.value[leaf, 0])) * slope * integral
        return [float(value) for value in values]


def ways_to(tree: Tree, leaf: int, row: Any) -> dict[int, tuple[Decimal, Decimal]]:
    """For each column on the way to a leaf z and o − z."""
    ways: dict[int, tuple[Decimal, bool]] = {}
    node = leaf
    while node > 0:
        above = int(tree.parent[node])
        j = int(tree.feature[above])
        share = Decimal(float(tree.weight[node])) / Decimal(float(tree.weight[above]))
        z, o = ways.get(j, (Decimal(1), True))
        ways[j] = z * share, o and bool(row[j] <= tree.threshold[above]) == (node == above + 1)
        node = above
    return {j: (z, int(o) - z) for j, (z, o) in ways.items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_columns", "repeats"), [(1, 9), (2, 1), (7, 3), (16, 1), (17, 1), (30, 2), (94, 1)]
)
def test_long_paths_lose_no_digits(n_columns: int, repeats: int) -> None:
    """Up to one round of points, several rounds, and fewer points than half the columns."""
    tree = chain(n_columns, repeats)
    random = np.random.default_rng(n_columns)
    for share in (0.1, 0.9) if n_columns < 90 else (0.5,):
        row = np.where(random.random(n_columns) < share, random.integers(0, repeats + 1, n_columns), -1.0)
        found = shapley_values(tree, row[np.newaxis]).values[0]
        assert np.abs(found - by_polynomials(tree, row)).max() < 2e-15 * n_columns * repeats


@pytest.mark.parametrize("n_columns", [16, 17, 91, 150])
def test_columns_that_only_all_together_matter_share_alike(n_columns: int) -> None:
    """Of 64 rows one takes each turn to the leaf of another answer: about the steepest of integrands."""
    node: Any = Leaf([0.0, 1.0])
    for j in reversed(range(n_columns)):
        node = Branch(Below(f"x{j}", 0.0), Leaf([63.0 * 64.0 ** (n_columns - 1 - j), 0.0]), node)
    schema = Schema(tuple(Column(f"x{j}") for j in range(n_columns)), (Target("y", ("a", "b")),))
    found = shapley_values(Tree.write(schema, node), np.ones((1, n_columns))).values[0, :, 1]
    assert np.abs(found * n_columns - 1).max() < 1e-12


# ---- beside shap -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["two classes", "four classes", "numbers", "two numbers"])
def test_equal_to_shap(kind: str) -> None:
    shap = pytest.importorskip("shap")
    random = np.random.default_rng(0)
    x = random.normal(size=(700, 9))
    x[random.random(x.shape) < 0.03] = np.nan
    score = np.nan_to_num(x[:, 0]) + np.nan_to_num(x[:, 1] * x[:, 2]) + 0.3 * random.normal(size=len(x))
    y: Any = {
        "two classes": score > 0,
        "four classes": np.digitize(score, [-1.0, 0.0, 1.0]),
        "numbers": score,
        "two numbers": np.stack([score, np.nan_to_num(x[:, 4])], axis=1),
    }[kind]
    tree = grow(encode(x, y, weight=random.random(len(x)) + 0.1), max_leaf_nodes=80)
    explainer = shap.TreeExplainer(tree.to_shap(), feature_perturbation="tree_path_dependent")
    theirs = np.asarray(explainer.shap_values(x[:60], check_additivity=False))
    ours = shapley_values(tree, x[:60])
    assert ours.values.shape == theirs.shape
    assert np.abs(ours.values - theirs).max() < 1e-9
    assert np.abs(np.atleast_1d(ours.base) - np.atleast_1d(explainer.expected_value)).max() < 1e-9


# ---- shapes, threads, other doors --------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("n_columns", [1, 5, 400])
def test_deep_trees(n_columns: int) -> None:
    tree = chain(n_columns, 10_000 // n_columns)
    assert tree.depth == 10_000
    random = np.random.default_rng(0)
    rows = random.uniform(-1, 10_000 / n_columns + 1, size=(12, n_columns))
    for background in (None, rows[:3]):
        found = shapley_values(tree, rows, background=background)
        assert np.abs(found.base + found.values.sum(axis=1) - found.predictions).max() < 1e-11


@pytest.mark.threads
def test_any_number_of_threads_gives_the_same_bits() -> None:
    random = np.random.default_rng(0)
    x = np.round(random.normal(size=(3000, 6)), 1)
    tree = grow(encode(x, np.digitize(x[:, 0] + x[:, 1] * x[:, 2], [-0.5, 0.5])))
    one = shapley_values(tree, x).values
    other = shapley_values(tree, x[:400], background=x[:30]).values
    for n_jobs in (2, 3, 7):
        assert shapley_values(tree, x, n_jobs=n_jobs).values.tobytes() == one.tobytes()
        again = shapley_values(tree, x[:400], background=x[:30], n_jobs=n_jobs).values
        assert again.tobytes() == other.tobytes()
    assert shapley_values(tree, x[::-1]).values[::-1].tobytes() == one.tobytes()
    assert shapley_values(tree, x[5:6]).values.tobytes() == one[5:6].tobytes()


def test_far_from_zero() -> None:
    """A constant added to the target changes nothing but the base."""
    random = np.random.default_rng(0)
    x, y = random.normal(size=(200, 3)), np.round(random.normal(size=200), 3)
    near, far = (shapley_values(grow(encode(x, y + shift)), x) for shift in (0.0, 2.0**40))
    assert np.abs(near.values - far.values).max() < 1e-3
    assert np.abs(far.base + far.values.sum(axis=1) - far.predictions).max() < 1e-3


def test_shapes_and_doors() -> None:
    x = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    model = DecisionTreeClassifier().fit(x, ["a", "b", "c"])
    found = shapley_values(model, x)
    assert found.values.shape == (3, 2, 3)
    assert [output.label for output in found.outputs] == ["a", "b", "c"]
    assert np.abs(found.values.sum(axis=2)).max() < 1e-15
    assert found.importance().shape == (2, 3)
    both = grow(encode(x, [["a", "u"], ["b", "u"], ["b", "v"]]))
    assert shapley_values(both, x).values.shape == (3, 2, 4)
    single = grow(encode(x, ["a", "a", "a"]))
    assert not shapley_values(single, x).values.any()
    assert "predicts the same everywhere" in str(shapley_values(single, x))


def test_text_and_json() -> None:
    table = {"a\nb": [1.0, 1.0, 2.0, 2.0], "<i>": ["u", "v", "u", "v"]}
    tree = grow(encode(table, ["no", "no", "yes", "no"]))
    one = shapley_values(tree, {"a\nb": 2.0, "<i>": "w"})
    assert "a category never seen before" in str(one)
    assert str(shapley_values(tree, {"a\nb": 2.0, "<i>": "v"})).splitlines()[2].split()[:2] == ["<i>", "v"]
    assert one._repr_html_().count("text-align:right") == 3  # amounts alone: the head and two columns
    assert r"a\nb" in str(one)
    assert "<i>" not in one._repr_html_()
    told = json.loads(json.dumps(shapley_values(tree, table).to_dict()))
    assert told["columns"] == ["a\nb", "<i>"]
    assert np.shape(told["values"]) == (4, 2, 2)
    assert "4 rows" in str(shapley_values(tree, table))
    assert shapley_values(tree, table)._repr_html_().count("text-align:right") == 3


def test_what_is_refused() -> None:
    tree = grow(encode({"x": [1.0, 2.0]}, ["a", "b"]))
    with pytest.raises(TypeError, match="a tree or a fitted model"):
        shapley_values("oak", {"x": 1.0})
    with pytest.raises(ValueError, match="lacks the column 'x'"):
        shapley_values(tree, {"y": 1.0})
    nothing = Dataset(tree.schema, (np.array([1.0]),), weight=np.zeros(1))
    with pytest.raises(ValueError, match="no row with a positive weight"):
        shapley_values(tree, {"x": 1.0}, background=nothing)
