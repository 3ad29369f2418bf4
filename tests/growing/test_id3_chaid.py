"""ID3 and CHAID against independent, naive versions of them, and against numbers worked out by hand."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations
from math import comb, factorial, log2

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from treewright import CHAIDClassifier, ID3Classifier, Tree, encode
from treewright.growing import chaid
from treewright.growing.chaid import bin_thresholds, grow_chaid, merge_values, multiplier
from treewright.growing.conditional_inference import two_sample_p_values
from treewright.growing.id3 import grow_id3

Table = dict[str, list]

# ---- ID3, naive --------------------------------------------------------------------------------------

PHI = {
    "entropy": lambda shares: -sum(p * log2(p) for p in shares if p),
    "gini": lambda shares: 1 - sum(p * p for p in shares),
    "error": lambda shares: 1 - max(shares),
}


def mixture(labels: list, phi: str) -> float:
    return PHI[phi]([n / len(labels) for n in Counter(labels).values()]) if labels else 0.0


def gain(table: Table, labels: list, name: str, phi: str) -> float:
    parts: dict = {}
    for value, label in zip(table[name], labels, strict=True):
        parts.setdefault(value, []).append(label)
    rest = sum(len(part) / len(labels) * mixture(part, phi) for part in parts.values())
    return mixture(labels, phi) - rest


def majority(labels: list) -> object:
    return min(Counter(labels).items(), key=lambda item: (-item[1], item[0]))[0]


def naive_id3(table: Table, labels: list, names: list[str], phi: str) -> object:
    """A label, or (column, {value: subtree}, majority of the node)."""
    names = [name for name in names if len(set(table[name])) > 1]
    if len(set(labels)) == 1 or not names:
        return majority(labels)
    gains = [round(gain(table, labels, name, phi), 10) for name in names]
    best = names[gains.index(max(gains))]
    branches = {}
    for value in set(table[best]):
        rows = [i for i, other in enumerate(table[best]) if other == value]
        part = {name: [column[i] for i in rows] for name, column in table.items()}
        others = [name for name in names if name != best]
        branches[value] = naive_id3(part, [labels[i] for i in rows], others, phi)
    return best, branches, majority(labels)


def naive_answer(tree: object, row: dict) -> object:
    while isinstance(tree, tuple):
        name, branches, own = tree
        if row[name] not in branches:
            return own
        tree = branches[row[name]]
    return tree


def same_shape(tree: Tree, node: int, naive: object) -> bool:
    """Whether a node tests what the naive one tests, and all below it do."""
    if not isinstance(naive, tuple):
        return bool(tree.is_leaf[node]) and tree.schema.targets[0].classes[tree.label[node, 0]] == naive
    name, branches, own = naive
    if tree.is_leaf[node] or tree.schema.columns[tree.feature[node]].name != name:
        return False
    found = tree.branches(node)
    with_rows = [branch for branch in found if tree.rows[branch] > 0]
    column = tree.schema.columns[tree.feature[node]].categories
    for branch, value in zip(with_rows, [v for v in column if v in branches], strict=True):
        if not same_shape(tree, branch, branches[value]):
            return False
    empty = [branch for branch in found if tree.rows[branch] == 0]
    answers = {tree.schema.targets[0].classes[tree.label[branch, 0]] for branch in empty}
    return answers <= {own} and len(with_rows) == len(branches)


def drawn(seed: int, rows: int = 60, columns: int = 4, values: int = 4) -> tuple[Table, list]:
    rng = np.random.default_rng(seed)
    table = {f"c{i}": rng.choice(list("pqrstu")[:values], rows).tolist() for i in range(columns)}
    labels = [
        "yes"
        if (table["c0"][i] in "pq") ^ (table["c1"][i] == "r")
        else "no"
        if rng.random() < 0.7
        else "maybe"
        for i in range(rows)
    ]
    return table, labels


@pytest.mark.parametrize("phi", ["entropy", "gini", "error"])
@pytest.mark.parametrize("seed", range(8))
def test_id3_grows_the_tree_of_the_naive_one(phi: str, seed: int) -> None:
    table, labels = drawn(seed, values=3 + seed % 3)
    tree = grow_id3(encode(table, labels), criterion=phi)
    tree.check()
    naive = naive_id3(table, labels, list(table), phi)
    assert same_shape(tree, 0, naive)
    others, _ = drawn(seed + 100, values=3 + seed % 3)
    rows = [dict(zip(others, row, strict=True)) for row in zip(*others.values(), strict=True)]
    assert tree.predict(others).tolist() == [naive_answer(naive, row) for row in rows]


def worked() -> tuple[Table, list]:
    """(x1, x2) with positives and negatives: (0,0) 1/1, (0,1) 2/1, (1,0) 3/1, (1,1) 4/2."""
    cells = {(0, 0): (1, 1), (0, 1): (2, 1), (1, 0): (3, 1), (1, 1): (4, 2)}
    rows = [
        (x, label)
        for x, counts in cells.items()
        for label, n in zip((1, 0), counts, strict=True)
        for _ in range(n)
    ]
    return {"x1": [x[0] for x, _ in rows], "x2": [x[1] for x, _ in rows]}, [label for _, label in rows]


def test_the_gains_of_the_worked_table() -> None:
    """By Gini x1 gains 1/225 of the 4/9 at the root and x2 nothing; x1 gains .007118 bits; no error falls."""
    table, labels = worked()
    kinds = {"x1": "category", "x2": "category"}
    root = {name: grow_id3(encode(table, labels, kinds=kinds), criterion=name) for name in PHI}
    n = 15
    assert root["gini"].risk[0] / n == pytest.approx(4 / 9)
    assert root["gini"].gain[0] / n == pytest.approx(1 / 225)
    assert root["entropy"].gain[0] / n == pytest.approx(0.007118, abs=1e-6)
    assert root["error"].gain[0] == 0
    assert root["gini"].test(0).column == root["entropy"].test(0).column == "x1"
    assert gain(table, labels, "x2", "gini") == pytest.approx(0.0)


def test_no_gain_is_no_reason_to_stop() -> None:
    table = {"a": list("nnyy"), "b": list("nyny")}
    tree = grow_id3(encode(table, list("0110")))
    assert tree.n_leaves == 4
    assert tree.loss[tree.is_leaf].sum() == 0


def test_a_value_that_a_node_lacks_answers_as_the_node() -> None:
    tree = grow_id3(encode(*drawn(1)))
    empty = np.flatnonzero(tree.rows == 0)
    assert empty.size
    for leaf in empty.tolist():
        assert tree.label[leaf, 0] == tree.label[tree.heads[tree.parent[leaf]], 0]
    assert "no rows   (as above)" in re.sub(" {4,}", "   ", str(tree))


def test_missing_values_are_a_value() -> None:
    tree = grow_id3(encode({"a": ["x", "x", None, None, "y"]}, list("uuvvw")))
    tree.check()
    assert tree.predict({"a": [None, "x", "y"]}).tolist() == ["v", "u", "w"]
    assert "a is missing" in str(tree)


def test_id3_takes_few_numbers_for_categories_and_refuses_many() -> None:
    table = {"n": [3, 1, 2, 1, 3], "s": list("pqpqp")}
    model = ID3Classifier().fit(table, list("aabba"))
    assert model.predict({"n": [3, 2], "s": ["p", "p"]}).tolist() == ["a", "b"]
    with pytest.raises(ValueError, match=r"'n' has 65 different numbers"):
        ID3Classifier().fit({"n": np.arange(65.0)}, ["a", "b"] * 32 + ["a"])
    with pytest.raises(ValueError, match="'t' is a time"):
        ID3Classifier().fit({"t": np.array(["2020-01-01", "2021-01-01"], "datetime64[D]")}, ["a", "b"])
    with pytest.raises(ValueError, match="ID3's are"):
        ID3Classifier(criterion="sqrt").fit(table, list("aabba"))
    with pytest.raises(ValueError, match="kinds="):
        grow_id3(encode({"x": [1.0, 2.0]}, ["a", "b"]))


def test_a_weight_of_two_is_the_row_twice() -> None:
    table, labels = drawn(3)
    weight = np.arange(60) % 3
    twice = {name: np.repeat(column, weight).tolist() for name, column in table.items()}
    data, repeated = encode(table, labels, weight=weight), encode(twice, np.repeat(labels, weight).tolist())
    for grow in (grow_id3, grow_chaid):
        one, other = grow(data), grow(repeated)
        assert np.array_equal(one.feature, other.feature)
        assert np.array_equal(one.statistic, other.statistic)


# ---- CHAID -------------------------------------------------------------------------------------------


def p_value(table: np.ndarray) -> float:
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    return 1.0 if min(table.shape) < 2 else float(chi2_contingency(table, correction=False).pvalue)


def naive_groups(counts: dict, ordinal: bool, alpha: float) -> list[list]:
    """Values merged by pairs while the largest p-value is above alpha; None is the missing value."""
    known = [[value] for value in counts if value is not None]
    groups = known + ([[None]] if None in counts else [])

    def total(group: list) -> np.ndarray:
        return np.sum([counts[value] for value in group], axis=0)

    def allowed(i: int, j: int) -> bool:
        return not ordinal or j == i + 1 or groups[j] == [None]

    while len(groups) > 2:
        pairs = [(i, j) for i, j in combinations(range(len(groups)), 2) if allowed(i, j)]
        chances = [round(p_value(np.array([total(groups[i]), total(groups[j])])), 12) for i, j in pairs]
        if max(chances) <= alpha:
            break
        i, j = pairs[chances.index(max(chances))]
        groups[i] += groups.pop(j)
    return groups


def naive_chaid(
    values: dict[str, list], ordinal: set[str], labels: list, alpha: float = 0.05
) -> tuple | None:
    """(column, groups, adjusted p-value) of a root; None where nothing is significant."""
    classes, found = sorted(set(labels)), []
    for name, column in values.items():
        order = sorted({value for value in column if value is not None}) + [None] * (None in column)
        counts = {value: np.zeros(len(classes)) for value in order}
        for value, label in zip(column, labels, strict=True):
            counts[value][classes.index(label)] += 1
        groups = naive_groups(counts, name in ordinal, alpha)
        if len(groups) < 2:
            continue
        p = p_value(np.array([np.sum([counts[v] for v in group], axis=0) for group in groups]))
        c, r = len(order), len(groups)
        if name not in ordinal:
            factor = sum((-1) ** i * (r - i) ** c / factorial(i) / factorial(r - i) for i in range(r))
        elif None in order:
            factor = comb(c - 2, r - 2) + r * comb(c - 2, r - 1)
        else:
            factor = comb(c - 1, r - 1)
        found.append((min(p * factor, 1.0), name, groups))
    best = min(found, default=(1.0, "", []), key=lambda each: each[0])
    return None if best[0] > alpha else (best[1], best[2], best[0])


def _first(values: set) -> str:
    return min(map(str, values))


def branch_values(tree: Tree, values: list) -> list[set]:
    """Which of the given values of the root's column come together in one branch."""
    name = tree.test(0).column
    others = {column.name: [None] * len(values) for column in tree.schema.columns}
    data = encode(others | {name: values}, schema=tree.schema)
    leaf = tree.apply(data)
    branch = [next(b for b in tree.branches(0) if b <= node < tree.end[b]) for node in leaf.tolist()]
    return sorted(
        ({v for v, b in zip(values, branch, strict=True) if b == at} for at in set(branch)), key=_first
    )


@pytest.mark.parametrize("seed", range(12))
def test_chaid_splits_the_root_as_the_naive_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, strength = 240, rng.uniform(0.0, 0.5)
    c = rng.choice(list("abcdefg"), n).astype(object)
    x = rng.integers(0, 8, n).astype(float)
    noise = rng.choice(list("pqr"), n).astype(object)
    signal = (np.isin(c, ["a", "e"]) if seed % 2 else (x > 5)) | (rng.random(n) > 0.5 + strength)
    labels = np.where(signal, "yes", np.where(rng.random(n) < 0.5, "no", "so"))
    if seed % 3:
        c[rng.random(n) < 0.1] = None
        x[rng.random(n) < 0.1] = np.nan
    numbers = [None if np.isnan(v) else v for v in x.tolist()]
    table = {"c": c.tolist(), "x": numbers, "noise": noise.tolist()}
    tree = grow_chaid(encode(table, labels), max_depth=1)
    tree.check()
    naive = naive_chaid(table, {"x"}, labels.tolist())
    if naive is None:
        assert tree.n_nodes == 1
        return
    name, groups, _ = naive
    assert tree.test(0).column == name
    values = [value for group in groups for value in group]
    assert branch_values(tree, values) == sorted((set(group) for group in groups), key=_first)


def test_the_multipliers_count_the_ways_to_merge() -> None:
    def partitions(values: list) -> list[list[list]]:
        if not values:
            return [[]]
        first, ways = values[0], []
        for others in partitions(values[1:]):
            ways.append([[first], *others])
            ways += [[*others[:i], [first, *others[i]], *others[i + 1 :]] for i in range(len(others))]
        return ways

    for c in range(2, 7):
        every = partitions(list(range(c)))
        for r in range(2, c + 1):
            of_size = [way for way in every if len(way) == r]

            def in_a_row(group: list, last: int | None = None) -> bool:
                known = sorted(v for v in group if v != last)
                return not known or known[-1] - known[0] == len(known) - 1

            assert multiplier(c, r, "nominal") == len(of_size)
            ordinal = [way for way in of_size if all(in_a_row(group) for group in way)]
            assert multiplier(c, r, "ordinal") == len(ordinal)
            floating = [way for way in of_size if all(in_a_row(group, c - 1) for group in way)]
            assert multiplier(c, r, "floating") == len(floating)


def test_groups_of_few_rows_join_others() -> None:
    rng = np.random.default_rng(5)
    c = np.array(["a"] * 100 + ["b"] * 100 + ["z"] * 5)
    y = np.where(c == "a", rng.random(205) < 0.1, rng.random(205) < 0.8)
    y[200:] = True
    tree = grow_chaid(encode({"c": c}, y), min_samples_leaf=10)
    assert str(tree).splitlines()[2].startswith("└─ c not in {a} ")
    assert (tree.rows[tree.is_leaf] >= 10).all()


def test_merged_values_are_parted_again() -> None:
    """Four values merge one by one, though the first two and the last two of them differ."""
    counts = {"a": (16, 44), "b": (12, 48), "c": (19, 41), "d": (23, 37), "e": (31, 29)}
    rows = [(v, label) for v, n in counts.items() for label, k in zip("xy", n, strict=True) for _ in range(k)]
    data = encode({"v": [v for v, _ in rows]}, [label for _, label in rows])
    values = list(counts)
    assert branch_values(grow_chaid(data, alpha_split=1.0), values) == [set("abcd"), set("e")]
    parted = grow_chaid(data, alpha_split=1.0, alpha_resplit=0.05)
    assert branch_values(parted, values) == [set("ab"), set("cd"), set("e")]
    left, right = (np.add(counts[one], counts[other]) for one, other in ("ab", "cd"))
    assert p_value(np.array([left, right])) <= 0.05
    with pytest.raises(ValueError, match=r"alpha_resplit is 0\.1"):
        grow_chaid(data, alpha_resplit=0.1)


def test_numbers_are_cut_into_classes_of_equal_weight() -> None:
    data = encode({"x": np.arange(100.0)}, np.arange(100) % 2)
    assert bin_thresholds(data, 0, 10).tolist() == [9.5, 19.5, 29.5, 39.5, 49.5, 59.5, 69.5, 79.5, 89.5]
    weight = np.where(np.arange(100) < 50, 3.0, 1.0)
    cuts = bin_thresholds(data.with_weight(weight), 0, 2)
    assert len(cuts) == 1
    assert 32 < cuts[0] < 34
    assert bin_thresholds(encode({"x": [1.0, 1.0, np.nan]}, [0, 1, 0]), 0, 10).size == 0


def test_chaid_refuses_what_cannot_be() -> None:
    data = encode({"x": [1.0, 2.0]}, ["a", "b"])
    for options, message in (
        ({"alpha_merge": 0.0}, "alpha_merge=0.0 is not possible"),
        ({"alpha_split": 2}, "alpha_split=2 is not possible"),
        ({"max_classes": 1}, "max_classes=1 is not possible"),
    ):
        with pytest.raises(ValueError, match=message):
            grow_chaid(data, **options)
        with pytest.raises(ValueError, match="is not possible"):
            CHAIDClassifier(**options).fit({"x": [1.0, 2.0]}, ["a", "b"])
    with pytest.raises(ValueError, match="one target"):
        grow_chaid(encode({"x": [1.0, 2.0]}, [0.5, 1.5]))


def test_the_estimators_of_many_branches_answer_as_their_trees() -> None:
    table, labels = drawn(7, rows=200)
    for model in (ID3Classifier().fit(table, labels), CHAIDClassifier().fit(table, labels)):
        assert model.predict(table).tolist() == model.model_.predict(table).tolist()
        assert np.allclose(model.predict_proba(table).sum(axis=1), 1.0)
        assert model.get_depth() == model.model_.height <= len(table)
        path = model.cost_complexity_pruning_path(table, labels)
        assert (np.diff(path.ccp_alphas) >= 0).all()


# ---- many values ---------------------------------------------------------------------------------


def merged_by_all_pairs(table: np.ndarray, alpha: float) -> list[list[int]]:
    """As Kass says it: look at all pairs, merge the one that differs least, and begin again."""
    groups = [[value] for value in np.flatnonzero(table.any(axis=1)).tolist()]
    while len(groups) > 2:
        sums = np.array([table[group].sum(axis=0) for group in groups])
        first, second = np.triu_indices(len(groups), 1)
        p = two_sample_p_values(sums[first], sums[second])
        best = int(np.argmax(p))
        if p[best] <= alpha:
            break
        i, j = int(first[best]), int(second[best])
        groups[i] += groups.pop(j)
    return sorted(map(sorted, groups))


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.05, 0.5, 1.0])
def test_merging_looks_at_few_pairs_and_finds_the_same_groups(alpha: float) -> None:
    for seed in range(60):
        rng = np.random.default_rng(seed)
        table = rng.integers(0, (3, 30)[seed % 2], (rng.integers(3, 25), rng.integers(2, 5))).astype(float)
        table *= rng.uniform(0.5, 2, (len(table), 1)) if seed % 3 == 0 else 1.0
        if np.count_nonzero(table.any(axis=1)) < 2:
            continue
        rows = np.ceil(table.sum(axis=1)).astype(np.int64)
        found = merge_values(table, rows, is_ordinal=False, alpha_merge=alpha)
        assert sorted(found.members) == merged_by_all_pairs(table, alpha)


@pytest.mark.slow
def test_a_thousand_categories_are_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs are looked at some ten times as often as there are any, not once for every merge."""
    looked = 0

    def counted(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        nonlocal looked
        looked += len(left)
        return two_sample_p_values(left, right)

    monkeypatch.setattr(chaid, "two_sample_p_values", counted)
    table = np.random.default_rng(0).poisson(9, (1000, 3)).astype(float)
    found = merge_values(table, table.sum(axis=1).astype(np.int64), is_ordinal=False, alpha_merge=0.05)
    assert 2 <= len(found.members) < 100
    assert looked < 10 * 1000 * 999 / 2


def test_ways_to_merge_very_many_values() -> None:
    assert multiplier(50_000, 40, "nominal") == multiplier(5_000, 40, "nominal") == np.exp(690)
