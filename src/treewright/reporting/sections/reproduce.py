"""The "How to reproduce" section: versions, parameters, code, and fingerprints of the data."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from typing import Any

import numpy as np

from treewright._version import __version__
from treewright.encoding import Dataset
from treewright.optimising import Optimum
from treewright.parameters import Oblique, Option
from treewright.parameters.optimal import OPTIMISE
from treewright.reporting.context import Context
from treewright.reporting.subject import Subject, shorten
from treewright.tree import Tree
from treewright.tree.costs import costs_option

_LONGEST = 200  # characters of a parameter's value
_PIECE = 2**20  # cells of a column hashed at once


def values(context: Context) -> dict[str, Any]:
    """Versions, parameters, code and fingerprints: what it takes to make the same report again."""
    return {
        "version": __version__,
        "python": platform.python_version(),
        "seed": context.seed,
        "parameters": _parameters(context.model, context.subject),
        "fingerprints": {name: fingerprint(data) for name, data in context.rows.items()},
        "code": _code(context.model, context.subject, context.rows, context.seed),
    }


def _parameters(model: Any, subject: Subject) -> dict[str, str]:
    """The parameters of an estimator, or what the tree itself remembers."""
    found: dict[str, Any] = {}
    if callable(getattr(model, "get_params", None)):
        found = {name: repr(value) for name, value in sorted(model.get_params(deep=False).items())}
    if isinstance(model, Optimum):
        found = {name: repr(value) for name, value in sorted(_search_arguments(model).items())}
    optimum = getattr(model, "optimum_", model)
    if isinstance(optimum, Optimum):
        found |= {name: repr(getattr(optimum, name)) for name in ("objective", "bound")}
    found |= {"criterion": subject.model.criterion, "leaves": f"{subject.model.n_leaves}"}
    if subject.path is not None:
        found["pruning"] = subject.path.method
        if "chosen_by" in subject.path.details:
            found["chosen by"] = str(subject.path.details["chosen_by"])
        found["leaves before pruning"] = f"{subject.path.full_tree.n_leaves}"
    return {shorten(name): shorten(value, _LONGEST) for name, value in found.items()}


def _code(model: Any, subject: Subject, rows: Mapping[str, Dataset], seed: int) -> str:
    """The steps as Python code, for tables of these names."""
    given = "".join(f", {name}={name}" for name in rows)
    seeded = f", random_state={seed}" if seed else ""
    if callable(getattr(model, "get_params", None)):
        made = " ".join(repr(model).split())
        lines = [f"from treewright import {type(model).__name__}, report", "", f"model = {made}.fit(X, y)"]
        lines = [shorten(line, 2_000) for line in lines]
        return "\n".join([*lines, f"report(model{given}{seeded}).save('report.html')"])
    target = shorten(subject.model.schema.targets[0].name)
    verb = "optimise" if isinstance(model, Optimum) else "grow"
    options = _search_arguments(model) if isinstance(model, Optimum) else _grow_arguments(subject.full_tree)
    kinds = (type(value) for value in options.values())
    names = [*(kind.__name__ for kind in kinds if kind.__module__ != "builtins"), "encode", verb]
    names += ["report"] if subject.path is None else ["prune", "report", "select"]
    passed = "".join(f", {name}={value!r}" for name, value in options.items())
    lines = [
        f"from treewright import {', '.join(names)}",
        "",
        f"train = encode(train_table, {target!r})",
        *(
            f"{name} = encode({name}_table, {target!r}, schema=train.schema)"
            for name in rows
            if name != "train"
        ),
    ]
    if verb == "optimise":
        lines.append(f"tree = optimise(train{passed}).tree")
    else:
        lines += [
            "# a tree does not remember its limits, such as max_depth: pass those that it was grown with",
            f"tree = grow(train, criterion={subject.full_tree.criterion!r}{passed})",
        ]
    if subject.path is None:
        return "\n".join([*lines, f"report(tree{given}{seeded}).save('report.html')"])
    lines.append(f"path = prune(tree, {subject.path.method!r})")
    lines.append(f"path = select(path, leaves={subject.model.n_leaves})")
    return "\n".join([*lines, f"report(path{given}{seeded}).save('report.html')"])


def _search_arguments(optimum: Optimum) -> dict[str, Any]:
    """The arguments of `optimise` that are not its defaults."""
    limits = {name: optimum.limits[name] for name in OPTIMISE if name in optimum.limits}
    plain = (int, float, str)
    changed = {
        name: value
        for name, value in limits.items()
        if isinstance(value, plain) and name != "n_jobs" and value != OPTIMISE[name].default
    }
    return changed | dict(_grow_arguments(optimum.tree))


def _grow_arguments(tree: Tree) -> dict[str, Option]:
    """The arguments of `grow` for costs and oblique splits."""
    options: dict[str, Option] = {}
    if tree.schema.has_costs:
        options["costs"] = costs_option(tree.schema.targets[0], np.asarray(tree.statistic[0]))
    if tree.directions:
        options["split"] = Oblique(max(len(direction.columns) for direction in tree.directions))
    return options


def fingerprint(data: Dataset) -> str:
    """A hash of the encoded data: names, cells, targets and weights; the same on every machine."""
    digest = hashlib.sha256()
    for column in data.schema.columns:
        digest.update(repr((column.name, column.kind, column.categories)).encode("utf-8", "surrogatepass"))
    for target in data.schema.targets:
        digest.update(repr((target.name, target.classes)).encode("utf-8", "surrogatepass"))
    arrays = [data.column(i) for i in range(data.n_columns)]
    arrays += [] if data.targets is None else list(data.targets)
    arrays += [] if data.weight is None else [data.weight]
    for array in arrays:
        kind = "<i8" if array.dtype.kind in "iu" else "<f8"
        digest.update(f"{kind} {len(array)}".encode())
        for first in range(0, len(array), _PIECE):
            digest.update(np.ascontiguousarray(array[first : first + _PIECE], dtype=kind).tobytes())
    return f"sha256:{digest.hexdigest()}"
