"""Rows of a fit are known again, whatever is done to their order and number, and rows drawn anew are not."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from treewright import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    CHAIDClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    ID3Classifier,
    RandomForestClassifier,
    RandomForestRegressor,
    RuleListClassifier,
    _core,
    certify,
    encode,
    report,
)
from treewright.encoding import Dataset
from treewright.encoding.row_hashes import KnownRows

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(400, 3)).round(3)
Y = (X[:, 0] + DRAW.normal(size=400) > 0).astype(int)
NUMBERS = X[:, 0] + DRAW.normal(size=400)
SEEN, NEW = slice(0, 250), slice(250, 400)

CLASSIFIERS: list[Any] = [
    DecisionTreeClassifier(),
    DecisionTreeClassifier(max_depth=1),
    DecisionTreeClassifier(pruning="cost_complexity"),
    DecisionTreeClassifier(pruning="reduced_error", class_weight="balanced"),
    ExtraTreeClassifier(),
    C45Classifier(),
    CARTClassifier(),
    CHAIDClassifier(),
    RuleListClassifier(),
    RuleListClassifier(method="validation"),
    RandomForestClassifier(5),
    ExtraTreesClassifier(5),
    BaggingClassifier(n_estimators=5),
    AdaBoostClassifier(n_estimators=5),
    HistGradientBoostingClassifier(max_iter=5, early_stopping=True),
]
REGRESSORS: list[Any] = [
    DecisionTreeRegressor(),
    DecisionTreeRegressor(pruning="reduced_error"),
    CARTRegressor(),
    RandomForestRegressor(5),
    ExtraTreesRegressor(5),
    BaggingRegressor(n_estimators=5),
    AdaBoostRegressor(n_estimators=5),
    HistGradientBoostingRegressor(max_iter=5),
]
TURNED = np.random.default_rng(1).permutation(250)
AGAIN = {
    "as they were": np.arange(250),
    "shuffled": TURNED,
    "all but one": TURNED[1:],
    "twice": np.r_[TURNED, TURNED],
    "half of them": TURNED[:125],
    "with as many others": np.r_[TURNED[:150], np.arange(250, 400)],
}


@pytest.mark.slow
@pytest.mark.parametrize("model", [*CLASSIFIERS, *REGRESSORS], ids=lambda model: repr(model))
def test_every_estimator_knows_its_rows(model: Any) -> None:
    y = NUMBERS if model in REGRESSORS else Y
    fitted = pickle.loads(pickle.dumps(model.fit(X[SEEN], y[SEEN])))
    for rows in AGAIN.values():
        with pytest.raises(ValueError, match="are rows of the fit"):
            fitted.certify(X[rows], y[rows])
    assert fitted.certify(X[SEEN], y[SEEN], check_rows=False).value >= 0
    assert fitted.certify(X[NEW], y[NEW]).value > 0
    if hasattr(fitted, "estimators_"):
        with pytest.raises(ValueError, match="are rows of the fit"):
            fitted.estimators_[0].certify(X[SEEN], y[SEEN])


def test_categories_are_known_again() -> None:
    """Three columns of eight words each: most new rows are others."""
    draw = np.random.default_rng(0)
    words = draw.choice(list("abcdefgh"), (300, 4))
    table = {f"word {i}": words[:, i] for i in range(4)}
    y = np.where(words[:, 0] < "d", "yes", "no")
    some = {name: column[:200] for name, column in table.items()}
    others = {name: column[200:] for name, column in table.items()}
    model = ID3Classifier().fit(some, y[:200])
    with pytest.raises(ValueError, match="are rows of the fit"):
        model.certify({name: column[1:] for name, column in some.items()}, y[1:200])
    assert model.certify(others, y[200:]).value > 0


def test_rows_that_chose_are_known_again() -> None:
    model = DecisionTreeClassifier(pruning="cost_complexity").fit(
        X[:200], Y[:200], validation=(X[200:300], Y[200:300])
    )
    several = len(model.pruning_path_)
    for rows in (range(200, 300), range(299, 199, -1), range(201, 300)):
        with pytest.raises(ValueError, match=f"have chosen 1 of the {several} trees"):
            model.certify(X[list(rows)], Y[list(rows)])
    assert model.certify(X[200:300], Y[200:300], choices=several).value > 0
    pruned = DecisionTreeClassifier(pruning="reduced_error").fit(
        X[:200], Y[:200], validation=(X[200:300], Y[200:300])
    )
    with pytest.raises(ValueError, match="these rows have pruned the tree"):
        pruned.certify(X[201:300], Y[201:300])
    assert pruned.certify(X[200:300], Y[200:300], method="reduced_error").value > 0
    with pytest.raises(ValueError, match="are rows of the fit"):
        pruned.certify(X[1:200], Y[1:200], method="reduced_error")


@pytest.mark.parametrize("pruning", ["cost_complexity", "reduced_error"])
def test_rows_that_chose_are_known_by_every_way_of_certifying(pruning: str) -> None:
    chose = X[200:300], Y[200:300]
    model = DecisionTreeClassifier(pruning=pruning).fit(X[:200], Y[:200], validation=chose)
    some = X[205:300], Y[205:300]
    strange = np.vstack([chose[0], chose[0][:1]]), [*chose[1].tolist(), 7]  # a class that it does not know
    for rows in (chose, some, strange):
        with pytest.raises(ValueError, match=r"have pruned the tree|have chosen 1 of the"):
            certify(model, test=rows)
        with pytest.raises(ValueError, match="test has the rows that pruned or selected the tree"):
            report(model, test=rows)
        with pytest.raises(ValueError, match=r"have pruned the tree|have chosen 1 of the"):
            model.certify(*rows)
    assert certify(model, test=chose, check_rows=False).value > 0
    assert certify(model, test=(X[300:], Y[300:])).value > 0


@pytest.mark.slow
@pytest.mark.parametrize("model", [DecisionTreeClassifier(), RandomForestClassifier(5), RuleListClassifier()])
def test_rows_are_known_after_a_file_or_another_library(model: Any) -> None:
    """In single precision, as a CSV holds them, and after a calculation there and back."""
    table = np.random.default_rng(1).normal(size=(300, 3))
    y = np.random.default_rng(2).integers(0, 2, 300)
    model.fit(table, y)
    single = table.astype(np.float32)
    for again in (single, single.astype(float), table * (1 + 1e-15)):
        with pytest.raises(ValueError, match="are rows of the fit"):
            model.certify(again, y)


def test_a_hash_depends_on_values_alone() -> None:
    """Not on how the cells lie in memory, nor on the sign of zero, the bits of NaN or the precision."""
    table = np.random.default_rng(1).normal(size=(500, 7)).astype(np.float32).astype(float)
    table[3, 2], table[5, 1] = np.nan, 0.0
    wanted = _core.row_hashes(table)
    other = table.copy()
    other[3, 2], other[5, 1] = -np.nan, -0.0
    wide = np.zeros((500, 9))
    wide[:, 1:8] = table
    layouts = [other, np.asfortranarray(table), tuple(table.T), table.astype(np.float32), wide[:, 1:8]]
    for again in layouts:
        np.testing.assert_array_equal(_core.row_hashes(again), wanted)
    np.testing.assert_array_equal(_core.row_hashes(table[::-1]), wanted[::-1])
    assert len(np.unique(wanted)) == 500
    swapped = table[:, [1, 0, 2, 3, 4, 5, 6]]
    assert (_core.row_hashes(swapped) != wanted).all()


def test_hashes_are_those_of_one_thread() -> None:
    table = np.random.default_rng(1).normal(size=(70_001, 3))
    wanted = _core.row_hashes(table)
    for n_threads in (2, 5):
        np.testing.assert_array_equal(_core.row_hashes(table, n_threads), wanted)
    data = encode(table, np.zeros(len(table)))
    data.hash_rows(2)
    np.testing.assert_array_equal(data.row_hashes, wanted)


def test_hashes_of_a_grid_differ() -> None:
    grid = np.stack(np.meshgrid(*[np.arange(8.0)] * 5), axis=-1).reshape(-1, 5)
    hashes = _core.row_hashes(grid)
    assert len(np.unique(hashes)) == len(grid)
    assert abs((hashes >> np.uint64(63)).mean() - 0.5) < 0.02  # the smallest are as good as drawn


def test_rounded_rows_are_known_by_where_they_arrive() -> None:
    table = np.random.default_rng(1).normal(size=(300, 3))
    y = np.random.default_rng(2).integers(0, 2, 300)
    model = DecisionTreeClassifier().fit(table, y)
    with pytest.raises(ValueError, match="every node counts the same"):
        model.certify(table.round(6), y)


@pytest.mark.slow
@pytest.mark.parametrize("pruning", [None, "reduced_error", "cost_complexity", "minimum_errors"])
def test_new_rows_of_an_easy_table_are_not_taken_for_old_ones(pruning: str | None) -> None:
    """A perfect tree of two leaves loses nothing on any rows, and as many often arrive at its leaves."""
    rng = np.random.default_rng(3)
    for n in (10, 30, 100):
        for _ in range(20):
            parts = [rng.normal(size=(n, 2)) for _ in range(3)]
            train, chose, test = ((part, part[:, 0] > 0) for part in parts)
            if len(set(train[1].tolist())) < 2:
                continue
            model = DecisionTreeClassifier(pruning=pruning)
            model.fit(*train, **({} if pruning is None else {"validation": chose}))
            assert certify(model, test=test) == model.certify(*test)


def test_rows_that_grow_do_not_choose() -> None:
    for rows in (TURNED, TURNED[:50], np.r_[TURNED, TURNED]):
        with pytest.raises(ValueError, match="validation has the rows of the fit"):
            DecisionTreeClassifier(pruning="reduced_error").fit(
                X[SEEN], Y[SEEN], validation=(X[rows], Y[rows])
            )


def test_a_warm_start_with_other_rows_knows_both() -> None:
    model = HistGradientBoostingRegressor(max_iter=3, warm_start=True).fit(X[:100], NUMBERS[:100])
    model.set_params(max_iter=5).fit(X[100:200], NUMBERS[100:200])
    for rows in (slice(0, 100), slice(100, 200)):
        with pytest.raises(ValueError, match="are rows of the fit"):
            model.certify(X[rows], NUMBERS[rows])
    assert model.certify(X[200:], NUMBERS[200:]).value > 0


def test_reports_know_the_rows_of_the_fit() -> None:
    model = DecisionTreeClassifier(pruning="cost_complexity").fit(X[SEEN], Y[SEEN])
    for rows in AGAIN.values():
        with pytest.raises(ValueError, match="are rows of the fit"):
            certify(model, test=(X[rows], Y[rows]))
        with pytest.raises(ValueError, match="test has rows that the model was fitted on"):
            report(model, test=(X[rows], Y[rows]))


def test_rows_of_weight_zero_were_not_used() -> None:
    weight = np.r_[np.ones(250), np.zeros(150)]
    model = RandomForestClassifier(5, random_state=0).fit(X, Y, weight)
    assert model.certify(X[NEW], Y[NEW]).value > 0
    with pytest.raises(ValueError, match="are rows of the fit"):
        model.certify(X[SEEN], Y[SEEN])


def drawn(kind: str, n: int, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    table = {
        "numbers": lambda: draw.normal(size=(n, 2)),
        "bits": lambda: draw.integers(0, 2, (n, 3)).astype(float),
        "digits": lambda: draw.integers(0, 10, (n, 3)).astype(float),
        "half the same": lambda: np.where(draw.random((n, 1)) < 0.5, 0.0, draw.normal(size=(n, 1))),
    }[kind]()
    return table, draw.integers(0, 2, n)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["numbers", "bits", "digits", "half the same"])
def test_rows_drawn_anew_are_not_refused(kind: str) -> None:
    """However many of them occur already: of a table of bits all do."""
    draw = np.random.default_rng(0)
    for n in (5, 20, 100, 1000):
        for _ in range(25):
            known = KnownRows.of(encode(*drawn(kind, n, draw), classes=True))
            for m in (n, 3 * n, n // 2):
                assert not known.are_in(encode(*drawn(kind, m, draw), classes=True))


def rows_of(data: Dataset, n: int) -> Dataset:
    return data.take(np.random.default_rng(0).permutation(data.n_rows)[:n])


@pytest.mark.parametrize("n", [100, 10_000])
def test_a_few_numbers_are_kept(n: int) -> None:
    """Of a large table the smallest numbers: as many of any rows of it are among them."""
    draw = np.random.default_rng(0)
    data = encode(draw.normal(size=(n, 2)), draw.integers(0, 2, n))
    known = KnownRows.of(data)
    assert len(known.tally[0]) == min(n, 4096)
    assert known.n_rows == n
    for m in (n, n // 2, 50):
        assert known.are_in(rows_of(data, m))
    bits = encode(draw.integers(0, 2, (n, 2)).astype(float), draw.integers(0, 2, n))
    few = KnownRows.of(bits)
    assert len(few.tally[0]) == 8
    assert few.tally[1].sum() == n
    assert few.are_in(rows_of(bits, n))
