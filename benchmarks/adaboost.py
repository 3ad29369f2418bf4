"""AdaBoost on e-mails, with the split of a well-known book: time beside scikit-learn's, and errors."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks import keeping
from benchmarks.keeping import Origin
from benchmarks.reporting import markdown, number, seconds
from benchmarks.working import run as timed

DEPTHS = (1, 3, 5, 8)
ROUNDS = (100, 400)
TRIED: tuple[dict[str, int], ...] = (
    *({"max_depth": depth} for depth in (1, 3, 5, 8)),
    *({"max_leaf_nodes": leaves} for leaves in (16, 32, 64)),
)
RATES = (1.0, 0.5)
FOLDS, DEALS = 5, 2  # by which the trees are chosen, from the training rows alone
MARK = 0.045  # what boosting is known to reach on these rows
HOW = (
    "3,065 e-mails to learn from and 1,536 to judge by, 57 columns. Both libraries take turns in one "
    "process, one thread; a figure is the least of the runs. Times ours: the ratio of CPU seconds, more than "
    "1 where treewright is faster. With stumps both grow the same trees; deeper ones differ where gains tie "
    "and where values differ in float64 only, and with them the errors, by chance."
)
CHOOSING = (
    f"The trees, the learning rate and the number of rounds with the least error of {FOLDS} folds, dealt "
    f"{DEALS} times, of the training rows. The test rows are looked at for the chosen one; what the others "
    f"would have got is shown beside it. Boosting is known to come to about {100 * MARK:.1f} % here; among "
    "1,536 rows one standard error is .5 %."
)

Figure = dict[str, Any]


def run(chosen: Namespace) -> None:
    """Measure both libraries, choose by folds; keep the figures if nothing was left out."""
    depths, rounds = (DEPTHS[:2], (20,)) if chosen.quick else (DEPTHS, ROUNDS)
    beside = list(_beside(depths, rounds, chosen))
    print(beside_table(beside))
    most, tried = (20, TRIED[:2]) if chosen.quick else (max(ROUNDS), TRIED)
    judged = list(_judged(tried, most))
    print(chosen_table(judged))
    if not chosen.partial:
        origin = keeping.here(["treewright", "scikit-learn"])
        keeping.save("adaboost", origin, {"beside": beside, "judged": judged})
        keeping.write(keeping.RESULTS / "adaboost.md", page(origin, beside, judged))


def _beside(depths: tuple[int, ...], rounds: tuple[int, ...], chosen: Namespace) -> Iterator[Figure]:
    """Time and errors of both libraries with the same settings."""
    import sklearn.ensemble
    import sklearn.tree

    import treewright
    from treewright.datasets import load_spam

    spam = load_spam()
    test = spam.is_test
    X, y, X_test, y_test = spam.data[~test], spam.target[~test], spam.data[test], spam.target[test]
    kinds: dict[str, tuple[Any, Any]] = {
        "treewright": (treewright.AdaBoostClassifier, treewright.DecisionTreeClassifier),
        "scikit-learn": (sklearn.ensemble.AdaBoostClassifier, sklearn.tree.DecisionTreeClassifier),
    }
    for depth in depths:
        for n in rounds:
            print(f"adaboost: depth {depth}, {n} trees …", flush=True)
            figure: Figure = {"depth": depth, "rounds": n}
            for name, (boosting, tree) in kinds.items():
                pattern = tree(max_depth=depth, random_state=0)
                model = boosting(pattern, n_estimators=n, random_state=0)
                turns = [
                    timed(lambda model=model: model.fit(X, y), False)
                    for _ in range(1 + (chosen.seconds >= 1))
                ]
                figure[name] = {
                    "cpu": min(turn["cpu"] for turn in turns),
                    "wall": min(turn["wall"] for turn in turns),
                    "predicting": timed(lambda model=model: model.predict(X_test), False)["cpu"],
                    "training": float(np.mean(model.predict(X) != y)),
                    "test": float(np.mean(model.predict(X_test) != y_test)),
                    "trees": len(model.estimators_),
                }
            yield figure


def _judged(tried: tuple[dict[str, int], ...], most: int) -> Iterator[Figure]:
    """For each kind of tree and rate: the least error of folds, after how many rounds; then test rows."""
    from treewright import encode
    from treewright.datasets import load_spam
    from treewright.encoding.splits import folds
    from treewright.ensembles.adaboost import boost

    spam = load_spam()
    train = encode(spam.table(~spam.is_test), spam.target[~spam.is_test])
    test = encode(spam.table(spam.is_test), spam.target[spam.is_test], schema=train.schema)
    train.bins()
    for options in tried:
        for rate in RATES:
            print(f"adaboost: {options}, rate {rate} by folds …", flush=True)
            lost = np.zeros(most)
            for deal in range(DEALS):
                fold = folds(train, FOLDS, deal)
                for part in range(FOLDS):
                    growing, judging = train.take(fold != part), train.take(fold == part)
                    boosted = boost(growing, n_estimators=most, learning_rate=rate, **options)
                    lost += _filled(boosted.staged_errors(judging), most) * judging.n_rows
            curve = lost / train.n_rows / DEALS
            best = int(curve.argmin())
            whole = boost(train, n_estimators=most, learning_rate=rate, **options)
            errors = _filled(whole.staged_errors(test), most)
            told = {"folds": float(curve[best]), "rounds": best + 1, "test": float(errors[best])}
            yield {**options, "rate": rate, **told, "last": float(errors[-1])}


def _filled(errors: np.ndarray, most: int) -> np.ndarray:
    """A curve that goes on as it ended, where boosting did before its time."""
    return np.concatenate([errors, np.full(most - len(errors), errors[-1])])


def beside_table(figures: list[Figure]) -> str:
    """One line per setting."""
    head = (
        "trees",
        "rounds",
        "treewright CPU",
        "wall",
        "scikit-learn CPU",
        "times ours",
        "test error",
        "theirs",
    )
    lines = []
    for figure in figures:
        ours, theirs = figure["treewright"], figure["scikit-learn"]
        name = "stumps" if figure["depth"] == 1 else f"depth {figure['depth']}"
        times = [seconds(ours["cpu"]), seconds(ours["wall"]), seconds(theirs["cpu"])]
        errors = [f"{100 * each['test']:.2f} %" for each in (ours, theirs)]
        lines.append(
            [name, str(figure["rounds"]), *times, f"{number(theirs['cpu'] / ours['cpu'])}x", *errors]
        )
    return markdown(head, lines)


def chosen_table(figures: list[Figure]) -> str:
    """One line per kind of tree and rate, the chosen one first."""
    head = ("trees", "learning rate", "rounds", "error of folds", "test error", "after the last round")
    lines = []
    for figure in sorted(figures, key=lambda figure: figure["folds"]):
        trees = (
            f"depth {figure['max_depth']}" if "max_depth" in figure else f"{figure['max_leaf_nodes']} leaves"
        )
        errors = [f"{100 * figure[name]:.2f} %" for name in ("folds", "test", "last")]
        line = [trees, f"{figure['rate']:g}", str(figure["rounds"]), *errors]
        lines.append([f"**{cell}**" for cell in line] if not lines else line)
    return markdown(head, lines)


def page(origin: Origin, beside: list[Figure], judged: list[Figure]) -> str:
    """The figures as a page."""
    parts = ["# AdaBoost\n", f"{origin}\n", f"{HOW}\n", beside_table(beside)]
    return "\n".join([*parts, "## Chosen by folds\n", f"{CHOOSING}\n", chosen_table(judged)])
