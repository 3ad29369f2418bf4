"""The report of an optimal tree: what is proved, and how it is searched again."""

from __future__ import annotations

from treewright import OptimalTreeClassifier, encode, grow, optimise, report
from treewright.encoding import Dataset

TABLE = {"a": [0, 0, 1, 1, 1, 0], "b": [0, 1, 0, 1, 1, 1]}
CLASSES = ["no", "yes", "yes", "no", "no", "no"]


def rows() -> Dataset:
    return encode(TABLE, CLASSES)


def test_the_proof_is_a_note() -> None:
    best = optimise(rows(), max_depth=2, max_leaf_nodes=3)
    found = report(best).payload["headline"]["notes"]
    assert (
        found[0] == "Proved optimal: no tree of at most depth 2 and 3 leaves loses less on the training rows."
    )
    assert not any("optimal" in note for note in report(grow(rows())).payload["headline"]["notes"])


def test_a_search_that_ended_early() -> None:
    best = optimise(rows(), max_depth=2, work_limit=0)
    assert not best.is_proved
    assert report(best).payload["headline"]["notes"][0].startswith("Not proved optimal: ")


def test_the_estimator_brings_its_proof() -> None:
    model = OptimalTreeClassifier(max_depth=2, leaf_penalty=0.01).fit(TABLE, CLASSES)
    payload = report(model).payload
    assert "loses less on the training rows, with the price of its leaves." in payload["headline"]["notes"][0]
    assert float(payload["reproduce"]["parameters"]["bound"]) == model.bound_


def test_the_code_searches_again() -> None:
    data = rows()
    best = optimise(data, max_depth=2, leaf_penalty=0.01, costs={"yes": {"no": 3}})
    code = report(best).payload["reproduce"]["code"]
    line = next(line for line in code.splitlines() if line.startswith("tree = "))
    assert "optimise(train, max_depth=2, leaf_penalty=0.01, costs=Costs(" in line
    names: dict[str, object] = {"train": data}
    exec("\n".join([code.splitlines()[0], line]), names)
    assert names["tree"] == best.tree
