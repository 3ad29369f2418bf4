"""Why a tree answers one row as it does: the way to its leaf, and how sure the answer is."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright._json import plain
from treewright.certifying.binomial import check_delta
from treewright.certifying.losses import checked_rows
from treewright.encoding import Dataset
from treewright.explaining.competitors import MOST_NODES, Competitor, Competitors, competitors
from treewright.explaining.held_out import HeldOut, mean_held_out, median_held_out, share_held_out
from treewright.explaining.row import Cell, Row, is_training_data, one_row
from treewright.tree import Tree
from treewright.tree.class_counts import SparseRows
from treewright.tree.costs import cost_arrays
from treewright.tree.evaluate import whole_rows
from treewright.tree.missing import divides, parts_of
from treewright.tree.node import columns_with_missing
from treewright.tree.predict import answers as answers_to
from treewright.tree.predict import proportions
from treewright.tree.shortcuts import as_tree
from treewright.tree.wording import escape, percent, surrogate_of, way_in_words

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_CLASSES = 5  # of a leaf that are named, the heaviest first


@dataclass(frozen=True)
class Step:
    """One test on the way of a row: what was asked, what the row said, what is left.

    `before` and `after` hold one number for each target: the share of the class that the row's leaf answers
    among the training rows, or the number that the node would answer, before the test and after it.
    """

    node: int  # that asks
    column: str
    value: Any  # the row's: a number, a category, a date as text, None where it is missing
    value_words: str
    words: str  # what the row satisfies, with the name of the column
    known: bool  # False: the value is missing or a category never seen before
    rows: int  # training rows that are left after it
    before: tuple[float, ...]
    after: tuple[float, ...]
    competitors: tuple[Competitor, ...] = ()
    competitor_words: tuple[str, ...] = ()  # what the row satisfies of them
    surrogate: str = ""  # what the row satisfies of the test that stands in for the missing value
    share: float = 1.0  # of what comes to the node, that goes this way: less where the row is divided

    @property
    def test_words(self) -> str:
        """What the row satisfies, without the name of the column; of a value that is not known, whom it
        follows.
        """
        words = self.words[len(escape(self.column)) + 1 :]
        if self.known or words.endswith("missing"):
            return words
        if self.share < 1:
            return f"{percent(self.share)} of it goes with {words}"
        return f"goes with {words}" + (f", as {self.surrogate}" if self.surrogate else "")

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        others = [each.to_dict() for each in self.competitors]
        return {
            "node": self.node,
            "column": self.column,
            "value": plain(self.value),
            "words": self.words,
            "known": self.known,
            "rows": self.rows,
            "before": plain(self.before),
            "after": plain(self.after),
            "surrogate": self.surrogate or None,
            "share": plain(self.share),
            "competitors": others,
        }


@dataclass(frozen=True)
class Answer:
    """What a leaf says for one target, and what that rests on."""

    target: str
    value: Hashable  # the class or the number
    share: float | None  # of the class among the leaf's training rows, by weight; None for numbers
    deviation: float | None  # for numbers: the root of the mean square (or the mean) distance of these rows
    shares: tuple[tuple[Hashable, float], ...] = ()  # the leaf's heaviest classes, heaviest first
    costs: tuple[tuple[Hashable, float], ...] = ()  # the mean cost of its rows by answer, cheapest first
    held_out: HeldOut | None = None  # what rows say that the tree has never seen

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        pairs = {
            "shares": [{"class": plain(name), "share": plain(share)} for name, share in self.shares],
            "costs": [{"answer": plain(name), "cost": plain(cost)} for name, cost in self.costs],
        }
        return {
            "target": self.target,
            "value": plain(self.value),
            "share": plain(self.share),
            "deviation": plain(self.deviation),
            **pairs,
            "held_out": None if self.held_out is None else self.held_out.to_dict(),
        }


@dataclass(frozen=True)
class Way:
    """One of several ways of a row that a tree divides: its leaf, the share that goes there, what it says."""

    leaf: int
    share: float
    value: Any  # the answer of the leaf; a tuple where there are several targets

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"leaf": self.leaf, "share": plain(self.share), "value": plain(self.value)}


@dataclass(frozen=True)
class Decision:
    """How a tree comes to its answer for one row; `print` tells it.

    >>> from treewright import encode, explain, grow
    >>> data = encode({"wind": [3, 12, 5, 14, 9, 8]}, ["sail", "stay", "sail", "stay", "sail", "stay"])
    >>> decision = explain(grow(data, max_leaf_nodes=2), {"wind": 4})
    >>> decision.value, decision.answers[0].share, decision.steps[0].after
    ('sail', 1.0, (1.0,))
    """

    answers: tuple[Answer, ...]  # one for each target
    steps: tuple[Step, ...]
    leaf: int  # the node
    rows: int  # of those that the tree learnt from, in the leaf
    all_rows: int
    start: tuple[float, ...]  # for each target what the steps move, before the first of them
    delta: float
    own_rows: bool = False  # the "held-out" rows look like those that the tree was grown from
    # of a row that misses values, where the tree divides it; the largest first, whose steps are told
    ways: tuple[Way, ...] = ()

    @property
    def value(self) -> Any:
        """The answer; a tuple where there are several targets."""
        values = tuple(answer.value for answer in self.answers)
        return values[0] if len(values) == 1 else values

    def __str__(self) -> str:
        from treewright.explaining.telling import told

        return told(self)

    def _repr_html_(self) -> str:
        from treewright.explaining.telling import html

        return html(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "answers": [answer.to_dict() for answer in self.answers],
            "steps": [step.to_dict() for step in self.steps],
            "leaf": self.leaf,
            "rows": self.rows,
            "all_rows": self.all_rows,
            "start": plain(self.start),
            "delta": self.delta,
            "own_rows": self.own_rows,
            "ways": [way.to_dict() for way in self.ways],
        }


def explain(
    model: Any,
    row: Any,
    *,
    data: Any = None,
    test: Any = None,
    delta: float = 0.05,
    most: int = 3,
) -> Decision:
    """Why a tree answers a row as it does.

    Parameters
    ----------
    model : Tree or fitted estimator
        Of classes or numbers, for one target or several, with costs or without.
    row : dict, one-row table, list, 1-d array or pandas Series
        By name it needs the columns that the tree tests and no others; by position all of them. None and nan
        are missing values.
    data : Dataset or tuple (table, target) or (table, target, weights), optional
        The rows that the tree was grown from: then each step names its `most` best competitors, the tests of
        other columns that would have parted these rows nearly as well (of the first 64 steps). An estimator
        that was fitted with ``n_competitors`` has kept them.
    test : Dataset or tuple, optional
        Rows that the tree has never seen, all of the same weight. Those that come to the same leaf tell how
        often its answer is right, with an exact interval (Clopper and Pearson's); or the mean (median for
        absolute_error) of their numbers. Without them there is only the share of the training rows, which
        the tree was made to fit.
    delta : float
        The chance that the interval misses the truth, for this leaf and target by itself.
    most : int
        How many competitors of each step.

    Returns
    -------
    Decision

    Examples
    --------
    >>> from treewright import encode, explain, grow
    >>> table = {"wind": [3, 12, 5, 14, 9, 8], "sky": ["clear", "clear", "rain", "rain", "clouds", "rain"]}
    >>> tree = grow(encode(table, ["sail", "stay", "sail", "stay", "sail", "stay"]))
    >>> print(explain(tree, {"wind": 8.0, "sky": "rain"}))
    Answer: stay
    <BLANKLINE>
                                        stay         rows
        all rows                      50.0 %            6
    1.  wind is 8    > 6              75.0 %  +25.0     4
    2.  sky is rain  not in {clouds}   100 %  +25.0     3
    <BLANKLINE>
    Of the 3 rows it learnt from that came this way: stay 100 %.
    The tree was made to fit these rows; how sure the answer is, held-out rows tell: test=.
    """
    check_delta(delta)
    tree = as_tree(model)
    asked = one_row(tree, row)
    ways = _ways(tree, asked.data)
    leaf = ways[0].leaf if ways else int(tree.apply(asked.data)[0])
    way = _way(tree, leaf)
    moved = _moved(tree, way, asked.data, _codes(tree, asked.data, leaf, bool(ways)))
    steps = _steps(tree, asked, way, moved)
    kept = getattr(model, "competitors_", None)
    if data is not None:
        nodes = [step.node for step in steps[:MOST_NODES]]
        steps = _with_competitors(asked, steps, competitors(tree, data, nodes, most), most)
    elif isinstance(kept, Competitors):
        steps = _with_competitors(asked, steps, kept, most)
    answers = _mixed_answers(tree, asked.data) if ways else _answers(tree, leaf, moved[-1].tolist())
    own_rows = False
    if test is not None:
        if tree.linear is not None:
            raise ValueError("test tells the mean of a leaf's rows, and this tree answers with a formula")
        rows = checked_rows(tree, test)
        own_rows = is_training_data(tree, rows)
        if not ways:  # what is mixed is the answer of no leaf
            answers = _held_out(tree, leaf, answers, rows, delta)
    return Decision(
        answers=answers,
        steps=steps,
        leaf=leaf,
        rows=int(tree.rows[leaf]),
        all_rows=int(tree.rows[0]),
        start=tuple(moved[0].tolist()),
        delta=float(delta),
        own_rows=own_rows,
        ways=ways,
    )


def _ways(tree: Tree, row: Dataset) -> tuple[Way, ...]:
    """The leaves of a row that the tree divides, the largest share first; none for a whole row."""
    if not divides(tree, row):
        return ()
    (parts,) = parts_of(tree, row)
    if len(parts.leaf) < 2:
        return ()
    order = np.argsort(-parts.share, kind="stable")
    return tuple(
        Way(leaf, share, _value(tree, tree.label[leaf] if tree.schema.predicts_classes else tree.value[leaf]))
        for leaf, share in zip(parts.leaf[order].tolist(), parts.share[order].tolist(), strict=True)
    )


def _codes(tree: Tree, row: Dataset, leaf: int, is_divided: bool) -> Ints:
    """The classes that are answered, by their codes; of numbers nothing."""
    if not tree.schema.predicts_classes:
        return np.zeros(0, np.int64)
    return np.asarray(answers_to(tree, row)[0] if is_divided else tree.label[leaf])


def _value(tree: Tree, said: NDArray[Any]) -> Any:
    """An answer by name; a tuple where there are several targets."""
    pairs = zip(tree.schema.targets, said.tolist(), strict=True)
    names = tuple(one if target.classes is None else target.classes[one] for target, one in pairs)
    return names[0] if len(names) == 1 else names


def _mixed_answers(tree: Tree, row: Dataset) -> tuple[Answer, ...]:
    """What the leaves of a divided row say together, for each target."""
    said = answers_to(tree, row)[0]
    if tree.schema.predicts_classes:
        return _class_answers(tree, [share[0] for share in proportions(tree, row)], said.tolist())
    return tuple(
        Answer(target.name, value, None, None)
        for target, value in zip(tree.schema.targets, said.tolist(), strict=True)
    )


def _way(tree: Tree, leaf: int) -> Ints:
    """The decisions from the root to a leaf, and the leaf."""
    parent, way = tree.parent, [leaf]
    while way[-1] > 0:
        way.append(int(tree.heads[parent[way[-1]]]))
    return np.array(way[::-1], np.int64)


def _moved(tree: Tree, way: Ints, row: Dataset, codes: Ints) -> Floats:
    """What moves along the way, a column for each target: the share of the answered class, or the number."""
    if not tree.schema.predicts_classes:
        return tree.numbers_at(way, row.take(np.zeros(len(way), np.intp)))
    way = tree.answering[way].astype(np.int64)  # a leaf without rows says what was known above it
    first = np.cumsum((0, *tree.schema.block_widths))[:-1]
    cells = first + codes
    if isinstance(tree.statistic, SparseRows):
        weight = tree.statistic.at(np.tile(cells, (tree.n_nodes, 1)))[way]
    else:
        weight = tree.statistic[way][:, cells]
    return np.asarray(weight / tree.weight[way, np.newaxis])


def _steps(tree: Tree, asked: Row, way: Ints, moved: Floats) -> tuple[Step, ...]:
    learnt = columns_with_missing(tree)
    cells: dict[int, Cell] = {}
    rows, numbers = tree.rows[way].tolist(), moved.tolist()
    steps = []
    for place, node in enumerate(way[:-1].tolist()):
        position = int(tree.feature[node])
        cell = cells.setdefault(position, asked.cell(position))
        child = int(way[place + 1])
        words = way_in_words(tree, child, learnt=learnt)
        missing = not cell.known and cell.value is None and not asked.is_unseen(position)
        steps.append(
            Step(
                node=node,
                column=tree.tested[position].name,
                value=cell.value,
                value_words=cell.words,
                words=words,
                known=cell.known,
                rows=rows[place + 1],
                before=tuple(numbers[place]),
                after=tuple(numbers[place + 1]),
                surrogate=surrogate_of(tree, node, asked.data) if missing else "",
                share=float(tree.weight[child] / tree.weight[node])
                if missing and tree.missing == "fractional"
                else 1.0,
            )
        )
    return tuple(steps)


def _with_competitors(asked: Row, steps: tuple[Step, ...], found: Competitors, most: int) -> tuple[Step, ...]:
    """The steps with the competitors that are known of their nodes."""
    told = []
    for step in steps:
        own = found[step.node][:most] if step.node in found.by_node else ()
        words = tuple(each.words_for(asked.data) for each in own)
        told.append(replace(step, competitors=own, competitor_words=words))
    return tuple(told)


def _answers(tree: Tree, leaf: int, values: list[float]) -> tuple[Answer, ...]:
    """What the leaf says for each target, by its own rows; `values` are its numbers."""
    schema = tree.schema
    if not schema.predicts_classes:
        losses = np.asarray(tree.statistic[leaf])[2::3] / tree.weight[leaf]
        if tree.linear is not None:
            losses = tree.linear.loss[[leaf]] / tree.weight[leaf]
        if tree.criterion != "absolute_error":  # of poisson the deviation is no square: none is told
            losses = np.sqrt(losses) if tree.criterion == "squared_error" else np.full(len(losses), np.nan)
        spread = [None if np.isnan(loss) else loss for loss in losses.tolist()]
        return tuple(
            Answer(target.name, value, None, deviation)
            for target, value, deviation in zip(schema.targets, values, spread, strict=True)
        )
    shares = [block[0] for block in tree.shares(np.array([leaf]))]
    return _class_answers(tree, shares, tree.label[leaf].tolist())


def _class_answers(tree: Tree, shares: list[Floats], codes: list[int]) -> tuple[Answer, ...]:
    """Answers of classes by the shares of each target."""
    answers, costs = [], cost_arrays(tree.schema)
    for i, target in enumerate(tree.schema.targets):
        classes, share, code = target.classes or (), shares[i], codes[i]
        heaviest = np.argsort(-share, kind="stable")[:MOST_CLASSES]
        named = tuple((classes[c], float(share[c])) for c in heaviest if share[c] > 0)
        paid: tuple[tuple[Hashable, float], ...] = ()
        matrix = costs[i]
        if matrix is not None:
            mean = share @ matrix
            cheapest = np.argsort(mean, kind="stable")[:MOST_CLASSES]
            paid = tuple((classes[c], float(mean[c])) for c in cheapest)
        answers.append(Answer(target.name, classes[code], float(share[code]), None, named, paid))
    return tuple(answers)


def _held_out(
    tree: Tree, leaf: int, answers: tuple[Answer, ...], rows: Dataset, delta: float
) -> tuple[Answer, ...]:
    """The answers with what held-out rows of the same leaf say of them."""
    leaves, targets = whole_rows(tree, rows)
    targets = targets[:, leaves == leaf]
    told = []
    for i, (answer, y) in enumerate(zip(answers, targets, strict=True)):
        if tree.schema.predicts_classes:
            held_out = share_held_out(int(np.sum(y == tree.label[leaf, i])), len(y), delta)
        elif tree.criterion == "absolute_error":
            held_out = median_held_out(y, delta)
        else:
            held_out = mean_held_out(y, delta)
        told.append(replace(answer, held_out=held_out))
    return tuple(told)
