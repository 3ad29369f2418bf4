"""The kinds of ensembles that a file can hold, and what is known of each beside its trees.

A kind is a line of `KINDS`: the facts that it keeps, each by the name of its line in the file, and a function
that makes an ensemble of facts and trees, or says by ValueError why they are none. The name of a fact is also
where it is found: "draws seed" is ``ensemble.draws.seed``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

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

FLOATS = None  # a fact that is an array, empty where there is none; others are read by what reads their text
_MOST_ROWS = 2**63 - 1


class Kind(NamedTuple):
    """How ensembles of one class are kept in a file."""

    type: type[Any]
    holds: str  # what a file is said to hold, in errors
    facts: dict[str, Callable[[Text], Any] | None]
    made_of: Callable[[Schema, tuple[Tree, ...], dict[str, Any]], Any]
    trees_of: Callable[[Any], Sequence[Tree]] = attrgetter("trees")


def kind_of(ensemble: Ensemble) -> tuple[str, Kind]:
    """The name of its kind, and the kind."""
    for name, kind in KINDS.items():
        if isinstance(ensemble, kind.type):
            return name, kind
    raise TypeError(f"a tree or an ensemble of trees can be saved, not a {type(ensemble).__name__}")


def trees_in(model: Tree | Ensemble) -> tuple[Tree, ...]:
    """The one tree of a model, or all of them, in the order of the file."""
    return (model,) if isinstance(model, Tree) else tuple(kind_of(model)[1].trees_of(model))


def lines_of(ensemble: Ensemble) -> Iterator[bytes]:
    """The model of an ensemble, line by line, once it is known to be sound."""
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
    with _telling(lines):
        check_schema(schema)
    facts = {
        fact: lines.array(fact, np.float64, None) if read is FLOATS else lines.entry(fact, read)
        for fact, read in kind.facts.items()
    }
    trees = tuple(_read_trees(lines, schema, version))
    lines.literal("  }")
    lines.finish()
    with _telling(lines):
        ensemble: Ensemble = kind.made_of(schema, trees, facts)
    return ensemble


def _read_trees(lines: Lines, schema: Schema, version: int) -> Iterator[Tree]:
    """The trees, each checked before the next is read: so that none takes more than the file has for it."""
    lines.literal('    "trees": [')
    more, number = lines.comes("  {"), 0
    while more:
        lines.literal("      {")
        lines.margin = "        "
        tree = read_member(lines, schema, version)
        lines.margin = "    "
        more = lines.comes("  },")
        lines.literal("      }," if more else "      }")
        with _telling(lines, f"tree {number}: "):
            check(tree, schema)
        yield tree
        number += 1
    lines.literal("    ]")


@contextmanager
def _telling(lines: Lines, where: str = "") -> Iterator[None]:
    """What a check finds is told of the file."""
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
    weight = facts["draws weight"]
    draws = Draws(
        facts["draws seed"],
        facts["draws size"],
        facts["draws replace"],
        weight if len(weight) else None,
        facts["draws n_rows"],
    )
    _check_draws(draws)
    return Forest(trees, draws, voting)


def _check_draws(draws: Draws) -> None:
    """Rows can be drawn so."""
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
    _demand(n_classes != 1, "it has one class only")
    _demand(
        baseline.shape == (n,) and np.isfinite(baseline).all(), f"it does not start at {n} finite numbers"
    )
    _demand(len(trees) % n == 0, f"{len(trees)} trees are no iterations of {n}")
    for number, tree in enumerate(trees):
        own = [target.classes for target in tree.schema.targets]
        _demand(own == [None] and tree.linear is None, f"tree {number} does not answer with one number")
    for name in ("train_loss", "validation_loss"):
        _demand(len(facts[name]) <= len(trees) // n + 1, f"it has a {name} of more iterations than there are")
    made = tuple(trees[first : first + n] for first in range(0, len(trees), n))
    return GradientBoosted(made, baseline, loss, schema, facts["train_loss"], facts["validation_loss"])


def _check_answers(schema: Schema, trees: tuple[Tree, ...]) -> None:
    """There are trees, and each answers what the whole answers: its classes, or as many numbers."""
    _demand(trees, "it has no trees")
    classes = [target.classes for target in schema.targets]
    for number, tree in enumerate(trees):
        if tree.schema.targets is not schema.targets:
            own = [target.classes for target in tree.schema.targets]
            _demand(
                own == classes, f"tree {number} answers with other classes, or as many numbers, as the whole"
            )


def _one_of(facts: dict[str, Any], name: str, known: tuple[str, ...]) -> str:
    value: str = facts[name]
    _demand(value in known, f"{name} is {value!r}, not one of {', '.join(known)}")
    return value


def _check_votes(votes: NDArray[np.float64], n_trees: int) -> None:
    _demand(votes.shape == (n_trees,), f"it has {len(votes)} votes for {n_trees} trees")
    _demand(
        (votes >= 0).all() and 0 < sum(votes.tolist()) < np.inf, "its votes are not finite or add up to 0"
    )


def _errors(facts: dict[str, Any], name: str, n_trees: int) -> NDArray[np.float64]:
    errors: NDArray[np.float64] = facts[name]
    _demand(errors.shape == (n_trees,), f"it has {len(errors)} {name} of {n_trees} trees")
    _demand(np.isfinite(errors).all() and (errors >= 0).all(), f"{name} are not all finite and at least 0")
    return errors


_OF_VOTES = {"votes": FLOATS, "errors": FLOATS}
KINDS = {  # by the name in the file
    "forest": Kind(
        Forest,
        "a forest",
        {
            "voting": Text.text,
            "draws seed": Text.whole,
            "draws size": Text.whole_or_null,
            "draws replace": Text.flag,
            "draws n_rows": Text.whole,
            "draws weight": FLOATS,
        },
        _forest,
    ),
    "boosted": Kind(
        Boosted,
        "boosted trees",
        {"algorithm": Text.text, **_OF_VOTES, "training_errors": FLOATS},
        _boosted,
    ),
    "boosted numbers": Kind(
        BoostedNumbers, "boosted trees of numbers", {"loss": Text.text, **_OF_VOTES}, _boosted_numbers
    ),
    "gradient boosted": Kind(
        GradientBoosted,
        "gradient boosted trees",
        {"loss": Text.text, "baseline": FLOATS, "train_loss": FLOATS, "validation_loss": FLOATS},
        _gradient_boosted,
        lambda model: [tree for of_iteration in model.trees for tree in of_iteration],
    ),
}
