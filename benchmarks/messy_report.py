"""The results of `messy` as tables: scores with intervals, losses, times, and whether the marks are met."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean, stdev
from typing import Any

from benchmarks.keeping import Origin
from benchmarks.messy_tasks import FOLDS as N_FOLDS
from benchmarks.messy_tasks import LEAST, VARIANTS
from benchmarks.reporting import markdown, seconds

FIT, FOLDS = "treewright fit", "treewright, folds"
OUR_TREES = (FIT, FOLDS)
PEER_TREES = (
    "scikit-learn tree, one-hot",
    "scikit-learn tree, ordinal",
    "scikit-learn tree, target",
    "LightGBM, one tree",
    "YDF CART",
    "rpart",
)
TREES = (*OUR_TREES, *PEER_TREES)
ENSEMBLES = (
    "treewright forest",
    "treewright boosting",
    "scikit-learn forest, one-hot",
    "scikit-learn forest, target",
    "scikit-learn HistGB",
    "LightGBM",
    "YDF forest",
    "YDF boosting",
)
POINT = 0.01  # how far a single tree of ours may be behind the best peer's
SHORT = ("<!-- in short: begin -->", "<!-- in short: end -->")  # what the user guide includes
HOW = (
    f"{N_FOLDS} folds; the mean ± 2 standard errors over the folds; bold is best. Accuracy, or R² where the "
    "target is a number (houses, retail). `treewright fit` is the command with nothing but `--target`, which "
    "holds out a quarter of the rows to prune by; `treewright, folds` is "
    '`DecisionTreeClassifier(pruning=CostComplexity(select="folds"))` on the frame '
    "of `pandas.read_csv`, as are our forest and boosting. The peers get the same frame: scikit-learn with "
    "a median for missing numbers and one-hot (values of at least ten rows), ordinal or target encoding, "
    "`ccp_alpha` chosen by five folds; LightGBM with pandas' categories, its single tree with the number of "
    "leaves chosen by five folds; YDF as it comes; rpart after `read.csv`, pruned at the least "
    "cross-validated error. Ensembles have 100 trees and their defaults otherwise."
)
CLEANED = (
    "The same rows after an hour of cleaning: numbers and dates as numbers, one spelling for each value, ids "
    "and free text dropped."
)
LOSSES = (
    "Log loss of the shares of classes, none taken for less than "
    f"{LEAST}; the root of the mean squared error of numbers."
)

Figure = dict[str, Any]


def page(origin: Origin, figures: Sequence[Figure]) -> str:
    """All tables; those between the two marks are shown in the user guide."""
    raw, cleaned = VARIANTS
    parts = ["# Messy tables\n", SHORT[0], f"{origin}\n", f"{HOW}\n", listing(figures)]
    parts += ["**One tree, tables as they are read.**\n", shown(figures, raw, TREES), marks(figures)]
    parts += ["**Many trees, tables as they are read.**\n", shown(figures, raw, ENSEMBLES)]
    parts += [f"**One tree, tables cleaned by hand.** {CLEANED}\n", shown(figures, cleaned, TREES), SHORT[1]]
    parts += ["\n## Many trees, tables cleaned by hand\n", shown(figures, cleaned, ENSEMBLES)]
    parts += ["## Losses\n", f"{LOSSES}\n"]
    for variant in VARIANTS:
        for methods in (TREES, ENSEMBLES):
            parts += [f"Tables {variant}.\n", shown(figures, variant, methods, "losses")]
    parts += ["## CPU\n", times(figures), absent(figures)]
    return "\n".join(parts)


def line(figure: Figure) -> str:
    """The scores of a table as it is read, for whoever waits."""
    found = {m: _found(figure, VARIANTS[0], m).get("scores") for m in (*TREES, *ENSEMBLES)}
    return "  " + ", ".join(f"{m} {mean(scores):.3f}" for m, scores in found.items() if scores)


def listing(figures: Sequence[Figure]) -> str:
    """The tables: how large, and what is messy."""
    lines = [[f["table"], f"{f['rows']:,} x {f['columns']}", f["about"]] for f in figures]
    return markdown(("table", "size", "what is messy"), lines)


def shown(figures: Sequence[Figure], variant: str, methods: Sequence[str], what: str = "scores") -> str:
    """A line for each table, a column for each method; the last lines are means over the tables."""
    columns = [m for m in methods if any("scores" in _found(f, variant, m) for f in figures)]
    lines = []
    for figure in figures:
        values = {m: _found(figure, variant, m).get(what) for m in columns}
        means = [mean(value) for value in values.values() if value]
        best = (max if what == "scores" else min)(means, default=0.0)
        lines.append([figure["table"], *(_cell(values[m], best) for m in columns)])
    for kind, word in (("classes", "mean of classes"), ("numbers", "mean of numbers")):
        of_kind = [figure for figure in figures if figure["kind"] == kind]
        if of_kind:
            lines.append([word, *(_mean(of_kind, variant, m, what) for m in columns)])
    return markdown(("table", *columns), lines)


def _found(figure: Figure, variant: str, method: str) -> dict[str, Any]:
    found: dict[str, Any] = figure["results"][variant].get(method, {})
    return found


def _cell(values: Sequence[float] | None, best: float) -> str:
    if not values:
        return "–"
    told = f"{mean(values):.3f} ± {2 * stdev(values) / len(values) ** 0.5:.3f}"
    return f"**{told}**" if round(mean(values), 3) == round(best, 3) else told


def _mean(figures: Sequence[Figure], variant: str, method: str, what: str = "scores") -> str:
    """The mean over the tables, of a method that did all of them."""
    values = [_found(figure, variant, method).get(what) for figure in figures]
    return f"{mean(mean(value) for value in values if value):.3f}" if all(values) else "–"


def marks(figures: Sequence[Figure]) -> str:
    """How `treewright fit` stands beside the best single tree of the peers, table by table."""
    behind, leads = [], []
    ahead: dict[str, list[float]] = {}  # by peer: how far ours is ahead on each table that the peer did
    for figure in figures:
        peers = {m: _found(figure, VARIANTS[0], m).get("scores") for m in PEER_TREES}
        ours = _found(figure, VARIANTS[0], FIT).get("scores")
        known = {m: mean(scores) for m, scores in peers.items() if scores}
        if ours and known:
            best = max(known, key=lambda m: known[m])
            for method, score in known.items():
                ahead.setdefault(method, []).append(mean(ours) - score)
            leads.append(mean(ours) - known[best])
            if leads[-1] < -POINT:
                behind.append(f"{figure['table']} ({best} is {-100 * leads[-1]:.1f} points ahead)")
    if not leads:
        return ""
    told = f"`{FIT}` is within one point of the best single tree of the peers, whichever that is on a table, "
    told += f"on {len(leads) - len(behind)} of {len(leads)} tables; on average it is "
    told += f"{_ahead(mean(leads))} that tree. "
    beside = ", ".join(f"{_ahead(mean(found))} {method}" for method, found in ahead.items())
    told += f"Beside one peer at a time, on average over the tables of that peer: {beside}. "
    return told + (f"More than a point behind: {', '.join(behind)}.\n" if behind else "\n")


def _ahead(lead: float) -> str:
    return f"{abs(100 * lead):.1f} points {'ahead of' if lead >= 0 else 'behind'}"


def times(figures: Sequence[Figure]) -> str:
    """The CPU seconds of a fit and its answers, choices included, by table."""
    columns = [m for m in (*TREES, *ENSEMBLES) if any("cpu" in _found(f, VARIANTS[0], m) for f in figures)]
    lines = []
    for method in columns:
        raw, cleaned = ([_found(f, v, method)["cpu"] for f in figures if "cpu" in _found(f, v, method)]
                        for v in VARIANTS)  # fmt: skip
        told = [seconds(mean(took)) if took else "–" for took in (raw, cleaned)]
        lines.append([method, *told, seconds(max(raw)) if raw else "–"])
    note = (
        "Mean over the tables of the mean over the folds, on one thread: fitting, all choices by folds, and "
        "answering. `treewright fit` counts two starts of Python and writing files.\n"
    )
    return f"{note}\n{markdown(('method', *VARIANTS, 'longest'), lines)}"


def absent(figures: Sequence[Figure]) -> str:
    """Why a method has no figure of a table."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for figure in figures:
        for variant in VARIANTS:
            for method, found in figure["results"][variant].items():
                if "skipped" in found:
                    place = f"{figure['table']}, {variant}"
                    reasons.setdefault((method, found["skipped"]), []).append(place)
    told = [
        f"{method} has no figure of {'; '.join(where)}: {why}.\n" for (method, why), where in reasons.items()
    ]
    return "\n".join(told)
