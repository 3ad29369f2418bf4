"""Saving of trees and ensembles: files of readable JSON with a checksum, which stay loadable.

A file is a header (format, version, length and SHA-256 of the model) and the model, one array per line::

    {
      "format": "treewright model",
      "version": 5,
      "length": 612,
      "sha256": "…",
      "model": {
        "writer": "treewright 0.1.0",
        "criterion": "gini",
        "labels": "observed",
        "weights": "equal",
        "incomplete columns": [],
        "columns": [
          {"name": "job", "kind": "category", "categories": ["clerk", "cook"]}
        ],
        …
        "end": [3,2,3],
        …
      }
    }

The file of an ensemble has its kind, its schema and its own facts, then its trees one after the other, each
with the lines of a file of its own. `writer` has the layout of a model, `scanner` splits it into lines and
values, `reader` makes a tree of them, and `ensembles` has the kinds of ensembles.
"""

from __future__ import annotations

import hashlib
import os
import re
from typing import Any, BinaryIO

from treewright._atomic import replacing
from treewright._suggestions import checked_keywords
from treewright.saving.ensembles import Ensemble, errors_of, lines_of, read_ensemble, trees_in
from treewright.saving.reader import read_tree
from treewright.saving.scanner import Lines, Text
from treewright.saving.writer import model_lines, model_version
from treewright.tree import Tree
from treewright.tree.shortcuts import as_tree

__all__ = ["Ensemble", "Model", "load", "save", "trees_in"]

VERSION = 6  # of the format; a reader reads its own and all before it

Model = Tree | Ensemble

_START = '{\n  "format": "treewright model",\n  "version": '
_END = b"\n}\n"
_HEADER = re.compile(
    re.escape(_START).encode()
    + rb'(\d{1,9})(?:,\n  "length": (\d{1,18}),\n  "sha256": "[0-9a-f]{64}",\n  "model": )?'
)
_LONGEST_HEADER = 256
_BLOCK = 2**20  # bytes read at a time


@checked_keywords
def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a tree, an ensemble or the `model_` of a fitted estimator to a file, whole or not at all.

    `load` makes the same model of the file. Of an estimator the file has what it needs to predict, not its
    parameters: `load` gives a `Tree`, a `Forest` …, whose predictions are those of the estimator.

    Raises TypeError, before anything is written, where a category or class is not a str, bool, int or float.

    Parameters
    ----------
    model : Tree, ensemble or fitted estimator
        What to save.
    path : str or path
        The file; one that exists is replaced.

    Examples
    --------
    >>> import tempfile
    >>> from treewright import encode, grow, load
    >>> tree = grow(encode({"x": [1.0, 2.0, 3.0]}, ["a", "b", "b"]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tree.save(f"{folder}/tree.json")
    ...     load(f"{folder}/tree.json") == tree
    True
    """
    model = _model_of(model)
    if isinstance(model, Tree):
        model.check()
        lines = list(model_lines(model))
    else:
        lines = list(lines_of(model))
    version = model_version(trees_in(model), is_ensemble=not isinstance(model, Tree))
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line)
    with replacing(path) as file:
        file.write(_header(version, sum(map(len, lines)), digest.hexdigest()))
        file.writelines(lines)
        file.write(_END)


def _model_of(model: Any) -> Model:
    """The model of a fitted estimator, or a model itself; TypeError about what cannot be saved."""
    if hasattr(model, "rules_"):
        raise TypeError(
            f"this {type(model).__name__} answers by its rules_, for which there is no model file: pickle "
            "the estimator, or write model.rules_.to_dict() to a file of your own; its model_ is the tree "
            "that they come from"
        )
    if hasattr(model, "fit") and not hasattr(model, "model_"):
        return as_tree(model)  # which says what is wrong with it
    found = getattr(model, "model_", model)
    if not isinstance(found, Model):
        raise TypeError(f"a tree or an ensemble of trees can be saved, not a {type(model).__name__}")
    return found


@checked_keywords
def load(path: str | os.PathLike[str]) -> Model:
    """The tree or the ensemble in a file of `save`; safe for files from anyone.

    Raises ValueError, with the name of the file, if it is damaged, was changed, is no model or was written by
    a newer version. Nothing in a file is ever run or imported.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Tree, Forest, Boosted, BoostedNumbers or GradientBoosted
        The model.

    Examples
    --------
    >>> import tempfile
    >>> from treewright import encode, grow, load, save
    >>> tree = grow(encode({"x": [1.0, 2.0, 3.0]}, ["a", "b", "b"]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(tree, f"{folder}/tree.json")
    ...     print(load(f"{folder}/tree.json"))
    3 rows
    ├─ x <= 1.5   a    1 row   100 %
    └─ x > 1.5    b   2 rows   100 %
    """
    name = os.fspath(path)
    with open(name, "rb") as file:
        try:
            version, content = _checked_model(file)
            return _read(Lines(content, _header(0, 0, "").count(b"\n")), version)
        except ValueError as error:
            raise ValueError(f"{name!r} {error}") from None


def _read(lines: Lines, version: int) -> Model:
    lines.literal("{")
    lines.entry("writer", Text.text)
    if version == 4 or (version > 4 and lines.comes('"kind": ')):
        return read_ensemble(lines, version)
    tree = read_tree(lines, version)
    with errors_of(lines):
        tree.check()
    return tree


def _header(version: int, length: int, digest: str) -> bytes:
    return f'{_START}{version},\n  "length": {length},\n  "sha256": "{digest}",\n  "model": '.encode()


def _checked_model(file: BinaryIO) -> tuple[int, bytearray]:
    """The version and the bytes of the model, checked against length and checksum of the header."""
    head = file.read(_LONGEST_HEADER)
    match = _HEADER.match(head)
    if match is None:
        raise ValueError("is not a treewright model" + (": it is empty" if not head else ""))
    version = int(match[1])
    if version > VERSION:
        raise ValueError(
            f"was written by a newer treewright (format {version}; this one reads {VERSION}): "
            "upgrade treewright"
        )
    if match[2] is None:
        raise ValueError("is damaged: its header is cut off or changed")
    length = int(match[2])
    model = _read_up_to(file, head[match.end() :], length + len(_END) + 1)
    if len(model) != length + len(_END):
        wrong = "goes on after its end" if len(model) > length + len(_END) else "ends too early"
        raise ValueError(f"is damaged: it {wrong} (its header promises {length} bytes)")
    with memoryview(model) as view:
        digest = hashlib.sha256(view[:length]).hexdigest()
    if version < 1 or head[: match.end()] != _header(version, length, digest) or model[length:] != _END:
        raise ValueError("is damaged or was changed since it was written: its checksum does not fit")
    del model[length:]
    return version, model


def _read_up_to(file: BinaryIO, begun: bytes, size: int) -> bytearray:
    """The rest of a file, at most `size` bytes, without memory for more than there are."""
    content = bytearray(begun)
    while len(content) < size and (block := file.read(min(_BLOCK, size - len(content)))):
        content += block
    return content
