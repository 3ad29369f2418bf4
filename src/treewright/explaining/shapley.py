"""Exact Shapley values: how much each column contributes to a prediction."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright._display import Layout, TableResult
from treewright._json import plain
from treewright._text import escape, label_text, row_count
from treewright.encoding import Dataset
from treewright.encoding.schema import Schema
from treewright.encoding.tables import available_memory
from treewright.explaining.row import Row, is_one_row, one_row
from treewright.growing import n_threads
from treewright.parameters import documented
from treewright.plotting.explanations import plot_shapley
from treewright.tree.evaluate import given_table
from treewright.tree.missing import refuse_rows_with_missing
from treewright.tree.oblique import only_columns
from treewright.tree.shortcuts import as_tree
from treewright.tree.view import view_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
MOST_LINES = 12  # columns that are shown


@dataclass(frozen=True)
class Output:
    """One number that a tree predicts: the share of a class, or a numeric target."""

    target: str
    label: Hashable | None = None  # the class; None where the target is a number

    def __str__(self) -> str:
        return escape(self.target) if self.label is None else label_text(self.label)


@dataclass(frozen=True, eq=False)
class ShapleyValues(TableResult):
    """What each column contributes to the predictions for some rows, relative to the average prediction.

    ``base + values.sum(axis=1)`` is the prediction of the tree, for every row and output, up to rounding.
    `print` shows the columns of one row, or for several rows the mean absolute contribution of each column.
    """

    values: Floats  # (rows, columns, outputs); (rows, columns) where the output is one number
    base: Floats | float  # (outputs,): the prediction without any column; a number where the output is one
    predictions: Floats  # (rows, outputs); (rows,) where the output is one number
    outputs: tuple[Output, ...]
    by_background: bool  # interventional values (from background rows) instead of path-dependent ones
    schema: Schema = field(repr=False)
    data: Dataset = field(repr=False)  # the rows

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in the order of `values`."""
        return self.schema.names

    @property
    def _table(self) -> Floats:
        return self.values.reshape(*self.values.shape[:2], len(self.outputs))

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Plot one row as a waterfall, several as a beeswarm; options as for `treewright.plot_shapley`."""
        return plot_shapley(self, ax, **options)

    def value_words(self, column: int) -> str:
        """The value of a column in the first row, in words."""
        return Row(self.data, {}).cell(column).words

    def importance(self) -> Floats:
        """The mean of the absolute values over the rows: (columns,) or (columns, outputs)."""
        return np.asarray(np.abs(self.values).mean(axis=0))

    def _layout(self) -> Layout:
        base, predictions = np.atleast_1d(self.base), self.predictions.reshape(-1, len(self.outputs))
        shown = _printed_outputs(self.outputs, predictions)
        if len(self.values) == 1:
            amounts = self._table[0][:, shown]
            sign = "+"
            words = [self.value_words(j) if amounts[j].any() else "" for j in range(len(self.columns))]
            title = ", ".join(
                f"{self.outputs[i]}: {predictions[0, i]:.3g} instead of {base[i]:.3g} on average"
                for i in shown
            )
            head = ["column", "value", *(str(self.outputs[i]) for i in shown)]
        else:
            amounts = np.abs(self._table[:, :, shown]).mean(axis=0)
            words, sign = [], ""
            title = f"{row_count(len(self.values))}: mean absolute contribution of each column"
            head = ["column", *(str(self.outputs[i]) for i in shown)]
        size = np.abs(amounts).max(axis=1)
        order = [j for j in np.argsort(-size, kind="stable").tolist() if size[j] > 0]
        lines = [
            [escape(self.columns[j]), *words[j : j + 1], *(f"{x:{sign}.3g}" for x in amounts[j])]
            for j in order[:MOST_LINES]
        ]
        left = len(order) - len(lines)
        rest = [f"… {left:,} more column{'s' * (left > 1)}"] if left else []
        if not order:
            rest = ["no column contributes: the tree predicts the same everywhere"]
        return Layout([title], head, lines, range(len(head) - len(shown), len(head)), rest)

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values, without the rows."""
        return {
            "columns": list(self.columns),
            "outputs": [plain({"target": output.target, "label": output.label}) for output in self.outputs],
            "base": plain(self.base),
            "predictions": plain(self.predictions),
            "values": plain(self.values),
            "by_background": self.by_background,
        }


@documented
def shapley_values(
    model: Any, rows: Any, *, background: Any = None, n_jobs: int | None = None
) -> ShapleyValues:
    """Exact Shapley values: what each column contributes to the predictions of a tree.

    When the columns of a row become known one after the other, the prediction moves from the average to that
    of the row. The value of a column is the change when it becomes known, averaged over all orders.
    Values are exact and take (nodes of the tree) × (columns on a path) steps for each row; rows with the
    same result in every test are computed once.

    Parameters
    ----------
    model : Tree or fitted estimator
        The tree. For classes the outputs are their shares; the outputs of several targets are concatenated.
    rows : table, Dataset or one row
        The rows to explain, as a table that `encode` takes, or one row as `explain` takes it.
    background : table, Dataset or tuple (table, target), optional
        Rows whose values replace a column that is not known (interventional values). Without them such a
        column is averaged out by the weights of the training rows along the paths (path-dependent values).

    Returns
    -------
    ShapleyValues
        `values` of shape (rows, columns, outputs), or (rows, columns) where the tree predicts one number.

    Examples
    --------
    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1, 1, 2, 2], "z": [1, 2, 1, 2]}, [0.0, 0.0, 0.0, 4.0]))
    >>> one = shapley_values(tree, {"x": 2, "z": 2})
    >>> one.base, one.values.tolist()
    (1.0, [[1.5, 1.5]])
    >>> print(one)
    y: 4 instead of 1 on average
    column   value      y
    x        2       +1.5
    z        2       +1.5
    """
    tree = as_tree(model)
    only_columns(tree, "Shapley values are for trees that test one column at a time; see `importance`")
    data = one_row(tree, rows).data if is_one_row(rows) else given_table(tree, rows, "rows")
    refuse_rows_with_missing(tree, data, "rows", _COMPLETE_ROWS)
    leaves = np.flatnonzero(tree.is_leaf)
    outputs = _outputs(tree.schema)
    _check_memory(data.n_rows * data.n_columns * len(outputs) + 2 * len(leaves) * len(outputs))
    if tree.schema.predicts_classes:
        leaf_values, blocks = np.concatenate(tree.shares(leaves), axis=1), list(tree.schema.block_widths)
    else:
        leaf_values, blocks = tree.value[leaves], []
    place = np.cumsum(tree.is_leaf) - 1  # of a leaf among the leaves
    others = None if background is None else given_table(tree, background, "background")
    base: Any
    if others is None:
        weight = tree.weight
        base = np.average(leaf_values, axis=0, weights=weight[leaves])
    else:
        refuse_rows_with_missing(tree, others, "background", _COMPLETE_ROWS)
        if not others.total_weight > 0:
            raise ValueError("background has no row with a positive weight")
        weight = others.row_weights / others.total_weight
        base = np.average(leaf_values[place[tree.apply(others)]], axis=0, weights=weight)
    values = _core.shapley_values(
        view_of(tree),
        data.columns,
        weight=np.ascontiguousarray(weight),
        answers=np.ascontiguousarray(leaf_values - base),  # values far from zero would lose digits
        blocks=blocks,
        background=None if others is None else others.columns,
        n_threads=n_threads(n_jobs),
    )
    predictions = leaf_values[place[tree.apply(data)]]
    if len(outputs) == 1 and not tree.schema.predicts_classes:
        values, base, predictions = values[:, :, 0], float(base[0]), predictions[:, 0]
    return ShapleyValues(values, base, predictions, outputs, others is not None, tree.schema, data)


_COMPLETE_ROWS = (
    "Shapley values follow one test at a time; give rows without missing values in tested columns"
)


def _outputs(schema: Schema) -> tuple[Output, ...]:
    return tuple(
        Output(target.name, label)
        for target in schema.targets
        for label in (target.classes if target.classes is not None else (None,))
    )


def _check_memory(numbers: int) -> None:
    need, have = 8 * numbers, available_memory()
    if have is not None and need > have:
        raise MemoryError(
            f"the values of all rows, columns and classes take {need / 1e9:.1f} GB of memory, but only "
            f"{have / 1e9:.1f} GB are available; take fewer rows at a time"
        )


def _printed_outputs(outputs: tuple[Output, ...], predictions: Floats) -> list[int]:
    """The outputs to print: all of a few; of two classes the second; of many the four largest."""
    if len(outputs) == 2 and outputs[0].label is not None and outputs[0].target == outputs[1].target:
        return [1]
    order = np.argsort(-predictions.mean(axis=0), kind="stable")
    return sorted(order[:4].tolist()) if len(outputs) > 4 else list(range(len(outputs)))
