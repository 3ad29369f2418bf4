"""A decision as a small story: text for people, and a table for notebooks."""

from __future__ import annotations

import math
from typing import Any

from treewright._text import aligned
from treewright.explaining.competitors import share_in_words
from treewright.explaining.decision_path import Answer, Decision, Step
from treewright.explaining.held_out import HeldOut
from treewright.explaining.tables import html_table, wrapped
from treewright.tree.wording import answer_in_words, escape, percent, rows_in_words, word

MOST_TARGETS = 3  # whose numbers stand beside the steps
_UNPROVEN = "The tree was made to fit these rows; how sure the answer is, held-out rows tell: test=."
MOST_WAYS = 6  # of a divided row that are named
MOST_STEPS = 40  # that are told; of a longer way its beginning and its end


def told(decision: Decision) -> str:
    """The answer, the steps in a table, and what the answer rests on."""
    table, notes = _table(decision)
    n = min(len(decision.answers), MOST_TARGETS)
    right = {0, *range(3, 3 + 2 * n), 3 + 2 * n}
    lines = aligned(table, right=right, gap=2)
    for at in sorted(notes, reverse=True):
        lines[at + 1 : at + 1] = notes[at]
    answer = ", ".join(_said(each, len(decision.answers) > 1) for each in decision.answers)
    return "\n".join([f"Answer: {answer}", "", *lines, "", *wrapped(_grounds(decision))])


def html(decision: Decision) -> str:
    """The same for notebooks; names are escaped."""
    (head, *body), notes = _table(decision)
    n = min(len(decision.answers), MOST_TARGETS)
    for at in sorted(notes, reverse=True):  # each below its step
        body[at:at] = [["", note.strip(), *[""] * (len(head) - 2)] for note in notes[at]]
    answer = ", ".join(_said(each, len(decision.answers) > 1) for each in decision.answers)
    return html_table([f"Answer: {answer}", *head[1:]], body, range(3, 4 + 2 * n), _grounds(decision))


def _said(answer: Answer, with_target: bool) -> str:
    value = _value(answer)
    return f"{escape(answer.target)} {value}" if with_target else value


def _value(answer: Answer) -> str:
    if answer.share is None and isinstance(answer.value, float):
        return f"{answer.value:.6g}"
    return word(answer.value)


def _table(decision: Decision) -> tuple[list[list[str]], dict[int, list[str]]]:
    """The cells of all lines, and by the place of a line what is told below it."""
    answers = decision.answers[:MOST_TARGETS]
    head = ["", "", ""]
    first = ["", "all rows", ""]
    for answer, start in zip(answers, decision.start, strict=False):
        name = _value(answer) if answer.share is not None else "answer"
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
    ways = decision.ways[:MOST_WAYS]
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
        mixed = ", ".join(f"{word(name)} {percent(share)}" for name, share in answer.shares)
        return f"The leaves of all its ways, mixed by their shares, say {mixed or _value(answer)}."
    rows = rows_in_words(decision.rows)
    if answer.share is None:
        spread = "" if answer.deviation is None else f", give or take {answer.deviation:.3g}"
        return f"The {rows} it learnt from that came this way say {_value(answer)}{spread}."
    shares = ", ".join(f"{word(name)} {percent(share)}" for name, share in answer.shares)
    return f"Of the {rows} it learnt from that came this way: {shares}."


def _by_costs(answer: Answer) -> str:
    (_, least), *others = answer.costs
    line = f"By what mistakes cost, {_value(answer)} is the cheapest answer: {least:.3g} a row"
    if others:
        line += f", {word(others[0][0])} would be {others[0][1]:.3g}"
    return f"{line}."


def _by_held_out(answer: Answer, held_out: HeldOut, own_rows: bool) -> str:
    if not held_out.rows:
        return "No held-out row came this way: nothing is known of how often it is right."
    rows = rows_in_words(held_out.rows)
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
            f"Of {rows} that came this way {percent(value)} are {_value(answer)}; "
            f"{sure} it is {low:.1f} to {high:.1f} % of all such rows."
        )
    text = f"{rows} that came this way have the {held_out.what} {value:.6g}"
    if held_out.lower is None or held_out.upper is None:
        return f"{text}; too few for an interval."
    nearly = "" if held_out.what == "median" else " (if such means are nearly normal)"
    return f"{text}; {sure} that of all such rows is {held_out.lower:.6g} to {held_out.upper:.6g}{nearly}."
