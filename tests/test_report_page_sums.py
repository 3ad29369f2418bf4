"""A report of a tree of sums in a real browser: the page adds up what is typed, as the tree does."""

from __future__ import annotations

from typing import Any

import numpy as np
from report_browser import browser, opened  # noqa: F401 (fixtures)

from treewright import encode, grow, report


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
