"""`export(…, check=…)`: what is run and compared, and what is said where it differs."""

from __future__ import annotations

import re
import shutil
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.exporting.trees import mixed_data, mixed_table, mixed_tree
from treewright import encode, export, grow
from treewright.exporting import FORMATS
from treewright.exporting._check import agreement
from treewright.exporting._check.probes import encode_table, probes
from treewright.tree import Tree


def test_a_right_export_passes_on_probes_tables_and_data() -> None:
    tree = mixed_tree(max_leaf_nodes=10)
    plain = export(tree, "python")
    for check in (True, mixed_table(50), mixed_data("texts", 50), None, False):
        assert export(tree, "python", check=check) == plain


def wrong(tree: Any, row: int, answer: Any) -> Any:
    def answers(rendered: str, tree: Any, table: dict[str, Any], **options: Any) -> np.ndarray:
        leaves = tree.apply(encode_table(table, tree))
        found = np.array(tree.schema.targets[0].classes)[tree.label[leaves, 0]]
        found[row:] = answer
        return found

    return SimpleNamespace(__name__="treewright.exporting.broken", answers=answers)


def test_the_first_row_that_differs_is_told() -> None:
    tree = grow(encode({"x": [1.0, 2.0], "job": ["a", "b"]}, ["no", "yes"]))
    table = {"x": [0.5, 1.75], "job": ["a", None]}
    words = "answers 'may' where the model answers 'yes', in row 1 of 2: {'x': 1.75}"
    with pytest.raises(ValueError, match=re.escape(f"the broken export {words}")):
        agreement.check_export("", tree, wrong(tree, 1, "may"), table, {})
    agreement.check_export("", tree, wrong(tree, 2, "may"), table, {})


def test_too_few_answers_are_a_difference() -> None:
    assert agreement.first_difference(np.array([1, 2, 3]), np.array([1, 2])) == 2
    assert agreement.first_difference(np.zeros((2, 2)), np.array([[0.0, 0.0], [0.0, 1.0]])) == 1
    assert agreement.first_difference(np.zeros(2), np.zeros(2)) is None


def test_formats_that_cannot_be_run_say_so() -> None:
    tree = mixed_tree(max_leaf_nodes=4)
    with pytest.raises(ValueError, match="text cannot be run"):
        export(tree, "text", check=True)
    with pytest.raises(ValueError, match="postgres cannot be run here"):
        export(tree, "sql", dialect="postgres", check=True)
    with pytest.raises(ValueError, match="leave probability= out"):
        export(tree, "sql", probability="low", check=True)
    other = encode({"z": [1.0]})
    with pytest.raises(ValueError, match="the columns of check are not the tree's"):
        export(tree, "python", check=other)
    with pytest.raises(TypeError, match="python has no option 'colour'"):
        export(tree, "python", colour=True)


@pytest.mark.parametrize(("format", "engine"), [("c", "cc"), ("javascript", "node"), ("java", "javac")])
def test_a_missing_engine_is_named(format: str, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(ImportError, match=f"by {engine}, which is not installed"):
        export(mixed_tree(max_leaf_nodes=4), format, check=True)


@pytest.mark.slow
@pytest.mark.parametrize(("format", "engine"), [("c", "cc"), ("javascript", "node"), ("java", "javac")])
def test_categories_and_classes_at_the_end_of_64_bits(format: str, engine: str) -> None:
    """An unseen category, the next integer, has more bits."""
    if shutil.which(engine) is None:
        pytest.skip(f"{engine} is not installed")
    last = 2**63 - 1
    codes = np.array([5, last] * 10, object).tolist()
    tree = grow(encode({"code": codes}, [last, 2**53 + 1] * 10, kinds={"code": "category"}))
    export(tree, format, check=True)


# ---- wide tables -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("format", ["python", "json"])
def test_of_a_wide_table_only_what_is_tested_is_tried(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """8,000 columns of 10,000 rows would be gigabytes, and nobody asks for them."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 8000))
    tree = grow(encode(x, (x[:, 7] + x[:, 70] > 0).astype(int)), max_depth=3)
    module, seen = FORMATS.module(format), []
    run = module.answers

    def counted(rendered: str, model: Tree, table: dict[str, Any], **options: Any) -> Any:
        seen.append(sum(map(len, table.values())))
        return run(rendered, model, table, **options)

    monkeypatch.setattr(module, "answers", counted)
    export(tree, format, check=True)
    export(tree, format, check=x)
    n_tested = len({int(j) for j in tree.feature if j >= 0})
    assert seen == [10_000 * n_tested, 60 * n_tested]
    assert n_tested < 10


def test_columns_that_a_table_lacks_take_no_memory() -> None:
    rng = np.random.default_rng(0)
    tree = grow(encode(rng.normal(size=(60, 300)), rng.integers(0, 2, 60)))
    table = probes(tree, 50, tested=True)
    data = encode_table(table, tree)
    absent = [j for j, name in enumerate(tree.schema.names) if name not in table]
    assert {data.column(j).strides for j in absent} == {(0,)}
    whole = {name: table.get(name, np.full(50, np.nan)) for name in tree.schema.names}
    np.testing.assert_array_equal(tree.apply(data), tree.apply(encode(whole, schema=tree.schema)))


def test_a_tree_that_asks_nothing_is_tried_as_well() -> None:
    leaf = grow(encode({"x": [1.0, 2.0], "sky": ["blue", "grey"]}, ["a", "a"]))
    assert list(probes(leaf, 5, tested=True)) == ["x"]
    export(leaf, "python", check=True)
