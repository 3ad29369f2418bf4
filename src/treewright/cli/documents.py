"""What the commands tell programs (`--json`): the same facts as the text for people, as dicts."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from treewright._version import __version__
from treewright.certifying import Certificates
from treewright.cli.summary import Fit, missing_cells
from treewright.encoding import Dataset
from treewright.metrics import measure
from treewright.tree import Tree
from treewright.tree.wording import number_in_words, surrogate_in_words, way_in_words


def fit_document(path: str | os.PathLike[str], fit: Fit, files: dict[str, str]) -> dict[str, Any]:
    """A fit: the table, the tree, its errors on each part of the rows, its certificate, the files written."""
    rows = {"training": fit.parts.training, "validation": fit.parts.validation, "test": fit.parts.test}
    return {
        "treewright": __version__,
        "table": {"file": os.fspath(path), **_table(fit.data), "rows_dropped": fit.dropped},
        "target": _target(fit.data),
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


def _table(data: Dataset) -> dict[str, Any]:
    kinds = [column.kind for column in data.schema.columns]
    counts = {kind: kinds.count(kind) for kind in ("number", "category", "time")}
    return {"rows": data.n_rows, "columns": len(kinds), "kinds": counts, "missing": missing_cells(data)}


def _target(data: Dataset) -> dict[str, Any]:
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
