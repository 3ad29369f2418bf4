"""Runs the programs that an export is compiled by or is run by, and packs the table that they read."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

_SECONDS = 600  # that a compiler or program may take


def engine(verb: str, *names: str, remedy: str = "install it") -> str:
    """The path of the first of some programs that is installed; ImportError with the remedy if none is."""
    for name in names:
        path = shutil.which(name)
        if path is not None:
            return path
    raise ImportError(f"check= {verb} by {names[0]}, which is not installed; {remedy} or leave check= out")


def run(command: Sequence[Any], failure: str, given: bytes = b"") -> bytes:
    """What a command writes to its standard output; ValueError with its error output if it fails."""
    done = subprocess.run(
        list(map(str, command)), input=given, capture_output=True, timeout=_SECONDS, check=False
    )
    if done.returncode:
        raise ValueError(f"{failure}: {done.stderr.decode(errors='replace').strip()[-1000:]}")
    return done.stdout


def runner(name: str, **words: str) -> str:
    """The text of a program of this folder that reads a packed table, with some words replaced."""
    text = Path(__file__).with_name(name).read_text("ascii")
    for word, replacement in words.items():
        text = text.replace(word, replacement)
    return text


def pack_table(columns: Sequence[tuple[str, Sequence[Any]]], n_rows: int) -> bytes:
    """The numbers of rows and columns; then of each column its name, the number of distinct values, these,
    and for each row the place of its value among them.
    """
    parts = [struct.pack(">ii", n_rows, len(columns))]
    for name, values in columns:
        places: dict[Any, int] = {}
        distinct = []
        keys = [(type(value), value.hex() if type(value) is float else value) for value in values]
        for key, value in zip(keys, values, strict=True):
            if key not in places:
                places[key] = len(places)
                distinct.append(_pack(value))
        codes = np.array([places[key] for key in keys], ">i4")
        parts += [_pack(name), struct.pack(">i", len(distinct)), *distinct, codes.tobytes()]
    return b"".join(parts)


def _pack(value: Any) -> bytes:
    """The size of a value, its type (text, none, double, bool, long, larger integer) and its bytes."""
    if isinstance(value, str):
        text = value.encode("utf-16-be", "surrogatepass")
        return struct.pack(">ic", len(text), b"t") + text
    if value is None:
        return struct.pack(">ic", 0, b"n")
    if isinstance(value, float):
        return struct.pack(">icd", 8, b"d", value)
    if not -(2**63) <= value < 2**63:
        return struct.pack(">ic", len(str(value)), b"i") + str(value).encode()
    return struct.pack(">icq", 8, b"b" if isinstance(value, bool) else b"l", value)


def unpack(data: bytes, n_targets: int) -> list[Any]:
    """The predictions that a runner wrote; of several targets as tuples."""
    values: list[Any] = []
    at = 0
    while at < len(data):
        size, kind = struct.unpack_from(">ic", data, at)
        cell, at = data[at + 5 : at + 5 + size], at + 5 + size
        if kind == b"t":
            values.append(cell.decode("utf-16-be", "surrogatepass"))
        elif kind == b"i":
            values.append(int(cell))
        else:
            (value,) = struct.unpack(">d" if kind == b"d" else ">q", cell)
            values.append(bool(value) if kind == b"b" else value)
    return values if n_targets == 1 else list(zip(*[iter(values)] * n_targets, strict=True))
