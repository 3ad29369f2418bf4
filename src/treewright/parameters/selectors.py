"""The parameters of feature selection: of the selectors, and of the functions below them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from treewright.parameters.checks import (
    TRUE_OR_FALSE,
    Allowed,
    count_or_fraction,
    is_int,
    is_real,
    number,
    one_of,
    whole,
)
from treewright.parameters.spec import Parameters, parameter

_COUNT = count_or_fraction(1, False, "columns")


def _is_cv(value: Any) -> bool:
    return (is_int(value) and value >= 2) or hasattr(value, "split") or isinstance(value, list | tuple)


class SelectorParameters(Parameters, group="Running"):
    """Those of all selectors."""

    random_state: Any = parameter(
        default=None,
        doc="The seed of all random draws, such as permutations, folds, shadow columns and forests. None "
        "draws differently in each fit.",
    )
    kinds: Any = parameter(default=None)
    n_jobs: int | None = parameter(default=None)


class ProgressParameters(Parameters, group="Running"):
    """Those of all functions."""

    progress: Callable[[float], object] | None = parameter(
        default=None,
        doc="Called with the fraction of the work that is done. An exception that it raises ends the work.",
    )


class RunParameters(ProgressParameters, group="Running"):
    """Those of functions that work in threads."""

    n_jobs: int | None = parameter(default=None)


class SeededRunParameters(RunParameters, group="Running"):
    """Those of functions that draw at random as well."""

    random_state: int = parameter(default=0, doc="The seed of all random draws.")


class UnivariateOptions(Parameters, group="Growing"):
    """How columns are scored by their best split."""

    measure: str = parameter(
        default="gain",
        doc="The score of a split: its decrease of risk by `criterion`, per unit of weight; its mutual "
        "information with the target, in bits; or its accuracy. The last two are for classes.",
        allowed=one_of("gain", "mutual_information", "accuracy"),
    )
    criterion: str | None = parameter(
        default=None,
        doc='For ``measure="gain"``: one of `treewright.criteria()` except "gain_ratio". It also determines '
        'whether `y` holds classes or numbers; None is "gini", or "squared_error" where `y` holds floats.',
    )
    correction: str = parameter(
        default="max",
        doc="How p-values are adjusted for the number of columns, and so what `alpha` bounds. "
        '"max": the probability that any column is kept that is unrelated to the target; each score is '
        'compared with the largest score of all columns in every permutation. "benjamini-hochberg": the '
        "expected share of unrelated columns among those kept; finding a single one in d columns takes at "
        'least d / alpha permutations. "none": the probability of keeping any single unrelated column.',
        allowed=one_of("max", "benjamini-hochberg", "none"),
    )
    n_permutations: int = parameter(
        default=0,
        doc="The number of permutations of the target from which p-values are computed; 0 skips them. The "
        "smallest possible p-value is 1 / (n_permutations + 1).",
        allowed=whole(0),
    )
    min_samples_leaf: int | float = parameter(default=1)


class UnivariateParameters(Parameters, group="Growing"):
    """Which columns a univariate filter keeps."""

    k: int | float | None = parameter(
        default=None,
        kind="int, float or None",
        doc="How many columns to keep; a float is a fraction of them. If `k`, `threshold` and `alpha` are "
        "all None, the best 10 columns are kept.",
        allowed=count_or_fraction(1, False, "columns", none=True),
    )
    threshold: float | None = parameter(
        default=None,
        kind="float or None",
        doc="Keep the columns whose score is larger than this.",
        allowed=Allowed(lambda v: v is None or (is_real(v) and v == v), "a number, or None"),
    )
    alpha: float | None = parameter(
        default=None,
        kind="float or None",
        doc="Keep the columns whose adjusted p-value is at most this.",
        allowed=number(0, 1, open_left=True, open_right=True, none=True),
    )


class SplitScoresParameters(UnivariateOptions, SeededRunParameters):
    """Those of `split_scores`."""


class SearchOptions(Parameters, group="Growing"):
    """How sets of columns are searched."""

    direction: str = parameter(
        default="forward",
        doc='"forward" adds columns: up to d²/2 trees per fold for d columns, but few where few columns are '
        'enough. "backward" begins with all columns, and so also finds those that help only together. "rfe" '
        "is recursive feature elimination: at most one tree per column and fold, and finally one from all "
        "rows.",
        allowed=one_of("forward", "backward", "rfe"),
    )
    tol: float | None = parameter(
        default=0.0,
        kind="float or None",
        doc='For "best", forward and backward: stop when the best addition raises the score by no more, or '
        "the best removal lowers it by more. None goes on to the end.",
        allowed=number(0, none=True),
    )
    step: int | float = parameter(
        default=1,
        doc='For "rfe": how many columns to drop at a time; a float is a fraction of those that remain, '
        "rounded down, but at least one.",
        allowed=count_or_fraction(1, True, "remaining columns"),
    )
    rule: str = parameter(
        default="0-SE",
        doc='What "best" is: the best score, or the fewest columns within one standard error of it.',
        allowed=one_of("0-SE", "1-SE"),
    )


class WrapperParameters(Parameters, group="Growing"):
    """By which trees and scores a wrapper chooses, and how many columns."""

    estimator: Any = parameter(
        default=None,
        kw_only=False,
        kind="tree estimator or None",
        doc="A tree of treewright with its limits and pruning; None is a `DecisionTreeClassifier`, or a "
        "`DecisionTreeRegressor` where `y` holds floats. Other models: scikit-learn's RFECV.",
    )
    n_features_to_select: str | int | float = parameter(
        default="best",
        kind='"best", int or float',
        doc='How many columns to keep; a float is a fraction of them. "best" is the number with the best '
        "score; see `rule`.",
        allowed=Allowed(
            lambda v: _COUNT.check(v) or (isinstance(v, str) and v == "best"), f"{_COUNT.words}, or 'best'"
        ),
    )
    cv: Any = parameter(
        default=5,
        kind="int, splitter or list of pairs",
        doc="The number of folds, in which the classes (or the range of the numbers) are spread evenly; or "
        "folds as for scikit-learn.",
        allowed=Allowed(
            _is_cv,
            "an int >= 2, a splitter of scikit-learn, or a list of pairs (training rows, test rows)",
        ),
    )
    scoring: Any = parameter(
        default=None,
        kind="str, scorer or None",
        doc="What to maximise: the name of a scorer of scikit-learn, or one by `make_scorer`; None is the "
        "accuracy, or R² for numbers, weighted. A plain function gets the encoded table.",
        allowed=Allowed(
            lambda value: value is None or isinstance(value, str) or callable(value),
            "the name of a scorer, a callable (estimator, X, y), or None",
        ),
    )


class BorutaOptions(Parameters, group="Growing"):
    """How columns compete with shuffled copies."""

    n_estimators: int = parameter(default=100, doc="The number of trees of each forest.", allowed=whole(2))
    importance: str = parameter(
        default="permutation",
        doc="The importance of a column. "
        '"permutation": the increase of the out-of-bag loss when the column is shuffled, averaged over the '
        'trees, in units of its standard error. "gain": the share of the column in the decrease of risk by '
        "all splits, which is two to three times as fast, but also accepts columns that go with the target "
        "in these rows by chance.",
        allowed=one_of("permutation", "gain"),
    )
    criterion: str | None = parameter(
        default=None,
        doc="The criterion of the trees. It also determines whether `y` holds classes or numbers; None is "
        '"gini", or "squared_error" where `y` holds floats.',
    )
    max_depth: int | None = parameter(default=None)
    min_samples_leaf: int | float = parameter(default=1)
    max_features: int | float | str | None = parameter(
        default="sqrt",
        doc="How many columns, shadows included, each node draws; a float is a fraction of them, None "
        "is all.",
    )
    percentile: float = parameter(
        default=100.0,
        doc="The percentile of the importances of the shadows that a column must exceed: 100 is the largest "
        "of them; smaller values are less strict.",
        allowed=number(0, 100, open_left=True),
    )
    alpha: float = parameter(
        default=0.05,
        kind="float",
        doc="The level of the tests, for all columns together (Bonferroni's correction).",
        allowed=number(0, 1, open_left=True, open_right=True),
    )
    max_iter: int = parameter(
        default=100,
        doc="The largest number of rounds; the search ends when all columns are decided. Accepting anything "
        "in d columns takes log2(d / alpha) rounds.",
        allowed=whole(1),
    )


class BorutaParameters(Parameters, group="Growing"):
    """Which columns Boruta keeps."""

    keep_tentative: bool = parameter(
        default=False,
        doc="Whether to keep the columns that are still undecided after the last round.",
        allowed=TRUE_OR_FALSE,
    )


class BorutaFunctionParameters(BorutaOptions, SeededRunParameters, group="Growing"):
    """Those of `boruta`."""

    growing: Mapping[str, Any] | None = parameter(
        default=None,
        kind="mapping or None",
        doc='More options of `grow` for the trees, such as ``{"missing": "surrogate"}``.',
        allowed=Allowed(lambda v: v is None or isinstance(v, Mapping), "a dict of options of grow, or None"),
    )


class ZeroNormOptions(Parameters, group="Growing"):
    """How columns are rescaled until few are left."""

    threshold: float = parameter(
        default=1e-4,
        kind="float",
        doc="A column is dropped when its scale is below this share of the largest scale.",
        allowed=number(0, 1, open_right=True),
    )
    tol: float = parameter(
        default=1e-3,
        kind="float",
        doc="Stop when no scale changes by more than this share of the largest scale.",
        allowed=number(0),
    )
    max_iter: int = parameter(default=100, doc="The largest number of machines.", allowed=whole(1))


class ZeroNormParameters(Parameters, group="Growing"):
    """The support vector machine of the zero norm, and how many columns it keeps."""

    n_features_to_select: int | float | None = parameter(
        default=None,
        kind="int, float or None",
        doc="Stop at this many columns, or at this fraction of all; None stops when the scales converge.",
        allowed=count_or_fraction(1, False, "columns", none=True),
    )
    C: float = parameter(
        default=1.0,
        doc="The price of slack; larger values keep more columns.",
        allowed=number(0, open_left=True),
    )
    loss: str = parameter(
        default="hinge",
        doc="The loss of the machines.",
        allowed=one_of("hinge", "squared_hinge"),
    )
    multi_class: str = parameter(
        default="ovr",
        doc="With more than two classes: one machine for each (absolute weights add up), or one for all.",
        allowed=one_of("ovr", "crammer_singer"),
    )
    svm_max_iter: int = parameter(
        default=10_000,
        doc="The largest number of steps of scikit-learn's solver for one machine.",
        allowed=whole(1),
    )
