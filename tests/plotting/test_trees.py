"""Pictures of trees by matplotlib: nothing lies on anything else, whatever the tree and its names."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import matplotlib
import numpy as np
import pytest

from tests.exporting.test_text import chain
from tests.plotting.pictured_trees import (
    HOSTILE,
    hostile_tree,
    many_classes,
    number_tree,
    several_targets,
    spam_tree,
    wide_tree,
)
from treewright import DecisionTreeClassifier, Tree, encode, grow
from treewright.plotting.trees import plot_tree

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch, Wedge
from matplotlib.transforms import Bbox

TREES = {
    "spam 8": spam_tree(8),
    "spam 19": spam_tree(19),
    "spam 64": spam_tree(64),
    "spam all": spam_tree(10_000),
    "wide 16": wide_tree(16),
    "wide 64": wide_tree(64),
    "long 12": wide_tree(12, long=40),
    "long 64": wide_tree(64, long=40),
    "numbers 10": number_tree(10),
    "numbers 64": number_tree(64),
    "three numbers": number_tree(12, targets=3),
    "five targets": several_targets(16),
    "five targets 40": several_targets(40),
    "300 classes": many_classes(30),
    "chain": chain(63),
    "a leaf": grow(encode([[1.0], [2.0]], ["a", "a"])),
}


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    pyplot.close("all")


def overlaps(ax: Axes) -> list[tuple[str, str]]:
    """Pairs of words, and of words and cards or discs, that share some room."""
    ax.apply_aspect()
    renderer = ax.figure.canvas.get_renderer()
    marks = [(text.get_text(), text.get_window_extent(renderer)) for text in ax.texts]
    for patch in ax.patches:
        at = patch.get_window_extent(renderer)
        if isinstance(patch, FancyBboxPatch) and at.height > 12:  # not the marks on the bars of numbers
            marks.append(("a card", at))
        elif isinstance(patch, Wedge):
            marks.append(("a disc", at))
    low, high = (np.array([getattr(at, corner) for _, at in marks]) for corner in ("min", "max"))
    shared = np.minimum(high[:, None], high[None]) - np.maximum(low[:, None], low[None])
    pairs = np.argwhere(np.triu((shared > 1.0).all(axis=2), k=1))
    # Words may lie in a card, but as a whole; slices of one disc lie on each other.
    return [
        (marks[i][0], marks[j][0])
        for i, j in pairs.tolist()
        if not (marks[j][0] == "a card" and inside(marks[i][1], marks[j][1]))
        and not marks[i][0] == marks[j][0] == "a disc"
    ]


def inside(a: Bbox, b: Bbox, slack: float = 1.0) -> bool:
    return b.x0 - slack <= a.x0 and a.x1 <= b.x1 + slack and b.y0 - slack <= a.y0 and a.y1 <= b.y1 + slack


@pytest.mark.slow
@pytest.mark.parametrize("name", TREES)
def test_nothing_overlaps(name: str) -> None:
    ax = TREES[name].plot()
    assert overlaps(ax) == []
    frame = ax.figure.bbox
    for text in ax.texts:
        assert inside(text.get_window_extent(), frame)


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["down", "right"])
@pytest.mark.parametrize("name", ["spam 64", "wide 16", "numbers 10", "five targets"])
def test_nothing_overlaps_in_either_direction(name: str, direction: str) -> None:
    assert overlaps(TREES[name].plot(direction=direction)) == []


def test_what_overlaps_is_found() -> None:
    ax = spam_tree(8).plot()
    ax.text(*ax.texts[5].get_position(), "on top of it")
    assert any("on top of it" in pair for pair in overlaps(ax))


def test_what_it_says_is_what_the_tree_says() -> None:
    tree = spam_tree(8)
    ax = tree.plot(title="Spam or not")
    texts = [text.get_text() for text in ax.texts]
    assert "Spam or not" in texts
    for leaf in np.flatnonzero(tree.is_leaf):
        assert f"{100 * tree.confidence[leaf, 0]:.1f} %" in texts
        assert f"{tree.rows[leaf]:,} rows" in texts
    for node in np.flatnonzero(~tree.is_leaf):
        test = tree.test(int(node))
        assert f"{test.column} ≤ {test.threshold:g}" in texts
    assert texts.count("yes") == texts.count("no") == 7


@pytest.mark.slow
def test_a_large_tree_is_folded() -> None:
    ax = spam_tree(10_000).plot()
    texts = [text.get_text() for text in ax.texts]
    assert sum("leaves below" in text for text in texts) > 5
    shown = spam_tree(10_000).plot(max_depth=2)
    assert sum("leaves below" in text.get_text() for text in shown.texts) == 4


@pytest.mark.slow
def test_a_tree_of_any_depth(tmp_path: Path) -> None:
    ax = chain(100_000).plot(max_leaf_nodes=8)
    assert any("99,994 leaves below" in text.get_text() for text in ax.texts)
    assert overlaps(ax) == []
    with pytest.raises(
        ValueError, match="inches large, more than matplotlib can paint; give a smaller max_leaf_nodes"
    ):
        chain(2_000).plot(max_leaf_nodes=None)


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_names_are_data(name: str, tmp_path: Path) -> None:
    ax = hostile_tree(name).plot()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # letters that the font does not have
        if name.isascii():
            assert overlaps(ax) == []
        ax.figure.savefig(tmp_path / "picture.png", dpi=50)
        ax.figure.savefig(tmp_path / "picture.svg")


@pytest.mark.slow
def test_axes_of_the_caller_are_drawn_on() -> None:
    figure, axes = pyplot.subplots(1, 2, figsize=(12, 5))
    assert spam_tree(8).plot(axes[0]) is axes[0]
    plot_tree(number_tree(10), axes[1])
    assert pyplot.get_fignums() == [figure.number]
    figure.canvas.draw()
    for ax in axes:
        frame = ax.get_window_extent()
        assert all(inside(text.get_window_extent(), frame, slack=3.0) for text in ax.texts)


def test_a_fitted_model_is_drawn_too() -> None:
    model = DecisionTreeClassifier(max_leaf_nodes=3).fit([[0.0], [1.0], [2.0]], ["a", "b", "a"])
    assert len(plot_tree(model).texts) == len(model.model_.plot().texts)
    with pytest.raises(TypeError, match="a tree or a fitted model"):
        plot_tree("oak")


@pytest.mark.slow
def test_the_picture_is_as_large_as_its_tree() -> None:
    small, large = (tree.plot().figure.get_size_inches() for tree in (spam_tree(8), spam_tree(64)))
    assert (large > small).all()
    assert small.max() < 12


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    tree: Tree = spam_tree(8)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"plots need matplotlib: pip install 'treewright\[plot\]'"):
        tree.plot()
    assert tree.to_svg()
