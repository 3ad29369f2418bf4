"""The intermediate form of a program: constant tables, and functions of a few statements and expressions.

Values are integers, doubles and arrays of them. Every expression but the tests of splits is one that all
languages have; `functions` reads such functions from a subset of Python, in which the fixed parts of a
program are written once (lowering.py).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, dataclass_transform

Type = Literal["int", "double", "row", "values", "ints", "doubles"]


@dataclass_transform(frozen_default=True)
class Form:
    """A part of a program: its annotated fields make it a frozen dataclass."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)


# ---- expressions -------------------------------------------------------------------------------------------


class Constant(Form):
    """A double, an integer or a truth value."""

    value: float | int | bool


class Name(Form):
    """A variable or parameter."""

    name: str


class Item(Form):
    """An element of a constant table or of an array."""

    array: str
    index: Expression


class Operation(Form):
    """Arithmetic on doubles or integers, bits, a comparison, `and` or `or`."""

    operator: str
    left: Expression
    right: Expression


class Not(Form):
    """The opposite of a condition."""

    operand: Expression


class Choice(Form):
    """One of two values."""

    condition: Expression
    then: Expression
    otherwise: Expression


class Call(Form):
    """A call of a function of the program, or of a built-in one.

    Built in are `isnan`, `isfinite`, `int`; `plus(a, b, c)`, which is a + b * c with the product rounded
    before it is added; `read(row)`, the encoded values of a row; `complete(row)`, which refuses a row that
    lacks a value that some test needs; `answer(…)`, the prediction from a class
    code or number for each target; and `nothing()`, the prediction of a language without exceptions for an
    incomplete row.
    """

    function: str
    arguments: tuple[Expression, ...]


class Value(Form):
    """The value of a column, or of a weighted sum of columns, of a row."""

    feature: int


class Known(Form):
    """Whether the value of a column or sum is there; `negated`: whether it is missing."""

    feature: int
    negated: bool = False


class Among(Form):
    """Whether a category is one of some, given by their codes; `missing` adds missing values to these."""

    feature: int
    codes: tuple[int, ...]
    missing: bool = False
    negated: bool = False


Expression = Constant | Name | Item | Operation | Not | Choice | Call | Value | Known | Among

# ---- statements --------------------------------------------------------------------------------------------


class Let(Form):
    """A new variable; of an array the value is its length, and its elements are zero."""

    type: Type
    name: str
    value: Expression


class Set(Form):
    """An assignment."""

    target: Name | Item
    value: Expression


class If(Form):
    """Two ways on; `remark` puts the condition into words where the program text does not tell it."""

    condition: Expression
    then: Block
    otherwise: Block = ()
    remark: str = ""


class While(Form):
    """A loop with a condition."""

    condition: Expression
    body: Block


class For(Form):
    """A loop over the integers from `start` up to, but without, `stop`."""

    name: str
    start: Expression
    stop: Expression
    body: Block


class Return(Form):
    """The end of a function."""

    value: Expression | None
    remark: str = ""


class Do(Form):
    """A call of a procedure."""

    call: Call


class ReadVariables(Form):
    """Gives each column in use, and each sum, a variable of its own."""


class Demand(Form):
    """Refuses a row that lacks a value: for each column or sum, the condition under which it is missing."""

    missing: tuple[tuple[int, Expression], ...]


Statement = Let | Set | If | While | For | Return | Do | ReadVariables | Demand
Block = tuple[Statement, ...]


class Function(Form):
    """A function; `returns` is None for a procedure, "answer" for what users get."""

    name: str
    remark: str
    parameters: tuple[tuple[str, Type], ...]
    returns: Type | Literal["answer"] | None
    body: Block


class Table(Form):
    """A constant array of integers, bytes or doubles."""

    name: str
    type: Literal["int", "byte", "double"]
    values: Sequence[Any]
    remark: str = ""


class Program(Form):
    """Tables and functions, each after those that it calls."""

    tables: tuple[Table, ...]
    functions: tuple[Function, ...]


# ---- functions in a subset of Python -----------------------------------------------------------------------

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.BitAnd: "&", ast.BitXor: "^", ast.RShift: ">>",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.And: "and", ast.Or: "or",
}  # fmt: skip


def functions(text: str, **blocks: Block) -> tuple[Function, ...]:
    """The functions of a text; a statement that is only the name of one of `blocks` stands for that block.

    >>> functions("def f(x: int) -> int: return x + 1")[0].body
    (Return(value=Operation(operator='+', left=Name(name='x'), right=Constant(value=1)), remark=''),)
    """
    return tuple(_function(each, blocks) for each in ast.parse(text).body)


def _function(node: Any, blocks: dict[str, Block]) -> Function:
    parameters = tuple((each.arg, each.annotation.id) for each in node.args.args)
    returns = None if node.returns is None else node.returns.id
    has_remark = ast.get_docstring(node) is not None
    body = _block(node.body[has_remark:], blocks)
    return Function(node.name, ast.get_docstring(node) or "", parameters, returns, body)


def _block(nodes: list[Any], blocks: dict[str, Block]) -> Block:
    found: list[Statement] = []
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Name):
            found += blocks[node.value.id]
        else:
            found.append(_statement(node, blocks))
    return tuple(found)


def _statement(node: Any, blocks: dict[str, Block]) -> Statement:
    match type(node).__name__:
        case "AnnAssign":
            return Let(node.annotation.id, node.target.id, _expression(node.value))
        case "Assign":
            target = _expression(node.targets[0])
            assert isinstance(target, Name | Item)
            return Set(target, _expression(node.value))
        case "If":
            then, otherwise = _block(node.body, blocks), _block(node.orelse, blocks)
            return If(_expression(node.test), then, otherwise)
        case "While":
            return While(_expression(node.test), _block(node.body, blocks))
        case "For":
            start, stop = map(_expression, node.iter.args)
            return For(node.target.id, start, stop, _block(node.body, blocks))
        case "Return":
            return Return(None if node.value is None else _expression(node.value))
    call = _expression(node.value)
    assert isinstance(call, Call)
    return Do(call)


def _expression(node: Any) -> Expression:
    match type(node).__name__:
        case "Constant":
            return Constant(node.value)
        case "Name":
            return Name(node.id)
        case "Subscript":
            return Item(node.value.id, _expression(node.slice))
        case "UnaryOp":
            operand = _expression(node.operand)
            return Constant(-operand.value) if isinstance(operand, Constant) else Not(operand)
        case "IfExp":
            return Choice(_expression(node.test), _expression(node.body), _expression(node.orelse))
        case "Call":
            return Call(node.func.id, tuple(map(_expression, node.args)))
        case "Compare":
            left, right = node.left, node.comparators[0]
            return Operation(_OPERATORS[type(node.ops[0])], _expression(left), _expression(right))
        case "BoolOp":
            left, right = node.values
            return Operation(_OPERATORS[type(node.op)], _expression(left), _expression(right))
    return Operation(_OPERATORS[type(node.op)], _expression(node.left), _expression(node.right))
