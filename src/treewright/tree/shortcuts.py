"""What a tree does by the rooms above it: it prints, draws, saves and converts itself."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from treewright.certifying.leaf_intervals import LeafIntervals
    from treewright.encoding import Dataset
    from treewright.tree.tree import Tree


class Saved:
    """What a tree and all that is made of trees have in common: they save themselves."""

    def save(self: Any, path: str | os.PathLike[str]) -> None:
        """Write it to a file, whole or not at all; `treewright.load` makes the same of it."""
        from treewright.saving import save

        save(self, path)


class Presented(Saved):
    """The part of `Tree` that looks uphill. Every method only finds its room, when it is called."""

    def __str__(self: Tree) -> str:  # type: ignore[misc]
        from treewright.exporting.text import render

        return render(self)

    def plot(self: Tree, ax: Axes | None = None, **options: Any) -> Axes:  # type: ignore[misc]
        """Draw the tree; needs matplotlib. The options are those of `treewright.plotting.trees.plot_tree`:
        `max_depth`, `max_leaves`, `direction`, `title`.
        """
        from treewright.plotting.trees import plot_tree

        return plot_tree(self, ax, **options)

    def to_svg(self: Tree, **options: Any) -> str:  # type: ignore[misc]
        """The picture of the tree as SVG text; the options are those of `plot`."""
        from treewright.exporting import export

        return str(export(self, "svg", **options))

    def _repr_html_(self: Tree) -> str:  # type: ignore[misc]
        from treewright.exporting.notebook_html import tree_as_html

        return tree_as_html(self)

    def to_sklearn(self: Tree, *, rows: Literal["float64", "float32"] = "float64") -> Any:  # type: ignore[misc]
        """The tree as a fitted estimator of scikit-learn; see `treewright.converting.to_sklearn`."""
        from treewright.converting import to_sklearn

        return to_sklearn(self, rows=rows)

    def to_shap(self: Tree) -> dict[str, Any]:  # type: ignore[misc]
        """The tree as `shap.TreeExplainer` takes it; see `treewright.converting.to_shap`."""
        from treewright.converting import to_shap

        return to_shap(self)


def intervals_of(tree: Tree, test: Dataset, delta: float) -> LeafIntervals:
    """How far each leaf can be wrong, by rows that it has never seen."""
    from treewright.certifying.leaf_intervals import leaf_intervals

    return leaf_intervals(tree, test, delta=delta)


def as_tree(model: Any) -> Tree:
    """The tree of a model: itself, or that of a fitted estimator.

    A list of rules is no tree, though it keeps the one that it was made of: that answers otherwise.

    >>> as_tree("oak")
    Traceback (most recent call last):
    TypeError: a tree or a fitted model is wanted here, not a str
    """
    from treewright.tree.tree import Tree

    if isinstance(model, Tree):
        return model
    kind = model.__name__ if isinstance(model, type) else type(model).__name__
    if hasattr(model, "rules_"):
        raise TypeError(
            f"this {kind} answers by its rules_, which are no tree; its model_ is the tree they come from"
        )
    tree = getattr(model, "model_", None)
    if isinstance(tree, Tree):
        return tree
    if isinstance(model, type):
        raise TypeError(f"a tree or a fitted model is wanted here, not the class {kind}")
    if hasattr(model, "trees") or hasattr(tree, "trees"):
        which = "trees[0]" if hasattr(model, "trees") else "model_.trees[0]"
        raise TypeError(f"this {kind} has many trees; give one of them, such as the first: {which}")
    if hasattr(type(model), "pruned"):
        raise TypeError(f"this {kind} has many trees; give one of them, such as the chosen one: path.pruned")
    if not hasattr(model, "fit"):
        raise TypeError(f"a tree or a fitted model is wanted here, not a {kind}")
    if type(model).__module__.startswith("treewright."):
        raise TypeError(f"this {kind} is not fitted yet; call fit first")
    raise TypeError(
        f"this {kind} is another library's; treewright.from_sklearn makes a tree of a fitted one of "
        "scikit-learn, LightGBM or XGBoost"
    )
