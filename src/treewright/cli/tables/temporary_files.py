"""What comes from a pipe or has an odd name: a file that SQL can read, for as long as the program runs."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from treewright.cli.errors import Trouble
from treewright.cli.options import PIPE

SHOWN = "the standard input"

_laid_down: list[str] = []


def laid_down(path: Path) -> str:
    """A new file with all that a pipe, a device or the standard input holds."""
    with new_file(shown(path)) as (name, file):
        if path == PIPE:
            if sys.stdin is None or sys.stdin.closed:
                raise Trouble("the standard input is closed; pipe a table into it")
            shutil.copyfileobj(sys.stdin.buffer, file)
        else:
            with open(path, "rb") as pipe:
                shutil.copyfileobj(pipe, file)
    return name


@contextmanager
def new_file(what: str) -> Iterator[tuple[str, IO[bytes]]]:
    """A new file to write what a file holds in another shape; it is there for as long as the program runs."""
    handle, name = tempfile.mkstemp(prefix="treewright-")
    _laid_down.append(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield name, file
    except OSError as error:
        if error.filename is not None:
            raise  # the file to read from cannot even be opened
        raise Trouble(f"{what} cannot be kept in {name}: {error.strerror or error}") from error


def readable(path: str) -> str:
    """The file by a name that SQL takes as it stands: a link where a backslash would hide what follows it."""
    if os.sep == "\\" or "\\" not in os.path.abspath(path):
        return path
    folder = tempfile.mkdtemp(prefix="treewright-")
    _laid_down.append(folder)
    link = os.path.join(folder, "table")
    os.symlink(os.path.abspath(path), link)
    return link


def shown(path: Path) -> str:
    """What a file is called in front of the user."""
    return SHOWN if path == PIPE else str(path)


def clear() -> None:
    """Remove the files again."""
    while _laid_down:
        name = _laid_down.pop()
        with suppress(OSError):
            shutil.rmtree(name) if os.path.isdir(name) else os.unlink(name)
