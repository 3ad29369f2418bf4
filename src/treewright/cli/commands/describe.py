"""`treewright describe`: the columns of a table, their kinds, what is missing, how many values they have."""

from __future__ import annotations

import io
import shlex
from typing import Annotated, Any

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from treewright._text import escape, label_text, number_text
from treewright.advice import Advice
from treewright.advising import table_advice
from treewright.cli import options as opt
from treewright.cli.console import Voice, advice_document, in_colour, terminal_width
from treewright.cli.errors import Misuse, count, cut, quote
from treewright.cli.shell import Command, next_command
from treewright.cli.summary import percent
from treewright.cli.tables.cell_types import Form
from treewright.cli.tables.labelled import Roles, note_remarks
from treewright.cli.tables.model_columns import form_of_kind
from treewright.cli.tables.profiles import Profile, profiles_of
from treewright.cli.tables.reader import Frame, read
from treewright.cli.tables.sources import Source, check_columns, open_source
from treewright.encoding import Dataset, encode_with_advice
from treewright.growing import n_threads

SHOWN_VALUES = 3  # of a column of categories
LONGEST_VALUE = 40  # characters that are shown of one
WIDE = 160  # columns of characters where the output does not go to a terminal
IN_GRID = {"text-numbers", "text-times", "text-truths"}  # advice that the grid shows already


def describe(
    data: opt.Table,
    /,
    *,
    target: Annotated[str | None, opt.TABLE] = None,
    columns: opt.Columns = opt.ALL_COLUMNS,
    n_jobs: opt.Jobs = -1,
    style: opt.Style = opt.TEXT,
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
    voice, kinds, drop = Voice(style), columns.column_kinds, columns.drop or []
    with voice.stages() as work:
        work.begin("reading", str(data))
        source = open_source(data, columns.dialect)
        options = [("--target", target)] if target is not None else []
        options += [("--drop", name) for name in drop] + [("--kinds", name) for name in kinds]
        check_columns(source, options)
        forms: dict[str, Form | None] = dict.fromkeys(name for name in source.names if name not in drop)
        if not forms:
            raise Misuse("--drop leaves no column to describe")
        if target is not None and target not in forms:
            raise Misuse(f"column {quote(target)} is named for two things that exclude each other")
        forms |= {name: form_of_kind(kind) for name, kind in kinds.items() if name in forms}
        note_remarks(source, work, with_doubt=True)
        as_text = {name: False for name, kind in kinds.items() if kind != "category"}
        frame = read(source, forms, jobs=n_threads(n_jobs), as_text=as_text)
        profiles, advice = profiles_of(frame, kinds)
        work.begin("advising")
        advice = table_advice(_encode(frame, kinds, target), reading=advice)
    copies = [each.column or "" for each in advice if each.code == "target_copy"]
    command = next_command(source, profiles, target, copies)
    voice.answer(
        lambda: _text(source, profiles, advice, command),
        lambda: {
            "table": source.path,
            "rows": profiles[0].rows,
            "columns": [profile.document() for profile in profiles],
            "advice": advice_document(advice),
            "next": command.words,
        },
    )


def _encode(frame: Frame, kinds: dict[str, str], target: str | None) -> Dataset:
    """The rows of a table, with a target those that have one."""
    if target is not None:
        return Roles(target, kinds=kinds, drop_missing_target=True).encode(frame)[0]
    known: dict[str, Any] = {name: kind for name, kind in kinds.items() if name in frame.columns}
    options = frame.source.conventions.arguments(list(frame.columns))
    return encode_with_advice(dict(frame.columns), kinds=known, **options)[0]


def _text(source: Source, profiles: list[Profile], advice: list[Advice], command: Command) -> str:
    """The columns, the advice and the next command for people."""
    width = terminal_width() or WIDE
    size = f"{count(profiles[0].rows, 'row')}, {count(len(profiles), 'column')}"
    bullets = [_bullet(each.command_text, width) for each in advice if each.code not in IN_GRID]
    why = f", {command.why}" if command.why else ""
    parts = [f"{source.path}: {size}", _grid(profiles, width), *(["\n".join(bullets)] if bullets else [])]
    return "\n\n".join([*parts, f"Next{why}:\n  {escape(shlex.join(command.words))}"])


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
        return number_text(value)
    return str(value).removesuffix("+00:00").removesuffix(" 00:00:00")
