"""How the databases differ: quotes of names and texts, numbers to the last bit, truths, times, NaN."""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar, Literal

from treewright._suggestions import choices_text
from treewright.exporting._tree import quote_text

_LATEST = 253_402_300_799_999_999  # the last microsecond of the year 9999
_EARLIEST = -62_135_596_800_000_000  # the first of the year 1
_CONTROL = re.compile("[\x00-\x1f\x7f]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Dialect:
    """What a database wants; unless a subclass says otherwise, what most of them want."""

    name: ClassVar[str]
    quote: ClassVar[str] = '"'  # of names
    infinity: ClassVar[str | None] = None  # None: no number of it is infinite
    nan: ClassVar[Literal["greatest", "unordered"] | None] = None  # how NaN compares; None: no number is NaN
    truths: ClassVar[tuple[str, str]] = ("FALSE", "TRUE")
    folds_case: ClassVar[bool] = True  # whether x and X are one column even in quotes
    times: ClassVar[str] = "TIMESTAMP '{}'"
    floats: ClassVar[str] = ""  # "": with an exponent; without one a number is a decimal, rounded otherwise
    takes_empty_names: ClassVar[bool] = False

    def identifier(self, name: str) -> str:
        """The name of a column or table, in quotes."""
        if not name and not self.takes_empty_names:
            raise ValueError(
                f"{self.name} takes no empty name; say by columns= what the column is called there"
            )
        if "\0" in name:
            raise ValueError(f"{name!r} cannot be the name of a column or table: it has the character NUL")
        self._check_characters(name)
        return self._in_quotes(name, self.quote)

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
        self._check_characters(str(value))
        return self._text(str(value))

    def _check_characters(self, text: str) -> None:
        if _SURROGATE.search(text):
            raise ValueError(f"{text!r} is no text that {self.name} could hold: it has half a character")

    def number(self, value: float) -> str:
        """A float, exactly."""
        if not math.isinf(value):
            return self._float(value)
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
        return self._time(str(datetime(1970, 1, 1) + timedelta(microseconds=ticks)))

    def category(self, column: str) -> str:
        """A column of texts, so that it is compared byte by byte."""
        return column

    def _text(self, text: str) -> str:
        return self._in_quotes(text, "'")

    def _in_quotes(self, text: str, quote: str) -> str:
        return quote + text.replace(quote, quote * 2) + quote

    def _float(self, value: float) -> str:
        text = repr(value).removesuffix(".0")
        if self.floats:
            return self.floats.format(text)
        return text if "e" in text else f"{text}e0"

    def _time(self, text: str) -> str:
        return self.times.format(text)


class _DuckDB(Dialect):
    name = "duckdb"
    infinity = "'infinity'::DOUBLE"
    nan = "greatest"

    def _text(self, text: str) -> str:
        if not _CONTROL.search(text):
            return super()._text(text)
        parts = [part for part in re.split("([\x00-\x1f\x7f])", text) if part]
        texts = (
            f"chr({ord(part)})" if _CONTROL.match(part) else super(_DuckDB, self)._text(part)
            for part in parts
        )
        return f"({' || '.join(texts)})"


class _Postgres(Dialect):
    name = "postgres"
    infinity = "'infinity'::float8"
    nan = "greatest"
    floats = "{}::float8"
    folds_case = False

    def _text(self, text: str) -> str:
        """With a backslash it is written with escapes, which mean the same whatever the server's settings."""
        if "\0" in text:
            raise ValueError(f"{text!r} is no text that postgres could hold: it has the character NUL")
        if "\\" not in text and not _CONTROL.search(text):
            return super()._text(text)
        return "E" + _CONTROL.sub(lambda c: f"\\x{ord(c[0]):02x}", super()._text(text.replace("\\", "\\\\")))


class _SQLite(Dialect):
    name = "sqlite"
    quote = "`"  # in double quotes SQLite takes a column that is not there for a text
    infinity = "9e999"
    truths = ("0", "1")
    takes_empty_names = True

    def _text(self, text: str) -> str:
        is_plain = not _CONTROL.search(text)
        return super()._text(text) if is_plain else f"CAST(X'{text.encode().hex().upper()}' AS TEXT)"

    def _float(self, value: float) -> str:
        """SQLite may read a decimal one bit too high or low: where it has many digits, is very large or
        small, or near the middle of two floats. There it is a product of whole numbers and powers of two,
        which SQLite reads exactly.
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

    def _time(self, text: str) -> str:
        """As a text, as Python writes datetimes there; with all six digits it compares as a time."""
        return f"'{text if '.' in text else text + '.000000'}'"


class _MySQL(Dialect):
    name = "mysql"
    quote = "`"

    def category(self, column: str) -> str:
        """As bytes: texts are compared without regard to case."""
        return f"CAST(CONVERT({column} USING utf8mb4) AS BINARY)"

    def _text(self, text: str) -> str:
        """Whether a backslash is an escape depends on the server's settings: bytes do not."""
        if "\\" in text or _CONTROL.search(text):
            return f"CONVERT(X'{text.encode().hex().upper()}' USING utf8mb4)"
        return super()._text(text)


class _BigQuery(Dialect):
    name = "bigquery"
    quote = "`"
    infinity = "CAST('inf' AS FLOAT64)"
    nan = "unordered"
    times = "'{}'"

    def _in_quotes(self, text: str, quote: str) -> str:
        return quote_text(text, quote, _backslash, _is_plain)

    def _float(self, value: float) -> str:
        return repr(value)


class _Snowflake(Dialect):
    name = "snowflake"
    infinity = "'inf'::FLOAT"
    nan = "greatest"
    floats = "'{}'::FLOAT"
    times = "'{}'::TIMESTAMP_NTZ"
    folds_case = False

    def _text(self, text: str) -> str:
        return quote_text(text, "'", _backslash, lambda c: not _CONTROL.match(c) and c not in "\\'")


def _backslash(character: str) -> str:
    if character in "\\'`":
        return f"\\{character}"
    code = ord(character)
    return f"\\u{code:04x}" if code < 2**16 else f"\\U{code:08x}"


def _is_plain(character: str) -> bool:
    return character.isprintable() and character not in "\\'`"


DIALECTS = {dialect.name: dialect() for dialect in Dialect.__subclasses__()}


def dialect_of(name: str) -> Dialect:
    """The dialect of a name; ValueError if there is none."""
    if name not in DIALECTS:
        raise ValueError(f"dialect is {name!r}; known: {choices_text(name, DIALECTS)}")
    return DIALECTS[name]
