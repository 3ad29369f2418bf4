"""The page of a report for every reader: keys, voices, dark rooms, paper, phones, strangers, large trees."""
# ruff: noqa: F811 (a fixture is imported and asked for by its name)

from __future__ import annotations

import html
import re
import time
from typing import Any

import pytest

from tests.reporting.browser import (  # noqa: F401 (fixtures)
    browser,
    chosen_leaves,
    drawn_nodes,
    example,
    has_no_overflow,
    number,
    opened,
    slide,
)
from tests.reporting.payloads import HOSTILE, PAGE
from treewright import encode
from treewright.reporting import html_page
from treewright.reporting.html_page import assemble

# ---- keys, colours, paper, phones --------------------------------------------------


@pytest.mark.slow
def test_keys(opened: Any) -> None:
    _, payload = example("spam")
    page = opened(payload)
    right = payload["tree"]["end"][1]
    active = lambda: page.evaluate("document.activeElement.id")  # noqa: E731
    page.focus("#node-0")
    for key, expected in [
        ("ArrowRight", 1),
        ("ArrowLeft", 1),
        ("ArrowDown", right),
        ("ArrowLeft", right),
        ("ArrowLeft", 0),
    ]:
        page.keyboard.press(key)
        assert active() == f"node-{expected}", key
    assert page.locator("#node-1").get_attribute("aria-expanded") == "false"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert page.locator("#node-1").get_attribute("aria-expanded") == "true"
    assert active() == "node-1"
    page.keyboard.press("Home")
    assert active() == "node-0"
    assert page.locator("[role=treeitem][tabindex='0']").count() == 1
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    last = drawn_nodes(page)[-1]
    assert f" {last}" in page.locator(".detail-head").inner_text()
    page.focus("#slider")
    chosen = payload["pruning"][0]["chosen"]
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(f"html[data-drawn='0/{chosen - 1}']")
    page.focus("#tab-node")
    page.keyboard.press("ArrowRight")
    assert active() == "tab-trial"
    assert page.locator("#panel-trial").is_visible()


@pytest.mark.slow
def test_what_is_heard(opened: Any) -> None:
    """Every control has a name, every table a caption, every heading of a section its section."""
    page = opened(example("six")[1])
    page.click("#tab-trial")
    nameless = page.evaluate(
        """[...document.querySelectorAll("button, input, select, [role=treeitem], [role=img]")].filter(one =>
            !one.getAttribute("aria-label") && !one.getAttribute("aria-labelledby") && !one.textContent.trim()
            && !(one.labels && one.labels.length)).map((one) => one.outerHTML)"""
    )
    assert nameless == []
    assert page.locator("table").count() == page.locator("table > caption").count() > 4
    assert page.locator("#decision").get_attribute("aria-live") == "polite"
    assert "leaves" in page.locator("#slider").get_attribute("aria-valuetext")
    assert page.locator("section[aria-labelledby]").count() == page.locator("section").count() == 8


@pytest.mark.slow
def test_light_and_dark(opened: Any) -> None:
    payload = example("six")[1]
    bright = (
        "Math.max(...getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number))"
    )
    page = opened(payload, color_scheme="dark")
    assert page.evaluate(bright) < 60
    page.click("#theme")
    assert page.locator("#theme").inner_text() == "Theme: light"
    assert page.evaluate(bright) > 200
    page.click("#theme")
    assert page.evaluate(bright) < 60
    assert opened(payload, color_scheme="light").evaluate(bright) > 200


@pytest.mark.slow
def test_paper(opened: Any) -> None:
    _, payload = example("spam")
    page = opened(payload, 720, 1000)
    before, leaves = drawn_nodes(page), chosen_leaves(payload)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    levels = page.eval_on_selector_all("#drawing .node", "nodes => nodes.map(node => Number(node.ariaLevel))")
    assert max(levels) == 5
    assert page.locator("#slider").is_hidden()
    assert page.locator("#panel-trial").is_hidden()
    assert page.evaluate("getComputedStyle(canvas).overflow") == "visible"
    assert page.locator("#leaf-table tbody tr").count() == len(leaves)
    assert has_no_overflow(page)
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert drawn_nodes(page) == before
    assert page.pdf(format="A4").startswith(b"%PDF")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["spam", "prices", "many", "hostile"])
def test_phones(opened: Any, name: str) -> None:
    page = opened(example(name)[1], 360, 740, has_touch=True)
    assert has_no_overflow(page)
    page.click("#tab-trial")
    assert has_no_overflow(page)
    slide(page, 0)
    assert has_no_overflow(page)
    page.set_viewport_size({"width": 1600, "height": 900})
    assert has_no_overflow(page)


# ---- strangers, size, other places --------------------------------------------------


@pytest.mark.slow
def test_hostile_names_are_text(opened: Any) -> None:
    _, payload = example("hostile")
    page = opened(payload)
    for node in drawn_nodes(page):
        page.locator(f"#node-{node}").click()
        page.locator(f"#node-{node}").hover()
    page.fill("#search", "<script>")
    page.press("#search", "Enter")
    page.click("#tab-trial")
    slide(page, 0)
    page.click("#unfold-all")
    assert page.evaluate("window.hacked") is None
    assert page.locator("img, iframe, script[src], link").count() == 0
    assert page.locator("script").count() == 2
    assert page.locator("#headline-title").inner_text() == payload["title"]
    assert HOSTILE in page.locator("#rules-body pre").first.inner_text()
    assert page.locator("#drawing b, #drawing i, main script").count() == 0


@pytest.mark.slow
def test_ten_thousand_leaves_open_folded(opened: Any, capsys: Any) -> None:
    tree, payload = example("large")
    assert tree.n_leaves >= 10_000
    begin = time.perf_counter()
    page = opened(payload)
    took = time.perf_counter() - begin
    first = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    with capsys.disabled():
        print(f"\n{tree.n_leaves:,} leaves: first paint after {first:.0f} ms, all drawn after {took:.2f} s")
    assert len(drawn_nodes(page)) < 100
    page.click("#unfold-all")
    assert 400 < len(drawn_nodes(page)) <= 800
    page.fill("#search", "column 3")
    page.press("#search", "Enter")
    slide(page, len(payload["pruning"][0]["leaves"]) // 2)
    assert (
        number(page.locator("#dial-leaves").inner_text())
        == payload["pruning"][0]["leaves"][len(payload["pruning"][0]["leaves"]) // 2]
    )


@pytest.mark.slow
def test_a_chain_ten_thousand_deep(opened: Any) -> None:
    tree, payload = example("chain")
    page = opened(payload)
    assert len(drawn_nodes(page)) < 100
    page.click("#tab-trial")
    page.fill("#field-0", "7000")
    leaf = int(tree.apply(encode({"x": [7000.0]}, schema=tree.schema))[0])
    assert int(page.locator("#decision .answer").get_attribute("data-leaf")) == leaf
    page.click("#unfold-all")
    assert len(drawn_nodes(page)) <= 800


@pytest.mark.slow
def test_in_a_frame_that_may_do_nothing(opened: Any) -> None:
    """As notebooks show it: no storage, no address of its own."""
    inner = html.escape(assemble(example("six")[1]))
    page = opened(f'<iframe srcdoc="{inner}" sandbox="allow-scripts" width="1200" height="800"></iframe>')
    frame = page.frame_locator("iframe")
    frame.locator("html[data-drawn]").wait_for(state="attached")
    frame.locator("nav a", has_text="Quality").click()
    frame.locator("#theme").click()
    assert frame.locator("#theme").inner_text() == "Theme: light"
    frame.locator(".copy").first.click()
    assert frame.locator("#headline-title").inner_text() == "Price bands"


@pytest.mark.slow
def test_without_script(opened: Any) -> None:
    page = opened(example("six")[1], java_script_enabled=False)
    assert example("six")[1]["headline"]["text"] in page.locator("#static").inner_text()
    assert page.locator("#static").is_visible()
    assert page.locator("#report").is_hidden()


def test_the_files_of_the_page() -> None:
    """Small, without libraries, and without ways for data to become markup or to leave."""
    files = sorted(path for path in PAGE.rglob("*") if path.is_file())
    lean = html_page._assets()
    assert sum(len(text.encode()) for text in lean) <= 128_000
    assert not any(line.startswith((" ", "//", "/*")) for text in lean[1:] for line in text.splitlines())
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) < 500, path.name
        for word in (
            "innerHTML",
            "outerHTML",
            "insertAdjacent",
            "document.write",
            "eval(",
            "new Function",
            "fetch(",
        ):
            assert word not in text, f"{path.name} uses {word}"
        addresses = set(re.findall(r"https?://[^\"' ]+", text))
        assert addresses <= {"http://www.w3.org/2000/svg"}, path.name
    template = (PAGE / "index.html").read_text(encoding="utf-8")
    assert not re.findall(r"\s(?:style|on\w+)=", template)
