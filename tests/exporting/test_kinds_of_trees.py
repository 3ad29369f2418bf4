"""Sums of columns, surrogates, divided rows, complete rows only, many branches: each format says such a tree
to the last bit, or refuses it in a sentence.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.exporting.kinds_of_trees import (
    CC,
    KINDS,
    OPTIONS,
    RUNS,
    answers,
    hostile_kind,
    summed,
    summing_tree,
    tree_of,
    with_sums,
)
from tests.exporting.trees import chain, mixed_tree, same_bits
from tests.tree.routed_trees import routed, with_surrogates
from treewright import Below, Branch, Column, Leaf, Schema, Target, Tree, encode, export, grow
from treewright.exporting import FORMATS, treelite
from treewright.exporting._check.probes import decode_table, probes
from treewright.tree.surrogates import Surrogates

pytestmark = pytest.mark.slow

REFUSED = {
    **{(kind, of): "divides rows" for kind in KINDS[3:5] for of in ("duckdb", "sqlite", "onnx", "pmml")},
    **{(kind, "treelite"): "divides rows" for kind in KINDS[3:5]},
    **{(kind, "treelite"): "one column at a time" for kind in ("sums", "surrogates and sums", "complete")},
}


@pytest.fixture(params=OPTIONS)
def way(request: pytest.FixtureRequest) -> str:
    """A format whose engine is there."""
    if not RUNS.get(OPTIONS[request.param][0], True):
        pytest.skip("what runs it is not installed")
    return str(request.param)


# ---- the law -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_it_answers_as_the_tree_or_refuses(kind: str, way: str) -> None:
    format, options = OPTIONS[way]
    for target, leaves in (("texts", 9), ("numbers", 70)):
        tree = tree_of(kind, target, leaves)
        if (kind, way) in REFUSED:
            with pytest.raises(ValueError, match=f"{format}.*{REFUSED[kind, way]}"):
                export(tree, format, **options)
            continue
        table = probes(tree, 800)
        assert same_bits(np.asarray(tree.predict(table)), answers(tree, format, options, table))


@pytest.mark.parametrize("format", ["python", "json", "javascript"])
@pytest.mark.parametrize("kind", ["surrogates and sums", "divided sums"])
def test_several_targets(kind: str, format: str) -> None:
    if not RUNS.get(format, True):
        pytest.skip("what runs it is not installed")
    for target in ("several", "pairs"):
        tree = tree_of(kind, target)
        table = probes(tree, 600)
        assert same_bits(np.asarray(tree.predict(table)), answers(tree, format, {}, table))


@pytest.mark.parametrize("format", ["python", "json", "javascript", "c"])
def test_costs_decide_over_mixtures(format: str) -> None:
    if not RUNS.get(format, True):
        pytest.skip("what runs it is not installed")
    costs = np.random.default_rng(0).random((4, 4)) * (1 - np.eye(4))
    tree = tree_of("divided", "texts", 30).with_costs(costs)
    table = probes(tree, 1000)
    assert (tree.predict(table) != tree.with_costs().predict(table)).any()
    assert same_bits(np.asarray(tree.predict(table)), answers(tree, format, {}, table))


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.data(), st.sampled_from(["surrogate", "fractional"]), st.sampled_from(["gini", "squared_error"]))
def test_small_trees_of_any_table(data: Any, missing: str, criterion: str) -> None:
    tree, rows = data.draw(routed(criterion, missing))
    seed = data.draw(st.integers(0, 2**32 - 1))
    if missing == "surrogate" and sum(column.kind == "number" for column in tree.schema.columns) > 1:
        tree = with_surrogates(with_sums(tree, np.random.default_rng(seed)), np.random.default_rng(seed))
        tree.check()
    style = data.draw(st.sampled_from(["auto", "tables"]))
    for table in (decode_table(rows), probes(tree, 60, seed)):
        expected = np.asarray(tree.predict(table))
        for format, options in (("python", {"style": style}), ("json", {})):
            assert same_bits(expected, answers(tree, format, options, table))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["surrogates", "divided"])
@pytest.mark.parametrize("format", ["python", "javascript", "c", "json", "sql"])
def test_names_that_attack(kind: str, format: str) -> None:
    if not RUNS.get(format, True):
        pytest.skip("what runs it is not installed")
    tree = hostile_kind(kind)
    if format == "sql" and kind == "divided":
        pytest.skip("sql refuses it")
    options = {"columns": {"": "empty"}} if format == "sql" else {}
    table = probes(tree, 200)
    assert same_bits(np.asarray(tree.predict(table)), answers(tree, format, options, table))


def test_check_runs_every_kind() -> None:
    for kind in KINDS:
        export(tree_of(kind, "texts"), "python", check=probes(tree_of(kind, "texts"), 300))
    wrong = str(export(tree_of("surrogates", "texts"), "json")).replace(
        '"reversed": true', '"reversed": false'
    )
    tree = tree_of("surrogates", "texts")
    table = probes(tree, 2000)
    found = FORMATS.module("json").answers(wrong, tree, table)
    assert (found != tree.predict(table)).any()  # the rows would tell


# ---- sums --------------------------------------------------------------------------------------------------


def fused(weights: tuple[float, ...], row: list[float]) -> float:
    """The sum as a compiler makes it that rounds a product and a sum at once."""
    total = weights[0] * row[0]
    for weight, value in zip(weights[1:], row[1:], strict=True):
        total = float(Fraction(weight) * Fraction(value) + Fraction(total))
    return total


@pytest.mark.skipif(CC is None, reason="no C compiler is installed")
def test_no_compiler_fuses_a_sum(tmp_path: Path) -> None:
    """With every flag that invites it, sums on the threshold stay what they are in the tree."""
    weights = (0.1, 1 / 3, -0.7)
    rows = np.random.default_rng(0).normal(size=(400, 3)).round(3)
    total = [float((weights[0] * a + weights[1] * b) + weights[2] * c) for a, b, c in rows.tolist()]
    differs = [i for i, row in enumerate(rows.tolist()) if fused(weights, row) != total[i]]
    assert len(differs) > 20
    (tmp_path / "tree.h").write_text(export(summing_tree(weights, 0.0), "c"), encoding="utf-8")
    cells = ", ".join(f"{{{', '.join(map(repr, row))}}}" for row in rows.tolist())
    body = f"treewright_row rows[] = {{{cells}}}; int i; for (i = 0; i < 400; ++i) "
    body += 'printf("%.17g\\n", treewright_sum_1(&rows[i])); return 0;'
    (tmp_path / "main.c").write_text(f'#include <stdio.h>\n#include "tree.h"\nint main(void) {{ {body} }}\n')
    for flags in (["-std=c99", "-O0"], ["-std=gnu11", "-O3", "-march=native", "-ffp-contract=fast"]):
        command = [CC or "cc", *flags, "main.c", "-o", "main", "-lm"]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=120)
        told = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
        assert list(map(float, told.split())) == total, flags


def test_sums_of_infinities_and_missing_parts(way: str) -> None:
    """inf - inf has no value and goes where missing values go; an overflow is infinite."""
    if way == "treelite":
        pytest.skip("it refuses sums")
    format, options = OPTIONS[way]
    inf, nan, huge = math.inf, math.nan, 1.7e308
    cells = [
        (inf, inf),
        (inf, -inf),
        (inf, 1.0),
        (-inf, 1.0),
        (nan, 1.0),
        (1.0, nan),
        (huge, -huge),
        (-huge, huge),
    ]
    cells += [(nan, inf), (0.0, -0.0), (5e-324, 5e-324), (1.0, 1.0)]
    table = {name: np.array(column) for name, column in zip("ab", zip(*cells, strict=True), strict=True)}
    for missing_left in (True, False):
        node: Branch | Leaf = Leaf([9.0, 9.0, 0.0])
        for i, threshold in enumerate((inf, huge, 0.0, -inf)):
            node = Branch(Below("a", threshold), Leaf([1.0, float(i), 0.0]), node, missing_left)
        tree = summed(Tree.write(Schema((Column("a"), Column("b")), (Target("y"),)), node), (1.0, -1.0))
        expected = tree.predict(table)
        assert len(set(expected.tolist())) > 2
        assert same_bits(expected, answers(tree, format, options, table))


def test_sums_are_shown() -> None:
    tree = summing_tree((1.0, -0.5), 2.0)
    for format in ("text", "rules", "dot", "mermaid", "latex", "svg", "json"):
        shown = str(export(tree, format)).replace("{-}", "-").replace("#45;", "-")
        assert "a - 0.5 b" in shown, format
    assert "sum_1 = a - 0.5 * b" in export(tree, "python")
    assert '("a" * 1e0 + "b" * -0.5e0) <= 2e0' in export(tree, "sql")
    for dialect in ("postgres", "mysql", "bigquery", "snowflake", "sqlite"):
        assert re.search(r'["`]b["`] \* ', str(export(tree, "sql", dialect=dialect)))
    document = json.loads(str(export(tree, "json")))
    assert document["version"] == 2
    assert document["sums"] == [{"name": "a - 0.5 b", "terms": [["a", 1.0], ["b", -0.5]]}]
    assert json.loads(str(export(mixed_tree(max_leaf_nodes=3), "json")))["version"] == 1


@pytest.mark.slow
def test_a_long_sum() -> None:
    rng = np.random.default_rng(0)
    schema = Schema(tuple(Column(f"x{j}") for j in range(150)), (Target("y"),))
    root = Branch(Below("x0", 0.0), Leaf([2.0, 1.0, 0.0]), Leaf([1.0, 2.0, 0.0]))
    tree = summed(Tree.write(schema, root), tuple(rng.normal(size=150).tolist()))
    table = probes(tree, 100)
    for way in ("python", "c", "javascript", "duckdb", "onnx"):
        format, options = OPTIONS[way]
        if RUNS.get(format, True):
            assert same_bits(tree.predict(table), answers(tree, format, options, table)), way
    with pytest.raises(ValueError, match="in pmml a sum has up to 100 columns"):
        export(tree, "pmml")


# ---- surrogates --------------------------------------------------------------------------------------------


def surrogate_chain(depth: int) -> Tree:
    """A chain that tests x, with a surrogate at each node."""
    tree = chain(depth)
    schema = Schema((*tree.schema.columns, Column("other")), tree.schema.targets)
    inner = np.flatnonzero(~tree.is_leaf).astype(np.int32)
    n = len(inner)
    others = Surrogates(
        inner, np.ones(n, np.int32), np.arange(n) / 1.0, np.full(n, -1), inner % 4 == 0, np.full(n, 0.9),
        np.full(n, 0.5), np.zeros(0, np.uint8),
    )  # fmt: skip
    tree = replace(tree, schema=schema, missing="surrogate", surrogates=others)
    tree.check()
    return tree


@pytest.mark.slow
def test_a_deep_chain_of_surrogates() -> None:
    tree = surrogate_chain(700)
    table = probes(tree, 200)
    for way in ("python", "javascript", "c", "json", "onnx"):
        format, options = OPTIONS[way]
        if RUNS.get(format, True):
            assert same_bits(tree.predict(table), answers(tree, format, options, table)), way
    with pytest.raises(ValueError, match="in pmml a tree with surrogates goes to 200 tests in a row"):
        export(tree, "pmml")
    with pytest.raises(ValueError, match="700 tests deep; style='nested' goes to 60"):
        export(tree, "python", style="nested")


def test_treelite_writes_surrogates_out_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("treelite")
    tree = tree_of("surrogates", "texts", 60)
    steps = treelite.surrogates_as_tests(tree)
    assert steps is not None
    assert len(steps) > tree.n_nodes
    assert treelite.surrogates_as_tests(tree, most=len(steps) - 1) is None
    monkeypatch.setattr(treelite, "surrogates_as_tests", lambda tree: None)
    with pytest.raises(ValueError, match=r"treelite knows no surrogates.*more than 200,000 nodes: prune it"):
        export(tree, "treelite")


def test_onnx_models_of_every_kind_pass_the_checker() -> None:
    onnx = pytest.importorskip("onnx")
    for kind in ("sums", "surrogates", "surrogates and sums"):
        model = onnx.load_from_string(export(tree_of(kind, "texts"), "onnx"))
        onnx.checker.check_model(model, full_check=True)


def test_a_known_column_is_not_asked_twice() -> None:
    """Once a value is known to be there, or not, the plain tree does not ask again whether it is."""
    steps = treelite.surrogates_as_tests(surrogate_chain(8))
    assert steps is not None
    assert sum(step.is_known_test for step in steps) == 2  # x, and where it is missing, the other


def test_pictures_note_what_they_do_not_tell() -> None:
    notes = {"surrogates": "by surrogates", "divided": "down both sides", "complete": "refused"}
    for kind, note in notes.items():
        for format in ("dot", "mermaid", "latex", "svg"):
            assert note in export(tree_of(kind, "texts"), format), (kind, format)
            assert "missing values" not in export(mixed_tree(max_leaf_nodes=4), format)


@pytest.mark.slow
def test_linear_growth_of_a_large_tree_with_surrogates() -> None:
    rng = np.random.default_rng(0)
    table = {"a": rng.normal(size=1500), "b": rng.normal(size=1500), "c": rng.choice(["x", "y", "z"], 1500)}
    tree = with_surrogates(grow(encode(table, rng.integers(0, 2, 1500))), rng)
    assert tree.n_nodes > 700
    rows = probes(tree, 500)
    for way in ("python", "javascript", "onnx", "duckdb"):
        format, options = OPTIONS[way]
        if RUNS.get(format, True):
            assert same_bits(tree.predict(rows), answers(tree, format, options, rows)), way
