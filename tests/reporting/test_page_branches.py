"""A report of a tree with many branches in a real browser: a split is one box, its branches beside it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.reporting.browser import browser, drawn_nodes, opened  # noqa: F401 (fixtures)
from treewright import encode, report
from treewright.growing.id3 import grow_id3


def test_a_split_into_many_branches_is_one_box(opened: Any) -> None:  # noqa: F811
    random = np.random.default_rng(1)
    table = {
        name: random.choice(["red", "green", "blue", "white"], 120).tolist() for name in ("hull", "sail")
    }
    labels = [hull in ("red", "blue") and sail != "white" for hull, sail in zip(*table.values(), strict=True)]
    tree = grow_id3(encode(table, labels))
    page = opened(report(tree, train=(table, labels)).html)
    page.wait_for_selector("html[data-drawn]")
    assert drawn_nodes(page) == np.flatnonzero(~tree.joined).tolist()
    edges = page.locator("#drawing .edge-label").all_text_contents()
    assert [edge for edge in edges if edge in ("blue", "green", "red", "white")] == edges
    box = page.locator(f"#node-{tree.branches(0)[2]}")
    assert (box.get_attribute("aria-setsize"), box.get_attribute("aria-posinset")) == ("4", "3")
    page.click("#tab-trial")
    page.select_option("#field-0", label="red")
    page.select_option("#field-1", label="white")
    leaf = int(tree.apply(encode({"hull": ["red"], "sail": ["white"]}, schema=tree.schema))[0])
    assert page.locator("#decision .answer").get_attribute("data-leaf") == str(leaf)
    told = page.locator("#trial-steps").inner_text()
    assert "hull = red" in told
    assert "sail = white" in told
    page.fill("#search", "hull")
    assert "1 branch" in page.locator("#search-found").inner_text()
