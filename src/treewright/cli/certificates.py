"""The last lines of `treewright fit`: how far the saved tree can be wrong."""

from __future__ import annotations

from typing import Any

from treewright.certifying import Certificate, Certificates, certify
from treewright.cli.parts import Parts
from treewright.pruning import METHODS, PruningPath
from treewright.selecting import WAYS
from treewright.selecting.planning import Plan
from treewright.tree import Tree


def certificate_of(
    tree: Tree,
    parts: Parts,
    plan: Plan | None,
    path: PruningPath | None,
    delta: float,
    loss_bound: float | None,
) -> Certificates | str:
    """The certificates of a tree, the one by rows that had no part in it first; or why there is none.

    Without test rows, those that chose the tree bound its error too, at the price of the choice.
    """
    rows = parts.validation if parts.test is None else parts.test
    if not (parts.training if rows is None else rows).weighs_alike:
        return "the rows have different weights, and a guarantee counts every row as one draw"
    if not tree.schema.predicts_classes and rows is None:
        return "what predicted numbers lose cannot be told from training rows; --test 0.2 sets others aside"
    found: list[Certificate] = []
    try:
        if rows is not None:
            options = _of_numbers(tree, loss_bound)
            if parts.test is None:
                assert plan is not None
                assert path is not None
                options |= _of_the_choice(plan, path)
            found.append(certify(tree, test=rows, delta=delta, check_rows=False, **options))
        if tree.schema.predicts_classes and parts.training.weighs_alike:
            found.append(certify(tree, data=parts.training, delta=delta))
    except ValueError as error:
        if not found:
            return str(error).replace("loss_bound", "--loss-bound")
    return Certificates(tuple(found), _estimate(plan, path))


def _of_numbers(tree: Tree, loss_bound: float | None) -> dict[str, Any]:
    if tree.schema.predicts_classes:
        return {}
    loss = "absolute_error" if tree.criterion == "absolute_error" else "squared_error"
    return {"loss": loss, "loss_bound": loss_bound}


def _of_the_choice(plan: Plan, path: PruningPath) -> dict[str, Any]:
    """What the rows have chosen from: all prunings of a tree, or the trees of a path."""
    if METHODS.needs(plan.method, "validation"):
        return {"method": "reduced_error"}
    return {"choices": len(path)}


def _estimate(plan: Plan | None, path: PruningPath | None) -> tuple[float, float, int] | None:
    """What the folds that chose the tree say of it."""
    if plan is None or path is None or plan.by != "folds" or path.standard_error is None:
        return None
    assert path.validation is not None
    n_folds = plan.choosing.get("n_folds", WAYS.options("folds")["n_folds"].default)
    return float(path.validation[path.chosen]), float(path.standard_error[path.chosen]), int(n_folds)
