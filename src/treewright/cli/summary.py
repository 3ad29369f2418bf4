"""The summary of `treewright fit`: the table, the use of its rows, the errors, the tree, its certificate."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright._text import aligned, escape, number_text
from treewright._version import __version__
from treewright.advising.naming import shell_word
from treewright.certifying import Certificates
from treewright.cli.console import in_colour, terminal_width
from treewright.cli.errors import count
from treewright.cli.pruning_options import in_words
from treewright.cli.splits import FEWEST_ROWS, Parts, is_small
from treewright.encoding import Dataset
from treewright.encoding.kinds import KINDS
from treewright.exporting.text import render
from treewright.metrics import Metrics, class_word, measure
from treewright.optimising import Optimum
from treewright.pruning import PruningPath
from treewright.selecting.planning import Plan
from treewright.tree import Tree
from treewright.tree.wording import number_in_words, surrogate_in_words, way_in_words

MOST_LEAVES = 30  # of a tree that is shown as a whole
FIRST_LEVELS = 3  # of a larger one
MOST_CLASSES = 6  # that are named with their shares


@dataclass(frozen=True)
class Fit:
    """The results of a fit."""

    data: Dataset  # all rows of the table
    n_dropped: int  # rows without a target
    parts: Parts
    test_file: str | None
    plan: Plan | None
    unpruned: Tree
    tree: Tree
    path: PruningPath | None
    scores: dict[str, Metrics]  # by part: training, validation, test
    certificate: Certificates | str
    seconds: dict[str, float]  # of each stage
    optimum: Optimum | None = None  # of a tree that was searched, not grown


def _duration(seconds: float) -> str:
    """
    >>> _duration(0.0123), _duration(2.345)
    ('12 ms', '2.3 s')
    """
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def summary(path: str | os.PathLike[str], fit: Fit) -> str:
    """All about a new tree but its files and its certificate."""
    part = next(name for name in ("test", "validation", "training") if name in fit.scores)
    metrics = fit.scores[part]
    positive = "" if metrics.positive is None else f", for {class_word(metrics.positive.name)}"
    figures = ", ".join(f"{name} {value}" for name, value in metrics.figures)
    lines = [_table(path, fit.data, fit.n_dropped), _target(fit.data), metrics.comparison(part), ""]
    lines += [_rows(fit), _sizes(fit), "", *_scores(fit.scores), f"on {part} rows{positive}: {figures}"]
    return "\n".join([*lines, "", picture(fit.tree)])


def picture(tree: Tree) -> str:
    """A tree as text; of a large one the first levels."""
    levels = None if tree.n_leaves <= MOST_LEAVES else FIRST_LEVELS
    text = render(tree, max_depth=levels, color=in_colour(), width=terminal_width())
    if levels is None:
        return text
    return f"{text}\n\nThese are the first {levels} of {tree.height} levels; treewright show has all of them"


def files_text(files: dict[str, str]) -> str:
    """The files that a fit wrote, and what they are for."""
    model, report = files["model"], files.get("report")
    uses = f"Saved to {model}; treewright predict {shell_word(model)} NEW.csv uses it"
    return uses if report is None else f"{uses}\nAll about it in {report}; open it in a browser"


def certificate_text(fit: Fit) -> str:
    """The last lines of a fit."""
    return f"no certificate: {fit.certificate}" if isinstance(fit.certificate, str) else str(fit.certificate)


def _rows(fit: Fit) -> str:
    """Which rows were used for what."""
    parts, prunes_alone = fit.parts, fit.plan is not None and fit.parts.validation is None
    how = "grown and pruned from" if prunes_alone else "grown from"
    how = how if fit.optimum is None else "the best tree of"
    text = f"{how} {count(parts.training.n_rows, 'row')}"
    if parts.validation is not None:
        text += f", pruned by {parts.validation.n_rows:,}"
    if parts.test is not None:
        text += f", tested on {parts.test.n_rows:,}"
        text += "" if fit.test_file is None else f" of {fit.test_file}"
    return text


def _sizes(fit: Fit) -> str:
    """The sizes before and after pruning; of the best tree what is proved of it."""
    if fit.optimum is not None:
        return str(fit.optimum)
    time = _duration(fit.seconds["growing"])
    before = f"{count(fit.unpruned.n_leaves, 'leaf')} grown by {fit.tree.criterion} in {time}"
    if fit.plan is None or fit.path is None:
        small = f" (fewer than {FEWEST_ROWS} rows; --prune prunes)" if is_small(fit.data) else ""
        return f"{before}, depth {fit.tree.height}; not pruned{small}"
    how = f"{in_words(fit.plan, fit.path.details)} in {_duration(fit.seconds['pruning'])}"
    return f"{before}; {fit.tree.n_leaves:,} kept, depth {fit.tree.height}, by {how}"


def _table(path: str | os.PathLike[str], data: Dataset, n_dropped: int) -> str:
    facts = _table_document(data)
    kinds = ", ".join(count(number, kind) for kind, number in facts["kinds"].items() if number)
    text = f"{os.fspath(path)}: {count(data.n_rows, 'row')}, {count(data.n_columns, 'column')} ({kinds})"
    if facts["missing"]:
        text += f", {count(facts['missing'], 'missing value')}"
    return text + (f"; {count(n_dropped, 'row')} without a target left out" if n_dropped else "")


def _target(data: Dataset) -> str:
    target, facts = data.schema.targets[0], _target_document(data)
    name = escape(target.name)
    if target.classes is None:
        return f"target {name}: numbers from {number_text(facts['least'])} to {number_text(facts['most'])}"
    order = np.argsort(-facts["shares"], kind="stable")
    largest = order[:MOST_CLASSES]
    shares = [f"{class_word(target.classes[code])} {percent(facts['shares'][code])}" for code in largest]
    more = ["…"] if len(order) > MOST_CLASSES else []
    return f"target {name}: {count(len(order), 'class')}: {', '.join(shares + more)}"


def percent(share: float) -> str:
    """A share as a percentage; only zero is 0 %.

    >>> percent(0.1234), percent(0.0001), percent(0.0)
    ('12.3 %', '< 0.1 %', '0 %')
    """
    return "0 %" if share == 0 else "< 0.1 %" if share < 0.0005 else f"{100 * share:.1f} %"


def _scores(scores: dict[str, Metrics]) -> list[str]:
    """The errors as a table: on each part of the rows, of the tree and of a constant prediction."""
    first = scores["training"]
    rows = [[first.measure, "tree", f"always {first.constant_in_words}"]]
    rows += [
        [f"on {part} rows", own.in_words(own.error), own.in_words(own.constant_error)]
        for part, own in scores.items()
    ]
    return aligned(rows, right=(1, 2))


def fit_document(path: str | os.PathLike[str], fit: Fit, files: dict[str, str]) -> dict[str, Any]:
    """A fit: the table, the tree, its errors on each part of the rows, its certificate, the files written."""
    rows = {"training": fit.parts.training, "validation": fit.parts.validation, "test": fit.parts.test}
    return {
        "treewright": __version__,
        "table": {"file": os.fspath(path), **_table_document(fit.data), "rows_dropped": fit.n_dropped},
        "target": _target_document(fit.data),
        "tree": {**tree_document(fit.tree), "leaves_grown": fit.unpruned.n_leaves},
        "pruning": _pruning(fit),
        **_optimum_document(fit.optimum),
        "loss": measure(fit.tree),
        "parts": {
            part: {
                "rows": data.n_rows,
                "error": fit.scores[part].error,
                "error_of_root": fit.scores[part].constant_error,
                **fit.scores[part].document(),
            }
            for part, data in rows.items()
            if data is not None
        },
        **certificates_document(fit.certificate),
        "seconds": fit.seconds,
        "files": files,
    }


def _table_document(data: Dataset) -> dict[str, Any]:
    kinds = [column.kind for column in data.schema.columns]
    pairs = zip(data.schema.columns, data.columns, strict=True)
    return {
        "rows": data.n_rows,
        "columns": len(kinds),
        "kinds": {kind: sum(each == kind for each in kinds) for kind in KINDS},
        "missing": sum(int(column.type.is_unknown(cells).sum()) for column, cells in pairs),
    }


def _target_document(data: Dataset) -> dict[str, Any]:
    target, values = data.schema.targets[0], data.targets
    assert values is not None
    if target.classes is None:
        return {"name": target.name, "least": values.min(), "most": values.max()}
    weights = np.bincount(values[0], data.weight, minlength=len(target.classes))
    return {"name": target.name, "classes": target.classes, "shares": weights / weights.sum()}


def _optimum_document(optimum: Optimum | None) -> dict[str, Any]:
    """What is proved of the best tree; nothing of a grown one."""
    if optimum is None:
        return {}
    return {"optimum": {name: fact for name, fact in optimum.to_dict().items() if name != "history"}}


def _pruning(fit: Fit) -> dict[str, Any] | None:
    if fit.plan is None or fit.path is None:
        return None
    plan = fit.plan
    options = {**plan.pruning, **plan.choosing}
    return {
        "method": plan.method,
        "select": plan.by,
        "options": {name: v for name, v in options.items() if isinstance(v, str | int | float | None)},
        "chosen_by": fit.path.details.get("chosen_by"),
        "trees": len(fit.path),
    }


def tree_document(tree: Tree) -> dict[str, Any]:
    """The facts about a tree as a whole."""
    return {
        "target": [target.name for target in tree.schema.targets],
        "classes": [target.classes for target in tree.schema.targets if target.classes is not None],
        "columns": [column.name for column in tree.schema.columns],
        "leaves": tree.n_leaves,
        "depth": tree.height,
        "rows": tree.rows[0],
        "criterion": tree.criterion,
        "missing": tree.missing,
    }


def nodes_document(tree: Tree, max_depth: int | None = None) -> list[dict[str, Any]]:
    """The nodes of a tree in preorder: the test that leads to each, its rows, its prediction."""
    nodes = []
    for node, depth in enumerate(tree.levels.tolist()):
        if tree.joined[node] or (max_depth is not None and depth > max_depth):
            continue
        nodes.append(
            {
                "node": node,
                "depth": depth,
                "condition": way_in_words(tree, node, longest=2**31) if node else None,
                "rows": tree.rows[node],
                "answers": [_answer(tree, node, which) for which in range(len(tree.schema.targets))],
                "is_leaf": tree.is_leaf[node],
                **_surrogates(tree, node),
            }
        )
    return nodes


def _surrogates(tree: Tree, node: int) -> dict[str, Any]:
    """The surrogate splits of a node, if it has any."""
    if not len(tree.surrogates) or tree.is_leaf[node]:
        return {}
    splits = [
        {
            "left_where": surrogate_in_words(tree, entry, longest=2**31),
            "agreement": tree.surrogates.agreement[entry],
            "adjusted": tree.surrogates.adjusted[entry],
        }
        for entry in tree.surrogates.of(node)
    ]
    return {"surrogates": splits, "else_left": tree.missing_left[node]}


def _answer(tree: Tree, node: int, which: int) -> Any:
    classes = tree.schema.targets[which].classes
    if tree.linear is not None:
        return number_in_words(tree, node)
    return tree.value[node, which] if classes is None else classes[tree.label[node, which]]


def certificates_document(certificates: Certificates | str) -> dict[str, Any]:
    """The certificates of a tree, the strongest first, or the reason why there are none."""
    if isinstance(certificates, str):
        return {"certificates": [], "no_certificate": certificates}
    document: dict[str, Any] = {"certificates": [each.to_dict() for each in certificates.certificates]}
    if certificates.estimate is not None:
        mean, error, folds = certificates.estimate
        document["estimate"] = {"mean": mean, "standard_error": error, "folds": folds}
    return document
