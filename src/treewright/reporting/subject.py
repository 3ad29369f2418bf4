"""The subject of a report: the model, the tree it was pruned from, and its pruning path."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright._text import amount, count, escape
from treewright.encoding.schema import Schema
from treewright.optimising import Optimum
from treewright.pruning import PruningPath
from treewright.pruning.path import NestedPrunings
from treewright.tree import Tree
from treewright.tree.oblique import by_column
from treewright.tree.shortcuts import as_tree
from treewright.tree.surgery import subtree_mask

Ints = NDArray[np.int64]
MOST_LEAVES = 5_000  # of the largest tree of the slider, unless the model itself is larger
LONGEST_NAME = 80  # characters of a name that are shown


@dataclass(frozen=True, eq=False)
class Subject:
    """A model as the report shows it: `leaves` are nodes of `full_tree`, the largest tree of the slider.

    `tree` is `full_tree` with shortened names; `model` is the tree that predicts.
    """

    model: Tree
    full_tree: Tree
    tree: Tree
    leaves: Ints
    path: PruningPath | None  # of the model, if it has one
    slider: PruningPath | None  # the part of the path from `full_tree` on
    notes: tuple[str, ...] = ()

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Which nodes of the full tree belong to the model."""
        inside = np.ones(self.full_tree.n_nodes, np.bool_)
        inside[subtree_mask(self.full_tree, self.cuts)] = False
        inside[self.cuts] = True
        return inside

    @property
    def cuts(self) -> Ints:
        """The branches of the full tree that are leaves of the model."""
        return self.leaves[~self.full_tree.is_leaf[self.leaves]]

    @cached_property
    def model_tree(self) -> Tree:
        """The model with shortened names."""
        return self.tree.collapse(self.cuts.tolist()) if self.cuts.size else self.tree


def subject_of(model: Any, path: Any = None) -> Subject:
    """The tree of a model and its pruning path: the one given, or that of a fitted estimator."""
    if path is not None and not isinstance(path, PruningPath):
        raise TypeError(f"path must be a PruningPath, as returned by prune, not {type(path).__name__}")
    if isinstance(model, PruningPath):
        if path is not None:
            raise TypeError("the model is a pruning path itself; leave path= out")
        if model.is_open:
            raise ValueError("no tree of this path is selected yet; use select(path, …)")
        model, path = model.pruned, model
    optimum = model if isinstance(model, Optimum) else getattr(model, "optimum_", None)
    if isinstance(optimum, Optimum):
        subject = subject_of(optimum.tree, path)
        return replace(subject, notes=(proof_in_words(optimum), *subject.notes))
    tree = as_tree(model)
    if len(tree.schema.targets) != 1:
        raise ValueError(
            f"a report is for one target; this tree has {len(tree.schema.targets)}: "
            "fit and report one tree for each"
        )
    if path is None:
        own = getattr(model, "pruning_path_", None)
        path = own if isinstance(own, PruningPath) else None
    if path is None:
        return _subject(tree, tree, np.flatnonzero(tree.is_leaf), None)
    leaves = leaves_within(path.full_tree, tree)
    if leaves is None:
        if tree != path.pruned:
            raise ValueError(
                "path does not belong to the model: the model is not a pruning of its first tree"
            )
        note = (
            f"{path.method.replace('_', ' ').capitalize()} pruning also raised subtrees, so the tree before "
            "pruning cannot be shown: the slider goes from the model to smaller trees."
        )
        return _subject(tree, tree, np.flatnonzero(tree.is_leaf), None, (note,))
    return _subject(tree, path.full_tree, leaves, path)


def proof_in_words(optimum: Optimum) -> str:
    """What is proved of the best tree on its training rows, in a sentence."""
    limits, price = optimum.limits, ", with the price of its leaves" if optimum.leaf_price else ""
    trees = f"no tree of at most depth {limits['max_depth']}"
    if limits["max_leaf_nodes"] is not None:
        trees += f" and {count(int(limits['max_leaf_nodes']), 'leaf')}"
    if optimum.is_proved:
        return f"Proved optimal: {trees} loses less on the training rows{price}."
    if optimum.bound <= 0:
        return "Not proved optimal: the search ended before anything was known of other trees."
    return (
        f"Not proved optimal: {trees} loses less than {amount(optimum.bound)} on the training rows{price}; "
        f"this one loses {amount(optimum.objective)}."
    )


def _subject(
    model: Tree, full_tree: Tree, leaves: Ints, path: PruningPath | None, notes: tuple[str, ...] = ()
) -> Subject:
    schema = printable_schema(full_tree.schema)
    tree = full_tree if schema == full_tree.schema else replace(full_tree, schema=schema)
    return Subject(model, full_tree, tree, leaves, path, path, notes)


def limit_slider(subject: Subject) -> Subject:
    """The subject without its largest trees, if they are too large for a page."""
    path, most = subject.path, max(MOST_LEAVES, subject.model.n_leaves)
    if path is None or path.full_tree.n_leaves <= most:
        return subject
    slider, leaves = _shortened_path(path, subject.leaves, most)
    full_tree = subject.model if slider is None else slider.full_tree
    if slider is None:
        leaves = np.flatnonzero(full_tree.is_leaf)
    note = (
        f"The tree was grown to {path.full_tree.n_leaves:,} leaves; "
        f"the slider starts at {full_tree.n_leaves:,}."
    )
    made = _subject(subject.model, full_tree, leaves, path, (*subject.notes, note))
    return replace(made, slider=slider)


def _shortened_path(path: PruningPath, leaves: Ints, most: int) -> tuple[PruningPath | None, Ints]:
    """The part of a path whose trees have at most so many leaves, None where they are not nested; and the
    numbers of the given leaves in its first tree.
    """
    prunings = path.prunings
    if not isinstance(prunings, NestedPrunings):
        return None, leaves
    first = int(np.argmax(path.leaves <= most))
    cuts = np.flatnonzero((prunings.position <= first) & ~path.full_tree.is_leaf)
    is_cut = np.append(subtree_mask(path.full_tree, cuts), False)
    kept = ~is_cut[path.full_tree.parent]  # what is not below a cut
    position = np.maximum(prunings.position[kept] - first, 0)
    full_tree, length = prunings.tree(first), len(path) - first
    estimates = (path.validation, path.standard_error)
    validation, error = (None if each is None else each[first:] for each in estimates)
    shorter = replace(
        path,
        full_tree=full_tree,
        prunings=NestedPrunings(full_tree, position, length),
        level=path.level[first:],
        leaves=path.leaves[first:],
        training=path.training[first:],
        validation=validation,
        standard_error=error,
        chosen=max(path.chosen % len(path) - first, 0),
    )
    return shorter, np.cumsum(kept)[leaves] - 1


def leaves_within(full_tree: Tree, pruned: Tree) -> Ints | None:
    """The nodes of a tree that are the leaves of a pruning of it; None where the other is not a pruning.

    Both are in preorder, so that one parallel walk finds them.

    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1, 2, 3, 4]}, ["a", "b", "a", "b"]))
    >>> leaves_within(tree, tree.collapse([tree.right[0]])).tolist()
    [1, 2]
    """
    end, is_leaf = full_tree.end.tolist(), pruned.is_leaf.tolist()
    found, node = [], 0
    for leaf in is_leaf:
        if node >= len(end):
            return None
        if leaf:
            found.append(node)
            node = end[node]
        else:
            node += 1
    leaves = np.array(found, np.int64)
    cuts = leaves[~full_tree.is_leaf[leaves]].tolist()
    if node != len(end) or pruned.schema.columns != full_tree.schema.columns:
        return None
    same = full_tree.collapse(cuts) if cuts else full_tree
    return leaves if replace(same, schema=pruned.schema) == pruned else None


def printable_schema(schema: Schema) -> Schema:
    r"""The schema with short printable names that are still distinct.

    >>> from treewright.encoding.schema import Column
    >>> print(printable_schema(Schema((Column("x" * 200), Column("two\nlines")))).names[1])
    two\nlines
    """
    columns = tuple(
        replace(column, name=name, categories=tuple(_labels(column.categories)))
        for name, column in zip(distinct_names(schema.names), schema.columns, strict=True)
    )
    targets = tuple(
        replace(
            target,
            name=shorten(target.name),
            classes=None if target.classes is None else tuple(_labels(target.classes)),
        )
        for target in schema.targets
    )
    return Schema(columns, targets)


def _labels(labels: tuple[Hashable, ...]) -> Iterable[Hashable]:
    """Categories or classes; only text can be long."""
    return distinct_names(labels) if labels and isinstance(labels[0], str) else labels


def distinct_names(names: Iterable[Any]) -> list[str]:
    """Shortened names; those that would be equal are numbered."""
    found: list[str] = []
    met: dict[str, int] = {}
    for name in names:
        text = shorten(name)
        count = met[text] = met.get(text, 0) + 1
        while count > 1 and f"{text} ({count})" in met:
            count += 1
        if count > 1:
            text = f"{text} ({count})"
            met[text] = 1
        found.append(text)
    return found


def shorten(name: str, longest: int = LONGEST_NAME) -> str:
    """A name on one line; of a long one the beginning and the end."""
    text = escape(name if len(name) <= 4 * longest else name[: 2 * longest] + name[-2 * longest :])
    if len(text) <= longest:
        return text
    return f"{text[: longest - 21]}…{text[-20:]}"


def gain_shares(tree: Tree) -> NDArray[np.float64]:
    """The share of each column in the total gain of a tree."""
    gain = by_column(tree, tree.gain)
    return np.asarray(gain / (gain.sum() or 1.0))
