"""Decision trees that people can read: `encode` a table, `grow` the exact tree, predict, print."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from treewright._suggestions import unknown_attribute
from treewright._version import __version__ as __version__

# The stub beside this file lists the public names. Each is loaded when it is first used, because scikit-learn
# alone takes seconds to import.
_STUB = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_MODULES = {name: module for module, name in re.findall(r"^from (\S+) import (\w+) as", _STUB, re.MULTILINE)}

__all__ = [name for name in _MODULES if name != "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        packages = _packages()
        if name in packages:
            return import_module(f"{__name__}.{name}")
        raise unknown_attribute(__name__, name, [*__all__, *packages])
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def _packages() -> list[str]:
    """The public packages and modules: `treewright.datasets` needs no import of its own."""
    return [found.name for found in iter_modules(__path__) if not found.name.startswith("_")]


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_packages()})
