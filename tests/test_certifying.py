"""Certificates: the numbers of the field's formulas, their checks, their coverage, and bad input."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from math import log, log2, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables

from treewright import (
    Below,
    Branch,
    Certificate,
    Column,
    Dataset,
    Leaf,
    Schema,
    Target,
    Tree,
    certify,
    encode,
    grow,
)
from treewright.certifying import (
    BOUNDS,
    HEADER_BITS,
    METHODS,
    Certificates,
    binomial_upper,
    excess,
    leaf_intervals,
    node_bits,
    penalty,
)
from treewright.certifying.bounds import mdl, occam, untested_bits
from treewright.certifying.kearns_mansour import stump_dimension
from treewright.datasets import load_spam
from treewright.encoding import Dataset as Rows

# 17 leaves on 57 columns, 180 of 3000 training rows wrong, δ = 0.05
SETTING: dict[str, Any] = {"leaves": 17, "columns": 57, "classes": 2, "delta": 0.05}
OWN_BITS = untested_bits(17, 57, 2)
YES_NO = Schema((Column("x"),), (Target("y", ("no", "yes")),))


def bound(name: str, bits: float = OWN_BITS, **options: Any) -> float:
    return float(BOUNDS[name](180, 3000, bits=bits, **SETTING, **options))


def stump(left: list[float], right: list[float]) -> Tree:
    return Tree.write(YES_NO, Branch(Below("x", 0.5), Leaf(left), Leaf(right)))


def rows_of(x: Any, y: Any, schema: Schema = YES_NO, **more: Any) -> Dataset:
    return encode({"x": x}, y, schema=schema, **more)


@pytest.fixture(scope="module")
def spam() -> tuple[Tree, Dataset, Dataset]:
    """The tree of 17 leaves, its training rows, and the official test rows."""
    emails = load_spam()
    train = encode(emails.table(~emails.is_test), emails.target[~emails.is_test])
    test = encode(emails.table(emails.is_test), emails.target[emails.is_test], schema=train.schema)
    return grow(train, max_leaf_nodes=17), train, test


# ---- the table of bounds ------------------------------------------------------------------------------


def test_the_code_without_thresholds() -> None:
    assert round(float(OWN_BITS), 3) == round(33 + 16 * log2(57) + 17, 3) == 143.326


def test_bounds_from_training_rows() -> None:
    assert bound("mdl") == pytest.approx(0.245, abs=5e-4)
    assert bound("mdl", nats=True) == pytest.approx(0.214, abs=5e-4)
    assert bound("occam_hoeffding") == pytest.approx(0.191, abs=5e-4)
    assert bound("pac_bayes") == pytest.approx(0.144, abs=5e-4)
    assert bound("occam") == pytest.approx(0.1405, abs=5e-5)
    assert bound("compression", points=1) == pytest.approx(0.197, abs=5e-4)
    assert bound("vc") == pytest.approx(0.436, abs=5e-4)


@pytest.mark.parametrize(("each", "value"), [(5, 0.166), (8, 0.180), (11.6, 0.196), (16, 0.214), (32, 0.274)])
def test_thresholds_have_their_price(each: float, value: float) -> None:
    assert bound("occam", OWN_BITS + 16 * each) == pytest.approx(value, abs=5e-4)


def counted(errors: int, rows: int) -> tuple[Tree, Dataset]:
    """A tree of 17 leaves and held-out rows of which it gets so many wrong."""
    node: Branch | Leaf = Leaf([0, 5])
    for i in range(16):
        node = Branch(Below("x", float(-i)), node, Leaf([5, 0]))
    return Tree.write(YES_NO, node), rows_of(np.ones(rows), ["yes"] * errors + ["no"] * (rows - errors))


@pytest.mark.parametrize(
    ("share", "plain", "chosen", "pruned"), [(0.06, 0.074, 0.085, 0.125), (0.08, 0.096, 0.108, 0.152)]
)
def test_bounds_from_held_out_rows(share: float, plain: float, chosen: float, pruned: float) -> None:
    tree, test = counted(round(share * 1000), 1000)
    certificates = [certify(tree, test=test), certify(tree, test=test, choices=30)]
    certificates.append(certify(tree, "reduced_error", test=test))
    assert [c.value for c in certificates] == pytest.approx([plain, chosen, pruned], abs=5e-4)
    assert [c.bits for c in certificates] == pytest.approx([0, log2(30), 33])
    assert all(c.check(test) for c in certificates)


# The last is 0.09248; 0.093 is what rounding it twice, or up, makes of it.
@pytest.mark.parametrize(("rows", "value"), [(300, 0.1107), (500, 0.1029), (1500, 0.0925)])
def test_more_rows_more_certainty(rows: int, value: float) -> None:
    tree, test = counted(round(0.08 * rows), rows)
    certificate = certify(tree, test=test)
    assert certificate.value == pytest.approx(value, abs=5e-5)
    assert certificate.shown == {300: "11.1 %", 500: "10.3 %", 1500: "9.3 %"}[rows]


def test_kearns_and_mansour() -> None:
    alpha = penalty([3000, 1000, 200, 50], [0, 2, 4, 6], [33, 5, 7, 3], rows=3000, columns=57)
    assert alpha.round(4).tolist() == [0.2194, 0.1983, 0.5267, 0.9735]
    exact = penalty(1000, 2, 5, rows=3000, columns=57, form="counted")
    trees = 2 * 57**2 * 2**3  # two shapes of two inner nodes
    assert exact == pytest.approx(np.sqrt((2 * log(114) + log(trees) + log(60_000)) / 1000))
    assert penalty(100, 3, 7, rows=1000, columns=9, form="mansour97", c=0.5) == pytest.approx(0.1)
    assert penalty(100, 3, 7, rows=1000, columns=9, form="vc") > penalty(100, 3, 7, rows=1000, columns=9)
    assert [stump_dimension(d) for d in (1, 3, 57)] == [2, 4, 8]
    assert excess(33, 6, rows=12_000, columns=57) < excess(33, 6, rows=3000, columns=57)
    with pytest.raises(ValueError, match="form is"):
        penalty(1, 1, 1, rows=1, columns=1, form="other")  # type: ignore[arg-type]


# ---- laws ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_are_monotone_and_vectorised(name: str) -> None:
    leaves, errors = np.arange(1, 60), np.arange(59) * 5
    by_errors = BOUNDS[name](errors, 3000, leaves=9, bits=90.0, columns=7)
    by_size = BOUNDS[name](100, 3000, leaves=leaves, bits=10.0 * leaves, columns=7)
    by_rows = BOUNDS[name](10, 1000 * leaves, leaves=9, bits=90.0, columns=7)
    deltas = [
        float(BOUNDS[name](10, 1000, leaves=9, bits=90.0, columns=7, delta=d)) for d in (0.5, 0.1, 1e-9)
    ]
    assert (np.diff(by_errors) > 0).all()
    assert ((np.diff(by_size) > 0) | (by_size[1:] == 1)).all()
    assert (np.diff(by_rows) < 0).all()
    assert (np.diff(deltas) > 0).all()
    assert (by_errors > errors / 3000).all()
    one = BOUNDS[name](errors[20], 3000, leaves=9, bits=90.0, columns=7)
    assert one == pytest.approx(by_errors[20], rel=1e-12)
    assert BOUNDS[name](3000, 3000, leaves=9, bits=1e6, columns=7) == 1


def test_a_pruner_can_add_up_bits(spam: tuple[Tree, Dataset, Dataset]) -> None:
    tree = spam[0]
    leaf, split = node_bits(tree, complete=True)
    for nodes in ([], [1], [3, 20], [0]):
        pruned = tree.collapse(nodes)
        own = certify(pruned, complete=True)
        inner = ~pruned.is_leaf
        same = [
            int(np.flatnonzero((tree.statistic == row).all(axis=1))[0])
            for row in np.asarray(pruned.statistic)
        ]
        total = HEADER_BITS + leaf[same][~inner].sum() + split[same][inner].sum()
        assert own.bits == pytest.approx(total)
        assert own.value == pytest.approx(float(occam(own.error * own.rows, own.rows, bits=total)))


def test_spam(spam: tuple[Tree, Dataset, Dataset]) -> None:
    """From the training rows alone, below 20 %: half of what the share of spam would allow."""
    tree, train, test = spam
    certificate = certify(tree, data=train)
    print(certificate)
    assert certificate.value < 0.199
    assert certificate.breakdown["thresholds"] / 16 < 8.5
    assert certificate.value < certify(tree).value < certificate.value + 0.01
    assert certify(tree, test=test).value < 0.1
    assert certify(grow(train, max_leaf_nodes=8), data=train).value < 0.177
    assert all(certify(tree, name, data=train).check(train) for name in BOUNDS)


@given(st.data())
def test_every_certificate_of_any_tree_checks(data: st.DataObject) -> None:
    """Numbers, times, categories, missing values, several targets, one leaf, few rows."""
    table = data.draw(tables("gini", weighted=False))
    tree = table.grow("gini", max_leaf_nodes=data.draw(st.integers(2, 9)))
    test = table.rows(np.arange(table.n_rows)[: data.draw(st.integers(1, table.n_rows))]).dataset()
    test = Rows(tree.schema, test.columns, test.targets)
    for name in METHODS:
        options = {"test": test, "check_rows": False} if name in ("held_out", "reduced_error") else {}
        if name == "vc" and len(tree.schema.targets) > 1:
            with pytest.raises(ValueError, match="right or wrong"):
                certify(tree, name)
            continue
        certificate = certify(tree, name, delta=data.draw(st.sampled_from([0.5, 0.05, 1e-12])), **options)
        assert certificate.error <= certificate.value <= 1
        assert certificate.check()
        assert not certificate.value < 1 or not replace(certificate, value=certificate.value * 0.99).check()


def test_a_changed_certificate_does_not_check(spam: tuple[Tree, Dataset, Dataset]) -> None:
    tree, train, test = spam
    certificates = [certify(tree, name, data=train) for name in BOUNDS]
    certificates += [certify(tree, test=test, choices=7), certify(tree, "reduced_error", test=test)]
    certificates.append(certify(tree, test=test, costs=[[0, 1], [3, 0]]))
    for certificate in certificates:
        assert certificate.check()
        first = next(iter(certificate.breakdown), "shape")
        fewer = dict(certificate.breakdown) | {first: certificate.breakdown.get(first, 0) - 5.0}
        for change in (
            {"value": certificate.value - 1e-4},
            {"delta": certificate.delta / 2},
            {"error": certificate.error * 0.9},
            {"rows": certificate.rows + 100},
            {"breakdown": fewer},
            {"limit": "another"},
        ):
            assert not replace(certificate, **change).check(), change
    assert not certificates[-2].check(train)


def test_certificates_are_values(spam: tuple[Tree, Dataset, Dataset]) -> None:
    tree, _, test = spam
    certificate = certify(tree, test=test)
    for same in (pickle.loads(pickle.dumps(certificate)), copy.deepcopy(certificate), replace(certificate)):
        assert same == certificate
        assert hash(same) == hash(certificate)
        assert same.check(test)
    with pytest.raises(AttributeError):
        certificate.value = 0.0  # type: ignore[misc]
    with pytest.raises(TypeError):
        certificate.breakdown["shape"] = 0.0  # type: ignore[index]
    assert certificate.confidence == 0.95
    assert len(certificate.assumptions) == 2


# ---- what people read ------------------------------------------------------------------------------------


def test_the_box() -> None:
    tree, test = counted(80, 1000)
    certificates = [certify(tree, test=test), certify(tree, test=test, choices=30), certify(tree)]
    assert str(Certificates(tuple(certificates), estimate=(0.076, 0.005, 10))).splitlines() == [
        "error on 1,000 rows never used for fitting: 8.0 %   → with 95 % confidence the true error is "
        "below 9.6 %",
        "(the same rows chose 1 of 30 trees                  → below 10.9 %)",
        "from the training rows alone (Occam, 221 bits)      → below 84.1 %",
        "10-fold estimate 7.6 % ± 0.5 %  (an estimate, no guarantee)",
    ]
    assert Certificates(tuple(certificates)).check()
    with pytest.raises(ValueError, match="at least one"):
        Certificates(())


def test_words() -> None:
    tree, test = counted(80, 1000)
    assert repr(certify(tree, test=test)) == (
        "<Certificate: true error < 9.6 % with confidence 0.95, held_out, 1,000 rows>"
    )
    assert "1 of 5 trees: 8.0 %   → with 99.9 % confidence" in str(
        certify(tree, test=test, choices=5, delta=0.001)
    )
    assert "chose among all prunings" in str(certify(tree, "reduced_error", test=test))
    hopeless = str(certify(stump([1, 0], [0, 1]), "vc"))
    assert hopeless.endswith("nothing can be said with 95 % confidence")
    cost = certify(tree, test=test, costs=[[0, 1], [20, 0]])
    assert str(cost).startswith("cost on 1,000 rows never used for fitting: 1.6   → with 95 % confidence")


def test_the_shown_bound_is_rounded_up() -> None:
    tree, test = counted(80, 1000)
    for delta in (0.5, 0.3, 0.05, 1e-3, 1e-6):
        certificate = certify(tree, test=test, delta=delta)
        assert (
            certificate.value <= float(certificate.shown.removesuffix(" %")) / 100 < certificate.value + 0.001
        )
        paid = certify(tree, test=test, delta=delta, costs=[[0, 1], [20, 0]])
        assert paid.value <= float(paid.shown) < paid.value * 1.001


# ---- coverage by simulation ------------------------------------------------------------------------------


def test_coverage_of_certificates() -> None:
    """A tree with a true error of 10 %: held-out rows get it wrong in at most a share δ of all draws."""
    draw = np.random.default_rng(3)
    tree, rows = stump([9, 1], [1, 9]), 60
    wrong = draw.binomial(rows, 0.1, 200_000)
    for delta in (0.05, 0.2):
        for _ in range(10):
            x = draw.integers(0, 2, rows)
            y = np.where(draw.random(rows) < 0.1, 1 - x, x)
            test = Rows(YES_NO, x.astype(float)[:, np.newaxis], y[np.newaxis].astype(np.int32))
            limit = binomial_upper((x != y).sum(), rows, -log(delta))
            assert certify(tree, test=test, delta=delta).value == limit
        missed = (binomial_upper(wrong, rows, -log(delta)) < 0.1).mean()
        assert delta / 4 < missed <= delta + 4 * np.sqrt(delta / len(wrong))


def test_coverage_after_choosing() -> None:
    """The best of 30 worthless trees on 50 rows: δ/30 holds, δ alone does not."""
    draw = np.random.default_rng(5)
    best = draw.binomial(50, 0.5, (20_000, 30)).min(axis=1)
    assert (binomial_upper(best, 50, log(20 * 30)) < 0.5).mean() <= 0.05
    assert (binomial_upper(best, 50, log(20)) < 0.5).mean() > 0.3


def test_coverage_of_occam_on_noise() -> None:
    """Trees grown on labels of pure noise: none of 60 gets a bound below the true error, one half."""
    draw = np.random.default_rng(11)
    for trial in range(60):
        data = encode(draw.integers(0, 9, (300, 5)).astype(float), draw.integers(0, 2, 300), classes=True)
        tree = grow(data, max_leaf_nodes=2 + trial % 20)
        for name in BOUNDS:
            assert certify(tree, name, data=data, delta=0.5).value >= 0.5


def test_coverage_of_leaf_intervals() -> None:
    draw = np.random.default_rng(2)
    tree, truth, missed = stump([9, 1], [1, 9]), np.array([0.1, 0.3]), 0
    for _ in range(400):
        x = draw.integers(0, 2, 40)
        y = np.where(draw.random(40) < truth[x], 1 - x, x)
        found = leaf_intervals(
            tree, Rows(YES_NO, x.astype(float)[:, np.newaxis], y[np.newaxis].astype(np.int32)), delta=0.2
        )
        missed += not ((found.lower <= truth) & (truth <= found.upper)).all()
    assert missed <= 0.2 * 400


# ---- other losses ------------------------------------------------------------------------------------------


def test_costs_bound_the_mean_cost() -> None:
    tree, test = counted(80, 1000)
    matrix = np.array([[0.0, 2.0], [5.0, 0.0]])
    certificate = certify(tree, test=test, costs=matrix)
    assert certificate.error == pytest.approx(0.4)
    assert 0.4 < certificate.value < 5 * binomial_upper(80, 1000, log(400))
    assert certificate.most == 5
    assert certificate.check(test, costs=matrix)
    assert not certificate.check(test, costs=matrix / 2)
    assert any("more than 5" in text for text in certificate.assumptions)


def test_several_targets_are_averaged() -> None:
    y = np.array([[0, 1], [1, 1], [0, 0], [1, 0]] * 30)
    x = np.arange(120.0)[:, np.newaxis]
    data = encode(x, y, classes=True)
    tree = grow(data, max_leaf_nodes=3)
    certificate = certify(tree, data=data)
    assert certificate.limit == "kl"
    assert certificate.error == pytest.approx((tree.predict(x) != y).mean())
    assert certificate.check(data)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_numbers_need_a_bound_for_a_guarantee(criterion: Any) -> None:
    draw = np.random.default_rng(0)
    x = draw.random(300)
    data = encode({"x": x[:150]}, 3 * x[:150])
    test = encode({"x": x[150:]}, 3 * x[150:], schema=data.schema)
    tree = grow(data, max_leaf_nodes=6, criterion=criterion)
    estimate = certify(tree, test=test, loss=criterion)
    assert not estimate.guarantee
    assert "an estimate, no guarantee" in str(estimate)
    sure = certify(tree, test=test, loss=criterion, loss_bound=9.0)
    assert sure.guarantee
    assert estimate.error == sure.error < estimate.value < sure.value < 9
    assert estimate.check(test)
    assert sure.check(test)
    with pytest.raises(ValueError, match="a row loses"):
        certify(tree, test=test, loss=criterion, loss_bound=1e-6)
    with pytest.raises(ValueError, match="a positive number"):
        certify(tree, test=test, loss_bound=nan)
    with pytest.raises(ValueError, match="cannot be bounded"):
        certify(tree)
    with pytest.raises(ValueError, match="costs are for classes"):
        certify(tree, test=test, costs=[[0, 1], [1, 0]])
    assert certify(tree, test=test.take([0]), loss=criterion).value == np.inf


# ---- bad input and borders ---------------------------------------------------------------------------------


def test_training_rows_are_no_test_rows(spam: tuple[Tree, Dataset, Dataset]) -> None:
    tree, train, test = spam
    with pytest.raises(ValueError, match="rows that the tree was grown from"):
        certify(tree, test=train)
    with pytest.raises(ValueError, match="rows that the tree was grown from"):
        certify(tree, test=train.take(np.arange(train.n_rows)[::-1]))
    assert certify(tree, test=train, check_rows=False).error == certify(tree).error
    with pytest.raises(ValueError, match="not the rows that the tree was grown from"):
        certify(tree, data=test)
    numbers = encode({"x": [1.0, 2.0, 3.0]}, [0.5, 1.5, 1.0])
    with pytest.raises(ValueError, match="rows that the tree was grown from"):
        certify(grow(numbers), test=numbers)


@pytest.mark.parametrize("delta", [0, 1, -1, nan, "0.05"])
def test_delta_outside(delta: Any) -> None:
    for name in METHODS:
        with pytest.raises(ValueError, match="delta"):
            certify(stump([1, 0], [0, 1]), name, delta=delta)
    with pytest.raises(ValueError, match="delta"):
        leaf_intervals(stump([1, 0], [0, 1]), rows_of([1.0], ["no"]), delta=delta)


def test_bad_requests() -> None:
    tree, test = stump([3, 1], [0, 4]), rows_of([0.0, 1.0, 1.0], ["no", "yes", "no"])
    for options, words in [
        ({"method": "magic", "test": test}, "known: held_out"),
        ({"method": "held_out"}, "needs rows that were never used"),
        ({"method": "occam", "test": test}, "is for the training rows"),
        ({"test": test, "data": test}, "looks at test= only"),
        ({"test": test, "choices": 0}, "1 or more"),
        ({"test": test, "choices": 2.5}, "1 or more"),
        ({"test": test, "choice": 3}, "has no option 'choice'"),
        ({"test": test, "points": 1}, "has no option 'points'"),
        ({"method": "compression", "points": 3}, "1 row or by the 2"),
        ({"test": test, "costs": [[0, 1]]}, r"must be \(2, 2\)"),
        ({"test": test, "costs": "many"}, "2 × 2 numbers"),
        ({"test": test, "costs": [[0, -1], [1, 0]]}, "at least 0"),
        ({"test": test, "costs": [[0, nan], [1, 0]]}, "at least 0"),
        ({"test": test, "costs": np.zeros((2, 2))}, "not all of them 0"),
        ({"test": test, "loss": "squared_error"}, "for trees that predict numbers"),
        ({"test": test, "loss_bound": 1.0}, "loss_bound is for numbers"),
        ({"test": test.take([])}, "no rows"),
        ({"test": rows_of([1.0, 2.0], ["no", "no"], weight=[1.0, 2.0])}, "different weights"),
        ({"test": encode({"x": [1.0]}, schema=YES_NO)}, "no target"),
        ({"test": encode({"x": [1.0]}, ["maybe"])}, "targets are not the tree's"),
        ({"test": encode({"z": [1.0, 2.0]}, ["no", "yes"])}, "columns are not the tree's"),
    ]:
        with pytest.raises(ValueError, match=words):
            certify(tree, **options)
    for wrong in ({"test": [[1.0]]}, {"data": [[1.0]]}):
        with pytest.raises(TypeError, match="Dataset"):
            certify(tree, **wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a Tree can be certified"):
        certify("tree")  # type: ignore[arg-type]


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
    assert mdl(180, 3000, leaves=17, columns=57, test_bits=128) > mdl(180, 3000, leaves=17, columns=57)
    assert isinstance(certify(stump([30, 1], [0, 40])), Certificate)
