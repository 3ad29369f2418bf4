"""Stability of a tree: how much trees grown from bootstrap samples differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright._display import Layout, Record, TableResult
from treewright._suggestions import also_takes
from treewright._text import count, escape, percent, row_count
from treewright.encoding import Dataset
from treewright.encoding.rows import takes_rows
from treewright.encoding.schema import Column
from treewright.encoding.splits import checked_seed
from treewright.growing import grow, n_threads, whole_number
from treewright.parameters import GROW
from treewright.plotting.explanations import plot_stability
from treewright.tree import Tree
from treewright.tree.oblique import by_column
from treewright.tree.predict import answers

MOST_COMPARED = 100_000  # rows whose predictions are compared; of a larger table a sample of this size
if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LINES = 20  # columns that are printed
_PIECE = 2**22  # predictions that are sorted together


@dataclass(frozen=True)
class ColumnStability(Record):
    """How often the bootstrap trees use one column, as shares of the trees."""

    column: str
    position: int
    root: float  # tested at the root
    top: float  # among the columns with the largest risk reduction
    used: float  # tested anywhere


@dataclass(frozen=True)
class Stability(TableResult):
    """A comparison of trees grown from bootstrap samples of one table; columns in the order of the schema.

    For each target with classes `agreement` is the probability that two of the trees predict the same class
    for a row, and `with_whole` that one of them predicts the same as the tree of all rows. For numbers
    `spread` is the standard deviation of the trees' predictions for a row (root mean square over the rows),
    and `scale` the standard deviation of the target itself.
    """

    _wraps = True

    columns: tuple[ColumnStability, ...]
    n_bootstraps: int
    rows: int
    top: int  # how many columns of a tree count as top columns
    leaves: tuple[int, int, int]  # minimum, median and maximum over the trees
    whole_root: str | None  # column or weighted sum at the root of the tree of all rows; None: it is a leaf
    whole_leaves: int
    thresholds: tuple[float, ...]  # of the roots that test this column, ascending; () for categorical ones
    thresholds_words: str
    agreement: tuple[float, ...] = ()
    with_whole: tuple[float, ...] = ()
    spread: tuple[float, ...] = ()
    scale: tuple[float, ...] = ()
    targets: tuple[str, ...] = ()
    same_root: float = 0.0  # share of the trees with the same column or sum at the root
    n_tests: int = 0  # how many columns and sums are at the root of some tree
    compared: int = 0  # rows whose predictions are compared
    random_state: int = 0

    @property
    def ranked(self) -> tuple[ColumnStability, ...]:
        """The most used columns first: at the root, among the top columns, anywhere."""
        return tuple(sorted(self.columns, key=lambda each: (-each.root, -each.top, -each.used)))

    @property
    def n_roots(self) -> int:
        """How many columns are at the root of some tree."""
        return sum(each.root > 0 for each in self.columns)

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Plot how many of the trees use each column; options as for `treewright.plot_stability`."""
        return plot_stability(self, ax, **options)

    def _layout(self) -> Layout:
        used = [each for each in self.ranked if each.used > 0]
        head = ["column", "at the root", f"among the top {self.top}", "used"]
        lines = [
            [escape(each.column), *(percent(x) if x else "-" for x in (each.root, each.top, each.used))]
            for each in used[:MOST_LINES]
        ]
        rest = [f"… {len(used) - MOST_LINES:,} more columns are used"] if len(used) > MOST_LINES else []
        if len(used) < len(self.columns):
            rest.append(f"{len(self.columns) - len(used):,} of {len(self.columns):,} columns are never used")
        return Layout([*self._sentences(), ""], head, lines, (1, 2, 3), rest)

    def _sentences(self) -> list[str]:
        text = [
            f"{self.n_bootstraps:,} trees, each of {row_count(self.rows)} drawn with replacement from "
            f"{self.rows:,}: {_leaves_in_words(*self.leaves)}; the tree of all rows has "
            f"{self.whole_leaves:,}."
        ]
        if self.whole_root is not None:
            same, others = self.same_root, self.n_tests - (self.same_root > 0)
            what = "column" if self.whole_root in {each.column for each in self.columns} else "test"
            elsewhere = f"; the others test {count(others, f'other {what}')} first" if others else ""
            root = f"It first tests {escape(self.whole_root)}, as {percent(same)} of them do"
            text.append(f"{root}{elsewhere}.")
        if self.thresholds_words:
            text.append(self.thresholds_words)
        starts = [f"{escape(target)}: " if len(self.targets) > 1 else "" for target in self.targets]
        for start, pair, whole in zip(starts, self.agreement, self.with_whole, strict=False):
            text.append(
                f"{start}Two of the trees agree on {percent(pair)} of the rows, one of them and the tree of "
                f"all rows on {percent(whole)}."
            )
        for start, spread, scale in zip(starts, self.spread, self.scale, strict=False):
            text.append(
                f"{start}The predictions for a row have a standard deviation of {spread:.3g}; that of the "
                f"target is {scale:.3g}."
            )
        return text


def _leaves_in_words(few: int, median: int, most: int) -> str:
    return f"{few:,} leaves each" if few == most else f"{few:,} to {most:,} leaves, median {median:,}"


@also_takes(GROW)
@takes_rows
def stability(
    data: Dataset,
    /,
    *,
    n_bootstraps: int = 50,
    top: int = 5,
    random_state: int = 0,
    grower: Callable[[Dataset], Tree] | None = None,
    n_jobs: int | None = None,
    progress: Callable[[float], object] | None = None,
    **growing: Any,
) -> Stability:
    """How often the root, the top columns and the predictions of a tree change with the sample.

    A bootstrap sample has as many rows as the table, drawn with replacement. No row is copied: its weight is
    multiplied by how often it was drawn.

    Parameters
    ----------
    n_bootstraps : int
        Number of trees.
    top : int
        How many columns of a tree, those with the largest risk reduction, count as top columns.
    random_state : int
        Seed of the samples, and of random choices within a tree.
    grower : callable, optional
        Makes a tree of a (weighted) Dataset instead of `grow`, for example one that prunes.
    progress : callable, optional
        Called with the share of the work that is done. An exception that it raises ends the work.
    **growing
        Keyword arguments of `grow`. Limits in rows (min_samples_leaf) count a row once however
        often it was drawn; fractions of the weight are of the draws.

    Examples
    --------
    >>> from treewright import encode, stability
    >>> data = encode({"x": range(40), "z": [1, 2] * 20}, ["a"] * 20 + ["b"] * 20)
    >>> found = stability(data, n_bootstraps=10, max_leaf_nodes=2)
    >>> found.columns[0].root, found.n_roots, found.agreement[0] > 0.9
    (1.0, 1, True)
    """
    if grower is not None and growing:
        raise TypeError(
            f"give either grower or keyword arguments of grow, not both: {', '.join(sorted(growing))}"
        )
    n, best = whole_number("n_bootstraps", n_bootstraps, 2), whole_number("top", top, 1)
    rng = np.random.default_rng(checked_seed(random_state))
    if data.n_rows > _core.small_rows:
        data.bins(n_threads(n_jobs))  # once for all trees

    def grow_tree(rows: Dataset, done: float) -> Tree:
        if progress is not None:
            progress(done)
        if grower is not None:
            tree = grower(rows)
            if not isinstance(tree, Tree):
                raise TypeError(f"grower must return a Tree, not {type(tree).__name__}")
            return tree
        report: Any = None if progress is None else lambda share: progress(done + share / (n + 1))
        return grow(rows, random_state=random_state, n_jobs=n_jobs, progress=report, **growing)

    whole = grow_tree(data, 0.0)
    compared = _compared_rows(data, rng)
    facts, predictions = [_Facts.of(whole, best)], [_predictions(whole, compared)]
    for tree_number in range(1, n + 1):
        tree = grow_tree(_bootstrap(data, rng), tree_number / (n + 1))
        facts.append(_Facts.of(tree, best))
        predictions.append(_predictions(tree, compared))
    if progress is not None:
        progress(1.0)
    return _result(whole, facts, data, compared, np.stack(predictions), best, int(random_state))


def _bootstrap(data: Dataset, rng: np.random.Generator) -> Dataset:
    """A bootstrap sample: the same table, each weight multiplied by how often the row was drawn."""
    rows, counts = data.counted, np.zeros(data.n_rows)
    counts[rows] = np.bincount(rng.integers(0, len(rows), len(rows)), minlength=len(rows))
    return data.with_weight(counts * data.row_weights)


def _compared_rows(data: Dataset, rng: np.random.Generator) -> Dataset:
    rows = data.counted
    if len(rows) > MOST_COMPARED:
        rows = np.sort(rng.choice(rows, MOST_COMPARED, replace=False))
    return data if len(rows) == data.n_rows else data.take(rows)


def _predictions(tree: Tree, rows: Dataset) -> NDArray[Any]:
    """The prediction for each row, (targets, rows): codes of classes or numbers."""
    dtype = np.int32 if tree.schema.predicts_classes else np.float64
    return np.ascontiguousarray(answers(tree, rows).T.astype(dtype))


class _Facts(NamedTuple):
    """What is counted of one tree."""

    root: Column | None  # what the root tests: a column, or a weighted sum of columns; None of a leaf
    threshold: float
    leaves: int
    columns: NDArray[np.float64]  # whether each is at the root, among the top columns, anywhere

    @classmethod
    def of(cls, tree: Tree, top: int) -> _Facts:
        root = None if tree.is_leaf[0] else tree.tested[tree.feature[0]]
        nodes = np.arange(tree.n_nodes)
        at_root, tests = (by_column(tree, 1.0 * some, whole=True) for some in (nodes == 0, nodes >= 0))
        is_used = tests > 0
        order = np.lexsort((-by_column(tree, tree.gain), ~is_used))[:top]  # those tested, largest gain first
        is_top = is_used & np.isin(np.arange(len(is_used)), order)
        return cls(root, float(tree.threshold[0]), tree.n_leaves, np.stack([at_root, is_top, is_used]))


def _result(
    whole: Tree,
    trees: list[_Facts],
    data: Dataset,
    compared: Dataset,
    predictions: NDArray[Any],
    top: int,
    random_state: int,
) -> Stability:
    """The result; the first predictions, and the first facts, are those of the tree of all rows."""
    (root, threshold, *_), *others = trees
    shares = np.mean([each.columns for each in others], axis=0)
    leaves = [each.leaves for each in others]
    thresholds = [each.threshold for each in others if each.root == root and np.isfinite(each.threshold)]
    compare = _agreement if whole.schema.predicts_classes else _spread
    return Stability(
        columns=tuple(
            ColumnStability(name, j, *shares[:, j].tolist()) for j, name in enumerate(data.schema.names)
        ),
        n_bootstraps=len(others),
        rows=data.n_counted,
        leaves=(min(leaves), int(np.median(leaves)), max(leaves)),
        whole_root=None if root is None else root.name,
        whole_leaves=whole.n_leaves,
        same_root=sum(each.root == root for each in others) / len(others),
        n_tests=len({each.root for each in others} - {None}),
        thresholds=tuple(sorted(thresholds)),
        thresholds_words=_thresholds_words(root, threshold, thresholds),
        compared=compared.n_rows,
        targets=tuple(target.name for target in whole.schema.targets),
        top=top,
        random_state=random_state,
        **compare(predictions, compared),
    )


def _thresholds_words(column: Column | None, own: float, thresholds: list[float]) -> str:
    if column is None or len(thresholds) < 2:
        return ""
    low, high, here = map(column.threshold_text, (min(thresholds), max(thresholds), own))
    same = thresholds.count(own) / len(thresholds)
    return (
        f"Their thresholds lie between {low} and {high}; {percent(same)} of them are {here}, as in the "
        "tree of all rows."
    )


def _agreement(predictions: NDArray[Any], rows: Dataset) -> dict[str, tuple[float, ...]]:
    """How often predicted classes are the same: (trees + 1, targets, rows), the tree of all rows first."""
    weight = rows.row_weights / rows.total_weight
    n_trees, pairs, wholes = len(predictions) - 1, [], []
    for whole, some in zip(predictions[0], predictions[1:].transpose(1, 0, 2), strict=True):
        wholes.append(float(((some == whole).mean(axis=0) * weight).sum()))
        alike = 0.0
        step = max(1, _PIECE // n_trees)
        for start in range(0, some.shape[1], step):
            piece = np.sort(some[:, start : start + step], axis=0)
            run, same = np.zeros(piece.shape[1]), np.zeros(piece.shape[1])
            for k in range(1, n_trees):  # a run of m equal predictions makes 1 + 2 + … + (m - 1) pairs
                run = np.where(piece[k] == piece[k - 1], run + 1, 0)
                same += run
            alike += float((same * weight[start : start + step]).sum())
        pairs.append(alike / (n_trees * (n_trees - 1) / 2))
    return {"agreement": tuple(pairs), "with_whole": tuple(wholes)}


def _spread(predictions: NDArray[Any], rows: Dataset) -> dict[str, tuple[float, ...]]:
    """The standard deviations of predicted numbers over the trees, and of the target."""
    weight = rows.row_weights / rows.total_weight
    spread = np.sqrt((predictions[1:].var(axis=0, ddof=1) * weight).sum(axis=1))
    numbers = np.asarray(rows.targets)
    mean = (numbers * weight).sum(axis=1, keepdims=True)
    scale = np.sqrt(((numbers - mean) ** 2 * weight).sum(axis=1))
    return {"spread": tuple(spread.tolist()), "scale": tuple(scale.tolist())}
