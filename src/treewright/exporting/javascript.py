"""A tree as JavaScript that needs nothing else, for Node and browsers: `predict(row)` for an object."""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.exporting._check.running import engine, run
from treewright.exporting._program.form import Among, Function, Let, Table
from treewright.exporting._program.printer import array_lines
from treewright.exporting._program.row_printer import RowPrinter, program_code
from treewright.exporting._tree import Code, Style, labelled, number, plain, quoted, words
from treewright.tree import Tree

Module = Literal["script", "esm"]
_SAFE = 2**53 - 1  # larger integers are BigInts
_RESERVED = words(
    """abstract arguments async await boolean break byte case catch char class const continue debugger
    default delete do double else enum eval export extends false final finally float for from function
    get goto if implements import in instanceof int interface let long module native new null of package
    private protected public return set short static super switch synchronized this throw throws
    transient true try typeof undefined var void volatile while with yield NaN Infinity Math Number
    Object Set Map Date BigInt String TypeError RangeError Uint8Array Float64Array row leaf classes"""
)


def render(tree: Tree, *, function: str = "predict", module: Module = "script", style: Style = "auto") -> str:
    """A program with `predict(row)`, and for classes `predictProba(row)` and `classes`; `row` is an object.

    A value that is null, undefined, NaN or not there is missing; a text where a number is expected is an
    error. Times are Dates or microseconds since 1970. Probabilities are in the order of `classes`. Integers
    beyond 2^53 are BigInts. Of several targets the answers are an array.

    As a "script" it can be included in a page or required by Node; as "esm" it is imported. `function` is
    another name for `predict`; `style` is as for Python.

    >>> from treewright import encode, grow
    >>> tree = grow(encode({"petal": [1.4, 4.7, 6.0]}, ["setosa", "virginica", "virginica"]))
    >>> program = render(tree)
    >>> print(program[program.index("function leaf") : program.index("// adds")].rstrip())
    function leaf(row) {
        const petal = _number(row, "petal");
        if (petal <= 3.0) {
            return 0;  // setosa: 1 row, 100 %
        } else {
            return 1;  // virginica: 2 rows, 100 %
        }
    }
    """
    code = program_code(tree, function, "function", _RESERVED)
    if module not in ("script", "esm"):
        raise ValueError(f"module is {module!r}; known: script, esm")
    printer = _JavaScript(code, function)
    proba = f"{function}Proba"
    uses = printer.uses(proba, "an object; a value that is null, NaN or not there")
    lines = [*printer.heading(*uses), "", *(['"use strict";', ""] if module == "script" else [])]
    lines += [*printer.body(style), ""]
    names = f"{function}, {proba}, leaf, classes" if code.predicts_classes else f"{function}, leaf"
    if module == "esm":
        lines.append(f"export {{ {names} }};")
    else:
        lines.append(f'if (typeof module !== "undefined") module.exports = {{ {names} }};')
    return "\n".join(lines) + "\n"


def answers(rendered: str, tree: Tree, table: dict[str, Any], **options: Any) -> NDArray[Any]:
    """What the program answers to the rows of a table, by running it in Node."""
    node = engine("runs JavaScript", "node")
    is_module, function = options.get("module") == "esm", options.get("function", "predict")
    columns = {name: _packed(table[name]) for name in (column.name for column in Code(tree).columns)}
    n_rows = len(next(iter(table.values())))
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "tree.mjs" if is_module else "tree.cjs")
        program.write_text(rendered, encoding="utf-8")
        runner = Path(folder, "run.mjs")
        runner.write_text(
            _RUNNER.replace("PROGRAM", program.name).replace("FUNCTION", function), encoding="utf-8"
        )
        given = json.dumps({"rows": n_rows, "columns": columns}).encode()
        found = run([node, runner], "the javascript export does not run", given)
    return labelled(tree, [_unpacked(answer) for answer in json.loads(found)])


_RUNNER = """
import { readFileSync } from "node:fs";
import * as whole from "./PROGRAM";
const tree = whole.default ?? whole;
const input = JSON.parse(readFileSync(0, "utf8"));
const columns = Object.entries(input.columns).map(([name, column]) => {
    if (Array.isArray(column)) {
        return [name, column.map((x) => x !== null && typeof x === "object" ? BigInt(x.big) : x)];
    }
    return [name, new Float64Array(new Uint8Array(Buffer.from(column.floats, "base64")).buffer)];
});
const bits = new DataView(new ArrayBuffer(8));
const packed = (x) => {
    if (Array.isArray(x)) return x.map(packed);
    if (typeof x === "bigint") return { big: String(x) };
    if (typeof x !== "number" || Number.isInteger(x) && !Object.is(x, -0)) return x;
    bits.setFloat64(0, x);
    return { bits: bits.getBigUint64(0).toString(16) };
};
const found = [];
for (let i = 0; i < input.rows; i++) {
    const row = Object.create(null);
    for (const [name, column] of columns) row[name] = column[i];
    found.push(packed(tree.FUNCTION(row)));
}
process.stdout.write(JSON.stringify(found));
"""


def _packed(values: Any) -> Any:
    """A column as JSON; numbers by their bits, as JSON knows no NaN."""
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":
        values = np.array([np.nan if value is None else value for value in plain(values)])
    if isinstance(values, np.ndarray):
        return {"floats": base64.b64encode(values.astype("<f8").tobytes()).decode()}
    big = {value: {"big": str(value)} for value in set(values) if type(value) is int and abs(value) > _SAFE}
    floats = [value for value in set(values) if type(value) is float and np.isinf(value)]
    if floats:
        return _packed(np.array([np.nan if value is None else value for value in values], np.float64))
    return [big.get(value, value) for value in values] if big else list(values)


def _unpacked(answer: Any) -> Any:
    if isinstance(answer, list):
        return tuple(map(_unpacked, answer))
    if isinstance(answer, dict):
        if "big" in answer:
            return int(answer["big"])
        return np.array([int(answer["bits"], 16)], np.uint64).view(np.float64).tolist()[0]
    return answer


_SOURCES = {
    "number": """\
// the value of a column as a number; NaN where it is missing
function _number(row, name) {
    const value = _value(row, name);
    if (value === null) return NaN;
    if (typeof value === "bigint") {
        if (BigInt(Number(value)) === value) return Number(value);
        throw new RangeError(`column ${name} is ${value}, too large to be exact`);
    }
    if (typeof value === "number" || typeof value === "boolean") return Number(value);
    throw new TypeError(`column ${name} must be a number, not ${String(value)}`);
}
""",
    "time": """\
// the value of a column as microseconds since 1970; NaN where it is missing
function _time(row, name) {
    const value = _value(row, name);
    if (value === null) return NaN;
    if (value instanceof Date) return value.getTime() * 1000;
    if (typeof value === "number") return value;
    if (typeof value === "bigint" && BigInt(Number(value)) === value) return Number(value);
    throw new TypeError(`column ${name} must be a Date, or microseconds since 1970, not ${String(value)}`);
}
""",
    "text": """\
// the value of a column as a text; null where it is missing
function _text(row, name) {
    const value = _value(row, name);
    if (value === null || typeof value === "string") return value;
    throw new TypeError(`column ${name} must be a text, not ${String(value)}`);
}
""",
    "name": """\
// the value of a column whose categories are numbers or bools; null where it is missing
function _name(row, name) {
    const value = _value(row, name);
    if (value === null) return null;
    if (!["number", "boolean", "bigint"].includes(typeof value)) {
        throw new TypeError(`column ${name} must be a number or a bool, not ${String(value)}`);
    }
    const simple = Number(value);
    return Number.isInteger(simple) && !Number.isSafeInteger(simple) ? BigInt(value) : simple;
}
""",
    "value": """\
// the value of a column; null where it is missing
function _value(row, name) {
    if (!Object.prototype.hasOwnProperty.call(row, name)) return null;
    const value = row[name];
    return value === undefined || value !== value ? null : value;
}
""",
    "code": """\
// -1 where it is missing, -2 where it was never seen
function _code(value, codes) {
    return value === null ? -1 : codes.get(value) ?? -2;
}
""",
    "complete": """\
// throws where a value that some test needs is missing
function _complete(row) {
    for (const name of [
        NAMES
    ]) {
        if (_value(row, name) !== null) continue;
        throw new RangeError(`column ${name} is missing, and this tree takes complete rows only`);
    }
}
""",
}


class _JavaScript(RowPrinter):
    """JavaScript, whose categories are compared by their names."""

    operators: ClassVar[dict[str, str]] = {"and": "&&", "or": "||", "==": "===", "!=": "!=="}
    equality = ("===", "!==")
    no_category = "null"
    types: ClassVar[dict[str, str]] = {"int": "let", "double": "let", "values": "const"}
    reserved = _RESERVED
    sources = _SOURCES

    def remark(self, text: str) -> str:
        """A comment that neither ends a script element nor begins a comment of HTML."""
        return text.replace("</", "< /").replace("<!--", "< !--")

    def literal(self, label: Any) -> str:
        """A label; integers beyond 2^53 are BigInts."""
        if isinstance(label, bool):
            return str(label).lower()
        if isinstance(label, float):
            return number(label, self.infinity)
        if isinstance(label, int):
            return f"{label}n" if abs(label) > _SAFE else str(label)
        return quoted(label, '"', _escaped, lambda c: c.isprintable() and c not in '"\\<\u2028\u2029')

    def key(self, category: Any) -> str:
        """A category as `_name` gives it: 0 and 1 for bools, whole floats as integers."""
        if isinstance(category, float) and category.is_integer():
            category = int(category)
        return self.literal(int(category) if isinstance(category, bool) else category)

    def signature(self, function: Function) -> str:
        """The first line of a function."""
        return f"function {self.name(function.name)}({', '.join(name for name, _ in function.parameters)}) {{"

    def table(self, table: Table) -> Iterator[str]:
        """An array."""
        items = [number(v, self.infinity) if table.type == "double" else str(v) for v in table.values]
        yield from array_lines(f"const {self.name(table.name)} = [", items, "];")

    def classes(self) -> Iterator[str]:
        """The labels of the classes."""
        if self.code.predicts_classes:
            names = [list(map(self.literal, target.classes or ())) for target in self.code.targets]
            items = names[0] if len(names) == 1 else [f"[{', '.join(each)}]" for each in names]
            yield from array_lines("const classes = [", items, "];")

    def probabilities(self, width: int, parts: list[tuple[int, int]]) -> list[str]:
        """The share of each class as an array, or one for each target."""
        slices = self.sequence([f"found.slice({a}, {b})" for a, b in parts])
        return [
            "// the share of each class for a row, in the order of classes",
            f"function {self.public['predict']}Proba(row) {{",
            f"    const found = new Array({width}).fill(0);",
            "    _shares(row, found);",
            f"    return {'found' if len(parts) == 1 else slices};",
            "}",
        ]

    def categories(self, place: int, keys: list[str]) -> Iterator[str]:
        """An array of categories, and a Map of their codes."""
        yield from array_lines(f"const _categories_{place} = [", keys, "];")
        pairs = f"_categories_{place}.map((name, code) => [name, code])"
        yield f"const _codes_{place} = new Map({pairs});"

    def read_function(self, values: list[str], sums: list[str]) -> Iterator[str]:
        """The values of a row as an array."""
        yield from ["// the values in use; of a category its code", "function _read(row) {"]
        yield from ["    const values = [", *(f"        {value}," for value in values), "    ];"]
        yield from (f"    values.push({each});" for each in sums)
        yield from ["    return values;", "}"]

    def declare(self, feature: int, value: str) -> str:
        """A constant for a column or sum."""
        return f"const {self.variables[feature]} = {value};"

    def array(self, statement: Let) -> str:
        """An array of zeros."""
        return f"const {statement.name} = new Array({self.expression(statement.value)}).fill(0);"

    def fail(self, message: str) -> str:
        """An exception."""
        return f"throw new RangeError({self.literal(message)});"

    def among(self, test: Among) -> str:
        """Whether a category is in a list."""
        items, name = self.members(test), self.variable(test.feature)
        if len(items) > 1:
            return f"{'!' if test.negated else ''}[{', '.join(items)}].includes({name})"
        return f"{name} {self.equality[test.negated]} {items[0]}"

    def call(self, function: str, arguments: list[str]) -> str:
        """A call; built-in functions as expressions."""
        if function == "isnan":
            return f"{arguments[0]} !== {arguments[0]}"
        if function == "isfinite":
            return f"Number.isFinite({arguments[0]})"
        return super().call(function, arguments)


def _escaped(character: str) -> str:
    short = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
    return short.get(character) or json.dumps(character)[1:-1].replace("<", "\\u003c")
