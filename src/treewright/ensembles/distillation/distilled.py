"""Distillation: a small tree in place of any model, and how faithful it is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright._display import Layout, Shown, html_block, sentences_html
from treewright._suggestions import check_names
from treewright.certifying import Certificate, binomial_lower, binomial_upper, certify
from treewright.certifying.binomial import check_delta
from treewright.encoding import Dataset, encode
from treewright.encoding.row_hashes import row_hashes
from treewright.encoding.rows import encoded_rows, is_pair, with_target
from treewright.encoding.schema import Schema
from treewright.encoding.splits import checked_seed, random_parts
from treewright.encoding.synthetic_rows import RowSynthesizer
from treewright.ensembles.distillation.students import (
    grow_student,
    mixed_columns,
    own_cells,
    random_cells,
    task_schema,
    with_answers,
)
from treewright.ensembles.distillation.teachers import Teacher
from treewright.growing import whole_number
from treewright.tree import Tree
from treewright.tree.oblique import provenance
from treewright.tree.predict import answers

Floats = NDArray[np.float64]
Restate = Literal["teacher", "truth"]

_PARTS = 4  # one of these is set aside if there are no validation rows
_ACCIDENT = 1e-6  # a negligible probability
_OPTIONS = (
    "criterion",
    "max_depth",
    "threshold",
    "missing",
    "monotonic_cst",
    "interaction_cst",
    "feature_costs",
    "n_jobs",
)
_RESAMPLES = 1000  # of the rows, for the interval of R²


@dataclass(frozen=True)
class Fidelity(Shown):
    """How well a tree agrees with its teacher, with a confidence interval.

    For classes, the share of rows for which both predict the same, with Clopper and Pearson's interval; for
    numbers R², the share of the variance of the teacher's predictions that the tree explains, with a
    bootstrap percentile interval.
    """

    value: float
    low: float
    high: float
    rows: int
    delta: float = 0.05
    what: Literal["agreement", "R²"] = "agreement"

    def _layout(self) -> Layout:
        return Layout([str(self)])

    def __str__(self) -> str:
        sure = f"{round(100 * (1 - self.delta), 10):g} % confidence"
        between = f"({sure}: {100 * self.low:.1f} % to {100 * self.high:.1f} %)"
        share = f"{100 * self.value:.1f} % of"
        if self.what == "R²":
            return (
                f"explains {share} the variance of its teacher's predictions for {self.rows:,} rows {between}"
            )
        return f"agrees with its teacher on {share} {self.rows:,} rows {between}"


@dataclass(frozen=True)
class Distillation:
    """A small tree in place of a model, with its fidelity, accuracy and certificate.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from treewright import RandomForestClassifier, distillation
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    >>> found = distillation(forest, X, max_leaf_nodes=4)
    >>> found.tree.n_leaves <= 4, found.set_aside
    (True, True)
    """

    tree: Tree
    teacher: str  # what kind of model it was
    fidelity: Fidelity
    teacher_score: float | None  # accuracy, or R², on the same rows; None if their targets are unknown
    student_score: float | None
    certificate: Certificate | None  # of the tree; None if the teacher may have been trained on the rows
    set_aside: bool  # whether the rows are from the data, because there were no validation rows
    n_synthetic: int
    options: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def _repr_html_(self) -> str:
        return html_block(sentences_html(str(self).splitlines()), self.tree._repr_html_())

    def __str__(self) -> str:
        size = f"{self.tree.n_leaves:,} leaves, depth {self.tree.height}"
        lines = [
            f"a tree of {size}, distilled from {self.teacher}",
            f"it {self.fidelity}",
        ]
        if self.teacher_score is not None and self.student_score is not None:
            measure = "accuracy on them" if self.tree.schema.predicts_classes else "R² on them"
            teacher, own = (f"{100 * score:.1f} %" for score in (self.teacher_score, self.student_score))
            lines.append(f"{measure}: the teacher {teacher}, the tree {own}")
        if self.certificate is not None:
            lines.append(str(self.certificate))
        if self.set_aside:
            lines.append(
                "the rows were set aside from the data, and the teacher may have been trained on them: give "
                "validation= rows that it has never seen for figures that can be quoted"
            )
        return "\n".join(lines)


def distill(
    model: Any,
    data: Any,
    target: Any = None,
    *,
    max_leaf_nodes: int = 16,
    n_synthetic: int = 10_000,
    soft: bool = True,
    restate: Restate = "teacher",
    classes: Sequence[Any] | None = None,
    random_state: int = 0,
    progress: Callable[[float], object] | None = None,
    **options: Any,
) -> Tree:
    """One small tree that predicts as much as possible like another model: a forest, a booster, a network.

    The teacher predicts the rows of the data and synthetic rows made of their cells (after Breiman and Shang
    1996). A tree with more leaves than allowed is grown from these predictions, and of all its prunings the
    one that agrees with the teacher on most of the rows is returned.

    Parameters
    ----------
    model : fitted model or callable
        The teacher: anything with `predict_proba` or `predict`, or a function from a table to predictions. It
        gets tables of the type of `data`, with the same columns and column types.
    data : table, tuple (table, target) or (table, target, weights), or Dataset
        The rows. The target only gives the classes and their order; the tree learns the teacher's
        predictions.
    target : str or array, optional
        The target of a table in `data`, as in the tuple.
    max_leaf_nodes : int
        The largest number of leaves.
    n_synthetic : int
        The number of synthetic rows: real rows in which about every fourth cell is another row's. Together
        they have the weight of the real ones. 0 for none.
    soft : bool
        Whether a row counts for each class by the teacher's probability, or only for the predicted class. For
        teachers without `predict_proba` there is no difference.
    restate : {"teacher", "truth"}
        Whether the leaves predict by the teacher's predictions or by the targets of the rows.
    classes : sequence, optional
        The classes of the columns of the teacher's probabilities, if neither it nor the target gives them.
    random_state : int
        The seed of the synthetic rows.
    progress : callable, optional
        Called every few milliseconds with the fraction of the growing that is done.
    **options
        Options of `grow`: criterion, max_depth, threshold, missing, monotonic_cst, interaction_cst,
        feature_costs, n_jobs.

    Returns
    -------
    Tree
        With the rows and weights of the data and the class proportions of the teacher. `certify` needs
        `test=` rows: without them it would bound the distance from the teacher, not from the truth.

    See Also
    --------
    distillation : the same, with its fidelity.
    born_again : the smallest tree that predicts exactly like a small forest.

    Examples
    --------
    >>> def teacher(table):
    ...     return ["long" if a + b > 10 else "short" for a, b in table]
    >>> tree = distill(teacher, [[a, b] for a in range(10) for b in range(10)], max_leaf_nodes=5)
    >>> tree.n_leaves, tree.predict([[9, 9], [1, 2]]).tolist()
    (5, ['long', 'short'])
    """
    task = _Task(model, data, classes, locals())
    return task.tree(np.arange(task.data.n_rows))


def distillation(
    model: Any,
    data: Any,
    target: Any = None,
    *,
    validation: Any = None,
    delta: float = 0.05,
    max_leaf_nodes: int = 16,
    n_synthetic: int = 10_000,
    soft: bool = True,
    restate: Restate = "teacher",
    classes: Sequence[Any] | None = None,
    random_state: int = 0,
    progress: Callable[[float], object] | None = None,
    **options: Any,
) -> Distillation:
    """`distill`, and the fidelity of the tree on rows that were not used to grow it.

    Parameters
    ----------
    validation : table, tuple (table, target) or Dataset, optional
        Rows that neither the tree nor the teacher has seen, best with their targets. Without them, a quarter
        of the data is set aside at random; if the teacher was trained on these rows, its figures are
        optimistic, and there is no certificate. Rows of the data are refused here.
    delta : float
        The probability that an interval, or the certificate, fails.
    model, data, target : fitted model or callable, table, array
        The teacher, the rows and their target, as in `distill`.
    max_leaf_nodes, n_synthetic, soft, restate, classes, random_state, progress, **options : options
        As in `distill`.

    Returns
    -------
    Distillation

    Examples
    --------
    >>> def teacher(table):
    ...     return ["long" if a + b > 10 else "short" for a, b in table]
    >>> rows = [[a, b] for a in range(10) for b in range(10)]
    >>> others = [[a + 0.4, b + 0.3] for a, b in rows]
    >>> print(distillation(teacher, rows, validation=others, max_leaf_nodes=5))
    a tree of 5 leaves, depth 3, distilled from teacher
    it agrees with its teacher on 89.0 % of 100 rows (95 % confidence: 81.2 % to 94.4 %)
    """
    check_delta(delta)
    task = _Task(model, data, classes, locals())
    rows = np.arange(task.data.n_rows)
    if validation is not None:
        judge = _validation_judge(validation, task)
    else:
        aside = task.aside()
        rows, others = rows[~aside], rows[aside]
        source = own_cells(others, task.data.n_columns)
        judge = _Judge(task.data.take(others), task.synthesizer, source, True)
    tree = task.tree(rows)
    return judge.compare(tree, judge.teacher_answers(task), float(delta), task)


def _table_parts(data: Any) -> tuple[Any, Any, Any]:
    """Table, target and weights."""
    if isinstance(data, Dataset):
        return data, None, None
    return (*data, None)[:3] if is_pair(data) else (data, None, None)


class _Task:
    """The checked arguments: the rows, and the teacher with its predictions for them."""

    def __init__(
        self, model: Any, data: Any, classes: Sequence[Any] | None, arguments: dict[str, Any]
    ) -> None:
        limit = whole_number("max_leaf_nodes", arguments["max_leaf_nodes"], 1)
        self.n_synthetic = whole_number("n_synthetic", arguments["n_synthetic"], 0)
        self.random_state = checked_seed(arguments["random_state"])
        self.soft, self.restate = arguments["soft"], arguments["restate"]
        self.options = arguments["options"]
        self.growing = {
            "max_leaf_nodes": limit,
            "progress": arguments["progress"],
            "random_state": self.random_state,
        }
        if self.restate not in ("teacher", "truth"):
            raise ValueError(f"restate is {self.restate!r}; it must be 'teacher' or 'truth'")
        check_names("distill", [*arguments, *_OPTIONS], self.options)
        if self.options.get("missing") == "fractional":
            raise ValueError("missing is 'fractional'; a distilled tree sends each row to one leaf")
        if arguments["target"] is not None:
            data = with_target("distill", data, arguments["target"])
        table, target, weight = _table_parts(data)
        self.data = table if isinstance(table, Dataset) else encode(table, target, weight=weight)
        self.model = model
        if not self.data.n_counted:
            raise ValueError("data has no rows with a weight; there is nothing for the teacher to predict")
        if len(self.data.schema.targets) > 1:
            raise ValueError("data has several targets; a tree is distilled for one")
        if self.restate == "truth" and self.data.targets is None:
            raise ValueError("restate='truth' needs the data's targets: data=(table, target)")
        self.synthesizer = RowSynthesizer(table, target)
        own = self.data.schema.targets
        known = own[0].classes if own else None if classes is None else tuple(classes)
        numbers = None if not own and classes is None else known is None
        every = own_cells(np.arange(self.data.n_rows), self.data.n_columns)
        self.teacher = Teacher(model, self.synthesizer, every, known, numbers)
        self.answers = self.teacher.first_answers
        self.schema = task_schema(self.data, self.teacher.classes)
        if self.schema.is_wide:
            raise ValueError(f"there are {self.schema.width:,} classes; distilling is for 256 at most")

    def tree(self, rows: NDArray[np.integer]) -> Tree:
        """The student, from some of the rows and synthetic rows made of them."""
        real = self.data.take(rows)
        rng = np.random.default_rng(np.random.SeedSequence(self.random_state))
        source = random_cells(real, self.n_synthetic, rng)
        answers, weight = self.answers[rows], real.row_weights
        columns = mixed_columns(
            real, np.concatenate([own_cells(np.arange(len(rows)), real.n_columns), source])
        )
        if self.n_synthetic:
            answers = np.concatenate([answers, self.teacher.predict(rows[source])])
            share = real.total_weight / self.n_synthetic
            weight = np.concatenate([weight, np.full(self.n_synthetic, share)])
        hard = with_answers(self.schema, columns, _hard_answers(self.schema, answers), weight)
        tree = grow_student(
            Dataset(self.schema, real.columns, None, real.weight),
            with_answers(self.schema, columns, answers, weight) if self.soft else hard,
            hard,
            **self.growing,
            **self.options,
        )
        if self.restate == "teacher":
            return tree
        truth = replace(real, schema=tree.schema)
        origin = provenance(truth, tree.directions)
        return replace(tree, statistic=tree.statistic_of(truth), provenance=origin)

    def aside(self) -> NDArray[np.bool_]:
        """A quarter of the rows, drawn at random."""
        if self.data.n_counted < 2 * _PARTS:
            raise ValueError(
                f"data has {self.data.n_counted} rows, too few to set some aside; give validation= rows"
            )
        return np.asarray(random_parts(self.data, (_PARTS - 1, 1), self.random_state) == 1)


def _hard_answers(schema: Schema, answers: Floats) -> Floats:
    """1 for the most probable class (the first of several), 0 for the others; numbers as they are."""
    return np.eye(answers.shape[1])[answers.argmax(axis=1)] if schema.predicts_classes else answers


def _validation_judge(validation: Any, task: _Task) -> _Judge:
    """The rows of `validation`, checked."""
    table, target, _ = _table_parts(validation)
    rows = encoded_rows(validation, "validation", task.schema)
    if rows.schema.columns != task.schema.columns:
        raise ValueError("the columns of validation are not those of data")
    if rows.targets is not None and rows.schema.targets[0].classes != task.schema.targets[0].classes:
        raise ValueError("the classes of validation are not those of data; encode it with data's schema")
    if not rows.weighs_alike:
        raise ValueError("the rows of validation have different weights; each counts as one draw")
    places = rows.counted
    if not len(places):
        raise ValueError("validation has no rows")
    _refuse_rows_of_the_data(rows, task.data)
    source = own_cells(places, rows.n_columns)
    return _Judge(rows.take(places), RowSynthesizer(table, target), source, False)


class _Judge(NamedTuple):
    """Rows that were not used to grow the tree, to compare it with its teacher."""

    data: Dataset
    synthesizer: RowSynthesizer
    source: NDArray[np.integer]
    set_aside: bool  # whether they are rows of the data

    def teacher_answers(self, task: _Task) -> Floats:
        """The predictions of the teacher."""
        if self.synthesizer is task.synthesizer:
            return task.teacher.predict(self.source)
        known = task.teacher.classes
        return Teacher(task.model, self.synthesizer, self.source, known, known is None).first_answers

    def compare(self, tree: Tree, teacher_answers: Floats, delta: float, task: _Task) -> Distillation:
        """The tree with all its figures."""
        rows = Dataset(tree.schema, self.data.columns, self.data.targets, None)
        teacher = teacher_answers.argmax(axis=1) if tree.schema.predicts_classes else teacher_answers[:, 0]
        own = answers(tree, rows)[:, 0]
        scores: tuple[float | None, float | None] = (None, None)
        certificate = None
        if rows.targets is not None:
            truth = np.asarray(rows.targets)[0]
            measure = _agreement if tree.schema.predicts_classes else _r_squared
            scores = measure(truth, teacher), measure(truth, own)
            if not self.set_aside:
                certificate = certify(tree, test=rows, delta=delta, check_rows=False)
        return Distillation(
            tree=tree,
            teacher=task.teacher.name,
            fidelity=_fidelity(teacher, own, delta, tree.schema.predicts_classes, task.random_state),
            teacher_score=scores[0],
            student_score=scores[1],
            certificate=certificate,
            set_aside=self.set_aside,
            n_synthetic=task.n_synthetic,
            options=dict(task.options),
        )


def _agreement(one: NDArray[Any], other: NDArray[Any]) -> float:
    return float((one == other).mean())


def _r_squared(truth: Floats, predicted: Floats) -> float:
    """R²; for a constant truth 1 if the predictions are exact, else 0."""
    residual, total = float(((truth - predicted) ** 2).sum()), float(((truth - truth.mean()) ** 2).sum())
    if total == 0:
        return 1.0 if residual == 0 else 0.0
    return 1 - residual / total


def _fidelity(
    teacher: NDArray[Any], own: NDArray[Any], delta: float, classes: bool, random_state: int
) -> Fidelity:
    n, nats = len(own), math.log(2 / delta)
    if classes:
        n_equal = int((teacher == own).sum())
        low, high = binomial_lower(n_equal, n, nats).item(), binomial_upper(n_equal, n, nats).item()
        return Fidelity(n_equal / n, low, high, n, delta)
    rng = np.random.default_rng(random_state)
    resampled = [_r_squared(teacher[rows], own[rows]) for rows in rng.integers(n, size=(_RESAMPLES, n))]
    low, high = np.quantile(resampled, [delta / 2, 1 - delta / 2]).tolist()
    value = _r_squared(teacher, own)
    return Fidelity(value, min(low, value), max(high, value), n, delta, "R²")


def _refuse_rows_of_the_data(validation: Dataset, data: Dataset) -> None:
    """ValueError if the validation rows are rows of the data, in any order.

    Equal rows need not be the same rows: a table of a few categories has no others. Rows that all occur in
    the data are therefore refused only if new ones would be expected: among rows drawn like the data, the
    share of new ones is about the share of the data that occurs once (Good and Turing).
    """
    with_target = data.targets is not None and validation.targets is not None
    own, others = (
        row_hashes(rows.take(rows.counted), with_targets=with_target) for rows in (data, validation)
    )
    values, count = np.unique(own, return_counts=True)
    if not np.isin(others, values).all():
        return
    known_share = 1 - float((count == 1).sum()) / len(own)
    if known_share ** len(others) < _ACCIDENT or np.array_equal(np.sort(own), np.sort(others)):
        raise ValueError(
            f"all {len(others):,} rows of validation occur in data; give rows that were never used, or none, "
            "so that some of the data are set aside"
        )
