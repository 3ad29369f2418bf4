"""Settings for all tests: hypothesis draws the same examples in every run, and fewer of them in `make check`.

`HYPOTHESIS_PROFILE=search` looks for new examples.
"""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import HealthCheck, Phase, settings

UNCHECKED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
REPEATABLE = settings(
    derandomize=True,
    deadline=None,
    max_examples=50,
    phases=[Phase.explicit, Phase.generate],  # shrinking a table takes minutes
    suppress_health_check=UNCHECKED,
)
settings.register_profile("ci", REPEATABLE)
settings.register_profile("quick", REPEATABLE, max_examples=10)
settings.register_profile("search", deadline=None, max_examples=1000, suppress_health_check=UNCHECKED)


def pytest_configure(config: pytest.Config) -> None:
    """Choose the profile before any test is imported ("quick" where slow tests are left out); heed Ctrl-C."""
    default = "quick" if config.getoption("markexpr") == "not slow" else "ci"
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", default))
    # What a shell runs in the background ignores Ctrl-C, and so would the programs that the tests start and
    # interrupt.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
