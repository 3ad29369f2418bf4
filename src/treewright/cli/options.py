"""Options of the command line, each declared once: its name, the values it takes, its help text.

An option that is a parameter in Python, too (`--max-depth`), takes name, text and check from its declaration
in `treewright.parameters`. Options that several commands share are fields of a dataclass here, whose
docstrings are the help texts, or an annotated type; those of a single command are described in its own
docstring.

A command is a function in a file of its own name in `commands/`; `_ORDER` there is the order of `treewright
--help`. Its docstring is one sentence for the list of commands, then the sections `Parameters`, of what is
not explained here already, and `Examples`: each is a call and, indented by four, what it does, in lines that
end before column 76.

    def prune(model: Model, /, *, output: Output = None, style: Style = TEXT) -> None:
        voice = Voice(style)
        with voice.stages() as work:          # on a terminal the current stage is shown
            tree = open_model(model, work)
            work.begin("pruning")
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
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter, validators

from treewright import parameters
from treewright.cli.errors import Misuse, check_name
from treewright.cli.tables.dialect import Conventions, by_column
from treewright.encoding.kinds import KINDS
from treewright.growing import criteria, n_threads

PIPE = Path("-")  # the standard input where a table is read, the standard output where one is written
MISSING = ("NA", "N/A", "#N/A", "null", "NULL", "?")  # cells of CSV files that are missing by default
ALWAYS_MISSING = ("", "NaN", "nan", "NAN")

TABLE = Parameter(group=Group("Reading the table", sort_key=50))
OUTPUT = Parameter(group=Group("Output", sort_key=90))
ROWS = Parameter(group=Group("Which rows are used for what", sort_key=10))
GROWING = Group("Growing", sort_key=20)
PRUNING = Parameter(group=Group("Pruning", sort_key=30))
CERTIFICATE = Parameter(group=Group("Certificate", sort_key=40))

_SEPARATORS = {
    "comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "bar": "|", "pipe": "|", "space": " ",
}  # fmt: skip


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


def from_spec(name: str, choices: Sequence[str] = (), **changes: Any) -> Parameter:
    """A parameter of Python as an option: its name, its check, the part of its text that is not about Python.

    `choices` are the names that it takes, where the declaration does not list them.
    """
    declared = parameters.of(name)
    allowed = declared.allowed
    sentences = re.split(r"(?<=\.) ", declared.doc.replace("None is", "The default is"))
    text = " ".join(each for each in sentences if "``" not in each and not each.startswith("A float"))

    def check(_: Any, value: Any) -> None:
        if value is not None and allowed is not None and not allowed.check(value):
            words = allowed.words.removesuffix(", or None").replace("an int", "a whole number")
            raise Misuse(f"{declared.flag} {value}: it must be {words}")

    names = choices or declared.choices
    usual = {
        "name": declared.flag,
        "help": text.replace("; The", "; the"),
        "validator": one_of(declared.flag, names).validator if names else check,
    }
    options = {**usual, **changes}
    return Parameter(**{name: value for name, value in options.items() if value is not None})


def one_of(option: str, names: Sequence[str]) -> Parameter:
    """The check of an option that takes one of some names, or several of them."""

    def check(_: Any, value: str | list[str] | None) -> None:
        for name in [value] if isinstance(value, str) else value or ():
            check_name(option, name, names)

    return Parameter(validator=check)


def _check_delta(_: Any, delta: float) -> None:
    if not 0 < delta < 1:
        raise Misuse(f"--delta {delta:g}: the probability of an error is between 0 and 1, such as 0.05")


WHOLE = Parameter(converter=_as_whole)
_FILE = Parameter(allow_leading_hyphen=True, converter=_as_file)
_HYPHEN = Parameter(allow_leading_hyphen=True)

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
OutputFile = Annotated[Path | None, _FILE, OUTPUT]
Output = Annotated[OutputFile, Parameter(alias="-o")]

Flag = Annotated[bool, Parameter(negative=(), show_default=False)]
Repeated = Annotated[list[str] | None, Parameter(negative=())]
Count = Annotated[int | None, WHOLE]
Positive = Annotated[Count, Parameter(validator=validators.Number(gte=1))]
NotNegative = Annotated[float | None, Parameter(validator=validators.Number(gte=0))]
RandomState = Annotated[
    int,
    WHOLE,
    ROWS,
    from_spec(
        "random_state", help="Seed of the train/validation/test split.", validator=validators.Number(gte=0)
    ),
]
Jobs = Annotated[
    int,
    WHOLE,
    from_spec(
        "n_jobs", help="The number of threads; -1 is one per core. The result is the same for any number."
    ),
]
Delta = Annotated[
    float, Parameter(help="The probability that the certificate does not hold.", validator=_check_delta)
]

Weights = Annotated[str | None, TABLE, Parameter(help="The column with the weight of each row.")]


@Parameter(name="*")  # its fields are options by themselves
@dataclass(frozen=True)
class Style:
    """What is printed, and for whom."""

    json: Annotated[Flag, OUTPUT] = False
    """Print one JSON document for programs, no text."""

    quiet: Annotated[Flag, OUTPUT, Parameter(alias="-q")] = False
    """No notes, no progress, no summary."""


@Parameter(name="*")
@dataclass(frozen=True)
class Dialect:
    """How a text file is written: separator, missing values, names of columns, numbers and dates."""

    separator: Annotated[str | None, TABLE, _HYPHEN] = None
    """The separator of the cells of a CSV file: one character, or tab, comma, semicolon, bar, space. By
    default one of the first four is detected from the first lines."""

    na_values: Annotated[Repeated, TABLE, _HYPHEN] = None
    """A cell that stands for a missing value, such as -999; may be repeated. It replaces NA, N/A, #N/A, null
    and ?, the default in CSV files. Empty cells and NaN are always missing."""

    header: Annotated[bool | None, TABLE, Parameter(negative="--no-header")] = None
    """Whether the first line of a CSV file holds the names of the columns, as by default. Without it they are
    called 'column 1', 'column 2', …"""

    encoding: Annotated[str | None, TABLE] = None
    """The character encoding of a text file, such as latin-1, cp1252 or utf-16. By default it is detected:
    UTF-8, UTF-16, else Windows-1252."""

    decimal: Annotated[Repeated, TABLE, _HYPHEN] = None
    """The decimal mark of numbers, comma or point, for the whole table or as COLUMN=MARK; may be repeated. By
    default it is detected for each column."""

    thousands: Annotated[Repeated, TABLE, _HYPHEN] = None
    """The thousands separator: comma, point, space, apostrophe or none, for the whole table or as
    COLUMN=MARK; may be repeated."""

    date_format: Annotated[Repeated, TABLE] = None
    """How dates are written, such as %d/%m/%Y, for the whole table or as COLUMN=FORMAT; may be repeated."""

    sheet: Annotated[str | None, TABLE] = None
    """The sheet of an Excel file; by default the only one with cells."""

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
        """The cells that --na-values names; None without it."""
        return None if self.na_values is None else tuple(dict.fromkeys(map(str.strip, self.na_values)))


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
class Columns:
    """The columns of a table to use, and how they are read."""

    drop: Annotated[Repeated, TABLE] = None
    """Leave a column out; may be repeated."""

    kinds: Annotated[
        Repeated,
        TABLE,
        Parameter(
            help="Read a column as another kind than the inferred one, as COLUMN=KIND; the kinds are "
            f"{', '.join(KINDS)}. Cells that are not numbers or times are then missing. May be repeated.",
        ),
    ] = None

    dialect: Dialect = USUAL

    @property
    def column_kinds(self) -> dict[str, str]:
        """The kinds that --kinds names, by column.

        >>> Columns(kinds=["zip=category", "a=b=number"]).column_kinds
        {'zip': 'category', 'a=b': 'number'}
        """
        form = f"COLUMN=KIND, such as zip=category; the kinds are {', '.join(KINDS)}"
        return by_column("--kinds", self.kinds, form, {kind: kind for kind in KINDS})


ALL_COLUMNS = Columns()


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Learning:
    """The columns of a table to learn from, and how it is read."""

    target: str
    """The column to predict."""

    weights: Weights = None
    columns: Columns = ALL_COLUMNS

    classes: Annotated[bool | None, TABLE, Parameter(negative="--numbers")] = None
    """Whether the target is classes or numbers. By default texts, true/false and up to 20 different whole
    numbers are classes."""

    drop_missing_target: Annotated[Flag, TABLE] = False
    """Leave out rows without a target instead of refusing them."""


@Parameter(name="*", group=GROWING)
@dataclass(frozen=True)
class Limits:
    """How the tree is grown, and where it stops: parameters of `grow` by their names."""

    max_leaf_nodes: Annotated[Count, from_spec("max_leaf_nodes", validator=validators.Number(gte=1))] = None
    max_depth: Annotated[Count, from_spec("max_depth")] = None
    min_samples_split: Annotated[int, WHOLE, from_spec("min_samples_split")] = 2
    min_samples_leaf: Annotated[int, WHOLE, from_spec("min_samples_leaf")] = 1
    min_impurity_decrease: Annotated[float, from_spec("min_impurity_decrease")] = 0.0
    criterion: Annotated[str | None, from_spec("criterion", criteria())] = None

    missing: Annotated[str, from_spec("missing", help=None)] = "learn"
    """Where a row goes whose value is missing: learn (to the side that gains more), surrogate (where
    surrogate splits on other columns send it), fractional (to both sides, in proportion to their weights),
    category (to a branch of its own), or error."""

    n_surrogates: Annotated[int, WHOLE, Parameter(validator=validators.Number(gte=0))] = 5
    """How many surrogate splits each split keeps for --missing surrogate."""

    category_gain: Annotated[str, from_spec("category_gain")] = "corrected"

    monotonic_cst: Annotated[Repeated, from_spec("monotonic_cst", help=None, validator=None)] = None
    """The prediction must not fall (1) or must not rise (-1) as a column grows, as COLUMN=1 or COLUMN=-1; for
    classes, the share of the later ones, in the order of their names. May be repeated."""

    n_jobs: Jobs = -1

    @property
    def growing(self) -> dict[str, Any]:
        """The arguments of `grow`.

        >>> Limits(monotonic_cst=["age=1", "a=b=-1"]).growing["monotonic_cst"]
        {'age': 1, 'a=b': -1}
        """
        form = "COLUMN=1 or COLUMN=-1, such as age=1"
        signs = by_column("--monotonic-cst", self.monotonic_cst, form, {"1": 1, "+1": 1, "-1": -1})
        options = {**vars(self), "monotonic_cst": signs or None, "n_jobs": n_threads(self.n_jobs)}
        n_surrogates = options.pop("n_surrogates")
        if self.missing == "surrogate":
            options["missing"] = parameters.Surrogates(n_surrogates)
        return options


TO_PURITY = Limits()
