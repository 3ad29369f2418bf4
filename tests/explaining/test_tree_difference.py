"""Where two trees disagree: every row in its region, no other row, shares and losses by counting."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from treewright import (
    Among,
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
)
from treewright.encoding import Dataset
from treewright.explaining.tree_difference import TreeDifference, tree_difference


def data_of(seed: int, n: int = 300, numbers: bool = False, letters: str = "pqr") -> Dataset:
    random = np.random.default_rng(seed)
    table = {
        "x": np.where(random.random(n) < 0.1, np.nan, np.round(random.normal(size=n), 1)),
        "z": np.round(random.normal(size=n), 1),
        "c": np.where(random.random(n) < 0.1, None, random.choice(np.array(list(letters), object), n)),
    }
    score = np.nan_to_num(table["x"]) + table["z"] ** 2 + (table["c"] == "q") + random.normal(size=n) / 2
    target: Any = (
        np.round(score) if numbers else np.array(["low", "mid", "high"])[np.digitize(score, [0.5, 1.5])]
    )
    return encode(table, target, weight=random.integers(0, 4, n), classes=not numbers)


def within(data: Dataset, conditions: Any) -> Any:
    fits = np.ones(data.n_rows, bool)
    for condition in conditions:
        j = data.schema.position(condition.column)
        fits &= condition.holds(data.column(j), data.schema.columns[j].categories)
    return fits


def check(found: TreeDifference, a: Tree, b: Tree, data: Dataset, tolerance: float = 0.0) -> None:
    """Each row that is answered differently is in one region, and all rows of a region are."""
    one, two = (
        tree.label[tree.apply(data), 0] if tree.schema.predicts_classes else tree.value[tree.apply(data), 0]
        for tree in (a, b)
    )
    differ = np.abs(one - two) > tolerance
    weight, total = data.row_weights, data.total_weight
    covered = np.zeros(data.n_rows, int)
    for region in found.regions:
        inside = within(data, region.conditions)
        assert differ[inside].all()
        if a.schema.predicts_classes:
            classes = a.schema.targets[0].classes
            assert {classes[code] for code in one[inside].tolist()} <= {region.answer_a}
            assert {classes[code] for code in two[inside].tolist()} <= {region.answer_b}
        covered += inside
        assert region.rows == (inside & (weight > 0)).sum()
        assert region.share == pytest.approx(weight[inside].sum() / total)
    assert (covered <= 1).all()
    assert (covered[weight > 0] == differ[weight > 0]).all()
    assert found.share == pytest.approx(weight[differ].sum() / total)
    shares = [region.share for region in found.regions]
    assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize("numbers", [False, True], ids=["classes", "numbers"])
@pytest.mark.parametrize("seed", range(4))
def test_retrained_trees(seed: int, numbers: bool) -> None:
    data, other = data_of(seed, numbers=numbers), data_of(seed + 10, numbers=numbers)
    a = grow(data, max_leaf_nodes=15)
    b = grow(Dataset(data.schema, other.columns, other.targets, other.weight), max_leaf_nodes=12)
    check(tree_difference(a, b, data), a, b, data)
    check(tree_difference(b, a, data), b, a, data)
    # The regions hold for rows that nobody counted, too.
    fresh = data_of(seed + 20, n=2000, numbers=numbers)
    fresh = Dataset(data.schema, fresh.columns, fresh.targets, fresh.weight)
    answers = [
        tree.label[tree.apply(fresh), 0] if not numbers else tree.value[tree.apply(fresh), 0]
        for tree in (a, b)
    ]
    for region in tree_difference(a, b, data).regions:
        inside = within(fresh, region.conditions)
        assert (answers[0][inside] != answers[1][inside]).all()


def test_losses_are_those_of_the_rows() -> None:
    data = data_of(1)
    a, b = grow(data, max_leaf_nodes=20), grow(data, max_leaf_nodes=4)
    found = tree_difference(a, b, data)
    assert found.loss_a == pytest.approx(a.mean(a.loss_of(data)[a.is_leaf].sum(), data))
    assert found.loss_b == pytest.approx(b.mean(b.loss_of(data)[b.is_leaf].sum(), data))
    gained = sum((region.loss_b - region.loss_a) * region.share for region in found.regions)
    assert gained == pytest.approx(found.loss_b - found.loss_a)
    blind = Dataset(data.schema, data.columns)
    assert tree_difference(a, b, blind).loss_a is None
    costs = {"low": {"high": 5.0}}
    dear = tree_difference(a.with_costs(costs), b.with_costs(costs), data)
    assert dear.loss == "cost"


def test_prunings_need_no_data() -> None:
    data = data_of(2)
    tree = grow(data)
    for small in (tree.first(0), tree.first(5), tree.collapse([tree.right[0], tree.left[1]])):
        by_rows, by_tree = tree_difference(tree, small, data), tree_difference(tree, small)
        assert [region.words for region in by_tree.regions] == [region.words for region in by_rows.regions]
        assert by_tree.share == pytest.approx(by_rows.share)
        assert by_tree.loss_b == pytest.approx(by_rows.loss_b)
        check(by_tree, tree, small, data)
        check(tree_difference(small, tree), small, tree, data)
    assert not tree_difference(tree, tree).regions
    assert "the same answer" in str(tree_difference(tree, tree))
    with pytest.raises(ValueError, match="neither tree is a pruning"):
        tree_difference(tree, grow(data_of(3)))


def test_what_lies_together_is_told_together() -> None:
    schema = Schema((Column("x"), Column("z")), (Target("y", ("a", "b")),))
    split = Branch(Below("z", 0.0), Leaf([2, 1]), Branch(Below("z", 5.0), Leaf([5, 1]), Leaf([3, 2])))
    a = Tree.write(schema, Branch(Below("x", 1.0), Leaf([0, 9]), split))
    b = Tree.write(
        schema, Branch(Below("x", 1.0), Leaf([0, 5]), Branch(Below("x", 2.0), Leaf([0, 4]), Leaf([1, 8])))
    )
    rows = {"x": [0.0, 1.5, 1.5, 1.5, 3.0, 3.0, 3.0], "z": [0.0, -1.0, 1.0, 9.0, -1.0, 1.0, 9.0]}
    found = tree_difference(a, b, rows)
    assert [(region.words, region.rows) for region in found.regions] == [("x > 1", 6)]
    fewer = {name: values[:6] for name, values in rows.items()}  # nobody is at x > 2, z > 5
    assert len(tree_difference(a, b, fewer).regions) == 2


def test_all_categories_together_are_no_condition() -> None:
    schema = Schema((Column("c", "category", ("p", "q", "r")), Column("x")), (Target("y", ("no", "yes")),))
    half = Branch(Below("x", 1.0), Leaf([3, 0]), Leaf([0, 2]))
    a = Tree.write(schema, Branch(Among("c", ["p"]), half, half))
    b = Tree.write(schema, Leaf([6, 4]))
    assert [region.words for region in tree_difference(a, b).regions] == ["x > 1"]
    below = Branch(Among("c", ["p"]), Leaf([0, 1]), Leaf([0, 1]))
    a = Tree.write(schema, Branch(Below("x", 1.0), Leaf([3, 0]), below))
    assert [region.words for region in tree_difference(a, b, {"c": ["p", "q"], "x": [2, 2]}).regions] == [
        "x > 1"
    ]
    part = Tree.write(schema, Branch(Among("c", ["p"]), half, Leaf([6, 0])))
    (region,) = tree_difference(part, b).regions
    assert region.words == "c = p, x > 1"


def test_classes_of_another_kind_are_other_answers() -> None:
    split = Branch(Below("x", 1.5), Leaf([1, 0]), Leaf([0, 1]))
    labels: tuple[Any, ...] = (("a", "b"), (0.5, 1.5))
    texts, numbers = (Tree.write(Schema((Column("x"),), (Target("y", each),)), split) for each in labels)
    for one, two in ((texts, numbers), (numbers, texts)):
        assert tree_difference(one, two, {"x": [1.0, 2.0]}).share == 1.0


def test_categories_that_only_one_tree_knows() -> None:
    old, new = data_of(4, letters="pq"), data_of(5, letters="qrs")
    a, b = grow(old, max_leaf_nodes=12), grow(new, max_leaf_nodes=12)
    table = {"x": [0.1, 1.0, None] * 20, "z": [0.5, -1.0] * 30, "c": [*"pqrst", None] * 10}
    found = tree_difference(a, b, table)
    parts = encode(table, schema=a.schema), encode(table, schema=b.schema)
    one, two = a.predict(table), b.predict(table)
    assert found.share == pytest.approx((one != two).mean())
    union = encode(table)  # all categories by name
    covered = np.zeros(60, int)
    for region in found.regions:
        inside = np.ones(60, bool)
        for condition in region.conditions:
            j = union.schema.position(condition.column)
            seen = {*parts[0].schema.columns[2].categories, *parts[1].schema.columns[2].categories}
            column = union.schema.columns[j]
            codes = union.column(j)
            if column.kind == "category":  # what neither tree knows is new to both
                codes = np.array([-2 if c >= 0 and column.categories[c] not in seen else c for c in codes])
            inside &= condition.holds(codes, column.categories)
        assert (one[inside] == region.answer_a).all()
        assert (two[inside] == region.answer_b).all()
        covered += inside
    assert (covered == (one != two)).all()


def test_tolerance_of_numbers() -> None:
    data = data_of(6, numbers=True)
    a, b = grow(data, max_leaf_nodes=10), grow(data, max_leaf_nodes=5)
    close = tree_difference(a, b, data, tolerance=0.5)
    assert close.share < tree_difference(a, b, data).share
    check(close, a, b, data, tolerance=0.5)
    with pytest.raises(ValueError, match="tolerance"):
        tree_difference(a, b, data, tolerance=-1)


def test_deep_trees() -> None:
    def chain(turn: int) -> Tree:
        node: Any = Leaf([1, 2])
        for i in range(9_999, -1, -1):
            node = Branch(Below("x", float(i)), Leaf([1, 2] if i % turn else [2, 1]), node)
        return Tree.write(Schema((Column("x"),), (Target("y", ("a", "b")),)), node)

    rows = {"x": np.arange(10_000.0)}
    found = tree_difference(chain(2), chain(4), rows)
    assert found.share == 0.25
    assert len(found.regions) == 2500


def test_text_json_and_estimators() -> None:
    x, y = [[float(i)] for i in range(8)], list("aabbaabb")
    small, large = (DecisionTreeClassifier(max_depth=d).fit(x, y) for d in (1, 3))
    found = tree_difference(small, large, (x, y), names=("<small>", "large"))
    assert "error of <small>" in str(found)
    assert "<small>" not in found._repr_html_()
    told = json.loads(json.dumps(found.to_dict()))
    assert told["names"] == ["<small>", "large"]
    assert told["regions"][0]["conditions"]


def test_what_is_refused() -> None:
    tree = grow(encode({"x": [1.0, 2.0]}, ["a", "b"]))
    with pytest.raises(ValueError, match="classes and the other numbers"):
        tree_difference(tree, grow(encode({"x": [1.0, 2.0]}, [0.0, 1.0])))
    with pytest.raises(ValueError, match="'x' is a number in one tree and a category"):
        tree_difference(tree, grow(encode({"x": ["u", "v"]}, ["a", "b"])))
    with pytest.raises(ValueError, match="trees of one target"):
        tree_difference(tree, grow(encode({"x": [1.0, 2.0]}, [["a", "u"], ["b", "v"]])))
    with pytest.raises(TypeError, match="a tree or a fitted model"):
        tree_difference(tree, "oak")
    with pytest.raises(ValueError, match="tolerance is 'a'; it must be a number of at least 0"):
        tree_difference(tree, tree, tolerance="a")  # type: ignore[arg-type]
    for names in ("ab", ("a",)):
        with pytest.raises(ValueError, match="it must be two names"):
            tree_difference(tree, tree, names=names)  # type: ignore[arg-type]


def test_conditions_are_in_the_order_of_the_columns() -> None:
    rng = np.random.default_rng(0)
    table = {"b": rng.normal(size=300), "c": rng.normal(size=300), "a": rng.normal(size=300)}
    data = encode(table, np.where(table["a"] + table["b"] * table["c"] > 0, "yes", "no"))
    tree = grow(data)
    orders = {
        tuple(each.column for each in region.conditions)
        for region in tree_difference(tree, tree.first(3)).regions
    }
    assert ("b", "c", "a") in orders
    assert all(sorted(order, key=list(table).index) == list(order) for order in orders)
