"""Kinds of columns: a new one is a class and a line in `KINDS`, and no other file knows of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treewright import Below, explain, grow, load
from treewright.encoding import encode
from treewright.encoding.cells import Cells
from treewright.encoding.kinds import KINDS, Category, Kind, Number, Time
from treewright.encoding.schema import Column

LABELS = ["low"] * 3 + ["high"] * 3


class Percentage(Number):
    """Shares of 100: numbers with another text and thresholds that are multiples of 5 where they can be."""

    name = "percentage"
    plural = "percentages"

    def recognises(self, cells: Cells) -> bool:
        return False

    def threshold_text(self, value: float) -> str:
        return f"{super().threshold_text(value)} %"

    def parse_threshold(self, value: Any) -> float:
        return float(str(value).removesuffix("%"))

    def readable_thresholds(self, low: Any, high: Any) -> Any:
        fives = 5 * np.floor(low / 5 + 1)
        return np.where(fives < high, fives, super().readable_thresholds(low, high))


class Code(Category):
    """Categories with another text: upper case, in brackets."""

    name = "code"
    plural = "codes"

    def recognises(self, cells: Cells) -> bool:
        return cells.labels is not None and all(str(label).startswith("#") for label in cells.labels)

    def value_text(self, column: Column, cell: Any) -> str:
        return f"[{super().value_text(column, cell).upper()}]"


@pytest.fixture
def percentage(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setitem(KINDS, "percentage", Percentage())
    return {"share": "percentage"}


@pytest.mark.parametrize(
    "share", [[12.0, 31.0, 43.25, 47.5, 60.0, 81.0], ["12 %", "31%", "43.25 %", "47.5 %", "60 %", "81 %"]]
)
def test_a_new_kind_of_numbers_is_encoded_grown_worded_and_saved(
    percentage: Any, share: list[Any], tmp_path: Path
) -> None:
    data = encode({"share": share, "z": [1.0] * 6}, LABELS, kinds=percentage)
    assert data.schema.columns[0].kind == "percentage"
    assert data.column(0).tolist() == [12.0, 31.0, 43.25, 47.5, 60.0, 81.0]
    tree = grow(data)
    assert tree.threshold[0] == 45.0
    assert "share <= 45 %" in str(tree)
    assert "45 %" in str(explain(tree, {"share": share[:1], "z": [1.0]}))
    assert tree.predict({"share": [44.9, 45.1, None], "z": [1.0] * 3}).tolist()[:2] == ["low", "high"]
    tree.save(tmp_path / "tree.json")
    same = load(tmp_path / "tree.json")
    assert same == tree
    assert same.schema.columns[0].type is KINDS["percentage"]
    assert str(same) == str(tree)


def test_a_new_kind_of_numbers_takes_thresholds_as_it_reads_them(percentage: Any) -> None:
    data = encode({"share": [12.0, 31.0, 43.0, 47.0, 60.0, 81.0]}, LABELS, kinds=percentage)
    assert KINDS["percentage"].parse_threshold("20%") == 20.0
    assert grow(data, root=Below("share", 20.0)).root.test == Below("share", 20.0)


def test_texts_that_are_no_numbers_name_the_new_kind(percentage: Any) -> None:
    with pytest.raises(
        ValueError, match="column 'share' is to be read as percentages, but no cell is a number"
    ):
        encode({"share": list("abcdef")}, LABELS, kinds=percentage)
    schema = encode({"share": [12.0, 31.0]}, ["a", "b"], kinds=percentage).schema
    with pytest.raises(ValueError, match=r"must hold numbers \(its kind is 'percentage'\), but row 0 is 'a'"):
        encode({"share": ["a"]}, schema=schema)


def test_a_new_kind_of_categories_is_recognised_and_saved(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(KINDS, "code", Code())
    table = {"code": ["#a", "#b", "#a", "#c", "#c", "#c"], "sky": ["blue", "grey"] * 3}
    data = encode(table, LABELS)
    assert [column.kind for column in data.schema.columns] == ["code", "category"]
    assert data.schema.columns[0].value_text(0) == "[#A]"
    tree = grow(data)
    assert tree.tested[int(tree.feature[0])].name == "code"
    assert tree.predict({"code": ["#a", "#c"], "sky": ["blue"] * 2}).tolist() == ["low", "high"]
    tree.save(tmp_path / "tree.json")
    assert load(tmp_path / "tree.json") == tree


def test_a_kind_that_is_gone_is_refused_when_a_model_is_loaded(
    percentage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grow(encode({"share": [12.0, 60.0]}, ["a", "b"], kinds=percentage)).save(tmp_path / "tree.json")
    monkeypatch.delitem(KINDS, "percentage")
    with pytest.raises(ValueError, match="column 'share' is of the unknown kind 'percentage'"):
        load(tmp_path / "tree.json")


def test_only_times_choose_thresholds_of_their_own() -> None:
    assert [name for name, kind in KINDS.items() if kind.has_own_thresholds] == ["time"]
    assert all(isinstance(kind, Kind) and name == kind.name for name, kind in KINDS.items())
    assert isinstance(KINDS["time"], Time)
    assert not Time().is_summable


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        ("2026-01-02", "2026-01-03", "2026-01-02"),
        ("2026-01-02", "2026-01-05", "2026-01-04"),
        ("2026-01-01", "2026-02-01", "2026-01-31"),
        ("2026-01-02T00:00", "2026-01-02T01:00", "2026-01-02"),
        ("2026-01-02T10:59", "2026-01-02T11:00", "2026-01-02 10:59:00"),
        ("2026-01-02T23:30", "2026-01-03T00:30", "2026-01-03"),
        ("2026-01-02T00:00", "2026-01-02T05:00", "2026-01-02 04:00:00"),
    ],
)
def test_a_threshold_between_successive_days_is_a_day(low: str, high: str, expected: str) -> None:
    kind = Time()
    ends = (np.array([kind.parse_threshold(end)]) for end in (low, high))
    assert kind.threshold_text(float(kind.readable_thresholds(*ends)[0])) == expected
