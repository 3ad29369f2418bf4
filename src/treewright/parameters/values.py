"""Option values of the tree estimators and of `grow`: the options of an option, with a name as shorthand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from treewright.parameters.checks import Allowed, instance, is_fraction, number, one_of, whole
from treewright.parameters.spec import Option, parameter

COST_SPLITS = ("altered_priors", "generalised_gini", "none")


class Surrogates(Option):
    """Missing values by surrogate splits, as in rpart: ``missing=Surrogates(5)``.

    A row whose value is missing goes where the tests of other columns send it that agree best with the
    split's own. ``missing="surrogate"`` is ``missing=Surrogates()``.

    Examples
    --------
    >>> from treewright import Surrogates
    >>> Surrogates(3), Surrogates() == Surrogates(5)
    (Surrogates(3), True)
    """

    stands_for: ClassVar[dict[str, str]] = {"missing": "surrogate"}

    n: int = parameter(
        keyword="n_surrogates",
        default=5,
        kw_only=False,
        doc="How many surrogate columns each split keeps.",
        allowed=whole(0),
    )


class Oblique(Option):
    """Oblique splits: weighted sums of numeric columns, such as ``a - 0.5 b <= 2``, where they gain clearly
    more.

    Directions are found by regression on the target and at random, refined, rounded, and scanned exactly. An
    oblique split is chosen where its gain, less 10 % for each column after the first, is larger than that of
    the best single column. ``split="oblique"`` is ``split=Oblique()``.

    Examples
    --------
    >>> from treewright import DecisionTreeClassifier, Oblique
    >>> DecisionTreeClassifier(split=Oblique(3))
    DecisionTreeClassifier(split=Oblique(3))
    """

    stands_for: ClassVar[dict[str, str]] = {"split": "oblique"}

    columns: int = parameter(
        keyword="max_combined",
        default=2,
        kw_only=False,
        doc="The largest number of columns in one sum.",
        allowed=whole(2),
    )


class Gain(Option):
    """Choose the column with the best split, by the criterion.

    ``selection="gain"`` is ``selection=Gain()``.

    Examples
    --------
    >>> from treewright import DecisionTreeClassifier, Gain
    >>> DecisionTreeClassifier(selection=Gain(significance=0.01))
    DecisionTreeClassifier(selection=Gain(significance=0.01))
    """

    stands_for: ClassVar[dict[str, str]] = {"selection": "gain"}

    significance: float | None = parameter(
        keyword="significance",
        default=None,
        kind="float or None",
        doc="Split a node only where Pearson's χ² test of its best split (the two sides by the classes in "
        "the node, weights taken as counts) has a p-value of at most this. χ² and degrees of freedom of "
        "several targets are summed. The p-value does not account for the split being the best of many. "
        "For classes only.",
        allowed=number(0, 1, open_left=True, none=True),
    )


class ConditionalInference(Option):
    """Choose the column by a test of independence from the target: a conditional inference tree (`ctree`).

    The test, a permutation test in its asymptotic form (Hothorn, Hornik and Zeileis 2006), does not favour
    columns with many values. A node in which no column has a p-value, times the number of columns, of at most
    `alpha` stays a leaf. The split of the chosen column is the best one by the criterion.
    ``selection="test"`` is ``selection=ConditionalInference()``.

    Examples
    --------
    >>> from treewright import ConditionalInference, DecisionTreeClassifier
    >>> DecisionTreeClassifier(selection=ConditionalInference(0.01))
    DecisionTreeClassifier(selection=ConditionalInference(0.01))
    """

    stands_for: ClassVar[dict[str, str]] = {"selection": "test"}

    alpha: float = parameter(
        keyword="significance",
        default=0.05,
        kw_only=False,
        doc="The level of the test, after Bonferroni's correction.",
        allowed=number(0, 1, open_left=True),
    )


class Costs(Option):
    """Misclassification costs and prior probabilities of the classes.

    A plain matrix or dict of dicts stands for ``Costs(matrix)``.

    Examples
    --------
    >>> from treewright import Costs
    >>> Costs({"ill": {"well": 10}}, split="none")
    Costs({'ill': {'well': 10}}, split='none')
    """

    matrix: Any = parameter(
        keyword="cost_matrix",
        default=None,
        kw_only=False,
        kind="array of shape (n_classes, n_classes), dict of dicts or None",
        doc="``matrix[i, j]`` is the cost of predicting class j where the truth is class i, in the order of "
        '`classes_`; zero on the diagonal. By name: ``{"ill": {"well": 10}}``; pairs that are not named '
        "cost 1. Leaves predict the class of the smallest cost; losses of pruning and certificates are "
        "costs.",
    )
    priors: Any = parameter(
        keyword="priors",
        default=None,
        kind="array of shape (n_classes,), dict or None",
        doc="The prior probabilities of the classes, where they differ from the frequencies in the rows; "
        "they sum to 1.",
    )
    split: str = parameter(
        keyword="cost_split",
        default="altered_priors",
        doc="How costs and priors change the splits. By altered priors a row of class i has a weight in "
        "proportion to π_i Σ_j matrix[i, j], for any criterion; `min_impurity_decrease`, "
        "`min_weight_fraction_leaf` and the order of the splits go by these weights, which have the same "
        "total. The generalised Gini index, Σ cost · share · share over pairs of classes, uses the costs "
        "of each pair; with two classes it ignores which mistake costs more. With "
        '"none" costs change the predictions of leaves only.',
        allowed=one_of(*COST_SPLITS),
    )


class FeatureCosts(Option):
    """Prices of measuring columns, and how many columns the tree may test.

    A plain dict or sequence stands for ``FeatureCosts(prices)``.

    Examples
    --------
    >>> from treewright import FeatureCosts, encode, grow
    >>> data = encode({"scan": [1, 2, 3, 4], "age": [1, 2, 3, 4]}, ["a", "a", "b", "b"])
    >>> grow(data, feature_costs=FeatureCosts({"scan": 500}, max_used=1)).root.test.column
    'age'
    """

    prices: Any = parameter(
        keyword="feature_costs",
        default=None,
        kw_only=False,
        kind="dict, array of shape (n_columns,) or None",
        doc="The price of measuring a column, by name or one for each column; 0 for columns that are not "
        "named. The gain of a split is divided by 1 + price, unless the column is tested above it.",
    )
    max_used: int | None = parameter(
        keyword="max_features_used",
        default=None,
        kind="int or None",
        doc="The largest number of different columns that the whole tree may test.",
        allowed=whole(1, none=True),
    )


class Pruning(Option):
    """How a fitted tree is pruned: the base class of `treewright.pruning.values.CostComplexity` and the
    others.

    Besides their own options they take those of `select`, such as ``rule="1-SE"``, which are checked in
    `fit`.
    """

    method: ClassVar[str] = ""
    classes: ClassVar[dict[str, type[Pruning]]] = {}  # by the name of the method
    takes_others: ClassVar[bool] = True

    select: str | None = parameter(
        default=None,
        kind="str or None",
        doc='How one tree is chosen where the method makes several: "held_out" (by rows that are set '
        'aside), "folds", "leaves" …; None is the way to which the other options belong, or else '
        '"held_out".',
        allowed=instance(str, "the name of a way to select"),
    )
    validation_fraction: float = parameter(
        default=0.25,
        doc="The fraction of the rows that is set aside where `fit` needs rows to validate by and is given "
        "none.",
        allowed=Allowed(lambda v: is_fraction(v) and 0 < v < 1, "a float in (0, 1)"),
    )

    def __init_subclass__(cls, **others: Any) -> None:
        super().__init_subclass__(**others)
        Pruning.classes[cls.method] = cls

    def keywords(self) -> dict[str, Any]:
        """The options of the method and of the selection that were given."""
        return {name: value for name, value in self.changes.items() if name not in Pruning.parameters}

    @staticmethod
    def of(given: Any) -> Any:
        """The value that the name of a method stands for; everything else as it is."""
        known = Pruning.classes
        return known[given]() if isinstance(given, str) and given in known else given


def by_name(**values: type[Option]) -> Callable[[Any], Any]:
    """A function that makes option values of their names and leaves everything else as it is."""
    return lambda given: values[given]() if isinstance(given, str) and given in values else given


def from_first(kind: Callable[[Any], Option]) -> Callable[[Any], Any]:
    """A function that makes an option value of its plain first argument."""
    return lambda given: given if given is None or isinstance(given, Option) else kind(given)


def value_or(check: Allowed, kind: type[Option], call: str) -> Allowed:
    """What a check allows, or an option value."""
    words = check.words.removesuffix(", or None")
    return Allowed(lambda v: isinstance(v, kind) or check.check(v), f"{words}, {call}, or None")
