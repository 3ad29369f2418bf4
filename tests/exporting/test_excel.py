"""Excel workbooks: formulas that answer as the tree, run by two engines; names that attack; limits of Excel.

LibreOffice and Excel compare numbers by 15 digits and know no infinite ones: rows come from `representable`.
The engine of the package formulas compares exactly, but rounds cells that it reads from a file to 15
decimals, so that it is given the values of rows by Python.
"""

from __future__ import annotations

import datetime
import io
import math
import re
import shutil
import sys
import zipfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.exporting.kinds_of_trees import KINDS, summing_tree, tree_of
from tests.exporting.trees import HOSTILE, chain, edges_tree, large_tree, mixed_table, mixed_tree
from treewright import Among, Below, Branch, Column, Leaf, Schema, Target, Tree, encode, export, grow
from treewright.cli import main
from treewright.exporting import excel
from treewright.exporting._check.probes import probes
from treewright.exporting._excel import libreoffice, sheets, values
from treewright.exporting._excel.formulas import Layout, nested_formulas
from treewright.exporting._tree import Code

openpyxl = pytest.importorskip("openpyxl")
needs_libreoffice = pytest.mark.skipif(
    not any(map(shutil.which, libreoffice.PROGRAMS)), reason="LibreOffice is not installed"
)


def book_of(tree: Tree, **options: Any) -> Any:
    return openpyxl.load_workbook(io.BytesIO(export(tree, "excel", **options)))


def cells_of(book: Any) -> list[Any]:
    return [cell for page in book for row in page.iter_rows() for cell in row if cell.value is not None]


@cache
def flowers() -> Tree:
    table = {"petal": [1.4, 1.3, 4.7, 4.5, 6.0], "colour": ["blue", "blue", "violet", "blue", "violet"]}
    return grow(encode(table, ["setosa", "setosa", "versicolor", "versicolor", "virginica"]))


def branching(test: Any, column: Column, classes: Any = ("no", "yes")) -> Tree:
    return Tree.write(Schema((column,), (Target("y", classes),)), Branch(test, Leaf([3, 0]), Leaf([1, 4])))


# ---- what the sheets say -----------------------------------------------------------------------------------


def test_a_small_tree_can_be_read() -> None:
    book = book_of(flowers())
    assert book.sheetnames == ["Predict", "Tree", "Columns", "Read me"]
    page = book["Predict"]
    headings = ["petal", "prediction", "P(setosa)", "P(versicolor)", "P(virginica)", "leaf", "check"]
    assert [cell.value for cell in page[1]] == headings
    tests = 'IF(AND(A2<>"",A2<=3),{},IF(OR(A2="",A2<=5),{},{}))'
    assert (
        page["B2"].value
        == f'=IF($G2="ok",{tests.format(*map(values.text, flowers().schema.targets[0].classes))},"")'
    )
    assert page["F2"].value == f'=IF($G2="ok",{tests.format(1, 3, 4)},"")'
    assert page["C2"].value == '=IF($G2="ok",INDEX(Tree!$I$2:$I$6,$F2+1),"")'
    assert page["C2"].number_format == "0.0%"
    assert page["A2"].value == 5
    assert page.freeze_panes == "A2"
    assert page.max_row == 101
    rows = [[cell.value for cell in row] for row in book["Tree"].iter_rows(max_col=8)]
    assert rows[1:3] == [
        [0, "petal", "petal <= 3", 1, 2, 2, 5, None],
        [1, None, None, None, None, None, 2, "setosa"],
    ]
    assert "3 leaves and was grown on 5 training rows." in book["Read me"]["A2"].value


@pytest.mark.slow
def test_a_large_tree_is_looked_up() -> None:
    book = book_of(mixed_tree("numbers"), rows=3)
    assert book.sheetnames == ["Predict", "Tree", "Columns", "Walk", "Read me"]
    assert book["Walk"].max_column == len(Code(mixed_tree("numbers")).used) + 1 + mixed_tree("numbers").depth
    assert max(len(str(cell.value)) for cell in cells_of(book)) < values.LONGEST_FORMULA
    assert book_of(flowers(), style="tables").sheetnames == book.sheetnames


def test_all_columns_and_rows_to_start_with() -> None:
    tree = mixed_tree("texts", max_leaf_nodes=4)
    table = {name: column[:5] for name, column in mixed_table().items()} | {"infinite": [0.3, 0, 1, 2, 1e9]}
    page = book_of(tree, columns="all", examples=table, rows=2)["Predict"]
    assert [page.cell(1, place + 1).value for place in range(8)] == list(table)
    assert page.max_row == 6
    place = list(table).index("when") + 1
    assert page.cell(3, place).value == table["when"][1].astype("M8[ms]").item()
    place = list(table).index("text") + 1
    assert [page.cell(row, place).value for row in range(2, 7)] == table["text"]
    assert page.cell(2, place).number_format == "@"
    [unseen] = (
        row.value for row in book_of(tree, examples={**table, "text": ["king"] * 5})["Predict"]["B"][1:2]
    )
    assert unseen == "king"


def test_the_same_tree_gives_the_same_bytes() -> None:
    first, tree = export(flowers(), "excel"), flowers()
    assert export(tree, "excel") == first
    with zipfile.ZipFile(io.BytesIO(first)) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert archive.read("docProps/core.xml").count(b"2000-01-01T00:00:00Z") == 2


# ---- values in formulas ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value", [0.1 + 0.2, 1 / 3, -1 / 3, 1e22, 123456789.12345679, 2.0**-30 / 3, 9007199254740993.0, 1e-300]
)
def test_numbers_of_17_digits_are_sums_of_two(value: float) -> None:
    written = values.number(value)
    assert eval(written) == value
    assert all(
        len(re.sub(r"E.*|\D", "", part).lstrip("0")) <= 15
        for part in re.findall(r"[\d.]+(?:E.\d+)?", written)
    )


def test_numbers_that_excel_does_not_know() -> None:
    assert values.number(math.inf) == values.number(1.7e308) == "9.99999999999999E+307"
    assert values.number(-math.inf) == "-9.99999999999999E+307"
    assert values.number(5e-324) == values.number(-0.0) == "0"
    assert values.number(-5e-324) == "-2.22507385850721E-308"


def test_texts_in_formulas() -> None:
    assert values.text("") == '""'
    assert values.text("_x0041_") == '"_"&"x0041_"'
    assert values.text("\r\n") == "CHAR(13)&CHAR(10)"
    long = values.text('"' * 500)
    assert max(map(len, re.findall('"((?:[^"]|"")*)"', long))) <= 2 * 120
    assert long.replace('"&"', "").count('"') == 1002


def test_times_are_dates() -> None:
    noon = datetime.datetime(2024, 5, 17, 12)
    for moment, written in (
        (noon, "A2<=DATE(2024,5,17)+0.5000000057"),
        (noon.replace(hour=0), "A2<=DATE(2024,5,17)),"),
    ):
        ticks = (moment - datetime.datetime(1970, 1, 1)) / datetime.timedelta(microseconds=1)
        tree = branching(Below("when", ticks), Column("when", "time"))
        page = book_of(tree)["Predict"]
        assert written in page["B2"].value
        assert page["A2"].value == moment
        assert page["A2"].number_format == "yyyy-mm-dd hh:mm:ss"


# ---- names that attack -------------------------------------------------------------------------------------

TRAPS = [
    "=1+1", "+1", "-1", "@SUM(A1)", "=cmd|' /C calc'!A0", "#N/A", "TRUE", "12", "*", "?", "~*", "a", "A",
    "_x0041_", "it's", 'quo"te', "<b>&amp;", " a", "a ", "\ta", "bell\a", "two\r\nlines", "x" * 300, "ß",
    "SS", "Ångström", "東京 🌲",
]  # fmt: skip


def trap_tree() -> Tree:
    """A column, categories and classes that Excel could take for something else."""
    columns = (Column("=2+3", "category", tuple(TRAPS)), Column("@x"), Column("col\x01_x0042_"))
    schema = Schema(columns, (Target("-y", tuple(TRAPS)),))
    node: Branch | Leaf = Leaf([1.0] * len(TRAPS))
    for place in range(len(TRAPS) - 1):
        weights = [float(k == place) for k in range(len(TRAPS))]
        node = Branch(Among("=2+3", TRAPS[place : place + 1 + place % 3]), Leaf(weights), node)
    node = Branch(
        Below("col\x01_x0042_", 1.0), node, Branch(Below("@x", 0.5), Leaf([2.0] * len(TRAPS)), node)
    )
    return Tree.write(schema, node)


@pytest.mark.parametrize("style", ["nested", "tables"])
def test_only_what_we_write_is_a_formula(style: str) -> None:
    tree = (
        trap_tree()
        if style == "tables"
        else branching(Among("=2+3", ["=1+1"]), trap_tree().schema.columns[0], ("=A1", "@b"))
    )
    book = book_of(tree, style=style, rows=2)
    begin = ("=IF(",)
    for cell in cells_of(book):
        if cell.data_type == "f":
            assert cell.value.startswith(begin)
        elif isinstance(cell.value, str) and cell.value[0] in "=+-@":
            assert cell.data_type == "s"
            assert cell.quotePrefix
    assert {cell.data_type for cell in book["Columns"]["A"]} == {"s"}
    assert {"=1+1", "#N/A", "TRUE", "12"} <= {cell.value for cell in book["Columns"]["A"]}
    assert "_x005F_x0041_" in {cell.value for cell in book["Columns"]["A"]}  # as Excel itself writes it
    assert "bell_x0007_" in {cell.value for cell in book["Columns"]["A"]}


def test_names_that_are_long_or_empty() -> None:
    schema = Schema((Column(""), Column("x" * 40_000), Column("\ud800\0")), (Target("", ("a", "b")),))
    node: Any = Leaf([1, 2])
    for name in schema.names:
        node = Branch(Below(name, 1.0), Leaf([9, 1]), node)
    headings = [cell.value for cell in book_of(Tree.write(schema, node))["Predict"][1]]
    assert headings[0] == "(no name)"
    assert headings[1] == f"{'x' * 1000}… (40,000 characters)"
    assert headings[2] == "\\ud800\\x00"


# ---- refusals ----------------------------------------------------------------------------------------------


def test_refusals_name_the_remedy() -> None:
    with pytest.raises(ValueError, match=r"excel sends a row to one leaf.*export it as python"):
        export(tree_of("divided", "texts"), "excel")
    with pytest.raises(ValueError, match=r"category '', an empty text, .*rename it"):
        export(branching(Among("c", [""]), Column("c", "category", ("", "a"))), "excel")
    for labels, words in (
        (("a\0", "b"), "no cell of Excel can hold"),
        (("x" * 32_768, "b"), "no cell of Excel can hold"),
        ((1, 2**53 + 1), "keeps 15 digits of a number: make it a text"),
        ((0.1 + 0.2, 1.0), "keeps 15 digits of a number"),
        ((math.inf, 1.0), "keeps 15 digits of a number"),
    ):
        with pytest.raises(ValueError, match=words):
            export(branching(Among("c", labels[:1]), Column("c", "category", labels)), "excel")
        with pytest.raises(ValueError, match=words):
            export(branching(Below("x", 1.0), Column("x"), labels), "excel")
    for options, words in (
        ({"style": "round"}, "style is 'round'"),
        ({"columns": "some"}, "columns is 'some'; known: tested, all"),
        ({"rows": 0}, "room for 1 to 1,048,575"),
        ({"rows": 2**20}, "room for 1 to 1,048,575"),
        (
            {"examples": {"petal": [math.inf], "colour": ["blue"]}},
            "row 0 of examples has inf in column 'petal'",
        ),
    ):
        with pytest.raises(ValueError, match=words):
            export(flowers(), "excel", **options)


@pytest.mark.slow
def test_limits_of_excel(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"up to 12,000 tests in a row, .* say rows= fewer, prune the tree"):
        export(chain(12_000), "excel")
    with pytest.raises(ValueError, match=r"too large for style='nested'.*use style='tables'"):
        export(mixed_tree("texts"), "excel", style="nested")
    assert book_of(chain(100), rows=2).sheetnames[3] == "Walk"
    many = tuple(f"c{i}" for i in range(400))
    tree = branching(Among("c", many[:300]), Column("c", "category", many + tuple("abcdefgh" * 50)[:8]))
    assert "Walk" in book_of(tree).sheetnames  # OR takes 255 conditions
    with pytest.raises(ValueError, match="compared with 300 categories"):
        export(
            branching(
                Among("c", many[:300]), Column("c", "category", many + tuple(f"d{i}" for i in range(300)))
            ),
            "excel",
            style="nested",
        )
    wide = summing_tree(tuple(np.random.default_rng(0).normal(size=8).tolist()), 0.0)
    schema = Schema(tuple(Column(f"x{j}") for j in range(400)), wide.schema.targets)
    wide = replace(wide, schema=schema, feature=np.where(wide.feature < 0, -1, 400).astype(np.int32))
    direction = replace(
        wide.directions[0], columns=tuple(range(400)), weights=tuple(1 / 3 for _ in range(400))
    )
    with pytest.raises(ValueError, match=r"the sum .* takes a formula of .* Excel reads up to 8,192"):
        export(replace(wide, directions=(direction,)), "excel")
    monkeypatch.setattr("treewright.exporting._excel.sheets.LAST_COLUMN", 8)
    with pytest.raises(ValueError, match="prune the tree, or leave columns= out"):
        export(flowers(), "excel")


def test_check_without_values() -> None:
    """A row without any value has no prediction in Excel."""
    with pytest.raises(ValueError, match="check= has no row with a value"):
        export(flowers(), "excel", check={"petal": [np.nan], "colour": [None]})


def test_openpyxl_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r"needs openpyxl: pip install 'treewright\[excel\]'"):
        export(flowers(), "excel")


def test_check_needs_libreoffice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(ImportError, match=r"LibreOffice .*apt-get install libreoffice-calc-nogui"):
        export(flowers(), "excel", check=True)


def test_the_command_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    flowers().save(tmp_path / "flowers.json")
    out = tmp_path / "flowers.xlsx"
    main(["export", str(tmp_path / "flowers.json"), "-o", str(out), "--option", "rows=7"])
    assert f"Written to {out} as excel" in "".join(capfd.readouterr())
    assert out.read_bytes() == export(flowers(), "excel", rows=7)


# ---- the answers, by the engine of the package formulas ----------------------------------------------------


def leaves_by_formulas(tree: Tree, table: dict[str, Any]) -> list[int]:
    """The leaf of each row by the nested formula."""
    formulas, schedula = pytest.importorskip("formulas"), pytest.importorskip("schedula")
    layout = Layout(Code(tree))
    nested = nested_formulas(layout, "nested")
    run = formulas.Parser().ast(f"={nested[max(nested)]}".replace(values.ROW, "2"))[1].compile()
    cells = excel._example_cells(layout, table)
    rows = zip(*(cells[ord(cell[0]) - ord("A")] for cell in run.inputs), strict=True)
    return [int(run(*(schedula.EMPTY if value is None else value for value in row))) for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["texts", "integers", "surrogates", "many branches", "edges"])
def test_nested_formulas_are_exact(kind: str) -> None:
    """Also next to thresholds, where Excel and LibreOffice see no difference."""
    tree = {"edges": edges_tree}.get(kind, lambda: tree_of(kind, "texts", 9))()
    if kind in ("texts", "integers"):
        tree = mixed_tree(kind, max_leaf_nodes=9)
    table = probes(tree, 300)
    finite = {
        name: np.clip(column, -1e307, 1e307) if getattr(column, "dtype", None) == np.float64 else column
        for name, column in table.items()
    }
    kept = np.ones(300, np.bool_)
    for name, column in finite.items():
        if isinstance(column, np.ndarray) and column.dtype.kind == "f":
            kept &= (np.abs(column) > 1e-290) | (column == 0) | np.isnan(column)
        elif isinstance(column, np.ndarray):
            finite[name] = column.astype("M8[ms]").astype("M8[us]")
    finite = {name: libreoffice.take(column, np.flatnonzero(kept)) for name, column in finite.items()}
    assert kept.sum() > 100
    assert leaves_by_formulas(tree, finite) == tree.apply(encode(finite, schema=tree.schema)).tolist()


# ---- the answers, by LibreOffice ---------------------------------------------------------------------------


def one_line_end(label: Any) -> Any:
    r"""A label; LibreOffice saves \r\n of some cells as \n."""
    return libreoffice.decode(label).replace("\r\n", "\n") if isinstance(label, str) else label


def agree(cases: list[tuple[Tree, dict[str, Any], dict[str, Any]]]) -> int:
    """Compare predictions, probabilities and leaves of workbooks with those of trees."""
    cases = [(tree, excel.representable(tree, table), options) for tree, table, options in cases]
    books = [export(tree, "excel", rows=1, examples=table, **options) for tree, table, options in cases]
    rows, total = libreoffice.calculate(books), 0
    for tree, table, _ in cases:
        n_rows = len(next(iter(table.values())))
        found = [next(rows) for _ in range(n_rows)]
        layout = Layout(Code(tree))
        first = len(layout.inputs) + len(layout.code.sums)
        outputs = list(zip(*found, strict=True))[first : first + len(layout.outputs)]
        assert set(outputs[-1]) == {"ok"}
        data = encode(table, schema=tree.schema)
        assert list(outputs[-2]) == tree.apply(data).tolist()
        expected = np.asarray(tree.predict(table)).reshape(n_rows, -1)
        for k in range(expected.shape[1]):
            if tree.schema.predicts_classes:
                assert list(map(one_line_end, outputs[k])) == list(map(one_line_end, expected[:, k].tolist()))
            else:
                np.testing.assert_allclose(np.array(outputs[k], float), expected[:, k], 1e-12, 1e-300)
        if tree.schema.predicts_classes:
            shares = np.concatenate([part[tree.apply(data)] for part in tree.proportions], axis=1)
            np.testing.assert_allclose(
                np.array(outputs[expected.shape[1] : -2], float).T, shares, 1e-12, 1e-300
            )
        total += n_rows
    return total


STYLES: tuple[dict[str, Any], ...] = ({}, {"style": "tables"})


@needs_libreoffice
@pytest.mark.slow
def test_trees_of_every_target() -> None:
    trees = [
        mixed_tree(name, max_leaf_nodes=12)
        for name in ("texts", "bools", "integers", "numbers", "several", "pairs")
    ]
    trees += [mixed_tree("texts"), mixed_tree("texts", max_leaf_nodes=2).collapse([0])]
    trees.append(mixed_tree("bools", max_leaf_nodes=12).with_costs([[0, 9], [1, 0]]))
    assert agree([(tree, probes(tree, 120), style) for tree in trees for style in STYLES]) > 2000


@needs_libreoffice
@pytest.mark.slow
def test_trees_of_every_kind() -> None:
    trees = [
        tree_of(kind, target, 12)
        for kind in KINDS
        if "divided" not in kind
        for target in ("texts", "numbers")
    ]
    trees.append(edges_tree())
    assert agree([(tree, probes(tree, 100), style) for tree in trees for style in STYLES]) > 1500


@needs_libreoffice
@pytest.mark.slow
def test_categories_that_excel_confuses() -> None:
    """Case, wildcards, numbers and truth values as texts, spaces, characters that XML lacks."""
    tree = trap_tree()
    table = {
        "=2+3": [*TRAPS, *map(str.swapcase, TRAPS), *(f"{trap}?" for trap in TRAPS), "never", None] * 3,
        "@x": np.tile([0.5, 0.75, np.nan], len(TRAPS) * 3 + 2),
        "col\x01_x0042_": np.repeat([1.0, 2.0, np.nan], len(TRAPS) * 3 + 2),
    }
    small = branching(Among("=2+3", TRAPS[::2]), tree.schema.columns[0], ("=A1", "two\r\nlines"))
    one = {"=2+3": table["=2+3"]}
    cases = [(tree, table, {"style": "tables"})] + [(small, one, style) for style in STYLES]
    for labels in ((0, 3, -7), (0.5, 2.0, 0.0), (False, True)):
        tree = branching(Among("c", labels[:1]), Column("c", "category", labels), labels[:2])
        cells = [*labels, None, *((4, 0.25) if labels[0] is not False else ())]
        cases += [(tree, {"c": cells}, style) for style in STYLES]
    assert agree(cases) > 300


@needs_libreoffice
@pytest.mark.slow
def test_linear_leaves_and_large_trees() -> None:
    rng = np.random.default_rng(0)
    table = {
        "a": rng.normal(size=400).round(3),
        "b": rng.normal(size=400).round(3),
        "c": rng.choice(["u", "v"], 400),
    }
    table["b"][::9] = np.nan
    linear = grow(
        encode(table, np.nan_to_num(table["b"]) * (table["a"] > 0) + table["a"]),
        leaf="linear",
        max_leaf_nodes=8,
    )
    assert linear.linear is not None
    large = large_tree(2001)
    many = [(linear, table, style) for style in STYLES] + [(large, probes(large, 60), {})]
    assert agree(many) > 700


@needs_libreoffice
@pytest.mark.slow
def test_values_of_another_kind_have_no_prediction() -> None:
    columns = (
        Column("n"),
        Column("t", "time"),
        Column("f", "category", (False, True)),
        Column("c", "category", ("a", "b")),
    )
    schema = Schema(columns, (Target("y", ("no", "yes")),))
    node: Any = Leaf([1, 2])
    for test in (Below("n", 1.0), Below("t", 0.0), Among("f", [True]), Among("c", ["a"])):
        node = Branch(test, Leaf([9, 1]), node)
    tree = Tree.write(schema, node)
    cells = [
        ((1.0, 1.0, True, "a"), "ok"),
        (("1", 1.0, True, "a"), "n must be a number"),
        ((1.0, "2024-05-17", True, "a"), "t must be a date or time"),
        ((1.0, 1.0, "TRUE", "a"), "f must be TRUE or FALSE"),
        ((None, None, None, None), None),
        ((None, None, None, "new"), "ok"),
        ((1.0, 1.0, True, 5.0), "ok"),
    ]
    cases = [(tree, {}), (tree.with_missing("error"), {5: "f is missing"})]
    books, examples = [], [list(column) for column in zip(*(row for row, _ in cells), strict=True)]
    for checked, _ in cases:
        pages = sheets.sheets(Layout(Code(checked)), "auto", len(cells), examples)
        books.append(excel.workbook_bytes(pages))
    rows = list(libreoffice.calculate(books))
    for place, (_, words) in enumerate(cases):
        own = rows[place * len(cells) : (place + 1) * len(cells)]
        expected = [words.get(row, text) for row, (_, text) in enumerate(cells)]
        assert [row[-1] or None for row in own] == expected
        assert [bool(row[4]) for row in own] == [text == "ok" for text in expected]


@needs_libreoffice
@pytest.mark.slow
def test_check_runs_the_workbook() -> None:
    several = {"style": "tables", "columns": "all"}
    for tree, options in ((flowers(), {}), (tree_of("surrogates", "numbers"), several)):
        assert export(tree, "excel", check=True, **options) == export(tree, "excel", **options)


@needs_libreoffice
@pytest.mark.slow
def test_check_finds_what_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treewright.exporting._excel.formulas.number", lambda value: "3.5")
    with pytest.raises(
        ValueError, match="the excel export answers 'setosa' where the model answers 'versicolor'"
    ):
        export(flowers(), "excel", check={"petal": [1.0, 3.25, 9.0], "colour": ["blue"] * 3})


def test_hostile_names_make_no_broken_file() -> None:
    names = tuple(name for name in HOSTILE if name)
    tree = branching(Among("c", names[:3]), Column("c", "category", names), names[:2])
    assert len(cells_of(book_of(tree, style="tables"))) > 100
