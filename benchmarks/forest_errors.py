"""How often many trees are wrong about e-mails: the split of a well-known book, and beside its figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.measuring import Result
from benchmarks.problems import Problem
from benchmarks.reporting import markdown

SPAM = Problem("spam", 3_065, columns=57, dtype="float64", source="spam")
SEEDS = 5
TREES = 500
# What folds of the training rows chose: see `benchmarks.adaboost`.
LEAVES, RATE, ROUNDS = 16, 0.5, 392
HOW = (
    f"3,065 e-mails to learn from and 1,536 to judge by, 57 columns. The mean of {SEEDS} seeds and their "
    "standard deviation; AdaBoost draws nothing. Nodes of forests and of extra trees consider 7 columns. "
    f"AdaBoost: trees of {LEAVES} leaves, rate {RATE}, {ROUNDS} rounds, chosen by folds of the training "
    "rows. The book: Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, sections 10.8 "
    "and 15.2; its boosting is gradient boosting. Among 1,536 rows one standard error is .5 %."
)


@dataclass(frozen=True)
class Method:
    """An ensemble, and the error that the book tells of its kind."""

    make: Callable[[int, int], Any]  # from the number of trees and the seed
    trees: int = TREES
    seeds: int = SEEDS
    mark: float | None = None


def _native(name: str) -> Callable[[int, int], Any]:
    def make(trees: int, seed: int) -> Any:
        import treewright

        return getattr(treewright, name)(n_estimators=trees, random_state=seed, n_jobs=2)

    return make


def _boosting(trees: int, seed: int) -> Any:
    import treewright

    tree = treewright.DecisionTreeClassifier(max_leaf_nodes=LEAVES)
    return treewright.AdaBoostClassifier(tree, n_estimators=trees, learning_rate=RATE, random_state=seed)


def _sklearn(name: str) -> Callable[[int, int], Any]:
    def make(trees: int, seed: int) -> Any:
        import sklearn.ensemble

        return getattr(sklearn.ensemble, name)(n_estimators=trees, random_state=seed, n_jobs=2)

    return make


METHODS = {
    "bagging": Method(_native("BaggingClassifier"), mark=0.054),
    "random forest": Method(_native("RandomForestClassifier"), mark=0.0488),
    "extra trees": Method(_native("ExtraTreesClassifier")),
    "AdaBoost": Method(_boosting, trees=ROUNDS, seeds=1, mark=0.045),
    "scikit-learn's random forest": Method(_sklearn("RandomForestClassifier"), mark=0.0488),
    "scikit-learn's extra trees": Method(_sklearn("ExtraTreesClassifier")),
}


def measured(*, quick: bool = False) -> list[Result]:
    """The test errors of every method, one for each seed."""
    from treewright.datasets import load_spam

    spam = load_spam()
    test = spam.is_test
    X, y, X_test, y_test = spam.data[~test], spam.target[~test], spam.data[test], spam.target[test]
    figures: list[Result] = []
    for name, method in METHODS.items():
        trees = min(method.trees, 20) if quick else method.trees
        models = (
            method.make(trees, seed).fit(X, y) for seed in range(min(method.seeds, 2 if quick else SEEDS))
        )
        errors = [float(np.mean(model.predict(X_test) != y_test)) for model in models]
        figures.append({"method": name, "trees": trees, "errors": errors, "mark": method.mark})
    return figures


def table(figures: Sequence[Result]) -> str:
    """One line per method."""
    lines = [
        [
            figure["method"],
            str(figure["trees"]),
            f"{100 * np.mean(figure['errors']):.2f} %",
            f"{100 * np.std(figure['errors'], ddof=1):.2f} %" if len(figure["errors"]) > 1 else "–",
            "–" if figure["mark"] is None else f"{100 * figure['mark']:.2f} %",
        ]
        for figure in figures
    ]
    return markdown(("", "trees", "test error", "± of seeds", "the book"), lines)


def sentence(figures: Sequence[Result]) -> str:
    """All of it in few words."""
    told = []
    for figure in figures:
        book = "" if figure["mark"] is None else f" ({100 * figure['mark']:.2f} %)"
        told.append(f"{figure['method']} {100 * np.mean(figure['errors']):.2f} %{book}")
    means = f"the mean of {len(figures[0]['errors'])} seeds"
    book = "in brackets what *The Elements of Statistical Learning* tells of the kind"
    return f"Test error on Spambase, {means}, {book}: {', '.join(told)}."
