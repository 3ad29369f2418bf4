"""A table to learn from: where it is, and what its columns are for."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from treewright.advice import Advice
from treewright.cli.console import Stages
from treewright.cli.forms import Form
from treewright.cli.model_cells import ModelCells
from treewright.cli.options import Columns, Dialect, kinds_of
from treewright.cli.reading import Frame, read
from treewright.cli.roles import Roles, rows_with_target
from treewright.cli.sources import Source, open_source
from treewright.encoding import Dataset
from treewright.encoding.schema import Schema


def note_remarks(source: Source, work: Stages) -> None:
    """Say how a file is read, where that is worth knowing."""
    for remark in source.remarks:
        work.note(remark)


def note_reading(source: Source, work: Stages) -> None:
    """The same of a table to learn from, and that the names of its columns may be none."""
    note_remarks(source, work)
    if source.doubt is not None:
        work.note(f"{source.path}: {source.doubt}; --header insists that they are names")


@dataclass(frozen=True)
class Reading:
    """A table and what its columns are for."""

    path: Path
    roles: Roles
    dialect: Dialect
    drop_missing_target: bool
    advice: list[Advice] = field(default_factory=list)  # how texts of the table were read

    @staticmethod
    def of(path: Path, target: str, columns: Columns, dialect: Dialect) -> Reading:
        """As the options say."""
        roles = Roles(target, columns.weights, columns.drop or [], kinds_of(columns.kinds), columns.classes)
        return Reading(path, roles, dialect, columns.drop_missing_target)

    def open(self, path: str | Path) -> Source:
        """The table, or another one that is written alike."""
        return open_source(path, self.dialect)

    def frame(self, source: Source, threads: int, work: Stages) -> Frame:
        """The columns of the table."""
        forms = self.roles.forms(source)
        note_reading(source, work)
        return read(source, forms, jobs=threads, as_text=self.roles.as_text())

    def encoded(
        self, frame: Frame, work: Stages, schema: Schema | None = None, *, judging: bool = False
    ) -> Dataset:
        """The rows of a frame that have a target; how texts were read is kept, or noted of another table."""
        rows = rows_with_target(frame, self.roles.target, self.drop_missing_target)
        data, advice = self.roles.encoded(frame, rows, schema, judging=judging)
        if schema is None:
            self.advice.extend(advice)
        else:
            for each in advice:
                work.note(each.command_text)
        return data

    def other(
        self, source: Source, data: Dataset, threads: int, work: Stages, *, judging: bool = False
    ) -> Dataset:
        """The rows of another file, in the schema of the table."""
        note_remarks(source, work)
        forms = self.roles.forms(source, data.schema)
        frame = read_for_model(source, forms, data.schema, threads, work)
        return self.encoded(frame, work, data.schema, judging=judging)


def read_for_model(
    source: Source, forms: dict[str, Form | None], schema: Schema, threads: int, work: Stages
) -> Frame:
    """The columns of a file, texts read as the schema knows them; what could not be read is noted."""
    cells = ModelCells.of([c for c in schema.columns if c.name in forms], source.conventions)
    targets = {target.name: target.text is not None for target in schema.targets if target.classes is None}
    frame = cells.read(read(source, forms, jobs=threads, as_text=cells.as_text | targets))
    for note in cells.notes(source.path):
        work.note(note)
    return frame
