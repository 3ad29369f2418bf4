"""How well one small tree stands in for a forest, and what it takes to find the exact born-again tree."""

from __future__ import annotations

import csv
import gzip
import time
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from benchmarks import keeping
from benchmarks.keeping import Origin
from benchmarks.reporting import markdown, seconds

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "continuous"
SPAM = "spam"
SIZES = (8, 16, 32)
PLAIN = "grown on the data"
WAYS: dict[str, dict[str, Any]] = {
    "distilled": {},
    "hard labels": {"soft": False},
    "no drawn rows": {"n_synthetic": 0},
}
REPEATS = 5
N_TREES, DEPTH = 10, 3  # of the forests that are born again
HOW = (
    "A forest of scikit-learn with 100 trees teaches a tree of at most 8, 16 or 32 leaves; beside it, one of "
    f"as many leaves grown on the data itself. Spam by its official split, the others dealt {REPEATS} times "
    "into 70 % to learn from and 30 % to judge by; means over the deals. Fidelity: rows to judge by to which "
    "forest and tree answer the same. Distance: the mean squared distance of their shares. CPU: of the whole "
    "distilling, the forest's answers included."
)
HOW_BORN = (
    f"Forests of {N_TREES} trees of depth {DEPTH} by majority; the tree of the least depth that answers like "
    "the forest everywhere, and how many leaves are left without those that no training row reaches. Where "
    "the limit ends the search, the bound that was proved by then. Agreement: rows to judge by to which the "
    "pruned tree and the forest answer the same."
)

Figure = dict[str, Any]
Deal = tuple[Any, Any, Any, Any]


def run(chosen: Namespace) -> None:
    """Distil and bear again on every table; keep the figures if nothing was left out."""
    repeats = 1 if chosen.quick else REPEATS
    taught: list[Figure] = []
    born: list[Figure] = []
    for name in names(chosen):
        deals = list(_deals(name, repeats))
        print(f"distilling: {name} …", flush=True)
        taught += _taught(name, deals)
        born += _born(name, deals[:2], chosen.limit if not chosen.quick else 5.0)
    print(table(taught))
    print(born_table(born))
    if not chosen.partial:
        origin = keeping.here(["treewright", "scikit-learn"])
        keeping.save("distilling", origin, {"taught": taught, "born": born})
        keeping.write(keeping.RESULTS / "distilling.md", page(origin, taught, born))


def names(chosen: Namespace) -> list[str]:
    """The tables that are here and asked for; spam is shipped with the package."""
    others = sorted(path.name.split(".")[0] for path in SHARED.glob("*.csv.gz"))
    known = [SPAM, *others[: 2 if chosen.quick else None]]
    return [name for name in known if chosen.only is None or chosen.only in name]


def _deals(name: str, repeats: int) -> Iterator[Deal]:
    """Rows to learn from and to judge by."""
    if name == SPAM:
        from treewright.datasets import load_spam

        spam = load_spam()
        test = spam.is_test
        yield spam.data[~test], spam.target[~test], spam.data[test], spam.target[test]
        return
    with gzip.open(SHARED / f"{name}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    target = np.array([row["class"] for row in rows])
    data = np.array([[float(cell) for key, cell in row.items() if key != "class"] for row in rows])
    for seed in range(repeats):
        order = np.random.default_rng(seed).permutation(len(target))
        train, test = np.split(order, [len(target) * 7 // 10])
        yield data[train], target[train], data[test], target[test]


def _taught(name: str, deals: list[Deal]) -> Iterator[Figure]:
    from sklearn.ensemble import RandomForestClassifier

    forests = [
        RandomForestClassifier(100, random_state=seed).fit(deal[0], deal[1])
        for seed, deal in enumerate(deals)
    ]
    for size in SIZES:
        for way in (PLAIN, *WAYS):
            found = [_judged(forest, deal, way, size) for forest, deal in zip(forests, deals, strict=True)]
            figure = {key: mean(each[key] for each in found) for key in found[0]}
            yield {"data": name, "leaves": size, "way": way, **figure}


def _judged(forest: Any, deal: Deal, way: str, size: int) -> Figure:
    from treewright import distill, encode, grow

    train, labels, test, truth = deal
    began = time.process_time()
    if way == PLAIN:
        tree = grow(encode(train, labels), max_leaf_nodes=size)
    else:
        tree = distill(forest, (train, labels), max_leaf_nodes=size, **WAYS[way])
    took = time.process_time() - began
    own, said = tree.predict(test), forest.predict(test)
    distance = ((tree.predict_proba(test) - forest.predict_proba(test)) ** 2).sum(axis=1)
    return {
        "fidelity": float(np.mean(own == said)),
        "distance": float(np.mean(distance)),
        "right": float(np.mean(own == truth)),
        "teacher": float(np.mean(said == truth)),
        "cpu": took,
    }


def _born(name: str, deals: list[Deal], limit: float) -> Iterator[Figure]:
    from sklearn.ensemble import RandomForestClassifier

    from treewright import born_again, from_sklearn

    for seed, (train, labels, test, _) in enumerate(deals):
        forest = RandomForestClassifier(N_TREES, max_depth=DEPTH, random_state=seed).fit(train, labels)
        trees = [from_sklearn(tree) for tree in forest.estimators_]
        cuts = {(f, t) for tree in trees for f, t in zip(tree.feature, tree.threshold, strict=True) if f >= 0}
        figure: Figure = {"data": name, "seed": seed, "cuts": len(cuts), "columns": len({f for f, _ in cuts})}
        began = time.process_time()
        try:
            found = born_again(trees, rule="majority", time_limit=limit, memory_limit=4e9)
        except (TimeoutError, MemoryError) as error:
            yield figure | {"cpu": time.process_time() - began, "failure": str(error)}
            continue
        figure["cpu"] = time.process_time() - began
        small = found.prune(train)
        votes = np.stack([tree.predict(test) for tree in trees], axis=1).astype(np.int64)
        said = np.array([np.bincount(row).argmax() for row in votes])
        yield figure | {
            "depth": found.tree.depth,
            "leaves": found.tree.n_leaves,
            "smallest": found.is_smallest,
            "least": found.least_depth,
            "pruned": small.n_leaves,
            "agreement": float(np.mean(small.predict(test).astype(np.int64) == said)),
        }


def table(figures: list[Figure]) -> str:
    """A line for each table and size: fidelity and right answers of each way."""
    head = ("table", "leaves", "forest right", *(f"{way}: fidelity, right" for way in (PLAIN, *WAYS)), "CPU")
    lines = []
    for data in dict.fromkeys(figure["data"] for figure in figures):
        for size in SIZES:
            ways = {f["way"]: f for f in figures if f["data"] == data and f["leaves"] == size}
            lines.append([data, str(size), *_cells(ways)])
    for size in SIZES:
        ways = {way: _mean(figures, size, way) for way in (PLAIN, *WAYS)}
        lines.append(["mean", str(size), *_cells(ways)])
    return markdown(head, lines)


def _cells(ways: dict[str, Figure]) -> list[str]:
    best = max(figure["fidelity"] for figure in ways.values())
    cells = [f"{100 * ways[PLAIN]['teacher']:.1f} %"]
    for way in (PLAIN, *WAYS):
        fidelity = f"{100 * ways[way]['fidelity']:.1f} %"
        shown = f"**{fidelity}**" if ways[way]["fidelity"] == best else fidelity
        cells.append(f"{shown}, {100 * ways[way]['right']:.1f} %, distance {ways[way]['distance']:.3f}")
    return [*cells, seconds(ways["distilled"]["cpu"])]


def _mean(figures: list[Figure], size: int, way: str) -> Figure:
    own = [figure for figure in figures if figure["leaves"] == size and figure["way"] == way]
    return {key: mean(each[key] for each in own) for key in own[0] if key not in ("data", "leaves", "way")}


def born_table(figures: list[Figure]) -> str:
    """A line for each forest."""
    head = ("table", "columns", "thresholds", "CPU", "depth", "leaves", "pruned", "agreement")
    lines = []
    for figure in figures:
        told = [figure["data"], str(figure["columns"]), str(figure["cuts"]), seconds(figure["cpu"])]
        if "failure" in figure:
            lines.append([*told, "none found", "", "", ""])
            continue
        depth = str(figure["depth"])
        depth = depth if figure["smallest"] else f"{depth} (at least {figure['least']})"
        sizes = [f"{figure[key]:,}" for key in ("leaves", "pruned")]
        lines.append([*told, depth, *sizes, f"{100 * figure['agreement']:.1f} %"])
    return markdown(head, lines)


def short(found: dict[str, list[Figure]]) -> str:
    """A line per size, the means over the tables, and how many forests were born again within the limit."""
    head = (
        "leaves",
        "forest",
        *(f"{way}: {what}" for way in ("distilled", PLAIN) for what in ("agrees", "right")),
    )
    lines = []
    for size in SIZES:
        ways = {way: _mean(found["taught"], size, way) for way in ("distilled", PLAIN)}
        shares = [ways[PLAIN]["teacher"], *(ways[way][key] for way in ways for key in ("fidelity", "right"))]
        lines.append([str(size), *(f"{100 * share:.1f} %" for share in shares)])
    n_tables = len({figure["data"] for figure in found["taught"]})
    smallest = sum(figure.get("smallest", False) for figure in found["born"])
    return (
        f"{markdown(head, lines)}\nMeans over {n_tables} tables; agrees: held-out rows for which "
        f"tree and forest predict the same class; right: accuracy. Of {len(found['born'])} small forests "
        f"({N_TREES} trees of depth {DEPTH}), the smallest tree that predicts exactly the same was found and "
        f"proved within the time limit for {smallest}.\n"
    )


def page(origin: Origin, taught: list[Figure], born: list[Figure]) -> str:
    """The figures as a page."""
    return "\n".join(
        [
            "# Distilling\n",
            f"{origin}\n",
            f"{HOW}\n",
            table(taught),
            "\n## Born again\n",
            f"{HOW_BORN}\n",
            born_table(born),
        ]
    )
