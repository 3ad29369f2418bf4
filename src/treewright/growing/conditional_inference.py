"""Conditional inference trees: the column of a split is chosen by tests of independence.

Hothorn, Hornik and Zeileis (2006), "Unbiased recursive partitioning". A search for the largest gain over all
columns prefers columns with many values, which offer more splits. Here each column is tested first, whatever
its number of values, and only the column with the smallest p-value is searched for its best split. A node
without a significant column stays a leaf.

The tests are those of Strasser and Weber (1999): under independence all permutations of the targets are
equally likely. The statistic is the quadratic form of Σ g(x) h(y) about its mean, where g and h are the
number itself or one indicator for each category or class; by the central limit theorem it has a χ²
distribution. For each pair of kinds it is (n - 1) times a share of explained variation:

    number and number       the squared correlation          1 degree of freedom
    number and classes      between the classes, of all      classes - 1
    category and number     between the categories, of all   categories - 1
    category and classes    Pearson's χ² / n                 (categories - 1) (classes - 1)

Weights count as numbers of rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import frexp, ldexp, log
from typing import Any

import numpy as np

from treewright import _core
from treewright._arrays import Array, Flags, Floats, Ints
from treewright.encoding import Dataset
from treewright.encoding.rows import takes_rows
from treewright.tree.builder import best_first, preorder, subtree_ends
from treewright.tree.class_counts import SparseRows
from treewright.tree.conditions import pack_subsets, stored_test

_SMALLEST = 1e-290  # smaller p-values are computed as logarithms
_FRACTIONS = 300  # terms of the continued fraction, which converges long before


def two_sample_p_values(left: Floats, right: Floats) -> Floats:
    """The p-value of Pearson's χ² test for each pair of rows of class weights; 1 where there is only one
    class or one side is empty.
    """
    from scipy.special import chdtrc

    both = left + right
    total = both.sum(axis=1)
    on_left, on_right = left.sum(axis=1), right.sum(axis=1)
    # The surplus of a class on the left is its deficit on the right, so that χ² is
    # Σ (O − E)² (1/E_left + 1/E_right), where 1/E_left + 1/E_right = total² / (class · left · right).
    surplus = left - both * (on_left / total)[:, np.newaxis]
    per_class = np.divide(surplus**2, both, out=np.zeros_like(both), where=both > 0)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        statistic = per_class.sum(axis=1) * (total / on_left) * (total / on_right)
    freedom = (both > 0).sum(axis=1) - 1
    is_defined = (freedom > 0) & (on_left > 0) & (on_right > 0)
    return np.where(is_defined, chdtrc(np.maximum(freedom, 1), statistic), 1.0)


def pearson(table: Floats) -> tuple[float, int]:
    """Pearson's χ² of a table of weights and its degrees of freedom; empty rows and columns are ignored.

    >>> pearson(np.array([[10.0, 20.0, 0.0], [30.0, 5.0, 0.0], [0.0, 0.0, 0.0]]))
    (18.726190476190474, 1)
    """
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    if min(table.shape) < 2:
        return 0.0, 0
    table, order = _near_one(table)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    statistic = float(np.ldexp(((table - expected) ** 2 / expected).sum(), order))
    return statistic, (table.shape[0] - 1) * (table.shape[1] - 1)


def log_p_value(statistic: float, freedom: int) -> float:
    """The logarithm of the p-value of a χ² statistic with so many degrees of freedom; 0 without any.

    >>> round(float(np.exp(log_p_value(19.345, 1))), 8), round(log_p_value(20000.0, 3), 3)
    (1.091e-05, -9995.274)
    """
    if freedom <= 0:
        return 0.0
    from scipy.special import chdtrc, gammaln

    p = float(chdtrc(freedom, statistic))
    if p > _SMALLEST:
        return float(np.log(p))
    # Lentz's continued fraction of the upper incomplete gamma function, which converges for x > a + 1
    a, x = freedom / 2, statistic / 2
    b = x + 1 - a
    c, d = 1e300, 1 / b
    h = d
    for i in range(1, _FRACTIONS):
        step = -i * (i - a)
        b += 2
        d, c = 1 / (step * d + b), b + step / c
        h *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return float(a * np.log(x) - x - gammaln(a) + np.log(h))


def association(x: Array, y: Array, weight: Floats, n_classes: int) -> tuple[float, int]:
    """The χ² statistic of the association of a column and a target, and its degrees of freedom.

    Parameters
    ----------
    x : array
        Numbers, NaN where missing; or category codes (of an integer type), negative where missing. Rows with
        missing values are ignored.
    y : array
        Numbers, or class codes where `n_classes` is not 0.
    weight : array
        The number of rows that each one counts for.
    n_classes : int
        The number of classes; 0 for numbers.

    Examples
    --------
    >>> x, y, weight = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 0, 1, 1]), np.ones(4)
    >>> statistic, freedom = association(x, y, weight, 2)
    >>> round(statistic, 4), freedom
    (2.4, 1)
    """
    is_category = x.dtype.kind == "i"
    known = (x >= 0) if is_category else ~np.isnan(x)
    if not known.all():
        x, y, weight = x[known], y[known], weight[known]
    total = float(weight.sum())
    if total <= 1:
        return 0.0, 0
    if is_category and n_classes:
        n = int(x.max(initial=0)) + 1
        table = np.bincount(x.astype(np.int64) * n_classes + y, weight, n * n_classes).reshape(n, n_classes)
        statistic, freedom = pearson(table.astype(np.float64))
        order = frexp(total)[1]  # their product would overflow where weights are huge
        return statistic * ldexp(total - 1, -order) / ldexp(total, -order), freedom
    weight, _ = _near_one(weight)
    if is_category:
        share, freedom = _between(_scaled(y), x, weight)
    elif n_classes:
        share, freedom = _between(_scaled(x), y, weight)
    else:
        share, freedom = _correlation(_scaled(x), _scaled(y), weight)
    return share * (total - 1), freedom


def _near_one(weight: Floats) -> tuple[Floats, int]:
    """Weights divided by a power of two, so that no square overflows, and its exponent."""
    order = int(np.frexp(weight.max(initial=0.0))[1])
    return np.ldexp(weight, -order), order


def _scaled(numbers: Array) -> Floats:
    """Numbers scaled to [-1, 1], so that no square overflows; infinite ones are clipped to the finite
    range.
    """
    values = np.asarray(numbers, np.float64)
    finite = values[np.isfinite(values)]
    if not finite.size:
        return np.sign(values)
    values = np.clip(values, finite.min(), finite.max())
    return np.asarray(values / (np.abs(finite).max() or 1.0))


def _between(numbers: Floats, group: Array, weight: Floats) -> tuple[float, int]:
    """The share of the variation of numbers that lies between groups, and the number of groups minus 1."""
    count = np.bincount(group, weight)
    present = int(np.count_nonzero(count))
    centred = numbers - float(weight @ numbers) / float(weight.sum())
    whole = float(weight @ centred**2)
    if present < 2 or not whole > _rounding(numbers, weight):
        return 0.0, 0
    sums = np.bincount(group, weight * centred)
    explained = np.divide(sums**2, count, out=np.zeros_like(sums), where=count > 0).sum()
    return min(float(explained) / whole, 1.0), present - 1


def _correlation(x: Floats, y: Floats, weight: Floats) -> tuple[float, int]:
    """The squared correlation, and its degrees of freedom: 1, or 0 where x or y is constant."""
    total = float(weight.sum())
    a, b = x - float(weight @ x) / total, y - float(weight @ y) / total
    in_x, in_y = float(weight @ a**2), float(weight @ b**2)
    if not (in_x > _rounding(x, weight) and in_y > _rounding(y, weight)):
        return 0.0, 0
    return min(float(weight @ (a * b)) ** 2 / in_x / in_y, 1.0), 1


def _rounding(numbers: Floats, weight: Floats) -> float:
    """The variation that rounding errors give to equal numbers."""
    return float(weight.sum()) * float(np.abs(numbers).max(initial=0.0)) ** 2 * 1e-28


@takes_rows
def log_p_values(data: Dataset, rows: Ints | None = None, columns: list[int] | None = None) -> Floats:
    """The logarithm of the adjusted p-value of each column's independence of the target.

    Bonferroni's factor is the number of columns that vary. Of several targets the smallest p-value counts,
    times the number of targets. Values above 0 are kept, so that columns still compare.

    Parameters
    ----------
    rows : array of int, optional
        The rows to test; all by default.
    columns : list of int, optional
        The columns to test; all by default.

    Returns
    -------
    array
        One number per column.

    Examples
    --------
    >>> from treewright import encode
    >>> data = encode({"x": range(8), "odd": [i % 2 for i in range(8)]}, [0, 0, 0, 0, 1, 1, 1, 1])
    >>> np.exp(log_p_values(data)).round(3).tolist()
    [0.042, 2.0]
    """
    rows = data.counted if rows is None else rows
    columns = list(range(data.n_columns)) if columns is None else columns
    weight, targets = data.row_weights[rows], data.target_array[:, rows]
    widths = data.schema.block_widths if data.schema.predicts_classes else (0,) * len(targets)
    logs, varying = np.zeros(len(columns)), 0
    for i, column in enumerate(columns):
        x = data.column(column, rows)
        found = [association(x, y, weight, width) for y, width in zip(targets, widths, strict=True)]
        varying += any(freedom > 0 for _, freedom in found)
        logs[i] = min(log_p_value(*each) for each in found)
    factor = log(max(varying, 1)) + log(len(targets))
    return np.asarray(logs + factor)


def grow_by_tests(data: Dataset, options: Mapping[str, Any], significance: float) -> dict[str, Any]:
    """The arrays that `_core.grow` returns, for a tree whose columns are chosen by tests.

    `options` are the arguments of `_core.grow`; nodes are split while the smallest adjusted p-value is at
    most `significance`.
    """
    root = _Grower(data, options, log(significance)).grow()
    return _core_arrays(data, preorder(root, lambda node: node.children))


@dataclass(eq=False)
class _Node:
    """A node of a tree that is being grown."""

    rows: Ints
    depth: int
    source: tuple[Any, int]  # a tree of the core and the number of this node in it
    stump: Any = None  # the core's tree of the node's rows and of `column` alone, with at most one split
    column: int = -1
    step: int = -1
    children: tuple[_Node, ...] = ()


class _Grower:
    def __init__(self, data: Dataset, options: Mapping[str, Any], log_level: float) -> None:
        self.data, self.log_level = data, log_level
        self.max_depth, self.max_splits = options["max_depth"], options["max_splits"]
        self.min_rows = options["min_rows_split"]
        self.n_drawn = options["max_columns"]
        self.random = np.random.default_rng(options["seed"])
        fixed = {"bins": None, "is_mixed": None, "max_columns": 0, "max_depth": -1}
        self.options = dict(options) | fixed

    def grow(self) -> _Node:
        """The root of the whole tree, grown best first."""
        rows = self.data.counted
        root = _Node(rows, 0, (self._stump(rows, 0, max_splits=0), 0))
        for step, node in enumerate(best_first(root, self._find_split, lambda node: node.children)):
            if step == self.max_splits:
                break
            node.step = step
            goes_left = self._goes_left(node)
            node.children = tuple(
                _Node(node.rows[side], node.depth + 1, (node.stump, place))
                for place, side in enumerate((goes_left, ~goes_left), 1)
            )
        return root

    def _find_split(self, node: _Node) -> float | None:
        """Find the split of a node; minus its gain, or None where the node stays a leaf."""
        targets = self.data.target_array[:, node.rows]
        is_pure = bool((targets == targets[:, :1]).all())
        if node.depth == self.max_depth or len(node.rows) < self.min_rows or is_pure:
            return None
        columns = self._drawn_columns()
        logs = log_p_values(self.data, node.rows, columns)
        for i in np.argsort(logs, kind="stable"):
            if min(logs[i], 0.0) > self.log_level:
                return None
            node.column = columns[i]
            node.stump = self._stump(node.rows, node.column, max_splits=1)
            if len(node.stump["end"]) == 3:
                return -self._gain(node.stump)
        return None

    def _drawn_columns(self) -> list[int]:
        n = self.data.n_columns
        if not self.n_drawn:
            return list(range(n))
        return sorted(self.random.permutation(n)[: self.n_drawn].tolist())

    def _stump(self, rows: Ints, column: int, max_splits: int) -> _core.GrownTree:
        """The core's tree of some rows and one column, with one split or none."""
        data, options = self.data, self.options
        targets = np.ascontiguousarray(data.target_array[:, rows])
        of_rows: dict[str, Any] = {
            "columns": (np.ascontiguousarray(data.column(column, rows)),),
            "n_categories": [data.schema.category_counts[column]],
            "labels": None if options["labels"] is None else targets,
            "numbers": None if options["numbers"] is None else targets,
            "weight": None if data.weight is None else data.weight[rows],
            "max_splits": max_splits,
            "seed": int(self.random.integers(2**31)) if options["random_splits"] else 0,
        }
        return _core.grow(**(options | of_rows))

    def _gain(self, stump: _core.GrownTree) -> float:
        schema, criterion = self.data.schema, self.options["criterion"]
        if schema.is_wide:
            rows = SparseRows(stump["end"], stump["start"], stump["column"], stump["value"], schema.width)
            risk = rows.summary(criterion, schema.block_widths).risk.sum(axis=1)
        elif schema.predicts_classes:
            blocks = np.split(stump["statistic"], np.cumsum(schema.block_widths)[:-1], axis=1)
            risks = [_core.risk(criterion, np.ascontiguousarray(block)) for block in blocks]
            risk = np.sum(risks, axis=0)
        else:
            risk = stump["statistic"][:, 2::3].sum(axis=1)
        return float(risk[0] - risk[1] - risk[2])

    def _goes_left(self, node: _Node) -> Flags:
        stump, values = node.stump, self.data.column(node.column, node.rows)
        test = stored_test(self.data.schema.columns[node.column], float(stump["low"][0]), stump["subsets"])
        return np.where(test.is_known(values), test.holds(values), bool(stump["missing_left"][0]))


def _core_arrays(data: Dataset, nodes: list[_Node]) -> dict[str, Any]:
    """The arrays of nodes in preorder, in the form that the core returns."""
    sources = [(node.stump, 0) if node.children else node.source for node in nodes]
    names = ("low", "high", "missing_left", "rows") + (() if data.schema.is_wide else ("statistic",))
    arrays: dict[str, Any] = {
        name: np.array([stump[name][place] for stump, place in sources], sources[0][0][name].dtype)
        for name in names
    }
    is_subset = [bool(node.children) and node.stump["subset"][0] >= 0 for node in nodes]
    subset, subsets = pack_subsets(
        [node.stump["subsets"].tobytes() if has else b"" for node, has in zip(nodes, is_subset, strict=True)]
    )
    arrays |= {
        "end": subtree_ends(not node.children for node in nodes),
        "feature": np.array([node.column if node.children else -1 for node in nodes], np.int32),
        "step": np.array([node.step for node in nodes], np.int32),
        "subset": subset,
        "subsets": subsets,
        "directions": [],
    }
    if data.schema.is_wide:
        cells = [slice(*stump["start"][place : place + 2].tolist()) for stump, place in sources]
        arrays["start"] = np.concatenate([[0], np.cumsum([each.stop - each.start for each in cells])])
        for name in ("column", "value"):
            pieces = [stump[name][each] for (stump, _), each in zip(sources, cells, strict=True)]
            arrays[name] = np.concatenate(pieces)
    return arrays
