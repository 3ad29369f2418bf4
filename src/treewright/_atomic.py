"""Writing files so that a reader sees the old content or the new, never a part of it."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file to write to, which takes the place of `path` when the block ends well.

    The content goes to a new file in the same folder, is flushed to the disk and renamed. After an error, a
    full disk or a kill the old file is as it was; a killed process leaves a hidden `.part` file behind. Pipes
    and devices cannot be renamed over and are written directly.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/note.txt") as file:
    ...         _ = file.write(b"hello")
    ...     print(Path(folder, "note.txt").read_text())
    hello
    """
    mode = _mode(Path(path))
    if mode is not None and not stat.S_ISREG(mode):
        with open(path, "wb") as file:
            yield file
        return
    target = Path(os.path.realpath(path))  # through links, which stay links
    handle, name = _new_neighbour(target)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _new_file_mode() if mode is None else stat.S_IMODE(mode))
        os.replace(name, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
    _sync_folder(target.parent)


def _new_neighbour(target: Path) -> tuple[int, str]:
    """A new file in the same folder, open; an error names the file that was to be written."""
    try:
        return tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:60]}.", suffix=".part")
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(target)) from None


def _mode(path: Path) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _new_file_mode() -> int:
    """What `open` would give a new file; the mask can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    """Flush the rename itself; systems that cannot open folders do without."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
