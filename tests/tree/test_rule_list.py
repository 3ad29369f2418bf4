"""Rules as a value: plain paths answer as the tree does; conditions, text, equality, copies."""

from __future__ import annotations

import copy
import pickle
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import Table, limits, tables
from tests.tree.test_deep_trees import PROBES, chain, schema_of
from treewright import Among, Below, Branch, Column, Leaf, RuleList, Schema, Target, Tree, encode, grow
from treewright.encoding import Dataset
from treewright.tree.conditions import Between, Within, merge_conditions
from treewright.tree.rule_list import Rule

CODES = [-2, -1, *range(8)]  # unseen, missing, and the categories of the strategies
NUMBERS = [nan, inf, -inf, 0.0, -0.0, 1.0, 0.15, 2.5, 1e8, -3.0]


def anywhere(draw: Any, table: Table) -> Dataset:
    """Rows of the table's own values and others: missing, infinite, unseen."""
    n = draw(st.integers(1, 30))
    columns = []
    for x, kind in zip(table.columns, table.kinds, strict=True):
        pool = CODES if kind == "category" else [*NUMBERS, *x.tolist()]
        drawn = draw(st.lists(st.sampled_from(pool), min_size=n, max_size=n))
        columns.append(np.array(drawn, np.int32 if kind == "category" else np.float64))
    return Dataset(table.schema(), tuple(columns))


def answers(tree: Tree, data: Dataset) -> list[int]:
    return [int(code) for code in tree.label[tree.apply(data), 0]]


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_plain_paths_answer_as_the_tree(data: Any) -> None:
    table = data.draw(tables("gini", outputs=1))
    tree = table.grow("gini", **data.draw(limits()))
    rules = RuleList.of(tree)
    rows = anywhere(data.draw, table)
    places = rules.apply(rows)
    assert (places < len(rules)).all(), "some rule fits every row"
    labels = [rules[place].label for place in places]
    assert labels == answers(tree, rows)
    np.testing.assert_allclose(rules.shares(places), tree.shares(tree.apply(rows))[0])
    for rule in rules:  # merged: one condition for each column
        names = [condition.column for condition in rule.conditions]
        assert len(names) == len(set(names))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_exactly_one_path_fits_a_row(data: Any) -> None:
    """Any order of plain paths would do: they do not overlap."""
    table = data.draw(tables("gini", outputs=1))
    tree = table.grow("gini")
    rules = RuleList.of(tree)
    rows = anywhere(data.draw, table)
    backwards = RuleList(rules.rules[::-1], rules.default, rules.schema)
    assert (len(rules) - 1 - backwards.apply(rows) == rules.apply(rows)).all()


def test_conditions_of_a_column_become_one() -> None:
    both = merge_conditions(
        [Between("x", above=2.5, missing=True), Between("x", upto=7.0), Between("x", above=1.0)]
    )
    assert both == (Between("x", 2.5, 7.0),)
    assert merge_conditions([Between("x", missing=True)]) == ()
    sets = merge_conditions(
        [Within("c", ("a", "b", "d"), missing=True), Within("c", ("b", "d"), unseen=True)]
    )
    assert sets == (Within("c", ("b", "d")),)
    (missing,) = merge_conditions([Between("x", 3.0, missing=True), Between("x", upto=2.0, missing=True)])
    assert missing.holds(np.array([nan, 2.5, inf, -inf])).tolist() == [True, False, False, False]
    (never,) = merge_conditions([Between("x", above=3.0), Between("x", upto=3.0)])
    assert never.never


def test_conditions_hold_for_what_they_say() -> None:
    values = np.array([-inf, 1.0, 2.0, 3.0, inf, nan])
    assert Between("x", 1.0, 2.0).holds(values).tolist() == [False, False, True, False, False, False]
    assert Between("x", -inf).holds(values).tolist() == [False, True, True, True, True, False]
    assert Between("x", upto=2.0, missing=True).holds(values).tolist() == [
        True,
        True,
        True,
        False,
        False,
        True,
    ]
    codes = np.array([0, 1, 2, -1, -2])
    assert Within("c", ("b",), unseen=True).holds(codes, ("a", "b", "c")).tolist() == [
        False,
        True,
        False,
        False,
        True,
    ]


def test_a_threshold_is_compared_in_float64() -> None:
    """0.1 is above its float32 neighbour below, whatever the type of the table."""
    threshold = float(np.float32(0.1)) - 1e-12  # rounds to the same float32
    assert not Between("x", upto=threshold).holds(np.array([0.1], np.float32)).any()


def small_tree() -> Tree:
    schema = Schema(
        (
            Column("age"),
            Column("since", "time"),
            Column("job", "category", ("clerk", "cook", "judge", "two\nlines")),
        ),
        (Target("loan", ("no", "yes", "a, b")),),
    )
    job = Branch(Among("job", ("cook", "two\nlines")), Leaf([0, 9, 0]), Leaf([1, 0, 7]))
    since = Branch(Below("since", 1.7e15), Leaf([3, 1, 0]), job)
    return Tree.write(
        schema, Branch(Below("age", 60.0), Branch(Below("age", 18.5), Leaf([8, 0, 0]), since), job)
    )


def test_text_for_people() -> None:
    expected = r"""
6 rules: the first that fits answers
1.  age <= 18.5                                         no       8 rows    100 %
2.  18.5 < age <= 60 and since <= 2023-11-14 22:13:20   no       4 rows   75.0 %
3.  18.5 < age <= 60 and since > 2023-11-14 22:13:20
      and job in {cook, two\nlines}                     yes      9 rows    100 %
4.  18.5 < age <= 60 and since > 2023-11-14 22:13:20
      and job in {clerk, judge}                         'a, b'   8 rows   87.5 %
5.  age > 60 and job in {cook, two\nlines}              yes      9 rows    100 %
6.  age > 60 and job in {clerk, judge}                  'a, b'   8 rows   87.5 %
"""
    assert str(RuleList.of(small_tree())) == expected.strip()


def test_text_tells_where_missing_values_go_only_if_there_were_some() -> None:
    data = encode({"x": [1.0, 2.0, 2.2, 3.0, nan]}, ["a", "a", "a", "b", "b"])
    assert "x > 2.6 or missing" in str(RuleList.of(grow(data)))
    assert "missing" not in str(RuleList.of(grow(data.take([0, 1, 2, 3]))))
    alone = encode({"x": [1.0, 2.0, nan, nan]}, ["a", "a", "b", "b"])
    assert "x is known" in str(RuleList.of(grow(alone)))
    assert "x is missing" in str(RuleList.of(grow(alone)))


def test_a_single_leaf_is_a_rule_without_conditions() -> None:
    rules = RuleList.of(grow(encode({"x": [1.0, 1.0, 1.0]}, ["a", "b", "b"])))
    assert [rule.conditions for rule in rules] == [()]
    assert rules.predict({"x": [nan, 3.0]}).tolist() == ["b", "b"]
    assert "always" in str(rules)


def test_equality_and_copies() -> None:
    rules = RuleList.of(small_tree())
    rules.predict_proba({"age": [30.0], "since": [None], "job": ["cook"]})
    for other in (pickle.loads(pickle.dumps(rules)), copy.deepcopy(rules), RuleList.of(small_tree())):
        assert other == rules
        assert str(other) == str(rules)
        assert hash(other) == hash(rules)
    assert rules != RuleList(rules.rules[1:], rules.default, rules.schema)
    assert (len(rules), rules.n_conditions, rules[0].weight, rules[1].errors) == (6, 13, 8.0, 1.0)
    assert repr(rules) == "<RuleList: 6 rules, 13 conditions, otherwise 'yes'>"


def test_the_first_rule_that_fits_answers() -> None:
    schema = encode({"x": [1.0, 2.0]}, ["a", "b"]).schema
    first, second = (
        Rule((Between("x", upto=5.0),), "a", 1, (("a", 1.0),), 0.0),
        Rule((Between("x", above=2.0),), "b", 3, (("b", 3.0),), 0.0),
    )
    rules = RuleList((first, second), Rule((), "b", 0, (), 0.5), schema)
    assert rules.apply(encode({"x": [1.0, 3.0, 9.0, nan]}, schema=schema)).tolist() == [0, 0, 1, 2]
    np.testing.assert_allclose(rules.predict_proba({"x": [3.0, nan]}), [[1, 0], [0.25, 0.75]])


def test_an_unseen_category_goes_left_of_two_equal_sides() -> None:
    schema = Schema((Column("c", "category", ("u", "v")),), (Target("y", ("a", "b")),))
    tree = Tree.write(schema, Branch(Among("c", ("u",)), Leaf([2, 0]), Leaf([0, 2]), missing_left=False))
    table = {"c": ["u", "v", "unseen", None]}
    assert RuleList.of(tree).predict(table).tolist() == tree.predict(table).tolist() == ["a", "b", "a", "b"]


def test_a_leaf_that_no_row_reaches_has_no_rule() -> None:
    schema = Schema((Column("x"),), (Target("y", ("a", "b")),))
    below = Branch(Below("x", 5.0), Leaf([1, 0]), Leaf([0, 1]), missing_left=True)
    tree = Tree.write(schema, Branch(Below("x", 2.0), below, Leaf([0, 3]), missing_left=True))
    rules = RuleList.of(tree)
    assert [rule.label for rule in rules] == ["a", "b"]
    assert rules.predict({"x": [1.0, nan, 9.0]}).tolist() == tree.predict({"x": [1.0, nan, 9.0]}).tolist()


def test_very_many_classes() -> None:
    """Beyond 256 classes the tree lists those of a leaf only; the rules do in any case."""
    n = 900
    data = encode({"x": np.arange(n) // 2.0, "z": np.arange(n) % 7.0}, np.arange(n) % 300)
    tree = grow(data, max_leaf_nodes=40)
    rules = RuleList.of(tree)
    table = {"x": np.arange(0, n, 7) / 2, "z": np.zeros(129)}
    np.testing.assert_allclose(rules.predict_proba(table), tree.predict_proba(table))
    assert rules.predict(table).tolist() == tree.predict(table).tolist()


def test_a_chain_as_deep_as_it_has_leaves() -> None:
    tree = Tree.write(schema_of(numbers=False), chain(numbers=False, to_the_left=False))
    rules = RuleList.of(tree)
    assert len(rules) == tree.n_leaves
    assert max(len(rule.conditions) for rule in rules) == 1  # an interval
    assert rules.predict({"x": PROBES}).tolist() == tree.predict({"x": PROBES}).tolist()


def test_paths_with_too_many_conditions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treewright.tree.rule_list.MOST_CONDITIONS", 10)
    with pytest.raises(ValueError, match="more than 10 conditions and categories; prune it"):
        RuleList.of(small_tree())


def test_other_trees_and_tables_are_refused() -> None:
    with pytest.raises(ValueError, match="rules are for classes"):
        RuleList.of(grow(encode({"x": [1.0, 2.0]}, [1.5, 2.5]))).predict_proba({"x": [1.0]})
    two = encode({"x": [1.0, 2.0, 3.0]}, {"a": ["u", "v", "v"], "b": ["s", "s", "t"]})
    with pytest.raises(ValueError, match="rules are for one target; this tree has 2"):
        RuleList.of(grow(two))
    with pytest.raises(ValueError, match="columns are not the rules'"):
        RuleList.of(small_tree()).apply(two)


def test_what_could_be_read_in_two_ways_is_in_brackets() -> None:
    lighter = encode({"x": [1] * 9 + [3, None, 3], "z": [0] * 9 + [0, 0, 1]}, list("aaaaaaaaabbc"))
    assert "(x > 2 or missing) and z <= 0.5" in str(RuleList.of(grow(lighter)))
