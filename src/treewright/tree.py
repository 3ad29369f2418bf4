"""The central value: a binary tree as frozen arrays in preorder."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.checking import check
from treewright.encoding import Dataset, encode
from treewright.schema import Schema
from treewright.writing import Among, Below, Branch, Leaf, flatten

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Tree:
    """A binary tree as arrays in preorder.

    left(i) = i + 1      right(i) = end[i + 1]      i is a leaf  ⇔  end[i] = i + 1

    Rows that pass a node's test go left. A subtree is a slice, and bottom-up is a reverse loop. The arrays
    are read-only; a change is a new tree.

    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"]))
    >>> tree.root.test
    Below(column='x', threshold=2.5)
    >>> tree.predict({"x": [0.0, 9.0]}).tolist()
    ['a', 'b']
    """

    end: Ints  # one past the subtree at i: the whole shape
    feature: Ints  # column tested at i; -1 at a leaf
    threshold: Floats  # number: value <= threshold goes left; nan otherwise
    subset: NDArray[np.int64]  # category: first byte of its bits in `subsets`; -1 otherwise
    missing_left: NDArray[np.bool_]  # where a missing value goes
    step: Ints  # when i was split, best first; -1 at a leaf
    rows: NDArray[np.int64]  # training rows at i
    statistic: Floats  # (n, width): weight per class; or weight, value, deviation per target
    schema: Schema
    criterion: str
    subsets: NDArray[np.uint8] = field(
        default_factory=lambda: np.zeros(0, np.uint8)
    )  # bits of the categories that go left

    def __post_init__(self) -> None:
        for name in _ARRAYS:
            array = getattr(self, name).view()  # the caller's own array stays writeable
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    # ---- shape -------------------------------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.end)

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return (self.n_nodes + 1) // 2

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Whether each node is a leaf."""
        return self.feature < 0

    @cached_property
    def left(self) -> Ints:
        """The left child of each node, -1 at a leaf."""
        return np.where(self.is_leaf, -1, np.arange(1, self.n_nodes + 1)).astype(np.int32)

    @cached_property
    def right(self) -> Ints:
        """The right child of each node, -1 at a leaf."""
        return np.where(self.is_leaf, -1, self.end[np.minimum(self.left, self.n_nodes - 1)]).astype(np.int32)

    @cached_property
    def parent(self) -> Ints:
        """The parent of each node, -1 at the root."""
        parent = np.full(self.n_nodes, -1, np.int32)
        inner = np.flatnonzero(~self.is_leaf)
        parent[self.left[inner]] = inner
        parent[self.right[inner]] = inner
        return parent

    @cached_property
    def depths(self) -> Ints:
        """How far each node is from the root."""
        # A node opens one level and the end of its subtree closes it: depth is a running sum.
        level = np.zeros(self.n_nodes + 1, np.int64)
        level[1:] += 1
        np.subtract.at(level, self.end, 1)
        level[self.n_nodes] = 0
        return np.cumsum(level[: self.n_nodes]).astype(np.int32)

    @property
    def depth(self) -> int:
        """The depth of the deepest leaf; 0 for a single leaf."""
        return int(self.depths.max())

    # ---- what the statistic tells ------------------------------------------------------------------

    @cached_property
    def _blocks(self) -> list[Floats]:
        """The statistic of each target."""
        borders = np.cumsum(self.schema.block_widths)[:-1]
        return np.split(self.statistic, borders, axis=1)

    @cached_property
    def weight(self) -> Floats:
        """The weight of the training rows at each node."""
        first = self._blocks[0]
        return first.sum(axis=1) if self.schema.predicts_classes else first[:, 0].copy()

    @cached_property
    def risk(self) -> Floats:
        """Weight × impurity of each node by the tree's criterion, averaged over the targets."""
        if self.schema.predicts_classes:
            risks = [_core.risk(self.criterion, np.ascontiguousarray(block)) for block in self._blocks]
        else:
            risks = [block[:, 2] for block in self._blocks]
        return np.asarray(np.mean(risks, axis=0))

    @cached_property
    def gain(self) -> Floats:
        """The drop of risk at each split; 0 at a leaf."""
        gain = np.zeros(self.n_nodes)
        inner = ~self.is_leaf
        children = self.risk[self.left[inner]] + self.risk[self.right[inner]]
        gain[inner] = np.maximum(self.risk[inner] - children, 0.0)
        return gain

    @cached_property
    def proportions(self) -> list[Floats]:
        """The share of each class at each node, a matrix for each target."""
        return [block / block.sum(axis=1, keepdims=True) for block in self._blocks]

    @cached_property
    def label(self) -> NDArray[np.int64]:
        """The code of the heaviest class at each node, for each target; the first among equals."""
        return np.stack([block.argmax(axis=1) for block in self._blocks], axis=1)

    @cached_property
    def value(self) -> Floats:
        """The number predicted at each node, for each target."""
        return np.stack([block[:, 1] for block in self._blocks], axis=1)

    # ---- rows --------------------------------------------------------------------------------------

    @cached_property
    def _heavier_left(self) -> NDArray[np.bool_]:
        heavier = np.zeros(self.n_nodes, np.bool_)
        inner = ~self.is_leaf
        heavier[inner] = self.weight[self.left[inner]] >= self.weight[self.right[inner]]
        return heavier

    def apply(self, data: Dataset, *, n_threads: int = 1) -> Ints:
        """The leaf of each row of a table that was encoded with the tree's schema."""
        self._check_columns(data)
        return _core.apply(
            data.columns,
            self.end,
            self.feature,
            self.threshold,
            self.subset,
            self.missing_left,
            self._heavier_left,
            self.subsets,
            n_threads,
        )

    def _check_columns(self, data: Dataset) -> None:
        if data.schema is not self.schema and data.schema.columns != self.schema.columns:
            raise ValueError("the table's columns are not the tree's; encode it with schema=tree.schema")

    def predict(self, table: Any) -> NDArray[Any]:
        """Classes or numbers for the rows of a table; one column per target where there are several."""
        leaf = self.apply(encode(table, schema=self.schema))
        if not self.schema.predicts_classes:
            answers = self.value[leaf]
        else:
            names = [_as_array(target.classes or ()) for target in self.schema.targets]
            columns = [name[self.label[leaf, i]] for i, name in enumerate(names)]
            answers = np.stack(columns, axis=1)
        return answers[:, 0] if len(self.schema.targets) == 1 else answers

    def predict_proba(self, table: Any) -> Floats | list[Floats]:
        """The share of each class in the leaf of each row; a list where there are several targets."""
        if not self.schema.predicts_classes:
            raise ValueError("this tree predicts numbers; probabilities are for classes")
        leaf = self.apply(encode(table, schema=self.schema))
        shares = [proportions[leaf] for proportions in self.proportions]
        return shares[0] if len(shares) == 1 else shares

    def statistic_of(self, data: Dataset) -> Floats:
        """The statistic of other rows at each node, of the same shape as `statistic`.

        For numbers the value is the mean and the deviation Σ w·(y − mean)² of the rows that arrive, whatever
        the criterion; nodes without rows have weight 0.
        """
        leaf = self.apply(data)
        weight = np.ones(data.n_rows) if data.weight is None else data.weight
        if data.targets is None:
            raise ValueError("data has no target; encode the table with target=")
        if [target.classes for target in data.schema.targets] != [
            target.classes for target in self.schema.targets
        ]:
            raise ValueError("the table's targets are not the tree's; encode it with schema=tree.schema")
        blocks = []
        for i, (target, codes) in enumerate(zip(self.schema.targets, data.targets, strict=True)):
            if target.classes is None:
                blocks.append(self._moments(leaf, weight, codes, self.value[:, i]))
            else:
                sums = np.zeros((self.n_nodes, len(target.classes)))
                np.add.at(sums, (leaf, codes), weight)
                blocks.append(self._summed_up(sums))
        return np.concatenate(blocks, axis=1)

    def _moments(self, leaf: Ints, weight: Floats, numbers: Floats, value: Floats) -> Floats:
        """(weight, mean, squared deviation) at each node: about each leaf's value, so that an offset of y
        costs no digits; then parents join their children, a level at a time.
        """
        shift = numbers - value[leaf]
        sums = np.zeros((self.n_nodes, 3))
        for power in range(3):
            np.add.at(sums[:, power], leaf, weight * shift**power)
        mean = np.divide(sums[:, 1], sums[:, 0], out=np.zeros(self.n_nodes), where=sums[:, 0] > 0)
        centre = value[0]
        deviation = np.maximum(sums[:, 2] - sums[:, 0] * mean**2, 0.0)
        out = np.stack([sums[:, 0], value - centre + mean, deviation], axis=1)
        inner = np.flatnonzero(~self.is_leaf)
        by_depth = inner[np.argsort(-self.depths[inner], kind="stable")]
        borders = np.flatnonzero(np.diff(self.depths[by_depth])) + 1
        for level in np.split(by_depth, borders):
            out[level] = _joined(out[self.left[level]], out[self.right[level]])
        out[:, 1] += centre
        return out

    def _summed_up(self, sums: Floats) -> Floats:
        """Leaf sums added up to every ancestor: a subtree's sum is a difference of running sums."""
        running = np.concatenate([np.zeros((1, sums.shape[1])), np.cumsum(sums, axis=0)])
        return np.asarray(running[self.end] - running[:-1])

    def curve(self, data: Dataset) -> Floats:
        """The mean loss on `data` after 0, 1, 2, … splits: the overfitting curve, in one pass.

        Misclassified share for classes, mean squared error for numbers, averaged over the targets.

        >>> from treewright import encode, grow
        >>> data = encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "b", "a", "a"])
        >>> print(grow(data).curve(data))
        [0.25 0.25 0.  ]
        """
        arrived = self.statistic_of(data)
        losses = np.zeros(self.n_nodes)
        start = 0
        for i, width in enumerate(self.schema.block_widths):
            block = arrived[:, start : start + width]
            start += width
            if self.schema.predicts_classes:
                losses += block.sum(axis=1) - block[np.arange(self.n_nodes), self.label[:, i]]
            else:
                losses += block[:, 2] + block[:, 0] * (block[:, 1] - self.value[:, i]) ** 2
        change = np.zeros(self.n_nodes)
        inner = np.flatnonzero(~self.is_leaf)
        change[inner] = losses[self.left[inner]] + losses[self.right[inner]] - losses[inner]
        order = inner[np.argsort(self.step[inner], kind="stable")]
        total = np.concatenate([[losses[0]], change[order]]).cumsum()
        weight = data.n_rows if data.weight is None else data.weight.sum()
        return np.asarray(np.maximum(total, 0.0) / weight / len(self.schema.targets))

    # ---- surgery -----------------------------------------------------------------------------------

    def collapse(self, nodes: Iterable[int]) -> Tree:
        """A new tree in which the given nodes are leaves.

        >>> from treewright import encode, grow
        >>> tree = grow(encode({"x": [1.0, 2.0, 3.0]}, ["a", "b", "a"]))
        >>> tree.n_leaves, tree.collapse([0]).n_leaves
        (3, 1)
        """
        chosen = np.array([operator.index(node) for node in nodes], np.int64)
        if chosen.size and not ((chosen >= 0) & (chosen < self.n_nodes)).all():
            raise IndexError(f"the tree has nodes 0 … {self.n_nodes - 1}; got {chosen.tolist()}")
        # A node is dropped when it lies strictly inside a chosen subtree: count the openings and closings.
        inside = np.zeros(self.n_nodes + 1, np.int64)
        np.add.at(inside, np.minimum(chosen + 1, self.n_nodes), 1)
        np.subtract.at(inside, self.end[chosen], 1)
        kept = np.cumsum(inside[:-1]) == 0
        becomes_leaf = np.zeros(self.n_nodes, np.bool_)
        becomes_leaf[chosen] = True
        leaf = (becomes_leaf | self.is_leaf)[kept]
        position = np.concatenate([[0], np.cumsum(kept)])
        end = position[self.end][kept]
        subset, subsets = self._repacked(np.where(leaf, -1, self.subset[kept]), self.feature[kept])
        return replace(
            self,
            end=end.astype(np.int32),
            feature=np.where(leaf, -1, self.feature[kept]).astype(np.int32),
            threshold=np.where(leaf, np.nan, self.threshold[kept]),
            subset=subset,
            subsets=subsets,
            missing_left=self.missing_left[kept] & ~leaf,
            step=np.where(leaf, -1, self.step[kept]).astype(np.int32),
            rows=self.rows[kept],
            statistic=self.statistic[kept],
        )

    def _repacked(
        self, subset: NDArray[np.int64], feature: Ints
    ) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """The bits of the given nodes' subsets, one after the other, and where each begins."""
        lengths = np.where(subset >= 0, np.array(self.schema.subset_sizes)[feature], 0)
        parts = [
            self.subsets[start : start + n] for start, n in zip(subset, lengths, strict=True) if start >= 0
        ]
        packed = np.concatenate(parts) if parts else np.zeros(0, np.uint8)
        return np.where(subset >= 0, np.cumsum(lengths) - lengths, -1), packed

    def first(self, n_splits: int) -> Tree:
        """The tree after the first `n_splits` splits of the best-first algorithm."""
        order = np.sort(self.step[~self.is_leaf])
        if operator.index(n_splits) < 0:
            raise ValueError(f"n_splits is {n_splits}; it must be at least 0")
        if n_splits >= len(order):
            return self
        return self.collapse(np.flatnonzero(self.step >= order[n_splits]).tolist())

    # ---- reading and writing -----------------------------------------------------------------------

    def categories_left(self, node: int) -> tuple[Any, ...]:
        """The categories that go left at a node that tests a category."""
        categories = self.schema.columns[self.feature[node]].categories
        start = int(self.subset[node])
        bits = np.unpackbits(
            self.subsets[start : start + self.schema.subset_sizes[self.feature[node]]], bitorder="little"
        )
        return tuple(category for category, bit in zip(categories, bits, strict=False) if bit)

    def test(self, node: int) -> Below | Among | None:
        """The test at a node; None at a leaf."""
        if self.feature[node] < 0:
            return None
        name = self.schema.columns[self.feature[node]].name
        if self.subset[node] >= 0:
            return Among(name, self.categories_left(node))
        return Below(name, float(self.threshold[node]))

    @property
    def root(self) -> Node:
        """The root as a light view."""
        return Node(self, 0)

    def __iter__(self) -> Iterator[Node]:
        return (Node(self, i) for i in range(self.n_nodes))

    def __len__(self) -> int:
        return self.n_nodes

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return (
            self.schema == other.schema
            and self.criterion == other.criterion
            and all(
                np.array_equal(getattr(self, a), getattr(other, a), equal_nan=a in _FLOATS) for a in _ARRAYS
            )
        )

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        names = (*_ARRAYS, "schema", "criterion")
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def __str__(self) -> str:
        from treewright.exporting.text import render  # the one look uphill: a tree prints itself

        return render(self)

    def __repr__(self) -> str:
        return f"<Tree: {self.n_leaves} leaves, depth {self.depth}, {len(self.schema.columns)} columns>"

    @classmethod
    def write(cls, schema: Schema, root: Branch | Leaf, *, criterion: str | None = None) -> Tree:
        """A tree written by hand.

        >>> from treewright import Below, Branch, Column, Leaf, Schema, Target, Tree
        >>> schema = Schema((Column("age"),), (Target("loan", ("no", "yes")),))
        >>> tree = Tree.write(schema, Branch(Below("age", 30), Leaf([8, 2]), Leaf([1, 9])))
        >>> tree.predict({"age": [25.0, 45.0]}).tolist()
        ['no', 'yes']
        """
        default = "gini" if schema.predicts_classes else "squared_error"
        tree = cls(**flatten(schema, root), schema=schema, criterion=criterion or default)
        tree.check()
        return tree

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tree to a file, from which `treewright.load` makes an equal tree."""
        from treewright.saving import save  # uphill as well: a tree saves itself

        save(self, path)

    def check(self) -> None:
        """Raise ValueError unless every invariant of a tree holds."""
        check(self)


@dataclass(frozen=True)
class Node:
    """A view of one node; nothing is copied."""

    tree: Tree
    index: int

    @property
    def is_leaf(self) -> bool:
        """Whether the node is a leaf."""
        return bool(self.tree.is_leaf[self.index])

    @property
    def test(self) -> Below | Among | None:
        """The node's test; None at a leaf."""
        return self.tree.test(self.index)

    @property
    def left(self) -> Node:
        """The child of the rows that pass the test."""
        return self._child(self.tree.left)

    @property
    def right(self) -> Node:
        """The child of the other rows."""
        return self._child(self.tree.right)

    def _child(self, children: Ints) -> Node:
        if self.is_leaf:
            raise ValueError(f"node {self.index} is a leaf and has no children")
        return Node(self.tree, int(children[self.index]))

    @property
    def statistic(self) -> Floats:
        """The node's statistic."""
        return np.asarray(self.tree.statistic[self.index])

    def __repr__(self) -> str:
        return f"<Node {self.index}: {self.test or 'leaf'}, {int(self.tree.rows[self.index])} rows>"


_WIDEST_TEXTS = 10**7  # characters of an array in which every class is as wide as the longest
_FLOATS = ("threshold", "statistic")
_ARRAYS = ("end", "feature", "threshold", "subset", "missing_left", "step", "rows", "statistic", "subsets")


def _joined(a: Floats, b: Floats) -> Floats:
    """(weight, mean, squared deviation) of pairs of samples taken together."""
    weight = a[:, 0] + b[:, 0]
    share = np.divide(b[:, 0], weight, out=np.zeros_like(weight), where=weight > 0)
    distance = b[:, 1] - a[:, 1]
    return np.stack(
        [weight, a[:, 1] + distance * share, a[:, 2] + b[:, 2] + distance**2 * a[:, 0] * share], axis=1
    )


def _as_array(classes: tuple[Any, ...]) -> NDArray[Any]:
    """Class names as an array that keeps them and their type; objects where numpy would change them."""
    if isinstance(classes[0], str) and max(map(len, classes)) * len(classes) > _WIDEST_TEXTS:
        return np.array(classes, object)
    array = np.array(classes)
    kept = array.tolist()
    return array if kept == list(classes) and type(kept[0]) is type(classes[0]) else np.array(classes, object)
