"""What selecting columns is worth: how many are kept, of those that matter too, and how trees do after it."""

from __future__ import annotations

import time
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks import keeping
from benchmarks.keeping import Origin
from benchmarks.reporting import markdown, seconds

LEAF = 5  # the fewest rows in a leaf of the trees that wrappers try
KEPT = 20  # columns that the filters keep of e-mails, about a third
HOW = (
    "Each selector is fitted on the rows to learn from, with two threads where it can; CPU is that of all "
    "threads, the least of the runs (of a long one there is one). The error is that of a tree of treewright "
    "on the held-out rows, grown from the kept columns of the rows to learn from, with at least five rows in "
    "a leaf, pruned by C4.5's rule, which draws nothing; and of a random forest of 200 trees where there is "
    "one. Wrappers try trees of at least five rows in a leaf by five folds; of the wide table an "
    "elimination drops a tenth of the columns at a time (scikit-learn: of all columns, treewright: of those "
    "left). The wide table is made by scikit-learn's make_classification: its informative columns are the "
    "axes of a cube with classes at its corners, and tell only partly one by one."
)

Figure = dict[str, Any]


@dataclass(frozen=True)
class Table:
    """Rows to learn from and rows to judge by, and which columns are known to matter."""

    name: str
    words: str
    train: Any
    target: Any
    test: Any
    truth: Any
    informative: int | None  # the first so many columns; None: nobody knows
    kept: int  # columns that a filter is asked for
    wide: bool = False


def run(chosen: Namespace) -> None:
    """Fit every selector on every table; keep the figures if nothing was left out."""
    makers = {"wide": partial(_wide, 300, 400, 5, 300)}
    if not chosen.quick:
        makers = {"e-mails": _emails, "wide": partial(_wide, 600, 5_000, 10, 5_000)}
    tables = [make() for name, make in makers.items() if (chosen.only or "") in name]
    figures: list[Figure] = []
    for table in tables:
        figures += _figures(table, chosen)
        print(f"{table.name}: {table.words}\n\n{lines(figures, table.name)}", flush=True)
    if not chosen.partial:
        origin = keeping.here(["treewright", "scikit-learn"])
        keeping.save("feature_selection", origin, figures)
        keeping.write(keeping.RESULTS / "feature_selection.md", page(origin, figures, tables))


def _emails() -> Table:
    from treewright.datasets import load_spam

    spam = load_spam()
    train, test = ~spam.is_test, spam.is_test
    words = "3,065 rows x 57 columns to learn from, 1,536 rows to judge by (the split of ESL)."
    return Table(
        "e-mails", words, spam.data[train], spam.target[train], spam.data[test], spam.target[test], None, KEPT
    )


def _wide(rows: int, columns: int, informative: int, held_out: int) -> Table:
    from sklearn.datasets import make_classification

    X, y = make_classification(
        rows + held_out,
        columns,
        n_informative=informative,
        n_redundant=0,
        class_sep=1.5,
        flip_y=0.02,
        shuffle=False,
        random_state=0,
    )
    order = np.random.default_rng(0).permutation(len(y))  # columns in order, rows not
    X, y = X[order], y[order]
    words = f"{rows:,} rows x {columns:,} columns, {informative} informative; {held_out:,} rows to judge by."
    return Table("wide", words, X[:rows], y[:rows], X[rows:], y[rows:], informative, informative, wide=True)


def _selectors(table: Table) -> dict[str, Callable[[], Any]]:
    """Makers of selectors by name; treewright's first."""
    from sklearn import ensemble, feature_selection, svm, tree

    import treewright as tw

    step = 0.1 if table.wide else 1
    ours = tw.DecisionTreeClassifier(min_samples_leaf=LEAF)
    theirs = tree.DecisionTreeClassifier(min_samples_leaf=LEAF, random_state=0)
    forest = ensemble.RandomForestClassifier(200, random_state=0, n_jobs=2)
    common: dict[str, Any] = {"random_state": 0, "n_jobs": 2}
    linear = svm.LinearSVC(C=0.05, penalty="l1", dual=False, random_state=0, max_iter=5_000)
    found: dict[str, Callable[[], Any]] = {
        f"SplitFilter(k={table.kept})": lambda: tw.SplitFilter(k=table.kept, **common),
        "SplitFilter(alpha=0.05)": lambda: tw.SplitFilter(alpha=0.05, **common),
        'TreeSelector("forward")': lambda: tw.TreeSelector(ours, **common),
        'TreeSelector("rfe")': lambda: tw.TreeSelector(ours, direction="rfe", step=step, **common),
        'TreeSelector("rfe", 1-SE)': lambda: tw.TreeSelector(
            ours, direction="rfe", step=step, rule="1-SE", **common
        ),
        "ZeroNormSelector()": lambda: tw.ZeroNormSelector(random_state=0),
        "ShadowSelector()": lambda: tw.ShadowSelector(**common),
        f"SelectKBest(mutual_info, k={table.kept})": lambda: feature_selection.SelectKBest(
            lambda X, y: feature_selection.mutual_info_classif(X, y, random_state=0, n_jobs=2), k=table.kept
        ),
        "RFECV(DecisionTree)": lambda: feature_selection.RFECV(theirs, step=step, cv=5, n_jobs=2),
        "SelectFromModel(forest)": lambda: feature_selection.SelectFromModel(forest),
        "SelectFromModel(LinearSVC, l1)": lambda: _scaled(feature_selection.SelectFromModel(linear)),
    }
    if table.wide:  # a step forward would grow five trees for each column
        del found['TreeSelector("forward")']
    return found


def _scaled(selector: Any) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), selector)


def _figures(table: Table, chosen: Namespace) -> Iterator[Figure]:
    everything = np.ones(table.train.shape[1], bool)
    yield {"table": table.name, "selector": "none: all columns"} | _judged(table, everything)
    for name, make in _selectors(table).items():
        print(f"feature_selection: {table.name}, {name} …", flush=True)
        support, figure = _fitted(make, table, chosen.seconds)
        yield {"table": table.name, "selector": name} | figure | _judged(table, support)


def _fitted(make: Callable[[], Any], table: Table, least: float) -> tuple[Any, Figure]:
    """Which columns a selector keeps, and the least of its times."""
    from joblib import parallel_config

    runs: list[tuple[float, float]] = []
    while not runs or (sum(wall for _, wall in runs) < least and len(runs) < 20):
        selector = make()
        cpu, wall = time.process_time(), time.perf_counter()
        with warnings.catch_warnings(), parallel_config("threading"):  # processes would not count as CPU
            warnings.simplefilter("ignore")
            selector.fit(table.train, table.target)
        runs.append((time.process_time() - cpu, time.perf_counter() - wall))
    last = selector[-1] if hasattr(selector, "steps") else selector
    return last.get_support(), {"cpu": min(c for c, _ in runs), "wall": min(w for _, w in runs)}


def _judged(table: Table, support: Any) -> Figure:
    """How many columns, and the errors of a tree and a forest of ours after the selection."""
    import treewright as tw

    figure: Figure = {"kept": int(support.sum())}
    if table.informative is not None:
        figure["informative"] = int(support[: table.informative].sum())
    if not support.any():
        return figure
    tree = tw.DecisionTreeClassifier(min_samples_leaf=LEAF, pruning="pessimistic")
    models = {"tree": tree}
    if hasattr(tw, "RandomForestClassifier"):
        models["forest"] = tw.RandomForestClassifier(200, random_state=0, n_jobs=2)
    for name, model in models.items():
        model.fit(table.train[:, support], table.target)
        figure[name] = float(np.mean(model.predict(table.test[:, support]) != table.truth))
    figure["leaves"] = tree.get_n_leaves()
    return figure


def lines(figures: list[Figure], name: str) -> str:
    """A line for each selector of one table."""
    own = [figure for figure in figures if figure["table"] == name]
    has_forest, is_known = any("forest" in f for f in own), any("informative" in f for f in own)
    head = ["selector", "columns", *["informative"] * is_known, "error of a tree", "leaves"]
    head += [*["of a forest"] * has_forest, "CPU", "wall"]
    rows = []
    for figure in own:
        cells = [figure["selector"], f"{figure['kept']:,}"]
        cells += [str(figure["informative"])] if is_known else []
        cells += [_share(figure.get("tree")), str(figure.get("leaves", "–"))]
        cells += [_share(figure.get("forest"))] * has_forest
        cells += [seconds(figure[each]) if each in figure else "–" for each in ("cpu", "wall")]
        rows.append(cells)
    return markdown(head, rows)


def _share(error: float | None) -> str:
    return "–" if error is None else f"{100 * error:.1f} %"


def page(origin: Origin, figures: list[Figure], tables: list[Table]) -> str:
    """The figures as a page."""
    parts = [f"## {table.name}\n\n{table.words}\n\n{lines(figures, table.name)}" for table in tables]
    return "\n".join(["# Feature selection\n", f"{origin}\n", f"{HOW}\n", *parts])
