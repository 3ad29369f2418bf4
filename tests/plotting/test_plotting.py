"""Drawing: what a picture shows is what the values say; names are shown as they are."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import matplotlib
import numpy as np
import pytest

from tests.selecting.test_select import COSTS, table
from treewright import compare, encode, grow, overfitting_curve, prune, select
from treewright.encoding.splits import split
from treewright.plotting.axes import COLOURS, MARKERS, plain
from treewright.pruning import PruningPath

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.axes import Axes


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    pyplot.close("all")


def lines(ax: Axes) -> dict[str, np.ndarray]:
    """(leaves, loss) of the lines that the legend names."""
    return {
        str(line.get_label()): np.array(line.get_data())
        for line in ax.get_lines()
        if not str(line.get_label()).startswith("_")
    }


def texts(ax: Axes) -> str:
    return "\n".join(text.get_text() for text in ax.texts)


def drawn(ax: Axes, folder: Path) -> int:
    """The size of the picture; drawing it finds what cannot be drawn."""
    ax.figure.savefig(folder / "picture.png")
    return (folder / "picture.png").stat().st_size


def parts(kind: str = "classes", n: int = 300) -> tuple[PruningPath, object, object, object]:
    train, validation, test = split(table(kind, n=n))
    return prune(grow(train)), train, validation, test


@pytest.mark.slow
def test_a_path_with_its_chosen_tree(tmp_path: Path) -> None:
    path, _, validation, test = parts()
    chosen = select(path, validation=validation, rule="1-SE")
    ax = chosen.plot(test)
    shown = lines(ax)
    for name, loss in (
        ("training", path.training),
        ("validation: 60 held-out rows", chosen.validation),
        ("test", path.losses(test)),
    ):
        leaves, line = shown[name]
        np.testing.assert_array_equal(leaves, path.leaves[::-1])
        np.testing.assert_array_equal(line, loss[::-1])
    assert len({line.get_color() for line in ax.get_lines() if line.get_label() in shown}) == 3
    assert f"{chosen.pruned.n_leaves} leaves" in texts(ax)
    assert "60 held-out rows, 1-SE" in texts(ax)
    assert [line.get_xdata()[0] for line in ax.get_lines() if line.get_linestyle() == ":"] == [
        chosen.pruned.n_leaves
    ]
    band = ax.collections[0].get_paths()[0].vertices
    assert band[:, 1].max() == pytest.approx((chosen.validation + chosen.standard_error).max())
    assert ax.get_xlabel() == "leaves"
    assert ax.get_ylabel() == "misclassified rows"
    assert drawn(ax, tmp_path) > 5000


def test_an_open_path_marks_nothing() -> None:
    path = parts()[0]
    ax = path.plot()
    assert not ax.texts
    assert list(lines(ax)) == ["training"]


@pytest.mark.parametrize(
    ("kind", "told"),
    [("numbers", "mean squared error"), ("costs", "mean cost of a row"), ("weights", "rows")],
)
def test_what_is_lost_in_words(kind: str, told: str, tmp_path: Path) -> None:
    data = table(kind)
    options = {"costs": COSTS} if kind == "costs" else {}
    ax = select(prune(grow(data), **options), leaves=3).plot()
    assert told in ax.get_ylabel()
    assert drawn(ax, tmp_path)


@pytest.mark.slow
def test_one_leaf_and_many_leaves(tmp_path: Path) -> None:
    one = prune(grow(encode({"x": [1.0, 1.0]}, ["a", "b"])))
    assert select(one, leaves=1).plot().get_xscale() == "linear"
    ax = select(parts(n=600)[0], leaves=5).plot()
    assert ax.get_xscale() == "log"
    assert drawn(ax, tmp_path)


def test_axes_of_the_caller_are_drawn_on() -> None:
    figure, axes = pyplot.subplots(1, 2)
    path, train, validation, _ = parts()
    assert path.plot(ax=axes[0]) is axes[0]
    assert overfitting_curve(train, validation=validation).plot(ax=axes[1]) is axes[1]
    assert pyplot.get_fignums() == [figure.number]


def test_the_overfitting_curve(tmp_path: Path) -> None:
    _, train, validation, test = parts()
    curve = overfitting_curve(train, validation=validation, test=test)
    ax = curve.plot()
    shown = lines(ax)
    for name in ("training", "validation", "test"):
        np.testing.assert_array_equal(shown[name], [curve.leaves, getattr(curve, name)])
    assert f"{curve.leaves[curve.best]} leaves" in texts(ax)
    assert not overfitting_curve(train).plot().texts
    assert drawn(ax, tmp_path)


@pytest.mark.slow
def test_a_comparison_has_one_line_for_each_method(tmp_path: Path) -> None:
    comparison = compare(table("classes", n=300))
    ax = comparison.plot()
    ax.figure.canvas.draw()
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert len(names) == len([row for row in comparison.rows if row["trouble"] is None])
    assert any(name.startswith("cost complexity, folds, 1-SE (") for name in names)
    boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    test = next(points for points in ax.collections if points.get_label() == "test rows").get_offsets()
    assert sorted(test[:, 0].tolist(), reverse=True) == test[:, 0].tolist()
    assert sorted(test[:, 0].tolist()) == sorted(row["test"] for row in comparison.rows)
    assert drawn(ax, tmp_path)
    assert drawn(compare(table("numbers")).plot(), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["$x^{", "a$b$c", "price in $", r"\$ \frac{", "_y", "a_b^c", "%"])
def test_names_are_shown_as_they_are(name: str, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    data = encode({"x": range(8)}, pandas.Series(list("aabbabab"), name=name))
    assert data.schema.targets[0].name == name
    ax = select(prune(grow(data)), leaves=2).plot()
    assert ax.get_ylabel() == f"misclassified rows ({plain(name)})"
    assert drawn(ax, tmp_path)
    assert drawn(overfitting_curve(data).plot(), tmp_path)


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    path, train, *_ = parts()
    for plot in (path.plot, overfitting_curve(train).plot, compare(train, []).plot):
        with pytest.raises(ImportError, match=r"plots need matplotlib: pip install 'treewright\[plot\]'"):
            plot()


def test_colours_are_told_apart_by_everyone() -> None:
    """Of Okabe and Ito's palette, and markers differ too."""
    palette = {"#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7"}
    assert len(set(COLOURS.values())) == len(set(MARKERS.values())) == 4
    assert set(COLOURS.values()) <= palette


@pytest.mark.slow
@pytest.mark.parametrize("chosen", [0, 1, -1])
@pytest.mark.parametrize("n", [60, 600])
def test_words_stay_within_the_frame(n: int, chosen: int) -> None:
    path, _, validation, _ = parts(n=n)
    for drawn_path in (path.choose(chosen), prune(path.full_tree, "reduced_error", validation=validation)):
        ax = drawn_path.plot()
        ax.figure.canvas.draw()
        words, frame = ax.texts[0].get_window_extent(), ax.get_window_extent()
        assert frame.x0 <= words.x0
        assert words.x1 <= ax.figure.bbox.x1


def test_sizes_that_are_alike_have_a_plain_axis() -> None:
    path = parts(n=600)[0]
    twice = prune(path.full_tree, "chi_squared", significance=0.9)
    assert twice.leaves.max() >= 40
    assert twice.leaves.max() < 10 * twice.leaves.min()
    assert twice.plot().get_xscale() == "linear"
