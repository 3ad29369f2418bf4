"""Values made of read-only arrays."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np


class FrozenArrays:
    """The part of a dataclass of arrays that makes them read-only, compares and pickles them.

    Two are equal where all fields are, but for those with ``compare=False``; NaN equals NaN. Cached values
    beside the fields are not pickled.
    """

    @classmethod
    @cache
    def array_types(cls) -> dict[str, type[np.generic]]:
        """The type of the elements of each array, as the fields are annotated."""
        hints = {name: hint for name, hint in get_type_hints(cls).items() if get_origin(hint) is np.ndarray}
        return {name: get_args(get_args(hint)[1])[0] for name, hint in hints.items()}

    @classmethod
    @cache
    def _field_names(cls) -> tuple[str, ...]:
        return tuple(part.name for part in fields(cls))  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        for name in self._field_names():
            value = getattr(self, name)
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
        return {name: getattr(self, name) for name in self._field_names()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()


def _are_equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return bool(b == a if isinstance(a, np.ndarray) else a == b)
