"""`report`: everything about a tree in one self-contained HTML file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from treewright._atomic import replacing
from treewright._suggestions import checked_keywords
from treewright.advice import Advice
from treewright.certifying.binomial import check_delta
from treewright.encoding.rows import one_argument
from treewright.encoding.splits import checked_seed
from treewright.reporting.context import Context, payload_of
from treewright.reporting.html_page import assemble, iframe
from treewright.reporting.known_rows import refuse_known_rows
from treewright.reporting.samples import SAMPLE_NAMES
from treewright.reporting.subject import limit_slider, subject_of
from treewright.tree.evaluate import given_rows

__all__ = ["Report", "report"]


@dataclass(frozen=True, eq=False)
class Report:
    """A report: `html` is the whole page, `payload` the numbers and texts that it shows, as plain values."""

    payload: dict[str, Any] = field(repr=False)

    @cached_property
    def html(self) -> str:
        """The page, with its style and script inside."""
        return assemble(self.payload)

    @checked_keywords
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file atomically."""
        page = self.html.encode()
        with replacing(path) as file:
            file.write(page)

    def _repr_html_(self) -> str:
        return iframe(self.html)

    def __repr__(self) -> str:
        return f"<Report: {self.payload['title']!r}; save it as an HTML file>"

    def __str__(self) -> str:
        headline = self.payload["headline"]
        beside = headline.get("metrics")
        lines = [self.payload["title"], headline["text"], headline["manager"]]
        return "\n".join(lines if beside is None else [*lines, beside["comparison"]])


@checked_keywords
def report(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    train: Any = None,
    validation: Any = None,
    test: Any = None,
    delta: float = 0.05,
    path: Any = None,
    methods: Sequence[str] | None = None,
    random_state: int = 0,
    title: str | None = None,
    advice: Sequence[Advice] | None = None,
) -> Report:
    """Everything about a tree in one HTML page: its error with a certificate, the tree, a slider over its
    prunings, permutation importance, confusion matrix, ROC and calibration, rules, and how to reproduce it.

    Parameters
    ----------
    model : Tree, PruningPath, Optimum or fitted estimator
        A tree with one target. Of a path the selected tree is reported; a pruned estimator brings its path.
        An optimum, or the estimator of one, brings what is proved of its tree.
    X : table, tuple (table, target) or Dataset, optional
        Rows that were used for nothing yet, which the certificate is computed from: `test` by position.
    y : str or array, optional
        Of a table: its target column, or its targets.
    train, validation, test : Dataset, or tuple (X, y) or (X, y, weight), optional
        The rows that the tree was grown from, those that selected its size, and rows used for neither, which
        the certificate is computed from. The page shows counts and summaries, never single rows. Sections
        without data are left out; the tree itself remembers the counts of its training rows.
    path : PruningPath, optional
        The pruning path of the tree, if the model has none of its own. The slider omits trees of more than
        5,000 leaves, except for the model itself.
    title : str, optional
        The title of the page.
    delta : float
        The certificate holds with probability at least ``1 - delta``.
    random_state : int
        Seed of the permutation importance.
    methods : list of str, optional
        Pruning methods offered on the slider besides the model's own; by default all that apply.
    advice : list of Advice, optional
        Content of the section "Worth knowing"; by default what `advise` finds in the data and the model.

    Returns
    -------
    Report
        ``.save("report.html")`` writes the page; ``.payload`` has its numbers and texts.

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
    random_state = checked_seed(random_state)
    subject = subject_of(model, path)
    test = one_argument("report", X, y, "test", test)
    rows = {
        name: given_rows(subject.full_tree, sample, name, judging=name == "test")
        for name, sample in zip(SAMPLE_NAMES, (train, validation, test), strict=True)
        if sample is not None
    }
    refuse_known_rows(model, subject, rows)
    subject = limit_slider(subject)
    context = Context(model, subject, rows, float(delta), random_state, methods, advice)
    return Report(payload_of(context, title))
