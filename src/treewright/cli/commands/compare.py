"""`treewright compare`: every pruning method on one table, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from treewright.advising import table_advice
from treewright.cli.advice import advice_document
from treewright.cli.console import Voice
from treewright.cli.costs import NONE, Costs
from treewright.cli.errors import Misuse, check_delta_option, count, known
from treewright.cli.options import TEXT, TO_PURITY, Delta, Learning, Limits, Repeated, Seed, Style, Table
from treewright.cli.pruning_options import NONE as NO_PRUNING
from treewright.cli.shell import command_line, file_word, group_words
from treewright.cli.splits import is_small
from treewright.cli.tables.labelled import Reading
from treewright.pruning import methods
from treewright.selecting import compare as compare_methods

DELTA = 0.05


def compare(
    data: Table,
    /,
    *,
    learning: Learning,
    method: Repeated = None,
    delta: Delta = DELTA,
    seed: Seed = 0,
    limits: Limits = TO_PURITY,
    costs: Costs = NONE,
    style: Style = TEXT,
) -> None:
    """Prune one tree by every method, and compare sizes and errors.

    20 % of the rows are test rows. Where a method needs validation rows, these are 20 % and 60 % grow the
    tree; otherwise 80 % do. The rows are split as by `treewright fit`, and the last line is the command that
    fits the best tree: the smallest within one standard error of the least validation error. The test rows
    are not used for that choice.

    Parameters
    ----------
    method
        Compare only this method; may be repeated. By default all methods, and rules.

    Examples
    --------
    treewright compare loans.csv --target default
        leaves, errors, certificate and seconds of each method
    treewright compare loans.csv --target default --method pessimistic --method srm
        only two methods
    """
    check_delta_option(delta)
    costs.check()
    wanted = [known("--method", name, (*methods(), "rules")) for name in method or ()]
    growing = limits.growing
    threads = growing.pop("n_jobs")
    reading = Reading.of(data, learning)
    voice = Voice(style)
    with voice.stages() as work:
        work.begin("reading", str(data))
        source = reading.open(data)
        frame = reading.frame(source, threads, work)
        work.begin("encoding", count(frame.n_rows, "row"))
        rows = reading.encoded(frame, work)
        if rows.n_counted < 5:
            raise Misuse(f"{count(rows.n_counted, 'row')} cannot be split to train, validate and test")
        work.begin("comparing", f"{count(rows.n_rows, 'row')} × {count(rows.n_columns, 'column')}")
        how = growing | costs.growing(rows.schema)
        found = compare_methods(rows, wanted or "all", seed=seed, growing=how, delta=delta, n_jobs=threads)
        work.begin("advising")
        advice = table_advice(rows, has_costs=found.schema.has_costs, reading=reading.advice)
    for hint in reading.roles.hints(frame, rows):
        voice.note(hint)
    voice.advise(advice)
    given = [word for group in (learning, limits, costs) for word in group_words(group)]
    given += [] if delta == DELTA else ["--delta", repr(delta)]
    given += ["--test", "0.2"] if is_small(rows) else []  # of which fit sets no rows aside unasked
    command = None if found.best is None else _fit_command(data, given, found.best, seed)
    train, validation, test = found.n_rows
    voice.answer(
        lambda: "\n".join([str(found), *([command] if command else [])]),
        lambda: {
            "table": {"file": str(data), "rows": rows.n_rows},
            "parts": {"training": train, "validation": validation, "test": test},
            "criterion": found.criterion,
            "delta": found.delta,
            "always": found.constant,
            "methods": list(found.rows),
            "best": found.best,
            "command": command,
            "advice": advice_document(advice),
        },
    )


def _fit_command(data: Path, given: list[str], row: dict[str, Any], seed: int) -> str:
    """The command that fits the tree of a line, with the options that were given for all lines."""
    words = ["treewright", "fit", file_word(data), *given]
    return command_line([*words, *_pruning(row), "--seed", str(seed)])


_WAYS = {"held-out rows": "held_out", "folds": "folds"}  # as the table has it, as --select has it


def _pruning(row: dict[str, Any]) -> list[str]:
    """The options of `fit` that make the tree of a line."""
    if row["method"] == "unpruned":
        return ["--prune", NO_PRUNING]
    by, _, rule = row["by"].partition(", ")
    chosen = ["--select", _WAYS[by], "--option", f"rule={rule}"] if by else []
    return ["--prune", row["method"], *chosen]
