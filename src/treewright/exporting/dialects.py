"""How the databases differ: quotes of names and texts, numbers to the last bit, truths, times, NaN."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from treewright.exporting._tree import quote_text

_LATEST = 253_402_300_799_999_999  # the last microsecond of the year 9999
_EARLIEST = -62_135_596_800_000_000  # the first of the year 1
_CONTROL = re.compile("[\x00-\x1f\x7f]")


@dataclass(frozen=True)
class Dialect:
    """What one database wants."""

    name: str
    quote: str  # of names
    text: Callable[[str], str]
    floating: Callable[[float], str]
    time: Callable[[str], str]
    infinity: str | None  # None: no number of it is infinite
    nan: Literal["greatest", "unordered"] | None  # how NaN compares; None: no number of it is NaN
    truths: tuple[str, str] = ("FALSE", "TRUE")
    folds_case: bool = True  # whether x and X are one column even in quotes
    category: Callable[[str], str] = str  # a column of texts so that it is compared byte by byte

    def identifier(self, name: str) -> str:
        """The name of a column or table, in quotes."""
        if not name and self.name != "sqlite":
            raise ValueError(
                f"{self.name} takes no empty name; say by columns= what the column is called there"
            )
        if "\0" in name:
            raise ValueError(f"{name!r} cannot be the name of a column or table: it has the character NUL")
        if _SURROGATE.search(name):
            raise ValueError(f"{name!r} is no text that {self.name} could hold: it has half a character")
        if self.name == "bigquery":
            return quote_text(name, "`", _backslash, _kept_by_bigquery)
        return self.quote + name.replace(self.quote, self.quote * 2) + self.quote

    def label(self, value: object) -> str:
        """A category or class."""
        if isinstance(value, bool):
            return self.truths[value]
        if isinstance(value, float):
            return self.number(value)
        if isinstance(value, int):
            if not -(2**63) < value < 2**63:
                raise ValueError(f"the label {value} does not fit into the 64 bits of a database's integer")
            return str(value)
        text = str(value)
        if _SURROGATE.search(text):
            raise ValueError(f"{text!r} is no text that {self.name} could hold: it has half a character")
        return self.text(text)

    def number(self, value: float) -> str:
        """A float, exactly."""
        if not math.isinf(value):
            return self.floating(value)
        if self.infinity is None:
            raise ValueError(f"{self.name} has no infinite numbers, and one is needed here")
        return self.infinity if value > 0 else f"-{self.infinity}"

    def moment(self, microseconds: float) -> str:
        """A time: the last whole microsecond that is not after the one that is given."""
        ticks = math.floor(microseconds)
        if not _EARLIEST <= ticks <= _LATEST:
            raise ValueError(
                f"a time {microseconds} microseconds from 1970 is beyond the calendar of {self.name}; "
                "keep times as numbers there and say times='microseconds'"
            )
        return self.time(str(datetime(1970, 1, 1) + timedelta(microseconds=ticks)))


_SURROGATE = re.compile("[\ud800-\udfff]")


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _with_exponent(value: float) -> str:
    """A number with an exponent is a float, one without it is a decimal, which is rounded in its own way."""
    text = repr(value).removesuffix(".0")
    return text if "e" in text else f"{text}e0"


def _short(value: float) -> str:
    return repr(value).removesuffix(".0")


# ---- duckdb --------------------------------------------------------------------------------------------


def _duckdb_text(text: str) -> str:
    if not _CONTROL.search(text):
        return _quote(text)
    parts = [part for part in re.split("([\x00-\x1f\x7f])", text) if part]
    return "(" + " || ".join(f"chr({ord(p)})" if _CONTROL.match(p) else _quote(p) for p in parts) + ")"


# ---- postgres ------------------------------------------------------------------------------------------


def _postgres_text(text: str) -> str:
    """With a backslash it is written with escapes, which mean the same whatever the server's settings."""
    if "\0" in text:
        raise ValueError(f"{text!r} is no text that postgres could hold: it has the character NUL")
    if "\\" not in text and not _CONTROL.search(text):
        return _quote(text)
    kept = _CONTROL.sub(lambda c: f"\\x{ord(c[0]):02x}", text.replace("\\", "\\\\").replace("'", "''"))
    return f"E'{kept}'"


# ---- sqlite --------------------------------------------------------------------------------------------


def _sqlite_text(text: str) -> str:
    return f"CAST(X'{text.encode().hex().upper()}' AS TEXT)" if _CONTROL.search(text) else _quote(text)


def _sqlite_number(value: float) -> str:
    """SQLite may read a decimal one bit too high or low: where it has many digits, is very large or small, or
    near the middle of two floats. There whole numbers and powers of two, which it reads exactly, say it.
    """
    text = repr(value)
    _, digits, exponent = Decimal(text).normalize().as_tuple()
    distance = abs(Fraction(text) - Fraction(value)) / Fraction(math.ulp(value))
    if len(digits) <= 15 and abs(int(exponent)) <= 22 and distance <= Fraction(499, 1000):
        return text
    mantissa, power = math.frexp(abs(value))
    whole, power = int(mantissa * 2**53), power - 53
    while whole % 2 == 0:
        whole, power = whole // 2, power + 1
    factors = [62] * (abs(power) // 62) + [abs(power) % 62] * (abs(power) % 62 > 0)
    sign, operator = "-" if value < 0 else "", "*" if power > 0 else "/"
    product = f"{sign}{whole}.0" + "".join(f" {operator} {2**factor}.0" for factor in factors)
    return f"({product} /* {text} */)"


def _sqlite_time(text: str) -> str:
    """As a text, which is how Python writes datetimes there; with all six digits it compares as a time."""
    return f"'{text if '.' in text else text + '.000000'}'"


# ---- mysql ---------------------------------------------------------------------------------------------


def _mysql_text(text: str) -> str:
    """Whether a backslash is an escape depends on the server's settings: bytes do not."""
    if "\\" in text or _CONTROL.search(text):
        return f"CONVERT(X'{text.encode().hex().upper()}' USING utf8mb4)"
    return _quote(text)


# ---- bigquery and snowflake ----------------------------------------------------------------------------


def _backslash(character: str) -> str:
    if character in "\\'`":
        return f"\\{character}"
    code = ord(character)
    return f"\\u{code:04x}" if code < 2**16 else f"\\U{code:08x}"


def _kept_by_bigquery(character: str) -> bool:
    return character.isprintable() and character not in "\\'`"


def _bigquery_text(text: str) -> str:
    return quote_text(text, "'", _backslash, _kept_by_bigquery)


def _snowflake_text(text: str) -> str:
    return quote_text(text, "'", _backslash, lambda c: not _CONTROL.match(c) and c not in "\\'")


DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            "duckdb",
            '"',
            _duckdb_text,
            _with_exponent,
            lambda text: f"TIMESTAMP '{text}'",
            "'infinity'::DOUBLE",
            "greatest",
        ),
        Dialect(
            "postgres",
            '"',
            _postgres_text,
            lambda value: f"{_short(value)}::float8",
            lambda text: f"TIMESTAMP '{text}'",
            "'infinity'::float8",
            "greatest",
            folds_case=False,
        ),
        # In double quotes SQLite takes a column that is not there for a text.
        Dialect("sqlite", "`", _sqlite_text, _sqlite_number, _sqlite_time, "9e999", None, ("0", "1")),
        Dialect(
            "mysql",
            "`",
            _mysql_text,
            _with_exponent,
            lambda text: f"TIMESTAMP '{text}'",
            None,
            None,
            category=lambda column: f"CAST(CONVERT({column} USING utf8mb4) AS BINARY)",
        ),
        Dialect(
            "bigquery",
            "`",
            _bigquery_text,
            repr,
            lambda text: f"'{text}'",
            "CAST('inf' AS FLOAT64)",
            "unordered",
        ),
        Dialect(
            "snowflake",
            '"',
            _snowflake_text,
            lambda value: f"'{_short(value)}'::FLOAT",
            lambda text: f"'{text}'::TIMESTAMP_NTZ",
            "'inf'::FLOAT",
            "greatest",
            folds_case=False,
        ),
    )
}


def dialect_of(name: str) -> Dialect:
    """The dialect of a name; ValueError if there is none."""
    if name not in DIALECTS:
        raise ValueError(f"dialect is {name!r}; known: {', '.join(DIALECTS)}")
    return DIALECTS[name]
