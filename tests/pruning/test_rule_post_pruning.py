"""Rule post-pruning: each step beside a naive one, the laws of the result, worked examples, bad input."""

from __future__ import annotations

import math
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import Table, limits, table_of, tables
from tests.tree.test_deep_trees import chain, schema_of
from treewright import Among, Below, Branch, Leaf, RuleList, Tree, encode, grow
from treewright.datasets import load_spam
from treewright.encoding import Dataset
from treewright.pruning.pessimistic_errors import add_errors
from treewright.pruning.rule_post_pruning import _error_rate, _generalise, rule_list
from treewright.pruning.rule_selection import Candidate, Covers, _class_order, _Subsets
from treewright.tree.conditions import Between, Condition
from treewright.tree.rule_list import paths

GOLF = [
    ("sunny", 85, 85, "false", "stay"),
    ("sunny", 80, 90, "true", "stay"),
    ("overcast", 83, 78, "false", "play"),
    ("rain", 70, 96, "false", "play"),
    ("rain", 68, 80, "false", "play"),
    ("rain", 65, 70, "true", "stay"),
    ("overcast", 64, 65, "true", "play"),
    ("sunny", 72, 95, "false", "stay"),
    ("sunny", 69, 70, "false", "play"),
    ("rain", 75, 80, "false", "play"),
    ("sunny", 75, 70, "true", "play"),
    ("overcast", 72, 90, "true", "play"),
    ("overcast", 81, 75, "false", "play"),
    ("rain", 71, 80, "true", "stay"),
]


def golf() -> Dataset:
    outlook, temperature, humidity, windy, y = zip(*GOLF, strict=True)
    return encode(
        {"outlook": outlook, "temperature": temperature, "humidity": humidity, "windy": windy}, list(y)
    )


def test_golf_gives_the_rules_of_c45() -> None:
    """C4.5's tree of Quinlan's golf data (14 rows), written as binary tests, gives C4.5rules' four rules with
    their accuracies: 1 − ¼^(1/n) is the limit of no error among n rows.
    """
    data = golf()
    sunny = Branch(Below("humidity", 75.0), Leaf([2, 0]), Leaf([0, 3]))
    rain = Branch(Among("windy", ("false",)), Leaf([3, 0]), Leaf([0, 2]))
    others = Branch(Among("outlook", ("sunny",)), sunny, rain)
    tree = Tree.write(data.schema, Branch(Among("outlook", ("overcast",)), Leaf([4, 0]), others))
    made = rule_list(tree, data=data)
    expected = """
4 rules: the first that fits answers
1.  outlook = overcast                  play   4 rows   100 %
2.  outlook = rain and windy = false    play   3 rows   100 %
3.  outlook = sunny and humidity > 75   stay   3 rows   100 %
4.  outlook = rain and windy = true     stay   2 rows   100 %
    otherwise                           play   2 rows   100 %
"""
    assert str(made) == expected.strip()
    assert [round(1 - rule.error, 3) for rule in made] == [0.707, 0.630, 0.630, 0.500]


def fits(condition: Condition, cell: Any, categories: tuple[Any, ...]) -> bool:
    """One cell, in the words of the definition."""
    if isinstance(condition, Between):
        if math.isnan(cell):
            return condition.missing
        above = condition.above is None or float(cell) > condition.above
        return above and (condition.upto is None or float(cell) <= condition.upto)
    if cell < 0:
        return condition.missing if cell == -1 else condition.unseen
    return categories[cell] in condition.categories


def naive_rows(data: Dataset, conditions: Any) -> list[int]:
    """The rows that fit all conditions."""
    place = data.schema.position
    return [
        row
        for row in range(data.n_rows)
        if all(
            fits(c, data.columns[place(c.column)][row], data.schema.columns[place(c.column)].categories)
            for c in conditions
        )
    ]


def naive_estimate(
    data: Dataset, conditions: Any, code: int, confidence: float | None
) -> tuple[float, float]:
    """The estimated error of a rule and the weight of its rows."""
    weight = np.ones(data.n_rows) if data.weight is None else data.weight
    rows = naive_rows(data, conditions)
    total = sum(weight[row] for row in rows)
    wrong = sum(weight[row] for row in rows if data.targets[0][row] != code)
    if total == 0:
        return 1.0, 0.0
    more = 0.0 if confidence is None else float(add_errors(total, wrong, confidence))
    return round((wrong + more) / total, 12), total


def naive_rules(tree: Tree, data: Dataset, confidence: float | None) -> dict[Any, float]:
    """Each path, shortened one condition at a time, by counting everything anew."""
    found = {}
    for leaf, conditions in paths(tree):
        code, kept = int(tree.label[leaf, 0]), list(conditions)
        error, _ = naive_estimate(data, kept, code, confidence)
        while kept:
            tried = []
            for i in range(len(kept)):
                less, weight = naive_estimate(data, kept[:i] + kept[i + 1 :], code, confidence)
                tried.append((less, -weight, -conditions.index(kept[i]), i))
            best = min(tried)
            if best[0] > error:
                break
            error = best[0]
            del kept[best[3]]
        if error < naive_estimate(data, [], code, confidence)[0]:
            found.setdefault((code, frozenset(kept)), error)
    return found


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from([None, 0.05, 0.25, 0.9]))
def test_conditions_are_dropped_as_one_would_by_hand(data: Any, confidence: float | None) -> None:
    table: Table = data.draw(tables("gini", outputs=1, max_rows=16))
    tree = table.grow("gini", **data.draw(limits()))
    others: Table = data.draw(st.sampled_from([table, table.rows(slice(None, None, 2))]))
    rows = Dataset(tree.schema, others.dataset().columns, others.dataset().targets, _halves(others.weight))
    if rows.weight is not None and not rows.weight.any():
        return
    estimate = partial(_error_rate, confidence=confidence)
    found = _generalise(tree, Covers(rows), estimate)
    mine = {(c.code, frozenset(c.conditions)): c.error for c in found}
    expected = naive_rules(tree, rows, confidence)
    assert mine.keys() == expected.keys()
    for key, error in mine.items():
        assert error == pytest.approx(expected[key], abs=1e-11)
    weighty = rows if rows.weight is None else rows.take(np.flatnonzero(rows.weight))
    for candidate in found:
        covered = np.flatnonzero(Covers(rows).flags(candidate.cover))
        assert covered.tolist() == naive_rows(weighty, candidate.conditions)


def _halves(weight: Any) -> Any:
    """Weights whose sums are exact, so that a different order of adding makes no tie."""
    return None if weight is None else np.round(weight * 4) / 4


def random_candidates(n_rules: int, n_rows: int, seed: int, weighted: bool) -> tuple[Covers, list[Candidate]]:
    rng = np.random.default_rng(seed)
    weight = rng.choice([0.5, 1.0, 2.0], n_rows) if weighted else None
    y = (rng.random(n_rows) < 0.4).astype(int)
    covers = Covers(encode({"x": rng.random(n_rows)}, y, classes=True, weight=weight))
    candidates = []
    for _ in range(n_rules):
        likely = np.where(y == 1, rng.uniform(0.1, 0.6), rng.uniform(0.0, 0.15))
        cover = covers.pack(rng.random(n_rows) < likely)
        candidates.append(Candidate((Between("x", upto=0.5),), 1, 0.1, 1.0, cover))
    return covers, candidates


def naive_length(chosen: Any, bits: Any, covers: Covers, candidates: list[Candidate]) -> float:
    """The length of the message with these rules, from the definition."""

    def choose(n: float, k: float) -> float:
        lost = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        return max(lost / math.log(2), 0.0)

    weight = np.ones(covers.n_rows) if covers.weight is None else covers.weight
    covered = np.zeros(covers.n_rows, bool)
    for i in chosen:
        covered |= covers.flags(candidates[i].cover)
    own = covers.codes == 1
    theory = max(sum(bits[i] for i in chosen) - math.log2(math.factorial(len(chosen))), 0.0)
    said, missed = weight[covered].sum(), weight[~covered & own].sum()
    false = weight[covered & ~own].sum()
    return 0.5 * theory + choose(said, false) + choose(weight[~covered].sum(), missed)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_of_few_rules_the_best_subset_is_chosen(seed: int, weighted: bool) -> None:
    covers, candidates = random_candidates(6, 90, seed, weighted)
    bits = np.linspace(3.0, 12.0, 6)
    every = [subset for k in range(7) for subset in combinations(range(6), k)]
    best = min(naive_length(subset, bits, covers, candidates) for subset in every)
    mine = _Subsets(candidates, bits, covers).best(np.random.default_rng(0))
    assert naive_length(mine, bits, covers, candidates) == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_of_many_rules_no_single_change_is_better(weighted: bool) -> None:
    covers, candidates = random_candidates(25, 300, 5, weighted)
    bits = np.linspace(2.0, 20.0, 25)
    mine = set(_Subsets(candidates, bits, covers).best(np.random.default_rng(0)).tolist())
    length = naive_length(sorted(mine), bits, covers, candidates)
    for i in range(25):
        assert naive_length(sorted(mine ^ {i}), bits, covers, candidates) >= length - 1e-6
    assert length < naive_length([], bits, covers, candidates)


def test_classes_with_fewer_false_positives_come_first() -> None:
    y = np.array([0, 0, 0, 1, 1, 2, 2, 2])
    covers = Covers(encode({"x": np.arange(8.0)}, y, classes=True))

    def rule(code: int, rows: list[int]) -> Candidate:
        return Candidate((), code, 0.1, 1.0, covers.pack(np.isin(np.arange(8), rows)))

    # class 0 errs twice, 1 errs once; once its rows are gone, class 0 errs no more, but 2 does
    chosen = {0: [rule(0, [0, 1, 3, 4])], 1: [rule(1, [3, 4, 5])], 2: [rule(2, [2, 5, 6, 7]), rule(2, [0])]}
    assert _class_order(chosen, covers, 3) == [1, 0, 2]


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(st.data(), st.sampled_from(["pessimistic", "validation"]))
def test_laws_of_the_list(data: Any, method: Any) -> None:
    table: Table = data.draw(tables("gini", outputs=1, max_rows=40))
    tree = table.grow("gini", **data.draw(limits()))
    rows = table.dataset()
    made = rule_list(tree, data=rows, validation=rows if method == "validation" else None, method=method)
    weight = np.ones(rows.n_rows) if rows.weight is None else rows.weight
    places = made.apply(rows)
    wrong = made.codes[places] != rows.targets[0]
    # what the rules say of the training rows is true
    assert sum(rule.rows for rule in (*made, made.default)) == np.count_nonzero(weight)
    assert sum(rule.errors for rule in (*made, made.default)) == pytest.approx(weight[wrong].sum())
    for place, rule in enumerate(made):
        assert rule.rows == np.count_nonzero(weight[places == place]) > 0
    assert len(set(made)) == len(made)
    np.testing.assert_allclose(made.shares(places).sum(axis=1), 1.0)
    if method == "pessimistic":  # no rule whose omission would lower the training error
        for place in range(len(made)):
            without = RuleList(made.rules[:place] + made.rules[place + 1 :], made.default, made.schema)
            now = without.codes[without.apply(rows)] != rows.targets[0]
            assert weight[now].sum() >= weight[wrong].sum() - 1e-9
    else:
        assert [rule.error for rule in made] == sorted(rule.error for rule in made)
    assert str(made)


def test_weight_two_is_the_row_twice_and_zero_is_none() -> None:
    rng = np.random.default_rng(3)
    x, z = rng.random(60).round(1), rng.integers(0, 3, 60)
    y = ((x > 0.5) ^ (rng.random(60) < 0.2)).astype(int)
    copies = rng.integers(0, 3, 60)
    weighted = table_of([x, z], y, kinds=["number", "category"], weight=copies.astype(float))
    repeated = table_of([x, z], y, kinds=["number", "category"]).rows(np.repeat(np.arange(60), copies))
    tree = repeated.grow("gini")
    one, two = rule_list(tree, data=weighted.dataset()), rule_list(tree, data=repeated.dataset())
    assert [(r.conditions, r.label, r.weights) for r in one] == [
        (r.conditions, r.label, r.weights) for r in two
    ]
    assert one.default.weights == two.default.weights


@pytest.mark.slow
def test_spam_is_told_by_a_tenth_of_the_leaves() -> None:
    """The held-out rows of "The Elements of Statistical Learning": shorter than the tree, and no worse."""
    spam = load_spam()
    data = encode(spam.table(~spam.is_test), spam.target[~spam.is_test])
    table, truth = spam.table(spam.is_test), spam.target[spam.is_test]
    tree = grow(data, criterion="entropy")
    made = rule_list(tree, data=data)
    tree_error = float(np.mean(tree.predict(table) != truth))
    error = float(np.mean(made.predict(table) != truth))
    assert (tree.n_leaves, round(tree_error, 3)) == (166, 0.074)
    assert len(made) <= 25
    assert error <= 0.075
    kept, aside = data.take(np.arange(0, data.n_rows, 2)), data.take(np.arange(1, data.n_rows, 2))
    half = grow(kept, criterion="entropy")
    by_others = rule_list(half, data=kept, validation=aside, method="validation")
    assert len(by_others) < half.n_leaves
    assert np.mean(by_others.predict(table) != truth) < np.mean(half.predict(table) != truth)


def test_the_default_is_the_heaviest_class_that_is_left() -> None:
    data = encode({"x": [1.0, 1.0, 1.0]}, ["a", "b", "b"])
    made = rule_list(grow(data), data=data)  # a single leaf is no rule
    assert (len(made), made.default.label, made.default.rows) == (0, "b", 3)
    assert str(made) == "otherwise   b   3 rows   66.7 %"
    assert made.predict({"x": [5.0]}).tolist() == ["b"]
    np.testing.assert_allclose(made.predict_proba({"x": [5.0]}), [[1 / 3, 2 / 3]])


def some_tree() -> tuple[Tree, Dataset]:
    data = encode({"x": [1.0, 2.0, 3.0, 4.0], "c": ["u", "u", "v", "v"]}, ["a", "a", "b", "b"])
    return grow(data), data


def test_validation_rows_may_lack_a_class_and_have_unseen_categories() -> None:
    tree, data = some_tree()
    other = encode({"x": [1.5, 9.0], "c": ["new", None]}, ["a", "a"], schema=tree.schema)
    made = rule_list(tree, data=data, validation=other, method="validation")
    assert made.predict({"x": [1.0], "c": ["newer"]}).tolist() == ["a"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "magic"}, "method is 'magic'; it must be one of pessimistic, validation"),
        ({"method": "validation"}, "needs validation="),
        ({"validation": "data"}, "method='pessimistic' takes no validation="),
        ({"confidence": 0.0}, "confidence is 0.0"),
        ({"max_rules": 1}, "the tree has 2 leaves, more than max_rules=1; prune it first"),
        ({"data": encode({"z": [1.0]}, ["a"])}, "the columns of data are not the tree's"),
        ({"data": encode({"x": [1.0], "c": ["u"]})}, "the columns of data are not the tree's"),
    ],
)
def test_bad_input_is_refused(options: dict[str, Any], message: str) -> None:
    tree, data = some_tree()
    given = {"data": data} | {k: data if v == "data" else v for k, v in options.items()}
    with pytest.raises(ValueError, match=message):
        rule_list(tree, **given)


def test_rows_without_target_class_or_weight_are_refused() -> None:
    tree, data = some_tree()
    with pytest.raises(ValueError, match="data has no target"):
        rule_list(tree, data=encode({"x": [1.0], "c": ["u"]}, schema=tree.schema))
    with pytest.raises(ValueError, match="validation has no rows"):
        rule_list(tree, data=data, validation=data.take([]), method="validation")
    weightless = Dataset(data.schema, data.columns, data.targets, np.zeros(4))
    with pytest.raises(ValueError, match="data has no rows with positive weight"):
        rule_list(tree, data=weightless)
    table = {"x": [1.0, 2.0], "c": ["u", "v"]}
    strangers = Dataset(data.schema, data.columns, data.targets)
    object.__setattr__(strangers, "schema", encode(table, ["p", "q"]).schema)
    with pytest.raises(ValueError, match="the target of data is not the tree's"):
        rule_list(tree, data=strangers)


def test_a_tree_without_classes_is_refused() -> None:
    numbers = encode({"x": [1.0, 2.0]}, [1.5, 2.5])
    with pytest.raises(ValueError, match="rules are for classes; this tree predicts numbers"):
        rule_list(grow(numbers), data=numbers)
    tree, data = some_tree()
    costly = tree.with_costs([[0, 1], [5, 0]])
    with pytest.raises(ValueError, match="by errors, not by costs"):
        rule_list(costly, data=data)
    assert RuleList.of(costly).predict({"x": [1.0], "c": ["u"]}).tolist() == ["a"]


@pytest.mark.slow
def test_a_deep_chain_is_refused_by_its_leaves_and_done_where_they_are_few() -> None:
    schema = schema_of(numbers=False)
    tree = Tree.write(schema, chain(numbers=False, to_the_left=False, depth=20_000))
    data = encode({"x": np.arange(500.0)}, np.where(np.arange(500) % 2, "even", "odd"), schema=schema)
    with pytest.raises(ValueError, match="20,001 leaves, more than max_rules=10,000"):
        rule_list(tree, data=data)
    small = Tree.write(schema, chain(numbers=False, to_the_left=True, depth=400))
    assert len(rule_list(small, data=data)) <= 401
