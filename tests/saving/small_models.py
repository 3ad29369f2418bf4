"""Small trees, and what stands in their files: for the tests of saving."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from treewright import Below, Branch, Column, Leaf, Schema, Target, Tree, load
from treewright.saving import Model


def labelled(categories: tuple[Any, ...], classes: tuple[Any, ...] = ("a", "b")) -> Tree:
    """A small tree with the given categories and classes."""
    schema = Schema((Column("x"), Column("c", "category", categories)), (Target("y", classes),))
    rest = [0] * (len(classes) - 2)
    return Tree.write(schema, Branch(Below("x", 0.5), Leaf([1, 0, *rest]), Leaf([0, 2, *rest])))


def by_hand() -> Tree:
    """One test of a number, two leaves."""
    return labelled(("clerk", "cook"))


def parsed(tree: Model, folder: Path) -> dict[str, Any]:
    """The model in the file of a tree or an ensemble."""
    tree.save(folder / "tree.json")
    model: dict[str, Any] = json.loads((folder / "tree.json").read_bytes())["model"]
    return model


def refuse(content: bytes, folder: Path, message: str | None = None) -> str:
    """The error that loading some bytes ends in; it names the file."""
    path = folder / "bad.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as error:
        load(path)
    assert str(error.value).startswith(repr(str(path)))
    return str(error.value)
