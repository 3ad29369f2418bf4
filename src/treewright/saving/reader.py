"""Reading a tree from a model file, which may come from anyone.

The lines of a model have one order and no other is accepted; arrays are flat and read piece by piece. So
nothing can nest, repeat or be left out, and memory stays within a small multiple of the file.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright._arrays import Array, Floats, Int32s
from treewright.encoding import Provenance
from treewright.encoding.dataset import LABELS, WEIGHTS
from treewright.encoding.kinds import KINDS
from treewright.encoding.schema import Column, Schema, Target
from treewright.encoding.text import TextFormat
from treewright.growing.memory import check_memory
from treewright.saving.scanner import Label, Lines, Text
from treewright.saving.writer import ARRAYS, DIRECTION_TYPES, NUMBER_STATISTIC, TEXT_FIELDS
from treewright.tree import Tree
from treewright.tree.class_counts import SparseRows
from treewright.tree.linear_leaves import LinearAnswers
from treewright.tree.oblique import Direction
from treewright.tree.surrogates import Surrogates


def read_tree(lines: Lines, version: int) -> Tree:
    """The tree of a file of one tree, not checked yet."""
    criterion = lines.entry("criterion", Text.text)
    extended = lines.comes('"missing": ') if version >= 5 else version >= 3
    missing = lines.entry("missing", Text.text) if extended else None
    provenance = _read_provenance(lines, version)
    tree = _read_nodes(lines, read_schema(lines, version), criterion, missing, provenance)
    lines.literal("  }")
    lines.finish()
    return tree


def read_member(lines: Lines, schema: Schema, version: int) -> Tree:
    """One of the trees of an ensemble, with its columns and, unless the file has others, its targets."""
    criterion = lines.entry("criterion", Text.text)
    missing = lines.entry("missing", Text.text) if lines.comes('"missing": ') else None
    provenance = _read_provenance(lines, version)
    if lines.comes('"targets": '):
        schema = Schema(schema.columns, lines.entries("targets", lambda text: _read_target(text, version)))
    return _read_nodes(lines, schema, criterion, missing, provenance)


def read_schema(lines: Lines, version: int) -> Schema:
    """Columns and targets."""
    columns = lines.entries("columns", lambda text: _read_column(text, version))
    return Schema(columns, lines.entries("targets", lambda text: _read_target(text, version)))


def _read_provenance(lines: Lines, version: int) -> Provenance | None:
    """The provenance of a tree, in files from version 5 on."""
    if version < 5:
        return None
    labels: Any = lines.entry("labels", Text.text_or_null)
    weights: Any = lines.entry("weights", Text.text_or_null)
    incomplete: tuple[int, ...] | None = None
    if lines.comes('"incomplete columns": null'):
        lines.entry("incomplete columns", Text.text_or_null)
    else:
        incomplete = tuple(lines.array("incomplete columns", np.int64, None).tolist())
    if labels is None and weights is None and incomplete is None:
        return None
    if labels not in LABELS or weights not in WEIGHTS:
        raise lines.unsound(f"it has {labels!r} labels and {weights!r} weights, which do not exist")
    return Provenance(labels, weights, incomplete)


def _read_nodes(
    lines: Lines, schema: Schema, criterion: str, missing: Any, provenance: Provenance | None
) -> Tree:
    """The arrays of a tree; with `missing` those of version 3 follow."""
    arrays: dict[str, Any] = {}
    for name, kind in ARRAYS.items():
        n = None if name in ("end", "subsets") else len(arrays["end"])
        arrays[name] = lines.array(name, kind, n)
    statistic = _read_statistic(lines, schema, arrays["end"], last=missing is None)
    if missing is not None:
        arrays |= {"missing": missing, **_read_extended(lines, len(arrays["end"]))}
    return Tree(**arrays, statistic=statistic, schema=schema, criterion=criterion, provenance=provenance)


def _read_extended(lines: Lines, n: int) -> dict[str, Any]:
    """The arrays of version 3: multiway splits, surrogates, oblique splits, linear leaves."""

    def arrays(prefix: str, types: dict[str, type[np.generic]], end: str = "") -> dict[str, Array]:
        return {
            name: lines.array(f"{prefix} {name}", kind, None, last=name == end)
            for name, kind in types.items()
        }

    joined = lines.array("joined", np.bool_, n)
    surrogates = arrays("surrogate", Surrogates.array_types())
    start, column, weight = arrays("direction", DIRECTION_TYPES).values()
    if not (len(start) and start[0] == 0 and (np.diff(start) >= 0).all()):
        raise lines.unsound("`start` of the directions does not rise from 0")
    if not start[-1] == len(column) == len(weight):
        raise lines.unsound("a direction has not one weight for each column")
    borders = zip(start[:-1].tolist(), start[1:].tolist(), strict=True)
    parts = [(column[i:j].tolist(), weight[i:j].tolist()) for i, j in borders]
    linear = arrays("linear", LinearAnswers.array_types(), "mean")
    return {
        "joined": joined,
        "surrogates": Surrogates(**surrogates),
        "directions": tuple(Direction(tuple(columns), tuple(weights)) for columns, weights in parts),
        "linear": LinearAnswers(**linear) if len(linear["start"]) else None,
    }


def _read_statistic(lines: Lines, schema: Schema, end: Int32s, last: bool) -> Floats | SparseRows:
    """The statistic from its arrays."""
    n = len(end)
    if not schema.predicts_classes:
        size, final = n * len(schema.targets), NUMBER_STATISTIC[-1]
        parts = [
            lines.array(f"statistic {name}", np.float64, size, last=last and name == final)
            for name in NUMBER_STATISTIC
        ]
        return np.stack(parts, axis=1).reshape(n, 3 * len(schema.targets))
    start = lines.array("statistic start", np.int64, n + 1)
    if start[0] != 0 or (np.diff(start) < 0).any():
        raise lines.unsound("`start` of the statistic does not rise from 0")
    column = lines.array("statistic class", np.int64, int(start[-1]))
    weight = lines.array("statistic weight", np.float64, int(start[-1]), last=last)
    node = np.repeat(np.arange(n), np.diff(start))
    place = node * schema.width + column
    if column.size and not 0 <= column.min() <= column.max() < schema.width:
        raise lines.unsound(f"the statistic names a class beyond the {schema.width} there are")
    if (np.diff(place) <= 0).any():
        raise lines.unsound("the classes of a node's statistic are not in order")
    if schema.is_wide:
        return SparseRows(end, start, column.astype(np.int32), weight, schema.width)
    need = 8 * n * schema.width  # where classes are many and nodes have few of them, far more than the file
    check_memory(need, f"a tree of {n:,} nodes and {schema.width} classes", "load it where there is more")
    statistic = np.zeros((n, schema.width))
    statistic.ravel()[place] = weight
    return statistic


def _read_column(text: Text, version: int) -> Column:
    text.need('{"name": ')
    name = text.text()
    text.need(', "kind": ')
    kind: Any = text.text()
    categories: tuple[Label, ...] = ()
    if kind in KINDS and KINDS[kind].has_categories:
        text.need(', "categories": ')
        categories = text.labels()
    read_as = _read_text_format(text, version)
    text.need("}")
    return Column(name, kind, categories, read_as)


def _read_target(text: Text, version: int) -> Target:
    text.need('{"name": ')
    name = text.text()
    text.need(', "classes": ')
    classes = None if text.skip("null") else text.labels()
    kinds = {"costs": text.table, "emphasis": text.floats, "stakes": text.table, "priors": text.floats}
    costs: dict[str, Any] = {field: read() for field, read in kinds.items() if text.skip(f', "{field}": ')}
    read_as = _read_text_format(text, version)
    text.need("}")
    return Target(name, classes, **costs, text=read_as)


def _read_text_format(text: Text, version: int) -> TextFormat | None:
    """The format of texts, in files from version 6 on."""
    if version < 6 or not text.skip(', "text": {'):
        return None
    fields: dict[str, Any] = {}
    for place, name in enumerate(TEXT_FIELDS):
        text.need(f'{", " if place else ""}"{name}": ')
        fields[name] = text.text()
    text.need(', "affixes": ')
    affixes = text.texts()
    text.need("}")
    return TextFormat(**fields, affixes=affixes)
