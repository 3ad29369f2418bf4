"""Options that several commands share: what they are called, what they accept and what `--help` says of them.

A command is a function in a file of its own name in `commands/`; `_ORDER` there is the order of
`treewright --help`:

    def prune(model: Model, /, *, output: Output = None, json: Json = False, quiet: Quiet = False) -> None:
        \"\"\"One sentence for the list of commands.

Parameters
----------
        …                     only what is not explained here already

Examples
--------
        treewright prune loans.tree.json --leaves 8
            what this does, indented by four; lines end before column 76
        \"\"\"
        voice = Voice(json, quiet)
        with voice.stages() as work:          # the current stage is shown while it lasts
            work.begin("reading", str(model))
            …
        voice.note("…")                       # stderr; under --json in the list "notes" of the document
        voice.answer(text, document)          # what was asked for, printed also when quiet
        voice.summarize(text, document)       # what is told beside a file that was written; not when quiet

`text` and `document` are functions without arguments, of which only the one that is wanted is called: they
make the text for people and the dict for programs. What goes wrong is raised: `Misuse` of arguments ends with
the code 2, `Trouble` (and OSError, ValueError, MemoryError) with 1. Options that only one command has are
annotated there; `group=` puts them under a heading.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter, validators

from treewright.cli.errors import Misuse, closest, known, thread_count
from treewright.cli.tables.dialect import Conventions
from treewright.encoding.schema import MISSING as WAYS_OF_MISSING
from treewright.growing import criteria

PIPE = Path("-")  # the standard input where a table is read, the standard output where one is written
MISSING = ("NA", "N/A", "#N/A", "null", "NULL", "?")  # cells of CSV files that say so
NEVER_KNOWN = ("", "NaN", "nan", "NAN")  # the same, whatever the user says
KINDS = ("number", "category", "time")

TABLE = Group("Reading the table", sort_key=50)
OUTPUT = Group("Output", sort_key=90)
ROWS = Parameter(group=Group("Which rows do what", sort_key=10))
GROWING = Parameter(group=Group("Growing", sort_key=20))
PRUNING = Parameter(group=Group("Pruning", sort_key=30))
CERTIFICATE = Parameter(group=Group("Certificate", sort_key=40))

_SEPARATORS = {
    "comma": ",",
    "semicolon": ";",
    "tab": "\t",
    "\\t": "\t",
    "bar": "|",
    "pipe": "|",
    "space": " ",
}


def _as_file(_: Any, tokens: Sequence[Any]) -> Path:
    """The name of a file may be a lonely `-`, but what else begins so is an option with a slip in it.

    A file of such a name is written as ./-name, and what is so written is never the pipe.
    """
    said = str(tokens[0].value)
    path = Path(said)
    if not said:
        raise ValueError("the name of a file is empty")
    if said.startswith("-") and path != PIPE:
        raise ValueError(f"there is no option {said} here; a file of this name is ./{said}")
    return Path(os.path.abspath(said)) if path == PIPE and said != str(PIPE) else path


def _as_whole(_: Any, tokens: Sequence[Any]) -> int:
    """A whole number; 1.5 is none, and nobody rounds it."""
    said = str(tokens[0].value)
    if re.fullmatch(r"[+-]?[0-9]{1,4000}", said, re.ASCII) is None:
        raise ValueError(f"{said!r} is not a whole number")
    return int(said)


WHOLE = Parameter(converter=_as_whole)
_FILE = Parameter(allow_leading_hyphen=True, converter=_as_file)

Model = Annotated[Path, _FILE, Parameter(help="A file that `treewright fit` wrote.")]
Table = Annotated[
    Path,
    _FILE,
    Parameter(
        help="The table: CSV, TSV or JSON lines, also with .gz, Parquet or Excel (.xlsx); - reads the "
        "standard input."
    ),
]
Rows = Annotated[Path | None, _FILE]  # a table beside the one that a command is about
Target = Annotated[str, Parameter(help="The column to predict.")]
OutputFile = Annotated[Path | None, _FILE, Parameter(group=OUTPUT)]
Output = Annotated[OutputFile, Parameter(alias="-o")]

Flag = Annotated[bool, Parameter(negative=(), show_default=False)]
Repeated = Annotated[list[str] | None, Parameter(negative=())]
Positive = Annotated[int | None, WHOLE, Parameter(validator=validators.Number(gte=1))]
NotNegativeCount = Annotated[int, WHOLE, Parameter(validator=validators.Number(gte=0))]
NotNegative = Annotated[float | None, Parameter(validator=validators.Number(gte=0))]
Seed = Annotated[
    int, WHOLE, Parameter(validator=validators.Number(gte=0), help="Of the choice which rows do what.")
]
Jobs = Annotated[
    int, WHOLE, Parameter(help="Threads; -1 is one per core. The result is the same for any number.")
]
Delta = Annotated[float, Parameter(help="The chance with which the certificate may fail.")]

Drop = Annotated[
    list[str] | None, Parameter(negative=(), group=TABLE, help="Leave a column out; may be repeated.")
]
Kinds = Annotated[
    list[str] | None,
    Parameter(
        negative=(),
        group=TABLE,
        help="Read a column as another kind than it looks like, as COLUMN=KIND; the kinds are number, "
        "category and time. Cells that are no numbers or times are missing then. May be repeated.",
    ),
]
Weights = Annotated[str | None, Parameter(group=TABLE, help="The column with the weight of each row.")]

Json = Annotated[
    Flag,
    Parameter(name="--json", group=OUTPUT, help="Print one JSON document for programs, no text."),
]
Quiet = Annotated[
    Flag,
    Parameter(name=("--quiet", "-q"), group=OUTPUT, help="No notes, no progress, no summary."),
]


@Parameter(name="*")  # its fields are options by themselves
@dataclass(frozen=True)
class Dialect:
    """How a file of text says where a cell ends, what is not known and what the columns are called."""

    separator: Annotated[
        str | None,
        Parameter(
            group=TABLE,
            allow_leading_hyphen=True,
            help="What stands between the cells of a CSV file: one character, or tab, comma, semicolon, bar, "
            "space. By default it is found among the first four.",
        ),
    ] = None
    missing: Annotated[
        list[str] | None,
        Parameter(
            negative=(),
            group=TABLE,
            allow_leading_hyphen=True,
            help="A cell that says that a value is missing, such as -999; may be repeated. Instead of NA, "
            "N/A, #N/A, null and ?, which are missing in CSV files by default. Nothing and NaN always are.",
        ),
    ] = None

    header: Annotated[
        bool | None,
        Parameter(
            negative="--no-header",
            group=TABLE,
            help="Whether the first line of a CSV file holds the names of the columns, as by default. "
            "Without it they are called 'column 1', 'column 2', …",
        ),
    ] = None

    encoding: Annotated[
        str | None,
        Parameter(
            group=TABLE,
            help="The character encoding of a file of text, such as latin-1, cp1252 or utf-16. By default "
            "it is told from the bytes: UTF-8, UTF-16, else Windows-1252.",
        ),
    ] = None
    decimal: Annotated[
        list[str] | None,
        Parameter(
            negative=(),
            group=TABLE,
            allow_leading_hyphen=True,
            help="The decimal mark of numbers, comma or point, for the whole table or as COLUMN=MARK; may be "
            "repeated. By default it is told from the cells of each column.",
        ),
    ] = None
    thousands: Annotated[
        list[str] | None,
        Parameter(
            negative=(),
            group=TABLE,
            allow_leading_hyphen=True,
            help="The mark between thousands: comma, point, space, apostrophe or none, in the same way.",
        ),
    ] = None
    date_format: Annotated[
        list[str] | None,
        Parameter(
            negative=(),
            group=TABLE,
            help="How dates are written, such as %d/%m/%Y, in the same way.",
        ),
    ] = None
    sheet: Annotated[
        str | None,
        Parameter(group=TABLE, help="The sheet of an Excel file; by default the only one with cells."),
    ] = None

    @property
    def conventions(self) -> Conventions:
        """How numbers and dates are written; Misuse about what cannot be meant."""
        return Conventions.of(self.decimal, self.thousands, self.date_format)

    @property
    def character(self) -> str | None:
        """The separator itself; Misuse if it cannot be one."""
        if self.separator is None:
            return None
        separator = _SEPARATORS.get(self.separator.lower(), self.separator)
        if len(separator) != 1 or separator in '"\r\n\0' or separator.isalnum():
            raise Misuse(
                f"--separator {self.separator!r}: it is one character that is no letter, digit or quote, "
                "such as ; or one of the words tab, comma, semicolon, bar, space"
            )
        return separator

    @property
    def markers(self) -> tuple[str, ...] | None:
        """The cells that are named as missing; None if none are."""
        return None if self.missing is None else tuple(dict.fromkeys(mark.strip() for mark in self.missing))


USUAL = Dialect()


@Parameter(name="*")
@dataclass(frozen=True)
class Columns:
    """What the columns of a table are for, beside the target."""

    weights: Weights = None
    drop: Drop = None
    kinds: Kinds = None
    classes: Annotated[
        bool | None,
        Parameter(
            negative="--numbers",
            group=TABLE,
            help="Whether the target is classes or numbers; by default texts, true/false and up to 20 "
            "different whole numbers are classes.",
        ),
    ] = None
    drop_missing_target: Annotated[
        bool,
        Parameter(negative=(), group=TABLE, help="Leave out rows without a target instead of refusing them."),
    ] = False


@Parameter(name="*")
@dataclass(frozen=True)
class Limits:
    """How the tree is grown, and where it stops."""

    max_leaves: Annotated[
        Positive,
        GROWING,
        Parameter(
            help="Stop growing at this many leaves; the best splits come first. The tree is pruned after "
            "that all the same."
        ),
    ] = None
    max_depth: Annotated[Positive, GROWING, Parameter(help="At most this many tests in a row.")] = None
    min_rows_leaf: Annotated[Positive, GROWING, Parameter(help="The fewest rows in a leaf.")] = 1
    criterion: Annotated[
        str | None,
        GROWING,
        Parameter(
            help="What a split improves: gini, entropy, error, sqrt, gain_ratio; for numbers squared_error, "
            "absolute_error, poisson."
        ),
    ] = None
    missing_by: Annotated[
        str,
        GROWING,
        Parameter(
            help="Where a row goes whose value is missing: learn (to the side that gains more), surrogate "
            "(where other columns say), fractional (to both sides, by their shares), category (to a branch "
            "of its own), or error."
        ),
    ] = "learn"
    surrogates: Annotated[
        NotNegativeCount,
        GROWING,
        Parameter(help="How many columns a split keeps for --missing-by surrogate."),
    ] = 5
    category_gain: Annotated[
        str,
        GROWING,
        Parameter(
            help="How a column of categories competes: corrected (its gain less what chance would give, so "
            "that ids and columns of very many names do not win by memorising rows) or plain."
        ),
    ] = "corrected"
    monotone: Annotated[
        Repeated,
        GROWING,
        Parameter(
            help="The answer must not fall (1) or must not rise (-1) as a column grows, as COLUMN=1 or "
            "COLUMN=-1; of classes the share of the later ones, in the order of their names. May be repeated."
        ),
    ] = None
    jobs: Annotated[Jobs, GROWING] = -1

    @property
    def growing(self) -> dict[str, Any]:
        """The arguments of `grow`; Misuse about what cannot be one."""
        if self.criterion is not None:
            known("--criterion", self.criterion, criteria())
        known("--missing-by", self.missing_by, list(WAYS_OF_MISSING))
        known("--category-gain", self.category_gain, ["corrected", "plain"])
        return {
            "max_leaf_nodes": self.max_leaves,
            "max_depth": self.max_depth,
            "min_samples_leaf": self.min_rows_leaf,
            "criterion": self.criterion,
            "missing": self.missing_by,
            "n_surrogates": self.surrogates,
            "category_gain": self.category_gain,
            "monotonic_cst": signs_of(self.monotone),
            "n_jobs": thread_count(self.jobs),
        }


PLAIN = Columns()
TO_PURITY = Limits()


def kinds_of(kinds: list[str] | None) -> dict[str, str]:
    """The kinds that --kinds names, by column.

    >>> kinds_of(["zip=category", "a=b=number"])
    {'zip': 'category', 'a=b': 'number'}
    """
    named: dict[str, str] = {}
    for said in kinds or []:
        column, equals, kind = said.rpartition("=")
        if not equals or not column:
            raise Misuse(f"--kinds {said}: it must be COLUMN=KIND, such as --kinds zip=category")
        if kind not in KINDS:
            close = closest(kind, KINDS)
            meant = "" if close is None else f"; did you mean {close}?"
            raise Misuse(f"--kinds {said}: {kind!r} is no kind of column (number, category or time){meant}")
        if named.setdefault(column, kind) != kind:
            raise Misuse(f"--kinds: column {column!r} cannot be {named[column]} and {kind}")
    return named


def signs_of(monotone: list[str] | None) -> dict[str, int] | None:
    """The directions that --monotone names, by column.

    >>> signs_of(["age=1", "a=b=-1"])
    {'age': 1, 'a=b': -1}
    """
    signs: dict[str, int] = {}
    for said in monotone or []:
        column, equals, sign = said.rpartition("=")
        if not equals or not column or sign not in ("1", "+1", "-1"):
            raise Misuse(f"--monotone {said}: it must be COLUMN=1 or COLUMN=-1, such as --monotone age=1")
        if signs.setdefault(column, int(sign)) != int(sign):
            raise Misuse(f"--monotone: column {column!r} cannot both rise and fall")
    return signs or None
