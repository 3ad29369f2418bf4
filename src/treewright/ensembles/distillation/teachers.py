"""The teacher: any model that predicts rows, called in batches, its predictions checked."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.encoding.synthetic_rows import RowSynthesizer

Floats = NDArray[np.float64]
Sources = NDArray[np.integer]

_BATCH = 8192  # rows in a call of the teacher
_TOLERANCE = 1e-3  # by which probabilities may fail to sum to 1: float16 models are no better


class Teacher:
    """A model, the table that it predicts, and the classes of its predictions.

    `classes`: those of the data, if they are known; else those of the teacher, or those that it predicts for
    the rows of `first`. None if it predicts numbers.
    """

    def __init__(
        self,
        model: Any,
        synthesizer: RowSynthesizer,
        first: Sources,
        classes: Sequence[Hashable] | None,
        numbers: bool | None,
    ) -> None:
        self.name = _name_of(model)
        self._synthesizer = synthesizer
        own_classes = _classes_of(model)
        self._predict, self._call = _predictor_of(model, self.name, numbers)
        if numbers is not True and classes is None:
            classes = own_classes
        answers = self._raw(first)
        if numbers is None:
            numbers = classes is None and answers.ndim == 1 and answers.dtype.kind == "f"
        self.classes: tuple[Hashable, ...] | None = None
        if not numbers:
            self.classes = tuple(classes) if classes is not None else _distinct(answers, self._call)
            self._columns = self._column_of(own_classes if own_classes is not None else self.classes)
        self.first_answers = self._validate(answers)

    def predict(self, source: Sources) -> Floats:
        """The probabilities of the classes, (rows, classes), or the numbers, (rows, 1)."""
        return self._validate(self._raw(source))

    def _raw(self, source: Sources) -> NDArray[Any]:
        batches = []
        for begin in range(0, len(source), _BATCH):
            batch = source[begin : begin + _BATCH]
            table, n_rows = self._synthesizer.rows(batch), len(batch)
            try:
                answer = np.asarray(self._predict(table))
            except Exception as error:
                argument = f"a {type(table).__name__} of {n_rows:,} rows and {source.shape[1]:,} columns"
                raise RuntimeError(
                    f"{self._call} failed on {argument}: {type(error).__name__}: {error}"
                ) from error
            if answer.ndim == 2 and answer.shape[1] == 1 and self._call.split(".")[-1] != "predict_proba":
                answer = answer[:, 0]
            if answer.ndim not in (1, 2) or len(answer) != n_rows:
                raise ValueError(
                    f"{self._call} returned an array of the shape {answer.shape} for {n_rows:,} "
                    f"rows; expected ({n_rows},), or a row of probabilities for each"
                )
            batches.append(answer)
        return np.concatenate(batches)

    def _validate(self, answer: NDArray[Any]) -> Floats:
        if self.classes is None:
            return self._numbers(answer)
        return self._probabilities(answer) if answer.ndim == 2 else self._indicators(answer)

    def _numbers(self, answer: NDArray[Any]) -> Floats:
        if answer.ndim != 1:
            raise ValueError(
                f"{self._call} returned {answer.shape[1]} numbers a row; the target is one number"
            )
        return self._finite(answer)[:, np.newaxis]

    def _finite(self, answer: NDArray[Any]) -> Floats:
        try:
            numbers = answer.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{self._call} returned {answer.ravel()[0]!r}; expected a number") from None
        if not np.isfinite(numbers).all():
            row = int(np.argmax(~np.isfinite(numbers.reshape(len(numbers), -1)).all(axis=1)))
            raise ValueError(f"{self._call} returned {answer[row]} for a row; expected finite numbers")
        return np.asarray(numbers)

    def _probabilities(self, answer: NDArray[Any]) -> Floats:
        assert self.classes is not None
        if answer.shape[1] != len(self._columns):
            raise ValueError(
                f"{self._call} returned {answer.shape[1]} probabilities a row; there are "
                f"{len(self._columns)} classes: {_shortened_list(self.classes)}"
            )
        shares = self._finite(answer)
        total = shares.sum(axis=1)
        wrong = (shares < -_TOLERANCE).any(axis=1) | (np.abs(total - 1) > _TOLERANCE)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f"{self._call} returned {shares[row].tolist()} for a row; probabilities are at "
                "least 0 and sum to 1"
            )
        out = np.zeros((len(shares), len(self.classes)))
        out[:, self._columns] = np.maximum(shares, 0.0)
        return np.asarray(out / out.sum(axis=1, keepdims=True))

    def _indicators(self, answer: NDArray[Any]) -> Floats:
        """Probability 1 for the class of each row."""
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
                f"{self._call} knows the class {unknown[0]!r}, which the data does not; the data's "
                f"classes are {_shortened_list(self.classes)}"
            )
        return [places[value] for value in classes]


def _shortened_list(classes: Sequence[Hashable]) -> str:
    first = ", ".join(map(repr, classes[:10]))
    return first if len(classes) <= 10 else f"{first}, … ({len(classes)} in all)"


def _name_of(model: Any) -> str:
    own = getattr(model, "__name__", None)
    return own if isinstance(own, str) else type(model).__name__


def _predictor_of(model: Any, name: str, numbers: bool | None) -> tuple[Callable[[Any], Any], str]:
    """The prediction function of a teacher, and its name in errors."""
    if isinstance(model, type):
        raise TypeError(f"the teacher is the class {name}; give a fitted model")
    proba, predict = getattr(model, "predict_proba", None), getattr(model, "predict", None)
    schema = getattr(model, "schema", None)
    of_numbers = numbers is True or (schema is not None and not getattr(schema, "predicts_classes", True))
    if callable(proba) and not of_numbers:
        return proba, f"{name}.predict_proba"
    if callable(predict):
        return predict, f"{name}.predict"
    if callable(model):
        return model, name
    raise TypeError(f"the teacher is a {name}; expected a model with predict or predict_proba, or a function")


def _classes_of(model: Any) -> tuple[Hashable, ...] | None:
    """The classes of the columns of a model's probabilities, in order; None if it does not have them."""
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
            f"{name} returned several probabilities a row and does not say of which classes; give the "
            "data's target, or classes="
        )
    return tuple(np.unique(answer).tolist())
