"""Metrics of a tree on rows: against scikit-learn's, with weights, ties and classes that are absent."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from treewright import Dataset, Tree, encode, grow
from treewright.metrics import area_under_roc, constant_answer, metrics, rarer_class


def made(n_classes: int, *, weighted: bool, n: int = 400) -> tuple[Tree, Dataset, dict[str, Any]]:
    """A small tree of coarse numbers, so that many rows share a leaf, and other rows to judge it by."""
    random = np.random.default_rng(n_classes)
    x = np.round(random.normal(size=(2 * n, 3)), 1)
    signal = x[:, 0] + 0.7 * random.normal(size=2 * n)
    y = np.digitize(signal, np.linspace(0.5, 1.5, n_classes - 1))
    weight = random.integers(1, 5, 2 * n).astype(float) if weighted else None
    train = encode(x[:n], y[:n], classes=True)
    test = encode(
        x[n:], y[n:], classes=True, schema=train.schema, weight=None if weight is None else weight[n:]
    )
    tree = grow(train, max_leaf_nodes=6)
    facts = {"y": y[n:], "said": tree.predict(x[n:]), "weight": None if weight is None else weight[n:]}
    return tree, test, facts | {"proba": tree.predict_proba(x[n:])}


@pytest.mark.parametrize("weighted", [False, True])
def test_two_classes_agree_with_scikit_learn(weighted: bool) -> None:
    tree, test, facts = made(2, weighted=weighted)
    found, options = metrics(tree, test), {"sample_weight": facts["weight"]}
    truth, said = facts["y"], np.asarray(facts["said"])
    assert found.positive is not None
    code = int(found.positive.name)  # type: ignore[call-overload]
    assert code == 1  # the rarer one
    assert found.error == pytest.approx(1 - sklearn_metrics.accuracy_score(truth, said, **options))
    recall = sklearn_metrics.recall_score(truth, said, pos_label=code, **options)
    precision = sklearn_metrics.precision_score(truth, said, pos_label=code, **options)
    assert (found.positive.recall, found.positive.precision) == pytest.approx((recall, precision))
    balanced = sklearn_metrics.balanced_accuracy_score(truth, said, **options)
    assert found.balanced_accuracy == pytest.approx(balanced)
    area = sklearn_metrics.roc_auc_score(truth == code, np.asarray(facts["proba"])[:, code], **options)
    assert found.auc == pytest.approx(area)
    majority = np.zeros_like(truth)
    assert found.constant_error == pytest.approx(
        1 - sklearn_metrics.accuracy_score(truth, majority, **options)
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_several_classes_agree_with_scikit_learn(weighted: bool) -> None:
    tree, test, facts = made(4, weighted=weighted)
    found, options = metrics(tree, test), {"sample_weight": facts["weight"]}
    truth, said = facts["y"], np.asarray(facts["said"])
    assert found.balanced_accuracy == pytest.approx(
        sklearn_metrics.balanced_accuracy_score(truth, said, **options)
    )
    macro = sklearn_metrics.precision_score(truth, said, average="macro", zero_division=np.nan, **options)
    assert found.macro_precision == pytest.approx(macro)
    each = sklearn_metrics.recall_score(truth, said, average=None, **options)
    assert [own.recall for own in found.classes] == pytest.approx(each.tolist())
    worst = found.worst_recall
    assert worst is not None
    assert worst.recall == pytest.approx(each.min())
    assert found.positive is None
    assert math.isnan(found.auc)
    assert [name for name, _ in found.figures] == ["balanced accuracy", "macro precision", "lowest recall"]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_numbers_agree_with_scikit_learn(criterion: str, weighted: bool) -> None:
    random = np.random.default_rng(5)
    x = random.normal(size=(300, 2))
    y = 2 * x[:, 0] + random.normal(size=300)
    weight = random.integers(1, 4, 300).astype(float) if weighted else None
    data = encode(x, y, weight=weight)
    tree = grow(data, criterion=criterion, max_leaf_nodes=5)
    found, said, options = metrics(tree, data), tree.predict(x), {"sample_weight": weight}
    assert found.r2 == pytest.approx(sklearn_metrics.r2_score(y, said, **options))
    mae = sklearn_metrics.mean_absolute_error(y, said, **options)
    rmse = math.sqrt(sklearn_metrics.mean_squared_error(y, said, **options))
    assert found.mae == pytest.approx(mae)
    assert found.error == pytest.approx(mae if criterion == "absolute_error" else rmse)
    if criterion == "squared_error":
        assert found.constant == pytest.approx(np.average(y, weights=weight))
        assert [name for name, _ in found.figures] == ["R²", "mean absolute error"]
        assert "always answering the mean (" in found.comparison("training")
    else:
        assert "always answering the median (" in found.comparison("training")


def test_area_counts_ties_half_and_knows_when_it_is_undefined() -> None:
    """P(positive above negative) + ½ P(equal), pair by pair."""
    random = np.random.default_rng(3)
    score, weight = random.integers(0, 4, 60) / 4, random.random(60)
    positive = random.random(60) < 0.4
    pairs = [
        (weight[i] * weight[j], 1.0 if score[i] > score[j] else 0.5 if score[i] == score[j] else 0.0)
        for i in np.flatnonzero(positive)
        for j in np.flatnonzero(~positive)
    ]
    wanted = sum(both * won for both, won in pairs) / sum(both for both, _ in pairs)
    assert area_under_roc(score, positive, weight) == pytest.approx(wanted)
    assert math.isnan(area_under_roc(score, np.zeros(60, np.bool_), weight))
    assert math.isnan(area_under_roc(score, np.ones(60, np.bool_), weight))


def test_a_class_that_is_absent_is_undefined_not_a_crash() -> None:
    train = encode({"x": range(40)}, ["no"] * 30 + ["yes"] * 10)
    test = encode({"x": range(10)}, ["no"] * 10, schema=train.schema)
    found = metrics(grow(train, max_leaf_nodes=2), test, positive=1)
    assert found.figures == [
        ("recall", "–"),
        ("precision", "–"),
        ("balanced accuracy", "100 %"),
        ("AUC", "–"),
    ]
    assert found.error == 0


def test_unknown_classes_are_mistakes() -> None:
    train = encode({"x": range(40)}, ["no"] * 20 + ["yes"] * 20)
    test = encode({"x": [1, 30, 31]}, ["no", "yes", "new"], schema=train.schema, judging=True)
    found = metrics(grow(train), test)
    assert found.error == pytest.approx(1 / 3)
    assert found.balanced_accuracy == pytest.approx(2 / 3)  # of the unknown class nothing is found


def test_costs_and_equal_numbers() -> None:
    data = encode({"x": range(20)}, ["ill"] * 5 + ["well"] * 15)
    tree = grow(data, max_leaf_nodes=1, costs=[[0, 10], [1, 0]])
    found = metrics(tree, data)
    assert (found.measure, found.error, found.beats_constant) == ("mean cost", 0.75, False)
    assert found.comparison("training") == (
        "mean cost 0.75 on 20 training rows — no better than always answering 'ill' (0.75)"
    )
    flat = encode({"x": range(9)}, [2.5] * 9)
    assert metrics(grow(flat), flat).figures[0] == ("R²", "–")


def test_the_constant_answer_is_the_majority_of_the_training_rows() -> None:
    """Weights of classes may have changed what the root answers."""
    y = ["no"] * 30 + ["yes"] * 10
    plain, heavy = encode({"x": range(40)}, y), encode({"x": range(40)}, y, weight=[1.0] * 30 + [9.0] * 10)
    tree = grow(heavy, max_leaf_nodes=2)
    assert (constant_answer(tree), constant_answer(tree, plain)) == (1, 0)
    assert rarer_class(plain) == 1
    assert rarer_class(heavy) == 0
    assert rarer_class(encode({"x": range(3)}, ["a", "b", "c"])) is None


def test_documents_name_at_most_some_classes() -> None:
    tree, test, _ = made(4, weighted=False)
    told = metrics(tree, test).document(most=2)
    assert len(told["classes"]) == 2
    assert {"constant", "balanced_accuracy", "macro_precision"} <= told.keys()
