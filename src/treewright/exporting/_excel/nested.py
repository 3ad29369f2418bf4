"""The tests of a small tree as one formula: IFs within IFs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from treewright._text import name_text
from treewright.exporting._excel.layout import LEAF, Layout
from treewright.exporting._excel.values import (
    DEEPEST_FORMULA,
    MOST_ARGUMENTS,
    date,
    label,
    nesting,
    number,
    time_threshold,
)
from treewright.exporting._program.form import (
    Among,
    Choice,
    Constant,
    Expression,
    If,
    Known,
    Not,
    Operation,
    Return,
    Statement,
    Value,
)
from treewright.exporting._program.lowering import lower
from treewright.exporting._tree import Style, family

LONGEST_NESTED = 6_000  # characters; Excel keeps up to 16,384 bytes of a formula, 2 to 2.5 for each of them


class TooLongError(ValueError):
    """Nested tests that Excel would not read."""


@dataclass(frozen=True)
class Printer:
    """The statements and expressions of a lowered tree as formulas for one row."""

    layout: Layout
    row: int

    def block(self, statements: Sequence[Statement], answers: Sequence[str]) -> str:
        """The value of a block of tests; `answers` are those of the leaves from left to right."""
        last = statements[-1]
        if isinstance(last, Return):
            assert isinstance(last.value, Constant)
            return answers[int(last.value.value)]
        assert isinstance(last, If)
        then, otherwise = self.block(last.then, answers), self.block(last.otherwise, answers)
        return f"IF({self.expression(last.condition)},{then},{otherwise})"

    def expression(self, expression: Expression) -> str:
        """A condition."""
        match expression:
            case Constant():
                return label(expression.value)
            case Known():
                return f'{self.cell(expression.feature)}{"=" if expression.negated else "<>"}""'
            case Among():
                return self.membership(expression)
            case Choice():
                parts = (expression.condition, expression.then, expression.otherwise)
                return f"IF({','.join(map(self.expression, parts))})"
            case Not(Operation(_, Value(feature))):  # not above, so at most, or missing
                return f'OR({self.cell(feature)}="",{self.comparison(expression.operand, "<=")})'
            case Operation(_, Value(feature)):
                return f'AND({self.cell(feature)}<>"",{self.comparison(expression, expression.operator)})'
        raise AssertionError(expression)

    def cell(self, feature: int) -> str:
        """The cell of a column or sum."""
        return self.layout.cell(feature, self.row)

    def comparison(self, test: Any, operator: str) -> str:
        """A known number or time compared with a threshold."""
        feature, threshold = test.left.feature, test.right.value
        is_time = self.layout.code.tree.tested[feature].kind == "time"
        bound = date(time_threshold(threshold)) if is_time else number(threshold)
        return f"{self.cell(feature)}{operator}{bound}"

    def membership(self, test: Among) -> str:
        """Whether a category is among some; an empty cell equals 0, FALSE and "" of Excel."""
        column, cell = self.layout.code.tree.schema.columns[test.feature], self.cell(test.feature)
        if len(test.codes) >= MOST_ARGUMENTS:
            raise TooLongError(
                f"column {name_text(column.name)!r} is compared with {len(test.codes)} categories"
            )
        labels = [label(column.categories[code]) for code in test.codes]
        is_text = family(column) == "text"
        found = [f"EXACT({cell},{each})" if is_text else f"{cell}={each}" for each in labels]
        if not is_text and found:
            found = [f'AND({cell}<>"",{_any(found)})']
        condition = _any([f'{cell}=""'] * test.missing + found)
        return f"NOT({condition})" if test.negated else condition


def _any(conditions: list[str]) -> str:
    return conditions[0] if len(conditions) == 1 else f"OR({','.join(conditions)})"


Nested = dict[int, Callable[[int], str]]  # of outputs, by their places, the formula for a row


def nested_formulas(layout: Layout, style: Style) -> Nested | None:
    """The formulas of classes and of the leaf; None where they would be too long, or tables are wanted.

    Numbers are looked up by the leaf, as they may have more digits than people want to read.
    """
    code = layout.code
    if not code.nests(style):
        return None
    body = lower(code, "nested", range(len(code.targets)), raises=False).functions[0].body
    answers = {len(layout.outputs) + LEAF: [str(leaf) for leaf in code.leaves.tolist()]}
    for k, target in enumerate(code.targets):
        if target.classes is not None:
            answers[k] = [label(target.classes[answer]) for answer in code.answers(k)]
    found: Nested = {place: partial(_nested, layout, body, own) for place, own in answers.items()}
    try:
        for formula in found.values():
            _check_size(formula(layout.n_rows + 1))
    except TooLongError as error:
        if style == "nested":
            raise ValueError(
                f"this tree is too large for style='nested': {error}; use style='tables'"
            ) from None
        return None
    return found


def _nested(layout: Layout, body: Sequence[Statement], answers: list[str], row: int) -> str:
    return Printer(layout, row).block(body, answers)


def _check_size(formula: str) -> None:
    if len(formula) > LONGEST_NESTED or nesting(formula) >= DEEPEST_FORMULA:
        raise TooLongError(
            f"a formula of {len(formula):,} characters in {nesting(formula)} levels, where Excel reads about "
            f"{LONGEST_NESTED:,} in {DEEPEST_FORMULA}"
        )
