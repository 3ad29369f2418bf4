"""A tree as PMML 4.4, the XML of models: nodes within nodes, and where it is deep in pieces side by side."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace
from math import inf, isinf
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from treewright._version import __version__
from treewright.encoding import Dataset
from treewright.encoding.schema import Column, Schema
from treewright.exporting._check.probes import encode_table
from treewright.exporting._split_tests import Question, has_surrogates, questions, refuse_parts
from treewright.exporting._subtrees import Pieces, pieces
from treewright.exporting._tree import Code, optional_module, unknown_label
from treewright.tree.conditions import Between, Condition, Within, merge_conditions
from treewright.tree.rule_list import paths, weights_by_class
from treewright.tree.tree import Tree, as_array

DEEPEST = 200  # readers of XML recurse once per level, and some stop at 256
MOST_TERMS = 100  # of a sum, each one level deeper than the one before
LARGEST = 1.7976931348623157e308
ROWS_AT_ONCE = 20_000
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML 1.0
_PLAIN = re.compile(r"[\w.+-]+")  # texts that a list of words holds without any quotes


def render(tree: Tree, *, name: str = "treewright") -> str:
    """The tree as the text of a PMML file; `name` is that of the model in it.

    Missing values and unknown categories go where they go in the tree: the predicates of the nodes say so.
    Times are numbers, microseconds since 1970. A tree deeper than 200 tests is written in pieces, side by
    side.

    >>> from treewright import encode, export, grow
    >>> tree = grow(encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"]))
    >>> print(export(tree, "pmml"))  # doctest: +ELLIPSIS
    <?xml version="1.0" encoding="UTF-8"?>
    <PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4">
    ...
    <Node id="2" recordCount="2" score="b">
    <SimplePredicate field="x" operator="greaterThan" value="2.5"/>
    ...
    """
    schema = tree.schema
    if len(schema.targets) != 1:
        raise ValueError(
            f"a tree of PMML has one target; this one has {len(schema.targets)}: "
            "export it as onnx, treelite or code"
        )
    if "" in (*tree.schema.names, tree.schema.targets[0].name):
        raise ValueError("a column or target has no name (''), and PMML takes no empty one; rename it")
    _refuse_what_pmml_lacks(tree)
    return "\n".join(_lines(tree, name)) + "\n"


def _refuse_what_pmml_lacks(tree: Tree) -> None:
    refuse_parts(tree, "pmml")
    code = Code(tree)
    if tree.depth > DEEPEST and (code.sums or len(tree.surrogates)):
        what = "sums of columns" if code.sums else "surrogates"
        raise ValueError(
            f"in pmml a tree with {what} goes to {DEEPEST} tests in a row, and this one has {tree.depth}: "
            "prune it, or export it as onnx, sql or code"
        )
    if any(len(code.terms(j)) > MOST_TERMS for j in code.sums):
        raise ValueError(f"in pmml a sum has up to {MOST_TERMS} columns: export this as onnx, sql or code")


def _lines(tree: Tree, name: str) -> Iterator[str]:
    schema = tree.schema
    function = "classification" if schema.predicts_classes else "regression"
    target = _target_name(schema)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4">'
    yield f'<Header><Application name="treewright" version={_quote(__version__)}/></Header>'
    yield f'<DataDictionary numberOfFields="{len(schema.columns) + 1}">'
    yield from map(_data_field, schema.columns)
    yield from _target_field(schema, target)
    yield "</DataDictionary>"
    yield from _derived_fields(tree)
    yield (
        f'<TreeModel modelName={_quote(name)} functionName="{function}" '
        'missingValueStrategy="none" noTrueChildStrategy="returnNullPrediction" '
        f'splitCharacteristic="{"binarySplit" if tree.depth <= DEEPEST else "multiSplit"}">'
    )
    yield "<MiningSchema>"
    for column in schema.columns:
        yield f'<MiningField name={_quote(column.name)} invalidValueTreatment="asIs"/>'
    yield f'<MiningField name={_quote(target)} usageType="target"/>'
    yield "</MiningSchema>"
    yield from _outputs(schema)
    yield from _nodes(tree)
    yield "</TreeModel>"
    yield "</PMML>"


# ---- names and fields --------------------------------------------------------------------------------------


def _quote(text: object) -> str:
    """A value of an attribute, in quotes."""
    written = str(text)
    if _UNWRITABLE.search(written):
        raise ValueError(
            f"{written!r} holds a character that XML cannot; rename it to export the tree as PMML"
        )
    return quoteattr(written)


def _target_name(schema: Schema) -> str:
    return _free(schema.targets[0].name, schema.names)


def _free(name: str, taken: Iterable[str]) -> str:
    known = frozenset(taken)
    while name in known:
        name += "_"
    return name


def _are_numbers(values: tuple[Hashable, ...]) -> bool:
    return bool(values) and not isinstance(values[0], str | bool)


def _value_text(value: Hashable) -> str:
    """A category or class as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    number = float(value)  # type: ignore[arg-type]
    if number != value or isinf(number):
        raise ValueError(f"the category or class {value} is no finite float64, so PMML cannot hold it")
    return repr(number + 0.0)


_DOUBLE, _STRING = (
    'optype="continuous" dataType="double"',
    'optype="categorical" dataType="string"',
)


def _data_field(column: Column) -> str:
    """A column: numbers, and categories that are numbers, are doubles; other categories are texts.

    Readers differ, and these are the types that let a value be missing, or none of the categories: not
    booleans, not categorical doubles, and no list of valid values.
    """
    is_number = not column.is_category or _are_numbers(column.categories)
    return f"<DataField name={_quote(column.name)} {_DOUBLE if is_number else _STRING}/>"


def _target_field(schema: Schema, name: str) -> Iterator[str]:
    classes = schema.targets[0].classes
    if classes is None:
        yield f"<DataField name={_quote(name)} {_DOUBLE}/>"
        return
    yield f"<DataField name={_quote(name)} {_STRING}>"
    yield from (f"<Value value={_quote(_value_text(label))}/>" for label in classes)
    yield "</DataField>"


def _outputs(schema: Schema) -> Iterator[str]:
    """The answer, and for classes the share of each."""
    classes, answer = schema.targets[0].classes, _answer_name(schema)
    kind = _DOUBLE if classes is None else _STRING
    yield f'<Output>\n<OutputField name={_quote(answer)} feature="predictedValue" {kind}/>'
    names = {*schema.names, _target_name(schema), answer}
    for text in map(_value_text, classes or ()):
        name = _free(f"probability({text})", names)
        names.add(name)
        yield f'<OutputField name={_quote(name)} feature="probability" value={_quote(text)} {_DOUBLE}/>'
    yield "</Output>"


def _answer_name(schema: Schema) -> str:
    return _free("answer", (*schema.names, _target_name(schema)))


def _sum_names(tree: Tree) -> dict[int, str]:
    """What the sums that are tested are called: names that nothing else has."""
    names: dict[int, str] = {}
    taken = (*tree.schema.names, _target_name(tree.schema), _answer_name(tree.schema))
    for place, j in enumerate(Code(tree).sums, start=1):
        names[j] = _free(f"sum {place}", (*taken, *names.values()))
    return names


def _derived_fields(tree: Tree) -> Iterator[str]:
    """The sums of columns: products, added up one after the other."""
    code, names = Code(tree), _sum_names(tree)
    if names:
        yield "<TransformationDictionary>"
    for j, name in names.items():
        total = ""
        for column, weight in code.terms(j):
            field = f"<FieldRef field={_quote(tree.schema.names[column])}/>"
            part = f'<Apply function="*"><Constant dataType="double">{weight!r}</Constant>{field}</Apply>'
            total = f'<Apply function="+">{total}{part}</Apply>' if total else part
        yield f"<DerivedField name={_quote(name)} {_DOUBLE}>{total}</DerivedField>"
    if names:
        yield "</TransformationDictionary>"


# ---- nodes -------------------------------------------------------------------------------------------------


def _nodes(tree: Tree) -> Iterator[str]:
    """Every node within the one above it; the nodes are in preorder, so no stack is needed.

    A deep tree is cut into pieces, side by side below a common root, each with the conditions of its way.
    Those further down come first: a row belongs to the first piece whose conditions it fulfils, and there to
    a node of that very piece.
    """
    cut, heads = pieces(tree, DEEPEST), _Heads(tree)
    if cut.levels == 1:
        yield from _piece(tree, 0, cut, heads, "<True/>")
        return
    columns = {column.name: column for column in tree.schema.columns}
    ways = {0: "<True/>"}
    for root, conditions in paths(tree, cut.is_root):
        tests = [
            _predicate(condition, columns[condition.column]) for condition in merge_conditions(conditions)
        ]
        ways[root] = _compound("and", tests)
    yield f'<Node id="pieces" recordCount="{heads.count(0)}">'
    yield "<True/>"
    for root in sorted(ways, reverse=True):
        yield from _piece(tree, root, cut, heads, ways[root])
    yield "</Node>"


def _piece(tree: Tree, root: int, cut: Pieces, heads: _Heads, way: str) -> Iterator[str]:
    """The nodes of one piece; `way` is what leads to it."""
    node, end = root, int(tree.end[root])
    open_ends: list[int] = []
    while node < end:
        yield heads.of(node)
        if node == root:
            yield way
        else:
            parent = int(tree.parent[node])
            yield heads.predicate(parent, node == parent + 1)
        yield from heads.shares(node)
        open_ends.append(int(tree.end[node]))
        node += 1
        while node < end and cut.is_root[node]:  # another piece is told elsewhere
            node = int(tree.end[node])
        while open_ends and open_ends[-1] <= node:
            open_ends.pop()
            yield "</Node>"


class _Heads:
    """The elements of nodes: id, weight, and at leaves the prediction and the shares of its classes."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.weight = tree.weight.tolist()
        self.is_leaf = tree.is_leaf.tolist()
        classes = tree.schema.targets[0].classes
        self.labels = None if classes is None else [_quote(_value_text(label)) for label in classes]
        self.place = np.cumsum(tree.is_leaf) - 1
        self.sums = {j: Column(name) for j, name in _sum_names(tree).items()}
        if classes is not None:
            leaves = tree.answering[tree.is_leaf].astype(
                np.intp
            )  # a leaf without rows answers as one above it
            self.start, self.code, self.weights = weights_by_class(tree, leaves)
            self.total = tree.weight[leaves].tolist()

    def predicate(self, parent: int, is_left: bool) -> str:
        """The condition for going to one child of a node."""
        tree, j = self.tree, int(self.tree.feature[parent])
        if has_surrogates(tree, parent):
            return self._in_turn(parent, is_left)
        condition = tree.condition(parent, is_left)
        if tree.missing == "error":  # no child takes it, and the answer is none
            condition = replace(condition, missing=False)
        return _predicate(condition, self.sums.get(j) or tree.schema.columns[j])

    def _in_turn(self, parent: int, is_left: bool) -> str:
        """The same by surrogates: a test holds, and there is no value for any of those before it."""
        ways, unknown = list[str](), list[str]()
        for question in questions(self.tree, parent, to_left=is_left):
            column = self.sums.get(question.feature) or self.tree.tested[question.feature]
            test, lost = _conditions(question, column)
            ways.append(_compound("and", [*unknown, _predicate(test, column)]))
            unknown.append(_predicate(lost, column))
        if bool(self.tree.missing_left[parent]) == is_left:
            ways.append(_compound("and", unknown))
        return _compound("or", ways)

    def count(self, node: int) -> str:
        """The weight of a node."""
        return repr(self.weight[node]).removesuffix(".0")

    def of(self, node: int) -> str:
        """The opening tag."""
        head = f'<Node id="{node}" recordCount="{self.count(node)}"'
        if not self.is_leaf[node]:
            return head + ">"
        if self.labels is None:
            return f'{head} score="{float(self.tree.value[node, 0])!r}">'
        return f"{head} score={self.labels[self.tree.label[node, 0]]}>"

    def shares(self, node: int) -> Iterator[str]:
        """The classes of a leaf."""
        if self.labels is None or not self.is_leaf[node]:
            return
        place = self.place[node]
        total, part = self.total[place], slice(*self.start[place : place + 2])
        for code, weight in zip(self.code[part].tolist(), self.weights[part].tolist(), strict=True):
            yield (
                f"<ScoreDistribution value={self.labels[code]} "
                f'recordCount="{weight!r}" probability="{weight / total!r}"/>'
            )


def _conditions(question: Question, column: Column) -> tuple[Condition, Condition]:
    """The test of a known value, and the condition that it is not known."""
    name = column.name
    if not question.is_category:
        above, upto = (question.threshold, None) if question.reversed else (None, question.threshold)
        return Between(name, above, upto), Between(name, above=inf, missing=True)
    own = tuple(column.categories[code] for code in question.left)
    test = Within(name, own, unseen=bool(question.unseen_left))
    return test, Within(name, (), missing=True, unseen=question.unseen_left is None)


def _predicate(condition: Condition, column: Column) -> str:
    """A condition: the test of known values, or that the value is missing."""
    name = _quote(column.name)
    if isinstance(condition, Within):
        tests, joint = _set_tests(condition, column, name), "and" if condition.unseen else "or"
    else:
        tests, joint = _number_tests(condition.above, condition.upto, name), "and"
    if tests is None:  # every known value
        return "<True/>" if condition.missing else _simple(name, "isNotMissing")
    missing = _simple(name, "isMissing")
    if not tests:  # no known value
        return missing if condition.missing else "<False/>"
    known = _compound(joint, tests)
    return _compound("or", [known, missing]) if condition.missing else known


def _simple(name: str, operator: str, value: str = "") -> str:
    """A predicate; name and value are quoted."""
    return f'<SimplePredicate field={name} operator="{operator}"{value and f" value={value}"}/>'


def _number_tests(above: float | None, upto: float | None, name: str) -> list[str] | None:
    """The test above < x <= upto, without the word infinity, which readers spell differently."""
    if above == inf:
        return []
    tests = []
    if above is not None:
        operator, value = ("greaterThan", above) if above > -inf else ("greaterOrEqual", -LARGEST)
        tests.append(_simple(name, operator, f'"{value + 0.0!r}"'))
    if upto is not None and upto < inf:
        operator, value = ("lessOrEqual", upto) if upto > -inf else ("lessThan", -LARGEST)
        tests.append(_simple(name, operator, f'"{value + 0.0!r}"'))
    return tests or None


def _set_tests(condition: Within, column: Column, name: str) -> list[str] | None:
    """One of some categories, or none of the others: plain words as a list, the rest one by one."""
    own = frozenset(condition.categories)
    words = [_value_text(c) for c in column.categories if (c in own) != condition.unseen]
    if not words:
        return None if condition.unseen else []
    plain_words = [word for word in words if _PLAIN.fullmatch(word)]
    tests = []
    if len(plain_words) > 1:
        operator = "isNotIn" if condition.unseen else "isIn"
        kind = "real" if _are_numbers(column.categories) else "string"
        array = f'<Array n="{len(plain_words)}" type="{kind}">{" ".join(plain_words)}</Array>'
        tests.append(
            f'<SimpleSetPredicate field={name} booleanOperator="{operator}">{array}</SimpleSetPredicate>'
        )
        words = [word for word in words if not _PLAIN.fullmatch(word)]
    operator = "notEqual" if condition.unseen else "equal"
    return tests + [_simple(name, operator, _quote(word)) for word in words]


def _compound(operator: str, predicates: list[str]) -> str:
    if len(predicates) < 2:
        return predicates[0] if predicates else "<True/>"
    return f'<CompoundPredicate booleanOperator="{operator}">{"".join(predicates)}</CompoundPredicate>'


# ---- running it --------------------------------------------------------------------------------------------


def answers(rendered: str, tree: Tree, table: Any, *, name: str = "treewright") -> NDArray[Any]:
    """The predictions of a rendered model by PMML4S for the rows of a table; needs pypmml and Java."""
    pypmml = optional_module("pypmml", "with Java, to run PMML models", "pypmml")
    model = pypmml.Model.fromString(rendered)
    data = encode_table(table, tree)
    answer = _answer_name(tree.schema)
    predictions: list[Any] = []
    for start in range(0, data.n_rows, ROWS_AT_ONCE):
        result = json.loads(model.predict(_as_json(data.take(slice(start, start + ROWS_AT_ONCE)))))
        place = result["columns"].index(answer)
        predictions += [row[place] for row in result["data"]]
    classes = tree.schema.targets[0].classes
    if classes is None:
        return np.array(predictions, np.float64)
    codes = {_value_text(label): code for code, label in enumerate(classes)}
    return as_array(classes)[[codes[word] for word in predictions]]


def _as_json(data: Dataset) -> str:
    """Rows as PMML4S reads them; infinite numbers as such that no double holds."""
    columns = []
    for j, column in enumerate(data.schema.columns):
        values = data.column(j).tolist()
        if column.is_category:  # code -1 is a missing value, -2 an unknown one
            labels = (*column.categories, unknown_label(column.categories), None)
            texts = list(map(json.dumps, labels))
            columns.append([texts[code] for code in values])
        else:
            columns.append(list(map(_number_as_json, values)))
    rows = ",".join("[" + ",".join(row) + "]" for row in zip(*columns, strict=True))
    return f'{{"columns": {json.dumps(data.schema.names)}, "data": [{rows}]}}'


def _number_as_json(value: float) -> str:
    if value != value:
        return "null"
    return repr(value) if not isinf(value) else "1e999" if value > 0 else "-1e999"
