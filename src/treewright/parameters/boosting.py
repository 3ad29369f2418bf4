"""The parameters of gradient boosting and of AdaBoost, shared by their classifiers and regressors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treewright.parameters.checks import (
    TRUE_OR_FALSE,
    VERBOSE,
    Allowed,
    is_fraction,
    is_int,
    is_real,
    number,
    whole,
)
from treewright.parameters.spec import Parameters, parameter

_INTERACTIONS = (
    "Which columns, by name or position, may be tested together on one path. The columns in no group are one "
    "more group."
)


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _is_listed(value: Any) -> bool:
    return isinstance(value, list | tuple) or hasattr(value, "__array__")


class GradientBoostingParameters(Parameters, group="Growing"):
    """Those of scikit-learn's HistGradientBoosting estimators, in their order, and `kinds` and `n_jobs`."""

    loss: str = parameter(default="squared_error")
    learning_rate: float = parameter(
        default=0.1,
        doc="The factor by which each step is shortened. Smaller values need more iterations.",
        allowed=number(0, open_left=True),
    )
    max_iter: int = parameter(
        default=100,
        doc="The largest number of iterations. Each adds one tree, or one for each of more than two classes.",
        allowed=whole(1),
    )
    max_leaf_nodes: int | None = parameter(default=31)
    max_depth: int | None = parameter(default=None)
    min_samples_leaf: int | float = parameter(default=20)
    l2_regularization: float = parameter(
        default=0.0,
        doc="Added to the sum of the hessians of a leaf, so that small leaves make small steps.",
        allowed=number(0),
    )
    max_features: Any = parameter(
        default=1.0,
        doc="How many columns, drawn at random, each node considers; a float is a fraction of them.",
    )
    max_bins: int | None = parameter(
        default=255,
        kind="int or None",
        doc="A column with at most this many different values is split exactly; the values of others are "
        "binned into this many intervals of about equally many rows. None uses all values, by the exact "
        "grower, which takes several times as long.",
        allowed=Allowed(
            lambda v: v is None or (is_int(v) and 2 <= v <= 255), "an int from 2 to 255, or None"
        ),
    )
    categorical_features: Any = parameter(
        default="from_dtype",
        kind='"from_dtype", array of names, positions or bools, or None',
        doc='Which columns are categories. With "from_dtype" those of text, bools and categorical dtypes; '
        "`kinds` may say otherwise. With a list (names, positions or a mask) those listed are, whatever they "
        "hold, and other columns of numbers are numbers, also those of a categorical dtype. None is an empty "
        "list. Text is always categories.",
        allowed=Allowed(
            lambda v: v is None or _is_listed(v) or (isinstance(v, str) and v == "from_dtype"),
            "'from_dtype', an array of names, positions or bools, or None",
        ),
    )
    monotonic_cst: Any = parameter(
        default=None,
        doc="By column name, or one for each column: 1 if the prediction must not fall as the column grows, "
        "-1 if it must not rise, 0 for no constraint.",
    )
    interaction_cst: Any = parameter(default=None, doc=_INTERACTIONS)
    warm_start: bool = parameter(
        default=False,
        doc="Whether the next fit continues this one, up to a larger `max_iter`. The rows must be the same.",
        allowed=TRUE_OR_FALSE,
    )
    early_stopping: bool | str = parameter(
        default="auto",
        kind='"auto" or bool',
        doc='Whether to stop when the score no longer improves. "auto" does so for more than 10,000 rows.',
        allowed=Allowed(lambda v: TRUE_OR_FALSE.check(v) or _is_auto(v), "'auto', True or False"),
    )
    scoring: Any = parameter(
        default="loss",
        kind="str, callable or None",
        doc="The score of early stopping: the loss, a scorer by name, or ``scorer(estimator, X, y)``. None is"
        " the estimator's own score.",
        allowed=Allowed(
            lambda v: v is None or isinstance(v, str) or callable(v),
            "'loss', the name of a scorer, a callable (estimator, X, y), or None: the estimator's own score",
        ),
    )
    validation_fraction: Any = parameter(
        default=0.1,
        kind="float, int or None",
        doc="The fraction (or number) of rows that is set aside for early stopping; with None the training "
        "rows are scored.",
        allowed=Allowed(
            lambda v: v is None or (is_fraction(v) and 0 < v < 1) or (is_int(v) and v >= 1),
            "a float in (0, 1), a number of rows, or None: early stopping by the training rows",
        ),
    )
    n_iter_no_change: int = parameter(
        default=10,
        doc="Early stopping ends the fit after this many iterations without an improvement.",
        allowed=whole(1),
    )
    tol: float = parameter(
        default=1e-7, doc="An improvement is a rise of the score by more than this.", allowed=number(0)
    )
    verbose: int = parameter(
        default=0, doc="Whether a line is printed after each iteration.", allowed=VERBOSE
    )
    random_state: Any = parameter(
        default=None, doc="Seeds the rows that are set aside and the columns that are drawn."
    )
    kinds: Any = parameter(default=None)
    n_jobs: int | None = parameter(default=None)


class LongestStep(Parameters, group="Growing"):
    """That of boosted classes."""

    max_delta_step: float | str | None = parameter(
        default="auto",
        kind='float, "auto" or None',
        doc="The longest step of a leaf, before the learning rate, as in XGBoost and LightGBM. "
        '"auto" is ``5 / learning_rate`` for classes, so that no leaf multiplies the odds of a class by more '
        "than exp(5), and no bound for numbers. With None there is no bound, as in scikit-learn, and a class "
        "of a few rows can ruin the predictions of all others.",
        allowed=Allowed(
            lambda v: v is None or _is_auto(v) or (is_real(v) and v > 0), "a positive number, 'auto' or None"
        ),
    )


class BoostParameters(LongestStep, group="Growing"):
    """Those of `boost`, the function below the estimators of gradient boosting."""

    loss: str | None = parameter(
        default=None,
        doc='One of `treewright.ensembles.losses.LOSSES` that suits the target; by default "log_loss" for '
        'classes, "squared_error" for numbers.',
    )
    quantile: float = parameter(
        default=0.5,
        doc='The quantile to predict; only for ``loss="quantile"``.',
        allowed=number(0, 1, open_left=True, open_right=True),
    )
    learning_rate: float = parameter(default=0.1)
    max_iter: int = parameter(
        default=100,
        doc="The largest number of iterations. Each adds one tree, or one for each of more than two classes.",
        allowed=whole(0),
    )
    max_leaf_nodes: int | None = parameter(default=31)
    max_depth: int | None = parameter(default=None)
    min_samples_leaf: int = parameter(
        default=20, kind="int", doc="Both sides of a split have at least this many rows.", allowed=whole(1)
    )
    l2_regularization: float = parameter(default=0.0)
    max_features: int | None = parameter(
        default=None,
        kind="int or None",
        doc="How many columns, drawn at random, each node considers; None is all.",
        allowed=whole(1, none=True),
    )
    max_bins: int | None = parameter(default=255)
    monotonic_cst: Any = parameter(
        default=None,
        doc="By column name, or one for each column: 1 if the prediction must not fall as the column grows, "
        "-1 if it must not rise, 0 for no constraint. For losses other than the quantiles, and at most two "
        "classes.",
    )
    interaction_cst: Any = parameter(default=None, doc=_INTERACTIONS)
    random_state: int = parameter(default=0, doc="The seed of the columns that are drawn.")
    validation: Any = parameter(
        default=None,
        kind="array of bool or None",
        doc="Which rows are set aside for validation.",
    )
    scored: bool = parameter(default=False, doc="Whether the mean loss is kept after each iteration.")
    n_iter_no_change: int | None = parameter(
        default=None,
        doc="Stop where the loss of the validation rows (without any, of the training rows) has not fallen "
        "by more than `tol` for this many iterations.",
        allowed=whole(1, none=True),
    )
    tol: float = parameter(default=1e-7, doc="See `n_iter_no_change`.")
    begun: Any = parameter(
        default=None, kind="GradientBoosted or None", doc="A model of the same rows that is continued."
    )
    n_jobs: int | None = parameter(default=None)
    after: Callable[[Any], bool] | None = parameter(
        default=None,
        kind="callable or None",
        doc="Called with a `Stage` before the first iteration and after each. Boosting ends where it returns "
        "True, or raises an exception.",
    )


class AdaBoostParameters(Parameters, group="Growing"):
    """Those of scikit-learn's AdaBoost estimators, and `kinds`, `n_jobs` and `verbose`."""

    estimator: Any = parameter(default=None, kw_only=False, kind="estimator or None")
    n_estimators: int = parameter(
        default=50, doc="The largest number of trees or other estimators.", allowed=whole(1)
    )
    learning_rate: float = parameter(
        default=1.0,
        doc="A factor of all votes; smaller values need more estimators.",
        allowed=number(0, open_left=True),
    )
    random_state: Any = parameter(
        default=None, doc="Seeds the trees, where they draw anything, and the rows that are drawn."
    )
    kinds: Any = parameter(default=None)
    n_jobs: int | None = parameter(
        default=None,
        doc="The number of threads; the result is the same for any number. None is what `estimator` has, "
        "-1 all cores.",
    )
    verbose: int = parameter(default=0, doc="Whether a line is printed for each tree.", allowed=VERBOSE)
