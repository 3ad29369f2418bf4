"""The road of `treewright fit`: which rows grow, prune and test the saved tree, and what is certified."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from treewright import cli, encode, grow, load, prune, select
from treewright.certifying import Certificates, certify
from treewright.encoding import Dataset
from treewright.encoding.splits import split
from treewright.pruning import methods
from treewright.selecting import ways
from treewright.tree import Tree

N = 400


def table(n: int = N, seed: int = 5) -> dict[str, list[object]]:
    """Two columns and classes that follow them, with every seventh row wrong or so."""
    rng = np.random.default_rng(seed)
    x, z = rng.random(n).round(3), rng.choice(["red", "green", "blue"], n)
    truth = (x > 0.4) ^ (z == "red")
    y = np.where(truth ^ (rng.random(n) < 0.15), "yes", "no")
    return {"x": x.tolist(), "z": z.tolist(), "y": y.tolist()}


def write(path: Path, columns: dict[str, list[object]]) -> Path:
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def encoded(columns: dict[str, list[object]]) -> Dataset:
    return encode({name: cells for name, cells in columns.items() if name != "y"}, {"y": columns["y"]})


def fitted(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[Tree, str]:
    """The saved tree and what was said, of a call that ends well."""
    cli.main(["fit", "t.csv", "--target", "y", "-o", "m.json", *map(str, arguments)])
    return load("m.json"), capfd.readouterr().out


def same(one: Tree, two: Tree) -> bool:
    return str(one) == str(two) and np.array_equal(np.asarray(one.statistic), np.asarray(two.statistic))


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dataset:
    """The table t.csv in the current folder, encoded."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "t.csv", table())
    return encoded(table())


def by_hand(data: Dataset, test: float = 0.2, validation: float = 0.25, seed: int = 0) -> list[Dataset]:
    """The rows to train, to validate and to test."""
    rest, tested = split(data, (1 - test, test), seed)
    return [*split(rest, (1 - validation, validation), seed), tested]


def test_the_saved_tree_is_the_one_that_was_pruned_and_tested(
    data: Dataset, capfd: pytest.CaptureFixture[str]
) -> None:
    train, valid, test = by_hand(data, seed=3)
    assert train.n_rows + valid.n_rows + test.n_rows == N
    grown = grow(train)
    path = select(prune(grown, "cost_complexity"), validation=valid)
    assert path.pruned.n_leaves < grown.n_leaves
    tree, out = fitted(capfd, "--random-state", 3)
    assert same(tree, path.pruned)
    assert "grown from 240 rows, pruned by 80, tested on 80\n" in out
    assert f"{grown.n_leaves} leaves grown by gini in " in out
    assert f"; {tree.n_leaves} kept, depth {tree.depth}, by cost_complexity (80 held-out rows, 0-SE)" in out
    for rows, part in (("training", train), ("validation", valid), ("test", test)):
        error = 100 * float(tree.mean(tree.loss_of(part)[tree.is_leaf].sum(), part))
        assert re.search(rf"^on {rows} rows +{error:.1f} % ", out, re.MULTILINE)
    box = Certificates((certify(tree, test=test), certify(tree, data=train)))
    assert out.endswith(f"; open it in a browser\n\n{box}\n")
    assert box.check()


@pytest.mark.slow
def test_shares_and_the_chance_to_fail(data: Dataset, capfd: pytest.CaptureFixture[str]) -> None:
    train, valid, test = by_hand(data, test=0.5, validation=0.4)
    tree, out = fitted(capfd, "--test-size", 0.5, "--validation-fraction", 0.4, "--delta", 0.01)
    assert f"grown from {train.n_rows} rows, pruned by {valid.n_rows}, tested on {test.n_rows}\n" in out
    assert str(certify(tree, test=test, delta=0.01)).split("→")[1] in out
    assert "with 99 % confidence" in out


def test_without_test_rows_the_choice_is_paid_for(data: Dataset, capfd: pytest.CaptureFixture[str]) -> None:
    train, valid = split(data, (0.75, 0.25), 0)
    tree, out = fitted(capfd, "--test-size", 0)
    path = prune(grow(train), "cost_complexity")
    first = certify(tree, test=valid, choices=len(path))
    assert str(Certificates((first, certify(tree, data=train)))) in out
    assert f"100 rows that chose 1 of {len(path)} trees" in out


@pytest.mark.slow
def test_folds_take_no_rows_away(data: Dataset, capfd: pytest.CaptureFixture[str]) -> None:
    rest, _ = split(data, (0.8, 0.2), 0)
    path = select(prune(grow(rest), "cost_complexity"), "folds", data=rest, n_folds=5, rule="0-SE")
    tree, out = fitted(capfd, "--select", "folds", "--option", "n_folds=5", "--option", "rule=0-SE")
    assert same(tree, path.pruned)
    assert "grown and pruned from 320 rows, tested on 80\n" in out
    assert path.validation is not None
    assert out.splitlines()[-1].startswith(f"5-fold estimate {100 * path.validation[path.chosen]:.1f} % ±")


@pytest.mark.slow
def test_leaves_price_and_none(data: Dataset, capfd: pytest.CaptureFixture[str]) -> None:
    rest, _ = split(data, (0.8, 0.2), 0)
    grown = grow(rest)
    path = prune(grown, "cost_complexity")
    assert same(fitted(capfd, "--leaves", 5)[0], select(path, leaves=5).pruned)
    tree, _ = fitted(capfd, "--alpha", 0.01)
    assert same(tree, prune(grown, "cost_complexity", alpha=0.01).pruned)
    tree, out = fitted(capfd, "--prune", "none")
    assert same(tree, grown)
    assert "; not pruned\n" in out
    assert "grown from 320 rows, tested on 80\n" in out
    tree, out = fitted(capfd, "--prune", "minimum_errors", "--leaves", 6)
    assert same(tree, select(prune(grown, "minimum_errors"), leaves=6).pruned)


@pytest.mark.slow
def test_a_limit_of_growing_does_not_stop_the_pruning(
    data: Dataset, capfd: pytest.CaptureFixture[str]
) -> None:
    tree, out = fitted(capfd, "--max-leaf-nodes", 40)
    assert "40 leaves grown by gini" in out
    assert tree.n_leaves < 40


@pytest.mark.slow
@pytest.mark.parametrize("method", methods())
def test_every_method(data: Dataset, capfd: pytest.CaptureFixture[str], method: str) -> None:
    tree, out = fitted(capfd, "--prune", method)
    kept = re.search(rf"(\d+) leaves grown .*; (\d+) kept, depth {tree.depth}, by {method}\b", out)
    assert kept is not None
    assert int(kept[1]) >= int(kept[2]) == tree.n_leaves
    roles = re.search(
        r"^grown(?: and pruned)? from (\d+) rows(?:, pruned by (\d+))?, tested on 80$", out, re.M
    )
    assert roles is not None
    assert int(roles[1]) + int(roles[2] or 0) == 320 == int(tree.rows[0]) + int(roles[2] or 0)
    assert "error on 80 rows never used for fitting" in out.splitlines()[-2]


@pytest.mark.parametrize("way", ways())
def test_every_way_to_choose(data: Dataset, capfd: pytest.CaptureFixture[str], way: str) -> None:
    more = ("--leaves", 4) if way == "leaves" else ()
    tree, out = fitted(capfd, "--select", way, *more)
    assert "by cost_complexity (" in out
    assert 1 <= tree.n_leaves < 50
    assert ("pruned by 80" in out) == (way == "held_out")


@pytest.mark.slow
def test_the_estimator_takes_the_same_road(data: Dataset, capfd: pytest.CaptureFixture[str]) -> None:
    from treewright import DecisionTreeClassifier

    columns = table()
    rest, _ = split(data, (0.8, 0.2), 0)
    place = _places(data, rest)
    X = {name: [columns[name][i] for i in place] for name in ("x", "z")}
    model = DecisionTreeClassifier(pruning="cost_complexity").fit(X, [columns["y"][i] for i in place])
    assert np.array_equal(model.model_.statistic, fitted(capfd)[0].statistic)


def _places(data: Dataset, part: Dataset) -> list[int]:
    """The places of the rows of a part, which keeps their order."""
    places, row = [], 0
    for i in range(data.n_rows):
        if row < part.n_rows and all(
            whole[i] == some[row] for whole, some in zip(data.columns, part.columns, strict=True)
        ):
            places.append(i)
            row += 1
    assert row == part.n_rows
    return places


@pytest.mark.slow
def test_files_to_validate_and_to_test(data: Dataset, capfd: pytest.CaptureFixture[str]) -> None:
    """A class that the file lacks and a category that the table lacks are no trouble."""
    rows = table(60, seed=9)
    only_yes = {
        name: [c for c, y in zip(cells, rows["y"], strict=True) if y == "yes"] for name, cells in rows.items()
    }
    only_yes["z"][0] = "purple"
    write(Path("valid.csv"), only_yes)
    write(Path("test.csv"), table(50, seed=10))
    n = len(only_yes["y"])
    tree, out = fitted(capfd, "--validation", "valid.csv", "--test", "test.csv")
    assert f"grown from 400 rows, pruned by {n}, tested on 50 of test.csv\n" in out
    valid = encode({"x": only_yes["x"], "z": only_yes["z"]}, {"y": only_yes["y"]}, schema=data.schema)
    assert same(tree, select(prune(grow(data), "cost_complexity"), validation=valid).pruned)


@pytest.mark.slow
def test_small_tables_keep_all_rows(data: Dataset, capfd: pytest.CaptureFixture[str]) -> None:
    small = table(24)
    write(Path("t.csv"), small)
    tree, out = fitted(capfd)
    assert same(tree, grow(encoded(small)))
    assert "grown from 24 rows\n" in out
    assert "not pruned (fewer than 25 rows; --prune prunes)" in out
    assert out.endswith(f"\n{certify(tree, data=encoded(small))}\n")
    _, out = fitted(capfd, "--prune", "cost_complexity", "--test-size", 0.25)
    assert re.search(r"grown from 1[34] rows, pruned by [45], tested on 6\n", out)


@pytest.mark.slow
def test_numbers_have_an_estimate_or_a_bound(data: Dataset, capfd: pytest.CaptureFixture[str]) -> None:
    columns = table()
    columns["y"] = [
        round(3 * float(str(x)) + (z == "red"), 3) for x, z in zip(columns["x"], columns["z"], strict=True)
    ]
    write(Path("t.csv"), columns)
    tree, out = fitted(capfd)
    train, _, test = by_hand(encoded(columns))
    assert int(tree.rows[0]) == train.n_rows
    assert "root mean squared error" in out
    assert out.endswith(f"\n{certify(tree, test=test)}\n")
    assert "an estimate, no guarantee" in out
    assert "with 95 % confidence the true squared error is below" in fitted(capfd, "--loss-bound", 20)[1]
    assert "no certificate: --loss-bound is 1e-09, but a row loses" in fitted(capfd, "--loss-bound", 1e-9)[1]
    _, out = fitted(capfd, "--criterion", "absolute_error")
    assert "\nabsolute error on 80 rows never used for fitting" in out
    _, out = fitted(capfd, "--test-size", 0, "--alpha", 0)
    assert out.splitlines()[-1].startswith(
        "no certificate: training rows do not bound the loss of predicted numbers"
    )


@pytest.mark.slow
def test_weights_and_certificates(data: Dataset, capfd: pytest.CaptureFixture[str]) -> None:
    columns = table()
    write(Path("t.csv"), {**columns, "w": [1 + i % 3 for i in range(N)]})
    out = fitted(capfd, "--weights", "w")[1]
    assert out.splitlines()[-1].startswith("no certificate: the rows have different weights")
    write(Path("t.csv"), {**columns, "w": [2.0] * N})
    weighed, out = fitted(capfd, "--weights", "w")
    assert "error on 80 rows never used for fitting" in out
    write(Path("t.csv"), columns)
    assert weighed.n_leaves == fitted(capfd)[0].n_leaves


def test_one_class(data: Dataset, capfd: pytest.CaptureFixture[str]) -> None:
    write(Path("t.csv"), {**table(), "y": ["yes"] * N})
    tree, out = fitted(capfd)
    assert tree.n_leaves == 1
    assert "error on 80 rows never used for fitting: 0.0 %" in out
