"""Numbers, dates and truth values as text: recognised, read exactly, told, and read the same way later."""

from __future__ import annotations

import datetime as dt
import math
import pickle
import warnings
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treewright import (
    AdviceWarning,
    Column,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    Schema,
    encode,
    grow,
    load,
)
from treewright.encoding import Dataset, encode_with_advice
from treewright.encoding.schema import Target
from treewright.encoding.text import TextFormat, is_missing
from treewright.encoding.text.advice import fold_advice
from treewright.encoding.text.numbers import CONVENTIONS
from treewright.encoding.text.recognise import Recognition, recognise
from treewright.tree.validate import check_schema

NAN = float("nan")


def recognised(cells: list[str | None], **options: Any) -> Recognition:
    labels = sorted({cell for cell in cells if cell is not None})
    codes = np.array([-1 if cell is None else labels.index(cell) for cell in cells], np.int32)
    return recognise(labels, codes, name="c", **options)


def recognised_or_refused(cells: list[str], kind: Any) -> Recognition | None:
    """None where the kind that was asked for is refused, by the name of the column."""
    if kind is None:
        return recognised(list(cells))
    with suppress(ValueError):
        return recognised(list(cells), kind=kind)
    with pytest.raises(ValueError, match="column 'c'"):
        recognised(list(cells), kind=kind)
    return None


def column(cells: list[str | None], **options: Any) -> tuple[Column, list[Any], list[str]]:
    """The column and array that a list of cells becomes, and what is said about it."""
    data, advice = encode_with_advice({"c": cells, "one": np.ones(len(cells))}, **options)
    return data.schema.columns[0], data.columns[0].tolist(), [each.python_text for each in advice]


def moment(*fields: int) -> float:
    return (dt.datetime(*fields) - dt.datetime(1970, 1, 1)) / dt.timedelta(microseconds=1)


# ---- every kind of dirt, from every library ----------------------------------------------------------

DIRTY: dict[str, tuple[list[str | None], TextFormat | None, list[float]]] = {
    "dollars": (
        ["$7.58", "-$1,234.50", "($3.00)", "$ 12", "n/a"],
        TextFormat("number", ".", ",", ("$",)),
        [7.58, -1234.5, -3, 12, NAN],
    ),
    "euros": (
        ["2.379,59", "7", "1.000.000", "-0,5", None],
        TextFormat("number", ",", "."),
        [2379.59, 7, 1e6, -0.5, NAN],
    ),
    "years": (
        ["12 yrs", "13 years", " 14 Jahre", "15yr", "?"],
        TextFormat("number", affixes=("Jahre", "years", "yr", "yrs")),
        [12, 13, 14, 15, NAN],
    ),
    "percent": (
        ["5 %", "7.5%", "-3 %", "#DIV/0!", "0%"],
        TextFormat("number", affixes=("%",)),
        [5, 7.5, -3, NAN, 0],
    ),
    "swiss": (
        ["1'234.5", "2’000", "CHF 12'000.05", "7.0", "8"],
        TextFormat("number", ".", "'", ("CHF",)),
        [1234.5, 2000, 12000.05, 7, 8],
    ),
    "spaces": (
        ["1 234,5", "12\u00a0345,6", "1\u202f000\u202f000", "1", "−2"],
        TextFormat("number", ",", " "),
        [1234.5, 12345.6, 1e6, 1, -2],
    ),
    "plain": (
        ["12", "3.5", "1e5", "-inf", "NA"],
        TextFormat("number"),
        [12, 3.5, 1e5, -math.inf, NAN],
    ),
    "german dates": (
        ["26.09.2017", "1.2.2018", "03.04.2021", "-", None],
        TextFormat("time", date_format="%d.%m.%Y"),
        [moment(2017, 9, 26), moment(2018, 2, 1), moment(2021, 4, 3), NAN, NAN],
    ),
    "american times": (
        ["9/26/2017 1:05 PM", "01/02/2018 12:30 AM", "NaT", "1/1/1969", "12/31/1969 11:59 pm"],
        TextFormat("time", date_format="%m/%d/%Y %I:%M %p"),
        [
            moment(2017, 9, 26, 13, 5),
            moment(2018, 1, 2, 0, 30),
            NAN,
            moment(1969, 1, 1),
            moment(1969, 12, 31, 23, 59),
        ],
    ),
    "iso": (
        ["2021-01-02", "2021-01-02T10:00:00.25", "2021-01-02T10:00", "9999-12-31", ""],
        TextFormat("time", date_format="%Y-%m-%dT%H:%M:%S.%f"),
        [
            moment(2021, 1, 2),
            moment(2021, 1, 2, 10, 0, 0, 250000),
            moment(2021, 1, 2, 10),
            moment(9999, 12, 31),
            NAN,
        ],
    ),
    "month names": (
        ["26-Sep-17", "1-Okt-68", "1-Dez-69", "05-may-99", "null"],
        TextFormat("time", date_format="%d-%b-%y"),
        [moment(2017, 9, 26), moment(2068, 10, 1), moment(1969, 12, 1), moment(1999, 5, 5), NAN],
    ),
    "truths": (["TRUE", "ja", "nein", "N/A", "no"], TextFormat("bool"), [1, 1, 0, -1, 0]),
    "zip": (["01234", "94110", "10115", "00501", None], None, [1, 3, 2, 0, -1]),
    "two words": (["yes", "no", "no", "n/a", None], None, [2, 1, 1, 0, -1]),
    "cabins": (["C85", "E46", "G6", "C123", "B42"], None, [2, 3, 4, 1, 0]),
}
LIBRARIES = ["dict", "rows", "object", "numpy text", "pandas", "pandas string", "polars", "pyarrow"]


def table_of(library: str, cells: dict[str, list[str | None]]) -> Any:
    match library:
        case "dict":
            return cells
        case "rows":
            return [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
        case "object":
            return {name: np.array(values, object) for name, values in cells.items()}
        case "numpy text":
            return {
                name: np.array(["" if v is None else v for v in values]) for name, values in cells.items()
            }
        case "pandas":
            return pytest.importorskip("pandas").DataFrame(cells)
        case "pandas string":
            return pytest.importorskip("pandas").DataFrame(cells).astype("string")
        case "polars":
            return pytest.importorskip("polars").DataFrame(cells)
        case _:
            return pytest.importorskip("pyarrow").table(cells)


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_kind_of_dirt(library: str) -> None:
    table = table_of(library, {name: cells for name, (cells, _, _) in DIRTY.items()})
    with pytest.warns(AdviceWarning) as told:
        data = encode(table)
    assert len(told) == 3  # the numbers are told together, so are the dates; one of truth values
    for found, array, (name, (cells, wanted, values)) in zip(
        data.schema.columns, data.columns, DIRTY.items(), strict=True
    ):
        assert found.text == wanted, name
        if wanted is not None:
            assert array.tolist() == pytest.approx(values, abs=0, rel=0, nan_ok=True), name
        elif not (library == "numpy text" and None in cells):  # numpy has no missing text
            assert array.tolist() == values, name
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the same rows, read by the schema: nothing new to say
        again = encode(table, schema=data.schema)
    for one, two in zip(data.columns, again.columns, strict=True):
        np.testing.assert_array_equal(one, two)


def test_what_declares_categories_stays_so() -> None:
    pd, pl, pa = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    cells = ["1", "2", "10"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for declared in (
            pd.Categorical(cells),
            pd.Series(cells, dtype="category"),
            pl.Series(cells, dtype=pl.Categorical),
            pl.Series(cells, dtype=pl.Enum(cells)),
            pa.array(cells).dictionary_encode(),
        ):
            data = encode({"c": declared})
            assert data.schema.columns[0].kind == "category"
            assert set(data.schema.columns[0].categories) == set(cells)
        assert encode({"c": [True, False]}).schema.columns[0].text is None
        assert encode({"c": cells}, kinds=["category"]).schema.columns[0].categories == ("1", "10", "2")


# ---- any value in any convention comes back ----------------------------------------------------------


def written(value: float, decimal: str, thousands: str, digits: int) -> str:
    text = f"{abs(value):,.{digits}f}" if thousands else f"{abs(value):.{digits}f}"
    text = text.translate({ord(","): thousands, ord("."): decimal})
    return "-" + text if value < 0 else text


AFFIXES = [("", ""), ("$", ""), ("", " €"), ("EUR ", ""), ("", " kg"), ("", "%"), ("", " km/h"), ("", "°C")]


@pytest.mark.slow
@given(
    convention=st.sampled_from(CONVENTIONS),
    affix=st.sampled_from(AFFIXES),
    values=st.lists(st.integers(-(10**11), 10**11), min_size=1, max_size=8),
    digits=st.sampled_from([0, 1, 2, 4]),
)
def test_numbers_come_back_in_any_convention(
    convention: tuple[str, str], affix: tuple[str, str], values: list[int], digits: int
) -> None:
    decimal, thousands = convention
    numbers = [value / 10**digits for value in values]
    cells = [written(each, decimal, thousands, digits) for each in numbers]
    # A cell that shows the convention; without it "1.234" would have two meanings.
    shows = written(-1234567.5, decimal, thousands, 1)
    cells = [f"{affix[0]}{cell}{affix[1]}" for cell in [*cells, shows]]
    found = recognised(cells)
    assert found.format is not None
    assert (found.format.decimal, found.format.thousands) == convention
    assert found.n_unread == 0
    # Exactly what Python makes of the digits, to the last bit.
    exact = [float(f"{each:.{digits}f}") for each in numbers]
    assert found.format.values(cells).tolist() == [*exact, -1234567.5]
    assert found.format.values(["", "n/a", "x", "1_000", "１２"]).tolist() == pytest.approx(
        [NAN] * 5, nan_ok=True
    )


@given(st.lists(st.floats(allow_nan=False), min_size=1))
def test_any_float_comes_back_from_its_repr(values: list[float]) -> None:
    assert TextFormat("number").values([repr(value) for value in values]).tolist() == values


PATTERNS = [
    "%Y-%m-%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%Y/%m/%d",
    "%d-%m-%Y",
    "%d-%b-%Y",
    "%b %d, %Y",
    "%d.%m.%y",
]
CLOCKS = ["", " %H:%M", " %H:%M:%S", "T%H:%M:%S.%f", " %I:%M:%S %p"]


@pytest.mark.slow
@given(
    pattern=st.sampled_from(PATTERNS),
    clock=st.sampled_from(CLOCKS),
    moments=st.lists(
        st.datetimes(dt.datetime(1970, 1, 1), dt.datetime(2068, 12, 31)), min_size=1, max_size=8
    ),
)
def test_dates_come_back_in_any_order(pattern: str, clock: str, moments: list[dt.datetime]) -> None:
    moments = [*moments, dt.datetime(2001, 2, 23, 14, 5, 6, 70809)]  # the 23rd shows the order
    date_format = pattern + clock
    cells = [each.strftime(date_format) for each in moments]
    found = recognised(list(cells))
    assert found.format == TextFormat("time", date_format=date_format)
    expected = [(dt.datetime.strptime(cell, date_format) - dt.datetime(1970, 1, 1)) for cell in cells]
    assert found.format.values(cells).tolist() == [each / dt.timedelta(microseconds=1) for each in expected]


@pytest.mark.slow
@settings(max_examples=50)
@given(
    st.lists(
        st.sampled_from(["1", "2.5", "1,5", "$3", "7 kg", "x", "n/a", "03/04/2021", "2021-05-06", "007"])
    ),
    st.randoms(use_true_random=False),
)
def test_rows_in_another_order_are_read_the_same(cells: list[str], random: Any) -> None:
    shuffled = random.sample(cells, len(cells))
    one, two = recognised(list(cells)), recognised(shuffled)
    assert (one.format, one.n_unread, one.n_cells) == (two.format, two.n_unread, two.n_cells)
    assert [each.code for each in one.advice] == [each.code for each in two.advice]


@pytest.mark.slow
@settings(max_examples=300)
@given(st.lists(st.text(max_size=12), max_size=6), st.sampled_from([None, "number", "time"]))
def test_any_text_is_read_or_left(cells: list[str], kind: Any) -> None:
    found = recognised_or_refused(cells, kind)
    if found is None:
        return
    assert found.n_unread <= found.n_cells <= len(cells)
    if found.format is not None:
        read = ~np.isnan(found.format.values(cells))
        known = np.array([not is_missing(cell) for cell in cells])
        assert found.n_unread == int((known & ~read).sum())


# ---- what is not read, and what is said about it -----------------------------------------------------

KEEP = "kinds={'c': 'category'} keeps its texts as categories"
SENTENCES: list[tuple[list[str | None], str | None, str]] = [
    (["12", "3.5"], "number", f"column 'c' holds numbers as text ('12' in row 0): read as numbers; {KEEP}"),
    (
        ["n/a", "12", None, "", "3", "n/a", "-"],
        "number",
        f"column 'c' holds numbers as text ('12' in row 1): read as numbers, 'n/a', '-' as missing; {KEEP}",
    ),
    (
        ["5 %", "7 %"],
        "number",
        "column 'c' holds numbers as text ('5 %' in row 0): read as numbers with '%' "
        f"(5 % is read as 5, not as 0.05); {KEEP}",
    ),
    (
        [None, "26.09.2017"],
        "time",
        f"column 'c' holds dates as text ('26.09.2017' in row 1): read as day.month.year; {KEEP}",
    ),
    (
        ["Yes", "no", "NO", "y"],
        "category",
        f"column 'c' spells true and false in 4 ways ('Yes', 'no', 'NO', …): read as truth values; {KEEP}",
    ),
    (
        ["30"] * 17 + ["12 yrs"] + ["40"] * 40,
        "number",
        "column 'c': 1 of 58 cells is not a number ('12 yrs' in row 17): read as numbers, that cell as "
        f"missing; {KEEP}",
    ),
    (
        ["01.02.2017"] * 40 + ["31.02.2017"],
        "time",
        "column 'c': 1 of 41 cells is not a date ('31.02.2017' in row 40): read as day.month.year, "
        f"that cell as missing; {KEEP}",
    ),
    (
        ["1.234", "5.678", "9"],
        "number",
        "column 'c' holds numbers as text ('1.234' in row 0): read as numbers, but '1.234' in row 0 could "
        "also "
        "have the decimal mark ','; decimal={'c': ','} reads it so",
    ),
    (
        ["1,234", "5,678", "9"],
        "number",
        "column 'c' holds numbers as text ('1,234' in row 0): read as numbers with a decimal point and "
        "commas "
        "between thousands, but '1,234' in row 0 could also have the decimal mark ','; decimal={'c': ','} "
        "reads it so",
    ),
    (
        ["1", "2", "3", "low", "high"],
        "category",
        "column 'c' stays categories: 3 of its 5 known cells look like numbers, the others do not ('low' "
        "in row 3, "
        "'high' in row 4); kinds={'c': 'number'} reads them as numbers, the others as missing",
    ),
    (
        ["2020-01-01", "2020-01-02", "soon"],
        "category",
        "column 'c' stays categories: 2 of its 3 known cells look like dates, the others do not ('soon' "
        "in row 2); "
        "kinds={'c': 'time'} reads them as times, the others as missing",
    ),
    (
        ["12 kg", "3 lb"],
        "category",
        "column 'c' stays categories: its numbers have different units ('12 kg' in row 0, '3 lb' in row 1); "
        "kinds={'c': 'number'} reads the numbers without units",
    ),
    (
        ["$12", "€3"],
        "category",
        "column 'c' stays categories: its numbers have different units ('$12' in row 0, '€3' in row 1); "
        "kinds={'c': 'number'} reads the numbers without units",
    ),
    (
        ["300", "12k", "17"],
        "category",
        "column 'c' stays categories: '12k' in row 1 may stand for thousands or millions, '300' in row 0 "
        "does not; "
        "kinds={'c': 'number'} reads the numbers, those with such a letter as missing",
    ),
    (
        ["12"] * 50 + ["007"],
        "category",
        "column 'c' stays categories: '007' in row 50 looks like an identifier, not like a number; "
        "kinds={'c': 'number'} reads it as numbers",
    ),
    (
        ["03/04/2021", "05/06/2021"],
        "category",
        "column 'c' stays categories: '03/04/2021' in row 0 may be day/month/year or month/day/year; "
        "date_format={'c': '%d/%m/%Y'} or date_format={'c': '%m/%d/%Y'} reads it as times",
    ),
    (
        ["03/24/2021", "25/06/2021"],
        "category",
        "column 'c' stays categories: '25/06/2021' in row 1 has the day first, '03/24/2021' in row 0 the "
        "month; "
        "write all dates in one order; date_format= reads one of them, the others as missing",
    ),
]


@pytest.mark.parametrize(("cells", "kind", "sentence"), SENTENCES, ids=lambda each: str(each)[:40])
def test_every_sentence(cells: list[str | None], kind: str, sentence: str) -> None:
    found, _, told = column(cells)
    assert told == [sentence]
    assert found.kind == kind
    with pytest.warns(AdviceWarning) as caught:
        encode({"c": cells})
    assert [str(each.message) for each in caught] == [sentence]
    assert caught[0].filename == __file__


SILENT: list[list[str]] = [
    ["cook", "clerk"],
    ["1A", "1B", "2C"],  # seats, flats
    ["1 a", "2 b", "3 c", "4 d"],
    ["00123", "00124"],
    ["1234567890123456", "1234567890123457"],  # more digits than a float keeps
    ["C85", "E46"],
    ["１２", "١٢", "१२"],  # digits of other scripts
    ["1_000", "2_000"],
    ["0x10", "0xff"],
    ["10-20", "20-30"],
    ["<5", "65+", "5-10"],
    ["12:30", "13:45"],
    ["1/2", "3/4"],
    ["555-1234", "555-9876"],
    ["12 Main Street", "7 High Street"],
    ["192.168.0.1", "10.0.0.1"],
    ["NA", "n/a", "-"],
    ["inf", "-inf"],
    ["\0", "\n", "\u200f12\u200e", "a\nb"],
    ["2021-13-01", "2021-00-10"],
    ["1 2", "3 4"],
    ["--5", "(5", "5)", "(-5)", "+-5"],
    ["yes", "no"],
]


@pytest.mark.parametrize("cells", SILENT, ids=repr)
def test_names_stay_names_without_a_word(cells: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = encode({"c": cells}).schema.columns[0]
    assert found == Column("c", "category", tuple(sorted(cells)))


def test_advice_for_the_command_line() -> None:
    _, advice = encode_with_advice({"a price": ["03/04/2021"]}, place=lambda row: f"line {row + 2}")
    assert advice[0].command_text == (
        "column 'a price' stays categories: '03/04/2021' in line 2 may be day/month/year or month/day/year; "
        "--date-format %d/%m/%Y or --date-format %m/%d/%Y reads it as times"
    )
    _, advice = encode_with_advice({"a price": ["1.234"]})
    assert advice[0].on_command_line == "--decimal , reads it so"
    _, advice = encode_with_advice({"a price": ["12"]})
    assert advice[0].on_command_line == "--kinds 'a price=category' keeps its texts as categories"


def test_warnings_name_the_line_that_called() -> None:
    prices = {"price": ["1,5 €", "2,5 €", "7,5 €", "8,5 €"]}
    for call in (encode, lambda table: DecisionTreeClassifier().fit(table, list("aabb"))):
        with pytest.warns(AdviceWarning, match="price") as told:
            call(prices)
        assert {warning.filename for warning in told} == {__file__}


def test_many_columns_are_told_together() -> None:
    table = {f"c{i}": ["1", "2"] for i in range(12)}
    _, advice = encode_with_advice(table)
    assert len(advice) == 12
    (one,) = fold_advice(advice)
    assert one.text.startswith("12 columns hold numbers as text and are read as numbers: 'c0', 'c1', ")
    assert one.text.endswith(
        "'c9', … (the first: column 'c0' holds numbers as text ('1' in row 0): read as numbers)"
    )
    assert len(fold_advice(advice[:3])) == 1
    assert len(fold_advice(advice[:2])) == 2
    with pytest.warns(AdviceWarning) as caught:
        encode(table)
    assert len(caught) == 1


def test_hostile_names_and_cells_are_escaped() -> None:
    name, cell = "a\x1b[31m\nb", "x\x1b[2J\n" + "y" * 1000
    _, advice = encode_with_advice({name: ["1", "2", cell]})
    assert advice[0].python_text.isprintable()
    assert len(advice[0].python_text) < 400


# ---- what is asked for -------------------------------------------------------------------------------


def test_kinds_read_what_can_be_read() -> None:
    found, values, told = column(["12", "old", "30", "40 yrs"], kinds={"c": "number"})
    assert found == Column("c", "number", (), TextFormat("number", affixes=("yrs",)))
    assert values == pytest.approx([12, NAN, 30, 40], nan_ok=True)
    assert told == [
        "column 'c': 1 of 4 cells is not a number ('old' in row 1): read as numbers with 'yrs', "
        "that cell as missing"
    ]
    found, values, told = column(["12 kg", "3 lb"], kinds={"c": "number"})
    assert (values, told) == ([12.0, 3.0], [])
    assert column(["300", "12k"], kinds={"c": "number"})[1] == pytest.approx([300, NAN], nan_ok=True)
    assert column(["007", "12"], kinds={"c": "number"})[1] == [7.0, 12.0]
    assert column(["12345678901234567890", "1"], kinds={"c": "number"})[1] == pytest.approx(
        [NAN, 1], nan_ok=True
    )
    found, values, _ = column(["2020-01-01", "soon", "1.1.2020"], kinds={"c": "time"})
    assert values == pytest.approx([moment(2020, 1, 1), NAN, NAN], nan_ok=True)


@pytest.mark.parametrize(
    ("cells", "options", "message"),
    [
        (
            ["a", "b"],
            {"kinds": {"c": "number"}},
            "'c' is to be read as numbers, but no cell is a number; row 0 is 'a'",
        ),
        (
            ["a", "b"],
            {"kinds": {"c": "time"}},
            "'c' is to be read as times, but no cell is a date; row 0 is 'a'",
        ),
        (
            ["03/04/2021"],
            {"kinds": {"c": "time"}},
            "cannot be read as times: .* may be day/month/year or month/day",
        ),
        (
            ["03/24/2021", "25/06/2021"],
            {"kinds": {"c": "time"}},
            "'25/06/2021' in row 1 has .* '03/24/2021' in row 0",
        ),
        (["1"], {"date_format": {"c": "%d/%m/%Y"}}, "no cell is a date by '%d/%m/%Y'; row 0 is '1'"),
        (["1"], {"date_format": "%d/%m"}, "must have one year"),
        (["1"], {"date_format": "%d/%m/%Q"}, "the directive '%Q'; known are %d, %m"),
        (["1"], {"decimal": ",", "thousands": ","}, "do not go together"),
        (["1"], {"decimal": "x"}, "do not go together"),
        (["1"], {"decimal": {"z": ","}}, "decimal: there is no column 'z'; the columns are 'c', 'one'"),
        (["1"], {"decimal": ",", "schema": Schema((Column("c"),))}, "a schema fixes how texts are read"),
    ],
)
def test_what_cannot_be_asked(cells: list[str], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        encode({"c": cells, "one": np.ones(len(cells))}, **options)


@pytest.mark.parametrize("given", [3, ["."], {"c": 3}])
def test_marks_are_texts(given: Any) -> None:
    with pytest.raises(TypeError, match=r"decimal"):
        encode({"c": ["1"]}, decimal=given)


def test_marks_that_are_given() -> None:
    assert column(["1.234", "5.678"], decimal=",")[1] == [1234.0, 5678.0]
    assert column(["1.234", "5.678"], thousands=".")[1] == [1234.0, 5678.0]
    assert column(["1,234", "5,678"], decimal={"c": ","})[1] == [1.234, 5.678]
    assert column(["1\u202f234"], thousands="\u202f")[1] == [1234.0]
    assert column(["03/04/2021"], date_format="%d/%m/%Y")[1] == [moment(2021, 4, 3)]
    assert column(["03/04/2021"], date_format={"c": "%m/%d/%Y"})[1] == [moment(2021, 3, 4)]
    assert column(["20210403"], date_format="%Y%m%d")[1] == [moment(2021, 4, 3)]
    assert column(["2021-04-03"], date_format="%d/%m/%Y")[1] == [moment(2021, 4, 3)]  # where it does not fit
    found, _, told = column(["1.5", "2.5"], decimal=",")
    assert found.kind == "category"
    assert told == [
        "column 'c' stays categories: its cells are numbers ('1.5' in row 0), which do not have the marks "
        "that were "
        "given; decimal={'c': '.'} reads it as numbers"
    ]


def test_few_cells_that_cannot_be_read() -> None:
    """At most 5 % of the known cells: marks for missing do not count."""
    assert recognised(["1"] * 95 + ["a", "b", "c", "d", "e"]).format == TextFormat("number")
    assert recognised(["1"] * 94 + ["a", "b", "c", "d", "e", "f"]).format is None
    assert recognised(["1"] * 94 + ["a", "b", "c", "d", "e", "n/a", "?"]).format is None
    assert recognised(["1"] * 95 + ["a", "b", "c", "d", "e", "n/a", "?"]).format == TextFormat("number")
    many = recognised(["1"] * 1000 + [f"a{i}" for i in range(11)])  # eleven different ones: names
    assert many.format is None
    found = recognised(["1"] * 1000 + ["many"] * 50)
    assert (found.n_unread, found.n_cells, found.unread) == (50, 1050, ((1000, "many"),))


def test_doubts_about_the_decimal_mark_are_always_told() -> None:
    doubt = "but '1.234' in row 0 could also have the decimal mark ','; decimal={'c': ','} reads it so"
    for options in ({}, {"kinds": {"c": "number"}}):
        _, values, told = column(["1.234"] * 40 + ["x"], **options)
        assert values[0] == 1.234
        assert told == [
            "column 'c': 1 of 41 cells is not a number ('x' in row 40): read as numbers, that cell as "
            f"missing, {doubt}"
        ]
        assert column(["1.234"], **options)[2][0].endswith(doubt)
    assert column(["1.234"], decimal={"c": "."})[2] == []


def test_rare_units_are_not_read() -> None:
    assert recognised(["30"] * 99 + ["12 yrs"]).n_unread == 1
    assert recognised(["30"] * 9 + ["12 yrs"]).format == TextFormat("number", affixes=("yrs",))


# ---- rows that come later ------------------------------------------------------------------------------


def training() -> tuple[dict[str, list[str]], list[str]]:
    price = [f"{i % 7},{i % 10}0 €" for i in range(60)]
    sold = [f"{1 + i % 28:02d}.0{1 + i % 9}.2020" for i in range(60)]
    paid = [("ja", "nein", "Ja", "NEIN")[i % 4] for i in range(60)]
    label = ["dear" if i % 7 >= 4 else "cheap" for i in range(60)]
    return {"price": price, "sold": sold, "paid": paid}, label


@pytest.mark.filterwarnings("ignore::treewright.AdviceWarning")
def test_later_rows_are_read_as_those_before() -> None:
    table, label = training()
    data = encode(table, label)
    later = {
        "price": ["6,00 €", "1.234,5", "x", None, "-"],
        "sold": ["31.01.2020", "2020-01-31", "", "NA", None],
    }
    later["paid"] = ["yes", "Nein", "perhaps", "", None]
    with pytest.warns(AdviceWarning) as caught:
        rows = encode(later, schema=data.schema)
    assert [str(each.message) for each in caught] == [
        "column 'price': 2 of 3 cells are not numbers ('1.234,5' in row 1, 'x' in row 2): read as numbers "
        "with a decimal comma and '€', these as missing",
        "column 'sold': 1 of 2 cells is not a date ('2020-01-31' in row 1): read as day.month.year, "
        "that cell as missing",
        "column 'paid': 1 of 3 cells is not a truth value ('perhaps' in row 2): read as truth values, "
        "that cell as missing",
    ]
    assert rows.columns[0].tolist() == pytest.approx([6, NAN, NAN, NAN, NAN], nan_ok=True)
    assert rows.columns[1].tolist() == pytest.approx([moment(2020, 1, 31), NAN, NAN, NAN, NAN], nan_ok=True)
    assert rows.columns[2].tolist() == [1, 0, -1, -1, -1]
    values = {"price": [6.0, 7.5], "sold": np.array(["2020-01-31", "NaT"], "M8[D]"), "paid": [True, None]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = encode(values, schema=data.schema)
    assert [rows.columns[0].tolist(), rows.columns[2].tolist()] == [[6.0, 7.5], [1, -1]]
    assert rows.columns[1].tolist() == pytest.approx([moment(2020, 1, 31), NAN], nan_ok=True)


def test_texts_for_a_column_of_numbers() -> None:
    schema = encode({"n": [1.0, 2.0], "t": np.array(["2020-01-01"] * 2, "M8[D]")}).schema
    times = np.array(["2020-01-01"] * 3, "M8[D]")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = encode({"n": ["7", " -1.5e3", "NA"], "t": times}, schema=schema)
    assert rows.columns[0].tolist() == pytest.approx([7, -1500, NAN], nan_ok=True)
    with pytest.raises(ValueError, match=r"column 'n' must hold numbers .*, but row 1 is '1,5', a text"):
        encode({"n": ["7", "1,5", "NA"], "t": times}, schema=schema)
    with pytest.raises(ValueError, match=r"column 't' must hold times"):
        encode({"n": [1.0], "t": ["2020-01-01"]}, schema=schema)


def test_targets_of_text() -> None:
    y = ["1.234,50", "7,25", "1.000.000"]
    table = {"x": [1.0, 2.0, 3.0]}
    assert encode(table, {"y": y}).schema.targets[0].classes == tuple(sorted(y))
    with pytest.warns(AdviceWarning) as caught:
        data = encode(table, {"y": y}, classes=False)
    assert [str(each.message) for each in caught] == [
        "target 'y' holds numbers as text ('1.234,50' in row 0): read as numbers with a decimal comma and "
        "dots "
        "between thousands"
    ]
    assert data.targets is not None
    assert data.targets.tolist() == [[1234.5, 7.25, 1e6]]
    assert data.schema.targets[0].text == TextFormat("number", ",", ".")
    later = encode(table, {"y": ["1.234", "5.678", "9"]}, schema=data.schema)  # read as before, not afresh
    assert later.targets is not None
    assert later.targets.tolist() == [[1234.0, 5678.0, 9.0]]
    for wrong in (["1", "2", "x"], ["1", "2", "n/a"], ["1", "2 kg", "3 lb"]):
        with pytest.raises(ValueError, match=r"target 'y': row . is .*every row needs a finite number"):
            encode(table, {"y": wrong}, classes=False)


# ---- models ------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::treewright.AdviceWarning")
def test_models_are_saved_with_what_they_read(tmp_path: Any) -> None:
    table, label = training()
    tree = grow(encode(table, label))
    assert "price <= 4 " in str(tree)
    assert tree.predict({"price": ["5,00 €"], "sold": ["01.01.2020"], "paid": ["ja"]}).tolist() == ["dear"]
    tree.save(tmp_path / "tree.json")
    for other in (load(tmp_path / "tree.json"), pickle.loads(pickle.dumps(tree))):
        assert other == tree
        assert other.schema == tree.schema
        assert [each.text for each in other.schema.columns] == [each.text for each in tree.schema.columns]
        assert other.predict(table).tolist() == label
    assert b'"version": 6,' in (tmp_path / "tree.json").read_bytes()


@pytest.mark.filterwarnings("ignore::treewright.AdviceWarning")
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_estimators_take_dirty_frames(library: str) -> None:
    pytest.importorskip("sklearn")
    table, label = training()
    frame = table_of(library, table)
    model = DecisionTreeClassifier().fit(frame, label)
    assert model.score(frame, label) == 1.0
    assert model.classes_.tolist() == ["cheap", "dear"]
    assert model.feature_names_in_.tolist() == ["price", "sold", "paid"]
    later = table_of(
        library, {"price": ["6,00 €", "0,10 €"], "sold": ["01.01.2020"] * 2, "paid": ["ja", "?"]}
    )
    assert model.predict(later).tolist() == ["dear", "cheap"]
    copy = pickle.loads(pickle.dumps(model))
    assert copy.predict(later).tolist() == ["dear", "cheap"]
    numbers = DecisionTreeRegressor().fit(frame, [f"{i},5" for i in range(60)])
    assert numbers.predict(frame).tolist() == [i + 0.5 for i in range(60)]


# ---- formats -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (TextFormat("number"), "numbers"),
        (TextFormat("number", ","), "numbers with a decimal comma"),
        (TextFormat("number", ",", "."), "numbers with a decimal comma and dots between thousands"),
        (TextFormat("number", ".", "'"), "numbers with a decimal point and apostrophes between thousands"),
        (TextFormat("number", affixes=("a", "b", "c", "d")), "numbers with 'a' or 'b' or 'c' …"),
        (TextFormat("time", date_format="%d.%m.%Y"), "dates as day.month.year"),
        (TextFormat("time", date_format="%d-%b-%y"), "dates as day-Mon-two-digit year"),
        (
            TextFormat("time", date_format="%Y-%m-%dT%H:%M:%S%z"),
            "times as year-month-day hour:minute:second zone",
        ),
        (TextFormat("bool"), "truth values"),
    ],
)
def test_formats_in_words(found: TextFormat, words: str) -> None:
    assert str(found) == words
    assert hash(found) == hash(pickle.loads(pickle.dumps(found)))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (("date",), "kind must be one of"),
        (("number", ";"), "do not go together"),
        (("number", ",", ","), "do not go together"),
        (("number", ".", "", ("",)), "1 to 16 characters"),
        (("number", ".", "", ("x" * 17,)), "1 to 16 characters"),
        (("number", ".", "", (), "%Y"), "date_format is for times"),
        (("time",), "must have one year"),
        (("time", ".", "", (), "%Y-%m-%d %d"), "no field twice"),
        (("time", ".", "", (), "%Y-%m %I"), "%p exactly with %I"),
        (("time", ".", "", (), "%Y-%m" + "-" * 100), "characters"),
    ],
)
def test_formats_that_do_not_exist(fields: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TextFormat(*fields)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (Column("c", "time", (), TextFormat("number")), "is a time read as numbers"),
        (Column("c", "category", ("a",), TextFormat("bool")), "not false and true"),
        (Column("c", "number", (), "number"), "another type"),  # type: ignore[arg-type]
    ],
)
def test_schemas_are_checked(wrong: Column, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_schema(Schema((wrong,)))
    with pytest.raises(ValueError, match="not as numbers"):
        check_schema(Schema((Column("c"),), (Target("y", ("a", "b"), text=TextFormat("number")),)))


def test_zones_are_read_in_utc() -> None:
    cells = ["2021-01-02T10:00:00Z", "2021-01-02T10:00:00+01:30", "2021-01-02T10:00:00-0500"]
    found = recognised(list(cells))
    assert found.format == TextFormat("time", date_format="%Y-%m-%dT%H:%M:%S%z")
    hours = [10, 8.5, 15]
    assert found.format.values(cells).tolist() == [moment(2021, 1, 2) + hour * 3600e6 for hour in hours]
    without = [*cells, "2021-01-02T10:00:00", "2021-01-02T10:00:00+99:00"]
    assert np.isnan(found.format.values(without)).tolist() == [False] * 3 + [True] * 2


# ---- endurance ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_enormous_cells() -> None:
    enormous = ["9" * 10**8, " " * 10**8, "x" * 10**8]
    assert recognised([*enormous, "1"]).format is None
    assert is_missing(enormous[1])
    found = recognised(["1"] * 100 + enormous)
    assert found.format == TextFormat("number")
    assert found.n_unread == 2
    assert all(len(each.python_text) < 500 for each in found.advice)


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["1", "1.", "1,", "1 ", "- ", "$", "(", "1-", "%", "a", "1/", "Sep ", "\0", "é"]
)
def test_no_pattern_runs_away(piece: str) -> None:
    """Repeated pieces up to the longest text that is looked at; a runaway would take ages."""
    cells = [piece * n for n in range(1, 256)]
    for kind in (None, "number", "time"):
        found_now = recognised_or_refused(cells, kind)
        assert found_now is None or found_now.n_cells <= 255
    formats = [TextFormat("number", *each, ("$", "kg")) for each in CONVENTIONS]
    formats += [TextFormat("time", date_format=each + clock) for each in PATTERNS for clock in CLOCKS]
    for found in formats:
        assert len(found.values(cells)) == 255


@pytest.mark.slow
def test_many_distinct_texts() -> None:
    n = 200_000
    codes = np.arange(n, dtype=np.int32)
    assert recognise([f"user {i}" for i in range(n)], codes, name="id").format is None
    found = recognise([f"{i},5" for i in range(n)], codes, name="id")
    assert found.format == TextFormat("number", ",")
    assert found.values is not None
    assert found.values.tolist() == [i + 0.5 for i in range(n)]


def test_data_sets_of_recognised_columns_are_plain_data_sets() -> None:
    with pytest.warns(AdviceWarning):
        data = encode({"a": ["1", "2"], "b": ["x", "y"]})
    assert isinstance(data, Dataset)
    assert data.columns[0].dtype == np.float64
    assert data.schema.columns[0].kind == "number"
    assert data.schema.reads_texts
    assert not encode({"a": [1, 2]}).schema.reads_texts
