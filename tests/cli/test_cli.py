"""The command line, as a person calls it: fitting, predicting, showing."""

from __future__ import annotations

import csv
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import treewright
from treewright import cli

ROWS = ["weather,wind,sail"] + [
    f"{weather},{wind},{'yes' if wind < 12 and weather != 'rain' else 'no'}"
    for weather in ("clear", "clouds", "rain")
    for wind in (2, 5.5, 8, 11, 14, 17.25, 20, 23, 26, 31)
]


def call(*arguments: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "treewright", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", check=False, timeout=120, **options
    )


def run(capfd: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[str, str]:
    """(stdout, stderr) of a call that ends well; within this process, which is much quicker."""
    cli.main(list(map(str, arguments)))
    done = capfd.readouterr()
    return done.out, done.err


@pytest.fixture
def sailing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "sailing.csv"
    path.write_text("\n".join(ROWS) + "\n")
    return path


@pytest.mark.slow
def test_version() -> None:
    done = call("--version")
    assert done.returncode == 0
    assert done.stdout.strip() == treewright.__version__


@pytest.mark.slow
def test_demo_prunes_shows_a_small_tree_and_certifies_it() -> None:
    done = call("demo")
    assert done.returncode == 0, done.stderr
    assert "4,601 e-mails, 57 columns" in done.stdout
    table = re.findall(r"^(\w.*?) {2,}(\d+) +([\d.]+) % +(\d+) +([\d.]+) %$", done.stdout, re.MULTILINE)
    found = {name: (int(leaves), float(error)) for name, *cells in table for leaves, error in [cells[:2]]}
    by_entropy = {name: (int(cells[2]), float(cells[3])) for name, *cells in table}
    assert len(found) == 5
    leaves, error = found["minimum_errors, 17 leaves"]
    assert leaves <= 17
    assert error <= 8.7  # published trees of this size: 9.3 %
    assert min(error for _, error in by_entropy.values()) <= 6.9  # C4.5: 6.9 %
    assert len(re.findall(r"\b(spam|nonspam) +[\d,]+ rows", done.stdout)) == 17
    *_, tested, trained = done.stdout.splitlines()
    assert tested.startswith("error on 1,536 rows never used for fitting: 8.7 % ")
    assert trained.startswith("from the training rows alone (Occam, ")
    assert "\x1b" not in done.stdout  # no colours where nobody sees them


@pytest.mark.parametrize("lacking", ["cyclopts", "rich", "duckdb"])
def test_without_the_extra_one_line_says_what_to_install(lacking: str) -> None:
    code = f"import sys; sys.modules[{lacking!r}] = None; from treewright.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "demo"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.strip() == f"the command line needs {lacking}: pip install 'treewright[cli]'"


@pytest.mark.slow
def test_fit_and_predict_import_no_table_library(sailing: Path) -> None:
    code = (
        "import sys; from treewright.cli import main\n"
        "main(['fit', 'sailing.csv', '--target', 'sail'])\n"
        "main(['predict', 'sailing.tree.json', 'sailing.csv'])\n"
        "print({'sklearn', 'pandas', 'pyarrow', 'polars'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip().endswith("set()")


def test_fit_tells_what_it_found_and_saves_the_tree(sailing: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out, err = run(capfd, "fit", sailing, "--target", "sail")
    assert "30 rows, 2 columns (1 number, 1 category)" in out
    assert "target sail: 2 classes: no 73.3 %, yes 26.7 %" in out
    assert "grown from 18 rows, pruned by 6, tested on 6\n" in out
    assert re.search(
        r"3 leaves grown by gini in .*; 3 kept, depth 2, by cost_complexity \(6 held-out rows", out
    )
    assert re.search(r"on training rows +0\.0 % +22\.2 %", out)
    assert "Saved to sailing.tree.json" in out
    assert re.fullmatch(r"treewright: note: 6 test rows with 0\.0 % errors only bound .*\n", err)
    tree = treewright.load("sailing.tree.json")
    assert tree.n_leaves == 3
    assert str(tree) in out


def test_the_next_command_can_be_pasted(sailing: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out, _ = run(capfd, "fit", sailing.rename("Jörg's sailing.csv"), "--target", "sail", "--no-report")
    (command,) = re.findall("; (treewright predict .*) uses it", out)
    assert shlex.split(command) == ["treewright", "predict", "Jörg's sailing.tree.json", "NEW.csv"]


@pytest.mark.slow
def test_the_same_file_makes_the_same_model(sailing: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for jobs in ("1", "2", "-1"):
        run(capfd, "fit", sailing, "--target", "sail", "--n-jobs", jobs, "-o", f"tree{jobs}.json")
    contents = {Path(f"tree{jobs}.json").read_bytes() for jobs in ("1", "2", "-1")}
    assert len(contents) == 1


@pytest.mark.slow
def test_limits_and_roles_of_columns(sailing: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out, _ = run(capfd, "fit", sailing, "--target", "sail", "--max-leaf-nodes", "2", "--prune", "none")
    assert "2 leaves grown" in out
    assert "grown from 24 rows, tested on 6\n" in out
    out, _ = run(capfd, "fit", sailing, "--target", "sail", "--drop", "wind", "--criterion", "entropy")
    assert "1 column (1 category)" in out
    assert "by entropy" in out
    out, _ = run(capfd, "fit", sailing, "--target", "sail", "--alpha", "1")
    assert "; 1 kept" in out
    assert "grown and pruned from 24 rows" in out
    out, _ = run(capfd, "fit", sailing, "--target", "sail", "--min-samples-leaf", "16")
    assert "1 leaf grown" in out
    out, _ = run(capfd, "fit", sailing, "--target", "sail", "--kinds", "wind=category", "-o", "w.json")
    assert treewright.load("w.json").schema.columns[1].kind == "category"
    out, _ = run(capfd, "fit", sailing, "--target", "wind", "--criterion", "absolute_error")
    assert "target wind: numbers from 2 to 31" in out
    assert "mean absolute error" in out


@pytest.mark.slow
def test_rules_of_growing(sailing: Path, capfd: pytest.CaptureFixture[str]) -> None:
    grow_all = ("fit", sailing, "--target", "sail", "--prune", "none", "-o", "m.json")
    run(capfd, *grow_all, "--monotonic-cst", "wind=1", "--monotonic-cst", "wind=+1")
    rising = treewright.load("m.json")
    run(capfd, *grow_all, "--monotonic-cst", "wind=-1")
    assert treewright.load("m.json") != rising
    run(capfd, *grow_all, "--missing", "surrogate", "--n-surrogates", "1")
    tree = treewright.load("m.json")
    assert tree.missing == "surrogate"
    assert len(tree.surrogates) == len(set(tree.surrogates.node.tolist()))


@pytest.mark.slow
def test_weights_count_as_repeated_rows(sailing: Path, capfd: pytest.CaptureFixture[str]) -> None:
    lines = sailing.read_text().split()
    weights = [1 + i % 3 for i in range(len(lines) - 1)]
    weighted = [f"{lines[0]},w"] + [f"{line},{w}" for line, w in zip(lines[1:], weights, strict=True)]
    repeated = [lines[0]] + [line for line, w in zip(lines[1:], weights, strict=True) for _ in range(w)]
    Path("weighted.csv").write_text("\n".join(weighted))
    Path("repeated.csv").write_text("\n".join(repeated))
    # the parts would differ: rows are dealt, not weights
    whole = ("--target", "sail", "--test-size", "0", "--prune", "none")
    told, _ = run(capfd, "fit", "weighted.csv", *whole, "--weights", "w", "-o", "w.json")
    meant, _ = run(capfd, "fit", "repeated.csv", *whole, "-o", "r.json")
    assert told.splitlines()[1] == meant.splitlines()[1]  # the shares of the classes
    one, two = treewright.load("w.json"), treewright.load("r.json")
    assert one.schema == two.schema
    assert np.array_equal(one.statistic, two.statistic)


def test_classes_with_commas_are_quoted_as_in_the_tree(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text('x,y\n1,"a, b"\n2,c\n3,"a, b"\n')
    out, _ = run(capfd, "fit", path, "--target", "y", "-o", tmp_path / "m.json")
    assert "2 classes: 'a, b' 66.7 %, c 33.3 %" in out
    assert "always 'a, b'" in out


def test_a_file_to_test_on(sailing: Path, capfd: pytest.CaptureFixture[str]) -> None:
    Path("test.csv").write_text("sail,extra,wind,weather\nyes,1,3,clear\nno,2,4,clear\n")
    out, _ = run(capfd, "fit", sailing, "--target", "sail", "--test", "test.csv")
    assert "grown from 22 rows, pruned by 8, tested on 2 of test.csv\n" in out
    assert re.search(r"on test rows +50\.0 % +50\.0 %", out)


@pytest.mark.slow
def test_whole_numbers_are_classes_if_few(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    few, many = tmp_path / "few.csv", tmp_path / "many.csv"
    few.write_text("x,y\n" + "".join(f"{i / 2},{i % 3}\n" for i in range(60)))
    many.write_text("x,y\n" + "".join(f"{i / 2},{i % 30}\n" for i in range(60)))
    model = str(tmp_path / "m.json")
    out, err = run(capfd, "fit", few, "--target", "y", "-o", model)
    assert "3 classes" in out
    assert "--numbers" in err
    out, err = run(capfd, "fit", many, "--target", "y", "-o", model)
    assert "root mean squared error" in out
    assert "--classes" in err
    out, err = run(capfd, "fit", many, "--target", "y", "--classes", "-o", model)
    assert "30 classes" in out
    assert "taken for" not in err
    out, _ = run(capfd, "fit", few, "--target", "y", "--numbers", "-o", model)
    assert "numbers from 0 to 2" in out


@pytest.mark.slow
def test_hints(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv"
    rows = [f"{i + 1},n{i},{i % 7:03},{i % 5 if i else 'x'},{'ab'[i % 2]}" for i in range(40)]
    path.write_text("nr,name,code,mixed,y\n" + "\n".join(rows))
    _, err = run(capfd, "fit", path, "--target", "y", "-o", tmp_path / "m.json")
    assert "column 'nr' (in steps of 1) numbers the rows; --drop nr leaves it out" in err
    assert "column 'name' (40 values in 40 rows) looks like an id" in err
    assert "column 'code' has leading zeros" in err
    assert "column 'mixed': 1 of 40 cells is not a number ('x' in line 2): read as numbers" in err
    _, err = run(capfd, "fit", path, "--target", "y", "--kinds", "code=number", "-o", tmp_path / "m.json")
    assert "leading zeros" not in err
    assert treewright.load(tmp_path / "m.json").schema.columns[2].kind == "number"


def test_predict(sailing: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run(capfd, "fit", sailing, "--target", "sail", "-o", "m.json")
    Path("new.csv").write_text(
        "id,wind,weather,other\n007,3,clear,\n008,NA,rain,x\n009,3,fog,\n=1+1,30,clear,\n"
    )
    out, err = run(capfd, "predict", "m.json", "new.csv", "--proba", "--keep", "id", "--keep", "wind")
    rows = list(csv.reader(out.splitlines()))
    assert rows[0] == ["id", "wind", "prediction", "probability_no", "probability_yes"]
    assert [row[0] for row in rows[1:]] == ["007", "008", "009", "'=1+1"]
    assert [row[1] for row in rows[1:]] == ["3", "NA", "3", "30"]
    tree = treewright.load("m.json")
    table = {"weather": ["clear", "rain", "fog", "clear"], "wind": [3.0, None, 3.0, 30.0]}
    assert [row[2] for row in rows[1:]] == tree.predict(table).tolist()
    assert [[float(cell) for cell in row[3:]] for row in rows[1:]] == tree.predict_proba(table).tolist()
    assert "1 row with categories that the tree has not seen, in 'weather'" in err
    assert "1 row with missing values" in err
    out, _ = run(capfd, "predict", "m.json", "new.csv", "--keep", "id", "--raw")
    assert "\n=1+1,no\n" in out


@pytest.mark.slow
def test_predicted_numbers_are_exact(sailing: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run(capfd, "fit", sailing, "--target", "wind", "-o", "m.json", "--max-leaf-nodes", "3")
    run(capfd, "predict", "m.json", sailing, "-o", "p.csv")
    run(capfd, "predict", "m.json", sailing, "-o", "p.parquet")
    with open("p.csv") as file:
        written = [float(row["prediction"]) for row in csv.DictReader(file)]
    table = {"weather": [row.split(",")[0] for row in ROWS[1:]], "sail": [r.split(",")[2] for r in ROWS[1:]]}
    assert written == treewright.load("m.json").predict(table).tolist()
    import duckdb

    assert [row[0] for row in duckdb.sql("FROM 'p.parquet'").fetchall()] == written


def test_columns_that_the_tree_does_not_test_may_be_absent(
    sailing: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run(capfd, "fit", sailing, "--target", "sail", "-o", "m.json", "--max-leaf-nodes", "2", "--prune", "none")
    tested = treewright.load("m.json").root.test.column
    Path("narrow.csv").write_text(f"{tested}\n" + {"wind": "3", "weather": "rain"}[tested] + "\n")
    out, _ = run(capfd, "predict", "m.json", "narrow.csv")
    assert out.splitlines()[0] == "prediction"
    assert len(out.splitlines()) == 2


def test_show(sailing: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run(capfd, "fit", sailing, "--target", "sail", "-o", "m.json")
    tree = treewright.load("m.json")
    assert run(capfd, "show", "m.json")[0] == f"{tree}\n"
    shallow = run(capfd, "show", "m.json", "--max-depth", "1")[0]
    assert shallow.count("\n") == 3
    assert "leaves below" in shallow


@pytest.mark.slow
def test_an_output_that_lacks_characters_gets_their_codes(
    sailing: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run(capfd, "fit", sailing, "--target", "sail", "-o", "m.json")
    done = call("show", "m.json", env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")
    whole = treewright.export(treewright.load("m.json"), "text") + "\n"
    assert done.stdout == whole.encode("ascii", "backslashreplace").decode()


@pytest.mark.slow
def test_a_reader_may_stop_early(sailing: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rows = "".join(f"{i % 97},{i % 89},{i * i % 101}.5\n" for i in range(20_000))
    Path("long.csv").write_text("a,b,y\n" + rows)
    run(capfd, "fit", "long.csv", "--target", "y", "-o", "m.json", "--prune", "none")
    for command in (["show", "m.json"], ["predict", "m.json", "long.csv"]):
        process = subprocess.Popen(
            [sys.executable, "-m", "treewright", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        process.stderr.close()
        assert process.wait(timeout=60) == 141


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a pseudo-terminal")
def test_colours_are_for_terminals(sailing: Path, capfd: pytest.CaptureFixture[str]) -> None:
    import pty

    run(capfd, "fit", sailing, "--target", "sail", "-o", "m.json")
    command = [sys.executable, "-m", "treewright", "show", "m.json"]
    for setting, coloured in (({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False)):
        ours, theirs = pty.openpty()
        subprocess.run(command, stdout=theirs, env={**os.environ, **setting}, check=True, timeout=60)
        os.close(theirs)
        assert (b"\x1b[" in os.read(ours, 100_000)) is coloured
        os.close(ours)
