"""Saved ensembles on the command line: predict takes them, the other commands say that they want one tree."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from treewright import cli, encode, grow_forest, load
from treewright.ensembles.adaboost import boost
from treewright.ensembles.adaboost_r2 import boost_numbers
from treewright.ensembles.gradient_boosting import boost as gradient_boost

N = 60
RANDOM = np.random.default_rng(5)
Z = RANDOM.integers(0, 9, N).astype(float)
JOB = np.array(RANDOM.choice(["clerk", "cook", "smith"], N), object)
JOB[::17] = None
NUMBERS = Z / 4 + (JOB == "cook")
CLASSES = np.where(NUMBERS > 1.3, "yes", "no")
THREE = np.digitize(NUMBERS, [0.5, 1.7])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table and ensembles of it."""
    monkeypatch.chdir(tmp_path)
    lines = ["z,job", *(f"{z:g},{job or ''}" for z, job in zip(Z, JOB, strict=True))]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = {"z": Z, "job": JOB}
    several = encode({**rows, "unused": np.zeros(N)}, {"a": CLASSES, "b": THREE})
    grow_forest(several, n_estimators=5, max_depth=2).save("forest.json")
    grow_forest(encode(rows, NUMBERS), n_estimators=5, max_depth=2).save("forest_numbers.json")
    boost(encode(rows, CLASSES), n_estimators=4).save("boosted.json")
    boost_numbers(encode(rows, NUMBERS), n_estimators=4).save("boosted_numbers.json")
    gradient_boost(encode(rows, THREE), max_iter=2, min_samples_leaf=2).save("gradient.json")
    gradient_boost(encode(rows, NUMBERS + 1), max_iter=12, loss="gamma", min_samples_leaf=2).save(
        "gradient_numbers.json"
    )
    return tmp_path


@pytest.mark.parametrize(
    "name", ["forest", "forest_numbers", "boosted", "boosted_numbers", "gradient", "gradient_numbers"]
)
def test_predict_takes_ensembles(name: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    model = load(f"{name}.json")
    proba = ["--proba"] * model.schema.predicts_classes
    cli.main(["predict", f"{name}.json", "rows.csv", "-o", "answers.jsonl", *proba])
    answers = [json.loads(line) for line in (folder / "answers.jsonl").read_text().splitlines()]
    table = {"z": Z, "job": JOB, "unused": np.zeros(N)}
    rows = {column: table[column] for column in model.schema.names}
    predicted = [[value for key, value in row.items() if key.startswith("prediction")] for row in answers]
    is_text = predicted[0] and isinstance(
        predicted[0][0], str
    )  # several targets are told as text by `predict`
    told = [list(map(str, row)) for row in predicted] if is_text else predicted
    assert told == model.predict(rows).reshape(N, -1).tolist()
    if proba:
        shares = model.predict_proba(rows)  # type: ignore[union-attr]
        shares = np.concatenate(shares, axis=1) if isinstance(shares, list) else shares
        told = [[value for key, value in row.items() if key.startswith("probability")] for row in answers]
        assert told == shares.tolist()
    assert "4 rows with missing values" in capfd.readouterr().err


@pytest.mark.parametrize("command", ["show", "rules", "export", "explain", "prune", "report"])
def test_other_commands_say_that_they_want_one_tree(
    command: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    more = {"explain": ["--set", "z=1"], "prune": ["--leaves", "2"]}.get(command, [])
    said = failed(capfd, 1, command, "forest.json", *more)
    expected = "forest.json holds 5 trees that predict together (Forest), but this command takes one tree"
    assert expected in said
    assert sorted(path.name for path in folder.iterdir() if path.suffix == ".html") == []


def test_predict_speaks_of_the_ensemble(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    said = failed(capfd, 2, "predict", "boosted_numbers.json", "rows.csv", "--proba")
    assert "the ensemble in boosted_numbers.json predicts numbers" in said
    (folder / "few.csv").write_text("z\n1\n")
    said = failed(capfd, 1, "predict", "forest.json", "few.csv")
    assert "few.csv has no column 'job', which the ensemble tests" in said


def failed(capfd: pytest.CaptureFixture[str], code: int, *arguments: str) -> str:
    """What a call says that ends with an error."""
    with pytest.raises(SystemExit) as end:
        cli.main(list(arguments))
    assert end.value.code == code
    return " ".join(capfd.readouterr().err.split())
