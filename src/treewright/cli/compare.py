"""`treewright compare`: every pruning method on one table, side by side."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import Parameter

from treewright.cli.console import Voice
from treewright.cli.errors import Misuse, check_delta_option, count, thread_count
from treewright.cli.fit import GROWING, ROWS, Reading, check_criterion
from treewright.cli.options import (
    TABLE,
    USUAL,
    Delta,
    Dialect,
    Drop,
    Flag,
    Jobs,
    Json,
    Kinds,
    Positive,
    Quiet,
    Repeated,
    Seed,
    Table,
    Target,
    Weights,
    kinds_of,
)
from treewright.cli.plans import known
from treewright.cli.reading import read
from treewright.cli.roles import Roles
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
    max_leaves: Annotated[Positive, GROWING] = None,
    max_depth: Annotated[Positive, GROWING] = None,
    min_rows_leaf: Annotated[Positive, GROWING] = 1,
    criterion: Annotated[str | None, GROWING] = None,
    jobs: Annotated[Jobs, GROWING] = -1,
    weights: Weights = None,
    drop: Drop = None,
    kinds: Kinds = None,
    classes: Annotated[bool | None, Parameter(negative="--numbers", group=TABLE)] = None,
    drop_missing_target: Annotated[Flag, Parameter(group=TABLE)] = False,
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
    max_leaves
        Stop growing at this many leaves; the best splits come first.
    max_depth
        At most this many tests in a row.
    min_rows_leaf
        The fewest rows in a leaf.
    criterion
        What a split improves: gini, entropy, error, sqrt, gain_ratio; for numbers squared_error,
        absolute_error, poisson.
    classes
        Whether the target is classes or numbers; by default texts, true/false and up to 20 different whole
        numbers are classes.
    drop_missing_target
        Leave out rows without a target instead of refusing them.

    Examples
    --------
    treewright compare loans.csv --target default
        leaves, errors, certificate and seconds of each method
    treewright compare loans.csv --target default --method pessimistic --method srm
        of two of them
    """
    check_criterion(criterion)
    check_delta_option(delta)
    wanted = [known("--method", name, (*methods(), "rules")) for name in method or ()]
    threads = thread_count(jobs)
    limits = {"max_leaf_nodes": max_leaves, "max_depth": max_depth, "min_samples_leaf": min_rows_leaf}
    growing: dict[str, Any] = {**limits, "criterion": criterion}
    roles = Roles(target, weights, drop or [], kinds_of(kinds), classes)
    reading = Reading(data, roles, dialect, drop_missing_target)
    voice = Voice(json, quiet)
    with voice.stages() as work:
        work.begin("reading", str(data))
        source = reading.open(data)
        frame = read(source, roles.forms(source), jobs=threads)
        work.begin("encoding", count(frame.n_rows, "row"))
        rows = reading.encoded(frame)
        if rows.n_counted < 5:
            raise Misuse(f"{count(rows.n_counted, 'row')} cannot be dealt out to grow, to prune and to test")
        work.begin("comparing", f"{count(rows.n_rows, 'row')} × {count(rows.n_columns, 'column')}")
        found = compare_methods(
            rows, wanted or "all", seed=seed, growing=growing, delta=delta, n_jobs=threads
        )
    for hint in roles.hints(frame, rows):
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
