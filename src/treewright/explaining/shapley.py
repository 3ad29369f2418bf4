"""How much each column adds to an answer: exact Shapley values."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright._json import plain
from treewright._text import aligned, escape, label_text, row_count
from treewright.encoding import Dataset
from treewright.encoding.schema import Schema
from treewright.encoding.tables import available_memory
from treewright.explaining.row import Row, is_one_row, one_row
from treewright.explaining.tables import html_table
from treewright.growing import n_threads
from treewright.tree.evaluate import given_table
from treewright.tree.missing import refuse_rows_with_missing
from treewright.tree.oblique import only_columns
from treewright.tree.shortcuts import as_tree

Floats = NDArray[np.float64]
MOST_LINES = 12  # columns that are shown


@dataclass(frozen=True)
class Output:
    """One number that a tree answers: the share of a class, or a number."""

    target: str
    label: Hashable | None = None  # the class; None where the target is a number

    def __str__(self) -> str:
        return escape(self.target) if self.label is None else label_text(self.label)


@dataclass(frozen=True, eq=False)
class ShapleyValues:
    """What each column adds to the answers for some rows, beginning from the average answer.

    ``base + values.sum(axis=1)`` is what the tree answers, for every row and output, to rounding. `print`
    shows the columns of one row, or for several rows how much each column adds or takes on average.
    """

    values: Floats  # (rows, columns, outputs); (rows, columns) where the output is one number
    base: Floats | float  # (outputs,): the answer where no column is known; a number where the output is one
    answers: Floats  # (rows, outputs); (rows,) where the output is one number
    outputs: tuple[Output, ...]
    by_background: (
        bool  # whether unknown columns took the values of other rows, or the turns of the training rows
    )
    schema: Schema = field(repr=False)
    data: Dataset = field(repr=False)  # the rows

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in the order of `values`."""
        return self.schema.names

    @property
    def _table(self) -> Floats:
        return self.values.reshape(*self.values.shape[:2], len(self.outputs))

    def importance(self) -> Floats:
        """The mean of the absolute values over the rows: (columns,) or (columns, outputs)."""
        return np.asarray(np.abs(self.values).mean(axis=0))

    def _lines(self) -> tuple[str, list[str], list[list[str]], list[str]]:
        """What is shown: a sentence, the head and the lines of a table, what is left out."""
        base, answers = np.atleast_1d(self.base), self.answers.reshape(-1, len(self.outputs))
        shown = _shown(self.outputs, answers)
        if len(self.values) == 1:
            amounts = self._table[0][:, shown]
            words = [_cell(self.data, j) if amounts[j].any() else "" for j in range(len(self.columns))]
            told = ", ".join(
                f"{self.outputs[i]}: {_number(answers[0, i])} instead of {_number(base[i])} on average"
                for i in shown
            )
            head, signed = ["column", "value", *(str(self.outputs[i]) for i in shown)], True
        else:
            amounts = np.abs(self._table[:, :, shown]).mean(axis=0)
            words = []
            told = f"{row_count(len(self.values))}: what each column adds or takes on average"
            head, signed = ["column", *(str(self.outputs[i]) for i in shown)], False
        size = np.abs(amounts).max(axis=1)
        order = [j for j in np.argsort(-size, kind="stable").tolist() if size[j] > 0]
        lines = [
            [
                escape(self.columns[j]),
                *words[j : j + 1],
                *(f"{amount:+.3g}" if signed else f"{amount:.3g}" for amount in amounts[j]),
            ]
            for j in order[:MOST_LINES]
        ]
        left = len(order) - len(lines)
        rest = [f"… {left:,} more column{'s' * (left > 1)}"] if left else []
        if not order:
            rest = ["no column adds anything: the tree answers the same everywhere"]
        return told, head, lines, rest

    def __str__(self) -> str:
        told, head, lines, rest = self._lines()
        first = 2 if len(self.values) == 1 else 1
        table = aligned([head, *lines], right=range(first, len(head))) if lines else []
        return "\n".join([told, *table, *rest])

    def _repr_html_(self) -> str:
        told, head, lines, rest = self._lines()
        first = 2 if len(self.values) == 1 else 1
        return html_table(head, lines, range(first, len(head)), [told, *rest])

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "columns": list(self.columns),
            "outputs": [plain({"target": output.target, "label": output.label}) for output in self.outputs],
            "base": plain(self.base),
            "answers": plain(self.answers),
            "values": plain(self.values),
            "by_background": self.by_background,
        }


def shapley_values(
    model: Any, rows: Any, *, background: Any = None, n_jobs: int | None = None
) -> ShapleyValues:
    """Exact Shapley values: what each column adds to the answers of a tree for some rows.

    The columns of a row become known one after the other; the answer moves from the average to that of the
    row, and a column's value is how far it moves the answer when it becomes known, averaged over all orders.
    They are computed exactly, in time (nodes of the tree) × (columns on a path) for each row, and for rows
    that pass all tests alike only once.

    Parameters
    ----------
    model : Tree or fitted estimator
        The tree that answers; classes are shares, several targets come one after the other.
    rows : table, Dataset or one row
        The rows to explain, as a table that `encode` takes, or one row as `explain` takes it.
    background : table, Dataset or tuple (table, target), optional
        Rows whose values take the place of a column that is not known (interventional values). Without
        them such a column is averaged out by the weights of the training rows along the paths of the tree
        (path-dependent values).
    n_jobs : int, optional
        Threads; -1 for all cores. The result is the same to the last bit.

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
    refuse_rows_with_missing(tree, data, "rows", _FOLLOWED)
    leaves = np.flatnonzero(tree.is_leaf)
    outputs = _outputs(tree.schema)
    _check_memory(data.n_rows * data.n_columns * len(outputs) + 2 * len(leaves) * len(outputs))
    if tree.schema.predicts_classes:
        answers, blocks = np.concatenate(tree.shares(leaves), axis=1), list(tree.schema.block_widths)
    else:
        answers, blocks = tree.value[leaves], []
    place = np.cumsum(tree.is_leaf) - 1  # of a leaf among the leaves
    others = None if background is None else given_table(tree, background, "background")
    if others is not None:
        refuse_rows_with_missing(tree, others, "background", _FOLLOWED)
    if others is None:
        weight = tree.weight
        base = np.average(answers, axis=0, weights=weight[leaves])
    else:
        if not others.total_weight > 0:
            raise ValueError("background has no rows that weigh something")
        weight = others.row_weights / others.total_weight
        base = np.average(answers[place[tree.apply(others)]], axis=0, weights=weight)
    values = _core.attribute(
        columns=data.columns,
        end=tree.end,
        feature=tree.feature,
        threshold=tree.threshold,
        subset=tree.subset,
        missing_left=tree.missing_left,
        heavier_left=tree.heavier_left,
        subsets=tree.subsets,
        weight=np.ascontiguousarray(weight),
        answers=np.ascontiguousarray(answers - base),  # far from zero they would lose digits
        blocks=blocks,
        background=None if others is None else others.columns,
        n_threads=n_threads(n_jobs),
    )
    said = answers[place[tree.apply(data)]]
    kept: dict[str, Any] = {"schema": tree.schema, "data": data}
    if len(outputs) == 1 and not tree.schema.predicts_classes:
        return ShapleyValues(values[:, :, 0], float(base[0]), said[:, 0], outputs, others is not None, **kept)
    return ShapleyValues(values, base, said, outputs, others is not None, **kept)


_FOLLOWED = "attributions follow one test at a time; give rows without missing values in what it tests"


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


def _shown(outputs: tuple[Output, ...], answers: Floats) -> list[int]:
    """The outputs to show: all of a few; of two classes the second; of many those answered most."""
    if len(outputs) == 2 and outputs[0].label is not None and outputs[0].target == outputs[1].target:
        return [1]
    order = np.argsort(-answers.mean(axis=0), kind="stable")
    return sorted(order[:4].tolist()) if len(outputs) > 4 else list(range(len(outputs)))


def _cell(data: Dataset, j: int) -> str:
    return Row(data, {}).cell(j).words


def _number(amount: float) -> str:
    return f"{amount:.3g}"
