"""`treewright compare`: every pruning method on one table, side by side."""

from __future__ import annotations

from typing import Annotated, Any

from treewright.advising import table_advice
from treewright.cli import options as opt
from treewright.cli.console import Voice, advice_document
from treewright.cli.costs import NONE, Costs
from treewright.cli.errors import Misuse, count
from treewright.cli.pruning_options import NONE as NO_PRUNING
from treewright.cli.shell import command_line, file_word, group_words
from treewright.cli.splits import is_small
from treewright.cli.tables.labelled import Roles
from treewright.cli.tables.sources import open_source
from treewright.pruning import methods
from treewright.selecting import compare as compare_methods

DELTA = 0.05


def compare(
    data: opt.Table,
    /,
    *,
    learning: opt.Learning,
    method: Annotated[opt.Repeated, opt.one_of("--method", (*methods(), "rules"))] = None,
    delta: opt.Delta = DELTA,
    random_state: opt.RandomState = 0,
    limits: opt.Limits = opt.TO_PURITY,
    costs: Costs = NONE,
    style: opt.Style = opt.TEXT,
) -> None:
    """Prune one tree by every method, and compare sizes and errors.

    20 % of the rows are test rows. For methods that need validation rows, 20 % validate and 60 % grow the
    tree; for the others 80 % grow it. The rows are split as by `treewright fit`. The last line is the command
    that fits the best tree: the smallest within one standard error of the least validation error. Test rows
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
    growing = limits.growing
    threads = growing.pop("n_jobs")
    roles = Roles.of(learning)
    voice = Voice(style)
    with voice.stages() as work:
        work.begin("reading", str(data))
        frame = roles.read(open_source(data, learning.columns.dialect), threads, work)
        work.begin("encoding", count(frame.n_rows, "row"))
        rows, on_texts = roles.encode(frame)
        if rows.n_counted < 5:
            raise Misuse(f"{count(rows.n_counted, 'row')} cannot be split to train, validate and test")
        work.begin("comparing", f"{count(rows.n_rows, 'row')} × {count(rows.n_columns, 'column')}")
        growing |= costs.growing(rows.schema)
        table = compare_methods(
            rows, method or "all", random_state=random_state, growing=growing, delta=delta, n_jobs=threads
        )
        work.begin("advising")
        advice = table_advice(rows, has_costs=table.schema.has_costs, reading=on_texts)
    for hint in roles.hints(frame, rows):
        voice.note(hint)
    voice.advise(advice)
    options = [word for group in (learning, limits, costs) for word in group_words(group)]
    options += [] if delta == DELTA else ["--delta", repr(delta)]
    options += ["--test-size", "0.2"] if is_small(rows) else []  # of which fit sets no rows aside by default
    command = None
    if table.best is not None:
        words = ["treewright", "fit", file_word(data), *options, *_pruning(table.best)]
        command = command_line([*words, "--random-state", str(random_state)])
    train, validation, test = table.n_rows
    voice.answer(
        lambda: "\n".join([str(table), *([command] if command else [])]),
        lambda: {
            "table": {"file": str(data), "rows": rows.n_rows},
            "parts": {"training": train, "validation": validation, "test": test},
            "criterion": table.criterion,
            "delta": table.delta,
            "always": table.constant,
            "methods": list(table.rows),
            "best": table.best,
            "command": command,
            "advice": advice_document(advice),
        },
    )


_WAYS = {"held-out rows": "held_out", "folds": "folds"}  # --select by the word of the table


def _pruning(row: dict[str, Any]) -> list[str]:
    """The options of `fit` that make the tree of a line."""
    if row["method"] == "unpruned":
        return ["--prune", NO_PRUNING]
    by, _, rule = row["by"].partition(", ")
    choice = ["--select", _WAYS[by], "--option", f"rule={rule}"] if by else []
    return ["--prune", row["method"], *choice]
