"""R's rpart, cross-validated in its own way, timed inside R: reading the table is not counted."""

from __future__ import annotations

from pathlib import Path

from benchmarks import driving_r
from benchmarks.measuring import LEAST_RUNS, LEAST_SECONDS, Result

# As cheap as it can be made: no surrogate splits, no competing ones. It grows to a depth of 30 at most.
CODE = """
library(rpart)
folds <- told[2]; runs <- told[3]; enough <- told[4]
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


def versions() -> dict[str, str]:
    """Those of R and rpart; none if they are not there."""
    return driving_r.versions("rpart")


def measure(data: Path, folds: int, limit: float) -> Result:
    """The least CPU and wall seconds of a few runs, the leaves of the pruned tree and its score."""
    if not versions():
        return {"skipped": "not installed"}
    found = driving_r.answers(CODE, data, [folds, LEAST_RUNS, LEAST_SECONDS], limit)
    if isinstance(found, str):
        return {"skipped": found}
    cpu, wall, runs, busy, leaves, score = found
    return {
        "cpu": cpu,
        "wall": wall,
        "runs": int(runs),
        "busy": busy,
        "leaves": int(leaves),
        "score": score,
    }
