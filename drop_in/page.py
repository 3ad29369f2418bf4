"""The page of the documentation: how many of scikit-learn's tests pass, and why the others do not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from drop_in.differences import KINDS, read_differences

COUNTS = Path(__file__).with_name("counts.json")
PAGE = Path(__file__).parent.parent / "docs" / "drop_in.md"
BEGIN, END = "<!-- `make drop-in` writes what follows -->", "<!-- and ends here -->"


def save_counts(counts: Mapping[str, Mapping[str, int]]) -> None:
    """Keep the counts of a run of all files, and bring the page up to date."""
    kept = {
        "scikit-learn": version("scikit-learn"),
        "files": {file: dict(counts[file]) for file in sorted(counts)},
    }
    COUNTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def page(text: str) -> str:
    """The text of the page with its written part brought up to date."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{counts_table()}\n\n{reasons()}\n\n{END}{rest.partition(END)[2]}"


def counts_table() -> str:
    """The tests of each file: how many pass, and how many are listed as differences."""
    kept = json.loads(COUNTS.read_text(encoding="utf-8"))
    lines = [
        f"| tests of scikit-learn {kept['scikit-learn']} | pass | differ | skipped |",
        "|---|---|---|---|",
    ]
    total: Counter[str] = Counter()
    for file, counts in kept["files"].items():
        total.update(counts)
        lines.append(_line(f"`{file}`", counts))
    return "\n".join([*lines, _line("all", total)])


def _line(name: str, counts: Mapping[str, int]) -> str:
    cells = (f"{counts.get(outcome, 0):,}" for outcome in ("passed", "xfailed", "skipped"))
    return f"| {name} | {' | '.join(cells)} |"


def reasons() -> str:
    """The differences with their tests, by kind."""
    differences = read_differences()
    parts = []
    for kind, heading in KINDS.items():
        lines = [f"- {each.reason}\n  {_tests(each.tests)}" for each in differences if each.kind == kind]
        if lines:
            parts += [f"### {heading}", "\n".join(lines)]
    return "\n\n".join(parts)


def _tests(tests: tuple[str, ...]) -> str:
    """The names of tests, by file."""
    by_file: dict[str, list[str]] = {}
    for test in tests:
        file, _, name = test.partition("::")
        by_file.setdefault(file, []).append(f"`{name}`")
    return "; ".join(f"`{file}`: {', '.join(names)}" for file, names in by_file.items())
