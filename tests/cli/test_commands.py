"""The commands about saved trees, and the report of `fit`: what they do, what they say when they cannot."""

from __future__ import annotations

import ast
import errno
import inspect
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treewright import cli, encode, grow, load, prune, report, select
from treewright.cli import model_files
from treewright.encoding.splits import split
from treewright.exporting import formats
from treewright.reporting import subject as report_subject
from treewright.tree import Tree

HOSTILE = "<script>alert(1)</script>"


def _loans(n: int, seed: int) -> str:
    draw = random.Random(seed)
    lines = ["id,age,income,job,zip,since,default"]
    for i in range(n):
        age, income = draw.randint(18, 80), draw.randrange(10_000, 90_000, 100)
        job, month = draw.choice(["cook", "clerk", "baker", ""]), draw.randint(1, 9)
        late = (income < 35_000 and job != "clerk") != (draw.random() < 0.1)
        cells = [i, age if i % 11 else "", income, job, f"0{draw.randint(100, 120)}", f"2024-0{month}-15"]
        lines.append(",".join(map(str, [*cells, "yes" if late else "no"])))
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tables and models, made once."""
    folder = tmp_path_factory.mktemp("commands")
    before = Path.cwd()
    os.chdir(folder)
    try:
        Path("loans.csv").write_text(_loans(300, 1))
        Path("new.csv").write_text(_loans(120, 2))
        numbers = "".join(f"{i % 17},{'ab'[i % 2]},{(i % 17) * 3 + i % 2}.5\n" for i in range(120))
        Path("numbers.csv").write_text("x,c,y\n" + numbers)
        Path("same.csv").write_text("a,y\n" + "".join(f"{i % 7},always\n" for i in range(40)))
        drop = ["--drop", "id"]
        cli.main(["fit", "loans.csv", "--target", "default", *drop, "--quiet"])
        cli.main(["fit", "numbers.csv", "--target", "y", "--quiet"])
        cli.main(["fit", "same.csv", "--target", "y", "--quiet"])
        targets = {"y": list("ppqqppqq"), "z": list("uuuuvvvv")}
        several = encode({"a": range(8), "b": list("xyxyxyxy")}, targets)
        grow(several).save("several.json")
        grow(encode({"a": range(9)}, list("ppqpqqpqq"))).with_costs([[0, 5], [1, 0]]).save("costs.json")
        odd = {HOSTILE: range(40), "n" * 10_000: [1] * 40, 'it\'s "q";--': ["a'b", "<b>"] * 20}
        grow(encode(odd, ["O'K %s {}", "no\n</script>"] * 20)).save("odd.json")
        text = Path("several.json").read_text()
        Path("newer.json").write_text(text.replace('"version": 5', '"version": 99'))
        Path("binary.csv").write_bytes(b"PK\x03\x04\x00\x00\x08\xff")
        Path("empty.csv").write_bytes(b"")
        Path("header.csv").write_text("id,age,income,job,zip,since,default\n")
        Path("other.csv").write_text("a,b\n1,2\n")
        Path("lacks.csv").write_text("default,age\nyes,30\n")
    finally:
        os.chdir(before)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


Capture = pytest.CaptureFixture[str]


def said(capfd: Capture, *arguments: str) -> str:
    """What a call that ends well prints; notes are dropped."""
    capfd.readouterr()
    cli.main(list(arguments))
    return capfd.readouterr().out


def document(capfd: Capture, *arguments: str) -> dict[str, Any]:
    """The one document that a call prints, and nothing else."""
    capfd.readouterr()
    cli.main([*arguments, "--json"])
    done = capfd.readouterr()
    assert done.err == ""
    told: dict[str, Any] = json.loads(done.out)
    return told


def payload(page: str) -> dict[str, Any]:
    """The facts in a page."""
    text = Path(page).read_text(encoding="utf-8")
    inside = text.split('<script type="application/json" id="payload">')[1].split("</script>")[0]
    facts: dict[str, Any] = json.loads(inside)
    return facts


# ---- the report of a fit -------------------------------------------------------------------------------


@pytest.mark.slow
def test_fit_writes_a_report_beside_the_model(folder: Path, capfd: Capture) -> None:
    Path("sub").mkdir()
    call = ["fit", "loans.csv", "--target", "default", "--drop", "id", "-o", "sub/small.json"]
    told = document(capfd, *call)
    assert told["files"] == {"model": "sub/small.json", "report": "sub/small.report.html"}
    assert "reporting" in told["seconds"]
    facts = payload("sub/small.report.html")
    assert {name: part["rows"] for name, part in facts["samples"].items()} == {
        "train": told["parts"]["training"]["rows"],
        "validation": told["parts"]["validation"]["rows"],
        "test": told["parts"]["test"]["rows"],
    }
    path = facts["pruning"][0]
    assert path["leaves"][path["chosen"]] == told["tree"]["leaves"]
    assert path["loss"]["test"][path["chosen"]] == pytest.approx(told["parts"]["test"]["error"], rel=1e-4)
    assert facts["reproduce"]["parameters"]["Command"] == shlex.join(["treewright", *call, "--json"])
    assert "All about it in loans.report.html; open it" in said(
        capfd, "fit", "loans.csv", "--target", "default", "--drop", "id"
    )


@pytest.mark.slow
def test_a_report_may_go_elsewhere_or_nowhere(folder: Path, capfd: Capture) -> None:
    Path("loans.report.html").unlink()
    call = ["fit", "loans.csv", "--target", "default"]
    assert "report" not in document(capfd, *call, "--no-report")["files"]
    assert document(capfd, *call, "--report", "my.html")["files"]["report"] == "my.html"
    assert not Path("loans.report.html").exists()
    if os.path.exists("/dev/null"):
        assert document(capfd, *call, "-o", "/dev/null")["files"] == {"model": "/dev/null"}


@pytest.mark.slow
@pytest.mark.parametrize("failing", ["model", "report"])
def test_what_fails_leaves_both_old_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture, failing: str
) -> None:
    old = {name: Path(name).read_bytes() for name in ("loans.tree.json", "loans.report.html")}

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if failing == "model":
        monkeypatch.setattr(Tree, "save", full)
    else:
        monkeypatch.setattr(model_files.os, "fsync", full)
    before = set(os.listdir())
    with pytest.raises(SystemExit) as stopped:
        cli.main(["fit", "loans.csv", "--target", "default", "--random-state", "7"])
    assert stopped.value.code == 1
    name = "loans.tree.json" if failing == "model" else "loans.report.html"
    assert capfd.readouterr().err == f"treewright: error: {name} cannot be written: No space left on device\n"
    assert {name: Path(name).read_bytes() for name in old} == old
    assert set(os.listdir()) == before


@pytest.mark.slow
def test_a_tree_too_large_for_a_page_gets_one_only_if_asked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    monkeypatch.setattr(model_files, "MOST_LEAVES", 3)
    call = ["fit", "numbers.csv", "--target", "y", "-o", "m.json"]
    told = document(capfd, *call)
    assert told["files"] == {"model": "m.json"}
    assert any("--report FILE writes it all the same" in note for note in told["notes"])
    assert document(capfd, *call, "--report", "m.html")["files"]["report"] == "m.html"


def test_the_slider_leaves_out_the_largest_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    cells = random.normal(size=(600, 3))
    data = encode(cells, np.where(cells[:, 0] + random.normal(size=600) > 0, "a", "b"))
    train, validation, test = split(data, (0.6, 0.2, 0.2), 0)
    grown = grow(train)
    path = select(prune(grown, "cost_complexity"), "held_out", validation=validation)
    parts = {"train": train, "validation": validation, "test": test}
    whole = report(path, **parts).payload
    monkeypatch.setattr(report_subject, "MOST_LEAVES", 20)
    short = report(path, **parts).payload
    assert whole["pruning"][0]["leaves"][0] == grown.n_leaves > 20
    sizes = short["pruning"][0]["leaves"]
    assert sizes == [n for n in whole["pruning"][0]["leaves"] if n <= 20]
    for part, losses in whole["pruning"][0]["loss"].items():
        assert short["pruning"][0]["loss"][part] == losses[-len(sizes) :]
    assert sizes[short["pruning"][0]["chosen"]] == path.pruned.n_leaves
    assert short["rules"] == whole["rules"]
    assert short["headline"]["manager"] == whole["headline"]["manager"]
    assert f"grown to {grown.n_leaves} leaves" in " ".join(short["headline"]["notes"])
    front = select(prune(grown, "minimum_errors"), "held_out", validation=validation)
    assert len(report(front, **parts).payload["tree"]["end"]) == front.pruned.n_nodes


def test_small_tables_have_a_report_though_their_errors_are_alike(tmp_path: Path, capfd: Capture) -> None:
    """Test rows that err exactly as those that chose are not taken for the same rows."""
    table = tmp_path / "t.csv"
    table.write_text("x,y\n" + "".join(f"{i},{'ab'[i >= 60]}\n" for i in range(120)))
    told = document(capfd, "fit", str(table), "--target", "y", "-o", str(tmp_path / "m.json"))
    assert "report" in told["files"]


# ---- every example -------------------------------------------------------------------------------------

ABOUT_TREES = ("fit", "prune", "compare", "explain", "report", "show", "rules", "export")


@pytest.mark.slow
@pytest.mark.parametrize("command", ABOUT_TREES)
def test_examples_work_as_written(folder: Path, capfd: Capture, command: str) -> None:
    """The calls that --help shows, one after the other, on tables that fit them."""
    doc = inspect.getdoc(getattr(import_module(f"treewright.cli.commands.{command}"), command)) or ""
    calls = [line for line in doc.partition("--------\n")[2].splitlines() if line.startswith("treewright ")]
    calls = [call for call in calls if "|" not in call and ">" not in call]
    assert len(calls) >= 2
    for call in calls:
        cli.main(shlex.split(call)[1:])
    assert not [line for line in capfd.readouterr().err.splitlines() if ": note: " not in line]


# ---- the commands --------------------------------------------------------------------------------------


def test_prune_shows_or_saves(folder: Path, capfd: Capture) -> None:
    before = load("loans.tree.json")
    out = said(capfd, "prune", "loans.tree.json", "--leaves", "2")
    first, error, empty, *shown = out.splitlines()
    assert first == f"{before.n_leaves} leaves → 2 by cost_complexity (size, at most 2 leaves)"
    assert error.startswith("error on training rows: ")
    assert empty == ""
    assert len(shown) == 3
    assert said(capfd, "prune", "loans.tree.json", "--leaves", "2", "-o", "two.json", "-q") == ""
    assert load("two.json").n_leaves == 2
    told = document(capfd, "prune", "loans.tree.json", "--validation", "new.csv", "-o", "best.json")
    assert told["tree"]["leaves"] == load("best.json").n_leaves
    assert told["files"] == {"model": "best.json"}
    assert told["loss"]["validation"]["after"] <= told["loss"]["validation"]["before"]
    assert "1 leaf → 1 by" in said(capfd, "prune", "same.tree.json", "--leaves", "3")
    raised = ["--method", "pessimistic", "--option", "raising=False"]
    assert "by pessimistic" in said(capfd, "prune", "loans.tree.json", *raised)


@pytest.mark.slow
def test_compare_tells_every_method(folder: Path, capfd: Capture) -> None:
    told = document(capfd, "compare", "loans.csv", "--target", "default", "--drop", "id")
    assert {"cost_complexity", "pessimistic", "reduced_error", "rules"} <= {
        row["method"] for row in told["methods"]
    }
    assert sum(told["parts"].values()) == told["table"]["rows"] == 300
    out = said(capfd, "compare", "numbers.csv", "--target", "y", "--method", "cost_complexity")
    assert "mean squared error" in out


@pytest.mark.slow
def test_explain_a_row_of_a_table_or_of_options(folder: Path, capfd: Capture) -> None:
    told = document(capfd, "explain", "loans.tree.json", "new.csv", "--row", "3", "--counterfactual")
    tree = load("loans.tree.json")
    changed = {
        name: [cell] for name, cell in told["counterfactual"]["row"].items() if name in tree.schema.names
    }
    changed["since"] = np.array(changed["since"], "datetime64[us]")
    assert tree.predict(changed)[0] == told["counterfactual"]["new_prediction"] != told["answers"][0]["value"]
    cli.main(["explain", "loans.tree.json", "--set", "job=smith"])
    done = capfd.readouterr()
    assert done.err.startswith("treewright: note: ")
    assert done.err.endswith(" not set, so missing\n")
    assert "'income'" in done.err
    assert "income is missing" in done.out
    poor = said(capfd, "explain", "loans.tree.json", "--set", "income=20000", "--set", "job=cook", "-q")
    assert poor.startswith("Answer: yes\n")
    over = said(capfd, "explain", "loans.tree.json", "new.csv", "--row", "3", "--set", "income=1e5")
    assert "income is 100000" in over
    sure = said(capfd, "explain", "loans.tree.json", "new.csv", "--row", "1", "--test", "new.csv")
    assert "with 95 % confidence" in " ".join(sure.split())


def test_a_counterfactual_of_counts_is_a_count(folder: Path, capfd: Capture) -> None:
    """0.51 would be no number of reminders; a column with a fraction anywhere keeps its decimals."""
    for name, extra in (("counts", ""), ("measures", "0.25,no\n")):
        rows = "".join(f"{i % 4},{'yes' if i % 4 else 'no'}\n" for i in range(80))
        Path(f"{name}.csv").write_text(f"n,late\n{rows}{extra}")
        said(capfd, "fit", f"{name}.csv", "--target", "late", "--prune", "none", "-q", "-o", f"{name}.json")
    first = ["explain", "counts.json", "counts.csv", "--row", "1", "--counterfactual"]
    assert "n rises from 0 to 1 " in said(capfd, *first)
    assert "n falls from 3 to 0 " in said(capfd, *first, "--set", "n=3")
    other = said(capfd, "explain", "measures.json", "measures.csv", "--row", "1", "--counterfactual")
    assert re.search(r"n rises from 0 to 0\.\d", other)


def test_explain_numbers_and_their_ranges(folder: Path, capfd: Capture) -> None:
    call = ["explain", "numbers.tree.json", "--set", "x=2", "--set", "c=a", "--counterfactual"]
    told = document(capfd, *call, "--to", "40..")
    assert told["counterfactual"]["new_prediction"] >= 40
    assert document(capfd, *call, "--to", "20..30")["counterfactual"]["new_prediction"] <= 30
    told = document(capfd, *call, "--to", "40..", "--frozen", "x")
    assert told["counterfactual"]["possible"] is False
    assert "no leaf of the tree predicts another value" in said(
        capfd, "explain", "same.tree.json", "same.csv", "--row", "1", "--counterfactual"
    )


@pytest.mark.slow
def test_report_takes_tables_that_lack_what_the_tree_does_not_test(folder: Path, capfd: Capture) -> None:
    whole = document(capfd, "report", "loans.tree.json", "--test", "new.csv")
    tree = load("loans.tree.json")
    tested = {tree.schema.names[column] for column in tree.feature[~tree.is_leaf].tolist()} | {"default"}
    rows = [line.split(",") for line in Path("new.csv").read_text().splitlines()]
    kept = [i for i, name in enumerate(rows[0]) if name in tested]
    assert len(kept) < len(rows[0])
    Path("narrow.csv").write_text("".join(",".join(row[i] for i in kept) + "\n" for row in rows))
    narrow = document(capfd, "report", "loans.tree.json", "--test", "narrow.csv", "-o", "n.html")
    assert narrow["headline"] == whole["headline"]
    assert whole["files"] == {"report": "loans.report.html"}
    assert said(capfd, "report", "numbers.tree.json", "-q") == ""
    assert Path("numbers.report.html").exists()
    for model in ("costs", "odd", "same.tree"):
        told = said(capfd, "report", f"{model}.json")
        assert told.startswith(f"Written to {model.removesuffix('.tree')}.report.html")
    page = Path("odd.report.html").read_text()
    assert HOSTILE not in page
    assert payload("odd.report.html")["columns"][0]["name"] == HOSTILE


def test_rules_of_every_kind_of_tree(folder: Path, capfd: Capture) -> None:
    told = document(capfd, "rules", "loans.tree.json")
    assert len(told["rules"]) == load("loans.tree.json").n_leaves
    assert "1.  always   always" in said(capfd, "rules", "same.tree.json")
    assert said(capfd, "rules", "several.json", "--target", "z").count("\n") > 2
    for model in ("numbers.tree", "costs", "odd"):
        lines = said(capfd, "rules", f"{model}.json").splitlines()
        assert lines[0].endswith("rules: the first that fits answers")


def test_show_tells_how_far_leaves_can_be_wrong(folder: Path, capfd: Capture) -> None:
    out = said(capfd, "show", "loans.tree.json", "--test", "new.csv", "--delta", "0.1")
    *leaves, last = [line for line in out.splitlines() if "wrong for" in line]
    assert len(leaves) == load("loans.tree.json").n_leaves
    assert "with 90 % confidence all of them hold" in last


@pytest.mark.slow
@pytest.mark.parametrize("model", ["loans.tree", "numbers.tree", "same.tree", "costs", "odd"])
def test_export_knows_formats_by_suffix_and_checks_them(folder: Path, capfd: Capture, model: str) -> None:
    for suffix in ("py", "json", "sql"):
        told = document(capfd, "export", f"{model}.json", "-o", f"x.{suffix}", "--check")
        assert told["checked"] is True
        assert told["bytes"] == Path(f"x.{suffix}").stat().st_size
    for suffix in ("svg", "dot", "mmd", "tex", "txt", "h", "js"):
        assert said(capfd, "export", f"{model}.json", "-o", f"x.{suffix}", "-q") == ""
        assert Path(f"x.{suffix}").stat().st_size
    assert said(capfd, "export", f"{model}.json", "-o", "-", "--format", "text").count("\n") >= 1


def test_texts_name_options_that_exist() -> None:
    """A renamed option is renamed in messages, too."""
    app = cli._app(cli.COMMANDS)
    known = {option for name in cli.COMMANDS for option in cli._options(app[name])} | {*cli._options(app)}
    folder = Path(cli.__file__).parent
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            text = node.value if isinstance(node, ast.Constant) else None
            for option in re.findall(
                r"(?<![\w-])--[a-z-]*[a-z](?![a-z-])", text if isinstance(text, str) else ""
            ):
                assert option in known, f"{path.relative_to(folder)}: {text!r} names {option}"


def test_help_of_export_names_all_formats(folder: Path, capfd: Capture) -> None:
    words = " ".join(re.sub("[│]", " ", said(capfd, "export", "--help")).split())
    listed = words.partition("if the suffix does not determine it: ")[2].partition(". ")[0]
    assert listed.split(", ") == sorted(formats())
    assert {".py", ".h", ".mjs", ".sql"} <= set(re.findall(r"\.\w+", words.partition("of its suffix: ")[2]))


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_readers_may_stop_early_and_rows_come_by_pipes(folder: Path) -> None:
    command = [sys.executable, "-m", "treewright"]
    process = subprocess.Popen(
        [*command, "rules", "odd.json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) == 141
    with open("new.csv") as rows:
        done = subprocess.run(
            [*command, "report", "loans.tree.json", "--test", "-", "--json"],
            stdin=rows,
            capture_output=True,
            timeout=120,
            check=True,
        )
    assert "On 120 rows it had never seen" in json.loads(done.stdout)["headline"]


# ---- what goes wrong -----------------------------------------------------------------------------------

WRONG = [
    (2, "fit loans.csv --target default --report -", "--report -: the page is saved to a file"),
    (2, "fit loans.csv --target default -o -", "-o -: the tree is saved to a file"),
    (2, "fit loans.csv --target default --report a --no-report", "exclude each other"),
    (2, "fit loans.csv --target default --report loans.tree.json", "the page needs one of its own"),
    (1, "fit loans.csv --target default --report loans.csv", "would be overwritten while it is read"),
    (1, "fit loans.csv --target default --report none/r.html", "there is no folder 'none'; make it first"),
    (2, "prune loans.tree.json", "say how far to prune: --leaves 8"),
    (2, "prune loans.tree.json --method none", "--method none would leave the tree as it is"),
    (2, "prune loans.tree.json --method shears", "--method shears is unknown; known: none, bottom_up"),
    (2, "prune loans.tree.json --leaves 2 -o -", "-o -: the tree is saved to a file"),
    (1, "prune loans.tree.json --leaves 2 -o loans.tree.json", "would be overwritten while it is read"),
    (2, "prune loans.tree.json --method reduced_error", "needs --validation, a table of rows"),
    (2, "prune loans.tree.json --method minimum_errors", "needs --validation, a table of rows"),
    (2, "prune loans.tree.json --select folds", "needs --train, the table that the tree was grown from"),
    (1, "prune loans.tree.json --method pessimistic", "needs --train, the rows that the tree was grown from"),
    (1, "prune loans.tree.json --method bound --train loans.csv", "--train must be the rows"),
    (2, "prune loans.tree.json --alpha 0.1 --train loans.csv", "--method cost_complexity uses no such rows"),
    (1, "prune numbers.tree.json --method srm", "it is for trees that predict classes"),
    (1, "prune newer.json --leaves 2", "was written by a newer treewright (format 99"),
    (2, "compare loans.csv --target default --method shears", "--method shears is unknown"),
    (1, "compare loans.csv --target late", "loans.csv has no column 'late' (--target)"),
    (2, "compare other.csv --target a", "1 row cannot be split"),
    (2, "explain loans.tree.json", "there is no row to explain; name a table and --row"),
    (2, "explain loans.tree.json new.csv", "which row of new.csv? --row 1 is the first"),
    (2, "explain loans.tree.json new.csv --row 0", "--row"),
    (1, "explain loans.tree.json new.csv --row 999", "--row 999: new.csv has 120 rows"),
    (
        1,
        "explain loans.tree.json lacks.csv --row 1",
        "no columns 'income', 'job', which the tree tests",
    ),
    (2, "explain loans.tree.json --set incme=3", "no column 'incme'; did you mean 'income'?"),
    (2, "explain loans.tree.json --set income", "--set income: it must be COLUMN=VALUE"),
    (2, "explain loans.tree.json --set income=much", "'much' is not a number"),
    (2, "explain loans.tree.json --set since=soon", "'soon' is not a date, such as"),
    (2, "explain loans.tree.json --set age=3 --frozen age", "--frozen is for --counterfactual"),
    (2, "explain loans.tree.json --set age=3 --counterfactual --frozen agge", "did you mean 'age'?"),
    (
        2,
        "explain loans.tree.json --set age=3 --counterfactual --to maybe",
        "the classes are 'no', 'yes'",
    ),
    (2, "explain numbers.tree.json --set x=3 --counterfactual --to 5", "it is a range, such as 100..200"),
    (2, "explain several.json --set a=3 --counterfactual", "--counterfactual is for trees of one target"),
    (2, "explain loans.tree.json --set age=3 --delta 2", "--delta 2"),
    (1, "report loans.tree.json --test binary.csv", "binary.csv is not text"),
    (1, "report loans.tree.json --test empty.csv", "empty.csv is empty"),
    (1, "report loans.tree.json --test header.csv", "header.csv has names of columns but no rows"),
    (1, "report loans.tree.json --test other.csv", "no column 'default', which the tree predicts"),
    (1, "report loans.tree.json --test lacks.csv", "no columns 'income', 'job', which the tree tests"),
    (1, "report loans.tree.json --test nope.csv", "there is no file nope.csv"),
    (2, "report loans.tree.json --test new.csv --train new.csv", "--test new.csv is the file of --train"),
    (2, "report loans.tree.json --test - --train -", "the standard input can be read only once"),
    (2, "report loans.tree.json -o -", "-o -: the page is written to a file"),
    (1, "report loans.tree.json -o none/r.html", "there is no folder 'none'"),
    (1, "report loans.tree.json -o loans.tree.json", "would be overwritten while it is read"),
    (1, "report several.json", "a report is for one target; this tree has 2"),
    (1, "report several.json --test new.csv", "several.json predicts 2 targets at once"),
    (1, "report newer.json", "was written by a newer treewright"),
    (1, "report loans.csv", "loans.csv looks like a table, but a model is wanted"),
    (2, "rules several.json", "several.json predicts 'y', 'z'; --target selects one"),
    (2, "rules several.json --target q", "--target q: several.json predicts 'y', 'z'"),
    (1, "rules newer.json", "was written by a newer treewright"),
    (2, "show loans.tree.json --format pappyrus", "--format pappyrus is unknown"),
    (
        2,
        "show loans.tree.json --test new.csv --json",
        "the nodes of the tree without test rows; leave out --test",
    ),
    (2, "show loans.tree.json --test new.csv --format dot", "--test does not go with --format dot"),
    (1, "show numbers.tree.json --test numbers.csv", "leaf intervals are for trees that predict"),
    (2, "export loans.tree.json -o x.xyz", "this suffix belongs to no format; --format names one: c, dot"),
    (2, "export loans.tree.json --format papyrus", "--format papyrus is unknown"),
    (2, "export loans.tree.json --json", "--json describes the file that is written; name it with -o"),
    (
        2,
        "export loans.tree.json -o x.svg --check",
        "--check runs the export, and svg cannot be run; leave --check out",
    ),
    (2, "export loans.tree.json -o x.sql --option tabl=q", "sql has no option 'tabl'; its options are"),
    (2, "export loans.tree.json -o x.sql --option table", "such as --option dialect=postgres"),
    (1, "export loans.tree.json -o x.sql --option dialect=klingon", "dialect is 'klingon'; known: duckdb"),
    (2, "export several.json -o x.sql", "--option target=… selects the one for sql"),
    (1, "export loans.tree.json -o none/x.py", "there is no folder 'none'"),
    (1, "export loans.tree.json -o loans.tree.json", "would be overwritten while it is read"),
    (1, "export newer.json -o x.py", "was written by a newer treewright"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("code", "call", "message"), WRONG, ids=[call for _, call, _ in WRONG])
def test_trouble_is_one_line_that_helps(
    folder: Path, capfd: Capture, code: int, call: str, message: str
) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    with pytest.raises(SystemExit) as stopped:
        cli.main(call.split())
    done = capfd.readouterr()
    assert stopped.value.code == code, done.err
    assert done.out == ""
    assert done.err.startswith("treewright: error: ")
    assert done.err.count("\n") == 1
    assert message in done.err
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
@pytest.mark.parametrize(
    "call",
    [
        "fit loans.csv --target default --report /dev/full",
        "prune loans.tree.json --leaves 2 -o /dev/full",
        "report loans.tree.json -o /dev/full",
        "export loans.tree.json --format python -o /dev/full",
    ],
)
def test_a_full_disk_is_told(folder: Path, capfd: Capture, call: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(call.split())
    assert stopped.value.code == 1
    assert capfd.readouterr().err.startswith("treewright: error: /dev/full cannot be written: No space left")


def test_a_format_that_lacks_its_library_says_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    for call in ("export loans.tree.json -o x.onnx", "show loans.tree.json --format onnx"):
        with pytest.raises(SystemExit) as stopped:
            cli.main(call.split())
        assert stopped.value.code == 1
        assert "pip install 'treewright[onnx]'" in capfd.readouterr().err


def test_a_program_that_the_check_lacks_is_named(
    folder: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(SystemExit):
        cli.main(["export", "loans.tree.json", "-o", "loans.java", "--check"])
    told = capfd.readouterr().err
    assert "--check" in told
    assert "not installed" in told
    assert "check=" not in told
