"""Costs on the command line: how they are said, that everything told goes by them, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treewright import cli, load

COMMON = ("--target", "y", "--quiet", "--json")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    x = rng.normal(size=300).round(2)
    y = np.where(x + rng.normal(size=300) > 0.7, "ill", "well")
    Path("t.csv").write_text(
        "x,z,y\n" + "".join(f"{a},{i % 7},{b}\n" for i, (a, b) in enumerate(zip(x, y, strict=True)))
    )
    odd = ["a:b", "a", "b:c", "c"]
    Path("odd.csv").write_text("x,y\n" + "".join(f"{i % 9},{odd[i % 4]}\n" for i in range(80)))
    Path("codes.csv").write_text("x,y\n" + "".join(f"{i % 9},{i % 3}\n" for i in range(60)))
    Path("flags.csv").write_text(
        "x,y\n" + "".join(f"{i % 9},{'true' if i % 3 else 'false'}\n" for i in range(60))
    )
    Path("costs.json").write_text('{"ill": {"well": 10}}')
    return tmp_path


def fitted(capfd: pytest.CaptureFixture[str], table: str, *options: str) -> tuple[dict[str, Any], Any]:
    cli.main(["fit", table, *COMMON, "--no-report", "-o", "m.json", *options])
    told: dict[str, Any] = json.loads(capfd.readouterr().out)
    return told, load("m.json")


@pytest.mark.slow
def test_everything_told_goes_by_costs(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    told, tree = fitted(capfd, "t.csv", "--cost", "ill:well=10")
    assert tree.schema.targets[0].costs == ((0.0, 10.0), (1.0, 0.0))
    assert tree.schema.targets[0].emphasis is not None
    assert told["loss"] == "mean cost"
    assert told["parts"]["training"]["error"] == pytest.approx(tree.mean(tree.loss[tree.is_leaf].sum()))
    assert told["parts"]["training"]["error_of_root"] == pytest.approx(tree.mean(tree.loss[0]))
    assert told["certificates"][0]["what"] == "cost"
    cli.main(["fit", "t.csv", "--target", "y", "--cost", "ill:well=10", "-o", "m.json"])
    text = capfd.readouterr().out
    assert "mean cost" in text
    assert "true cost is below" in text
    assert "per row" in Path("m.report.html").read_text()
    _, by_file = fitted(capfd, "t.csv", "--cost", "costs.json")
    assert by_file == tree
    _, plain = fitted(capfd, "t.csv", "--cost", "ill:well=10", "--cost-split", "none")
    assert plain.schema.targets[0].emphasis is None
    _, rare = fitted(capfd, "t.csv", "--prior", "ill=0.01", "--prior", "well=0.99", "--prune", "none")
    assert tree.schema.targets[0].costs != rare.schema.targets[0].costs
    assert rare.mean(rare.loss[0]) == pytest.approx(0.01)
    cli.main(["compare", "t.csv", *COMMON, "--cost", "ill:well=10", "--method", "srm"])
    assert json.loads(capfd.readouterr().out)["methods"][0]["training"] < 0.01


@pytest.mark.slow
def test_names_of_classes(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """With colons, as numbers, as truth values."""
    assert fitted(capfd, "odd.csv", "--cost", "c:b:c=3")[1].schema.targets[0].costs[3][2] == 3
    assert fitted(capfd, "codes.csv", "--cost", "0:2=7")[1].schema.targets[0].costs[0][2] == 7
    assert fitted(capfd, "flags.csv", "--cost", "True:false=7")[1].schema.targets[0].costs == (
        (0.0, 1.0),
        (7.0, 0.0),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--cost", "ill-well=3"], 2, "it must be TRUTH:PREDICTION=COST"),
        (["--cost", "ill:well=x"], 2, "it must be TRUTH:PREDICTION=COST"),
        (["--cost", "nothing"], 2, "it must be TRUTH:PREDICTION=COST, such as ill:well=10, or a file"),
        (["--cost", "sick:well=3"], 2, "there is no class 'sick'; the classes are 'ill', 'well'"),
        (["--cost", "ill:wel=3"], 2, "did you mean 'well'?"),
        (["--cost", "ill:well=3", "--cost", "ill:well=4"], 2, "names ill:well twice"),
        (["--cost", "ill:well=-3"], 2, "the number must be finite and at least 0"),
        (["--cost", "ill:ill=3"], 1, "zeros on its diagonal"),
        (["--cost", "t.csv"], 1, "t.csv cannot be read as JSON"),
        (["--cost", "list.json"], 1, "must hold costs by truth and prediction"),
        (["--prior", "ill"], 2, "it must be CLASS=PROBABILITY"),
        (["--prior", "ill=0.5"], 2, "does not name 'well'"),
        (["--prior", "ill=0.5", "--prior", "ill=0.5"], 2, "names ill twice"),
        (["--prior", "ill=0.5", "--prior", "well=0.6"], 1, "add up to 1.1"),
        (["--cost-split", "gini"], 2, "--cost-split gini is unknown"),
        (["--target", "x", "--numbers", "--cost", "ill:well=3"], 2, "the target is a number"),
    ],
)
def test_trouble(
    folder: Path, capfd: pytest.CaptureFixture[str], options: list[str], code: int, message: str
) -> None:
    Path("list.json").write_text("[[0, 1], [2, 0]]")
    target = [] if "--target" in options else ["--target", "y"]
    with pytest.raises(SystemExit) as ended:
        cli.main(["fit", "t.csv", *target, "--quiet", *options])
    assert ended.value.code == code
    assert message in capfd.readouterr().err
    assert not Path("t.tree.json").exists()


def test_two_readings_of_one_cost(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["fit", "odd.csv", "--target", "y", "--cost", "a:b:c=3"])
    assert "can be read in 2 ways" in capfd.readouterr().err
