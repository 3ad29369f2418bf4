"""Growing by tests: the column that is least likely independent of the target is split, if unlikely enough.

Hothorn, Hornik and Zeileis (2006), "Unbiased recursive partitioning". Whoever searches all columns for the
largest gain prefers those with many values, which offer more splits to choose from. Here each column is
tested first, whatever its number of values; the search for the best split is in the column that won.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.encoding import Dataset
from treewright.growing.independence import association, log_chance
from treewright.tree.class_counts import SparseRows

Ints = NDArray[np.int64]


def column_chances(
    data: Dataset, rows: Ints | None = None, columns: list[int] | None = None
) -> NDArray[np.float64]:
    """Ln of the adjusted p-value of each column: that so much association comes by chance.

    It is above 0 where the factor of Bonferroni takes it beyond 1, so that columns still compare.

    Parameters
    ----------
    data : Dataset
        A table with its target.
    rows : array of int, optional
        The rows that count; all by default.
    columns : list of int, optional
        The columns to test; all by default.

    Returns
    -------
    array
        One number per column. Bonferroni's factor is the number of columns that vary; of several
        targets the smallest p-value counts, as many times.

    Examples
    --------
    >>> from treewright import encode
    >>> data = encode({"x": range(8), "odd": [i % 2 for i in range(8)]}, [0, 0, 0, 0, 1, 1, 1, 1])
    >>> np.exp(column_chances(data)).round(3).tolist()
    [0.042, 2.0]
    """
    assert data.targets is not None
    rows = data.counted if rows is None else rows
    columns = list(range(data.n_columns)) if columns is None else columns
    weight, targets = data.row_weights[rows], data.targets[:, rows]
    widths = data.schema.block_widths if data.schema.predicts_classes else (0,) * len(targets)
    chances, varying = np.zeros(len(columns)), 0
    for i, column in enumerate(columns):
        x = data.column(column, rows)
        found = [association(x, y, weight, width) for y, width in zip(targets, widths, strict=True)]
        varying += any(freedom > 0 for _, freedom in found)
        chances[i] = min(log_chance(*each) for each in found)
    factor = log(max(varying, 1)) + log(len(targets))
    return np.asarray(chances + factor)


@dataclass(eq=False)
class _Node:
    """A node while the tree is being grown; `split` is what the core made of its column."""

    rows: Ints
    depth: int
    told: tuple[Any, int]  # a tree of the core in which this node is the given one
    split: Any = None  # the core's tree of one split, or of none
    column: int = -1
    step: int = -1
    left: _Node | None = None
    right: _Node | None = None


class _Grower:
    def __init__(self, data: Dataset, options: Mapping[str, Any], level: float) -> None:
        self.data, self.level = data, level
        self.max_depth, self.max_splits = options["max_depth"], options["max_splits"]
        self.min_rows = options["min_rows_split"]
        self.n_drawn = options["max_columns"]
        self.random = np.random.default_rng(options["seed"])
        fixed = {"bins": None, "is_mixed": None, "max_columns": 0, "max_depth": -1}
        self.options = dict(options) | fixed

    def grown(self) -> _Node:
        """The root of the whole tree: the split with the largest gain is made first."""
        rows = self.data.counted
        root = _Node(rows, 0, (self._grow(rows, 0, max_splits=0), 0))
        heap: list[tuple[float, int, _Node]] = []
        made = offered = 0

        def offer(node: _Node) -> None:
            nonlocal offered
            gain = self._search(node)
            if gain is not None:
                heappush(heap, (-gain, offered, node))
                offered += 1

        offer(root)
        while heap and made != self.max_splits:
            node = heappop(heap)[2]
            node.step, made = made, made + 1
            goes_left = self._goes_left(node)
            node.left = _Node(node.rows[goes_left], node.depth + 1, (node.split, 1))
            node.right = _Node(node.rows[~goes_left], node.depth + 1, (node.split, 2))
            offer(node.left)
            offer(node.right)
        return root

    def _search(self, node: _Node) -> float | None:
        """Find the split of a node; its gain, or None where it stays a leaf."""
        assert self.data.targets is not None
        targets = self.data.targets[:, node.rows]
        if node.depth == self.max_depth or len(node.rows) < self.min_rows or self._is_pure(targets):
            return None
        columns = self._columns()
        chances = column_chances(self.data, node.rows, columns)
        for i in np.argsort(chances, kind="stable"):
            if min(chances[i], 0.0) > self.level:
                return None
            gain = self._split(node, columns[i])
            if gain is not None:
                return gain
        return None

    def _is_pure(self, targets: NDArray[Any]) -> bool:
        return bool((targets == targets[:, :1]).all())

    def _columns(self) -> list[int]:
        n = self.data.n_columns
        return (
            np.sort(self.random.permutation(n)[: self.n_drawn]).tolist() if self.n_drawn else list(range(n))
        )

    def _split(self, node: _Node, column: int) -> float | None:
        """The best split of one column; its gain, or None where the limits allow none."""
        node.split, node.column = self._grow(node.rows, column, max_splits=1), column
        return None if len(node.split["end"]) < 3 else self._gain(node.split)

    def _grow(self, rows: Ints, column: int, max_splits: int) -> _core.GrownTree:
        """The core's tree of some rows and one column, of one split or none."""
        data, options = self.data, self.options
        assert data.targets is not None
        targets = np.ascontiguousarray(data.targets[:, rows])
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

    def _gain(self, found: _core.GrownTree) -> float:
        schema, criterion = self.data.schema, self.options["criterion"]
        if schema.is_wide:
            rows = SparseRows(found["end"], found["start"], found["column"], found["value"], schema.width)
            risk = rows.summary(criterion, schema.block_widths).risk.sum(axis=1)
        elif schema.predicts_classes:
            blocks = np.split(found["statistic"], np.cumsum(schema.block_widths)[:-1], axis=1)
            risks = [_core.risk(criterion, np.ascontiguousarray(block)) for block in blocks]
            risk = np.sum(risks, axis=0)
        else:
            risk = found["statistic"][:, 2::3].sum(axis=1)
        return float(risk[0] - risk[1] - risk[2])

    def _goes_left(self, node: _Node) -> NDArray[np.bool_]:
        found, column = node.split, node.column
        x = self.data.column(column, node.rows)
        if found["subset"][0] < 0:
            left: NDArray[np.bool_] = x <= found["low"][0]
            return np.where(np.isnan(x), bool(found["missing_left"][0]), left)
        n = self.data.schema.category_counts[column]
        bits = np.unpackbits(found["subsets"][: (n + 7) // 8], count=n, bitorder="little").view(np.bool_)
        return np.where(x < 0, bool(found["missing_left"][0]), bits[np.maximum(x, 0)])


def grown_by_tests(data: Dataset, options: Mapping[str, Any], significance: float) -> dict[str, Any]:
    """What `_core.grow` returns, of a tree whose columns are chosen by tests.

    `options` are the arguments of `_core.grow`; nodes are split while the smallest adjusted p-value is at
    most `significance`.
    """
    root = _Grower(data, options, log(significance)).grown()
    nodes: list[_Node] = []
    todo = [root]
    while todo:
        node = todo.pop()
        nodes.append(node)
        if node.left is not None and node.right is not None:
            todo += [node.right, node.left]
    return _arrays(data, nodes)


def _arrays(data: Dataset, nodes: list[_Node]) -> dict[str, Any]:
    """The arrays of the nodes, given in preorder, as the core would have made them."""
    is_leaf = np.array([node.left is None for node in nodes])
    end = np.arange(1, len(nodes) + 1, dtype=np.int32)
    for i in range(len(nodes) - 1, -1, -1):
        if not is_leaf[i]:
            end[i] = end[end[i + 1]]
    sources = [node.told if node.left is None else (node.split, 0) for node in nodes]
    names = ("low", "high", "missing_left", "rows") + (() if data.schema.is_wide else ("statistic",))
    arrays: dict[str, Any] = {
        name: np.array([found[name][place] for found, place in sources], sources[0][0][name].dtype)
        for name in names
    }
    bits = [
        b"" if leaf or node.split["subset"][0] < 0 else node.split["subsets"].tobytes()
        for node, leaf in zip(nodes, is_leaf, strict=True)
    ]
    lengths = np.array([len(each) for each in bits])
    arrays |= {
        "end": end,
        "feature": np.array([-1 if node.left is None else node.column for node in nodes], np.int32),
        "step": np.array([node.step for node in nodes], np.int32),
        "subset": np.where(lengths > 0, np.cumsum(lengths) - lengths, -1),
        "subsets": np.frombuffer(b"".join(bits), np.uint8).copy(),
        "directions": [],
    }
    if data.schema.is_wide:
        cells = [slice(*found["start"][place : place + 2].tolist()) for found, place in sources]
        arrays["start"] = np.concatenate([[0], np.cumsum([each.stop - each.start for each in cells])])
        for name in ("column", "value"):
            parts = [found[name][each] for (found, _), each in zip(sources, cells, strict=True)]
            arrays[name] = np.concatenate(parts)
    return arrays
