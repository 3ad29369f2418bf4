"""The Python that README.md and the pages of docs/ show does what they say."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_the_command_line_does_what_its_page_shows(tmp_path: Path) -> None:
    """The calls of the blocks `console`, one after the other, on the table that the page shows."""
    text = (ROOT / "docs" / "command-line.md").read_text()
    name, table = re.search(r"`(\w+\.csv)`:\n\n```csv\n(.*?)```", text, re.DOTALL).groups()
    (tmp_path / name).write_text(table)
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "treewright").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m treewright "$@"\n')
    (tools / "treewright").chmod(0o755)
    settings = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "80"}
    for block in re.findall(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        for call, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            done = subprocess.run(
                call, shell=True, cwd=tmp_path, env=settings, capture_output=True, text=True, timeout=60
            )
            assert (done.stdout + done.stderr).split() == shown.split(), call


def test_pages_name_files_that_exist() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}, which does not exist"
