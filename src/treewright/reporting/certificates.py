"""The guarantees of a report: one for the model, and simultaneous bounds for all trees of a slider."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright._text import amount, percent, row_count
from treewright.certifying import Certificate, binomial_upper, certify, kl_upper
from treewright.certifying.binomial import bernstein_upper
from treewright.certifying.losses import NUMBER_LOSSES, most_cost, row_losses
from treewright.encoding import Dataset
from treewright.encoding.row_hashes import FitRows, KnownRows
from treewright.explaining.row import is_training_data
from treewright.pruning import METHODS, PruningPath
from treewright.pruning.path import has_row_counts
from treewright.reporting.samples import AnySample, Sample
from treewright.reporting.subject import Subject
from treewright.tree import Tree
from treewright.tree.evaluate import loses_0_or_1
from treewright.tree.missing import divides

Floats = NDArray[np.float64]

_ENOUGH_TREES = 8  # if so many trees have equal losses on two samples, the samples are the same


def upper_bounds(
    sums: Callable[[NDArray[Any]], Floats], test: Sample, places: int, delta: float
) -> Floats | None:
    """For each position of a slider a bound on the true loss; with probability 1 − delta all of them hold.

    Union bound: each has δ / places. None where nothing can be guaranteed: rows of unequal weights, or a
    regression target, whose losses are unbounded.
    """
    draws, tree = test.as_draws, test.tree
    if draws is None or not tree.schema.predicts_classes or divides(tree, draws.data):
        return None
    rows, nats = draws.data.n_rows, math.log(places) - math.log(delta)
    loss = sums(draws.loss)
    if loses_0_or_1(tree):
        return binomial_upper(np.rint(loss), rows, nats)
    most = most_cost(tree.schema)
    mean, half = loss / rows / most, nats + math.log(2)
    by_kl = kl_upper(np.clip(mean, 0.0, 1.0), half / rows)
    if rows == 1:
        return by_kl * most
    square = sums(draws.squared_loss) / rows / most**2
    variance = np.maximum(square - mean**2, 0.0) * rows / (rows - 1)
    return np.minimum(by_kl, bernstein_upper(mean, variance, rows, half)) * most


def bounds_text(tree: Tree, test: Any, places: int, delta: float, known: bool) -> str:
    """The meaning of the bounds of a slider, or why there are none."""
    if known:
        which = (
            "it" if places == 1 else f"every one of the {places:,} trees of this path, whichever is selected,"
        )
        what = "costs less per row" if tree.schema.has_costs else "is wrong for a smaller share of rows"
        return (
            f"With {_confidence(delta)} confidence {which} {what} than its bound, on rows like the "
            f"{row_count(test.data.n_counted).removesuffix(' rows')} test rows."
        )
    if not isinstance(test, Sample):
        return "There are no bounds for the trees of the slider, because no test rows were given."
    if not tree.schema.predicts_classes:
        return "There is no bound: the error of a predicted number in a single rare row is unlimited."
    if divides(tree, test.data):
        return "There is no bound: some test rows have missing values and are split over several leaves."
    return "There is no bound: the test rows have unequal weights, so they are not an i.i.d. sample."


def _confidence(delta: float) -> str:
    return f"{round(100 * (1 - delta), 10):g} %"


def refuse_known_rows(model: Any, subject: Subject, rows: Mapping[str, Dataset]) -> None:
    """Refuse test rows that were used for growing, pruning or selecting the tree."""
    test, validation, path = rows.get("test"), rows.get("validation"), subject.path
    names = [name for name in ("train", "validation") if name in rows]
    for name in ("test", "validation"):
        same = [other for other in names if other != name and rows[other] is rows.get(name)]
        if same:
            raise ValueError(f"{name} and {same[0]} are the same rows; the samples must be disjoint")
    own: FitRows | None = getattr(model, "_fit_rows", None)  # of an estimator; a tree has none
    train = rows.get("train")
    fit_rows = FitRows((KnownRows.of(train),)) if own is None and train is not None else own
    for name, data in (("validation", validation), ("test", test)):
        if data is None:
            continue
        if fit_rows is not None and fit_rows.have_grown(data):
            raise ValueError(f"{name} has rows that the model was fitted on; give rows that were never used")
        if has_row_counts(subject.grown, subject.grown.rows, data) or is_training_data(subject.grown, data):
            raise ValueError(
                f"{name} has the rows that the tree was grown from: all counts are the same; give rows "
                "that were never used"
            )
    if test is None:
        return
    if _selected_by(path, test) if own is None else any(each.are_in(test) for each in own.chose):
        raise ValueError(
            "test has the rows that pruned or selected the tree; give them as validation= and others as test="
        )


def _selected_by(path: PruningPath | None, data: Dataset) -> bool:
    """Whether every tree of the path has the same loss on these rows as on those that selected one."""
    if path is None or path.validation is None or len(path) < _ENOUGH_TREES:
        return False
    if not (pruned_by_rows(path) or "judged_by" in path.details):
        return False
    return np.array_equal(path.losses(data), path.validation)


def pruned_by_rows(path: PruningPath) -> bool:
    """Whether the pruning method itself uses validation rows, so that they selected among all prunings."""
    return METHODS.needs(path.method, "validation")


def headline_guarantee(
    subject: Subject, samples: Mapping[str, AnySample], train: Dataset | None, delta: float
) -> tuple[str, list[str]]:
    """The summary sentence with its guarantee, and notes on its assumptions; `train` is the data as given."""
    test, validation = samples.get("test"), samples.get("validation")
    if isinstance(test, Sample):
        return _from_test(subject, test, delta)
    if isinstance(validation, Sample):
        return _from_validation(subject, validation, delta)
    return _from_training(subject, train, delta)


def _from_test(subject: Subject, test: Sample, delta: float) -> tuple[str, list[str]]:
    seen = f"On {row_count(test.data.n_counted)} it had never seen it {_loss_text(subject.chosen, test)}"
    if test.as_draws is None:
        return f"{seen}; as the rows have unequal weights, there is no guarantee for others.", []
    certificate = certify(subject.chosen, test=test.as_draws.data, delta=delta, check_rows=False)
    return f"{seen}; {_below(certificate)}.", [_assumptions(certificate)]


def _from_validation(subject: Subject, sample: Sample, delta: float) -> tuple[str, list[str]]:
    """These rows may have selected the size of the tree: the bound allows for that."""
    path = subject.path
    rows = row_count(sample.data.n_counted)
    seen = f"On {rows} that may have selected its size it {_loss_text(subject.chosen, sample)}"
    if sample.as_draws is None:
        return f"{seen}; no test rows were given.", []
    options: dict[str, Any] = {"method": "reduced_error"}
    if path is not None and "judged_by" in path.details and not pruned_by_rows(path):
        options = {"choices": len(path)}
    certificate = certify(subject.chosen, test=sample.as_draws.data, delta=delta, check_rows=False, **options)
    return f"{seen}; allowing for that selection, {_below(certificate)}.", [_assumptions(certificate)]


def _from_training(subject: Subject, train: Dataset | None, delta: float) -> tuple[str, list[str]]:
    """Without other rows little is known, and the sentence says so."""
    tree = subject.model
    loss = float(tree.mean(np.maximum(tree.loss[tree.is_leaf].sum(), 0.0)))
    seen = f"On the {row_count(int(tree.rows[0]))} that it was grown from it {_lost(tree, loss)}"
    unknown = f"{seen}; no other rows were given, so its error on new rows is unknown."
    if not tree.schema.predicts_classes:
        return unknown, []
    data = train if train is not None and train.n_counted == int(tree.rows[0]) else None
    try:
        certificate = certify(tree, data=data, delta=delta)
    except ValueError:  # rows of different weights
        return unknown, []
    if certificate.value >= certificate.most / 2:  # true, but useless
        return unknown, []
    return f"{seen}; no other rows were given, but {_below(certificate)}.", [_assumptions(certificate)]


def _loss_text(tree: Tree, sample: Sample) -> str:
    """The loss of a tree on a sample, in words."""
    if sample.as_draws is not None and divides(tree, sample.data):
        return _lost(tree, float(row_losses(tree, sample.as_draws.data).loss.mean()))
    loss = tree.loss_of(sample.data)[tree.is_leaf].sum()
    return _lost(tree, float(tree.mean(np.maximum(loss, 0.0), sample.data)))


def _lost(tree: Tree, loss: float) -> str:
    if not tree.schema.predicts_classes:
        if tree.criterion == "squared_error":
            return f"was typically off by {amount(math.sqrt(loss))} (root mean squared error)"
        return f"had a mean {NUMBER_LOSSES[tree.criterion]} of {amount(loss)}"
    return f"cost {amount(loss)} per row" if tree.schema.has_costs else f"was wrong for {percent(loss)}"


def _below(certificate: Certificate) -> str:
    """The bound in plain words."""
    confident = f"with {_confidence(certificate.delta)} confidence"
    if certificate.what in ("error", "cost") and certificate.value >= certificate.most:
        return "these are too few rows for a guarantee"
    if certificate.what == "error":
        return f"{confident} it is wrong for less than {certificate.bound_text} of such rows"
    if certificate.what == "cost":
        return f"{confident} it costs less than {amount(certificate.value, up=True)} per such row"
    if math.isinf(certificate.value):
        return "a single row says nothing about others"
    likely = f"its mean {certificate.what} is likely below {amount(certificate.value, up=True)}"
    if certificate.what == NUMBER_LOSSES["squared_error"]:  # its root has the unit of the target
        likely = f"it is likely off by less than {amount(math.sqrt(certificate.value), up=True)}"
    return f"on such rows {likely} (an estimate, not a guarantee)"


def _assumptions(certificate: Certificate) -> str:
    assumptions = "; ".join(certificate.assumptions)
    return f"The bound assumes: {assumptions}.".replace(" (loss_bound=)", "")  # a page has no options
