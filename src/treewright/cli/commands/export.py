"""`treewright export`: a saved tree as code, SQL, a picture or another program's model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from treewright._atomic import replacing
from treewright.cli import options as opt
from treewright.cli.console import Voice
from treewright.cli.errors import Misuse, Trouble, check_output, name_list, writing_to
from treewright.cli.model_files import open_model
from treewright.cli.pruning_options import option_values
from treewright.cli.streams import show_bytes
from treewright.exporting import FORMATS, suffixes
from treewright.exporting import export as export_tree
from treewright.tree import Tree

_SUFFIXES = suffixes()
_OUTPUT = Parameter(
    help=f"The file to write, in the format of its suffix: {', '.join(_SUFFIXES)}. Without it, or with -, "
    "the standard output."
)
_FORMAT = Parameter(
    group=opt.OUTPUT.group,
    help=f"The format, if the suffix does not determine it: {', '.join(FORMATS.names)}.",
)


def export(
    model: opt.Model,
    /,
    *,
    output: Annotated[opt.Output, _OUTPUT] = None,
    format: Annotated[str | None, opt.one_of("--format", FORMATS.names), _FORMAT] = None,
    option: opt.Repeated = None,
    check: opt.Flag = False,
    style: opt.Style = opt.TEXT,
) -> None:
    """Write a saved tree as code, SQL, a picture or a model of another program.

    Parameters
    ----------
    option
        An option of the format, as name=value: dialect=postgres, table=loans; may be repeated.
    check
        Before the file is written, run the export on thousands of rows, on and next to every threshold, with
        missing values and new categories, and compare its predictions with those of the tree.

    Examples
    --------
    treewright export loans.tree.json -o loans.py --check
        a Python module without dependencies, checked against the tree
    treewright export loans.tree.json -o loans.sql --option table=loans
        a SELECT with the decision as a column; --option dialect=postgres
        and others are for other databases
    treewright export loans.tree.json -o loans.xlsx
        an Excel workbook that predicts the rows that are typed into it
    treewright export loans.tree.json -o loans.onnx
        for onnxruntime
    treewright export loans.tree.json --format mermaid
        a picture for pages that render Mermaid
    """
    output = None if output == opt.PIPE else output
    format = format or _format_of(output)
    options = option_values(option or [], "dialect=postgres")
    if style.json and output is None:
        raise Misuse("--json describes the file that is written; name it with -o")
    if output is not None:
        check_output(output, [model])
    voice = Voice(style)
    with voice.stages(shown=output is not None) as work:
        tree = open_model(model, work)
        work.begin("exporting", format)
        text = render(tree, format, options, check)
        content = text if isinstance(text, bytes) else text.encode()
        if output is not None:
            with writing_to(output), replacing(output) as file:
                file.write(content)
    if output is None:
        write(text)
        return
    result = "; its predictions agree with the tree" if check else ""
    voice.summarize(
        lambda: f"Written to {output} as {format}, {len(content):,} bytes{result}",
        lambda: {"file": str(output), "format": format, "bytes": len(content), "checked": check},
    )


def _format_of(output: Path | None) -> str:
    """The format of a file by its suffix."""
    if output is None:
        return "text"
    suffix = output.suffix.lower()
    format = _SUFFIXES.get(suffix, suffix.removeprefix("."))
    if format not in FORMATS.names:
        raise Misuse(
            f"{output}: this suffix belongs to no format; --format names one: {', '.join(FORMATS.names)}"
        )
    return format


def render(tree: Tree, format: str, options: dict[str, Any], check: bool) -> str | bytes:
    """The tree in a format; errors about its options name those of the command line."""
    if check and not hasattr(FORMATS.module(format), "answers"):
        raise Misuse(f"--check runs the export, and {format} cannot be run; leave --check out")
    names = [target.name for target in tree.schema.targets]
    if len(names) > 1 and "target" in FORMATS.options(format) and options.get("target") not in names:
        raise Misuse(f"this tree predicts {name_list(names)}; --option target=… selects the one for {format}")
    unknown = [name for name in options if name not in FORMATS.options(format)]
    if unknown:
        known = ", ".join(sorted(FORMATS.options(format))) or "none"
        raise Misuse(f"--option: {format} has no option {unknown[0]!r}; its options are {known}")
    try:
        return export_tree(tree, format, check=True if check else None, **options)
    except (TypeError, AttributeError) as error:
        texts = ", ".join(f"{name}={value!r}" for name, value in options.items())
        raise Misuse(
            f"--option: {format} cannot work with one of the values {texts} ({error}); put a text that "
            "looks like something else in quotes: title='\"5\"'"
        ) from error
    except ImportError as error:
        raise Trouble(str(error).replace("check=", "--check")) from error


def write(content: str | bytes) -> None:
    """Write an export to the standard output, with the bytes that a file would have."""
    if isinstance(content, bytes) and sys.stdout.isatty():
        raise Misuse("this format is not text that a terminal could show; export -o FILE writes it to a file")
    show_bytes(content if isinstance(content, bytes) else content.encode() + b"\n")
