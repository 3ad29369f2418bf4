"""Folds and parts: every row once, of the asked sizes, alike in their targets, the same for a seed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.encoding import Dataset, encode
from treewright.encoding.splits import _every_class_in_first, folds, set_aside, split


def table(seed: int, n: int, classes: bool = True, weighted: bool = False) -> Dataset:
    """Rows whose first column is their number."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.arange(n), rng.normal(size=n)]).astype(float)
    y = rng.choice(4, n, p=[0.6, 0.25, 0.1, 0.05]) if classes else rng.normal(size=n)
    weight = np.append(rng.integers(0, 3, n - 4), [1, 1, 1, 1]).astype(float) if weighted else None
    return encode(X, y, weight=weight, classes=classes)


def names(data: Dataset) -> list[int]:
    return np.asarray(data.columns)[:, 0].astype(int).tolist()


@pytest.mark.slow
@given(seed=st.integers(0, 1000), n=st.integers(4, 90), n_folds=st.integers(2, 12), classes=st.booleans())
def test_folds_are_of_one_size_and_alike(seed: int, n: int, n_folds: int, classes: bool) -> None:
    data = table(seed, n, classes)
    fold = folds(data, min(n, n_folds), seed)
    sizes = np.bincount(fold)
    assert len(sizes) == min(n, n_folds)
    assert sizes.max() - sizes.min() <= 1
    np.testing.assert_array_equal(fold, folds(data, min(n, n_folds), seed))
    if classes:
        for code in np.unique(data.targets):
            counts = np.bincount(fold[data.targets[0] == code], minlength=len(sizes))
            assert counts.max() - counts.min() <= 2
    elif n >= 2 * n_folds:
        low = np.argsort(data.targets[0])[: n // 2]  # the lower half is spread as well
        counts = np.bincount(fold[low], minlength=len(sizes))
        assert counts.max() - counts.min() <= 3


@pytest.mark.slow
@given(seed=st.integers(0, 1000), n=st.integers(8, 90), classes=st.booleans())
def test_every_row_is_in_one_part(seed: int, n: int, classes: bool) -> None:
    data = table(seed, n, classes, weighted=bool(seed % 2))
    parts = split(data, (3, 1, 1), seed)
    assert sorted(name for part in parts for name in names(part)) == list(range(n))
    for part in parts:
        assert names(part) == sorted(names(part))
        assert part.total_weight > 0
        assert part.schema is data.schema
        np.testing.assert_array_equal(part.targets, data.take(names(part)).targets)


@pytest.mark.slow
def test_parts_do_not_look_at_classes() -> None:
    """A row is as likely in each part whatever its class: also the only one of its class, and those whose
    class is in no other part. Test rows are a sample of what will come, which has such rows, too.
    """
    data = encode(np.arange(20.0)[:, np.newaxis], ["often"] * 18 + ["twice"] * 2)
    tested = np.array([np.isin(np.arange(20), names(split(data, (3, 1), seed)[1])) for seed in range(2000)])
    assert (tested.sum(axis=1) == 5).all()
    np.testing.assert_allclose(tested.mean(axis=0), 0.25, atol=0.045)  # nearly five standard errors
    np.testing.assert_allclose(tested[:, 18:].all(axis=1).mean(), 5 / 20 * 4 / 19, atol=0.025)


@given(seed=st.integers(0, 1000), n=st.integers(8, 200))
def test_parts_are_the_same_split_at_once_or_one_after_the_other(seed: int, n: int) -> None:
    data = table(seed, n, weighted=bool(seed % 2))
    train, validation, test = split(data, (0.6, 0.2, 0.2), seed)
    rest, same_test = split(data, (0.8, 0.2), seed)
    same_train, same_validation = split(rest, (0.75, 0.25), seed)
    for one, other in ((train, same_train), (validation, same_validation), (test, same_test)):
        assert names(one) == names(other)


@given(seed=st.integers(0, 1000), n=st.integers(8, 90), classes=st.booleans())
def test_rows_set_aside_are_alike_in_their_targets(seed: int, n: int, classes: bool) -> None:
    data = table(seed, n, classes, weighted=bool(seed % 2))
    aside = set_aside(data, 0.25, seed)
    assert aside.sum() == np.rint(0.25 * data.n_counted)
    assert data.row_weights[aside].all()
    if classes:
        assert set(data.targets[0][~aside]) >= set(data.targets[0][data.counted])


def test_shares_are_kept_in_every_class() -> None:
    data = table(0, 2000)
    aside = set_aside(data, 0.2)
    np.testing.assert_allclose(
        np.bincount(data.targets[0][aside]) / np.bincount(data.targets[0]), 0.2, atol=0.02
    )


def test_another_seed_deals_otherwise() -> None:
    data = table(0, 60)
    assert (folds(data, 5, 1) != folds(data, 5, 2)).any()
    assert names(split(data, random_state=1)[0]) != names(split(data, random_state=2)[0])


def test_rows_of_no_weight_change_nothing() -> None:
    data = table(3, 60, weighted=True)
    counted = data.weight > 0
    np.testing.assert_array_equal(folds(data, 4)[counted], folds(data.take(counted), 4))
    for part, alone in zip(split(data), split(data.take(counted)), strict=True):
        assert [name for name in names(part) if counted[name]] == names(alone)


def test_more_classes_than_the_first_part_has_room_for() -> None:
    data = encode({"x": np.arange(50.0)}, [f"c{i}" for i in range(50)])
    assert [part.n_rows for part in split(data)] == [30, 10, 10]


def test_several_targets_are_spread_together() -> None:
    y = np.column_stack([np.arange(80) % 2, np.arange(80) // 2 % 2])
    data = encode({"x": np.arange(80.0)}, y, classes=True)
    fold = folds(data, 4)
    for i in range(4):
        pairs, counts = np.unique(data.targets[:, fold == i], axis=1, return_counts=True)
        assert pairs.shape[1] == 4
        assert counts.tolist() == [5, 5, 5, 5]


def test_few_rows_still_fill_every_part() -> None:
    assert [part.n_rows for part in split(table(0, 4), (0.98, 0.01, 0.01))] == [2, 1, 1]
    assert [part.n_rows for part in split(table(0, 4), (0.01, 0.98, 0.01))] == [1, 2, 1]


def test_a_class_takes_the_place_of_one_that_is_there_most() -> None:
    part = np.array([0, 0, 0, 0, 0, 0, 0, 1, 1])
    strata = np.array([0, 0, 1, 1, 1, 1, 1, 1, 2])
    changed = _every_class_in_first(part, strata)
    assert sorted(strata[changed == 0].tolist()) == [0, 0, 1, 1, 1, 1, 2]
    assert changed[8] == 0
    assert part[8] == 1  # what was given stays


def test_only_rows_that_weigh_something_are_dealt() -> None:
    data = encode({"x": np.arange(6.0)}, list("ababab"), weight=[1, 1, 0, 0, 1, 0])
    assert sorted(folds(data, 3)[[0, 1, 4]].tolist()) == [0, 1, 2]
    with pytest.raises(ValueError, match="from 2 to the number of rows, 3"):
        folds(data, 4)


@pytest.mark.parametrize("n", [1, 0, -3, 61, 2.5, None, "ten"])
def test_a_wrong_number_of_folds(n: object) -> None:
    with pytest.raises(ValueError, match="number of folds"):
        folds(table(0, 60), n)  # type: ignore[arg-type]


@pytest.mark.parametrize("shares", [(1.0,), (), (0.5, 0.0), (0.5, -1), (0.5, float("nan")), "ab", None, 0.5])
def test_wrong_shares(shares: object) -> None:
    with pytest.raises(ValueError, match="shares is"):
        split(table(0, 60), shares)  # type: ignore[arg-type]


def test_wrong_rows_and_seeds() -> None:
    with pytest.raises(ValueError, match="2 rows cannot be split into 3 parts"):
        split(table(0, 60).take([0, 1]))
    with pytest.raises(ValueError, match="random_state is -1"):
        folds(table(0, 60), 3, -1)
    with pytest.raises(ValueError, match="split: the table has no target"):
        split([[1.0]])
