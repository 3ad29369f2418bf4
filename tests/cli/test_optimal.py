"""`treewright fit --optimal` and `treewright improve`: what they find, say and refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_fit import encoded, table, write
from treewright import cli, encode, grow, improve, load, optimise
from treewright.cli.optimal_options import progress_text
from treewright.encoding import Dataset

ALL_ROWS = ("--test-size", "0")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dataset:
    """The table t.csv in the current folder, encoded."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "t.csv", table(120))
    return encoded(table(120))


def run(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    cli.main(list(arguments))
    return capfd.readouterr().out


def refusal(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as left:
        cli.main(list(arguments))
    assert left.value.code == 2
    return capfd.readouterr().err


def fit(capfd: pytest.CaptureFixture[str], *options: str) -> str:
    return run(capfd, "fit", "t.csv", "--target", "y", "-o", "m.json", "--optimal", *options)


def test_the_saved_tree_is_the_best_one(data: Dataset, capfd: pytest.CaptureFixture[str]) -> None:
    text = fit(capfd, "--max-depth", "2", *ALL_ROWS)
    best = optimise(data, max_depth=2)
    assert load("m.json") == best.tree
    assert "the best tree of 120 rows" in text
    assert "proved: no tree of depth 2 does better" in text
    assert f"{best.loss:.0f} of 120 rows wrong" in text
    assert "Proved optimal: no tree of at most depth 2 loses less" in Path("m.report.html").read_text()


def test_limits_of_the_search(data: Dataset, capfd: pytest.CaptureFixture[str]) -> None:
    limits = (
        "--max-depth",
        "2",
        "--max-leaf-nodes",
        "3",
        "--min-samples-leaf",
        "20",
        "--leaf-penalty",
        "0.01",
    )
    fit(capfd, *limits, *ALL_ROWS)
    best = optimise(data, max_depth=2, max_leaf_nodes=3, min_samples_leaf=20, leaf_penalty=0.01)
    assert load("m.json") == best.tree
    fit(capfd, "--max-depth", "2", "--cost", "yes:no=4", *ALL_ROWS)
    assert load("m.json") == optimise(data, max_depth=2, costs={"yes": {"no": 4}}).tree


def test_without_time_the_gap_is_told(data: Dataset, capfd: pytest.CaptureFixture[str]) -> None:
    assert "not proved: " in fit(capfd, "--time", "0", *ALL_ROWS)
    assert "Not proved optimal" in Path("m.report.html").read_text()


def test_the_document_has_the_proof(data: Dataset, capfd: pytest.CaptureFixture[str]) -> None:
    document = json.loads(fit(capfd, "--max-depth", "2", "--json"))
    assert document["optimum"]["is_proved"] is True
    assert document["optimum"]["loss"] == document["optimum"]["bound"]
    assert document["optimum"]["limits"]["max_depth"] == 2
    assert document["pruning"] is None
    assert document["parts"]["test"]["rows"] == 24


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--optimal --criterion gini", "--criterion does not go with --optimal"),
        ("--optimal --missing category", "--missing does not go with --optimal"),
        ("--optimal --min-samples-split 5", "--min-samples-leaf limits its leaves"),
        ("--optimal --monotonic-cst x=1", "--monotonic-cst does not go with --optimal"),
        ("--optimal --cost yes:no=2 --cost-split none", "--cost-split does not go with --optimal"),
        ("--optimal --prune srm", "an optimal tree is not pruned"),
        ("--optimal --leaves 3", "an optimal tree is not pruned"),
        ("--optimal --validation-fraction 0.2", "without pruning uses no such rows"),
        ("--leaf-penalty 0.1", "--leaf-penalty is for --optimal"),
        ("--time 3", "--time-limit is for --optimal"),
        ("--optimal --time=-1", "--time-limit -1.0: it must be a finite number >= 0"),
    ],
)
def test_what_does_not_go_together(
    data: Dataset, options: str, words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert words in refusal(capfd, "fit", "t.csv", "--target", "y", *options.split())


def test_the_line_of_the_progress() -> None:
    assert progress_text(1284.0, 250.01, of_rows=True) == "1,284 wrong, bound 251"
    assert progress_text(2.5, 1.5, of_rows=False) == "loss 2.5, bound 1.5"


def test_improve_saves_what_the_function_finds(data: Dataset, capfd: pytest.CaptureFixture[str]) -> None:
    tree = grow(data, max_leaf_nodes=8)
    tree.save("m.json")
    better = improve(tree, data, max_depth=2)
    assert better.n_leaves < tree.n_leaves
    text = run(capfd, "improve", "m.json", "t.csv", "--max-depth", "2", "-o", "b.json")
    assert load("b.json") == better
    assert f"{tree.n_leaves} leaves → {better.n_leaves}: " in text
    assert "Saved to b.json" in text
    document = json.loads(run(capfd, "improve", "m.json", "t.csv", "--max-depth", "2", "--json"))
    assert document["loss"]["after"] <= document["loss"]["before"]
    assert document["tree"]["leaves"] < document["leaves_before"]
    assert document["files"] == {}


def test_nothing_to_improve(data: Dataset, capfd: pytest.CaptureFixture[str]) -> None:
    optimise(data, max_depth=2).tree.save("m.json")
    assert "no subtree can be improved" in run(capfd, "improve", "m.json", "t.csv")
    assert "-o -: the tree is saved" in refusal(capfd, "improve", "m.json", "t.csv", "-o", "-")


def test_improve_keeps_to_the_validation_rows(data: Dataset, capfd: pytest.CaptureFixture[str]) -> None:
    write(Path("new.csv"), table(60, seed=8))
    new = encode({k: v for k, v in table(60, seed=8).items() if k != "y"}, {"y": table(60, seed=8)["y"]})
    tree = grow(data, max_leaf_nodes=12)
    tree.save("m.json")
    run(capfd, "improve", "m.json", "t.csv", "--validation", "new.csv", "-o", "b.json")
    assert load("b.json") == improve(tree, data, validation=new)
