"""All columns that matter: those that beat shuffled copies of the columns in random forests, again and again.

Kursa and Rudnicki (2010), "Feature selection with the Boruta package". Each round grows a forest from the
columns and from shuffled copies of them, the shadows, which matter by chance alone. A column scores a hit
where it is more important than the best shadow. After some rounds, few or many hits are unlikely by chance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import lgamma, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright._json import plain
from treewright._text import aligned, escape
from treewright.encoding import Dataset
from treewright.encoding.splits import checked_seed
from treewright.ensembles.side_by_side import Listener
from treewright.feature_selection.importances import MEASURES, Measure, importances_of, with_shadows
from treewright.growing import n_threads, whole_number
from treewright.growing.targets import check_rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
REJECTED, TENTATIVE, ACCEPTED = -1, 0, 1
NAMES = {ACCEPTED: "accepted", TENTATIVE: "tentative", REJECTED: "rejected"}
MOST_LINES = 40


@dataclass(frozen=True, eq=False)
class ShadowVerdict:
    """What became of each column, in the order of the schema; `print` shows the most important first."""

    columns: tuple[str, ...]
    verdict: NDArray[np.int8]  # 1: accepted, 0: tentative, -1: rejected
    hits: Ints  # rounds in which the column beat the shadows
    rounds: Ints  # rounds in which it took part
    importance: Floats = field(repr=False)  # (rounds, columns), NaN after a column was rejected
    shadow: Floats = field(repr=False)  # what was to be beaten in each round

    @property
    def n_rounds(self) -> int:
        """How many forests were grown."""
        return len(self.shadow)

    @property
    def accepted(self) -> Ints:
        """The positions of the accepted columns."""
        return np.flatnonzero(self.verdict == ACCEPTED)

    @property
    def tentative(self) -> Ints:
        """The positions of the columns of which the rounds did not suffice to decide."""
        return np.flatnonzero(self.verdict == TENTATIVE)

    @property
    def median(self) -> Floats:
        """The median importance of each column over the rounds in which it took part."""
        return np.asarray(np.nanmedian(self.importance, axis=0))

    def __str__(self) -> str:
        median = self.median
        order = np.lexsort((-median, -self.verdict))
        lines = [["column", "", "importance", "hits"]]
        for j in order[:MOST_LINES].tolist():
            hits = f"{self.hits[j]} of {self.rounds[j]}"
            lines.append([escape(self.columns[j]), NAMES[int(self.verdict[j])], f"{median[j]:.3g}", hits])
        rest = [f"… {len(order) - MOST_LINES:,} more columns"] if len(order) > MOST_LINES else []
        rest.append(f"to beat: {np.median(self.shadow):.3g} (median of {self.n_rounds} rounds)")
        return "\n".join([*aligned(lines, right=(2, 3)), *rest])

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {name: plain(value) for name, value in vars(self).items()}


def shadow_selection(
    data: Dataset,
    *,
    n_trees: int = 100,
    max_iter: int = 100,
    alpha: float = 0.05,
    percentile: float = 100.0,
    importance: Measure = "permutation",
    draws: Callable[[int], int] | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Listener | None = None,
    **growing: Any,
) -> ShadowVerdict:
    """Decide of each column whether it matters more than chance does.

    Parameters
    ----------
    data : Dataset
        Rows with their targets.
    n_trees : int
        Of each forest.
    max_iter : int
        The most rounds; the search ends when all columns are decided.
    alpha : float
        The chance that a column of no importance is accepted, or one as good as the shadows' best rejected:
        of any of the columns, by Bonferroni's correction.
    percentile : float
        Which percentile of the shadows is to be beaten; 100 is the best of them, less is less strict.
    importance : {"permutation", "gain"}
        See `importances_of`.
    draws : callable, optional
        How many columns a node draws of so many; their root by default.
    seed : int
        Of all that is drawn.
    n_jobs : int, optional
        Threads, of which the result does not depend.
    progress : callable, optional
        Told the share of `max_iter` that is done; what it raises ends the work.
    **growing
        How trees are grown: keyword arguments of `grow`.

    Returns
    -------
    ShadowVerdict

    Examples
    --------
    >>> from treewright import encode
    >>> data = encode({"x": range(60), "odd": [i % 2 for i in range(60)]}, [0] * 30 + [1] * 30)
    >>> shadow_selection(data, n_trees=20, max_iter=20).accepted.tolist()
    [0]
    """
    start, trees, most = _checked(data, n_trees, max_iter, alpha, percentile, importance, seed)
    if data.weight is not None:  # values of rows that weigh nothing must not come back in shadows
        data = data.take(data.counted)
    if data.n_rows > _core.small_rows:
        data.bins(n_threads(n_jobs))
    d = data.n_columns
    verdict, hits, rounds = np.zeros(d, np.int8), np.zeros(d, np.int64), np.zeros(d, np.int64)
    rows, beaten = list[Floats](), list[float]()
    for step in range(most):
        left = np.flatnonzero(verdict != REJECTED)
        if not (verdict == TENTATIVE).any():
            break
        rng = np.random.default_rng(np.random.SeedSequence(start, spawn_key=(step,)))
        both = with_shadows(data if len(left) == d else data.narrowed(left), rng)
        found = importances_of(
            both,
            trees,
            start,
            n_jobs,
            by=importance,
            draws=draws,
            spawn_key=(step,),
            progress=_within(progress, step, most),
            **growing,
        )
        limit = float(np.percentile(found[len(left) :], percentile))
        line = np.full(d, np.nan)
        line[left] = found[: len(left)]
        rows.append(line)
        beaten.append(limit)
        hits[left] += found[: len(left)] > max(limit, 0.0)  # what no tree asks for is worth 0, and no hit
        rounds[left] += 1
        verdict = _judged(verdict, hits, step + 1, alpha)
    return ShadowVerdict(data.schema.names, verdict, hits, rounds, np.array(rows), np.array(beaten))


def _checked(
    data: Dataset, n_trees: int, max_iter: int, alpha: float, percentile: float, importance: str, seed: int
) -> tuple[int, int, int]:
    check_rows(data)
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is {alpha!r}; it must be between 0 and 1")
    if not 0 < percentile <= 100:
        raise ValueError(f"percentile is {percentile!r}; it must be above 0 and at most 100")
    if importance not in MEASURES:
        raise ValueError(f"importance is {importance!r}; it must be {' or '.join(map(repr, MEASURES))}")
    trees = whole_number("n_trees", n_trees, 2)
    return checked_seed(seed), trees, whole_number("max_iter", max_iter, 1)


def _within(progress: Listener | None, step: int, most: int) -> Listener | None:
    return None if progress is None else lambda share: progress((step + share) / most)


def _judged(verdict: NDArray[np.int8], hits: Ints, n: int, alpha: float) -> NDArray[np.int8]:
    """Decide the columns that are still open: by an exact binomial test of their hits in n rounds."""
    level = alpha / len(verdict)
    tail = upper_tail(n)  # by symmetry the lower tail of h is the upper one of n - h
    result = verdict.copy()
    is_open = verdict == TENTATIVE
    result[is_open & (tail[hits] <= level)] = ACCEPTED
    result[is_open & (tail[n - hits] <= level)] = REJECTED
    return result


def upper_tail(n: int) -> Floats:
    """The chance of at least h hits in n rounds that are won or lost like coins, for h = 0 … n.

    >>> upper_tail(3).tolist()
    [1.0, 0.875, 0.5, 0.125]
    """
    h = np.arange(n + 1)
    logs = np.array([lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) for k in h]) - n * log(2)
    tail = np.cumsum(np.exp(logs)[::-1])[::-1]
    return np.asarray((tail / tail[0]).round(15))
