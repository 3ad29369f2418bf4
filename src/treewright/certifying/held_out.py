"""The certificate from rows that had no part in the fit, also if they have chosen one of some trees."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treewright.certifying.binomial import bernstein_upper, binomial_upper, check_delta, kl_upper
from treewright.certifying.certificate import Certificate
from treewright.certifying.losses import RowLosses, row_losses
from treewright.certifying.method import Method
from treewright.encoding import Dataset
from treewright.tree import Tree
from treewright.tree.class_counts import SparseRows
from treewright.tree.evaluate import rows_of

_ROWS = "the rows are independent draws from where the tree will be used"
_BY_PRIORS = (
    "a mistake costs what the tree's matrix says: the cost that was given, times the prior of its class over "
    "the share of that class among the training rows"
)


class HeldOut(Method):
    """Each of the trees has its own δ / choices, so that the bound of the chosen one holds whichever it is.

    The trees must not depend on the rows: those of one pruning path, grown and pruned on other rows.
    """

    takes = "test"
    options = frozenset({"choices", "costs", "loss", "loss_bound", "check_rows"})

    def price(self, tree: Tree | None, choices: int) -> tuple[dict[str, float], str]:
        """The bits paid for the choice of the tree, by what they say, and the assumption about it."""
        if not (isinstance(choices, int | np.integer) and choices >= 1):
            raise ValueError(f"choices is {choices!r}; it is the number of trees to choose from, 1 or more")
        if choices == 1:
            return {}, "none of them was used to grow the tree, and they are used only once"
        made = f"they chose one of {choices:,} trees that were made without them"
        return {"choices": math.log2(choices)}, made

    def rows_text(self, certificate: Certificate) -> str:
        """They were never used, or chose a tree."""
        n = certificate.choices
        return "never used for fitting" if n == 1 else f"that chose 1 of {n:,} trees"

    def confirms(self, certificate: Certificate) -> bool:
        """Compares the bits of the choice."""
        return math.isclose(certificate.bits, math.log2(certificate.choices))

    def certify(
        self,
        tree: Tree,
        delta: float,
        *,
        test: Dataset,
        choices: int = 1,
        costs: Any = None,
        loss: str | None = None,
        loss_bound: float | None = None,
        check_rows: bool = True,
    ) -> Certificate:
        """The certificate of a tree; see `treewright.certify`."""
        rows = row_losses(tree, test, costs=costs, loss=loss)
        if check_rows:
            refuse_same_counts(tree, test, accident=1.0)
        return self.of_losses(rows, delta, choices, loss_bound, tree)

    def of_losses(
        self,
        rows: RowLosses,
        delta: float,
        choices: int = 1,
        loss_bound: float | None = None,
        tree: Tree | None = None,
    ) -> Certificate:
        """The certificate of whatever lost so much."""
        breakdown, assumption = self.price(tree, choices)
        nats = sum(breakdown.values()) * math.log(2) - math.log(delta)
        n, most = len(rows.loss), _most(rows, loss_bound)
        error = float(rows.loss.mean())
        deviation = float(rows.loss.std(ddof=1)) if n > 1 and math.isfinite(error) else 0.0
        assumptions = [_ROWS, assumption]
        if rows.unknown:
            assumptions.append(_unknown_in_words(rows))
        if rows.by_priors:
            assumptions.append(_BY_PRIORS)
        guarantee, limit = True, "kl or bernstein"
        if rows.whole:
            limit = "binomial"
            value = float(binomial_upper(round(float(rows.loss.sum())), n, nats))
        elif math.isfinite(most):
            assumptions.append(f"no row can lose more than {most:g}")
            value = _bounded_upper(error / most, deviation / most, n, nats) * most
        else:
            guarantee, limit = False, "normal"
            value = _normal_upper(error, deviation, n, nats)
            assumptions.append(
                "the mean of so many losses is nearly normal: without a bound on the loss (loss_bound=) "
                "nothing can be guaranteed, since one rare row may lose any amount"
            )
        return Certificate(
            value=value,
            method=self.name,
            delta=delta,
            error=error,
            rows=n,
            assumptions=tuple(assumptions),
            breakdown=breakdown,
            what=rows.what,
            guarantee=guarantee,
            most=most,
            choices=int(choices),
            deviation=deviation,
            limit=limit,
            tree=tree,
        )


METHOD = HeldOut()


def certify_errors(errors: int, rows: int, *, delta: float = 0.05, choices: int = 1) -> Certificate:
    """The bound for whatever made so many errors on rows never used: rules, a forest, another's model.

    >>> print(certify_errors(80, 1000))
    error on 1,000 rows never used for fitting: 8.0 %   → with 95 % confidence the true error is below 9.6 %
    """
    check_delta(delta)
    whole = all(isinstance(number, int | np.integer) for number in (errors, rows))
    if not whole or not 0 <= errors <= rows or rows < 1:
        raise ValueError(f"{errors} errors on {rows} rows are not possible; both are whole numbers")
    wrong = np.arange(rows) < errors
    losses = RowLosses(wrong.astype(np.float64), 1.0, True, "error")
    return METHOD.of_losses(losses, delta, choices)


def certify_losses(
    losses: Any,
    *,
    delta: float = 0.05,
    choices: int = 1,
    loss_bound: float | None = None,
    what: str = "squared error",
) -> Certificate:
    """The same where rows lose more or less, each a number >= 0: what `what` says.

    With the most that a row can lose, `loss_bound`, it is a guarantee, without it an estimate.

    >>> certify_losses([0.0, 0.25, 0.0, 1.0] * 100, loss_bound=1.0)
    <Certificate: true squared error < 0.3775 with confidence 0.95, held_out, 400 rows>
    """
    check_delta(delta)
    lost = np.asarray(losses, np.float64)
    if lost.ndim != 1 or not len(lost) or not (np.isfinite(lost).all() and (lost >= 0).all()):
        raise ValueError("losses must be one finite number >= 0 for each row, and at least one row")
    return METHOD.of_losses(RowLosses(lost, np.inf, False, what), delta, choices, loss_bound)


def _unknown_in_words(rows: RowLosses) -> str:
    """How rows count whose class is not among those of the training."""
    n, cost = rows.unknown, " that costs what the dearest does" if rows.what == "cost" else ""
    come = "1 row has a class" if n == 1 else f"{n:,} rows have classes"
    return f"{come} that the tree does not know: a mistake{cost}, whatever it answers"


def _bounded_upper(mean: float, deviation: float, rows: int, nats: float) -> float:
    """The smaller of two limits for losses within [0, 1], each of which has half of δ."""
    half = nats + math.log(2)
    by_kl = float(kl_upper(mean, half / rows))
    return min(by_kl, float(bernstein_upper(mean, deviation**2, rows, half))) if rows > 1 else by_kl


def _normal_upper(mean: float, deviation: float, rows: int, nats: float) -> float:
    from scipy.special import ndtri

    if rows < 2:
        return math.inf
    return mean - float(ndtri(math.exp(-nats))) * deviation / math.sqrt(rows)


def _most(rows: RowLosses, loss_bound: float | None) -> float:
    """The most that a row can lose, by nature or by what the user knows."""
    if loss_bound is None:
        return rows.most
    if math.isfinite(rows.most):
        raise ValueError(f"loss_bound is for numbers; here a row can lose {rows.most:g} at most")
    if not (0 < loss_bound < math.inf):
        raise ValueError(
            f"loss_bound is {loss_bound!r}; it is the most that a row can lose, a positive number"
        )
    worst = float(rows.loss.max())
    if worst > loss_bound:
        raise ValueError(f"loss_bound is {loss_bound:g}, but a row loses {worst:g}")
    return float(loss_bound)


def refuse_same_counts(tree: Tree, test: Dataset, accident: float = 1e-3) -> None:
    """Raise ValueError for rows of which as many arrive at every node as the tree was grown from, unless the
    chance that new rows do is more than an `accident`: they are its training rows, rounded or not.
    """
    if tree.n_leaves < 2 or not same_statistic(tree, test) or _chance_of_same_counts(tree) > accident:
        return
    raise ValueError(
        "these are the rows that the tree was grown from: every node counts the same. Give rows that "
        "were never used, or no test= for a bound from the training rows; if they are other rows after "
        "all, check_rows=False"
    )


def _chance_of_same_counts(tree: Tree) -> float:
    """How likely as many new rows have the same counts in all leaves, of each class where there are some, if
    they come in the shares of these counts: a multinomial probability.
    """
    from scipy.special import gammaln

    leaves = np.flatnonzero(tree.is_leaf)
    by_class = tree.schema.predicts_classes and not isinstance(tree.statistic, SparseRows)
    cells = np.asarray(tree.statistic[leaves]) if by_class else tree.rows[leaves]
    counts = cells[cells > 0] * (float(tree.rows[0]) / float(cells.sum()))
    n = float(counts.sum())
    return float(np.exp(gammaln(n + 1) + (counts * np.log(counts / n) - gammaln(counts + 1)).sum()))


def same_statistic(tree: Tree, data: Dataset) -> bool:
    """Whether as many rows arrive at every node as the tree was grown from, of the same classes or losses."""
    if not np.array_equal(rows_of(tree, data), tree.rows):
        return False
    if not tree.schema.predicts_classes:
        return np.allclose(tree.loss_of(data), tree.loss, rtol=1e-9, atol=1e-9 * float(tree.loss[0]))
    own, other = tree.statistic, tree.statistic_of(data)
    if isinstance(own, SparseRows):
        return own == other
    return np.allclose(own, other, rtol=1e-9)
