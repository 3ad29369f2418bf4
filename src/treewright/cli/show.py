"""`treewright show`: a saved tree as text, or in another format."""

from __future__ import annotations

import inspect
import sys
from typing import Annotated, Any

from cyclopts import Parameter, validators

from treewright.cli.console import Voice, in_colour, terminal_width, unbroken_pipe
from treewright.cli.documents import nodes_document, tree_document
from treewright.cli.errors import Misuse
from treewright.cli.models import open_model
from treewright.cli.options import Json, Model, Quiet
from treewright.exporting import FORMATS, export, formats


def show(
    model: Model,
    /,
    *,
    depth: Annotated[int | None, Parameter(validator=validators.Number(gte=0))] = None,
    format: str = "text",
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

    Examples
    --------
    treewright show loans.tree.json
        the whole tree, one line for each leaf
    treewright show loans.tree.json --depth 3
        its first three levels
    treewright show loans.tree.json --json
        its columns, its size and its nodes for a program
    """
    if format not in formats():
        raise Misuse(f"--format {format} is unknown; known: {', '.join(formats())}")
    if json and format != "text":
        raise Misuse(f"--json is a format of its own; leave out --format {format}")
    known = inspect.signature(FORMATS.function(format)).parameters
    if depth is not None and "max_depth" not in known:
        raise Misuse(f"--depth does not go with --format {format}")
    options: dict[str, Any] = {"max_depth": depth, "color": in_colour(), "width": terminal_width()}
    tree = open_model(str(model))
    if json:
        voice = Voice(json, quiet)
        voice.answer(
            str, lambda: {"file": str(model), **tree_document(tree), "nodes": nodes_document(tree, depth)}
        )
        return
    rendered = export(tree, format, **{name: value for name, value in options.items() if name in known})
    with unbroken_pipe():
        if isinstance(rendered, bytes):
            sys.stdout.flush()
            sys.stdout.buffer.write(rendered)
        else:
            print(rendered)
