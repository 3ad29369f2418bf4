"""Sums of columns in every room: words, rules, decisions, certificates, pruning, pictures, reports, files."""

from __future__ import annotations

import json
import pickle
from math import isclose, log2, nan
from typing import Any

import numpy as np
import pytest
from matplotlib.patches import Polygon

from treewright import (
    Below,
    Branch,
    Column,
    Combination,
    Leaf,
    Schema,
    Target,
    Tree,
    _core,
    certify,
    competitors,
    counterfactual,
    encode,
    explain,
    grow,
    importance,
    load,
    prune,
    report,
    rules,
    shapley_values,
    stability,
    tree_difference,
)
from treewright.certifying.tree_code import (
    HEADER_BITS,
    contents,
    header_bits,
    read,
    sum_bits,
    tree_bits,
    write,
)
from treewright.estimators.sklearn_view import sklearn_model
from treewright.parameters import Oblique
from treewright.plotting.regions import Region, decision_regions, plot_decision_regions
from treewright.pruning.rule_post_pruning import rule_list
from treewright.reporting.nodes import sum_facts
from treewright.tree.oblique import Direction, asked_columns, asks, by_column, extended_columns

COLUMNS = tuple(Column(name) for name in ("a", "b", "c"))
SCHEMA = Schema((*COLUMNS, Column("word", "category", ("p", "q"))), (Target("y", ("no", "yes")),))
SUM = Combination({"a": 1.0, "b": -0.5}, 2.0)


def by_hand() -> Tree:
    """a - 0.5 b <= 2, then one column on either side, then the same sum again."""
    again = Branch(Combination({"a": 1.0, "b": -0.5}, 5.0), Leaf([0, 6]), Leaf([4, 1]), missing_left=False)
    left = Branch(Below("c", 1.0), Leaf([7, 1]), Leaf([2, 3]), missing_left=True)
    return Tree.write(SCHEMA, Branch(SUM, left, again, missing_left=True))


def grown(n: int = 400, **limits: Any) -> tuple[Any, Tree]:
    random = np.random.default_rng(0)
    cells = random.normal(size=(n, 3))
    cells[random.random((n, 3)) < 0.04] = nan
    known = np.nan_to_num(cells)
    y = np.where(known[:, 0] - 0.5 * known[:, 1] + random.normal(size=n) / 4 > 0.3, "yes", "no")
    table = {"a": cells[:, 0], "b": cells[:, 1], "c": cells[:, 2], "word": random.choice(["p", "q"], n)}
    data = encode(table, y)
    return data, grow(data, **({"split": "oblique", "max_leaf_nodes": 7} | limits))


# ---- the value ---------------------------------------------------------------------------------------------


def test_a_written_tree() -> None:
    tree = by_hand()
    assert tree.directions == (Direction((0, 1), (1.0, -0.5)),), "written once, tested twice"
    assert tree.test(0) == SUM
    assert tree.tested[4].name == "a - 0.5 b"
    table = {"a": [2.0, 2.5, 9.0, nan], "b": [0.0, 0.0, 1.0, 1.0], "c": [0.0, 2.0, nan, 2.0]}
    leaves = tree.apply(encode(table | {"word": ["p"] * 4}, schema=SCHEMA))
    assert leaves.tolist() == [2, 5, 6, 3]


def test_rows_go_as_if_the_sums_were_columns() -> None:
    """The walk adds up where it is asked to; numpy adds up beforehand."""
    data, tree = grown(max_leaf_nodes=None, split=Oblique(3))
    many = data.take(np.random.default_rng(1).integers(0, data.n_rows, 50_000))
    columns = extended_columns(many, tree.directions)
    arrays = (tree.end, tree.feature, tree.threshold, tree.subset, tree.missing_left, tree.heavier_left)
    wanted = _core.apply(_core.TreeView(len(columns), *arrays, tree.subsets), columns, 1)
    for threads in (1, 3):
        assert np.array_equal(tree.apply(many, n_jobs=threads), wanted)
    for pair, message in [
        (([0, 9], [1.0, 1.0]), "a direction names a column beyond"),
        (([0, 1], [1.0]), "a weight for each"),
    ]:
        wrong = [(np.array(pair[0], np.int32), np.array(pair[1]))] * len(tree.directions)
        with pytest.raises(ValueError, match=message):
            _core.TreeView(4, *arrays, tree.subsets, wrong)
    words = [(np.array([0, 3], np.int32), np.ones(2))] * len(tree.directions)
    with pytest.raises(ValueError, match="columns of numbers"):
        _core.apply(_core.TreeView(4, *arrays, tree.subsets, words), many.columns, 1)
    with pytest.raises(ValueError, match="a test names a column beyond"):
        _core.TreeView(4, *arrays, tree.subsets)


@pytest.mark.parametrize(
    ("test", "kind", "message"),
    [
        (Combination({"a": 1.0}, 0.0), ValueError, "adds up two columns at least"),
        (Combination({"a": 1.0, "word": 1.0}, 0.0), ValueError, "'word' is a category; only numbers"),
        (Combination({"a": 1.0, "b": 0.0}, 0.0), ValueError, "the weight of 'b' is 0.0"),
        (Combination({"a": 1.0, "b": nan}, 0.0), ValueError, "the weight of 'b' is nan"),
        (Combination({"a": 1.0, "z": 1.0}, 0.0), KeyError, "there is no column 'z'"),
        ("a + b <= 2", TypeError, "or Combination"),
    ],
)
def test_what_cannot_be_written(test: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        Tree.write(SCHEMA, Branch(test, Leaf([1, 0]), Leaf([0, 1])))


def test_a_column_may_be_called_like_a_sum() -> None:
    schema = Schema((Column("a"), Column("b"), Column("a + b")), (Target("y", ("no", "yes")),))
    test = Combination({"a": 1.0, "b": 1.0}, 0.0)
    tree = Tree.write(
        schema, Branch(test, Branch(Below("a + b", 1), Leaf([1, 0]), Leaf([0, 1])), Leaf([2, 1]))
    )
    assert tree.tested[3].name == "(a + b)"
    table = {"a": [-1.0, -1.0], "b": [0.0, 0.0], "a + b": [0.0, 2.0]}
    assert rules(tree).predict(table).tolist() == tree.predict(table).tolist() == ["no", "yes"]


def test_collapsing_drops_the_sums_that_nobody_tests() -> None:
    _, tree = grown(max_leaf_nodes=20, split=Oblique(3))
    assert len(tree.directions) > 3
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        small = tree.collapse([node])
        small.check()
        used = {small.tested[j].name for j in small.feature[~small.is_leaf].tolist()}
        assert {column.name for column in small.tested[4:]} <= used
        assert len(set(small.directions)) == len(small.directions)
    assert tree.collapse([0]).directions == ()


def test_files_pickles_and_equality(tmp_path: Any) -> None:
    _, tree = grown()
    tree.save(tmp_path / "tree.json")
    assert json.loads((tmp_path / "tree.json").read_text())["version"] == 5
    for copy in (load(tmp_path / "tree.json"), pickle.loads(pickle.dumps(tree))):
        assert copy == tree
        assert copy.directions == tree.directions
    other = by_hand()
    assert other != Tree(**{**vars_of(other), "directions": (Direction((0, 1), (1.0, -0.6)),)})


def vars_of(tree: Tree) -> dict[str, Any]:
    return dict(tree.__getstate__())


@pytest.mark.parametrize(
    "direction",
    [
        Direction((0,), (1.0,)),
        Direction((0, 0), (1.0, 1.0)),
        Direction((0, 3), (1.0, 1.0)),
        Direction((0, 9), (1.0, 1.0)),
        Direction((0, 1), (1.0, nan)),
        Direction((0, 1), (1.0, 0.0)),
        Direction((0, 1), (1.0,)),
    ],
)
def test_directions_are_checked(direction: Direction) -> None:
    tree = Tree(**{**vars_of(by_hand()), "directions": (direction,)})
    with pytest.raises(ValueError, match="this is not a tree: a direction has"):
        tree.check()


# ---- words, rules, one row ---------------------------------------------------------------------------------


def test_words() -> None:
    text = str(by_hand())
    assert "a - 0.5 b <= 2 or missing" in text
    assert "a - 0.5 b > 5 " in text, "those without a sum have gone the other way"


def test_rules_answer_as_the_tree_does() -> None:
    data, tree = grown(max_leaf_nodes=12)
    made = rules(tree)
    table = dict(zip(data.schema.names, data.columns[:3], strict=False)) | {"word": ["p", "q"] * 200}
    rows = encode(table, schema=tree.schema)
    assert made.predict(table).tolist() == tree.predict(table).tolist()
    assert len(set(made.apply(rows).tolist())) == len(made)
    assert "a - 0.5 b" in str(made)
    assert made.to_dict()["sums"]["a - 0.5 b"] == {"a": 1.0, "b": -0.5}
    assert pickle.loads(pickle.dumps(made)) == made
    few = rule_list(tree, data=data)
    assert few.predict(table).shape == (400,)
    assert "a - 0.5 b" in str(few)


def test_a_decision_shows_the_sum_with_its_parts() -> None:
    decision = explain(by_hand(), {"a": 3.5, "b": 1.0, "c": 0.0})
    assert [step.column for step in decision.steps] == ["a - 0.5 b", "a - 0.5 b"]
    assert decision.steps[0].value == 3.0
    assert "a - 0.5 b is 3 (a 3.5, b 1)" in str(decision)
    hole = explain(by_hand(), {"a": None, "b": 1.0, "c": 0.0})
    assert "a - 0.5 b is missing (a missing, b 1)" in str(hole)
    with pytest.raises(ValueError, match="the row lacks the column 'b', which the tree tests"):
        explain(by_hand(), {"a": 1.0, "c": 0.0})


# ---- columns -----------------------------------------------------------------------------------------------


def test_columns_share_what_a_sum_gains() -> None:
    tree = by_hand()
    assert asked_columns(tree) == [0, 1, 2]
    assert asks(tree, 1).tolist() == (tree.feature == 4).tolist()
    total = tree.gain.sum()
    shared = by_column(tree, tree.gain)
    assert shared[0] == shared[1] == tree.gain[tree.feature == 4].sum() / 2
    assert isclose(shared.sum(), total)
    assert by_column(tree, np.ones(tree.n_nodes), whole=True).tolist() == [2, 2, 1, 0]


def test_importance_shuffles_the_parts() -> None:
    data, tree = grown(max_leaf_nodes=2)
    found = {column.column: column for column in importance(tree, data)}
    assert found["a"].gain == found["b"].gain == 0.5
    assert found["a"].permutation > found["b"].permutation > 0.05
    assert found["c"].permutation == found["word"].permutation == 0


def test_who_knows_only_columns_says_so() -> None:
    tree = by_hand()
    table = {"a": [1.0], "b": [1.0], "c": [1.0], "word": ["p"]}
    for attempt in (
        lambda: shapley_values(tree, table),
        lambda: counterfactual(tree, {"a": 1.0, "b": 1.0, "c": 1.0}),
        lambda: sklearn_model(tree),
        lambda: tree.to_shap(),
    ):
        with pytest.raises(ValueError, match=r"the tree tests 'a - 0\.5 b', a sum of columns; "):
            attempt()


def test_competitors_stability_and_difference() -> None:
    data, tree = grown()
    assert {each.column for each in competitors(tree, data, nodes=[0])[0]} >= {"a", "b"}
    steady = stability(data, n_bootstraps=4, split="oblique", max_leaf_nodes=3)
    assert {each.column: each.root for each in steady.columns}["a"] == 1
    assert steady.whole_root == tree.tested[tree.feature[0]].name
    assert 0 <= steady.same_root <= 1
    assert "It first tests a - 0.5 b" in " ".join(str(steady).split())
    small = tree.collapse([int(tree.right[0])])
    by_structure, by_rows = tree_difference(tree, small), tree_difference(tree, small, data=data)
    assert [each.rows for each in by_structure.regions] == [each.rows for each in by_rows.regions]
    plain = grow(data, max_leaf_nodes=5)
    differing = int((_answers(tree, data) != _answers(plain, data)).sum())
    assert sum(each.rows for each in tree_difference(tree, plain, data=data).regions) == differing > 0


def _answers(tree: Tree, data: Any) -> Any:
    return tree.label[tree.apply(data), 0]


# ---- certificates ------------------------------------------------------------------------------------------


def test_the_code_tells_the_sums() -> None:
    for tree in (by_hand(), grown(max_leaf_nodes=12, split=Oblique(3))[1]):
        for complete in (True, False):
            word, parts = write(tree, complete=complete), tree_bits(tree, complete=complete)
            assert read(word, tree.schema) == contents(tree, complete=complete)
            assert 0 <= len(word) - sum(parts.values()) < 1
            assert parts["header"] == header_bits(tree) == HEADER_BITS + 3
        sums = tree.feature[tree.feature >= 4] - 4
        assert parts["sums"] == sum(sum_bits(tree.directions[i], 4) for i in sums.tolist()) > 0
        assert isclose(parts["columns"], (tree.n_leaves - 1) * log2(5))


def test_no_word_begins_another() -> None:
    """Words of trees with sums and without are told apart by what comes first."""
    data, tree = grown()
    trees = [by_hand(), tree, tree.collapse([0]), *(grow(data, max_leaf_nodes=k) for k in (1, 2, 3, 9))]
    words = [write(each, complete=complete) for each in trees for complete in (True, False)]
    for word in words:
        assert sum(other.startswith(word) for other in set(words)) == 1


def test_bits_grow_with_columns_and_digits() -> None:
    plain = sum_bits(Direction((0, 1), (1.0, 1.0)), 10)
    assert sum_bits(Direction((0, 1), (1.0, 0.25)), 10) > sum_bits(Direction((0, 1), (1.0, 0.5)), 10) >= plain
    assert sum_bits(Direction((0, 1, 2), (1.0, 1.0, 1.0)), 10) > plain
    assert sum_bits(Direction((0, 1), (1.0, 1.0)), 1000) > plain


@pytest.mark.parametrize("method", ["occam", "pac_bayes", "mdl", "compression", "vc", "occam_hoeffding"])
def test_certificates_pay_for_the_sums(method: str) -> None:
    """The same leaves with tests of one column are certified lower; the number solves its inequality."""
    tree = by_hand()
    plain = Tree.write(
        SCHEMA,
        Branch(
            Below("a", 2.0),
            Branch(Below("c", 1.0), Leaf([7, 1]), Leaf([2, 3]), missing_left=True),
            Branch(Below("a", 5.0), Leaf([0, 6]), Leaf([4, 1]), missing_left=False),
            missing_left=True,
        ),
    )
    big, small = (_heavier(each, 40) for each in (tree, plain))
    found, other = certify(big, method), certify(small, method)
    assert found.check()
    assert found.error == other.error
    assert found.value > other.value
    assert found.breakdown["sums"] == 2 * sum_bits(tree.directions[0], 4)


def _heavier(tree: Tree, times: int) -> Tree:
    return Tree(
        **{**vars_of(tree), "statistic": np.asarray(tree.statistic) * times, "rows": tree.rows * times}
    )


def test_infinite_parts_are_not_complete() -> None:
    table = {"a": [np.inf, 1.0], "b": [np.inf, 1.0], "c": [0.0, 0.0], "word": ["p", "p"]}
    from treewright.certifying import is_complete

    data = encode(table, ["no", "yes"], schema=SCHEMA)
    assert not is_complete(by_hand(), data)
    assert is_complete(by_hand(), data.take([1]))


# ---- pruning -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("cost_complexity", {}),
        ("minimum_errors", {}),
        ("chi_squared", {}),
        ("reduced_error", {"validation": True}),
        ("pessimistic", {"data": True}),
        ("bound", {"f": "occam", "data": True}),
        ("srm", {}),
        ("bottom_up", {"c": 0.1}),
    ],
)
def test_every_method_prunes_them(method: str, options: dict[str, Any]) -> None:
    data, tree = grown(max_leaf_nodes=None)
    others, _ = grown(300)
    given = {"validation": others.take(np.arange(300)[::-1]), "data": data}
    path = prune(tree, method, **{name: given.get(name, value) for name, value in options.items()})
    for pruned in (path[0], path[-1]):
        pruned.check()
        assert pruned.n_leaves <= tree.n_leaves
        assert len(pruned.directions) <= len(tree.directions)


def test_raised_subtrees_count_all_rows() -> None:
    data, tree = grown(max_leaf_nodes=12)
    raised = tree.graft({0: int(tree.left[0])}, data)
    raised.check()
    assert raised.rows[0] == data.n_rows


# ---- pictures, reports -------------------------------------------------------------------------------------


def test_regions_are_cut_by_lines() -> None:
    tree = by_hand()
    found = decision_regions(tree, "a", "b", within=((0, 10), (0, 10)), at={"c": 0.0})
    assert [region.leaf for region in found] == [2, 5, 6]
    assert all(region.corners for region in found)
    assert isclose(sum(map(area, found)), 100)
    random = np.random.default_rng(0)
    for region in found:
        inside = random.dirichlet(np.ones(len(region.corners)), 50) @ np.array(region.corners)
        table = {"a": inside[:, 0], "b": inside[:, 1], "c": np.zeros(50), "word": ["p"] * 50}
        assert set(tree.apply(encode(table, schema=SCHEMA)).tolist()) == {region.leaf}
    beside = decision_regions(tree, "a", "c", within=((0, 10), (0, 10)), at={"b": 2.0})
    assert isclose(sum(map(area, beside)), 100)
    unknown = decision_regions(tree, "b", "c", within=((0, 10), (0, 10)))
    assert {region.leaf for region in unknown} == {2, 3}, "without a the sum is missing"
    whole = decision_regions(tree, "c", "word", within=((0, 10), (-0.5, 1.5)), at={"a": 1.0, "b": 0.0})
    assert [region.leaf for region in whole] == [2, 3]


def area(region: Region) -> float:
    (x0, x1), (y0, y1) = region.x, region.y
    corners = region.corners or ((x0, y0), (x1, y0), (x1, y1), (x0, y1))
    x, y = np.array(corners).T
    return float(abs(x @ np.roll(y, 1) - y @ np.roll(x, 1)) / 2)


def test_pictures() -> None:
    data, tree = grown()
    axes = plot_decision_regions(tree, data=data)
    assert {axes.get_xlabel(), axes.get_ylabel()} == {"a", "b"}
    assert any(isinstance(patch, Polygon) for patch in axes.patches)
    assert "a - 0.5 b" in tree.to_svg()
    assert plot_decision_regions(by_hand()).patches


def test_a_report_knows_the_sums() -> None:
    data, tree = grown()
    page = str(report(tree, train=data).html)
    payload = json.loads(page.split('id="payload">')[1].split("</script>")[0])
    assert payload["sums"] == sum_facts(tree, {j: j for j in range(4)})
    assert payload["sums"][0] == {"name": "a - 0.5 b", "terms": [[0, 1.0], [1, -0.5]]}
    assert max(payload["tree"]["feature"]) == 3 + len(tree.directions)
    assert {column["name"] for column in payload["columns"] if column["used"]} >= {"a", "b"}
    assert "split=Oblique(" in payload["reproduce"]["code"]
