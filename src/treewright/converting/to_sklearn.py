"""A tree of ours as a fitted tree of scikit-learn."""

from __future__ import annotations

from typing import Any

from treewright.converting.rounding import Rows, check_rows
from treewright.presenting import as_tree


def to_sklearn(model: Any, *, rows: Rows = "float64") -> Any:
    """A tree as a fitted `DecisionTreeClassifier` or `DecisionTreeRegressor` of scikit-learn itself.

    scikit-learn rounds every table to float32 before it compares, and refuses infinite numbers.

    Parameters
    ----------
    model : Tree or fitted estimator
        The tree; it must test numbers and times only (times as microseconds since 1970).
    rows : {"float64", "float32"}
        For tables of float32 the answers are the same to the last bit. For those of float64 they are, except
        for a number that lies above a threshold but rounds to the same float32 as it.

    Returns
    -------
    estimator
        With the same nodes under the same numbers, so that whatever reads scikit-learn's trees reads it.

    Examples
    --------
    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"]))
    >>> model = to_sklearn(tree)
    >>> model
    DecisionTreeClassifier()
    >>> model.tree_.threshold[0].item()
    2.5
    """
    from treewright.estimators.sklearn_view import sklearn_model

    check_rows(rows)
    return sklearn_model(as_tree(model), cast_rows=rows == "float64")
