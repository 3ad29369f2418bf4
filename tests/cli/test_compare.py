"""`treewright compare` beside `treewright fit`: the same rows and trees, and the command for the best."""

from __future__ import annotations

import json
import os
import random
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from treewright import cli
from treewright.cli.commands.compare import _pruning
from treewright.cli.costs import Costs
from treewright.cli.options import Dialect, Labelled, Learning, Limits
from treewright.cli.shell import command_line, file_word, group_words, option_words

Capture = pytest.CaptureFixture[str]


def _loans(n: int) -> str:
    draw = random.Random(n)
    lines = ["id;age;income;job;default;amount;often"]
    for i in range(n):
        age, income = draw.randint(18, 80), draw.randint(10, 90)
        job = draw.choice(["cook", "clerk", "baker", "-"])
        late = "yes" if (income < 35 and job != "clerk") != (draw.random() < 0.15) else "no"
        amount = 10 * income + age + draw.randint(-40, 40)
        lines.append(f"{i};{age if i % 9 else -1};{income};{job};{late};{amount};{1 + i % 3}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("loans.csv").write_text(_loans(400))
    Path("-few loans.csv").write_text(_loans(24))
    Path("costs.json").write_text('{"yes": {"no": 4}}')
    return tmp_path


def document(capfd: Capture, *arguments: str) -> dict[str, Any]:
    capfd.readouterr()
    cli.main([*arguments, "--json", "--quiet"])
    told: dict[str, Any] = json.loads(capfd.readouterr().out)
    return told


def fitted(capfd: Capture, *arguments: str) -> tuple[int, float]:
    """The leaves and the test loss of a fit, which tells the root of a mean squared error."""
    told = document(capfd, *arguments, "-o", "made.json", "--no-report")
    error = told["parts"]["test"]["error"]
    return told["tree"]["leaves"], error if "classes" in told["target"] else error**2


OPTIONS = {
    "plain": "--target default --drop id --drop amount",
    "growing": "--target default --drop id --criterion entropy --min-samples-leaf 4 --random-state 3 "
    "--delta 0.1",
    "costs": "--target default --drop id --cost yes:no=3 --prior yes=0.2 --prior no=0.8 --random-state 1",
    "file of costs": "--target default --drop id --cost costs.json --cost-split none",
    "reading": "--target default --drop id --weights often --max-depth 6 --kinds age=category --na-values=-1 "
    "--na-values=- --separator semicolon --header",
    "numbers": "--target amount --drop id --drop default --numbers --max-leaf-nodes 40 "
    "--monotonic-cst income=1",
}


@pytest.mark.slow
@pytest.mark.parametrize("options", ["plain", "growing", "costs", "numbers"])
def test_fit_makes_the_tree_of_every_line(folder: Path, capfd: Capture, options: str) -> None:
    """The same seed deals the same rows: leaves and test loss agree, line by line."""
    given = OPTIONS[options].split()
    told = document(capfd, "compare", "loans.csv", *given)
    rows = [row for row in told["methods"] if row["trouble"] is None and row["method"] != "rules"]
    assert len(rows) >= 5
    for row in rows:
        leaves, error = fitted(capfd, "fit", "loans.csv", *given, *_pruning(row))
        assert (leaves, error) == (row["leaves"], pytest.approx(row["test"], rel=1e-12)), row


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS)
def test_the_last_line_fits_the_best_tree(folder: Path, capfd: Capture, options: str) -> None:
    given = OPTIONS[options].split()
    told = document(capfd, "compare", "loans.csv", *given)
    capfd.readouterr()
    cli.main(["compare", "loans.csv", *given, "--quiet"])
    command = capfd.readouterr().out.splitlines()[-1]
    assert command == told["command"]
    assert command.startswith("treewright fit loans.csv --target ")
    assert told["best"] in told["methods"]
    row = told["best"]
    assert fitted(capfd, *shlex.split(command)[1:]) == (row["leaves"], pytest.approx(row["test"], rel=1e-12))


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="runs the command in a POSIX shell")
def test_the_command_can_be_pasted_into_a_shell(folder: Path, capfd: Capture) -> None:
    """A table of fewer than 25 rows, whose name begins with a hyphen and has a space."""
    Path("-few loans.csv").write_text(_loans(24).replace("default", "it's $HOME `due`"))
    told = document(capfd, "compare", "./-few loans.csv", "--target", "it's $HOME `due`", "--drop", "id")
    ours = f'treewright() {{ {shlex.quote(sys.executable)} -m treewright "$@"; }}\n'
    done = subprocess.run(
        ["sh", "-c", f"{ours}{told['command']} --json --quiet -o made.json --no-report"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    made = json.loads(done.stdout)
    assert made["tree"]["leaves"] == told["best"]["leaves"]
    assert made["parts"]["test"]["error"] == pytest.approx(told["best"]["test"])


def test_words_for_the_shell() -> None:
    assert command_line(["fit", "a b", "it's", "", "ü"]) == "fit 'a b' 'it'\"'\"'s' '' 'ü'"
    assert command_line(["a\x1b[2J'\n"]) == "$'a\\x1b[2J\\'\\n'"  # nothing that a terminal would obey
    assert file_word(Path("-x.csv")) == "./-x.csv"
    assert file_word(Path("-")) == "-"
    assert option_words("--na-values", "-999") == ["--na-values=-999"]
    assert option_words("--target", "y") == ["--target", "y"]


def test_words_of_options_that_are_given() -> None:
    for group in (Limits(), Labelled(), Dialect(), Costs()):
        assert not list(group_words(group))
    assert list(group_words(Dialect(separator=";", na_values=["-999", "?"], header=False))) == [
        *("--separator", ";", "--na-values=-999", "--na-values", "?", "--no-header"),
    ]
    assert list(group_words(Learning(target="y", weights="w", classes=True, drop_missing_target=True))) == [
        *("--target", "y", "--weights", "w", "--classes", "--drop-missing-target"),
    ]
    assert list(group_words(Learning(target="y", classes=False))) == ["--target", "y", "--numbers"]
    assert list(group_words(Costs(cost=["a:b=2"], cost_split="none"))) == [
        *("--cost", "a:b=2", "--cost-split", "none"),
    ]
