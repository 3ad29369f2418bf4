"""A comparison as a table of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from treewright._text import aligned, amount
from treewright.certifying.certificate import loss_text
from treewright.metrics import class_word
from treewright.plotting import is_share, loss_words

if TYPE_CHECKING:
    from treewright.selecting.comparison import Comparison

_LONGEST_ANSWER = 24  # characters of a class
_LOSSES = ("training", "validation", "test", "certificate")


def table_lines(comparison: Comparison) -> Iterator[str]:
    """The table, with a heading that counts the rows, and notes on failed methods and on the best row."""
    schema = comparison.schema
    in_per_cent = is_share(schema)
    train, validation, test = (f"{n:,}" for n in comparison.n_rows)
    unit = "" if in_per_cent else f"; losses: {loss_words(schema, comparison.criterion)}"
    yield f"grown from {train} rows; {validation} to prune and choose by, {test} to test{unit}"
    most = max(row["grown_from"] or 0 for row in comparison.rows)
    if most > comparison.n_rows[0]:
        yield f"methods that need no rows to choose by: grown from {most:,} rows, as by treewright fit"
    names = ["method", "chosen by", "leaves", "training", "validation", "test", "below", "seconds"]
    if not any(row["certificate"] is not None for row in comparison.rows):
        names.remove("below")
    lines = [names, *_constant_line(comparison, in_per_cent, names)]
    for row in comparison.rows:
        if row["trouble"] is None:
            losses = [_loss(row[name], in_per_cent, up=name == "certificate") for name in _LOSSES]
            cells = [row["method"], row["by"], f"{row['leaves']:,}", *losses, f"{row['seconds']:.2f}"]
            if "below" not in names:
                del cells[6]
            lines.append(cells)
    yield from aligned(lines, right=range(2, len(names)), gap=2)
    for row in comparison.rows:
        if row["trouble"] is not None:
            yield f"{row['method']}: {row['trouble']}"
    if "below" in names:
        sure, what = f"{100 * (1 - comparison.delta):g} %", "cost" if schema.has_costs else "error"
        yield f"below: the true {what} is below it with {sure} confidence, for a line chosen beforehand"
    yield from _best_line(comparison, in_per_cent)


def _best_line(comparison: Comparison, in_per_cent: bool) -> Iterator[str]:
    """The best row, and why its test loss is unbiased."""
    best = comparison.best
    if best is None:
        return
    name = f"{best['method']} ({best['by']})" if best["by"] else best["method"]
    leaves = "1 leaf (one answer for every row)" if best["leaves"] == 1 else f"{best['leaves']:,} leaves"
    what = "error" if in_per_cent else "loss"
    loss = _loss(best["test"], in_per_cent, up=False)
    yield f"best: {name}, {leaves}, test {what} {loss}; chosen as the smallest tree within one standard error"
    yield f"of the least validation {what}, without the test rows: its test {what} is an honest estimate"


def _constant_line(comparison: Comparison, in_per_cent: bool, names: list[str]) -> Iterator[list[str]]:
    """The losses of the best constant prediction; nothing where it is not known."""
    always = comparison.constant
    if not always:
        return
    answer = always["answer"]
    text = amount(answer) if comparison.schema.targets[0].classes is None else class_word(answer)
    text = text if len(text) <= _LONGEST_ANSWER else f"{text[: _LONGEST_ANSWER - 1]}…"
    losses = [_loss(always[name], in_per_cent, up=False) for name in _LOSSES[:3]]
    yield [f"always {text}", "", "1", *losses, *(["–"] * (len(names) - 6))]


def _loss(loss: Any, in_per_cent: bool, up: bool) -> str:
    return "–" if loss is None else loss_text(loss, in_per_cent=in_per_cent, up=up)
