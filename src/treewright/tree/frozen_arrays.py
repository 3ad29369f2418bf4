"""Values made of arrays that nobody can write to."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np


class FrozenArrays:
    """The part of a dataclass of arrays that makes them read-only, compares and pickles them.

    Two are equal where all fields are, but for those with ``compare=False``; NaN equals NaN. What was cached
    beside the fields is not pickled.
    """

    def __post_init__(self) -> None:
        for name, value in self.__getstate__().items():
            if isinstance(value, np.ndarray):
                array = value.view()  # the caller's own array stays writeable
                array.flags.writeable = False
                object.__setattr__(self, name, array)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        names = [part.name for part in fields(self) if part.compare]  # type: ignore[arg-type]
        return all(_are_equal(getattr(self, name), getattr(other, name)) for name in names)

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        return {part.name: getattr(self, part.name) for part in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()


def _are_equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return bool(b == a if isinstance(a, np.ndarray) else a == b)
