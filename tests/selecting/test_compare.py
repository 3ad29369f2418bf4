"""Comparing: each line is what its method does by itself, and no row has two roles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.selecting.test_select import COSTS, row_losses, table
from treewright import compare, encode, grow, prune, select
from treewright.certifying import binomial_upper, certify
from treewright.encoding.splits import split
from treewright.parameters import Costs
from treewright.pruning import methods
from treewright.pruning.rule_post_pruning import rule_list
from treewright.selecting import Comparison
from treewright.selecting import comparison as comparing


def line(comparison: Comparison, method: str, by: str = "") -> dict[str, object]:
    return next(row for row in comparison.rows if (row["method"], row["by"]) == (method, by))


def test_bounds_are_rounded_up_and_losses_to_the_nearest() -> None:
    """Whoever quotes a bound from the table must not quote less than it is."""
    found = compare(table("classes", n=300), ["cost_complexity"], random_state=3)
    heading, always, *lines = (line.split() for line in str(found).splitlines()[2:])
    assert heading[0] == "method"
    assert always[0] == "always"
    for row, cells in zip(found.rows, lines[: len(found.rows)], strict=True):
        *_, test, _, below, _, _ = cells
        assert 0 <= float(below) - 100 * row["certificate"] < 0.1
        assert abs(float(test) - 100 * row["test"]) <= 0.05 + 1e-9


@pytest.mark.slow
def test_all_methods_on_classes() -> None:
    data = table("classes", n=300)
    comparison = compare(data, growing={"criterion": "entropy"}, random_state=4)
    train, validation, test = split(data, (0.6, 0.2, 0.2), 4)
    assert comparison.n_rows == (180, 60, 60)
    assert {row["method"] for row in comparison.rows} == {"unpruned", "rules", *methods()}
    both, _ = split(data, (0.8, 0.2), 4)  # methods that take no validation rows grow from these as well
    path, whole = (prune(grow(rows, criterion="entropy")) for rows in (train, both))
    assert line(comparison, "unpruned")["leaves"] == whole.full_tree.n_leaves
    expected = {
        "held-out rows, 0-SE": (train, select(path, validation=validation)),
        "held-out rows, 1-SE": (train, select(path, validation=validation, rule="1-SE")),
        "folds, 0-SE": (both, select(whole, data=both, random_state=4, rule="0-SE")),
        "folds, 1-SE": (both, select(whole, data=both, random_state=4)),
    }
    for by, (grown_from, chosen) in expected.items():
        row = line(comparison, "cost_complexity", by)
        assert row["leaves"] == chosen.pruned.n_leaves
        assert row["grown_from"] == grown_from.n_rows
        for name, rows in (("training", grown_from), ("test", test)):
            assert row[name] == pytest.approx(row_losses(chosen.pruned, rows).mean(), abs=1e-12)
        assert row["certificate"] == certify(chosen.pruned, test=test).value
        assert comparison.trees[f"cost_complexity, {by}"] == chosen.pruned
    for row in comparison.rows:
        assert row["trouble"] is None
        assert row["seconds"] >= 0
        assert row["training"] <= 1
        assert row["test"] < row["certificate"] <= 1


@pytest.mark.slow
def test_the_test_rows_choose_nothing() -> None:
    """With other answers in the test rows every method keeps the same tree."""
    train, validation, test = split(table("classes", n=200))
    shuffled = encode(np.asarray(test.columns), test.targets[0][::-1], schema=test.schema)
    one = compare(train, validation=validation, test=test)
    two = compare(train, validation=validation, test=shuffled)
    assert one.n_rows == (120, 40, 40)
    for a, b in zip(one.rows, two.rows, strict=True):
        assert [a[k] for k in ("method", "by", "leaves", "training", "validation")] == [
            b[k] for k in ("method", "by", "leaves", "training", "validation")
        ]
    assert any(a["test"] != b["test"] for a, b in zip(one.rows, two.rows, strict=True))


def test_given_parts_are_kept_and_the_rest_is_split() -> None:
    train, other = split(table("classes", n=200), (4, 1))
    assert compare(train, [], test=other).n_rows == (120, 40, 40)
    assert compare(train, [], validation=other).n_rows == (128, 40, 32)
    assert compare(train, [], test_size=0.5, validation_fraction=0.5).n_rows == (40, 40, 80)
    assert compare(train, [], test=other, validation_fraction=80).n_rows == (80, 80, 40)
    assert compare(train, [], validation=other, test_size=0.5).n_rows == (80, 40, 80)


def test_delta_is_that_of_every_certificate() -> None:
    data = table("classes", n=200)
    comparison = compare(data, ["srm", "rules"], delta=0.3)
    test = split(data)[2]
    tree, rules = comparison.trees["srm"], comparison.trees["rules"]
    assert line(comparison, "srm")["certificate"] == certify(tree, test=test, delta=0.3).value
    wrong = int((rules.codes[rules.apply(test)] != test.targets[0]).sum())
    bound = float(binomial_upper(wrong, test.n_rows, np.log(1 / 0.3)))
    assert line(comparison, "rules")["certificate"] == pytest.approx(bound)
    assert "with 70 % confidence" in str(comparison)


def test_rules_on_rows_of_different_weights() -> None:
    """Their loss is weighted, and nothing is certified."""
    data = table("weights", n=200)
    comparison = compare(data, ["rules"])
    rules, row = comparison.trees["rules"], line(comparison, "rules")
    assert row["certificate"] is None
    for name, rows in zip(("training", "test"), split(data, (0.8, 0.2)), strict=True):
        wrong = rules.codes[rules.apply(rows)] != rows.targets[0]
        assert row[name] == pytest.approx(np.average(wrong, weights=rows.weight))


def test_what_the_methods_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """The seed and the way of growing reach the folds and the methods that have them, on training rows."""
    seen: dict[str, dict[str, Any]] = {}

    def listening(name: str) -> Any:
        ours = getattr(comparing, name)

        def called(*args: Any, **options: Any) -> Any:
            seen.setdefault(options.get("method", name), options)
            return ours(*args, **options)

        return called

    for name in ("prune", "folds"):
        monkeypatch.setattr(comparing, name, listening(name))
    train, validation, test = split(table("classes", n=200))
    how = {"max_depth": 4}
    compare(
        train,
        ["cost_complexity", "srm", "bound"],
        validation=validation,
        test=test,
        random_state=7,
        growing=how,
    )
    for name in ("folds", "srm"):
        assert seen[name]["random_state"] == 7
        assert seen[name]["growing"] == how
    for name in ("folds", "srm", "bound"):
        assert seen[name]["data"] is train
        assert "validation" not in seen[name]


@pytest.mark.parametrize("kind", ["numbers", "two targets", "weights", "categories"])
def test_what_cannot_work_is_listed_with_the_reason(kind: str) -> None:
    comparison = compare(table(kind, n=200))
    assert {row["method"] for row in comparison.rows} == {"unpruned", "rules", *methods()}
    text = str(comparison)
    for row in comparison.rows:
        assert row["method"] in text
        if row["trouble"] is not None:
            assert row["leaves"] is None
            assert row["trouble"] in text
    assert line(comparison, "cost_complexity", "folds, 1-SE")["leaves"] >= 1
    if kind == "numbers":
        assert "numbers" in str(line(comparison, "bound")["trouble"])
        assert all(row["certificate"] is None for row in comparison.rows)
        assert "below" not in text


def test_it_shows_itself_in_one_line() -> None:
    found = compare(encode({"x": range(60)}, [i % 7 > 2 for i in range(60)]), ["bottom_up"])
    assert repr(found) == "<Comparison: 2 lines, 2 trees; print it, or look at its rows>"


@pytest.mark.parametrize(
    ("kind", "first", "last"),
    [
        ("classes", "to test", "true error"),
        ("numbers", "; losses: root mean squared error", "cost_complexity"),
        ("costs", "; losses: mean cost of a row", "true cost"),
    ],
)
def test_the_table_says_what_is_lost(kind: str, first: str, last: str) -> None:
    costs = COSTS if kind == "costs" else None
    lines = str(compare(table(kind), ["cost_complexity"], costs=costs)).splitlines()
    assert lines[0].endswith(first)
    assert last in lines[-3]


def test_the_table_is_aligned() -> None:
    lines = str(compare(table("classes", n=200), ["cost_complexity", "srm"])).splitlines()
    assert lines[0] == "grown from 120 rows; 40 to prune and choose by, 40 to test"
    assert lines[1].startswith("methods that need no rows to choose by: grown from 160 rows")
    assert lines[2].split() == [
        "method",
        "chosen",
        "by",
        "leaves",
        "training",
        "validation",
        "test",
        "below",
        "seconds",
    ]
    assert len({len(line) for line in lines[2:-3]}) == 1
    assert len(lines) == 3 + 1 + 1 + 4 + 1 + 1 + 2
    assert "95 % confidence" in lines[-3]
    assert lines[-2].startswith("best: ")
    assert lines[-1].endswith("its test error is an honest estimate")


def test_options_reach_their_methods() -> None:
    data = table("classes", n=200)
    options = {"srm": {"c": 0.0}, "folds": {"n_folds": 3}, "cost_complexity": {"on": "impurity"}}
    comparison = compare(data, ["srm", "cost_complexity"], options=options)
    train = split(data)[0]
    assert line(comparison, "srm")["training"] == line(comparison, "unpruned")["training"]
    path = prune(grow(train), on="impurity")
    chosen = select(path, data=train, n_folds=3)
    assert line(comparison, "cost_complexity", "folds, 1-SE")["leaves"] == chosen.pruned.n_leaves
    closed = compare(data, ["cost_complexity"], options={"cost_complexity": {"alpha": 1.0}})
    assert line(closed, "cost_complexity")["leaves"] == 1


def test_costs_are_what_counts() -> None:
    data = table("classes", n=200)
    comparison = compare(data, ["cost_complexity"], costs=COSTS)
    train, validation, test = split(data)
    tree = grow(train, costs=COSTS)
    chosen = select(prune(tree), validation=validation).pruned
    row = line(comparison, "cost_complexity", "held-out rows, 0-SE")
    assert row["test"] == pytest.approx(row_losses(chosen, test).mean())
    assert "%" not in str(comparison).splitlines()[4]
    priors = [0.1, 0.1, 0.8]
    by_priors = compare(data, ["cost_complexity"], costs=Costs(COSTS, priors=priors))
    assert by_priors.schema == grow(train, costs=Costs(COSTS, priors=priors)).schema


def test_wrong_input() -> None:
    data = table("classes", n=60)
    other = table("classes", 1, n=60)
    with pytest.raises(ValueError, match="method 'guess' is unknown"):
        compare(data, ["guess"])
    with pytest.raises(ValueError, match="method 'guess' is unknown"):
        compare(data, "guess")
    with pytest.raises(ValueError, match="options has 'guess'"):
        compare(data, options={"guess": {}})
    with pytest.raises(TypeError, match="folds has no option 'n'"):
        compare(data, options={"folds": {"n": 3}})
    with pytest.raises(TypeError, match="srm has no option 'd'"):
        compare(data, options={"srm": {"d": 3}})
    with pytest.raises(ValueError, match="same rows are given twice"):
        compare(data, test=data)
    with pytest.raises(ValueError, match="same rows are given twice"):
        compare(data, test=other, validation=other)
    for name in ("test_size", "validation_fraction"):
        with pytest.raises(ValueError, match=f"{name} is 1.0; it must be a share between 0 and 1"):
            compare(data, **{name: 1.0})
    with pytest.raises(ValueError, match="test has no rows"):
        compare(data, test=other.take([]))
    with pytest.raises(ValueError, match="compare: the table has no target"):
        compare(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="delta"):
        compare(data, delta=1.0)
    with pytest.raises(ValueError, match="columns are not the tree's"):
        compare(data, [], test=table("categories"))


def test_a_table_of_one_class() -> None:
    comparison = compare(encode({"x": range(30)}, ["a"] * 30))
    for row in comparison.rows:
        if row["trouble"] is None:
            assert row["leaves"] == (0 if row["method"] == "rules" else 1)  # one answer, no condition
            assert row["test"] == 0.0


def test_rules_are_judged_as_they_answer() -> None:
    data = table("categories", n=300)
    comparison = compare(data, ["rules"])
    train, test = split(data, (0.8, 0.2))
    rules = rule_list(grow(train), data=train)
    row = line(comparison, "rules")
    columns = dict(zip("ab", test.columns, strict=True))
    columns["a"] = [data.schema.columns[0].categories[code] for code in columns["a"]]
    wrong = rules.predict(columns) != np.array(data.schema.targets[0].classes)[test.targets[0]]
    assert row["leaves"] == len(rules)
    assert row["test"] == pytest.approx(wrong.mean())
    assert row["certificate"] == pytest.approx(binomial_upper(wrong.sum(), len(wrong), np.log(20)).item())


# ---- the validation loss, and the line to take -------------------------------------------------------------


@pytest.mark.parametrize("kind", ["classes", "numbers", "costs", "weights", "two targets"])
def test_no_validation_row_judges_a_tree_that_it_had_a_part_in(kind: str) -> None:
    data = table(kind, n=300)
    costs = COSTS if kind == "costs" else None
    comparison = compare(data, ["cost_complexity", "reduced_error"], costs=costs, random_state=2)
    train, validation, _ = split(data, random_state=2)
    tree = grow(train, costs=costs)
    a, b = split(validation, (1, 1), 2)

    def checked(row: dict[str, Any], *judged: tuple[Any, Any]) -> None:
        lost = np.concatenate([row_losses(made, rows) for made, rows in judged])
        weights = [np.ones(rows.n_rows) if rows.weight is None else rows.weight for _, rows in judged]
        weight = np.concatenate(weights)
        mean = np.average(lost, weights=weight)
        spread = np.average(lost**2, weights=weight) - mean**2
        assert row["validation"] == pytest.approx(mean)
        if kind != "two targets":  # there the square of a sum is not the sum of the squares
            assert row["standard_error"] == pytest.approx(np.sqrt(spread / weight.sum()), abs=1e-9)

    path = prune(tree)
    checked(line(comparison, "unpruned"), (tree, validation))
    checked(
        line(comparison, "cost_complexity", "held-out rows, 0-SE"),
        (select(path, validation=a).pruned, b),
        (select(path, validation=b).pruned, a),
    )
    checked(
        line(comparison, "reduced_error"),
        (prune(tree, "reduced_error", validation=a).pruned, b),
        (prune(tree, "reduced_error", validation=b).pruned, a),
    )
    checked(
        line(comparison, "cost_complexity", "folds, 1-SE"),
        (select(path, data=train, random_state=2).pruned, validation),
    )


@pytest.mark.slow
def test_the_best_line_is_the_smallest_within_a_standard_error() -> None:
    comparison = compare(table("classes", n=400), random_state=1)
    trees = [row for row in comparison.rows if row["method"] != "rules"]
    least = min(trees, key=lambda row: (row["validation"], row["leaves"]))
    close = [row for row in trees if row["validation"] <= least["validation"] + least["standard_error"]]
    assert comparison.best in close
    assert comparison.best["leaves"] == min(row["leaves"] for row in close)
    assert f"best: {comparison.best['method']}" in str(comparison)
    assert line(comparison, "rules")["validation"] is not None
    assert line(comparison, "rules")["standard_error"] is None


@pytest.mark.slow
def test_the_best_line_does_not_depend_on_the_test_rows() -> None:
    train, validation, test = split(table("classes", n=300), random_state=5)
    shuffled = encode(np.asarray(test.columns), test.targets[0][::-1], schema=test.schema)
    one = compare(train, validation=validation, test=test).best
    two = compare(train, validation=validation, test=shuffled).best
    assert one is not None
    assert two is not None
    assert (one["method"], one["by"], one["leaves"]) == (two["method"], two["by"], two["leaves"])


def test_a_single_validation_row_judges_what_did_not_see_it() -> None:
    comparison = compare(encode({"x": range(5)}, list("aabba")), ["reduced_error", "pessimistic"])
    assert comparison.n_rows == (3, 1, 1)
    assert line(comparison, "reduced_error")["validation"] is None
    assert comparison.best["method"] != "reduced_error"
