"""The code of trees: a real prefix code, whose lengths are those of the words that are written."""

from __future__ import annotations

import itertools
import math
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import TIMES, limits, table_of, tables
from treewright import Among, Below, Branch, Column, Leaf, Schema, Target, Tree, encode, grow
from treewright.certifying import HEADER_BITS, is_complete, node_bits, tree_bits
from treewright.certifying.tree_code import contents, read, write
from treewright.encoding import kinds
from treewright.encoding.kinds import Number
from treewright.encoding.prefix_codes import (
    Reader,
    count_bits,
    name_bits,
    number_bits,
    read_names,
    read_number,
    read_time,
    read_whole,
    time_bits,
    whole_bits,
    write_names,
    write_number,
    write_time,
    write_whole,
)

doubles = st.one_of(
    st.floats(allow_nan=False),
    st.integers(0, 2**64 - 1)
    .map(lambda bits: struct.unpack(">d", struct.pack(">Q", bits))[0])
    .filter(lambda x: not math.isnan(x)),
    st.tuples(st.integers(-99_999, 99_999), st.integers(-12, 12)).map(lambda a: float(f"{a[0]}e{a[1]}")),
)


@given(doubles)
def test_numbers_come_back_to_the_bit(value: float) -> None:
    word = write_number(value, signed=True)
    assert len(word) == number_bits(value, signed=True) <= 73
    assert read_number(Reader(word), signed=True) == value
    if value >= 0 or math.isinf(value):
        plain = write_number(value, signed=False)
        assert len(plain) == number_bits(value, signed=False) == len(word) - 1
        assert read_number(Reader(plain), signed=False) == value


@given(st.one_of(doubles, st.sampled_from(TIMES), st.integers(-(2**53), 2**53).map(float)))
def test_times_come_back_to_the_bit(value: float) -> None:
    word = write_time(value)
    assert len(word) == time_bits(value)
    assert read_time(Reader(word)) == value


@given(st.integers(1, 10**30), st.integers(0, 60))
def test_whole_numbers_come_back(number: int, k: int) -> None:
    word = write_whole(number, k)
    reader = Reader(word)
    assert read_whole(reader, k) == number
    assert reader.place == len(word) == whole_bits(number, k)


@pytest.mark.slow
def test_no_word_begins_another_and_kraft_holds() -> None:
    """Over all numbers of up to four digits in many places, zero, the infinities and raw doubles."""
    values = {0.0, math.inf, -math.inf, 1 / 3, 2 / 3, 1e-300 / 7}
    values |= {s * float(f"{d}e{e}") for s in (1, -1) for d in range(1, 2500) for e in range(-7, 5) if d % 10}
    words = sorted(write_number(value, signed=True) for value in values)
    assert not any(after.startswith(before) for before, after in itertools.pairwise(words))
    kraft = sum(0.5 ** len(word) for word in words)
    assert 0.8 < kraft <= 1, "short words are not wasted, and there are not too many"
    times = sorted(
        write_time(86_400e6 * day + rest) for day in range(-900, 30_000, 7) for rest in (0.0, 1e6, 0.5)
    )
    assert not any(after.startswith(before) for before, after in itertools.pairwise(times))
    assert sum(0.5 ** len(word) for word in times) <= 1


def test_words_that_end_too_early_are_noticed() -> None:
    word = write_number(0.0555, signed=False)
    for length in range(len(word)):
        with pytest.raises(EOFError):
            read_number(Reader(word[:length]), signed=False)


@pytest.mark.slow
@given(st.data())
def test_trees_come_back(data: st.DataObject) -> None:
    """Numbers, times, categories, missing values, several targets: what is written is what is read."""
    table = data.draw(tables("gini"))
    tree = table.grow("gini", **data.draw(limits()))
    complete = is_complete(tree, table.dataset())
    for free, known in itertools.product({False, complete}, (False, True)):
        said: Any = {"complete": free, "known": known}
        word, bits = write(tree, **said), tree_bits(tree, **said)
        assert read(word, tree.schema, known=known) == contents(tree, **said)
        assert 0 <= len(word) - sum(bits.values()) + 1e-9 < 1
        leaf, split = node_bits(tree, **said)
        total = HEADER_BITS + leaf[tree.is_leaf].sum() + split[~tree.is_leaf].sum()
        assert total == pytest.approx(sum(bits.values()))


@pytest.mark.slow
def test_all_small_trees_share_one_unit() -> None:
    """Kraft's sum over all trees of up to three splits on two yes-or-no columns, and all words differ."""
    schema = Schema((Column("a"), Column("b")), (Target("y", ("no", "yes")),))

    def trees(splits: int) -> list[Branch | Leaf]:
        if splits == 0:
            return [Leaf([1, 0]), Leaf([0, 1])]
        return [
            Branch(Below(column, 0.5), left, right, missing_left=False)
            for first in range(splits)
            for left in trees(first)
            for right in trees(splits - 1 - first)
            for column in "ab"
        ]

    written = [Tree.write(schema, root) for n in range(4) for root in trees(n)]
    words = sorted({write(tree, complete=True) for tree in written})
    assert len(words) == len(written)
    assert not any(after.startswith(before) for before, after in itertools.pairwise(words))
    assert sum(2.0 ** -sum(tree_bits(tree, complete=True).values()) for tree in written) <= 1


def test_what_costs_what() -> None:
    table = table_of(
        [[0, 1, 2, 0, 1, 2], [1.0, 2, 3, 4, 5, 6]], [0, 1, 1, 0, 1, 1], kinds=["category", "number"]
    )
    tree = table.grow("gini")
    assert tree.n_leaves == 2
    assert tree_bits(tree, complete=True) == {
        "header": 2, "shape": 3, "columns": 1, "thresholds": 0, "categories": 1 + 2 + 11, "leaves": 2,
    }  # fmt: skip
    assert tree_bits(tree)["missing"] == 1
    assert tree_bits(tree, complete=True, known=True)["categories"] == 8  # a bit for each that there may be
    below = Schema((Column("a"),), (Target("y", ("no", "yes")),))
    lengths = [
        tree_bits(Tree.write(below, Branch(Below("a", x), Leaf([1, 0]), Leaf([0, 1]))))["thresholds"]
        for x in (0.1, -0.1, 0.25, 1 / 3, math.inf, 0.0, -0.0)
    ]
    assert lengths == [3, 4, 9, 72, 8, 8, 8]


@pytest.mark.slow
@given(st.sets(st.text(max_size=3), max_size=4))
def test_names_come_back(names: set[str]) -> None:
    word = write_names(sorted(names))
    reader = Reader(word + "1")
    assert set(read_names(reader, are_bools=False)) == names
    assert reader.place == len(word) == count_bits(len(names)) + sum(map(name_bits, names))


def test_names_share_one_unit() -> None:
    """No name begins another one, and all names of up to two bytes leave room for longer ones."""
    short = ["", *map(chr, range(128)), *(chr(a) + chr(b) for a in range(128) for b in range(128))]
    words = sorted(write_names([name])[count_bits(1) :] for name in short)
    assert not any(after.startswith(before) for before, after in itertools.pairwise(words))
    assert sum(2.0 ** -name_bits(name) for name in short) < 1
    assert [write_names([x])[-1] for x in (False, True)] == ["0", "1"]
    assert read_names(Reader(write_names([False, True])), are_bools=True) == ["False", "True"]


def test_the_code_knows_no_categories_beforehand() -> None:
    """The length of a test does not depend on categories that others have, only on the names of one side."""

    def bits(jobs: list[str]) -> float:
        data = encode({"job": jobs}, ["yes"] + ["no"] * (len(jobs) - 1))
        tree = grow(data, max_leaf_nodes=2, category_gain="plain")  # of one row each, chance explains all
        return tree_bits(tree, complete=True)["categories"]

    few, many = ["cook", "clerk", "pilot"], ["cook", *(f"guest {i}" for i in range(300))]
    assert bits(few) == bits(many) == 1 + count_bits(1) + name_bits("cook")


def test_times_before_1970_need_no_sign_of_numbers() -> None:
    schema = Schema((Column("t", "time"), Column("a")), (Target("y", ("no", "yes")),))
    inner = Branch(Below("a", 0.1), Leaf([1, 0]), Leaf([0, 1]))
    tree = Tree.write(schema, Branch(Below("t", -86_400e6), inner, Leaf([1, 0])))
    bits = tree_bits(tree, complete=True)
    assert bits["thresholds"] == 3 + time_bits(-86_400e6)
    assert bits["leaves"] == 3
    assert write_time(946_684_800e6) == "0000" + write_whole(1, 5)  # years are counted from 2000
    word = write(tree, complete=True)
    assert word[0] == "0"
    assert read(word, schema) == contents(tree, complete=True)


def test_missing_and_unknown_categories_may_go_apart() -> None:
    """A missing value goes where the tree says, an unknown category to the heavier side."""
    schema = Schema((Column("c", "category", ("u", "v")),), (Target("y", ("no", "yes")),))
    for missing_left, heavy in ((True, 1), (False, 9)):
        sides = Leaf([heavy, 0]), Leaf([0, 5])
        tree = Tree.write(schema, Branch(Among("c", ("u",)), *sides, missing_left=missing_left))
        what = read(write(tree), schema)
        assert (what.missing_left, what.unknown_left) == ([missing_left], [heavy > 5])


def test_missing_values_are_seen_where_the_tree_looks() -> None:
    columns = {"x": [1.0, 2.0, 3.0, 4.0], "z": [1.0, math.nan, 1.0, 1.0]}
    data = encode(columns, ["a", "a", "b", "b"])
    tree = grow(data)
    assert is_complete(tree, data)
    assert not is_complete(tree, encode({**columns, "x": [1.0, math.nan, 3.0, 4.0]}, schema=data.schema))
    mixed = encode({"x": [1.0, 2.0], "c": ["u", None]}, ["a", "b"])
    by_category = Tree.write(mixed.schema, Branch(Among("c", ("u",)), Leaf([1, 0]), Leaf([0, 1])))
    assert not is_complete(by_category, mixed)
    assert is_complete(by_category, mixed.take([0]))
    assert not is_complete(by_category, encode({"x": [1.0], "c": ["unknown"]}, schema=mixed.schema))
    matrix = encode(np.array([[1.0, np.nan], [2.0, 0.0]]), ["a", "b"])
    assert is_complete(grow(matrix), matrix)


def test_numbers_as_targets_have_no_code() -> None:
    tree = grow(encode({"x": [1.0, 2.0]}, [0.5, 1.5]))
    with pytest.raises(ValueError, match="predicts numbers"):
        node_bits(tree)


def test_a_new_kind_of_column_codes_its_own_thresholds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The code of trees asks the kind; it is not edited for a new one."""

    class Grade(Number):
        name, plural, has_sign_bit = "grade", "grades", False

        def write_threshold(self, value: float, signed: bool) -> str:
            return f"{int(value):04b}"

        def read_threshold(self, reader: Reader, signed: bool) -> float:
            return float(reader.take(4))

        def threshold_bits(self, value: float, signed: bool) -> int:
            return 4

    monkeypatch.setitem(kinds.KINDS, "grade", Grade())
    schema = Schema((Column("g", "grade"), Column("x")), (Target("y", ("no", "yes")),))  # type: ignore[arg-type]
    below = Branch(Below("x", -0.5), Leaf([3, 1]), Leaf([1, 3]), missing_left=True)
    tree = Tree.write(schema, Branch(Below("g", 5.0), below, Leaf([0, 4]), missing_left=True))
    word = write(tree)
    assert read(word, schema) == contents(tree)
    assert tree_bits(tree)["thresholds"] == 4 + number_bits(-0.5, signed=True)
    assert 0 <= len(word) - sum(tree_bits(tree).values()) < 1
