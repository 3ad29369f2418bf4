"""Exports where values are missing: divided rows, complete rows only; leaves without rows; probing rows."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.exporting.kinds_of_trees import CC, OPTIONS, RUNS, answers, many_branches, summing_tree, tree_of
from tests.exporting.trees import chain, mixed_tree, same_bits
from tests.tree.routed_trees import with_surrogates
from treewright import Below, Branch, Column, Leaf, Schema, Target, Tree, encode, export, grow
from treewright.estimators.sklearn_view import sklearn_tree
from treewright.exporting._check.probes import probes
from treewright.exporting._tree import plain
from treewright.tree.linear_leaves import LinearAnswers
from treewright.tree.oblique import extended_columns

# ---- divided rows ------------------------------------------------------------------------------------------


def rows_of(table: dict[str, Any]) -> list[dict[str, Any]]:
    columns = {name: plain(values) for name, values in table.items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


@pytest.mark.parametrize("target", ["texts", "several"])
def test_probabilities_of_divided_rows(target: str) -> None:
    tree = tree_of("divided", target, 30)
    table = probes(tree, 500)
    module: dict[str, Any] = {}
    exec(compile(export(tree, "python"), "<export>", "exec"), module)
    found = [module["predict_proba"](row) for row in rows_of(table)]
    expected = tree.predict_proba(table)
    if target == "texts":
        assert [list(shares.values()) for shares in found] == expected.tolist()
    else:
        for k, shares in enumerate(expected):
            assert [list(row[k].values()) for row in found] == shares.tolist()
    leaves = tree.apply(encode(table, schema=tree.schema))
    place = np.cumsum(tree.is_leaf) - 1
    assert [module["leaf"](row) for row in rows_of(table)] == place[leaves].tolist()


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_probabilities_of_divided_rows_in_javascript(tmp_path: Path) -> None:
    tree = tree_of("divided", "texts", 30)
    (tmp_path / "tree.js").write_text(export(tree, "javascript"), encoding="utf-8")
    rows = [{"number": 0.5}, {}, {"text": "cook", "flag": True}, {"number": -1.0, "code": 7, "ratio": 2.5}]
    program = (
        f'const t = require("./tree.js"); console.log(JSON.stringify({json.dumps(rows)}.map(t.predictProba)))'
    )
    run = subprocess.run(["node", "-e", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    table: dict[str, Any] = {name: [row.get(name) for row in rows] for name in tree.schema.names}
    for column in tree.schema.columns:
        if column.kind != "category":
            table[column.name] = np.array([np.nan if v is None else v for v in table[column.name]], float)
    table["when"] = np.full(len(rows), np.datetime64("NaT"), "M8[us]")
    assert json.loads(run.stdout) == tree.predict_proba(table).tolist()


@pytest.mark.slow
def test_a_deep_chain_of_divided_rows() -> None:
    tree = chain(2000).with_missing("fractional")
    table = {"x": np.array([np.nan, 3.0, 1999.5])}
    for way in ("python", "javascript", "c", "json"):
        format, options = OPTIONS[way]
        if RUNS.get(format, True):
            assert same_bits(tree.predict(table), answers(tree, format, options, table)), way
    with pytest.raises(ValueError, match=r"in c a tree that divides rows .* goes to 10,000 tests in a row"):
        export(chain(10_001).with_missing("fractional"), "c")


def test_what_cannot_divide_rows_says_what_would_do() -> None:
    tree = tree_of("divided", "texts")
    for format in ("sql", "onnx", "treelite", "pmml"):
        with pytest.raises(
            ValueError, match=rf"^{format} sends .* python, javascript, java, c or json; .*'learn'"
        ):
            export(tree, format)
    with pytest.raises(ValueError, match=r"divides rows .* use style='tables'"):
        export(tree, "python", style="nested")
    leaf = tree.collapse([0])
    assert "THEN" not in export(leaf, "sql")  # one leaf divides nothing


@pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")
def test_the_view_of_scikit_learn_is_not_available() -> None:
    tree = grow(encode({"x": [1.0, 2.0, 3.0, 4.0], "z": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"]))
    with_others = with_surrogates(tree, np.random.default_rng(0), most=1)
    assert len(with_others.surrogates)
    for each in (tree.with_missing("fractional"), with_others):
        with pytest.raises(AttributeError, match=r"tree_ is not available: .*with_missing"):
            sklearn_tree(each)
        with pytest.raises(ValueError, match="one side"):
            each.to_sklearn()
        with pytest.raises(ValueError, match="one side"):
            each.to_shap()
    assert tree.with_missing("error").to_sklearn().predict([[1.0, 1.0]]).tolist() == ["a"]


# ---- complete rows only ------------------------------------------------------------------------------------


def lacking(tree: Tree, table: dict[str, Any]) -> np.ndarray:
    """Which rows lack a value that some test asks."""
    columns = extended_columns(encode(table, schema=tree.schema), tree.directions)
    gone = [
        columns[j] == -1 if columns[j].dtype.kind == "i" else np.isnan(columns[j])
        for j in set(tree.feature[~tree.is_leaf].tolist())
    ]
    return np.asarray(np.any(gone, axis=0))


@pytest.mark.parametrize("style", ["nested", "tables"])
def test_python_refuses_what_is_missing(style: str) -> None:
    tree = tree_of("complete", "texts")
    table = probes(tree.with_missing("learn"), 400)
    module: dict[str, Any] = {}
    exec(compile(export(tree, "python", style=style), "<export>", "exec"), module)
    for row, lacks in zip(rows_of(table), lacking(tree, table).tolist(), strict=True):
        if lacks:
            with pytest.raises(ValueError, match="this tree takes complete rows only"):
                module["predict"](row)
        else:
            module["predict"](row)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_sql_answers_null_to_what_is_missing(dialect: str) -> None:
    tree = tree_of("complete", "numbers", 20)
    table = probes(tree.with_missing("learn"), 1000)
    lacks = lacking(tree, table)
    found = answers(tree, "sql", {"dialect": dialect}, table)
    assert 0 < lacks.sum() < 1000
    assert np.array_equal(np.isnan(found), lacks)
    assert same_bits(found[~lacks], tree.with_missing("learn").predict(table)[~lacks])


@pytest.mark.skipif(CC is None, reason="no C compiler is installed")
@pytest.mark.parametrize("style", ["nested", "tables"])
def test_c_answers_nan_to_what_is_missing(style: str) -> None:
    tree = tree_of("complete", "numbers", 20)
    table = probes(tree.with_missing("learn"), 1000)
    found = answers(tree, "c", {"style": style}, table)
    assert np.array_equal(np.isnan(found), lacking(tree, table))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_javascript_refuses_what_is_missing(tmp_path: Path) -> None:
    tree = summing_tree((1.0, -1.0), 0.0).with_missing("error")
    for style in ("nested", "tables"):
        (tmp_path / "tree.js").write_text(export(tree, "javascript", style=style), encoding="utf-8")
        program = """const t = require("./tree.js");
        for (const row of [{a: 1}, {a: NaN, b: 1}, {a: 1/0, b: 1/0}, {a: 2, b: 1}]) {
            try { console.log(t.predict(row)); } catch (e) { console.log(e.message); }
        }"""
        run = subprocess.run(
            ["node", "-e", program], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert run.stdout.splitlines() == [
            "column b is missing, and this tree takes complete rows only",
            "column a is missing, and this tree takes complete rows only",
            "a - b has no value, and this tree takes complete rows only",
            "2",
        ]


@pytest.mark.parametrize("way", ["python", "python tables", "javascript", "c", "json", "duckdb"])
def test_a_column_that_only_a_formula_asks_may_be_missing(way: str) -> None:
    """x is tested and must be there; z counts as its mean in the formulas of the leaves."""
    format, options = OPTIONS[way]
    if not RUNS.get(format, True):
        pytest.skip("what runs it is not installed")
    schema = Schema((Column("x"), Column("z")), (Target("y"),))
    tree = Tree.write(schema, Branch(Below("x", 1.0), Leaf([2.0, 1.0, 0.0]), Leaf([1.0, 2.0, 0.0])))
    answer = LinearAnswers(
        intercept=np.array([0.0, 1.0, 2.0]),
        start=np.array([0, 1, 2, 3]),
        column=np.array([1, 1, 1], np.int32),
        coefficient=np.array([0.5, 0.1, -3.0]),
        loss=np.zeros(3),
        mean=np.array([0.0, 0.25]),
    )
    tree = replace(tree, linear=answer, missing="error")
    table = {"x": np.array([0.0, 1.0, 2.0, 5.0]), "z": np.array([np.nan, 0.3, np.nan, np.inf])}
    assert same_bits(tree.predict(table), answers(tree, format, options, table))
    table["x"][0] = np.nan
    if format in ("python", "javascript", "json"):
        with pytest.raises(ValueError, match=r"missing|no value"):
            answers(tree, format, options, table)
    else:
        assert np.isnan(answers(tree, format, options, table)).tolist() == [True, False, False, False]


def test_pmml_has_no_answer_to_what_is_missing() -> None:
    text = str(export(mixed_tree(max_leaf_nodes=9).with_missing("error"), "pmml"))
    assert "isMissing" not in text
    assert 'noTrueChildStrategy="returnNullPrediction"' in text


# ---- leaves without rows -----------------------------------------------------------------------------------


def test_a_leaf_without_rows_answers_as_the_node_above() -> None:
    tree = many_branches()
    row = {"job": ["king"], "x": [1.0], "y": [1.0]}
    shares = tree.predict_proba(row)[0].tolist()
    assert shares == tree.proportions[0][tree.answering[tree.n_nodes - 1]].tolist()
    assert tree.answering[tree.n_nodes - 1] < tree.n_nodes - 1
    module: dict[str, Any] = {}
    exec(export(tree, "python"), module)
    assert list(module["predict_proba"]({"job": "king"}).values()) == shares
    last = str(export(tree, "pmml")).rpartition("<Node ")[2]
    told = dict(re.findall(r'value="(\w+)" recordCount="[^"]+" probability="([^"]+)"', last))
    assert [float(told.get(label, 0)) for label in ("no", "yes", "maybe")] == shares
    for format in ("text", "rules", "dot", "mermaid", "latex", "svg"):
        for of in (tree, many_branches(False)):
            assert re.search(r"no rows|(?<![\d,])0 rows", str(export(of, format))), format


# ---- rows to find out --------------------------------------------------------------------------------------


def test_probes_lie_on_sums_and_miss_what_surrogates_stand_in_for() -> None:
    tree = tree_of("surrogates and sums", "numbers", 20)
    data = encode(probes(tree, 6000), schema=tree.schema)
    columns = extended_columns(data, tree.directions)
    sums = np.flatnonzero(tree.feature >= len(tree.schema.columns))
    assert sums.size > 2
    on = [columns[tree.feature[node]] == tree.threshold[node] for node in sums]
    above = [columns[tree.feature[node]] == np.nextafter(tree.threshold[node], np.inf) for node in sums]
    assert np.mean([some.any() for some in on]) > 0.7  # of some thresholds no float is the sum
    assert np.mean([some.any() for some in above]) > 0.7
    others = tree.surrogates
    hit = 0
    for entry, node in enumerate(others.node.tolist()):
        primary, value = columns[tree.feature[node]], columns[others.feature[entry]]
        gone = primary == -1 if primary.dtype.kind == "i" else np.isnan(primary)
        hit += bool((gone & (value == others.threshold[entry])).any())
    assert hit == np.isfinite(others.threshold).sum()


@pytest.mark.slow
def test_probes_are_complete_where_the_tree_asks_for_it() -> None:
    for target in ("texts", "bools", "numbers"):
        tree = tree_of("complete", target, 40)
        table = probes(tree, 3000)
        assert not lacking(tree, table).any()
        assert len(set(tree.predict(table).tolist())) > 1
