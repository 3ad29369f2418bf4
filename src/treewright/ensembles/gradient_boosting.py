"""Gradient boosting: trees that add up, each a step down the loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright._display import Layout, Shown
from treewright._suggestions import checked_keywords
from treewright.encoding import Dataset
from treewright.encoding.rows import encoded_rows, rows_to_predict, takes_rows
from treewright.encoding.schema import Schema, Target
from treewright.ensembles import exact_boosting
from treewright.ensembles.facts import tree_facts
from treewright.ensembles.losses import LOSSES, check_target, longest_step, probabilities
from treewright.ensembles.totals import TreeSum
from treewright.growing import n_threads, whole_number
from treewright.growing.constraints import Constraints
from treewright.growing.limits import as_limit
from treewright.growing.targets import check_rows
from treewright.growing.thresholds import tree_from_core
from treewright.parameters.boosting import BoostParameters
from treewright.parameters.spec import takes
from treewright.plotting.boosting import plot_boosting
from treewright.tree.oblique import by_column
from treewright.tree.shortcuts import Saved
from treewright.tree.tree import Tree, as_array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GradientBoosted(Saved, Shown):
    """Trees that add up: a baseline and, for each iteration, one tree or one for each of many classes.

    Each tree is an ordinary regression `Tree`: ``model.trees[0][0]`` prints, plots and exports itself. The
    weight of a node is the sum of the hessians of its rows, and its value a step times the learning rate.
    Sums of steps are logits of classes; for numbers they are predictions, or their logarithms if the loss is
    one such as "poisson".

    >>> from treewright import encode
    >>> data = encode({"x": range(100)}, [0] * 50 + [1] * 50)
    >>> model = boost(data, max_iter=10)
    >>> model
    <GradientBoosted: log_loss, 10 iterations, 10 trees>
    >>> print(model.trees[0][0].root.test)
    Below(column='x', threshold=49.5)
    """

    trees: tuple[tuple[Tree, ...], ...]  # iteration by iteration, one for each output
    baseline: Floats  # one for each output
    loss: str
    schema: Schema  # of the table and its target
    train_loss: Floats  # the mean loss at the start and after each iteration; empty unless scored
    validation_loss: Floats

    def _layout(self) -> Layout:
        trees = [tree for of_iteration in self.trees for tree in of_iteration]
        facts = {"loss": self.loss, "iterations": f"{self.n_iter:,}"} | tree_facts(trees, self.schema)
        return Layout.of_facts("GradientBoosted", facts)

    def __repr__(self) -> str:
        n_trees = sum(map(len, self.trees))
        return f"<GradientBoosted: {self.loss}, {self.n_iter} iterations, {n_trees} trees>"

    @property
    def n_iter(self) -> int:
        """The number of iterations."""
        return len(self.trees)

    @property
    def n_outputs(self) -> int:
        """The number of trees in an iteration."""
        return len(self.baseline)

    def raw(self, data: Any, n_jobs: int | None = None) -> Floats:
        """The sum of the baseline and the predictions of all trees, (rows of a table or Dataset, outputs)."""
        data = encoded_rows(data, "data", self.schema)
        out = np.zeros((data.n_rows, self.n_outputs))
        for k in range(self.n_outputs):
            if self.trees:
                out[:, k] = self._tree_sums[k].totals(data, n_threads(n_jobs))[:, 0]
        return out + self.baseline

    @cached_property
    def _tree_sums(self) -> list[TreeSum]:
        """The trees of each output."""
        columns = [[of_iteration[k] for of_iteration in self.trees] for k in range(self.n_outputs)]
        return [TreeSum.of(trees, [tree.value for tree in trees]) for trees in columns]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_tree_sums"}

    def staged_raw(self, data: Any, n_jobs: int | None = None) -> Iterator[Floats]:
        """The same after each iteration; the last equals `raw` to the bit."""
        data = encoded_rows(data, "data", self.schema)
        out = np.zeros((data.n_rows, self.n_outputs))
        for of_iteration in self.trees:
            for k, tree in enumerate(of_iteration):
                out[:, k] += TreeSum.of([tree], [tree.value]).totals(data, n_threads(n_jobs))[:, 0]
            yield out + self.baseline

    def add_as_grown(self, raw: Floats, data: Dataset, n_jobs: int | None) -> None:
        """Add the trees to the baseline, in the order in which they were grown: `raw` has a row per output.

        Sums in another order differ in their last bits, and so would the trees of a warm start from those of
        one long fit.
        """
        for of_iteration in self.trees:
            for k, tree in enumerate(of_iteration):
                raw[k] += TreeSum.of([tree], [tree.value]).totals(data, n_threads(n_jobs))[:, 0]

    def predict(self, table: Any) -> NDArray[Any]:
        """Classes or numbers for the rows of a table."""
        raw = self.raw(rows_to_predict(table, self.schema))
        if not self.schema.predicts_classes:
            return LOSSES[self.loss].predictions(raw)
        return np.asarray(as_array(self.schema.targets[0].classes or ())[LOSSES[self.loss].predictions(raw)])

    def predict_proba(self, table: Any) -> Floats:
        """The probability of each class for the rows of a table."""
        if not self.schema.predicts_classes:
            raise ValueError("these trees predict numbers; probabilities are for classes")
        return probabilities(self.raw(rows_to_predict(table, self.schema)), self.schema.width)

    def importances(self) -> Floats:
        """The share of each column in the gains of all trees; zeros if no tree has a split."""
        gains = np.zeros(len(self.schema.columns))
        for of_iteration in self.trees:
            for tree in of_iteration:
                gains += by_column(tree, tree.gain)
        return gains / (gains.sum() or 1.0)

    @checked_keywords
    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the loss after each iteration, where `early_stopping` has measured it; needs matplotlib."""
        return plot_boosting(self, ax)

    @checked_keywords
    def first(self, max_iter: int) -> GradientBoosted:
        """The model after its first iterations."""
        n = whole_number("max_iter", max_iter, 0)
        kept = {name: getattr(self, name)[: n + 1] for name in ("train_loss", "validation_loss")}
        return replace(self, trees=self.trees[:n], **kept)


@dataclass(frozen=True)
class Stage:
    """The state after an iteration, for the callback `after`."""

    iteration: int  # 0: before the first
    n_leaves: int  # of its trees
    train_loss: float  # nan unless scored
    validation_loss: float
    raw: Floats  # (outputs, rows), in the order of `rows`: n_train training rows first; reused, so copy it
    rows: NDArray[np.uint32] | None  # their places in the table; None: all
    n_train: int


@takes_rows
@takes(BoostParameters)
def boost(data: Dataset, **options: Any) -> GradientBoosted:
    """Grow gradient-boosted trees: each is fitted to the gradients of the loss at the predictions so far.

    Parameters
    ----------
    data : table, tuple (table, target) or (table, target, weight), or Dataset
        The rows. Those of weight 0 count for nothing.

    Examples
    --------
    >>> from treewright import encode
    >>> model = boost(encode({"x": range(80)}, [1.5] * 40 + [3.5] * 40), max_iter=50)
    >>> model.raw(encode({"x": [0, 79]}, schema=model.schema)).round(2).ravel().tolist()
    [1.51, 3.49]
    """
    check_rows(data)
    name = options["loss"] or ("log_loss" if data.schema.predicts_classes else "squared_error")
    check_target(name, data)
    begun: GradientBoosted | None = options["begun"]
    after: Callable[[Stage], bool] | None = options["after"]
    first = 0 if begun is None else begun.n_iter
    limits = _limits(options, name, data.schema)
    work = Work(data, name, options["validation"], options["quantile"])
    start = work.start if begun is None else begun.baseline
    raw = np.empty((len(start), len(work.target)))
    raw[:] = start[:, np.newaxis]
    if begun is not None:
        begun.add_as_grown(raw, data if work.rows is None else data.take(work.rows), options["n_jobs"])
    listener = None if after is None else _listener(after, raw, work, first)
    if after is not None and begun is None and after(work.stage(raw)):
        limits["n_iterations"] = 0
    columns = Schema(data.schema.columns, (Target("step"),))
    if options["max_bins"] is None:
        trees, train_loss, validation_loss = exact_boosting.boost(
            data, columns, work, raw, limits, begun, listener
        )
    else:
        grown = _core.boost(
            columns=data.columns,
            n_categories=data.schema.category_counts,
            rows=work.rows,
            **work.arguments,
            raw=raw,
            **limits,
            first_iteration=first,
            train_loss=[] if begun is None else begun.train_loss.tolist(),
            validation_loss=[] if begun is None else begun.validation_loss.tolist(),
            after=listener,
        )
        table = Dataset(columns, data.columns)
        trees = [tree_from_core(tree, table, "squared_error", "readable", "learn") for tree in grown["trees"]]
        train_loss, validation_loss = grown["train_loss"], grown["validation_loss"]
    n = len(start)
    made = tuple(tuple(trees[i : i + n]) for i in range(0, len(trees), n))
    before = () if begun is None else begun.trees
    return GradientBoosted(before + made, start, name, data.schema, train_loss, validation_loss)


class Work:
    """The rows with a weight, training rows before validation rows, with their targets."""

    def __init__(
        self, data: Dataset, loss: str, validation: NDArray[np.bool_] | None, quantile: float
    ) -> None:
        assert data.targets is not None
        in_validation = np.zeros(data.n_rows, np.bool_) if validation is None else validation
        rows = data.counted
        train, judges = rows[~in_validation[rows]], rows[in_validation[rows]]
        if validation is not None and not (len(train) and len(judges)):
            raise ValueError(
                f"{len(judges)} of {len(rows)} rows are for validation; some must be, and some not"
            )
        whole = len(train) == data.n_rows
        self.rows = None if whole else np.concatenate([train, judges]).astype(np.uint32)
        self.n_train = len(train)
        target = data.targets[0].astype(np.float64)
        self.target = np.ascontiguousarray(target if whole else target[self.rows])
        weight = None if data.weight is None or (data.weight[rows] == 1).all() else data.weight
        self.weight = None if weight is None else np.ascontiguousarray(weight if whole else weight[self.rows])
        self.n_classes = max(data.schema.width, 2) if data.schema.predicts_classes else 0
        own = self.target[: self.n_train], None if self.weight is None else self.weight[: self.n_train]
        self.start = LOSSES[loss].baseline(*own, self.n_classes, quantile)

    @property
    def arguments(self) -> dict[str, Any]:
        """As the core takes them."""
        names = ("n_train", "target", "weight", "n_classes")
        return {name: getattr(self, name) for name in names}

    def stage(
        self, raw: Floats, of_trees: tuple[int, float, float] = (0, np.nan, np.nan), n: int = 0
    ) -> Stage:
        """The state after `n` iterations: leaves, training and validation loss of the last one."""
        return Stage(n, *of_trees, raw, self.rows, self.n_train)


def _listener(
    after: Callable[[Stage], bool], raw: Floats, work: Work, first: int
) -> Callable[[int, float, float], bool]:
    """The callback of the core after each iteration."""
    numbers = count(first + 1)
    return lambda *of_trees: bool(after(work.stage(raw, of_trees, next(numbers))))


def _limits(options: dict[str, Any], loss: str, schema: Schema) -> dict[str, Any]:
    """The options of `boost` under the names of the core."""
    rate, drawn = float(options["learning_rate"]), options["max_features"]
    return {
        "loss": loss,
        "quantile": float(options["quantile"]),
        "max_cells": as_limit(options["max_bins"]),
        "n_iterations": as_limit(options["max_iter"]),
        "max_leaves": as_limit(options["max_leaf_nodes"]),
        "max_depth": as_limit(options["max_depth"]),
        "min_rows_leaf": as_limit(options["min_samples_leaf"]),
        "l2": float(options["l2_regularization"]),
        "max_step": longest_step(LOSSES[loss], options["max_delta_step"], rate),
        "learning_rate": rate,
        "columns_drawn": 0 if drawn is None else min(int(drawn), len(schema.columns)),
        "monotone": _monotone(options["monotonic_cst"], schema, loss),
        "groups": _groups(options["interaction_cst"], schema),
        "seed": as_limit(options["random_state"]),
        "scored": bool(options["scored"]) or options["n_iter_no_change"] is not None,
        "patience": as_limit(options["n_iter_no_change"] or 0),
        "tolerance": float(options["tol"]),
        "n_threads": n_threads(options["n_jobs"]),
    }


def _groups(interaction_cst: Any, schema: Schema) -> list[list[int]]:
    """The columns that may be tested on one path together: those in no group are one more. Empty: all may."""
    groups = Constraints.of(schema, interaction_cst=interaction_cst).groups
    if groups is None:
        return []
    rest = set(range(len(schema.columns))).difference(*groups)
    return [*groups, sorted(rest)] if rest else groups


def _monotone(monotonic_cst: Any, schema: Schema, loss: str) -> NDArray[np.int8] | None:
    """The direction of each column; None without constraints."""
    if monotonic_cst is None:
        return None
    monotone = Constraints.of(schema, monotonic_cst=monotonic_cst).monotone
    if monotone is None or not np.any(monotone):
        return None
    if LOSSES[loss].leaf_quantile(0.5) is not None:
        raise ValueError(f"monotonic_cst does not go with loss={loss!r}, whose leaves predict quantiles")
    if schema.predicts_classes and schema.width > 2:
        raise ValueError(
            "monotonic constraints are not supported for multiclass classification: monotonic_cst is for "
            f"numbers and two classes; the target has {schema.width}"
        )
    return np.ascontiguousarray(monotone, np.int8)
