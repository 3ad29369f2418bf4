"""What `treewright fit` tells: the table, which rows did what, the errors, the tree, its certificate."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright._text import aligned, escape
from treewright._version import __version__
from treewright.certifying import Certificates
from treewright.cli.console import in_colour, terminal_width
from treewright.cli.errors import count
from treewright.cli.pruning_options import in_words
from treewright.cli.splits import FEWEST_ROWS, Parts, is_small
from treewright.encoding import Dataset
from treewright.exporting.text import render
from treewright.metrics import Metrics, class_word, measure
from treewright.pruning import PruningPath
from treewright.selecting.planning import Plan
from treewright.tree import Tree
from treewright.tree.wording import number_in_words, surrogate_in_words, way_in_words

MOST_LEAVES = 30  # of a tree that is shown as a whole
FIRST_LEVELS = 3  # of a larger one
MOST_CLASSES = 6  # that are named with their shares


@dataclass(frozen=True)
class Fit:
    """A fit, as far as there is something to tell of it."""

    data: Dataset  # all rows of the table
    dropped: int  # rows without a target
    parts: Parts
    test_file: str | None
    plan: Plan | None
    grown: Tree
    tree: Tree
    path: PruningPath | None
    scores: dict[str, Metrics]  # by part: training, validation, test
    certificate: Certificates | str
    seconds: dict[str, float]  # of each stage

    @property
    def judged(self) -> tuple[str, Metrics]:
        """The part whose rows say most about new ones, and the metrics on it."""
        part = (
            "test" if "test" in self.scores else "validation" if "validation" in self.scores else "training"
        )
        return part, self.scores[part]


def _duration(seconds: float) -> str:
    """
    >>> _duration(0.0123), _duration(2.345)
    ('12 ms', '2.3 s')
    """
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def summary(path: str | os.PathLike[str], fit: Fit) -> str:
    """All that is told of a new tree before it is saved, as lines."""
    lines = [_table(path, fit.data, fit.dropped), _target(fit.data), headline(fit), ""]
    lines += [_dealt(fit), _pruned(fit), "", *_scores(fit.scores), *_figures(fit), "", picture(fit.tree)]
    return "\n".join(lines)


def headline(fit: Fit) -> str:
    """The error on the rows that say most about new ones, beside that of a constant answer."""
    part, found = fit.judged
    return found.comparison(part)


def picture(tree: Tree) -> str:
    """A tree as text; of a large one the first levels."""
    shown = None if tree.n_leaves <= MOST_LEAVES else FIRST_LEVELS
    text = render(tree, max_depth=shown, color=in_colour(), width=terminal_width())
    if shown is None:
        return text
    levels = f"These are the first {FIRST_LEVELS} of {tree.height} levels; treewright show has all of them"
    return f"{text}\n\n{levels}"


def where(files: dict[str, str]) -> str:
    """Which files a fit has left, and what they are for."""
    model, report = files["model"], files.get("report")
    uses = f"Saved to {model}; treewright predict {model} NEW.csv uses it"
    return uses if report is None else f"{uses}\nAll about it in {report}; open it in a browser"


def certificate(fit: Fit) -> str:
    """The last lines of a fit."""
    return f"no certificate: {fit.certificate}" if isinstance(fit.certificate, str) else str(fit.certificate)


def _dealt(fit: Fit) -> str:
    """Which rows did what."""
    parts, by_itself = fit.parts, fit.plan is not None and fit.parts.validation is None
    text = f"{'grown and pruned' if by_itself else 'grown'} from {count(parts.training.n_rows, 'row')}"
    if parts.validation is not None:
        text += f", pruned by {parts.validation.n_rows:,}"
    if parts.test is not None:
        text += f", tested on {parts.test.n_rows:,}"
        text += "" if fit.test_file is None else f" of {fit.test_file}"
    return text


def _pruned(fit: Fit) -> str:
    """The size before and after."""
    took = _duration(fit.seconds["growing"])
    grown = f"{in_leaves(fit.grown.n_leaves)} grown by {fit.tree.criterion} in {took}"
    if fit.plan is None or fit.path is None:
        small = f" (fewer than {FEWEST_ROWS} rows; --prune prunes)" if is_small(fit.data) else ""
        return f"{grown}, depth {fit.tree.height}; not pruned{small}"
    how = f"{in_words(fit.plan, fit.path.details)} in {_duration(fit.seconds['pruning'])}"
    return f"{grown}; {fit.tree.n_leaves:,} kept, depth {fit.tree.height}, by {how}"


def in_leaves(number: int) -> str:
    """The size of a tree."""
    return "1 leaf" if number == 1 else f"{number:,} leaves"


def _table(path: str | os.PathLike[str], data: Dataset, dropped: int) -> str:
    kinds = [column.kind for column in data.schema.columns]
    counted = [count(kinds.count(kind), kind) for kind in ("number", "category", "time") if kind in kinds]
    missing = missing_cells(data)
    size = f"{count(data.n_rows, 'row')}, {count(len(kinds), 'column')}"
    text = f"{os.fspath(path)}: {size} ({', '.join(counted)})"
    if missing:
        text += f", {count(missing, 'missing value')}"
    return text + (f"; {count(dropped, 'row')} without a target left out" if dropped else "")


def missing_cells(data: Dataset) -> int:
    """How many cells of a table are missing."""
    pairs = zip(data.schema.columns, data.columns, strict=True)
    return sum(
        int(np.sum(cells < 0 if column.kind == "category" else np.isnan(cells))) for column, cells in pairs
    )


def _target(data: Dataset) -> str:
    target, values = data.schema.targets[0], data.targets
    assert values is not None
    name = escape(target.name)
    if target.classes is None:
        return f"target {name}: numbers from {values.min():.6g} to {values.max():.6g}"
    weights = np.bincount(values[0], data.weight, minlength=len(target.classes))
    order = np.argsort(-weights, kind="stable")
    named = [
        f"{class_word(target.classes[code])} {percent(weights[code] / weights.sum())}"
        for code in order[:MOST_CLASSES]
    ]
    more = ["…"] if len(order) > MOST_CLASSES else []
    return f"target {name}: {count(len(order), 'class')}: {', '.join(named + more)}"


def percent(share: float) -> str:
    """A share as per cent; only none is 0 %.

    >>> percent(0.1234), percent(0.0001), percent(0.0)
    ('12.3 %', '< 0.1 %', '0 %')
    """
    return "0 %" if share == 0 else "< 0.1 %" if share < 0.0005 else f"{100 * share:.1f} %"


def _scores(scores: dict[str, Metrics]) -> list[str]:
    """The errors as a table: on the rows learnt from, on others, and without a tree."""
    first = scores["training"]
    rows = [[first.measure, "tree", f"always {first.constant_in_words}"]]
    rows += [
        [f"on {part} rows", own.in_words(own.error), own.in_words(own.constant_error)]
        for part, own in scores.items()
    ]
    return aligned(rows, right=(1, 2))


def _figures(fit: Fit) -> list[str]:
    """What belongs beside the error: recall, precision, balanced accuracy and AUC, or R² and MAE."""
    part, found = fit.judged
    told = ", ".join(f"{name} {value}" for name, value in found.figures)
    positive = "" if found.positive is None else f", for {class_word(found.positive.name)}"
    return [f"on {part} rows{positive}: {told}"]


def fit_document(path: str | os.PathLike[str], fit: Fit, files: dict[str, str]) -> dict[str, Any]:
    """A fit: the table, the tree, its errors on each part of the rows, its certificate, the files written."""
    rows = {"training": fit.parts.training, "validation": fit.parts.validation, "test": fit.parts.test}
    return {
        "treewright": __version__,
        "table": {"file": os.fspath(path), **_table_document(fit.data), "rows_dropped": fit.dropped},
        "target": _target_document(fit.data),
        "tree": {**tree_document(fit.tree), "leaves_grown": fit.grown.n_leaves},
        "pruning": _pruning(fit),
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
    counts = {kind: kinds.count(kind) for kind in ("number", "category", "time")}
    return {"rows": data.n_rows, "columns": len(kinds), "kinds": counts, "missing": missing_cells(data)}


def _target_document(data: Dataset) -> dict[str, Any]:
    target, values = data.schema.targets[0], data.targets
    assert values is not None
    if target.classes is None:
        return {"name": target.name, "least": values.min(), "most": values.max()}
    weights = np.bincount(values[0], data.weight, minlength=len(target.classes))
    return {"name": target.name, "classes": target.classes, "shares": weights / weights.sum()}


def _pruning(fit: Fit) -> dict[str, Any] | None:
    if fit.plan is None or fit.path is None:
        return None
    plan = fit.plan
    options = {**plan.pruning, **plan.choosing}
    return {
        "method": plan.method,
        "select": plan.by,
        "options": {name: value for name, value in options.items() if _is_plain(value)},
        "chosen_by": fit.path.details.get("chosen_by"),
        "trees": len(fit.path),
    }


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def tree_document(tree: Tree) -> dict[str, Any]:
    """A tree in a few words."""
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
    """The nodes of a tree in preorder: what leads to each, its rows, its answer."""
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
    """What decides for a missing value at a node, if other columns do."""
    if not len(tree.surrogates) or tree.is_leaf[node]:
        return {}
    told = [
        {
            "left_where": surrogate_in_words(tree, entry, longest=2**31),
            "agreement": tree.surrogates.agreement[entry],
            "adjusted": tree.surrogates.adjusted[entry],
        }
        for entry in tree.surrogates.of(node)
    ]
    return {"surrogates": told, "else_left": tree.missing_left[node]}


def _answer(tree: Tree, node: int, which: int) -> Any:
    classes = tree.schema.targets[which].classes
    if tree.linear is not None:
        return number_in_words(tree, node)
    return tree.value[node, which] if classes is None else classes[tree.label[node, which]]


def certificates_document(certificates: Certificates | str) -> dict[str, Any]:
    """The certificates of a tree, the strongest first, or why there are none."""
    if isinstance(certificates, str):
        return {"certificates": [], "no_certificate": certificates}
    document: dict[str, Any] = {"certificates": [each.to_dict() for each in certificates.certificates]}
    if certificates.estimate is not None:
        mean, error, folds = certificates.estimate
        document["estimate"] = {"mean": mean, "standard_error": error, "folds": folds}
    return document
