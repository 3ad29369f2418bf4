"""Certificates of bad input and at the borders: a clear error or the right answer."""

from __future__ import annotations

from dataclasses import replace
from math import log, nan
from typing import Any

import numpy as np
import pytest

from tests.tree.small_trees import YES_NO, rows_of, stump
from treewright import Below, Branch, Certificate, Leaf, Tree, certify, encode, grow
from treewright.certifying import BOUNDS, METHODS, binomial_upper, leaf_intervals
from treewright.certifying.binomial import bernstein_upper
from treewright.datasets import load_spam


@pytest.fixture(scope="module")
def spam() -> Any:
    """A tree, its training rows, and the official test rows."""
    emails = load_spam()
    train = encode(emails.table(~emails.is_test), emails.target[~emails.is_test])
    test = encode(emails.table(emails.is_test), emails.target[emails.is_test], schema=train.schema)
    return grow(train, max_leaf_nodes=9), train, test


def test_training_rows_are_no_test_rows(spam: Any) -> None:
    tree, train, test = spam
    with pytest.raises(ValueError, match="rows that the tree was grown from"):
        certify(tree, test=train)
    with pytest.raises(ValueError, match="rows that the tree was grown from"):
        certify(tree, test=train.take(np.arange(train.n_rows)[::-1]))
    assert certify(tree, test=train, check_rows=False).error == certify(tree).error
    with pytest.raises(ValueError, match="not the rows that the tree was grown from"):
        certify(tree, data=test)
    y = np.random.default_rng(0).random(30)
    numbers = encode({"x": np.arange(30.0)}, y)
    others = encode({"x": np.arange(30.0)}, y[::-1], schema=numbers.schema)
    for criterion in ("squared_error", "absolute_error", "poisson"):
        tree = grow(numbers, criterion=criterion, max_leaf_nodes=5)
        with pytest.raises(ValueError, match="rows that the tree was grown from"):
            certify(tree, test=numbers)
        assert certify(tree, test=others).rows == 30


def small_and_large(factor: int = 1) -> tuple[Tree, Tree]:
    """Two trees of the same errors, one of which has a split more."""
    first, last = Leaf([500 * factor, 20 * factor]), Leaf([50 * factor, 700 * factor])
    parts = Leaf([30 * factor, 400 * factor]), Leaf([20 * factor, 300 * factor])
    small = Tree.write(YES_NO, Branch(Below("x", 1.0), first, last))
    return small, Tree.write(YES_NO, Branch(Below("x", 1.0), first, Branch(Below("x", 2.0), *parts)))


@pytest.mark.parametrize("method", METHODS.names)
def test_a_certificate_of_another_tree_is_found_out(method: str) -> None:
    """Its number fits its own inequality; the tree or the rows tell that they are not its."""
    test = rows_of([0.0] * 60 + [3.0] * 40, ["no"] * 55 + ["yes"] * 45)
    options = {"test": test} if method in ("held_out", "reduced_error") else {}
    small, large = (certify(tree, method, **options) for tree in small_and_large())
    assert small.check()
    assert large.check()
    assert replace(small, tree=small_and_large()[0]).check()
    if method != "held_out":
        assert not replace(small, tree=large.tree).check()
        assert not replace(large, tree=small.tree).check()
    if options:
        assert small.check(test)
        assert not small.check(test.take(np.arange(200) % 100))  # the same share of twice as many rows
        assert not replace(certify(small.tree, test=test), choices=7).check()
    else:
        doubled = small_and_large(2)[0]
        assert certify(doubled, method).error == small.error
        assert not replace(small, tree=doubled).check()


def test_numbers_that_no_row_supports_do_not_check() -> None:
    tree = stump([9, 1], [1, 9])
    wrong = certify(tree, test=rows_of([0.0] * 5, ["yes"] * 5))
    assert (wrong.value, wrong.check()) == (1, True)
    assert not replace(wrong, value=0.9).check()
    numbers = encode({"x": [0.0, 0.0, 1.0, 1.0]}, [1.0, 2.0, 5.0, 6.0])
    above = [encode({"x": [0.0] * n}, [3.0] * n, schema=numbers.schema) for n in (1, 4)]
    single, same = (certify(grow(numbers), test=test) for test in above)
    for certificate in (single, same):
        assert certificate.check()
        assert not replace(certificate, value=certificate.error + 1).check()
    bound = certify(grow(numbers), test=numbers.take([0, 2]), loss_bound=0.25)  # the very loss of each
    assert bound.error == 0.25
    with pytest.raises(ValueError, match="a row loses"):
        certify(grow(numbers), test=numbers.take([0, 2]), loss_bound=0.2499)


def test_the_larger_of_two_limits_does_not_check() -> None:
    """Costs that vary much: the limit by kl is the smaller one."""
    tree, matrix = stump([90, 10], [10, 90]), [[0, 1], [3, 0]]
    test = rows_of([0.0] * 50 + [1.0] * 50, ["no"] * 45 + ["yes"] * 50 + ["no"] * 5)
    certificate = certify(tree, test=test, costs=matrix)
    mean, deviation = certificate.error / 3, certificate.deviation / 3
    bernstein = 3 * float(bernstein_upper(mean, deviation**2, 100, log(2 / 0.05)))
    assert certificate.value < bernstein < 3
    assert certificate.check(test, costs=matrix)
    assert not replace(certificate, value=bernstein).check()


def test_costs_are_those_of_the_answers_of_the_tree() -> None:
    """A cost matrix for the certificate changes no answer; weights that are all the same change nothing."""
    x, y = [0.0] * 5 + [1.0] * 5, ["no"] * 3 + ["yes"] * 7
    tree = stump([3, 2], [0, 5])
    test = rows_of([*x, 0.0], [*y, "no"])
    certificate = certify(tree, test=test, costs=[[0, 1], [50, 0]])
    assert certificate.error == pytest.approx(2 * 50 / 11)
    plain, heavy = (
        grow(encode({"x": x}, y, weight=weight)).with_costs([[0, 1], [7, 0]])
        for weight in (None, np.full(10, 4.0))
    )
    assert certify(heavy).error == certify(plain).error == pytest.approx(0.3)
    assert certify(heavy).value == certify(plain).value


def test_rows_that_only_weigh_alike_in_sum_are_refused() -> None:
    """One row of 2 and three of ⅔: four rows of weight 4, but not of 1 each."""
    data = encode({"x": [0.0, 1.0, 1.0, 1.0]}, ["no", "yes", "yes", "yes"], weight=[2, 2 / 3, 2 / 3, 2 / 3])
    with pytest.raises(ValueError, match="different weights"):
        certify(grow(data))


def test_several_numbers_are_averaged() -> None:
    x, y = np.arange(8.0)[:, np.newaxis], np.column_stack([np.arange(8.0), np.arange(8.0)[::-1] * 2])
    data = encode(x, y)
    tree = grow(data, max_leaf_nodes=2)
    test = encode(x[:3], y[:3] + 1, schema=data.schema)
    lost = (tree.predict(x[:3]) - y[:3] - 1) ** 2
    assert certify(tree, test=test).error == pytest.approx(lost.mean())


@pytest.mark.parametrize("n_classes", [2, 300])
def test_as_many_rows_of_other_classes_are_other_rows(n_classes: int) -> None:
    x, y = np.arange(600.0), np.arange(600) % n_classes
    data = encode({"x": x}, y, classes=True)
    tree = grow(data, max_leaf_nodes=4)
    others = encode({"x": x}, np.roll(y, 1), schema=data.schema)
    assert certify(tree, test=others).rows == 600
    with pytest.raises(ValueError, match="rows that the tree was grown from"):
        certify(tree, test=data)
    with pytest.raises(ValueError, match="not the rows that the tree was grown from"):
        certify(tree, data=others)


def test_a_leaf_without_rows_says_nothing() -> None:
    found = leaf_intervals(stump([9, 1], [1, 9]), rows_of([0.0] * 900, ["yes"] * 3 + ["no"] * 897), delta=0.9)
    assert (found.lower[1], found.upper[1]) == (0, 1)
    assert found.rows.tolist() == [900, 0]
    text = str(found).splitlines()
    assert text[2].split()[-5:] == ["0.0", "%", "and", "100.0", "%"]
    assert 0.0015 < found.lower[0] < 0.002  # rounded down
    assert "0.1 % and" in text[1]


@pytest.mark.parametrize("delta", [0, 1, -1, nan, "0.05"])
def test_delta_outside(delta: Any) -> None:
    for name in METHODS.names:
        with pytest.raises(ValueError, match="delta"):
            certify(stump([1, 0], [0, 1]), name, delta=delta)
    with pytest.raises(ValueError, match="delta"):
        leaf_intervals(stump([1, 0], [0, 1]), rows_of([1.0], ["no"]), delta=delta)


def test_bad_requests() -> None:
    tree, test = stump([3, 1], [0, 4]), rows_of([0.0, 1.0, 1.0], ["no", "yes", "no"])
    for options, words in [
        ({"method": "magic", "test": test}, "known: compression, held_out"),
        ({"method": "held_out"}, "needs rows that were never used"),
        ({"method": "occam", "test": test}, "is for the training rows"),
        ({"test": test, "data": test}, "looks at test= only"),
        ({"test": test, "choices": 0}, "1 or more"),
        ({"test": test, "choices": 2.5}, "1 or more"),
        ({"test": test, "choice": 3}, "has no option 'choice'"),
        ({"test": test, "points": 1}, "has no option 'points'"),
        ({"method": "compression", "points": 3}, "1 row or by the 2"),
        ({"test": test, "costs": [[0, 1]]}, r"must be \(2, 2\)"),
        ({"test": test, "costs": "many"}, "2 × 2"),
        ({"test": test, "costs": [[0, -1], [1, 0]]}, "at least 0"),
        ({"test": test, "costs": [[0, nan], [1, 0]]}, "at least 0"),
        ({"test": test, "costs": np.zeros((2, 2))}, "all zeros"),
        ({"test": test, "loss": "squared_error"}, "for trees that predict numbers"),
        ({"test": test, "loss_bound": 1.0}, "loss_bound is for numbers"),
        ({"test": test.take([])}, "no rows"),
        ({"test": rows_of([1.0, 2.0], ["no", "no"], weight=[1.0, 2.0])}, "different weights"),
        ({"test": encode({"x": [1.0]}, schema=YES_NO)}, "no target"),
        ({"test": encode({"x": [1.0]}, ["maybe"])}, "target of test is not the tree's"),
        ({"test": encode({"z": [1.0, 2.0]}, ["no", "yes"])}, "columns of test are not the tree's"),
    ]:
        with pytest.raises(ValueError, match=words):
            certify(tree, **options)
    for wrong in ({"test": [[1.0]]}, {"data": [[1.0]]}):
        with pytest.raises(TypeError, match="Dataset"):
            certify(tree, **wrong)
    with pytest.raises(TypeError, match="a tree or a fitted model is wanted here, not a str"):
        certify("tree")


def test_weights_of_training_rows() -> None:
    """All alike they change nothing; otherwise rows are no equal draws."""
    columns, y = {"x": np.arange(40.0)}, ["a", "b"] * 5 + ["b"] * 30
    plain = grow(encode(columns, y), max_leaf_nodes=4)
    alike = grow(encode(columns, y, weight=np.full(40, 0.3)), max_leaf_nodes=4)
    assert certify(alike).value == certify(plain).value
    for weight in (np.arange(1.0, 41.0), np.where(np.arange(40) % 2, 0.5, 1.5)):
        with pytest.raises(ValueError, match="different weights"):
            certify(grow(encode(columns, y, weight=weight), max_leaf_nodes=4))
    with pytest.raises(ValueError, match="different weights"):
        certify(stump([0.5, 2.5], [1, 2]))
    zeros = rows_of([0.0, 1.0, 1.0], ["no", "yes", "no"], weight=[2.0, 2.0, 0.0])
    assert certify(stump([3, 1], [0, 4]), test=zeros).rows == 2


def test_a_missing_class_and_an_unknown_category() -> None:
    data = encode({"c": ["u", "u", "v", "v", "w", "w"]}, ["a", "a", "b", "b", "c", "c"])
    tree = grow(data)
    test = encode({"c": ["u", "v", "new", None]}, ["a", "a", "b", "b"], schema=data.schema)
    certificate = certify(tree, test=test)
    wrong = (tree.predict({"c": ["u", "v", "new", None]}) != ["a", "a", "b", "b"]).sum()
    assert certificate.error == wrong / 4
    assert certificate.value == binomial_upper(wrong, 4, log(20))
    assert leaf_intervals(tree, test).rows.sum() == 4


def test_a_single_leaf() -> None:
    data = encode({"x": [1.0] * 200}, ["a"] * 190 + ["b"] * 10)
    tree = grow(data)
    assert tree.n_leaves == 1
    assert certify(tree, test=data).error == 0.05  # nothing was learnt from where rows lie
    for name in BOUNDS:
        certificate = certify(tree, name, data=data)
        assert 0.05 < certificate.value < 0.3
        assert certificate.check(data)
    assert leaf_intervals(tree, data).leaf.tolist() == [0]


def test_one_row_and_hopeless_trees() -> None:
    tree = stump([1, 0], [0, 1])
    assert certify(tree, test=rows_of([1.0], ["yes"])).value == pytest.approx(0.95)
    assert certify(tree, test=rows_of([1.0], ["no"])).value == 1
    for name in BOUNDS:
        assert certify(tree, name).value > 0.99
        assert certify(tree, name).check()


def test_complete_is_not_believed_against_the_rows() -> None:
    data = encode({"x": [1.0, 2.0, nan, 4.0]}, ["a", "a", "b", "b"])
    tree = grow(data)
    assert not certify(tree, data=data).complete
    with pytest.raises(ValueError, match="miss values"):
        certify(tree, data=data, complete=True)
    assert certify(tree, data=data).breakdown["missing"] == tree.n_leaves - 1


def test_many_classes() -> None:
    y = np.arange(3000) % 1500
    data = encode({"x": np.arange(3000.0)}, y, classes=True)
    tree = grow(data, max_leaf_nodes=5)
    assert tree.schema.is_wide
    certificate = certify(tree, test=data, check_rows=False)
    assert certificate.error == pytest.approx((tree.predict({"x": np.arange(3000.0)}) != y).mean())
    assert certify(tree, data=data).error == pytest.approx(certificate.error)
    assert leaf_intervals(tree, data).errors.sum() == round(certificate.error * 3000)


@pytest.mark.slow
def test_depth() -> None:
    """A chain of 100,000 tests: every method, every check, no recursion."""
    depth = 100_000
    node: Branch | Leaf = Leaf([0, 1])
    for i in range(depth):
        node = Branch(Below("x", float(i)), node, Leaf([i % 2, 1 - i % 2]))
    tree = Tree.write(YES_NO, node)
    test = rows_of(np.arange(500.0), ["yes", "no"] * 250)
    for name in ("occam", "mdl", "vc"):
        assert certify(tree, name).check()
    assert certify(tree, "reduced_error", test=test).check(test)
    assert certify(tree, test=test).check(test)
    assert len(leaf_intervals(tree, test).leaf) == depth + 1


def test_the_formula_of_the_book_ignores_thresholds_unless_paid() -> None:
    mdl = BOUNDS["mdl"]
    assert mdl(180, 3000, leaves=17, columns=57, test_bits=128) > mdl(180, 3000, leaves=17, columns=57)
    assert isinstance(certify(stump([30, 1], [0, 40])), Certificate)
