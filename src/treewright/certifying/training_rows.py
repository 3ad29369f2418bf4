"""Certificates from the training rows alone: what a tree has learnt, less what its description costs.

The training rows are summed up by the tree's own statistic. A method is a formula of `Evidence`, which
pruners call, too, for arrays of many trees at once. The result is at most 1, grows with errors, leaves and
bits, and holds with probability 1 - delta over the draw of the rows.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np

from treewright.certifying.binomial import Floats, binomial_upper, kl_upper
from treewright.certifying.certificate import Certificate
from treewright.certifying.held_out import same_statistic
from treewright.certifying.losses import training_loss
from treewright.certifying.method import LN2, Method
from treewright.certifying.tree_code import coded_columns, is_complete, rewrites, tree_bits
from treewright.encoding import Dataset
from treewright.tree import Tree
from treewright.tree.oblique import known_complete

OTHER_PARTS = ("header", "sums", "categories", "missing")  # of the code, which no count of leaves pays for


class Evidence(NamedTuple):
    """The arguments of a bound: numbers, or arrays for many trees at once."""

    errors: Any  # the losses of the training rows, each within [0, 1], added up
    rows: Any
    leaves: Any = None  # of the tree; it has leaves - 1 splits and 2 leaves - 1 nodes
    bits: Any = None  # the length of the tree in a code that was fixed beforehand
    columns: Any = None  # of the table: the choices of a split
    classes: int = 2  # the choices of a leaf (the product over several targets)
    delta: float = 0.05
    whole: bool = True  # whether each row loses 0 or 1
    test_bits: Any = 0.0  # what `leaves`, `columns` and `classes` leave out: subsets, missing values …
    points: int = 2  # compression: the rows that name a threshold
    nats: bool = False  # mdl: whether the length is counted in nats

    @property
    def error(self) -> Any:
        """The mean loss."""
        return np.asarray(self.errors) / self.rows

    @property
    def code_nats(self) -> Any:
        """The price of the code word and of δ: bits · ln 2 + ln(1/δ)."""
        return np.asarray(self.bits) * LN2 - np.log(self.delta)

    @property
    def structure_bits(self) -> Any:
        """Shape, columns and classes of a tree: its code without thresholds and subsets."""
        return untested_bits(self.leaves, self.columns, self.classes) + self.test_bits


class TrainingMethod(Method):
    """A bound from training rows; a subclass gives the formula, and what the text of the certificate says."""

    takes = "data"
    options = frozenset({"complete", "known_categories", "points"})
    limit: ClassVar[str]  # the inequality, where rows lose 0 or 1
    needs_bits: ClassVar[bool] = False  # whether it pays for the code word of the tree, not by its own count
    counted_parts: ClassVar[tuple[str, ...]] = ("shape", "columns", "leaves")
    other_parts: ClassVar[tuple[str, ...]] = OTHER_PARTS

    def __call__(self, errors: Any, rows: Any, **others: Any) -> Floats:
        """The bound, by arguments."""
        return self.bound(Evidence(errors, rows, **others))

    @abstractmethod
    def bound(self, evidence: Evidence) -> Floats:
        """The formula."""

    def naming_rows(self, tree: Tree, points: int) -> int:
        """How many training rows name thresholds and do not count as evidence."""
        return 0

    def own_bits(self, tree: Tree, rows: int, naming_rows: int) -> dict[str, float]:
        """The bits that the method counts by itself."""
        return {}

    def breakdown(self, tree: Tree, code: dict[str, float], rows: int, naming_rows: int) -> dict[str, float]:
        """The bits that are paid, by their meaning; `code` are those of the tree's code."""
        if self.needs_bits:
            return code
        counted = {name: code[name] for name in self.counted_parts} | self.own_bits(tree, rows, naming_rows)
        return counted | {name: code[name] for name in self.other_parts if name in code}

    def assumption(self, points: int) -> str:
        """What the method assumes beyond the others; empty if nothing."""
        return ""

    def certify(
        self,
        tree: Tree,
        delta: float,
        *,
        data: Dataset | None = None,
        complete: bool | None = None,
        known_categories: bool = False,
        points: int = 2,
    ) -> Certificate:
        """The certificate of a tree; see `treewright.certify`."""
        complete = _completeness(tree, data, complete)
        loss, rows, whole, most = training_loss(tree)
        if points not in (1, 2):
            raise ValueError(f"points is {points!r}; a threshold is named by 1 row or by the 2 beside it")
        code = tree_bits(tree, complete=complete, known=known_categories)
        naming_rows = self.naming_rows(tree, points)
        value = self(
            loss,
            rows,
            leaves=tree.n_leaves,
            bits=sum(code.values()),
            **choices_of(tree),
            delta=delta,
            whole=whole,
            test_bits=sum(code.get(name, 0.0) for name in self.other_parts),
            points=points,
        )
        cost = most if tree.schema.has_costs else None
        return Certificate(
            value=float(value) * most,
            method=self.name,
            delta=delta,
            error=loss / rows * most,
            rows=rows,
            assumptions=tuple(self._assumptions(complete, known_categories, points, cost)),
            breakdown=self.breakdown(tree, code, rows, naming_rows),
            what="error" if cost is None else "cost",
            most=most,
            limit=self.limit if whole or self.limit != "binomial" else "kl",
            naming_rows=naming_rows,
            complete=complete,
            known_categories=known_categories,
            tree=tree,
        )

    def _assumptions(self, complete: bool, known: bool, points: int, cost: float | None) -> Iterator[str]:
        yield "the training rows are independent draws from where the tree will be used"
        yield f"the columns{', categories' if known else ''} and classes were known before the rows were"
        if complete:
            yield "no training row missed a value that the tree tests"
        if cost is not None:
            yield f"the costs, {cost:g} at most, were fixed before the rows were seen"
        if own := self.assumption(points):
            yield own

    def rows_text(self, certificate: Certificate) -> str:
        """They are the training rows."""
        return "of the training table"

    def confirms(self, certificate: Certificate) -> bool:
        """Compares errors and bits; a code word that is paid for is written, read again and measured."""
        tree = certificate.tree
        if tree is None:
            return True
        loss, rows, _, most = training_loss(tree)
        same = math.isclose(loss / rows * most, certificate.error, abs_tol=1e-12)
        if rows != certificate.rows or not same:
            return False
        options = {"complete": certificate.complete, "known": certificate.known_categories}
        if self.needs_bits:
            return rewrites(tree, certificate.bits, **options)
        again = self.breakdown(tree, tree_bits(tree, **options), rows, certificate.naming_rows)
        return all(math.isclose(bits, again[name]) for name, bits in certificate.breakdown.items())


def choices_of(tree: Tree) -> dict[str, int]:
    """The choices of each split and each leaf: the arguments `columns` and `classes` of a bound."""
    return {"columns": coded_columns(tree), "classes": math.prod(tree.schema.block_widths)}


def untested_bits(leaves: Any, columns: int, classes: int) -> Any:
    """Shape, columns and classes of a tree: its code without thresholds and subsets.

    >>> round(float(untested_bits(17, columns=57, classes=2)), 2)
    143.33
    """
    return 2 * leaves - 1 + (leaves - 1) * np.log2(columns) + leaves * np.log2(classes)


def exact_upper(errors: Any, rows: Any, nats: Any, whole: bool) -> Floats:
    """The binomial limit; where losses are not 0 or 1, Chernoff's."""
    if whole:
        return binomial_upper(errors, rows, nats)
    return kl_upper(np.asarray(errors) / rows, nats / rows)


_INCOMPLETE = "complete=True, but the training rows miss values in columns that the tree tests"


def _completeness(tree: Tree, data: Dataset | None, complete: bool | None) -> bool:
    """Whether no training row missed a value, as far as it is known: then the code need not say where missing
    values go. Grown trees know it of their rows; otherwise `data` or `complete` tell it.
    """
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
    is_known = is_complete(tree, data)
    if complete and not is_known:
        raise ValueError(_INCOMPLETE)
    return is_known if complete is None else complete
