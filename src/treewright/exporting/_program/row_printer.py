"""Prints a program in a language whose rows are dictionaries: values by the names of their columns."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

from treewright.encoding.schema import Column
from treewright.exporting._program.form import Among
from treewright.exporting._program.lowering import lower, offsets
from treewright.exporting._program.printer import PUBLIC, Printer
from treewright.exporting._tree import Code, check_labels, check_name, family, fill_lines, number
from treewright.tree import Tree

_FUNCTIONS = (
    *PUBLIC, "side", "add", "mix", "best", "shares", "read", "complete", "code", "value", "number", "time",
    "text", "name",
)  # fmt: skip


def program_code(tree: Tree, name: str, option: str, reserved: Container[str]) -> Code:
    """A tree to be printed, after a check of its labels and of the name that the user gave by an option."""
    code = Code(tree)
    check_labels(code)
    check_name(name, option, reserved)
    return code


def is_function(name: str) -> bool:
    """Whether a name of the intermediate form is that of a function; the others are tables."""
    return name in _FUNCTIONS or name.startswith("cheapest")


class RowPrinter(Printer):
    """Spells, besides a program, the functions that read the values of a row.

    These come from the file of the language in `sources/`, which has a part for each of them: `number`,
    `time`, `text` and `name` read a column of a family (see `family`); `value` reads any, `code` finds the
    code of a category, `complete` refuses a row that lacks a value that some test needs, `read` makes the
    array of all values, and `probabilities` is the public function for the shares of the classes. Words in
    capitals, such as NAMES, stand for what depends on the tree.
    """

    language: ClassVar[str]  # the name of the file of sources
    no_category: ClassVar[str] = "null"  # a missing category in a nested program
    gap: ClassVar[list[str]] = [""]  # empty lines before a function
    classes_name: ClassVar[str] = "classes"
    codes: ClassVar[str] = ""  # the table from {categories}, a constant, to their codes
    added_sum: ClassVar[str] = ""  # appends a weighted sum to the values of a row
    shares: ClassVar[tuple[str, str, str]] = ("found", "", "")  # of one target, one of several, and several

    def __init__(self, code: Code, predict: str) -> None:
        super().__init__(code)
        self.predict = predict
        text = Path(__file__).with_name("sources").joinpath(f"{self.language}.txt").read_text("utf-8")
        parts = re.split(r"^==== (\w+)\n", text.rstrip() + "\n", flags=re.MULTILINE)
        self.sources = dict(zip(parts[1::2], map(str.rstrip, parts[2::2]), strict=True))

    # ---- names and values --------------------------------------------------------------------------------

    def name(self, name: str) -> str:
        """Public functions, and private names with an underscore."""
        public = {"predict": self.predict, "leaf": "leaf"}
        return public.get(name) or super().name(name)

    def literal(self, label: Any) -> str:
        """A label or the name of a column."""
        if isinstance(label, bool):
            return self.truths[label]
        if isinstance(label, float):
            return number(label, self.infinity)
        return self.integer(label) if isinstance(label, int) else self.text(label)

    def integer(self, label: int) -> str:
        """A label that is an integer."""
        return str(label)

    def text(self, label: str) -> str:
        """A text."""
        raise NotImplementedError

    def key(self, category: Any) -> str:
        """A category as the functions that read a row return it."""
        return self.literal(category)

    def reading(self, column: Column) -> str:
        """The value of a column."""
        return f"{self.name(family(column))}(row, {self.literal(column.name)})"

    def sequence(self, values: list[str]) -> str:
        """The predictions for several targets."""
        return f"[{', '.join(values)}]"

    def members(self, test: Among) -> list[str]:
        """The categories of a test, with the missing one."""
        categories = self.code.tree.schema.columns[test.feature].categories
        return [self.key(categories[code]) for code in test.codes] + [self.no_category] * test.missing

    def read_variables(self) -> Iterator[str]:
        """A variable for each column and sum."""
        for j in self.code.used:
            column = self.code.tree.schema.columns[j]
            yield from self.let(family(column), self.variables[j], self.reading(column))
        for j in self.code.sums:
            yield from self.let("number", self.variables[j], self.weighted_sum(j, self.variables))

    def answer(self, values: list[str]) -> str:
        """A label or number, or those of several targets."""
        several = len(values) > 1
        if self.code.predicts_classes:
            ends = [f"[{k}]" if several else "" for k in range(len(values))]
            values = [f"{self.classes_name}{end}[{value}]" for end, value in zip(ends, values, strict=True)]
        return self.sequence(values) if several else values[0]

    # ---- the whole ---------------------------------------------------------------------------------------

    def uses(self, proba: str, row: str) -> list[str]:
        """How the program is used, for its heading."""
        what = "the class of a row" if self.code.predicts_classes else "the number for a row"
        predict, proba = f"{self.predict}(row)", f"{proba}(row)"
        lines = [f"  {predict:{len(proba)}}   {what}"]
        if self.code.predicts_classes:
            lines.append(f"  {proba}   the share of each class")
        error = ", and an error." if self.code.tree.missing == "error" else "."
        return [*lines, f"where row is {row} is missing{error}"]

    def body(self, style: str) -> Iterator[str]:
        """The classes, tables and functions, and what reads a row."""
        code, targets = self.code, range(len(self.code.targets))
        program = lower(code, style, targets)
        if code.predicts_classes:
            yield from self.classes()
        yield from self.lines(program)
        if code.predicts_classes:
            yield from self.probabilities(offsets(code, targets))
        if any(table.name in ("column", "intercept") for table in program.tables):
            yield from self.read()
        for each in sorted({family(column) for column in code.columns}):
            yield from self.source(each)
        if code.columns:
            yield from self.source("value")
        if code.demanded:
            yield from self.complete([code.tree.schema.names[j] for j in code.demanded if j not in code.sums])

    def classes(self) -> Iterator[str]:
        """The labels of the classes, of several targets within one another."""
        names = [list(map(self.literal, target.classes or ())) for target in self.code.targets]
        several = list(map(self.sequence, names))
        yield from self.constant("", self.classes_name, names[0] if len(names) == 1 else several)

    def probabilities(self, starts: list[int]) -> Iterator[str]:
        """The public function for the shares of the classes, which stand in one array for all targets."""
        one, part, several = self.shares
        found = one
        if len(starts) > 2:
            found = several.format(", ".join(part.format(a, b) for a, b in pairwise(starts)))
        type = f"double[]{'[]' * (len(starts) > 2)}"
        words = {"WIDTH": str(starts[-1]), "SHARES": found, "PREDICT": self.predict, "TYPE": type}
        yield from self.source("probabilities", **words)

    def read(self) -> Iterator[str]:
        """The encoded values of a row, the columns before the sums."""
        tables: list[str] = []
        values = []
        for place, column in enumerate(self.code.columns):
            text = self.reading(column)
            if column.is_category:
                tables += self.categories(place, column)
                text = f"{self.name('code')}({text}, {self.name(f'codes_{place}')})"
            values.append(text)
        yield from [*self.gap, *tables] if tables else []
        yield from self.read_function(values)
        yield from self.source("code") if tables else []

    def categories(self, place: int, column: Column) -> Iterator[str]:
        """The table from the categories of a column to their codes."""
        name = self.name(f"categories_{place}")
        yield from self.constant("", name, list(map(self.key, column.categories)))
        yield self.codes.format(categories=name, codes=self.name(f"codes_{place}"))

    def read_function(self, values: list[str]) -> Iterator[str]:
        """The function that reads the columns of a row and adds up the sums."""
        names = {j: f"values[{place}]" for place, j in enumerate(self.code.used)}
        sums = [self.added_sum.format(self.weighted_sum(j, names)) for j in self.code.sums]
        yield from self.source("read", VALUES=[f"{value}," for value in values], SUMS=sums)

    def complete(self, names: list[str]) -> Iterator[str]:
        """The function that refuses a row without a value in some columns."""
        lines = fill_lines(list(map(self.literal, names)), "        ")
        yield from self.source("complete", NAMES=[line.strip() for line in lines])

    def source(self, part: str, **words: str | list[str]) -> Iterator[str]:
        """A part of the sources, with words replaced: within a line by a text, alone on it by lines."""
        yield from self.gap
        for line in self.sources[part].split("\n"):
            indent, alone = line[: len(line) - len(line.lstrip())], words.get(line.strip())
            if isinstance(alone, list):
                yield from (indent + each for each in alone)
                continue
            for word, text in words.items():
                line = line.replace(word, text) if isinstance(text, str) else line
            yield from line.split("\n")
