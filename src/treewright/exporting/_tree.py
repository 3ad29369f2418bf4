"""What the exports to programming languages share: the columns that a tree reads, its tests and
predictions as tables, names that a compiler accepts, comments that no name can end.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright._suggestions import choices_text
from treewright._text import count, escape, label_text, percent, row_count, set_text
from treewright._version import __version__
from treewright.encoding.schema import Column, Target
from treewright.exporting._split_tests import has_surrogates, questions
from treewright.tree import Tree
from treewright.tree.wording import branch_in_words, number_in_words

Style = Literal["auto", "nested", "tables"]
STYLES: tuple[Style, ...] = ("auto", "nested", "tables")
MOST_NESTED_LEAVES = 64  # by itself a larger tree is written as tables and a loop
DEEPEST_NESTED = 24  # compilers have limits of their own, the lowest of which is Python's, of 100
DEEPEST_ASKED = 60
MOST_NESTED_CATEGORIES = 500
WIDEST = 100  # characters of a line
LONGEST_REMARK = 72
MOST_NAMED = 40  # columns in the heading
LARGEST_INTEGER = 2**63 - 1
AT_ONCE = 10**6  # shares looked at together


@dataclass(frozen=True)
class Code:
    """A tree as a program needs it."""

    tree: Tree

    @cached_property
    def sums(self) -> list[int]:
        """The sums of columns that some test reads, as features."""
        return [j for j in _distinct(self.tree.feature) if j >= len(self.tree.schema.columns)]

    @cached_property
    def used(self) -> list[int]:
        """The columns that some test, surrogate, sum or formula of a leaf reads, in order."""
        tree, n = self.tree, len(self.tree.schema.columns)
        found = {*_distinct(tree.feature), *_distinct(tree.surrogates.feature)} - {*self.sums}
        found |= {j for _, terms in self.formulas or () for j, _, _ in terms}
        return sorted(found.union(*(tree.directions[j - n].columns for j in self.sums)))

    @cached_property
    def required_columns(self) -> list[int]:
        """The columns, then the sums, that must not be missing: what some test reads, if the tree takes
        complete rows only.
        """
        if self.tree.missing != "error":
            return []
        tested = _distinct(self.tree.feature)
        parts = {column for j in self.sums for column, _ in self.terms(j)}
        return [*sorted({*tested, *parts} - {*self.sums}), *self.sums]

    @cached_property
    def formulas(self) -> list[tuple[float, list[tuple[int, float, float]]]] | None:
        """The formula of each leaf of a model tree: the intercept and, in the order in which
        they are added, (column, coefficient, what a value that is missing or not finite counts as).
        """
        linear = self.tree.linear
        if linear is None:
            return None
        return [
            (float(linear.intercept[leaf]), [(j, c, float(linear.mean[j])) for j, c in linear.terms(leaf)])
            for leaf in self.leaves.tolist()
        ]

    @cached_property
    def columns(self) -> list[Column]:
        """These columns, as the schema describes them."""
        return [self.tree.schema.columns[j] for j in self.used]

    def variables(self, reserved: Container[str]) -> dict[int, str]:
        """A name for each column that is used, then for each sum."""
        sums = [f"sum {place}" for place in range(1, len(self.sums) + 1)]
        names = identifiers([*(column.name for column in self.columns), *sums], reserved)
        return dict(zip([*self.used, *self.sums], names, strict=True))

    def terms(self, feature: int) -> list[tuple[int, float]]:
        """The columns and weights of a sum, in the order in which they are added up."""
        direction = self.tree.directions[feature - len(self.tree.schema.columns)]
        return list(zip(direction.columns, direction.weights, strict=True))

    @cached_property
    def leaves(self) -> NDArray[np.intp]:
        """The node of each leaf, from left to right."""
        return np.flatnonzero(self.tree.is_leaf)

    @cached_property
    def place(self) -> list[int]:
        """For each node the number of leaves before it: of a leaf its place."""
        return (np.cumsum(self.tree.is_leaf) - self.tree.is_leaf).tolist()

    @property
    def has_categories(self) -> bool:
        """Whether some test or surrogate reads a category."""
        return bool(self.tree.subsets.size or self.tree.surrogates.subsets.size)

    @property
    def targets(self) -> tuple[Target, ...]:
        """What is predicted."""
        return self.tree.schema.targets

    @property
    def predicts_classes(self) -> bool:
        """Whether classes are predicted, not numbers."""
        return self.tree.schema.predicts_classes

    # ---- tests ---------------------------------------------------------------------------------------

    def among(self, node: int, *, to_left: bool = True) -> tuple[bool, tuple[int, ...], bool]:
        """(within, codes, missing): a row goes to a child if its category is within the codes, or if it is
        not; `missing` says whether missing values belong to the codes. Unseen ones never do.
        """
        within, codes = next(questions(self.tree, node, to_left=to_left)).listed
        missing_goes = bool(self.tree.missing_left[node]) == to_left
        return within, codes, missing_goes == within

    # ---- answers -------------------------------------------------------------------------------------

    def answers(self, target: int) -> list[Any]:
        """The prediction of each leaf: the code of a class, or a number."""
        table = self.tree.label if self.predicts_classes else self.tree.value
        return list(table[self.leaves, target].tolist())

    def shares(self, target: int) -> Iterator[list[tuple[int, float]]]:
        """The classes that occur in each leaf, with their shares."""
        step = max(1, AT_ONCE // self.tree.schema.width)
        for start in range(0, len(self.leaves), step):
            table = self.tree.shares(self.leaves[start : start + step])[target]
            leaf, code = np.nonzero(table)
            found = list(zip(code.tolist(), table[leaf, code].tolist(), strict=True))
            border = np.searchsorted(leaf, np.arange(len(table) + 1)).tolist()
            yield from (found[a:b] for a, b in pairwise(border))

    # ---- words ---------------------------------------------------------------------------------------

    def heading(self) -> list[str]:
        """What the program is, as lines of printable characters."""
        tree = self.tree
        names = " and ".join(_short(escape(target.name)) for target in self.targets)
        lines = [f"A decision tree with {count(tree.n_leaves, 'leaf')} that predicts {names}."]
        lines += [f"Made by treewright {__version__}.", ""]
        if not self.columns:
            return [*lines, "It reads no column: the prediction is always the same."]
        lines.append("It reads:")
        size = max(len(_short(escape(column.name))) for column in self.columns[:MOST_NAMED])
        for column in self.columns[:MOST_NAMED]:
            lines.append(f"  {_short(escape(column.name)):{size}}   {_short(_kind_in_words(column), 60)}")
        if len(self.columns) > MOST_NAMED:
            lines.append(f"  … {count(len(self.columns) - MOST_NAMED, 'more column')}")
        for place, j in enumerate(self.sums[:MOST_NAMED], start=1):
            lines.append(f"  sum {place} = {remark(self.tree.tested[j].name)}")
        return lines

    def test_in_words(self, node: int) -> str:
        """The condition for going left, with where missing values go."""
        if has_surrogates(self.tree, node):
            return remark(f"{branch_in_words(self.tree, node, True, learnt=frozenset())}; missing: by others")
        return remark(branch_in_words(self.tree, node, True, learnt=frozenset([*self.used, *self.sums])))

    def leaf_in_words(self, node: int) -> str:
        """The prediction of a leaf, its rows, and the share of its class among them."""
        tree, rows = self.tree, row_count(int(self.tree.rows[node]))
        if not self.predicts_classes:
            is_plain = tree.linear is None
            words = map(repr, tree.value[node].tolist()) if is_plain else [number_in_words(tree, node, 4)]
            return remark(f"{', '.join(words)}: {rows}")
        labels = zip(self.targets, tree.label[node].tolist(), strict=True)
        words = [_short(label_text((target.classes or ())[code]), 30) for target, code in labels]
        shares = [percent(share) for share in tree.confidence[node].tolist()]
        return remark(f"{', '.join(words)}: {rows}, {', '.join(shares)}")

    # ---- shape ---------------------------------------------------------------------------------------

    def nests(self, style: str) -> bool:
        """Whether to write nested tests, not tables; with style "auto", if a person can read the tree."""
        if style not in STYLES:
            raise ValueError(f"style is {style!r}; known: {', '.join(STYLES)}")
        most = max(self.tree.depth, int(np.bincount(self.tree.surrogates.node, minlength=1).max()))
        if style == "nested" and most > DEEPEST_ASKED:
            what = f"is {most} tests deep" if most == self.tree.depth else f"has {most} surrogates at a node"
            raise ValueError(
                f"this tree {what}; style='nested' goes to {DEEPEST_ASKED}, "
                "as compilers limit how deep a program nests; use style='tables'"
            )
        if divides(self.tree):
            if style == "nested":
                raise ValueError(
                    "this tree divides rows with a missing value (missing='fractional'), which tests within "
                    "tests cannot; use style='tables'"
                )
            return False
        if style != "auto":
            return style == "nested" or self.tree.n_leaves == 1
        if self.tree.n_leaves > MOST_NESTED_LEAVES or self.tree.depth > DEEPEST_NESTED:
            return False
        by_category = np.flatnonzero(self.tree.subset >= 0).tolist()
        named = sum(len(self.among(node)[1]) for node in by_category)
        others = self.tree.surrogates
        counts = np.array([0, *self.tree.schema.category_counts])
        named += int((1 + counts[1 + others.feature]).sum())
        return named <= MOST_NESTED_CATEGORIES


def divides(tree: Tree) -> bool:
    """Whether a row with a missing value goes to several leaves."""
    return tree.missing == "fractional" and tree.n_nodes > 1


def _distinct(features: NDArray[np.int32]) -> list[int]:
    return [j for j in np.unique(features).tolist() if j >= 0]


def family(column: Column) -> str:
    """What the values of a column are: number, time, text, or a number or bool as a category's name."""
    kind = column.type.family(column.categories)
    if not column.is_category:
        return kind
    return "text" if kind in ("text", "nothing") else "name"


def label_type(labels: Sequence[Any]) -> str:
    """The narrowest type that holds all of some categories or classes: text, float, bool or integer."""
    if not labels or isinstance(labels[0], str):
        return "text"
    if any(isinstance(label, float) for label in labels):
        return "float"
    return "bool" if isinstance(labels[0], bool) else "integer"


def unknown_label(labels: Sequence[Any]) -> Any:
    """A text or a whole number that is none of some labels."""
    if label_type(labels) == "text":
        return "".join(labels) + "?"
    known = set(labels)
    return next(number for number in range(len(labels) + 1) if number not in known)


def plain(values: Any) -> list[Any]:
    """A column of `probes` as Python's own values; times as microseconds, a missing one as None."""
    if not isinstance(values, np.ndarray):
        return list(values)
    if values.dtype.kind != "M":
        return list(values.tolist())
    missing = np.isnat(values).tolist()
    ticks = values.astype("M8[us]").astype(np.int64).tolist()
    return [None if gone else tick for gone, tick in zip(missing, ticks, strict=True)]


def label_array(tree: Tree, answers: list[Any]) -> NDArray[Any]:
    """Predictions as an array in which no label changes its type or value."""
    if not tree.schema.predicts_classes:
        return np.array(answers, np.float64)
    array = np.empty(np.shape(answers) if len(tree.schema.targets) > 1 else len(answers), object)
    array[:] = answers
    return array


def in_columns(answers: list[NDArray[Any]]) -> NDArray[Any]:
    """The predictions for one target, or a column for each of several."""
    return answers[0] if len(answers) == 1 else np.stack(answers, axis=1)


def optional_module(name: str, purpose: str, package: str) -> Any:
    """An optional module; ImportError with the command that installs it."""
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(f"{purpose} needs {name}: pip install '{package}'") from None


def all_labels(code: Code) -> Iterator[tuple[str, Any]]:
    """The categories of the columns and the classes of the targets, each with what has it."""
    yield from ((f"column {column.name!r}", c) for column in code.columns for c in column.categories)
    yield from ((f"target {target.name!r}", c) for target in code.targets for c in target.classes or ())


def check_labels(code: Code) -> None:
    """TypeError about a category or class that has no literal in programs."""
    for what, label in all_labels(code):
        if type(label) not in (str, bool, int, float):
            raise TypeError(
                f"{_short(what)} holds {label!r} of type {type(label).__name__}, but an export holds "
                "only str, bool, int and float; convert it"
            )


def check_integers(code: Code, language: str) -> None:
    """ValueError about an integer that is too large for a language."""
    for what, label in all_labels(code):
        if isinstance(label, int) and abs(label) > LARGEST_INTEGER:
            raise ValueError(f"{what} holds integers beyond 64 bits, for which {language} has no type")


def check_nul(code: Code, language: str) -> None:
    """ValueError about a text that a language would cut off at its character NUL."""
    for what, label in all_labels(code):
        if isinstance(label, str) and "\0" in label:
            raise ValueError(f"{what} holds {label!r}: a text of {language} cannot hold the character NUL")


def one_target(code: Code, target: str | None) -> int:
    """The place of the only target, or of the one called `target`."""
    names = [each.name for each in code.targets]
    if target is None:
        if len(names) > 1:
            raise ValueError(
                f"this tree predicts {len(names)} targets, and this format one at a time: "
                f"say target= one of {', '.join(map(repr, names))}"
            )
        return 0
    if target not in names:
        raise ValueError(
            f"there is no target {target!r}; the targets are {choices_text(target, names, in_quotes=True)}"
        )
    return names.index(target)


def identifiers(names: Iterable[str], reserved: Container[str]) -> list[str]:
    """Names as a compiler accepts them: letters, digits and underscores, none reserved, none twice.

    >>> identifiers(["petal width", "petal-width", "2nd", "if", "größe", "€"], {"if"})
    ['petal_width', 'petal_width_2', 'x_2nd', 'if_', 'gr_e', 'column']
    """
    taken: set[str] = set()
    counts: dict[str, int] = {}
    found = []
    for name in names:
        base = re.sub("[^0-9A-Za-z]+", "_", name[:200]).strip("_")[:40].strip("_") or "column"
        if base[0].isdigit():
            base = f"x_{base}"
        chosen = base = f"{base}_" if base in reserved else base
        while chosen in taken:
            counts[base] = counts.get(base, 1) + 1
            chosen = f"{base}_{counts[base]}"
        taken.add(chosen)
        found.append(chosen)
    return found


def words(text: str) -> frozenset[str]:
    """The words of a text, such as those that a language reserves."""
    return frozenset(text.split())


def check_name(name: str, option: str, reserved: Container[str]) -> None:
    """ValueError unless a name that the user gave to a function is an identifier."""
    if not re.fullmatch("[A-Za-z][0-9A-Za-z_]*", name) or name in reserved:
        raise ValueError(
            f"{option} is {name!r}; it must be a name of letters and digits, not a reserved word"
        )


def fill_lines(items: Sequence[str], indent: str = "    ") -> list[str]:
    """Items of a table as lines of a moderate width, each item followed by a comma."""
    lines, line = [], indent
    for item in items:
        if len(line) + len(item) > WIDEST and line != indent:
            lines.append(line.rstrip())
            line = indent
        line += f"{item}, "
    return [*lines, line.rstrip()] if items else []


def number(value: float, infinity: str) -> str:
    """The shortest text that reads as the same float."""
    if math.isinf(value):
        return infinity if value > 0 else f"-{infinity}"
    return repr(value)


def remark(text: str) -> str:
    """A text for a comment: on one line, not too long."""
    return _short(escape(text), LONGEST_REMARK)


def quote_text(text: str, quote: str, escape: Callable[[str], str], is_plain: Callable[[str], bool]) -> str:
    """A text between quotes; characters that are not plain are escaped."""
    return quote + "".join(c if is_plain(c) else escape(c) for c in text) + quote


def _short(text: str, limit: int = 40) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _kind_in_words(column: Column) -> str:
    words = {"number": "a number", "time": "a time, in microseconds since 1970 (UTC)"}
    return f"one of {set_text(column.categories)}" if column.is_category else words[family(column)]
