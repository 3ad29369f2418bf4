"""`treewright show`: a saved tree as text, or in another format."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from cyclopts import Parameter, validators

from treewright.cli.commands.export import rendered_as, write
from treewright.cli.console import Voice, in_colour, terminal_width
from treewright.cli.errors import Misuse, check_delta_option, known
from treewright.cli.model_files import open_model
from treewright.cli.options import ROWS, USUAL, WHOLE, Delta, Dialect, Json, Model, Quiet, Rows, Weights
from treewright.cli.streams import show as show_text
from treewright.cli.summary import nodes_document, tree_document
from treewright.cli.tables.labelled import Labelling
from treewright.exporting import FORMATS


def show(
    model: Model,
    /,
    *,
    depth: Annotated[int | None, WHOLE, Parameter(validator=validators.Number(gte=0))] = None,
    format: str = "text",
    test: Annotated[Rows, ROWS] = None,
    surrogates: Literal["short", "full", "none"] | None = None,
    delta: Delta = 0.05,
    weights: Weights = None,
    dialect: Dialect = USUAL,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show a saved tree.

    Parameters
    ----------
    depth
        Show this many tests in a row at most; deeper parts are summed up.
    format
        The format; text is for people, and coloured in a terminal.
    test
        A table of rows that had no part in the tree: then each leaf is shown with how often it is right at
        least, and at most, on such rows.
    surrogates
        How much to tell of what stands in for missing values: short (a line for each test; the default), full
        (a line for each surrogate, with its adjusted agreement) or none.
    delta
        The chance with which the interval of a leaf may fail.

    Examples
    --------
    treewright show loans.tree.json
        the whole tree, one line for each leaf
    treewright show loans.tree.json --depth 3
        its first three levels
    treewright show loans.tree.json --test new.csv
        with what rows of new.csv say of each leaf
    treewright show loans.tree.json --json
        its columns, its size and its nodes for a program
    """
    offered = FORMATS.options(known("--format", format, FORMATS.names))
    check_delta_option(delta)
    if json and format != "text":
        raise Misuse(f"--json is a format of its own; leave out --format {format}")
    if json and test is not None:
        raise Misuse("--json tells the nodes of the tree as it is; leave out --test")
    told = ("--surrogates", surrogates, "surrogates")
    for option, value, name in (("--depth", depth, "max_depth"), ("--test", test, "test"), told):
        if value is not None and name not in offered:
            raise Misuse(f"{option} does not go with --format {format}")
    voice = Voice(json, quiet)
    with voice.stages() as work:
        work.begin("reading", str(model))
        tree = open_model(str(model))
        rows = Labelling(model, tree, dialect, weights).parts({"--test": test}, work)
    if json:
        voice.answer(
            str, lambda: {"file": str(model), **tree_document(tree), "nodes": nodes_document(tree, depth)}
        )
        return
    options: dict[str, Any] = {"max_depth": depth, "color": in_colour(), "width": terminal_width()}
    if surrogates is not None:
        options["surrogates"] = surrogates
    if rows:
        options |= {"test": rows["--test"], "delta": delta}
    taken = {name: value for name, value in options.items() if name in offered}
    rendered = rendered_as(tree, format, taken, check=False)
    if isinstance(rendered, bytes):
        write(rendered)
        return
    show_text(rendered)
