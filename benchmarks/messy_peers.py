"""Peers on a messy table, each given the frame as its users do: usual encoders, pandas' categories."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.messy_tasks import Answers, Shares, Task

TREES = 100
ALPHAS = 12  # prices of a leaf that folds choose from
LEAVES = (2, 4, 8, 16, 31, 64, 128)  # numbers of leaves that folds choose from
MANY_CLASSES, MANY = 5, 1000  # above which YDF's ensembles are spared
INNER = 5  # folds of the training rows that choose


# ---- scikit-learn -----------------------------------------------------------------------------------


def is_number(column: Any) -> bool:
    """Whether a column of a frame is numbers; booleans are categories."""
    return bool(column.dtype.kind in "iuf")


def filled(frame: Any) -> Any:
    """The frame with text for missing categories, as encoders want it."""
    made = frame.copy()
    for name in frame:
        if not is_number(frame[name]):
            made[name] = [str(cell) if known else "missing" for cell, known in
                          zip(frame[name], frame[name].notna(), strict=True)]  # fmt: skip
    return made


def encoder(kind: str, way: str) -> Any:
    """What turns categories to numbers."""
    from sklearn.model_selection import KFold, StratifiedKFold
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, TargetEncoder

    if way == "one-hot":
        return OneHotEncoder(min_frequency=10, handle_unknown="infrequent_if_exist", sparse_output=False)
    if way == "ordinal":
        return OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    target, split = ("continuous", KFold) if kind == "numbers" else ("auto", StratifiedKFold)
    return TargetEncoder(target_type=target, cv=split(5, shuffle=True, random_state=0))


def prepared(task: Task, way: str) -> Any:
    """Imputed numbers, and categories through an encoder."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer

    numbers = [name for name in task.rows if is_number(task.rows[name])]
    others = [name for name in task.rows if name not in numbers]
    impute = SimpleImputer(strategy="median", keep_empty_features=True)
    return ColumnTransformer([("numbers", impute, numbers), ("others", encoder(task.kind, way), others)])


def sklearn_tree(task: Task, way: str) -> Answers:
    """A tree, its price of a leaf (ccp_alpha) chosen by five folds, each with an encoder of its own."""
    from sklearn import tree

    grower = tree.DecisionTreeClassifier if task.kind == "classes" else tree.DecisionTreeRegressor
    rows, others = filled(task.rows), filled(task.others)
    coder = prepared(task, way)
    table = coder.fit_transform(rows, task.target)
    path = grower(random_state=0).cost_complexity_pruning_path(table, task.target).ccp_alphas
    alphas = _spread(path)
    scores = np.zeros(len(alphas))
    for learn, ask in _inner(task):
        own = prepared(task, way)
        known = own.fit_transform(rows.iloc[learn], task.target[learn])
        asked = own.transform(rows.iloc[ask])
        for k, alpha in enumerate(alphas):
            model = grower(random_state=0, ccp_alpha=alpha).fit(known, task.target[learn])
            scores[k] += model.score(asked, task.target[ask])
    best = alphas[len(alphas) - 1 - int(scores[::-1].argmax())]  # the smallest tree of several
    model = grower(random_state=0, ccp_alpha=best).fit(table, task.target)
    return _answers(task, model, coder.transform(others))


def _spread(path: Any) -> Any:
    """Prices from none to the one that leaves a single leaf, evenly in their logarithm."""
    some = path[path > 1e-12 * path.max()]
    if not len(some):
        return np.zeros(1)
    low, high = float(np.quantile(some, 0.05)), float(some.max())
    return np.unique([0.0, *np.geomspace(low, high * (1 + 1e-9), ALPHAS)])


def _inner(task: Task) -> list[tuple[Any, Any]]:
    from sklearn.model_selection import KFold

    return list(KFold(INNER, shuffle=True, random_state=1).split(task.target))


def sklearn_forest(task: Task, way: str) -> Answers:
    """A random forest behind an encoder."""
    from sklearn import ensemble

    grower = ensemble.RandomForestClassifier if task.kind == "classes" else ensemble.RandomForestRegressor
    coder = prepared(task, way)
    table = coder.fit_transform(filled(task.rows), task.target)
    model = grower(TREES, random_state=0, n_jobs=1).fit(table, task.target)
    return _answers(task, model, coder.transform(filled(task.others)))


def sklearn_boosting(task: Task) -> Answers:
    """HistGradientBoosting; categories by their codes, the rare ones together, since it takes 255 at most."""
    from sklearn import ensemble
    from sklearn.compose import ColumnTransformer
    from sklearn.preprocessing import OrdinalEncoder

    numbers = [name for name in task.rows if is_number(task.rows[name])]
    others = [name for name in task.rows if name not in numbers]
    codes = OrdinalEncoder(max_categories=250, handle_unknown="use_encoded_value", unknown_value=np.nan)
    coder = ColumnTransformer([("numbers", "passthrough", numbers), ("others", codes, others)])
    table = coder.fit_transform(filled(task.rows))
    is_category = np.arange(table.shape[1]) >= len(numbers)
    models = ensemble.HistGradientBoostingClassifier, ensemble.HistGradientBoostingRegressor
    model = models[task.kind == "numbers"](categorical_features=is_category, random_state=0)
    return _answers(task, model.fit(table, task.target), coder.transform(filled(task.others)))


def _answers(task: Task, model: Any, table: Any) -> Answers:
    if task.kind == "numbers":
        return model.predict(table)
    return Shares(model.classes_, model.predict_proba(table))


# ---- LightGBM ---------------------------------------------------------------------------------------


def lightgbm_tree(task: Task) -> Answers:
    """One round at full step; five folds choose the number of leaves."""
    one = partial(_lightgbm, task, n_estimators=1, learning_rate=1.0)
    scores = np.zeros(len(LEAVES))
    for learn, ask in _inner(task):
        for k, leaves in enumerate(LEAVES):
            model, known = one(rows=learn, num_leaves=leaves)
            asked = _categories(task.rows.iloc[ask], known)
            scores[k] += model.score(asked, task.target[ask])
    model, known = one(num_leaves=LEAVES[int(scores.argmax())])
    return _answers(task, model, _categories(task.others, known))


def lightgbm_boosting(task: Task) -> Answers:
    """LightGBM with its defaults."""
    model, known = _lightgbm(task, n_estimators=TREES)
    return _answers(task, model, _categories(task.others, known))


def _lightgbm(task: Task, rows: Any = None, **options: Any) -> tuple[Any, dict[str, Any]]:
    """A fitted model, and the categories that it knows."""
    import lightgbm

    chosen = np.arange(len(task.target)) if rows is None else rows
    frame = task.rows.iloc[chosen]
    known = {name: _values(frame[name]) for name in frame if not is_number(frame[name])}
    models = lightgbm.LGBMClassifier, lightgbm.LGBMRegressor
    model = models[task.kind == "numbers"](n_jobs=1, random_state=0, verbosity=-1, **options)
    return model.fit(_categories(frame, known), task.target[chosen]), known


def _values(column: Any) -> list[str]:
    return sorted(set(column.dropna().astype(str)))


def _categories(frame: Any, known: dict[str, Any]) -> Any:
    """The frame with pandas' categories, named so that the library takes any name of a column."""
    import pandas

    columns = {
        f"c{k}": pandas.Categorical(frame[name].astype(object).where(frame[name].notna(), None).map(
            lambda cell: cell if cell is None else str(cell)), categories=known[name])
        if name in known else frame[name].to_numpy()
        for k, name in enumerate(frame)
    }  # fmt: skip
    return pandas.DataFrame(columns)


# ---- YDF --------------------------------------------------------------------------------------------


def ydf_cart(task: Task) -> Answers:
    """CART, pruned by the tenth of the rows that it sets aside."""
    import ydf

    return _ydf(task, ydf.CartLearner)


def _spare_many_classes(task: Task) -> None:
    """Leave out tables of many classes and a category of thousands of values, expected to take very long."""
    texts = [task.rows[name].nunique() for name in task.rows if not is_number(task.rows[name])]
    if task.kind == "classes" and len(np.unique(task.target)) > MANY_CLASSES and max(texts, default=0) > MANY:
        raise NotImplementedError("not tried: many classes and a category of thousands of values")


def ydf_forest(task: Task) -> Answers:
    """Random forest."""
    import ydf

    _spare_many_classes(task)
    return _ydf(task, ydf.RandomForestLearner, num_trees=TREES, compute_oob_performances=False)


def ydf_boosting(task: Task) -> Answers:
    """Gradient boosted trees, stopped early by the tenth of the rows that it sets aside."""
    import ydf

    _spare_many_classes(task)
    return _ydf(task, ydf.GradientBoostedTreesLearner, num_trees=TREES)


def _ydf(task: Task, learner: Callable[..., Any], **options: Any) -> Answers:
    import ydf

    ydf.verbose(0)
    kind = ydf.Task.CLASSIFICATION if task.kind == "classes" else ydf.Task.REGRESSION
    told = learner(label="the target", task=kind, num_threads=1, random_seed=0, **options)
    target = task.target if task.kind == "numbers" else task.target.astype(str)
    model = told.train(_columns(task.rows) | {"the target": target})
    found = model.predict(_columns(task.others), num_threads=1)
    if task.kind == "numbers":
        return found
    matrix = found if found.ndim > 1 else np.stack([1.0 - found, found], axis=1)
    return Shares(model.label_classes(), matrix)


def _columns(frame: Any) -> dict[str, Any]:
    """Numbers as they are; text with empty texts for what is missing, which the library takes for that."""
    return {
        str(name): frame[name].to_numpy(float) if is_number(frame[name])
        else np.array([str(cell) if known else "" for cell, known in
                       zip(frame[name], frame[name].notna(), strict=True)])
        for name in frame
    }  # fmt: skip
