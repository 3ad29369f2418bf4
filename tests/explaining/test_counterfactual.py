"""The smallest change of an answer: against all rows that could matter, within every kind of limit."""

from __future__ import annotations

import json
import math
from itertools import product
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
    explain,
    grow,
)
from treewright.explaining.counterfactual import Counterfactual, counterfactual

CATEGORIES = ("p", "q", "r")


def a_tree(seed: int, numbers: bool = False, n: int = 60) -> tuple[Tree, dict[str, Any]]:
    """A tree of two numbers and a category, some of them missing."""
    random = np.random.default_rng(seed)
    table = {
        "x": np.where(random.random(n) < 0.15, np.nan, random.integers(0, 9, n)),
        "z": np.round(random.normal(size=n), 1),
        "c": np.where(random.random(n) < 0.1, None, random.choice(np.array(CATEGORIES, object), n)),
    }
    score = (
        np.nan_to_num(table["x"], nan=4.0) / 4 + table["z"] + (table["c"] == "q") + random.normal(size=n) / 2
    )
    target = (
        np.round(score, 2) if numbers else np.array(["low", "mid", "high"])[np.digitize(score, [1.0, 2.0])]
    )
    # "plain": so few rows do not show that three categories are more than chance, and they are to be tested
    return grow(encode(table, target), max_leaf_nodes=9, category_gain="plain"), table


def row_of(table: dict[str, Any], i: int) -> dict[str, Any]:
    return {
        name: None if values[i] is None or values[i] != values[i] else values[i]
        for name, values in table.items()
    }


def candidates(tree: Tree, row: dict[str, Any], limits: dict[str, Any]) -> Any:
    """For each column the values that can matter: the present one, thresholds, the next above, range ends."""
    for j, column in enumerate(tree.schema.columns):
        name, present = column.name, row[column.name]
        if name in limits.get("frozen", ()):
            yield [present]
            continue
        low, high = limits.get("ranges", {}).get(name, (-math.inf, math.inf)) if name != "c" else (None, None)
        if column.kind == "category":
            values: list[Any] = list(limits.get("ranges", {}).get(name, CATEGORIES))
        else:
            cuts = tree.threshold[(tree.feature == j) & np.isfinite(tree.threshold)].tolist()
            values = [
                v for t in cuts for v in (t, math.nextafter(t, math.inf), math.floor(t), math.floor(t) + 1.0)
            ]
            values += [0.0, low, high]
            direction = limits.get("directions", {}).get(name)
            values = [v for v in values if math.isfinite(v) and low <= v <= high]
            if direction and present is not None:
                values = [v for v in values if (v >= present if direction == "increase" else v <= present)]
            if name in limits.get("whole", ()):
                values = [v for v in values if v == math.floor(v)]
        yield [present, *values, *([None] if limits.get("allow_missing") else [])]


def least(tree: Tree, row: dict[str, Any], wanted: Any, **limits: Any) -> tuple[float, float]:
    """The smallest (distance, columns) or (columns, distance) over the product of the candidates."""
    names = list(row)
    rows = list(product(*candidates(tree, row, limits)))
    answers = tree.predict({name: [r[j] for r in rows] for j, name in enumerate(names)})
    costs = limits.get("costs", {})
    scales = limits.get("scales", {})
    best = (math.inf, math.inf)
    for changed, answer in zip(rows, answers.tolist(), strict=True):
        if not wanted(answer):
            continue
        distance = count = 0.0
        for name, value in zip(names, changed, strict=True):
            old, cost = row[name], costs.get(name, 1.0)
            if value == old:
                continue
            far = isinstance(value, float | int) and isinstance(old, float | int)
            distance += cost * abs(value - old) / scales.get(name, 1.0) if far else cost
            count += cost
        size = (count, distance) if limits.get("norm") == "columns" else (distance, count)
        best = min(best, size)
    return best


LIMITS: list[dict[str, Any]] = [
    {},
    {"norm": "columns"},
    {"frozen": ["x"]},
    {"frozen": ["z", "c"]},
    {"costs": {"z": 5.0, "c": 0.1}},
    {"ranges": {"x": (2.0, 6.0), "c": ["p", "r"]}},
    {"directions": {"x": "increase", "z": "decrease"}},
    {"whole": ["x", "z"]},
    {"scales": {"x": 4.0, "z": 0.5}},
    {"allow_missing": True, "costs": {"x": 0.7}},
]


@pytest.mark.slow
@pytest.mark.parametrize("limits", LIMITS, ids=lambda limits: ", ".join(limits) or "free")
@pytest.mark.parametrize("numbers", [False, True], ids=["classes", "numbers"])
def test_nothing_is_nearer(limits: dict[str, Any], numbers: bool) -> None:
    for seed in range(3):
        tree, table = a_tree(seed, numbers)
        for i in range(8):
            row = row_of(table, i)
            old = tree.predict({name: [value] for name, value in row.items()})[0]
            found = counterfactual(tree, row, readable=False, **limits)
            wanted = least(tree, row, lambda answer, old=old: answer != old, **limits)
            if not found.possible:
                assert wanted[0] == math.inf
                continue
            price = sum(limits.get("costs", {}).get(change.column, 1.0) for change in found.changes)
            size = (price, found.distance) if limits.get("norm") == "columns" else (found.distance, price)
            assert size == pytest.approx(wanted)
            check_answer(tree, found)


def check_answer(tree: Tree, found: Counterfactual) -> None:
    again = tree.predict({name: [value] for name, value in found.row.items()})[0]
    assert again == found.new_prediction != found.prediction


def test_the_changed_row_has_the_columns_that_came_tested_or_not() -> None:
    tree = grow(encode({"x": [1, 2, 3, 4], "z": [0, 0, 0, None], "c": ["p"] * 4}, list("aabb")))
    assert set(tree.feature.tolist()) == {0, -1}
    assert counterfactual(tree, {"x": 1, "z": None, "c": None}).row == {"x": 2.51, "z": None, "c": None}
    assert counterfactual(tree, {"x": 1, "c": "new"}).row == {"x": 2.51, "c": "new"}
    assert counterfactual(tree, [1, None, "p"]).row == {"x": 2.51, "z": None, "c": "p"}


def test_a_class_or_an_interval_that_is_wanted() -> None:
    tree, table = a_tree(1)
    for i in range(10):
        row = row_of(table, i)
        found = counterfactual(tree, row, to="high")
        assert found.new_prediction == "high"
        exact = counterfactual(tree, row, to="high", readable=False)
        assert exact.distance == pytest.approx(least(tree, row, lambda answer: answer == "high")[0])
        assert exact.distance <= found.distance <= exact.distance + 0.01 * len(found.changes) + 1e-9
    tree, table = a_tree(2, numbers=True)
    found = counterfactual(tree, row_of(table, 3), to=(2.0, None))
    assert found.new_prediction >= 2.0
    with pytest.raises(ValueError, match="must be \\(low, high\\)"):
        counterfactual(tree, row_of(table, 3), to=2.0)


def test_strict_thresholds_and_readable_steps() -> None:
    schema = Schema((Column("x"), Column("t", "time")), (Target("y", ("a", "b")),))
    tree = Tree.write(schema, Branch(Below("x", 0.1), Leaf([1, 0]), Leaf([0, 1])))
    assert counterfactual(tree, {"x": 0.0}, readable=False).row["x"] == math.nextafter(0.1, 1.0)
    assert counterfactual(tree, {"x": 0.0}).row == {"x": 0.11}  # t is neither given nor tested
    assert counterfactual(tree, {"x": 5.0}).row["x"] == 0.1
    assert counterfactual(tree, {"x": 0.0}, whole=["x"]).row["x"] == 1.0
    assert counterfactual(tree, {"x": 0.0}, ranges={"x": (None, 0.101)}).row["x"] <= 0.101
    assert counterfactual(tree, {"x": 0.0}, ranges={"x": (None, 0.11)}).row["x"] == 0.11  # the end is allowed
    day = 86_400e6
    tree = Tree.write(schema, Branch(Below("t", 10 * day), Leaf([1, 0]), Leaf([0, 1])))
    told = counterfactual(tree, {"t": np.datetime64("1970-01-03")}, scales={"t": 200 * day})
    assert told.changes[0].words == "t moves from 1970-01-03 to 1970-01-12"
    assert told.new_prediction == "b"
    late = counterfactual(
        tree, {"t": np.datetime64("1970-01-03")}, ranges={"t": ("1970-02-01", None)}, to="b"
    )
    assert late.row["t"] == "1970-02-01"
    early = counterfactual(tree, {"t": np.datetime64("1970-01-03")}, ranges={"t": (None, 9 * day)})
    assert "t, which must stay between" in str(early)


def test_scales_of_the_data() -> None:
    tree = grow(encode({"x": [0, 100, 0, 100], "z": [0, 0, 1, 1]}, ["a", "a", "a", "b"]))
    data = encode({"x": [0, 100, 0, 100], "z": [0, 0, 1, 1]}, schema=tree.schema)
    assert counterfactual(tree, {"x": 0, "z": 0}, data=data).distance == pytest.approx(1.0, abs=0.03)
    assert "interquartile" in counterfactual(tree, {"x": 0, "z": 0}, data=data).measure
    rare = encode({"x": [0] * 9 + [10], "z": [1] * 10}, schema=tree.schema)  # one scale is 3, the other 1
    far = counterfactual(tree, {"x": 0, "z": 1}, data=rare, readable=False)
    assert far.distance == pytest.approx(50 / 3)
    assert counterfactual(tree, {"x": 100, "z": 0}, data=rare, readable=False).distance == pytest.approx(0.5)


def test_categories_by_cost() -> None:
    schema = Schema((Column("c", "category", ("p", "q", "r")),), (Target("y", ("a", "b")),))
    tree = Tree.write(schema, Branch(Among("c", ["p"]), Leaf([1, 0]), Leaf([0, 1])))
    assert counterfactual(tree, {"c": "p"}).row == {"c": "q"}
    assert counterfactual(tree, {"c": "p"}, costs={"c": {"q": 3.0, "r": 2.0}}).row == {"c": "r"}
    assert counterfactual(tree, {"c": "p"}, data=encode({"c": list("prrq")}, schema=schema)).row == {"c": "r"}
    assert str(counterfactual(tree, {"c": "p"}, ranges={"c": ["p"]})).endswith(
        "of c, which may only be in {p}."
    )
    assert (
        counterfactual(tree, {"c": "new"}, to="b").changes[0].words
        == "c changes from new, never seen before to q"
    )


def test_a_category_never_seen_keeps_its_word() -> None:
    schema = Schema((Column("c", "category", ("p", "q")), Column("x")), (Target("y", ("a", "b")),))
    inner = Branch(Below("x", 1.0), Leaf([3, 0]), Leaf([0, 5]))
    tree = Tree.write(schema, Branch(Among("c", ["p"]), Leaf([1, 0]), inner))
    assert counterfactual(tree, {"c": "new", "x": 0.0}, readable=False).row["c"] == "new"
    encoded = encode({"c": ["new"], "x": [0.0]}, schema=schema)  # which does not hold the word
    assert counterfactual(tree, encoded).row["c"] is None
    assert "c is a category never seen before" in str(explain(tree, encoded))


def test_an_interval_in_words() -> None:
    tree = grow(encode({"x": [1.0, 2.0, 3.0]}, [1.0, 2.0, 3.0], classes=False))
    row = {"x": 1.0}
    assert counterfactual(tree, row, to=(7, None)).reason == "no leaf of the tree predicts 7 or more"
    assert counterfactual(tree, row, to=(None, 0.5)).reason == "no leaf of the tree predicts 0.5 or less"
    told = counterfactual(tree, row, to=(2.5, 4), frozen=["x"]).reason
    assert told == "the only leaf that predicts between 2.5 and 4 needs a change of x, which is frozen"
    assert counterfactual(tree, row, to=(None, None)).changes == ()


def test_no_way() -> None:
    schema = Schema((Column("x"), Column("z")), (Target("y", ("a", "b", "c")),))
    never = Branch(Below("x", 0.5), Leaf([0, 0, 1]), Leaf([0, 1, 0]))  # below x > 1
    below = Branch(Below("z", 2.0), Leaf([0, 1, 0]), never)
    tree = Tree.write(schema, Branch(Below("x", 1.0), Leaf([1, 0, 0]), below, missing_left=True))
    row = {"x": 0.0, "z": 0.0}
    assert counterfactual(tree, row, to="c").reason == "no row can reach the leaves that predict c"
    told = counterfactual(tree, row, directions={"x": "decrease"})
    assert (
        told.reason
        == "each of the 2 leaves that predict another value needs a change of x, which may only decrease"
    )
    assert "must stay between -inf and 1" in str(counterfactual(tree, row, ranges={"x": (None, 1.0)}))
    assert not told.possible
    assert told.to_dict()["distance"] is None
    alone = grow(encode({"x": [1.0, 2.0]}, ["a", "a"]))
    assert "no leaf of the tree predicts another value" in str(counterfactual(alone, {"x": 1.0}))
    assert "already" in str(counterfactual(tree, row, to="a"))


def test_missing_values() -> None:
    schema = Schema((Column("x"),), (Target("y", ("a", "b")),))
    tree = Tree.write(schema, Branch(Below("x", math.inf), Leaf([1, 0]), Leaf([0, 1]), missing_left=False))
    assert counterfactual(tree, {"x": None}).row == {"x": 0.0}
    assert "would have to be missing" in str(counterfactual(tree, {"x": 1.0}))
    told = counterfactual(tree, {"x": 1.0}, allow_missing=True)
    assert told.row == {"x": None}
    assert told.changes[0].words == "x changes from 1 to missing"


@pytest.mark.slow
def test_deep_and_wide() -> None:
    n = 20_000
    node: Any = Leaf([0, 1])
    for i in range(n - 1, -1, -1):
        node = Branch(Below("x", float(i)), Leaf([1, 0]), node)
    tree = Tree.write(Schema((Column("x"),), (Target("y", ("a", "b")),)), node)
    assert counterfactual(tree, {"x": -5.0}, readable=False).row["x"] == math.nextafter(n - 1.0, math.inf)


def test_text_and_json() -> None:
    tree = grow(encode({"<b>\n": [1.0, 2.0]}, ["a,b", "<c>"]))
    found = counterfactual(tree, {"<b>\n": 1.0})
    assert r"<b>\n rises from 1 to 1." in str(found)
    assert "<c>" in str(found)
    assert "<b>" not in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict()))["new_prediction"] == "<c>"
    model = DecisionTreeClassifier().fit([[1.0], [2.0]], [0, 1])
    assert counterfactual(model, [1.0]).new_prediction == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"to": "huge"}, "to is 'huge'; the classes are"),
        ({"frozen": ["y"]}, "frozen names 'y', which is no column"),
        ({"frozen": "x"}, "collections of names"),
        ({"costs": {"x": 0}}, "costs\\['x'\\] is 0; it must be a positive number"),
        ({"costs": {"x": {"p": 1}}}, "that is for categories"),
        ({"ranges": {"x": (3, 1)}}, "low must not be above high"),
        ({"ranges": {"c": ["s"]}}, "names 's'; the categories of 'c' are"),
        ({"directions": {"x": "up"}}, "a number may 'increase' or 'decrease'"),
        ({"scales": {"x": -1}}, "must be a positive number"),
        ({"norm": "l2"}, "norm is 'l2'"),
        ({"to": np.array([1, 2])}, "the classes are"),
        ({"costs": [1, 2]}, "costs is \\[1, 2\\]; it must be a dict by the names of columns"),
        ({"costs": {"x": "much"}}, "costs\\['x'\\] is 'much'; it must be a positive number"),
        ({"directions": "increase"}, "directions is 'increase'; it must be a dict"),
        ({"ranges": {"x": ("low", "high")}}, "ranges\\['x'\\] is .*; it must be \\(low, high\\)"),
        ({"data": encode({"u": [1.0]})}, "the columns of data are not the tree's"),
    ],
)
def test_what_is_refused(options: dict[str, Any], message: str) -> None:
    tree, table = a_tree(0)
    with pytest.raises(ValueError, match=message):
        counterfactual(tree, row_of(table, 0), **options)
    both = grow(encode({"x": [1.0, 2.0]}, [["a", "u"], ["b", "v"]]))
    with pytest.raises(ValueError, match="for one target"):
        counterfactual(both, {"x": 1.0})
