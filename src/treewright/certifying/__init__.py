"""Certifying: how far a tree can be wrong, with a number to quote. One file per method of `certify`.

A method is a file with a `METHOD`: an object of a subclass of `HeldOut`, for rows that were never used
(``test=``), or of `TrainingMethod`. This folder is the list of them:

    held_out       exact; `choices=K` where the rows chose one of K trees
    reduced_error  where the rows chose any pruning of a grown tree

From the training rows alone, which the tree's own statistic sums up:

    occam  pac_bayes  mdl  compression  vc  occam_hoeffding  …

For majority votes, by rows that each tree was not grown from: `certify_votes`.

For pruners, each bound from training rows is a function of arrays, ``BOUNDS[method]``, all called alike:

    bound(errors, rows, *, leaves, bits, columns, classes=2, delta=0.05, whole=True, test_bits=0.0) -> array

With ``leaf, split = node_bits(tree, complete=...)``, a pruning takes header_bits(tree) + Σ leaf over its
leaves + Σ split over its splits. `errors` are lost rows: the losses of its leaves added up, divided by the
largest loss of a row. mdl, compression and vc take `leaves` instead of `bits`; add thresholds and subsets by
`test_bits` if the number is to be a guarantee and not only the book's formula. All of them grow with errors,
leaves and bits.
"""

from __future__ import annotations

from typing import Any

from treewright._suggestions import choices_text
from treewright.certifying.binomial import (
    binomial_lower,
    binomial_upper,
    check_delta,
    hoeffding_upper,
    kl,
    kl_upper,
)
from treewright.certifying.certificate import Certificate, Certificates
from treewright.certifying.held_out import (
    certify_errors,
    certify_losses,
    refuse_same_counts,
)
from treewright.certifying.kearns_mansour import excess, penalty
from treewright.certifying.leaf_intervals import LeafIntervals, leaf_intervals
from treewright.certifying.method import METHODS, held_out_methods, method_of
from treewright.certifying.training_rows import TrainingMethod
from treewright.certifying.tree_code import (
    HEADER_BITS,
    coded_columns,
    header_bits,
    is_complete,
    node_bits,
    tree_bits,
)
from treewright.certifying.votes import VOTE_METHODS, VoteCertificate, VoteCounts, certify_votes, vote_counts
from treewright.certifying.weak_learning import log_splits_needed, measured_edges, splits_needed
from treewright.encoding.row_hashes import FitRows
from treewright.encoding.rows import one_argument
from treewright.tree.evaluate import given_rows
from treewright.tree.shortcuts import as_tree

__all__ = [
    "BOUNDS",
    "HEADER_BITS",
    "METHODS",
    "VOTE_METHODS",
    "Certificate",
    "Certificates",
    "LeafIntervals",
    "VoteCertificate",
    "VoteCounts",
    "binomial_lower",
    "binomial_upper",
    "certify",
    "certify_errors",
    "certify_losses",
    "certify_votes",
    "coded_columns",
    "excess",
    "header_bits",
    "held_out_methods",
    "hoeffding_upper",
    "is_complete",
    "kl",
    "kl_upper",
    "leaf_intervals",
    "log_splits_needed",
    "measured_edges",
    "method_of",
    "node_bits",
    "penalty",
    "splits_needed",
    "tree_bits",
    "vote_counts",
]

BOUNDS: dict[str, TrainingMethod] = {
    name: method for name in METHODS.names if isinstance(method := method_of(name), TrainingMethod)
}


def certify(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    method: str | None = None,
    test: Any = None,
    data: Any = None,
    delta: float = 0.05,
    **options: Any,
) -> Certificate:
    """A bound on the true error of a tree, which holds with probability 1 - delta.

    Rows that were never used give the smallest bounds. A bound from the training rows pays for the size of
    the tree, but needs no other rows.

    Parameters
    ----------
    model : Tree or fitted estimator
        Grown, pruned or written by hand.
    X : table, tuple (table, target) or Dataset, optional
        Rows that were never used; a Dataset is encoded with ``schema=tree.schema``. Rows of a class that the
        tree does not know (a Dataset has them by ``judging=True``) count as mistakes of the highest cost. A
        text is the `method`.
    y : str or array, optional
        Of a table: its target column, or its targets.
    method : str, optional
        One of ``METHODS.names``; "held_out" by default where there are rows that were never used, else
        "occam".
    test : tuple (table, target) or Dataset, optional
        The same rows as one argument, by name.
    data : Dataset or tuple (table, target), optional
        The training rows, for the methods that need no others. A grown tree stores what is needed of them,
        and the bound is the same with and without; a tree converted from another library does not.
    delta : float
        The probability that the bound fails.
    choices : int
        For held_out: the number of trees of which the test rows have chosen this one; 1 by default.
    costs : Costs, array of shape (classes, classes) or dict of dicts
        For test rows: the cost of predicting j for a row of class i; the tree's own costs by default.
    loss, loss_bound : str, float
        For test rows of numbers: "squared_error", "absolute_error", "poisson" … (by default the
        criterion's), and the most that a row can lose. Without that bound there is an estimate only.
    check_rows : bool
        Whether test rows with the counts of the training rows at every node are refused, and where the model
        is an estimator the rows of its fit, in any order or some of them; True by default.
    complete : bool
        For training rows: whether no value was missing in a column that the tree tests, where the tree does
        not know.
    known_categories : bool
        For training rows: the list of the categories of each column was fixed before the rows were seen (the
        answers of a questionnaire, say), and there are no others. Then they need not be named, which makes
        the bound smaller; False by default.
    points : int
        For compression: the rows that name a threshold, 2 or 1.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> from treewright import encode, grow
    >>> rows = encode({"x": range(200)}, ["a"] * 120 + ["b"] * 80)
    >>> tree = grow(rows)
    >>> certify(tree, data=rows)
    <Certificate: true error < 11.9 % with confidence 0.95, occam, 200 rows>
    >>> certify(tree, {"x": range(50)}, ["a"] * 50)
    <Certificate: true error < 5.9 % with confidence 0.95, held_out, 50 rows>
    """
    check_delta(delta)
    tree = as_tree(model)
    if isinstance(X, str):
        method, X = X, None
    test = one_argument("certify", X, y, "test", test)
    name = method or ("occam" if test is None else "held_out")
    chosen = method_of(name)
    if chosen.takes == "test" and test is None:
        raise ValueError(f"method {name!r} needs rows that were never used: test=")
    if chosen.takes == "test" and data is not None:
        raise ValueError(f"method {name!r} looks at test= only; data= is for training rows")
    if chosen.takes == "data" and test is not None:
        others = " and ".join(held_out_methods())
        raise ValueError(f"method {name!r} is for the training rows, test= for {others}")
    if wrong := set(options) - chosen.options:
        known = choices_text(min(wrong), [*sorted(chosen.options), "method", "test", "data", "delta"])
        raise ValueError(f"method {name!r} has no option {min(wrong)!r}; it has: {known}")
    rows = test if chosen.takes == "test" else data
    if rows is not None:
        rows = given_rows(tree, rows, chosen.takes, judging=chosen.takes == "test")
    fit_rows: FitRows | None = getattr(model, "_fit_rows", None)  # of an estimator; a tree has none
    if test is not None and fit_rows is not None:
        if options.pop("check_rows", True):
            choices = options.get("choices", 1)
            fit_rows.refuse(rows, choices=choices, all_prunings=name == "reduced_error")
            refuse_same_counts(tree, rows)
        options["check_rows"] = False
    return chosen.certify(tree, float(delta), **{chosen.takes: rows}, **options)
