"""Which rules of each class to keep, in which order: C4.5rules' choice by description length.

The rules of a class say which rows belong to it. To transmit the class to a receiver who has the rows, one
sends the rules and the rows for which they are wrong; the best rules give the shortest message:

    ½ · (bits of the rules)  +  log₂ C(rows that fit, false positives)  +  log₂ C(other rows, false negatives)

The bits of the rules count half, as in C4.5rules, because such rules repeat each other. A rule costs the bits
of its conditions less log₂ k!, as the order of its k conditions does not matter, and likewise a set of rules.
A condition costs log₂ of the number of columns, and then, for a number, one bit (a lower or an upper bound)
and log₂ of the number of gaps between its values; for a category, a bit for each category.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from treewright.encoding import Dataset
from treewright.pruning.traversal import Floats, Ints, Mask
from treewright.tree.conditions import Condition

Bits: TypeAlias = NDArray[np.uint64]  # 64 rows in a word; one axis for rows, or several sets along the first

_CACHE = 256 * 2**20  # bytes of bits kept for conditions that come again
_ONES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1).sum(axis=1, dtype=np.uint8)
THEORY_WEIGHT = 0.5
MOST_TRIED = 10  # all subsets of so many rules are tried; for more, hill climbing from random starts
STARTS = np.linspace(0.0, 1.0, 11)  # the probability of a rule to be in the start of each climb
_BETTER = 1e-9  # bits; a climb goes on for more than rounding only


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

    def of(self, key: Condition | int) -> Bits:
        """The rows that fit a condition, or those of a class by its code."""
        bits = self._cache.pop(key, None)
        if bits is None:
            bits = self.pack(self.codes == key if isinstance(key, int) else self._fitting(key))
            if len(self._cache) * bits.nbytes > _CACHE:
                del self._cache[next(iter(self._cache))]
        self._cache[key] = bits
        return bits

    def _fitting(self, condition: Condition) -> Mask:
        name, j = condition.column, self._place[condition.column]
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


class Candidate(NamedTuple):
    """A rule that may be chosen."""

    conditions: tuple[Condition, ...]
    code: int  # of its class
    error: float  # estimated
    weight: float  # of the rows that it fits, among those that it was estimated on
    cover: Bits  # the training rows that it fits


def select_rules(candidates: list[Candidate], covers: Covers, n_classes: int, seed: int) -> list[Candidate]:
    """The best rules of each class, the class with the fewest false positives first."""
    cost = _Costs(covers.data)
    groups: dict[int, list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault(candidate.code, []).append(candidate)
    chosen = {}
    for code, group in sorted(groups.items()):
        bits = np.array([cost.of_rule(candidate.conditions) for candidate in group])
        kept = _Subsets(group, bits, covers).best(np.random.default_rng((seed, code)))
        if kept.size:
            chosen[code] = sorted((group[i] for i in kept), key=lambda rule: (rule.error, -rule.weight))
    return [rule for code in _class_order(chosen, covers, n_classes) for rule in chosen[code]]


class _Costs:
    """The description length of conditions and rules, in bits."""

    def __init__(self, data: Dataset) -> None:
        self._data = data
        self._by_column: dict[str, float] = {}

    def of_rule(self, conditions: tuple[Condition, ...]) -> float:
        """The bits of the conditions, in any order."""
        bits = sum(self._of_condition(condition) for condition in conditions)
        return max(bits - float(_log2_factorial(len(conditions))), 0.0)

    def _of_condition(self, condition: Condition) -> float:
        name, schema = condition.column, self._data.schema
        if name not in self._by_column:
            j = schema.position(name)
            if schema.columns[j].is_category:
                bits = float(len(schema.columns[j].categories))
            else:
                values = self._data.column(j)
                gaps = len(np.unique(values[~np.isnan(values)])) - 1
                bits = 1 + float(np.log2(max(gaps, 1)))
            self._by_column[name] = bits + float(np.log2(len(schema.columns)))
        return self._by_column[name]


class _Subsets:
    """The subsets of the rules of one class, and the length of the message with each.

    Rows that fit the same rules are one kind of rows: everything is counted by kinds, which are few.
    """

    def __init__(self, group: list[Candidate], bits: Floats, covers: Covers) -> None:
        self.bits = bits
        sets = [candidate.cover for candidate in group]
        # A random number for each rule; the xor of those of the rules that fit a row identifies its kind. A
        # collision among 2⁶⁴ numbers is negligible.
        numbers = np.random.default_rng(0).integers(1, 2**63, len(sets), np.uint64)
        key = np.zeros(covers.n_rows, np.uint64)
        for cover, number in zip(sets, numbers, strict=True):
            key[covers.flags(cover)] ^= number
        _, row, kind = np.unique(key, return_index=True, return_inverse=True)
        own = covers.codes == group[0].code
        weight = np.ones(covers.n_rows) if covers.weight is None else covers.weight
        self.right = np.bincount(kind.ravel(), weight * own)
        self.wrong = np.bincount(kind.ravel(), weight * ~own)
        # which kinds fit each rule, and which rules each kind fits
        self.kinds = [np.flatnonzero(_bits_at(cover, row)) for cover in sets]
        kinds = np.concatenate(self.kinds)
        order = np.argsort(kinds, kind="stable")
        self.rule = np.repeat(np.arange(len(sets)), [len(k) for k in self.kinds])[order]
        self.first = np.searchsorted(kinds[order], np.arange(len(row) + 1))

    def best(self, rng: np.random.Generator) -> NDArray[np.intp]:
        """The rules of the subset with the shortest message, or the shortest found."""
        if len(self.bits) <= MOST_TRIED:
            return self._best_of_all()
        climbs = [self._climb(rng.random(len(self.bits)) < chance) for chance in STARTS]
        _, inside = min(climbs, key=lambda climb: climb[0])  # the first of equals: the one from fewer rules
        return np.flatnonzero(inside)

    def length(self, right: Floats, wrong: Floats, bits: Floats, size: NDArray[np.integer]) -> Floats:
        """The bits of messages, for rules that cover this weight of their class and of others."""
        theory = np.maximum(bits - _log2_factorial(size), 0.0)
        false_negatives = np.maximum(self.right.sum() - right, 0.0)
        others = np.maximum(self.right.sum() + self.wrong.sum() - right - wrong, false_negatives)
        exceptions = _log2_choose(right + wrong, wrong) + _log2_choose(others, false_negatives)
        return np.asarray(THEORY_WEIGHT * theory + exceptions)

    def _best_of_all(self) -> NDArray[np.intp]:
        n = len(self.bits)
        subsets = (np.arange(2**n)[:, np.newaxis] >> np.arange(n) & 1).astype(np.bool_)
        fits = np.zeros((n, len(self.right)), np.bool_)
        for i, kinds in enumerate(self.kinds):
            fits[i, kinds] = True
        covers = (subsets.astype(np.float64) @ fits > 0).astype(np.float64)
        size = subsets.sum(axis=1)
        length = self.length(covers @ self.right, covers @ self.wrong, subsets @ self.bits, size)
        return np.flatnonzero(subsets[np.lexsort((size, length.round(9)))[0]])

    def _climb(self, inside: Mask) -> tuple[float, Mask]:
        """Add or remove the one rule that shortens the message most, until none does."""
        fitting = np.zeros(len(self.right), np.int64)  # rules of the subset that each kind fits
        for i in np.flatnonzero(inside):
            fitting[self.kinds[i]] += 1
        # the weight that each rule would add (right, wrong), and what it alone fits
        table = self._alone(np.arange(len(self.right)), fitting)
        right, wrong = self.right[fitting > 0].sum(), self.wrong[fitting > 0].sum()
        now = float(self.length(right, wrong, self.bits[inside].sum(), inside.sum()))
        while True:
            sign = np.where(inside, -1, 1)
            change = np.where(inside, table[2:], table[:2])
            lengths = self.length(
                np.maximum(right + sign * change[0], 0.0),
                np.maximum(wrong + sign * change[1], 0.0),
                self.bits[inside].sum() + sign * self.bits,
                inside.sum() + sign,
            )
            best = int(lengths.argmin())
            if lengths[best] > now - _BETTER:
                return now, inside
            now = float(lengths[best])
            right, wrong = right + sign[best] * change[0, best], wrong + sign[best] * change[1, best]
            kinds = self.kinds[best]
            table -= self._alone(kinds, fitting)
            fitting[kinds] += sign[best]
            table += self._alone(kinds, fitting)
            inside[best] = not inside[best]

    def _alone(self, kinds: NDArray[np.intp], fitting: Ints) -> Floats:
        """For each rule the right and wrong weight of those of its kinds that no rule of the subset fits, and
        of those that one rule fits; for the given kinds only.
        """
        kinds = kinds[fitting[kinds] <= 1]
        lengths = self.first[kinds + 1] - self.first[kinds]
        ends = np.cumsum(lengths)
        pairs = np.arange(lengths.sum()) + np.repeat(self.first[kinds] - ends + lengths, lengths)
        rule, kind = self.rule[pairs], np.repeat(kinds, lengths)
        once = fitting[kind] == 1
        sums = [
            np.bincount(rule, weights[kind] * flags, len(self.bits))
            for flags in (~once, once)
            for weights in (self.right, self.wrong)
        ]
        return np.stack(sums).astype(np.float64)  # of no rows, bincount counts in whole numbers


def _bits_at(bits: Bits, rows: NDArray[np.intp]) -> NDArray[np.uint8]:
    return np.asarray(bits.view(np.uint8)[rows >> 3] >> (7 - (rows & 7)).astype(np.uint8) & 1)


def _log2_factorial(n: Floats | NDArray[np.integer] | int | float) -> Floats:
    from scipy.special import gammaln  # heavy: only where rules are chosen

    return np.asarray(gammaln(np.asarray(n, np.float64) + 1) / np.log(2))


def _log2_choose(n: Floats, k: Floats) -> Floats:
    return np.maximum(_log2_factorial(n) - _log2_factorial(k) - _log2_factorial(n - k), 0.0)


def _class_order(chosen: dict[int, list[Candidate]], covers: Covers, n_classes: int) -> list[int]:
    """The class with the fewest false positives first, then the same for the remaining rows, and so on.

    Among equals the class with more true positives comes first.
    """
    weight = np.ones(covers.n_rows) if covers.weight is None else covers.weight
    parts = {
        code: np.flatnonzero(covers.flags(np.bitwise_or.reduce([rule.cover for rule in rules])))
        for code, rules in chosen.items()
    }
    row = np.concatenate([np.zeros(0, np.intp), *parts.values()])
    code = np.repeat(np.fromiter(parts, np.intp, len(parts)), [len(part) for part in parts.values()])
    left = np.ones(covers.n_rows, np.bool_)
    waiting, order = sorted(chosen), []
    while waiting:
        right = covers.codes[row] == code
        fits = np.bincount(code[right], weight[row[right]], n_classes)
        fails = np.bincount(code[~right], weight[row[~right]], n_classes)
        first = min(waiting, key=lambda c: (fails[c], -fits[c], c))
        waiting.remove(first)
        order.append(first)
        left[parts[first]] = False
        kept = left[row] & (code != first)
        row, code = row[kept], code[kept]
    return order


def default_class(left: Bits, covers: Covers, n_classes: int) -> int:
    """The majority class of the rows that no rule fits; among equals the one with more of all rows."""
    overall, remaining = covers.by_class(covers.all, n_classes), covers.by_class(left, n_classes)
    return int(np.lexsort((-overall, -remaining))[0])


def drop_harmful_rules(rules: list[Candidate], covers: Covers, n_classes: int) -> list[Candidate]:
    """The rules without those whose omission lowers the training error: the first such rule is dropped, then
    all are checked again.
    """
    rules = list(rules)
    while rules:
        once, twice = covers.all & ~covers.all, covers.all & ~covers.all
        right_then = once  # rows that would be right by the second rule that fits them
        own = []
        for rule in rules:
            second = rule.cover & once & ~twice
            right_then = right_then | (second & covers.of(rule.code))
            own.append(rule.cover & ~once)
            twice, once = twice | second, once | rule.cover
        default = default_class(covers.all & ~once, covers, n_classes)
        right_then = right_then | (~twice & covers.of(default))
        for i, rule in enumerate(rules):
            right_without, right_with = own[i] & right_then, own[i] & covers.of(rule.code)
            gain, loss = covers.weigh(np.stack([right_without & ~right_with, right_with & ~right_without]))
            if gain > loss:
                del rules[i]
                break
        else:
            break
    return rules
