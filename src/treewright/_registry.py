"""A folder as a list of functions: each file that has one, of its own name or of a name that all share."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import Any

from treewright._suggestions import choices_text

Function = Callable[..., Any]

_NEEDED = {
    "validation": ", a Dataset of rows that the tree was not grown from",
    "data": ", the Dataset that the tree was grown from",
}


@dataclass(frozen=True)
class Folder:
    """The functions of a package, by the names of its files.

    >>> from treewright.pruning import METHODS
    >>> "cost_complexity" in METHODS.names
    True
    """

    package: str
    path: Iterable[str]
    what: str  # what such a name is called: "method"
    shared: str | None = None  # what the function is called in every file; by default as its file is

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names, sorted."""
        files = sorted(module.name for module in pkgutil.iter_modules(self.path))
        modules = {name: import_module(f"{self.package}.{name}") for name in files}
        return tuple(name for name, module in modules.items() if hasattr(module, self.shared or name))

    def module(self, name: str) -> ModuleType:
        """The file of a name; ValueError if there is none."""
        if name not in self.names:
            raise ValueError(f"{self.what} {name!r} is unknown; known: {choices_text(name, self.names)}")
        return import_module(f"{self.package}.{name}")

    def function(self, name: str) -> Function:
        """The function of a name."""
        function: Function = getattr(self.module(name), self.shared or name)
        return function

    def options(self, name: str) -> Mapping[str, inspect.Parameter]:
        """The parameters of a function but for the first one, which is what it works on."""
        return options_of(self.function(name))

    def needs(self, name: str, option: str) -> bool:
        """Whether a function cannot do without an option."""
        parameter = self.options(name).get(option)
        return parameter is not None and parameter.default is parameter.empty

    def check(self, name: str, given: Mapping[str, Any], also: Iterable[str] = ()) -> None:
        """Each option that is given is one of the function's, and what it needs is there.

        The caller's own keyword arguments, `also`, are named where an option is unknown.
        """
        known = self.options(name)
        check_names(name, [*known, *also], given)
        for option, parameter in known.items():
            if parameter.default is parameter.empty and given.get(option) is None:
                raise TypeError(f"{name} needs {option}=" + _NEEDED.get(option, ""))


def options_of(function: Function) -> Mapping[str, inspect.Parameter]:
    """The parameters of a function but for the first one."""
    return dict(list(inspect.signature(function).parameters.items())[1:])


def check_names(name: str, known: Iterable[str], given: Iterable[str]) -> None:
    """TypeError about an option that is given but not known."""
    names = tuple(known)
    for option in given:
        if option not in names:
            raise TypeError(f"{name} has no option {option!r}; its options are {choices_text(option, names)}")


def options_for(known: Container[str], facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts that a function takes as options, without those that are None."""
    return {fact: value for fact, value in facts.items() if fact in known and value is not None}
