"""The layout of a model file: the lines of its JSON, in an order that never changes within a version.

What JSON cannot express: NaN is null, an infinite threshold "inf" or "-inf", an infinite category
{"float": "inf"}, a text with lone surrogates, which UTF-8 cannot encode, {"characters": […]}.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from treewright._arrays import Array, Floats
from treewright._version import __version__
from treewright.encoding import Provenance
from treewright.encoding.schema import Column, Schema, Target
from treewright.encoding.text import TextFormat
from treewright.tree import Tree
from treewright.tree.class_counts import SparseRows
from treewright.tree.linear_leaves import LinearAnswers

# After them comes the statistic, with which files before version 3 end.
ARRAYS = {name: kind for name, kind in Tree.array_types().items() if name != "joined"}
DIRECTION_TYPES: dict[str, type[np.generic]] = {"start": np.int64, "column": np.int64, "weight": np.float64}
TEXT_FIELDS = ("kind", "decimal", "thousands", "date_format")  # and the affixes
NUMBER_STATISTIC = ("weight", "value", "deviation")
_SURROGATE = re.compile("[\ud800-\udfff]")
LARGEST_INTEGER_BITS = 4096  # of a category or class; Python refuses to read far larger ones
_WRITER = (b"{\n", f'    "writer": "treewright {__version__}",\n'.encode())

Facts = dict[str, str | bool | int | Floats | None]  # of an ensemble, by the names of their lines


def model_version(trees: Sequence[Tree], is_ensemble: bool) -> int:
    """The lowest version that can express the trees, so that older releases can read them."""
    if any(tree.schema.reads_texts for tree in trees):
        return 6
    if any(tree.provenance is not None for tree in trees):
        return 5
    if is_ensemble:
        return 4
    return 3 if is_extended(trees[0]) else 2 if trees[0].schema.has_costs else 1


def model_lines(tree: Tree) -> Iterator[bytes]:
    """The model of one tree, line by line."""
    schema_lines = [*_columns_lines(tree.schema), *_targets_lines(tree.schema)]
    yield from _WRITER
    yield from _tree_lines(tree, schema_lines, model_version([tree], False))
    yield b"  }"


def ensemble_lines(kind: str, schema: Schema, facts: Facts, trees: Sequence[Tree]) -> Iterator[bytes]:
    """The model of an ensemble: schema, facts, trees; a tree has targets only if the ensemble has others."""
    version = model_version(trees, True)
    yield from _WRITER
    yield _entry_line("kind", kind)
    yield from _columns_lines(schema)
    yield from _targets_lines(schema)
    for name, fact in facts.items():
        yield _array_line(name, fact) if isinstance(fact, np.ndarray) else _entry_line(name, fact)
    yield b'    "trees": [\n'
    for place, tree in enumerate(trees):
        own = () if tree.schema.targets == schema.targets else _targets_lines(tree.schema)
        yield b"      {\n"
        yield from (b"    " + line for line in _tree_lines(tree, own, version))
        yield b"      }\n" if place == len(trees) - 1 else b"      },\n"
    yield b"    ]\n  }"


def _tree_lines(tree: Tree, schema_lines: Iterable[bytes], version: int) -> Iterator[bytes]:
    """The lines of a tree by itself or in an ensemble."""
    yield _entry_line("criterion", tree.criterion)
    if is_extended(tree):
        yield _entry_line("missing", tree.missing)
    if version >= 5:
        yield from _provenance_lines(tree.provenance)
    yield from schema_lines
    for name in ARRAYS:
        yield _array_line(name, getattr(tree, name))
    parts = [(f"statistic {name}", array) for name, array in statistic_parts(tree)]
    if is_extended(tree):
        parts += _extended_parts(tree)
    for name, array in parts:
        yield _array_line(name, array, last=name == parts[-1][0])


def _provenance_lines(provenance: Provenance | None) -> Iterator[bytes]:
    for name in ("labels", "weights"):
        yield _entry_line(name, None if provenance is None else getattr(provenance, name))
    if provenance is None or provenance.incomplete is None:
        yield _entry_line("incomplete columns", None)
    else:
        yield _array_line("incomplete columns", np.array(provenance.incomplete, np.int64))


def is_extended(tree: Tree) -> bool:
    """Whether a tree needs version 3 of the format."""
    has_parts = tree.joined.any() or len(tree.surrogates) or tree.directions or tree.linear is not None
    has_cost_splits = any(target.emphasis or target.stakes for target in tree.schema.targets)
    return bool(has_parts) or tree.missing != "learn" or has_cost_splits


def _extended_parts(tree: Tree) -> Iterator[tuple[str, Array]]:
    yield "joined", tree.joined
    for name in tree.surrogates.array_types():
        yield f"surrogate {name}", getattr(tree.surrogates, name)
    yield "direction start", np.cumsum([0, *(len(each.columns) for each in tree.directions)])
    yield "direction column", np.array([j for each in tree.directions for j in each.columns], np.int64)
    yield "direction weight", np.array([w for each in tree.directions for w in each.weights], np.float64)
    for name, kind in LinearAnswers.array_types().items():
        yield f"linear {name}", np.zeros(0, kind) if tree.linear is None else getattr(tree.linear, name)


def _columns_lines(schema: Schema) -> Iterator[bytes]:
    return _list_lines("columns", [_column_line(column) for column in schema.columns])


def _targets_lines(schema: Schema) -> Iterator[bytes]:
    return _list_lines("targets", [_target_line(target) for target in schema.targets])


def _entry_line(name: str, value: str | bool | int | None) -> bytes:
    return f'    "{name}": {"null" if value is None else label_text(value, name)},\n'.encode()


def _list_lines(name: str, entries: list[str]) -> Iterator[bytes]:
    yield f'    "{name}": [\n'.encode()
    for entry in entries[:-1]:
        yield f"      {entry},\n".encode()
    yield f"      {entries[-1]}\n".encode()
    yield b"    ],\n"


def _column_line(column: Column) -> str:
    what = f"column {column.name!r}"
    categories = ""
    if column.type.has_categories:
        categories = f', "categories": {_labels_text(column.categories, what)}'
    text = _text_format(column.text, what)
    return f'{{"name": {label_text(column.name, what)}, "kind": "{column.kind}"{categories}{text}}}'


def _target_line(target: Target) -> str:
    what = f"target {target.name!r}"
    classes = "null" if target.classes is None else _labels_text(target.classes, what)
    fields = {name: getattr(target, name) for name in ("costs", "emphasis", "stakes", "priors")}
    costs = "".join(f', "{name}": {json.dumps(each)}' for name, each in fields.items() if each is not None)
    text = _text_format(target.text, what)
    return f'{{"name": {label_text(target.name, what)}, "classes": {classes}{costs}{text}}}'


def _text_format(text: TextFormat | None, what: str) -> str:
    """The format of texts, if a column or target has one."""
    if text is None:
        return ""
    parts = {name: label_text(getattr(text, name), what) for name in TEXT_FIELDS}
    parts["affixes"] = _labels_text(text.affixes, what)
    entries = ", ".join(f'"{name}": {part}' for name, part in parts.items())
    return f', "text": {{{entries}}}'


def _labels_text(labels: tuple[Any, ...], what: str) -> str:
    return f"[{', '.join(label_text(label, what) for label in labels)}]"


def label_text(label: Any, what: str) -> str:
    """A name, category or class as JSON that reads back as the same value of the same type."""
    if type(label) is str:
        if _SURROGATE.search(label):
            return f'{{"characters": {[ord(character) for character in label]}}}'
        return json.dumps(label, ensure_ascii=False)
    if type(label) is float and abs(label) == np.inf:
        return f'{{"float": "{label}"}}'
    if type(label) is int and label.bit_length() > LARGEST_INTEGER_BITS:
        raise TypeError(f"{what} holds an integer of {label.bit_length()} bits, too large for a model file")
    if type(label) in (bool, int, float):
        return json.dumps(label)
    kind = f"{type(label).__module__}.{type(label).__qualname__}".removeprefix("builtins.")
    raise TypeError(
        f"{what} holds {label!r} of type {kind}, but a model file holds only str, bool, int and float; "
        "convert it"
    )


def _array_line(name: str, array: Array, last: bool = False) -> bytes:
    """An array as one line. Python writes the shortest digits that read back as the same float."""
    text = json.dumps(array.ravel().tolist(), separators=(",", ":"))
    if array.dtype.kind == "f":
        text = text.replace("NaN", "null").replace("-Infinity", '"-inf"').replace("Infinity", '"inf"')
    return f'    "{name}": {text}{"" if last else ","}\n'.encode()


def statistic_parts(tree: Tree) -> Iterator[tuple[str, Array]]:
    """The arrays of the statistic. For classes: the start of each node's entries, the class and the weight of
    each entry (with more than 256 classes only the leaves have entries); for numbers: weight, value and
    deviation for each node and target.
    """
    if not tree.schema.predicts_classes:
        for position, name in enumerate(NUMBER_STATISTIC):
            yield name, tree.statistic[:, position::3]
        return
    statistic, names = tree.statistic, ("start", "class", "weight")
    if isinstance(statistic, SparseRows):
        yield from zip(names, (statistic.start, statistic.column, statistic.value), strict=True)
        return
    present = (statistic != 0) | np.signbit(statistic)
    start = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    yield from zip(names, (start, np.nonzero(present)[1], statistic[present]), strict=True)
