"""A tree as JSON for other programs: columns, targets, and one node per line, with its test or its answer."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from functools import reduce
from operator import add
from typing import Any

from numpy.typing import NDArray

from treewright.encoding.schema import Column, Target
from treewright.exporting._split_tests import Question, has_surrogates, questions, stand_in
from treewright.exporting._tree import Code, check_labels, label_array, plain
from treewright.tree import Tree

VERSION = 2  # of documents with sums, surrogates or another way with missing values; of all others 1
_OTHER_WAYS = ("fractional", "error")
MOST_WORDED = 1000  # nodes; the words of a larger tree take longer than all the rest
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_BEYOND = re.compile("[\ud800-\udfff\u2028\u2029]")  # what some readers of JSON or JavaScript do not take


def render(tree: Tree, *, words: bool | None = None) -> str:
    """A document with all that a prediction needs; to keep a tree for treewright, use `Tree.save`.

    A node is a branch or a leaf. A branch has the "column" that it tests and either the "threshold" (values
    up to it go left) or the "categories_left"; the numbers of its two children; where missing values go and,
    for categories, where those go that were never seen. A leaf has its answer and, for classes, the shares of
    those that are there; lists of them where there are several targets. The answer of a model tree has an
    "intercept" and "terms", each with what a value counts as that is "missing" or not finite. An infinite
    number is ``{"float": "inf"}``. Times are microseconds since 1970. `words` adds each test in words, by
    default to a tree of up to 1,000 nodes.

    In place of a column a branch may test a "sum", a place in the list of "sums": the products of its terms
    (column, weight), added up in order in double precision; it is missing where a part is, or where
    infinities have no sum. Where a branch has "surrogates", the first of them whose value is known (and,
    for categories, was seen) decides for a missing value; if "reversed", numbers up to the threshold go
    right. "missing" is "both" where such a row goes to both children in "parts", and is answered by the
    mixture of its leaves; "error" where the tree takes complete rows only.

    >>> from treewright import encode, grow
    >>> print(render(grow(encode({"x": [1.4, 4.7]}, ["a", "b"])), words=False).rstrip())
    {
      "format": "treewright tree",
      "version": 1,
      "columns": [
        {"name": "x", "kind": "number"}
      ],
      "targets": [
        {"name": "y", "classes": ["a", "b"]}
      ],
      "nodes": [
        {"node": 0, "rows": 2, "column": "x", "threshold": 3.0, "left": 1, "right": 2, "missing": "left"},
        {"node": 1, "rows": 1, "answer": "a", "shares": [["a", 1.0]]},
        {"node": 2, "rows": 1, "answer": "b", "shares": [["b", 1.0]]}
      ]
    }
    """
    code = Code(tree)
    check_labels(code)
    version = VERSION if code.sums or len(tree.surrogates) or tree.missing in _OTHER_WAYS else 1
    lines = ["{", '  "format": "treewright tree",', f'  "version": {version},']
    lines += _list("columns", map(_column, tree.schema.columns))
    lines += _list("sums", [_sum(code, j) for j in code.sums]) if code.sums else []
    lines += _list("targets", map(_target, code.targets))
    words = tree.n_nodes <= MOST_WORDED if words is None else words
    lines += [*_list("nodes", _nodes(code, words), last=True), "}"]
    return "\n".join(lines) + "\n"


def answers(rendered: str, tree: Tree, table: dict[str, Any], **options: Any) -> NDArray[Any]:
    """The predictions for the rows of a table, by following the nodes of the document and nothing else."""
    document = json.loads(rendered)
    reader = _Reader(document, table)
    return label_array(tree, [reader.answer(row) for row in range(len(next(iter(table.values()))))])


class _Reader:
    """Predicts from a document alone."""

    def __init__(self, document: dict[str, Any], table: dict[str, Any]) -> None:
        self.nodes = document["nodes"]
        self.known = {c["name"]: set(map(_read, c.get("categories", ()))) for c in document["columns"]}
        self.columns = {name: plain(table[name]) for name in self.known if name in table}
        self.sums = document.get("sums", ())
        self.targets = document["targets"]

    def answer(self, row: int) -> Any:
        """The prediction for a row: of its leaf, or where it is divided the mixture of its leaves."""
        parts = list(self.parts(row))
        answer = parts[0][0]["answer"] if len(parts) == 1 else self.mixture(parts)
        if isinstance(answer, dict) and "terms" in answer:
            return _formula_value(answer, self.columns, row)
        return tuple(map(_read, answer)) if isinstance(answer, list) else _read(answer)

    def parts(self, row: int) -> Iterator[tuple[dict[str, Any], float]]:
        """The leaves of a row, from left to right, each with its share of the row."""
        waiting = [(0, 1.0)]
        while waiting:
            place, share = waiting.pop()
            node = self.nodes[place]
            if "left" not in node:
                yield node, share
                continue
            side = self.side(node, row)
            if side == "error":
                raise ValueError(f"row {row} has no value of {node.get('column', 'a sum')!r}")
            sides = [(side, 1.0)] if side != "both" else zip(("left", "right"), node["parts"], strict=True)
            below = [(node[side], share * part) for side, part in sides]
            waiting += [(child, part) for child, part in reversed(below) if part > 0]

    def side(self, node: dict[str, Any], row: int) -> str:
        """Where a row goes at a branch: by its test, by the first surrogate that knows, or as missing."""
        for test in (node, *node.get("surrogates", ())):
            value, names = self.value(test, row), self.known.get(test.get("column"), ())
            if value is None or value != value or (names and value not in names and test is not node):
                continue
            if names and value not in names:
                return str(node["unseen"])
            if names:
                passes = value in set(map(_read, test["categories_left"]))
            else:
                passes = value <= _read(test["threshold"])
            return "left" if passes != test.get("reversed", False) else "right"
        return str(node["missing"])

    def value(self, test: dict[str, Any], row: int) -> Any:
        """The value that a test reads; a sum is NaN where a part is missing."""
        if "sum" not in test:
            return self.columns[test["column"]][row]
        values = [(self.columns[name][row], weight) for name, weight in self.sums[test["sum"]]["terms"]]
        return reduce(add, [weight * value for value, weight in values])

    def mixture(self, parts: list[tuple[dict[str, Any], float]]) -> Any:
        """The mean of numbers; the class of the largest share, or that of least cost, by the mixture."""
        several = len(self.targets) > 1
        found = []
        for k, target in enumerate(self.targets):
            leaves = [(leaf, share, k if several else None) for leaf, share in parts]
            found.append(_most_likely(target, leaves) if "classes" in target else _mean(leaves))
        return found if several else found[0]


def _mean(leaves: list[tuple[dict[str, Any], float, int | None]]) -> float:
    numbers = [(leaf["answer"] if k is None else leaf["answer"][k], share) for leaf, share, k in leaves]
    return float(reduce(add, [share * _read(value) for value, share in numbers], 0.0))


def _most_likely(target: dict[str, Any], leaves: list[tuple[dict[str, Any], float, int | None]]) -> Any:
    classes = list(map(_read, target["classes"]))
    mixed = dict.fromkeys(classes, 0.0)
    for leaf, share, k in leaves:
        for label, part in leaf["shares"] if k is None else leaf["shares"][k]:
            mixed[_read(label)] += share * part
    if "costs" not in target:
        return max(classes, key=mixed.__getitem__)
    pairs = [list(zip(mixed.values(), column, strict=True)) for column in zip(*target["costs"], strict=True)]
    costs = [reduce(add, [share * cost for share, cost in of], 0.0) for of in pairs]
    return classes[costs.index(min(costs))]


def _formula_value(formula: dict[str, Any], columns: dict[str, Any], row: int) -> float:
    total: float = formula["intercept"]
    for term in formula["terms"]:
        value = columns[term["column"]][row]
        total += term["coefficient"] * (value if value - value == 0 else term["missing"])
    return total


def _read(value: Any) -> Any:
    return float(value["float"]) if isinstance(value, dict) else value


def _column(column: Column) -> dict[str, Any]:
    categories = {"categories": column.categories} if column.type.has_categories else {}
    return {"name": column.name, "kind": column.kind, **categories}


def _target(target: Target) -> dict[str, Any]:
    facts = {"name": target.name, "classes": target.classes, "costs": target.costs}
    return {name: value for name, value in facts.items() if value is not None}


def _nodes(code: Code, words: bool) -> Iterator[dict[str, Any]]:
    tree = code.tree
    targets = [code.shares(k) for k in range(len(code.targets))] if code.predicts_classes else []
    shares = map(list, zip(*targets, strict=True))
    leaf_answers = list(zip(*_leaf_answers(code), strict=True))
    rows, right = tree.rows.tolist(), tree.right.tolist()
    for node in range(tree.n_nodes):
        facts: dict[str, Any] = {"node": node, "rows": rows[node]}
        if tree.is_leaf[node]:
            facts |= _leaf(code, leaf_answers[code.place[node]], next(shares, None))
        else:
            facts |= _test(code, next(questions(tree, node)))
            if words:
                facts["words"] = code.test_in_words(node)
            facts |= {"left": node + 1, "right": right[node]}
            if has_surrogates(tree, node):
                facts["surrogates"] = [_test(code, stand_in(tree, i)) for i in tree.surrogates.of(node)]
            facts |= _missing(tree, node)
            if tree.subset[node] >= 0:
                facts["unseen"] = "left" if tree.heavier_left[node] else "right"
        yield facts


def _leaf_answers(code: Code) -> list[list[Any]]:
    """What the leaves answer, for each target."""
    if code.formulas is None:
        return [code.answers(k) for k in range(len(code.targets))]
    names, keys = code.tree.schema.names, ("column", "coefficient", "missing")
    formulas = []
    for first, terms in code.formulas:
        facts = [dict(zip(keys, (names[j], c, mean), strict=True)) for j, c, mean in terms]
        formulas.append({"intercept": first, "terms": facts})
    return [formulas]


def _missing(tree: Tree, node: int) -> dict[str, Any]:
    if tree.missing == "error":
        return {"missing": "error"}
    if tree.missing == "fractional":
        children = [tree.weight[node + 1], tree.weight[tree.right[node]]]
        return {"missing": "both", "parts": [float(weight / tree.weight[node]) for weight in children]}
    return {"missing": "left" if tree.missing_left[node] else "right"}


def _test(code: Code, question: Question) -> dict[str, Any]:
    column = code.tree.tested[question.feature]
    facts: dict[str, Any] = {"column": column.name}
    if question.feature in code.sums:
        facts = {"sum": code.sums.index(question.feature)}
    if question.is_category:
        return facts | {"categories_left": [column.categories[c] for c in question.left]}
    facts["threshold"] = question.threshold
    return facts | {"reversed": True} if question.reversed else facts


def _sum(code: Code, feature: int) -> dict[str, Any]:
    names = code.tree.schema.names
    terms = [[names[column], weight] for column, weight in code.terms(feature)]
    return {"name": code.tree.tested[feature].name, "terms": terms}


def _leaf(
    code: Code, answer: tuple[Any, ...], shares: list[list[tuple[int, float]]] | None
) -> dict[str, Any]:
    if shares is None:
        return {"answer": answer[0] if len(answer) == 1 else list(answer)}
    classes = [target.classes or () for target in code.targets]
    labels = [own[place] for own, place in zip(classes, answer, strict=True)]
    named = [[[own[i], share] for i, share in some] for own, some in zip(classes, shares, strict=True)]
    several = len(labels) > 1
    return {"answer": labels if several else labels[0], "shares": named if several else named[0]}


def _list(name: str, entries: Any, last: bool = False) -> Iterator[str]:
    texts = [_text(entry) for entry in entries]
    yield f'  "{name}": ['
    yield from (f"    {text}," for text in texts[:-1])
    yield f"    {texts[-1]}"
    yield "  ]" if last else "  ],"


def _text(entry: Any) -> str:
    """One entry on one line. What is no character by itself is written as an escape."""
    try:
        text = _ENCODER.encode(entry)
    except ValueError:  # an infinite number is in it
        text = _ENCODER.encode(_finite(entry))
    return _BEYOND.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _finite(value: Any) -> Any:
    """Infinite numbers as {"float": "inf"}, for which JSON has no other way."""
    if isinstance(value, float) and math.isinf(value):
        return {"float": str(value)}
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return value
