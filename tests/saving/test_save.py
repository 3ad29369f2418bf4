"""Model files: exact, the same bytes everywhere, whole or not at all, and old ones load."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.checks import same_tree
from tests.oracle import CLASSES, NUMBERS
from tests.saving.small_models import by_hand, labelled
from tests.strategies import tables
from treewright import (
    Column,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    Leaf,
    Schema,
    Target,
    Tree,
    encode,
    grow,
    load,
    saving,
)
from treewright.ensembles.adaboost import Boosted
from treewright.ensembles.gradient_boosting import GradientBoosted
from treewright.saving.ensembles import KINDS

MODELS = Path(__file__).parent / "models"
NAMES = sorted(path.name.removesuffix(".model.json") for path in MODELS.glob("*.model.json"))


def round_trip(tree: Tree, folder: Path) -> Tree:
    path = folder / "tree.json"
    tree.save(path)
    loaded = load(path)
    same_tree(loaded, tree)
    assert repr(loaded.schema) == repr(tree.schema)  # types and signs of zeros, too
    assert loaded == tree
    return loaded


# ---- exact -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("criterion", [*CLASSES, *NUMBERS])
@settings(max_examples=15)
@given(data=st.data())
def test_any_grown_tree_comes_back(
    criterion: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    table = data.draw(tables(criterion))
    round_trip(table.grow(criterion=criterion), tmp_path_factory.mktemp("round"))


EXTREMES = [
    0.0,
    -0.0,
    5e-324,
    -2.2250738585072011e-308,
    1e308,
    -1.7976931348623157e308,
    0.1,
    1 / 3,
    np.inf,
    -np.inf,
]


@pytest.mark.parametrize("threshold", EXTREMES)
def test_thresholds_keep_every_bit(threshold: float, tmp_path: Path) -> None:
    tree = by_hand()
    round_trip(replace(tree, threshold=np.array([threshold, np.nan, np.nan])), tmp_path)


def test_statistics_keep_every_bit(tmp_path: Path) -> None:
    schema = Schema((Column("x"),), (Target("a"), Target("b")))
    leaf = Leaf([5e-324, -0.0, 1e308, 5e-324, 1e308, 5e-324])
    loaded = round_trip(Tree.write(schema, leaf), tmp_path)
    assert np.signbit(loaded.statistic[0, 1])
    classes = Tree.write(labelled(("a",)).schema, Leaf([-0.0, 1e308]))
    assert np.signbit(round_trip(classes, tmp_path).statistic[0, 0])


LABELS = [
    ("", " ", "\0", "a\0", "a", "\n", '"', "\\", "null", "NaN", "1", "\u2028", "\x7f", "é", "消防士"),
    ("\U0001f600", "\ud83d\ude00", "\ud800", "\udfff\ud800", "x\udc00", "\\ud800"),
    (True, False),
    (1, 0, -1, 2**53 + 1, 2**63, -(2**64), 2**4095, 10**1000),
    (1.0, -0.0, 0.1, 5e-324, 1e308, -1e308, float("inf"), float("-inf")),
    (1, 2.0, 2.5),
]


@pytest.mark.parametrize("labels", LABELS, ids=repr)
def test_labels_keep_their_type_and_value(labels: tuple[Any, ...], tmp_path: Path) -> None:
    tree = labelled(labels, labels)
    loaded = round_trip(tree, tmp_path)
    table = {"x": [0.0, 1.0], "c": np.array([labels[-1], None], object)}
    one, two = tree.predict(table), loaded.predict(table)
    assert one.dtype == two.dtype
    assert one.tolist() == two.tolist() == list(labels[:2])
    json.loads((tmp_path / "tree.json").read_bytes().decode("utf-8"))  # valid JSON in valid UTF-8


def test_names_keep_every_character(tmp_path: Path) -> None:
    names = LABELS[0] + LABELS[1]
    schema = Schema(tuple(map(Column, names)), tuple(map(Target, names)))
    assert round_trip(Tree.write(schema, Leaf([1, 2, 3] * len(names))), tmp_path).schema.names == names


class Whole(int):
    """An integer of a type of its own."""


@pytest.mark.parametrize(
    "labels",
    [
        (np.int64(3), np.int64(4)),
        (0.5, np.float64(1.5)),
        (np.float32(0.5), np.float32(1.5)),
        ("b", np.str_("a")),
        (np.bool_(True), np.bool_(False)),
        (1, 10**2000),
        (Whole(1), Whole(2)),
    ],
    ids=lambda labels: type(labels[1]).__name__,
)
def test_what_a_file_cannot_hold_is_refused_and_nothing_is_written(
    labels: tuple[Any, ...], tmp_path: Path
) -> None:
    for tree, what in ((labelled(labels), "column 'c'"), (labelled((), labels), "target 'y'")):
        with pytest.raises(TypeError, match=what):
            tree.save(tmp_path / "tree.json")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("label", [None, b"a", (1, 2), datetime.date(2020, 1, 1), np.datetime64("2020"), 1j])
def test_what_no_tree_can_hold_is_refused(label: Any, tmp_path: Path) -> None:
    tree = by_hand()
    odd = replace(tree, schema=replace(tree.schema, targets=(Target("y", (label, "b")),)))
    with pytest.raises(ValueError, match="target 'y'"):
        odd.save(tmp_path / "tree.json")
    assert os.listdir(tmp_path) == []


def test_what_the_encoder_makes_of_tables_can_be_saved(tmp_path: Path) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = pandas.DataFrame(
        {
            "cut": pandas.cut([1.0, 2.0, 3.0, 4.0], 2),
            "object": pandas.Series(["a", None, "b", "a"], dtype=object),
            "bool": pandas.array([True, None, False, True], dtype="boolean"),
            "level": pandas.Categorical([1.5, np.inf, 1.5, None]),
            "day": pandas.to_datetime(["2020-01-01", None, "2021-05-05", "1969-12-31"]),
            "wait": pandas.to_timedelta([1, 2, None, 4], unit="s"),
        }
    )
    loaded = round_trip(grow(encode(frame, np.array([3, 1, 2, 2**63], np.uint64))), tmp_path)
    assert loaded.predict(frame).tolist() == [3, 1, 2, 2**63]
    frame = polars.DataFrame({"e": polars.Series(["p", "q", None], dtype=polars.Enum(["q", "z", "p"]))})
    round_trip(grow(encode(frame, [True, False, True])), tmp_path)
    round_trip(grow(encode({"n": [None, None], "x": [1, 2]}, ["a", "b"], kinds={"n": "category"})), tmp_path)


def test_estimators_are_saved_by_their_tree(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(80, 3))
    for model, y in (
        (DecisionTreeClassifier(max_depth=4), np.where(X[:, 0] > 0, "yes", "no")),
        (DecisionTreeClassifier(max_depth=4), np.stack([X[:, 0] > 0, X[:, 1] > 0], axis=1).astype(int)),
        (DecisionTreeRegressor(max_depth=4), X[:, 1] + 1e8),
    ):
        model.fit(X, y).model_.save(tmp_path / "tree.json")
        loaded = load(str(tmp_path / "tree.json"))
        assert loaded.predict(X).tolist() == model.predict(X).tolist()


@pytest.mark.slow
def test_a_chain_of_a_hundred_thousand_tests(tmp_path: Path) -> None:
    n = 100_000
    end = np.full(2 * n + 1, 2 * n + 1, np.int32)
    end[1::2] = np.arange(2, 2 * n + 2, 2)
    inner = np.zeros(2 * n + 1, bool)
    inner[:-1:2] = True
    weight = np.ones(2 * n + 1)
    weight[::2] = np.arange(n + 1, 0, -1)
    tree = Tree(
        end=end,
        feature=np.where(inner, 0, -1).astype(np.int32),
        threshold=np.where(inner, np.arange(2 * n + 1) / 2, np.nan),
        subset=np.full(2 * n + 1, -1),
        missing_left=np.zeros(2 * n + 1, bool),
        step=np.where(inner, np.arange(2 * n + 1) // 2, -1).astype(np.int32),
        rows=weight.astype(np.int64),
        statistic=np.stack([weight, np.arange(2 * n + 1) % 1000 / 7, weight * 0], axis=1),
        schema=Schema((Column("x"),)),
        criterion="squared_error",
    )
    loaded = round_trip(tree, tmp_path)
    assert loaded.depth == n
    x = np.array([[0.0], [5.5], [n - 1.0], [np.nan]])
    assert loaded.predict(x).tolist() == tree.predict(x).tolist()


# ---- the same bytes --------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_bytes_do_not_depend_on_threads_or_runs(tmp_path: Path) -> None:
    code = (
        "import numpy as np, sys; from treewright import encode, grow\n"
        "r = np.random.default_rng(0); n = 6000; x = r.normal(size=n)\n"
        "table = {'x': x, 'c': r.choice(list('pqrst'), n), 'z': r.integers(0, 9, n)}\n"
        "data = encode(table, np.where(x + r.normal(size=n) > 0, 'yes', 'no'))\n"
        "for threads in (1, 2, 3, 5, 7):\n"
        "    grow(data, n_jobs=threads, max_depth=7).save(f'{sys.argv[1]}-{threads}')\n"
    )
    for seed in ("0", "1", "77"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", code, str(tmp_path / seed)]
        subprocess.run(command, env=environment, check=True, timeout=120)
    contents = {path.read_bytes() for path in tmp_path.iterdir()}
    assert len(list(tmp_path.iterdir())) == 15
    assert len(contents) == 1
    path = next(tmp_path.iterdir())
    load(path).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_the_file_is_for_people(tmp_path: Path) -> None:
    path = tmp_path / "tree.json"
    by_hand().save(path)
    whole = json.loads(path.read_text(encoding="utf-8"))
    assert whole["format"] == "treewright model"
    assert whole["version"] == 5
    model = whole["model"]
    assert model["columns"][1] == {"name": "c", "kind": "category", "categories": ["clerk", "cook"]}
    assert model["threshold"] == [0.5, None, None]
    assert model["statistic weight"] == [1.0, 2.0, 1.0, 2.0]
    start = path.read_bytes().index(b'"model": ') + len('"model": ')
    payload = path.read_bytes()[start : start + whole["length"]]
    assert json.loads(payload) == model
    assert hashlib.sha256(payload).hexdigest() == whole["sha256"]


def test_numbers_of_the_rows_are_not_in_the_file(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    x = random.normal(size=(300, 4))
    table = {
        **{f"x{i}": x[:, i] for i in range(4)},
        "unused": ["planted"] * 300,
        "number": [123456.789] * 300,
    }
    tree = grow(encode(table, x[:, 0] * 7 + x[:, 1]), min_samples_leaf=5, threshold="readable")
    tree.save(tmp_path / "tree.json")
    text = (tmp_path / "tree.json").read_text()
    assert "123456.789" not in text
    in_file = set(map(float, re.findall(r"-?\d+\.\d+(?:e[-+]\d+)?", text)))
    assert not in_file & set(x.ravel().tolist())
    assert text.count("planted") == 1  # the categories of a column are part of the model, used or not


# ---- whole or not at all ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="the limit is one of POSIX")
def test_a_full_disk_leaves_the_old_model(tmp_path: Path) -> None:
    path = tmp_path / "tree.json"
    by_hand().save(path)
    before = path.read_bytes()
    code = (
        "import resource, sys; from treewright import load\n"
        f"tree = load({str(path)!r}); resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))\n"
        f"tree.save({str(path)!r})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "OSError" in done.stderr
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["tree.json"]
    with pytest.raises(OSError, match=r"nowhere.*tree\.json"):
        by_hand().save(tmp_path / "nowhere" / "tree.json")


# ---- old files --------------------------------------------------------------------------------------


def unhexed(values: list[Any]) -> list[Any]:
    return [float.fromhex(value) if isinstance(value, str) else value for value in values]


@pytest.mark.filterwarnings("ignore::treewright.AdviceWarning")  # some texts cannot be read
@pytest.mark.parametrize("name", NAMES)
def test_old_files_load_and_predict_the_same(name: str) -> None:
    """These files are never written anew: what a version wrote, every later one reads."""
    model = load(MODELS / f"{name}.model.json")
    expected = json.loads((MODELS / f"{name}.expected.json").read_text())
    table: dict[str, Any] = {}
    for column, values in zip(model.schema.columns, expected["table"], strict=True):
        if column.text is not None:
            table[column.name] = np.array(values, object)
        elif column.kind == "time":
            table[column.name] = np.array([value or "NaT" for value in values], "M8[us]")
        elif column.kind == "number" or isinstance(next(iter(column.categories), ""), float):
            table[column.name] = unhexed(values)
        else:
            table[column.name] = np.array(values, object)
    predicted = model.predict(table)
    assert predicted.dtype == np.dtype(expected["dtype"])
    rows = expected["predict"]
    wanted = [unhexed(row) for row in rows] if predicted.dtype.kind == "f" else rows
    assert predicted.reshape(len(predicted), -1).tolist() == wanted
    data = encode(table, schema=model.schema)
    leaf = (
        model.apply(data)
        if isinstance(model, Tree)
        else [tree.apply(data) for tree in saving.trees_in(model)]
    )
    assert np.transpose(leaf).tolist() == expected["leaf"]
    if expected["proba"] is not None:
        # what boosted trees add up is exact; their chances are powers, whose last bit is the machine's
        sums = {Boosted: "scores", GradientBoosted: "raw"}.get(type(model), "predict_proba")
        shares = getattr(model, sums)(table if sums == "predict_proba" else data)
        for share, hexed in zip(
            shares if isinstance(shares, list) else [shares], expected["proba"], strict=True
        ):
            assert share.tolist() == [unhexed(row) for row in hexed]


def test_the_corpus_is_complete() -> None:
    assert len(NAMES) == 17
    files = [json.loads(path.read_bytes()) for path in MODELS.glob("*.model.json")]
    assert {file["version"] for file in files} == set(range(1, saving.VERSION + 1))
    assert {file["model"].get("kind") for file in files} == {None, *KINDS}
