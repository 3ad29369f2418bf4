"""A folder as a list of functions: each of its files that has a function of its own name."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import Any

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

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names, sorted."""
        files = sorted(module.name for module in pkgutil.iter_modules(self.path))
        return tuple(name for name in files if hasattr(import_module(f"{self.package}.{name}"), name))

    def module(self, name: str) -> ModuleType:
        """The file of a name; ValueError if there is none."""
        if name not in self.names:
            raise ValueError(f"{self.what} {name!r} is unknown; known: {', '.join(self.names)}")
        return import_module(f"{self.package}.{name}")

    def function(self, name: str) -> Function:
        """The function of a name."""
        function: Function = getattr(self.module(name), name)
        return function

    def options(self, name: str) -> Mapping[str, inspect.Parameter]:
        """The parameters of a function but for the first one, which is what it works on."""
        parameters = inspect.signature(self.function(name)).parameters
        return dict(list(parameters.items())[1:])

    def needs(self, name: str, option: str) -> bool:
        """Whether a function cannot do without an option."""
        parameter = self.options(name).get(option)
        return parameter is not None and parameter.default is parameter.empty

    def check(self, name: str, given: Mapping[str, Any]) -> None:
        """Each option that is given is one of the function's, and what it needs is there."""
        known = self.options(name)
        for option in given:
            if option not in known:
                raise TypeError(f"{name} has no option {option!r}; its options are {', '.join(known)}")
        for option in known:
            if self.needs(name, option) and given.get(option) is None:
                raise TypeError(f"{name} needs {option}=" + _NEEDED.get(option, ""))
