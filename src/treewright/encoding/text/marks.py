"""Texts that stand for a missing value among numbers, times and truth values."""

from __future__ import annotations

LONGEST = 256  # characters; no number, date or truth value is longer

# Casefolded: those of pandas, R, Excel, SQL and of people.
MISSING_MARKS = frozenset(
    {"", "na", "n/a", "n.a.", "n.a", "#n/a", "#n/a n/a", "#na", "<na>", "null", "(null)", "<null>", "\\n"}
    | {"none", "nil", "nan", "-nan", "+nan", "nat", "1.#qnan", "-1.#qnan", "1.#ind", "-1.#ind", "missing"}
    | {"unknown", "not available", "unbekannt", "k.a.", "k. a.", "keine angabe", "?", "??", "-", "--", "---"}
    | {"–", "—", ".", "..", "...", "…", "*", "/", "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!"}
)


def is_missing(text: str) -> bool:
    """Whether a text among numbers, times or truth values stands for a missing one.

    >>> is_missing(" N/A "), is_missing("0")
    (True, False)
    """
    if len(text) > LONGEST:
        return text.isspace()
    return text.strip().casefold() in MISSING_MARKS
