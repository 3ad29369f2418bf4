"""Born-again trees: faithful in every cell, and as small as a search of all boxes finds them."""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest

from treewright import (
    Among,
    Below,
    Branch,
    Column,
    Combination,
    Leaf,
    Schema,
    Target,
    Tree,
    encode,
    grow,
)
from treewright.ensembles.distillation import BornAgain, born_again

SCHEMA = Schema((Column("a"), Column("b"), Column("c")), (Target("y", ("no", "yes", "maybe")),))


def random_tree(rng: np.random.Generator, depth: int, n_cuts: int, n_classes: int = 3) -> Branch | Leaf:
    """A tree of thresholds 0 … n_cuts - 1, with any shares in its leaves."""
    if depth == 0 or rng.random() < 0.15:
        weights = np.zeros(3)
        weights[:n_classes] = rng.integers(0, 5, n_classes)
        weights[rng.integers(n_classes)] += 1
        return Leaf(weights)
    test = Below("abc"[rng.integers(3)], float(rng.integers(n_cuts)))
    return Branch(test, *(random_tree(rng, depth - 1, n_cuts, n_classes) for _ in range(2)))


def random_forest(seed: int, n_trees: int = 4, depth: int = 3, n_cuts: int = 3) -> list[Tree]:
    rng = np.random.default_rng(seed)
    n_classes = 2 + seed % 2
    return [Tree.write(SCHEMA, random_tree(rng, depth, n_cuts, n_classes)) for _ in range(n_trees)]


def walked(tree: Tree, row: Sequence[float]) -> int:
    """The leaf of a row, by the definition."""
    node = 0
    while tree.feature[node] >= 0:
        below = row[tree.feature[node]] <= tree.threshold[node]
        node = node + 1 if below else int(tree.end[node + 1])
    return node


def voted(trees: Sequence[Tree], weights: Sequence[float], rule: str, row: Sequence[float]) -> int:
    """What a forest answers, by the definition."""
    total = [0.0] * 3
    for tree, weight in zip(trees, weights, strict=True):
        statistic = tree.statistic[walked(tree, row)]
        shares = statistic / statistic.sum()
        if rule == "majority":
            shares = np.eye(3)[int(np.argmax(statistic))]
        total = [old + weight * share for old, share in zip(total, shares.tolist(), strict=True)]
    return max(range(3), key=lambda k: (total[k], -k))


def grid(trees: Sequence[Tree], weights: Sequence[float], rule: str) -> tuple[np.ndarray, list[list[float]]]:
    """The answers in all cells, and a value in each cell of each column."""
    cuts = [
        sorted(
            {t for tree in trees for f, t in zip(tree.feature, tree.threshold, strict=True) if f == column}
        )
        for column in range(3)
    ]
    values = [[*(t - 0.5 for t in own), (own[-1] if own else 0.0) + 0.5] for own in cuts]
    shape = [len(own) for own in values]
    cells = [voted(trees, weights, rule, row) for row in itertools.product(*values)]
    return np.array(cells).reshape(shape), values


def smallest(cells: np.ndarray, by_leaves: bool, max_depth: int = 99) -> int:
    """The least depth or the fewest leaves of a tree with these cells, by trying everything."""

    @cache
    def best(box: tuple[tuple[int, int], ...], depth: int) -> int:
        part = cells[tuple(slice(*side) for side in box)]
        if (part == part.flat[0]).all():
            return int(by_leaves)
        found = 10**6
        if depth > 0:
            for axis, (low, high) in enumerate(box):
                for cut in range(low + 1, high):
                    sides = [(*box[:axis], side, *box[axis + 1 :]) for side in ((low, cut), (cut, high))]
                    one, two = (best(side, depth - 1) for side in sides)
                    found = min(found, one + two if by_leaves else 1 + max(one, two))
        return found

    return best(tuple((0, n) for n in cells.shape), max_depth)


def agrees(found: BornAgain, cells: np.ndarray, values: list[list[float]]) -> bool:
    rows = np.array(list(itertools.product(*values)))
    names = np.array(["no", "yes", "maybe"])
    return found.tree.predict(rows).tolist() == names[cells.ravel()].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["mean", "majority"])
@pytest.mark.parametrize("seed", range(12))
def test_faithful_and_smallest(seed: int, rule: str) -> None:
    trees = random_forest(seed)
    weights = [1.0] * 4 if seed % 3 else [0.3, 1.7, 1.0, 0.6]
    cells, values = grid(trees, weights, rule)
    depth = smallest(cells, by_leaves=False)
    wanted = {
        "depth": ("height", depth),
        "leaves": ("n_leaves", smallest(cells, by_leaves=True)),
        "depth_leaves": ("n_leaves", smallest(cells, by_leaves=True, max_depth=depth)),
    }
    for objective, (measure, best) in wanted.items():
        found = born_again(trees, weights=weights, rule=rule, objective=objective)  # type: ignore[arg-type]
        found.tree.check()
        assert found.is_smallest
        assert getattr(found.tree, measure) == best, objective
        assert agrees(found, cells, values), objective
        assert found.check()
        if objective != "leaves":
            assert found.tree.height == found.least_depth == depth


def test_larger_forests_are_faithful() -> None:
    """Of grown trees with many thresholds: a million cells are not tried, but many of them are."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 3))
    target = (table[:, 0] * table[:, 1] + rng.normal(size=300) > 0).astype(int)
    data = encode(table, target)
    trees = [
        grow(data.take(rng.integers(300, size=300)), max_depth=3, max_features=2, random_state=i)
        for i in range(5)
    ]
    found = born_again(trees, time_limit=None)
    assert found.is_smallest
    assert found.check(max_cells=50_000)
    assert found.tree.height < sum(tree.height for tree in trees)


def test_ties_go_to_the_first_class_and_rounding_is_the_forests() -> None:
    """0.1 + 0.2 + 0.3 is more than 0.3 + 0.2 + 0.1: the order of the trees decides, as in the forest."""
    leaves = [Leaf([1, 0, 0]), Leaf([0, 1, 0])]
    one = Tree.write(SCHEMA, Branch(Below("a", 0.0), *leaves))
    other = Tree.write(SCHEMA, Branch(Below("a", 0.0), *leaves[::-1]))
    found = born_again([one, other], rule="majority")
    assert found.tree.n_leaves == 1
    assert found.tree.predict([[1.0, 0, 0]]).tolist() == ["no"]
    weights = [0.1, 0.2, 0.3, 0.3, 0.2, 0.1]
    trees = [one, one, one, other, other, other]
    cells, values = grid(trees, weights, "majority")
    assert len(set(cells.ravel().tolist())) == 2  # rounding makes it so
    assert agrees(born_again(trees, weights=weights, rule="majority"), cells, values)


def test_one_tree_comes_back_no_larger() -> None:
    tree = random_forest(5, n_trees=1, depth=5, n_cuts=6)[0]
    found = born_again([tree], objective="leaves")
    assert found.tree.n_leaves <= tree.n_leaves
    assert found.check()


def test_single_leaves() -> None:
    found = born_again([Tree.write(SCHEMA, Leaf([1, 2, 0]))])
    assert (found.tree.n_leaves, found.is_smallest, found.least_depth) == (1, True, 0)
    assert found.check()


def test_rows_with_missing_values_are_refused_rather_than_answered_otherwise() -> None:
    found = born_again(random_forest(1))
    with pytest.raises(ValueError, match="missing"):
        found.tree.predict([[np.nan, np.nan, np.nan]])


def test_pruned_by_rows() -> None:
    """Branches without rows are removed; the rows are predicted as by the forest."""
    trees = random_forest(3, n_trees=6, depth=3, n_cuts=6)
    found = born_again(trees)
    table = np.random.default_rng(0).uniform(-1, 6, size=(12, 3))
    small = found.prune(table)
    small.check()
    assert small.n_leaves < found.tree.n_leaves
    assert small.predict(table).tolist() == found.tree.predict(table).tolist()
    assert small.weight[0] == 12
    assert (small.rows[small.is_leaf] > 0).all()
    one = found.prune(table[:1])
    assert one.n_leaves == 1
    with pytest.raises(ValueError, match="no rows with a weight"):
        found.prune(encode(table, schema=found.tree.schema).take([]))
    light = found.prune((table, None, np.full(12, 0.25)))
    assert (light.weight[0], light.rows[0]) == (3.0, 12)


def test_limits_end_the_search_with_a_clear_answer() -> None:
    rng = np.random.default_rng(1)
    data = encode(rng.normal(size=(500, 12)), rng.integers(2, size=500))
    trees = [grow(data, max_depth=5, max_features=3, random_state=i) for i in range(20)]
    with pytest.raises(TimeoutError, match=r"time_limit=0\.05 seconds; it needs at least depth"):
        born_again(trees, time_limit=0.05)
    with pytest.raises(MemoryError, match="memory_limit=10000; it needs at least depth"):
        born_again(trees, memory_limit=10000)


@pytest.mark.slow
def test_an_unfinished_search_says_so() -> None:
    """A large tree that is faithful, a bound, and no claim to be the smallest."""
    rng = np.random.default_rng(2)
    table = rng.normal(size=(400, 5))
    data = encode(table, (table.sum(axis=1) > 0).astype(int))
    trees = [grow(data, max_depth=4, max_features=2, random_state=i) for i in range(5)]
    found = next(
        found for memory in np.geomspace(2e6, 2e9, 12) if (found := _or_none(trees, memory)) is not None
    )
    assert found.check(20_000)
    assert not found.is_smallest
    assert 0 < found.least_depth <= found.tree.height
    assert "ended early" in str(found)


def _or_none(trees: list[Tree], memory: float) -> BornAgain | None:
    try:
        return born_again(trees, memory_limit=memory)
    except MemoryError:
        return None


CATEGORY = Schema((Column("k", "category", ("u", "v")),), (Target("y", ("no", "yes")),))
NUMBERS = Schema((Column("a"),), (Target("y"),))


@pytest.mark.parametrize(
    ("trees", "options", "error", "message"),
    [
        ([], {}, ValueError, "trees is empty"),
        (3, {}, TypeError, "must be a sequence of Tree"),
        (["oak"], {}, TypeError, "item 0 is a str"),
        (
            [Tree.write(CATEGORY, Branch(Among("k", ("u",)), Leaf([1, 0]), Leaf([0, 1])))],
            {},
            ValueError,
            "tests the category 'k'",
        ),
        ([Tree.write(NUMBERS, Leaf([1, 2, 0]))], {}, ValueError, "does not predict one class"),
        (
            [
                Tree.write(
                    SCHEMA, Branch(Combination({"a": 1.0, "b": 2.0}, 0.5), Leaf([1, 0, 0]), Leaf([0, 1, 0]))
                )
            ],
            {},
            ValueError,
            "tests sums of columns",
        ),
        (
            [Tree.write(SCHEMA, Leaf([1, 0, 0])).with_costs({"no": {"yes": 5}})],
            {},
            ValueError,
            "misclassification costs",
        ),
        (
            [Tree.write(SCHEMA, Leaf([1, 0, 0])), Tree.write(CATEGORY, Leaf([1, 0]))],
            {},
            ValueError,
            "tree 1 has other columns or classes",
        ),
        (random_forest(0), {"weights": [1.0]}, ValueError, "one number for each"),
        (random_forest(0), {"weights": [1.0, 1.0, 1.0, -1.0]}, ValueError, "at least 0"),
        (random_forest(0), {"weights": [0.0] * 4}, ValueError, "not all of them 0"),
        (random_forest(0), {"weights": "heavy"}, ValueError, "weights"),
        (random_forest(0), {"rule": "median"}, ValueError, "'mean' or 'majority'"),
        (random_forest(0), {"objective": "size"}, ValueError, "one of depth, leaves, depth_leaves"),
        (random_forest(0), {"time_limit": 0}, ValueError, "time_limit is 0"),
        (random_forest(0), {"memory_limit": "much"}, ValueError, "memory_limit is 'much'"),
    ],
)
def test_bad_input(trees: object, options: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        born_again(trees, **options)  # type: ignore[arg-type]


def test_another_librarys_forest_is_told_the_way() -> None:
    class Forest:
        estimators_ = ()

    with pytest.raises(TypeError, match="from_sklearn"):
        born_again(Forest())


def test_trees_that_add_up_have_no_votes() -> None:
    from treewright import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(max_iter=2).fit(
        np.arange(60.0)[:, np.newaxis], [0] * 30 + [1] * 30
    )
    for given, name in ((model, "HistGradientBoostingClassifier"), (model.model_, "GradientBoosted")):
        with pytest.raises(TypeError, match=f"trees of a {name} add up .* forests and AdaBoost.* distill"):
            born_again(given)


def test_what_is_not_fitted() -> None:
    import sklearn.ensemble
    import sklearn.tree

    import treewright

    for model in (
        treewright.AdaBoostClassifier(),
        treewright.HistGradientBoostingClassifier(),
        treewright.RandomForestClassifier(),
        treewright.DecisionTreeClassifier(),
        sklearn.ensemble.RandomForestClassifier(),
    ):
        with pytest.raises(ValueError, match=f"this {type(model).__name__} is not fitted yet; call fit"):
            born_again(model)
    fitted = sklearn.tree.DecisionTreeClassifier().fit([[0], [1]], [0, 1])
    for other in (fitted, treewright.DecisionTreeClassifier().fit([[0], [1]], [0, 1]), type(fitted)):
        with pytest.raises(TypeError, match="trees must be a sequence of Tree, not a"):
            born_again(other)


def test_scikit_learns_forest() -> None:
    """Converted tree by tree, it answers as scikit-learn's."""
    from sklearn.datasets import load_iris
    from sklearn.ensemble import RandomForestClassifier

    from treewright import from_sklearn

    table, target = load_iris(return_X_y=True)
    forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(table, target)
    found = born_again([from_sklearn(tree) for tree in forest.estimators_], objective="depth_leaves")
    assert found.is_smallest
    assert found.check()
    assert found.tree.predict(table).tolist() == forest.predict(table).tolist()
    assert found.prune(table).predict(table).tolist() == forest.predict(table).tolist()


def test_progress_and_what_it_raises() -> None:
    rng = np.random.default_rng(1)
    data = encode(rng.normal(size=(500, 12)), rng.integers(2, size=500))
    trees = [grow(data, max_depth=5, max_features=3, random_state=i) for i in range(20)]
    heard: list[float] = []

    def listen(share: float) -> None:
        heard.append(share)
        if len(heard) == 3:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        born_again(trees, progress=listen)
    assert heard == sorted(heard)
    assert all(0 <= share <= 1 for share in heard)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_ctrl_c_stops_it() -> None:
    code = """
import numpy as np, sys
from treewright import encode, grow
from treewright.ensembles.distillation import born_again
rng = np.random.default_rng(1)
data = encode(rng.normal(size=(500, 12)), rng.integers(2, size=500))
trees = [grow(data, max_depth=5, max_features=3, random_state=i) for i in range(20)]
told = []
def listen(share):
    if not told:
        told.append(print("go", flush=True))
try:
    born_again(trees, time_limit=None, memory_limit=1e11, progress=listen)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "go\n"
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60)[0] == "stopped\n"


def test_the_core_refuses_what_is_no_forest() -> None:
    from treewright import _core

    good = {
        "roots": np.array([0], np.int32),
        "end": np.array([3, 2, 3], np.int32),
        "column": np.array([0, -1, -1], np.int32),
        "cut": np.array([0, 0, 0], np.int32),
        "votes": np.eye(2),
        "n_cuts": np.array([1], np.int32),
        "objective": "depth",
        "seconds": 1.0,
        "max_bytes": 10**8,
        "progress": None,
    }
    assert _core.born_again(**good)["least_depth"] == 1  # type: ignore[arg-type]
    bad = {
        "roots": [np.array([1], np.int32), np.array([0, 1], np.int32), np.zeros(0, np.int32)],
        "end": [np.array([3, 2, 9], np.int32), np.array([3, 3, 3], np.int32), np.array([2, 2, 3], np.int32)],
        "column": [np.array([1, -1, -1], np.int32), np.array([-1, -1, -1], np.int32), np.zeros(2, np.int32)],
        "cut": [np.array([1, 0, 0], np.int32), np.array([-1, 0, 0], np.int32)],
        "votes": [np.eye(3), np.full((2, 2), np.nan)],
        "n_cuts": [np.array([-1], np.int32), np.zeros(0, np.int32)],
        "objective": ["size"],
    }
    for name, values in bad.items():
        for value in values:
            with pytest.raises(ValueError, match=r"forest|vote|objective"):
                _core.born_again(**good | {name: value})  # type: ignore[arg-type]
