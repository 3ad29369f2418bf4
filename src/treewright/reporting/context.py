"""What the sections of a report are made from, and the payload: plain lists, numbers and texts.

To add a section, add two files of its name: `sections/<name>.py` with a function ``values(context)``, whose
result is the entry of that name in the payload (None leaves it out), and
`page/sections/<number>_<name>.js`, which draws it; the number is its place on the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from treewright._text import LONGEST_LIST
from treewright.advice import Advice
from treewright.encoding import Dataset
from treewright.explaining.competitors import Competitor, competitors
from treewright.metrics import Metrics, constant_answer, metrics, rarer_class
from treewright.plotting.scene import class_colours
from treewright.reporting import nodes
from treewright.reporting.rounding import ALL_DIGITS, short, shorts
from treewright.reporting.samples import AnySample, Sample, TrainingSample, intervals, sample_facts
from treewright.reporting.slider import SliderPath, slider_paths
from treewright.reporting.subject import Subject, shorten
from treewright.tree import Tree
from treewright.tree.conditions import OR_MISSING
from treewright.tree.number_losses import NUMBER_LOSSES
from treewright.tree.oblique import asked_columns

FORMAT = 1
MOST_COLUMNS = 300  # of more columns, those that are tested or compete
MOST_COMPETED = 64  # branches with competitors
MOST_COMPETITORS = 5  # of each
FEWEST_ROWS = 5  # of a category that is named although the tree does not test it
_MOST_CELLS_COMPETED = 12_000_000  # rows × columns searched for competitors; the root always is
_MOST_SPLITS = 4_000  # searches, of one node by one column


@dataclass(frozen=True, eq=False)
class Context:
    """The arguments of a report, and what several sections use."""

    model: Any
    subject: Subject
    rows: Mapping[str, Dataset]  # as given, by the names of the samples
    delta: float
    seed: int
    methods: Sequence[str] | None = None
    advice: Sequence[Advice] | None = None

    @property
    def tree(self) -> Tree:
        """The largest tree of the slider, with shortened names."""
        return self.subject.tree

    @cached_property
    def full_samples(self) -> dict[str, Sample]:
        """The samples at the nodes of the tree: training, validation, test."""
        schema = self.tree.schema
        return {
            name: Sample(self.tree, data if data.schema == schema else replace(data, schema=schema))
            for name, data in self.rows.items()
        }

    def sample(self, name: str) -> Sample | None:
        """A sample, if it was given."""
        return self.full_samples.get(name)

    @property
    def samples(self) -> dict[str, AnySample]:
        """The samples; without training rows, their counts at the nodes of the tree."""
        own: dict[str, AnySample] = {} if "train" in self.rows else {"train": TrainingSample.of(self.tree)}
        return own | dict(self.full_samples)

    @cached_property
    def competitors(self) -> dict[int, list[Competitor]]:
        """The competitors of the largest branches."""
        return _largest_competitors(self.subject, self.sample("train"))

    @cached_property
    def columns(self) -> list[int]:
        """The columns that the page lists: all, or of very many those that it needs."""
        if len(self.tree.schema.columns) <= MOST_COLUMNS:
            return list(range(len(self.tree.schema.columns)))
        competing = {each.position for found in self.competitors.values() for each in found}
        return sorted({*asked_columns(self.tree), *competing})

    @cached_property
    def place(self) -> dict[int, int]:
        """The index of each column on the page."""
        return {column: i for i, column in enumerate(self.columns)}

    @cached_property
    def metrics(self) -> tuple[str, Metrics] | None:
        """The metrics of the model on the most independent sample, and its name; None without rows."""
        if not self.full_samples:
            return None
        name, sample = list(self.full_samples.items())[-1]
        train = self.sample("train")
        data = sample.data
        positive = None
        if data.schema.predicts_classes:
            positive = rarer_class(data if train is None else train.data)
        constant = constant_answer(self.subject.model_tree, None if train is None else train.data)
        return name, metrics(self.subject.model_tree, data, constant=constant, positive=positive)

    @cached_property
    def slider(self) -> tuple[list[SliderPath], list[str]]:
        """The paths of the slider, and notes on methods that are not on it."""
        return slider_paths(self.subject, self.full_samples, self.methods)


def payload_of(context: Context, title: str | None) -> dict[str, Any]:
    """The payload of the page: the tree with its samples, and the entry of each section."""
    from treewright.reporting.sections import SECTIONS  # whose files import this one

    target = context.tree.schema.targets[0].name
    payload: dict[str, Any] = {
        "format": FORMAT,
        "title": f"A decision tree for {target}" if title is None else shorten(title, 200),
        "delta": context.delta,
        "or_missing": OR_MISSING,
        **_target_facts(context.tree),
        **_tree_facts(context),
        **{name: SECTIONS.function(name)(context) for name in SECTIONS.names},
    }
    return {name: value for name, value in payload.items() if value is not None or name == "costs"}


def _tree_facts(context: Context) -> dict[str, Any]:
    """The tree, its columns and the samples at its nodes."""
    tree, place, train = context.tree, context.place, context.sample("train")
    summaries = {} if train is None else nodes.column_summaries(tree, train.cells)
    counts = {i: own["counts"] for i, own in summaries.items() if "counts" in own}
    named = nodes.named_categories(tree, counts)
    facts = nodes.tree_facts(tree, named)
    places = {**place, **{len(tree.schema.columns) + i: len(place) + i for i in range(len(tree.directions))}}
    facts["feature"] = [places.get(column, -1) for column in facts["feature"]]  # followed by the sums
    return {
        "tree": facts,
        "columns": nodes.column_facts(tree, named, context.columns, summaries),
        "sums": nodes.sum_facts(tree, place),
        "samples": {
            name: sample_facts(sample, context.subject.inside) for name, sample in context.samples.items()
        },
        "intervals": intervals(context.full_samples, context.delta),
        "surrogates": nodes.surrogate_facts(tree, named, place),
        "competitors": _competitors_as_json(tree, context.competitors, place),
    }


def _target_facts(tree: Tree) -> dict[str, Any]:
    """The target and the loss of wrong predictions."""
    target = tree.schema.targets[0]
    words = nodes.class_words(tree)
    if target.classes is None:
        name = f"mean {NUMBER_LOSSES[tree.criterion].words}"
    else:
        name = "error rate" if target.costs is None else "mean cost"
    return {
        "kind": "numbers" if target.classes is None else "classes",
        "target": target.name,
        "classes": words,
        "colours": list(class_colours(tree)),
        "loss": {"name": name, "share": name == "error rate"},
        "costs": None if target.costs is None else shorts(target.costs, ALL_DIGITS),
    }


# ---- competitors ------------------------------------------------------------------------------------------


def _largest_competitors(subject: Subject, train: Sample | None) -> dict[int, list[Competitor]]:
    """The competitors of the branches with the most rows, those of the model first."""
    if train is None:
        return {}
    tree = subject.tree
    inner = np.flatnonzero(~tree.is_leaf)
    is_branch = subject.inside.copy()
    is_branch[subject.leaves] = False
    most = min(MOST_COMPETED, _MOST_SPLITS // train.data.n_columns)
    order = inner[np.lexsort((-train.rows[inner], ~is_branch[inner]))][:most]
    cells = np.cumsum(train.rows[order]) * train.data.n_columns
    wanted = np.sort(order[(cells <= _MOST_CELLS_COMPETED) | (order == 0)])
    found = competitors(tree, train.data, nodes=wanted.tolist(), most=MOST_COMPETITORS).by_node
    used = set(asked_columns(tree))
    return {
        node: [each for each in rivals if each.position in used or _names_no_rare_category(each, train)]
        for node, rivals in found.items()
    }


def _names_no_rare_category(rival: Competitor, train: Sample) -> bool:
    """Privacy: a category that only a few rows have could identify them, so a split must not name it."""
    if rival.split.subset[0] < 0:
        return True
    cells, goes_left = train.cells[rival.position], rival.split.goes_left(0)
    rows = np.bincount(cells[cells >= 0], minlength=len(goes_left))
    sides = [np.flatnonzero(goes_left), np.flatnonzero(~goes_left)]
    named = min(sides, key=len)[:LONGEST_LIST]
    return bool((rows[named] >= FEWEST_ROWS).all())


def _competitors_as_json(
    tree: Tree, rivals: dict[int, list[Competitor]], place: Mapping[int, int]
) -> dict[str, list[dict[str, Any]]]:
    """Competitors for the payload: gains as shares of the risk at the root, columns by their index there."""
    risk = float(tree.risk[0]) or 1.0
    return {
        str(node): [
            {"words": each.words, "gain": short(each.gain / risk, 4), "column": place[each.position]}
            for each in found
        ]
        for node, found in rivals.items()
        if found
    }
