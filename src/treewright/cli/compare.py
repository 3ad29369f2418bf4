"""`treewright compare`: every pruning method on one table, side by side."""

from __future__ import annotations

from typing import Annotated

from treewright.cli.console import Voice
from treewright.cli.costs import NONE, Costs
from treewright.cli.errors import Misuse, check_delta_option, count, known
from treewright.cli.options import (
    PLAIN,
    ROWS,
    TO_PURITY,
    USUAL,
    Columns,
    Delta,
    Dialect,
    Json,
    Limits,
    Quiet,
    Repeated,
    Seed,
    Table,
    Target,
)
from treewright.cli.tables import Reading
from treewright.pruning import methods
from treewright.selecting import compare as compare_methods


def compare(
    data: Table,
    /,
    *,
    target: Target,
    method: Repeated = None,
    delta: Delta = 0.05,
    seed: Annotated[Seed, ROWS] = 0,
    limits: Limits = TO_PURITY,
    costs: Costs = NONE,
    columns: Columns = PLAIN,
    dialect: Dialect = USUAL,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Prune one tree by every method, and compare sizes and errors.

    60 % of the rows grow the tree, 20 % prune and choose where a method takes such rows, 20 % only test.

    Parameters
    ----------
    method
        Only this method; may be repeated. By default all of them, and rules.

    Examples
    --------
    treewright compare loans.csv --target default
        leaves, errors, certificate and seconds of each method
    treewright compare loans.csv --target default --method pessimistic --method srm
        of two of them
    """
    check_delta_option(delta)
    costs.check()
    wanted = [known("--method", name, (*methods(), "rules")) for name in method or ()]
    growing = limits.growing
    threads = growing.pop("n_jobs")
    reading = Reading.of(data, target, columns, dialect)
    voice = Voice(json, quiet)
    with voice.stages() as work:
        work.begin("reading", str(data))
        source = reading.open(data)
        frame = reading.frame(source, threads, work)
        work.begin("encoding", count(frame.n_rows, "row"))
        rows = reading.encoded(frame, work)
        if rows.n_counted < 5:
            raise Misuse(f"{count(rows.n_counted, 'row')} cannot be dealt out to grow, to prune and to test")
        work.begin("comparing", f"{count(rows.n_rows, 'row')} × {count(rows.n_columns, 'column')}")
        how = growing | costs.growing(rows.schema)
        found = compare_methods(rows, wanted or "all", seed=seed, growing=how, delta=delta, n_jobs=threads)
    for hint in reading.roles.hints(frame, rows):
        voice.note(hint)
    train, validation, test = found.n_rows
    voice.answer(
        lambda: str(found),
        lambda: {
            "table": {"file": str(data), "rows": rows.n_rows},
            "parts": {"training": train, "validation": validation, "test": test},
            "criterion": found.criterion,
            "delta": found.delta,
            "methods": list(found.rows),
        },
    )
