"""The section "Worth knowing": advice on the data and the model."""

from __future__ import annotations

from typing import Any

from treewright.advising import fit_advice
from treewright.reporting.context import Context


def values(context: Context) -> list[dict[str, Any]]:
    """The advice of the caller, or what `advise` has for the data and the model."""
    advice = context.advice
    if advice is None:
        advice = fit_advice(
            context.subject.model,
            context.rows.get("train"),
            test=context.rows.get("test"),
            path=context.subject.path,
            tested=context.metrics[1] if context.metrics and context.metrics[0] == "test" else None,
            delta=context.delta,
        )
    return [
        {"code": each.code, "column": each.column, "text": each.text, "try": each.in_python}
        for each in advice
    ]
