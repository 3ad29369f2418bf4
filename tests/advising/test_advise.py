"""The adviser: each sentence where it belongs, and none on clean tables."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

import treewright
from treewright import Advice, AdviceWarning, advise, encode, grow, prune
from treewright.advising import CODES, Advices, by_severity, fit_advice
from treewright.advising.columns import column_advice
from treewright.advising.leaks import leak_advice
from treewright.advising.naming import cost_option, drop_options, listing
from treewright.advising.results import one_leaf, one_leaf_each, small_test
from treewright.advising.rows import duplicates_across, duplicates_within
from treewright.datasets import load_spam
from treewright.encoding.splits import split
from treewright.metrics import Metrics, metrics

N = 400
RANDOM = np.random.default_rng(11)
NOISE = RANDOM.normal(size=N)
YES = RANDOM.random(N) < 0.4
Y = np.where(YES, "yes", "no")


def codes(found: list[Advice]) -> list[str]:
    return [each.code for each in found]


def only(found: list[Advice], code: str) -> Advice:
    (advice,) = [each for each in found if each.code == code]
    return advice


# ---- clean tables ------------------------------------------------------------------------------------


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_diabetes])
def test_clean_tables_get_no_advice(load: Any) -> None:
    table = load()
    assert advise(table.data, table.target) == []


def test_spam_gets_no_advice() -> None:
    spam = load_spam()
    data = encode(spam.table(), spam.target)
    assert advise(data) == []
    train, test = split(data, (0.6, 0.2), random_state=1)
    tree = grow(train, max_leaf_nodes=40)
    assert fit_advice(tree, train, test=test, tested=metrics(tree, test)) == []


def test_measurements_and_repeated_whole_numbers_are_no_ids() -> None:
    ages, incomes = RANDOM.integers(18, 80, N), RANDOM.integers(20_000, 90_000, N)
    assert codes(column_advice(encode({"x": NOISE, "age": ages, "income": incomes}))) == []


# ---- columns -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [1, -1, 10, 0.5])
def test_row_numbers(step: float) -> None:
    found = advise({"nr": 7 + step * np.arange(N), "x": NOISE}, Y)
    advice = only(found, "row_number")
    assert advice.column == "nr"
    assert "numbers the rows" in advice.text
    assert advice.on_command_line == "--drop nr leaves it out"
    assert advice.in_python == "drop it from X"


def test_rows_in_another_order_have_ids() -> None:
    found = advise({"nr": RANDOM.permutation(N), "phone": RANDOM.permutation(N) * 7919 + 10**9}, Y)
    assert codes(found) == ["id"]
    assert found[0].column is None
    assert found[0].text.startswith("columns 'nr' (400 values in 400 rows) and 'phone' (400 values in 400")
    assert found[0].on_command_line == "--drop nr --drop phone leave them out"


def test_nearly_unique_categories_are_ids() -> None:
    names = [f"n{i}" for i in range(N)]
    names[1] = names[0]
    assert "399 values in 400 rows" in only(advise({"name": names}, Y), "id").text
    some = [f"n{i}" if i < 30 else None for i in range(N)]  # of the known ones all differ
    assert "30 values in 30 rows" in only(advise({"name": some}, Y), "id").text
    few = [f"n{i % 19}" for i in range(N)]
    assert advise({"name": few}, Y) == []


def test_many_categories() -> None:
    cities = [f"c{i}" for i in RANDOM.integers(0, 150, N)]
    n_cities = len(set(cities))
    advice = only(advise({"city": cities}, Y), "many_categories")
    assert f"({n_cities} values, {N / n_cities:.1f} rows for each)" in advice.text
    assert "--drop city" in advice.on_command_line
    assert "group rare values" in advice.in_python
    rows = 20_000  # more than 1,000 values are many however many rows each has
    assert codes(column_advice(encode({"c": [f"c{i % 1001}" for i in range(rows)]}))) == ["many_categories"]
    assert codes(column_advice(encode({"c": [f"c{i % 900}" for i in range(rows)]}))) == []


def test_constant_columns() -> None:
    table = {"unit": ["m"] * N, "one": np.ones(N), "x": NOISE, "gap": [1.0] * (N - 1) + [np.nan]}
    advice = only(advise(table, Y), "constant")
    assert (
        advice.text == "columns 'unit' and 'one' have the same value in every row, so no split can use them"
    )


def test_missing_columns() -> None:
    rare = [1.0 if i % 8 == 0 else None for i in range(N)]
    found = advise({"void": [None] * N, "rare": rare, "x": NOISE}, Y)
    assert "'void' (100 % missing)" in only(found, "nearly_empty").text
    assert "'rare' (87.5 % missing)" in only(found, "mostly_missing").text
    assert advise({"half": [1.0 if i % 2 else None for i in range(N)], "x": NOISE}, Y) == []


def test_small_tables_are_left_alone() -> None:
    assert advise({"nr": [1, 2, 3], "unit": ["m"] * 3}, ["a", "b", "a"]) == []


def test_many_columns_fold_into_one_sentence() -> None:
    advice = only(advise({f"c{i}": [i] * N for i in range(40)} | {"x": NOISE}, Y), "constant")
    assert "'c4' … and 35 more columns have" in advice.text
    assert advice.on_command_line.startswith("--drop c0 --drop c1 --drop c2 --drop c3 --drop c4 …")


def test_names_are_data() -> None:
    hostile = "a\nb'$(x)"
    advice = only(advise({hostile: [1] * N, "x": NOISE}, Y), "constant")
    assert "\n" not in advice.command_text
    assert drop_options(["it's $HOME"]) == "--drop 'it'\"'\"'s $HOME'"
    assert listing({"x" * 500: ""}).endswith("(500 characters)")
    page = Advices([Advice("constant", "column '<b>' is one")])._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;" in page


# ---- leaks -------------------------------------------------------------------------------------------


def test_copies_of_the_target() -> None:
    flipped = YES.copy()
    flipped[:2] = ~flipped[:2]
    table = {"text": np.where(YES, "alive", "dead"), "code": np.where(YES, 7.0, 9.0), "x": NOISE}
    found = advise(table | {"nearly": np.where(flipped, 1, 0)}, Y)
    assert codes(found) == ["target_copy"]
    for name in (*table, "nearly"):
        assert (f"'{name}'" in found[0].text) == (name != "x")
    numbers = advise({"double": 2 * NOISE + 1, "other": RANDOM.normal(size=N)}, NOISE)
    assert (codes(numbers), numbers[0].column) == (["target_copy"], "double")


def test_leaks() -> None:
    boat = np.where(YES, [f"boat {i}" for i in RANDOM.integers(0, 8, N)], "none")
    advice = only(advise({"boat": boat, "x": NOISE}, Y), "leak")
    assert advice.column == "boat"
    assert f"error 0.0 % instead of {100 * min(YES.mean(), 1 - YES.mean()):.1f} %" in advice.text
    assert advice.on_command_line.startswith("--drop boat, unless")
    paid = [1.0 if yes else None for yes in YES]  # only whether it is missing tells
    assert only(advise({"paid": paid, "x": NOISE}, Y), "leak").column == "paid"
    cubed = advise({"cube": NOISE**3, "x": RANDOM.normal(size=N)}, NOISE)
    assert only(cubed, "leak").column == "cube"


def test_ids_and_strong_columns_are_no_leaks() -> None:
    names = [f"n{i}" for i in range(N)]
    strong = YES + 0.4 * RANDOM.normal(size=N)
    assert codes(leak_advice(encode({"name": names, "strong": strong, "x": NOISE}, Y))) == []


def test_leaks_among_many_columns_of_many_rows() -> None:
    """The sample and the quick condition let leaks through."""
    random = np.random.default_rng(2)
    x = random.normal(size=(30_000, 60))
    y = random.random(30_000) < 0.3
    x[:, 41] = np.where(y, 3.0, -3.0) + random.normal(size=30_000)
    (advice,) = leak_advice(encode(x, y))
    assert (advice.code, advice.column) == ("leak", "x41")


def test_a_majority_that_leaves_nothing_to_explain_has_no_leaks() -> None:
    rare = np.where(np.arange(N) < 5, "yes", "no")
    assert leak_advice(encode({"x": np.where(rare == "yes", 1.0, 0.0) + 0.1 * NOISE}, rare)) == []
    assert leak_advice(encode({"x": NOISE})) == []
    assert leak_advice(encode({"x": NOISE}, np.ones(N))) == []


# ---- rows --------------------------------------------------------------------------------------------


def test_duplicates_within() -> None:
    rows = np.repeat(RANDOM.normal(size=(N // 2, 2)), 2, axis=0)
    (advice,) = duplicates_within(encode(rows, np.repeat(NOISE[: N // 2], 2)))
    assert advice.text.startswith(f"{N // 2} of {N} rows (50.0 %) are exact copies of others")
    assert duplicates_within(encode(rows, NOISE)) == []  # the targets differ
    few = {"sex": RANDOM.integers(0, 2, N), "class": RANDOM.integers(0, 3, N)}
    assert duplicates_within(encode(few, Y)) == []  # a matter of course


def test_duplicates_across() -> None:
    train = encode({"x": NOISE, "z": NOISE[::-1]}, Y)
    test = train.take(np.arange(0, 100, 2))
    mixed = encode({"x": [*NOISE[:30], *range(70)], "z": [*NOISE[::-1][:30], *range(70)]}, [*Y[:30], *Y[:70]])
    (advice,) = duplicates_across(train, test)
    assert advice.text.startswith("50 of 50 test rows (100 %) are exact copies of training rows")
    assert advice == only(advise(train, test=test), "duplicates_across")
    (advice,) = duplicates_across(train, mixed)
    assert advice.text.startswith("30 of 100 test rows (30.0 %)")
    assert duplicates_across(train, encode({"x": NOISE[:50], "z": NOISE[:50]}, Y[:50])) == []


# ---- classes -----------------------------------------------------------------------------------------


def test_imbalance_of_two_classes() -> None:
    y = np.where(np.arange(N) % 25 == 0, "sick", "well")
    advice = only(advise({"x": NOISE}, y), "imbalance")
    assert "class 'sick' is 4.0 % of the rows, and always answering 'well' is wrong for only 4.0 %" in (
        advice.text
    )
    for word in ("recall", "precision", "balanced accuracy", "AUC"):
        assert word in advice.text
    assert 'class_weight="balanced"' in advice.in_python
    assert advice.on_command_line.startswith("--cost sick:well=24 ")
    assert advise({"x": NOISE}, np.where(np.arange(N) % 8 == 0, "sick", "well")) == []


def test_one_cost_is_named_for_a_rare_class() -> None:
    """A fit that leaves one leaf has two pieces of advice on it, of different rows."""
    data = encode({"x": NOISE}, np.where(np.arange(N) % 40 == 0, "yes", "no"))
    tree = grow(data)
    train = data.take(np.arange(0, N, 2))
    found = fit_advice(tree.collapse([0]), train, table=data, grown=tree)
    assert {"imbalance", "one_leaf"} <= set(codes(found))
    assert len([each for each in found if "--cost" in each.on_command_line]) == 1
    assert "--cost yes:no=" in one_leaf(tree.collapse([0]), grown=tree)[0].on_command_line


def test_very_many_even_classes_are_not_imbalanced() -> None:
    y = np.arange(20_000) % 150
    x = RANDOM.normal(size=20_000)
    assert advise(encode({"x": x}, y, classes=True)) == []
    y[y == 7] = 8
    y[:12] = 7
    advice = only(advise(encode({"x": x}, y, classes=True)), "imbalance")
    assert "class 7 is 0.1 % of the rows, and the error hardly shows whether" in advice.text


def test_infinite_and_huge_numbers() -> None:
    """Nothing is said, and nothing warns."""
    x = np.stack([NOISE, NOISE[::-1]], axis=1)
    x[:4] = [[np.inf, 1e308], [-np.inf, -1e308], [np.nan, 1e308], [np.inf, 0]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for scale in (1.0, 1e149, 1e-150):
            assert advise(x, RANDOM.normal(size=N) * scale) == []


def test_rare_classes() -> None:
    y = np.array(["a", "b"] * (N // 2), object)
    y[:3] = "c"
    found = advise({"x": NOISE}, y)
    assert codes(found) == ["rare_class"], "costs do not help a class that cannot be learnt"
    assert "class 'c' (3 rows) has fewer than 10 rows" in found[0].text
    assert cost_option("a:b", "c", 3) == "--cost TRUTH:ANSWER=3"
    assert cost_option("it is", "c", 30) == "--cost 'it is:c=30'"


def test_two_spellings_of_one_class() -> None:
    y = Y.astype(object)
    y[:2] = ["Yes", "no "]
    advice = only(advise({"x": NOISE}, y), "spelling")
    assert advice.text.startswith("classes 'Yes' and 'yes', 'no' and 'no ' differ only in case or spaces")
    assert codes(advise({"x": NOISE}, Y)) == []


def test_two_spellings_of_one_category() -> None:
    city = RANDOM.choice(["Köln", "köln ", "Bergen", "a", "A"], N)
    found = advise({"city": city, "x": NOISE}, Y)
    assert codes(found) == ["spelling"]
    assert found[0].text.startswith("column 'city' ('Köln' and 'köln ') has categories that differ only in")
    many = [f"{'v' if i % 2 else 'V'}{i // 2 % 8}" for i in range(N)]
    text = only(advise({"many": many, "x": NOISE}, Y), "spelling").text
    assert "'V4' and 'v4', … (8 pairs in all)" in text


def test_a_class_that_is_a_mark_of_missing_values() -> None:
    y = Y.astype(object)
    y[:20] = "n/a"
    advice = only(advise({"x": NOISE}, y), "missing_class")
    assert advice.command_text == (
        "class 'n/a' looks like a missing value; --na-values n/a --drop-missing-target leaves its rows out"
    )
    y[20:40] = "?"
    advice = only(advise({"x": NOISE}, y), "missing_class")
    assert advice.python_text == "classes '?' and 'n/a' look like missing values; leave their rows out"
    assert "--na-values '?' --na-values n/a --drop-missing-target" in advice.on_command_line
    y[:40] = "none"  # an answer like others, where no damage is one
    assert codes(advise({"x": NOISE}, y)) == []


# ---- results -----------------------------------------------------------------------------------------


def test_one_leaf_that_pruning_left() -> None:
    names = [f"n{i}" for i in range(N)]
    train = encode({"name": names, "x": NOISE}, Y)
    grown = grow(train, root="name")
    path = prune(grown, "pessimistic", raising=False)
    tree = grown.collapse([0])
    (advice,) = one_leaf(tree, grown=grown, path=path)
    assert "single leaf and answers 'no' to every row" in advice.text
    assert f"grown to {grown.n_leaves} leaves, which pessimistic pruning cut back to one" in advice.text
    assert "its first split was on 'name', a category of 400 values" in advice.text
    assert advice.on_command_line == "try --drop name, --prune none or other columns"
    assert advice.in_python == "try X without 'name', pruning=None or other columns"
    (advice,) = one_leaf(tree, grown=grown)
    assert "which the pruning cut back to one; its first split" in advice.text
    assert advice.on_command_line == "try --drop name, --prune pessimistic, --prune none or other columns"
    assert one_leaf(grown, path=path) == []


def test_one_leaf_of_a_rare_class_names_costs() -> None:
    y = np.where(np.arange(N) % 20 == 0, "sick", "well")
    grown = grow(encode({"x": NOISE}, y))
    (advice,) = one_leaf(grown.collapse([0]), grown=grown)
    assert "--cost sick:well=19" in advice.on_command_line
    assert 'class_weight="balanced"' in advice.in_python


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        ({"min_samples_leaf": 300}, "a minimum of 300 rows in a leaf forbids every split of 400 rows"),
        ({"max_depth": 0}, "a depth of 0 forbids every split of 400 rows"),
        ({"max_leaf_nodes": 1}, "a limit of one leaf forbids every split"),
        ({"min_impurity_decrease": 0.6}, "no split of the 1 column passes min_impurity_decrease=0.6"),
    ],
)
def test_one_leaf_that_limits_left(limits: dict[str, Any], why: str) -> None:
    data = encode({"x": NOISE}, Y)
    (advice,) = one_leaf(grow(data, **limits), data=data, limits=limits)
    assert why in advice.text


def test_one_leaf_without_anything_to_split() -> None:
    flat = encode({"x": np.ones(N)}, Y)
    (advice,) = one_leaf(grow(flat), data=flat)
    assert "none of the 1 column varies" in advice.text
    assert one_leaf_each(flat)[0].text == "every tree is a single leaf: none of the 1 column varies"
    same = encode({"x": NOISE}, ["a"] * N)
    assert one_leaf(grow(same), data=same) == []  # nothing to predict
    assert one_leaf_each(same) == []


def test_a_test_part_that_is_too_small() -> None:
    (advice,) = small_test(Metrics(20, "error", 0.05, "no", 0.4), 0.05)
    assert advice.text.startswith(
        "20 test rows with 5.0 % errors only bound the true error below 21.6 %; about"
    )
    needed = int(advice.text.split("about ")[1].split()[0].replace(",", ""))
    assert small_test(Metrics(needed, "error", 0.05, "no", 0.4), 0.05) == []
    (advice,) = small_test(Metrics(60, "error", 0.15, "no", 0.2), 0.05)
    assert "no better than the 20.0 % of always answering 'no'" in advice.text
    assert "--select folds" in advice.on_command_line
    assert small_test(Metrics(2_000, "error", 0.1, "no", 0.4), 0.05) == []
    assert small_test(Metrics(20, "error", 0.4, "no", 0.4), 0.05) == []  # one leaf: no rows would help
    assert small_test(Metrics(20, "root mean squared error", 0.4, 1.0, 0.6), 0.05) == []


# ---- as a list ---------------------------------------------------------------------------------------


def test_the_most_serious_comes_first() -> None:
    table = {"unit": ["m"] * N, "nr": range(N), "alive": Y, "x": NOISE}
    found = advise(table, Y)
    assert codes(found) == ["target_copy", "row_number", "constant"]
    assert codes(by_severity(reversed(found))) == codes(found)
    assert str(found).startswith("- column 'alive' is the target")
    assert str(advise({"x": NOISE}, Y)) == "nothing stands out"
    assert len(set(CODES)) == len(CODES)


def test_input_of_advise() -> None:
    data = encode({"x": NOISE}, Y)
    with pytest.raises(TypeError, match="a Dataset has its own target, weights and kinds; leave target out"):
        advise(data, Y)
    with pytest.raises(ValueError, match="columns of test"):
        advise(data, test=encode({"z": NOISE}, Y))
    assert advise({"x": NOISE}, test=({"x": NOISE[:30] + 1},)[0]) == []


# ---- in Python's fit ---------------------------------------------------------------------------------

NAMED = {"name": [f"n{i}" for i in range(N)], "x": NOISE}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("DecisionTreeClassifier", {}),
        ("ExtraTreeClassifier", {}),
        ("RandomForestClassifier", {"n_estimators": 2}),
        ("ExtraTreesClassifier", {"n_estimators": 2}),
        ("HistGradientBoostingClassifier", {"max_iter": 2}),
        ("AdaBoostClassifier", {"n_estimators": 2}),
        ("BaggingClassifier", {"n_estimators": 2}),
    ],
)
def test_fits_warn_of_columns(name: str, options: dict[str, Any]) -> None:
    model = getattr(treewright, name)(**options)
    with pytest.warns(AdviceWarning, match="column 'name' .* looks like an id.*; drop it from X") as told:
        model.fit(NAMED, Y)
    assert [warning.filename for warning in told] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(np.stack([NOISE, NOISE[::-1]], axis=1), Y)


@pytest.mark.parametrize(
    "name", ["DecisionTreeClassifier", "RandomForestClassifier", "HistGradientBoostingClassifier"]
)
def test_fits_warn_of_single_leaves(name: str) -> None:
    kind = getattr(treewright, name)
    with pytest.warns(AdviceWarning, match=r"single leaf.*none of the 2 columns varies"):
        kind().fit(np.ones((60, 2)), Y[:60])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kind(min_samples_leaf=40).fit(np.ones((60, 2)), Y[:60])  # as the user wishes
        kind().fit(np.ones((30, 2)), Y[:30])
        if name == "DecisionTreeClassifier":
            kind().fit(np.ones((60, 2)), ["a"] * 60)  # nothing to predict


def test_a_fit_that_is_pruned_to_one_leaf_says_why() -> None:
    model = treewright.DecisionTreeClassifier(pruning="cost_complexity", random_state=0)
    with pytest.warns(AdviceWarning, match=r"cost_complexity pruning cut back to one .*validation error"):
        model.fit(np.random.default_rng(3).normal(size=(200, 2)), YES[:200])
    assert model.get_n_leaves() == 1


def test_classic_estimators_name_a_remedy_that_they_have() -> None:
    with pytest.warns(AdviceWarning, match="try DecisionTreeClassifier"):
        treewright.CARTClassifier(random_state=0).fit(
            np.random.default_rng(3).normal(size=(200, 2)), YES[:200]
        )


def test_every_code_is_explained() -> None:
    page = (Path(__file__).parents[2] / "docs" / "advice.md").read_text(encoding="utf-8")
    headings = " ".join(line for line in page.splitlines() if line.startswith("## "))
    assert all(code in headings.replace(":", " ").split() for code in CODES)
