"""The report of trees from small to large: its size, how long it takes to make, and to open in a browser."""

from __future__ import annotations

import tempfile
import time
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import keeping
from benchmarks.keeping import Origin
from benchmarks.reporting import markdown, seconds
from treewright import encode, grow, report
from treewright.encoding import Dataset

LEAVES = (10, 100, 1_000, 10_000)
QUICK_LEAVES = (10, 100)
ROWS, COLUMNS = 120_000, 57  # as many columns as the spam data has
REPEATS = 5
CHROMIUM = "/usr/bin/chromium"
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
DRAWN = """() => new Promise(done =>
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"""
PAINTED = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def run(chosen: Namespace) -> None:
    """Make and open each report; keep the figures if nothing was left out and there is a browser."""
    train, test = noisy_rows(0), noisy_rows(1)
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for leaves in QUICK_LEAVES if chosen.quick else LEAVES:
            tree = grow(train, max_leaf_nodes=leaves, n_jobs=-1)
            began = time.perf_counter(), time.process_time()
            html = report(tree, train=train, test=test).html
            made = {"wall": time.perf_counter() - began[0], "cpu": time.process_time() - began[1]}
            file = Path(folder) / f"{leaves}.html"
            file.write_text(html, encoding="utf-8")
            figures.append(
                {"leaves": tree.n_leaves, "size": file.stat().st_size / 1e3, **made, **opened(file)}
            )
    print(table(figures))
    if not chosen.partial and figures[0]["drawn"] is not None:
        origin = keeping.here(("playwright",))
        keeping.save("opening", origin, figures)
        keeping.write(keeping.RESULTS / "opening.md", page(origin, figures))


def noisy_rows(seed: int) -> Dataset:
    """Two classes that some columns tell apart, with noise, so that a tree can be as large as one likes."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(ROWS, COLUMNS)).round(3)
    likely = values[:, :6] @ np.arange(6, 0, -1) / 6 + values[:, 6] * values[:, 7]
    return encode(values, np.where(likely + rng.normal(size=ROWS) > 0, "yes", "no"))


def opened(file: Path) -> dict[str, float | None]:
    """Milliseconds until the first paint and until all is drawn, the least of some openings."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        return {"painted": None, "drawn": None}
    painted, drawn = [], []
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        except Error:
            return {"painted": None, "drawn": None}
        for _ in range(REPEATS):
            tab = browser.new_page(viewport={"width": 1400, "height": 900})
            tab.goto(file.as_uri(), wait_until="load")
            drawn.append(float(tab.evaluate(DRAWN)))
            painted.append(float(tab.wait_for_function(PAINTED).json_value()))
            tab.close()
        browser.close()
    return {"painted": min(painted), "drawn": min(drawn)}


def page(origin: Origin, figures: list[dict[str, Any]]) -> str:
    """The figures as a page."""
    how = (
        f"Reports of trees of {ROWS:,} rows and {COLUMNS} columns, with as many test rows: the size of the "
        "one HTML file, the time to make it, and what Chromium takes to open it, the least of "
        f"{REPEATS} openings: until something is seen, and until everything that is unfolded is drawn."
    )
    return "\n".join(["# Opening\n", f"{origin}\n", f"{how}\n", table(figures)])


def table(figures: list[dict[str, Any]]) -> str:
    """One line per tree."""
    lines = [
        [
            f"{each['leaves']:,}",
            f"{each['size']:,.0f} kB",
            seconds(each["cpu"]),
            seconds(each["wall"]),
            "–" if each["painted"] is None else f"{each['painted']:.0f} ms",
            "–" if each["drawn"] is None else f"{each['drawn']:.0f} ms",
        ]
        for each in figures
    ]
    return markdown(("leaves", "page", "made: CPU", "made: wall", "first paint", "all drawn"), lines)
