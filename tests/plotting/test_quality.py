"""Decision regions, ROC, precision, confusion: they show what `predict` and scikit-learn's metrics say."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from sklearn import metrics

from tests.exporting.test_text import chain
from tests.plotting.pictured_trees import (
    HOSTILE,
    hostile_tree,
    many_classes,
    number_tree,
    several_targets,
    spam_tree,
)
from treewright import Dataset, Tree, encode, grow
from treewright.plotting.quality import (
    confusion_matrix,
    plot_confusion_matrix,
    plot_precision_recall,
    plot_roc,
    precision_recall_points,
    roc_points,
)
from treewright.plotting.regions import decision_regions, plot_decision_regions

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.axes import Axes


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    pyplot.close("all")


def mixed(n: int, seed: int, classes: str = "ab") -> tuple[dict[str, object], np.ndarray]:
    chance = np.random.default_rng(seed)
    table = {
        "x": chance.normal(size=n).round(2),
        "job": chance.choice(["clerk", "cook", "smith", "baker"], n),
        "day": [datetime(2020, 1, 1) + timedelta(days=int(d)) for d in chance.integers(0, 900, n)],
        "z": chance.normal(size=n).round(2),
    }
    noise = chance.integers(0, len(classes), n)
    truth = (np.asarray(table["x"]) > 0) & ~np.isin(table["job"], ["cook", "baker"])
    return table, np.array(list(classes))[np.where(chance.uniform(0, 1, n) < 0.3, noise, truth.astype(int))]


def trees(classes: str = "ab") -> tuple[Tree, Dataset]:
    train = encode(*mixed(600, 0, classes))
    return grow(train, max_leaf_nodes=12), encode(*mixed(400, 1, classes), schema=train.schema)


# ---- regions ---------------------------------------------------------------------------------------

PLANES = [("x", "z"), ("x", "job"), ("job", "day"), ("z", "day")]


@pytest.mark.parametrize(("x", "y"), PLANES)
def test_regions_are_where_rows_go(x: str, y: str) -> None:
    tree, _ = trees()
    days = [
        (datetime(2020, 1, 1) - datetime(1970, 1, 1)).total_seconds() * 1e6 + d * 86_400e6 for d in (0, 900)
    ]
    spans = {"x": (-3.0, 3.0), "z": (-3.0, 3.0), "job": (-0.5, 3.5), "day": (days[0], days[1])}
    at = {"x": 0.1, "z": -0.4, "job": "cook", "day": datetime(2021, 3, 1)}
    fixed = {name: value for name, value in at.items() if name not in (x, y)}
    found = decision_regions(tree, x, y, within=(spans[x], spans[y]), at=fixed)
    whole = np.prod([high - low for low, high in (spans[x], spans[y])])
    assert sum((r.x[1] - r.x[0]) * (r.y[1] - r.y[0]) for r in found) == pytest.approx(whole)
    chance = np.random.default_rng(0)
    for region in found:
        row = dict(fixed)
        for name, (low, high) in ((x, region.x), (y, region.y)):
            inner = high if chance.integers(2) and name != "day" else (low + high) / 2  # borders belong to it
            row[name] = cell(tree, name, inner if name != "job" else round((low + high - 0.1) / 2))
        rows = encode({name: [value] for name, value in row.items()}, schema=tree.schema)
        assert tree.apply(rows)[0] == region.leaf


def cell(tree: Tree, name: str, value: float) -> object:
    if name == "job":
        return tree.schema.columns[1].categories[round(value)]
    return datetime(1970, 1, 1) + timedelta(microseconds=value) if name == "day" else value


def test_other_columns_are_missing_given_or_typical() -> None:
    table = {"a": [1.0, 2, 3, 4] * 5, "b": [1.0, 2, 1, 2] * 5, "c": [0.0, 0.0, 1.0, 1.0] * 5}
    data = encode(table, ["p", "p", "q", "q"] * 5)
    tree = grow(data)
    frame = {"within": ((0.0, 5.0), (0.0, 5.0))}
    assert tree.schema.names[tree.feature[0]] in ("a", "c")
    hidden = "c" if tree.feature[0] == 2 else "a"
    shown = [name for name in "abc" if name != hidden]
    low, high = (decision_regions(tree, *shown, at={hidden: value}, **frame)[0].leaf for value in (-9.0, 9.0))
    assert {low, high} == {1, 2}
    missing = decision_regions(tree, *shown, **frame)[0].leaf
    assert missing == (1 if tree.missing_left[0] else 2)
    skewed = data.take([0] * 3 + [2])
    assert decision_regions(tree, *shown, data=skewed, **frame)[0].leaf == 1
    with pytest.raises(ValueError, match="which is one of the two columns shown"):
        decision_regions(tree, *shown, at={shown[0]: 1.0}, **frame)
    with pytest.raises(ValueError, match="there is no column 'd'"):
        decision_regions(tree, "d", "a", **frame)


@pytest.mark.slow
@pytest.mark.parametrize(("x", "y"), [*PLANES, (None, None), (None, "z")])
def test_regions_are_drawn(x: str | None, y: str | None, tmp_path: Path) -> None:
    tree, data = trees()
    ax = plot_decision_regions(tree, x, y, data=data)
    assert len(ax.collections) == 2  # a marker for each class
    assert len({str(points.get_paths()[0].vertices) for points in ax.collections}) == 2
    ax.figure.savefig(tmp_path / "picture.png", dpi=50)
    if (x, y) == (None, None):
        assert {ax.get_xlabel(), ax.get_ylabel()} == {"x", "job"}
    assert plot_decision_regions(tree, x, y, ax=pyplot.subplots()[1]).patches


def test_regions_of_numbers_and_of_what_cannot_be() -> None:
    ax = plot_decision_regions(number_tree(10))
    assert len(ax.patches) >= 2
    with pytest.raises(ValueError, match="one target"):
        plot_decision_regions(several_targets(4))
    with pytest.raises(ValueError, match="two different columns"):
        plot_decision_regions(number_tree(10), "x0", "x0")
    with pytest.raises(ValueError, match="two different columns"):
        plot_decision_regions(chain(5))


# ---- ROC and precision -----------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_curves_are_those_of_scikit_learn(weighted: bool) -> None:
    tree, data = trees()
    weight = np.random.default_rng(2).integers(0, 4, data.n_rows).astype(float) if weighted else None
    data = Dataset(data.schema, data.columns, data.targets, weight)
    truth, score = data.targets[0] == 1, tree.shares(tree.apply(data))[0][:, 1]
    false, hits = roc_points(tree, data, "b")
    theirs = metrics.roc_curve(truth, score, sample_weight=weight, drop_intermediate=False)
    for theirs_false, theirs_hits in zip(*theirs[:2], strict=True):
        assert np.hypot(false - theirs_false, hits - theirs_hits).min() < 1e-12
    area = metrics.roc_auc_score(truth, score, sample_weight=weight)
    ax = plot_roc(tree, data)
    assert f"b: area {area:.3f}" in [line.get_label() for line in ax.get_lines()]
    recall, precision = precision_recall_points(tree, data, "b")
    average = metrics.average_precision_score(truth, score, sample_weight=weight)
    assert np.sum(np.diff(recall) * precision[1:]) == pytest.approx(average, abs=1e-12)
    labels = [line.get_label() for line in plot_precision_recall(tree, data).get_lines()]
    assert f"b: average precision {average:.3f}" in labels


def test_the_circle_is_what_the_tree_answers() -> None:
    tree, data = trees()
    table = confusion_matrix(tree, data)
    ring = next(line for line in plot_roc(tree, data).get_lines() if line.get_marker() == "o")
    assert ring.get_xdata()[0] == pytest.approx(table[0, 1] / table[0].sum())
    assert ring.get_ydata()[0] == pytest.approx(table[1, 1] / table[1].sum())


@pytest.mark.slow
def test_several_classes_have_a_line_each(tmp_path: Path) -> None:
    tree, data = trees("abc")
    for plot in (plot_roc, plot_precision_recall):
        ax = plot(tree, data)
        named = [line for line in ax.get_lines() if ":" in str(line.get_label())]
        assert [str(line.get_label())[0] for line in named] == ["a", "b", "c"]
        assert len({line.get_linestyle() for line in named}) == 3
        assert (
            len([line for line in plot(tree, data, positive="c").get_lines() if ":" in str(line.get_label())])
            == 1
        )
        ax.figure.savefig(tmp_path / "picture.png", dpi=50)


# ---- confusion -------------------------------------------------------------------------------------


def test_confusion_is_that_of_scikit_learn() -> None:
    tree, data = trees("abc")
    answers = tree.label[tree.apply(data), 0]
    assert (confusion_matrix(tree, data) == metrics.confusion_matrix(data.targets[0], answers)).all()


def test_the_matrix_shows_counts_shares_and_costs(tmp_path: Path) -> None:
    tree, data = trees()
    costly = tree.with_costs({"a": {"b": 7}})
    cells = confusion_matrix(costly, data)
    ax: Axes = plot_confusion_matrix(costly, data)
    told = [text.get_text() for text in ax.texts]
    shares = cells / cells.sum(axis=1, keepdims=True)
    assert told[0] == f"{cells[0, 0]:.0f}\n{100 * shares[0, 0]:.1f} %"
    assert told[1] == f"{cells[0, 1]:.0f}\n{100 * shares[0, 1]:.1f} %\ncost {7 * cells[0, 1]:.0f}"
    mean = (7 * cells[0, 1] + cells[1, 0]) / cells.sum()
    assert f"mean cost {mean:.4g}" in ax.get_title(loc="left")
    assert "cost" not in plot_confusion_matrix(tree, data).get_title(loc="left")
    ax.figure.savefig(tmp_path / "picture.png", dpi=50)


# ---- names and refusals ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", [HOSTILE[i] for i in (0, 3, 5, 6, 11, 14)], ids=range(6))
@pytest.mark.filterwarnings("ignore:Glyph")
def test_names_are_data(name: str, tmp_path: Path) -> None:
    tree = hostile_tree(name)
    data = encode(
        {name: [0.0, 1.0, 0.2], "job": [name, "clerk", "cook"]}, [name, "other", name], schema=tree.schema
    )
    for ax in (
        plot_decision_regions(tree, data=data),
        plot_roc(tree, data),
        plot_precision_recall(tree, data),
        plot_confusion_matrix(tree, data),
    ):
        ax.figure.savefig(tmp_path / "picture.png", dpi=40)


def test_what_cannot_be_is_refused_in_words() -> None:
    tree, data = trees()
    for plot in (plot_roc, plot_precision_recall):
        with pytest.raises(ValueError, match="'c', which is no class of the tree; it has 'a', 'b'"):
            plot(tree, data, positive="c")
    for plot in (plot_roc, plot_precision_recall, plot_confusion_matrix):
        with pytest.raises(ValueError, match="classes of one target"):
            plot(number_tree(4), data)
        with pytest.raises(TypeError, match="data must be a Dataset"):
            plot(tree, [[1.0]])
        with pytest.raises(ValueError, match="data has no rows"):
            plot(tree, data.take([]))
        with pytest.raises(ValueError, match="the columns of data are not the tree's"):
            plot(spam_tree(8), data)
    many = many_classes(30)
    rows = encode(np.zeros((2, 3)), list(many.schema.targets[0].classes[:2]), schema=many.schema)
    with pytest.raises(ValueError, match="room for 25 classes"):
        plot_confusion_matrix(many, rows)
