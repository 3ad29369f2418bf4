"""Advice and metrics on the command line: notes for people, lists for programs, the report's section."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treewright import Advice, cli
from treewright.cli.console import Voice

Capture = pytest.CaptureFixture[str]
N = 400


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A messy table in which nothing can be learnt, a clean one, and one of numbers."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    x, yes = random.normal(size=N).round(2), random.random(N) < 0.3
    answers = np.where(yes, "yes", "no")
    messy = (f"{i + 1},n{i},{x[i]},m,{answers[i]}\n" for i in range(N))
    Path("messy.csv").write_text("nr,full name,x,unit,y\n" + "".join(messy))
    clean = (f"{x[i]},{'yes' if x[i] + 0.5 * random.normal() > 0 else 'no'}\n" for i in range(N))
    Path("clean.csv").write_text("x,y\n" + "".join(clean))
    Path("numbers.csv").write_text("x,y\n" + "".join(f"{a},{2 * a + random.normal()}\n" for a in x))
    leak = (f"{a},{'lost' if own else 'kept'},{word}\n" for a, own, word in zip(x, yes, answers, strict=True))
    Path("leak.csv").write_text("x,outcome,y\n" + "".join(leak))
    return tmp_path


def said(capfd: Capture, *arguments: str) -> tuple[str, str]:
    cli.main(list(arguments))
    done = capfd.readouterr()
    return done.out, done.err


def document(capfd: Capture, *arguments: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(said(capfd, *arguments, "--json")[0])
    return told


@pytest.mark.slow
def test_fit_says_that_a_majority_answer_is_one(folder: Path, capfd: Capture) -> None:
    out, err = said(capfd, "fit", "messy.csv", "--target", "y")
    assert re.match(
        r"error (\S+ %) on 80 test rows — no better than always answering 'no' \(\1\)", out.splitlines()[2]
    )
    assert re.search(
        r"on test rows, for yes: recall 0\.0 %, precision –, balanced accuracy 50\.0 %, AUC 0\.500", out
    )
    notes = err.splitlines()
    assert all(note.startswith("treewright: note: ") for note in notes)
    assert "the tree is a single leaf and answers 'no' to every row" in notes[0]
    assert "column 'nr' (in steps of 1) numbers the rows; --drop nr leaves it out" in notes[1]
    assert notes[2].endswith("; --drop 'full name' leaves it out")
    assert "column 'unit' has the same value in every row" in err


def test_the_remedies_can_be_typed(folder: Path, capfd: Capture) -> None:
    remedy = ["--drop", "full name", "--drop", "nr", "--drop", "unit"]
    told = document(capfd, "fit", "messy.csv", "--target", "y", *remedy)
    assert not {"row_number", "id", "constant"} & {each["code"] for each in told["advice"]}


@pytest.mark.slow
def test_fit_for_programs(folder: Path, capfd: Capture) -> None:
    told = document(capfd, "fit", "messy.csv", "--target", "y")
    assert [each["code"] for each in told["advice"]] == ["one_leaf", "row_number", "id", "constant"]
    assert told["advice"][2]["column"] == "full name"
    assert told["advice"][2]["try"] == "--drop 'full name' leaves it out"
    assert told["notes"] == []
    test = told["parts"]["test"]
    assert test["error"] == test["error_of_root"]
    assert (test["constant"], test["positive"], test["recall"], test["auc"]) == ("no", "yes", 0.0, 0.5)
    assert test["precision"] is None


@pytest.mark.slow
def test_fit_of_a_clean_table(folder: Path, capfd: Capture) -> None:
    out, err = said(capfd, "fit", "clean.csv", "--target", "y", "--leaves", "4")
    assert err == ""
    assert re.match(
        r"error \S+ % on 80 test rows; always answering '(yes|no)' has \S+ %$", out.splitlines()[2]
    )
    told = document(capfd, "fit", "clean.csv", "--target", "y", "--leaves", "4")
    assert told["advice"] == []
    assert 0.5 < told["parts"]["test"]["auc"] <= 1


@pytest.mark.slow
def test_fit_of_numbers(folder: Path, capfd: Capture) -> None:
    out, _ = said(capfd, "fit", "numbers.csv", "--target", "y", "--leaves", "6")
    assert re.search(
        r"root mean squared error \S+ on 80 test rows; always answering the mean \(\S+\) has", out
    )
    assert re.search(r"on test rows: R² 0\.\d+, mean absolute error \d", out)
    test = document(capfd, "fit", "numbers.csv", "--target", "y", "--leaves", "6")["parts"]["test"]
    assert 0 < test["r2"] < 1
    assert 0 < test["mae"] < test["error"]


@pytest.mark.slow
def test_fit_names_leaks_and_limits(folder: Path, capfd: Capture) -> None:
    _, err = said(capfd, "fit", "leak.csv", "--target", "y")
    assert "column 'outcome' is the target 'y' in other words" in err
    _, err = said(capfd, "fit", "clean.csv", "--target", "y", "--min-samples-leaf", "200")
    assert (
        "a minimum of 200 rows in a leaf forbids every split of 240 rows; --min-samples-leaf must be" in err
    )


@pytest.mark.slow
def test_describe_advises_on_columns(folder: Path, capfd: Capture) -> None:
    out, err = said(capfd, "describe", "messy.csv")
    points = re.findall(r"^• column ('.*?')", out, re.MULTILINE)
    assert points == ["'nr'", "'full name'", "'unit'"]
    assert err == ""
    told = document(capfd, "describe", "messy.csv", "--drop", "nr")
    assert [each["code"] for each in told["advice"]] == ["id", "constant"]
    assert document(capfd, "describe", "clean.csv")["advice"] == []


@pytest.mark.slow
def test_compare_has_a_line_of_the_constant_answer(folder: Path, capfd: Capture) -> None:
    out, err = said(capfd, "compare", "messy.csv", "--target", "y", "--method", "pessimistic")
    assert re.match(r"always no +1 +\S+ % +\S+ % +\S+ % +– +–$", out.splitlines()[3])
    assert "column 'nr' (in steps of 1) numbers the rows" in err
    told = document(capfd, "compare", "messy.csv", "--target", "y", "--method", "pessimistic")
    assert told["always"]["answer"] == "no"
    assert {"training", "validation", "test"} <= told["always"].keys()
    assert [each["code"] for each in told["advice"]] == ["row_number", "id", "constant"]
    out, _ = said(capfd, "compare", "numbers.csv", "--target", "y", "--method", "cost_complexity")
    assert re.search(r"^always -?\d\.\d+ +1 ", out, re.MULTILINE)


@pytest.mark.slow
def test_the_report_of_a_fit_has_the_options(folder: Path, capfd: Capture) -> None:
    said(capfd, "fit", "messy.csv", "--target", "y", "--quiet")
    page = Path("messy.report.html").read_text()
    assert "<h2>Worth knowing</h2>" in page
    assert "--drop nr leaves it out" in page
    said(capfd, "report", "messy.tree.json", "--train", "messy.csv", "-o", "again.html", "--quiet")
    assert "--drop nr leaves it out" in Path("again.html").read_text()


@pytest.mark.slow
def test_quiet_says_nothing(folder: Path, capfd: Capture) -> None:
    assert said(capfd, "fit", "messy.csv", "--target", "y", "--quiet") == ("", "")


def test_at_most_eight_are_shown(capfd: Capture) -> None:
    Voice().advise([Advice("constant", f"column {i}") for i in range(11)])
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 9
    assert lines[-1] == "treewright: note: … and 3 more; --json lists all"


@pytest.fixture
def loans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A German table: amounts with a currency, ids that hardly repeat, a copy of the target, a rare class."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(5)
    lines = ["nr;code;betrag;rate;zins;mahnung;status"]
    for i in range(1300):
        bad = i % 13 == 0
        betrag, rate, zins = random.uniform(100, 999, 3).round(2)
        cells = (betrag + 500 * bad, rate, zins)
        words = [f"{cell:.2f} €".replace(".", ",") for cell in cells]
        late, status = ("1", "ausgefallen") if bad else ("0", "bedient")
        lines.append(";".join([str(i), f"K{max(i, 3)}", *words, late, status]))
    Path("loans.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.mark.slow
def test_advice_comes_in_one_list_the_most_serious_first(loans: Path, capfd: Capture) -> None:
    told = document(capfd, "fit", "loans.csv", "--target", "status")
    codes = ["target_copy", "row_number", "id", "imbalance", "text-numbers"]
    assert [each["code"] for each in told["advice"]] == codes
    assert told["advice"][-1]["text"].startswith("3 columns hold numbers as text")
    assert told["notes"] == []
    _, err = said(capfd, "fit", "loans.csv", "--target", "status")
    assert len(err.splitlines()) == len(codes)
    found = document(capfd, "describe", "loans.csv", "--target", "status")["advice"]
    assert sorted({each["code"] for each in found}) == sorted(codes)


@pytest.mark.slow
def test_costs_that_are_given_are_not_advised(loans: Path, capfd: Capture) -> None:
    fit = ["fit", "loans.csv", "--target", "status", "--drop", "mahnung"]
    (told,) = (each for each in document(capfd, *fit)["advice"] if each["code"] == "imbalance")
    remedy = "makes a missed 'ausgefallen' cost 12 times as much as the opposite mistake"
    assert told["try"] == f"--cost ausgefallen:bedient=12 {remedy}"
    for command in (fit, ["compare", *fit[1:], "--method", "pessimistic"]):
        with_costs = document(capfd, *command, "--cost", "ausgefallen:bedient=12")
        assert "imbalance" not in {each["code"] for each in with_costs["advice"]}


@pytest.mark.slow
def test_the_next_command_leaves_out_what_the_advice_names(loans: Path, capfd: Capture) -> None:
    told = document(capfd, "describe", "loans.csv", "--target", "status")
    dropped = ["--drop", "nr", "--drop", "code", "--drop", "mahnung"]
    assert told["next"] == ["treewright", "fit", "loans.csv", "--target", "status", *dropped]
    code = next(column for column in told["columns"] if column["name"] == "code")
    assert code["remark"] == "differs in nearly every row"


@pytest.mark.slow
def test_dates_that_are_not_read_are_not_told_as_categories_too(tmp_path: Path, capfd: Capture) -> None:
    random = np.random.default_rng(2)
    lines = (f"{m:02d}/{d:02d}/2023;{d % 2}" for m, d in random.integers(1, 13, (300, 2)).tolist())
    path = tmp_path / "t.csv"
    path.write_text("day;y\n" + "\n".join(lines) + "\n")
    fit = ["fit", str(path), "--target", "y", "-o", str(tmp_path / "t.json")]
    for command in (["describe", str(path)], fit, ["compare", str(path), "--target", "y"]):
        codes = [each["code"] for each in document(capfd, *command)["advice"] if each["column"] == "day"]
        assert codes == ["text-date-order"]
