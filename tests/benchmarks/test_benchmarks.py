"""The benchmarks measure what they say, and the tables shown are those of the kept results."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import (
    adaboost,
    attributing,
    comparing,
    counting,
    drawing,
    driving_r,
    forests,
    gradient_boosting,
    growing,
    importing,
    keeping,
    measuring,
    methods,
    neighbours,
    oblique,
    predicting,
    problems,
    pruners,
    pruning,
    publishing,
    ranger,
    reporting,
    rpart,
    scaling,
    streaming,
)
from benchmarks.measuring import Job
from benchmarks.peers import PEERS
from benchmarks.problems import Problem

from tests.benchmarks.made_up_figures import ORIGIN, SMALL, result

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("room", ["growing", "predicting"])
def test_a_measurement(room: str, tmp_path: Path) -> None:
    chosen = Namespace(peers=["treewright"], seconds=0.0, limit=120)
    results = comparing.compare(room, SMALL, chosen, problems.make(SMALL, tmp_path))
    assert [told["threads"] for told in results] == [1, 2]
    for told in results:
        assert "skipped" not in told, told
        assert 0 < told["wall"] < 10
        assert 0 <= told["memory"] < 1000
        assert told["runs"] >= 1
        assert told["leaves"] > 10
        assert told["score"] > 0.6
    page = reporting.page(room, ORIGIN, [(SMALL, results)])
    assert "| treewright, 2 threads" in page


@pytest.mark.slow
def test_what_fails_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    good = Job("growing", SMALL, "treewright", 1, str(problems.make(SMALL, tmp_path)))
    bad = replace(good, data=str(tmp_path / "none.npz"))
    failed, measured = measuring.measure([bad, good], seconds=0.0, limit=120)
    assert "FileNotFoundError" in failed["skipped"]
    assert measured["cpu"] > 0
    assert measuring.measure([good], seconds=0.0, limit=0.001) == [{"skipped": "took more than 0 s"}]


@pytest.mark.slow
def test_memory_is_the_peak_of_the_first_run(tmp_path: Path) -> None:
    """A run that holds 64 MB for a moment is seen to do so."""
    code = (
        "import numpy, benchmarks.working as working\n"
        "numpy.ones(2**24).sum()\n"  # freed before: must not hide what follows
        "print(working.run(lambda: numpy.ones(2**23).sum(), True)['memory'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert 60 < float(done.stdout) < 90, done.stderr


def test_who_is_not_measured() -> None:
    categories = Problem("c", 10, categories=3)
    assert PEERS["scikit-learn"].why_not(categories) == "cannot do categories in one tree"
    assert PEERS["treewright"].why_not(categories) is None
    assert not any(PEERS["treewright"].why_not(problem) for problem in growing.PROBLEMS)
    spared = replace(PEERS["treewright"], spared={"a huge tree": "why"})
    assert spared.why_not(Problem("m", 1_000_000)) == "spared: why"
    assert spared.why_not(Problem("m", 1_000_000, max_depth=6)) is None


def test_problems_have_names_of_their_own() -> None:
    rooms = (
        growing.PROBLEMS,
        predicting.PROBLEMS,
        *forests.WORKS.values(),
        *(curve.problems for curve in scaling.CURVES),
    )
    for room in rooms:
        names = [problem.name for problem in room]
        assert len(set(names)) == len(names)


def test_problems_that_differ_by_limits_share_their_data(tmp_path: Path) -> None:
    assert problems.file_of(replace(SMALL, max_depth=3, name="s"), tmp_path) == problems.file_of(
        SMALL, tmp_path
    )
    assert problems.file_of(replace(SMALL, missing=0.5), tmp_path) != problems.file_of(SMALL, tmp_path)


def test_wins_and_losses_are_both_told() -> None:
    results = [
        result("treewright", 1.0),
        result("treewright", 1.1, threads=2, wall=0.5),
        result("scikit-learn", 5.0),
        result("snapml exact", 0.5, busy=1.9),
        {"peer": "ydf", "threads": 1, "skipped": "not installed"},
    ]
    sections = [(Problem("a", 100_000), results)]
    line = reporting.summary(sections).splitlines()[2]
    assert [cell.strip() for cell in line.split("|")[1:-1]] == [
        "a", "1 s", "5x", "0.5x (snapml exact)", "–", "2x", "0.524x",
    ]  # fmt: skip
    assert "1 of 2 comparisons with a peer; more in: a (snapml exact 0.5x)" in reporting.wins_and_losses(
        sections
    )
    assert "500 ms*" in reporting.table(*sections[0]), "more than one thread is marked"


def test_cliffs_are_measured_from_the_plain_problem() -> None:
    plain, classes = reporting.PLAIN, Problem("100k x 20 10 classes", 100_000, classes=10)
    shallow = Problem("100k x 20 depth 6", 100_000, max_depth=6)
    sections = [
        (plain, [result("treewright", 2.0), result("scikit-learn", 10.0)]),
        (classes, [result("treewright", 3.0)]),
        (shallow, [result("treewright", 1.0)]),
    ]
    table = reporting.cliffs(sections)
    assert table is not None
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    assert lines == [["plain", "2 s", "1x", "10 s", "1x"], ["10 classes", "3 s", "1.5x", "–", "–"]]
    assert reporting.cliffs(sections[1:]) is None


def test_specialities_of_the_house_are_among_the_cliffs() -> None:
    sections = [(problem, [result("treewright", 1.0)]) for problem in growing.PROBLEMS]
    table = reporting.cliffs(sections)
    assert table is not None
    for speciality in ("10 classes", "100 classes", "regression", "weights", "categories", "missing values"):
        assert f"| {speciality} " in table
    assert "| few distinct " in table


@pytest.mark.parametrize("page", [publishing.README, publishing.PAGE], ids=lambda page: page.name)
def test_pages_show_the_kept_results_and_no_part_is_empty(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text == publishing.published(page.name, text), f"{page.name}: `make bench` writes what is measured"
    for name in publishing.PARTS[page.name]:
        begin, end = publishing.marks(name)
        assert len(text.partition(begin)[2].partition(end)[0].strip()) > 100, f"{page.name}: {name} is empty"


@pytest.mark.parametrize("room", ["growing", "predicting"])
def test_pages_show_the_kept_results(room: str) -> None:
    origin, sections = keeping.load_sections(room)
    page = (keeping.RESULTS / f"{room}.md").read_text(encoding="utf-8")
    assert page == reporting.page(room, origin, sections)


def test_the_page_of_curves_shows_the_kept_results() -> None:
    kept = attributing.page(*keeping.load_sections("attributing"))
    assert (keeping.RESULTS / "attributing.md").read_text(encoding="utf-8") == kept
    assert (keeping.RESULTS / "scaling.md").read_text(encoding="utf-8") == scaling.page(
        *keeping.load_parts("scaling")
    )


def test_the_pages_of_pruning_show_the_kept_results() -> None:
    kept = keeping.load_parts("pruning")
    assert (keeping.RESULTS / "pruning.md").read_text(encoding="utf-8") == pruning.page(*kept)
    assert (keeping.RESULTS / "methods.md").read_text(encoding="utf-8") == methods.page(
        *keeping.load("methods")
    )
    assert pruning.PICTURE.stat().st_size < 100_000


@pytest.mark.slow
def test_trees_of_sums_are_measured_and_shown(tmp_path: Path) -> None:
    origin, figures = keeping.load("oblique")
    assert (keeping.RESULTS / "oblique.md").read_text(encoding="utf-8") == oblique.page(origin, figures)
    random = np.random.default_rng(0)
    rows = random.normal(size=(200, 3))
    np.savez(tmp_path / "table.npz", rows=rows, classes=(rows[:, 0] > rows[:, 1]).astype(int))
    found = oblique._measured("treewright, sums of 2", tmp_path / "table.npz", 120)
    assert found["accuracy"] > 0.9
    assert found["leaves"] < 4
    assert found["cpu"] > 0
    absent = {"table": "t", "rows": 9, "columns": 2, "results": {"ydf": {"skipped": "not there"}}}
    assert "ydf: not there." in oblique.shown([absent])


def test_the_page_of_streaming_shows_the_kept_results() -> None:
    kept = keeping.load("streaming")
    assert (keeping.RESULTS / "streaming.md").read_text(encoding="utf-8") == streaming.page(*kept)


@pytest.mark.slow
def test_streaming_is_measured(tmp_path: Path) -> None:
    table = tmp_path / "rows.csv"
    with open(table, "w") as file:
        streaming.write_rows(file, 300, with_target=True)
    assert len(table.read_text().splitlines()) == 301
    model = tmp_path / "m.json"
    command = [sys.executable, "-m", "treewright", "fit", str(table), "--target", "y", "-o", str(model), "-q"]
    subprocess.run(command, check=True, timeout=60)
    told = streaming.measured(model, table, "csv")
    assert 10 < told["memory"] < 1000
    assert told["written"] > 300 * len("no") / 1e6
    assert "| 300 " in streaming.report([{"rows": 300, "size": 0.02} | told])


def test_only_the_part_between_the_marks_is_written() -> None:
    begin, end = publishing.marks("one tree")
    text = f"a\n{begin}\nold\n{end}\nb\n"
    assert publishing.inserted(text, "one tree", "new") == f"a\n{begin}\nnew\n{end}\nb\n"
    for broken in ("", f"{end}{begin}", f"{begin}{begin}{end}"):
        with pytest.raises(ValueError, match="the page must hold"):
            publishing.inserted(broken, "one tree", "new")


@pytest.mark.slow
def test_a_partial_run_changes_nothing() -> None:
    files = [
        publishing.README,
        publishing.PAGE,
        scaling.PICTURE,
        pruning.PICTURE,
        *sorted(keeping.RESULTS.iterdir()),
    ]
    before = {file: file.read_bytes() for file in files}
    command = [sys.executable, "-m", "benchmarks", "growing", "--only", "iris", "--peers", "treewright"]
    done = subprocess.run(
        [*command, "--seconds", "0"], capture_output=True, text=True, cwd=ROOT, timeout=120, check=True
    )
    assert "| iris " in done.stdout
    assert "neither benchmarks/results nor docs/benchmarks.md was changed" in done.stdout
    assert [*sorted(keeping.RESULTS.iterdir())] == files[4:]
    assert {file: file.read_bytes() for file in files} == before


def test_results_name_no_host_and_no_path() -> None:
    import platform

    for file in keeping.RESULTS.iterdir():
        text = file.read_text(encoding="utf-8")
        for secret in (platform.node(), str(ROOT), str(Path.home())):
            assert len(secret) < 6 or secret not in text, f"{file.name} tells {secret}"


@pytest.mark.slow
def test_the_picture_is_small_and_says_where_it_comes_from() -> None:
    measured = {
        curve.name: [
            (problem, [result("treewright", 1.0 + k, depth=k + 1), result("treewright", 0.5 + k, threads=2)])
            for k, problem in enumerate(curve.problems)
        ]
        for curve in scaling.CURVES
    }
    picture = drawing.picture(ORIGIN, measured)
    assert picture == drawing.picture(ORIGIN, measured), "the same figures give the same bytes"
    assert len(picture) < 100_000
    words = " ".join(ElementTree.fromstring(picture).itertext())
    for word in (
        "treewright 1.2.3",
        "2026-01-02",
        "a machine",
        "rows (10 columns)",
        "10M",
        "n·log n",
        "no limit",
    ):
        assert word in words
    assert scaling.PICTURE.stat().st_size < 100_000


@pytest.mark.slow
def test_importing_is_timed() -> None:
    told = importing.once("import treewright")
    assert 0 < told["cpu"] < 60
    assert "`import treewright`" in importing.table({"import treewright": told})


def test_counts_are_read_and_compared() -> None:
    profile = [
        "events: Ir",
        "ob=/usr/lib/libc.so.6",
        "fn=malloc",
        "12 1000",
        "ob=/somewhere/_core.abi3.so",
        "fn=grow",
        "10 40",
        "cob=/usr/lib/libc.so.6",
        "cfn=malloc",
        "calls=2 12",
        "11 1000",
        "12 2",
    ]
    assert counting.instructions(profile, "_core.") == 42
    table = counting.compare({"a": 104, "b": 102, "c": 90, "d": 1}, {"a": 100, "b": 100, "c": 100})
    told = [line.split("|")[4].strip() for line in table.splitlines()[2:]]
    assert told == ["+4.0%  SLOWER", "+2.0%", "-10.0%  faster", "new"]
    for name, (changes, options) in counting.CASES.items():
        assert counting.data_of(changes).n_rows >= 2000, name
        assert set(options) <= {"max_depth"}


@pytest.mark.slow
def test_a_whole_run_keeps_its_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "RESULTS", tmp_path)
    monkeypatch.setattr(growing, "PROBLEMS", (replace(SMALL, predicted=0),))
    chosen = Namespace(peers=["treewright"], seconds=0.0, limit=120, partial=False)
    comparing.run("growing", Namespace(**vars(chosen), quick=False, rows=None, only=None))
    origin, [(problem, results)] = keeping.load_sections("growing")
    assert problem.name == "small"
    assert {"Python", "numpy", "treewright", "scikit-learn"} <= origin.versions.keys()
    assert [told["cpu"] > 0 for told in results] == [True, True]
    assert (tmp_path / "growing.md").read_text() == reporting.page("growing", origin, [(problem, results)])


NUMBERS = Problem("numbers", 300, columns=2, classes=0, source="chance")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("problem", "who"),
    [
        (NUMBERS, "paths: treewright"),
        (NUMBERS, "paths: scikit-learn"),
        (NUMBERS, "fronts: all sizes"),
        (NUMBERS, "fronts: one tree"),
        (SMALL, "selection: treewright"),
        *((SMALL, f"shares: {name}") for name in ("growing", *pruners.METHODS)),
    ],
)
def test_what_is_timed_of_pruning_does_its_work(problem: Problem, who: str, tmp_path: Path) -> None:
    task = pruners.prepare(Job("pruners", problem, who, 1, str(problems.make(problem, tmp_path))))
    task.work()
    told = task.finish()
    if who.startswith("paths"):
        assert told["leaves"] == NUMBERS.rows, "of numbers drawn by chance every row has a leaf"
    elif who == "shares: cost_complexity":
        assert told == {}, "its path is open to choice"
    else:
        assert told["leaves"] >= 1


def test_growth_is_fitted_to_large_trees() -> None:
    square = [(10.0, 7.0), (10_000.0, 1.0), (20_000.0, 4.0), (40_000.0, 16.0)]
    assert pruning.exponent(square) == pytest.approx(2.0)
    assert pruning.exponent(square[:2]) is None


def test_methods_above_the_mark_are_named() -> None:
    slow, fast = result("bound", 0.2), result("srm", 0.01)
    lost = {"peer": "pessimistic", "threads": 1, "skipped": "took more than 30 s"}
    told = pruning._marks([(SMALL, [result("growing", 1.0), slow, fast, lost])])
    assert told.endswith("above it: bound (small: 20 %), pessimistic (small: took more than 30 s).")
    assert pruning._marks([(SMALL, [result("growing", 1.0), fast])]).endswith("all methods keep to it.")
    assert pruning._marks([(SMALL, [lost | {"peer": "growing"}, fast])]) == "Growing was not measured."


def test_without_r_the_line_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(driving_r, "versions", lambda package: {})
    nowhere = tmp_path / "none.npz"
    assert rpart.measure(nowhere, 10, 1.0) == {"skipped": "not installed"}
    told = ranger.measure(SMALL, nowhere, trees=9, columns=2, threads=1, limit=1.0)
    assert told == {"skipped": "not installed in R"}


def test_trees_are_chosen_by_folds_and_not_by_test_rows() -> None:
    def line(criterion: str, leaves: int, folds: float, test: float) -> dict[str, Any]:
        told = {"method": "srm", "how": "c = 1", "criterion": criterion, "leaves": leaves}
        return told | {"folds": folds, "test": test}

    lines = [line("gini", 90, 0.07, 0.08), line("entropy", 80, 0.08, 0.05), line("sqrt", 9, 0.09, 0.085)]
    rules = line("gini", 3, 0.01, 0.01) | {"method": "rules"}
    assert methods.chosen_by_folds([*lines, rules]) is lines[0]
    assert methods.chosen_by_folds(lines, methods.MOST_LEAVES) is lines[2]
    told = [
        [cell.strip() for cell in row.split("|")[1:-1]] for row in methods.summary(lines).splitlines()[2:]
    ]
    among_all = {row[0]: row[-1] for row in told if row[1] == "all"}
    assert among_all == {"at most 17 leaves": "8.5 %", "any size": "8.0 %"}


def test_every_method_of_pruning_is_among_the_ways() -> None:
    from treewright.pruning import methods as known

    assert {way.method for way in methods.WAYS} == {*known(), "unpruned", "rules"}
    names = [(way.method, way.how) for way in methods.WAYS]
    assert len(set(names)) == len(names)


@pytest.mark.slow
def test_adaboost_beside_and_chosen() -> None:
    """Both libraries on the same rows, and the line of the least error of folds first, whatever the test."""
    chosen = Namespace(seconds=0.0)
    (figure,) = adaboost._beside((1,), (3,), chosen)
    assert figure["treewright"]["test"] == figure["scikit-learn"]["test"]  # the same stumps
    assert "stumps" in adaboost.beside_table([figure])
    judged = [
        {"max_depth": 3, "rate": 1.0, "folds": 0.06, "rounds": 9, "test": 0.01, "last": 0.02},
        {"max_leaf_nodes": 8, "rate": 0.5, "folds": 0.05, "rounds": 7, "test": 0.09, "last": 0.08},
    ]
    table = adaboost.chosen_table(judged).splitlines()
    assert table[2].startswith("| **8 leaves**")
    assert "Chosen by folds" in adaboost.page(ORIGIN, [figure], judged)


@pytest.mark.slow
def test_neighbours_are_measured_and_compared() -> None:
    small = Problem("small", 500, columns=3, predicted=20)
    jobs = [Job("neighbours", small, f"{name}: k = 1", 1, "") for name in ("treewright", "cKDTree")]
    for told in measuring.measure(jobs, 0.0, 120):
        assert 0 < told["wall"] < 10, told
    measured = [
        {"peer": peer, "work": work, "threads": 1, "wall": wall, "cpu": wall}
        for peer, wall in (("treewright", 1.0), ("cKDTree", 3.0))
        for work in neighbours.WORKS
    ]
    assert neighbours.table(measured, 1).splitlines()[3].split("|")[-2].strip() == "3x"
    figures = neighbours.defeatist(small)
    assert figures[-1]["found"] == 1.0
    shown = neighbours.page(ORIGIN, [(small, measured)], figures)
    assert "500 points x 3 columns, 20 queries" in shown
    assert shown.count("| exact search |") == 1


def test_neighbours_in_short() -> None:
    found = [
        result(name, 1.0, wall=wall, work=work)
        for name, wall in (("treewright", 0.5), ("cKDTree", 1.5), ("pykdtree", 0.4))
        for work in ("build", "k = 1")
    ]
    short = neighbours.short({"exact": [(SMALL, found)]})
    assert [cell.strip() for cell in short.splitlines()[2].split("|")[1:-1]] == [
        "small", "10", "1 s", "0.8x", "–", "3x", "–",
    ]  # fmt: skip


def test_gradient_boosting_in_short() -> None:
    results = [result("treewright", 2.0), result("scikit-learn", 3.0), result("XGBoost", 1.0)]
    short = gradient_boosting.short({"times": [(SMALL, results)]})
    assert [cell.strip() for cell in short.splitlines()[2].split("|")[1:-1]] == [
        "small", "2 s", "1.5x", "–", "0.5x",
    ]  # fmt: skip
