"""The rows that conditions fit, as sets of bits, for counting in the search for rules."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from treewright.encoding import Dataset
from treewright.pruning.traversal import Floats, Ints, Mask
from treewright.tree.conditions import Condition

Bits: TypeAlias = NDArray[np.uint64]  # 64 rows in a word; one axis for rows, or several sets along the first

_CACHE = 256 * 2**20  # bytes of bits kept for conditions that come again
_ONES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1).sum(axis=1, dtype=np.uint8)


class Covers:
    """The rows of a table as sets of bits, without rows of weight 0."""

    def __init__(self, data: Dataset) -> None:
        if data.weight is not None and not data.weight.all():
            data = data.take(np.flatnonzero(data.weight))
        assert data.targets is not None
        self.data = data
        self.codes: NDArray[np.int32] = data.targets[0]
        self.n_rows = data.n_rows
        self.weight: Floats | None = data.weight
        self.all = self.pack(np.ones(self.n_rows, np.bool_))
        self._place = {name: j for j, name in enumerate(data.schema.names)}
        self._columns: dict[str, NDArray[Any]] = {}
        self._cache: dict[Condition | int, Bits] = {}  # the one used last comes last

    def pack(self, flags: Mask) -> Bits:
        """A bit for each row, filled up with zeros to whole words."""
        bits = np.zeros((self.n_rows + 63) // 64 * 8, np.uint8)
        bits[: (self.n_rows + 7) // 8] = np.packbits(flags)
        return bits.view(np.uint64)

    def flags(self, bits: Bits) -> Mask:
        """The bits of one set as truth values, one for each row."""
        return np.unpackbits(bits.view(np.uint8), count=self.n_rows).view(np.bool_)

    def of(self, condition: Condition) -> Bits:
        """The rows that fit a condition."""
        return self._bits(condition)

    def of_class(self, code: int) -> Bits:
        """The rows of a class."""
        return self._bits(code)

    def _bits(self, key: Condition | int) -> Bits:
        bits = self._cache.pop(key, None)
        if bits is None:
            bits = self.pack(self.codes == key if isinstance(key, int) else self._fitting(key))
            if len(self._cache) * bits.nbytes > _CACHE:
                del self._cache[next(iter(self._cache))]
        self._cache[key] = bits
        return bits

    def _fitting(self, condition: Condition) -> Mask:
        name = condition.column
        j = self._place[name]
        if name not in self._columns:  # of a matrix, a column is far faster to read as an array of its own
            self._columns[name] = np.ascontiguousarray(self.data.column(j))
        return condition.holds(self._columns[name], self.data.schema.columns[j].categories)

    def of_all(self, conditions: tuple[Condition, ...]) -> Bits:
        """The rows that fit every condition."""
        bits = self.all
        for condition in conditions:
            bits = bits & self.of(condition)
        return bits

    def count(self, bits: Bits) -> Ints:
        """The number of rows in each set, over the last axis."""
        counts: Any = getattr(np, "bitwise_count", None)  # numpy 2 has it
        ones = _ONES[bits.view(np.uint8)] if counts is None else counts(bits)
        return np.asarray(ones.sum(axis=-1, dtype=np.int64))

    def weigh(self, bits: Bits) -> Floats:
        """The weight of the rows in each set, over the last axis."""
        if self.weight is None:
            return self.count(bits).astype(np.float64)
        flat = bits.reshape(-1, bits.shape[-1])
        weights = np.array([self.weight[np.flatnonzero(self.flags(row))].sum() for row in flat])
        return weights.reshape(bits.shape[:-1])

    def by_class(self, bits: Bits, n_classes: int) -> Floats:
        """The weight of each class among the rows of one set."""
        rows = self.flags(bits)
        weight = None if self.weight is None else self.weight[rows]
        return np.bincount(self.codes[rows], weight, n_classes).astype(np.float64)
