"""The pruning paths of the slider: sizes, losses and simultaneous bounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright._text import row_count
from treewright.certifying import binomial_upper, kl_upper
from treewright.certifying.binomial import bernstein_upper
from treewright.certifying.losses import most_cost
from treewright.reporting.context import Context
from treewright.reporting.rounding import bounds_from_above, confidence, shorts
from treewright.reporting.samples import Sample
from treewright.reporting.slider import SliderPath
from treewright.tree.evaluate import loses_0_or_1
from treewright.tree.missing import divides

Floats = NDArray[np.float64]


def values(context: Context) -> list[dict[str, Any]]:
    """The paths, that of the model first."""
    return [_facts(path, context) for path in context.slider[0]]


def _facts(path: SliderPath, context: Context) -> dict[str, Any]:
    """A path with the losses of its trees on each sample, and their bounds."""
    facts: dict[str, Any] = {
        "method": path.method,
        "title": path.title,
        "leaves": path.sums(np.ones(path.full_tree.n_nodes)).astype(int).tolist(),
    }
    if path.leaf_from is not None:
        facts["leaf_from"] = path.leaf_from.tolist()
    else:
        facts["cuts"] = [cuts.tolist() for cuts in path.cuts]
    test = context.sample("test")
    bounds = None if test is None else _upper_bounds(path, test, context.delta)
    uppers = [None] * path.places if bounds is None else bounds_from_above(bounds)
    return facts | {
        "alpha": None if path.alpha is None else shorts(path.alpha),
        "loss": {
            name: shorts(np.maximum(path.sums(sample.loss), 0.0) / sample.weight)
            for name, sample in context.samples.items()
        },
        "certificate": [None if upper is None else {"upper": upper} for upper in uppers],
        "certificate_words": _bounds_text(path, test, context.delta, bounds is not None),
        "chosen": path.chosen,
        "chosen_by": path.chosen_by,
    }


def _upper_bounds(path: SliderPath, test: Sample, delta: float) -> Floats | None:
    """For each position of a slider a bound on the true loss; with probability 1 − delta all of them hold.

    Union bound: each has δ / places. None where nothing can be guaranteed: rows of unequal weights, or a
    regression target, whose losses are unbounded.
    """
    draws, tree = test.as_draws, test.tree
    if draws is None or not tree.schema.predicts_classes or divides(tree, draws.data):
        return None
    rows, nats = draws.data.n_rows, math.log(path.places) - math.log(delta)
    loss = path.sums(draws.loss)
    if loses_0_or_1(tree):
        return binomial_upper(np.rint(loss), rows, nats)
    most = most_cost(tree.schema)
    mean, half = loss / rows / most, nats + math.log(2)
    by_kl = kl_upper(np.clip(mean, 0.0, 1.0), half / rows)
    if rows == 1:
        return by_kl * most
    square = path.sums(draws.squared_loss) / rows / most**2
    variance = np.maximum(square - mean**2, 0.0) * rows / (rows - 1)
    return np.minimum(by_kl, bernstein_upper(mean, variance, rows, half)) * most


def _bounds_text(path: SliderPath, test: Sample | None, delta: float, known: bool) -> str:
    """The meaning of the bounds of a slider, or why there are none."""
    schema = path.full_tree.schema
    if test is None:
        return "There are no bounds for the trees of the slider, because no test rows were given."
    if known:
        which = "it"
        if path.places > 1:
            which = f"every one of the {path.places:,} trees of this path, whichever is selected,"
        what = "costs less per row" if schema.has_costs else "is wrong for a smaller share of rows"
        return (
            f"With {confidence(delta)} confidence {which} {what} than its bound, on rows like the "
            f"{row_count(test.data.n_counted).removesuffix(' rows')} test rows."
        )
    if not schema.predicts_classes:
        return "There is no bound: the error of a predicted number in a single rare row is unlimited."
    if divides(path.full_tree, test.data):
        return "There is no bound: some test rows have missing values and are split over several leaves."
    return "There is no bound: the test rows have unequal weights, so they are not an i.i.d. sample."
