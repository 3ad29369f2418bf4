"""Redundant splits: sibling leaves with the same prediction become one leaf."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.pruning.traversal import Floats, Ints, Mask, collapse_mask
from treewright.tree import Tree


def collapse_redundant(tree: Tree) -> Tree:
    """The smallest pruning of the tree that predicts the same for every row.

    Sibling leaves with one prediction (the same classes, or exactly the same numbers, for all targets) become
    one leaf, and so on upwards. Class probabilities are then those of the larger leaf.

    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1, 1, 1, 2, 2, 2, 3]}, ["a", "a", "a", "a", "a", "b", "b"]))
    >>> tree.n_leaves, collapse_redundant(tree).n_leaves
    (3, 2)
    """
    prediction = tree.label if tree.schema.predicts_classes else _numbers(tree)
    left, right = np.maximum(tree.left, 0), np.maximum(tree.right, 0)
    same = (prediction == prediction[left]).all(axis=1) & (prediction == prediction[right]).all(axis=1)

    def decide(wave: Ints, leaves: Floats) -> Mask:
        return np.asarray((leaves[:, 0] == 2) & same[wave])

    return tree.collapse(np.flatnonzero(collapse_mask(tree, np.ones((tree.n_nodes, 1)), decide)).tolist())


def _numbers(tree: Tree) -> NDArray[Any]:
    """The prediction of each node; linear leaves are numbered, equal formulas alike."""
    if tree.linear is None:
        return tree.value
    numbers: dict[Any, int] = {}
    intercept = tree.linear.intercept.tolist()
    formulas = [(first, *tree.linear.terms(node)) for node, first in enumerate(intercept)]
    return np.array([[numbers.setdefault(formula, len(numbers))] for formula in formulas])
