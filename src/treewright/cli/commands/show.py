"""`treewright show`: a saved tree as text, or in another format."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from cyclopts import Parameter, validators

from treewright.cli import options as opt
from treewright.cli.commands.export import render, write
from treewright.cli.console import Voice, in_colour, terminal_width
from treewright.cli.errors import Misuse
from treewright.cli.model_files import open_model
from treewright.cli.streams import show as show_text
from treewright.cli.summary import nodes_document, tree_document
from treewright.cli.tables.labelled import rows_for_tree
from treewright.exporting import FORMATS


def show(
    model: opt.Model,
    /,
    *,
    max_depth: Annotated[int | None, opt.WHOLE, Parameter(validator=validators.Number(gte=0))] = None,
    format: Annotated[str, opt.one_of("--format", FORMATS.names)] = "text",
    test: opt.Rows = None,
    surrogates: Literal["short", "full", "none"] | None = None,
    delta: Annotated[opt.Delta, Parameter(help="The probability that an interval does not hold.")] = 0.05,
    labelled: opt.Labelled = opt.LABELLED,
    style: opt.Style = opt.TEXT,
) -> None:
    """Show a saved tree.

    Each leaf is shown with its prediction, its rows and the share of the predicted class.

    Parameters
    ----------
    max_depth
        Show at most this many levels of tests; deeper branches are summarised.
    format
        The format; text is for people, and coloured in a terminal.
    test
        A table of rows that were not used for the tree: each leaf is shown with a confidence interval of its
        accuracy on such rows.
    surrogates
        How surrogate splits for missing values are shown: short (a line for each test; the default), full
        (a line for each surrogate, with its adjusted agreement) or none.

    Examples
    --------
    treewright show loans.tree.json
        the whole tree, one line for each leaf
    treewright show loans.tree.json --max-depth 3
        its first three levels
    treewright show loans.tree.json --test new.csv
        with the accuracy of each leaf on the rows of new.csv
    treewright show loans.tree.json --json
        its columns, its size and its nodes for a program
    """
    takes = FORMATS.options(format)
    if style.json and format != "text":
        raise Misuse(f"--json is a format of its own; leave out --format {format}")
    if style.json and test is not None:
        raise Misuse("--json prints the nodes of the tree without test rows; leave out --test")
    for name, value in {"max_depth": max_depth, "test": test, "surrogates": surrogates}.items():
        if value is not None and name not in takes:
            raise Misuse(f"--{name.replace('_', '-')} does not go with --format {format}")
    voice = Voice(style)
    with voice.stages() as work:
        tree = open_model(model, work)
        rows = rows_for_tree(model, tree, labelled, {"test": test}, work)
    if style.json:
        facts = {"file": str(model), **tree_document(tree), "nodes": nodes_document(tree, max_depth)}
        voice.answer(str, lambda: facts)
        return
    options: dict[str, Any] = {"max_depth": max_depth, "color": in_colour(), "width": terminal_width()}
    options |= {} if surrogates is None else {"surrogates": surrogates}
    options |= {"delta": delta, **rows} if rows else {}
    content = render(
        tree, format, {name: value for name, value in options.items() if name in takes}, check=False
    )
    if isinstance(content, bytes):
        write(content)
    else:
        show_text(content)
