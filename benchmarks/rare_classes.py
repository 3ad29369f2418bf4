"""Classes of a few rows in gradient boosting: what they do to the other rows, and what the remedy costs."""

from __future__ import annotations

import csv
import gzip
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import mean
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import c45, keeping
from benchmarks.keeping import Origin
from benchmarks.reporting import markdown

OURS, UNBOUNDED = "treewright", "treewright, max_delta_step=None"
ITERATIONS = 100
SEEDS = 3
FOLDS = 4
HOW = (
    f"{ITERATIONS} iterations, learning rate 0.1, early stopping off, all else as each library has it by "
    "default (XGBoost with 31 leaves as the others; its λ is 1)."
)
HOW_RARE = (
    f"Made tables, with {SEEDS} seeds each: `make_classification` with classes that hardly overlap, and a "
    "further class of a few rows, which are taken from the table at random (mislabelled rows) or lie apart "
    "from it. Errors in per cent on as many new rows of the other classes, the mean over the seeds (the "
    "worst); NaN where a library answers no number counts as an error."
)
HOW_ORDINARY = (
    f"Error in per cent and log loss by {FOLDS} stratified folds on tables without such a class, and on "
    "hypo, which has a class of two rows. The last lines: the change that the bound on the steps makes, mean "
    "and worst over the tables."
)
HOW_REMEDIES = (
    "What could be done, over the same tables: the mean and the worst error on the made tables with a rare "
    "class, and how error (points) and log loss change on the ordinary tables, on average and at worst, "
    "beside doing nothing (hypo left out); 50 is the default, 5 / learning rate."
)
HOW_NUMBERS = (
    f"R² by {FOLDS} folds; numbers have no bound, and their models are the same with it and without."
)

Figure = dict[str, Any]


@dataclass(frozen=True)
class Made:
    """A table with a class of few rows: how many rows and other classes there are, and where it lies."""

    rows: int
    classes: int
    rare: int
    apart: bool = False
    digits: bool = False  # scikit-learn's, instead of made rows

    @property
    def name(self) -> str:
        """The table in words."""
        where = "" if not self.rare else ", apart" if self.apart else ", at random"
        source = "digits, " if self.digits else ""
        classes = "1 class" if self.classes == 1 else f"{self.classes} classes"
        return f"{source}{self.rows:,} rows, {classes} + {self.rare}{where}"

    def made(self, seed: int) -> tuple[Any, Any, Any, Any]:
        """Rows to learn from and rows to judge by, which have no rare class."""
        random = np.random.default_rng(seed)
        X, y = self._digits(random) if self.digits else self._classes(seed)
        rows = random.choice(self.rows, self.rare, replace=False)
        if self.apart:
            X[rows] = random.normal(6.0, 0.3, (self.rare, X.shape[1]))
        y[rows] = self.classes
        return X[: self.rows], y[: self.rows], X[self.rows :], y[self.rows :]

    def _classes(self, seed: int) -> tuple[Any, Any]:
        from sklearn.datasets import make_classification

        X, y = make_classification(
            2 * self.rows,
            10,
            n_informative=8,
            n_redundant=0,
            n_classes=max(self.classes, 2),
            n_clusters_per_class=1,
            class_sep=2.0,
            flip_y=0.01,
            random_state=seed,
        )
        return X, np.minimum(y, self.classes - 1)

    def _digits(self, random: np.random.Generator) -> tuple[Any, Any]:
        from sklearn.datasets import load_digits

        X, y = load_digits(return_X_y=True)
        order = random.permutation(len(y))
        return X[order], y[order]


MADE = (
    Made(4500, 5, 0),
    Made(4500, 5, 1),
    Made(4500, 5, 3),
    Made(4500, 5, 3, apart=True),
    Made(4500, 5, 5, apart=True),
    Made(4500, 2, 1),
    Made(4500, 2, 3, apart=True),
    Made(1000, 3, 2, apart=True),
    Made(9000, 10, 1),
    Made(1200, 10, 2, digits=True),
    Made(4500, 1, 3),
    Made(4500, 1, 5, apart=True),
)


def _ours(numbers: bool, **options: Any) -> Any:
    from treewright import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingRegressor if numbers else HistGradientBoostingClassifier
    return kind(max_iter=ITERATIONS, early_stopping=False, random_state=0, **options)


def _unbounded(numbers: bool) -> Any:
    return _ours(numbers) if numbers else _ours(numbers, max_delta_step=None)


def _scikit_learn(numbers: bool) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingRegressor if numbers else HistGradientBoostingClassifier
    return kind(max_iter=ITERATIONS, early_stopping=False, random_state=0)


def _lightgbm(numbers: bool) -> Any:
    from lightgbm import LGBMClassifier, LGBMRegressor

    kind = LGBMRegressor if numbers else LGBMClassifier
    return kind(n_estimators=ITERATIONS, n_jobs=1, verbose=-1)


def _xgboost(numbers: bool) -> Any:
    from xgboost import XGBClassifier, XGBRegressor

    kind = XGBRegressor if numbers else XGBClassifier
    shape = {"grow_policy": "lossguide", "max_leaves": 31, "max_depth": 0}
    return kind(n_estimators=ITERATIONS, learning_rate=0.1, n_jobs=1, **shape)


def _forest(numbers: bool) -> Any:
    from treewright import RandomForestClassifier

    return RandomForestClassifier(n_estimators=50, random_state=0)


def _adaboost(numbers: bool) -> Any:
    from treewright import AdaBoostClassifier, DecisionTreeClassifier

    return AdaBoostClassifier(DecisionTreeClassifier(max_depth=4), n_estimators=50, random_state=0)


LIBRARIES: dict[str, Callable[[bool], Any]] = {
    OURS: _ours,
    UNBOUNDED: _unbounded,
    "scikit-learn": _scikit_learn,
    "LightGBM": _lightgbm,
    "XGBoost": _xgboost,
}
REMEDIES: dict[str, dict[str, Any]] = {
    "none": {"max_delta_step": None},
    **{f"max_delta_step={bound}": {"max_delta_step": bound} for bound in (200, 50, 10, 1)},
    "l2_regularization=1": {"max_delta_step": None, "l2_regularization": 1.0},
}
OTHERS: dict[str, Callable[[bool], Any]] = {"random forest": _forest, "AdaBoost, depth 4": _adaboost}


def run(chosen: Namespace) -> None:
    """Measure both kinds of tables; keep the figures if nothing was left out."""
    seeds, folds = (2, 2) if chosen.quick else (SEEDS, FOLDS)
    made = MADE[:4] if chosen.quick else MADE
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # of peers, about names of columns
        found = {
            "rare": [_rare(table, name, seeds) for table in made for name in (*LIBRARIES, *OTHERS)],
            "ordinary": list(_ordinary(folds, quick=chosen.quick)),
            "numbers": list(_numbers(folds)),
            "remedies": [] if chosen.quick else list(_remedies(seeds, folds)),
        }
    print(tables(found))
    if not chosen.partial:
        origin = keeping.here(["treewright", "scikit-learn", "lightgbm", "xgboost"])
        keeping.save("rare_classes", origin, found)
        keeping.write(keeping.RESULTS / "rare_classes.md", page(origin, found))


def _rare(table: Made, library: str, seeds: int) -> Figure:
    print(f"rare_classes: {table.name}, {library} …", flush=True)
    errors = _errors(table, (LIBRARIES | OTHERS)[library], seeds)
    return {"data": table.name, "library": library, "error": mean(errors), "worst": max(errors)}


def _errors(table: Made, make: Callable[[bool], Any], seeds: int) -> list[float]:
    errors = []
    for seed in range(seeds):
        X, y, X_new, truth = table.made(seed)
        errors.append(float(np.mean(make(False).fit(X, y).predict(X_new) != truth)))
    return errors


def _real_tables() -> Iterator[tuple[str, Any, Any]]:
    """Names, numbers (categories by their codes) and classes of all tables that are here."""
    from sklearn import datasets

    for name in ("iris", "wine", "breast_cancer", "digits"):
        yield name, *getattr(datasets, f"load_{name}")(return_X_y=True)
    shared = c45.SHARED.parent
    files = [path for folder in ("continuous", "binary", ".") for path in (shared / folder).glob("*.csv.gz")]
    for path in sorted(files, key=lambda path: path.name):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            rows = list(csv.reader(lines))[1:]
        yield path.name.removesuffix(".csv.gz"), *_coded(rows)
    for name in ("hypo", "crx"):
        parts = [c45.SHARED / f"{name}.{part}.csv" for part in ("train", "test")]
        if all(part.exists() for part in parts):
            rows = [row for part in parts for row in list(csv.reader(part.open(encoding="utf-8")))[1:]]
            yield name, *_coded(rows)


def _coded(rows: list[list[str]]) -> tuple[Any, Any]:
    *columns, target = zip(*rows, strict=True)
    told = [_numbers_of(column) for column in columns if any(column)]  # not a column without any value
    return np.array(told).T, np.unique(target, return_inverse=True)[1]


def _numbers_of(cells: Sequence[str]) -> list[float]:
    try:
        return [float(cell) if cell else np.nan for cell in cells]
    except ValueError:
        codes = {cell: float(code) for code, cell in enumerate(sorted({*cells} - {""}))}
        return [codes.get(cell, np.nan) for cell in cells]


def _ordinary(folds: int, *, quick: bool) -> Iterator[Figure]:
    for name, X, y in _real_tables():
        if quick and len(y) > 1000:
            continue
        print(f"rare_classes: {name} …", flush=True)
        for library, make in LIBRARIES.items():
            error, loss = _judged(make, X, y, folds)
            yield {"data": name, "library": library, "error": error, "loss": loss}


def _judged(make: Callable[[bool], Any], X: Any, y: Any, folds: int) -> tuple[float, float]:
    """Error and log loss by folds; classes that a fold has not learnt from are next to impossible to it."""
    from sklearn.metrics import log_loss
    from sklearn.model_selection import StratifiedKFold

    wrong, lost = [], []
    for train, test in StratifiedKFold(folds, shuffle=True, random_state=0).split(X, y):
        classes, codes = np.unique(y[train], return_inverse=True)
        shares = np.nan_to_num(make(False).fit(X[train], codes).predict_proba(X[test]))
        told = np.full((len(test), y.max() + 1), 1e-15)
        told[:, classes] = np.clip(shares, 1e-15, 1)
        wrong.append(float(np.mean(told.argmax(axis=1) != y[test])))
        told /= told.sum(axis=1, keepdims=True)
        lost.append(float(log_loss(y[test], told, labels=range(told.shape[1]))))
    return mean(wrong), mean(lost)


def _remedies(seeds: int, folds: int) -> Iterator[Figure]:
    """What each remedy does to the made tables, and changes on the ordinary ones."""
    ordinary = [(X, y) for name, X, y in _real_tables() if name != "hypo"]
    before: list[tuple[float, float]] = []
    for name, options in REMEDIES.items():
        print(f"rare_classes: remedy {name} …", flush=True)
        make = partial(_ours, **options)
        errors = [error for table in MADE if table.rare for error in _errors(table, make, seeds)]
        judged = [_judged(make, X, y, folds) for X, y in ordinary]
        before = before or judged
        changes = np.array(judged) - np.array(before)
        yield {
            "remedy": name,
            "error": mean(errors),
            "worst": max(errors),
            "changes": changes.mean(axis=0).tolist(),
            "worst changes": changes.max(axis=0).tolist(),
            "same": int((changes == 0).all(axis=1).sum()),
            "tables": len(ordinary),
        }


def _numbers(folds: int) -> Iterator[Figure]:
    from sklearn.datasets import load_diabetes, make_friedman1
    from sklearn.model_selection import KFold

    tables = {
        "diabetes": load_diabetes(return_X_y=True),
        "friedman1": make_friedman1(3000, noise=1.0, random_state=0),
    }
    for name, (X, y) in tables.items():
        for library, make in LIBRARIES.items():
            splits = KFold(folds, shuffle=True, random_state=0).split(X)
            scores = [make(True).fit(X[train], y[train]).score(X[test], y[test]) for train, test in splits]
            yield {"data": name, "library": library, "score": mean(map(float, scores))}


def rare_table(figures: Sequence[Figure]) -> str:
    """A line for each made table, a column for each library."""

    def told(figure: Figure) -> str:
        return f"{100 * figure['error']:.1f} ({100 * figure['worst']:.1f})"

    return _by_data(figures, (*LIBRARIES, *OTHERS), told)


def ordinary_table(figures: Sequence[Figure]) -> str:
    """A line for each table, a column for each library; then what the bound changes."""

    def told(figure: Figure) -> str:
        return f"{100 * figure['error']:.2f}; {figure['loss']:.3f}"

    found = {(figure["data"], figure["library"]): figure for figure in figures}
    names = list(dict.fromkeys(figure["data"] for figure in figures))
    lines = [_by_data(figures, LIBRARIES, told)]
    for what, scale, form in (("error", 100, "+.2f"), ("loss", 1, "+.4f")):
        changes = [scale * (found[name, OURS][what] - found[name, UNBOUNDED][what]) for name in names]
        worst = max(range(len(names)), key=changes.__getitem__)
        same = sum(change == 0 for change in changes)
        lines.append(
            f"Change of the {'error (points)' if what == 'error' else 'log loss'} by the bound: mean "
            f"{mean(changes):{form}}, worst {changes[worst]:{form}} ({names[worst]}), best "
            f"{min(changes):{form}} ({names[changes.index(min(changes))]}); none at all on {same} of "
            f"{len(names)} tables."
        )
    return "\n\n".join(lines)


def numbers_table(figures: Sequence[Figure]) -> str:
    """A line for each table of numbers."""
    return _by_data(figures, LIBRARIES, lambda figure: f"{figure['score']:.4f}")


def remedies_table(figures: Sequence[Figure]) -> str:
    """A line for each remedy."""
    head = ("remedy", "rare: error (worst)", "ordinary: error (worst)", "log loss (worst)", "unchanged")
    lines = []
    for figure in figures:
        (error, loss), (worst_error, worst_loss) = figure["changes"], figure["worst changes"]
        lines.append(
            [
                figure["remedy"],
                f"{100 * figure['error']:.1f} ({100 * figure['worst']:.1f})",
                f"{100 * error:+.2f} ({100 * worst_error:+.2f})",
                f"{loss:+.4f} ({worst_loss:+.4f})",
                f"{figure['same']} of {figure['tables']}",
            ]
        )
    return markdown(head, lines)


def _by_data(
    figures: Sequence[Figure], libraries: Sequence[str] | dict[str, Any], told: Callable[[Figure], str]
) -> str:
    found = {(figure["data"], figure["library"]): figure for figure in figures}
    names = dict.fromkeys(figure["data"] for figure in figures)
    lines = [[name, *(told(found[name, library]) for library in libraries)] for name in names]
    return markdown(("table", *libraries), lines)


def tables(found: dict[str, list[Figure]]) -> str:
    """All tables, with how they were made."""
    parts = [
        ("A class of a few rows", HOW_RARE, rare_table(found["rare"])),
        ("Ordinary tables", HOW_ORDINARY, ordinary_table(found["ordinary"])),
        ("Remedies", HOW_REMEDIES, remedies_table(found["remedies"])),
        ("Numbers", HOW_NUMBERS, numbers_table(found["numbers"])),
    ]
    return "\n\n".join(f"## {title}\n\n{how}\n\n{table}" for title, how, table in parts)


def page(origin: Origin, found: dict[str, list[Figure]]) -> str:
    """The figures as a page."""
    return "\n".join(["# Rare classes\n", f"{origin}\n", f"{HOW}\n", tables(found)])
