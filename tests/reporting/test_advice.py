"""The report's headline figures and its section "Worth knowing": facts, page, hostile names."""
# ruff: noqa: F811 (a fixture is imported and asked for by its name)

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from tests.reporting.browser import browser, example, opened, prose  # noqa: F401 (fixtures)
from treewright import Advice, DecisionTreeClassifier, encode, grow, report
from treewright.encoding.splits import split
from treewright.metrics import metrics

N = 400
RANDOM = np.random.default_rng(8)
X = RANDOM.normal(size=N)
Y = np.where(X + 0.5 * RANDOM.normal(size=N) > 0.6, "yes", "no")
HOSTILE = "<img src=x onerror=alert(1)></script>"


def made(table: dict[str, Any], **options: Any) -> dict[str, Any]:
    train, test = split(encode(table, Y), (0.6, 0.4), random_state=1)
    return report(grow(train, max_leaf_nodes=4), train=train, test=test, **options).payload


def test_figures_are_those_of_the_test_rows() -> None:
    train, test = split(encode({"x": X}, Y), (0.6, 0.4), random_state=1)
    tree = grow(train, max_leaf_nodes=4)
    page = report(tree, train=train, test=test)
    told, found = page.payload["headline"]["metrics"], metrics(tree, test)
    assert told["figures"] == [list(figure) for figure in found.figures]
    assert (told["sample"], told["positive"]) == ("test", "yes")
    assert told["comparison"] == f"E{found.comparison('test')[1:]}."
    assert "; always answering 'no' has " in told["comparison"]
    assert str(page).splitlines()[-1] == told["comparison"]
    for name, value in found.figures:
        assert f"{name} {value}" in page.html


def test_figures_of_numbers_and_without_rows() -> None:
    train, test = split(encode({"x": X}, 2 * X + RANDOM.normal(size=N)), (0.6, 0.4), random_state=1)
    told = report(grow(train, max_leaf_nodes=4), test=test).payload["headline"]["metrics"]
    assert [name for name, _ in told["figures"]] == ["R²", "mean absolute error"]
    assert told["positive"] is None
    assert report(grow(train)).payload["headline"]["metrics"] is None


def test_class_weights_do_not_change_what_is_compared_with() -> None:
    model = DecisionTreeClassifier(class_weight={"yes": 50, "no": 1}, max_leaf_nodes=3).fit(
        {"x": X[:200]}, Y[:200]
    )
    payload = report(model, train=({"x": X[:200]}, Y[:200]), test=({"x": X[200:]}, Y[200:])).payload
    assert payload["headline"]["metrics"]["always"] == "always answering 'no'"


def test_advice_in_the_payload() -> None:
    assert made({"x": X})["advice"] == []
    found = made({"x": X, "unit": ["m"] * N, "name": [f"n{i}" for i in range(N)]})["advice"]
    assert [each["code"] for each in found] == ["id", "constant"]
    assert found[1]["try"] == "drop it from X"
    own = made({"x": X}, advice=[Advice("constant", "mind the gap", "try this", "or that", "x")])
    assert own["advice"] == [{"code": "constant", "column": "x", "text": "mind the gap", "try": "try this"}]
    assert made({"x": X, "unit": ["m"] * N}, advice=[])["advice"] == []


def test_hostile_names_are_text() -> None:
    train = encode({"x": X, HOSTILE: ["m"] * N}, np.where(Y == "yes", HOSTILE, "no"))
    page = report(grow(train, max_leaf_nodes=4), train=train)
    assert len(page.payload["advice"]) == 1
    assert "<img" not in page.html
    assert page.html.count("</script>") == 2  # of the payload and of the page's own script


@pytest.mark.slow
def test_the_page_shows_both(opened: Any) -> None:
    payload = made({"x": X, "unit": ["m"] * N, "name": [f"n{i}" for i in range(N)]})
    page = opened(payload)
    assert prose(page, ".comparison") == payload["headline"]["metrics"]["comparison"]
    tiles = page.locator("#metrics").inner_text()
    for name, value in payload["headline"]["metrics"]["figures"]:
        assert name in tiles
        assert value in tiles
    assert "recall of yes" in tiles
    lines = page.locator("#advice-list li").all_inner_texts()
    assert len(lines) == 2
    assert lines[1].startswith("Column 'unit' has the same value in every row")
    assert lines[1].endswith("Drop it from X.")


def test_the_page_without_them(opened: Any) -> None:
    payload = copy.deepcopy(example("six")[1])
    assert "advice" not in payload  # as in pages that were made before
    page = opened(payload)
    assert not page.locator("#advice").is_visible()
    assert not page.locator(".comparison").is_visible()


@pytest.mark.slow
def test_options_of_advice_stay_on_one_line(opened: Any) -> None:
    """Browsers break lines after hyphens; and on a narrow screen the bullets stay in the card."""
    long = "--kinds a_very_long_column_name=category"
    payload = made({"x": X}, advice=[Advice("id", "An id", "")])
    payload["advice"][0]["try"] = f"--drop it or {long} mends it"
    page = opened(payload, width=390)
    assert page.locator("#advice-list .option").all_inner_texts() == ["--drop it", "--kinds"]
    assert page.locator("#advice-list .faint").inner_text().strip() == f"--drop it or {long} mends it."
    style = page.evaluate("getComputedStyle(document.querySelector('#advice-list')).paddingLeft")
    assert style == "30px"


def test_hostile_advice_on_the_page(opened: Any) -> None:
    payload = made({"x": X}, advice=[Advice("id", HOSTILE, HOSTILE)])
    page = opened(payload)
    assert HOSTILE in page.locator("#advice-list").inner_text()
    assert page.locator("#advice-list img").count() == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["one", "none"])
def test_models_of_one_leaf(kind: str) -> None:
    """A constant target, and a tree that was never split."""
    y = ["a"] * N if kind == "one" else Y
    train = encode({"x": X}, y)
    payload = report(grow(train, max_leaf_nodes=1), train=train).payload
    assert "no better than always answering" in payload["headline"]["metrics"]["comparison"]
    assert ("one_leaf" in [each["code"] for each in payload["advice"]]) == (kind == "none")
