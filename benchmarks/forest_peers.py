"""The forests compared: how each library grows 100 trees to the same limits, as nearly as it can."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.peers import version_of
from benchmarks.problems import Problem

TREES = 100
DRAWN = 0.632  # the share of the rows that a bootstrap sees, where a library cannot draw with replacement
OURS = "treewright"
FOREST, OOB, EXTRA, BAGGING = "random forest", "with out-of-bag score", "extra trees", "bagging"

Fit = Callable[[Problem, Any, Any, int], Any]


@dataclass(frozen=True)
class Library:
    """One library, or one way to use it."""

    package: str
    kind: str  # "exact": every threshold is considered; "binned": at most 256 per column; "drawn": one
    fit: Fit
    family: str = FOREST  # compared with treewright's of the same family
    works: tuple[str, ...] = ("fit",)
    dtype: str = "float32"  # of the rows to predict
    spared: tuple[str, ...] = ()  # the problems that would take it more than a minute
    of_columns: bool = False  # tables are dicts of columns

    def why_not(self, problem: Problem) -> str | None:
        """Why the library is not measured on a problem; None if it is."""
        if version_of(self.package) is None:
            return "not installed"
        return "spared: takes more than a minute" if problem.name in self.spared else None

    def table(self, rows: Any) -> Any:
        """Rows in the form that the library takes; not part of the time measured."""
        if not self.of_columns:
            return rows
        return {f"x{k}": np.ascontiguousarray(rows[:, k]) for k in range(rows.shape[1])}


def columns_drawn(problem: Problem) -> int:
    """How many columns a node considers: the root of their number for classes, a third for numbers."""
    return int(problem.columns**0.5) if problem.classes else max(1, problem.columns // 3)


def _native(ensemble: str, **options: Any) -> Fit:
    """An ensemble of treewright."""

    def fit(problem: Problem, table: Any, target: Any, threads: int) -> Any:
        import treewright

        return _fitted(treewright, ensemble, options, problem, table, target, threads)

    return fit


def _sklearn(ensemble: str, **options: Any) -> Fit:
    """An ensemble of scikit-learn."""

    def fit(problem: Problem, table: Any, target: Any, threads: int) -> Any:
        import sklearn.ensemble

        return _fitted(sklearn.ensemble, ensemble, options, problem, table, target, threads)

    return fit


def _sklearnex(problem: Problem, table: Any, target: Any, threads: int) -> Any:
    import sklearnex.ensemble

    return _fitted(sklearnex.ensemble, "RandomForest", {}, problem, table, target, threads)


def _fitted(
    room: Any, ensemble: str, options: dict[str, Any], problem: Problem, table: Any, target: Any, threads: int
) -> Any:
    """What has scikit-learn's names and parameters."""
    maker = getattr(room, ensemble + ("Classifier" if problem.classes else "Regressor"))
    if ensemble != "Bagging":
        options = {"max_features": columns_drawn(problem), "max_depth": problem.max_depth} | options
    model = maker(n_estimators=TREES, n_jobs=threads, random_state=0, **options)
    return model.fit(table, target)


def _snapml(use_histograms: bool) -> Fit:
    def fit(problem: Problem, table: Any, target: Any, threads: int) -> Any:
        import snapml

        forest = snapml.RandomForestClassifier if problem.classes else snapml.RandomForestRegressor
        options = {"max_depth": problem.max_depth, "max_features": columns_drawn(problem), "random_state": 0}
        forest = forest(n_estimators=TREES, use_histograms=use_histograms, n_jobs=threads, **options)
        return forest.fit(table, target)

    return fit


class YDFForest:
    """A forest of ydf that answers as the others do."""

    def __init__(self, problem: Problem, table: Any, target: Any, threads: int) -> None:
        import ydf

        ydf.verbose(0)
        learner = ydf.RandomForestLearner(
            label="y",
            task=ydf.Task.CLASSIFICATION if problem.classes else ydf.Task.REGRESSION,
            features=list(table),
            num_trees=TREES,
            max_depth=-1 if problem.max_depth is None else problem.max_depth + 1,
            min_examples=1,
            num_candidate_attributes=columns_drawn(problem),
            compute_oob_performances=False,
            winner_take_all=False,
            num_threads=threads,
        )
        self.model, self.threads = learner.train(table | {"y": target}), threads
        self.classes = problem.classes

    def predict(self, table: Any) -> Any:
        predicted = self.model.predict(table, num_threads=self.threads)
        return predicted > 0.5 if self.classes else predicted


class LightGBMForest:
    """LightGBM's random forests: a share of the rows for each tree, drawn without replacement."""

    def __init__(self, problem: Problem, table: Any, target: Any, threads: int) -> None:
        import lightgbm

        leaves = 2**problem.max_depth if problem.max_depth else len(target) // (4 if problem.classes else 1)
        options = {
            "boosting_type": "rf",
            "objective": "binary" if problem.classes else "regression",
            "bagging_freq": 1,
            "bagging_fraction": DRAWN,
            "feature_fraction_bynode": columns_drawn(problem) / problem.columns,
            "max_depth": problem.max_depth or -1,
            "num_leaves": max(2, min(leaves, 2**17)),  # it sets memory aside for as many
            "histogram_pool_size": 128,  # MB
            "min_data_in_leaf": 1,
            "min_sum_hessian_in_leaf": 0.0,
            "num_threads": threads,
            "verbosity": -1,
        }
        self.model = lightgbm.train(options, lightgbm.Dataset(table, target), num_boost_round=TREES)
        self.classes, self.threads = problem.classes, threads

    def predict(self, table: Any) -> Any:
        predicted = self.model.predict(table, num_threads=self.threads)
        return predicted > 0.5 if self.classes else predicted


def _xgboost(problem: Problem, table: Any, target: Any, threads: int) -> Any:
    import xgboost

    forest = xgboost.XGBRFClassifier if problem.classes else xgboost.XGBRFRegressor
    forest = forest(
        n_estimators=TREES,
        tree_method="hist",
        max_depth=problem.max_depth or 0,
        subsample=DRAWN,
        colsample_bynode=columns_drawn(problem) / problem.columns,
        reg_lambda=0.0,
        min_child_weight=0.0,
        n_jobs=threads,
        random_state=0,
    )
    return forest.fit(table, target)


def size_of(model: Any) -> dict[str, float]:
    """What a forest takes in MB: pickled, and its arrays in memory where the library tells."""
    told = {"size": len(pickle.dumps(getattr(model, "model", model))) / 2**20}
    own = getattr(model, "model_", None)
    return told | ({"held": own.n_bytes / 2**20} if hasattr(own, "n_bytes") else {})


_BOTH, _PREDICT = ("fit", "predict"), ("predict",)
LIBRARIES = {
    OURS: Library("treewright", "exact", _native("RandomForest"), works=_BOTH),
    f"{OURS}, float64": Library(
        "treewright", "exact", _native("RandomForest"), works=_PREDICT, dtype="float64"
    ),
    "scikit-learn": Library("scikit-learn", "exact", _sklearn("RandomForest"), works=_BOTH),
    "snapml exact": Library("snapml", "exact", _snapml(False)),
    "ydf": Library("ydf", "exact", YDFForest, of_columns=True),
    "snapml binned": Library("snapml", "binned", _snapml(True)),
    "scikit-learn-intelex": Library("scikit-learn-intelex", "binned", _sklearnex, works=_BOTH),
    "LightGBM": Library(
        "lightgbm", "binned", LightGBMForest, works=_BOTH, spared=("100k x 20", "20k x 20 regression")
    ),
    "XGBoost": Library("xgboost", "binned", _xgboost, works=_PREDICT),
    f"{OURS}, {OOB}": Library("treewright", "exact", _native("RandomForest", oob_score=True), OOB),
    f"scikit-learn, {OOB}": Library("scikit-learn", "exact", _sklearn("RandomForest", oob_score=True), OOB),
    f"{OURS}, {EXTRA}": Library("treewright", "drawn", _native("ExtraTrees"), EXTRA),
    f"scikit-learn, {EXTRA}": Library("scikit-learn", "drawn", _sklearn("ExtraTrees"), EXTRA),
    f"{OURS}, {BAGGING}": Library("treewright", "exact", _native("Bagging"), BAGGING),
    f"scikit-learn, {BAGGING}": Library(
        "scikit-learn", "exact", _sklearn("Bagging"), BAGGING, spared=("100k x 20",)
    ),
}
