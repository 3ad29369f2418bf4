"""RuleListClassifier: what it promises beyond scikit-learn's own checks (tests/test_common.py runs those)."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas
import polars
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.model_selection import cross_val_score

from treewright import RuleListClassifier, encode, grow
from treewright.certifying import certify_errors
from treewright.datasets import load_spam
from treewright.pruning.rule_post_pruning import rule_list


def frame(n: int = 200) -> tuple[pandas.DataFrame, np.ndarray]:
    rng = np.random.default_rng(1)
    table = pandas.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "job": rng.choice(["cook", "clerk", "judge"], n),
            "since": pandas.Timestamp("2020-01-01") + pandas.to_timedelta(rng.integers(0, 900, n), unit="D"),
        }
    )
    y = np.where((table["age"] > 40) & (table["job"] != "cook"), "yes", "no")
    table.loc[rng.random(n) < 0.1, "age"] = np.nan
    table.loc[rng.random(n) < 0.1, "job"] = None
    return table, y


@pytest.mark.parametrize("method", ["pessimistic", "validation"])
def test_tables_with_names_categories_dates_and_holes(method: str) -> None:
    table, y = frame()
    model = RuleListClassifier(method=method, random_state=0).fit(table, y)
    assert model.feature_names_in_.tolist() == ["age", "job", "since"]
    assert model.score(table, y) > 0.85
    assert "job" in str(model.rules_)
    assert model.predict(polars.from_pandas(table)).tolist() == model.predict(table).tolist()
    strange = pandas.DataFrame({"age": [np.nan], "job": ["pilot"], "since": [pandas.NaT]})
    assert model.predict(strange)[0] in ("no", "yes")
    shares = model.predict_proba(table)
    assert shares.shape == (200, 2)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    places = model.apply(table)
    assert places.max() <= len(model.rules_)
    assert pickle.loads(pickle.dumps(model)).rules_ == model.rules_


def test_it_is_the_function_below_it() -> None:
    table, y = frame()
    model = RuleListClassifier(criterion="entropy", confidence=0.1, max_leaf_nodes=20).fit(table, y)
    data = encode(table, y, classes=True)
    assert model.rules_ == rule_list(
        grow(data, criterion="entropy", max_leaf_nodes=20), data=data, confidence=0.1
    )
    assert model.model_.n_leaves <= 20


def test_rows_put_aside_are_not_those_that_grow() -> None:
    """The rules count the rows that grew the tree; of each class a share is missing there."""
    table, y = frame()
    model = RuleListClassifier(method="validation", validation_fraction=0.25, random_state=3).fit(table, y)
    counted = dict.fromkeys(["no", "yes"], 0.0)
    for rule in (*model.rules_, model.rules_.default):
        for label, weight in rule.weights:
            counted[label] += weight
    for label, count in counted.items():
        n = int((y == label).sum())
        assert abs(count - 0.75 * n) <= 1
    again = clone(model).fit(table, y)
    assert again.rules_ == model.rules_
    other = clone(model).set_params(random_state=4).fit(table, y)
    assert other.rules_ != model.rules_


def test_rows_of_no_weight_are_in_neither_part() -> None:
    x = np.arange(40.0).reshape(-1, 1)
    y = (x[:, 0] > 19).astype(int)
    weight = np.where(np.arange(40) % 2, 0.0, 1.0)
    model = RuleListClassifier(method="validation", random_state=0).fit(x, y, sample_weight=weight)
    total = sum(rule.rows for rule in (*model.rules_, model.rules_.default))
    assert total == 14


@pytest.mark.slow
def test_spam_by_cross_validation() -> None:
    spam = load_spam()
    scores = cross_val_score(RuleListClassifier(criterion="entropy"), spam.data[::3], spam.target[::3], cv=3)
    assert scores.mean() > 0.85


def test_one_class_is_the_default() -> None:
    model = RuleListClassifier().fit([[1.0], [2.0]], ["only", "only"])
    assert len(model.rules_) == 0
    assert model.predict([[5.0]]).tolist() == ["only"]
    assert model.predict_proba([[5.0]]).tolist() == [[1.0]]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "magic"}, "RuleListClassifier: method='magic' is not possible"),
        ({"confidence": 0.0}, r"confidence=0.0 is not possible; it must be a number in \(0, 1\]"),
        ({"validation_fraction": 1.0}, "validation_fraction=1.0 is not possible"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes=1 is not possible"),
        ({"criterion": "squared_error"}, "criterion 'squared_error' is not for classes"),
    ],
)
def test_bad_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RuleListClassifier(**parameters).fit([[1.0], [2.0]], [0, 1])


def test_bad_input_is_refused() -> None:
    x = [[1.0], [2.0], [3.0]]
    with pytest.raises(ValueError, match="y has 2 columns; RuleListClassifier predicts one target"):
        RuleListClassifier().fit(x, np.zeros((3, 2), int))
    with pytest.raises(ValueError, match="y has 2 columns; RuleListClassifier predicts one target"):
        RuleListClassifier().fit(x, [[0, 1], [1, 0], [1, 1]])
    with pytest.raises(ValueError, match="1 rows cannot be split into 2 parts"):
        RuleListClassifier(method="validation").fit(x[:1], ["a"])
    with pytest.raises(NotFittedError):
        RuleListClassifier().predict(x)
    with pytest.warns(DataConversionWarning):
        RuleListClassifier().fit(x, np.array([[0], [1], [1]]))


def test_a_fit_that_fails_leaves_the_old_one() -> None:
    table, y = frame()
    model = RuleListClassifier().fit(table, y)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="rows"):
        model.fit(table, y[:-1])
    assert vars(model) == before


def test_rules_are_certified_by_rows_that_were_never_used() -> None:
    table, y = frame()
    model = RuleListClassifier().fit(table[100:], y[100:])
    table, y = table[:100], y[:100]
    found = model.certify(table, y)
    wrong = int((model.predict(table) != np.asarray(y)).sum())
    assert found.value == pytest.approx(certify_errors(wrong, len(y)).value)
    assert found.check()
    assert model.certify(table, y, delta=0.001).value > found.value
    for delta in (0.0, 1.0):
        with pytest.raises(ValueError, match="delta"):
            model.certify(table, y, delta=delta)
    with pytest.raises(ValueError, match="rows, but y has"):
        model.certify(table, y[:-1])
    for errors, rows in ((3, 2), (-1, 2), (0, 0), (0.5, 2), ("few", 2)):
        with pytest.raises(ValueError, match=f"{errors} errors on {rows} rows"):
            certify_errors(errors, rows)  # type: ignore[arg-type]
