"""docs/drop_in.md is written from the list of differences and the counts; the list names tests that exist."""

from __future__ import annotations

import json
import re
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest
from drop_in import page
from drop_in.differences import KINDS, read_differences
from drop_in.files import FILES

DIFFERENCES = read_differences()
KEPT = json.loads(page.COUNTS.read_text(encoding="utf-8"))
LISTED = sorted({test.partition("[")[0] for difference in DIFFERENCES for test in difference.tests})


def test_the_page_is_that_of_the_list_and_the_counts() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.page(text) == text, "make drop-in DROP_IN_OPTIONS=--save-counts writes docs/drop_in.md"


def test_all_files_are_counted_and_no_test_fails() -> None:
    assert set(KEPT["files"]) == {f"{module.rpartition('.')[2]}.py" for module in FILES.values()}
    for counts in KEPT["files"].values():
        assert counts.keys() <= {"passed", "xfailed", "skipped"}


def test_the_counts_are_those_of_the_list() -> None:
    """At least one test for each entry, and no differing test in a file without entries."""
    listed = {test.partition("::")[0] for test in LISTED}
    assert listed == {file for file, counts in KEPT["files"].items() if counts.get("xfailed")}
    for file in listed:
        n_names = sum(test.startswith(f"{file}::") for test in LISTED)
        assert KEPT["files"][file]["xfailed"] >= n_names


def test_each_difference_has_a_kind_and_a_reason_of_its_own() -> None:
    assert {difference.kind for difference in DIFFERENCES} <= KINDS.keys()
    reasons = [difference.reason for difference in DIFFERENCES]
    assert len(set(reasons)) == len(reasons)


@pytest.mark.skipif(version("scikit-learn") != KEPT["scikit-learn"], reason="the list is of another version")
def test_the_listed_tests_exist() -> None:
    sources = {}
    for module in FILES.values():
        spec = find_spec(module)
        assert spec is not None
        assert spec.origin is not None
        sources[Path(spec.origin).name] = Path(spec.origin).read_text(encoding="utf-8")
    for test in LISTED:
        file, _, name = test.partition("::")
        assert re.search(rf"^def {name}\(", sources[file], re.MULTILINE), test
