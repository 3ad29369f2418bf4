"""`treewright report`: a saved tree as one page to read, to try and to print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from treewright.cli.advice import advice_on_rows
from treewright.cli.console import Voice
from treewright.cli.errors import Misuse, check_output, in_options, writing_to
from treewright.cli.model_files import open_model, report_name
from treewright.cli.options import (
    LABELLED,
    PIPE,
    TEXT,
    Delta,
    Jobs,
    Labelled,
    Model,
    Output,
    Rows,
    Seed,
    Style,
)
from treewright.cli.tables.labelled import rows_for_tree
from treewright.growing import n_threads
from treewright.reporting import report as report_on


def report(
    model: Model,
    /,
    *,
    output: Output = None,
    title: str | None = None,
    test: Rows = None,
    validation: Rows = None,
    train: Rows = None,
    delta: Delta = 0.05,
    seed: Seed = 0,
    n_jobs: Jobs = -1,
    labelled: Labelled = LABELLED,
    style: Style = TEXT,
) -> None:
    """Write a saved tree as one HTML page: to read, to try rows, to prune by a slider.

    The page needs no network and holds no rows, only counts. `treewright fit` writes one beside the tree.

    Parameters
    ----------
    output
        The file to write; by default the name of the model with .report.html, in this folder.
    title
        The title of the page.
    test
        A table of rows that were not used for growing or pruning, for the errors and the certificate.
    validation
        The table of the rows that chose the size of the tree.
    train
        The table of the rows that grew the tree, for distributions and competing splits.

    Examples
    --------
    treewright report loans.tree.json --test new.csv
        loans.report.html, with errors and a certificate from new.csv
    treewright report loans.tree.json -o loans.html --title "Who repays?"
        the tree alone
    zcat new.csv.gz | treewright report loans.tree.json --test -
        rows from a pipe
    """
    if output == PIPE:
        raise Misuse("-o -: the page is written to a file; name one")
    file = output or report_name(Path(model.name))
    tables = {"train": train, "validation": validation, "test": test}
    check_output(file, [model, *(path for path in tables.values() if path is not None)])
    voice = Voice(style)
    with voice.stages() as work:
        tree = open_model(model, work)
        rows = rows_for_tree(model, tree, labelled, tables, work, n_threads(n_jobs))
        work.begin("reporting", str(file))
        with in_options(train="--train", validation="--validation", test="--test"), writing_to(file):
            advice = advice_on_rows(tree, rows, delta)
            options: dict[str, Any] = {**rows, "title": title, "advice": advice}
            page = report_on(tree, delta=delta, seed=seed, **options)
            page.save(file)
    headline = page.payload["headline"]["manager"]
    voice.summarize(
        lambda: f"Written to {file}; open it in a browser\n\n{headline}",
        lambda: {"model": str(model), "headline": headline, "files": {"report": str(file)}},
    )
