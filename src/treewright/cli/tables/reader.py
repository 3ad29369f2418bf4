"""Files as tables: dicts of numpy arrays, of a whole file or a few rows at a time; DuckDB reads them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Any, NamedTuple, TypeVar

import duckdb
import numpy as np
from numpy.typing import NDArray

from treewright.advice import Advice
from treewright.cli.errors import Trouble, cut, quote
from treewright.cli.tables import cell_types
from treewright.cli.tables.cell_types import FLOATS, TIMES, Form
from treewright.cli.tables.csv_files import LONGEST_LINE
from treewright.cli.tables.sources import Source, first_line
from treewright.encoding.cells import BEYOND, EXACT
from treewright.encoding.text.advice import fold_advice

Column = NDArray[Any]
Result = TypeVar("Result")

COLUMNS_AT_ONCE = 256
NOTHING: Mapping[str, bool] = {}


@dataclass(frozen=True)
class Frame:
    """The columns of a file that were asked for, in the file's order."""

    source: Source = field(repr=False)
    columns: dict[str, Column]
    forms: dict[str, Form]
    kept: dict[str, Column] = field(default_factory=dict)  # texts, exactly as they stand in the file
    start: int = 0  # the rows of the file before these

    @property
    def path(self) -> str:
        """The file as the user calls it."""
        return self.source.path

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.columns.values())))

    def place(self, row: int) -> str:
        """Where a row is in the file, in words; rows are counted from 0."""
        return self.source.places([self.start + row])[self.start + row]

    def with_places(self, texts: Iterable[str], rows: Column | None = None) -> list[str]:
        """Texts in which rows are marked (`marked_row`) with the places of these rows in the file."""
        texts = list(texts)
        marked = {int(row) for text in texts for row in _MARKED.findall(text)}
        in_file = {row: self.start + (row if rows is None else int(rows[row])) for row in marked}
        places = self.source.places(in_file.values())
        return [_MARKED.sub(lambda match: places[in_file[int(match[1])]], text) for text in texts]

    def advice(self, advice: Iterable[Advice], rows: Column | None = None) -> list[Advice]:
        """Advice about rows (`marked_row`) with their places, one piece for many columns of one sort."""
        advice = fold_advice(advice)
        texts = self.with_places((each.text for each in advice), rows)
        return [replace(each, text=text) for each, text in zip(advice, texts, strict=True)]

    def trouble(self, error: Exception, rows: Column | None = None) -> Trouble:
        """An error of `encode` in the words of the command line: lines for rows, options for arguments.

        `rows` are the positions in the file of the rows that were encoded; all of them by default.
        """
        text = re.sub(r"\brow (\d+)\b", lambda match: marked_row(int(match[1])), str(error))
        return in_words_of_options(f"{self.path}: {self.with_places([text], rows)[0]}")


_MARKED = re.compile("\ue000([0-9]+)\ue001")  # characters that no table has a use for


def marked_row(row: int) -> str:
    """A row in a text, to be replaced by its place."""
    return f"\ue000{row}\ue001"


def in_words_of_options(text: str) -> Trouble:
    """A message of `encode`, with options for arguments."""
    for in_python, option in _OPTIONS.items():
        text = text.replace(in_python, option)
    return Trouble(_ARGUMENT.sub(lambda match: f"--{match[1].replace('_', '-')} {match[2]}={match[3]}", text))


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


Attempt = Callable[[dict[int, Plan], str], Iterator[Result]]  # from the plan of each column and the SQL


@dataclass(frozen=True)
class Request:
    """The columns of a source that are wanted, by position."""

    source: Source
    forms: dict[int, Form | None]  # None: the natural form
    kept: list[int]  # to be had as they stand in the file
    as_text: Mapping[str, bool]

    @staticmethod
    def of(
        source: Source, wanted: Mapping[str, Form | None], kept: Collection[str], as_text: Mapping[str, bool]
    ) -> Request:
        """The columns by their names."""
        forms = {position: wanted[name] for position, name in enumerate(source.names) if name in wanted}
        return Request(source, forms, [i for i, name in enumerate(source.names) if name in kept], as_text)

    def results(self, attempt: Attempt[Result]) -> Iterator[Result]:
        """What the first attempt yields that no cell contradicts; Trouble if the file is at fault.

        If the quick reader fails, the line that is wrong is looked for. If there is none, nothing is wrong
        but the ends of lines, or a record that was torn between two threads: one thread that is less strict
        can read it.
        """
        layout, has_rows = self.source.layout, False
        for strict in (True, False):
            try:
                for result in self._consistent_results(attempt, strict):
                    yield result
                    has_rows = True
                if has_rows:
                    return
            except duckdb.Error as error:
                is_ours = isinstance(error, duckdb.OutOfMemoryException | duckdb.InterruptException)
                if not strict or layout is None or is_ours:
                    raise
            if layout is None:
                break
            layout.diagnose()  # also without an error: the quick reader may skip very long lines
        if not has_rows:
            raise Trouble(f"{self.source.path} has names of columns but no rows")

    def _consistent_results(self, attempt: Attempt[Result], strict: bool) -> Iterator[Result]:
        for plans, query in self._queries(strict=strict):
            try:
                yield from attempt(plans, query)
                return
            except duckdb.Error as error:
                if (odd := cell_types.odd_cell(str(error))) is None:
                    raise
                (position, cell), form = odd, plans[odd[0]].form
        layout, path = self.source.layout, self.source.path
        line = None if layout is None else layout.line_of(position, cell)
        place = path if line is None else f"{path}, line {line}"
        column = f"column {quote(self.source.names[position])}"
        raise Trouble(f"{place}: {column} has the cell {cut(cell)!r}, which is not {cell_types.ONE[form]}")

    def _queries(self, *, strict: bool) -> Iterator[tuple[dict[int, Plan], str]]:
        """Three ways to read the wanted columns (c0, …) and the kept ones (k0, …).

        First the quick way: the forms of text columns are guessed from the first rows, and cells are taken as
        they stand. If one contradicts, cells are cleaned (see `known`); if one still does, all are looked at.
        """
        layout = self.source.layout
        copies = [f"CAST(c{i} AS VARCHAR) AS k{i}" for i in self.kept]
        quick = clean = f"(SELECT {', '.join(['*', *copies])} FROM {self.source.table})"
        if layout is not None:
            positions = {*self.forms, *self.kept}
            raw = layout.table(positions, strict=strict)
            cells = [f"known(c{i}) AS c{i}" for i in self.forms]
            clean = f"(SELECT {', '.join(cells + copies)} FROM {raw})"
            # Where cells are kept as they stand, the reader must not take words such as NA for nothing.
            plain = raw if copies else layout.table(positions, self.source.missing, strict=strict)
            quick = f"(SELECT {', '.join(['*', *copies])} FROM {plain})"
        for table, evidence in ((quick, None), (clean, None), (clean, clean)):
            plans = self._plans(evidence)
            columns = [f"{plan.sql} AS c{i}" for i, plan in plans.items()] + [f"k{i}" for i in self.kept]
            yield plans, f"SELECT {', '.join(columns)} FROM {table}"

    def _plans(self, evidence: str | None) -> dict[int, Plan]:
        """How to read each column; the forms of texts are told from the table `evidence`, or guessed."""
        names, layout = self.source.names, self.source.layout
        plans = {i: self._typed_plan(i, form) for i, form in self.forms.items()} if layout is None else {}
        texts = [i for i in self.forms if plans.get(i) is None]
        of_texts = None if layout is None else layout.texts
        always = {i for i in texts if self.as_text.get(names[i]) and (of_texts is None or i in of_texts)}
        natural = self._natural_forms(
            [i for i in texts if self.forms[i] != "text" and i not in always], evidence
        )
        for i in texts:
            form: Form | None = self.forms[i]
            if i in always:
                form = "text"
            elif i in natural and (form is None or natural[i] in cell_types.FITTING[form]):
                form = natural[i]
            elif i in natural and form is not None:
                form = "text" if names[i] in self.as_text else cell_types.INSISTENT[form]
            assert form is not None
            plans[i] = Plan(form, cell_types.casting(f"c{i}", form))
        return {i: plan for i in self.forms if (plan := plans[i]) is not None}

    def _natural_forms(self, positions: list[int], evidence: str | None) -> dict[int, Form]:
        """The natural forms of text columns."""
        source, layout = self.source, self.source.layout
        natural: dict[int, Form] = {}
        possible: dict[int, tuple[Form, ...]] = {}
        for i in positions:
            allowed, own = (
                source.conventions.decimals(source.names[i]),
                "." if layout is None else layout.decimals,
            )
            decimals = "".join(mark for mark in own if mark in allowed)  # others are read by `encode`
            guess = cell_types.guess(() if layout is None else layout.sample_of(i), decimals, source.missing)
            is_text = layout is not None and i in (layout.texts or ())
            natural[i] = "text" if is_text and guess not in TIMES else guess
            possible[i] = TIMES if is_text else cell_types.candidates(guess, decimals)
        if evidence is None or not positions:
            return natural
        for some in batches(positions):
            counting = ", ".join(sql for i in some for sql in cell_types.counting(f"c{i}", possible[i]))
            counts = iter(_result(source.database, f"SELECT {counting} FROM {evidence}")[0])
            natural |= {
                i: cell_types.natural(islice(counts, len(possible[i]) + 1), possible[i]) for i in some
            }
        return natural

    def _typed_plan(self, position: int, wanted: Form | None) -> Plan | None:
        """How to read a column that has a type of its own; None if it is text that must be looked at."""
        source, column = self.source, f"c{position}"
        kind = source.types[position]
        form, sql = cell_types.of_type(kind, column)
        if wanted == "text":
            return Plan("text", f"CAST({column} AS VARCHAR)")
        has_type = f"{source.path}: column {quote(source.names[position])} has type {kind}"
        if form is None:
            raise Trouble(
                f"{has_type}, which is neither numbers, text, bools nor times; convert it or leave it out "
                "(--drop)"
            )
        if wanted is None or form in cell_types.FITTING[wanted]:
            return Plan(form, sql)
        if form == "text":
            return None
        raise Trouble(f"{has_type}, but each cell must be {cell_types.ONE[cell_types.INSISTENT[wanted]]}")


def read(
    source: Source,
    wanted: Mapping[str, Form | None],
    kept: Collection[str] = (),
    jobs: int = 1,
    as_text: Mapping[str, bool] = NOTHING,
) -> Frame:
    """The columns of a source that are wanted, each in a given form, or else its natural one.

    `kept` are columns that are wanted as they stand in the file, `jobs` is the number of threads. Columns in
    `as_text` are read as texts: always (True), or where some cell does not have the form that is wanted.
    """
    as_text = {**as_text, **{name: True for name in source.conventions.date_format if name in wanted}}
    request = Request.of(source, wanted, kept, as_text)
    source.database.execute(f"SET threads = {jobs}")
    with plain_errors(source):
        plans = next(request.results(partial(_load, source)))
        columns = _columns(source, plans)
        texts = {source.names[i]: _texts(source, f"k{i}", "") for i in request.kept}
    source.database.close()
    return Frame(source, columns, {source.names[i]: plan.form for i, plan in plans.items()}, texts)


@contextmanager
def plain_errors(source: Source) -> Iterator[None]:
    """Errors of DuckDB about a file that cannot be read, in our words."""
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise MemoryError(f"the memory does not suffice to read {source.path}; leave columns out") from error
    except duckdb.Error as error:
        reason = first_line(error)
        if "Maximum line size" in str(error):
            reason = f"{reason}: it has more than {LONGEST_LINE:,} bytes, which are the most that are read"
        raise Trouble(f"{source.path} is damaged or cannot be read ({reason})") from error


def _load(source: Source, plans: dict[int, Plan], query: str) -> Iterator[dict[int, Plan]]:
    """Make the table `cells` of a query; its plans, if it has rows."""
    _result(source.database, f"CREATE OR REPLACE TEMP TABLE cells AS {query}")
    if _result(source.database, "SELECT 1 FROM cells LIMIT 1"):
        yield plans


def _result(database: Any, query: str, fetch: str = "fetchall") -> Any:
    """The result of a query, run in a thread of its own: Ctrl-C is heard at once and ends the query."""
    results = (getattr(database.execute(query), fetch)() for _ in range(1))
    [result] = _ahead(results, database.interrupt)
    return result


def batches(positions: Collection[int]) -> Iterator[list[int]]:
    """Columns in batches: of thousands at once a query exhausts DuckDB's stack, of each by itself time."""
    left = iter(positions)
    while some := list(islice(left, COLUMNS_AT_ONCE)):
        yield some


def _columns(source: Source, plans: Mapping[int, Plan]) -> dict[str, Column]:
    """The columns of `cells` as arrays that `encode` knows."""
    columns = {i: _texts(source, f"c{i}", None) for i, plan in plans.items() if plan.form == "text"}
    for some in batches([i for i, plan in plans.items() if plan.form != "text"]):
        query = f"SELECT {', '.join(f'c{i}' for i in some)} FROM cells"
        arrays = _result(source.database, query, "fetchnumpy")
        columns |= {i: _array(source, i, plans[i].form, arrays[f"c{i}"]) for i in some}
    return {source.names[i]: columns[i] for i in plans}


def _array(source: Source, position: int, form: Form, values: Column) -> Column:
    if form == "nothing":
        return np.full(len(values), np.nan)
    if form == "huge":
        return np.array([None if text is None else int(text) for text in values.tolist()], dtype=object)
    if form in FLOATS:
        values = values.filled(np.nan) if isinstance(values, np.ma.MaskedArray) else values
        if is_beyond_exact(values):
            check_exact(source, position)
    return values


def _texts(source: Source, name: str, missing: str | None) -> Column:
    """A column of text: each distinct text is one object, however many cells have it."""
    result = partial(_result, source.database)
    distinct = f"SELECT DISTINCT {name} AS c FROM cells WHERE {name} IS NOT NULL ORDER BY 1"
    result(f"CREATE OR REPLACE TEMP TABLE labels AS {distinct}")
    labels = result("SELECT c FROM labels", "fetchnumpy")["c"].tolist()
    if not labels:
        [[n_rows]] = result("SELECT count(*) FROM cells")
        return np.full(n_rows, missing, dtype=object)
    result(f"CREATE TYPE of_{name} AS ENUM (SELECT c FROM labels)")
    code = f"coalesce(enum_code(CAST({name} AS of_{name})), {len(labels)})"
    codes: Column = result(f"SELECT {code} AS c FROM cells", "fetchnumpy")["c"]
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
    inexact = f"is_whole(c) AND abs(as_number(c)) >= {EXACT} AND c NOT IN ('{EXACT}', '-{EXACT}')"
    infinite = "isinf(as_number(c)) AND NOT contains(lower(c), 'inf')"
    query = f"SELECT c FROM {cells} WHERE ({inexact}) OR ({infinite}) LIMIT 1"
    for (cell,) in _result(source.database.cursor(), query):
        line = source.layout.line_of(position, cell)
        is_whole = cell_types.guess([cell]) in ("integer", "huge")
        why = BEYOND if is_whole else "which is too large for float64; scale the column"
        raise in_words_of_options(
            f"{source.path}, line {line}: column {quote(source.names[position])} has the number "
            f"{cut(cell)}, {why}"
        )


CELLS_AT_ONCE = 1 << 19
FEWEST_ROWS = 64  # of a piece of a table that is very wide
PIECES_AHEAD = 2  # that wait while another is worked on


def stream(
    source: Source,
    wanted: Mapping[str, Form | None],
    kept: Collection[str] = (),
    *,
    as_text: Mapping[str, bool] = NOTHING,
    width: int = 0,
) -> Generator[Frame, None, None]:
    """What `read` reads, as frames of a few rows each, in order; the next are read while one is worked on.

    `width` is how many columns the caller will make of the rows: pieces are as much shorter.
    """
    request = Request.of(source, wanted, kept, as_text)
    rows = max(FEWEST_ROWS, CELLS_AT_ONCE // (len(request.forms) + len(request.kept) + width))
    source.database.execute("SET threads = 1")  # of several, DuckDB streams their rows out of order
    reader = _Reader(request, rows)
    pieces = request.results(reader.frames)
    with plain_errors(source), closing(_ahead(pieces, reader.interrupt)) as frames:
        yield from frames


class _Reader:
    """Reads the pieces; it begins again, behind what is done, where the file is not as its first rows say."""

    def __init__(self, request: Request, rows: int) -> None:
        self.source, self.kept, self.rows = request.source, request.kept, rows
        self.n_done = 0
        self._exact: set[int] = set()  # columns in which large numbers were found to be as they are written
        self._cursor = request.source.database.cursor()

    def interrupt(self) -> None:
        """End the query that is under way."""
        self._cursor.interrupt()
        self.source.database.interrupt()

    def frames(self, plans: dict[int, Plan], query: str) -> Iterator[Frame]:
        """The frames of a query, behind those of the queries before."""
        times = [f"epoch_us(c{i}) AS c{i}" for i, plan in plans.items() if plan.form in TIMES]
        query = f"SELECT * REPLACE ({', '.join(times)}) FROM ({query})" if times else query
        self._cursor = self.source.database.cursor()
        self._cursor.execute(query)
        n_read = 0
        while rows := self._cursor.fetchmany(self.rows):
            fresh = rows[max(0, self.n_done - n_read) :]
            n_read += len(rows)
            if fresh:
                frame = self._frame(plans, fresh)
                self.n_done += len(fresh)
                yield frame

    def _frame(self, plans: Mapping[int, Plan], rows: list[tuple[Any, ...]]) -> Frame:
        names, cells = self.source.names, list(zip(*rows, strict=True))
        columns = {}
        for (i, plan), column in zip(plans.items(), cells, strict=False):
            columns[names[i]] = values = _values(column, plan.form)
            if plan.form in FLOATS and i not in self._exact and is_beyond_exact(values):
                check_exact(self.source, i)  # all of the column: once is enough
                self._exact.add(i)
        kept = {
            names[i]: np.array(["" if cell is None else cell for cell in column], dtype=object)
            for i, column in zip(self.kept, cells[len(plans) :], strict=True)
        }
        forms = {names[i]: plan.form for i, plan in plans.items()}
        return Frame(self.source, columns, forms, kept, self.n_done)


def _values(cells: Sequence[Any], form: Form) -> Column:
    """Cells of a form, of which None is missing, as an array that `encode` knows."""
    if form == "nothing" or form in FLOATS:
        return np.array(cells, dtype=np.float64)
    if form in ("text", "huge"):
        read: Any = int if form == "huge" else str
        return np.array([None if cell is None else read(cell) for cell in cells], dtype=object)
    kind: Any = np.bool_ if form == "bool" else np.int64
    if None not in cells:
        values = np.array(cells, dtype=kind)
    else:
        missing = [cell is None for cell in cells]
        values = np.ma.array([0 if cell is None else cell for cell in cells], dtype=kind, mask=missing)
    return values.view("datetime64[us]") if form in TIMES else values


def _ahead(items: Iterator[Result], interrupt: Callable[[], object]) -> Generator[Result, None, None]:
    """The items of an iterator that runs in a thread of its own, a few of them ahead.

    The caller reacts to Ctrl-C at once. When it wants no more items, the thread is told to end and awaited.
    """
    queue: Queue[tuple[Any, BaseException | None]] = Queue(PIECES_AHEAD)  # items, and at last an error
    is_over = Event()

    def put(item: Any, error: BaseException | None = None) -> None:
        while not is_over.is_set():
            try:
                return queue.put((item, error), timeout=0.1)
            except Full:
                continue

    def work() -> None:
        try:
            for item in items:
                put(item)
                if is_over.is_set():
                    return
            put(None, StopIteration())
        except BaseException as error:  # to be raised where the items are awaited
            put(None, error)

    thread = Thread(target=work, daemon=True)
    thread.start()
    try:
        while True:
            try:
                item, error = queue.get(timeout=0.1)
            except Empty:
                continue
            if error is not None:
                is_over.set()
                if isinstance(error, StopIteration):
                    return
                raise error
            yield item
    finally:
        if not is_over.is_set():
            is_over.set()
            interrupt()
            thread.join(timeout=1)
