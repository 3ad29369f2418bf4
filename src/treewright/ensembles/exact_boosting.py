"""Gradient boosting with every threshold: the exact grower fits each tree to the steps of Newton.

The Newton step of a row with gradient g and hessian h is −g/h, of weight h: the tree of least squared error
for these steps is the one whose splits gain most. Several times slower than with bins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.encoding import Dataset
from treewright.encoding.schema import Schema
from treewright.ensembles.losses import LOSSES, weighted_quantile
from treewright.growing import grow
from treewright.tree import Tree

if TYPE_CHECKING:
    from treewright.ensembles.gradient_boosting import GradientBoosted, Work

Floats = NDArray[np.float64]
_LEAST_HESSIAN = 1e-3  # of a leaf, as in the core
_SMALLEST_HESSIAN = 1e-15  # of a row: certain predictions have none
_LONGEST_STEP = 1e12  # of a row: beyond it the hessian is next to nothing


def boost(
    data: Dataset,
    columns: Schema,
    work: Work,
    raw: Floats,
    limits: dict[str, Any],
    begun: GradientBoosted | None,
    listener: Callable[[int, float, float], bool] | None,
) -> tuple[list[Tree], Floats, Floats]:
    """The same as `boost` of the core, by `grow`; `raw` is changed in place."""
    for name, is_set in (
        ("l2_regularization", limits["l2"] > 0),
        ("monotonic_cst", limits["monotone"] is not None),
    ):
        if is_set:
            raise ValueError(f"{name} does not go with max_bins=None; give a number of bins")
    table = Dataset(columns, data.columns)
    table = table if work.rows is None else table.take(work.rows)
    train = table if work.n_train == len(work.target) else table.take(slice(work.n_train))
    if train.n_rows > _core.small_rows:
        train.bins(limits["n_threads"])
    first = 0 if begun is None else begun.n_iter
    scores = _Scores(work, limits, begun)
    scores.start(raw)
    trees: list[Tree] = []
    for iteration in range(first, first + limits["n_iterations"]):
        of_iteration = _step(train, work, raw, limits, iteration)
        for k, tree in enumerate(of_iteration):
            raw[k] += tree.value[:, 0].take(tree.apply(table, n_jobs=limits["n_threads"]))
        trees += of_iteration
        train_loss, validation_loss = scores.add(raw)
        n_leaves = sum(tree.n_leaves for tree in of_iteration)
        if (
            listener is not None and listener(n_leaves, train_loss, validation_loss)
        ) or scores.have_settled():
            break
    return trees, np.array(scores.train), np.array(scores.validation)


def _step(train: Dataset, work: Work, raw: Floats, limits: dict[str, Any], iteration: int) -> list[Tree]:
    """The trees of one iteration."""
    n, loss = work.n_train, limits["loss"]
    weight = None if work.weight is None else work.weight[:n]
    target = work.target[:n]
    derivatives = _core.loss_gradients(
        target, weight, np.ascontiguousarray(raw[:, :n]), loss, limits["quantile"], work.n_classes
    )
    quantile = LOSSES[loss].leaf_quantile(limits["quantile"])
    trees = []
    for k, (gradient, hessian) in enumerate(zip(*derivatives, strict=True)):
        steps = np.clip(-gradient / np.maximum(hessian, _SMALLEST_HESSIAN), -_LONGEST_STEP, _LONGEST_STEP)
        bins = vars(train).get("_bins")
        data = Dataset(train.schema, train.columns, steps[np.newaxis], hessian)
        if bins is not None:
            object.__setattr__(data, "_bins", bins)
        seed = np.random.SeedSequence(limits["seed"], spawn_key=(iteration, k)).generate_state(1)[0]
        in_hessians: dict[str, Any] = {"_min_weight_leaf": _LEAST_HESSIAN}
        tree = grow(
            data,
            max_leaf_nodes=None if limits["max_leaves"] < 0 else limits["max_leaves"],
            max_depth=None if limits["max_depth"] < 0 else limits["max_depth"],
            min_samples_leaf=limits["min_rows_leaf"],
            max_features=limits["columns_drawn"] or None,
            interaction_cst=limits["groups"] or None,
            random_state=int(seed),
            n_jobs=limits["n_threads"],
            **in_hessians,
        )
        statistic = np.array(tree.statistic)
        if quantile is not None:
            _predict_quantiles(tree, data, target - raw[k, :n], weight, quantile, statistic)
        _bound_steps(statistic, limits["max_step"])
        statistic *= [1.0, limits["learning_rate"], limits["learning_rate"] ** 2]
        trees.append(replace(tree, statistic=statistic))
    return trees


def _bound_steps(statistic: Floats, longest: float) -> None:
    """Bound the steps of all nodes; squared deviations become those from the bounded step."""
    step = np.clip(statistic[:, 1], -longest, longest)
    statistic[:, 2] += statistic[:, 0] * (statistic[:, 1] - step) ** 2
    statistic[:, 1] = step


def _predict_quantiles(
    tree: Tree,
    data: Dataset,
    residual: Floats,
    weight: Floats | None,
    quantile: float,
    statistic: Floats,
) -> None:
    """Let leaves predict a quantile of their residuals: these gradients do not give the length of a step."""
    leaf = tree.apply(data)
    order = np.argsort(leaf, kind="stable")
    nodes, starts = np.unique(leaf[order], return_index=True)
    for node, rows in zip(nodes, np.split(order, starts[1:]), strict=True):
        own = None if weight is None else weight[rows]
        before, value = statistic[node, 1], weighted_quantile(residual[rows], own, quantile)
        statistic[node, 2] += statistic[node, 0] * (value - before) ** 2
        statistic[node, 1] = value


class _Scores:
    """The mean losses after each iteration, if they are wanted."""

    def __init__(self, work: Work, limits: dict[str, Any], begun: GradientBoosted | None) -> None:
        self.train = [] if begun is None else begun.train_loss.tolist()
        self.validation = [] if begun is None else begun.validation_loss.tolist()
        self._work, self._limits = work, limits
        n = work.n_train
        self._samples = [(self.train, slice(n)), (self.validation, slice(n, None))]

    def start(self, raw: Floats) -> None:
        if not self.train:
            self.add(raw)

    def add(self, raw: Floats) -> tuple[float, float]:
        """The training and the validation loss; NaN without such rows."""
        if not self._limits["scored"]:
            return np.nan, np.nan
        work, limits = self._work, self._limits
        for history, rows in self._samples:
            if len(work.target[rows]):
                weight = None if work.weight is None else work.weight[rows]
                loss = limits["loss"], limits["quantile"], work.n_classes
                own_raw = np.ascontiguousarray(raw[:, rows])
                history.append(_core.mean_loss(work.target[rows], weight, own_raw, *loss))
        return self.train[-1], self.validation[-1] if self.validation else np.nan

    def have_settled(self) -> bool:
        """Whether none of the last losses is lower than the one before them."""
        history, patience = self.validation or self.train, self._limits["patience"]
        if not patience or len(history) <= patience:
            return False
        return bool(min(history[-patience:]) >= history[-patience - 1] - self._limits["tolerance"])
