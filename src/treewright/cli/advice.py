"""Advice on the command line: on the columns of a table as it is read, and as a list for programs."""

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
    """Advice on the table, the parts and the tree of a fit; `limits` are parameters of `grow`,
    `reading` how texts were read.
    """
    return fit_advice(
        fit.tree,
        fit.parts.training,
        table=fit.data,
        test=fit.parts.test,
        grown=fit.grown,
        path=fit.path,
        limits=limits,
        tested=fit.scores.get("test"),
        delta=delta,
        reading=reading,
    )


def advice_on_rows(tree: Tree, rows: Mapping[str, Dataset], delta: float) -> Advices:
    """Advice on a model and the rows of `--train` and `--test`, in the words of the command line."""
    test = rows.get("--test")
    tested = None if test is None else metrics(tree, test)
    found = fit_advice(tree, rows.get("--train"), test=test, tested=tested, delta=delta)
    return Advices(for_pages(found))


def for_pages(advice: Iterable[Advice]) -> list[Advice]:
    """The same advice for a page that a command writes: what to try are its options."""
    return [replace(each, in_python=each.on_command_line) for each in advice]


def advice_on_frame(
    frame: Frame, kinds: dict[str, str], target: str | None, reading: list[Advice]
) -> Advices:
    """Advice on a table, with `reading`, that on how its texts were read; with a target also on what tells
    it.
    """
    if target is None:
        chosen: dict[str, Any] = {name: kind for name, kind in kinds.items() if name in frame.columns}
        said = frame.conventions.arguments(list(frame.columns))
        data, _ = encode_with_advice(dict(frame.columns), kinds=chosen, **said)
    else:
        roles = Roles(target, None, [], kinds, None)
        data, _ = roles.encoded(frame, rows_with_target(frame, target, drop=True))
    return table_advice(data, reading=reading)
