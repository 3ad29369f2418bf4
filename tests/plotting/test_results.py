"""Plots of results: bars, points and texts are the numbers of the result; names are shown as they are."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import matplotlib
import numpy as np
import pytest
from sklearn.calibration import calibration_curve

import treewright as tw
from treewright import plotting
from treewright.ensembles.gradient_boosting import boost
from treewright.ensembles.out_of_bag import importance_of, out_of_bag
from treewright.plotting.quality import calibration_points

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.axes import Axes

rng = np.random.default_rng(11)
N = 300
HOSTILE = r"a$b$ <script>\frac{"
TABLE = {HOSTILE: rng.normal(size=N), "z": rng.integers(0, 9, N), "c": ["u", "v", "w"] * (N // 3)}
ANSWER = np.where(TABLE[HOSTILE] + 0.2 * TABLE["z"] + rng.normal(size=N) > 0.8, "y$es", "no")
TRAIN = tw.encode({name: column[: N // 2] for name, column in TABLE.items()}, ANSWER[: N // 2])
TEST = tw.encode(
    {name: column[N // 2 :] for name, column in TABLE.items()}, ANSWER[N // 2 :], schema=TRAIN.schema
)
TREE = tw.grow(TRAIN, max_leaf_nodes=7)
NUMBERS = tw.grow(tw.encode(TABLE, TABLE["z"] + TABLE[HOSTILE]), max_leaf_nodes=5)


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    pyplot.close("all")


def drawn(ax: Axes) -> Axes:
    """The axes of a figure that has been drawn: drawing finds names that are no text."""
    ax.figure.canvas.draw()
    return ax


def names(ax: Axes) -> list[str]:
    return [label.get_text().replace(r"\$", "$") for label in ax.get_yticklabels()]


def widths(ax: Axes) -> list[float]:
    return [bar.get_width() for bar in ax.patches]


def test_importance_has_a_bar_for_each_column_with_its_interval() -> None:
    found = tw.importance(TREE, TEST)
    ax = drawn(found.plot())
    ranked = sorted((each for each in found if each.permutation), key=lambda each: -each.permutation)
    assert names(ax) == [each.column for each in ranked]
    assert widths(ax) == pytest.approx([each.permutation for each in ranked])
    ends = np.concatenate([segment[:, 0] for segment in ax.collections[0].get_segments()])
    assert ends == pytest.approx([x for each in ranked for x in (each.lower, each.upper)], abs=1e-12)


def test_importance_of_a_model_is_that_of_its_splits() -> None:
    gains = {each.column: each.gain for each in tw.importance(TREE) if each.gain}
    model = tw.DecisionTreeClassifier(max_leaf_nodes=7).fit(TABLE, ANSWER)
    ax = drawn(tw.plot_importance(TREE))
    assert dict(zip(names(ax), widths(ax), strict=True)) == pytest.approx(gains)
    assert "risk reduction" in ax.get_xlabel()
    assert len(widths(drawn(tw.plot_importance(model, max_columns=1)))) == 1


def test_importance_of_a_forest() -> None:
    forest = tw.grow_forest(TRAIN, n_estimators=8, max_depth=3)
    found = importance_of(forest, TRAIN)
    ax = drawn(found.plot())
    used = [each for each in found.ranked if each.rise != 0]
    assert widths(ax) == pytest.approx(sorted((each.rise for each in used), reverse=True))


def test_importance_of_many_trees_is_the_share_of_their_gains() -> None:
    x = np.stack([TABLE[HOSTILE], TABLE["z"], rng.normal(size=N)], axis=1)
    models = (
        tw.RandomForestClassifier(5, max_depth=3),
        tw.HistGradientBoostingClassifier(max_iter=3),
        tw.AdaBoostClassifier(n_estimators=3),
    )
    for model in models:
        ax = drawn(tw.plot_importance(model.fit(x, ANSWER)))
        gains = sorted((gain for gain in model.feature_importances_ if gain), reverse=True)
        assert widths(ax) == pytest.approx(gains)


def test_the_out_of_bag_curve() -> None:
    found = out_of_bag(tw.grow_forest(TRAIN, n_estimators=9, max_depth=3), TRAIN)
    line = drawn(found.plot()).get_lines()[0]
    assert line.get_xdata().tolist() == list(range(1, 10))
    assert line.get_ydata() == pytest.approx(found.curve)


def test_a_waterfall_goes_from_the_average_to_the_prediction() -> None:
    row = {name: column[0] for name, column in TABLE.items()}
    found = tw.shapley_values(TREE, row)
    ax = drawn(found.plot())
    steps = sorted((float(v) for v in found.values[0, :, 1] if v), key=abs, reverse=True)
    assert widths(ax) == pytest.approx(steps)
    first, last = ax.patches[0], ax.patches[-1]
    assert first.get_x() == pytest.approx(found.base[1])
    assert last.get_x() + last.get_width() == pytest.approx(found.predictions[0, 1])
    few = drawn(found.plot(max_columns=1))
    assert sum(widths(few)) == pytest.approx(sum(steps))
    assert names(few)[-1].endswith("other columns") or names(few)[-1] == "1 other column"


def test_a_beeswarm_has_a_point_for_each_row_and_column() -> None:
    found = tw.shapley_values(TREE, TEST)
    ax = drawn(found.plot(output="no"))
    points = np.asarray(np.concatenate([group.get_offsets() for group in ax.collections]))
    used = np.abs(found.values[:, :, 0]).sum(axis=0) > 0
    assert len(points) == used.sum() * TEST.n_rows
    assert np.sort(points[:, 0]) == pytest.approx(np.sort(found.values[:, used, 0].ravel()))
    assert np.abs(points[:, 1] - points[:, 1].round()).max() <= 0.45  # no point in another column's line
    with pytest.raises(ValueError, match=r"outputs are 'no', 'y\$es'; did you mean 'no'"):
        found.plot(output="No")
    assert drawn(tw.shapley_values(NUMBERS, TABLE).plot()).get_xlabel() == "contribution to the y"


def test_stability_has_three_bars_for_each_column() -> None:
    found = tw.stability(TRAIN, n_bootstraps=6, max_leaf_nodes=5)
    ax = drawn(found.plot())
    used = [each for each in found.ranked if each.used]
    shares = [getattr(each, share) for share in ("used", "top", "root") for each in used]
    assert widths(ax) == pytest.approx(shares)


def test_rules_show_right_and_wrong_rows() -> None:
    rules = tw.RuleList.of(TREE)
    ax = drawn(rules.plot())
    sizes = widths(ax)
    assert sizes[::2] == pytest.approx([rule.weight - rule.errors for rule in rules])
    assert sizes[1::2] == pytest.approx([rule.errors for rule in rules])
    assert [text.get_text().partition(",")[0].replace(r"\$", "$") for text in ax.texts] == [
        str(rule.label) for rule in rules
    ]
    assert (
        drawn(tw.plot_rules(TREE, max_rules=2)).get_title(loc="left") == f"… and {len(rules) - 2} more rules"
    )
    assert len(widths(drawn(tw.plot_rules(NUMBERS)))) == 2 * NUMBERS.n_leaves
    model = tw.RuleListClassifier().fit(TABLE, ANSWER)
    assert names(drawn(tw.plot_rules(model)))[-1] == "otherwise"


def test_certificates_have_error_and_bound() -> None:
    held_out, occam = tw.certify(TREE, test=TEST), tw.certify(TREE, "occam", data=TRAIN)
    ax = drawn(tw.plot_certificate([held_out, occam]))
    spans = [line.get_xdata() for line in ax.get_lines() if len(line.get_xdata()) == 2]
    assert np.array(spans) == pytest.approx(
        np.array([[c.error, min(c.value, c.most)] for c in (held_out, occam)])
    )
    assert ax.texts[0].get_text() == f"below {held_out.bound_text}"
    assert "held out" in names(ax)[0]
    drawn(held_out.plot())
    votes = tw.certify_votes(rng.random((20, 400)) < 0.2)
    assert len(names(drawn(votes.plot()))) == len(votes.bounds)
    with pytest.raises(TypeError, match="plot_certificate takes what certify returns, not a int"):
        tw.plot_certificate([3])  # type: ignore[list-item]


def test_calibration_agrees_with_scikit_learn() -> None:
    share = TREE.shares(TREE.apply(TEST))[0][:, 1]
    truth = TEST.targets[0] == 1
    at, seen, ends = calibration_points(share, truth, np.ones(len(share)), n_bins=100)
    expected, mean = calibration_curve(truth, share, n_bins=10_000, strategy="uniform")
    assert at == pytest.approx(mean)
    assert seen == pytest.approx(expected)
    assert (ends >= 0).all()
    assert (seen - ends[0] >= -1e-9).all()
    assert (seen + ends[1] <= 1 + 1e-9).all()
    few, *_ = calibration_points(rng.random(1000), rng.random(1000) < 0.5, np.ones(1000), n_bins=5)
    assert len(few) == 5
    ax = drawn(tw.plot_calibration(TREE, TEST))
    assert ax.get_lines()[1].get_xdata() == pytest.approx(at)


def test_boosting_shows_measured_losses() -> None:
    model = tw.HistGradientBoostingClassifier(max_iter=5, early_stopping=True, min_samples_leaf=5)
    ax = drawn(model.fit(np.stack([TABLE[HOSTILE], TABLE["z"]], axis=1), ANSWER).model_.plot())
    assert ax.get_lines()[0].get_ydata() == pytest.approx(model.model_.train_loss)
    assert ax.get_lines()[1].get_ydata() == pytest.approx(model.model_.validation_loss)
    for other in (model.plot(), tw.plot_boosting(model)):
        assert drawn(other).get_lines()[0].get_ydata() == pytest.approx(model.model_.train_loss)
    with pytest.raises(ValueError, match="fit with early_stopping=True"):
        boost(TRAIN, max_iter=2).plot()


def test_a_fitted_estimator_stands_for_its_result() -> None:
    table = np.stack([TABLE[HOSTILE], TABLE["z"]], axis=1)
    forest = tw.RandomForestClassifier(30, oob_score=True, random_state=0).fit(table, ANSWER)
    ax = drawn(tw.plot_out_of_bag(forest))
    assert ax.get_lines()[0].get_ydata() == pytest.approx(forest.oob_curve_)
    assert ax.get_ylabel() == "out-of-bag error"
    regressor = tw.RandomForestRegressor(30, oob_score=True, random_state=0).fit(table, table[:, 0])
    assert drawn(tw.plot_out_of_bag(regressor)).get_ylabel() == "out-of-bag squared error"
    pruned = tw.DecisionTreeClassifier(pruning="cost_complexity").fit(table, ANSWER)
    assert drawn(tw.plot_pruning_path(pruned)).get_title("left").startswith("Pruning by cost complexity")
    stumps = tw.AdaBoostClassifier(n_estimators=3).fit(table, ANSWER)
    left, right = tw.plot_adaboost(stumps, (table, ANSWER))
    assert len(drawn(left).get_lines()) == 2
    assert right.get_lines()


OTHERS: list[tuple[Callable[[Any], Any], str]] = [
    (tw.plot_adaboost, "a fitted AdaBoostClassifier"),
    (tw.plot_boosting, "a fitted gradient boosting model"),
    (tw.plot_certificate, "what certify returns"),
    (tw.plot_comparison, "what compare returns"),
    (tw.plot_defeatist_curve, "what defeatist_curve returns"),
    (tw.plot_out_of_bag, "what out_of_bag returns, or a forest that was fitted with oob_score=True"),
    (tw.plot_overfitting_curve, "what overfitting_curve returns"),
    (tw.plot_pruning_path, "what prune and select return"),
    (tw.plot_shapley, "what shapley_values returns"),
    (tw.plot_stability, "what stability returns"),
    (tw.plot_weak_learning_bound, "what weak_learning_bound returns"),
]


@pytest.mark.parametrize(("plot", "wanted"), OTHERS)
def test_what_is_no_result_is_named(plot: Callable[[Any], Any], wanted: str) -> None:
    model = tw.DecisionTreeClassifier().fit([[0.0], [1.0]], ["a", "b"])
    with pytest.raises(TypeError, match=rf"{plot.__name__} takes {wanted}, not a DecisionTreeClassifier$"):
        plot(model)


def test_every_plot_is_at_the_top_and_says_what_it_needs() -> None:
    assert [name for name in tw.__all__ if name.startswith("plot_")] == plotting.__all__
    assert all(getattr(tw, name) is getattr(plotting, name) for name in plotting.__all__)
    code = """
import sys
sys.modules["matplotlib"] = None
import treewright as tw
tree = tw.grow(tw.encode({"x": [1, 2, 3, 4]}, ["a", "a", "b", "b"]))
for plot in (tree.plot, tw.importance(tree).plot, tw.RuleList.of(tree).plot, lambda: tw.plot_tree(tree)):
    try:
        plot()
    except ImportError as error:
        print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert set(run.stdout.splitlines()) == {"plots need matplotlib: pip install 'treewright[plot]'"}


@pytest.mark.parametrize("name", plotting.__all__)
def test_a_misspelt_option_is_named(name: str) -> None:
    given: list[Any] = [TREE, TEST][: 2 if name in ("plot_roc", "plot_precision_recall") else 1]
    with pytest.raises(TypeError, match=rf"{name} has no parameter 'axs'"):
        getattr(tw, name)(*given, axs=None)
