"""The central value: a binary tree as frozen arrays in preorder."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright._arrays import Array, Bytes, Flags, Floats, Int32s, Ints
from treewright._suggestions import checked_keywords
from treewright.encoding import Dataset, Provenance
from treewright.encoding.rows import rows_to_predict
from treewright.encoding.schema import Column, Missing, Schema
from treewright.parameters.checks import n_threads
from treewright.tree import evaluate, predict
from treewright.tree import missing as missing_values
from treewright.tree.builder import Branch, Leaf, flatten, preorder, sum_of_leaves
from treewright.tree.class_counts import SparseRows, Summary
from treewright.tree.conditions import Combination, Condition, NodeTest, StoredTest, stored_test, unpack_bits
from treewright.tree.costs import cheapest, class_risks, cost_arrays, schema_with_costs
from treewright.tree.frozen_arrays import FrozenArrays
from treewright.tree.linear_leaves import LinearAnswers
from treewright.tree.oblique import Direction, known_complete, provenance, tested_columns
from treewright.tree.shortcuts import Presented
from treewright.tree.surgery import collapsed_arrays, grafted_arrays
from treewright.tree.surrogates import Surrogates
from treewright.tree.validate import check


@dataclass(frozen=True, eq=False)
class Tree(FrozenArrays, Presented):
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

    end: Int32s  # one past the subtree at i: the whole shape
    feature: Int32s  # column tested at i; -1 at a leaf
    threshold: Floats  # number: value <= threshold goes left; nan otherwise
    subset: Ints  # category: first byte of its bits in `subsets`; -1 otherwise
    missing_left: Flags  # where a missing value goes
    step: Int32s  # when i was split, best first; -1 at a leaf
    rows: Ints  # training rows at i
    # (n, width): weight per class, compressed where they are many; or weight, value, deviation per target
    statistic: Floats | SparseRows
    schema: Schema
    criterion: str
    # bits of the categories that go left
    subsets: Bytes = field(default_factory=lambda: np.zeros(0, np.uint8))
    missing: Missing = "learn"  # how rows go on where the value that a node tests is missing
    # whether i continues the split of the node above it: with it one split into many branches
    joined: Flags = field(default_factory=lambda: np.zeros(0, np.bool_))
    surrogates: Surrogates = field(default_factory=Surrogates.none)  # tests used for missing values
    directions: tuple[Direction, ...] = ()  # sums of columns that count as columns of their own
    linear: LinearAnswers | None = None  # formulas instead of numbers as answers
    # of the rows that the statistic counts; None: not known. Trees of the same nodes are equal without it
    provenance: Provenance | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not len(self.joined):
            object.__setattr__(self, "joined", np.zeros(len(self.end), np.bool_))
        super().__post_init__()

    # ---- shape -------------------------------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.end)

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return (self.n_nodes + 1) // 2

    @property
    def n_splits(self) -> int:
        """The number of splits; a split into many branches is one."""
        return self.n_leaves - 1 - int(self.joined.sum())

    @cached_property
    def is_leaf(self) -> Flags:
        """Whether each node is a leaf."""
        return self.feature < 0

    @cached_property
    def left(self) -> Int32s:
        """The left child of each node, -1 at a leaf."""
        return np.where(self.is_leaf, -1, np.arange(1, self.n_nodes + 1)).astype(np.int32)

    @cached_property
    def right(self) -> Int32s:
        """The right child of each node, -1 at a leaf."""
        return np.where(self.is_leaf, -1, self.end[np.minimum(self.left, self.n_nodes - 1)]).astype(np.int32)

    @cached_property
    def parent(self) -> Int32s:
        """The parent of each node, -1 at the root."""
        parent = np.full(self.n_nodes, -1, np.int32)
        inner = np.flatnonzero(~self.is_leaf)
        parent[self.left[inner]] = inner
        parent[self.right[inner]] = inner
        return parent

    @cached_property
    def depths(self) -> Int32s:
        """The distance of each node from the root."""
        return _running_depth(self.end, np.ones(self.n_nodes, np.int64))

    @cached_property
    def waves(self) -> list[Ints]:
        """The branches of each depth, the deepest first: a bottom-up pass is a loop over them.

        >>> from treewright import encode, grow
        >>> tree = grow(encode({"x": [1.0, 2.0, 3.0]}, ["a", "b", "a"]))
        >>> [wave.tolist() for wave in tree.waves]
        [[2], [0]]
        """
        inner = np.flatnonzero(~self.is_leaf)
        depth = self.depths[inner]
        order = np.argsort(-depth, kind="stable")
        borders = np.flatnonzero(np.diff(depth[order])) + 1
        return [wave for wave in np.split(inner[order], borders) if wave.size]

    @cached_property
    def heads(self) -> Int32s:
        """The node at which the split of each node begins: itself, unless it continues one above."""
        heads = np.arange(self.n_nodes, dtype=np.int32)
        for node in np.flatnonzero(self.joined).tolist():
            heads[node] = heads[self.parent[node]]
        return heads

    @cached_property
    def levels(self) -> Int32s:
        """The number of splits above each node; a split into many branches is one."""
        return _running_depth(self.end, np.where(self.joined, 0, 1)) if self.joined.any() else self.depths

    @property
    def depth(self) -> int:
        """The depth of the deepest leaf; 0 for a single leaf."""
        return int(self.depths.max())

    @property
    def height(self) -> int:
        """The largest number of splits above a leaf; a split into many branches is one."""
        return int(self.levels.max())

    def branches(self, node: int) -> list[int]:
        """The children of a node from left to right; of a split into many branches all of them.

        >>> from treewright import encode, grow
        >>> tree = grow(encode({"x": [1.0, 2.0, 3.0]}, ["a", "b", "a"]))
        >>> tree.branches(0)
        [1, 2]
        """

        def parts(part: int) -> tuple[int, ...]:
            continues = self.joined[part] or (part == node and not self.is_leaf[part])
            return (int(self.left[part]), int(self.right[part])) if continues else ()

        return [part for part in preorder(node, parts) if part != node and not self.joined[part]]

    @cached_property
    def answering(self) -> Int32s:
        """The node whose rows determine each node's prediction: itself, or for a leaf without rows the one at
        which the split above it begins.
        """
        source = np.arange(self.n_nodes, dtype=np.int32)
        for node in np.flatnonzero(self.weight == 0).tolist():
            source[node] = source[self.heads[self.parent[node]]]
        return source

    # ---- what follows from the statistic -----------------------------------------------------------

    @cached_property
    def _blocks(self) -> list[Floats]:
        """The statistic of each target, where it is a table."""
        assert not isinstance(self.statistic, SparseRows)
        borders = np.cumsum(self.schema.block_widths)[:-1]
        return np.split(self.statistic, borders, axis=1)

    @property
    def _answer_blocks(self) -> list[Floats]:
        """The statistics for predictions; a leaf without rows has that of a node above."""
        return self._blocks if self.weight.all() else [block[self.answering] for block in self._blocks]

    @cached_property
    def _summary(self) -> Summary:
        """A compressed statistic in brief."""
        assert isinstance(self.statistic, SparseRows)
        return self.statistic.summary(self.criterion, self.schema.block_widths)

    @cached_property
    def weight(self) -> Floats:
        """The weight of the training rows at each node."""
        if isinstance(self.statistic, SparseRows):
            return self._summary.weight[:, 0].copy()
        first = self._blocks[0]
        return first.sum(axis=1) if self.schema.predicts_classes else first[:, 0].copy()

    @cached_property
    def risk(self) -> Floats:
        """Weight × impurity of each node by the tree's criterion, averaged over the targets.

        With costs or priors it is the risk by which splits are chosen, with the `emphasis` and the `stakes`
        of the target.
        """
        if isinstance(self.statistic, SparseRows):
            risks = list(self._summary.risk.T)
        elif self.schema.predicts_classes:
            parts = zip(self._blocks, self.schema.targets, strict=True)
            risks = [class_risks(self.criterion, block, target) for block, target in parts]
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
        """The share of each class at each node, a matrix for each target; `shares` is for some nodes."""
        if isinstance(self.statistic, SparseRows):
            return self.shares(np.arange(self.n_nodes))
        return [block / block.sum(axis=1, keepdims=True) for block in self._answer_blocks]

    def shares(self, nodes: NDArray[np.integer]) -> list[Floats]:
        """The share of each class at the given nodes, a matrix for each target.

        >>> from treewright import encode, grow
        >>> tree = grow(encode({"x": [1.0, 2.0, 2.0]}, ["a", "a", "b"]))
        >>> tree.shares(np.array([2, 1]))[0].tolist()
        [[0.5, 0.5], [1.0, 0.0]]
        """
        if isinstance(self.statistic, SparseRows):
            return self.statistic.shares(nodes, self.schema.block_widths)
        return [proportions.take(nodes, axis=0) for proportions in self.proportions]

    @cached_property
    def label(self) -> Ints:
        """The code of the predicted class of each node, for each target.

        The heaviest one, or the one of least cost for the node's rows; the first among equals.
        """
        if isinstance(self.statistic, SparseRows):
            return self._summary.label
        parts = zip(self._answer_blocks, cost_arrays(self.schema), strict=True)
        return np.stack([cheapest(block, costs) for block, costs in parts], axis=1)

    @cached_property
    def confidence(self) -> Floats:
        """The share of the predicted class of each node, for each target."""
        if isinstance(self.statistic, SparseRows):
            return self._summary.heaviest / self._summary.weight
        nodes = np.arange(self.n_nodes)
        answers = zip(self.proportions, self.label.T, strict=True)
        return np.stack([shares[nodes, label] for shares, label in answers], axis=1)

    @cached_property
    def loss(self) -> Floats:
        """The loss of each node's prediction for its training rows, summed over the targets.

        The weight of misclassified rows, or their cost; for numbers the loss of the criterion.
        """
        return evaluate.own_losses(self)

    @cached_property
    def value(self) -> Floats:
        """The number predicted at each node, for each target.

        ValueError where the leaves hold linear models, which a single number cannot replace.
        """
        if self.linear is not None:
            raise ValueError(
                "this tree has a linear model in each leaf, which is not supported here; grow it with "
                "leaf='constant', or call predict"
            )
        return self.centre

    @cached_property
    def centre(self) -> Floats:
        """The mean (or median) of the training rows at each node, for each target; see `value`."""
        return np.stack([block[:, 1] for block in self._answer_blocks], axis=1)

    def numbers_at(self, nodes: NDArray[np.integer], data: Dataset) -> Floats:
        """The prediction of one node each for the rows of a table, a column for each target of numbers."""
        return self.value[nodes] if self.linear is None else self.linear.at(nodes, data)[:, np.newaxis]

    # ---- rows --------------------------------------------------------------------------------------

    @cached_property
    def heavier_left(self) -> Flags:
        """Whether the left child is the heavier one, the side of categories unknown in training.

        In a split into many branches the heaviest one counts.
        """
        heaviest = self.weight.copy() if self.joined.any() else self.weight
        for node in np.flatnonzero(self.joined)[::-1].tolist():  # those below come first
            heaviest[node] = max(heaviest[self.left[node]], heaviest[self.right[node]])
        heavier = np.zeros(self.n_nodes, np.bool_)
        inner = ~self.is_leaf
        heavier[inner] = heaviest[self.left[inner]] >= heaviest[self.right[inner]]
        return heavier

    @checked_keywords
    def apply(self, data: Any, *, n_jobs: int | None = None) -> Int32s:
        """The leaf of each row of a table, or of a Dataset that was encoded with the tree's schema.

        A row that the tree divides (``missing="fractional"``) goes with the heavier side.
        """
        rows = data if isinstance(data, Dataset) else evaluate.given_table(self, data, "data", judging=True)
        self._check_columns(rows)
        return missing_values.leaves(self, rows, n_threads(n_jobs))

    def _check_columns(self, data: Dataset) -> None:
        if data.schema is not self.schema and data.schema.columns != self.schema.columns:
            raise ValueError("the table's columns are not the tree's; encode it with schema=tree.schema")

    @checked_keywords
    def predict(self, table: Any) -> Array:
        """Classes or numbers for the rows of a table; one column per target where there are several."""
        return decode_predictions(self.schema, predict.answers(self, rows_to_predict(table, self.schema)))

    @checked_keywords
    def predict_proba(self, table: Any) -> Floats | list[Floats]:
        """The share of each class in the leaf of each row; a list where there are several targets."""
        if not self.schema.predicts_classes:
            raise ValueError("this tree predicts numbers; probabilities are for classes")
        shares = predict.proportions(self, rows_to_predict(table, self.schema))
        return shares[0] if len(shares) == 1 else shares

    def statistic_of(self, data: Any) -> Floats | SparseRows:
        """The statistic of other rows, a Dataset or a tuple (table, target), at each node, of the same shape
        as `statistic`.

        For numbers the value is the mean and the deviation Σ w·(y − mean)² of the rows that reach the node,
        for any criterion; nodes without rows have weight 0.
        """
        return evaluate.statistic_of(self, self._rows_of(data))

    def loss_of(self, data: Any) -> Floats:
        """The loss of each node's prediction for the rows of `data` that reach it; see `loss`. `data` is a
        Dataset or a tuple (table, target).
        """
        return evaluate.losses(self, self._rows_of(data))

    def _rows_of(self, data: Any) -> Dataset:
        return data if isinstance(data, Dataset) else evaluate.given_rows(self, data, "data", judging=True)

    def mean(self, loss: Any, data: Dataset | None = None) -> Any:
        """A loss per unit of weight and target: of the training rows, or of those of `data`."""
        weight = float(self.weight[0]) if data is None else data.total_weight
        return loss / weight / len(self.schema.targets)

    @checked_keywords
    def curve(self, data: Any) -> Floats:
        """The mean loss on `data` after 0, 1, 2, … splits: the overfitting curve, in one pass.

        `data` is a Dataset or a tuple (table, target).

        Misclassified share or mean cost for classes, mean loss of the criterion for numbers, averaged over
        the targets.

        >>> from treewright import encode, grow
        >>> data = encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "b", "a", "a"])
        >>> print(grow(data).curve(data))
        [0.25 0.25 0.  ]
        """
        rows = self._rows_of(data)
        losses = evaluate.losses(self, rows)
        change = np.zeros(self.n_nodes)
        inner = np.flatnonzero(~self.is_leaf)
        change_there = losses[self.left[inner]] + losses[self.right[inner]] - losses[inner]
        np.add.at(change, self.heads[inner], change_there)  # many branches are one split
        splits = inner[~self.joined[inner]]
        order = splits[np.argsort(self.step[splits], kind="stable")]
        total = np.concatenate([[losses[0]], change[order]]).cumsum()
        return np.asarray(self.mean(np.maximum(total, 0.0), rows))

    # ---- surgery -----------------------------------------------------------------------------------

    @checked_keywords
    def collapse(self, nodes: Iterable[int]) -> Tree:
        """A new tree in which the given nodes are leaves.

        >>> from treewright import encode, grow
        >>> tree = grow(encode({"x": [1.0, 2.0, 3.0]}, ["a", "b", "a"]))
        >>> tree.n_leaves, tree.collapse([0]).n_leaves
        (3, 1)
        """
        return replace(self, **collapsed_arrays(self, nodes))

    @checked_keywords
    def graft(self, replacements: Mapping[int, int], data: Any, *, collapse: Iterable[int] = ()) -> Tree:
        """A new tree in which subtrees take the place of nodes above them: ``{node: one of those below it}``.

        Rows then reach other nodes than before, so that all statistics are recounted from `data`, the
        training rows: a Dataset or a tuple (table, target). For classes only. The nodes of `collapse` become
        leaves at the same time.

        >>> from treewright import encode, grow
        >>> data = encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "b", "a", "b"])
        >>> tree = grow(data)
        >>> raised = tree.graft({0: tree.right[0]}, data)
        >>> tree.n_leaves, raised.n_leaves, raised.rows[0].item()
        (4, 3, 4)
        """
        return replace(self, **grafted_arrays(self, replacements, collapse)).recount(data)

    @checked_keywords
    def recount(self, data: Any) -> Tree:
        """The same tests with the statistic of other rows, a Dataset or a tuple (table, target), which must
        reach every leaf. For classes only.
        """
        if not self.schema.predicts_classes:
            raise ValueError("a regression tree cannot be recounted; this is for classes")
        data = data if isinstance(data, Dataset) else evaluate.given_rows(self, data, "data")
        rows, statistic = evaluate.rows_of(self, data), evaluate.statistic_of(self, data)
        if not rows.all():
            raise ValueError(f"no row of the data reaches node {int(np.argmin(rows))}")
        return replace(self, rows=rows, statistic=statistic, provenance=provenance(data, self.directions))

    @checked_keywords
    def with_costs(self, costs: Any = None, priors: Any = None) -> Tree:
        """The same tree with misclassification costs: each node predicts the class of least cost.

        Parameters
        ----------
        costs : array of shape (n_classes, n_classes) or dict of dicts, optional
            ``costs[i, j]`` is the cost of predicting class j when the truth is class i; zero on the
            diagonal. By name: ``{"ill": {"well": 10}}``; other mistakes cost 1.
        priors : array of shape (n_classes,) or dict, optional
            The prior probability of each class, by default its share of the training rows; they add up to 1.

        The tests stay the same: `grow` has both options to choose splits by them.

        Examples
        --------
        >>> from treewright import encode, grow
        >>> tree = grow(encode({"x": [1, 1, 1, 1, 2]}, ["well", "well", "well", "ill", "ill"]))
        >>> tree.predict({"x": [1]}).tolist()
        ['well']
        >>> tree.with_costs({"ill": {"well": 10}}).predict({"x": [1]}).tolist()
        ['ill']
        """
        weights = np.zeros(0) if self.schema.is_wide else np.asarray(self.statistic[0])
        return replace(self, schema=schema_with_costs(self.schema, weights, costs, priors))

    @checked_keywords
    def with_missing(self, missing: Missing) -> Tree:
        """The same tests with another way of missing values; surrogates stay only where they are used.

        Training rows that were divided then count as one in each of their leaves.

        >>> from treewright import encode, grow
        >>> tree = grow(encode({"x": [1.0, 2.0, 3.0]}, ["a", "a", "b"])).with_missing("fractional")
        >>> tree.predict_proba({"x": [None]}).round(3).tolist()
        [[0.667, 0.333]]
        """
        surrogates = self.surrogates if missing == "surrogate" else Surrogates.none()
        at_leaves = np.where(self.is_leaf, self.rows, 0)
        rows = self.rows if missing == "fractional" else sum_of_leaves(self.end, at_leaves)
        # Rows with missing values would be counted at other nodes, so that the provenance becomes unknown.
        known = self.provenance if missing == self.missing or known_complete(self) else None
        tree = replace(self, missing=missing, surrogates=surrogates, rows=rows, provenance=known)
        tree.check()
        return tree

    @checked_keywords
    def first(self, n_splits: int) -> Tree:
        """The tree after the first `n_splits` splits of the best-first algorithm."""
        order = np.sort(self.step[~self.is_leaf & ~self.joined])
        if operator.index(n_splits) < 0:
            raise ValueError(f"n_splits is {n_splits}; it must be at least 0")
        if n_splits >= len(order):
            return self
        return self.collapse(np.flatnonzero(self.step >= order[n_splits]).tolist())

    # ---- reading and writing -----------------------------------------------------------------------

    @cached_property
    def tested(self) -> tuple[Column, ...]:
        """The columns that `feature` counts: those of the schema, then the directions by their names."""
        return tested_columns(self.schema, self.directions)

    def goes_left(self, node: int) -> Flags:
        """For each category of the column that a node tests, whether it goes left."""
        return unpack_bits(self.subsets[self.subset[node] :], self.schema.category_counts[self.feature[node]])

    def categories_left(self, node: int) -> tuple[Any, ...]:
        """The categories that go left at a node that tests a category."""
        categories = self.schema.columns[self.feature[node]].categories
        return tuple(categories[code] for code in np.flatnonzero(self.goes_left(node)).tolist())

    def test(self, node: int) -> NodeTest | None:
        """The test at a node, `Below`, `Among` or `Combination`; None at a leaf."""
        feature = int(self.feature[node])
        if feature < 0:
            return None
        if feature >= len(self.schema.columns):
            direction = self.directions[feature - len(self.schema.columns)]
            return Combination(direction.by_name(self.schema), float(self.threshold[node]))
        return self.stored_test(node).by_name()

    def stored_test(self, node: int) -> StoredTest:
        """The test at a branch, as the arrays hold it."""
        column, start = self.tested[self.feature[node]], max(int(self.subset[node]), 0)
        return stored_test(column, float(self.threshold[node]), self.subsets[start:])

    def condition(self, node: int, is_left: bool) -> Condition:
        """The condition of a row for the left or right child of a branch."""
        missing, unseen = bool(self.missing_left[node]) == is_left, bool(self.heavier_left[node]) == is_left
        return self.stored_test(node).condition(is_left, missing=missing, unseen=unseen)

    @property
    def root(self) -> Node:
        """The root as a light view."""
        return Node(self, 0)

    def __iter__(self) -> Iterator[Node]:
        return (Node(self, i) for i in range(self.n_nodes))

    def __len__(self) -> int:
        return self.n_nodes

    def __repr__(self) -> str:
        return f"<Tree: {self.n_leaves} leaves, depth {self.height}, {len(self.schema.columns)} columns>"

    @classmethod
    @checked_keywords
    def write(cls, schema: Schema, root: Branch | Leaf, *, criterion: str | None = None) -> Tree:
        """A tree of nodes; the statistics of its leaves count as those of observed rows.

        >>> from treewright import Below, Branch, Column, Leaf, Schema, Target, Tree
        >>> schema = Schema((Column("age"),), (Target("loan", ("no", "yes")),))
        >>> tree = Tree.write(schema, Branch(Below("age", 30), Leaf([8, 2]), Leaf([1, 9])))
        >>> tree.predict({"age": [25.0, 45.0]}).tolist()
        ['no', 'yes']
        """
        default = "gini" if schema.predicts_classes else "squared_error"
        nodes = flatten(schema, root)
        tree = cls(**nodes, schema=schema, criterion=criterion or default, provenance=Provenance())
        tree.check()
        return tree

    def check(self) -> None:
        """Raise ValueError unless every invariant of a tree holds."""
        check(self)


@dataclass(frozen=True)
class Node:
    """A view of one node; nothing is copied.

    Examples
    --------
    >>> from treewright import encode, grow
    >>> root = grow(encode({"x": [1, 2, 3, 4]}, ["a", "a", "b", "b"])).root
    >>> root.test, root.left.is_leaf
    (Below(column='x', threshold=2.5), True)
    """

    tree: Tree
    index: int

    @property
    def is_leaf(self) -> bool:
        """Whether the node is a leaf."""
        return bool(self.tree.is_leaf[self.index])

    @property
    def test(self) -> NodeTest | None:
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

    def _child(self, children: Int32s) -> Node:
        if self.is_leaf:
            raise ValueError(f"node {self.index} is a leaf and has no children")
        return Node(self.tree, int(children[self.index]))

    @property
    def statistic(self) -> Floats:
        """The node's statistic."""
        return np.asarray(self.tree.statistic[self.index])

    def __repr__(self) -> str:
        return f"<Node {self.index}: {self.test or 'leaf'}, {int(self.tree.rows[self.index])} rows>"


def _running_depth(end: Int32s, opens: Ints) -> Int32s:
    """Depths as a running sum: a node opens `opens` levels, and the end of its subtree closes them."""
    opens[0] = 0
    change = np.append(opens, 0)
    np.subtract.at(change, end, opens)
    return np.cumsum(change[:-1]).astype(np.int32)


_WIDEST_TEXTS = 10**7  # characters of an array in which every class is as wide as the longest


def decode_predictions(schema: Schema, answers: Array) -> Array:
    """Predictions, (rows, targets), for users: the names of classes, one dimension for one target."""
    if schema.predicts_classes:
        names = [as_array(target.classes or ()) for target in schema.targets]
        answers = np.stack([name[answers[:, i]] for i, name in enumerate(names)], axis=1)
    return answers[:, 0] if len(schema.targets) == 1 else answers


def as_array(classes: tuple[Any, ...]) -> Array:
    """Class names as an array that keeps them and their type; objects where numpy would change them."""
    if isinstance(classes[0], str) and max(map(len, classes)) * len(classes) > _WIDEST_TEXTS:
        return np.array(classes, object)
    array = np.array(classes)
    labels = array.tolist()
    is_same = labels == list(classes) and type(labels[0]) is type(classes[0])
    return array if is_same else np.array(classes, object)
