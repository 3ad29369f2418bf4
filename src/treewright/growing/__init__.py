"""Growing a tree: `grow`, and the way from its parameters to the growers of the core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treewright import _core
from treewright.encoding import Dataset
from treewright.encoding.rows import takes_rows
from treewright.encoding.schema import Schema
from treewright.growing.conditional_inference import grow_by_tests
from treewright.growing.constraints import Constraints, check_compatible
from treewright.growing.forced_splits import grow_from_root
from treewright.growing.limits import (
    as_whole,
    core_limits,
    core_options,
    n_features_drawn,
    n_threads,
    non_negative,
    whole_number,
)
from treewright.growing.memory import check_memory, memory_needed
from treewright.growing.model_trees import check_linear_leaves, fit_linear_leaves
from treewright.growing.targets import Scale, check_rows, checked_criterion, criteria, targets_for
from treewright.growing.thresholds import constrained_tree_from_core, tree_from_core
from treewright.parameters.spec import takes
from treewright.parameters.tree import GrowParameters
from treewright.tree import Tree
from treewright.tree.costs import with_costs, with_emphasis

__all__ = ["as_whole", "criteria", "grow", "n_features_drawn", "n_threads", "non_negative", "whole_number"]

_LEAST_COUNTED = 1024  # rows of a stump whose bins are counted; below, its columns are ordered


@takes_rows
@takes(GrowParameters)
def grow(data: Dataset, **options: Any) -> Tree:
    """Grow the exact tree: repeatedly split the leaf with the largest gain, until the limits stop it.

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
    check_rows(data)
    return _grown_tree(data, core_options(options, data))


def _grown_tree(table: Dataset, options: Mapping[str, Any]) -> Tree:
    """The tree of a table by the options that `core_options` makes."""
    data = table  # the table itself keeps its bins for other trees
    if options["cost_matrix"] is not None or options["priors"] is not None:
        data = with_costs(data, options["cost_matrix"], options["priors"], options["cost_split"])
    criterion = checked_criterion(options["criterion"], data)
    significance, by_tests = options["significance"], options["selection"] == "test"
    if scale := Scale.of(data, weights_count=significance is not None or by_tests):
        limits = scale.scale_limits(options, criterion)
        return scale.unscale(_grown_tree(scale.scale_rows(table), {**options, **limits}))
    if options["leaf"] == "linear":
        check_linear_leaves(criterion, data, options["missing"], options["monotonic_cst"])
        return fit_linear_leaves(_grown_tree(table, {**options, "leaf": "constant"}), data)
    if options["root"] is not None:  # the rows know their costs by then
        below = {**options, "root": None, "criterion": criterion, "cost_matrix": None, "priors": None}
        return grow_from_root(as_whole(data), options["root"], _grown_tree, below)
    constraints = Constraints.of_options(data.schema, options)
    check_compatible(constraints, data, criterion, options)
    weighted = with_emphasis(data)
    task: dict[str, Any] = {
        **targets_for(weighted, criterion),
        **core_limits(options, weighted),
        "criterion": criterion,
        "random_splits": options["splitter"] == "random",
        "n_threads": n_threads(options["n_jobs"]),
        "progress": options["progress"],
    }
    check_memory(memory_needed(data, criterion=criterion, n_leaves=1, n_threads=task["n_threads"]))
    described = data, criterion, options["threshold"], options["missing"]
    if constraints.need_constrained_grower:
        cases = None if weighted is data else data.row_weights  # surrogates are judged by the unchanged rows
        grown = _core.grow_constrained(**task, **constraints.core_arguments, case_weight=cases)
        tree = constrained_tree_from_core(grown, *described)
    else:
        task |= {"small_rows": options["_small_rows"], "word_rows": options["_word_rows"]}
        task |= _sums(options, data.schema)
        fast: Any = grow_by_tests(weighted, task, significance) if by_tests else _fast(table, task)
        tree = tree_from_core(fast, *described)
    return tree if weighted is data else tree.recount(data)  # only the splits are chosen by other weights


def _fast(table: Dataset, task: Mapping[str, Any]) -> _core.GrownTree:
    """The tree of the fast grower, by bins where the table is large or has them already."""
    listed = min(task["small_rows"] or _core.small_rows, task["word_rows"] or _core.word_rows)
    by_bins = table.has_bins or table.n_rows > listed
    bins, is_mixed = table.bins(task["n_threads"]) if by_bins else (None, None)
    if by_bins and task["max_depth"] == 1 and not task["small_rows"]:
        task = {**task, "small_rows": _LEAST_COUNTED}  # each column is read once: counting beats sorting
    if table.has_shared and not by_bins:
        return _core.grow(**{**task, "columns": table.shared(), "n_categories": ()}, bins=None, is_mixed=None)
    ranks = table.ranks() if table.has_ranks else None
    return _core.grow(**task, bins=bins, is_mixed=is_mixed, ranks=ranks)


def _sums(options: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """The columns that oblique splits may combine, and how many in one sum."""
    columns = schema.columns if options["split"] == "oblique" else ()
    return {
        "combined": [i for i, column in enumerate(columns) if column.is_summable],
        "max_combined": options["max_combined"],
    }
