"""`treewright fit`: grow a tree from a table, prune it, certify its error, save it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from treewright.certifying import Certificate, Certificates, certify
from treewright.cli.advice import advice_document, advice_on_fit
from treewright.cli.console import Stages, Voice
from treewright.cli.costs import NONE, Costs
from treewright.cli.errors import (
    Misuse,
    Trouble,
    check_delta_option,
    count,
)
from treewright.cli.model_files import Outcome
from treewright.cli.options import (
    CERTIFICATE,
    OUTPUT,
    ROWS,
    TEXT,
    TO_PURITY,
    Delta,
    Flag,
    Learning,
    Limits,
    NotNegative,
    Output,
    OutputFile,
    Seed,
    Style,
    Table,
)
from treewright.cli.pruning_options import AS_USUAL, Method, Pruning
from treewright.cli.splits import Parts, Wish, check_files, check_wishes, dealt, is_small, refuse_same_rows
from treewright.cli.summary import Fit, certificate, fit_document, summary, where
from treewright.cli.tables.labelled import Reading
from treewright.cli.tables.reader import Frame
from treewright.cli.tables.sources import stem
from treewright.encoding import Dataset
from treewright.encoding.tables import available_memory
from treewright.growing import grow
from treewright.growing.constraints import refuse_missing_values
from treewright.growing.memory import memory_needed
from treewright.metrics import metrics, rarer_class
from treewright.pruning import METHODS, PruningPath
from treewright.selecting import WAYS
from treewright.selecting.planning import Plan
from treewright.tree import Tree

LARGE_BYTES = 2**28  # memory worth a word


def fit(
    data: Table,
    /,
    *,
    learning: Learning,
    output: Output = None,
    report: OutputFile = None,
    no_report: Annotated[Flag, Parameter(group=OUTPUT)] = False,
    test: Annotated[str | None, ROWS] = None,
    validation: Annotated[str | None, ROWS] = None,
    seed: Seed = 0,
    prune: Method = None,
    pruning: Pruning = AS_USUAL,
    delta: Annotated[Delta, CERTIFICATE] = 0.05,
    loss_bound: Annotated[NotNegative, CERTIFICATE] = None,
    limits: Limits = TO_PURITY,
    costs: Costs = NONE,
    style: Style = TEXT,
) -> None:
    """Grow a tree from a table, prune it and save it, with a certificate of its error and a report.

    The rows are split at random: 60 % grow the tree, 20 % choose how far it is pruned, 20 % test it. The tree
    that is shown, tested, certified and saved is one and the same. With fewer than 25 rows all of them grow
    the tree, which is not pruned unless other options ask for it.

    Parameters
    ----------
    output
        The file for the tree; by default the name of the table with .tree.json, in this folder.
    report
        The file for the report, a page to open in a browser; by default beside the tree, with .report.html.
    no_report
        Write no report.
    test
        The share of the rows that test the tree (by default 0.2; 0: none), or a file with test rows. They are
        not used for growing and pruning.
    validation
        The share of the other rows that prune the tree (by default 0.25), or a file with such rows. Only
        where the pruning uses such rows; otherwise all rows but the test rows grow the tree.
    loss_bound
        For numbers: the largest possible loss of a row (the squared error, or the absolute error with
        --criterion absolute_error). Without it there is an estimate instead of a guarantee.

    Examples
    --------
    treewright fit loans.csv --target default
        grow, prune and certify a tree: loans.tree.json, with a report in
        loans.report.html
    treewright fit loans.csv --target default --leaves 8 -o small.json
        the best tree of at most 8 leaves
    treewright fit loans.csv --target default --test new.csv
        grow and prune with all rows of loans.csv, test with new.csv
    treewright fit loans.csv --target default --cost yes:no=10
        a default that is predicted as none costs ten times as much as the
        opposite mistake
    treewright fit loans.csv --target default --drop id --kinds zip=category
        without the column id; zip codes are categories, not numbers
    zcat logs.jsonl.gz | treewright fit - --target late -o late.json
        from a pipe
    treewright fit loans.csv --target default --json --quiet
        for a program: sizes, errors, certificate and files as JSON
    """
    voice = Voice(style)
    outcome = Outcome.of(output or Path(f"{stem(data)}.tree.json"), report, no_report)
    check_delta_option(delta)
    costs.check()
    recipe = Recipe(
        growing=limits.growing,
        costs=costs,
        plan=pruning.plan(prune),
        is_default=prune is None and pruning == AS_USUAL,
        test=Wish.of("--test", test),
        validation=Wish.of("--validation", validation),
        seed=seed,
        delta=delta,
        loss_bound=loss_bound,
    )
    reading = Reading.of(data, learning)
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


def certificate_of(
    tree: Tree,
    parts: Parts,
    plan: Plan | None,
    path: PruningPath | None,
    delta: float,
    loss_bound: float | None,
) -> Certificates | str:
    """The certificates of a tree, the one by rows that had no part in it first; or why there is none.

    Without test rows, those that chose the tree bound its error too, at the price of the choice.
    """
    rows = parts.validation if parts.test is None else parts.test
    if not (parts.training if rows is None else rows).weighs_alike:
        return "the rows have different weights, and a guarantee counts every row as one draw"
    if not tree.schema.predicts_classes and rows is None:
        return "what predicted numbers lose cannot be told from training rows; --test 0.2 sets others aside"
    found: list[Certificate] = []
    try:
        if rows is not None:
            options = _of_numbers(tree, loss_bound)
            if parts.test is None:
                assert plan is not None
                assert path is not None
                options |= _of_the_choice(plan, path)
            found.append(certify(tree, test=rows, delta=delta, check_rows=False, **options))
        if tree.schema.predicts_classes and parts.training.weighs_alike:
            found.append(certify(tree, data=parts.training, delta=delta))
    except ValueError as error:
        if not found:
            return str(error).replace("loss_bound", "--loss-bound")
    return Certificates(tuple(found), _estimate(plan, path))


def _of_numbers(tree: Tree, loss_bound: float | None) -> dict[str, Any]:
    if tree.schema.predicts_classes:
        return {}
    loss = "absolute_error" if tree.criterion == "absolute_error" else "squared_error"
    return {"loss": loss, "loss_bound": loss_bound}


def _of_the_choice(plan: Plan, path: PruningPath) -> dict[str, Any]:
    """What the rows have chosen from: all prunings of a tree, or the trees of a path."""
    if METHODS.needs(plan.method, "validation"):
        return {"method": "reduced_error"}
    return {"choices": len(path)}


def _estimate(plan: Plan | None, path: PruningPath | None) -> tuple[float, float, int] | None:
    """What the folds that chose the tree say of it."""
    if plan is None or path is None or plan.by != "folds" or path.standard_error is None:
        return None
    assert path.validation is not None
    n_folds = plan.choosing.get("n_folds", WAYS.options("folds")["n_folds"].default)
    return float(path.validation[path.chosen]), float(path.standard_error[path.chosen]), int(n_folds)
