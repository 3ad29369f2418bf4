"""Take the picture of docs/report.md: `python docs/pictures/report.py`; by playwright and chromium."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

from treewright import encode, grow, prune, select
from treewright.datasets import load_spam
from treewright.reporting import Report, report

PICTURE = Path(__file__).with_suffix(".png")


def spam_report() -> Report:
    """A tree for the built-in e-mails, its size chosen by every fourth row of those to learn from."""
    spam = load_spam()
    table = {**spam.table(), "type": spam.target}
    others = np.flatnonzero(~spam.is_test)
    train = encode({name: column[others[others % 4 > 0]] for name, column in table.items()}, "type")
    validation = encode(
        {name: column[others[others % 4 == 0]] for name, column in table.items()}, "type", schema=train.schema
    )
    test = encode({name: column[spam.is_test] for name, column in table.items()}, "type", schema=train.schema)
    path = select(prune(grow(train), "cost_complexity"), "held_out", validation=validation, rule="1-SE")
    return report(path, train=train, validation=validation, test=test, title="Which e-mails are spam")


def main() -> None:
    """Open the report as a reader would, and keep what is seen first."""
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "report.html"
        spam_report().save(page_file)
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1480, "height": 1100})
        page.goto(page_file.as_uri())
        page.wait_for_selector("html[data-drawn]")
        page.locator("#node-1").click()
        page.mouse.move(2, 2)
        page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
        page.wait_for_timeout(600)  # until boxes and scrolling have come to rest
        last = page.locator("#pruning").bounding_box()
        assert last is not None
        clip = {"x": 0, "y": 0, "width": 1480, "height": last["y"] + last["height"] + 16}
        page.screenshot(path=PICTURE, full_page=True, clip=clip)
        browser.close()
    with Image.open(PICTURE) as picture:  # 256 colours take a third of the room
        picture.convert("RGB").quantize(256, kmeans=1, dither=Image.Dither.NONE).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
