"""`treewright prune`: a smaller tree of a saved one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np

from treewright.cli.console import Voice
from treewright.cli.errors import Misuse, check_output, in_options, writing_to
from treewright.cli.model_files import open_model
from treewright.cli.options import (
    PIPE,
    PRUNING,
    ROWS,
    USUAL,
    Dialect,
    Json,
    Model,
    NotNegative,
    Output,
    Positive,
    Quiet,
    Repeated,
    Rows,
    Seed,
    Weights,
)
from treewright.cli.pruning_options import in_words, planned
from treewright.cli.summary import in_leaves, percent, picture, tree_document
from treewright.cli.tables.labelled import Labelling
from treewright.encoding import Dataset
from treewright.pruning import METHODS, PruningPath
from treewright.selecting import WAYS
from treewright.selecting.planning import Plan
from treewright.tree import Tree


def prune(
    model: Model,
    /,
    *,
    output: Output = None,
    method: Annotated[str | None, PRUNING] = None,
    select: Annotated[str | None, PRUNING] = None,
    leaves: Annotated[Positive, PRUNING] = None,
    alpha: Annotated[NotNegative, PRUNING] = None,
    option: Annotated[Repeated, PRUNING] = None,
    train: Annotated[Rows, ROWS] = None,
    validation: Annotated[Rows, ROWS] = None,
    seed: Annotated[Seed, ROWS] = 0,
    weights: Weights = None,
    dialect: Dialect = USUAL,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make a smaller tree of a saved one.

    Without -o the tree is shown, and nothing is written. The guarantee that `treewright fit` gave was for the
    tree as it was; `treewright report` with --test makes one for the smaller tree.

    Parameters
    ----------
    output
        The file for the smaller tree.
    method
        How: cost_complexity (the default), bottom_up, bound, chi_squared, minimum_errors, pessimistic,
        reduced_error, srm.
    select
        Who chooses, where the method makes several trees: held_out (the rows of --validation), leaves, srm,
        certificate.
    leaves
        Prune to at most this many leaves.
    alpha
        Prune at this price of a leaf: splits that spare fewer errors, as a share of the rows, are cut.
    option
        Another option of the method or of the choice, as name=value; may be repeated.
    train
        The table of the rows that the tree was grown from, for methods that look at them.
    validation
        A table of rows that had no part in growing it, to choose by; where they do not choose, their error is
        told.

    Examples
    --------
    treewright prune loans.tree.json --leaves 8
        look at the best tree of at most 8 leaves
    treewright prune loans.tree.json --leaves 8 -o small.json
        and keep it
    treewright prune loans.tree.json --validation new.csv -o pruned.json
        the size that is best on rows of new.csv
    treewright prune loans.tree.json --method reduced_error --validation new.csv
        cut every branch without which rows of new.csv are answered no worse
    """
    if output == PIPE:
        raise Misuse("-o -: the tree is saved to a file, which has a name")
    if method == "none":
        raise Misuse("--method none would leave the tree as it is")
    if method is None and leaves is None and alpha is None and validation is None and select is None:
        raise Misuse("say how far to prune: --leaves 8, --alpha 0.001, --validation FILE or another --method")
    plan = planned(method, select, leaves, alpha, option or [], said="--method")
    assert plan is not None
    _check_used(plan, train)
    if output is not None:
        check_output(output, [model, *(path for path in (train, validation) if path is not None)])
    voice = Voice(json, quiet)
    with voice.stages() as work:
        work.begin("reading", str(model))
        tree = open_model(str(model))
        labelling = Labelling(model, tree, dialect, weights)
        rows = labelling.parts({"--train": train, "--validation": validation}, work)
        work.begin("pruning", f"a tree of {tree.n_leaves:,} leaves")
        path = _pruned(tree, plan, rows, seed)
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


def _check_used(plan: Plan, train: Path | None) -> None:
    """Misuse about rows that nothing would look at; of those of --validation the losses are told at least."""
    takes = {*METHODS.options(plan.method), *(WAYS.options(plan.by) if plan.by is not None else ())}
    if train is not None and "data" not in takes:
        how = f"--method {plan.method}" + ("" if plan.by is None else f" --select {plan.by}")
        raise Misuse(f"--train: {how} looks at no such rows; leave it out")


def _pruned(tree: Tree, plan: Plan, rows: dict[str, Dataset], seed: int) -> PruningPath:
    """The path, one tree chosen; rows that are lacking are asked for by their options."""
    rest = {"by": "--select ", "raising": "--option raising="}
    with in_options(data="--train", validation="--validation", **rest):
        return plan.path(tree, rows.get("--train"), rows.get("--validation"), {}, seed)


def _losses(tree: Tree, path: PruningPath) -> dict[str, Any]:
    """What the tree loses before and after, on the rows that grew it and on those of --validation."""
    grown = float(tree.mean(np.maximum(tree.loss[tree.is_leaf].sum(), 0.0)))
    losses = {"training": {"before": grown, "after": float(path.training[path.chosen])}}
    if path.validation is not None:
        before, after = path.validation[0], path.validation[path.chosen]
        losses["validation"] = {"before": float(before), "after": float(after)}
    return losses


def _text(tree: Tree, plan: Plan, path: PruningPath, output: Path | None) -> str:
    sizes = f"{in_leaves(tree.n_leaves)} → {path.pruned.n_leaves:,}"
    lines = [f"{sizes} by {in_words(plan, path.details)}", *_told(tree, path)]
    if output is not None:
        lines.append(f"Saved to {output}")
    return "\n".join([*lines, "", picture(path.pruned)])


def _told(tree: Tree, path: PruningPath) -> list[str]:
    """The losses as lines."""
    schema = tree.schema
    what = "error" if schema.predicts_classes else "mean loss"
    is_share = schema.predicts_classes and not schema.has_costs
    if schema.has_costs:
        what = "mean cost"
    return [
        f"{what} on {part} rows: " + " → ".join(percent(each) if is_share else f"{each:.6g}" for each in lost)
        for part, pair in _losses(tree, path).items()
        for lost in [(pair["before"], pair["after"])]
    ]
