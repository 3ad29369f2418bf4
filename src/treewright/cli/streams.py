"""The standard output and the standard error, which may be closed, full, or a closed pipe."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

LONGEST = 2000  # characters of a message
CLOSED_PIPE = 141  # the exit code of a program that the signal of a closed pipe ends


def hold() -> None:
    """Occupy the place of a standard stream that the caller has closed (`>&-`), so that no file is opened
    there.

    Writing to it (or reading from it) is an error; with the device that is always full, also for a program
    that opens it once more (as /dev/stdout).
    """
    for handle in range(3):
        try:
            os.fstat(handle)
        except OSError:
            place = "/dev/full" if os.path.exists("/dev/full") else os.devnull
            with suppress(OSError):
                os.open(place, os.O_RDONLY if handle else os.O_WRONLY)  # the lowest free number: this one
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w", closefd=False)), encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


class Outlet:
    """The standard output as a file: what is written has gone through, or there is an error.

    A reader that closes the pipe (`| head`) ends the program quietly, as a signal would. Characters that the
    encoding of the output lacks are written as codes.
    """

    def __init__(self, *, binary: bool = False) -> None:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")
        with _unbroken():
            sys.stdout.flush()  # what was printed before stays before
        self._file: Any = sys.stdout.buffer if binary else sys.stdout

    def write(self, content: Any) -> int:
        """Write some text, or bytes."""
        with _unbroken():
            self._file.write(content)
        return len(content)

    def flush(self) -> None:
        """Write what is buffered."""
        with _unbroken():
            self._file.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def show(text: str) -> None:
    """Print a text on the standard output."""
    print(text, file=(outlet := Outlet()))
    outlet.flush()


def show_bytes(content: bytes) -> None:
    """Write bytes to the standard output."""
    outlet = Outlet(binary=True)
    outlet.write(content)
    outlet.flush()


def tell(line: str) -> None:
    """Print a line on the standard error; if that fails, the exit code remains.

    Names of files and cells may hold anything: control characters are written as codes, and the middle of a
    very long line is left out.
    """
    if len(line) > LONGEST:
        line = f"{line[: LONGEST * 3 // 4]} … {line[-LONGEST // 4 :]}"
    line = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in line)
    try:
        print(line, file=sys.stderr, flush=True)
    except (OSError, ValueError):
        _let_go(sys.stderr)


@contextmanager
def _unbroken() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        _let_go(sys.stdout)
        raise SystemExit(CLOSED_PIPE) from None
    except OSError as error:
        _let_go(sys.stdout)
        reason = "it is closed" if error.errno == errno.EBADF else error.strerror or error
        raise OSError(error.errno, f"the standard output cannot be written: {reason}") from error


def _let_go(stream: Any) -> None:
    """Send what Python flushes at exit, because it could not be written before, to the null device."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
