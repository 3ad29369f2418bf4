"""Where the command line writes to may be full, closed or a pipe that nobody reads: one line tells it.

Programs run as users run them: Python is not told to write at once (PYTHONUNBUFFERED), which would hide what
is written only when the program ends.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from treewright import cli

pytestmark = pytest.mark.skipif(os.name != "posix", reason="streams of POSIX")

COMMANDS = (
    "--help",
    "--version",
    "fit --help",
    "describe t.csv",
    "describe t.csv --json",
    "fit t.csv --target y",
    "fit t.csv --target y --json",
    "prune m.json --leaves 1",
    "compare t.csv --target y",
    "predict m.json t.csv",
    "predict m.json t.csv --json",
    "explain m.json t.csv --row 1",
    "report m.json",
    "show m.json",
    "show m.json --json",
    "rules m.json",
    "export m.json",
    "export m.json --format sql",
)
FULL = "treewright: error: the standard output cannot be written: No space left on device\n"
CLOSED = "treewright: error: the standard output cannot be written: it is closed\n"
full_device = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith("PYTHON") or name in ("PYTHONPATH", "PYTHONMALLOC")
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("outlets")
    rows = "".join(f"{i * 7 % 31},{i % 10 / 4},{'xz'[i * 7 % 31 > 15]}\n" for i in range(30))
    (place / "t.csv").write_text("a,b,y\n" + rows)
    cli.main(["fit", str(place / "t.csv"), "--target", "y", "-o", str(place / "m.json"), "--quiet"])
    return place


def run(folder: Path, command: str, redirection: str = "") -> tuple[int, str, str]:
    """The exit code, the output and the messages of a command in a shell."""
    line = f'"{sys.executable}" -m treewright {command} {redirection}'
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
@full_device
@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_output_is_told_once(folder: Path, command: str) -> None:
    code, out, err = run(folder, command, "> /dev/full")
    told = "".join(
        line for line in err.splitlines(keepends=True) if not line.startswith("treewright: note: ")
    )
    assert (code, out, told) == (1, "", FULL)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS[::3])
def test_a_closed_output_is_told_once(folder: Path, command: str) -> None:
    assert run(folder, command, ">&-") == (1, "", CLOSED)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["--help", "predict m.json t.csv", "show m.json"])
def test_a_reader_who_has_seen_enough_ends_it_quietly(folder: Path, command: str) -> None:
    assert run(folder, command, "| true; echo ${PIPESTATUS[0]}") == (0, "141\n", "")


@pytest.mark.slow
def test_so_does_one_who_reads_a_named_output(folder: Path) -> None:
    assert run(folder, "predict m.json t.csv -o /dev/stdout", "| true; echo ${PIPESTATUS[0]}") == (
        0,
        "141\n",
        "",
    )
    assert run(folder, "predict m.json t.csv -o /dev/stdout", ">&-")[0] == 1


@pytest.mark.slow
@pytest.mark.parametrize("redirection", ["2>&-", pytest.param("2>/dev/full", marks=full_device)])
def test_without_a_place_for_messages_the_exit_code_tells(folder: Path, redirection: str) -> None:
    """The output is the same, and no message goes into it, nor into a file that is opened meanwhile."""
    for command, code in (
        ("predict m.json t.csv", 0),
        ("describe t.csv", 0),
        ("fit t.csv --target b -o n.json", 0),  # has a note
        ("predict m.json nope.csv", 1),
        ("predict", 2),
    ):
        found, out, err = run(folder, command, redirection)
        assert (found, err) == (code, "")
        assert "treewright: " not in out
        assert bool(out) == (code == 0)


@pytest.mark.slow
def test_all_streams_may_be_closed(folder: Path) -> None:
    assert run(folder, "fit t.csv --target y -o q.json --quiet", "<&- >&- 2>&-") == (0, "", "")
    assert (folder / "q.json").read_bytes() == (folder / "m.json").read_bytes()
    assert run(folder, "predict m.json t.csv", "<&- >&- 2>&-") == (1, "", "")
    code, _, err = run(folder, "describe -", "<&-")
    assert (code, err) == (1, "treewright: error: the standard input is closed; pipe a table into it\n")
