"""Branching: trees whose splits may have many branches, grown one node at a time as their authors say.

Underneath they are binary trees like all others: a split into many branches is a chain of tests of a column.
"""

from __future__ import annotations

from treewright.growing.multiway.chaid import grow_chaid
from treewright.growing.multiway.id3 import grow_id3

__all__ = ["grow_chaid", "grow_id3"]
