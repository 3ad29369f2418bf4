"""Reports of other kinds of trees in a real browser: of sums, and with branches that no training row took."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.reporting.browser import browser, opened  # noqa: F401 (fixtures)
from treewright import ID3Classifier, encode, grow, report


@pytest.mark.slow
def test_a_row_goes_where_the_tree_sends_it(opened: Any) -> None:  # noqa: F811
    random = np.random.default_rng(0)
    cells = random.normal(size=(300, 3)).round(2)
    data = encode(dict(zip("abc", cells.T, strict=True)), cells[:, 0] - 0.5 * cells[:, 1] > 0.3)
    tree = grow(data, split="oblique", max_leaf_nodes=4)
    assert tree.directions
    page = opened(report(tree, train=data).html)
    page.wait_for_selector("html[data-drawn]")
    assert "a - 0.5 b" in page.locator("#drawing").text_content()
    page.click("#tab-trial")
    assert page.locator("#trial-fields .field").count() == 2, "a field for each part of the sum"
    for a, b in [("1", "0.5"), ("0.3", "0"), ("-2", "-6"), ("0.1", "3"), ("", "1"), ("1", "")]:
        page.fill("#field-0", a)
        page.fill("#field-1", b)
        row = {"a": [float(a or "nan")], "b": [float(b or "nan")], "c": [0.0]}
        leaf = int(tree.apply(encode(row, schema=tree.schema))[0])
        assert page.locator("#decision .answer").get_attribute("data-leaf") == str(leaf)
    page.fill("#search", "b")
    assert "1 branch" in page.locator("#search-found").inner_text()


@pytest.mark.slow
def test_a_leaf_without_rows_answers_as_the_node_above(opened: Any) -> None:  # noqa: F811
    """The page judges test rows in such a leaf by the shares of the node at which the split begins."""
    table = {"first": ["a"] * 24 + ["b"] * 24, "second": list("x" * 16 + "y" * 8 + "x" * 20 + "yyzz")}
    target = ["p" if (a, b) == ("a", "x") else "q" for a, b in zip(*table.values(), strict=True)]
    model = ID3Classifier().fit(table, target)
    tree = model.model_
    assert (tree.weight == 0).any(), "z comes with b only"
    test = ({"first": ["a", "b", "a", "a"], "second": ["z", "z", "x", "y"]}, ["p", "p", "p", "q"])
    page = opened(report(model, train=(table, target), test=test).html)  # it fails where the page has errors
    page.wait_for_selector("html[data-drawn]")
    assert page.locator("#quality").inner_text()
