"""The parameters that docs/coming_from/ names exist, here and in the libraries that are installed."""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import treewright

FOLDER = Path(__file__).parent.parent / "docs" / "coming_from"
PAGES = sorted(FOLDER.glob("*.md"))
SPAN = re.compile(r"`([^`]+)`")
CHECKED = ("sklearn", "lightgbm", "xgboost")  # whose tables are compared with them


class Table(NamedTuple):
    page: str
    head: list[str]
    rows: list[list[str]]


def tables() -> Iterator[Table]:
    for page in PAGES:
        for block in re.findall(r"(?:^\|.*\n)+", page.read_text(encoding="utf-8"), re.MULTILINE):
            lines = [line.strip().strip("|").split("|") for line in block.splitlines()]
            head, _, *rows = [[cell.strip() for cell in line] for line in lines]
            yield Table(page.name, head, rows)


def named(cell: str) -> str:
    """The dotted name that a cell of the head holds, and "" if it holds words."""
    found = re.fullmatch(r"`([\w.]+)`", cell)
    return found[1] if found else ""


def resolve(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def parameters(item: Any) -> set[str]:
    """What a class or function takes by name; scikit-learn's wrapper of XGBoost says it by `get_params`."""
    names = set(inspect.signature(item).parameters)
    return names - {"kwargs"} | (set(item().get_params()) if hasattr(item, "get_params") else set())


def expressions(cell: str) -> Iterator[ast.expr | ast.keyword]:
    """Python in the code of a cell: expressions, and keyword arguments such as `max_depth=3`."""
    for code in SPAN.findall(cell):
        if code.startswith('"') or "…" in code:
            continue
        try:
            call = ast.parse(f"f({code})", mode="eval").body
        except SyntaxError:
            continue
        assert isinstance(call, ast.Call)
        yield from call.args
        yield from call.keywords


def unknown_in_calls(node: ast.AST) -> list[str]:
    """Calls of names that are not public, and of public ones with arguments that they do not take."""
    wrong = []
    for call in ast.walk(node):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
            continue
        item = getattr(treewright, call.func.id, getattr(builtins, call.func.id, None))
        if item is None:
            wrong.append(f"{call.func.id} is not public")
            continue
        signature = inspect.signature(item)
        if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in signature.parameters.values()):
            continue
        wrong += [
            f"{call.func.id} takes no {keyword.arg}"
            for keyword in call.keywords
            if keyword.arg not in signature.parameters
        ]
    return wrong


PARAMETER_TABLES = [table for table in tables() if named(table.head[1]).startswith("treewright.")]
OF_PEERS = [table for table in PARAMETER_TABLES if named(table.head[0]).split(".")[0] in CHECKED]


@pytest.mark.parametrize("table", PARAMETER_TABLES, ids=lambda table: f"{table.page}: {table.head[0]}")
def test_our_parameters_exist(table: Table) -> None:
    item = resolve(named(table.head[1]))
    known = parameters(item) | set(dir(item))
    wrong = []
    for row in table.rows:
        for node in expressions(row[1]):
            if isinstance(node, ast.keyword):
                wrong += [node.arg] if node.arg not in known else []
            elif isinstance(node, ast.Name) and node.id not in known and not hasattr(treewright, node.id):
                wrong.append(node.id)
            wrong += unknown_in_calls(node)
    assert not wrong


@pytest.mark.parametrize("table", list(tables()), ids=lambda table: f"{table.page}: {table.head[0]}")
def test_calls_that_tables_show_are_possible(table: Table) -> None:
    wrong = []
    for row in table.rows:
        for node in expressions(row[1]):
            # our names only: the first column belongs to the other library
            wrong += unknown_in_calls(node)
    assert not wrong


@pytest.mark.parametrize("table", OF_PEERS, ids=lambda table: named(table.head[0]))
def test_their_parameters_exist(table: Table) -> None:
    name = named(table.head[0])
    pytest.importorskip(name.split(".")[0])
    theirs = parameters(resolve(name))
    shown = {word.partition("=")[0].strip() for row in table.rows for word in SPAN.findall(row[0])}
    assert shown <= theirs, sorted(shown - theirs)


def test_every_parameter_of_lightgbm_is_answered() -> None:
    pytest.importorskip("lightgbm")
    (table,) = (table for table in OF_PEERS if named(table.head[0]).startswith("lightgbm."))
    shown = {word.partition("=")[0].strip() for row in table.rows for word in SPAN.findall(row[0])}
    assert shown == parameters(resolve(named(table.head[0])))


def test_classes_of_scikit_learn_have_all_their_parameters_here() -> None:
    (table,) = (table for table in tables() if table.head == ["`scikit-learn`", "`treewright`"])
    for row in table.rows:
        theirs, ours = (named(cell) for cell in row)
        assert theirs.endswith(f".{ours}")
        assert hasattr(treewright, ours)
        if hasattr(resolve(theirs), "get_params"):  # a compiled class has no signature
            assert parameters(resolve(theirs)) <= parameters(getattr(treewright, ours)), ours
