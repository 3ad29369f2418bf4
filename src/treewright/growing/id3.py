"""ID3: splits by the column of the largest gain, with one branch for each value, once on each path.

Quinlan (1986), "Induction of decision trees", as presented by Shalev-Shwartz and Ben-David for binary
columns and any concave impurity. A node of one class is a leaf; so is a node without columns left, which
predicts the majority class. A value that no row of the node has leads to a leaf without rows, which
predicts what the node predicts.
"""

from __future__ import annotations

import numpy as np

from treewright import _core
from treewright._arrays import Floats, Ints
from treewright.encoding import Dataset
from treewright.encoding.rows import takes_rows
from treewright.growing.multiway import MultiwayNode, MultiwaySplit, grow_multiway
from treewright.tree import Tree

CRITERIA = ("entropy", "gini", "error")
_SAME = 1e-12  # gains that differ by less than this share of the risk are equal up to rounding


@takes_rows
def grow_id3(data: Dataset, *, criterion: str = "entropy", max_depth: int | None = None) -> Tree:
    """Grow an ID3 tree.

    Parameters
    ----------
    data : table, tuple (table, target) or (table, target, weight), or Dataset
        Columns of categories and one target of classes. A missing value is a value of its own.
    criterion : {"entropy", "gini", "error"}
        The impurity whose decrease is the gain: entropy, Gini index or training error.
    max_depth : int, optional
        The largest number of decisions on the way to a leaf.

    Notes
    -----
    Columns with a single value in a node are skipped there. Among equal gains the first column wins. A node
    is split even if the gain is 0: two columns together may separate classes that neither separates alone.

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
    check_target(data, "ID3")
    for column in data.schema.columns:
        if not column.is_category:
            raise ValueError(
                f"column {column.name!r} is a {column.kind}; ID3 splits categories: encode it with "
                f"kinds={{{column.name!r}: 'category'}}, or cut it into ranges first"
            )
    if criterion not in CRITERIA:
        raise ValueError(f"criterion is {criterion!r}; ID3's are {', '.join(CRITERIA)}")

    def find_split(node: MultiwayNode) -> MultiwaySplit | None:
        if np.count_nonzero(node.statistic) < 2 or node.level == max_depth:
            return None
        return _best_split(data, node, criterion)

    return grow_multiway(data, criterion, find_split)


def check_target(data: Dataset, name: str) -> None:
    """ValueError unless there is one target, of at most 256 classes."""
    if data.targets is None or not data.schema.predicts_classes or len(data.schema.targets) != 1:
        raise ValueError(f"{name} predicts the classes of one target")
    data.refuse_unknown_classes("data")
    if data.schema.is_wide:
        raise ValueError(f"{name} is for up to 256 classes; the target has {data.schema.width}")


def _best_split(data: Dataset, node: MultiwayNode, criterion: str) -> MultiwaySplit | None:
    """The split with the largest gain among the columns that are not tested above and have several values."""
    best, column, table = -np.inf, -1, np.zeros((0, 0))
    risk = float(_core.risk(criterion, node.statistic[np.newaxis])[0])
    for candidate in range(data.n_columns):
        if candidate in node.used:
            continue
        codes, n = data.column(candidate, node.rows), data.schema.category_counts[candidate] + 1
        counts = class_counts(data, node.rows, np.where(codes < 0, n - 1, codes).astype(np.int64), n)
        if np.count_nonzero(counts.any(axis=1)) < 2:
            continue
        gain = risk - float(_core.risk(criterion, counts).sum())
        if gain > best + _SAME * risk:
            best, column, table = gain, candidate, counts
    return None if column < 0 else _split_by_value(column, table)


def class_counts(data: Dataset, rows: Ints, value: Ints, n_values: int) -> Floats:
    """The weight of each class by value, for the given values of some rows."""
    width = data.schema.width
    cells = np.bincount(value * width + data.target_array[0][rows], data.row_weights[rows], n_values * width)
    return cells.reshape(n_values, width).astype(np.float64)


def _split_by_value(column: int, table: Floats) -> MultiwaySplit:
    """One branch for each value in the node, one for all absent values, one for missing values."""
    present = table[:-1].any(axis=1)
    groups = [np.array([code]) for code in np.flatnonzero(present)]
    absent = np.flatnonzero(~present)
    if absent.size:
        groups.append(absent)
    if table[-1].any():
        groups.append(np.zeros(0, np.int64))
        return MultiwaySplit(column, tuple(groups), missing=len(groups) - 1)
    return MultiwaySplit(column, tuple(groups))
