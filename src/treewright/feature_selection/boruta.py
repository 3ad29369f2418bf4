"""Boruta: all columns that are more important to random forests than shuffled copies of the columns.

Kursa and Rudnicki (2010), "Feature selection with the Boruta package". Each round grows a forest from the
columns and from shuffled copies of them, the shadows, which are important by chance alone. A column scores a
hit where it is more important than the best shadow. A binomial test of the hits accepts or rejects it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright._display import Layout, ShownTable
from treewright._json import plain
from treewright._text import escape
from treewright.encoding import Dataset
from treewright.encoding.rows import takes_rows
from treewright.encoding.schema import Schema
from treewright.ensembles.permutation import shuffled_rises
from treewright.ensembles.side_by_side import Listener, of_stage, results_in_order
from treewright.growing import grow, n_features_drawn, n_threads
from treewright.growing.limits import row_count
from treewright.growing.targets import check_rows, checked_criterion
from treewright.parameters import takes
from treewright.parameters.selectors import BorutaFunctionParameters
from treewright.tree.oblique import by_column

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
REJECTED, TENTATIVE, ACCEPTED = -1, 0, 1
MOST_LINES = 40
_NAMES = {ACCEPTED: "accepted", TENTATIVE: "tentative", REJECTED: "rejected"}
_OF_FOREST = ("n_estimators", "importance", "max_features", "random_state", "n_jobs", "progress")
_POOL = 20  # a tree considers at most this many times the columns that a node draws


@dataclass(frozen=True, eq=False)
class BorutaResult(ShownTable):
    """The decision on each column, in the order of the schema; ``print`` shows the most important first."""

    columns: tuple[str, ...]
    decision: NDArray[np.int8]  # 1: accepted, 0: tentative, -1: rejected
    hits: Ints  # rounds in which the column was more important than the shadows
    rounds: Ints  # rounds until the column was rejected
    importance: Floats = field(repr=False)  # (rounds, columns), NaN after a column was rejected
    shadow: Floats = field(repr=False)  # the importance to exceed in each round

    @property
    def n_rounds(self) -> int:
        """The number of forests."""
        return len(self.shadow)

    @property
    def accepted_columns(self) -> Ints:
        """The positions of the accepted columns."""
        return np.flatnonzero(self.decision == ACCEPTED)

    @property
    def tentative_columns(self) -> Ints:
        """The positions of the columns that are still undecided after all rounds."""
        return np.flatnonzero(self.decision == TENTATIVE)

    @property
    def median(self) -> Floats:
        """The median importance of each column over its rounds."""
        return np.asarray(np.nanmedian(self.importance, axis=0))

    def _layout(self) -> Layout:
        median = self.median
        order = np.lexsort((-median, -self.decision))
        lines = []
        for j in order[:MOST_LINES].tolist():
            hits = f"{self.hits[j]} of {self.rounds[j]}"
            lines.append([escape(self.columns[j]), _NAMES[int(self.decision[j])], f"{median[j]:.3g}", hits])
        rest = [f"… {len(order) - MOST_LINES:,} more columns"] if len(order) > MOST_LINES else []
        rest.append(f"shadows: {np.median(self.shadow):.3g} (median of {self.n_rounds} rounds)")
        return Layout([], ["column", "", "importance", "hits"], lines, (2, 3), rest)

    def to_dict(self) -> dict[str, Any]:
        """The values as lists, ready for JSON."""
        return {name: plain(value) for name, value in vars(self).items()}


@takes_rows
@takes(BorutaFunctionParameters)
def boruta(data: Dataset, **options: Any) -> BorutaResult:
    """Accept the columns that are more important than shuffled columns, and reject the others.

    Examples
    --------
    >>> from treewright import encode
    >>> data = encode({"x": range(60), "odd": [i % 2 for i in range(60)]}, [0] * 30 + [1] * 30)
    >>> boruta(data, n_estimators=20, max_iter=20).accepted_columns.tolist()
    [0]
    """
    check_rows(data)
    others = options["growing"] or {}
    for name in others.keys() & (BorutaFunctionParameters.parameters.keys() | {"threshold"}):
        raise ValueError(f"growing={others!r}: boruta sets {name!r} itself")
    growing = {
        **others,
        "criterion": checked_criterion(options["criterion"], data),
        "max_depth": options["max_depth"],
        "min_samples_leaf": row_count("min_samples_leaf", options["min_samples_leaf"], data.n_counted),
    }
    random_state, most, n_jobs = options["random_state"], int(options["max_iter"]), options["n_jobs"]
    if data.weight is not None:  # shadows must not take values of rows without weight
        data = data.take(data.counted)
    if data.n_rows > _core.small_rows:
        data.bins(n_threads(n_jobs))
    d = data.n_columns
    decision, hits, rounds = np.zeros(d, np.int8), np.zeros(d, np.int64), np.zeros(d, np.int64)
    importances, shadows = list[Floats](), list[float]()
    for step in range(most):
        left = np.flatnonzero(decision != REJECTED)
        if not (decision == TENTATIVE).any():
            break
        rng = np.random.default_rng(np.random.SeedSequence(random_state, spawn_key=(step,)))
        found = forest_importances(
            with_shadows(data if len(left) == d else data.select_columns(left), rng),
            growing=growing,
            spawn_key=(step,),
            **{name: options[name] for name in _OF_FOREST}
            | {"progress": of_stage(options["progress"], step / most, 1 / most)},
        )
        limit = float(np.percentile(found[len(left) :], options["percentile"]))
        line = np.full(d, np.nan)
        line[left] = found[: len(left)]
        importances.append(line)
        shadows.append(limit)
        hits[left] += found[: len(left)] > max(limit, 0.0)  # a column that no tree tests has importance 0
        rounds[left] += 1
        decision = _decide(decision, hits, step + 1, options["alpha"])
    return BorutaResult(data.schema.names, decision, hits, rounds, np.array(importances), np.array(shadows))


def _decide(decision: NDArray[np.int8], hits: Ints, n: int, alpha: float) -> NDArray[np.int8]:
    """Accept or reject tentative columns by an exact binomial test of their hits in n rounds.

    Bonferroni's correction: `alpha` is divided by the number of columns.
    """
    level = alpha / len(decision)
    tail = upper_tail(n)  # by symmetry the lower tail of h is the upper one of n - h
    result = decision.copy()
    is_tentative = decision == TENTATIVE
    result[is_tentative & (tail[hits] <= level)] = ACCEPTED
    result[is_tentative & (tail[n - hits] <= level)] = REJECTED
    return result


def upper_tail(n: int) -> Floats:
    """The probability of at least h hits in n rounds of probability 1/2 each, for h = 0 … n.

    >>> upper_tail(3).tolist()
    [1.0, 0.875, 0.5, 0.125]
    """
    from scipy.special import bdtrc

    return np.asarray(bdtrc(np.arange(-1.0, n), n, 0.5).round(15))


def with_shadows(data: Dataset, rng: np.random.Generator, least: int = 5) -> Dataset:
    """The table followed by shuffled copies of its columns: one of each, or more to make at least `least`.

    >>> from treewright import encode
    >>> data = encode({"x": [1.0, 2.0, 3.0]}, [0, 1, 1])
    >>> both = with_shadows(data, np.random.default_rng(0), least=2)
    >>> both.n_columns, sorted(both.column(2).tolist())
    (3, [1.0, 2.0, 3.0])
    """
    d, n = data.n_columns, data.n_rows
    origin = [j for _ in range(max(1, -(-least // d))) for j in range(d)]
    shuffles = [(j, rng.permutation(n)) for j in origin]
    shadows = tuple(data.schema.columns[j] for j in origin)
    schema = Schema((*data.schema.columns, *shadows), data.schema.targets)
    if isinstance(data.columns, np.ndarray):
        matrix = np.empty((n, d + len(origin)), data.columns.dtype, order="F")
        matrix[:, :d] = data.columns
        for place, (j, order) in enumerate(shuffles, d):
            matrix[:, place] = data.columns[order, j]
        both = Dataset(schema, matrix, data.targets, data.weight)
    else:
        copies = (data.column(j, order) for j, order in shuffles)
        both = Dataset(schema, (*data.columns, *copies), data.targets, data.weight)
    if "_bins" in vars(data):  # the bins of shuffled values are the shuffled bins
        bins, is_mixed = data.bins()
        shuffled = np.column_stack([bins, *(bins[order, j] for j, order in shuffles)])
        object.__setattr__(both, "_bins", (shuffled, np.concatenate([is_mixed, is_mixed[origin]])))
    return both


@takes_rows
@takes({name: BorutaFunctionParameters.parameters[name] for name in _OF_FOREST})
def forest_importances(
    data: Dataset,
    /,
    *,
    growing: Mapping[str, Any] | None = None,
    spawn_key: tuple[int, ...] = (),
    **options: Any,
) -> Floats:
    """The importance of each column in a random forest.

    Each tree is grown from a bootstrap sample. With many columns each tree first draws 20 times as many
    columns as a node considers, which saves sorting the others. Tree i is the same for any `n_estimators` and
    `n_jobs`.

    Parameters
    ----------
    growing : mapping, optional
        Options of `grow` for the trees.
    spawn_key : tuple of int
        Distinguishes forests of the same seed.

    Examples
    --------
    >>> from treewright import encode
    >>> data = encode({"x": range(40), "odd": [i % 2 for i in range(40)]}, [0] * 20 + [1] * 20)
    >>> x, odd = forest_importances(data, n_estimators=20)
    >>> bool(x > 4 > odd)
    True
    """
    n_trees, threads = int(options["n_estimators"]), n_threads(options["n_jobs"])
    by_gain = options["importance"] == "gain"
    if data.n_rows > _core.small_rows:
        data.bins(threads)  # once for all trees
    rows = data.counted  # rows without weight are never drawn
    per_node = n_features_drawn(options["max_features"], data.n_columns)
    per_tree = min(_POOL * per_node, data.n_columns)
    draws = per_node if per_node < per_tree else None
    limits = {**(growing or {}), "max_features": draws, "threshold": "midpoint"}

    def work(number: int, listener: Listener) -> Floats:
        rng = np.random.default_rng(
            np.random.SeedSequence(options["random_state"], spawn_key=(*spawn_key, number))
        )
        pool = None  # all columns
        if per_tree < data.n_columns:
            pool = np.sort(rng.choice(data.n_columns, per_tree, replace=False))
        table = data if pool is None else data.select_columns(pool)
        counts = np.zeros(data.n_rows)
        counts[rows] = np.bincount(rng.integers(0, len(rows), len(rows)), minlength=len(rows))
        sample = table.with_weight(counts * data.row_weights)
        tree = grow(sample, random_state=int(rng.integers(2**31)), progress=listener, **limits)
        if by_gain:
            gain = by_column(tree, tree.gain)
            found = np.asarray(gain / (gain.sum() or 1.0))
        else:
            found = shuffled_rises(tree, table, rows[counts[rows] == 0], rng)
        if pool is None:
            return found
        result = np.zeros(data.n_columns)
        result[pool] = found
        return result

    # summed in the order of the trees, so that the result does not depend on the number of threads
    sums = np.zeros((2, data.n_columns))
    for each in results_in_order(work, range(n_trees), threads, options["progress"]):
        sums += each, each**2
    mean = sums[0] / n_trees
    if by_gain:
        return np.asarray(mean)
    error = np.sqrt(np.maximum(sums[1] / n_trees - mean**2, 0.0) / n_trees)
    return np.asarray(np.divide(mean, error, out=np.zeros_like(mean), where=error > 0))
