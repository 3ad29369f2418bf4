"""Forests: trees that vote, as in bagging, random forests and extremely randomised trees."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright._display import Layout, Shown
from treewright.encoding import Dataset
from treewright.encoding.rows import encoded_rows, rows_to_predict, takes_rows
from treewright.encoding.schema import Schema
from treewright.ensembles.bootstrap import Draws
from treewright.ensembles.facts import tree_facts
from treewright.ensembles.side_by_side import Listener, side_by_side
from treewright.ensembles.totals import TreeSum
from treewright.growing import grow, n_features_drawn, n_threads
from treewright.growing.memory import check_memory, memory_needed
from treewright.parameters.forest import GrowForestParameters
from treewright.parameters.spec import takes
from treewright.tree.costs import cheapest_in_order, cost_arrays
from treewright.tree.oblique import by_column
from treewright.tree.predict import leaf_rows, numbers, proportions
from treewright.tree.shortcuts import Saved
from treewright.tree.tree import Tree, decode_predictions

Floats = NDArray[np.float64]
Voting = Literal["soft", "hard"]
Growing = Callable[[Dataset, int, Listener], Tree]  # a tree of rows, from a seed

# Trees whose nodes draw fewer than one of so many columns keep no sorted lists of them (lists.hpp).
_FEW_DRAWN = 6
# To rank a cell takes so many times the time of sorting it once without ranks.
_RANKING = 3
_TREE_SEED = 1  # the purpose of the stream that seeds a tree; 0 draws its rows


@dataclass(frozen=True, eq=False)
class Forest(Saved, Shown):
    """Trees that predict together, and how their rows were drawn.

    Soft votes are the class proportions of the leaves, averaged: the most probable class wins or, if the
    trees have costs, the class of the smallest expected cost. Hard votes are the predictions of the trees,
    of which the most frequent wins. Numbers are averaged.

    >>> from treewright import encode, grow_forest
    >>> data = encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"])
    >>> forest = grow_forest(data, n_estimators=10)
    >>> forest
    <Forest: 10 trees, 19 leaves, 1 columns>
    >>> forest.predict({"x": [0.0, 5.0]}).tolist()
    ['a', 'b']
    """

    trees: tuple[Tree, ...]
    draws: Draws
    voting: Voting = "soft"

    def _layout(self) -> Layout:
        facts = tree_facts(self.trees, self.schema)
        if self.schema.predicts_classes:
            facts["votes"] = self.voting
        return Layout.of_facts("Forest", facts)

    def __repr__(self) -> str:
        leaves = sum(tree.n_leaves for tree in self.trees)
        return f"<Forest: {len(self):,} trees, {leaves:,} leaves, {len(self.schema.columns):,} columns>"

    def __len__(self) -> int:
        return len(self.trees)

    def __iter__(self) -> Iterator[Tree]:
        return iter(self.trees)

    def __getitem__(self, place: int) -> Tree:
        return self.trees[place]

    def first(self, n_estimators: int) -> Forest:
        """The forest of the first trees, as if no more had been grown."""
        if not 1 <= n_estimators <= len(self):
            raise ValueError(f"n_estimators is {n_estimators}; it must be from 1 to {len(self)}")
        return replace(self, trees=self.trees[:n_estimators])

    @property
    def schema(self) -> Schema:
        """What the columns and targets stand for."""
        return self.trees[0].schema

    @property
    def n_bytes(self) -> int:
        """The memory that the arrays of the trees take."""
        return sum(tree_bytes(tree) for tree in self.trees)

    def tree_votes(self, member: int, data: Dataset, n_jobs: int | None = None) -> Floats:
        """The votes of one tree: proportions of all classes, indicators of the predicted ones, or numbers."""
        tree = self.trees[member]
        if not self._votes_by_node:
            return _row_votes(tree, data, self.voting, n_threads(n_jobs))
        return leaf_rows(tree, data, self._tree_sum.values[member], n_threads(n_jobs))

    def sums(self, data: Any, n_jobs: int | None = None) -> Floats:
        """The votes for each row of a table or a Dataset, added up over the trees: (rows, classes of all
        targets), or numbers.
        """
        data = encoded_rows(data, "data", self.schema)
        self.trees[0]._check_columns(data)
        if self._votes_by_node:
            return self._tree_sum.totals(data, n_threads(n_jobs))
        return np.asarray(sum(self.tree_votes(i, data, n_jobs) for i in range(len(self))))

    def answers(self, data: Any, n_jobs: int | None = None) -> NDArray[Any]:
        """Codes of classes or numbers, (rows, targets)."""
        return self.decide(self.sums(data, n_jobs), len(self))

    def decide(self, votes: Floats, n_votes: Any) -> NDArray[Any]:
        """The predictions that follow from votes, (rows, targets).

        The class with the most votes, the first of several; with costs and soft votes, that of the smallest
        cost. For numbers, the mean. `n_votes` is the number of trees, or of those that voted for each row.
        """
        if not self.schema.predicts_classes:
            return votes / np.reshape(n_votes, (-1, 1))
        blocks = split_targets(self.schema, votes)
        costs = cost_arrays(self.schema) if self.voting == "soft" else [None] * len(blocks)
        return np.stack([cheapest_in_order(*both) for both in zip(blocks, costs, strict=True)], axis=1)

    def shares(self, data: Any, n_jobs: int | None = None) -> list[Floats]:
        """The share of the votes of each class, a matrix for each target."""
        return split_targets(self.schema, self.sums(data, n_jobs) / len(self))

    def predict(self, table: Any) -> NDArray[Any]:
        """Classes or numbers for the rows of a table; one column per target where there are several."""
        return decode_predictions(self.schema, self.answers(rows_to_predict(table, self.schema)))

    def predict_proba(self, table: Any) -> Floats | list[Floats]:
        """The share of the votes of each class; a list where there are several targets."""
        if not self.schema.predicts_classes:
            raise ValueError("this forest predicts numbers; probabilities are for classes")
        shares = self.shares(rows_to_predict(table, self.schema))
        return shares[0] if len(shares) == 1 else shares

    @property
    def gain_shares(self) -> Floats:
        """The share of each column in the gain of the splits, averaged over the trees.

        It is biased: it comes from the rows that chose the splits, and favours columns of many values.
        `importance_of` is unbiased.
        """
        gains = np.array([by_column(tree, tree.gain) for tree in self.trees if tree.n_nodes > 1])
        if not gains.size or not gains.any():
            return np.zeros(len(self.schema.columns))
        whole = gains.sum(axis=1, keepdims=True)
        mean = np.divide(gains, whole, out=np.zeros_like(gains), where=whole > 0).mean(axis=0)
        return np.asarray(mean / mean.sum())

    @property
    def _votes_by_node(self) -> bool:
        """Whether the votes of a node are the same for all rows and fit a table: constants, few classes."""
        return not self.schema.is_wide and all(tree.linear is None for tree in self.trees)

    @cached_property
    def _tree_sum(self) -> TreeSum:
        return TreeSum.of(self.trees, [_node_votes(tree, self.voting) for tree in self.trees])

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_tree_sum"}


@takes_rows
@takes(GrowForestParameters)
def grow_forest(data: Dataset, **options: Any) -> Forest:
    """Grow trees from samples of the rows: bagging, or a random forest if nodes draw columns as well.

    Returns
    -------
    Forest

    Examples
    --------
    >>> from treewright import encode, grow_forest
    >>> data = encode({"x": [1.0, 2.0, 3.0, 4.0], "z": [1.0, 0.0, 1.0, 0.0]}, [1.0, 1.0, 5.0, 5.0])
    >>> forest = grow_forest(data, n_estimators=20, max_features=1, random_state=1)
    >>> bool(forest.predict({"x": [1.0], "z": [0.0]})[0] < 3)
    True
    """
    n_trees, voting, threads = (options.pop(name) for name in ("n_estimators", "voting", "n_jobs"))
    size, replacement, random_state = (
        options.pop(name) for name in ("max_samples", "bootstrap", "random_state")
    )
    progress = options.pop("progress")
    n_columns = len(data.schema.columns)
    if options["max_features"] is None:
        usual = int(n_columns**0.5) if data.schema.predicts_classes else n_columns // 3
        options["max_features"] = max(1, usual)
    draws = Draws.of(data, seed=random_state, size=size, replace=bool(replacement))

    def tree_of(rows: Dataset, tree_seed: int, listener: Listener) -> Tree:
        return grow(rows, **options, random_state=tree_seed, progress=listener)

    trees: list[Tree] = []

    def note(tree: Tree) -> None:
        trees.append(tree)
        if progress is not None:
            progress(len(trees) / n_trees)

    random = options["splitter"] == "random"
    drawn = n_features_drawn(options["max_features"], n_columns)
    grow_members(
        data, draws, tree_of, range(n_trees), n_threads(threads), note, draws_cuts=random, n_drawn=drawn
    )
    return Forest(tuple(trees), draws, voting)


def grow_members(
    data: Dataset,
    draws: Draws,
    tree_of: Growing,
    members: Sequence[int],
    n_threads: int,
    done: Callable[[Tree], object],
    *,
    draws_cuts: bool = False,
    n_drawn: int | None = None,
) -> None:
    """Grow some trees of a forest; `done` is called with each tree, in order.

    `draws_cuts`: thresholds are random. `n_drawn`: how many columns a node draws; None: it tries all. What
    all trees read is made once, before the first.

    MemoryError before or after the first tree if the machine cannot hold all of them.
    """
    check_memory(memory_needed(data, n_leaves=1) * min(n_threads, max(len(members), 1)))
    data = _prepared(data, len(members), n_threads, draws_cuts, n_drawn)
    n_grown = 0

    def work(member: int, listener: Listener) -> Tree:
        rows = data.with_weight(draws.weights(member), is_drawn=True)
        return tree_of(rows, tree_seed(draws, member), listener)

    def note(tree: Tree) -> None:
        nonlocal n_grown
        if n_grown == 0:
            check_memory(
                tree_bytes(tree) * (len(members) - 1),
                f"a forest of {len(members):,} such trees",
                "grow fewer trees, or smaller ones by min_samples_leaf, max_depth or max_leaf_nodes",
            )
        n_grown += 1
        done(tree)

    side_by_side(work, members, n_threads, note)


def _prepared(data: Dataset, n_trees: int, n_threads: int, draws_cuts: bool, n_drawn: int | None) -> Dataset:
    """The same rows with all that the trees of a forest share."""
    data.provenance  # noqa: B018 - looks for missing values once
    if data.n_rows > _core.small_rows:
        data.bins(n_threads)
    few = n_drawn if n_drawn is not None and n_drawn * _FEW_DRAWN <= data.n_columns else 0
    if few or (draws_cuts and data.n_rows > _core.small_rows):
        data = data.by_columns()  # nodes that draw columns or cuts read one column after the other
    if few and not draws_cuts and data.n_rows <= _core.max_ranked_rows:
        n_sorted = n_trees * few * math.log2(data.n_rows)  # about how often a cell is sorted in all trees
        if n_sorted > _RANKING * data.n_columns:
            data.ranks(n_threads)
    if data.n_rows <= _core.small_rows:
        data.shared()
    return data


def tree_seed(draws: Draws, member: int) -> int:
    """The seed of the random choices in one tree."""
    return int(draws.random(member, _TREE_SEED).integers(2**31 - 1))


def tree_bytes(tree: Tree) -> int:
    """The memory of a tree's arrays."""
    arrays = [value for value in vars(tree).values() if isinstance(value, np.ndarray)]
    own = sum(array.nbytes for array in arrays)
    return own if isinstance(tree.statistic, np.ndarray) else own + 12 * tree.n_nodes


def _node_votes(tree: Tree, voting: Voting) -> Floats:
    """The votes of each node: proportions of the classes, indicators of the predicted ones, or numbers."""
    if not tree.schema.predicts_classes:
        return tree.value
    if voting == "soft":
        return np.concatenate(tree.proportions, axis=1)
    return _indicators(tree.schema, tree.label)


def _row_votes(tree: Tree, data: Dataset, voting: Voting, n_threads: int) -> Floats:
    """The votes of a tree for each row, where they do not follow from the node alone."""
    if not tree.schema.predicts_classes:
        return numbers(tree, data, n_threads)
    shares = proportions(tree, data, n_threads)
    if voting == "soft":
        return np.concatenate(shares, axis=1)
    blocks = zip(shares, cost_arrays(tree.schema), strict=True)
    return _indicators(tree.schema, np.stack([cheapest_in_order(*block) for block in blocks], axis=1))


def _indicators(schema: Schema, codes: NDArray[Any]) -> Floats:
    """1 for the class of each code and 0 for the others, over all targets."""
    indicators = np.zeros((len(codes), schema.width))
    first = np.cumsum((0, *schema.block_widths))[:-1]
    np.put_along_axis(indicators, codes + first, 1.0, axis=1)
    return indicators


def split_targets(schema: Schema, votes: Floats) -> list[Floats]:
    """The votes for the classes of each target."""
    return np.split(votes, np.cumsum(schema.block_widths)[:-1], axis=1)
