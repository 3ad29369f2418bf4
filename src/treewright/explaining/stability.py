"""How much of a tree would change with other rows: trees of bootstraps beside one another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright._json import plain
from treewright._text import aligned, escape, percent, row_count
from treewright.encoding import Dataset
from treewright.encoding.schema import Column
from treewright.encoding.splits import checked_seed
from treewright.explaining.tables import html_table, wrapped
from treewright.growing import grow, n_threads, whole_number
from treewright.tree import Tree
from treewright.tree.evaluate import encoded_rows, is_pair
from treewright.tree.oblique import by_column
from treewright.tree.predict import answers

MOST_ANSWERED = 100_000  # rows whose answers are compared; of a larger table so many are drawn
MOST_LINES = 20  # columns that are printed
_PIECE = 2**22  # answers that are sorted together


@dataclass(frozen=True)
class ColumnStability:
    """How often the trees of the bootstraps use one column: shares of the trees."""

    column: str
    position: int
    root: float  # it is tested first
    top: float  # it is among the columns that take away most risk
    used: float  # it is tested somewhere


@dataclass(frozen=True)
class Stability:
    """Trees grown from bootstraps of one table, compared; columns in the order of the schema.

    `agreement` is for each target of classes the chance that two of the trees answer a row alike, and
    `with_whole` that one of them answers as the tree of all rows does. For numbers `spread` is the standard
    deviation of the trees' answers to a row (the root of its mean square over the rows), and `scale` that of
    the numbers themselves.
    """

    columns: tuple[ColumnStability, ...]
    n_bootstraps: int
    rows: int
    top: int  # how many columns of a tree count as its top ones
    leaves: tuple[int, int, int]  # the fewest, the median and the most of the trees
    whole_root: str | None  # the column, or sum, that the tree of all rows tests first; None: it is a leaf
    whole_leaves: int
    thresholds: tuple[float, ...]  # where the roots that test that column cut it, ascending; () for sets
    thresholds_words: str
    agreement: tuple[float, ...] = ()
    with_whole: tuple[float, ...] = ()
    spread: tuple[float, ...] = ()
    scale: tuple[float, ...] = ()
    targets: tuple[str, ...] = ()
    same_root: float = 0.0  # the share of the trees that test the same column or sum first
    n_tests: int = 0  # how many columns and sums come first in some tree
    answered: int = 0  # rows whose answers are compared
    seed: int = 0

    @property
    def ranked(self) -> tuple[ColumnStability, ...]:
        """The columns that are used most first: at the root, at the top, anywhere."""
        return tuple(sorted(self.columns, key=lambda each: (-each.root, -each.top, -each.used)))

    @property
    def n_roots(self) -> int:
        """How many columns are at the root of some tree."""
        return sum(each.root > 0 for each in self.columns)

    def _table(self) -> tuple[list[str], list[list[str]], list[str]]:
        used = [each for each in self.ranked if each.used > 0]
        head = ["column", "at the root", f"among the top {self.top}", "used"]
        lines = [
            [escape(each.column), *(_often(share) for share in (each.root, each.top, each.used))]
            for each in used[:MOST_LINES]
        ]
        rest = [f"… {len(used) - MOST_LINES:,} more columns are used"] if len(used) > MOST_LINES else []
        if len(used) < len(self.columns):
            rest.append(f"{len(self.columns) - len(used):,} of {len(self.columns):,} columns are never used")
        return head, lines, rest

    def _story(self) -> list[str]:
        text = [
            f"{self.n_bootstraps:,} trees, each of {row_count(self.rows)} drawn with replacement from "
            f"{self.rows:,}: {_leaves_in_words(*self.leaves)}; the tree of all rows has "
            f"{self.whole_leaves:,}."
        ]
        if self.whole_root is not None:
            same, others = self.same_root, self.n_tests - (self.same_root > 0)
            what = "test" if self.whole_root not in {each.column for each in self.columns} else "column"
            elsewhere = f"; {others} other {what}{'s come' if others > 1 else ' comes'} first elsewhere"
            line = f"It first tests {escape(self.whole_root)}, as {percent(same)} of them do"
            text.append(f"{line}{elsewhere if others else ''}.")
        if self.thresholds_words:
            text.append(self.thresholds_words)
        for target, pair, whole in zip(self.targets, self.agreement, self.with_whole, strict=False):
            start = f"{escape(target)}: two" if len(self.targets) > 1 else "Two"
            text.append(
                f"{start} of the trees answer a row alike in {percent(pair)} of the cases, one of them and "
                f"the tree of all rows in {percent(whole)}."
            )
        for target, spread, scale in zip(self.targets, self.spread, self.scale, strict=False):
            start = f"{escape(target)}: their" if len(self.targets) > 1 else "Their"
            text.append(
                f"{start} answers to a row differ by {spread:.3g} (standard deviation; that of the numbers "
                f"themselves is {scale:.3g})."
            )
        return text

    def __str__(self) -> str:
        head, lines, rest = self._table()
        return "\n".join([*wrapped(self._story()), "", *aligned([head, *lines], right=(1, 2, 3)), *rest])

    def _repr_html_(self) -> str:
        head, lines, rest = self._table()
        return html_table(head, lines, (1, 2, 3), [*rest, *self._story()])

    def to_dict(self) -> dict[str, Any]:
        """Plain values; the columns in the order of the schema."""
        facts = {name: plain(value) for name, value in vars(self).items() if name != "columns"}
        columns = [{name: plain(value) for name, value in vars(each).items()} for each in self.columns]
        return {"columns": columns, **facts}


def _often(share: float) -> str:
    return percent(share) if share else "-"


def _leaves_in_words(few: int, median: int, most: int) -> str:
    return f"{few:,} leaves each" if few == most else f"{few:,} to {most:,} leaves, {median:,} in the middle"


def stability(
    data: Any,
    *,
    n_bootstraps: int = 50,
    top: int = 5,
    seed: int = 0,
    grower: Callable[[Dataset], Tree] | None = None,
    n_jobs: int | None = None,
    progress: Callable[[float], object] | None = None,
    **growing: Any,
) -> Stability:
    """How often the root and the top columns of a tree change with the rows, and whether its answers do.

    A bootstrap draws as many rows as there are, with replacement. No row is copied: it weighs as often as it
    was drawn (times its own weight), and rows that were not drawn weigh nothing.

    Parameters
    ----------
    data : Dataset or tuple (table, target) or (table, target, weights)
        The rows to grow from.
    n_bootstraps : int
        How many trees.
    top : int
        How many columns of a tree, those that take away most risk, count as its top ones.
    seed : int
        Of the draws, also of those within a tree where `growing` asks for some.
    grower : callable, optional
        Makes a tree of a Dataset, in place of `grow`: so that pruning takes part. It sees the weights.
    n_jobs : int, optional
        Threads for each tree: None is 1, -1 all cores. The result is the same for any number.
    progress : callable, optional
        Called with the share that is done. What it raises ends the work.
    **growing
        How to grow: keyword arguments of `grow`. Limits in rows (min_samples_leaf) count a row once however
        often it was drawn; min_weight_leaf counts draws.

    Returns
    -------
    Stability

    Examples
    --------
    >>> from treewright import encode, stability
    >>> data = encode({"x": range(40), "z": [1, 2] * 20}, ["a"] * 20 + ["b"] * 20)
    >>> found = stability(data, n_bootstraps=10, max_leaf_nodes=2)
    >>> found.columns[0].root, found.n_roots, found.agreement[0] > 0.9
    (1.0, 1, True)
    """
    if not (isinstance(data, Dataset) or is_pair(data)):
        raise TypeError(
            "data must be a Dataset, as encode makes it, or a tuple (table, target), "
            f"not {type(data).__name__}"
        )
    data = encoded_rows(data, "data")
    if grower is not None and growing:
        raise TypeError(f"give a grower or how to grow, not both: {', '.join(sorted(growing))}")
    n, best = whole_number("n_bootstraps", n_bootstraps, 2), whole_number("top", top, 1)
    rng = np.random.default_rng(checked_seed(seed))
    if data.n_rows > _core.small_rows:
        data.bins(n_threads(n_jobs))  # once for all trees

    def grown(rows: Dataset, done: float) -> Tree:
        if progress is not None:
            progress(done)
        if grower is not None:
            tree = grower(rows)
            if not isinstance(tree, Tree):
                raise TypeError(f"grower must make a Tree, not {type(tree).__name__}")
            return tree
        told: Any = None if progress is None else lambda share: progress(done + share / (n + 1))
        return grow(rows, seed=seed, n_jobs=n_jobs, progress=told, **growing)

    whole = grown(data, 0.0)
    answered = _answered(data, rng)
    facts, answers = _Facts(data, best), [_answers(whole, answered)]
    for tree_number in range(1, n + 1):
        tree = grown(_drawn(data, rng), tree_number / (n + 1))
        facts.add(tree, whole)
        answers.append(_answers(tree, answered))
    if progress is not None:
        progress(1.0)
    return facts.result(whole, answered, np.stack(answers), int(seed))


def _drawn(data: Dataset, rng: np.random.Generator) -> Dataset:
    """A bootstrap: the same table, each row with the weight of its draws."""
    counted, counts = data.counted, np.zeros(data.n_rows)
    counts[counted] = np.bincount(rng.integers(0, len(counted), len(counted)), minlength=len(counted))
    return data.reweighted(counts * data.row_weights)


def _answered(data: Dataset, rng: np.random.Generator) -> Dataset:
    counted = data.counted
    if len(counted) > MOST_ANSWERED:
        counted = np.sort(rng.choice(counted, MOST_ANSWERED, replace=False))
    return data if len(counted) == data.n_rows else data.take(counted)


def _answers(tree: Tree, rows: Dataset) -> NDArray[Any]:
    """The answer to each row, (targets, rows): codes of classes or numbers."""
    said = answers(tree, rows)
    return np.ascontiguousarray(said.T.astype(np.int32 if tree.schema.predicts_classes else np.float64))


class _Facts:
    """What is counted over the trees."""

    def __init__(self, data: Dataset, top: int) -> None:
        self.data, self.best = data, top
        self.root, self.top, self.used = np.zeros((3, len(data.schema.columns)))
        self.leaves: list[int] = []
        self.thresholds: list[float] = []
        self.roots: list[Column | None] = []

    def add(self, tree: Tree, whole: Tree) -> None:
        """One more tree."""
        self.leaves.append(tree.n_leaves)
        self.roots.append(_root_column(tree))
        inner = ~tree.is_leaf
        if not inner.any():
            return
        at_root = np.zeros(tree.n_nodes)
        at_root[0] = 1
        self.root += by_column(tree, at_root, whole=True)
        gain = by_column(tree, tree.gain)
        tested = by_column(tree, np.ones(tree.n_nodes), whole=True) > 0
        self.used += tested
        order = np.lexsort((-gain, ~tested))[: self.best]  # those that are tested, the largest gain first
        self.top[order[tested[order]]] += 1
        if _root_column(tree) == _root_column(whole) and np.isfinite(tree.threshold[0]):
            self.thresholds.append(float(tree.threshold[0]))

    def result(self, whole: Tree, rows: Dataset, answers: NDArray[Any], seed: int) -> Stability:
        """All of it as a value; the first of the answers are those of the whole tree."""
        n = len(self.leaves)
        names = self.data.schema.names
        shares = np.stack([self.root, self.top, self.used]) / n
        columns = [ColumnStability(name, j, *shares[:, j].tolist()) for j, name in enumerate(names)]
        agreed = _agreement(answers, rows) if whole.schema.predicts_classes else _spread(answers, rows)
        return Stability(
            columns=tuple(columns),
            n_bootstraps=n,
            rows=self.data.n_counted,
            top=self.best,
            leaves=(min(self.leaves), int(np.median(self.leaves)), max(self.leaves)),
            whole_root=None if (root := _root_column(whole)) is None else root.name,
            whole_leaves=whole.n_leaves,
            same_root=self.roots.count(root) / n,
            n_tests=len({*self.roots} - {None}),
            thresholds=tuple(sorted(self.thresholds)),
            thresholds_words=self._thresholds_words(whole),
            answered=rows.n_rows,
            targets=tuple(target.name for target in whole.schema.targets),
            seed=seed,
            **agreed,
        )

    def _thresholds_words(self, whole: Tree) -> str:
        if len(self.thresholds) < 2:
            return ""
        column = whole.tested[whole.feature[0]]
        ordered = sorted(self.thresholds)
        low, high = (column.threshold_text(value) for value in (ordered[0], ordered[-1]))
        own = column.threshold_text(float(whole.threshold[0]))
        same = sum(value == whole.threshold[0] for value in ordered) / len(ordered)
        return f"Those that do cut it between {low} and {high}; {percent(same)} of them at {own}, as it does."


def _root_column(tree: Tree) -> Column | None:
    """What the root tests: a column, or a sum of some."""
    return None if tree.is_leaf[0] else tree.tested[tree.feature[0]]


def _agreement(answers: NDArray[Any], rows: Dataset) -> dict[str, tuple[float, ...]]:
    """How often answers are the same, of classes: (trees + 1, targets, rows), the whole tree first."""
    weight = rows.row_weights / rows.total_weight
    n_trees, pairs, wholes = len(answers) - 1, [], []
    for whole, some in zip(answers[0], answers[1:].transpose(1, 0, 2), strict=True):
        wholes.append(float(((some == whole).mean(axis=0) * weight).sum()))
        alike = 0.0
        step = max(1, _PIECE // n_trees)
        for start in range(0, some.shape[1], step):
            piece = np.sort(some[:, start : start + step], axis=0)
            run, same = np.zeros(piece.shape[1]), np.zeros(piece.shape[1])
            for k in range(1, n_trees):  # a run of m equal answers makes 1 + 2 + … + (m - 1) pairs
                run = np.where(piece[k] == piece[k - 1], run + 1, 0)
                same += run
            alike += float((same * weight[start : start + step]).sum())
        pairs.append(alike / (n_trees * (n_trees - 1) / 2))
    return {"agreement": tuple(pairs), "with_whole": tuple(wholes)}


def _spread(answers: NDArray[Any], rows: Dataset) -> dict[str, tuple[float, ...]]:
    """How far answers that are numbers differ, and the numbers themselves."""
    weight = rows.row_weights / rows.total_weight
    spread = np.sqrt((answers[1:].var(axis=0, ddof=1) * weight).sum(axis=1))
    numbers = np.asarray(rows.targets)
    mean = (numbers * weight).sum(axis=1, keepdims=True)
    scale = np.sqrt(((numbers - mean) ** 2 * weight).sum(axis=1))
    return {"spread": tuple(spread.tolist()), "scale": tuple(scale.tolist())}
