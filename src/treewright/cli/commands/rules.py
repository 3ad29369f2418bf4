"""`treewright rules`: a saved tree as a list of rules."""

from __future__ import annotations

from treewright.cli.console import Voice
from treewright.cli.errors import Misuse, name_list
from treewright.cli.model_files import open_model
from treewright.cli.options import TEXT, Flag, Model, Style
from treewright.explaining import rules as rules_of


def rules(
    model: Model,
    /,
    *,
    target: str | None = None,
    merge: Flag = False,
    style: Style = TEXT,
) -> None:
    """Show a saved tree as rules, each in the shortest form.

    Rules are read from the top: the first that applies to a row predicts it.

    Parameters
    ----------
    target
        The target of the rules, where the tree predicts several.
    merge
        Merge leaves with the same prediction under one test into one rule.

    Examples
    --------
    treewright rules loans.tree.json
        one rule for each leaf, with its rows and its accuracy
    treewright rules loans.tree.json --merge --json
        as few rules as possible, for a program
    """
    tree = open_model(model)
    names = [each.name for each in tree.schema.targets]
    if target is None and len(names) > 1:
        raise Misuse(f"{model} predicts {name_list(names)}; --target selects one")
    if target is not None and target not in names:
        raise Misuse(f"--target {target}: {model} predicts {name_list(names)}")
    found = rules_of(tree, target=target, merge=merge)
    Voice(style).answer(lambda: str(found), lambda: {"file": str(model), **found.to_dict()})
