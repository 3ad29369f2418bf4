"""`treewright report`: a saved tree as one page to read, to try and to print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from treewright.advising import Advices, fit_advice
from treewright.cli import options as opt
from treewright.cli.console import Voice, for_pages
from treewright.cli.errors import Misuse, check_output, in_options, writing_to
from treewright.cli.model_files import open_model, report_name
from treewright.cli.tables.labelled import rows_for_tree
from treewright.growing import n_threads
from treewright.metrics import metrics
from treewright.reporting import report as report_on


def report(
    model: opt.Model,
    /,
    *,
    output: opt.Output = None,
    title: str | None = None,
    test: opt.Rows = None,
    validation: opt.Rows = None,
    train: opt.Rows = None,
    delta: opt.Delta = 0.05,
    random_state: opt.RandomState = 0,
    n_jobs: opt.Jobs = -1,
    labelled: opt.Labelled = opt.LABELLED,
    style: opt.Style = opt.TEXT,
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
    if output == opt.PIPE:
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
            scores = metrics(tree, rows["test"]) if "test" in rows else None
            advice = fit_advice(tree, rows.get("train"), test=rows.get("test"), tested=scores, delta=delta)
            options: dict[str, Any] = {**rows, "title": title, "advice": Advices(for_pages(advice))}
            page = report_on(tree, delta=delta, random_state=random_state, **options)
            page.save(file)
    headline = page.payload["headline"]["manager"]
    voice.summarize(
        lambda: f"Written to {file}; open it in a browser\n\n{headline}",
        lambda: {"model": str(model), "headline": headline, "files": {"report": str(file)}},
    )
