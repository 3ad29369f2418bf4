"""The built-in data is the published one, and needs nothing but numpy."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from treewright.datasets import load_spam


def test_spam_is_the_published_data() -> None:
    spam = load_spam()
    assert spam.data.shape == (4601, 57)
    assert spam.data.dtype == np.float64
    assert np.isfinite(spam.data).all()
    assert len(set(spam.feature_names)) == 57
    assert dict(zip(*np.unique(spam.target, return_counts=True), strict=True)) == {
        "nonspam": 2788,
        "spam": 1813,
    }
    assert spam.is_test.dtype == np.bool_
    assert spam.is_test.sum() == 1536
    # Row means published with the data: capital letters run on for 5.19, 52.2 and 283 on average.
    np.testing.assert_allclose(spam.data[:, -3:].mean(axis=0), [5.1915, 52.173, 283.29], rtol=1e-4)


def test_spam_as_a_table() -> None:
    spam = load_spam()
    table = spam.table(spam.is_test)
    assert list(table) == list(spam.feature_names)
    np.testing.assert_array_equal(
        table["charDollar"], spam.data[spam.is_test, spam.feature_names.index("charDollar")]
    )
    assert np.shares_memory(spam.table()["make"], spam.data)


def test_spam_as_a_frame() -> None:
    spam = load_spam()
    frame = spam.frame()
    assert frame.shape == (4601, 58)
    assert list(frame.columns) == [*spam.feature_names, "type"]


@pytest.mark.slow
def test_loading_needs_no_table_library() -> None:
    code = (
        "import sys; from treewright.datasets import load_spam; load_spam();"
        "print({'pandas', 'polars', 'sklearn'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
