"""Rows of a table with their targets, for a tree that is there already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from treewright.cli.console import Stages
from treewright.cli.errors import Misuse
from treewright.cli.options import PIPE, Dialect
from treewright.cli.parts import Wish, check_files
from treewright.cli.reading import read
from treewright.cli.roles import Roles, rows_with_target
from treewright.cli.sources import open_source
from treewright.encoding import Dataset
from treewright.tree import Tree


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
        return {option: self._rows(path, work) for option, path in named.items()}

    def _rows(self, path: Path, work: Stages) -> Dataset:
        work.begin("reading", str(path))
        schema = self.tree.schema
        roles = Roles(schema.targets[0].name, self.weights, [], {}, None)
        source = open_source(path, self.dialect)
        frame = read(source, roles.forms(source, schema), jobs=self.threads)
        return roles.encoded(frame, rows_with_target(frame, roles.target, drop=False), schema)
