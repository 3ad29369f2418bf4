"""R, asked to measure: a script gets the table in files of plain numbers and answers with a line of them."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

# What every script begins with: `read(name, "double")`, `table("train")`, and the numbers that it was told.
READING = """
folder <- commandArgs(TRUE)[1]
told <- as.numeric(commandArgs(TRUE)[-1])
read <- function(name, what) readBin(file.path(folder, name), what, 1e9)
table <- function(name) data.frame(matrix(read(name, "double"), ncol=told[1]))
"""


@cache
def versions(package: str) -> dict[str, str]:
    """Those of R and of one of its packages; none if they are not there."""
    if not shutil.which("Rscript"):
        return {}
    asked = f'cat(as.character(getRversion()), as.character(packageVersion("{package}")))'
    command = ["Rscript", "--vanilla", "-e", asked]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return dict(zip(("R", package), done.stdout.split(), strict=True)) if done.returncode == 0 else {}


def answers(code: str, data: Path, told: Sequence[float], limit: float) -> list[float] | str:
    """The numbers that a script prints about a table of `problems.make`; or a word on why it does not."""
    with tempfile.TemporaryDirectory() as name, np.load(data) as table:
        folder = Path(name)
        for part in ("train", "test"):
            np.asfortranarray(table[part], np.float64).ravel(order="F").tofile(folder / part)
        for part in ("target", "test_target"):
            _plain(table[part]).tofile(folder / part)
        (folder / "script.R").write_text(READING + code)
        numbers = map(str, [table["train"].shape[1], *told])
        command = ["Rscript", "--vanilla", str(folder / "script.R"), str(folder), *numbers]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)
        except subprocess.TimeoutExpired:
            return f"took more than {limit:.0f} s"
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["it ended without a word"]
        return f"failed: {said[-1][:90]}"
    return [float(word) for word in done.stdout.split()]


def _plain(target: Any) -> Any:
    """Classes as R's integers, numbers as its doubles."""
    return target.astype(np.int32 if np.issubdtype(target.dtype, np.integer) else np.float64)
