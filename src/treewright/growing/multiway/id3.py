"""ID3: the column of the largest gain, one branch for each of its values, and never the same column again.

Quinlan's algorithm, as Shalev-Shwartz and Ben-David tell it for columns of yes and no and for any concave
measure of a node's mixture. A node of one class is a leaf; so is one without a column left, which answers by
majority. A value that no row of the node has leads to a leaf without rows, which answers as the node itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.encoding import Dataset
from treewright.growing.multiway.chains import Knot, Split, grown
from treewright.tree import Tree

Floats = NDArray[np.float64]
GAINS = ("entropy", "gini", "error")
_SAME = 1e-12  # gains that differ by this share of the risk are equal but for rounding


def grow_id3(data: Dataset, *, criterion: str = "entropy", max_depth: int | None = None) -> Tree:
    """Grow ID3's tree.

    Parameters
    ----------
    data : Dataset
        Columns of categories, and the classes of one target. A missing value is a value of its own.
    criterion : {"entropy", "gini", "error"}
        The gain: of information, of the Gini index, or of training error.
    max_depth : int, optional
        The most decisions on the way to a leaf.

    Notes
    -----
    A column that has a single value in a node is passed over there: it could only repeat the node. Of equal
    gains the first column wins. A gain of 0 is no reason to stop: two columns may tell together what neither
    tells alone.

    Examples
    --------
    >>> from treewright import encode
    >>> table = {"a": ["no", "no", "yes", "yes"], "b": ["no", "yes", "no", "yes"]}
    >>> print(grow_id3(encode(table, [0, 1, 1, 0])))
    4 rows
    ├─ a = no
    │  ├─ b = no    0   1 row   100 %
    │  └─ b = yes   1   1 row   100 %
    └─ a = yes
       ├─ b = no    1   1 row   100 %
       └─ b = yes   0   1 row   100 %
    """
    check_branching(data, "ID3")
    for column in data.schema.columns:
        if column.kind != "category":
            raise ValueError(
                f"column {column.name!r} is a {column.kind}; ID3 splits categories: encode it with "
                f"kinds={{{column.name!r}: 'category'}}, or cut it into ranges first"
            )
    if criterion not in GAINS:
        raise ValueError(f"criterion is {criterion!r}; ID3's are {', '.join(GAINS)}")

    def find(knot: Knot) -> Split | None:
        if np.count_nonzero(knot.statistic) < 2 or knot.level == max_depth:
            return None
        return _best(data, knot, criterion)

    return grown(data, criterion, find)


def check_branching(data: Dataset, name: str) -> None:
    """The rows of a tree with many branches have the classes of one target, not too many."""
    if data.targets is None or not data.schema.predicts_classes or len(data.schema.targets) != 1:
        raise ValueError(f"{name} predicts the classes of one target")
    data.refuse_unknown_classes("data")
    if data.schema.is_wide:
        raise ValueError(f"{name} is for up to 256 classes; the target has {data.schema.width}")


def _best(data: Dataset, knot: Knot, criterion: str) -> Split | None:
    """The split of the largest gain among the columns that are not used above and have several values."""
    best, column, table = -np.inf, -1, np.zeros((0, 0))
    risk = float(_core.risk(criterion, knot.statistic[np.newaxis])[0])
    for candidate in range(data.n_columns):
        if candidate in knot.used:
            continue
        counts = value_counts(data, knot.rows, candidate)
        if np.count_nonzero(counts.any(axis=1)) < 2:
            continue
        gain = risk - float(_core.risk(criterion, counts).sum())
        if gain > best + _SAME * risk:
            best, column, table = gain, candidate, counts
    return None if column < 0 else _branches(column, table)


def value_counts(data: Dataset, rows: NDArray[np.int64], column: int) -> Floats:
    """The weight of each class by the values of a category; the last line is that of missing values."""
    assert data.targets is not None
    codes, width = data.column(column, rows), data.schema.width
    n = data.schema.category_counts[column] + 1
    place = np.where(codes < 0, n - 1, codes).astype(np.int64) * width + data.targets[0][rows]
    return np.bincount(place, data.row_weights[rows], n * width).reshape(n, width).astype(np.float64)


def _branches(column: int, table: Floats) -> Split:
    """One branch for each value that there is, one for all those that are not here, one for missing ones."""
    present = table[:-1].any(axis=1)
    groups = [np.array([code]) for code in np.flatnonzero(present)]
    absent = np.flatnonzero(~present)
    if absent.size:
        groups.append(absent)
    if table[-1].any():
        groups.append(np.zeros(0, np.int64))
        return Split(column, tuple(groups), missing=len(groups) - 1)
    return Split(column, tuple(groups))
