"""What a tree does by the rooms above it: it prints, draws, saves and converts itself."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

from treewright._suggestions import checked_keywords

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from treewright.certifying import Certificate
    from treewright.certifying.leaf_intervals import LeafIntervals
    from treewright.encoding import Dataset
    from treewright.explaining import Decision
    from treewright.reporting import Report
    from treewright.tree.rule_list import RuleList
    from treewright.tree.tree import Tree


class Saved:
    """What a tree and all that is made of trees have in common: they save themselves."""

    @checked_keywords
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, whole or not at all; `treewright.load` makes the same of it."""
        from treewright.saving import save

        save(self._fitted_model(), path)

    def _fitted_model(self) -> Any:
        """The model itself; an estimator checks that it is fitted."""
        return self


class Plotted:
    """A certificate: it plots itself."""

    @checked_keywords
    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the error that was seen and the bound on the true one; needs matplotlib."""
        from treewright.plotting.certificates import plot_certificate

        return plot_certificate(self, ax)  # type: ignore[arg-type]


class Shortcuts(Saved):
    """What a tree and a fitted estimator do by themselves; each method is the function of its name."""

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the tree; needs matplotlib. The options are those of `treewright.plot_tree`:
        `max_depth`, `max_leaf_nodes`, `direction`, `title`.
        """
        from treewright.plotting.trees import plot_tree

        return plot_tree(self._fitted_model(), ax, **options)

    def explain(self, row: Any, **options: Any) -> Decision:
        """Why the tree predicts what it does for a row; the options are those of `treewright.explain`."""
        from treewright.explaining.decision_path import explain

        return explain(self._fitted_model(), row, **options)

    def report(self, X: Any = None, y: Any = None, **options: Any) -> Report:
        """Everything about the tree in one HTML page; `X` and `y` are rows that were used for nothing yet.
        The options are those of `treewright.report`.
        """
        from treewright.reporting import report

        return report(self._fitted_model(), X, y, **options)

    def export(self, format: str = "text", **options: Any) -> str | bytes:
        """The tree in a format for people or other programs; see `treewright.export`."""
        from treewright.exporting import export

        return export(self._fitted_model(), format, **options)


class Presented(Shortcuts):
    """The part of `Tree` that looks uphill. Every method only finds its room, when it is called."""

    def __str__(self: Tree) -> str:  # type: ignore[misc]
        from treewright.exporting.text import render

        return render(self)

    def certify(self: Tree, X: Any = None, y: Any = None, **options: Any) -> Certificate:  # type: ignore[misc]
        """A bound on the true error, from rows that were never used or from the training rows; see
        `treewright.certify`.
        """
        from treewright.certifying import certify

        return certify(self, X, y, **options)

    def to_svg(self: Tree, **options: Any) -> str:  # type: ignore[misc]
        """The picture of the tree as SVG text; the options are those of `plot`."""
        from treewright.exporting import export

        return str(export(self, "svg", **options))

    def _repr_html_(self: Tree) -> str:  # type: ignore[misc]
        from treewright.exporting.notebook_html import tree_as_html

        return tree_as_html(self)

    @checked_keywords
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


def as_importance(found: Any) -> Any:
    """The importance of the columns of a model by its splits; what is one already, as it is."""
    if hasattr(found, "bars"):
        return found
    from treewright.explaining.importance import importance

    return importance(found)


def as_rules(model: Any) -> RuleList:
    """The rules of a model: themselves, those of a rule classifier, or the paths of a tree."""
    from treewright.tree.rule_list import RuleList

    rules = getattr(model, "rules_", model)
    return rules if isinstance(rules, RuleList) else RuleList.of(as_tree(model))


_SEARCHED = "its best_estimator_"
_MODEL_WITHIN = {  # where scikit-learn's tools keep the estimator that they have fitted
    "GridSearchCV": _SEARCHED,
    "RandomizedSearchCV": _SEARCHED,
    "HalvingGridSearchCV": _SEARCHED,
    "HalvingRandomSearchCV": _SEARCHED,
    "Pipeline": "its last step, pipeline[-1], and rows as they come from pipeline[:-1].transform(X)",
    "FixedThresholdClassifier": "its estimator_",
    "TunedThresholdClassifierCV": "its estimator_",
}


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
            f"this {kind} answers by its rules_, which are no tree: print(model.rules_) shows them, "
            "model.rules_.to_dict() is for programs, and model.apply(X) finds the rule of each row; its "
            "model_ is the tree they come from"
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
    refuse_holder(kind)
    raise TypeError(
        f"this {kind} is another library's; treewright.from_sklearn makes a tree of a fitted one of "
        "scikit-learn, LightGBM or XGBoost"
    )


def refuse_holder(kind: str) -> None:
    """TypeError if a class is one of scikit-learn's tools that hold the fitted estimator; it says where."""
    if holder := _MODEL_WITHIN.get(kind):
        raise TypeError(f"this {kind} holds the model that is wanted here; give {holder}")
