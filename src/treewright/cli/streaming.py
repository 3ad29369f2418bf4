"""Tables of any length, piece by piece: one pass over the file, a few rows in memory at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Any

import duckdb
import numpy as np

from treewright.cli.forms import Form
from treewright.cli.reading import (
    NOTHING,
    Column,
    Contradiction,
    Frame,
    Plan,
    attempts,
    check_exact,
    diagnose,
    explained,
    is_beyond_exact,
    no_rows,
)
from treewright.cli.sources import Source

CELLS_AT_ONCE = 1 << 19
FEWEST_ROWS = 64  # of a piece of a table that is very wide
PIECES_AHEAD = 2  # that wait while another is worked on


def stream(
    source: Source,
    wanted: Mapping[str, Form | None],
    kept: Collection[str] = (),
    *,
    width: int = 0,
    as_text: Mapping[str, bool] = NOTHING,
) -> Generator[Frame, None, None]:
    """What `read` reads, as frames of a few rows each, in order; the next are read while one is worked on.

    `width` is how many columns the caller will make of the rows: pieces are as much shorter.
    """
    asked = {position: wanted[name] for position, name in enumerate(source.names) if name in wanted}
    carried = [position for position, name in enumerate(source.names) if name in kept]
    rows = max(FEWEST_ROWS, CELLS_AT_ONCE // (len(asked) + len(carried) + width))
    source.database.execute("SET threads = 1")  # of several, DuckDB streams their rows out of order
    reader = _Reader(source, asked, carried, rows, as_text)
    with explained(source), closing(_ahead(reader.pieces(), reader.interrupt)) as pieces:
        yield from pieces
    if reader.done == 0:
        raise no_rows(source)


class _Reader:
    """Reads the pieces; it begins again, behind what is done, where the file is not as its first rows say."""

    def __init__(
        self,
        source: Source,
        asked: Mapping[int, Form | None],
        carried: list[int],
        rows: int,
        as_text: Mapping[str, bool],
    ) -> None:
        self.source, self.asked, self.carried, self.rows, self.as_text = source, asked, carried, rows, as_text
        self.done = 0
        self._exact: set[int] = set()  # columns in which large numbers were found to be as they are written
        self._cursor = source.database.cursor()

    def interrupt(self) -> None:
        """End the query that is under way."""
        self._cursor.interrupt()
        self.source.database.interrupt()

    def pieces(self) -> Iterator[Frame]:
        """The frames; Trouble where the file is at fault."""
        try:
            yield from self._pieces(strict=True)
            if self.done or self.source.layout is None:
                return
            self.source.layout.diagnose()  # of lines longer than its buffers the quick reader may say nothing
        except duckdb.Error as error:
            diagnose(self.source, error)
        yield from self._pieces(strict=False)

    def _pieces(self, strict: bool) -> Iterator[Frame]:
        for plans, query in attempts(self.source, self.asked, self.carried, self.as_text, strict=strict):
            try:
                yield from self._attempt(plans, query)
                return
            except duckdb.Error as error:
                contradiction = Contradiction.of(error, plans)
        raise contradiction.trouble(self.source)

    def _attempt(self, plans: Mapping[int, Plan], query: str) -> Iterator[Frame]:
        times = [f"epoch_us(c{i}) AS c{i}" for i, plan in plans.items() if plan.form in ("time", "zoned")]
        query = f"SELECT * REPLACE ({', '.join(times)}) FROM ({query})" if times else query
        self._cursor = self.source.database.cursor()
        self._cursor.execute(query)
        behind = 0
        while rows := self._cursor.fetchmany(self.rows):
            fresh = rows[max(0, self.done - behind) :]
            behind += len(rows)
            if fresh:
                frame = self._frame(plans, fresh)
                self.done += len(fresh)
                yield frame

    def _frame(self, plans: Mapping[int, Plan], rows: list[tuple[Any, ...]]) -> Frame:
        names, cells = self.source.names, list(zip(*rows, strict=True))
        columns = {}
        for (i, plan), column in zip(plans.items(), cells, strict=False):
            columns[names[i]] = values = _values(column, plan.form)
            if plan.form in ("number", "loose", "comma") and i not in self._exact and is_beyond_exact(values):
                check_exact(self.source, i)  # all of the column: once is enough
                self._exact.add(i)
        kept = {
            names[i]: np.array(["" if cell is None else cell for cell in column], dtype=object)
            for i, column in zip(self.carried, cells[len(plans) :], strict=True)
        }
        forms = {names[i]: plan.form for i, plan in plans.items()}
        return Frame(
            self.source.path, columns, forms, kept, self.source.layout, self.done, self.source.numbers
        )


def _values(cells: Sequence[Any], form: Form) -> Column:
    """Cells of a form, of which None is missing, as an array that `encode` knows."""
    if form in ("number", "loose", "comma", "nothing"):
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
    return values.view("datetime64[us]") if form in ("time", "zoned") else values


def _ahead(items: Iterator[Frame], interrupt: Callable[[], None]) -> Generator[Frame, None, None]:
    """The items of an iterator that runs in a thread of its own, a few of them ahead.

    Whoever waits hears Ctrl-C. When the items are no longer wanted, the thread is told to end and awaited.
    """
    queue: Queue[Frame | BaseException | None] = Queue(PIECES_AHEAD)
    unwanted = Event()

    def put(item: Frame | BaseException | None) -> None:
        while not unwanted.is_set():
            try:
                return queue.put(item, timeout=0.1)
            except Full:
                continue

    def work() -> None:
        try:
            for item in items:
                put(item)
                if unwanted.is_set():
                    return
            put(None)
        except BaseException as error:  # to be raised where the items are awaited
            put(error)

    thread = Thread(target=work, daemon=True)
    thread.start()
    try:
        while True:
            try:
                item = queue.get(timeout=0.1)
            except Empty:
                continue
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        unwanted.set()
        if thread.is_alive():
            interrupt()
            thread.join(timeout=1)
