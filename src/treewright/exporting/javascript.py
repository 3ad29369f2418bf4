"""A tree as JavaScript that needs nothing else, for Node and browsers: `predict(row)` for an object."""

from __future__ import annotations

import base64
import json
import tempfile
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.exporting._check.running import engine, run
from treewright.exporting._program.form import Among
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


class _JavaScript(RowPrinter):
    """JavaScript, whose categories are compared by their names."""

    language = "javascript"
    operators: ClassVar[dict[str, str]] = {"and": "&&", "or": "||", "==": "===", "!=": "!=="}
    equality = ("===", "!==")
    built_in: ClassVar[dict[str, str]] = {
        "int": "{}", "plus": "{} + {} * {}", "isfinite": "Number.isFinite({})",
    }  # fmt: skip
    number_known = ("{0} === {0}", "{0} !== {0}")
    category_known = ("{} !== null", "{} === null")
    for_loop = "for (let {0} = {1}; {0} < {2}; ++{0}) {{"
    types: ClassVar[dict[str, str]] = {
        "int": "let", "double": "let", **dict.fromkeys(("values", "number", "time", "text", "name"), "const"),
    }  # fmt: skip
    array = "const {name} = new Array({size}).fill(0);"
    refuse = "if ({condition}) throw new RangeError({message});"
    signature = "function {name}({parameters}) {{"
    constants = ("const {name} = [", "];")
    reserved = _RESERVED
    codes = "const {codes} = new Map({categories}.map((name, code) => [name, code]));"
    added_sum = "values.push({});"
    shares = ("found", "found.slice({}, {})", "[{}]")

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

    def among(self, test: Among, around: int) -> str:
        """Whether a category is in a list."""
        items, name = self.members(test), self.variable(test.feature)
        if len(items) > 1:
            return f"{'!' if test.negated else ''}[{', '.join(items)}].includes({name})"
        return f"{name} {self.equality[test.negated]} {items[0]}"


def _escaped(character: str) -> str:
    short = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
    return short.get(character) or json.dumps(character)[1:-1].replace("<", "\\u003c")
