"""Texts as values: how one column writes its numbers, times or truth values."""

from __future__ import annotations

from treewright.texts.formats import TextFormat
from treewright.texts.marks import is_missing

__all__ = ["TextFormat", "is_missing"]
