"""Values for programs: text, numbers, lists and dicts, which JSON can hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """The same in text, numbers, bools, None, lists and dicts; what is not finite becomes None.

    >>> plain({"a": (1, float("nan")), "b": np.float64(0.5)})
    {'a': [1, None], 'b': 0.5}
    """
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | bool | int) else str(value)
