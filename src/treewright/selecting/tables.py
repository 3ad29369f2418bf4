"""A comparison as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treewright.selecting.comparing import Comparison

_LOSSES = ("training", "validation", "test", "certificate")


def aligned(comparison: Comparison) -> Iterator[str]:
    """The table, with a line above that says whose rows, and lines below for what could not be done."""
    schema = comparison.schema
    in_per_cent = schema.predicts_classes and not schema.has_costs
    train, validation, test = (f"{n:,}" for n in comparison.n_rows)
    yield f"grown from {train} rows; {validation} to prune and choose by, {test} to test"
    names = ["method", "chosen by", "leaves", "training", "validation", "test", "below", "seconds"]
    if not any(row["certificate"] is not None for row in comparison.rows):
        names.remove("below")
    lines = [names]
    for row in comparison.rows:
        if row["trouble"] is None:
            losses = [_loss(row[name], in_per_cent) for name in _LOSSES]
            cells = [row["method"], row["by"], f"{row['leaves']:,}", *losses, f"{row['seconds']:.2f}"]
            if "below" not in names:
                del cells[6]
            lines.append(cells)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [cell.ljust(width) for cell, width in zip(line[:2], widths[:2], strict=True)]
        cells += [cell.rjust(width) for cell, width in zip(line[2:], widths[2:], strict=True)]
        yield "  ".join(cells).rstrip()
    for row in comparison.rows:
        if row["trouble"] is not None:
            yield f"{row['method']}: {row['trouble']}"
    if "below" in names:
        sure = f"{100 * (1 - comparison.delta):g} %"
        yield f"below: where the true error is with {sure} confidence, for a line picked before looking"


def _loss(loss: Any, in_per_cent: bool) -> str:
    if loss is None:
        return "–"
    return f"{100 * loss:.1f} %" if in_per_cent else f"{loss:.4g}"
