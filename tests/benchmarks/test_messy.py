"""The tables of the benchmarks `messy` and `categories`: the same each time, well formed, and dirty."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import numpy as np
import pytest
from benchmarks import categories, category_methods, category_tables, messy, messy_report, reusing
from benchmarks.category_tables import Table
from benchmarks.messy_makers import credit, medical, titanic
from benchmarks.messy_sheets import Messy, Sheet, dated, dollars, finished, german, places
from benchmarks.messy_tables import MADE
from benchmarks.messy_tasks import FOLDS, VARIANTS, Shares, folds, judged, tasks

from tests.benchmarks.made_up_figures import ORIGIN

TABLES = [maker(0) for maker in MADE]
# A cell of each table that no plain reader takes for what it is.
DIRT = {
    "credit": {
        "Antragsdatum": r"\d\d\.\d\d\.\d{4}",
        "Betrag": r"(\d\.)?\d{1,3},\d\d €",
        "Zinssatz": r"\d,\d\d %",
    },
    "titanic": {"Age": r"\d+ yrs", "Fare": r"£\d+\.\d\d", "Sex": "M"},
    "titanic, boats": {"Boat": r"\d+|[A-D]"},
    "clicks": {"timestamp": r"\d{4}-\d\d-\d\dT.*Z", "bid": r"\$\d+\.\d\d"},
    "churn": {"phone": r"\(\d{3}\) 555-\d{4}", "discount": r"\d+ %", "autopay": "TRUE", "monthly_fee": "n/a"},
    "houses": {"living_area": r"\d,\d{3} sqft", "built": r"c\. \d{4}", "lot": r"0\.\d\d acres"},
    "medical": {"CRP": "<0.5", "creatinine": r"[\d.]+ mg/dL", "lactate": "n/a"},
    "weblog": {"bytes": r"\d+,\d{3}", "duration": r"\d+ ms", "agent": "Mozilla.*"},
    "survey": {"hours": r"[\d.]+ h", "easy": "STRONGLY AGREE", "age_band": "prefer not to say"},
    "retail": {"date": r"\d\d/\d\d/\d{4}", "unit_price": r"\$\d+\.\d\d", "product": r"SKU-\d{5}"},
    "tickets": {"amount": r"USD \d,\d{3}\.\d\d", "open_for": r"\d+ days"},
}


def cells_of(table: Messy) -> dict[str, list[str]]:
    rows = list(csv.DictReader(io.StringIO(table.text), delimiter=table.separator))
    return {name: [row[name] for row in rows] for name in rows[0]}


def test_at_least_ten_tables_of_different_names() -> None:
    names = [table.name for table in TABLES]
    assert len(set(names)) == len(names) >= 10
    assert set(DIRT) == set(names)


@pytest.mark.slow
@pytest.mark.parametrize("maker", MADE, ids=[table.name for table in TABLES])
def test_a_table_depends_on_its_seed_alone(maker: Any) -> None:
    first, again, other = maker(0), maker(0), maker(1)
    assert first.text == again.text
    assert first.text != other.text
    assert first.lines[0] == other.lines[0]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_table_is_what_it_says(table: Messy) -> None:
    columns = cells_of(table)
    assert list(columns)[-1] == table.target
    assert {len(cells) for cells in columns.values()} == {len(table.answers)} == {len(table.lines) - 1}
    assert {len(cells) for cells in table.cleaned.values()} == {len(table.answers)}
    if table.kind == "classes":
        assert columns[table.target] == table.answers.tolist()
        assert 2 <= len(set(table.answers)) <= 12
    else:
        assert [float(cell) for cell in columns[table.target]] == table.answers.tolist()


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_the_dirt_is_there(table: Messy) -> None:
    columns = cells_of(table)
    for name, pattern in DIRT[table.name].items():
        assert any(re.fullmatch(pattern, cell) for cell in columns[name]), f"{name}: no cell like {pattern}"


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_cleaned_columns_are_numbers_or_few_values(table: Messy) -> None:
    """What is left after cleaning has no ids: numbers, or categories that come more than once."""
    for name, cells in table.cleaned.items():
        if cells.dtype.kind == "O":
            assert len({cell for cell in cells if cell is not None}) < len(cells) / 2, name


@pytest.mark.slow
def test_rare_and_many_classes() -> None:
    rare = np.mean(medical(0).answers == "sepsis")
    assert 0.02 < rare < 0.04
    assert len(set(next(table for table in TABLES if table.name == "tickets").answers)) == 12


def test_the_leak_gives_the_answer_away() -> None:
    table = titanic(0, leak=True)
    saved = np.array([boat != "" for boat in cells_of(table)["Boat"]])
    assert np.mean(saved == (table.answers == "yes")) > 0.95
    assert "Boat" not in cells_of(titanic(0))


def test_gaps_stand_in_the_same_cells_of_the_file_and_of_the_cleaned_table() -> None:
    sheet = Sheet(np.random.default_rng(0), 200)
    sheet.add("x", np.arange(200.0), lambda value: f"{value:.0f} kg", gaps=0.3, blank=("", "n/a"))
    told = [cell.endswith("kg") for cell in sheet.cells["x"]]
    assert told == (~np.isnan(sheet.cleaned["x"])).tolist()
    assert {"", "n/a"} < set(sheet.cells["x"])


def test_cells_as_people_write_them() -> None:
    assert german(1234567.891) == "1.234.567,89"
    assert german(0.5) == "0,50"
    assert dollars(7.58) == "$7.58"
    assert dated("%d.%m.%Y")(0) == "01.01.1970"
    assert dated("%Y-%m-%dT%H:%M:%SZ")(1.25) == "1970-01-02T06:00:00Z"
    towns = places(np.random.default_rng(0), 4900)
    assert len(set(towns)) == 4900


def test_a_target_must_be_text_or_floats() -> None:
    with pytest.raises(TypeError, match="text or floats, not int64"):
        finished(Sheet(np.random.default_rng(0), 1), "t", "", "y", np.array([1]))


# ---- folds and judgements ---------------------------------------------------------------------------


@pytest.mark.slow
def test_each_row_is_tested_once_and_files_agree_with_frames() -> None:
    table = credit(0)
    assert np.sum(folds(table), axis=0).tolist() == [1] * len(table.answers)
    for variant in VARIANTS:
        dealt = list(tasks(table, variant))
        assert len(dealt) == FOLDS
        task, truth = dealt[0]
        learn, ask = task.files()
        assert learn.count("\n") == len(task.rows) + 1
        assert ask.count("\n") == len(task.others) + 1
        assert len(truth) == len(task.others)
        assert table.target not in task.rows


def test_judgements_by_hand() -> None:
    truth = np.array(["a", "b", "b", "new"], dtype=object)
    shares = Shares(["a", "b"], np.array([[0.5, 0.5], [0.25, 0.75], [1.0, 0.0], [0.5, 0.5]]))
    found = judged("classes", truth, shares)
    assert found["score"] == 0.5  # the first two; of equal shares the first class is taken
    assert found["loss"] == pytest.approx(-np.log([0.5, 0.75, 0.001, 0.001]).mean())
    numbers = judged("numbers", np.array([0.0, 2.0]), np.array([1.0, 1.0]))
    assert numbers == {"score": 0.0, "loss": 1.0}


def test_a_method_that_fails_is_told_and_the_others_go_on() -> None:
    def fails(_: Any) -> Any:
        raise ValueError("this column\nand more")

    dealt = list(tasks(credit(0), VARIANTS[1]))[:1]
    assert messy._over_folds(fails, "classes", dealt) == {"skipped": "failed: this column"}


# ---- the pages --------------------------------------------------------------------------------------


def figure(ours: float, peer: float, name: str = "t") -> dict[str, Any]:
    def of(score: float) -> dict[str, Any]:
        return {"scores": [score] * FOLDS, "losses": [1 - score] * FOLDS, "cpu": 0.5}

    found = {messy_report.FIT: of(ours), "YDF CART": of(peer), "rpart": {"skipped": "not installed"}}
    results = {variant: dict(found) for variant in VARIANTS}
    return {"table": name, "about": "dirt", "rows": 10, "columns": 3, "kind": "classes", "results": results}


def test_the_marks_name_who_is_ahead() -> None:
    close = messy_report.marks([figure(0.80, 0.805)])
    assert "on 1 of 1 tables" in close
    assert "More than a point behind" not in close
    behind = messy_report.marks([figure(0.80, 0.9, "clicks"), figure(0.9, 0.7)])
    assert "on 1 of 2 tables" in behind
    assert "clicks (YDF CART is 10.0 points ahead)" in behind
    assert messy_report.marks([]) == ""


def test_the_page_has_the_part_that_the_user_guide_includes() -> None:
    page = messy_report.page(ORIGIN, [figure(0.8, 0.7)])
    begin, end = messy_report.SHORT
    assert page.index(begin) < page.index("**0.800 ± 0.000**") < page.index(end)
    assert "rpart has no figure of t, as read; t, cleaned by hand: not installed." in page


def test_only_figures_of_the_same_version_are_reused(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    from dataclasses import replace

    from benchmarks import keeping

    monkeypatch.setattr(keeping, "RESULTS", tmp_path)
    assert reusing.kept("messy", {}, {}) == []
    keeping.save("messy", replace(ORIGIN, versions={"ydf": "1", "R": "4"}), {"tables": [figure(0.8, 0.7)]})
    (same,) = reusing.kept("messy", {"ydf": "1"}, {"YDF CART": "ydf", "rpart": "rpart"})
    assert set(same["results"]["as read"]) == {"YDF CART"}
    (other,) = reusing.kept("messy", {"ydf": "2"}, {"YDF CART": "ydf"})
    assert other["results"]["as read"] == {}


# ---- categories -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_tables_with_many_names() -> None:
    made = list(category_tables.tables(0, real=False))
    assert len(made) >= 8
    assert {table.role for table in made} == {"none", "noise", "informative"}
    again = list(category_tables.tables(0, real=False))
    for table, same in zip(made, again, strict=True):
        assert table.target.tolist() == same.target.tolist()
        assert {len(cells) for cells in table.columns.values()} == {category_tables.ROWS}
        if table.role != "none":
            assert category_tables.many_valued(table.columns) == (category_tables.NAME,)
            assert category_tables.NAME not in category_tables.without(table).columns
    own = next(table for table in made if "12,000 names" in table.name)
    assert len(set(own.columns["name"])) == category_tables.ROWS


def test_the_parts_of_a_table_share_no_row() -> None:
    table = Table("noise, t", {"x": np.arange(100.0)}, np.arange(100), "classes")
    parts = category_tables.split(table, 0)
    assert [len(part.target) for part in parts] == [60, 20, 20]
    assert sorted(np.concatenate([part.columns["x"] for part in parts])) == list(range(100))


def test_scores_by_hand() -> None:
    classes = Table("t", {}, np.array([0, 1, 1, 1]), "classes")
    assert category_methods.score(classes, np.array([0, 1, 0, 0])) == 0.5
    numbers = Table("t", {}, np.array([0.0, 2.0]), "numbers")
    assert category_methods.score(numbers, np.array([0.0, 1.0])) == 0.5


def test_our_methods_answer_every_row_of_a_small_table() -> None:
    random = np.random.default_rng(0)
    names = np.array([f"n{code}" for code in random.integers(20, size=300)], dtype=object)
    x = random.random(300)
    for kind, target in (("classes", (x > 0.5).astype(int)), ("numbers", x * 2)):
        parts = category_tables.split(Table("noise, t", {"x": x, "name": names}, target, kind), 0)
        for method in (category_methods.plain, category_methods.default):
            assert category_methods.score(parts[2], method(*parts)) > 0.8


def test_marks_of_noise_and_of_informative_names() -> None:
    def of(role: str, base: float, plain: float, ours: float) -> dict[str, Any]:
        scores = {categories.WITHOUT: base, categories.PLAIN: plain, categories.OURS: ours}
        results = {name: {"scores": [score], "cpu": 0.1} for name, score in scores.items()}
        return {"table": f"{role}, x", "role": role, "kind": "classes", "results": {"test": results}}

    told = categories.marks(
        [
            of("noise", 0.85, 0.6, 0.845),
            of("noise", 0.85, 0.6, 0.83),
            of("informative", 0.7, 0.8, 0.796),
            of("informative", 0.7, 0.8, 0.75),
            of("informative", 0.7, 0.65, 0.7),
        ]
    )
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in told.splitlines()[2:]]
    assert [line[1] for line in lines] == [
        "costs 0.50 points", "costs 2.00 points", "keeps 96.0%", "keeps 50.0%", "+0.00 points",
    ]  # fmt: skip
    assert [line[3] for line in lines] == ["met", "**missed**", "met", "**missed**", "met"]
