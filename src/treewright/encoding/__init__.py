"""Encoding: any table in, numbers and a schema out. No other room knows tables or labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treewright._arrays import Array
from treewright._suggestions import checked_keywords
from treewright.advice import Advice, warn
from treewright.encoding.columns import Kinds, check_width, conform, discover, matrix_numbers, plain_columns
from treewright.encoding.dataset import Dataset, Provenance
from treewright.encoding.schema import Schema, Target
from treewright.encoding.tables import read_table
from treewright.encoding.targets import encode_targets, encode_weight, split_target
from treewright.encoding.text.advice import fold_advice
from treewright.encoding.text.cells import ByColumn, Reader

__all__ = ["Dataset", "Provenance", "encode", "encode_with_advice"]


@checked_keywords
def encode(
    table: Any,
    target: Any = None,
    *,
    weight: Any = None,
    kinds: Kinds | None = None,
    schema: Schema | None = None,
    classes: bool | None = None,
    judging: bool = False,
    decimal: ByColumn = None,
    thousands: ByColumn = None,
    date_format: ByColumn = None,
) -> Dataset:
    """Encode a table, with the target to learn or without it.

    Columns of text whose cells are numbers (``$7.58``, ``2.379,59``, ``12 yrs``), dates or many spellings of
    true and false are read as such, cells that cannot be read are missing, and an `AdviceWarning` says so.

    Parameters
    ----------
    table : table
        A numpy array, pandas or polars DataFrame, Arrow table or record batch, scipy sparse matrix, dict of
        columns, list of rows, or whatever narwhals or the Arrow C interface can read. Float arrays and
        columns are not copied.
    target : array, str or list of str, optional
        The values (array, Series, list; two-dimensional for several targets), or the name of a column of the
        table, or a list of such names.
    weight : array of shape (n_rows,), optional
        One finite number >= 0 per row; by default every row weighs 1.
    kinds : dict, list or str, optional
        The kind of some columns: a dict by name (by position for arrays), or one kind for each. Otherwise
        text, bools, pandas' Categorical, polars' Categorical and Enum and Arrow's dictionaries are
        categories, dates and times are times, and the rest is numbers. A matrix of bools is numbers, 0 and 1.
        Durations are numbers, in seconds. Times are microseconds since 1970, in UTC where they have a zone.
        A text column with a kind is read as far as possible, or kept as categories.
    schema : Schema, optional
        That of an earlier data set, for rows to predict or to validate. Frames are matched by the names of
        their columns, arrays by position; categories and labels by value. A category that the schema does
        not know gets the code -2, a missing one -1.
    classes : bool, optional
        Whether the target is classes (True) or numbers (False); by default floats are numbers and everything
        else is classes.
    judging : bool, default=False
        The rows are for evaluation only, by `certify(test=)`, `report(test=)` or `Tree.loss_of`. A class that
        the schema does not know has the code -1 and is always a misclassification; otherwise it is an error.
        (Test rows that are given as a tuple (table, target) are encoded like this.)
    decimal : {".", ","} or dict, optional
        The decimal sign of numbers in text columns: one for all, or a dict by column.
    thousands : {",", ".", " ", "'", ""} or dict, optional
        The separator of their thousands.
    date_format : str or dict, optional
        How dates in text columns are written: directives of strptime, as in ``"%d/%m/%Y"``.

    Returns
    -------
    Dataset
        The columns as arrays, with their `schema`.

    Examples
    --------
    >>> data = encode({"age": [31, None, 52], "job": ["cook", "clerk", None]}, ["no", "yes", "yes"])
    >>> data.columns[0].tolist(), data.columns[1].tolist(), data.targets.tolist()
    ([31.0, nan, 52.0], [1, 0, -1], [[0, 1, 1]])
    >>> data.schema.columns[1].categories, data.schema.targets[0].classes
    (('clerk', 'cook'), ('no', 'yes'))
    >>> encode({"job": ["pilot"], "age": [40]}, schema=data.schema).columns[1].tolist()
    [-2]
    """
    reader = Reader(decimal, thousands, date_format)
    data = _encode(reader, table, target, weight, kinds, schema, classes, judging)
    warn(fold_advice(reader.advice))
    return data


def _encode(
    reader: Reader,
    table: Any,
    target: Any = None,
    weight: Any = None,
    kinds: Kinds | None = None,
    schema: Schema | None = None,
    classes: bool | None = None,
    judging: bool = False,
) -> Dataset:
    """The data set that `encode` returns; the advice is left in the reader of texts."""
    if schema is not None and kinds is not None:
        raise ValueError("give kinds or a schema, not both: a schema fixes the kinds")
    if schema is not None and reader.is_set:
        raise ValueError(
            "give decimal, thousands and date_format or a schema, not both: a schema fixes how texts are read"
        )
    source, named_targets = split_target(read_table(table), target, schema)
    arrays: Array | tuple[Array, ...] | None = None
    columns = () if schema is None else schema.columns
    if kinds is None and source.matrix is not None and (schema is None or schema.only_numbers):
        columns = plain_columns(source.n_columns) if schema is None else columns
        check_width(source.n_columns, columns)
        arrays = matrix_numbers(source, columns)
    if arrays is None and schema is None:
        reader.check_names(source, [name for name, _ in named_targets or ()])
        columns, arrays = discover(source, kinds, reader)
    if arrays is None and schema is not None:
        arrays = conform(source, schema, reader)
    targets: tuple[Target, ...] = ()
    codes = None
    if named_targets is not None:
        targets, codes = encode_targets(named_targets, schema, classes, judging, reader)
    assert arrays is not None
    return Dataset(schema or Schema(columns, targets), arrays, codes, encode_weight(weight, source.n_rows))


def encode_with_advice(
    table: Any,
    target: Any = None,
    *,
    decimal: ByColumn = None,
    thousands: ByColumn = None,
    date_format: ByColumn = None,
    place: Callable[[int], str] = "row {}".format,
    **options: Any,
) -> tuple[Dataset, list[Advice]]:
    """The data set that `encode` returns, and its advice for each column; `place` names a row in messages.

    >>> table = {"price": ["7,50 €", "12,00 €"]}
    >>> data, advice = encode_with_advice(table, place=lambda row: f"line {row + 2}")
    >>> print(advice[0].text)
    column 'price' holds numbers as text ('7,50 €' in line 2): read as numbers with a decimal comma and '€'
    """
    reader = Reader(decimal, thousands, date_format, place)
    return _encode(reader, table, target, **options), reader.advice
