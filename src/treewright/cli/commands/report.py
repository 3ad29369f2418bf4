"""`treewright report`: a saved tree as one page to read, to try and to print."""

from __future__ import annotations

from pathlib import Path

from treewright.cli.advice import advice_on_rows
from treewright.cli.console import Voice
from treewright.cli.errors import (
    Misuse,
    check_delta_option,
    check_output,
    in_options,
    thread_count,
    writing_to,
)
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
from treewright.cli.tables.labelled import Labelling
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
    check_delta_option(delta)
    if output == PIPE:
        raise Misuse("-o -: the page is written to a file; name one")
    saved_as = output or report_name(Path(model.name))
    files = {"--train": train, "--validation": validation, "--test": test}
    check_output(saved_as, [model, *(path for path in files.values() if path is not None)])
    voice = Voice(style)
    with voice.stages() as work:
        tree = open_model(model, work)
        rows = Labelling(model, tree, labelled, thread_count(n_jobs)).parts(files, work)
        work.begin("reporting", str(saved_as))
        with in_options(train="--train", validation="--validation", test="--test"):
            made = report_on(
                tree,
                train=rows.get("--train"),
                validation=rows.get("--validation"),
                test=rows.get("--test"),
                title=title,
                delta=delta,
                seed=seed,
                advice=advice_on_rows(tree, rows, delta),
            )
        with writing_to(saved_as):
            made.save(saved_as)
    headline = made.payload["headline"]["manager"]
    voice.summarize(
        lambda: f"Written to {saved_as}; open it in a browser\n\n{headline}",
        lambda: {"model": str(model), "headline": headline, "files": {"report": str(saved_as)}},
    )
