"""The files that `treewright fit` leaves: the tree and the page about it, written as one step."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from treewright.cli import command_line
from treewright.cli.console import Stages
from treewright.cli.errors import Misuse, check_output, writing_to
from treewright.cli.options import PIPE
from treewright.cli.summary import Fit
from treewright.files import replacing
from treewright.reporting import Report, report
from treewright.tree import Tree

MOST_LEAVES = 20_000  # of a tree that gets a page without being asked for one
LONGEST_COMMAND = 2_000  # characters of it on the page


def report_name(model: Path) -> Path:
    """What the page about a model is called, in the same folder.

    >>> report_name(Path("models/loans.tree.json")).name
    'loans.report.html'
    """
    return model.with_name(f"{model.name.removesuffix('.json').removesuffix('.tree')}.report.html")


def report_path(model: Path, named: Path | None, none: bool) -> Path | None:
    """Where the page goes: where it is said, else beside the model; None if there is to be none."""
    if none and named is not None:
        raise Misuse("--report and --no-report exclude each other; leave one of them out")
    if named == PIPE:
        raise Misuse("--report -: the page is written to a file, which has a name")
    if named is not None and os.path.realpath(named) == os.path.realpath(model):
        raise Misuse(f"--report {named} is the file of the tree; the page needs one of its own")
    if none or named is not None:
        return named
    has_folder = os.path.isfile(model) or not os.path.exists(model)  # a device has nothing beside it
    return report_name(model) if has_folder else None


def check_outputs(model: Path, page: Path | None, inputs: list[str | os.PathLike[str]]) -> None:
    """Trouble if one of the files cannot be written, told before the long work begins."""
    for path in (model, page):
        if path is not None:
            check_output(path, inputs)


def reported(fit: Fit, delta: float, seed: int, work: Stages, *, asked: bool) -> Report | None:
    """The page about a fit; none, with a note, where there cannot be one and nobody has asked for it."""
    if fit.tree.n_leaves > MOST_LEAVES and not asked:
        work.note(
            f"no report: {fit.tree.n_leaves:,} leaves are too many for a page to read; --report FILE writes "
            "it all the same, --leaves makes a smaller tree"
        )
        return None
    try:
        return report_of(fit, delta, seed)
    except ValueError as error:
        if asked:
            raise
        work.note(f"no report: {error}")
        return None


def report_of(fit: Fit, delta: float, seed: int) -> Report:
    """The page about a fit, with the command that makes it again."""
    parts = fit.parts
    made = report(
        fit.tree if fit.path is None else fit.path,
        train=parts.training,
        validation=parts.validation,
        test=parts.test,
        delta=delta,
        seed=seed,
    )
    again = made.payload["reproduce"]
    parameters = {"Command": command_line()[:LONGEST_COMMAND], **again["parameters"]}
    return replace(made, payload={**made.payload, "reproduce": {**again, "parameters": parameters}})


def save(tree: Tree, model: Path, page: tuple[Path, Report] | None) -> None:
    """Write both files; what fails leaves the old ones, both of them, as they were."""
    if page is None:
        with writing_to(model):
            tree.save(model)
        return
    path, made = page
    content = made.html.encode()
    with writing_to(path), replacing(path) as file:
        file.write(content)
        file.flush()
        if file.seekable():
            os.fsync(file.fileno())  # a full disk is told here, before the model takes the old one's place
        with writing_to(model):
            tree.save(model)
