"""Model files, and the pages about them: reading and writing them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from treewright._atomic import replacing
from treewright.advice import Advice
from treewright.cli import current_command
from treewright.cli.console import Stages, for_pages
from treewright.cli.errors import Misuse, Trouble, check_output, count, writing_to
from treewright.cli.options import PIPE
from treewright.cli.summary import Fit
from treewright.cli.tables.sources import TABLE_SUFFIXES, no_file
from treewright.reporting import Report
from treewright.reporting import report as report_on
from treewright.saving import Model, load, trees_in
from treewright.tree import Tree


def open_model(path: Path, work: Stages | None = None) -> Tree:
    """The tree in a model file; Trouble if it is another kind of file, or holds an ensemble."""
    model = open_any_model(path, work)
    if not isinstance(model, Tree):
        trees = count(len(trees_in(model)), "tree")
        raise Trouble(
            f"{path} holds {trees} that predict together ({type(model).__name__}), "
            "but this command takes one tree; only `treewright predict` takes ensembles"
        )
    return model


def open_any_model(file: Path, work: Stages | None = None) -> Model:
    """The tree or the ensemble in a model file; Trouble if it is another kind of file."""
    path = str(file)
    if work is not None:
        work.begin("reading", path)
    if path.lower().removesuffix(".gz").endswith(TABLE_SUFFIXES):
        raise Trouble(
            f"{path} looks like a table, but a model is wanted here (a file that `treewright fit` wrote)"
        )
    if path == str(PIPE):
        raise Trouble("a model is read from a file, not from the standard input")
    if os.path.isdir(path):
        raise Trouble(f"{path} is a folder; name a model file in it")
    if not os.path.exists(path):
        raise Trouble(no_file(path))
    try:
        return load(path)
    except OSError as error:
        raise Trouble(f"{path} cannot be read: {error.strerror or error}") from error


MOST_LEAVES = 20_000  # of a tree that gets a page by default
LONGEST_COMMAND = 2_000  # characters of it on the page


def report_name(model: Path) -> Path:
    """The name of the page about a model, in the same folder.

    >>> report_name(Path("models/loans.tree.json")).name
    'loans.report.html'
    """
    return model.with_name(f"{model.name.removesuffix('.json').removesuffix('.tree')}.report.html")


@dataclass(frozen=True)
class Outcome:
    """The files of a fit: that of the tree, and that of the page, None if there is to be none."""

    model: Path
    page: Path | None
    is_requested: bool = True  # whether the user has named the page

    @staticmethod
    def of(model: Path, page: Path | None, no_page: bool) -> Outcome:
        """The files by -o, --report and --no-report; by default the page is beside the model."""
        if PIPE in (model, page):
            option, what = ("-o", "tree") if model == PIPE else ("--report", "page")
            raise Misuse(f"{option} -: the {what} is saved to a file, which has a name")
        if no_page and page is not None:
            raise Misuse("--report and --no-report exclude each other; leave one of them out")
        if page is not None and os.path.realpath(page) == os.path.realpath(model):
            raise Misuse(f"--report {page} is the file of the tree; the page needs one of its own")
        if no_page or page is not None:
            return Outcome(model, page)
        has_folder = os.path.isfile(model) or not os.path.exists(model)  # a device has nothing beside it
        return Outcome(model, report_name(model) if has_folder else None, is_requested=False)

    def check(self, inputs: Iterable[str | os.PathLike[str]]) -> None:
        """Trouble if a file cannot be written, before the long work begins."""
        inputs = list(inputs)
        for path in (self.model, self.page):
            if path is not None:
                check_output(path, inputs)

    def write(
        self, fit: Fit, advice: Sequence[Advice], delta: float, seed: int, work: Stages
    ) -> dict[str, str]:
        """Write the files and name them; after a failure both old files are as they were."""
        report = None
        if self.page is not None:
            work.begin("reporting", str(self.page))
            report = self._report(fit, advice, delta, seed, work)
        work.begin("writing", str(self.model))
        if report is None or self.page is None:
            with writing_to(self.model):
                fit.tree.save(self.model)
            return {"model": str(self.model)}
        content = report.html.encode()
        with writing_to(self.page), replacing(self.page) as file:
            file.write(content)
            file.flush()
            if file.seekable():
                os.fsync(file.fileno())  # a full disk is told here, before the model is replaced
            with writing_to(self.model):
                fit.tree.save(self.model)
        return {"model": str(self.model), "report": str(self.page)}

    def _report(
        self, fit: Fit, advice: Sequence[Advice], delta: float, seed: int, work: Stages
    ) -> Report | None:
        """The page with the command that makes it again; None, with a note, if it is impossible or too large
        and the user has not named it.
        """
        if fit.tree.n_leaves > MOST_LEAVES and not self.is_requested:
            work.note(
                f"no report: {fit.tree.n_leaves:,} leaves are too many for a page to read; --report FILE "
                "writes it all the same, --leaves makes a smaller tree"
            )
            return None
        parts, tree = fit.parts, fit.path or fit.optimum or fit.tree
        rows: dict[str, Any] = {"train": parts.training, "validation": parts.validation, "test": parts.test}
        try:
            page = report_on(tree, **rows, delta=delta, random_state=seed, advice=for_pages(advice))
        except ValueError as error:
            if self.is_requested:
                raise
            work.note(f"no report: {error}")
            return None
        again = page.payload["reproduce"]
        parameters = {"Command": current_command()[:LONGEST_COMMAND], **again["parameters"]}
        return replace(page, payload={**page.payload, "reproduce": {**again, "parameters": parameters}})
