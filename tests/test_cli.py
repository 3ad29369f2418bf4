"""The command line, as a person calls it."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import treewright

RUN = [sys.executable, "-c", "from treewright.cli import main; main()"]


def call(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*RUN, *arguments], capture_output=True, text=True, encoding="utf-8", check=False, timeout=60
    )


def test_version() -> None:
    done = call("--version")
    assert done.returncode == 0
    assert done.stdout.strip() == treewright.__version__


def test_demo_prints_the_errors_and_the_tree() -> None:
    done = call("demo")
    assert done.returncode == 0, done.stderr
    assert "4601 e-mails, 57 columns" in done.stdout
    errors = [float(error) for error in re.findall(r"(\d+\.\d+)%", done.stdout)]
    assert len(errors) == 2
    assert all(5 < error < 12 for error in errors)  # published trees of this size: 9.3 %
    leaves = re.findall(r"\b(spam|nonspam) +\d+ rows", done.stdout)
    assert len(leaves) == 17
    assert "\x1b" not in done.stdout  # no colours where nobody sees them


def test_unknown_command_is_an_error() -> None:
    done = call("demmo")
    assert done.returncode != 0
    assert "demmo" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize("lacking", ["cyclopts", "rich"])
def test_without_the_extra_one_line_says_what_to_install(lacking: str) -> None:
    code = f"import sys; sys.modules[{lacking!r}] = None; from treewright.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "demo"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.strip() == f"the command line needs {lacking}: pip install 'treewright[cli]'"


def test_demo_does_not_import_scikit_learn() -> None:
    code = "import sys; from treewright.cli import demo; demo(); print('sklearn' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True
    )
    assert done.stdout.strip().endswith("False")
