"""`treewright fit`: grow a tree from a table, tell its error, save it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter, validators

from treewright.cli.console import Stages, note, stages, unbroken_pipe
from treewright.cli.errors import Misuse, check_output, count, thread_count, writing_to
from treewright.cli.reading import read
from treewright.cli.roles import Roles, rows_with_target
from treewright.cli.sources import Source, open_source
from treewright.cli.summary import Score, summary
from treewright.encoding import Dataset
from treewright.encoding.tables import available_memory
from treewright.growing import criteria, grow
from treewright.memory import memory_needed
from treewright.pruning import cut_at
from treewright.tree import Tree

HELD_OUT = 0.2  # of the rows, for the error that is told
LARGE_BYTES = 2**28  # memory worth a word
FEWEST_ROWS = 25  # of a table from which rows are held out without being asked for

Columns = Annotated[list[str] | None, Parameter(negative=())]
Flag = Annotated[bool, Parameter(negative=())]
Positive = Annotated[int | None, Parameter(validator=validators.Number(gte=1))]


@dataclass(frozen=True)
class Recipe:
    """How trees are grown and pruned."""

    limits: dict[str, Any]
    alpha: float

    def tree(self, data: Dataset, work: Stages) -> Tree:
        """The tree of a data set."""
        grown = grow(data, **self.limits, progress=work.advance)
        return cut_at(grown, self.alpha) if self.alpha > 0 else grown


def fit(
    data: Path,
    /,
    *,
    target: str,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    test: str | None = None,
    max_leaves: Positive = None,
    max_depth: Positive = None,
    min_rows_leaf: Positive = 1,
    alpha: Annotated[float, Parameter(validator=validators.Number(gte=0))] = 0.0,
    criterion: str | None = None,
    weight: str | None = None,
    ignore: Columns = None,
    category: Columns = None,
    number: Columns = None,
    classes: Annotated[bool | None, Parameter(negative="--numbers")] = None,
    drop_missing_target: Flag = False,
    seed: Annotated[int, Parameter(validator=validators.Number(gte=0))] = 0,
    jobs: int = -1,
) -> None:
    """Grow a tree from a table and save it.

    Parameters
    ----------
    data
        The table: CSV (also .csv.gz) or Parquet.
    target
        The column to predict.
    output
        The file for the tree; by default the name of the table with .tree.json, in this folder.
    test
        Which share of the rows is held out for the error that is told (by default 0.2; 0: none), or a file
        with rows to test on. The saved tree has learnt from all rows of the table.
    max_leaves
        Stop at this many leaves; the best splits come first.
    max_depth
        At most this many tests in a row.
    min_rows_leaf
        The fewest rows in a leaf.
    alpha
        The price of a leaf in cost-complexity pruning: splits that gain less are cut.
    criterion
        What a split improves: gini, entropy, error, sqrt, gain_ratio; for numbers squared_error,
        absolute_error, poisson.
    weight
        The column with the weight of each row.
    ignore
        Leave a column out; may be repeated.
    category
        Take a column for categories, whatever it looks like; may be repeated.
    number
        Take a column for numbers, leading zeros or not; may be repeated.
    classes
        Whether the target is classes or numbers; by default texts, true/false and up to 20 different whole
        numbers are classes.
    drop_missing_target
        Leave out rows without a target instead of refusing them.
    seed
        Of the choice which rows are held out.
    jobs
        Threads; -1 is one per core. The tree is the same for any number.
    """
    saved_as = output or Path(Path(data.name.removesuffix(".gz")).stem + ".tree.json")
    share, test_file = _test_rows(test)
    if criterion is not None and criterion not in criteria():
        raise Misuse(f"--criterion {criterion} is unknown; known: {', '.join(criteria())}")
    threads = thread_count(jobs)
    limits = {"max_leaf_nodes": max_leaves, "max_depth": max_depth, "min_samples_leaf": min_rows_leaf}
    recipe = Recipe({**limits, "criterion": criterion, "n_jobs": threads}, alpha)
    with stages() as work:
        work.begin("reading", str(data))
        source, test_source = open_source(data), test_file and open_source(test_file)
        check_output(saved_as, [data, *([test_file] if test_file else [])])
        roles = Roles(target, weight, ignore or [], category or [], number or [], classes)
        frame = read(source, roles.forms(source), jobs=threads)
        work.begin("encoding", count(frame.n_rows, "row"))
        kept = rows_with_target(frame, target, drop_missing_target)
        problem = roles.encoded(frame, kept)
        other = (
            _encoded_test(test_source, roles, problem, drop_missing_target, threads) if test_source else None
        )
        work.begin("growing", f"{count(problem.n_rows, 'row')} × {count(problem.n_columns, 'column')}")
        _tell_memory(problem, recipe, work)
        tree = recipe.tree(problem, work)
        work.begin("testing")
        scores = [Score.of("training rows", tree, problem, threads)]
        if other is not None:
            scores.append(Score.of(f"rows of {test_file}", tree, other, threads))
        elif share or (share is None and problem.n_rows >= FEWEST_ROWS):
            scores.append(_held_out(problem, recipe, share or HELD_OUT, seed, threads, work))
        work.begin("writing", str(saved_as))
        with writing_to(saved_as):
            tree.save(saved_as)
    for hint in roles.hints(frame, problem):
        note(hint)
    with unbroken_pipe():
        print(summary(data, tree, problem, scores, work.seconds["growing"], frame.n_rows - problem.n_rows))
        print(f"\nSaved to {saved_as}; treewright predict {saved_as} NEW.csv uses it")


def _tell_memory(problem: Dataset, recipe: Recipe, work: Stages) -> None:
    """Large work says beforehand what it may take."""
    need = memory_needed(
        problem,
        criterion=recipe.limits["criterion"],
        n_leaves=recipe.limits["max_leaf_nodes"],
        n_threads=recipe.limits["n_jobs"],
    )
    if need > LARGE_BYTES:
        have = available_memory()
        beside = "" if have is None else f"; {have / 1e9:.1f} GB are free"
        work.note(f"growing takes up to {need / 1e9:.1f} GB of memory{beside}")


def _test_rows(test: str | None) -> tuple[float | None, str | None]:
    """The share of the rows to hold out, or the file to test on."""
    if test is None:
        return None, None
    try:
        share = float(test)
    except ValueError:
        return None, test
    if not 0 <= share < 1:
        raise Misuse(f"--test {test}: a share of the rows is at least 0 and less than 1, such as 0.2")
    return share, None


def _encoded_test(
    source: Source, roles: Roles, problem: Dataset, drop_missing_target: bool, threads: int
) -> Dataset:
    """The rows of a file to test on, in the schema of the rows to learn from."""
    frame = read(source, roles.forms(source, problem.schema), jobs=threads)
    return roles.encoded(frame, rows_with_target(frame, roles.target, drop_missing_target), problem.schema)


def _held_out(problem: Dataset, recipe: Recipe, share: float, seed: int, threads: int, work: Stages) -> Score:
    """The error of a tree that has learnt from the other rows only."""
    if problem.n_rows < 2:
        raise Misuse("--test: a table of one row has none to hold out")
    order = np.random.default_rng(seed).permutation(problem.n_rows)
    n_test = min(max(1, round(share * problem.n_rows)), problem.n_rows - 1)
    work.begin("testing", f"with {count(n_test, 'row')} held out")
    unseen, learnt = (problem.take(np.sort(rows)) for rows in np.split(order, [n_test]))
    if any(part.weight is not None and not part.weight.any() for part in (unseen, learnt)):
        raise Misuse(f"with --seed {seed} all rows that weigh something are on one side; try another seed")
    return Score.of("held-out rows", recipe.tree(learnt, work), unseen, threads, curve=recipe.alpha == 0)
