"""`treewright describe`: the columns of a table, their kinds, what is missing, how many values they have."""

from __future__ import annotations

import io
import shlex
from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import Parameter
from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from treewright._text import escape, label_text
from treewright.advice import Advice
from treewright.cli.advice import advice_document, advice_on_frame
from treewright.cli.console import Voice, in_colour, terminal_width
from treewright.cli.errors import Misuse, count, cut, quote
from treewright.cli.options import TABLE, TEXT, USUAL, Dialect, Drop, Jobs, Kinds, Style, Table, kinds_of
from treewright.cli.shell import Command, next_command
from treewright.cli.summary import percent
from treewright.cli.tables.cell_types import Form
from treewright.cli.tables.labelled import note_remarks
from treewright.cli.tables.model_columns import form_of_kind
from treewright.cli.tables.profiles import Profile, profiles_of
from treewright.cli.tables.reader import read
from treewright.cli.tables.sources import Source, check_columns, open_source
from treewright.growing import n_threads

SHOWN_VALUES = 3  # of a column of categories
LONGEST_VALUE = 40  # characters that are shown of one
WIDE = 160  # columns of characters where the output does not go to a terminal
IN_GRID = {"text-numbers", "text-times", "text-truths"}  # advice that the grid shows already


def describe(
    data: Table,
    /,
    *,
    target: Annotated[str | None, Parameter(group=TABLE)] = None,
    drop: Drop = None,
    kinds: Kinds = None,
    dialect: Dialect = USUAL,
    n_jobs: Jobs = -1,
    style: Style = TEXT,
) -> None:
    """Describe the columns of a table: their kinds, what is missing, how many values they have.

    The kinds are those that `treewright fit` would infer. The last line is a command to continue with.

    Parameters
    ----------
    target
        The column to predict.

    Examples
    --------
    treewright describe loans.csv
        one line for each column
    treewright describe loans.csv --na-values -999 --kinds zip=category
        -999 is a missing value, zip codes are categories
    treewright describe loans.xlsx --sheet 2026
        one sheet of an Excel file
    treewright describe events.jsonl.gz --json
        the same figures for a program
    zcat loans.csv.gz | treewright describe -
        from a pipe
    """
    voice, named_kinds = Voice(style), kinds_of(kinds)
    with voice.stages() as work:
        work.begin("reading", str(data))
        source = open_source(data, dialect)
        options = [("--target", target)] if target is not None else []
        options += [("--drop", name) for name in drop or []] + [("--kinds", name) for name in named_kinds]
        check_columns(source, options)
        forms: dict[str, Form | None] = dict.fromkeys(
            name for name in source.names if name not in (drop or [])
        )
        if not forms:
            raise Misuse("--drop leaves no column to describe")
        if target is not None and target not in forms:
            raise Misuse(f"column {quote(target)} is named for two things that exclude each other")
        forms |= {name: form_of_kind(kind) for name, kind in named_kinds.items() if name in forms}
        note_remarks(source, work, with_doubt=True)
        as_text = {name: False for name, kind in named_kinds.items() if kind != "category"}
        frame = read(source, forms, jobs=n_threads(n_jobs), as_text=as_text)
        profiles, advice = profiles_of(frame, named_kinds)
        work.begin("advising")
        advice = advice_on_frame(frame, named_kinds, target, advice)
    description = _Description(source, profiles, advice, target)
    voice.answer(description.text, description.document)


@dataclass(frozen=True)
class _Description:
    """The columns of a table, advice on them, and the command to continue with."""

    source: Source
    profiles: list[Profile]
    advice: list[Advice]
    target: str | None

    def document(self) -> dict[str, Any]:
        """For programs."""
        return {
            "table": self.source.path,
            "rows": self.profiles[0].rows,
            "columns": [profile.document() for profile in self.profiles],
            "advice": advice_document(self.advice),
            "next": self._command().words,
        }

    def text(self) -> str:
        """For people."""
        width = terminal_width() or WIDE
        size = f"{count(self.profiles[0].rows, 'row')}, {count(len(self.profiles), 'column')}"
        parts = [f"{self.source.path}: {size}", _grid(self.profiles, width)]
        advice = [_bullet(each.command_text, width) for each in self.advice if each.code not in IN_GRID]
        parts += ["\n".join(advice)] if advice else []
        command = self._command()
        parts.append(
            f"Next{f', {command.why}' if command.why else ''}:\n  {escape(shlex.join(command.words))}"
        )
        return "\n\n".join(parts)

    def _command(self) -> Command:
        copies = [each.column or "" for each in self.advice if each.code == "target_copy"]
        return next_command(self.source, self.profiles, self.target, copies)


def _bullet(text: str, width: int) -> str:
    """An item of a list, with its lines indented."""
    lines = Text(escape(text)).wrap(Console(width=width), max(20, width - 2))
    return "\n".join(f"{'  ' if place else '• '}{line.plain.rstrip()}" for place, line in enumerate(lines))


def _grid(profiles: list[Profile], width: int) -> str:
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    grid.add_column("column", style="bold", overflow="ellipsis", no_wrap=True)
    grid.add_column("kind", no_wrap=True)
    for title in ("missing", "distinct", "of rows"):
        grid.add_column(title, justify="right", no_wrap=True)
    grid.add_column("range or most frequent", overflow="fold")
    for each in profiles:
        missing = percent(each.missing / each.rows) if each.missing else ""
        share = percent(each.distinct / each.rows)
        name = cut(escape(each.name))
        grid.add_row(*map(Text, (name, each.kind, missing, f"{each.distinct:,}", share, _range(each))))
    out = io.StringIO()
    Console(file=out, width=width, force_terminal=in_colour(), highlight=False).print(grid)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def _range(profile: Profile) -> str:
    """The values of a column, in a few words."""
    first = list(profile.values.items())[:SHOWN_VALUES]
    words = [f"{_value(value)} {percent(rows / profile.rows)}" for value, rows in first]
    words += ["…"] if first and profile.distinct > SHOWN_VALUES else []
    if profile.least is not None:
        words = [" … ".join(dict.fromkeys((_number(profile.least), _number(profile.most))))]
    read = f"({profile.read})" if profile.read else ""
    return "; ".join(part for part in (" ".join([", ".join(words), read]).strip(), profile.remark) if part)


def _value(value: Any) -> str:
    return cut(str(value).lower() if isinstance(value, bool) else label_text(value), LONGEST_VALUE)


def _number(value: Any) -> str:
    if isinstance(value, int | float):
        return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
    return str(value).removesuffix("+00:00").removesuffix(" 00:00:00")
