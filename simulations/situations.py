"""Situations: one draw each, and what every certificate that can be had there says beside the truth.

A situation is a function of a generator and δ that yields an `Outcome` for each certificate. Where the
library refuses a certificate, as it must for rows that are no independent draws, the bound is None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from simulations.worlds import World, world
from treewright import RandomForestClassifier, certify, distill, grow, grow_forest, prune, select
from treewright.certifying import BOUNDS, Certificate, leaf_intervals
from treewright.encoding import Dataset
from treewright.encoding.splits import split
from treewright.estimators import AdaBoostClassifier, BaggingClassifier, DecisionTreeClassifier
from treewright.parameters import Costs
from treewright.tree import Tree


class Outcome(NamedTuple):
    """A certificate and what it is about."""

    certificate: str
    bound: float | None  # None: refused
    truth: float


Situation = Callable[[np.random.Generator, float], Iterator[Outcome]]
SITUATIONS: dict[str, Situation] = {}


# What may be refused, or must be, in a situation; any other refusal is as wrong as a false certificate.
REFUSED: dict[str, tuple[str, ...]] = {
    "missing values": tuple(BOUNDS),  # where they are sent both ways, or elsewhere by surrogates
    "costs": ("vc",),
    "priors": tuple(BOUNDS),
    "weights": tuple(BOUNDS),
    "distilled": tuple(BOUNDS),
    "votes": ("random forest, out of bag", "bagging with costs, out of bag"),
}


def _situation(function: Situation) -> Situation:
    SITUATIONS[function.__name__.replace("_", " ")] = function
    return function


def _bound(make: Callable[[], Certificate]) -> float | None:
    """What a certificate says; None where it is refused."""
    try:
        return make().value
    except ValueError:
        return None


def _of_training(where: World, tree: Tree, delta: float, data: Dataset | None) -> Iterator[Outcome]:
    truth = where.true_loss(tree)
    for method in BOUNDS:
        yield Outcome(method, _bound(lambda m=method: certify(tree, m, data=data, delta=delta)), truth)


def _of_test(where: World, tree: Tree, delta: float, test: Dataset, **options: Any) -> Outcome:
    name = "held_out" if "choices" not in options else "held_out after a choice"
    bound = _bound(lambda: certify(tree, test=test, delta=delta, check_rows=False, **options))
    return Outcome(options.get("method", name), bound, where.true_loss(tree))


def _usual(
    where: World, rng: np.random.Generator, delta: float, n_train: int, n_test: int, **growing: Any
) -> Iterator[Outcome]:
    """A tree, its training rows and others."""
    train, test = where.draw(n_train, rng), where.draw(n_test, rng)
    tree = grow(train, **growing)
    yield from _of_training(where, tree, delta, train)
    yield _of_test(where, tree, delta, test)
    if tree.missing != "fractional" and not tree.schema.has_costs:
        found = leaf_intervals(tree, test, delta=delta)
        true = where.leaf_errors(tree)
        known = [place for place, leaf in enumerate(found.leaf.tolist()) if leaf in true]
        # one number for all intervals: how far the truth is outside the one that it is farthest from
        outside = max(
            max(true[int(found.leaf[i])] - found.upper[i], found.lower[i] - true[int(found.leaf[i])])
            for i in known
        )
        yield Outcome("leaf intervals", 0.0, float(outside))


@_situation
def plain(rng: np.random.Generator, delta: float) -> Iterator[Outcome]:
    """Nothing special: many rows of two classes."""
    yield from _usual(world(2), rng, delta, 150, 60, max_leaf_nodes=int(rng.integers(2, 12)))


@_situation
def pure_noise(rng: np.random.Generator, delta: float) -> Iterator[Outcome]:
    """Classes that no column tells."""
    yield from _usual(world(2, noise=50.0), rng, delta, 150, 60, max_leaf_nodes=int(rng.integers(2, 30)))


@_situation
def tiny_samples(rng: np.random.Generator, delta: float) -> Iterator[Outcome]:
    """Fewer rows than anybody should rely on."""
    yield from _usual(world(2, values=3), rng, delta, int(rng.integers(2, 14)), int(rng.integers(1, 8)))


@_situation
def duplicates(rng: np.random.Generator, delta: float) -> Iterator[Outcome]:
    """So few cells that nearly every test row equals a training row."""
    yield from _usual(world(2, values=2), rng, delta, 80, 40)


@_situation
def missing_values(rng: np.random.Generator, delta: float) -> Iterator[Outcome]:
    """A quarter of the cells is missing, in training and in test rows."""
    missing = ("learn", "surrogate", "fractional", "category")[int(rng.integers(4))]
    yield from _usual(world(2, values=5, gaps=0.25), rng, delta, 120, 60, max_leaf_nodes=8, missing=missing)


@_situation
def costs(rng: np.random.Generator, delta: float) -> Iterator[Outcome]:
    """Mistakes that differ, by splits of altered priors."""
    matrix = [[0.0, 1.0, 2.0], [6.0, 0.0, 1.0], [3.0, 9.0, 0.0]]
    yield from _usual(world(3), rng, delta, 150, 60, max_leaf_nodes=8, costs=matrix)


@_situation
def priors(rng: np.random.Generator, delta: float) -> Iterator[Outcome]:
    """Classes that come more or less often than in the rows: costs by the shares of the training rows."""
    where = world(3, tail=1.0)
    train, test = where.draw(150, rng), where.draw(60, rng)
    if len(np.unique(np.asarray(train.targets))) < 3:
        return  # priors are for classes that there are rows of
    tree = grow(train, max_leaf_nodes=8, costs=Costs(priors=[0.2, 0.3, 0.5]))
    yield from _of_training(where, tree, delta, train)
    yield _of_test(where, tree, delta, test)


@_situation
def weights(rng: np.random.Generator, delta: float) -> Iterator[Outcome]:
    """Rows of one weight, some of weight 0, certify as ever; rows of unequal weight certify nothing."""
    where = world(2, noise=20.0)
    rows, test = where.draw(100, rng), where.draw(60, rng)
    for weight in (np.where(rng.random(100) < 0.8, 3.0, 0.0), rng.choice([0.5, 1.5], 100)):
        tree = grow(rows.with_weight(weight), max_leaf_nodes=6)
        yield from _of_training(where, tree, delta, None)
        yield _of_test(where, tree, delta, test)


@_situation
def distilled(rng: np.random.Generator, delta: float) -> Iterator[Outcome]:
    """A tree in the place of a forest that was fitted to coin flips: what it was taught certifies nothing."""
    where = world(2, noise=50.0)
    train, test = where.draw(60, rng), where.draw(60, rng)
    forest = grow_forest(train, n_estimators=3, seed=int(rng.integers(2**31)))
    tree = distill(forest, train, max_leaf_nodes=6, n_synthetic=50)
    yield from _of_training(where, tree, delta, None)
    yield _of_test(where, tree, delta, test)
    honest = distill(forest, train, max_leaf_nodes=6, n_synthetic=50, restate="truth")
    for outcome in _of_training(where, honest, delta, None):
        yield outcome._replace(certificate=f"{outcome.certificate}, restated")


@_situation
def rare_classes(rng: np.random.Generator, delta: float) -> Iterator[Outcome]:
    """Eighty classes with a long tail, from one table to a tested tree: as `treewright fit` does it."""
    where = world(80, values=12, tail=1.0, noise=0.02)
    rows = where.draw(200, rng)
    rest, test = split(rows, (0.8, 0.2), int(rng.integers(2**31)))
    train, validation = split(rest, (0.75, 0.25), int(rng.integers(2**31)))
    path = select(prune(grow(train)), "held_out", validation=validation)
    yield from _of_training(where, path.pruned, delta, train)
    yield _of_test(where, path.pruned, delta, test)
    yield _of_test(where, path.pruned, delta, validation, choices=len(path))


@_situation
def after_selection(rng: np.random.Generator, delta: float) -> Iterator[Outcome]:
    """The rows that certify a tree have chosen it among the trees of a path, or among all prunings."""
    where = world(2, noise=20.0)
    train, validation = where.draw(100, rng), where.draw(50, rng)
    tree = grow(train)
    path = select(prune(tree), "held_out", validation=validation)
    yield _of_test(where, path.pruned, delta, validation, choices=len(path))
    pruned = prune(tree, "reduced_error", validation=validation).pruned
    yield _of_test(where, pruned, delta, validation, method="reduced_error")
    chosen = select(prune(tree), "certificate", data=train, delta=delta).pruned
    yield from _of_training(where, chosen, delta, train)
    for method in ("pessimistic", "bottom_up"):
        yield from _of_training(where, prune(tree, method, data=train).pruned, delta, train)


@_situation
def looking_twice(rng: np.random.Generator, delta: float) -> Iterator[Outcome]:
    """Five trees looked at by the same test rows, of which the one of the least bound is quoted."""
    where = world(2, noise=20.0)
    test = where.draw(40, rng)
    trees = [grow(where.draw(40, rng), max_leaf_nodes=5) for _ in range(5)]
    options: dict[str, Any] = {"choices": len(trees), "check_rows": False}
    found = [certify(tree, test=test, delta=delta, **options).value for tree in trees]
    best = int(np.argmin(found))
    yield Outcome("held_out after a choice", found[best], where.true_loss(trees[best]))


@_situation
def votes(rng: np.random.Generator, delta: float) -> Iterator[Outcome]:
    """Forests by rows out of bag, and any ensemble by rows that it has not seen."""
    where, seed = world(2, noise=5.0), int(rng.integers(2**31))
    train, test = where.draw(120, rng), where.draw(60, rng)
    (X, y), (other_X, other_y) = _plain(train), _plain(test)
    weighted = ("balanced", None)[int(rng.integers(2))]
    costly = DecisionTreeClassifier(costs=[[0, 1], [5, 0]], max_leaf_nodes=6)
    models = {
        "random forest": RandomForestClassifier(8, random_state=seed, class_weight=weighted),
        "bagging": BaggingClassifier(n_estimators=8, random_state=seed),
        "bagging with costs": BaggingClassifier(costly, n_estimators=8, random_state=seed),
        "AdaBoost": AdaBoostClassifier(n_estimators=10, random_state=seed),
    }
    cells = np.column_stack([column.astype(np.float64) for column in where.columns])
    for name, model in models.items():
        model.fit(X, y)
        truth = where.true_error(model.predict(cells))
        seen = _bound(lambda m=model: m.certify(other_X, other_y, delta=delta, check_rows=False))
        yield Outcome(f"{name}, held_out", seen, truth)
        if hasattr(model, "oob_certificate"):
            yield Outcome(
                f"{name}, out of bag", _bound(lambda m=model: m.oob_certificate(X, y, delta=delta)), truth
            )


def _plain(data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Rows as a matrix of numbers and their classes."""
    return np.column_stack([column.astype(np.float64) for column in data.columns]), np.asarray(data.targets)[
        0
    ]
