"""The C++ tests of the core, compiled in the build tree of the installed package: only they are new there."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FITS = Path(__file__).parent / "native" / "fits.txt"
TOOLS = ("CMAKE_COMMAND", "CMAKE_MAKE_PROGRAM", "CMAKE_CXX_COMPILER")


def build_tree() -> tuple[Path, str]:
    """The latest build tree of this copy of the sources, and the CMake that made it."""
    caches = sorted(ROOT.glob("build/wheel-*/CMakeCache.txt"), key=lambda path: path.stat().st_mtime)
    for cache in reversed(caches):
        entries = dict(re.findall(r"^(\w+):\w+=(.*)$", cache.read_text("utf-8"), re.MULTILINE))
        is_here = Path(entries["CMAKE_HOME_DIRECTORY"]) == ROOT
        if is_here and all(Path(entries.get(name, "nowhere")).exists() for name in TOOLS):
            return cache.parent, entries["CMAKE_COMMAND"]
    pytest.skip("no build tree with its compiler: `make .venv/.dev` leaves one")


def output_of(*command: str | Path) -> str:
    """What a program prints; the checkers of `make sanitize` are for the core alone, not for compilers."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.slow
def test_core() -> None:
    """What is easier to reach from C++; and the fits of a corpus are those that every platform makes."""
    tree, cmake = build_tree()
    output_of(cmake, "--build", tree, "--target", "core_tests")
    assert " 0 failed checks" in output_of(tree / "core_tests")
    assert " 0 others, 0 missing" in output_of(tree / "core_tests", "--fits", FITS)
