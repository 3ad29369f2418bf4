"""The prunings of one tree, from the largest to the smallest, with what each is worth."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from treewright._text import aligned
from treewright.encoding import Dataset
from treewright.tree import Tree
from treewright.tree.evaluate import loses_0_or_1, rows_of, squared_losses
from treewright.tree.surgery import covered

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Losses = Callable[[Tree, Dataset], Floats]  # of the rows at each node of a tree


class Prunings(Protocol):
    """Trees that are made when they are asked for."""

    def __len__(self) -> int: ...

    def tree(self, place: int) -> Tree:
        """The tree at a place of the path."""

    def sums(self, of: Losses, data: Dataset) -> Floats:
        """The sum over the leaves of each tree of what `of` says of the rows at each node."""


@dataclass(frozen=True, eq=False)
class Nested:
    """Prunings each of which is a pruning of the one before it."""

    grown: Tree
    position: Ints  # the first place at which each node is a leaf or inside one; the length if there is none
    length: int

    def __len__(self) -> int:
        return self.length

    def tree(self, place: int) -> Tree:
        """The grown tree, collapsed at every node whose place has come."""
        return self.grown.collapse(np.flatnonzero((self.position <= place) & ~self.grown.is_leaf).tolist())

    def sums(self, of: Losses, data: Dataset) -> Floats:
        """All of them in one pass over the rows."""
        return self.added(of(self.grown, data))

    def added(self, worth: NDArray[Any]) -> Floats:
        """For each tree the sum of `worth` over its leaves.

        A node is a leaf from its own place on until that of its parent comes.
        """
        first, last = self._terms
        change = np.bincount(first[first < last], worth[first < last], self.length + 1)
        gone = np.bincount(last[first < last], worth[first < last], self.length + 1)
        return np.asarray(np.cumsum(change - gone)[: self.length])

    @cached_property
    def _terms(self) -> tuple[Ints, Ints]:
        """From which place to which each node is a leaf."""
        position = np.where(self.grown.is_leaf, 0, np.minimum(self.position, self.length))
        # What stands above a node may go before it; then the node is never a leaf.
        until = np.append(position, self.length)[self.grown.parent]
        if (position <= until).all():  # nothing does
            return position, until
        for wave in reversed(self.grown.waves):  # from the root down: the earliest of all above
            for child in (self.grown.left[wave], self.grown.right[wave]):
                until[child] = np.minimum(until[child], until[wave])
        return position, until


@dataclass(frozen=True, eq=False)
class Listed:
    """Trees that are there already."""

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
    """Trees that a pruning method makes of one tree, from the largest to the smallest.

    The last one is the method's answer, unless it says otherwise (`chosen`) or leaves the choice to `select`
    (`is_open`).

    A path is a sequence: ``len(path)``, ``path[3]``, ``path[-1]``; its trees are made when asked for. Losses
    are per unit of weight: the share of misclassified rows, their mean cost, or the mean loss of the
    criterion for numbers.

    >>> from treewright import encode, grow, prune
    >>> tree = grow(encode({"x": [1, 2, 3, 4, 5, 6]}, ["a", "a", "a", "b", "a", "b"]))
    >>> path = prune(tree, "cost_complexity")
    >>> path.leaves.tolist(), path.training.round(3).tolist()
    ([4, 2, 1], [0.0, 0.167, 0.333])
    >>> path[1].n_leaves
    2
    """

    method: str
    grown: Tree  # the tree before pruning
    prunings: Prunings
    level: (
        Floats  # the dial of the method at each tree, not falling: the price of a leaf, the errors allowed …
    )
    leaves: Ints
    training: Floats  # mean loss of the rows that the tree was grown from
    validation: Floats | None = None  # mean loss of held-out rows, or its estimate by folds
    standard_error: Floats | None = None  # of `validation`
    chosen: int = -1  # the place of the tree that was chosen
    is_open: bool = False  # whether the method leaves the choice to others: `select`
    details: dict[str, Any] = field(default_factory=dict)  # what the method has to tell beside

    @classmethod
    def nested(
        cls,
        method: str,
        grown: Tree,
        position: NDArray[Any],
        level: Any,
        validation: Dataset | None = None,
        **details: Any,
    ) -> PruningPath:
        """The path in which each node is a leaf from its `position` on (the length: never)."""
        level = np.asarray(level, np.float64)
        prunings = Nested(grown, np.asarray(position, np.int64), len(level))
        leaves = prunings.added(np.ones(grown.n_nodes)).astype(np.int64)
        training = np.asarray(grown.mean(prunings.added(grown.loss)))
        path = cls(method, grown, prunings, level, leaves, training, details=details)
        return path if validation is None else path.tried(validation)

    @classmethod
    def single(
        cls, method: str, grown: Tree, pruned: Tree, validation: Dataset | None = None, **details: Any
    ) -> PruningPath:
        """The path of a method that makes one tree: the grown tree and the pruned one."""
        trees = (grown, pruned)
        leaves = np.array([tree.n_leaves for tree in trees], np.int64)
        training = np.array([float(tree.mean(tree.loss[tree.is_leaf].sum())) for tree in trees])
        path = cls(method, grown, Listed(trees), np.arange(2.0), leaves, training, details=details)
        return path if validation is None else path.tried(validation)

    @classmethod
    def collapsed(
        cls, method: str, grown: Tree, nodes: NDArray[Any], validation: Dataset | None = None, **details: Any
    ) -> PruningPath:
        """The path of a method that makes one tree by collapsing nodes (their numbers, or a mask)."""
        position = np.where(covered(grown, np.arange(grown.n_nodes)[nodes]), 1, 2)
        return cls.nested(method, grown, position, np.arange(2.0), validation, **details)

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
        """The tree that was chosen; the last one where none was."""
        return self[self.chosen]

    def chose(self, place: int, **changes: Any) -> PruningPath:
        """The same path with another tree chosen."""
        place = operator.index(place) % len(self)
        return replace(self, chosen=place, is_open=False, **changes)

    # ---- other rows --------------------------------------------------------------------------------

    def losses(self, data: Dataset) -> Floats:
        """The mean loss of each tree on other rows."""
        return np.asarray(self.grown.mean(np.maximum(self.prunings.sums(Tree.loss_of, data), 0.0), data))

    def tried(self, validation: Dataset) -> PruningPath:
        """The same path with what its trees lose on held-out rows, and the standard error of that."""
        refuse_no_rows(validation)
        loss = self.prunings.sums(Tree.loss_of, validation)
        square = loss if loses_0_or_1(self.grown) else self.prunings.sums(squared_losses, validation)
        mean, error = mean_and_error(loss, square, validation)
        return replace(self, validation=mean, standard_error=error)

    # ---- showing -----------------------------------------------------------------------------------

    def __repr__(self) -> str:
        first, last = self.leaves[0], self.leaves[-1]
        sizes = f"{first} to {last} leaves" if first != last else _counted(first, "leaf", "leaves")
        chosen = "none" if self.is_open else f"that of {_counted(self.leaves[self.chosen], 'leaf', 'leaves')}"
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

    def plot(self, test: Dataset | None = None, ax: Axes | None = None) -> Axes:
        """Draw loss against leaves on all rows that the path knows, and on `test`; needs matplotlib."""
        from treewright.plotting.paths import draw_path  # matplotlib is loaded when it is needed

        return draw_path(self, test, ax)


_MOST_LINES = 24  # of a path that is printed as a whole


def _counted(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"


def _trees(path: PruningPath) -> str:
    return _counted(len(path), "tree", "trees")


def _table(path: PruningPath) -> tuple[str, list[list[str]], int | None]:
    """A heading, a table with the names of its columns, and the row of the chosen tree; of a long path those
    around the chosen tree, and some of the others.
    """
    names = ["", "level", "leaves", "training"] + (["validation"] if path.validation is not None else [])
    chosen = path.chosen % len(path)
    marked = None if path.is_open else chosen
    shown: Sequence[int] = range(len(path))
    if len(path) > _MOST_LINES:
        some = np.unique(np.linspace(0, len(path) - 1, _MOST_LINES - 3).round().astype(int))
        near = [place for place in (chosen - 1, chosen, chosen + 1) if 0 <= place < len(path)]
        shown = sorted({*some.tolist(), *near})
    rows = [names]
    for place in shown:
        row = ["→" if place == marked else "", f"{path.level[place]:.4g}", f"{path.leaves[place]}"]
        row += [f"{path.training[place]:.4f}"]
        if path.validation is not None:
            error = path.standard_error
            row += [f"{path.validation[place]:.4f}" + ("" if error is None else f" ± {error[place]:.4f}")]
        rows.append(row)
    heading = f"{path.method}: {_trees(path)}" + (", none chosen yet: select chooses" if path.is_open else "")
    return heading, rows, None if marked is None else 1 + list(shown).index(marked)


def mean_and_error(loss: Floats, square: Floats, data: Dataset) -> tuple[Floats, Floats]:
    """What rows lose per unit of weight and target, from the sums of what each loses and of its square; and
    the standard error of that, √(mean of squares − square of the mean) / √n.
    """
    weight, targets = data.total_weight, len(data.schema.targets)
    mean = np.maximum(loss, 0.0) / weight
    spread = np.maximum(square / weight - mean**2, 0.0)
    return mean / targets, np.sqrt(spread / weight) / targets


def refuse_no_rows(data: Dataset, name: str = "validation", *, judging: bool = False) -> None:
    """Rows to judge by must be there, with their targets, and weigh something; only those that choose nothing
    may have classes that the tree does not know.
    """
    if not isinstance(data, Dataset):
        raise TypeError(
            f"{name} must be a Dataset (encode(table, target, schema=tree.schema)), not {type(data).__name__}"
        )
    if data.targets is None:
        raise ValueError(f"{name} has no target; encode the table with its target")
    if data.n_rows == 0 or data.total_weight <= 0:
        raise ValueError(f"{name} has no rows" + (" that weigh something" if data.n_rows else ""))
    if not judging:
        data.refuse_unknown_classes(name)


_TELLING = 8  # from so many leaves on, equal counts of rows at every node are no accident


def counts_as(tree: Tree, rows: NDArray[Any], data: Dataset) -> bool:
    """Whether rows must be those that are known to arrive at each node of a tree, `rows` of them."""
    return tree.n_leaves >= _TELLING and np.array_equal(rows_of(tree, data), rows)


def refuse_training_rows(tree: Tree, validation: Dataset) -> None:
    """Rows that grew a tree would always keep all of it."""
    if counts_as(tree, tree.rows, validation):
        raise ValueError(
            "validation has the very rows that the tree was grown from; a row grows it or judges it"
        )
