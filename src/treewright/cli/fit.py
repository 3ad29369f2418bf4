"""`treewright fit`: grow a tree from a table, prune it, tell its error with a certificate, save it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from treewright.cli.advising import advice_document, advice_on_fit
from treewright.cli.certificates import certificate_of
from treewright.cli.console import Stages, Voice
from treewright.cli.costs import NONE, Costs
from treewright.cli.documents import fit_document
from treewright.cli.errors import (
    Misuse,
    Trouble,
    check_delta_option,
    count,
)
from treewright.cli.options import (
    CERTIFICATE,
    OUTPUT,
    PLAIN,
    PRUNING,
    ROWS,
    TO_PURITY,
    USUAL,
    Columns,
    Delta,
    Dialect,
    Flag,
    Json,
    Limits,
    NotNegative,
    Output,
    OutputFile,
    Positive,
    Quiet,
    Repeated,
    Seed,
    Table,
    Target,
)
from treewright.cli.outcomes import Outcome
from treewright.cli.parts import Parts, Wish, check_files, check_wishes, dealt, is_small, refuse_same_rows
from treewright.cli.plans import planned
from treewright.cli.reading import Frame
from treewright.cli.sources import stem
from treewright.cli.summary import Fit, certificate, summary, where
from treewright.cli.tables import Reading
from treewright.encoding import Dataset
from treewright.encoding.tables import available_memory
from treewright.growing import grow
from treewright.growing.constraints import refuse_missing_values
from treewright.growing.memory import memory_needed
from treewright.metrics import metrics, rarer_class
from treewright.pruning import PruningPath
from treewright.selecting.planning import Plan
from treewright.tree import Tree

LARGE_BYTES = 2**28  # memory worth a word


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
    limits: Limits = TO_PURITY,
    costs: Costs = NONE,
    columns: Columns = PLAIN,
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

    Examples
    --------
    treewright fit loans.csv --target default
        grow, prune and certify a tree: loans.tree.json, and all about it
        in loans.report.html
    treewright fit loans.csv --target default --leaves 8 -o small.json
        the best tree of at most 8 leaves
    treewright fit loans.csv --target default --test new.csv
        all rows of loans.csv grow and prune, those of new.csv test
    treewright fit loans.csv --target default --cost yes:no=10
        a loan that fails and was given costs ten times one that was not
    treewright fit loans.csv --target default --drop id --kinds zip=category
        without the column id; zip codes are names, not numbers
    zcat logs.jsonl.gz | treewright fit - --target late -o late.json
        from a pipe
    treewright fit loans.csv --target default --json --quiet
        for a program: sizes, errors, certificate and files as JSON
    """
    voice = Voice(json, quiet)
    outcome = Outcome.of(output or Path(f"{stem(data)}.tree.json"), report, no_report)
    check_delta_option(delta)
    costs.check()
    recipe = Recipe(
        growing=limits.growing,
        costs=costs,
        plan=planned(prune, select, leaves, alpha, option or []),
        is_default=(prune, select, leaves, alpha, option) == (None,) * 5,
        test=Wish.of("--test", test),
        validation=Wish.of("--validation", validation),
        seed=seed,
        delta=delta,
        loss_bound=loss_bound,
    )
    reading = Reading.of(data, target, columns, dialect)
    with voice.stages() as work:
        work.begin("reading", str(data))
        outcome.check(
            [data, *(wish.file for wish in (recipe.test, recipe.validation) if wish.file is not None)]
        )
        frame, done = _fitted(reading, recipe, work)
        work.begin("advising")
        advice = advice_on_fit(done, recipe.growing, delta, reading.advice)
        files = outcome.write(done, advice, delta, seed, work)
    for hint in reading.roles.hints(frame, done.data):
        voice.note(hint)
    voice.advise(advice)
    voice.summarize(
        lambda: f"{summary(frame.path, done)}\n\n{where(files)}\n\n{certificate(done)}",
        lambda: fit_document(frame.path, done, files) | {"advice": advice_document(advice)},
    )


@dataclass(frozen=True)
class Recipe:
    """How a tree is grown, pruned and judged."""

    growing: dict[str, Any]  # arguments of `grow`
    costs: Costs
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
    frame = reading.frame(source, recipe.n_threads, work)
    work.begin("encoding", count(frame.n_rows, "row"))
    data = reading.encoded(frame, work)
    if recipe.loss_bound is not None and data.schema.predicts_classes:
        raise Misuse("--loss-bound is for numbers; a wrong class loses 1")
    if recipe.growing.get("missing") == "error":
        refuse_missing_values(data)  # before the rows are dealt out: so it names the row of the table
    recipe = replace(recipe, growing=recipe.growing | recipe.costs.growing(data.schema))
    from_files = {
        option: reading.other(other, data, recipe.n_threads, work, judging=option == recipe.test.option)
        for option, other in others.items()
    }
    refuse_same_rows(data, from_files, wishes)
    plan = recipe.plan_for(data)
    parts = dealt(data, plan, *wishes, recipe.seed, from_files)
    grown = _grown(parts.training, recipe, work)
    pruning = None if plan is None else _pruned(grown, parts, plan, recipe, work)
    tree = grown if pruning is None else pruning.pruned
    work.begin("testing")
    named = (("training", parts.training), ("validation", parts.validation), ("test", parts.test))
    positive = rarer_class(data) if data.schema.predicts_classes else None
    scores = {
        name: metrics(tree, rows, positive=positive, n_threads=recipe.n_threads)
        for name, rows in named
        if rows is not None
    }
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
