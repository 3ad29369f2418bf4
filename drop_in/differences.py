"""The tests of scikit-learn that treewright's classes fail, each with its reason: `differences.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_name("differences.toml")
# What a difference is, in the order of the page.
KINDS = {
    "better": "Deliberate differences",
    "scope": "What treewright does not have",
    "wording": "The same error in other words",
    "random": "Other random numbers",
    "private": "Tests of scikit-learn's private parts",
}


class Difference(NamedTuple):
    """A reason, and the tests that fail for it."""

    kind: str  # one of KINDS
    reason: str
    tests: tuple[str, ...]
    run: bool = True  # False: the test does not end, or ends the process

    def lists(self, test: str) -> bool:
        """Whether a test is listed: by its name, by its function, or by a pattern with stars.

        >>> Difference("better", "…", ("test_tree.py::test_xor",)).lists("test_tree.py::test_xor[gini]")
        True
        """
        name = short_name(test)
        function = name.partition("[")[0]
        return any(
            listed in (name, function) or fnmatchcase(name, listed.replace("[", "[[]"))
            for listed in self.tests
        )


def read_differences() -> list[Difference]:
    """The differences, in the order of the file."""
    entries = tomllib.loads(FILE.read_text(encoding="utf-8")).get("difference", [])
    return [
        Difference(entry["kind"], entry["reason"], tuple(entry["tests"]), entry.get("run", True))
        for entry in entries
    ]


def short_name(test: str) -> str:
    """The name of a test without the folders of its file.

    >>> short_name("sklearn/tree/tests/test_tree.py::test_iris[a/b]")
    'test_tree.py::test_iris[a/b]'
    """
    file, _, rest = test.partition("::")
    return f"{file.rpartition('/')[2]}::{rest}"


def difference_of(test: str, differences: Sequence[Difference]) -> Difference | None:
    """The first difference that lists a test; None if none does."""
    return next((difference for difference in differences if difference.lists(test)), None)
