"""The tree is a function of the multiset of rows: to the last byte of the model file.

What must not matter: the order of the rows; which nodes are searched by histograms, in excerpts or in sorted
lists; where the bins have their edges; the number of threads; and whether equal rows are written one by one
or once with their weight.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checks import same_structure
from tests.oracle import CLASSES, NUMBERS
from tests.strategies import ABSOLUTE, Array, Table, limits, table_of, tables
from treewright.encoding import Dataset, encode
from treewright.growing import grow
from treewright.parameters.values import Costs, Gain
from treewright.saving import model_lines
from treewright.tree import Tree

EVERY = [*CLASSES, *NUMBERS]
LISTS_ONLY = 10**6
every_criterion = pytest.mark.parametrize("criterion", EVERY)
Options = dict[str, Any]


def file_of(tree: Tree) -> bytes:
    """What a model file holds of a tree."""
    return b"".join(model_lines(tree))


def with_edges(data: Dataset, seed: int) -> Dataset:
    """The same rows in bins of other edges: those of a table in which a few rows are repeated many times."""
    random = np.random.default_rng(seed)
    few = random.integers(0, data.n_rows, int(random.integers(1, 4)))
    bins, is_mixed = data.take(np.concatenate([np.arange(data.n_rows), np.repeat(few, 3000)])).bins()
    data.__dict__["_bins"] = np.ascontiguousarray(bins[: data.n_rows]), is_mixed
    return data


def weights(random: np.random.Generator, n: int, kind: str) -> Array | None:
    if kind == "none":
        return None
    if kind == "counts":
        return random.integers(1, 4, n).astype(float)
    if kind == "real":
        return random.gamma(2.0, size=n)
    return 10.0 ** random.uniform(-6, 6, n)


def target(random: np.random.Generator, criterion: str, signal: Array, kind: str) -> Array:
    """Classes, or numbers: smooth, few, all near a large one, or with outliers."""
    if criterion in CLASSES:
        edges = np.quantile(signal, np.arange(1, 4) / 4)[: {"plain": 1, "few": 2}.get(kind, 3)]
        return np.digitize(signal, edges)
    y = np.exp(signal) if criterion == "poisson" else signal
    if kind == "few":
        return np.round(np.abs(y)) + (criterion == "poisson")
    if kind == "offset":  # not so far from zero that poisson's logarithms tell nothing of the difference
        return y + (10 if criterion == "poisson" else 1e9)
    if kind == "outliers":
        y[random.integers(0, len(y), int(random.integers(1, 3)))] = 1e15
    return y


@st.composite
def real_tables(draw: Any, criterion: str, *, max_rows: int = 90) -> Table:
    """Numbers as they are measured, holes, categories; weights over twelve decades, outliers of 1e15."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(4, max_rows))
    signal = random.normal(size=n)
    columns, kinds = (
        [],
        draw(st.lists(st.sampled_from(["smooth", "coarse", "category"]), min_size=1, max_size=4)),
    )
    for kind in kinds:
        x = signal * random.choice([0, 1, -1]) + random.normal(size=n)
        if kind == "category":
            columns.append(np.clip(np.round(2 * x) + 2, -1, 7).astype(np.int32))
            continue
        x = np.round(x, 1) if kind == "coarse" else x
        columns.append(np.where(random.random(n) < random.choice([0.0, 0.1]), np.nan, x))
    y = target(random, criterion, signal, draw(st.sampled_from(["plain", "few", "offset", "outliers"])))
    weight = weights(random, n, draw(st.sampled_from(["none", "counts", "real", "decades"])))
    return table_of(
        columns, y, kinds=["category" if k == "category" else "number" for k in kinds], weight=weight
    )


def any_table(criterion: str) -> st.SearchStrategy[Table]:
    """Tables of ties and unpleasant values, and tables of real numbers."""
    return st.one_of(tables(criterion, spread=True), real_tables(criterion))


def draws() -> st.SearchStrategy[Options]:
    """Random cuts and drawn columns, most of the time neither."""
    return st.one_of(
        st.just({}),
        st.just({}),
        st.fixed_dictionaries(
            {"random_state": st.integers(0, 3)},
            optional={"splitter": st.just("random"), "max_features": st.integers(1, 2)},
        ),
    )


def options_for(criterion: str) -> st.SearchStrategy[Options]:
    gains = st.sampled_from([{}, {"category_gain": "corrected"}])
    tests = st.sampled_from([{}, {}, {"selection": Gain(significance=0.3)}] if criterion in CLASSES else [{}])
    return st.tuples(limits(), draws(), gains, tests).map(
        lambda parts: {k: v for p in parts for k, v in p.items()}
    )


def grown(table: Table, criterion: str, options: Options, seed: int | None = None) -> Tree:
    plain = {ABSOLUTE.get(name, name): value for name, value in options.items()}
    data = table.dataset() if seed is None else with_edges(table.dataset(), seed)
    return grow(data, criterion=criterion, **{"category_gain": "plain"} | plain)


@pytest.mark.slow
@every_criterion
@given(data=st.data())
def test_rows_alone_make_the_tree(criterion: str, data: st.DataObject) -> None:
    """In any order, in bins of any edges, by any engine, on any number of threads."""
    table, options = data.draw(any_table(criterion)), data.draw(options_for(criterion))
    wanted = file_of(grown(table, criterion, options | {"_small_rows": LISTS_ONLY}))
    for small_rows in (1, 3, 10, 30):
        seed = data.draw(st.integers(0, 9))
        shuffled = table.rows(np.random.default_rng(seed).permutation(table.n_rows))
        ways = {"_small_rows": small_rows, "n_jobs": 1 + seed % 3}
        assert file_of(grown(shuffled, criterion, options | ways, seed)) == wanted, ways
    assert file_of(grown(table.rows(np.arange(table.n_rows)[::-1]), criterion, options)) == wanted


@pytest.mark.slow
@every_criterion
@given(data=st.data())
def test_rows_alone_make_the_tree_where_sums_have_two_words(criterion: str, data: st.DataObject) -> None:
    """Nodes of more rows than `_word_rows` add up two words, their descendants one."""
    table, options = data.draw(any_table(criterion)), data.draw(options_for(criterion))
    options |= {"_word_rows": data.draw(st.sampled_from([2, 5, 20, 64]))}
    wanted = file_of(grown(table, criterion, options | {"_small_rows": LISTS_ONLY}))
    for small_rows in (3, 10, 30):
        seed = data.draw(st.integers(0, 9))
        shuffled = table.rows(np.random.default_rng(seed).permutation(table.n_rows))
        ways = {"_small_rows": small_rows, "n_jobs": 1 + seed % 3}
        assert file_of(grown(shuffled, criterion, options | ways, seed)) == wanted, ways


@pytest.mark.slow
@every_criterion
@given(data=st.data())
def test_a_weight_is_a_number_of_equal_rows(criterion: str, data: st.DataObject) -> None:
    """Only the numbers of rows, and limits that count rows, tell the two apart."""
    table, options = replace(data.draw(any_table(criterion)), weight=None), data.draw(options_for(criterion))
    options = {name: value for name, value in options.items() if "samples" not in name}
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    counts = random.integers(1, 5, table.n_rows)
    if criterion == "poisson" and not all(y.any() for y in table.targets):
        return  # there is no mean to divide by
    copies = table.rows(random.permutation(np.repeat(np.arange(table.n_rows), counts)))
    one = grown(table.weighted(counts), criterion, options)
    for small_rows in (1, 10, LISTS_ONLY):
        two = grown(copies, criterion, options | {"_small_rows": small_rows})
        same_structure(one, two)
        assert one.statistic.tobytes() == two.statistic.tobytes()


@given(data=st.data())
def test_costs_and_priors_in_any_order(data: st.DataObject) -> None:
    """Priors are compared with the weights of the classes; the tree keeps the weights of the rows."""
    table = data.draw(real_tables("gini"))
    n_classes = int(table.targets[0].max()) + 1
    places = np.arange(n_classes)
    costs = np.where(places[:, np.newaxis] == places, 0.0, 1.0 + places[:, np.newaxis] + 0.3 * places)
    split = data.draw(st.sampled_from(["altered_priors", "generalised_gini"]))
    options = {"costs": Costs(costs, priors=np.full(n_classes, 1 / n_classes), split=split), "max_depth": 4}
    shuffled = table.rows(np.random.default_rng(table.n_rows).permutation(table.n_rows))
    assert file_of(grown(table, "gini", options)) == file_of(grown(shuffled, "gini", options))


@pytest.mark.slow
@every_criterion
@pytest.mark.parametrize("weight", ["none", "real", "decades"])
@pytest.mark.parametrize("kind", ["plain", "outliers"])
def test_many_rows_in_any_order(criterion: str, weight: str, kind: str) -> None:
    """Enough rows for bins from a sample of them, for excerpts and for lists below."""
    random = np.random.default_rng(7)
    n = 1200 if criterion == "absolute_error" else 6000
    x = random.normal(size=(n, 3))
    x[random.random(n) < 0.05, 1] = np.nan
    codes = random.integers(-1, 7, n)
    signal = x[:, 0] + x[:, 2] ** 2 + 0.3 * (codes % 3) + random.normal(size=n)
    y = target(random, criterion, signal, kind)
    columns, kinds = [*x.T, np.round(x[:, 0] - x[:, 2], 1), codes], ["number"] * 4 + ["category"]
    table = table_of(columns, y, kinds=kinds, weight=weights(random, n, weight))
    for options in (
        {"max_depth": 9},
        {"max_leaf_nodes": 40},
        {"min_samples_leaf": 3, "max_features": 2},
        {"max_depth": 9, "_word_rows": 64},
        {"max_leaf_nodes": 40, "_word_rows": 1000},
    ):
        wanted = file_of(grown(table, criterion, options | {"_small_rows": LISTS_ONLY}))
        for small_rows, n_jobs in ((50, 1), (400, 2), (0, 3)):
            shuffled = table.rows(random.permutation(n))
            tree = grown(shuffled, criterion, options | {"_small_rows": small_rows, "n_jobs": n_jobs})
            assert file_of(tree) == wanted, (options, small_rows)


@pytest.mark.parametrize("seed", range(6))
def test_two_rows_have_one_cut_in_every_search(seed: int) -> None:
    """All columns share it, and of weights over 12 decades none of them may score it better by rounding."""
    random = np.random.default_rng(seed)
    n = int(random.integers(5, 60))
    weight = 10.0 ** random.uniform(-6, 6, n)
    data = encode(random.normal(size=(n, 4)), random.normal(size=n), weight=weight)
    wanted = file_of(grow(data, criterion="squared_error", _small_rows=LISTS_ONLY))
    for small_rows in (1, 2, 3):
        assert file_of(grow(data, criterion="squared_error", _small_rows=small_rows)) == wanted
