"""Results in notebooks: well-formed HTML without scripts or colours, with the numbers, names escaped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import treewright as tw
from treewright._display import Layout
from treewright.certifying import Certificates, leaf_intervals
from treewright.ensembles.adaboost import boost
from treewright.ensembles.adaboost_r2 import boost_numbers
from treewright.ensembles.gradient_boosting import boost as gradient_boost
from treewright.ensembles.out_of_bag import importance_of, out_of_bag
from treewright.explaining.weak_learning_bound import weak_learning_bound
from treewright.feature_selection import boruta, split_scores
from treewright.metrics import metrics

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert(1)</script>&\"'"
BAD_CLASS = "</td><b>yes"

rng = np.random.default_rng(4)
N = 120
TABLE = {
    HOSTILE: rng.normal(size=N),
    "z": rng.integers(0, 9, N),
    "city": ["<i>Rome</i>", "Oslo", None] * (N // 3),
}
ANSWER = np.where(TABLE[HOSTILE] + rng.normal(size=N) / 2 > 0, BAD_CLASS, "no")
TRAIN = tw.encode({name: column[:80] for name, column in TABLE.items()}, ANSWER[:80])
TEST = tw.encode({name: column[80:] for name, column in TABLE.items()}, ANSWER[80:], schema=TRAIN.schema)
WHOLE = tw.encode(TABLE, ANSWER)
NUMBERS = tw.encode(TABLE, TABLE["z"] * 1.0)
TREE = tw.grow(TRAIN, max_leaf_nodes=5)
REGRESSION = tw.grow(NUMBERS, max_leaf_nodes=3)
SQRT = tw.grow(TRAIN, max_leaf_nodes=5, criterion="sqrt")
NO_CITY = tw.encode({HOSTILE: TABLE[HOSTILE], "z": TABLE["z"]}, ANSWER)
SIMPLE = tw.grow(NO_CITY, max_leaf_nodes=4)
ROW = {HOSTILE: 0.3, "z": 2}
FOREST = tw.grow_forest(TRAIN, n_estimators=4, max_depth=3)
CERTIFICATE = tw.certify(TREE, test=TEST)

# Each result with a text that is part of its HTML.
RESULTS: dict[str, tuple[Callable[[], Any], str]] = {
    "Certificate": (lambda: CERTIFICATE, CERTIFICATE.bound_text),
    "Certificates": (lambda: Certificates((CERTIFICATE, CERTIFICATE), (0.1, 0.02, 5)), "5-fold estimate"),
    "VoteCertificate": (lambda: tw.certify_votes(rng.random((9, 99)) < 0.2), "true error below"),
    "LeafIntervals": (lambda: leaf_intervals(TREE, TEST), "true error from"),
    "RuleList": (lambda: tw.RuleList.of(TREE), f"{HOSTILE} > "),
    "rules of numbers": (lambda: tw.RuleList.of(REGRESSION), "training rows"),
    "Importance": (lambda: tw.importance(TREE, TEST), HOSTILE),
    "ForestImportance": (lambda: importance_of(FOREST, TRAIN), HOSTILE),
    "OutOfBag": (lambda: out_of_bag(FOREST, TRAIN), "rows with votes"),
    "ShapleyValues": (lambda: tw.shapley_values(SIMPLE, ROW), HOSTILE),
    "Stability": (lambda: tw.stability(TRAIN, n_bootstraps=3, max_leaf_nodes=3), HOSTILE),
    "Decision": (lambda: tw.explain(SIMPLE, ROW), f"{HOSTILE} is 0.3"),
    "Counterfactual": (lambda: tw.counterfactual(SIMPLE, ROW), HOSTILE),
    "TreeDifference": (lambda: tw.tree_difference(TREE, tw.grow(TRAIN, max_leaf_nodes=2), TEST), "rows"),
    "Competitors": (lambda: tw.competitors(TREE, TRAIN), "rows split alike"),
    "WeakLearningBound": (lambda: weak_learning_bound(SQRT, TRAIN), "least edge"),
    "PruningPath": (lambda: tw.prune(TREE, "cost_complexity"), "cost_complexity: "),
    "Comparison": (lambda: tw.compare(WHOLE, ["cost_complexity", "pessimistic"]), "pessimistic"),
    "OverfittingCurve": (lambda: tw.overfitting_curve(TRAIN, test=TEST), "least on held-out rows"),
    "Forest": (lambda: FOREST, "leaves of a tree"),
    "Boosted": (lambda: boost(TRAIN, n_estimators=3), "training error"),
    "BoostedNumbers": (lambda: boost_numbers(NUMBERS, n_estimators=2), "linear"),
    "GradientBoosted": (lambda: gradient_boost(TRAIN, max_iter=2), "log_loss"),
    "Metrics": (lambda: metrics(TREE, TEST), "balanced accuracy"),
    "Distillation": (lambda: tw.distillation(FOREST, TRAIN, validation=TEST), "distilled from"),
    "BornAgain": (
        lambda: tw.born_again(tw.grow_forest(NO_CITY, n_estimators=2, max_depth=2)),
        "predicts like",
    ),
    "Optimum": (lambda: tw.optimise(TRAIN, max_depth=1), "proved: no tree of depth 1"),
    "OptimalFront": (lambda: tw.optimal_front(TRAIN, max_depth=1), "proved"),
    "ColumnLosses": (lambda: tw.optimise(TRAIN, max_depth=1).first_columns, HOSTILE),
    "SplitScores": (lambda: split_scores(WHOLE, n_permutations=5), HOSTILE),
    "BorutaResult": (lambda: boruta(WHOLE, n_estimators=5, max_iter=5), "shadows: "),
    "SelectionPath": (lambda: tw.TreeSelector(cv=3).fit(TABLE, ANSWER).path_, "± SE"),
    "Advices": (lambda: tw.advise({**TABLE, "id<b>": range(N)}, ANSWER), "id<b>"),
    "Dataset": (lambda: WHOLE, HOSTILE),
    "Tree": (lambda: TREE, "depth"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_html_is_safe_and_has_the_numbers(name: str) -> None:
    make, words = RESULTS[name]
    html = make()._repr_html_()
    page = ElementTree.fromstring(html)  # well-formed: each name is text and not markup
    assert words in "".join(page.itertext())
    own = [node for node in page.iter() if not node.tag.startswith(SVG)]
    assert {node.tag for node in own} <= {"div", "table", "thead", "tbody", "tr", "th", "td"}
    assert {attribute for node in own for attribute in node.attrib} <= {"style", "colspan"}
    assert not any("color" in node.get("style", "") for node in own)  # the page's, be it light or dark
    assert len(html) < 40_000


def test_rows_are_those_of_the_text() -> None:
    comparison = tw.compare(WHOLE, ["cost_complexity", "pessimistic"])
    page = ElementTree.fromstring(comparison._repr_html_())
    told = [[cell.text or "" for cell in row] for row in page.findall(".//tbody/tr")]
    lines = str(comparison).splitlines()
    for row in told:
        assert any(" ".join(line.split()) == " ".join(" ".join(row).split()) for line in lines)
    bold = [row[0].text for row in page.findall(".//tbody/tr") if "bold" in row[0].get("style", "")]
    assert bold == [comparison.best["method"]]


def test_a_dataset_shows_kinds_values_and_gaps() -> None:
    rows = [
        [cell.text for cell in row]
        for row in ElementTree.fromstring(WHOLE._repr_html_()).findall(".//tbody/tr")
    ]
    values = f"{TABLE['z'].min()} to {TABLE['z'].max()}"
    assert rows[1:] == [
        ["z", "number", values, "0.0 %"],
        ["city", "category", "{<i>Rome</i>, Oslo}", "33.3 %"],
    ]
    wide = tw.encode(np.zeros((2, 40)))
    assert "10 more columns" in wide._repr_html_()
    assert "–" in tw.encode({"x": [None, None]}, kinds={"x": "number"})._repr_html_()


def test_rules_of_numbers_have_no_column_of_right_answers() -> None:
    for tree, head in [(TREE, ["y", "training rows", "right"]), (REGRESSION, ["y", "training rows"])]:
        page = ElementTree.fromstring(tw.RuleList.of(tree)._repr_html_())
        assert [cell.text for cell in page.findall(".//thead//th")][2:] == head


def test_long_lists_are_cut() -> None:
    many = tw.grow(tw.encode({"x": range(200)}, [str(i % 7) for i in range(200)]))
    page = tw.RuleList.of(many)._repr_html_()
    assert f"… {many.n_leaves - 40} more rules" in page


def test_notes_stand_below_their_row() -> None:
    layout = Layout([], ["a", "b"], [["1", "2"], ["3", "4"]], notes={0: ["  <note>"]}, marked=1)
    rows = ElementTree.fromstring(layout.html()).findall(".//tbody/tr")
    assert ["".join(row.itertext()) for row in rows] == ["12", "<note>", "34"]
    assert "bold" in rows[2][0].get("style", "")
