"""How often certificates fail, and whether that is more often than they say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from simulations.situations import REFUSED, SITUATIONS

_ROUNDING = 1e-9  # of sums over the cells of a world


@dataclass
class Count:
    """What became of one certificate in one situation."""

    situation: str
    certificate: str
    draws: int = 0
    refused: int = 0
    failed: int = 0
    slack: float = 0.0  # bound − truth, added up

    @property
    def given(self) -> int:
        """How many certificates there were."""
        return self.draws - self.refused

    @property
    def is_missing(self) -> bool:
        """Whether certificates were refused that must be given."""
        return self.refused > 0 and self.certificate not in REFUSED.get(self.situation, ())

    def chance(self, delta: float) -> float:
        """That so many fail, or more, if each fails with probability δ."""
        return float(binom.sf(self.failed - 1, self.given, delta)) if self.given else 1.0


def counted(draws: int, delta: float, seed: int, situations: Iterable[str] | None = None) -> Iterator[Count]:
    """Simulate each situation so many times; a `Count` for each of its certificates."""
    for name in SITUATIONS if situations is None else situations:
        counts: dict[str, Count] = {}
        for number in range(draws):
            rng = np.random.default_rng([seed, number])
            for certificate, bound, truth in SITUATIONS[name](rng, delta):
                count = counts.setdefault(certificate, Count(name, certificate))
                count.draws += 1
                if bound is None:
                    count.refused += 1
                    continue
                count.failed += truth > bound + _ROUNDING
                count.slack += bound - truth
        yield from counts.values()
