"""What the slides on ensembles say about votes and stacking, measured on rows whose truth is known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression

from treewright import AdaBoostClassifier, BaggingClassifier, DecisionTreeClassifier, TopDownClassifier

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


def test_members_of_a_bag_are_worse_than_a_tree_of_all_rows() -> None:
    """Bias: a bootstrap sample holds fewer different rows; all members have the same expected error."""
    table, truth = rows(2000, 99)
    whole, members = [], []
    for seed in range(8):
        train = rows(150, seed)
        whole.append(np.mean(DecisionTreeClassifier().fit(*train).predict(table) != truth))
        bag = BaggingClassifier(n_estimators=30, random_state=seed).fit(*train).model_
        members.append([np.mean(tree.predict(table) != truth) for tree in bag])
    each = np.mean(members, axis=0)
    assert each.mean() > np.mean(whole) + 0.005
    assert each.std() < 0.02


def test_boosted_stumps_beat_a_tree_of_as_many_splits() -> None:
    """Weak learning by what was designed for it, and by a tree: all eight columns count, each a little."""
    random = np.random.default_rng(0)
    train, test = random.random((1000, 8)), random.random((3000, 8))
    truth, new = (x.sum(axis=1) > 4 for x in (train, test))
    stumps = AdaBoostClassifier(n_estimators=60).fit(train, truth)
    tree = TopDownClassifier(n_splits=60).fit(train, truth)
    assert stumps.score(test, new) > tree.score(test, new) + 0.05


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
