"""One fold of a messy table: what a library learns from and is asked, and how its answers are judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import StringIO
from typing import Any

import numpy as np

from benchmarks.messy_sheets import Messy

FOLDS = 5
LEAST = 0.001  # to which shares of classes are raised before their logarithm is taken, alike for all
VARIANTS = ("as read", "cleaned by hand")


@dataclass(frozen=True)
class Task:
    """Frames of the columns to learn from and to answer; the target of the first."""

    kind: str  # "classes" or "numbers"
    target_name: str
    rows: Any
    target: Any
    others: Any
    separator: str = ","
    texts: tuple[str, str] | None = None  # the same as CSV files, where the fold is of a file as it is

    def files(self) -> tuple[str, str]:
        """CSV files of the rows to learn from, the target last, and of the others."""
        if self.texts is not None:
            return self.texts
        return (
            self.rows.assign(**{self.target_name: self.target}).to_csv(index=False),
            self.others.to_csv(index=False),
        )


@dataclass(frozen=True)
class Shares:
    """The classes, and the share of each that a model gives each row."""

    classes: Any
    matrix: Any


Answers = Any  # Shares, or an array of numbers
Method = Callable[[Task], Answers]


def folds(messy: Messy) -> list[Any]:
    """A mask of the test rows for each fold; each class is spread evenly."""
    from sklearn.model_selection import KFold, StratifiedKFold

    split = StratifiedKFold if messy.kind == "classes" else KFold
    dealt = split(FOLDS, shuffle=True, random_state=0).split(messy.answers, messy.answers)
    return [np.isin(np.arange(len(messy.answers)), test) for _, test in dealt]


def tasks(messy: Messy, variant: str) -> Iterator[tuple[Task, Any]]:
    """(task, the true answers) of each fold."""
    import pandas

    if variant == VARIANTS[0]:
        frame = pandas.read_csv(StringIO(messy.text), sep=messy.separator).drop(columns=messy.target)
        separator = messy.separator
    else:
        frame, separator = pandas.DataFrame(messy.cleaned), ","
    for test in folds(messy):
        rows, others = (frame[mask].reset_index(drop=True) for mask in (~test, test))
        texts = _texts(messy, test) if variant == VARIANTS[0] else None
        target = messy.answers[~test]
        yield Task(messy.kind, messy.target, rows, target, others, separator, texts), messy.answers[test]


def _texts(messy: Messy, test: Any) -> tuple[str, str]:
    """The lines of the file in two files; the target stays in both, as a file to test on has it."""
    head, *lines = messy.lines
    parts = ([line for line, is_test in zip(lines, test, strict=True) if is_test == side] for side in (0, 1))
    learn, ask = ("\n".join([head, *part]) + "\n" for part in parts)
    return learn, ask


def judged(kind: str, truth: Any, answers: Answers) -> dict[str, float]:
    """Accuracy and log loss of classes; R² and the root of the mean squared error of numbers."""
    if kind == "numbers":
        rest = float(np.mean((np.asarray(answers, float) - truth) ** 2))
        return {"score": 1.0 - rest / float(np.var(truth)), "loss": rest**0.5}
    classes = np.asarray(answers.classes).astype(str)
    said = classes[answers.matrix.argmax(axis=1)]
    place = {name: k for k, name in enumerate(classes)}
    where = np.array([place.get(str(name), -1) for name in truth])
    given = np.where(where >= 0, answers.matrix[np.arange(len(truth)), where], 0.0)
    loss = -np.log(np.clip(given, LEAST, 1.0))
    return {"score": float(np.mean(said == truth.astype(str))), "loss": float(loss.mean())}
