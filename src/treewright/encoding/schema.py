"""What a table looks like: the names and kinds of its columns, and what is to be predicted."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from treewright._suggestions import checked_keywords, choices_text
from treewright.encoding.kinds import KINDS, Kind, KindName
from treewright.encoding.text import TextFormat

Missing = Literal["learn", "surrogate", "fractional", "category", "error"]
MISSING: tuple[Missing, ...] = get_args(Missing)
WIDEST_TABLE = 256  # more classes than this are not kept as a table of nodes by classes, but compressed


@checked_keywords
@dataclass(frozen=True)
class Column:
    """One column of a table.

    A number is tested against a threshold, a category against a set of values. A time is a number
    (microseconds since 1970, in UTC where the table names a zone) that is shown as a date. The behaviour of
    its kind is a method of `type`.

    Examples
    --------
    >>> from treewright import Column
    >>> Column("age").kind, Column("job", "category", ("cook", "pilot")).is_category
    ('number', True)
    """

    name: str
    kind: KindName = "number"
    categories: tuple[Hashable, ...] = ()  # a category's code is its position here
    text: TextFormat | None = None  # how texts of this column are read, where it came as texts

    @property
    def type(self) -> Kind:
        """The behaviour of the column's kind."""
        return KINDS[self.kind]

    @property
    def is_category(self) -> bool:
        """Whether the cells are codes, tested against sets of categories; otherwise they are floats."""
        return self.type.is_category

    @property
    def is_summable(self) -> bool:
        """Whether values of the column may be weighted and added up."""
        return self.type.is_summable

    def threshold_text(self, value: float) -> str:
        """A threshold as it is shown: a number in its shortest form, a time as a date."""
        return self.type.threshold_text(value)

    def value_text(self, cell: float) -> str:
        """One known cell as it is shown: a category by its name."""
        return self.type.value_text(self, cell)


@checked_keywords
@dataclass(frozen=True)
class Target:
    """One target: classes in the order of their codes, or numbers where `classes` is None.

    Where there are misclassification costs, `costs[i][j]` is the cost of predicting class j for a row of
    class i; predictions and losses follow it. Splits are chosen with the weights of rows multiplied by the
    `emphasis` of their class, and by the generalised Gini index where there are `stakes`, a cost matrix.

    Examples
    --------
    >>> from treewright import encode
    >>> encode({"x": [1, 2]}, ["no", "yes"]).schema.targets[0].classes
    ('no', 'yes')
    """

    name: str = "y"
    classes: tuple[Hashable, ...] | None = None
    costs: tuple[tuple[float, ...], ...] | None = None
    emphasis: tuple[float, ...] | None = None  # None: 1 for each class
    stakes: tuple[tuple[float, ...], ...] | None = None  # None: the criterion of the tree
    # Prior probabilities of the classes; `costs` are already scaled by them and by the shares of the classes
    # in the training rows, so that they depend on these rows.
    priors: tuple[float, ...] | None = None
    text: TextFormat | None = None  # how numbers that come as texts are read


@checked_keywords
@dataclass(frozen=True)
class Schema:
    """The columns that a tree may test and the targets that it predicts.

    >>> schema = Schema((Column("age"), Column("job", "category", ("clerk", "cook"))),
    ...                 (Target("loan", classes=("no", "yes")),))
    >>> schema.names
    ('age', 'job')
    >>> schema.width  # components of a node's statistic: one weight per class
    2
    """

    columns: tuple[Column, ...]
    targets: tuple[Target, ...] = (Target(),)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def only_numbers(self) -> bool:
        """Whether every column is a number, so that a matrix of floats fits as it is."""
        return all(KINDS[kind].is_summable for kind in {column.kind for column in self.columns})

    @cached_property
    def category_counts(self) -> list[int]:
        """The number of categories of each column; 0 for numbers and times."""
        if self.only_numbers:  # there may be 100,000
            return [0] * len(self.columns)
        return [len(column.categories) if column.is_category else 0 for column in self.columns]

    @cached_property
    def own_thresholds(self) -> list[tuple[int, Kind]]:
        """The columns with thresholds of their own kind, by their positions."""
        kinds = enumerate(column.type for column in self.columns)
        return [(j, kind) for j, kind in kinds if kind.has_own_thresholds]

    @cached_property
    def subset_sizes(self) -> list[int]:
        """How many bytes the bits of a subset of each column's categories take."""
        return [(n + 7) // 8 for n in self.category_counts]

    @cached_property
    def reads_texts(self) -> bool:
        """Whether some column or target is read from texts."""
        return any(part.text is not None for parts in (self.columns, self.targets) for part in parts)

    @property
    def predicts_classes(self) -> bool:
        """Whether the targets are classes (True) or numbers (False)."""
        return bool(self.targets) and self.targets[0].classes is not None

    @property
    def block_widths(self) -> tuple[int, ...]:
        """Components of the statistic for each target: its classes, or (weight, value, deviation)."""
        return tuple(3 if target.classes is None else len(target.classes) for target in self.targets)

    @property
    def has_costs(self) -> bool:
        """Whether some target says what its mistakes cost."""
        return any(target.costs is not None for target in self.targets)

    @property
    def width(self) -> int:
        """Components of a node's statistic, over all targets."""
        return sum(self.block_widths)

    @property
    def is_wide(self) -> bool:
        """Whether there are so many classes that a tree lists only those that a leaf holds."""
        return self.predicts_classes and self.width > WIDEST_TABLE

    def position(self, name: str) -> int:
        """The index of the column called `name`."""
        try:
            return self.names.index(name)
        except ValueError:
            known = choices_text(name, self.names, in_quotes=True)
            raise KeyError(f"there is no column {name!r}; the columns are {known}") from None
