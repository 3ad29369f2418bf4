"""Rows of a table with their targets, for a tree that is there already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from treewright.cli.console import Stages
from treewright.cli.errors import Misuse, Trouble, count
from treewright.cli.options import PIPE, Dialect
from treewright.cli.parts import Wish, check_files
from treewright.cli.roles import Roles, rows_with_target
from treewright.cli.sources import Source, open_source
from treewright.cli.tables import note_remarks, read_for_model
from treewright.encoding import Dataset
from treewright.encoding.schema import Column, Schema
from treewright.tree import Tree
from treewright.tree.oblique import asked_columns


@dataclass(frozen=True)
class Labelling:
    """How tables of rows with targets are read for a tree."""

    model: Path
    tree: Tree
    dialect: Dialect
    weights: str | None = None
    threads: int = 1

    def parts(self, files: Mapping[str, Path | None], work: Stages) -> dict[str, Dataset]:
        """The rows of each file that is given, by option; no file has two roles."""
        named = {option: path for option, path in files.items() if path is not None}
        if len([path for path in named.values() if path == PIPE]) > 1:
            raise Misuse("the standard input can be read only once; name files for the other rows")
        check_files(self.model, [Wish(option, file=str(path)) for option, path in named.items()])
        return {option: self._rows(path, work, option == "--test") for option, path in named.items()}

    def _rows(self, path: Path, work: Stages, judging: bool) -> Dataset:
        work.begin("reading", str(path))
        schema = self.tree.schema
        if len(schema.targets) > 1:
            raise Trouble(
                f"{self.model} predicts {count(len(schema.targets), 'target')} at once; rows are read for "
                "trees of one: fit a tree for each"
            )
        roles = Roles(schema.targets[0].name, self.weights, [], {}, None)
        source = open_source(path, self.dialect)
        note_remarks(source, work)
        self._check(source)
        there = Schema(tuple(c for c in schema.columns if c.name in source.names), schema.targets)
        frame = read_for_model(source, roles.forms(source, there), there, self.threads, work)
        columns = {c.name: _unknown(c, frame.n_rows) for c in schema.columns} | frame.columns
        rows = rows_with_target(frame, roles.target, drop=False)
        data, advice = roles.encoded(replace(frame, columns=columns), rows, schema, judging=judging)
        for each in advice:
            work.note(each.command_text)
        return data

    def _check(self, source: Source) -> None:
        """Trouble if a column that the tree predicts or tests is not there; others may be absent."""
        tree, names = self.tree, self.tree.schema.names
        tested = [(names[column], "tests") for column in asked_columns(tree)]
        for name, use in [(tree.schema.targets[0].name, "predicts"), *tested]:
            if name not in source.names:
                raise Trouble(
                    f"{source.path} has no column {name!r}, which the tree {use}; {source.hint(name)}"
                )


def _unknown(column: Column, n_rows: int) -> Any:
    """The cells of a column that a table does not have."""
    if column.kind == "category":
        return np.full(n_rows, None)
    return np.full(n_rows, np.nan if column.kind == "number" else np.datetime64("NaT", "us"))
