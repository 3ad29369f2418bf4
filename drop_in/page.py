"""The page of the documentation: how many of scikit-learn's tests pass, and why the others do not."""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from drop_in.differences import KINDS, read_differences

COUNTS = Path(__file__).with_name("counts.json")
PAGE = Path(__file__).parent.parent / "docs" / "drop_in.md"
BEGIN = "<!-- `make drop-in DROP_IN_OPTIONS=--save-counts` writes what follows -->"
END = "<!-- and ends here -->"


def save_counts(counts: Mapping[str, Mapping[str, int]]) -> None:
    """Keep the counts of a run of all files, and bring the page up to date."""
    system = f"{platform.system()} on {platform.machine()}"
    kept = {
        "scikit-learn": version("scikit-learn"),
        "environment": f"Python {platform.python_version()}, numpy {version('numpy')}, {system}",
        "files": {file: dict(counts[file]) for file in sorted(counts)},
    }
    COUNTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def version_of_counts() -> str:
    """The version of scikit-learn whose tests were counted; none without counts."""
    if not COUNTS.exists():
        return "none"
    return str(json.loads(COUNTS.read_text(encoding="utf-8"))["scikit-learn"])


def page(text: str) -> str:
    """The text of the page with its written part brought up to date."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n\n## The counts\n\n{counted()}\n\n{reasons()}\n\n{END}{rest.partition(END)[2]}"


def counted() -> str:
    """The tests of each file: how many pass, and how many are listed as differences."""
    kept = json.loads(COUNTS.read_text(encoding="utf-8"))
    total: Counter[str] = Counter()
    for counts in kept["files"].values():
        total.update(counts)
    lines = [
        f"Of {total['passed'] + total['xfailed']:,} tests {total['passed']:,} pass and {total['xfailed']:,} "
        f"differ, for the reasons below; {total['skipped']:,} more are skipped by scikit-learn itself.\n"
        f"Counted with scikit-learn {kept['scikit-learn']}, {kept['environment']}.",
        "",
        "| file | pass | differ | skipped |",
        "|---|--:|--:|--:|",
    ]
    lines += [_line(f"`{file}`", counts) for file, counts in kept["files"].items()]
    return "\n".join([*lines, _line("all", total)])


def _line(name: str, counts: Mapping[str, int]) -> str:
    cells = (f"{counts.get(outcome, 0):,}" for outcome in ("passed", "xfailed", "skipped"))
    return f"| {name} | {' | '.join(cells)} |"


def reasons() -> str:
    """The differences with their tests, by kind."""
    differences = read_differences()
    parts = []
    for kind, heading in KINDS.items():
        lines = [
            f"- {_sentence(each.reason)}\\\n  {_tests(each.tests)}"
            for each in differences
            if each.kind == kind
        ]
        if lines:
            parts += [f"## {heading}", "\n".join(lines)]
    return "\n\n".join(parts)


def _sentence(reason: str) -> str:
    return f"{reason[0].upper()}{reason[1:]}."


def _tests(tests: tuple[str, ...]) -> str:
    """The names of tests, by file."""
    by_file: dict[str, list[str]] = {}
    for test in tests:
        file, _, name = test.partition("::")
        by_file.setdefault(file, []).append(f"`{name}`")
    return "; ".join(f"`{file}`: {', '.join(names)}" for file, names in by_file.items())
