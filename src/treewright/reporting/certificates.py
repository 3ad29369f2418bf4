"""What a report can promise: the certificates of all places of a slider at once, and that of the model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.certifying import Certificate, binomial_upper, certify, kl_upper
from treewright.certifying.binomial import bernstein_upper
from treewright.certifying.held_out import same_statistic
from treewright.certifying.losses import NUMBER_LOSSES, most_cost, row_losses
from treewright.encoding import Dataset
from treewright.encoding.known_rows import FitRows, KnownRows
from treewright.pruning import METHODS, PruningPath
from treewright.pruning.path import has_row_counts
from treewright.reporting.parts import Part, Rows
from treewright.reporting.subjects import Subject
from treewright.tree import Tree
from treewright.tree.evaluate import loses_0_or_1
from treewright.tree.missing import divides
from treewright.tree.wording import amount, percent, rows_in_words

Floats = NDArray[np.float64]

_TELLING = 8  # from so many trees on, equal losses of all of them are no accident


def uppers(sums: Callable[[NDArray[Any]], Floats], test: Part, places: int, delta: float) -> Floats | None:
    """For each place of a slider the bound on its true loss; with probability 1 − delta all of them hold.

    Each has δ / places, as if the test rows had chosen one of them. None where nothing can be guaranteed:
    rows that do not weigh alike, or numbers, whose losses have no limit.
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


def uppers_in_words(tree: Tree, test: Any, places: int, delta: float, known: bool) -> str:
    """What the bounds of a slider mean, or why there are none."""
    if known:
        among = "it" if places == 1 else f"each of the {places:,} trees of this path, whichever is chosen,"
        what = "costs less per row" if tree.schema.has_costs else "is wrong for less"
        return (
            f"With {_sure(delta)} confidence {among} {what} than its bound, on rows like the "
            f"{rows_in_words(test.data.n_counted).removesuffix(' rows')} test rows."
        )
    if not isinstance(test, Part):
        return "No test rows were given, so the trees of the slider have no bounds."
    if not tree.schema.predicts_classes:
        return "A number can be off by any amount in one rare row, so there is no bound to quote."
    if divides(tree, test.data):
        return "Some test rows miss values and go down both sides; bounds count whole rows."
    return "The test rows have different weights; a guarantee counts every row as one draw."


def _sure(delta: float) -> str:
    return f"{round(100 * (1 - delta), 10):g} %"


def refuse_known_rows(model: Any, subject: Subject, rows: Mapping[str, Dataset]) -> None:
    """Rows that grew, pruned or chose the tree cannot test it."""
    test, validation, path = rows.get("test"), rows.get("validation"), subject.path
    names = [name for name in ("train", "validation") if name in rows]
    for name in ("test", "validation"):
        same = [other for other in names if other != name and rows[other] is rows.get(name)]
        if same:
            raise ValueError(f"{name} and {same[0]} are the same rows; each row has one part only")
    own: FitRows | None = getattr(model, "_fit_rows", None)  # of an estimator; a tree has none
    train = rows.get("train")
    fit_rows = FitRows((KnownRows.of(train),)) if own is None and train is not None else own
    for name, data in (("validation", validation), ("test", test)):
        if data is None:
            continue
        if fit_rows is not None and fit_rows.have_grown(data):
            raise ValueError(f"{name} has rows of the fit; give rows that were never used")
        if has_row_counts(subject.grown, subject.grown.rows, data) or _is_own(subject.grown, data):
            raise ValueError(
                f"{name} has the rows that the tree was grown from: as many arrive at every node; give rows "
                "that were never used"
            )
    if test is None:
        return
    if _have_chosen(path, test) if own is None else any(each.are_in(test) for each in own.chose):
        raise ValueError(
            "test has the rows that pruned or chose the tree; give them as validation=, and others as test="
        )


def _is_own(tree: Tree, data: Dataset) -> bool:
    return tree.n_leaves > 1 and same_statistic(tree, data)


def _have_chosen(path: PruningPath | None, data: Dataset) -> bool:
    """Whether every tree of the path loses on these rows what it lost on those that chose."""
    if path is None or path.validation is None or len(path) < _TELLING:
        return False
    if not (pruned_by_rows(path) or "judged_by" in path.details):
        return False
    return np.array_equal(path.losses(data), path.validation)


def pruned_by_rows(path: PruningPath) -> bool:
    """Whether the method itself looks at validation rows, so that they chose among all prunings."""
    return METHODS.needs(path.method, "validation")


def promise(
    subject: Subject, parts: Mapping[str, Rows], train: Dataset | None, delta: float
) -> tuple[str, list[str]]:
    """The sentence for a manager, and notes on what it rests on; `train` are the training rows as given."""
    test, validation = parts.get("test"), parts.get("validation")
    if isinstance(test, Part):
        return _from_test(subject, test, delta)
    if isinstance(validation, Part):
        return _from_validation(subject, validation, delta)
    return _from_training(subject, train, delta)


def _from_test(subject: Subject, test: Part, delta: float) -> tuple[str, list[str]]:
    seen = f"On {rows_in_words(test.data.n_counted)} it had never seen it {_loses(subject.chosen, test)}"
    if test.as_draws is None:
        return f"{seen}; as these rows have different weights, there is no guarantee for others.", []
    certificate = certify(subject.chosen, test=test.as_draws.data, delta=delta, check_rows=False)
    return f"{seen}; {_below(certificate)}.", [_resting(certificate)]


def _from_validation(subject: Subject, part: Part, delta: float) -> tuple[str, list[str]]:
    """These rows may have had a say in the size of the tree: the bound pays for that."""
    path = subject.path
    rows = rows_in_words(part.data.n_counted)
    seen = f"On {rows} that may have chosen its size it {_loses(subject.chosen, part)}"
    if part.as_draws is None:
        return f"{seen}; no others were given to test it.", []
    options: dict[str, Any] = {"method": "reduced_error"}
    if path is not None and "judged_by" in path.details and not pruned_by_rows(path):
        options = {"choices": len(path)}
    certificate = certify(subject.chosen, test=part.as_draws.data, delta=delta, check_rows=False, **options)
    return f"{seen}; that choice allowed for, {_below(certificate)}.", [_resting(certificate)]


def _from_training(subject: Subject, train: Dataset | None, delta: float) -> tuple[str, list[str]]:
    """Without other rows little is known, and the sentence says so."""
    tree = subject.model
    loss = float(tree.mean(np.maximum(tree.loss[tree.is_leaf].sum(), 0.0)))
    seen = f"On the {rows_in_words(int(tree.rows[0]))} that it was learnt from it {_lost(tree, loss)}"
    unknown = f"{seen}; no other rows were given, so how it does on new ones is not known."
    if not tree.schema.predicts_classes:
        return unknown, []
    data = train if train is not None and train.n_counted == int(tree.rows[0]) else None
    try:
        certificate = certify(tree, data=data, delta=delta)
    except ValueError:  # rows of different weights
        return unknown, []
    if certificate.value >= certificate.most / 2:  # true, but nobody would call it a promise
        return unknown, []
    return f"{seen}; no other rows were given, but {_below(certificate)}.", [_resting(certificate)]


def _loses(tree: Tree, part: Part) -> str:
    """What a tree loses on rows by what it answers to them, in words."""
    if part.as_draws is not None and divides(tree, part.data):
        return _lost(tree, float(row_losses(tree, part.as_draws.data).loss.mean()))
    loss = tree.loss_of(part.data)[tree.is_leaf].sum()
    return _lost(tree, float(tree.mean(np.maximum(loss, 0.0), part.data)))


def _lost(tree: Tree, loss: float) -> str:
    if not tree.schema.predicts_classes:
        if tree.criterion == "squared_error":
            return f"was typically off by {amount(math.sqrt(loss))} (root mean squared error)"
        return f"had a mean {NUMBER_LOSSES[tree.criterion]} of {amount(loss)}"
    return f"cost {amount(loss)} per row" if tree.schema.has_costs else f"was wrong for {percent(loss)}"


def _below(certificate: Certificate) -> str:
    """The bound in words that need no statistics."""
    sure = f"with {_sure(certificate.delta)} confidence"
    if certificate.what in ("error", "cost") and certificate.value >= certificate.most:
        return "that is too few to promise anything for new ones"
    if certificate.what == "error":
        return f"{sure} it is wrong for less than {certificate.shown} of such rows"
    if certificate.what == "cost":
        return f"{sure} it costs less than {amount(certificate.value, up=True)} per such row"
    if math.isinf(certificate.value):
        return "a single row says nothing of others"
    likely = f"its mean {certificate.what} is likely below {amount(certificate.value, up=True)}"
    if (
        certificate.what == NUMBER_LOSSES["squared_error"]
    ):  # by its root, which has the unit of what is predicted
        likely = f"it is likely off by less than {amount(math.sqrt(certificate.value), up=True)}"
    return f"on such rows {likely} (an estimate, no guarantee)"


def _resting(certificate: Certificate) -> str:
    assumptions = "; ".join(certificate.assumptions)
    return f"The figure rests on this: {assumptions}.".replace(" (loss_bound=)", "")  # a page has no options
