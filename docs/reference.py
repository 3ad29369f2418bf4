"""The reference as it is built: public names from the package's stub, parameters from their declarations.

Directives for the pages of docs/reference/:

- ``.. public:: pruning`` documents the public names that a part of the package defines;
- ``.. alternatives:: pruning`` documents the functions of a folder of alternatives;
- ``.. public-names::`` lists all public names with the pages that have them;
- ``.. parameter-index::`` lists all parameters by group.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import io
import re
import textwrap
import tokenize
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import treewright
from treewright.parameters.spec import GROUPS, Option, Parameter, Parameters

PAGES = Path(__file__).parent / "reference"
PUBLIC = re.compile(r"^\.\. public:: (.+)$", re.MULTILINE)
FOLDERS = {"pruning": "METHODS", "selecting": "WAYS", "exporting": "FORMATS"}
_ENTRY = re.compile(r"^(\*{0,2}\w[\w, *]*?) : (\S.*)$", re.MULTILINE)


def public_names(prefixes: str) -> list[str]:
    """The public names that are defined in some parts of the package, in alphabetical order."""
    parts = [f"treewright.{prefix}" for prefix in prefixes.split()]
    found = {name: getattr(treewright, name).__module__ for name in treewright.__all__}
    return sorted(
        (name for name, home in found.items() if any(f"{home}.".startswith(f"{part}.") for part in parts)),
        key=str.lower,
    )


def pages() -> dict[str, list[str]]:
    """The public names by the page that documents them, in the order of docs/api.md."""
    order = re.findall(r"^reference/(\w+)$", (PAGES.parent / "api.md").read_text("utf-8"), re.MULTILINE)
    return {
        page: [name for found in PUBLIC.findall(text_of(page)) for name in public_names(found)]
        for page in order
    }


def text_of(page: str) -> str:
    """The source of a page."""
    return (PAGES / f"{page}.md").read_text("utf-8")


def summary(item: Any) -> str:
    """The first sentence of a docstring."""
    paragraph = " ".join((inspect.getdoc(item) or "").partition("\n\n")[0].split())
    return re.split(r"(?<=[.:]) (?=[A-Z])", paragraph)[0]


def members(cls: type) -> list[str]:
    """The methods and properties that the package defines and explains, inherited ones included."""
    if issubclass(cls, Option):
        return []
    found = []
    for name in dir(cls):
        item = inspect.getattr_static(cls, name)
        function = getattr(item, "__func__", getattr(item, "fget", getattr(item, "func", item)))
        home = getattr(function, "__module__", None) or ""
        if not name.startswith("_") and home.startswith("treewright") and inspect.getdoc(function):
            found.append(name)
    return found


def fields(cls: type) -> list[str]:
    """The `Attributes` section of a dataclass: name, type, default, and the comment beside it."""
    if not dataclasses.is_dataclass(cls) or issubclass(cls, Option | Parameters):
        return []
    comments = dict(_comments(cls))
    lines = []
    for field in dataclasses.fields(cls):
        if field.name.startswith("_"):
            continue
        default = "" if field.default is dataclasses.MISSING else f", default=\\ ``{field.default!r}``"
        lines += [f"{field.name} : ``{field.type}``{default}", f"    {comments.get(field.name, '')}".rstrip()]
    return ["Attributes", "----------", *lines, ""] if lines else []


def _comments(cls: type) -> Iterator[tuple[str, str]]:
    """The comments at the end of the lines, or above them, that declare the fields of a class."""
    for base in reversed(cls.__mro__):
        if not base.__module__.startswith("treewright"):
            continue
        source = textwrap.dedent(inspect.getsource(base))
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        notes = {each.start[0]: each for each in tokens if each.type == tokenize.COMMENT}
        for node in ast.parse(source).body[0].body:  # type: ignore[attr-defined]
            if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
                continue
            first = node.lineno
            while first - 1 in notes and not source.splitlines()[first - 2].split("#")[0].strip():
                first -= 1
            lines = [*range(first, node.lineno), node.end_lineno or node.lineno]
            said = " ".join(notes[line].string.lstrip("# ") for line in lines if line in notes)
            if said and not said.startswith("type: ignore"):
                yield node.target.id, said


def entries(item: Any) -> dict[str, str]:
    """The parameters and fields that the reference shows for a name, with their kinds and defaults."""
    own = "\n".join(fields(item)) if inspect.isclass(item) else ""
    found = _ENTRY.findall((inspect.getdoc(item) or "") + "\n" + own)
    return {name.strip(" *"): kind for names, kind in found for name in names.split(",")}


def owners() -> dict[str, dict[str, Parameter]]:
    """The declared parameters of `grow` and of each public class, by the name of the owner."""
    from treewright.parameters import GROW

    found = {"grow": dict(GROW)}
    for name in treewright.__all__:
        item = getattr(treewright, name)
        if inspect.isclass(item) and issubclass(item, Parameters):
            found[name] = item.parameters
    return found


def parameter_index() -> list[str]:
    """A definition list of all parameters, by group: kind, default, option, text, and who takes them."""
    options = _command_line()
    by_group: dict[str, dict[str, dict[str, list[tuple[str, Parameter]]]]] = {}
    for owner, parameters in owners().items():
        for name, each in parameters.items():
            texts = by_group.setdefault(each.group or "Others", {}).setdefault(name, {})
            texts.setdefault(" ".join(each.doc.split()), []).append((owner, each))
    lines: list[str] = []
    for group in [*GROUPS, *sorted(set(by_group) - set(GROUPS))]:
        lines += [f".. rubric:: {group}", ""]
        for name in sorted(by_group.get(group, {})):
            flag = f", on the command line ``--{name.replace('_', '-')}``" if name in options else ""
            lines += [f"**{name}**{flag}"]
            for text, takers in by_group[group][name].items():
                lines += [f"    {text}", "", *_takers(takers), ""]
    return lines


def _takers(takers: list[tuple[str, Parameter]]) -> list[str]:
    """One line for each default of a parameter, with the classes that have it."""
    by_kind: dict[str, list[str]] = {}
    for owner, each in takers:
        kind = each.entry.partition("\n")[0].partition(" : ")[2]
        by_kind.setdefault(kind, []).append(f":obj:`~treewright.{owner}`")
    return [f"    - ``{kind}``: {', '.join(names)}" for kind, names in by_kind.items()]


def _command_line() -> set[str]:
    from treewright.cli.options import Limits

    return set(inspect.get_annotations(Limits))


def _documented(name: str) -> list[str]:
    item = getattr(treewright, name)
    if not inspect.isclass(item):
        return [f".. autofunction:: treewright.{name}"]
    if issubclass(item, BaseException):
        return [f".. autoexception:: treewright.{name}"]
    listed = ", ".join(members(item))
    return [f".. autoclass:: treewright.{name}", *([f"   :members: {listed}"] if listed else []), ""]


def public(prefixes: str) -> list[str]:
    """The entries of the public names of some parts of the package."""
    names = public_names(prefixes)
    if not names:
        raise ValueError(f"no public name is defined in {prefixes}")
    return [line for name in names for line in _documented(name)]


def alternatives(package: str) -> list[str]:
    """The entries of the functions of a folder of alternatives."""
    folder = getattr(import_module(f"treewright.{package}"), FOLDERS[package])
    functions = [folder.function(name) for name in folder.names]
    return [f".. autofunction:: {each.__module__}.{each.__name__}" for each in functions]


def public_table() -> list[str]:
    """All public names with their summaries, by page."""
    lines = []
    for page, names in pages().items():
        if names:
            title = text_of(page).partition("\n")[0].strip("# ").partition(":")[0]
            lines += [f":doc:`{title} <reference/{page}>`", "", ".. list-table::", "   :widths: 30 70", ""]
            for name in names:
                lines += [
                    f"   * - :obj:`~treewright.{name}`",
                    f"     - {summary(getattr(treewright, name))}",
                ]
            lines += [""]
    return lines


def setup(app: Any) -> None:
    """Make the directives known to Sphinx."""
    from docutils import nodes
    from docutils.statemachine import StringList
    from sphinx.util.docutils import SphinxDirective

    def directive(make: Callable[..., list[str]], arguments: int) -> type[SphinxDirective]:
        class Made(SphinxDirective):
            required_arguments = arguments
            final_argument_whitespace = True

            def run(self) -> list[Any]:
                made = nodes.Element()
                self.state.nested_parse(StringList(make(*self.arguments), source=__file__), 0, made)
                return made.children

        return Made

    app.add_directive("public", directive(public, 1))
    app.add_directive("alternatives", directive(alternatives, 1))
    app.add_directive("public-names", directive(public_table, 0))
    app.add_directive("parameter-index", directive(parameter_index, 0))

    def describe_fields(app: Any, what: str, name: str, item: Any, options: Any, lines: list[str]) -> None:
        if what == "class" and "Attributes" not in lines:
            lines += ["", *fields(item)]

    app.connect("autodoc-process-docstring", describe_fields, priority=90)  # before numpydoc, at 500
