"""What the report works for: trees, paths, estimators of every kind; and what it refuses, in one sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import numpy as np
import pytest

from tests.reporting.cases import CASES, case, made, some_rows, walk
from treewright import (
    Column,
    Dataset,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    Schema,
    Target,
    encode,
    grow,
    prune,
    report,
)
from treewright.datasets import load_spam
from treewright.encoding.splits import split
from treewright.reporting import html_page
from treewright.reporting.context import MOST_COLUMNS
from treewright.reporting.nodes import MOST_NAMED
from treewright.reporting.rounding import shorts
from treewright.reporting.subject import leaves_within, printable_schema


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_shape_of_the_payload(name: str) -> None:
    tree, _, _ = case(name)
    payload = json.loads(json.dumps(made(name).payload, allow_nan=False))
    assert payload == made(name).payload  # the facts are plain: nothing becomes another thing on the way
    assert payload["format"] == 1
    nodes = payload["tree"]
    for key in set(nodes) - {"left_categories"}:
        assert len(nodes[key]) == tree.n_nodes, key
    assert payload["kind"] == ("classes" if tree.schema.predicts_classes else "numbers")
    assert len(payload["classes"]) == len(payload["colours"])
    assert all(re.fullmatch("#[0-9A-F]{6}", colour) for colour in payload["colours"])
    for facts in payload["samples"].values():
        for key in {"node_rows", "loss", "mean", "deviation", "residuals"} & set(facts):
            assert len(facts[key]) == tree.n_nodes
        assert ("counts" in facts) == tree.schema.predicts_classes
    for path in payload["pruning"]:
        assert ("cuts" in path) != ("leaf_from" in path)
        assert path["leaves"] == sorted(path["leaves"], reverse=True)
        assert 0 <= path["chosen"] < len(path["leaves"]) <= 200
        assert path["alpha"] is None or path["alpha"] == sorted(path["alpha"])
    shown = [path["method"] for path in payload["pruning"]]
    own = name.partition("; ")[2]
    first = own if own in ("minimum_errors", "reduced_error") else "cost_complexity"
    assert shown[0] == first
    assert len(set(shown)) == len(shown)
    assert {"cost_complexity", "minimum_errors", "reduced_error"} <= set(shown)
    assert (payload["costs"] is None) == ("costs" not in name)
    assert set(payload["reproduce"]["fingerprints"]) == {"train", "validation", "test"}


def test_a_tree_alone() -> None:
    tree, _, _ = case("few")
    payload = report(tree).payload
    assert set(payload["samples"]) == {"train"}
    assert payload["samples"]["train"]["node_rows"] == tree.rows.tolist()
    assert payload["samples"]["train"]["counts"] == shorts(tree.statistic)
    assert payload["pruning"][0]["leaves"][0] == tree.n_leaves
    assert payload["competitors"] == {}
    assert "distributions" not in payload
    assert payload["columns"][0]["typical"] is None
    stump = report(tree.collapse([0])).payload
    assert stump["pruning"][0]["leaves"] == [1]
    assert stump["importance"]["columns"] == []


@pytest.mark.slow
def test_fitted_estimators() -> None:
    spam = load_spam()
    X, y = spam.data[~spam.is_test], spam.target[~spam.is_test]
    test = spam.data[spam.is_test], spam.target[spam.is_test]
    model = DecisionTreeClassifier(max_leaf_nodes=40, pruning="cost_complexity", random_state=3).fit(X, y)
    made = report(model, train=(X, y), test=test)
    assert made.payload["pruning"][0]["chosen_by"] == model.pruning_path_.details["chosen_by"]
    assert made.payload["reproduce"]["parameters"]["max_leaf_nodes"] == "40"
    assert "DecisionTreeClassifier(" in made.payload["reproduce"]["code"]
    assert any("3,065 rows were given as training rows" in note for note in made.payload["headline"]["notes"])
    with pytest.raises(ValueError, match="test has rows that the model was fitted on"):
        report(model, test=(X, y))
    numbers = DecisionTreeRegressor(max_leaf_nodes=10).fit(X[:300], X[:300, 56])
    weights = np.linspace(1, 2, 100)
    payload = report(numbers, test=(X[300:400], X[300:400, 56], weights)).payload
    assert payload["samples"]["test"]["weight"] == pytest.approx(150)
    assert payload["kind"] == "numbers"


@pytest.mark.slow
def test_the_pieces_of_the_command_line() -> None:
    tree, path, (train, validation, test) = case("two")
    assert path is not None
    one = report(path.pruned, path=path, train=train, validation=validation, test=test)
    assert one.payload["pruning"] == made("two").payload["pruning"]
    opened = prune(tree, "cost_complexity")
    two = report(opened[3], path=opened).payload["pruning"][0]
    assert (two["chosen"], two["chosen_by"]) == (3, None)


def test_a_tree_of_the_same_size_is_not_on_the_path() -> None:
    tree, _, _ = case("two")
    path = prune(tree, "cost_complexity")
    by_size = {int(n): place for place, n in enumerate(path.leaves)}
    others = (tree.first(k) for k in range(tree.n_leaves - 1) if k + 1 in by_size)
    stranger = next(each for each in others if each != path[by_size[each.n_leaves]])
    with pytest.raises(ValueError, match="path does not belong to the model"):
        report(stranger, path=path)


def test_subtrees_that_were_raised_are_shown_as_they_are() -> None:
    for seed in range(20):
        data = some_rows(150, "two", seed)
        path = prune(grow(data), "pessimistic", data=data)
        if leaves_within(path.full_tree, path.pruned) is None:
            break
    else:
        pytest.fail("no table raised a subtree")
    payload = report(path, train=data).payload
    assert len(payload["tree"]["end"]) == path.pruned.n_nodes
    assert any("raised subtrees" in note for note in payload["headline"]["notes"])


@pytest.mark.slow
def test_methods_that_are_asked_for() -> None:
    tree, _, (train, validation, _) = case("two; alone")
    paths = report(tree, train=train, validation=validation, methods=["bottom_up", "chi_squared"]).payload[
        "pruning"
    ]
    assert [path["method"] for path in paths] == ["cost_complexity", "bottom_up", "chi_squared"]
    with pytest.raises(TypeError, match="reduced_error needs validation="):
        report(tree, methods=["reduced_error"])
    with pytest.raises(ValueError, match="method 'topiary' is unknown"):
        report(tree, methods=["topiary"])
    with pytest.raises(TypeError, match=r"methods=\['srm'\]"):
        report(tree, methods="srm")


def test_categories_beyond_counting() -> None:
    rng = np.random.default_rng(1)
    street = rng.zipf(1.3, 4000) % 3000
    y = np.where((street % 7 < 3) ^ (rng.random(4000) < 0.1), "yes", "no")
    train, test = split(encode({"street": [f"street {s}" for s in street]}, y), (0.8, 0.2))
    tree = grow(train, max_leaf_nodes=30)
    payload = report(tree, train=train, test=test).payload
    (column,) = payload["columns"]
    assert len(column["categories"]) == MOST_NAMED
    assert column["unnamed"] == len(train.schema.columns[0].categories) - MOST_NAMED
    assert "street 1" in column["categories"]
    known = [f"street {s}" for s in street if f"street {s}" in column["categories"]][:500]
    leaves = tree.apply(encode({"street": known}, schema=tree.schema))
    assert [walk(payload, [column["categories"].index(s)]) for s in known] == leaves.tolist()
    assert len(html_page.as_json(payload)) < 60_000


@pytest.mark.slow
def test_very_many_columns_and_long_names() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(100, 2000))
    y = np.where(X[:, 1500] > 0, "yes", "no")
    data = encode({f"{i} {'long ' * 2000}": X[:, i] for i in range(2000)}, y)
    payload = report(grow(data), train=data).payload
    assert len(payload["columns"]) <= MOST_COLUMNS
    used = [column["name"] for column in payload["columns"] if column["used"]]
    (name,) = used
    assert name.startswith("1500 long long")
    assert len(name) == 80
    assert len(html_page.as_json(payload)) < 60_000
    twins = printable_schema(
        Schema(tuple(Column("n" * 1000 + c + "n" * 1000) for c in "abc"), (Target("y"),))
    )
    assert len(set(twins.names)) == 3


# ---- bad input ---------------------------------------------------------------------------------------


def trouble() -> Iterator[tuple[str, type[Exception], str, dict[str, Any]]]:
    tree, path, (train, validation, test) = case("two")
    other = encode({"x": [1.0, 2.0]}, ["class 0", "class 1"])
    yield "no tree", TypeError, "a tree or a fitted model is wanted", {"model": "oak"}
    yield "not fitted", TypeError, "not fitted yet", {"model": DecisionTreeClassifier()}
    yield "not rows", TypeError, "test must be a Dataset", {"test": [[1.0]]}
    yield "other columns", ValueError, "the columns of test are not the tree's", {"test": other}
    yield "no column", Exception, "test: ", {"test": ({"x": [1.0]}, ["class 0"])}
    yield "no rows", ValueError, "test has no rows", {"test": test.take([])}
    yield "no target", ValueError, "train has no target", {"train": (np.zeros((3, 4)), None)}
    without = Dataset(test.schema, test.columns)
    yield "no target either", ValueError, "test has no target", {"test": without}
    nothing = Dataset(test.schema, test.columns, test.targets, np.zeros(test.n_rows))
    yield "no weight", ValueError, "test has no rows with positive weight", {"test": nothing}
    yield "training rows", ValueError, "test has the rows that the tree was grown", {"test": train}
    yield "same rows", ValueError, "test and validation are the same", {"test": test, "validation": test}
    yield (
        "choosing rows",
        ValueError,
        "test has the rows that pruned or selected",
        {"model": path, "test": validation},
    )
    yield "no path", TypeError, "path must be a PruningPath", {"path": tree}
    yield "open path", ValueError, "no tree of this path is selected", {"model": prune(tree)}
    yield "another path", ValueError, "path does not belong to the model", {"path": prune(grow(test))}
    yield "no chance", ValueError, "delta is 0", {"delta": 0}
    yield "no seed", ValueError, "random_state is -1", {"random_state": -1}
    yield "no title", TypeError, "title must be text", {"title": 5}
    two = grow(encode({"x": [1.0, 2.0, 3.0]}, [["a", "u"], ["b", "u"], ["a", "v"]]))
    yield "two targets", ValueError, "a report is for one target; this tree has 2", {"model": two}
    wrong = encode({"x": [1.0], "town": ["Ulm"], "day": [datetime(2020, 1, 1)], "z": [1.0]}, [1.5])
    renamed = Dataset(Schema(tree.schema.columns, wrong.schema.targets), wrong.columns, wrong.targets)
    yield "another target", ValueError, "the target of test is not the tree's", {"test": renamed}


@pytest.mark.parametrize("problem", list(trouble()), ids=lambda problem: problem[0])
def test_bad_input(problem: tuple[str, type[Exception], str, dict[str, Any]]) -> None:
    _, kind, message, options = problem
    options = {"model": case("two")[0]} | options
    with pytest.raises(kind, match=re.escape(message)) as caught:
        report(options.pop("model"), **options)
    assert "\n" not in str(caught.value)
