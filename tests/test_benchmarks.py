"""The benchmarks measure what they say: in a process of its own, with size and score of the tree."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks import growing, measuring, predicting, problems, reporting
from benchmarks.__main__ import why_not
from benchmarks.peers import PEERS
from benchmarks.problems import Problem


@pytest.mark.parametrize("room", ["growing", "predicting"])
def test_a_measurement(room: str, tmp_path: Path) -> None:
    problem = Problem("small", 500, columns=8, predicted=10)
    data = problems.make(problem, tmp_path)
    result = measuring.run(measuring.Job(room, problem, "treewright", 1, str(data), 0.0), limit=60)
    assert "skipped" not in result, result
    assert 0 < result["wall"] < 10
    assert result["leaves"] > 10
    assert result["score"] > 0.6
    page = reporting.page(room, "command", [(problem, [{"peer": "treewright", "threads": 1, **result}])])
    assert "| treewright" in page


def test_what_fails_is_skipped_with_the_reason(tmp_path: Path) -> None:
    problem = Problem("small", 500, columns=8)
    job = measuring.Job("growing", problem, "treewright", 1, str(tmp_path / "none.npz"), 0.0)
    assert "FileNotFoundError" in measuring.run(job, limit=60)["skipped"]
    assert (
        why_not(PEERS["scikit-learn"], Problem("c", 10, categories=3)) == "cannot do categories in one tree"
    )
    assert why_not(PEERS["treewright"], Problem("c", 10, categories=3)) is None


def test_problems_have_names_of_their_own() -> None:
    for room in (growing, predicting):
        names = [problem.name for problem in room.PROBLEMS]
        assert len(set(names)) == len(names)
