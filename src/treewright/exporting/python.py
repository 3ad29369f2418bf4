"""A tree as a Python module that needs nothing but Python: `predict(row)` for a dict of values."""

from __future__ import annotations

import keyword
from collections.abc import Iterator
from typing import Any

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
    family,
    filled,
    labelled,
    number,
    plain,
)
from treewright.exporting.mixing import PYTHON_WALK, divides, parts
from treewright.tree import Tree

_RESERVED = frozenset([*keyword.kwlist, "row"])
_INFINITY = "1e999"  # a literal that is too large: Python reads it as infinity
_MANY = 200  # numbers of a table
_LEAF_START = ("def leaf(row):", '    """The leaf that a row comes to, counted from the left."""')
_READERS = {"number": "_number", "time": "_time", "text": "_text", "name": "_name"}


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
    code = Code(tree)
    check_labels(code)
    check_name(function, "function", {*_RESERVED, "leaf", "float", "str", "int", "type", "getattr"})
    lines = [f"# {line}".rstrip() for line in code.heading()]
    lines += ["#", f"#   {function}(row)" + " " * 9 + _ANSWERS[code.predicts_classes]]
    if code.predicts_classes:
        lines += [f"#   {function}_proba(row)   the share of each class"]
    missing = ", and an error." if tree.missing == "error" else "."
    lines += [
        f"# where row is a dict; a value that is None, NaN or not there is missing{missing}",
        "",
        "import datetime",
        "",
    ]
    lines += _leaf_tables(code)
    lines += ["", *_functions(code, function)]
    lines += ["", *(_nested(code) if code.nests(style) else _looping(code))]
    for reader in sorted({_READERS[family(column)] for column in code.columns}):
        lines += ["", "", *_SOURCES[reader]]
    if code.columns:
        lines += ["", "", *_VALUE]
    if code.demanded:
        lines += ["", "", *_complete(code)]
    if not any(family(column) in ("number", "time") for column in code.columns):
        lines.remove("import datetime")
    return "\n".join(lines) + "\n"


def answers(rendered: str, tree: Tree, table: dict[str, Any], **options: Any) -> NDArray[Any]:
    """What the module answers to the rows of a table, by running it."""
    module: dict[str, Any] = {}
    exec(compile(rendered, "<exported tree>", "exec"), module)
    predict = module[options.get("function", "predict")]
    columns = {name: plain(values) for name, values in table.items()}
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    found = [predict(row) for row in rows]
    return labelled(tree, found)


_ANSWERS = {True: "the class of a row", False: "the number for a row"}


def _leaf_tables(code: Code) -> Iterator[str]:
    """The classes, and what each leaf answers."""
    if code.predicts_classes:
        several = len(code.targets) > 1
        names = [_tuple(map(_literal, target.classes or ())) for target in code.targets]
        yield from _table("CLASSES", names if several else list(map(_literal, code.targets[0].classes or ())))
        yield "# of each leaf, from left to right: the class by its place in CLASSES, and (place, share, …)"
    elif code.formulas is not None:
        yield "# of each leaf, from left to right: a number, and what is added to it: (column, coefficient,"
        yield "# what a value counts as that is missing or not finite)"
        known = code.tree.schema.names
        leaves = [
            _tuple([repr(first), *(repr((known[j], c, mean)) for j, c, mean in terms)])
            for first, terms in code.formulas
        ]
        yield from _table("_FORMULAS", leaves)
        return
    else:
        yield "# of each leaf, from left to right: the number"
    per_target = [list(map(_literal, code.answers(k))) for k in range(len(code.targets))]
    whole = (
        per_target[0] if len(per_target) == 1 else [_tuple(leaf) for leaf in zip(*per_target, strict=True)]
    )
    kind = "int" if code.predicts_classes else "float"
    yield from _table("_ANSWERS", whole, kind if len(per_target) == 1 else "")
    if code.predicts_classes:
        shares = [[_pairs(leaf) for leaf in code.shares(k)] for k in range(len(code.targets))]
        if len(shares) == 1:
            yield from _leaf_shares(shares[0])
        else:
            yield from _table("_SHARES", [_tuple(leaf) for leaf in zip(*shares, strict=True)])
    if divides(code.tree) and code.tree.schema.has_costs:
        yield "# what it costs to answer each class (across) if another one (down) is true"
        costs = [_costs(target.costs) for target in code.targets]
        yield f"_COSTS = {costs[0] if len(costs) == 1 else _tuple(costs)}"


def _costs(costs: Any) -> str:
    return "None" if costs is None else _tuple(_tuple(map(repr, row)) for row in costs)


def _pairs(leaf: list[tuple[int, float]]) -> str:
    return _tuple(f"{code}, {share!r}" for code, share in leaf)


def _tuple(items: Any) -> str:
    text = ", ".join(items)
    return f"({text})" if "," in text else f"({text},)"


def _table(name: str, items: list[str], kind: str = "") -> Iterator[str]:
    """A tuple. Of many numbers of one kind it is made from a text, which Python reads many times faster."""
    one = f"{name} = {_tuple(items)}" if len(items) <= 20 else ""
    if one and len(one) <= 100:
        yield one
    elif kind and len(items) > _MANY:
        yield f'{name} = tuple(map({kind}, """'
        yield from (line.replace(",", "") for line in filled(items))
        yield '""".split()))'
    else:
        yield f"{name} = ("
        yield from filled(items)
        yield ")"


def _leaf_shares(leaves: list[str]) -> Iterator[str]:
    """The shares of each leaf; those of many leaves as a text of one line for each."""
    if len(leaves) <= _MANY:
        yield from _table("_SHARES", leaves)
        return
    yield '_SHARES = tuple(line.split() for line in """'
    yield from (leaf.strip("()").replace(",", "") for leaf in leaves)
    yield '""".strip().splitlines())'


def _functions(code: Code, function: str) -> Iterator[str]:
    """`predict` and `predict_proba`."""
    several, classes = len(code.targets) > 1, code.predicts_classes
    if code.formulas is not None:
        yield from ["", f"def {function}(row):", *_BY_FORMULA]
        return
    if divides(code.tree):
        yield from mixing.python(function, classes=classes, several=several, costs=code.tree.schema.has_costs)
        return
    answer = "_ANSWERS[leaf(row)]"
    if classes:
        answer = (
            f"tuple(classes[place] for classes, place in zip(CLASSES, {answer}))"
            if several
            else f"CLASSES[{answer}]"
        )
    what = _ANSWERS[classes] if not several else "what is predicted for a row, for each target"
    yield from [
        "",
        f"def {function}(row):",
        f'    """{what[0].upper()}{what[1:]}."""',
        f"    return {answer}",
    ]
    if not classes:
        return
    yield from ["", "", f"def {function}_proba(row):"]
    if several:
        yield '    """The share of each class in the leaf of a row, for each target."""'
        yield "    return [_by_class(*both) for both in zip(CLASSES, _SHARES[leaf(row)])]"
    else:
        yield '    """The share of each class in the leaf of a row."""'
        yield "    return _by_class(CLASSES, _SHARES[leaf(row)])"
    yield from ["", "", "def _by_class(classes, pairs):", "    shares = dict.fromkeys(classes, 0.0)"]
    yield "    for place, share in zip(pairs[::2], pairs[1::2]):"
    yield "        shares[classes[int(place)]] = float(share)"
    yield "    return shares"


def _nested(code: Code) -> Iterator[str]:
    """`leaf(row)` as tests within tests."""
    names = code.variables(_RESERVED)
    yield from ["", *_LEAF_START, *["    _complete(row)"] * bool(code.demanded)]
    for j in code.used:
        yield f"    {names[j]} = {_reading(code.tree.schema.columns[j])}"
    for j in code.sums:
        yield f"    {names[j]} = {code.summed(j, names)}"
    if code.tree.missing == "error":
        yield from _demanded(code, [names[j] for j in code.sums])
    for what, node, level in code.steps():
        indent = "    " * (level + 1)
        if what == "leaf":
            yield f"{indent}return {code.place[node]}  # {code.leaf_in_words(node)}"
        elif what == "else":
            yield f"{indent}else:"
        elif what != "end":
            yield f"{indent}{what} {_test(code, node, names)}"


def _reading(column: Column) -> str:
    return f"{_READERS[family(column)]}(row, {column.name!r})"


def _test(code: Code, node: int, names: dict[int, str]) -> str:
    """The test of a node; where it is not plain, with its words."""
    tree = code.tree
    name, words = names[int(tree.feature[node])], f":  # {code.test_in_words(node)}"
    if has_surrogates(tree, node):
        ways, last = asked_in_turn(tree, node, lambda question: _ways(code, question, names))
        return f"({' '.join(f'{then} if {when} else' for when, then in ways)} {last}){words}"
    if tree.subset[node] >= 0:
        within, codes, missing = code.among(node)
        categories = tree.schema.columns[tree.feature[node]].categories
        items = [_literal(categories[c]) for c in codes] + ["None"] * missing
        if not items:
            return f"{not within}{words}"
        test = f"{'in' if within else 'not in'} {{{', '.join(items)}}}"
        said = code.test_in_words(node).endswith(test.replace("'", ""))
        return f"{name} {test}{':' if said else words}"
    test, needs_words = code.compared(node, name, _INFINITY, "not {}", "{0} == {0}")
    return f"{test}{words if needs_words else ':'}"


def _ways(code: Code, question: Question, names: dict[int, str]) -> Ways:
    """A question: whether its value is known, and what it must be."""
    name = names[question.feature]
    if not question.is_category:
        bound = number(question.threshold, _INFINITY)
        return [(f"{name} == {name}", f"{name} {question.operator} {bound}")]
    categories = code.tree.schema.columns[question.feature].categories
    left, right = (
        f"{{{', '.join(_literal(categories[c]) for c in codes)}}}" if codes else ""
        for codes in (question.left, question.right)
    )
    if question.unseen_left is None:
        return [(f"{name} in {of}", then) for of, then in ((left, "True"), (right, "False")) if of]
    word, of = ("not in", right) if question.unseen_left else ("in", left)
    return [(f"{name} is not None", f"{name} {word} {of}" if of else str(question.unseen_left))]


def _looping(code: Code) -> Iterator[str]:
    """`leaf(row)` as a loop over tables."""
    tables = Tables.of(code)
    has_categories = bool(tables.bits)
    yield "# of each node, a branch before what is on its left and that before what is on its right:"
    yield "# the column that it asks (-1: it is a leaf), the threshold, the node on its right (of a leaf: its"
    yield "# number), and whether missing values (1), unseen categories (2) or both (3) go left"
    yield from _table("_COLUMN", list(map(str, tables.column)), "int")
    yield from _table("_THRESHOLD", [number(value, _INFINITY) for value in tables.threshold], "float")
    yield from _table("_RIGHT", list(map(str, tables.right)), "int")
    yield from _table("_SIDES", list(map(str, tables.sides)), "int")
    if tables.others:
        yield "# where the tests begin that stand in for a missing value: the first whose value is known;"
        yield "# they follow the nodes; what passes one with 4 in _SIDES goes right"
        yield from _table("_OTHERS", list(map(str, tables.others)), "int")
    if has_categories or tables.others or divides(code.tree):
        yield "# of categories: where the bits of those that go left begin (-1: it asks a number); the bits"
        yield from _table("_SUBSET", list(map(str, tables.subset)), "int")
        yield "_BITS = bytes.fromhex("
        text = tables.bits.hex()
        yield from (f'    "{text[i : i + 96]}"' for i in range(0, max(len(text), 1), 96))
        yield ")"
    for place, column in enumerate(code.columns):
        if column.kind == "category":
            yield from _table(f"_CATEGORIES_{place}", list(map(_literal, column.categories)))
            yield f"_CODES_{place} = {{name: code for code, name in enumerate(_CATEGORIES_{place})}}"
    if divides(code.tree):
        yield "# of each node, how much of a divided row goes there"
        yield from _table("_PARTS", list(map(repr, parts(code.tree))), "float")
        yield from ["", *PYTHON_WALK, "", "", "def _values(row):", '    """The values that are asked."""']
        yield from [*_values(code), "    return values"]
    else:
        yield from ["", "", *_LEAF_START, *["    _complete(row)"] * bool(code.demanded)]
        yield from [*_values(code), *_walk(tables)]
    if has_categories:
        yield from [
            "",
            "",
            "def _code(value, codes):",
            '    """-1 where it is missing, -2 where it was never seen."""',
        ]
        yield "    return -1 if value is None else codes.get(value, -2)"


def _values(code: Code) -> Iterator[str]:
    """The columns that are asked, then the sums."""
    yield "    values = ("
    for place, column in enumerate(code.columns):
        reading = _reading(column)
        yield f"        {f'_code({reading}, _CODES_{place})' if column.kind == 'category' else reading},"
    yield "    )"
    if code.sums:
        values = {j: f"values[{place}]" for place, j in enumerate(code.used)}
        yield "    values += ("
        yield from (f"        {code.summed(j, values)}," for j in code.sums)
        yield "    )"
        if code.tree.missing == "error":
            yield from _demanded(code, [f"values[{len(code.used) + i}]" for i in range(len(code.sums))])


def _complete(code: Code) -> Iterator[str]:
    """The columns that must be there."""
    names = [repr(code.tree.schema.names[j]) for j in code.demanded if j not in code.sums]
    yield from ["def _complete(row):", '    """ValueError where a value is missing that a test asks."""']
    yield from [
        "    for name in (",
        *filled(names, "        "),
        "    ):",
        "        if _value(row, name) is None:",
    ]
    text = "column {name!r} is missing, and this tree takes complete rows only"
    yield f'            raise ValueError(f"{text}")'


def _demanded(code: Code, names: list[str]) -> Iterator[str]:
    """Sums of infinite numbers may have no value."""
    for j, name in zip(code.sums, names, strict=True):
        yield f"    if {name} != {name}:"
        text = f"{code.tree.tested[j].name} has no value, and this tree takes complete rows only"
        yield f"        raise ValueError({text!r})"


def _walk(tables: Tables) -> Iterator[str]:
    """From the root to the leaf."""
    yield from ["    node = 0", "    while _COLUMN[node] >= 0:"]
    at = "at" if tables.others else "node"
    if tables.others:
        yield from _STANDING_IN
    else:
        yield "        value = values[_COLUMN[node]]"
    if tables.bits:
        yield f"        if _SUBSET[{at}] >= 0:"
        yield "            if value >= 0:"
        yield f"                left = _BITS[_SUBSET[{at}] + (value >> 3)] >> (value & 7) & 1"
        yield "            else:"
        yield f"                left = _SIDES[{at}] & -value"
        yield "        elif value == value:"
    else:
        yield "        if value == value:"
    yield from [f"            left = value <= _THRESHOLD[{at}]", "        else:"]
    yield f"            left = _SIDES[{at}] & 1"
    if tables.others:
        yield "        if _SIDES[at] & 4:"
        yield "            left = not left"
    yield "        node = node + 1 if left else _RIGHT[node]"
    yield "    return _RIGHT[node]"


_STANDING_IN = """\
        at, value = node, values[_COLUMN[node]]
        if value != value or value == -1 and _SUBSET[node] >= 0:
            for other in range(_OTHERS[node], _OTHERS[node + 1]):
                instead = values[_COLUMN[other]]
                if instead >= 0 or instead == instead and _SUBSET[other] < 0:
                    at, value = other, instead
                    break
""".splitlines()


def _literal(label: Any) -> str:
    return number(label, _INFINITY) if isinstance(label, float) else repr(label)


_BY_FORMULA = '''\
    """The number for a row."""
    answer, *terms = _FORMULAS[leaf(row)]
    for name, coefficient, mean in terms:
        value = _number(row, name)
        answer += coefficient * (value if value - value == 0 else mean)
    return answer
'''.splitlines()

_VALUE = '''\
def _value(row, name):
    """The value of a column; None where it is missing."""
    value = row.get(name)
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if getattr(getattr(value, "dtype", None), "kind", None) in ("m", "M"):
        raise TypeError(f"column {name!r} is {value!r}; give a time of Python's datetime")
    return value if value == value else None
'''.splitlines()

_SOURCES = {
    "_number": '''\
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
'''.splitlines(),
    "_time": '''\
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
'''.splitlines(),
    "_text": '''\
def _text(row, name):
    """The value of a column as a text; None where it is missing."""
    value = _value(row, name)
    if value is None or isinstance(value, str):
        return value
    raise TypeError(f"column {name!r} must be a text, not {value!r}")
'''.splitlines(),
    "_name": '''\
def _name(row, name):
    """The value of a column whose categories are numbers or bools; None where it is missing."""
    value = _value(row, name)
    if value is None or not isinstance(value, (str, bytes)):
        return value
    raise TypeError(f"column {name!r} must be a number or a bool, not {value!r}")
'''.splitlines(),
}
