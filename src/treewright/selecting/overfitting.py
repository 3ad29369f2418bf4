"""The overfitting curve: the loss on training and on other rows after each split."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright._display import html_block, sentences_html
from treewright._suggestions import checked_keywords
from treewright._text import count
from treewright.encoding import Dataset
from treewright.encoding.rows import takes_rows
from treewright.exporting.notebook_html import loss_chart
from treewright.growing import grow
from treewright.plotting.axes import loss_text
from treewright.pruning.path import held_out_rows, refuse_no_rows
from treewright.pruning.traversal import Floats, Ints
from treewright.selecting.one_standard_error import SAME
from treewright.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class OverfittingCurve:
    """The mean loss of a growing tree on different rows: one number for each number of leaves."""

    tree: Tree  # the last of the sequence; tree.first(n) has n + 1 leaves
    leaves: Ints
    training: Floats
    validation: Floats | None = None
    test: Floats | None = None

    @property
    def best(self) -> int:
        """The place of the least loss on held-out rows, the first among equals."""
        held_out = self.validation if self.validation is not None else self.test
        if held_out is None:
            raise ValueError("no held-out rows were given; training rows always favour the largest tree")
        return int(np.argmax(held_out <= held_out.min() + SAME * float(np.abs(held_out).max())))

    def __repr__(self) -> str:
        return f"<OverfittingCurve: {self.leaves[0]} to {self.leaves[-1]} leaves>"

    def _repr_html_(self) -> str:
        lines = {"training": self.training, "validation": self.validation, "test": self.test}
        losses = {name: line for name, line in lines.items() if line is not None}
        held_out = self.validation if self.validation is not None else self.test
        best = None if held_out is None else self.best
        words = [f"{self.leaves[0]:,} to {self.leaves[-1]:,} leaves"]
        if held_out is not None and best is not None:
            loss = loss_text(self.tree.schema, float(held_out[best]))
            words.append(f"least on held-out rows: {loss} with {count(int(self.leaves[best]), 'leaf')}")
        return html_block(sentences_html(["; ".join(words)]), loss_chart(self.leaves, losses, best))

    @checked_keywords
    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot loss against leaves; needs matplotlib."""
        from treewright.plotting.pruning_paths import plot_overfitting_curve

        return plot_overfitting_curve(self, ax=ax)


@takes_rows
def overfitting_curve(
    data: Dataset,
    *,
    validation: Any = None,
    test: Any = None,
    tree: Tree | None = None,
    growing: Mapping[str, Any] | None = None,
) -> OverfittingCurve:
    """The loss after 0, 1, 2, … splits, best first: it falls on training rows, and rises again on others.

    Parameters
    ----------
    validation, test : Dataset or tuple (table, target), optional
        Other rows; a Dataset is encoded with the same schema.
    tree : Tree, optional
        A tree that was grown from `data` already.
    growing : mapping, optional
        Keyword arguments of `grow`.

    Examples
    --------
    >>> from treewright import encode, overfitting_curve
    >>> data = encode({"x": [1, 2, 3, 4, 5, 6]}, ["a", "a", "a", "b", "a", "b"])
    >>> others = encode({"x": [1, 3, 4, 5, 6]}, ["a", "a", "b", "b", "b"], schema=data.schema)
    >>> curve = overfitting_curve(data, validation=others)
    >>> curve.training.round(2).tolist(), curve.validation.round(2).tolist()
    ([0.33, 0.17, 0.17, 0.0], [0.6, 0.0, 0.4, 0.2])
    >>> curve.leaves[curve.best].item()
    2
    """
    refuse_no_rows(data, "data")
    others: dict[str, Dataset | None] = {"validation": validation, "test": test}
    for name, given in others.items():
        if given is None:
            continue
        others[name] = rows = held_out_rows(given, name, data.schema)
        if rows is data:
            raise ValueError(f"data and {name} are the same rows; a row grows the tree or judges it")
    if tree is None:
        tree = grow(data, **(growing or {}))
    elif growing is not None:
        raise TypeError("give a tree or how to grow one, not both")
    curves = {name: None if rows is None else tree.curve(rows) for name, rows in others.items()}
    return OverfittingCurve(tree, np.arange(1, tree.n_leaves + 1), tree.curve(data), **curves)
