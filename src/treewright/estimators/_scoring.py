"""The scorer of the parameter `scoring`."""

from __future__ import annotations

from typing import Any

from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.utils._param_validation import InvalidParameterError

from treewright._suggestions import did_you_mean


def scorer_of(estimator: Any, scoring: Any, also: tuple[str, ...] = ()) -> Any:
    """scikit-learn's scorer; the error about an unknown name says which one it may stand for.

    `also` are names that the estimator knows besides scikit-learn's.
    """
    known = [*also, *get_scorer_names()]
    if isinstance(scoring, str) and scoring not in known:
        raise InvalidParameterError(
            f"scoring={scoring!r} is unknown{did_you_mean(scoring, known)} "
            "(sklearn.metrics.get_scorer_names() lists the names)"
        )
    return check_scoring(estimator, scoring=scoring)
