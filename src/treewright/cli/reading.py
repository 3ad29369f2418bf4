"""Files as tables: CSV and Parquet in, a dict of numpy arrays out; DuckDB does the reading."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from threading import Event, Thread
from typing import Any, NamedTuple, TypeVar

import duckdb
import numpy as np
from numpy.typing import NDArray

from treewright.advice import Advice
from treewright.cli import forms
from treewright.cli.conventions import AS_FOUND, Conventions
from treewright.cli.errors import Trouble, listed, quote
from treewright.cli.forms import Form
from treewright.cli.layout import LONGEST_LINE, Layout
from treewright.cli.sources import Source, first_line
from treewright.encoding.cells import BEYOND, EXACT
from treewright.encoding.text.advice import fold_advice

Column = NDArray[Any]
Result = TypeVar("Result")

COLUMNS_AT_ONCE = 256
NOTHING: Mapping[str, bool] = {}


@dataclass(frozen=True)
class Frame:
    """The columns of a file that were asked for, in the file's order."""

    path: str
    columns: dict[str, Column]
    forms: dict[str, Form]
    kept: dict[str, Column] = field(default_factory=dict)  # texts, exactly as they stand in the file
    layout: Layout | None = field(default=None, repr=False)  # of a file of text
    start: int = 0  # the rows of the file before these
    numbers: NDArray[np.int64] | None = field(default=None, repr=False)  # the rows of an Excel sheet
    conventions: Conventions = AS_FOUND

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.columns.values())))

    def place(self, row: int) -> str:
        """Where a row is in the file, in words; rows are counted from 0."""
        row += self.start
        if self.numbers is not None:
            return f"row {self.numbers[row]}"
        line = None if self.layout is None else self.layout.line_of_row(row)
        return f"row {row + 1}" if line is None else f"line {line}"

    def placed(self, texts: Iterable[str], rows: Column | None = None) -> list[str]:
        """Texts in which rows are marked (`marked_row`) with the places of these rows in the file.

        All places are looked up at once: to find one takes as long as to read the file up to there.
        """
        texts = list(texts)
        marked = {int(row) for text in texts for row in _MARKED.findall(text)}
        found = {row: self.start + (row if rows is None else int(rows[row])) for row in marked}
        lines: Mapping[int, int] = {}
        if self.numbers is None and self.layout is not None:
            lines = self.layout.lines_of_rows(found.values())

        def place(match: re.Match[str]) -> str:
            row = found[int(match[1])]
            if self.numbers is not None:
                return f"row {self.numbers[row]}"
            return f"line {lines[row]}" if row in lines else f"row {row + 1}"

        return [_MARKED.sub(place, text) for text in texts]

    def advice(self, advice: Iterable[Advice], rows: Column | None = None) -> list[Advice]:
        """Advice about rows (`marked_row`) with their places, one piece for many columns of one sort."""
        advice = fold_advice(advice)
        texts = self.placed((each.text for each in advice), rows)
        return [replace(each, text=text) for each, text in zip(advice, texts, strict=True)]

    def located(self, error: Exception, rows: Column | None = None) -> Trouble:
        """An error of `encode` in the words of the command line: lines for rows, options for arguments.

        `rows` are the positions in the file of the rows that were encoded; all of them by default.
        """

        def place(found: re.Match[str]) -> str:
            row = int(found[1])
            return self.place(row if rows is None else int(rows[row]))

        text = re.sub(r"\brow (\d+)\b", place, self.placed([str(error)], rows)[0])
        return in_words_of_options(f"{self.path}: {text}")


_MARKED = re.compile("\ue000([0-9]+)\ue001")  # characters that no table has a use for


def marked_row(row: int) -> str:
    """A row in a text, to be replaced by its place."""
    return f"\ue000{row}\ue001"


def in_words_of_options(text: str) -> Trouble:
    """What `encode` says, with options for arguments."""
    for said, meant in _OPTIONS.items():
        text = text.replace(said, meant)
    return Trouble(_ARGUMENT.sub(lambda found: f"--{found[1].replace('_', '-')} {found[2]}={found[3]}", text))


_ARGUMENT = re.compile(r"\b(kinds|decimal|thousands|date_format)=\{'(.*?)': '(.*?)'\}")
_OPTIONS = {
    "make the column a category (kinds)": "make it a category (--kinds) or leave it out (--drop)",
    "(for regression: classes=False, DecisionTreeRegressor)": "(for regression: --numbers)",
    "(for labels: classes=True, DecisionTreeClassifier)": "(for labels: --classes)",
}


class Plan(NamedTuple):
    """How one column is read."""

    form: Form
    sql: str


class Contradiction(NamedTuple):
    """A cell that does not have the form of its column."""

    position: int
    cell: str
    form: Form

    @staticmethod
    def of(error: duckdb.Error, plans: Mapping[int, Plan]) -> Contradiction:
        """The cell that ended a query; the error itself is raised if another thing did."""
        odd = forms.odd_cell(str(error))
        if odd is None:
            raise error
        return Contradiction(*odd, plans[odd[0]].form)

    def trouble(self, source: Source) -> Trouble:
        """What to say of it."""
        line = source.layout.line_of(self.position, self.cell) if source.layout is not None else None
        place = f"{source.path}, line {line}" if line is not None else source.path
        shown = self.cell if len(self.cell) <= 60 else self.cell[:57] + "..."
        name = source.names[self.position]
        called = forms.CALLED[self.form]
        return Trouble(f"{place}: column {listed([name])} has the cell {shown!r}, which is not {called}")


def read(
    source: Source,
    wanted: Mapping[str, Form | None],
    kept: Collection[str] = (),
    jobs: int = 1,
    as_text: Mapping[str, bool] = NOTHING,
) -> Frame:
    """The columns of a source that are wanted, each in the form that is asked for, or else its natural one.

    `kept` are columns that are wanted as they stand in the file, `jobs` is the number of threads. Columns in
    `as_text` are read as texts: always (True), or where some cell does not have the form that is asked for.
    """
    as_text = {**as_text, **{name: True for name in source.conventions.date_format if name in wanted}}
    asked = {position: wanted[name] for position, name in enumerate(source.names) if name in wanted}
    carried = [position for position, name in enumerate(source.names) if name in kept]
    source.database.execute(f"SET threads = {jobs}")
    with explained(source):
        plans = _loaded(source, asked, carried, as_text)
        columns = _fetched(source, plans)
        texts = {source.names[i]: _texts(source, f"k{i}", "") for i in carried}
    source.database.close()
    found = {source.names[i]: plan.form for i, plan in plans.items()}
    return Frame(source.path, columns, found, texts, source.layout, 0, source.numbers, source.conventions)


@contextmanager
def explained(source: Source) -> Iterator[None]:
    """What DuckDB says of a file that cannot be read, in our words."""
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise MemoryError(f"the memory does not suffice to read {source.path}; leave columns out") from error
    except duckdb.Error as error:
        reason = first_line(error)
        if "Maximum line size" in str(error):
            reason = f"{reason}: it has more than {LONGEST_LINE:,} bytes, which are the most that are read"
        raise Trouble(f"{source.path} is damaged or cannot be read ({reason})") from error


def _loaded(
    source: Source, asked: Mapping[int, Form | None], carried: list[int], as_text: Mapping[str, bool]
) -> dict[int, Plan]:
    """The table `cells`, as of `_load`; if a file of text cannot be read, the wrong line is looked for."""
    for strict in (True, False):
        try:
            plans = _load(source, asked, carried, as_text, strict=strict)
        except duckdb.Error as error:
            if not strict:
                raise
            diagnose(source, error)
            continue
        if _run(source, partial(_row, source, "SELECT count(*) FROM cells"))[0]:
            return plans
        if source.layout is None:
            break
        source.layout.diagnose()  # of lines longer than its buffers the quick reader may say nothing
    raise no_rows(source)


def _load(
    source: Source,
    asked: Mapping[int, Form | None],
    carried: list[int],
    as_text: Mapping[str, bool],
    *,
    strict: bool,
) -> dict[int, Plan]:
    """The table `cells` of the wanted columns (c0, …) and the kept ones (k0, …), and how each was read."""
    for plans, query in attempts(source, asked, carried, as_text, strict=strict):
        try:
            _run(source, partial(source.database.execute, f"CREATE OR REPLACE TEMP TABLE cells AS {query}"))
            return plans
        except duckdb.Error as error:
            contradiction = Contradiction.of(error, plans)
    raise contradiction.trouble(source)


def diagnose(source: Source, error: duckdb.Error) -> None:
    """Trouble that names the line for which a file of text could not be read.

    If there is none, nothing is wrong but the ends of lines, or a record that was torn between two threads:
    then it can be read by one thread that is not so strict.
    """
    if source.layout is None or isinstance(error, duckdb.OutOfMemoryException | duckdb.InterruptException):
        raise error
    source.layout.diagnose()


def no_rows(source: Source) -> Trouble:
    """What to say of a table without rows."""
    return Trouble(f"{source.path} has names of columns but no rows")


def _run(source: Source, work: Callable[[], Result]) -> Result:
    """The result of a query, run in a thread of its own: Ctrl-C is heard at once and ends the query."""
    outcome: list[Result | BaseException] = []
    done = Event()

    def guarded() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # to be raised where the result is awaited
            outcome.append(error)
        done.set()

    Thread(target=guarded, daemon=True).start()
    try:
        while not done.wait(0.1):
            pass
    except KeyboardInterrupt:
        source.database.interrupt()
        done.wait(0.5)
        raise
    (result,) = outcome
    if isinstance(result, BaseException):
        raise result
    return result


def attempts(
    source: Source,
    asked: Mapping[int, Form | None],
    carried: list[int],
    as_text: Mapping[str, bool],
    *,
    strict: bool,
) -> Iterator[tuple[dict[int, Plan], str]]:
    """Three ways to read the wanted columns (c0, …) and the kept ones (k0, …): how each is read, and the SQL.

    First the quick way: the forms of columns of text are guessed from the first rows, and cells are taken as
    they stand. If one contradicts, cells are cleaned (see `known`); if one still does, all are looked at.
    """
    copies = [f"CAST(c{i} AS VARCHAR) AS k{i}" for i in carried]
    quick = cleaned = f"(SELECT {', '.join(['*', *copies])} FROM {source.table})"
    if source.layout is not None:
        positions = {*asked, *carried}
        raw = source.layout.table(positions, strict=strict)
        cells = [f"known(c{i}) AS c{i}" for i in asked]
        cleaned = f"(SELECT {', '.join(cells + copies)} FROM {raw})"
        # Where cells are kept as they stand, the reader must not take words such as NA for nothing.
        plain = raw if copies else source.layout.table(positions, source.missing, strict=strict)
        quick = f"(SELECT {', '.join(['*', *copies])} FROM {plain})"
    for table, told_from in ((quick, None), (cleaned, None), (cleaned, cleaned)):
        plans = _plans(source, asked, as_text, told_from)
        selected = [f"{plan.sql} AS c{i}" for i, plan in plans.items()] + [f"k{i}" for i in carried]
        yield plans, f"SELECT {', '.join(selected)} FROM {table}"


def _plans(
    source: Source, asked: Mapping[int, Form | None], as_text: Mapping[str, bool], told_from: str | None
) -> dict[int, Plan]:
    """How to read each wanted column; `told_from` is the table that tells the forms of texts; None: guess."""
    plans = {i: _native(source, i, form) for i, form in asked.items()} if source.layout is None else {}
    texts = [i for i in asked if plans.get(i) is None]
    always = {i for i in texts if as_text.get(source.names[i]) and _may_be_text(source, i)}
    natural = _natural(source, [i for i in texts if asked[i] != "text" and i not in always], told_from)
    for i in texts:
        form: Form | None = asked[i]
        if i in always:
            form = "text"
        elif i in natural and (form is None or natural[i] in forms.FITTING[form]):
            form = natural[i]
        elif i in natural and form is not None:
            form = "text" if source.names[i] in as_text else forms.INSISTED[form]
        assert form is not None
        plans[i] = Plan(form, forms.casting(f"c{i}", form))
    return {i: plan for i in asked if (plan := plans[i]) is not None}


def _may_be_text(source: Source, position: int) -> bool:
    """Whether a column holds texts, as far as the file tells."""
    layout = source.layout
    return layout is None or not layout.is_typed or layout.holds_texts(position)


def _natural(source: Source, positions: list[int], told_from: str | None) -> dict[int, Form]:
    """The natural forms of columns of text."""
    layout = source.layout
    natural: dict[int, Form] = {}
    having: dict[int, tuple[Form, ...]] = {}
    for i in positions:
        said, own = source.conventions.decimals(source.names[i]), "." if layout is None else layout.decimals
        decimals = "".join(mark for mark in own if mark in said)  # others are read by `encode`
        guess = forms.guessed(() if layout is None else layout.sampled(i), decimals, source.missing)
        is_text = layout is not None and layout.holds_texts(i)
        natural[i] = "text" if is_text and guess not in forms.TIMES else guess
        having[i] = forms.TIMES if is_text else forms.candidates(guess, decimals)
    if told_from is None or not positions:
        return natural
    for some in batches(positions):
        counting = ", ".join(sql for i in some for sql in forms.counting(f"c{i}", having[i]))
        query = f"SELECT {counting} FROM {told_from}"
        counts = iter(_run(source, partial(_row, source, query)))
        natural |= {i: forms.natural(islice(counts, len(having[i]) + 1), having[i]) for i in some}
    return natural


def batches(positions: Collection[int]) -> Iterator[list[int]]:
    """Columns in batches: of thousands at once a query exhausts DuckDB's stack, of each by itself time."""
    left = iter(positions)
    while some := list(islice(left, COLUMNS_AT_ONCE)):
        yield some


def _native(source: Source, position: int, wanted: Form | None) -> Plan | None:
    """How to read a column that has a type of its own; None if it is text that must be looked at."""
    kind, column = source.types[position], f"c{position}"
    form, sql = forms.of_type(kind, column)
    if wanted == "text":
        return Plan("text", f"CAST({column} AS VARCHAR)")
    if form is None:
        raise Trouble(
            f"{source.path}: column {quote(source.names[position])} has type {kind}, which is neither "
            "numbers, text, bools nor times; convert it or leave it out (--drop)"
        )
    if wanted is None or form in forms.FITTING[wanted]:
        return Plan(form, sql)
    if form == "text":
        return None
    name, cells = quote(source.names[position]), forms.CALLED[forms.INSISTED[wanted]]
    raise Trouble(f"{source.path}: column {name} has type {kind}, but each cell must be {cells}")


def _row(source: Source, query: str) -> Any:
    return source.database.execute(query).fetchone()


def _arrays(source: Source, query: str) -> dict[str, Column]:
    arrays: dict[str, Column] = source.database.execute(query).fetchnumpy()
    return arrays


def _fetch(source: Source, expression: str, table: str = "cells") -> Column:
    return _run(source, partial(_arrays, source, f"SELECT {expression} AS c FROM {table}"))["c"]


def _fetched(source: Source, plans: Mapping[int, Plan]) -> dict[str, Column]:
    """The columns of `cells` as arrays that `encode` knows."""
    columns = {i: _texts(source, f"c{i}", None) for i, plan in plans.items() if plan.form == "text"}
    for some in batches([i for i, plan in plans.items() if plan.form != "text"]):
        query = f"SELECT {', '.join(f'c{i}' for i in some)} FROM cells"
        found = _run(source, partial(_arrays, source, query))
        columns |= {i: _array(source, i, plans[i].form, found[f"c{i}"]) for i in some}
    return {source.names[i]: columns[i] for i in plans}


def _array(source: Source, position: int, form: Form, values: Column) -> Column:
    if form == "nothing":
        return np.full(len(values), np.nan)
    if form == "huge":
        return np.array([None if text is None else int(text) for text in values.tolist()], dtype=object)
    if form in ("number", "loose", "comma"):
        values = values.filled(np.nan) if isinstance(values, np.ma.MaskedArray) else values
        if is_beyond_exact(values):
            check_exact(source, position)
    return values


def _texts(source: Source, name: str, missing: str | None) -> Column:
    """A column of text: each distinct text is one object, however many cells have it."""
    distinct = f"SELECT DISTINCT {name} AS c FROM cells WHERE {name} IS NOT NULL ORDER BY 1"
    _run(source, lambda: source.database.execute(f"CREATE OR REPLACE TEMP TABLE labels AS {distinct}"))
    labels = _fetch(source, "c", "labels").tolist()
    if not labels:
        return np.full(len(_fetch(source, f"{name} IS NULL")), missing, dtype=object)
    _run(source, lambda: source.database.execute(f"CREATE TYPE of_{name} AS ENUM (SELECT c FROM labels)"))
    codes = _fetch(source, f"coalesce(enum_code(CAST({name} AS of_{name})), {len(labels)})")
    return np.array([*labels, missing], dtype=object)[codes.astype(np.intp)]


def is_beyond_exact(values: Column) -> bool:
    """Whether some numbers are so large that float64 may have lost digits of them."""
    return bool((np.abs(values) >= EXACT).any())


def check_exact(source: Source, position: int) -> None:
    """Trouble if whole digits of a number in a column may have been lost on its way to float64.

    The rule is that of `encode` for integers: beyond ±2^53 float64 skips some, so what is written out there
    may be a name, whether or not float64 happens to have it.
    """
    if source.layout is None:
        return
    cells = f"(SELECT known(c{position}) AS c FROM {source.layout.table([position])})"
    rounded = f"is_whole(c) AND abs(as_number(c)) >= {EXACT} AND c NOT IN ('{EXACT}', '-{EXACT}')"
    overflown = "isinf(as_number(c)) AND NOT contains(lower(c), 'inf')"
    query = f"SELECT c FROM {cells} WHERE ({rounded}) OR ({overflown}) LIMIT 1"
    found = _run(source, lambda: source.database.cursor().execute(query).fetchone())
    if found is not None:
        line = source.layout.line_of(position, found[0])
        is_whole = forms.guessed(found) in ("integer", "huge")
        why = BEYOND if is_whole else "which is too large for float64; scale the column"
        raise in_words_of_options(
            f"{source.path}, line {line}: column {quote(source.names[position])} has the number "
            f"{found[0] if len(found[0]) <= 60 else f'{found[0][:57]}...'}, {why}"
        )
