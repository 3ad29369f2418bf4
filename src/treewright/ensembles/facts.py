"""What there is to say about many trees at a glance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from treewright._text import count, name_text
from treewright.encoding.schema import Schema
from treewright.tree import Tree


def tree_facts(trees: Sequence[Tree], schema: Schema) -> dict[str, str]:
    """The sizes of trees and what they predict, as names and values for a table.

    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1, 2, 3, 4]}, ["a", "a", "b", "b"]))
    >>> tree_facts([tree, tree], tree.schema)
    {'trees': '2', 'leaves of a tree': '2', 'depth': '1', 'columns': '1', 'predicts': 'y (2 classes)'}
    """
    targets = [
        f"{name_text(target.name)} ({count(len(target.classes), 'class') if target.classes else 'numbers'})"
        for target in schema.targets
    ]
    return {
        "trees": f"{len(trees):,}",
        "leaves of a tree": _range(tree.n_leaves for tree in trees),
        "depth": _range(tree.height for tree in trees),
        "columns": f"{len(schema.columns):,}",
        "predicts": ", ".join(targets),
    }


def _range(numbers: Iterable[int]) -> str:
    """The least, the most and the median of some numbers.

    >>> _range([3, 5, 9]), _range([4, 4]), _range([])
    ('3 to 9, median 5', '4', '–')
    """
    found = list(numbers)
    if not found:
        return "–"
    least, most = min(found), max(found)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}, median {float(np.median(found)):,.6g}"
