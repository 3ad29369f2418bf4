"""`treewright rules`: a saved tree as a list of rules."""

from __future__ import annotations

from treewright.cli.console import Voice
from treewright.cli.errors import Misuse, listed
from treewright.cli.model_files import open_model
from treewright.cli.options import Flag, Json, Model, Quiet
from treewright.explaining import rules as rules_of


def rules(
    model: Model,
    /,
    *,
    target: str | None = None,
    merge: Flag = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show a saved tree as rules, each in the shortest form.

    Parameters
    ----------
    target
        Of a tree that predicts several: which one the rules answer.
    merge
        Make one rule of leaves with the same answer under one test.

    Examples
    --------
    treewright rules loans.tree.json
        one rule for each leaf, with its rows and how often it is right
    treewright rules loans.tree.json --merge --json
        as few of them as the answers need, for a program
    """
    tree = open_model(str(model))
    names = [each.name for each in tree.schema.targets]
    if target is None and len(names) > 1:
        raise Misuse(f"{model} predicts {listed(names)}; --target names the one that the rules answer")
    if target is not None and target not in names:
        raise Misuse(f"--target {target}: {model} predicts {listed(names)}")
    made = rules_of(tree, target=target, merge=merge)
    Voice(json, quiet).answer(lambda: str(made), lambda: {"file": str(model), **made.to_dict()})
