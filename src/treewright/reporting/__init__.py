"""Reporting: all about a tree in one HTML file that needs no network and no other file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from treewright._atomic import replacing
from treewright.advice import Advice
from treewright.certifying.binomial import check_delta
from treewright.reporting.certificates import refuse_known_rows
from treewright.reporting.html_page import assembled, framed
from treewright.reporting.payload import facts
from treewright.reporting.samples import NAMES
from treewright.reporting.subject import curtailed, subject_of
from treewright.tree.evaluate import given_rows

__all__ = ["Report", "report"]


@dataclass(frozen=True, eq=False)
class Report:
    """A report: `html` is the whole page, `payload` what it says as plain values."""

    payload: dict[str, Any] = field(repr=False)

    @cached_property
    def html(self) -> str:
        """The page as text, with all that it needs."""
        return assembled(self.payload)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, which is replaced as a whole or not at all."""
        page = self.html.encode()
        with replacing(path) as file:
            file.write(page)

    def _repr_html_(self) -> str:
        return framed(self.html)

    def __repr__(self) -> str:
        return f"<Report: {self.payload['title']!r}; save it as an HTML file>"

    def __str__(self) -> str:
        headline = self.payload["headline"]
        beside = headline.get("metrics")
        lines = [self.payload["title"], headline["text"], headline["manager"]]
        return "\n".join(lines if beside is None else [*lines, beside["comparison"]])


def report(
    model: Any,
    *,
    train: Any = None,
    validation: Any = None,
    test: Any = None,
    path: Any = None,
    title: str | None = None,
    delta: float = 0.05,
    seed: int = 0,
    methods: Sequence[str] | None = None,
    advice: Sequence[Advice] | None = None,
) -> Report:
    """Everything about a tree in one HTML page: its error with a certificate, the tree, a slider over its
    prunings, its columns, its quality, its rules, and how to make it again.

    Parameters
    ----------
    model : Tree, PruningPath or fitted estimator
        The tree, of one target. Of a path the chosen tree; an estimator that prunes brings its path.
    train, validation, test : Dataset, or tuple (X, y) or (X, y, weight), optional
        The rows that grew the tree, those that chose its size, and rows that did neither; from the last ones
        comes the certificate. The page shows counts and summaries, never rows. What is not given is not
        shown; of the training rows the tree itself knows the counts.
    path : PruningPath, optional
        Where the tree comes from, if the model does not bring it. The slider leaves out its trees of more
        than 5,000 leaves, but for the model itself.
    title : str, optional
        The title of the page.
    delta : float
        The chance with which the certificate may fail.
    seed : int
        Of the shuffling that tells how much each column matters.
    methods : list of str, optional
        Pruning methods on the slider beside that of the model; by default those that apply.
    advice : list of Advice, optional
        What the section "Worth knowing" says; by default what the adviser finds in the rows and the model.

    Returns
    -------
    Report
        ``.save("report.html")`` writes the page, ``.payload`` holds its facts.

    Examples
    --------
    >>> from treewright import encode, grow, report
    >>> train = encode({"x": range(8)}, ["a", "a", "a", "a", "b", "b", "b", "b"])
    >>> test = encode({"x": range(100)}, ["a"] * 6 + ["b"] * 94, schema=train.schema)
    >>> made = report(grow(train), train=train, test=test)
    >>> print(made.payload["headline"]["manager"])
    On 100 rows it had never seen it was wrong for 2.0 %; with 95 % confidence it is wrong for less than \
6.2 % of such rows.
    """
    check_delta(delta)
    if title is not None and not isinstance(title, str):
        raise TypeError(f"title must be text, not {type(title).__name__}")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed is {seed!r}; it must be a whole number of at least 0")
    subject = subject_of(model, path)
    given = dict(zip(NAMES, (train, validation, test), strict=True))
    rows = {
        name: given_rows(subject.grown, part, name, judging=name == "test")
        for name, part in given.items()
        if part is not None
    }
    refuse_known_rows(model, subject, rows)
    subject = curtailed(subject)
    return Report(
        facts(
            model,
            subject,
            rows,
            title=title,
            delta=float(delta),
            seed=int(seed),
            methods=methods,
            advice=advice,
        )
    )
