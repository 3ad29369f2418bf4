"""Certificates from the training rows alone: what a tree has learnt, minus what it took to say it."""

from __future__ import annotations

import math
from collections.abc import Iterator

from treewright.certifying.bounds import BOUNDS
from treewright.certifying.certificate import Certificate
from treewright.certifying.held_out import same_statistic
from treewright.certifying.losses import training_loss
from treewright.certifying.tree_code import coded_columns, is_complete, tree_bits
from treewright.encoding import Dataset
from treewright.tree import Tree
from treewright.tree.oblique import known_complete

_LIMITS = {
    "occam": "binomial",
    "compression": "binomial",
    "pac_bayes": "kl",
    "mdl": "hoeffding",
    "occam_hoeffding": "hoeffding",
    "vc": "relative deviation",
}


_INCOMPLETE = "complete=True, but the training rows miss values in columns that the tree tests"


def from_training(
    tree: Tree,
    delta: float,
    method: str,
    *,
    data: Dataset | None = None,
    complete: bool | None = None,
    known_categories: bool = False,
    points: int = 2,
) -> Certificate:
    """The bound of a method of `bounds` for a tree, with the bits by what they say.

    Where no training row missed a value that the tree tests, the code need not say where missing values go.
    Grown trees know it of their rows; otherwise `data`, the training rows, or `complete=True` tell it. By
    `known_categories` it need not name categories either: the list of them was there before the rows were.
    """
    complete = _completeness(tree, data, complete)
    lost, rows, whole, most = training_loss(tree)
    if points not in (1, 2):
        raise ValueError(f"points is {points!r}; a threshold is named by 1 row or by the 2 beside it")
    own = tree_bits(tree, complete=complete, known=known_categories)
    named = points * (tree.n_leaves - 1) if method == "compression" else 0
    paid, beside = _paid(tree, method, own, rows, named)
    value = BOUNDS[method](
        lost,
        rows,
        leaves=tree.n_leaves,
        bits=sum(own.values()),
        columns=coded_columns(tree),
        classes=math.prod(tree.schema.block_widths),
        delta=delta,
        whole=whole,
        test_bits=sum(own.get(name, 0.0) for name in beside),
        **({"points": points} if method == "compression" else {}),
    )
    has_costs = tree.schema.has_costs
    limit = _LIMITS[method]
    return Certificate(
        value=float(value) * most,
        method=method,
        delta=delta,
        error=lost / rows * most,
        rows=rows,
        assumptions=tuple(
            _assumptions(method, complete, known_categories, points, most if has_costs else None)
        ),
        breakdown=paid,
        what="cost" if has_costs else "error",
        most=most,
        limit=limit if whole or limit != "binomial" else "kl",
        named=named,
        complete=complete,
        known=known_categories,
        tree=tree,
    )


def _paid(
    tree: Tree, method: str, own: dict[str, float], rows: int, named: int
) -> tuple[dict[str, float], tuple[str, ...]]:
    """The bits that a method counts, and which of the code's are beside its own count of a tree."""
    beside: tuple[str, ...] = ("header", "sums", "categories", "missing")
    splits = tree.n_leaves - 1
    if method == "mdl":
        beside += ("thresholds",)
        symbols = coded_columns(tree) + math.prod(tree.schema.block_widths) + 1
        counted = {"symbols": 2 * tree.n_leaves * math.log2(symbols)}
    elif method in ("compression", "vc"):
        counted = {name: own[name] for name in ("shape", "columns", "leaves")}
        if method == "vc":
            counted["cuts"] = splits * math.log2(2 * rows)
        else:
            counted["rows"] = named * math.log2(rows)
    else:
        return own, ()
    return counted | {name: own[name] for name in beside if name in own}, beside


def _assumptions(method: str, complete: bool, known: bool, points: int, most: float | None) -> Iterator[str]:
    yield "the training rows are independent draws from where the tree will be used"
    yield f"the columns{', categories' if known else ''} and classes were known before the rows were"
    if complete:
        yield "no training row missed a value that the tree tests"
    if most is not None:
        yield f"the costs, {most:g} at most, were fixed before the rows were seen"
    if method == "mdl":
        yield "bits are counted as in the book, where nats would do"
    if method == "compression":
        values = "the two training values that it lies between" if points == 2 else "one training value"
        yield f"every threshold was made by a fixed rule from {values}"


def _completeness(tree: Tree, data: Dataset | None, complete: bool | None) -> bool:
    """Whether no training row missed a value, as far as anybody says."""
    if data is None:
        if tree.provenance is None:
            raise ValueError(
                "it is not known how the training rows of this tree were weighted and labelled: it was "
                "converted from another library, saved by an earlier version, or given another way of "
                "missing values. Give them as data=, or held-out rows as test="
            )
        if complete and tree.provenance.incomplete is not None and not known_complete(tree):
            raise ValueError(_INCOMPLETE)
        return known_complete(tree) if complete is None else complete
    if not isinstance(data, Dataset):
        raise TypeError(f"data must be the Dataset of the training rows, not {type(data).__name__}")
    if not same_statistic(tree, data):
        raise ValueError(
            "data are not the rows that the tree was grown from: its nodes count others. Held-out rows are "
            "given as test="
        )
    if not data.provenance.are_draws:
        raise ValueError(
            "data has rows of different weights, or answers of a model as targets; a bound from training "
            "rows takes each for one draw with its true class. Give held-out rows with test="
        )
    seen = is_complete(tree, data)
    if complete and not seen:
        raise ValueError(_INCOMPLETE)
    return seen if complete is None else complete
