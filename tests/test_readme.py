"""The Python that README.md and the pages of docs/ show does what they say."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import treewright
import treewright.exporting

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks_run(page: Path) -> None:
    """The blocks of a page run one after the other; where one shows `>>>`, its output is the one shown."""
    text = page.read_text()
    names: dict[str, object] = {}
    for number, block in enumerate(BLOCK.findall(text), start=1):
        where = f"{page.name}, block {number}"
        if ">>> " in block:
            example = doctest.DocTestParser().get_doctest(block, names, where, str(page), 0)
            told: list[str] = []
            result = doctest.DocTestRunner(optionflags=FLAGS).run(example, out=told.append, clear_globs=False)
            names = example.globs
            assert result.failed == 0, "".join(told)
        else:
            exec(compile(block, where, "exec"), names)


def test_commands_of_the_quickstart_run(tmp_path: Path) -> None:
    """The commands after `$ ` run one after the other in one folder, and print what is shown."""
    pytest.importorskip("cyclopts")
    pytest.importorskip("duckdb")
    python = shlex.quote(sys.executable)
    shims = f'treewright() {{ {python} -m treewright "$@"; }}; python() {{ {python} "$@"; }}; '
    text = (ROOT / "docs" / "quickstart.md").read_text()
    shown = "".join(re.findall(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
    examples = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", shown, re.MULTILINE)
    assert len(examples) > 5
    for command, wanted in examples:
        run = subprocess.run(
            ["bash", "-c", shims + command],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert run.returncode == 0, f"{command}: {run.stderr}"
        assert doctest.OutputChecker().check_output(wanted, run.stdout, FLAGS), f"{command}:\n{run.stdout}"


def test_every_public_name_is_in_the_reference() -> None:
    words = set(re.findall(r"treewright\.(\w+)$", (ROOT / "docs" / "api.md").read_text(), re.MULTILINE))
    assert set(treewright.__all__) <= words, sorted(set(treewright.__all__) - words)


def test_every_format_is_in_the_reference() -> None:
    text = (ROOT / "docs" / "api.md").read_text()
    for name in treewright.exporting.formats():
        assert f"autofunction:: treewright.exporting.{name}.render" in text


def test_pages_name_files_that_exist() -> None:
    for page in PAGES:
        prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", prose):
            assert (page.parent / target).exists(), f"{page.name} links to {target}, which does not exist"
