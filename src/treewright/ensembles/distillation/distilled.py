"""Distillation: a small tree in the place of any model, and how well it stands in for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.certifying import Certificate, binomial_lower, binomial_upper, certify
from treewright.certifying.binomial import check_delta
from treewright.encoding import Dataset, encode
from treewright.encoding.mosaics import Mosaic
from treewright.encoding.schema import Schema
from treewright.encoding.splits import checked_seed, random_parts
from treewright.ensembles.distillation.recognising import refuse_rows_of_the_data
from treewright.ensembles.distillation.students import (
    drawn,
    itself,
    labelled,
    mosaic_columns,
    student,
    task_schema,
)
from treewright.ensembles.distillation.teachers import Teacher
from treewright.growing import whole_number
from treewright.tree import Tree
from treewright.tree.evaluate import encoded_rows, is_pair
from treewright.tree.oblique import provenance
from treewright.tree.predict import answers

Floats = NDArray[np.float64]
Restate = Literal["teacher", "truth"]

_PARTS = 4  # one of so many is set aside where there are no validation rows
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
class Fidelity:
    """How well a tree agrees with its teacher, with the limits of a confidence interval.

    Of classes the share of rows to which both answer the same, between Clopper and Pearson's limits; of
    numbers R², the part of the variance of the teacher's answers that the tree's explain, between
    percentiles of the bootstrap.
    """

    value: float
    low: float
    high: float
    rows: int
    delta: float = 0.05
    what: Literal["agreement", "R²"] = "agreement"

    def __str__(self) -> str:
        sure = f"{round(100 * (1 - self.delta), 10):g} % confidence"
        between = f"({sure}: {100 * self.low:.1f} % to {100 * self.high:.1f} %)"
        shown = f"{100 * self.value:.1f} % of"
        if self.what == "R²":
            return f"explains {shown} the variance of its teacher's answers to {self.rows:,} rows {between}"
        return f"answers like its teacher to {shown} {self.rows:,} rows {between}"


@dataclass(frozen=True)
class Distillation:
    """A small tree that stands in for a model, and what is known of it."""

    tree: Tree
    teacher: str  # what kind of model it was
    fidelity: Fidelity
    teacher_score: float | None  # right answers, or R², on the same rows; None where their truth is not known
    student_score: float | None
    certificate: Certificate | None  # of the tree; None where the teacher may have learnt from the rows
    set_aside: bool  # whether the rows are from the data, for want of validation rows
    n_synthetic: int
    options: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        size = f"{self.tree.n_leaves:,} leaves, depth {self.tree.height}"
        lines = [
            f"a tree of {size}, distilled from {self.teacher}",
            f"it {self.fidelity}",
        ]
        if self.teacher_score is not None and self.student_score is not None:
            right = "right on them" if self.tree.schema.predicts_classes else "R² on them"
            teacher, own = (f"{100 * score:.1f} %" for score in (self.teacher_score, self.student_score))
            lines.append(f"{right}: the teacher {teacher}, the tree {own}")
        if self.certificate is not None:
            lines.append(str(self.certificate))
        if self.set_aside:
            lines.append(
                "the rows were set aside from the data, and the teacher may have learnt from them: give "
                "validation= rows that it has never seen for figures that can be quoted"
            )
        return "\n".join(lines)


def distill(
    model: Any,
    data: Any,
    *,
    max_leaf_nodes: int = 16,
    n_synthetic: int = 10_000,
    soft: bool = True,
    restate: Restate = "teacher",
    classes: Sequence[Any] | None = None,
    seed: int = 0,
    progress: Callable[[float], object] | None = None,
    **options: Any,
) -> Tree:
    """One small tree that answers as far as it can like another model: a forest, a booster, a network.

    The teacher is asked about the rows of the data and about rows that are made of their cells (after Breiman
    and Shang 1996), a tree is grown from its answers to more leaves than wanted, and of all its prunings the
    one is taken that agrees with the teacher on most of these rows.

    Parameters
    ----------
    model : fitted model or callable
        The teacher: whatever has `predict_proba` or `predict`, or a function from a table to answers. It is
        asked with tables of the form in which `data` is given, the columns and their types included.
    data : table, tuple (table, target) or (table, target, weights), or Dataset
        The rows. The target only tells the classes and their order; the teacher's answers are learnt.
    max_leaf_nodes : int
        The most leaves.
    n_synthetic : int
        How many rows are drawn: each is a real row in which every fourth cell is another row's. Together they
        weigh as much as the real ones. 0 for none.
    soft : bool
        Whether a row counts for each class by the share that the teacher gives it, or only for the class
        that it answers. For teachers without `predict_proba` there is no difference.
    restate : {"teacher", "truth"}
        Whose answers the leaves give: the teacher's, or those of the rows' own targets.
    classes : sequence, optional
        What the columns of the teacher's shares stand for, where neither it nor the target tells.
    seed : int
        Of the draw.
    progress : callable, optional
        Called every few milliseconds with the share of the growing that is done.
    **options
        Of `grow`: criterion, max_depth, threshold, missing, monotonic_cst, interaction_cst,
        feature_costs, n_jobs.

    Returns
    -------
    Tree
        Its rows and weights are those of the data, its shares are the teacher's. So `certify` without test
        rows would bound how far it is from the teacher, not from the truth; give `test=`.

    See Also
    --------
    distillation : the same with figures.
    born_again : the smallest tree that answers exactly like a small forest.

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
    *,
    validation: Any = None,
    delta: float = 0.05,
    max_leaf_nodes: int = 16,
    n_synthetic: int = 10_000,
    soft: bool = True,
    restate: Restate = "teacher",
    classes: Sequence[Any] | None = None,
    seed: int = 0,
    progress: Callable[[float], object] | None = None,
    **options: Any,
) -> Distillation:
    """`distill`, and how well the tree stands in for its teacher on rows that had no part in it.

    Parameters
    ----------
    validation : table, tuple (table, target) or Dataset, optional
        Rows that neither the tree nor the teacher has seen, best with their targets. Without them a quarter
        of the data is set aside at random; there the teacher is better than elsewhere if it has learnt from
        them, so that the figures flatter it and there is no certificate. Rows of the data are refused here.
    delta : float
        The chance that an interval, or the certificate, is wrong.
    model, data, max_leaf_nodes, n_synthetic, soft, restate, classes, seed, progress, **options
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
    it answers like its teacher to 89.0 % of 100 rows (95 % confidence: 81.2 % to 94.4 %)
    """
    check_delta(delta)
    task = _Task(model, data, classes, locals())
    rows = np.arange(task.data.n_rows)
    if validation is not None:
        judge = _Judge(validation, task)
        tree = task.tree(rows)
    else:
        aside = task.aside()
        tree = task.tree(rows[~aside])
        judge = _Judge.of(task, rows[aside])
    said = task.teacher.ask(judge.source) if judge.mosaic is task.mosaic else judge.asked(task)
    return judge.judged(tree, said, float(delta), task)


def _split_given(data: Any) -> tuple[Any, Any, Any]:
    """Table, target and weights."""
    if isinstance(data, Dataset):
        return data, None, None
    return (*data, None)[:3] if is_pair(data) else (data, None, None)


class _Task:
    """What is asked for, checked; the rows, and the teacher with its answers to them."""

    def __init__(self, model: Any, data: Any, classes: Sequence[Any] | None, given: dict[str, Any]) -> None:
        self.max_leaf_nodes = whole_number("max_leaf_nodes", given["max_leaf_nodes"], 1)
        self.n_synthetic = whole_number("n_synthetic", given["n_synthetic"], 0)
        self.seed, self.soft, self.progress = checked_seed(given["seed"]), given["soft"], given["progress"]
        self.restate, self.options = given["restate"], given["options"]
        if self.restate not in ("teacher", "truth"):
            raise ValueError(f"restate is {self.restate!r}; it must be 'teacher' or 'truth'")
        if wrong := sorted(set(self.options) - set(_OPTIONS)):
            raise TypeError(f"there is no option {wrong[0]!r}; there are {', '.join(_OPTIONS)}")
        if self.options.get("missing") == "fractional":
            raise ValueError("missing is 'fractional'; a distilled tree sends each row to one leaf")
        table, target, weight = _split_given(data)
        self.data = table if isinstance(table, Dataset) else encode(table, target, weight=weight)
        self.model, self.given_classes = model, classes
        if not self.data.n_counted:
            raise ValueError(
                "data has no rows that weigh something; there is nothing to ask the teacher about"
            )
        if len(self.data.schema.targets) > 1:
            raise ValueError("data has several targets; a tree is distilled for one")
        if self.restate == "truth" and self.data.targets is None:
            raise ValueError("restate='truth' needs the data's targets: data=(table, target)")
        self.mosaic = Mosaic(table, target)
        own = self.data.schema.targets
        known = own[0].classes if own else None if classes is None else tuple(classes)
        numbers = None if not own and classes is None else known is None
        every = itself(np.arange(self.data.n_rows), self.data.n_columns)
        self.teacher = Teacher(model, self.mosaic, every, known, numbers)
        self.said = self.teacher.first()
        self.schema = task_schema(self.data, self.teacher.classes)
        if self.schema.is_wide:
            raise ValueError(f"there are {self.schema.width:,} classes; distilling is for 256 at most")

    def tree(self, rows: NDArray[np.integer]) -> Tree:
        """The student, from some of the rows and others drawn from them."""
        real = self.data.take(rows)
        rng = np.random.default_rng(np.random.SeedSequence(self.seed))
        source = drawn(real, self.n_synthetic, rng)
        shares, weight = self.said[rows], real.row_weights
        columns = mosaic_columns(real, np.concatenate([itself(np.arange(len(rows)), real.n_columns), source]))
        if self.n_synthetic:
            shares = np.concatenate([shares, self.teacher.ask(rows[source])])
            share = real.total_weight / self.n_synthetic
            weight = np.concatenate([weight, np.full(self.n_synthetic, share)])
        bare = Dataset(self.schema, real.columns, None, real.weight)
        decided = labelled(self.schema, columns, _decided(self.schema, shares), weight)
        taught = labelled(self.schema, columns, shares, weight) if self.soft else decided
        tree = student(
            bare,
            taught,
            decided,
            max_leaf_nodes=self.max_leaf_nodes,
            progress=self.progress,
            seed=self.seed,
            **self.options,
        )
        return tree if self.restate == "teacher" else self._by_truth(tree, real)

    def _by_truth(self, tree: Tree, real: Dataset) -> Tree:
        rows = replace(real, schema=tree.schema)
        known = provenance(rows, tree.directions)
        return replace(tree, statistic=tree.statistic_of(rows), provenance=known)

    def aside(self) -> NDArray[np.bool_]:
        """A quarter of the rows, drawn at random: what they say of the tree is said of rows like these."""
        if self.data.n_counted < 2 * _PARTS:
            raise ValueError(
                f"data has {self.data.n_counted} rows, too few to set some aside; give validation= rows"
            )
        return np.asarray(random_parts(self.data, (_PARTS - 1, 1), self.seed) == 1)


def _decided(schema: Schema, shares: Floats) -> Floats:
    """The one answer to each row: all to the largest share, the first among equals; numbers as they are."""
    return np.eye(shares.shape[1])[shares.argmax(axis=1)] if schema.predicts_classes else shares


class _Judge:
    """Rows that had no part in the tree, and what they tell of it."""

    def __init__(self, given: Any, task: _Task) -> None:
        table, target, _ = _split_given(given)
        rows = encoded_rows(given, "validation", task.schema)
        if rows.schema.columns != task.schema.columns:
            raise ValueError("the columns of validation are not those of data")
        if rows.targets is not None and rows.schema.targets[0].classes != task.schema.targets[0].classes:
            raise ValueError("the classes of validation are not those of data; encode it with data's schema")
        if not rows.weighs_alike:
            raise ValueError("the rows of validation have different weights; each counts as one draw")
        kept = rows.counted
        if not len(kept):
            raise ValueError("validation has no rows")
        refuse_rows_of_the_data(rows, task.data)
        self.data = rows.take(kept)
        self.mosaic, self.source = Mosaic(table, target), itself(kept, rows.n_columns)
        self.set_aside = False

    @classmethod
    def of(cls, task: _Task, rows: NDArray[np.integer]) -> _Judge:
        """Rows of the data itself."""
        judge = cls.__new__(cls)
        judge.data = task.data.take(rows)
        judge.mosaic, judge.source, judge.set_aside = task.mosaic, itself(rows, task.data.n_columns), True
        return judge

    def asked(self, task: _Task) -> Floats:
        """What the teacher answers to them."""
        known = task.teacher.classes
        teacher = Teacher(task.model, self.mosaic, self.source, known, known is None)
        return teacher.first()

    def judged(self, tree: Tree, said: Floats, delta: float, task: _Task) -> Distillation:
        """All figures."""
        rows = Dataset(tree.schema, self.data.columns, self.data.targets, None)
        teacher = said.argmax(axis=1) if tree.schema.predicts_classes else said[:, 0]
        own = answers(tree, rows)[:, 0]
        scores: tuple[float | None, float | None] = (None, None)
        certificate = None
        if rows.targets is not None:
            truth = np.asarray(rows.targets)[0]
            measure = _agreement if tree.schema.predicts_classes else _explained
            scores = measure(truth, teacher), measure(truth, own)
            if not self.set_aside:
                certificate = certify(tree, test=rows, delta=delta, check_rows=False)
        return Distillation(
            tree=tree,
            teacher=task.teacher.name,
            fidelity=_fidelity(teacher, own, delta, tree.schema.predicts_classes, task.seed),
            teacher_score=scores[0],
            student_score=scores[1],
            certificate=certificate,
            set_aside=self.set_aside,
            n_synthetic=task.n_synthetic,
            options=dict(task.options),
        )


def _agreement(one: NDArray[Any], other: NDArray[Any]) -> float:
    return float((one == other).mean())


def _explained(truth: Floats, said: Floats) -> float:
    """R²; 0 where there is nothing to explain and something is wrong."""
    left, spread = float(((truth - said) ** 2).sum()), float(((truth - truth.mean()) ** 2).sum())
    if spread == 0:
        return 1.0 if left == 0 else 0.0
    return 1 - left / spread


def _fidelity(teacher: NDArray[Any], own: NDArray[Any], delta: float, classes: bool, seed: int) -> Fidelity:
    n, nats = len(own), math.log(2 / delta)
    if classes:
        alike = int((teacher == own).sum())
        low, high = binomial_lower(alike, n, nats).item(), binomial_upper(alike, n, nats).item()
        return Fidelity(alike / n, low, high, n, delta)
    rng = np.random.default_rng(seed)
    again = [_explained(teacher[rows], own[rows]) for rows in rng.integers(n, size=(_RESAMPLES, n))]
    low, high = np.quantile(again, [delta / 2, 1 - delta / 2]).tolist()
    value = _explained(teacher, own)
    return Fidelity(value, min(low, value), max(high, value), n, delta, "R²")
