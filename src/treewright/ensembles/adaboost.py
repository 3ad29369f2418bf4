"""AdaBoost: trees grown one after the other, each on weights that favour the mistakes of those before.

    M1     ε < 1/2        correct rows times β = ε / (1 - ε)      vote ln(1/β)
    SAMME  ε < 1 - 1/K    wrong rows times e^α                    vote α = ln((1-ε)/ε) + ln(K-1)

(Freund and Schapire 1997; Zhu, Zou, Rosset and Hastie 2009.) For two classes both are the same. Only the
proportions of weights matter, so both are written as the second: wrong rows times e^vote.

**The bound.** Whatever the votes are, a row that the vote gets wrong has at least half of all votes against
its class, so e^(Σ vote·wrong - Σ vote/2) >= 1 for it. Summed over the rows this is

    training error <= Π (1-ε) e^(-vote/2) + ε e^(vote/2)

for any number of classes. With the votes of M1 each factor is 2√(ε(1-ε)) < 1. With those of SAMME it is
K/√(K-1)·√(ε(1-ε)), the same for two classes, but for more classes below 1 only if ε < 1/K. Worse trees may
help, but the bound does not show it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from treewright._display import Layout, Shown
from treewright._suggestions import also_takes, checked_keywords
from treewright._text import percent
from treewright.encoding import Dataset
from treewright.encoding.rows import encoded_rows, takes_rows
from treewright.encoding.schema import Schema
from treewright.ensembles.facts import tree_facts
from treewright.ensembles.totals import TreeSum
from treewright.growing import grow, n_threads, whole_number
from treewright.growing.targets import check_rows
from treewright.parameters import GROW
from treewright.tree.evaluate import given_rows
from treewright.tree.missing import divides
from treewright.tree.predict import codes
from treewright.tree.shortcuts import Saved
from treewright.tree.tree import Tree, as_array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Algorithm = Literal["SAMME", "M1"]
R = TypeVar("R")

LEAST_WEIGHT = float(np.finfo(np.float64).eps)  # of a row with a weight, as a share of all rows
_CHANCE = 1e-10  # an error this close to chance counts as chance: weights are rounded


class Round(NamedTuple):
    """One round of boosting."""

    number: int  # from 1
    tree: Tree
    vote: float
    error: float  # ε: the share of this round's weight that the tree gets wrong
    training: float  # the error of the vote of all trees so far, with the original weights


@dataclass(frozen=True, eq=False)
class Boosted(Saved, Shown):
    """Trees that vote, made by `boost`.

    Rows are a table, or a Dataset encoded with ``schema=boosted.schema``; methods that need the classes take
    a Dataset with targets, or a tuple (table, target) or (table, target, weights).
    """

    trees: tuple[Tree, ...]
    votes: Floats
    errors: Floats  # ε of each round
    training_errors: Floats  # of the vote after each round
    algorithm: Algorithm
    schema: Schema

    def _layout(self) -> Layout:
        facts = tree_facts(self.trees, self.schema)
        facts["training error"] = percent(float(self.training_errors[-1]))
        return Layout.of_facts("Boosted", facts)

    def __repr__(self) -> str:
        n = len(self.trees)
        return f"<Boosted: {n} tree{'s' * (n != 1)}, training error {100 * self.training_errors[-1]:.1f} %>"

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes in the order of all columns of scores."""
        return self.schema.targets[0].classes or ()

    @property
    def bounds(self) -> Floats:
        """Upper bounds of the training error after each round; see the module.

        A bound above 1 says nothing. A tree without an error decides alone: its bound is 0.
        """
        half, error = np.exp(self.votes / 2), self.errors
        return np.asarray(np.cumprod(np.where(error > 0, (1 - error) / half + error * half, 0.0)))

    def scores(self, rows: Any, *, n_jobs: int | None = None) -> Floats:
        """The votes for each class, (rows, classes)."""
        data = self._encode(rows)
        if any(divides(tree, data) for tree in self.trees):  # such a row has one prediction, not several
            return deque(self.staged_scores(data, n_jobs=n_jobs), maxlen=1).pop()
        votes = [_node_votes(tree, vote) for tree, vote in zip(self.trees, self.votes, strict=True)]
        return TreeSum.of(self.trees, votes).totals(data, n_threads(n_jobs))

    def staged_scores(self, rows: Any, *, n_jobs: int | None = None) -> Iterator[Floats]:
        """The votes for each class after each round; one array, updated in place."""
        data = self._encode(rows)
        scores, threads = np.zeros((data.n_rows, len(self.classes))), n_threads(n_jobs)
        for tree, vote in zip(self.trees, self.votes, strict=True):
            _add_votes(scores, codes(tree, data, threads)[:, 0], vote)
            yield scores

    def predict(self, rows: Any) -> NDArray[Any]:
        """The class with the most votes for each row, the first of several."""
        return np.asarray(as_array(self.classes).take(self.scores(rows).argmax(axis=1)))

    def predict_proba(self, rows: Any) -> Floats:
        """Probabilities of the classes by the votes; see `vote_probabilities`."""
        return vote_probabilities(self.scores(rows), float(self.votes.sum()))

    def staged_errors(self, rows: Any) -> Floats:
        """The weighted error of the vote after each round."""
        data = given_rows(self.trees[0], rows, "rows", judging=True)
        truth, weight = np.asarray(data.targets)[0], data.row_weights
        stages = self.staged_scores(data)
        return np.array([weight[scores.argmax(axis=1) != truth].sum() / weight.sum() for scores in stages])

    @checked_keywords
    def margins(self, rows: Any, *, n_jobs: int | None = None) -> Floats:
        """The margin of each row, from -1 (all votes for one wrong class) to 1 (all for the true class).

        The votes for the true class less those for the strongest other one, as a share of all votes.
        """
        data = given_rows(self.trees[0], rows, "rows")
        return vote_margins(self.scores(data, n_jobs=n_jobs), np.asarray(data.targets)[0])

    @checked_keywords
    def plot(self, rows: Any = None, *, test: Any = None, axes: Any = None) -> tuple[Axes, Axes]:
        """Plot error and bound against rounds, and the margins of `rows`; needs matplotlib.

        Parameters
        ----------
        rows : Dataset or tuple (table, target), optional
            The training rows, whose margins are plotted.
        test : Dataset or tuple (table, target), optional
            Other rows, whose error and margins are plotted as well.
        axes : pair of matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        """
        from treewright.plotting.adaboost import plot_adaboost

        return plot_adaboost(self, rows, test, axes)

    def _encode(self, rows: Any) -> Dataset:
        data = encoded_rows(rows, "rows", self.schema)
        if data.schema is not self.schema and data.schema.columns != self.schema.columns:
            raise ValueError("the columns of rows are not those of the trees; encode with schema=…schema")
        return data


@also_takes(GROW)
@takes_rows
def boost(
    data: Dataset,
    /,
    *,
    n_estimators: int = 50,
    algorithm: Algorithm = "SAMME",
    learning_rate: float = 1.0,
    grower: Callable[[Dataset, int], Tree] | None = None,
    n_jobs: int | None = None,
    progress: Callable[[Round], object] | None = None,
    **growing: Any,
) -> Boosted:
    """Boost trees by AdaBoost: each is grown on weights that favour the mistakes of those before.

    Boosting stops early if a tree makes no error (it then gets more votes than all others together, so that
    it decides alone), or if a tree is no better than chance (it gets no vote).

    Parameters
    ----------
    data : table, tuple (table, target) or (table, target, weight), or Dataset
        Rows with the classes of one target. Their weights, if any, are where boosting starts.
    n_estimators : int
        The largest number of trees.
    algorithm : {"SAMME", "M1"}
        For several classes, SAMME accepts any tree that is better than guessing; M1 needs trees with an error
        below 50 %, and its bound then falls with every round. For two classes they are the same.
    learning_rate : float
        A factor of all votes. Less than 1 takes more rounds.
    grower : callable, optional
        Makes a tree from a Dataset and the number of the round, from 0; it can prune, for example. It must
        respect the weights.
    n_jobs : int, optional
        Threads for each tree: None is 1, -1 all cores. The result is the same for any number.
    progress : callable, optional
        Called after each round with a `Round`. An exception that it raises ends the boosting.
    **growing
        How to grow: keyword arguments of `grow`; stumps, ``max_depth=1``, by default.

    Returns
    -------
    Boosted

    Examples
    --------
    >>> from treewright import encode
    >>> data = encode({"x": range(10)}, list("aaabbbbaaa"))
    >>> boosted = boost(data, n_estimators=3)
    >>> boosted.training_errors.round(2).tolist(), boosted.bounds.round(2).tolist()
    ([0.3, 0.3, 0.0], [0.92, 0.75, 0.58])
    >>> boosted.predict({"x": [0, 5, 9]}).tolist()
    ['a', 'b', 'a']
    """
    check_boostable(data, classes=True)
    most, rate = whole_number("n_estimators", n_estimators, 1), positive_rate(learning_rate)
    if algorithm not in get_args(Algorithm):
        raise ValueError(f"algorithm is {algorithm!r}; it must be 'SAMME' or 'M1'")
    grow_tree = tree_grower(grower, growing, n_jobs, {"max_depth": 1})
    data.bins(n_threads(n_jobs))  # once for all trees
    made = _rounds(data, most, algorithm, rate, grow_tree, n_threads(n_jobs))
    _, trees, votes, errors, training = zip(*each_round(made, progress), strict=True)
    return Boosted(trees, np.array(votes), np.array(errors), np.array(training), algorithm, data.schema)


def _rounds(
    data: Dataset, most: int, algorithm: Algorithm, rate: float, grow_tree: Callable[..., Tree], threads: int
) -> Iterator[Round]:
    first, truth = data.row_weights, np.asarray(data.targets)[0]
    n_classes = len(np.unique(truth[data.counted]))  # classes without weight do not count
    odds = n_classes - 1.0 if algorithm == "SAMME" else 1.0
    chance = 1 - 1 / max(n_classes, 2) if algorithm == "SAMME" else 0.5
    scores, rows, weight = np.zeros((data.n_rows, len(data.schema.targets[0].classes or ()))), data, first
    total_vote = 0.0
    for number in range(1, most + 1):
        tree = grow_tree(rows, number - 1)
        predicted = codes(tree, data, threads)[:, 0]
        wrong = predicted != truth
        error = float(weight[wrong].sum() / weight.sum())
        if error >= chance - _CHANCE:
            if number == 1:
                raise ValueError(_no_better(error, algorithm, n_classes))
            return
        vote = 1 + total_vote if error == 0 else rate * float(np.log((1 - error) / error * odds))
        _add_votes(scores, predicted, vote)
        total_vote += vote
        yield Round(
            number, tree, vote, error, float(first[scores.argmax(axis=1) != truth].sum() / first.sum())
        )
        if error == 0:
            return
        weight = scale_weights(weight, vote * wrong)
        rows = data.with_weight(weight)


def each_round(rounds: Iterable[R], progress: Callable[[R], object] | None) -> Iterator[R]:
    """The rounds; `progress` is called after each."""
    for each in rounds:
        if progress is not None:
            progress(each)
        yield each


def _no_better(error: float, algorithm: Algorithm, n_classes: int) -> str:
    what = f"{100 * error:.1f} % of the weight wrong"
    if algorithm == "M1" and n_classes > 2 and error < 1 - 1 / n_classes - _CHANCE:
        return (
            f"the first tree gets {what}, but M1 needs trees with an error below 50 %; grow deeper trees, or "
            f"use algorithm='SAMME', which is for {n_classes} classes"
        )
    return f"the first tree gets {what}, which is no better than chance: grow deeper trees"


def scale_weights(weight: Floats, nats: Floats) -> Floats:
    """Weights times e^nats, scaled to the same total, so that limits in weights mean the same in each round.

    Computed by logarithms, so that nothing overflows. The share of a row with a weight never falls below
    2⁻⁵², the smallest that the core can tell from 0.

    >>> scale_weights(np.array([1.0, 1.0, 0.0]), np.array([np.log(3.0), 0.0, 9.0])).tolist()
    [1.5, 0.5, 0.0]
    """
    positive = weight > 0
    logarithm = np.log(weight[positive]) + nats[positive]
    share = np.exp(logarithm - logarithm.max())
    share = np.maximum(share / share.sum(), LEAST_WEIGHT)
    result = np.zeros_like(weight)
    result[positive] = share * (weight.sum() / share.sum())
    return result


def decision_function(scores: Floats, total: float) -> Floats:
    """The decision function of scikit-learn: for each class its votes less the mean of the others, as a share
    of all votes; for two classes one number, twice the difference of their shares.

    >>> decision_function(np.array([[1.0, 3.0]]), 4.0).tolist()
    [1.0]
    >>> decision_function(np.array([[0.0, 4.0, 0.0]]), 4.0).tolist()
    [[-0.5, 1.0, -0.5]]
    """
    n_classes = scores.shape[1]
    if n_classes == 1:
        return np.zeros((len(scores), 1))
    if n_classes == 2:
        return np.asarray(2 * (scores[:, 1] - scores[:, 0]) / total)
    return np.asarray((scores - (total - scores) / (n_classes - 1)) / total)


def vote_probabilities(scores: Floats, total: float) -> Floats:
    """Probabilities of the classes, (rows, classes), as in scikit-learn for SAMME.

    The softmax of f/(K-1), where f is the decision function (Zhu et al., equation 15) as a share of all
    votes. They are therefore close to each other: they order the classes rather than give their odds.
    """
    n_classes = scores.shape[1]
    decision = decision_function(scores, total)
    if n_classes == 1:
        return np.ones((len(scores), 1))
    f = np.stack([-decision, decision], axis=1) / 2 if n_classes == 2 else decision / (n_classes - 1)
    odds = np.exp(f - f.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def vote_margins(scores: Floats, truth: NDArray[np.integer]) -> Floats:
    """The votes for the true class less those for the strongest other one, as a share of all.

    >>> vote_margins(np.array([[3.0, 1.0, 0.0], [3.0, 1.0, 0.0]]), np.array([0, 2])).tolist()
    [0.5, -0.75]
    """
    rows, others = np.arange(len(scores)), scores.copy()
    others[rows, truth] = 0.0  # equivalent to a class without votes
    return np.asarray((scores[rows, truth] - others.max(axis=1)) / scores.sum(axis=1))


def tree_grower(
    grower: Callable[[Dataset, int], Tree] | None,
    growing: dict[str, Any],
    n_jobs: int | None,
    defaults: dict[str, Any],
) -> Callable[[Dataset, int], Tree]:
    """The function that grows the tree of a round: `grower`, or `grow` with options or their defaults."""
    if grower is None:
        options = {"n_jobs": n_jobs, **(growing or defaults)}
        return lambda rows, _: grow(rows, **options)
    if growing:
        raise TypeError(f"give a grower or how to grow, not both: {', '.join(sorted(growing))}")
    return grower


def check_boostable(data: Dataset, *, classes: bool) -> None:
    """ValueError for rows without a target, with several, of the wrong kind, or without weight."""
    check_rows(data)
    targets = data.schema.targets
    if len(targets) > 1:
        raise ValueError(f"AdaBoost is for one target; the table has {len(targets)}")
    if data.schema.predicts_classes != classes:
        own, other = ("classes", "numbers") if classes else ("numbers", "classes")
        raise ValueError(f"this boosting is for {own}; the target {targets[0].name!r} has {other}")
    if not data.n_counted:
        raise ValueError("there are no rows to boost" + (" with a weight" if data.n_rows else ""))


def positive_rate(learning_rate: Any) -> float:
    """A learning rate as a float: finite and above 0."""
    try:
        rate = float(learning_rate)
    except (TypeError, ValueError):
        rate = np.nan
    if not 0 < rate < np.inf:
        raise ValueError(f"learning_rate is {learning_rate!r}; it must be a finite number above 0")
    return rate


def _node_votes(tree: Tree, vote: float) -> Floats:
    """The votes of each node, (nodes, classes): all for the class that it predicts."""
    votes = np.zeros((tree.n_nodes, len(tree.schema.targets[0].classes or ())))
    _add_votes(votes, tree.label[:, 0], vote)
    return votes


def _add_votes(scores: Floats, classes: NDArray[np.integer], vote: float) -> None:
    scores[np.arange(len(scores)), classes] += vote
