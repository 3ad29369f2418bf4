"""The kinds of ensembles that a file can hold, and the facts about each beside its trees.

A kind is an entry of `KINDS`: its facts, each by the name of its line in the file, and a function that makes
an ensemble of facts and trees, or raises ValueError. The name of a fact is also its attribute: "draws seed"
is ``ensemble.draws.seed``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import Any, NamedTuple, get_args

import numpy as np

from treewright._arrays import Floats
from treewright.encoding.schema import Schema
from treewright.ensembles.adaboost import Algorithm, Boosted
from treewright.ensembles.adaboost_r2 import BoostedNumbers, Loss
from treewright.ensembles.bootstrap import Draws
from treewright.ensembles.forest import Forest, Voting
from treewright.ensembles.gradient_boosting import GradientBoosted
from treewright.ensembles.losses import LOSSES, OF_CLASSES, OF_NUMBERS
from treewright.saving.reader import read_member, read_schema
from treewright.saving.scanner import Lines, Text
from treewright.saving.writer import Facts, ensemble_lines
from treewright.tree import Tree
from treewright.tree.validate import check, check_schema

Ensemble = Forest | Boosted | BoostedNumbers | GradientBoosted

FLOATS = None  # instead of a function: the fact is an array, empty if there is none
FactReaders = dict[str, Callable[[Text], Any] | None]
_MOST_ROWS = 2**63 - 1


class Kind(NamedTuple):
    """The file format of ensembles of one class."""

    type: type[Any]
    holds: str  # the content of a file, in errors
    facts: FactReaders
    made_of: Callable[[Schema, tuple[Tree, ...], dict[str, Any]], Any]
    trees_of: Callable[[Any], Sequence[Tree]] = attrgetter("trees")


def kind_of(ensemble: Ensemble) -> tuple[str, Kind]:
    """The name of its kind, and the kind."""
    return next((name, kind) for name, kind in KINDS.items() if isinstance(ensemble, kind.type))


def trees_in(model: Tree | Ensemble) -> tuple[Tree, ...]:
    """The one tree of a model, or all of them, in the order of the file."""
    return (model,) if isinstance(model, Tree) else tuple(kind_of(model)[1].trees_of(model))


def lines_of(ensemble: Ensemble) -> Iterator[bytes]:
    """The model of an ensemble, line by line, after all checks."""
    name, kind = kind_of(ensemble)
    schema, trees = ensemble.schema, trees_in(ensemble)
    facts: Facts = {}
    for fact, read in kind.facts.items():
        value = attrgetter(fact.replace(" ", "."))(ensemble)
        facts[fact] = np.asarray(() if value is None else value, np.float64) if read is FLOATS else value
    check_schema(schema)
    for number, tree in enumerate(trees):
        if tree.schema.columns != schema.columns:
            raise ValueError(f"tree {number} has other columns than {kind.holds} that it belongs to")
        check(tree, schema)
    kind.made_of(schema, trees, facts)
    return ensemble_lines(name, schema, facts, trees)


def read_ensemble(lines: Lines, version: int) -> Ensemble:
    """The ensemble of a file, checked."""
    name = lines.entry("kind", Text.text)
    if name not in KINDS:
        raise ValueError(f"holds a {name!r}, which is none of {', '.join(map(repr, KINDS))}")
    kind = KINDS[name]
    lines.holds = kind.holds
    schema = read_schema(lines, version)
    with errors_of(lines):
        check_schema(schema)
    facts = {
        fact: lines.array(fact, np.float64, None) if read is FLOATS else lines.entry(fact, read)
        for fact, read in kind.facts.items()
    }
    trees = tuple(_read_trees(lines, schema, version))
    lines.literal("  }")
    lines.finish()
    with errors_of(lines):
        ensemble: Ensemble = kind.made_of(schema, trees, facts)
    return ensemble


def _read_trees(lines: Lines, schema: Schema, version: int) -> Iterator[Tree]:
    """The trees, each checked before the next is read, so that memory stays within the size of the file."""
    lines.literal('    "trees": [')
    more, number = lines.comes("  {"), 0
    while more:
        lines.literal("      {")
        lines.margin = "        "
        tree = read_member(lines, schema, version)
        lines.margin = "    "
        more = lines.comes("  },")
        lines.literal("      }," if more else "      }")
        with errors_of(lines, f"tree {number}: "):
            check(tree, schema)
        yield tree
        number += 1
    lines.literal("    ]")


@contextmanager
def errors_of(lines: Lines, where: str = "") -> Iterator[None]:
    """Errors of checks become errors about the file."""
    try:
        yield
    except ValueError as error:
        raise lines.unsound(where + str(error).removeprefix("this is not a tree: ")) from None


# ---- the kinds -------------------------------------------------------------------------------------


def _demand(holds: object, message: str) -> None:
    if not holds:
        raise ValueError(message)


def _forest(schema: Schema, trees: tuple[Tree, ...], facts: dict[str, Any]) -> Forest:
    _check_answers(schema, trees)
    _demand(trees[0].schema.targets == schema.targets, "its targets are not those of its first tree")
    voting: Any = _one_of(facts, "voting", get_args(Voting))
    seed, size, replace, n_rows, weight = (facts[f"draws {field}"] for field in _DRAWS)
    draws = Draws(seed, size, replace, weight if len(weight) else None, n_rows)
    _check_draws(draws)
    return Forest(trees, draws, voting)


def _check_draws(draws: Draws) -> None:
    """The draws are possible."""
    size, weight, n_counted = draws.size, draws.weight, draws.n_rows
    _demand(0 < draws.n_rows <= _MOST_ROWS, f"its trees cannot be of {draws.n_rows} rows")
    if weight is not None:
        _demand(len(weight) == draws.n_rows, f"it has weights for {len(weight)} of {draws.n_rows} rows")
        _demand(np.isfinite(weight).all() and (weight >= 0).all(), "a row has no weight of at least 0")
        n_counted = int(np.count_nonzero(weight))
        _demand(n_counted, "no row weighs anything")
    _demand(size is not None or not draws.replace, "rows are drawn with replacement, but not how many")
    most = _MOST_ROWS if draws.replace else n_counted
    _demand(size is None or 0 < size <= most, f"{size} rows cannot be drawn of {n_counted}")


def _boosted(schema: Schema, trees: tuple[Tree, ...], facts: dict[str, Any]) -> Boosted:
    _check_answers(schema, trees)
    _demand(schema.predicts_classes and len(schema.targets) == 1, "it is not of one target of classes")
    algorithm: Any = _one_of(facts, "algorithm", get_args(Algorithm))
    _check_votes(facts["votes"], len(trees))
    errors, training = (_errors(facts, name, len(trees)) for name in ("errors", "training_errors"))
    return Boosted(trees, facts["votes"], errors, training, algorithm, schema)


def _boosted_numbers(schema: Schema, trees: tuple[Tree, ...], facts: dict[str, Any]) -> BoostedNumbers:
    _check_answers(schema, trees)
    _demand(not schema.predicts_classes and len(schema.targets) == 1, "it is not of one target of numbers")
    loss: Any = _one_of(facts, "loss", get_args(Loss))
    _check_votes(facts["votes"], len(trees))
    return BoostedNumbers(trees, facts["votes"], _errors(facts, "errors", len(trees)), loss, schema)


def _gradient_boosted(schema: Schema, trees: tuple[Tree, ...], facts: dict[str, Any]) -> GradientBoosted:
    _demand(len(schema.targets) == 1, "it is not of one target")
    loss = _one_of(facts, "loss", OF_CLASSES if schema.predicts_classes else OF_NUMBERS)
    n_classes = schema.width if schema.predicts_classes else 0
    baseline, n = facts["baseline"], LOSSES[loss].n_outputs(n_classes)
    is_sound = baseline.shape == (n,) and np.isfinite(baseline).all()
    _demand(is_sound, f"its baseline is not {n} finite numbers")
    _demand(len(trees) % n == 0, f"{len(trees)} trees are no iterations of {n}")
    for number, tree in enumerate(trees):
        own = [target.classes for target in tree.schema.targets]
        _demand(own == [None] and tree.linear is None, f"tree {number} does not answer with one number")
    for name in ("train_loss", "validation_loss"):
        _demand(len(facts[name]) <= len(trees) // n + 1, f"it has a {name} of more iterations than there are")
    rounds = tuple(trees[first : first + n] for first in range(0, len(trees), n))
    return GradientBoosted(rounds, baseline, loss, schema, facts["train_loss"], facts["validation_loss"])


def _check_answers(schema: Schema, trees: tuple[Tree, ...]) -> None:
    """There are trees, and each predicts the classes of the ensemble, or as many numbers."""
    _demand(trees, "it has no trees")
    classes = [target.classes for target in schema.targets]
    for number, tree in enumerate(trees):
        if tree.schema.targets is not schema.targets:
            own = [target.classes for target in tree.schema.targets]
            _demand(own == classes, f"tree {number} does not predict the classes or numbers of the ensemble")


def _one_of(facts: dict[str, Any], name: str, known: tuple[str, ...]) -> str:
    value: str = facts[name]
    _demand(value in known, f"{name} is {value!r}, not one of {', '.join(known)}")
    return value


def _check_votes(votes: Floats, n_trees: int) -> None:
    _demand(votes.shape == (n_trees,), f"it has {len(votes)} votes for {n_trees} trees")
    is_sound = (votes >= 0).all() and 0 < sum(votes.tolist()) < np.inf
    _demand(is_sound, "its votes are not finite or add up to 0")


def _errors(facts: dict[str, Any], name: str, n_trees: int) -> Floats:
    errors: Floats = facts[name]
    _demand(errors.shape == (n_trees,), f"it has {len(errors)} {name} of {n_trees} trees")
    _demand(np.isfinite(errors).all() and (errors >= 0).all(), f"{name} are not all finite and at least 0")
    return errors


_VOTES = {"votes": FLOATS, "errors": FLOATS}
_BOOSTED: FactReaders = {"algorithm": Text.text, **_VOTES, "training_errors": FLOATS}
_BOOSTED_NUMBERS: FactReaders = {"loss": Text.text, **_VOTES}
_DRAWS: FactReaders = {
    **{"seed": Text.whole, "size": Text.whole_or_null, "replace": Text.flag, "n_rows": Text.whole},
    "weight": FLOATS,
}
_FOREST = {"voting": Text.text, **{f"draws {name}": read for name, read in _DRAWS.items()}}
KINDS = {  # by the name in the file
    "forest": Kind(Forest, "a forest", _FOREST, _forest),
    "boosted": Kind(Boosted, "boosted trees", _BOOSTED, _boosted),
    "boosted numbers": Kind(BoostedNumbers, "boosted trees of numbers", _BOOSTED_NUMBERS, _boosted_numbers),
    "gradient boosted": Kind(
        GradientBoosted,
        "gradient boosted trees",
        {"loss": Text.text, "baseline": FLOATS, "train_loss": FLOATS, "validation_loss": FLOATS},
        _gradient_boosted,
        lambda model: [tree for of_iteration in model.trees for tree in of_iteration],
    ),
}
