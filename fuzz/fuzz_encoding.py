"""Odd tables through `encode`, `grow` and `predict`: a clear refusal, or a sound tree that fits its rows.

A case is determined by the seed and its number; `attack(seed, number)` repeats it.
"""

from __future__ import annotations

import pickle
import random
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import treewright
from fuzz.limiting import limited_time
from fuzz.odd_tables import POOLS, column, table, values
from treewright import encode, grow
from treewright.encoding import Dataset
from treewright.growing import criteria

PACKAGE = str(Path(treewright.__file__).parent)


class RefusalError(Exception):
    """A clear error: the table cannot be taken."""


def run(seconds: float, seed: int) -> int:
    """Attack for some seconds; the number of cases tried."""
    end = time.monotonic() + seconds
    number = 0
    while time.monotonic() < end:
        attack(seed, number)
        number += 1
    return number


def attack(seed: int, number: int) -> bool:
    """One case; whether the table was taken. AssertionError with what repeats it if something is wrong."""
    chance = random.Random(f"{seed} {number}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            case = _case(chance)
    except KeyboardInterrupt:
        raise
    except BaseException:  # the library in question refuses to make such a table; polars does so by a panic
        return False
    try:
        with limited_time(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)  # of numpy, where values get lost
            _use(chance, **case)
    except RefusalError:
        return False
    except BaseException as wrong:
        if isinstance(wrong, KeyboardInterrupt):
            raise
        shown = {name: _shown(value) for name, value in case.items()}
        raise AssertionError(
            f"fuzz_encoding.attack({seed}, {number}) with {shown}:\n{traceback.format_exc()}"
        ) from None
    return True


def _shown(value: Any) -> str:
    try:
        return f"{type(value).__name__} {value!r}"[:600]
    except Exception as error:
        return f"{type(value).__name__} (its repr fails: {error!r})"


def _case(chance: random.Random) -> dict[str, Any]:
    """A table with a target, weights and options."""
    n = chance.choice([0, 1, 2, 3, 5, 8, 8, 12, 12, 12, 30, 30])
    rows = table(chance, n)
    target: Any = None
    match chance.choice(
        ["labels", "labels", "numbers", "column", "column", "name", "names", "nested", "nothing"]
    ):
        case "labels":
            target = [chance.choice(["no", "yes", "so"]) for _ in range(n)]
        case "numbers":
            target = np.array([chance.choice([0.0, 1.0, 2.5, 1e9]) for _ in range(n)])
        case "column":
            target = column(chance, n)
        case "name":
            target = chance.choice(["c0", "c1", "a", "y", ""])
        case "names":
            target = ["c0", "c1"]
        case "nested":
            target = [values(chance, 2) for _ in range(n)]
    weight: Any = None
    match chance.choice(["no", "no", "no", "whole", "any", "column"]):
        case "whole":
            weight = [chance.randint(0, 3) for _ in range(n)]
        case "any":
            weight = [chance.choice([0.0, 1e-300, 1e300, 0.5, -1.0, float("nan")]) for _ in range(n)]
        case "column":
            weight = column(chance, n)
    kinds: Any = None
    if chance.random() < 0.15:
        kinds = chance.choice(
            [{"c0": "category"}, {0: "category"}, {"a": "time"}, ["number"], {0: "number"}, "number", {}, 3]
        )
    reading: dict[str, Any] = {}
    if chance.random() < 0.15:
        options = ("decimal", ","), ("thousands", "."), ("date_format", "%d/%m/%Y"), ("date_format", "%Q")
        for name, value in chance.sample(options, 2):
            reading[name] = chance.choice([value, {"c0": value}])
    return {
        "reading": reading,
        "rows": rows,
        "target": target,
        "weight": weight,
        "kinds": kinds,
        "classes": chance.choice([None, None, None, True, False]),
    }


def _use(
    chance: random.Random,
    *,
    rows: Any,
    target: Any,
    weight: Any,
    kinds: Any,
    classes: bool | None,
    reading: dict[str, str],
) -> None:
    data = _or_refusal(encode, rows, target, weight=weight, kinds=kinds, classes=classes, **reading)
    _check_data(data)
    _check_values(rows, data)
    again = encode(rows, schema=data.schema)
    _same_columns(data, again)
    if data.targets is None:
        return
    criterion = chance.choice(criteria("classes" if data.schema.predicts_classes else "numbers"))
    limits: dict[str, Any] = chance.choice(
        [{}, {"max_depth": 3}, {"_small_rows": 3}, {"_small_rows": 2, "n_jobs": 2}]
    )
    tree = _or_refusal(grow, data, criterion=criterion, **limits)
    tree.check()
    answers = tree.predict(rows)
    assert len(answers) == data.n_rows
    copy = pickle.loads(pickle.dumps(tree))
    assert copy == tree
    np.testing.assert_array_equal(copy.predict(rows), answers)
    str(tree)
    _or_refusal(encode, rows, target, weight=weight, schema=tree.schema)


def _or_refusal(work: Any, *args: Any, **options: Any) -> Any:
    """What the call returns; RefusalError if it says clearly, in the package's own words, why it does not."""
    try:
        return work(*args, **options)
    except (ValueError, TypeError, MemoryError) as error:
        refusal = error
    place = traceback.extract_tb(refusal.__traceback__)[-1].filename
    assert place.startswith(PACKAGE), f"not the package's own words, but those of {place}: {refusal!r}"
    assert len(str(refusal)) >= 20, f"not clear: {refusal!r}"
    raise RefusalError(str(refusal))


def _check_data(data: Dataset) -> None:
    """Arrays that the core may walk: the right types, equal lengths, codes that the schema knows."""
    assert data.n_rows > 0
    assert len(set(data.schema.names)) == data.n_columns > 0
    for position, known in enumerate(data.schema.columns):
        array = _column(data, position)
        assert len(array) == data.n_rows
        assert array.dtype in ((np.int32,) if known.kind == "category" else (np.float64, np.float32))
        if known.kind == "category":
            assert -1 <= array.min() <= array.max() < max(1, len(known.categories))
    if data.weight is not None:
        assert np.isfinite(data.weight).all()
        assert data.weight.min() >= 0 < data.weight.sum()
    if data.targets is not None:
        assert data.targets.shape == (len(data.schema.targets), data.n_rows)
        assert np.isfinite(data.targets).all()


def _column(data: Dataset, position: int) -> Any:
    columns = data.columns
    return columns[:, position] if isinstance(columns, np.ndarray) else columns[position]


def _check_values(rows: Any, data: Dataset) -> None:
    """The numbers of a plain list are kept exactly, and what is missing is missing."""
    if not isinstance(rows, dict):
        return
    by_name = {str(name): cells for name, cells in rows.items()}
    missing = {id(value) for value in POOLS["missing"]}
    for position, known in enumerate(data.schema.columns):
        cells = by_name[known.name]
        if known.kind == "number" and isinstance(cells, list):
            for cell, number in zip(cells, _column(data, position), strict=True):
                if id(cell) in missing:
                    assert np.isnan(number)
                elif type(cell) in (int, float):
                    assert number == cell or cell != cell, f"{cell!r} became {number!r}"


def _same_columns(one: Dataset, two: Dataset) -> None:
    """The same table, read by its own schema, is the same."""
    for position in range(one.n_columns):
        np.testing.assert_array_equal(_column(one, position), _column(two, position))
