"""What boosters of LightGBM and XGBoost have in common: columns with their categories, trees by number."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from treewright.encoding.schema import Column

Categories = Mapping[str, Sequence[Hashable]]
MOST_CODES = 65_536  # that a column may have for all codes up to its largest to be categories, met or not


def check_number(tree: int, n_trees: int) -> None:
    """ValueError unless there is a tree of that number."""
    if not 0 <= tree < n_trees:
        raise ValueError(f"tree is {tree}; the model has {n_trees} trees, numbered from 0")


def columns_of(
    names: Sequence[str], known: Mapping[int, Sequence[Hashable]], given: Categories | None
) -> tuple[Column, ...]:
    """Columns of numbers, and of categories in the order of their codes: as given or else as known."""
    for name in given or ():
        if name not in names:
            raise ValueError(f"categories names the column {name!r}; the columns are {', '.join(names)}")
        if names.index(name) not in known:
            raise ValueError(f"categories names the column {name!r}, which holds numbers in this model")
    columns = []
    for j, name in enumerate(names):
        if j not in known:
            columns.append(Column(name))
            continue
        labels = tuple((given or {}).get(name, known[j]))
        columns.append(Column(name, "category", tuple(_plain(label) for label in labels)))
    return tuple(columns)


def numbered(met: Iterable[int]) -> Sequence[int]:
    """The categories of a column whose codes have no names: all up to the largest, unless too many."""
    codes = sorted(met)
    return range(codes[-1] + 1) if codes and codes[-1] < MOST_CODES else codes


def positions(codes: Iterable[int], column: Column, unnamed: Sequence[int] | None) -> frozenset[int]:
    """The places of codes among a column's categories, which have names or else are the codes themselves."""
    if unnamed is None or isinstance(unnamed, range):
        return frozenset(code for code in codes if code < len(column.categories))
    place = {code: position for position, code in enumerate(unnamed)}
    return frozenset(place[code] for code in codes if code in place)


def _plain(label: Any) -> Hashable:
    """A category as a plain value of Python; whole floats as ints."""
    value: Any = label.item() if hasattr(label, "item") else label
    return int(value) if isinstance(value, float) and value.is_integer() else value
