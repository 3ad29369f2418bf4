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

from treewright._display import Layout, Shown
from treewright._suggestions import checked_keywords, choices_text
from treewright.certifying.binomial import Floats, check_delta, kl_upper
from treewright.certifying.certificate import Sealed, loss_text
from treewright.certifying.verification import solves_kl
from treewright.tree.shortcuts import Plotted

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
    """How often trees drawn by their votes are wrong, each on its own rows."""

    single: float  # ĝ: how much one is wrong
    both: float  # t̂: two at once
    one: float  # ê: one of two, not both
    rows: int  # the fewest by which a tree is judged
    pair_rows: int  # the fewest by which two are judged, for t̂
    other_rows: int  # and for ê
    trees: int
    divergence: float  # of the votes from equal ones, in nats

    def rows_of(self, name: str) -> int:
        """The least number of rows behind an expectation."""
        return {"single": self.rows, "both": self.pair_rows, "one": self.other_rows}[name]

    def nats(self, name: str, delta: float) -> float:
        """The divergence from its expectation that is allowed, per row."""
        n, draws = self.rows_of(name), 1 if name == "single" else 2
        return (draws * self.divergence + math.log(2 * math.sqrt(n) / delta)) / n if n else math.inf


@dataclass(frozen=True)
class VoteCertificate(Sealed, Plotted, Shown):
    """How far a majority vote of trees can be wrong.

    With probability `1 - delta` over the draw of the rows its true error is at most `value`, if the
    `assumptions` hold. A value of 1 says nothing at all, one of 1/2 or more no more than a coin does.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright import certify_votes
    >>> wrong = np.random.default_rng(0).random((9, 1000)) < 0.05  # each tree on each row
    >>> found = certify_votes(wrong)
    >>> found.confidence, found.is_vacuous, found.check()
    (0.95, False, True)
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
        own = {"value": self.value, "method": self.method, "delta": self.delta, "text": str(self)}
        own |= {"bounds": dict(self.bounds), "limits": dict(self.limits), "counts": self.counts._asdict()}
        return own | {"is_vacuous": self.is_vacuous, "assumptions": list(self.assumptions)}

    @checked_keywords
    def check(self, wrong: Any = None, votes: Any = None, *, out: Any = None, unlabelled: Any = None) -> bool:
        """Whether the number comes out again by another way.

        Each inequality is tried at its limit, where `certify_votes` inverts it, and the bound is made of the
        limits again. Give what the certificate was made of to have it counted again as well, tree by tree and
        pair by pair.
        """
        counts, share = self.counts, self.delta / len(self.limits)
        for name, limit in self.limits.items():
            mean = getattr(counts, name)
            if name == "one":  # from below: the other way round
                mean, limit = 1 - mean, 1 - limit
            if counts.rows_of(name) and not solves_kl(mean, limit, counts.nats(name, share)):
                return False
        same = all(
            math.isclose(_bound(name, self.limits), bound, abs_tol=1e-12)
            for name, bound in self.bounds.items()
        )
        least = math.isclose(self.value, min(self.bounds.values())) and self.bounds[self.method] == self.value
        return same and least and (wrong is None or _recounts(counts, wrong, votes, out, unlabelled))

    def _layout(self) -> Layout:
        chosen = list(self.bounds).index(self.method)
        rows = [
            [_NAMES[name], loss_text(bound, in_per_cent=True, up=True)] for name, bound in self.bounds.items()
        ]
        below = [f"if {each}" for each in self.assumptions]
        return Layout([str(self)], ["bound", "true error below"], rows, (1,), below, marked=chosen)

    def __str__(self) -> str:
        counts, sure = self.counts, f"{round(100 * self.confidence, 10):g} %"
        text = (
            f"{counts.trees:,} trees, one wrong on {100 * counts.single:.1f} % of rows it was not grown "
            f"from, two at once on {100 * counts.both:.1f} %   → "
        )
        if self.value >= 1:
            return f"{text}nothing can be said with {sure} confidence"
        coin = ", no better than a coin" if self.is_vacuous else ""
        below = f"with {sure} confidence the true error of their vote is below {self.bound_text}"
        return f"{text}{below} ({_NAMES[self.method]}{coin})"

    def __repr__(self) -> str:
        return (
            f"<VoteCertificate: true error < {self.bound_text} with confidence {self.confidence:g}, "
            f"{self.method}, {self.counts.trees:,} trees>"
        )


@checked_keywords
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
        raise ValueError(f"method {method!r} is unknown; known: {choices_text(method, VOTE_METHODS)}")
    counts = vote_counts(wrong, votes, out=out, unlabelled=unlabelled)
    expectations = ("single", "both", "one") if method is None else VOTE_METHODS[method]
    limits = {name: _limit(counts, name, delta / len(expectations)) for name in expectations}
    bounds = {name: _bound(name, limits) for name in VOTE_METHODS if method in (None, name)}
    best = min(bounds, key=lambda name: bounds[name])
    assumptions = _assumptions(out, unlabelled)
    return VoteCertificate(bounds[best], best, float(delta), counts, bounds, limits, assumptions)


def vote_counts(wrong: Any, votes: Any = None, *, out: Any = None, unlabelled: Any = None) -> VoteCounts:
    """How often trees drawn by their votes are wrong: one, both of two, or one of two.

    >>> vote_counts([[True, False, False, False], [True, True, False, False]])[:3]
    (0.375, 0.3125, 0.125)
    """
    losses, is_out, share = _arrays(wrong, votes, out)
    n_trees, n_rows = losses.shape
    n_both, both, own = np.zeros((3, n_trees, n_trees))
    step = max(_MOST_NUMBERS // n_trees, 1)
    for first in range(0, n_rows, step):
        there = is_out[:, first : first + step].astype(np.float64)
        here = losses[:, first : first + step] * there
        n_both += there @ there.T
        both += here @ here.T
        own += here @ there.T  # what the first of two loses on the rows of both
    rows, pair_rows = int(n_both.diagonal().min()), int(n_both.min())
    each = np.maximum(n_both, 1.0)
    pairs, one = both / each, (own + own.T - 2 * both) / each
    single = float(share @ (own.diagonal() / each.diagonal()))
    split, other_rows = float(share @ one @ share), pair_rows
    if unlabelled is not None:
        split, other_rows = _disagreement(unlabelled, losses, share)
    positive = share[share > 0]
    divergence = max(float(positive @ np.log(positive * n_trees)), 0.0)
    return VoteCounts(
        single, float(share @ pairs @ share), split, rows, pair_rows, other_rows, n_trees, divergence
    )


def _arrays(wrong: Any, votes: Any, out: Any) -> tuple[NDArray[Any], NDArray[np.bool_], Floats]:
    """The losses, whether each row is out of each tree, and the share of each tree in the vote."""
    losses = np.asarray(wrong)
    if losses.ndim != 2 or not losses.size:
        raise ValueError(
            f"wrong has the shape {losses.shape}; it must be (n_trees, n_rows), with some of both"
        )
    n_trees, n_rows = losses.shape
    if losses.dtype.kind not in "bfiu" or not (losses >= 0).all() or not (losses <= 1).all():
        raise ValueError("wrong must be True or False, or shares within [0, 1]")
    is_out = np.ones(losses.shape, np.bool_) if out is None else np.asarray(out)
    if is_out.shape != losses.shape or is_out.dtype != np.bool_:
        raise ValueError(f"out must be True or False for each of {n_trees} trees × {n_rows} rows")
    share = np.ones(n_trees) if votes is None else np.asarray(votes, np.float64)
    if share.shape != (n_trees,) or not np.isfinite(share).all() or (share < 0).any() or not share.any():
        raise ValueError(f"votes must be a number >= 0 for each of {n_trees} trees, and not all of them 0")
    return losses, is_out, share / share.sum()


def _disagreement(unlabelled: Any, losses: NDArray[Any], share: Floats) -> tuple[float, int]:
    """How often two trees differ on rows without classes, and how many rows these are."""
    answers = np.asarray(unlabelled)
    if answers.ndim != 2 or len(answers) != len(losses) or not answers.size:
        raise ValueError(f"unlabelled must hold the answers of each of {len(losses)} trees to some rows")
    kinds = np.unique(answers)
    if len(kinds) > 2 or ((losses != 0) & (losses != 1)).any():
        raise ValueError("rows without classes tell who is wrong of two classes only, and of whole votes")
    first = share @ (answers == kinds[0])
    return float((2 * first * (1 - first)).mean()), answers.shape[1]


def _limit(counts: VoteCounts, name: str, delta: float) -> float:
    """The limit on an expectation: from above, or for "one" from below."""
    mean, nats = min(max(getattr(counts, name), 0.0), 1.0), counts.nats(name, delta)
    if nats == math.inf:
        return 0.0 if name == "one" else 1.0
    return 1 - float(kl_upper(1 - mean, nats)) if name == "one" else float(kl_upper(mean, nats))


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
    unused = "none of them was used to grow any of the trees"
    if out is not None:
        unused = (
            "which rows each tree was not grown from was settled without looking at them (by drawing bags), "
            "and those had no part in its growing or pruning"
        )
    assumptions = (
        "the rows are independent draws from where the vote will be used",
        unused,
        "how many trees there are, and how they are made, was settled beforehand; the votes may be chosen",
    )
    if unlabelled is None:
        return assumptions
    return (*assumptions, "the rows without classes come from there as well, unseen")


def _recounts(counts: VoteCounts, wrong: Any, votes: Any, out: Any, unlabelled: Any) -> bool:
    """Whether counting tree by tree and pair by pair gives the counts."""
    losses, is_out, share = _arrays(wrong, votes, out)
    numbers, single, both, one = range(len(losses)), 0.0, 0.0, 0.0
    for i in numbers:
        single += share[i] * float(losses[i][is_out[i]].mean()) if is_out[i].any() else 0.0
        for j in numbers:
            rows = is_out[i] & is_out[j]
            a, b = losses[i][rows].astype(np.float64), losses[j][rows].astype(np.float64)
            if len(a):
                both += share[i] * share[j] * float((a * b).mean())
            if unlabelled is not None:
                one += share[i] * share[j] * float(np.mean(unlabelled[i] != unlabelled[j]))
            elif len(a):
                one += share[i] * share[j] * float((a * (1 - b) + b * (1 - a)).mean())
    return bool(np.allclose((single, both, one), counts[:3], rtol=0.0, atol=1e-9))
