"""The certificate: a number to quote, its assumptions, and an independent check of the number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from treewright._display import Layout, Shown
from treewright._suggestions import checked_keywords
from treewright._text import amount
from treewright.certifying.losses import row_losses
from treewright.certifying.method import Method, method_of
from treewright.certifying.tree_code import is_complete
from treewright.certifying.verification import fits
from treewright.tree import Tree
from treewright.tree.evaluate import given_rows
from treewright.tree.number_losses import NUMBER_LOSSES
from treewright.tree.shortcuts import Plotted


class Sealed:
    """A frozen dataclass whose mappings cannot be changed either; it pickles."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, Mapping):
                object.__setattr__(self, name, MappingProxyType(dict(value)))

    def __reduce__(self) -> tuple[Any, ...]:
        values = {name: dict(v) if isinstance(v, Mapping) else v for name, v in vars(self).items()}
        return _from_values, (type(self), values)


def _from_values(cls: type[Any], values: dict[str, Any]) -> Any:
    return cls(**values)


@dataclass(frozen=True)
class Certificate(Sealed, Plotted, Shown):
    """A bound on the true error of a tree.

    With probability `1 - delta` over the draw of the rows, the true loss is at most `value`, if the
    `assumptions` hold. Where `guarantee` is False it is an estimate only.

    >>> from treewright import encode, grow
    >>> from treewright.certifying import certify
    >>> data = encode({"x": range(8)}, ["a", "a", "a", "a", "b", "b", "b", "b"])
    >>> other = encode({"x": range(100)}, ["a"] * 6 + ["b"] * 94, schema=data.schema)
    >>> certificate = certify(grow(data), test=other)
    >>> print(certificate)
    error on 100 rows never used for fitting: 2.0 %   → with 95 % confidence the true error is below 6.2 %
    >>> certificate.check(), round(certificate.value, 4)
    (True, 0.0616)
    """

    value: float  # the bound
    method: str
    delta: float
    error: float  # the mean loss of the rows
    rows: int
    assumptions: tuple[str, ...]
    breakdown: Mapping[str, float] = field(default_factory=dict, hash=False)  # the bits paid, by purpose
    what: str = "error"
    guarantee: bool = True
    most: float = 1.0  # the largest loss of a row
    choices: int = 1  # trees among which the same rows chose
    deviation: float = 0.0  # standard deviation of the rows' losses
    limit: str = "binomial"  # the inequality
    naming_rows: int = 0  # rows that name thresholds, and so do not count
    complete: bool = False  # whether the code leaves missing values out
    known_categories: bool = False  # whether the code counts categories instead of naming them
    tree: Tree | None = field(default=None, repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain values: text, numbers, lists and dicts."""
        names = ("value", "method", "delta", "error", "rows", "what", "guarantee", "bits")
        values = {name: getattr(self, name) for name in names}
        return values | {"assumptions": list(self.assumptions), "text": str(self)}

    @property
    def bits(self) -> float:
        """The price of choosing this tree after seeing the rows, in bits."""
        return float(sum(self.breakdown.values()))

    @property
    def confidence(self) -> float:
        """1 - delta."""
        return 1 - self.delta

    @checked_keywords
    def check(self, data: Any = None, *, costs: Any = None) -> bool:
        """Whether an independent computation gives the same number.

        The inequality is evaluated at `value` (binomial terms are added up one by one, nothing is inverted);
        the code word of the tree is really written, read again and measured; the tree's training errors are
        counted again. Give the rows as `data`, a Dataset or a tuple (table, target), to have them counted
        again as well, one by one, and the `costs` if the certificate was given one.
        """
        if not (0 < self.delta < 1 and 0 <= self.error <= self.most):
            return False
        return self._counts_again(data, costs) and self._method.confirms(self) and fits(self)

    def _counts_again(self, data: Any, costs: Any) -> bool:
        if data is None:
            return True
        if self.tree is None:
            return False
        data = given_rows(self.tree, data, "data", judging=True)
        if self.complete and not is_complete(self.tree, data):
            return False
        loss = next((name for name, loss in NUMBER_LOSSES.items() if loss.words == self.what), None)
        lost = row_losses(self.tree, data, costs=costs, loss=loss).loss.tolist()
        return len(lost) == self.rows and math.isclose(math.fsum(lost) / len(lost), self.error, abs_tol=1e-12)

    @property
    def _method(self) -> Method:
        return method_of(self.method)

    def __str__(self) -> str:
        return (
            f"{self.what} on {self._rows()}: {self._number(self.error)}{self._root(self.error)}   "
            f"→ {self._source()}{self._claim()}"
        )

    def _claim(self) -> str:
        sure = f"{round(100 * self.confidence, 10):g} %"
        if not self.guarantee:
            bound = f"{self.bound_text}{self._root(self.value, up=True)}"
            return f"likely below {bound} ({sure}; an estimate, no guarantee)"
        if self.is_vacuous:
            return f"nothing can be said with {sure} confidence"
        bound = f"{self.bound_text}{self._root(self.value, up=True)}"
        return f"with {sure} confidence the true {self.what} is below {bound}"

    def _layout(self) -> Layout:
        facts = {
            f"{self.what} on {self._rows()}": self._number(self.error),
            "bound on the true one": "none" if self.is_vacuous else self.bound_text,
            "confidence": f"{round(100 * self.confidence, 10):g} %",
            "method": self.method.replace("_", " "),
        }
        facts |= {f"bits: {purpose}": f"{bits:,.1f}" for purpose, bits in self.breakdown.items()}
        return Layout.of_facts(self._claim(), facts, [f"if {each}" for each in self.assumptions])

    def __repr__(self) -> str:
        sign = "<" if self.guarantee else "≈<"
        return (
            f"<Certificate: true {self.what} {sign} {self.bound_text} with confidence {self.confidence:g}, "
            f"{self.method}, {self.rows:,} rows>"
        )

    def _rows(self) -> str:
        return f"{self.rows:,} rows {self._method.rows_text(self)}"

    def _source(self) -> str:
        title = self._method.title
        return f"from them alone ({title}, {math.ceil(self.bits):,} bits), " if title else ""

    @property
    def bound_text(self) -> str:
        """The bound in words, rounded up: 9.6 %."""
        return self._number(self.value, up=True)

    @property
    def is_vacuous(self) -> bool:
        """Whether the bound excludes nothing, up to the digits that are shown."""
        return self.value >= self.most or (self.what == "error" and self.bound_text == "100.0 %")

    def _number(self, value: float, up: bool = False) -> str:
        return loss_text(value, in_per_cent=self.what == "error", up=up)

    def _root(self, value: float, up: bool = False) -> str:
        """A squared loss in the unit of the target, which is easier to judge; nothing for other losses."""
        if self.what != NUMBER_LOSSES["squared_error"].words:
            return ""
        return f", its root {loss_text(math.sqrt(value), in_per_cent=False, up=up)}"


def loss_text(value: float, *, in_per_cent: bool, up: bool = False) -> str:
    """A loss in words; a bound is rounded `up`, so that the rounded number holds, too.

    >>> loss_text(0.08041, in_per_cent=True), loss_text(0.08041, in_per_cent=True, up=True)
    ('8.0 %', '8.1 %')
    """
    if in_per_cent and math.isfinite(value):
        tenths = 1000 * value
        return f"{(math.ceil(tenths - 1e-9) if up else round(tenths)) / 10:.1f} %"
    return amount(value, up=up)


@dataclass(frozen=True)
class Certificates(Plotted, Shown):
    """Several certificates of one tree, the first one in full and the others beside it.

    `estimate` is (mean, standard error, folds) of a cross-validation, which bounds nothing and says so.

    >>> from treewright import encode, grow
    >>> from treewright.certifying import certify
    >>> data = encode({"x": range(8)}, ["a", "a", "a", "a", "b", "b", "b", "b"])
    >>> other = encode({"x": range(100)}, ["a"] * 6 + ["b"] * 94, schema=data.schema)
    >>> tree = grow(data)
    >>> both = [certify(tree, test=other), certify(tree, test=other, choices=30)]
    >>> print(Certificates(tuple(both), estimate=(0.03, 0.01, 10)))
    error on 100 rows never used for fitting: 2.0 %   → with 95 % confidence the true error is below 6.2 %
    (the same rows chose 1 of 30 trees                → below 10.2 %)
    10-fold estimate 3.0 % ± 1.0 %  (an estimate, no guarantee)
    """

    certificates: tuple[Certificate, ...]
    estimate: tuple[float, float, int] | None = None

    def __post_init__(self) -> None:
        if not self.certificates:
            raise ValueError("there must be at least one certificate")

    def check(self) -> bool:
        """Whether an independent computation confirms every certificate."""
        return all(certificate.check() for certificate in self.certificates)

    def __str__(self) -> str:
        first, *others = self.certificates
        start = [str(first).partition("→")[0].rstrip(), *map(self._start, others)]
        ends = [str(first).partition("→")[2].strip(), *map(self._end, others)]
        width = max(map(len, start)) + 3
        lines = [f"{left:<{width}}→ {right}" for left, right in zip(start, ends, strict=True)]
        if self.estimate is not None:
            mean, error, folds = self.estimate
            estimate = f"{first._number(mean)} ± {first._number(error)}"
            lines.append(f"{folds}-fold estimate {estimate}  (an estimate, no guarantee)")
        return "\n".join(lines)

    def _layout(self) -> Layout:
        first = self.certificates[0]
        rows = [
            [each.method.replace("_", " "), f"{each.rows:,}", each._number(each.error), each.bound_text]
            for each in self.certificates
        ]
        lines = str(self).splitlines()
        head = ["method", "rows", first.what, "true one below"]
        return Layout([], head, rows, (1, 2, 3), [lines[0], *lines[len(rows) :]])

    def _start(self, other: Certificate) -> str:
        if title := other._method.title:
            return f"from the training rows alone ({title}, {math.ceil(other.bits):,} bits)"
        if self._same_rows(other):
            return "(" + other._rows().replace(f"{other.rows:,} rows that", "the same rows")
        return f"{other.what} on {other._rows()}: {other._number(other.error)}"

    def _end(self, other: Certificate) -> str:
        if other.guarantee and other.is_vacuous:
            return "nothing can be said"
        hint = "" if other.guarantee else " (an estimate, no guarantee)"
        return f"below {other.bound_text}{hint}" + (")" if self._same_rows(other) else "")

    def _same_rows(self, other: Certificate) -> bool:
        first = self.certificates[0]
        chose = other.method == "reduced_error" or other.choices > 1
        return chose and (other.rows, other.error) == (first.rows, first.error)
