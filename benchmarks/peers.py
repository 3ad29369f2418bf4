"""The libraries compared: how each grows one tree to the same limits, as nearly as it can, and predicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from benchmarks.problems import CATEGORY_COLUMNS, Problem

Table = Any  # an array, or what the library takes in its place where there are categories


@dataclass(frozen=True)
class Peer:
    """One library, or one way to use it."""

    name: str
    package: str  # its name on PyPI
    exact: bool  # every threshold is considered, or at most 256 per column
    cannot: frozenset[str] = frozenset()  # of `Problem.needs`
    spared: Mapping[str, str] = field(default_factory=dict)  # what it can do, but why that is not measured
    threaded: bool = False  # it can use several threads for one tree

    @property
    def installed(self) -> bool:
        """Whether the library is there."""
        return version_of(self.package) is not None

    def why_not(self, problem: Problem) -> str | None:
        """Why the library is not measured on a problem; None if it is."""
        if not self.installed:
            return "not installed"
        lacking = sorted(problem.needs & self.cannot)
        if lacking:
            return f"cannot do {', '.join(lacking)} in one tree"
        spared = sorted(problem.needs & self.spared.keys())
        return f"spared: {self.spared[spared[0]]}" if spared else None

    def table(self, problem: Problem, rows: Any) -> Table:
        """Rows in the form that the library takes; not part of the time measured."""
        return _frame(problem, rows) if problem.categories or problem.frame else rows

    def fit(self, problem: Problem, table: Table, target: Any, weight: Any, threads: int) -> Any:
        """Grow one tree."""
        raise NotImplementedError

    def predict(self, model: Any, table: Table, threads: int) -> Any:
        """The predicted classes or numbers; a model whose `predict` takes no threads uses those of `fit`."""
        return model.predict(table)

    def leaves(self, model: Any) -> int | None:
        """The number of leaves, where the library tells."""
        return int(model.get_n_leaves())

    def depth(self, model: Any) -> int | None:
        """The number of splits above the deepest leaf, where the library tells."""
        return int(model.get_depth()) if hasattr(model, "get_depth") else None


class Treewright(Peer):
    def fit(self, problem: Problem, table: Table, target: Any, weight: Any, threads: int) -> Any:
        import treewright

        tree = treewright.DecisionTreeClassifier if problem.classes else treewright.DecisionTreeRegressor
        limits = {"max_depth": problem.max_depth, "max_leaf_nodes": problem.max_leaf_nodes}
        return tree(n_jobs=threads, **limits).fit(table, target, sample_weight=weight)


class ScikitLearn(Peer):
    def fit(self, problem: Problem, table: Table, target: Any, weight: Any, threads: int) -> Any:
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        tree = DecisionTreeClassifier if problem.classes else DecisionTreeRegressor
        limits = {"max_depth": problem.max_depth, "max_leaf_nodes": problem.max_leaf_nodes}
        return tree(random_state=0, **limits).fit(table, target, sample_weight=weight)


class SklearnIntelex(Peer):
    """oneDAL has no single tree: a forest of one, with all rows and all columns, is one."""

    def fit(self, problem: Problem, table: Table, target: Any, weight: Any, threads: int) -> Any:
        from sklearnex.ensemble import RandomForestClassifier, RandomForestRegressor

        forest = RandomForestClassifier if problem.classes else RandomForestRegressor
        limits = {"max_depth": problem.max_depth, "max_leaf_nodes": problem.max_leaf_nodes}
        forest = forest(
            n_estimators=1, bootstrap=False, max_features=None, n_jobs=threads, random_state=0, **limits
        )
        return forest.fit(table, target, sample_weight=weight)

    def leaves(self, model: Any) -> int | None:
        return int(model.estimators_[0].get_n_leaves())


class SnapML(Peer):
    def fit(self, problem: Problem, table: Table, target: Any, weight: Any, threads: int) -> Any:
        import snapml

        tree = snapml.DecisionTreeClassifier if problem.classes else snapml.DecisionTreeRegressor
        tree = tree(
            max_depth=problem.max_depth, use_histograms=not self.exact, n_jobs=threads, random_state=0
        )
        return tree.fit(table, target, sample_weight=weight)

    def leaves(self, model: Any) -> int | None:
        return None


class LightGBM(Peer):
    """One round of boosting with nothing that holds the tree back."""

    def fit(self, problem: Problem, table: Table, target: Any, weight: Any, threads: int) -> Any:
        import lightgbm

        # It sets memory aside for every leaf there might be, which took longer than growing: promise it few.
        leaves = 2**problem.max_depth if problem.max_depth else len(target) // (4 if problem.classes else 1)
        options = {
            "objective": "binary" if problem.classes else "regression",
            "learning_rate": 1.0,
            "max_depth": problem.max_depth or -1,
            "num_leaves": problem.max_leaf_nodes or min(leaves, 2**17),
            "histogram_pool_size": 128,  # MB
            "min_data_in_leaf": 1,
            "min_sum_hessian_in_leaf": 1e-3 if problem.weighted else 0.0,  # at 0 it stops with an error
            "min_data_per_group": 1,
            "cat_smooth": 0.0,
            "cat_l2": 0.0,
            "num_threads": threads,
            "verbosity": -1,
        }
        return lightgbm.train(options, lightgbm.Dataset(table, target, weight=weight), num_boost_round=1)

    def predict(self, model: Any, table: Table, threads: int) -> Any:
        predicted = model.predict(table, num_threads=threads)
        return predicted > 0.5 if model.params["objective"] == "binary" else predicted

    def leaves(self, model: Any) -> int | None:
        return int(model.dump_model()["tree_info"][0]["num_leaves"])


class XGBoost(Peer):
    """One round of boosting with nothing that holds the tree back."""

    def fit(self, problem: Problem, table: Table, target: Any, weight: Any, threads: int) -> Any:
        import xgboost

        options = {
            "objective": "binary:logistic" if problem.classes else "reg:squarederror",
            "tree_method": "exact" if self.exact else "hist",
            "max_depth": problem.max_depth or (64 if self.exact else 0),  # its exact method wants a number
            "eta": 1.0,
            "lambda": 0.0,
            "min_child_weight": 0.0,
            "max_bin": 256,
            "nthread": threads,
        }
        if problem.max_leaf_nodes:
            options |= {"max_leaves": problem.max_leaf_nodes, "grow_policy": "lossguide"}
        matrix = xgboost.DMatrix if self.exact else xgboost.QuantileDMatrix
        rows = matrix(
            table, target, weight=weight, nthread=threads, enable_categorical=problem.categories > 0
        )
        return xgboost.train(options, rows, num_boost_round=1), problem.classes

    def predict(self, model: Any, table: Table, threads: int) -> Any:
        booster, classes = model
        predicted = booster.inplace_predict(table)
        return predicted > 0.5 if classes else predicted

    def leaves(self, model: Any) -> int | None:
        return int(model[0].get_dump()[0].count("leaf="))


class YDF(Peer):
    def table(self, problem: Problem, rows: Any) -> Table:
        columns = {f"x{k}": np.ascontiguousarray(rows[:, k]) for k in range(rows.shape[1])}
        for k in range(CATEGORY_COLUMNS if problem.categories else 0):
            columns[f"x{k}"] = rows[:, k].astype(int).astype(str)
        return columns

    def fit(self, problem: Problem, table: Table, target: Any, weight: Any, threads: int) -> Any:
        import ydf

        ydf.verbose(0)
        best_first = problem.max_leaf_nodes is not None
        learner = ydf.CartLearner(
            label="y",
            task=ydf.Task.CLASSIFICATION if problem.classes else ydf.Task.REGRESSION,
            weights="w" if problem.weighted else None,
            features=list(table),
            max_depth=-1 if problem.max_depth is None else problem.max_depth + 1,
            growing_strategy="BEST_FIRST_GLOBAL" if best_first else "LOCAL",
            max_num_nodes=problem.max_leaf_nodes,
            min_examples=1,
            min_vocab_frequency=1,
            validation_ratio=0.0,
            num_threads=threads,
        )
        rows = table | {"y": target} | ({"w": weight} if problem.weighted else {})
        return learner.train(rows), problem.classes

    def predict(self, model: Any, table: Table, threads: int) -> Any:
        tree, classes = model
        predicted = tree.predict(table, num_threads=threads)
        if classes > 2:
            return np.asarray(tree.label_classes())[predicted.argmax(axis=1)]
        return predicted > 0.5 if classes else predicted

    def leaves(self, model: Any) -> int | None:
        return (int(model[0].num_nodes()) + 1) // 2


def version_of(package: str) -> str | None:
    """The version of a package; None if it is not there. treewright need not be installed to be measured."""
    if package == "treewright":
        import treewright

        return treewright.__version__
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _frame(problem: Problem, rows: Any) -> Any:
    """A pandas frame whose first columns are categories where the problem says so."""
    import pandas

    frame = pandas.DataFrame(rows)
    frame.columns = [f"x{k}" for k in range(rows.shape[1])]
    for k in range(CATEGORY_COLUMNS if problem.categories else 0):
        frame[f"x{k}"] = frame[f"x{k}"].astype(int).astype(str).astype("category")
    return frame


_BOOSTING = frozenset({"many classes"})  # they grow one tree per class
_SNAPML = frozenset({"categories", "missing values", "max_leaf_nodes", "pandas frames"})
_SLOW = {"100 classes": "took more than a minute"}
_LIST = (
    Treewright("treewright", "treewright", exact=True, threaded=True),
    ScikitLearn("scikit-learn", "scikit-learn", exact=True, cannot=frozenset({"categories"})),
    SnapML("snapml exact", "snapml", exact=True, cannot=_SNAPML),
    YDF("ydf", "ydf", exact=True, spared=_SLOW),
    XGBoost(
        "XGBoost exact",
        "xgboost",
        exact=True,
        cannot=_BOOSTING | {"categories", "max_leaf_nodes"},
        spared={"a huge tree": "a tenth of the rows took 3 times as long as snapml exact"},
    ),
    SnapML("snapml binned", "snapml", exact=False, cannot=_SNAPML, spared=_SLOW),
    SklearnIntelex(
        "scikit-learn-intelex",
        "scikit-learn-intelex",
        exact=False,
        cannot=frozenset({"categories", "missing values"}),
        threaded=True,
    ),
    LightGBM("LightGBM", "lightgbm", exact=False, cannot=_BOOSTING, threaded=True),
    XGBoost(
        "XGBoost hist",
        "xgboost",
        exact=False,
        cannot=_BOOSTING,
        spared={"a huge tree": "a tenth of the rows took 1.2 GB"},
    ),
)
PEERS = {peer.name: peer for peer in _LIST}
