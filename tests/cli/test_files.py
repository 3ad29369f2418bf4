"""Files that the command line reads: every cell exact, every form told from all cells."""

from __future__ import annotations

import gzip
import os
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.cli.errors import Trouble
from treewright.cli.options import ALWAYS_MISSING, MISSING, Dialect
from treewright.cli.tables import cell_types
from treewright.cli.tables.reader import Frame, read, stream
from treewright.cli.tables.sources import open_source


def frame_of(path: Path, wanted: dict[str, Any] | None = None, kept: tuple[str, ...] = ()) -> Frame:
    source = open_source(path)
    return read(source, dict.fromkeys(source.names) if wanted is None else wanted, kept)


def written(folder: Path, text: str | bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def values(column: Any) -> list[Any]:
    return [None if cell is np.ma.masked or cell != cell else cell for cell in column.tolist()]


def test_forms_and_values(tmp_path: Path) -> None:
    text = (
        "whole, decimal ,text,zip,flag,day,moment,zone,void,huge,inf\r\n"
        '1,0.1,"a, ""b""",00123,true,2020-01-31,2020-01-31 12:30,2020-01-01T10:00:00+02:00,,'
        "123456789012345678901,inf\r\n"
        ',1e-5,"two\r\nlines",12345,FALSE,NA,2020-01-31T12:30:00.5,2020-01-01T10:00:00Z,?,1,-Infinity\r\n'
        "-3,NaN, padded ,99999,,9999-12-31,,,null,2,.5\r\n"
    )
    frame = frame_of(written(tmp_path, b"\xef\xbb\xbf" + text.encode()))
    columns = frame.columns
    assert frame.forms == {
        "whole": "integer",
        "decimal": "number",
        "text": "text",
        "zip": "text",
        "flag": "bool",
        "day": "time",
        "moment": "time",
        "zone": "zoned",
        "void": "nothing",
        "huge": "huge",
        "inf": "number",
    }
    assert columns["whole"].tolist() == [1, None, -3]
    assert columns["decimal"].tolist()[:2] == [0.1, 1e-5]
    assert columns["text"].tolist() == ['a, "b"', "two\r\nlines", "padded"]
    assert columns["zip"].tolist() == ["00123", "12345", "99999"]
    assert columns["flag"].tolist() == [True, False, None]
    assert columns["day"].tolist() == [datetime(2020, 1, 31), None, datetime(9999, 12, 31)]
    assert columns["moment"].tolist()[1] == datetime(2020, 1, 31, 12, 30, 0, 500_000)
    assert columns["zone"].tolist()[:2] == [datetime(2020, 1, 1, 8), datetime(2020, 1, 1, 10)]
    assert np.isnan(columns["void"]).all()
    assert columns["huge"].tolist() == [123456789012345678901, 1, 2]
    assert columns["inf"].tolist() == [np.inf, -np.inf, 0.5]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_separators_and_ends_of_lines(tmp_path: Path, separator: str, end: str) -> None:
    text = end.join(separator.join(row) for row in (["a", "b c"], ["1.5", "x y"], ["2", '"q,;|"']))
    frame = frame_of(written(tmp_path, text))
    assert frame.columns["a"].tolist() == [1.5, 2.0]
    assert frame.columns["b c"].tolist() == ["x y", "q,;|"]


def test_ends_of_lines_may_be_mixed(tmp_path: Path) -> None:
    frame = frame_of(written(tmp_path, "a,b\n1,x\r\n2,y\n3,z\r\n"))
    assert frame.columns["a"].tolist() == [1, 2, 3]
    assert frame.columns["b"].tolist() == ["x", "y", "z"]


def test_decimal_commas_between_semicolons(tmp_path: Path) -> None:
    frame = frame_of(written(tmp_path, "a;b\n1,5;1.5\n2;2,5\n"))
    assert frame.columns["a"].tolist() == [1.5, 2.0]
    assert frame.columns["b"].tolist() == ["1.5", "2,5"]  # thousands or decimals? nobody knows


@pytest.mark.slow
def test_compressed_and_oddly_named_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, "a\n9\n", "x1.csv")
    names = ["x[1].csv", "x*.csv", "it's.csv", "x?.csv", "x{a,b}.csv", "~.csv", "~root.csv", "-x.csv"]
    if os.name == "posix":
        names += ["a\\b.csv", "a\\*.csv", "a\\[b].csv", "\\.csv", "a:b.csv", "new\nline.csv"]
    monkeypatch.chdir(tmp_path)
    for name in names:
        path = written(tmp_path, "a\n1\n2\n", name)
        for called in (path, Path(name)):
            assert frame_of(called).columns["a"].tolist() == [1, 2]
    path = written(tmp_path, gzip.compress(b"a,b\n1,x\n"), "t.csv.gz")
    assert frame_of(path).columns["b"].tolist() == ["x"]


@pytest.mark.parametrize(
    ("late", "form", "expected"),
    [("2.5", "number", 2.5), ("007", "text", "007"), ("x", "text", "x"), (" NA ", "integer", None)],
)
def test_late_cells_count(tmp_path: Path, late: str, form: str, expected: Any) -> None:
    rows = "".join(f"{i},\n" for i in range(5000))
    frame = frame_of(written(tmp_path, f"a,b\n{rows}{late},true\n"))
    assert frame.forms == {"a": form, "b": "bool"}
    assert values(frame.columns["a"])[-1] == expected
    assert [str(value) for value in values(frame.columns["a"])[:2]] in (["0", "1"], ["0.0", "1.0"])
    assert values(frame.columns["b"])[-2:] == [None, True]


@pytest.mark.slow
def test_wanted_forms(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b,c\n007,1,\n1.5,2,NA\n")
    frame = frame_of(path, {"a": "number", "b": "text", "c": "time"}, kept=("a", "c"))
    assert frame.columns["a"].tolist() == [7.0, 1.5]
    assert frame.columns["b"].tolist() == ["1", "2"]
    assert np.isnan(frame.columns["c"]).all()
    assert frame.kept["a"].tolist() == ["007", "1.5"]
    assert frame.kept["c"].tolist() == ["", "NA"]
    for form in ("time", "bool"):
        with pytest.raises(Trouble, match=r"line 2: column 'a' has the cell '007', which is not"):
            frame_of(path, {"a": form})


def test_lines_are_named_across_quoted_lines(tmp_path: Path) -> None:
    path = written(tmp_path, 'a,b\n"one\ntwo\nthree",1\n\n"x",oops\n')
    with pytest.raises(Trouble, match="line 6: column 'b' has the cell 'oops'"):
        frame_of(path, {"b": "number"})
    assert frame_of(path).place(1) == "line 6"


@pytest.mark.parametrize("cell", ["9007199254740993", "-9007199254740993", "1e400"])
def test_digits_are_never_lost_in_silence(tmp_path: Path, cell: str) -> None:
    path = written(tmp_path, f"a,b\n0.5,1\n{cell},2\n")
    with pytest.raises(Trouble, match=f"line 3: column 'a' has the number {re.escape(cell)}"):
        frame_of(path)


def test_whole_numbers_beyond_float64_are_told_truly(tmp_path: Path) -> None:
    """Float64 has this number, but skips others beside it: rule and words are those of `encode`."""
    whole = written(tmp_path, "a\n5\n64000000000000000\n")
    assert frame_of(whole).columns["a"].tolist() == [5, 64000000000000000]
    mixed = written(tmp_path, "a\n0.5\n64000000000000000\n", "m.csv")
    with pytest.raises(
        Trouble, match=r"has the number 64000000000000000, beyond ±2\^53, where float64 skips"
    ):
        frame_of(mixed)
    large = written(tmp_path, "a\n0.5\n1e400\n", "l.csv")
    with pytest.raises(Trouble, match=r"has the number 1e400, which is too large for float64"):
        frame_of(large)
    assert frame_of(written(tmp_path, "a\n0.5\n6.4e16\n", "e.csv")).columns["a"].tolist() == [0.5, 6.4e16]


@pytest.mark.slow
def test_numbers_of_thousands_of_digits(tmp_path: Path) -> None:
    for digits in (3999, 4000, 5000):
        path = written(tmp_path, f"a,b\n1,x\n{'9' * digits},y\n")
        if digits < cell_types.MOST_DIGITS:
            assert frame_of(path).columns["a"].tolist() == [1, 10**digits - 1]
        else:
            with pytest.raises(Trouble, match=r"line 3: column 'a' has the number 9+…, which is too large"):
                frame_of(path)
        assert frame_of(path, {"a": "text"}).columns["a"].tolist() == ["1", "9" * digits]


def test_folders_named_like_partitions_add_no_column(tmp_path: Path) -> None:
    folder = tmp_path / "year=2020"
    folder.mkdir()
    duckdb.sql(f"COPY (SELECT 1 AS a) TO '{folder / 't.parquet'}' (FORMAT parquet)")
    written(folder, "a\n1\n")
    written(folder, '{"a": 1}\n', "t.jsonl")
    for name in ("t.csv", "t.jsonl", "t.parquet"):
        assert {name: column.tolist() for name, column in frame_of(folder / name).columns.items()} == {
            "a": [1]
        }


@pytest.mark.slow
@pytest.mark.parametrize("length", [1_000_000, 3_000_000, 40_000_000])
def test_long_cells(tmp_path: Path, length: int) -> None:
    path = written(tmp_path, f"a,b\n1,{'x' * length}\n2,y\n")
    found = frame_of(path).columns
    assert found["a"].tolist() == [1, 2]
    assert [len(cell) for cell in found["b"]] == [length, 1]
    pieces = list(stream(open_source(path), {"a": None, "b": None}))
    assert [len(cell) for piece in pieces for cell in piece.columns["b"]] == [length, 1]


@pytest.mark.slow
def test_what_is_wrong_below_long_cells_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of lines that are longer than its buffers DuckDB may not even say that they are there."""
    path = written(tmp_path, f"a,b,c\n{'x' * 20_000_000},{'x' * 20_000_000},\n2,z\n")
    with pytest.raises(Trouble, match="line 3 has 2 cells, but the first line names 3 columns"):
        frame_of(path)
    with pytest.raises(Trouble, match="line 3 has 2 cells"):
        list(stream(open_source(path), {"a": None}))
    path = written(tmp_path, f"a,b\n1,{'x' * 3_000_000}\n")
    monkeypatch.setattr("treewright.cli.tables.csv_files.LONGEST_LINE", 2_500_000)
    monkeypatch.setattr("treewright.cli.tables.reader.LONGEST_LINE", 2_500_000)
    with pytest.raises(Trouble, match=r"it has more than 2,500,000 bytes, which are the most that are read"):
        frame_of(path)
    monkeypatch.setattr("treewright.cli.tables.csv_files.LONGEST_CELL", 2_500_000)
    with pytest.raises(Trouble, match=r"a cell has more than 2,500,000 characters, which are the most"):
        frame_of(path)


DATA = "5.1,3.5,a\n4.9,3.0,a\n6.2,2.8,b\n"


@pytest.mark.parametrize(
    ("text", "odd"),
    [
        (DATA, True),
        ("1;2,5;7\n2;3,5;8\n", True),
        ("p,x\ne,x\np,f\ne,x\n", True),
        ("2020-01-01,1.5\n2020-01-02,2.5\n", True),
        ("1,0,1\n0,1,1\n", True),  # and no names that stand there twice
        (f"x,y,z\n{DATA}", False),
        ("country,2019,2020\nFrance,1,2\nSpain,3,4\n", False),
        ("0,1,2\n7,8,9\n", False),
        ("7\n1\n2\n", False),
        ("a,b\nx,y\nz,w\n", False),
        ("1.5,2.5\n", False),  # nothing to compare it with
        ("a,1.5\n2,3\n", False),
        (",1.5\nx,3\n", True),
    ],
)
def test_a_first_line_like_the_rows_is_doubted(tmp_path: Path, text: str, odd: bool) -> None:
    path = written(tmp_path, text)
    if text.startswith("1,0,1"):
        with pytest.raises(
            Trouble, match="several columns have the name '1'; its first line looks like a row"
        ):
            open_source(path)
        return
    assert (open_source(path).doubt is not None) == odd
    assert open_source(path, Dialect(header=True)).doubt is None


@pytest.mark.slow
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_empty_lines_before_the_names(tmp_path: Path, end: str, mark: bytes) -> None:
    path = written(tmp_path, mark + end.join(["", "  ", "", "a,b", "1,x", "2,y", ""]).encode())
    frame = frame_of(path)
    assert {name: column.tolist() for name, column in frame.columns.items()} == {"a": [1, 2], "b": ["x", "y"]}
    assert frame.place(1) == "line 6"
    short = written(tmp_path, mark + end.join(["", "", "a,b", "1,x", "2", ""]).encode(), "s.csv")
    with pytest.raises(Trouble, match="line 5 has 1 cell, but the first line names 2 columns"):
        frame_of(short)
    nameless = open_source(path, Dialect(header=False))
    assert [len(column) for column in read(nameless, dict.fromkeys(nameless.names)).columns.values()] == [
        3,
        3,
    ]


def test_a_separator_that_stands_in_words_for_nothing(tmp_path: Path) -> None:
    path = written(tmp_path, 'a#b\n1#x\n"#N/A"#"#N/A"\n')
    source = open_source(path, Dialect(separator="#"))
    frame = read(source, dict.fromkeys(source.names))
    assert values(frame.columns["a"]) == [1, None]
    assert values(frame.columns["b"]) == ["x", None]


def test_files_without_names(tmp_path: Path) -> None:
    path = written(tmp_path, b"\xef\xbb\xbf" + DATA.encode())
    source = open_source(path, Dialect(header=False))
    frame = read(source, dict.fromkeys(source.names))
    assert {name: column.tolist() for name, column in frame.columns.items()} == {
        "column 1": [5.1, 4.9, 6.2],
        "column 2": [3.5, 3.0, 2.8],
        "column 3": ["a", "a", "b"],
    }
    assert frame.place(0) == "line 1"
    pieces = list(stream(open_source(path, Dialect(header=False)), {"column 1": "number"}))
    assert [cell for piece in pieces for cell in piece.columns["column 1"]] == [5.1, 4.9, 6.2]
    with pytest.raises(Trouble, match="line 1: column 'column 3' has the cell 'a', which is not a number"):
        read(open_source(path, Dialect(header=False)), {"column 3": "number"})
    short = open_source(written(tmp_path, "1,2\n3\n"), Dialect(header=False))
    with pytest.raises(Trouble, match="line 2 has 1 cell, but the first line has 2 cells"):
        read(short, dict.fromkeys(short.names))


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    duckdb.execute(
        f'''COPY (SELECT i AS whole, CAST(i AS DECIMAL(38, 0)) AS huge,
            CAST(i AS DECIMAL(10, 2)) / 4 AS decimal,
            'c' || i AS "a ""name""", CAST('u' AS ENUM ('u', 'v')) AS enum, i = 1 AS flag,
            DATE '2020-01-01' AS day, TIMESTAMPTZ '2020-01-01 10:00:00+02' AS zone,
            CASE WHEN i > 0 THEN CAST(i AS FLOAT) END AS small, [i] AS list, 'x' AS "WHOLE"
            FROM range(3) AS t(i)) TO '{path}' (FORMAT parquet)'''
    )
    source = open_source(path)
    assert source.names == (
        *("whole", "huge", "decimal", 'a "name"', "enum", "flag", "day", "zone", "small", "list"),
        source.names[-1],
    )
    frame = read(source, dict.fromkeys(name for name in source.names if name != "list"))
    assert frame.columns["whole"].tolist() == [0, 1, 2]
    assert frame.columns["huge"].tolist() == [0, 1, 2]
    assert frame.columns["decimal"].tolist() == [0, 0.25, 0.5]
    assert frame.columns['a "name"'].tolist() == ["c0", "c1", "c2"]
    assert frame.columns["enum"].tolist() == ["u"] * 3
    assert frame.columns["flag"].tolist() == [False, True, False]
    assert frame.columns["day"].tolist() == [datetime(2020, 1, 1)] * 3
    assert frame.columns["zone"].tolist() == [datetime(2020, 1, 1, 8)] * 3
    assert values(frame.columns["small"]) == [None, 1.0, 2.0]
    wanted = frame_of(path, {"whole": "text", 'a "name"': "text"}, kept=("day",))
    assert wanted.columns["whole"].tolist() == ["0", "1", "2"]
    assert wanted.kept["day"].tolist() == ["2020-01-01"] * 3
    with pytest.raises(Trouble, match=r"column 'list' has type BIGINT\[\]"):
        frame_of(path)
    with pytest.raises(Trouble, match="column 'day' has type DATE, but each cell must be a number"):
        frame_of(path, {"day": "number"})


@pytest.mark.slow
def test_too_little_memory_is_told(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b\n" + "".join(f"{i * 1.25},{i}\n" for i in range(300_000)))
    source = open_source(path)
    source.database.execute("SET memory_limit = '2MB'")
    with pytest.raises(MemoryError, match=r"does not suffice to read .*t\.csv"):
        read(source, dict.fromkeys(source.names))


CELL = st.one_of(
    st.from_regex(r"[+-]?[0-9]{0,3}[.,]?[0-9]{0,3}([eE][+-]?[0-9]{1,2})?", fullmatch=True),
    st.sampled_from(
        [*MISSING, *ALWAYS_MISSING, "true", "False", "inf", "-INFINITY", "nano", "1_000", "0x1f", "00", "-0"]
    ),
    st.sampled_from(["2020-01-31", "2020-01-31 10:00", "2020-01-31T10:00:00.25Z", "2020-1-1", "20200131"]),
    st.text("0123456789.,-+eE _:TZ", max_size=8),
)


@pytest.mark.slow
@given(cells=st.lists(CELL, min_size=1, max_size=4), decimals=st.sampled_from(["", ".", ",", ".,"]))
def test_patterns_and_casts_tell_the_same_forms(cells: list[str], decimals: str) -> None:
    """The form that is guessed in Python from the first rows is the one that SQL would find in all rows."""
    guess = cell_types.guess(cells, decimals, (*ALWAYS_MISSING, *MISSING))
    having = cell_types.candidates("nothing", decimals)
    counting = ", ".join(cell_types.counting("c", having))
    query = f"SELECT {counting} FROM (SELECT known(unnest(CAST(? AS VARCHAR[]))) AS c)"
    row = DATABASE.execute(query, [cells]).fetchone()
    assert row is not None
    assert cell_types.natural(row, having) == guess


DATABASE = duckdb.connect()
for macro in cell_types.macros((*ALWAYS_MISSING, *MISSING)):
    DATABASE.execute(macro)


@pytest.mark.slow
def test_json_lines(tmp_path: Path) -> None:
    """Types are JSON's own: texts stay texts, whatever they look like, unless all of them are times."""
    lines = [
        '{"whole": 1, "real": 1.10, "A": "x", "a": "up", "zip": "00123", "digits": "12", "day": '
        '"2020-01-31"}',
        "",
        '{"whole": null, "real": -0.0, "huge": 123456789012345678901, "flag": true, "mixed": 1, "day": null}',
        '{"real": 5e-324, "late": 0.30000000000000004, "flag": false, "mixed": "b", "nan": NaN, '
        '"we\\"i/r~d": 2}',
    ]
    for name, pack in (("t.jsonl", bytes), ("t.ndjson.gz", gzip.compress)):
        frame = frame_of(written(tmp_path, pack("\n".join(lines).encode()), name))
        assert list(frame.columns)[:7] == ["whole", "real", "A", "a", "zip", "digits", "day"]
        found = {key: values(column) for key, column in frame.columns.items()}
        assert found["whole"] == [1, None, None]
        assert [str(value) for value in found["real"]] == ["1.1", "-0.0", "5e-324"]
        assert found["A"] == ["x", None, None]
        assert found["a"] == ["up", None, None]
        assert found["zip"] == ["00123", None, None]
        assert found["digits"] == ["12", None, None]
        assert found["day"] == [datetime(2020, 1, 31), None, None]
        assert found["huge"] == [None, 123456789012345678901, None]
        assert found["flag"] == [None, True, False]
        assert found["mixed"] == [None, "1", "b"]
        assert found["nan"] == [None, None, None]
        assert found["late"] == [None, None, 0.30000000000000004]
        assert found['we"i/r~d'] == [None, None, 2]
    assert frame_of(tmp_path / "t.jsonl", {"digits": "number"}).columns["digits"][0] == 12.0
    with pytest.raises(Trouble, match=r"line 1: column 'A' has the cell 'x', which is not a number"):
        frame_of(tmp_path / "t.jsonl", {"A": "number"})
    with pytest.raises(Trouble, match=r"line 2: column 'b' has the number 1e400"):
        frame_of(written(tmp_path, '{"b": 1}\n{"b": 1e400}\n', "u.jsonl"))


def test_late_keys_and_texts_of_json_lines_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treewright.cli.tables.json_lines.SAMPLED", 5)
    lines = ['{"a": 1, "b": "2020-01-01"}'] * 20 + ['{"a": "x", "b": "then", "c": 3}']
    frame = frame_of(written(tmp_path, "\n".join(lines), "t.jsonl"))
    assert frame.forms == {"a": "text", "b": "text", "c": "integer"}
    assert values(frame.columns["c"])[-2:] == [None, 3]


@pytest.mark.slow
def test_cells_that_are_missing_are_as_said(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b,c\n1,NA,x\n-999,FR, - \nNaN,,?\n")
    source = open_source(path, Dialect(na_values=["-999", "-"]))
    frame = read(source, dict.fromkeys(source.names))
    assert values(frame.columns["a"]) == [1, None, None]
    assert values(frame.columns["b"]) == ["NA", "FR", None]
    assert values(frame.columns["c"]) == ["x", None, "?"]
    lines = written(tmp_path, '{"a": -999, "b": "NA"}\n{"a": 1.5, "b": "none"}\n', "t.jsonl")
    source = open_source(lines, Dialect(na_values=["-999", "none"]))
    frame = read(source, dict.fromkeys(source.names))
    assert values(frame.columns["a"]) == [None, 1.5]
    assert values(frame.columns["b"]) == ["NA", None]
    parquet = tmp_path / "t.parquet"
    duckdb.sql(
        "COPY (SELECT * FROM (VALUES (-999, -999.0::DOUBLE, '-999', DATE '2020-01-01'), "
        f"(2, 2.5, 'NA', NULL)) AS t(i, f, s, d)) TO '{parquet}' (FORMAT parquet)"
    )
    source = open_source(parquet, Dialect(na_values=["-999", "none"]))
    frame = read(source, dict.fromkeys(source.names))
    assert [values(frame.columns[name]) for name in ("i", "f", "s")] == [[None, 2], [None, 2.5], [None, "NA"]]
    assert values(frame.columns["d"]) == [datetime(2020, 1, 1), None]


@pytest.mark.parametrize(
    ("said", "separator"), [("tab", "\t"), (":", ":"), ("\\t", "\t"), ("space", " "), ("-", "-")]
)
def test_a_separator_may_be_said(tmp_path: Path, said: str, separator: str) -> None:
    text = "\n".join(separator.join(row) for row in (["a,b", "c;d"], ["1", "x,y"], ["2", '"a b"']))
    source = open_source(written(tmp_path, text), Dialect(separator=said))
    frame = read(source, dict.fromkeys(source.names))
    assert frame.columns["a,b"].tolist() == [1, 2]
    assert frame.columns["c;d"].tolist() == ["x,y", "a b"]


def test_tabs_are_preferred_where_the_name_says_so(tmp_path: Path) -> None:
    text = "a,x\tb,y\n1,5\t2,5\n"
    assert open_source(written(tmp_path, text, "t.tsv")).names == ("a,x", "b,y")
    assert open_source(written(tmp_path, "a,b\n1,2\n", "u.tsv")).names == ("a", "b")


@pytest.mark.slow
def test_five_thousand_columns(tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(5000)]
    rows = [",".join(str((i * 7 + j * 13) % 101) for j in range(5000)) for i in range(3)]
    frame = frame_of(written(tmp_path, "\n".join([",".join(names), *rows])))
    assert list(frame.columns) == names
    assert [frame.columns[f"c{j}"].tolist() for j in (0, 4999)] == [[0, 7, 14], [44, 51, 58]]
