"""The room of optimal trees: how its figures are checked and shown."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest
from benchmarks import optimising
from benchmarks.optimising_solvers import CART, measured, solvers
from benchmarks.optimising_tasks import BINARY, LARGE, REAL, Task, tasks

from tests.benchmarks.made_up_figures import ORIGIN

BANK, VOTE = Task(REAL, "bank", 3, 19), Task(BINARY, "vote", 4, 5)


def figure(task: Task, **results: dict[str, Any]) -> dict[str, Any]:
    return {"task": asdict(task), "results": {name.replace("CART", CART): f for name, f in results.items()}}


def ours(cpu: float, loss: float, bound: float | None = None) -> dict[str, Any]:
    bound = loss if bound is None else bound
    return {"cpu": cpu, "loss": loss, "bound": bound, "proved": bound == loss, "early": [loss + 1, bound / 2]}


FIGURES = [
    figure(
        BANK, treewright=ours(0.5, 19), pycontree={"cpu": 2.0, "loss": 19}, CART={"cpu": 0.1, "loss": 74.0}
    ),
    figure(VOTE, treewright=ours(9.0, 7, 4), pystreed={"cpu": 0.1, "loss": 5}, pycontree={"cut": 20.0}),
]


def test_every_task_has_solvers_and_a_name_of_its_own() -> None:
    known = list(tasks())
    assert len({task.name + task.kind for task in known}) == len(known)
    assert all(solvers(task)[0] == "treewright" for task in known)


def test_the_tables() -> None:
    page = optimising.page(ORIGIN, 20.0, FIGURES)
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines()]
    assert ["bank, depth 3", "19", "19", "500 ms", "2 s", "4x", "74"] in cells
    assert [
        "vote, depth 4",
        "5",
        "7 (bound 4)",
        "cut at 9 s",
        "cut at 20 s",
        "–",
        "100 ms",
        "–",
        "–",
    ] in cells
    assert ["vote, depth 4", "8", "2", "7", "4", "3", "5"] in cells
    assert "treewright proves 1 of 1 trees; pycontree proves 1 of 1 and takes 4x the CPU time" in page
    assert "bank, depth 3" in optimising.short({"limit": 20.0, "tasks": FIGURES})


def test_a_proved_loss_is_the_published_one() -> None:
    optimising.check(FIGURES)
    with pytest.raises(ValueError, match=r"bank, depth 3: \{'treewright': 20"):
        optimising.check([figure(BANK, treewright=ours(0.5, 20))])
    with pytest.raises(ValueError, match="vote, depth 4"):
        optimising.check([figure(VOTE, treewright=ours(0.5, 5), pystreed={"cpu": 1.0, "loss": 6})])


@pytest.mark.slow
def test_a_measurement() -> None:
    found = measured("treewright", Task("made up", "300 x 4", 2), 30.0)
    assert found["proved"], found
    assert found["loss"] <= measured(CART, Task("made up", "300 x 4", 2), 30.0)["loss"]
    assert measured("treewright", Task(LARGE, "300 x 4", 3), 30.0)["loss"] >= 0
