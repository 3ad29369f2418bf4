"""The sections of the report: each file gives the values of its section, by ``values(context)``."""

from __future__ import annotations

from treewright._registry import Folder

SECTIONS = Folder(__name__, __path__, "section", shared="values")
