"""Surrogates: tests of other columns that stand in where the value that a node tests is missing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from treewright._arrays import Bytes, Flags, Floats, Int32s, Ints
from treewright.encoding import Dataset
from treewright.encoding.schema import Schema
from treewright.tree.conditions import NodeTest, StoredTest, pack_subsets, pack_test, stored_test
from treewright.tree.frozen_arrays import FrozenArrays


@dataclass(frozen=True, eq=False)
class Surrogates(FrozenArrays):
    """Surrogate tests, one per entry, in the order of their nodes; those of a node the best one first.

    A row that passes a surrogate goes left, or if it is `reversed` right. `agreement` is the share of the
    weight that the surrogate sends to the side of the node's own test (of rows whose value is known),
    `adjusted` the share of the majority rule's mistakes that it avoids, as in rpart.
    """

    node: Int32s
    feature: Int32s
    threshold: Floats
    subset: Ints
    reversed: Flags
    agreement: Floats
    adjusted: Floats
    subsets: Bytes

    @classmethod
    @cache
    def none(cls) -> Surrogates:
        """No surrogates."""
        return cls(**{name: np.zeros(0, kind) for name, kind in cls.array_types().items()})

    @classmethod
    def of_tests(
        cls, schema: Schema, entries: Iterable[tuple[int, NodeTest, bool, float, float]]
    ) -> Surrogates:
        """Surrogates by hand: (node, test, reversed, agreement, adjusted), in the order of their nodes.

        >>> from treewright.encoding.schema import Column
        >>> from treewright.tree.conditions import Among
        >>> schema = Schema((Column("job", "category", ("clerk", "cook")),))
        >>> Surrogates.of_tests(schema, [(0, Among("job", ("cook",)), True, 0.9, 0.5)]).subsets.tolist()
        [2]
        """
        names = ("node", "reversed", "agreement", "adjusted", "feature", "threshold", "bits")
        rows = [(node, *rest, *pack_test(schema, test)) for node, test, *rest in entries]
        values: dict[str, Any] = dict(zip(names, zip(*rows, strict=True), strict=True))
        values["subset"], values["subsets"] = pack_subsets(values.pop("bits", ()))
        return cls(**{name: np.array(values.get(name, ()), kind) for name, kind in cls.array_types().items()})

    def __len__(self) -> int:
        return len(self.node)

    def starts(self, n_nodes: int) -> Ints:
        """Where the entries of each node begin, and where the last ones end."""
        return np.searchsorted(self.node, np.arange(n_nodes + 1)).astype(np.int64)

    def test(self, entry: int, schema: Schema) -> StoredTest:
        """The test of an entry."""
        column, start = schema.columns[int(self.feature[entry])], max(int(self.subset[entry]), 0)
        return stored_test(column, float(self.threshold[entry]), self.subsets[start:])

    def passes(self, entry: int, row: Dataset) -> bool | None:
        """Whether a table's first row passes an entry's test; None where its value is not known."""
        test, cells = self.test(entry, row.schema), row.column(int(self.feature[entry]), slice(1))
        return bool(test.holds(cells)[0]) if test.is_known(cells)[0] else None

    def of(self, node: int) -> range:
        """The entries of one node, the best surrogate first."""
        first, end = np.searchsorted(self.node, [node, node + 1])
        return range(int(first), int(end))
