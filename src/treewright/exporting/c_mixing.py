"""C of trees that divide rows, and what all programs in C share."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from treewright.encoding.kinds import MISSING_CODE as MISSING
from treewright.encoding.schema import Column
from treewright.exporting._tree import Code, Tables, filled, number, words
from treewright.exporting.mixing import DEEPEST, parts

RESERVED = words(
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
TEXT = "const char *"


def asked(code: Code, members: list[str]) -> list[tuple[str, Column]]:
    """The columns that are asked, then the sums: how to write each, and what it is."""
    names, features = code.variables(RESERVED), [*code.used, *code.sums]
    written = [f"row->{member}" for member in members] + [names[j] for j in code.sums]
    return [(name, code.tree.tested[j]) for name, j in zip(written, features, strict=True)]


def table(kind: str, name: str, items: list[str]) -> Iterator[str]:
    """A table of constants within a function."""
    start = f"    static {'const char *const' if kind == TEXT else f'const {kind}'} {name}[] = {{"
    one = f"{start}{', '.join(items)}}};" if len(items) <= 20 else ""
    if one and len(one) <= 100:
        yield one
    else:
        yield start
        yield from filled(items, "        ")
        yield "    };"


def divided(code: Code, name: str, place: int, members: list[str]) -> Iterator[str]:
    """The functions of a tree that sends a row with a missing value to several leaves."""
    if code.tree.depth > DEEPEST:
        raise ValueError(
            f"in c a tree that divides rows (missing='fractional') goes to {DEEPEST:,} tests in a row, and "
            f"this one has {code.tree.depth:,}: prune it, or export it as python, javascript or json"
        )
    tables = Tables.of(code)
    width = len(code.targets[place].classes or ()) if code.predicts_classes else 1
    yield from [f"enum {{ {name}_n_classes = {width} }};", ""] if code.predicts_classes else []
    yield from [*_side(code, name, members, tables), "", *_leaf(name, tables), ""]
    yield from [*_answer(code, name, place), ""]
    yield from _add(code, name, place) if code.predicts_classes else _add_number(name)
    yield from ["", *_mix(code, name, tables, width), ""]
    if not code.predicts_classes:
        yield from _PREDICT_NUMBER.format(name=name).splitlines()
        return
    costs = code.targets[place].costs
    yield from _predict_class(name, costs)
    yield from _PREDICT_PROBA.format(name=name).splitlines()


def _side(code: Code, name: str, members: list[str], tables: Tables) -> Iterator[str]:
    yield "/* whether a row goes left at a node; -1 where the value is missing, 2 at a leaf */"
    yield from [f"static inline int {name}_side(const {name}_row *row, int node)", "{"]
    yield from table("int", "column", list(map(str, tables.column)))
    if any(column.kind != "category" for column in code.columns):
        yield from table("double", "threshold", [number(value, "INFINITY") for value in tables.threshold])
    if tables.bits:
        yield "    /* whether categories that were never seen go left; where the bits of the others begin */"
        yield from table("unsigned char", "unseen", [str(side >> 1) for side in tables.sides])
        yield from table("long", "subset", list(map(str, tables.subset)))
        yield from table("unsigned char", "bits", list(map(str, tables.bits)))
    yield "    switch (column[node]) {"
    sums = len(members)
    for at, (value, column) in enumerate(asked(code, members)):
        yield f"    case {at}:"
        if column.kind == "category":
            yield f"        if ({value} >= 0 && {value} < {len(column.categories)})"
            yield f"            return bits[subset[node] + {value} / 8] >> ({value} % 8) & 1;"
            yield f"        return {value} == {MISSING} ? -1 : unseen[node];"
        elif at < sums:
            yield f"        return isnan({value}) ? -1 : {value} <= threshold[node];"
        else:
            yield f"        {{ const double sum = {name}_{value}(row);"
            yield "        return isnan(sum) ? -1 : sum <= threshold[node]; }"
    yield from ["    default:", "        return 2;", "    }", "}"]


def _leaf(name: str, tables: Tables) -> Iterator[str]:
    yield "/* the leaf of the heaviest part of a row, counted from the left */"
    yield from [f"static inline int {name}_leaf(const {name}_row *row)", "{"]
    yield "    /* of each node the one on its right (of a leaf: its number); whether the left is heavier */"
    yield from table("int", "right", list(map(str, tables.right)))
    yield from table("unsigned char", "heavier", [str(side & 1) for side in tables.sides])
    yield "    int node = 0, side;"
    yield f"    while ((side = {name}_side(row, node)) != 2) {{"
    yield "        if (side < 0) side = heavier[node];"
    yield from ["        node = side ? node + 1 : right[node];", "    }", "    return right[node];", "}"]


def _answer(code: Code, name: str, place: int) -> Iterator[str]:
    kind = "int" if code.predicts_classes else "double"
    yield "/* what a leaf answers */"
    yield from [f"static inline {kind} {name}_answer(int leaf)", "{"]
    found = code.answers(place)
    items = list(map(str, found)) if code.predicts_classes else [number(value, "INFINITY") for value in found]
    yield from [*table(kind, "answers", items), "    return answers[leaf];", "}"]


def _add(code: Code, name: str, place: int) -> Iterator[str]:
    leaves = list(code.shares(place))
    pairs = [pair for leaf in leaves for pair in leaf]
    yield "/* adds the shares of the classes in a leaf, times a share; stored, so that nothing is fused */"
    yield from [f"static inline void {name}_add(int leaf, double share, double *mixed)", "{"]
    yield from table("int", "start", list(map(str, np.cumsum([0, *map(len, leaves)]).tolist())))
    yield from table("int", "classes", [str(code) for code, _ in pairs])
    yield from table("double", "of", [repr(share) for _, share in pairs])
    yield from ["    volatile double part;", "    int k;"]
    yield "    for (k = start[leaf]; k < start[leaf + 1]; ++k) {"
    yield "        part = share * of[k];"
    yield from ["        mixed[classes[k]] = mixed[classes[k]] + part;", "    }", "}"]


def _add_number(name: str) -> Iterator[str]:
    yield "/* adds what a leaf answers, times a share; stored, so that nothing is fused */"
    yield from [f"static inline void {name}_add(int leaf, double share, double *mixed)", "{"]
    yield f"    volatile double part = share * {name}_answer(leaf);"
    yield from ["    *mixed = *mixed + part;", "}"]


def _mix(code: Code, name: str, tables: Tables, width: int) -> Iterator[str]:
    yield "/* how many leaves a row comes to; what they say together, and the last one */"
    yield from [f"static inline int {name}_mix(const {name}_row *row, double *mixed, int *leaf)", "{"]
    yield from table("int", "right", list(map(str, tables.right)))
    yield "    /* of each node, how much of a divided row goes there */"
    yield from table("double", "parted", list(map(repr, parts(code.tree))))
    yield from _MIX.format(name=name, width=width, depth=code.tree.depth).splitlines()


_MIX = """\
    struct {{ int node; double share; }} waiting[{depth}];
    int n_waiting = 1, count = 0, k;
    for (k = 0; k < {width}; ++k) mixed[k] = 0.0;
    waiting[0].node = 0;
    waiting[0].share = 1.0;
    while (n_waiting > 0) {{
        int node = waiting[--n_waiting].node, side;
        double share = waiting[n_waiting].share;
        while ((side = {name}_side(row, node)) != 2 && share > 0.0) {{
            if (side >= 0) {{
                node = side ? node + 1 : right[node];
                continue;
            }}
            waiting[n_waiting].node = right[node];
            waiting[n_waiting].share = share * parted[right[node]];
            if (waiting[n_waiting].share > 0.0) ++n_waiting;
            share = share * parted[++node];
        }}
        if (share > 0.0) {{
            {name}_add(*leaf = right[node], share, mixed);
            ++count;
        }}
    }}
    return count;
}}
"""

_PREDICT_NUMBER = """\
/* the number for a row: of its leaf, or the mean of several by its shares in them */
static inline double {name}_predict(const {name}_row *row)
{{
    double mixed;
    int leaf = 0;
    return {name}_mix(row, &mixed, &leaf) == 1 ? {name}_answer(leaf) : mixed;
}}
"""

_PREDICT_PROBA = """
/* the share of each class for a row, in its leaf or a mixture of several: {name}_n_classes numbers */
static inline void {name}_predict_proba(const {name}_row *row, double *shares)
{{
    int leaf = 0, k;
    if ({name}_mix(row, shares, &leaf) != 1) return;
    for (k = 0; k < {name}_n_classes; ++k) shares[k] = 0.0;
    {name}_add(leaf, 1.0, shares);
}}
"""


def _predict_class(name: str, costs: tuple[tuple[float, ...], ...] | None) -> Iterator[str]:
    yield "/* the code of the class for a row: of its leaf, or by a mixture of several */"
    yield from [f"static inline int {name}_predict(const {name}_row *row)", "{"]
    if costs is not None:
        yield "    /* what it costs to answer each class (across) if another one (down) is true */"
        yield from table("double", "costs", [repr(cost) for row in costs for cost in row])
        yield "    volatile double part;"
        yield "    int i;"
    yield f"    double mixed[{name}_n_classes]" + (f", total[{name}_n_classes];" if costs else ";")
    yield "    int leaf = 0, best = 0, k;"
    yield f"    if ({name}_mix(row, mixed, &leaf) == 1) return {name}_answer(leaf);"
    if costs is None:
        yield f"    for (k = 1; k < {name}_n_classes; ++k) if (mixed[k] > mixed[best]) best = k;"
    else:
        yield f"    for (k = 0; k < {name}_n_classes; ++k) total[k] = 0.0;"
        yield f"    for (i = 0; i < {name}_n_classes; ++i) for (k = 0; k < {name}_n_classes; ++k) {{"
        yield f"        part = mixed[i] * costs[i * {name}_n_classes + k];"
        yield from ["        total[k] = total[k] + part;", "    }"]
        yield f"    for (k = 1; k < {name}_n_classes; ++k) if (total[k] < total[best]) best = k;"
    yield from ["    return best;", "}"]
