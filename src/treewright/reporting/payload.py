"""The payload of a report: all that the page shows, as plain lists, numbers and texts.

To add a section: write a function in a file of this package that returns its plain values, add one line with
its name to the dict in `payload_of`, and draw it in a new file of `page/`, whose styles and scripts are
included in the order of their names. A value of None leaves the section out.
"""

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
from treewright.explaining.rules import rules
from treewright.exporting.text import render
from treewright.plotting.scene import class_colours
from treewright.reporting.certificates import headline_guarantee
from treewright.reporting.columns import (
    competitor_facts,
    competitors_as_json,
    distribution_facts,
    importance_facts,
)
from treewright.reporting.headline import (
    advice_facts,
    evaluation_metrics,
    figure_facts,
    find_advice,
    headline_text,
)
from treewright.reporting.nodes import (
    class_words,
    column_facts,
    column_summaries,
    named_categories,
    sum_facts,
    surrogate_facts,
    tree_facts,
)
from treewright.reporting.reproduction import reproduction
from treewright.reporting.rounding import ALL_DIGITS, shorts
from treewright.reporting.samples import AnySample, Sample, TrainingSample, intervals, sample_facts
from treewright.reporting.slider import slider_facts, slider_paths
from treewright.reporting.subject import Subject, shorten
from treewright.tree import Tree
from treewright.tree.missing import divides, sent_by_others
from treewright.tree.oblique import asked_columns

FORMAT = 1
MOST_COLUMNS = 300  # of more columns, those that are tested or compete
MOST_LINES = 1_000  # of the tree as text
MOST_RULES = 300
MOST_CONDITIONS = 6_000  # of all rules together


def payload_of(
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
    tree, samples = subject.shown, _samples(subject.shown, rows)
    train = samples["train"]
    known = column_summaries(tree, train.cells) if isinstance(train, Sample) else {}
    rivals = competitor_facts(subject, samples)
    columns = _columns(tree, {each.position for found in rivals.values() for each in found})
    place = {column: i for i, column in enumerate(columns)}
    named = named_categories(tree, {i: own["counts"] for i, own in known.items() if "counts" in own})
    paths, unshown = slider_paths(subject, samples, methods)
    manager, resting = headline_guarantee(subject, samples, rows.get("train"), delta)
    if any(isinstance(sample, Sample) and divides(tree, sample.data) for sample in samples.values()):
        resting = [*resting, _FRACTIONS]
    evaluated = evaluation_metrics(subject, samples)
    advice = find_advice(subject, rows, evaluated, delta) if advice is None else advice
    notes = [*subject.notes, *_train_notes(train, subject), *resting, *unshown]
    payload: dict[str, Any] = {
        "format": FORMAT,
        "title": shorten(title, 200) if title is not None else _title(subject),
        "headline": {
            "text": headline_text(subject),
            "manager": manager,
            "metrics": figure_facts(evaluated),
            "notes": notes,
        },
        "advice": advice_facts(advice),
        **_target(tree),
        "delta": delta,
        "columns": column_facts(tree, named, columns, known),
        "sums": sum_facts(tree, place),
        "tree": _with_page_columns(tree, tree_facts(tree, named), place),
        "samples": {name: sample_facts(sample, subject.inside) for name, sample in samples.items()},
        "intervals": intervals(samples, delta),
        "surrogates": surrogate_facts(tree, named, place),
        "competitors": competitors_as_json(tree, rivals, place),
        "paths": [slider_facts(path, samples, delta) for path in paths],
        "importance": importance_facts(subject, samples, place, seed, delta),
        "distributions": distribution_facts(subject, train, place) if isinstance(train, Sample) else None,
        "rules": rules_text(subject.chosen),
        "text": tree_text(subject.chosen),
        "reproduce": reproduction(model, subject, rows, seed),
    }
    return {name: value for name, value in payload.items() if value is not None or name == "costs"}


_FRACTIONS = (
    "Rows with missing values are split over several leaves: counts of nodes and of the slider add up their "
    "fractions, while the error in the headline is that of their predictions, the mixture of these leaves."
)


def _samples(tree: Tree, rows: Mapping[str, Dataset]) -> dict[str, AnySample]:
    """The samples that were given; without training rows, what the tree remembers of them."""
    found: dict[str, AnySample] = {} if "train" in rows else {"train": TrainingSample(tree)}
    for name, data in rows.items():
        same = data.schema == tree.schema
        found[name] = Sample(tree, data if same else replace(data, schema=tree.schema))
    return found


def _columns(tree: Tree, competing: set[int]) -> list[int]:
    """The columns that the page lists: all, or of very many those that it needs."""
    if len(tree.schema.columns) <= MOST_COLUMNS:
        return list(range(len(tree.schema.columns)))
    return sorted({*asked_columns(tree), *competing})


def _with_page_columns(tree: Tree, facts: dict[str, Any], place: Mapping[int, int]) -> dict[str, Any]:
    """The features as indices of the page's columns, followed by the sums."""
    sums = {len(tree.schema.columns) + i: len(place) + i for i in range(len(tree.directions))}
    places = {**place, **sums}
    return facts | {"feature": [places.get(column, -1) for column in facts["feature"]]}


def _target(tree: Tree) -> dict[str, Any]:
    """The target and the loss of wrong predictions."""
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


def _train_notes(train: AnySample, subject: Subject) -> list[str]:
    """A note where the training rows given are not those that the tree was grown from."""
    own: NDArray[Any] = subject.shown.rows
    if np.array_equal(train.rows, own):
        if np.isclose(train.weight, float(subject.shown.weight[0]), rtol=1e-9):
            return []
        return ["The tree was grown with other weights than the training rows given here have."]
    grown, given = row_count(int(own[0])), row_count(int(train.rows[0]))
    return [
        f"The tree was grown from {grown}, but {given} were given as training rows: counts of training rows "
        "on this page are of the latter."
    ]


def rules_text(tree: Tree) -> str:
    """The rules of a tree as text, or a note that it is too large for them."""
    if tree.n_leaves > MOST_RULES or int(tree.depths[tree.is_leaf].sum()) > 10 * MOST_CONDITIONS:
        return f"The tree has {tree.n_leaves:,} leaves, too many to read as rules; prune it first."
    if not sent_by_others(tree):
        return str(rules(tree))
    complete = replace(rules(tree.with_missing("learn")), with_missing=frozenset())
    return f"For rows without missing values in the columns of a rule:\n{complete}"


def tree_text(tree: Tree) -> str:
    """The tree as text; of a large one the first levels."""
    if tree.n_nodes <= MOST_LINES:
        return render(tree)
    by_depth = np.cumsum(np.bincount(tree.levels[~tree.joined]))
    return render(tree, max_depth=max(int(np.searchsorted(by_depth, MOST_LINES, side="right")) - 1, 1))
