"""Out-of-bag estimates of the error of a forest and of the importance of its columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright._display import Layout, Shown
from treewright._suggestions import checked_keywords
from treewright._text import escape, percent
from treewright.certifying.losses import loss_name
from treewright.encoding import Dataset
from treewright.encoding.rows import encoded_rows
from treewright.ensembles.forest import Forest
from treewright.ensembles.permutation import shuffled_rises
from treewright.ensembles.side_by_side import Listener, results_in_order, side_by_side
from treewright.ensembles.totals import has_simple_routes
from treewright.growing import n_threads
from treewright.plotting.explanations import Bars, plot_importance
from treewright.plotting.forests import plot_out_of_bag
from treewright.tree import Tree
from treewright.tree.evaluate import prediction_losses, rows_of
from treewright.tree.oblique import asked_columns
from treewright.tree.predict import answers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

_TRIED = 3  # trees by which the training rows are recognised
_MOST_LINES = 30  # columns that a notebook shows
_SHUFFLE = 2  # the purpose of the random stream that shuffles columns


@dataclass(frozen=True, eq=False)
class OutOfBag(Shown):
    """The votes for each row of the trees that were not grown from it.

    >>> from treewright import encode, grow_forest
    >>> from treewright.ensembles import out_of_bag
    >>> data = encode({"x": list(range(40))}, ["a"] * 20 + ["b"] * 20)
    >>> out = out_of_bag(grow_forest(data, n_estimators=30), data)
    >>> out.loss <= 0.1, len(out.curve)
    (True, 30)
    """

    sums: Floats  # (rows, classes of all targets), or numbers
    votes: NDArray[np.int64]  # the number of trees that voted for each row
    answers: NDArray[Any]  # (rows, targets): codes or numbers; of rows without votes 0 or NaN
    # the mean loss after each tree, over the rows with votes by then: the error, or the squared error
    curve: Floats

    @property
    def loss(self) -> float:
        """The mean loss with all trees."""
        return float(self.curve[-1])

    @checked_keywords
    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the loss after each tree; needs matplotlib."""
        return plot_out_of_bag(self, ax)

    def _layout(self) -> Layout:
        is_share = self.answers.dtype.kind != "f"
        facts = {
            "trees": f"{len(self.curve):,}",
            "error" if is_share else "squared error": percent(self.loss) if is_share else f"{self.loss:.4g}",
            "rows with votes": f"{np.count_nonzero(self.votes):,} of {len(self.votes):,}",
        }
        return Layout.of_facts("Out-of-bag votes", facts)

    @property
    def means(self) -> Floats:
        """The shares of the votes, or the mean numbers, (rows, …); NaN for rows without votes."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.sums / self.votes[:, np.newaxis])


def out_of_bag(forest: Forest, data: Any, *, n_jobs: int | None = None) -> OutOfBag:
    """The votes of each tree for its out-of-bag rows; `data` are the training rows, a Dataset or a tuple
    (table, target).

    All rows with a weight count the same in the losses, as in scikit-learn's scores.
    """
    data = encoded_rows(data, "data", forest.schema)
    targets = training_targets(forest, data)
    schema, n = forest.schema, data.n_rows
    width = schema.width if schema.predicts_classes else len(schema.targets)
    sums, votes, losses = np.zeros((n, width)), np.zeros(n, np.int64), np.zeros(n)
    answers: NDArray[Any] = np.full((n, len(schema.targets)), 0 if schema.predicts_classes else np.nan)
    curve: list[float] = []
    so_far = np.zeros(2)  # the loss and the number of the rows that have votes

    def vote(member: int, _: Listener) -> tuple[NDArray[np.intp], Floats]:
        rows = forest.draws.left_out(member)
        return rows, forest.tree_votes(member, _take(data, rows))

    def count(vote_of_tree: tuple[NDArray[np.intp], Floats]) -> None:
        rows, tree_votes = vote_of_tree
        is_new = votes[rows] == 0
        sums[rows] += tree_votes
        votes[rows] += 1
        answers[rows] = forest.decide(sums[rows], votes[rows])
        loss = _row_losses(forest, answers[rows], targets[:, rows])
        so_far[0] += (loss - losses[rows]).sum()
        so_far[1] += np.count_nonzero(is_new)
        losses[rows] = loss
        curve.append(so_far[0] / so_far[1] if so_far[1] > 0 else np.nan)

    side_by_side(vote, range(len(forest)), n_threads(n_jobs), count)
    if votes.any():
        curve[-1] = float(losses[votes > 0].mean())  # not by differences, which are rounded
    return OutOfBag(sums, votes, answers, np.array(curve))


def votes_against(forest: Forest, data: Any, n_jobs: int | None = None) -> tuple[Floats, NDArray[np.bool_]]:
    """The votes against the true class of out-of-bag rows, and which rows these are for each tree: two
    matrices (trees, rows), as `certify_votes` takes them. `data` as for `out_of_bag`.

    If the forest misclassifies a row, at least half of the votes are against its class: of hard votes, where
    the most frequent prediction wins, and of soft ones, where the largest mean share does. This does not hold
    for soft votes with costs, which are refused.
    """
    data = encoded_rows(data, "data", forest.schema)
    targets = training_targets(forest, data)
    if not forest.schema.predicts_classes or len(forest.schema.targets) > 1:
        raise ValueError("votes are for or against a class: that takes one target of classes")
    if forest.schema.has_costs and forest.voting == "soft":
        raise ValueError(
            "the trees have costs or priors, and the forest predicts the class of the smallest expected "
            "cost, which may have few of the votes: the votes against a class do not bound its error. "
            "Certify by rows that no tree has seen, or let the trees vote by voting='hard'"
        )
    if forest.draws.replace and not data.weighs_alike:
        raise ValueError(
            "rows were drawn by their weights: heavy ones are hardly ever out of bag, so that the others are "
            "not a fair sample; certify by rows that no tree has seen"
        )
    against = np.zeros((len(forest), data.n_rows))
    unseen = np.zeros(against.shape, np.bool_)

    def vote(member: int, _: Listener) -> int:
        rows = forest.draws.left_out(member)
        votes = forest.tree_votes(member, _take(data, rows))
        unseen[member, rows] = True
        own = votes[np.arange(len(rows)), targets[0, rows]]
        against[member, rows] = np.clip(1.0 - own, 0.0, 1.0)  # mixtures of leaves are rounded
        return member

    side_by_side(vote, range(len(forest)), n_threads(n_jobs), lambda _: None)
    return against, unseen


def training_targets(forest: Forest, data: Dataset) -> NDArray[Any]:
    """The targets of the training rows; ValueError unless `data` are these rows, in their order."""
    if not forest.draws.leaves_rows_out:
        raise ValueError(
            "every tree of this forest was grown from all rows: there are none out of bag; draw rows by "
            "bootstrap=True or max_samples="
        )
    if data.targets is None:
        raise ValueError("data has no target; encode the table with target=")
    refuse_other_rows(forest, data)
    return np.asarray(data.targets)


def refuse_other_rows(forest: Forest, data: Dataset) -> None:
    """ValueError for rows that cannot be the training rows, in their order."""
    if not forest.draws.are_of(data):
        raise ValueError(
            f"these are not the training rows: the forest was grown from {forest.draws.n_rows:,} rows, and "
            f"data has {data.n_rows:,}, or other weights"
        )
    if not all(_are_as_drawn(forest, member, data) for member in range(min(_TRIED, len(forest)))):
        raise ValueError(
            "these are not the training rows in their order, with their targets: the nodes of the first "
            "trees have other rows than were drawn for them, and out-of-bag rows are known by their "
            "position"
        )


def _are_as_drawn(forest: Forest, member: int, data: Dataset) -> bool:
    """Whether the rows drawn for a tree are distributed over its nodes as when it was grown.

    Also True if this is unknown: if some of the rows were set aside for pruning. Weights of classes may
    differ by a factor for each class, the same at every node.
    """
    sample, tree = data.with_weight(forest.draws.weights(member)), forest.trees[member]
    if tree.rows[0] != sample.n_counted:
        return True
    if data.targets is None or not tree.schema.predicts_classes:
        return np.array_equal(rows_of(tree, sample), tree.rows)
    own, other = tree.statistic, tree.statistic_of(sample)
    if not isinstance(own, np.ndarray) or len(tree.schema.targets) > 1:
        return np.array_equal(rows_of(tree, sample), tree.rows)
    factor = np.divide(own[0], other[0], out=np.zeros_like(own[0]), where=other[0] > 0)
    return np.allclose(own, other * factor, rtol=1e-6)


def _row_losses(forest: Forest, answers: NDArray[Any], targets: NDArray[Any]) -> Floats:
    """The loss of each row, averaged over the targets: 0 or 1 (or costs), or squared errors."""
    if not forest.schema.predicts_classes:
        return np.asarray(((answers - targets.T) ** 2).mean(axis=1))
    return prediction_losses(forest.trees[0], answers, targets) / len(targets)


def _take(data: Dataset, rows: NDArray[np.intp]) -> Dataset:
    """Some rows to predict; no bins are copied."""
    if isinstance(data.columns, np.ndarray):
        return Dataset(data.schema, data.columns[rows])
    return Dataset(data.schema, tuple(column[rows] for column in data.columns))


class ColumnImportance(NamedTuple):
    """The importance of one column for a forest."""

    column: str
    rise: float  # of the mean loss of a tree on its out-of-bag rows when the column is shuffled
    error: float  # the standard error of the rise over the trees
    gain: float  # its share of the gain of all splits: biased


@dataclass(frozen=True)
class ForestImportance(Shown):
    """The importance of each column, in the order of the schema; ``print`` shows the most useful first."""

    columns: tuple[ColumnImportance, ...]
    loss: str

    @property
    def rises(self) -> Floats:
        """The rise of the loss when each column is shuffled."""
        return np.array([column.rise for column in self.columns])

    @property
    def ranked(self) -> tuple[ColumnImportance, ...]:
        """The most useful first."""
        return tuple(sorted(self.columns, key=lambda column: (-column.rise, -column.gain)))

    @property
    def bars(self) -> Bars:
        """The numbers of its plot; the intervals are one standard error long."""
        error = np.array([column.error for column in self.columns])
        names, rises = tuple(column.column for column in self.columns), self.rises
        label = f"rise of the mean {self.loss} when shuffled, ± standard error"
        return Bars(names, rises, label, self.loss == "error", rises - error, rises + error)

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Plot it as bars; the options are those of `treewright.plot_importance`."""
        return plot_importance(self, ax, **options)

    def _layout(self, most: int = _MOST_LINES) -> Layout:
        in_percent = self.loss == "error"
        head, lines = ["column", f"{self.loss} rises by", "± standard error", "risk reduction (biased)"], []
        for column, rise, error, gain in self.ranked[:most]:
            words = [f"{100 * x:.2f} points" if in_percent else f"{x:.4g}" for x in (rise, error)]
            lines.append([escape(column), *words, percent(gain)])
        note = (
            "The rise of the mean loss of a tree on its out-of-bag rows when the column is shuffled among "
            "them, averaged over the trees."
        )
        return Layout([], head, lines, (1, 2, 3), ["", note])

    def __str__(self) -> str:
        return self._layout(len(self.columns)).text()


def importance_of(forest: Forest, data: Any, n_jobs: int | None = None) -> ForestImportance:
    """Permutation importance by out-of-bag rows (Breiman 2001); `data` as for `out_of_bag`.

    Each tree predicts its out-of-bag rows, as they are and with one column shuffled; the mean rise of the
    loss over all trees is the importance of the column, 0 for a tree that does not test it. If rows were
    drawn by weight, out-of-bag rows are mostly light ones.

    >>> from treewright import encode, grow_forest
    >>> data = encode({"x": list(range(40)), "z": [0, 1] * 20}, ["a"] * 20 + ["b"] * 20)
    >>> worth = importance_of(grow_forest(data, n_estimators=30, max_features=2), data)
    >>> worth.ranked[0].column
    'x'
    """
    data = encoded_rows(data, "data", forest.schema)
    training_targets(forest, data)
    schema = forest.schema

    def rises(member: int, listener: Listener) -> Floats:
        tree, random = forest.trees[member], forest.draws.random(member, _SHUFFLE)
        rows = forest.draws.left_out(member)
        if has_simple_routes(tree) and tree.linear is None:
            return shuffled_rises(tree, data, rows, random)
        return _rises_by_column(tree, data, rows, random, listener)

    all_rises = np.array(results_in_order(rises, range(len(forest)), n_threads(n_jobs)))
    error = all_rises.std(axis=0, ddof=min(1, len(forest) - 1)) / np.sqrt(len(forest))
    shares = forest.gain_shares
    numbers = np.stack([all_rises.mean(axis=0), error, shares], axis=1).tolist()
    columns = tuple(ColumnImportance(name, *three) for name, three in zip(schema.names, numbers, strict=True))
    return ForestImportance(columns, loss_name(forest.trees[0]))


def _rises_by_column(
    tree: Tree,
    data: Dataset,
    rows: NDArray[np.intp],
    random: np.random.Generator,
    listener: Listener,
) -> Floats:
    """The same for surrogates, fractional rows and oblique splits: a prediction for each column."""
    rise = np.zeros(len(tree.schema.columns))
    if not rows.size:
        return rise
    targets, weight = np.asarray(data.targets)[:, rows], data.row_weights[rows]

    def loss(columns: list[NDArray[Any]]) -> float:
        table = Dataset(tree.schema, tuple(columns))
        return float(np.average(prediction_losses(tree, answers(tree, table), targets), weights=weight))

    columns = [np.ascontiguousarray(data.column(j, rows)) for j in range(len(rise))]
    base = loss(columns)
    for j in asked_columns(tree):
        listener(0.0)
        own = columns[j]
        columns[j] = own[random.permutation(len(own))]
        rise[j] = loss(columns) - base
        columns[j] = own
    return rise
