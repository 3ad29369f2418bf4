"""`treewright export`: a saved tree as code, SQL, a picture or another program's model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from treewright._atomic import replacing
from treewright.cli.console import Voice
from treewright.cli.errors import Misuse, Trouble, check_output, known, listed, writing_to
from treewright.cli.model_files import open_model
from treewright.cli.options import OUTPUT, PIPE, Flag, Json, Model, Output, Quiet, Repeated
from treewright.cli.pruning_options import named
from treewright.cli.streams import show_bytes
from treewright.exporting import FORMATS
from treewright.exporting import export as export_tree
from treewright.tree import Tree

SUFFIXES = {
    ".txt": "text",
    ".py": "python",
    ".h": "c",
    ".js": "javascript",
    ".mjs": "javascript",
    ".java": "java",
    ".mmd": "mermaid",
    ".tex": "latex",
    ".gv": "dot",
    ".tl": "treelite",
}  # other suffixes are the names of their formats


def export(
    model: Model,
    /,
    *,
    output: Output = None,
    format: Annotated[str | None, Parameter(group=OUTPUT)] = None,
    option: Repeated = None,
    check: Flag = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a saved tree as code, SQL, a picture or a model of another program.

    Parameters
    ----------
    output
        The file to write, whose suffix tells the format: .py, .h, .js, .java, .sql, .json, .onnx, .pmml,
        .svg, .dot, .mmd, .tex, .txt. Without it, or with -, the standard output.
    format
        The format, where no suffix tells it: c, dot, java, javascript, json, latex, mermaid, onnx, pmml,
        python, rules, sql, svg, text, treelite.
    option
        An option of the format, as name=value: dialect=postgres, table=loans; may be repeated.
    check
        Run what was written on thousands of rows, on and next to every threshold, missing values and new
        categories among them, and compare its answers with those of the tree before it is written.

    Examples
    --------
    treewright export loans.tree.json -o loans.py --check
        a Python module without dependencies, tried against the tree
    treewright export loans.tree.json -o loans.sql --option table=loans
        a SELECT with the decision as a column; --option dialect=postgres
        and others speak to other databases
    treewright export loans.tree.json -o loans.onnx
        for onnxruntime
    treewright export loans.tree.json --format mermaid
        a picture for a page that knows Mermaid
    """
    output = None if output == PIPE else output
    chosen = _format(output, format)
    options = named(option or [], "dialect=postgres")
    if json and output is None:
        raise Misuse("--json tells about the file that is written; name it with -o")
    if output is not None:
        check_output(output, [model])
    voice = Voice(json, quiet)
    with voice.stages(shown=output is not None) as work:
        work.begin("reading", str(model))
        tree = open_model(str(model))
        work.begin("exporting", chosen)
        rendered = rendered_as(tree, chosen, options, check)
        content = rendered if isinstance(rendered, bytes) else rendered.encode()
        if output is not None:
            with writing_to(output), replacing(output) as file:
                file.write(content)
    if output is None:
        write(rendered)
        return
    tried = "; it answers as the tree does" if check else ""
    voice.summarize(
        lambda: f"Written to {output} as {chosen}, {len(content):,} bytes{tried}",
        lambda: {"file": str(output), "format": chosen, "bytes": len(content), "checked": check},
    )


def _format(output: Path | None, format: str | None) -> str:
    if format is not None:
        return known("--format", format, FORMATS.names)
    if output is None:
        return "text"
    suffix = output.suffix.lower()
    chosen = SUFFIXES.get(suffix, suffix.removeprefix("."))
    if chosen not in FORMATS.names:
        raise Misuse(f"{output}: the suffix tells no format; --format does: {', '.join(FORMATS.names)}")
    return chosen


def rendered_as(tree: Tree, format: str, options: dict[str, Any], check: bool) -> str | bytes:
    """The tree in a format; trouble with its options in words of the command line."""
    if check and not hasattr(FORMATS.module(format), "answers"):
        raise Misuse(f"--check runs the export, and {format} is nothing that can be run; leave --check out")
    names = [target.name for target in tree.schema.targets]
    if len(names) > 1 and "target" in FORMATS.options(format) and options.get("target") not in names:
        raise Misuse(f"this tree predicts {listed(names)}; --option target=… says which one {format} answers")
    unknown = [name for name in options if name not in FORMATS.options(format)]
    if unknown:
        known_ones = ", ".join(sorted(FORMATS.options(format))) or "none"
        raise Misuse(f"--option: {format} has no option {unknown[0]!r}; its options are {known_ones}")
    try:
        return export_tree(tree, format, check=True if check else None, **options)
    except (TypeError, AttributeError) as error:
        texts = ", ".join(f"{name}={value!r}" for name, value in options.items())
        raise Misuse(
            f"--option: {format} cannot work with one of the values {texts} ({error}); a text that looks "
            "like something else stands in quotes: title='\"5\"'"
        ) from error
    except ImportError as error:
        raise Trouble(str(error)) from error


def write(rendered: str | bytes) -> None:
    """Write an export to the standard output, as a file would have it."""
    if isinstance(rendered, bytes) and sys.stdout.isatty():
        raise Misuse("this format is not text that a terminal could show; export -o FILE writes it to a file")
    show_bytes(rendered if isinstance(rendered, bytes) else rendered.encode() + b"\n")
