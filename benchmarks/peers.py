"""The libraries compared: how each grows one tree to the same limits, as nearly as it can, and predicts."""

from __future__ import annotations

from dataclasses import dataclass
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

    def missing(self) -> str | None:
        """Why the library cannot be measured here at all."""
        try:
            version(self.package)
        except PackageNotFoundError:
            return "not installed"
        return None

    def table(self, problem: Problem, rows: Any) -> Table:
        """Rows in the form that the library takes; not part of the time measured."""
        return _frame(rows) if problem.categories else rows

    def fit(self, problem: Problem, table: Table, target: Any, weight: Any, threads: int) -> Any:
        """Grow one tree."""
        raise NotImplementedError

    def predict(self, model: Any, table: Table) -> Any:
        """The predicted classes or numbers."""
        return model.predict(table)

    def leaves(self, model: Any) -> int | None:
        """The number of leaves, where the library tells."""
        return int(model.get_n_leaves())


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

    def predict(self, model: Any, table: Table) -> Any:
        predicted = model.predict(table, num_threads=1)
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

    def predict(self, model: Any, table: Table) -> Any:
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

    def predict(self, model: Any, table: Table) -> Any:
        tree, classes = model
        predicted = tree.predict(table)
        if classes > 2:
            return np.asarray(tree.label_classes())[predicted.argmax(axis=1)]
        return predicted > 0.5 if classes else predicted

    def leaves(self, model: Any) -> int | None:
        return (int(model[0].num_nodes()) + 1) // 2


def _frame(rows: Any) -> Any:
    """A pandas frame whose first columns are categories."""
    import pandas

    frame = pandas.DataFrame(rows)
    frame.columns = [f"x{k}" for k in range(rows.shape[1])]
    for k in range(CATEGORY_COLUMNS):
        frame[f"x{k}"] = frame[f"x{k}"].astype(int).astype(str).astype("category")
    return frame


_BOOSTING = frozenset({"many classes"})  # they grow one tree per class
_LIST = (
    Treewright("treewright", "treewright", exact=True),
    ScikitLearn("scikit-learn", "scikit-learn", exact=True, cannot=frozenset({"categories"})),
    SnapML(
        "snapml exact",
        "snapml",
        exact=True,
        cannot=frozenset({"categories", "missing values", "max_leaf_nodes"}),
    ),
    YDF("ydf", "ydf", exact=True),
    XGBoost("XGBoost exact", "xgboost", exact=True, cannot=_BOOSTING | {"categories", "max_leaf_nodes"}),
    SnapML(
        "snapml binned",
        "snapml",
        exact=False,
        cannot=frozenset({"categories", "missing values", "max_leaf_nodes"}),
    ),
    SklearnIntelex(
        "scikit-learn-intelex",
        "scikit-learn-intelex",
        exact=False,
        cannot=frozenset({"categories", "missing values"}),
    ),
    LightGBM("LightGBM", "lightgbm", exact=False, cannot=_BOOSTING),
    XGBoost("XGBoost hist", "xgboost", exact=False, cannot=_BOOSTING),
)
PEERS = {peer.name: peer for peer in _LIST}
