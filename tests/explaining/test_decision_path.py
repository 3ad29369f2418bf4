"""Decisions of one row: every way to give it, the way it goes, how sure the answer is, and the telling."""

from __future__ import annotations

import json
from collections import namedtuple
from datetime import datetime
from html.parser import HTMLParser
from math import inf, nan
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, t

from tests.exporting.test_text import HOSTILE
from tests.strategies import tables
from tests.tree.test_deep_trees import DEPTH, chain, schema_of
from treewright import (
    Among,
    Below,
    Branch,
    Column,
    DecisionTreeClassifier,
    Leaf,
    Schema,
    Target,
    Tree,
    encode,
    explain,
    grow,
)
from treewright.explaining.decision_path import mean_held_out, median_held_out, share_held_out
from treewright.explaining.row import one_row

TABLE = {
    "age": [25.0, 47.0, nan, 33.0, 61.0, 52.0, 38.0, 29.0],
    "job": ["cook", "clerk", "smith", "cook", "clerk", "judge", "smith", "cook"],
    "since": [datetime(2020 + i, 1 + i, 3) for i in range(8)],
}
LOAN = ["no", "yes", "yes", "no", "yes", "yes", "no", "no"]
SCHEMA = Schema(
    (Column("age"), Column("job", "category", ("clerk", "cook", "judge", "smith")), Column("since", "time")),
    (Target("loan", ("no", "yes")),),
)


def by_hand() -> Tree:
    """Tests of every kind, one under the other."""
    since = Branch(Below("since", 1.6e15), Leaf([1, 5]), Leaf([2, 2]), missing_left=False)
    job = Branch(Among("job", ("clerk", "judge")), since, Leaf([4, 0]))
    return Tree.write(SCHEMA, Branch(Below("age", 40.0), Leaf([6, 1]), job, missing_left=False))


def strict(value: Any) -> Any:
    """What comes back from JSON, which has no nan."""
    return json.loads(json.dumps(value, allow_nan=False))


# ---- the row ---------------------------------------------------------------------------------------


def rows_in_every_form() -> dict[str, Any]:
    row = {"age": 52.0, "job": "judge", "since": datetime(2025, 6, 3)}
    record = namedtuple("record", row)
    frame = pd.DataFrame([row])
    return {
        "dict": row,
        "dict of lists": {name: [value] for name, value in row.items()},
        "dict of arrays": {name: np.array([value]) for name, value in row.items()},
        "more than is needed": {**row, "id": 7, "loan": "yes"},
        "list": list(row.values()),
        "tuple": tuple(row.values()),
        "list of one list": [list(row.values())],
        "list of one dict": [row],
        "named tuple": record(**row),
        "array of objects": np.array(list(row.values()), object),
        "two-dimensional array": np.array([list(row.values())], object),
        "pandas": frame,
        "pandas, as rows go by": frame.iloc[0],
        "polars": pl.DataFrame([row]),
        "arrow": pa.Table.from_pylist([row]),
        "encoded": encode(frame, schema=SCHEMA),
    }


@pytest.mark.parametrize("form", rows_in_every_form())
def test_a_row_comes_in_any_form(form: str) -> None:
    decision = explain(by_hand(), rows_in_every_form()[form])
    assert decision.value == "no"
    assert [step.value_words for step in decision.steps] == ["52", "judge", "2025-06-03"]


def test_only_tested_columns_are_needed() -> None:
    tree = grow(encode({"x": [1.0, 2.0], "z": [1.0, 1.0]}, ["a", "b"]))
    assert explain(tree, {"x": 2.0}).value == "b"
    with pytest.raises(ValueError, match=r"the row lacks the column 'x', which the tree tests; it has \{z\}"):
        explain(tree, {"z": 2.0})
    close = Tree.write(
        Schema((Column("income"),), (Target("y", ("a", "b")),)),
        Branch(Below("income", 1.0), Leaf([1, 0]), Leaf([0, 1])),
    )
    with pytest.raises(
        ValueError, match="lacks the column 'income', which the tree tests; did you mean 'incom'"
    ):
        explain(close, {"incom": 2.0})


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([1.0], "the row has 1 values, but the tree has 3 columns; it lacks 'job'"),
        ([1.0, "cook", None, 4], "the row has 4 values, but the tree has 3 columns"),
        ({"age": [1.0, 2.0], "job": ["cook", "cook"], "since": [None, None]}, "there are 2 rows; one row"),
        ({"age": "old", "job": "cook", "since": None}, "column 'age' must hold numbers"),
        ({"age": 1.0, "job": "cook", "since": 4}, "column 'since' must hold times"),
        ({}, "no columns"),
        ([], "no rows"),
    ],
)
def test_rows_that_do_not_fit_are_refused(row: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        explain(by_hand(), row)


def test_rows_of_unnamed_columns_go_by_position() -> None:
    x = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 5.0]])
    tree = grow(encode(x, ["a", "b", "b"]))
    for row in (x[0], x[:1], [1.0, 5.0], {"x0": 1.0}, {"u": 1.0, "v": 5.0}, np.ma.masked_invalid(x[0])):
        assert explain(tree, row).value == "a"
    single = grow(encode(x.astype(np.float32) / 10, ["a", "b", "b"]))
    assert explain(single, x[0].astype(np.float32) / 10).steps[0].value_words == "0.1"


def test_what_is_no_model_or_row_is_refused() -> None:
    with pytest.raises(TypeError, match="a tree or a fitted model is wanted here, not a str"):
        explain("oak", {})
    with pytest.raises(TypeError, match="not fitted yet"):
        explain(DecisionTreeClassifier(), {})
    with pytest.raises(TypeError, match="the table is a int"):
        explain(by_hand(), 7)
    with pytest.raises(ValueError, match="delta is 2"):
        explain(by_hand(), TABLE, delta=2)
    with pytest.raises(TypeError, match=r"test must be a Dataset, as encode.* or a tuple .*, not dict"):
        explain(by_hand(), rows_in_every_form()["dict"], test=TABLE)
    with pytest.raises(ValueError, match="test: the table lacks the columns 'since'"):
        explain(by_hand(), rows_in_every_form()["dict"], test=({"age": [1.0], "job": ["cook"]}, ["no"]))


# ---- the way ---------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_steps_and_shares_are_those_of_the_training_rows(data: Any) -> None:
    """Naively: send the table down with the row, and count who is still there after each test."""
    table = data.draw(tables(data.draw(st.sampled_from(["gini", "squared_error"]))))
    criterion = "gini" if table.targets[0].dtype.kind == "i" else "squared_error"
    tree, rows = table.grow(criterion), table.dataset()
    number = data.draw(st.integers(0, table.n_rows - 1))
    decision = explain(tree, rows.take([number]))
    weight, here = rows.row_weights, rows.row_weights > 0
    for place, step in enumerate(decision.steps):
        assert tree.feature[step.node] == tree.schema.position(step.column)
        check_amounts(decision, step.before, tree, rows, weight * here)
        child = decision.steps[place + 1].node if place + 1 < len(decision.steps) else decision.leaf
        assert child in (tree.left[step.node], tree.right[step.node])
        leaf = tree.apply(rows)
        here = (leaf >= child) & (leaf < tree.end[child]) & (weight > 0)
        assert here[number] or weight[number] == 0
        assert step.rows == here.sum()
        check_amounts(decision, step.after, tree, rows, weight * here)
    assert decision.value == one_answer(tree, rows.take([number]))
    strict(decision.to_dict())
    assert str(decision)


def check_amounts(decision: Any, amounts: tuple[float, ...], tree: Tree, rows: Any, weight: Any) -> None:
    for i, (answer, amount) in enumerate(zip(decision.answers, amounts, strict=True)):
        if tree.schema.predicts_classes:
            code = tree.schema.targets[i].classes.index(answer.value)
            expected = weight[rows.targets[i] == code].sum() / weight.sum()
        else:
            expected = np.average(rows.targets[i], weights=weight)
        np.testing.assert_allclose(amount, expected, rtol=1e-9, atol=1e-12)


def one_answer(tree: Tree, rows: Any) -> Any:
    leaf = int(tree.apply(rows)[0])
    if tree.schema.predicts_classes:
        values = tuple(
            target.classes[code] for target, code in zip(tree.schema.targets, tree.label[leaf], strict=True)
        )
    else:
        values = tuple(tree.value[leaf].tolist())
    return values[0] if len(values) == 1 else values


def test_missing_and_new_values_are_told_as_such() -> None:
    decision = explain(by_hand(), {"age": None, "job": "pilot", "since": None})
    assert [step.value for step in decision.steps] == [None, "pilot", None]
    assert [step.known for step in decision.steps] == [False, False, False]
    told = str(decision)
    assert "age is missing                   goes with > 40 " in told
    assert "job is pilot, never seen before  goes with in {clerk, judge}" in told
    assert "since is missing                 > 2020-09-13 12:26:40 or missing" in told


@pytest.mark.slow
def test_a_deep_way_is_told_at_both_ends() -> None:
    tree = Tree.write(schema_of(numbers=False), chain(numbers=False, to_the_left=False))
    decision = explain(tree, {"x": DEPTH + 1.0})
    assert len(decision.steps) == DEPTH
    told = str(decision)
    assert f"… {DEPTH - 40:,} more steps …" in told
    assert f"{DEPTH}.  x is 100001" in told
    assert len(told.splitlines()) < 60


def test_very_many_classes() -> None:
    n = 900
    data = encode({"x": np.arange(n) // 2.0, "z": np.arange(n) % 7.0}, np.arange(n) % 300)
    tree = grow(data, max_leaf_nodes=40)
    decision = explain(tree, {"x": 200.0, "z": 3.0})
    shares = tree.predict_proba({"x": [200.0], "z": [3.0]})[0]
    assert decision.answers[0].share == decision.steps[-1].after[0] == shares.max()
    assert decision.start[0] == pytest.approx(1 / 300)
    assert len(decision.answers[0].shares) == 5


# ---- how sure --------------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [0.05, 0.3, 1e-6])
def test_the_interval_of_a_share_is_clopper_and_pearsons(delta: float) -> None:
    for n, k in [(1, 0), (1, 1), (7, 3), (50, 50), (400, 17)]:
        ours, peer = share_held_out(k, n, delta), binomtest(k, n).proportion_ci(1 - delta, "exact")
        np.testing.assert_allclose([ours.lower, ours.upper], peer, atol=1e-9)
    assert (share_held_out(0, 0, delta).lower, share_held_out(0, 0, delta).upper) == (0.0, 1.0)


def test_the_interval_of_a_mean_is_students() -> None:
    y = np.random.default_rng(0).normal(3.0, 2.0, 30)
    ours = mean_held_out(y, 0.1)
    peer = t.interval(0.9, 29, y.mean(), y.std(ddof=1) / np.sqrt(30))
    np.testing.assert_allclose([ours.lower, ours.upper], peer)
    assert mean_held_out(y[:1], 0.1).lower is None
    assert mean_held_out(y[:0], 0.1).value is None


@pytest.mark.parametrize("n", [0, 1, 5, 6, 20, 21, 100])
def test_the_interval_of_a_median_misses_it_rarely_enough_and_no_less_than_needed(n: int) -> None:
    y = np.arange(1.0, n + 1)
    ours = median_held_out(y[::-1], 0.05)
    missed = [2 * binom.cdf(k - 1, n, 0.5) for k in range(1, n // 2 + 1)]  # of the k-th from both ends
    allowed = [k for k, chance in enumerate(missed, start=1) if chance <= 0.05]
    if not allowed:
        assert ours.lower is None
    else:
        assert (ours.lower, ours.upper) == (max(allowed), n + 1 - max(allowed))


def held_out(n: int = 200) -> Any:
    rng = np.random.default_rng(1)
    table = {
        "age": rng.uniform(20, 70, n),
        "job": rng.choice(["clerk", "cook", "judge", "smith"], n),
        "since": rng.integers(1_500_000_000, 1_700_000_000, n).astype("datetime64[s]"),
    }
    return table, rng.choice(["no", "yes"], n)


def test_held_out_rows_of_the_same_leaf_tell_how_sure_it_is() -> None:
    table, loan = held_out()
    decision = explain(by_hand(), {"age": 20.0, "job": None, "since": None}, test=(table, loan))
    here = table["age"] <= 40
    found = decision.answers[0].held_out
    assert found is not None
    assert (found.rows, found.value) == (here.sum(), (loan[here] == "no").mean())
    peer = binomtest(int((loan[here] == "no").sum()), int(here.sum())).proportion_ci(0.95, "exact")
    np.testing.assert_allclose([found.lower, found.upper], peer)
    low, high = np.floor(1000 * peer.low) / 10, np.ceil(1000 * peer.high) / 10  # rounded outwards
    assert (
        f"Of the {here.sum()} held-out rows in this leaf, {100 * found.value:.1f} % are no; "
        f"with 95 % confidence the true share is {low:.1f} to {high:.1f} %."
    ) in " ".join(str(decision).split())


def test_without_held_out_rows_the_share_is_marked_as_that_of_training_rows() -> None:
    decision = explain(by_hand(), {"age": 20.0, "job": None, "since": None})
    assert decision.answers[0].held_out is None
    assert "Of the 7 training rows in this leaf: no 85.7 %, yes 14.3 %." in str(decision)
    assert "The tree was fitted to these rows" in str(decision)


def test_training_rows_given_as_test_are_told_apart() -> None:
    data = encode(TABLE, LOAN)
    decision = explain(grow(data), {"age": 20.0, "job": "cook", "since": None}, test=data)
    assert decision.own_rows
    assert "they look like the training rows, so this proves nothing" in " ".join(str(decision).split())


def test_no_held_out_row_in_the_leaf_says_nothing() -> None:
    table, loan = held_out(1)
    table["age"][:] = 60.0
    decision = explain(by_hand(), {"age": 20.0, "job": None, "since": None}, test=(table, loan))
    assert "No held-out row is in this leaf" in str(decision)


def test_rows_of_different_weights_are_no_draws() -> None:
    table, loan = held_out(4)
    with pytest.raises(ValueError, match="the rows have different weights"):
        explain(by_hand(), rows_in_every_form()["dict"], test=(table, loan, [1, 2, 1, 1]))


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_numbers(criterion: str) -> None:
    rng = np.random.default_rng(2)
    x, noise = rng.uniform(0, 10, 300), rng.exponential(1.0, 300)
    y = np.where(x > 5, 20.0, 10.0) + noise
    data = encode({"x": x[:200]}, y[:200])
    tree = grow(data, criterion=criterion, max_leaf_nodes=2)
    decision = explain(tree, {"x": 7.0}, test=({"x": x[200:]}, y[200:]))
    (answer,), (step,) = decision.answers, decision.steps
    own = y[:200][x[:200] > 5]
    assert answer.share is None
    middle = np.median if criterion == "absolute_error" else np.mean
    other = y[200:][x[200:] > 5]
    assert answer.held_out is not None
    assert answer.held_out.value == pytest.approx(middle(other))
    assert answer.held_out.what == ("median" if criterion == "absolute_error" else "mean")
    assert answer.value == step.after[0] == pytest.approx(np.mean(own), rel=0.05)
    spread = {"squared_error": own.std(), "absolute_error": np.abs(own - answer.value).mean()}
    assert answer.deviation == (pytest.approx(spread[criterion]) if criterion in spread else None)
    told = str(decision)
    assert f"Answer: {answer.value:.6g}" in told
    strict(decision.to_dict())


def test_costs_decide() -> None:
    tree = Tree.write(SCHEMA, Branch(Below("age", 40.0), Leaf([6, 4]), Leaf([0, 9])))
    dear = tree.with_costs({"yes": {"no": 5.0}})
    row = {"age": 20.0}
    assert (explain(tree, row).value, explain(dear, row).value) == ("no", "yes")
    answer = explain(dear, row).answers[0]
    assert answer.share == 0.4
    assert answer.costs == (("yes", pytest.approx(0.6)), ("no", pytest.approx(2.0)))
    told = str(explain(dear, row))
    assert "The answer with the lowest expected cost is yes: 0.6 per row, against 2 for no." in told
    labels = Schema(SCHEMA.columns, (Target("y", (0.5, inf)),))
    endless = Tree.write(labels, Branch(Below("age", 40.0), Leaf([6, 4]), Leaf([0, 9])))
    strict(explain(endless.with_costs([[0, 1], [5, 0]]), row).to_dict())  # JSON has no infinite labels


def test_several_targets() -> None:
    classes = encode({"x": [1.0, 2.0, 3.0]}, {"u": ["a", "b", "b"], "v": ["s", "s", "t"]})
    decision = explain(grow(classes), {"x": 3.0})
    assert decision.value == ("b", "t")
    assert len(decision.start) == 2
    assert "Answer: u b, v t" in str(decision)
    assert "u: Of the 1 training row in this leaf: b 100 %." in str(decision)
    assert "v: Of the 1 training row in this leaf: t 100 %." in str(decision)
    numbers = encode({"x": [1.0, 2.0, 3.0]}, np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 9.0]]))
    assert explain(grow(numbers), {"x": 3.0}).value == (3.0, 9.0)
    strict(explain(grow(numbers), {"x": 3.0}, test=numbers).to_dict())


def test_estimators_explain_themselves() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0] * 5, "c": pd.Categorical(list("uvuv") * 5)})
    y = np.array([True, True, False, False] * 5)
    model = DecisionTreeClassifier().fit(frame, y)
    decision = explain(model, frame.iloc[3], test=(frame, y), data=(frame, y))
    assert decision.value is False
    assert decision.answers[0].held_out is not None
    strict(decision.to_dict())


# ---- the telling -----------------------------------------------------------------------------------


def test_the_story() -> None:
    expected = """
Answer: no

                                                               no         rows
    all rows                                               61.9 %           21
1.  age is 52            > 40                              50.0 %  -11.9    14
2.  job is judge         in {clerk, judge}                 30.0 %  -20.0    10
3.  since is 2025-06-03  > 2020-09-13 12:26:40 or missing  50.0 %  +20.0     4

Of the 4 training rows in this leaf: no 50.0 %, yes 50.0 %.
The tree was fitted to these rows; pass held-out rows (test=) to measure its reliability.
"""
    told = str(explain(by_hand(), rows_in_every_form()["dict"]))
    assert told == expected.strip()


class Tags(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert {name for name, _ in attrs} <= {"style"}
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("name", [*HOSTILE, "<script>alert(1)</script>", "</td><img src=x onerror=alert(1)>"])
def test_names_are_data(name: str) -> None:
    categories = tuple(sorted({"plain", name or "other"}))
    classes = tuple(sorted({"a", name or "b"}))
    schema = Schema((Column(name, "category", categories),), (Target("y", classes),))
    tree = Tree.write(schema, Branch(Among(name, categories[:1]), Leaf([3, 1]), Leaf([1, 3])))
    rows = ({name: [*categories] * 2}, [*classes] * 2)
    decision = explain(tree, {name: "new " + name}, data=rows)
    assert all(line.isprintable() for line in str(decision).splitlines())
    assert len(str(decision).splitlines()) <= 9
    page = Tags()
    page.feed(decision._repr_html_())
    assert page.tags <= {"table", "thead", "tbody", "tr", "th", "td", "div"}


def test_cells_know_their_words() -> None:
    row = one_row(by_hand(), {"age": 31.5, "job": "cook", "since": datetime(2024, 2, 29, 12)})
    assert [row.cell(j).words for j in range(3)] == ["31.5", "cook", "2024-02-29 12:00:00"]
    assert [row.cell(j).value for j in range(3)] == [31.5, "cook", "2024-02-29 12:00:00"]
