"""A code of trees that was fixed before any table was seen, and how many bits a tree takes in it.

    header      2 bits: are there thresholds below zero? does the tree say where missing values go?
    shape       1 bit for each node: a leaf or a split
    columns     log2(columns) for each split
    thresholds  the decimal that is printed, in the prefix code of `decimals`; times by calendar unit
    categories  1 bit for each category that the schema names
    missing     nothing, or 1 bit for each split, and 1 more where unknown categories may arrive
    leaves      log2(classes) for each leaf and target

Every part belongs to one node, so lengths add up over nodes and a pruner can weigh a node as a leaf against
the same node as a split. Columns and classes share one number in mixed radix, so that fractions of bits are
really saved: `write` makes the whole word, one bit longer at most than the sum says.

Why missing values may cost nothing. Let no training row have missed a value in a column that the tree tests.
Take the tree that gives a wrong answer to every row in which a tested value is missing or a category unknown.
It makes the same mistakes on the training rows, and its description needs no directions; its true error, which
the code bounds, is at least that of the tree that does answer those rows. The bound therefore holds for every
choice of directions, also for the grower's own (the heavier child, which is read from the rows and so could
not be part of a code that knows no rows). Where values were missing, the directions were chosen with the rows
in view, and each has to be paid for.
"""

from __future__ import annotations

from itertools import chain
from math import log2
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright.certifying.decimals import (
    Reader,
    number_bits,
    read_number,
    read_time,
    time_bits,
    write_number,
    write_time,
)
from treewright.encoding import Dataset
from treewright.schema import Schema
from treewright.tree import Tree

Floats = NDArray[np.float64]

HEADER_BITS = 2


def node_bits(tree: Tree, *, complete: bool = False) -> tuple[Floats, Floats]:
    """For each node its bits as a leaf, and its own bits as a split (infinite where it has no test).

    The length of a pruning is HEADER_BITS + the first over its leaves + the second over its splits. The code
    of the whole tree is used for all of them: a legal one, if not always the shortest.

    Parameters
    ----------
    tree : Tree
        A tree of classes.
    complete : bool
        No training row missed a value in a column that the tree tests: then where such rows go is free.

    Examples
    --------
    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"]))
    >>> leaf, split = node_bits(tree, complete=True)
    >>> leaf.tolist(), split.tolist()
    ([2.0, 2.0, 2.0], [12.0, inf, inf])
    """
    parts = _split_parts(tree, complete)
    split = np.where(tree.is_leaf, np.inf, 1.0 + sum(parts.values()))
    return np.full(tree.n_nodes, 1.0 + _label_bits(tree)), split


def tree_bits(tree: Tree, *, complete: bool = False) -> dict[str, float]:
    """The bits of a tree by what they say; their sum is its length.

    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"]))
    >>> tree_bits(tree, complete=True)
    {'header': 2.0, 'shape': 3.0, 'columns': 0.0, 'thresholds': 11.0, 'leaves': 2.0}
    """
    parts = {name: float(bits.sum()) for name, bits in _split_parts(tree, complete).items()}
    kept = {name: bits for name, bits in parts.items() if bits or name in ("columns", "thresholds")}
    leaves = tree.n_leaves * _label_bits(tree)
    return {"header": float(HEADER_BITS), "shape": float(tree.n_nodes), **kept, "leaves": leaves}


def is_complete(tree: Tree, data: Dataset) -> bool:
    """Whether no row misses a value, or has an unknown category, in a column that the tree tests."""
    tested = np.unique(tree.feature[~tree.is_leaf]).tolist()
    if isinstance(data.columns, np.ndarray):
        return not np.isnan(data.columns[:, tested]).any()
    columns = (data.columns[j] for j in tested)
    return not any((x < 0).any() if x.dtype.kind == "i" else np.isnan(x).any() for x in columns)


def _label_bits(tree: Tree) -> float:
    if not tree.schema.predicts_classes:
        raise ValueError("this tree predicts numbers, which no code of few bits can write; held-out rows can")
    return sum(log2(width) for width in tree.schema.block_widths)


def _split_parts(tree: Tree, complete: bool) -> dict[str, Floats]:
    """The bits of each split's parts; 0 at leaves."""
    schema = tree.schema
    inner = ~tree.is_leaf
    among = tree.subset >= 0
    counts = np.array([*schema.category_counts, 0])  # the last is for leaves, whose column is -1
    return {
        "columns": np.where(inner, log2(len(schema.columns)), 0.0),
        "thresholds": _threshold_bits(tree),
        "categories": np.where(among, counts[tree.feature], 0.0).astype(np.float64),
        "missing": np.where(inner & (not complete), 1.0 + among, 0.0),
    }


def _is_time(tree: Tree) -> NDArray[np.bool_]:
    """Whether each node tests a time."""
    times = np.array([*(column.kind == "time" for column in tree.schema.columns), False])
    return np.asarray(times[tree.feature])


def _has_signs(tree: Tree) -> bool:
    """Whether a threshold of numbers lies below zero."""
    below = np.isfinite(tree.threshold) & (tree.threshold < 0)
    return bool((below & ~_is_time(tree)).any())


def _threshold_bits(tree: Tree) -> Floats:
    bits = np.zeros(tree.n_nodes)
    signed, times = _has_signs(tree), _is_time(tree)
    tests = ~tree.is_leaf & (tree.subset < 0)
    for which, length in ((tests & times, time_bits), (tests & ~times, _number_length(signed))):
        values, place = np.unique(tree.threshold[which], return_inverse=True)
        bits[which] = np.array([length(value) for value in values.tolist()], np.float64)[place]
    return bits


def _number_length(signed: bool) -> Any:
    return lambda value: number_bits(value, signed)


class Written(NamedTuple):
    """What a word tells: for each split its column, test and directions; for each leaf and target its class."""

    shape: list[bool]  # in preorder: whether a node is a split
    feature: list[int]
    test: list[Any]  # a threshold, or for each category whether it goes left
    missing_left: list[bool]  # empty where the tree has not said it
    unknown_left: list[bool]  # for the tests of categories only
    label: list[int]


def told(tree: Tree, *, complete: bool = False) -> Written:
    """What the word of a tree has to tell."""
    splits = np.flatnonzero(~tree.is_leaf)
    among = splits[tree.subset[splits] >= 0]
    sides = (splits[:0], among[:0]) if complete else (splits, among)
    unknown_left = tree.weight[tree.left[sides[1]]] >= tree.weight[tree.right[sides[1]]]
    return Written(
        (~tree.is_leaf).tolist(),
        tree.feature[splits].tolist(),
        [_subset(tree, i) if tree.subset[i] >= 0 else float(tree.threshold[i]) + 0.0 for i in splits],
        tree.missing_left[sides[0]].tolist(),
        unknown_left.tolist(),
        tree.label[tree.is_leaf].ravel().tolist(),
    )


def write(tree: Tree, *, complete: bool = False) -> str:
    """The whole word of a tree, in bits.

    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"]))
    >>> word = write(tree, complete=True)
    >>> len(word), read(word, tree.schema) == told(tree, complete=True)
    (18, True)
    """
    signed, what = _has_signs(tree), told(tree, complete=complete)
    kinds = [column.kind for column in tree.schema.columns]
    number, most = 0, 1
    digits = zip([*what.feature, *what.label], _radix(tree.schema, len(what.feature)), strict=True)
    for digit, base in reversed(list(digits)):
        number, most = number * base + digit, most * base
    words = [f"{signed:b}{not complete:b}", "".join("01"[is_split] for is_split in what.shape)]
    words += [f"{number:0{width}b}"] if (width := (most - 1).bit_length()) else []
    for column, test in zip(what.feature, what.test, strict=True):
        if kinds[column] == "category":
            words.append("".join("01"[left] for left in test))
        else:
            words.append(write_time(test) if kinds[column] == "time" else write_number(test, signed))
    words.append("".join("01"[left] for left in chain(what.missing_left, what.unknown_left)))
    return "".join(words)


def read(bits: str, schema: Schema) -> Written:
    """What a word tells to one who knows the schema; EOFError if it ends too early."""
    reader = Reader(bits)
    signed, directed = bool(reader.take(1)), bool(reader.take(1))
    shape: list[bool] = []
    wanted = 1  # nodes that must still come
    while wanted:
        shape.append(bool(reader.take(1)))
        wanted += 1 if shape[-1] else -1
    splits = sum(shape)
    radix = _radix(schema, splits)
    most = 1
    for base in radix:
        most *= base
    number, digits = reader.take((most - 1).bit_length()), []
    for base in radix:
        number, digit = divmod(number, base)
        digits.append(digit)
    feature, tests = digits[:splits], []
    for column in feature:
        kind = schema.columns[column].kind
        if kind == "category":
            tests.append([bool(reader.take(1)) for _ in schema.columns[column].categories])
        else:
            tests.append(read_time(reader) if kind == "time" else read_number(reader, signed))
    among = sum(schema.columns[column].kind == "category" for column in feature)
    missing_left = [bool(reader.take(1)) for _ in range(splits if directed else 0)]
    unknown_left = [bool(reader.take(1)) for _ in range(among if directed else 0)]
    return Written(shape, feature, tests, missing_left, unknown_left, digits[splits:])


def _subset(tree: Tree, node: int) -> list[bool]:
    """For each category that the schema names whether it goes left."""
    column = tree.feature[node]
    start, size = int(tree.subset[node]), tree.schema.subset_sizes[column]
    bits = np.unpackbits(tree.subsets[start : start + size], bitorder="little")
    listed: list[bool] = bits[: tree.schema.category_counts[column]].astype(bool).tolist()
    return listed


def _radix(schema: Schema, splits: int) -> list[int]:
    """How many values each digit may take: the columns of all splits, then the labels of all leaves."""
    return [len(schema.columns)] * splits + list(schema.block_widths) * (splits + 1)
