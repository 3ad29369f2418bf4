"""The headline of a report: what was learnt, and its error beside a constant answer and other metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from treewright._text import row_count
from treewright.advice import Advice
from treewright.advising import Advices, fit_advice
from treewright.encoding import Dataset
from treewright.metrics import Metrics, class_word, constant_answer, metrics, rarer_class
from treewright.reporting.nodes import class_words
from treewright.reporting.parts import NAMES, ROWS_IN_WORDS, Part, Rows
from treewright.reporting.subjects import Subject
from treewright.tree.oblique import asked_columns


def headline_text(subject: Subject) -> str:
    """What was learnt, from how many rows, how large it is."""
    tree, target = subject.chosen, subject.shown.schema.targets[0]
    words = class_words(tree)
    named = f" ({', '.join(words[:-1])} or {words[-1]})" if 1 < len(words) <= 4 else ""
    if len(words) > 4:
        named = f" ({len(words):,} classes)"
    if target.classes is None:
        named = " (a number)"
    asked = len(asked_columns(tree))
    n_columns = len(tree.schema.columns)
    columns = "its one column" if n_columns == 1 else f"{asked:,} of {n_columns:,} columns"
    size = f"the tree has {tree.n_leaves:,} leaves and asks {columns}"
    if tree.n_leaves == 1:
        size = "the tree is a single leaf, which asks nothing"
    return f"Predicts {target.name}{named}. Learnt from {row_count(int(tree.rows[0]))}; {size}."


def judged_metrics(subject: Subject, parts: Mapping[str, Rows]) -> dict[str, Metrics]:
    """The metrics of the model on the rows that say most about new ones, by the name of their part; nothing
    where no rows were given.
    """
    given = {name: parts[name] for name in NAMES if name in parts}
    known = {name: part.data for name, part in given.items() if isinstance(part, Part)}
    if not known:
        return {}
    name, data = list(known.items())[-1]
    train = known.get("train")
    positive = rarer_class(data if train is None else train) if data.schema.predicts_classes else None
    constant = constant_answer(subject.chosen, train)
    return {name: metrics(subject.chosen, data, constant=constant, positive=positive)}


def figure_facts(judged: Mapping[str, Metrics]) -> dict[str, Any] | None:
    """What the page shows beside the error; None where no rows were given."""
    for name, found in judged.items():
        positive = None if found.positive is None else class_word(found.positive.name)
        return {
            "part": name,
            "comparison": _sentence(found.comparison(ROWS_IN_WORDS[name].removesuffix(" rows"))),
            "always": f"always answering {found.quoted_constant}",
            "always_error": found.in_words(found.constant_error),
            "positive": positive,
            "figures": [[figure, value] for figure, value in found.figures],
        }
    return None


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def advice_on(
    subject: Subject, rows: Mapping[str, Dataset], judged: Mapping[str, Metrics], delta: float
) -> Advices:
    """What is worth knowing about the rows and the model."""
    return fit_advice(
        subject.model,
        rows.get("train"),
        test=rows.get("test"),
        path=subject.path,
        tested=judged.get("test"),
        delta=delta,
    )


def advice_facts(advice: Iterable[Advice]) -> list[dict[str, Any]]:
    """Pieces of advice as the page shows them."""
    return [
        {"code": each.code, "column": each.column, "text": each.text, "try": each.in_python}
        for each in advice
    ]
