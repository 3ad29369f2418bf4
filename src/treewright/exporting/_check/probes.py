"""Rows that show where an export differs from its tree: on thresholds and next to them,
missing, infinite, with categories that were never seen.
"""

from __future__ import annotations

import math
from collections.abc import Container, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import cycle
from operator import add, mul
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from treewright.encoding import Dataset, encode
from treewright.encoding.kinds import MISSING_CODE as MISSING
from treewright.encoding.kinds import UNSEEN_CODE as UNSEEN
from treewright.encoding.schema import Column, Schema
from treewright.tree import Tree
from treewright.tree.oblique import Direction, asked_columns

Array = NDArray[Any]
Table = dict[str, Any]
Setting = dict[int, float]  # values that a row is to have, by column or sum

_WIDE = 256  # columns; of a wider table those that no test reads are all missing, and take no memory
_FIRST_TIME, _LAST_TIME = -62_135_596_800e6, 253_402_300_799e6  # the years 1 to 9999, in microseconds
_LARGE = 1.7976931348623157e308
_CELLS_AT_ONCE = 2**20
_FIRST_SETTINGS = 4  # of each node; the others follow if there are rows enough
_SIZES = (1e-300, 1.0, 1e3, 1e16, 1e300)  # of numbers that are no neighbour of a threshold


def probes(tree: Tree, n: int = 10_000, seed: int = 0, *, tested: bool = False) -> Table:
    """A table of `n` hostile rows for a tree, as a dict of columns; the same for the same seed.

    For as many nodes as there is room for, rows that reach the node with a value exactly on its threshold,
    next to it on both sides, ±0, ±infinity, missing; with categories that go left, go right, are missing or
    were never seen; with a missing value and such values of each surrogate; with sums of columns on the
    threshold. The rest are rows of such values at random. If the tree takes complete rows only, they are.

    Numbers are float64 (missing: NaN), times datetime64[us] (missing: NaT), categories a list of values
    (missing: None). Where only columns that are `tested` are wanted, the others are left out.

    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"]))
    >>> table = probes(tree, n=100)
    >>> bool(np.isin([2.5, np.nextafter(2.5, 3), np.nextafter(2.5, 2), np.inf, -np.inf], table["x"]).all())
    True
    """
    if n < 1:
        raise ValueError(f"n is {n}; it is the number of rows, at least 1")
    random = np.random.default_rng(seed)
    columns: dict[int, Array] = {
        j: random.choice(_pool(tree.schema.columns[j], thresholds, random), n)
        for j, thresholds in _thresholds(tree).items()
    }
    if columns:
        assignments = _assignments(tree, n, random)
        _direct_rows(tree, assignments, columns, random)
        if tree.missing == "error":
            _complete(tree, columns)
    known = tree.schema.columns
    return {
        known[j].name: _decode(known[j], columns[j], random)
        if j in columns
        else _any_values(known[j], n, len(known), random)
        for j in (tested_positions(tree) if tested else range(len(known)))
    }


def tested_positions(tree: Tree) -> list[int]:
    """The columns that predictions depend on; the first one where there are none."""
    return asked_columns(tree) or [0]


def encode_table(table: Table, tree: Tree) -> Dataset:
    """A table in the schema of a tree. Columns that it lacks are missing in every row and take no memory.

    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1.0, 2.0], "y": [5.0, 5.0], "sky": ["blue", "blue"]}, ["a", "b"]))
    >>> encode_table({"x": [1.5]}, tree).columns
    (array([1.5]), array([nan]), array([-1], dtype=int32))
    """
    present = tuple(column for column in tree.schema.columns if column.name in table)
    if len(present) in (0, len(tree.schema.columns)):
        return encode(table, schema=tree.schema)
    narrow = encode(
        {column.name: table[column.name] for column in present}, schema=Schema(present, tree.schema.targets)
    )
    arrays = {
        column.name: np.broadcast_to(column.type.missing_cells(1), narrow.n_rows)
        for column in tree.schema.columns
    }
    arrays |= {column.name: narrow.column(place) for place, column in enumerate(present)}
    return Dataset(tree.schema, tuple(arrays.values()))


def parts(data: Dataset) -> Iterator[Dataset]:
    """The rows in parts of about a million cells, for programs that want all columns in one matrix."""
    at_once = max(1, _CELLS_AT_ONCE // data.n_columns)
    for start in range(0, data.n_rows, at_once):
        yield data.take(slice(start, start + at_once))


def decode_table(data: Dataset) -> Table:
    """An encoded table as values again, in the form of `probes`.

    >>> from treewright import encode
    >>> decode_table(encode({"age": [31, None], "job": ["cook", None]}))
    {'age': array([31., nan]), 'job': ['cook', None]}
    """
    random = np.random.default_rng(0)
    columns = enumerate(data.schema.columns)
    return {column.name: _decode(column, np.asarray(data.column(j)), random) for j, column in columns}


def unseen(column: Column) -> Sequence[Hashable]:
    """Some values that are none of a column's categories, as near to them as can be; () if there are none."""
    known = frozenset(column.categories)
    first = column.categories[0] if column.categories else ""
    others: list[Any]
    if isinstance(first, str):
        texts = [category for category in column.categories[:20] if isinstance(category, str)]
        near = [form for text in texts for form in (text + " ", text.swapcase(), text[:-1], " " + text)]
        others = [*near, "never seen", "NULL", "nan", "0", "true", "'"]
    elif isinstance(first, bool):
        others = [False, True]
    elif isinstance(first, int):
        others = [*range(-1, 12), 1 + max(cast("tuple[int, ...]", column.categories))]
    else:
        others = [-1.5, 0.0, 0.1, 1.25, 1e300]
    return tuple(dict.fromkeys(value for value in others if value not in known))


def _thresholds(tree: Tree) -> dict[int, Array]:
    """The columns that tests, surrogates and sums read, with the thresholds of each."""
    feature = np.concatenate([tree.feature, tree.surrogates.feature])
    threshold = np.concatenate([tree.threshold, tree.surrogates.threshold])
    order = np.argsort(feature, kind="stable")
    found, start = np.unique(feature[order], return_index=True)
    asked = dict(zip(found.tolist(), np.split(threshold[order], start[1:]), strict=True))
    n_columns = len(tree.schema.columns)
    parts = [c for j in asked if j >= n_columns for c in tree.directions[j - n_columns].columns]
    asked = {c: np.zeros(0) for c in parts} | asked
    return {j: thresholds for j, thresholds in sorted(asked.items()) if 0 <= j < n_columns}


def _pool(column: Column, thresholds: Array, random: np.random.Generator) -> Array:
    """Values of a column to draw from, encoded."""
    if column.is_category:
        return np.array([MISSING, UNSEEN, *range(len(column.categories))])
    thresholds = np.unique(thresholds)
    near = np.concatenate([_neighbours(column, thresholds).ravel(), _specials(column)])
    finite = thresholds[np.isfinite(thresholds)]
    low, high = (finite.min(), finite.max()) if finite.size else (-1.0, 1.0)
    middle = random.uniform(low / 2, high / 2, 200) + random.uniform(low / 2, high / 2, 200)
    if not column.type.is_whole:
        middle = np.concatenate([middle, np.outer(_SIZES, random.normal(size=10)).ravel()])
    return np.concatenate([near, middle])


def _neighbours(column: Column, thresholds: Array) -> Array:
    """Each threshold, and the values next to it below and above: (3, n)."""
    kind = column.type
    own = np.floor(thresholds) if kind.is_whole else thresholds
    return np.stack([own, kind.next_below(thresholds), kind.next_above(thresholds)])


def _specials(column: Column) -> Array:
    if column.type.is_whole:
        return np.array([np.nan, 0.0, -1.0, 1.0, _FIRST_TIME, _LAST_TIME])
    return np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, _LARGE, -_LARGE, 5e-324, -5e-324, 1.0])


def _assignments(tree: Tree, n: int, random: np.random.Generator) -> dict[int, list[tuple[int, Setting]]]:
    """For some nodes, rows and the values that each is to have there; four fifths of the rows."""
    inner = np.flatnonzero(~tree.is_leaf)
    room = max(n - n // 5, 1)
    if len(inner) * _FIRST_SETTINGS > room:
        inner = np.sort(random.choice(inner, max(room // _FIRST_SETTINGS, 1), replace=False))
    values = {int(node): _settings(tree, int(node), random) for node in inner}
    first = [(node, value) for node, all_of_it in values.items() for value in all_of_it[:_FIRST_SETTINGS]]
    others = [(node, value) for node, all_of_it in values.items() for value in all_of_it[_FIRST_SETTINGS:]]
    left = max(room - len(first), 0)
    if len(others) > left:
        others = [others[i] for i in random.choice(len(others), left, replace=False)]
    rows = random.permutation(n).tolist()
    assignments: dict[int, list[tuple[int, Setting]]] = {}
    for row, (node, value) in zip(rows[:room], cycle(first + others), strict=False):
        assignments.setdefault(node, []).append((row, value))
    return assignments


def _settings(tree: Tree, node: int, random: np.random.Generator) -> list[Setting]:
    """The values to try at a node, the most informative ones first: of what it tests, then, where that is
    missing, of each surrogate, where those before it are missing or were never seen.
    """
    feature = int(tree.feature[node])
    own = [{feature: value} for value in _edge_values(tree, feature, float(tree.threshold[node]), random)]
    missing: Setting = {feature: tree.tested[feature].type.missing}
    instead: list[Setting] = []
    for entry in tree.surrogates.of(node):
        feature = int(tree.surrogates.feature[entry])
        values = _edge_values(tree, feature, float(tree.surrogates.threshold[entry]), random)
        instead += [missing | {feature: value} for value in values]
        column = tree.schema.columns[feature]
        is_unseen = column.is_category and random.random() < 0.5
        missing = missing | {feature: UNSEEN if is_unseen else column.type.missing}
    return [*own[:2], *instead[:2], *own[2:], *instead[2:]] if instead else own


def _edge_values(tree: Tree, feature: int, threshold: float, random: np.random.Generator) -> list[float]:
    """Values of a column or sum on both sides of a test and at its edges."""
    column = tree.tested[feature]
    if not column.is_category:
        near = _neighbours(column, np.array([threshold])).ravel().tolist()
        return [*near, *_specials(column).tolist()]
    codes = random.permutation(len(column.categories))[:6].tolist()
    return [MISSING, UNSEEN, *codes]


@dataclass
class _Path:
    """The conditions on the path to a node, kept while walking in preorder; no recursion."""

    tree: Tree
    bounds: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    before: list[tuple[int, tuple[Any, ...] | None]] = field(default_factory=list)

    def enter(self, node: int, depth: int, parent: int) -> None:
        """From the node before in preorder to this one."""
        while len(self.before) >= max(depth, 1):
            column, old = self.before.pop()
            if old is None:
                del self.bounds[column]
            else:
                self.bounds[column] = old
        if node:
            column = int(self.tree.feature[parent])
            old = self.bounds.get(column)
            self.before.append((column, old))
            narrow = self._number if self.tree.subset[parent] < 0 else self._category
            self.bounds[column] = narrow(parent, node == parent + 1, old)

    def _number(self, parent: int, is_left: bool, old: tuple[Any, ...] | None) -> tuple[Any, ...]:
        low, high, missing = old or (-np.inf, np.inf, True)
        threshold = float(self.tree.threshold[parent])
        low, high = (low, min(high, threshold)) if is_left else (max(low, threshold), high)
        return low, high, missing and self._missing_goes(parent, is_left)

    def _missing_goes(self, parent: int, is_left: bool) -> bool:
        """Whether a missing value surely goes there, whatever the other values are."""
        if self.tree.missing == "fractional":
            return True
        goes = bool(self.tree.missing_left[parent]) == is_left
        return goes and not (self.tree.missing == "surrogate" and len(self.tree.surrogates.of(parent)))

    def _category(self, parent: int, is_left: bool, old: tuple[Any, ...] | None) -> tuple[Any, ...]:
        tree, j = self.tree, int(self.tree.feature[parent])
        every = (1 << len(tree.schema.columns[j].categories)) - 1
        codes, unseen_fits, missing = old or (every, True, True)
        start = int(tree.subset[parent])
        bits = int.from_bytes(tree.subsets[start : start + tree.schema.subset_sizes[j]].tobytes(), "little")
        codes &= bits if is_left else every & ~bits
        unseen_fits = unseen_fits and bool(tree.heavier_left[parent]) == is_left
        return codes, unseen_fits, missing and self._missing_goes(parent, is_left)


def _direct_rows(
    tree: Tree,
    assignments: dict[int, list[tuple[int, Setting]]],
    columns: dict[int, Array],
    random: np.random.Generator,
) -> None:
    """Change rows so that they reach the nodes that they are assigned to, if any row can."""
    way, n_columns = _Path(tree), len(tree.schema.columns)
    depths, parents = tree.depths.tolist(), tree.parent.tolist()
    for node in range(max(assignments) + 1):
        way.enter(node, depths[node], parents[node])
        for row, setting in assignments.get(node, ()):
            wanted = {j: _inside(tree.tested[j], bounds, random) for j, bounds in way.bounds.items()}
            for j, value in (wanted | setting).items():
                if j < n_columns:
                    columns[j][row] = value
            for j, value in (wanted | setting).items():
                if j >= n_columns:
                    kept = setting.keys() | way.bounds.keys()
                    aim(tree.directions[j - n_columns], value, columns, row, kept, random)


def _complete(tree: Tree, columns: dict[int, Array]) -> None:
    """Replace missing values of the columns that are tested, and of sums of them."""
    for j, values in columns.items():
        column = tree.schema.columns[j]
        if column.is_category:
            values[values == MISSING] = 0
            values[(values == UNSEEN) & (not unseen(column))] = 0  # nothing is unseen where all is known
        else:
            values[np.isnan(values)] = 0.0
    with np.errstate(all="ignore"):
        for direction in (each for each in tree.directions if all(c in columns for c in each.columns)):
            parts = [w * columns[c] for c, w in zip(direction.columns, direction.weights, strict=True)]
            lost = np.isnan(reduce(np.add, parts))
            for c in direction.columns:
                columns[c][lost] = 1.0


def _inside(column: Column, bounds: tuple[Any, ...], random: np.random.Generator) -> float:
    """A value within bounds, at their edge where that can be."""
    if column.is_category:
        codes, unseen_fits, missing = bounds
        fitting = _some_bits(codes, random) + [UNSEEN] * unseen_fits + [MISSING] * missing
        return fitting[random.integers(len(fitting))] if fitting else MISSING
    low, high, missing = bounds
    if low >= high or (missing and random.random() < 0.2):
        return np.nan
    ends = [float(column.type.next_above(np.array(low))) if np.isfinite(low) else low, high]
    if column.type.is_whole and np.isfinite(high):
        ends[1] = np.floor(high)
    finite = [end for end in ends if np.isfinite(end)] or ends
    return float(finite[random.integers(len(finite))])


def _some_bits(bits: int, random: np.random.Generator) -> list[int]:
    """Up to three of the positions of the bits that are set."""
    found: list[int] = []
    if bits:
        length = bits.bit_length()
        start = int(random.integers(length))
        for half, offset in ((bits >> start, start), (bits, 0), (bits >> length // 2, length // 2)):
            if half:
                found.append(offset + (half & -half).bit_length() - 1)
    return found


def _decode(column: Column, array: Array, random: np.random.Generator) -> Any:
    """An encoded column as values; whole numbers of a calendar are kept within it."""
    if not column.is_category:
        cells = array.astype(np.float64)
        if column.type.is_whole:
            cells = np.clip(np.floor(cells), _FIRST_TIME, _LAST_TIME)
        return column.type.decode(column, cells)
    strange = unseen(column)
    values = [*column.categories, *strange, None]
    codes = array.astype(np.int64)
    new = codes == UNSEEN
    codes[new] = len(column.categories) + random.integers(max(len(strange), 1), size=int(new.sum()))
    codes[array == MISSING] = -1
    return [values[code] for code in codes.tolist()]


def _any_values(column: Column, n: int, width: int, random: np.random.Generator) -> Any:
    """Values of a column that no test reads: whatever they are, they do not matter."""
    if width > _WIDE:
        missing = _decode(column, column.type.missing_cells(1), random)
        return missing * n if column.is_category else np.broadcast_to(missing, n)
    pool = np.array([MISSING, UNSEEN, *range(len(column.categories))])
    return _decode(column, random.choice(pool if column.is_category else _specials(column), n), random)


# ---- weighted sums of columns ------------------------------------------------------------------------------

Columns = dict[int, NDArray[np.float64]]

_LARGEST_PART = 1e100  # beyond, a sum has no room for another part
_NEAREST_FLOATS = 6  # floats beside the one that arithmetic finds


def aim(
    direction: Direction,
    value: float,
    columns: Columns,
    row: int,
    kept: Container[int],
    random: np.random.Generator,
) -> None:
    """Change a row so that a sum is `value`, or as near to it as a float of one column brings it.

    Columns that are to be `kept` change only where all are.
    """
    parts = list(zip(direction.columns, direction.weights, strict=True))
    free = [place for place, (column, _) in enumerate(parts) if column not in kept] or range(len(parts))
    chosen = int(random.choice(free))
    for place, (column, _) in enumerate(parts):
        now = columns[column][row]
        if place != chosen and column not in kept and not abs(now) < _LARGEST_PART:
            size = max(1.0, min(abs(value), _LARGEST_PART)) if value == value else 1.0
            columns[column][row] = round(random.normal(scale=size), 1)
    column, weight = parts[chosen]
    if not np.isfinite(value):
        columns[column][row] = value * weight
        if np.isnan(value) and random.random() < 0.5:  # opposite infinities have no sum
            other, other_weight = parts[chosen - 1]
            columns[column][row], columns[other][row] = np.inf * weight, -np.inf * other_weight
        return
    if not _solve(
        parts, chosen, value, columns, row
    ):  # beside large parts there is no room for the last bits
        for place, (part, _) in enumerate(parts):
            if place != chosen and part not in kept and random.random() < 0.7:
                columns[part][row] = 0.0
        _solve(parts, chosen, value, columns, row)


def _solve(parts: list[tuple[int, float]], chosen: int, value: float, columns: Columns, row: int) -> bool:
    """Give one column the number with which the sum comes nearest to a value; whether it is that value."""
    values, weights = [float(columns[c][row]) for c, _ in parts], [w for _, w in parts]
    rest = sum(v * w for place, (v, w) in enumerate(zip(values, weights, strict=True)) if place != chosen)
    below = above = (value - rest) / weights[chosen]
    near = [below]
    for _ in range(_NEAREST_FLOATS):
        below, above = math.nextafter(below, -math.inf), math.nextafter(above, math.inf)
        near += [below, above]
    best, least = near[0], math.inf
    for candidate in near:
        values[chosen] = candidate
        distance = abs(reduce(add, map(mul, weights, values)) - value)
        if distance < least:
            best, least = candidate, distance
    columns[parts[chosen][0]][row] = best
    return least == 0
