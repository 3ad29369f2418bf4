"""Metrics of a tree on given rows: error beside a constant answer, recall, precision, AUC, R², ROC points.

Whatever prints, draws or reports such a figure takes it from here. All of them honour the weights of the
rows; what is undefined, such as the recall of a class without rows, is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from treewright._display import Layout, Shown
from treewright._suggestions import checked_keywords, choices_text
from treewright._text import amount, count, label_text, percent, quote
from treewright.encoding import Dataset
from treewright.encoding.rows import with_target
from treewright.parameters.checks import n_threads
from treewright.tree import Tree
from treewright.tree.evaluate import given_rows, prediction_losses
from treewright.tree.number_losses import predicts_medians
from treewright.tree.predict import answers, codes, proportions
from treewright.tree.shortcuts import as_tree

Floats = NDArray[np.float64]

UNDEFINED = "–"  # instead of a figure
_SAME = 1e-12  # relative difference of errors that are equal but for rounding


@dataclass(frozen=True)
class ClassFigures:
    """Recall and precision of one class, and the weight of its rows."""

    name: Hashable
    recall: float
    precision: float
    weight: float


@dataclass(frozen=True)
class Metrics(Shown):
    """The quality of a tree's predictions on some rows, beside that of one constant prediction.

    `error` is what `measure` says: the share of wrong classes, the mean cost where mistakes have costs, the
    root mean squared error of numbers, or the mean absolute error of a tree grown by it. `constant_error` is
    the same of always answering `constant`: the majority class, the class that costs least, or the mean.
    """

    n_rows: int
    measure: str
    error: float
    constant: Hashable
    constant_error: float
    classes: tuple[ClassFigures, ...] = ()
    balanced_accuracy: float = math.nan  # the mean recall of the classes that have rows
    macro_precision: float = math.nan  # the mean precision of the classes that are answered
    positive: ClassFigures | None = None  # of two classes the rarer one
    auc: float = math.nan  # area under the ROC curve of the positive class
    r2: float = math.nan
    mae: float = math.nan

    @property
    def is_of_classes(self) -> bool:
        """Whether the target is classes, not numbers."""
        return self.measure in ("error", "mean cost")

    @property
    def is_share(self) -> bool:
        """Whether the error is a share of the rows."""
        return self.measure == "error"

    @property
    def beats_constant(self) -> bool:
        """Whether the error is smaller than that of the constant answer."""
        return self.error < self.constant_error * (1 - _SAME)

    def in_words(self, error: float) -> str:
        """An error as people read it: in per cent where it is a share."""
        return percent(error) if self.is_share else amount(error)

    @property
    def constant_in_words(self) -> str:
        """The constant answer, as a class or a number."""
        return class_word(self.constant) if self.is_of_classes else amount(cast(float, self.constant))

    def comparison(self, rows: str) -> str:
        """The error beside that of the constant answer; `rows` says what rows these are.

        >>> Metrics(200, "error", 0.05, "no", 0.301).comparison("test")
        "error 5.0 % on 200 test rows; always answering 'no' has 30.1 %"
        >>> Metrics(200, "error", 0.301, "no", 0.301).comparison("test")
        "error 30.1 % on 200 test rows — no better than always answering 'no' (30.1 %)"
        """
        own, other = self.in_words(self.error), self.in_words(self.constant_error)
        always = f"always answering {self.quoted_constant}"
        seen = f"{self.measure} {own} on {count(self.n_rows, f'{rows} row')}"
        return (
            f"{seen}; {always} has {other}"
            if self.beats_constant
            else f"{seen} — no better than {always} ({other})"
        )

    def _layout(self) -> Layout:
        facts = {self.measure: self.in_words(self.error)}
        facts[f"always answering {self.quoted_constant}"] = self.in_words(self.constant_error)
        return Layout.of_facts(count(self.n_rows, "row"), facts | dict(self.figures))

    @property
    def quoted_constant(self) -> str:
        """The constant answer within a sentence."""
        if not self.is_of_classes:
            kind = "median" if self.measure == "mean absolute error" else "mean"
            return f"the {kind} ({self.constant_in_words})"
        return quote(self.constant) if isinstance(self.constant, str) else self.constant_in_words

    @property
    def figures(self) -> list[tuple[str, str]]:
        """The other metrics, as names and values in words."""
        if not self.is_of_classes:
            is_mae = self.measure == "mean absolute error"
            others = [] if is_mae else [("mean absolute error", amount(self.mae))]
            return [("R²", _decimals(self.r2)), *others]
        balanced = ("balanced accuracy", share_word(self.balanced_accuracy))
        if self.positive is not None:
            recall, precision = share_word(self.positive.recall), share_word(self.positive.precision)
            return [("recall", recall), ("precision", precision), balanced, ("AUC", _decimals(self.auc))]
        others = [("macro precision", share_word(self.macro_precision))]
        if (worst := self.worst_recall) is not None:
            others.append(("lowest recall", f"{share_word(worst.recall)} ({class_word(worst.name)})"))
        return [balanced, *others]

    @property
    def worst_recall(self) -> ClassFigures | None:
        """The class of the lowest recall; None unless two classes have rows."""
        known = [each for each in self.classes if not math.isnan(each.recall)]
        return min(known, key=lambda each: each.recall) if len(known) > 1 else None

    def document(self, most: int = 20) -> dict[str, Any]:
        """The figures for programs; of more than `most` classes those with the most weight."""
        facts: dict[str, Any] = {"constant": self.constant}
        if not self.is_of_classes:
            return facts | {"r2": self.r2, "mae": self.mae}
        heaviest = sorted(self.classes, key=lambda each: -each.weight)[:most]
        facts["balanced_accuracy"] = self.balanced_accuracy
        if self.positive is not None:
            own = {"positive": self.positive.name, "recall": self.positive.recall}
            facts |= own | {"precision": self.positive.precision, "auc": self.auc}
        else:
            facts["macro_precision"] = self.macro_precision
        facts["classes"] = [
            {"class": each.name, "recall": each.recall, "precision": each.precision} for each in heaviest
        ]
        return facts


@checked_keywords
def metrics(
    model: Any,
    data: Any,
    target: Any = None,
    *,
    constant: Any = None,
    positive: int | None = None,
    n_jobs: int | None = None,
) -> Metrics:
    """The metrics of a tree of one target on rows that have it: a Dataset, a tuple (table, target), or a
    table followed by its target.

    `constant` is the code of a class or the number that is always answered, by default the answer of the
    root; `positive` the code of the class that recall, precision and AUC are about, by default the rarer one
    of two in these rows.

    >>> from treewright import encode, grow
    >>> data = encode({"x": [1, 2, 3, 4, 5]}, ["a", "b", "a", "b", "b"])
    >>> found = metrics(grow(data, max_leaf_nodes=2), data)
    >>> found.error, found.constant_error, found.figures[:2]
    (0.2, 0.4, [('recall', '100 %'), ('precision', '66.7 %')])
    """
    tree = as_tree(model)
    data = given_rows(tree, with_target("metrics", data, target), "data", judging=True)
    threads = n_threads(n_jobs)
    predicted = answers(tree, data, threads)[:, 0]
    if constant is None:
        constant = constant_answer(tree)
    facts: dict[str, Any] = {
        "n_rows": data.n_counted,
        "measure": measure(tree),
        "error": _error(tree, data, predicted),
        "constant_error": _error(tree, data, np.full_like(predicted, constant)),
    }
    if not tree.schema.predicts_classes:
        return Metrics(constant=float(constant), **facts, **_number_metrics(data, predicted))
    labels = tree.schema.targets[0].classes or ()
    facts |= _class_metrics(tree, data, predicted, positive, threads)
    return Metrics(constant=labels[int(constant)], **facts)


def measure(tree: Tree) -> str:
    """What the errors of a tree are called."""
    if tree.schema.predicts_classes:
        return "mean cost" if tree.schema.has_costs else "error"
    return "mean absolute error" if predicts_medians(tree.criterion) else "root mean squared error"


def class_weights(data: Dataset) -> Floats:
    """The weight of the rows of each class that the schema knows."""
    truth = data.target_array[0]
    n_classes = len(data.schema.targets[0].classes or ())
    sums = np.bincount(truth[truth >= 0], data.row_weights[truth >= 0], minlength=n_classes)
    return np.asarray(sums, np.float64)


def rarer_class(data: Dataset) -> int | None:
    """The code of the rarer one of two classes, the second if they are equal; None for more or fewer classes.

    >>> from treewright import encode
    >>> rarer_class(encode({"x": [1, 2, 3]}, ["b", "a", "b"]))
    0
    """
    weights = class_weights(data)
    return (0 if weights[0] < weights[1] else 1) if len(weights) == 2 else None


def constant_answer(tree: Tree, train: Dataset | None = None) -> Any:
    """The best constant prediction: the code of a class, or a number.

    That of the root; where the training rows are given and all mistakes cost the same, their majority class,
    as the tree may have been grown with other weights.
    """
    if not tree.schema.predicts_classes:
        return tree.centre[0, 0]
    label = int(tree.label[0, 0])
    if train is None or tree.schema.has_costs:
        return label
    weights = class_weights(train)
    return label if weights[label] == weights.max() else int(weights.argmax())


def class_word(label: Hashable) -> str:
    """A class in words; bools as files have them."""
    return str(label).lower() if isinstance(label, bool) else label_text(label)


def share_word(share: float) -> str:
    """A share in per cent, or the sign for what is undefined."""
    return UNDEFINED if math.isnan(share) else percent(share)


def _decimals(value: float) -> str:
    return UNDEFINED if math.isnan(value) else f"{value:.3f}"


def _error(tree: Tree, data: Dataset, predicted: NDArray[Any]) -> float:
    """The error rate or mean cost; of numbers the root mean squared or the mean absolute error."""
    if tree.schema.predicts_classes:
        losses = prediction_losses(tree, predicted[:, np.newaxis], data.target_array)
        return float(np.average(losses, weights=data.weight))
    distance = np.abs(predicted - data.target_array[0])
    if predicts_medians(tree.criterion):
        return float(np.average(distance, weights=data.weight))
    return math.sqrt(float(np.average(distance**2, weights=data.weight)))


def _number_metrics(data: Dataset, predicted: Floats) -> dict[str, Any]:
    """R² and the mean absolute error."""
    numbers, weight = data.target_array[0], data.row_weights
    total = float(np.average((numbers - np.average(numbers, weights=weight)) ** 2, weights=weight))
    residual = float(np.average((numbers - predicted) ** 2, weights=weight))
    mae = float(np.average(np.abs(numbers - predicted), weights=weight))
    return {"r2": 1 - residual / total if total > 0 else math.nan, "mae": mae}


def _class_metrics(
    tree: Tree, data: Dataset, predicted: NDArray[Any], positive: int | None, threads: int
) -> dict[str, Any]:
    """Recall and precision of each class and what follows from them; without a confusion matrix, which does
    not fit into memory for very many classes.
    """
    labels, truth, weight = tree.schema.targets[0].classes or (), data.target_array[0], data.row_weights
    true_weight, right = class_weights(data), predicted == truth
    predicted_weight = np.bincount(predicted, weight, minlength=len(labels))
    hits = np.bincount(predicted[right], weight[right], minlength=len(labels))
    with np.errstate(invalid="ignore"):
        recall, precision = hits / true_weight, hits / predicted_weight
    columns = (recall.tolist(), precision.tolist(), true_weight.tolist())
    figures = tuple(ClassFigures(*facts) for facts in zip(labels, *columns, strict=True))
    has_unknown = float(weight[truth < 0].sum()) > 0  # a class that the tree cannot predict has recall 0
    recalls = [*recall[true_weight > 0].tolist(), *([0.0] if has_unknown else [])]
    facts: dict[str, Any] = {"classes": figures, "balanced_accuracy": _mean(recalls)}
    facts["macro_precision"] = _mean(precision[predicted_weight > 0].tolist())
    if len(labels) != 2:
        return facts
    code = rarer_class(data) if positive is None else positive
    assert code is not None
    shares = proportions(tree, data, threads)[0][:, code]
    return facts | {"positive": figures[code], "auc": area_under_roc(shares, truth == code, weight)}


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else math.nan


def area_under_roc(score: NDArray[Any], is_positive: NDArray[np.bool_], weight: Floats) -> float:
    """The probability that a positive row scores above a negative one, ties counted half; NaN without both.

    >>> area_under_roc(np.array([0.9, 0.5, 0.5, 0.1]), np.array([True, True, False, False]), np.ones(4))
    0.875
    """
    total, true = _cumulative(score, is_positive, weight)
    false = total - true
    if not (true[-1] > 0 and false[-1] > 0):
        return math.nan
    return area_under_points(false / false[-1], true / true[-1])


def area_under_points(x: Floats, y: Floats) -> float:
    """The area under the line through some points, by the trapezoidal rule.

    >>> area_under_points(np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0, 1.0]))
    0.75
    """
    return float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2))


def _cumulative(score: NDArray[Any], is_positive: NDArray[np.bool_], weight: Floats) -> tuple[Floats, Floats]:
    """The weight of all rows and of the positive ones above each threshold, the strictest first."""
    levels, level = np.unique(-score, return_inverse=True)
    sums = [np.bincount(level, part, len(levels)) for part in (weight, weight * is_positive)]
    total, true = (np.concatenate([[0.0], np.cumsum(part)]) for part in sums)
    return total, true


@checked_keywords
def roc_points(model: Any, data: Any, positive: Any) -> tuple[Floats, Floats]:
    """The ROC curve of class `positive`: (false positive rate, true positive rate) of every threshold on its
    share in the leaf, from the strictest to the loosest.

    >>> from treewright import encode, grow
    >>> data = encode({"x": [1, 2, 3, 4]}, ["a", "b", "a", "b"])
    >>> false, hits = roc_points(grow(data, max_leaf_nodes=3), data, "b")
    >>> false.tolist(), hits.tolist()
    ([0.0, 0.0, 0.5, 1.0], [0.0, 0.5, 1.0, 1.0])
    """
    total, true = _cumulative_of(model, data, positive)
    false = total - true
    return false / max(false[-1], 1e-300), true / max(true[-1], 1e-300)


@checked_keywords
def precision_recall_points(model: Any, data: Any, positive: Any) -> tuple[Floats, Floats]:
    """(recall, precision) of class `positive` for each threshold on its share, the strictest first.

    >>> from treewright import encode, grow
    >>> data = encode({"x": [1, 2, 3, 4]}, ["a", "b", "a", "b"])
    >>> recall, precision = precision_recall_points(grow(data, max_leaf_nodes=3), data, "b")
    >>> recall.tolist(), precision.round(2).tolist()
    ([0.0, 0.5, 1.0, 1.0], [1.0, 1.0, 0.67, 0.5])
    """
    total, true = _cumulative_of(model, data, positive)
    precision = np.divide(true, total, out=np.ones_like(true), where=total > 0)
    return true / max(true[-1], 1e-300), precision


@checked_keywords
def confusion_matrix(model: Any, data: Any) -> Floats:
    """The confusion matrix: the weight of the rows of each class (row) that get each answer (column).

    >>> from treewright import encode, grow
    >>> data = encode({"x": [1, 2, 3, 4]}, ["a", "b", "a", "b"])
    >>> confusion_matrix(grow(data, max_leaf_nodes=2), data).tolist()
    [[1.0, 1.0], [0.0, 2.0]]
    """
    tree, rows = tree_of_classes(as_tree(model), data)
    n = len(tree.schema.targets[0].classes or ())
    cells = rows.target_array[0].astype(np.int64) * n + codes(tree, rows)[:, 0]
    return np.bincount(cells, rows.row_weights, n * n).astype(np.float64).reshape(n, n)


def tree_of_classes(tree: Tree, data: Any) -> tuple[Tree, Dataset]:
    """A tree that predicts the classes of one target, and rows for it; ValueError about any other."""
    if not tree.schema.predicts_classes or len(tree.schema.targets) > 1:
        raise ValueError("ROC, precision and confusion are for trees that predict the classes of one target")
    return tree, given_rows(tree, data, "data")


def check_class(tree: Tree, positive: Any) -> int:
    """The code of a class of a tree; ValueError if it has no such class."""
    classes = tree.schema.targets[0].classes or ()
    if positive not in classes:
        known = choices_text(positive, classes, in_quotes=True)
        raise ValueError(f"positive is {positive!r}, which is no class of the tree; it has {known}")
    return classes.index(positive)


def _cumulative_of(model: Any, data: Any, positive: Any) -> tuple[Floats, Floats]:
    """The same for the share of a class in the leaves."""
    tree, rows = tree_of_classes(as_tree(model), data)
    code = check_class(tree, positive)
    return _cumulative(proportions(tree, rows)[0][:, code], rows.target_array[0] == code, rows.row_weights)
