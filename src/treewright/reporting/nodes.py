"""The tree of a report: its nodes in preorder, tests that the page can evaluate, and their wording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright._text import escape, label_text, number_text
from treewright.reporting.rounding import ALL_DIGITS, short, shorts
from treewright.tree import Tree
from treewright.tree.conditions import SubsetTest
from treewright.tree.missing import columns_with_missing
from treewright.tree.oblique import asked_columns
from treewright.tree.wording import branch_in_words, surrogate_in_words, way_in_words

Ints = NDArray[np.int64]
MOST_NAMED = 200  # categories of a column that the page lists by name …
MOST_CODES = 100_000  # … fewer where many nodes would list them
FEWEST_NAMED = 12
MOST_PAIRS = 200_000  # (class, share) at all nodes
_FEW_NAMES = 3  # of categories in the words of a surrogate
_FEW_BRANCHES = 2_000  # from so many on, a test names fewer categories


def tree_facts(tree: Tree, named: dict[int, Ints]) -> dict[str, Any]:
    """The arrays of the tree; `named` has the categories of each column that the page lists."""
    inner = np.flatnonzero(~tree.is_leaf)
    is_classes = tree.schema.predicts_classes
    risk = float(tree.risk[0])
    value = None if is_classes else tree.value[:, 0]
    is_whole = tree.missing != "fractional"  # predictions for fractional rows are sums, which must be exact
    return {
        "end": tree.end.tolist(),
        "feature": tree.feature.tolist(),
        "threshold": [_threshold(value) for value in tree.threshold.tolist()],
        "left_categories": _left_categories(tree, named),
        "missing_left": tree.missing_left.astype(int).tolist(),
        "heavier_left": tree.heavier_left.astype(int).tolist(),
        **_wording(tree, inner.tolist()),
        "answer": predictions(tree),
        "label": tree.label[:, 0].tolist() if is_classes else [-1] * tree.n_nodes,
        "value": [None] * tree.n_nodes if value is None else shorts(value, 8 if is_whole else ALL_DIGITS),
        "gain": shorts(tree.gain / risk if risk > 0 else tree.gain, 4),
        "step": tree.step.tolist(),
        **_on_missing(tree),
    }


def _on_missing(tree: Tree) -> dict[str, Any]:
    """The treatment of missing values, where it is not a learnt side."""
    if tree.missing == "learn":
        return {}
    facts: dict[str, Any] = {"missing": tree.missing}
    if tree.missing == "fractional":
        facts |= _shares(tree)
    return facts


def _shares(tree: Tree) -> dict[str, Any]:
    """The fractions of a row that go left and right at each node, and the share of each class there, as pairs
    [code, share], in full precision: the last digit may decide the prediction.
    """
    inner = ~tree.is_leaf
    left, right = np.ones(tree.n_nodes), np.zeros(tree.n_nodes)
    left[inner] = tree.weight[tree.left[inner]] / tree.weight[inner]
    right[inner] = tree.weight[tree.right[inner]] / tree.weight[inner]
    facts: dict[str, Any] = {"left_share": left.tolist(), "right_share": right.tolist()}
    if not tree.schema.predicts_classes:
        return facts
    pairs, total = [], 0
    for node in range(tree.n_nodes):
        [shares] = tree.shares(np.array([node]))[:1]
        codes = np.flatnonzero(shares[0])
        total += len(codes)
        if total > MOST_PAIRS:  # without them the page uses the class weights
            return facts
        pairs.append(
            [[code, share] for code, share in zip(codes.tolist(), shares[0, codes].tolist(), strict=True)]
        )
    return facts | {"class_shares": pairs}


def surrogate_facts(
    tree: Tree, named: dict[int, Ints], place: Mapping[int, int]
) -> dict[str, list[dict[str, Any]]] | None:
    """The surrogates of each node, the best first: tests that the page can evaluate, with their wording."""
    surrogates = tree.surrogates
    if not len(surrogates):
        return None
    found: dict[str, list[dict[str, Any]]] = {}
    for entry, node in enumerate(surrogates.node.tolist()):
        column = int(surrogates.feature[entry])
        facts: dict[str, Any] = {
            "column": place[column],
            "words": surrogate_in_words(tree, entry, longest=_FEW_NAMES),
            "other_words": surrogate_in_words(tree, entry, False, longest=_FEW_NAMES),
            "reversed": bool(surrogates.reversed[entry]),
            "agreement": short(float(surrogates.agreement[entry]), 4),
            "adjusted": short(float(surrogates.adjusted[entry]), 4),
        }
        test = surrogates.test(entry, tree.schema)
        if isinstance(test, SubsetTest):
            facts["codes"] = np.flatnonzero(test.passes[named[column]]).tolist()
        else:
            facts["threshold"] = _threshold(float(surrogates.threshold[entry]))
        found.setdefault(str(node), []).append(facts)
    return found


def predictions(tree: Tree) -> list[str]:
    """The prediction of each node, in words."""
    if not tree.schema.predicts_classes:
        return [number_text(value) for value in tree.value[:, 0].tolist()]
    classes = class_words(tree)
    return [classes[code] for code in tree.label[:, 0].tolist()]


def class_words(tree: Tree) -> list[str]:
    """The names of the classes, in the order of their codes."""
    return [label_text(name) for name in tree.schema.targets[0].classes or ()]


def _threshold(value: float) -> float | str | None:
    """In full precision; JSON has no infinity, so that it is text."""
    if value != value:
        return None
    return value if abs(value) < np.inf else "inf" if value > 0 else "-inf"


def _wording(tree: Tree, inner: list[int]) -> dict[str, Any]:
    learnt = columns_with_missing(tree)
    longest = 6 if len(inner) <= _FEW_BRANCHES else 3
    words: dict[str, Any] = {"left_words": [""] * tree.n_nodes, "right_words": [""] * tree.n_nodes}
    for node in inner:
        for texts, is_left in zip(words.values(), (True, False), strict=True):
            texts[node] = branch_in_words(tree, node, is_left, learnt=learnt, longest=longest)
    if not tree.joined.any():
        return words
    many = np.unique(tree.heads[tree.joined])
    for node in many.tolist():  # the branches have the conditions
        words["left_words"][node] = escape(tree.tested[tree.feature[node]].name)
    below = np.flatnonzero(np.isin(tree.heads[tree.parent], many) & (tree.parent >= 0))
    into = {str(node): way_in_words(tree, node, learnt=learnt, longest=longest) for node in below.tolist()}
    return words | {"joined": tree.joined.astype(int).tolist(), "into_words": into}


def _left_categories(tree: Tree, named: dict[int, Ints]) -> dict[str, list[int]]:
    """The categories that go left, among those that the page lists, as positions in `named`."""
    return {
        str(node): np.flatnonzero(tree.goes_left(node)[named[int(tree.feature[node])]]).tolist()
        for node in np.flatnonzero(tree.subset >= 0).tolist()
    }


def named_categories(tree: Tree, counts: dict[int, NDArray[Any]]) -> dict[int, Ints]:
    """For each categorical column that is tested, the categories that the page lists: all of a few, of
    many the most frequent ones (`counts`), in the order of their codes.
    """
    others = tree.surrogates
    tests = int(np.sum(tree.subset >= 0)) + int(np.sum(others.subset >= 0))
    most = int(np.clip(MOST_CODES // max(tests, 1), FEWEST_NAMED, MOST_NAMED))
    found = {}
    tested = np.concatenate([tree.feature[tree.subset >= 0], others.feature[others.subset >= 0]])
    for column in np.unique(tested).tolist():
        n = len(tree.schema.columns[column].categories)
        rows = counts.get(column, np.zeros(n))
        found[column] = np.sort(np.argsort(-rows, kind="stable")[:most])
    return found


def column_facts(
    tree: Tree, named: dict[int, Ints], columns: list[int], known: dict[int, dict[str, Any]]
) -> list[dict[str, Any]]:
    """The columns of the page; `known` has the summary of each on the training rows."""
    used, learnt = set(asked_columns(tree)), columns_with_missing(tree)
    found = []
    for i in columns:
        column, codes, rows = tree.schema.columns[i], named.get(i, np.zeros(0, np.int64)), known.get(i, {})
        typical = rows.get("typical")
        if typical is not None and column.type.is_category:
            typical = int(np.searchsorted(codes, typical)) if typical in codes else None
        facts = {
            "name": column.name,
            "kind": column.kind,
            "categories": [label_text(column.categories[code]) for code in codes.tolist()],
            "met_missing": i in learnt or bool(rows.get("missing", False)),
            "typical": typical,
            "least": rows.get("least"),
            "most": rows.get("most"),
            "used": i in used,
        }
        if len(column.categories) > len(codes) > 0:
            facts["unnamed"] = len(column.categories) - len(codes)
        found.append(facts)
    return found


def sum_facts(tree: Tree, place: Mapping[int, int]) -> list[dict[str, Any]] | None:
    """The weighted sums that an oblique tree tests: name and terms, each a column (by its index on the page)
    and its weight, in the order of summation.
    """
    names = [column.name for column in tree.tested[len(tree.schema.columns) :]]
    return [
        {
            "name": name,
            "terms": [[place[j], w] for j, w in zip(direction.columns, direction.weights, strict=True)],
        }
        for name, direction in zip(names, tree.directions, strict=True)
    ] or None


def column_summaries(tree: Tree, cells: list[NDArray[Any]]) -> dict[int, dict[str, Any]]:
    """For the columns that are tested: median and range of numbers, frequencies of categories."""
    found = {}
    for i in asked_columns(tree):
        column, values = tree.schema.columns[i], cells[i]
        if column.type.is_category:
            counts = np.bincount(values[values >= 0], minlength=len(column.categories))
            facts: dict[str, Any] = {"counts": counts, "missing": bool((values == -1).any())}
            if counts.any():
                facts["typical"] = int(counts.argmax())
        else:
            there = np.asarray(values[np.isfinite(values)], np.float64)
            facts = {"missing": bool(np.isnan(values).any())}
            if there.size:
                ends = (float(there.min()), float(there.max()))
                facts |= {"least": short(ends[0], 12), "most": short(ends[1], 12)}
                facts["typical"] = short(float(np.median(there)), 12)
        found[i] = facts
    return found
