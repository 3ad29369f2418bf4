"""A split into many branches is shown and counted as one, wherever a tree is shown."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from treewright import Tree, _core, encode, explain, export, load, prune, report, rules, shapley_values
from treewright.cli.summary import nodes_document
from treewright.growing.chaid import grow_chaid
from treewright.growing.id3 import grow_id3
from treewright.plotting.scene.cards import cards
from treewright.plotting.scene.layout import tidy
from treewright.reporting.nodes import tree_facts
from treewright.tree.wording import way_in_words

OUTLOOK = ["sunny"] * 5 + ["overcast"] * 4 + ["rain"] * 5
WINDY = [False, True, False, False, True, False, True, True, False, False, False, True, False, True]
HUMIDITY = (
    ["high", "high", "high", "normal", "normal"] + ["high", "normal"] * 2 + ["high"] * 3 + ["normal"] * 2
)
PLAY = ["no", "no", "no", "yes", "yes"] + ["yes"] * 4 + ["yes", "yes", "no", "yes", "no"]
GOLF = {"outlook": OUTLOOK, "windy": [str(w).lower() for w in WINDY], "humidity": HUMIDITY}


@pytest.fixture(scope="module")
def golf() -> Tree:
    tree = grow_id3(encode(GOLF, PLAY))
    tree.check()
    return tree


@pytest.fixture(scope="module")
def ranges() -> Tree:
    """Three ranges of a number and a branch of missing values."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 9, 400)
    y = np.where(x < 3, "a", np.where(x < 6, "b", "c"))
    x[:60], y[:60] = np.nan, "d"
    tree = grow_chaid(encode({"x": x}, y), max_classes=3)
    tree.check()
    return tree


def test_the_text_has_a_line_for_each_branch(golf: Tree) -> None:
    lines = """
14 rows
├─ outlook = overcast     yes   4 rows   100 %
├─ outlook = rain
│  ├─ windy = false       yes   3 rows   100 %
│  └─ windy = true        no    2 rows   100 %
└─ outlook = sunny
   ├─ humidity = high     no    3 rows   100 %
   └─ humidity = normal   yes   2 rows   100 %
"""
    assert str(golf) == lines.strip()
    assert export(golf, "text", max_depth=1).count("\n") == 3


def test_ranges_and_missing_values_are_branches(ranges: Tree) -> None:
    words = [way_in_words(ranges, branch) for branch in ranges.branches(0)]
    assert re.fullmatch(r"x <= \S+", words[0])
    assert re.fullmatch(r"\S+ < x <= \S+", words[1])
    assert words[2].startswith("x > ")
    assert words[3] == "x is missing"
    assert [ranges.rows[branch] for branch in ranges.branches(0)][3] == 60
    assert ranges.height == 1
    assert ranges.n_splits == 1


def test_splits_are_counted_as_decisions(golf: Tree) -> None:
    assert (golf.n_splits, golf.n_leaves, golf.height) == (3, 5, 2)
    assert repr(golf) == "<Tree: 5 leaves, depth 2, 3 columns>"
    assert golf.first(1).n_leaves == 3
    assert golf.first(1).n_splits == 1
    assert golf.first(2).n_leaves == 4
    data = encode(GOLF, PLAY)
    curve = golf.curve(data)
    assert len(curve) == golf.n_splits + 1
    assert curve == pytest.approx([golf.first(k).curve(data)[-1] for k in range(4)])


def test_a_picture_shows_one_card_for_many_branches(golf: Tree) -> None:
    shown = cards(golf)
    assert [card.column for card in shown if not card.is_end] == ["outlook", "windy", "humidity"]
    assert [card.edge for card in shown[1:] if card.parent == 0] == ["overcast", "rain", "sunny"]
    assert [card.before for card in shown[1:] if card.parent == 0] == [0, 4, 9]
    assert [card.is_one_of_many for card in shown] == [card.parent == 0 for card in shown]
    svg = golf.to_svg()
    for word in ("overcast", "rain", "sunny"):
        assert f">{word}<" in svg
    assert "outlook = overcast" in svg  # in the tooltip
    assert export(golf, "mermaid").count("-->|rain|") == 1
    assert '-> n3 [label="rain"' in export(golf, "dot")


def test_a_large_picture_folds_whole_splits() -> None:
    rng = np.random.default_rng(1)
    table = {f"c{i}": rng.choice(list("abcdefgh"), 600).tolist() for i in range(3)}
    tree = grow_id3(encode(table, rng.integers(0, 2, 600)))
    shown = cards(tree, max_leaf_nodes=20)
    ends = [card for card in shown if card.is_end]
    assert 8 <= len(ends) <= 20
    assert not any(tree.joined[card.node] for card in shown)
    assert len(cards(tree, max_leaf_nodes=2)) == 9  # the root's branches are shown in any case
    assert len(cards(tree, max_leaf_nodes=1)) == 1


def test_children_of_any_number_stand_side_by_side() -> None:
    ends = [6, 2, 5, 4, 5, 6]  # a root of three children, the second with two
    x = tidy(ends, [4.0, 2.0, 2.0, 2.0, 2.0, 2.0], 1.0)
    assert x[2] == pytest.approx((x[3] + x[4]) / 2)
    assert x[0] == pytest.approx((x[1] + x[5]) / 2)
    assert x[2] - x[1] >= 3.0 - 1e-12
    assert x[5] - x[2] >= 3.0 - 1e-12
    assert x[4] - x[3] == pytest.approx(3.0)


def test_the_report_knows_the_branches(golf: Tree) -> None:
    facts = tree_facts(golf, {0: np.arange(3), 1: np.arange(2), 2: np.arange(2)})
    assert facts["joined"] == golf.joined.astype(int).tolist()
    assert facts["left_words"][0] == "outlook"
    assert [facts["into_words"][str(branch)] for branch in golf.branches(0)] == [
        "outlook = overcast",
        "outlook = rain",
        "outlook = sunny",
    ]
    binary = tree_facts(grow_id3(encode({"a": ["x", "y"]}, [0, 1])), {0: np.arange(2)})
    assert "joined" not in binary
    html = str(report(golf, train=(GOLF, PLAY)).html)
    assert json.dumps("outlook = rain")[1:-1] in html


def test_rules_and_explanations_name_the_branch(golf: Tree, ranges: Tree) -> None:
    assert "outlook = rain and windy = false" in str(rules(golf))
    steps = explain(golf, {"outlook": "sunny", "windy": "true", "humidity": "high"}).steps
    assert [step.words for step in steps] == ["outlook = sunny", "humidity = high"]
    assert [step.rows for step in steps] == [5, 3]
    (step,) = explain(ranges, {"x": None}).steps
    assert step.words == "x is missing"
    listed = nodes_document(golf)
    assert [each["condition"] for each in listed if each["depth"] == 1] == [
        "outlook = overcast",
        "outlook = rain",
        "outlook = sunny",
    ]


def test_a_leaf_without_rows_has_no_part_in_what_is_expected() -> None:
    rng = np.random.default_rng(2)
    table = {f"c{i}": rng.choice(list("abcde"), 80).tolist() for i in range(3)}
    data = encode(table, rng.integers(0, 3, 80))
    tree = grow_id3(data)
    empty = tree.weight == 0
    assert empty.any()
    found = shapley_values(tree, data)
    expected = tree.shares(tree.apply(data))[0]
    assert np.allclose(found.values.sum(axis=1) + found.base, expected)
    faint = np.where(empty[:, np.newaxis], 1e-9 * tree.proportions[0], tree.statistic)
    almost = replace(tree, statistic=_core.join_classes(tree.end, faint * tree.is_leaf[:, np.newaxis]))
    assert np.allclose(shapley_values(almost, data).values, found.values, atol=1e-6)


@pytest.mark.slow
def test_such_trees_are_saved_pruned_and_exported(golf: Tree, ranges: Tree, tmp_path) -> None:
    for i, tree in enumerate((golf, ranges)):
        tree.save(tmp_path / f"{i}.json")
        assert load(tmp_path / f"{i}.json") == tree
        for form in ("python", "sql", "json"):
            export(tree, form, check=True)
        path = prune(tree, "cost_complexity")
        assert path.leaves[-1] == 1
        for pruned in path:
            pruned.check()
    merged = golf.collapse([2])  # what is left of the root's split after its first branch
    assert str(merged).splitlines()[2].startswith("└─ outlook not in {overcast}")
