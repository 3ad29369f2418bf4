"""Plotting a list of rules: what each predicts, for how many rows, and how often it is right."""

from __future__ import annotations

from itertools import zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from treewright._suggestions import checked_keywords
from treewright._text import amount, label_text, percent
from treewright.plotting.axes import COLOURS, FAINT, INK, axes_or_new, finish, plain
from treewright.plotting.scene.colours import CLASS_COLOURS, OTHER_COLOUR
from treewright.tree.rule_list import Rule, RuleList
from treewright.tree.shortcuts import as_rules

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LONGEST_LINE = 64  # characters; a rule has two lines


@checked_keywords
def plot_rules(model: Any, ax: Axes | None = None, *, max_rules: int = 20) -> Axes:
    """Plot rules as bars, in their order: the length is the weight of the training rows for which a rule
    predicts, the grey end those that it misclassifies.

    Parameters
    ----------
    model : RuleList, Tree or fitted estimator
        A list of rules, or a tree, whose paths become rules.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.
    max_rules : int
        How many rules to show, the first of the list.

    Examples
    --------
    >>> from treewright import encode, grow, plot_rules
    >>> ax = plot_rules(grow(encode({"x": [1, 2, 3, 4]}, ["a", "a", "b", "b"])))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['1. x <= 2.5', '2. x > 2.5']
    """
    rules = as_rules(model)
    shown: list[Rule] = list(rules)[:max_rules]
    hidden = len(rules) - len(shown)
    if not rules.complete and not hidden:
        shown.append(rules.default)
    ax = axes_or_new(ax, 9.0, 1.2 + 0.42 * len(shown))
    colours = _colours(rules)
    for place, rule in enumerate(shown):
        wrong = rule.errors if rules.schema.predicts_classes else 0.0
        right = rule.weight - wrong
        ax.barh(place, right, color=colours[rule.label] if colours else COLOURS["training"], height=0.7)
        ax.barh(place, wrong, left=right, color=FAINT, height=0.7)
        share = f", {percent(right / rule.weight)}" if colours and rule.weight else ""
        answer = label_text(rule.label) if colours else amount(float(str(rule.label)))
        note: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": "small"}
        ax.annotate(plain(f"{answer}{share}"), (rule.weight, place), (5, 0), color=INK, **note)
    names = [_words(place, rule, rules) for place, rule in enumerate(shown)]
    ax.set_yticks(range(len(shown)), names, fontsize="small")
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.set_xlim(0, 1.18 * max((rule.weight for rule in shown), default=1.0))
    finish(ax, "training rows", "", title=f"… and {hidden:,} more rules" if hidden > 0 else "")
    ax.grid(False, axis="y")
    return ax


def _colours(rules: RuleList) -> dict[Any, str]:
    """The colour of each class; nothing for numbers."""
    if not rules.schema.predicts_classes:
        return {}
    classes = rules.schema.targets[0].classes or ()
    return dict(zip_longest(classes, CLASS_COLOURS[: len(classes)], fillvalue=OTHER_COLOUR))


def _words(place: int, rule: Rule, rules: RuleList) -> str:
    if not rule.conditions:
        return "otherwise" if rule is rules.default else f"{place + 1}. always"
    tests = [each.text(rules.tested[each.column], with_missing=False) for each in rule.conditions]
    lines = wrap(f"{place + 1}. {' and '.join(tests)}", _LONGEST_LINE, max_lines=2, placeholder=" …")
    return plain("\n".join(lines))
