"""Refuses test rows that were used for growing, pruning or selecting the tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from treewright.encoding import Dataset
from treewright.encoding.row_hashes import FitRows, KnownRows
from treewright.explaining.row import is_training_data
from treewright.pruning import METHODS, PruningPath
from treewright.pruning.path import has_row_counts
from treewright.reporting.subject import Subject

_ENOUGH_TREES = 8  # if so many trees have equal losses on two samples, the samples are the same


def refuse_known_rows(model: Any, subject: Subject, rows: Mapping[str, Dataset]) -> None:
    """Refuse test rows that were used for growing, pruning or selecting the tree."""
    test, validation, path = rows.get("test"), rows.get("validation"), subject.path
    names = [name for name in ("train", "validation") if name in rows]
    for name in ("test", "validation"):
        same = [other for other in names if other != name and rows[other] is rows.get(name)]
        if same:
            raise ValueError(f"{name} and {same[0]} are the same rows; the samples must be disjoint")
    own: FitRows | None = getattr(model, "_fit_rows", None)  # of an estimator; a tree has none
    train = rows.get("train")
    fit_rows = FitRows((KnownRows.of(train),)) if own is None and train is not None else own
    for name, data in (("validation", validation), ("test", test)):
        if data is None:
            continue
        if fit_rows is not None and fit_rows.have_grown(data):
            raise ValueError(f"{name} has rows that the model was fitted on; give rows that were never used")
        if has_row_counts(subject.full_tree, subject.full_tree.rows, data) or is_training_data(
            subject.full_tree, data
        ):
            raise ValueError(
                f"{name} has the rows that the tree was grown from: all counts are the same; give rows "
                "that were never used"
            )
    if test is None:
        return
    if _selected_by(path, test) if own is None else any(each.are_in(test) for each in own.chose):
        raise ValueError(
            "test has the rows that pruned or selected the tree; give them as validation= and others as test="
        )


def _selected_by(path: PruningPath | None, data: Dataset) -> bool:
    """Whether every tree of the path has the same loss on these rows as on those that selected one."""
    if path is None or path.validation is None or len(path) < _ENOUGH_TREES:
        return False
    if not (pruned_by_rows(path) or "judged_by" in path.details):
        return False
    return np.array_equal(path.losses(data), path.validation)


def pruned_by_rows(path: PruningPath) -> bool:
    """Whether the pruning method itself uses validation rows, so that they selected among all prunings."""
    return METHODS.needs(path.method, "validation")
