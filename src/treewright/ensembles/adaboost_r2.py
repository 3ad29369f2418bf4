"""AdaBoost.R2: regression trees grown one after the other, each on weights that favour large errors.

Drucker (1997). The loss of a row is in [0, 1], by its distance d from the prediction and the largest one:

    linear  d/max        square  (d/max)²        exponential  1 - e^(-d/max)

With the mean loss L < 1/2 of the weighted rows and β = L / (1 - L), a row's weight is multiplied by
β^(1-loss) and the tree gets the vote ln(1/β); the prediction is the weighted median of those of the trees.

Drucker grows each tree on rows drawn by their weights, for learners that take no weights. Trees do: without
`resample`, each is grown on the weighted rows themselves, and nothing is random. Drucker's way matters for
trees without limits: on weighted rows the first one makes no error and decides alone, on drawn rows each of
them misses the rows that were not drawn. It also makes trees differ more, and mostly predicts a little
better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from treewright._display import Layout, Shown
from treewright._suggestions import also_takes
from treewright.encoding import Dataset
from treewright.encoding.rows import encoded_rows, takes_rows
from treewright.encoding.schema import Schema
from treewright.ensembles.adaboost import (
    check_boostable,
    each_round,
    positive_rate,
    scale_weights,
    tree_grower,
)
from treewright.ensembles.facts import tree_facts
from treewright.growing import n_threads, whole_number
from treewright.parameters import GROW
from treewright.tree import Tree
from treewright.tree.evaluate import given_rows
from treewright.tree.predict import numbers
from treewright.tree.shortcuts import Saved

Floats = NDArray[np.float64]
Loss = Literal["linear", "square", "exponential"]

_MOST_NUMBERS = 2**22  # rows × trees, sorted at a time


class NumberRound(NamedTuple):
    """One round of boosting."""

    number: int  # from 1
    tree: Tree
    vote: float
    error: float  # the mean loss of this round's weighted rows, as a share of the largest


@dataclass(frozen=True, eq=False)
class BoostedNumbers(Saved, Shown):
    """Trees whose weighted median is the prediction, made by `boost_numbers`."""

    trees: tuple[Tree, ...]
    votes: Floats
    errors: Floats
    loss: Loss
    schema: Schema

    def _layout(self) -> Layout:
        facts = tree_facts(self.trees, self.schema) | {"loss": self.loss}
        return Layout.of_facts("BoostedNumbers", facts)

    def __repr__(self) -> str:
        n = len(self.trees)
        return f"<BoostedNumbers: {n} tree{'s' * (n != 1)}>"

    def answers(self, rows: Any, *, n_jobs: int | None = None) -> Floats:
        """The predictions of each tree, (rows, trees)."""
        data = encoded_rows(rows, "rows", self.schema)
        return np.stack([numbers(tree, data, n_threads(n_jobs))[:, 0] for tree in self.trees], axis=1)

    def predict(self, rows: Any, *, n_jobs: int | None = None) -> Floats:
        """The median of the predictions of the trees, weighted by their votes."""
        return np.asarray(self._medians(rows, [len(self.trees)], n_jobs)[0])

    def staged_predict(self, rows: Any, *, n_jobs: int | None = None) -> Iterator[Floats]:
        """The same after each round."""
        yield from self._medians(rows, range(1, len(self.trees) + 1), n_jobs)

    def staged_errors(self, rows: Any) -> Floats:
        """The weighted mean squared error after each round."""
        data = given_rows(self.trees[0], rows, "rows")
        truth, weight = np.asarray(data.targets)[0], data.row_weights
        return np.array(
            [np.average((stage - truth) ** 2, weights=weight) for stage in self.staged_predict(data)]
        )

    def _medians(self, rows: Any, stages: Any, n_jobs: int | None) -> Floats:
        """For each stage, a number of trees, the median of each row: (stages, rows)."""
        data = encoded_rows(rows, "rows", self.schema)
        out = np.empty((len(stages), data.n_rows))
        size = max(_MOST_NUMBERS // len(self.trees), 1)
        for first in range(0, data.n_rows, size):
            block = slice(first, first + size)
            rows = data if size >= data.n_rows else data.take(block)
            out[:, block] = _medians(self.answers(rows, n_jobs=n_jobs), self.votes, stages)
        return out


def _medians(answers: Floats, votes: Floats, stages: Any) -> Floats:
    """The smallest prediction that, with those below it, has half of the votes of the first trees.

    >>> _medians(np.array([[5.0, 1.0, 3.0]]), np.array([1.0, 1.0, 1.5]), [1, 2, 3]).ravel().tolist()
    [5.0, 1.0, 3.0]
    """
    order = np.argsort(answers, axis=1, kind="stable")
    line, place = np.take_along_axis(answers, order, axis=1), np.arange(len(votes))
    out = np.empty((len(stages), len(answers)))
    for i, stage in enumerate(stages):
        cast = np.cumsum(np.where(place < stage, votes, 0.0)[order], axis=1)
        middle = (cast >= cast[:, -1:] / 2).argmax(axis=1)
        out[i] = line[np.arange(len(line)), middle]
    return out


@also_takes(GROW)
@takes_rows
def boost_numbers(
    data: Dataset,
    /,
    *,
    n_estimators: int = 50,
    loss: Loss = "linear",
    learning_rate: float = 1.0,
    resample: bool = False,
    random_state: int = 0,
    grower: Callable[[Dataset, int], Tree] | None = None,
    n_jobs: int | None = None,
    progress: Callable[[NumberRound], object] | None = None,
    **growing: Any,
) -> BoostedNumbers:
    """Boost trees of numbers by AdaBoost.R2.

    Boosting stops early if a tree predicts all rows exactly (it then gets more votes than all others
    together), or if the mean loss is at least half of the largest one; the first tree is kept in any case.

    Parameters
    ----------
    data : table, tuple (table, target) or (table, target, weight), or Dataset
        Rows with the numbers of one target. Their weights, if any, are where boosting starts.
    n_estimators : int
        The most trees.
    loss : {"linear", "square", "exponential"}
        What a row loses by its distance from the prediction, as a share of the largest distance.
    learning_rate : float
        A factor of all votes. Less than 1 takes more rounds.
    resample : bool
        Whether each tree is grown on rows drawn by their weights, as in Drucker and scikit-learn, or on the
        weighted rows themselves.
    random_state : int
        The seed of the draws.
    grower, n_jobs, progress
        As for `boost`.
    **growing
        How to grow: keyword arguments of `grow`; ``max_depth=3`` by default.

    Returns
    -------
    BoostedNumbers

    Examples
    --------
    >>> from treewright import encode
    >>> data = encode({"x": range(8)}, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    >>> boost_numbers(data, n_estimators=9, max_depth=2).staged_errors(data).round(2)[[0, -1]].tolist()
    [0.25, 0.25]
    """
    check_boostable(data, classes=False)
    most, rate = whole_number("n_estimators", n_estimators, 1), positive_rate(learning_rate)
    if loss not in get_args(Loss):
        raise ValueError(f"loss is {loss!r}; it must be 'linear', 'square' or 'exponential'")
    grow_tree = tree_grower(grower, growing, n_jobs, {"max_depth": 3})
    data.bins(n_threads(n_jobs))  # once for all trees
    draw_seed = whole_number("random_state", random_state, 0) if resample else None
    made = _rounds(data, most, loss, rate, grow_tree, draw_seed, n_threads(n_jobs))
    _, trees, votes, errors = zip(*each_round(made, progress), strict=True)
    return BoostedNumbers(trees, np.array(votes), np.array(errors), loss, data.schema)


def _rounds(
    data: Dataset,
    most: int,
    loss: Loss,
    rate: float,
    grow_tree: Callable[[Dataset, int], Tree],
    random_state: int | None,
    threads: int,
) -> Iterator[NumberRound]:
    truth, weight, rows = np.asarray(data.targets)[0], data.row_weights, data
    total_vote = 0.0
    for number in range(1, most + 1):
        if random_state is not None:
            rows = data.with_weight(_draw_counts(weight, random_state, number - 1), is_drawn=True)
        tree = grow_tree(rows, number - 1)
        losses = _losses(np.abs(numbers(tree, data, threads)[:, 0] - truth), weight > 0, loss)
        error = float(np.average(losses, weights=weight))
        is_last = error == 0 or error >= 0.5
        if error >= 0.5 and number > 1:
            return
        vote = 1 + total_vote if is_last else rate * float(np.log((1 - error) / error))
        total_vote += vote
        yield NumberRound(number, tree, vote, error)
        if is_last:
            return
        weight = scale_weights(weight, -vote * (1 - losses))
        if random_state is None:
            rows = data.with_weight(weight)


def _losses(distance: Floats, has_weight: NDArray[np.bool_], loss: Loss) -> Floats:
    """The loss of each row, in [0, 1]; 0 for rows without weight."""
    share = np.where(has_weight, distance, 0.0)
    largest = share.max()
    if largest > 0:
        share /= largest
    if loss == "square":
        return np.asarray(share**2)
    return share if loss == "linear" else -np.expm1(-share)


def _draw_counts(weight: Floats, random_state: int, number: int) -> Floats:
    """How often each row is drawn, by weight, in as many draws as there are rows with a weight."""
    draw = np.random.default_rng(np.random.SeedSequence(random_state, spawn_key=(number,)))
    return draw.multinomial(np.count_nonzero(weight), weight / weight.sum()).astype(np.float64)
