"""Rows with missing values in a finished tree, by surrogates or down both sides, against a plain reader."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import CLASSES, NUMBERS
from routed_trees import all_parts, mixture, routed, way_up

from treewright import Tree
from treewright.arriving import losses, rows_of, squared_losses
from treewright.certifying.losses import row_losses
from treewright.encoding import Dataset
from treewright.routing import parts_of

WAYS = ("learn", "surrogate", "fractional", "category")
SOME = [CLASSES[0], NUMBERS[0], NUMBERS[1]]


def drawn(data: st.DataObject, criterion: str, missing: str) -> tuple[Tree, Dataset]:
    return data.draw(routed(criterion, missing))


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
    for node, here in enumerate(arrived):
        check_node(tree, rows, node, here, statistic[node])
        each = [(share * weight[row], plain_loss(tree, rows, row, node)) for row, share in here]
        total = sum(part * loss for part, loss in each)
        scale = sum(part * loss for part, loss in each if np.isfinite(loss))
        np.testing.assert_allclose(own[node], total, rtol=1e-7, atol=1e-9 * (1 + scale))
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


@settings(max_examples=25)
@given(data=st.data())
def test_a_collapsed_tree_loses_what_its_leaves_say(data: st.DataObject) -> None:
    """The losses of a path of prunings are those of the trees themselves, also in parts."""
    tree, rows = drawn(data, "gini", data.draw(st.sampled_from(["surrogate", "fractional"])))
    if len(tree.schema.targets) > 1 or not rows.total_weight > 0:
        return
    from treewright.pruning import cost_complexity

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
