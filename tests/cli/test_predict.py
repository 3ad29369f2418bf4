"""`treewright predict` piece by piece: the same answers in the same order, and nothing half-written."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from treewright import cli, load
from treewright.cli.errors import Trouble
from treewright.cli.tables import reader
from treewright.cli.tables.reader import read
from treewright.cli.tables.sources import open_source

N = 3000


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Path:
    """A model and the table t.csv in the current folder, which is read in pieces of 64 rows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(reader, "CELLS_AT_ONCE", 1)
    rng = np.random.default_rng(3)
    x, job = rng.normal(size=N).round(3), rng.choice(["cook", "clerk", "smith"], N)
    y = np.where((x > 0.2) ^ (job == "cook"), "yes", "no")
    cells = zip(range(N), x.tolist(), job.tolist(), y.tolist(), strict=True)
    lines = ["id,x,job,y", *(",".join(map(str, row)) for row in cells)]
    Path("t.csv").write_text("\n".join(lines) + "\n")
    cli.main(["fit", "t.csv", "--target", "y", "--drop", "id", "-o", "m.json", "--quiet"])
    assert capfd.readouterr() == ("", "")
    return tmp_path / "m.json"


def predicted(text: str) -> list[str]:
    return [row["prediction"] for row in csv.DictReader(io.StringIO(text))]


def expected() -> list[str]:
    with open("t.csv") as file:
        rows = list(csv.DictReader(file))
    table = {"x": [float(row["x"]) for row in rows], "job": [row["job"] for row in rows]}
    answers: list[str] = load("m.json").predict(table).tolist()
    return answers


@pytest.mark.slow
def test_every_format_has_the_same_answers_in_order(model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    wanted = expected()
    for name in ("p.csv", "p.tsv.gz", "p.jsonl", "p.ndjson.gz", "p.parquet"):
        cli.main(["predict", "m.json", "t.csv", "-o", name, "--keep", "id", "--proba"])
    done = capfd.readouterr()
    assert done.out == ""
    assert done.err.splitlines()[0] == f"treewright: {N:,} predictions written to p.csv"
    assert len(done.err.splitlines()) == 5
    with open("p.csv") as file:
        rows = list(csv.DictReader(file))
    assert [row["prediction"] for row in rows] == wanted
    assert [int(row["id"]) for row in rows] == list(range(N))
    with gzip.open("p.tsv.gz", "rt") as file:
        assert list(csv.DictReader(file, delimiter="\t")) == rows
    objects = [json.loads(line) for line in Path("p.jsonl").read_text().splitlines()]
    assert [{**each, "id": int(each["id"])} for each in objects] == [
        {**row, "id": int(row["id"]), **{k: float(row[k]) for k in ("probability_no", "probability_yes")}}
        for row in rows
    ]
    assert gzip.decompress(Path("p.ndjson.gz").read_bytes()) == Path("p.jsonl").read_bytes()
    assert duckdb.sql("FROM 'p.parquet'").fetchall() == [tuple(each.values()) for each in objects]


@pytest.mark.slow
def test_rows_keep_their_order_at_full_speed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Texts beside numbers: several threads of DuckDB would hand out such rows in another order."""
    monkeypatch.chdir(tmp_path)
    n = 200_000
    rows = (f"{i},{i % 7},{'abc'[i % 3]}{i % 5}\n" for i in range(n))
    Path("t.csv").write_text("a,b,c\n" + "".join(rows))
    source = open_source("t.csv")
    frames = list(reader.stream(source, {"a": "number", "c": "text"}, ("b",)))
    assert len(frames) > 1
    assert np.array_equal(np.concatenate([frame.columns["a"] for frame in frames]), np.arange(n))
    assert [cell for frame in frames for cell in frame.columns["c"]] == [
        f"{'abc'[i % 3]}{i % 5}" for i in range(n)
    ]
    assert [frame.start for frame in frames] == np.cumsum([0, *(f.n_rows for f in frames)])[:-1].tolist()


FORMS: list[tuple[Any, list[str]]] = [
    ("number", ["1"] * 70 + ["2.5", " NA ", "-0.0", "1e-3", "inf", ""]),
    ("number", ["true"] * 70 + ["false", ""]),
    ("number", ["1"] * 70 + ["007", "1.5"]),
    ("time", ["2020-01-31"] * 70 + ["2020-01-31 12:30", "", "9999-12-31"]),
    ("time", ["2020-01-31T10:00:00+02:00"] * 70 + ["", "2020-01-01T00:00:00Z"]),
    ("text", ["1"] * 70 + [" x ", "NA", "é", ""]),
    ("bool", ["true"] * 70 + ["FALSE", "?"]),
    ("integer", ["1"] * 70 + ["-5", ""]),
    ("integer", ["123456789012345678901"] * 70 + ["-5", ""]),
]


@pytest.mark.parametrize(("form", "cells"), FORMS)
def test_pieces_hold_what_the_whole_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: Any, cells: list[str]
) -> None:
    """Also where the first rows do not tell what follows, and reading begins again behind what is done."""
    monkeypatch.setattr(reader, "CELLS_AT_ONCE", 1)
    monkeypatch.setattr("treewright.cli.tables.csv_files.SAMPLED", 10)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{cell},{i}\n" for i, cell in enumerate(cells)))
    whole = read(open_source(path), {"a": form}, ("b",))
    frames = list(reader.stream(open_source(path), {"a": form}, ("b",)))
    assert len(frames) > 1
    pieces = [cell for frame in frames for cell in frame.columns["a"].tolist()]
    assert [str(cell) for cell in pieces] == [str(cell) for cell in whole.columns["a"].tolist()]
    assert [cell for frame in frames for cell in frame.kept["b"]] == whole.kept["b"].tolist()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("late", "message"),
    [
        ("1,2", "line 202 has 2 cells"),
        ("9007199254740993.", None),
        ("9007199254740993", "line 202 is 9007199254740993, beyond"),
    ],
)
def test_late_trouble_names_its_line(
    model: Path, capfd: pytest.CaptureFixture[str], late: str, message: str | None
) -> None:
    Path("n.csv").write_text("a\n" + "1\n" * 200 + late + "\n" + "1\n" * 100)
    if message is None:
        assert sum(frame.n_rows for frame in reader.stream(open_source("n.csv"), {"a": "number"})) == 301
        return
    Path("y.csv").write_text("a,y\n1,u\n2,u\n3,v\n4,v\n")
    cli.main(["fit", "y.csv", "--target", "y", "-o", "n.json", "--quiet"])
    Path("old.csv").write_text("old")
    with pytest.raises(SystemExit):
        cli.main(["predict", "n.json", "n.csv", "-o", "old.csv"])
    assert message in capfd.readouterr().err
    assert Path("old.csv").read_text() == "old"


@pytest.mark.slow
def test_from_a_pipe_to_a_pipe(
    model: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Path("t.csv").read_bytes()
    as_lines = "\n".join(json.dumps(row) for row in csv.DictReader(io.StringIO(table.decode()))).encode()
    cli.main(["predict", "m.json", "t.csv", "-o", "p.parquet", "--quiet"])
    duckdb.sql("COPY (FROM 't.csv') TO 't.parquet'")
    parquet = Path("t.parquet").read_bytes()
    for content in (table, gzip.compress(table), as_lines, gzip.compress(as_lines), parquet):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        cli.main(["predict", "m.json", "-", "-o", "-"])
        out, err = capfd.readouterr()
        assert predicted(out) == expected()
        assert err == ""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(as_lines)))
    cli.main(["predict", "m.json", "-", "--format", "jsonl"])
    assert [json.loads(line)["prediction"] for line in capfd.readouterr().out.splitlines()] == expected()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe_is_read(model: Path) -> None:
    os.mkfifo("pipe.csv")
    command = [sys.executable, "-m", "treewright", "predict", "m.json", "pipe.csv", "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    with open("pipe.csv", "wb") as pipe:
        pipe.write(Path("t.csv").read_bytes())
    out, _ = process.communicate(timeout=60)
    assert predicted(out) == expected()


@pytest.mark.slow
def test_the_document_of_predictions(model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("n.csv").write_text("x,job\n,cook\n1,pilot\n2,cook\n")
    cli.main(["predict", "m.json", "n.csv", "--json", "--proba"])
    out, err = capfd.readouterr()
    told = json.loads(out)
    assert err == ""
    assert [set(row) for row in told["predictions"]] == [
        {"prediction", "probability_no", "probability_yes"}
    ] * 3
    assert (told["rows"], told["rows_with_missing"], told["rows_with_unseen"]) == (3, 1, 1)
    assert told["unseen_in"] == ["job"]
    assert len(told["notes"]) == 2
    cli.main(["predict", "m.json", "n.csv", "--json", "-o", "p.csv"])
    told = json.loads(capfd.readouterr().out)
    assert told["files"] == {"predictions": "p.csv"}
    assert len(predicted(Path("p.csv").read_text())) == 3
    cli.main(["predict", "m.json", "n.csv", "--quiet"])
    assert capfd.readouterr().err == ""


@pytest.mark.slow
def test_a_tree_of_one_leaf_needs_no_column(model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    cli.main(["fit", "t.csv", "--target", "y", "--leaves", "1", "-o", "leaf.json", "-q"])
    for text in ("x\n1\n2\n", "other\nz\nz\n"):
        Path("n.csv").write_text(text)
        cli.main(["predict", "leaf.json", "n.csv"])
        assert len(predicted(capfd.readouterr().out)) == 2


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
@pytest.mark.parametrize("name", ["p.csv", "p.jsonl.gz", "p.parquet"])
def test_a_full_disk_leaves_the_old_file(model: Path, name: str) -> None:
    """No file may grow beyond 4 kB: as if the disk were full in the midst of writing."""
    Path(name).write_bytes(b"old")
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "from treewright.cli import main; main(sys.argv[1:])"
    )
    arguments = ["predict", "m.json", "t.csv", "-o", name, "--proba", "--keep", "id", "--keep", "x"]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("treewright: error: ")
    assert done.stderr.count("\n") == 1
    assert "written" in done.stderr
    assert Path(name).read_bytes() == b"old"
    assert not list(Path().glob(".*.part"))


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_a_reader_who_has_seen_enough_ends_the_stream(model: Path) -> None:
    with open("long.csv", "w") as file:
        file.write("x,job\n")
        file.writelines(f"{i % 9},cook\n" for i in range(400_000))
    process = subprocess.Popen(
        [sys.executable, "-m", "treewright", "predict", "m.json", "long.csv", "--proba"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) == 141


@pytest.mark.slow
def test_what_was_laid_down_is_removed(
    model: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    for content in (b"x,job\n1,cook\n", b"", b"x,job\nfoo,cook\n"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        if content.startswith(b"x,job\n1"):
            cli.main(["predict", "m.json", "-"])
        else:
            with pytest.raises(SystemExit):
                cli.main(["predict", "m.json", "-"])
            assert "treewright: error: the standard input" in capfd.readouterr().err
        assert list(place.iterdir()) == []


def test_a_stream_that_is_not_wanted_any_more_ends(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\n" + "1\n" * 100_000)
    frames = reader.stream(open_source(path), {"a": "number"}, width=1000)
    assert next(frames).n_rows < 1000
    frames.close()
    path.write_text("a\n")
    with pytest.raises(Trouble, match="has names of columns but no rows"):
        next(reader.stream(open_source(path), {"a": "number"}))
