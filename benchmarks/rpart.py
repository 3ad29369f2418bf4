"""R's rpart, cross-validated in its own way, timed inside R: reading the table is not counted."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.measuring import LEAST_RUNS, LEAST_SECONDS, Result

# As cheap as it can be made: no surrogate splits, no competing ones. It grows to a depth of 30 at most.
CODE = """
library(rpart)
folder <- commandArgs(TRUE)[1]
told <- as.numeric(commandArgs(TRUE)[-1])
columns <- told[1]; folds <- told[2]; runs <- told[3]; enough <- told[4]
read <- function(name, what) readBin(file.path(folder, name), what, 1e9)
table <- function(name) data.frame(matrix(read(name, "double"), ncol=columns))
train <- table("train"); test <- table("test")
train$class <- factor(read("target", "integer"))
limits <- rpart.control(cp=0, minsplit=2, minbucket=1, xval=folds, maxsurrogate=0, maxcompete=0)
cpu <- c(); wall <- c()
while (length(cpu) < runs && sum(wall) < enough) {
  set.seed(0)
  start <- proc.time()
  tree <- rpart(class ~ ., train, method="class", control=limits)
  best <- which.min(tree$cptable[, "xerror"])
  pruned <- prune(tree, cp=tree$cptable[best, "CP"])
  took <- proc.time() - start
  cpu <- c(cpu, took[[1]] + took[[2]]); wall <- c(wall, took[[3]])
}
right <- mean(predict(pruned, test, type="class") == read("test_target", "integer"))
cat(min(cpu), min(wall), length(cpu), sum(cpu) / sum(wall), sum(pruned$frame$var == "<leaf>"), right)
"""
VERSIONS = 'cat(as.character(getRversion()), as.character(packageVersion("rpart")))'


@cache
def versions() -> dict[str, str]:
    """Those of R and rpart; none if they are not there."""
    if not shutil.which("Rscript"):
        return {}
    command = ["Rscript", "--vanilla", "-e", VERSIONS]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return dict(zip(("R", "rpart"), done.stdout.split(), strict=True)) if done.returncode == 0 else {}


def measure(data: Path, folds: int, limit: float) -> Result:
    """The least CPU and wall seconds of a few runs, the leaves of the pruned tree and its score."""
    if not versions():
        return {"skipped": "not installed"}
    with tempfile.TemporaryDirectory() as name, np.load(data) as table:
        folder = Path(name)
        for part in ("train", "test"):
            np.asfortranarray(table[part], np.float64).ravel(order="F").tofile(folder / part)
        for part in ("target", "test_target"):
            table[part].astype(np.int32).tofile(folder / part)
        (folder / "rpart.R").write_text(CODE)
        told = [table["train"].shape[1], folds, LEAST_RUNS, LEAST_SECONDS]
        command = ["Rscript", "--vanilla", str(folder / "rpart.R"), str(folder), *map(str, told)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)
        except subprocess.TimeoutExpired:
            return {"skipped": f"took more than {limit:.0f} s"}
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["it ended without a word"]
        return {"skipped": f"failed: {said[-1][:90]}"}
    cpu, wall, runs, busy, leaves, score = map(float, done.stdout.split())
    return {
        "cpu": cpu,
        "wall": wall,
        "runs": int(runs),
        "busy": busy,
        "leaves": int(leaves),
        "score": score,
    }
