"""What every fitted estimator does by itself: plot, explain, certify, report, export and save."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import treewright as tw
from treewright import estimators

mpl.use("Agg")

rng = np.random.default_rng(8)
N = 200
TABLE = pd.DataFrame({"x": rng.normal(size=N), "z": rng.normal(size=N), "c": ["u", "v", "w", "u"] * 50})
CLASSES = np.where(TABLE.x + (TABLE.c == "v") + 0.7 * rng.normal(size=N) > 0, "yes", "no")
NUMBERS = TABLE.x.to_numpy() + 0.3 * rng.normal(size=N)
TRAIN, TEST = slice(0, 120), slice(120, N)

OF_ONE_TREE: dict[str, Callable[[], Any]] = {
    "DecisionTreeClassifier": lambda: tw.DecisionTreeClassifier(max_depth=3),
    "pruned": lambda: tw.DecisionTreeClassifier(pruning="cost_complexity", random_state=0),
    "DecisionTreeRegressor": lambda: tw.DecisionTreeRegressor(max_depth=3),
    "model tree": lambda: tw.DecisionTreeRegressor(max_depth=2, leaf="linear"),
    "ExtraTreeClassifier": lambda: tw.ExtraTreeClassifier(max_depth=3, random_state=0),
    "CARTClassifier": lambda: tw.CARTClassifier(random_state=0),
    "CARTRegressor": lambda: tw.CARTRegressor(random_state=0),
    "C45Classifier": tw.C45Classifier,
    "CHAIDClassifier": tw.CHAIDClassifier,
    "ID3Classifier": lambda: tw.ID3Classifier(max_depth=2),
    "TopDownClassifier": tw.TopDownClassifier,
}
OF_MANY_TREES: dict[str, Callable[[], Any]] = {
    "RandomForestClassifier": lambda: tw.RandomForestClassifier(5, random_state=0),
    "hard votes": lambda: tw.RandomForestClassifier(5, voting="hard", random_state=0),
    "RandomForestRegressor": lambda: tw.RandomForestRegressor(5, random_state=0),
    "ExtraTreesClassifier": lambda: tw.ExtraTreesClassifier(5, random_state=0),
    "BaggingClassifier": lambda: tw.BaggingClassifier(n_estimators=5, max_features=2, random_state=0),
    "BaggingRegressor": lambda: tw.BaggingRegressor(n_estimators=5, random_state=0),
    "AdaBoostClassifier": lambda: tw.AdaBoostClassifier(n_estimators=5),
    "AdaBoostRegressor": lambda: tw.AdaBoostRegressor(n_estimators=5, random_state=0),
    "HistGradientBoostingClassifier": lambda: tw.HistGradientBoostingClassifier(max_iter=5, random_state=0),
    "HistGradientBoostingRegressor": lambda: tw.HistGradientBoostingRegressor(max_iter=5, random_state=0),
}
ALL = OF_ONE_TREE | OF_MANY_TREES


def rows_of(name: str, rows: slice) -> tuple[pd.DataFrame, np.ndarray]:
    """The table and the target that an estimator takes."""
    columns = {each: TABLE[each] > 0 for each in ("x", "z")} if name == "ID3Classifier" else {}
    y = NUMBERS if "Regressor" in name or name == "model tree" else CLASSES
    return TABLE.assign(**columns)[rows], y[rows]


def fitted(name: str) -> Any:
    return ALL[name]().fit(*rows_of(name, TRAIN))


@pytest.mark.parametrize("name", ALL)
def test_a_saved_estimator_predicts_the_same(name: str, tmp_path: Path) -> None:
    model, (table, _) = fitted(name), rows_of(name, TEST)
    model.save(tmp_path / "one.json")
    tw.save(model, tmp_path / "two.json")
    tw.save(model.model_, tmp_path / "three.json")
    texts = [(tmp_path / f"{each}.json").read_bytes() for each in ("one", "two", "three")]
    assert texts[0] == texts[1] == texts[2]
    loaded = tw.load(tmp_path / "one.json")
    assert type(loaded) is type(model.model_)
    np.testing.assert_array_equal(loaded.predict(table), model.predict(table))
    if hasattr(model, "predict_proba"):
        np.testing.assert_array_equal(loaded.predict_proba(table), model.predict_proba(table))


@pytest.mark.parametrize("name", OF_ONE_TREE)
def test_an_estimator_of_one_tree_does_what_the_functions_do(name: str) -> None:
    model, (table, y) = fitted(name), rows_of(name, TEST)
    row = table.iloc[0]
    assert model.export() == model.model_.export() == tw.export(model)
    assert model.export("json", words=True) == tw.export(model, "json", words=True)
    assert model.explain(row) == tw.explain(model, row)
    assert model.explain(row).value == model.predict(table[:1])[0]
    assert model.plot(max_depth=2).figure is not None
    certificate = model.certify(table, y)
    assert certificate.rows == len(y)
    assert certificate == model.model_.certify(table, y)
    if name == "model tree":  # formulas are not drawn there
        with pytest.raises(ValueError, match="linear model in each leaf, which is not supported here"):
            model.report(table, y)
        return
    report = model.report(table, y, title="A page")
    assert report.payload["title"] == "A page"
    assert report.payload["headline"] == tw.report(model, test=(table, y)).payload["headline"]


@pytest.mark.parametrize("name", OF_MANY_TREES)
def test_an_estimator_of_many_trees_says_what_it_cannot_do(name: str) -> None:
    model, (table, y) = fitted(name), rows_of(name, TEST)
    assert model.certify(table, y).rows == len(y)
    actions: dict[str, Callable[[], Any]] = {
        "explain": lambda: model.explain(table.iloc[0]),
        "report": lambda: model.report(table, y),
        "export": model.export,
        "plot": model.plot,
    }
    if name == "AdaBoostClassifier":
        assert len(actions.pop("plot")()) == 2
    if name.startswith("HistGradientBoosting"):
        with pytest.raises(ValueError, match="losses of the iterations were not measured; fit with early"):
            actions.pop("plot")()
    for action in actions.values():
        with pytest.raises(TypeError, match=rf"this {type(model).__name__} has many trees; give one of them"):
            action()


def test_an_estimator_of_rules_says_what_it_cannot_do(tmp_path: Path) -> None:
    model = tw.RuleListClassifier().fit(TABLE[TRAIN], CLASSES[TRAIN])
    assert model.certify(TABLE[TEST], CLASSES[TEST]).rows == N - 120
    assert len(model.plot(max_rules=2).patches) == len(model.rules_.plot(max_rules=2).patches) > 0
    for action in [lambda: model.explain(TABLE.iloc[0]), model.report, model.export]:
        with pytest.raises(
            TypeError, match=r"by its rules_, which are no tree: .* model.apply\(X\) finds the"
        ):
            action()
    with pytest.raises(TypeError, match=r"by its rules_, .* no model file: pickle the estimator, or"):
        model.save(tmp_path / "rules.json")
    assert not list(tmp_path.iterdir())
    again = pickle.loads(pickle.dumps(model))  # the messages name what works
    assert (again.apply(TABLE[TEST]) == model.apply(TABLE[TEST])).all()
    assert json.loads(json.dumps(model.rules_.to_dict()))["rules"]


@pytest.mark.parametrize("name", ALL)
def test_it_must_be_fitted_first(name: str, tmp_path: Path) -> None:
    model = ALL[name]()
    row = TABLE.iloc[0]
    actions = [model.plot, model.report, model.export, lambda: model.explain(row)]
    for action in [*actions, lambda: model.save(tmp_path / "model.json")]:
        with pytest.raises(NotFittedError, match=r"This .* instance is not fitted yet"):
            action()
    with pytest.raises(TypeError, match="is not fitted yet; call fit first"):
        tw.save(model, tmp_path / "model.json")


def test_what_cannot_be_saved(tmp_path: Path) -> None:
    for what, message in [
        (tw.DecisionTreeClassifier, "not the class DecisionTreeClassifier"),
        ("oak", "a tree or an ensemble of trees can be saved, not a str"),
        (tw.KNeighborsClassifier().fit(TABLE[["x", "z"]], CLASSES), "KNeighborsClassifier"),
    ]:
        with pytest.raises(TypeError, match=message):
            tw.save(what, tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", [*ALL, "RuleListClassifier"])
def test_rows_to_certify_come_in_every_form(name: str) -> None:
    model = tw.RuleListClassifier().fit(*rows_of(name, TRAIN)) if name not in ALL else fitted(name)
    table, y = rows_of(name, TEST)
    expected = model.certify(table, y)
    assert model.certify((table, y)) == expected
    assert model.certify(table.assign(y=y), "y") == expected
    assert model.certify((table.assign(y=y), "y")) == expected
    with pytest.raises(ValueError, match="each counts as one draw here; leave the weights out"):
        model.certify((table, y, np.ones(len(y))))
    with pytest.raises(
        ValueError, match=r"no column 'why' to be the target; .* did you mean 'y'\?|no column"
    ):
        model.certify(table.assign(y=y), "why")


def check_shortcuts(model: Any, table: Any, y: Any, folder: Path) -> None:
    """All of them, of one fitted tree."""
    assert model.certify(table, y).rows == len(y)
    assert model.explain(table[:1]).value == model.predict(table[:1])[0]
    assert model.report(table, y).payload["headline"]
    assert model.plot().figure is not None
    assert "CASE" in str(model.export("sql", table="rows", check=True))
    model.save(folder / "model.json")
    assert (tw.load(folder / "model.json").predict(table) == model.predict(table)).all()


@pytest.mark.parametrize("container", ["default", "pandas", "polars"])
def test_the_last_step_of_a_pipeline(container: str, tmp_path: Path) -> None:
    scaler = StandardScaler().set_output(transform=container)
    pipeline = make_pipeline(scaler, tw.DecisionTreeClassifier(max_depth=3))
    numbers = TABLE[["x", "z"]]
    pipeline.fit(numbers[TRAIN], CLASSES[TRAIN])
    check_shortcuts(pipeline[-1], pipeline[:-1].transform(numbers[TEST]), CLASSES[TEST], tmp_path)
    for wrong in (tw.certify, tw.report):
        with pytest.raises(TypeError, match="this Pipeline holds the model that is wanted here; give "):
            wrong(pipeline, numbers[TEST], CLASSES[TEST])


def test_the_best_estimator_of_a_search(tmp_path: Path) -> None:
    search = GridSearchCV(tw.DecisionTreeClassifier(), {"max_depth": [1, 2, 3]}, cv=3)
    search.fit(TABLE[TRAIN], CLASSES[TRAIN])
    check_shortcuts(search.best_estimator_, TABLE[TEST], CLASSES[TEST], tmp_path)
    with pytest.raises(TypeError, match="this GridSearchCV holds the model that is wanted here; give "):
        tw.save(search, tmp_path / "search.json")
    forests = GridSearchCV(tw.RandomForestClassifier(5, random_state=0), {"max_depth": [1, 2]}, cv=3)
    forest = forests.fit(TABLE[TRAIN], CLASSES[TRAIN]).best_estimator_
    assert forest.certify(TABLE[TEST], CLASSES[TEST]).rows == N - 120
    forest.save(tmp_path / "forest.json")
    assert (tw.load(tmp_path / "forest.json").predict(TABLE[TEST]) == forest.predict(TABLE[TEST])).all()


def test_every_estimator_has_all_or_none_of_them() -> None:
    """Trees, ensembles and rule lists; neighbours and selectors of columns have no such model."""
    methods = ("plot", "explain", "certify", "report", "export", "save")
    for name in estimators.__all__:
        has = [hasattr(getattr(tw, name), method) for method in methods]
        without = name.startswith("KNeighbors") or name.endswith("Selector") or name == "SplitFilter"
        assert has == [not without] * len(methods), name
