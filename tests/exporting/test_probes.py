"""Hostile rows: they are at and next to the thresholds, reach the nodes, and are the same every time."""

from __future__ import annotations

import numpy as np
import pytest

from tests.exporting.trees import chain, edges_tree, hostile_tree, mixed_data, mixed_tree
from treewright import Column, Leaf, Schema, Target, Tree, encode, grow
from treewright.exporting._check.probes import decode_table, probes, unseen


@pytest.mark.slow
def test_every_threshold_and_its_neighbours_are_there() -> None:
    tree = mixed_tree("numbers", max_leaf_nodes=60)
    table = probes(tree)
    for node in np.flatnonzero((tree.feature >= 0) & (tree.subset < 0)).tolist():
        column = tree.schema.columns[tree.feature[node]]
        threshold = tree.threshold[node]
        if column.kind == "number":
            with np.errstate(over="ignore"):
                near = [threshold, np.nextafter(threshold, np.inf), np.nextafter(threshold, -np.inf)]
            assert np.isin(near, table[column.name]).all()
        elif np.isfinite(threshold):
            whole = np.floor(threshold)
            wanted = np.array([whole - 1, whole, whole + 1]).astype(np.int64).astype("M8[us]")
            assert np.isin(wanted, table[column.name]).all()


@pytest.mark.slow
def test_they_are_missing_infinite_zero_and_unseen() -> None:
    tree = mixed_tree()
    table = probes(tree)
    numbers = table["number"]
    assert np.isnan(numbers).any()
    assert {np.inf, -np.inf} <= set(numbers.tolist())
    assert {True, False} == {bool(np.signbit(x)) for x in numbers if x == 0}
    assert np.isnat(table["when"]).any()
    assert {None, "cook", "Cook"} <= set(table["text"])
    assert set(table["text"]) - {None} - set(tree.schema.columns[3].categories)
    encoded = encode(table, schema=tree.schema)
    for position in (3, 4):
        assert {-1, -2} <= set(np.asarray(encoded.columns[position]).tolist())


@pytest.mark.slow
@pytest.mark.parametrize("make", [mixed_tree, hostile_tree, lambda: chain(200)])
def test_they_come_to_every_leaf(make: object) -> None:
    tree = make()  # type: ignore[operator]
    leaves = tree.apply(encode(probes(tree, 4000), schema=tree.schema))
    reachable = tree.n_leaves if tree.depth == 200 else int(0.9 * tree.n_leaves)
    assert len(np.unique(leaves)) >= reachable


def test_the_same_seed_gives_the_same_rows() -> None:
    tree = mixed_tree(max_leaf_nodes=10)
    one, two, other = probes(tree, 500), probes(tree, 500), probes(tree, 500, seed=1)
    for name in one:
        assert str(list(one[name])) == str(list(two[name]))
    assert any(str(list(one[name])) != str(list(other[name])) for name in one)


@pytest.mark.parametrize("n", [1, 2, 7, 100])
def test_as_many_rows_as_asked_for(n: int) -> None:
    for tree in (mixed_tree(max_leaf_nodes=5), edges_tree(), hostile_tree(), chain(50)):
        assert {len(column) for column in probes(tree, n).values()} == {n}
    with pytest.raises(ValueError, match="n is 0"):
        probes(edges_tree(), 0)


@pytest.mark.slow
def test_a_leaf_alone_and_a_wide_table() -> None:
    leaf = Tree.write(Schema((Column("x"),), (Target("y", ("a", "b")),)), Leaf([1.0, 2.0]))
    assert leaf.predict(probes(leaf, 20)).tolist() == ["b"] * 20
    wide = np.zeros((4, 3000))
    wide[2:, 7] = 1.0
    tree = grow(encode(wide, ["a", "a", "b", "b"]))
    table = probes(tree, 1000)
    assert len(table) == 3000
    assert set(tree.predict(table)) == {"a", "b"}


def test_an_encoded_table_becomes_values_again() -> None:
    data = mixed_data("texts")
    again = encode(decode_table(data), schema=data.schema)
    for one, two in zip(data.columns, again.columns, strict=True):
        np.testing.assert_array_equal(one, two)
    matrix = encode(np.array([[1.0, 2.0], [3.0, np.nan]], np.float32))
    np.testing.assert_array_equal(decode_table(matrix)["x1"], [2.0, np.nan])


def test_unseen_values_are_none_of_the_categories() -> None:
    for categories in (("a", "A"), (1, 2), (1.0, 2.5), (True,), ("",), ()):
        found = unseen(Column("c", "category", categories))
        assert found
        assert not set(found) & set(categories)
    assert unseen(Column("c", "category", (False, True))) == ()
