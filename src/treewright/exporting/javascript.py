"""A tree as JavaScript that needs nothing else, for Node and browsers: `predict(row)` for an object."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any, ClassVar, Literal

from numpy.typing import NDArray

from treewright.encoding.schema import Column
from treewright.exporting._check.running import engine, pack_table, run, runner, unpack
from treewright.exporting._program.form import Among
from treewright.exporting._program.row_printer import RowPrinter, program_code
from treewright.exporting._tree import Code, Style, family, label_array, plain, quote_text, words
from treewright.tree import Tree

SUFFIXES = (".js", ".mjs")
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
    beyond 2^53 are BigInts. Of several targets the predictions are an array.

    As a "script" it can be included in a page or required by Node; as "esm" it is imported. `function` is
    another name for `predict`; `style` is as for Python.

    >>> from treewright import encode, grow
    >>> program = render(grow(encode({"sky": ["blue", "grey", "grey"]}, [20.5, 15.0, 15.0])))
    >>> print(program[program.index("function leaf") : program.index("// the prediction")].rstrip())
    function leaf(row) {
        const sky = _text(row, "sky");
        if (sky !== "blue") {  // sky = grey or missing
            return 0;  // 15.0: 2 rows
        } else {
            return 1;  // 20.5: 1 row
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
    """The predictions of the program for the rows of a table, run by Node."""
    node = engine("runs JavaScript", "node")
    columns = [(column.name, _values(column, table[column.name])) for column in Code(tree).columns]
    packed = pack_table(columns, len(next(iter(table.values()))))
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "tree.mjs" if options.get("module") == "esm" else "tree.cjs")
        program.write_text(rendered, encoding="utf-8")
        words = {"PROGRAM": program.name, "FUNCTION": options.get("function", "predict")}
        path = Path(folder, "run.mjs")
        path.write_text(runner("run_tree.mjs", **words), encoding="utf-8")
        found = run([node, path], "the javascript export does not run", packed)
    return label_array(tree, unpack(found, len(tree.schema.targets)))


def _values(column: Column, values: Any) -> list[Any]:
    """The values of a column; times as numbers, not as BigInts."""
    if family(column) != "time":
        return plain(values)
    return [None if value is None else float(value) for value in plain(values)]


class _JavaScript(RowPrinter):
    """JavaScript, whose categories are compared by their names."""

    language = "javascript"
    operators: ClassVar[dict[str, str]] = {"and": "&&", "or": "||", "==": "===", "!=": "!=="}
    equality = ("===", "!==")
    is_finite = "Number.isFinite({})"
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

    def integer(self, label: int) -> str:
        return f"{label}n" if abs(label) > _SAFE else str(label)

    def text(self, label: str) -> str:
        return quote_text(label, '"', _escape, lambda c: c.isprintable() and c not in '"\\<\u2028\u2029')

    def key(self, category: Any) -> str:
        """A category as `_name` gives it: 0 and 1 for bools, whole floats as integers."""
        if isinstance(category, float) and category.is_integer():
            category = int(category)
        return self.literal(int(category) if isinstance(category, bool) else category)

    def among(self, test: Among, around: int) -> str:
        items, name = self.members(test), self.variable(test.feature)
        if len(items) > 1:
            return f"{'!' if test.negated else ''}[{', '.join(items)}].includes({name})"
        return f"{name} {self.equality[test.negated]} {items[0]}"


def _escape(character: str) -> str:
    short = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
    return short.get(character) or json.dumps(character)[1:-1].replace("<", "\\u003c")
