"""The encoded table: columns, targets and weights as arrays for the core, and the provenance of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright._arrays import Array
from treewright._display import Layout, Shown
from treewright._text import count, name_text, percent, set_text
from treewright.encoding.schema import Column, Schema, Target
from treewright.parameters.checks import n_threads

UNKNOWN_CLASS = -1  # the code of a class that the schema does not know, see `encode(judging=True)`

Labels = Literal["observed", "predicted"]
_MOST_COLUMNS = 30  # that a notebook shows
Weights = Literal["equal", "unequal"]
LABELS: tuple[Labels, ...] = get_args(Labels)
WEIGHTS: tuple[Weights, ...] = get_args(Weights)


@dataclass(frozen=True)
class Provenance:
    """The facts about training rows that the counts in a tree do not show.

    A bound from training rows assumes independent draws with true labels. It does not hold for the
    predictions of another model (distillation), nor for weighted rows: weights that average out within every
    leaf leave no trace in its counts.

    >>> from treewright import encode, grow
    >>> grow(encode({"x": [1, 2, None], "z": [1, 2, 3]}, ["a", "b", "b"])).provenance
    Provenance(labels='observed', weights='equal', incomplete=(0,))
    """

    labels: Labels = "observed"
    weights: Weights = "equal"
    incomplete: tuple[int, ...] | None = None  # columns in which some row misses a value; None: not known

    @property
    def are_draws(self) -> bool:
        """Whether each row counts as one draw with its true label."""
        return self.labels == "observed" and self.weights == "equal"


@dataclass(frozen=True, eq=False)
class Dataset(Shown):
    """A table in numbers; `schema` has their meaning.

    `columns` is one (rows, columns) array of float64 or float32 where the table was a matrix of numbers, else
    one array per column: float64 or float32 for numbers and times (missing: NaN), int32 codes for categories
    (missing: -1, a category that the schema does not know: -2). A class that the schema does not know is -1.
    The arrays may be views of the table's own memory, with any strides, and are never written to.

    >>> from treewright import encode
    >>> encode({"x": [1.0, 2.0], "sky": ["blue", None]}, ["a", "b"])
    <Dataset: 2 rows × 2 columns, to predict y (2 classes)>
    """

    schema: Schema
    columns: Array | tuple[Array, ...]
    targets: Array | None = None  # (targets, rows): int32 codes of classes, or float64; None: unknown
    weight: Array | None = None  # float64 (rows,), finite and >= 0; None: all rows weigh 1
    labels: Labels = "observed"  # or "predicted": the targets are the predictions of another model
    is_drawn: bool = False  # whether the weights count draws of rows, as for a bootstrap

    def __post_init__(self) -> None:
        # The core reads the columns as the schema describes them, so that no other must reach it.
        columns, of_schema = self.columns, self.schema.columns
        if isinstance(columns, np.ndarray):
            fits = columns.ndim == 2 and columns.shape[1] == len(of_schema) and self.schema.only_numbers
            fits = fits and columns.dtype.kind == "f"
        else:
            fits = len(columns) == len(of_schema) and all(
                array.dtype.kind == np.dtype(column.type.dtype).kind
                for array, column in zip(columns, of_schema, strict=True)
            )
        if not fits:
            raise ValueError(
                f"the columns do not fit the schema, which has {len(of_schema)}: numbers and times are "
                "floats, categories int32 codes"
            )

    def __repr__(self) -> str:
        size = f"{self.n_rows:,} rows × {self.n_columns:,} columns"
        if self.targets is None:
            return f"<Dataset: {size}>"
        names = ", ".join(
            f"{target.name} ({'numbers' if target.classes is None else f'{len(target.classes):,} classes'})"
            for target in self.schema.targets
        )
        return f"<Dataset: {size}, to predict {names}{'' if self.weight is None else ', weighted'}>"

    def _layout(self) -> Layout:
        shown = min(self.n_columns, _MOST_COLUMNS)
        rows = [column_facts(self.schema.columns[j], self.column(j)) for j in range(shown)]
        rest = self.n_columns - shown
        below = [f"… {count(rest, 'more column')}"] if rest else []
        head = ["column", "kind", "values", "missing"]
        return Layout([repr(self)[1:-1]], head, rows, (3,), below)

    @property
    def n_rows(self) -> int:
        """The number of rows, those of weight 0 included."""
        return len(self.columns) if isinstance(self.columns, np.ndarray) else len(self.columns[0])

    @property
    def n_columns(self) -> int:
        """The number of columns, targets not counted."""
        return len(self.schema.columns)

    @property
    def column_arrays(self) -> Array | tuple[Array, ...]:
        """The values of each column; views where the table was a matrix."""
        return self.columns.T if isinstance(self.columns, np.ndarray) else self.columns

    @property
    def target_array(self) -> Array:
        """The targets of a table that has them."""
        assert self.targets is not None
        return self.targets

    @property
    def total_weight(self) -> float:
        """The weight of all rows; their number where all weigh 1."""
        return float(self.n_rows if self.weight is None else _core.exact_sums(self.weight)[0])

    @property
    def row_weights(self) -> Array:
        """The weight of each row; ones where all weigh 1."""
        return np.ones(self.n_rows) if self.weight is None else self.weight

    @property
    def counted(self) -> Array:
        """The positions of the rows with positive weight."""
        return np.arange(self.n_rows) if self.weight is None else np.flatnonzero(self.weight)

    @property
    def n_counted(self) -> int:
        """The number of rows with positive weight."""
        return self.n_rows if self.weight is None else int(np.count_nonzero(self.weight))

    @property
    def weighs_alike(self) -> bool:
        """Whether all rows with positive weight have the same weight."""
        weight = None if self.weight is None else self.weight[self.counted]
        return weight is None or not weight.size or bool(weight.max() - weight.min() <= 1e-12 * weight.max())

    @cached_property
    def provenance(self) -> Provenance:
        """What a certificate must know about these rows."""
        return Provenance(self.labels, "equal" if self.weighs_alike else "unequal", self.incomplete)

    @property
    def incomplete(self) -> tuple[int, ...]:
        """The columns with missing values or unknown categories in rows with positive weight."""
        columns = self._with_missing
        if not columns or self.weight is None or self.weight.all():
            return columns
        counted = self.counted
        return tuple(j for j in columns if _has_missing(self.column(j, counted)))

    @cached_property
    def _with_missing(self) -> tuple[int, ...]:
        """The same for all rows; data sets with the same columns share it."""
        if isinstance(self.columns, np.ndarray):
            if not _has_missing(self.columns):  # far faster than column by column
                return ()
            return tuple(np.flatnonzero(np.isnan(self.columns).any(axis=0)).tolist())
        return tuple(j for j, column in enumerate(self.columns) if _has_missing(column))

    @property
    def unknown_classes(self) -> Array | None:
        """Where rows have a class that the schema does not know, (targets, rows); None where none has.

        Only data sets of `encode(judging=True)` can have them.
        """
        if self.targets is None or not self.schema.predicts_classes:
            return None
        unknown: Array = self.targets < 0
        return unknown if unknown.any() else None

    def refuse_unknown_classes(self, name: str) -> None:
        """ValueError where a row has a class that the schema does not know: it can only be evaluated."""
        unknown = self.unknown_classes
        if unknown is not None:
            target, row = np.argwhere(unknown)[0].tolist()
            raise ValueError(
                f"{name}: row {row} has a class of {self.schema.targets[target].name!r} that the schema does "
                "not know; such rows can only be test rows, as test= of certify and report"
            )

    def column(self, position: int, rows: Array | slice = slice(None)) -> Array:
        """The values of one column, of all rows or of some.

        >>> from treewright.encoding import encode
        >>> encode({"x": [1.5, 2.5], "sky": ["blue", None]}).column(1).tolist()
        [0, -1]
        """
        if isinstance(self.columns, np.ndarray):
            return self.columns[rows, position]
        return self.columns[position][rows]

    @cached_property
    def row_hashes(self) -> NDArray[np.uint64]:
        """A hash of each row without its targets."""
        return _core.row_hashes(self.columns)

    def hash_rows(self, n_jobs: int | None = None) -> None:
        """Make `row_hashes`, if they are not made yet, on several threads."""
        if "row_hashes" not in self.__dict__:
            threads = n_threads(n_jobs) if self.n_rows > _core.small_rows else 1
            self.__dict__["row_hashes"] = _core.row_hashes(self.columns, threads)

    @property
    def has_bins(self) -> bool:
        """Whether `bins` were made already."""
        return "_bins" in self.__dict__

    def bins(self, n_jobs: int | None = None) -> tuple[Array, Array]:
        """Two bytes per cell, made once and shared by every tree grown on this table.

        (rows, columns) fine bins, and (columns, 256) whether a bin holds several values.
        """
        if not self.has_bins:
            self.__dict__["_bins"] = _core.bin_columns(
                self.columns, self.schema.category_counts, n_threads(n_jobs)
            )
        bins: tuple[Array, Array] = self.__dict__["_bins"]
        return bins

    @property
    def has_ranks(self) -> bool:
        """Whether `ranks` were made already."""
        return "_ranks" in self.__dict__

    def ranks(self, n_jobs: int | None = None) -> Array:
        """The rank of each cell among the values of its column, (columns, rows) uint16.

        Made once and shared by every tree grown on this table, which has at most `_core.max_ranked_rows`
        rows; trees whose nodes draw a few of its columns sort their rows by them.
        """
        if not self.has_ranks:
            self.__dict__.pop("_shared", None)  # it goes without them
            self.__dict__["_ranks"] = _core.rank_cells(
                self.columns, self.schema.category_counts, n_threads(n_jobs)
            )
        ranks: Array = self.__dict__["_ranks"]
        return ranks

    @property
    def has_shared(self) -> bool:
        """Whether `shared` was made already."""
        return "_shared" in self.__dict__

    def shared(self) -> _core.SharedTable:
        """The columns as the core reads them, with the ranks if these were made before.

        Made once for all trees on a table of few rows: reading 100,000 columns takes longer than a tree.
        """
        if not self.has_shared:
            ranks = self.ranks() if self.has_ranks else None
            self.__dict__["_shared"] = _core.SharedTable(self.columns, self.schema.category_counts, ranks)
        shared: _core.SharedTable = self.__dict__["_shared"]
        return shared

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_shared"}

    def take(self, rows: Array | Sequence[int] | slice) -> Dataset:
        """The rows at these positions (or where a mask is True), in that order, as a new Dataset.

        >>> from treewright.encoding import encode
        >>> encode([[1.5], [2.5], [3.5]], [0, 1, 1]).take([2, 0]).targets.tolist()
        [[1, 0]]
        """
        if not isinstance(rows, slice):
            rows = np.asarray(rows)
            if rows.size == 0 and rows.dtype != bool:  # an empty list arrives as floats
                rows = rows.astype(np.intp)
        if isinstance(self.columns, np.ndarray):
            columns: Array | tuple[Array, ...] = self.columns[rows]
        else:
            columns = tuple(column[rows] for column in self.columns)
        targets = None if self.targets is None else self.targets[:, rows]
        weight = None if self.weight is None else self.weight[rows]
        subset = replace(self, columns=columns, targets=targets, weight=weight)
        if self.has_bins:  # edges never change a tree: those of all rows serve for some of them
            bins, is_mixed = self.bins()
            subset.__dict__["_bins"] = np.ascontiguousarray(bins[rows]), is_mixed
        return subset

    def with_weight(self, weight: Array | None, *, is_drawn: bool = False) -> Dataset:
        """The same rows with other weights; nothing is copied, and the bins are shared.

        `is_drawn`: the weights count draws of rows, as for a bootstrap.

        >>> from treewright.encoding import encode
        >>> data = encode([[1.5], [2.5]], [0, 1])
        >>> data.with_weight(np.array([2.0, 0.0])).counted.tolist()
        [0]
        """
        return self._sharing(replace(self, weight=weight, is_drawn=is_drawn or self.is_drawn))

    def with_targets(self, targets: Array) -> Dataset:
        """The same rows with other targets of the same kind; nothing is copied, and the bins are shared.

        >>> from treewright.encoding import encode
        >>> encode([[1.5], [2.5]], [0.5, 1.0]).with_targets(np.array([[1.0, 2.0]])).targets.tolist()
        [[1.0, 2.0]]
        """
        return self._sharing(replace(self, targets=targets))

    def select_columns(self, positions: Sequence[int] | Array) -> Dataset:
        """The same rows with some of the columns, in that order; only their bins are copied.

        >>> from treewright.encoding import encode
        >>> encode({"x": [1.5, 2.5], "sky": ["blue", None]}, [0, 1]).select_columns([1]).schema.names
        ('sky',)
        """
        own = [int(position) for position in positions]
        schema = Schema(tuple(self.schema.columns[j] for j in own), self.schema.targets)
        subset = replace(self, schema=schema, columns=tuple(self.column(j) for j in own))
        if self.has_bins:
            bins, is_mixed = self.bins()
            subset.__dict__["_bins"] = np.ascontiguousarray(bins[:, own]), np.ascontiguousarray(is_mixed[own])
        if self.has_ranks:
            subset.__dict__["_ranks"] = np.ascontiguousarray(self.ranks()[own])
        return subset

    def with_target_specs(self, targets: tuple[Target, ...]) -> Dataset:
        """The same rows with other descriptions of the targets, such as misclassification costs.

        >>> from treewright.encoding import encode
        >>> from treewright.encoding.schema import Target
        >>> data = encode([[1.5], [2.5]], ["a", "b"])
        >>> costly = data.with_target_specs((Target("y", ("a", "b"), costs=((0.0, 1.0), (9.0, 0.0))),))
        >>> costly.schema.has_costs, costly.columns is data.columns
        (True, True)
        """
        return self._sharing(replace(self, schema=Schema(self.schema.columns, targets)))

    def by_columns(self) -> Dataset:
        """The same rows with contiguous columns: a copy unless they are.

        >>> from treewright.encoding import encode
        >>> encode(np.zeros((3, 2))).by_columns().columns.flags.f_contiguous
        True
        """
        if not isinstance(self.columns, np.ndarray) or self.columns.flags.f_contiguous:
            return self
        return self._sharing(replace(self, columns=np.asfortranarray(self.columns)))

    def _sharing(self, other: Dataset) -> Dataset:
        """A data set of the same cells, with what is cached about them."""
        for name in {"_bins", "_ranks", "_shared", "_with_missing", "row_hashes"} & self.__dict__.keys():
            other.__dict__[name] = self.__dict__[name]
        return other


def _has_missing(values: Array) -> bool:
    """Whether a value is missing or an unknown category."""
    if not values.size:
        return False
    with np.errstate(invalid="ignore"):
        least = values.min()  # nan where there is one
    return bool(least < 0 if values.dtype.kind == "i" else least != least)


def column_facts(column: Column, cells: Array) -> list[str]:
    """A column in words: its name, its kind, its values, the share of missing ones.

    >>> column_facts(Column("age"), np.array([20.0, np.nan, 61.0, 35.0]))
    ['age', 'number', '20 to 61', '25.0 %']
    """
    missing = column.type.is_missing(cells)
    known = cells[~missing]
    if column.type.has_categories:
        values = set_text(column.categories)
    elif len(known):
        ends = [column.value_text(float(end)) for end in (known.min(), known.max())]
        values = ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
    else:
        values = "–"
    share = percent(float(missing.mean())) if len(cells) else "–"
    return [name_text(column.name), column.kind, values, share]
