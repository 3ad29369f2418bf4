"""Wrapper selection: each step against all alternatives, reused trees against growing every tree."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.model_selection import KFold, cross_val_score

from treewright import (
    CARTClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    TreeSelector,
    encode,
    grow,
)
from treewright.feature_selection import search_columns

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(150, 5))
Y = (X[:, 1] > 0.3) & (X[:, 3] + 0.3 * RANDOM.normal(size=150) > 0)
FOLDS = list(KFold(3).split(X))


def naive_score(columns: tuple[int, ...], model: object) -> np.ndarray:
    """The accuracy of each fold, by whole fits."""
    part = X[:, list(columns)]
    return cross_val_score(model, part, Y, cv=FOLDS)


@pytest.fixture(scope="module")
def scores() -> dict[tuple[int, ...], np.ndarray]:
    """Of all sets of columns."""
    model = DecisionTreeClassifier(max_leaf_nodes=6)
    subsets = [columns for n in range(1, 6) for columns in combinations(range(5), n)]
    return {columns: naive_score(columns, model) for columns in subsets}


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_each_step_takes_the_best_set(direction: str, scores: dict[tuple[int, ...], np.ndarray]) -> None:
    model = DecisionTreeClassifier(max_leaf_nodes=6)
    path = TreeSelector(model, direction=direction, cv=FOLDS, tol=None).fit(X, Y).path_
    assert sorted(path.sizes) == [1, 2, 3, 4, 5]
    for place, columns in enumerate(path.sets):
        np.testing.assert_allclose(path.scores[place], scores[columns])
        if place:
            before = {*path.sets[place - 1]}
            near = [each for each in scores if len({*each} ^ before) == 1 and len(each) == len(columns)]
            assert scores[columns].mean() == pytest.approx(max(scores[each].mean() for each in near))
    assert path.mean[path.chosen] == pytest.approx(path.mean.max())
    first = [each for each in scores if len(each) == 1]
    if direction == "forward":
        assert scores[path.sets[0]].mean() == max(scores[each].mean() for each in first)


def naive_elimination(grown: np.ndarray, judged: np.ndarray) -> list[float]:
    columns, found = list(range(5)), []
    while columns:
        model = DecisionTreeClassifier(max_leaf_nodes=6).fit(X[grown][:, columns], Y[grown])
        found.append(model.score(X[judged][:, columns], Y[judged]))
        importance = model.feature_importances_
        least = max(range(len(columns)), key=lambda j: (-importance[j], j))
        del columns[least]
    return found


def test_elimination_is_within_each_fold() -> None:
    model = DecisionTreeClassifier(max_leaf_nodes=6)
    path = TreeSelector(model, direction="rfe", cv=FOLDS).fit(X, Y).path_
    for fold, (grown, judged) in enumerate(FOLDS):
        np.testing.assert_allclose(path.scores[:, fold], naive_elimination(grown, judged))
    assert [len(each) for each in path.sets] == [5, 4, 3, 2, 1]
    assert {1, 3} <= {*path.columns}


class CountingScorer:
    """Grows trees and counts them."""

    def __init__(self, ignores_untested_columns: bool) -> None:
        self.ignores_untested_columns, self.grown = ignores_untested_columns, 0

    def grow(self, data, listener):
        self.grown += 1
        return grow(data, max_leaf_nodes=4)

    def score(self, tree, data):
        return 1 - tree.mean(tree.loss_of(data)[0], data)


@pytest.mark.parametrize("direction", ["backward", "rfe"])
def test_reused_trees_do_not_change_the_path(direction: str) -> None:
    data = encode(np.hstack([X, RANDOM.normal(size=(150, 8))]), Y)
    quick, slow = CountingScorer(True), CountingScorer(False)
    one, two = (
        search_columns(data, FOLDS, scorer, direction=direction, tol=None) for scorer in (quick, slow)
    )
    assert one.sets == two.sets
    np.testing.assert_array_equal(one.scores, two.scores)
    assert quick.grown < slow.grown / 2


def test_exclusive_or_needs_both_columns_at_once() -> None:
    random = np.random.default_rng(3)
    table = random.normal(size=(300, 4))
    y = (table[:, 0] > 0) ^ (table[:, 2] > 0)
    model = DecisionTreeClassifier(min_samples_leaf=20)
    backward = TreeSelector(model, direction="backward", random_state=0).fit(table, y)
    assert {0, 2} <= {*backward.get_support(True)}
    assert backward.path_.mean[backward.path_.chosen] > 0.8


def test_n_features_to_select() -> None:
    for direction in ("forward", "backward", "rfe"):
        model = DecisionTreeClassifier(min_samples_leaf=10)
        keep = TreeSelector(model, direction=direction, n_features_to_select=2, random_state=0).fit(X, Y)
        assert keep.get_support(True).tolist() == [1, 3], direction
        assert keep.n_features_ == 2
    assert TreeSelector(n_features_to_select=0.6, cv=2).fit(X, Y).support_.sum() == 3
    fewest = TreeSelector(direction="rfe", rule="1-SE", random_state=0).fit(X, Y).path_
    best = TreeSelector(direction="rfe", random_state=0).fit(X, Y).path_
    assert len(fewest.columns) <= len(best.columns)
    top = best.mean.argmax()
    assert fewest.mean[fewest.chosen] >= best.mean[top] - best.standard_error[top]
    halves = TreeSelector(direction="rfe", step=0.5, cv=2).fit(X, Y)
    assert halves.cv_results_["n_features"].tolist() == [5, 3, 2, 1]


def test_cv_results() -> None:
    keep = TreeSelector(cv=3, tol=None, random_state=0).fit(X, Y)
    table = keep.cv_results_
    folds = np.stack([table[f"split{i}_test_score"] for i in range(3)])
    np.testing.assert_allclose(table["mean_test_score"], folds.mean(axis=0))
    np.testing.assert_allclose(table["std_test_score"], folds.std(axis=0))
    np.testing.assert_allclose(table["standard_error"], folds.std(axis=0, ddof=1) / np.sqrt(3))
    assert table["changed"][0] == (f"x{table['columns'][0][0]}",)
    assert "*" in str(keep.path_)
    assert keep.path_.to_dict()["sizes"] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy", "roc_auc", "neg_log_loss"])
def test_scoring(scoring: str) -> None:
    model = DecisionTreeClassifier(max_leaf_nodes=5)
    path = TreeSelector(model, scoring=scoring, cv=FOLDS, n_features_to_select=1).fit(X, Y).path_
    column = path.columns[0]
    np.testing.assert_allclose(
        path.scores[-1], cross_val_score(model, X[:, [column]], Y, cv=FOLDS, scoring=scoring)
    )


def test_numeric_target() -> None:
    y = 3 * X[:, 2] + 0.1 * RANDOM.normal(size=150)
    usual = TreeSelector(cv=FOLDS, n_features_to_select=1).fit(X, y)
    assert usual.get_support(True).tolist() == [2]
    model = DecisionTreeRegressor()
    np.testing.assert_allclose(usual.path_.scores[0], cross_val_score(model, X[:, [2]], y, cv=FOLDS))
    scorer = make_scorer(mean_absolute_error, greater_is_better=False)
    absolute = TreeSelector(model, cv=FOLDS, n_features_to_select=1, scoring=scorer).fit(X, y)
    naive = cross_val_score(model, X[:, [2]], y, cv=FOLDS, scoring=scorer)
    np.testing.assert_allclose(absolute.path_.scores[0], naive)


def test_sample_weight_and_class_weight() -> None:
    weight = RANDOM.integers(0, 3, 150).astype(float)
    model = DecisionTreeClassifier(class_weight="balanced", max_leaf_nodes=4)
    path = TreeSelector(model, cv=FOLDS, n_features_to_select=1).fit(X, Y, weight).path_
    column = list(path.columns)
    for fold, (grown, judged) in enumerate(FOLDS):
        model.fit(X[grown][:, column], Y[grown], weight[grown])
        assert path.scores[0, fold] == pytest.approx(
            model.score(X[judged][:, column], Y[judged], weight[judged])
        )


def test_parameters_by_column_follow_the_columns() -> None:
    names = ["a", "b", "c", "d", "e"]
    table = dict(zip(names, X.T, strict=True))
    for said in (
        {"feature_costs": {"b": 50.0}},
        {"feature_costs": [0, 50.0, 0, 0, 0]},
        {"monotonic_cst": [0, 1, 0, 1, 0]},
        {"interaction_cst": [["b", "d"], ["a", "c"]]},
        {"interaction_cst": "no_interactions"},
    ):
        model = DecisionTreeClassifier(max_leaf_nodes=5, **said)
        path = TreeSelector(model, direction="backward", cv=FOLDS, n_features_to_select=4).fit(table, Y).path_
        grown, judged = FOLDS[0]
        whole = model.fit({n: v[grown] for n, v in table.items()}, Y[grown])
        assert path.scores[0, 0] == whole.score({n: v[judged] for n, v in table.items()}, Y[judged])


@pytest.mark.slow
def test_other_trees_and_tables() -> None:
    table = {
        "number": [None, *np.random.default_rng(5).normal(size=79)],
        "sky": ["rain", None, "sun", "sun"] * 20,
        "day": np.arange("2024-01-01", "2024-03-21", dtype="datetime64[D]"),
    }
    y = [str(sky) for sky in table["sky"]]
    for model in (
        None,
        CARTClassifier(cv=2, random_state=0),
        ExtraTreeClassifier(),
        DecisionTreeClassifier(),
    ):
        for direction in ("forward", "rfe"):
            keep = TreeSelector(model, direction=direction, cv=3, random_state=0).fit(table, y)
            assert "sky" in keep.get_feature_names_out(), (model, direction)
    pruned = DecisionTreeClassifier(pruning="cost_complexity", random_state=0)
    assert TreeSelector(pruned, cv=3, random_state=0).fit(table, y).transform(table).keys() == {"sky"}


def test_result_is_independent_of_n_jobs() -> None:
    iris, y = load_iris(return_X_y=True)
    for direction in ("forward", "backward", "rfe"):
        model = ExtraTreeClassifier() if direction == "rfe" else None
        one, two = (
            TreeSelector(model, direction=direction, random_state=1, n_jobs=n).fit(iris, y).path_
            for n in (1, 2)
        )
        assert one.sets == two.sets
        assert one.scores.tobytes() == two.scores.tobytes()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_features_to_select": 6}, "at most the number of columns, 5"),
        ({"n_features_to_select": "some"}, "or 'best'"),
        ({"direction": "sideways"}, "direction='sideways'"),
        ({"cv": 1}, "cv=1 is not possible"),
        ({"cv": 151}, "n_samples = 150"),
        ({"estimator": KFold()}, "a tree of treewright"),
        ({"estimator": DecisionTreeClassifier(root="x1")}, "given root"),
        ({"estimator": DecisionTreeClassifier(max_depth=0)}, "max_depth=0"),
        ({"direction": "rfe", "step": 1.5}, "step=1.5 is not possible"),
        ({"direction": "rfe", "step": 0}, "step=0 is not possible"),
        ({"tol": -1}, "tol=-1"),
        ({"scoring": "nonsense"}, "nonsense"),
    ],
)
def test_invalid_parameters(parameters: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        TreeSelector(**parameters).fit(X, Y)


def test_exception_of_progress_ends_the_work() -> None:
    def stop(share: float) -> None:
        if share > 0.1:
            raise KeyboardInterrupt

    for direction in ("forward", "backward", "rfe"):
        for n_jobs in (1, 2):
            with pytest.raises(KeyboardInterrupt):
                search_columns(
                    encode(X, Y),
                    FOLDS,
                    CountingScorer(False),
                    direction=direction,
                    tol=None,
                    n_jobs=n_jobs,
                    progress=stop,
                )
