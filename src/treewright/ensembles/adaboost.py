"""AdaBoost: trees grown one after the other, each on weights that favour what the last ones got wrong.

    M1     ε < 1/2        correct rows times β = ε / (1 - ε)      vote ln(1/β)
    SAMME  ε < 1 - 1/K    wrong rows times e^α                    vote α = ln((1-ε)/ε) + ln(K-1)

(Freund and Schapire 1997; Zhu, Zou, Rosset and Hastie 2009.) For two classes both are the same. Only the
proportions of weights matter, so both are written as the second: wrong rows times e^vote.

**The bound.** Whatever the votes are, a row that the vote gets wrong has at least half of all votes against
its class, so e^(Σ vote·wrong - Σ vote/2) >= 1 for it. Summed over the rows this is

    training error <= Π (1-ε) e^(-vote/2) + ε e^(vote/2)

for any number of classes. With the votes of M1 each factor is 2√(ε(1-ε)) < 1. With those of SAMME it is
K/√(K-1)·√(ε(1-ε)), which is the same for two classes, but for more of them below 1 only where ε < 1/K: trees
that are worse than that can help in fact, but nothing is proved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from treewright.encoding import Dataset
from treewright.encoding.schema import Schema
from treewright.ensembles.totals import totals
from treewright.growing import grow, n_threads, whole_number
from treewright.growing.targets import check_rows
from treewright.tree.evaluate import encoded_rows, given_rows
from treewright.tree.missing import divides
from treewright.tree.predict import codes
from treewright.tree.shortcuts import Saved
from treewright.tree.tree import Tree, as_array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Algorithm = Literal["SAMME", "M1"]
Grower = Callable[[Dataset], Tree]

LEAST_WEIGHT = float(np.finfo(np.float64).eps)  # of a row that weighs something, as a share of all rows
_CHANCE = 1e-10  # an error so near to chance is chance: the weights themselves are rounded


class Round(NamedTuple):
    """What one round of boosting has found."""

    number: int  # from 1
    tree: Tree
    vote: float
    error: float  # ε: the share of this round's weight that the tree gets wrong
    training: float  # the error of all trees so far together, on the rows as they weighed at first


@dataclass(frozen=True, eq=False)
class Boosted(Saved):
    """Trees that vote, as AdaBoost has made them; `boost` is the door.

    Rows are a table, or a Dataset encoded with ``schema=boosted.schema``; where their classes are needed a
    Dataset with targets or a tuple (table, target) or (table, target, weights).
    """

    trees: tuple[Tree, ...]
    votes: Floats
    errors: Floats  # ε of each round
    training_errors: Floats  # of the vote after each round
    algorithm: Algorithm
    schema: Schema

    def __repr__(self) -> str:
        n = len(self.trees)
        return f"<Boosted: {n} tree{'s' * (n != 1)}, training error {100 * self.training_errors[-1]:.1f} %>"

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes in the order of all columns of scores."""
        return self.schema.targets[0].classes or ()

    @property
    def bounds(self) -> Floats:
        """What the errors of the rounds prove of the training error after each of them; see the module.

        Above 1 nothing is proved. A tree without an error decides alone: there the bound is 0.
        """
        half, error = np.exp(self.votes / 2), self.errors
        return np.asarray(np.cumprod(np.where(error > 0, (1 - error) / half + error * half, 0.0)))

    def scores(self, rows: Any, *, n_threads: int = 1) -> Floats:
        """The votes for each class, (rows, classes)."""
        data = self._encoded(rows)
        if any(divides(tree, data) for tree in self.trees):  # such a row has one answer, not those of leaves
            return self._last(self.staged_scores(data, n_threads=n_threads))
        told = [_told(tree, vote) for tree, vote in zip(self.trees, self.votes, strict=True)]
        return totals(self.trees, told, data, n_threads)

    def staged_scores(self, rows: Any, *, n_threads: int = 1) -> Iterator[Floats]:
        """The votes for each class after each round; the same array each time, which grows."""
        data = self._encoded(rows)
        scores = np.zeros((data.n_rows, len(self.classes)))
        for tree, vote in zip(self.trees, self.votes, strict=True):
            _add(scores, codes(tree, data, n_threads)[:, 0], vote)
            yield scores

    def predict(self, rows: Any) -> NDArray[Any]:
        """The class with the most votes for each row, the first of several."""
        return np.asarray(as_array(self.classes).take(self.scores(rows).argmax(axis=1)))

    def predict_proba(self, rows: Any) -> Floats:
        """Chances of the classes by the votes; see `chances_of`."""
        return chances_of(self.scores(rows), float(self.votes.sum()))

    def staged_errors(self, rows: Any) -> Floats:
        """The share of the weight of rows that the vote gets wrong, after each round."""
        data = self._judged(rows, judging=True)
        truth, weight = np.asarray(data.targets)[0], data.row_weights
        stages = self.staged_scores(data)
        return np.array([weight[scores.argmax(axis=1) != truth].sum() / weight.sum() for scores in stages])

    def margins(self, rows: Any, *, n_threads: int = 1) -> Floats:
        """How clearly each row is decided: from -1, all trees for one other class, to 1, all for its own.

        The votes for its class less those for the strongest other one, as a share of all votes.
        """
        data = self._judged(rows)
        return margins_of(self.scores(data, n_threads=n_threads), np.asarray(data.targets)[0])

    def plot(self, rows: Any = None, *, test: Any = None, axes: Any = None) -> tuple[Axes, Axes]:
        """Draw error and bound against rounds, and the margins of `rows`; needs matplotlib.

        Parameters
        ----------
        rows : Dataset or tuple (table, target), optional
            The training rows, whose margins are shown.
        test : Dataset or tuple (table, target), optional
            Other rows, whose error is shown beside that of training, and their margins.
        axes : pair of matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        """
        from treewright.plotting.adaboost import plot_adaboost

        return plot_adaboost(self, rows, test, axes)

    def _encoded(self, rows: Any) -> Dataset:
        data = encoded_rows(rows, "rows", self.schema)
        if data.schema is not self.schema and data.schema.columns != self.schema.columns:
            raise ValueError("the columns of rows are not those of the trees; encode with schema=…schema")
        return data

    def _judged(self, rows: Any, judging: bool = False) -> Dataset:
        return given_rows(self.trees[0], rows, "rows", judging=judging)

    @staticmethod
    def _last(stages: Iterator[Floats]) -> Floats:
        scores = next(stages)
        for _ in stages:  # one array, which grows
            pass
        return scores


def boost(
    data: Dataset,
    *,
    rounds: int = 50,
    algorithm: Algorithm = "SAMME",
    learning_rate: float = 1.0,
    grower: Callable[[Dataset, int], Tree] | None = None,
    n_jobs: int | None = None,
    progress: Callable[[Round], object] | None = None,
    **growing: Any,
) -> Boosted:
    """Boost trees by AdaBoost: each is grown on weights that favour the rows the last ones got wrong.

    It ends before its time where a tree makes no error (it then has more votes than all others together, so
    that it alone decides), or where one is no better than chance (it gets no vote).

    Parameters
    ----------
    data : Dataset
        Rows with the classes of one target. Their weights, if any, are where boosting starts.
    rounds : int
        The most trees.
    algorithm : {"SAMME", "M1"}
        Of several classes SAMME takes any tree that is better than guessing among them; M1 needs trees that
        are right more often than not, and then its bound holds. For two classes they are the same.
    learning_rate : float
        A factor of all votes. Less than 1 takes more rounds.
    grower : callable, optional
        Makes a tree of a Dataset and the number of the round, from 0: so that pruning takes part. It must
        heed the weights.
    n_jobs : int, optional
        Threads for each tree: None is 1, -1 all cores. The result is the same for any number.
    progress : callable, optional
        Called after each round with what it found, a `Round`. What it raises ends the boosting.
    **growing
        How to grow: keyword arguments of `grow`; stumps, ``max_depth=1``, by default.

    Returns
    -------
    Boosted

    Examples
    --------
    >>> from treewright import encode
    >>> data = encode({"x": range(10)}, list("aaabbbbaaa"))
    >>> boosted = boost(data, rounds=3)
    >>> boosted.training_errors.round(2).tolist(), boosted.bounds.round(2).tolist()
    ([0.3, 0.3, 0.0], [0.92, 0.75, 0.58])
    >>> boosted.predict({"x": [0, 5, 9]}).tolist()
    ['a', 'b', 'a']
    """
    check_boostable(data, classes=True)
    most, rate = whole_number("rounds", rounds, 1), checked_rate(learning_rate)
    if algorithm not in get_args(Algorithm):
        raise ValueError(f"algorithm is {algorithm!r}; it must be 'SAMME' or 'M1'")
    grown = grower_of(grower, growing, n_jobs, {"max_depth": 1})
    data.bins(n_threads(n_jobs))  # once for all trees
    found = []
    for each in _rounds(data, most, algorithm, rate, grown, n_threads(n_jobs)):
        found.append(each)
        if progress is not None:
            progress(each)
    _, trees, votes, errors, training = zip(*found, strict=True)
    return Boosted(trees, np.array(votes), np.array(errors), np.array(training), algorithm, data.schema)


def _rounds(
    data: Dataset, most: int, algorithm: Algorithm, rate: float, grown: Callable[..., Tree], threads: int
) -> Iterator[Round]:
    first, truth = data.row_weights, np.asarray(data.targets)[0]
    n_classes = len(np.unique(truth[data.counted]))  # a class without weight is as good as absent
    odds = n_classes - 1.0 if algorithm == "SAMME" else 1.0
    chance = 1 - 1 / max(n_classes, 2) if algorithm == "SAMME" else 0.5
    scores, rows, weight = np.zeros((data.n_rows, len(data.schema.targets[0].classes or ()))), data, first
    spent = 0.0
    for number in range(1, most + 1):
        tree = grown(rows, number - 1)
        said = codes(tree, data, threads)[:, 0]
        wrong = said != truth
        error = float(weight[wrong].sum() / weight.sum())
        if error >= chance - _CHANCE:
            if number == 1:
                raise ValueError(_no_better(error, algorithm, n_classes))
            return
        vote = 1 + spent if error == 0 else rate * float(np.log((1 - error) / error * odds))
        _add(scores, said, vote)
        spent += vote
        yield Round(
            number, tree, vote, error, float(first[scores.argmax(axis=1) != truth].sum() / first.sum())
        )
        if error == 0:
            return
        weight = lifted(weight, vote * wrong)
        rows = data.reweighted(weight)


def _no_better(error: float, algorithm: Algorithm, n_classes: int) -> str:
    what = f"{100 * error:.1f} % of the weight wrong"
    if algorithm == "M1" and n_classes > 2 and error < 1 - 1 / n_classes - _CHANCE:
        return (
            f"the first tree gets {what}, but M1 needs trees that are right more often than not; let them "
            f"grow deeper, or take algorithm='SAMME', which is for {n_classes} classes"
        )
    return f"the first tree gets {what}, which is no better than chance: let the trees grow deeper"


def lifted(weight: Floats, nats: Floats) -> Floats:
    """Weights times e^nats, scaled to the same total, so that limits in weights mean the same in each round.

    By logarithms, so that nothing leaves the range of floating point. A row that weighs something never
    weighs less than a 2⁻⁵²th of all: what the weights of the core can tell from nothing.

    >>> lifted(np.array([1.0, 1.0, 0.0]), np.array([np.log(3.0), 0.0, 9.0])).tolist()
    [1.5, 0.5, 0.0]
    """
    counted = weight > 0
    logarithm = np.log(weight[counted]) + nats[counted]
    share = np.exp(logarithm - logarithm.max())
    share = np.maximum(share / share.sum(), LEAST_WEIGHT)
    result = np.zeros_like(weight)
    result[counted] = share * (weight.sum() / share.sum())
    return result


def decision_of(scores: Floats, total: float) -> Floats:
    """scikit-learn's decision function of votes: for each class its own less the mean of the others', of all.

    Of two classes one number, twice the difference of their shares. That is how scikit-learn has it.

    >>> decision_of(np.array([[1.0, 3.0]]), 4.0).tolist()
    [1.0]
    >>> decision_of(np.array([[0.0, 4.0, 0.0]]), 4.0).tolist()
    [[-0.5, 1.0, -0.5]]
    """
    n_classes = scores.shape[1]
    if n_classes == 1:
        return np.zeros((len(scores), 1))
    if n_classes == 2:
        return np.asarray(2 * (scores[:, 1] - scores[:, 0]) / total)
    return np.asarray((scores - (total - scores) / (n_classes - 1)) / total)


def chances_of(scores: Floats, total: float) -> Floats:
    """Chances of the classes, (rows, classes), as scikit-learn has them for SAMME.

    The softmax of f/(K-1), where f is the decision function (Zhu et al., equation 15) as a share of all
    votes: so they are never far from each other, and tell the order of classes rather than their odds.
    """
    n_classes = scores.shape[1]
    decision = decision_of(scores, total)
    if n_classes == 1:
        return np.ones((len(scores), 1))
    f = np.stack([-decision, decision], axis=1) / 2 if n_classes == 2 else decision / (n_classes - 1)
    chances = np.exp(f - f.max(axis=1, keepdims=True))
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))


def margins_of(scores: Floats, truth: NDArray[np.integer]) -> Floats:
    """The votes of the true class less those of the strongest other one, as a share of all.

    >>> margins_of(np.array([[3.0, 1.0, 0.0], [3.0, 1.0, 0.0]]), np.array([0, 2])).tolist()
    [0.5, -0.75]
    """
    rows, others = np.arange(len(scores)), scores.copy()
    others[rows, truth] = 0.0  # as good as a class without votes
    return np.asarray((scores[rows, truth] - others.max(axis=1)) / scores.sum(axis=1))


def grower_of(
    grower: Callable[[Dataset, int], Tree] | None,
    growing: dict[str, Any],
    n_jobs: int | None,
    usual: dict[str, Any],
) -> Callable[[Dataset, int], Tree]:
    """What makes the tree of a round: the one given, or `grow` with the options given or the usual ones."""
    if grower is None:
        options = {"n_jobs": n_jobs, **(growing or usual)}
        return lambda rows, _: grow(rows, **options)
    if growing:
        raise TypeError(f"give a grower or how to grow, not both: {', '.join(sorted(growing))}")
    return grower


def check_boostable(data: Dataset, *, classes: bool) -> None:
    """Refuse rows without a target, with several, of the other kind, or that all weigh nothing."""
    check_rows(data)
    targets = data.schema.targets
    if len(targets) > 1:
        raise ValueError(f"AdaBoost is for one target; the table has {len(targets)}")
    if data.schema.predicts_classes != classes:
        wanted, given = ("classes", "numbers") if classes else ("numbers", "classes")
        raise ValueError(f"this boosting is for {wanted}; the target {targets[0].name!r} has {given}")
    if not data.n_counted:
        raise ValueError("there are no rows to boost" + (" that weigh something" if data.n_rows else ""))


def checked_rate(learning_rate: Any) -> float:
    """A learning rate as a float: finite and above 0."""
    try:
        rate = float(learning_rate)
    except (TypeError, ValueError):
        rate = np.nan
    if not 0 < rate < np.inf:
        raise ValueError(f"learning_rate is {learning_rate!r}; it must be a finite number above 0")
    return rate


def _told(tree: Tree, vote: float) -> Floats:
    """What each node says: its vote for the class that it answers."""
    told = np.zeros((tree.n_nodes, len(tree.schema.targets[0].classes or ())))
    _add(told, tree.label[:, 0], vote)
    return told


def _add(scores: Floats, said: NDArray[np.integer], vote: float) -> None:
    scores[np.arange(len(scores)), said] += vote
