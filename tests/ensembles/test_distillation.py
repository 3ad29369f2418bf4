"""Distilling: what the teacher is asked, what is made of its answers, and what is said of the tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import betaincinv

from treewright import Distillation, Tree, distill, distillation, encode, grow
from treewright.datasets import load_spam
from treewright.encoding.synthetic_rows import RowSynthesizer
from treewright.ensembles.distillation.students import mixed_columns, own_cells, random_cells, with_answers
from treewright.parameters import FeatureCosts

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(400, 3))
TRUTH = np.where(TABLE[:, 0] + TABLE[:, 1] > 0, "up", "down")
OTHERS = RNG.normal(size=(300, 3))
OTHERS_TRUTH = np.where(OTHERS[:, 0] + OTHERS[:, 1] > 0, "up", "down")


def sigmoid(table: NDArray[np.float64]) -> NDArray[np.float64]:
    up = 1 / (1 + np.exp(-3 * (table[:, 0] + table[:, 1])))
    return np.stack([1 - up, up], axis=1)


class Soft:
    """A teacher with shares."""

    classes_ = np.array(["down", "up"])

    def predict_proba(self, table: Any) -> NDArray[np.float64]:
        return sigmoid(np.asarray(table))

    def predict(self, table: Any) -> NDArray[Any]:
        return self.classes_[self.predict_proba(table).argmax(axis=1)]


class Hard:
    def predict(self, table: Any) -> NDArray[Any]:
        return Soft().predict(table)


class Numbers:
    def predict(self, table: Any) -> NDArray[np.float64]:
        table = np.asarray(table)
        return np.asarray(table[:, 0] ** 2 + table[:, 1])


def explained(truth: NDArray[np.float64], said: NDArray[np.float64]) -> float:
    """R²."""
    return float(1 - ((truth - said) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())


# ---- the tree -------------------------------------------------------------------------------------


def test_the_leaves_tell_the_teachers_mean_share() -> None:
    """Without drawn rows: the mean over the rows of a leaf, and rows and weights are the data's."""
    tree = distill(Soft(), (TABLE, TRUTH), n_synthetic=0, max_leaf_nodes=6)
    tree.check()
    assert tree.n_leaves <= 6
    assert (tree.rows[0], tree.weight[0]) == (400, pytest.approx(400))
    leaf = tree.apply(encode(TABLE, schema=tree.schema))
    for each in np.unique(leaf):
        inside = leaf == each
        assert tree.rows[each] == inside.sum()
        assert tree.proportions[0][each] == pytest.approx(sigmoid(TABLE[inside]).mean(axis=0))


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_soft_shares_split_like_many_copies(criterion: str) -> None:
    """A row that is there with weight .3 and .7 is three rows of one class and seven of the other."""
    shares = np.round(sigmoid(TABLE[:60]), 1)
    rows = encode(TABLE[:60], TRUTH[:60])
    soft = with_answers(rows.schema, rows.columns, shares, np.ones(60))
    copies = np.rint(10 * shares).astype(int)
    table = np.repeat(TABLE[:60], 10, axis=0)
    names = np.array(["down", "up"])
    target = np.concatenate([np.repeat(names, both) for both in copies])
    one = grow(soft, criterion=criterion, max_leaf_nodes=8)
    two = grow(encode(table, target), criterion=criterion, max_leaf_nodes=8)
    assert one.feature.tolist() == two.feature.tolist()
    assert one.threshold == pytest.approx(two.threshold, nan_ok=True)


def test_of_all_prunings_the_most_faithful_is_taken() -> None:
    """No other pruning of the large tree with as few leaves agrees with the teacher on more rows."""
    teacher = Hard()
    tree = distill(teacher, (TABLE, TRUTH), n_synthetic=0, max_leaf_nodes=4)
    answers = teacher.predict(TABLE)
    large = grow(encode(TABLE, answers), max_leaf_nodes=16)
    best = max((pruning.predict(TABLE) == answers).mean() for pruning in prunings(large, 4))
    assert (tree.predict(TABLE) == answers).mean() == pytest.approx(best)


def prunings(tree: Tree, most: int) -> list[Tree]:
    """All prunings with at most so many leaves, by brute force."""

    def cuts(node: int, budget: int) -> list[list[int]]:
        found = [[node]]
        if budget > 1 and not tree.is_leaf[node]:
            for left in cuts(int(tree.left[node]), budget - 1):
                found += [left + right for right in cuts(int(tree.right[node]), budget - len(left))]
        return found

    return [tree.collapse(leaves) for leaves in cuts(0, most)]


@pytest.mark.slow
def test_drawn_rows_tell_what_few_rows_cannot() -> None:
    said = Soft().predict(OTHERS)
    gains = []
    for begin in range(0, 400, 40):
        few = TABLE[begin : begin + 40]
        plain, taught = (distill(Soft(), few, n_synthetic=n, max_leaf_nodes=12) for n in (0, 3000))
        gains.append((taught.predict(OTHERS) == said).mean() - (plain.predict(OTHERS) == said).mean())
    assert np.mean(gains) > 0.01


@pytest.mark.slow
def test_a_forest_on_real_data() -> None:
    """At equal size the distilled tree agrees with the forest on more new rows than one grown on the data."""
    from sklearn.ensemble import RandomForestClassifier

    spam = load_spam()
    train, test = spam.data[~spam.is_test], spam.data[spam.is_test]
    target = spam.target[~spam.is_test]
    forest = RandomForestClassifier(30, random_state=0).fit(train, target)
    taught, grown = distill(forest, train, max_leaf_nodes=12), grow(encode(train, target), max_leaf_nodes=12)
    said = forest.predict(test)
    assert (taught.predict(test) == said).mean() > (grown.predict(test) == said).mean()


def test_numbers() -> None:
    tree = distill(Numbers(), (TABLE, Numbers().predict(TABLE)), max_leaf_nodes=20)
    tree.check()
    assert not tree.schema.predicts_classes
    said = Numbers().predict(OTHERS)
    assert explained(said, tree.predict(OTHERS)) > 0.8
    plain = distill(Numbers(), TABLE, n_synthetic=0, max_leaf_nodes=5)  # no target: floats are numbers
    leaf = plain.apply(encode(TABLE, schema=plain.schema))
    for each in np.unique(leaf):
        own = Numbers().predict(TABLE[leaf == each])
        assert plain.value[each, 0] == pytest.approx(own.mean())
        assert plain.loss[each] == pytest.approx(((own - own.mean()) ** 2).sum())


def test_leaves_by_the_truth() -> None:
    truth = np.where(RNG.random(400) < 0.2, TRUTH[::-1], TRUTH)
    by_teacher = distill(Soft(), (TABLE, truth))
    by_truth = distill(Soft(), (TABLE, truth), restate="truth")
    by_truth.check()
    assert by_teacher.feature.tolist() == by_truth.feature.tolist()
    data = encode(TABLE, truth, schema=by_truth.schema)
    assert by_truth.statistic == pytest.approx(by_truth.statistic_of(data))
    assert not np.allclose(by_teacher.statistic, by_truth.statistic)
    numbers = distill(Numbers(), (TABLE, TABLE[:, 0]), restate="truth", max_leaf_nodes=4)
    leaf = numbers.apply(encode(TABLE, schema=numbers.schema))
    assert numbers.value[leaf[0], 0] == pytest.approx(TABLE[leaf == leaf[0], 0].mean())


def test_deterministic_by_seed_for_any_number_of_threads() -> None:
    one, two = (distill(Soft(), TABLE, random_state=3, n_jobs=n) for n in (1, 2))
    assert one == two
    assert one == distill(Soft(), TABLE, random_state=3)
    assert one != distill(Soft(), TABLE, random_state=4)


def test_weights_count_and_rows_without_weight_do_not() -> None:
    weight = np.where(np.arange(400) < 300, 2.0, 0.0)
    tree = distill(Soft(), (TABLE, TRUTH, weight), n_synthetic=0)
    assert tree.rows[0] == 300
    assert tree.weight[0] == pytest.approx(600)
    same = distill(Soft(), (TABLE[:300], TRUTH[:300]), n_synthetic=0)
    assert same.threshold == pytest.approx(tree.threshold, nan_ok=True)


def test_options_of_growing() -> None:
    assert distill(Soft(), TABLE, max_depth=1).height == 1
    one = distill(Soft(), TABLE, feature_costs=FeatureCosts(max_used=1))
    assert len(set(one.feature[~one.is_leaf].tolist())) == 1
    assert distill(Soft(), TABLE, criterion="entropy").criterion == "entropy"


# ---- drawing ---------------------------------------------------------------------------------------


def test_drawn_rows_keep_to_the_columns() -> None:
    """Values, categories and missing cells come from the rows, in their frequencies."""
    jobs = ["cook"] * 60 + ["clerk"] * 30 + [None] * 10
    data = encode({"age": [float(i % 7) for i in range(100)], "job": jobs}, ["a", "b"] * 50)
    source = random_cells(data, 20_000, np.random.default_rng(0))
    age, job = mixed_columns(data, source)
    assert set(age.tolist()) <= set(range(7))
    share = np.bincount(job + 1, minlength=3) / 20_000
    assert share == pytest.approx([0.1, 0.3, 0.6], abs=0.02)
    assert (source[:, 0] == source[:, 1]).mean() == pytest.approx(0.75**2, abs=0.03)  # both cells of one row


def test_drawing_goes_by_weights() -> None:
    data = encode(TABLE, TRUTH, weight=np.where(np.arange(400) == 7, 1.0, 0.0))
    assert (random_cells(data, 50, np.random.default_rng(0)) == 7).all()


# ---- tables of every form --------------------------------------------------------------------------


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": [31.0, np.nan, 52.0, 18.0],
            "job": pd.Categorical(["cook", None, "clerk", "cook"], ["clerk", "cook", "smith"]),
            "kids": pd.array([1, None, 3, 0], "Int64"),
            "born": pd.to_datetime(["2000-01-01", "1990-05-05", None, "2010-10-10"]),
            "y": ["a", "b", "a", "b"],
        },
        index=[9, 9, 3, 1],
    )


SOURCE = np.array([[0, 1, 2, 3], [2, 2, 2, 2], [3, 0, 1, 2]])


def test_pandas_stays_pandas() -> None:
    table = frame()
    made = RowSynthesizer(table, "y").rows(SOURCE)
    assert list(made.columns) == ["age", "job", "kids", "born"]
    assert (made.dtypes == table.dtypes[:4]).all()
    assert made["age"].tolist() == [31.0, 52.0, 18.0]
    assert made["job"].tolist()[1:] == ["clerk", "cook"]
    assert pd.isna(made["job"][0])
    assert made["kids"].tolist() == [3, 3, pd.NA]


def test_every_form_of_a_table() -> None:
    polars, arrow, sparse = (pytest.importorskip(name) for name in ("polars", "pyarrow", "scipy.sparse"))
    matrix = np.arange(12.0).reshape(4, 3)
    source = np.array([[0, 1, 2], [3, 3, 0]])
    want = [[0.0, 4.0, 8.0], [9.0, 10.0, 2.0]]
    columns = dict(zip("abc", matrix.T, strict=True))
    masked = np.ma.array(matrix, mask=matrix == 4.0)
    records = np.array([tuple(row) for row in matrix], [(name, float) for name in "abc"])
    forms: list[tuple[Any, Any]] = [
        (matrix, lambda made: made.tolist()),
        (matrix.astype(object), lambda made: made.tolist()),
        (records, lambda made: [list(row) for row in made.tolist()]),
        (polars.DataFrame(columns), lambda made: [list(row) for row in made.rows()]),
        (arrow.table(columns), lambda made: [list(row.values()) for row in made.to_pylist()]),
        (arrow.record_batch(columns), lambda made: [list(row.values()) for row in made.to_pylist()]),
        (sparse.csr_matrix(matrix), lambda made: made.toarray().tolist()),
        (sparse.csc_array(matrix), lambda made: made.toarray().tolist()),
        (columns, lambda made: np.stack(list(made.values()), axis=1).tolist()),
        (
            {k: list(v) for k, v in columns.items()},
            lambda made: [list(r) for r in zip(*made.values(), strict=True)],
        ),
        ({k: pd.Series(v) for k, v in columns.items()}, lambda made: pd.DataFrame(made).to_numpy().tolist()),
        ([list(row) for row in matrix], lambda made: [list(row) for row in made]),
        ([tuple(row) for row in matrix], lambda made: [list(row) for row in made]),
        (list(matrix), lambda made: [row.tolist() for row in made]),
        (
            [dict(zip("abc", row, strict=True)) for row in matrix],
            lambda made: [list(row.values()) for row in made],
        ),
    ]
    for table, listed in forms:
        made = RowSynthesizer(table).rows(source)
        assert type(made) is type(table), type(table)
        assert listed(made) == want, type(table)
    made = RowSynthesizer(masked).rows(source)
    assert made.mask.tolist() == [[False, True, False], [False, False, False]]
    assert RowSynthesizer(polars.DataFrame(columns).lazy()).rows(source).rows() == [
        tuple(row) for row in want
    ]


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.data())
def test_encoding_synthetic_rows_equals_synthesizing_encoded_rows(data: Any) -> None:
    """The teacher sees the same rows as the student."""
    table = frame().drop(columns="y")
    encoded = encode(table)
    n = data.draw(st.integers(1, 6))
    source = np.array(
        data.draw(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=n, max_size=n))
    )
    made = encode(RowSynthesizer(table).rows(source), schema=encoded.schema)
    for one, two in zip(made.columns, mixed_columns(encoded, source), strict=True):
        assert np.array_equal(one, two, equal_nan=one.dtype.kind == "f")


def test_a_dataset_is_asked_about_as_the_table_it_was() -> None:
    table = frame().drop(columns="y")
    data = encode(table)
    made = encode(RowSynthesizer(data).rows(own_cells(np.arange(4), 4)), schema=data.schema)
    for one, two in zip(made.columns, data.columns, strict=True):
        assert np.array_equal(one, two, equal_nan=one.dtype.kind == "f")


def test_the_teacher_is_asked_in_the_form_of_the_data() -> None:
    """Also about drawn rows, without the target's column, in portions."""
    table = pd.concat([frame()] * 10, ignore_index=True)
    dtypes = table.dtypes[:4]
    sizes: list[int] = []

    def teacher(asked: Any) -> Any:
        assert isinstance(asked, pd.DataFrame)
        assert (asked.dtypes == dtypes).all()
        sizes.append(len(asked))
        return np.where(asked["age"].fillna(0) > 20, "a", "b")

    tree = distill(teacher, (table, "y"), n_synthetic=10_000)
    assert sizes == [40, 8192, 1808]
    assert [column.kind for column in tree.schema.columns] == ["number", "category", "number", "time"]
    assert tree.predict(table.drop(columns="y")).tolist() == teacher(table.drop(columns="y")).tolist()


@pytest.mark.slow
def test_teachers_of_all_kinds() -> None:
    """Trees of the house, scikit-learn's estimators, functions of labels and of shares."""
    from sklearn.ensemble import GradientBoostingRegressor
    from sklearn.svm import SVC

    own = grow(encode(TABLE, TRUTH), max_leaf_nodes=30)
    teachers = [own, SVC().fit(TABLE, TRUTH), Hard(), Soft(), Soft().predict, sigmoid]
    for teacher in teachers:
        tree = distill(teacher, (TABLE, TRUTH), n_synthetic=500, max_leaf_nodes=8)
        assert tree.schema.targets[0].classes == ("down", "up")
        assert (tree.predict(TABLE) == TRUTH).mean() > 0.85
    named = distill(sigmoid, TABLE, classes=["low", "high"])
    assert set(named.predict(TABLE).tolist()) == {"low", "high"}
    labels = distill(Hard(), TABLE)  # the classes are those that it answers
    assert labels.schema.targets[0].classes == ("down", "up")
    booster = GradientBoostingRegressor(n_estimators=5).fit(TABLE, TABLE[:, 0])
    assert not distill(booster, TABLE).schema.predicts_classes


def test_a_teacher_that_knows_fewer_classes() -> None:
    truth = np.append(TRUTH[1:], "sideways")
    tree = distill(Soft(), (TABLE, truth))
    assert tree.schema.targets[0].classes == ("down", "sideways", "up")
    assert tree.proportions[0][:, 1].max() == 0


# ---- bad teachers, bad input -----------------------------------------------------------------------


def fails(table: Any) -> Any:
    raise KeyError("no such column")


@pytest.mark.parametrize(
    ("teacher", "error", "message"),
    [
        (lambda table: ["up"] * 3, ValueError, r"returned an array of the shape \(3,\) for 400 rows"),
        (lambda table: "up", ValueError, r"shape \(\)"),
        (lambda table: np.zeros((len(table), 2, 2)), ValueError, "expected"),
        (lambda table: np.full((len(table), 2), np.nan), ValueError, r"returned \[nan nan\] for a row"),
        (lambda table: np.full((len(table), 2), 0.3), ValueError, "sum to 1"),
        (lambda table: np.tile([1.5, -0.5], (len(table), 1)), ValueError, "at least 0"),
        (
            lambda table: np.full((len(table), 3), 1 / 3),
            ValueError,
            "3 probabilities a row; there are 2",
        ),
        (lambda table: ["left"] * len(table), ValueError, "knows the class 'left', which the data does not"),
        (fails, RuntimeError, "fails failed on a ndarray of 400 rows and 3 columns: KeyError"),
        (3, TypeError, "expected a model with predict"),
        (Soft, TypeError, "the class Soft; give a fitted model"),
    ],
)
def test_bad_teachers(teacher: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        distill(teacher, (TABLE, TRUTH))


def test_bad_teachers_of_numbers() -> None:
    for answer, message in [
        (lambda table: np.full(len(table), np.inf), "returned inf for a row; expected finite numbers"),
        (lambda table: ["x"] * len(table), "expected a number"),
        (lambda table: np.zeros((len(table), 2)), "2 numbers a row"),
    ]:
        with pytest.raises(ValueError, match=message):
            distill(answer, (TABLE, TABLE[:, 0]))
    with pytest.raises(ValueError, match="does not say of which classes"):
        distill(sigmoid, TABLE)


def test_a_teacher_that_knows_other_classes() -> None:
    with pytest.raises(ValueError, match="knows the class 'up', which the data does not"):
        distill(Soft(), (TABLE, np.where(TRUTH == "up", "rise", "down")))


def test_what_interrupts_the_teacher_passes() -> None:
    def teacher(table: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        distill(teacher, TABLE)


@pytest.mark.parametrize(
    ("data", "options", "error", "message"),
    [
        (TABLE[:0], {}, ValueError, "0 sample"),
        (TABLE[:, 0], {}, ValueError, "one dimension"),
        ((TABLE, TRUTH[:5]), {}, ValueError, "5"),
        ((TABLE, TRUTH, -np.ones(400)), {}, ValueError, "weight"),
        ((TABLE, TRUTH, np.zeros(400)), {}, ValueError, "weight of every row is zero"),
        ((TABLE, np.stack([TRUTH, TRUTH], axis=1)), {}, ValueError, "several targets"),
        (TABLE, {"max_leaf_nodes": 0}, ValueError, "max_leaf_nodes is 0"),
        (TABLE, {"n_synthetic": -1}, ValueError, "n_synthetic is -1"),
        (TABLE, {"n_synthetic": 1.5}, ValueError, "n_synthetic is 1.5"),
        (TABLE, {"random_state": -1}, ValueError, "random_state is -1"),
        (TABLE, {"restate": "both"}, ValueError, "'teacher' or 'truth'"),
        (TABLE, {"restate": "truth"}, ValueError, "needs the data's targets"),
        (TABLE, {"leaf": "linear"}, TypeError, "no parameter 'leaf'; the parameters are model"),
        (TABLE, {"missing": "fractional"}, ValueError, "one leaf"),
        (TABLE, {"criterion": "ginni"}, ValueError, "ginni"),
    ],
)
def test_bad_input(data: Any, options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        distill(Soft(), data, **options)


def test_one_row_and_one_answer() -> None:
    assert distill(Soft(), TABLE[:1]).n_leaves == 1
    same = distill(lambda table: ["up"] * len(table), TABLE)
    assert same.n_leaves == 1
    assert same.predict(TABLE[:2]).tolist() == ["up", "up"]
    assert distill(Soft(), TABLE, max_leaf_nodes=1).n_leaves == 1


# ---- figures ---------------------------------------------------------------------------------------


def test_figures_are_counted_on_rows_of_their_own() -> None:
    made = distillation(Soft(), (TABLE, TRUTH), validation=(OTHERS, OTHERS_TRUTH), max_leaf_nodes=6)
    said, own = Soft().predict(OTHERS), made.tree.predict(OTHERS)
    alike = int((said == own).sum())
    assert made.tree == distill(Soft(), (TABLE, TRUTH), max_leaf_nodes=6)
    assert made.fidelity.value == alike / 300
    assert made.fidelity.low == pytest.approx(betaincinv(alike, 301 - alike, 0.025))  # Clopper and Pearson
    assert made.fidelity.high == pytest.approx(betaincinv(alike + 1, 300 - alike, 0.975))
    assert made.teacher_score == 1.0
    assert made.student_score == (own == OTHERS_TRUTH).mean()
    assert made.certificate is not None
    assert made.certificate.error == pytest.approx(1 - made.student_score)
    assert made.certificate.check()
    text = str(made)
    assert "distilled from Soft" in text
    assert f"{100 * alike / 300:.1f} % of 300 rows" in text
    assert "with 95 % confidence the true error is below" in text


def test_figures_of_numbers() -> None:
    truth = Numbers().predict(OTHERS) + RNG.normal(size=300)
    made = distillation(Numbers(), TABLE, validation=(OTHERS, truth), max_leaf_nodes=12)
    said, own = Numbers().predict(OTHERS), made.tree.predict(OTHERS)
    assert made.fidelity.what == "R²"
    assert made.fidelity.value == pytest.approx(explained(said, own))
    assert made.fidelity.low < made.fidelity.value < made.fidelity.high
    assert made.student_score == pytest.approx(explained(truth, own))
    assert made.certificate is not None
    assert not made.certificate.guarantee
    assert "of the variance of its teacher's predictions" in str(made)


def test_rows_set_aside_have_no_part_and_give_no_certificate() -> None:
    asked: list[int] = []

    def teacher(table: Any) -> Any:
        asked.append(len(table))
        return Soft().predict(table)

    made = distillation(teacher, (TABLE, TRUTH), n_synthetic=100)
    assert made.set_aside
    assert made.certificate is None
    assert made.fidelity.rows == 100
    assert made.tree.rows[0] == 300
    assert made.teacher_score is not None
    assert "set aside" in str(made)
    assert distillation(teacher, TABLE).teacher_score is None


def test_validation_rows_without_truth() -> None:
    made = distillation(Soft(), TABLE, validation=OTHERS)
    assert (made.teacher_score, made.student_score, made.certificate) == (None, None, None)
    assert made.fidelity.rows == 300


@pytest.mark.parametrize(
    ("validation", "options", "message"),
    [
        (OTHERS[:, :2], {}, "validation: .*2"),
        ((OTHERS, np.full(300, "sideways")), {}, "validation: .*sideways"),
        ((OTHERS, OTHERS_TRUTH, np.arange(300.0)), {}, "different weights"),
        (None, {"delta": 0}, "delta is 0"),
    ],
)
def test_bad_validation(validation: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        distillation(Soft(), (TABLE, TRUTH), validation=validation, **options)


@pytest.mark.parametrize("truth", [True, False])
def test_rows_of_the_data_judge_nothing(truth: bool) -> None:
    """In any order, as another kind of table, or a few of them; one new row is enough to be judged by."""
    table, target = TABLE.copy(), TRUTH.copy()
    table[:9, 2] = np.nan
    for rows in (np.arange(400), RNG.permutation(400), np.arange(5)):
        given = (table[rows].tolist(), target[rows]) if truth else table[rows].tolist()
        with pytest.raises(ValueError, match=f"all {len(rows)} rows of validation occur in data; give rows"):
            distillation(Soft(), (table, target), validation=given, n_synthetic=0)
    table, target = TABLE, TRUTH
    mixed = np.concatenate([table[:50], OTHERS[:1]])
    assert distillation(Soft(), (table, target), validation=mixed, n_synthetic=0).fidelity.rows == 51


def test_a_table_of_few_values_has_no_other_rows() -> None:
    """All validation rows occur in the data, and are others nevertheless; but not if they are all of them."""
    rng = np.random.default_rng(1)
    coins, others = (rng.integers(0, 2, (n, 2)).astype(float) for n in (200, 80))
    made = distillation(Soft(), coins, validation=others, n_synthetic=0)
    assert made.fidelity.rows == 80
    with pytest.raises(ValueError, match="all 200 rows of validation occur in data"):
        distillation(Soft(), coins, validation=coins[::-1], n_synthetic=0)


def test_too_few_rows_to_set_aside() -> None:
    with pytest.raises(ValueError, match="too few to set some aside; give validation="):
        distillation(Soft(), TABLE[:5])


def test_distillation_is_a_value() -> None:
    import pickle

    made = distillation(Soft(), (TABLE, TRUTH), validation=(OTHERS, OTHERS_TRUTH))
    again = pickle.loads(pickle.dumps(made))
    assert isinstance(again, Distillation)
    assert again.tree == made.tree
    assert str(again) == str(made)
