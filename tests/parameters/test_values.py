"""Options of an option as values: they print, compare, clone, pickle and take part in a grid search."""

import copy
import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV

import treewright
from treewright import (
    ConditionalInference,
    CostComplexity,
    Costs,
    DecisionTreeClassifier,
    FeatureCosts,
    Gain,
    Oblique,
    ReducedError,
    Surrogates,
)
from treewright.parameters.spec import Option
from treewright.parameters.values import Pruning
from treewright.pruning import methods

X, Y = load_iris(return_X_y=True)
MATRIX = [[0, 1, 1], [5, 0, 1], [5, 1, 0]]
VALUES = [
    (Surrogates(3), "Surrogates(3)"),
    (Surrogates(), "Surrogates()"),
    (Oblique(3), "Oblique(3)"),
    (Gain(significance=0.01), "Gain(significance=0.01)"),
    (ConditionalInference(0.1), "ConditionalInference(0.1)"),
    (Costs(MATRIX, split="none"), f"Costs({MATRIX}, split='none')"),
    (Costs(priors=[0.2, 0.3, 0.5]), "Costs(priors=[0.2, 0.3, 0.5])"),
    (FeatureCosts({"x0": 1.0}, max_used=2), "FeatureCosts({'x0': 1.0}, max_used=2)"),
    (CostComplexity(select="folds", rule="1-SE"), "CostComplexity(select='folds', rule='1-SE')"),
    (ReducedError(), "ReducedError()"),
]


@pytest.mark.parametrize(("value", "call"), VALUES)
def test_a_value_prints_as_its_call_compares_and_pickles(value: Option, call: str) -> None:
    assert repr(value) == call
    assert eval(call, vars(treewright) | {type(value).__name__: type(value)}) == value
    for same in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value), clone(value)):
        assert same == value
        assert hash(same) == hash(value)
    assert value != "surrogate"
    with pytest.raises(AttributeError, match="cannot be changed"):
        value.select = "folds"  # type: ignore[attr-defined]


def test_values_with_other_options_differ() -> None:
    assert Surrogates() == Surrogates(5) != Surrogates(4)
    assert CostComplexity() != CostComplexity(rule="1-SE") != CostComplexity(rule="0-SE")
    assert CostComplexity() != ReducedError()
    assert Costs(np.array(MATRIX)) == Costs(np.array(MATRIX)) != Costs(np.eye(3))


def test_unknown_and_wrong_options_are_named() -> None:
    with pytest.raises(TypeError, match="colums"):
        Oblique(colums=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Oblique has no parameter 'colums'; did you mean 'columns'"):
        Oblique().replace(colums=3)
    for wrong, message in (
        (lambda: Surrogates(-1), "Surrogates: n=-1 is not possible; it must be an int >= 0"),
        (lambda: Oblique(1), "Oblique: columns=1 .* an int >= 2"),
        (lambda: ConditionalInference(0.0), "alpha=0.0"),
        (lambda: Costs(split="dear"), "split='dear'.*altered_priors"),
        (lambda: FeatureCosts(max_used=0), "max_used=0"),
    ):
        with pytest.raises(ValueError, match=message):
            wrong()


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ({"missing": "surrogate"}, {"missing": Surrogates(5)}),
        ({"split": "oblique"}, {"split": Oblique(columns=2)}),
        ({"selection": "gain"}, {"selection": Gain()}),
        ({"selection": "test"}, {"selection": ConditionalInference(0.05)}),
        ({"costs": MATRIX}, {"costs": Costs(MATRIX)}),
        ({"feature_costs": [1, 0, 0, 2]}, {"feature_costs": FeatureCosts([1, 0, 0, 2])}),
        ({"pruning": "cost_complexity"}, {"pruning": CostComplexity()}),
    ],
)
def test_a_shorthand_is_its_value(short: dict[str, object], long: dict[str, object]) -> None:
    one, other = (DecisionTreeClassifier(**options).fit(X, Y).model_ for options in (short, long))
    assert one == other


def test_options_change_the_tree() -> None:
    rows = X.copy()
    rows[::3, 2] = np.nan
    few = DecisionTreeClassifier(missing=Surrogates(1)).fit(rows, Y).model_
    assert max(len(few.surrogates.of(node)) for node in range(few.n_nodes)) == 1
    one = DecisionTreeClassifier(feature_costs=FeatureCosts(max_used=1)).fit(X, Y)
    assert np.count_nonzero(one.feature_importances_) == 1
    dear = DecisionTreeClassifier(costs=Costs(MATRIX, split="none")).fit(X, Y).model_
    assert dear.schema.targets[0].costs == ((0.0, 1.0, 1.0), (5.0, 0.0, 1.0), (5.0, 1.0, 0.0))


def test_options_are_parameters_of_the_estimator() -> None:
    model = DecisionTreeClassifier(pruning=CostComplexity(rule="1-SE"), missing=Surrogates(3))
    params = model.get_params()
    assert params["pruning"] == CostComplexity(rule="1-SE")
    assert params["pruning__rule"] == "1-SE"
    assert params["missing__n"] == 3
    assert clone(model).get_params() == params
    model.set_params(pruning__rule="0-SE", missing__n=2, max_depth=4)
    assert model.pruning == CostComplexity(rule="0-SE")
    assert model.missing == Surrogates(2)
    assert model.max_depth == 4


def test_a_shorthand_takes_options() -> None:
    model = DecisionTreeClassifier(missing="surrogate").set_params(missing__n=2)
    assert model.missing == Surrogates(2)
    assert model.set_params(missing="learn", pruning="reduced_error", pruning__ties="keep").missing == "learn"
    assert model.pruning == ReducedError(ties="keep")
    with pytest.raises(ValueError, match="missing__n cannot be set, because missing='learn' has no options"):
        model.set_params(missing__n=2)
    with pytest.raises(ValueError, match="maximal"):
        model.set_params(maximal=2)


def test_options_can_be_searched() -> None:
    grid = {
        "pruning__rule": ["1-SE", "0-SE"],
        "pruning__n_folds": [3],
        "selection": ["gain", Gain(significance=0.1)],
    }
    search = GridSearchCV(DecisionTreeClassifier(pruning=CostComplexity(select="folds")), grid, cv=3).fit(
        X, Y
    )
    assert search.best_score_ > 0.9
    assert search.best_estimator_.pruning.keywords().keys() == {"rule", "n_folds"}


def test_every_pruning_method_has_a_value() -> None:
    assert Pruning.classes.keys() == set(methods()) - {"rules"}
    for method, kind in Pruning.classes.items():
        assert kind().method == method
        assert f'``pruning="{method}"`` is ``pruning={kind.__name__}()``' in (kind.__doc__ or "")
        assert getattr(treewright, kind.__name__) is kind
        assert {"select", "validation_fraction"} <= inspect.signature(kind).parameters.keys()


def test_the_texts_of_pruning_options_are_whole() -> None:
    """They come from one paragraph of the method's docstring: a list below it would be lost."""
    for kind in Pruning.classes.values():
        for name, option in kind.parameters.items():
            assert option.doc.endswith((".", ")")), f"{kind.__name__}.{name}: {option.doc}"
