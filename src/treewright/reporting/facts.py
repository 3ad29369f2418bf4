"""All facts of a report in one value, which the page works from: plain lists, numbers and texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright._text import row_count
from treewright.advice import Advice
from treewright.certifying.losses import NUMBER_LOSSES
from treewright.encoding import Dataset
from treewright.exporting.text import render
from treewright.plotting.scene import class_colours
from treewright.reporting.certificates import promise
from treewright.reporting.columns import competitor_facts, competitors_as_json, importance_facts
from treewright.reporting.distributions import distribution_facts
from treewright.reporting.headlines import (
    advice_facts,
    advice_on,
    figure_facts,
    headline_text,
    judged_metrics,
)
from treewright.reporting.nodes import (
    class_words,
    column_facts,
    named_categories,
    sum_facts,
    surrogate_facts,
    tree_facts,
    what_rows_tell,
)
from treewright.reporting.parts import OwnRows, Part, Rows, intervals, part_facts
from treewright.reporting.reproducing import reproduction
from treewright.reporting.rounding import ALL_DIGITS, shorts
from treewright.reporting.ruling import rules_text
from treewright.reporting.slider import slide_facts, slides
from treewright.reporting.subjects import Subject, shortened
from treewright.tree import Tree
from treewright.tree.missing import divides
from treewright.tree.oblique import asked_columns

FORMAT = 1
MOST_COLUMNS = 300  # of more columns, those that are asked or compete
MOST_LINES = 1_000  # of the tree as text


def facts(
    model: Any,
    subject: Subject,
    rows: Mapping[str, Dataset],
    *,
    title: str | None,
    delta: float,
    seed: int,
    methods: Sequence[str] | None,
    advice: Sequence[Advice] | None = None,
) -> dict[str, Any]:
    """The payload of the page, section by section."""
    tree, parts = subject.shown, _parts(subject.shown, rows)
    train = parts["train"]
    known = what_rows_tell(tree, train.cells) if isinstance(train, Part) else {}
    rivals = competitor_facts(subject, parts)
    columns = _columns(tree, {each.position for found in rivals.values() for each in found})
    place = {column: i for i, column in enumerate(columns)}
    named = named_categories(tree, {i: own["counts"] for i, own in known.items() if "counts" in own})
    paths, unshown = slides(subject, parts, methods)
    manager, resting = promise(subject, parts, rows.get("train"), delta)
    if any(isinstance(part, Part) and divides(tree, part.data) for part in parts.values()):
        resting = [*resting, _SHARES]
    judged = judged_metrics(subject, parts)
    advice = advice_on(subject, rows, judged, delta) if advice is None else advice
    notes = [*subject.notes, *_train_notes(train, subject), *resting, *unshown]
    payload: dict[str, Any] = {
        "format": FORMAT,
        "title": shortened(title, 200) if title is not None else _title(subject),
        "headline": {
            "text": headline_text(subject),
            "manager": manager,
            "metrics": figure_facts(judged),
            "notes": notes,
        },
        "advice": advice_facts(advice),
        **_target(tree),
        "delta": delta,
        "columns": column_facts(tree, named, columns, known),
        "sums": sum_facts(tree, place),
        "tree": _placed(tree, tree_facts(tree, named), place),
        "parts": {name: part_facts(part, subject.inside) for name, part in parts.items()},
        "intervals": intervals(parts, delta),
        "surrogates": surrogate_facts(tree, named, place),
        "competitors": competitors_as_json(tree, rivals, place),
        "paths": [slide_facts(path, parts, delta) for path in paths],
        "importance": importance_facts(subject, parts, place, seed, delta),
        "distributions": distribution_facts(subject, train, place) if isinstance(train, Part) else None,
        "rules": rules_text(subject.chosen),
        "text": tree_text(subject.chosen),
        "reproduce": reproduction(model, subject, rows, seed),
    }
    return {name: value for name, value in payload.items() if value is not None or name == "costs"}


_SHARES = (
    "Rows with missing values go down both sides: the numbers of nodes and of the slider count their shares, "
    "while the sentence on top judges what the tree answers to them, the mixture of their leaves."
)


def _parts(tree: Tree, rows: Mapping[str, Dataset]) -> dict[str, Rows]:
    """The rows at the nodes of the tree; training rows that are not given as the tree tells of them."""
    found: dict[str, Rows] = {} if "train" in rows else {"train": OwnRows(tree)}
    for name, data in rows.items():
        same = data.schema == tree.schema
        found[name] = Part(tree, data if same else replace(data, schema=tree.schema))
    return found


def _columns(tree: Tree, competing: set[int]) -> list[int]:
    """The columns that the page lists: all, or of very many those that it needs."""
    if len(tree.schema.columns) <= MOST_COLUMNS:
        return list(range(len(tree.schema.columns)))
    return sorted({*asked_columns(tree), *competing})


def _placed(tree: Tree, told: dict[str, Any], place: Mapping[int, int]) -> dict[str, Any]:
    """Columns by their places on the page, which the sums follow."""
    sums = {len(tree.schema.columns) + i: len(place) + i for i in range(len(tree.directions))}
    places = {**place, **sums}
    return told | {"feature": [places.get(column, -1) for column in told["feature"]]}


def _target(tree: Tree) -> dict[str, Any]:
    """What is predicted, and what is lost by wrong answers."""
    target = tree.schema.targets[0]
    words = class_words(tree)
    if target.classes is None:
        name = f"mean {NUMBER_LOSSES[tree.criterion]}"
    else:
        name = "errors" if target.costs is None else "mean cost"
    return {
        "kind": "numbers" if target.classes is None else "classes",
        "target": target.name,
        "classes": words,
        "colours": list(class_colours(tree)),
        "loss": {"name": name, "share": name == "errors"},
        "costs": None if target.costs is None else shorts(target.costs, ALL_DIGITS),
    }


def _title(subject: Subject) -> str:
    return f"A decision tree for {subject.shown.schema.targets[0].name}"


def _train_notes(train: Rows, subject: Subject) -> list[str]:
    """Training rows that are not those of the tree are worth a word."""
    own: NDArray[Any] = subject.shown.rows
    if np.array_equal(train.rows, own):
        if np.isclose(train.weight, float(subject.shown.weight[0]), rtol=1e-9):
            return []
        return ["The tree was grown with other weights than those of the training rows that were given."]
    grown, given = row_count(int(own[0])), row_count(int(train.rows[0]))
    return [
        f"The tree was grown from {grown}; the training rows that were given are {given}: what is shown of "
        "training rows is counted on these."
    ]


def tree_text(tree: Tree) -> str:
    """The tree as text; of a large one the first levels."""
    if tree.n_nodes <= MOST_LINES:
        return render(tree)
    by_depth = np.cumsum(np.bincount(tree.levels[~tree.joined]))
    return render(tree, max_depth=max(int(np.searchsorted(by_depth, MOST_LINES, side="right")) - 1, 1))
