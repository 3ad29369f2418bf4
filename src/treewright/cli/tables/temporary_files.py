"""Files for SQL of what comes from a pipe or has an odd name; they exist as long as the program runs."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from treewright.cli.errors import Trouble
from treewright.cli.options import PIPE

_folders = ExitStack()
clear = _folders.close  # removes all files


def new_folder() -> str:
    """A new folder, which exists as long as the program runs."""
    folder = tempfile.TemporaryDirectory(prefix="treewright-", ignore_cleanup_errors=True)
    return _folders.enter_context(folder)


def copy_of_pipe(path: Path) -> str:
    """A new file with all that a pipe, a device or the standard input holds."""
    with new_file(display_name(path)) as (name, file):
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
    """A new file for another shape of a file, `what` in messages; it exists as long as the program runs."""
    name = os.path.join(new_folder(), "table")
    try:
        with open(name, "wb") as file:
            yield name, file
    except OSError as error:
        if error.filename is not None:
            raise  # the file to read from cannot even be opened
        raise Trouble(f"{what} cannot be kept in {name}: {error.strerror or error}") from error


def readable(path: str) -> str:
    """The file by a name that SQL reads literally: a link where the name has a backslash."""
    if os.sep == "\\" or "\\" not in os.path.abspath(path):
        return path
    link = os.path.join(new_folder(), "table")
    os.symlink(os.path.abspath(path), link)
    return link


def display_name(path: Path) -> str:
    """The name of a file in messages."""
    return "the standard input" if path == PIPE else str(path)
