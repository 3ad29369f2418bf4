"""Rows dealt out: into folds that judge one another, or into rows to grow, to prune and to test by."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.encoding import Dataset

Ints = NDArray[np.int64]


def folds(data: Dataset, n: int = 10, seed: int = 0) -> Ints:
    """The fold, 0 to n − 1, of each row; the folds are of one size and alike in their targets.

    Each class is spread evenly, or the range of the numbers. Rows of weight 0 change nothing for the others.

    >>> from treewright import encode
    >>> data = encode({"x": range(6)}, ["a", "a", "b", "b", "b", "b"])
    >>> fold = folds(data, 2)
    >>> [data.take(fold == i).targets.tolist() for i in range(2)]
    [[[0, 1, 1]], [[0, 1, 1]]]
    """
    counted = _counted(data)
    try:
        number = operator.index(n)
    except TypeError:
        raise ValueError(f"the number of folds is {n!r}; it must be a whole number") from None
    if not 2 <= number <= len(counted):
        raise ValueError(
            f"the number of folds is {n}; it must be from 2 to the number of rows, {len(counted)}"
        )
    rng = np.random.default_rng(checked_seed(seed))
    sizes = np.full(number, len(counted) // number)
    sizes[: len(counted) % number] += 1
    dealt, _ = _dealt(data, counted, sizes, rng)
    fold = np.zeros(data.n_rows, np.int64)
    fold[counted] = dealt
    return fold


def split(data: Dataset, shares: Sequence[float] = (0.6, 0.2, 0.2), seed: int = 0) -> tuple[Dataset, ...]:
    """Split the rows at random into parts of the given shares: to train, to validate, to test.

    Every row is equally likely to be in each part, whatever its class. Stratified parts would not do: their
    test rows have each class as often as the training rows have it, and a class that the training rows lack
    not at all, while new rows do as they please. A certificate from such rows can be far too low.

    Parameters
    ----------
    data : Dataset
        The rows. They keep their order within a part.
    shares : sequence of float
        The relative sizes of the parts; they need not add up to 1.
    seed : int
        Seed of the draw.

    Examples
    --------
    >>> from treewright import encode
    >>> data = encode({"x": range(10)}, list("aaaaabbbbb"))
    >>> [part.n_rows for part in split(data)]
    [6, 2, 2]
    """
    part = random_parts(data, shares, seed)
    return tuple(data.take(part == i) for i in range(len(shares)))


def random_parts(data: Dataset, shares: Sequence[float], seed: int = 0) -> Ints:
    """The part, 0 to n − 1, of each row, drawn as by `split`; rows of weight 0 are in the first one.

    The last part is drawn first, then the one before it from the other rows, and so on: test rows are the
    same whether validation rows are split off with them, or from the rest, or not at all.
    """
    left = _counted(data)
    share = _checked_shares(shares, len(left))
    part = np.zeros(data.n_rows, np.int64)
    for place in range(len(share) - 1, 0, -1):
        wanted = round(len(left) * share[place] / share[: place + 1].sum(), 6)  # .2 / .8 is a quarter
        size = min(max(int(np.rint(wanted)), 1), len(left) - place)  # each of the others needs one, too
        drawn = np.random.default_rng(checked_seed(seed)).permutation(len(left))[:size]
        part[left[drawn]] = place
        left = np.delete(left, drawn)
    return part


def set_aside(data: Dataset, share: float, seed: int = 0) -> NDArray[np.bool_]:
    """Which rows are set aside to watch a fit by, alike in their targets to those that are not.

    Each class, or the range of the numbers, is spread by the share, and a class of few rows stays among the
    others. That steadies the choice of when to stop, but no certificate can rest on these rows: see `split`.

    >>> from treewright import encode
    >>> set_aside(encode({"x": range(10)}, list("aaaaabbbbb")), 0.2).sum()
    np.int64(2)
    """
    counted = _counted(data)
    _checked_shares((1 - share, share), len(counted))
    size = min(max(int(np.rint(share * len(counted))), 1), len(counted) - 1)
    sizes = np.array([len(counted) - size, size])
    dealt, strata = _dealt(data, counted, sizes, np.random.default_rng(checked_seed(seed)))
    aside = np.zeros(data.n_rows, np.bool_)
    aside[counted] = (dealt if strata is None else _first_part_first(dealt, strata)) == 1
    return aside


def _counted(data: Dataset) -> Ints:
    """The rows that weigh something."""
    if not isinstance(data, Dataset):
        raise TypeError(f"data must be a Dataset, as encode makes it, not {type(data).__name__}")
    return data.counted


def checked_seed(seed: Any) -> int:
    """A whole number of at least 0."""
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if number < 0:
        raise ValueError(f"seed is {seed!r}; it must be a whole number of at least 0")
    return number


def _checked_shares(shares: Sequence[float], n_rows: int) -> NDArray[np.float64]:
    """Two or more positive numbers, not more than there are rows."""
    try:
        share = np.asarray(shares, np.float64)
    except (TypeError, ValueError):
        share = np.zeros(0)
    if share.ndim != 1 or len(share) < 2 or not (np.isfinite(share).all() and (share > 0).all()):
        raise ValueError(f"shares is {shares!r}; it must be two or more positive numbers, as (.6, .2, .2)")
    if n_rows < len(share):
        raise ValueError(f"{n_rows} rows cannot be split into {len(share)} parts; each needs at least one")
    return share


def _dealt(data: Dataset, counted: Ints, sizes: Ints, rng: np.random.Generator) -> tuple[Ints, Ints | None]:
    """The part of each counted row, and its stratum where there are classes.

    Rows are laid in a line, those that are alike side by side, and dealt like cards: the parts take turns
    as often as they are large, so that every stretch of the line is shared out as the whole is.
    """
    n = len(counted)
    shuffled = rng.permutation(n)
    late = rng.random(n) if not data.schema.predicts_classes else np.full(n, 0.5)
    turn = np.concatenate([np.arange(size) for size in sizes])
    owner = np.repeat(np.arange(len(sizes)), sizes)
    line = owner[np.lexsort((owner, (turn + late) / sizes[owner]))]
    part, strata = np.empty(n, np.int64), None
    if data.targets is not None:
        targets = np.asarray(data.targets)[:, counted]
        if data.schema.predicts_classes:
            strata = np.unique(targets, axis=1, return_inverse=True)[1].reshape(-1)
            shuffled = shuffled[np.argsort(strata[shuffled], kind="stable")]
        else:
            shuffled = shuffled[np.argsort(targets[0, shuffled], kind="stable")]
    part[shuffled] = line
    return part, strata


def _first_part_first(part: Ints, strata: Ints) -> Ints:
    """The same parts after exchanges: a class that the first part has not gets the place of one that it has
    most of.
    """
    first = np.flatnonzero(part == 0)
    held = np.bincount(strata[first], minlength=int(strata.max()) + 1)
    lacking = np.flatnonzero(held == 0)
    order = first[np.argsort(strata[first], kind="stable")]
    rank = np.arange(len(order)) - np.repeat(np.cumsum(held) - held, held)  # within its class
    spare = order[rank > 0][np.argsort(-rank[rank > 0], kind="stable")]
    part = part.copy()
    for stratum, giver in zip(lacking, spare, strict=False):
        taker = int(np.argmax(strata == stratum))
        part[taker], part[giver] = part[giver], part[taker]
    return part
