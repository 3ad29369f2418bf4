"""The form that the cells of a column have in a file, and the SQL that reads cells of each form.

A form belongs to a whole column. Files of text (CSV) do not tell it: it is the first form in the order of
`NATURAL` that every cell has which is not missing. What SQL calls a cast is too generous for that: it reads
00123 as 123 and 1.5 as 2; the macros below read only what says a number, a time and so on beyond doubt. They
and the patterns, which tell the form of a few cells without SQL, accept the same cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal

Form = Literal["nothing", "integer", "huge", "number", "loose", "comma", "bool", "time", "zoned", "text"]

NATURAL: tuple[Form, ...] = ("integer", "huge", "number", "comma", "bool", "time", "zoned")
TIMES: tuple[Form, ...] = ("time", "zoned")  # for which text files have no type
FLOATS: tuple[Form, ...] = ("number", "loose", "comma")
EXACT_NUMBERS: tuple[Form | None, ...] = ("integer", "huge", "number")
KINDS: Mapping[Form, str] = {  # of the columns, as `encode` infers them
    **dict.fromkeys(("integer", "huge", "number", "loose", "comma"), "number"),
    **dict.fromkeys(("bool", "text"), "category"),
    **dict.fromkeys(TIMES, "time"),
    "nothing": "empty",
}

# What a column may naturally be where a form is wanted; other cells are errors.
FITTING: Mapping[Form, frozenset[Form]] = {
    "number": frozenset({"nothing", "integer", "huge", "number", "comma", "bool"}),
    "integer": frozenset({"nothing", "integer", "huge", "number"}),
    "bool": frozenset({"nothing", "bool"}),
    "time": frozenset({"nothing", "time", "zoned"}),
}
# What is tried where no natural form fits; where numbers are wanted, they may begin with zeros.
INSISTENT: Mapping[Form, Form] = {"number": "loose", "integer": "loose", "bool": "bool", "time": "time"}
ONE: Mapping[Form, str] = {
    "loose": "a number",
    "bool": "true or false",
    "time": "a date or time (as 2026-01-31 or 2026-01-31 12:30:00)",
}

MOST_DIGITS = 4000  # of a whole number, sign included, that is read exactly; Python itself reads 4300
_SPACE = "E' \\t'"
_WHOLE = r"[+-]?(0|[1-9][0-9]*)"
_CLOCK = r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?"
_TIME = rf"\d{{4}}-\d\d-\d\d|{_CLOCK}"
_ZONED = rf"{_CLOCK} ?(Z|[+-]\d\d(:?\d\d)?)"
_PATTERNS: Mapping[Form, str] = {
    "integer": r"[+-]?(0|[1-9][0-9]{0,17})",
    "huge": rf"(?!.{{{MOST_DIGITS}}}){_WHOLE}",
    "number": rf"({_WHOLE}\.?|{_WHOLE}?\.[0-9]+|[+-]\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(?i:inf|infinity)",
    "comma": rf"({_WHOLE},?|{_WHOLE}?,[0-9]+|[+-],[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(?i:inf|infinity)",
    "bool": "(?i:true|false)",
    "time": _TIME,
    "zoned": _ZONED,
}

_MACROS = (
    # digits behind a leading zero, by the order of texts: ':' is what follows '9'
    "CREATE MACRO padded(v) AS (v >= '00' AND v < '0:') OR (v >= '-00' AND v < '-0:') "
    "OR (v >= '+00' AND v < '+0:')",
    f"CREATE MACRO known(v) AS CASE WHEN v < '!' OR ends_with(v, ' ') OR ends_with(v, E'\\t') "
    f"THEN stated(trim(v, {_SPACE})) ELSE stated(v) END",  # to trim all cells takes as long as to read them
    f"CREATE MACRO is_whole(v) AS regexp_full_match(v, '{_WHOLE}')",
    "CREATE MACRO as_integer(v) AS CASE WHEN is_whole(v) THEN try_cast(v AS BIGINT) END",
    f"CREATE MACRO as_huge(v) AS CASE WHEN is_whole(v) AND length(v) < {MOST_DIGITS} THEN v END",
    "CREATE MACRO as_number(v) AS CASE WHEN padded(v) OR v < '!' OR contains(v, '_') THEN NULL "
    "ELSE try_cast(nullif(v, '') AS DOUBLE) END",
    "CREATE MACRO as_loose(v) AS CASE WHEN NOT contains(v, '_') THEN try_cast(nullif(v, '') AS DOUBLE) END",
    "CREATE MACRO as_comma(v) AS CASE WHEN NOT contains(v, '.') THEN as_number(replace(v, ',', '.')) END",
    "CREATE MACRO as_bool(v) AS CASE lower(v) WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE END",
    f"CREATE MACRO as_time(v) AS CASE WHEN regexp_full_match(v, '{_TIME}') THEN try_cast(v AS TIMESTAMP) END",
    f"CREATE MACRO as_zoned(v) AS CASE WHEN regexp_full_match(v, '{_ZONED}') "
    "THEN try_cast(v AS TIMESTAMPTZ) END",
)


def macros(missing: Iterable[str]) -> tuple[str, ...]:
    """SQL that defines the macros; `missing` are the cells that stand for nothing, beside empty ones."""
    markers = ", ".join(map(literal, dict.fromkeys(("", *missing))))
    return (f"CREATE MACRO stated(v) AS CASE WHEN v NOT IN ({markers}) THEN v END", *_MACROS)


def literal(text: str) -> str:
    """A text as SQL.

    >>> literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def candidates(form: Form, decimals: str = ".") -> tuple[Form, ...]:
    """The natural forms that a column may still have if some of its cells have one form.

    `decimals` are the decimal marks that its numbers may have.

    >>> candidates("integer"), candidates("integer", ".,"), candidates("bool"), candidates("text")
    (('integer', 'huge', 'number'), ('integer', 'huge', 'number', 'comma'), ('bool',), ())
    """
    natural = tuple(each for each in NATURAL if _MARKS.get(each, "") in decimals)
    if form == "nothing":
        return natural
    if form in _NUMBERS:
        return tuple(each for each in natural if each in _NUMBERS[_NUMBERS.index(form) :])
    return () if form == "text" else (form,)


_NUMBERS: tuple[Form, ...] = ("integer", "huge", "number", "comma")  # each reads what those before it read
_MARKS: Mapping[Form, str] = {"number": ".", "comma": ","}


def counting(column: str, forms: Iterable[Form]) -> list[str]:
    """SQL that counts the cells of a cleaned column of text: those not missing, and those of each form."""
    return [f"count({column})", *(f"count(as_{form}({column}))" for form in forms)]


def natural(counts: Iterable[int], forms: Iterable[Form]) -> Form:
    """The form of a column, from its counts.

    >>> natural((3, 2, 3), ("integer", "number")), natural((3, 2, 2), ("integer", "number"))
    ('number', 'text')
    """
    n_cells, *of_forms = counts
    if n_cells == 0:
        return "nothing"
    return next((form for form, n in zip(forms, of_forms, strict=True) if n == n_cells), "text")


def guess(cells: Iterable[str], decimals: str = ".", missing: Iterable[str] = ()) -> Form:
    """The form of some cells of a file of text, by the patterns; `missing` are cells that stand for nothing.

    >>> guess(["1", "", " 2.5"]), guess(["00123", "5"]), guess(["", "?"], missing=["?"])
    ('number', 'text', 'nothing')
    """
    known = {cell.strip(" \t") for cell in cells}.difference(("", *missing))
    if not known:
        return "nothing"
    forms = (form for form in candidates("nothing", decimals) if all(map(_COMPILED[form].fullmatch, known)))
    return next(forms, "text")


_COMPILED = {form: re.compile(pattern, re.ASCII) for form, pattern in _PATTERNS.items()}


def casting(column: str, form: Form) -> str:
    """SQL that reads a column of text as a form; a cell of another form ends the query with `odd_cell`."""
    if form == "text":
        return f"known({column})"
    odd = f"error('{ODD}{column}:' || {column})"
    read = "NULL" if form == "nothing" else f"as_{form}({column})"
    return f"CASE WHEN {column} IS NOT NULL THEN coalesce({read}, {odd}) END"


ODD = "odd cell in "


def odd_cell(message: str) -> tuple[int, str] | None:
    """The position of the column and the text of a cell that ended a query; None if another thing did.

    >>> odd_cell("Invalid Input Error: odd cell in c12:x: y")
    (12, 'x: y')
    """
    _, found, rest = message.partition(ODD)
    if not found:
        return None
    column, _, cell = rest.partition(":")
    return int(column[1:]), cell


_TYPES: Mapping[str, Form] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT"), "integer"),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"), "integer"),
    **dict.fromkeys(("HUGEINT", "UHUGEINT"), "huge"),
    **dict.fromkeys(("FLOAT", "DOUBLE"), "number"),
    **dict.fromkeys(("VARCHAR", "UUID"), "text"),
    **dict.fromkeys(("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), "time"),
    "BOOLEAN": "bool",
    "TIMESTAMP WITH TIME ZONE": "zoned",
}


def of_type(kind: str, column: str) -> tuple[Form | None, str]:
    """The form of a column with a type of SQL, and the SQL that reads it exactly; None: no form.

    >>> of_type("DECIMAL(18,0)", "c0"), of_type("INTEGER[]", "c0")[0]
    (('integer', 'CAST(c0 AS BIGINT)'), None)
    """
    if kind.startswith("DECIMAL"):
        digits, decimals = map(int, kind.removeprefix("DECIMAL(").removesuffix(")").split(","))
        if decimals:
            return "number", f"CAST({column} AS DOUBLE)"
        return (
            ("integer", f"CAST({column} AS BIGINT)")
            if digits <= 18
            else ("huge", f"CAST({column} AS VARCHAR)")
        )
    form = "text" if kind.startswith("ENUM(") and kind.endswith(")") else _TYPES.get(kind)
    as_text = form in ("huge", "text")
    as_time = kind in ("DATE", "TIMESTAMP_S", "TIMESTAMP_MS")
    return (
        form,
        f"CAST({column} AS {'VARCHAR' if as_text else 'TIMESTAMP'})" if as_text or as_time else column,
    )
