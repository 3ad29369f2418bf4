"""The pruning path: the prunings of one tree, from the largest to the smallest, with their losses."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from treewright._suggestions import checked_keywords
from treewright._text import aligned
from treewright.encoding import Dataset
from treewright.encoding.rows import encoded_rows, is_pair
from treewright.encoding.schema import Schema
from treewright.pruning.traversal import Floats, Ints
from treewright.tree import Tree
from treewright.tree.evaluate import given_rows, loses_0_or_1, rows_of, squared_losses
from treewright.tree.surgery import subtree_mask

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Losses = Callable[[Tree, Dataset], Floats]  # of the rows at each node of a tree
OTHER_ROWS = "data must be the rows that the tree was grown from; its node counts differ"


class Prunings(Protocol):
    """A sequence of trees that are constructed on access."""

    def __len__(self) -> int: ...

    def tree(self, place: int) -> Tree:
        """The tree at a place of the path."""

    def sums(self, of: Losses, data: Dataset) -> Floats:
        """For each tree, the sum over its leaves of the values that `of` gives to nodes."""


@dataclass(frozen=True, eq=False)
class NestedPrunings:
    """Prunings each of which is a pruning of the one before it."""

    full_tree: Tree
    position: Ints  # the first place at which each node is a leaf or inside one; the length if there is none
    length: int

    def __len__(self) -> int:
        return self.length

    def tree(self, place: int) -> Tree:
        """The full tree, collapsed at every node whose position is at most `place`."""
        nodes = np.flatnonzero((self.position <= place) & ~self.full_tree.is_leaf)
        return self.full_tree.collapse(nodes.tolist())

    def sums(self, of: Losses, data: Dataset) -> Floats:
        """All sums in one pass over the rows."""
        return self.leaf_sums(of(self.full_tree, data))

    def leaf_sums(self, values: NDArray[Any]) -> Floats:
        """For each tree the sum of `values` over its leaves.

        A node is a leaf from its own position until that of its parent.
        """
        first, last = self._terms
        change = np.bincount(first[first < last], values[first < last], self.length + 1)
        gone = np.bincount(last[first < last], values[first < last], self.length + 1)
        return np.asarray(np.cumsum(change - gone)[: self.length])

    @property
    def first_places(self) -> Ints:
        """The first place at which each node is a leaf or inside one; the length if there is none."""
        return np.minimum(*self._terms)

    @cached_property
    def _terms(self) -> tuple[Ints, Ints]:
        """From which place to which each node is a leaf."""
        tree = self.full_tree
        position = np.where(tree.is_leaf, 0, np.minimum(self.position, self.length))
        # An ancestor may collapse before a node does; then the node is never a leaf.
        until = np.append(position, self.length)[tree.parent]
        if (position <= until).all():  # no ancestor does
            return position, until
        for wave in reversed(tree.waves):  # from the root down: the earliest of all ancestors
            for child in (tree.left[wave], tree.right[wave]):
                until[child] = np.minimum(until[child], until[wave])
        return position, until


def leaf_mask(tree: Tree, branches: NDArray[Any]) -> NDArray[np.bool_]:
    """Mask of the nodes that are leaves after collapsing some branches, none of them below another."""
    leaves: NDArray[np.bool_] = tree.is_leaf & ~subtree_mask(tree, branches)
    leaves[branches] = True
    return leaves


@dataclass(frozen=True, eq=False)
class TreeList:
    """Prunings as a tuple of trees."""

    trees: tuple[Tree, ...]

    def __len__(self) -> int:
        return len(self.trees)

    def tree(self, place: int) -> Tree:
        """The tree at a place."""
        return self.trees[place]

    def sums(self, of: Losses, data: Dataset) -> Floats:
        """One pass for each tree."""
        return np.array([of(tree, data)[tree.is_leaf].sum() for tree in self.trees])


@dataclass(frozen=True, eq=False)
class PruningPath:
    """The prunings of one tree that a pruning method produces, from the largest to the smallest.

    The last one is the method's result, unless the method chooses another one (`chosen`) or leaves the choice
    to `select` (`is_open`).

    A path is a sequence: ``len(path)``, ``path[3]``, ``path[-1]``; its trees are constructed on access.
    Losses are per unit of weight: the error rate, the mean cost, or for regression the mean loss of the
    criterion.

    >>> from treewright import encode, grow, prune
    >>> tree = grow(encode({"x": [1, 2, 3, 4, 5, 6]}, ["a", "a", "a", "b", "a", "b"]))
    >>> path = prune(tree, "cost_complexity")
    >>> path.leaves.tolist(), path.training.round(3).tolist()
    ([4, 2, 1], [0.0, 0.167, 0.333])
    >>> path[1].n_leaves
    2
    """

    method: str
    full_tree: Tree  # before pruning
    prunings: Prunings
    level: Floats  # the method's parameter at each tree, non-decreasing: alpha, the errors allowed …
    leaves: Ints
    training: Floats  # mean loss on the rows that the tree was grown from
    validation: Floats | None = None  # mean loss on held-out rows, or its cross-validation estimate
    standard_error: Floats | None = None  # of `validation`
    n_validation: int = 0  # the number of held-out rows behind `validation`; 0 if it is an estimate
    chosen: int = -1  # the place of the chosen tree
    is_open: bool = False  # whether the method leaves the choice to `select`
    details: dict[str, Any] = field(default_factory=dict)  # further results of the method

    @classmethod
    def from_nested(
        cls, method: str, tree: Tree, position: NDArray[Any], level: NDArray[Any], **details: Any
    ) -> PruningPath:
        """The path in which each node is a leaf from its `position` on (the length: never)."""
        prunings = NestedPrunings(tree, np.asarray(position, np.int64), len(level))
        leaves = prunings.leaf_sums(np.ones(tree.n_nodes)).astype(np.int64)
        training = np.asarray(tree.mean(prunings.leaf_sums(tree.loss)))
        return cls(method, tree, prunings, np.asarray(level, np.float64), leaves, training, details=details)

    @classmethod
    def from_pair(cls, method: str, tree: Tree, pruned: Tree, **details: Any) -> PruningPath:
        """The path of two trees: the full one and the pruned one."""
        trees = (tree, pruned)
        leaves = np.array([each.n_leaves for each in trees], np.int64)
        training = np.array([float(each.mean(each.loss[each.is_leaf].sum())) for each in trees])
        return cls(method, tree, TreeList(trees), np.arange(2.0), leaves, training, details=details)

    @classmethod
    def from_collapse(cls, method: str, tree: Tree, nodes: NDArray[Any], **details: Any) -> PruningPath:
        """The path of two trees, the second with `nodes` collapsed (their numbers, or a mask)."""
        position = np.where(subtree_mask(tree, np.arange(tree.n_nodes)[nodes]), 1, 2)
        return cls.from_nested(method, tree, position, np.arange(2.0), **details)

    # ---- a sequence of trees -----------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.prunings)

    def __getitem__(self, place: int) -> Tree:
        place = operator.index(place)
        if not -len(self) <= place < len(self):
            raise IndexError(f"the path has {len(self)} trees; there is no place {place}")
        return self.prunings.tree(place % len(self))

    def __iter__(self) -> Iterator[Tree]:
        return (self.prunings.tree(place) for place in range(len(self)))

    @cached_property
    def pruned(self) -> Tree:
        """The chosen tree; the last one where none was chosen."""
        return self[self.chosen]

    def choose(self, place: int, **changes: Any) -> PruningPath:
        """The same path with another tree chosen."""
        place = operator.index(place) % len(self)
        return replace(self, chosen=place, is_open=False, **changes)

    # ---- other rows --------------------------------------------------------------------------------

    @checked_keywords
    def losses(self, data: Any) -> Floats:
        """The mean loss of each tree on other rows: a Dataset, or a tuple (table, target)."""
        data = given_rows(self.full_tree, data, "data", judging=True)
        return np.asarray(self.full_tree.mean(np.maximum(self.prunings.sums(Tree.loss_of, data), 0.0), data))

    @checked_keywords
    def with_validation(self, validation: Any, loss_of: Losses | None = None) -> PruningPath:
        """The same path with the mean losses on held-out rows, where given, and their standard errors."""
        if validation is None:
            return self
        validation = held_out_rows(validation, "validation", self.full_tree.schema)
        loss = self.prunings.sums(loss_of or Tree.loss_of, validation)
        square = loss if loses_0_or_1(self.full_tree) else self.prunings.sums(squared_losses, validation)
        mean, error = mean_and_error(loss, square, validation)
        return replace(self, validation=mean, standard_error=error, n_validation=validation.n_rows)

    # ---- display -----------------------------------------------------------------------------------

    def __repr__(self) -> str:
        first, last = self.leaves[0], self.leaves[-1]
        sizes = f"{first} to {last} leaves" if first != last else _count(first, "leaf", "leaves")
        chosen = "none" if self.is_open else f"that of {_count(self.leaves[self.chosen], 'leaf', 'leaves')}"
        return f"<PruningPath by {self.method}: {_trees(self)} of {sizes}, {chosen} chosen>"

    def __str__(self) -> str:
        heading, rows, _ = _table(self)
        return "\n".join([heading, *aligned(rows, right=range(len(rows[0])), gap=2)])

    def _repr_html_(self) -> str:
        from treewright.exporting.notebook_html import path_as_html

        lines = {"training": self.training, "validation": self.validation}
        losses = {name: line for name, line in lines.items() if line is not None}
        chosen = None if self.is_open else self.chosen % len(self)
        return path_as_html(*_table(self), self.leaves, losses, chosen)

    @checked_keywords
    def plot(self, test: Any = None, ax: Axes | None = None) -> Axes:
        """Plot loss against leaves on the training, validation and `test` rows; needs matplotlib."""
        from treewright.plotting.pruning_paths import plot_pruning_path  # loads matplotlib

        return plot_pruning_path(self, test, ax)


_MAX_LINES = 24  # a longer path is printed in part


def _count(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"


def _trees(path: PruningPath) -> str:
    return _count(len(path), "tree", "trees")


def _table(path: PruningPath) -> tuple[str, list[list[str]], int | None]:
    """A heading, a table with column names, and the row of the chosen tree; a long path is thinned out,
    except around the chosen tree.
    """
    names = ["", "level", "leaves", "training"] + (["validation"] if path.validation is not None else [])
    chosen = path.chosen % len(path)
    marked = None if path.is_open else chosen
    places: Sequence[int] = range(len(path))
    if len(path) > _MAX_LINES:
        some = np.unique(np.linspace(0, len(path) - 1, _MAX_LINES - 3).round().astype(int))
        near = [place for place in (chosen - 1, chosen, chosen + 1) if 0 <= place < len(path)]
        places = sorted({*some.tolist(), *near})
    rows = [names]
    for place in places:
        row = ["→" if place == marked else "", f"{path.level[place]:.4g}", f"{path.leaves[place]}"]
        row += [f"{path.training[place]:.4f}"]
        if path.validation is not None:
            error = path.standard_error
            row += [f"{path.validation[place]:.4f}" + ("" if error is None else f" ± {error[place]:.4f}")]
        rows.append(row)
    heading = f"{path.method}: {_trees(path)}" + (", none chosen yet: use select" if path.is_open else "")
    return heading, rows, None if marked is None else 1 + list(places).index(marked)


def mean_and_error(loss: Floats, square: Floats, data: Dataset) -> tuple[Floats, Floats]:
    """The mean loss per unit of weight and target, from the sums of the losses and of their squares; and its
    standard error, √(mean of squares − square of the mean) / √n.
    """
    weight, targets = data.total_weight, len(data.schema.targets)
    mean = np.maximum(loss, 0.0) / weight
    spread = np.maximum(square / weight - mean**2, 0.0)
    return mean / targets, np.sqrt(spread / weight) / targets


def held_out_rows(rows: Any, name: str, schema: Schema) -> Dataset:
    """Rows with targets that a tree was not grown from: a Dataset, or a tuple (table, target). Those to
    `test` a tree may have classes that the schema does not know.
    """
    judging = name == "test"
    data: Dataset = encoded_rows(rows, name, schema, judging=judging) if is_pair(rows) else rows
    refuse_no_rows(data, name, judging=judging)
    return data


def refuse_no_rows(data: Dataset, name: str = "validation", *, judging: bool = False) -> None:
    """Raise an error unless `data` has rows of positive weight with targets; classes unknown to the tree are
    allowed only with `judging`, for rows that take no part in a choice.
    """
    if not isinstance(data, Dataset):
        raise TypeError(
            f"{name} must be a Dataset (encode(table, target, schema=tree.schema)), not {type(data).__name__}"
        )
    if data.targets is None:
        raise ValueError(f"{name} has no target; encode the table with its target")
    if data.n_rows == 0 or data.total_weight <= 0:
        raise ValueError(f"{name} has no rows" + (" of positive weight" if data.n_rows else ""))
    if not judging:
        data.refuse_unknown_classes(name)


_MIN_LEAVES = 8  # from so many leaves on, equal row counts at every node are no coincidence


def has_row_counts(tree: Tree, rows: NDArray[Any], data: Dataset) -> bool:
    """Whether `data` gives each node of a tree the row counts `rows`, in a tree large enough to tell."""
    return tree.n_leaves >= _MIN_LEAVES and np.array_equal(rows_of(tree, data), rows)


def refuse_training_rows(tree: Tree, validation: Dataset) -> None:
    """Raise ValueError for the training rows, by which no branch would be pruned."""
    if has_row_counts(tree, tree.rows, validation):
        raise ValueError(
            "validation contains the rows that the tree was grown from; use different rows to grow and to "
            "validate"
        )
