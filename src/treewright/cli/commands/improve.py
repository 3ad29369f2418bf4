"""`treewright improve`: better subtrees in a saved tree."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter, validators

from treewright.cli import options as opt
from treewright.cli.console import Voice
from treewright.cli.errors import Misuse, check_output, count, in_options, writing_to
from treewright.cli.model_files import open_model
from treewright.cli.summary import picture, tree_document
from treewright.cli.tables.labelled import rows_for_tree
from treewright.optimising import improve as improve_tree
from treewright.optimising.optimum import loss_text
from treewright.tree import Tree

SEARCH = Group("Searching", sort_key=20)


@Parameter(name="*", group=SEARCH)
@dataclass(frozen=True)
class Subtrees:
    """Which subtrees are searched anew, and how long: parameters of `improve` by their names."""

    max_depth: Annotated[int, opt.WHOLE, Parameter(validator=validators.Number(gte=1))] = 3
    """The depth of the largest subtrees that are searched anew."""

    min_samples_leaf: Annotated[int, opt.WHOLE, opt.from_spec("min_samples_leaf")] = 1

    max_rounds: Annotated[int, opt.WHOLE, opt.from_spec("max_rounds")] = 10

    time_limit: Annotated[float, opt.from_spec("time_limit", help=None), Parameter(alias="--time")] = 60.0
    """The seconds after which the best tree so far is kept."""

    n_jobs: opt.Jobs = -1


def improve(
    model: opt.Model,
    data: opt.Table,
    /,
    *,
    output: opt.Output = None,
    validation: opt.Rows = None,
    subtrees: Subtrees = Subtrees(),
    labelled: opt.Labelled = opt.LABELLED,
    style: opt.Style = opt.TEXT,
) -> None:
    """Replace subtrees of a saved tree by the best ones of their size.

    The table has the rows that the tree was grown from. The new tree never loses more on them, has never more
    leaves, and is never deeper. Without -o it is shown, and nothing is written. The certificate of
    `treewright fit` is for the tree before; `treewright report` with --test certifies the new one.

    Parameters
    ----------
    output
        The file for the better tree.
    validation
        A table of other rows: a new subtree stays only if it loses no more on those that reach it.

    Examples
    --------
    treewright improve loans.tree.json loans.csv
        look at the better tree
    treewright improve loans.tree.json loans.csv -o better.json
        and keep it
    treewright improve loans.tree.json loans.csv --validation new.csv --time 10
        only what is no worse on rows of new.csv, in ten seconds
    """
    if output == opt.PIPE:
        raise Misuse("-o -: the tree is saved to a file; name one")
    if output is not None:
        check_output(output, [path for path in (model, data, validation) if path is not None])
    voice = Voice(style)
    with voice.stages() as work:
        tree = open_model(model, work)
        rows = rows_for_tree(model, tree, labelled, {"train": data, "validation": validation}, work)
        tree_before = tree.recount(rows["train"])
        search: Any = improve_tree  # type checkers know its model and its options only
        work.begin("searching", f"better subtrees of a tree of {tree.n_leaves:,} leaves")
        with in_options(data=str(data), validation="--validation"):
            better = search(tree, rows["train"], validation=rows.get("validation"), **vars(subtrees))
        if output is not None:
            with writing_to(output):
                better.save(output)
    tell = voice.answer if output is None else voice.summarize
    tell(
        lambda: _text(tree_before, better, output),
        lambda: _document(model, tree_before, better, output),
    )


def _loss(tree: Tree) -> float:
    return float(tree.loss[tree.is_leaf].sum())


def _text(tree: Tree, better: Tree, output: Path | None) -> str:
    before, after = (loss_text(each, _loss(each)) for each in (tree, better))
    sizes = f"{count(tree.n_leaves, 'leaf')} → {better.n_leaves:,}"
    lines = [f"{sizes}: {before} → {after}"]
    if _loss(better) >= _loss(tree) and better.n_leaves == tree.n_leaves:
        lines = [f"no subtree can be improved: {before}"]
    if output is not None:
        lines.append(f"Saved to {output}")
    return "\n".join([*lines, "", picture(better)])


def _document(model: Path, tree: Tree, better: Tree, output: Path | None) -> dict[str, Any]:
    return {
        "model": str(model),
        "leaves_before": tree.n_leaves,
        "tree": tree_document(better),
        "loss": {"before": _loss(tree), "after": _loss(better)},
        "files": {} if output is None else {"model": str(output)},
    }
