"""The report of trees that send missing values by surrogates or down both sides: its facts and its page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.reporting.browser import browser, opened  # noqa: F401  fixtures
from tests.tree.routed_trees import all_parts, mixture, with_holes, with_surrogates
from treewright import Tree, encode, grow, report
from treewright.encoding import Dataset
from treewright.reporting import Report
from treewright.tree.missing import parts_of
from treewright.tree.predict import codes, proportions

N = 300
TYPE_ROWS = """([rows]) => rows.map((row) => {
    for (const [column, text] of Object.entries(row)) {
        const field = document.querySelector(`#trial-fields [data-column="${column}"]`);
        if (!field) continue;
        field.value = text;
        field.dispatchEvent(new Event("input", {bubbles: true}));
    }
    const answer = document.querySelector("#decision .answer");
    return [Number(answer.dataset.leaf), Number(answer.dataset.parts || 1), answer.textContent];
})"""


def rows_of(kind: str, seed: int) -> Dataset:
    rng = np.random.default_rng(seed)
    table = {
        "age": rng.integers(18, 80, N).astype(float),
        "income": rng.normal(30, 10, N).round(1),
        "town": np.array(["Bern", "Ulm", "Zug"], object)[rng.integers(0, 3, N)],
    }
    score = table["age"] / 40 + (table["town"] == "Ulm") + rng.normal(size=N) / 3
    target = score if kind == "numbers" else np.where(score > 1.6, "yes", "no")
    return encode(table, target)


def made(kind: str, missing: str) -> tuple[Tree, Dataset, Report]:
    data = rows_of(kind, 0)
    tree = grow(data, max_leaf_nodes=12)
    rng = np.random.default_rng(1)
    tree = with_surrogates(tree, rng) if missing == "surrogate" else tree.with_missing(missing)
    holes = with_holes(rows_of(kind, 2), rng, 0.3)
    return tree, holes, report(tree, train=data, test=holes)


def payload_of(made_report: Report) -> dict[str, Any]:
    return json.loads(json.dumps(made_report.payload))


def typed(payload: dict[str, Any], rows: Dataset, row: int) -> dict[str, str]:
    cells = {}
    for i, column in enumerate(payload["columns"]):
        value = rows.columns[i][row]
        if column["kind"] == "category":
            cells[str(i)] = "missing" if value == -1 else "other" if value == -2 else str(value)
        else:
            cells[str(i)] = "" if np.isnan(value) else repr(float(value))
    return cells


def test_facts_of_surrogates() -> None:
    tree, _, told = made("classes", "surrogate")
    facts = payload_of(told)
    assert facts["tree"]["missing"] == "surrogate"
    assert sum(map(len, facts["surrogates"].values())) == len(tree.surrogates)
    entry = tree.surrogates.of(int(tree.surrogates.node[0]))[0]
    first = facts["surrogates"][str(int(tree.surrogates.node[0]))][0]
    assert (first["agreement"], first["adjusted"]) == (0.75, 0.5)
    assert first["reversed"] == bool(tree.surrogates.reversed[entry])
    assert "is missing:" in facts["rules"]["tree"]
    assert facts["rules"]["rules"].startswith("For rows without missing values")


def test_facts_of_divided_rows() -> None:
    tree, _, told = made("classes", "fractional")
    facts = payload_of(told)
    inner = ~tree.is_leaf
    shares = np.array(facts["tree"]["left_share"])[inner]
    np.testing.assert_array_equal(shares, tree.weight[tree.left[inner]] / tree.weight[inner])
    shares = np.array(facts["tree"]["right_share"])[inner]
    np.testing.assert_array_equal(shares, tree.weight[tree.right[inner]] / tree.weight[inner])
    for own, pairs in zip(tree.proportions[0].tolist(), facts["tree"]["class_shares"], strict=True):
        assert pairs == [[code, share] for code, share in enumerate(own) if share]
    assert "surrogates" not in facts
    assert "intervals" not in facts
    assert any("add up their fractions" in note for note in facts["headline"]["notes"])
    assert "missing" not in payload_of(report(tree.with_missing("learn")))["tree"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["classes", "numbers"])
@pytest.mark.parametrize("missing", ["surrogate", "fractional"])
def test_rows_go_where_the_tree_sends_them(opened: Any, kind: str, missing: str) -> None:  # noqa: F811
    tree, holes, told = made(kind, missing)
    payload = payload_of(told)
    page = opened(payload)
    page.click("#tab-trial")
    some = range(60)
    found = page.evaluate(TYPE_ROWS, [[typed(payload, holes, row) for row in some]])
    parts = all_parts(tree, holes)
    for row, (leaf, n_parts, answer) in zip(some, found, strict=True):
        assert n_parts == len(parts[row])
        assert parts[row][leaf] == max(parts[row].values())
        mixed = mixture(tree, parts[row], 0)
        if kind == "classes":
            if abs(mixed[0] - mixed[1]) > 1e-9:
                assert answer == tree.schema.targets[0].classes[int(mixed.argmax())]
        else:
            assert float(answer.replace("−", "-")) == pytest.approx(mixed[0], rel=1e-5)


def near_ties(costs: Any) -> Iterator[tuple[Tree, Dataset]]:
    """Small trees that divide rows, and rows that miss values; the classes weigh almost the same."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        half = 12
        table = {name: rng.integers(0, 5, 2 * half).astype(float) for name in "xz"}
        weight = rng.choice([0.1, 0.2, 0.3, 0.7, 1 / 3, 1.0], half)
        data = encode(table, ["a", "b"] * half, weight=np.repeat(weight, 2))
        tree = grow(data, missing="fractional", max_leaf_nodes=6)
        tree = tree if costs is None else tree.with_costs(costs)
        cells: Any = np.array([[x, z] for x in (None, 0, 1, 2, 3) for z in (None, 0, 2, 4)], float)
        yield tree, encode({"x": cells[:, 0], "z": cells[:, 1]}, schema=tree.schema)


@pytest.mark.slow
@pytest.mark.parametrize("costs", [None, [[0, 1 / 3], [0.1 + 0.2, 0]]])
def test_the_page_breaks_ties_as_the_tree_does(opened: Any, costs: Any) -> None:  # noqa: F811
    """The last bit of a sum decides where classes weigh the same: the page adds up the same numbers."""
    ties = 0
    for tree, rows in near_ties(costs):
        page = opened(payload_of(report(tree)))
        page.click("#tab-trial")
        table = np.transpose(rows.columns).tolist()
        cells = [[None if cell != cell else cell for cell in row] for row in table]
        found = page.evaluate(
            """([rows]) => rows.map(([x, z]) => {
                const parts = leavesOf(new Map([[0, x], [1, z]]), view.pruning.ends);
                const mixed = mixedShares(parts);
                const answer = parts.length > 1 ? cheapestOf(mixed) : tree.label[parts[0].leaf];
                return [parts.map((part) => part.share), mixed, answer];
            })""",
            [cells],
        )
        [together] = parts_of(tree, rows)
        for row, (shares, mixed, code) in enumerate(found):
            own = slice(*together.start[row : row + 2].tolist())
            assert shares == together.share[own].tolist()
            assert code == codes(tree, rows)[row, 0]
            if len(shares) > 1:
                assert mixed == proportions(tree, rows)[0][row].tolist()
                ties += abs(mixed[0] - mixed[1]) < 1e-6
    assert ties > 5


@pytest.mark.slow
def test_the_page_tells_what_decides(opened: Any) -> None:  # noqa: F811
    tree, _, told = made("classes", "surrogate")
    node = int(tree.surrogates.node[0])
    page = opened(payload_of(told))
    page.evaluate(f"goToNode({node})")
    text = page.locator("#panel-node").inner_text()
    assert "If the value is missing" in text
    assert "adjusted 50.0 %" in text
    assert page.locator(".surrogates .bar-name").count() == len(tree.surrogates.of(node))
    page = opened(payload_of(made("classes", "fractional")[2]))
    page.evaluate("goToNode(0)")
    assert "The row is divided: " in page.locator("#panel-node").inner_text()
    page.click("#tab-trial")
    page.get_by_role("button", name="All missing").click()
    assert "in a mixture of" in page.locator("#decision").inner_text()
    assert "Decision path of the largest part" in page.locator("#trial-steps").inner_text()
    page = opened(payload_of(report(tree.with_missing("error"))))
    page.click("#tab-trial")
    page.get_by_role("button", name="All missing").click()
    assert "takes rows without missing values only" in page.locator("#decision").inner_text()
