"""Attacks on `treewright.load`: a file is refused with ValueError, or what it holds is a sound model.

Each case takes a file of `tests/saving/models`, changes it (the parsed model, its text or its bytes), mostly
signs it again with a valid checksum, and loads it. The case is determined by the seed and its number.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import random
import tempfile
import time
import traceback
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.limiting import limited_time
from treewright import Tree, encode, load, saving
from treewright.ensembles.adaboost_r2 import BoostedNumbers
from treewright.ensembles.gradient_boosting import GradientBoosted
from treewright.pruning import cost_complexity_path, prune
from treewright.saving.ensembles import KINDS
from treewright.saving.writer import ARRAYS
from treewright.tree.missing import sent_by_others

MODELS = sorted((Path(__file__).parent.parent / "tests" / "saving" / "models").glob("*.model.json"))
LARGEST_SQUARED = 1e150  # beyond it squares of predicted numbers overflow, which is not the file's fault

Model = list[tuple[str, Any]]  # keys and values: a key may come twice


def run(seconds: float, seed: int) -> int:
    """Attack for some seconds; the number of cases tried."""
    end = time.monotonic() + seconds
    number = 0
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end:
            attack(seed, number, Path(folder))
            number += 1
    return number


def attack(seed: int, number: int, folder: Path) -> bool:
    """One case; whether the file was accepted. AssertionError where it did harm."""
    content = case(random.Random(f"{seed} {number}"))
    path = folder / "case.json"
    path.write_bytes(content)
    try:
        with limited_time(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # extreme numbers may overflow, and numpy says so
            model = accepted(path)
            if model is not None:
                use(model, folder)
            return model is not None
    except Exception as error:
        kept = Path(tempfile.gettempdir()) / f"treewright-fuzz-saving-{seed}-{number}.json"
        kept.write_bytes(content)
        found = "".join(traceback.format_exception(error))
        raise AssertionError(f"case {number} of seed {seed}, kept in {kept}:\n{found}") from None


def accepted(path: Path) -> saving.Model | None:
    """The model in a file; None where it is refused as it should be, by name."""
    try:
        return load(path)
    except ValueError as error:
        if str(path) not in str(error):
            raise
        return None


# ---- making a case ---------------------------------------------------------------------------------


def case(dice: random.Random) -> bytes:
    """A model file, changed in some way."""
    content = dice.choice(MODELS).read_bytes()
    version = dice.choice([json.loads(content)["version"]] * 9 + [1, 2, 3, 4, 5])
    kind = dice.random()
    if kind < 0.1:
        return _changed_bytes(dice, content)
    if kind < 0.2:
        text = content[content.index(b'"model": ') + 9 : -3]
        return signed(_changed_bytes(dice, text), version)
    model: Model = list(json.loads(content)["model"].items())
    trees = [list(tree.items()) for tree in dict(model).get("trees", ())]
    if trees:
        _put(model, "trees", trees)
    for _ in range(dice.choice([1, 1, 1, 2, 3, 8])):
        # An earlier change may have left nothing that this one could change.
        with suppress(LookupError, TypeError, ValueError, AttributeError, OverflowError):
            dice.choice(CHANGES)(dice, dice.choice([model, *trees]))
    return signed(laid_out(model), version)


def signed(model: bytes, version: int = saving.VERSION) -> bytes:
    """A file with the right length and checksum for a model, whatever it is."""
    digest = hashlib.sha256(model).hexdigest()
    head = f'  "version": {version},\n  "length": {len(model)},\n  "sha256": "{digest}",\n  "model": '
    return b'{\n  "format": "treewright model",\n' + head.encode() + model + b"\n}\n"


def laid_out(model: Model) -> bytes:
    """A parsed model in the layout of the format: an array or an entry of a list per line."""
    return f"{{\n{_entries(model, '    ')}\n  }}".encode("utf-8", "surrogatepass")


def _entries(model: Model, margin: str) -> str:
    lines = []
    for key, value in model:
        if key in ("columns", "targets") and isinstance(value, list):
            entries = ",\n".join(f"{margin}  {_json(entry, ', ', ': ')}" for entry in value)
            lines.append(f'{margin}"{key}": [\n{entries}\n{margin}]')
        elif key == "trees" and isinstance(value, list) and all(_is_model(tree) for tree in value):
            trees = [f"{margin}  {{\n{_entries(tree, margin + '    ')}\n{margin}  }}" for tree in value]
            lines.append(f'{margin}"trees": [\n' + ",\n".join(trees) + "\n" * bool(trees) + f"{margin}]")
        else:
            lines.append(f'{margin}"{key}": {_json(value)}')
    return ",\n".join(lines)


def _is_model(value: Any) -> bool:
    """Whether a value is a list of pairs, as a parsed tree of an ensemble is."""
    return isinstance(value, list) and all(isinstance(pair, tuple) for pair in value)


def _json(value: Any, comma: str = ",", colon: str = ":") -> str:
    return json.dumps(value, ensure_ascii=False, separators=(comma, colon))


def _changed_bytes(dice: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(dice.choice([1, 1, 2, 5])):
        place = dice.randrange(len(changed))
        match dice.randrange(5):
            case 0:
                changed[place] ^= dice.randrange(1, 256)
            case 1:
                del changed[place : place + dice.choice([1, 2, 30, len(changed) // 2])]
            case 2:
                changed[place:place] = changed[place : place + dice.choice([1, 2, 30])]
            case 3:
                changed[place:place] = dice.choice(
                    [b"[" * 5000, b"9" * 5000, b"\xff", b"\n", b",", b'"', b"-"]
                )
            case _:
                changed[place : place + 1] = b"0123456789"[dice.randrange(10) :][:1]
        if not changed:
            return b""
    return bytes(changed)


# ---- changes of the parsed model -------------------------------------------------------------------

NUMBERS = [
    -2,
    -1,
    0,
    1,
    2,
    3,
    7,
    255,
    256,
    2**31 - 1,
    2**31,
    -(2**31),
    2**63 - 1,
    2**63,
    -(2**63),
    2**64,
    10**400,
]
FLOATS = [0.0, -0.0, 0.5, 5e-324, 1e-300, 1e15, 1e154, 1e300, 1.7976931348623157e308, -1.0, -1e308]
ODD = [None, True, False, "inf", "-inf", "", "x", "\ud800", [], {}, [1], {"a": 1}, {"float": "inf"}, [[[]]]]
LABELS = [
    "a",
    "b",
    "",
    "\0",
    "\ud800",
    1,
    1.0,
    True,
    0,
    -0.0,
    2**70,
    10**2000,
    float("inf"),
    float("nan"),
    None,
]
KEYS = [*ARRAYS, "columns", "targets", "trees", "extra"]


def _array(dice: random.Random, model: Model) -> list[Any]:
    """An array of the model."""
    found: list[Any] = dice.choice([value for _, value in model if isinstance(value, list) and value])
    return found


def _get(model: Model, key: str) -> Any:
    return dict(model)[key]


def _put(model: Model, key: str, value: Any) -> None:
    model[[name for name, _ in model].index(key)] = (key, value)


def change_number(dice: random.Random, model: Model) -> None:
    """One number becomes another: an extreme, a neighbour, one of the same array, something odd."""
    array = _array(dice, model)
    place = dice.randrange(len(array))
    now = array[place]
    near = [now + 1, now - 1] if type(now) is int else [now]
    array[place] = dice.choice(
        [*near, *near, dice.choice(array), *(dice.choice(x) for x in (NUMBERS, FLOATS, ODD))]
    )


def change_length(dice: random.Random, model: Model) -> None:
    """An array gets shorter or longer, or its order changes."""
    array = _array(dice, model)
    place, other = dice.randrange(len(array)), dice.randrange(len(array))
    match dice.randrange(6):
        case 0:
            del array[place]
        case 1:
            array.insert(other, array[place])
        case 2:
            array[place], array[other] = array[other], array[place]
        case 3:
            array.reverse()
        case 4:
            array.extend(array * dice.choice([1, 3, 50]))
        case _:
            array.clear()


def change_keys(dice: random.Random, model: Model) -> None:
    """A line is dropped, doubled, moved, renamed, or gets the value of another."""
    place, other = dice.randrange(len(model)), dice.randrange(len(model))
    match dice.randrange(5):
        case 0:
            del model[place]
        case 1:
            model.insert(other, model[place])
        case 2:
            model[place], model[other] = model[other], model[place]
        case 3:
            model[place] = (dice.choice(KEYS), model[place][1])
        case _:
            model[place] = (model[place][0], dice.choice([model[other][1], *ODD]))


def change_schema(dice: random.Random, model: Model) -> None:
    """A column or target changes its name, kind, categories or classes."""
    entries = _get(model, dice.choice(["columns", "targets"]))
    entry = dice.choice(entries)
    labels = entry.get("categories", entry.get("classes"))
    match dice.randrange(7):
        case 0:
            entry["name"] = dice.choice([*ODD, dice.choice(entries)["name"]])
        case 1:
            entry["kind"] = dice.choice(["number", "category", "time", "", 1, None])
        case 2:
            labels[dice.randrange(len(labels))] = dice.choice([*LABELS, *ODD])
        case 3:
            labels[:] = [dice.choice(LABELS) for _ in labels]
        case 4:
            labels.extend(range(dice.choice([1, 7, 8, 300])))
        case 5:
            del labels[dice.randrange(len(labels)) :]
        case _:
            entry[dice.choice(["categories", "classes", "extra"])] = dice.choice([*ODD, ["a", "b"]])


def change_count(dice: random.Random, model: Model) -> None:
    """A column or target too many or too few, or a stranger among them."""
    entries = _get(model, dice.choice(["columns", "targets"]))
    match dice.randrange(4):
        case 0:
            entries.append(dict(dice.choice(entries), name=f"new {dice.randrange(3)}"))
        case 1:
            entries.pop(dice.randrange(len(entries)))
        case 2:
            entries.append(dice.choice(ODD))
        case _:
            dice.shuffle(entries)


def change_criterion(dice: random.Random, model: Model) -> None:
    """Another criterion, of the same task, of the other, or of none."""
    names = [
        "gini",
        "entropy",
        "error",
        "sqrt",
        "gain_ratio",
        "squared_error",
        "absolute_error",
        "poisson",
        "x",
    ]
    _put(model, "criterion", dice.choice([*names, *ODD]))


def change_thresholds(dice: random.Random, model: Model) -> None:
    """Thresholds that a tree may have, however odd."""
    extreme = [*FLOATS, "inf", "-inf"]
    thresholds = [t if t is None else dice.choice([t, *extreme]) for t in _get(model, "threshold")]
    _put(model, "threshold", thresholds)


def change_scale(dice: random.Random, model: Model) -> None:
    """All weights, or all values, times one factor: sums stay sums, unless they overflow."""
    factor = dice.choice([2.0, 1e-300, 5e-324, 1e150, 1e290, 1e305, 0.0, -1.0])
    key = dice.choice([name for name, _ in model if name in ("statistic weight", "statistic value")])
    _put(model, key, [number * factor for number in _get(model, key)])


def change_bits(dice: random.Random, model: Model) -> None:
    """Other categories go left, and missing values elsewhere."""
    _put(model, "subsets", [dice.randrange(256) for _ in _get(model, "subsets")])
    inner = [feature >= 0 for feature in _get(model, "feature")]
    _put(model, "missing_left", [is_inner and dice.random() < 0.5 for is_inner in inner])


def change_surrogates(dice: random.Random, model: Model) -> None:
    """Surrogates turn round, change places, go to other nodes or columns, agree more than they can; or the
    way of missing values is another.
    """
    if dice.random() < 0.3:
        _put(model, "missing", dice.choice(["learn", "surrogate", "fractional", "category", "error", "x"]))
        return
    match dice.randrange(5):
        case 0:
            turned = [dice.random() < 0.5 for _ in _get(model, "surrogate reversed")]
            _put(model, "surrogate reversed", turned)
        case 1:
            nodes = _get(model, "surrogate node")
            nodes[dice.randrange(len(nodes))] = dice.randrange(-1, len(_get(model, "end")) + 1)
        case 2:
            features = _get(model, "surrogate feature")
            features[dice.randrange(len(features))] = dice.randrange(-1, len(_get(model, "columns")) + 1)
        case 3:
            shares = _get(model, "surrogate " + dice.choice(["agreement", "adjusted"]))
            shares[dice.randrange(len(shares))] = dice.choice([0.0, 1.0, 1.5, -0.5, None, "inf"])
        case _:
            arrays = [value for key, value in model if key.startswith("surrogate ") and value]
            place = dice.randrange(len(_get(model, "surrogate node")))
            for array in arrays[:-1]:
                array.insert(place, array[place])


def change_shape(dice: random.Random, model: Model) -> None:
    """Nodes change places, or a node becomes a leaf in some of the arrays."""
    arrays = [value for key, value in model if key in ARRAYS and key != "subsets"]
    n = len(_get(model, "end"))
    place, other = dice.randrange(n), dice.randrange(n)
    if dice.random() < 0.5:
        for array in arrays:
            array[place], array[other] = array[other], array[place]
    else:
        for key, value in (("feature", -1), ("end", place + 1), ("step", -1), ("threshold", None)):
            if dice.random() < 0.8:
                _get(model, key)[place] = value


def change_ensemble(dice: random.Random, model: Model) -> None:
    """Trees change places, get lost, come twice or tell their targets; what is known of them changes."""
    trees = _get(model, "trees")
    place, other = dice.randrange(len(trees)), dice.randrange(len(trees))
    match dice.randrange(7):
        case 0:
            trees[place], trees[other] = trees[other], trees[place]
        case 1:
            trees.insert(place, [*trees[other]])
        case 2:
            del trees[place:]
        case 3:
            trees[place].insert(1, ("targets", _get(model, "targets")))
        case 4:
            _put(model, "kind", dice.choice([*KINDS, "tree", ""]))
        case 5:
            numbers = _get(
                model, dice.choice(["votes", "errors", "training_errors", "draws weight", "baseline"])
            )
            numbers[:] = [dice.choice([*FLOATS, number]) for number in numbers]
        case _:
            fact = dice.choice([name for name, _ in model if name.startswith("draws ")])
            _put(model, fact, dice.choice([None, True, False, *NUMBERS]))


CHANGES = [
    change_number,
    change_number,
    change_length,
    change_keys,
    change_schema,
    change_count,
    change_criterion,
    change_thresholds,
    change_scale,
    change_bits,
    change_surrogates,
    change_surrogates,
    change_shape,
    change_ensemble,
    change_ensemble,
]


# ---- using what was accepted -----------------------------------------------------------------------


def use(model: saving.Model, folder: Path) -> None:
    """Everything that a model can do must work."""
    if isinstance(model, Tree):
        use_tree(model, folder)
    else:
        use_ensemble(model, folder)


def use_ensemble(model: saving.Ensemble, folder: Path) -> None:
    """What trees can do together, and the first and the last of them alone."""
    trees = saving.trees_in(model)
    for tree in {id(tree): tree for tree in (*trees[:1], *trees[-1:])}.values():
        use_tree(tree, folder)
    assert repr(model)
    path = folder / "again.json"
    model.save(path)
    loaded = load(path)
    assert not isinstance(loaded, Tree)
    assert saving.trees_in(loaded) == trees
    loaded.save(folder / "once more.json")
    assert (folder / "once more.json").read_bytes() == path.read_bytes()
    if not trees or any(tree.missing == "error" for tree in trees):
        return
    table, _ = rows(trees[0])
    first = model.predict(table)
    assert loaded.predict(table).tolist() == first.tolist()
    if isinstance(model, BoostedNumbers) or not model.schema.predicts_classes:
        assert np.isfinite(np.asarray(first, float)).all() or _may_overflow(model)
        return
    if isinstance(model, GradientBoosted) and _may_overflow(model):
        return
    shares = model.predict_proba(table)
    for share in shares if isinstance(shares, list) else [shares]:
        np.testing.assert_allclose(share.sum(axis=1), 1)


def _may_overflow(model: saving.Ensemble) -> bool:
    """Whether a tree answers a number so large that sums of such may overflow, or their powers."""
    most = (
        600 if isinstance(model, GradientBoosted) and model.loss in ("poisson", "gamma") else LARGEST_SQUARED
    )
    largest = [np.abs(tree.value).max() for tree in saving.trees_in(model)]
    return sum(largest) + (np.abs(model.baseline).sum() if isinstance(model, GradientBoosted) else 0) > most


def use_tree(tree: Tree, folder: Path) -> None:
    """Everything that a tree can do must work."""
    table, target = rows(tree)
    if tree.missing == "error":
        tree = _after_refusing(tree, table)
    first = tree.predict(table)
    assert len(first) == len(next(iter(table.values())))
    if tree.schema.predicts_classes:
        shares = tree.predict_proba(table)
        for share in shares if isinstance(shares, list) else [shares]:
            assert np.isfinite(share).all()
            np.testing.assert_allclose(share.sum(axis=1), 1)
    else:
        assert np.isfinite(np.asarray(first, float)).all()
    assert str(tree)
    assert repr(tree)
    again = pickle.loads(pickle.dumps(tree))
    assert again == tree
    path = folder / "again.json"
    tree.save(path)
    loaded = load(path)
    assert loaded == tree
    assert loaded.predict(table).tolist() == first.tolist()
    data = encode(table, target, schema=tree.schema)
    curve = tree.curve(data)
    assert len(curve) == tree.n_leaves - tree.joined.sum()  # many branches are one split
    moderate = tree.schema.predicts_classes or np.abs(tree.value).max() < LARGEST_SQUARED
    moderate = moderate and not (tree.criterion == "poisson" and tree.value.min() <= 0)
    assert not moderate or np.isfinite(curve).all()
    for part in (tree.collapse([0]), tree.collapse([tree.n_nodes // 2]), tree.first(1)):
        part.check()
        part.predict(table)
    assert (tree.gain >= 0).all() or not np.isfinite(tree.risk).all()
    if np.isfinite(tree.risk).all():
        assert len(cost_complexity_path(tree).leaves) >= 1
    if np.isfinite(tree.loss).all():
        path = prune(tree, "cost_complexity")
        assert path.leaves[-1] == 1
        assert not moderate or np.isfinite(path.losses(data)).all()
    if not (tree.subset >= 0).any() and not sent_by_others(tree):
        from treewright.estimators.sklearn_view import sklearn_tree

        assert sklearn_tree(tree).node_count == tree.n_nodes


def _after_refusing(tree: Tree, table: dict[str, Any]) -> Tree:
    """The same tree in a form that takes rows with missing values, once it has refused some."""
    if tree.n_nodes > 1:
        with suppress(ValueError):
            tree.predict(table)
            raise AssertionError("a missing value was not refused")
    return tree.with_missing("learn")


def rows(tree: Tree) -> tuple[dict[str, Any], dict[str, Any]]:
    """Rows with missing, infinite, known and unseen values, and a target for them."""
    n = 12
    table: dict[str, Any] = {}
    for position, column in enumerate(tree.schema.columns):
        own = tree.threshold[(tree.feature == position) & np.isfinite(tree.threshold)][:3]
        if column.text is not None:
            texts = [
                None,
                "",
                "1",
                "1.234,5 €",
                "26.09.2017",
                "26.09.2017 10:30",
                "ja",
                "no",
                "?!",
                "x" * 1000,
            ]
            table[column.name] = np.array((texts * n)[:n], object)
        elif column.kind == "category":
            unseen = "unseen" if isinstance(next(iter(column.categories), ""), str) else None
            values = [None, unseen, *_alike(column.categories)]
            table[column.name] = np.array((values * n)[:n], object)
        elif column.kind == "time":
            days = ["NaT", "1970-01-01", "2020-02-29", "9999-12-31"]
            table[column.name] = np.array((days * n)[:n], "M8[us]")
        else:
            values = [np.nan, np.inf, -np.inf, 0.0, *own, *np.nextafter(own, np.inf)]
            table[column.name] = np.array((values * n)[:n])
    targets = {}
    for target in tree.schema.targets:
        labels = [0.0, 1.0, -2.5] if target.classes is None else _alike(target.classes)
        targets[target.name] = (labels * n)[:n]
    return table, targets


def _alike(labels: tuple[Any, ...]) -> list[Any]:
    """The labels of one type: integers beyond 2^53 among floats are no column of a table."""
    return [label for label in labels if type(label) is type(labels[0])]
