"""treewright on a messy table: the command line on the file, the estimators on what pandas reads."""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.messy_tasks import Answers, Shares, Task

TREES = 100


def command_line(task: Task) -> Answers:
    """`treewright fit` and `treewright predict` with nothing but the name of the target."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in zip(("learn.csv", "ask.csv"), task.files(), strict=True):
            (folder / file).write_text(text, encoding="utf-8")
        usual = ["--quiet", "--n-jobs", "1"]
        target = [f"--target={task.target_name}"]
        _treewright(["fit", "learn.csv", *target, "--no-report", "--test-size", "0", *usual], folder)
        shares = ["--proba"] if task.kind == "classes" else []
        asked = ["predict", "learn.tree.json", "ask.csv", "--raw", "-o", "out.csv", *shares, *usual]
        _treewright(asked, folder)
        with (folder / "out.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    if task.kind == "numbers":
        return np.array([float(row["prediction"]) for row in rows])
    names = [key for key in rows[0] if key.startswith("probability_")]
    matrix = np.array([[float(row[key]) for key in names] for row in rows])
    return Shares([key.removeprefix("probability_") for key in names], matrix)


def _treewright(arguments: list[str], folder: Path) -> None:
    command = [sys.executable, "-m", "treewright", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["it ended without a word"])[-1][:200])


def folds(task: Task) -> Answers:
    """The estimator, pruned by cost complexity that folds of the training rows choose."""
    import treewright

    options = {"pruning": treewright.CostComplexity(select="folds", n_folds=5)}
    return _fitted(task, treewright.DecisionTreeClassifier, treewright.DecisionTreeRegressor, **options)


def forest(task: Task) -> Answers:
    """A random forest."""
    import treewright

    models = treewright.RandomForestClassifier, treewright.RandomForestRegressor
    return _fitted(task, *models, n_estimators=TREES)


def boosting(task: Task) -> Answers:
    """Gradient boosting."""
    import treewright

    models = treewright.HistGradientBoostingClassifier, treewright.HistGradientBoostingRegressor
    return _fitted(task, *models, max_iter=TREES)


def _fitted(task: Task, classifier: Any, regressor: Any, **options: Any) -> Answers:
    model = (classifier if task.kind == "classes" else regressor)(random_state=0, n_jobs=1, **options)
    model.fit(task.rows, task.target)
    if task.kind == "numbers":
        return model.predict(task.others)
    return Shares(model.classes_, model.predict_proba(task.others))
