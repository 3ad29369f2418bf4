"""Rows in every form in which people have them, for every function that takes rows: the results agree."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import matplotlib as mpl
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from cyclopts import CycloptsError
from matplotlib import pyplot as plt
from scipy.sparse import csc_array
from sklearn.base import BaseEstimator
from sklearn.tree import DecisionTreeClassifier as SklearnTree

import treewright as tw
from treewright.certifying import leaf_intervals
from treewright.cli import _app, _options
from treewright.cli.commands import COMMANDS
from treewright.cli.errors import usage_error
from treewright.encoding.splits import random_parts, set_aside, split
from treewright.ensembles import adaboost, gradient_boosting
from treewright.ensembles.adaboost_r2 import BoostedNumbers, boost_numbers
from treewright.ensembles.out_of_bag import importance_of, out_of_bag, votes_against
from treewright.ensembles.proximity import leaves_of, proximity
from treewright.explaining.weak_learning_bound import weak_learning_bound
from treewright.exporting import FORMATS
from treewright.feature_selection.boruta import boruta, forest_importances
from treewright.feature_selection.univariate import split_scores
from treewright.feature_selection.wrapper import search_columns
from treewright.feature_selection.zero_norm import zero_norm
from treewright.growing.chaid import grow_chaid
from treewright.growing.conditional_inference import log_p_values
from treewright.growing.id3 import grow_id3
from treewright.metrics import confusion_matrix, metrics, precision_recall_points, roc_points
from treewright.plotting.regions import decision_regions
from treewright.pruning import METHODS
from treewright.pruning.reduced_error import reduced_error
from treewright.pruning.rule_post_pruning import rule_list
from treewright.pruning.srm import srm
from treewright.selecting import WAYS
from treewright.selecting.folds import folds as select_by_folds
from treewright.selecting.held_out import held_out

mpl.use("Agg")

rng = np.random.default_rng(5)
N = 240
TABLE = pd.DataFrame({"x": rng.normal(size=N), "z": rng.integers(0, 9, N), "c": ["u", "v", "w", "u"] * 60})
CLASSES = np.where(TABLE.x + (TABLE.c == "v") + 0.7 * rng.normal(size=N) > 0, "yes", "no")
NUMBERS = TABLE.x.to_numpy() + 0.3 * rng.normal(size=N)
WEIGHT = rng.integers(1, 4, N).astype(float)
TRAIN, TEST = slice(0, 160), slice(160, N)
CATEGORIES = TABLE.assign(x=np.where(TABLE.x > 0, "high", "low"), z="z" + TABLE.z.astype(str))


def same(one: Any, other: Any) -> bool:
    """Whether two results are equal, down to the last array; what is a measured time does not count."""
    if type(one) is not type(other):
        return False
    if isinstance(one, tw.Tree):
        return one == other
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    if isinstance(one, float):
        return one == other or (one != one and other != other)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one if k != "seconds")
    if isinstance(one, tw.Dataset):
        return one.schema == other.schema and same(
            [one.column(j) for j in range(one.n_columns)] + [one.targets, one.weight],
            [other.column(j) for j in range(other.n_columns)] + [other.targets, other.weight],
        )
    if is_dataclass(one) and not isinstance(one, type):
        return all(same(getattr(one, each.name), getattr(other, each.name)) for each in fields(one))
    return bool(one == other)


class Stumps:
    """Scores of stumps, for a search of columns."""

    ignores_untested_columns = True

    def grow(self, data: tw.Dataset, listener: Any) -> tw.Tree:
        return tw.grow(data, max_depth=1)

    def score(self, tree: tw.Tree, data: tw.Dataset) -> float:
        return -float(tree.loss_of(data)[tree.is_leaf].sum())


# ---- rows to learn from --------------------------------------------------------------------------------

Door = Callable[..., Any]
PAIRS = [(np.arange(0, N, 2), np.arange(1, N, 2)), (np.arange(1, N, 2), np.arange(0, N, 2))]
LEARNING: dict[str, Door] = {
    "grow": lambda *rows, **more: tw.grow(*rows, max_leaf_nodes=5, **more),
    "grow_forest": lambda *rows, **more: tw.grow_forest(*rows, n_estimators=3, **more).trees,
    "boost": lambda *rows, **more: gradient_boosting.boost(*rows, max_iter=3, **more).trees,
    "adaboost": lambda *rows, **more: adaboost.boost(*rows, n_estimators=3, **more),
    "boost_numbers": lambda *rows, **more: boost_numbers(*rows, n_estimators=3, **more),
    "grow_id3": lambda *rows, **more: grow_id3(*rows, max_depth=2, **more),
    "grow_chaid": grow_chaid,
    "log_p_values": log_p_values,
    "optimise": lambda *rows, **more: tw.optimise(*rows, max_depth=2, **more).tree,
    "optimal_front": lambda *rows, **more: tw.optimal_front(*rows, max_depth=2, **more).trees,
    "stability": lambda *rows, **more: tw.stability(*rows, n_bootstraps=2, **more),
    "compare": lambda *rows, **more: tw.compare(*rows, ["cost_complexity"], **more).rows,
    "overfitting_curve": tw.overfitting_curve,
    "advise": lambda *rows, **more: [each.text for each in tw.advise(*rows, **more)],
    "folds": lambda *rows, **more: tw.folds(*rows, 5, **more),
    "split": lambda *rows, **more: split(*rows, (2, 1), **more),
    "random_parts": lambda *rows, **more: random_parts(*rows, (2, 1), **more),
    "set_aside": lambda *rows, **more: set_aside(*rows, 0.25, **more),
    "boruta": lambda *rows, **more: boruta(*rows, n_estimators=5, max_iter=5, **more),
    "forest_importances": lambda *rows, **more: forest_importances(*rows, n_estimators=5, **more),
    "search_columns": lambda *rows, **more: search_columns(*rows, PAIRS, Stumps(), **more),
    "split_scores": lambda *rows, **more: split_scores(*rows, n_permutations=5, **more),
}


def problem_of(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    if name == "boost_numbers":
        return TABLE, NUMBERS
    return (CATEGORIES if name == "grow_id3" else TABLE), CLASSES


SLOW = {"boruta", "grow_chaid", "compare"}
NAMES = [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in LEARNING]


@pytest.mark.parametrize("name", NAMES)
def test_rows_to_learn_from_come_in_every_form(name: str) -> None:
    door, (table, y) = LEARNING[name], problem_of(name)
    whole = table.assign(y=y)
    expected = door(tw.encode(table, y))
    assert same(door((table, y)), expected)
    assert same(door((whole, "y")), expected)
    assert same(door(table, y), expected)
    assert same(door(whole, "y"), expected)
    assert same(door(whole.to_dict("list"), "y"), expected)
    assert same(door(pl.from_pandas(whole), "y"), expected)
    assert same(door(pa.Table.from_pandas(whole), "y"), expected)


@pytest.mark.parametrize("name", [each for each in NAMES if each != "grow_id3"])
def test_numpy_rows_to_learn_from(name: str) -> None:
    door, (_, y) = LEARNING[name], problem_of(name)
    table = TABLE[["x", "z"]].to_numpy()
    expected = door(tw.encode(table, y))
    assert same(door(table, y), expected)
    assert same(door((table, y)), expected)
    named = np.rec.fromarrays([*table.T, y], names=["x0", "x1", "y"])
    by_name = door(tw.encode({"x0": table[:, 0], "x1": table[:, 1]}, y))
    assert same(door(named, "y"), by_name)


@pytest.mark.parametrize("name", NAMES)
def test_weights_and_kinds_of_a_table(name: str) -> None:
    door, (table, y) = LEARNING[name], problem_of(name)
    whole, option = table.assign(y=y), "sample_weight" if name == "advise" else "weight"
    expected = door(tw.encode(table, y, weight=WEIGHT))
    assert same(door((table, y, WEIGHT)), expected)
    assert same(door((table, y), **{option: WEIGHT}), expected)
    assert same(door(whole, "y", **{option: WEIGHT}), expected)
    kinds: Any = {"z": "category"}
    assert same(door(whole, "y", kinds=kinds), door(tw.encode(whole, "y", kinds=kinds)))


@pytest.mark.parametrize("name", LEARNING)
def test_mistakes_with_rows_to_learn_from(name: str) -> None:
    door, (table, y) = LEARNING[name], problem_of(name)
    whole, data = table.assign(outcome=y), tw.encode(table, y)
    with pytest.raises(ValueError, match=r"no column 'outcom' to be the target; .* did you mean 'outcome'\?"):
        door(whole, "outcom")
    with pytest.raises(ValueError, match="the target has 3 rows, but the table has 240"):
        door(table, y[:3])
    with pytest.raises(TypeError, match="a Dataset has its own target, weights and kinds; leave kinds out"):
        door(data, kinds={"z": "category"})


def test_a_table_needs_its_target() -> None:
    with pytest.raises(ValueError, match=r"grow: the table has no target; give grow\(table, \"name of"):
        tw.grow(TABLE)
    with pytest.raises(ValueError, match="grow_forest: the table has no target"):
        tw.grow_forest(TABLE, n_estimators=2)
    with pytest.raises(TypeError, match=r"grow: a Dataset has its own target, .* leave target out"):
        tw.grow(tw.encode(TABLE, CLASSES), target=CLASSES)
    with pytest.raises(TypeError, match="grow: the tuple has a target already"):
        tw.grow((TABLE, CLASSES), target=CLASSES)
    with pytest.raises(TypeError, match="grow: the tuple has weights already"):
        tw.grow((TABLE, CLASSES, WEIGHT), weight=WEIGHT)
    with pytest.raises(TypeError, match="data"):
        tw.grow()  # type: ignore[call-overload]


def test_rows_may_be_named() -> None:
    data = tw.encode(TABLE, CLASSES)
    expected = tw.grow(data)
    assert tw.grow(TABLE, target=CLASSES) == expected
    assert tw.grow(data=TABLE, target=CLASSES) == expected  # type: ignore[call-overload]
    assert tw.grow(data=data) == expected  # type: ignore[call-overload]


def drawn(axes: Any) -> list[Any]:
    """What a plot shows: lines, pictures and texts."""
    found = [np.asarray(line.get_xydata()) for line in axes.get_lines()]
    found += [np.asarray(image.get_array()) for image in axes.get_images()]
    texts = [text.get_text() for text in [*axes.texts, axes.title, axes.xaxis.label, axes.yaxis.label]]
    plt.close(axes.figure)
    return [*found, texts]


# ---- rows for a tree -----------------------------------------------------------------------------------

TREE: tw.Tree = tw.grow(TABLE[TRAIN], CLASSES[TRAIN], max_leaf_nodes=6)
PATH = tw.prune(TREE)
FOREST = tw.grow_forest(TABLE[TRAIN], CLASSES[TRAIN], n_estimators=5)
RULES = tw.rules(TREE)
BOOSTED = adaboost.boost(TABLE[TRAIN], CLASSES[TRAIN], n_estimators=3)
WITHIN = ((-1.0, 1.0), (0.0, 9.0))
OPTIMUM = tw.optimise(TABLE[TRAIN], CLASSES[TRAIN], max_depth=2)

OF_TRAINING: dict[str, Door] = {  # (table, target) or its target after it
    "regrow": lambda *rows: tw.regrow(TREE, 0, "z", *rows),
    "improve": lambda *rows: tw.improve(TREE, *rows),
    "doing_without": lambda *rows: tw.doing_without(OPTIMUM, *rows).to_dict(),
    "weak_learning_bound": lambda *rows: weak_learning_bound(TREE, *rows),
    "distill": lambda *rows: tw.distill(TREE, *rows, max_leaf_nodes=3, n_synthetic=100),
    "distillation": lambda *rows: tw.distillation(TREE, *rows, n_synthetic=100),
}
OF_TEST: dict[str, Door] = {
    "certify": lambda *rows: tw.certify(TREE, *rows),
    "Tree.certify": lambda *rows: TREE.certify(*rows, delta=0.1),
    "report": lambda *rows: tw.report(TREE, *rows).payload["headline"],
    "Tree.report": lambda *rows: TREE.report(*rows).payload["headline"],
    "importance": lambda *rows: tw.importance(TREE, *rows),
    "competitors": lambda *rows: tw.competitors(TREE, *rows).to_dict(),
    "tree_difference": lambda *rows: tw.tree_difference(TREE, TREE.first(1), *rows),
    "metrics": lambda *rows: metrics(TREE, *rows),
    "plot_calibration": lambda *rows: drawn(tw.plot_calibration(TREE, *rows)),
    "plot_confusion_matrix": lambda *rows: drawn(tw.plot_confusion_matrix(TREE, *rows)),
    "plot_precision_recall": lambda *rows: drawn(tw.plot_precision_recall(TREE, *rows)),
    "plot_roc": lambda *rows: drawn(tw.plot_roc(TREE, *rows)),
}
TUPLES: dict[str, tuple[Door, slice]] = {  # tuples only
    "explain, data": (lambda rows: tw.explain(TREE, TABLE.iloc[0], data=rows).to_dict(), TRAIN),
    "explain, test": (lambda rows: tw.explain(TREE, TABLE.iloc[0], test=rows), TEST),
    "counterfactual, data": (lambda rows: tw.counterfactual(TREE, TABLE.iloc[0], data=rows), TRAIN),
    "report, train": (lambda rows: tw.report(TREE, train=rows).payload["headline"], TRAIN),
    "report, validation": (lambda rows: tw.report(TREE, validation=rows).payload["headline"], TEST),
    "report, test": (lambda rows: tw.report(TREE, test=rows).payload["headline"], TEST),
    "distillation, validation": (
        lambda rows: tw.distillation(TREE, TABLE[TRAIN], CLASSES[TRAIN], validation=rows, n_synthetic=100),
        TEST,
    ),
    "shapley_values, background": (
        lambda rows: tw.shapley_values(TREE, TABLE[TEST], background=rows).values,
        TEST,
    ),
    "plot_adaboost, test": (
        lambda rows: drawn(tw.plot_adaboost(BOOSTED, (TABLE[TRAIN], CLASSES[TRAIN]), rows, None)[0]),
        TEST,
    ),
    "plot_decision_regions": (lambda rows: drawn(tw.plot_decision_regions(TREE, "x", "z", data=rows)), TEST),
    "plot_pruning_path, test": (lambda rows: drawn(tw.plot_pruning_path(PATH, rows)), TEST),
    "Certificate.check": (lambda rows: TREE.certify().check(rows), TRAIN),
    "RuleList.apply": (RULES.apply, TEST),
    "Tree.graft": (lambda rows: TREE.collapse([]).graft({}, rows), TRAIN),
    "PruningPath.plot, test": (lambda rows: drawn(PATH.plot(test=rows)), TEST),
    "certify, data": (lambda rows: tw.certify(TREE, data=rows), TRAIN),
    "certify, test": (lambda rows: tw.certify(TREE, test=rows), TEST),
    "leaf_intervals": (lambda rows: leaf_intervals(TREE, rows), TEST),
    "prune, data": (lambda rows: tw.prune(TREE, "bound", data=rows).pruned, TRAIN),
    "prune, validation": (lambda rows: tw.prune(TREE, "reduced_error", validation=rows).pruned, TEST),
    "reduced_error": (lambda rows: reduced_error(TREE, validation=rows).pruned, TEST),
    "srm": (lambda rows: srm(TREE, c="cv", data=rows, n_folds=3).pruned, TRAIN),
    "rule_list": (lambda rows: str(rule_list(TREE, data=rows)), TRAIN),
    "select, data": (lambda rows: tw.select(PATH, data=rows, n_folds=3).pruned, TRAIN),
    "select, validation": (lambda rows: tw.select(PATH, validation=rows).pruned, TEST),
    "folds": (lambda rows: select_by_folds(PATH, data=rows, n_folds=3).pruned, TRAIN),
    "held_out": (lambda rows: held_out(PATH, validation=rows).pruned, TEST),
    "PruningPath.losses": (PATH.losses, TEST),
    "PruningPath.with_validation, validation": (lambda rows: PATH.with_validation(rows).validation, TEST),
    "Tree.loss_of": (TREE.loss_of, TEST),
    "Tree.statistic_of": (TREE.statistic_of, TEST),
    "Tree.curve": (TREE.curve, TEST),
    "Tree.recount": (TREE.recount, TRAIN),
    "Tree.apply": (TREE.apply, TEST),
    "improve, validation": (
        lambda rows: tw.improve(TREE, TABLE[TRAIN], CLASSES[TRAIN], validation=rows),
        TEST,
    ),
    "compare, test": (lambda rows: tw.compare(TABLE[TRAIN], CLASSES[TRAIN], [], test=rows).rows, TEST),
    "compare, validation": (
        lambda rows: tw.compare(TABLE[TRAIN], CLASSES[TRAIN], [], validation=rows).rows,
        TEST,
    ),
    "overfitting_curve, test": (
        lambda rows: tw.overfitting_curve(TABLE[TRAIN], CLASSES[TRAIN], test=rows).test,
        TEST,
    ),
    "overfitting_curve, validation": (
        lambda rows: tw.overfitting_curve(TABLE[TRAIN], CLASSES[TRAIN], validation=rows),
        TEST,
    ),
    "advise, test": (lambda rows: str(tw.advise(TABLE[TRAIN], CLASSES[TRAIN], test=rows)), TEST),
    "export": (lambda rows: tw.export(TREE, test=rows), TEST),
    "Tree.export": (lambda rows: TREE.export(test=rows), TEST),
    "Tree.explain": (lambda rows: TREE.explain(TABLE.iloc[0], test=rows), TEST),
    "confusion_matrix": (lambda rows: confusion_matrix(TREE, rows), TEST),
    "roc_points": (lambda rows: roc_points(TREE, rows, "yes"), TEST),
    "precision_recall_points": (lambda rows: precision_recall_points(TREE, rows, "yes"), TEST),
    "decision_regions": (lambda rows: str(decision_regions(TREE, "x", "z", within=WITHIN, data=rows)), TEST),
    "Forest.sums": (FOREST.sums, TEST),
    "Forest.answers": (FOREST.answers, TEST),
    "Forest.shares": (FOREST.shares, TEST),
    "leaves_of": (lambda rows: leaves_of(FOREST, rows), TEST),
    "proximity": (lambda rows: proximity(FOREST, rows), TEST),
    "out_of_bag": (lambda rows: out_of_bag(FOREST, rows), TRAIN),
    "votes_against": (lambda rows: votes_against(FOREST, rows), TRAIN),
    "importance_of": (lambda rows: importance_of(FOREST, rows), TRAIN),
}


@pytest.mark.parametrize("name", [*OF_TRAINING, *OF_TEST, *TUPLES])
def test_rows_for_a_tree_come_in_every_form(name: str) -> None:
    doors = OF_TRAINING | OF_TEST
    rows = TRAIN if name in OF_TRAINING else TEST
    door, rows = (doors[name], rows) if name in doors else TUPLES[name]
    table, y = TABLE[rows], CLASSES[rows]
    whole = table.assign(y=y)
    expected = door(tw.encode(table, y, schema=TREE.schema))
    assert same(door((table, y)), expected)
    assert same(door((whole, "y")), expected)
    if name in doors:
        assert same(door(table, y), expected)
        assert same(door(whole, "y"), expected)
        with pytest.raises(TypeError, match="the tuple has a target already"):
            door((table, y), y)
    with pytest.raises(ValueError, match="no column 'why' to be the target"):
        door((whole, "why"))


OF_METHODS = [(method, name) for method in METHODS.names for name in METHODS.options(method)]


@pytest.mark.parametrize(
    ("method", "name"), [each for each in OF_METHODS if each[1] in ("data", "validation")]
)
def test_rows_for_every_pruning_method(method: str, name: str) -> None:
    def outcome(rows: Any) -> Any:
        try:
            return tw.prune(TREE, method, **{name: rows}).pruned
        except ValueError as error:  # it needs other rows as well
            return str(error)

    rows = TRAIN if name == "data" else TEST
    expected = outcome(tw.encode(TABLE[rows], CLASSES[rows], schema=TREE.schema))
    assert same(outcome((TABLE[rows], CLASSES[rows])), expected)
    assert same(outcome((TABLE[rows].assign(y=CLASSES[rows]), "y")), expected)


def test_rows_for_a_converted_tree() -> None:
    table = TABLE[["x", "z"]]
    theirs = SklearnTree(max_depth=2).fit(table, CLASSES)
    expected = tw.from_sklearn(theirs, data=tw.encode(table, CLASSES))
    assert tw.from_sklearn(theirs, data=(table, CLASSES)) == expected
    assert tw.from_sklearn(theirs, data=(table.assign(y=CLASSES), "y")) == expected
    with pytest.raises(TypeError, match=r"data must be a Dataset, \(table, target\) or"):
        tw.from_sklearn(theirs, data=table)


def test_a_dataset_can_be_predicted() -> None:
    data = tw.encode(TABLE[TEST], schema=TREE.schema)
    other = tw.encode(TABLE[["x"]])
    boosted = gradient_boosting.boost(TABLE[TRAIN], CLASSES[TRAIN], max_iter=3)
    for model in (TREE, FOREST, RULES, boosted):
        assert same(model.predict(data), model.predict(TABLE[TEST]))
        assert same(model.predict_proba(data), model.predict_proba(TABLE[TEST]))
        with pytest.raises(ValueError, match="columns of the Dataset are not the model's"):
            model.predict(other)


# ---- every door ----------------------------------------------------------------------------------------

ROWS = {"data", "X", "train", "validation", "test", "background"}
OTHER_ROWS = {  # what these take by such a name is no table with a target, or has tests of its own
    "defeatist_curve": "points",
    "from_lightgbm": "read as by from_sklearn",
    "from_xgboost": "read as by from_sklearn",
    "from_sklearn": "test_rows_for_a_converted_tree",
    "Among.holds": "cells of one column",
    "Among.is_known": "cells of one column",
    "Among.values": "cells of one column",
    "Below.holds": "cells of one column",
    "Below.is_known": "cells of one column",
    "Below.values": "cells of one column",
    "Combination.holds": "columns of the core",
    "Combination.is_known": "columns of the core",
    "Combination.values": "columns of the core",
    "Tree.mean": "a loss of rows that are counted already",
    "Tree.numbers_at": "rows at their nodes",
    "Forest.tree_votes": "rows that are encoded already",
    "BornAgain.answers": "rows that are encoded already",
    "BornAgain.prune": "rows without a target",
}


def doors_of(name: str) -> list[tuple[str, str]]:
    """The public function of a name, or the methods of a class, with each argument that takes rows."""
    thing = getattr(tw, name)
    if not inspect.isclass(thing):
        functions = {name: thing}
    elif issubclass(thing, BaseEstimator | tw.Dataset | tw.KDTree):  # scikit-learn's interface, points
        functions = {}
    else:
        members = inspect.getmembers(thing, inspect.isfunction)
        functions = {f"{name}.{member}": each for member, each in members if not member.startswith("_")}
    return [
        (door, argument)
        for door, function in functions.items()
        for argument in inspect.signature(function).parameters
        if argument in ROWS
    ]


def test_every_public_function_of_rows_is_tested_here() -> None:
    tested = {*LEARNING, *OF_TRAINING, *OF_TEST, *TUPLES}
    forgotten = [
        f"{door}, {argument}"
        for name in tw.__all__
        for door, argument in doors_of(name)
        if door not in OTHER_ROWS
        and f"{door}, {argument}" not in tested
        and not (argument in ("data", "X") and door in tested)
    ]
    assert not forgotten
    assert not OTHER_ROWS.keys() - {door for name in tw.__all__ for door, _ in doors_of(name)}


def test_names_of_methods_are_no_rows() -> None:
    assert tw.certify(TREE, "pac_bayes") == tw.certify(TREE, method="pac_bayes") == TREE.certify("pac_bayes")
    rows = TABLE[TEST], CLASSES[TEST]
    assert tw.certify(TREE, "held_out", test=rows) == tw.certify(TREE, *rows)
    with pytest.raises(TypeError, match="certify: rows are given twice, by position and as test="):
        tw.certify(TREE, *rows, test=rows)
    with pytest.raises(TypeError, match=r"test must be a Dataset, .* target may be the name of its column"):
        tw.certify(TREE, TABLE[TEST])


def test_no_rows_have_two_roles() -> None:
    rows = TABLE, CLASSES
    with pytest.raises(ValueError, match="data and validation are the same rows"):
        tw.prune(TREE, "srm", data=rows, validation=rows)


# ---- splits --------------------------------------------------------------------------------------------


def test_a_table_and_its_target_are_split_into_two() -> None:
    whole = TABLE.assign(y=CLASSES)
    train, test = tw.train_test_split(whole, "y", test_size=0.25, random_state=3)
    assert (len(train[0]), len(test[0])) == (180, 60)
    assert list(train[0].columns) == list(TABLE.columns)
    datasets = split(tw.encode(TABLE, CLASSES), (0.75, 0.25), 3)
    assert same(tuple(tw.encode(*part) for part in (train, test)), datasets)
    assert same(tw.train_test_split(tw.encode(TABLE, CLASSES), test_size=60, random_state=3), datasets)
    pairs = tw.train_test_split((TABLE, CLASSES), test_size=0.25, random_state=3)
    for one, other in zip(pairs, (train, test), strict=True):
        assert one[0].equals(other[0])
        assert (one[1] == other[1]).all()
    assert tw.certify(tw.grow(train, max_leaf_nodes=4), test).rows == 60
    model = tw.DecisionTreeClassifier(max_leaf_nodes=4).fit(*train)
    assert model.certify(*test) == tw.certify(tw.grow(*train, max_leaf_nodes=4), *test)
    assert [len(part[1]) for part in tw.train_test_split(whole, "y", test_size=1)] == [239, 1]


def test_tables_and_arrays_are_split_one_by_one() -> None:
    parts = tw.train_test_split(TABLE, CLASSES, WEIGHT, test_size=0.25, random_state=3)
    train, test = tw.train_test_split((TABLE, CLASSES, WEIGHT), test_size=0.25, random_state=3)
    for of_train, of_test, one, other in zip(train, test, parts[::2], parts[1::2], strict=True):
        assert np.array_equal(of_train, one)
        assert np.array_equal(of_test, other)
    named = tw.train_test_split(TABLE.assign(y=CLASSES), "y", WEIGHT, test_size=0.25, random_state=3)
    assert np.array_equal(named[1][2], test[2])
    again = tw.train_test_split(TABLE, random_state=4)
    assert again[0].index.is_monotonic_increasing
    assert sorted([*again[0].index, *again[1].index]) == list(range(N))
    assert not again[1].equals(tw.train_test_split(TABLE, random_state=5)[1])


def test_rows_without_weight_are_never_test_rows() -> None:
    weight = np.where(np.arange(N) % 3 == 0, 0.0, 2.0)
    _, (table, _, own) = tw.train_test_split((TABLE, CLASSES, weight), test_size=0.5)
    assert len(table) == 80
    assert own.min() == 2
    kept = weight > 0
    _, (without, _) = tw.train_test_split((TABLE[kept], CLASSES[kept]), test_size=0.5)
    assert without.equals(table)


WHOLE = pd.DataFrame({"x": np.arange(12.0), "z": np.arange(12.0) % 5, "y": list("abcabcabcabc")})
TYPES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "arrow": pa.Table.from_pandas,
    "arrow batch": pa.RecordBatch.from_pandas,
    "dict": lambda frame: frame.to_dict("list"),
    "dict of arrays": lambda frame: {name: frame[name].to_numpy() for name in frame},
    "list of dicts": lambda frame: frame.to_dict("records"),
    "record array": lambda frame: frame.to_records(index=False),
    "narwhals": nw.from_native,
    "lazy": lambda frame: pl.from_pandas(frame).lazy(),
}


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("target", ["y", ["y", "z"]])
def test_tables_of_all_types_are_split(name: str, target: Any) -> None:
    table = TYPES[name](WHOLE)
    expected = tw.train_test_split(tw.encode(WHOLE, target, classes=True), test_size=1 / 3, random_state=2)
    parts = tw.train_test_split(table, target, test_size=1 / 3, random_state=2)
    for part, dataset in zip(parts, expected, strict=True):
        assert same(tw.encode(*part, schema=dataset.schema), dataset)
    X = TYPES[name](WHOLE[["x", "z"]])
    X_train, X_test, y_train, y_test = tw.train_test_split(X, WHOLE.y, test_size=1 / 3, random_state=2)
    if name not in ("narwhals", "lazy"):  # the former is a wrapper, the latter is collected
        assert type(X_test) is type(X)
    own = [tw.encode(X_train, y_train), tw.encode(X_test, y_test, classes=True)]
    assert own[0].columns[0].tolist() == expected[0].column(0).tolist()
    assert [data.n_rows for data in own] == [8, 4]


def test_arrays_of_all_types_are_split() -> None:
    matrix = np.arange(24.0).reshape(12, 2)
    labels = list("abcabcabcabc")
    things: list[Any] = [
        matrix,
        csc_array(matrix),
        np.ma.masked_greater(matrix, 20),
        matrix.tolist(),
        range(12),
        labels,
        tuple(labels),
        pd.Index(labels),
        pd.Series(labels, index=range(5, 17)),
        pl.Series(labels),
        pa.array(labels),
        pa.chunked_array([labels[:5], labels[5:]]),
    ]
    parts = tw.train_test_split(*things, test_size=4)
    places = parts[2 * 4 + 1]  # those of the range
    for thing, train, rest in zip(things, parts[::2], parts[1::2], strict=True):
        if not isinstance(thing, tuple | range):
            assert type(rest) is type(thing)
        plain = [np.asarray(each.todense() if hasattr(each, "todense") else each) for each in (thing, rest)]
        assert np.array_equal(plain[0][places], plain[1])
        assert (train.shape[0] if hasattr(train, "shape") else len(train)) == 8


@pytest.mark.parametrize("size", [0, 1.0, 240, -3, 1.5, "half", None, True, float("nan")])
def test_a_wrong_size_of_the_test_rows(size: Any) -> None:
    with pytest.raises(ValueError, match=r"test_size is .*; it must be a share between 0 and 1, or a number"):
        tw.train_test_split(TABLE, CLASSES, test_size=size)


def test_mistakes_of_the_split() -> None:
    whole = TABLE.assign(outcome=CLASSES)
    with pytest.raises(ValueError, match="random_state is None; it must be a whole number"):
        tw.train_test_split(TABLE, CLASSES, random_state=None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"no column 'outcom' to be the target; .* did you mean 'outcome'\?"):
        tw.train_test_split(whole, "outcom")
    with pytest.raises(ValueError, match="the target has 3 rows, but the table has 240"):
        tw.train_test_split((TABLE, CLASSES[:3]))
    with pytest.raises(ValueError, match=r"must have equal numbers of rows, not \[3, 240\]"):
        tw.train_test_split(TABLE, CLASSES[:3])
    with pytest.raises(TypeError, match="'stratify'; a certificate assumes that every row is equally likely"):
        tw.train_test_split(TABLE, CLASSES, stratify=CLASSES)
    with pytest.raises(TypeError, match=r"'tets_size'; did you mean 'test_size'\?"):
        tw.train_test_split(TABLE, CLASSES, tets_size=0.5)
    with pytest.raises(TypeError, match="give a table and its target"):
        tw.train_test_split()


# ---- one word for one thing ----------------------------------------------------------------------------

OTHER_WORDS = {  # of our words, for which each door has a parameter
    "max_depth": ["depth", "height", "max_height"],
    "max_leaf_nodes": ["num_leaves", "max_nodes", "n_leaves", "max_leaves"],
    "min_samples_split": ["minsplit", "min_rows_split"],
    "min_samples_leaf": ["min_rows_leaf", "minbucket", "min_node_size"],
    "min_impurity_decrease": ["min_gain", "min_split_gain"],
    "min_weight_fraction_leaf": ["min_weight_leaf"],
    "random_state": ["seed", "random_seed"],
    "n_jobs": ["n_threads", "threads", "num_cores"],
    "n_estimators": ["n_trees", "ntree", "rounds"],
    "max_iter": ["n_iterations", "iterations"],
    "n_iter_no_change": ["patience", "early_stopping_rounds"],
    "n_features_to_select": ["n_columns", "n_features"],
    "test_size": ["test_share", "shares"],
    "validation_fraction": ["validation_share", "validation_size"],
    "delta": ["confidence_level", "conf_level"],
}
COMMANDS_OPTIONS = {command: _options(_app(COMMANDS)[command]) for command in COMMANDS}


BELOW = {  # functions below the estimators
    "adaboost.boost": adaboost.boost,
    "boost_numbers": boost_numbers,
    "gradient_boosting.boost": gradient_boosting.boost,
    "GradientBoosted": gradient_boosting.GradientBoosted,
    "Boosted": adaboost.Boosted,
    "BoostedNumbers": BoostedNumbers,
    "out_of_bag": out_of_bag,
    "importance_of": importance_of,
    "votes_against": votes_against,
    "proximity": proximity,
    "metrics": metrics,
    "search_columns": search_columns,
    "zero_norm": zero_norm,
    "boruta": boruta,
}


def parameters_of(name: str) -> set[str]:
    """The parameters of a public function, of a class and its methods."""
    thing = BELOW[name] if name in BELOW else getattr(tw, name)
    functions = [thing]
    if inspect.isclass(thing):
        members = inspect.getmembers(thing, inspect.isfunction)
        functions = [each for member, each in members if member == "__init__" or member[0] != "_"]
    found = {argument for function in functions for argument in inspect.signature(function).parameters}
    return found | getattr(thing, "parameters", {}).keys()


def test_no_door_has_another_word() -> None:
    other = {word for words in OTHER_WORDS.values() for word in words}
    for name in [*tw.__all__, *BELOW]:
        assert not parameters_of(name) & other, name
    for folder in (METHODS, WAYS, FORMATS):
        for name in folder.names:
            assert not folder.options(name).keys() & other, name
    for command, options in COMMANDS_OPTIONS.items():
        assert not {option.strip("-").replace("-", "_") for option in options} & other, command
        if command not in ("prune", "fit", "compare"):
            assert "--leaves" not in options


@pytest.mark.parametrize(
    ("word", "functions", "estimators", "commands"),
    [
        ("max_depth", "grow grow_forest", "DecisionTreeClassifier RandomForestRegressor", "fit compare"),
        ("max_leaf_nodes", "grow distill", "DecisionTreeRegressor ExtraTreesClassifier", "fit compare"),
        ("min_samples_split", "grow", "DecisionTreeClassifier RandomForestClassifier", "fit compare"),
        ("min_samples_leaf", "grow", "CARTClassifier HistGradientBoostingRegressor", "fit compare"),
        ("min_impurity_decrease", "grow grow_forest", "DecisionTreeClassifier", "fit compare"),
        ("min_weight_fraction_leaf", "grow", "ExtraTreeRegressor RandomForestRegressor", ""),
        ("random_state", "grow train_test_split folds stability importance report compare distill", "", ""),
        ("random_state", "", "DecisionTreeClassifier AdaBoostClassifier ShadowSelector", "fit prune report"),
        ("n_jobs", "grow compare stability shapley_values", "RandomForestClassifier", "fit compare predict"),
        ("n_jobs", "GradientBoosted Boosted BoostedNumbers out_of_bag proximity metrics", "", ""),
        ("n_estimators", "grow_forest", "RandomForestClassifier BaggingRegressor", ""),
        ("n_estimators", "adaboost.boost boost_numbers boruta", "AdaBoostClassifier AdaBoostRegressor", ""),
        ("max_iter", "gradient_boosting.boost GradientBoosted", "HistGradientBoostingClassifier", ""),
        ("n_iter_no_change", "gradient_boosting.boost", "HistGradientBoostingRegressor", ""),
        ("n_features_to_select", "search_columns zero_norm", "TreeSelector ZeroNormSelector", ""),
        ("max_leaf_nodes", "plot_tree gradient_boosting.boost", "HistGradientBoostingClassifier", ""),
        ("test_size", "train_test_split compare", "", "fit"),
        ("validation_fraction", "compare", "HistGradientBoostingClassifier CostComplexity", "fit"),
        ("delta", "certify explain report importance compare certify_votes", "DecisionTreeClassifier", "fit"),
    ],
)
def test_every_door_has_the_same_word(word: str, functions: str, estimators: str, commands: str) -> None:
    assert word in OTHER_WORDS
    for name in [*functions.split(), *estimators.split()]:
        assert word in parameters_of(name), name
    for command in commands.split():
        assert f"--{word.replace('_', '-')}" in COMMANDS_OPTIONS[command], command


@pytest.mark.parametrize(
    ("word", "other"), [(word, each) for word in OTHER_WORDS for each in OTHER_WORDS[word]]
)
def test_another_word_is_answered_with_ours(word: str, other: str) -> None:
    doors: list[Door] = [tw.grow, tw.grow_forest, tw.train_test_split, tw.compare, tw.folds]
    doors += [tw.DecisionTreeClassifier, tw.RandomForestClassifier, tw.TreeSelector]
    doors += [adaboost.boost, gradient_boosting.boost]
    known = [door for door in doors if word in inspect.signature(door).parameters]
    if word == "delta":
        known.append(lambda *_, **given: tw.certify(TREE, **given))
    for door in known:
        rows = () if inspect.isclass(door) else (TABLE, CLASSES)
        with pytest.raises((TypeError, ValueError), match=rf"'{other}'.* did you mean .*'{word}'"):
            door(*rows, **{other: 1})
    assert known
    option, flag = f"--{other.replace('_', '-')}", f"--{word.replace('_', '-')}"
    if flag in COMMANDS_OPTIONS["fit"]:
        message = usage_error(CycloptsError(), ["fit", option, "1"], COMMANDS_OPTIONS["fit"])
        assert message == f"there is no option {option} here; did you mean {flag}?"
