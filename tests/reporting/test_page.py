"""The page of a report: tree, slider, columns and quality show what the payload says."""
# ruff: noqa: F811 (a fixture is imported and asked for by its name)

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from tests.reporting import payloads as examples
from tests.reporting.browser import (  # noqa: F401 (fixtures)
    area,
    browser,
    chosen_leaves,
    confusion,
    drawn_nodes,
    example,
    leaves_at,
    loss_at,
    number,
    opened,
    percent,
    prose,
    series,
    slide,
)
from treewright import Tree, encode

# ---- the slider --------------------------------------------------


@pytest.mark.slow
def test_opens_at_the_model(opened: Any) -> None:
    _, payload = example("spam")
    page = opened(payload)
    chosen, leaves = payload["pruning"][0]["chosen"], chosen_leaves(payload)
    assert page.title() == payload["title"]
    assert page.locator("#headline-title").inner_text() == payload["title"]
    assert prose(page, "#manager") == payload["headline"]["manager"]
    assert " %" not in page.locator("#manager").inner_text(), "no line ends between a number and its unit"
    assert page.locator("#dial-leaves").inner_text() == f"{len(leaves)} leaves"
    assert series(page, "test") == percent(payload["pruning"][0]["loss"]["test"][chosen])
    assert page.locator("#to-chosen").is_disabled()
    assert percent(loss_at(payload, "test", leaves)) in page.locator("#tiles").inner_text()


def test_bounds_are_rounded_up(opened: Any) -> None:
    payload = copy.deepcopy(example("costs")[1])
    payload["loss"] = {"name": "mean cost", "share": False}
    for path in payload["pruning"]:
        path["certificate"] = [{"upper": 0.123401}] * len(path["leaves"])
    page = opened(payload)
    assert series(page, "certificate") == "≤ 0.1235"
    told = page.evaluate("[0, 2, 1.23451, 12345.2, 0.5, 0.000012341].map(boundWords)")
    assert told == ["0", "2", "1.235", "12,350", "0.5", "1.235·10^−5"]
    told = page.evaluate("[1, 0.997, 0.99, 0.9999, 0.003, 0.0001, 0].map((share) => percentWords(share, 0))")
    assert told == ["100 %", "99.7 %", "99 %", "> 99.9 %", "0.3 %", "< 0.1 %", "0 %"]


@pytest.mark.slow
def test_a_tree_that_can_be_read_as_a_whole_is_shown_as_a_whole(opened: Any) -> None:
    page = opened(example("six")[1])
    told = []
    for share in (0.75, 0.5):
        page.evaluate(f"extent = {{ width: canvas.clientWidth / {share}, height: 100 }}; zoomToFit(0.85)")
        told.append(page.evaluate("scale"))
    assert told == pytest.approx([0.75, 0.85])


def test_shares_are_rounded_as_in_the_sentences(opened: Any) -> None:
    page = opened(example("costs")[1])
    shares = [k / 80 for k in range(1, 80)] + [0.1235, 0.125, 0.00625]
    for digits in (0, 1):
        told = page.evaluate(f"{shares}.map(share => percentWords(share, {digits}))")
        assert told == [percent(share, digits) for share in shares]


@pytest.mark.slow
def test_the_slider_changes_the_tree_and_every_number(opened: Any) -> None:
    _, payload = example("spam")
    page = opened(payload)
    lengths = len(payload["pruning"][0]["leaves"])
    for place in (0, lengths // 3, lengths - 2, lengths - 1):
        slide(page, place)
        leaves, path = leaves_at(payload, 0, place), payload["pruning"][0]
        assert len(leaves) == path["leaves"][place] == number(page.locator("#dial-leaves").inner_text())
        for part in ("train", "validation", "test"):
            expected = loss_at(payload, part, leaves)
            assert expected == pytest.approx(path["loss"][part][place], abs=1e-5)
            assert series(page, part) == percent(expected)
        upper = np.ceil(1000 * path["certificate"][place]["upper"] - 1e-9) / 10
        assert number(series(page, "certificate")) == upper
        cells = page.eval_on_selector_all(
            ".confusion td[data-cell] b",
            "cells => cells.map(cell => Number(cell.textContent.replace(/,/g, '')))",
        )
        assert cells == confusion(payload, "test", leaves).ravel().tolist()
        if len(leaves) > 1:
            assert number(page.locator("#area b").inner_text()) == round(area(payload, leaves, 1), 3)
        told = page.locator("#leaf-table tbody tr").count()
        assert told == min(len(leaves), 25)
        ends = {node for node in drawn_nodes(page) if node in leaves}
        assert len(drawn_nodes(page)) <= 2 * min(len(leaves), 24) - 1
        assert ends or len(leaves) > 24


@pytest.mark.slow
def test_methods_have_their_own_paths(opened: Any) -> None:
    _, payload = example("spam")
    page = opened(payload)
    page.select_option("#method", "1")
    chosen = payload["pruning"][1]["chosen"]
    page.wait_for_selector(f"html[data-drawn='1/{chosen}']")
    assert number(page.locator("#dial-leaves").inner_text()) == payload["pruning"][1]["leaves"][chosen]
    page.click("#to-chosen")
    page.wait_for_selector(f"html[data-drawn='0/{payload['pruning'][0]['chosen']}']")
    assert page.locator("#method").input_value() == "0"


@pytest.mark.slow
def test_paths_that_are_not_nested(opened: Any) -> None:
    """A path may list the branches that are leaves at each place; the same trees come out."""
    _, payload = example("six")
    listed = copy.deepcopy(payload)
    path = listed["pruning"][0]
    inner = [node for node, feature in enumerate(payload["tree"]["feature"]) if feature >= 0]
    path["cuts"] = [
        sorted(set(leaves_at(payload, 0, place)) & set(inner)) for place in range(len(path["leaves"]))
    ]
    del path["leaf_from"]
    page = opened(listed)
    for place in (0, len(path["leaves"]) // 2):
        slide(page, place)
        assert number(page.locator("#dial-leaves").inner_text()) == len(leaves_at(payload, 0, place))
        assert series(page, "test") == percent(loss_at(payload, "test", leaves_at(payload, 0, place)))


@pytest.mark.slow
def test_dragging_on_the_curve(opened: Any) -> None:
    _, payload = example("spam")
    page = opened(payload)
    page.locator("#curve").scroll_into_view_if_needed()
    box = page.locator("#curve").bounding_box()
    page.mouse.move(box["x"] + 60, box["y"] + 100)
    page.mouse.down()
    page.mouse.up()
    page.wait_for_selector("#dial-leaves:text-is('1 leaf')")


# ---- the tree --------------------------------------------------


@pytest.mark.slow
def test_folding_and_unfolding(opened: Any) -> None:
    _, payload = example("spam")
    page = opened(payload)
    before = drawn_nodes(page)
    left, end = 1, payload["tree"]["end"][1]
    page.locator(f"[data-handle='{left}']").click()
    assert page.locator(f"#node-{left}").get_attribute("aria-expanded") == "false"
    inside = [node for node in before if left < node < end]
    assert inside
    assert not set(inside) & set(drawn_nodes(page))
    hidden = sum(left <= leaf < end for leaf in chosen_leaves(payload))
    assert page.locator(f"[data-handle='{left}']").text_content() == f"+{hidden}"
    page.locator(f"[data-handle='{left}']").click()
    assert drawn_nodes(page) == before
    page.click("#unfold-all")
    assert [node for node in drawn_nodes(page) if node in chosen_leaves(payload)] == chosen_leaves(payload)
    page.click("#fold-all")
    assert drawn_nodes(page) == [0, 1, payload["tree"]["end"][1]]


@pytest.mark.slow
def test_zoom_and_pan(opened: Any) -> None:
    page = opened(example("spam")[1])
    wide = lambda: float(page.locator("#drawing").get_attribute("width"))  # noqa: E731
    before = wide()
    page.click("#zoom-in")
    assert wide() == pytest.approx(1.25 * before, rel=0.01)
    page.click("#unfold-all")
    page.click("#zoom-fit")
    size = page.evaluate("[canvas.clientWidth, canvas.clientHeight]")
    assert wide() <= size[0] + 1
    assert float(page.locator("#drawing").get_attribute("height")) <= size[1] + 1
    page.click("#zoom-in", click_count=8)
    box = page.locator("#canvas").bounding_box()
    left = page.evaluate("canvas.scrollLeft")
    page.mouse.move(box["x"] + 300, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 5, steps=4)
    page.mouse.up()
    assert page.evaluate("canvas.scrollLeft") == left + 100


@pytest.mark.slow
def test_details_of_a_node(opened: Any) -> None:
    _, payload = example("spam")
    page = opened(payload)
    node = payload["tree"]["end"][1]
    page.locator(f"#node-{node}").click()
    panel = prose(page, "#panel-node")
    assert payload["tree"]["right_words"][0].replace(" <= ", " ≤ ") in panel
    for part, own in payload["samples"].items():
        assert f"{own['node_rows'][node]:,}" in panel, part
    lower, upper = (payload["intervals"][side][node] for side in ("lower", "upper"))
    assert f"between {percent(lower)} and {percent(upper)}" in panel
    page.locator("#node-0").click()
    rival = payload["competitors"]["0"][0]["words"].replace(" <= ", " ≤ ")
    assert rival in page.locator("#panel-node").inner_text()
    page.locator(f"#node-{node}").hover()
    assert f"{payload['samples']['test']['node_rows'][node]:,} rows" in page.locator("#tip").inner_text()


@pytest.mark.slow
def test_search_for_a_column(opened: Any) -> None:
    _, payload = example("spam")
    page = opened(payload)
    leaves, tree = chosen_leaves(payload), payload["tree"]
    inside = [
        leaf for leaf in range(len(tree["end"])) if any(leaf <= other < tree["end"][leaf] for other in leaves)
    ]
    hp = [i for i, column in enumerate(payload["columns"]) if "hp" in column["name"]]
    expected = [node for node in inside if tree["feature"][node] in hp and node not in leaves]
    page.fill("#search", "HP")
    assert page.locator("#search-found").inner_text().startswith(f"{len(expected)} branches")
    seen = []
    for _ in expected:
        page.press("#search", "Enter")
        seen.append(int(page.locator("#drawing .node.selected").get_attribute("data-node")))
    assert seen == expected
    assert page.locator("#drawing .node.found").count() == len(expected)
    page.fill("#search", "no such name")
    assert page.locator("#search-found").inner_text() == "no such column"
    page.press("#search", "Escape")
    assert page.locator("#drawing .node.found").count() == 0


# ---- try a row --------------------------------------------------

ROWS = 80
TYPE_ROWS = """([rows]) => rows.map((row) => {
    for (const [column, text] of Object.entries(row)) {
        const field = document.querySelector(`#trial-fields [data-column="${column}"]`);
        if (!field) continue;
        field.value = text;
        field.dispatchEvent(new Event("input", {bubbles: true}));
    }
    return Number(document.querySelector("#decision .answer").dataset.leaf);
})"""


def typed_cells(payload: dict[str, Any], table: dict[str, Any], row: int) -> dict[str, str]:
    """The cells of a row as a person types or chooses them; None and NaN are missing."""
    cells = {}
    for i, (column, values) in enumerate(zip(payload["columns"], table.values(), strict=True)):
        value = values[row]
        if column["kind"] == "category":
            known = column["categories"]
            cells[str(i)] = (
                "missing" if value is None else str(known.index(value)) if value in known else "other"
            )
        elif column["kind"] == "time":
            cells[str(i)] = "" if np.isnat(value) else str(value).replace("T", " ")
        else:
            cells[str(i)] = "" if np.isnan(value) else repr(float(value))
    return cells


def hard_rows(tree: Tree, seed: int) -> dict[str, Any]:
    """Rows on thresholds and beside them, with missing values and towns that nobody has seen."""
    table = examples.mixed_table(ROWS, seed)
    random = np.random.default_rng(seed)
    for i, name in enumerate(table):
        cuts = np.unique(tree.threshold[(tree.feature == i) & np.isfinite(tree.threshold)])
        if not cuts.size:
            continue
        some = random.choice(cuts, ROWS)
        if table[name].dtype.kind == "M":
            some = np.floor(some).astype("int64") + random.integers(-1, 2, ROWS)
            table[name] = np.where(random.random(ROWS) < 0.5, some.astype("datetime64[us]"), table[name])
        else:
            some = np.where(
                random.random(ROWS) < 0.5, some, np.nextafter(some, random.choice([-1e9, 1e9], ROWS))
            )
            table[name] = np.where(random.random(ROWS) < 0.5, some, table[name])
    table["town"][::7] = "Atlantis"
    return table


@pytest.mark.slow
@pytest.mark.parametrize("name", ["prices", "six"])
def test_rows_go_where_the_tree_sends_them(opened: Any, name: str) -> None:
    tree, payload = example(name)
    page = opened(payload)
    page.click("#tab-trial")
    table = hard_rows(tree, 11)
    rows = [typed_cells(payload, table, row) for row in range(ROWS)]
    grown = tree.apply(encode(table, schema=tree.schema))
    for place in (0, payload["pruning"][0]["chosen"]):
        slide(page, place)
        leaves = np.array(leaves_at(payload, 0, place))
        expected = leaves[np.searchsorted(leaves, grown, side="right") - 1].tolist()
        assert page.evaluate(TYPE_ROWS, [rows]) == expected


@pytest.mark.slow
def test_the_decision_and_its_way(opened: Any) -> None:
    tree, payload = example("prices")
    page = opened(payload)
    page.click("#tab-trial")
    page.get_by_role("button", name="All missing").click()
    names = list(examples.mixed_table(1))
    missing = {name: np.array([np.nan]) for name in names}
    missing |= {"town": np.array([None], object), "sold": np.array(["NaT"], "datetime64[us]")}
    leaf = int(tree.apply(encode(missing, schema=tree.schema))[0])
    leaves = chosen_leaves(payload)
    answering = leaves[np.searchsorted(leaves, leaf, side="right") - 1]
    answer = page.locator("#decision .answer")
    assert int(answer.get_attribute("data-leaf")) == answering
    assert number(answer.inner_text()) == pytest.approx(payload["tree"]["value"][answering], rel=1e-5)
    marked = page.eval_on_selector_all(
        "#drawing .node.on-way", "list => list.map(node => Number(node.dataset.node))"
    )
    assert marked[0] == 0
    assert marked[-1] == answering
    assert all(above <= answering < payload["tree"]["end"][above] for above in marked)
    page.fill("#field-0", "about 3")
    assert "area must be a number" in page.locator("#decision").inner_text()
    assert page.locator("#field-0").get_attribute("aria-invalid") == "true"
    page.fill("#field-2", "2024-02-30")
    page.fill("#field-0", "12.5")
    assert "sold must be a date" in page.locator("#decision").inner_text()
    page.get_by_role("button", name="Typical row").click()
    assert page.locator("#field-2").get_attribute("aria-invalid") is None
    page.click("#tab-node")
    assert page.locator("#drawing .node.on-way").count() == 0


# ---- columns and quality --------------------------------------------------


@pytest.mark.slow
def test_values_of_a_column_in_each_leaf(opened: Any) -> None:
    _, payload = example("spam")
    page = opened(payload)
    facet, leaves = payload["distributions"], chosen_leaves(payload)
    whole = page.locator("#distribution .histogram").first.inner_text()
    assert f"{payload['samples']['train']['rows']:,} rows" in whole
    shown = page.locator("#distribution .histogram").count()
    assert 2 < shown <= 17
    names = [payload["columns"][item["column"]]["name"] for item in facet["columns"]]
    page.select_option("#distribution-column", "1")
    assert names[1] in page.locator("#distribution .histogram svg").first.get_attribute("aria-label")
    largest = max(leaves, key=lambda leaf: payload["samples"]["train"]["node_rows"][leaf])
    assert (
        f"{payload['samples']['train']['node_rows'][largest]:,} rows"
        in page.locator("#distribution").inner_text()
    )


@pytest.mark.slow
def test_the_table_of_leaves_is_sorted(opened: Any) -> None:
    _, payload = example("spam")
    page = opened(payload)
    test = payload["samples"]["test"]
    leaves = [leaf for leaf in chosen_leaves(payload) if test["node_rows"][leaf]]
    errors = sorted((test["loss"][leaf] / test["node_rows"][leaf] for leaf in leaves), reverse=True)
    head = page.locator("#leaf-table th", has=page.locator("[data-sort=loss]"))
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert page.evaluate("document.activeElement.dataset.sort") == "loss"
    cells = page.locator("#leaf-table td[data-key=loss]").all_inner_texts()
    assert cells == [percent(error) for error in errors[: len(cells)]]
    head.locator("button").click()
    assert page.locator("#leaf-table td[data-key=loss]").first.inner_text() == percent(errors[-1])
    page.locator("#leaf-table tbody button").first.click()
    first = page.locator("#leaf-table tbody tr").first.get_attribute("data-leaf")
    assert page.locator("#drawing .node.selected").get_attribute("data-node") == first


@pytest.mark.slow
def test_many_classes(opened: Any) -> None:
    _, payload = example("many")
    page = opened(payload)
    listed = page.locator("#panel-node .bars").first.locator(".number.faint").all_inner_texts()
    assert "all others" in page.locator("#panel-node .bars").first.inner_text()
    assert sum(int(words.replace(",", "")) for words in listed) == payload["samples"]["train"]["rows"]
    mistakes: dict[tuple[int, int], float] = {}
    for leaf in chosen_leaves(payload):
        answer = payload["tree"]["label"][leaf]
        for truth, weight in payload["samples"]["test"]["counts"]["top"][leaf]:
            if truth != answer:
                mistakes[truth, answer] = mistakes.get((truth, answer), 0) + weight
    worst = page.locator("#pictures tbody tr").first.inner_text().split("\t")
    assert float(worst[2]) == max(mistakes.values())
    codes = tuple(payload["classes"].index(name) for name in worst[:2])
    assert mistakes[codes] == max(mistakes.values())


@pytest.mark.slow
def test_costs(opened: Any) -> None:
    _, payload = example("costs")
    page = opened(payload)
    cost = loss_at(payload, "test", chosen_leaves(payload))
    assert number(series(page, "test")) == pytest.approx(cost, rel=1e-3)
    cells = confusion(payload, "test", chosen_leaves(payload))
    assert (cells * payload["costs"]).sum() / payload["samples"]["test"]["weight"] == pytest.approx(cost)
    mistaken = page.locator(".confusion td[data-cell='1/0']").inner_text().split("\n")
    assert mistaken == [f"{cells[1, 0]:,.0f}", f"× 3 = {3 * cells[1, 0]:,.0f}"]


@pytest.mark.slow
def test_numbers(opened: Any) -> None:
    _, payload = example("prices")
    page = opened(payload)
    leaves = chosen_leaves(payload)
    root = np.sqrt(loss_at(payload, "test", leaves))
    assert number(series(page, "test")) == pytest.approx(root, rel=1e-3)
    assert "root mean squared error" in page.locator("#pruning-numbers").inner_text()
    reached = [leaf for leaf in leaves if payload["samples"]["test"]["residuals"][leaf]]
    assert page.locator(".residuals .quartiles").count() == min(len(reached), 40)
    assert page.locator("#class-choice").is_hidden()


@pytest.mark.slow
def test_what_shuffling_adds_has_the_unit_of_the_numbers(opened: Any) -> None:
    payload = copy.deepcopy(example("prices")[1])
    root = np.sqrt(loss_at(payload, "test", chosen_leaves(payload)))
    item = payload["importance"]["columns"][0]
    item |= {"permutation": 3 * root**2, "lower": 0.0, "upper": 8 * root**2}  # twice, once, thrice the root
    page = opened(payload)
    name = payload["columns"][item["column"]]["name"]
    told = page.locator("#gains tbody tr", has=page.get_by_text(name, exact=True)).locator("td").last
    assert number(told.inner_text()) == pytest.approx(root, rel=1e-3)
    _, upper = told.locator("span").get_attribute("title").split(" to ")
    assert number(upper) == pytest.approx(2 * root, rel=1e-3)


@pytest.mark.slow
def test_bars_of_values_are_told_in_words(opened: Any) -> None:
    """For those who cannot point at a bar: on a phone, on paper, or by ear."""
    _, payload = example("spam")
    page = opened(payload)
    facet = payload["distributions"]
    told = page.locator("#distribution").inner_text()
    assert f"Edges of the bins: {facet['columns'][0]['edges'][0]:g} ·" in told
    total = np.sum([facet["counts"][str(node)][0] for node in facet["nodes"]], axis=0)
    label = page.locator(".histogram svg").first.get_attribute("aria-label")
    assert f"{facet['columns'][0]['labels'][0]}: {percent(total[0] / total.sum(), 0)}" in label


@pytest.mark.slow
def test_the_curves_begin_with_the_class_of_most_rows(opened: Any) -> None:
    _, payload = example("six")
    rows = payload["samples"]["test"]["counts"][0]
    page = opened(payload)
    assert page.locator("#quality-class").input_value() == str(int(np.argmax(rows)))


@pytest.mark.slow
def test_the_bound_of_the_model_and_that_of_the_slider(opened: Any) -> None:
    _, payload = example("spam")
    page = opened(payload)
    told = "The bound in the headline is tighter"
    assert told in page.locator("#pruning-numbers").inner_text()
    slide(page, 0)
    assert told not in page.locator("#pruning-numbers").inner_text()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["six", "prices"])
def test_what_a_payload_may_leave_out(opened: Any, name: str) -> None:
    """Only training rows, nothing beside them, and in the end a single leaf."""
    payload = copy.deepcopy(example(name)[1])
    for key in ("intervals", "distributions"):
        payload.pop(key, None)
    payload["samples"] = {"train": payload["samples"]["train"]}
    payload["samples"]["train"].pop("residuals", None)
    payload["competitors"], payload["importance"]["columns"] = {}, []
    path = payload["pruning"][0]
    path["loss"] = {"train": path["loss"]["train"]}
    path |= {"certificate": [None] * len(path["leaves"]), "alpha": None, "chosen_by": None}
    page = opened(payload)
    assert "It was grown from these rows" in page.locator("#quality-hint").inner_text()
    assert page.locator("#distribution").is_hidden()
    slide(page, len(path["leaves"]) - 1)
    page.click("#tab-trial")
    assert "The tree is a single leaf" in page.locator("#panel-trial").inner_text()
    assert page.locator("#decision .answer").get_attribute("data-leaf") == "0"
    for word in ("NaN", "undefined", "null", "Infinity", "[object"):
        assert word not in page.locator("main").inner_text()
