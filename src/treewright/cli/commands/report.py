"""`treewright report`: a saved tree as one page to read, to try and to print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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
    PIPE,
    ROWS,
    USUAL,
    Delta,
    Dialect,
    Jobs,
    Json,
    Model,
    Output,
    Quiet,
    Rows,
    Seed,
    Weights,
)
from treewright.cli.tables.labelled import Labelling
from treewright.reporting import report as report_on


def report(
    model: Model,
    /,
    *,
    output: Output = None,
    title: str | None = None,
    test: Annotated[Rows, ROWS] = None,
    validation: Annotated[Rows, ROWS] = None,
    train: Annotated[Rows, ROWS] = None,
    delta: Delta = 0.05,
    seed: Annotated[Seed, ROWS] = 0,
    weights: Weights = None,
    jobs: Jobs = -1,
    dialect: Dialect = USUAL,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make one HTML page of a saved tree: to read, to try rows, to prune by a slider.

    The page needs no network and holds no rows, only counts. `treewright fit` makes one beside the tree.

    Parameters
    ----------
    output
        The file to write; by default the name of the model with .report.html, in this folder.
    title
        The title of the page.
    test
        A table of rows that had no part in growing and pruning; from them come errors and certificate.
    validation
        The rows that chose the size of the tree.
    train
        The rows that grew it; from them come distributions and what else could have been asked.

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
        raise Misuse("-o -: the page is written to a file, which has a name")
    saved_as = output or report_name(Path(model.name))
    files = {"--train": train, "--validation": validation, "--test": test}
    check_output(saved_as, [model, *(path for path in files.values() if path is not None)])
    voice = Voice(json, quiet)
    with voice.stages() as work:
        work.begin("reading", str(model))
        tree = open_model(str(model))
        labelling = Labelling(model, tree, dialect, weights, thread_count(jobs))
        rows = labelling.parts(files, work)
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
    said = made.payload["headline"]["manager"]
    voice.summarize(
        lambda: f"Written to {saved_as}; open it in a browser\n\n{said}",
        lambda: {"model": str(model), "headline": said, "files": {"report": str(saved_as)}},
    )
