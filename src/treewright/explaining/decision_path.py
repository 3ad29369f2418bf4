"""Why a tree predicts what it does for one row: the path to its leaf, and how reliable the leaf is."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright._display import Layout, Record, TableResult
from treewright._json import plain
from treewright._text import count, escape, label_text, number_text, percent
from treewright.certifying.binomial import binomial_lower, binomial_upper, check_delta
from treewright.certifying.losses import checked_rows
from treewright.encoding import Dataset
from treewright.explaining.competitors import MOST_NODES, Competitor, Competitors, competitors, share_in_words
from treewright.explaining.row import Cell, Row, is_training_data, one_row
from treewright.parameters import documented
from treewright.tree import Tree
from treewright.tree.conditions import IS_MISSING, OR_MISSING
from treewright.tree.costs import cost_arrays
from treewright.tree.evaluate import whole_rows
from treewright.tree.missing import columns_with_missing, divides, parts_of
from treewright.tree.number_losses import NUMBER_LOSSES, predicts_medians
from treewright.tree.predict import answers as answers_to
from treewright.tree.predict import proportions
from treewright.tree.shortcuts import as_tree
from treewright.tree.wording import answer_in_words, surrogate_of, way_in_words

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_CLASSES = 5  # classes of a leaf that are listed, largest share first
MOST_TARGETS = 3  # targets with a column of their own in the table of steps
MOST_PATHS = 6  # paths of a divided row that are listed
MOST_STEPS = 40  # steps that are printed; of a longer path the first and the last ones


@dataclass(frozen=True)
class Step(Record):
    """One test on the path of a row: the test, the value of the row, the training rows that are left.

    `before` and `after` hold one number for each target: the share of the predicted class among the training
    rows, or the number that the node would predict, before the test and after it.
    """

    node: int  # that has the test
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
        """What the row satisfies, without the name of the column; for an unknown value, its side."""
        words = self.words[len(escape(self.column)) + 1 :]
        if self.known or words.endswith((IS_MISSING, OR_MISSING)):
            return words
        if self.share < 1:
            return f"{percent(self.share)} of it goes with {words}"
        return f"goes with {words}" + (f", as {self.surrogate}" if self.surrogate else "")

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values, without the wording of values and competitors."""
        facts = super().to_dict()
        del facts["value_words"], facts["competitor_words"]
        return {**facts, "surrogate": self.surrogate or None}


@dataclass(frozen=True)
class Answer(Record):
    """The prediction of a leaf for one target, and the rows that support it."""

    target: str
    value: Hashable  # the class or the number
    share: float | None  # of the class among the leaf's training rows, by weight; None for numbers
    deviation: float | None  # for numbers: the root of the mean square (or the mean) distance of these rows
    shares: tuple[tuple[Hashable, float], ...] = ()  # the leaf's heaviest classes, heaviest first
    costs: tuple[tuple[Hashable, float], ...] = ()  # the mean cost of its rows by answer, cheapest first
    held_out: HeldOut | None = None  # from rows that the tree has never seen

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values."""
        return {
            **super().to_dict(),
            "shares": [{"class": plain(name), "share": plain(share)} for name, share in self.shares],
            "costs": [{"answer": plain(name), "cost": plain(cost)} for name, cost in self.costs],
        }

    @property
    def value_words(self) -> str:
        """The class or the number as text."""
        if self.share is None and isinstance(self.value, float):
            return number_text(self.value)
        return label_text(self.value)

    def _amount(self, amount: float) -> str:
        return number_text(amount) if self.share is None else percent(amount)

    def _change(self, before: float, after: float) -> str:
        change = after - before
        return number_text(change, 3, sign="+") if self.share is None else f"{100 * change:+.1f}"


@dataclass(frozen=True)
class Way(Record):
    """One of several paths of a row that a tree divides: its leaf, the share that goes there, its value."""

    leaf: int
    share: float
    value: Any  # the answer of the leaf; a tuple where there are several targets


@dataclass(frozen=True)
class Decision(TableResult):
    """The path of one row through a tree to its prediction; `print` shows it.

    >>> from treewright import encode, explain, grow
    >>> data = encode({"wind": [3, 12, 5, 14, 9, 8]}, ["sail", "stay", "sail", "stay", "sail", "stay"])
    >>> decision = explain(grow(data, max_leaf_nodes=2), {"wind": 4})
    >>> decision.value, decision.answers[0].share, decision.steps[0].after
    ('sail', 1.0, (1.0,))
    """

    _wraps = True

    answers: tuple[Answer, ...]  # one for each target
    steps: tuple[Step, ...]
    leaf: int  # the node
    rows: int  # training rows in the leaf
    all_rows: int
    start: tuple[float, ...]  # for each target what the steps change, before the first of them
    delta: float
    own_rows: bool = False  # the "held-out" rows look like those that the tree was grown from
    # of a row with missing values, where the tree divides it; the largest first, which the steps follow
    ways: tuple[Way, ...] = ()

    @property
    def value(self) -> Any:
        """The answer; a tuple where there are several targets."""
        return _single(tuple(answer.value for answer in self.answers))

    def _layout(self) -> Layout:
        names = [f"{escape(answer.target)} " * (len(self.answers) > 1) for answer in self.answers]
        words = [name + answer.value_words for name, answer in zip(names, self.answers, strict=True)]
        answers = self.answers[:MOST_TARGETS]
        head, first = ["", "", ""], ["", "all rows", ""]
        for name, answer, start in zip(names, answers, self.start, strict=False):
            head += [name + (answer.value_words if answer.share is not None else "answer"), ""]
            first += [answer._amount(start), ""]
        rows, notes = [[*first, f"{self.all_rows:,}"]], {}
        steps, left_out = list(enumerate(self.steps, start=1)), len(self.steps) - MOST_STEPS
        if left_out > 0:
            steps = steps[: MOST_STEPS // 2] + steps[-MOST_STEPS // 2 :]
        for number, step in steps:
            rows.append(_step_cells(number, step, answers))
            others = zip(step.competitors, step.competitor_words, strict=True)
            own = [f"      or: {words}, {share_in_words(each)}" for each, words in others]
            if left_out > 0 and number == MOST_STEPS // 2:
                own.append(f"      … {left_out:,} more steps …")
            notes[len(rows) - 1] = own
        right = {0, *range(3, 4 + 2 * len(answers))}
        above = [f"Answer: {', '.join(words)}", ""]
        return Layout(above, [*head, "rows"], rows, right, ["", *_grounds(self)], notes, gap=2)


def _step_cells(number: int, step: Step, answers: tuple[Answer, ...]) -> list[str]:
    cells = [f"{number}.", f"{escape(step.column)} is {step.value_words}", step.test_words]
    for answer, before, after in zip(answers, step.before, step.after, strict=False):
        cells += [answer._amount(after), answer._change(before, after)]
    return [*cells, f"{step.rows:,}"]


@documented
def explain(
    model: Any, row: Any, *, data: Any = None, test: Any = None, delta: float = 0.05, most: int = 3
) -> Decision:
    """Why a tree predicts what it does for a row: the tests on its path, and how reliable the leaf is.

    Parameters
    ----------
    row : dict, one-row table, list, 1-d array or pandas Series
        By name it needs the columns that the tree tests and no others; by position all of them. None and nan
        are missing values.
    data : Dataset or tuple (table, target) or (table, target, weights), optional
        The rows that the tree was grown from: then each step names its `most` best competitors, the tests of
        other columns that would have split these rows nearly as well (of the first 64 steps). An estimator
        that was fitted with ``n_competitors`` has kept them.
    test : Dataset or tuple, optional
        Rows that the tree has never seen, all of the same weight. Those in the same leaf show how often its
        answer is right, with an exact interval (Clopper and Pearson's); or the mean (median for
        absolute_error) of their numbers. Without them there is only the share of the training rows, which
        the tree was fitted to.
    delta : float
        The probability that the interval misses the truth, for this leaf and target by itself.
    most : int
        How many competitors of each step.

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
    Of the 3 training rows in this leaf: stay 100 %.
    The tree was fitted to these rows; pass held-out rows (test=) to measure its reliability.
    """
    check_delta(delta)
    tree = as_tree(model)
    start = one_row(tree, row)
    ways = _ways(tree, start.data)
    leaf = ways[0].leaf if ways else int(tree.apply(start.data)[0])
    path = _path(tree, leaf)
    values = _values_along(tree, path, start.data, bool(ways))
    steps = _steps(tree, start, path, values)
    known = getattr(model, "competitors_", None)
    if data is not None:
        known = competitors(tree, data, nodes=[step.node for step in steps[:MOST_NODES]], most=most)
    if isinstance(known, Competitors):
        steps = tuple(_with_competitors(start, step, known, most) for step in steps)
    answers = _mixed_answers(tree, start.data) if ways else _answers(tree, leaf, values[-1].tolist())
    own_rows = False
    if test is not None:
        if tree.linear is not None:
            raise ValueError(
                "test gives the mean of a leaf's rows, and this tree has a linear model in each leaf"
            )
        rows = checked_rows(tree, test)
        own_rows = is_training_data(tree, rows)
        if not ways:  # a mixture is not the answer of one leaf
            answers = _held_out(tree, leaf, answers, rows, delta)
    return Decision(
        answers=answers,
        steps=steps,
        leaf=leaf,
        rows=int(tree.rows[leaf]),
        all_rows=int(tree.rows[0]),
        start=tuple(values[0].tolist()),
        delta=float(delta),
        own_rows=own_rows,
        ways=ways,
    )


def _single(values: tuple[Any, ...]) -> Any:
    """The value itself where there is one target."""
    return values[0] if len(values) == 1 else values


def _ways(tree: Tree, row: Dataset) -> tuple[Way, ...]:
    """The leaves of a row that the tree divides, the largest share first; none for a whole row."""
    if not divides(tree, row):
        return ()
    (parts,) = parts_of(tree, row)
    if len(parts.leaf) < 2:
        return ()
    answers = tree.label if tree.schema.predicts_classes else tree.value
    order = np.argsort(-parts.share, kind="stable")
    return tuple(
        Way(leaf, share, _single(_names(tree, answers[leaf].tolist())))
        for leaf, share in zip(parts.leaf[order].tolist(), parts.share[order].tolist(), strict=True)
    )


def _names(tree: Tree, answers: list[Any]) -> tuple[Any, ...]:
    """The classes of some codes, one for each target; numbers as they are."""
    pairs = zip(tree.schema.targets, answers, strict=True)
    return tuple(one if target.classes is None else target.classes[one] for target, one in pairs)


def _mixed_answers(tree: Tree, row: Dataset) -> tuple[Answer, ...]:
    """The mixture of the leaves of a divided row, for each target."""
    answers = answers_to(tree, row)[0].tolist()
    if tree.schema.predicts_classes:
        return _class_answers(tree, [share[0] for share in proportions(tree, row)], answers)
    targets = zip(tree.schema.targets, answers, strict=True)
    return tuple(Answer(target.name, value, None, None) for target, value in targets)


def _path(tree: Tree, leaf: int) -> Ints:
    """The nodes with a test from the root to a leaf, and the leaf."""
    parent, path = tree.parent, [leaf]
    while path[-1] > 0:
        path.append(int(tree.heads[parent[path[-1]]]))
    return np.array(path[::-1], np.int64)


def _values_along(tree: Tree, path: Ints, row: Dataset, is_divided: bool) -> Floats:
    """At each node of a path, for each target: the share of the predicted class, or the number."""
    if not tree.schema.predicts_classes:
        return tree.numbers_at(path, row.take(np.zeros(len(path), np.intp)))
    codes = np.asarray(answers_to(tree, row)[0] if is_divided else tree.label[path[-1]])
    blocks = tree.shares(tree.answering[path])  # a leaf without rows has the shares of the node above it
    return np.stack([block[:, code] for block, code in zip(blocks, codes, strict=True)], axis=1)


def _steps(tree: Tree, row: Row, path: Ints, values: Floats) -> tuple[Step, ...]:
    learnt = columns_with_missing(tree)
    cells: dict[int, Cell] = {}
    rows, numbers = tree.rows[path].tolist(), values.tolist()
    steps = []
    for place, node in enumerate(path[:-1].tolist()):
        position = int(tree.feature[node])
        cell = cells.setdefault(position, row.cell(position))
        child = int(path[place + 1])
        missing = not cell.known and cell.value is None and not row.is_unseen(position)
        part = float(tree.weight[child] / tree.weight[node])
        steps.append(
            Step(
                node=node,
                column=tree.tested[position].name,
                value=cell.value,
                value_words=cell.words,
                words=way_in_words(tree, child, learnt=learnt),
                known=cell.known,
                rows=rows[place + 1],
                before=tuple(numbers[place]),
                after=tuple(numbers[place + 1]),
                surrogate=surrogate_of(tree, node, row.data) if missing else "",
                share=part if missing and tree.missing == "fractional" else 1.0,
            )
        )
    return tuple(steps)


def _with_competitors(row: Row, step: Step, known: Competitors, most: int) -> Step:
    own = known[step.node][:most] if step.node in known.by_node else ()
    return replace(step, competitors=own, competitor_words=tuple(each.words_for(row.data) for each in own))


def _answers(tree: Tree, leaf: int, values: list[float]) -> tuple[Answer, ...]:
    """The answer of a leaf for each target, by its own rows; `values` are its numbers."""
    schema = tree.schema
    if schema.predicts_classes:
        return _class_answers(
            tree, [block[0] for block in tree.shares(np.array([leaf]))], tree.label[leaf].tolist()
        )
    losses = np.asarray(tree.statistic[leaf])[2::3] / tree.weight[leaf]
    if tree.linear is not None:
        losses = tree.linear.loss[[leaf]] / tree.weight[leaf]
    losses = NUMBER_LOSSES[tree.criterion].typical(losses)
    return tuple(
        Answer(target.name, value, None, None if np.isnan(loss) else loss)
        for target, value, loss in zip(schema.targets, values, losses.tolist(), strict=True)
    )


def _class_answers(tree: Tree, shares: list[Floats], codes: list[int]) -> tuple[Answer, ...]:
    """Answers of classes by the shares of each target."""

    def listed(amounts: Floats, order: Floats, classes: Any) -> tuple[tuple[Hashable, float], ...]:
        first = np.argsort(order, kind="stable")[:MOST_CLASSES].tolist()
        return tuple((classes[code], float(amounts[code])) for code in first)

    answers = []
    matrices = cost_arrays(tree.schema)
    for target, share, code, matrix in zip(tree.schema.targets, shares, codes, matrices, strict=True):
        classes = target.classes or ()
        heaviest = tuple(pair for pair in listed(share, -share, classes) if pair[1] > 0)
        mean = None if matrix is None else share @ matrix
        costs = () if mean is None else listed(mean, mean, classes)
        answers.append(Answer(target.name, classes[code], float(share[code]), None, heaviest, costs))
    return tuple(answers)


def _held_out(
    tree: Tree, leaf: int, answers: tuple[Answer, ...], rows: Dataset, delta: float
) -> tuple[Answer, ...]:
    """The answers with the statistics of held-out rows in the same leaf."""
    leaves, targets = whole_rows(tree, rows)
    interval = median_held_out if predicts_medians(tree.criterion) else mean_held_out
    return tuple(
        replace(
            answer,
            held_out=share_held_out(int(np.sum(y == tree.label[leaf, i])), len(y), delta)
            if tree.schema.predicts_classes
            else interval(y, delta),
        )
        for i, (answer, y) in enumerate(zip(answers, targets[:, leaves == leaf], strict=True))
    )


# ---- what the answer rests on, in words ----------------------------------------------------------------


def _grounds(decision: Decision) -> list[str]:
    """For each answer the training rows of the leaf, the costs, the held-out rows."""
    lines = [_ways_text(decision)] if decision.ways else []
    for answer in decision.answers:
        start = f"{escape(answer.target)}: " if len(decision.answers) > 1 else ""
        lines.append(start + _training_text(decision, answer))
        if answer.costs:
            lines.append(start + _costs_text(answer))
        if answer.held_out is not None:
            lines.append(start + _held_out_text(answer, answer.held_out, decision.own_rows))
    if all(answer.held_out is None for answer in decision.answers):
        lines.append(
            "The tree was fitted to these rows; pass held-out rows (test=) to measure its reliability."
        )
    return lines


def _ways_text(decision: Decision) -> str:
    """The leaves of a row with missing values, where the tree divides it."""
    parts = []
    for way in decision.ways[:MOST_PATHS]:
        values = way.value if isinstance(way.value, tuple) else (way.value,)
        parts.append(f"{percent(way.share)} to leaf {way.leaf} ({', '.join(map(answer_in_words, values))})")
    if len(decision.ways) > len(parts):
        parts.append(f"and {len(decision.ways) - len(parts):,} more")
    return (
        f"The row has missing values and is divided over {len(decision.ways):,} leaves: {', '.join(parts)}. "
        "The steps are those of its largest part."
    )


def _training_text(decision: Decision, answer: Answer) -> str:
    shares = ", ".join(f"{label_text(name)} {percent(share)}" for name, share in answer.shares)
    if decision.ways:
        return f"The mixture of these leaves: {shares or answer.value_words}."
    rows = count(decision.rows, "training row")
    if answer.share is None:
        spread = (
            ""
            if answer.deviation is None
            else f", with a typical deviation of {number_text(answer.deviation, 3)}"
        )
        return f"Prediction from the {rows} in this leaf: {answer.value_words}{spread}."
    return f"Of the {rows} in this leaf: {shares}."


def _costs_text(answer: Answer) -> str:
    (_, least), *others = answer.costs
    text = f"The answer with the lowest expected cost is {answer.value_words}: {least:.3g} per row"
    return text + (f", against {others[0][1]:.3g} for {label_text(others[0][0])}." if others else ".")


def _held_out_text(answer: Answer, held_out: HeldOut, own_rows: bool) -> str:
    if not held_out.rows:
        return "No held-out row is in this leaf, so it is not known how often its answer is right."
    rows = count(held_out.rows, "held-out row") + " in this leaf"
    if own_rows:
        rows += " (they look like the training rows, so this proves nothing)"
    value = held_out.value or 0.0
    sure = f"with {round(100 * (1 - held_out.delta), 10):g} % confidence"
    if held_out.what == "share":
        low, high = held_out.lower or 0.0, held_out.upper if held_out.upper is not None else 1.0
        low, high = math.floor(1000 * low + 1e-9) / 10, math.ceil(1000 * high - 1e-9) / 10
        share = f"Of the {rows}, {percent(value)} are {answer.value_words}"
        return f"{share}; {sure} the true share is {low:.1f} to {high:.1f} %."
    text = f"The {held_out.what} of the {rows} is {number_text(value)}"
    if held_out.lower is None or held_out.upper is None:
        return f"{text}; these are too few for an interval."
    nearly = "" if held_out.what == "median" else " (if means of so many rows are nearly normal)"
    ends = f"{number_text(held_out.lower)} to {number_text(held_out.upper)}"
    return f"{text}; {sure} the true {held_out.what} is {ends}{nearly}."


@dataclass(frozen=True)
class HeldOut(Record):
    """Statistics of held-out rows in the same leaf.

    With confidence `1 - delta` the true share, mean or median in the leaf lies between `lower` and `upper`,
    for this leaf by itself. The limits of a share and of a median are exact; those of a mean hold where the
    mean of so many rows is nearly normal.
    """

    what: Literal["share", "mean", "median"]  # of the rows with the answer's class; of their numbers
    rows: int
    value: float | None  # None without rows
    lower: float | None  # None: no limit
    upper: float | None
    delta: float


def share_held_out(hits: int, rows: int, delta: float) -> HeldOut:
    """Clopper and Pearson's interval, half of delta at either end.

    >>> share = share_held_out(9, 10, 0.05)
    >>> round(share.lower, 4), round(share.upper, 4)
    (0.555, 0.9975)
    """
    if not rows:
        return HeldOut("share", 0, None, 0.0, 1.0, delta)
    nats = np.log(2 / delta)
    lower, upper = binomial_lower(hits, rows, nats), binomial_upper(hits, rows, nats)
    return HeldOut("share", rows, hits / rows, float(lower), float(upper), delta)


def mean_held_out(numbers: Floats, delta: float) -> HeldOut:
    """Student's interval of the mean.

    >>> mean = mean_held_out(np.array([1.0, 2.0, 3.0]), 0.05)
    >>> round(mean.lower, 3), round(mean.upper, 3)
    (-0.484, 4.484)
    """
    n = len(numbers)
    value = float(numbers.mean()) if n else None
    if n < 2 or value is None:
        return HeldOut("mean", n, value, None, None, delta)
    from scipy.special import stdtrit

    reach = float(stdtrit(n - 1, 1 - delta / 2) * numbers.std(ddof=1) / np.sqrt(n))
    return HeldOut("mean", n, value, value - reach, value + reach, delta)


def median_held_out(numbers: Floats, delta: float) -> HeldOut:
    """The interval between two of the sorted numbers: at most delta / 2 that the median lies on either side.

    >>> median = median_held_out(np.arange(1.0, 7.0), 0.05)
    >>> median.value, median.lower, median.upper
    (3.5, 1.0, 6.0)
    """
    n = len(numbers)
    value = float(np.median(numbers)) if n else None
    from scipy.special import bdtr

    outside = np.asarray(bdtr(np.arange(n // 2 + 1), max(n, 1), 0.5)) <= delta / 2  # of k + 1 from the end
    if not n or not outside[0]:
        return HeldOut("median", n, value, None, None, delta)
    k = int(np.count_nonzero(outside)) - 1
    ordered = np.sort(numbers)
    return HeldOut("median", n, value, float(ordered[k]), float(ordered[n - 1 - k]), delta)
