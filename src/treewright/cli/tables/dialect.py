"""How numbers and dates are written in a table, where the command line says so: --decimal and its like."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from treewright.cli.errors import Misuse, quote
from treewright.encoding.text.dates import check_date_format
from treewright.encoding.text.formats import conventions_with

DECIMALS = {"comma": ",", "point": ".", "dot": "."}
THOUSANDS = DECIMALS | {"space": " ", "apostrophe": "'", "none": ""}


class ByColumn(dict[str, str]):
    """What is said of some columns, and what holds for all others (`otherwise`; None: nothing)."""

    def __init__(self, named: Mapping[str, str] = MappingProxyType({}), otherwise: str | None = None) -> None:
        super().__init__(named)
        self.otherwise = otherwise

    def get(self, name: str, default: Any = None) -> Any:
        """What holds for a column."""
        return super().get(name, default if self.otherwise is None else self.otherwise)

    def within(self, names: Iterable[str]) -> ByColumn:
        """The same for some columns."""
        names = set(names)
        return ByColumn({name: value for name, value in self.items() if name in names}, self.otherwise)

    @property
    def says_nothing(self) -> bool:
        """Whether there is nothing in it."""
        return self.otherwise is None and not self


@dataclass(frozen=True)
class Conventions:
    """The decimal mark, the mark between thousands and the pattern of dates, by column."""

    decimal: ByColumn = field(default_factory=ByColumn)
    thousands: ByColumn = field(default_factory=ByColumn)
    date_format: ByColumn = field(default_factory=ByColumn)

    @staticmethod
    def of(
        decimal: list[str] | None, thousands: list[str] | None, date_format: list[str] | None
    ) -> Conventions:
        """As the options say; Misuse about what cannot be meant.

        >>> Conventions.of(["price=,", "point"], None, None).decimal.get("price")
        ','
        """
        said = Conventions(
            _by_column("--decimal", decimal, DECIMALS, "a point or a comma"),
            _by_column("--thousands", thousands, THOUSANDS, "a comma, point, space, apostrophe or none"),
            _by_column("--date-format", date_format, {}, ""),
        )
        for pattern in (*said.date_format.values(), said.date_format.otherwise):
            if pattern is not None:
                _checked(lambda pattern=pattern: check_date_format(pattern), "--date-format")
        for name in {None, *said.decimal, *said.thousands}:
            _checked(lambda name=name: conventions_with(*said.marks(name)), "--decimal and --thousands")
        return said

    def marks(self, name: str | None) -> tuple[str | None, str | None]:
        """The decimal mark and that between thousands of a column, None where nothing is said."""
        if name is None:
            return self.decimal.otherwise, self.thousands.otherwise
        return self.decimal.get(name), self.thousands.get(name)

    def decimals(self, name: str) -> str:
        """The decimal marks that a column may have."""
        decimal, thousands = self.marks(name)
        if decimal is not None:
            return decimal
        return {".": ",", ",": "."}.get(thousands or "", ".,")

    def named(self) -> list[tuple[str, str]]:
        """The columns that are named, each with its option."""
        return [
            (f"--{option.replace('_', '-')}", name) for option, said in self._options.items() for name in said
        ]

    def arguments(self, names: Iterable[str]) -> dict[str, Any]:
        """The arguments of `encode` for some columns."""
        names = list(names)
        return {option: said.within(names) for option, said in self._options.items() if not said.says_nothing}

    @property
    def _options(self) -> dict[str, ByColumn]:
        return {"decimal": self.decimal, "thousands": self.thousands, "date_format": self.date_format}


def _by_column(option: str, said: list[str] | None, words: Mapping[str, str], what: str) -> ByColumn:
    """VALUE for the whole table, or COLUMN=VALUE."""
    named: dict[str, str] = {}
    otherwise = None
    for each in said or []:
        column, equals, value = each.rpartition("=")
        value = words.get(value.lower(), value) if words else value
        if words and value not in words.values():
            raise Misuse(f"{option} {each}: it is {what}, or COLUMN= and one of these, such as price=comma")
        if not equals or not column:
            if otherwise not in (None, value):
                raise Misuse(
                    f"{option}: the table cannot have both {otherwise!r} and {value!r}; name columns"
                )
            otherwise = value
        elif named.setdefault(column, value) != value:
            raise Misuse(f"{option}: column {quote(column)} cannot have both {named[column]!r} and {value!r}")
    return ByColumn(named, otherwise)


def _checked(check: Any, option: str) -> None:
    try:
        check()
    except ValueError as error:
        raise Misuse(f"{option}: {error}") from error


AS_FOUND = Conventions()
