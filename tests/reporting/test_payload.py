"""The facts of a report are those of the tree, its prunings and its rows; what it promises is certified."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

from tests.reporting.cases import CASES, case, leaves_at, made, walk
from treewright import Column, Dataset, Schema, certify, encode, grow, prune, report
from treewright._text import label_text
from treewright.certifying import leaf_intervals
from treewright.certifying.losses import row_losses
from treewright.reporting import html_page
from treewright.reporting import samples as reporting_samples
from treewright.reporting.rounding import shorts
from treewright.reporting.sections.distributions import BINS, binned_column
from treewright.reporting.slider import _thin
from treewright.reporting.subject import leaves_within
from treewright.tree.surgery import subtree_mask

pytestmark = pytest.mark.slow

# ---- the facts are the tree's ------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_place_of_every_path_loses_what_its_tree_loses(name: str) -> None:
    tree, own, parts = case(name)
    payload = made(name).payload
    options = {"pessimistic": {"raising": False}, "reduced_error": {"validation": parts[1]}}
    assert payload["pruning"][0]["method"] == ("cost_complexity" if own is None else own.method)
    for at, path in enumerate(payload["pruning"]):
        true = (
            own
            if at == 0 and own is not None
            else prune(tree, path["method"], **options.get(path["method"], {}))
        )
        by_size = {int(n): place for place, n in enumerate(true.leaves)}
        for place, n in enumerate(path["leaves"]):
            leaves = leaves_at(payload, path, place)
            assert len(leaves) == n
            cuts = leaves[~tree.is_leaf[leaves]].tolist()
            pruned = tree.collapse(cuts) if cuts else tree
            if at > 0 or own is not None:
                assert pruned == true[by_size[n]]
            for part, rows in zip(("train", "validation", "test"), parts, strict=True):
                total = sum(payload["samples"][part]["loss"][leaf] for leaf in leaves.tolist())
                mean = float(pruned.mean(pruned.loss_of(rows)[pruned.is_leaf].sum(), rows))
                assert path["loss"][part][place] == pytest.approx(mean, rel=6e-6, abs=1e-12)
                assert total / payload["samples"][part]["weight"] == pytest.approx(mean, rel=1e-5, abs=1e-6)
                if payload["loss"]["share"]:  # weights are whole here: nothing may be rounded
                    assert total == round(mean * rows.total_weight)


@pytest.mark.parametrize("name", CASES)
def test_the_page_opens_at_the_model(name: str) -> None:
    tree, own, _ = case(name)
    path = made(name).payload["pruning"][0]
    leaves = leaves_at(made(name).payload, path, path["chosen"])
    model = tree if own is None else own.pruned
    assert np.array_equal(leaves, leaves_within(tree, model))
    assert made(name).payload["rules"]["tree"] == str(model)


@pytest.mark.parametrize("name", CASES)
def test_rows_find_their_leaf_by_the_payload_alone(name: str) -> None:
    tree, _, (_, _, test) = case(name)
    payload = made(name).payload
    columns = [test.column(i).tolist() for i in range(test.n_columns)]
    kinds = [column["kind"] for column in payload["columns"]]
    rows = []
    for cells in zip(*columns, strict=True):
        row: list[Any] = []
        for kind, cell in zip(kinds, cells, strict=True):
            is_missing = cell == -1 if kind == "category" else cell != cell
            row.append(None if is_missing else "another" if cell == -2 and kind == "category" else cell)
        rows.append(row)
    assert [walk(payload, row) for row in rows] == tree.apply(test).tolist()
    labels = [payload["tree"]["answer"][walk(payload, row)] for row in rows]
    if tree.schema.predicts_classes:
        classes = [payload["classes"][code] for code in tree.label[tree.apply(test), 0]]
        assert labels == classes
    else:
        assert [float(label) for label in labels] == pytest.approx(tree.value[tree.apply(test), 0], rel=1e-5)


def test_thresholds_are_exact_at_both_sides() -> None:
    tree, _, (train, _, _) = case("two")
    payload = json.loads(html_page.as_json(report(tree, train=train).payload))
    for node in np.flatnonzero(~tree.is_leaf & ~np.isnan(tree.threshold)).tolist():
        own = payload["tree"]["threshold"][node]
        assert (np.inf if own == "inf" else own) == tree.threshold[node]


@pytest.mark.parametrize("name", ["two", "few", "two; weights", "many", "very many"])
def test_counts_of_classes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tree, _, parts = case(name)
    for part, rows in zip(("train", "validation", "test"), parts, strict=True):
        facts = made(name).payload["samples"][part]
        table = np.asarray(tree.statistic_of(rows))
        assert facts["rows"] == rows.n_rows
        if tree.schema.width <= 20:
            assert facts["counts"] == shorts(table)
            continue
        _check_heaviest(table, facts["counts"], None)
        monkeypatch.setattr(reporting_samples, "_FEW_CELLS", 0)  # as if the tree were large
        cut = reporting_samples.sample_facts(
            reporting_samples.Sample(tree, rows), np.ones(tree.n_nodes, bool)
        )
        _check_heaviest(table, cut["counts"], 12)
        monkeypatch.undo()


def _check_heaviest(table: Any, counts: Any, most: int | None) -> None:
    """All classes of a node that have some weight, or the heaviest of them."""
    assert counts["whole"] is (most is None)
    for own, pairs in zip(table, counts["top"], strict=True):
        assert [weight for _, weight in pairs] == sorted(own[own > 0], reverse=True)[:most]
        assert all(own[code] == weight for code, weight in pairs)


@pytest.mark.parametrize("name", ["numbers", "numbers; weights"])
def test_numbers_at_each_node(name: str) -> None:
    tree, _, (train, _, _) = case(name)
    facts = made(name).payload["samples"]["train"]
    leaf, y, weight = tree.apply(train), np.asarray(train.targets)[0], train.row_weights.astype(int)
    for node in range(tree.n_nodes):
        inside = (leaf >= node) & (leaf < tree.end[node])
        own = np.repeat(y[inside], weight[inside])
        assert facts["node_rows"][node] == inside.sum()
        assert facts["mean"][node] == pytest.approx(own.mean(), rel=1e-4, abs=1e-5)
        assert facts["deviation"][node] == pytest.approx(own.std(), rel=1e-4, abs=1e-5)
        middle = np.sort(own)[(len(own) - 1) // 2] - tree.value[node, 0]
        assert facts["residuals"][node][2] == pytest.approx(middle, rel=1e-3, abs=1e-9)
        assert facts["residuals"][node] == sorted(facts["residuals"][node])


def test_few_values_have_a_bar_each() -> None:
    """Of 0 and 1, one bar for both would show nothing."""
    x, children = [0.0, 1.0] * 40 + [np.nan] * 4, [0, 1, 2, 5] * 21
    train = encode({"x": x, "children": children}, ["no", "yes"] * 40 + ["no", "no", "yes", "yes"])
    facts = report(grow(train), train=train).payload["distributions"]
    bars = {
        tuple(item["labels"]): np.sum([table[i] for table in facts["counts"].values()], axis=0).tolist()
        for i, item in enumerate(facts["columns"])
    }
    assert all(item["edges"] is None for item in facts["columns"])
    assert bars[("0", "1", "missing")] == [40, 40, 4]
    assert bars.get(("0", "1", "2", "5", "missing"), [21, 21, 21, 21, 0]) == [21, 21, 21, 21, 0]


def test_distributions_add_up() -> None:
    tree, path, (train, _, _) = case("two")
    assert path is not None
    facts = made("two").payload["distributions"]
    nodes = np.array(facts["nodes"])
    assert len(nodes) <= 128
    assert np.array_equal(np.sort(nodes), nodes)
    assert subtree_mask(tree, nodes)[tree.is_leaf].all()
    model = set(leaves_within(tree, path.pruned).tolist())
    assert all(any(leaf <= node < tree.end[leaf] for leaf in model) for node in nodes.tolist())
    leaf = tree.apply(train)
    for k, told in enumerate(facts["columns"]):
        column = tree.schema.columns[told["column"]]
        cells = train.column(told["column"])
        missing = cells == -1 if column.kind == "category" else np.isnan(cells)
        assert told["labels"][-1] == "missing"
        if told["edges"] is not None:
            assert len(told["edges"]) == len(told["labels"])
            assert told["edges"] == sorted(told["edges"])
        for node in nodes.tolist():
            inside = (leaf >= node) & (leaf < tree.end[node])
            counts = facts["counts"][str(node)][k]
            assert len(counts) == len(told["labels"])
            assert sum(counts) == inside.sum()
            assert counts[-1] == (inside & missing).sum()
            if column.kind == "category":
                named = [label_text(category) for category in column.categories]
                rows = np.bincount(cells[inside & ~missing], minlength=len(named)).tolist()
                assert dict(zip(told["labels"][:-1], counts, strict=False)) == dict(
                    zip(named, rows, strict=True)
                )
            if told["edges"] is not None:  # above the lower border, which the first bin includes
                below = (cells[inside] <= told["edges"][1]).sum()
                assert counts[0] == below


def test_bins_of_many_categories() -> None:
    column = Column("c", "category", tuple(f"c{i}" for i in range(30)))
    cells = np.array([*np.repeat(np.arange(30), np.arange(1, 31)), -1, -1, -2])
    edges, labels, bins = binned_column(column, cells)
    assert edges is None
    assert labels == [*(f"c{i}" for i in range(30 - BINS + 1, 30)), "others", "missing"]
    counts = np.bincount(bins).tolist()
    assert counts == [*range(30 - BINS + 2, 31), sum(range(1, 30 - BINS + 2)) + 1, 2]
    few = Column("c", "category", tuple(f"c{i}" for i in range(BINS)))
    assert binned_column(few, np.arange(BINS))[1] == [*(f"c{i}" for i in range(BINS)), "missing"]


def test_all_columns_of_a_small_tree_are_counted_and_compete() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 7))
    data = encode(X, np.where(X[:, :6].sum(axis=1) > 0, "yes", "no"))
    tree = grow(data, max_leaf_nodes=25)
    used = set(tree.feature[~tree.is_leaf].tolist())
    assert len(used) > 5
    payload = report(tree, train=data).payload
    assert {each["column"] for each in payload["distributions"]["columns"]} == used
    assert len(payload["competitors"]) > 10
    stump = report(tree.first(1), train=data).payload  # its rivals test columns that it does not
    assert {each["column"] for each in stump["competitors"]["0"]} - {int(tree.feature[0])}


def test_columns() -> None:
    tree, _, (train, _, _) = case("two")
    payload = made("two").payload
    for i, facts in enumerate(payload["columns"]):
        column, cells = train.schema.columns[i], train.column(i)
        assert (facts["name"], facts["kind"]) == (column.name, column.kind)
        assert facts["used"] == bool((tree.feature == i).any())
        if column.kind == "category":
            assert len(facts["categories"]) == len(column.categories)
            assert facts["typical"] == np.bincount(cells[cells >= 0]).argmax()
        else:
            assert (facts["least"], facts["most"]) == pytest.approx((np.nanmin(cells), np.nanmax(cells)))
            assert facts["typical"] == pytest.approx(np.nanmedian(cells))
    gains = [each["gain"] for each in payload["importance"]["columns"]]
    assert gains == sorted(gains, reverse=True)
    assert sum(gains) == pytest.approx(1, abs=1e-4)
    assert payload["importance"]["rows"] == "on the 150 test rows"


def test_competitors_are_the_best_splits_of_other_columns() -> None:
    tree, _, (train, _, _) = case("two")
    payload = made("two").payload
    root = payload["competitors"]["0"]
    assert tree.feature[0] not in {each["column"] for each in root}
    best = root[0]
    assert [each["gain"] for each in root] == sorted((each["gain"] for each in root), reverse=True)
    name = train.schema.names[best["column"]]
    alone = Schema((train.schema.columns[best["column"]],), train.schema.targets)
    stump = grow(Dataset(alone, (train.column(best["column"]),), train.targets), max_leaf_nodes=2)
    assert best["gain"] == pytest.approx(stump.gain[0] / tree.risk[0], rel=1e-3)
    assert best["words"].startswith(name)
    assert payload["tree"]["gain"][0] >= best["gain"]


# ---- what is promised --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["two", "two; costs", "few", "very many"])
def test_certificates_of_the_slider_are_those_of_the_certifier(name: str) -> None:
    tree, _, (_, _, test) = case(name)
    payload = made(name).payload
    for path in payload["pruning"]:
        assert len(path["certificate"]) == len(path["leaves"])
        for place in {0, path["chosen"], len(path["leaves"]) // 2}:
            leaves = leaves_at(payload, path, place)
            cuts = leaves[~tree.is_leaf[leaves]].tolist()
            pruned = tree.collapse(cuts) if cuts else tree
            sure = certify(pruned, test=test, choices=len(path["leaves"]), check_rows=False)
            upper = path["certificate"][place]["upper"]
            assert sure.value * (1 - 1e-12) <= upper <= sure.value * (1 + 1e-5)  # never rounded down


def test_the_sentence_for_a_manager() -> None:
    _, path, (train, validation, test) = case("two")
    assert path is not None
    sure = certify(path.pruned, test=test)
    wrong = f"{100 * row_losses(path.pruned, test).loss.mean():.1f} %"
    assert made("two").payload["headline"]["manager"] == (
        f"On 150 rows it had never seen it was wrong for {wrong}; with 95 % confidence it is wrong for less "
        f"than {sure.bound_text} of such rows."
    )
    chosen = report(path, train=train, validation=validation).payload["headline"]["manager"]
    paid = certify(path.pruned, test=validation, choices=len(path))
    assert "may have selected its size" in chosen
    assert f"less than {paid.bound_text}" in chosen
    alone = report(path.pruned, validation=validation).payload["headline"]["manager"]
    assert certify(path.pruned, "reduced_error", test=validation).bound_text in alone
    occam = report(path, train=train).payload["headline"]["manager"]
    assert "no other rows were given, but with 95 % confidence it is wrong for less than" in occam
    assert certify(path.pruned, data=train).bound_text in occam
    little = report(path.full_tree).payload["headline"]["manager"]
    assert little.endswith("no other rows were given, so its error on new rows is unknown.")
    other = report(path, test=test, delta=0.2).payload
    assert certify(path.pruned, test=test, delta=0.2).bound_text in other["headline"]["manager"]
    assert "with 80 % confidence" in other["headline"]["manager"]


@pytest.mark.parametrize("scale", [1.0, 1e5])
def test_numbers_are_written_as_people_read_them(scale: float) -> None:
    """No powers of ten, and the bound of the squared error by its root."""
    _, path, (train, _, test) = case("numbers")
    assert path is not None
    data = [Dataset(part.schema, part.columns, scale * np.asarray(part.targets)) for part in (train, test)]
    payload = report(grow(data[0], max_leaf_nodes=8), train=data[0], test=data[1]).payload
    off, likely = re.findall(r"off by (?:less than )?([\d.,]+)", payload["headline"]["manager"])
    assert payload["headline"]["manager"].startswith(
        f"On 150 rows it had never seen it was typically off by {off} ("
    )
    off, likely = (float(text.replace(",", "")) for text in (off, likely))
    chosen = payload["pruning"][0]["loss"]["test"][payload["pruning"][0]["chosen"]]
    assert off == pytest.approx(np.sqrt(chosen), rel=1e-3)
    assert off < likely < 2 * off
    assert "e+" not in json.dumps(payload["headline"])
    assert "loss_bound" not in json.dumps(payload["headline"])


def test_notes_are_few() -> None:
    """What a method could not do is told only to those who asked for it."""
    tree, _, (train, _, test) = case("two; alone")
    stump = tree.collapse([tree.left[0], tree.right[0]])
    for methods, told in ((None, 0), (["pessimistic"], 1)):
        notes = report(stump, train=train, test=test, methods=methods).payload["headline"]["notes"]
        assert sum("keeps the whole tree" in note for note in notes) == told
        assert sum("The bound assumes" in note for note in notes) == 1


def test_bounds_are_rounded_up() -> None:
    payload = made("two; costs").payload
    for path in payload["pruning"]:
        for place, bound in enumerate(path["certificate"]):
            leaves = leaves_at(payload, path, place)
            tree, _, (_, _, test) = case("two; costs")
            cuts = leaves[~tree.is_leaf[leaves]].tolist()
            pruned = tree.collapse(cuts) if cuts else tree
            sure = certify(pruned, test=test, choices=len(path["leaves"]), check_rows=False)
            assert sure.value * (1 - 1e-12) <= bound["upper"] <= sure.value * 1.00002


def test_what_cannot_be_promised_is_not() -> None:
    for name, words in (("two; weights", "unequal weights"), ("numbers", "not a guarantee")):
        payload = made(name).payload
        assert words in payload["headline"]["manager"]
        for path in payload["pruning"]:
            assert set(path["certificate"]) == {None}
        assert "intervals" not in payload


def test_why_there_is_no_bound() -> None:
    tree, _, (train, _, test) = case("two; alone")
    (path, *_) = report(tree, train=train).payload["pruning"]
    assert (
        path["certificate_words"]
        == "There are no bounds for the trees of the slider, because no test rows were given."
    )
    assert (
        made("two; weights")
        .payload["pruning"][0]["certificate_words"]
        .startswith("There is no bound: the test rows have unequal weights")
    )
    assert (
        made("numbers")
        .payload["pruning"][0]["certificate_words"]
        .startswith("There is no bound: the error of a predicted number")
    )
    wrong = np.flatnonzero(row_losses(tree, test).loss > 0)[:1]
    told = report(tree, test=test.take(wrong)).payload["headline"]["manager"]
    assert told.endswith("it was wrong for 100 %; these are too few rows for a guarantee.")


def test_the_smallest_tree_that_loses_nothing_is_chosen() -> None:
    data = encode({"x": np.arange(40.0), "z": np.arange(40) % 2}, ["a"] * 20 + ["b"] * 20)
    own = prune(grow(data), "minimum_errors")
    for rows, loss, chosen in (({"x": [3.0, 30.0]}, [0, 0.5], 0), ({"x": [3.0]}, [0, 0], 1)):
        n = len(rows["x"])
        validation = encode(rows | {"z": [0] * n}, ["a", "b"][:n], schema=data.schema)
        payload = report(own[0], path=own, validation=validation, methods=["cost_complexity"]).payload
        path = payload["pruning"][1]
        assert path["method"] == "cost_complexity"
        assert (path["loss"]["validation"], path["chosen"]) == (loss, chosen)


def test_places_are_thin_evenly() -> None:
    for chosen in (0, 517, 999):
        kept = _thin(np.arange(1000, 0, -1), chosen, 100)
        assert {0, chosen, 999} <= set(kept.tolist())
        assert (np.diff(kept) > 0).all()
        assert 60 <= len(kept) <= 101
        assert np.diff(kept).max() <= 25  # a hundredth of the places is 10; small trees are shown one by one
        assert np.diff(kept)[-8:].max() <= 4
    assert _thin(np.arange(50, 0, -1), 3, 100).tolist() == list(range(50))


@pytest.mark.slow
def test_rows_of_equal_weight_are_draws() -> None:
    tree, _, (train, _, test) = case("two; alone")
    twice = Dataset(test.schema, test.columns, test.targets, np.full(test.n_rows, 2.0))
    one, two = (report(tree, train=train, test=rows).payload for rows in (test, twice))
    assert two["headline"]["manager"] == one["headline"]["manager"]
    assert two["pruning"][0]["certificate"] == one["pruning"][0]["certificate"]
    assert two["intervals"] == one["intervals"]


@pytest.mark.slow
def test_rows_of_no_weight_are_not_there() -> None:
    tree, _, (train, _, test) = case("two; alone")
    told = []
    for rows in (train, test):
        weight = np.tile([1.0, 0.0, 1.0], rows.n_rows)[: rows.n_rows]
        some = Dataset(rows.schema, rows.columns, rows.targets, weight)
        told.append((some, rows.take(np.flatnonzero(weight))))
    one, two = (report(tree, train=a, test=b).payload for a, b in zip(*told, strict=True))
    for key in ("samples", "pruning", "intervals", "distributions", "competitors", "columns"):
        assert one[key] == two[key], key
    assert one["headline"]["manager"] == two["headline"]["manager"]


def test_intervals_are_those_of_each_node_by_itself() -> None:
    tree, _, (_, _, test) = case("two")
    facts = made("two").payload["intervals"]
    assert facts["sample"] == "test"
    root = leaf_intervals(tree.collapse([0]), test)
    assert (facts["lower"][0], facts["upper"][0]) == pytest.approx((root.lower[0], root.upper[0]), rel=1e-3)
    unreached = np.flatnonzero(np.array(made("two").payload["samples"]["test"]["node_rows"]) == 0)
    assert unreached.size
    assert facts["lower"][unreached[0]] == 0
    assert facts["upper"][unreached[0]] == 1
