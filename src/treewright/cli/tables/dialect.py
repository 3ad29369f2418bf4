"""How numbers and dates are written in a table, where the command line says so: --decimal and its like."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from treewright.cli.errors import Misuse, closest, quote
from treewright.encoding.text.dates import check_date_format
from treewright.encoding.text.numbers import conventions_with

DECIMALS = {"comma": ",", "point": ".", "dot": ".", ",": ",", ".": "."}
THOUSANDS = DECIMALS | {"space": " ", " ": " ", "apostrophe": "'", "'": "'", "none": "", "": ""}
_OR_BY_COLUMN = "or COLUMN= and one of these, such as price=comma"


def by_column(
    option: str,
    texts: Iterable[str] | None,
    form: str,
    words: Mapping[str, Any] | None,
    *,
    lone: bool = False,
) -> dict[str, Any]:
    """The values of COLUMN=VALUE by column; with `lone` also a VALUE for the whole table, under "".

    `words` has the values by the words for them, None takes any; `form` is what the texts must be.
    """
    values: dict[str, Any] = {}
    for text in texts or ():
        column, _, word = text.rpartition("=")
        value = word if words is None else words.get(word.lower())
        if value is None or not (column or lone):
            close = closest(word, words or ()) if column else None
            hint = "" if close is None else f"; did you mean {column}={close}?"
            raise Misuse(f"{option} {text}: it must be {form}{hint}")
        if values.setdefault(column, value) != value:
            what = f"column {quote(column)}" if column else "the table"
            remedy = "" if column else "; name columns"
            raise Misuse(f"{option}: {what} cannot have both {values[column]!r} and {value!r}{remedy}")
    return values


class ByColumn(dict[str, str]):
    """The values of some columns, and that of all others (`otherwise`; None: not specified)."""

    def __init__(
        self, values: Mapping[str, str] = MappingProxyType({}), otherwise: str | None = None
    ) -> None:
        super().__init__({name: value for name, value in values.items() if name})
        self.otherwise = values.get("", otherwise)

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a column."""
        return super().get(name, default if self.otherwise is None else self.otherwise)

    def within(self, names: Iterable[str]) -> ByColumn:
        """The same for some columns."""
        return ByColumn({name: self[name] for name in names if name in self}, self.otherwise)


@dataclass(frozen=True)
class Conventions:
    """The decimal mark, the thousands separator and the format of dates, by column."""

    decimal: ByColumn = field(default_factory=ByColumn)
    thousands: ByColumn = field(default_factory=ByColumn)
    date_format: ByColumn = field(default_factory=ByColumn)

    @staticmethod
    def of(
        decimal: list[str] | None, thousands: list[str] | None, date_format: list[str] | None
    ) -> Conventions:
        """The conventions that the options name; Misuse about contradictions.

        >>> Conventions.of(["price=,", "point"], None, None).decimal.get("price")
        ','
        """
        of_thousands = f"a comma, point, space, apostrophe or none, {_OR_BY_COLUMN}"
        conventions = Conventions(
            ByColumn(
                by_column("--decimal", decimal, f"a point or a comma, {_OR_BY_COLUMN}", DECIMALS, lone=True)
            ),
            ByColumn(by_column("--thousands", thousands, of_thousands, THOUSANDS, lone=True)),
            ByColumn(by_column("--date-format", date_format, "", None, lone=True)),
        )
        with _misuse_of("--date-format"):
            for pattern in (*conventions.date_format.values(), conventions.date_format.otherwise):
                if pattern is not None:
                    check_date_format(pattern)
        with _misuse_of("--decimal and --thousands"):
            for name in ("", *conventions.decimal, *conventions.thousands):
                conventions_with(*conventions.marks(name))
        return conventions

    def marks(self, name: str) -> tuple[str | None, str | None]:
        """The decimal mark and the thousands separator of a column, None where they are not specified."""
        return self.decimal.get(name), self.thousands.get(name)

    def decimals(self, name: str) -> str:
        """The decimal marks that a column may have."""
        decimal, thousands = self.marks(name)
        if decimal is not None:
            return decimal
        return {".": ",", ",": "."}.get(thousands or "", ".,")

    def column_options(self) -> list[tuple[str, str]]:
        """The columns that are named, each with its option."""
        return [
            (f"--{option.replace('_', '-')}", name)
            for option, values in vars(self).items()
            for name in values
        ]

    def arguments(self, names: Iterable[str]) -> dict[str, Any]:
        """The arguments of `encode` for some columns."""
        names = list(names)
        return {
            option: values.within(names)
            for option, values in vars(self).items()
            if values or values.otherwise is not None
        }


@contextmanager
def _misuse_of(option: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise Misuse(f"{option}: {error}") from error


AS_FOUND = Conventions()
