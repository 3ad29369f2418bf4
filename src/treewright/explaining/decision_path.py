"""Why a tree predicts what it does for one row: the path to its leaf, and how reliable the leaf is."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright._json import plain
from treewright._text import aligned, escape, label_text, percent, row_count
from treewright.certifying.binomial import binomial_lower, binomial_upper, check_delta
from treewright.certifying.losses import checked_rows
from treewright.encoding import Dataset
from treewright.explaining.competitors import MOST_NODES, Competitor, Competitors, competitors, share_in_words
from treewright.explaining.row import Cell, Row, is_training_data, one_row
from treewright.explaining.tables import Record, html_table, wrapped
from treewright.tree import Tree
from treewright.tree.class_counts import SparseRows
from treewright.tree.costs import cost_arrays
from treewright.tree.evaluate import whole_rows
from treewright.tree.missing import columns_with_missing, divides, parts_of
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
_UNPROVEN = "The tree was fitted to these rows; pass held-out rows (test=) to measure its reliability."


@dataclass(frozen=True)
class Step(Record):
    """One test on the path of a row: the test, the value of the row, the training rows that are left.

    `before` and `after` hold one number for each target: the share of the class that the row's leaf answers
    among the training rows, or the number that the node would answer, before the test and after it.
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
    held_out: HeldOut | None = None  # what rows say that the tree has never seen

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values."""
        return {
            **super().to_dict(),
            "shares": [{"class": plain(name), "share": plain(share)} for name, share in self.shares],
            "costs": [{"answer": plain(name), "cost": plain(cost)} for name, cost in self.costs],
        }


@dataclass(frozen=True)
class Way(Record):
    """One of several paths of a row that a tree divides: its leaf, the share that goes there, its value."""

    leaf: int
    share: float
    value: Any  # the answer of the leaf; a tuple where there are several targets


@dataclass(frozen=True)
class Decision(Record):
    """The path of one row through a tree to its prediction; `print` shows it.

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
    # of a row with missing values, where the tree divides it; the largest first, which the steps follow
    ways: tuple[Way, ...] = ()

    @property
    def value(self) -> Any:
        """The answer; a tuple where there are several targets."""
        values = tuple(answer.value for answer in self.answers)
        return values[0] if len(values) == 1 else values

    def __str__(self) -> str:
        return _decision_text(self)

    def _repr_html_(self) -> str:
        return _decision_html(self)


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
    The tree was fitted to these rows; pass held-out rows (test=) to measure its reliability.
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
            raise ValueError(
                "test gives the mean of a leaf's rows, and this tree has a linear model in each leaf"
            )
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


def _decision_text(decision: Decision) -> str:
    """The answer, the steps in a table, and what the answer rests on."""
    table, notes = _table(decision)
    n = min(len(decision.answers), MOST_TARGETS)
    right = {0, *range(3, 3 + 2 * n), 3 + 2 * n}
    lines = aligned(table, right=right, gap=2)
    for at in sorted(notes, reverse=True):
        lines[at + 1 : at + 1] = notes[at]
    answer = ", ".join(_said(each, len(decision.answers) > 1) for each in decision.answers)
    return "\n".join([f"Answer: {answer}", "", *lines, "", *wrapped(_grounds(decision))])


def _decision_html(decision: Decision) -> str:
    """The same for notebooks; names are escaped."""
    (head, *body), notes = _table(decision)
    n = min(len(decision.answers), MOST_TARGETS)
    for at in sorted(notes, reverse=True):  # each below its step
        body[at:at] = [["", note.strip(), *[""] * (len(head) - 2)] for note in notes[at]]
    answer = ", ".join(_said(each, len(decision.answers) > 1) for each in decision.answers)
    return html_table([f"Answer: {answer}", *head[1:]], body, range(3, 4 + 2 * n), _grounds(decision))


def _said(answer: Answer, with_target: bool) -> str:
    value = _value_in_words(answer)
    return f"{escape(answer.target)} {value}" if with_target else value


def _value_in_words(answer: Answer) -> str:
    if answer.share is None and isinstance(answer.value, float):
        return f"{answer.value:.6g}"
    return label_text(answer.value)


def _table(decision: Decision) -> tuple[list[list[str]], dict[int, list[str]]]:
    """The cells of all lines, and by the place of a line what is told below it."""
    answers = decision.answers[:MOST_TARGETS]
    head = ["", "", ""]
    first = ["", "all rows", ""]
    for answer, start in zip(answers, decision.start, strict=False):
        name = _value_in_words(answer) if answer.share is not None else "answer"
        head += [f"{escape(answer.target)} {name}" if len(decision.answers) > 1 else name, ""]
        first += [_amount(answer, start), ""]
    table = [[*head, "rows"], [*first, f"{decision.all_rows:,}"]]
    notes: dict[int, list[str]] = {}
    steps = list(enumerate(decision.steps, start=1))
    left_out = len(steps) - MOST_STEPS
    if left_out > 0:
        steps = steps[: MOST_STEPS // 2] + steps[-MOST_STEPS // 2 :]
    for number, step in steps:
        table.append(_line(number, step, answers))
        others = zip(step.competitors, step.competitor_words, strict=True)
        if step.competitors:
            notes[len(table) - 1] = [f"      or: {words}, {share_in_words(each)}" for each, words in others]
        if left_out > 0 and number == MOST_STEPS // 2:
            notes.setdefault(len(table) - 1, []).append(f"      … {left_out:,} more steps …")
    return table, notes


def _line(number: int, step: Step, answers: tuple[Answer, ...]) -> list[str]:
    cells = [f"{number}.", f"{escape(step.column)} is {step.value_words}", step.test_words]
    for answer, before, after in zip(answers, step.before, step.after, strict=False):
        cells += [_amount(answer, after), _change(answer, before, after)]
    return [*cells, f"{step.rows:,}"]


def _amount(answer: Answer, amount: float) -> str:
    return f"{amount:.6g}" if answer.share is None else percent(amount)


def _change(answer: Answer, before: float, after: float) -> str:
    return f"{after - before:+.3g}" if answer.share is None else f"{100 * (after - before):+.1f}"


def _grounds(decision: Decision) -> list[str]:
    """What each answer rests on: the training rows of the leaf, the costs, the held-out rows."""
    lines = [_divided(decision)] if decision.ways else []
    for answer in decision.answers:
        start = f"{escape(answer.target)}: " if len(decision.answers) > 1 else ""
        lines.append(start + _by_training(decision, answer))
        if answer.costs:
            lines.append(start + _by_costs(answer))
        if answer.held_out is not None:
            lines.append(start + _by_held_out(answer, answer.held_out, decision.own_rows))
    if all(answer.held_out is None for answer in decision.answers):
        lines.append(_UNPROVEN)
    return lines


def _divided(decision: Decision) -> str:
    """The ways of a row that misses values, where the tree divides it."""
    ways = decision.ways[:MOST_PATHS]
    told = ", ".join(f"{percent(way.share)} to leaf {way.leaf} ({_words(way.value)})" for way in ways)
    more = f", and {len(decision.ways) - len(ways):,} more" if len(decision.ways) > len(ways) else ""
    return (
        f"The row misses values and goes to {len(decision.ways):,} leaves: {told}{more}. "
        "The steps are those of its largest part."
    )


def _words(value: Any) -> str:
    values = value if isinstance(value, tuple) else (value,)
    return ", ".join(map(answer_in_words, values))


def _by_training(decision: Decision, answer: Answer) -> str:
    if decision.ways:
        mixed = ", ".join(f"{label_text(name)} {percent(share)}" for name, share in answer.shares)
        return f"The leaves of all its ways, mixed by their shares, say {mixed or _value_in_words(answer)}."
    rows = row_count(decision.rows)
    if answer.share is None:
        spread = "" if answer.deviation is None else f", give or take {answer.deviation:.3g}"
        return f"The {rows} it learnt from that came this way say {_value_in_words(answer)}{spread}."
    shares = ", ".join(f"{label_text(name)} {percent(share)}" for name, share in answer.shares)
    return f"Of the {rows} it learnt from that came this way: {shares}."


def _by_costs(answer: Answer) -> str:
    (_, least), *others = answer.costs
    line = f"By what mistakes cost, {_value_in_words(answer)} is the cheapest answer: {least:.3g} a row"
    if others:
        line += f", {label_text(others[0][0])} would be {others[0][1]:.3g}"
    return f"{line}."


def _by_held_out(answer: Answer, held_out: HeldOut, own_rows: bool) -> str:
    if not held_out.rows:
        return "No held-out row came this way: nothing is known of how often it is right."
    rows = row_count(held_out.rows)
    value = held_out.value or 0.0
    if own_rows:
        rows += " of test (which look like the very rows it was grown from, so this proves nothing)"
    else:
        rows += " held out"
    sure = f"with {round(100 * (1 - held_out.delta), 10):g} % confidence"
    if held_out.what == "share":
        low, high = (held_out.lower or 0.0), (held_out.upper if held_out.upper is not None else 1.0)
        low, high = math.floor(1000 * low + 1e-9) / 10, math.ceil(1000 * high - 1e-9) / 10
        return (
            f"Of {rows} that came this way {percent(value)} are {_value_in_words(answer)}; "
            f"{sure} it is {low:.1f} to {high:.1f} % of all such rows."
        )
    text = f"{rows} that came this way have the {held_out.what} {value:.6g}"
    if held_out.lower is None or held_out.upper is None:
        return f"{text}; too few for an interval."
    nearly = "" if held_out.what == "median" else " (if such means are nearly normal)"
    return f"{text}; {sure} that of all such rows is {held_out.lower:.6g} to {held_out.upper:.6g}{nearly}."


@dataclass(frozen=True)
class HeldOut(Record):
    """Rows that the tree has never seen, of those that come to the same leaf.

    With confidence `1 - delta` the true share, mean or median in the leaf lies from `lower` to `upper`:
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
