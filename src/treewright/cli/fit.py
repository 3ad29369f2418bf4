"""`treewright fit`: grow a tree from a table, prune it, tell its error with a certificate, save it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter

from treewright.cli.certificates import certificate_of
from treewright.cli.console import Stages, Voice
from treewright.cli.documents import fit_document
from treewright.cli.errors import (
    Misuse,
    Trouble,
    check_delta_option,
    count,
    thread_count,
)
from treewright.cli.options import (
    OUTPUT,
    TABLE,
    USUAL,
    Delta,
    Dialect,
    Drop,
    Flag,
    Jobs,
    Json,
    Kinds,
    NotNegative,
    Output,
    OutputFile,
    Positive,
    Quiet,
    Repeated,
    Seed,
    Table,
    Target,
    Weights,
    kinds_of,
)
from treewright.cli.outcomes import Outcome
from treewright.cli.parts import Parts, Wish, check_files, check_wishes, dealt, is_small
from treewright.cli.plans import known, planned
from treewright.cli.reading import Frame, read
from treewright.cli.roles import Roles, rows_with_target
from treewright.cli.sources import Source, open_source, stem
from treewright.cli.summary import Fit, Score, certificate, summary, where
from treewright.encoding import Dataset
from treewright.encoding.tables import available_memory
from treewright.growing import criteria, grow
from treewright.memory import memory_needed
from treewright.pruning import PruningPath
from treewright.schema import Schema
from treewright.selecting.planning import Plan
from treewright.tree import Tree

LARGE_BYTES = 2**28  # memory worth a word
ROWS = Parameter(group=Group("Which rows do what", sort_key=10))
GROWING = Parameter(group=Group("Growing", sort_key=20))
PRUNING = Parameter(group=Group("Pruning", sort_key=30))
CERTIFICATE = Parameter(group=Group("Certificate", sort_key=40))


def fit(
    data: Table,
    /,
    *,
    target: Target,
    output: Output = None,
    report: OutputFile = None,
    no_report: Annotated[Flag, Parameter(group=OUTPUT)] = False,
    test: Annotated[str | None, ROWS] = None,
    validation: Annotated[str | None, ROWS] = None,
    seed: Annotated[Seed, ROWS] = 0,
    prune: Annotated[str | None, PRUNING] = None,
    select: Annotated[str | None, PRUNING] = None,
    leaves: Annotated[Positive, PRUNING] = None,
    alpha: Annotated[NotNegative, PRUNING] = None,
    option: Annotated[Repeated, PRUNING] = None,
    delta: Annotated[Delta, CERTIFICATE] = 0.05,
    loss_bound: Annotated[NotNegative, CERTIFICATE] = None,
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
    """Grow a tree from a table, prune it and save it, with a certificate of its error and a report.

    The rows are dealt out, and none does two things: 60 % grow the tree, 20 % choose how far it is pruned,
    20 % test it. What is shown, tested, certified and saved is one and the same tree. Of a table of fewer
    than 25 rows all grow the tree, which is not pruned then, unless other options ask for it.

    Parameters
    ----------
    output
        The file for the tree; by default the name of the table with .tree.json, in this folder.
    report
        The file for the report, a page to open in a browser; by default beside the tree, with .report.html.
    no_report
        Write no report.
    test
        Which share of the rows tests the tree (by default 0.2; 0: none), or a file with such rows. They take
        no part in growing and pruning.
    validation
        Which share of the other rows prunes the tree (by default 0.25), or a file with such rows. Only where
        the pruning takes such rows; otherwise all rows but those of the test grow the tree.
    prune
        How the tree is pruned: cost_complexity (the default), bottom_up, bound, chi_squared, minimum_errors,
        pessimistic, reduced_error, srm; or none.
    select
        Who chooses, where the pruning makes several trees: held_out (the default; the rows of --validation),
        folds, leaves, srm, certificate.
    leaves
        Prune to at most this many leaves (--select leaves).
    alpha
        Prune at this price of a leaf: splits that spare fewer errors, as a share of the rows, are cut.
    option
        Another option of the pruning or of the choice, as name=value: rule=1-SE, n_folds=5, c=0.3; may be
        repeated.
    loss_bound
        For numbers: the most that a row can lose (the squared error, or the absolute one with --criterion
        absolute_error). Without it there is an estimate instead of a guarantee.
    max_leaves
        Stop growing at this many leaves; the best splits come first. The tree is pruned after that all the
        same; --prune none keeps all of them.
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
    treewright fit loans.csv --target default
        grow, prune and certify a tree: loans.tree.json, and all about it
        in loans.report.html
    treewright fit loans.csv --target default --leaves 8 -o small.json
        the best tree of at most 8 leaves
    treewright fit loans.csv --target default --test new.csv
        all rows of loans.csv grow and prune, those of new.csv test
    treewright fit loans.csv --target default --drop id --kinds zip=category
        without the column id; zip codes are names, not numbers
    zcat logs.jsonl.gz | treewright fit - --target late -o late.json
        from a pipe
    treewright fit loans.csv --target default --json --quiet
        for a program: sizes, errors, certificate and files as JSON
    """
    voice = Voice(json, quiet)
    outcome = Outcome.of(output or Path(f"{stem(data)}.tree.json"), report, no_report)
    check_criterion(criterion)
    check_delta_option(delta)
    limits = {"max_leaf_nodes": max_leaves, "max_depth": max_depth, "min_samples_leaf": min_rows_leaf}
    recipe = Recipe(
        growing={**limits, "criterion": criterion, "n_jobs": thread_count(jobs)},
        plan=planned(prune, select, leaves, alpha, option or []),
        is_default=(prune, select, leaves, alpha, option) == (None,) * 5,
        test=Wish.of("--test", test),
        validation=Wish.of("--validation", validation),
        seed=seed,
        delta=delta,
        loss_bound=loss_bound,
    )
    roles = Roles(target, weights, drop or [], kinds_of(kinds), classes)
    reading = Reading(data, roles, dialect, drop_missing_target)
    with voice.stages() as work:
        work.begin("reading", str(data))
        outcome.check(
            [data, *(wish.file for wish in (recipe.test, recipe.validation) if wish.file is not None)]
        )
        frame, done = _fitted(reading, recipe, work)
        files = outcome.write(done, delta, seed, work)
    for hint in roles.hints(frame, done.data):
        voice.note(hint)
    voice.summarize(
        lambda: f"{summary(frame.path, done)}\n\n{where(files)}\n\n{certificate(done)}",
        lambda: fit_document(frame.path, done, files),
    )


def check_criterion(criterion: str | None) -> None:
    """Misuse if there is no such criterion."""
    if criterion is not None:
        known("--criterion", criterion, criteria())


@dataclass(frozen=True)
class Reading:
    """A table and what its columns are for."""

    path: Path
    roles: Roles
    dialect: Dialect
    drop_missing_target: bool

    def open(self, path: str | Path) -> Source:
        """The table, or another one that is written alike."""
        return open_source(path, self.dialect)

    def encoded(self, frame: Frame, schema: Schema | None = None) -> Dataset:
        """The rows of a frame that have a target."""
        rows = rows_with_target(frame, self.roles.target, self.drop_missing_target)
        return self.roles.encoded(frame, rows, schema)

    def other(self, source: Source, data: Dataset, threads: int) -> Dataset:
        """The rows of another file, in the schema of the table."""
        frame = read(source, self.roles.forms(source, data.schema), jobs=threads)
        return self.encoded(frame, data.schema)


@dataclass(frozen=True)
class Recipe:
    """How a tree is grown, pruned and judged."""

    growing: dict[str, Any]  # arguments of `grow`
    plan: Plan | None
    is_default: bool  # whether the user has said nothing of pruning
    test: Wish
    validation: Wish
    seed: int
    delta: float
    loss_bound: float | None

    @property
    def n_threads(self) -> int:
        """The number of threads."""
        return int(self.growing["n_jobs"])

    def plan_for(self, data: Dataset) -> Plan | None:
        """The plan, which for a small table is none unless it was asked for."""
        asked = not self.is_default or self.validation.is_said
        return self.plan if asked or not is_small(data) else None


def _fitted(reading: Reading, recipe: Recipe, work: Stages) -> tuple[Frame, Fit]:
    """The table and all that comes of it."""
    wishes = (recipe.test, recipe.validation)
    check_wishes(recipe.validation, recipe.plan)
    check_files(reading.path, wishes)
    source = reading.open(reading.path)
    others = {wish.option: reading.open(wish.file) for wish in wishes if wish.file is not None}
    frame = read(source, reading.roles.forms(source), jobs=recipe.n_threads)
    work.begin("encoding", count(frame.n_rows, "row"))
    data = reading.encoded(frame)
    if recipe.loss_bound is not None and data.schema.predicts_classes:
        raise Misuse("--loss-bound is for numbers; a wrong class loses 1")
    from_files = {option: reading.other(other, data, recipe.n_threads) for option, other in others.items()}
    plan = recipe.plan_for(data)
    parts = dealt(data, plan, *wishes, recipe.seed, from_files)
    grown = _grown(parts.training, recipe, work)
    pruning = None if plan is None else _pruned(grown, parts, plan, recipe, work)
    tree = grown if pruning is None else pruning.pruned
    work.begin("testing")
    named = (("training", parts.training), ("validation", parts.validation), ("test", parts.test))
    scores = [Score.of(name, tree, rows, recipe.n_threads) for name, rows in named if rows is not None]
    work.begin("certifying")
    sure = certificate_of(tree, parts, plan, pruning, recipe.delta, recipe.loss_bound)
    return frame, Fit(
        data=data,
        dropped=frame.n_rows - data.n_rows,
        parts=parts,
        test_file=recipe.test.file,
        plan=plan,
        grown=grown,
        tree=tree,
        path=pruning,
        scores=scores,
        certificate=sure,
        seconds=work.seconds,
    )


def _grown(data: Dataset, recipe: Recipe, work: Stages) -> Tree:
    work.begin("growing", f"{count(data.n_rows, 'row')} × {count(data.n_columns, 'column')}")
    _tell_memory(data, recipe, work)
    return grow(data, **recipe.growing, progress=work.advance)


def _pruned(tree: Tree, parts: Parts, plan: Plan, recipe: Recipe, work: Stages) -> PruningPath:
    work.begin("pruning", f"a tree of {tree.n_leaves:,} leaves")
    try:
        return plan.path(tree, parts.training, parts.validation, recipe.growing, recipe.seed)
    except TypeError as error:
        if not (plan.pruning or plan.choosing):
            raise
        raise Trouble(f"--option: {plan.method} cannot work with one of the values ({error})") from error


def _tell_memory(data: Dataset, recipe: Recipe, work: Stages) -> None:
    """Large work says beforehand what it may take."""
    need = memory_needed(
        data,
        criterion=recipe.growing["criterion"],
        n_leaves=recipe.growing["max_leaf_nodes"],
        n_threads=recipe.n_threads,
    )
    if need > LARGE_BYTES:
        have = available_memory()
        beside = "" if have is None else f"; {have / 1e9:.1f} GB are free"
        work.note(f"growing takes up to {need / 1e9:.1f} GB of memory{beside}")
