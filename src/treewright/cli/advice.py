"""Advice on the command line: on a table, a fit, a saved tree with rows; as a list for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from treewright.advice import Advice
from treewright.advising import Advices, fit_advice, table_advice
from treewright.cli.summary import Fit
from treewright.cli.tables.labelled import Roles, rows_with_target
from treewright.cli.tables.reader import Frame
from treewright.encoding import Dataset, encode_with_advice
from treewright.metrics import metrics
from treewright.tree import Tree


def advice_document(advice: Iterable[Advice]) -> list[dict[str, Any]]:
    """Pieces of advice for programs."""
    return [
        {"code": each.code, "column": each.column, "text": each.text, "try": each.on_command_line}
        for each in advice
    ]


def advice_on_fit(fit: Fit, limits: dict[str, Any], delta: float, reading: list[Advice]) -> Advices:
    """Advice on the table, the parts and the tree of a fit; `limits` are arguments of `grow`, `reading` is
    advice on how texts were read.
    """
    return fit_advice(
        fit.tree,
        fit.parts.training,
        table=fit.data,
        test=fit.parts.test,
        grown=fit.unpruned,
        path=fit.path,
        limits=limits,
        tested=fit.scores.get("test"),
        delta=delta,
        reading=reading,
    )


def advice_on_rows(tree: Tree, rows: Mapping[str, Dataset], delta: float) -> Advices:
    """Advice on a model and the rows of `--train` and `--test`, in the words of the command line."""
    test = rows.get("test")
    scores = None if test is None else metrics(tree, test)
    return Advices(for_pages(fit_advice(tree, rows.get("train"), test=test, tested=scores, delta=delta)))


def for_pages(advice: Iterable[Advice]) -> list[Advice]:
    """The same advice for a page that a command writes: the remedies are options."""
    return [replace(each, in_python=each.on_command_line) for each in advice]


def advice_on_frame(
    frame: Frame, kinds: dict[str, str], target: str | None, reading: list[Advice]
) -> Advices:
    """Advice on a table, with `reading`, that on its texts; with a target also on leaks of the target."""
    if target is None:
        known: dict[str, Any] = {name: kind for name, kind in kinds.items() if name in frame.columns}
        options = frame.source.conventions.arguments(list(frame.columns))
        data, _ = encode_with_advice(dict(frame.columns), kinds=known, **options)
    else:
        roles = Roles(target, kinds=kinds)
        data, _ = roles.encode(frame, rows_with_target(frame, target, drop=True))
    return table_advice(data, reading=reading)
