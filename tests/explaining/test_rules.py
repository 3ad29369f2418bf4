"""Rules of any tree: numbers, one of several targets, fewer rules of the same answers."""

from __future__ import annotations

import json
import pickle
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import limits, tables
from tests.tree.test_rule_list import anywhere
from treewright import (
    Below,
    Branch,
    Column,
    DecisionTreeRegressor,
    Leaf,
    Schema,
    Target,
    Tree,
    encode,
    export,
    grow,
    rules,
)
from treewright.encoding import Dataset
from treewright.tree.conditions import Between, Within


def table_of(data: Dataset) -> Any:
    """A Dataset as a table, for `predict`."""
    names = {}
    for column, values in zip(data.schema.columns, data.columns, strict=True):
        if column.kind == "category":
            known = [*column.categories, 77, None]  # unseen and missing are the last ones
            names[column.name] = np.array([known[code] for code in values], object)
        elif column.kind == "time":
            finite = np.where(np.isfinite(values), values, 0).astype("datetime64[us]")
            names[column.name] = np.where(np.isfinite(values), finite, np.datetime64("NaT"))
        else:
            names[column.name] = values
    return names


@settings(max_examples=80, deadline=None)
@given(st.data(), st.sampled_from(["squared_error", "absolute_error", "poisson", "gini"]))
def test_they_answer_as_the_tree(data: Any, criterion: str) -> None:
    table = data.draw(tables(criterion))
    tree = table.grow(criterion, **data.draw(limits()))
    others = table_of(anywhere(data.draw, table))
    answers = np.reshape(tree.predict(others), (-1, len(tree.schema.targets)))
    for i, target in enumerate(tree.schema.targets):
        for merge in (False, True):
            found = rules(tree, target=target.name, merge=merge)
            assert found.predict(others).tolist() == answers[:, i].tolist()
            assert sum(rule.rows for rule in found) <= tree.rows[0]
            for rule in found:
                columns = [condition.column for condition in rule.conditions]
                assert len(columns) == len(set(columns))
            json.dumps(found.to_dict(), allow_nan=False)
            assert str(found)


def test_merged_leaves_are_as_few_as_can_be_under_one_test() -> None:
    schema = Schema((Column("x"),), (Target("y", ("a", "b")),))
    same = Branch(Below("x", 1.0), Leaf([3, 1]), Leaf([5, 0]))
    tree = Tree.write(schema, Branch(Below("x", 2.0), same, Leaf([0, 4])))
    assert len(rules(tree)) == 3
    merged = rules(tree, merge=True)
    assert [(rule.label, rule.rows) for rule in merged] == [("a", 9), ("b", 4)]
    assert merged[0].weights == (("a", 8.0), ("b", 1.0))
    alone = Tree.write(schema, Branch(Below("x", 2.0), Leaf([3, 1]), Leaf([2, 1])))
    assert [rule.conditions for rule in rules(alone, merge=True)] == [()]


def test_costs_answer() -> None:
    tree = grow(encode({"x": [1, 1, 1, 1, 2]}, ["well", "well", "well", "ill", "ill"]))
    dear = tree.with_costs({"ill": {"well": 10}})
    assert [rule.label for rule in rules(dear)] == ["ill", "ill"]
    assert len(rules(dear, merge=True)) == 1


def test_numbers_keep_their_weight_and_loss() -> None:
    data = encode({"x": [1.0, 2.0, 3.0, 4.0]}, [1.0, 3.0, 10.0, 10.0], weight=[1, 3, 1, 1])
    found = rules(grow(data, max_leaf_nodes=2))
    assert [rule.label for rule in found] == [2.5, 10.0]
    assert [rule.weight for rule in found] == [4.0, 2.0]
    assert found[0].errors == pytest.approx(3.0)  # 1 · 1.5² + 3 · 0.5²
    assert found[0].error == pytest.approx(0.75)
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert again.predict({"x": [1.5]}).tolist() == [2.5]
    with pytest.raises(ValueError, match="rules are for classes"):
        found.predict_proba({"x": [1.5]})


def test_models_and_targets() -> None:
    x = np.arange(8.0)[:, np.newaxis]
    model = DecisionTreeRegressor(max_depth=1).fit(x, x[:, 0])
    assert [rule.label for rule in rules(model)] == [1.5, 5.5]
    two = grow(encode({"x": [1.0, 2.0, 3.0]}, {"a": ["u", "v", "v"], "b": ["s", "s", "t"]}))
    with pytest.raises(ValueError, match=r"this tree has 2: 'a', 'b'\. Name one of them"):
        rules(two)
    with pytest.raises(ValueError, match="there is no target 'c'; the tree predicts 'a', 'b'"):
        rules(two, target="c")
    assert [rule.label for rule in rules(two, target="b")] == ["s", "s", "t"]


def test_one_of_two_targets_of_very_many_classes() -> None:
    n = 900
    y = {"a": np.arange(n) % 300, "b": np.arange(n) // 3 % 280}
    tree = grow(encode({"x": np.arange(n) // 2.0, "z": np.arange(n) % 7.0}, y), max_leaf_nodes=30)
    table = {"x": np.arange(0, n, 7) / 2, "z": np.zeros(129)}
    for i, name in enumerate("ab"):
        found = rules(tree, target=name)
        assert found.predict(table).tolist() == tree.predict(table)[:, i].tolist()
        np.testing.assert_allclose(found.predict_proba(table), tree.predict_proba(table)[i])


def test_exported_text() -> None:
    tree = grow(encode({"x": [1, 2, 3, 4, 5]}, [10.0, 10.0, 20.0, 20.0, 50.25]))
    assert export(tree, "rules") == str(rules(tree))
    assert "2.  2.5 < x <= 4.5   20      2 rows" in str(rules(tree))


def test_conditions_as_plain_values() -> None:
    assert Between("x", inf, None, missing=True).to_dict() == {
        "column": "x",
        "above": None,
        "upto": None,
        "known": False,
        "missing": True,
    }
    assert Between("x", -inf, 2.0).to_dict()["above"] == "-inf"
    assert Within("c", (True, 3), unseen=True).to_dict() == {
        "column": "c",
        "categories": [True, 3],
        "missing": False,
        "unseen": True,
    }
    known = encode({"x": [1.0, 2.0, nan, nan]}, ["a", "a", "b", "b"])
    first, second = rules(grow(known)).to_dict()["rules"]
    assert first["conditions"][0]["known"]
    assert not second["conditions"][0]["known"]
