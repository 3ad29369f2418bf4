"""What stands where in the sheets of a workbook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from treewright._text import label_text, name_text
from treewright.encoding.schema import Column
from treewright.exporting._excel.values import (
    DIGITS,
    LAST_COLUMN,
    LAST_ROW,
    LONGEST_CELL,
    UNREADABLE,
    Formula,
    formula,
    is_exact,
    letters,
)
from treewright.exporting._tree import Code, family

MOST_CLASSES = 100  # whose probabilities are shown unless they are asked for
FIRST_CATEGORY = 4  # row of the first category in the sheet "Columns"
LEAF, CHECK = -2, -1  # places among the outputs
FIRST_ANSWER = 8  # column of the first prediction in the sheet "Tree"
NUMBER, TIME, TEXT, BOOL, ANY = "a number", "a date or time", "a text", "TRUE or FALSE", "anything"


@dataclass(frozen=True)
class Layout:
    """The columns of the sheets."""

    code: Code
    n_rows: int
    takes_all: bool
    probabilities: bool | None

    def __post_init__(self) -> None:
        for column in self.code.columns:
            self._check_column(column)
        for target in self.code.targets:
            _check_names(f"target {name_text(target.name)!r}", target.classes or ())
        width = max(len(self.inputs) + len(self.code.sums) + len(self.outputs), len(self.node_columns) + 3)
        if width > LAST_COLUMN or self.n_nodes >= LAST_ROW:
            raise ValueError(
                f"the workbook would have a sheet of {width:,} columns and one of {self.n_nodes + 1:,} rows; "
                f"Excel has {LAST_COLUMN:,} and {LAST_ROW:,}: prune the tree, or leave columns= or "
                "probabilities= out"
            )

    def _check_column(self, column: Column) -> None:
        what = f"column {name_text(column.name)!r}"
        _check_names(what, column.categories)
        if "" in column.categories:
            raise ValueError(
                f"{what} has the category '', an empty text, which Excel cannot tell from an empty cell; "
                "rename it before the tree is grown"
            )
        if len(column.categories) > min(LAST_ROW - FIRST_CATEGORY, LONGEST_CELL - 1):
            raise ValueError(f"{what} has {len(column.categories):,} categories, too many for a sheet")

    @cached_property
    def inputs(self) -> list[int]:
        """The columns of the table that are columns of the sheet."""
        return list(range(len(self.code.tree.schema.columns))) if self.takes_all else self.code.used or [0]

    @cached_property
    def outputs(self) -> list[str]:
        """The headings to the right of the inputs and sums."""
        found = [f"prediction{end}" for end in self._ends] + [name for name, _, _ in self.classes]
        return [*found, "leaf", "check"]

    @property
    def _ends(self) -> list[str]:
        names = [name_text(target.name) for target in self.code.targets]
        return [f" of {name}" for name in names] if len(names) > 1 else [""]

    @cached_property
    def classes(self) -> list[tuple[str, int, int]]:
        """The classes whose probabilities are shown: the heading, the target, the code."""
        n_classes = sum(len(target.classes or ()) for target in self.code.targets)
        if not (n_classes <= MOST_CLASSES if self.probabilities is None else self.probabilities):
            return []
        return [
            (f"P({label_text(each)}){end}", k, place)
            for k, (target, end) in enumerate(zip(self.code.targets, self._ends, strict=True))
            for place, each in enumerate(target.classes or ())
        ]

    @cached_property
    def node_columns(self) -> list[str]:
        """The headings of the sheet "Tree", without those that only formulas read."""
        found = ["node", "column", "test", "if yes", "if no", "if missing", "rows", *self.outputs[:-2]]
        if self.code.formulas is not None:
            found[-1] = "intercept"
            found += [f"per {name_text(self.code.tree.schema.names[j])}" for j in self.regressors]
        return found

    @cached_property
    def regressors(self) -> list[int]:
        """The columns in the formulas of leaves."""
        return sorted({j for _, terms in self.code.formulas or () for j, _, _ in terms})

    @property
    def n_nodes(self) -> int:
        """The rows of the sheet "Tree": the nodes, then the surrogates."""
        return self.code.tree.n_nodes + len(self.code.tree.surrogates)

    @cached_property
    def features(self) -> list[int]:
        """What tests compare: the columns, then the sums."""
        return [*self.code.used, *self.code.sums]

    @cached_property
    def steps(self) -> int:
        """The largest number of tests that a row meets, with all surrogates."""
        tree = self.code.tree
        height = np.zeros(tree.n_nodes, np.int64)
        tests = 1 + np.bincount(tree.surrogates.node, minlength=tree.n_nodes)
        for node in np.flatnonzero(~tree.is_leaf)[::-1].tolist():
            height[node] = tests[node] + max(height[node + 1], height[tree.right[node]])
        return int(height[0])

    def output(self, place: int, row: int) -> str:
        """The cell of an output, counted from 0, or from the last one backwards."""
        first = len(self.inputs) + len(self.code.sums) + 1
        return f"${letters(first + place % len(self.outputs))}{row}"

    def cell(self, feature: int, row: int) -> str:
        """The cell of a column or sum."""
        is_sum = feature in self.code.sums
        place = len(self.inputs) + self.code.sums.index(feature) if is_sum else self.inputs.index(feature)
        return f"{letters(place + 1)}{row}"

    def inputs_of(self, row: int | str) -> str:
        """The cells of the inputs of a row."""
        return f"$A{row}:${letters(len(self.inputs))}{row}"

    def lookup(self, place: int, row: int) -> str:
        """What the sheet "Tree" says in a column of the leaf of a row."""
        column = letters(place)
        return f"INDEX(Tree!${column}$2:${column}${self.n_nodes + 1},{self.output(LEAF, row)}+1)"

    def if_ok(self, value: str, row: int, what: str) -> Formula:
        """A formula that is empty where the values of the row are not what they should be."""
        return formula(f'IF({self.output(CHECK, row)}="ok",{value},"")', what)


def _check_names(what: str, names: Sequence[Any]) -> None:
    """ValueError about a category or class that no cell can hold."""
    for name in names:
        if isinstance(name, str):
            if len(name) > LONGEST_CELL or UNREADABLE.search(name):
                raise ValueError(f"{what} has {label_text(name)}, a text that no cell of Excel can hold")
        elif not isinstance(name, bool) and not is_exact(name):
            raise ValueError(
                f"{what} has {name!r}, and Excel keeps {DIGITS} digits of a number: make it a text"
            )


def kind_text(layout: Layout, position: int) -> str:
    """What the cells of a column hold."""
    column = layout.code.tree.schema.columns[position]
    if position not in layout.code.used:
        return ANY
    if family(column) == "name":
        return BOOL if isinstance(column.categories[0], bool) else NUMBER
    return {"number": NUMBER, "time": TIME, "text": TEXT}[family(column)]


def categories_range(place: int, column: Column) -> str:
    """The cells of the categories of a column."""
    name = letters(place)
    return f"Columns!${name}${FIRST_CATEGORY}:${name}${FIRST_CATEGORY + len(column.categories) - 1}"
