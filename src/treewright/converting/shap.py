"""A tree as the dict of arrays that shap reads."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.tree.missing import refuse_sending
from treewright.tree.oblique import only_columns
from treewright.tree.shortcuts import as_tree


def to_shap(model: Any) -> dict[str, Any]:
    """A tree as the dict that `shap.TreeExplainer` takes for a model; it decides in float64.

    Parameters
    ----------
    model : Tree or fitted estimator
        The tree; it must test numbers and times only (times as microseconds since 1970).

    Returns
    -------
    dict
        The explainer has one output for each class, or for each target of numbers; those of several targets
        stand one after the other.

    Examples
    --------
    >>> import shap
    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1.0, 2.0, 3.0, 4.0]}, [10.0, 10.0, 30.0, 30.0]))
    >>> shap.TreeExplainer(to_shap(tree)).shap_values(np.array([[1.0]])).tolist()
    [[-10.0]]
    """
    tree = as_tree(model)
    refuse_sending(tree, "shap's trees send missing values to one side;")
    only_columns(tree, "shap's trees test one column at a time")
    categories = tree.feature[tree.subset >= 0]
    if categories.size:
        name = tree.schema.columns[int(categories[0])].name
        raise ValueError(
            f"the tree tests the categories of column {name!r}, and shap's trees test thresholds only; "
            "treewright.shapley_values gives the same values, categories included"
        )
    values = np.concatenate(tree.proportions, axis=1) if tree.schema.predicts_classes else tree.value
    arrays = {
        "children_left": tree.left,
        "children_right": tree.right,
        "children_default": np.where(tree.missing_left, tree.left, tree.right),
        "features": tree.feature,
        "thresholds": np.where(tree.is_leaf, -1.0, tree.threshold),
        "values": np.array(values, np.float64),
        "node_sample_weight": np.array(tree.weight),
    }
    return {"trees": [arrays], "internal_dtype": np.float64, "input_dtype": np.float64}
