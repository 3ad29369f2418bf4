"""Options of growing in pairs: each two of them give a tree that keeps its promises, or a clear refusal."""

from __future__ import annotations

import pickle
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treewright import (
    Below,
    C45Classifier,
    CHAIDClassifier,
    Dataset,
    ID3Classifier,
    Tree,
    encode,
    explain,
    export,
    grow,
    load,
    prune,
    regrow,
)
from treewright.parameters import Costs, FeatureCosts, Gain
from treewright.tree.evaluate import prediction_losses
from treewright.tree.predict import answers

N = 240
CLASSES: dict[str, dict[str, Any]] = {
    "costs": {"costs": {"ill": {"well": 5.0}}},
    "generalised Gini": {"costs": Costs({"ill": {"well": 5.0}}, split="generalised_gini")},
    "priors": {"costs": Costs(priors={"ill": 0.2, "well": 0.8})},
    "costs and priors": {"costs": Costs({"ill": {"well": 5.0}}, priors={"ill": 0.2, "well": 0.8})},
    "significance": {"selection": Gain(significance=0.2)},
}
NUMBERS: dict[str, dict[str, Any]] = {
    "leaf": {"leaf": "linear"},
    "poisson": {"criterion": "poisson"},
    "medians": {"criterion": "absolute_error"},
}
BOTH: dict[str, dict[str, Any]] = {
    "surrogate": {"missing": "surrogate"},
    "fractional": {"missing": "fractional"},
    "category": {"missing": "category"},
    "feature_costs": {"feature_costs": {"age": 2.0}},
    "feature_costs and max_used": {"feature_costs": FeatureCosts({"age": 2.0}, max_used=2)},
    "monotonic_cst": {"monotonic_cst": {"age": 1}},
    "interaction_cst": {"interaction_cst": [["age", "dose"], ["job"]]},
    "max_used": {"feature_costs": FeatureCosts(max_used=2)},
    "root": {"root": Below("dose", 0.1)},
    "selection": {"selection": "test"},
    "split": {"split": "oblique"},
    "random": {"splitter": "random", "random_state": 1},
    "max_features": {"max_features": 2, "random_state": 1},
    "max_leaf_nodes": {"max_leaf_nodes": 5},
    "limits": {"min_samples_leaf": 8, "max_depth": 3},
}


def table() -> dict[str, Any]:
    """Numbers and categories with holes."""
    random = np.random.default_rng(0)
    age, dose = random.normal(size=N), random.normal(size=N)
    job = random.choice(["cook", "clerk", "smith"], N).astype(object)
    age[random.random(N) < 0.15] = np.nan
    job[random.random(N) < 0.1] = None
    return {"age": age, "dose": dose, "job": job}


def rows(is_classes: bool) -> Dataset:
    """The table with classes or numbers that depend on all columns."""
    random, columns = np.random.default_rng(1), table()
    value = np.nan_to_num(columns["age"]) + columns["dose"] + 0.8 * (columns["job"] == "cook")
    value = value + random.normal(size=N) / 3
    target = np.where(value > 0.3, "well", "ill") if is_classes else value - value.min()
    return encode(columns, target, weight=random.integers(1, 4, N))


def judge(tree: Tree, data: Dataset, folder: Path) -> None:
    """What must hold of any tree, however it was grown."""
    tree.check()
    assert tree.n_leaves > 1
    said = answers(tree, data)
    lost = float(prediction_losses(tree, said, np.asarray(data.targets)) @ data.row_weights)
    if tree.missing != "fractional":  # there the losses of the leaves count shares of rows
        own = float(tree.loss[tree.is_leaf].sum())
        assert lost == pytest.approx(own, rel=1e-6, abs=1e-6)
        assert float(tree.loss_of(data)[tree.is_leaf].sum()) == pytest.approx(own, rel=1e-6, abs=1e-6)
    # rows that arrive are counted with their means and squares, whatever the criterion looked at
    told = np.s_[:, : {"poisson": 2, "absolute_error": 1}.get(tree.criterion)]
    arrived, own_rows = np.asarray(tree.statistic_of(data))[told], np.asarray(tree.statistic)[told]
    np.testing.assert_allclose(arrived, own_rows, rtol=1e-6, atol=1e-6)
    tree.save(folder / "tree.json")
    assert load(folder / "tree.json") == tree == pickle.loads(pickle.dumps(tree))
    for smaller in prune(tree, "cost_complexity"):
        smaller.check()
    assert str(tree)
    module: dict[str, Any] = {}
    exec(str(export(tree, "python")), module)
    first = {name: plain(column[0]) for name, column in table().items()}
    expected = tree.predict({name: column[:1] for name, column in table().items()})[0]
    assert module["predict"](first) == expected


def plain(value: Any) -> Any:
    """A value as a row of Python has it."""
    return None if value is None or value != value else value


def pairs() -> list[Any]:
    """All pairs of options that can be asked of the same target."""
    found = []
    for task, own in (("classes", CLASSES), ("numbers", NUMBERS)):
        options = own | BOTH
        for a, b in combinations(options, 2):
            if not options[a].keys() & options[b].keys() - {"random_state"}:
                found.append(pytest.param(task, options[a] | options[b], id=f"{task}: {a}, {b}"))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("task", "options"), pairs())
def test_two_options_work_together_or_are_refused(task: str, options: dict[str, Any], tmp_path: Path) -> None:
    data = rows(task == "classes")
    try:
        tree = grow(data, **{"max_depth": 5, "min_samples_leaf": 3} | options)
    except ValueError as error:
        message = str(error)
        assert any(name in message for name in options), message  # it names what to change
        assert len(message) < 250
        return
    judge(tree, data, tmp_path)


# ---- what options must not do to each other ----------------------------------------------------


def test_formulas_are_not_monotone() -> None:
    with pytest.raises(ValueError, match="leaf='linear' does not go with monotonic_cst"):
        grow(rows(False), leaf="linear", monotonic_cst={"age": 1})


def test_surrogates_are_judged_by_the_rows_as_they_are() -> None:
    """Costs alter which splits are chosen, not how many rows a surrogate sends the same way."""
    data = rows(True)
    tree = grow(data, missing="surrogate", costs={"ill": {"well": 9.0}}, max_leaf_nodes=2)
    (first, *_) = tree.surrogates.of(0)
    known = ~np.isnan(np.asarray(data.columns[tree.feature[0]], float))
    column = np.asarray(data.columns[tree.surrogates.feature[first]], float)
    left = np.asarray(data.columns[tree.feature[0]], float)[known] <= tree.threshold[0]
    same = (column[known] <= tree.surrogates.threshold[first]) != tree.surrogates.reversed[first]
    weight = data.row_weights[known]
    alike = weight[(same == left) & ~np.isnan(column[known])].sum() / weight.sum()
    assert tree.schema.columns[tree.surrogates.feature[first]].kind == "number"
    assert tree.surrogates.agreement[first] == pytest.approx(alike, abs=1e-12)
    assert tree.missing_left[0] == (weight[left].sum() >= weight[~left].sum())


def test_labelled_costs_and_priors_go_by_their_labels() -> None:
    pandas = pytest.importorskip("pandas")
    data = rows(True)
    matrix = pandas.DataFrame([[0, 1], [5, 0]], index=["well", "ill"], columns=["well", "ill"])
    assert grow(data, costs=matrix) == grow(data, costs={"ill": {"well": 5}})
    priors = pandas.Series({"well": 0.8, "ill": 0.2})
    assert grow(data, costs=Costs(priors=priors)) == grow(data, costs=Costs(priors={"ill": 0.2, "well": 0.8}))
    plain_matrix = pandas.DataFrame(
        [[0, 5], [1, 0]]
    )  # without labels of its own: in the order of the classes
    assert grow(data, costs=plain_matrix) == grow(data, costs=[[0, 5], [1, 0]])


def test_an_unseen_category_goes_to_the_heaviest_of_many_branches() -> None:
    sizes = {"p": 90, "q": 50, "r": 20, "s": 60, "t": 10}
    category = [name for name, size in sizes.items() for _ in range(size)]
    target = ["u" if name == "p" else "v" for name in category]
    for model in (ID3Classifier(), C45Classifier(), CHAIDClassifier(alpha_merge=1.0)):
        tree = model.fit({"category": category}, target).model_
        assert tree.joined.any()
        assert tree.predict({"category": ["never seen"]}).tolist() == ["u"]


def test_regrowing_knows_costs_and_other_rows() -> None:
    data = rows(True)
    tree = grow(data, costs={"ill": {"well": 5.0}}, max_leaf_nodes=6)
    assert regrow(tree, 0, "best", data, max_leaf_nodes=6) == tree
    for other in (data.with_weight(data.row_weights * 2), data.with_weight(None)):
        with pytest.raises(ValueError, match="other weights or targets"):
            regrow(tree, 1, "best", other)
    sums = grow(data, split="oblique", max_leaf_nodes=5)
    assert regrow(sums, 0, "best", data, split="oblique", max_leaf_nodes=5) == sums


def test_what_needs_found_splits_refuses_given_ones() -> None:
    for missing in ("surrogate", "fractional", "category"):
        with pytest.raises(ValueError, match=f"missing='{missing}' needs splits that are found"):
            grow(rows(True), missing=missing, root="dose")


def test_a_sum_without_a_part_is_explained() -> None:
    data = rows(True)
    tree = grow(data, split="oblique", max_leaf_nodes=4)
    assert tree.directions
    told = str(explain(tree, {"age": None, "dose": 0.5, "job": "cook"}))
    assert "missing" in told
