"""The convention of the numbers in a column of texts: decimal and thousands marks, currencies, units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import isnan

import numpy as np

from treewright.encoding.text import TextFormat
from treewright.encoding.text.columns import RARE, Reading, Texts, Trouble
from treewright.encoding.text.numbers import (
    CONVENTIONS,
    MULTIPLIERS,
    Convention,
    NumberText,
    convention_bits,
    infinite,
    split_number,
    unit_key,
    value_of,
)

_MOST_UNITS = 3  # more different words after numbers are parts of names
_BARE: frozenset[str] = frozenset()


def conventions_with(decimal: str | None, thousands: str | None) -> tuple[Convention, ...]:
    """The conventions that have the given marks; an error where there is none."""
    mark = None if thousands is None else {"\u00a0": " ", "\u202f": " ", "’": "'"}.get(thousands, thousands)
    found = tuple(each for each in CONVENTIONS if decimal in (None, each[0]) and mark in (None, each[1]))
    if not found:
        raise ValueError(
            f"decimal={decimal!r} and thousands={thousands!r} do not go together; decimal is '.' or ',', "
            "thousands is '', ',', '.', ' ' or \"'\", and they differ"
        )
    return found


def find_numbers(texts: Texts, conventions: Sequence[Convention], *, asked: bool) -> Reading | None:
    """The reading as numbers that fits most cells; None where most cells are no numbers.

    `asked`: the column is to be read as numbers as far as it can be.
    """
    parts = _split(texts, asked)
    if parts is None or all(part is None for part in parts):
        return None
    masks = [0 if part is None else convention_bits(part.body) for part in parts]
    cells: Counter[int] = Counter()
    for mask, count in zip(masks, texts.counts, strict=True):
        cells[mask] += count
    best = max(conventions, key=lambda each: sum(n for mask, n in cells.items() if _has(mask, each)))
    fitting = {mask for mask in cells if _has(mask, best)}
    readable = [part if mask in fitting else None for part, mask in zip(parts, masks, strict=True)]
    affixes, trouble = _affixes(texts, readable, asked)
    if not asked:
        trouble = trouble or _codes(texts, readable)
    keys = frozenset(map(unit_key, affixes))
    values = [
        value_of(part, best, keys) if part is not None else infinite(text)
        for text, part in zip(texts.labels, readable, strict=True)
    ]
    found = Reading(TextFormat("number", *best, affixes), np.array(values), trouble)
    return _doubted(found, masks, conventions)


def _has(mask: int, convention: Convention) -> bool:
    return bool(mask >> CONVENTIONS.index(convention) & 1)


def _split(texts: Texts, asked: bool) -> list[NumberText | None] | None:
    """The parts of each text; None as soon as more than half of the cells are no numbers."""
    parts: list[NumberText | None] = []
    failed = 0
    for label, count in zip(texts.labels, texts.counts, strict=True):
        part = split_number(label)
        if part is None and isnan(infinite(label)):
            failed += count
            if 2 * failed > texts.n_cells and not asked:
                return None
        parts.append(part)
    return parts


def _doubted(reading: Reading, masks: Sequence[int], conventions: Sequence[Convention]) -> Reading:
    """The reading with another one that has the other decimal mark and reads the same texts, if any."""
    best = reading.format.decimal, reading.format.thousands
    marked = {mask for mask in set(masks) if _has(mask, best) and mask != convention_bits("1")}
    for other in conventions:
        if marked and other[0] != best[0] and all(_has(mask, other) for mask in marked):
            doubtful = next(place for place, mask in enumerate(masks) if mask in marked)
            found = replace(reading.format, decimal=other[0], thousands=other[1])
            return replace(reading, other=found, doubtful=doubtful)
    return reading


def _affixes(
    texts: Texts, parts: Sequence[NumberText | None], asked: bool
) -> tuple[tuple[str, ...], Trouble | None]:
    """The currencies and units to be read, and what speaks against reading them.

    Where nearly all numbers are bare, the few with a unit are not read: who writes it may mean another one.
    """
    counts: Counter[tuple[str, ...]] = Counter()
    places: dict[tuple[str, ...], int] = {}
    for place, (part, count) in enumerate(zip(parts, texts.counts, strict=True)):
        if part is not None:
            counts[part.affixes] += count
            places.setdefault(part.affixes, place)
    cells: Counter[frozenset[str]] = Counter()
    first: dict[frozenset[str], int] = {}
    for pair, count in counts.items():  # in the order of their first rows
        keys = frozenset(map(unit_key, pair))
        cells[keys] += count
        first.setdefault(keys, places[pair])
    spellings = {affix: unit_key(affix) for pair in counts for affix in pair}
    named = [keys for keys in first if keys]
    mixed = len(first) > 1
    multipliers = {key for keys in named for key in keys if key.casefold() in MULTIPLIERS}
    dropped = multipliers if mixed else set()
    affixes = tuple(sorted(affix for affix, key in spellings.items() if key not in dropped))
    if asked:
        return affixes, None
    if mixed and multipliers:
        place = next(first[keys] for keys in named if keys & multipliers)
        others = [where for keys, where in first.items() if not keys & multipliers]
        worth = len(named) <= _MOST_UNITS and bool(others) and _BARE in first
        return affixes, Trouble("multipliers", (place, *others[:1]), worth)
    bare = cells[_BARE]
    if bare and sum(cells[keys] for keys in named) <= RARE * sum(cells.values()):
        return (), None
    if len(named) > 1:
        letters = sum(len(key) == 1 and key.isalpha() for keys in named for key in keys)
        worth = len(named) <= _MOST_UNITS and letters < len(named)
        return affixes, Trouble("units", tuple(first[keys] for keys in named[:2]), worth)
    return affixes, None


def _codes(texts: Texts, parts: Sequence[NumberText | None]) -> Trouble | None:
    """Leading zeros and very many digits make names of a whole column; where they are rare, it is said."""
    places = [place for place, part in enumerate(parts) if part is not None and part.is_code]
    if not places:
        return None
    n_cells = sum(texts.counts[place] for place in places)
    return Trouble("codes", (places[0],), n_cells <= RARE * texts.n_cells)
