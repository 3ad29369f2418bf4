"""`treewright prune`: a smaller tree of a saved one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from treewright.cli.console import Voice, in_colour, terminal_width
from treewright.cli.documents import tree_document
from treewright.cli.errors import Misuse, check_output, writing_to
from treewright.cli.fit import PRUNING, ROWS
from treewright.cli.labelled import Labelling
from treewright.cli.models import open_model
from treewright.cli.options import (
    PIPE,
    USUAL,
    Dialect,
    Json,
    Model,
    NotNegative,
    Output,
    Positive,
    Quiet,
    Repeated,
    Seed,
    Weights,
)
from treewright.cli.plans import in_words, planned
from treewright.encoding import Dataset
from treewright.exporting.text import render
from treewright.pruning import PruningPath
from treewright.selecting.planning import Plan
from treewright.tree import Tree

MOST_LEAVES = 30  # of a tree that is shown


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
    train: Annotated[Path | None, ROWS] = None,
    validation: Annotated[Path | None, ROWS] = None,
    seed: Annotated[Seed, ROWS] = 0,
    weights: Weights = None,
    dialect: Dialect = USUAL,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make a smaller tree of a saved one.

    Without -o the tree is shown, and nothing is written.

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
        A table of rows that had no part in growing it, to choose by.

    Examples
    --------
    treewright prune loans.tree.json --leaves 8
        look at the best tree of at most 8 leaves
    treewright prune loans.tree.json --leaves 8 -o small.json
        and keep it
    treewright prune loans.tree.json --method reduced_error --validation new.csv -o pruned.json
        wherever rows of new.csv are answered no worse without a branch
    """
    if output == PIPE:
        raise Misuse("-o -: the tree is saved to a file, which has a name")
    if method == "none":
        raise Misuse("--method none would leave the tree as it is")
    if method is None and leaves is None and alpha is None and validation is None and select is None:
        raise Misuse("say how far to prune: --leaves 8, --alpha 0.001, --validation FILE or another --method")
    plan = planned(method, select, leaves, alpha, option or [], said="--method")
    assert plan is not None
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
    voice.answer(
        lambda: _text(tree, plan, path, output),
        lambda: {
            "model": str(model),
            "method": plan.method,
            "chosen_by": path.details.get("chosen_by"),
            "leaves_before": tree.n_leaves,
            "tree": tree_document(path.pruned),
            "files": {} if output is None else {"model": str(output)},
        },
    )


def _pruned(tree: Tree, plan: Plan, rows: dict[str, Dataset], seed: int) -> PruningPath:
    """The path, one tree chosen; rows that are lacking are asked for by their options."""
    try:
        return plan.path(tree, rows.get("--train"), rows.get("--validation"), {}, seed)
    except (TypeError, ValueError) as error:
        said = str(error).replace("data=", "--train").replace("validation=", "--validation")
        raise Misuse(said.replace("Dataset", "table")) from error


def _text(tree: Tree, plan: Plan, path: PruningPath, output: Path | None) -> str:
    pruned = path.pruned
    told = f"{tree.n_leaves:,} leaves → {pruned.n_leaves:,} by {in_words(plan, path.details)}"
    lines = [told]
    if output is not None:
        lines.append(f"saved to {output}")
    if pruned.n_leaves <= MOST_LEAVES:
        lines += ["", render(pruned, color=in_colour(), width=terminal_width())]
    return "\n".join(lines)
