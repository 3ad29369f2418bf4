"""Prints a program in a language with braces; a language overrides what it spells in its own way."""

from __future__ import annotations

import textwrap
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from treewright._text import escape
from treewright.encoding.kinds import MISSING_CODE
from treewright.exporting._program import form
from treewright.exporting._tree import Code, fill_lines, number

_PRECEDENCE = {"or": 1, "and": 2, "<": 4, "<=": 4, ">": 4, ">=": 4, "==": 4, "!=": 4, "+": 5, "-": 5, "*": 6}
PUBLIC = ("predict", "leaf")  # functions for users


class Printer(ABC):
    """Spells tables, functions, statements and expressions.

    What a language writes in its own words are the class attributes, mostly templates of `str.format`; by
    default they are those of a language with braces. What takes more than a template is a method.
    """

    # of expressions
    infinity: ClassVar[str] = "Infinity"
    nan: ClassVar[str] = "NaN"
    truths: ClassVar[tuple[str, str]] = ("false", "true")
    operators: ClassVar[dict[str, str]] = {"and": "&&", "or": "||"}
    equality: ClassVar[tuple[str, str]] = ("==", "!=")
    negation: ClassVar[str] = "!({})"
    choice: ClassVar[str] = "{0} ? {1} : {2}"
    to_int: ClassVar[str] = "{}"
    plus: ClassVar[str] = "{} + {} * {}"  # "" where it is a function of the program
    is_finite: ClassVar[str] = ""
    number_known: ClassVar[tuple[str, str]] = ("{0} == {0}", "{0} != {0}")  # there, and missing
    category_known: ClassVar[tuple[str, str]] = ("{} != -1", "{} == -1")  # in a nested program
    # of statements
    end: ClassVar[str] = ";"
    block_end: ClassVar[tuple[str, ...]] = ("}",)
    if_else: ClassVar[tuple[str, str, str]] = ("if ({}) {{", "}} else if ({}) {{", "}} else {{")
    while_loop: ClassVar[str] = "while ({}) {{"
    for_loop: ClassVar[str] = "for (int {0} = {1}; {0} < {2}; ++{0}) {{"
    types: ClassVar[dict[str, str]] = {}  # how the declaration of a variable begins
    array: ClassVar[str] = ""  # the declaration of zeros: {type} (int, double), {zero}, {name}, {size}
    refuse: ClassVar[str] = ""  # refuses a row: if {condition}, with {message}
    # of functions and tables
    signature: ClassVar[str] = ""  # {access} {returns} {name} {parameters}
    parameters: ClassVar[dict[str, str]] = {}  # the declaration of each type, if any; {row}: a type's name
    constants: ClassVar[tuple[str, str]] = ("", "")  # what is around the {type} {name} of an array
    comment: ClassVar[tuple[str, str]] = ("//", "")
    reserved: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, code: Code) -> None:
        self.code = code
        self.variables = code.variables(self.reserved)

    # ---- what a language must say ------------------------------------------------------------------------

    @abstractmethod
    def literal(self, label: Any) -> str:
        """A text, or a class or category of another type."""

    @abstractmethod
    def read_variables(self) -> Iterator[str]:
        """The variables of a nested program, of columns and sums."""

    @abstractmethod
    def answer(self, values: list[str]) -> str:
        """The prediction from the class code or number for each target."""

    # ---- names -------------------------------------------------------------------------------------------

    def name(self, name: str) -> str:
        """A function or table of the program."""
        return f"_{name}"

    def variable(self, feature: int) -> str:
        """The variable of a column or sum."""
        return self.variables[feature]

    def weighted_sum(self, feature: int, names: dict[int, str]) -> str:
        """A weighted sum of columns: products from left to right, without factors of 1."""
        text = ""
        for column, weight in self.code.terms(feature):
            part = names[column] if abs(weight) == 1 else f"{abs(weight)!r} * {names[column]}"
            sign = "-" if weight < 0 else "+"
            text += f" {sign} {part}" if text else f"{sign.strip('+')}{part}"
        return text

    def remark(self, text: str) -> str:
        """A text within a comment, which nothing in it may end."""
        return text

    # ---- expressions -------------------------------------------------------------------------------------

    def expression(self, of: form.Expression, around: int = 0) -> str:
        """An expression, in brackets where the operator around it would take it apart."""
        match of:
            case form.Constant(bool(value)):
                return self.truths[value]
            case form.Constant(value):
                return number(value, self.infinity) if isinstance(value, float) else str(value)
            case form.Name(name):
                return self.nan if name == "nan" else name
            case form.Item(array, index):
                return self.item(array, self.expression(index))
            case form.Value(feature):
                return self.variable(feature)
            case form.Known(feature, negated):
                is_category = self.code.tree.tested[feature].is_category
                texts = self.category_known if is_category else self.number_known
                return texts[negated].format(self.variable(feature))
            case form.Among():
                return self.among(of, around)
            case form.Not(operand):
                return self.negation.format(self.expression(operand))
            case form.Choice(condition, then, otherwise):
                sides = self.expression(condition, 3), self.expression(then, 3)
                text = self.choice.format(*sides, self.expression(otherwise))
                return f"({text})" if around else text
            case form.Call(function, arguments):
                inner = _PRECEDENCE["*"] if function == "plus" and self.plus else 0
                return self.call(function, [self.expression(each, inner) for each in arguments])
            case form.Operation(operator, left, right):
                rank = _PRECEDENCE.get(operator, 9)  # bits always stand in brackets
                inner = 3 if operator == "or" else rank  # compilers warn of a bare `and` within `or`
                sides = self.expression(left, inner), self.expression(right, inner + 1)
                text = f"{sides[0]} {self.operators.get(operator, operator)} {sides[1]}"
                return f"({text})" if around and (around > rank or rank == 9 or around == 9) else text

    def item(self, array: str, index: str) -> str:
        """An element of an array or table."""
        is_local = array in ("values", "mixed", "found", "total", "waiting", "part_waiting")
        return f"{array if is_local else self.name(array)}[{index}]"

    def among(self, test: form.Among, around: int) -> str:
        """Whether a category, here a code, is one of some."""
        name, operator = self.variable(test.feature), self.equality[test.negated]
        values = [MISSING_CODE] * test.missing + list(test.codes)
        joint = self.operators["and" if test.negated else "or"]
        text = f" {joint} ".join(f"{name} {operator} {value}" for value in values)
        return f"({text})" if around and len(values) > 1 else text

    def call(self, function: str, arguments: list[str]) -> str:
        """A call of a function of the program, or of a built-in one."""
        if function == "answer":
            return self.answer(arguments)
        is_nan = self.number_known[True]
        built_in = {"isnan": is_nan, "isfinite": self.is_finite, "int": self.to_int, "plus": self.plus}
        if template := built_in.get(function):
            return template.format(*arguments)
        return f"{self.name(function)}({', '.join(arguments)})"

    # ---- statements --------------------------------------------------------------------------------------

    def statement(self, of: form.Statement) -> Iterator[str]:
        """The lines of a statement."""
        match of:
            case form.Let(("ints" | "doubles") as type, name, size):
                kind, zero = ("int", "0") if type == "ints" else ("double", "0.0")
                yield self.array.format(type=kind, zero=zero, name=name, size=self.expression(size))
            case form.Let(type, name, value):
                yield from self.let(type, name, self.expression(value))
            case form.Set(target, value):
                yield f"{self.expression(target)} = {self.expression(value)}{self.end}"
            case form.If():
                yield from self.branches(of)
            case form.While(condition, body):
                yield self.while_loop.format(self.expression(condition))
                yield from [*self.block(body), *self.block_end]
            case form.For(name, start, stop, body):
                yield self.for_loop.format(name, self.expression(start), self.expression(stop))
                yield from [*self.block(body), *self.block_end]
            case form.Return(value, remark):
                text = "return" if value is None else f"return {self.expression(value)}"
                yield f"{text}{self.end}{self.after(remark)}"
            case form.Do(call):
                yield f"{self.expression(call)}{self.end}"
            case form.ReadVariables():
                yield from self.read_variables()
            case form.Demand():
                yield from self.demand(of)

    def let(self, type: str, name: str, value: str) -> Iterator[str]:
        """The declaration of a variable."""
        yield f"{self.types.get(type, '')} {name} = {value}{self.end}".lstrip()

    def demand(self, of: form.Demand) -> Iterator[str]:
        """Refuses a row that lacks a value."""
        for feature, condition in of.missing:
            name = self.code.tree.tested[feature].name
            lack = f"{name} has no value" if feature in self.code.sums else f"column {name} is missing"
            message = self.literal(f"{lack}, and this tree takes complete rows only")
            yield from self.refuse.format(condition=self.expression(condition), message=message).split("\n")

    def branches(self, of: form.If) -> Iterator[str]:
        """An if with its else; an if that is all there is in an else continues it."""
        start, more, last = self.if_else
        while True:
            condition = self.expression(of.condition)
            yield start.format(condition) + self.after(self.condition_remark(of.remark, condition))
            yield from self.block(of.then)
            if len(of.otherwise) != 1 or not isinstance(of.otherwise[0], form.If):
                break
            start, of = more, of.otherwise[0]
        if of.otherwise:
            yield from [last.format(), *self.block(of.otherwise)]
        yield from self.block_end

    def condition_remark(self, remark: str, condition: str) -> str:
        """The words for a condition, where it does not say the same."""
        return remark

    def block(self, statements: form.Block) -> list[str]:
        """The indented lines of several statements."""
        return [f"    {line}" for statement in statements for line in self.statement(statement)]

    def after(self, remark: str) -> str:
        """A comment at the end of a line."""
        return f"  {self.comment[0]} {self.remark(remark)}{self.comment[1]}" if remark else ""

    # ---- the whole ---------------------------------------------------------------------------------------

    def comment_lines(self, text: str) -> list[str]:
        """A comment of as many lines as it takes."""
        start, end = self.comment
        further = " " * len(start) if end else start
        lines = textwrap.wrap(self.remark(text), 96, break_long_words=False, break_on_hyphens=False)
        *lines, last = [f"{further if place else start} {line}" for place, line in enumerate(lines)]
        return [*lines, last + end]

    def heading(self, *uses: str) -> list[str]:
        """What the program is and how it is used, as lines of comments."""
        return [
            f"{self.comment[0]} {self.remark(line)}".rstrip() for line in [*self.code.heading(), "", *uses]
        ]

    def head(self, function: form.Function) -> str:
        """The first line of a function."""
        row = self.name("row")
        parameters = [self.parameters.get(kind, "{}").format(n, row=row) for n, kind in function.parameters]
        return self.signature.format(
            access="public" if function.name in PUBLIC else "private",
            returns={None: "void", "answer": self.answer_type()}.get(function.returns, function.returns),
            name=self.name(function.name),
            parameters=", ".join(parameters),
        )

    def answer_type(self) -> str:
        """The type of a prediction, in a language that declares it."""
        return ""

    def function(self, function: form.Function) -> list[str]:
        """The lines of a function."""
        remark = self.comment_lines(function.remark)
        return [*remark, self.head(function), *self.block(function.body), *self.block_end]

    def table(self, table: form.Table) -> Iterator[str]:
        """A constant array."""
        items = [number(v, self.infinity) if table.type == "double" else str(v) for v in table.values]
        yield from self.constant(table.type, self.name(table.name), items)

    def constant(self, type: str, name: str, items: list[str]) -> Iterator[str]:
        """An array of constants of a type: int, byte or double, or empty for labels."""
        start, end = self.constants
        yield from array_lines(start.format(type=type, name=name), items, end)

    def lines(self, program: form.Program) -> Iterator[str]:
        """All tables and functions, an empty line before each function."""
        for table in program.tables:
            yield from self.comment_lines(escape(table.remark)) if table.remark else []
            yield from self.table(table)
        for function in program.functions:
            yield from ["", *self.function(function)]


def array_lines(start: str, items: list[str], end: str, indent: str = "") -> Iterator[str]:
    """An array of constants on one line, or on several."""
    one = f"{indent}{start}{', '.join(items)}{end}" if len(items) <= 20 else ""
    if one and len(one) <= 100:
        yield one
    else:
        yield from [f"{indent}{start}", *fill_lines(items, f"{indent}    "), f"{indent}{end}"]
