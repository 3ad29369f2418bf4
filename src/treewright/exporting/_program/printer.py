"""Prints a program in a language with braces; a language overrides what it spells in its own way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

from treewright._text import escape
from treewright.exporting._program.form import (
    Among,
    Block,
    Call,
    Choice,
    Constant,
    Demand,
    Do,
    Expression,
    For,
    Function,
    If,
    Item,
    Known,
    Let,
    Name,
    Not,
    Operation,
    Program,
    ReadVariables,
    Return,
    Set,
    Statement,
    Table,
    Value,
    While,
)
from treewright.exporting._tree import Code, filled, number

_PRECEDENCE = {"or": 1, "and": 2, "<": 4, "<=": 4, ">": 4, ">=": 4, "==": 4, "!=": 4, "+": 5, "-": 5, "*": 6}


class Printer(ABC):
    """Spells tables, functions, statements and expressions."""

    infinity: ClassVar[str] = "Infinity"
    truths: ClassVar[tuple[str, str]] = ("false", "true")
    operators: ClassVar[dict[str, str]] = {"and": "&&", "or": "||"}
    equality: ClassVar[tuple[str, str]] = ("==", "!=")
    no_category: ClassVar[str] = "-1"  # a missing category in a nested program
    comment: ClassVar[str] = "//"
    types: ClassVar[dict[str, str]] = {}  # how a declaration begins
    reserved: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, code: Code) -> None:
        self.code = code
        self.variables = code.variables(self.reserved)

    # ---- what a language must say ------------------------------------------------------------------------

    @abstractmethod
    def literal(self, label: Any) -> str:
        """A text, or a class or category of another type."""

    @abstractmethod
    def signature(self, function: Function) -> str:
        """The first line of a function, with its opening brace."""

    @abstractmethod
    def table(self, table: Table) -> Iterator[str]:
        """A constant array."""

    @abstractmethod
    def read_variables(self) -> Iterator[str]:
        """The variables of a nested program, of columns and sums."""

    @abstractmethod
    def answer(self, values: list[str]) -> str:
        """The prediction from the class code or number for each target."""

    @abstractmethod
    def array(self, statement: Let) -> str:
        """The declaration of an array of zeros."""

    def fail(self, message: str) -> str:
        """The statement that refuses a row with a message."""
        raise NotImplementedError

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

    def is_category(self, feature: int) -> bool:
        """Whether a column holds categories."""
        return self.code.tree.tested[feature].kind == "category"

    def remark(self, text: str) -> str:
        """A text within a comment, which nothing in it may end."""
        return text

    # ---- expressions -------------------------------------------------------------------------------------

    def expression(self, of: Expression, around: int = 0) -> str:
        """An expression, in brackets where the operator around it would take it apart."""
        match of:
            case Constant(bool(value)):
                return self.truths[value]
            case Constant(value):
                return number(value, self.infinity) if isinstance(value, float) else str(value)
            case Name(name):
                return self.constant_name(name)
            case Item(array, index):
                return self.item(array, self.expression(index))
            case Value(feature):
                return self.variable(feature)
            case Known(feature, negated):
                return self.known(feature, negated)
            case Among():
                return self.among(of)
            case Not(operand):
                return self.opposite(self.expression(operand))
            case Choice(condition, then, otherwise):
                text = self.choice(self.expression(condition, 3), self.expression(then, 3), otherwise)
                return f"({text})" if around else text
            case Call(function, arguments):
                return self.call(function, [self.expression(each) for each in arguments])
            case Operation(operator, left, right):
                rank = _PRECEDENCE.get(operator, 9)  # bits always stand in brackets
                sides = self.expression(left, rank), self.expression(right, rank + 1)
                text = f"{sides[0]} {self.operators.get(operator, operator)} {sides[1]}"
                return f"({text})" if around and (around > rank or rank == 9 or around == 9) else text

    def constant_name(self, name: str) -> str:
        """A local variable, or NaN."""
        return "NaN" if name == "nan" else name

    def item(self, array: str, index: str) -> str:
        """An element of an array or table."""
        is_local = array in ("values", "mixed", "found", "total", "waiting", "part_waiting")
        return f"{array if is_local else self.name(array)}[{index}]"

    def known(self, feature: int, negated: bool) -> str:
        """Whether a value is there; a missing number is NaN."""
        name, equal, unequal = self.variable(feature), *self.equality
        if self.is_category(feature):
            return f"{name} {equal if negated else unequal} {self.no_category}"
        return f"{name} {unequal if negated else equal} {name}"

    def among(self, test: Among) -> str:
        """Whether a category, here a code, is one of some."""
        name, operator = self.variable(test.feature), self.equality[test.negated]
        values = [-1] * test.missing + list(test.codes)
        joint = self.operators["and" if test.negated else "or"]
        text = f" {joint} ".join(f"{name} {operator} {value}" for value in values)
        return f"({text})" if len(values) > 1 else text

    def opposite(self, operand: str) -> str:
        """The opposite of a condition."""
        return f"!({operand})"

    def choice(self, condition: str, then: str, otherwise: Expression) -> str:
        """One of two values."""
        return f"{condition} ? {then} : {self.expression(otherwise)}"

    def call(self, function: str, arguments: list[str]) -> str:
        """A call of a function of the program, or of a built-in one."""
        if function == "plus":
            total, part, factor = arguments
            return f"{total} + {part} * {f'({factor})' if ' ' in factor else factor}"
        if function == "answer":
            return self.answer(arguments)
        return f"{self.name(function)}({', '.join(arguments)})"

    # ---- statements --------------------------------------------------------------------------------------

    def statement(self, of: Statement, indent: str) -> Iterator[str]:
        """The lines of a statement."""
        inner = indent + "    "
        match of:
            case Let(type, name, value):
                text = (
                    self.array(of)
                    if type in ("ints", "doubles")
                    else self.let(type, name, self.expression(value))
                )
                yield from [f"{indent}{text}"] if text else []
            case Set(target, value):
                yield f"{indent}{self.expression(target)} = {self.expression(value)};"
            case If():
                yield from self.branches(of, indent)
            case While(condition, body):
                yield from [
                    f"{indent}while ({self.expression(condition)}) {{",
                    *self.block(body, inner),
                    f"{indent}}}",
                ]
            case For(name, start, stop, body):
                head = f"{self.types.get('index', 'let')} {name} = {self.expression(start)}"
                yield f"{indent}for ({head}; {name} < {self.expression(stop)}; ++{name}) {{"
                yield from [*self.block(body, inner), f"{indent}}}"]
            case Return(value, remark):
                text = "return;" if value is None else f"return {self.expression(value)};"
                yield f"{indent}{text}{self.after(remark)}"
            case Do(call):
                yield f"{indent}{self.expression(call)};"
            case ReadVariables():
                yield from (f"{indent}{line}" for line in self.read_variables())
            case Demand(missing):
                for feature, condition in missing:
                    yield f"{indent}if ({self.expression(condition)}) {self.fail(self.refusal(feature))}"

    def let(self, type: str, name: str, value: str) -> str:
        """The declaration of a variable."""
        return f"{self.types[type]} {name} = {value};"

    def branches(self, of: If, indent: str) -> Iterator[str]:
        """An if with its else; an if that is all there is in an else continues it."""
        start = "if"
        while True:
            condition = self.expression(of.condition)
            yield f"{indent}{start} ({condition}) {{{self.after(of.remark)}"
            yield from self.block(of.then, indent + "    ")
            if len(of.otherwise) != 1 or not isinstance(of.otherwise[0], If):
                break
            start, of = "} else if", of.otherwise[0]
        if of.otherwise:
            yield from [f"{indent}}} else {{", *self.block(of.otherwise, indent + "    ")]
        yield f"{indent}}}"

    def block(self, statements: Block, indent: str) -> Iterator[str]:
        """The lines of several statements."""
        for statement in statements:
            yield from self.statement(statement, indent)

    def after(self, remark: str) -> str:
        """A comment at the end of a line."""
        return f"  {self.comment} {self.remark(remark)}" if remark else ""

    def refusal(self, feature: int) -> str:
        """Why a row that lacks a value is refused."""
        name = self.code.tree.tested[feature].name
        lack = f"{name} has no value" if feature in self.code.sums else f"column {name} is missing"
        return f"{lack}, and this tree takes complete rows only"

    # ---- the whole ---------------------------------------------------------------------------------------

    def comment_lines(self, text: str) -> list[str]:
        """A comment of as many lines as it takes."""
        lines, line = [], ""
        for each in self.remark(text).split(" "):
            if len(line) + len(each) > 96:
                lines.append(line)
                line = ""
            line += f" {each}"
        return [f"{self.comment}{line}" for line in [*lines, line]]

    def heading(self, *uses: str) -> list[str]:
        """What the program is, as comments."""
        return [f"{self.comment} {self.remark(line)}".rstrip() for line in [*self.code.heading(), "", *uses]]

    def function(self, function: Function) -> list[str]:
        """The lines of a function."""
        remark = self.comment_lines(function.remark)
        return [*remark, self.signature(function), *self.block(function.body, "    "), "}"]

    def lines(self, program: Program) -> Iterator[str]:
        """All tables and functions, an empty line before each function."""
        for table in program.tables:
            yield from self.comment_lines(escape(table.remark)) if table.remark else []
            yield from self.table(table)
        for function in program.functions:
            yield from ["", *self.function(function)]


def array_lines(start: str, items: list[str], end: str) -> Iterator[str]:
    """An array of constants on one line, or on several."""
    one = f"{start}{', '.join(items)}{end}" if len(items) <= 20 else ""
    if one and len(one) <= 100:
        yield one
    else:
        yield from [start, *filled(items), end]
