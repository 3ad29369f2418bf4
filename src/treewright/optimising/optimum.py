"""The result of a search of the best tree: the tree, its loss, and the least loss that any tree can have."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from treewright._arrays import Floats
from treewright._display import Layout, ShownTable
from treewright._json import plain
from treewright._text import amount, count, percent
from treewright.optimising.columns import ColumnLosses, losses_of_first_columns
from treewright.optimising.search import Problem
from treewright.tree import Tree

_STOPPED = {
    "time": "stopped by time_limit",
    "work": "stopped by work_limit",
    "memory": "stopped by memory_limit",
    "gap": "stopped within the gap",
    "interrupt": "interrupted",
}


@dataclass(frozen=True, eq=False, repr=False)
class Optimum(ShownTable):
    """The best tree that was found, and what is proved about all others within the same limits.

    `loss` is what the tree loses on its training rows: misclassified rows or their weight, their cost, or the
    squared error. `objective` adds the price of its leaves, and no tree has less than `bound`, nor can save
    more than the `gap` between the two.

    Attributes
    ----------
    tree : treewright.Tree
        The tree.
    stopped : str
        Why the search ended: "proved", "gap", "time", "work", "memory" or "interrupt".
    history : ndarray of shape (n_moments, 4)
        Seconds, work, objective and bound of the search whenever one of the last two had changed.

    Examples
    --------
    >>> from treewright import optimise
    >>> optimum = optimise({"x": [1, 2, 3, 4]}, ["a", "b", "b", "a"], max_depth=1)
    >>> optimum.loss, optimum.bound, optimum.is_proved
    (1.0, 1.0, True)
    """

    tree: Tree
    objective: float
    bound: float
    stopped: str
    is_smallest: bool  # whether it is proved that no tree of fewer leaves is as good
    seconds: float
    work: int
    history: Floats
    limits: Mapping[str, Any]  # the options of the search
    leaf_price: float  # in units of the loss
    _problem: Problem | None = field(default=None, repr=False)

    @property
    def loss(self) -> float:
        """The loss of the tree on its training rows."""
        return float(self.tree.loss[self.tree.is_leaf].sum())

    @property
    def gap(self) -> float:
        """What any other tree could save, at most."""
        return self.objective - self.bound

    @property
    def is_proved(self) -> bool:
        """Whether no tree within the limits is better."""
        return self.gap == 0

    @cached_property
    def first_columns(self) -> ColumnLosses:
        """For each column the least loss of a tree that tests it first; searched when it is first asked for,
        within the time limit of the search for all columns together.
        """
        if self._problem is None:
            raise ValueError("this optimum was read from a file, without its rows; call optimise again")
        return losses_of_first_columns(self._problem, self.tree, self.objective, self.bound)

    def to_dict(self) -> dict[str, Any]:
        """The numbers of the result and the limits as plain values, without the tree."""
        facts = (
            "loss",
            "objective",
            "bound",
            "gap",
            "is_proved",
            "is_smallest",
            "stopped",
            "seconds",
            "work",
        )
        own = {name: getattr(self, name) for name in facts}
        size = {"n_leaves": self.tree.n_leaves, "depth": self.tree.height}
        limits = {name: value for name, value in self.limits.items() if _is_plain(value)}
        return plain({**own, **size, "limits": limits, "history": self.history.tolist()})  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        state = "proved" if self.is_proved else f"gap {amount(self.gap)}"
        return f"<Optimum: {count(self.tree.n_leaves, 'leaf')}, loss {amount(self.loss)}, {state}>"

    def __getstate__(self) -> dict[str, Any]:
        dropped = {"_problem", "first_columns"}  # the rows are not part of the result
        options = {name: value for name, value in self.limits.items() if _is_plain(value)}
        kept = {name: value for name, value in vars(self).items() if name not in dropped}
        return kept | {"limits": options, "_problem": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    def _layout(self) -> Layout:
        return Layout([self._of_tree(), self._of_proof()])

    def _of_tree(self) -> str:
        leaves = self.tree.n_leaves
        shape = "a single leaf" if leaves == 1 else f"a tree of depth {self.tree.height}, {leaves:,} leaves"
        price = f", and {amount(self.leaf_price)} for each leaf" if self.leaf_price else ""
        return f"{shape}: {loss_text(self.tree, self.loss)}{price}"

    def _of_proof(self) -> str:
        trees, spent = f"no tree of depth {self.limits['max_depth']}", f"{self.seconds:.1f} s"
        if self.limits["max_leaf_nodes"] is not None:
            trees += f" with at most {count(self.limits['max_leaf_nodes'], 'leaf')}"
        if self.is_proved:
            also = (
                ", and none of fewer leaves is as good" if self.is_smallest and self.tree.n_leaves > 1 else ""
            )
            return f"proved: {trees} does better{also} ({spent})"
        why = _STOPPED.get(self.stopped, "stopped")
        share = percent(self.gap / self.objective)
        least, saved = (self.bound, self.gap)
        if counts_rows(self.tree) and not self.leaf_price:
            least = math.ceil(least - 1e-9)
            saved = self.objective - least
        if least <= 0:
            return f"not proved: nothing is known of other trees yet ({why} after {spent})"
        return (
            f"not proved: {trees} loses less than {amount(least)}, so that at most {amount(saved)} could be "
            f"saved (gap {share}; {why} after {spent})"
        )


def counts_rows(tree: Tree) -> bool:
    """Whether the loss of a tree is a number of rows."""
    return (
        tree.schema.predicts_classes
        and not tree.schema.has_costs
        and bool(tree.weight[0] == float(tree.rows[0]))
    )


def loss_text(tree: Tree, loss: float) -> str:
    """A loss in words.

    >>> from treewright import encode, grow
    >>> loss_text(grow(encode({"x": [1, 2]}, ["a", "b"])), 1.0)
    '1 of 2 rows wrong (50.0 %)'
    """
    weight = float(tree.weight[0])
    if not tree.schema.predicts_classes:
        return f"squared error {amount(loss)} ({amount(loss / weight)} for each row)"
    if tree.schema.has_costs:
        return f"cost {amount(loss)} ({amount(loss / weight)} for each row)"
    if counts_rows(tree):
        return f"{loss:,.0f} of {count(int(tree.rows[0]), 'row')} wrong ({percent(loss / weight)})"
    return f"{amount(loss)} of the weight {amount(weight)} wrong ({percent(loss / weight)})"


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, int | float | str)
