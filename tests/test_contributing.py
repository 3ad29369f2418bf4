"""The table of CONTRIBUTING.md names files that exist, and few of them for each change."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROWS = re.findall(
    r"^\| ((?:an?|the|how) .+?) \| (.+) \|$", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE
)


def files_of(text: str) -> list[str]:
    return re.findall(r"`(src/[^`]+)`", text)


def test_fifteen_changes_are_listed() -> None:
    assert len(ROWS) == 15


@pytest.mark.parametrize(("change", "files"), ROWS, ids=[change for change, _ in ROWS])
def test_the_files_of_a_change_exist(change: str, files: str) -> None:
    assert files_of(files)
    for file in files_of(files):
        assert (ROOT / file).exists(), f"{change}: {file} does not exist"


def test_all_changes_but_two_need_two_files_at_most() -> None:
    many = {change for change, files in ROWS if len(files_of(files)) > 2}
    assert many == {"a parameter of all tree estimators and of `grow`", "the name of a command-line option"}
