"""Options for the search of the best tree, and the options of a grown tree that do not go with it."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Annotated, Any

from cyclopts import Group, Parameter

from treewright._text import amount
from treewright.cli import options as opt
from treewright.cli.costs import Costs
from treewright.cli.errors import Misuse
from treewright.cli.pruning_options import AS_USUAL as NOT_PRUNED
from treewright.cli.pruning_options import NONE, Pruning

_BETTER_SIDE = "missing values go to the better side at each test"
_REFUSED = {
    "min_samples_split": "--min-samples-leaf limits its leaves",
    "min_impurity_decrease": "--leaf-penalty is what each of its leaves must save",
    "criterion": "it has the fewest errors, the least cost or the least squared error",
    "missing": _BETTER_SIDE,
    "n_surrogates": _BETTER_SIDE,
    "category_gain": "its tests are judged by what the whole tree loses",
    "monotonic_cst": "its search cannot keep predictions in order",
}  # of `Limits`


@Parameter(name="*", group=Group("Optimal tree", sort_key=22))
@dataclass(frozen=True)
class Optimal:
    """The search of the best tree in place of growing one."""

    optimal: opt.Flag = False
    """Search the tree of the fewest errors (the least cost, for numbers the least squared error) of all trees
    of --max-depth (by default 3), and prove that no other does better. It is not pruned: --leaf-penalty and
    --max-leaf-nodes keep it small."""

    leaf_penalty: Annotated[float | None, opt.from_spec("leaf_penalty")] = None

    time_limit: Annotated[float | None, opt.from_spec("time_limit", help=None), Parameter(alias="--time")] = (
        None
    )
    """The seconds after which the best tree so far is kept, with what is proved of it; by default 60."""

    def search(
        self, limits: opt.Limits, prune: str | None, pruning: Pruning, costs: Costs
    ) -> dict[str, Any] | None:
        """The arguments of `optimise` besides costs; None without --optimal. Misuse of options of the other
        kind of tree.
        """
        if not self.optimal:
            self._refuse_alone()
            return None
        for name, reason in _REFUSED.items():
            if getattr(limits, name) != getattr(opt.TO_PURITY, name):
                raise Misuse(f"--{name.replace('_', '-')} does not go with --optimal: {reason}")
        if prune not in (None, NONE) or pruning != NOT_PRUNED:
            raise Misuse(
                "an optimal tree is not pruned: leave --prune, --select, --leaves, --alpha and --option out; "
                "--max-leaf-nodes and --leaf-penalty keep it small"
            )
        if costs.cost_split != Costs.cost_split:
            raise Misuse("--cost-split does not go with --optimal: the tree of the least cost is searched")
        growing = limits.growing
        shared = {name: growing[name] for name in ("max_leaf_nodes", "min_samples_leaf", "n_jobs")}
        if limits.max_depth is not None:
            shared["max_depth"] = limits.max_depth
        own = {"leaf_penalty": self.leaf_penalty, "time_limit": self.time_limit}
        return shared | {name: value for name, value in own.items() if value is not None}

    def _refuse_alone(self) -> None:
        for field in fields(self):
            if getattr(self, field.name) != field.default:
                raise Misuse(
                    f"--{field.name.replace('_', '-')} is for --optimal; add that, or leave this out"
                )


GROWN = Optimal()


def progress_text(loss: float, bound: float, *, of_rows: bool) -> str:
    """What is known of a search, for the line of its progress; `of_rows` if the loss is a number of rows.

    >>> progress_text(284.0, 250.2, of_rows=True), progress_text(28.5, 0.0, of_rows=False)
    ('284 wrong, bound 251', 'loss 28.5, bound 0')
    """
    if of_rows:
        return f"{loss:,.0f} wrong, bound {math.ceil(bound - 1e-9):,}"
    return f"loss {amount(loss)}, bound {amount(bound)}"
