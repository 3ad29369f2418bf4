"""docs/lecture_notes.md names functions, pages and tests that exist, and leaves nothing of the notes out."""

from __future__ import annotations

import ast
import importlib.util
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("lecture_notes", ROOT / "docs" / "lecture_notes.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = script()
NOTES: list[dict[str, Any]] = SCRIPT.load()
ENTRIES = [(note["id"], entry) for note in NOTES for entry in note["entry"]]
EACH = pytest.mark.parametrize(("note", "entry"), ENTRIES, ids=[note for note, _ in ENTRIES])
# All that is numbered in the notes.
LECTURE_12 = (
    [f"Figure 12.{i}" for i in range(1, 8)]
    + [f"Lemma 12.{i}" for i in range(1, 5)]
    + ["Theorem 12.5"]
    + [f"({i})" for i in range(1, 21)]
)
STATED = ["Definition 10 (overfitting)", "Definition 10 (decision tree pruning)", "Definition 11", "Lemma"]


@cache
def functions_in(file: str) -> set[str]:
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def find(name: str) -> Any:
    """The thing of a dotted name: the longest part that is a module, then its attributes."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(name)


@pytest.mark.parametrize("note", NOTES, ids=lambda note: note["id"])
def test_every_section_has_entries_and_every_entry_a_section(note: dict[str, Any]) -> None:
    assert set(note["sections"]) == {entry["section"] for entry in note["entry"]}


def test_there_are_five_notes() -> None:
    assert len(NOTES) == len({note["id"] for note in NOTES}) == 5


def test_what_is_numbered_is_there() -> None:
    by_note = {note["id"]: " ".join(entry["item"] for entry in note["entry"]) for note in NOTES}
    text = by_note["lecture-12"]
    for first, last in re.findall(r"\(12\.(\d+)\)–\(12\.(\d+)\)", text):
        text += "".join(f" (12.{i})" for i in range(int(first), int(last) + 1))
    wanted = [name.replace("(", "(12.") if name.startswith("(") else name for name in LECTURE_12]
    assert [name for name in wanted if name not in text] == []
    assert [name for name in STATED if name not in by_note["machine-learning-iii"]] == []


@pytest.mark.parametrize(
    ("note", "entry"), ENTRIES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_what_an_entry_names_exists(note: str, entry: dict[str, Any]) -> None:
    for name in entry.get("functions", ()):
        assert find(name) is not None
    for page in entry.get("pages", ()):
        SCRIPT.link(page)
    for test in entry.get("tests", ()):
        file, _, name = test.partition("::")
        assert name.startswith("test_"), "an entry names its tests one by one"
        assert name in functions_in(file), test


@pytest.mark.parametrize(
    ("note", "entry"), ENTRIES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_an_entry_is_whole(note: str, entry: dict[str, Any]) -> None:
    status = entry.get("status", "as stated")
    assert status in SCRIPT.STATUSES
    assert set(entry) <= {"section", "item", "functions", "pages", "tests", "status", "remark"}
    assert status == "as stated" or entry["remark"].endswith((".", ")")), "a status needs its remark"
    if status != "absent":
        assert entry["functions"]
        assert entry["pages"]
        assert entry["tests"]


def test_the_page_is_that_of_the_data() -> None:
    assert SCRIPT.PAGE.read_text(encoding="utf-8") == SCRIPT.render(), "run `python docs/lecture_notes.py`"


def test_the_checks_can_fail() -> None:
    with pytest.raises((ModuleNotFoundError, AttributeError)):
        find("treewright.prune_everything")
    with pytest.raises(ValueError, match="no heading"):
        SCRIPT.link("pruning.md#no-such-heading")
    assert "test_nothing" not in functions_in("growing/test_grow.py")
