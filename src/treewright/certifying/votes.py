"""Bounds on the error of a weighted majority vote, from rows that its trees were not grown from.

A row that the vote gets wrong has at least half of all votes against its class, for any number of classes. So
with W, the share of the votes against the truth of a row drawn at random, the error of the vote is at most

    2 E[W]                                  first order, by Markov          g = E[W]: the error of one tree
    4 E[W²]                                 tandem, second order            t = E[W²]: two trees wrong at once
    4 (g - e/2)                             the same by t = g - e/2         e: one of two is wrong, not both
    1 - (1 - 2g)² / (1 - 2e),  g < 1/2      the C-bound, by Cantelli

where trees are drawn by their votes, each draw anew. (Lacasse et al. 2006; Germain et al. 2015; Masegosa et
al. 2020.) Two trees of two classes differ where one of them is wrong: then rows without classes tell e, too.

**From counts to expectations.** Each tree is judged by its own rows, those that it was not grown from; n is
the least number of them (for e and t: of rows that are out of two trees). Then, with probability 1 - δ and
for all votes at once, also those chosen by the same rows (Lorenzen, Igel and Seldin 2019; Masegosa et al.),

    kl(ĝ, g) <= (KL + ln(2√n/δ)) / n       and of pairs       kl(t̂, t) <= (2 KL + ln(2√n/δ)) / n

with KL, the divergence of the votes from equal ones. To take the least n is right: E exp(n kl) <= 2√n holds
for every tree with n rows or more, since (2√n)^(1/n) falls with n.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright.certifying.binomial import Floats, check_delta, kl_upper
from treewright.certifying.certificate import Sealed, loss_text
from treewright.certifying.verification import solves_kl

VOTE_METHODS = {
    "first_order": ("single",),
    "tandem": ("both",),
    "disagreement": ("single", "one"),
    "c_bound": ("single", "one"),
}  # and the expectations that each needs
_NAMES = {
    "first_order": "first order",
    "tandem": "tandem",
    "disagreement": "disagreement",
    "c_bound": "C-bound",
}
_MOST_NUMBERS = 2**22  # of trees by rows that are multiplied at a time


class VoteCounts(NamedTuple):
    """What is seen of trees that are drawn by their votes, each on its own rows."""

    single: float  # ĝ: how much one is wrong
    both: float  # t̂: two at once
    one: float  # ê: one of two, not both
    rows: int  # the fewest by which a tree is judged
    pair_rows: int  # the fewest by which two are judged, for t̂
    other_rows: int  # and for ê
    trees: int
    divergence: float  # of the votes from equal ones, in nats


@dataclass(frozen=True)
class VoteCertificate(Sealed):
    """How far a majority vote of trees can be wrong.

    With probability `1 - delta` over the draw of the rows its true error is at most `value`, if the
    `assumptions` hold. A value of 1 says nothing at all, one of 1/2 or more no more than a coin does.
    """

    value: float  # the bound
    method: str  # of `bounds`, the one that `value` is
    delta: float
    counts: VoteCounts
    bounds: Mapping[str, float] = field(hash=False)  # all methods that were tried, which hold together
    limits: Mapping[str, float] = field(hash=False)  # on g and t from above, on e from below
    assumptions: tuple[str, ...]

    @property
    def confidence(self) -> float:
        """1 - delta."""
        return 1 - self.delta

    @property
    def is_vacuous(self) -> bool:
        """Whether a coin is as good: the bound is 1/2 or more."""
        return self.value >= 0.5

    @property
    def bound_text(self) -> str:
        """The bound as people read it, rounded up: 9.6 %."""
        return loss_text(self.value, in_per_cent=True, up=True)

    def to_dict(self) -> dict[str, Any]:
        """Plain values: text, numbers, lists and dicts."""
        plain = {"value": self.value, "method": self.method, "delta": self.delta, "text": str(self)}
        named = {"bounds": dict(self.bounds), "limits": dict(self.limits), "counts": self.counts._asdict()}
        return plain | named | {"is_vacuous": self.is_vacuous, "assumptions": list(self.assumptions)}

    def check(self, wrong: Any = None, votes: Any = None, *, out: Any = None, unlabelled: Any = None) -> bool:
        """Whether the number comes out again by another way.

        Each inequality is tried at its limit, where `certify_votes` inverts it, and the bound is made of the
        limits again. Give what the certificate was made of to have it counted again as well, tree by tree and
        pair by pair.
        """
        seen, share = self.counts, self.delta / len(self.limits)
        nats = {"single": _nats(seen, "single", share), "both": _nats(seen, "both", share)}
        nats["one"] = _nats(seen, "one", share)
        for name, limit in self.limits.items():
            rows = _rows(seen, name)
            observed = getattr(seen, name)
            if name == "one":  # from below: the other way round
                observed, limit = 1 - observed, 1 - limit
            if rows and not solves_kl(observed, limit, nats[name]):
                return False
        again = {name: _bound(name, self.limits) for name in self.bounds}
        same = all(math.isclose(again[name], bound, abs_tol=1e-12) for name, bound in self.bounds.items())
        least = math.isclose(self.value, min(self.bounds.values())) and self.bounds[self.method] == self.value
        return same and least and (wrong is None or _counted_again(seen, wrong, votes, out, unlabelled))

    def __str__(self) -> str:
        seen, sure = self.counts, f"{round(100 * self.confidence, 10):g} %"
        told = (
            f"{seen.trees:,} trees, one wrong on {100 * seen.single:.1f} % of rows it was not grown from, "
            f"two at once on {100 * seen.both:.1f} %"
        )
        if self.value >= 1:
            return f"{told}   → nothing can be said with {sure} confidence"
        coin = ", no better than a coin" if self.is_vacuous else ""
        below = f"with {sure} confidence the true error of their vote is below {self.bound_text}"
        return f"{told}   → {below} ({_NAMES[self.method]}{coin})"

    def __repr__(self) -> str:
        return (
            f"<VoteCertificate: true error < {self.bound_text} with confidence {self.confidence:g}, "
            f"{self.method}, {self.counts.trees:,} trees>"
        )


def certify_votes(
    wrong: Any,
    votes: Any = None,
    *,
    out: Any = None,
    unlabelled: Any = None,
    method: str | None = None,
    delta: float = 0.05,
) -> VoteCertificate:
    """A bound on the true error of a weighted majority vote, from rows that its trees were not grown from.

    Of a bagged ensemble all training rows serve: each tree is judged by those out of its bag. Where there are
    rows that no tree has seen, `certify_errors` on the errors of the vote itself says more.

    Parameters
    ----------
    wrong : array of shape (n_trees, n_rows)
        Whether each tree gets each row wrong. Where trees vote by shares of classes, as forests that average
        chances do: one less the share of the true class.
    votes : array of shape (n_trees,), optional
        The votes, equal ones by default. The rows may have chosen them.
    out : array of bool of shape (n_trees, n_rows), optional
        Whether each row was out of the growing of each tree, pruning included; all were by default.
    unlabelled : array of shape (n_trees, n_others), optional
        What the trees answer to other rows that none was grown from, whose classes need not be known. For two
        classes and votes that are not divided.
    method : {"first_order", "tandem", "disagreement", "c_bound"}, optional
        By default the one that gives the least bound. All then share δ, so that choosing is allowed.
    delta : float
        The chance of being wrong.

    Returns
    -------
    VoteCertificate

    Examples
    --------
    Two hundred trees, each wrong on a tenth of 2,000 rows, independently of the others:

    >>> draw = np.random.default_rng(0)
    >>> found = certify_votes(draw.random((200, 2000)) < 0.1, method="tandem")
    >>> found
    <VoteCertificate: true error < 8.8 % with confidence 0.95, tandem, 200 trees>
    >>> found.check()
    True
    """
    check_delta(delta)
    if method is not None and method not in VOTE_METHODS:
        raise ValueError(f"method {method!r} is unknown; known: {', '.join(VOTE_METHODS)}")
    seen = vote_counts(wrong, votes, out=out, unlabelled=unlabelled)
    needed = ("single", "both", "one") if method is None else VOTE_METHODS[method]
    limits = {name: _limit(seen, name, delta / len(needed)) for name in needed}
    bounds = {name: _bound(name, limits) for name in VOTE_METHODS if method in (None, name)}
    best = min(bounds, key=lambda name: bounds[name])
    rests_on = _assumptions(out, unlabelled)
    return VoteCertificate(bounds[best], best, float(delta), seen, bounds, limits, rests_on)


def vote_counts(wrong: Any, votes: Any = None, *, out: Any = None, unlabelled: Any = None) -> VoteCounts:
    """What is seen of trees drawn by their votes: how often one, both or one of two are wrong.

    >>> vote_counts([[True, False, False, False], [True, True, False, False]])[:3]
    (0.375, 0.3125, 0.125)
    """
    lost, judged, share = _checked(wrong, votes, out)
    n_trees, n_rows = lost.shape
    shared, both, own = np.zeros((3, n_trees, n_trees))
    some = max(_MOST_NUMBERS // n_trees, 1)
    for first in range(0, n_rows, some):
        there = judged[:, first : first + some].astype(np.float64)
        here = lost[:, first : first + some] * there
        shared += there @ there.T
        both += here @ here.T
        own += here @ there.T  # what the first of two loses on the rows of both
    rows, pair_rows = int(shared.diagonal().min()), int(shared.min())
    each = np.maximum(shared, 1.0)
    pairs, one = both / each, (own + own.T - 2 * both) / each
    single = float(share @ (own.diagonal() / each.diagonal()))
    split, other_rows = float(share @ one @ share), pair_rows
    if unlabelled is not None:
        split, other_rows = _disagreement(unlabelled, lost, share)
    positive = share[share > 0]
    divergence = max(float(positive @ np.log(positive * n_trees)), 0.0)
    return VoteCounts(
        single, float(share @ pairs @ share), split, rows, pair_rows, other_rows, n_trees, divergence
    )


def _checked(wrong: Any, votes: Any, out: Any) -> tuple[NDArray[Any], NDArray[np.bool_], Floats]:
    lost = np.asarray(wrong)
    if lost.ndim != 2 or not lost.size:
        raise ValueError(f"wrong has the shape {lost.shape}; it must be (n_trees, n_rows), with some of both")
    if lost.dtype.kind not in "bfiu" or not (lost >= 0).all() or not (lost <= 1).all():
        raise ValueError("wrong must be True or False, or shares within [0, 1]")
    judged = np.ones(lost.shape, np.bool_) if out is None else np.asarray(out)
    if judged.shape != lost.shape or judged.dtype != np.bool_:
        raise ValueError(f"out must be True or False for each of {len(lost)} trees × {lost.shape[1]} rows")
    share = np.ones(len(lost)) if votes is None else np.asarray(votes, np.float64)
    if share.shape != (len(lost),) or not np.isfinite(share).all() or (share < 0).any() or not share.any():
        raise ValueError(f"votes must be a number >= 0 for each of {len(lost)} trees, and not all of them 0")
    return lost, judged, share / share.sum()


def _disagreement(unlabelled: Any, lost: NDArray[Any], share: Floats) -> tuple[float, int]:
    """How often two trees differ on rows without classes, and how many rows these are."""
    answers = np.asarray(unlabelled)
    if answers.ndim != 2 or len(answers) != len(lost) or not answers.size:
        raise ValueError(f"unlabelled must hold what each of {len(lost)} trees answers to some rows")
    kinds = np.unique(answers)
    if len(kinds) > 2 or ((lost != 0) & (lost != 1)).any():
        raise ValueError("rows without classes tell who is wrong of two classes only, and of whole votes")
    first = share @ (answers == kinds[0])
    return float((2 * first * (1 - first)).mean()), answers.shape[1]


def _rows(seen: VoteCounts, name: str) -> int:
    return {"single": seen.rows, "both": seen.pair_rows, "one": seen.other_rows}[name]


def _nats(seen: VoteCounts, name: str, delta: float) -> float:
    """The divergence that is allowed, per row."""
    n, draws = _rows(seen, name), 1 if name == "single" else 2
    return (draws * seen.divergence + math.log(2 * math.sqrt(n) / delta)) / n if n else math.inf


def _limit(seen: VoteCounts, name: str, delta: float) -> float:
    """The limit on an expectation: from above, or for "one" from below."""
    observed, nats = min(max(getattr(seen, name), 0.0), 1.0), _nats(seen, name, delta)
    if nats == math.inf:
        return 0.0 if name == "one" else 1.0
    return 1 - float(kl_upper(1 - observed, nats)) if name == "one" else float(kl_upper(observed, nats))


def _bound(method: str, limits: Mapping[str, float]) -> float:
    """The bound of a method by the limits, at most 1."""
    if method == "tandem":
        return min(4 * limits["both"], 1.0)
    single = limits["single"]
    if method == "first_order":
        return min(2 * single, 1.0)
    one = min(limits["one"], 2 * single * (1 - single))  # it cannot be more, since E[W²] >= E[W]²
    if method == "disagreement":
        return min(4 * single - 2 * one, 1.0)
    return 1 - (1 - 2 * single) ** 2 / (1 - 2 * one) if single < 0.5 else 1.0


def _assumptions(out: Any, unlabelled: Any) -> tuple[str, ...]:
    judged = "none of them was used to grow any of the trees"
    if out is not None:
        judged = (
            "which rows each tree was not grown from was settled without looking at them (by drawing bags), "
            "and those had no part in its growing or pruning"
        )
    told = (
        "the rows are independent draws from where the vote will be used",
        judged,
        "how many trees there are, and how they are made, was settled beforehand; the votes may be chosen",
    )
    return told if unlabelled is None else (*told, "the rows without classes come from there as well, unseen")


def _counted_again(seen: VoteCounts, wrong: Any, votes: Any, out: Any, unlabelled: Any) -> bool:
    """The counts tree by tree and pair by pair."""
    lost, judged, share = _checked(wrong, votes, out)
    numbers, single, both, one = range(len(lost)), 0.0, 0.0, 0.0
    for i in numbers:
        single += share[i] * float(lost[i][judged[i]].mean()) if judged[i].any() else 0.0
        for j in numbers:
            rows = judged[i] & judged[j]
            a, b = lost[i][rows].astype(np.float64), lost[j][rows].astype(np.float64)
            if len(a):
                both += share[i] * share[j] * float((a * b).mean())
            if unlabelled is not None:
                one += share[i] * share[j] * float(np.mean(unlabelled[i] != unlabelled[j]))
            elif len(a):
                one += share[i] * share[j] * float((a * (1 - b) + b * (1 - a)).mean())
    told = ((single, seen.single), (both, seen.both), (one, seen.one))
    return all(math.isclose(a, b, abs_tol=1e-9) for a, b in told)
