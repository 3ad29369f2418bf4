"""Results of a fit: a tree of one leaf and why, a certificate that says little."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from treewright._text import amount, count, percent, quote
from treewright.advice import Advice
from treewright.advising.classes import RARER_OF_TWO
from treewright.advising.columns import MANY_CATEGORIES
from treewright.advising.naming import class_name, cost_option, drop_options
from treewright.certifying import binomial_upper
from treewright.encoding import Dataset
from treewright.metrics import Metrics
from treewright.parameters import of
from treewright.pruning import PruningPath
from treewright.tree import Tree

LEAST_ROWS = 50  # of a table from which more than one leaf is expected
_MOST_ROWS = 10_000_000  # that a certificate is computed for


def one_leaf(
    tree: Tree,
    *,
    data: Dataset | None = None,
    limits: Mapping[str, Any] | None = None,
    grown: Tree | None = None,
    path: PruningPath | None = None,
    names_cost: bool = True,
) -> list[Advice]:
    """Why a tree is a single leaf, and what to try.

    `data` are the rows that it was grown from, `limits` parameters of `grow`, `grown` is the tree before
    pruning, and `path` how it was pruned. Without `names_cost`, other advice names the cost of a rare class.
    """
    varies = float(tree.risk[0]) > 0  # otherwise there is nothing to predict
    if tree.n_leaves > 1 or not varies or int(tree.rows[0]) < LEAST_ROWS:
        return []
    full_tree = path.full_tree if grown is None and path is not None else grown or tree
    subject = f"the tree is a single leaf and answers {_answer(tree)} to every row"
    if full_tree.n_leaves > 1:
        return [_pruned_to_one_leaf(subject, tree, full_tree, path, names_cost)]
    return [_without_split(subject, int(tree.rows[0]), data, limits or {})]


def one_leaf_each(data: Dataset) -> list[Advice]:
    """Why none of the trees of an ensemble has a split, grown from `data` without limits."""
    targets = data.targets
    if targets is None or data.n_counted < LEAST_ROWS or not (targets != targets[:, :1]).any():
        return []
    return [_without_split("every tree is a single leaf", data.n_counted, data, {})]


def _answer(tree: Tree) -> str:
    labels = tree.schema.targets[0].classes
    return amount(float(tree.centre[0, 0])) if labels is None else class_name(labels[tree.label[0, 0]])


def _pruned_to_one_leaf(
    subject: str, tree: Tree, full_tree: Tree, path: PruningPath | None, names_cost: bool
) -> Advice:
    """All splits were pruned."""
    column = full_tree.tested[int(full_tree.feature[0])]
    first, drop = f"its first split was on {quote(column.name)}", None
    if column.is_category and len(column.categories) > MANY_CATEGORIES:
        first += f", a category of {len(column.categories):,} values, which may have hidden the others"
        drop = column.name
    method = None if path is None else path.method
    pruning = "the pruning" if method is None else f"{method} pruning"
    cost = _cost_of_rare(tree) if names_cost else ""
    remedies = [
        (f"X without {quote(drop)}", drop_options([drop])) if drop else None,
        ('class_weight="balanced"', cost) if cost else None,
        ('pruning="pessimistic"', "--prune pessimistic") if method != "pessimistic" else None,
        ("pruning=None", "--prune none"),
    ]
    in_python, on_command_line = (
        f"try {', '.join(words)} or other columns" for words in zip(*filter(None, remedies), strict=True)
    )
    return Advice(
        "one_leaf",
        f"{subject}: it was grown to {full_tree.n_leaves:,} leaves, which {pruning} cut back to one"
        f"{_validation_losses(path)}; {first}",
        in_python,
        on_command_line,
        drop,
    )


def _validation_losses(path: PruningPath | None) -> str:
    """The validation losses of one leaf and of the best larger tree."""
    if path is None or path.validation is None or len(path) < 2 or path.leaves[-1] != 1:
        return ""
    best = int(np.argmin(path.validation[:-1]))
    schema = path.full_tree.schema
    word = percent if schema.predicts_classes and not schema.has_costs else amount
    alone, other = (word(float(path.validation[i])) for i in (-1, best))
    what = "cost" if schema.has_costs else "error" if schema.predicts_classes else "loss"
    return f" (validation {what} {alone} with one leaf, {other} with {path.leaves[best]:,})"


def _cost_of_rare(tree: Tree) -> str:
    """The option that raises the cost of mistakes on the rarer of two classes; "" unless it is rare."""
    labels = tree.schema.targets[0].classes
    if labels is None or len(labels) != 2 or len(tree.schema.targets) > 1 or tree.schema.has_costs:
        return ""
    shares = tree.shares(np.zeros(1, np.int32))[0][0]
    rare = int(np.argmin(shares))
    if not 0 < shares[rare] < 3 * RARER_OF_TWO:
        return ""
    return cost_option(labels[rare], labels[1 - rare], float(shares[1 - rare] / shares[rare]))


def _without_split(subject: str, rows: int, data: Dataset | None, limits: Mapping[str, Any]) -> Advice:
    """Nothing was ever split: a limit forbids it, or no column is related to the target."""
    columns = "columns" if data is None else count(data.n_columns, "column")
    least = limits.get("min_samples_leaf") or 1
    for name, forbids, what, remedy in (
        ("max_depth", limits.get("max_depth") == 0, "a depth of 0", "at least 1"),
        ("max_leaf_nodes", limits.get("max_leaf_nodes") == 1, "a limit of one leaf", "at least 2"),
        (
            "min_samples_leaf",
            2 * least > rows,
            f"a minimum of {least:,} rows in a leaf",
            f"at most {rows // 2:,}",
        ),
    ):
        if forbids:
            text = f"{subject}: {what} forbids every split of {count(rows, 'row')}"
            return Advice("one_leaf", text, f"{name} must be {remedy}", f"{of(name).flag} must be {remedy}")
    for name in ("min_impurity_decrease", "significance", "min_samples_split"):
        if limits.get(name):
            text = f"{subject}: no split of the {columns} passes {name}={limits[name]:g}"
            return Advice("one_leaf", text, f"relax {name}")
    if data is not None and all(len(np.unique(data.column(j))) < 2 for j in range(data.n_columns)):
        why = f"none of the {columns} varies"
    else:
        why = f"no split of the {columns} gains anything on {count(rows, 'row')}"
    return Advice(
        "one_leaf",
        f"{subject}: {why}",
        "provide columns that are related to y, or more rows",
        "provide columns that are related to the target, or more rows",
    )


def small_test(found: Metrics, delta: float) -> list[Advice]:
    """A certificate that says little, because there are few test rows; how many would be enough."""
    if not found.is_share or found.n_rows < 1 or not found.beats_constant:
        return []
    limit = _limit(found.error, found.n_rows, delta)
    if not _says_little(limit, found):
        return []
    enough = found.n_rows
    while not _says_enough(_limit(found.error, enough, delta), found) and enough < _MOST_ROWS:
        enough = int(enough * 1.25) + 1
    enough_rows = f"about {_round_up(enough):,} test rows" if enough < _MOST_ROWS else "far more test rows"
    beside = ""
    if limit >= found.constant_error:
        always = f"always answering {found.quoted_constant}"
        beside = f", no better than the {percent(found.constant_error)} of {always}"
    return [
        Advice(
            "small_test",
            f"{count(found.n_rows, 'test row')} with {percent(found.error)} errors only bound the true error "
            f"below {percent(limit)}{beside}; {enough_rows} would be enough",
            "give certify more rows; choosing the tree by folds (select='folds') frees validation rows",
            "a larger --test-size takes them from the others, and --select folds needs no validation rows",
        )
    ]


def _limit(error: float, rows: int, delta: float) -> float:
    return float(binomial_upper(round(error * rows), rows, -np.log(delta)))


def _says_little(limit: float, found: Metrics) -> bool:
    return limit >= found.constant_error or (limit > 2 * found.error and limit > found.error + 0.05)


def _says_enough(limit: float, found: Metrics) -> bool:
    """Whether a limit is clearly below the constant prediction's error and near the tree's own."""
    is_near = limit <= 1.5 * found.error or limit <= found.error + 0.03
    return is_near and limit < (found.error + found.constant_error) / 2


def _round_up(number: int) -> int:
    """A number rounded up to two digits.

    >>> _round_up(1234)
    1300
    """
    scale = int(10 ** max(len(str(number)) - 2, 0))
    return -(-number // scale) * scale
