"""`treewright prune`: a smaller tree of a saved one."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from treewright._text import amount
from treewright.cli import options as opt
from treewright.cli.console import Voice
from treewright.cli.errors import Misuse, check_output, count, in_options, writing_to
from treewright.cli.model_files import open_model
from treewright.cli.pruning_options import AS_USUAL, Method, Pruning, in_words
from treewright.cli.summary import percent, picture, tree_document
from treewright.cli.tables.labelled import rows_for_tree
from treewright.encoding import Dataset
from treewright.pruning import METHODS, PruningPath
from treewright.selecting import WAYS
from treewright.selecting.planning import Plan
from treewright.tree import Tree
from treewright.tree.number_losses import is_squared


def prune(
    model: opt.Model,
    /,
    *,
    output: opt.Output = None,
    method: Method = None,
    pruning: Pruning = AS_USUAL,
    train: opt.Rows = None,
    validation: opt.Rows = None,
    random_state: opt.RandomState = 0,
    labelled: opt.Labelled = opt.LABELLED,
    style: opt.Style = opt.TEXT,
) -> None:
    """Prune a saved tree.

    Without -o the tree is shown, and nothing is written. The certificate of `treewright fit` is for the tree
    before; `treewright report` with --test certifies the smaller one.

    Parameters
    ----------
    output
        The file for the smaller tree.
    train
        The table of the rows that the tree was grown from, for methods that use them.
    validation
        A table of rows that were not used for growing, to choose the size by; if the method does not use
        them, the error on them is printed.

    Examples
    --------
    treewright prune loans.tree.json --leaves 8
        look at the best tree of at most 8 leaves
    treewright prune loans.tree.json --leaves 8 -o small.json
        and keep it
    treewright prune loans.tree.json --validation new.csv -o pruned.json
        the size that is best on rows of new.csv
    treewright prune loans.tree.json --method reduced_error --validation new.csv
        remove every branch that does not help on the rows of new.csv
    """
    if output == opt.PIPE:
        raise Misuse("-o -: the tree is saved to a file; name one")
    if method == "none":
        raise Misuse("--method none would leave the tree as it is")
    if method is None and validation is None and replace(pruning, option=None) == AS_USUAL:
        raise Misuse("say how far to prune: --leaves 8, --alpha 0.001, --validation FILE or another --method")
    plan = pruning.plan(method, "--method")
    assert plan is not None
    takes = {*METHODS.options(plan.method), *(WAYS.options(plan.by) if plan.by is not None else ())}
    if train is not None and "data" not in takes:
        how = f"--method {plan.method}" + ("" if plan.by is None else f" --select {plan.by}")
        raise Misuse(f"--train: {how} uses no such rows; leave it out")
    if output is not None:
        check_output(output, [model, *(path for path in (train, validation) if path is not None)])
    voice = Voice(style)
    with voice.stages() as work:
        tree = open_model(model, work)
        rows = rows_for_tree(model, tree, labelled, {"train": train, "validation": validation}, work)
        work.begin("pruning", f"a tree of {tree.n_leaves:,} leaves")
        path = _path(tree, plan, rows, random_state)
        if output is not None:
            with writing_to(output):
                path.pruned.save(output)
    tell = voice.answer if output is None else voice.summarize
    tell(
        lambda: _text(tree, plan, path, output),
        lambda: {
            "model": str(model),
            "method": plan.method,
            "chosen_by": path.details.get("chosen_by"),
            "leaves_before": tree.n_leaves,
            "tree": tree_document(path.pruned),
            "loss": _losses(tree, path),
            "files": {} if output is None else {"model": str(output)},
        },
    )


def _path(tree: Tree, plan: Plan, rows: dict[str, Dataset], random_state: int) -> PruningPath:
    """The path with one tree chosen; errors about rows that are needed name their options."""
    others = {"by": "--select ", "raising": "--option raising="}
    with in_options(data="--train", validation="--validation", **others):
        return plan.path(tree, rows.get("train"), rows.get("validation"), {}, random_state)


def _losses(tree: Tree, path: PruningPath) -> dict[str, Any]:
    """The loss before and after, on the rows that grew the tree and on those of --validation."""
    before = float(tree.mean(np.maximum(tree.loss[tree.is_leaf].sum(), 0.0)))
    losses = {"training": {"before": before, "after": float(path.training[path.chosen])}}
    if path.validation is not None:
        pair = path.validation[0], path.validation[path.chosen]
        losses["validation"] = {"before": float(pair[0]), "after": float(pair[1])}
    return losses


def _text(tree: Tree, plan: Plan, path: PruningPath, output: Path | None) -> str:
    sizes = f"{count(tree.n_leaves, 'leaf')} → {path.pruned.n_leaves:,}"
    lines = [f"{sizes} by {in_words(plan, path.details)}", *_loss_lines(tree, path)]
    if output is not None:
        lines.append(f"Saved to {output}")
    return "\n".join([*lines, "", picture(path.pruned)])


def _loss_lines(tree: Tree, path: PruningPath) -> list[str]:
    """The losses as lines; of squared errors the root, which is in the unit of the target."""
    schema, squared = tree.schema, is_squared(tree.criterion)
    what = "mean cost" if schema.has_costs else "error" if schema.predicts_classes else "mean loss"
    what = "root mean squared error" if squared else what

    def text(loss: float) -> str:
        return percent(loss) if what == "error" else amount(math.sqrt(loss) if squared else loss)

    losses = _losses(tree, path).items()
    return [f"{what} on {part} rows: {text(pair['before'])} → {text(pair['after'])}" for part, pair in losses]
