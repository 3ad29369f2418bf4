"""Splits of a data set: cross-validation folds; training, validation and test rows."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from treewright._arrays import Flags, Floats, Ints
from treewright.encoding import Dataset
from treewright.encoding.rows import takes_rows
from treewright.parameters.checks import is_int, is_real


@takes_rows
def folds(data: Dataset, n_folds: int = 10, seed: int = 0) -> Ints:
    """The cross-validation fold, 0 to ``n_folds - 1``, of each row; they have equal sizes and are stratified.

    Numbers are stratified by their order. Rows of weight 0 change nothing for the others.

    Parameters
    ----------
    n_folds : int
        The number of folds.
    seed : int
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
    fold[rows], _ = _stratified_parts(data, rows, sizes, seed)
    return fold


@takes_rows
def train_test_split(
    data: Dataset, *, test_size: float = 0.25, random_state: int = 0
) -> tuple[Dataset, Dataset]:
    """Split the rows at random into those to train on and those to test on, two Datasets of one schema.

    Every row is equally likely to be a test row, whatever its class, as `certify` assumes: a certificate from
    stratified test rows can be far too low. `split` makes three parts or more.

    Parameters
    ----------
    test_size : float
        The share of the test rows; a whole number is how many there are.
    random_state : int
        The seed of the draw: the same rows give the same split.

    Examples
    --------
    >>> from treewright import certify, grow, train_test_split
    >>> table = {"x": range(200), "y": ["no"] * 90 + ["yes"] * 110}
    >>> train, test = train_test_split(table, "y", test_size=0.25)
    >>> train, test.n_rows
    (<Dataset: 150 rows × 1 columns, to predict y (2 classes)>, 50)
    >>> certify(grow(train), test)
    <Certificate: true error < 9.2 % with confidence 0.95, held_out, 50 rows>
    """
    n_rows = data.n_counted
    number = float(test_size) if is_real(test_size) else -1.0
    if is_int(test_size) and 1 <= number < n_rows:
        number /= n_rows
    if not 0 < number < 1:
        raise ValueError(
            f"test_size is {test_size!r}; it must be a share between 0 and 1, or a number of rows from 1 to "
            f"{n_rows - 1}"
        )
    train, test = split(data, (1 - number, number), checked_seed(random_state, "random_state"))
    return train, test


@takes_rows
def split(data: Dataset, shares: Sequence[float] = (0.6, 0.2, 0.2), seed: int = 0) -> tuple[Dataset, ...]:
    """Split the rows at random into parts of the given shares: to train, to validate, to test.

    Every row is equally likely to be in each part, whatever its class: a certificate from stratified test
    rows can be far too low, as they have no class that the training rows lack. Rows keep their order within a
    part.

    Parameters
    ----------
    shares : sequence of float
        The share of each part; they need not add up to 1.
    seed : int
        The seed of the draw.

    Examples
    --------
    >>> from treewright import encode
    >>> data = encode({"x": range(10)}, list("aaaaabbbbb"))
    >>> [part.n_rows for part in split(data)]
    [6, 2, 2]
    """
    part = random_parts(data, shares, seed)
    return tuple(data.take(part == i) for i in range(len(shares)))


@takes_rows
def random_parts(data: Dataset, shares: Sequence[float], seed: int = 0) -> Ints:
    """The part, 0 to n − 1, of each row, drawn as by `split`; rows of weight 0 are in the first one.

    The last part is drawn first, then the one before it from the other rows, and so on: test rows are the
    same whether validation rows are split off with them, or from the rest, or not at all.

    Parameters
    ----------
    shares : sequence of float
        The share of each part.
    seed : int
        The seed of the draw.
    """
    rows = data.counted
    share = _check_shares(shares, len(rows))
    part = np.zeros(data.n_rows, np.int64)
    for place in range(len(share) - 1, 0, -1):
        exact = round(len(rows) * share[place] / share[: place + 1].sum(), 6)  # .2 / .8 is a quarter
        size = min(max(int(np.rint(exact)), 1), len(rows) - place)  # each of the others needs a row
        own = np.random.default_rng(checked_seed(seed)).permutation(len(rows))[:size]
        part[rows[own]] = place
        rows = np.delete(rows, own)
    return part


@takes_rows
def set_aside(data: Dataset, share: float, seed: int = 0) -> Flags:
    """Whether each row is set aside as a validation row for early stopping: a stratified share.

    A class of few rows stays among the training rows. No certificate can rest on these rows: see `split`.

    Parameters
    ----------
    share : float
        The share of the rows to set aside.
    seed : int
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
    part, strata = _stratified_parts(data, rows, np.array([len(rows) - size, size]), seed)
    aside = np.zeros(data.n_rows, np.bool_)
    aside[rows] = (part if strata is None else _every_class_in_first(part, strata)) == 1
    return aside


def checked_seed(seed: Any, name: str = "seed") -> int:
    """A whole number of at least 0."""
    try:
        number = -1 if isinstance(seed, bool | np.bool_) else operator.index(seed)
    except TypeError:
        number = -1
    if number < 0:
        raise ValueError(f"{name} is {seed!r}; it must be a whole number of at least 0")
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


def _stratified_parts(data: Dataset, rows: Ints, sizes: Ints, seed: int) -> tuple[Ints, Ints | None]:
    """The part of each of the rows, and its stratum where there are classes.

    The rows are shuffled, sorted by class or number, and dealt in that order: the parts take turns in
    proportion to their sizes, so that every range of the order is divided as the whole is.
    """
    n, rng = len(rows), np.random.default_rng(checked_seed(seed))
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
