"""A tree as SQL: a CASE expression, or a whole SELECT, for several databases."""

from __future__ import annotations

import math
import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright._suggestions import choices_text, did_you_mean
from treewright._text import row_count
from treewright.exporting._split_tests import Question, has_surrogates, questions, refuse_parts
from treewright.exporting._tree import Code, check_labels, family, one_target
from treewright.exporting.databases import run
from treewright.exporting.dialects import Dialect, dialect_of
from treewright.tree import Tree

Times = Literal["timestamp", "microseconds"]
_INDENT = "    "
_MOST_CELLS = 5_000_000  # leaves × classes, with probabilities: more would be a query that no database takes


def render(
    tree: Tree,
    *,
    dialect: str = "duckdb",
    table: str | Sequence[str] | None = None,
    column: str = "prediction",
    columns: Mapping[str, str] | None = None,
    target: str | None = None,
    probability: Hashable = None,
    probabilities: bool = False,
    nan: bool = True,
    times: Times = "timestamp",
) -> str:
    """A CASE expression over the columns of a table; with `table` a SELECT of its rows with the predictions.

    `dialect` is duckdb, postgres, sqlite, mysql, bigquery or snowflake. NULL goes where the tree sends
    missing values; where it takes complete rows only, the prediction for others is NULL. However deep the
    tree is, CASE nests no deeper than a balanced tree of as many leaves.

    Parameters
    ----------
    table
        The name of a table: ``"customers"``, ``"sales.customers"``, or the parts as a list.
    column
        The name of the column of predictions in the SELECT.
    columns
        Names of columns in the database that differ from those in the tree. Names are quoted, so that
        upper and lower case matter to postgres and snowflake.
    target
        Which of several targets.
    probability
        Return the share of this class in place of the prediction.
    probabilities
        With `table`: add a column ``probability_…`` for each class.
    nan
        Whether NaN, where the database knows it, goes where missing values go; False makes it shorter.
    times
        "timestamp", or "microseconds" where times are kept as numbers. SQLite's timestamps are texts like
        ``2024-05-17 08:30:00``.

    Examples
    --------
    >>> from treewright import encode, grow
    >>> tree = grow(encode({"petal": [1.4, 4.7, 6.0]}, ["setosa", "virginica", "virginica"]))
    >>> print(render(tree, table="flowers"))
    SELECT
        *,
        CASE
            WHEN "petal" <= 3e0 THEN 'setosa' /* 1 row */
            ELSE 'virginica' /* 2 rows */
        END AS "prediction"
    FROM "flowers"
    """
    refuse_parts(tree, "sql")
    code = Code(tree)
    check_labels(code)
    if times not in ("timestamp", "microseconds"):
        raise ValueError(f"times is {times!r}; known: timestamp, microseconds")
    place = one_target(code, target)
    writer = _Writer(code, dialect_of(dialect), dict(columns or {}), nan, times)
    writer.check_columns()
    answers = _answers(writer, place) if probability is None else _shares(writer, place, probability)
    if table is None:
        if probabilities:
            raise ValueError(
                "probabilities=True adds columns to a SELECT: say table=; or probability= one class"
            )
        return "\n".join(writer.case(answers))
    parts = [(column, answers)]
    if probabilities:
        classes = _classes(code, place)
        if len(classes) * len(code.leaves) > _MOST_CELLS:
            raise ValueError(
                f"{len(code.leaves):,} leaves and {len(classes):,} classes are too much for probabilities"
            )
        parts += [(f"probability_{label}", _shares(writer, place, label)) for label in classes]
    return "\n".join(_select(writer, _name_parts(table), parts))


def answers(rendered: str, tree: Tree, rows: dict[str, Any], /, **options: Any) -> NDArray[Any]:
    """The predictions of the query for the rows of a table, run in DuckDB or SQLite."""
    name, whole = options.get("dialect", "duckdb"), options.get("table")
    if name not in ("duckdb", "sqlite"):
        raise ValueError(f"check= runs SQL in duckdb or sqlite; {name} cannot be run here")
    if options.get("probability") is not None:
        raise ValueError("check= compares answers; leave probability= out")
    code, dialect = Code(tree), dialect_of(name)
    names = dict(options.get("columns") or {})
    parts = [dialect.identifier(part) for part in _name_parts(whole or "probes")]
    columns = [
        (dialect.identifier(names.get(column.name, column.name)), column, rows[column.name])
        for column in code.columns
    ]
    query = rendered if whole else f"SELECT {rendered} FROM {'.'.join(parts)}"
    n_rows, place = len(next(iter(rows.values()))), max(len(columns), 1) if whole else 0
    times, nan = options.get("times", "timestamp"), options.get("nan", True)
    found = [row[place] for row in run(name, parts, columns, n_rows, times, query, nan=nan)]
    classes = code.targets[one_target(code, options.get("target"))].classes
    if classes is None:
        return np.array(found, np.float64)
    array = np.empty(len(found), object)
    array[:] = [bool(label) for label in found] if isinstance(classes[0], bool) else found
    return array


@dataclass(frozen=True)
class _Writer:
    """The tests of a tree in a dialect."""

    code: Code
    dialect: Dialect
    names: Mapping[str, str]  # of columns in the database, where they are others
    nan: bool
    times: Times

    def check_columns(self) -> None:
        """ValueError about two columns that are one to the database, and about unknown names."""
        known = self.code.tree.schema.names
        for name in self.names:
            if name not in known:
                raise ValueError(f"columns: there is no column {name!r}{did_you_mean(name, known)}")
        columns: dict[str, str] = {}
        for column in self.code.columns:
            name = self.names.get(column.name, column.name)
            key = name.casefold() if self.dialect.folds_case else name
            if key in columns:
                raise ValueError(
                    f"{self.dialect.name} takes the columns {columns[key]!r} and {column.name!r} for one; "
                    "say by columns= what they are called there"
                )
            columns[key] = column.name

    @cached_property
    def values(self) -> dict[int, str]:
        """The columns in use as the database calls them, and sums of columns; a product with a float is a
        float, whatever the column is.
        """
        names = (self.names.get(column.name, column.name) for column in self.code.columns)
        values = dict(zip(self.code.used, map(self.dialect.identifier, names), strict=True))
        for j in self.code.sums:
            parts = (f"{values[c]} * {self.dialect.number(weight)}" for c, weight in self.code.terms(j))
            values[j] = f"({' + '.join(parts)})"
        return values

    def case(self, answers: list[str], level: int = 0) -> Iterator[str]:
        """The lines of the expression.

        The larger child of a branch goes on in the same CASE, and only the smaller one begins another, so
        that they nest no deeper than the logarithm of the number of leaves.
        """
        if self.code.required_columns:
            missing = " OR ".join(
                self._is_missing(j, j in self._may_be_nan) for j in self.code.required_columns
            )
            yield f"{_INDENT * level}CASE"
            yield f"{_INDENT * (level + 1)}WHEN {missing} THEN NULL"
            yield f"{_INDENT * (level + 1)}ELSE"
            yield from self._cases(answers, level + 2)
            yield f"{_INDENT * level}END"
        else:
            yield from self._cases(answers, level)

    def _is_missing(self, j: int, nan: bool) -> str:
        """The condition that a value is missing; `nan`: NaN is missing, too."""
        name = self.values[j]
        if not nan or self.dialect.nan is None:
            return f"{name} IS NULL"
        is_nan = f"{name} > {self.dialect.infinity}" if self.dialect.nan == "greatest" else f"IS_NAN({name})"
        return f"{name} IS NULL OR {is_nan}"

    @cached_property
    def _timestamps(self) -> frozenset[int]:
        """The columns that hold timestamps."""
        columns = zip(self.code.used, self.code.columns, strict=True)
        return frozenset(j for j, column in columns if self.times == "timestamp" and family(column) == "time")

    @cached_property
    def _may_be_nan(self) -> frozenset[int]:
        """The columns and sums that may hold NaN in the database, where it counts as missing."""
        tested, sums = self.code.tree.tested, frozenset(self.code.sums)
        floats = (j for j in self.values if j not in self._timestamps and not tested[j].is_category)
        return frozenset(j for j in floats if self.nan or j in sums)

    def _cases(self, answers: list[str], level: int) -> Iterator[str]:
        tree, size = self.code.tree, self.code.tree.end - np.arange(self.code.tree.n_nodes)
        left, right = tree.left.tolist(), tree.right.tolist()
        stack: list[tuple[str, int, int]] = [("", 0, level)]
        while stack:
            start, node, level = stack.pop()
            if node < 0 or tree.is_leaf[node]:
                yield _INDENT * level + start + ("" if node < 0 else self._answer(answers, node))
                continue
            yield _INDENT * level + start + "CASE"
            parts = []
            while not tree.is_leaf[node]:
                goes_left = bool(size[left[node]] <= size[right[node]])
                small, large = (left[node], right[node]) if goes_left else (right[node], left[node])
                begin = f"WHEN {self.test(node, goes_left)} THEN"
                if tree.is_leaf[small]:
                    parts.append((f"{begin} ", small, level + 1))
                else:
                    parts += [(begin, -1, level + 1), ("", small, level + 2)]
                node = large
            parts += [("ELSE ", node, level + 1), ("END", -1, level)]
            stack += reversed(parts)

    def formula(self, first: float, terms: list[tuple[int, float, float]]) -> str:
        """A sum; a value that is missing or not finite is not between the limits."""
        number, text = self.dialect.number, self.dialect.number(first)
        least, most = number(-sys.float_info.max), number(sys.float_info.max)
        for j, coefficient, mean in terms:
            name = self.values[j]
            known = f"CASE WHEN {name} BETWEEN {least} AND {most} THEN {name} ELSE {number(mean)} END"
            text += f" + {number(coefficient)} * {known}"
        return text

    def _answer(self, answers: list[str], leaf: int) -> str:
        return f"{answers[self.code.place[leaf]]} /* {row_count(int(self.code.tree.rows[leaf]))} */"

    def test(self, node: int, to_left: bool) -> str:
        """The condition for going to one child of a node."""
        tree = self.code.tree
        missing = bool(tree.missing_left[node]) == to_left
        tests = questions(tree, node, to_left=to_left)
        if has_surrogates(tree, node):
            ways = [way for question in tests for way in self._ways(question)]
            whens = " ".join(f"WHEN {when} THEN {then}" for when, then in ways)
            return f"CASE {whens} ELSE {self.dialect.truths[missing]} END"
        question = next(tests)
        if not question.is_category:
            return self._comparison(question, missing, question.feature in self._may_be_nan)
        (within, codes), name = question.listed, self.values[question.feature]
        if within and not codes:
            return f"{name} IS NULL" if missing else f"{name} <> {name}"
        test = self._among(question.feature, codes, within) if codes else f"{name} IS NOT NULL"
        return f"{test} OR {name} IS NULL" if missing else test

    def _comparison(self, question: Question, missing: bool, nan: bool) -> str:
        """The test of a number or time; `missing`: or it is missing; `nan`: NaN is missing, too."""
        dialect, j, threshold = self.dialect, question.feature, question.threshold
        name, is_time, to_left = self.values[j], j in self._timestamps, not question.reversed
        if math.isinf(threshold) and (is_time or dialect.infinity is None):
            test = f"{name} IS NOT NULL" if (threshold > 0) == to_left else f"{name} <> {name}"
            return f"{test} OR {name} IS NULL" if missing else test
        bound = dialect.moment(threshold) if is_time else dialect.number(threshold)
        test = f"{name} {question.operator} {bound}"
        is_above = nan and dialect.nan == "greatest" and not to_left  # NaN passes: the greatest number
        if missing:
            return f"{test} OR {self._is_missing(j, nan and not is_above)}"
        return f"{test} AND {name} <= {dialect.infinity}" if is_above else test

    def _ways(self, question: Question) -> Iterator[tuple[str, str]]:
        """The conditions of a question with surrogates: that its value is known, and the test."""
        j, name, truths = question.feature, self.values[question.feature], self.dialect.truths
        if question.is_category and question.unseen_left is None:
            for side, codes in ((True, question.left), (False, question.right)):
                if codes:
                    yield self._among(j, codes), truths[side]
            return
        if question.is_category:
            within, codes = question.listed
            test = self._among(j, codes, within) if codes else truths[not within]
        else:
            test = self._comparison(question, False, False)
        if j not in self._may_be_nan or self.dialect.nan is None:
            yield f"{name} IS NOT NULL", test
        elif self.dialect.nan == "greatest":
            yield f"{name} <= {self.dialect.infinity}", test
        else:
            yield f"NOT IS_NAN({name})", test

    def _among(self, j: int, codes: Sequence[int], within: bool = True) -> str:
        """The test of a category."""
        column, name = self.code.tree.schema.columns[j], self.values[j]
        labels = ", ".join(self.dialect.label(column.categories[code]) for code in codes)
        value = self.dialect.category(name) if isinstance(column.categories[0], str) else name
        return f"{value} {'IN' if within else 'NOT IN'} ({labels})"


def _classes(code: Code, place: int) -> tuple[Hashable, ...]:
    classes = code.targets[place].classes
    if classes is None:
        raise ValueError("this tree predicts numbers; probabilities are for classes")
    return classes


def _answers(writer: _Writer, place: int) -> list[str]:
    """The prediction of each leaf."""
    if writer.code.formulas is not None:
        return [writer.formula(first, terms) for first, terms in writer.code.formulas]
    found = writer.code.answers(place)
    if not writer.code.predicts_classes:
        return [writer.dialect.number(value) for value in found]
    labels = [writer.dialect.label(label) for label in _classes(writer.code, place)]
    return [labels[code] for code in found]


def _shares(writer: _Writer, place: int, label: Hashable) -> list[str]:
    """The share of a class in each leaf."""
    classes = _classes(writer.code, place)
    if label not in classes:
        raise ValueError(
            f"there is no class {label!r}; the classes are {choices_text(label, classes, in_quotes=True)}"
        )
    code = classes.index(label)
    return [writer.dialect.number(dict(leaf).get(code, 0.0)) for leaf in writer.code.shares(place)]


def _select(writer: _Writer, table: list[str], parts: list[tuple[str, list[str]]]) -> Iterator[str]:
    """The SELECT of all columns of a table and the predictions."""
    identifier = writer.dialect.identifier
    yield from ["SELECT", f"{_INDENT}*,"]
    for place, (name, answers) in enumerate(parts):
        lines = list(writer.case(answers, level=1))
        lines[-1] += f" AS {identifier(name)}" + ("," if place < len(parts) - 1 else "")
        yield from lines
    yield f"FROM {'.'.join(map(identifier, table))}"


def _name_parts(table: str | Sequence[str]) -> list[str]:
    """The name of a table, after those of its database and schema."""
    parts = table.split(".") if isinstance(table, str) else list(table)
    if not parts or not all(parts):
        raise ValueError(f"table is {table!r}; it must be a name, or the parts of one: ['schema', 'table']")
    return parts
