"""Trees of LightGBM and XGBoost as ours: every row at the same leaf, then all else works."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.ensemble
import sklearn.tree

from tests.converting.cases import HOLES, IRIS, hard_rows, same_leaves
from treewright import (
    Below,
    Branch,
    Column,
    Leaf,
    Schema,
    Target,
    Tree,
    encode,
    export,
    from_lightgbm,
    from_sklearn,
    from_xgboost,
    load,
    prune,
)

# ---- LightGBM ----------------------------------------------------------------------------------------------


def frame(n: int = 1500) -> tuple[Any, Any]:
    """Numbers with holes, texts and numbers as categories."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(5)
    a = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
    codes = rng.integers(0, 4, n), rng.integers(0, 40, n)
    table = pandas.DataFrame(
        {
            "a": a,
            "c": pandas.Categorical.from_codes(
                np.where(rng.random(n) < 0.1, -1, codes[0]), ["p q", "é", "", "s"]
            ),
            "d": pandas.Categorical(codes[1] * 3),
        }
    )
    return table, np.nan_to_num(a) + codes[0] % 2 * 3 + codes[1] % 5


def lightgbm_leaves(booster: Any, rows: Any, tree: int) -> Any:
    return booster.predict(rows, pred_leaf=True).reshape(len(rows), -1)[:, tree]


QUIET = {"verbose": -1, "num_threads": 1, "min_data_per_group": 5, "cat_smooth": 1, "num_leaves": 20}


def test_lightgbm_trees_of_numbers() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    for X in (HOLES, IRIS[0], IRIS[0] - IRIS[0].mean(axis=0)):  # without holes NaN goes where 0 goes
        booster = lightgbm.train({**QUIET, "min_data_in_leaf": 3}, lightgbm.Dataset(X, IRIS[1]), 3)
        for number in range(3):
            tree = from_lightgbm(booster, tree=number)
            asked = hard_rows(tree.threshold, tree.feature, 4, infinite=True)
            same_leaves(
                tree.apply(encode(asked, schema=tree.schema)), lightgbm_leaves(booster, asked, number)
            )
            told = booster.predict(asked, start_iteration=number, num_iteration=1, raw_score=True)
            np.testing.assert_array_equal(tree.predict(asked), told)
            assert tree.rows[0] == 150
            tree.check()


def test_lightgbm_categories_by_name() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    table, y = frame()
    booster = lightgbm.train(QUIET, lightgbm.Dataset(table, y), 3)
    for number in range(3):
        tree = from_lightgbm(booster, tree=number)
        assert tree.schema.columns[1].categories == ("p q", "é", "", "s")
        same_leaves(tree.apply(encode(table, schema=tree.schema)), lightgbm_leaves(booster, table, number))
        holes = table.assign(d=table["d"].where(np.arange(len(table)) % 3 > 0))
        assert holes["d"].isna().any()
        same_leaves(tree.apply(encode(holes, schema=tree.schema)), lightgbm_leaves(booster, holes, number))
        counted = from_lightgbm(booster, tree=number, data=(table, None))
        np.testing.assert_array_equal(counted.rows, tree.rows)
        np.testing.assert_allclose(counted.statistic, tree.statistic, rtol=1e-6, atol=1e-6)
    assert (tree.subset >= 0).any()


def test_numbers_take_no_categories() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    booster = lightgbm.train(QUIET, lightgbm.Dataset(*IRIS), 1)
    with pytest.raises(ValueError, match="'Column_2', which holds numbers in this model"):
        from_lightgbm(booster, categories={"Column_2": ["a", "b"]})
    with pytest.raises(ValueError, match="names the column 'petal'; the columns are Column_0, Column_1"):
        from_lightgbm(booster, categories={"petal": ["a", "b"]})


def test_lightgbm_categories_by_code() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    table, y = frame()
    X = np.stack([table["a"], table["d"].cat.codes.to_numpy() * 1000.0], axis=1)
    booster = lightgbm.train(QUIET, lightgbm.Dataset(X, y, categorical_feature=[1]), 2)
    tree = from_lightgbm(booster, tree=1)
    kinds = [column.kind for column in tree.schema.columns]
    assert kinds == ["number", "category"]
    asked = np.vstack([X, np.stack([X[:, 0], X[:, 1] + 1], axis=1)])[: -len(X) // 2]
    asked = asked[asked[:, 1] < 39_000]
    same_leaves(tree.apply(encode(asked, schema=tree.schema)), lightgbm_leaves(booster, asked, 1))
    names = [f"n{code}" for code in range(39_001)]
    named = from_lightgbm(booster, tree=1, categories={"Column_1": names})
    rows = {"Column_0": X[:, 0], "Column_1": np.array(names, object)[X[:, 1].astype(int)]}
    np.testing.assert_array_equal(named.predict(rows), tree.predict(X))


def test_lightgbm_wrappers_and_refusals() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    X, y = IRIS
    model = lightgbm.LGBMClassifier(n_estimators=2, verbose=-1, n_jobs=1).fit(X, y)
    tree = from_sklearn(model, tree=4)
    same_leaves(tree.apply(encode(X, schema=tree.schema)), lightgbm_leaves(model.booster_, X, 4))
    with pytest.raises(ValueError, match="the model has 6 trees"):
        from_sklearn(model, tree=6)
    with pytest.raises(TypeError, match="not fitted yet"):
        from_sklearn(lightgbm.LGBMClassifier())
    with pytest.raises(TypeError, match="LightGBM booster"):
        from_lightgbm("pine")
    zeros = lightgbm.train({**QUIET, "zero_as_missing": True}, lightgbm.Dataset(np.round(X), y), 1)
    with pytest.raises(ValueError, match="takes 0 for a missing value in column 'Column_"):
        from_lightgbm(zeros)
    linear = lightgbm.train({**QUIET, "linear_tree": True}, lightgbm.Dataset(X, y), 2)
    with pytest.raises(ValueError, match="linear leaves"):
        from_lightgbm(linear, tree=1)
    with pytest.raises(ValueError, match="categories names the column 'zz'"):
        from_lightgbm(model, categories={"zz": ["a"]})
    constant = lightgbm.train(QUIET, lightgbm.Dataset(X, np.ones(150)), 1)
    assert from_lightgbm(constant).n_leaves == 1


# ---- XGBoost -----------------------------------------------------------------------------------------------


def xgboost_leaves(booster: Any, rows: Any, tree: int) -> Any:
    xgboost = pytest.importorskip("xgboost")
    given = xgboost.DMatrix(rows, enable_categorical=True)
    return booster.predict(given, pred_leaf=True).reshape(len(rows), -1)[:, tree]


def test_xgboost_trees_of_numbers() -> None:
    xgboost = pytest.importorskip("xgboost")
    options = {"max_depth": 5, "nthread": 1, "min_child_weight": 0, "gamma": 0.0}
    for X, more in (
        (HOLES, {}),
        (IRIS[0], {"grow_policy": "lossguide", "gamma": 0.1, "tree_method": "exact"}),
    ):
        booster = xgboost.train({**options, **more}, xgboost.DMatrix(X, IRIS[1]), 3)
        for number in range(3):
            for rows in ("float64", "float32"):
                tree = from_xgboost(booster, tree=number, rows=rows)
                asked = hard_rows(tree.threshold, tree.feature, 4).astype(rows)
                same_leaves(
                    tree.apply(encode(asked, schema=tree.schema)), xgboost_leaves(booster, asked, number)
                )
            told = booster[number : number + 1].predict(xgboost.DMatrix(asked), output_margin=True)
            rest = told - tree.predict(asked)  # the base score, the same for all rows
            np.testing.assert_allclose(rest, rest[0], atol=1e-6)
            tree.check()


def test_xgboost_categories() -> None:
    xgboost = pytest.importorskip("xgboost")
    table, y = frame()
    options = {"max_depth": 5, "max_cat_to_onehot": 1, "nthread": 1}
    booster = xgboost.train(options, xgboost.DMatrix(table, y, enable_categorical=True), 3)
    with pytest.raises(ValueError, match=r"beyond ASCII.*'c'"):
        from_xgboost(booster)
    named = from_xgboost(booster, categories={"c": ["p q", "é", "", "s"]})
    same_leaves(named.apply(encode(table, schema=named.schema)), xgboost_leaves(booster, table, 0))
    table["c"] = table["c"].cat.rename_categories({"é": "e"})
    booster = xgboost.train(options, xgboost.DMatrix(table, y, enable_categorical=True), 3)
    for number in range(3):
        tree = from_xgboost(booster, tree=number)
        same_leaves(tree.apply(encode(table, schema=tree.schema)), xgboost_leaves(booster, table, number))
        assert (tree.subset >= 0).any()
        counted = from_xgboost(booster, tree=number, data=(table, None))
        np.testing.assert_array_equal(counted.rows, tree.rows)  # the hessians of squares are counts
    X = np.stack([table["a"], table["d"].cat.codes], axis=1)
    given = xgboost.DMatrix(X, y, feature_types=["q", "c"], enable_categorical=True)
    booster = xgboost.train({**options, "max_cat_to_onehot": 100}, given, 2)
    tree = from_xgboost(booster, tree=1)
    theirs = booster.predict(given, pred_leaf=True)[:, 1]
    same_leaves(tree.apply(encode(X, schema=tree.schema)), theirs)


def test_xgboost_wrappers_and_refusals() -> None:
    xgboost = pytest.importorskip("xgboost")
    X, y = IRIS
    model = xgboost.XGBClassifier(n_estimators=2, n_jobs=1).fit(X, y)
    tree = from_sklearn(model, tree=5)
    same_leaves(tree.apply(encode(X, schema=tree.schema)), xgboost_leaves(model.get_booster(), X, 5))
    with pytest.raises(ValueError, match="the model has 6 trees"):
        from_sklearn(model, tree=-1)
    with pytest.raises(TypeError, match="not fitted yet"):
        from_sklearn(xgboost.XGBRegressor())
    with pytest.raises(TypeError, match="XGBoost booster"):
        from_xgboost("pine")
    with pytest.raises(ValueError, match=r"takes 0\.?0? for a missing value"):
        from_sklearn(xgboost.XGBRegressor(n_estimators=1, missing=0.0).fit(X, y))
    linear = xgboost.train({"booster": "gblinear"}, xgboost.DMatrix(X, y), 1)
    with pytest.raises(ValueError, match="gblinear"):
        from_xgboost(linear)
    both = np.stack([y, -y], axis=1)
    several = xgboost.train({"multi_strategy": "multi_output_tree"}, xgboost.DMatrix(X, both), 1)
    with pytest.raises(ValueError, match="predicts several targets"):
        from_xgboost(several)


def test_boosted_trees_go_on_from_there(tmp_path: Any) -> None:
    """Pruned, printed, saved and exported, with the categories of the booster."""
    lightgbm = pytest.importorskip("lightgbm")
    table, y = frame()
    tree = from_lightgbm(lightgbm.train(QUIET, lightgbm.Dataset(table, y), 1))
    path = prune(tree, "cost_complexity")
    assert path[-1].n_leaves == 1
    assert "'p q'" in str(tree) or "p q" in str(tree)
    tree.save(tmp_path / "tree.json")
    assert load(tmp_path / "tree.json") == tree
    pytest.importorskip("onnxruntime")
    from treewright.exporting import onnx

    with pytest.raises(ValueError, match="missing="):
        export(tree, "onnx")  # one of the categories is the empty text
    options = {"missing": "?"}
    told = onnx.answers(export(tree, "onnx", **options), tree, table, **options)
    np.testing.assert_array_equal(told, tree.predict(table))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")
def test_one_leaf_of_every_library() -> None:
    model = sklearn.tree.DecisionTreeRegressor().fit([[1.0], [2.0]], [3.0, 3.0])
    assert from_sklearn(model).predict([[7.0]]).tolist() == [3.0]
    schema = Schema((Column("x"),), (Target("y", ("a",)),))
    tree = Tree.write(schema, Branch(Below("x", 1), Leaf([1]), Leaf([2])))
    assert tree.to_sklearn().predict([[7.0]]).tolist() == ["a"]
    assert from_sklearn(tree.to_sklearn()).rows.tolist() == [3, 1, 2]
