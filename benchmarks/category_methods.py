"""The methods that `categories` compares: what each library makes of a table with many-valued categories.

A method takes the rows to grow from, those to prune by and those to test on, and returns its answers to the
last. Single trees are pruned by the held-out rows, each library in the way it has for that; ensembles take
these rows for early stopping where they have it, or do not look at them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import util
from typing import Any

import numpy as np

from benchmarks.category_tables import Table, is_text

TREES = 100  # of an ensemble
LEAVES = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)  # what held-out rows choose from where nothing is pruned
PLAIN = {"category_gain": "plain"}  # the option of `grow` that compares category splits by their raw gain

Method = Callable[[Table, Table, Table], Any]


# ---- treewright -------------------------------------------------------------------------------------


def has_plain() -> bool:
    """Whether category splits can be told to do without the correction, which is the default then."""
    from treewright import grow

    return set(PLAIN) <= set(inspect.signature(grow).parameters)


def plain(grow: Table, prune: Table, test: Table) -> Any:
    """A tree that compares category splits by their raw gain."""
    return _pruned(grow, prune, test, PLAIN if has_plain() else {})


def default(grow: Table, prune: Table, test: Table) -> Any:
    """The tree that `treewright fit` makes."""
    return _pruned(grow, prune, test, {})


def _pruned(rows: Table, held_out: Table, test: Table, options: dict[str, Any]) -> Any:
    """Grown to purity, pruned by cost complexity, chosen by the held-out rows."""
    import treewright

    data = treewright.encode(rows.columns, rows.target, classes=rows.kind == "classes")
    validation = treewright.encode(held_out.columns, held_out.target, schema=data.schema)
    path = treewright.prune(treewright.grow(data, n_jobs=1, **options), "cost_complexity")
    return treewright.select(path, by="held_out", validation=validation).pruned.predict(test.columns)


def target_encoded(grow: Table, prune: Table, test: Table) -> Any:
    """scikit-learn's cross-fitted TargetEncoder, then our tree on the numbers."""
    from sklearn.model_selection import KFold, StratifiedKFold
    from sklearn.preprocessing import TargetEncoder

    kind, folds = ("continuous", KFold) if grow.kind == "numbers" else ("auto", StratifiedKFold)
    encoder = TargetEncoder(target_type=kind, cv=folds(5, shuffle=True, random_state=0))
    return _encoded(grow, prune, test, encoder)


def ordered_encoded(grow: Table, prune: Table, test: Table) -> Any:
    """CatBoost's ordered target statistics (category_encoders), then our tree on the numbers."""
    from category_encoders import CatBoostEncoder

    if grow.kind == "classes" and len(np.unique(grow.target)) > 2:
        raise NotImplementedError("the encoder takes two classes or numbers")
    return _encoded(grow, prune, test, CatBoostEncoder(random_state=0))


def _encoded(grow: Table, prune: Table, test: Table, encoder: Any) -> Any:
    """Every text column turned to numbers by an encoder that is fitted to the rows to grow from."""
    names = [name for name, cells in grow.columns.items() if is_text(cells)]
    if not names:
        return default(grow, prune, test)
    target = grow.target if grow.kind == "numbers" else np.unique(grow.target, return_inverse=True)[1]
    first = encoder.fit_transform(_frame(grow)[names], target)
    parts = [first, *(encoder.transform(_frame(part)[names]) for part in (prune, test))]
    return default(
        *(_replaced(part, names, found) for part, found in zip((grow, prune, test), parts, strict=True))
    )


def _replaced(part: Table, names: list[str], found: Any) -> Table:
    """The table with the encoded columns in the place of the text; several classes give several columns."""
    kept = {name: cells for name, cells in part.columns.items() if name not in names}
    made = {f"encoded {k}": cells for k, cells in enumerate(np.asarray(found, float).T)}
    return part._replace(columns=kept | made)


def forest(grow: Table, prune: Table, test: Table) -> Any:
    """Our random forest."""
    import treewright

    return _answers(
        grow, test, treewright.RandomForestClassifier, treewright.RandomForestRegressor, n_estimators=TREES
    )


def extra_trees(grow: Table, prune: Table, test: Table) -> Any:
    """Our extra trees."""
    import treewright

    return _answers(
        grow, test, treewright.ExtraTreesClassifier, treewright.ExtraTreesRegressor, n_estimators=TREES
    )


def boosting(grow: Table, prune: Table, test: Table) -> Any:
    """Our gradient boosting."""
    import treewright

    models = treewright.HistGradientBoostingClassifier, treewright.HistGradientBoostingRegressor
    return _answers(grow, test, *models, max_iter=TREES, early_stopping=False)


def _answers(grow: Table, test: Table, classifier: Any, regressor: Any, **options: Any) -> Any:
    model = (classifier if grow.kind == "classes" else regressor)(random_state=0, n_jobs=1, **options)
    return model.fit(_frame(grow), grow.target).predict(_frame(test))


def _frame(table: Table) -> Any:
    import pandas

    return pandas.DataFrame(table.columns)


# ---- peers ------------------------------------------------------------------------------------------


def lightgbm_tree(grow: Table, prune: Table, test: Table) -> Any:
    """One round of LightGBM with its rule for categories; held-out rows choose the number of leaves."""
    found = []
    for leaves in LEAVES:
        options = {"num_leaves": leaves, "learning_rate": 1.0, "min_data_in_leaf": 5}
        answer = _lightgbm(grow, rounds=1, **options)
        found.append((score(prune, answer(prune)), answer))
    return max(found, key=lambda pair: pair[0])[1](test)


def lightgbm_boosting(grow: Table, prune: Table, test: Table) -> Any:
    """LightGBM with its defaults."""
    return _lightgbm(grow, rounds=TREES)(test)


def _lightgbm(rows: Table, rounds: int, **options: Any) -> Callable[[Table], Any]:
    """A fitted booster, as a function of a table."""
    import lightgbm

    classes, codes = (None, rows.target)
    objective = "regression"
    if rows.kind == "classes":
        classes, codes = np.unique(rows.target, return_inverse=True)
        objective = "binary" if len(classes) == 2 else "multiclass"
        options |= {"num_class": len(classes)} if len(classes) > 2 else {}
    known = {name: np.unique(cells) for name, cells in rows.columns.items() if is_text(cells)}
    options |= {"objective": objective, "num_threads": 1, "verbosity": -1, "seed": 0}
    data = lightgbm.Dataset(_categories(rows, known), codes)
    booster = lightgbm.train(options, data, num_boost_round=rounds)

    def answer(table: Table) -> Any:
        found = booster.predict(_categories(table, known), num_threads=1)
        if classes is None:
            return found
        return classes[found.argmax(axis=1) if found.ndim > 1 else (found > 0.5).astype(int)]

    return answer


def _categories(table: Table, known: dict[str, Any]) -> Any:
    """A frame of pandas' categories, with the codes of the rows that were learnt from."""
    import pandas

    frame = _frame(table)
    for name, values in known.items():
        frame[name] = pandas.Categorical(frame[name], categories=values)
    return frame


def ydf_cart(grow: Table, prune: Table, test: Table) -> Any:
    """YDF's CART with its own pruning by the held-out rows; its default for categories is CART's subset."""
    import ydf

    return _ydf(grow, test, ydf.CartLearner, valid=prune)


def ydf_random(grow: Table, prune: Table, test: Table) -> Any:
    """The same with random category subsets."""
    import ydf

    return _ydf(grow, test, ydf.CartLearner, valid=prune, categorical_algorithm="RANDOM")


def _ydf(grow: Table, test: Table, learner: Any, valid: Table | None = None, **options: Any) -> Any:
    import ydf

    ydf.verbose(0)
    task = ydf.Task.CLASSIFICATION if grow.kind == "classes" else ydf.Task.REGRESSION
    told = learner(label="target", task=task, num_threads=1, random_seed=0, **options)
    model = told.train(_with_target(grow), valid=None if valid is None else _with_target(valid))
    found = model.predict({name: _ydf_cells(cells) for name, cells in test.columns.items()}, num_threads=1)
    if grow.kind == "numbers":
        return found
    codes = found.argmax(axis=1) if found.ndim > 1 else (found > 0.5).astype(int)
    return np.array(model.label_classes(), dtype=object)[codes]


def _with_target(table: Table) -> dict[str, Any]:
    columns = {name: _ydf_cells(cells) for name, cells in table.columns.items()}
    return columns | {"target": table.target if table.kind == "numbers" else table.target.astype(str)}


def _ydf_cells(cells: Any) -> Any:
    return cells.astype(str) if is_text(cells) else cells


def catboost(grow: Table, prune: Table, test: Table) -> Any:
    """CatBoost with its ordered target statistics, stopped early by the held-out rows."""
    from catboost import CatBoostClassifier, CatBoostRegressor, Pool

    names = [name for name, cells in grow.columns.items() if is_text(cells)]
    frames = [_frame(part) for part in (grow, prune, test)]
    model = (CatBoostClassifier if grow.kind == "classes" else CatBoostRegressor)(
        iterations=4 * TREES, early_stopping_rounds=20, thread_count=1, random_seed=0, verbose=False,
        allow_writing_files=False,
    )  # fmt: skip
    model.fit(Pool(frames[0], grow.target, names), eval_set=Pool(frames[1], prune.target, names))
    return np.asarray(model.predict(Pool(frames[2], cat_features=names))).ravel()


TREE_METHODS: dict[str, Method] = {
    "treewright, plain": plain,
    "treewright": default,
    "TargetEncoder + treewright": target_encoded,
    "CatBoostEncoder + treewright": ordered_encoded,
    "LightGBM, one tree": lightgbm_tree,
    "YDF CART": ydf_cart,
    "YDF CART, random subsets": ydf_random,
}
ENSEMBLES: dict[str, Method] = {
    "treewright forest": forest,
    "treewright extra trees": extra_trees,
    "treewright boosting": boosting,
    "LightGBM": lightgbm_boosting,
    "CatBoost": catboost,
}
NEEDS = {"TargetEncoder": "sklearn", "CatBoostEncoder": "category_encoders", "LightGBM": "lightgbm",
         "YDF": "ydf", "CatBoost": "catboost"}  # fmt: skip


def absent(method: str) -> str | None:
    """The package that a method lacks on this machine."""
    package = NEEDS.get(method.split(",")[0].split()[0])
    return package if package is not None and util.find_spec(package) is None else None


def score(table: Table, answers: Any) -> float:
    """The accuracy, or R² of numbers."""
    if table.kind == "classes":
        return float(np.mean(answers.astype(str) == table.target.astype(str)))
    rest = np.mean((np.asarray(answers, float) - table.target) ** 2)
    return float(1.0 - rest / np.var(table.target))
