"""The choice among rules, by hand: what they cost, ties, which rows judge, and what is dropped at the end."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pruning.test_rule_post_pruning import naive_length, random_candidates
from treewright import Among, Below, Branch, Column, Leaf, Schema, Target, Tree, encode, grow
from treewright.encoding import Dataset
from treewright.pruning.pessimistic_errors import add_errors
from treewright.pruning.rule_post_pruning import _error_rate, _generalise, _shorten, rule_list
from treewright.pruning.rule_selection import (
    Candidate,
    Covers,
    _Costs,
    _Subsets,
    default_class,
    drop_harmful_rules,
    select_rules,
)
from treewright.tree.conditions import Between, Within
from treewright.tree.rule_list import paths

AB = Target("y", ("a", "b"))


def test_what_conditions_cost() -> None:
    """Of 4 columns: 2 bits each; 5 values have 4 gaps, a single value none; a bit for each category."""
    table = {"x": [1, 2, 3, 4, 5, 5, math.nan, math.nan], "z": [1] * 8, "c": list("uvwuvwuv"), "d": [0] * 8}
    cost = _Costs(encode(table, list("aabbaabb")))
    upper, lower, one = Between("x", upto=2.5), Between("x", above=1.5), Between("z", upto=1.0)
    among = Within("c", ("u",))
    assert cost.of_rule((upper,)) == pytest.approx(2 + 1 + 2)
    assert cost.of_rule((one,)) == pytest.approx(2 + 1)
    assert cost.of_rule((among,)) == pytest.approx(2 + 3)
    assert cost.of_rule((upper, lower, among)) == pytest.approx(5 + 5 + 5 - math.log2(6))
    assert cost.of_rule(()) == 0


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_rules", [6, 12])
def test_the_length_of_every_message(n_rules: int, weighted: bool) -> None:
    """The numbers themselves, and from 11 starts the climbs find the best of 4,096 subsets."""
    covers, candidates = random_candidates(n_rules, 90, n_rules, weighted)
    bits = np.linspace(3.0, 12.0, n_rules)
    subsets = _Subsets(candidates, bits, covers)
    found, least = [], math.inf
    for number in range(2**n_rules):
        chosen = [i for i in range(n_rules) if number >> i & 1]
        fits = np.zeros(len(subsets.right), np.bool_)
        for i in chosen:
            fits[subsets.kinds[i]] = True
        right, wrong = subsets.right[fits].sum(), subsets.wrong[fits].sum()
        mine = float(subsets.length(right, wrong, bits[chosen].sum(), np.array(len(chosen))))
        if number % 16 == 5 or n_rules == 6:
            assert mine == pytest.approx(naive_length(chosen, bits, covers, candidates))
        if mine < least:
            found, least = chosen, mine
    assert subsets.best(np.random.default_rng(0)).tolist() == found


def test_climbs_end_where_no_step_helps() -> None:
    for seed in range(12):
        covers, candidates = random_candidates(15, 120, seed, weighted=seed % 2 == 1)
        bits = np.linspace(0.5, 9.0, 15)[::-1].copy()
        subsets = _Subsets(candidates, bits, covers)
        now, inside = subsets._climb(np.random.default_rng(seed).random(15) < 0.5)
        chosen = set(np.flatnonzero(inside).tolist())
        assert now == pytest.approx(naive_length(sorted(chosen), bits, covers, candidates))
        for i in range(15):
            assert naive_length(sorted(chosen ^ {i}), bits, covers, candidates) >= now - 1e-6


def test_a_climb_may_start_where_several_rules_fit_every_row() -> None:
    covers, candidates = random_candidates(1, 60, 0, weighted=False)
    every = candidates[0]._replace(cover=covers.pack(np.ones(60, np.bool_)))
    subsets = _Subsets([every] * 3, np.full(3, 5.0), covers)
    now, inside = subsets._climb(np.ones(3, np.bool_))
    chosen = np.flatnonzero(inside).tolist()
    assert len(chosen) < 3
    assert now == pytest.approx(naive_length(chosen, subsets.bits, covers, [every] * 3))


def test_of_equal_messages_the_one_of_fewer_rules() -> None:
    covers, candidates = random_candidates(1, 60, 0, weighted=False)
    twice = _Subsets(candidates * 2, np.zeros(2), covers)
    assert len(twice.best(np.random.default_rng(0))) == 1


def test_rules_of_a_class_by_error_then_weight() -> None:
    y = np.repeat([0, 1], [30, 10])
    covers = Covers(encode({"x": np.arange(40.0)}, y, classes=True))

    def rule(error: float, weight: float, rows: range) -> Candidate:
        cover = covers.pack(np.isin(np.arange(40), rows))
        return Candidate((Between("x", upto=float(rows[0])),), 0, error, weight, cover)

    rules = [rule(0.2, 9, range(10)), rule(0.1, 7, range(10, 20)), rule(0.1, 8, range(20, 30))]
    assert [(r.error, r.weight) for r in select_rules(rules, covers, 2, 0)] == [(0.1, 8), (0.1, 7), (0.2, 9)]


def test_equal_defaults_are_told_by_all_rows() -> None:
    covers = Covers(encode({"x": np.arange(5.0)}, ["a", "b", "b", "b", "a"]))
    left = covers.pack(np.array([True, True, False, False, False]))
    assert default_class(left, covers, 2) == 1
    weighted = Covers(encode({"x": np.arange(3.0)}, ["a", "b", "b"], weight=[5, 1, 1]))
    assert default_class(weighted.all, weighted, 2) == 0


def naive_polished(chosen: list[Candidate], covers: Covers, n_classes: int) -> list[int]:
    """Every list without one rule is tried on all rows."""
    weight = np.ones(covers.n_rows) if covers.weight is None else covers.weight
    flags = [covers.flags(rule.cover) for rule in chosen]

    def loss(kept: list[int], default: int) -> float:
        answer = np.full(covers.n_rows, default)
        for i in reversed(kept):
            answer[flags[i]] = chosen[i].code
        return float(weight[answer != covers.codes].sum())

    def best_default(kept: list[int]) -> int:
        left = np.ones(covers.n_rows, np.bool_)
        for i in kept:
            left &= ~flags[i]
        of_left = np.bincount(covers.codes[left], weight[left], n_classes)
        of_all = np.bincount(covers.codes, weight, n_classes)
        return min(range(n_classes), key=lambda c: (-of_left[c], -of_all[c]))

    kept = list(range(len(chosen)))
    while True:
        default = best_default(kept)  # as it is with all rules
        now = loss(kept, default)
        better = [i for i in kept if loss([k for k in kept if k != i], default) < now]
        if not better:
            return kept
        kept.remove(better[0])


@settings(max_examples=100)
@given(st.integers(0, 2**20), st.booleans())
def test_rules_whose_omission_helps_are_dropped(seed: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 5, 40).astype(float) if weighted else None
    covers = Covers(
        encode({"x": np.arange(40.0)}, np.append([0, 1, 2], rng.integers(0, 3, 37)), weight=weight)
    )
    chosen = [
        Candidate((Between("x", upto=float(i)),), int(rng.integers(3)), 0.1, 1.0, cover)
        for i in range(6)
        for cover in [covers.pack(rng.random(40) < 0.4)]
    ]
    mine = drop_harmful_rules(chosen, covers, 3)
    assert [rule.conditions[0].upto for rule in mine] == naive_polished(chosen, covers, 3)


# ---- which condition goes, and which rows say so -------------------------------------------------------


def path_of(columns: int) -> Tree:
    """x0 <= ½ and x1 <= ½ and … says a, all else b."""
    node: Branch | Leaf = Leaf([1.0, 0.0])
    names = [f"x{i}" for i in range(columns)]
    for name in reversed(names):
        node = Branch(Below(name, 0.5), node, Leaf([0.0, 1.0]))
    return Tree.write(Schema(tuple(map(Column, names)), (AB,)), node)


def rows_for(tree: Tree, rows: list[tuple[list[int], str]]) -> Dataset:
    return encode(np.array([x for x, _ in rows], float), [y for _, y in rows], schema=tree.schema)


def conditions_of_a(tree: Tree, data: Dataset, **options: Any) -> list[str]:
    made = rule_list(tree, data=data, **options)
    return next([c.column for c in rule.conditions] for rule in made if rule.label == "a")


def test_of_equal_conditions_the_last_goes() -> None:
    tree = path_of(2)
    data = rows_for(tree, [([0, 0], "a")] * 5 + [([1, 1], "b")] * 6)
    assert conditions_of_a(tree, data) == ["x0"]


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_of_equal_errors_the_condition_that_lets_in_more_goes(order: list[int]) -> None:
    """Each alone is right on all rows; without the first, three rows more are."""
    tree = path_of(2)
    rows = [([0, 0], "a")] * 2 + [([1, 0], "a")] * 3 + [([0, 1], "a")] + [([1, 1], "b")] * 9
    data = rows_for(tree, [([x[i] for i in order], y) for x, y in rows])
    kept = conditions_of_a(tree, data, validation=data.take(slice(None)), method="validation")
    assert kept == [f"x{order.index(1)}"]


def test_the_same_conditions_in_another_order_are_one_rule() -> None:
    schema = Schema(tuple(map(Column, ("z", "x", "y"))), (AB,))

    def nested(first: str, second: str) -> Branch:
        inner = Branch(Below(second, 0.5), Leaf([5.0, 0.0]), Leaf([0.0, 1.0]))
        return Branch(Below(first, 0.5), inner, Leaf([0.0, 1.0]))

    tree = Tree.write(schema, Branch(Below("z", 0.5), nested("x", "y"), nested("y", "x")))
    every = [[z, x, y] for z in (0, 1) for x in (0, 1) for y in (0, 1)] * 4
    data = encode(np.array(every, float), ["ab"[x or y] for _, x, y in every], schema=schema)
    made = rule_list(tree, data=data, validation=data.take(slice(None)), method="validation")
    both = [rule for rule in made if rule.label == "a"]
    assert len(both) == 1
    assert {c.column for c in both[0].conditions} == {"x", "y"}
    found = _generalise(tree, Covers(data), _error_rate)
    assert len({(candidate.code, frozenset(candidate.conditions)) for candidate in found}) == len(found)


def test_a_row_that_fails_256_conditions_does_not_fit() -> None:
    tree = path_of(300)
    rows = [([0] * 300, "a")] * 3 + [([1] * 256 + [0] * 44, "b")] * 4
    _, conditions = next(path for path in paths(tree) if len(path[1]) == 300 and tree.label[path[0], 0] == 0)
    kept, error, weight = _shorten(0, conditions, Covers(rows_for(tree, rows)), _error_rate)
    assert (error, weight) == (0.0, 3.0)
    assert [condition.column for condition in kept] == ["x0"]


def test_other_rows_judge_and_the_training_rows_are_counted() -> None:
    """By the training rows x1 is needed, by the others it is not; what rules say is of the training rows."""
    tree = path_of(2)
    data = rows_for(tree, [([0, 0], "a")] * 6 + [([0, 1], "b")] * 5 + [([1, 1], "b")] * 4)
    others = rows_for(tree, [([0, 0], "a")] * 2 + [([0, 1], "a")] * 2 + [([1, 1], "b")] * 2)
    assert conditions_of_a(tree, data, validation=data.take(slice(None)), method="validation") == ["x1"]
    assert conditions_of_a(tree, data, validation=others, method="validation") == ["x0"]
    made = rule_list(tree, data=data, validation=others, method="validation")
    a = next(rule for rule in made if rule.label == "a")
    assert a.error == 0  # of the others
    default = rule_list(path_of(1), data=rows_for(path_of(1), [([0], "a")] * 3 + [([0], "b")])).default
    assert default.error == pytest.approx((1 + add_errors(4, 1)) / 4)
    assert dict(a.weights) == {"a": 6.0, "b": 5.0}


def test_of_rules_of_one_error_the_one_of_more_rows_comes_first() -> None:
    schema = Schema((Column("x"), Column("c", "category", ("u", "v", "w"))), (AB,))
    right = Branch(Among("c", ("u",)), Leaf([1.0, 0.0]), Leaf([0.0, 3.0]))
    tree = Tree.write(schema, Branch(Below("x", 0.5), Leaf([2.0, 0.0]), right))
    table = {"x": [0, 0, 1, 1, 1, 1], "c": ["v", "v", "u", "v", "w", None]}
    data = encode(table, list("aaabbb"), schema=schema)
    made = rule_list(tree, data=data, validation=data.take(slice(None)), method="validation")
    assert [rule.error for rule in made] == [0.0] * len(made)
    fits = [int(Covers(data).count(Covers(data).of_all(rule.conditions))) for rule in made]
    assert fits == sorted(fits, reverse=True)
    assert fits[0] > fits[-1]
    assert made.with_missing == {"c"}


@pytest.mark.slow
def test_the_seed_is_that_of_the_starts() -> None:
    """Of many rules the climbs start at random: the seed decides from where, and the result is repeated."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (300, 9)).astype(float)
    data = encode(x, (x[:, :4].sum(axis=1) + (rng.random(300) < 0.3) > 2).astype(int))
    tree = grow(data)
    made = [rule_list(tree, data=data, random_state=seed).rules for seed in (0, 0, 1, 2, 3, 4, 5)]
    assert made[0] == made[1]
    assert len({tuple(rules) for rules in made}) > 1
