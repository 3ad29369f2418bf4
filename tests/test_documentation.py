"""What README.md and the pages of docs/ show, in Python and on the command line, does what they say."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import treewright

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *(p for p in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in p.parts)]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def name_of(page: Path) -> str:
    """The path of a page within the repository."""
    return page.relative_to(ROOT).as_posix()


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page run one after the other; where one shows `>>>`, its output is the one shown."""
    monkeypatch.chdir(tmp_path)  # for the files that they write
    text = page.read_text()
    names: dict[str, object] = {}
    for number, block in enumerate(BLOCK.findall(text), start=1):
        where = f"{name_of(page)}, block {number}"
        if ">>> " in block:
            example = doctest.DocTestParser().get_doctest(block, names, where, str(page), 0)
            told: list[str] = []
            result = doctest.DocTestRunner(optionflags=FLAGS).run(example, out=told.append, clear_globs=False)
            names = example.globs
            assert result.failed == 0, "".join(told)
        else:
            exec(compile(block, where, "exec"), names)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
@pytest.mark.parametrize("page", [page for page in PAGES if "```console" in page.read_text()], ids=name_of)
def test_commands_do_what_pages_show(page: Path, tmp_path: Path) -> None:
    """The calls after `$ ` in the blocks `console`, one after the other, on the table that the page shows."""
    text = page.read_text()
    for name, table in re.findall(r"`(\w+\.csv)`:\n\n```csv\n(.*?)```", text, re.DOTALL):
        (tmp_path / name).write_text(table)
    settings = with_tools(tmp_path)
    for block in re.findall(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        for call, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            done = subprocess.run(
                call, shell=True, cwd=tmp_path, env=settings, capture_output=True, text=True, timeout=120
            )
            told = done.stdout + done.stderr
            assert doctest.OutputChecker().check_output(shown, told, FLAGS), f"{call}\n{told}"
            assert done.returncode == 0 or "error: " in shown, f"{call}\n{told}"


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_the_lines_of_shell_of_the_readme_run(tmp_path: Path) -> None:
    """From the invented tables on, in an empty folder."""
    _, _, section = (ROOT / "README.md").read_text(encoding="utf-8").partition("lines of shell\n")
    prose, calls, _ = section.split("```", 2)
    (setup,) = re.findall(r"`(python -m .*?)`", prose)
    settings = with_tools(tmp_path)
    assert calls.count("treewright ") == 6
    for call in [setup, *calls.strip().splitlines()]:
        done = subprocess.run(
            call, shell=True, cwd=tmp_path, env=settings, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, f"{call}\n{done.stderr}"
    assert {"loans.tree.json", "loans.report.html", "answers.csv", "loans.sql"} <= set(os.listdir(tmp_path))


def with_tools(folder: Path) -> dict[str, str]:
    """An environment with the commands `treewright` and `python` of this interpreter."""
    tools = folder / "tools"
    tools.mkdir()
    for tool, arguments in (("treewright", "-m treewright"), ("python", "")):
        (tools / tool).write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n')
        (tools / tool).chmod(0o755)
    return {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "80"}


def test_every_public_name_is_in_the_glossary() -> None:
    words = set(re.findall(r"\w+", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")))
    assert set(treewright.__all__) <= words, sorted(set(treewright.__all__) - words)


def test_pages_name_files_that_exist() -> None:
    for page in PAGES:
        prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", prose):
            assert (page.parent / target).exists(), f"{name_of(page)} links to {target}, which does not exist"
