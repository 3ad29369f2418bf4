"""Every invariant of a tree, stated once, for tests and loaders; a tree that passes is safe for the core.

The order matters: a check may rely on those before it, and no array is an index before its range is known.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np

from treewright import _core
from treewright._arrays import Array, Floats
from treewright.encoding.kinds import KINDS
from treewright.encoding.objects import family_of
from treewright.encoding.schema import MISSING, Column, Schema, Target
from treewright.encoding.text import TextFormat
from treewright.tree.class_counts import SparseRows
from treewright.tree.frozen_arrays import FrozenArrays
from treewright.tree.surrogates import Surrogates

if TYPE_CHECKING:
    from treewright.tree.tree import Tree

_MOST_NODES = 2**31 - 1  # a node's number is an int32
_PIECE = 2**18  # weights that are compared at a time


def check(tree: Tree, known: Schema | None = None) -> None:
    """Raise ValueError with the first invariant that does not hold.

    Columns and targets of a `known` schema have passed `check_schema`: those of an ensemble do so once.
    """
    if known is None or tree.schema.columns is not known.columns:
        _check_columns(tree.schema)
    if known is None or tree.schema.targets is not known.targets:
        _check_targets(tree.schema)
    task = "classes" if tree.schema.predicts_classes else "numbers"
    names = [name for name, of in _core.criteria() if of == task]
    _demand(tree.criterion in names, f"criterion {tree.criterion!r} is not one of {task}: {', '.join(names)}")
    _demand(tree.missing in MISSING, f"missing is {tree.missing!r}, not one of {', '.join(MISSING)}")
    _check_provenance(tree)
    _check_arrays(tree)
    _check_shape(tree)
    _check_steps(tree)
    _check_directions(tree)
    _check_tests(tree)
    _check_joined(tree)
    _check_surrogates(tree)
    _check_linear(tree)
    with np.errstate(over="ignore"):  # a sum that overflows is not finite, and is refused as such
        if isinstance(tree.statistic, SparseRows):
            _check_sparse(tree, tree.statistic)
        else:
            _check_weights(tree, tree.statistic)
    _check_rows(tree)


def _demand(holds: object, message: str) -> None:
    if not holds:
        raise ValueError(f"this is not a tree: {message}")


def check_schema(schema: Schema) -> None:
    """The names of columns and targets are unique, and so are the categories and classes of each."""
    _check_columns(schema)
    _check_targets(schema)


def _check_names(parts: tuple[Column, ...] | tuple[Target, ...], what: str) -> None:
    _demand(parts, f"its schema has no {what}s")
    names = [part.name for part in parts]
    _demand(all(isinstance(name, str) for name in names), f"the name of a {what} is not text")
    _demand(len(set(names)) == len(names), f"two {what}s have the same name")


def _check_columns(schema: Schema) -> None:
    _check_names(schema.columns, "column")
    for column in schema.columns:
        what = f"column {column.name!r}"
        _demand(column.kind in KINDS, f"{what} is of the unknown kind {column.kind!r}")
        fits = column.type.has_categories or not column.categories
        _demand(fits, f"{what} is a {column.kind} with categories")
        _check_labels(column.categories, what, "categories")
        if column.text is None:
            continue
        _demand(isinstance(column.text, TextFormat), f"{what} has a text format of another type")
        is_own = column.text.kind == column.type.text_kind
        _demand(is_own, f"{what} is a {column.kind} read as {column.text}")
        is_bool = not column.type.has_categories or column.categories == (False, True)
        _demand(is_bool, f"{what} is read as truth values, but its categories are not false and true")


def _check_targets(schema: Schema) -> None:
    _check_names(schema.targets, "target")
    is_one_task = len({target.classes is None for target in schema.targets}) == 1
    _demand(is_one_task, "some targets are classes, some not")
    for target in schema.targets:
        if target.classes is not None:
            _demand(target.classes, f"target {target.name!r} has no classes")
            _check_labels(target.classes, f"target {target.name!r}", "classes")
        if target.text is not None:
            is_number = target.classes is None and getattr(target.text, "kind", None) == "number"
            _demand(is_number, f"target {target.name!r} is read from texts, but not as numbers")
        _demand(target.costs is None or not schema.is_wide, "it has costs and more than 256 classes")
        _check_costs(target)


def _check_costs(target: Target) -> None:
    """Costs, stakes, emphasis and priors are one number per class or per pair of classes."""
    n = len(target.classes or ())
    for name in ("costs", "stakes", "emphasis", "priors"):
        what, values = f"the {name} of target {target.name!r}", getattr(target, name)
        if values is None:
            continue
        is_table = name in ("costs", "stakes")
        rows = values if is_table else (values,)
        _demand(len(rows) == (n if is_table else 1), f"{what} are not a row per class")
        _demand(all(len(row) == n for row in rows), f"{what} are not one per class")
        numbers = [number for row in rows for number in row]
        is_sound = all(type(number) is float and 0 <= number < np.inf for number in numbers)
        _demand(is_sound, f"{what} are not all finite numbers of at least 0")
    _demand(target.emphasis is None or any(target.emphasis), f"{target.name!r}: emphasis of no class")
    diagonal = [row[i] for i, row in enumerate(target.costs or ())]
    _demand(not any(diagonal), f"the costs of target {target.name!r} charge a right answer")


def _check_provenance(tree: Tree) -> None:
    incomplete = () if tree.provenance is None else tree.provenance.incomplete or ()
    is_known = all(0 <= j < len(tree.schema.columns) for j in incomplete)
    _demand(is_known, "its rows miss values in columns that it does not have")


def _check_labels(labels: tuple[Hashable, ...], what: str, plural: str) -> None:
    families = {family_of(kind) for kind in set(map(type, labels))}
    is_one_family = families <= {"text"} or families <= {"bool"} or families <= {"integer", "float"}
    _demand(is_one_family, f"{what}: {plural} must be all text, bools or numbers")
    _demand(all(label == label for label in labels), f"{what}: NaN is among its {plural}")
    _demand(len(set(labels)) == len(labels), f"{what}: two of its {plural} are equal")


def _check_types(value: FrozenArrays, size: int, what: str = "", /, **sizes: int) -> None:
    """The arrays have the types of the fields, one dimension, and `size` elements unless `sizes` differ."""
    for name, dtype in value.array_types().items():
        array, shape = getattr(value, name), (sizes.get(name, size),)
        _demand(array.dtype == dtype, f"{name}{what} has type {array.dtype}, not {np.dtype(dtype)}")
        _demand(array.shape == shape, f"{name}{what} has shape {array.shape}, not {shape}")


def _check_arrays(tree: Tree) -> None:
    """Types and shapes."""
    n, width, is_wide = tree.end.size, tree.schema.width, tree.schema.is_wide
    _demand(0 < n <= _MOST_NODES, f"it has {n} nodes")
    _check_types(tree, n, subsets=tree.subsets.size)
    shape, dtype = tree.statistic.shape, tree.statistic.dtype
    _demand(dtype == np.float64, f"statistic has type {dtype}, not float64")
    _demand(shape == (n, width), f"statistic has shape {shape}, not {(n, width)}")
    state = "not compressed" if is_wide else "compressed"
    is_compressed = isinstance(tree.statistic, SparseRows)
    _demand(is_compressed == is_wide, f"the statistic of {width} numbers is {state}")


def _check_shape(tree: Tree) -> None:
    """`end` is the shape of a binary tree.

    The root spans all nodes; a branch spans itself, then its left child, then its right one, both not empty.
    By induction from the root every node is reached once, and every path ends at a leaf.
    """
    end, n = tree.end, len(tree.end)
    nodes = np.arange(n)
    _demand(((end > nodes) & (end <= n)).all(), "`end` points outside the tree")
    _demand(end[0] == n, "the root does not span all nodes")
    leaf = end == nodes + 1
    agrees = leaf == (tree.feature < 0)
    _demand(agrees.all(), "a node is a leaf by `end` but not by `feature`, or the reverse")
    inner = np.flatnonzero(~leaf)  # a branch has end > i + 1, so node i + 1 exists
    right = end[inner + 1]
    _demand((right < end[inner]).all(), "a branch has no right child")
    _demand((end[right] == end[inner]).all(), "a branch's children do not fill it")


def _check_steps(tree: Tree) -> None:
    """Each branch has a step of its own, after that of the branch above."""
    inner = np.flatnonzero(~tree.is_leaf)
    steps = tree.step[inner]
    _demand((tree.step[tree.is_leaf] == -1).all() and (steps >= 0).all(), "`step` is -1 exactly at leaves")
    _demand((np.diff(np.sort(steps)) > 0).all(), "two nodes have the same step")
    for children in (tree.left[inner], tree.right[inner]):
        later = (tree.step[children] > steps) | tree.is_leaf[children]
        _demand(later.all(), "a node was split before the one above it: its step is lower")


def _check_tests(tree: Tree) -> None:
    """Branches test columns of the table or directions; leaves test nothing."""
    inner = ~tree.is_leaf
    n_columns = len(tree.schema.columns) + len(tree.directions)
    _demand((tree.feature < n_columns).all(), f"a test names a column beyond the {n_columns} there are")
    _demand((tree.feature >= -1).all(), "a test names a column below -1")
    _demand(not tree.missing_left[~inner].any(), "a leaf sends missing values left")
    _check_forms(tree.schema, tree)


def _check_forms(schema: Schema, tests: Tree | Surrogates) -> None:
    """Tests of numbers have a threshold, tests of categories a subset, leaves neither. Subsets lie without
    gaps in the order of the tests, and bits beyond the last category are 0.
    """
    feature, threshold, subset, subsets = tests.feature, tests.threshold, tests.subset, tests.subsets
    features, place = np.unique(feature, return_inverse=True)  # of many columns a tree tests few
    columns = [schema.columns[j] if 0 <= j < len(schema.columns) else None for j in features.tolist()]
    is_category = np.array([column is not None and column.is_category for column in columns], bool)[place]
    has_threshold = ~np.isnan(threshold)
    _demand((has_threshold == ~((feature < 0) | is_category)).all(), "only tests of numbers have thresholds")
    _demand(((subset >= 0) == is_category).all(), "only tests of categories have subsets")
    _demand((subset >= -1).all(), "a node without a subset has another number than -1 in its place")
    categories = np.flatnonzero(subset >= 0)
    n_categories = np.array([0 if column is None else len(column.categories) for column in columns], np.int64)
    counts = n_categories[place[categories]]
    sizes = (counts + 7) // 8
    ends = np.cumsum(sizes)
    _demand((subset[categories] == ends - sizes).all(), "a subset lies outside its place in `subsets`")
    _demand(len(subsets) == (ends[-1] if ends.size else 0), "`subsets` lies outside the subsets of the tests")
    part = counts % 8 > 0
    last = subsets[ends[part] - 1]
    _demand((last >> (counts[part] % 8) == 0).all(), "a subset has bits beyond the categories of its column")


def _check_directions(tree: Tree) -> None:
    """Each is a sum of at least two numbers, each once, with weights that are finite and not 0."""
    columns = tree.schema.columns
    for direction in tree.directions:
        of, weights = direction.columns, direction.weights
        _demand(len(of) == len(weights) >= 2 and len(set(of)) == len(of), "a direction has loose ends")
        is_known = all(type(c) is int and 0 <= c < len(columns) for c in of)
        _demand(is_known, "a direction has an unknown column")
        _demand(all(columns[c].is_summable for c in of), "a direction has a column that is no number")
        finite = all(type(weight) is float and 0 < abs(weight) < np.inf for weight in weights)
        _demand(finite, "a direction has a weight that is 0 or not finite")


def _check_joined(tree: Tree) -> None:
    """A node that continues the split above it tests the same column."""
    nodes = np.flatnonzero(tree.joined)
    _demand(not tree.is_leaf[nodes].any(), "a leaf continues the split above it")
    _demand(not tree.joined[0], "the root continues a split above it")
    same = tree.feature[tree.parent[nodes]] == tree.feature[nodes]
    _demand(same.all(), "a node continues the split of another column")


def _check_surrogates(tree: Tree) -> None:
    """They belong to branches, in order, and each tests another column than its node."""
    surrogates = tree.surrogates
    _demand(tree.missing == "surrogate" or not len(surrogates), "it has surrogates and does not use them")
    _check_types(surrogates, len(surrogates), " of the surrogates", subsets=surrogates.subsets.size)
    node, feature = surrogates.node, surrogates.feature
    _demand(((node >= 0) & (node < tree.n_nodes)).all(), "a surrogate belongs to no node")
    _demand((np.diff(node) >= 0).all(), "the surrogates are not in the order of their nodes")
    _demand(not tree.is_leaf[node].any(), "a leaf has a surrogate")
    _demand(((feature >= 0) & (feature < len(tree.schema.columns))).all(), "a surrogate tests no column")
    _demand((feature != tree.feature[node]).all(), "a surrogate tests the column that it stands in for")
    for share in (surrogates.agreement, surrogates.adjusted):
        _demand(((share >= 0) & (share <= 1)).all(), "a surrogate's agreement is not a share")
    _check_forms(tree.schema, surrogates)


def _check_linear(tree: Tree) -> None:
    """Formulas belong to trees of one number; their terms name columns of numbers."""
    linear = tree.linear
    if linear is None:
        return
    schema = tree.schema
    _demand(not schema.predicts_classes and len(schema.targets) == 1, "only one number can have a formula")
    start, column = linear.start, linear.column
    n_terms = len(column)
    sizes = {
        "start": tree.n_nodes + 1,
        "column": n_terms,
        "coefficient": n_terms,
        "mean": len(schema.columns),
    }
    _check_types(linear, tree.n_nodes, " of the formulas", **sizes)
    numbers = np.concatenate([linear.intercept, linear.coefficient, linear.loss, linear.mean])
    _demand(np.isfinite(numbers).all(), "a formula has numbers that are not finite")
    _demand((linear.loss >= 0).all(), "the loss of a formula is negative")
    rises = start[0] == 0 and (np.diff(start) >= 0).all() and start[-1] == n_terms
    _demand(rises, "`start` of the formulas does not rise from 0 to the number of their terms")
    _demand(((column >= 0) & (column < len(schema.columns))).all(), "a formula names an unknown column")
    is_summable = np.array([each.is_summable for each in schema.columns])
    _demand(is_summable[column].all(), "a formula has a column that is no number")
    node = np.repeat(np.arange(tree.n_nodes), np.diff(start))
    order = np.diff(node * len(schema.columns) + column.astype(np.int64))
    _demand((order > 0).all(), "the columns of a formula do not ascend")


def _check_sparse(tree: Tree, rows: SparseRows) -> None:
    """Each leaf holds positive weights of ascending classes; the branches are their sums by construction."""
    n, size = tree.n_nodes, rows.column.size
    _check_types(rows, n, " of the statistic", start=n + 1, column=size, value=size)
    _demand(np.array_equal(rows.end, tree.end), "the statistic is that of another tree")
    rises = rows.start[0] == 0 and (np.diff(rows.start) >= 0).all() and rows.start[-1] == size
    _demand(rises, "`start` of the statistic does not rise from 0 to the number of its entries")
    node = np.repeat(np.arange(n), np.diff(rows.start))
    _demand(tree.is_leaf[node].all(), "a branch has a statistic of its own")
    _demand(((rows.column >= 0) & (rows.column < rows.width)).all(), "the statistic names an unknown class")
    _demand((np.diff(node * rows.width + rows.column) > 0).all(), "the classes of a leaf do not ascend")
    _demand(np.isfinite(rows.value).all(), "the statistic has numbers that are not finite")
    _demand((rows.value > 0).all(), "a leaf lists a class without weight")
    ends = np.cumsum(tree.schema.block_widths)
    n_targets = len(ends)
    target = np.searchsorted(ends, rows.column, side="right")
    totals = np.bincount(node * n_targets + target, rows.value, n * n_targets).reshape(n, n_targets)
    totals = totals[tree.is_leaf]
    _demand((totals > 0).all(), "a node has no weight")
    _demand(np.isfinite(totals.sum()), "the weight of a node overflows")
    _demand(_close(totals, totals[:, :1]), "a node has another weight for one target than for another")


def _check_weights(tree: Tree, statistic: Floats) -> None:
    """Every number is finite, every node has weight, and a node's weights are the sums of its children's."""
    _demand(np.isfinite(statistic).all(), "the statistic has numbers that are not finite")
    is_classes = tree.schema.predicts_classes
    weights = statistic if is_classes else statistic[:, ::3]
    _demand((weights >= 0).all(), "a weight is negative")
    _demand(is_classes or (statistic[:, 2::3] >= 0).all(), "a deviation is negative")
    starts = np.cumsum([0, *tree.schema.block_widths[:-1]])
    totals = np.asarray(np.add.reduceat(weights, starts, axis=1)) if is_classes else weights
    _check_empty(tree, totals[:, 0])
    _demand(np.isfinite(totals).all(), "the weight of a node overflows")
    _demand(_close(totals, totals[:, :1]), "a node has another weight for one target than for another")
    inner, step = np.flatnonzero(~tree.is_leaf), 1 + _PIECE // weights.shape[1]
    for some in np.split(inner, range(step, len(inner), step)):  # in pieces: there may be many classes
        sums = weights[tree.left[some]] + weights[tree.right[some]]
        _demand(_close(weights[some], sums), "a node's weight is not the sum of its children's")


def _check_empty(tree: Tree, weight: Floats) -> None:
    """Only leaves below splits into many branches may have no rows."""
    empty = np.flatnonzero(weight == 0)
    if empty.size:
        parent = tree.parent[empty]
        is_branch = (parent >= 0) & (tree.joined[parent] | tree.joined[tree.left[parent]])
        _demand((is_branch & tree.is_leaf[empty]).all(), "a node has no weight")


def _close(a: Array, b: Array) -> bool:
    return bool(np.allclose(a, b, rtol=1e-9, atol=0))


def _check_rows(tree: Tree) -> None:
    inner = ~tree.is_leaf
    _demand((tree.rows >= 0).all(), "a node has fewer than 0 rows")  # so a sum that overflows is no node's
    children = tree.rows[tree.left[inner]], tree.rows[tree.right[inner]]
    if tree.missing == "fractional":  # a row may be on both sides
        fits = (np.maximum(*children) <= tree.rows[inner]) & (tree.rows[inner] <= children[0] + children[1])
    else:
        fits = tree.rows[inner] == children[0] + children[1]
    _demand(fits.all(), "the rows of a node are not the sum of its children's")
