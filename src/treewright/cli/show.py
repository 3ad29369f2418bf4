"""`treewright show`: a saved tree as text, or in another format."""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, validators

from treewright.cli.console import in_colour, terminal_width, unbroken_pipe
from treewright.cli.errors import Misuse
from treewright.cli.models import open_model
from treewright.exporting import export, formats


def show(
    model: Path,
    /,
    *,
    depth: Annotated[int | None, Parameter(validator=validators.Number(gte=0))] = None,
    format: str = "text",
) -> None:
    """Show a saved tree.

    Parameters
    ----------
    model
        A file that `treewright fit` wrote.
    depth
        Show this many tests in a row at most; deeper parts are summed up.
    format
        The format; text is for people, and coloured in a terminal.
    """
    if format not in formats():
        raise Misuse(f"--format {format} is unknown; known: {', '.join(formats())}")
    known = inspect.signature(import_module(f"treewright.exporting.{format}").render).parameters
    if depth is not None and "max_depth" not in known:
        raise Misuse(f"--depth does not go with --format {format}")
    options: dict[str, Any] = {"max_depth": depth, "color": in_colour(), "width": terminal_width()}
    tree = open_model(str(model))
    rendered = export(tree, format, **{name: value for name, value in options.items() if name in known})
    with unbroken_pipe():
        if isinstance(rendered, bytes):
            sys.stdout.flush()
            sys.stdout.buffer.write(rendered)
        else:
            print(rendered)
