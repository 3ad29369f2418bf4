"""The C++ tests of the core, compiled in the build tree of the installed package: only they are new there."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def build_tree() -> tuple[Path, str]:
    """The latest build tree of this copy of the sources, and the CMake that made it."""
    caches = sorted(ROOT.glob("build/wheel-*/CMakeCache.txt"), key=lambda path: path.stat().st_mtime)
    for cache in reversed(caches):
        entries = dict(re.findall(r"^(\w+):\w+=(.*)$", cache.read_text("utf-8"), re.MULTILINE))
        tools = [entries.get(name, "") for name in ("CMAKE_COMMAND", "CMAKE_MAKE_PROGRAM", "CMAKE_CXX_COMPILER")]
        if Path(entries["CMAKE_HOME_DIRECTORY"]) == ROOT and all(map(os.path.exists, tools)):
            return cache.parent, tools[0]
    pytest.skip("there is no build tree with its compiler: install the package from here with --no-build-isolation")


@pytest.mark.slow
def test_core() -> None:
    """Sorting, binning, grids, threads and what else is easier to reach from C++."""
    tree, cmake = build_tree()
    # The checkers of `make sanitize` are for the core alone, not for compilers.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    build = [cmake, "--build", str(tree), "--target", "core_tests"]
    made = subprocess.run(build, env=environment, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout[-3000:] + made.stderr[-3000:]
    tests = subprocess.run([tree / "core_tests"], env=environment, capture_output=True, text=True, check=False)
    assert tests.returncode == 0, tests.stderr[-3000:] + tests.stdout
