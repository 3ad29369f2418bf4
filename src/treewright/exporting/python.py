"""A tree as a Python module that needs nothing but Python: `predict(row)` for a dict of values."""

from __future__ import annotations

import keyword
from collections.abc import Iterator
from typing import Any, ClassVar

from numpy.typing import NDArray

from treewright.exporting._program.form import (
    Among,
    Demand,
    Do,
    Expression,
    For,
    Function,
    If,
    Let,
    Return,
    Set,
    Statement,
    Table,
    While,
)
from treewright.exporting._program.row_printer import FUNCTIONS, RowPrinter, program_code
from treewright.exporting._tree import Style, family, filled, labelled, number, plain
from treewright.tree import Tree

_MANY = 200  # numbers of a table
_BUILT_IN = ("leaf", "float", "str", "int", "type", "getattr")  # no name for `predict`


def render(tree: Tree, *, function: str = "predict", style: Style = "auto") -> str:
    """A module with `predict(row)` and, for classes, `predict_proba(row)`; `row` is a dict of values.

    A value that is None, NaN or not there is missing (ValueError, if the tree takes complete rows only); a
    text where a number is expected is an error. Times
    are datetimes, dates or microseconds since 1970. Of several targets the answers are a tuple.

    `function` is another name for `predict`. A tree that a person can read is written as tests within tests,
    a large one as tables and a loop; `style` says which ("nested" or "tables") if not by its size ("auto").

    >>> from treewright import encode, grow
    >>> tree = grow(encode({"petal": [1.4, 4.7, 6.0]}, ["setosa", "versicolor", "virginica"]))
    >>> module = {}
    >>> exec(render(tree), module)
    >>> module["predict"]({"petal": 5.0})
    'versicolor'
    >>> module["predict_proba"]({"petal": 5.0})
    {'setosa': 0.0, 'versicolor': 1.0, 'virginica': 0.0}
    """
    code = program_code(tree, function, "function", {*_Python.reserved, *_BUILT_IN})
    printer = _Python(code, function)
    uses = printer.uses(f"{function}_proba", "a dict; a value that is None, NaN or not there")
    lines = [*printer.heading(*uses), ""]
    if any(family(column) in ("number", "time") for column in code.columns):
        lines += ["import datetime", ""]
    return "\n".join([*lines, *printer.body(style)]) + "\n"


def answers(rendered: str, tree: Tree, table: dict[str, Any], **options: Any) -> NDArray[Any]:
    """What the module answers to the rows of a table, by running it."""
    module: dict[str, Any] = {}
    exec(compile(rendered, "<exported tree>", "exec"), module)
    predict = module[options.get("function", "predict")]
    columns = {name: plain(values) for name, values in table.items()}
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    found = [predict(row) for row in rows]
    return labelled(tree, found)


_SOURCES = {
    "number": '''\
def _number(row, name):
    """The value of a column as a float; NaN where it is missing."""
    value = _value(row, name)
    if value is None:
        return float("nan")
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, (str, bytes)) or not hasattr(value, "__float__"):
        raise TypeError(f"column {name!r} must be a number, not {value!r}")
    if hasattr(value, "__index__") and abs(value) > 2**53:
        raise ValueError(f"column {name!r} is {value}, beyond 2^53, where floats skip whole numbers")
    return float(value)
''',
    "time": '''\
def _time(row, name):
    """The value of a column as microseconds since 1970; NaN where it is missing."""
    value = _value(row, name)
    if value is None:
        return float("nan")
    if isinstance(value, datetime.date):
        if not isinstance(value, datetime.datetime):
            value = datetime.datetime(value.year, value.month, value.day)
        if getattr(value, "nanosecond", 0):
            raise ValueError(f"column {name!r} is {value}, which is no whole number of microseconds")
        if value.tzinfo is not None:
            value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        value = (value - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)
    if isinstance(value, (str, bytes)) or not hasattr(value, "__float__"):
        raise TypeError(f"column {name!r} must be a time, or microseconds since 1970, not {value!r}")
    if float(value) != value:
        raise ValueError(f"column {name!r} is {value} microseconds, too far from 1970 to be exact")
    return float(value)
''',
    "text": '''\
def _text(row, name):
    """The value of a column as a text; None where it is missing."""
    value = _value(row, name)
    if value is None or isinstance(value, str):
        return value
    raise TypeError(f"column {name!r} must be a text, not {value!r}")
''',
    "name": '''\
def _name(row, name):
    """The value of a column whose categories are numbers or bools; None where it is missing."""
    value = _value(row, name)
    if value is None or not isinstance(value, (str, bytes)):
        return value
    raise TypeError(f"column {name!r} must be a number or a bool, not {value!r}")
''',
    "value": '''\
def _value(row, name):
    """The value of a column; None where it is missing."""
    value = row.get(name)
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if getattr(getattr(value, "dtype", None), "kind", None) in ("m", "M"):
        raise TypeError(f"column {name!r} is {value!r}; give a time of Python's datetime")
    return value if value == value else None
''',
    "code": '''\
def _code(value, codes):
    """-1 where it is missing, -2 where it was never seen."""
    return -1 if value is None else codes.get(value, -2)
''',
    "complete": '''\
def _complete(row):
    """ValueError where a value that some test needs is missing."""
    for name in (
        NAMES
    ):
        if _value(row, name) is None:
            raise ValueError(f"column {name!r} is missing, and this tree takes complete rows only")
''',
}


class _Python(RowPrinter):
    """Python, whose blocks are indented and whose categories are compared by their names."""

    infinity = "1e999"  # a literal that is too large: Python reads it as infinity
    truths = ("False", "True")
    operators: ClassVar[dict[str, str]] = {}
    no_category = "None"
    comment = "#"
    reserved = frozenset([*keyword.kwlist, "row"])
    gap: ClassVar[list[str]] = ["", ""]
    classes_name = "CLASSES"
    sources = _SOURCES

    def name(self, name: str) -> str:
        """Public functions, private ones, and tables in capitals."""
        is_function = name in FUNCTIONS or name.startswith("cheapest")
        return self.public.get(name) or (f"_{name}" if is_function else f"_{name.upper()}")

    def literal(self, label: Any) -> str:
        """A label as Python writes it."""
        return number(label, self.infinity) if isinstance(label, float) else repr(label)

    def signature(self, function: Function) -> str:
        """The first line of a function."""
        return f"def {self.name(function.name)}({', '.join(name for name, _ in function.parameters)}):"

    def function(self, function: Function) -> list[str]:
        """A function with its docstring, after two empty lines."""
        remark = f'    """{function.remark[0].upper()}{function.remark[1:]}."""'
        return ["", self.signature(function), remark, *self.block(function.body, "    ")]

    def classes(self) -> Iterator[str]:
        """The labels of the classes."""
        if self.code.predicts_classes:
            names = [list(map(self.literal, target.classes or ())) for target in self.code.targets]
            yield from _tuple_lines("CLASSES", names[0] if len(names) == 1 else list(map(_tuple, names)))

    def probabilities(self, width: int, parts: list[tuple[int, int]]) -> list[str]:
        """The share of each class as a dict, or one for each target."""
        lines = [f"def {self.public['predict']}_proba(row):", '    """The share of each class."""']
        lines += [f"    found = [0.0] * {width}", "    _shares(row, found)"]
        if len(parts) == 1:
            return [*lines, "    return dict(zip(CLASSES, found))"]
        slices = self.sequence([f"found[{a}:{b}]" for a, b in parts])
        return [*lines, f"    return [dict(zip(*both)) for both in zip(CLASSES, {slices})]"]

    def categories(self, place: int, keys: list[str]) -> Iterator[str]:
        """A tuple of categories, and a dict of their codes."""
        yield from _tuple_lines(f"_CATEGORIES_{place}", keys)
        yield f"_CODES_{place} = {{name: code for code, name in enumerate(_CATEGORIES_{place})}}"

    def read_function(self, values: list[str], sums: list[str]) -> Iterator[str]:
        """The values of a row as a tuple."""
        yield from [
            "def _read(row):",
            '    """The values in use; of a category its code."""',
            "    values = (",
        ]
        yield from (f"        {value}," for value in values)
        yield "    )"
        if sums:
            yield from ["    values += (", *(f"        {each}," for each in sums), "    )"]
        yield "    return values"

    def table(self, table: Table) -> Iterator[str]:
        """A tuple; of many numbers it is made from a text, which Python reads many times faster."""
        items = [number(v, self.infinity) if table.type == "double" else str(v) for v in table.values]
        name = self.name(table.name)
        if table.name == "bits":
            text = bytes(table.values).hex()
            yield f"{name} = bytes.fromhex("
            yield from (f'    "{text[i : i + 96]}"' for i in range(0, max(len(text), 1), 96))
            yield ")"
        elif len(items) > _MANY:
            yield f'{name} = tuple(map({"float" if table.type == "double" else "int"}, """'
            yield from (line.replace(",", "") for line in filled(items))
            yield '""".split()))'
        else:
            yield from _tuple_lines(name, items)

    def sequence(self, values: list[str]) -> str:
        """A tuple."""
        return _tuple(values)

    def array(self, statement: Let) -> str:
        """A list of zeros."""
        zero = "0" if statement.type == "ints" else "0.0"
        return f"{statement.name} = [{zero}] * {self.expression(statement.value)}"

    def let(self, type: str, name: str, value: str) -> str:
        """An assignment."""
        return f"{name} = {value}"

    def fail(self, message: str) -> str:
        """An exception."""
        return f"raise ValueError({message!r})"

    def known(self, feature: int, negated: bool) -> str:
        """A missing category is None."""
        if self.is_category(feature):
            return f"{self.variable(feature)} is {'' if negated else 'not '}None"
        return super().known(feature, negated)

    def among(self, test: Among) -> str:
        """Whether a category is in a set."""
        operator = "not in" if test.negated else "in"
        return f"{self.variable(test.feature)} {operator} {{{', '.join(self.members(test))}}}"

    def opposite(self, operand: str) -> str:
        """The opposite of a condition."""
        return f"not {operand}"

    def choice(self, condition: str, then: str, otherwise: Expression) -> str:
        """One of two values."""
        return f"{then} if {condition} else {self.expression(otherwise)}"

    def call(self, function: str, arguments: list[str]) -> str:
        """A call; built-in functions as expressions."""
        if function == "isnan":
            return f"{arguments[0]} != {arguments[0]}"
        if function == "isfinite":
            return f"{arguments[0]} - {arguments[0]} == 0"
        return super().call(function, arguments)

    def statement(self, of: Statement, indent: str) -> Iterator[str]:
        """Loops, assignments and refusals as Python writes them."""
        inner = indent + "    "
        match of:
            case Set(target, value):
                yield f"{indent}{self.expression(target)} = {self.expression(value)}"
            case While(condition, body):
                yield from [f"{indent}while {self.expression(condition)}:", *self.block(body, inner)]
            case For(name, start, stop, body):
                span = f"range({self.expression(start)}, {self.expression(stop)})"
                yield from [f"{indent}for {name} in {span}:", *self.block(body, inner)]
            case Demand(missing):
                for feature, condition in missing:
                    yield f"{indent}if {self.expression(condition)}:"
                    yield f"{inner}{self.fail(self.refusal(feature))}"
            case Return(value, remark):
                text = "return" if value is None else f"return {self.expression(value)}"
                yield f"{indent}{text}{self.after(remark)}"
            case Do(call):
                yield f"{indent}{self.expression(call)}"
            case _:
                yield from super().statement(of, indent)

    def branches(self, of: If, indent: str) -> Iterator[str]:
        """An if, elif and else; words that the condition tells as well are left out."""
        start = "if"
        while True:
            condition = self.expression(of.condition)
            is_told = of.remark.endswith(condition.replace("'", ""))
            yield f"{indent}{start} {condition}:{'' if is_told else self.after(of.remark)}"
            yield from self.block(of.then, indent + "    ")
            if len(of.otherwise) != 1 or not isinstance(of.otherwise[0], If):
                break
            start, of = "elif", of.otherwise[0]
        if of.otherwise:
            yield from [f"{indent}else:", *self.block(of.otherwise, indent + "    ")]


def _tuple(items: Any) -> str:
    text = ", ".join(items)
    return f"({text})" if "," in text else f"({text},)"


def _tuple_lines(name: str, items: list[str]) -> list[str]:
    one = f"{name} = {_tuple(items)}" if len(items) <= 20 else ""
    return [one] if one and len(one) <= 100 else [f"{name} = (", *filled(items), ")"]
