"""Trees to draw: of all kinds, with names of all kinds."""

from __future__ import annotations

from functools import cache

import numpy as np

from treewright import Column, Schema, Target, Tree, encode, grow
from treewright.datasets import load_spam
from treewright.tree.builder import Branch, Leaf
from treewright.tree.conditions import Among, Below

HOSTILE = [
    "two\nlines",
    'quo"te',
    "it's",
    "<script>alert(1)</script>",
    "]]> & &amp; &lt;",
    "$x^{",
    "100 %_#~^&{}",
    "back\\slash\\",
    "\\input{/etc/passwd}",
    "\\n\\N\\G",
    "\u202eright to left",
    "null\x00\x1b[31m",
    "日本語の列",
    "naïve Ωж",
    "a" * 10_000,
    "<br> style:#fff;",
    '"] --> n0["',
    '"; } digraph {',
    "",
    "`code` **bold** 1. list",
    "-- ,, ?` !`",
    "[5pt]",
    "\ud800",
]


def hostile_tree(name: str) -> Tree:
    """A tree with one name for a column, a category, a class and the target."""
    schema = Schema(
        (Column(name), Column("job", "category", (name, "clerk", "cook"))),
        (Target(name, (name, "other")),),
    )
    inner = Branch(Among("job", [name]), Leaf([3.0, 1.0]), Leaf([0.0, 4.0]))
    return Tree.write(schema, Branch(Below(name, 0.5), inner, Leaf([5.0, 0.0])))


@cache
def spam_tree(leaves: int) -> Tree:
    spam = load_spam()
    return grow(encode(spam.table(), spam.target), max_leaf_nodes=leaves)


@cache
def wide_tree(leaves: int, long: int = 1) -> Tree:
    """Columns and categories with long names, long lists of categories, three classes."""
    chance = np.random.default_rng(0)
    towns = [f"town of {letter * long}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    jobs = [f"{job} " * long for job in ("clerk", "cook", "smith", "baker", "farmer", "nurse")]
    n = 3000
    table = {
        "the town in which the person lives " * long: chance.choice(towns, n),
        "occupation " * long: chance.choice(jobs, n),
        "age": chance.integers(18, 80, n),
    }
    target = chance.choice(["yes, of course " * long, "no", "perhaps"], n)
    return grow(encode(table, target), max_leaf_nodes=leaves, category_gain="plain")


@cache
def number_tree(leaves: int, targets: int = 1) -> Tree:
    chance = np.random.default_rng(0)
    table = chance.normal(size=(500, 5))
    values = 1e5 * table @ chance.normal(size=(5, targets))
    return grow(encode(table, values if targets > 1 else values[:, 0]), max_leaf_nodes=leaves)


@cache
def several_targets(leaves: int) -> Tree:
    chance = np.random.default_rng(0)
    table = chance.normal(size=(500, 5))
    answers = np.stack([np.where(table[:, i] > 0, "up", "down") for i in range(5)], axis=1)
    return grow(encode(table, answers), max_leaf_nodes=leaves)


@cache
def many_classes(leaves: int) -> Tree:
    chance = np.random.default_rng(0)
    table = chance.normal(size=(1000, 3))
    return grow(encode(table, [f"class {i}" for i in chance.integers(0, 300, 1000)]), max_leaf_nodes=leaves)
