"""Advice: what is worth knowing about a table or a fit, and what to try."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from treewright._display import html_block, sentences_html
from treewright._suggestions import checked_keywords
from treewright.advice import Advice
from treewright.advising.classes import class_advice
from treewright.advising.columns import column_advice
from treewright.advising.leaks import leak_advice
from treewright.advising.results import one_leaf, small_test
from treewright.advising.rows import duplicates_across, duplicates_within
from treewright.advising.spellings import column_spellings
from treewright.encoding import Dataset, encode
from treewright.encoding.rows import encoded_rows, has_target, training_rows
from treewright.metrics import Metrics
from treewright.pruning import PruningPath
from treewright.tree import Tree

__all__ = ["Advices", "advise", "by_severity", "fit_advice", "one_leaf", "table_advice"]

# All checks, the most serious first.
CODES = (
    "target_copy",
    "leak",
    "one_leaf",
    "row_number",
    "id",
    "duplicates_across",
    "many_categories",
    "spelling",
    "missing_class",
    "imbalance",
    "rare_class",
    "small_test",
    "nearly_empty",
    "mostly_missing",
    "duplicates",
    "constant",
)

# Doubts of `encode` about how texts were read; its mere notes come last.
_DOUBTS = ("text-decimal", "text-date-order", "text-unread", "text-mixed", "text-units", "text-codes")
_ORDER = (*CODES[: CODES.index("imbalance")], *_DOUBTS, *CODES[CODES.index("imbalance") :])


class Advices(list[Advice]):
    """Pieces of advice, the most serious first; they print as a list.

    >>> print(Advices([Advice("constant", "column 'unit' has one value only", "drop it from X")]))
    - column 'unit' has one value only; drop it from X
    """

    def __str__(self) -> str:
        return "\n".join(f"- {each.python_text}" for each in self) or "nothing stands out"

    def _repr_html_(self) -> str:
        return html_block(sentences_html([f"• {each.python_text}" for each in self] or [str(self)]))


@checked_keywords
def advise(
    X: Any, y: Any = None, *, sample_weight: Any = None, test: Any = None, kinds: Any = None
) -> Advices:
    """What is worth knowing about a table before a tree is fitted to it.

    Looks for columns that number the rows, ids, categories of very many values, constant and mostly missing
    columns, columns that give the target away (leaks), values spelt in two ways, duplicated rows, rare
    classes, and test rows that are copies of training rows.

    Parameters
    ----------
    X : table, tuple (table, target) or (table, target, weight), or Dataset
        The rows.
    y : str or array, optional
        Of a table: its target column, or its targets; without them only columns and rows are checked.
    sample_weight : array, optional
        A weight per row.
    test : Dataset or tuple (X, y), optional
        Rows for testing a model.
    kinds : mapping, optional
        Kinds of columns, as for `encode`.

    Returns
    -------
    list of Advice
        The most serious first; ``print`` shows it.

    Examples
    --------
    >>> from treewright import advise
    >>> table = {"nr": range(100), "age": [20 + 7 * i % 50 for i in range(100)], "unit": ["m"] * 100}
    >>> print(advise(table, ["yes", "no"] * 50))
    - column 'nr' (in steps of 1) numbers the rows; drop it from X
    - column 'unit' has the same value in every row, so no split can use it; drop it from X
    """
    if has_target(X) or y is not None:
        data = training_rows("advise", X, y, sample_weight, kinds)
    else:
        data = encode(X, weight=sample_weight, kinds=kinds)
    found = table_advice(data)
    if test is not None:
        rows = encoded_rows(test, "test", data.schema, judging=True)
        if rows.schema.columns != data.schema.columns:
            raise ValueError("the columns of test are not those of X; encode it with schema=data.schema")
        found += duplicates_across(data, rows)
    return by_severity(found)


def table_advice(
    data: Dataset, *, train: Dataset | None = None, has_costs: bool = False, reading: Iterable[Advice] = ()
) -> Advices:
    """Advice on a table, with targets or without.

    `train` are the rows whose targets may be used, by default all. With costs of mistakes, imbalance needs no
    advice. `reading` is advice on how texts were read, which is added to the list.
    """
    reading = list(reading)
    rows = data if train is None else train
    doubtful = {each.column for each in reading if each.code in _DOUBTS}
    found = [*reading, *column_advice(data, doubtful=doubtful), *duplicates_within(data)]
    found += column_spellings(data)
    if data.targets is not None and len(data.schema.targets) == 1:
        found += [*leak_advice(rows), *class_advice(data)]
    return by_severity(each for each in found if not (has_costs and each.code == "imbalance"))


def fit_advice(
    tree: Tree,
    train: Dataset | None,
    *,
    table: Dataset | None = None,
    test: Dataset | None = None,
    grown: Tree | None = None,
    path: PruningPath | None = None,
    limits: Mapping[str, Any] | None = None,
    tested: Metrics | None = None,
    delta: float = 0.05,
    reading: Iterable[Advice] = (),
) -> Advices:
    """Advice on a fit: on the table (by default the training rows), on the test rows and on the tree.

    `tested` are the metrics of the tree on the test rows; the other arguments are those of `table_advice` and
    `one_leaf`.
    """
    found: list[Advice] = []
    if train is not None:
        rows, has_costs = train if table is None else table, tree.schema.has_costs
        found += table_advice(rows, train=train, has_costs=has_costs, reading=reading)
    if train is not None and test is not None:
        found += duplicates_across(train, test)
    if tested is not None:
        found += small_test(tested, delta)
    names_cost = not any(each.code == "imbalance" for each in found)
    found += one_leaf(tree, grown=grown, path=path, data=train, limits=limits, names_cost=names_cost)
    return by_severity(found)


def by_severity(found: Iterable[Advice]) -> Advices:
    """Advice in the order of severity; among equals the order stays."""
    return Advices(
        sorted(found, key=lambda each: _ORDER.index(each.code) if each.code in _ORDER else len(_ORDER))
    )
