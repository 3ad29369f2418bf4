"""A tree as a C header (C99 and C++) that needs the standard library only."""

from __future__ import annotations

import ctypes
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treewright.encoding.kinds import MISSING_CODE as MISSING
from treewright.encoding.kinds import UNSEEN_CODE as UNSEEN
from treewright.encoding.schema import Column, Target
from treewright.exporting import _tree
from treewright.exporting._check.running import engine, run
from treewright.exporting._program.form import Demand, Expression, Function, Name
from treewright.exporting._program.lowering import lower
from treewright.exporting._program.printer import Printer, array_lines
from treewright.exporting._program.row_printer import program_code
from treewright.exporting._tree import Code, Style
from treewright.tree import Tree

SUFFIXES = (".h",)
_FLAGS = ("-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC")
_DEEPEST = 10_000  # tests in a row where rows are divided: the nodes still to visit lie on the stack
_RESERVED = _tree.words(
    """alignas alignof and and_eq asm atomic_cancel auto bitand bitor bool break case catch char char8_t
    char16_t char32_t class co_await co_return co_yield compl concept const const_cast consteval
    constexpr constinit continue decltype default delete do double dynamic_cast else enum errno explicit
    export extern false far float for friend goto i386 if inline int interface linux long mutable
    namespace near new noexcept not not_eq nullptr operator or or_eq private protected public reflexpr
    register reinterpret_cast requires restrict return short signed sizeof small static static_assert
    static_cast stderr stdin stdout struct switch synchronized template this thread_local throw true try
    typedef typeid typename typeof union unix unsigned using virtual void volatile wchar_t while xor
    xor_eq NULL NAN INFINITY EOF TRUE FALSE"""
)


def render(tree: Tree, *, name: str = "treewright", target: str | None = None, style: Style = "auto") -> str:
    """A header with `treewright_predict(&row)`, and for classes `treewright_predict_proba(&row, shares)`.

    The columns that the tree reads are the members of `treewright_row`: a double for a number (missing: NAN)
    or a time (microseconds since 1970), a code for a category, which `treewright_code_…(value)` finds.
    Classes are codes, too; `treewright_class(code)` is the label. Where the tree takes complete rows only,
    the prediction for others is -1 or NAN. `name` replaces treewright in all names; `target` selects one of
    several targets; `style` is as for Python.

    >>> from treewright import encode, grow
    >>> tree = grow(encode({"petal": [1.4, 4.7, 6.0]}, ["setosa", "virginica", "virginica"]))
    >>> program = render(tree)
    >>> print(program[program.index("static inline int") : program.index("/* adds")].rstrip())
    static inline int treewright_leaf(const treewright_row *row)
    {
        if (row->petal <= 3.0) {
            return 0;  /* setosa: 1 row, 100 % */
        } else {
            return 1;  /* virginica: 2 rows, 100 % */
        }
    }
    """
    code = program_code(tree, name, "name", _RESERVED)
    _tree.check_nul(code, "C")
    _tree.check_integers(code, "C")
    place = _tree.one_target(code, target)
    if _tree.divides(tree) and tree.depth > _DEEPEST:
        raise ValueError(
            f"in c a tree that divides rows (missing='fractional') goes to {_DEEPEST:,} tests in a row, and "
            f"this one has {tree.depth:,}: prune it, or export it as python, javascript or json"
        )
    program = lower(code, style, [place], raises=False)
    printer = _C(code, name)
    what = "the code of its class" if code.predicts_classes else "its number"
    uses = ["", f"  {name}_row row = {{ … }};   the values of a row", f"  {name}_predict(&row)       {what}"]
    lines = ["/*", *(f" * {printer.remark(line)}".rstrip() for line in [*code.heading(), *uses]), " */"]
    lines += [f"#ifndef {name.upper()}_H", f"#define {name.upper()}_H", ""]
    lines += ["#include <math.h>", "#include <string.h>", ""]
    members = _members(code)
    lines += [*_row(code, name, members), "", *_code_functions(code, name, members), *_sums(code, name)]
    if code.predicts_classes:
        lines += [f"enum {{ {name}_n_classes = {len(code.targets[place].classes or ())} }};", ""]
    body = list(printer.lines(program))
    lines += printer.value() if any(f"{name}_value(" in line for line in body) else []
    lines += _PLUS.format(name=name).splitlines() if any(f"{name}_plus(" in line for line in body) else []
    lines += body
    lines += ["", *_class(code.targets[place], name)] if code.predicts_classes else []
    return "\n".join([*lines, "", "#endif"]) + "\n"


_PLUS = """\
/* a sum and one more product, which is stored, so that no compiler fuses the two */
static inline double {name}_plus(double total, double part, double factor)
{{
    volatile double product = part * factor;
    return total + product;
}}

"""


class _C(Printer):
    """C, whose values are members of a struct and whose categories are codes."""

    infinity = "INFINITY"
    nan = "NAN"
    truths = ("0", "1")
    to_int = "(int){}"
    plus = ""
    is_finite = "isfinite({})"
    number_known = ("!isnan({})", "isnan({})")
    types: ClassVar[dict[str, str]] = {"int": "int", "double": "double"}
    array = "{type} {name}[{size}] = {{{zero}}};"
    signature = "static inline {returns} {name}({parameters})\n{{"
    parameters: ClassVar[dict[str, str]] = {
        **dict.fromkeys(("row", "values"), "const {row} *row"),
        **{"int": "int {}", "double": "double {}", "doubles": "double *{}"},
    }
    comment = ("/*", " */")
    reserved = _RESERVED

    def __init__(self, code: Code, prefix: str) -> None:
        super().__init__(code)
        self.prefix = prefix

    def name(self, name: str) -> str:
        """All names begin alike."""
        return f"{self.prefix}_{'predict_proba' if name == 'shares' else name}"

    def variable(self, feature: int) -> str:
        name = self.variables[feature]
        return name if feature in self.code.sums else f"row->{name}"

    def remark(self, text: str) -> str:
        return _safe(text)

    def literal(self, label: Any) -> str:
        return _text(label)

    def answer_type(self) -> str:
        return "int" if self.code.predicts_classes else "double"

    def function(self, function: Function) -> list[str]:
        """The lines of a function; a tree that needs no column ignores the row."""
        lines = super().function(function)
        uses_row = any("row->" in line or "(row" in line for line in self.block(function.body))
        if function.parameters[0][0] == "row" and not uses_row:
            lines.insert(len(lines) - 1 - len(self.block(function.body)), "    (void)row;")
        return lines

    def constant(self, type: str, name: str, items: list[str]) -> Iterator[str]:
        """An array, which in C has an element at least."""
        kind = "unsigned char" if type == "byte" else type
        yield from array_lines(f"static const {kind} {name}[] = {{", items or ["0"], "};")

    def value(self) -> list[str]:
        """A column or sum by its place, of a category its code."""
        lines = ["/* the value of a column in use, or of a sum; of a category its code */"]
        lines += [f"static inline double {self.prefix}_value(const {self.prefix}_row *row, int column)", "{"]
        lines.append("    switch (column) {")
        for place, j in enumerate([*self.code.used, *self.code.sums]):
            text, column = self.variable(j), self.code.tree.tested[j]
            if j in self.code.sums:
                text = f"{self.name(text)}(row)"
            if column.is_category:
                text = f"{text} < {len(column.categories)} ? {text} : {UNSEEN}"
            lines.append(f"    case {place}: return {text};")
        return [*lines, "    default: return NAN;", "    }", "}", ""]

    def read_variables(self) -> Iterator[str]:
        for j in self.code.sums:
            yield f"const double {self.variables[j]} = {self.name(self.variables[j])}(row);"

    def answer(self, values: list[str]) -> str:
        return values[0]

    def let(self, type: str, name: str, value: str) -> Iterator[str]:
        """A variable; the values of a row are the row itself."""
        if type != "values":
            yield from super().let(type, name, value)

    def expression(self, of: Expression, around: int = 0) -> str:
        """An expression, with the row in place of its values."""
        return "row" if of == Name("values") else super().expression(of, around)

    def item(self, array: str, index: str) -> str:
        return f"{self.prefix}_value(row, {index})" if array == "values" else super().item(array, index)

    def call(self, function: str, arguments: list[str]) -> str:
        """A call, or the answer to a row that lacks a value."""
        if function == "nothing":
            return "-1" if self.code.predicts_classes else "NAN"
        return super().call(function, arguments)

    def demand(self, of: Demand) -> Iterator[str]:
        """A row that lacks a value has no leaf."""
        tests = " || ".join(self.expression(condition) for _, condition in of.missing)
        yield f"if ({tests}) return -1;  /* a value is missing */"


def answers(rendered: str, tree: Tree, table: dict[str, Any], **options: Any) -> NDArray[Any]:
    """The predictions of the header for the rows of a table, compiled and run."""
    compiler = engine("compiles C", "cc", "gcc", "clang")
    code, name = Code(tree), options.get("name", "treewright")
    place = _tree.one_target(code, options.get("target"))
    members = _members(code)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "tree.h").write_text(rendered, encoding="utf-8")
        source, library = Path(folder, "run.c"), Path(folder, "run.so")
        source.write_text(_runner(code, name, place, members), encoding="utf-8")
        run([compiler, *_FLAGS, source, "-o", library, "-lm"], "the c export does not compile")
        return _tree.label_array(tree, _run(ctypes.CDLL(str(library)), code, place, table))


def _run(library: Any, code: Code, place: int, table: dict[str, Any]) -> list[Any]:
    """The answers of the compiled program, as labels or numbers."""
    n = len(next(iter(table.values())))
    columns = [_encode(library, k, column, table[column.name]) for k, column in enumerate(code.columns)]
    pointers = (ctypes.c_void_p * max(len(columns), 1))(*(array.ctypes.data for array in columns))
    found = np.empty(n, np.int32 if code.predicts_classes else np.float64)
    library.run(ctypes.c_size_t(n), pointers, found.ctypes.data_as(ctypes.c_void_p))
    if not code.predicts_classes:
        return list(found.tolist())
    classes = code.targets[place].classes or ()
    library.label.restype = _TYPES[_tree.label_type(classes)].ctype
    labels = [library.label(k) for k in range(len(classes))]
    if isinstance(classes[0], str):
        labels = [label.decode("utf-8", "surrogatepass") for label in labels]
    elif isinstance(classes[0], bool):
        labels = list(map(bool, labels))
    return [labels[k] for k in found.tolist()]


def _encode(library: Any, k: int, column: Column, values: Any) -> NDArray[Any]:
    """A column as the program reads it, with codes of categories from the program itself."""
    if not column.is_category:
        return np.array([np.nan if value is None else value for value in _tree.plain(values)], np.float64)
    function = getattr(library, f"code_{k}")
    function.argtypes = [_type_of(column).ctype]
    codes = {None: MISSING}
    for value in set(values) - {None}:
        is_text = isinstance(value, str)
        codes[value] = function(value.encode("utf-8", "surrogatepass") if is_text else value)
    return np.array([codes[value] for value in values], np.int32)


_RUNNER = """\
#include "tree.h"
{functions}
void run(size_t n, const void *const *columns, {answer} *found) {{
    size_t i; {name}_row row; memset(&row, 0, sizeof row); (void)columns;
    for (i = 0; i < n; ++i) {{
        {cells}
        found[i] = {name}_predict(&row);
    }}
}}
"""


def _runner(code: Code, name: str, place: int, members: list[str]) -> str:
    """A program around the header that `answers` can call."""
    functions, cells = list[str](), list[str]()
    for k, (column, member) in enumerate(zip(code.columns, members, strict=True)):
        if column.is_category:
            value = f"{_type_of(column).name}value"
            functions.append(f"int code_{k}({value}) {{ return {name}_code_{member}(value); }}")
        kind = "int" if column.is_category else "double"
        cells.append(f"row.{member} = ((const {kind} *)columns[{k}])[i];")
    if code.predicts_classes:
        label = _TYPES[_tree.label_type(code.targets[place].classes or ())].name
        functions.append(f"{label} label(int code) {{ return {name}_class(code); }}")
    answer = "int" if code.predicts_classes else "double"
    parts = {"functions": "\n".join(functions), "cells": " ".join(cells)}
    return _RUNNER.format(name=name, answer=answer, **parts)


# ---- rows and labels ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Type:
    """A type of categories or classes."""

    name: str
    ctype: Any
    missing: str = ""  # the condition for a missing value
    order: str = "(value > values[middle]) - (value < values[middle])"
    literal: Callable[[Any], str] = str


def _members(code: Code) -> list[str]:
    return list(code.variables(_RESERVED).values())[: len(code.used)]


def _sums(code: Code, name: str) -> Iterator[str]:
    """A function for each sum of columns; volatile, so that no compiler fuses its operations."""
    names = code.variables(_RESERVED)
    for j in code.sums:
        (first, weight), *others = code.terms(j)
        yield f"/* {_comment(code.tree.tested[j].name)} */"
        yield from [f"static inline double {name}_{names[j]}(const {name}_row *row)", "{"]
        yield f"    volatile double sum = {weight!r} * row->{names[first]}, part;"
        for column, weight in others:
            yield f"    part = {weight!r} * row->{names[column]}; sum = sum + part;"
        yield from ["    return sum;", "}", ""]


def _row(code: Code, name: str, members: list[str]) -> Iterator[str]:
    """The type of a row."""
    units = {"number": "a number", "time": "microseconds since 1970"}
    yield "typedef struct {"
    for column, member in zip(code.columns, members, strict=True):
        words = _comment(column.name)
        if column.is_category:
            yield f"    int {member};  /* {words}: {name}_code_{member}(value); {MISSING} is missing */"
        else:
            yield f"    double {member};  /* {words}: {units[_tree.family(column)]}; NAN is missing */"
    if not members:
        yield "    int nothing;  /* no column is read */"
    yield f"}} {name}_row;"


_CODE = """\
/* the code of a category of {words}; {UNSEEN} if it was never seen */
static inline int {name}_code_{member}({type.name}value)
{{
{values}
{codes}
    int low = 0, high = {count};
{check}    while (low < high) {{
        const int middle = low + (high - low) / 2;
        const int order = {type.order};
        if (order == 0) return codes[middle];
        if (order < 0) high = middle; else low = middle + 1;
    }}
    return {UNSEEN};
}}

"""


def _code_functions(code: Code, name: str, members: list[str]) -> Iterator[str]:
    """For each category a function that finds the code of a value: a search by halves."""
    for column, member in zip(code.columns, members, strict=True):
        if not column.is_category:
            continue
        type, categories = _type_of(column), column.categories
        keys: list[Any] = [
            c.encode("utf-8", "surrogatepass") if isinstance(c, str) else c for c in categories
        ]
        order = sorted(range(len(keys)), key=keys.__getitem__)
        values = "\n".join(_constants(type, "values", [categories[k] for k in order]))
        codes = "\n".join(_constants(_TYPES["bool"], "codes", order))
        check = f"    if ({type.missing}) return {MISSING};\n" if type.missing else ""
        parts = {"words": _comment(column.name), "count": len(order), "UNSEEN": UNSEEN, "name": name}
        text = _CODE.format(**parts, member=member, type=type, values=values, codes=codes, check=check)
        yield from text.splitlines()


def _constants(type: _Type, name: str, labels: Sequence[Any]) -> Iterator[str]:
    """A table of labels within a function."""
    start = type.name.replace("*", "*const ") if "*" in type.name else f"const {type.name}"
    return array_lines(f"static {start}{name}[] = {{", list(map(type.literal, labels)), "};", "    ")


def _class(target: Target, name: str) -> Iterator[str]:
    type = _TYPES[_tree.label_type(target.classes or ())]
    yield "/* the label of a class */"
    yield from [f"static inline {type.name}{name}_class(int code)", "{"]
    yield from _constants(type, "labels", target.classes or ())
    yield from ["    return labels[code];", "}"]


def _text(text: str) -> str:
    """A text as UTF-8, without trigraphs; escapes have three digits, so that none continues them."""
    encoded = text.encode("utf-8", "surrogatepass").decode("latin-1")
    plain_ones = frozenset(chr(c) for c in range(32, 127)) - frozenset('"\\?')
    return _tree.quote_text(
        encoded, '"', lambda c: f"\\{c}" if c in '"\\?' else f"\\{ord(c):03o}", plain_ones.__contains__
    )


_TYPES = {
    "text": _Type("const char *", ctypes.c_char_p, "value == NULL", "strcmp(value, values[middle])", _text),
    "float": _Type(
        "double ", ctypes.c_double, "value != value", literal=lambda x: _tree.number(float(x), "INFINITY")
    ),
    "integer": _Type("long long ", ctypes.c_longlong, literal=lambda x: f"{int(x)}LL"),
    "bool": _Type("int ", ctypes.c_int, literal=lambda x: str(int(x))),
}


def _type_of(column: Column) -> _Type:
    """The type of the categories of a column, bools being integers."""
    kind = _tree.label_type(column.categories)
    return _TYPES["integer" if kind == "bool" else kind]


def _comment(text: str) -> str:
    """A text of the user within a comment."""
    return _safe(_tree.remark(text))


def _safe(text: str) -> str:
    """A text without marks of comments and without trigraphs."""
    return re.sub(r"\*(?=/)|/(?=\*)|\?(?=\?)", r"\g<0> ", text)
