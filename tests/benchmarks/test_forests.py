"""The room of forests measures what it says, and compares ensembles with those of their kind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks import forest_errors, forest_peers, forests, keeping, problems, publishing
from benchmarks.measuring import Job
from benchmarks.problems import Problem

from tests.benchmarks.made_up_figures import ORIGIN, SMALL, result


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 0])
@pytest.mark.parametrize("peer", ["treewright", "scikit-learn", "treewright, bagging"])
def test_forests_do_their_work(
    peer: str, classes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forest_peers, "TREES", 10)
    problem = replace(SMALL, classes=classes)
    task = forests.prepare(Job("forests", problem, f"fit: {peer}", 2, str(problems.make(problem, tmp_path))))
    task.work()
    told = task.finish()
    assert told["score"] > (0.7 if classes else 0.4)
    assert told["size"] > 0.01
    assert ("held" in told) == peer.startswith("treewright")


def test_forests_answer_the_rows_of_the_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forest_peers, "TREES", 3)
    problem = replace(SMALL, max_depth=3)
    job = Job("forests", problem, "predict: treewright, float64", 1, str(problems.make(problem, tmp_path)))
    task = forests.prepare(job)
    assert len(task.work()) == problem.predicted
    assert 0 <= task.finish()["score"] <= 1


def test_rows_out_of_bag_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forest_peers, "TREES", 30)
    name = f"treewright, {forest_peers.OOB}"
    task = forests.prepare(Job("forests", SMALL, f"fit: {name}", 1, str(problems.make(SMALL, tmp_path))))
    task.work()
    told = task.finish()
    assert 0.6 < told["out_of_bag"] < 1
    assert f"(out of bag {told['out_of_bag']:.4f})" in forests.table(SMALL, [result(name, 1.0) | told])


def forests_measured() -> dict[str, Any]:
    """Figures of a small run, made up."""
    grown = [
        result("treewright", 1.0, score=0.9, size=2.0, held=1.0),
        result("treewright", 1.0, threads=2, wall=0.5),
        result("scikit-learn", 8.0),
        result("ranger", 0.5),
        result("treewright, extra trees", 2.0),
        result("scikit-learn, extra trees", 3.0),
        result("treewright, bagging", 2.0),
        {"peer": "scikit-learn, bagging", "threads": 1, "skipped": "spared: takes more than a minute"},
    ]
    answered = [result("treewright", 1.0), result("treewright, float64", 0.9), result("scikit-learn", 4.0)]
    wrong = {"method": "bagging", "trees": 9, "errors": [0.05, 0.06], "mark": 0.054}
    return {
        "fit": [(Problem("10k", 10_000), grown)],
        "predict": [(Problem("200k rows", 10_000, predicted=200_000), answered)],
        "errors": [(forest_errors.SPAM, [wrong, wrong | {"method": "one", "errors": [0.04], "mark": None}])],
    }


def test_forests_are_compared_with_those_of_their_kind() -> None:
    measured = forests_measured()
    page = forests.page(ORIGIN, measured)
    lines = {row.split("|")[1].strip(): row for row in page.splitlines() if row.startswith("| ")}
    assert "| 1.5x " in lines["scikit-learn, extra trees"]
    assert "2 (1 in memory)" in page
    assert "scikit-learn, bagging: spared: takes more than a minute." in page
    assert lines["bagging"].split("|")[3:6] == [" 5.50 %     ", " 0.71 %     ", " 5.40 %   "]
    short = forests.short(measured)
    named = [row.split("|")[1].strip() for row in short.splitlines() if row.startswith("| ")][2:]
    assert named == ["random forest 10k", "extra trees 10k", "200k rows"], "those with a peer"
    assert "3 of 4 comparisons with a peer; more in: random forest 10k (ranger 0.5x)" in short
    assert "bagging 5.50 % (5.40 %), one 4.00 %" in short


@pytest.mark.slow
def test_errors_of_forests_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    few = {name: forest_errors.METHODS[name] for name in ("random forest", "AdaBoost")}
    monkeypatch.setattr(forest_errors, "METHODS", few)
    forest, boosted = forest_errors.measured(quick=True)
    assert [len(figure["errors"]) for figure in (forest, boosted)] == [2, 1]
    assert all(0.03 < error < 0.08 for error in (*forest["errors"], *boosted["errors"]))


def test_the_part_of_forests_is_written_from_its_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "RESULTS", tmp_path)
    keeping.save_parts("forests", ORIGIN, forests_measured())
    part = publishing.PARTS[publishing.PAGE.name]["many trees"]()
    assert "| random forest 10k" in part
    assert "a machine, 2 cores" in part
