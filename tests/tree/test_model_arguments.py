"""Models and rows in every form in which a user has them, for all functions that ask for them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier as TheirTree

import treewright as tw
from treewright.exporting._check.agreement import rows_to_check
from treewright.plotting.quality import roc_points
from treewright.plotting.regions import decision_regions, plot_decision_regions
from treewright.tree import Tree

rng = np.random.default_rng(3)
TABLE = pd.DataFrame({"x": rng.normal(size=200), "z": rng.normal(size=200), "c": ["u", "v", "w", "u"] * 50})
TARGET = np.where(TABLE.x + (TABLE.c == "v") + 0.5 * rng.normal(size=200) > 0, "yes", "no")
TRAIN, TEST = slice(0, 120), slice(120, 200)
MODEL = tw.DecisionTreeClassifier(max_leaf_nodes=6).fit(TABLE[TRAIN], TARGET[TRAIN])
TREE: Tree = MODEL.model_
RULES = tw.RuleListClassifier().fit(TABLE[TRAIN], TARGET[TRAIN])

# ---- models --------------------------------------------------------------------------------------------

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "explain": lambda model: tw.explain(model, TABLE.iloc[0]),
    "importance": tw.importance,
    "shapley_values": lambda model: tw.shapley_values(model, TABLE[TEST]),
    "counterfactual": lambda model: tw.counterfactual(model, TABLE.iloc[0]),
    "tree_difference": lambda model: tw.tree_difference(model, model),
    "competitors": lambda model: tw.competitors(model, (TABLE[TRAIN], TARGET[TRAIN])),
    "export": tw.export,
    "report": lambda model: tw.report(model, test=(TABLE[TEST], TARGET[TEST])).html,
    "certify": lambda model: tw.certify(model, test=(TABLE[TEST], TARGET[TEST])),
    "prune": tw.prune,
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_what_is_no_tree_is_refused_by_all_alike(function: Callable[[Any], Any]) -> None:
    function(MODEL)
    their = TheirTree().fit(TABLE[["x", "z"]], TARGET)
    for model, message in [
        (tw.DecisionTreeClassifier(), "this DecisionTreeClassifier is not fitted yet; call fit first"),
        (tw.DecisionTreeClassifier, "not the class DecisionTreeClassifier"),
        (RULES, "this RuleListClassifier answers by its rules_, which are no tree"),
        (their, "this DecisionTreeClassifier is another library's; treewright.from_sklearn"),
        (
            GridSearchCV(MODEL, {}),
            "this GridSearchCV holds the model that is wanted here; .* best_estimator_",
        ),
        (make_pipeline(MODEL), r"this Pipeline holds the model that is wanted here; .* pipeline\[-1\]"),
        ([TREE], "a tree or a fitted model is wanted here, not a list"),
    ]:
        with pytest.raises(TypeError, match=message):
            function(model)


def test_from_sklearn_says_where_a_tool_holds_its_model() -> None:
    with pytest.raises(TypeError, match=r"this GridSearchCV holds the model .* give its best_estimator_"):
        tw.from_sklearn(GridSearchCV(TheirTree(), {}))
    with pytest.raises(TypeError, match=r"this Pipeline holds the model .* pipeline\[-1\]"):
        tw.from_sklearn(make_pipeline(TheirTree()))


def test_a_path_is_not_yet_a_tree() -> None:
    with pytest.raises(TypeError, match=r"this PruningPath has many trees; .* path.pruned"):
        tw.export(tw.prune(TREE))


def test_the_rules_of_a_rule_list_are_its_own() -> None:
    assert tw.rules(RULES) is RULES.rules_
    assert (tw.rules(RULES).predict(TABLE) == RULES.predict(TABLE)).all()
    with pytest.raises(ValueError, match="this model is a list of rules already"):
        tw.rules(RULES, merge=True)


# ---- rows ----------------------------------------------------------------------------------------------

WITH_TARGETS: dict[str, Callable[[Any], Any]] = {
    "certify": lambda rows: tw.certify(TREE, test=rows),
    "explain": lambda rows: tw.explain(TREE, TABLE.iloc[0], test=rows),
    "importance": lambda rows: tw.importance(TREE, rows),
    "competitors": lambda rows: tw.competitors(TREE, rows),
    "tree_difference": lambda rows: tw.tree_difference(TREE, TREE.first(1), rows),
    "text": lambda rows: tw.export(TREE, "text", test=rows),
    "roc": lambda rows: [curve.tolist() for curve in roc_points(TREE, rows, "yes")],
    "report": lambda rows: tw.report(TREE, test=rows).payload["samples"]["test"],
}
WITHOUT: dict[str, Callable[[Any], Any]] = {
    "counterfactual": lambda rows: tw.counterfactual(TREE, TABLE.iloc[0], data=rows),
    "background": lambda rows: tw.shapley_values(TREE, TABLE[TEST], background=rows),
    "shapley_values": lambda rows: tw.shapley_values(TREE, rows),
    "check": lambda rows: str(rows_to_check(TREE, rows)),
    "regions": lambda rows: decision_regions(TREE, "x", "z", within=((-1, 1), (-1, 1)), data=rows),
}


def plain(found: Any) -> str:
    return json.dumps(found.to_dict() if hasattr(found, "to_dict") else str(found), allow_nan=False)


@pytest.mark.parametrize("name", [*WITH_TARGETS, *WITHOUT])
def test_rows_may_be_encoded_or_a_table_with_its_target(name: str) -> None:
    function = (WITH_TARGETS | WITHOUT)[name]
    table, target = TABLE[TEST], TARGET[TEST]
    data = tw.encode(table, target, schema=TREE.schema)
    expected = plain(function(data))
    assert plain(function((table, target))) == expected
    assert plain(function((table, target, np.ones(len(target))))) == expected
    if name in WITHOUT:
        assert plain(function(table)) == expected
    with pytest.raises(ValueError, match=r"(test|data|rows|background|check): the target has 3 rows"):
        function((table, target[:3]))
    with pytest.raises(ValueError, match=r"the columns of \w+ are not the tree's"):
        function(tw.encode({"q": [1.0, 2.0]}, ["no", "yes"]))


@pytest.mark.parametrize("name", [name for name in WITH_TARGETS if name != "tree_difference"])
def test_rows_that_must_have_targets(name: str) -> None:
    with pytest.raises(TypeError, match=r"must be a Dataset, .* or a tuple .*, not DataFrame"):
        WITH_TARGETS[name](TABLE[TEST])
    with pytest.raises(ValueError, match=r"(test|data) has no target"):
        WITH_TARGETS[name]((TABLE[TEST], None))
    with pytest.raises(ValueError, match=r"(test|data) has no rows"):
        WITH_TARGETS[name](tw.encode(TABLE[TEST], TARGET[TEST], schema=TREE.schema).take([]))


def test_bootstraps_of_a_table_with_its_target() -> None:
    options = {"n_bootstraps": 3, "max_leaf_nodes": 3}
    expected = tw.stability(tw.encode(TABLE, TARGET), **options)
    assert tw.stability((TABLE, TARGET), **options) == expected
    weighed = tw.stability((TABLE, TARGET, np.arange(200)), **options)
    assert weighed == tw.stability(tw.encode(TABLE, TARGET, weight=np.arange(200)), **options)


def test_one_row_is_attributed_in_the_forms_in_which_it_is_explained() -> None:
    class Point(NamedTuple):
        x: float
        z: float
        c: str

    row = TABLE.iloc[0]
    point = Point(*row)
    expected = tw.shapley_values(TREE, TABLE[:1]).values
    for form in (row, dict(row), point, list(row), tuple(row), np.array(list(row), object)):
        assert np.array_equal(tw.shapley_values(TREE, form).values, expected), form
        assert tw.explain(TREE, form).value == TREE.predict(TABLE[:1])[0]


def test_classes_that_are_numbers_are_told_from_their_shares() -> None:
    tree = tw.grow(tw.encode({"x": [1.0, 2.0, 3.0]}, [0, 1, 2]))
    assert str(tw.shapley_values(tree, {"x": 1.0})).startswith(
        "0: 1 instead of 0.333 on average, 1: 0 instead"
    )


@pytest.mark.parametrize("format", ["text", "svg", "dot", "mermaid", "latex"])
def test_how_much_is_shown_is_a_whole_number(format: str) -> None:
    for wrong in ("all", -1, 1.5):
        with pytest.raises(ValueError, match=r"max_depth is .*; it must be a whole number of at least 0"):
            tw.export(TREE, format, max_depth=wrong)


def test_regions_are_of_columns() -> None:
    with pytest.raises(TypeError, match="x and y are names of columns, not a DataFrame; rows are given as"):
        plot_decision_regions(TREE, TABLE)
    with pytest.raises(ValueError, match="there is no column 'q'"):
        plot_decision_regions(TREE, "q")


def test_pmml_takes_no_empty_name() -> None:
    tree = tw.grow(tw.encode({"": [1.0, 2.0]}, ["a", "b"]))
    with pytest.raises(ValueError, match="PMML takes no empty one"):
        tw.export(tree, "pmml")


def test_in_a_notebook_competitors_stand_below_their_step() -> None:
    decision = tw.explain(TREE, TABLE.iloc[0], data=(TABLE[TRAIN], TARGET[TRAIN]), most=1)
    rows = [row for row in decision._repr_html_().split("<tr>") if "</td>" in row]
    steps = [i for i, row in enumerate(rows) if any(f">{k}.</td>" in row for k in range(1, 9))]
    assert len(steps) == len(decision.steps)
    assert all(
        "or: " in rows[i + 1] for i, step in zip(steps, decision.steps, strict=True) if step.competitors
    )
