"""Options for misclassification costs and prior probabilities of classes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args

from cyclopts import Group, Parameter

from treewright import parameters
from treewright.cli.errors import Misuse, Trouble, did_you_mean, name_list, quote
from treewright.cli.options import Repeated, one_of
from treewright.encoding.schema import Schema
from treewright.tree.costs import CostSplit

COST_FORM = "TRUTH:PREDICTION=COST, such as ill:well=10"
PRIOR_FORM = "CLASS=PROBABILITY, such as ill=0.01"


def _check_costs(_: Any, texts: list[str] | None) -> None:
    for text in texts or ():
        if not _is_file(text):
            _number("--cost", text, COST_FORM)


def _check_priors(_: Any, texts: list[str] | None) -> None:
    for text in texts or ():
        _number("--prior", text, PRIOR_FORM)


@Parameter(name="*", group=Group("Costs", sort_key=25))
@dataclass(frozen=True)
class Costs:
    """Misclassification costs, prior probabilities, and how they change the splits."""

    cost: Annotated[Repeated, Parameter(validator=_check_costs)] = None
    """The cost of a mistake, as TRUTH:PREDICTION=COST, such as ill:well=10; may be repeated. Mistakes that
    are not named cost 1. Or a JSON file: {"ill": {"well": 10}}."""

    prior: Annotated[Repeated, Parameter(validator=_check_priors)] = None
    """The prior probability of a class, where it differs from its share of the table, as CLASS=PROBABILITY;
    one for each class, and they sum to 1."""

    cost_split: Annotated[str, Parameter(validator=one_of("--cost-split", get_args(CostSplit)))] = (
        "altered_priors"
    )
    """How costs and priors change the splits: altered_priors (rows of costly classes weigh more),
    generalised_gini (by the costs of each pair of classes), none (only the predictions of leaves change)."""

    def growing(self, schema: Schema) -> dict[str, Any]:
        """The arguments of `grow` for a table of these classes; none without costs and priors."""
        if not (self.cost or self.prior):
            return {}
        classes = schema.targets[0].classes
        if classes is None:
            raise Misuse("--cost and --prior are for classes; the target is a number")
        costs: dict[Any, dict[Any, float]] = {}
        for truth, prediction, cost in self._costs(classes):
            if prediction in costs.setdefault(truth, {}):
                raise Misuse(f"--cost names {truth}:{prediction} twice")
            costs[truth][prediction] = cost
        priors: dict[Any, float] = {}
        for text in self.prior or ():
            name, probability = _number("--prior", text, PRIOR_FORM)
            label = _class("--prior", name, classes)
            if label in priors:
                raise Misuse(f"--prior names {label} twice")
            priors[label] = probability
        absent = [str(label) for label in classes if label not in priors]
        if priors and absent:
            raise Misuse(f"--prior does not name {name_list(absent)}; every class needs its probability")
        return {"costs": parameters.Costs(costs or None, priors=priors or None, split=self.cost_split)}

    def _costs(self, classes: tuple[Any, ...]) -> Iterator[tuple[Any, Any, float]]:
        """(truth, prediction, cost) of all options and files."""
        for text in self.cost or ():
            if not _is_file(text):
                names, cost = _number("--cost", text, COST_FORM)
                yield (*_pair(names, classes), cost)
                continue
            for truth, row in _costs_in(text).items():
                for prediction, cost in row.items():
                    yield _class(text, truth, classes), _class(text, prediction, classes), cost


NONE = Costs()


def _is_file(text: str) -> bool:
    """Whether a text is the name of a file, not a cost."""
    return "=" not in text or Path(text).is_file()


def _number(option: str, text: str, form: str) -> tuple[str, float]:
    """The text before the last = and the number behind it."""
    name, equals, digits = text.rpartition("=")
    try:
        number = float(digits if equals else "")
    except ValueError:
        raise Misuse(f"{option} {text}: it must be {form}") from None
    if not 0 <= number < float("inf"):
        raise Misuse(f"{option} {text}: the number must be finite and at least 0")
    return name, number


def _pair(names: str, classes: tuple[Any, ...]) -> tuple[Any, Any]:
    """The two classes of TRUTH:PREDICTION, whose names may have colons, too."""
    colons = [i for i, character in enumerate(names) if character == ":"]
    if not colons:
        raise Misuse(f"--cost {names}=…: it must be {COST_FORM}")
    pairs = [(_classes_named(names[:i], classes), _classes_named(names[i + 1 :], classes)) for i in colons]
    readings = [(truth[0], prediction[0]) for truth, prediction in pairs if truth and prediction]
    if len(readings) > 1:
        raise Misuse(f"--cost {names}: this can be read in {len(readings)} ways; use a JSON file")
    if readings:
        return readings[0]
    first, _, second = names.partition(":")
    return _class("--cost", first, classes), _class("--cost", second, classes)


def _classes_named(name: str, classes: tuple[Any, ...]) -> list[Any]:
    """The class of this name, in a list; none where there is none."""
    texts = {str(label).lower() if isinstance(label, bool) else str(label): label for label in classes}
    if name in texts:
        return [texts[name]]
    try:
        number = float(name)
    except ValueError:
        return [texts[name.lower()]] if isinstance(classes[0], bool) and name.lower() in texts else []
    return [label for label in classes if not isinstance(label, str | bool) and label == number]


def _class(option: str, name: str, classes: tuple[Any, ...]) -> Any:
    """The class of this name; Misuse where there is none."""
    for label in _classes_named(name, classes):
        return label
    hint = did_you_mean(name, map(str, classes), "classes")
    raise Misuse(f"{option}: there is no class {quote(name)}; {hint}")


def _costs_in(path: str) -> dict[str, dict[str, float]]:
    """The costs in a JSON file, by name."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise Misuse(f"--cost {path}: it must be {COST_FORM}, or a file") from None
    except (ValueError, RecursionError) as error:
        raise Trouble(f"{path} cannot be read as JSON: {error}") from error
    rows = content.values() if isinstance(content, dict) else [None]
    numbers = [cost for row in rows for cost in (row.values() if isinstance(row, dict) else [None])]
    if not all(type(number) in (int, float) for number in numbers):
        raise Trouble(f'{path} must hold costs by truth and prediction, such as {{"ill": {{"well": 10}}}}')
    return content  # type: ignore[no-any-return]
