"""Rule post-pruning: each path of a tree becomes a rule, and each rule is pruned by itself.

A tree can only be pruned from below: a test near the root stays in every path under it. A rule can lose any
of its conditions, the first as well as the last, so that a list of rules is often shorter than the tree.

Sources:

- Mitchell (Machine Learning, 3.7.1.2): paths to rules; drop any condition as long as the estimated error does
  not rise; order the rules by their estimated accuracy. `method="validation"` estimates on other rows than
  those that grew the tree.
- Quinlan (C4.5: Programs for Machine Learning, chapter 5; C4.5rules): the estimate from the training rows,
  the upper limit U_CF(E, N) of `pessimistic_errors` over all rows that the shorter rule fits; the greedy
  order of dropping; no rule that is worse than its class without conditions; for each class the subset of
  rules with the shortest description, theory bits by half; classes by fewest false positives; the default
  class; rules dropped whose omission lowers the training error. `method="pessimistic"` does all this.
- This implementation: the tests of one column are merged first (a lower bound, an upper bound or a set of
  categories can be dropped); among equals, the condition is dropped that admits more rows, then the one
  further down; a rule that fits no row has error 1; a rule that decides no training row is left out; the bits
  of a condition (`rule_selection`); a missing value or unseen category fits a condition if the tree sends it
  that way at every test merged in it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, get_args

import numpy as np

from treewright._suggestions import choices_text
from treewright.encoding import Dataset
from treewright.pruning.pessimistic_errors import add_errors
from treewright.pruning.rule_selection import (
    Bits,
    Candidate,
    Covers,
    default_class,
    drop_harmful_rules,
    select_rules,
)
from treewright.pruning.traversal import Floats
from treewright.tree import Tree
from treewright.tree.conditions import Condition, merge_conditions
from treewright.tree.evaluate import given_rows
from treewright.tree.oblique import with_directions
from treewright.tree.rule_list import Rule, RuleList, classes_of, paths

Method = Literal["pessimistic", "validation"]
Estimate = Callable[[Floats, Floats], Floats]  # from rows and errors to the error to expect

_DIGITS = 12  # of an estimated error; smaller differences are rounding


def rule_list(
    tree: Tree,
    *,
    data: Dataset,
    validation: Dataset | None = None,
    method: Method = "pessimistic",
    confidence: float = 0.25,
    max_rules: int = 10_000,
    random_state: int = 0,
) -> RuleList:
    """A list of rules from a tree of classes: paths with conditions dropped, chosen and ordered.

    Time and memory grow with leaves × rows (one bit for each rule and row); the conditions that a rule may
    lose are at most two for each column, however deep the tree is.

    Parameters
    ----------
    tree : Tree
        The tree, of one target with classes.
    data : Dataset or tuple (table, target)
        The rows that it was grown from, encoded with its schema.
    validation : Dataset or tuple (table, target), optional
        Rows that it was not grown from; for ``method="validation"`` only.
    method : {"pessimistic", "validation"}
        Errors estimated from the training rows as C4.5rules does, or on `validation` as Mitchell does.
    confidence : float
        CF of the pessimistic estimate, above 0 and at most 1; smaller drops more conditions.
    max_rules : int
        A tree with more leaves is refused: prune it first, or allow more.
    random_state : int
        The seed of the random starts of the search for a subset of more than ten rules of a class.

    Examples
    --------
    >>> from treewright import encode, grow
    >>> table = {"wind": [3, 12, 5, 14, 9, 2], "sky": ["clear", "clear", "rain", "rain", "clouds", "rain"]}
    >>> data = encode(table, ["sail", "stay", "sail", "stay", "sail", "sail"])
    >>> print(rule_list(grow(data), data=data))
    2 rules: the first that fits answers
    1.  wind <= 10   sail    4 rows   100 %
    2.  wind > 10    stay    2 rows   100 %
        otherwise    sail   no rows
    """
    _check(tree, validation, method, max_rules)
    data = given_rows(tree, data, "data")
    validation = None if validation is None else given_rows(tree, validation, "validation")
    classes = classes_of(tree.schema)
    covers = Covers(with_directions(data, tree.directions))
    estimate = partial(_error_rate, confidence=confidence if method == "pessimistic" else None)
    judges = covers if validation is None else Covers(with_directions(validation, tree.directions))
    rules = _generalise(tree, judges, estimate)
    if method == "pessimistic":
        rules = drop_harmful_rules(
            select_rules(rules, covers, len(classes), random_state), covers, len(classes)
        )
    else:
        rules.sort(key=lambda candidate: (candidate.error, -candidate.weight))  # stable: ties as in the tree
        rules = [candidate._replace(cover=covers.of_all(candidate.conditions)) for candidate in rules]
    return _rule_list(tree, rules, covers, estimate)


def _check(tree: Tree, validation: Dataset | None, method: str, max_rules: int) -> None:
    classes_of(tree.schema)
    if tree.schema.has_costs:
        raise ValueError("rules are pruned by errors, not by costs; make them of a tree without costs")
    if method not in get_args(Method):
        raise ValueError(f"method is {method!r}; it must be one of {choices_text(method, get_args(Method))}")
    if (validation is not None) != (method == "validation"):
        needs = (
            "needs validation=, rows that did not grow the tree"
            if validation is None
            else "takes no validation="
        )
        raise ValueError(f"method={method!r} {needs}")
    if tree.n_leaves > max_rules:
        raise ValueError(
            f"the tree has {tree.n_leaves:,} leaves, more than max_rules={max_rules:,}; prune it first, or "
            "allow more: time and memory grow with leaves × rows"
        )


def _error_rate(rows: Floats, errors: Floats, confidence: float | None = None) -> Floats:
    """Errors per row, pessimistic ones of a confidence if it is given; 1 where there is no row."""
    if confidence is not None:
        errors = errors + add_errors(rows, errors, confidence)
    rate: Floats = np.divide(errors, rows, out=np.ones_like(rows), where=rows > 0)
    return rate.round(_DIGITS)


def _generalise(tree: Tree, covers: Covers, estimate: Estimate) -> list[Candidate]:
    """The rules of all paths without the conditions that do not help, each only once.

    Those that are no better than their class without conditions are left out.
    """
    rules: dict[tuple[int, frozenset[Condition]], Candidate] = {}
    total = covers.by_class(covers.all, len(classes_of(tree.schema)))
    base = estimate(np.full_like(total, total.sum()), total.sum() - total)
    for leaf, conditions in paths(tree):
        code = int(tree.label[leaf, 0])
        kept, error, weight = _shorten(code, conditions, covers, estimate)
        key = code, frozenset(kept)
        if error < base[code] and key not in rules:
            rules[key] = Candidate(kept, code, error, weight, covers.of_all(kept))
    return list(rules.values())


def _shorten(
    code: int, conditions: tuple[Condition, ...], covers: Covers, estimate: Estimate
) -> tuple[tuple[Condition, ...], float, float]:
    """The conditions that help, the error to expect of the rule with these, and the weight of its rows.

    As long as the estimated error does not rise, the condition is dropped whose omission lowers it most. Only
    a row that fails a single condition is admitted by dropping one: for each row it is enough to know how
    many conditions it fails and the sum of their numbers, for such a row the number of that condition.
    """
    n = len(conditions)
    weight = np.ones(covers.n_rows) if covers.weight is None else covers.weight
    fails = [~covers.flags(covers.of(condition)) for condition in conditions]
    dtype = np.min_scalar_type(n)  # sums may overflow: those of single failures do not
    count, which = np.zeros((2, covers.n_rows), dtype)
    for i, fail in enumerate(fails):
        count += fail
        which += fail * dtype.type(i)
    kept = np.ones(n, np.bool_)
    fits = np.flatnonzero(count == 0)
    rows, wrong = weight[fits].sum(), weight[fits][covers.codes[fits] != code].sum()
    while True:
        single = np.flatnonzero(count == 1)
        more, number = weight[single], which[single]
        sums = np.zeros((2, n + 1))  # what dropping each would admit; the last: dropping none
        sums[0, :n] = np.bincount(number, more, n)
        sums[1, :n] = np.bincount(number, more * (covers.codes[single] != code), n)
        sums += np.array([[rows], [wrong]])
        error = estimate(sums[0], sums[1])
        best = min(np.flatnonzero(kept), key=lambda i: (error[i], -sums[0, i], -i), default=-1)
        if best < 0 or error[best] > error[n]:
            chosen = tuple(c for c, keep in zip(conditions, kept, strict=True) if keep)
            return chosen, float(error[n]), float(rows)
        rows, wrong = sums[:, best]
        kept[best] = False
        count -= fails[best]
        which -= fails[best] * dtype.type(best)


def _rule_list(tree: Tree, candidates: list[Candidate], covers: Covers, estimate: Estimate) -> RuleList:
    """The list with its counts: each training row is counted at the first rule that it fits."""
    classes = classes_of(tree.schema)
    left = covers.all
    rules = []

    def rule(conditions: tuple[Condition, ...], code: int, error: float, rows: Bits) -> Rule:
        weight = covers.by_class(rows, len(classes))
        weights = tuple((classes[c], float(weight[c])) for c in np.flatnonzero(weight))
        return Rule(merge_conditions(conditions), classes[code], int(covers.count(rows)), weights, error)

    for candidate in candidates:
        rows = left & candidate.cover
        if rows.any():
            rules.append(rule(candidate.conditions, candidate.code, candidate.error, rows))
            left = left & ~candidate.cover
    code = default_class(left, covers, len(classes))
    weight, right = covers.weigh(np.stack([left, left & covers.of(code)]))
    error = estimate(np.array(weight), np.array(weight - right))
    columns = {condition.column for each in rules for condition in each.conditions}
    incomplete = frozenset(name for name in columns if _has_missing(covers.data, name))
    default = rule((), code, float(error), left)
    return RuleList(tuple(rules), default, tree.schema, incomplete, directions=tree.directions)


def _has_missing(data: Dataset, name: str) -> bool:
    j = data.schema.position(name)
    return bool(data.schema.columns[j].type.is_missing(data.column(j)).any())
