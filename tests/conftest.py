"""Settings for all tests: the same examples every time; HYPOTHESIS_PROFILE=search looks for new ones."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
QUICK = [Phase.explicit, Phase.generate]  # to shrink a table takes minutes
settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=50, phases=QUICK, suppress_health_check=SLOW
)
settings.register_profile("search", deadline=None, max_examples=1000, suppress_health_check=SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
