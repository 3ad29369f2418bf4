"""R's ranger, timed inside R: reading the table is not counted, nor is the memory measured."""

from __future__ import annotations

from pathlib import Path

from benchmarks import driving_r
from benchmarks.measuring import LEAST_RUNS, LEAST_SECONDS, Result
from benchmarks.problems import Problem

# To purity, and without its out-of-bag error, as the others are measured.
CODE = """
library(ranger)
trees <- told[2]; columns <- told[3]; classes <- told[4]; threads <- told[5]
runs <- told[6]; enough <- told[7]
train <- table("train"); test <- table("test")
kind <- if (classes > 0) "integer" else "double"
target <- read("target", kind); truth <- read("test_target", kind)
if (classes > 0) target <- factor(target)
cpu <- c(); wall <- c()
while (length(cpu) < runs && sum(wall) < enough) {
  start <- proc.time()
  forest <- ranger(x=train, y=target, num.trees=trees, mtry=columns, min.node.size=1, num.threads=threads,
                   oob.error=FALSE, verbose=FALSE, seed=1)
  took <- proc.time() - start
  cpu <- c(cpu, took[[1]] + took[[2]]); wall <- c(wall, took[[3]])
}
found <- predict(forest, test, num.threads=threads)$predictions
explained <- function() 1 - mean((found - truth)^2) / mean((truth - mean(truth))^2)
score <- if (classes > 0) mean(found == truth) else explained()
cat(min(cpu), min(wall), length(cpu), sum(cpu) / sum(wall), score, length(serialize(forest, NULL)))
"""


def versions() -> dict[str, str]:
    """Those of R and ranger; none if they are not there."""
    return driving_r.versions("ranger")


def measure(problem: Problem, data: Path, *, trees: int, columns: int, threads: int, limit: float) -> Result:
    """The least CPU and wall seconds of a few runs, the score of the forest and its size."""
    if not versions():
        return {"skipped": "not installed in R"}
    told = [trees, columns, problem.classes, threads, LEAST_RUNS, LEAST_SECONDS]
    found = driving_r.answers(CODE, data, told, limit)
    if isinstance(found, str):
        return {"skipped": found}
    cpu, wall, runs, busy, score, size = found
    return {"cpu": cpu, "wall": wall, "runs": int(runs), "busy": busy, "score": score, "size": size / 2**20}
