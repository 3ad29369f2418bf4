"""A fit that fails, wherever it fails, leaves the old model as it was."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from treewright import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    growing,
)

pandas = pytest.importorskip("pandas")

ESTIMATORS = [DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor]
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS)
X = pandas.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=list("abc"))
Y = (X["a"] + X["b"] > 0).astype(int).to_numpy()
OTHER = np.random.default_rng(1).normal(size=(30, 2))  # of another width, without names
OTHER_Y = np.arange(30) % 3


def state(model: Any) -> dict[str, Any]:
    """Every attribute, and those of scikit-learn's that come from it."""
    told = ("n_features_in_", "feature_names_in_", "n_outputs_", "max_features_", "classes_", "n_classes_")
    return {**vars(model), **{name: getattr(model, name, None) for name in told}}


def is_unchanged(model: Any, before: dict[str, Any], answers: Any) -> None:
    after = state(model)
    assert after.keys() == before.keys()
    assert all(after[name] is before[name] for name in before)
    np.testing.assert_array_equal(model.predict(X), answers)


def fitted(estimator: Any) -> tuple[Any, dict[str, Any], Any]:
    model = estimator(random_state=0).fit(X, Y)
    assert model.feature_names_in_.tolist() == list("abc")
    return model, state(model), model.predict(X)


@every_estimator
@pytest.mark.parametrize(
    "spoilt",
    [
        {"X": np.zeros((3, 0)), "y": [0, 1, 0]},
        {"X": np.zeros((0, 2)), "y": []},
        {"X": OTHER, "y": OTHER_Y[:-1]},
        {"X": OTHER, "y": [np.nan] * 30},
        {"X": OTHER, "y": None},
        {"X": OTHER, "y": OTHER_Y, "sample_weight": [-1] * 30},
        {"X": OTHER, "y": OTHER_Y, "sample_weight": [0] * 30},
        {"X": OTHER * 1j, "y": OTHER_Y},
        {"X": pandas.DataFrame(OTHER, columns=["p", "p"]), "y": OTHER_Y},
        {"X": pandas.DataFrame({"p": [[1], [2]], "q": [1, 2]}), "y": [0, 1]},
        {"X": None, "y": OTHER_Y},
    ],
    ids=lambda spoilt: "",
)
def test_bad_input(estimator: Any, spoilt: dict[str, Any]) -> None:
    model, before, answers = fitted(estimator)
    with pytest.raises((ValueError, TypeError), match=r"\w{3}"):
        model.fit(**spoilt)
    is_unchanged(model, before, answers)


@every_estimator
@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt, RuntimeError])
@pytest.mark.parametrize("door", ["grow", "readable"])
def test_failure_in_the_core(
    estimator: Any, error: type[BaseException], door: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, before, answers = fitted(estimator)

    def stop(*_: Any, **__: Any) -> None:
        raise error("in the middle")

    with monkeypatch.context() as patch:
        patch.setattr(growing._core, door, stop)
        with pytest.raises(error, match="in the middle"):
            model.fit(OTHER, OTHER_Y)
    is_unchanged(model, before, answers)
    assert model.fit(OTHER, OTHER_Y).n_features_in_ == 2


@contextmanager
def interrupted_at(line: int) -> Iterator[Callable[[], int]]:
    """KeyboardInterrupt before the n-th line of the package that is run; gives how many were."""
    count = 0

    def trace(frame: Any, event: str, _: Any) -> Any:
        nonlocal count
        if "treewright" not in frame.f_code.co_filename:
            return None
        if event == "line":
            count += 1
            if count == line:
                raise KeyboardInterrupt
        return trace

    old = sys.gettrace()
    sys.settrace(trace)
    try:
        yield lambda: count
    finally:
        sys.settrace(old)


@pytest.mark.slow
@every_estimator
def test_an_interrupt_at_every_line(estimator: Any) -> None:
    """Either the old fit as a whole or the new one as a whole, never some of both."""
    model, before, answers = fitted(estimator)
    with interrupted_at(-1) as lines:
        new = estimator(random_state=0).fit(OTHER, OTHER_Y)
    n_lines = lines()
    assert n_lines > 100
    n_old = 0
    for line in range(1, n_lines + 1):
        try:
            with interrupted_at(line):
                model.fit(OTHER, OTHER_Y)
        except KeyboardInterrupt:
            pass
        if model.n_features_in_ == 3:
            is_unchanged(model, before, answers)
            n_old += 1
        else:
            assert state(model).keys() == state(new).keys()
            assert model.model_ == new.model_
            vars(model).clear()
            vars(model).update(before)
    assert n_old > 100


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timers on this system")
@every_estimator
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_signal_while_the_core_works(estimator: Any, n_jobs: int) -> None:
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals go to the main thread")
    model, before, answers = fitted(estimator)
    random = np.random.default_rng(0)
    table, target = random.normal(size=(240_000, 20)), random.integers(0, 5, 240_000)

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            model.set_params(n_jobs=n_jobs).fit(table, target)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    model.set_params(n_jobs=before["n_jobs"])
    is_unchanged(model, before, answers)
