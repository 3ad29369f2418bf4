"""Columns of more categories than a byte can number: every engine grows a sound tree, and none dies.

Each case runs in a process of its own, which may die without taking the others along. `python -m fuzz
categories` goes on for longer.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from tests.checks import same_structure
from treewright import encode, grow
from treewright.growing import criteria

TESTS = Path(__file__).parents[1]


def apart(code: str, *arguments: object) -> str:
    """What a process of its own prints; how it ended, if that was not well."""
    paths = os.pathsep.join([str(TESTS.parent), *sys.path])
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(code), *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"ended with {done.returncode}:\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("n_categories", [255, 256, 1000])
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_a_column_that_a_test_has_chosen_is_split_as_any(kind: str, n_categories: int) -> None:
    """Once for lists and once for histograms: the tests look at one column without bins."""
    code = """
    import sys
    import numpy as np
    from treewright import encode, grow

    kind, n_categories = sys.argv[1], int(sys.argv[2])
    for n in (4000, 5000, 20_000):
        rng = np.random.default_rng(n)
        codes = rng.permutation(np.arange(n) % n_categories)
        y = codes % 5 + rng.normal(size=n)
        target = (y > 2).astype(int) if kind == "classes" else y
        data = encode({"wide": [f"v{code}" for code in codes]}, target)
        tested = grow(data, selection="test", max_leaf_nodes=2)
        tested.check()
        whole = grow(data, max_leaf_nodes=2)
        assert tested.n_leaves == 2
        assert tested.subsets.tolist() == whole.subsets.tolist()
        assert tested.apply(data).tolist() == whole.apply(data).tolist()
    """
    apart(code, kind, n_categories)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [11, 12])
def test_every_engine_bears_many_categories(seed: int) -> None:
    """A short, seeded run of the fuzzer, without its largest tables."""
    code = """
    import sys
    from fuzz import fuzz_categories

    fuzz_categories.CATEGORIES = (255, 256, 257, 1000)
    fuzz_categories.ROWS = (4097, 5000)
    for number in range(20):
        fuzz_categories.attack(int(sys.argv[1]), number)
    """
    pytest.importorskip("pandas")
    apart(code, seed)


@pytest.mark.parametrize("criterion", criteria())
def test_histograms_and_lists_agree_on_many_categories(criterion: str) -> None:
    """Two columns of 256 and 300 categories and a number, by both engines; of two classes, whose subsets are
    exact.
    """
    rng = np.random.default_rng(0)
    n = 1200
    first, second = rng.integers(0, 256, n), rng.integers(0, 300, n)
    y = np.abs(first % 7 - second % 3 + rng.normal(size=n)).round(1)
    target = (y > 2).astype(int) if criterion in criteria("classes") else y
    table = {
        "first": [f"v{code}" for code in first],
        "second": [f"v{code}" for code in second],
        "number": rng.normal(size=n),
    }
    data = encode(table, target, classes=criterion in criteria("classes"))
    by_histograms = grow(data, criterion=criterion, max_leaf_nodes=8, _small_rows=20)
    same_structure(by_histograms, grow(data, criterion=criterion, max_leaf_nodes=8))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("min_samples_leaf", [1, 400])
def test_absolute_error_tries_every_pair_of_medians(weighted: bool, min_samples_leaf: int) -> None:
    """Of 500 categories each goes to the nearer of two medians; the pair with the least deviation wins."""
    rng = np.random.default_rng(3)
    n, n_categories = 1500, 500
    codes = np.concatenate([np.arange(n_categories), rng.integers(0, n_categories, n - n_categories)])
    y = np.round(codes % 4 * 3 + rng.normal(size=n) * 2)
    weight = rng.integers(1, 5, n).astype(float) if weighted else np.ones(n)
    values = np.unique(y)
    costs = np.stack([np.bincount(codes, weight * np.abs(y - value)) for value in values])
    counts = np.bincount(codes)
    least = np.inf
    for low in range(len(values)):
        for high in range(low + 1, len(values)):
            n_low = counts[costs[low] < costs[high]].sum()
            if min(n_low, n - n_low) >= min_samples_leaf:
                least = min(least, np.minimum(costs[low], costs[high]).sum())
    data = encode({"wide": [f"v{code:03}" for code in codes]}, y, weight=weight if weighted else None)
    tree = grow(data, criterion="absolute_error", max_leaf_nodes=2, min_samples_leaf=min_samples_leaf)
    assert tree.n_leaves == 2
    assert tree.rows[1:].min() >= min_samples_leaf
    found = tree.statistic[1:, 2].sum()
    assert found <= least * (1 + 1e-12)  # the medians of the sides may be better than the pair


@pytest.mark.slow
def test_absolute_error_of_a_great_many_categories() -> None:
    """Pairs of 256 values times 30,000 categories, one after the other, would take half a minute."""
    rng = np.random.default_rng(4)
    codes = np.concatenate([np.arange(30_000), rng.integers(0, 30_000, 10_000)])
    y = codes % 2 * 10 + rng.normal(size=len(codes))
    tree = grow(
        encode({"wide": codes}, y, kinds={"wide": "category"}), criterion="absolute_error", max_leaf_nodes=2
    )
    sides = tree.apply(encode({"wide": codes}, schema=tree.schema))
    assert len(set(sides[codes % 2 == 0])) == len(set(sides[codes % 2 == 1])) == 1
