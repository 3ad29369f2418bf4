"""Payloads of reports made from trees directly, so that nothing but the page is tested."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import treewright
from treewright import Dataset, Tree, encode, grow, prune
from treewright._text import label_text, percent
from treewright.certifying.binomial import binomial_lower, binomial_upper
from treewright.datasets import load_spam
from treewright.tree.wording import branch_in_words

PAGE = Path(treewright.__file__).parent / "reporting" / "page"
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999"]
HOSTILE = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>"


def payload_of(
    tree: Tree,
    parts: dict[str, Dataset],
    *,
    title: str = "A report",
    methods: tuple[str, ...] = ("cost_complexity",),
    costs: list[list[float]] | None = None,
    chosen: int | None = None,
) -> dict[str, Any]:
    """The facts of a report about a tree and all its prunings by some methods."""
    target, is_classes = tree.schema.targets[0], tree.schema.predicts_classes
    facts = {
        name: _part(tree, data, list(target.classes or ()))
        for name, data in parts.items()
        if data is not None
    }
    paths = [_path(tree, method, parts, chosen) for method in methods]
    judged = "test" if "test" in parts else "train"
    loss = paths[0]["loss"][judged][paths[0]["chosen"]]
    payload = {
        "format": 1,
        "title": title,
        "headline": {
            "text": f"{target.name}, learnt from {parts['train'].n_rows:,} rows",
            "manager": f"On {parts[judged].n_rows:,} {judged} rows it was wrong for {percent(loss)}."
            if is_classes
            else f"On {parts[judged].n_rows:,} rows its mean squared error was {loss:.4g}.",
            "notes": ["Rows of the test part had no say in growing or pruning."],
        },
        "kind": "classes" if is_classes else "numbers",
        "target": target.name,
        "classes": [str(name) for name in target.classes or ()],
        "colours": [COLOURS[i % len(COLOURS)] for i in range(len(target.classes or ()))],
        "loss": {
            "name": "mean cost" if costs else "error rate" if is_classes else "mean squared error",
            "share": is_classes and not costs,
        },
        "costs": costs,
        "delta": 0.05,
        "or_missing": " or missing",
        "columns": [_column(tree, parts["train"], i) for i in range(len(tree.schema.columns))],
        "tree": _nodes(tree),
        "samples": facts,
        "competitors": _competitors(tree),
        "pruning": paths,
        "importance": _importance(tree),
        "distributions": _distributions(tree, parts["train"]),
        "rules": {"rules": "if this and that\nthen something", "tree": "the tree as text"},
        "reproduce": {
            "version": "0.1.0",
            "python": "3.11.2",
            "seed": 0,
            "parameters": {"criterion": tree.criterion, "prune": methods[0]},
            "fingerprints": dict.fromkeys(parts, "sha256:" + "0123456789abcdef" * 4),
            "code": "from treewright import report\nreport(model, test=test).save('report.html')",
        },
    }
    if is_classes and "test" in parts and not costs:
        payload["intervals"] = _intervals(facts["test"])
    return payload


def _nodes(tree: Tree) -> dict[str, Any]:
    inner = np.flatnonzero(~tree.is_leaf).tolist()
    words: dict[bool, list[str]] = {side: [""] * tree.n_nodes for side in (True, False)}
    for node in inner:
        for side, texts in words.items():
            texts[node] = branch_in_words(tree, node, side)
    classes = tree.schema.targets[0].classes
    values = None if classes else tree.value[:, 0].tolist()
    categories = {
        str(node): [
            tree.schema.columns[tree.feature[node]].categories.index(c) for c in tree.categories_left(node)
        ]
        for node in inner
        if tree.subset[node] >= 0
    }
    return {
        "end": tree.end.tolist(),
        "feature": tree.feature.tolist(),
        "threshold": [None if np.isnan(t) else "inf" if np.isinf(t) else t for t in tree.threshold.tolist()],
        "left_categories": categories,
        "missing_left": tree.missing_left.astype(int).tolist(),
        "heavier_left": tree.heavier_left.astype(int).tolist(),
        "left_words": words[True],
        "right_words": words[False],
        "answer": [label_text(classes[i]) for i in tree.label[:, 0]]
        if classes
        else [f"{v:.4g}" for v in values],
        "label": tree.label[:, 0].tolist() if classes else [-1] * tree.n_nodes,
        "value": values or [None] * tree.n_nodes,
        "gain": (tree.gain / max(tree.risk[0], 1e-300)).tolist(),
        "step": tree.step.tolist(),
    }


def _rounded(values: Any) -> Any:
    return [float(f"{value:.6g}") for value in np.asarray(values, float).tolist()]


def _part(tree: Tree, data: Dataset, classes: list[Any]) -> dict[str, Any]:
    statistic = np.asarray(tree.statistic_of(data))
    leaf = tree.apply(data)
    rows = np.bincount(leaf, minlength=tree.n_nodes)
    for node in range(tree.n_nodes - 1, -1, -1):
        if not tree.is_leaf[node]:
            rows[node] = rows[tree.left[node]] + rows[tree.right[node]]
    part = {
        "rows": data.n_rows,
        "weight": data.total_weight,
        "node_rows": rows.tolist(),
        "loss": _rounded(tree.loss_of(data)),
    }
    if not classes:
        weight = np.maximum(statistic[:, 0], 1e-300)
        spread = np.sqrt(statistic[:, 2] / weight)
        return part | {
            "mean": _rounded(statistic[:, 1]),
            "deviation": _rounded(spread),
            "residuals": _residuals(tree, data, leaf),
        }
    if len(classes) <= 20:
        return part | {"counts": [_rounded(row) for row in statistic]}
    heaviest = np.argsort(-statistic, axis=1, kind="stable")[:, :12]
    top = [
        [[int(c), float(row[c])] for c in best if row[c] > 0]
        for row, best in zip(statistic, heaviest, strict=True)
    ]
    return part | {"counts": {"top": top}}


def _residuals(tree: Tree, data: Dataset, leaf: Any) -> list[Any]:
    numbers = np.asarray(data.targets)[0]
    found: list[Any] = []
    for node in range(tree.n_nodes):
        own = numbers[(leaf >= node) & (leaf < tree.end[node])] - tree.value[node, 0]
        found.append(_rounded(np.quantile(own, [0.05, 0.25, 0.5, 0.75, 0.95])) if own.size else None)
    return found


def _intervals(part: dict[str, Any]) -> dict[str, Any]:
    rows, errors = np.array(part["node_rows"], float), np.array(part["loss"])
    nats = np.log(2 / 0.05)
    lower = np.where(rows > 0, binomial_lower(errors, np.maximum(rows, 1), nats), 0)
    upper = np.where(rows > 0, binomial_upper(errors, np.maximum(rows, 1), nats), 1)
    return {"sample": "test", "lower": _rounded(lower), "upper": _rounded(upper)}


def _path(tree: Tree, method: str, parts: dict[str, Dataset], chosen: int | None) -> dict[str, Any]:
    options = {"validation": parts["validation"]} if method == "reduced_error" else {}
    path = prune(tree, method, **options)
    places = np.unique(np.linspace(0, len(path) - 1, 200).round().astype(int))
    position = np.where(tree.is_leaf, 0, path.prunings.position)  # type: ignore[attr-defined]
    leaf_from = np.searchsorted(places, position)
    leaf_from[leaf_from >= len(places)] = -1
    losses = {name: _rounded(path.losses(data)[places]) for name, data in parts.items()}
    certificate: list[Any] = [None] * len(places)
    if "test" in parts and tree.schema.predicts_classes and not tree.schema.has_costs:
        n = parts["test"].n_rows
        errors = np.round(np.array(losses["test"]) * n)
        upper = binomial_upper(errors, np.full(len(places), n), np.log(len(places) / 0.05))
        certificate = [{"upper": value} for value in _rounded(upper)]
    judge = losses.get("validation", losses["train"])
    if chosen is None:
        best = len(places) - 1 - int(np.argmin(judge[::-1]))
    else:
        best = int(np.argmin(np.abs(path.leaves[places] - chosen)))
    return {
        "method": method,
        "title": method.replace("_", " "),
        "leaves": path.leaves[places].tolist(),
        "leaf_from": leaf_from.tolist(),
        "alpha": _rounded(path.level[places]),
        "loss": losses,
        "certificate": certificate,
        "certificate_words": "With 95 % confidence it is wrong for less than this share of such rows.",
        "chosen": best,
        "chosen_by": "validation rows",
    }


def _column(tree: Tree, data: Dataset, i: int) -> dict[str, Any]:
    column, values = tree.schema.columns[i], np.asarray(data.columns[i], float)
    is_category = column.kind == "category"
    known = values[values >= 0] if is_category else values[~np.isnan(values)]
    typical: float | None = None
    if known.size:
        typical = int(np.bincount(known.astype(int)).argmax()) if is_category else float(np.median(known))
    return {
        "name": column.name,
        "kind": column.kind,
        "categories": [str(category) for category in column.categories],
        "met_missing": bool(known.size < values.size),
        "typical": typical,
        "least": None if is_category or not known.size else float(known.min()),
        "most": None if is_category or not known.size else float(known.max()),
        "used": bool((tree.feature == i).any()),
    }


def _competitors(tree: Tree) -> dict[str, Any]:
    first = np.flatnonzero(~tree.is_leaf)[:16].tolist()
    other = range(min(3, len(tree.schema.columns)))
    return {
        str(node): [
            {"words": f"{tree.schema.columns[i].name} <= {0.5 + i}", "gain": 0.08 / (1 + i), "column": i}
            for i in other
        ]
        for node in first
    }


def _importance(tree: Tree) -> dict[str, Any]:
    gains = np.bincount(np.maximum(tree.feature, 0), tree.gain, len(tree.schema.columns))
    shares = gains / max(gains.sum(), 1e-300)
    order = [int(i) for i in np.argsort(-shares, kind="stable") if shares[i] > 0]
    columns = [
        {"column": i, "gain": s, "permutation": 0.2 * s, "lower": 0.2 * s - 0.004, "upper": 0.2 * s + 0.004}
        for i, s in zip(order, _rounded(shares[order]), strict=True)
    ]
    return {
        "columns": columns,
        "rows": "on the test rows",
        "note": "The share of the gain favours columns of many values.",
    }


def _distributions(tree: Tree, data: Dataset) -> dict[str, Any]:
    wanted = sorted({int(f) for f in tree.feature if f >= 0})[:12]
    small = tree.first(63)
    frontier = _frontier(tree, small)
    leaf = tree.apply(data)
    columns, bins = [], []
    for i in wanted:
        column, values = tree.schema.columns[i], np.asarray(data.columns[i], float)
        if column.kind == "category":
            labels = [str(c) for c in column.categories]
            code, edges = np.where(values < 0, len(labels), values).astype(int), None
        else:
            finite = values[np.isfinite(values)]
            cuts = np.linspace(finite.min(), np.quantile(finite, 0.99) + 1e-9, 13)
            edges = _rounded(cuts)
            labels = [
                f"{column.threshold_text(a)} to {column.threshold_text(b)}"
                for a, b in itertools.pairwise(edges)
            ]
            code = np.where(np.isnan(values), 12, np.clip(np.searchsorted(cuts, values, "right") - 1, 0, 11))
        columns.append({"column": i, "edges": edges, "labels": [*labels, "missing"]})
        bins.append((code, len(labels) + 1))
    counts = {
        str(node): [
            np.bincount(code[(leaf >= node) & (leaf < tree.end[node])], minlength=n).tolist()
            for code, n in bins
        ]
        for node in frontier
    }
    return {"sample": "train", "columns": columns, "nodes": frontier, "counts": counts}


def _frontier(tree: Tree, small: Tree) -> list[int]:
    """The nodes of `tree` that are the leaves of its pruning `small`."""
    found, node, mine = [], 0, 0
    while node < tree.n_nodes:
        if small.is_leaf[mine]:
            found.append(node)
            node = int(tree.end[node])
        else:
            node += 1
        mine += 1
    return found


# ---- examples --------------------------------------------------


def split_in_three(table: dict[str, Any], target: Any, kept_away: Any) -> dict[str, Dataset]:
    """Three parts of a table: test where `kept_away`, every fourth of the others for validation."""
    others = np.flatnonzero(~kept_away)
    rows = {
        "train": others[others % 4 > 0],
        "validation": others[others % 4 == 0],
        "test": np.flatnonzero(kept_away),
    }
    parts: dict[str, Dataset] = {}
    for name, own in rows.items():
        schema = parts["train"].schema if parts else None
        parts[name] = encode({key: column[own] for key, column in table.items()}, target[own], schema=schema)
    return parts


def spam_example() -> tuple[Tree, dict[str, Any]]:
    """E-mails: two classes, 57 columns of numbers, three parts, two methods."""
    spam = load_spam()
    parts = split_in_three(spam.table(), spam.target, spam.is_test)
    tree = grow(parts["train"])
    methods = ("cost_complexity", "reduced_error")
    return tree, payload_of(tree, parts, title="Which e-mails are spam", methods=methods)


def mixed_table(rows: int = 1500, seed: int = 3) -> dict[str, Any]:
    """Columns of every kind, each with missing values."""
    random = np.random.default_rng(seed)
    day = np.datetime64("2023-01-01T00:00:00", "us") + (random.integers(0, 700, rows) * 86_400_000_000)
    day[random.random(rows) < 0.05] = np.datetime64("NaT")
    towns = np.array(["Aachen", "Brest", "Cork", "Delft", "Évora", "Faro", "Ghent"], object)
    town = towns[random.integers(0, 7, rows)]
    town[random.random(rows) < 0.05] = None
    area = np.round(random.gamma(4, 25, rows), 1)
    area[random.random(rows) < 0.08] = np.nan
    return {"area": area, "town": town, "sold": day, "rooms": random.integers(1, 8, rows).astype(float)}


def mixed_prices(table: dict[str, Any], seed: int = 4) -> Any:
    """What depends on all of them, with noise."""
    random = np.random.default_rng(seed)
    area = np.nan_to_num(table["area"], nan=40.0)
    near = np.isin(table["town"].astype(str), ["Cork", "Delft", "Ghent"])
    late = np.nan_to_num(
        (table["sold"] - np.datetime64("2024-01-01", "us")) / np.timedelta64(1, "D"), nan=0.0
    )
    return (
        1200 * area + 60_000 * near + 90 * late + 5000 * table["rooms"] + random.normal(0, 18_000, area.size)
    )


def prices_example() -> tuple[Tree, dict[str, Any]]:
    """Numbers to predict, from columns of every kind."""
    table = mixed_table()
    parts = split_in_three(table, mixed_prices(table), np.arange(1500) % 5 == 0)
    tree = grow(parts["train"], min_samples_leaf=5)
    return tree, payload_of(tree, parts, title="What a house costs")


def classes_example(n_classes: int = 6, max_leaf_nodes: int = 60) -> tuple[Tree, dict[str, Any]]:
    """Several classes, columns of every kind, mistakes that cost differently where they are few."""
    table = mixed_table()
    price = mixed_prices(table)
    cuts = np.quantile(price, np.linspace(0, 1, n_classes + 1)[1:-1])
    target = np.array([f"band {chr(65 + i // 26)}{chr(97 + i % 26)}" for i in np.searchsorted(cuts, price)])
    parts = split_in_three(table, target, np.arange(1500) % 5 == 0)
    tree = grow(parts["train"], max_leaf_nodes=max_leaf_nodes)
    costs = None
    if n_classes <= 4:
        costs = (2.0 * (1 - np.eye(n_classes)) + np.tri(n_classes, k=-1)).tolist()
        tree = tree.with_costs(costs)
        parts = {name: encode_again(tree, data) for name, data in parts.items()}
    return tree, payload_of(tree, parts, title="Price bands", costs=costs)


def encode_again(tree: Tree, data: Dataset) -> Dataset:
    """The same rows under the tree's own schema."""
    return replace(data, schema=tree.schema)


def hostile_example() -> tuple[Tree, dict[str, Any]]:
    """Names that would like to be markup, code or a very long line."""
    random = np.random.default_rng(5)
    rows = 400
    names = [HOSTILE, "__proto__", "a\n\"b' <= 3 \u202e", "x" * 3000]
    table: dict[str, Any] = {name: random.normal(size=rows) for name in names}
    words = np.array([HOSTILE, "constructor", "${1+1}", ""], object)
    table["<b>town</b>"] = words[random.integers(0, 4, rows)]
    score = table[HOSTILE] + (table["<b>town</b>"] == HOSTILE) + table["__proto__"] * table["x" * 3000]
    target = np.array([HOSTILE, "<i>no</i>"], object)[(score > 0.3).astype(int)]
    parts = split_in_three(table, target, np.arange(rows) % 4 == 1)
    tree = grow(parts["train"], max_leaf_nodes=12)
    payload = payload_of(tree, parts, title=f"Title {HOSTILE}")
    payload["headline"]["notes"].append(HOSTILE)
    payload["rules"] = dict.fromkeys(("rules", "tree"), f"if {HOSTILE}")
    payload["reproduce"]["parameters"][HOSTILE] = HOSTILE
    return tree, payload


def large_example(rows: int = 62_000, leaves: int = 10_000) -> tuple[Tree, dict[str, Any]]:
    """So many leaves that nobody may draw them all."""
    random = np.random.default_rng(6)
    table = {f"column {i}": random.normal(size=rows) for i in range(8)}
    target = np.where(random.random(rows) < 0.5, "heads", "tails")
    parts = split_in_three(table, target, np.arange(rows) % 10 == 0)
    tree = grow(parts["train"], max_leaf_nodes=leaves)
    return tree, payload_of(tree, parts, title="Noise", chosen=leaves)


def chain_example(depth: int = 10_000) -> tuple[Tree, dict[str, Any]]:
    """A chain: every branch has a leaf on its left."""
    values = np.arange(depth + 1, dtype=float)
    target = np.array(["even", "odd"])[np.arange(depth + 1) % 2]
    data = encode({"x": values}, target)
    n = 2 * depth + 1
    nodes = np.arange(n)
    is_leaf = (nodes % 2 == 1) | (nodes == n - 1)
    counts = np.zeros((n, 2))
    for node in range(n - 1, -1, -1):
        counts[node] = np.eye(2)[(node // 2) % 2] if is_leaf[node] else counts[node + 1] + counts[node + 2]
    tree = Tree(
        end=np.where(is_leaf, nodes + 1, n).astype(np.int32),
        feature=np.where(is_leaf, -1, 0).astype(np.int32),
        threshold=np.where(is_leaf, np.nan, nodes // 2 + 0.5),
        subset=np.full(n, -1, np.int64),
        missing_left=np.zeros(n, bool),
        step=np.where(is_leaf, -1, nodes // 2).astype(np.int32),
        rows=counts.sum(axis=1).astype(np.int64),
        statistic=counts,
        schema=data.schema,
        criterion="gini",
    )
    return tree, payload_of(tree, {"train": data}, title="A chain", chosen=depth + 1)
