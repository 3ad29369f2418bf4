"""The losses of predicted numbers: one for each criterion of numbers, with attributes that are true of it."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.growing import criteria
from treewright.tree.number_losses import NUMBER_LOSSES, NumberLoss

Y, VALUE = np.array([0.0, 1.0, 2.5, 7.0]), np.array([1.0, 1.0, 2.0, 3.5])


def test_each_criterion_of_numbers_has_one() -> None:
    assert NUMBER_LOSSES.keys() == set(criteria("numbers"))


@pytest.mark.parametrize("loss", NUMBER_LOSSES.values(), ids=NUMBER_LOSSES)
def test_attributes_say_what_the_loss_is(loss: NumberLoss) -> None:
    rows = loss.of_rows(Y, VALUE)
    assert (rows >= 0).all()
    assert (loss.of_rows(Y, Y) == 0).all()
    np.testing.assert_allclose(loss.of_rows(4 * Y, 4 * VALUE), 4**loss.power * rows)
    if not loss.is_deviance:
        np.testing.assert_allclose(loss.typical(rows), np.abs(Y - VALUE))
    else:
        assert np.isnan(loss.typical(rows)).all()
    best = np.linspace(0.5, 7, 131)
    constant = best[int(np.argmin([loss.of_rows(Y, np.full(4, value)).sum() for value in best]))]
    middle = np.median(Y) if loss.predicts_median else Y.mean()
    assert abs(loss.of_rows(Y, np.full(4, middle)).sum() - loss.of_rows(Y, np.full(4, constant)).sum()) < 0.02
    assert loss.allows(Y[np.newaxis])
    assert loss.allows(np.zeros((1, 3))) is not loss.is_of_counts
