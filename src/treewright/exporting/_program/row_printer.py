"""Prints a program in a language whose rows are dictionaries: values by the names of their columns."""

from __future__ import annotations

from collections.abc import Container, Iterator
from itertools import pairwise
from typing import Any, ClassVar

from treewright.encoding.schema import Column
from treewright.exporting._program.form import Among, Program
from treewright.exporting._program.lowering import lower, offsets
from treewright.exporting._program.printer import Printer
from treewright.exporting._tree import Code, check_labels, check_name, family, filled
from treewright.tree import Tree

FUNCTIONS = (
    "side", "add", "mix", "best", "shares", "read", "complete", "code", "value", "number", "time", "text",
    "name",
)  # fmt: skip


def program_code(tree: Tree, name: str, option: str, reserved: Container[str]) -> Code:
    """A tree to be printed, after a check of its labels and of the name that the user gave by an option."""
    code = Code(tree)
    check_labels(code)
    check_name(name, option, reserved)
    return code


class RowPrinter(Printer):
    """Spells, besides a program, the functions that read the values of a row.

    `sources` are these functions: `number`, `time`, `text` and `name` read a column of a family (see
    `family`); `value` reads any, `code` finds the code of a category, and `complete` refuses a row that lacks
    a value that some test needs; the names of these columns replace its line NAMES.
    """

    sources: ClassVar[dict[str, str]]
    gap: ClassVar[list[str]] = [""]  # empty lines before a function
    classes_name: ClassVar[str] = "classes"

    def __init__(self, code: Code, function: str) -> None:
        super().__init__(code)
        self.public = {"predict": function, "leaf": "leaf"}

    # ---- what a language must say ------------------------------------------------------------------------

    def categories(self, place: int, keys: list[str]) -> Iterator[str]:
        """The table from the categories of a column, as `key` spells them, to their codes."""
        raise NotImplementedError

    def read_function(self, values: list[str], sums: list[str]) -> Iterator[str]:
        """The function that reads the columns of a row and adds up the sums."""
        raise NotImplementedError

    def classes(self) -> Iterator[str]:
        """The labels of the classes."""
        raise NotImplementedError

    def probabilities(self, width: int, parts: list[tuple[int, int]]) -> list[str]:
        """The public function for the shares of the classes: `width` in all, and where each target's are."""
        raise NotImplementedError

    def sequence(self, values: list[str]) -> str:
        """The predictions for several targets."""
        return f"[{', '.join(values)}]"

    # ---- names and values --------------------------------------------------------------------------------

    def name(self, name: str) -> str:
        """Public functions, and private names with an underscore."""
        return self.public.get(name) or super().name(name)

    def key(self, category: Any) -> str:
        """A category as the functions that read a row return it."""
        return self.literal(category)

    def reading(self, column: Column) -> str:
        """The value of a column."""
        return f"{self.name(family(column))}(row, {self.literal(column.name)})"

    def members(self, test: Among) -> list[str]:
        """The categories of a test, with the missing one."""
        categories = self.code.tree.schema.columns[test.feature].categories
        return [self.key(categories[code]) for code in test.codes] + [self.no_category] * test.missing

    def declare(self, feature: int, value: str) -> str:
        """The variable of a column or sum."""
        return self.let("double", self.variables[feature], value)

    def read_variables(self) -> Iterator[str]:
        """A variable for each column and sum."""
        for j in self.code.used:
            yield self.declare(j, self.reading(self.code.tree.schema.columns[j]))
        for j in self.code.sums:
            yield self.declare(j, self.weighted_sum(j, self.variables))

    def answer(self, values: list[str]) -> str:
        """A label or number, or those of several targets."""
        several = len(values) > 1
        if self.code.predicts_classes:
            ends = [f"[{k}]" if several else "" for k in range(len(values))]
            values = [f"{self.classes_name}{end}[{value}]" for end, value in zip(ends, values, strict=True)]
        return self.sequence(values) if several else values[0]

    def call(self, function: str, arguments: list[str]) -> str:
        """A call; the code of a category is an integer already."""
        return arguments[0] if function == "int" else super().call(function, arguments)

    # ---- the whole ---------------------------------------------------------------------------------------

    def uses(self, proba: str, row: str) -> list[str]:
        """How the program is used, for its heading."""
        what = "the class of a row" if self.code.predicts_classes else "the number for a row"
        predict, proba = f"{self.public['predict']}(row)", f"{proba}(row)"
        lines = [f"  {predict:{len(proba)}}   {what}"]
        if self.code.predicts_classes:
            lines.append(f"  {proba}   the share of each class")
        error = ", and an error." if self.code.tree.missing == "error" else "."
        return [*lines, f"where row is {row} is missing{error}"]

    def body(self, style: str) -> Iterator[str]:
        """The classes, tables and functions, and what reads a row."""
        code, targets = self.code, range(len(self.code.targets))
        program = lower(code, style, targets)
        yield from [*self.classes(), *self.lines(program)]
        if code.predicts_classes:
            starts = offsets(code, targets)
            yield from [*self.gap, *self.probabilities(starts[-1], list(pairwise(starts)))]
        if _reads_all(program):
            yield from self.read()
        for each in sorted({family(column) for column in code.columns}):
            yield from self.source(each)
        if code.columns:
            yield from self.source("value")
        if code.demanded:
            names = [self.literal(code.tree.schema.names[j]) for j in code.demanded if j not in code.sums]
            yield from self.source("complete", names)

    def read(self) -> Iterator[str]:
        """The encoded values of a row, the columns before the sums."""
        tables: list[str] = []
        values = []
        for place, column in enumerate(self.code.columns):
            text = self.reading(column)
            if column.type.is_category:
                tables += self.categories(place, list(map(self.key, column.categories)))
                text = f"{self.name('code')}({text}, {self.name(f'codes_{place}')})"
            values.append(text)
        names = {j: f"values[{place}]" for place, j in enumerate(self.code.used)}
        sums = [self.weighted_sum(j, names) for j in self.code.sums]
        yield from [*self.gap, *tables] if tables else []
        yield from [*self.gap, *self.read_function(values, sums)]
        yield from self.source("code") if tables else []

    def source(self, name: str, names: list[str] | None = None) -> Iterator[str]:
        """One of the functions that read a row."""
        yield from self.gap
        for line in self.sources[name].splitlines():
            yield from filled(names or [], "        ") if line.strip() == "NAMES" else [line]


def _reads_all(program: Program) -> bool:
    return any(table.name in ("column", "intercept") for table in program.tables)
