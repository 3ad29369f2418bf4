"""Stability beside bootstraps by hand: rows repeated, trees grown one by one, answers compared by loops."""

from __future__ import annotations

import json
import sys
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from tests.explaining.test_decision_path import Tags
from treewright import Tree, encode, grow, prune, stability
from treewright.encoding import Dataset


def rows(kind: str, n: int = 90) -> Dataset:
    rng = np.random.default_rng(2)
    table = {"x": rng.normal(size=n), "c": rng.choice(["u", "v", "w"], n), "z": rng.normal(size=n)}
    score = table["x"] + (table["c"] == "u") * 0.8 + 0.5 * rng.normal(size=n)
    weight = rng.integers(0, 3, n).astype(float) if kind == "weights" else None
    if kind == "numbers":
        return encode(table, score, weight=weight)
    if kind == "several":
        return encode(
            table, {"a": np.where(score > 0, "yes", "no"), "b": np.where(table["z"] > 0, "up", "down")}
        )
    return encode(table, np.where(score > 0, "yes", "no"), weight=weight)


def by_hand(data: Dataset, n_bootstraps: int, seed: int, **growing: Any) -> list[Tree]:
    """Each drawn row as often as it was drawn."""
    rng, counted, trees = np.random.default_rng(seed), data.counted, []
    for _ in range(n_bootstraps):
        drawn = counted[rng.integers(0, len(counted), len(counted))]
        trees.append(grow(data.take(drawn), **growing))
    return trees


@pytest.mark.parametrize("kind", ["classes", "weights", "numbers", "several"])
def test_shares_are_those_of_bootstraps_by_hand(kind: str) -> None:
    data = rows(kind)
    growing = {"max_leaf_nodes": 5}
    found = stability(data, n_bootstraps=8, top=2, random_state=3, **growing)
    trees, whole = by_hand(data, 8, 3, **growing), grow(data, **growing)
    for column in found.columns:
        uses = [(tree.feature == column.position).any() for tree in trees]
        assert column.used == np.mean(uses)
        assert column.root == np.mean([tree.feature[0] == column.position for tree in trees])
        top = []
        for tree in trees:
            gains = {j: tree.gain[tree.feature == j].sum() for j in range(3) if (tree.feature == j).any()}
            top.append(column.position in sorted(gains, key=lambda j: (-gains[j], j))[:2])
        assert column.top == np.mean(top)
    leaves = [tree.n_leaves for tree in trees]
    assert found.leaves == (min(leaves), int(np.median(leaves)), max(leaves))
    assert found.whole_root == data.schema.names[whole.feature[0]]
    check_answers(found, data.take(data.counted), trees, whole)


def check_answers(found: Any, data: Dataset, trees: list[Tree], whole: Tree) -> None:
    weight = data.row_weights
    for i in range(len(data.schema.targets)):
        if data.schema.predicts_classes:
            answers = [tree.label[tree.apply(data), i] for tree in trees]
            pairs = [np.average(a == b, weights=weight) for a, b in combinations(answers, 2)]
            assert found.agreement[i] == pytest.approx(np.mean(pairs))
            own = whole.label[whole.apply(data), i]
            assert found.with_whole[i] == pytest.approx(
                np.mean([np.average(a == own, weights=weight) for a in answers])
            )
        else:
            numbers = np.stack([tree.value[tree.apply(data), i] for tree in trees])
            assert found.spread[i] == pytest.approx(
                np.sqrt(np.average(numbers.var(axis=0, ddof=1), weights=weight))
            )
            assert found.scale[i] == pytest.approx(data.targets[i].std())


def test_the_same_for_any_number_of_threads_and_large_tables() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20_000, 4)).astype(np.float32)
    data = encode(x, (x[:, 0] + rng.normal(size=len(x)) > 0).astype(int))
    one = stability(data, n_bootstraps=3, max_depth=3)
    assert stability(data, n_bootstraps=3, max_depth=3, n_jobs=2) == one
    assert stability(data, n_bootstraps=3, max_depth=3, random_state=1) != one
    assert one.columns[0].root == 1.0


def test_rows_to_compare_answers_are_drawn_from_large_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    room = sys.modules["treewright.explaining.stability"]  # the function of this name hides its module
    monkeypatch.setattr(room, "MOST_COMPARED", 40)
    monkeypatch.setattr(room, "_PIECE", 30)
    found = stability(rows("classes"), n_bootstraps=6, max_leaf_nodes=3)
    assert found.compared == 40
    assert 0.5 < found.agreement[0] <= 1


def test_a_clear_case_and_a_tie() -> None:
    clear = encode({"x": np.arange(60.0), "z": np.tile([1.0, 2.0], 30)}, ["a"] * 30 + ["b"] * 30)
    found = stability(clear, n_bootstraps=12, max_leaf_nodes=2)
    assert found.columns[0].root == 1.0
    assert found.n_roots == 1
    assert "It first tests x, as 100 % of them do.\n" in str(found)
    assert len(found.thresholds) == 12
    assert all(20 <= threshold < 40 for threshold in found.thresholds)
    rng = np.random.default_rng(1)
    noisy = encode(rng.normal(size=(60, 6)), rng.integers(0, 2, 60))
    assert stability(noisy, n_bootstraps=12, max_leaf_nodes=2).n_roots > 1


def test_pruning_may_take_part() -> None:
    data = rows("classes")
    plain = stability(data, n_bootstraps=5)
    pruned = stability(data, n_bootstraps=5, grower=lambda part: prune(grow(part), "srm").pruned)
    assert pruned.leaves[1] < plain.leaves[1]
    with pytest.raises(TypeError, match="either grower or keyword arguments of grow, not both: max_depth"):
        stability(data, grower=grow, max_depth=2)
    with pytest.raises(TypeError, match="grower must return a Tree, not PruningPath"):
        stability(data, grower=lambda part: prune(grow(part), "srm"))


def test_progress_rises_to_one_and_may_stop_it() -> None:
    told: list[float] = []
    stability(rows("classes"), n_bootstraps=4, progress=told.append)
    assert told == sorted(told)
    assert told[0] == 0.0
    assert told[-1] == 1.0

    def stop(share: float) -> None:
        if share > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stability(rows("classes"), n_bootstraps=4, progress=stop)


def test_leaves_only() -> None:
    data = encode({"x": [1.0, 1.0, 1.0]}, ["a", "b", "b"])
    found = stability(data, n_bootstraps=4)
    assert found.whole_root is None
    assert found.n_roots == 0
    assert "1 of 1 columns are never used" in str(found)


def test_text_json_and_page() -> None:
    table = {"z": np.tile([1.0, 2.0], 20), "<i>": np.arange(40.0)}
    for y in (["a"] * 20 + ["b"] * 20, np.arange(40.0) // 20):
        found = stability(encode(table, y), n_bootstraps=5, max_leaf_nodes=3)
        json.dumps(found.to_dict(), allow_nan=False)
        page = Tags()
        page.feed(found._repr_html_())
        assert "i" not in page.tags
        assert "5 trees, each of 40 rows drawn with replacement" in str(found)
        assert "It first tests <i>" in str(found)
        assert found.ranked[0].column == "<i>"
        roots = [each.root for each in found.ranked]
        assert roots == sorted(roots, reverse=True)
    hostile = stability(encode({"a\nb": np.arange(40.0)}, ["a"] * 20 + ["b"] * 20), n_bootstraps=3)
    assert r"It first tests a\nb, as 100 % of them do." in str(hostile)
    shares = [(each.root, each.top, each.used) for each in stability(rows("classes"), n_bootstraps=9).ranked]
    assert shares == sorted(shares, reverse=True)
    several = str(stability(rows("several"), n_bootstraps=3))
    assert "a: Two of the trees" in several
    assert "b: Two of the trees" in several


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_bootstraps": 1}, ValueError, "n_bootstraps is 1; it must be at least 2"),
        ({"top": 0}, ValueError, "top is 0"),
        ({"random_state": "x"}, ValueError, "random_state is 'x'"),
        ({"max_depth": -1}, ValueError, "max_depth=-1 is not possible"),
        ({"depth": 3}, TypeError, "depth"),
    ],
)
def test_options_are_checked(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        stability(rows("classes"), **options)
    with pytest.raises(ValueError, match="stability: the table has no target"):
        stability({"x": [1.0]})
