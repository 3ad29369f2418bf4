"""Targets and weights: labels as codes of classes, finite numbers, and weights that can be summed."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from treewright._arrays import Array
from treewright._suggestions import choices_text
from treewright.encoding.cells import Cells, as_codes, as_numbers, distinct, occurring, recode
from treewright.encoding.dataset import UNKNOWN_CLASS
from treewright.encoding.readers import is_a, is_frame, read_cells
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
        return table, _in_order(_target_cells(target, table.n_rows), schema)
    check_target_columns(table, names)
    known = table.names or ()
    cells = [(name, table.cells(known.index(name), f"target {name!r}")) for name in names]
    return table.without(names), _in_order(cells, schema)


def check_target_columns(table: Table, names: Sequence[str]) -> None:
    """ValueError unless a table has the target columns of these names, and others."""
    known = table.names or ()
    for name in names:
        if name not in known:
            raise ValueError(
                f"the table has no column {name!r} to be the target; {_known_columns(name, known)}"
            )
    if table.n_columns == len(set(names)):
        raise ValueError("the table has no columns besides the target")


def _known_columns(name: str, known: Sequence[str]) -> str:
    """The columns of a table, of very many the first ones, and the one that a misspelt name may mean."""
    if not known:
        return "it has no column names"
    return f"the columns are {choices_text(name, known, in_quotes=True)}"


def target_columns(table: Table, target: Any) -> list[str] | None:
    """The columns that a target names; None if it holds the values themselves."""
    if isinstance(target, str):
        return [target]
    if not (isinstance(target, list | tuple) and all(isinstance(name, str) for name in target)):
        return None
    if not set(target) & set(table.names or ()):
        return None  # labels
    assert table.names is not None
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


def _target_cells(target: Any, n_rows: int) -> list[Named]:
    """Targets that are given beside the table: one column of values, or a table of several."""
    if isinstance(target, np.ndarray) and target.ndim == 1:  # the common case first, and fast
        _check_length(len(target), n_rows, "the target")
        return [("y", read_cells(target, "target 'y'"))]
    if is_a(target, "scipy.sparse", "spmatrix", "sparray"):
        raise TypeError("Sparse data was passed for y: the target is a sparse matrix; pass y.toarray()")
    first = target[0] if isinstance(target, Sequence) and len(target) else None
    is_table = isinstance(first, list | tuple | np.ndarray | Mapping) or isinstance(target, Mapping)
    is_table |= is_frame(target) or (isinstance(target, np.ndarray) and target.ndim == 2)
    if is_table:
        table = read_table(target)
        _check_length(table.n_rows, n_rows, "the target")
        count = table.n_columns
        names = table.names or (("y",) if count == 1 else tuple(f"y{position}" for position in range(count)))
        return [(name, table.cells(position, f"target {name!r}")) for position, name in enumerate(names)]
    name = getattr(target, "name", None)
    name = name if isinstance(name, str) and name else "y"
    cells = read_cells(target, f"target {name!r}")
    _check_length(len(cells.values), n_rows, "the target")
    return [(name, cells)]


def _in_order(targets: list[Named], schema: Schema | None) -> list[Named]:
    """The targets in the order of a schema, if there is one."""
    if schema is None:
        return targets
    if len(targets) != len(schema.targets):
        raise ValueError(f"{len(targets)} target(s) are given, but the schema has {len(schema.targets)}")
    by_name, names = dict(targets), [target.name for target in schema.targets]
    if set(by_name) == set(names):
        return [(name, by_name[name]) for name in names]
    return [(name, cells) for name, (_, cells) in zip(names, targets, strict=True)]


def _check_length(length: int, n_rows: int, what: str) -> None:
    if length != n_rows:
        raise ValueError(f"{what} has {length} rows, but the table has {n_rows}")


def encode_targets(
    targets: list[Named], schema: Schema | None, classes: bool | None, judging: bool, reader: Reader
) -> tuple[tuple[Target, ...], Array]:
    """The targets and their array: int32 codes of classes, or float64 numbers.

    With `judging`, a class that the schema does not know has the code -1.
    """
    if schema is not None:
        if classes is not None and classes != schema.predicts_classes:
            raise ValueError(
                f"classes={classes}, but the schema predicts {'classes' if not classes else 'numbers'}"
            )
        classes = schema.predicts_classes
    if classes is None:
        classes = _look_like_classes(targets)
    new, arrays = [], []
    for place, (name, cells) in enumerate(targets):
        known = None if schema is None else schema.targets[place]
        if not classes:
            text, cells = reader.read_target(cells, name, None if known is None else known.text)
            new.append(Target(name, text=text))
            arrays.append(_finite(cells, f"target {name!r}"))
        elif known is None:
            labels, codes = _classes(cells, f"target {name!r}")
            new.append(Target(name, labels))
            arrays.append(codes)
        else:
            new.append(known)
            arrays.append(_known_classes(cells, known, judging))
    return tuple(new), arrays[0][None, :] if len(arrays) == 1 else np.stack(arrays)


def _look_like_classes(targets: list[Named]) -> bool:
    """Floats look like numbers, everything else like classes."""
    like = {cells.labels is not None or cells.values.dtype.kind != "f": name for name, cells in targets}
    if len(like) > 1:
        raise ValueError(
            f"target {like[True]!r} looks like classes, but target {like[False]!r} like numbers; "
            "say classes=True or classes=False"
        )
    return next(iter(like))


def _classes(cells: Cells, what: str) -> tuple[tuple[Hashable, ...], Array]:
    """The distinct labels, sorted, and the code of each row."""
    _check_labels(cells, what)
    if cells.labels is None:
        return distinct(cells.values)
    labels = occurring(cells)
    return labels, recode(cells, labels, -1)


def _known_classes(cells: Cells, target: Target, judging: bool) -> Array:
    """The codes of labels among the classes of the schema; with `judging` there may be others."""
    _check_labels(cells, f"target {target.name!r}")
    cells = as_codes(cells)
    codes = recode(cells, target.classes or (), UNKNOWN_CLASS)
    if not judging and codes.min() < 0:
        row = int(np.argmin(codes))
        known = ", ".join(map(repr, (target.classes or ())[:10]))
        raise ValueError(
            f"target {target.name!r}: row {row} has the label {cells[row]!r}, which is unknown; "
            f"known: {known}"
        )
    return codes


def _check_labels(cells: Cells, what: str) -> None:
    """ValueError where a label is missing or cannot be one."""
    if cells.family == "time":
        raise ValueError(f"{what} holds times; a target must be labels or numbers")
    is_float = cells.values.dtype.kind == "f"
    bad = cells.is_missing
    if is_float:
        with np.errstate(invalid="ignore"):
            bad = ~np.isfinite(cells.values) | (np.floor(cells.values) != cells.values)
    if not bad.any():
        return
    row = int(np.argmax(bad))
    value = cells.values[row] if is_float else np.nan
    if not np.isfinite(value):
        raise ValueError(f"{what}: row {row} is {_not_finite(value)}; every row needs a label")
    raise ValueError(
        f"Unknown label type: {what} is continuous, row {row} is {value}; labels must be whole numbers, "
        "strings or bools (for regression: classes=False, DecisionTreeRegressor)"
    )


def _finite(cells: Cells, what: str) -> Array:
    """A target of finite numbers as float64."""
    if cells.family == "time":
        raise ValueError(f"{what} holds times; a target must be labels or numbers")
    if cells.family == "text":
        row = int(np.argmin(cells.is_missing))
        raise ValueError(
            f"{what}: row {row} is {cells[row]!r}; every row needs a finite number "
            "(for labels: classes=True, DecisionTreeClassifier)"
        )
    values = _doubles(cells, what)
    bad = ~np.isfinite(values)
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"{what}: row {row} is {_not_finite(values[row])}; every row needs a finite number")
    return values


def _doubles(cells: Cells, what: str) -> Array:
    """The numbers as float64; numpy warns of the bits of some NaN, which is refused afterwards."""
    with np.errstate(invalid="ignore"):
        return as_numbers(cells, what).astype(np.float64, copy=False)


def _not_finite(value: float) -> str:
    return "NaN (missing)" if np.isnan(value) else "-inf" if value < 0 else "inf"


def encode_weight(weight: Any, n_rows: int) -> Array | None:
    """The weights as float64; an error unless they are finite, not negative and not all zero."""
    if weight is None:
        return None
    if isinstance(weight, int | float | np.generic | np.ndarray) and np.ndim(weight) == 0:
        raise TypeError(
            "Input should have at least 1 dimension i.e. satisfy `len(x.shape) > 0`, got scalar "
            f"`{np.asarray(weight, np.float64)!r}` instead. Weights must be one number per row"
        )
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
        wrong = "weight of every row is zero" if total == 0 else "sum of the weights overflows"
        raise ValueError(f"weight: the {wrong}")
    return values
