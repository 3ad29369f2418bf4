"""Values at the edge of floating point, odd arrays, damaged tables: an exact tree or a clear error."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from tests.checks import check_tree, same_structure, same_tree
from tests.oracle import CLASSES, NUMBERS
from tests.strategies import HUGE, TINY
from treewright import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    HistGradientBoostingRegressor,
    encode,
    grow,
    prune,
)
from treewright.encoding import Dataset
from treewright.encoding.schema import Schema
from treewright.tree import Tree

ESTIMATORS = [DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor]
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS)
EVERY = [*CLASSES, *NUMBERS]
both_engines = pytest.mark.parametrize("switch", [{}, {"_small_rows": 8}], ids=str)


def near(value: float, count: int) -> np.ndarray:
    """A number and those that follow it, each the next that floating point has."""
    return np.array(
        list(itertools.accumulate(range(count - 1), lambda x, _: np.nextafter(x, math.inf), initial=value))
    )


COLUMNS = {
    "seconds": 1.7e9 + np.arange(48.0),
    "microseconds": 1.7e15 + np.arange(48.0),
    "ids above 2^24": 2.0**24 + np.arange(48.0),
    "ids up to 2^53": 2.0**53 - np.arange(48.0),
    "neighbours of one": near(1.0, 48),
    "neighbours of a third": near(-1 / 3, 48),
    "neighbours of the largest": -near(-HUGE, 48),
    "halves of the range": np.linspace(-1.0, 1.0, 48) * HUGE,
    "subnormals": TINY * np.arange(-24.0, 24.0),
    "around the least normal": near(2.2250738585072014e-308 - 24 * TINY, 48),
    "infinities": np.concatenate([[-math.inf, -HUGE, HUGE, math.inf], np.arange(44.0)]),
    "everything": np.concatenate(
        [[-math.inf, -HUGE, -1.0, -TINY, -0.0, 0.0, TINY, 1.0, HUGE, math.inf], near(1e-9, 38)]
    ),
}


# ---- values ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("threshold", ["readable", "midpoint"])
@both_engines
def test_every_two_values_are_told_apart(name: str, threshold: Any, switch: dict[str, int]) -> None:
    """Alternating classes need a test between every two neighbours; ±0 are one value."""
    x = np.unique(COLUMNS[name])
    x = np.random.default_rng(0).permutation(x)
    y = np.argsort(np.argsort(x)) % 2
    tree = grow(encode(x[:, None], y), threshold=threshold, **switch)
    check_tree(tree)
    assert tree.n_leaves == len(x)
    assert tree.predict(x[:, None]).tolist() == y.tolist()


@pytest.mark.parametrize("criterion", EVERY)
@both_engines
def test_every_threshold_at_its_edges(criterion: str, switch: dict[str, int]) -> None:
    """At t a row goes left and just above it right, at every node; missing values as the tree says."""
    x = np.stack(
        [np.random.default_rng(j).permutation(column) for j, column in enumerate(COLUMNS.values())], 1
    )
    x[::5, 1::4] = math.nan
    y = np.random.default_rng(9).integers(0, 3, len(x))
    data = encode(x, y if criterion in CLASSES else y.astype(float), classes=criterion in CLASSES)
    tree = grow(data, criterion=criterion, **switch)
    check_tree(tree)
    for node in np.flatnonzero(~tree.is_leaf):
        column, t = tree.feature[node], tree.threshold[node]
        assert not np.isnan(t)
        cells = [t, np.nextafter(t, -math.inf), np.nextafter(t, math.inf), -math.inf, math.inf, math.nan]
        left = [True, True, math.isinf(t), True, t == math.inf, bool(tree.missing_left[node])]
        stump = tree_of(tree, int(node), x.shape[1])
        rows = np.zeros((len(cells), x.shape[1]))
        rows[:, column] = cells
        assert (stump.apply(Dataset(stump.schema, rows)) == 1).tolist() == left


def tree_of(tree: Any, node: int, n_columns: int) -> Any:
    """The test of one node as a tree of its own."""
    keep = np.array([node, tree.left[node], tree.right[node]])
    arrays = {
        name: getattr(tree, name)[keep].copy() for name in ("threshold", "missing_left", "rows", "statistic")
    }
    arrays["threshold"][1:] = np.nan
    arrays["missing_left"][1:] = False
    return Tree(
        end=np.array([3, 2, 3], np.int32),
        feature=np.array([tree.feature[node], -1, -1], np.int32),
        subset=np.full(3, -1, np.int64),
        step=np.array([0, -1, -1], np.int32),
        schema=tree.schema,
        criterion=tree.criterion,
        **arrays,
    )


def test_both_zeros_are_one_value() -> None:
    x = np.array([-0.0, 0.0, -0.0, 0.0, 1.0, -1.0])[:, None]
    tree = grow(encode(x, [0, 1, 0, 1, 2, 2]))
    assert (
        tree.apply(encode(x, schema=tree.schema))[:4].tolist()
        == [tree.apply(encode([[0.0]], schema=tree.schema))[0]] * 4
    )
    flipped = grow(encode(-x, [0, 1, 0, 1, 2, 2]))
    assert flipped.n_leaves == tree.n_leaves


@pytest.mark.parametrize("criterion", NUMBERS)
@both_engines
@pytest.mark.parametrize("change", [1e8, 1e12, "1e-8", "1e-12", "1e12"])
def test_offsets_and_scales_of_the_target(criterion: str, switch: dict[str, int], change: Any) -> None:
    if criterion == "poisson" and isinstance(change, float):
        pytest.skip("poisson's deviance is about the zero of y")
    random = np.random.default_rng(3)
    x = random.normal(size=(150, 3))
    y = np.round(np.exp(x[:, 0] + 0.3 * random.normal(size=150)) * 512) / 512
    other = y + change if isinstance(change, float) else y * float(change)
    same_structure(*(grow(encode(x, t), criterion=criterion, **switch) for t in (y, other)), order=False)


@pytest.mark.parametrize("criterion", EVERY)
@pytest.mark.parametrize("power", [-300, -52, 52, 300])
def test_weights_times_a_power_of_two(criterion: str, power: int) -> None:
    random = np.random.default_rng(4)
    x, weight = random.normal(size=(120, 2)), random.gamma(2.0, size=120)
    y = (x[:, 0] > 0).astype(int) + (random.random(120) < 0.3)
    trees = [
        grow(encode(x, y, weight=w, classes=criterion in CLASSES), criterion=criterion, _small_rows=16)
        for w in (weight, weight * 2.0**power)
    ]
    same_structure(*trees)
    assert (trees[0].weight * 2.0**power).tobytes() == trees[1].weight.tobytes()


# ---- arrays ------------------------------------------------------------------------------------

BASE = np.random.default_rng(1).integers(-3, 4, size=(60, 4)).astype(np.float64)
LABEL = (BASE[:, 0] + BASE[:, 2] > 0).astype(int)


def unaligned(x: np.ndarray) -> np.ndarray:
    raw = np.zeros(x.nbytes + 1, np.uint8)
    out = raw[1:].view(x.dtype).reshape(x.shape)
    out[:] = x
    return out


ARRAYS = {
    "big-endian": lambda x: x.astype(">f8"),
    "big-endian single": lambda x: x.astype(">f4"),
    "big-endian integers": lambda x: x.astype(">i4"),
    "unmasked": lambda x: np.ma.array(x),
    "read-only": lambda x: _frozen(x),
    "Fortran": np.asfortranarray,
    "every other row": lambda x: np.repeat(x, 2, axis=0)[::2],
    "reversed twice": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "a slice of columns": lambda x: np.pad(x, ((0, 0), (2, 3)))[:, 2:-3],
    "unaligned": unaligned,
    "half": lambda x: x.astype(np.float16),
    "long double": lambda x: x.astype(np.longdouble),
    "objects": lambda x: x.astype(object),
    "signed bytes": lambda x: x.astype(np.int8),
    "a matrix": lambda x: x.view(np.matrix),
    "a memory view": lambda x: memoryview(x),
    "lists": lambda x: x.tolist(),
    "tuples": lambda x: tuple(map(tuple, x.tolist())),
}


def _frozen(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.flags.writeable = False
    return x


@pytest.mark.parametrize("name", ARRAYS)
def test_every_layout_gives_the_same_tree(name: str) -> None:
    wanted = grow(encode(BASE, LABEL))
    data = encode(ARRAYS[name](BASE), LABEL)
    same_tree(wanted, grow(data))
    same_tree(wanted, grow(data, _small_rows=8, n_jobs=2))
    np.testing.assert_array_equal(wanted.predict(ARRAYS[name](BASE)), wanted.predict(BASE))


@every_estimator
@pytest.mark.parametrize("name", ARRAYS)
def test_estimators_take_every_layout(estimator: Any, name: str) -> None:
    wanted = estimator(random_state=0).fit(BASE, LABEL)
    model = estimator(random_state=0).fit(ARRAYS[name](BASE), LABEL)
    same_tree(wanted.model_, model.model_)
    np.testing.assert_array_equal(model.predict(ARRAYS[name](BASE)), wanted.predict(BASE))


def test_masked_cells_are_missing_ones() -> None:
    mask = np.random.default_rng(2).random(BASE.shape) < 0.2
    masked, holes = np.ma.array(BASE, mask=mask), np.where(mask, np.nan, BASE)
    same_tree(grow(encode(masked, LABEL)), grow(encode(holes, LABEL)))
    integers = np.ma.array(BASE.astype(int), mask=mask)
    same_tree(grow(encode(integers, LABEL)), grow(encode(holes, LABEL)))


def test_broadcast_arrays() -> None:
    """One row, one column or one cell in the memory of many."""
    one = np.array([[1.0, 2.0, 3.0]])
    assert grow(encode(np.broadcast_to(one, (50, 3)), np.arange(50) % 2)).n_leaves == 1
    column = np.broadcast_to(np.arange(50.0)[:, None], (50, 4))
    same_tree(grow(encode(column, np.arange(50) // 25)), grow(encode(column.copy(), np.arange(50) // 25)))
    weight = np.broadcast_to(2.0, 50)
    same_tree(
        grow(encode(column, np.arange(50) // 25, weight=weight)),
        grow(encode(column, np.arange(50) // 25, weight=np.full(50, 2.0))),
    )
    same_target = np.broadcast_to(1.5, 50)
    assert grow(encode(column, same_target)).n_leaves == 1


@every_estimator
@pytest.mark.parametrize(
    ("X", "told"),
    [
        (np.zeros((0, 3)), "no rows"),
        (np.zeros((4, 0)), "no columns"),
        (np.zeros((4, 0), object), "no columns"),
        (np.zeros((4, 2, 2)), "3 dimensions|Found array with dim 3"),
        (np.zeros(()), "dimension"),
        (np.array([[1.0, 2.0]] * 3 + [[1.0, {}]], dtype=object), "row 3"),
        (np.full((4, 1), b"x"), "bytes"),
        (np.zeros((4, 1), "V8"), "dtype"),
        (np.full((4, 1), 2**60), "2\\^53"),
        (np.full((4, 1), np.longdouble(1) + np.finfo(np.longdouble).eps), "exactly"),
        (np.zeros((4, 1), complex), "Complex"),
    ],
)
def test_arrays_that_are_no_tables(estimator: Any, X: Any, told: str) -> None:
    if "exactly" in told and np.finfo(np.longdouble).eps == np.finfo(float).eps:
        pytest.skip("long double is double here")
    with pytest.raises((ValueError, TypeError), match=told):
        estimator().fit(X, [0, 1, 0, 1])
    model = estimator().fit(np.zeros((4, X.shape[1] if X.ndim == 2 and X.shape[1] else 1)), [0, 1, 0, 1])
    with pytest.raises((ValueError, TypeError), match=r"\w{3}"):
        model.predict(X)


# ---- sizes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(3_000_000_000, 1), (2**33, 2), (2**31, 3)])
def test_more_rows_than_can_be_counted_are_refused(shape: tuple[int, int]) -> None:
    """Without a byte of it in memory: products of sizes must not wrap around on the way."""
    data = encode(np.broadcast_to(np.zeros((1, 1), np.float32), shape))
    assert data.n_rows == shape[0]
    target = np.broadcast_to(np.zeros((1, 1)), (1, shape[0]))
    with pytest.raises(ValueError, match=f"{shape[0]} rows"):
        grow(Dataset(Schema(data.schema.columns), data.columns, target))


def test_a_sparse_table_beyond_memory_is_refused() -> None:
    wide = sparse.coo_array((2**31 - 8, 2**31 - 8))
    with pytest.raises(MemoryError, match="GB"):
        encode(wide)


# ---- damaged sparse tables -----------------------------------------------------------------------


def damaged(layout: str, how: str) -> Any:
    """A sound matrix of this layout, changed afterwards in a way that its constructor would have refused."""
    table = getattr(sparse, f"{layout}_array")(BASE)
    compressed = layout != "coo"
    index = table.indices if compressed else table.coords[1]
    match how:
        case "beyond":
            index[3] = 10**6
        case "just beyond":
            index[3] = 60
        case "negative":
            index[3] = -1
        case "far negative":
            index[3] = np.iinfo(index.dtype).min
        case "falling pointers":
            table.indptr[2] = table.indptr[1] - 1
        case "pointers beyond":
            table.indptr[-1] = 10**6
        case "negative pointers":
            table.indptr[0] = -5
        case "short pointers":
            table.indptr = table.indptr[:-1]
        case "short data":
            table.data = table.data[:-5]
        case "float indices":
            if compressed:
                table.indices = table.indices.astype(float) + 0.5
            else:
                table.coords = (table.coords[0], table.coords[1].astype(float) + 0.5)
        case "last pointer negative":
            table.indptr[-1] = -1
            index[3] = 10**6
        case "last pointer zero":
            table.indptr[-1] = 0
            index[3] = 10**6
        case "wide shape":
            table._shape = (60, 2)
    return table


HARMS = ["beyond", "just beyond", "negative", "far negative", "short data", "float indices", "wide shape"]
POINTERS = [
    "falling pointers",
    "pointers beyond",
    "negative pointers",
    "short pointers",
    "last pointer negative",  # where it is not positive, scipy's own check looks no further
    "last pointer zero",
]
DAMAGES = [(layout, how) for layout in ("csr", "csc") for how in HARMS + POINTERS] + [
    ("coo", h) for h in HARMS
]


@pytest.mark.parametrize(("layout", "how"), DAMAGES)
def test_damaged_sparse_tables(layout: str, how: str) -> None:
    model = DecisionTreeClassifier().fit(BASE, LABEL)
    for work in (
        lambda: DecisionTreeClassifier().fit(damaged(layout, how), LABEL),
        lambda: model.predict(damaged(layout, how)),
    ):
        with pytest.raises((ValueError, TypeError), match=r"damaged|expecting 4"):
            work()


@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
def test_repeated_and_unsorted_entries_are_scipys(layout: str) -> None:
    """Entries for one cell add up and may stand in any order; NaN is a missing value."""
    rows, columns = np.array([2, 0, 0, 1, 3]), np.array([1, 0, 0, 1, 0])
    data = np.array([5.0, 1.0, 2.0, math.nan, -1.0])
    table = sparse.coo_array((data, (rows, columns)), shape=(4, 2)).asformat(layout)
    dense = np.array([[3.0, 0.0], [0.0, math.nan], [0.0, 5.0], [-1.0, 0.0]])
    y = [0, 1, 1, 0]
    same_tree(grow(encode(table, y)), grow(encode(dense, y)))
    assert DecisionTreeClassifier().fit(table, y).predict(table).tolist() == y


def test_sparse_tables_of_other_types() -> None:
    for kind, told in ((np.complex128, "Complex"), (np.int64, "2\\^53")):
        table = sparse.csr_array((np.array([2**60], kind), ([0], [1])), shape=(4, 2))
        with pytest.raises(ValueError, match=told):
            DecisionTreeRegressor().fit(table, [0.0, 1.0, 2.0, 3.0])


# ---- tables that do not fit the tree ---------------------------------------------------------------


def test_a_data_set_that_does_not_fit_its_schema() -> None:
    data = encode({"x": [1.0, 2.0, 3.0], "c": ["a", "b", "a"]}, [0, 1, 0])
    numbers, codes = data.columns
    for columns in (
        (numbers,),
        (numbers, codes, codes),
        (numbers, numbers),
        (codes, codes),
        np.zeros((3, 2)),
        np.zeros((3, 1), np.int32),
    ):
        with pytest.raises(ValueError, match="do not fit the schema"):
            Dataset(data.schema, columns)
    with pytest.raises(ValueError, match="same number of rows"):
        grow(data).apply(Dataset(data.schema, (numbers, codes[:2])))
    tree = grow(data)
    wild = Dataset(data.schema, (numbers, np.array([2**31 - 1, -(2**31), 77], np.int32)))
    assert set(tree.apply(wild)) <= set(range(tree.n_nodes))
    with pytest.raises(ValueError, match=r"code|category"):
        grow(Dataset(data.schema, wild.columns, data.targets))


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({"x": [1.0]}, "lacks the columns 'c'"),
        ({"x": [1.0], "c": ["a"], "z": [1]}, "not there before: 'z'"),
        ({"x": ["one"], "c": ["a"]}, "'x' must hold numbers"),
        ({"x": [1.0], "c": [1.5]}, "'c' must hold texts"),
        ({"x": [1.0], "c": [np.datetime64("2020-01-01")]}, "'c' must hold texts"),
        ({"x": [1.0, 2.0], "c": ["a"]}, "'c' has 1"),
        ({}, "no columns"),
        ({"x": [], "c": []}, "no rows"),
        ([[1.0]], "1 columns, but 2"),
        (np.zeros((2, 3)), "3 columns, but 2"),
        (np.zeros((2, 2)), "'c' must hold texts"),
        (None, "NoneType"),
        (7, "int"),
        ("x", "str"),
    ],
)
def test_rows_that_do_not_fit_the_tree(table: Any, told: str) -> None:
    tree = grow(encode({"x": [1.0, 2.0, 3.0], "c": ["a", "b", "a"]}, [0, 1, 0]))
    with pytest.raises((ValueError, TypeError), match=told):
        tree.predict(table)


# ---- sums and labels out of range ------------------------------------------------------------------


def test_labels_beyond_machine_integers() -> None:
    labels = [10**30, 2**64, 10**30, -(10**40)]
    tree = grow(encode(np.arange(4.0)[:, None], labels))
    assert tree.predict(np.arange(4.0)[:, None]).tolist() == labels


@pytest.mark.parametrize("criterion", NUMBERS)
@pytest.mark.parametrize(
    ("y", "weight", "told"),
    [
        ([1e9, 0.0], [1e300, 1e300], "sum of squares"),
        ([1e151, 0.0], None, "beyond"),
        ([1e150, 0.0, 1e150, 1.0] * 1000, [1e6] * 4000, "sum of squares"),
    ],
)
def test_sums_that_would_overflow_are_refused(criterion: str, y: Any, weight: Any, told: str) -> None:
    data = encode(np.arange(float(len(y)))[:, None], y, weight=weight)
    with pytest.raises(ValueError, match=told):
        grow(data, criterion=criterion)


def test_counts_that_vanish_beside_the_weights_are_refused() -> None:
    x, y = np.arange(3.0)[:, None], [1.0, 0.0, 2.0]
    with pytest.raises(ValueError, match="row 0 counts for nothing"):
        grow(encode(x, y, weight=[1e-300, 1e300, 1.0]), criterion="poisson")
    grow(encode(x, y, weight=[1e-100, 1e100, 1.0]), criterion="poisson").check()


@pytest.mark.parametrize("criterion", EVERY)
def test_weights_of_every_size_in_one_table(criterion: str) -> None:
    random = np.random.default_rng(8)
    x, y = random.normal(size=(80, 2)), random.integers(0, 3, 80)
    weight = 10.0 ** random.integers(-60, 60, 80)
    for switch in ({}, {"_small_rows": 8}):
        check_tree(
            grow(encode(x, y, weight=weight, classes=criterion in CLASSES), criterion=criterion, **switch)
        )


def test_signalling_decimals_are_missing() -> None:
    pandas = pytest.importorskip("pandas")
    cells = [Decimal("sNaN"), Decimal(2), Decimal("1.5")]
    assert np.isnan(encode({"x": cells}).columns[0][0])
    kinds = encode({"x": pandas.Series(pandas.Categorical([cells[1], cells[2], None]))})
    assert kinds.columns[0].tolist() == [1, 0, -1]


def test_an_index_of_several_levels_is_no_column() -> None:
    pandas = pytest.importorskip("pandas")
    index = pandas.MultiIndex.from_arrays([[1, 2], [3, 4]])
    with pytest.raises(TypeError, match="'x' is an index of 2 levels"):
        encode({"x": index})


# ---- tiny and huge targets and weights -----------------------------------------------------------


def scaled_table(n: int) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    return {
        "a": rng.normal(size=n),
        "b": rng.integers(0, 9, n).astype(float),
        "c": [f"k{code}" for code in rng.integers(0, 13, n)],
    }


def scaled_targets(n: int, n_targets: int) -> np.ndarray:
    """Whole numbers below 2^10."""
    table = scaled_table(n)
    noise = np.random.default_rng(6).integers(0, 60, (n, n_targets))
    return np.round(np.clip(np.asarray(table["a"])[:, None] + 4, 0, 8) * 80) + noise


GROWN = [
    {"max_leaf_nodes": 9},
    {"max_depth": 4, "min_samples_leaf": 3},
    {"splitter": "random", "max_leaf_nodes": 9},
    {"missing": "category", "max_leaf_nodes": 5},
    {"split": "oblique", "max_leaf_nodes": 4},
    {"selection": "test"},
    {"root": "b", "max_leaf_nodes": 5},
]


@pytest.mark.slow
@pytest.mark.parametrize("criterion", NUMBERS)
@pytest.mark.parametrize("options", GROWN, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_tiny_targets_give_the_same_tree(criterion: str, options: dict[str, Any], weighted: bool) -> None:
    """10^-60, -165, -181, -300 and subnormal: powers of two, which change no digit. Squares of such numbers
    are nothing, and so are the losses that a tree keeps; its tests are the same.
    """
    if criterion == "absolute_error" and "missing" in options:
        return
    for n, n_targets in ((60, 1), (60, 2), (5000 if criterion == "squared_error" else 300, 1)):
        y, table = scaled_targets(n, n_targets), scaled_table(n)
        weight = np.random.default_rng(7).integers(1, 4, n) if weighted else None
        whole = grow(encode(table, y, weight=weight, classes=False), criterion=criterion, **options)
        assert whole.n_leaves > 2
        for power in (-200, -548, -600, -996, -1065):
            data = encode(table, np.ldexp(y, power), weight=weight, classes=False)
            tree = grow(data, criterion=criterion, **options)
            tree.check()
            same_structure(tree, whole)
            assert tree.step.tolist() == whole.step.tolist()
            if power > -1000:
                np.testing.assert_array_equal(tree.value, np.ldexp(whole.value, power))


@pytest.mark.parametrize("case", ["plain gains", "two categories", "fractions"])
@pytest.mark.parametrize("criterion", NUMBERS)
def test_tiny_and_huge_weights_give_the_same_tree(criterion: str, case: str) -> None:
    """Whole weights are numbers of rows, by which gains of three or more categories are corrected for
    chance; fractions of them are not. All else is the same in any unit.
    """
    n = 60
    y, table = scaled_targets(n, 1), scaled_table(n)
    weight = np.random.default_rng(7).integers(1, 4, n).astype(float)
    options: dict[str, Any] = {"criterion": criterion, "max_leaf_nodes": 9}
    if case == "plain gains":
        options["category_gain"] = "plain"
    elif case == "two categories":
        table["c"] = ["even" if code in ("k2", "k4", "k6", "k8") else "odd" for code in table["c"]]
    else:
        weight += 0.25
    whole = grow(encode(table, y, weight=weight), min_weight_fraction_leaf=0.04, **options)
    for power in (-900, -600, -300, 300, 700):
        data = encode(table, y, weight=np.ldexp(weight, power))
        tree = grow(data, min_weight_fraction_leaf=0.04, **options)
        same_structure(tree, whole)
        np.testing.assert_array_equal(tree.weight, np.ldexp(whole.weight, power))
        np.testing.assert_array_equal(tree.value, whole.value)


def test_limits_in_units_of_tiny_targets_are_kept() -> None:
    y, table = scaled_targets(60, 1), scaled_table(60)
    for criterion, power in (("squared_error", 2), ("absolute_error", 1)):
        whole = grow(encode(table, y), criterion=criterion)
        least = float(np.sort(whole.gain)[-4]) * (1 - 1e-9) / 60
        limited = grow(encode(table, y), criterion=criterion, min_impurity_decrease=least)
        assert 1 < limited.n_leaves < whole.n_leaves
        tiny = encode(table, np.ldexp(y, -400))
        tiniest = np.ldexp(least, -400 * power)
        same_structure(grow(tiny, criterion=criterion, min_impurity_decrease=tiniest), limited)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_node_of_tiny_numbers_beside_large_ones(weighted: bool) -> None:
    """Each node has units of its own: below the split by `big` there are only tiny numbers left."""
    rng = np.random.default_rng(0)
    x, big = rng.normal(size=80), np.arange(80) % 2
    y = np.where(big, 1e3, np.where(x > 0.3, 3.0, 5.0) * 1e-200)
    tree = grow(encode({"big": big, "x": x}, y, weight=np.ones(80) if weighted else None))
    assert tree.n_leaves == 3
    below = int(np.flatnonzero(tree.feature == 1)[0])
    left, right = x[(big == 0) & (x <= tree.threshold[below])], x[(big == 0) & (x > tree.threshold[below])]
    assert left.max() <= 0.3 < right.min()


def test_formulas_of_tiny_targets() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2))
    y = np.round(100 * np.where(x[:, 0] > 0, 3 * x[:, 1], 5 - x[:, 1]))
    whole = grow(encode(x, y), leaf="linear", max_leaf_nodes=4)
    tiny = grow(encode(x, np.ldexp(y, -700)), leaf="linear", max_leaf_nodes=4)
    same_structure(tiny, whole)
    np.testing.assert_array_equal(tiny.predict(x), np.ldexp(whole.predict(x), -700))


def test_losses_that_leave_the_range_of_floats_are_not_pruned_by() -> None:
    """They are all 0: every split would seem useless, and pruning would leave the root in silence."""
    y, table = scaled_targets(60, 1), scaled_table(60)
    tree = grow(encode(table, np.ldexp(y, -600)))
    with pytest.raises(ValueError, match="too small to be compared in floating point; scale the target"):
        prune(tree)
    with pytest.raises(ValueError, match="scale the target"):
        DecisionTreeRegressor(ccp_alpha=1e-9).fit(table, np.ldexp(y[:, 0], -600))
    assert prune(grow(encode(table, np.ldexp(y, -300)))).leaves[0] > 2
    prune(grow(encode(table, np.full(60, 1e-200))))  # nothing to tell apart
    with pytest.raises(ValueError, match="scale it up"):
        HistGradientBoostingRegressor().fit(table, np.ldexp(y[:, 0], -600))


def test_weights_that_count_as_very_many_rows() -> None:
    """Tests take weights for numbers of rows: a great many are sure, and nothing overflows."""
    y, table = scaled_targets(60, 1), scaled_table(60)
    with np.errstate(all="raise"):
        for power in (0, 300, 600):
            weight = np.ldexp(np.ones(60), power)
            assert grow(encode(table, y, weight=weight), selection="test").n_leaves > 2
            classes = (y[:, 0] > np.median(y)).astype(int)
            assert grow(encode(table, classes, weight=weight), selection="test").n_leaves > 1
