"""How Sphinx builds the pages; their Python examples are run by tests/test_documentation.py."""

from __future__ import annotations

import re
import sys
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer

sys.path.insert(0, str(Path(__file__).parent))

project = "treewright"
author = "treewright developers"
copyright = "2026, treewright developers"
version = release = version_of("treewright")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "numpydoc", "reference"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"treewright {release}"
html_static_path = ["static"]
html_css_files = ["pages.css"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0072B2", "color-brand-content": "#0072B2"},
    "dark_css_variables": {"color-brand-primary": "#56B4E9", "color-brand-content": "#56B4E9"},
}
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False

# Methods that scikit-learn adds by itself; their text refers to its own pages.
requests = ("fit", "predict", "predict_proba", "score")
autodoc_default_options = {"exclude-members": ", ".join(f"set_{name}_request" for name in requests)}


def quote_shapes(app: Any, what: str, name: str, item: Any, options: Any, lines: list[str]) -> None:
    """In a shape like (n_features_in_,) the underscore at the end would make a link of the name."""
    shape, name_in_it = re.compile(r"(?<=shape )\([^)]*\)"), re.compile(r"\w+_\b")
    lines[:] = [shape.sub(lambda found: name_in_it.sub(r"``\g<0>``", found[0]), line) for line in lines]


def unlink_foreign(app: Any, what: str, name: str, item: Any, options: Any, lines: list[str]) -> None:
    """scikit-learn's own methods refer to its pages, and numpydoc links attributes that have no entry."""
    lines[:] = [re.sub(r":ref:`([^`<]+?)( <[^`]*>)?`", r"\1", line) for line in lines]
    lines[:] = [re.sub(r":obj:`(\w+_)( <[^`]*>)?`", r"``\1``", line) for line in lines]


def setup(app: Any) -> None:
    app.add_lexer("csv", TextLexer)  # tables are shown as they are
    app.connect("autodoc-process-docstring", quote_shapes, priority=100)  # before numpydoc, at 500
    app.connect("autodoc-process-docstring", unlink_foreign, priority=900)
