"""Growing a tree: the doors to the native grower, and the choice of thresholds."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.combining import Direction
from treewright.costing import CostSplit, check_cost_split, costed, emphasised
from treewright.encoding import Dataset
from treewright.forcing import grown_from
from treewright.formulating import check_can_formulate, with_formulas
from treewright.memory import check_memory, memory_needed
from treewright.ruling import ByColumn, Groups, check_company, rules_from
from treewright.schema import Missing, Schema
from treewright.sparse import SparseRows
from treewright.surrogates import Surrogates
from treewright.tree import Tree
from treewright.writing import Among, Below

Threshold = Literal["readable", "midpoint"]

_CHOICES = {
    "splitter": ("best", "random"),
    "threshold": ("readable", "midpoint"),
    "leaf": ("constant", "linear"),
    "split": ("axis", "oblique"),
    "selection": ("gain", "test"),
}
_ALIASES = {"log_loss": "entropy"}
_LAST_TIME = 2.0**62  # in microseconds; numpy's dates hold a little more
_LARGEST_LIMIT = 2**62
_MOST_THREADS = 256
_MOST_ROWS = 2**31 - 1  # the core numbers them in 32 bits
_LARGEST_TARGET = 1e150  # beyond it squares leave the range of floating point
_LARGEST_SUM = 1e305  # of weighted squares, logarithms included


def criteria(task: Literal["classes", "numbers"] | None = None) -> list[str]:
    """The names of the criteria, of all or of one task.

    >>> criteria("numbers")
    ['absolute_error', 'poisson', 'squared_error']
    """
    return [name for name, of in _core.criteria() if task in (None, of)]


def grow(
    data: Dataset,
    *,
    criterion: str | None = None,
    splitter: Literal["best", "random"] = "best",
    root: Below | Among | str | None = None,
    max_depth: int | None = None,
    min_samples_split: int = 2,
    min_samples_leaf: int = 1,
    min_weight_leaf: float = 0.0,
    min_gain: float = 0.0,
    significance: float | None = None,
    selection: Literal["gain", "test"] = "gain",
    max_leaf_nodes: int | None = None,
    max_splits: int | None = None,
    max_features: int | None = None,
    seed: int = 0,
    threshold: Threshold = "readable",
    missing: Missing = "learn",
    n_surrogates: int = 5,
    monotonic_cst: ByColumn | None = None,
    interaction_cst: Groups | None = None,
    feature_costs: ByColumn | None = None,
    max_features_used: int | None = None,
    leaf: Literal["constant", "linear"] = "constant",
    split: Literal["axis", "oblique"] = "axis",
    max_combined: int = 2,
    n_jobs: int | None = None,
    progress: Callable[[float], object] | None = None,
    cost_matrix: Any = None,
    priors: Any = None,
    cost_split: CostSplit = "altered_priors",
    _small_rows: int = 0,
    _rules: Mapping[str, Any] | None = None,
) -> Tree:
    """Grow the exact tree: repeatedly split the leaf with the largest gain, until the limits stop it.

    Parameters
    ----------
    data : Dataset
        What `encode` made of a table and its target.
    criterion : str, optional
        One of `criteria()`; gini for classes and squared_error for numbers by default.
    splitter : {"best", "random"}
        The best cut of each column, or one drawn at random from each (extremely randomised trees).
    root : Below, Among or str, optional
        The first split, if it is given instead of found: a test, or the name of a column whose best split is
        taken. It must keep to the limits like any other. Missing values go to the side that gains more.
    max_depth, min_samples_split, min_samples_leaf : int
        Limits on the depth and on the rows of a node that is split and of a leaf.
    min_weight_leaf, min_gain : float
        The least weight of a leaf; the least gain (weight × drop of impurity) of a split.
    significance : float, optional
        A node is split only where Pearson's χ² test of its best split (two sides by the classes in the node,
        weights taken for counts) has a p-value of at most this. Of several targets χ² and degrees of freedom
        are added up. The p-value does not count that the split was chosen as the best of many. With
        ``selection="test"`` the level of that test, 0.05 by default.
    selection : {"gain", "test"}
        Whether the column of a node is the one with the best split, or the one that is least likely to be
        independent of the target, by a test that does not prefer columns with many values (Hothorn, Hornik
        and Zeileis 2006). A node without a column whose p-value, times the number of columns, is at most
        `significance` stays a leaf. The best split of the column is taken by the criterion either way.
    max_leaf_nodes, max_splits : int, optional
        Two names for one budget: t splits make t + 1 leaves.
    max_features : int, optional
        How many columns each node draws; all by default.
    seed : int
        Of the draws. Without draws the tree does not depend on it.
    threshold : {"readable", "midpoint"}
        The shortest decimal in the gap between two values, or its middle.
    missing : {"learn", "surrogate", "fractional", "category", "error"}
        Where a row goes whose value is missing: to the side that gains more; where the tests of other columns
        say that go with the split's own (rpart); to both sides, by their shares (C4.5); to a branch of its
        own, as a value like any other; or nowhere: a missing value is an error.
    n_surrogates : int
        How many other columns a split keeps to ask, one after the other; for ``missing="surrogate"``.
    monotonic_cst : dict or sequence, optional
        By name, or one for each column: 1 if the answer must not fall as the column grows, -1 if it must not
        rise, 0 if it may do both. Of classes the share of the later ones must not fall or rise.
    interaction_cst : "pairwise", "no_interactions" or groups of columns, optional
        Which columns, by name or position, may be tested together on one path. A column in no group is tested
        with no other.
    feature_costs : dict or sequence, optional
        The price of measuring a column, by name or one for each; 0 where nothing is said. A split's gain is
        divided by 1 + price, unless the column was tested above it.
    max_features_used : int, optional
        The most columns that the tree as a whole may test.
    leaf : {"constant", "linear"}
        For numbers: whether leaves answer their mean, or a formula of the columns tested above them, a ridge
        regression (a model tree). The splits are the same.
    split : {"axis", "oblique"}
        Whether a node tests one column, or may test a weighted sum of numbers such as ``a - 0.5 b <= 2``.
        Sums are found by regression on the target and at random, turned and rounded, and scanned exactly. One
        is taken where its gain, less 10 % for each column after the first, is larger than that of the best
        column.
    max_combined : int
        The most columns of a sum.
    n_jobs : int, optional
        Threads: None is 1, -1 all cores. The tree is the same for any number.
    progress : callable, optional
        Called every few milliseconds with the share of the rows that have found their leaf, or of the splits
        that a budget allows. What it raises ends the growing.
    cost_matrix : array of shape (n_classes, n_classes) or dict of dicts, optional
        ``cost_matrix[i, j]`` is the cost of answering class j when the truth is class i; zero on the
        diagonal. By name: ``{"ill": {"well": 10}}``; what is not named costs 1. Leaves answer what costs
        their rows least, and whatever is said of losses is said of costs.
    priors : array of shape (n_classes,) or dict, optional
        How often each class comes in truth, if not as in the rows; they add up to 1.
    cost_split : {"altered_priors", "generalised_gini", "none"}
        How both alter the splits. By altered priors a row of class i weighs in proportion to
        π_i Σ_j cost_matrix[i, j], for any criterion; the order of the splits, min_gain and min_weight_leaf
        go by these weights, which add up to the same total. They see of each class what its mistakes cost
        in all. The generalised Gini index, Σ cost · share · share over pairs of classes, tells pairs apart
        that cost much from those that cost little; of two classes there is one pair only, and it is blind
        to costs. Or none: the costs say what leaves answer, not which tests are made.

    Returns
    -------
    Tree

    Examples
    --------
    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"]))
    >>> tree.n_leaves, float(tree.threshold[0])
    (2, 2.5)

    Of two columns that tell the same, the cheaper one:

    >>> twins = encode({"scan": [1, 2, 3, 4], "pulse": [60, 62, 64, 66]}, ["a", "a", "b", "b"])
    >>> grow(twins).root.test.column, grow(twins, feature_costs={"scan": 3}).root.test.column
    ('scan', 'pulse')
    """
    given = dict(locals())
    _check_rows(data)
    check_cost_split(cost_split)
    binned = data  # it keeps its bins for other trees
    if cost_matrix is not None or priors is not None:
        data = costed(data, cost_matrix, priors, cost_split)
    weighed = emphasised(data)
    name = _checked_criterion(criterion, data)
    _check_choices(splitter=splitter, threshold=threshold, leaf=leaf, split=split, selection=selection)
    if leaf == "linear":
        check_can_formulate(name, data, missing)
        return with_formulas(grow(**given | {"leaf": "constant"}), data)
    labels, numbers = _checked_targets(data, name)
    _check_categories(data)
    budget = split_budget(max_leaf_nodes, max_splits)
    if root is not None:
        options = {each: value for each, value in given.items() if each not in ("data", "root")}
        limits = {"criterion": name, "max_leaf_nodes": None, "max_splits": None if budget < 0 else budget}
        told = {"cost_matrix": None, "priors": None}  # the rows know them by now
        return grown_from(data, root, grow, options | limits | told)
    asked = missing, n_surrogates, monotonic_cst, interaction_cst, feature_costs, max_features_used
    ruled = replace(rules_from(data.schema, *asked), **(_rules or {}))
    check_company(ruled, data, name, splitter=splitter, selection=selection, split=split)
    threads = n_threads(n_jobs)
    check_memory(memory_needed(data, criterion=name, n_leaves=1, n_threads=threads))
    task: dict[str, Any] = {
        "columns": data.columns,
        "n_categories": data.schema.category_counts,
        "labels": labels,
        "n_classes": list(data.schema.block_widths) if labels is not None else [],
        "is_wide": data.schema.is_wide,
        "numbers": numbers,
        "weight": weighed.weight,
        "criterion": name,
        "max_depth": _limit("max_depth", max_depth, 0),
        "max_splits": budget,
        "min_rows_split": whole_number("min_samples_split", min_samples_split, 1),
        "min_rows_leaf": whole_number("min_samples_leaf", min_samples_leaf, 1),
        "min_weight_leaf": non_negative("min_weight_leaf", min_weight_leaf),
        "min_gain": non_negative("min_gain", min_gain),
        "max_columns": _drawn_columns(max_features, len(data.schema.columns)),
        "seed": whole_number("seed", seed, 0),
        "critical": _critical_values(significance, data.schema) if selection == "gain" else None,
        "n_threads": threads,
        "progress": progress,
    }
    if ruled.need_care:
        tree = _careful_tree(_core.grow_carefully(**task, **ruled.arguments), data, name, threshold, missing)
    else:
        fast: dict[str, Any] = {
            "small_rows": _small_rows,
            "random_splits": splitter == "random",
            "combined": _combined_columns(split, data.schema),
            "max_combined": whole_number("max_combined", max_combined, 2),
        }
        if selection == "test":
            grown = _grown_by_tests(weighed, task | fast, significance)
        else:
            is_large = data.n_rows > (_small_rows or _core.small_rows)
            bins, is_mixed = binned.bins(threads) if is_large else (None, None)
            grown = _core.grow(**task, **fast, bins=bins, is_mixed=is_mixed)
        tree = _tree(grown, data, name, threshold, missing)
    return tree if weighed is data else tree.restated(data)  # the splits are chosen; the rows weigh as before


def _check_choices(**choices: str) -> None:
    for name, choice in choices.items():
        if choice not in _CHOICES[name]:
            raise ValueError(f"{name} is {choice!r}; it must be {' or '.join(map(repr, _CHOICES[name]))}")


def _tree(grown: _core.GrownTree, data: Dataset, name: str, threshold: Threshold, missing: Missing) -> Tree:
    """What the core has grown, with numbers in the gaps."""
    return Tree(
        end=grown["end"],
        feature=grown["feature"],
        threshold=_thresholds(grown["feature"], grown["low"], grown["high"], data, threshold),
        subset=grown["subset"],
        missing_left=grown["missing_left"].view(np.bool_),
        step=grown["step"],
        rows=grown["rows"],
        statistic=_statistic(grown, data.schema),
        subsets=grown["subsets"],
        schema=data.schema,
        criterion=name,
        missing=missing,
        directions=tuple(Direction.of(*direction) for direction in grown["directions"]),
    )


def _grown_by_tests(data: Dataset, options: dict[str, Any], significance: float | None) -> Any:
    from treewright.inferring import grown_by_tests

    return grown_by_tests(data, options, 0.05 if significance is None else _checked_level(significance))


def _careful_tree(
    grown: _core.CarefullyGrownTree, data: Dataset, name: str, threshold: Threshold, missing: Missing
) -> Tree:
    """What the careful grower adds: splits into many branches, and surrogates."""
    feature = grown["surrogate_feature"]
    surrogates = Surrogates(
        node=grown["surrogate_node"],
        feature=feature,
        threshold=_thresholds(feature, grown["surrogate_low"], grown["surrogate_high"], data, threshold),
        subset=grown["surrogate_subset"],
        reversed=grown["surrogate_reversed"].view(np.bool_),
        agreement=grown["surrogate_agreement"],
        adjusted=grown["surrogate_adjusted"],
        subsets=grown["surrogate_subsets"],
    )
    joined = grown["joined"].view(np.bool_)
    return replace(_tree(grown, data, name, threshold, missing), joined=joined, surrogates=surrogates)


def _combined_columns(split: str, schema: Schema) -> list[int]:
    """The columns that may be added up: the numbers, where sums are asked for."""
    if split == "axis":
        return []
    return [i for i, column in enumerate(schema.columns) if column.kind == "number"]


def _statistic(grown: _core.GrownTree, schema: Schema) -> NDArray[np.float64] | SparseRows:
    if not schema.is_wide:
        return grown["statistic"]
    return SparseRows(grown["end"], grown["start"], grown["column"], grown["value"], schema.width)


def n_threads(n_jobs: int | None) -> int:
    """The number of threads that scikit-learn's `n_jobs` means: None is 1, -1 all cores, -2 all but one.

    >>> n_threads(None), n_threads(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    jobs = whole_number("n_jobs", n_jobs, -_LARGEST_LIMIT)
    if jobs == 0:
        raise ValueError("n_jobs is 0; it must be a positive number, or negative to count from all cores")
    return min(jobs, _MOST_THREADS) if jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + jobs)


def _check_rows(data: Dataset) -> None:
    if data.targets is None:
        raise ValueError("data has no target to learn; encode the table with target=")
    if data.n_rows > _MOST_ROWS:
        raise ValueError(f"the table has {data.n_rows} rows; a tree can be grown from {_MOST_ROWS} at most")


def _checked_criterion(criterion: str | None, data: Dataset) -> str:
    task: Literal["classes", "numbers"] = "classes" if data.schema.predicts_classes else "numbers"
    if criterion is None:
        return "gini" if task == "classes" else "squared_error"
    name = _ALIASES.get(criterion, criterion) if isinstance(criterion, str) else ""
    if name not in criteria():
        raise ValueError(f"criterion {criterion!r} is unknown; known: {', '.join(criteria())}")
    if name not in criteria(task):
        raise ValueError(f"criterion {criterion!r} is not for {task}; those are: {', '.join(criteria(task))}")
    return name


def _checked_targets(
    data: Dataset, criterion: str
) -> tuple[NDArray[np.int32] | None, NDArray[np.float64] | None]:
    """The targets as labels or as numbers, after the checks that depend on the criterion."""
    targets = np.ascontiguousarray(data.targets)
    if data.schema.predicts_classes:
        return targets, None
    for target, numbers in zip(data.schema.targets, targets, strict=True):
        _check_numbers(target.name, numbers, data.weight, criterion)
    return None, targets


def _check_numbers(
    name: str, numbers: NDArray[np.float64], weight: NDArray[np.float64] | None, criterion: str
) -> None:
    """A target of numbers must leave room for the sums that a criterion makes of it."""
    low, high = float(numbers.min()), float(numbers.max())
    if max(-low, high) > _LARGEST_TARGET:
        raise ValueError(f"target {name!r} has numbers beyond ±{_LARGEST_TARGET:g}; scale it down")
    total = float(len(numbers)) if weight is None else float(weight.sum())
    spread = high - low
    if total * spread > _LARGEST_SUM / max(1.0, spread):
        raise ValueError(
            f"target {name!r} spreads over {spread:g} and the weights add up to {total:g}: the sum of "
            "squares leaves the range of floating point; scale the target or the weights down"
        )
    if criterion == "poisson":
        if low < 0:
            raise ValueError(
                f"target {name!r} has a negative number in row {numbers.argmin()}; poisson needs y >= 0"
            )
        counted = numbers > 0 if weight is None else (numbers > 0) & (weight > 0)
        if not counted.any():
            raise ValueError(f"target {name!r} is zero in every row; poisson needs a positive sum")
        share = numbers / total if weight is None else weight / total * numbers
        if not share[counted].all():  # the mean of its node would be zero, and the logarithm infinite
            row = int(np.argmax(counted & (share == 0)))
            raise ValueError(
                f"target {name!r}: row {row} counts for nothing beside the weights of the others; drop it"
            )


def _check_categories(data: Dataset) -> None:
    """Rows to learn from must have categories that the schema knows."""
    if data.schema.only_numbers:
        return
    for column, codes in zip(data.schema.columns, data.columns, strict=True):
        if column.kind == "category" and (codes < -1).any():
            row = int(np.argmax(codes < -1))
            raise ValueError(
                f"column {column.name!r} has a category in row {row} that the schema does not know"
            )


def _limit(name: str, value: int | None, least: int) -> int:
    """A whole number of at least `least`; -1 stands for None."""
    return -1 if value is None else whole_number(name, value, least)


def whole_number(name: str, value: int, least: int) -> int:
    """A whole number of at least `least`; beyond any table all limits are the same."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} is {value!r}; it must be a whole number") from None
    if number < least:
        raise ValueError(f"{name} is {number}; it must be at least {least}")
    return min(number, _LARGEST_LIMIT)


def non_negative(name: str, value: float) -> float:
    """A number of at least 0; ValueError names it."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not number >= 0:
        raise ValueError(f"{name} is {value!r}; it must be a number of at least 0")
    return number


def _critical_values(significance: float | None, schema: Schema) -> NDArray[np.float64] | None:
    """The least χ² that is significant, by degrees of freedom; None without a test."""
    if significance is None:
        return None
    if not schema.predicts_classes:
        raise ValueError("significance is for classes; the target is a number, for which there is no χ² test")
    level = _checked_level(significance)
    from scipy.special import chdtri

    freedom = np.arange(1, sum(width - 1 for width in schema.block_widths) + 1)
    return np.concatenate([[0.0], chdtri(freedom, level)])


def _checked_level(significance: float) -> float:
    try:
        level = float(significance)
    except (TypeError, ValueError):
        level = math.nan
    if not 0 < level <= 1:
        raise ValueError(f"significance is {significance!r}; it must be a number above 0 and at most 1")
    return level


def split_budget(max_leaf_nodes: int | None, max_splits: int | None) -> int:
    """The smaller of the two budgets in splits; -1 without one."""
    leaves = _limit("max_leaf_nodes", max_leaf_nodes, 1)
    budgets = [n for n in (leaves - 1 if leaves >= 0 else -1, _limit("max_splits", max_splits, 0)) if n >= 0]
    return min(budgets, default=-1)


def _drawn_columns(max_features: int | None, n_columns: int) -> int:
    """How many columns a node draws; 0 where it looks at all of them."""
    drawn = _limit("max_features", max_features, 1)
    return 0 if drawn < 0 or drawn >= n_columns else drawn


def _thresholds(
    feature: NDArray[np.int32],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    data: Dataset,
    threshold: Threshold,
) -> NDArray[np.float64]:
    """A number in each gap, for tests of the columns `feature`."""
    choose: Any = _core.readable if threshold == "readable" else _core.midpoint
    values: NDArray[np.float64] = choose(low, high)
    if threshold == "readable":
        times = [i for i, column in enumerate(data.schema.columns) if column.kind == "time"]
        if times:
            for test in np.flatnonzero(np.isin(feature, times)):
                values[test] = _readable_time(low[test], high[test])
    return values


def _readable_time(low: float, high: float) -> float:
    """The start of the longest calendar unit between two times, the latest of them; microseconds since 1970.

    >>> _readable_time(0.0, 400 * 86400e6) / 86400e6  # 1 January 1971
    365.0
    """
    if not (abs(low) < _LAST_TIME and abs(high) < _LAST_TIME):
        return low
    last = np.datetime64(math.ceil(high) - 1, "us")
    for unit in ("Y", "M", "D", "h", "m", "s", "ms", "us"):
        start = last.astype(f"datetime64[{unit}]").astype("datetime64[us]").astype(np.int64)
        if low < start < high:
            return float(start)
    return low
