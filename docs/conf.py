"""How Sphinx builds the pages; their Python examples are run by tests/test_readme.py."""

from __future__ import annotations

from importlib.metadata import version as version_of

project = "treewright"
author = "treewright developers"
copyright = "2026, treewright developers"
version = release = version_of("treewright")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "numpydoc"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"treewright {release}"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
