"""The headline: target and size, the error with its certificate, other metrics, and notes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treewright._text import amount, percent, row_count
from treewright.certifying import Certificate, certify
from treewright.certifying.losses import row_losses
from treewright.encoding import Dataset
from treewright.metrics import class_word
from treewright.reporting.context import Context
from treewright.reporting.known_rows import pruned_by_rows
from treewright.reporting.nodes import class_words
from treewright.reporting.rounding import confidence
from treewright.reporting.samples import ROWS_IN_WORDS, Sample
from treewright.reporting.subject import Subject
from treewright.tree import Tree
from treewright.tree.missing import divides
from treewright.tree.number_losses import NUMBER_LOSSES
from treewright.tree.oblique import asked_columns

_FRACTIONS = (
    "Rows with missing values are split over several leaves: counts of nodes and of the slider add up their "
    "fractions, while the error in the headline is that of their predictions, the mixture of these leaves."
)


def values(context: Context) -> dict[str, Any]:
    """The texts of the headline and its metrics."""
    manager, notes = _guarantee(context)
    if any(divides(context.tree, sample.data) for sample in context.full_samples.values()):
        notes = [*notes, _FRACTIONS]
    return {
        "text": _summary(context.subject),
        "manager": manager,
        "metrics": _metric_facts(context),
        "notes": [*context.subject.notes, *_train_notes(context), *notes, *context.slider[1]],
    }


def _summary(subject: Subject) -> str:
    """What the tree predicts, how many rows it was grown from, how large it is."""
    tree, target = subject.model_tree, subject.tree.schema.targets[0]
    words = class_words(tree)
    named = f" ({', '.join(words[:-1])} or {words[-1]})" if 1 < len(words) <= 4 else ""
    if len(words) > 4:
        named = f" ({len(words):,} classes)"
    if target.classes is None:
        named = " (a number)"
    n_columns = len(tree.schema.columns)
    columns = "its one column" if n_columns == 1 else f"{len(asked_columns(tree)):,} of {n_columns:,} columns"
    size = f"the tree has {tree.n_leaves:,} leaves and tests {columns}"
    if tree.n_leaves == 1:
        size = "the tree is a single leaf without tests"
    return f"Predicts {target.name}{named}. Grown from {row_count(int(tree.rows[0]))}; {size}."


def _metric_facts(context: Context) -> dict[str, Any] | None:
    """The metrics as the page shows them; None where no rows were given."""
    if context.metrics is None:
        return None
    name, metrics = context.metrics
    comparison = metrics.comparison(ROWS_IN_WORDS[name].removesuffix(" rows"))
    return {
        "sample": name,
        "comparison": f"{comparison[0].upper()}{comparison[1:]}.",
        "always": f"always answering {metrics.quoted_constant}",
        "always_error": metrics.in_words(metrics.constant_error),
        "positive": None if metrics.positive is None else class_word(metrics.positive.name),
        "figures": [[figure, value] for figure, value in metrics.figures],
    }


def _train_notes(context: Context) -> list[str]:
    """A note where the training rows given are not those that the tree was grown from."""
    train, own = context.samples["train"], context.tree.rows
    if np.array_equal(train.rows, own):
        if np.isclose(train.weight, float(context.tree.weight[0]), rtol=1e-9):
            return []
        return ["The tree was grown with other weights than the training rows given here have."]
    grown, given = row_count(int(own[0])), row_count(int(train.rows[0]))
    return [
        f"The tree was grown from {grown}, but {given} were given as training rows: counts of training rows "
        "on this page are of the latter."
    ]


def _guarantee(context: Context) -> tuple[str, list[str]]:
    """The summary sentence with its bound, and notes on its assumptions."""
    test, validation = context.sample("test"), context.sample("validation")
    if test is not None:
        return _from_test(context.subject, test, context.delta)
    if validation is not None:
        return _from_validation(context.subject, validation, context.delta)
    return _from_training(context.subject, context.rows.get("train"), context.delta)


def _from_test(subject: Subject, test: Sample, delta: float) -> tuple[str, list[str]]:
    sentence = (
        f"On {row_count(test.data.n_counted)} it had never seen it {_loss_text(subject.model_tree, test)}"
    )
    if test.as_draws is None:
        return f"{sentence}; as the rows have unequal weights, there is no guarantee for others.", []
    certificate = certify(subject.model_tree, test=test.as_draws.data, delta=delta, check_rows=False)
    return f"{sentence}; {_below(certificate)}.", [_assumptions(certificate)]


def _from_validation(subject: Subject, sample: Sample, delta: float) -> tuple[str, list[str]]:
    """These rows may have selected the size of the tree: the bound allows for that."""
    path = subject.path
    rows = row_count(sample.data.n_counted)
    sentence = f"On {rows} that may have selected its size it {_loss_text(subject.model_tree, sample)}"
    if sample.as_draws is None:
        return f"{sentence}; no test rows were given.", []
    options: dict[str, Any] = {"method": "reduced_error"}
    if path is not None and "judged_by" in path.details and not pruned_by_rows(path):
        options = {"choices": len(path)}
    certificate = certify(
        subject.model_tree, test=sample.as_draws.data, delta=delta, check_rows=False, **options
    )
    return f"{sentence}; allowing for that selection, {_below(certificate)}.", [_assumptions(certificate)]


def _from_training(subject: Subject, train: Dataset | None, delta: float) -> tuple[str, list[str]]:
    """Without other rows little is known, and the sentence says so."""
    tree = subject.model
    loss = float(tree.mean(np.maximum(tree.loss[tree.is_leaf].sum(), 0.0)))
    sentence = f"On the {row_count(int(tree.rows[0]))} that it was grown from it {_loss_sentence(tree, loss)}"
    unknown = f"{sentence}; no other rows were given, so its error on new rows is unknown."
    if not tree.schema.predicts_classes:
        return unknown, []
    data = train if train is not None and train.n_counted == int(tree.rows[0]) else None
    try:
        certificate = certify(tree, data=data, delta=delta)
    except ValueError:  # rows of different weights
        return unknown, []
    if certificate.value >= certificate.most / 2:  # true, but useless
        return unknown, []
    return f"{sentence}; no other rows were given, but {_below(certificate)}.", [_assumptions(certificate)]


def _loss_text(tree: Tree, sample: Sample) -> str:
    """The loss of a tree on a sample, in words."""
    if sample.as_draws is not None and divides(tree, sample.data):
        return _loss_sentence(tree, float(row_losses(tree, sample.as_draws.data).loss.mean()))
    loss = tree.loss_of(sample.data)[tree.is_leaf].sum()
    return _loss_sentence(tree, float(tree.mean(np.maximum(loss, 0.0), sample.data)))


def _loss_sentence(tree: Tree, loss: float) -> str:
    if not tree.schema.predicts_classes:
        if tree.criterion == "squared_error":
            return f"was typically off by {amount(math.sqrt(loss))} (root mean squared error)"
        return f"had a mean {NUMBER_LOSSES[tree.criterion].words} of {amount(loss)}"
    return f"cost {amount(loss)} per row" if tree.schema.has_costs else f"was wrong for {percent(loss)}"


def _below(certificate: Certificate) -> str:
    """The bound in plain words."""
    confident = f"with {confidence(certificate.delta)} confidence"
    if certificate.what in ("error", "cost") and certificate.is_vacuous:
        return "these are too few rows for a guarantee"
    if certificate.what == "error":
        return f"{confident} it is wrong for less than {certificate.bound_text} of such rows"
    if certificate.what == "cost":
        return f"{confident} it costs less than {amount(certificate.value, up=True)} per such row"
    if math.isinf(certificate.value):
        return "a single row says nothing about others"
    likely = f"its mean {certificate.what} is likely below {amount(certificate.value, up=True)}"
    if certificate.what == NUMBER_LOSSES["squared_error"].words:  # its root has the unit of the target
        likely = f"it is likely off by less than {amount(math.sqrt(certificate.value), up=True)}"
    return f"on such rows {likely} (an estimate, not a guarantee)"


def _assumptions(certificate: Certificate) -> str:
    assumptions = "; ".join(certificate.assumptions)
    return f"The bound assumes: {assumptions}.".replace(" (loss_bound=)", "")  # a page has no options
