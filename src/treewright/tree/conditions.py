"""Kinds of tests at nodes, and the conditions on rows that follow from them.

Users write a test as `Below`, `Among` or `Combination`, with columns and categories by name. The arrays of a
tree hold it as a feature, a threshold and the bits of a set of categories; read from there it is a
`ThresholdTest` or a `SubsetTest` with the predicate, the text and the condition of each side. `Kind.test`
names the test of a kind of column, a key of `TESTS`. Rows that pass go left.

The core routes rows by `value <= threshold` and by the bits of codes. A new kind of test is a pair of such
classes whose arrays express one of the two; add it to `TESTS` and name it in the kind of column.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, nan
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from treewright._arrays import Array, Bytes, Flags, Floats, Ints
from treewright._suggestions import checked_keywords
from treewright._text import LONGEST_LIST, label_text, name_text, set_text
from treewright.encoding.kinds import Kind
from treewright.encoding.prefix_codes import Reader, count_bits, name_bits, read_names, write_names
from treewright.encoding.schema import Column, Schema
from treewright.tree.oblique import Direction

if TYPE_CHECKING:
    from treewright.encoding import Dataset
    from treewright.tree.tree import Tree

IS_KNOWN, IS_MISSING, OR_MISSING = "is known", "is missing", " or missing"  # the last after another condition


# ---- tests by name -------------------------------------------------------------------------------------


class PackedTest(NamedTuple):
    """A test for the arrays of a tree."""

    feature: int  # a column of the schema, or behind these a direction
    threshold: float = nan  # NaN where categories are tested
    bits: bytes = b""  # a bit for each category, 1 where it passes; empty where numbers are tested


class NodeTest:
    """A test of a node: rows that pass go left."""

    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that the test reads, in the order of summation."""
        return (self.column,)

    def pack(self, schema: Schema, directions: dict[Direction, int] | None = None) -> PackedTest:
        """The test for the arrays of a tree; ValueError if the schema has no such column or category.

        A sum of columns is added to `directions`, by its feature; TypeError where none may be.
        """
        raise NotImplementedError

    def values(self, data: Dataset) -> Array:
        """The encoded values that the test reads."""
        return data.column(data.schema.position(self.columns[0]))

    def holds(self, data: Dataset) -> Flags:
        """Whether each row of a table passes; False where its value is missing or unknown.

        >>> from treewright import encode
        >>> data = encode({"x": [1.0, 3.0, None], "sky": ["blue", "grey", "blue"]})
        >>> Below("x", 2.0).holds(data).tolist(), Among("sky", ("blue",)).holds(data).tolist()
        ([True, False, False], [True, False, True])
        >>> Below("x", 2.0).is_known(data).tolist()
        [True, True, False]
        """
        return self._stored(data.schema).holds(self.values(data))

    def is_known(self, data: Dataset) -> Flags:
        """Whether the value of each row is neither missing nor a category unknown to the schema."""
        return self._stored(data.schema).is_known(self.values(data))

    def _stored(self, schema: Schema) -> StoredTest:
        packed = self.pack(schema, {})
        is_column = packed.feature < len(schema.columns)
        column = schema.columns[packed.feature] if is_column else Column(" + ".join(self.columns))
        return stored_test(column, packed.threshold, np.frombuffer(packed.bits, np.uint8))


@checked_keywords
@dataclass(frozen=True)
class Below(NodeTest):
    """The test `value <= threshold` of a number or a time.

    Examples
    --------
    >>> from treewright import Below, encode, grow
    >>> grow(encode({"x": [1, 2, 3, 4]}, ["a", "b", "b", "b"]), root=Below("x", 3)).root.test
    Below(column='x', threshold=3.0)
    """

    column: str
    threshold: float

    def pack(self, schema: Schema, directions: dict[Direction, int] | None = None) -> PackedTest:
        """The threshold, of a column of numbers or times."""
        position = schema.position(self.column)
        if schema.columns[position].is_category:
            raise ValueError(f"column {self.column!r} is a category; test it with Among")
        return PackedTest(position, float(self.threshold))


@checked_keywords
@dataclass(frozen=True)
class Among(NodeTest):
    """The test whether a category is one of `categories`.

    Examples
    --------
    >>> from treewright import Among, encode, grow
    >>> data = encode({"job": ["cook", "pilot", "clerk"]}, ["a", "b", "b"])
    >>> grow(data, root=Among("job", ("cook",))).root.test
    Among(column='job', categories=('cook',))
    """

    column: str
    categories: tuple[Any, ...]

    def pack(self, schema: Schema, directions: dict[Direction, int] | None = None) -> PackedTest:
        """The bits of the categories, of a column of categories."""
        position = schema.position(self.column)
        column = schema.columns[position]
        if not column.is_category:
            raise ValueError(f"column {column.name!r} is a {column.kind}; test it with Below")
        if isinstance(self.categories, str):
            raise TypeError(f"categories are a tuple: Among({column.name!r}, ({self.categories!r},))")
        unknown = [category for category in self.categories if category not in column.categories]
        if unknown:
            raise ValueError(
                f"column {column.name!r} has no category {unknown[0]!r}; it has {list(column.categories)}"
            )
        codes = [column.categories.index(category) for category in self.categories]
        return PackedTest(position, bits=subset_bits(len(column.categories), codes))


@checked_keywords
@dataclass(frozen=True)
class Combination(NodeTest):
    """The test `Σ weight · value <= threshold` of several numbers; missing where one of them is.

    >>> Combination({"height": 1.0, "width": -0.5}, 2.0).columns
    ('height', 'width')
    """

    weights: Mapping[str, float]
    threshold: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", MappingProxyType(dict(self.weights)))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.weights)

    def pack(self, schema: Schema, directions: dict[Direction, int] | None = None) -> PackedTest:
        """The threshold of a direction, which is added to the others unless it is there."""
        if directions is None:
            raise TypeError(f"only single columns can be tested here, not {self!r}")
        first_free = len(schema.columns) + len(directions)
        return PackedTest(directions.setdefault(self.direction(schema), first_free), float(self.threshold))

    def direction(self, schema: Schema) -> Direction:
        """The sum, in the order in which it is written."""
        positions = [schema.position(name) for name in self.weights]
        if len(positions) < 2:
            raise ValueError(f"a Combination adds up two columns at least, not {list(self.weights)}")
        for position, weight in zip(positions, self.weights.values(), strict=True):
            column = schema.columns[position]
            if not column.is_summable:
                raise ValueError(f"column {column.name!r} is a {column.kind}; only numbers can be added up")
            if not (np.isfinite(weight) and weight != 0):
                raise ValueError(f"the weight of {column.name!r} is {weight!r}; it must be finite and not 0")
        return Direction.of(positions, self.weights.values())

    def values(self, data: Dataset) -> Array:
        """The sum for each row."""
        return self.direction(data.schema).values(data)

    def __hash__(self) -> int:
        return hash((*self.weights.items(), self.threshold))

    def __repr__(self) -> str:
        return f"Combination(weights={dict(self.weights)!r}, threshold={self.threshold!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Combination, (dict(self.weights), self.threshold)


def pack_test(schema: Schema, test: Any, directions: dict[Direction, int] | None = None) -> PackedTest:
    """A test that a user gave, packed; TypeError if it is no test, or a sum where none may be."""
    if not isinstance(test, NodeTest) or (isinstance(test, Combination) and directions is None):
        raise TypeError(
            "a test is Below(column, threshold), Among(column, categories) or Combination(weights, threshold)"
            f", not {test!r}"
        )
    return test.pack(schema, directions)


# ---- tests in the arrays of a tree ---------------------------------------------------------------------


class CodeOptions(NamedTuple):
    """How the prefix code of a tree writes tests; see `treewright.certifying.tree_code`."""

    signed: bool  # whether thresholds of numbers are below zero
    known: bool  # whether the list of categories was known before: then they are counted, not named


@dataclass(frozen=True, eq=False)
class StoredTest:
    """A test read from the arrays of a tree; `column` may be a sum of columns, by its name."""

    column: Column
    coded_as: ClassVar[str]  # what its bits are called
    names_a_side: ClassVar[bool] = False  # whether the code names the values of one side

    @classmethod
    def of_arrays(cls, column: Column, threshold: float, bits: Bytes) -> Self:
        """The test from the arrays of a tree; `bits` begin with those of the test."""
        raise NotImplementedError

    def by_name(self) -> NodeTest:
        """The test by name, of a single column."""
        raise NotImplementedError

    def holds(self, values: Array) -> Flags:
        """Whether each encoded value passes; False where it is missing or unknown."""
        raise NotImplementedError

    def is_known(self, values: Array) -> Flags:
        """Whether each encoded value is neither missing nor a category unknown to the schema."""
        return ~self.column.type.is_unknown(values)

    @property
    def passes_all(self) -> bool:
        """Whether every known value passes, so that only missing values can go right."""
        raise NotImplementedError

    def text(self, is_left: bool = True, longest: int = LONGEST_LIST) -> str:
        """The condition of one side in words; of more than `longest` categories the first ones."""
        raise NotImplementedError

    def condition(self, is_left: bool, *, missing: bool, unseen: bool) -> Condition:
        """The condition of one side; `missing`, `unseen`: whether missing values and new categories fit."""
        raise NotImplementedError

    def write(self, code: CodeOptions, others_left: bool) -> str:
        """The test in bits; values that are not named go left if `others_left`."""
        raise NotImplementedError

    @classmethod
    def read(cls, reader: Reader, column: Column, code: CodeOptions) -> tuple[Self, bool]:
        """What `write` wrote: the test, and whether values that are not named go left."""
        raise NotImplementedError

    @classmethod
    def node_bits(cls, tree: Tree, nodes: NDArray[np.intp], kind: Kind, code: CodeOptions) -> Floats:
        """The length of what `write` writes, for nodes that test columns of a kind."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class ThresholdTest(StoredTest):
    """`value <= threshold`: `Below`, and of a sum of columns `Combination`."""

    threshold: float
    coded_as = "thresholds"

    @classmethod
    def of_arrays(cls, column: Column, threshold: float, bits: Bytes) -> Self:
        """The threshold."""
        return cls(column, threshold)

    def by_name(self) -> NodeTest:
        """`Below`."""
        return Below(self.column.name, self.threshold)

    def holds(self, values: Array) -> Flags:
        """Compared in double precision."""
        return np.asarray(values.astype(np.float64, copy=False) <= self.threshold)

    @property
    def passes_all(self) -> bool:
        """Whether the threshold is infinite."""
        return self.threshold == inf

    def text(self, is_left: bool = True, longest: int = LONGEST_LIST) -> str:
        """One side of the threshold."""
        return f"{'<=' if is_left else '>'} {self.column.threshold_text(self.threshold)}"

    def condition(self, is_left: bool, *, missing: bool, unseen: bool) -> Condition:
        """The interval of one side."""
        above, upto = (None, self.threshold) if is_left else (self.threshold, None)
        return Between(self.column.name, above, None if upto == inf else upto, missing)

    def write(self, code: CodeOptions, others_left: bool) -> str:
        """The threshold, as its kind of column writes it."""
        return self.column.type.write_threshold(self.threshold, code.signed)

    @classmethod
    def read(cls, reader: Reader, column: Column, code: CodeOptions) -> tuple[Self, bool]:
        """What `write` wrote."""
        return cls(column, column.type.read_threshold(reader, code.signed)), False

    @classmethod
    def node_bits(cls, tree: Tree, nodes: NDArray[np.intp], kind: Kind, code: CodeOptions) -> Floats:
        """Each threshold is measured once."""
        values, place = np.unique(tree.threshold[nodes], return_inverse=True)
        lengths = [kind.threshold_bits(value, code.signed) for value in values.tolist()]
        return np.array(lengths, np.float64)[place]


@dataclass(frozen=True, eq=False)
class SubsetTest(StoredTest):
    """A category of a set: `Among`."""

    passes: Flags  # for each category
    coded_as = "categories"
    names_a_side = True

    @classmethod
    def of_arrays(cls, column: Column, threshold: float, bits: Bytes) -> Self:
        """The set of categories."""
        return cls(column, unpack_bits(bits, len(column.categories)))

    def by_name(self) -> NodeTest:
        """`Among`."""
        return Among(self.column.name, self._names(self.passes))

    def _names(self, flags: Flags) -> tuple[Hashable, ...]:
        return tuple(self.column.categories[code] for code in np.flatnonzero(flags).tolist())

    def holds(self, values: Array) -> Flags:
        """Looked up by code; those below 0 are missing or unknown."""
        return np.asarray(np.append(self.passes, [False, False])[values])

    @property
    def passes_all(self) -> bool:
        """Whether all categories are in the set."""
        return bool(self.passes.all())

    def text(self, is_left: bool = True, longest: int = LONGEST_LIST) -> str:
        """The categories of one side, or "not in" those of the other side where these are fewer."""
        own = self.passes == is_left
        within = 2 * int(own.sum()) <= len(own)
        codes = np.flatnonzero(own == within)
        names = [self.column.categories[code] for code in codes[:longest].tolist()]
        return membership_text(names, within, longest, more=len(codes) - len(names))

    def condition(self, is_left: bool, *, missing: bool, unseen: bool) -> Condition:
        """The categories of one side."""
        return Within(self.column.name, self._names(self.passes == is_left), missing, unseen)

    def write(self, code: CodeOptions, others_left: bool) -> str:
        """A bit for the side of the others and the names on the other side; or a bit for each category."""
        if code.known:
            return "".join("01"[left] for left in self.passes.tolist())
        return "01"[others_left] + write_names(self._names(self.passes != others_left))

    @classmethod
    def read(cls, reader: Reader, column: Column, code: CodeOptions) -> tuple[Self, bool]:
        """What `write` wrote."""
        if code.known:
            return cls(column, np.array([reader.take(1) for _ in column.categories], np.bool_)), False
        others_left = bool(reader.take(1))
        names = set(read_names(reader, all(isinstance(name, bool) for name in column.categories)))
        passes = [(str(name) in names) != others_left for name in column.categories]
        return cls(column, np.array(passes, np.bool_)), others_left

    @classmethod
    def node_bits(cls, tree: Tree, nodes: NDArray[np.intp], kind: Kind, code: CodeOptions) -> Floats:
        """Column by column, a block of subsets at a time."""
        if code.known:
            return np.array(tree.schema.category_counts, np.float64)[tree.feature[nodes]]
        bits = np.zeros(tree.n_nodes)
        for position in np.unique(tree.feature[nodes]).tolist():
            lengths = np.array([name_bits(name) for name in tree.schema.columns[position].categories])
            counts = np.array([count_bits(count) for count in range(len(lengths) + 1)])
            own = nodes[tree.feature[nodes] == position]
            step = max(_BLOCK // (len(lengths) + 1), 1)
            for some in (own[i : i + step] for i in range(0, len(own), step)):
                place = tree.subset[some][:, np.newaxis] + np.arange(tree.schema.subset_sizes[position])
                left = np.unpackbits(tree.subsets[place], axis=1, count=len(lengths), bitorder="little")
                is_named = left != tree.heavier_left[some, np.newaxis]
                bits[some] = 1.0 + counts[is_named.sum(axis=1)] + is_named @ lengths
        return bits[nodes]


_BLOCK = 2**22  # categories that are measured at a time


def membership_text(
    categories: Iterable[Hashable], within: bool, longest: int = LONGEST_LIST, *, more: int = 0
) -> str:
    """Membership in a set of categories: "in", "not in", or "=" for a single one.

    >>> membership_text(["cook"], True), membership_text(["cook", "clerk"], False)
    ('= cook', 'not in {cook, clerk}')
    """
    names = tuple(categories)
    if within and len(names) == 1 and not more:
        return f"= {label_text(names[0])}"
    return f"{'in' if within else 'not in'} {set_text(names, longest, more=more)}"


def subset_bits(n_categories: int, left: Any) -> bytes:
    """The bits of the category codes that go left."""
    return np.packbits(np.isin(np.arange(n_categories), left), bitorder="little").tobytes()


def unpack_bits(bits: Bytes, n_categories: int) -> Flags:
    """For each category whether its bit is set; `bits` may go on behind them."""
    own = bits[: (n_categories + 7) // 8]
    return np.unpackbits(own, count=n_categories, bitorder="little").view(np.bool_)


def pack_subsets(bits: Sequence[bytes]) -> tuple[Ints, Bytes]:
    """Where the bits of each test of categories begin (-1 for other tests), and all bits."""
    lengths = np.array([len(each) for each in bits], np.int64)
    starts = np.where(lengths > 0, np.cumsum(lengths) - lengths, -1)
    return starts, np.frombuffer(b"".join(bits), np.uint8).copy()


TESTS: dict[str, type[StoredTest]] = {"below": ThresholdTest, "among": SubsetTest}  # by `Kind.test`


def stored_test(column: Column, threshold: float, bits: Bytes) -> StoredTest:
    """The test of a column from the arrays of a tree; `bits` begin with those of the test."""
    return TESTS[column.type.test].of_arrays(column, threshold, bits)


# ---- conditions on a column that follow from the tests on a path ---------------------------------------


@dataclass(frozen=True)
class Between:
    """A number or time in an interval: above < value <= upto, either end open if None; or it is missing."""

    column: str
    above: float | None = None
    upto: float | None = None
    missing: bool = False

    def and_(self, other: Between) -> Between:
        """Both at once, in the shortest form."""
        above = max((end for end in (self.above, other.above) if end is not None), default=None)
        upto = min((end for end in (self.upto, other.upto) if end is not None), default=None)
        if above is not None and upto is not None and above >= upto:
            above, upto = inf, None  # no number is: at most a missing value
        return Between(self.column, above, upto, self.missing and other.missing)

    def or_(self, other: Between) -> Between | None:
        """Either of them, where the other begins at the end of this one; None where it does not."""
        if self.upto is None or self.upto != other.above:
            return None
        return Between(self.column, self.above, other.upto, self.missing or other.missing)

    @property
    def start(self) -> float:
        """Where the interval begins."""
        return -inf if self.above is None else self.above

    def with_new(self, categories: tuple[Hashable, ...]) -> Between:
        """Itself; see `Within.with_new`."""
        return self

    def excludes_nothing(self, column: Column) -> bool:
        """Whether every value of the column fits."""
        return self.always

    @property
    def always(self) -> bool:
        """Whether every value fits."""
        return self.missing and self.above is None and self.upto is None

    @property
    def never(self) -> bool:
        """Whether no value can fit."""
        return not self.missing and self.above == inf

    @property
    def size(self) -> int:
        """The length of its text: one condition."""
        return 1

    def holds(self, values: Array, categories: tuple[Hashable, ...] = ()) -> Flags:
        """Whether each value of the encoded column fits."""
        values = np.asarray(values, np.float64)  # float32 against a float64 would be decided in float32
        fits = ~np.isnan(values)
        if self.above is not None:
            fits &= values > self.above
        if self.upto is not None:
            fits &= values <= self.upto
        return np.asarray(fits | np.isnan(values) if self.missing else fits)

    def words(self, column: Column, longest: int = LONGEST_LIST, *, own_upto: int = 0) -> str:
        """What the value must be, but for missing values."""
        if self.above is None and self.upto is None:
            return IS_KNOWN
        if self.above == inf:
            return IS_MISSING
        ends = (("> ", self.above), ("<= ", self.upto))
        return " and ".join(sign + column.threshold_text(end + 0.0) for sign, end in ends if end is not None)

    def text(self, column: Column, *, with_missing: bool = True, longest: int = LONGEST_LIST) -> str:
        """The interval in words; `with_missing` followed by "or missing" where that fits."""
        text = join_words(name_text(column.name), self.words(column))
        is_interval = self.upto is not None or self.above not in (None, inf)
        return text + OR_MISSING * (self.missing and with_missing and is_interval)

    def to_dict(self) -> dict[str, Any]:
        """Plain values; `known` says whether any number fits, infinite ends are text."""
        known = self.above != inf
        above, upto = (end if end is None or isfinite(end) else str(end) for end in (self.above, self.upto))
        ends = {"above": above if known else None, "upto": upto}
        return {"column": self.column, **ends, "known": known, "missing": self.missing}


@dataclass(frozen=True)
class Within:
    """A category among some; `missing` and `unseen` say whether a missing or an unknown one fits, too."""

    column: str
    categories: tuple[Hashable, ...]
    missing: bool = False
    unseen: bool = False

    def and_(self, other: Within) -> Within:
        """Both at once."""
        theirs = frozenset(other.categories)
        both = tuple(category for category in self.categories if category in theirs)
        return Within(self.column, both, self.missing and other.missing, self.unseen and other.unseen)

    def or_(self, other: Within) -> Within:
        """Either of them."""
        categories = tuple(dict.fromkeys((*self.categories, *other.categories)))
        return Within(self.column, categories, self.missing or other.missing, self.unseen or other.unseen)

    start = 0.0  # sets have no order

    def with_new(self, categories: tuple[Hashable, ...]) -> Within:
        """The same for a column with more categories, which a tree without them treats as unknown."""
        return replace(self, categories=(*self.categories, *categories)) if self.unseen else self

    def excludes_nothing(self, column: Column) -> bool:
        """Whether every value of the column fits."""
        return self.missing and self.unseen and len(self.categories) == len(column.categories)

    always = False  # a path that excludes no category has no condition on the column

    @property
    def never(self) -> bool:
        """Whether no value can fit."""
        return not (self.categories or self.missing or self.unseen)

    @property
    def size(self) -> int:
        """The length of its text: one condition and its categories."""
        return 1 + len(self.categories)

    def holds(self, values: Array, categories: tuple[Hashable, ...] = ()) -> Flags:
        """Whether each code of the encoded column fits; `categories` are those of the column."""
        own = frozenset(self.categories)
        # code -1 is a missing value, -2 an unseen category: the last and the last but one
        table = np.array([*(category in own for category in categories), self.unseen, self.missing])
        return np.asarray(table[values])

    def words(self, column: Column, longest: int = LONGEST_LIST, *, own_upto: int = 0) -> str:
        """What the value must be, but for missing values: the categories that fit or those that do not,
        whichever are fewer; those that fit if there are at most `own_upto`.
        """
        own = frozenset(self.categories)
        others = tuple(category for category in column.categories if category not in own)
        if not own:
            return IS_MISSING if self.missing else "is a new category"
        if not others:
            return IS_KNOWN
        within = len(own) <= max(len(others), own_upto)
        return membership_text(self.categories if within else others, within, longest)

    def text(self, column: Column, *, with_missing: bool = True, longest: int = LONGEST_LIST) -> str:
        """The categories in words; see `Between.text`."""
        words = self.words(column, longest)
        also_missing = self.missing and self.categories and (with_missing or words == IS_KNOWN)
        return f"{name_text(column.name)} {words}" + (OR_MISSING if also_missing else "")

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        flags = {"missing": self.missing, "unseen": self.unseen}
        return {"column": self.column, "categories": list(self.categories), **flags}


Condition: TypeAlias = Between | Within


def join_words(name: str, words: str) -> str:
    """A column and what its value must be: ``1 < x <= 2`` for two limits."""
    if words.startswith("> ") and " and <= " in words:
        above, words = words[2:].split(" and ", 1)
        return f"{above} < {name} {words}"
    return f"{name} {words}"


def merge_conditions(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """The conjunction of conditions: one for each column, in the shortest form, without those always true.

    >>> merge_conditions([Between("x", above=2.5), Between("y", upto=1.0), Between("x", upto=7.0)])
    (Between(column='x', above=2.5, upto=7.0, missing=False), Between(column='y', above=None, upto=1.0, \
missing=False))
    """
    by_column: dict[str, Any] = {}
    for condition in conditions:
        before = by_column.get(condition.column)
        by_column[condition.column] = condition if before is None else before.and_(condition)
    return tuple(condition for condition in by_column.values() if not condition.always)
