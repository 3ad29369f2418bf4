"""A code of trees that was fixed before any table was seen, and how many bits a tree takes in it.

    header      2 bits: are there thresholds below zero? does the tree say where missing values go?
                5 for a tree that tests sums
    shape       1 bit for each node: a leaf or a split
    columns     log2(columns) for each split; log2(columns + 1) where the tree tests sums, which are one more
    sums        how many columns, which ones, and the decimals that are printed as their weights
    thresholds  the decimal that is printed, in the prefix code of `decimals`; times by calendar unit
    categories  1 bit for a side, and the names of those that go there; all others go to the other side
    missing     nothing, or 1 bit for each split
    leaves      log2(classes) for each leaf and target

Every part belongs to one node, so lengths add up over nodes and a pruner can weigh a node as a leaf against
the same node as a split. Columns and classes share one number in mixed radix, so that fractions of bits are
really saved: `write` makes the whole word, one bit longer at most than the sum says.

Why categories are named. Which categories there are is mostly read from the training rows, and a code that
only counts them would be made of the rows. The side that is named is the lighter one: unknown categories go
to the heavier one, and so do those that did not come by, so that the word tells the test for every category
that there is, whether a row had it or not.

Why sums are free to those who have none. That thresholds lie below zero in a tree of one leaf, where there
are none, is a word that nobody needs: its three bits announce a tree with sums, whose own header follows.

Why missing values may cost nothing. Let no training row have missed a value in a column that the tree tests.
Take the tree that gives a wrong answer to every row in which a tested value is missing. It makes the same
mistakes on the training rows, and it needs no directions to be described; its true error, which the code
bounds, is at least that of the tree that does answer those rows. So the bound holds for every choice of
directions, the grower's own included (to the heavier child: that is read from the rows, and could not be part
of a code that knows no rows). Where values were missing, the directions were chosen with the rows in view,
and each has to be paid for. The tree alone does not tell which is the case; its training rows do.
"""

from __future__ import annotations

from math import log2, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright.certifying.prefix_codes import (
    Reader,
    count_bits,
    name_bits,
    number_bits,
    read_names,
    read_number,
    read_sum,
    read_time,
    sum_bits,
    time_bits,
    write_names,
    write_number,
    write_sum,
    write_time,
)
from treewright.encoding import Dataset
from treewright.encoding.schema import Column, Schema
from treewright.tree import Tree
from treewright.tree.missing import refuse_sending
from treewright.tree.oblique import Direction, asked_columns

Floats = NDArray[np.float64]

HEADER_BITS = 2
_HAS_SUMS = "100"
_FEW = 32  # digits that are joined one by one
_BLOCK = 2**22  # categories that are looked at together


def header_bits(tree: Tree) -> int:
    """The bits that come before the nodes."""
    return HEADER_BITS + len(_HAS_SUMS) * bool(tree.directions)


def coded_columns(tree: Tree) -> int:
    """Among how many columns each split chooses; a sum of some of them is one more."""
    return len(tree.schema.columns) + bool(tree.directions)


def node_bits(tree: Tree, *, complete: bool = False, known: bool = False) -> tuple[Floats, Floats]:
    """For each node its bits as a leaf, and its own bits as a split (infinite where it has no test).

    The length of a pruning is header_bits(tree) + the first over its leaves + the second over its splits. The
    code of the whole tree is used for all of them: a legal one, if not always the shortest.

    Parameters
    ----------
    tree : Tree
        A tree of classes.
    complete : bool
        No training row missed a value in a column that the tree tests: then where such rows go is free.
    known : bool
        The list of the categories of each column was known before the rows were, and there are no others.

    Examples
    --------
    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"]))
    >>> leaf, split = node_bits(tree, complete=True)
    >>> leaf.tolist(), split.tolist()
    ([2.0, 2.0, 2.0], [12.0, inf, inf])
    """
    parts = _split_parts(tree, complete, known)
    split = np.where(tree.is_leaf, np.inf, 1.0 + sum(parts.values()))
    return np.full(tree.n_nodes, 1.0 + _label_bits(tree)), split


def tree_bits(tree: Tree, *, complete: bool = False, known: bool = False) -> dict[str, float]:
    """The bits of a tree by what they say; their sum is its length.

    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"]))
    >>> tree_bits(tree, complete=True)
    {'header': 2.0, 'shape': 3.0, 'columns': 0.0, 'thresholds': 11.0, 'leaves': 2.0}
    """
    parts = {name: float(bits.sum()) for name, bits in _split_parts(tree, complete, known).items()}
    kept = {name: bits for name, bits in parts.items() if bits or name in ("columns", "thresholds")}
    leaves = tree.n_leaves * _label_bits(tree)
    return {"header": float(header_bits(tree)), "shape": float(tree.n_nodes), **kept, "leaves": leaves}


def is_complete(tree: Tree, data: Dataset) -> bool:
    """Whether no row misses a value, or has an unknown category, in a column that the tree tests."""
    tested = asked_columns(tree)
    if any(np.isnan(direction.values(data)).any() for direction in tree.directions):  # of infinite parts, too
        return False
    if isinstance(data.columns, np.ndarray):
        return not np.isnan(data.columns[:, tested]).any()
    columns = (data.columns[j] for j in tested)
    return not any((x < 0).any() if x.dtype.kind == "i" else np.isnan(x).any() for x in columns)


def _label_bits(tree: Tree) -> float:
    if not tree.schema.predicts_classes:
        raise ValueError("this tree predicts numbers, which no code of few bits can write; held-out rows can")
    return sum(log2(width) for width in tree.schema.block_widths)


def _split_parts(tree: Tree, complete: bool, known: bool) -> dict[str, Floats]:
    """The bits of each split's parts; 0 at leaves."""
    inner = ~tree.is_leaf
    if not complete:
        refuse_sending(
            tree,
            "a code of its tests does not tell that. Give rows that were never used (test=), or the training "
            "rows (data=) if none of them misses a value; or",
        )
    return {
        "columns": np.where(inner, log2(coded_columns(tree)), 0.0),
        "sums": _sum_bits(tree),
        "thresholds": _threshold_bits(tree),
        "categories": _known_bits(tree) if known else _category_bits(tree),
        "missing": np.where(inner & (not complete), 1.0, 0.0),
    }


def _sum_bits(tree: Tree) -> Floats:
    """What the sum of each node takes that tests one."""
    n_columns = len(tree.schema.columns)
    lengths = [float(sum_bits(direction, n_columns)) for direction in tree.directions]
    return np.array([0.0, *lengths])[np.maximum(tree.feature - n_columns + 1, 0)]


def _known_bits(tree: Tree) -> Floats:
    """A bit for each category, where categories are tested."""
    counts = np.array(tree.schema.category_counts)[np.where(tree.subset >= 0, tree.feature, 0)]
    return np.where(tree.subset >= 0, counts, 0).astype(np.float64)


def _category_bits(tree: Tree) -> Floats:
    """A bit for the side, the count of its names and the names, where categories are tested."""
    bits, schema = np.zeros(tree.n_nodes), tree.schema
    for column in np.unique(tree.feature[tree.subset >= 0]).tolist():
        lengths = np.array([name_bits(name) for name in schema.columns[column].categories], np.float64)
        counts = np.array([count_bits(count) for count in range(len(lengths) + 1)])
        nodes = np.flatnonzero((tree.feature == column) & (tree.subset >= 0))
        step = max(_BLOCK // (len(lengths) + 1), 1)
        for some in (nodes[i : i + step] for i in range(0, len(nodes), step)):
            named = _subsets(tree, some) != tree.heavier_left[some, np.newaxis]
            bits[some] = 1.0 + counts[named.sum(axis=1)] + named @ lengths
    return bits


def _is_time(tree: Tree) -> NDArray[np.bool_]:
    """Whether each node tests a time."""
    times = np.array([*(column.kind == "time" for column in tree.tested), False])
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
    """What a word tells: of each split the column, test and sides; of each leaf its classes."""

    shape: list[bool]  # in preorder: whether a node is a split
    feature: list[int]  # as many as there are columns where a sum is tested
    sums: list[Direction]  # of the splits that test one
    test: list[Any]  # a threshold, or for each category whether it goes left
    missing_left: list[bool]  # empty where the tree has not said it
    unknown_left: list[bool]  # for the tests of categories only: the side that is not named, if one is
    label: list[int]


def contents(tree: Tree, *, complete: bool = False, known: bool = False) -> Written:
    """What the word of a tree has to tell."""
    splits, n_columns = np.flatnonzero(~tree.is_leaf), len(tree.schema.columns)
    among = splits[tree.subset[splits] >= 0]
    return Written(
        (~tree.is_leaf).tolist(),
        np.minimum(tree.feature[splits], n_columns).tolist(),
        [tree.directions[i - n_columns] for i in tree.feature[splits].tolist() if i >= n_columns],
        [
            _subsets(tree, np.array([i]))[0].tolist()
            if tree.subset[i] >= 0
            else float(tree.threshold[i]) + 0.0
            for i in splits.tolist()
        ],
        [] if complete else tree.missing_left[splits].tolist(),
        [] if known else tree.heavier_left[among].tolist(),
        tree.label[tree.is_leaf].ravel().tolist(),
    )


def write(tree: Tree, *, complete: bool = False, known: bool = False) -> str:
    """The whole word of a tree, in bits.

    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"]))
    >>> word = write(tree, complete=True)
    >>> len(word), read(word, tree.schema) == contents(tree, complete=True)
    (18, True)
    """
    signed, what = _has_signs(tree), contents(tree, complete=complete, known=known)
    unknown_left, sums = iter(what.unknown_left), iter(what.sums)
    radix = _radix(tree.schema, len(what.feature), coded_columns(tree))
    number, width = _packed([*what.feature, *what.label], radix), (_product(radix) - 1).bit_length()
    words = [
        _HAS_SUMS * bool(tree.directions),
        f"{signed:b}{not complete:b}",
        "".join("01"[is_split] for is_split in what.shape),
    ]
    words += [f"{number:0{width}b}"] if width else []
    for j, test in zip(what.feature, what.test, strict=True):
        column = tree.tested[j]  # of any sum the first: all are numbers
        if j == len(tree.schema.columns):
            words.append(write_sum(next(sums), j))
        if column.kind == "category" and known:
            words.append("".join("01"[left] for left in test))
        elif column.kind == "category":
            others = next(unknown_left)
            named = [name for name, left in zip(column.categories, test, strict=True) if left != others]
            words += ["01"[others], write_names(named)]
        else:
            words.append(write_time(test) if column.kind == "time" else write_number(test, signed))
    words.append("".join("01"[left] for left in what.missing_left))
    return "".join(words)


def read(bits: str, schema: Schema, *, known: bool = False) -> Written:
    """What a word tells to one who knows the schema; EOFError if it ends too early."""
    reader = Reader(bits)
    n_columns = len(schema.columns)
    has_sums = bits.startswith(_HAS_SUMS)
    reader.take(len(_HAS_SUMS) * has_sums)
    signed, directed = bool(reader.take(1)), bool(reader.take(1))
    shape: list[bool] = []
    wanted = 1  # nodes that must still come
    while wanted:
        shape.append(bool(reader.take(1)))
        wanted += 1 if shape[-1] else -1
    splits = sum(shape)
    radix = _radix(schema, splits, n_columns + has_sums)
    digits = _unpacked(reader.take((_product(radix) - 1).bit_length()), radix)
    feature = digits[:splits]
    tests: list[Any] = []
    unknown_left, sums = [], []
    for j in feature:
        column = schema.columns[j] if j < n_columns else Column("a sum")
        if j == n_columns:
            sums.append(read_sum(reader, n_columns))
        if column.kind == "category" and known:
            tests.append([bool(reader.take(1)) for _ in column.categories])
        elif column.kind == "category":
            unknown_left.append(bool(reader.take(1)))
            named = set(read_names(reader, all(isinstance(name, bool) for name in column.categories)))
            tests.append([(str(name) in named) != unknown_left[-1] for name in column.categories])
        else:
            tests.append(read_time(reader) if column.kind == "time" else read_number(reader, signed))
    missing_left = [bool(reader.take(1)) for _ in range(splits if directed else 0)]
    return Written(shape, feature, sums, tests, missing_left, unknown_left, digits[splits:])


def rewrites(tree: Tree, bits: float, *, complete: bool, known: bool) -> bool:
    """Whether the word of a tree reads as the tree again, and is so many bits long, rounded up."""
    word = write(tree, complete=complete, known=known)
    same = read(word, tree.schema, known=known) == contents(tree, complete=complete, known=known)
    return same and 0 <= len(word) - bits + 1e-6 < 1 + 2e-6


def _subsets(tree: Tree, nodes: NDArray[Any]) -> NDArray[np.bool_]:
    """For nodes that test one column: for each category that the schema names whether it goes left."""
    column = tree.feature[nodes[0]]
    place = tree.subset[nodes][:, np.newaxis] + np.arange(tree.schema.subset_sizes[column])
    bits = np.unpackbits(tree.subsets[place], axis=1, bitorder="little")
    return bits[:, : tree.schema.category_counts[column]].astype(np.bool_)


def _radix(schema: Schema, splits: int, n_columns: int) -> list[int]:
    """How many values each digit may take: the columns of all splits, then the labels of all leaves."""
    return [n_columns] * splits + list(schema.block_widths) * (splits + 1)


# One number of all digits, the first one being worth least. Halves are joined, so that a tree of many splits
# does not take the square of their number; the calls go as deep as its logarithm.


def _product(radix: list[int]) -> int:
    if len(radix) <= _FEW:
        return prod(radix)
    half = len(radix) // 2
    return _product(radix[:half]) * _product(radix[half:])


def _packed(digits: list[int], radix: list[int]) -> int:
    if len(digits) <= _FEW:
        number = 0
        for digit, base in zip(reversed(digits), reversed(radix), strict=True):
            number = number * base + digit
        return number
    half = len(digits) // 2
    low, high = _packed(digits[:half], radix[:half]), _packed(digits[half:], radix[half:])
    return low + _product(radix[:half]) * high


def _unpacked(number: int, radix: list[int]) -> list[int]:
    if len(radix) <= _FEW:
        digits = []
        for base in radix:
            number, digit = divmod(number, base)
            digits.append(digit)
        return digits
    half = len(radix) // 2
    high, low = divmod(number, _product(radix[:half]))
    return _unpacked(low, radix[:half]) + _unpacked(high, radix[half:])
