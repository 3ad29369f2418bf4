"""Draw the curves of docs/selecting.md and docs/gallery.md: `python docs/pictures/selecting.py`."""

from __future__ import annotations

from pathlib import Path

import matplotlib
from matplotlib.axes import Axes

from treewright import compare, encode, grow, overfitting_curve, prune, select
from treewright.datasets import load_spam

FOLDER = Path(__file__).parent


def keep(ax: Axes, name: str) -> None:
    """Write a picture that is the same to the byte whenever it is drawn."""
    ax.figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})


def main() -> None:
    matplotlib.use("svg")
    matplotlib.rcParams.update(
        {"svg.hashsalt": "treewright", "svg.fonttype": "none", "font.family": "sans-serif"}
    )
    spam = load_spam()
    train = encode(spam.table(~spam.is_test), spam.target[~spam.is_test])
    test = encode(spam.table(spam.is_test), spam.target[spam.is_test], schema=train.schema)
    path = prune(grow(train, criterion="entropy"), "cost_complexity")
    keep(select(path, by="folds", data=train).plot(test), "selecting")
    keep(overfitting_curve(train, test=test, growing={"criterion": "entropy"}).plot(), "overfitting")
    keep(compare(train, test=test, growing={"criterion": "entropy"}).plot(), "comparing")


if __name__ == "__main__":
    main()
