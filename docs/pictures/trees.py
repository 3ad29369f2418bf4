"""Draw the trees of docs/plotting.md and docs/gallery.md: `python docs/pictures/trees.py`."""

from __future__ import annotations

from pathlib import Path

import matplotlib
from sklearn.datasets import load_diabetes, load_iris

from treewright import Tree, encode, grow
from treewright.datasets import load_spam
from treewright.plotting.quality import plot_confusion_matrix, plot_precision_recall, plot_roc
from treewright.plotting.regions import plot_decision_regions

FOLDER = Path(__file__).parent


def keep(tree: Tree, name: str, title: str, direction: str | None = None) -> None:
    (FOLDER / f"{name}.svg").write_text(tree.to_svg(title=title, direction=direction), encoding="utf-8")


def draw_iris() -> None:
    iris = load_iris()
    table = {name: iris.data[:, i] for i, name in enumerate(iris.feature_names)}
    data = encode(table, iris.target_names[iris.target])
    keep(grow(data), "iris", "Three species of iris: 9 leaves, 150 rows")
    ax = plot_decision_regions(grow(data, max_leaf_nodes=4), data=data)
    ax.figure.savefig(FOLDER / "regions.svg", metadata={"Date": None})


def draw_golf() -> None:
    """Quinlan's fourteen days, the smallest data set with a history."""
    outlook = "sunny sunny overcast rain rain rain overcast sunny sunny rain sunny overcast overcast rain"
    weather = {
        "outlook": outlook.split(),
        "temperature": [85, 80, 83, 70, 68, 65, 64, 72, 69, 75, 75, 72, 81, 71],
        "humidity": [85, 90, 78, 96, 80, 70, 65, 95, 70, 80, 70, 90, 75, 80],
        "windy": ["no", "yes", "no", "no", "no", "yes", "yes", "no", "no", "no", "yes", "yes", "no", "yes"],
    }
    golf = ["stay" if day in {1, 2, 6, 8, 14} else "play" for day in range(1, 15)]
    keep(grow(encode(weather, golf), min_samples_leaf=2), "golf", "Golf or not: 14 days")


def draw_diabetes() -> None:
    diabetes = load_diabetes(scaled=False)
    table = {name: diabetes.data[:, i] for i, name in enumerate(diabetes.feature_names)}
    tree = grow(encode(table, diabetes.target), max_leaf_nodes=10)
    keep(tree, "diabetes", "Progression of diabetes after a year: 10 leaves, 442 rows")


def draw_spam() -> None:
    from matplotlib import pyplot

    spam = load_spam()
    train = encode(spam.table(~spam.is_test), spam.target[~spam.is_test])
    test = encode(spam.table(spam.is_test), spam.target[spam.is_test], schema=train.schema)
    tree = grow(train, max_leaf_nodes=17)
    keep(tree, "spam", "Spam or not: 17 leaves, 3,065 rows")
    keep(tree, "spam-right", "Spam or not: 17 leaves, 3,065 rows", direction="right")
    figure, axes = pyplot.subplots(1, 3, figsize=(14, 4.4), layout="constrained")
    plot_roc(tree, test, ax=axes[0])
    plot_precision_recall(tree, test, ax=axes[1])
    plot_confusion_matrix(tree.with_costs({"nonspam": {"spam": 5}}), test, ax=axes[2])
    figure.savefig(FOLDER / "quality.svg", metadata={"Date": None})


def main() -> None:
    matplotlib.use("svg")
    matplotlib.rcParams.update(
        {"svg.hashsalt": "treewright", "svg.fonttype": "none", "font.family": "sans-serif"}
    )
    draw_iris()
    draw_golf()
    draw_diabetes()
    draw_spam()


if __name__ == "__main__":
    main()
