"""Misspelt names, and other libraries' words: every error names what was meant."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from inspect import isfunction, signature
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import get_scorer_names
from sklearn.model_selection import GridSearchCV

import treewright as tw
from treewright import _suggestions, datasets, plotting
from treewright._suggestions import closest, suggestions
from treewright.certifying import METHODS as CERTIFICATES
from treewright.ensembles.adaboost import boost
from treewright.exporting import formats
from treewright.growing import criteria
from treewright.parameters import spec
from treewright.pruning import methods
from treewright.pruning import values as pruning_values
from treewright.selecting import ways

rng = np.random.default_rng(3)
AGE, INCOME = rng.integers(18, 80, 60), rng.normal(size=60)
TABLE = {"age": AGE, "income": INCOME, "city": ["Rome", "Oslo", "Bern"] * 20}
ANSWER = np.where(INCOME + (AGE > 50) > 0.5, "accepted", "refused")
FRAME = pd.DataFrame(TABLE)
DATA = tw.encode(TABLE, ANSWER)
TREE = tw.grow(DATA, max_leaf_nodes=4)

boosted = partial(tw.HistGradientBoostingClassifier, early_stopping=True, max_iter=2)

NAMES = [
    ("DecisonTreeClassifier", "DecisionTreeClassifier"),
    ("decisiontreeclassifier", "DecisionTreeClassifier"),
    ("DecisionTree", "DecisionTreeClassifier"),
    ("DecisionTreeRegresor", "DecisionTreeRegressor"),
    ("RandomForest", "RandomForestClassifier"),
    ("randomForest", "RandomForestClassifier"),
    ("ranger", "RandomForestClassifier"),
    ("ExtraTrees", "ExtraTreesClassifier"),
    ("XGBClassifier", "HistGradientBoostingClassifier"),
    ("LGBMRegressor", "HistGradientBoostingRegressor"),
    ("GradientBoostingClassifier", "HistGradientBoostingClassifier"),
    ("AdaBoost", "AdaBoostClassifier"),
    ("KNeighboursClassifier", "KNeighborsClassifier"),
    ("rpart", "CARTClassifier"),
    ("ctree", "ConditionalInference"),
    ("C50", "C45Classifier"),
    ("J48", "C45Classifier"),
    ("cost_complexity_pruning_path", "prune"),
    ("train_test_splt", "train_test_split"),
    ("KFold", "folds"),
    ("export_graphviz", "export"),
    ("permutation_importance", "importance"),
    ("shap_values", "shapley_values"),
    ("counterfactuals", "counterfactual"),
    ("certificate", "Certificate"),
    ("read_csv", "encode"),
    ("from_xgb", "from_xgboost"),
    ("load_model", "load"),
    ("Ruleslist", "RuleList"),
    ("learning_curve", "overfitting_curve"),
]


@pytest.mark.parametrize(("name", "meant"), NAMES)
def test_names_of_the_package(name: str, meant: str) -> None:
    with pytest.raises(AttributeError, match=rf"no attribute '{name}'; did you mean '{meant}'"):
        getattr(tw, name)
    with pytest.raises(ImportError, match=rf"cannot import name '{name}' .*; did you mean '{meant}'"):
        exec(f"from treewright import {name}")


CONSTRUCTORS = [
    ("DecisionTreeClassifier", "max_dept", "max_depth"),
    ("DecisionTreeClassifier", "maxdepth", "max_depth"),
    ("DecisionTreeClassifier", "min_samples_leafs", "min_samples_leaf"),
    ("DecisionTreeClassifier", "num_leaves", "max_leaf_nodes"),
    ("DecisionTreeClassifier", "minsplit", "min_samples_split"),
    ("DecisionTreeClassifier", "minbucket", "min_samples_leaf"),
    ("DecisionTreeClassifier", "cp", "ccp_alpha"),
    ("DecisionTreeClassifier", "random_seed", "random_state"),
    ("DecisionTreeClassifier", "class_weights", "class_weight"),
    ("DecisionTreeRegressor", "monotone_constraints", "monotonic_cst"),
    ("DecisionTreeRegressor", "cat_features", "kinds"),
    ("RandomForestClassifier", "n_tree", "n_estimators"),
    ("RandomForestClassifier", "ntree", "n_estimators"),
    ("RandomForestRegressor", "mtry", "max_features"),
    ("RandomForestRegressor", "n_estimator", "n_estimators"),
    ("HistGradientBoostingClassifier", "eta", "learning_rate"),
    ("HistGradientBoostingClassifier", "n_estimators", "max_iter"),
    ("HistGradientBoostingRegressor", "reg_lambda", "l2_regularization"),
    ("HistGradientBoostingRegressor", "objective", "loss"),
    ("AdaBoostClassifier", "base_estimator", "estimator"),
    ("KNeighborsClassifier", "k", "n_neighbors"),
    ("CARTClassifier", "xval", "cv"),
    ("C45Classifier", "CF", "confidence"),
    ("Surrogates", "number", None),
    ("Costs", "prior", "priors"),
]


@pytest.mark.parametrize(("owner", "name", "meant"), CONSTRUCTORS)
def test_keywords_of_constructors(owner: str, name: str, meant: str | None) -> None:
    kind = getattr(tw, owner)
    hint = rf"did you mean '{meant}'\?$" if meant else "the parameters are n$"
    with pytest.raises(TypeError, match=rf"{owner} has no parameter '{name}'; {hint}"):
        kind(**{name: 3})


def test_keywords_of_a_decorated_class() -> None:
    assert isinstance(tw.KDTree, type)
    with pytest.raises(TypeError, match=r"KDTree has no parameter 'leafsize'; did you mean 'leaf_size'\?$"):
        tw.KDTree([[0.0]], leafsize=3)  # type: ignore[call-arg]


FUNCTIONS: list[tuple[Callable[..., Any], tuple[Any, ...], str, str]] = [
    (tw.grow, (DATA,), "min_sample_leaf", "min_samples_leaf"),
    (tw.grow, (DATA,), "seed", "random_state"),
    (tw.encode, (TABLE,), "targets", "target"),
    (tw.encode, (TABLE,), "cat_features", "kinds"),
    (tw.importance, (TREE,), "n_repeat", "n_repeats"),
    (tw.importance, (TREE,), "X", "data"),
    (tw.importance, (TREE, TABLE), "y", "target"),
    (tw.grow, (TABLE,), "y", "target"),
    (tw.grow, (), "X", "data"),
    (tw.plot_roc, (TREE, TABLE), "y", "target"),
    (tw.explain, (TREE, TABLE), "tests", "test"),
    (tw.counterfactual, (TREE, TABLE), "freeze", "frozen"),
    (tw.shapley_values, (TREE, TABLE), "back_ground", "background"),
    (tw.stability, (DATA,), "n_bootstrap", "n_bootstraps"),
    (tw.stability, (DATA,), "max_dept", "max_depth"),
    (tw.train_test_split, (DATA,), "testsize", "test_size"),
    (tw.folds, (DATA,), "n_splits", "n_folds"),
    (tw.compare, (DATA,), "method", "methods"),
    (tw.report, (TREE,), "valid", "validation"),
    (tw.grow_forest, (DATA,), "ntree", "n_estimators"),
    (tw.distill, (TREE, DATA), "num_leaves", "max_leaf_nodes"),
    (tw.overfitting_curve, (DATA,), "validaton", "validation"),
    (tw.save, (TREE,), "file_path", "path"),
    (boost, (DATA,), "nrounds", "n_estimators"),
    (TREE.report, (), "titel", "title"),
    (TREE.predict, (TABLE,), "tabel", "table"),
    (TREE.with_costs, (), "loss_matrix", "costs"),
    (TREE.save, (), "paths", "path"),
    (TREE.to_sklearn, (), "row", "rows"),
    (TREE.certify().plot, (), "axes", "ax"),
    (TREE.certify().check, (DATA,), "cost", "costs"),
    (tw.prune(TREE).plot, (), "tests", "test"),
    (tw.overfitting_curve(DATA).plot, (), "axs", "ax"),
    (tw.RandomForestClassifier().proximity, (TABLE,), "outofbag", "out_of_bag"),
    (tw.RandomForestClassifier().oob_importance, (TABLE, ANSWER), "weights", "sample_weight"),
    (tw.AdaBoostClassifier().plot, (), "tests", "test"),
    (tw.HistGradientBoostingClassifier().fit, (TABLE, ANSWER), "xval", "X_val"),
    (tw.HistGradientBoostingClassifier().plot, (), "axis", "ax"),
    (tw.DecisionTreeClassifier().cost_complexity_pruning_path, (TABLE, ANSWER), "weight", "sample_weight"),
    (tw.KNeighborsClassifier().kneighbors, (), "k", "n_neighbors"),
    (tw.KDTree.query, (None, [[0.0]]), "return_distances", "return_distance"),
    (tw.Column, (), "nme", "name"),
    (tw.Target, (), "class", "classes"),
    (tw.Schema, (), "column", "columns"),
    (tw.TextFormat, (), "dateformat", "date_format"),
    (tw.Below, ("x",), "thresold", "threshold"),
    (tw.Among, ("x",), "category", "categories"),
    (tw.Combination, (), "weight", "weights"),
    (tw.Branch, (), "missing_lef", "missing_left"),
    (tw.Leaf, (), "statistics", "statistic"),
    (tw.DecisionTreeClassifier().fit, (TABLE, ANSWER), "sample_weights", "sample_weight"),
]


@pytest.mark.parametrize(("function", "given", "name", "meant"), FUNCTIONS)
def test_keywords_of_functions(
    function: Callable[..., Any], given: tuple[Any, ...], name: str, meant: str
) -> None:
    with pytest.raises(TypeError, match=rf"has no parameter '{name}'; did you mean '{meant}'"):
        function(*given, **{name: 1})


VALUES: list[tuple[Callable[[], Any], str]] = [
    (lambda: tw.grow(DATA, criterion="ginni"), "gini"),
    (lambda: tw.grow(DATA, criterion="information_gain"), "entropy"),
    (lambda: tw.grow(DATA, splitter="rnadom"), "random"),
    (lambda: tw.grow(DATA, missing="surogate"), "surrogate"),
    (lambda: tw.DecisionTreeClassifier(criterion="Gini").fit(TABLE, ANSWER), "gini"),
    (lambda: tw.DecisionTreeClassifier(pruning="cost-complexity").fit(TABLE, ANSWER), "cost_complexity"),
    (lambda: tw.DecisionTreeClassifier(pruning="rep").fit(TABLE, ANSWER), "reduced_error"),
    (lambda: tw.DecisionTreeClassifier(class_weight="balance").fit(TABLE, ANSWER), "balanced"),
    (lambda: tw.DecisionTreeClassifier(class_weight={"acepted": 2}).fit(TABLE, ANSWER), "accepted"),
    (lambda: tw.DecisionTreeRegressor(criterion="mse").fit(TABLE, INCOME), "squared_error"),
    (lambda: tw.HistGradientBoostingRegressor(loss="poison").fit(TABLE, INCOME), "poisson"),
    (lambda: tw.DecisionTreeClassifier(pruning=tw.CostComplexity(rul="1-SE")).fit(TABLE, ANSWER), "rule"),
    (lambda: tw.prune(TREE, "costcomplexity"), "cost_complexity"),
    (lambda: tw.select(tw.prune(TREE, "cost_complexity"), "cross_validation"), "folds"),
    (lambda: tw.compare(DATA, ["pesimistic"]), "pessimistic"),
    (lambda: tw.certify(TREE, "ocam"), "occam"),
    (lambda: TREE.export("graphviz"), "dot"),
    (lambda: TREE.export("pyhton"), "python"),
    (lambda: TREE.export("xlsx"), "excel"),
    (lambda: TREE.export("sql", dialect="postgre"), "postgres"),
    (lambda: tw.encode(TABLE, "agee"), "age"),
    (lambda: tw.encode(TABLE, ANSWER, kinds={"age": "float"}), "number"),
    (lambda: tw.encode(TABLE, ANSWER, kinds={"age": "datetime"}), "time"),
    (lambda: tw.grow(DATA, selection="ctree"), "test"),
    (lambda: tw.grow(DATA, costs=tw.Costs(priors={"acepted": 0.5, "refused": 0.5})), "accepted"),
    (lambda: tw.DecisionTreeClassifier(class_weight={"acepted": 2}).fit(TABLE, ANSWER), "accepted"),
    (lambda: tw.select(tw.prune(TREE), by="folds", data=DATA, rule="1se"), "1-SE"),
    (lambda: tw.certify(TREE, test=DATA, detla=0.1), "delta"),
    (lambda: tw.plot_decision_regions(TREE, "ages", "income"), "age"),
    (lambda: tw.HistGradientBoostingClassifier(loss="logloss").fit(TABLE, ANSWER), "log_loss"),
    (lambda: tw.KNeighborsClassifier(weights="distanc").fit([[1.0]] * 9, [0, 1] * 4 + [1]), "distance"),
    (lambda: tw.datsets, "datasets"),
    (lambda: tw.encode(TABLE, ANSWER, kinds={"City": "category"}), "city"),
    (lambda: tw.encode(TABLE, ANSWER, kinds={"city": "categorical"}), "category"),
    (lambda: tw.grow(DATA, monotonic_cst={"incom": 1}), "income"),
    (lambda: tw.grow(DATA, costs={"acepted": {"refused": 2}}), "accepted"),
    (lambda: tw.counterfactual(TREE, {"age": 1, "income": 0, "city": "Rome"}, to="Refused"), "refused"),
    (lambda: tw.counterfactual(TREE, {"age": 1, "income": 0, "city": "Rome"}, frozen=["ages"]), "age"),
    (lambda: tw.explain(TREE, {"age": 1, "Income": 0, "City": "Rome"}), "Income"),
    (lambda: tw.importance(TREE)["incomes"], "income"),
    (lambda: DATA.schema.position("agee"), "age"),
    (lambda: plotting.plot_roc(TREE, DATA, positive="acceptd"), "accepted"),
    (lambda: tw.KNeighborsClassifier(metric="euclidian").fit([[1.0]] * 9, [0, 1] * 4 + [1]), "euclidean"),
    (lambda: datasets.load_span, "load_spam"),
    (lambda: datasets.load_loan, "load_loans"),
    (lambda: plotting.plot_confusion, "plot_confusion_matrix"),
    (lambda: plotting.plot_cost_complexity, "plot_pruning_path"),
    (lambda: tw.plot_feature_importance, "plot_importance"),
    (lambda: tw.plot_decision_boundary, "plot_decision_regions"),
    (lambda: tw.plot_reliability, "plot_calibration"),
    (lambda: pruning_values.CostComplexty, "CostComplexity"),
    (lambda: tw.prune(TREE, cost_matrix=[[0, 1], [2, 0]]), "costs"),
    (lambda: tw.prune(TREE, loss_matrix=[[0, 1], [2, 0]]), "costs"),
    (lambda: tw.prune(TREE, metod="bound"), "method"),
    (lambda: tw.select(tw.prune(TREE), "folds", data=DATA, bye="folds"), "by"),
    (lambda: TREE.export("sql", formt="sql"), "format"),
    (lambda: tw.certify(TREE, alpha=0.1), "delta"),
    (lambda: tw.certify(TREE, X_test=DATA), "test"),
    (lambda: tw.TreeSelector(scoring="acuracy", cv=3).fit(FRAME, ANSWER), "accuracy"),
    (lambda: tw.TreeSelector(scoring="auc", cv=3).fit(FRAME, ANSWER), "roc_auc"),
    (lambda: boosted(scoring="log_loss").fit(FRAME, ANSWER), "neg_log_loss"),
    (lambda: boosted(scoring="los").fit(FRAME, ANSWER), "loss"),
    (lambda: tw.criteria("clases"), "classes"),  # type: ignore[arg-type]
    (lambda: tw.criteria("regression"), "numbers"),  # type: ignore[arg-type]
    (
        lambda: tw.HistGradientBoostingClassifier(categorical_features=["citty"]).fit(FRAME, ANSWER),
        "city",
    ),
]


@pytest.mark.parametrize(("wrong", "meant"), VALUES, ids=[meant for _, meant in VALUES])
def test_values_columns_and_classes(wrong: Callable[[], Any], meant: str) -> None:
    with pytest.raises(Exception, match=rf"did you mean \\?'{meant}\\?'\?"):
        wrong()


def test_columns_of_rows_to_predict() -> None:
    renamed = FRAME.rename(columns={"age": "Age", "income": "incomes"})
    question = r"did you mean 'age' by 'Age'\?.*did you mean 'income' by 'incomes'\?"
    with pytest.raises(ValueError, match=rf"the table lacks the columns 'age', 'income'.*; {question}"):
        TREE.predict(renamed)
    model = tw.DecisionTreeClassifier().fit(FRAME, ANSWER)
    with pytest.raises(ValueError, match=rf"(?s)^The feature names should match.*- Age.*{question}$"):
        model.predict(renamed)
    with pytest.raises(ValueError, match=r"- age\n$"):  # nothing resembles it
        model.predict(FRAME.rename(columns={"age": "zzzyx"}))


def test_a_misspelt_word_of_another_library() -> None:
    both = "did you mean 'DecisionTreeClassifier' or 'DecisionTreeRegressor'"
    with pytest.raises(AttributeError, match=both):
        tw.DecsionTree  # noqa: B018
    assert suggestions("gradient_bosting", tw.__all__)[0] == "HistGradientBoostingClassifier"
    assert suggestions("colsample_bytre", ["max_features", "max_depth"]) == ["max_features"]


def test_estimators_stay_as_scikit_learn_expects_them() -> None:
    model = tw.DecisionTreeClassifier(max_depth=3)
    assert clone(model).get_params() == model.get_params() == pickle.loads(pickle.dumps(model)).get_params()
    assert "_unknown" not in model.get_params()
    with pytest.raises(ValueError, match=r"Invalid parameter 'max_dept' .*; did you mean 'max_depth'\?"):
        model.set_params(max_dept=3)
    with pytest.raises(ValueError, match="did you mean 'max_depth'"):
        GridSearchCV(model, {"max_deph": [1, 2]}, cv=2).fit(np.arange(20.0).reshape(-1, 1), [0, 1] * 10)


def test_names_that_nothing_resembles_are_plain_errors() -> None:
    assert not hasattr(tw, "zzzyx")
    with pytest.raises(ImportError, match="cannot import name 'zzzyx' from 'treewright'"):
        exec("from treewright import zzzyx")
    with pytest.raises(ImportError, match=r"cannot import name '_cor' from 'treewright'(?!; did you mean)"):
        exec("from treewright import _cor")  # no private name stands for a public one
    with pytest.raises(TypeError, match="Gain has no parameter 'zzzyx'; the parameters are significance"):
        tw.Gain(zzzyx=1)  # type: ignore[call-arg]


def test_packages_need_no_import_of_their_own() -> None:
    code = "import treewright as tw; print(tw.datasets.load_spam.__name__, 'plotting' in dir(tw))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.split() == ["load_spam", "True"]


def test_own_names_win_over_words_of_other_libraries() -> None:
    assert closest("Seed", ["seed", "random_state"]) == "seed"
    assert suggestions("N-trees", ["n_trees", "n_estimators"]) == ["n_trees"]
    assert closest("eta", ["alpha", "gamma"]) is None
    assert closest(np.str_("ja"), ["Ja", "Nein"]) == "Ja"


def test_every_word_stands_for_a_name_that_exists() -> None:
    known = {
        *tw.__all__,
        *get_scorer_names(),
        *spec._REGISTRY,
        *formats(),
        *criteria(),
        *methods(),
        *ways(),
        *CERTIFICATES.names,
    }
    public = [getattr(tw, name) for name in tw.__all__]
    known |= {name for each in public for name in getattr(each, "parameters", {})}
    functions = [each for each in (*public, boost) if isfunction(each)]
    known |= {name for each in functions for name in signature(each).parameters}
    ours = {name for names in _suggestions._OURS.values() for name in names}
    kinds_and_values = {"log_loss", "1-SE", "leaves", "columns", "time", "number", "category", "test"}
    assert not ours - known - kinds_and_values - {"classes", "numbers"}
