"""`treewright describe`: the columns of a table, their kinds, what is missing, how many values they have."""

from __future__ import annotations

import io
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from treewright.cli.advising import advice_document, advice_on_frame
from treewright.cli.console import Voice, in_colour, terminal_width
from treewright.cli.errors import Misuse, count, thread_count
from treewright.cli.options import USUAL, Dialect, Drop, Jobs, Json, Kinds, Quiet, Table, kinds_of
from treewright.cli.profiles import Profile, profiled
from treewright.cli.reading import read
from treewright.cli.roles import FORMS
from treewright.cli.sources import check_columns, open_source
from treewright.cli.summary import percent
from treewright.cli.tables import note_doubt
from treewright.wording import escape, word

LONGEST_NAME = 60  # characters that are shown of a name
SHOWN_VALUES = 3  # of a column of categories
WIDE = 160  # columns of characters where the output does not go to a terminal


def describe(
    data: Table,
    /,
    *,
    drop: Drop = None,
    kinds: Kinds = None,
    dialect: Dialect = USUAL,
    jobs: Jobs = -1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Tell the columns of a table: their kinds, what is missing, how many values they have.

    The kinds are those that `treewright fit` would take the columns for.

    Examples
    --------
    treewright describe loans.csv
        one line for each column
    treewright describe loans.csv --missing -999 --kinds zip=category
        -999 stands for nothing, zip codes are names
    treewright describe events.jsonl.gz --json
        the same figures for a program
    zcat loans.csv.gz | treewright describe -
        from a pipe
    """
    voice, threads, named = Voice(json, quiet), thread_count(jobs), kinds_of(kinds)
    with voice.stages() as work:
        work.begin("reading", str(data))
        source = open_source(data, dialect)
        check_columns(source, [("--drop", name) for name in drop or []])
        check_columns(source, [("--kinds", name) for name in named])
        wanted = {name: FORMS.get(named.get(name, "")) for name in source.names if name not in (drop or [])}
        if not wanted:
            raise Misuse("--drop leaves no column to describe")
        note_doubt(source, work)
        frame = read(source, wanted, jobs=threads)
        profiles = profiled(frame)
        work.begin("advising")
        advice = advice_on_frame(frame, named)
    voice.answer(
        lambda: _text(source.path, profiles),
        lambda: _document(source.path, profiles) | {"advice": advice_document(advice)},
    )
    voice.advise(advice)


def _document(path: str, profiles: list[Profile]) -> dict[str, Any]:
    columns = [profile.document() for profile in profiles]
    return {"table": path, "rows": profiles[0].rows, "columns": columns}


def _text(path: str, profiles: list[Profile]) -> str:
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    grid.add_column("column", style="bold", overflow="ellipsis", no_wrap=True)
    grid.add_column("kind", no_wrap=True)
    grid.add_column("missing", justify="right", no_wrap=True)
    grid.add_column("distinct", justify="right", no_wrap=True)
    grid.add_column("range or most frequent", overflow="fold")
    for each in profiles:
        missing = percent(each.missing / each.rows) if each.missing else ""
        cells = (_shortened(each.name), each.kind, missing, f"{each.distinct:,}", _range(each))
        grid.add_row(*map(Text, cells))
    out = io.StringIO()
    width = terminal_width() or WIDE
    Console(file=out, width=width, force_terminal=in_colour(), highlight=False).print(grid)
    size = f"{count(profiles[0].rows, 'row')}, {count(len(profiles), 'column')}"
    return f"{path}: {size}\n\n" + "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def _shortened(name: str) -> str:
    name = escape(name)
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _range(profile: Profile) -> str:
    """What is in a column, in a few words."""
    if profile.kind == "category":
        first = list(profile.values.items())[:SHOWN_VALUES]
        words = [f"{_shortened(_said(value))} {percent(rows / profile.rows)}" for value, rows in first]
        words += ["…"] if first and len(profile.values) > SHOWN_VALUES else []
    elif profile.distinct:
        words = [" … ".join(dict.fromkeys((_number(profile.least), _number(profile.most))))]
    else:
        words = []
    return "; ".join([", ".join(words)] * bool(words) + ([profile.remark] if profile.remark else []))


def _said(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else word(value)


def _number(value: Any) -> str:
    if isinstance(value, int | float):
        return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
    return str(value).removesuffix("+00:00").removesuffix(" 00:00:00")
