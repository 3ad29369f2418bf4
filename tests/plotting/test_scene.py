"""Arranging: nothing lies on anything else, parents stand over their children, words fit their room."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.shapes import chain_shape, random_shape
from treewright import Column, Leaf, Schema, Target, Tree, encode, grow
from treewright.plotting.scene import CLASS_COLOURS, OTHER_COLOUR, class_colours, scene, tidy, value_colour
from treewright.plotting.scene.cards import cards, shape
from treewright.plotting.scene.letters import shorten_to_fit, text_width


def depths_of(end: np.ndarray) -> np.ndarray:
    depth = np.zeros(len(end), int)
    for node in range(len(end)):
        depth[node + 1 : end[node]] += 1
    return depth


@given(st.integers(1, 60), st.integers(0, 50), st.sampled_from([0.2, 1.0, 5.0]))
def test_no_two_nodes_of_a_level_are_closer_than_the_gap(leaves: int, seed: int, balance: float) -> None:
    end = random_shape(leaves, seed, balance)
    chance = np.random.default_rng(seed)
    breadth = chance.uniform(1, 30, len(end))
    is_leaf = end == np.arange(1, len(end) + 1)
    spans = np.where(is_leaf, chance.integers(1, 4, len(end)), 1)
    centre, depth = tidy(end, breadth, 3.0, spans), depths_of(end)
    for level in range(depth.max() + 1):
        there = np.flatnonzero((depth <= level) & (level < depth + spans))
        low, high = (centre - breadth / 2)[there], (centre + breadth / 2)[there]
        assert (low[1:] - high[:-1] >= 3.0 - 1e-9).all()  # and preorder goes from left to right
    assert (centre - breadth / 2).min() == pytest.approx(0.0)
    for node in np.flatnonzero(~is_leaf):
        assert centre[node] == pytest.approx((centre[node + 1] + centre[end[node + 1]]) / 2)


def test_subtrees_stand_as_close_as_they_can() -> None:
    end = random_shape(40, 3)
    centre = tidy(end, np.full(len(end), 2.0), 1.0)
    depth = depths_of(end)
    for node in np.flatnonzero(end > np.arange(1, len(end) + 1)):
        left, right = slice(node + 1, end[node + 1]), slice(end[node + 1], end[node])
        apart = [
            centre[right][depth[right] == level].min() - centre[left][depth[left] == level].max()
            for level in set(depth[left]) & set(depth[right])
        ]
        assert min(apart) == pytest.approx(3.0)


def test_mirrored_trees_have_mirrored_places() -> None:
    end = np.array([5, 4, 3, 4, 5])  # the left child has children
    mirrored = np.array([5, 2, 5, 4, 5])
    one, other = tidy(end, [4.0] * 5, 1.0), tidy(mirrored, [4.0] * 5, 1.0)
    width = one.max() + 2.0
    assert sorted(one.tolist()) == pytest.approx(sorted((width - other).tolist()))


@pytest.mark.slow
@pytest.mark.parametrize("end", [chain_shape(50_000), random_shape(50_000)], ids=["chain", "random"])
def test_any_depth(end: np.ndarray) -> None:
    assert np.isfinite(tidy(end, np.ones(len(end)), 1.0)).all()


@pytest.mark.slow
def test_words_are_not_wider_than_they_are_taken_for() -> None:
    font = pytest.importorskip("matplotlib.textpath").TextPath
    properties = pytest.importorskip("matplotlib.font_manager").FontProperties
    chance = np.random.default_rng(0)
    letters = [chr(c) for c in range(33, 127)] + list("äéñçøß…≤ЖΩя漢字ー")
    for bold in (False, True):
        look = properties(family="DejaVu Sans", weight="bold" if bold else "normal")
        for _ in range(40):
            text = "".join(chance.choice(letters[:94] if bold else letters, 12))
            seen = font((0, 0), text, size=100, prop=look, usetex=False).get_extents().width
            assert seen <= 1.04 * text_width(text, 100.0, bold=bold)


@given(st.text(max_size=30), st.floats(20, 200))
def test_shortened_text_fits(text: str, room: float) -> None:
    short = shorten_to_fit(text, room, 10.0)
    assert text_width(short, 10.0) <= room + 1e-6
    assert short == text or "…" in short


def test_long_names_are_shortened_quickly_and_keep_both_ends() -> None:
    short = shorten_to_fit("first" + "x" * 100_000 + "last", 100.0, 10.0)
    assert short.startswith("first")
    assert short.endswith("last")


def test_colours() -> None:
    schema = Schema((Column("x"),), (Target("y", tuple("abcdefghijkl")),))
    weights = [1.0, 9, 9, 9, 2, 9, 9, 9, 1, 9, 1, 1]
    colours = class_colours(Tree.write(schema, Leaf(weights)))
    assert [
        name for name, colour in zip("abcdefghijkl", colours, strict=True) if colour != OTHER_COLOUR
    ] == list("bcdfghj")
    assert len(set(CLASS_COLOURS)) == len(CLASS_COLOURS) == 7
    palette = {"#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7"}
    assert set(CLASS_COLOURS) <= palette

    def brightness(colour: str) -> float:
        red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    scale = [brightness(value_colour(i / 20)) for i in range(21)]
    assert (np.diff(scale) < -2).all()  # darker all the way: told apart without colour


def test_folding() -> None:
    chance = np.random.default_rng(1)
    tree = grow(encode(chance.normal(size=(400, 3)), chance.choice(["a", "b"], 400)))
    for options in (
        {"max_depth": 3},
        {"max_leaf_nodes": 9},
        {"max_depth": 4, "max_leaf_nodes": 12},
        {"max_depth": 0},
        {"max_leaf_nodes": 1},
    ):
        shown = cards(tree, **{"max_leaf_nodes": None, **options})
        ends = [card for card in shown if card.is_end]
        assert sum(max(card.below, 1) for card in ends) == tree.n_leaves
        assert sum(card.rows for card in ends) == tree.rows[0]
        assert len(ends) <= options.get("max_leaf_nodes", 999)
        assert max(card.depth for card in shown) <= options.get("max_depth", 999)
        assert (
            shape(shown)[[card.is_end for card in shown]]
            == np.flatnonzero([card.is_end for card in shown]) + 1
        ).all()
    nine = tree.first(8)
    assert [card.rows for card in cards(tree, max_leaf_nodes=9)] == nine.rows.tolist()
    assert sum(card.is_end for card in cards(tree)) == 64
    for wrong in ({"max_depth": -1}, {"max_leaf_nodes": 0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            cards(tree, **wrong)


def test_sizes_follow_the_rows() -> None:
    tree = grow(encode({"x": np.arange(100.0)}, np.arange(100) >= 80), max_leaf_nodes=2)
    picture = scene(tree)
    discs = [group.marks[0] for group in picture.groups[1:]]
    assert (discs[0].radius / discs[1].radius) ** 2 == pytest.approx(80 / 20)
    assert picture.flows[0].width / picture.flows[1].width == pytest.approx(80 / 20)
    with pytest.raises(ValueError, match="direction is 'up'"):
        scene(tree, direction="up")


def test_costs_change_the_answer_and_its_colour() -> None:
    tree = grow(encode({"x": [1, 1, 1, 1, 2]}, ["well", "well", "well", "ill", "ill"]))
    first = cards(tree)[1]
    costly = cards(tree.with_costs({"ill": {"well": 10}}))[1]
    assert (first.answers[0], costly.answers[0]) == (("well", "75.0 %"), ("ill", "25.0 %"))
    assert (first.colour, costly.colour) == (CLASS_COLOURS[1], CLASS_COLOURS[0])
    assert first.parts == costly.parts
