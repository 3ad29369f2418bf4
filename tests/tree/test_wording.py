"""Words for people: "or missing" stands where a missing value can come, and only there."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import tables
from treewright import Below, Branch, Column, Leaf, Schema, Target, Tree, encode, grow
from treewright._text import percent
from treewright.tree.conditions import Between, Within
from treewright.tree.missing import missing_arrives
from treewright.tree.wording import branch_in_words


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.data())
def test_missing_values_arrive_where_every_test_above_sends_them(data: Any) -> None:
    tree = data.draw(tables("gini", outputs=1)).grow("gini")
    for node in range(tree.n_nodes):
        expected, child = not tree.is_leaf[node], node
        while child > 0:
            parent = int(tree.parent[child])
            if tree.feature[parent] == tree.feature[node]:
                expected &= bool(tree.missing_left[parent]) == (child == parent + 1)
            child = parent
        assert missing_arrives(tree)[node] == expected


def test_a_test_below_one_that_sent_missing_values_away_does_not_speak_of_them() -> None:
    schema = Schema((Column("age"),), (Target("y", ("a", "b")),))
    low = Branch(Below("age", 20.0), Leaf([5, 0]), Leaf([0, 2]), missing_left=True)
    tree = Tree.write(schema, Branch(Below("age", 50.0), low, Leaf([1, 3]), missing_left=False))
    assert branch_in_words(tree, 0, False) == "age > 50 or missing"
    assert branch_in_words(tree, 1, True) == "age <= 20"
    assert "age <= 20 " in str(tree)


def test_a_tree_of_dates_and_sets_is_read_as_such() -> None:
    days = np.array(["2023-03-05", "2023-11-20", "2024-02-01", "2025-06-30"], "datetime64[D]")
    table = {"day": np.tile(days, 5), "port": np.repeat(["Kiel", "Oslo", "Riga", "Turku", "Visby"], 4)}
    late = np.tile([False, False, True, True], 5) & (table["port"] != "Oslo")
    table["wind"] = np.where(late, nan, 4.0)
    text = str(grow(encode({name: table[name] for name in ("day", "port")}, np.where(late, "late", "fair"))))
    assert "day <= 2024-01-01" in text
    assert "port = Oslo" in text
    assert "port not in {Oslo}" in text
    assert "wind is missing" in str(grow(encode({"wind": table["wind"]}, late)))


def test_only_all_is_all_and_only_nothing_is_nothing() -> None:
    assert [percent(share) for share in (0.0, 1e-9, 0.0005, 0.5, 0.99949, 0.9999, 1.0)] == [
        "0.0 %",
        "< 0.1 %",
        "0.1 %",
        "50.0 %",
        "99.9 %",
        "> 99.9 %",
        "100 %",
    ]


def test_conditions_in_words() -> None:
    number, text = Column("x"), Column("c", "category", ("u", "v", "w"))
    for condition, words in (
        (Between("x", None, 2.5), "x <= 2.5"),
        (Between("x", 1.0, None, missing=True), "x > 1 or missing"),
        (Between("x", 1.0, 2.5), "1 < x <= 2.5"),
        (Between("x", inf, None, missing=True), "x is missing"),
        (Within("c", ("u",)), "c = u"),
        (Within("c", ("u", "w"), missing=True), "c not in {v} or missing"),
        (Within("c", ("u", "v", "w")), "c is known"),
        (Within("c", ("u", "v", "w"), missing=True), "c is known or missing"),
        (Within("c", (), missing=True), "c is missing"),
        (Within("c", (), unseen=True), "c is a new category"),
    ):
        column = number if condition.column == "x" else text
        assert condition.text(column) == words
    silent = Between("x", 1.0, None, missing=True).text(number, with_missing=False)
    assert silent == "x > 1"
