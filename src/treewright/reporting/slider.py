"""The pruning slider: pruning paths of the grown tree by several methods, with losses and bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright._registry import offered
from treewright.pruning import METHODS, PruningPath, leaves_choice, prune
from treewright.pruning.minimum_errors import Front
from treewright.pruning.path import NestedPrunings, leaf_mask
from treewright.reporting.samples import Sample
from treewright.reporting.subject import Subject, leaves_within
from treewright.selecting.one_standard_error import SAME
from treewright.tree import Tree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

METHODS_SHOWN = ("cost_complexity", "minimum_errors", "reduced_error", "pessimistic")
MOST_PLACES = 200
MOST_CUTS = 30_000  # nodes listed by a path that is not nested
_LARGEST_FRONT = 20_000  # leaves; larger trees take too long and too much memory
_FIXED_OPTIONS = {"pessimistic": {"raising": False}}  # trees with raised subtrees are not on the slider


@dataclass(frozen=True, eq=False)
class SliderPath:
    """Some trees of a pruning path: nested (`leaf_from`), or by the branches that become leaves (`cuts`)."""

    full_tree: Tree
    method: str
    title: str
    places: int
    chosen: int
    chosen_by: str | None
    alpha: Floats | None
    leaf_from: Ints | None = None
    cuts: list[Ints] = field(default_factory=list)

    def sums(self, worth: NDArray[Any]) -> Floats:
        """For each tree the sum of `worth` over its leaves."""
        if self.leaf_from is None:
            return np.array([worth[leaf_mask(self.full_tree, cuts)].sum() for cuts in self.cuts], np.float64)
        never = np.where(self.leaf_from < 0, self.places, self.leaf_from)
        return NestedPrunings(self.full_tree, never, self.places).leaf_sums(np.asarray(worth, np.float64))


def slider_paths(
    subject: Subject, given: Mapping[str, Sample], methods: Sequence[str] | None
) -> tuple[list[SliderPath], list[str]]:
    """The paths of a report, that of the model first, and notes on methods that are not shown."""
    paths, notes = [], []
    if subject.slider is not None:
        paths.append(_path_of_model(subject, subject.slider))
    else:
        paths.append(_default_path(subject, prune(subject.tree, "cost_complexity")))
    for method in METHODS_SHOWN if methods is None else _method_names(methods):
        if method == paths[0].method and not (leaves_choice(method, ()) and _ends_early(paths[0])):
            continue
        path = _path_by(method, subject, given, must=methods is not None)
        if path is None:
            continue
        slider_path = _path_beside(path, subject, given.get("validation"))
        why = "raises subtrees and is not on the slider"
        if slider_path is not None:
            why = "keeps the whole tree" if path.leaves[-1] == subject.full_tree.n_leaves else ""
        if slider_path is not None and not why:
            paths.append(slider_path)
        elif methods is not None and subject.full_tree.n_leaves > 1:  # the caller named it
            notes.append(f"Pruning by {method.replace('_', ' ')} {why}.")
    return paths, notes


def _method_names(methods: Iterable[str]) -> tuple[str, ...]:
    if isinstance(methods, str):
        raise TypeError(f"methods must be a list of names, not the text {methods!r}: methods=[{methods!r}]")
    names = tuple(dict.fromkeys(methods))
    for method in names:
        if method == "rules":
            raise ValueError(
                "rule lists are not trees and cannot be on the slider; leave 'rules' out of methods"
            )
        METHODS.module(method)
    return names


def _path_by(method: str, subject: Subject, given: Mapping[str, Sample], *, must: bool) -> PruningPath | None:
    """The path of the grown tree by a method, with the data that it needs; None where it does not apply."""
    rows = {name: sample.data for name, sample in given.items()}
    facts = {"data": rows.get("train"), "validation": rows.get("validation")}
    if method == "minimum_errors" and subject.full_tree.n_leaves > _LARGEST_FRONT:
        return None
    # A path without a selected tree is evaluated later, only at the positions that are shown.
    known = () if leaves_choice(method, ()) else METHODS.options(method)
    options: dict[str, Any] = offered(known, facts)
    options |= _FIXED_OPTIONS.get(method, {})
    try:
        return prune(subject.tree, method, **options)
    except (TypeError, ValueError):
        if must:
            raise
        return None


def _path_of_model(subject: Subject, path: PruningPath) -> SliderPath:
    """The path of the model, positioned at the model: usually at the selected tree."""
    n = len(subject.leaves)
    for place in (path.chosen % len(path), *np.flatnonzero(path.leaves == n).tolist()):
        own = _cuts(path, place) if path.leaves[place] == n else None
        if own is not None and np.array_equal(own, subject.cuts):
            slider_path = _slider_path(path, subject.tree, place)
            if slider_path is not None:
                return slider_path
    raise ValueError("path does not belong to the model: the model is not one of its trees")


def _default_path(subject: Subject, path: PruningPath) -> SliderPath:
    """A path for a tree without one; it starts with the tree itself, including splits without gain."""
    assert isinstance(path.prunings, NestedPrunings)
    position, level = path.prunings.first_places, path.level
    if path.leaves[0] < subject.full_tree.n_leaves:
        position, level = np.where(subject.full_tree.is_leaf, 0, position + 1), np.concatenate([[0.0], level])
    whole = PruningPath.from_nested(path.method, subject.tree, position, level)
    slider_path = _slider_path(whole, subject.tree, 0)
    assert slider_path is not None
    return slider_path


def _path_beside(path: PruningPath, subject: Subject, validation: Sample | None) -> SliderPath | None:
    """A path by another method than the model's. If it has no selected tree, the validation rows select one;
    without them, it is positioned where its tree has about the size of the model.
    """
    if not path.is_open:
        return _slider_path(path, subject.tree, path.chosen % len(path))
    near = int(np.abs(path.leaves - len(subject.leaves)).argmin())
    slider_path = _slider_path(path, subject.tree, near)
    if slider_path is None or validation is None:
        return slider_path
    lost = slider_path.sums(validation.loss)
    best = int(np.flatnonzero(lost <= lost.min() + SAME * float(np.abs(lost).max()))[-1])  # the smallest one
    return replace(slider_path, chosen=best, chosen_by="smallest loss on the validation rows")


def _slider_path(path: PruningPath, full_tree: Tree, chosen: int) -> SliderPath | None:
    """The path, thinned for the page; None where its trees are not prunings of the full tree."""
    places, leaf_from, cuts = _thin(path.leaves, chosen, MOST_PLACES), None, []
    if isinstance(path.prunings, NestedPrunings):
        place = np.searchsorted(places, path.prunings.first_places)
        leaf_from = np.where(place < len(places), place, -1)
    else:
        own = {place: _cuts(path, place) for place in places.tolist()}
        if any(branches is None for branches in own.values()):
            return None
        sizes = {place: len(branches) for place, branches in own.items() if branches is not None}
        while len(places) > 3 and sum(sizes[place] for place in places.tolist()) > MOST_CUTS:
            places = _thin(path.leaves, chosen, len(places) * 3 // 4, places)
        cuts = [branches for place in places.tolist() if (branches := own[place]) is not None]
    how = path.details.get("chosen_by")
    return SliderPath(
        full_tree,
        path.method,
        path.method.replace("_", " "),
        len(places),
        int(np.searchsorted(places, chosen)),
        None if how is None else str(how),
        path.level[places] if path.method == "cost_complexity" else None,
        leaf_from,
        cuts,
    )


def _cuts(path: PruningPath, place: int) -> Ints | None:
    """The branches of the grown tree that are leaves at a position; None where that tree is not a pruning."""
    prunings, full_tree = path.prunings, path.full_tree
    if isinstance(prunings, Front):
        return np.sort(prunings.branches(place))
    if isinstance(prunings, NestedPrunings):
        gone = (prunings.first_places <= place) & ~full_tree.is_leaf
        return np.flatnonzero(gone & ~np.append(gone, False)[full_tree.parent])
    leaves = leaves_within(full_tree, path[place])
    return None if leaves is None else leaves[~full_tree.is_leaf[leaves]]


def _thin(leaves: Ints, chosen: int, most: int, among: Ints | None = None) -> Ints:
    """At most about `most` positions of a path: the first, the last, the selected one, others spread evenly
    over index and logarithm of size.
    """
    places = np.arange(len(leaves)) if among is None else among
    if len(places) <= most:
        return places
    rank = np.linspace(0, len(places) - 1, len(places))
    size = np.log(leaves[places].astype(np.float64))
    spread = (rank / rank[-1] + (size[0] - size) / max(size[0] - size[-1], 1e-9)) / 2  # rises along the path
    wanted = np.searchsorted(spread, np.linspace(0, spread[-1], max(most - 1, 2)))
    kept = {*places[np.minimum(wanted, len(places) - 1)].tolist(), int(places[0]), int(places[-1]), chosen}
    return np.array(sorted(kept), np.int64)


def _ends_early(slider_path: SliderPath) -> bool:
    """Whether the path ends before the root."""
    return bool(slider_path.sums(np.ones(slider_path.full_tree.n_nodes))[-1] > 1)
