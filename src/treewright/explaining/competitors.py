"""Competitors: the best split of a node's rows by each other column, found by the grower itself."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright._display import Layout, Shown
from treewright._json import plain
from treewright._text import aligned, percent, row_count
from treewright.certifying.certificate import Sealed
from treewright.encoding import Dataset
from treewright.encoding.rows import with_target
from treewright.encoding.schema import Column, Schema
from treewright.growing import as_whole, grow
from treewright.growing.limits import in_units
from treewright.parameters import documented
from treewright.tree import Tree
from treewright.tree.evaluate import given_rows, leaves_of
from treewright.tree.missing import divides, parts_of
from treewright.tree.number_losses import NUMBER_LOSSES
from treewright.tree.shortcuts import as_tree
from treewright.tree.surgery import node_indices
from treewright.tree.wording import branch_in_words

MOST_NODES = 64  # of a larger tree the branches with the most rows
# options of `grow` that limit a single split
_LIMITS = ("min_samples_leaf", "_min_weight_leaf", "threshold", "category_gain")
_ANY_GAIN = sys.float_info.min  # of a split that is better than chance; others have 0 after the correction


@dataclass(frozen=True)
class Competitor:
    """The best split of a node's rows by another column.

    `split` is a tree of this one test, with the rows of the node.
    """

    column: str
    position: int  # of the column in the schema
    gain: float  # the reduction of risk, in the units of `Tree.gain`
    share: float  # of the gain of the node's own test; above 1 where limits, draws or chance ruled it out
    agreement: float  # the share of the rows that it splits as the node's own test does, sides swapped or not
    words: str  # what goes left
    other_words: str  # what goes right
    split: Tree = field(repr=False, compare=False)

    def words_for(self, row: Dataset) -> str:
        """What a row, encoded for the whole tree, satisfies."""
        alone = _one_column(row, self.position, np.array([0]))
        return self.words if self.split.apply(alone)[0] == 1 else self.other_words

    def to_dict(self) -> dict[str, Any]:
        """Plain values; a threshold for numbers and times, the categories that go left otherwise."""
        by_category = self.split.subset[0] >= 0
        return {
            "column": self.column,
            "threshold": None if by_category else plain(float(self.split.threshold[0])),
            "categories": plain(self.split.categories_left(0)) if by_category else None,
            "missing_left": bool(self.split.missing_left[0]),
            "words": self.words,
            "gain": plain(self.gain),
            "share": plain(self.share),
            "agreement": plain(self.agreement),
        }


@dataclass(frozen=True, eq=False)
class Competitors(Sealed, Shown):
    """The competitors of some nodes, the best first; `print` shows them.

    >>> from treewright import competitors, encode, grow
    >>> data = encode({"x": [1, 2, 3, 4], "z": [1, 2, 9, 1]}, ["a", "a", "b", "b"])
    >>> print(competitors(grow(data), data))
    node 0: x <= 2.5   4 rows
       z <= 5   33 % of the gain   splits 75.0 % of the rows alike
    """

    tree: Tree = field(repr=False)
    by_node: Mapping[int, tuple[Competitor, ...]]

    def __getitem__(self, node: int) -> tuple[Competitor, ...]:
        return self.by_node[node]

    def __iter__(self) -> Iterator[int]:
        return iter(self.by_node)

    def __len__(self) -> int:
        return len(self.by_node)

    def __str__(self) -> str:
        lines = []
        for node, best in self.by_node.items():
            test = branch_in_words(self.tree, node, True)
            lines.append(f"node {node}: {test}   {row_count(int(self.tree.rows[node]))}")
            cells = [
                [c.words, share_in_words(c), f"splits {percent(c.agreement)} of the rows alike"] for c in best
            ]
            lines += (
                [f"   {line}" for line in aligned(cells)]
                if cells
                else ["   no other column splits these rows"]
            )
        return "\n".join(lines) if lines else "the tree has no tests, so there are no competitors"

    def _layout(self) -> Layout:
        rows = [
            [
                str(node),
                branch_in_words(self.tree, node, True),
                c.words,
                share_in_words(c),
                percent(c.agreement),
            ]
            for node, best in self.by_node.items()
            for c in best
        ]
        head = ["node", "test", "instead", "gain", "rows split alike"]
        return Layout([] if rows else [str(self)], head, rows, (0, 4))

    def __repr__(self) -> str:
        return f"<Competitors: of {len(self)} nodes>"

    def to_dict(self) -> dict[str, Any]:
        """Plain values: for each node, by its number as text, a list of competitors."""
        return {str(node): [each.to_dict() for each in found] for node, found in self.by_node.items()}


def share_in_words(competitor: Competitor) -> str:
    """The gain as a share of that of the node's own test."""
    share = "< 1%" if competitor.share < 0.01 else f"{competitor.share:.0%}"
    return f"{share} of the gain".replace("%", " %")


@documented
def competitors(
    model: Any,
    data: Any,
    target: Any = None,
    *,
    nodes: Iterable[int] | None = None,
    most: int | None = 5,
    growing: Mapping[str, Any] | None = None,
) -> Competitors:
    """The best split of every other column at nodes of a tree, found exactly by growing on that column alone.

    A competitor of nearly the same gain could have been chosen on other rows. One that splits nearly all
    rows alike can stand in for the node's own test; one of similar gain that does not carries other
    information. A column whose categories gain no more than they would by chance is no competitor, unless
    `growing` has ``category_gain="plain"``; the gains of the others are the whole reduction of risk, as
    `Tree.gain` is.

    Parameters
    ----------
    data : table, tuple (table, target) or (table, target, weights), or Dataset
        The rows that it was grown from. With other rows the gains are those on them.
    target : str or array, optional
        Of a table in `data`: its target column, or its targets.
    nodes : iterable of int, optional
        Nodes with a test; by default all of them, of more than 64 those with the most rows.
    most : int, optional
        How many competitors to keep of each node; None: all columns whose split lowers the risk.
    growing : mapping, optional
        The options of `grow` for this tree; min_samples_leaf, min_weight_fraction_leaf, threshold and
        category_gain also hold for competitors.

    Examples
    --------
    >>> from treewright import competitors, encode, grow
    >>> data = encode({"x": [1, 2, 3, 4], "z": [1, 2, 9, 1]}, ["a", "a", "b", "b"])
    >>> [(c.column, c.words, round(c.gain, 3)) for c in competitors(grow(data), data)[0]]
    [('z', 'z <= 5', 0.667)]
    """
    tree = as_tree(model)
    rows = given_rows(tree, with_target("competitors", data, target), "data")
    if rows.schema is not tree.schema:  # competitors are measured by the costs of the tree
        rows = rows.with_target_specs(tree.schema.targets)
    if most is not None and not (isinstance(most, int | np.integer) and most >= 0):
        raise ValueError(f"most is {most!r}; it must be a whole number of at least 0, or None")
    options = in_units(growing or {}, rows.n_counted, rows.total_weight)
    limits = {name: value for name, value in options.items() if name in _LIMITS}
    whole = as_whole(rows)
    return Competitors(
        tree, {node: _of_node(tree, whole, node, most, limits) for node in _tested_nodes(tree, nodes)}
    )


def _tested_nodes(tree: Tree, nodes: Iterable[int] | None) -> list[int]:
    if nodes is not None:
        numbers: list[int] = node_indices(tree, nodes).tolist()
        for node in numbers:
            if tree.is_leaf[node]:
                raise ValueError(f"node {node} is a leaf: it has no test to compete with")
        return numbers
    inner = np.flatnonzero(~tree.is_leaf & ~tree.joined)
    largest = np.argsort(-tree.rows[inner], kind="stable")[:MOST_NODES]
    return sorted(inner[largest].tolist())


def _of_node(
    tree: Tree, data: Dataset, node: int, most: int | None, limits: Mapping[str, Any]
) -> tuple[Competitor, ...]:
    here, left, data = _at_node(tree, data, node)
    if not here.size:
        return ()
    loss = NUMBER_LOSSES.get(tree.criterion)
    if loss is not None and not loss.allows(np.asarray(data.targets)[:, here]):
        return ()  # possible with other rows than those of the fit: all counts are 0
    parts = np.flatnonzero(tree.joined & (tree.heads == node))
    own = float(tree.gain[[node, *parts]].sum()) if parts.size else _gain_of_sides(tree, data, here, left)
    one_split = {"criterion": tree.criterion, "max_leaf_nodes": 2, "_min_gain": _ANY_GAIN, **limits}
    splits = [
        (position, grow(_one_column(data, position, here), **one_split))
        for position in range(len(tree.schema.columns))
        if position != tree.feature[node]
    ]
    useful = [(gain, position, split) for position, split in splits if (gain := _gain(split)) > 0]
    useful.sort(key=lambda each: -each[0])  # stable: equal gains stay in the order of the columns
    weight = data.row_weights[here]
    competing = []
    for gain, position, split in useful[:most]:
        goes_left = split.apply(_one_column(data, position, here)) == 1
        alike = float(weight[goes_left == left].sum() / weight.sum())
        competing.append(
            Competitor(
                column=tree.schema.columns[position].name,
                position=position,
                gain=gain,
                share=gain / own if own > 0 else np.inf,
                agreement=max(alike, 1 - alike),
                words=branch_in_words(split, 0, True),
                other_words=branch_in_words(split, 0, False),
                split=split,
            )
        )
    return tuple(competing)


def _at_node(tree: Tree, data: Dataset, node: int) -> tuple[NDArray[Any], NDArray[np.bool_], Dataset]:
    """The rows at a node, whether each goes left, and the table with their weights.

    Where the tree divides rows, these are the ones whose value is known to the node, with their share there.
    """
    if divides(tree, data):
        sides = np.zeros((2, data.n_rows))
        for parts in parts_of(tree, data):
            row, leaf = parts.first + parts.place, parts.leaf
            for side, child in zip(sides, (node + 1, int(tree.right[node])), strict=True):
                inside = (leaf >= child) & (leaf < tree.end[child])
                side += np.bincount(row[inside], parts.share[inside], data.n_rows)
        weight = data.row_weights * np.where(sides.all(axis=0), 0.0, sides.sum(axis=0))
        return np.flatnonzero(weight > 0), sides[0, weight > 0] > 0, data.with_weight(weight)
    leaf = leaves_of(tree, data)
    inside = (leaf >= node) & (leaf < tree.end[node])
    if data.weight is not None:
        inside &= data.weight > 0
    here = np.flatnonzero(inside)
    return here, leaf[here] < tree.end[node + 1], data


def _gain(split: Tree) -> float:
    """The gain of a tree of one test; 0 of a leaf."""
    risk = split.risk
    return max(float(risk[0] - (risk[1] + risk[2])), 0.0) if len(risk) == 3 else 0.0


def _one_column(data: Dataset, position: int, rows: NDArray[Any]) -> Dataset:
    """Some rows of a table with one of its columns only."""
    return _with_column(data, data.schema.columns[position], data.column(position)[rows], rows)


def _with_column(data: Dataset, column: Column, values: NDArray[Any], rows: NDArray[Any]) -> Dataset:
    """A table of one column, with the targets and weights of some rows of another."""
    targets = None if data.targets is None else data.targets[:, rows]
    weight = None if data.weight is None else data.weight[rows]
    schema = Schema((column,), data.schema.targets)
    return Dataset(schema, (values,), targets, weight, is_drawn=data.is_drawn)


def _gain_of_sides(tree: Tree, data: Dataset, rows: NDArray[Any], left: NDArray[np.bool_]) -> float:
    """The gain of the node's own test, computed by the same grower and so with the same rounding."""
    if left.all() or not left.any():
        return 0.0
    sides = _with_column(data, Column("side"), left.astype(np.float64), rows)
    return _gain(grow(sides, criterion=tree.criterion, max_leaf_nodes=2))
