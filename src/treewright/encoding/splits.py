"""Splits of a data set: cross-validation folds; training, validation and test rows."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from treewright._arrays import Flags, Floats, Ints
from treewright._suggestions import did_you_mean
from treewright.encoding import Dataset
from treewright.encoding.row_subsets import n_rows_of, take_rows, without_target
from treewright.encoding.rows import has_target, is_pair, takes_rows
from treewright.encoding.targets import encode_weight
from treewright.parameters.checks import is_int, is_real


@takes_rows
def folds(data: Dataset, n_folds: int = 10, random_state: int = 0) -> Ints:
    """The cross-validation fold, 0 to ``n_folds - 1``, of each row; they have equal sizes and are stratified.

    Numbers are stratified by their order. Rows of weight 0 change nothing for the others.

    Parameters
    ----------
    n_folds : int
        The number of folds.
    random_state : int
        The seed of the draw.

    Examples
    --------
    >>> from treewright import encode, folds
    >>> data = encode({"x": range(6)}, ["a", "a", "b", "b", "b", "b"])
    >>> fold = folds(data, 2)
    >>> [data.take(fold == i).targets.tolist() for i in range(2)]
    [[[0, 1, 1]], [[0, 1, 1]]]
    """
    rows = data.counted
    try:
        number = operator.index(n_folds)
    except TypeError:
        raise ValueError(f"the number of folds is {n_folds!r}; it must be a whole number") from None
    if not 2 <= number <= len(rows):
        raise ValueError(
            f"the number of folds is {n_folds}; it must be from 2 to the number of rows, {len(rows)}"
        )
    sizes = np.full(number, len(rows) // number)
    sizes[: len(rows) % number] += 1
    fold = np.zeros(data.n_rows, np.int64)
    fold[rows], _ = _stratified_parts(data, rows, sizes, random_state)
    return fold


def train_test_split(
    *rows: Any, test_size: float = 0.25, random_state: int = 0, **others: Any
) -> tuple[Any, ...]:
    """Split rows at random into those to train on and those to test on.

    Every row is equally likely to be a test row, whatever its class, as `certify` assumes: a certificate from
    stratified test rows can be far too low. Rows keep their order and their type: frames stay frames.

    Parameters
    ----------
    *rows : Dataset, tuple (table, target), table and the name of its target, or tables and arrays
        What is split, each thing in two. Rows with their targets are one thing; a table that is followed by
        the name of its target becomes tuples (table, target), as all functions take them and estimators do
        by ``fit(*train)``. Tables and arrays are split one by one, as in scikit-learn.
    test_size : float
        The share of the test rows; a whole number is how many there are.
    random_state : int
        The seed of the draw: the same number of rows gives the same split.

    Returns
    -------
    tuple
        Of each thing the training rows and the test rows.

    Examples
    --------
    >>> from treewright import DecisionTreeClassifier, certify, grow, train_test_split
    >>> table = {"x": range(200), "y": ["no"] * 90 + ["yes"] * 110}
    >>> train, test = train_test_split(table, "y", test_size=0.25)
    >>> certify(grow(train), test)
    <Certificate: true error < 9.2 % with confidence 0.95, held_out, 50 rows>
    >>> DecisionTreeClassifier().fit(*train).score(*test)
    0.98

    >>> X, y = [[i] for i in range(200)], table["y"]
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25)
    >>> len(X_train), y_test == list(test[1])
    (150, True)
    """
    _refuse_other_options(others)
    things = _things(rows)
    sizes = [_n_rows_and_counted(thing) for thing in things]
    if len(numbers := {n_rows for n_rows, _ in sizes}) > 1:
        raise ValueError(f"what is split must have equal numbers of rows, not {sorted(numbers)}")
    n_rows, counted = sizes[0]
    share = checked_share("test_size", test_size, len(counted))
    part = _drawn_parts(n_rows, counted, (1 - share, share), checked_seed(random_state))
    places = [np.flatnonzero(part == i) for i in range(2)]
    return tuple(_taken(thing, place) for thing in things for place in places)


_NOT_HERE = {
    "stratify": "a certificate assumes that every row is equally likely to be a test row",
    "shuffle": "rows are always drawn at random; slices split a table in its order",
    "train_size": "the training rows are all that are no test rows: give test_size",
    "weight": "give the weights after the target: train_test_split(table, target, weight)",
    "kinds": "kinds belong to what reads the table: encode, grow or an estimator",
}


def _refuse_other_options(others: dict[str, Any]) -> None:
    """TypeError about an option that there is not, with the reason."""
    for name in others:
        reason = _NOT_HERE.get(name)
        hint = f"; {reason}" if reason else did_you_mean(name, ("test_size", "random_state"))
        raise TypeError(f"train_test_split has no parameter {name!r}{hint}")


def _things(rows: tuple[Any, ...]) -> list[Any]:
    """What `train_test_split` splits, rows with their targets as a Dataset or a tuple."""
    if not rows:
        raise TypeError("train_test_split: give a table and its target, a tuple of both, or a Dataset")
    if len(rows) > 1 and not any(map(has_target, rows)):
        table, target = without_target(rows[0], rows[1])
        if target is not rows[1]:  # it was a name
            rows = ((table, target, *rows[2:]),)
    return [(*without_target(*each[:2]), *each[2:]) if is_pair(each) else each for each in rows]


def _n_rows_and_counted(thing: Any) -> tuple[int, Ints]:
    """The number of rows, and the positions of those with positive weight."""
    if isinstance(thing, Dataset):
        return thing.n_rows, thing.counted
    if not is_pair(thing):
        n_rows = n_rows_of(thing)
        return n_rows, np.arange(n_rows)
    table, target, weight = (*thing, None)[:3]
    n_rows = n_rows_of(table)
    if target is not None and (n_targets := n_rows_of(target)) != n_rows:
        raise ValueError(f"the target has {n_targets} rows, but the table has {n_rows}")
    own = encode_weight(weight, n_rows)
    return n_rows, np.arange(n_rows) if own is None else np.flatnonzero(own)


def checked_share(name: str, size: Any, n_rows: int) -> float:
    """The share of the rows that are set aside; ValueError unless there are rows of both kinds."""
    number = float(size) if is_real(size) else -1.0
    if is_int(size) and 1 <= number < n_rows:
        number /= n_rows
    if not 0 < number < 1:
        raise ValueError(
            f"{name} is {size!r}; it must be a share between 0 and 1, or a number of rows from 1 to "
            f"{n_rows - 1}"
        )
    return number


def _taken(thing: Any, places: Ints) -> Any:
    if isinstance(thing, Dataset):
        return thing.take(places)
    if is_pair(thing):
        return tuple(None if part is None else take_rows(part, places) for part in thing)
    return take_rows(thing, places)


@takes_rows
def split(
    data: Dataset, shares: Sequence[float] = (0.6, 0.2, 0.2), random_state: int = 0
) -> tuple[Dataset, ...]:
    """Split the rows at random into parts of the given shares: to train, to validate, to test.

    Every row is equally likely to be in each part, whatever its class: a certificate from stratified test
    rows can be far too low, as they have no class that the training rows lack. Rows keep their order within a
    part.

    Parameters
    ----------
    shares : sequence of float
        The share of each part; they need not add up to 1.
    random_state : int
        The seed of the draw.

    Examples
    --------
    >>> from treewright import encode
    >>> data = encode({"x": range(10)}, list("aaaaabbbbb"))
    >>> [part.n_rows for part in split(data)]
    [6, 2, 2]
    """
    part = random_parts(data, shares, random_state)
    return tuple(data.take(part == i) for i in range(len(shares)))


@takes_rows
def random_parts(data: Dataset, shares: Sequence[float], random_state: int = 0) -> Ints:
    """The part, 0 to n − 1, of each row, drawn as by `split`; rows of weight 0 are in the first one.

    The last part is drawn first, then the one before it from the other rows, and so on: test rows are the
    same whether validation rows are split off with them, or from the rest, or not at all.

    Parameters
    ----------
    shares : sequence of float
        The share of each part.
    random_state : int
        The seed of the draw.
    """
    return _drawn_parts(data.n_rows, data.counted, shares, checked_seed(random_state))


def _drawn_parts(n_rows: int, rows: Ints, shares: Sequence[float], random_state: int) -> Ints:
    """The part of each of `n_rows` rows, of which only `rows` are drawn."""
    share = _check_shares(shares, len(rows))
    part = np.zeros(n_rows, np.int64)
    for place in range(len(share) - 1, 0, -1):
        exact = round(len(rows) * share[place] / share[: place + 1].sum(), 6)  # .2 / .8 is a quarter
        size = min(max(int(np.rint(exact)), 1), len(rows) - place)  # each of the others needs a row
        own = np.random.default_rng(random_state).permutation(len(rows))[:size]
        part[rows[own]] = place
        rows = np.delete(rows, own)
    return part


@takes_rows
def set_aside(data: Dataset, share: float, random_state: int = 0) -> Flags:
    """Whether each row is set aside as a validation row for early stopping: a stratified share.

    A class of few rows stays among the training rows. No certificate can rest on these rows: see `split`.

    Parameters
    ----------
    share : float
        The share of the rows to set aside.
    random_state : int
        The seed of the draw.

    Examples
    --------
    >>> from treewright import encode
    >>> set_aside(encode({"x": range(10)}, list("aaaaabbbbb")), 0.2).sum()
    np.int64(2)
    """
    rows = data.counted
    _check_shares((1 - share, share), len(rows))
    size = min(max(int(np.rint(share * len(rows))), 1), len(rows) - 1)
    part, strata = _stratified_parts(data, rows, np.array([len(rows) - size, size]), random_state)
    aside = np.zeros(data.n_rows, np.bool_)
    aside[rows] = (part if strata is None else _every_class_in_first(part, strata)) == 1
    return aside


def checked_seed(random_state: Any) -> int:
    """A whole number of at least 0."""
    try:
        number = -1 if isinstance(random_state, bool | np.bool_) else operator.index(random_state)
    except TypeError:
        number = -1
    if number < 0:
        raise ValueError(f"random_state is {random_state!r}; it must be a whole number of at least 0")
    return number


def _check_shares(shares: Sequence[float], n_rows: int) -> Floats:
    """The shares: two or more positive numbers, not more than there are rows."""
    try:
        share = np.asarray(shares, np.float64)
    except (TypeError, ValueError):
        share = np.zeros(0)
    if share.ndim != 1 or len(share) < 2 or not (np.isfinite(share).all() and (share > 0).all()):
        raise ValueError(f"shares is {shares!r}; it must be two or more positive numbers, as (.6, .2, .2)")
    if n_rows < len(share):
        raise ValueError(f"{n_rows} rows cannot be split into {len(share)} parts; each needs at least one")
    return share


def _stratified_parts(data: Dataset, rows: Ints, sizes: Ints, random_state: int) -> tuple[Ints, Ints | None]:
    """The part of each of the rows, and its stratum where there are classes.

    The rows are shuffled, sorted by class or number, and dealt in that order: the parts take turns in
    proportion to their sizes, so that every range of the order is divided as the whole is.
    """
    n, rng = len(rows), np.random.default_rng(checked_seed(random_state))
    order = rng.permutation(n)
    delay = rng.random(n) if not data.schema.predicts_classes else np.full(n, 0.5)
    turn = np.concatenate([np.arange(size) for size in sizes])
    owner = np.repeat(np.arange(len(sizes)), sizes)
    part, strata = np.empty(n, np.int64), None
    if data.targets is not None:
        targets = np.asarray(data.targets)[:, rows]
        key = targets[0]
        if data.schema.predicts_classes:
            key = strata = np.unique(targets, axis=1, return_inverse=True)[1].reshape(-1)
        order = order[np.argsort(key[order], kind="stable")]
    part[order] = owner[np.lexsort((owner, (turn + delay) / sizes[owner]))]
    return part, strata


def _every_class_in_first(part: Ints, strata: Ints) -> Ints:
    """The parts after exchanges: for each class that the first part lacks it gives up a row of a class of
    which it has most.
    """
    first = np.flatnonzero(part == 0)
    counts = np.bincount(strata[first], minlength=int(strata.max()) + 1)
    lacking = np.flatnonzero(counts == 0)
    order = first[np.argsort(strata[first], kind="stable")]
    rank = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)  # within its class
    spare = order[rank > 0][np.argsort(-rank[rank > 0], kind="stable")]
    part = part.copy()
    for stratum, giver in zip(lacking, spare, strict=False):
        taker = int(np.argmax(strata == stratum))
        part[taker], part[giver] = part[giver], part[taker]
    return part
