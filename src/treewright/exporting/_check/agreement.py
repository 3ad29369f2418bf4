"""Runs an export on rows and compares its predictions with those of the tree."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.exporting._check.probes import decode_table, encode_table, probes, tested_positions
from treewright.tree import predict
from treewright.tree.evaluate import given_table
from treewright.tree.tree import Tree, decode_predictions

PROBES = 10_000  # rows of check=True, unless a format has a number of its own
_MOST_SHOWN = 20  # columns of the row in the message


def check_export(
    rendered: str | bytes, tree: Tree, module: ModuleType, rows: Any, options: dict[str, Any]
) -> None:
    """ValueError, with the first row, where the rendered export of `module` differs from the tree.

    `rows` is a table or data set, or True for `probes(tree)`, of which `module.PROBES` may say how many.
    ImportError if what runs it is not installed.
    """
    format = module.__name__.rpartition(".")[2]
    if not hasattr(module, "answers"):
        raise ValueError(f"check= runs the export, and {format} cannot be run; leave check= out")
    table = rows_to_check(tree, rows, getattr(module, "PROBES", PROBES))
    if hasattr(module, "representable"):
        table = module.representable(tree, table)
    expected = decode_predictions(tree.schema, predict.answers(tree, encode_table(table, tree)))
    if len(tree.schema.targets) > 1 and options.get("target") is not None:
        names = [target.name for target in tree.schema.targets]
        expected = expected[:, names.index(options["target"])]
    found = module.answers(rendered, tree, table, **options)
    row = first_difference(expected, found)
    if row is None:
        return
    shown = list(table)[:_MOST_SHOWN]
    cells = ", ".join(f"{name!r}: {_cell(table[name][row])}" for name in shown)
    raise ValueError(
        f"the {format} export answers {_cell(found[row])} where the model answers {_cell(expected[row])}, "
        f"in row {row} of {len(expected):,}: {{{cells}{', …' if len(table) > len(shown) else ''}}}"
    )


def rows_to_check(tree: Tree, rows: Any, n_probes: int = PROBES) -> dict[str, Any]:
    """Rows to compare on, as a dict of the columns that are tested in the form of `probes`."""
    if rows is True:
        return probes(tree, n_probes, tested=True)
    return decode_table(given_table(tree, rows, "check").select_columns(tested_positions(tree)))


def first_difference(expected: NDArray[Any], found: NDArray[Any]) -> int | None:
    """The first row in which two columns, or tables, of answers differ."""
    if len(expected) != len(found):
        return min(len(expected), len(found))
    no_number = (expected != expected) & (found != found)  # infinities may cancel in a formula
    differ = np.asarray((expected != found) & ~no_number).reshape(len(expected), -1).any(axis=1)
    return int(np.argmax(differ)) if differ.any() else None


def _cell(value: Any) -> str:
    return repr(value.item() if isinstance(value, np.generic) and value.dtype.kind != "M" else value)
