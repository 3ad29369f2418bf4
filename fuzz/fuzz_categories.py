"""Columns of more categories than a byte can number, through every engine: a sound model, never a crash.

A case is determined by the seed and its number; `attack(seed, number)` repeats it. `run` lets another process
do the work, so that a core that dies is a failure with a number and not the end of the fuzzer.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas

import treewright
from fuzz.limiting import limited_time
from treewright import encode, grow
from treewright.growing import criteria
from treewright.parameters import FeatureCosts, Gain

CATEGORIES = (255, 256, 257, 1_000, 50_000)
ROWS = (4_000, 4_097, 5_000, 12_000, 20_000, 70_000)  # lists, histograms, excerpts, ids of more than 16 bits
LONGEST_CASE = 300  # seconds, with all checkers on
_PART = 40  # cases of one process; importing takes seconds

Engine = tuple[str, dict[str, Any]]


def run(seconds: float, seed: int) -> int:
    """Attack for some seconds; the number of cases tried."""
    end = time.monotonic() + seconds
    number = 0
    while (left := end - time.monotonic()) > 0:
        number = attack_apart(seed, number, number + _PART, left)
    return number


def attack_apart(seed: int, first: int, last: int, seconds: float = float("inf")) -> int:
    """Cases in a process of their own, until their time is over; the number of the next case."""
    work = (
        "import sys, time; from fuzz import fuzz_categories as f\n"
        "end = time.monotonic() + float(sys.argv[4])\n"
        "for number in range(int(sys.argv[2]), int(sys.argv[3])):\n"
        "    if time.monotonic() > end: break\n"
        "    print(number, flush=True); f.attack(int(sys.argv[1]), number)\n"
    )
    paths = [str(Path(__file__).parent.parent), str(Path(treewright.__file__).parent.parent)]
    result = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", work, *map(str, (seed, first, last, seconds))],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    tried = [int(line) for line in result.stdout.split()]
    if result.returncode != 0:
        told = "\n".join(result.stderr.splitlines()[-60:])
        case = f"fuzz_categories.attack({seed}, {tried[-1]})" if tried else "the process"
        raise AssertionError(f"{case} ended with {result.returncode}:\n{told}")
    return tried[-1] + 1 if tried else first


def attack(seed: int, number: int) -> None:
    """One case; AssertionError with what repeats it if something is wrong."""
    chance = random.Random(f"{seed} {number}")
    n_categories, n_rows = chance.choice(CATEGORIES), chance.choice(ROWS)
    is_class = chance.random() < 0.6
    form, options = chance.choice(FORMS[is_class])
    told = f"{form} {options}, {n_rows} rows, {n_categories} categories"
    try:
        with limited_time(LONGEST_CASE), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = wide_table(chance, n_rows, n_categories)
            y = targets(chance, table, is_class)
            weight = chance.choice([None, None, lambda: np.arange(n_rows) % 4.0, lambda: np.ones(n_rows)])
            _CHECKS[form](chance, table, y, None if weight is None else weight(), options)
    except BaseException as wrong:
        if isinstance(wrong, KeyboardInterrupt):
            raise
        raise AssertionError(
            f"fuzz_categories.attack({seed}, {number}), {told}:\n{traceback.format_exc()}"
        ) from None


def wide_table(chance: random.Random, n_rows: int, n_categories: int) -> pandas.DataFrame:
    """A table with one column of many categories, or two; alone, or with numbers and few categories."""
    rng = np.random.default_rng(chance.getrandbits(32))
    share = chance.choice([0.0, 0.0, 0.05])
    columns: dict[str, Any] = {}
    for name, n in [("wide", n_categories), ("second", n_categories), ("narrow", 5)]:
        if name != "wide" and chance.random() < 0.6:
            continue
        codes = rng.integers(0, n, n_rows)
        codes[rng.random(n_rows) < share] = -1
        columns[name] = pandas.Categorical.from_codes(codes, [f"v{code}" for code in range(n)])
    if chance.random() < 0.6:
        columns["number"] = np.where(rng.random(n_rows) < share, np.nan, rng.normal(size=n_rows))
        columns["whole"] = rng.integers(0, 9, n_rows).astype(float)
    names = list(columns)
    chance.shuffle(names)
    return pandas.DataFrame({name: columns[name] for name in names})


def targets(chance: random.Random, table: pandas.DataFrame, is_class: bool) -> Any:
    """Classes or numbers that the categories tell something of."""
    rng = np.random.default_rng(chance.getrandbits(32))
    codes = table["wide"].cat.codes.to_numpy()
    signal = (codes * 7919 % 13) + rng.normal(size=len(codes)) * chance.choice([0.5, 4.0])
    if not is_class:
        return np.abs(signal).round(chance.choice([0, 6]))
    return np.floor(np.abs(signal)).astype(int) % chance.choice([2, 2, 3, 12])


def _check_grown(chance: random.Random, table: Any, y: Any, weight: Any, options: dict[str, Any]) -> None:
    """A tree of the growers; of the fast one, where subsets are exact, the same from both its engines."""
    is_class = y.dtype.kind == "i"
    data = encode(table, y, weight=weight, classes=is_class)
    options = {"max_leaf_nodes": chance.choice([2, 8, 40]), "n_jobs": chance.choice([1, 2])} | options
    _rid_of_numbers(options, table)
    tree = grow(data, **options)
    tree.check()
    assert len(tree.predict(table)) == len(table)
    assert tree.apply(data).max() < len(tree.end)
    is_exact = set(options) <= {"criterion", "max_leaf_nodes", "n_jobs", "max_depth"}
    if is_exact and len(np.unique(y)) == 2:
        other = grow(data, **options, _small_rows=len(table))  # in sorted lists alone
        for name in ("end", "feature", "subsets", "rows", "step"):
            assert getattr(other, name).tolist() == getattr(tree, name).tolist(), f"lists: another {name}"


def _rid_of_numbers(options: dict[str, Any], table: Any) -> None:
    """Options by column name those columns that the table has."""
    for name in ("monotonic_cst", "feature_costs"):
        if name in options:
            options[name] = {key: value for key, value in options[name].items() if key in table}
    if "interaction_cst" in options:
        options["interaction_cst"] = [[name] for name in table]


def _check_estimator(chance: random.Random, table: Any, y: Any, weight: Any, options: dict[str, Any]) -> None:
    """Fit, and answer for the same rows and for categories that were never seen."""
    options = dict(options)
    kind = options.pop("kind")
    if kind == "ID3Classifier":  # which makes a branch of each number
        table = table.drop(columns=["number"], errors="ignore")
    _rid_of_numbers(options, table)
    model = getattr(treewright, kind)(**options)
    takes_weight = weight is not None and "sample_weight" in model.fit.__code__.co_varnames
    model.fit(table, y, **({"sample_weight": weight} if takes_weight else {}))
    answers = model.predict(table)
    assert len(answers) == len(table)
    strange = table.head(3).copy()
    strange["wide"] = pandas.Categorical(["new", None, "v0"])
    assert len(model.predict(strange)) == 3


_CHECKS: dict[str, Callable[..., None]] = {"grow": _check_grown, "fit": _check_estimator}
_NUMBERS = {"number": 1, "whole": -1}
_GROWN: list[dict[str, Any]] = [
    {"max_leaf_nodes": None, "max_depth": 6},
    {"max_leaf_nodes": None},
    {"min_samples_leaf": 20},
    {"splitter": "random"},
    {"splitter": "random", "max_leaf_nodes": None},
    {"max_features": 1},
    {"max_features": 1, "max_leaf_nodes": None},
    {"selection": "test"},
    {"split": "oblique", "max_leaf_nodes": 4},
    {"missing": "surrogate"},
    {"missing": "category"},
    {"missing": "fractional"},
    {"monotonic_cst": _NUMBERS},
    {"interaction_cst": []},
    {"feature_costs": {"wide": 3.0, "number": 2.0}},
    {"feature_costs": FeatureCosts(max_used=1)},
    {"root": "wide"},
]


def _forms(is_class: bool) -> list[Engine]:
    """Every engine and option for a kind of target."""
    own = criteria("classes" if is_class else "numbers")
    grown = [{"criterion": name} for name in own] + [{"criterion": name, "max_depth": 3} for name in own]
    grown += _GROWN if is_class else [*_GROWN, {"leaf": "linear"}]
    grown += [{"selection": Gain(significance=0.05)}] if is_class else []
    few: dict[str, Any] = {"n_estimators": 3, "random_state": 0}
    boosted: dict[str, Any] = {"max_iter": 3, "early_stopping": False}
    suffix = "Classifier" if is_class else "Regressor"
    fits: list[dict[str, Any]] = [
        {"kind": f"RandomForest{suffix}", **few, "oob_score": True},
        {"kind": f"RandomForest{suffix}", **few, "missing": "surrogate", "max_depth": 3},
        {"kind": f"ExtraTrees{suffix}", **few},
        {"kind": f"Bagging{suffix}", **few},
        {"kind": f"AdaBoost{suffix}", **few},
        {"kind": f"HistGradientBoosting{suffix}", **boosted},
        {"kind": f"HistGradientBoosting{suffix}", **boosted, "max_bins": 17, "min_samples_leaf": 1},
        {"kind": f"HistGradientBoosting{suffix}", **boosted, "max_bins": None},
        {"kind": f"CART{suffix}", "cv": 3, "random_state": 0},
    ]
    if is_class:
        fits += [
            {"kind": "C45Classifier"},
            {"kind": "ID3Classifier", "max_depth": 2},
            {"kind": "CHAIDClassifier", "max_depth": 2},
            {"kind": "TopDownClassifier"},
            {"kind": "RuleListClassifier", "max_leaf_nodes": 20},
        ]
    return [("grow", options) for options in grown] + [("fit", options) for options in fits]


FORMS: dict[bool, list[Engine]] = {True: _forms(True), False: _forms(False)}
