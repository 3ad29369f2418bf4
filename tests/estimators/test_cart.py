"""CART beside R's rpart: the prunings of a tree of the spam data, their errors, the first surrogates."""

from __future__ import annotations

import numpy as np
import pytest

from treewright import CARTClassifier, CARTRegressor, Costs
from treewright.datasets import load_spam

# rpart 4.1.19, R 4.2: rpart(type ~ ., spam[train, ], method="class", cp=0, minsplit=20, minbucket=7), cptable
CLASSES = {
    0: (0.4934318555008, 1.0000000000),
    1: (0.1444991789819, 0.5065681445),
    2: (0.0418719211823, 0.3620689655),
    4: (0.0279146141215, 0.2783251232),
    5: (0.0172413793103, 0.2504105090),
    6: (0.0114942528736, 0.2331691297),
    7: (0.0082101806240, 0.2216748768),
    8: (0.0057471264368, 0.2134646962),
    10: (0.0041050903120, 0.2019704433),
    11: (0.0036945812808, 0.1978653530),
    13: (0.0032840722496, 0.1904761905),
    14: (0.0024630541872, 0.1871921182),
    20: (0.0021893814997, 0.1724137931),
    23: (0.0016420361248, 0.1658456486),
    44: (0.0008210180624, 0.1362889984),
    47: (0.0005473453749, 0.1338259442),
    50: (0.0004105090312, 0.1321839080),
    52: (0.0, 0.1313628900),
}
# At 31 splits rpart has .0010262725780 and goes on to 44: it compares a node with its children only, and so
# passes over the tree of 42 splits, which is the best one between two prices.
EXACT = {31: (0.0012688461, 0.1527093596), 42: (0.0012315271, 0.1387520525)}
# the same with log(capitalLong) to predict from the other columns; the first of 217 lines
NUMBERS = [
    (0.472455263719, 0, 1.0),
    (0.147526834531, 1, 0.5275447363),
    (0.109570408959, 2, 0.3800179018),
    (0.043013935091, 3, 0.2704474928),
    (0.026823242795, 4, 0.2274335577),
    (0.022251163843, 5, 0.2006103149),
    (0.013244264053, 6, 0.1783591511),
    (0.010534711292, 7, 0.1651148870),
    (0.009363241325, 8, 0.1545801757),
    (0.007470760762, 9, 0.1452169344),
    (0.006711364209, 10, 0.1377461736),
    (0.005987279771, 11, 0.1310348094),
]
# the surrogates of charDollar at the root: agreement, and how far it beats the majority
SURROGATES = [("num000", 0.8368679, 0.3514916), ("money", 0.8300163, None), ("receive", 0.7902121, 0.1660182)]


def training() -> tuple[dict, np.ndarray]:
    spam = load_spam()
    rows = ~np.asarray(spam.is_test, bool)
    table = {name: np.asarray(column)[rows] for name, column in spam.table().items()}
    return table, np.asarray(spam.target)[rows]


@pytest.fixture(scope="module")
def classes() -> CARTClassifier:
    return CARTClassifier(cv=2).fit(*training())


@pytest.mark.slow
def test_the_prunings_are_those_of_rpart(classes: CARTClassifier) -> None:
    path = classes.pruning_path_
    root = path.training[-1]
    found = {
        int(leaves) - 1: (price / root, error / root)
        for leaves, price, error in zip(path.leaves, path.level, path.training, strict=True)
    }
    wanted = CLASSES | EXACT
    assert found.keys() == wanted.keys()
    for splits, (price, error) in wanted.items():
        assert found[splits] == pytest.approx((price, error), abs=1e-9), splits


@pytest.mark.slow
def test_the_surrogates_are_those_of_rpart(classes: CARTClassifier) -> None:
    tree = classes.pruning_path_.full_tree
    others = tree.surrogates
    assert tree.test(0).column == "charDollar"
    for entry, (name, agreement, adjusted) in zip(others.of(0), SURROGATES, strict=False):
        assert tree.schema.names[others.feature[entry]] == name
        assert others.agreement[entry] == pytest.approx(agreement, abs=1e-7)
        assert adjusted is None or others.adjusted[entry] == pytest.approx(adjusted, abs=1e-7)
    assert len(others.of(0)) == 5


@pytest.mark.slow
def test_the_prunings_of_a_tree_of_numbers_are_those_of_rpart() -> None:
    table, _ = training()
    target = np.log(table.pop("capitalLong"))
    path = CARTRegressor(cv=2).fit(table, target).pruning_path_
    assert len(path) == 217
    root = path.training[-1]
    for k, (price, splits, error) in enumerate(NUMBERS, start=1):
        assert path.leaves[-k] - 1 == splits
        assert (path.level[-k] / root, path.training[-k] / root) == pytest.approx((price, error), abs=1e-9)


def small(n: int = 200) -> tuple[dict, np.ndarray]:
    rng = np.random.default_rng(0)
    table = {"x": rng.normal(size=n), "z": rng.normal(size=n), "c": rng.choice(list("abc"), n)}
    table["w"] = table["x"] + 0.1 * rng.normal(size=n)
    return table, np.where(table["x"] + 0.3 * rng.normal(size=n) > 0, "yes", "no")


def test_the_rule_and_the_seed_choose() -> None:
    table, y = small()
    simple, least = (CARTClassifier(rule=rule, random_state=1).fit(table, y) for rule in ("1-SE", "0-SE"))
    assert simple.get_n_leaves() <= least.get_n_leaves()
    again = CARTClassifier(random_state=1).fit(table, y)
    assert again.model_ == simple.model_
    path = least.pruning_path_
    assert path.validation[path.chosen] == path.validation.min()


def test_surrogates_answer_for_missing_values() -> None:
    table, y = small()
    model = CARTClassifier(n_surrogates=2).fit(table, y)
    assert model.model_.root.test.column in ("x", "w")
    hidden = table | {model.model_.root.test.column: np.full(200, np.nan)}
    assert (model.predict(hidden) == y).mean() > 0.8
    assert max(len(model.model_.surrogates.of(node)) for node in range(model.model_.n_nodes)) <= 2


@pytest.mark.filterwarnings("ignore::treewright.AdviceWarning")  # pruned to one leaf by the priors
def test_costs_move_the_answers() -> None:
    table, y = small()
    plain = CARTClassifier(random_state=0).fit(table, y)
    careful = CARTClassifier(costs={"yes": {"no": 20}}, random_state=0).fit(table, y)
    assert (careful.predict(table) == "yes").sum() > (plain.predict(table) == "yes").sum()
    rare = CARTClassifier(costs=Costs(priors={"yes": 0.02, "no": 0.98}), random_state=0).fit(table, y)
    assert (rare.predict(table) == "yes").sum() < (plain.predict(table) == "yes").sum()


def test_few_rows_are_no_trouble() -> None:
    assert CARTClassifier().fit([[1.0]], ["a"]).predict([[2.0]]).tolist() == ["a"]
    assert (
        CARTRegressor(min_samples_split=2, min_samples_leaf=1).fit([[1.0], [2.0]], [1.0, 3.0]).get_n_leaves()
        <= 2
    )
    for options in ({"cv": 1}, {"rule": "2-SE"}, {"n_surrogates": -1}):
        with pytest.raises(ValueError, match=next(iter(options))):
            CARTClassifier(**options).fit([[1.0], [2.0]], ["a", "b"])


@pytest.mark.filterwarnings("ignore::treewright.AdviceWarning")  # pruned to one leaf by the costs
def test_prices_of_leaves_go_by_costs() -> None:
    """The path of a classic is that of the plain estimator on the same tree, costs included."""
    random = np.random.default_rng(0)
    table = {"x": random.normal(size=200), "z": random.normal(size=200)}
    target = np.where(table["x"] + random.normal(size=200) > 0, "ill", "well")
    costs = {"ill": {"well": 5.0}}
    model = CARTClassifier(costs=costs, min_samples_leaf=5)
    path = model.cost_complexity_pruning_path(table, target)
    grown = model.fit(table, target).pruning_path_.full_tree
    assert grown.schema.has_costs
    whole = float(grown.loss[0] / grown.weight[0])
    assert path.impurities[-1] == pytest.approx(whole)
    assert (np.diff(path.ccp_alphas) > 0).all()
