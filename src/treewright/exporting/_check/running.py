"""Runs the programs that an export is compiled by or is run by."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

_SECONDS = 600  # that a compiler or program may take


def engine(verb: str, *names: str) -> str:
    """The path of the first of some programs that is installed; ImportError if none is."""
    for name in names:
        path = shutil.which(name)
        if path is not None:
            return path
    raise ImportError(f"check= {verb} by {names[0]}, which is not installed; install it or leave check= out")


def run(command: Sequence[Any], failure: str, given: bytes = b"") -> bytes:
    """What a command writes to its standard output; ValueError with what it complains of if it fails."""
    done = subprocess.run(
        list(map(str, command)), input=given, capture_output=True, timeout=_SECONDS, check=False
    )
    if done.returncode:
        raise ValueError(f"{failure}: {done.stderr.decode(errors='replace').strip()[-1000:]}")
    return done.stdout
