"""What the commands tell: `describe`, one JSON document under `--json`, nothing under `--quiet`, and help."""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from treewright import cli, load

TABLE = """id,age,zip,job,since,flag,void,<b>[red]
a1,31,00123,cook,2020-01-31,true,,1
a2,,12345,clerk,2020-02-01 12:30,false,,1
a3,52.5,99999,cook,,true,,1
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(TABLE)
    rows = (f"{i % 50},{'red' if i % 3 else 'blue'},{'yes' if i % 50 > 20 else 'no'}\n" for i in range(400))
    Path("u.csv").write_text("x,z,y\n" + "".join(rows))
    return tmp_path


def said(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    cli.main(list(arguments))
    done = capfd.readouterr()
    return done.out, done.err


def document(capfd: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """The one document that a command prints, and nothing else."""
    out, err = said(capfd, *arguments, "--json")
    assert err == ""
    assert out.isascii()
    told: dict[str, Any] = json.loads(out)
    return told


def test_describe_tells_a_line_for_each_column(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out, err = said(capfd, "describe", "t.csv")
    assert err == ""
    first, _, header, _, *lines = out.splitlines()
    assert first == "t.csv: 3 rows, 8 columns"
    names = ["column", "kind", "missing", "distinct", "of rows", "range or most frequent"]
    assert re.split(" {2,}", header) == names
    assert lines[-2].startswith("Next, if 'flag' is to be predicted")
    assert [re.split(" {2,}", line) for line in lines[:8]] == [
        ["id", "category", "3", "100.0 %", "a1 33.3 %, a2 33.3 %, a3 33.3 %"],
        ["age", "number", "33.3 %", "2", "66.7 %", "31 … 52.5"],
        ["zip", "category", "3", "100.0 %", "00123 33.3 %, 12345 33.3 %, 99999 33.3 %"],
        ["job", "category", "2", "66.7 %", "cook 66.7 %, clerk 33.3 %"],
        ["since", "time", "33.3 %", "2", "66.7 %", "2020-01-31 … 2020-02-01 12:30:00"],
        ["flag", "category", "2", "66.7 %", "true 66.7 %, false 33.3 %"],
        ["void", "empty", "100.0 %", "0", "0 %", "nothing in it"],
        ["<b>[red]", "number", "1", "33.3 %", "1; always the same"],
    ]


def test_describe_for_programs(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    told = document(capfd, "describe", "t.csv", "--drop", "id", "--kinds", "zip=number")
    assert (told["table"], told["rows"]) == ("t.csv", 3)
    columns = {column["name"]: column for column in told["columns"]}
    assert "id" not in columns
    assert columns["zip"] == {
        "name": "zip", "kind": "number", "missing": 0, "distinct": 3, "least": 123.0, "most": 99999.0,
        "distinct_share": 1.0,
    }  # fmt: skip
    assert columns["job"]["values"] == [{"value": "cook", "rows": 2}, {"value": "clerk", "rows": 1}]
    assert columns["flag"]["values"][0] == {"value": True, "rows": 2}
    assert columns["since"]["most"] == "2020-02-01T12:30:00"
    assert columns["void"]["remark"] == "nothing in it"


def test_describe_reads_pipes_and_survives_odd_names(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = f"{'n' * 10_000},two\\nlines,\x1b[31m\n".replace("two\\nlines", '"two\nlines"') + "1,2,3\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(table.encode())))
    out, _ = said(capfd, "describe", "-")
    assert out.startswith("the standard input: 1 row, 3 columns\n")
    assert "n…" in out
    assert max(map(len, out.splitlines())) < 200
    assert "two\\nlines" in out
    assert "\x1b" not in out


def test_fit_for_programs(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    told = document(capfd, "fit", "u.csv", "--target", "y", "-o", "m.json")
    tree = load("m.json")
    assert told["table"] == {
        "file": "u.csv", "rows": 400, "columns": 2, "missing": 0, "rows_dropped": 0,
        "kinds": {"number": 1, "category": 1, "time": 0},
    }  # fmt: skip
    assert told["target"]["classes"] == ["no", "yes"]
    assert sum(told["target"]["shares"]) == pytest.approx(1)
    assert told["tree"]["leaves"] == tree.n_leaves
    assert told["pruning"]["method"] == "cost_complexity"
    assert {part: facts["rows"] for part, facts in told["parts"].items()} == {
        "training": 240, "validation": 80, "test": 80,
    }  # fmt: skip
    assert told["parts"]["test"]["error"] == told["certificates"][0]["error"] == 0
    assert 0 < told["certificates"][0]["value"] < 0.05
    assert told["files"] == {"model": "m.json", "report": "m.report.html"}
    assert told["notes"] == []
    numbers = document(
        capfd, "fit", "u.csv", "--target", "x", "--test-size", "0", "--alpha", "0", "-o", "n.json"
    )
    assert numbers["certificates"] == []
    assert "do not bound the loss" in numbers["no_certificate"]
    assert numbers["target"] == {"name": "x", "least": 0.0, "most": 49.0}
    assert ["taken for numbers" in note for note in numbers["notes"]] == [True]
    prices = "".join(f"{i % 7},{i * 1000}\n" for i in range(101))
    Path("p.csv").write_text(f"x,price\n{prices}")
    assert document(capfd, "fit", "p.csv", "--target", "price", "-o", "p.json")["notes"] == []


@pytest.mark.slow
def test_show_and_demo_for_programs(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    said(capfd, "fit", "u.csv", "--target", "y", "-o", "m.json")
    told = document(capfd, "show", "m.json")
    tree = load("m.json")
    assert (told["leaves"], told["depth"], told["columns"]) == (tree.n_leaves, tree.depth, ["x", "z"])
    assert len(told["nodes"]) == tree.n_nodes
    assert told["nodes"][1] == {
        "node": 1, "depth": 1, "condition": "x <= 20.5", "rows": int(tree.rows[1]), "answers": ["no"],
        "is_leaf": True,
    }  # fmt: skip
    assert len(document(capfd, "show", "m.json", "--max-depth", "0")["nodes"]) == 1
    demo = document(capfd, "demo")
    assert len(demo["trees"]) == 10
    assert demo["certificates"][0]["value"] < 0.11


def test_quiet_is_silent_where_a_file_tells_enough(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert said(capfd, "fit", "u.csv", "--target", "x", "-o", "m.json", "-q") == ("", "")
    assert said(capfd, "predict", "m.json", "u.csv", "-o", "p.csv", "--quiet") == ("", "")
    out, err = said(capfd, "show", "m.json", "--quiet")  # what was asked for is told all the same
    assert out == f"{load('m.json')}\n"
    assert err == ""


def test_trouble_under_json_is_one_line_on_stderr(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["fit", "u.csv", "--target", "q", "--json"])
    done = capfd.readouterr()
    assert (stopped.value.code, done.out) == (1, "")
    assert done.err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("command", cli.COMMANDS)
def test_help_teaches_by_examples_that_can_be_called(
    command: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each example is a call that the parser accepts, and fits into a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    out, _ = said(capfd, command, "--help")
    assert max(map(len, out.splitlines())) <= 80
    assert "•" not in out, "a line that Markdown takes for an item of a list"
    calls = re.findall(r"^ *(?:.*\| )?(treewright .*?) *$", out.partition("Examples")[2], re.MULTILINE)
    assert len(calls) >= 2
    app = cli._app(cli.COMMANDS)
    for call in calls:
        function, bound, _ = app.parse_args(shlex.split(call)[1:], exit_on_error=False, print_error=False)
        assert function.__name__ == command
        assert bound.arguments or command == "demo"


def test_the_commands_are_listed_in_their_order(capfd: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capfd, "--help")
    listed = re.findall(r"^│ ([a-z]+) ", out, re.MULTILINE)
    assert tuple(listed) == cli.COMMANDS


@pytest.mark.slow
def test_kinds_say_what_columns_are(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("k.csv").write_text(
        "code,day,y\n" + "".join(f"00{i % 7},2020-01-{i % 28 + 1:02},{i % 3}\n" for i in range(60))
    )
    said(
        capfd,
        "fit",
        "k.csv",
        "--target",
        "y",
        "--kinds",
        "code=number",
        "--kinds",
        "y=category",
        "-o",
        "k.json",
    )
    schema = load("k.json").schema
    assert [column.kind for column in schema.columns] == ["number", "time"]
    assert schema.targets[0].classes == ("0", "1", "2")
    said(
        capfd,
        "fit",
        "k.csv",
        "--target",
        "y",
        "--kinds",
        "day=category",
        "--kinds",
        "y=number",
        "-o",
        "k.json",
    )
    schema = load("k.json").schema
    assert [column.kind for column in schema.columns] == ["category", "category"]
    assert schema.targets[0].classes is None


def test_large_numbers_are_written_out(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Nobody reads 1.23457e+06 as a price, and a squared error is judged by its root."""
    Path("n.csv").write_text(
        "year,x,y\n" + "".join(f"{1950 + i},{i * 30000.25},{i % 2 * 4e6 + i}\n" for i in range(80))
    )
    shown = said(capfd, "describe", "n.csv")[0]
    assert "1950 … 2029" in shown
    assert "0 … 2370020" in shown
    fit = said(capfd, "fit", "n.csv", "--target", "y", "-o", "n.json", "--no-report")[0]
    texts = [shown, fit, said(capfd, "explain", "n.json", "n.csv", "--row", "2")[0]]
    texts += [
        said(capfd, "compare", "n.csv", "--target", "y")[0],
        said(capfd, "prune", "n.json", "--leaves", "1")[0],
    ]
    assert not re.findall(r"\de\+\d", "".join(texts))
    assert "losses: root mean squared error\n" in texts[3]
    assert "root mean squared error on training rows: " in texts[4]
    assert re.search(r"squared error on 16 rows .* trillion, its root [\d,]+   → likely below", fit)
