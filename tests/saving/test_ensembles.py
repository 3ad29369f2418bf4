"""Files of many trees: exact, whole or not at all, and safe for files of strangers, as those of one tree."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz.fuzz_saving import Model as Lines
from fuzz.fuzz_saving import laid_out, signed

from tests.checks import same_tree
from tests.saving.small_models import by_hand, parsed, refuse
from treewright import (
    BaggingClassifier,
    Column,
    Costs,
    DecisionTreeClassifier,
    Forest,
    Schema,
    encode,
    grow_forest,
    load,
)
from treewright.ensembles.adaboost import boost
from treewright.ensembles.adaboost_r2 import boost_numbers
from treewright.ensembles.bootstrap import Draws
from treewright.ensembles.gradient_boosting import boost as gradient_boost
from treewright.ensembles.out_of_bag import out_of_bag
from treewright.saving import VERSION, Ensemble, save, trees_in
from treewright.saving.ensembles import KINDS
from treewright.tree import validate

N = 120


def table() -> dict[str, Any]:
    random = np.random.default_rng(5)
    x, z = random.normal(size=N), random.integers(0, 9, N).astype(float)
    x[::13] = np.nan
    jobs = np.array(random.choice(["clerk", "cook", "消防士"], N), object)
    jobs[::17] = None
    day = np.datetime64("2020-01-01", "us") + random.integers(0, 999, N).astype("m8[D]")
    return {"x": x, "z": z, "job": jobs, "day": day}


TABLE = table()
SCORE = np.nan_to_num(TABLE["x"]) + TABLE["z"] / 4 + (TABLE["job"] == "cook")
NUMBERS = SCORE / 3 + 1e8
CLASSES = np.where(SCORE > 1.3, "yes", "no")
THREE = np.digitize(SCORE, [0.5, 1.7])
WEIGHTS = np.random.default_rng(1).integers(0, 4, N) / 3


def forest(target: Any = CLASSES, weight: Any = None, **options: Any) -> Forest:
    return grow_forest(encode(TABLE, target, weight=weight), **{"n_estimators": 5, "max_depth": 4, **options})


MADE = {
    "classes": forest,
    "hard votes": lambda: forest(THREE, voting="hard"),
    "bools": lambda: forest(SCORE > 1),
    "numbers": lambda: forest(NUMBERS, bootstrap=False, max_samples=60),
    "all rows": lambda: forest(NUMBERS, bootstrap=False),
    "formulas": lambda: forest(NUMBERS, leaf="linear"),
    "sums of columns": lambda: forest(CLASSES, split="oblique", max_features=4),
    "several classes": lambda: forest({"a": CLASSES, "b": THREE}),
    "several numbers": lambda: forest({"a": NUMBERS, "b": -SCORE}),
    "weights": lambda: forest(CLASSES, WEIGHTS, random_state=2**70),
    "weights that are all the same": lambda: forest(CLASSES, np.ones(N)),
    "costs": lambda: forest(CLASSES, costs=[[0, 1], [5, 0]]),
    "priors": lambda: forest(THREE, costs=Costs(priors={0: 0.2, 1: 0.3, 2: 0.5})),
    "very many classes": lambda: grow_forest(
        encode({"x": np.arange(600.0)}, np.arange(600) * 7 % 300), n_estimators=3, max_depth=5
    ),
    **{way: lambda way=way: forest(missing=way) for way in ("surrogate", "fractional", "category")},
    "boosted": lambda: boost(encode(TABLE, CLASSES), n_estimators=6),
    "boosted by M1": lambda: boost(
        encode(TABLE, THREE, weight=WEIGHTS), algorithm="M1", n_estimators=3, max_depth=4
    ),
    "boosted with costs": lambda: boost(
        encode(TABLE, CLASSES), n_estimators=3, max_depth=2, costs=[[0, 1], [2, 0]]
    ),
    "boosted numbers": lambda: boost_numbers(encode(TABLE, NUMBERS), n_estimators=4, loss="square"),
    "gradient boosted": lambda: gradient_boost(encode(TABLE, CLASSES), max_iter=4, min_samples_leaf=5),
    "gradient boosted classes": lambda: gradient_boost(encode(TABLE, THREE), max_iter=3, scored=True),
    "gradient boosted numbers": lambda: gradient_boost(
        encode(TABLE, SCORE + 9, weight=WEIGHTS), max_iter=3, max_bins=None, loss="gamma"
    ),
    "no step at all": lambda: gradient_boost(encode(TABLE, SCORE), max_iter=0),
    "boosted in parts": lambda: boost(
        encode(TABLE, THREE), n_estimators=3, max_depth=2, missing="fractional"
    ),
}


def same_ensemble(one: Any, two: Any) -> None:
    """All that they know is the same to the bit."""
    assert type(one) is type(two)
    assert repr(one.schema) == repr(two.schema)
    for a, b in zip(trees_in(one), trees_in(two), strict=True):
        if not a.schema.is_wide:
            same_tree(a, b)
        assert a == b
        assert repr(a.schema) == repr(b.schema)
    for name, fact in facts(one).items():
        other = facts(two)[name]
        assert type(fact) is type(other), name
        if isinstance(fact, np.ndarray):
            assert fact.tobytes() == other.tobytes(), name
        else:
            assert fact == other, name


def facts(ensemble: Any) -> dict[str, Any]:
    own = {name: value for name, value in vars(ensemble).items() if name not in ("trees", "schema", "_told")}
    draws = own.pop("draws", None)
    return own if draws is None else own | vars(draws)


def round_trip(ensemble: Any, folder: Path) -> Any:
    path = folder / "ensemble.json"
    ensemble.save(path)
    loaded = load(path)
    same_ensemble(loaded, ensemble)
    loaded.save(folder / "again.json")
    assert (folder / "again.json").read_bytes() == path.read_bytes()
    return loaded


# ---- exact -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", MADE)
def test_ensembles_come_back(name: str, tmp_path: Path) -> None:
    ensemble = MADE[name]()
    loaded = round_trip(ensemble, tmp_path)
    rows = {column: TABLE[column] for column in ensemble.schema.names}
    assert loaded.predict(rows).dtype == ensemble.predict(rows).dtype
    assert loaded.predict(rows).tolist() == ensemble.predict(rows).tolist()
    if ensemble.schema.predicts_classes:
        assert said_of(loaded, rows) == said_of(ensemble, rows)


def said_of(ensemble: Any, rows: dict[str, Any]) -> list[Any]:
    shares = ensemble.predict_proba(rows)
    return [share.tolist() for share in (shares if isinstance(shares, list) else [shares])]


def test_every_kind_is_tried() -> None:
    assert {type(made()) for made in MADE.values()} == {kind.type for kind in KINDS.values()}


def test_a_loaded_forest_knows_its_draws(tmp_path: Path) -> None:
    """So that rows out of bag are the same ones, by rows that weigh differently, too."""
    for weight in (None, np.ones(N), WEIGHTS):
        data = encode(TABLE, CLASSES, weight=weight)
        grown = forest(CLASSES, weight, random_state=3)
        loaded = round_trip(grown, tmp_path)
        one, two = out_of_bag(grown, data), out_of_bag(loaded, data)
        assert one.curve.tolist() == two.curve.tolist()
        for member in range(len(grown)):
            assert loaded.draws.rows(member).tolist() == grown.draws.rows(member).tolist()


def test_forests_of_estimators_are_saved_by_their_model(tmp_path: Path) -> None:
    x = np.stack([np.nan_to_num(TABLE["x"]), TABLE["z"], SCORE], axis=1)
    tree = DecisionTreeClassifier(costs=Costs(priors={"yes": 0.6, "no": 0.4}), max_depth=3)
    model = BaggingClassifier(tree, 4, max_features=2, random_state=0).fit(x, CLASSES)
    loaded = round_trip(model.model_, tmp_path)
    assert loaded.predict(x).tolist() == model.predict(x).tolist()
    targets = {repr(tree.schema.targets) for tree in loaded.trees}
    assert len(targets) > 1  # priors are costs by the rows of each tree: each file has those of its own


def test_the_file_is_for_people(tmp_path: Path) -> None:
    model = parsed(forest(), tmp_path)
    assert model["kind"] == "forest"
    assert (model["voting"], model["draws size"], model["draws n_rows"]) == ("soft", N, N)
    assert model["draws weight"] == []
    assert len(model["trees"]) == 5
    alone = parsed(forest().trees[3], tmp_path)
    shared = {"writer", "columns", "targets"}
    assert model["trees"][3] == {name: value for name, value in alone.items() if name not in shared}
    assert {name: model[name] for name in shared} == {name: alone[name] for name in shared}


def test_the_bytes_do_not_depend_on_threads(tmp_path: Path) -> None:
    for jobs in (1, 2, 3):
        forest(n_jobs=jobs).save(tmp_path / f"{jobs}.json")
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1


# ---- what cannot be saved --------------------------------------------------------------------------


def test_what_is_no_sound_ensemble_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    good, boosted = forest(), boost(encode(TABLE, CLASSES), n_estimators=3)
    odd, other = replace(good.trees[1], rows=-good.trees[1].rows), forest(THREE).trees[0]
    broken: list[tuple[Any, str]] = [
        (replace(good, trees=(good.trees[0], by_hand())), "tree 1 has other columns than a forest"),
        (replace(good, trees=(good.trees[0], odd)), "fewer than 0 rows"),
        (replace(good, trees=(good.trees[0], other)), "tree 1 does not predict the classes"),
        (replace(good, voting="loud"), "voting is 'loud', not one of soft, hard"),
        (replace(good, draws=replace(good.draws, n_rows=0)), "0 rows"),
        (replace(boosted, votes=boosted.votes[:2]), "2 votes for 3 trees"),
        (replace(boosted, votes=boosted.votes * np.nan), "votes are not finite"),
        (replace(boosted, algorithm="M2"), "algorithm is 'M2'"),
        (replace(boosted, errors=-boosted.errors), "errors are not all finite"),
    ]
    for model, message in broken:
        with pytest.raises(ValueError, match=message):
            model.save(tmp_path / "model.json")
    with pytest.raises(TypeError, match="not a str"):
        save("oak", tmp_path / "model.json")  # type: ignore[arg-type]
    schema = Schema((Column("x"), Column("c", "category", (np.int64(3),))), by_hand().schema.targets)
    strange = replace(by_hand(), schema=schema)
    with pytest.raises(TypeError, match="column 'c'"):
        Forest((strange,), Draws(0, None, False, None, 4)).save(tmp_path / "model.json")
    assert os.listdir(tmp_path) == []


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="the limit is one of POSIX")
def test_a_full_disk_leaves_the_old_model(tmp_path: Path) -> None:
    path = tmp_path / "forest.json"
    forest().save(path)
    before = path.read_bytes()
    code = (
        "import resource, sys; from treewright import load\n"
        f"forest = load({str(path)!r}); resource.setrlimit(resource.RLIMIT_FSIZE, (900, 900))\n"
        f"forest.first(3).save({str(path)!r})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "OSError" in done.stderr
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["forest.json"]


# ---- damage and strangers --------------------------------------------------------------------------


def small(name: str = "forest") -> Ensemble:
    data = {"x": [1.0, 2.0, 3.0, 4.0]}
    if name == "forest":
        return grow_forest(encode(data, list("aabb"), weight=[1, 2, 1, 1]), n_estimators=2, max_depth=1)
    if name == "boosted":
        return boost(encode(data, list("abab")), n_estimators=2)
    if name == "gradient boosted":
        return gradient_boost(encode(data, list("aabb")), max_iter=2, min_samples_leaf=1)
    more = encode({"x": [*data["x"], 5.0]}, [1.0, 2.0, 3.0, 5.0, 9.0])
    return boost_numbers(more, n_estimators=2, max_depth=1)


def as_lines(ensemble: Ensemble, folder: Path, **changes: Any) -> Lines:
    """The parsed model of an ensemble, as `laid_out` takes it."""
    model = {**parsed(ensemble, folder), **changes}
    return [*(model | {"trees": [list(tree.items()) for tree in model["trees"]]}).items()]


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_any_changed_byte_is_noticed(name: str, tmp_path: Path) -> None:
    small(name).save(tmp_path / "model.json")
    content = (tmp_path / "model.json").read_bytes()
    for place in range(0, len(content), 5):
        changed = bytearray(content)
        changed[place] ^= 0x01
        refuse(bytes(changed), tmp_path, "damaged|not a treewright model|newer treewright")
        refuse(content[:place], tmp_path, "damaged|not a treewright model")
    refuse(content + b"\n", tmp_path, "goes on after its end")


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_lines_come_once_and_in_order(name: str, tmp_path: Path) -> None:
    lines = as_lines(small(name), tmp_path)
    (tmp_path / "good.json").write_bytes(signed(laid_out(lines), VERSION))
    same_ensemble(load(tmp_path / "good.json"), small(name))
    for place, line in enumerate(lines):
        for wrong in ([], [line, line], [("extra", 1), line]):
            refuse(signed(laid_out([*lines[:place], *wrong, *lines[place + 1 :]]), VERSION), tmp_path, "line")
    trees = dict(lines)["trees"]
    for place, line in enumerate(trees[1]):
        for wrong in ([], [line, line], [("extra", 1), line]):
            member = [*trees[1][:place], *wrong, *trees[1][place + 1 :]]
            content = signed(laid_out([*lines[:-1], ("trees", [trees[0], member])]), VERSION)
            refuse(content, tmp_path, f"does not hold {KINDS[name].holds}: line")
    for version in (1, 2, 3, 4):
        refuse(signed(laid_out(lines), version), tmp_path, "line")


@pytest.mark.parametrize(
    ("name", "key", "value", "message"),
    [
        ("forest", "kind", "grove", "holds a 'grove', which is none of 'forest', 'boosted'"),
        ("forest", "kind", ["forest"], "cannot be read"),
        ("forest", "kind", "boosted", "line"),
        (
            "forest",
            "columns",
            [{"name": "x", "kind": "numbers"}],
            "a forest: column 'x' is of the unknown kind",
        ),
        ("forest", "targets", [{"name": "y", "classes": ["a", "a"]}], "equal"),
        ("forest", "targets", [{"name": "y", "classes": None}], "line"),
        ("forest", "voting", "loud", "voting is 'loud'"),
        ("forest", "voting", True, "cannot be read"),
        ("forest", "draws seed", -1, "whole number of at least 0"),
        ("forest", "draws seed", 0.5, "whole number of at least 0"),
        ("forest", "draws seed", True, "whole number of at least 0"),
        ("forest", "draws seed", None, "cannot be read"),
        ("forest", "draws seed", 10**2000, "too large"),
        ("forest", "draws size", None, "not how many"),
        ("forest", "draws size", 0, "0 rows cannot be drawn"),
        ("forest", "draws size", 2**63, "rows cannot be drawn"),
        ("forest", "draws replace", 1, "true or false"),
        ("forest", "draws replace", "true", "true or false"),
        ("forest", "draws n_rows", 5, "weights for 4 of 5 rows"),
        ("forest", "draws n_rows", 0, "of 0 rows"),
        ("forest", "draws n_rows", 2**63, "rows"),
        ("forest", "draws weight", [1.0], "weights for 1 of 4 rows"),
        ("forest", "draws weight", [0.0] * 4, "no row weighs anything"),
        ("forest", "draws weight", [1.0, 1.0, 1.0, -1.0], "no weight of at least 0"),
        ("forest", "draws weight", [1.0, 1.0, 1.0, None], "no weight of at least 0"),
        ("forest", "draws weight", [1.0, 1.0, 1.0, "inf"], "no weight of at least 0"),
        ("forest", "draws weight", [1, 1, 1, 1], "decimal numbers"),
        ("forest", "draws weight", None, "line"),
        ("forest", "trees", [], "it has no trees"),
        ("boosted", "algorithm", "M3", "algorithm is 'M3'"),
        ("boosted", "votes", [1.0], "1 votes for 2 trees"),
        ("boosted", "votes", [0.0, 0.0], "add up to 0"),
        ("boosted", "votes", [-1.0, 3.0], "votes"),
        ("boosted", "votes", [1e308, 1e308], "votes"),
        ("boosted", "votes", [1.0, None], "votes"),
        ("boosted", "errors", [0.1, None], "errors are not all finite"),
        ("boosted", "errors", [0.1, -0.1], "errors are not all finite"),
        ("boosted", "training_errors", [], "0 training_errors of 2 trees"),
        ("boosted", "trees", [], "it has no trees"),
        ("gradient boosted", "loss", "gamma", "loss is 'gamma', not one of log_loss"),
        ("gradient boosted", "baseline", [0.0, 0.0], "its baseline is not 1 finite numbers"),
        ("gradient boosted", "baseline", [None], "its baseline is not 1 finite numbers"),
        ("gradient boosted", "train_loss", [0.0] * 4, "train_loss of more iterations than there are"),
        ("gradient boosted", "targets", [{"name": "y", "classes": ["a", "b", "c"]}], "baseline is not 3"),
        ("gradient boosted", "targets", [{"name": "y", "classes": None}], "loss is 'log_loss', not one of"),
        ("boosted numbers", "loss", "cubic", "loss is 'cubic'"),
        ("boosted numbers", "votes", ["inf", 1.0], "votes"),
        ("boosted numbers", "errors", [0.5], "1 errors of 2 trees"),
    ],
)
def test_wrong_facts_are_refused_though_they_are_signed(
    name: str, key: str, value: Any, message: str, tmp_path: Path
) -> None:
    refuse(signed(laid_out(as_lines(small(name), tmp_path, **{key: value})), VERSION), tmp_path, message)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("end", [3, 2, 4], "tree 1: `end` points outside the tree"),
        ("end", [3, 2, 2**31], "whole numbers"),
        ("feature", [1, -1, -1], "tree 1: a test names a column beyond"),
        ("threshold", [None, None, None], "tree 1: only tests of numbers"),
        ("criterion", "ginni", "tree 1: criterion 'ginni'"),
        ("statistic class", [0, 1, 0, 7], "class beyond|values"),
        ("rows", [9, 1, 1], "tree 1: the rows of a node"),
    ],
)
def test_every_tree_is_checked(key: str, value: Any, message: str, tmp_path: Path) -> None:
    model = parsed(small(), tmp_path)
    model["trees"][1][key] = value
    told = refuse(
        signed(laid_out(as_lines(small(), tmp_path, trees=model["trees"])), VERSION), tmp_path, message
    )
    assert "does not hold a forest" in told


def test_targets_of_a_tree_must_be_those_of_the_whole(tmp_path: Path) -> None:
    for place, classes, message in (
        (0, ["a", "c"], "tree 0 does not predict the classes"),
        (1, ["b", "a"], "tree 1 does not predict the classes"),
        (1, ["a", "a"], "tree 1: target 'y': two of its classes are equal"),
    ):
        trees = parsed(small(), tmp_path)["trees"]
        own = [*trees[place].items()]
        own.insert(4, ("targets", [{"name": "y", "classes": classes}]))
        trees[place] = dict(own)
        refuse(signed(laid_out(as_lines(small(), tmp_path, trees=trees)), VERSION), tmp_path, message)
    trees[place] = dict([*own[:4], ("targets", [{"name": "z", "classes": ["a", "b"]}]), *own[5:]])
    (tmp_path / "own.json").write_bytes(signed(laid_out(as_lines(small(), tmp_path, trees=trees)), VERSION))
    assert load(tmp_path / "own.json").trees[1].schema.targets[0].name == "z"
    trees.reverse()
    content = signed(laid_out(as_lines(small(), tmp_path, trees=trees)), VERSION)
    refuse(content, tmp_path, "its targets are not those of its first tree")


# ---- bounded ---------------------------------------------------------------------------------------


def peak(path: Path) -> float:
    """The memory that loading takes, in sizes of the file."""
    load(path)
    tracemalloc.start()
    load(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most / path.stat().st_size


@pytest.mark.slow
def test_memory_is_bounded_by_the_size_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "forest.json"
    forest(n_estimators=40, max_depth=None).save(path)
    assert peak(path) < 12
    lone = by_hand().collapse([0])
    Forest((lone,) * 300, Draws(0, None, False, None, 3)).save(path)
    assert peak(path) < 25
    refuse(path.read_bytes()[:-900], tmp_path, "ends too early")


@pytest.mark.slow
def test_columns_are_looked_at_once_however_many_trees_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the time of loading would grow with columns times trees, both of which a file can have many of."""
    leaf = by_hand().collapse([0])
    columns = (*leaf.schema.columns, *(Column(f"c{i}") for i in range(2_000)))
    categories = Column("wide", "category", tuple(map(str, range(2_000))))
    schema = replace(leaf.schema, columns=(*columns, categories))
    wide = replace(leaf, schema=schema)
    Forest((wide,) * 400, Draws(0, None, False, None, 3)).save(tmp_path / "wide.json")
    seen: list[str] = []
    inspect = validate._check_labels
    monkeypatch.setattr(validate, "_check_labels", lambda *of: seen.append(of[1]) or inspect(*of))
    loaded = load(tmp_path / "wide.json")
    assert len(seen) == len(set(seen)) == len(schema.columns) + 1
    assert all(tree.schema is loaded.schema for tree in loaded.trees)


def test_iterations_are_whole(tmp_path: Path) -> None:
    lines = as_lines(gradient_boost(encode(TABLE, THREE), max_iter=2), tmp_path)
    lines[-1][1].pop()
    refuse(signed(laid_out(lines), VERSION), tmp_path, "5 trees are no iterations of 3")


def test_promises_cost_nothing(tmp_path: Path) -> None:
    """A forest of more rows than there can be is data like any other, until somebody asks for the rows."""
    model = as_lines(small(), tmp_path, **{"draws n_rows": 2**62, "draws weight": [], "draws size": 2**62})
    (tmp_path / "huge.json").write_bytes(signed(laid_out(model), VERSION))
    loaded = load(tmp_path / "huge.json")
    assert loaded.predict({"x": [0.0, 9.0]}).tolist() == small().predict({"x": [0.0, 9.0]}).tolist()
    with pytest.raises(ValueError, match="not the training rows"):
        out_of_bag(loaded, encode({"x": [1.0]}, ["a"], schema=loaded.schema))
