"""AdaBoost without scikit-learn: against a naive program, by hand, and by what is proved of it."""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor

from treewright import encode, grow
from treewright.encoding import Dataset
from treewright.ensembles.adaboost import Boosted, Round, boost, scale_weights, vote_margins
from treewright.ensembles.adaboost_r2 import boost_numbers
from treewright.tree import Tree


def classes_of(seed: int, n: int = 60, k: int = 3) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(n, 3))
    return x, np.digitize(
        x[:, 0] + 0.7 * x[:, 1] ** 2 + 0.5 * draw.normal(size=n), np.linspace(-0.3, 1, k - 1)
    )


# ---- the oracle: brute force over all cuts, plain weights -------------------------------------------


def stump(x: np.ndarray, y: np.ndarray, weight: np.ndarray, k: int) -> np.ndarray:
    """What the stump of least weighted Gini index answers to each row."""

    def gini(part: np.ndarray) -> tuple[float, int]:
        sums = [float(weight[part & (y == c)].sum()) for c in range(k)]
        total = sum(sums)
        return (total - sum(s * s for s in sums) / total if total else 0.0), int(np.argmax(sums))

    everyone = np.ones(len(y), bool)
    risk, label = gini(everyone)
    best, said = risk - 1e-12, np.full(len(y), label)
    for column in x.T:
        for cut in np.unique(column)[:-1]:
            (left, a), (right, b) = gini(column <= cut), gini(column > cut)
            if left + right < best:
                best, said = left + right, np.where(column <= cut, a, b)
    return said


def naive(
    x: np.ndarray, y: np.ndarray, rounds: int, algorithm: str, rate: float
) -> tuple[list[float], list[float], list[float]]:
    """Errors, votes and training errors of AdaBoost as its papers have it."""
    n, k = len(y), int(y.max()) + 1
    weight = np.full(n, 1 / n)
    scores = np.zeros((n, k))
    errors, votes, training = [], [], []
    for _ in range(rounds):
        said = stump(x, y, weight, k)
        error = float(weight[said != y].sum())
        if algorithm == "M1":
            beta = (error / (1 - error)) ** rate
            weight = np.where(said == y, weight * beta, weight)
            vote = math.log(1 / beta)
        else:
            vote = rate * (math.log((1 - error) / error) + math.log(k - 1))
            weight = np.where(said != y, weight * math.exp(vote), weight)
        weight = weight / weight.sum()
        scores[np.arange(n), said] += vote
        errors.append(error)
        votes.append(vote)
        training.append(float(np.mean(scores.argmax(axis=1) != y)))
    return errors, votes, training


@pytest.mark.slow
@pytest.mark.parametrize("rate", [1.0, 0.3])
@pytest.mark.parametrize(("algorithm", "k"), [("SAMME", 2), ("M1", 2), ("SAMME", 4)])
def test_against_a_naive_program(algorithm: str, k: int, rate: float) -> None:
    for seed in range(3):
        x, y = classes_of(seed, k=k)
        errors, votes, training = naive(x, y, 8, algorithm, rate)
        found = boost(encode(x, y, classes=True), n_estimators=8, algorithm=algorithm, learning_rate=rate)  # type: ignore[arg-type]
        assert found.errors == pytest.approx(errors)
        assert found.votes == pytest.approx(votes)
        assert found.training_errors == pytest.approx(training)


def test_two_classes_are_the_same_by_both() -> None:
    x, y = classes_of(5, k=2)
    data = encode(x, y, classes=True)
    one, other = boost(data, algorithm="M1"), boost(data, algorithm="SAMME")
    assert one.trees == other.trees
    assert np.array_equal(one.votes, other.votes)


# ---- what is proved --------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    k=st.integers(2, 4),
    depth=st.integers(1, 3),
    rate=st.sampled_from([1.0, 0.5, 1.7]),
    algorithm=st.sampled_from(["SAMME", "M1"]),
    weighted=st.booleans(),
)
def test_the_bound_holds_in_every_round(
    seed: int, k: int, depth: int, rate: float, algorithm: str, weighted: bool
) -> None:
    draw = np.random.default_rng(seed)
    n = int(draw.integers(10, 60))
    x, y = draw.integers(0, 6, (n, 2)).astype(float), draw.integers(0, k, n)
    data = encode(x, y, weight=draw.integers(0, 4, n).astype(float) if weighted else None, classes=True)
    if not data.n_counted:
        return
    found = None
    with suppress(ValueError):  # the first tree may be no better than chance
        found = boost(data, n_estimators=12, algorithm=algorithm, learning_rate=rate, max_depth=depth)  # type: ignore[arg-type]
    if found is None:
        return
    assert (found.training_errors <= found.bounds + 1e-9).all()
    assert found.training_errors == pytest.approx(found.staged_errors(data))
    margins = found.margins(data)
    assert ((margins >= -1 - 1e-12) & (margins <= 1 + 1e-12)).all()
    wrong = found.predict(data) != np.array(found.classes)[data.targets[0]]  # type: ignore[index]
    assert (margins[wrong] <= 1e-9).all()
    assert (margins[~wrong] >= -1e-9).all()


def test_the_bound_in_closed_form() -> None:
    """Π 2√(ε(1-ε)) of M1 and of two classes; Π K/√(K-1)·√(ε(1-ε)) of SAMME."""
    for k, algorithm in ((2, "SAMME"), (2, "M1"), (4, "SAMME")):
        x, y = classes_of(1, k=k)
        found = boost(encode(x, y, classes=True), n_estimators=10, algorithm=algorithm)  # type: ignore[arg-type]
        of = 2 if algorithm == "M1" else k
        factors = of / math.sqrt(of - 1) * np.sqrt(found.errors * (1 - found.errors))
        assert found.bounds == pytest.approx(np.cumprod(factors))


# ---- by hand ---------------------------------------------------------------------------------------


def test_three_rounds_by_hand() -> None:
    """Ten rows on a line, aaabbbbaaa: the first stump is wrong on the last three, and so on."""
    data = encode({"x": range(10)}, list("aaabbbbaaa"))
    found = boost(data, n_estimators=3)
    assert found.errors == pytest.approx([0.3, 3 / 14, 2 / 11])
    assert found.votes == pytest.approx(np.log([7 / 3, 11 / 3, 9 / 2]))
    first = [tree.predict({"x": range(10)}).tolist() for tree in found.trees]
    scores = np.array(
        [
            [sum(v for v, s in zip(found.votes, first, strict=True) if s[i] == c) for c in "ab"]
            for i in range(10)
        ]
    )
    assert found.scores({"x": range(10)}) == pytest.approx(scores)
    assert found.predict({"x": range(10)}).tolist() == list("aaabbbbaaa")
    total = found.votes.sum()
    truth = np.array([c == "b" for c in "aaabbbbaaa"]).astype(int)
    expected = (scores[range(10), truth] - scores[range(10), 1 - truth]) / total
    assert found.margins(data) == pytest.approx(expected)
    odds = np.exp(2 * (scores[:, 1] - scores[:, 0]) / total)
    assert found.predict_proba(data)[:, 1] == pytest.approx(odds / (1 + odds))


def test_margins_of_many_classes() -> None:
    scores = np.array([[2.0, 1.0, 1.0], [0.0, 0.0, 4.0], [1.0, 1.5, 1.5]])
    assert vote_margins(scores, np.array([0, 1, 1])).tolist() == [0.25, -1.0, 0.0]
    assert vote_margins(np.array([[3.0]]), np.array([0])).tolist() == [1.0]


# ---- where it ends ---------------------------------------------------------------------------------


def grower(*depths: int | None):  # type: ignore[no-untyped-def]
    return lambda rows, number: grow(rows, max_depth=depths[min(number, len(depths) - 1)])


def test_a_perfect_tree_decides_alone() -> None:
    x, y = classes_of(3)
    data = encode(x, y, classes=True)
    found = boost(data, grower=grower(1, 1, 1, None))
    assert len(found.trees) == 4
    assert found.errors[-1] == found.bounds[-1] == found.training_errors[-1] == 0
    assert found.votes[-1] > found.votes[:-1].sum()
    new = np.random.default_rng(9).normal(size=(200, 3))
    assert np.array_equal(found.predict(new), found.trees[-1].predict(new))
    first = boost(data, grower=grower(None))
    assert first.votes.tolist() == [1.0]
    assert boost(encode(x, np.zeros(len(x), int), classes=True)).votes.tolist() == [1.0]


def test_a_tree_no_better_than_chance_gets_no_vote() -> None:
    x, y = classes_of(4, k=2)
    data = encode(x, y, classes=True)
    bad = encode(x, 1 - y, classes=True, schema=data.schema)

    def worse(rows: Dataset, number: int) -> Tree:
        return grow(rows if number < 2 else bad, max_depth=1)

    found = boost(data, grower=worse)
    assert len(found.trees) == 2
    assert found.trees == boost(data, n_estimators=2).trees
    with pytest.raises(ValueError, match="no better than chance"):
        boost(data, grower=lambda rows, number: grow(bad, max_depth=1))
    square = encode([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], classes=True)
    with pytest.raises(ValueError, match=r"the first tree gets 50\.0 % of the weight wrong"):
        boost(square)


def test_m1_needs_more_than_half() -> None:
    data = encode({"x": range(8)}, list("aabbccdd"))
    with pytest.raises(ValueError, match="algorithm='SAMME', which is for 4 classes"):
        boost(data, algorithm="M1")
    assert len(boost(data, n_estimators=5).trees) == 5
    assert boost(data, algorithm="M1", max_depth=2).training_errors[-1] == 0


# ---- weights ---------------------------------------------------------------------------------------


def test_weights_are_repetitions() -> None:
    x, y = classes_of(6)
    times = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = boost(encode(x, y, weight=times.astype(float), classes=True), max_depth=2)
    repeated = boost(encode(np.repeat(x, times, axis=0), np.repeat(y, times), classes=True), max_depth=2)
    assert weighted.errors == pytest.approx(repeated.errors)
    assert weighted.training_errors == pytest.approx(repeated.training_errors)
    assert np.array_equal(weighted.predict(x), repeated.predict(x))


def test_a_class_without_weight_is_absent() -> None:
    x, y = classes_of(7)
    data = encode(x, y, weight=(y < 2).astype(float), classes=True)
    found, two = boost(data), boost(encode(x[y < 2], y[y < 2], classes=True))
    assert found.votes == pytest.approx(two.votes)
    assert not (found.predict(x) == 2).any()
    only = encode(x, y, weight=(y == 1).astype(float), classes=True)
    assert (boost(only).predict(x) == 1).all()


def test_weights_beyond_floating_point() -> None:
    weight = np.array([1.0, 2.0, 0.0, 1.0])
    new = scale_weights(weight, np.array([1e4, 0.0, 1e5, -1e4]))
    assert new.sum() == pytest.approx(4.0)
    assert new[2] == 0
    assert (new[[0, 1, 3]] > 0).all()
    assert np.isfinite(new).all()
    x, y = classes_of(8)
    for rate in (1e3, 1e-9):
        found = boost(encode(x, y, classes=True), n_estimators=30, learning_rate=rate)
        assert np.isfinite(found.votes).all()
        assert np.isfinite(found.scores(x)).all()
    tiny = encode(x, y, weight=np.full(len(y), 1e-280), classes=True)
    assert boost(tiny).errors == pytest.approx(boost(encode(x, y, classes=True)).errors)


# ---- tables, trees, rows ---------------------------------------------------------------------------


def mixed(seed: int = 0, n: int = 200) -> tuple[dict[str, list[object]], list[str]]:
    draw = np.random.default_rng(seed)
    size, sky = draw.normal(size=n), draw.choice(["sun", "rain", "fog"], n)
    y = np.where((size > 0) ^ (sky == "rain"), "in", "out")
    gaps = draw.random(n) < 0.2
    table = {
        "size": [None if gap else float(s) for gap, s in zip(gaps, size, strict=True)],
        "sky": [None if draw.random() < 0.1 else str(s) for s in sky],
    }
    return table, y.tolist()  # type: ignore[return-value]


@pytest.mark.parametrize("missing", ["learn", "surrogate", "fractional", "category"])
def test_categories_and_missing_values(missing: str) -> None:
    """The vote counts what each tree answers, also to rows that it divides among its leaves."""
    table, y = mixed()
    data = encode(table, y)
    found = boost(data, n_estimators=10, max_depth=2, missing=missing)
    assert found.training_errors[-1] < 0.3
    said = [tree.predict(table) for tree in found.trees]
    for c, name in enumerate(found.classes):
        votes = sum(vote * (answers == name) for vote, answers in zip(found.votes, said, strict=True))
        assert found.scores(table)[:, c] == pytest.approx(votes)
    *_, last = found.staged_scores(data)
    assert np.array_equal(last, found.scores(data))
    assert found.staged_errors((table, y)) == pytest.approx(found.training_errors)


def test_threads_and_order_of_rows_do_not_matter() -> None:
    draw = np.random.default_rng(0)
    x = draw.normal(size=(6000, 4))
    y = (x[:, 0] * x[:, 1] > 0.1).astype(int)
    data = encode(x, y, classes=True)
    one, two = (boost(data, n_estimators=4, max_depth=3, n_jobs=n) for n in (1, 2))
    assert one.trees == two.trees
    assert np.array_equal(one.votes, two.votes)
    assert np.array_equal(one.scores(x), two.scores(x, n_jobs=2))
    order = draw.permutation(len(y))
    other = boost(encode(x[order], y[order], classes=True), n_estimators=4, max_depth=3)
    assert other.votes == pytest.approx(one.votes)


def test_trees_are_the_same_with_bins_and_without() -> None:
    """A small table that has its bins is grown by them; edges never change a tree."""
    table, y = mixed(n=1500)
    draw = np.random.default_rng(1)
    for weight in (None, draw.exponential(size=1500)):
        plain, binned = (encode(table, y, weight=weight) for _ in range(2))
        binned.bins()
        assert binned.has_bins
        assert not plain.has_bins
        for options in ({}, {"max_depth": 1}, {"max_features": 1}, {"splitter": "random"}, {"max_depth": 3}):
            assert grow(plain, **options) == grow(binned, **options), options  # type: ignore[arg-type]


def test_progress_can_end_it() -> None:
    x, y = classes_of(2)
    seen: list[Round] = []

    def stop(each: Round) -> None:
        seen.append(each)
        if len(seen) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        boost(encode(x, y, classes=True), progress=stop)
    assert [each.number for each in seen] == [1, 2, 3]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_estimators": 0}, "n_estimators is 0"),
        ({"n_estimators": 2.5}, "n_estimators is 2.5"),
        ({"learning_rate": 0}, "learning_rate is 0"),
        ({"learning_rate": float("nan")}, "learning_rate is nan"),
        ({"learning_rate": "fast"}, "learning_rate is 'fast'"),
        ({"algorithm": "SAMME.R"}, "algorithm is 'SAMME.R'"),
        ({"max_depth": -1}, "max_depth"),
    ],
)
def test_bad_parameters(given: dict[str, object], message: str) -> None:
    x, y = classes_of(0)
    with pytest.raises(ValueError, match=message):
        boost(encode(x, y, classes=True), **given)  # type: ignore[arg-type]


def test_bad_rows() -> None:
    x, y = classes_of(0)
    with pytest.raises(ValueError, match="no target"):
        boost(encode(x))
    with pytest.raises(ValueError, match="has numbers"):
        boost(encode(x, x[:, 0]))
    with pytest.raises(ValueError, match="has classes"):
        boost_numbers(encode(x, y, classes=True))
    with pytest.raises(ValueError, match="for one target; the table has 2"):
        boost(encode(x, np.stack([y, y], axis=1), classes=True))
    with pytest.raises(ValueError, match="weigh"):
        boost(encode(x, y, classes=True).with_weight(np.zeros(len(y))))
    with pytest.raises(TypeError, match="not both: max_depth"):
        boost(encode(x, y, classes=True), grower=grower(1), max_depth=2)
    found = boost(encode(x, y, classes=True), n_estimators=2)
    with pytest.raises(ValueError, match="rows"):
        found.predict(x[:, :2])
    with pytest.raises(ValueError, match="columns of rows"):
        found.scores(encode({"a": [1.0]}))
    with pytest.raises(TypeError, match="rows must be a Dataset"):
        found.margins(x)
    one = boost(encode(x[:1], y[:1], classes=True))
    assert one.predict(x).tolist() == [y[0]] * len(x)


def test_the_picture() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    x, y = classes_of(2)
    data, test = encode(x, y, classes=True), (x[::2], y[::2])
    found = boost(data, n_estimators=6)
    assert isinstance(found, Boosted)
    assert repr(found).startswith("<Boosted: 6 trees, training error")
    left, right = found.plot(data, test=test)
    assert [line.get_label() for line in left.get_lines()] == [
        "training error",
        "test error",
        "bound on the training error",
    ]
    assert left.get_lines()[0].get_ydata() == pytest.approx(found.training_errors)
    assert np.sort(found.margins(data)) == pytest.approx(right.get_lines()[1].get_xdata())
    _, axes = pyplot.subplots(1, 2)
    assert found.plot(axes=axes)[0] is axes[0]
    pyplot.close("all")


# ---- numbers ---------------------------------------------------------------------------------------


def numbers_of(seed: int, n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    x = draw.uniform(size=(n, 3))
    return x, np.sin(6 * x[:, 0]) + x[:, 1] ** 2 + 0.1 * draw.normal(size=n)


def weighted_median(answers: np.ndarray, votes: np.ndarray) -> float:
    total, reached = sum(votes), 0.0
    for answer, vote in sorted(zip(answers.tolist(), votes.tolist(), strict=True)):
        reached += vote
        if reached >= total / 2:
            return float(answer)
    raise AssertionError


def naive_r2(
    x: np.ndarray, y: np.ndarray, loss: str, rounds: int, rate: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Drucker's algorithm on weighted rows, with trees of scikit-learn: errors, votes, answers of trees."""
    weight = np.full(len(y), 1 / len(y))
    errors, votes, answers = [], [], []
    for _ in range(rounds):
        said = DecisionTreeRegressor(max_depth=2).fit(x, y, sample_weight=weight).predict(x)
        d = np.abs(said - y) / np.abs(said - y).max()
        lost = {"linear": d, "square": d * d, "exponential": 1 - np.exp(-d)}[loss]
        mean = float(weight @ lost)
        if mean >= 0.5:
            break
        beta = mean / (1 - mean)
        weight = weight * beta ** (rate * (1 - lost))
        weight = weight / weight.sum()
        errors.append(mean)
        votes.append(rate * math.log(1 / beta))
        answers.append(said)
    return np.array(errors), np.array(votes), np.array(answers)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_numbers_against_a_naive_program(loss: str) -> None:
    for seed, rate in ((0, 1.0), (1, 0.4)):
        x, y = numbers_of(seed)
        x = x.astype(np.float32).astype(float)  # scikit-learn's trees see no more
        errors, votes, answers = naive_r2(x, y, loss, 10, rate)
        data = encode(x, y)
        found = boost_numbers(data, n_estimators=10, loss=loss, learning_rate=rate, max_depth=2)  # type: ignore[arg-type]
        assert found.errors == pytest.approx(errors)
        assert found.votes == pytest.approx(votes)
        assert found.answers(data) == pytest.approx(answers.T)
        for stage, said in enumerate(found.staged_predict(data), start=1):
            expected = [weighted_median(answers[:stage, i], votes[:stage]) for i in range(len(y))]
            assert said == pytest.approx(expected)
        assert np.array_equal(said, found.predict(data))
        assert found.staged_errors(data)[-1] == pytest.approx(np.mean((said - y) ** 2))


def test_drawn_rows() -> None:
    """By drawing, a tree without limits still misses the rows that it has not seen; seeds decide."""
    x, y = numbers_of(2)
    data = encode(x, y)
    found = boost_numbers(data, n_estimators=5, resample=True, random_state=3, max_depth=None)
    assert len(found.trees) == 5
    assert (found.errors > 0).all()
    again = boost_numbers(data, n_estimators=3, resample=True, random_state=3, max_depth=None)
    assert again.trees == found.trees[:3]
    assert (
        boost_numbers(data, n_estimators=3, resample=True, random_state=4, max_depth=None).trees
        != again.trees
    )
    assert [int(tree.weight[0]) for tree in found.trees] == [len(y)] * 5


def test_numbers_end_early() -> None:
    x, y = numbers_of(3)
    whole = boost_numbers(encode(x, y), max_depth=None)
    assert whole.votes.tolist() == [1.0]
    assert whole.predict(x) == pytest.approx(y)
    later = boost_numbers(encode(x, y), grower=grower(1, 1, None))
    assert len(later.trees) == 3
    assert later.votes[2] > later.votes[:2].sum()
    assert later.predict(x) == pytest.approx(y)
    even = encode([[0.0]] * 4, [0.0, 1.0, 0.0, 1.0])  # every row is missed by as much: a loss of 1
    alone = boost_numbers(even)
    assert alone.votes.tolist() == [1.0]
    assert alone.predict([[0.0]]).tolist() == [0.5]
    assert boost_numbers(encode([[1.0], [2.0]], [3.0, 3.0])).predict([[5.0]]).tolist() == [3.0]


def test_numbers_with_weights_and_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = numbers_of(4)
    times = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = boost_numbers(encode(x, y, weight=times.astype(float)), n_estimators=6)
    repeated = boost_numbers(encode(np.repeat(x, times, axis=0), np.repeat(y, times)), n_estimators=6)
    assert weighted.votes == pytest.approx(repeated.votes)
    assert weighted.predict(x) == pytest.approx(repeated.predict(x))
    with pytest.raises(ValueError, match="loss is 'cubic'"):
        boost_numbers(encode(x, y), loss="cubic")  # type: ignore[arg-type]
    from treewright.ensembles import adaboost_r2

    whole = weighted.predict(x)
    monkeypatch.setattr(adaboost_r2, "_MOST_NUMBERS", 50)  # a few rows at a time
    assert np.array_equal(weighted.predict(x), whole)
