"""Messy tables: CSV files as people have them, five folds, treewright beside the libraries people use."""

from __future__ import annotations

import os
import resource
import subprocess
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib import util
from multiprocessing import get_context
from statistics import mean
from typing import Any

from benchmarks import driving_r, keeping, messy_ours, messy_peers, messy_report, reusing
from benchmarks.keeping import Origin
from benchmarks.measuring import THREAD_LIMITS
from benchmarks.messy_report import Figure
from benchmarks.messy_rpart import rpart
from benchmarks.messy_sheets import Messy
from benchmarks.messy_tables import tables
from benchmarks.messy_tasks import VARIANTS, Answers, Method, Task, judged, tasks

OURS: dict[str, Method] = {
    messy_report.FIT: messy_ours.command_line,
    messy_report.FOLDS: messy_ours.folds,
    "treewright forest": messy_ours.forest,
    "treewright boosting": messy_ours.boosting,
}
PEERS: dict[str, tuple[str, Method]] = {  # the package to import, and the method
    "scikit-learn tree, one-hot": ("sklearn", partial(messy_peers.sklearn_tree, way="one-hot")),
    "scikit-learn tree, ordinal": ("sklearn", partial(messy_peers.sklearn_tree, way="ordinal")),
    "scikit-learn tree, target": ("sklearn", partial(messy_peers.sklearn_tree, way="target")),
    "LightGBM, one tree": ("lightgbm", messy_peers.lightgbm_tree),
    "YDF CART": ("ydf", messy_peers.ydf_cart),
    "rpart": ("rpart", rpart),
    "scikit-learn forest, one-hot": ("sklearn", partial(messy_peers.sklearn_forest, way="one-hot")),
    "scikit-learn forest, target": ("sklearn", partial(messy_peers.sklearn_forest, way="target")),
    "scikit-learn HistGB": ("sklearn", messy_peers.sklearn_boosting),
    "LightGBM": ("lightgbm", messy_peers.lightgbm_boosting),
    "YDF forest": ("ydf", messy_peers.ydf_forest),
    "YDF boosting": ("ydf", messy_peers.ydf_boosting),
}
QUICK = ("credit", "titanic", "vote")
DISTRIBUTIONS = {"sklearn": "scikit-learn"}  # where the package is installed under another name


def run(chosen: Namespace) -> None:
    """Measure every library on every table; keep the figures if nothing was left out."""
    origin = keeping.here(["treewright", "pandas", "scikit-learn", "lightgbm", "ydf"])
    origin.versions.update(driving_r.versions("rpart"))
    packages = {name: DISTRIBUTIONS.get(package, package) for name, (package, _) in PEERS.items()}
    known = reusing.kept("messy", origin.versions, packages) if chosen.reuse else []
    known_by_print = {figure["fingerprint"]: figure["results"] for figure in known}
    figures: list[Figure] = []
    os.environ.update(dict.fromkeys(THREAD_LIMITS, "1"))  # for the processes that measure
    for messy in tables():
        if (chosen.only or "") not in messy.name or (chosen.quick and messy.name not in QUICK):
            continue
        print(f"messy: {messy.name} …", flush=True)
        before = known_by_print.get(reusing.fingerprint(messy.text), {})
        figures.append(_apart(messy, before))
        print(messy_report.line(figures[-1]), flush=True)
        if not chosen.partial:
            keep(origin, figures)  # what is measured is not lost if a later table fails
    print(messy_report.page(origin, figures))


def _apart(messy: Messy, before: dict[str, Any]) -> Figure:
    """What `measured` says, from a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measured, messy, before).result()


def keep(origin: Origin, figures: list[Figure]) -> None:
    """Keep the figures and the page made of them."""
    keeping.save("messy", origin, {"tables": figures})
    keeping.write(keeping.RESULTS / "messy.md", messy_report.page(origin, figures))


def measured(messy: Messy, before: dict[str, Any]) -> Figure:
    """What all methods make of a table, as it is read and cleaned by hand, but for what is known before."""
    warnings.simplefilter("ignore")
    results = {}
    for variant in VARIANTS:
        dealt = list(tasks(messy, variant))
        found = dict(before.get(variant, {}))
        for name, method in _methods():
            if name not in found:
                found[name] = _over_folds(method, messy.kind, dealt)
        results[variant] = found
    return {
        "table": messy.name,
        "about": messy.about,
        "rows": len(messy.answers),
        "columns": messy.lines[0].count(messy.separator),
        "kind": messy.kind,
        "fingerprint": reusing.fingerprint(messy.text),
        "results": results,
    }


def _methods() -> Iterable[tuple[str, Method]]:
    """Ours, and the peers; one that is not installed says so."""
    yield from OURS.items()
    for name, (package, method) in PEERS.items():
        is_here = package == "rpart" or util.find_spec(package) is not None
        yield name, method if is_here else partial(_absent, package)


def _absent(package: str, _: Task) -> Answers:
    raise NotImplementedError(f"{package} is not installed")


def _over_folds(method: Method, kind: str, dealt: list[tuple[Task, Any]]) -> dict[str, Any]:
    """The scores and losses of the folds, and the mean CPU seconds; or why there are none."""
    scores, losses, took = [], [], []
    for task, truth in dealt:
        before = _cpu()
        try:
            answers = method(task)
        except NotImplementedError as error:
            return {"skipped": str(error)}
        except subprocess.TimeoutExpired as error:
            return {"skipped": f"took more than {error.timeout:.0f} s"}
        except (RuntimeError, ValueError) as error:
            return {"skipped": f"failed: {str(error).splitlines()[0][:90]}"}
        took.append(_cpu() - before)
        figure = judged(kind, truth, answers)
        scores.append(round(figure["score"], 5))
        losses.append(round(figure["loss"], 5))
    return {"scores": scores, "losses": losses, "cpu": mean(took)}


def _cpu() -> float:
    """The CPU seconds of this process and of those that it has waited for."""
    used: Callable[[int], Any] = resource.getrusage
    return sum(
        time.ru_utime + time.ru_stime for time in (used(resource.RUSAGE_SELF), used(resource.RUSAGE_CHILDREN))
    )
