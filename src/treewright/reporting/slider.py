"""The pruning slider: the prunings of the grown tree by several methods, with what each loses and proves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright._registry import offered
from treewright.pruning import METHODS, PruningPath, leaves_choice, prune
from treewright.pruning.minimum_errors import Front
from treewright.pruning.path import NestedPrunings
from treewright.reporting.certificates import uppers, uppers_in_words
from treewright.reporting.parts import Part, Rows
from treewright.reporting.rounding import bounds_from_above, shorts
from treewright.reporting.subjects import Subject, leaves_of_cuts, leaves_within
from treewright.selecting.one_standard_error import SAME
from treewright.tree import Tree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

METHODS_SHOWN = ("cost_complexity", "minimum_errors", "reduced_error", "pessimistic")
MOST_PLACES = 200
MOST_CUTS = 30_000  # numbers of nodes that a path which is not nested may list
_LARGEST_FRONT = 20_000  # leaves; the front of a larger tree takes too long and too much memory
_FIXED_OPTIONS = {"pessimistic": {"raising": False}}  # raised subtrees are no prunings of the tree


@dataclass(frozen=True, eq=False)
class Slide:
    """Some places of a path: nested (`leaf_from`), or by the branches that are leaves at each (`cuts`)."""

    grown: Tree
    method: str
    title: str
    places: int
    chosen: int
    chosen_by: str | None
    alpha: Floats | None
    leaf_from: Ints | None = None
    cuts: list[Ints] = field(default_factory=list)

    def sums(self, worth: NDArray[Any]) -> Floats:
        """For each place the sum of `worth` over its leaves."""
        if self.leaf_from is None:
            return np.array([worth[leaves_of_cuts(self.grown, cuts)].sum() for cuts in self.cuts], np.float64)
        never = np.where(self.leaf_from < 0, self.places, self.leaf_from)
        return NestedPrunings(self.grown, never, self.places).leaf_sums(np.asarray(worth, np.float64))


def slides(
    subject: Subject, parts: Mapping[str, Rows], methods: Sequence[str] | None
) -> tuple[list[Slide], list[str]]:
    """The paths of a report, that of the model first, and what could not be shown."""
    found, notes = [], []
    if subject.slider is not None:
        found.append(_own(subject, subject.slider))
    else:
        found.append(_around(subject, prune(subject.shown, "cost_complexity")))
    for method in METHODS_SHOWN if methods is None else _checked(methods):
        if method == found[0].method and not (leaves_choice(method, ()) and _ends_early(found[0])):
            continue
        path = _path_by(method, subject, parts, must=methods is not None)
        if path is None:
            continue
        slide = _of_path(path, subject, parts)
        prunes_nothing = path.leaves[-1] == subject.grown.n_leaves
        if slide is not None and not prunes_nothing:
            found.append(slide)
        elif methods is not None and subject.grown.n_leaves > 1:  # who asked for it wants to know
            why = (
                "keeps the whole tree" if slide is not None else "moves subtrees up and is not on the slider"
            )
            notes.append(f"Pruning by {method.replace('_', ' ')} {why}.")
    return found, notes


def _checked(methods: Iterable[str]) -> tuple[str, ...]:
    if isinstance(methods, str):
        raise TypeError(f"methods must be a list of names, not the text {methods!r}: methods=[{methods!r}]")
    names = tuple(dict.fromkeys(methods))
    for method in names:
        if method == "rules":
            raise ValueError("rules are no tree and have no place on the slider; leave 'rules' out")
        METHODS.module(method)
    return names


def _path_by(method: str, subject: Subject, parts: Mapping[str, Rows], *, must: bool) -> PruningPath | None:
    """The path of the grown tree by a method, with the rows that it asks for; None where it cannot work."""
    rows = {name: part.data for name, part in parts.items() if isinstance(part, Part)}
    facts = {"data": rows.get("train"), "validation": rows.get("validation")}
    if method == "minimum_errors" and subject.grown.n_leaves > _LARGEST_FRONT:
        return None
    # A path that leaves the choice open is tried later, at the places that are shown.
    known = () if leaves_choice(method, ()) else METHODS.options(method)
    options: dict[str, Any] = offered(known, facts)
    options |= _FIXED_OPTIONS.get(method, {})
    try:
        return prune(subject.shown, method, **options)
    except (TypeError, ValueError):
        if must:
            raise
        return None


def _own(subject: Subject, path: PruningPath) -> Slide:
    """The path of the model, opened at the model's tree."""
    how = path.details.get("chosen_by")
    slide = _slide(path, subject.shown, _place_of(subject, path), None if how is None else str(how))
    if slide is None:
        raise ValueError("path is not that of the model: the model is not among its trees")
    return slide


def _place_of(subject: Subject, path: PruningPath) -> int:
    """The place of the model on its path: as a rule the chosen one."""
    n = len(subject.leaves)
    for place in (path.chosen % len(path), *np.flatnonzero(path.leaves == n).tolist()):
        own = _cuts(path, place) if path.leaves[place] == n else None
        if own is not None and np.array_equal(own, subject.cuts):
            return int(place)
    raise ValueError("path is not that of the model: the model is not among its trees")


def _around(subject: Subject, path: PruningPath) -> Slide:
    """A path for a tree that comes without one: it begins with the tree itself, useless splits and all."""
    position = np.where(subject.grown.is_leaf, 0, _nested(path, subject.grown))
    level = path.level
    if path.leaves[0] < subject.grown.n_leaves:
        position, level = np.where(subject.grown.is_leaf, 0, position + 1), np.concatenate([[0.0], level])
    whole = PruningPath.from_nested(path.method, subject.shown, position, level)
    slide = _slide(whole, subject.shown, 0, None)
    assert slide is not None
    return slide


def _of_path(path: PruningPath, subject: Subject, parts: Mapping[str, Rows]) -> Slide | None:
    """A path beside that of the model. What it leaves open is chosen by the validation rows, if there are
    any; otherwise it opens where it is about as large as the model.
    """
    how = path.details.get("chosen_by")
    if not path.is_open:
        return _slide(path, subject.shown, path.chosen % len(path), None if how is None else str(how))
    slide = _slide(path, subject.shown, int(np.abs(path.leaves - len(subject.leaves)).argmin()), None)
    validation = parts.get("validation")
    if slide is None or not isinstance(validation, Part):
        return slide
    lost = slide.sums(validation.loss)
    best = int(np.flatnonzero(lost <= lost.min() + SAME * float(np.abs(lost).max()))[-1])  # the smallest one
    return replace(slide, chosen=best, chosen_by="least loss on the validation rows")


def _slide(path: PruningPath, grown: Tree, chosen: int, how: str | None) -> Slide | None:
    """The path with as many places as a page takes; None where its trees are no prunings."""
    kept = _thinned(path.leaves, chosen, MOST_PLACES)
    facts: dict[str, Any] = {
        "grown": grown,
        "method": path.method,
        "title": path.method.replace("_", " "),
        "chosen_by": how,
    }
    is_alpha = path.method == "cost_complexity"
    if isinstance(path.prunings, NestedPrunings):
        place = np.searchsorted(kept, _nested(path, grown))
        facts["leaf_from"] = np.where(place < len(kept), place, -1)
    else:
        cuts = {place: own for place in kept.tolist() if (own := _cuts(path, place)) is not None}
        if len(cuts) < len(kept):
            return None
        while len(kept) > 3 and sum(len(cuts[place]) for place in kept.tolist()) > MOST_CUTS:
            kept = _thinned(path.leaves, chosen, len(kept) * 3 // 4, kept)
        facts["cuts"] = [cuts[place] for place in kept.tolist()]
    return Slide(
        places=len(kept),
        chosen=int(np.searchsorted(kept, chosen)),
        alpha=path.level[kept] if is_alpha else None,
        **facts,
    )


def _nested(path: PruningPath, grown: Tree) -> Ints:
    """The first place at which each node is a leaf or below one."""
    assert isinstance(path.prunings, NestedPrunings)
    position = np.where(grown.is_leaf, 0, np.minimum(path.prunings.position, len(path)))
    inner = np.flatnonzero(~grown.is_leaf)
    if (position[inner] <= np.append(position, len(path))[grown.parent[inner]]).all():
        return position
    for wave in reversed(grown.waves):  # from the root down: what is below a leaf is gone with it
        for child in (grown.left[wave], grown.right[wave]):
            position[child] = np.minimum(position[child], position[wave])
    return position


def _cuts(path: PruningPath, place: int) -> Ints | None:
    """The branches of the grown tree that are leaves at a place; None where the tree is no pruning of it."""
    prunings, grown = path.prunings, path.full_tree
    if isinstance(prunings, Front):
        return np.sort(prunings.branches(place))
    if isinstance(prunings, NestedPrunings):
        gone = (_nested(path, grown) <= place) & ~grown.is_leaf
        return np.flatnonzero(gone & ~np.append(gone, False)[grown.parent])
    leaves = leaves_within(grown, path[place])
    return None if leaves is None else leaves[~grown.is_leaf[leaves]]


def _thinned(leaves: Ints, chosen: int, most: int, among: Ints | None = None) -> Ints:
    """Places of a path, the first, the last and the chosen one among them, the others spread evenly over the
    orders of size.
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


def _ends_early(slide: Slide) -> bool:
    """Whether the path ends before the root."""
    return bool(slide.sums(np.ones(slide.grown.n_nodes))[-1] > 1)


def slide_facts(slide: Slide, parts: Mapping[str, Rows], delta: float) -> dict[str, Any]:
    """What a page needs to know of a path."""
    facts: dict[str, Any] = {
        "method": slide.method,
        "title": slide.title,
        "leaves": slide.sums(np.ones(slide.grown.n_nodes)).astype(int).tolist(),
    }
    if slide.leaf_from is not None:
        facts["leaf_from"] = slide.leaf_from.tolist()
    else:
        facts["cuts"] = [cuts.tolist() for cuts in slide.cuts]
    test = parts.get("test")
    bounds = uppers(slide.sums, test, slide.places, delta) if isinstance(test, Part) else None
    return facts | {
        "alpha": None if slide.alpha is None else shorts(slide.alpha),
        "loss": {
            name: shorts(np.maximum(slide.sums(part.loss), 0.0) / part.weight) for name, part in parts.items()
        },
        "certificate": [None] * slide.places
        if bounds is None
        else [{"upper": value} for value in bounds_from_above(bounds)],
        "certificate_words": uppers_in_words(slide.grown, test, slide.places, delta, bounds is not None),
        "chosen": slide.chosen,
        "chosen_by": slide.chosen_by,
    }
