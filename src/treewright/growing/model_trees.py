"""Model trees: linear models in the leaves of a tree of numbers, fitted to the rows of each node.

The model of a node is a ridge regression on the columns that are tested above it or below it, as in
Quinlan's M5: with X and y in standard units within the node, it minimises |y − Xc|² / weight + α·|c|². The
price α is that of the grid whose generalised cross validation

    GCV(α) = weight · loss(α) / (weight − 1 − freedom(α))²,   freedom(α) = Σ s / (s + α)

is smallest, where s are the eigenvalues of the correlations; weights are counts. Terms whose removal does not
raise the score are dropped, the weakest first, possibly down to a constant. Only means and products about
them are needed, which are merged from the leaves to the root like the moments of two samples: one pass over
the rows, whatever the depth.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright._arrays import Flags, Floats, Int32s, Ints
from treewright.encoding import Dataset
from treewright.tree import Tree
from treewright.tree.evaluate import leaves_of
from treewright.tree.linear_leaves import LinearAnswers, known_values
from treewright.tree.oblique import asks

ALPHAS = np.geomspace(1e-8, 10.0, 28)  # the values of α that are tried
_BATCHED = 2**21  # numbers in the moments of nodes whose models are fitted together
_FLAT = 1e-10  # a column whose spread in a node is below this share of its total spread is constant


@dataclass(frozen=True)
class _Moments:
    """Weight, means, and sums of products about the means, of the columns and last of the target."""

    weight: float
    mean: Floats
    products: Floats

    @classmethod
    def of(cls, values: Floats, weight: Floats) -> _Moments:
        total = float(weight.sum())
        mean = values[:, 0] + ((values - values[:, :1]) @ weight) / total  # equal numbers are their own mean
        about = values - mean[:, np.newaxis]
        return cls(total, mean, (about * weight) @ about.T)

    def with_(self, other: _Moments) -> _Moments:
        total = self.weight + other.weight
        between = other.mean - self.mean
        mean = self.mean + between * (other.weight / total)
        spread = self.weight * other.weight / total * np.outer(between, between)
        return _Moments(total, mean, self.products + other.products + spread)


@dataclass(frozen=True)
class _Formula:
    intercept: float
    columns: list[int]  # places among the tested columns
    coefficients: list[float]
    loss: float


def fit_linear_leaves(tree: Tree, data: Dataset) -> Tree:
    """The tree with a linear model at each node, fitted to `data`, the rows that it was grown from.

    For one number, by squared error. A value that is missing or not finite counts as the mean of its column.

    >>> from treewright import encode, grow
    >>> data = encode({"x": [0, 1, 2, 3, 10, 11, 12, 13]}, [5.0, 6.1, 6.9, 8.0, 50.0, 49.1, 47.9, 47.0])
    >>> print(fit_linear_leaves(grow(data, max_leaf_nodes=2), data))
    8 rows
    ├─ x <= 6   5.033 + 0.9779·x   4 rows
    └─ x > 6    60.2 - 1.018·x     4 rows
    """
    check_linear_leaves(tree.criterion, data)
    if tree.missing == "fractional":
        raise ValueError(
            "a row with missing values is in several leaves of this tree: no linear model can be fitted"
        )
    counted = data.take(data.counted)
    used = _numbers_tested(tree)
    values = np.empty((len(used) + 1, counted.n_rows))
    mean = np.zeros(len(tree.schema.columns))
    weight = counted.row_weights
    for place, j in enumerate(used.tolist()):
        mean[j] = _mean(counted.column(j), weight)
        values[place] = known_values(counted.column(j), float(mean[j]))
    values[-1] = np.asarray(counted.targets)[0]
    scale = np.sqrt(np.maximum(_Moments.of(values, weight).products.diagonal() / weight.sum(), 0.0))
    formulas = _fit_nodes(tree, leaves_of(tree, counted), values, weight, _tested_near(tree, used), scale)
    lengths = [len(formula.columns) for formula in formulas]
    linear = LinearAnswers(
        intercept=np.array([formula.intercept for formula in formulas]),
        start=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        column=used[[place for formula in formulas for place in formula.columns]].astype(np.int32),
        coefficient=np.array([c for formula in formulas for c in formula.coefficients], np.float64),
        loss=np.array([formula.loss for formula in formulas]),
        mean=mean,
    )
    return replace(tree, linear=linear)


def check_linear_leaves(
    criterion: str, data: Dataset, missing: str = "learn", monotonic_cst: Any = None
) -> None:
    """ValueError unless linear models can be fitted: to one number, by squared error, of undivided rows."""
    if missing in ("fractional", "error"):
        raise ValueError(
            f"leaf='linear' does not go with missing={missing!r}; take 'learn', 'surrogate' or 'category'"
        )
    if monotonic_cst is not None:
        raise ValueError(
            "leaf='linear' does not go with monotonic_cst: linear models may fall where the leaves rise; "
            "take leaf='constant'"
        )
    if data.schema.predicts_classes or len(data.schema.targets) > 1:
        raise ValueError("leaf='linear' is for one target of numbers; linear models predict numbers")
    if criterion != "squared_error":
        raise ValueError(f"leaf='linear' minimises the squared error; criterion is {criterion!r}")


def _numbers_tested(tree: Tree) -> Ints:
    """The numeric columns that are tested, alone or in a sum."""
    n_columns = len(tree.schema.columns)
    features = set(tree.feature[~tree.is_leaf].tolist())
    alone = {j for j in features if j < n_columns and tree.schema.columns[j].is_summable}
    summed = {c for j in features if j >= n_columns for c in tree.directions[j - n_columns].columns}
    return np.array(sorted(alone | summed), np.int64)


def _tested_near(tree: Tree, used: Ints) -> Flags:
    """For each node which of the used columns are tested above it, at it or below it."""
    below = np.zeros((tree.n_nodes, len(used)), np.bool_)
    for place, j in enumerate(used.tolist()):
        below[:, place] = asks(tree, j)
    above = below.copy()
    for wave in tree.waves:
        below[wave] |= below[tree.left[wave]] | below[tree.right[wave]]
    for wave in reversed(tree.waves):
        for child in (tree.left[wave], tree.right[wave]):
            above[child] |= above[wave]
    return below | above


def _mean(column: NDArray[np.floating], weight: Floats) -> float:
    """The mean of the finite values of a column; 0 where there are none."""
    values = column.astype(np.float64)
    finite = np.isfinite(values)
    if not finite.any():
        return 0.0
    known, of = values[finite], weight[finite]
    return float(known[0] + ((known - known[0]) * (of / of.sum())).sum())


def _fit_nodes(
    tree: Tree,
    leaf: Int32s,
    values: Floats,
    weight: Floats,
    is_near: Flags,
    scale: Floats,
) -> list[_Formula]:
    """The model of each node; moments are merged from the leaves upwards, and not kept for long."""
    order = np.argsort(leaf, kind="stable")
    border = np.searchsorted(leaf[order], np.arange(tree.n_nodes + 1))
    values, weight = values[:, order], weight[order]  # the rows of a leaf lie side by side
    waiting: list[_Moments | None] = []
    formulas = [_Formula(0.0, [], [], 0.0)] * tree.n_nodes
    batch: dict[int, _Moments] = {}
    largest = max(1, _BATCHED // len(values) ** 2)
    for node in range(tree.n_nodes - 1, -1, -1):
        if tree.is_leaf[node]:
            rows = slice(border[node], border[node + 1])
            moments = _Moments.of(values[:, rows], weight[rows]) if rows.stop > rows.start else None
        else:
            left, right = waiting.pop(), waiting.pop()
            moments = left.with_(right) if left and right else left or right
        waiting.append(moments)
        if moments is not None:
            batch[node] = moments
        if batch and (len(batch) == largest or node == 0):
            nodes = list(batch)
            for fitted, formula in zip(
                nodes, _ridge(list(batch.values()), is_near[nodes], scale), strict=True
            ):
                formulas[fitted] = formula
            batch.clear()
    for node in np.flatnonzero(tree.rows == 0).tolist():  # a branch for categories without rows
        formulas[node] = replace(formulas[tree.answering[node]], loss=0.0)
    return formulas


def _ridge(moments: list[_Moments], is_near: Flags, scale: Floats) -> list[_Formula]:
    """The models of some nodes: terms are dropped, the weakest first, while that does not raise the score.

    All nodes of as many terms go together, step by step.
    """
    weight = np.array([each.weight for each in moments])
    products = np.array([each.products for each in moments])
    spread = np.sqrt(np.maximum(products.diagonal(axis1=1, axis2=2) / weight[:, np.newaxis], 0.0))
    varies = spread > _FLAT * scale
    units = np.where(spread > 0, spread, 1.0)
    correlations = products / weight[:, np.newaxis, np.newaxis]
    correlations /= units[:, :, np.newaxis] * units[:, np.newaxis, :]
    # At first the model of a node is a constant, in standard units.
    best = [1 / (each.weight - 1) ** 2 if each.weight > 1 else 0.0 for each in moments]
    chosen, kept = [np.zeros(0, np.int64)] * len(moments), [np.zeros(0)] * len(moments)
    terms: dict[int, list[tuple[int, Ints]]] = {}  # nodes and the columns to be tried, by their number
    for node in np.flatnonzero(varies[:, -1]).tolist():
        places = np.flatnonzero(is_near[node] & varies[node, :-1])
        terms.setdefault(len(places), []).append((node, places))
    for size in range(max(terms, default=0), 0, -1):
        tried = terms.pop(size, [])
        if not tried:
            continue
        nodes, places = np.array([node for node, _ in tried]), np.array([each for _, each in tried])
        scores, slopes = _shrunk(
            correlations[nodes[:, np.newaxis, np.newaxis], places[:, :, np.newaxis], places[:, np.newaxis]],
            correlations[nodes[:, np.newaxis], places, -1],
            weight[nodes],
        )
        weakest = np.argmin(np.abs(slopes), axis=1)
        for i, (node, own) in enumerate(tried):
            score = float(scores[i])
            if (chosen[node].size == 0 and not score < best[node]) or score > best[node]:
                continue
            best[node], kept[node], chosen[node] = score, slopes[i], own
            terms.setdefault(size - 1, []).append((node, np.delete(own, weakest[i])))
    return [_formula(*each) for each in zip(moments, units, chosen, kept, strict=True)]


def _formula(moments: _Moments, units: Floats, chosen: Ints, slopes: Floats) -> _Formula:
    """A model in the units of the data, from its coefficients in standard units."""
    mean, products = moments.mean, moments.products
    coefficients = slopes * units[-1] / units[chosen]
    intercept = float(mean[-1] - coefficients @ mean[chosen])
    loss = float(products[-1, -1]) - 2 * float(coefficients @ products[chosen, -1])
    loss += float(coefficients @ products[np.ix_(chosen, chosen)] @ coefficients)
    return _Formula(intercept, chosen.tolist(), coefficients.tolist(), max(loss, 0.0))


def _shrunk(correlations: Floats, with_target: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Of each node the score by generalised cross-validation and the coefficients of the best α, in standard
    units.
    """
    roots, axes = np.linalg.eigh(correlations)
    along = (axes.transpose(0, 2, 1) @ with_target[:, :, np.newaxis])[:, :, 0]
    roots = np.maximum(roots, 0.0)
    root, price = roots[:, np.newaxis], ALPHAS[:, np.newaxis]
    freedom = (root / (root + price)).sum(axis=2)
    left = 1 - (along[:, np.newaxis] ** 2 * (root + 2 * price) / (root + price) ** 2).sum(axis=2)
    allowed = 2 * (1 + freedom) <= weight[:, np.newaxis]  # GCV needs at least two rows per fitted number
    score = np.full(left.shape, np.inf)
    np.divide(np.maximum(left, 0.0), (weight[:, np.newaxis] - 1 - freedom) ** 2, out=score, where=allowed)
    best = np.argmin(score, axis=1)
    slopes = axes @ (along / (roots + ALPHAS[best, np.newaxis]))[:, :, np.newaxis]
    return score[np.arange(len(best)), best], slopes[:, :, 0]
