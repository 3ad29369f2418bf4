"""The parameters of trees: adding one here gives it to all tree estimators and to `grow`, which passes its
value on. `treewright.cli.options.Limits` names those that the command line has, too.

Each class is a group; estimators inherit the groups that they take (see `treewright.estimators.tree`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from treewright import _core
from treewright.parameters.checks import (
    BY_COLUMN,
    CLASS_WEIGHT,
    KINDS,
    MAX_FEATURES,
    N_JOBS,
    RANDOM_STATE,
    Allowed,
    count_or_fraction,
    instance,
    number,
    one_of,
    one_of_or,
    whole,
)
from treewright.parameters.spec import Parameters, parameter
from treewright.parameters.values import (
    ConditionalInference,
    Costs,
    FeatureCosts,
    Gain,
    Oblique,
    Pruning,
    Surrogates,
    by_name,
    from_first,
    value_or,
)


def _criteria(task: str, *aliases: str) -> str:
    """The criteria of the core for a task, as a set of names."""
    names = sorted(name for name, of in _core.criteria() if of == task)
    return "{" + ", ".join(f'"{name}"' for name in [*names, *aliases]) + "}"


MISSING = ("learn", "surrogate", "fractional", "category", "error")


class Criterion(Parameters, group="Growing"):
    """The criteria for classes and numbers."""

    criterion: str | None = parameter(
        default=None,
        kind="str or None",
        doc='The impurity that splits reduce: for classes "gini", "entropy" (also called "log_loss"), '
        '"error", "sqrt" (Kearns and Mansour) or "gain_ratio" (C4.5: the best gain ratio among the '
        'splits of at least average gain); for numbers "squared_error", "absolute_error" or "poisson". '
        'None is "gini" for classes and "squared_error" for numbers. All: `treewright.growing.criteria()`.',
        allowed=instance(str, "the name of a criterion"),
    )


class Growing(Parameters, group="Growing"):
    """How splits are chosen."""

    splitter: str = parameter(
        default="best",
        doc="Take the best threshold of each column, or one drawn at random (extremely randomised trees).",
        allowed=one_of("best", "random"),
    )
    selection: str | Gain | ConditionalInference = parameter(
        default="gain",
        kind='{"gain", "test"}, Gain or ConditionalInference',
        doc='How the column of a node is chosen: the one with the best split ("gain"; '
        "``Gain(significance=0.05)`` also stops by a χ² test), or the one that is least likely to be "
        'independent of the target ("test", or ``ConditionalInference(alpha=0.01)``), which does not '
        "favour columns with many values.",
        allowed=one_of_or((Gain, ConditionalInference), "Gain(…) or ConditionalInference(…)", "gain", "test"),
        resolve=by_name(gain=Gain, test=ConditionalInference),
    )
    split: str | Oblique = parameter(
        default="axis",
        kind='{"axis", "oblique"} or Oblique',
        doc="Test one column at a time, or also weighted sums of numeric columns, such as ``a - 0.5 b <= "
        '2``, where they gain clearly more. "oblique" is ``Oblique(columns=2)``.',
        allowed=one_of_or(Oblique, "Oblique(columns=…)", "axis", "oblique"),
        resolve=by_name(oblique=Oblique),
    )
    threshold: str = parameter(
        default="readable",
        doc="The threshold of a test, of all those that separate the same rows: the shortest decimal, or "
        "the midpoint.",
        allowed=one_of("readable", "midpoint"),
    )
    category_gain: str = parameter(
        default="corrected",
        doc="Whether the gain of a subset of categories is reduced by what the best subset would gain by "
        "chance if the column were independent of the target, before columns and nodes compete; a "
        "subset must then gain 1.35 times as much as chance. This keeps ids and columns of very many "
        "values from winning by memorising rows. Numbers and columns of two categories are not "
        'affected. "plain" compares gains as they are, as CART does.',
        allowed=one_of("corrected", "plain"),
    )
    root: Any = parameter(
        default=None,
        kind="Below, Among, str or None",
        doc="The first split, if it is prescribed: a test, or the name of a column whose best split is "
        "taken. It must respect the other limits.",
        allowed=Allowed(
            lambda v: v is None or isinstance(v, str) or type(v).__name__ in ("Below", "Among"),
            "Below(column, threshold), Among(column, categories), the name of a column, or None",
        ),
    )


class LinearLeaves(Parameters, group="Growing"):
    """Model trees, for numbers."""

    leaf: str = parameter(
        default="constant",
        doc="Whether leaves predict their mean, or a ridge regression on the columns tested above them (a "
        'model tree; for one target, by "squared_error"). The splits are the same.',
        allowed=one_of("constant", "linear"),
    )


class Stopping(Parameters, group="Stopping"):
    """When growing stops."""

    max_depth: int | None = parameter(
        default=None,
        kind="int or None",
        doc="The largest number of tests on a path from the root to a leaf; None is no limit.",
        allowed=whole(1, none=True),
    )
    min_samples_split: int | float = parameter(
        default=2,
        kind="int or float",
        doc="A node with fewer rows is not split. A float is a fraction of all rows, rounded up.",
        allowed=count_or_fraction(2, False, "rows"),
    )
    min_samples_leaf: int | float = parameter(
        default=1,
        kind="int or float",
        doc="Both sides of a split have at least this many rows. A float is a fraction of all rows, rounded "
        "up.",
        allowed=count_or_fraction(1, True, "rows"),
    )
    max_leaf_nodes: int | None = parameter(
        default=None,
        kind="int or None",
        doc="The largest number of leaves; the leaf with the largest gain is split first (best-first).",
        allowed=whole(2, none=True),
    )


class RelativeLimits(Parameters, group="Stopping"):
    """What estimators take as fractions of the total weight."""

    min_weight_fraction_leaf: float = parameter(
        default=0.0,
        doc="Both sides of a split have at least this fraction of the total weight.",
        allowed=number(0, 0.5),
    )
    min_impurity_decrease: float = parameter(
        default=0.0,
        doc="A split must reduce the impurity by at least this much per unit of the total weight.",
        allowed=number(0),
    )


class PruningOptions(Parameters, group="Pruning"):
    """How the grown tree is pruned, in `fit`."""

    ccp_alpha: float = parameter(
        default=0.0,
        doc="The cost of a leaf in minimal cost-complexity pruning, as in scikit-learn; 0 does not prune.",
        allowed=number(0),
    )
    pruning: str | Pruning | None = parameter(
        default=None,
        kind="str, pruning method or None",
        doc='How the grown tree is pruned: "cost_complexity", "reduced_error", "minimum_errors" … (all: '
        "`treewright.pruning.methods()`), or a method with its options: "
        '``CostComplexity(select="folds", rule="1-SE")``, ``Pessimistic(confidence=0.1)``. Where the '
        "method makes several trees, one is chosen by rows that are set aside (a `validation_fraction` "
        "of 0.25), unless `select` names another way. None does not prune.",
        allowed=Allowed(
            lambda v: v is None or isinstance(v, str | Pruning),
            "the name of a pruning method, a method such as CostComplexity(…), or None",
        ),
        resolve=Pruning.of,
    )


class MissingValues(Parameters, group="Missing values"):
    """What happens to rows whose value is missing."""

    missing: str | Surrogates = parameter(
        default="learn",
        kind='{"learn", "surrogate", "fractional", "category", "error"} or Surrogates',
        doc="Where a row goes whose value is missing: to the side that gains more (learned at each split); "
        'where surrogate splits on other columns send it (as in rpart; "surrogate" is '
        "``Surrogates(5)``); to both sides, in proportion to their weights (C4.5); to a branch of its "
        "own, as one more category; or it is an error.",
        allowed=one_of_or(Surrogates, "Surrogates(n)", *MISSING),
        resolve=by_name(surrogate=Surrogates),
    )


class CostSensitivity(Parameters, group="Costs"):
    """What mistakes cost; for classes."""

    costs: Any = parameter(
        default=None,
        kind="Costs, array of shape (n_classes, n_classes), dict of dicts or None",
        doc="Misclassification costs: ``costs[i, j]`` is the cost of predicting class j where the truth is "
        'class i, in the order of the classes; or by name: ``{"ill": {"well": 10}}``, where pairs that '
        "are not named cost 1. Leaves predict the class of the smallest cost, and losses of pruning and "
        "certificates are costs. ``Costs(matrix, priors=…, split=…)`` also takes prior probabilities, "
        "and how both change the splits. For one target.",
        allowed=Allowed(
            lambda v: v is None or isinstance(v, Mapping | list | tuple | Costs) or hasattr(v, "__array__"),
            "a matrix, a dict of dicts, Costs(…), or None",
        ),
        resolve=from_first(Costs),
    )


class Constraints(Parameters, group="Constraints"):
    """What the tree may test and predict."""

    monotonic_cst: Any = parameter(
        default=None,
        kind="dict, array of shape (n_columns,) or None",
        doc="By column name, or one for each column: 1 if the prediction must not fall as the column grows, "
        "-1 if it must not rise, 0 for no constraint. With classes it is the share of the later classes "
        "(of two: of the second) that must not fall or rise.",
        allowed=BY_COLUMN,
    )
    interaction_cst: Any = parameter(
        default=None,
        kind='"pairwise", "no_interactions", groups of columns or None',
        doc="Which columns, by name or position, may be tested together on one path. A column in no group "
        "is tested with no other.",
        allowed=Allowed(
            lambda v: (
                v is None
                or (isinstance(v, str) and v in ("pairwise", "no_interactions"))
                or isinstance(v, list | tuple | set)
            ),
            "'pairwise', 'no_interactions', a list of groups of columns, or None",
        ),
    )
    feature_costs: Any = parameter(
        default=None,
        kind="FeatureCosts, dict, array of shape (n_columns,) or None",
        doc="The price of measuring a column, by name or one for each column; 0 for columns that are not "
        "named. The gain of a split is divided by 1 + price, unless the column is tested above it. "
        "``FeatureCosts(prices, max_used=3)`` also limits how many different columns the whole tree "
        "tests.",
        allowed=value_or(BY_COLUMN, FeatureCosts, "FeatureCosts(…)"),
        resolve=from_first(FeatureCosts),
    )


class Sampling(Parameters, group="Sampling"):
    """What is drawn at random."""

    max_features: int | float | str | None = parameter(
        default=None,
        kind='int, float, {"sqrt", "log2"} or None',
        doc="How many columns, drawn at random, each node considers; a float is a fraction of them, None is "
        "all. If none of these can be split, more are drawn.",
        allowed=MAX_FEATURES,
    )


class Running(Parameters, group="Running"):
    """How the work is done."""

    n_jobs: int | None = parameter(
        default=None,
        kind="int or None",
        doc="The number of threads; the result is the same for any number. None is 1, -1 all cores.",
        allowed=N_JOBS,
    )


class Columns(Parameters, group="Running"):
    """What estimators know about the columns, and keep about them."""

    n_competitors: int = parameter(
        default=0,
        doc="How many competing splits of each test to keep: the best splits of other columns, as "
        "`competitors_`.",
        allowed=whole(0),
    )
    kinds: Any = parameter(
        default=None,
        kind="dict, list or None",
        doc='Kinds of columns that must not be inferred, by column name: "number", "category", "time" …',
        allowed=KINDS,
    )


class ClassCriterion(Criterion, group="Growing"):
    """The criteria for classes."""

    criterion: str = parameter(
        default="gini",
        kind=_criteria("classes", "log_loss"),
        doc='The impurity that splits reduce: the Gini index, the entropy ("log_loss" is another name for '
        "it), the training error or Kearns and Mansour's square root; or C4.5's gain ratio: the best "
        "one among the splits of at least average gain.",
        allowed=Allowed(lambda v: isinstance(v, str), "the name of a criterion"),
    )


class NumberCriterion(Criterion, group="Growing"):
    """The criteria for numbers."""

    criterion: str = parameter(
        default="squared_error",
        kind=_criteria("numbers"),
        doc="The impurity that splits reduce: the squared error about the mean, the absolute error about "
        "the median, or the Poisson deviance about the mean (for targets that are not negative).",
        allowed=Allowed(lambda v: isinstance(v, str), "the name of a criterion"),
    )


class RandomThresholds(Parameters, group="Growing"):
    """The options that trees with random thresholds do not have."""

    split: ClassVar[str] = "axis"
    category_gain: ClassVar[str] = "corrected"
    leaf: ClassVar[str] = "constant"
    root: ClassVar[None] = None
    n_competitors: ClassVar[int] = 0


class TreeParameters(
    Growing,
    Stopping,
    RelativeLimits,
    PruningOptions,
    MissingValues,
    Constraints,
    Sampling,
    Columns,
    Running,
    group="Growing",
):
    """All parameters that trees of classes and trees of numbers share."""

    random_state: Any = parameter(
        default=None,
        kind="int, RandomState or None",
        doc='The seed. With ``splitter="best"`` and all columns nothing is random: the same table gives the '
        'same tree. With ``split="oblique"`` some directions are drawn; None is a fixed seed there. It '
        "also seeds which rows pruning sets aside, or how it makes folds.",
        allowed=RANDOM_STATE,
        group="Sampling",
    )


class ClassifierParameters(ClassCriterion, TreeParameters, CostSensitivity, group="Growing"):
    """Those of trees of classes."""

    class_weight: Any = parameter(
        default=None,
        kind='dict, list of dict, "balanced" or None',
        doc="Weights of the classes, multiplied into those of the rows; one dict per target if there are "
        'several. "balanced" gives each class the same total weight (rows count by their '
        "`sample_weight`). Costs are multiplied by it, too; priors undo it.",
        allowed=CLASS_WEIGHT,
        group="Costs",
    )


class RegressorParameters(NumberCriterion, TreeParameters, LinearLeaves, group="Growing"):
    """Those of trees of numbers."""


class GrowParameters(
    Criterion,
    Growing,
    LinearLeaves,
    Stopping,
    RelativeLimits,
    MissingValues,
    CostSensitivity,
    Constraints,
    Sampling,
    Running,
    group="Growing",
):
    """Those of `grow`. Trees of a single leaf, which need no fit, are allowed."""

    max_depth: int | None = parameter(default=None, allowed=whole(0, none=True))
    min_samples_split: int | float = parameter(default=2, allowed=count_or_fraction(1, False, "rows"))
    max_leaf_nodes: int | None = parameter(default=None, allowed=whole(1, none=True))
    random_state: int = parameter(
        default=0,
        doc="The seed; the tree depends on it only where something is drawn at random.",
        allowed=whole(0),
        group="Sampling",
    )
    progress: Callable[[float], object] | None = parameter(
        default=None,
        kind="callable or None",
        doc="Called every few milliseconds with the fraction of the rows that have reached their leaf, or "
        "of the splits that the budget allows. An exception that it raises ends the growing.",
        allowed=Allowed(lambda v: v is None or callable(v), "a function, or None"),
        group="Running",
    )


GROW = GrowParameters.parameters
