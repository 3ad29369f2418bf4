"""The headline of a report: target, error next to a constant prediction, other metrics, advice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from treewright._text import row_count
from treewright.advice import Advice
from treewright.advising import Advices, fit_advice
from treewright.encoding import Dataset
from treewright.metrics import Metrics, class_word, constant_answer, metrics, rarer_class
from treewright.reporting.nodes import class_words
from treewright.reporting.samples import ROWS_IN_WORDS, SAMPLE_NAMES, AnySample, Sample
from treewright.reporting.subject import Subject
from treewright.tree.oblique import asked_columns


def headline_text(subject: Subject) -> str:
    """What the tree predicts, how many rows it was grown from, how large it is."""
    tree, target = subject.chosen, subject.shown.schema.targets[0]
    words = class_words(tree)
    named = f" ({', '.join(words[:-1])} or {words[-1]})" if 1 < len(words) <= 4 else ""
    if len(words) > 4:
        named = f" ({len(words):,} classes)"
    if target.classes is None:
        named = " (a number)"
    n_columns = len(tree.schema.columns)
    columns = "its one column" if n_columns == 1 else f"{len(asked_columns(tree)):,} of {n_columns:,} columns"
    size = f"the tree has {tree.n_leaves:,} leaves and tests {columns}"
    if tree.n_leaves == 1:
        size = "the tree is a single leaf without tests"
    return f"Predicts {target.name}{named}. Grown from {row_count(int(tree.rows[0]))}; {size}."


def evaluation_metrics(subject: Subject, samples: Mapping[str, AnySample]) -> dict[str, Metrics]:
    """The metrics of the model on the most independent sample given (test, validation, training), by name;
    empty if there is none.
    """
    given = {name: samples[name] for name in SAMPLE_NAMES if name in samples}
    known = {name: sample.data for name, sample in given.items() if isinstance(sample, Sample)}
    if not known:
        return {}
    name, data = list(known.items())[-1]
    train = known.get("train")
    positive = rarer_class(data if train is None else train) if data.schema.predicts_classes else None
    constant = constant_answer(subject.chosen, train)
    return {name: metrics(subject.chosen, data, constant=constant, positive=positive)}


def figure_facts(evaluated: Mapping[str, Metrics]) -> dict[str, Any] | None:
    """The metrics as the page shows them; None where no rows were given."""
    for name, found in evaluated.items():
        positive = None if found.positive is None else class_word(found.positive.name)
        return {
            "sample": name,
            "comparison": _sentence(found.comparison(ROWS_IN_WORDS[name].removesuffix(" rows"))),
            "always": f"always answering {found.quoted_constant}",
            "always_error": found.in_words(found.constant_error),
            "positive": positive,
            "figures": [[figure, value] for figure, value in found.figures],
        }
    return None


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def find_advice(
    subject: Subject, rows: Mapping[str, Dataset], evaluated: Mapping[str, Metrics], delta: float
) -> Advices:
    """Advice on the data and the model."""
    return fit_advice(
        subject.model,
        rows.get("train"),
        test=rows.get("test"),
        path=subject.path,
        tested=evaluated.get("test"),
        delta=delta,
    )


def advice_facts(advice: Iterable[Advice]) -> list[dict[str, Any]]:
    """Advice as the page shows it."""
    return [
        {"code": each.code, "column": each.column, "text": each.text, "try": each.in_python}
        for each in advice
    ]
