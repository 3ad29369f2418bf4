"""A tree as a C header (C99 and C++) that needs the standard library only."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.encoding.kinds import MISSING_CODE as MISSING
from treewright.encoding.kinds import UNSEEN_CODE as UNSEEN
from treewright.encoding.schema import Column, Target
from treewright.exporting._split_tests import Question, Ways, asked_in_turn, has_surrogates
from treewright.exporting._tree import (
    Code,
    Style,
    Tables,
    check_labels,
    check_name,
    divides,
    family,
    number,
    one_target,
    plain,
    quoted,
    remark,
)
from treewright.exporting.c_mixing import RESERVED, TEXT, asked, divided, table
from treewright.tree import Tree

_LARGEST = 2**63 - 1
_FLAGS = ("-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC")
_SECONDS = 600  # that a compiler may take


def render(tree: Tree, *, name: str = "treewright", target: str | None = None, style: Style = "auto") -> str:
    """A header with `treewright_predict(&row)`, and for classes `treewright_predict_proba(&row, shares)`.

    The columns that the tree asks are the members of `treewright_row`: a double for a number (missing: NAN)
    or a time (microseconds since 1970), a code for a category, which `treewright_code_…(value)` finds.
    Classes are codes, too; `treewright_class(code)` is the label. Where the tree takes complete rows only,
    the answer to others is -1 or NAN. `name` takes the place of treewright in all names; `target` says which
    of several targets; `style` is as for Python.

    >>> from treewright import encode, grow
    >>> tree = grow(encode({"petal": [1.4, 4.7, 6.0]}, ["setosa", "virginica", "virginica"]))
    >>> program = render(tree)
    >>> print(program[program.index("static inline int") : program.index("/* the code")].rstrip())
    static inline int treewright_leaf(const treewright_row *row)
    {
        if (row->petal <= 3.0) {
            return 0;  /* setosa: 1 row, 100 % */
        } else {
            return 1;  /* virginica: 2 rows, 100 % */
        }
    }
    """
    code = Code(tree)
    check_labels(code)
    check_name(name, "name", RESERVED)
    _check_texts(code)
    place = one_target(code, target)
    lines = ["/*", *(f" * {_remark(line)}".rstrip() for line in code.heading())]
    lines += [" *", f" *   {name}_row row = {{ … }};   the values of a row"]
    lines += [
        f" *   {name}_predict(&row)       "
        + ("the code of its class" if code.predicts_classes else "its number")
    ]
    lines += [" */", f"#ifndef {name.upper()}_H", f"#define {name.upper()}_H", ""]
    lines += ["#include <math.h>", "#include <string.h>", ""]
    members = _members(code)
    lines += [*_row(code, name, members), "", *_code_functions(code, name, members), *_sums(code, name)]
    nests = code.nests(style)
    if divides(tree):
        lines += divided(code, name, place, members)
    else:
        lines += _nested(code, name, members) if nests else _looping(code, name, members)
        said = _predict(code, name, place) if code.formulas is None else _formulas(code, name, members)
        lines += ["", *said]
        lines += ["", *_predict_proba(code, name, place)] if code.predicts_classes else []
    lines += ["", *_class(code.targets[place], name)] if code.predicts_classes else []
    return "\n".join([*lines, "", "#endif"]) + "\n"


def answers(rendered: str, tree: Tree, table: dict[str, Any], **options: Any) -> NDArray[Any]:
    """What the header answers to the rows of a table, by compiling and running it."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise ImportError(
            "check= compiles C by cc, which is not installed; install a compiler or leave check= out"
        )
    code, name = Code(tree), options.get("name", "treewright")
    place = one_target(code, options.get("target"))
    members = _members(code)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "tree.h").write_text(rendered, encoding="utf-8")
        source, library = Path(folder, "run.c"), Path(folder, "run.so")
        source.write_text("\n".join(_runner(code, name, place, members)), encoding="utf-8")
        run = subprocess.run(
            [compiler, *_FLAGS, str(source), "-o", str(library), "-lm"],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
        if run.returncode:
            raise ValueError(f"the c export does not compile: {run.stderr.strip()[:1000]}")
        return _run(ctypes.CDLL(str(library)), code, place, table)


def _run(library: Any, code: Code, place: int, table: dict[str, Any]) -> NDArray[Any]:
    """The answers of the compiled program, as labels or numbers."""
    n = len(next(iter(table.values())))
    columns = [_encoded(library, k, column, table[column.name]) for k, column in enumerate(code.columns)]
    pointers = (ctypes.c_void_p * max(len(columns), 1))(*(array.ctypes.data for array in columns))
    found = np.empty(n, np.int32 if code.predicts_classes else np.float64)
    library.run(ctypes.c_size_t(n), pointers, found.ctypes.data_as(ctypes.c_void_p))
    if not code.predicts_classes:
        return found
    classes = code.targets[place].classes or ()
    library.label.restype = {TEXT: ctypes.c_char_p, "double": ctypes.c_double}.get(
        _label_type(classes), ctypes.c_longlong
    )
    labels = [library.label(k) for k in range(len(classes))]
    if isinstance(classes[0], str):
        labels = [label.decode("utf-8", "surrogatepass") for label in labels]
    elif isinstance(classes[0], bool):
        labels = list(map(bool, labels))
    array = np.empty(n, object)
    array[:] = [labels[k] for k in found.tolist()]
    return array


def _encoded(library: Any, k: int, column: Column, values: Any) -> NDArray[Any]:
    """A column as the program wants it; it finds the codes of categories itself."""
    if column.kind != "category":
        return np.array([np.nan if value is None else value for value in plain(values)], np.float64)
    known = {}
    kind = _value_type(column)
    function = getattr(library, f"code_{k}")
    function.argtypes = [{TEXT: ctypes.c_char_p, "double": ctypes.c_double}.get(kind, ctypes.c_longlong)]
    for value in set(values):
        given = value
        if kind == TEXT:
            given = None if value is None else value.encode("utf-8", "surrogatepass")
        known[value] = MISSING if value is None else function(given)
    return np.array([known[value] for value in values], np.int32)


def _runner(code: Code, name: str, place: int, members: list[str]) -> Iterator[str]:
    """A program around the header that `answers` can call."""
    yield '#include "tree.h"'
    for k, column in enumerate(code.columns):
        if column.kind == "category":
            kind = _value_type(column)
            yield f"int code_{k}({kind} value) {{ return {name}_code_{members[k]}(value); }}"
    if code.predicts_classes:
        kind = _label_type(code.targets[place].classes or ())
        kind = "long long" if kind == "int" else kind
        yield f"{kind} label(int code) {{ return {name}_class(code); }}"
    out = "int" if code.predicts_classes else "double"
    yield f"void run(size_t n, const void *const *columns, {out} *found) {{"
    yield f"    size_t i; {name}_row row; memset(&row, 0, sizeof row); (void)columns;"
    yield "    for (i = 0; i < n; ++i) {"
    for k, column in enumerate(code.columns):
        kind = "int" if column.kind == "category" else "double"
        yield f"        row.{members[k]} = ((const {kind} *)columns[{k}])[i];"
    yield f"        found[i] = {name}_predict(&row);"
    yield "    }"
    yield "}"


def _members(code: Code) -> list[str]:
    return list(code.variables(RESERVED).values())[: len(code.used)]


def _sums(code: Code, name: str) -> Iterator[str]:
    """A function for each sum of columns; its numbers are stored, so that no compiler fuses any."""
    names = code.variables(RESERVED)
    for j in code.sums:
        (first, weight), *others = code.terms(j)
        yield f"/* {_remark(code.tree.tested[j].name)} */"
        yield from [f"static inline double {name}_{names[j]}(const {name}_row *row)", "{"]
        yield f"    volatile double sum = {weight!r} * row->{names[first]}, part;"
        for column, weight in others:
            yield f"    part = {weight!r} * row->{names[column]}; sum = sum + part;"
        yield from ["    return sum;", "}", ""]


def _summed(code: Code, name: str) -> Iterator[str]:
    """The sums of a row as variables."""
    names = code.variables(RESERVED)
    yield from (f"    const double {names[j]} = {name}_{names[j]}(row);" for j in code.sums)


def _check_texts(code: Code) -> None:
    """ValueError about a label that C has no value for."""
    parts = [(f"column {column.name!r}", column.categories) for column in code.columns]
    parts += [(f"target {target.name!r}", target.classes or ()) for target in code.targets]
    for what, labels in parts:
        if isinstance(labels and labels[0], str):
            for label in labels:
                if "\0" in str(label):
                    raise ValueError(f"{what} holds {label!r}: a text of C cannot hold the character NUL")
        elif any(isinstance(label, int) and not -_LARGEST <= label <= _LARGEST for label in labels):
            raise ValueError(f"{what} holds integers beyond 64 bits, for which C has no type")


def _row(code: Code, name: str, members: list[str]) -> Iterator[str]:
    """The type of a row."""
    yield "typedef struct {"
    for column, member in zip(code.columns, members, strict=True):
        words = _remark(column.name)
        if column.kind == "category":
            yield f"    int {member};  /* {words}: {name}_code_{member}(value); {MISSING} is missing */"
        else:
            kind = "microseconds since 1970" if column.kind == "time" else "a number"
            yield f"    double {member};  /* {words}: {kind}; NAN is missing */"
    if not members:
        yield "    int nothing;  /* no column is asked */"
    yield f"}} {name}_row;"


def _value_type(column: Column) -> str:
    """What the categories of a column are in C."""
    if family(column) == "text":
        return TEXT
    return "double" if any(isinstance(category, float) for category in column.categories) else "long long"


def _label_type(classes: tuple[Any, ...]) -> str:
    if isinstance(classes[0], str):
        return TEXT
    if any(isinstance(label, float) for label in classes):
        return "double"
    return "int" if isinstance(classes[0], bool) else "long long"


def _code_functions(code: Code, name: str, members: list[str]) -> Iterator[str]:
    """For each category a function that finds the code of a value: a search by halves."""
    for column, member in zip(code.columns, members, strict=True):
        if column.kind != "category":
            continue
        kind = _value_type(column)
        is_text = kind == TEXT
        order = sorted(range(len(column.categories)), key=lambda k, c=column: _sorting(c.categories[k]))  # type: ignore[misc]
        yield f"/* the code of a category of {_remark(column.name)}; {UNSEEN} if it was never seen */"
        yield f"static inline int {name}_code_{member}({kind}{'' if is_text else ' '}value)"
        yield "{"
        yield from table(kind, "values", [_literal(column.categories[k], kind) for k in order])
        yield from table("int", "codes", list(map(str, order)))
        yield f"    int low = 0, high = {len(order)};"
        if is_text:
            yield f"    if (value == NULL) return {MISSING};"
        elif kind == "double":
            yield f"    if (value != value) return {MISSING};"
        yield "    while (low < high) {"
        yield "        const int middle = low + (high - low) / 2;"
        if is_text:
            yield "        const int order = strcmp(value, values[middle]);"
        else:
            yield "        const int order = (value > values[middle]) - (value < values[middle]);"
        yield "        if (order == 0) return codes[middle];"
        yield "        if (order < 0) high = middle; else low = middle + 1;"
        yield from ["    }", f"    return {UNSEEN};", "}", ""]


def _sorting(category: Any) -> Any:
    return category.encode("utf-8", "surrogatepass") if isinstance(category, str) else category


def _nested(code: Code, name: str, members: list[str]) -> Iterator[str]:
    """The leaf of a row, by tests within tests."""
    names = code.variables(RESERVED) | {j: f"row->{m}" for j, m in zip(code.used, members, strict=True)}
    yield from _leaf_start(name)
    if code.tree.is_leaf[0]:
        yield "    (void)row;"
    yield from [*_summed(code, name), *_demanded(code, members)]
    yield from code.braced(
        lambda node: f"return {code.place[node]};  /* {_remark(code.leaf_in_words(node))} */",
        lambda node: _test(code, node, names),
    )
    yield "}"


def _demanded(code: Code, members: list[str]) -> Iterator[str]:
    """A tree that takes complete rows only has no leaf for others."""
    if code.demanded:
        written = zip([*code.used, *code.sums], asked(code, members), strict=True)
        tests = [
            f"{value} == {MISSING}" if column.kind == "category" else f"isnan({value})"
            for j, (value, column) in written
            if j in code.demanded
        ]
        yield f"    if ({' || '.join(tests)}) return -1;  /* a value is missing */"


def _leaf_start(name: str) -> list[str]:
    what = "/* the leaf that a row comes to, counted from the left */"
    return [what, f"static inline int {name}_leaf(const {name}_row *row)", "{"]


def _test(code: Code, node: int, names: dict[int, str]) -> str:
    """The test of a node; where it is not plain, with its words."""
    tree = code.tree
    name, words = names[int(tree.feature[node])], f"{{  /* {_remark(code.test_in_words(node))} */"
    if has_surrogates(tree, node):
        ways, last = asked_in_turn(tree, node, lambda question: _ways(code, question, names))
        return f"({''.join(f'{when} ? {then} : ' for when, then in ways)}{int(last)}) {words}"
    if tree.subset[node] >= 0:
        within, codes, missing = code.among(node)
        values = [MISSING] * missing + codes
        tests = [f"{name} {'==' if within else '!='} {value}" for value in values]
        joined = (" || " if within else " && ").join(tests) or str(int(not within))
        return f"({joined}) {words}"
    test, needs_words = code.compared(node, name, "INFINITY", "!({})", "!isnan({})")
    return f"({test}) {words if needs_words else '{'}"


def _ways(code: Code, question: Question, names: dict[int, str]) -> Ways:
    """A question: whether its value is known, and what it must be."""
    name = names[question.feature]
    if not question.is_category:
        bound = number(question.threshold, "INFINITY")
        return [(f"!isnan({name})", f"{name} {question.operator} {bound}")]
    left, right = (
        f"({' || '.join(f'{name} == {c}' for c in codes)})" if codes else ""
        for codes in (question.left, question.right)
    )
    if question.unseen_left is None:
        return [(when, then) for when, then in ((left, "1"), (right, "0")) if when]
    test = f"!{right or '0'}" if question.unseen_left else left or "0"
    return [(f"{name} != {MISSING}", test)]


def _looping(code: Code, name: str, members: list[str]) -> Iterator[str]:
    """The leaf of a row, by a loop over tables."""
    tables = Tables.of(code)
    yield from _leaf_start(name)
    yield "    /* of each node, a branch before what is on its left and that before what is on its right:"
    yield "       the column that it asks (-1: it is a leaf), the node on its right (of a leaf: its number),"
    yield "       whether missing values (1), unseen categories (2) or both (3) go left, and the threshold */"
    yield from table("int", "column", list(map(str, tables.column)))
    yield from table("int", "right", list(map(str, tables.right)))
    yield from table("unsigned char", "sides", list(map(str, tables.sides)))
    if any(column.kind != "category" for column in code.columns):
        yield from table("double", "threshold", [number(value, "INFINITY") for value in tables.threshold])
    if tables.bits:
        yield "    /* where the bits of the categories that go left begin */"
        yield from table("long", "subset", list(map(str, tables.subset)))
        yield from table("unsigned char", "bits", list(map(str, tables.bits)))
    yield from [*_summed(code, name), *_demanded(code, members)]
    yield from ["    int node = 0;", "    while (column[node] >= 0) {"]
    if tables.others:
        yield from _standing_in(code, tables, members)
        yield from ["        node = left ? node + 1 : right[node];", "    }", "    return right[node];", "}"]
        return
    yield from ["        int left;", "        switch (column[node]) {"]
    values = asked(code, members)
    for place, (value, column) in enumerate(values):
        yield f"        {f'case {place}' if place < len(values) - 1 else 'default'}:"
        if column.kind == "category":
            yield f"            if ({value} >= 0 && {value} < {len(column.categories)})"
            yield f"                left = bits[subset[node] + {value} / 8] >> ({value} % 8) & 1;"
            yield f"            else left = sides[node] & ({value} == {MISSING} ? 1 : 2);"
        else:
            yield f"            left = isnan({value}) ? sides[node] & 1 : {value} <= threshold[node];"
        yield "            break;"
    yield from [
        "        }",
        "        node = left ? node + 1 : right[node];",
        "    }",
        "    return right[node];",
        "}",
    ]


def _standing_in(code: Code, tables: Tables, members: list[str]) -> Iterator[str]:
    """Which way a row goes at a node: by its test, or by the first other one whose value is known."""
    yield "        /* where the tests begin that stand in for a missing value: they follow the nodes; what"
    yield "           passes one with 4 in sides goes right */"
    yield from ("    " + line for line in table("int", "others", list(map(str, tables.others))))
    yield "        int at = node, next = others[node], left = -1;"
    yield "        for (;;) {"
    yield "            switch (column[at]) {"
    values = asked(code, members)
    for place, (value, column) in enumerate(values):
        yield f"            {f'case {place}' if place < len(values) - 1 else 'default'}:"
        if column.kind == "category":
            yield f"                if ({value} >= 0 && {value} < {len(column.categories)})"
            yield f"                    left = bits[subset[at] + {value} / 8] >> ({value} % 8) & 1;"
            yield f"                else if (at == node && {value} != {MISSING}) left = sides[at] >> 1 & 1;"
        else:
            yield f"                if (!isnan({value})) left = {value} <= threshold[at];"
        yield "                break;"
    yield "            }"
    yield "            if (left >= 0) { left ^= sides[at] >> 2; break; }"
    yield "            if (next == others[node + 1]) { left = sides[node] & 1; break; }"
    yield from ["            at = next++;", "        }"]


def _predict(code: Code, name: str, place: int) -> Iterator[str]:
    kind, what = ("int", "the code of the class") if code.predicts_classes else ("double", "the number")
    yield f"/* {what} for a row */"
    yield from [f"static inline {kind} {name}_predict(const {name}_row *row)", "{"]
    items = [
        number(answer, "INFINITY") if kind == "double" else str(answer) for answer in code.answers(place)
    ]
    yield from table(kind, "answers", items)
    if code.tree.missing == "error":
        yield f"    const int leaf = {name}_leaf(row);"
        yield from [f"    return leaf < 0 ? {'-1' if kind == 'int' else 'NAN'} : answers[leaf];", "}"]
    else:
        yield from [f"    return answers[{name}_leaf(row)];", "}"]


def _formulas(code: Code, name: str, members: list[str]) -> Iterator[str]:
    """The number for a row where each leaf has a formula."""
    member = dict(zip(code.used, members, strict=True))
    yield "/* a sum and one more term; a value that is not finite counts as the mean. The product is rounded"
    yield "   by itself, also where the machine could do both at once */"
    yield f"static inline double {name}_add(double sum, double coefficient, double value, double mean)"
    yield from ["{", "    volatile double product = coefficient * (isfinite(value) ? value : mean);"]
    yield from ["    return sum + product;", "}", "", "/* the number for a row */"]
    yield from [f"static inline double {name}_predict(const {name}_row *row)", "{", "    double sum;"]
    yield f"    switch ({name}_leaf(row)) {{"
    yield from ["    case -1:", "        return NAN;"] if code.demanded else []
    for leaf, (first, terms) in enumerate(code.formulas or ()):
        yield f"    {f'case {leaf}' if leaf < len(code.leaves) - 1 else 'default'}:"
        yield f"        sum = {number(first, 'INFINITY')};"
        for j, coefficient, mean in terms:
            yield f"        sum = {name}_add(sum, {coefficient!r}, row->{member[j]}, {mean!r});"
        yield "        return sum;"
    yield from ["    }", "}"]


def _predict_proba(code: Code, name: str, place: int) -> Iterator[str]:
    leaves = list(code.shares(place))
    start = np.cumsum([0, *map(len, leaves)]).tolist()
    pairs = [pair for leaf in leaves for pair in leaf]
    count = len(code.targets[place].classes or ())
    yield from [f"enum {{ {name}_n_classes = {count} }};", ""]
    yield f"/* the share of each class in the leaf of a row: {name}_n_classes numbers */"
    yield from [f"static inline void {name}_predict_proba(const {name}_row *row, double *shares)", "{"]
    yield "    /* of each leaf the classes that are there, with their shares, and where it starts */"
    yield from table("int", "start", list(map(str, start)))
    yield from table("int", "classes", [str(code) for code, _ in pairs])
    yield from table("double", "share", [repr(share) for _, share in pairs])
    yield from [f"    const int leaf = {name}_leaf(row);", "    int k;"]
    if code.tree.missing == "error":
        yield f"    for (k = 0; k < {name}_n_classes; ++k) shares[k] = leaf < 0 ? NAN : 0.0;"
        yield "    if (leaf < 0) return;"
    else:
        yield f"    for (k = 0; k < {name}_n_classes; ++k) shares[k] = 0.0;"
    yield from ["    for (k = start[leaf]; k < start[leaf + 1]; ++k) shares[classes[k]] = share[k];", "}"]


def _class(target: Target, name: str) -> Iterator[str]:
    classes = target.classes or ()
    kind = _label_type(classes)
    yield "/* the label of a class */"
    yield from [f"static inline {kind}{'' if kind == TEXT else ' '}{name}_class(int code)", "{"]
    yield from table(kind, "labels", [_literal(label, kind) for label in classes])
    yield from ["    return labels[code];", "}"]


def _literal(label: Any, kind: str) -> str:
    if kind == "double":
        return number(float(label), "INFINITY")
    if kind != TEXT:
        return str(int(label)) + ("LL" if kind == "long long" else "")
    return _text(label)


def _text(text: str) -> str:
    """A text as UTF-8. No trigraph can arise, and no digit can be taken for a part of what is before it."""
    encoded = text.encode("utf-8", "surrogatepass").decode("latin-1")
    plain_ones = frozenset(chr(c) for c in range(32, 127)) - frozenset('"\\?')
    return quoted(
        encoded, '"', lambda c: f"\\{c}" if c in '"\\?' else f"\\{ord(c):03o}", plain_ones.__contains__
    )


def _remark(text: str) -> str:
    """A remark that nothing in it ends: one line, without marks of comments, without trigraphs."""
    return re.sub(r"\*(?=/)|/(?=\*)|\?(?=\?)", r"\g<0> ", remark(text))
