"""Born-again trees: the smallest tree that predicts exactly like a forest, everywhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright._display import html_block, sentences_html
from treewright._suggestions import checked_keywords, choices_text
from treewright.encoding import Dataset, Provenance
from treewright.encoding.rows import encoded_rows
from treewright.encoding.splits import checked_seed
from treewright.ensembles.gradient_boosting import GradientBoosted
from treewright.growing import whole_number
from treewright.tree import Tree
from treewright.tree.builder import Branch, Leaf, link_nodes
from treewright.tree.conditions import Below
from treewright.tree.evaluate import leaves_of, rows_of
from treewright.tree.predict import leaf_rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Rule = Literal["mean", "majority"]
Objective = Literal["depth", "leaves", "depth_leaves"]

_OBJECTIVES = {
    "depth": "less depth",
    "leaves": "fewer leaves",
    "depth_leaves": "less depth, or the same depth and fewer leaves",
}
_DEEPEST = 500  # the largest depth that the core takes


@dataclass(frozen=True)
class BornAgain:
    """A tree that predicts like a forest for rows without missing values, and bounds for smaller ones.

    If `is_smallest` is False, a limit ended the search: there may be smaller trees, and `least_depth` and
    `least_leaves` are lower bounds for all of them.

    Examples
    --------
    >>> from treewright import born_again, encode, grow_forest
    >>> data = encode({"x": [1, 2, 3, 4, 5, 6]}, ["a", "a", "b", "b", "a", "a"])
    >>> found = born_again(grow_forest(data, n_estimators=3))
    >>> found.is_smallest, found.tree.depth == found.least_depth
    (True, True)
    """

    tree: Tree
    objective: Objective
    is_smallest: bool
    least_depth: int  # a lower bound of the depth of such trees; 0 if nothing is known
    least_leaves: int  # and of their leaves; with "depth_leaves", of those of the least depth
    n_regions: int  # that the search visited
    trees: tuple[Tree, ...] = field(repr=False)
    votes: tuple[Floats, ...] = field(repr=False, compare=False)  # of each node of each tree

    def _repr_html_(self) -> str:
        return html_block(sentences_html([str(self)]), self.tree._repr_html_())

    def __str__(self) -> str:
        size = f"depth {self.tree.height}, {self.tree.n_leaves:,} leaves"
        text = f"a tree of {size} predicts like the {len(self.trees):,} trees"
        if self.is_smallest:
            return f"{text}; none has {_OBJECTIVES[self.objective]}"
        bound = f"depth {self.least_depth}" if self.objective != "leaves" else f"{self.least_leaves:,} leaves"
        return f"{text}; the search ended early, and there may be smaller ones: at least {bound}"

    def answers(self, data: Dataset) -> Ints:
        """The predictions of the forest: the code of the class with most votes, the first of several."""
        total = np.zeros((data.n_rows, self.votes[0].shape[1]))
        for tree, votes in zip(self.trees, self.votes, strict=True):
            total += leaf_rows(tree, data, votes)
        return np.asarray(total.argmax(axis=1), np.int64)

    @checked_keywords
    def check(self, max_cells: int = 100_000, random_state: int = 0) -> bool:
        """Whether tree and forest agree in every cell of the grid of the forest's thresholds.

        If there are more than `max_cells` cells, that many are drawn at random.
        """
        most = whole_number("max_cells", max_cells, 1)
        rng = np.random.default_rng(checked_seed(random_state))
        rows = _cell_rows(self.trees, most, rng)
        return bool((self.tree.label[leaves_of(self.tree, rows), 0] == self.answers(rows)).all())

    @checked_keywords
    def prune(self, data: Any) -> Tree:
        """The tree without the branches that no row of `data` reaches: it predicts these rows like the
        forest.

        `data` is a Dataset or a table, without targets. Other rows may be predicted differently. The class
        counts of the nodes are those of the forest's predictions.
        """
        rows = encoded_rows(data, "data", self.tree.schema)
        weight = np.bincount(leaves_of(self.tree, rows), rows.row_weights, self.tree.n_nodes).astype(
            np.float64
        )
        if not weight.any():
            raise ValueError("data has no rows with a weight; without any, nothing is left of the tree")
        small = _with_weights(self.tree, weight)
        return replace(small, rows=rows_of(small, rows))


@checked_keywords
def born_again(
    trees: Any,
    *,
    weights: Any = None,
    rule: Rule | None = None,
    objective: Objective = "depth",
    time_limit: float | None = 60.0,
    memory_limit: float = 1e9,
    progress: Callable[[float], object] | None = None,
) -> BornAgain:
    """The smallest tree that predicts exactly like a small forest (Vidal and Schiffer 2020).

    Parameters
    ----------
    trees : Forest, estimator or sequence of Tree
        Trees with the same columns and classes that test only numbers. For a forest of scikit-learn:
        ``[treewright.from_sklearn(tree) for tree in forest.estimators_]``.
    weights : sequence of float, optional
        The weight of each tree, at least 0; by default as in the ensemble: 1 in a forest.
    rule : {"mean", "majority"}, optional
        Whether the class proportions of the trees are averaged, or each tree votes for one class; by default
        as in the ensemble, and the mean for a sequence of trees. The class with most votes is predicted, the
        first of several. Votes are added up in the order of the trees, so that ties and rounding are those of
        the forest.
    objective : {"depth", "leaves", "depth_leaves"}
        What is minimised: the depth; the number of leaves, which takes much longer; or the number of leaves
        among the trees of the least depth.
    time_limit : float, optional
        Seconds, 60 by default; None for as long as it takes.
    memory_limit : float
        The largest number of bytes for the search's memory of regions.
    progress : callable, optional
        Called every few milliseconds with the fraction of the time limit that has passed. An exception that
        it raises ends the search.

    Returns
    -------
    BornAgain
        Its `tree` predicts like the forest for every row without missing values, and refuses others. Each
        leaf has a weight of 1, of the class that it predicts; `prune(data)` counts the rows of a table.

    Raises
    ------
    TimeoutError, MemoryError
        If the limits end the search before any tree that predicts like the forest is found.

    The time grows with the number of thresholds: ten trees of depth 3 take from a tenth of a second to
    minutes; large forests are out of reach. `distill` makes a tree that predicts nearly like any model.

    Examples
    --------
    >>> from treewright import Below, Branch, Column, Leaf, Schema, Target, Tree
    >>> schema = Schema((Column("age"), Column("debt")), (Target("loan", ("no", "yes")),))
    >>> def stump(column, threshold):
    ...     return Tree.write(schema, Branch(Below(column, threshold), Leaf([1, 0]), Leaf([0, 1])))
    >>> smallest = born_again([stump("age", 30), stump("debt", 5), stump("age", 50)], rule="majority")
    >>> print(smallest)
    a tree of depth 2, 4 leaves predicts like the 3 trees; none has less depth
    >>> smallest.tree.predict({"age": [20, 40, 40, 60], "debt": [9, 2, 9, 2]}).tolist()
    ['no', 'no', 'yes', 'yes']
    >>> smallest.check()
    True
    """
    forest = _trees_of(trees)
    votes = _votes(forest, *_weights_and_rule(getattr(trees, "model_", trees), weights, rule))
    if objective not in _OBJECTIVES:
        raise ValueError(
            f"objective is {objective!r}; it must be one of {choices_text(objective, _OBJECTIVES)}"
        )
    seconds = math.inf if time_limit is None else _positive("time_limit", time_limit)
    grid = _grid(forest)
    found = _core.born_again(
        **_arrays(forest, votes, grid),
        objective=objective,
        seconds=seconds,
        max_bytes=int(min(_positive("memory_limit", memory_limit), 2.0**62)),
        progress=progress,
    )
    if not found["is_found"]:
        _refuse_unfinished(found, time_limit, memory_limit)
    return BornAgain(
        tree=_tree(forest[0], grid, found["column"], found["cut"]),
        objective=objective,
        is_smallest=found["is_smallest"],
        least_depth=found["least_depth"],
        least_leaves=found["least_leaves"],
        n_regions=found["n_regions"],
        trees=tuple(forest),
        votes=tuple(votes),
    )


def _refuse_unfinished(found: _core.BornAgainTree, time_limit: float | None, memory_limit: float) -> None:
    advice = (
        f"it needs at least depth {found['least_depth']}. Give fewer or shallower trees, or more time or "
        "memory; distill makes a small tree that predicts nearly like the forest"
    )
    if found["ran_out_of_memory"]:
        raise MemoryError(
            f"no tree that predicts like the forest was found with memory_limit={memory_limit:g}; {advice}"
        )
    raise TimeoutError(
        f"no tree that predicts like the forest was found within time_limit={time_limit:g} seconds; {advice}"
    )


def _positive(name: str, value: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not number > 0:
        raise ValueError(f"{name} is {value!r}; it must be a positive number")
    return number


def _trees_of(trees: Any) -> list[Tree]:
    """The trees of an ensemble or a sequence, checked: of numbers, with the same columns and classes."""
    ensemble = getattr(trees, "model_", trees)
    if isinstance(ensemble, GradientBoosted):
        raise TypeError(
            f"the trees of a {type(trees).__name__} add up and have no votes; born-again trees are "
            "for forests and AdaBoost, whose trees vote for classes; distill makes a small tree of any model"
        )
    trees = getattr(ensemble, "trees", trees)
    if hasattr(trees, "estimators_"):
        raise TypeError(
            f"this {type(trees).__name__} is another library's; give "
            "[treewright.from_sklearn(tree) for tree in forest.estimators_]"
        )
    if _is_unfitted(trees):
        raise ValueError(f"this {type(trees).__name__} is not fitted yet; call fit first")
    if isinstance(trees, Tree) or not isinstance(trees, Iterable):
        raise TypeError(f"trees must be a sequence of Tree, not a {type(trees).__name__}")
    forest = list(trees)
    if not forest:
        raise ValueError("trees is empty; a forest has at least one tree")
    for i, tree in enumerate(forest):
        if not isinstance(tree, Tree):
            raise TypeError(f"trees must be a sequence of Tree, but item {i} is a {type(tree).__name__}")
        _check_tree(tree, i)
        if tree.schema != forest[0].schema:
            raise ValueError(f"tree {i} has other columns or classes than tree 0; a forest has one schema")
    return forest


def _is_unfitted(model: Any) -> bool:
    """Whether an estimator is not fitted, by scikit-learn's rule: a fit sets attributes that end in _."""
    if isinstance(model, type) or not hasattr(model, "fit"):
        return False
    if hasattr(model, "__sklearn_is_fitted__"):
        return not model.__sklearn_is_fitted__()
    return not any(name.endswith("_") and not name.startswith("__") for name in vars(model))


def _check_tree(tree: Tree, i: int) -> None:
    schema = tree.schema
    if not schema.predicts_classes or len(schema.targets) > 1:
        raise ValueError(
            f"tree {i} does not predict one class; born-again trees are for one target of classes"
        )
    if schema.has_costs or schema.is_wide:
        what = "misclassification costs" if schema.has_costs else "too many classes"
        raise ValueError(f"tree {i} has {what}; born-again trees are for plain votes of some classes")
    if tree.directions:
        raise ValueError(f"tree {i} tests sums of columns; born-again trees are for tests of one column each")
    if (tree.subset >= 0).any():
        column = schema.columns[tree.feature[int(np.argmax(tree.subset >= 0))]].name
        raise ValueError(
            f"tree {i} tests the category {column!r}; born-again trees are for numbers: give categories as "
            "columns of 0 and 1"
        )
    if tree.depth > _DEEPEST:
        raise ValueError(f"tree {i} has depth {tree.depth}; born-again trees are for trees up to {_DEEPEST}")


def _weights_and_rule(ensemble: Any, weights: Any, rule: Rule | None) -> tuple[Any, Rule]:
    """Weights and rule, by default those of the ensemble."""
    own = getattr(ensemble, "votes", None)  # boosted trees each vote for one class, with a weight
    if rule is None:
        by_shares = own is None and getattr(ensemble, "voting", "soft") == "soft"
        rule = "mean" if by_shares else "majority"
    return own if weights is None else weights, rule


def _votes(forest: Sequence[Tree], weights: Any, rule: Rule) -> list[Floats]:
    """The votes of each node of each tree, (nodes, classes)."""
    if rule not in ("mean", "majority"):
        raise ValueError(f"rule is {rule!r}; it must be 'mean' or 'majority'")
    try:
        weight = np.ones(len(forest)) if weights is None else np.asarray(weights, np.float64)
    except (TypeError, ValueError):
        weight = np.full(len(forest), np.nan)
    if weight.shape != (len(forest),):
        raise ValueError(f"weights has the shape {weight.shape}; it must be one number for each of the trees")
    if not (np.isfinite(weight).all() and (weight >= 0).all() and weight.any()):
        raise ValueError("weights must be finite numbers of at least 0, and not all of them 0")
    votes = []
    for tree, times in zip(forest, weight.tolist(), strict=True):
        shares = tree.proportions[0]
        if rule == "majority":
            shares = np.eye(shares.shape[1])[tree.label[:, 0]]
        votes.append(shares if times == 1 else times * shares)
    return votes


def _grid(forest: Sequence[Tree]) -> dict[int, Floats]:
    """The thresholds of each column that is tested, ascending."""
    feature = np.concatenate([tree.feature for tree in forest])
    threshold = np.concatenate([tree.threshold for tree in forest])
    columns = np.unique(feature[feature >= 0]).tolist()
    return {column: np.unique(threshold[feature == column]) for column in columns}


def _arrays(forest: Sequence[Tree], votes: Sequence[Floats], grid: dict[int, Floats]) -> dict[str, Any]:
    """The forest as the core takes it: nodes one after the other, thresholds by their place in the grid."""
    feature = np.concatenate([tree.feature for tree in forest])
    threshold = np.concatenate([tree.threshold for tree in forest])
    column, cut = np.full(len(feature), -1, np.int32), np.zeros(len(feature), np.int32)
    for place, (position, thresholds) in enumerate(grid.items()):
        here = feature == position
        column[here], cut[here] = place, np.searchsorted(thresholds, threshold[here])
    first = np.cumsum([0, *(tree.n_nodes for tree in forest)])
    return {
        "roots": first[:-1].astype(np.int32),
        "end": np.concatenate([tree.end + begin for tree, begin in zip(forest, first, strict=False)]).astype(
            np.int32
        ),
        "column": column,
        "cut": cut,
        "votes": np.concatenate([vote[tree.is_leaf] for tree, vote in zip(forest, votes, strict=True)]),
        "n_cuts": np.array([len(thresholds) for thresholds in grid.values()], np.int32),
    }


def _tree(like: Tree, grid: dict[int, Floats], column: NDArray[np.int32], cut: NDArray[np.int32]) -> Tree:
    """The tree that the core found, with a weight of 1 in each leaf."""
    schema, positions = like.schema, list(grid)
    thresholds = list(grid.values())
    classes = np.eye(schema.width)
    nodes: list[Any] = []
    for place, at in zip(column.tolist(), cut.tolist(), strict=True):
        if place < 0:
            nodes.append(Leaf(classes[at]))
        else:
            test = Below(schema.columns[positions[place]].name, float(thresholds[place][at]))
            nodes.append((test, None))
    return _without_rows(Tree.write(schema, link_nodes(nodes)))


def _with_weights(tree: Tree, weight: Floats) -> Tree:
    """The tree with other weights in its leaves; leaves without weight are removed, equal siblings merged."""
    nodes: list[Any] = []
    for node in range(tree.n_nodes):
        test = tree.test(node)
        if test is not None:
            nodes.append((test, None))
            continue
        statistic = np.zeros(tree.schema.width)
        statistic[tree.label[node, 0]] = weight[node]
        nodes.append(Leaf(statistic.tolist()) if weight[node] > 0 else None)
    return _without_rows(Tree.write(tree.schema, link_nodes(nodes, _merge)))


def _without_rows(tree: Tree) -> Tree:
    """A tree whose statistic comes from the predictions of a forest."""
    return replace(tree, missing="error", provenance=Provenance("predicted"))


def _merge(
    test: Any, left: Branch | Leaf | None, right: Branch | Leaf | None, _: None
) -> Branch | Leaf | None:
    if left is None or right is None:
        return right if left is None else left
    if isinstance(left, Leaf) and isinstance(right, Leaf):
        one, two = np.asarray(left.statistic), np.asarray(right.statistic)
        if one.argmax() == two.argmax():
            return Leaf((one + two).tolist())
    return Branch(test, left, right)


def _cell_rows(trees: Sequence[Tree], most: int, rng: np.random.Generator) -> Dataset:
    """A row for every cell of the grid, or for `most` of them."""
    schema, grid = trees[0].schema, _grid(trees)
    sizes = [len(thresholds) + 1 for thresholds in grid.values()]
    everything = math.prod(sizes)
    if everything <= most:
        places = np.unravel_index(np.arange(everything), sizes) if sizes else ()
    else:
        places = tuple(rng.integers(size, size=most) for size in sizes)
    n_rows = min(everything, most)
    columns = [
        np.zeros(n_rows, np.int32 if column.kind == "category" else np.float64) for column in schema.columns
    ]
    for (position, thresholds), place in zip(grid.items(), places, strict=True):
        columns[position] = np.append(thresholds, np.nextafter(thresholds[-1], np.inf))[place]
    return Dataset(schema, tuple(columns))
