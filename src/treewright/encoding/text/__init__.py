"""Texts as values: how one column writes its numbers, times or truth values."""

from __future__ import annotations

from treewright.encoding.text.dates import DateTexts
from treewright.encoding.text.formats import TEXT_KINDS, TextFormat, is_missing
from treewright.encoding.text.numbers import NumberTexts
from treewright.encoding.text.truths import TruthTexts

__all__ = ["TEXT_KINDS", "TextFormat", "is_missing"]

for _kind in (TruthTexts(), NumberTexts(), DateTexts()):
    TEXT_KINDS[_kind.name] = _kind
