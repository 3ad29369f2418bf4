"""Options for misclassification costs and prior probabilities of classes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args

from cyclopts import Group, Parameter

from treewright import parameters
from treewright.cli.errors import Misuse, Trouble, closest, known, listed, quote
from treewright.cli.options import Repeated
from treewright.encoding.schema import Schema
from treewright.tree.costs import CostSplit

COSTS = Parameter(group=Group("Costs", sort_key=25))


@Parameter(name="*")
@dataclass(frozen=True)
class Costs:
    """Misclassification costs, prior probabilities, and how they change the splits."""

    cost: Annotated[
        Repeated,
        COSTS,
        Parameter(
            help="The cost of a mistake, as TRUTH:ANSWER=COST, such as ill:well=10; may be repeated. "
            'Mistakes that are not named cost 1. Or a JSON file: {"ill": {"well": 10}}.'
        ),
    ] = None
    prior: Annotated[
        Repeated,
        COSTS,
        Parameter(
            help="The prior probability of a class, where it is not its share of the table, as CLASS=SHARE, "
            "for each class; the shares add up to 1."
        ),
    ] = None
    cost_split: Annotated[
        str,
        COSTS,
        Parameter(
            help="How both change the splits: altered_priors (rows of costly classes weigh more), "
            "generalised_gini (by the costs of each pair of classes), none (only the predictions of leaves "
            "change)."
        ),
    ] = "altered_priors"

    def check(self) -> None:
        """Misuse about what cannot be right, whatever the classes are."""
        known("--cost-split", self.cost_split, get_args(CostSplit))
        for said in self.cost or ():
            if _is_said(said):
                _number("--cost", said, "TRUTH:ANSWER=COST, such as --cost ill:well=10")
        for said in self.prior or ():
            _number("--prior", said, "CLASS=SHARE, such as --prior ill=0.01")

    def growing(self, schema: Schema) -> dict[str, Any]:
        """The arguments of `grow` for a table of these classes; none where nothing is said of costs."""
        self.check()
        if not (self.cost or self.prior):
            return {}
        classes = schema.targets[0].classes
        if classes is None:
            raise Misuse("--cost and --prior are for classes; the target is a number")
        costs: dict[Any, dict[Any, float]] = {}
        for truth, answer, cost in self._costs(classes):
            if answer in costs.setdefault(truth, {}):
                raise Misuse(f"--cost names {truth}:{answer} twice")
            costs[truth][answer] = cost
        priors: dict[Any, float] = {}
        for said in self.prior or ():
            name, share = _number("--prior", said, "")
            label = _class("--prior", name, classes)
            if label in priors:
                raise Misuse(f"--prior names {label} twice")
            priors[label] = share
        lacking = [str(label) for label in classes if label not in priors]
        if priors and lacking:
            raise Misuse(f"--prior says nothing of {listed(lacking)}; every class needs its share")
        return {"costs": parameters.Costs(costs or None, priors=priors or None, split=self.cost_split)}

    def _costs(self, classes: tuple[Any, ...]) -> Iterator[tuple[Any, Any, float]]:
        """(truth, answer, cost) of all that is said or written in files."""
        for said in self.cost or ():
            if _is_said(said):
                names, cost = _number("--cost", said, "")
                yield (*_pair(names, classes), cost)
                continue
            for truth, row in _read(said).items():
                for answer, cost in row.items():
                    yield _class(said, truth, classes), _class(said, answer, classes), cost


NONE = Costs()


def _is_said(said: str) -> bool:
    """Whether it is a cost, not the name of a file."""
    return "=" in said and not Path(said).is_file()


def _number(option: str, said: str, form: str) -> tuple[str, float]:
    """What stands before the last = and the number behind it."""
    name, equals, text = said.rpartition("=")
    try:
        number = float(text if equals else "")
    except ValueError:
        raise Misuse(f"{option} {said}: it must be {form}") from None
    if not 0 <= number < float("inf"):
        raise Misuse(f"{option} {said}: the number must be finite and at least 0")
    return name, number


def _pair(names: str, classes: tuple[Any, ...]) -> tuple[Any, Any]:
    """The two classes of TRUTH:ANSWER, whose names may have colons, too."""
    borders = [i for i, character in enumerate(names) if character == ":"]
    if not borders:
        raise Misuse(f"--cost {names}=…: it must be TRUTH:ANSWER=COST, such as --cost ill:well=10")
    pairs = [(_found(names[:i], classes), _found(names[i + 1 :], classes)) for i in borders]
    fitting = [(truth[0], answer[0]) for truth, answer in pairs if truth and answer]
    if len(fitting) > 1:
        raise Misuse(f"--cost {names}: this can be read in {len(fitting)} ways; say it in a JSON file")
    if fitting:
        return fitting[0]
    at = borders[0]
    return _class("--cost", names[:at], classes), _class("--cost", names[at + 1 :], classes)


def _found(name: str, classes: tuple[Any, ...]) -> list[Any]:
    """The class of this name, in a list; none where there is none."""
    texts = {str(label).lower() if isinstance(label, bool) else str(label): label for label in classes}
    if name in texts:
        return [texts[name]]
    try:
        number = float(name)
    except ValueError:
        return [texts[name.lower()]] if isinstance(classes[0], bool) and name.lower() in texts else []
    return [label for label in classes if not isinstance(label, str | bool) and label == number]


def _class(said: str, name: str, classes: tuple[Any, ...]) -> Any:
    """The class of this name; Misuse where there is none."""
    found = _found(name, classes)
    if found:
        return found[0]
    names = [str(label) for label in classes]
    close = closest(name, names)
    hint = f"the classes are {listed(names)}" if close is None else f"did you mean {quote(close)}?"
    raise Misuse(f"{said}: there is no class {quote(name)}; {hint}")


def _read(path: str) -> dict[str, dict[str, float]]:
    """The costs in a JSON file, by name."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise Misuse(
            f"--cost {path}: it must be TRUTH:ANSWER=COST, such as --cost ill:well=10, or a file"
        ) from None
    except (ValueError, RecursionError) as error:
        raise Trouble(f"{path} cannot be read as JSON: {error}") from error
    rows = content.values() if isinstance(content, dict) else [None]
    numbers = [cost for row in rows for cost in (row.values() if isinstance(row, dict) else [None])]
    if not all(type(number) in (int, float) for number in numbers):
        raise Trouble(f'{path} must hold costs by truth and answer, such as {{"ill": {{"well": 10}}}}')
    return content  # type: ignore[no-any-return]
