"""Rows with missing values in a finished tree, by surrogates or down both sides, against a plain reader."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle import CLASSES, NUMBERS
from tests.tree.routed_trees import all_parts, mixture, routed, way_up, with_holes, with_surrogates
from treewright import (
    Among,
    Below,
    Branch,
    Column,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    Leaf,
    Schema,
    Target,
    Tree,
    certify,
    cli,
    competitors,
    counterfactual,
    encode,
    explain,
    grow,
    importance,
    load,
    prune,
    rules,
    shapley_values,
    tree_difference,
)
from treewright.certifying.leaf_intervals import leaf_intervals
from treewright.certifying.losses import row_losses
from treewright.encoding import Dataset
from treewright.exporting.text import render
from treewright.pruning import cost_complexity
from treewright.tree import predict
from treewright.tree.evaluate import losses, rows_of, squared_losses
from treewright.tree.missing import parts_of
from treewright.tree.surrogates import Surrogates

WAYS = ("learn", "surrogate", "fractional", "category")
SOME = [CLASSES[0], NUMBERS[0], NUMBERS[1]]


def drawn(data: st.DataObject, criterion: str, missing: str) -> tuple[Tree, Dataset]:
    return data.draw(routed(criterion, missing))


@pytest.mark.slow
@pytest.mark.parametrize("missing", WAYS)
@settings(max_examples=40)
@given(data=st.data())
def test_rows_go_where_a_plain_reader_sends_them(missing: str, data: st.DataObject) -> None:
    tree, rows = drawn(data, data.draw(st.sampled_from(SOME)), missing)
    found = all_parts(tree, rows)
    if missing != "fractional":
        assert tree.apply(rows).tolist() == [leaf for parts in found for leaf in parts]
        return
    most = data.draw(st.integers(1, 8))
    portions = list(parts_of(tree, rows, most))
    assert [portion.first for portion in portions] == np.cumsum(
        [0, *(portion.n_rows for portion in portions)]
    )[:-1].tolist()
    row = 0
    for portion in portions:
        assert portion.start[-2] < most or portion.n_rows == 1
        for i in range(portion.n_rows):
            own = slice(portion.start[i], portion.start[i + 1])
            assert (
                dict(zip(portion.leaf[own].tolist(), portion.share[own].tolist(), strict=True)) == found[row]
            )
            assert portion.share[own].sum() == pytest.approx(1, rel=1e-9)
            row += 1
    assert row == rows.n_rows


@pytest.mark.slow
@pytest.mark.parametrize("missing", WAYS)
@settings(max_examples=30)
@given(data=st.data())
def test_answers_are_those_of_the_leaves_or_their_mixture(missing: str, data: st.DataObject) -> None:
    tree, rows = drawn(data, data.draw(st.sampled_from(SOME)), missing)
    table = table_of(rows)
    found = all_parts(tree, rows)
    answers = tree.predict(table).reshape(rows.n_rows, -1)
    for i in range(len(tree.schema.targets)):
        mixed = np.array([mixture(tree, parts, i) for parts in found])
        if not tree.schema.predicts_classes:
            np.testing.assert_allclose(answers[:, i].astype(float), mixed[:, 0], rtol=1e-12)
            continue
        shares = tree.predict_proba(table)
        shares = shares[i] if isinstance(shares, list) else shares
        np.testing.assert_allclose(shares, mixed, rtol=1e-12, atol=1e-15)
        classes = tree.schema.targets[i].classes
        codes = [classes.index(answer) for answer in answers[:, i].tolist()]
        heaviest = mixed.max(axis=1)
        np.testing.assert_allclose(mixed[np.arange(len(codes)), codes], heaviest, rtol=1e-12)


def table_of(rows: Dataset) -> dict[str, list[Any]]:
    """The rows as a user has them."""
    table: dict[str, list[Any]] = {}
    for column, cells in zip(rows.schema.columns, rows.columns, strict=True):
        if column.kind == "category":
            known = dict(enumerate(column.categories)) | {-1: None, -2: 99}
            table[column.name] = [known[code] for code in cells.tolist()]
        elif column.kind == "time":
            table[column.name] = np.where(np.isnan(cells), np.iinfo(np.int64).min, cells).astype(
                "datetime64[us]"
            )
        else:
            table[column.name] = cells
    return table


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["surrogate", "fractional"])
@settings(max_examples=30)
@given(data=st.data())
def test_statistics_and_losses_count_shares(missing: str, data: st.DataObject) -> None:
    tree, rows = drawn(data, data.draw(st.sampled_from(SOME)), missing)
    weight, found = rows.row_weights, all_parts(tree, rows)
    arrived: list[list[tuple[int, float]]] = [[] for _ in range(tree.n_nodes)]
    for row, parts in enumerate(found):
        for leaf, share in parts.items():
            for node in way_up(tree, leaf):
                arrived[node].append((row, share))
    counts = [len({row for row, _ in here if weight[row] > 0}) for here in arrived]
    assert rows_of(tree, rows).tolist() == counts
    statistic, own = np.asarray(tree.statistic_of(rows)), losses(tree, rows)
    squares = squared_losses(tree, rows)
    last_place = np.spacing(np.abs(np.asarray(rows.targets, np.float64))).max(axis=0)
    for node, here in enumerate(arrived):
        check_node(tree, rows, node, here, statistic[node])
        each = [(share * weight[row], plain_loss(tree, rows, row, node)) for row, share in here]
        total = sum(part * loss for part, loss in each)
        scale = sum(part * loss for part, loss in each if np.isfinite(loss))
        noise = sum(share * weight[row] * last_place[row] ** 2 for row, share in here)  # of the node's value
        np.testing.assert_allclose(own[node], total, rtol=1e-7, atol=1e-9 * (1 + scale) + 4 * noise)
        np.testing.assert_allclose(
            squares[node], sum(part * loss**2 for part, loss in each), rtol=1e-7, atol=1e-6 * (1 + scale)
        )


def check_node(
    tree: Tree, rows: Dataset, node: int, here: list[tuple[int, float]], statistic: np.ndarray
) -> None:
    targets, weight = np.asarray(rows.targets), rows.row_weights
    place = 0
    for y, width in zip(targets, tree.schema.block_widths, strict=True):
        own = statistic[place : place + width]
        place += width
        if tree.schema.predicts_classes:
            counts = np.zeros(width)
            for row, share in here:
                counts[y[row]] += share * weight[row]
            np.testing.assert_allclose(own, counts, rtol=1e-9, atol=1e-12)
            continue
        total = sum(share * weight[row] for row, share in here)
        assert own[0] == pytest.approx(total, rel=1e-9, abs=1e-12)
        if total > 0:
            mean = sum(share * weight[row] * y[row] for row, share in here) / total
            assert own[1] == pytest.approx(mean, rel=1e-9, abs=1e-9 * np.abs(y).max())


def plain_loss(tree: Tree, rows: Dataset, row: int, node: int) -> float:
    total = 0.0
    for i, y in enumerate(np.asarray(rows.targets)):
        if tree.schema.predicts_classes:
            total += float(tree.label[node, i] != y[row])
        else:
            distance = abs(float(y[row]) - float(tree.value[node, i]))
            total += distance if tree.criterion == "absolute_error" else distance**2
    return total


@pytest.mark.slow
@pytest.mark.parametrize("missing", [*WAYS, "error"])
@settings(max_examples=15)
@given(data=st.data())
def test_files_copies_and_prunings_keep_the_way(
    missing: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tree, _ = drawn(data, data.draw(st.sampled_from(SOME)), missing)
    path = tmp_path_factory.mktemp("routed") / "tree.json"
    tree.save(path)
    assert load(path) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    node = data.draw(st.integers(0, tree.n_nodes - 1))
    smaller = tree.collapse([node])
    smaller.check()
    assert smaller.missing == missing
    kept = [i for i, at in enumerate(tree.surrogates.node.tolist()) if not node <= at < tree.end[node]]
    assert smaller.surrogates.threshold[: len(kept)].tolist() == pytest.approx(
        tree.surrogates.threshold[kept].tolist(), nan_ok=True
    )
    assert len(str(smaller).splitlines()) >= smaller.n_leaves


@pytest.mark.slow
@settings(max_examples=25)
@given(data=st.data())
def test_a_collapsed_tree_loses_what_its_leaves_say(data: st.DataObject) -> None:
    """The losses of a path of prunings are those of the trees themselves, also in parts."""
    tree, rows = drawn(data, "gini", data.draw(st.sampled_from(["surrogate", "fractional"])))
    if len(tree.schema.targets) > 1 or not rows.total_weight > 0:
        return
    path = cost_complexity(tree)
    told = path.losses(rows)
    for place, pruned in enumerate(path):
        pruned.check()
        total = 0.0
        for row, parts in enumerate(all_parts(pruned, rows)):
            total += sum(
                share * rows.row_weights[row] * plain_loss(pruned, rows, row, leaf)
                for leaf, share in parts.items()
            )
        assert told[place] == pytest.approx(total / rows.total_weight, rel=1e-9, abs=1e-12)
    whole = tree.loss_of(rows)[tree.is_leaf].sum() / rows.total_weight
    assert tree.curve(rows)[-1] == pytest.approx(whole, rel=1e-9, abs=1e-12)


@pytest.mark.slow
@settings(max_examples=25)
@given(data=st.data())
def test_held_out_certificates_judge_what_is_answered(data: st.DataObject) -> None:
    tree, rows = drawn(data, data.draw(st.sampled_from(["gini", "squared_error"])), "fractional")
    rows = Dataset(rows.schema, rows.columns, rows.targets)
    told = row_losses(tree, rows).loss
    answers = tree.predict(table_of(rows)).reshape(rows.n_rows, -1)
    truth = np.asarray(rows.targets).T
    each = answers != truth if tree.schema.predicts_classes else (answers - truth) ** 2
    np.testing.assert_allclose(told, each.mean(axis=1), rtol=1e-9)


# ---- refusing --------------------------------------------------------------------------------------


def test_complete_rows_only() -> None:
    table = {"x": [1.0, 2.0, 3.0, 4.0], "job": ["a", "a", "b", "b"], "never asked": [1.0, None, 2.0, 3.0]}
    tree = grow(encode(table, ["n", "n", "y", "n"])).with_missing("error")
    assert set(tree.feature.tolist()) == {-1, 0}
    assert tree.predict(table | {"never asked": [None] * 4}).tolist() == ["n", "n", "y", "n"]
    holes = table | {"x": [1.0, 2.0, None, 4.0]}
    for ask in (tree.predict, tree.predict_proba, lambda rows: tree.apply(encode(rows, schema=tree.schema))):
        with pytest.raises(ValueError, match=r"row 2 has no value of 'x'.*missing='error'"):
            ask(holes)
    with pytest.raises(ValueError, match="row 2 has no value"):
        tree.loss_of(encode(holes, ["n", "n", "y", "n"], schema=tree.schema))


def test_a_row_without_any_value_gets_an_answer() -> None:
    table = {"x": [1.0, 2.0, 3.0, 4.0], "z": [1.0, 1.0, 5.0, 6.0]}
    tree = grow(encode(table, ["n", "n", "y", "n"]))
    rng = np.random.default_rng(0)
    empty = {"x": [None], "z": [None]}
    for missing in WAYS:
        routed = with_surrogates(tree, rng) if missing == "surrogate" else tree.with_missing(missing)
        assert routed.predict(empty).tolist() in (["n"], ["y"])
    assert tree.with_missing("fractional").predict_proba(empty).tolist() == [[0.75, 0.25]]


# ---- portions, many classes, counting again --------------------------------------------------------


@pytest.mark.slow
def test_very_many_classes_are_mixed_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    table = {"x": rng.normal(size=600), "z": rng.normal(size=600)}
    data = encode(table, [f"c{i % 300}" for i in range(600)])
    tree = grow(data, max_leaf_nodes=40).with_missing("fractional")
    columns = tuple(table[name] for name in ("x", "z"))
    rows = with_holes(Dataset(data.schema, columns, data.targets), rng, 0.3)
    whole = predict.proportions(tree, rows)[0]
    monkeypatch.setattr(predict, "_MOST_NUMBERS", 3 * tree.schema.width)
    np.testing.assert_array_equal(predict.proportions(tree, rows)[0], whole)
    codes = predict.codes(tree, rows)[:, 0]
    np.testing.assert_allclose(whole[np.arange(600), codes], whole.max(axis=1))
    np.testing.assert_allclose(whole.sum(axis=1), 1)
    assert np.asarray(tree.statistic_of(rows)[0]).sum() == pytest.approx(600)
    assert tree.loss_of(rows)[tree.is_leaf].sum() > 0


def test_restating_counts_shares() -> None:
    data = encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["n", "n", "y", "n"])
    tree = grow(data).with_missing("fractional")
    rows = encode({"x": [1.0, None, 3.0, 4.0]}, ["n", "n", "y", "n"], schema=tree.schema)
    again = tree.recount(rows)
    again.check()
    assert again.rows.tolist() == [4, 2, 3, 2, 2]
    np.testing.assert_allclose(again.statistic[0], [3, 1])
    np.testing.assert_allclose(again.statistic[1], [1.5, 0])


def test_estimators_answer_by_the_mixture() -> None:
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    for model, y in (
        (DecisionTreeClassifier(), [0, 0, 1, 0]),
        (DecisionTreeRegressor(), [1.0, 1.0, 5.0, 2.0]),
    ):
        model.fit(X, y)
        model.model_ = model.model_.with_missing("fractional")
        for rows in (np.array([[np.nan]]), np.full((50, 1), np.nan)):
            assert model.predict(rows)[0] == (2.25 if y[0] == 1.0 else 0)
    classifier = DecisionTreeClassifier().fit(X, [0, 0, 1, 0])
    classifier.model_ = classifier.model_.with_missing("fractional")
    assert classifier.predict_proba([[np.nan]]).tolist() == [[0.75, 0.25]]


# ---- what other rooms make of it -------------------------------------------------------------------

LOAN = (Target("loan", ("no", "yes")),)
COMPLETE = {"age": [30.0, 50.0, 35.0], "income": [10.0, 30.0, 25.0], "job": ["cook", "clerk", "cook"]}
HOLES = COMPLETE | {"age": [30.0, None, 35.0]}


def small(missing: str) -> Tree:
    """age <= 40, below it income <= 20."""
    schema = Schema((Column("age"), Column("income"), Column("job", "category", ("clerk", "cook"))), LOAN)
    inner = Branch(Below("income", 20), Leaf([8, 2]), Leaf([1, 3]))
    tree = Tree.write(schema, Branch(Below("age", 40), inner, Leaf([1, 6])))
    if missing != "surrogate":
        return tree.with_missing(missing)
    entries = [
        (0, Below("income", 30), False, 0.85, 0.6),
        (0, Among("job", ("cook",)), True, 0.8, 0.5),
        (1, Among("job", ("cook",)), False, 0.75, 0.25),
    ]
    tree = replace(tree, missing="surrogate", surrogates=Surrogates.of_tests(schema, entries))
    tree.check()
    return tree


def test_text_tells_surrogates() -> None:
    tree = small("surrogate")
    lines = str(tree).splitlines()
    assert lines[1] == (
        "│  if age is missing: income <= 30 (agrees 85.0 %) · job = clerk (80.0 %) · else left"
    )
    assert lines[3] == "│  │  if income is missing: job = cook (agrees 75.0 %) · else left"
    full = render(tree, surrogates="full")
    assert "│    job = clerk: agrees 80.0 %, adjusted 50.0 %" in full
    assert "missing" not in render(tree, surrogates="none")
    assert "missing" not in render(tree, max_depth=0)
    with pytest.raises(ValueError, match="surrogates is 'some'"):
        render(tree, surrogates="some")  # type: ignore[arg-type]
    assert str(small("fractional")).endswith("down both sides in the shares of their weights")
    assert str(small("error")).endswith("refused")


def test_explain_names_the_surrogate_that_decides() -> None:
    told = explain(small("surrogate"), {"age": None, "income": None, "job": "cook"})
    assert (told.value, told.leaf, told.steps[0].surrogate) == ("yes", 4, "job = cook")
    assert "goes with > 40, as job = cook" in str(told)
    told = explain(small("surrogate"), {"age": None, "income": None, "job": "unheard of"})
    assert (told.leaf, [step.surrogate for step in told.steps]) == (2, ["", ""])
    assert explain(small("surrogate"), {"age": 30, "income": 10, "job": "cook"}).steps[0].surrogate == ""


def test_explain_tells_all_ways_of_a_divided_row() -> None:
    told = explain(small("fractional"), {"age": None, "income": None, "job": "cook"})
    assert [(way.leaf, way.value) for way in told.ways] == [(2, "no"), (4, "yes"), (3, "yes")]
    assert sum(way.share for way in told.ways) == pytest.approx(1)
    assert told.value == "yes"
    assert told.answers[0].share == pytest.approx(11 / 21)
    assert told.start == pytest.approx((11 / 21,))
    assert "is divided over 3 leaves: 47.6 % to leaf 2 (no)" in " ".join(str(told).split())
    assert told.to_dict()["ways"][0] == {"leaf": 2, "share": told.ways[0].share, "value": "no"}
    assert not explain(small("fractional"), {"age": 30, "income": 10, "job": "cook"}).ways


@pytest.mark.parametrize("missing", ["surrogate", "fractional"])
def test_what_follows_tests_asks_for_complete_rows(missing: str) -> None:
    """Exact without missing values; refused with them, never wrong."""
    tree, plain = small(missing), small("learn")
    np.testing.assert_array_equal(
        shapley_values(tree, COMPLETE).values, shapley_values(plain, COMPLETE).values
    )
    background = shapley_values(tree, COMPLETE, background=COMPLETE).values
    np.testing.assert_array_equal(background, shapley_values(plain, COMPLETE, background=COMPLETE).values)
    for given_rows, others in ((HOLES, None), (COMPLETE, HOLES)):
        with pytest.raises(ValueError, match=r"row 1 of (rows|background) has no value of 'age'"):
            shapley_values(tree, given_rows, background=others)
    row = {"age": 30, "income": 10, "job": "cook"}
    assert counterfactual(tree, row).changes == counterfactual(plain, row).changes
    with pytest.raises(ValueError, match="no value of 'age'"):
        counterfactual(tree, row | {"age": None})
    with pytest.raises(ValueError, match="allow_missing"):
        counterfactual(tree, row, allow_missing=True)
    other = plain.collapse([1])
    regions = tree_difference(tree, other, COMPLETE).regions
    assert [region.rows for region in regions] == [1]
    assert not any(condition.missing for region in regions for condition in region.conditions)
    with pytest.raises(ValueError, match="row 1 of data has no value of 'age'"):
        tree_difference(tree, other, HOLES)
    other_rooms = (lambda: tree_difference(tree, tree.collapse([1])), lambda: rules(tree))
    for ask in (*other_rooms, tree.to_shap, tree.to_sklearn):
        with pytest.raises(ValueError, match="with_missing"):
            ask()
    assert len(rules(tree.with_missing("learn"))) == 3


@pytest.mark.parametrize("missing", ["surrogate", "fractional"])
def test_bounds_from_training_rows_need_complete_ones(missing: str) -> None:
    data = encode(COMPLETE, ["no", "yes", "yes"])
    tree = grow(data).with_missing(missing)
    if missing == "surrogate":
        tree = with_surrogates(tree, np.random.default_rng(0))
        assert len(tree.surrogates)
    assert certify(tree, data=data).value <= 1
    assert certify(tree) == certify(tree, data=data)
    with pytest.raises(ValueError, match="test="):
        certify(tree, complete=False)


def test_regions_need_a_value_of_each_tested_column() -> None:
    decision_regions = pytest.importorskip("treewright.plotting.regions").decision_regions
    tree, within = small("fractional"), ((0.0, 80.0), (-0.5, 1.5))
    with pytest.raises(ValueError, match="'income' has no value here"):
        decision_regions(tree, "age", "job", within=within)
    assert {each.leaf for each in decision_regions(tree, "age", "job", within=within, at={"income": 10})} == {
        2,
        4,
    }


def test_importance_of_columns_that_stand_in() -> None:
    """Where the tested column is always missing, shuffling it changes nothing; the surrogate matters."""
    income = np.random.default_rng(0).uniform(0, 60, 200)
    table = {"age": [None] * 200, "income": income, "job": ["cook"] * 200}
    truth = np.where(income <= 20, "no", "yes")
    found = {each.column: each for each in importance(small("surrogate"), (table, truth))}
    assert found["income"].permutation > 0.1
    assert found["age"].permutation == 0
    divided = {each.column: each for each in importance(small("fractional"), (table, truth))}
    assert divided["age"].permutation == 0


def test_competitors_judge_the_rows_whose_value_is_known() -> None:
    tree = small("fractional")
    table = {"age": [30.0, None, 50.0, 35.0], "income": [10.0, 10.0, 30.0, 25.0], "job": ["cook"] * 4}
    found = competitors(tree, (table, ["no", "no", "yes", "yes"]), nodes=[0, 1])
    assert [each.column for each in found[0]] == ["income"]
    assert found[0][0].agreement == pytest.approx(2 / 3)  # of three rows: the one in parts has no side


def test_rows_in_parts_belong_to_no_leaf() -> None:
    tree = small("fractional")
    test = encode(HOLES, ["no", "yes", "yes"], schema=tree.schema)
    assert leaf_intervals(tree, test).rows.tolist() == [1, 1, 0]
    with pytest.raises(ValueError, match="splits validation rows with missing values into fractions"):
        prune(tree, "reduced_error", validation=test, significance=0.05)
    with pytest.raises(ValueError, match="rows that the tree was grown from"):
        prune(tree, "pessimistic", data=test)


def test_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("age,income,job\n30,10,cook\n,30,clerk\n,,\n")
    for missing in ("surrogate", "fractional"):
        small(missing).save(f"{missing}.json")
    cli.main(["show", "surrogate.json", "--surrogates", "full"])
    assert "adjusted 60.0 %" in capfd.readouterr().out
    cli.main(["show", "surrogate.json", "--json"])
    first = json.loads(capfd.readouterr().out)["nodes"][0]
    assert first["surrogates"][0] == {"left_where": "income <= 30", "agreement": 0.85, "adjusted": 0.6}
    assert first["else_left"] is True
    told = {"surrogate": "surrogates decide", "fractional": "mixtures"}
    for missing, note in told.items():
        cli.main(["predict", f"{missing}.json", "rows.csv", "--proba"])
        out, err = capfd.readouterr()
        assert note in err
        tree, lines = small(missing), [line.split(",") for line in out.splitlines()[1:]]
        table = {"age": [30.0, None, None], "income": [10.0, 30.0, None], "job": ["cook", "clerk", None]}
        assert [line[0] for line in lines] == tree.predict(table).tolist()
        shares = np.array([line[1:] for line in lines], float)
        np.testing.assert_array_equal(shares, tree.predict_proba(table))
