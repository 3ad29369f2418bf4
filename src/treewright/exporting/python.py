"""A tree as a Python module that needs nothing but Python: `predict(row)` for a dict of values."""

from __future__ import annotations

import keyword
from collections.abc import Iterator
from typing import Any, ClassVar

from numpy.typing import NDArray

from treewright.exporting._program.form import Among, Function, Table
from treewright.exporting._program.printer import array_lines
from treewright.exporting._program.row_printer import RowPrinter, is_function, program_code
from treewright.exporting._tree import Style, family, fill_lines, label_array, number, plain
from treewright.tree import Tree

SUFFIXES = (".py",)
_MANY = 200  # numbers of a table
_BUILT_IN = ("leaf", "float", "str", "int", "type", "getattr")  # no name for `predict`


def render(tree: Tree, *, function: str = "predict", style: Style = "auto") -> str:
    """A module with `predict(row)` and, for classes, `predict_proba(row)`; `row` is a dict of values.

    A value that is None, NaN or not there is missing (ValueError, if the tree takes complete rows only); a
    text where a number is expected is an error. Times
    are datetimes, dates or microseconds since 1970. Of several targets the predictions are a tuple.

    `function` is another name for `predict`. A tree that a person can read is written as nested tests, a
    large one as tables and a loop; `style` says which ("nested" or "tables") if not by its size ("auto").

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
    """The predictions of the module for the rows of a table."""
    module: dict[str, Any] = {}
    exec(compile(rendered, "<exported tree>", "exec"), module)
    predict = module[options.get("function", "predict")]
    columns = {name: plain(values) for name, values in table.items()}
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    found = [predict(row) for row in rows]
    return label_array(tree, found)


class _Python(RowPrinter):
    """Python, whose blocks are indented and whose categories are compared by their names."""

    language = "python"
    infinity = "1e999"  # a literal that is too large: Python reads it as infinity
    truths = ("False", "True")
    operators: ClassVar[dict[str, str]] = {}
    negation = "not {}"
    choice = "{1} if {0} else {2}"
    is_finite = "{0} - {0} == 0"
    category_known = ("{} is not None", "{} is None")
    no_category = "None"
    end = ""
    block_end = ()
    if_else = ("if {}:", "elif {}:", "else:")
    while_loop = "while {}:"
    for_loop = "for {} in range({}, {}):"
    array = "{name} = [{zero}] * {size}"
    refuse = "if {condition}:\n    raise ValueError({message})"
    signature = "def {name}({parameters}):"
    comment = ("#", "")
    reserved = frozenset([*keyword.kwlist, "row"])
    gap: ClassVar[list[str]] = ["", ""]
    classes_name = "CLASSES"
    codes = "{codes} = {{name: code for code, name in enumerate({categories})}}"
    added_sum = "values.append({})"
    shares = (
        "dict(zip(CLASSES, found))",
        "found[{}:{}]",
        "[dict(zip(*both)) for both in zip(CLASSES, ({}))]",
    )

    def name(self, name: str) -> str:
        return super().name(name) if is_function(name) else f"_{name.upper()}"

    def text(self, label: str) -> str:
        return repr(label)

    def function(self, function: Function) -> list[str]:
        """A function with its docstring, after two empty lines."""
        remark = f'    """{function.remark[0].upper()}{function.remark[1:]}."""'
        return ["", self.head(function), remark, *self.block(function.body)]

    def table(self, table: Table) -> Iterator[str]:
        """A tuple; of many numbers it is made from a text, which Python reads many times faster."""
        name = self.name(table.name)
        if table.name == "bits":
            text = bytes(table.values).hex()
            yield f"{name} = bytes.fromhex("
            yield from (f'    "{text[i : i + 96]}"' for i in range(0, max(len(text), 1), 96))
            yield ")"
        elif len(table.values) > _MANY:
            items = [number(v, self.infinity) if table.type == "double" else str(v) for v in table.values]
            yield f'{name} = tuple(map({"float" if table.type == "double" else "int"}, """'
            yield from (line.replace(",", "") for line in fill_lines(items))
            yield '""".split()))'
        else:
            yield from super().table(table)

    def constant(self, type: str, name: str, items: list[str]) -> Iterator[str]:
        yield from array_lines(f"{name} = (", items, ",)" if len(items) == 1 else ")")

    def sequence(self, values: list[str]) -> str:
        return f"({', '.join(values)}{',' if len(values) == 1 else ''})"

    def among(self, test: Among, around: int) -> str:
        operator = "not in" if test.negated else "in"
        return f"{self.variable(test.feature)} {operator} {{{', '.join(self.members(test))}}}"

    def condition_remark(self, remark: str, condition: str) -> str:
        """The words for a condition, unless Python reads like them."""
        return "" if remark.endswith(condition.replace("'", "")) else remark
