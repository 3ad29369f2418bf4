"""What people see in a terminal: notes, the stage of long work, colours."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Timer
from typing import Any

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from treewright._json import plain
from treewright.advice import Advice
from treewright.cli.options import TEXT, Style
from treewright.cli.streams import show, tell

QUIET_SECONDS = 0.5  # work that ends sooner shows no progress
MOST_ADVICE = 8  # pieces that people are shown


@dataclass(frozen=True)
class Voice:
    """The output of a command: text for people or one JSON document for programs, with notes or without."""

    style: Style = TEXT
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """One line on the standard error about something worth knowing; in the document if there is one."""
        self.notes.append(text)
        self.mention(_as_note(text))

    def advise(self, advice: Sequence[Advice]) -> None:
        """Advice on the table or the tree, the most serious first, as notes; documents have a list of it."""
        for each in advice[:MOST_ADVICE]:
            self.mention(_as_note(each.command_text))
        if len(advice) > MOST_ADVICE:
            self.mention(_as_note(f"… and {len(advice) - MOST_ADVICE} more; --json lists all"))

    def mention(self, line: str) -> None:
        """One line on the standard error for people."""
        if not (self.style.json or self.style.quiet):
            tell(line)

    def answer(self, text: Callable[[], str], document: Callable[[], Mapping[str, Any]]) -> None:
        """Print the output of the command."""
        show(as_json({**document(), "notes": self.notes}) if self.style.json else text())

    def summarize(self, text: Callable[[], str], document: Callable[[], Mapping[str, Any]]) -> None:
        """Print a summary beside the files that were written; not with --quiet."""
        if self.style.json or not self.style.quiet:
            self.answer(text, document)

    @contextmanager
    def stages(self, *, shown: bool = True) -> Iterator[Stages]:
        """Long work in stages, inside of which nothing is printed: the line of the progress would be in the
        way.

        If something is printed to a terminal all the same, the progress must not be `shown`.
        """
        work = Stages(self)
        if not self.style.quiet and (shown or not sys.stdout.isatty()):
            work._show()
        try:
            yield work
        finally:
            work._hide()


def _as_note(text: str) -> str:
    return f"treewright: note: {text}"


def as_json(value: Any) -> str:
    r"""A document as JSON that every output can carry (ASCII) and every program can read (no NaN).

    >>> import numpy as np
    >>> print(as_json({"é": float("nan"), "rows": np.int64(3)}))
    {
      "\u00e9": null,
      "rows": 3
    }
    """
    return json.dumps(plain(value), indent=2, allow_nan=False)


def in_colour() -> bool:
    """Whether the output goes to a terminal that shows colours, and NO_COLOR is not set."""
    console = Console()
    return console.is_terminal and not console.no_color and console.color_system is not None


def terminal_width() -> int | None:
    """The width of the terminal that the output goes to; None if it goes elsewhere."""
    if not sys.stdout.isatty():
        return None
    return max(40, Console().width)


class Stages:
    """The stages of long work, with their seconds; on a terminal the current one is shown."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self.seconds: dict[str, float] = {}
        self._start = time.perf_counter()
        self._current: str | None = None
        self._progress: Progress | None = None
        self._timer: Timer | None = None

    def begin(self, name: str, what: str = "") -> None:
        """The next stage begins: reading, encoding, growing, …"""
        self._count()
        self._current, self._start = name, time.perf_counter()
        if self._progress is not None:
            self._progress.update(self._progress.task_ids[0], description=f"{name} {what}".strip(), share="")

    def advance(self, share: float) -> None:
        """The share of the stage that is done, from 0 to 1."""
        if share > 0:
            self.tell(f"{share:.0%}")

    def tell(self, text: str) -> None:
        """How far the stage is, in words."""
        if self._progress is not None:
            self._progress.update(self._progress.task_ids[0], share=text)

    def note(self, text: str) -> None:
        """A note while the work goes on."""
        if self._progress is None or not self._progress.live.is_started or self._voice.style.json:
            self._voice.note(text)
            return
        self._voice.notes.append(text)
        self._progress.console.print(_as_note(text), markup=False, highlight=False, soft_wrap=True)

    def _count(self) -> None:
        if self._current is not None:
            seconds = time.perf_counter() - self._start
            self.seconds[self._current] = self.seconds.get(self._current, 0.0) + seconds
            self._current = None

    def _show(self) -> None:
        console = Console(stderr=True)
        if not console.is_terminal or console.is_dumb_terminal:
            return
        texts = [TextColumn(field, markup=False) for field in ("{task.description}", "{task.fields[share]}")]
        columns = (SpinnerColumn(), *texts, TimeElapsedColumn())
        self._progress = Progress(*columns, console=console, transient=True)
        self._progress.add_task("reading", total=None, share="")
        self._timer = Timer(QUIET_SECONDS, self._progress.start)
        self._timer.daemon = True
        self._timer.start()

    def _hide(self) -> None:
        self._count()
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
        if self._progress is not None:
            self._progress.stop()


def advice_document(advice: Iterable[Advice]) -> list[dict[str, Any]]:
    """Advice for programs."""
    return [
        {"code": each.code, "column": each.column, "text": each.text, "try": each.on_command_line}
        for each in advice
    ]


def for_pages(advice: Iterable[Advice]) -> list[Advice]:
    """The same advice for a page that a command writes: the remedies are options."""
    return [replace(each, in_python=each.on_command_line) for each in advice]
