"""Texts as values: how one column writes its numbers, times or truth values."""

from __future__ import annotations

from treewright.encoding.text.formats import TextFormat
from treewright.encoding.text.marks import is_missing

__all__ = ["TextFormat", "is_missing"]
