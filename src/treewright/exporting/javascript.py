"""A tree as JavaScript that needs nothing else, for Node and browsers: `predict(row)` for an object."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.encoding.schema import Column
from treewright.exporting import mixing
from treewright.exporting._split_tests import Question, Ways, asked_in_turn, has_surrogates
from treewright.exporting._tree import (
    Code,
    Style,
    Tables,
    check_labels,
    check_name,
    divides,
    family,
    filled,
    labelled,
    number,
    plain,
    quoted,
    words,
)
from treewright.exporting.javascript_parts import COMPLETE, SOURCES, STANDING_IN, VALUE
from treewright.exporting.mixing import JAVASCRIPT_WALK, parts
from treewright.tree import Tree

Module = Literal["script", "esm"]
_SAFE = 2**53 - 1  # larger integers are BigInts
_SECONDS = 600  # that a check may take
_RESERVED = words(
    """abstract arguments async await boolean break byte case catch char class const continue debugger
    default delete do double else enum eval export extends false final finally float for from function
    get goto if implements import in instanceof int interface let long module native new null of package
    private protected public return set short static super switch synchronized this throw throws
    transient true try typeof undefined var void volatile while with yield NaN Infinity Math Number
    Object Set Map Date BigInt String TypeError RangeError Uint8Array Float64Array row leaf classes"""
)
_READERS = {"number": "_number", "time": "_time", "text": "_text", "name": "_name"}


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
    >>> print(program[program.index("function leaf") : program.index("// the value")].rstrip())
    function leaf(row) {
        const petal = _number(row, "petal");
        if (petal <= 3.0) {
            return 0;  // setosa: 1 row, 100 %
        } else {
            return 1;  // virginica: 2 rows, 100 %
        }
    }
    """
    code = Code(tree)
    check_labels(code)
    check_name(function, "function", _RESERVED)
    if module not in ("script", "esm"):
        raise ValueError(f"module is {module!r}; known: script, esm")
    lines = [f"// {_remark(line)}".rstrip() for line in code.heading()]
    lines += ["//", f"//   {function}(row)        {_ANSWERS[code.predicts_classes]}"]
    if code.predicts_classes:
        lines += [f"//   {function}Proba(row)   the share of each class, in the order of classes"]
    missing = ", and an error." if tree.missing == "error" else "."
    lines += [f"// where row is an object; a value that is null, NaN or not there is missing{missing}", ""]
    lines += ['"use strict";', ""] if module == "script" else []
    lines += [*_leaf_tables(code), "", *_functions(code, function)]
    lines += ["", *(_nested(code) if code.nests(style) else _looping(code))]
    for reader in sorted({_READERS[family(column)] for column in code.columns}):
        lines += ["", *SOURCES[reader]]
    if code.columns:
        lines += ["", *VALUE]
    if code.demanded:
        complete = [_literal(tree.schema.names[j]) for j in code.demanded if j not in code.sums]
        lines += ["", *COMPLETE[:3], *filled(complete, "        "), *COMPLETE[3:]]
    names = f"{function}, {function}Proba, leaf, classes" if code.predicts_classes else f"{function}, leaf"
    if module == "esm":
        lines += ["", f"export {{ {names} }};"]
    else:
        lines += ["", f'if (typeof module !== "undefined") module.exports = {{ {names} }};']
    return "\n".join(lines) + "\n"


def answers(rendered: str, tree: Tree, table: dict[str, Any], **options: Any) -> NDArray[Any]:
    """What the program answers to the rows of a table, by running it in Node."""
    node = shutil.which("node")
    if node is None:
        raise ImportError(
            "check= runs JavaScript by node, which is not installed; install it or leave check= out"
        )
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
        run = subprocess.run(
            [node, str(runner)],
            input=json.dumps({"rows": n_rows, "columns": columns}),
            capture_output=True,
            encoding="utf-8",
            timeout=_SECONDS,
            check=False,
        )
    if run.returncode:
        raise ValueError(f"the javascript export does not run: {run.stderr.strip()[-1000:]}")
    return labelled(tree, [_unpacked(answer) for answer in json.loads(run.stdout)])


_ANSWERS = {True: "the class of a row", False: "the number for a row"}
_BY_FORMULA = """\
    const [first, ...terms] = _formulas[leaf(row)];
    let answer = first;
    for (const [name, coefficient, mean] of terms) {
        const value = _number(row, name);
        answer += coefficient * (Number.isFinite(value) ? value : mean);
    }
    return answer;
""".splitlines()
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


def _remark(text: str) -> str:
    """A remark that neither ends a script element nor begins a comment of HTML."""
    return text.replace("</", "< /").replace("<!--", "< !--")


def _leaf_tables(code: Code) -> Iterator[str]:
    """The classes, and what each leaf answers."""
    several = len(code.targets) > 1
    if code.predicts_classes:
        names = [list(map(_literal, target.classes or ())) for target in code.targets]
        yield from _table("classes", [f"[{', '.join(part)}]" for part in names] if several else names[0])
        yield "// of each leaf, from left to right: the class by its place in classes, and [place, share, …]"
    elif code.formulas is not None:
        yield "// of each leaf, from left to right: a number, and what is added to it: [column, coefficient,"
        yield "// what a value counts as that is missing or not finite]"
        known = [_literal(name) for name in code.tree.schema.names]
        parts = [
            [_literal(first), *(f"[{known[j]}, {_literal(c)}, {_literal(mean)}]" for j, c, mean in terms)]
            for first, terms in code.formulas
        ]
        yield from _table("_formulas", [f"[{', '.join(part)}]" for part in parts])
        return
    else:
        yield "// of each leaf, from left to right: the number"
    per_target = [list(map(_literal, code.answers(k))) for k in range(len(code.targets))]
    yield from _table("_answers", _joined(per_target))
    if code.predicts_classes:
        shares = [[_pairs(leaf) for leaf in code.shares(k)] for k in range(len(code.targets))]
        yield from _table("_shares", _joined(shares))
    if divides(code.tree) and code.tree.schema.has_costs:
        yield "// what it costs to answer each class (across) if another one (down) is true"
        costs = [json.dumps(target.costs) for target in code.targets]
        yield f"const _costs = {costs[0] if len(costs) == 1 else _joined([[each] for each in costs])[0]};"


def _joined(per_target: list[list[str]]) -> list[str]:
    if len(per_target) == 1:
        return per_target[0]
    return [f"[{', '.join(leaf)}]" for leaf in zip(*per_target, strict=True)]


def _pairs(leaf: list[tuple[int, float]]) -> str:
    return "[" + ", ".join(f"{code}, {share!r}" for code, share in leaf) + "]"


def _table(name: str, items: list[str]) -> Iterator[str]:
    one = f"const {name} = [{', '.join(items)}];" if len(items) <= 20 else ""
    if one and len(one) <= 100:
        yield one
    else:
        yield f"const {name} = ["
        yield from filled(items)
        yield "];"


def _functions(code: Code, function: str) -> Iterator[str]:
    """`predict` and `predictProba`."""
    several, classes = len(code.targets) > 1, code.predicts_classes
    if code.formulas is not None:
        yield from [f"function {function}(row) {{", *_BY_FORMULA, "}"]
        return
    if divides(code.tree):
        costs = code.tree.schema.has_costs
        yield from mixing.javascript(function, classes=classes, several=several, costs=costs)
        return
    answer = "_answers[leaf(row)]"
    if classes:
        answer = f"{answer}.map((place, k) => classes[k][place])" if several else f"classes[{answer}]"
    yield from [f"function {function}(row) {{", f"    return {answer};", "}"]
    if not classes:
        return
    shares = "_byClass(classes, _shares[leaf(row)])"
    if several:
        shares = "_shares[leaf(row)].map((pairs, k) => _byClass(classes[k], pairs))"
    yield from ["", f"function {function}Proba(row) {{", f"    return {shares};", "}"]
    yield from [
        "",
        "function _byClass(classes, pairs) {",
        "    const shares = new Array(classes.length).fill(0);",
    ]
    yield "    for (let i = 0; i < pairs.length; i += 2) shares[pairs[i]] = pairs[i + 1];"
    yield from ["    return shares;", "}"]


def _nested(code: Code) -> Iterator[str]:
    """`leaf(row)` as tests within tests."""
    names = code.variables(_RESERVED)
    yield from ["// the leaf that a row comes to, counted from the left", "function leaf(row) {"]
    yield from ["    _complete(row);"] * bool(code.demanded)
    for j in code.used:
        yield f"    const {names[j]} = {_reading(code.tree.schema.columns[j])};"
    for j in code.sums:
        yield f"    const {names[j]} = {code.summed(j, names)};"
    yield from _demanded(code, [names[j] for j in code.sums])
    yield from code.braced(
        lambda node: f"return {code.place[node]};  // {_remark(code.leaf_in_words(node))}",
        lambda node: _test(code, node, names),
    )
    yield "}"


def _reading(column: Column) -> str:
    return f"{_READERS[family(column)]}(row, {_literal(column.name)})"


def _test(code: Code, node: int, names: dict[int, str]) -> str:
    """The test of a node; where it is not plain, with its words."""
    tree = code.tree
    name, words = names[int(tree.feature[node])], f"{{  // {_remark(code.test_in_words(node))}"
    if has_surrogates(tree, node):
        ways, last = asked_in_turn(tree, node, lambda question: _ways(code, question, names))
        return f"({''.join(f'{when} ? {then} : ' for when, then in ways)}{str(last).lower()}) {words}"
    if tree.subset[node] >= 0:
        within, codes, missing = code.among(node)
        categories = tree.schema.columns[tree.feature[node]].categories
        items = [_key(categories[c]) for c in codes] + ["null"] * missing
        if len(items) > 1:
            return f"({'' if within else '!'}[{', '.join(items)}].includes({name})) {words}"
        if not items:
            return f"({str(not within).lower()}) {words}"
        return f"({name} {'===' if within else '!=='} {items[0]}) {words}"
    test, needs_words = code.compared(node, name, "Infinity", "!({})", "{0} === {0}")
    return f"({test}) {words if needs_words else '{'}"


def _ways(code: Code, question: Question, names: dict[int, str]) -> Ways:
    """A question: whether its value is known, and what it must be."""
    name = names[question.feature]
    if not question.is_category:
        bound = number(question.threshold, "Infinity")
        return [(f"{name} === {name}", f"{name} {question.operator} {bound}")]
    categories = code.tree.schema.columns[question.feature].categories
    left, right = (
        f"[{', '.join(_key(categories[c]) for c in codes)}].includes({name})" if codes else ""
        for codes in (question.left, question.right)
    )
    if question.unseen_left is None:
        return [(when, then) for when, then in ((left, "true"), (right, "false")) if when]
    test = f"!{right or 'false'}" if question.unseen_left else left or "false"
    return [(f"{name} !== null", test)]


def _looping(code: Code) -> Iterator[str]:
    """`leaf(row)` as a loop over tables."""
    tables = Tables.of(code)
    has_categories = bool(tables.bits)
    yield "// of each node, a branch before what is on its left and that before what is on its right:"
    yield "// the column that it asks (-1: it is a leaf), the threshold, the node on its right (of a leaf:"
    yield "// its number), and whether missing values (1), unseen categories (2) or both (3) go left"
    yield from _table("_column", list(map(str, tables.column)))
    yield from _table("_threshold", [number(value, "Infinity") for value in tables.threshold])
    yield from _table("_right", list(map(str, tables.right)))
    yield from _table("_sides", list(map(str, tables.sides)))
    if tables.others:
        yield "// where the tests begin that stand in for a missing value: the first whose value is known;"
        yield "// they follow the nodes; what passes one with 4 in _sides goes right"
        yield from _table("_others", list(map(str, tables.others)))
    if has_categories or tables.others or divides(code.tree):
        yield "// of categories: where the bits of those that go left begin (-1: it asks a number); the bits"
        yield from _table("_subset", list(map(str, tables.subset)))
        yield from _table("_bits", list(map(str, tables.bits)))
    for place, column in enumerate(code.columns):
        if column.kind == "category":
            yield from _table(f"_categories{place}", list(map(_key, column.categories)))
            yield f"const _codes{place} = new Map(_categories{place}.map((name, code) => [name, code]));"
    if divides(code.tree):
        yield "// of each node, how much of a divided row goes there"
        yield from _table("_parted", list(map(repr, parts(code.tree))))
        yield from [*JAVASCRIPT_WALK, "", "// the values that are asked", "function _values(row) {"]
        yield from [*_values(code), "    return values;", "}"]
    else:
        yield from ["", "// the leaf that a row comes to, counted from the left", "function leaf(row) {"]
        yield from ["    _complete(row);"] * bool(code.demanded)
        yield from [*_values(code), *_walk(tables)]
    if has_categories:
        yield from [
            "",
            "// -1 where it is missing, -2 where it was never seen",
            "function _code(value, codes) {",
        ]
        yield from ["    return value === null ? -1 : codes.get(value) ?? -2;", "}"]


def _values(code: Code) -> Iterator[str]:
    """The columns that are asked, then the sums."""
    yield "    const values = ["
    for place, column in enumerate(code.columns):
        reading = _reading(column)
        yield f"        {f'_code({reading}, _codes{place})' if column.kind == 'category' else reading},"
    yield "    ];"
    values = {j: f"values[{place}]" for place, j in enumerate(code.used)}
    yield from (f"    values.push({code.summed(j, values)});" for j in code.sums)
    yield from _demanded(code, [f"values[{len(code.used) + i}]" for i in range(len(code.sums))])


def _demanded(code: Code, names: list[str]) -> Iterator[str]:
    """Sums of infinite numbers may have no value."""
    for j, name in zip(code.sums, names, strict=True):
        if code.tree.missing == "error":
            text = f"{code.tree.tested[j].name} has no value, and this tree takes complete rows only"
            yield f"    if ({name} !== {name}) throw new RangeError({_literal(text)});"


def _walk(tables: Tables) -> Iterator[str]:
    """From the root to the leaf."""
    yield from ["    let node = 0;", "    while (_column[node] >= 0) {"]
    at = "at" if tables.others else "node"
    if tables.others:
        yield from STANDING_IN
    else:
        yield "        const value = values[_column[node]];"
    yield "        let left;"
    if tables.bits:
        yield f"        if (_subset[{at}] >= 0) {{"
        yield "            left = value >= 0"
        yield f"                ? _bits[_subset[{at}] + (value >> 3)] >> (value & 7) & 1"
        yield f"                : _sides[{at}] & -value;"
        yield "        } else {"
        yield f"            left = value === value ? value <= _threshold[{at}] : _sides[{at}] & 1;"
        yield "        }"
    else:
        yield f"        left = value === value ? value <= _threshold[{at}] : _sides[{at}] & 1;"
    if tables.others:
        yield "        if (_sides[at] & 4) left = !left;"
    yield from ["        node = left ? node + 1 : _right[node];", "    }", "    return _right[node];", "}"]


def _literal(label: Any) -> str:
    """A name, class or number."""
    if isinstance(label, bool):
        return str(label).lower()
    if isinstance(label, float):
        return number(label, "Infinity")
    if isinstance(label, int):
        return f"{label}n" if abs(label) > _SAFE else str(label)
    return quoted(label, '"', _escaped, lambda c: c.isprintable() and c not in '"\\<\u2028\u2029')


def _key(category: Any) -> str:
    """A category as `_name` gives it: 0 and 1 for bools, whole floats as integers."""
    if isinstance(category, float) and category.is_integer():
        category = int(category)
    return _literal(int(category) if isinstance(category, bool) else category)


def _escaped(character: str) -> str:
    short = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
    return short.get(character) or json.dumps(character)[1:-1].replace("<", "\\u003c")
