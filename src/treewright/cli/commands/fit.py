"""`treewright fit`: grow a tree from a table, prune it, certify its error, save it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from treewright.advice import Advice
from treewright.advising import fit_advice
from treewright.certifying import Certificate, Certificates, certify
from treewright.cli import options as opt
from treewright.cli import splits
from treewright.cli.console import Stages, Voice, advice_document
from treewright.cli.costs import NONE, Costs
from treewright.cli.errors import Misuse, Trouble, count
from treewright.cli.model_files import Outcome
from treewright.cli.optimal_options import GROWN, Optimal, progress_text
from treewright.cli.pruning_options import AS_USUAL, Method, Pruning
from treewright.cli.summary import Fit, certificate_text, files_text, fit_document, summary
from treewright.cli.tables.labelled import Roles, note_remarks
from treewright.cli.tables.reader import Frame
from treewright.cli.tables.sources import open_source, stem
from treewright.encoding import Dataset
from treewright.encoding.tables import available_memory
from treewright.growing import grow
from treewright.growing.constraints import refuse_missing_values
from treewright.growing.memory import memory_needed
from treewright.metrics import metrics, rarer_class
from treewright.optimising import Optimum, optimise
from treewright.pruning import METHODS, PruningPath
from treewright.selecting import WAYS
from treewright.selecting.planning import Plan
from treewright.tree import Tree
from treewright.tree.number_losses import predicts_medians

LARGE_BYTES = 2**28  # memory that is noted


def fit(
    data: opt.Table,
    /,
    *,
    learning: opt.Learning,
    output: opt.Output = None,
    report: opt.OutputFile = None,
    no_report: Annotated[opt.Flag, opt.OUTPUT] = False,
    test: Annotated[str | None, opt.ROWS] = None,
    test_size: Annotated[float | None, opt.ROWS] = None,
    validation: Annotated[str | None, opt.ROWS] = None,
    validation_fraction: Annotated[float | None, opt.ROWS] = None,
    random_state: opt.RandomState = 0,
    prune: Method = None,
    pruning: Pruning = AS_USUAL,
    delta: Annotated[opt.Delta, opt.CERTIFICATE] = 0.05,
    loss_bound: Annotated[opt.NotNegative, opt.CERTIFICATE] = None,
    limits: opt.Limits = opt.TO_PURITY,
    optimal: Optimal = GROWN,
    costs: Costs = NONE,
    style: opt.Style = opt.TEXT,
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
        A file with the rows that test the tree. They are not used for growing and pruning.
    test_size
        The share of the rows that test the tree instead (by default 0.2; 0: none).
    validation
        A file with the rows that prune the tree.
    validation_fraction
        The share of the other rows that prune the tree instead (by default 0.25). Only where the pruning uses
        such rows; otherwise all rows but the test rows grow the tree.
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
    treewright fit loans.csv --target default --optimal --max-depth 2
        the tree of the fewest errors of all trees of depth 2, with its proof
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
    search = optimal.search(limits, prune, pruning, costs)
    recipe = Recipe(
        growing=limits.growing,
        search=search,
        costs=costs,
        plan=pruning.plan(prune) if search is None else None,
        is_default=prune is None and pruning == AS_USUAL,
        test=splits.RowsOption.of("--test", test, "--test-size", test_size),
        validation=splits.RowsOption.of(
            "--validation", validation, "--validation-fraction", validation_fraction
        ),
        random_state=random_state,
        delta=delta,
        loss_bound=loss_bound,
    )
    roles = Roles.of(learning)
    with voice.stages() as work:
        work.begin("reading", str(data))
        outcome.check([data, *(each.file for each in recipe.row_options if each.file is not None)])
        frame, on_texts, result = _fit(data, learning.columns.dialect, roles, recipe, work)
        work.begin("advising")
        advice = fit_advice(
            result.tree,
            result.parts.training,
            table=result.data,
            test=result.parts.test,
            grown=result.unpruned,
            path=result.path,
            limits=recipe.growing,
            tested=result.scores.get("test"),
            delta=delta,
            reading=on_texts,
        )
        files = outcome.write(result, advice, delta, random_state, work)
    for hint in roles.hints(frame, result.data):
        voice.note(hint)
    voice.advise(advice)
    voice.summarize(
        lambda: f"{summary(frame.path, result)}\n\n{files_text(files)}\n\n{certificate_text(result)}",
        lambda: fit_document(frame.path, result, files) | {"advice": advice_document(advice)},
    )


@dataclass(frozen=True)
class Recipe:
    """How a tree is grown, pruned and judged."""

    growing: dict[str, Any]  # arguments of `grow`
    search: dict[str, Any] | None  # arguments of `optimise`, if the best tree is searched instead
    costs: Costs
    plan: Plan | None
    is_default: bool  # whether there are no options for pruning
    test: splits.RowsOption
    validation: splits.RowsOption
    random_state: int
    delta: float
    loss_bound: float | None

    @property
    def n_threads(self) -> int:
        """The number of threads."""
        return int(self.growing["n_jobs"])

    @property
    def row_options(self) -> tuple[splits.RowsOption, splits.RowsOption]:
        """The options that set rows aside."""
        return self.test, self.validation


def _fit(
    path: Path, dialect: opt.Dialect, roles: Roles, recipe: Recipe, work: Stages
) -> tuple[Frame, list[Advice], Fit]:
    """The table, advice on how its texts were read, and the tree with all that is measured on it."""
    splits.check_validation(recipe.validation, recipe.plan)
    splits.check_files(path, recipe.row_options)
    source = open_source(path, dialect)
    files = {each.option: each.file for each in recipe.row_options if each.file is not None}
    others = {option: open_source(file, dialect) for option, file in files.items()}
    frame = roles.read(source, recipe.n_threads, work)
    work.begin("encoding", count(frame.n_rows, "row"))
    data, on_texts = roles.encode(frame)
    if recipe.loss_bound is not None and data.schema.predicts_classes:
        raise Misuse("--loss-bound is for numbers; a wrong class loses 1")
    if recipe.growing["missing"] == "error":
        # Before the rows are split, so that the message names the row of the table.
        refuse_missing_values(data)
    recipe = replace(recipe, growing=recipe.growing | recipe.costs.growing(data.schema))
    from_files = {}
    for option, other in others.items():
        note_remarks(other, work)
        roles.check(other, data.schema)
        judging = option == "--test"
        from_files[option] = roles.read_other(other, data.schema, recipe.n_threads, work, judging=judging)
    splits.refuse_same_rows(data, from_files, recipe.row_options)
    has_options = not recipe.is_default or recipe.validation.is_set
    plan = recipe.plan if has_options or not splits.is_small(data) else None
    parts = splits.split_rows(data, plan, *recipe.row_options, recipe.random_state, from_files)
    unpruned, optimum = _tree(parts.training, recipe, work)
    prunings = None if plan is None else _prune(unpruned, parts, plan, recipe, work)
    tree = unpruned if prunings is None else prunings.pruned
    work.begin("testing")
    positive = rarer_class(data) if data.schema.predicts_classes else None
    scores = {
        name: metrics(tree, rows, positive=positive, n_jobs=recipe.n_threads)
        for name, rows in vars(parts).items()
        if rows is not None
    }
    work.begin("certifying")
    certificate = certificate_of(tree, parts, plan, prunings, recipe.delta, recipe.loss_bound)
    result = Fit(
        data=data,
        n_dropped=frame.n_rows - data.n_rows,
        parts=parts,
        plan=plan,
        unpruned=unpruned,
        tree=tree,
        test_file=recipe.test.file,
        path=prunings,
        scores=scores,
        certificate=certificate,
        seconds=work.seconds,
        optimum=optimum,
    )
    return frame, on_texts, result


def _tree(data: Dataset, recipe: Recipe, work: Stages) -> tuple[Tree, Optimum | None]:
    """The tree before pruning: grown, or the best one with what is proved of it."""
    size = f"{count(data.n_rows, 'row')} × {count(data.n_columns, 'column')}"
    if recipe.search is not None:
        work.begin("searching", size)
        optimum = _optimum(data, recipe, recipe.search, work)
        return optimum.tree, optimum
    work.begin("growing", size)
    _note_memory(data, recipe, work)
    return grow(data, **recipe.growing, progress=work.advance), None


def _optimum(data: Dataset, recipe: Recipe, search: dict[str, Any], work: Stages) -> Optimum:
    """The best tree; an interrupt ends the command as everywhere."""
    costs = recipe.growing.get("costs")
    of_rows = costs is None and data.schema.predicts_classes and data.total_weight == data.n_rows
    of_rows = of_rows and not search.get("leaf_penalty")

    def progress(_: float, loss: float, bound: float) -> None:
        work.tell(progress_text(loss, bound, of_rows=of_rows))

    optimum = optimise(data, **search, costs=costs, progress=progress)
    if optimum.stopped == "interrupt":
        raise KeyboardInterrupt
    return optimum


def _prune(tree: Tree, parts: splits.Parts, plan: Plan, recipe: Recipe, work: Stages) -> PruningPath:
    work.begin("pruning", f"a tree of {tree.n_leaves:,} leaves")
    try:
        return plan.path(tree, parts.training, parts.validation, recipe.growing, recipe.random_state)
    except TypeError as error:
        if not (plan.pruning or plan.choosing):
            raise
        raise Trouble(f"--option: {plan.method} cannot work with one of the values ({error})") from error


def _note_memory(data: Dataset, recipe: Recipe, work: Stages) -> None:
    """Note how much memory growing may take, if it is much."""
    limits = {"criterion": recipe.growing["criterion"], "n_leaves": recipe.growing["max_leaf_nodes"]}
    need = memory_needed(data, **limits, n_threads=recipe.n_threads)
    if need > LARGE_BYTES:
        have = available_memory()
        beside = "" if have is None else f"; {have / 1e9:.1f} GB are free"
        work.note(f"growing takes up to {need / 1e9:.1f} GB of memory{beside}")


def certificate_of(
    tree: Tree,
    parts: splits.Parts,
    plan: Plan | None,
    path: PruningPath | None,
    delta: float,
    loss_bound: float | None,
) -> Certificates | str:
    """The certificates of a tree, the one by test rows first; or the reason why there are none.

    Without test rows, the validation rows bound the error as well, with a correction for the selection.
    """
    rows = parts.validation if parts.test is None else parts.test
    if not (parts.training if rows is None else rows).weighs_alike:
        return "the rows have different weights, and a guarantee counts every row as one draw"
    if not tree.schema.predicts_classes and rows is None:
        return (
            "training rows do not bound the loss of predicted numbers; --test-size 0.2 sets test rows aside"
        )
    certificates: list[Certificate] = []
    try:
        if rows is not None:
            loss = "absolute_error" if predicts_medians(tree.criterion) else "squared_error"
            of_numbers = {"loss": loss, "loss_bound": loss_bound}
            options: dict[str, Any] = {} if tree.schema.predicts_classes else of_numbers
            if parts.test is None:
                assert plan is not None
                assert path is not None
                of_all = METHODS.needs(plan.method, "validation")  # chosen from all prunings of the tree
                options |= {"method": "reduced_error"} if of_all else {"choices": len(path)}
            certificates.append(certify(tree, test=rows, delta=delta, check_rows=False, **options))
        if tree.schema.predicts_classes and parts.training.weighs_alike:
            certificates.append(certify(tree, data=parts.training, delta=delta))
    except ValueError as error:
        if not certificates:
            return str(error).replace("loss_bound", "--loss-bound")
    return Certificates(tuple(certificates), _estimate(plan, path))


def _estimate(plan: Plan | None, path: PruningPath | None) -> tuple[float, float, int] | None:
    """The cross-validated loss of the tree, its standard error and the number of folds, if folds chose it."""
    if plan is None or path is None or plan.by != "folds" or path.standard_error is None:
        return None
    assert path.validation is not None
    n_folds = plan.choosing.get("n_folds", WAYS.options("folds")["n_folds"].default)
    return float(path.validation[path.chosen]), float(path.standard_error[path.chosen]), int(n_folds)
