"""Targets and weights: labels as codes of classes, finite numbers, and weights that can be summed."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from treewright.encoding.cells import Array, Cells, as_numbers, coded, distinct, occurring, recode
from treewright.encoding.dataset import UNKNOWN_CLASS
from treewright.encoding.readers import is_a, read_cells
from treewright.encoding.schema import Schema, Target
from treewright.encoding.tables import Table, read_table
from treewright.encoding.text.cells import Reader

Named = tuple[str, Cells]


def split_target(table: Table, target: Any, schema: Schema | None) -> tuple[Table, list[Named] | None]:
    """The table without its target columns, and the cells of each target (None if there is no target)."""
    if target is None:
        return table, None
    names = target_columns(table, target)
    if names is None:
        return table, _in_order(_given(target, table.n_rows), schema)
    absent = [name for name in names if table.names is None or name not in table.names]
    if absent:
        where = (
            "the table has no column names"
            if table.names is None
            else f"the columns are {', '.join(map(repr, table.names))}"
        )
        raise ValueError(f"there is no column {absent[0]!r} to be the target; {where}")
    if table.n_columns == len(set(names)):
        raise ValueError("the table has no columns besides the target")
    assert table.names is not None
    cells = [(name, table.cells(table.names.index(name), _what(name))) for name in names]
    return table.without(names), _in_order(cells, schema)


def target_columns(table: Table, target: Any) -> list[str] | None:
    """The names of columns that a target stands for; None if it is the target itself."""
    if isinstance(target, str):
        return [target]
    if (
        not isinstance(target, list | tuple)
        or not target
        or not all(isinstance(name, str) for name in target)
    ):
        return None
    if table.names is None or not set(target) & set(table.names):
        return None  # labels
    if not set(target) <= set(table.names):
        return None if len(target) == table.n_rows else list(target)
    if len(target) == table.n_rows:
        raise ValueError(
            f"target {target!r} may mean columns of the table or the labels of its {table.n_rows} rows; "
            "pass labels as a numpy array"
        )
    if len(set(target)) < len(target):
        raise ValueError(f"target {target!r} names a column twice")
    return list(target)


def _given(target: Any, n_rows: int) -> list[Named]:
    """Targets that were passed on their own: one column of values, or a table of several."""
    if isinstance(target, np.ndarray) and target.ndim == 1:  # the common case first, and fast
        _check_length(len(target), n_rows, "the target")
        return [("y", read_cells(target, _what("y")))]
    nested = (
        isinstance(target, Sequence)
        and len(target) > 0
        and isinstance(target[0], list | tuple | np.ndarray | Mapping)
    )
    frame = is_a(target, "pandas", "DataFrame") or is_a(target, "polars", "DataFrame", "LazyFrame")
    frame = frame or is_a(target, "pyarrow", "Table", "RecordBatch") or isinstance(target, Mapping)
    if is_a(target, "scipy.sparse", "spmatrix", "sparray"):
        raise TypeError("the target is a sparse matrix; pass it dense")
    if frame or nested or (isinstance(target, np.ndarray) and target.ndim == 2):
        table = read_table(target)
        _check_length(table.n_rows, n_rows, "the target")
        count = table.n_columns
        names = table.names or (("y",) if count == 1 else tuple(f"y{position}" for position in range(count)))
        return [(name, table.cells(position, _what(name))) for position, name in enumerate(names)]
    name = getattr(target, "name", None)
    name = name if isinstance(name, str) and name else "y"
    cells = read_cells(target, _what(name))
    _check_length(len(cells.values), n_rows, "the target")
    return [(name, cells)]


def _in_order(targets: list[Named], schema: Schema | None) -> list[Named]:
    """The targets in the order of a schema, if there is one."""
    if schema is None:
        return targets
    if len(targets) != len(schema.targets):
        raise ValueError(f"{len(targets)} target(s) are given, but the schema has {len(schema.targets)}")
    given = dict(targets)
    if set(given) == {target.name for target in schema.targets}:
        return [(target.name, given[target.name]) for target in schema.targets]
    return [(target.name, cells) for target, (_, cells) in zip(schema.targets, targets, strict=True)]


def _check_length(length: int, n_rows: int, what: str) -> None:
    if length != n_rows:
        raise ValueError(f"{what} has {length} rows, but the table has {n_rows}")


def encode_targets(
    targets: list[Named], schema: Schema | None, classes: bool | None, judging: bool, reader: Reader
) -> tuple[tuple[Target, ...], Array]:
    """The targets of the schema and their array: int32 codes of classes, or float64 numbers.

    Of rows that only judge, a class that the schema does not know has the code -1.
    """
    if schema is not None:
        if classes is not None and classes != schema.predicts_classes:
            raise ValueError(
                f"classes={classes}, but the schema predicts {'classes' if not classes else 'numbers'}"
            )
        classes = schema.predicts_classes
    if classes is None:
        classes = _look_like_classes(targets)
    if not classes:
        known = [None] * len(targets) if schema is None else [target.text for target in schema.targets]
        read = [
            reader.read_target(cells, name, text) for (name, cells), text in zip(targets, known, strict=True)
        ]
        arrays = [_finite(cells, name) for (name, _), (_, cells) in zip(targets, read, strict=True)]
        found = tuple(Target(name, text=text) for (name, _), (text, _) in zip(targets, read, strict=True))
    elif schema is None:
        encoded = [_classes(cells, name) for name, cells in targets]
        arrays = [codes for _, codes in encoded]
        found = tuple(Target(name, labels) for (name, _), (labels, _) in zip(targets, encoded, strict=True))
    else:
        pairs = zip(targets, schema.targets, strict=True)
        arrays = [_known_classes(cells, target, judging) for (_, cells), target in pairs]
        found = schema.targets
    return found, arrays[0][None, :] if len(arrays) == 1 else np.stack(arrays)


def _look_like_classes(targets: list[Named]) -> bool:
    """Floats look like numbers, everything else like classes."""
    like = {name: cells.labels is not None or cells.values.dtype.kind != "f" for name, cells in targets}
    if len(set(like.values())) > 1:
        shown = {answer: next(name for name in like if like[name] is answer) for answer in (True, False)}
        raise ValueError(
            f"target {shown[True]!r} looks like classes, but target {shown[False]!r} like numbers; "
            "say classes=True or classes=False"
        )
    return next(iter(like.values()))


def _classes(cells: Cells, name: str) -> tuple[tuple[Hashable, ...], Array]:
    """The distinct labels, sorted, and the code of each row."""
    _check_labels(cells, name)
    if cells.labels is None:
        return distinct(cells.values)
    labels = occurring(cells)
    return labels, recode(cells, labels, -1)


def _known_classes(cells: Cells, target: Target, judging: bool) -> Array:
    """The codes of labels that must be classes of the schema, or of rows that only judge may be others."""
    _check_labels(cells, target.name)
    cells = coded(cells)
    codes = recode(cells, target.classes or (), UNKNOWN_CLASS)
    if not judging and codes.min() < 0:
        row = int(np.argmin(codes))
        label = (cells.labels or ())[cells.values[row]]
        known = ", ".join(map(repr, (target.classes or ())[:10]))
        raise ValueError(
            f"{_what(target.name)}: row {row} has the label {label!r}, which is unknown; known: {known}"
        )
    return codes


def _check_labels(cells: Cells, name: str) -> None:
    """An error where a label is missing or cannot be one."""
    what = _what(name)
    if cells.family == "time":
        raise ValueError(f"{what} holds times; a target must be labels or numbers")
    if cells.labels is None and cells.values.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            bad = ~(np.floor(cells.values) == cells.values) | np.isinf(cells.values)
    else:
        bad = cells.missing if cells.labels is None else cells.values < 0
    if bad is None or not bad.any():
        return
    row = int(np.argmax(bad))
    value = cells.values[row] if cells.values.dtype.kind == "f" else np.nan
    if not np.isfinite(value):
        raise ValueError(f"{what}: row {row} is {_shown(value)}; every row needs a label")
    raise ValueError(
        f"Unknown label type: {what} is continuous, row {row} is {value}; labels must be whole numbers, "
        "strings or bools (for regression: classes=False, DecisionTreeRegressor)"
    )


def _finite(cells: Cells, name: str) -> Array:
    """A target of finite numbers as float64."""
    what = _what(name)
    if cells.family == "time":
        raise ValueError(f"{what} holds times; a target must be labels or numbers")
    if cells.family == "text":
        row = int(np.argmax(cells.values >= 0))
        label = (cells.labels or ())[cells.values[row]]
        raise ValueError(
            f"{what}: row {row} is {label!r}; every row needs a finite number "
            "(for labels: classes=True, DecisionTreeClassifier)"
        )
    values = _doubles(cells, what)
    bad = ~np.isfinite(values)
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"{what}: row {row} is {_shown(values[row])}; every row needs a finite number")
    return values


def _doubles(cells: Cells, what: str) -> Array:
    """The numbers as float64; numpy warns of the bits of some NaN, which is refused by its row afterwards."""
    with np.errstate(invalid="ignore"):
        return as_numbers(cells, what).astype(np.float64, copy=False)


def _shown(value: float) -> str:
    return "NaN (missing)" if np.isnan(value) else "-inf" if value < 0 else "inf"


def _what(name: str) -> str:
    return f"target {name!r}"


def encode_weight(weight: Any, n_rows: int) -> Array | None:
    """The weights as float64; an error unless they are finite, not negative and not all zero."""
    if weight is None:
        return None
    cells = read_cells(weight, "weight")
    if cells.family in ("text", "time"):
        raise ValueError(f"weight must hold numbers, not {cells.family}")
    _check_length(len(cells.values), n_rows, "weight")
    values = _doubles(cells, "weight")
    with np.errstate(over="ignore", invalid="ignore"):
        total = values.sum()
    if not (values.min() >= 0 and 0 < total < np.inf):
        bad = ~((values >= 0) & np.isfinite(values))
        if bad.any():
            row = int(np.argmax(bad))
            raise ValueError(f"weight: row {row} is {values[row]}; weights must be finite and not negative")
        raise ValueError(
            "weight: the weight of every row is zero"
            if total == 0
            else "weight: the sum of the weights overflows"
        )
    return values
