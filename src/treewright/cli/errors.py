"""What went wrong, in one line: `Trouble` for whatever the user can mend, and the words for common cases."""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

from treewright._suggestions import closest as closest
from treewright._text import LONGEST_NAME as LONGEST_NAME
from treewright._text import count as count
from treewright._text import quote as quote
from treewright.cli.streams import CLOSED_PIPE


class Trouble(Exception):  # noqa: N818
    """Something that the user can mend; the message says what it is and what would be right."""


class Misuse(Trouble):
    """Arguments that do not go together."""


def one_line(error: BaseException) -> str:
    """The message of an error on one line, with the name of the file where the system names one."""
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}"
    if isinstance(error, MemoryError):
        return str(error) or "the memory does not suffice for this table; use fewer rows or columns"
    return " ".join(str(error).split()).removesuffix(".")


def usage_error(error: Exception, given: Sequence[str] = (), options: Collection[str] = ()) -> str:
    """What is wrong with the arguments, in our words where those of the parser are unclear.

    `options` are those of the command. A misspelt one comes first: the parser may have taken it for a file,
    or complain that the one that was meant is missing.
    """
    from cyclopts import (
        CoercionError,
        CycloptsError,
        MissingArgumentError,
        UnknownOptionError,
        UnusedCliTokensError,
    )

    if isinstance(error, CycloptsError) and (slip := _misspelt(given, options)) is not None:
        bare = {option.lstrip("-"): option for option in reversed(list(options))}
        close = bare.get(closest(slip.lstrip("-"), bare) or "")
        as_file = f"; a file of this name is ./{slip}" if "." in slip or os.path.exists(slip) else ""
        return f"there is no option {slip} here" + (as_file if close is None else f"; did you mean {close}?")
    if isinstance(error, CoercionError) and error.token is not None and error.token.value in options:
        return f"{error.token.keyword} needs a value, and {error.token.value} is an option"
    if isinstance(error, MissingArgumentError) and error.argument is not None and not error.tokens_so_far:
        if error.keyword:
            return f"{error.keyword} needs a value"
        return f"{error.argument.name} is missing{_hint_about_target(error.argument.name, given)}"
    if isinstance(error, UnusedCliTokensError) and not isinstance(error, UnknownOptionError):
        return f"there is no place for {name_list(map(str, error.unused_tokens or ()))}"
    return one_line(error)


def _hint_about_target(name: str, given: Sequence[str]) -> str:
    """How to find the column to predict; empty if something else is missing."""
    if name != "--target":
        return ""
    file = next((word for word in given[1:] if os.path.isfile(word)), "DATA")
    return f"; name the column to predict: treewright describe {shlex.quote(file)} lists them, with a guess"


def _misspelt(given: Sequence[str], options: Collection[str]) -> str | None:
    """The first argument that looks like an option and is none."""
    names = given[: given.index("--")] if "--" in given else given
    for before, argument in zip(("", *names), names, strict=False):
        name = argument.partition("=")[0]
        looks = re.match(r"--?[A-Za-z]", name) is not None and before not in ("--na-values", "--separator")
        is_short = not name.startswith("--") and name[:2] in options  # -oFILE, -qo
        if options and looks and name not in options and not is_short:
            return name
    return None


@contextmanager
def in_options(**options: str) -> Iterator[None]:
    """Errors of Python functions in words of the command line: `data="--train"` replaces data= in messages.

    >>> with in_options(data="--train"):
    ...     raise ValueError("folds needs data=, the Dataset of rows")
    Traceback (most recent call last):
    treewright.cli.errors.Trouble: folds needs --train, the table of rows
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        message = str(error).replace("Dataset", "table")
        for name, option in options.items():
            message = re.sub(rf"\b{name}=|^{name}(?= (?:must|has|is|and)\b)", option, message)
        raise (Misuse if isinstance(error, TypeError) else Trouble)(message) from error


@contextmanager
def writing_to(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors of the system, such as a full disk, with the name of the file."""
    try:
        yield
    except BrokenPipeError:
        raise SystemExit(CLOSED_PIPE) from None  # as `| head` ends it
    except OSError as error:
        raise Trouble(f"{os.fspath(path)} cannot be written: {error.strerror or error}") from error


def did_you_mean(name: str, known: Iterable[str], what: str = "columns") -> str:
    """The known name that is closest, as the end of a sentence; else what there is to choose from.

    >>> did_you_mean("hieght", ["height", "age"])
    "did you mean 'height'?"
    >>> did_you_mean("zzz", ["height", "age"])
    "the columns are 'height', 'age'"
    """
    close = closest(name, names := list(known))
    return f"the {what} are {name_list(names)}" if close is None else f"did you mean {quote(close)}?"


def check_name(option: str, name: str, names: Sequence[str]) -> None:
    """Misuse about the value of an option that is none of these names."""
    if name not in names:
        close = closest(name, names)
        hint = "" if close is None else f"did you mean {close}? "
        raise Misuse(f"{option} {name} is unknown; {hint}known: {', '.join(names)}")


def name_list(names: Iterable[str], most: int = 10) -> str:
    """Some names in quotes; not thousands of them."""
    every = list(names)
    rest = [f"… ({len(every)} in all)"] if len(every) > most else []
    return ", ".join([quote(name) for name in every[:most]] + rest)


def cut(text: str, longest: int = LONGEST_NAME) -> str:
    """A text as it is shown; of a very long one the beginning.

    >>> cut("age"), len(cut("n" * 10_000))
    ('age', 60)
    """
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def check_unique(where: str, names: Sequence[str], remedy: str = "rename them") -> None:
    """Trouble about columns of the same name."""
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise Trouble(f"{where}: several columns have the name {name_list(repeated)}; {remedy}")


def check_output(path: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Trouble if a file cannot be written there, before the long work begins."""
    path = os.fspath(path)
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise Trouble(f"{path} is a folder; name a file in it to write to")
    if not os.path.isdir(folder):
        raise Trouble(
            f"{path} cannot be written: there is no folder {os.path.dirname(path)!r}; make it first"
        )
    if os.path.exists(path):
        for source in inputs:
            if os.path.exists(source) and os.path.samefile(path, source):
                raise Trouble(
                    f"{path} would be overwritten while it is read; choose another name for the output"
                )
        if not os.access(path, os.W_OK):
            raise Trouble(f"{path} may not be overwritten: permission denied")
    elif not os.access(folder, os.W_OK | os.X_OK):
        raise Trouble(f"{path} cannot be written: no permission to make files in {folder}")
