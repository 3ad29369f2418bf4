"""R's rpart on a messy table: `read.csv` with factors, cross-validated and pruned in its own way."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import driving_r
from benchmarks.messy_peers import is_number
from benchmarks.messy_tasks import Answers, Shares, Task

LIMIT = 120.0  # seconds
LEVELS = 20  # above which it takes ages where there are more than two classes: it tries every subset
CODE = """
library(rpart)
told <- commandArgs(TRUE)
read <- function(name) read.csv(file.path(told[1], name), sep=told[2], stringsAsFactors=TRUE,
                                na.strings=c("NA", ""), encoding="UTF-8")
learn <- read("learn.csv"); ask <- read("ask.csv")
target <- names(learn)[ncol(learn)]
classes <- told[3] == "classes"
if (classes) learn[[target]] <- factor(learn[[target]])
for (name in setdiff(names(learn), target)) if (is.factor(learn[[name]]))
  ask[[name]] <- factor(as.character(ask[[name]]), levels=levels(learn[[name]])) else
  ask[[name]] <- suppressWarnings(as.numeric(as.character(ask[[name]])))
start <- proc.time()
set.seed(0)
tree <- rpart(as.formula(paste(target, "~ .")), learn, method=if (classes) "class" else "anova",
              control=rpart.control(cp=0.0005, xval=5))
best <- which.min(tree$cptable[, "xerror"])
pruned <- prune(tree, cp=tree$cptable[best, "CP"])
took <- proc.time() - start
found <- predict(pruned, ask)
write.csv(found, file.path(told[1], "out.csv"), row.names=FALSE)
cat(took[[1]] + took[[2]])
"""


def rpart(task: Task) -> Answers:
    """The tree of least cross-validated error."""
    if not driving_r.versions("rpart"):
        raise NotImplementedError("R with rpart is not installed")
    if task.kind == "classes" and len(np.unique(task.target)) > 2 and _most_levels(task) > LEVELS:
        raise NotImplementedError(f"tries all subsets of a category of more than {LEVELS} values")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in zip(("learn.csv", "ask.csv"), task.files(), strict=True):
            (folder / file).write_text(text, encoding="utf-8")
        (folder / "script.R").write_text(CODE, encoding="utf-8")
        command = ["Rscript", "--vanilla", "script.R", str(folder), task.separator, task.kind]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=LIMIT, check=False)
        if done.returncode:
            raise RuntimeError((done.stderr.strip().splitlines() or ["it ended without a word"])[-1][:90])
        return _answers(folder / "out.csv", task)


def _most_levels(task: Task) -> int:
    texts = [task.rows[name] for name in task.rows if not is_number(task.rows[name])]
    return max((column.nunique() for column in texts), default=0)


def _answers(path: Path, task: Task) -> Any:
    import pandas

    frame = pandas.read_csv(path)
    return frame.iloc[:, 0].to_numpy(float) if task.kind == "numbers" else Shares(
        [str(name) for name in frame], frame.to_numpy(float))  # fmt: skip
