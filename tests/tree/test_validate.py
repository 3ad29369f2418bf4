"""`Tree.check`: a tree that lacks what walking, printing or cutting it relies on is refused."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from treewright import Among, Below, Branch, Column, Leaf, Schema, Target, Tree, encode, grow
from treewright.tree.surrogates import Surrogates

COLUMNS = (Column("age"), Column("job", "category", ("clerk", "cook", "nurse")))
SCHEMA = Schema(COLUMNS, (Target("loan", ("no", "yes")),))
NUMBERS = Schema(COLUMNS, (Target("a"), Target("b")))


def classes() -> Tree:
    root = Branch(
        Below("age", 30.5),
        Branch(Among("job", ("cook",)), Leaf([8, 2]), Leaf([1, 0])),
        Branch(Among("job", ("clerk", "nurse")), Leaf([1, 5]), Leaf([3, 1])),
    )
    return Tree.write(SCHEMA, root)


def numbers() -> Tree:
    return Tree.write(NUMBERS, Branch(Below("age", 1), Leaf([1, 5, 0, 1, 2, 0]), Leaf([2, 6, 1, 2, 7, 0])))


def changed(array: Any, place: Any, value: Any) -> Any:
    array = array.copy()
    array[place] = value
    return array


LARGEST = 2**63 - 1


@pytest.mark.parametrize(
    ("field", "place", "value", "message"),
    [
        ("end", 6, 2**31 - 1, "outside"),
        ("end", 3, -(2**31), "outside"),
        ("end", 3, 3, "outside"),
        ("end", 0, 6, "span"),
        ("end", 1, 6, "do not fill"),
        ("end", 2, 4, "leaf by"),
        ("feature", 2, -2, "below -1"),
        ("feature", 0, 2, "beyond the 2"),
        ("feature", 0, 2**31 - 1, "beyond"),
        ("threshold", 1, 0.5, "only tests of numbers"),
        ("threshold", 2, np.inf, "only tests of numbers"),
        ("subset", 1, LARGEST, "outside"),
        ("subset", 1, LARGEST - 1, "outside"),
        ("subset", 4, 0, "outside"),  # shared with another node: a small file could mean much memory
        ("subset", 1, -1, "only tests of categories"),
        ("subset", 2, 0, "only tests of categories"),
        ("subset", 2, -7, "-1 in its place"),
        ("subsets", 0, 0b1001, "beyond the categories"),
        ("missing_left", 2, True, "missing"),
        ("step", 1, 0, "same step"),
        ("step", 0, 5, "above"),
        ("step", 2, 0, "leaves"),
        ("step", 0, -1, "leaves"),
        ("rows", 2, -1, "fewer than 0"),
        ("rows", 0, 5, "sum of its children"),
        ("rows", slice(None), LARGEST, "sum of its children"),
        ("statistic", (2, 0), np.inf, "finite"),
        ("statistic", (2, 0), -1.0, "negative"),
        ("statistic", (3, 0), 0.0, "no weight"),
        ("statistic", (0, 0), 12.0, "sum of its children"),
        ("statistic", slice(None), 1e308, "overflows"),
    ],
)
def test_one_wrong_number_is_refused(field: str, place: Any, value: Any, message: str) -> None:
    tree = classes()
    with pytest.raises(ValueError, match=f"not a tree.*{message}"):
        replace(tree, **{field: changed(getattr(tree, field), place, value)}).check()


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ((1, 2), -1.0, "deviation"),
        ((1, 0), -1.0, "negative"),
        ((slice(None), 3), 0.0, "another weight"),
        ((slice(None), 3), [6.0, 2.0, 4.0], "another weight"),
        ((0, 1), np.nan, "finite"),
    ],
)
def test_one_wrong_statistic_of_numbers_is_refused(place: Any, value: Any, message: str) -> None:
    tree = numbers()
    with pytest.raises(ValueError, match=f"not a tree.*{message}"):
        replace(tree, statistic=changed(tree.statistic, place, value)).check()


@pytest.mark.parametrize("field", ["end", "feature", "threshold", "subset", "missing_left", "step", "rows"])
@pytest.mark.parametrize("shape", [(0,), (1,), (6,), (8,), (7, 1), ()])
def test_wrong_shapes_are_refused(field: str, shape: tuple[int, ...]) -> None:
    tree = classes()
    with pytest.raises(ValueError, match="not a tree"):
        replace(tree, **{field: np.zeros(shape, getattr(tree, field).dtype)}).check()


@pytest.mark.parametrize("field", ["end", "feature", "threshold", "subset", "step", "rows", "statistic"])
def test_foreign_types_are_refused(field: str) -> None:
    tree = classes()
    array = getattr(tree, field)
    for dtype in (np.float32, np.int16, object, array.dtype.newbyteorder(">")):
        with pytest.raises(ValueError, match="type"):
            replace(tree, **{field: np.zeros(array.shape, dtype)}).check()


def with_surrogates() -> Tree:
    entries = [
        (0, Among("job", ("cook",)), False, 0.9, 0.5),
        (1, Below("age", 20.0), True, 0.8, 0.25),
        (4, Below("age", 50.0), False, 0.7, 0.0),
    ]
    return replace(classes(), missing="surrogate", surrogates=Surrogates.of_tests(SCHEMA, entries))


@pytest.mark.parametrize(
    ("field", "place", "value", "message"),
    [
        ("node", 0, 2, "leaf has|order"),
        ("node", 2, 6, "leaf has a surrogate"),
        ("node", 2, 7, "belongs to no node"),
        ("node", 0, -1, "belongs to no node"),
        ("node", 0, 4, "not in the order"),
        ("feature", 0, 0, "stands in for"),
        ("feature", 0, 2, "tests no column"),
        ("feature", 1, -1, "tests no column"),
        ("threshold", 0, 1.0, "only tests of numbers"),
        ("threshold", 1, np.nan, "only tests of numbers"),
        ("subset", 0, 1, "outside"),
        ("subset", 0, -1, "only tests of categories"),
        ("subset", 1, 0, "only tests of categories"),
        ("subset", 1, -2, "-1 in its place"),
        ("subsets", 0, 0b1010, "beyond the categories"),
        ("agreement", 0, 1.5, "not a share"),
        ("adjusted", 2, np.nan, "not a share"),
        ("adjusted", 2, -0.1, "not a share"),
    ],
)
def test_one_wrong_surrogate_is_refused(field: str, place: Any, value: Any, message: str) -> None:
    tree = with_surrogates()
    tree.check()
    wrong = {field: changed(getattr(tree.surrogates, field), place, value)}
    with pytest.raises(ValueError, match=f"not a tree.*({message})"):
        replace(tree, surrogates=replace(tree.surrogates, **wrong)).check()


@pytest.mark.parametrize("field", [part.name for part in fields(Surrogates)])
def test_surrogates_of_other_lengths_and_types_are_refused(field: str) -> None:
    tree = with_surrogates()
    array = getattr(tree.surrogates, field)
    narrow = np.ones(len(array), np.int16)
    for wrong in (array[:-1], np.append(array, array[:1]), narrow, array[:, np.newaxis]):
        with pytest.raises(ValueError, match="not a tree"):
            replace(tree, surrogates=replace(tree.surrogates, **{field: wrong})).check()


def test_surrogates_are_for_trees_that_use_them() -> None:
    with pytest.raises(ValueError, match="does not use them"):
        replace(with_surrogates(), missing="learn").check()
    with pytest.raises(ValueError, match="missing is 'guess'"):
        replace(classes(), missing="guess").check()  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="missing is 'guess'"):
        classes().with_missing("guess")  # type: ignore[arg-type]


@pytest.mark.parametrize("extra", [b"", b"\0\0\0"])
def test_subsets_are_as_long_as_the_tests_need(extra: bytes) -> None:
    tree = classes()
    subsets = np.frombuffer(tree.subsets.tobytes()[: 1 + 2 * bool(extra)] + extra, np.uint8)
    with pytest.raises(ValueError, match="outside"):
        replace(tree, subsets=subsets).check()


def schema(*columns: Column, targets: tuple[Target, ...] = (Target("loan", ("no", "yes")),)) -> Schema:
    return Schema(columns or COLUMNS, targets)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (Schema((), (Target("loan", ("no", "yes")),)), "no columns"),
        (schema(targets=()), "no targets"),
        (schema(COLUMNS[0], replace(COLUMNS[1], name="age")), "same name"),
        (schema(COLUMNS[0], replace(COLUMNS[1], name=7)), "not text"),  # type: ignore[arg-type]
        (schema(COLUMNS[0], replace(COLUMNS[1], kind="text")), "unknown kind"),  # type: ignore[arg-type]
        (schema(replace(COLUMNS[0], categories=("a",)), COLUMNS[1]), "with categories"),
        (schema(COLUMNS[0], Column("job", "category", ("a", "b", "a"))), "equal"),
        (schema(COLUMNS[0], Column("job", "category", (1, 2, 1.0))), "equal"),
        (schema(COLUMNS[0], Column("job", "category", (1, "b", "c"))), "all text"),
        (schema(COLUMNS[0], Column("job", "category", (True, 0, 2))), "all text"),
        (schema(COLUMNS[0], Column("job", "category", (1.0, 2.0, np.nan))), "NaN"),
        (schema(COLUMNS[0], Column("job", "category", ("a", "b", None))), "all text"),
        (schema(targets=(Target("loan", ("no", "no")),)), "equal"),
        (schema(targets=(Target("loan", ([], [])),)), "all text"),  # type: ignore[arg-type]
        (schema(targets=(Target("loan", ()),)), "no classes"),
        (schema(targets=(Target("loan", ("no", "yes")), Target("b"))), "some targets"),
        (schema(targets=(Target("loan", ("no",)), Target("loan", ("yes",)))), "same name"),
    ],
)
def test_a_wrong_schema_is_refused(wrong: Schema, message: str) -> None:
    with pytest.raises(ValueError, match=f"not a tree.*{message}"):
        replace(classes(), schema=wrong).check()


def test_infinite_thresholds_are_trees() -> None:
    lowest = -np.finfo(float).max
    tree = grow(encode({"x": [np.inf, np.nan, -np.inf, lowest]}, list("abab")))
    assert np.isinf(tree.threshold).any()
    tree.check()
    replace(tree, threshold=np.where(np.isnan(tree.threshold), np.nan, np.inf)).check()


def test_rows_of_a_tree_by_hand_are_sums() -> None:
    half, heavy = Leaf([0.5, 0]), Leaf([1e300, 0])
    tree = Tree.write(SCHEMA, Branch(Below("age", 1), Branch(Below("age", 0), half, half), heavy))
    assert tree.rows[0] == tree.rows[1] + tree.rows[4]
    assert tree.rows[1] == 0


def test_classes_that_numpy_would_change_are_predicted_as_they_are() -> None:
    for labels in ((2**70, 1), ("a\0", "a"), ("", "x" * 10**7), (2**63, -1), (1.5, 2), (True, False)):
        tree = Tree.write(
            schema(targets=(Target("y", labels),)), Branch(Below("age", 1), Leaf([1, 0]), Leaf([0, 1]))
        )
        found = tree.predict({"age": [0.0, 2.0], "job": [None, None]}).tolist()
        assert found == list(labels)
        assert type(found[0]) is type(labels[0])
