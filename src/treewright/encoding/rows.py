"""Rows as people have them: a Dataset, a tuple (table, target), or a table followed by its target."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

from treewright.encoding import Dataset, encode
from treewright.encoding.columns import Kinds
from treewright.encoding.schema import Schema
from treewright.parameters.spec import ARGUMENTS, Parameter, documented

_P = ParamSpec("_P")
_R = TypeVar("_R")
_R_co = TypeVar("_R_co", covariant=True)

_OF_TABLE = {
    "data": Parameter(
        None,
        "The rows. A table of any library is followed by its target; the other forms bring theirs, and the "
        "arguments after them move up.",
        "table, tuple (table, target) or (table, target, weight), or Dataset",
    ),
    "target": Parameter(
        None, "Of a table: the name of its target column, or the values to predict.", "str or array"
    ),
    "weight": Parameter(None, "Of a table: one finite number >= 0 per row.", "array of shape (n_rows,)"),
    "kinds": Parameter(None, "Of a table: kinds of its columns, as for `encode`.", "dict or list"),
}


class TakesRows(Protocol[_P, _R_co]):
    """A function of rows in any form; see `takes_rows`."""

    @overload
    def __call__(
        self, data: Dataset | tuple[Any, ...], /, *others: _P.args, **options: _P.kwargs
    ) -> _R_co: ...
    @overload
    def __call__(self, table: Any, target: Any, /, *others: _P.args, **options: _P.kwargs) -> _R_co: ...
    @overload
    def __call__(self, *rows: Any, target: Any, **options: Any) -> _R_co: ...
    @overload
    def __call__(self, *rows: Any, weight: Any, **options: Any) -> _R_co: ...
    @overload
    def __call__(self, *rows: Any, kinds: Kinds | None, **options: Any) -> _R_co: ...


def takes_rows(function: Callable[Concatenate[Dataset, _P], _R]) -> TakesRows[_P, _R]:
    """Decorate a function of a Dataset with targets: it also takes a tuple (table, target) or (table, target,
    weight), or a table followed by its target, with ``weight=`` and ``kinds=``.

    >>> @takes_rows
    ... def size(data: Dataset, unit: str = "rows") -> str:
    ...     return f"{data.n_rows} {unit}"
    >>> table = {"x": [1, 2], "y": ["a", "b"]}
    >>> size(table, "y"), size((table, "y"), "persons"), size(table, [0, 1], "persons")
    ('2 rows', '2 persons', '2 persons')
    """
    owner, signature = function.__name__, inspect.signature(function)
    first, *others = signature.parameters.values()

    @wraps(function)
    def with_rows(*rows: Any, **options: Any) -> Any:
        if first.name in options:
            rows = (options.pop(first.name), *rows)
        given = {name: options.pop(name) for name in ("target", "weight", "kinds") if name in options}
        if len(rows) > 1 and "target" not in given and not has_target(rows[0]):
            given["target"], rows = rows[1], (rows[0], *rows[2:])
        if rows:
            rows = (training_rows(owner, rows[0], **given), *rows[1:])
        return function(*rows, **options)

    made = [first.replace(kind=first.POSITIONAL_OR_KEYWORD, annotation=Any)]
    positional = [each for each in others if each.kind is first.POSITIONAL_OR_KEYWORD]
    needed = any(each.default is first.empty for each in positional)
    made.append(
        inspect.Parameter("target", first.POSITIONAL_OR_KEYWORD, default=first.empty if needed else None)
    )
    made += positional
    made += [inspect.Parameter(name, first.KEYWORD_ONLY, default=None) for name in ("weight", "kinds")]
    made += [each for each in others if each.kind is not first.POSITIONAL_OR_KEYWORD]
    with_rows.__signature__ = signature.replace(parameters=made)  # type: ignore[attr-defined]
    return cast(TakesRows[_P, _R], documented(with_rows, ARGUMENTS | _OF_TABLE))


def training_rows(
    owner: str, rows: Any, target: Any = None, weight: Any = None, kinds: Kinds | None = None
) -> Dataset:
    """Rows with their targets, from the arguments of the function `owner`.

    >>> training_rows("grow", {"x": [1, 2]})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: grow: the table has no target; give grow(table, "name of the target column") or ...
    """
    if isinstance(rows, Dataset):
        extra = {"target": target, "weight": weight, "kinds": kinds}
        if given := [name for name, value in extra.items() if value is not None]:
            raise TypeError(
                f"{owner}: a Dataset has its own target, weights and kinds; leave {' and '.join(given)} out"
            )
        return rows
    rows = with_target(owner, rows, target)
    table, target, own_weight = (*rows, None)[:3] if is_pair(rows) else (rows, None, None)
    if weight is not None and own_weight is not None:
        raise TypeError(f"{owner}: the tuple has weights already; leave weight out")
    if target is None:
        raise ValueError(
            f'{owner}: the table has no target; give {owner}(table, "name of the target column") or '
            f"{owner}(table, values of the target)"
        )
    return encode(table, target, weight=own_weight if weight is None else weight, kinds=kinds)


def with_target(owner: str, rows: Any, target: Any) -> Any:
    """Rows and the target that may follow them as one argument, for `encoded_rows`.

    >>> with_target("certify", [[1.0]], ["a"]), with_target("certify", ([[1.0]], ["a"]), None)
    (([[1.0]], ['a']), ([[1.0]], ['a']))
    """
    if target is None:
        return rows
    if has_target(rows):
        what = "tuple" if isinstance(rows, tuple) else "Dataset"
        raise TypeError(f"{owner}: the {what} has a target already; give no other one after it")
    return rows, target


def one_argument(owner: str, rows: Any, target: Any, name: str, named: Any) -> Any:
    """The rows that a function takes by position or by the argument `name`; None where they are not given."""
    if rows is None:
        return named
    if named is not None:
        raise TypeError(f"{owner}: rows are given twice, by position and as {name}=; leave one of them out")
    return with_target(owner, rows, target)


def encoded_rows(rows: Any, name: str, schema: Schema | None = None, *, judging: bool = False) -> Dataset:
    """Rows as a Dataset: one, a table, or a tuple (table, target) or (table, target, weights).

    `name` is the name of the argument, for errors. With `judging`, rows may have classes that the schema does
    not know.
    """
    if isinstance(rows, Dataset):
        return rows
    table, target, weight = (*rows, None)[:3] if is_pair(rows) else (rows, None, None)
    try:
        return encode(table, target, weight=weight, schema=schema, judging=judging)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name}: {error}") from error


def rows_to_predict(table: Any, schema: Schema) -> Dataset:
    """The rows of a table, or of a Dataset that has the columns of the schema."""
    if not isinstance(table, Dataset):
        return encode(table, schema=schema)
    if table.schema is not schema and table.schema.columns != schema.columns:
        raise ValueError("the columns of the Dataset are not the model's; encode it with schema=model.schema")
    return table


def has_target(rows: Any) -> bool:
    """Whether rows bring their target, as a Dataset and a tuple (table, target) do."""
    return isinstance(rows, Dataset) or is_pair(rows)


def is_pair(rows: Any) -> bool:
    """Whether rows are a tuple (table, target) or (table, target, weights)."""
    return isinstance(rows, tuple) and not hasattr(rows, "_asdict") and len(rows) in (2, 3)
