"""A tree as JSON for other programs: columns, targets, and one node per line, with its test or its answer."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from treewright.exporting.coding import Code, check_labels, labelled, plain
from treewright.schema import Column, Target
from treewright.tree import Tree

VERSION = 1
MOST_TOLD = 1000  # nodes; to find the words of a large tree takes longer than all the rest
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
_BEYOND = re.compile("[\ud800-\udfff\u2028\u2029]")  # what some readers of JSON or JavaScript do not take


def render(tree: Tree, *, words: bool | None = None) -> str:
    """A document that tells all that the tree decides; to keep a tree for treewright there is `Tree.save`.

    A node is a branch or a leaf. A branch has the "column" that it asks and either the "threshold" (values
    up to it go left) or the "categories_left"; the numbers of its two children; where missing values go and,
    for categories, where those go that were never seen. A leaf has its answer and, for classes, the shares of
    those that are there; lists of them where there are several targets. The answer of a model tree has an
    "intercept" and "terms", each with what a value counts as that is "missing" or not finite. An infinite
    number is ``{"float": "inf"}``. Times are microseconds since 1970. `words` adds each test in words, by
    default to a tree of up to 1,000 nodes.

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
    lines = ["{", '  "format": "treewright tree",', f'  "version": {VERSION},']
    lines += [
        *_list("columns", map(_column, tree.schema.columns)),
        *_list("targets", map(_target, code.targets)),
    ]
    tells = tree.n_nodes <= MOST_TOLD if words is None else words
    lines += [*_list("nodes", _nodes(code, tells), last=True), "}"]
    return "\n".join(lines) + "\n"


def answers(rendered: str, tree: Tree, table: dict[str, Any], **options: Any) -> NDArray[Any]:
    """What the document says of the rows of a table, by following its nodes and nothing else."""
    document = json.loads(rendered)
    kinds = {column["name"]: column["kind"] for column in document["columns"]}
    known = {column["name"]: set(map(_read, column.get("categories", ()))) for column in document["columns"]}
    columns = {name: plain(table[name]) for name in kinds}
    nodes = document["nodes"]
    lefts = [set(map(_read, node.get("categories_left", ()))) for node in nodes]
    found: list[Any] = []
    for row in range(len(next(iter(columns.values())))):
        place = 0
        while "column" in (node := nodes[place]):
            value = columns[node["column"]][row]
            if value is None or value != value:
                side = node["missing"]
            elif "threshold" in node:
                side = "left" if value <= _read(node["threshold"]) else "right"
            elif value not in known[node["column"]]:
                side = node["unseen"]
            else:
                side = "left" if value in lefts[place] else "right"
            place = node[side]
        answer = node["answer"]
        if isinstance(answer, dict) and "terms" in answer:
            found.append(_summed(answer, columns, row))
            continue
        found.append(tuple(map(_read, answer)) if isinstance(answer, list) else _read(answer))
    return labelled(tree, found)


def _summed(formula: dict[str, Any], columns: dict[str, Any], row: int) -> float:
    total: float = formula["intercept"]
    for term in formula["terms"]:
        value = columns[term["column"]][row]
        total += term["coefficient"] * (value if value - value == 0 else term["missing"])
    return total


def _read(value: Any) -> Any:
    return float(value["float"]) if isinstance(value, dict) else value


def _column(column: Column) -> dict[str, Any]:
    facts: dict[str, Any] = {"name": column.name, "kind": column.kind}
    if column.kind == "category":
        facts["categories"] = list(column.categories)
    return facts


def _target(target: Target) -> dict[str, Any]:
    facts: dict[str, Any] = {"name": target.name}
    if target.classes is not None:
        facts["classes"] = list(target.classes)
    if target.costs is not None:
        facts["costs"] = target.costs
    return facts


def _nodes(code: Code, words: bool) -> Iterator[dict[str, Any]]:
    tree = code.tree
    shares = _joined([code.shares(k) for k in range(len(code.targets))]) if code.predicts_classes else None
    leaf_answers = list(zip(*_leaf_answers(code), strict=True))
    rows, right = tree.rows.tolist(), tree.right.tolist()
    for node in range(tree.n_nodes):
        facts: dict[str, Any] = {"node": node, "rows": rows[node]}
        if tree.is_leaf[node]:
            facts |= _leaf(code, leaf_answers[code.place[node]], next(shares) if shares else None)
        else:
            facts |= _test(code, node)
            if words:
                facts["words"] = code.test_in_words(node)
            facts |= {"left": node + 1, "right": right[node]}
            facts["missing"] = "left" if tree.missing_left[node] else "right"
            if tree.subset[node] >= 0:
                facts["unseen"] = "left" if tree.heavier_left[node] else "right"
        yield facts


def _leaf_answers(code: Code) -> list[list[Any]]:
    """What the leaves answer, for each target."""
    if code.formulas is None:
        return [code.answers(k) for k in range(len(code.targets))]
    names = code.tree.schema.names
    formulas = [
        {
            "intercept": first,
            "terms": [{"column": names[j], "coefficient": c, "missing": mean} for j, c, mean in terms],
        }
        for first, terms in code.formulas
    ]
    return [formulas]


def _test(code: Code, node: int) -> dict[str, Any]:
    column = code.tree.schema.columns[code.tree.feature[node]]
    if code.tree.subset[node] < 0:
        return {"column": column.name, "threshold": float(code.tree.threshold[node])}
    return {
        "column": column.name,
        "categories_left": [column.categories[c] for c in code.codes_left(node).tolist()],
    }


def _joined(targets: list[Iterator[list[tuple[int, float]]]]) -> Iterator[list[list[tuple[int, float]]]]:
    return map(list, zip(*targets, strict=True))


def _leaf(
    code: Code, answer: tuple[Any, ...], shares: list[list[tuple[int, float]]] | None
) -> dict[str, Any]:
    if shares is None:
        return {"answer": answer[0] if len(answer) == 1 else list(answer)}
    labels = [(target.classes or ())[place] for target, place in zip(code.targets, answer, strict=True)]
    named = [
        [[(target.classes or ())[place], share] for place, share in pairs]
        for target, pairs in zip(code.targets, shares, strict=True)
    ]
    if len(labels) == 1:
        return {"answer": labels[0], "shares": named[0]}
    return {"answer": labels, "shares": named}


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
