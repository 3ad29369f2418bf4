"""Model files: loading them, and the forms that the columns of a table must have for a model."""

from __future__ import annotations

import os

from treewright.cli.errors import Trouble, count
from treewright.cli.forms import Form
from treewright.cli.options import PIPE
from treewright.cli.sources import TABLE_SUFFIXES, no_file
from treewright.encoding.schema import Column
from treewright.saving import Model, load, trees_in
from treewright.tree import Tree


def open_model(path: str) -> Tree:
    """The tree in a model file; Trouble if it is another kind of file, or one of many trees."""
    model = open_any_model(path)
    if not isinstance(model, Tree):
        trees = count(len(trees_in(model)), "tree")
        raise Trouble(
            f"{path} holds {trees} that answer together ({type(model).__name__}), "
            "but one tree is wanted here; only `treewright predict` takes many"
        )
    return model


def open_any_model(path: str) -> Model:
    """The tree or the ensemble in a model file; Trouble if it is another kind of file."""
    if path.lower().removesuffix(".gz").endswith(TABLE_SUFFIXES):
        raise Trouble(
            f"{path} looks like a table, but a model is wanted here (a file that `treewright fit` wrote)"
        )
    if path == str(PIPE):
        raise Trouble("a model is read from a file, not from the standard input")
    if os.path.isdir(path):
        raise Trouble(f"{path} is a folder; name a model file in it")
    if not os.path.exists(path):
        raise Trouble(no_file(path))
    try:
        return load(path)
    except OSError as error:
        raise Trouble(f"{path} cannot be read: {error.strerror or error}") from error


def form_of(column: Column) -> Form:
    """The form in which a column must be read so that the model knows its cells."""
    if column.kind != "category":
        return column.kind
    if not column.categories or isinstance(column.categories[0], str):
        return "text"
    return "bool" if isinstance(column.categories[0], bool) else "integer"
