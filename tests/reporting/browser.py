"""Reports in a real browser: opening them, reaching for their parts; their numbers once more in Python."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.reporting import payloads as examples
from treewright import Tree
from treewright.reporting.html_page import assemble

CHROMIUM = Path("/usr/bin/chromium")

OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
PATIENCE = 60_000  # milliseconds until a page counts as hung
Example = tuple[Tree, dict[str, Any]]


@cache
def example(name: str) -> Example:
    """Made once for all tests of a process; nobody changes it."""
    makers: dict[str, Callable[[], Example]] = {
        "spam": examples.spam_example,
        "prices": examples.prices_example,
        "six": examples.classes_example,
        "costs": lambda: examples.classes_example(3, 20),
        "many": lambda: examples.classes_example(30),
        "hostile": examples.hostile_example,
        "large": examples.large_example,
        "chain": examples.chain_example,
    }
    return makers[name]()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api")
    if not CHROMIUM.exists():
        pytest.skip("Debian's chromium is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=OPTIONS)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens payloads as files; whatever a page asks for or complains of fails the test."""
    contexts, trouble = [], []

    def open_page(payload: dict[str, Any] | str, width: int = 1400, height: int = 900, **options: Any) -> Any:
        file = tmp_path / f"report{len(contexts)}.html"
        file.write_text(payload if isinstance(payload, str) else assemble(payload), encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)

        def answer(route: Any) -> None:
            if route.request.url == file.as_uri():
                route.continue_()
            else:
                trouble.append(f"asked for {route.request.url}")
                route.abort()

        context.route("**/*", answer)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: trouble.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: trouble.append(f"error: {error}"))
        page.goto(file.as_uri())
        if options.get("java_script_enabled", True) and not isinstance(payload, str):
            page.wait_for_selector("html[data-drawn]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert trouble == []


# ---- what the payload says, once more in Python --------------------------------------------------


def leaves_at(payload: dict[str, Any], path: int, place: int) -> list[int]:
    tree, way = payload["tree"], payload["pruning"][path]
    leaves, node = [], 0
    while node < len(tree["end"]):
        is_cut = node in way["cuts"][place] if "cuts" in way else 0 <= way["leaf_from"][node] <= place
        if tree["feature"][node] < 0 or is_cut:
            leaves.append(node)
            node = tree["end"][node]
        else:
            node += 1
    return leaves


def chosen_leaves(payload: dict[str, Any]) -> list[int]:
    return leaves_at(payload, 0, payload["pruning"][0]["chosen"])


def loss_at(payload: dict[str, Any], part: str, leaves: list[int]) -> float:
    own = payload["samples"][part]
    return sum(own["loss"][leaf] for leaf in leaves) / own["weight"]


def confusion(payload: dict[str, Any], part: str, leaves: list[int]) -> np.ndarray:
    cells = np.zeros((len(payload["classes"]),) * 2)
    for leaf in leaves:
        cells[:, payload["tree"]["label"][leaf]] += payload["samples"][part]["counts"][leaf]
    return cells


def area(payload: dict[str, Any], leaves: list[int], code: int) -> float:
    """Of two rows, one of the class and one of another, the chance that the first has the higher score."""
    counts = np.array(payload["samples"]["test"]["counts"], float)[leaves]
    learnt = np.array(payload["samples"]["train"]["counts"], float)[leaves]
    score = learnt[:, code] / learnt.sum(axis=1)
    own, other = counts[:, code], counts.sum(axis=1) - counts[:, code]
    higher = (score[:, None] > score) + (score[:, None] == score) / 2
    return float(own @ higher @ other / own.sum() / other.sum())


def percent(share: float, digits: int = 1) -> str:
    digits = max(1, digits) if 0 < share < 0.005 or 0.995 <= share < 1 else digits
    return "100 %" if share == 1 else f"{100 * share:.{digits}f} %"


# ---- reaching for the page --------------------------------------------------


def slide(page: Any, place: int, path: int = 0) -> None:
    """Move the slider itself, as a hand would, and wait until the page has followed."""
    last = int(page.locator("#slider").get_attribute("max"))
    move = "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input')); }"
    page.locator("#slider").evaluate(move, last - place)
    page.wait_for_selector(f"html[data-drawn='{path}/{place}']")


def number(text: str) -> float:
    return float(re.sub(r"[^0-9.]", "", text))


def prose(page: Any, selector: str) -> str:
    """A sentence of the page, with plain spaces where it keeps a number and its per cent sign together."""
    return str(page.locator(selector).inner_text()).replace("\N{NO-BREAK SPACE}", " ")


def series(page: Any, name: str) -> str:
    return str(page.locator(f"#dial-numbers [data-series={name}] b").inner_text())


def drawn_nodes(page: Any) -> list[int]:
    return page.eval_on_selector_all(
        "#drawing .node", "nodes => nodes.map(node => Number(node.dataset.node))"
    )


def has_no_overflow(page: Any) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))
