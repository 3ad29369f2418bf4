"""Advice about columns of texts: how they were read, and which option reads them otherwise."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from treewright.advice import Advice
from treewright.encoding.text import TextFormat
from treewright.encoding.text.formats import Reading, Texts

_N_EXAMPLES = 3
_LONGEST = 40  # characters of a cell that are printed
_MOST_ALONE = 5  # columns with a doubt of one sort that are reported one by one
_MOST_READ = 2  # columns that were simply read

_TOGETHER = {  # of many columns at once
    "text-numbers": "hold numbers as text and are read as numbers",
    "text-times": "hold dates as text and are read as times",
    "text-truths": "spell true and false in several ways and are read as truth values",
    "text-unread": "have a few cells that cannot be read like the others: these are missing",
    "text-decimal": "hold numbers as text whose decimal mark is not certain",
    "text-units": "stay categories, as their numbers have different units",
    "text-codes": "stay categories, as some of their numbers look like identifiers",
    "text-mixed": "stay categories, as only some of their cells can be read as numbers or dates",
    "text-date-order": "stay categories, as the order of day and month is not certain",
}


def quote_cell(text: str) -> str:
    """A cell in quotes, cut where it is long."""
    return repr(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")


@dataclass(frozen=True)
class TextAdvice:
    """Advice about one column."""

    name: str
    texts: Texts
    place: Callable[[int], str]
    sort: str = "column"  # or target

    @property
    def what(self) -> str:
        """The column by name."""
        return f"{self.sort} {self.name!r}"

    def of_required(self, reading: Reading) -> tuple[Advice, ...]:
        """Advice on a column whose kind was given: only on unread cells and doubts."""
        if reading.is_read.all():
            return () if reading.other is None else (self.of_reading(reading),)
        return (self.of_unread(reading),)

    def of_reading(self, reading: Reading) -> Advice:
        """Advice on a column that is read though its kind was not given."""
        if not reading.is_read.all():
            return self.of_unread(reading, *self._keep())
        kind, labels = reading.format.type, self.texts.labels
        if kind.family == "bool":
            some = ", ".join(map(quote_cell, labels[:_N_EXAMPLES])) + ", …" * (len(labels) > _N_EXAMPLES)
            text = f"{self.what} spells true and false in {len(labels)} ways ({some}): read as truth values"
            return self._advice("text-truths", text, *self._keep())
        percent = " (5 % is read as 5, not as 0.05)" if "%" in reading.format.affixes else ""
        words = kind.short_words(reading.format) + percent
        text = f"{self.what} holds {kind.noun}s as text ({self._at(0)}): read as {words}{self._missing()}"
        if reading.other is None:
            return self._advice(f"text-{kind.family}s", text, *self._keep())
        return self._decimal(text, reading, reading.other)

    def _decimal(self, text: str, reading: Reading, other: TextFormat) -> Advice:
        """Advice on numbers whose decimal mark is not certain."""
        mark = quote_cell(other.decimal)
        doubt = f"{self._at(reading.doubtful)} could also have the decimal mark {mark}"
        return self._advice(
            "text-decimal",
            f"{text}, but {doubt}",
            f"decimal={{{self.name!r}: {mark}}} reads it so",
            f"--decimal {other.decimal} reads it so",
        )

    def of_unread(self, reading: Reading, in_python: str = "", on_command_line: str = "") -> Advice:
        """Advice on a column with unread cells."""
        sort, words = reading.format.type.noun, reading.format.type.short_words(reading.format)
        n_unread = self.texts.n_cells - reading.n_read(self.texts)
        are, these = (f"is not a {sort}", "that cell") if n_unread == 1 else (f"are not {sort}s", "these")
        text = (
            f"{self.what}: {n_unread:,} of {self.texts.n_cells:,} cells {are} "
            f"({self._unread_examples(reading)}): read as {words}, {these} as missing"
        )
        if reading.other is None:
            return self._advice("text-unread", text, in_python, on_command_line)
        return self._decimal(text, reading, reading.other)

    def of_other_marks(self, free: Reading) -> Advice:
        """Advice on numbers without the given decimal or thousands mark."""
        text = f"{self.what} stays categories: its cells are {free.format} ({self._at(0)})"
        mark = free.format.decimal
        return self._advice(
            "text-decimal",
            f"{text}, which do not have the marks that were given",
            f"decimal={{{self.name!r}: {mark!r}}} reads it as numbers",
            f"--decimal {mark} reads it as numbers",
        )

    def of_categories(self, reading: Reading) -> Advice | None:
        """Advice on a column that stays categories though most of its cells can be read; None if needless."""
        trouble, stays = reading.trouble, f"{self.what} stays categories"
        if trouble is None:
            return self._mixed(reading, stays)
        if not trouble.is_worth_advice:
            return None
        if trouble.code == "date order":
            return self._date_order(reading, stays)
        code, words, what = _TROUBLES[trouble.code]
        text = f"{stays}: {words.format(*map(self._at, trouble.examples))}"
        return self._advice(code, text, *(self._option("number", what) if what else _BOTH_ORDERS))

    def _mixed(self, reading: Reading, stays: str) -> Advice:
        kind, sort = reading.format.type.family, f"{reading.format.type.noun}s"
        n_read = reading.n_read(self.texts)
        text = (
            f"{stays}: {n_read:,} of its {self.texts.n_cells:,} known cells look like {sort}, "
            f"the others do not ({self._unread_examples(reading)})"
        )
        what = f"reads them as {kind}s, the others as missing"
        return self._advice("text-mixed", text, *self._option(kind, what))

    def _date_order(self, reading: Reading, stays: str) -> Advice:
        assert reading.other is not None
        both = reading.format, reading.other
        words = " or ".join(each.type.short_words(each) for each in both)
        text = f"{stays}: {self._at(reading.doubtful)} may be {words}"
        python = " or ".join(f"date_format={{{self.name!r}: {each.date_format!r}}}" for each in both)
        command = " or ".join(f"--date-format {shlex.quote(each.date_format)}" for each in both)
        end = "reads it as times"
        return self._advice("text-date-order", text, f"{python} {end}", f"{command} {end}")

    def _missing(self) -> str:
        """The words that are read as missing values, often the only reason why numbers are texts."""
        some = ", ".join(map(quote_cell, self.texts.missing[:_N_EXAMPLES]))
        more = ", …" if len(self.texts.missing) > _N_EXAMPLES else ""
        return f", {some}{more} as missing" if some else ""

    def _at(self, position: int) -> str:
        return f"{quote_cell(self.texts.labels[position])} in {self.place(self.texts.rows[position])}"

    def _unread_examples(self, reading: Reading) -> str:
        unread = reading.unread
        some = ", ".join(map(self._at, unread[:_N_EXAMPLES]))
        return some + (", …" if len(unread) > _N_EXAMPLES else "")

    def _keep(self) -> tuple[str, str]:
        if self.sort == "target":
            return "", ""
        return self._option("category", "keeps its texts as categories")

    def _option(self, kind: str, what: str) -> tuple[str, str]:
        option = shlex.quote(f"{self.name}={kind}")
        return f"kinds={{{self.name!r}: {kind!r}}} {what}", f"--kinds {option} {what}"

    def _advice(self, code: str, text: str, in_python: str, on_command_line: str) -> Advice:
        return Advice(code, text, in_python, on_command_line, self.name)


_TROUBLES = {  # by `Trouble.code`: the code of the advice, the trouble, and the effect of the kind "number"
    "date orders": ("text-date-order", "{} has the day first, {} the month", ""),
    "units": ("text-units", "its numbers have different units ({}, {})", "reads the numbers without units"),
    "multipliers": (
        "text-units",
        "{} may stand for thousands or millions, {} does not",
        "reads the numbers, those with such a letter as missing",
    ),
    "codes": ("text-codes", "{} looks like an identifier, not like a number", "reads it as numbers"),
}
_BOTH_ORDERS = (
    "write all dates in one order; date_format= reads one of them, the others as missing",
    "write all dates in one order; --date-format reads one of them, the others as missing",
)


def fold_advice(advice: Iterable[Advice]) -> list[Advice]:
    """The advice, with a single piece for more than five columns with the same code, or more than two that
    were read without a doubt.
    """
    by_code: dict[str, list[Advice]] = {}
    for each in advice:
        by_code.setdefault(each.code, []).append(each)
    pieces: list[Advice] = []
    for code, group in by_code.items():
        is_read = code in ("text-numbers", "text-times", "text-truths")
        if code in _TOGETHER and len(group) > (_MOST_READ if is_read else _MOST_ALONE):
            some = ", ".join(repr(each.column or "") for each in group[:10]) + ", …" * (len(group) > 10)
            text = f"{len(group)} columns {_TOGETHER[code]}: {some} (the first: {group[0].text})"
            group = [replace(group[0], text=text, column=None)]
        pieces += group
    return pieces
