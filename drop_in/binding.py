"""A pytest plugin that binds treewright's classes in place of scikit-learn's before its tests are imported.

Only the tests see the other classes: scikit-learn's own modules were imported before and keep their own.
"""

from __future__ import annotations

import importlib
import inspect
import re
import types
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

import treewright
from drop_in.differences import difference_of, read_differences
from drop_in.files import FILES
from drop_in.page import save_counts
from drop_in.private import KDTree32, give_private_names
from treewright import KNeighborsClassifier, KNeighborsRegressor

PUBLIC = {
    "sklearn.tree": (
        "DecisionTreeClassifier",
        "DecisionTreeRegressor",
        "ExtraTreeClassifier",
        "ExtraTreeRegressor",
    ),
    "sklearn.ensemble": (
        "AdaBoostClassifier",
        "AdaBoostRegressor",
        "BaggingClassifier",
        "BaggingRegressor",
        "ExtraTreesClassifier",
        "ExtraTreesRegressor",
        "HistGradientBoostingClassifier",
        "HistGradientBoostingRegressor",
        "RandomForestClassifier",
        "RandomForestRegressor",
    ),
    "sklearn.neighbors": ("KDTree", "KNeighborsClassifier", "KNeighborsRegressor"),
}
OUR_NAMES = {name for names in PUBLIC.values() for name in names} | {"KDTree32", "KDTree64"}
# Files in which most tests are about other classes, and take minutes.
FILES_OF_OTHERS = {"test_neighbors.py", "test_neighbors_tree.py", "test_metaestimators_metadata_routing.py"}
CLASS_NAME = re.compile(r"\b(?:[A-Z]\w*(?:Classifier|Regressor|CV|Neighbors)|(?:KD|Ball)Tree(?:32|64)?)\b")
# Modules of scikit-learn that the tests import and that use these classes themselves: they keep their own.
USERS = (
    *("sklearn.cluster", "sklearn.dummy", "sklearn.inspection", "sklearn.model_selection"),
    *("sklearn.pipeline", "sklearn.svm"),
)
# Private names of scikit-learn for a class, by its module, that the tests use as well.
OTHER_NAMES = {"sklearn.neighbors._kd_tree": {"KDTree32": KDTree32, "KDTree64": treewright.KDTree}}


def bind() -> dict[int, Any]:
    """Put ours in the public modules; returns ours by the id of theirs."""
    for user in USERS:
        importlib.import_module(user)
    ours_by_id = {}
    for module_name, names in PUBLIC.items():
        module = importlib.import_module(module_name)
        for name in names:
            ours = getattr(treewright, name)
            ours_by_id[id(getattr(module, name))] = ours
            setattr(module, name, ours)
    for module_name, of_ours in OTHER_NAMES.items():
        module = importlib.import_module(module_name)
        ours_by_id |= {id(getattr(module, name)): ours for name, ours in of_ours.items()}
    return ours_by_id


OURS_BY_ID = bind()
give_private_names()


def rebind(module: types.ModuleType) -> None:
    """Replace the classes that a test module took from a private module of scikit-learn."""
    for name, value in vars(module).copy().items():
        if id(value) in OURS_BY_ID:
            setattr(module, name, OURS_BY_ID[id(value)])
    if hasattr(module, "KNeighborsMixin"):  # by which a test knows what takes a number of neighbours
        module.KNeighborsMixin = (module.KNeighborsMixin, KNeighborsClassifier, KNeighborsRegressor)


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makemodule(module_path: Any, parent: Any) -> Iterator[None]:
    """Bind what a test module imported by its private name."""
    module = yield
    rebind(module.obj)
    return module


def names_ours(item: Any) -> bool:
    """Whether a test is about a class of treewright's: by its own name if that names a class, else by its
    source and its parameters.
    """
    named = CLASS_NAME.findall(item.name)
    if not named:
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        named = CLASS_NAME.findall(inspect.getsource(item.function) + repr(parameters))
    return not OUR_NAMES.isdisjoint(named)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of other classes. Expect the listed tests to fail; one that passes is an error, so
    that the list stays true.
    """
    kept: list[pytest.Item] = []
    others: list[pytest.Item] = []
    for item in items:
        (others if item.path.name in FILES_OF_OTHERS and not names_ours(item) else kept).append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = kept
    differences = read_differences()
    for item in items:
        difference = difference_of(item.nodeid, differences)
        if difference is not None:
            item.add_marker(pytest.mark.xfail(reason=difference.reason, strict=True, run=difference.run))


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--save-counts`, for the page of the documentation."""
    parser.addoption(
        "--save-counts", action="store_true", help="keep the number of tests by file and outcome"
    )


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the number of tests by file and outcome, and keep it where that was asked for."""
    counts: dict[str, Counter[str]] = {}
    for outcome in ("passed", "xfailed", "skipped", "failed", "error"):
        for report in terminalreporter.stats.get(outcome, []):
            file = report.nodeid.partition("::")[0].rpartition("/")[2]
            counts.setdefault(file, Counter())[outcome] += 1
    for file, by_outcome in sorted(counts.items()):
        told = ", ".join(f"{number:,} {outcome}" for outcome, number in by_outcome.items())
        terminalreporter.write_line(f"{file}: {told}")
    if not config.getoption("--save-counts"):
        return
    has_failed = any(by_outcome["failed"] + by_outcome["error"] for by_outcome in counts.values())
    if has_failed or config.option.keyword or len(counts) < len(FILES):
        terminalreporter.write_line("the counts are not kept: that takes all files, and no failure")
    else:
        save_counts(counts)
