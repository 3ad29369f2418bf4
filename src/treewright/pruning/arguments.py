"""What several methods of pruning and selecting share: the texts of their arguments, and checks of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import wraps
from inspect import Parameter as Argument
from inspect import signature
from math import inf
from numbers import Real
from typing import Any, TypeVar, cast

from treewright.encoding.rows import encoded_rows, is_pair
from treewright.parameters import spec
from treewright.parameters.spec import Parameter
from treewright.tree import Tree
from treewright.tree.class_counts import SparseRows

ROWS = ("data", "validation")
PROVIDED = (
    "data",
    "validation",
    "growing",
    "random_state",
)  # by the fit itself, where pruning is a part of it
_T = TypeVar("_T", bound=Any)
_TEXTS = {
    "tree": ("Tree", "The tree to prune; it is not changed."),
    "path": ("PruningPath", "The trees to choose among."),
    "data": (
        "Dataset or tuple (table, target)",
        'The rows that the tree was grown from; for raising branches, for ``c="cv"`` and for folds.',
    ),
    "validation": (
        "Dataset or tuple (table, target)",
        "Held-out rows to measure the trees of the path on; they do not affect the pruning.",
    ),
    "growing": (
        "mapping",
        "The arguments of `grow` that the tree was grown with, its seed included: the trees of the folds are "
        "grown alike. Criterion and costs are those of the tree.",
    ),
    "n_folds": ("int", "The number of folds; one tree is grown for each."),
    "random_state": ("int", "The seed of the draw of the folds."),
    "rule": (
        '{"0-SE", "1-SE"}',
        "The least loss, or the smallest tree whose loss is within one standard error of it, as in CART.",
    ),
    "delta": ("float", "The probability with which the bound may fail, between 0 and 1."),
    "significance": ("float", "The significance level, between 0 and 1; smaller prunes more."),
    "confidence": ("float", "C4.5's CF, above 0 and at most 1; smaller prunes more."),
}
_ARGUMENTS = {name: Parameter(Argument.empty, text, kind) for name, (kind, text) in _TEXTS.items()}


def method(function: _T) -> _T:
    """Decorate a method of pruning or a way to select: its rows may be tuples (table, target), and arguments
    that its docstring does not describe get the texts that methods share.
    """

    @wraps(function)
    def with_rows(subject: Any, *others: Any, **options: Any) -> Any:
        return function(subject, *others, **with_encoded_rows(subject, options))

    first = next(iter(signature(function).parameters))
    assert first in ("tree", "path"), first
    return cast(_T, spec.documented(with_rows, _ARGUMENTS))


def with_encoded_rows(subject: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a method, with Datasets for tuples (table, target); `subject` is a tree or a path."""
    tree: Tree = getattr(subject, "full_tree", subject)
    given = {name: options[name] for name in ROWS if is_pair(options.get(name))}
    return {**options, **{name: encoded_rows(rows, name, tree.schema) for name, rows in given.items()}}


def check_probability(name: str, value: Any) -> None:
    """ValueError unless an argument is between 0 and 1."""
    if not isinstance(value, Real) or not 0 < float(value) < 1:
        raise ValueError(f"{name} is {value!r}; it must be between 0 and 1, such as 0.05")


def check_constant(c: Any, others: str = "") -> float:
    """The factor of a penalty; ValueError unless it is a number >= 0."""
    try:
        constant = float(c)
    except (TypeError, ValueError):
        constant = -1.0
    if not 0 <= constant < inf:
        raise ValueError(f"c is {c!r}; it must be a number >= 0{others}")
    return constant


def check_classes(tree: Tree, purpose: str, *, one_target: bool = False) -> None:
    """ValueError unless a tree predicts classes, and where needed those of one target."""
    what = "the classes of one target" if one_target else "classes"
    if not tree.schema.predicts_classes:
        raise ValueError(f"{purpose}; it is for trees that predict {what}, and this one predicts numbers")
    if one_target and len(tree.schema.targets) != 1:
        raise ValueError(f"{purpose}; it is for trees that predict {what}")


def refuse_many_classes(tree: Tree, name: str) -> None:
    """ValueError for so many classes that the tree keeps only those that occur at a node."""
    if isinstance(tree.statistic, SparseRows):
        raise ValueError(f"{name} supports up to 256 classes; the tree has {tree.schema.width}")
