"""A prefix code of trees that was fixed before any data were seen, and the length of a tree in it.

    header      2 bits: are there thresholds below zero? are there directions of missing values?
                5 for a tree that tests sums
    shape       1 bit for each node: a leaf or a split
    columns     log2(columns) for each split; log2(columns + 1) where the tree tests sums, which are one more
    sums        how many columns, which ones, and the decimals that are printed as their weights
    thresholds  the decimal that is printed, in a prefix code; times by calendar unit
    categories  1 bit for a side, and the names of those that go there; all others go to the other side
    missing     nothing, or 1 bit for each split
    leaves      log2(classes) for each leaf and target

Tests and kinds of columns write themselves (`StoredTest.write`, `Kind.write_threshold`). Every part belongs
to one node, so lengths add up over nodes and a pruner can compare a node as a leaf with the same node as a
split. Columns and classes share one number in mixed radix, so that fractions of bits are really saved: the
word that `write` makes is at most one bit longer than the sum.

Categories are named because the list of categories is mostly read from the training rows: a code that only
counts them would depend on the rows. The lighter side is named: unknown categories go to the heavier one, and
so do those that did not occur at the node, so that the word defines the test for every category.

Sums cost nothing in trees without them. A header with thresholds below zero, for a tree of one leaf, which
has none, is never needed: its three bits announce a tree with sums, whose own header follows.

Missing values may cost nothing. Let no training row have a missing value in a column that the tree tests.
Take the tree that is wrong for every row in which a tested value is missing. It makes the same mistakes on
the training rows, and it needs no directions to be described; its true error, which the code bounds, is at
least that of the tree that does predict those rows. So the bound holds for every choice of directions, the
grower's own included (to the heavier child, which depends on the rows and could not be part of a code fixed
before them). Where values were missing, the directions were chosen with the rows in view, and each has to be
paid for. The training rows show which is the case; the tree alone does not.
"""

from __future__ import annotations

from math import log2, prod
from typing import NamedTuple

import numpy as np

from treewright.certifying.binomial import Floats
from treewright.encoding import Dataset, prefix_codes
from treewright.encoding.schema import Column, Schema
from treewright.tree import Tree
from treewright.tree.conditions import TESTS, CodeOptions, NodeTest
from treewright.tree.missing import refuse_sending
from treewright.tree.oblique import Direction, asked_columns

HEADER_BITS = 2
_HAS_SUMS = "100"
_FEW = 32  # digits that are joined one by one


def header_bits(tree: Tree) -> int:
    """The bits that come before the nodes."""
    return HEADER_BITS + len(_HAS_SUMS) * bool(tree.directions)


def coded_columns(tree: Tree) -> int:
    """The number of choices of each split: the columns, and one more for sums of columns."""
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
        No training row has a missing value in a column that the tree tests: then directions are free.
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
    """The bits of a tree by their meaning; their sum is its length.

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
    """Whether no row has a missing value or an unknown category in a column that the tree tests."""
    columns = asked_columns(tree)
    if any(np.isnan(direction.values(data)).any() for direction in tree.directions):  # of infinite parts, too
        return False
    if isinstance(data.columns, np.ndarray):
        return not np.isnan(data.columns[:, columns]).any()
    return not any(tree.schema.columns[j].type.is_unknown(data.columns[j]).any() for j in columns)


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
        **_test_bits(tree, known),
        "missing": np.where(inner & (not complete), 1.0, 0.0),
    }


def _sum_bits(tree: Tree) -> Floats:
    """What the sum of each node takes that tests one."""
    n_columns = len(tree.schema.columns)
    lengths = [float(sum_bits(direction, n_columns)) for direction in tree.directions]
    return np.array([0.0, *lengths])[np.maximum(tree.feature - n_columns + 1, 0)]


def _code_options(tree: Tree, known: bool) -> CodeOptions:
    has_sign = np.array([*(column.type.has_sign_bit for column in tree.tested), False])[tree.feature]
    below = np.isfinite(tree.threshold) & (tree.threshold < 0)
    return CodeOptions(bool((below & has_sign).any()), known)


def _test_bits(tree: Tree, known: bool) -> dict[str, Floats]:
    """The bits of the test of each node, by their meaning."""
    code = _code_options(tree, known)
    parts = {test.coded_as: np.zeros(tree.n_nodes) for test in TESTS.values()}
    for kind in dict.fromkeys(column.type for column in tree.tested):
        is_tested = np.array([*(column.type is kind for column in tree.tested), False])[tree.feature]
        nodes, test = np.flatnonzero(is_tested), TESTS[kind.test]
        if nodes.size:
            parts[test.coded_as][nodes] = test.node_bits(tree, nodes, kind, code)
    return parts


class Contents(NamedTuple):
    """What a word says: of each split the column, test and sides; of each leaf its classes."""

    shape: list[bool]  # in preorder: whether a node is a split
    feature: list[int]  # as many as there are columns where a sum is tested
    sums: list[Direction]  # of the splits that test one
    tests: list[NodeTest]
    missing_left: list[bool]  # empty where the tree does not say it
    unknown_left: list[bool]  # for tests that name one side only: whether other values go left
    label: list[int]


def contents(tree: Tree, *, complete: bool = False, known: bool = False) -> Contents:
    """What the word of a tree says."""
    splits, n_columns = np.flatnonzero(~tree.is_leaf), len(tree.schema.columns)
    tests = [tree.stored_test(node) for node in splits.tolist()]
    named = splits[[test.names_a_side and not known for test in tests]]
    return Contents(
        (~tree.is_leaf).tolist(),
        np.minimum(tree.feature[splits], n_columns).tolist(),
        [tree.directions[i - n_columns] for i in tree.feature[splits].tolist() if i >= n_columns],
        [test.by_name() for test in tests],
        [] if complete else tree.missing_left[splits].tolist(),
        tree.heavier_left[named].tolist(),
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
    code, what = _code_options(tree, known), contents(tree, complete=complete, known=known)
    radix = _radix(tree.schema, len(what.feature), coded_columns(tree))
    number, width = _join_digits([*what.feature, *what.label], radix), (_product(radix) - 1).bit_length()
    words = [
        _HAS_SUMS * bool(tree.directions),
        f"{code.signed:b}{not complete:b}",
        "".join("01"[is_split] for is_split in what.shape),
    ]
    words += [f"{number:0{width}b}"] if width else []
    sums = iter(what.sums)
    for node, j in zip(np.flatnonzero(what.shape).tolist(), what.feature, strict=True):
        if j == len(tree.schema.columns):
            words.append(write_sum(next(sums), j))
        words.append(tree.stored_test(node).write(code, bool(tree.heavier_left[node])))
    words.append("".join("01"[left] for left in what.missing_left))
    return "".join(words)


def read(bits: str, schema: Schema, *, known: bool = False) -> Contents:
    """What a word says to one who knows the schema; EOFError if it ends too early."""
    reader = prefix_codes.Reader(bits)
    n_columns = len(schema.columns)
    has_sums = bits.startswith(_HAS_SUMS)
    reader.take(len(_HAS_SUMS) * has_sums)
    code, has_directions = CodeOptions(bool(reader.take(1)), known), bool(reader.take(1))
    shape: list[bool] = []
    n_open = 1  # nodes that must still come
    while n_open:
        shape.append(bool(reader.take(1)))
        n_open += 1 if shape[-1] else -1
    splits = sum(shape)
    radix = _radix(schema, splits, n_columns + has_sums)
    digits = _split_digits(reader.take((_product(radix) - 1).bit_length()), radix)
    tests: list[NodeTest] = []
    unknown_left, sums = [], []
    for j in digits[:splits]:
        if j == n_columns:
            sums.append(read_sum(reader, n_columns))
        column = schema.columns[j] if j < n_columns else Column(sums[-1].name(schema))
        test, others_left = TESTS[column.type.test].read(reader, column, code)
        tests.append(test.by_name())
        if test.names_a_side and not known:
            unknown_left.append(others_left)
    missing_left = [bool(reader.take(1)) for _ in range(splits if has_directions else 0)]
    return Contents(shape, digits[:splits], sums, tests, missing_left, unknown_left, digits[splits:])


def rewrites(tree: Tree, bits: float, *, complete: bool, known: bool) -> bool:
    """Whether the word of a tree reads as the tree again, and is so many bits long, rounded up."""
    word = write(tree, complete=complete, known=known)
    same = read(word, tree.schema, known=known) == contents(tree, complete=complete, known=known)
    return same and 0 <= len(word) - bits + 1e-6 < 1 + 2e-6


def _radix(schema: Schema, splits: int, n_columns: int) -> list[int]:
    """How many values each digit may take: the columns of all splits, then the labels of all leaves."""
    return [n_columns] * splits + list(schema.block_widths) * (splits + 1)


# One number of all digits, the first one being worth least. Halves are joined, so that the time for many
# splits is not quadratic; the recursion is as deep as the logarithm of their number.


def _product(radix: list[int]) -> int:
    if len(radix) <= _FEW:
        return prod(radix)
    half = len(radix) // 2
    return _product(radix[:half]) * _product(radix[half:])


def _join_digits(digits: list[int], radix: list[int]) -> int:
    if len(digits) <= _FEW:
        number = 0
        for digit, base in zip(reversed(digits), reversed(radix), strict=True):
            number = number * base + digit
        return number
    half = len(digits) // 2
    low, high = _join_digits(digits[:half], radix[:half]), _join_digits(digits[half:], radix[half:])
    return low + _product(radix[:half]) * high


def _split_digits(number: int, radix: list[int]) -> list[int]:
    if len(radix) <= _FEW:
        digits = []
        for base in radix:
            number, digit = divmod(number, base)
            digits.append(digit)
        return digits
    half = len(radix) // 2
    high, low = divmod(number, _product(radix[:half]))
    return _split_digits(low, radix[:half]) + _split_digits(high, radix[half:])


# A weighted sum of columns: their number, the columns, and the printed weights.


def sum_bits(direction: Direction, n_columns: int) -> int:
    """The length of what `write_sum` writes.

    >>> sum_bits(Direction((0, 2), (1.0, -0.5)), 4)  # 1 for the number, 4 for the columns, 6 for each weight
    17
    """
    width = (n_columns - 1).bit_length()
    weights = sum(prefix_codes.number_bits(weight, signed=True) for weight in direction.weights)
    return prefix_codes.whole_bits(len(direction.columns) - 1, 0) + width * len(direction.columns) + weights


def write_sum(direction: Direction, n_columns: int) -> str:
    """A sum of some of so many columns: two at least, in the order in which they are added up."""
    width = (n_columns - 1).bit_length()
    words = [prefix_codes.write_whole(len(direction.columns) - 1, 0)]
    words += [f"{column:0{width}b}" for column in direction.columns]
    words += [prefix_codes.write_number(weight, signed=True) for weight in direction.weights]
    return "".join(words)


def read_sum(reader: prefix_codes.Reader, n_columns: int) -> Direction:
    """The sum that a word writes.

    >>> read_sum(prefix_codes.Reader(write_sum(Direction((0, 2), (1.0, -0.5)), 4)), 4)
    Direction(columns=(0, 2), weights=(1.0, -0.5))
    """
    length, width = prefix_codes.read_whole(reader, 0) + 1, (n_columns - 1).bit_length()
    columns = [reader.take(width) for _ in range(length)]
    return Direction.of(columns, [prefix_codes.read_number(reader, signed=True) for _ in range(length)])
