"""What the slides on ensembles say about votes and stacking, measured on rows whose truth is known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression

from treewright import BaggingClassifier, DecisionTreeClassifier

Rows = tuple[NDArray[np.float64], NDArray[np.int64]]


def rows(n: int, seed: int) -> Rows:
    """A slanted border and 20 % wrong labels: single trees are steps, and each sample has its own."""
    random = np.random.default_rng(seed)
    x = random.random((n, 4))
    return x, ((x[:, 0] + x[:, 1] > 1) ^ (random.random(n) < 0.2)).astype(int)


def test_a_majority_errs_less_and_fluctuates_less() -> None:
    """From sample to sample the votes of 30 trees change less than the answers of one, and err less."""
    table, truth = rows(2000, 99)
    alone, together = [], []
    for seed in range(8):
        train = rows(150, seed)
        alone.append(DecisionTreeClassifier().fit(*train).predict(table))
        vote = BaggingClassifier(n_estimators=30, voting="hard", random_state=seed)
        together.append(vote.fit(*train).predict(table))
    assert np.mean(together != truth) < np.mean(alone != truth) - 0.02
    assert np.var(together, axis=0).mean() < 0.8 * np.var(alone, axis=0).mean()


def test_stacking_needs_predictions_out_of_fold() -> None:
    """A tree is always right about its own rows, so that a final model fitted to that trusts it alone."""
    train, test = rows(400, 0), rows(3000, 1)
    models = [
        ("deep", DecisionTreeClassifier().fit(*train)),
        ("small", DecisionTreeClassifier(max_leaf_nodes=6).fit(*train)),
    ]
    assert models[0][1].score(*train) == 1
    own = StackingClassifier(models, LogisticRegression(), cv="prefit").fit(*train)
    folds = StackingClassifier(models, LogisticRegression(), cv=5).fit(*train)
    assert own.score(*test) < folds.score(*test) - 0.02
    trust = [np.abs(model.final_estimator_.coef_[0]) for model in (own, folds)]
    assert trust[0][0] > trust[0][1]
    assert trust[1][0] < trust[1][1]
