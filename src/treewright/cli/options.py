"""Options of the command line, each declared once: its name, the values it takes, its help text.

An option that is a parameter in Python, too (`--max-depth`), takes flag, text and check from its declaration
in `treewright.parameters`. Options that several commands share are fields of a dataclass here, or an
annotated type; those of a single command are annotated in its file, where `group=` puts them under a heading.

A command is a function in a file of its own name in `commands/`; `_ORDER` there is the order of
`treewright --help`:

    def prune(model: Model, /, *, output: Output = None, style: Style = TEXT) -> None:
        \"\"\"One sentence for the list of commands.

Parameters
----------
        …                     only what is not explained here already

Examples
--------
        treewright prune loans.tree.json --leaves 8
            what this does, indented by four; lines end before column 76
        \"\"\"
        voice = Voice(style)
        with voice.stages() as work:          # on a terminal the current stage is shown
            tree = open_model(model, work)
            work.begin("pruning")
            …
        voice.note("…")                       # stderr; under --json in the list "notes" of the document
        voice.answer(text, document)          # the output of the command, printed also with --quiet
        voice.summarize(text, document)       # a summary beside the files written; not with --quiet

`text` and `document` are functions without arguments, of which only the one that is printed is called: they
make the text for people and the dict for programs. Errors are raised: `Misuse` of arguments ends with the
exit code 2, `Trouble` (and OSError, ValueError, MemoryError) with 1.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter, validators

from treewright import parameters
from treewright.cli.errors import Misuse, closest, known, thread_count
from treewright.cli.tables.dialect import Conventions
from treewright.encoding.kinds import KINDS
from treewright.growing import criteria

PIPE = Path("-")  # the standard input where a table is read, the standard output where one is written
MISSING = ("NA", "N/A", "#N/A", "null", "NULL", "?")  # cells of CSV files that are missing by default
NEVER_KNOWN = ("", "NaN", "nan", "NAN")  # cells that are always missing

TABLE = Group("Reading the table", sort_key=50)
OUTPUT = Group("Output", sort_key=90)
ROWS = Parameter(group=Group("Which rows are used for what", sort_key=10))
GROWING = Parameter(group=Group("Growing", sort_key=20))
PRUNING = Parameter(group=Group("Pruning", sort_key=30))
CERTIFICATE = Parameter(group=Group("Certificate", sort_key=40))

# Names of options in earlier versions, which are still read.
RENAMED: Mapping[str, str] = {
    "--jobs": "--n-jobs",
    "--max-leaves": "--max-leaf-nodes",
    "--min-rows-leaf": "--min-samples-leaf",
    "--monotone": "--monotonic-cst",
}
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
    """The name of a file: a lone `-` is a pipe, but other texts that begin so are misspelt options.

    A file of such a name is written as ./-name, which is never the pipe.
    """
    text = str(tokens[0].value)
    path = Path(text)
    if not text:
        raise ValueError("the name of a file is empty")
    if text.startswith("-") and path != PIPE:
        raise ValueError(f"there is no option {text} here; a file of this name is ./{text}")
    return Path(os.path.abspath(text)) if path == PIPE and text != str(PIPE) else path


def _as_whole(_: Any, tokens: Sequence[Any]) -> int:
    """A whole number; 1.5 is an error, not rounded."""
    text = str(tokens[0].value)
    if re.fullmatch(r"[+-]?[0-9]{1,4000}", text, re.ASCII) is None:
        raise ValueError(f"{text!r} is not a whole number")
    return int(text)


def from_spec(name: str, **changes: Any) -> Parameter:
    """A parameter of Python as an option: its flag, and the part of its text that is not about Python."""
    declared = parameters.of(name)
    sentences = re.split(r"(?<=\.) ", declared.doc.replace("None is", "The default is"))
    text = " ".join(each for each in sentences if "``" not in each and not each.startswith("A float"))
    return Parameter(**{"name": declared.flag, "help": text.replace("; The", "; the"), **changes})


WHOLE = Parameter(converter=_as_whole)
_FILE = Parameter(allow_leading_hyphen=True, converter=_as_file)
_NOT_NEGATIVE = Parameter(validator=validators.Number(gte=0))
_TABLE = Parameter(group=TABLE)
_TEXTS = Parameter(group=TABLE, allow_leading_hyphen=True)

Model = Annotated[Path, _FILE, Parameter(help="A file that `treewright fit` wrote.")]
Table = Annotated[
    Path,
    _FILE,
    Parameter(
        help="The table: CSV, TSV or JSON lines, also with .gz, Parquet or Excel (.xlsx); - reads the "
        "standard input."
    ),
]
Rows = Annotated[Path | None, _FILE, ROWS]  # a table beside the one that a command is about
OutputFile = Annotated[Path | None, _FILE, Parameter(group=OUTPUT)]
Output = Annotated[OutputFile, Parameter(alias="-o")]

Flag = Annotated[bool, Parameter(negative=(), show_default=False)]
Repeated = Annotated[list[str] | None, Parameter(negative=())]
Positive = Annotated[int | None, WHOLE, Parameter(validator=validators.Number(gte=1))]
NotNegativeCount = Annotated[int, WHOLE, _NOT_NEGATIVE]
NotNegative = Annotated[float | None, _NOT_NEGATIVE]
Seed = Annotated[int, WHOLE, _NOT_NEGATIVE, ROWS, Parameter(help="Seed of the train/validation/test split.")]
Jobs = Annotated[
    int,
    WHOLE,
    from_spec("n_jobs", help="The number of threads; -1 is one per core. The result is the same for any."),
]
Delta = Annotated[float, Parameter(help="The probability that the certificate does not hold.")]

Drop = Annotated[Repeated, _TABLE, Parameter(help="Leave a column out; may be repeated.")]
Kinds = Annotated[
    Repeated,
    _TABLE,
    Parameter(
        help="Read a column as another kind than it looks like, as COLUMN=KIND; the kinds are "
        f"{', '.join(KINDS)}. Cells that are not numbers or times are missing then. May be repeated.",
    ),
]
Weights = Annotated[str | None, _TABLE, Parameter(help="The column with the weight of each row.")]


@Parameter(name="*")  # its fields are options by themselves
@dataclass(frozen=True)
class Style:
    """What is printed, and for whom."""

    json: Annotated[Flag, Parameter(group=OUTPUT, help="Print one JSON document for programs, no text.")] = (
        False
    )
    quiet: Annotated[Flag, Parameter(alias="-q", group=OUTPUT, help="No notes, no progress, no summary.")] = (
        False
    )


@Parameter(name="*")
@dataclass(frozen=True)
class Dialect:
    """How a file of text is written: separator, missing values, names of columns, numbers and dates."""

    separator: Annotated[
        str | None,
        _TEXTS,
        Parameter(
            help="The separator of the cells of a CSV file: one character, or tab, comma, semicolon, bar, "
            "space. By default it is one of the first four, found from the first lines."
        ),
    ] = None
    missing: Annotated[
        Repeated,
        _TEXTS,
        Parameter(
            help="A cell that stands for a missing value, such as -999; may be repeated. It replaces NA, "
            "N/A, #N/A, null and ?, the default in CSV files. Empty cells and NaN are always missing."
        ),
    ] = None
    header: Annotated[
        bool | None,
        _TABLE,
        Parameter(
            negative="--no-header",
            help="Whether the first line of a CSV file holds the names of the columns, as by default. "
            "Without it they are called 'column 1', 'column 2', …",
        ),
    ] = None
    encoding: Annotated[
        str | None,
        _TABLE,
        Parameter(
            help="The character encoding of a file of text, such as latin-1, cp1252 or utf-16. By default "
            "it is detected: UTF-8, UTF-16, else Windows-1252."
        ),
    ] = None
    decimal: Annotated[
        Repeated,
        _TEXTS,
        Parameter(
            help="The decimal mark of numbers, comma or point, for the whole table or as COLUMN=MARK; may be "
            "repeated. By default it is detected for each column."
        ),
    ] = None
    thousands: Annotated[
        Repeated,
        _TEXTS,
        Parameter(help="The thousands separator: comma, point, space, apostrophe or none, in the same way."),
    ] = None
    date_format: Annotated[
        Repeated, _TABLE, Parameter(help="How dates are written, such as %d/%m/%Y, in the same way.")
    ] = None
    sheet: Annotated[
        str | None,
        _TABLE,
        Parameter(help="The sheet of an Excel file; by default the only one with cells."),
    ] = None

    @property
    def conventions(self) -> Conventions:
        """How numbers and dates are written; Misuse about values that make no sense."""
        return Conventions.of(self.decimal, self.thousands, self.date_format)

    @property
    def character(self) -> str | None:
        """The separator itself; Misuse if it cannot be one."""
        if self.separator is None:
            return None
        separator = _SEPARATORS.get(self.separator.lower(), self.separator)
        if len(separator) != 1 or separator in '"\r\n\0' or separator.isalnum():
            raise Misuse(
                f"--separator {self.separator!r}: it must be one character that is not a letter, digit or "
                "quote, such as ; or one of the words tab, comma, semicolon, bar, space"
            )
        return separator

    @property
    def markers(self) -> tuple[str, ...] | None:
        """The cells that --missing names; None without it."""
        return None if self.missing is None else tuple(dict.fromkeys(mark.strip() for mark in self.missing))


TEXT = Style()
USUAL = Dialect()


@Parameter(name="*")
@dataclass(frozen=True)
class Labelled:
    """How tables of rows with a target are read for a saved tree."""

    weights: Weights = None
    dialect: Dialect = USUAL


LABELLED = Labelled()


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Learning:
    """The columns of a table to learn from, and how it is read."""

    target: Annotated[str, Parameter(help="The column to predict.")]
    weights: Weights = None
    drop: Drop = None
    kinds: Kinds = None
    classes: Annotated[
        bool | None,
        _TABLE,
        Parameter(
            negative="--numbers",
            help="Whether the target is classes or numbers; by default texts, true/false and up to 20 "
            "different whole numbers are classes.",
        ),
    ] = None
    drop_missing_target: Annotated[
        Flag, _TABLE, Parameter(help="Leave out rows without a target instead of refusing them.")
    ] = False
    dialect: Dialect = USUAL


@Parameter(name="*")
@dataclass(frozen=True)
class Limits:
    """How the tree is grown, and where it stops."""

    max_leaf_nodes: Annotated[Positive, GROWING, from_spec("max_leaf_nodes")] = None
    max_depth: Annotated[Positive, GROWING, from_spec("max_depth")] = None
    min_samples_leaf: Annotated[Positive, GROWING, from_spec("min_samples_leaf")] = 1
    criterion: Annotated[str | None, GROWING, from_spec("criterion")] = None
    missing_by: Annotated[
        str,
        GROWING,
        Parameter(
            help="Where a row goes whose value is missing: learn (to the side that gains more), surrogate "
            "(where surrogate splits on other columns send it), fractional (to both sides, in proportion to "
            "their weights), category (to a branch of its own), or error."
        ),
    ] = "learn"
    surrogates: Annotated[
        NotNegativeCount,
        GROWING,
        Parameter(help="How many surrogate splits each split keeps for --missing-by surrogate."),
    ] = 5
    category_gain: Annotated[str, GROWING, from_spec("category_gain")] = "corrected"
    monotonic_cst: Annotated[
        Repeated,
        GROWING,
        from_spec(
            "monotonic_cst",
            help="The prediction must not fall (1) or must not rise (-1) as a column grows, as COLUMN=1 or "
            "COLUMN=-1; with classes the share of the later ones, in the order of their names. May be "
            "repeated.",
        ),
    ] = None
    n_jobs: Annotated[Jobs, GROWING] = -1

    @property
    def growing(self) -> dict[str, Any]:
        """The arguments of `grow`; Misuse about values that it does not know."""
        if self.criterion is not None:
            known("--criterion", self.criterion, criteria())
        known("--missing-by", self.missing_by, parameters.of("missing").choices)
        known("--category-gain", self.category_gain, parameters.of("category_gain").choices)
        return {
            "max_leaf_nodes": self.max_leaf_nodes,
            "max_depth": self.max_depth,
            "min_samples_leaf": self.min_samples_leaf,
            "criterion": self.criterion,
            "missing": (
                parameters.Surrogates(self.surrogates) if self.missing_by == "surrogate" else self.missing_by
            ),
            "category_gain": self.category_gain,
            "monotonic_cst": signs_of(self.monotonic_cst),
            "n_jobs": thread_count(self.n_jobs),
        }


TO_PURITY = Limits()


def kinds_of(kinds: list[str] | None) -> dict[str, str]:
    """The kinds that --kinds names, by column.

    >>> kinds_of(["zip=category", "a=b=number"])
    {'zip': 'category', 'a=b': 'number'}
    """
    chosen: dict[str, str] = {}
    for text in kinds or []:
        column, equals, kind = text.rpartition("=")
        if not equals or not column:
            raise Misuse(f"--kinds {text}: it must be COLUMN=KIND, such as --kinds zip=category")
        if kind not in KINDS:
            close = closest(kind, KINDS)
            meant = "" if close is None else f"; did you mean {close}?"
            raise Misuse(f"--kinds {text}: {kind!r} is no kind of column ({', '.join(KINDS)}){meant}")
        if chosen.setdefault(column, kind) != kind:
            raise Misuse(f"--kinds: column {column!r} cannot be {chosen[column]} and {kind}")
    return chosen


def signs_of(monotonic: list[str] | None) -> dict[str, int] | None:
    """The directions that --monotonic-cst names, by column.

    >>> signs_of(["age=1", "a=b=-1"])
    {'age': 1, 'a=b': -1}
    """
    signs: dict[str, int] = {}
    for text in monotonic or []:
        column, equals, sign = text.rpartition("=")
        if not equals or not column or sign not in ("1", "+1", "-1"):
            raise Misuse(f"--monotonic-cst {text}: it must be COLUMN=1 or COLUMN=-1, such as age=1")
        if signs.setdefault(column, int(sign)) != int(sign):
            raise Misuse(f"--monotonic-cst: column {column!r} cannot both rise and fall")
    return signs or None
