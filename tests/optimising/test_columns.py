"""What columns are worth: trees that test one first, and trees that may not test it."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.optimising.oracle import close
from tests.optimising.tables import TinyTable, tiny_tables
from treewright import doing_without, optimise


@given(tiny_tables())
def test_no_tree_that_tests_the_column_first_is_better(table: TinyTable) -> None:
    limits = {"min_samples_leaf": 1, **table.limits}
    limits.pop("max_leaf_nodes", None)
    optimum, oracle = optimise(table.data, **limits), table.oracle()
    for each in optimum.first_columns.columns if limits["max_depth"] else ():
        assert each.is_proved
        assert close(each.loss, oracle.least_from(each.position, limits["max_depth"]))


@given(tiny_tables())
def test_no_tree_without_the_column_is_better(table: TinyTable) -> None:
    optimum = optimise(table.data, **table.limits)
    for each in doing_without(optimum, table.data).columns:
        oracle = table.oracle(forbidden=frozenset([each.position]))
        least = oracle.least(table.limits["max_depth"], table.limits.get("max_leaf_nodes"))
        assert each.is_proved
        assert close(each.loss, least)
        assert each.more >= 0
        assert each.bound >= optimum.bound


def test_the_columns_print_as_a_table() -> None:
    data = {"a": [1, 2, 3, 4, 5, 6], "b": [1, 1, 2, 1, 2, 2]}, ["n", "n", "n", "y", "y", "y"]
    optimum = optimise(*data, max_depth=1)
    without = doing_without(optimum, *data)
    assert str(without).splitlines()[1:] == ["column   loss   more", "a           2     +2   proved"]
    assert without["a"].more == 2
    assert without.to_dict()["columns"][0]["column"] == "a"
    assert [each.column for each in optimum.first_columns.columns] == ["a", "b"]
    with pytest.raises(ValueError, match="data is not what the optimum was searched with"):
        doing_without(optimum, {"a": [1, 2], "b": [1, 2]}, ["n", "y"])
