"""Pruning methods with their options as values: ``pruning=CostComplexity(select="folds", rule="1-SE")``.

Each method of `treewright.pruning` has one class, made from the signature and the docstring of its function
and named like it: `CostComplexity` of `cost_complexity`.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

from treewright._suggestions import unknown_attribute
from treewright.parameters.spec import parameter
from treewright.parameters.values import Pruning
from treewright.pruning import METHODS
from treewright.pruning.arguments import PROVIDED

_ENTRY = re.compile(r"^(\w+) : (.+?)(?:, default=.*|, optional)?\n((?:    .+\n?)*)", re.MULTILINE)


def _value_class(method: str) -> type[Pruning]:
    """The class of a method, whose options are the keyword arguments of its function."""
    function = METHODS.function(method)
    doc = inspect.getdoc(function) or ""
    entries = {name: (kind, " ".join(text.split())) for name, kind, text in _ENTRY.findall(doc + "\n")}
    fields: dict[str, Any] = {}
    annotations: dict[str, str] = {}
    for name, each in METHODS.options(method).items():
        if name not in PROVIDED:
            kind, text = entries.get(name, ("", ""))
            fields[name] = parameter(default=each.default, doc=text, kind=kind, group="Pruning")
            annotations[name] = str(each.annotation)
    summary = doc.partition("\n\n")[0]
    name = "SRM" if method == "srm" else method.title().replace("_", "")
    example = f">>> from treewright import DecisionTreeClassifier, {name}\n"
    example += f">>> DecisionTreeClassifier(pruning={name}())\nDecisionTreeClassifier(pruning={name}())"
    text = f'{summary}\n\n``pruning="{method}"`` is ``pruning={name}()``.\n'
    text += f"\nExamples\n--------\n{example}\n"
    own = {"__module__": __name__, "__doc__": text, "__annotations__": annotations, "method": method}
    return type(name, (Pruning,), own | fields)


_CLASSES = {value.__name__: value for value in map(_value_class, METHODS.names)}
globals().update(_CLASSES)
__all__ = sorted(_CLASSES)


def __getattr__(name: str) -> Any:
    """Tell type checkers that the names of the classes are known at run time."""
    raise unknown_attribute(__name__, name, _CLASSES)
