"""The view by which the core predicts: kept with its tree, checked where it is made, as a plain walk is."""

from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright import Dataset, Tree, _core, encode, grow
from treewright.tree.view import view_of

CHAIN = 40  # leaves of a tree that is deeper than its rows are many


def grown(n_rows: int = 600, *, holes: float = 0.1, seed: int = 0, **limits: Any) -> tuple[Dataset, Tree]:
    """A tree of four columns of numbers, with missing values on both sides."""
    random = np.random.default_rng(seed)
    cells = random.normal(size=(n_rows, 4))
    y = cells[:, 0] * cells[:, 1] + cells[:, 2] > random.normal(size=n_rows) / 3
    cells[random.random(cells.shape) < holes] = np.nan
    data = encode(cells, y)
    return data, grow(data, **limits)


def plain_leaf(tree: Tree, row: np.ndarray) -> int:
    """The leaf of a row, test by test."""
    node = 0
    while not tree.is_leaf[node]:
        value = float(row[tree.feature[node]])
        left = bool(tree.missing_left[node]) if np.isnan(value) else value <= tree.threshold[node]
        node = int(tree.left[node] if left else tree.right[node])
    return node


def arrays_of(tree: Tree) -> dict[str, Any]:
    names = ("end", "feature", "threshold", "subset", "missing_left", "heavier_left", "subsets")
    return {"n_columns": len(tree.schema.columns)} | {name: np.array(getattr(tree, name)) for name in names}


# ---- walks -------------------------------------------------------------------------------------------------


@given(n_rows=st.integers(1, 1200), seed=st.integers(0, 99), max_depth=st.sampled_from([1, 5, 10, 11, 30]))
def test_a_walk_of_any_length_equals_one_by_hand(n_rows: int, seed: int, max_depth: int) -> None:
    """Blocks that are full and not full; rows as a matrix of either order, with gaps, and as columns."""
    _, tree = grown(seed=seed % 7, max_depth=max_depth)
    random = np.random.default_rng(seed)
    cells = np.round(random.normal(size=(n_rows, 4)), 1)
    cells[random.random(cells.shape) < 0.2] = np.nan
    known = tree.threshold[~tree.is_leaf]
    cells[0] = known[0] if len(known) else 0.0  # just at a threshold
    wanted = [plain_leaf(tree, row) for row in cells]
    wide = np.zeros((2 * n_rows, 8))
    wide[::2, 1:5] = cells
    shapes = [cells, np.asfortranarray(cells), wide[::2, 1:5], tuple(np.array(cells.T)), cells[::-1][::-1]]
    for columns in shapes:
        for threads in (1, 2):
            assert _core.apply(view_of(tree), columns, threads).tolist() == wanted
    single = cells.astype(np.float32)
    wanted = [plain_leaf(tree, row) for row in single]
    for columns in (single, np.asfortranarray(single)):
        assert _core.apply(view_of(tree), columns, 1).tolist() == wanted


def test_one_row_and_many_agree_whether_the_tree_is_laid_out_or_not() -> None:
    data, tree = grown()
    once = [int(tree.apply(data.take(np.array([i])))[0]) for i in range(50)]
    assert tree.apply(data)[:50].tolist() == once
    again = [int(tree.apply(data.take(np.array([i])))[0]) for i in range(50)]
    assert again == once
    assert tree.apply(data.take(np.arange(20)))[:20].tolist() == once[:20]


def test_chains() -> None:
    """A tree much deeper than a balanced one of its size."""
    x = np.arange(CHAIN, dtype=np.float64)
    end = np.array([2 * CHAIN - 1 if i % 2 == 0 else i + 1 for i in range(2 * CHAIN - 1)], np.int32)
    is_leaf = end == np.arange(1, 2 * CHAIN)
    n = len(end)
    view = _core.TreeView(
        1,
        end,
        np.where(is_leaf, -1, 0).astype(np.int32),
        np.where(is_leaf, np.nan, np.arange(n) // 2 + 0.5),
        np.full(n, -1),
        np.zeros(n, np.bool_),
        np.zeros(n, np.bool_),
        np.zeros(0, np.uint8),
    )
    wanted = [2 * i + 1 for i in range(CHAIN - 1)] + [2 * CHAIN - 2]
    assert _core.apply(view, x[:, np.newaxis], 1).tolist() == wanted
    assert _core.apply(view, np.full((600, 1), np.nan), 1).tolist() == [n - 1] * 600


# ---- the value ---------------------------------------------------------------------------------------------


def test_a_tree_keeps_its_view_and_does_not_pickle_it() -> None:
    data, tree = grown()
    leaves = tree.apply(data)
    assert view_of(tree) is view_of(tree)
    for twin in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree), copy.copy(tree), replace(tree)):
        assert "_view" not in vars(twin)
        assert np.array_equal(twin.apply(data), leaves)
    assert not np.array_equal(tree.collapse([1]).apply(data), leaves)


def test_the_arrays_live_as_long_as_the_view() -> None:
    data, tree = grown()
    wanted = tree.apply(data)
    view = _core.TreeView(**arrays_of(tree))
    gc.collect()
    assert np.array_equal(_core.apply(view, data.columns, 1), wanted)


def test_nothing_is_said_at_the_end_of_a_process_that_holds_a_tree() -> None:
    code = (
        "import sys, treewright as tw\n"
        "tree = tw.grow({'x': [1.0, 2.0]}, ['a', 'b']); tree.predict({'x': [1.0]})\n"
        "sys.modules['held'] = tree; tree.__dict__['itself'] = tree\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""


# ---- what is refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"end": np.array([3, 2, 4], np.int32)}, "shape of a tree"),
        ({"end": np.array([2**31 - 1, 2, 3], np.int32)}, "shape of a tree"),
        ({"end": np.zeros(0, np.int32)}, "differ in length"),
        ({"feature": np.array([1, -1, -1], np.int32)}, "a test names a column beyond"),
        ({"feature": np.array([-1, -1, -1], np.int32)}, "a node is a leaf by `end` but not by `feature`"),
        ({"feature": np.array([0, 0, -1], np.int32)}, "a node is a leaf by `end` but not by `feature`"),
        ({"threshold": np.zeros(2)}, "differ in length"),
        ({"threshold": np.full(3, np.nan)}, "has no threshold"),
        ({"subset": np.array([1, -1, -1])}, "a subset lies outside"),
        ({"subset": np.array([-2, -1, -1])}, "a subset lies outside"),
        ({"subset": np.array([2**62, -1, -1])}, "a subset lies outside"),
        ({"missing_left": np.zeros(4, np.bool_)}, "differ in length"),
        ({"n_columns": 0}, "a test names a column beyond"),
        ({"surrogates": ()}, "six arrays"),
    ],
)
def test_arrays_of_no_tree(change: dict[str, Any], message: str) -> None:
    arrays = arrays_of(grow(encode({"x": [1.0, 2.0]}, ["a", "b"])))
    with pytest.raises(ValueError, match=message):
        _core.TreeView(**(arrays | change))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({0: np.array([0, 1, 1])}, "differ in length"),
        ({0: np.array([0, 2, 2, 2])}, "differ in length"),
        ({0: np.array([0, 1, 0, 1])}, "differ in length"),
        ({1: np.array([2], np.int32)}, "a surrogate names a column beyond"),
        ({1: np.array([-1], np.int32)}, "a surrogate names a column beyond"),
        ({3: np.array([1])}, "a subset lies outside"),
        ({4: np.zeros(2, np.bool_)}, "differ in length"),
    ],
)
def test_surrogates_of_no_tree(change: dict[int, Any], message: str) -> None:
    arrays = arrays_of(grow(encode({"x": [1.0, 2.0], "z": [0.0, 0.0]}, ["a", "b"])))
    start, one = np.array([0, 1, 1, 1]), np.ones(1)
    surrogates = [
        start,
        np.ones(1, np.int32),
        one,
        np.array([-1]),
        np.zeros(1, np.bool_),
        np.zeros(0, np.uint8),
    ]
    _core.TreeView(**arrays, surrogates=tuple(surrogates))
    for place, wrong in change.items():
        surrogates[place] = wrong
    with pytest.raises(ValueError, match=message):
        _core.TreeView(**arrays, surrogates=tuple(surrogates))


def test_rows_of_another_table() -> None:
    data, tree = grown(100)
    with pytest.raises(ValueError, match="the table has 3 columns, but the tree is of tables of 4"):
        _core.apply(view_of(tree), np.zeros((5, 3)), 1)
    codes = [np.zeros(5, np.int32)] * 4
    with pytest.raises(ValueError, match="the tree tests another kind of column"):
        _core.apply(view_of(tree), codes, 1)
    with pytest.raises(ValueError, match="weight and the tree differ in length"):
        _core.spread(view_of(tree), data.columns, np.ones(2), 0, 100)
    for values in ([], [np.zeros((2, 1))], [np.zeros((tree.n_nodes, 1))] * 2):
        with pytest.raises(ValueError, match=r"values for each|a line of the same width"):
            _core.totals([view_of(tree)], values, data.columns, 1)
    with pytest.raises(ValueError, match="a sum needs trees"):
        _core.totals([], [], data.columns, 1)
