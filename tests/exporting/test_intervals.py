"""Text with how far each leaf can be wrong."""

from __future__ import annotations

import numpy as np
import pytest

from treewright import encode, export, grow
from treewright.certifying import leaf_intervals


def table(n: int, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    chance = np.random.default_rng(seed)
    x, z = chance.uniform(0, 1, n), chance.uniform(0, 1, n)
    return {"x": x, "z": z}, np.where((x > 0.5) ^ (chance.uniform(0, 1, n) < 0.1), "yes", "no")


TRAIN = encode(*table(400, 0))
TREE = grow(TRAIN, max_leaf_nodes=4, min_samples_leaf=20)
TEST = encode(*table(300, 1), schema=TRAIN.schema)


def test_each_leaf_says_its_interval() -> None:
    intervals = leaf_intervals(TREE, TEST)
    text = export(TREE, test=TEST)
    *lines, last = text.splitlines()
    assert last == "wrong for: where the true error of each leaf lies; with 95 % confidence all of them hold"
    told = [line.split("wrong for ")[1] for line in lines if "wrong for" in line]
    assert told == [f"{low} to {high}" for low, high in intervals.limits]
    assert export(TREE, intervals=intervals) == text
    assert [line.split("   wrong")[0].rstrip() for line in lines] == export(TREE).splitlines()
    ends = [line.index("wrong for") for line in lines if "wrong for" in line]
    assert len(set(ends)) == 1
    narrower = export(TREE, test=TEST, delta=0.5)
    assert "with 50 % confidence" in narrower
    assert narrower != text


def test_what_is_folded_is_judged_as_a_leaf() -> None:
    text = export(TREE, test=TEST, max_depth=1)
    folded = TREE.collapse([1, int(TREE.right[0])])
    limits = leaf_intervals(folded, TEST).limits
    told = [line.split("wrong for ")[1].split("   ")[0] for line in text.splitlines()[1:3]]
    assert told == [f"{low} to {high}" for low, high in limits]
    assert "leaves below" in text


def test_a_leaf_that_no_row_reaches() -> None:
    few = TEST.take(
        np.flatnonzero(
            np.asarray(TEST.columns[0] if isinstance(TEST.columns, tuple) else TEST.columns[:, 0]) > 0.5
        )
    )
    assert "no test row" in export(TREE, test=few)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="intervals are those of another tree"):
        export(TREE, intervals=leaf_intervals(TREE.collapse([0]), TEST))
    numbers = grow(encode({"x": [1.0, 2.0, 3.0]}, [1.0, 2.0, 5.0]))
    with pytest.raises(
        ValueError, match="leaf intervals are for trees that predict the classes of one target"
    ):
        export(numbers, test=encode({"x": [1.0]}, [1.0], schema=numbers.schema))
