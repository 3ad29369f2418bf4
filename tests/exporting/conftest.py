"""Java takes about a second to compile and start, so its tests are slow ones."""

import re

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if re.search(r"\bjava\b", item.name):
            item.add_marker(pytest.mark.slow)
