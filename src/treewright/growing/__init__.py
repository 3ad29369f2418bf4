"""Growing a tree: the door to the growers of the core, and what users may ask of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

from treewright import _core
from treewright.encoding import Dataset
from treewright.encoding.schema import Missing, Schema
from treewright.growing.constraints import ByColumn, Constraints, Groups, check_compatible
from treewright.growing.forced_splits import grow_from_root
from treewright.growing.limits import (
    as_whole,
    checked_level,
    core_limits,
    n_threads,
    non_negative,
    split_budget,
    whole_number,
)
from treewright.growing.memory import check_memory, memory_needed
from treewright.growing.model_trees import check_linear_leaves, fit_linear_leaves
from treewright.growing.targets import Scale, check_rows, checked_criterion, criteria, targets_for
from treewright.growing.thresholds import Threshold, constrained_tree_from_core, tree_from_core
from treewright.tree import Tree
from treewright.tree.conditions import Among, Below
from treewright.tree.costs import CostSplit, check_cost_split, with_costs, with_emphasis

__all__ = ["as_whole", "criteria", "grow", "n_threads", "non_negative", "split_budget", "whole_number"]

_LEAST_COUNTED = 1024  # rows of a stump whose bins are counted; below, its columns are ordered
_CHOICES = {
    "splitter": ("best", "random"),
    "threshold": ("readable", "midpoint"),
    "leaf": ("constant", "linear"),
    "split": ("axis", "oblique"),
    "selection": ("gain", "test"),
    "category_gain": ("corrected", "plain"),
}


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
    category_gain: Literal["corrected", "plain"] = "corrected",
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
    category_gain : {"corrected", "plain"}
        Whether what the best subset of a column's categories would gain by chance, if the column were
        independent of the target, is taken off its gain before columns compete, nodes compete to be split
        next, and `min_gain` is asked for; a subset must then gain 1.35 times as much as chance. So an id or a
        column of thousands of names does not win by memorising rows. The subset itself stays the best one;
        numbers and columns of two categories are not touched. "plain" compares gains as they are, as CART
        does.
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
    given = _checked(dict(locals()))
    table = data  # it keeps its bins for other trees
    if cost_matrix is not None or priors is not None:
        data = with_costs(data, cost_matrix, priors, cost_split)
    name = checked_criterion(criterion, data)
    if scale := Scale.of(data, weights_count=significance is not None or selection == "test"):
        return scale.unscale(grow(**scale.scale_options(given, name)))
    if leaf == "linear":
        check_linear_leaves(name, data, missing, monotonic_cst)
        return fit_linear_leaves(grow(**given | {"leaf": "constant"}), data)
    if root is not None:
        return grow_from_root(as_whole(data), root, grow, _below_root(given, name))
    asked = missing, n_surrogates, monotonic_cst, interaction_cst, feature_costs, max_features_used
    ruled = replace(Constraints.of(data.schema, *asked), **(_rules or {}))
    check_compatible(ruled, data, name, splitter=splitter, selection=selection, split=split)
    weighed = with_emphasis(data)
    task: dict[str, Any] = {
        **targets_for(weighed, name),
        **core_limits(given, weighed),
        "criterion": name,
        "n_threads": n_threads(n_jobs),
        "progress": progress,
    }
    check_memory(memory_needed(data, criterion=name, n_leaves=1, n_threads=task["n_threads"]))
    if ruled.need_constrained_grower:
        cases = None if weighed is data else data.row_weights  # surrogates are judged by the rows as they are
        grown = _core.grow_carefully(**task, **ruled.core_arguments, case_weight=cases)
        tree = constrained_tree_from_core(grown, data, name, threshold, missing)
    else:
        task |= {"small_rows": _small_rows, "random_splits": splitter == "random"}
        task |= _combining(split, max_combined, data.schema)
        fast = _tested(weighed, task, significance) if selection == "test" else _fast(table, task)
        tree = tree_from_core(fast, data, name, threshold, missing)
    return tree if weighed is data else tree.restated(data)  # the splits are chosen; the rows weigh as before


def _checked(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `grow`, once it is known that each choice is one of those that there are."""
    check_rows(given["data"])
    check_cost_split(given["cost_split"])
    for name, known in _CHOICES.items():
        if given[name] not in known:
            raise ValueError(f"{name} is {given[name]!r}; it must be {' or '.join(map(repr, known))}")
    return given


def _below_root(given: Mapping[str, Any], criterion: str) -> dict[str, Any]:
    """The options by which the parts below a given split are grown; the rows know their costs by then."""
    options = {name: value for name, value in given.items() if name not in ("data", "root")}
    budget = split_budget(given["max_leaf_nodes"], given["max_splits"])
    limits = {"criterion": criterion, "max_leaf_nodes": None, "max_splits": None if budget < 0 else budget}
    return options | limits | {"cost_matrix": None, "priors": None}


def _fast(table: Dataset, task: Mapping[str, Any]) -> _core.GrownTree:
    """What the fast engine grows; large tables by their bins, and small ones where these are there already:
    with many trees on one table they pay from the second tree on.
    """
    by_bins = table.has_bins or table.n_rows > (task["small_rows"] or _core.small_rows)
    bins, is_mixed = table.bins(task["n_threads"]) if by_bins else (None, None)
    if by_bins and task["max_depth"] == 1 and not task["small_rows"]:
        task = {**task, "small_rows": _LEAST_COUNTED}  # one look at each column: counting beats ordering
    return _core.grow(**task, bins=bins, is_mixed=is_mixed)


def _tested(data: Dataset, task: Mapping[str, Any], significance: float | None) -> Any:
    """What is grown where tests choose the columns."""
    from treewright.growing.conditional_inference import grow_by_tests

    return grow_by_tests(data, task, 0.05 if significance is None else checked_level(significance))


def _combining(split: str, most: int, schema: Schema) -> dict[str, Any]:
    """The columns that may be added up, where sums are asked for the numbers; and how many in a sum."""
    columns = schema.columns if split == "oblique" else ()
    return {
        "combined": [i for i, column in enumerate(columns) if column.is_summable],
        "max_combined": whole_number("max_combined", most, 2),
    }
