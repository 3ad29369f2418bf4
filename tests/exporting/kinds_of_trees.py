"""Trees of every kind that exports must say or refuse: sums of columns, surrogates, divided rows, complete
rows only, splits into many branches with one that has no rows.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.exporting.test_runtimes import usable
from tests.exporting.trees import hostile_tree, mixed_tree
from tests.tree.routed_trees import with_surrogates
from treewright import Among, Below, Branch, Column, Leaf, Schema, Target, Tree, export
from treewright.exporting import FORMATS
from treewright.tree.oblique import Direction

WEIGHTS = (1.0, -1.0, 0.5, -2.0, 0.1, 1 / 3, 1e10, -3.7e-5)
KINDS = ("sums", "surrogates", "surrogates and sums", "divided", "divided sums", "complete", "many branches")


def with_sums(tree: Tree, rng: np.random.Generator, share: float = 0.6, most: int = 3) -> Tree:
    """The tree with weighted sums in place of the columns at some nodes that test numbers."""
    columns = tree.schema.columns
    numbers = [j for j, column in enumerate(columns) if column.kind == "number"]
    feature, directions = tree.feature.copy(), list[Direction]()
    testing = [j for j in np.flatnonzero(np.isin(tree.feature, numbers)).tolist() if rng.random() < share]
    for node in testing:
        if not directions or rng.random() < 0.7:
            chosen = rng.permutation(numbers)[: rng.integers(2, most + 1)].tolist()
            directions.append(Direction(tuple(chosen), tuple(rng.choice(WEIGHTS, len(chosen)).tolist())))
        feature[node] = len(columns) + rng.integers(len(directions))
    return replace(tree, feature=feature, directions=tuple(directions))


@cache
def many_branches(predicts_classes: bool = True) -> Tree:
    """Three jobs, each a branch, and one for those without rows; below the first a number or its absence."""
    job = Column("job", "category", ("cook", "clerk", "smith", "king", "queen"))
    target = Target("loan", ("no", "yes", "maybe")) if predicts_classes else Target("amount")

    def leaf(*weights: float) -> Leaf:
        return Leaf(weights if predicts_classes else [sum(weights), weights[0] / 3, 1.0])

    number = Branch(Below("x", 1.5), leaf(5, 1, 0), leaf(2, 7, 0))
    known = Branch(Below("x", np.inf), number, leaf(1, 1, 3), missing_left=False)
    below = Branch(Below("y", 0.1), leaf(8, 0, 1), leaf(0, 0, 2))
    smith = Branch(Among("job", ("smith",)), below, leaf(1, 2, 9), missing_left=True)
    clerk = Branch(Among("job", ("clerk",)), leaf(1, 4, 0), smith, missing_left=True)
    root = Branch(Among("job", ("cook",)), known, clerk, missing_left=True)
    return _without_rows(Tree.write(Schema((job, Column("x"), Column("y")), (target,)), root))


def _without_rows(tree: Tree) -> Tree:
    """The last leaf loses its rows, and nodes that test their parent's column continue its split."""
    rows, statistic = tree.rows.copy(), np.array(tree.statistic)
    node = tree.n_nodes - 1
    weights = slice(None) if tree.schema.predicts_classes else slice(0, 1)
    rows[node], statistic[node] = 0, 0.0
    while node:
        node = int(tree.parent[node])
        children = [node + 1, int(tree.right[node])]
        rows[node], statistic[node, weights] = rows[children].sum(), statistic[children, weights].sum(axis=0)
    joined = ~tree.is_leaf & (tree.parent >= 0) & (tree.feature[tree.parent] == tree.feature)
    return replace(tree, rows=rows, statistic=statistic, joined=joined)


@cache
def tree_of(kind: str, target: str, leaves: int = 12, seed: int = 0) -> Tree:
    """A tree of a kind that predicts texts, bools, numbers …, with every invariant checked."""
    rng = np.random.default_rng(seed)
    if kind == "many branches":
        tree = many_branches(target not in ("numbers", "pairs"))
    else:
        tree = mixed_tree(target, max_leaf_nodes=leaves)
    if "sums" in kind:
        tree = with_sums(tree, rng)
    if "surrogates" in kind:
        tree = with_surrogates(tree, rng)
    if "divided" in kind:
        tree = tree.with_missing("fractional")
    if kind == "complete":
        tree = with_sums(tree, rng).with_missing("error")
    tree.check()
    return tree


@cache
def hostile_kind(kind: str) -> Tree:
    """A tree whose names attack, with sums of such columns and surrogates by them; or one that divides."""
    rng = np.random.default_rng(5)
    tree = with_sums(hostile_tree(), rng, share=0.9)
    tree = with_surrogates(tree, rng) if kind == "surrogates" else tree.with_missing("fractional")
    tree.check()
    return tree


def summing_tree(weights: tuple[float, ...], threshold: float) -> Tree:
    names = "abcdefgh"[: len(weights)]
    schema = Schema(tuple(map(Column, names)), (Target("y"),))
    root = Branch(Below("a", threshold), Leaf([2.0, 1.0, 0.0]), Leaf([1.0, 2.0, 0.0]))
    return summed(Tree.write(schema, root), weights)


def summed(tree: Tree, weights: tuple[float, ...]) -> Tree:
    """The tree with one sum of all columns in place of them."""
    feature = np.where(tree.is_leaf, -1, len(weights)).astype(np.int32)
    return replace(tree, feature=feature, directions=(Direction(tuple(range(len(weights))), weights),))


# ---- running exports ---------------------------------------------------------------------------------------

CC = shutil.which("cc") or shutil.which("gcc")
RUNS = {
    "javascript": shutil.which("node") is not None,
    "c": CC is not None,
    "java": shutil.which("javac") is not None,
    "sql": pytest.importorskip("duckdb") is not None,
    **{name: usable(name) for name in ("onnx", "treelite", "pmml")},
}
OPTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "python": ("python", {}),
    "python tables": ("python", {"style": "tables"}),
    "json": ("json", {}),
    "javascript": ("javascript", {}),
    "javascript tables": ("javascript", {"style": "tables", "module": "esm"}),
    "c": ("c", {}),
    "c tables": ("c", {"style": "tables"}),
    "java": ("java", {}),
    "java tables": ("java", {"style": "tables"}),
    "duckdb": ("sql", {}),
    "sqlite": ("sql", {"dialect": "sqlite"}),
    "onnx": ("onnx", {}),
    "treelite": ("treelite", {}),
    "pmml": ("pmml", {}),
}


def answers(tree: Tree, format: str, options: dict[str, Any], table: dict[str, Any]) -> np.ndarray:
    return FORMATS.module(format).answers(export(tree, format, **options), tree, table, **options)
