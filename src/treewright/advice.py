"""Advice: what is worth knowing about a table or a fit, and what to try."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from types import FrameType


class AdviceWarning(UserWarning):
    """Something about the table or the model deserves a look; nothing is wrong with the call.

    Silence it with ``warnings.simplefilter("ignore", treewright.AdviceWarning)``.

    Examples
    --------
    >>> import warnings
    >>> from treewright import AdviceWarning, encode
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", AdviceWarning)
    ...     data = encode({"price": ["$7.58", "$12.00", "$3.10"]})
    >>> data.columns[0].tolist()
    [7.58, 12.0, 3.1]
    """


@dataclass(frozen=True)
class Advice:
    """One thing worth knowing, and what to try about it.

    `text` says what is the case, in a sentence without a full stop that fits Python and the command line
    alike; `in_python` and `on_command_line` say what to try there.

    >>> advice = Advice("constant", "column 'unit' has one value only", "drop it", "--drop unit", "unit")
    >>> advice.python_text
    "column 'unit' has one value only; drop it"
    """

    code: str  # for programs: the name of the check
    text: str
    in_python: str = ""
    on_command_line: str = ""
    column: str | None = None

    @property
    def python_text(self) -> str:
        """What a warning says."""
        return "; ".join(part for part in (self.text, self.in_python) if part)

    @property
    def command_text(self) -> str:
        """What the command line says."""
        return "; ".join(part for part in (self.text, self.on_command_line) if part)


def warn(advice: Iterable[Advice]) -> None:
    """Issue an `AdviceWarning` for each piece of advice, at the line that called the package."""
    level = _outside()
    for each in advice:
        warnings.warn(each.python_text, AdviceWarning, stacklevel=level)


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning at the line that called the package."""
    warnings.warn(message, category, stacklevel=_outside())


def _outside() -> int:
    """How many calls above the caller of this the first one is that is not the package's own."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and _is_own(frame):
        level, frame = level + 1, frame.f_back
    return level


def _is_own(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == __name__.partition(".")[0]
