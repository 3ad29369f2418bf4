"""The rules of growing: what the parameters may say, what it means for the core, what goes together."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tests.strategies import table_of
from treewright import (
    Column,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    FeatureCosts,
    Schema,
    Surrogates,
    Target,
    encode,
    grow,
)
from treewright.growing.constraints import Constraints

SCHEMA = Schema(
    (Column("age"), Column("income"), Column("job", "category", ("clerk", "cook")), Column("since", "time")),
    (Target("loan", ("no", "yes")),),
)
ROWS = {"age": [25.0, 31, 42, 58, 61, 33], "income": [1.0, 3, 2, 5, 4, 6], "job": list("abaabb")}
LOANS = ["no", "no", "yes", "yes", "yes", "no"]


def test_nothing_asked_is_nothing_to_keep() -> None:
    assert Constraints.of(SCHEMA).parameters_set == []
    assert not Constraints.of(SCHEMA, missing="error").need_constrained_grower
    zeros: dict[str, Any] = {"monotonic_cst": {"age": 0}, "feature_costs": [0, 0.0, 0, 0]}
    assert not Constraints.of(SCHEMA, **zeros).need_constrained_grower
    assert not Constraints.of(SCHEMA, max_features_used=4).need_constrained_grower, "all columns may be used"


def test_what_needs_care_is_named() -> None:
    found = Constraints.of(
        SCHEMA,
        missing="category",
        monotonic_cst={"age": 1},
        interaction_cst="pairwise",
        feature_costs={"job": 2},
        max_features_used=2,
    )
    assert found.parameters_set == [
        "missing='category'",
        "monotonic_cst",
        "interaction_cst",
        "feature_costs",
        "feature_costs=FeatureCosts(max_used=…)",
    ]


@pytest.mark.parametrize(
    "given",
    [
        {"age": 1, "since": -1},
        [1, 0, 0, -1],
        np.array([1, 0, 0, -1]),
        np.array([1.0, 0.0, 0.0, -1.0]),
        [1.0, 0, -0.0, np.float32(-1)],
        {0: 1, 3: -1},
        {"age": np.int8(1), "since": -1},
    ],
)
def test_signs_by_name_and_by_position(given: Any) -> None:
    monotone = Constraints.of(SCHEMA, monotonic_cst=given).monotone
    assert monotone is not None
    assert monotone.dtype == np.int8
    assert monotone.tolist() == [1, 0, 0, -1]


def test_groups_by_name_and_by_position() -> None:
    assert Constraints.of(SCHEMA, interaction_cst=[["job", 0], (3, "income", 1)]).groups == [[0, 2], [1, 3]]
    assert Constraints.of(SCHEMA, interaction_cst="no_interactions").groups == [[0], [1], [2], [3]]
    assert len(Constraints.of(SCHEMA, interaction_cst="pairwise").groups or []) == 6
    assert Constraints.of(Schema((Column("x"),)), interaction_cst="pairwise").groups == [[0]]
    assert Constraints.of(SCHEMA, interaction_cst=[]).groups == []


def test_prices_by_name_and_by_position() -> None:
    for given in ({"job": 2.5}, [0, 0, 2.5, 0], np.array([0, 0, 2.5, 0])):
        prices = Constraints.of(SCHEMA, feature_costs=given).prices
        assert prices is not None
        assert prices.tolist() == [0.0, 0.0, 2.5, 0.0]


def test_the_core_is_told_what_it_knows() -> None:
    assert Constraints(missing="error").core_arguments["missing"] == "learn"
    assert Constraints.of(SCHEMA, missing="surrogate", n_surrogates=2).core_arguments["n_surrogates"] == 2


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"monotonic_cst": {"agee": 1}}, "monotonic_cst: there is no column 'agee'; the columns are 'age', "),
    ({"monotonic_cst": {"age": 2}}, "monotonic_cst must be None or an array-like of -1, 0 or 1, or a dict "),
    ({"monotonic_cst": {"age": 2}}, "column 'age' has 2 in {'age': 2}"),
    ({"monotonic_cst": [0, -0.5, 0, 0]}, "column 'income' has -0.5 in [0, -0.5, 0, 0]"),
    ({"monotonic_cst": [np.nan, 0, 0, 0]}, "column 'age' has nan"),
    ({"monotonic_cst": {"age": True}}, "column 'age' has True"),
    ({"monotonic_cst": [1, 0, 0]}, "monotonic_cst has shape 3 but the input data X has 4 features"),
    ({"monotonic_cst": "age"}, "monotonic_cst is 'age'; it must be a dict by column"),
    ({"monotonic_cst": 1}, "monotonic_cst is 1; it must be a dict by column"),
    ({"monotonic_cst": [0, 0, 1, 0]}, "monotonic_cst: column 'job' holds categories"),
    ({"interaction_cst": "some"}, "interaction_cst is 'some'; it must be 'pairwise'"),
    ({"interaction_cst": ["age", "job"]}, "each a list of names or positions"),
    ({"interaction_cst": 3}, "interaction_cst is 3"),
    ({"interaction_cst": [["age", 4]]}, "interaction_cst: there is no column 4"),
    ({"interaction_cst": [[-1]]}, "interaction_cst: there is no column -1"),
    ({"feature_costs": {"age": -0.5}}, "feature_costs: column 'age' has -0.5; it must be a number of at "),
    ({"feature_costs": {"age": "1"}}, "feature_costs: column 'age' has '1'"),
    ({"feature_costs": [0, 0, np.inf, 0]}, "feature_costs: column 'job' has inf"),
    ({"feature_costs": [0, 0, np.nan, 0]}, "feature_costs: column 'job' has nan"),
    ({"monotonic_cst": {"age": 1}, "missing": "surrogate"}, "monotonic_cst does not go with missing='surr"),
    ({"monotonic_cst": {"age": 1}, "missing": "fractional"}, "monotonic_cst does not go with missing='fract"),
    ({"interaction_cst": "pairwise", "missing": "surrogate"}, "interaction_cst does not go with missing="),
]  # fmt: skip


@pytest.mark.parametrize(("given", "message"), WRONG, ids=str)
def test_what_cannot_be_is_said(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Constraints.of(SCHEMA, **given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"missing": "guess"},
            "missing='guess' is not possible; it must be one of 'learn', 'surrogate'",
        ),
        ({"missing": None}, "grow: missing=None is not possible"),
        ({"missing": 3}, "grow: missing=3 is not possible"),
        ({"feature_costs": 3}, "grow: feature_costs=3 is not possible"),
        (
            {"min_samples_leaf": 1.0},
            "grow: min_samples_leaf=1.0 is not possible; it must be an int >= 1",
        ),
    ],
)
def test_grow_refuses_what_its_parameters_do_not_allow(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        grow(encode(ROWS, LOANS), **given)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (lambda: Surrogates(-1), "Surrogates: n=-1 is not possible; it must be an int >= 0"),
        (lambda: Surrogates(2.5), "Surrogates: n=2.5 is not possible"),
        (
            lambda: FeatureCosts(max_used=0),
            "max_used=0 is not possible; it must be an int >= 1, or None",
        ),
    ],
)
def test_option_values_refuse_what_cannot_be(value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        value()


RULED: list[dict[str, Any]] = [
    {"missing": "surrogate"},
    {"missing": "fractional"},
    {"missing": "category"},
    {"monotonic_cst": {"age": 1}},
    {"interaction_cst": "no_interactions"},
    {"feature_costs": {"age": 1}},
    {"feature_costs": FeatureCosts(max_used=1)},
]


@pytest.mark.parametrize("given", RULED, ids=str)
def test_what_the_constrained_grower_does_not_offer(given: dict[str, Any]) -> None:
    (name,) = given
    with pytest.raises(ValueError, match=f"{name}.* does not go with split='oblique'; set split='axis'"):
        grow(encode(ROWS, LOANS), split="oblique", **given)
    with pytest.raises(ValueError, match="splitter='random' does not go with split='oblique'"):
        grow(encode(ROWS, LOANS), split="oblique", splitter="random", **given)


def test_medians_are_of_whole_rows() -> None:
    with pytest.raises(ValueError, match="missing='fractional' does not go with criterion='absolute_error'"):
        grow(encode(ROWS, np.arange(6.0)), criterion="absolute_error", missing="fractional")


@pytest.mark.parametrize("given", RULED, ids=str)
def test_very_many_classes(given: dict[str, Any]) -> None:
    """Trees of more than 256 classes list what their leaves hold, those of the constrained grower too."""
    table = {"age": np.arange(600.0) // 2, "income": np.arange(600.0) % 7}
    tree = grow(encode(table, np.arange(600) // 2), max_leaf_nodes=5, **given)
    tree.check()
    assert tree.n_leaves >= 3
    assert tree.weight[tree.is_leaf].sum() == 600


def test_an_order_needs_one_target() -> None:
    data = encode(ROWS, np.stack([np.arange(6.0), np.ones(6)], axis=1))
    with pytest.raises(ValueError, match=r"not supported with multiple outputs: .* the table has 2"):
        grow(data, monotonic_cst={"age": 1})


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"age": [1.0, None, 3.0], "job": ["a", "b", "a"]}, "column 'age' has a missing value in row 1"),
        ({"age": [1.0, 2.0, 3.0], "job": ["a", "b", None]}, "column 'job' has a missing value in row 2"),
        (np.array([[1.0, 2.0], [3.0, np.nan], [1.0, 2.0]]), "column 'x1' has a missing value in row 1"),
    ],
)
def test_a_missing_value_is_an_error_where_it_is_said(rows: Any, message: str) -> None:
    data = encode(rows, ["a", "b", "a"])
    with pytest.raises(ValueError, match=message):
        grow(data, missing="error")
    assert grow(data).missing == "learn"


def test_error_grows_the_same_tree_where_nothing_is_missing() -> None:
    data = encode(ROWS, LOANS)
    strict, usual = grow(data, missing="error"), grow(data)
    assert strict.missing == "error"
    assert strict.threshold.tobytes() == usual.threshold.tobytes()
    assert strict.feature.tolist() == usual.feature.tolist()


# ---- estimators --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"missing": "guess"}, "missing='guess' is not possible"),
        ({"monotonic_cst": "up"}, "monotonic_cst='up' is not possible; it must be a dict by column"),
        ({"interaction_cst": "some"}, "interaction_cst='some' is not possible"),
        ({"feature_costs": 3}, "feature_costs=3 is not possible"),
        ({"monotonic_cst": {"size": 1}}, "monotonic_cst: there is no column 'size'"),
    ],
    ids=str,
)
def test_estimators_refuse(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        DecisionTreeClassifier(**given).fit(ROWS, LOANS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"missing": "surrogate", "missing__n": -2},
            "Surrogates: n=-2 is not possible; it must be an int >= 0",
        ),
        ({"feature_costs__max_used": 0}, "max_used=0 is not possible; it must be an int >= 1, or None"),
    ],
    ids=str,
)
def test_option_values_refuse(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        DecisionTreeClassifier(feature_costs={}).set_params(**options)


@pytest.mark.parametrize("given", RULED, ids=str)
def test_random_thresholds_keep_the_rules(given: dict[str, Any]) -> None:
    tree = ExtraTreeClassifier(**given, random_state=3).fit(ROWS, LOANS).model_
    assert tree == grow(encode(ROWS, LOANS), splitter="random", max_features=1, random_state=3, **given)
    assert tree.missing == given.get("missing", "learn")


@pytest.mark.parametrize("method", ["pessimistic", "bound"])
def test_raising_would_break_the_order(method: str) -> None:
    model = DecisionTreeClassifier(monotonic_cst={"age": 1}, pruning=method)
    with pytest.raises(ValueError, match=f"{method} raises branches, which can break monotonic_cst"):
        model.fit(ROWS, LOANS)
    model.set_params(pruning__raising=False).fit(ROWS, LOANS)
    model.set_params(pruning=method, monotonic_cst={"age": 0}).fit(ROWS, LOANS)


@pytest.mark.parametrize("given", RULED, ids=str)
def test_estimators_hand_the_rules_on(given: dict[str, Any]) -> None:
    tree = DecisionTreeClassifier(**given).fit(ROWS, LOANS).model_
    assert tree == grow(encode(ROWS, LOANS), **given)
    numbers = DecisionTreeRegressor(**given).fit(ROWS, np.arange(6.0)).model_
    assert numbers == grow(encode(ROWS, np.arange(6.0)), **given)


def test_rules_that_allow_no_split_leave_one_leaf() -> None:
    table = table_of([[1, 2, 3, 4]], [1, 1, 0, 0])
    assert table.grow("gini", monotonic_cst=[1]).n_nodes == 1
    assert table.grow("gini", monotonic_cst=[-1]).n_nodes == 3
