"""The teacher: any model that answers to rows, asked in portions, its answers checked."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright.encoding.mosaics import Mosaic

Floats = NDArray[np.float64]
Sources = NDArray[np.integer]

_PORTION = 8192  # rows that a teacher is asked for at a time
_LOOSE = 1e-3  # how far shares may be from adding up to 1: float16 models are not better than this


class Voice(NamedTuple):
    """How a teacher is asked, and what it is called in errors."""

    ask: Callable[[Any], Any]
    name: str


class Teacher:
    """A model, the table that it is asked about, and the classes that its answers mean.

    `classes`: those of the data, where they are known; else those that the teacher tells, or that it answers
    to the rows of `first`. None where it answers numbers.
    """

    def __init__(
        self,
        model: Any,
        mosaic: Mosaic,
        first: Sources,
        classes: Sequence[Hashable] | None,
        numbers: bool | None,
    ) -> None:
        self.name = _name_of(model)
        self._mosaic = mosaic
        told = _told_classes(model)
        self._voice = _voice(model, self.name, numbers)
        known = classes
        if numbers is not True and known is None:
            known = told
        answered = self._raw(first)
        is_numbers = numbers
        if is_numbers is None:
            is_numbers = known is None and answered.ndim == 1 and answered.dtype.kind == "f"
        self.classes: tuple[Hashable, ...] | None = None
        if not is_numbers:
            self.classes = tuple(known) if known is not None else _distinct(answered, self._voice.name)
            self._columns = self._column_of(told if told is not None else self.classes)
        self._first = self._checked(answered)

    def first(self) -> Floats:
        """What was answered to the first rows."""
        return self._first

    def ask(self, source: Sources) -> Floats:
        """The shares of the classes (rows, classes) or the numbers (rows, 1) that the teacher answers."""
        return self._checked(self._raw(source))

    def _raw(self, source: Sources) -> NDArray[Any]:
        parts = []
        for begin in range(0, len(source), _PORTION):
            table = self._mosaic.rows(source[begin : begin + _PORTION])
            n_rows = len(source[begin : begin + _PORTION])
            try:
                answer = np.asarray(self._voice.ask(table))
            except Exception as error:
                asked = f"a {type(table).__name__} of {n_rows:,} rows and {source.shape[1]:,} columns"
                raise RuntimeError(
                    f"{self._voice.name} failed when it was asked about {asked}: "
                    f"{type(error).__name__}: {error}"
                ) from error
            if (
                answer.ndim == 2
                and answer.shape[1] == 1
                and self._voice.name.split(".")[-1] != "predict_proba"
            ):
                answer = answer[:, 0]
            if answer.ndim not in (1, 2) or len(answer) != n_rows:
                raise ValueError(
                    f"{self._voice.name} answered {n_rows:,} rows with an array of the shape {answer.shape}; "
                    f"expected ({n_rows},), or a row of shares for each"
                )
            parts.append(answer)
        return np.concatenate(parts)

    def _checked(self, answer: NDArray[Any]) -> Floats:
        if self.classes is None:
            return self._numbers(answer)
        return self._shares(answer) if answer.ndim == 2 else self._certain(answer)

    def _numbers(self, answer: NDArray[Any]) -> Floats:
        if answer.ndim != 1:
            raise ValueError(
                f"{self._voice.name} answered with {answer.shape[1]} numbers a row; the target is one number"
            )
        return self._finite(answer)[:, np.newaxis]

    def _finite(self, answer: NDArray[Any]) -> Floats:
        try:
            numbers = answer.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"{self._voice.name} answered {answer.ravel()[0]!r} where a number is expected"
            ) from None
        if not np.isfinite(numbers).all():
            row = int(np.argmax(~np.isfinite(numbers.reshape(len(numbers), -1)).all(axis=1)))
            raise ValueError(f"{self._voice.name} answered {answer[row]} to a row; expected finite numbers")
        return np.asarray(numbers)

    def _shares(self, answer: NDArray[Any]) -> Floats:
        assert self.classes is not None
        if answer.shape[1] != len(self._columns):
            raise ValueError(
                f"{self._voice.name} answered with {answer.shape[1]} shares a row; there are "
                f"{len(self._columns)} classes: {_listed(self.classes)}"
            )
        shares = self._finite(answer)
        total = shares.sum(axis=1)
        wrong = (shares < -_LOOSE).any(axis=1) | (np.abs(total - 1) > _LOOSE)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f"{self._voice.name} answered {shares[row].tolist()} to a row; shares are at least 0 and add "
                "up to 1"
            )
        out = np.zeros((len(shares), len(self.classes)))
        out[:, self._columns] = np.maximum(shares, 0.0)
        return np.asarray(out / out.sum(axis=1, keepdims=True))

    def _certain(self, answer: NDArray[Any]) -> Floats:
        """Whole shares of one class for each row."""
        assert self.classes is not None
        values, place = np.unique(
            answer.astype(object) if answer.dtype.kind == "O" else answer, return_inverse=True
        )
        columns = np.array(self._column_of(values.tolist()))
        out = np.zeros((len(answer), len(self.classes)))
        out[np.arange(len(answer)), columns[place.reshape(-1)]] = 1.0
        return out

    def _column_of(self, classes: Sequence[Hashable]) -> list[int]:
        assert self.classes is not None
        places = {value: place for place, value in enumerate(self.classes)}
        unknown = [value for value in classes if value not in places]
        if unknown:
            raise ValueError(
                f"{self._voice.name} knows the class {unknown[0]!r}, which the data does not; the data's "
                f"classes are {_listed(self.classes)}"
            )
        return [places[value] for value in classes]


def _listed(classes: Sequence[Hashable]) -> str:
    shown = ", ".join(map(repr, classes[:10]))
    return shown if len(classes) <= 10 else f"{shown}, … ({len(classes)} in all)"


def _name_of(model: Any) -> str:
    own = getattr(model, "__name__", None)
    return own if isinstance(own, str) else type(model).__name__


def _voice(model: Any, name: str, numbers: bool | None) -> Voice:
    if isinstance(model, type):
        raise TypeError(f"the teacher is the class {name}; give a fitted model")
    proba, predict = getattr(model, "predict_proba", None), getattr(model, "predict", None)
    schema = getattr(model, "schema", None)
    of_numbers = numbers is True or (schema is not None and not getattr(schema, "predicts_classes", True))
    if callable(proba) and not of_numbers:
        return Voice(proba, f"{name}.predict_proba")
    if callable(predict):
        return Voice(predict, f"{name}.predict")
    if callable(model):
        return Voice(model, name)
    raise TypeError(f"the teacher is a {name}; expected a model with predict or predict_proba, or a function")


def _told_classes(model: Any) -> tuple[Hashable, ...] | None:
    """The classes that a model has for its columns, in their order; None if it does not say."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        targets: Sequence[Any] = getattr(getattr(model, "schema", None), "targets", ())
        classes = targets[0].classes if len(targets) == 1 else None
    if classes is None:
        return None
    if isinstance(classes, list) and classes and isinstance(classes[0], np.ndarray):
        raise ValueError("the teacher predicts several targets; one is expected")
    return tuple(classes.tolist() if isinstance(classes, np.ndarray) else classes)


def _distinct(answer: NDArray[Any], name: str) -> tuple[Hashable, ...]:
    if answer.ndim != 1:
        raise ValueError(
            f"{name} answered with several shares a row and does not say of which classes; give the data's "
            "target, or classes="
        )
    return tuple(np.unique(answer).tolist())
