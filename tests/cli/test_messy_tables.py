"""Messy tables on the command line: odd encodings, dirty cells, files that are not what they should be."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treewright import cli, load
from treewright.cli.errors import Trouble
from treewright.cli.options import Dialect
from treewright.cli.tables import encodings
from treewright.cli.tables.reader import read
from treewright.cli.tables.sources import open_source

pytestmark = pytest.mark.slow

CAFE = "a;name\n1;café\n2;naïve\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(capfd: pytest.CaptureFixture[str], *arguments: Any) -> tuple[str, str]:
    """The output and the notes of a command."""
    cli.main([str(argument) for argument in arguments])
    done = capfd.readouterr()
    return done.out, done.err


def fails(capfd: pytest.CaptureFixture[str], *arguments: Any) -> str:
    """The one line that a command ends with."""
    with pytest.raises(SystemExit):
        cli.main([str(argument) for argument in arguments])
    done = capfd.readouterr()
    assert done.out == ""
    assert done.err.count("\n") == 1
    return done.err


def names_in(path: str, **options: Any) -> list[str]:
    source = open_source(path, Dialect(**options))
    return read(source, {"name": "text"}).columns["name"].tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252", "latin-1"]
)
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_encodings_are_told_from_the_bytes(encoding: str, name: str) -> None:
    content = CAFE.encode(encoding)
    Path(name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert names_in(name) == ["café", "naïve"]


def test_encodings_of_json_lines_and_pipes(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = '{"a": 1, "name": "café"}\n'
    Path("t.jsonl").write_bytes(line.encode("utf-16"))
    assert names_in("t.jsonl") == ["café"]
    for content in (line.encode("utf-16"), CAFE.encode("cp1252")):
        Path("piped").write_bytes(content)
        with open("piped", "rb") as piped:
            monkeypatch.setattr("sys.stdin", type("Input", (), {"buffer": piped, "closed": False})())
            out, _ = run(capfd, "describe", "-")
        assert "café" in out


def test_an_encoding_that_is_a_guess_is_noted(capfd: pytest.CaptureFixture[str]) -> None:
    Path("t.csv").write_bytes(CAFE.encode("latin-1"))
    _, err = run(capfd, "describe", "t.csv")
    assert "note: t.csv is not UTF-8; read as Windows-1252 (--encoding names another)" in err
    out, err = run(capfd, "describe", "t.csv", "--encoding", "cp850")
    assert (err, "cafÚ" in out) == ("", True)
    found = json.loads(run(capfd, "describe", "t.csv", "--json")[0])
    assert found["notes"] == ["t.csv is not UTF-8; read as Windows-1252 (--encoding names another)"]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (
            CAFE.encode("latin-1"),
            ["--encoding", "utf-8"],
            "line 2 is not UTF-8 text: it has the byte 0xE9 after '1;caf'; "
            "--encoding names another, such as cp1252",
        ),
        (CAFE.encode("latin-1"), ["--encoding", "utf9"], "--encoding 'utf9' is unknown; did you mean utf-8?"),
        (CAFE.encode("latin-1"), ["--encoding", "base64"], "--encoding 'base64' is unknown"),
        (CAFE.encode("utf-16"), ["--encoding", "latin-1"], "begins with the byte order mark of UTF-16"),
        (CAFE.encode("utf-16")[:-1], [], "t.csv, line 3 is not utf-16 text"),
        (b"a;name\n1;M\x81ller\n", [], "t.csv, line 2 is not Windows-1252 text: it has the byte 0x81"),
        (b"a;name\n\x01\x02;\xff\xfe\n", [], "t.csv is not text (it has control characters)"),
    ],
)
def test_bytes_that_are_no_text(
    capfd: pytest.CaptureFixture[str], content: bytes, options: list[str], message: str
) -> None:
    Path("t.csv").write_bytes(content)
    assert message in fails(capfd, "describe", "t.csv", *options)


def test_lines_are_right_after_transcoding(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encodings, "CHUNK", 7)  # so that characters and line ends fall apart
    content = "a,b\r\n" + "é,1\r\n" * 50 + "ü,1,2\r\n"
    for encoding in ("utf-16", "latin-1", "utf-32-le"):
        Path("t.csv").write_bytes(content.encode(encoding))
        said = fails(capfd, "describe", "t.csv", "--encoding", encoding)
        assert "t.csv, line 52 has 3 cells" in said
    Path("t.csv").write_bytes(content.encode("latin-1").replace(b"\xfc", b"\x81"))
    assert "t.csv, line 52 is not Windows-1252" in fails(capfd, "describe", "t.csv")


DIRTY = "Age;income;day;flag;order;share;y\n"


def dirty(rows: int = 300) -> str:
    """A table with German numbers and dates, in which income and age decide."""
    draw, lines = random.Random(3), []
    for i in range(rows):
        age, income = draw.randint(18, 80), draw.uniform(100, 9000)
        marked = f"{income:,.2f}".translate(str.maketrans(",.", ".,"))
        cells = [
            "twelve" if i == 15 else str(age),
            f"{marked} €",
            f"{draw.randint(1, 28):02}.{draw.randint(1, 12):02}.{draw.randint(2015, 2022)}",
            draw.choice(["TRUE", "ja", "nein", "false"]),
            f"{draw.randint(1, 12):02}/{draw.randint(1, 12):02}/2021",
            f"{draw.randint(0, 100)} %",
            "yes" if income > 4500 else "no",
        ]
        lines.append(";".join(cells) + "\n")
    return DIRTY + "".join(lines)


def test_dirty_cells_are_read_and_told(capfd: pytest.CaptureFixture[str]) -> None:
    Path("t.csv").write_text(dirty())
    out, err = run(capfd, "fit", "t.csv", "--target", "y", "--no-report", "-o", "t.json")
    assert "column 'Age': 1 of 300 cells is not a number ('twelve' in line 17): read as numbers" in err
    assert "read as numbers with a decimal comma, dots between thousands and '€'" in err
    assert "column 'day' holds dates as text" in err
    assert "column 'order' stays categories" in err
    assert "--date-format" in err
    assert "income <= 4" in out
    columns = {column.name: column for column in load("t.json").schema.columns}
    kinds = {name: column.kind for name, column in columns.items()}
    assert kinds == {
        "Age": "number",
        "income": "number",
        "day": "time",
        "flag": "category",
        "order": "category",
        "share": "number",
    }
    assert columns["income"].text is not None
    assert (columns["income"].text.decimal, columns["flag"].categories) == (",", (False, True))


@pytest.mark.slow
def test_new_files_are_read_as_the_model_was_fitted(capfd: pytest.CaptureFixture[str]) -> None:
    Path("t.csv").write_text(dirty())
    run(capfd, "fit", "t.csv", "--target", "y", "--no-report", "-o", "t.json", "--test-size", "0")
    Path("new.csv").write_text(DIRTY + "30;1.000,00 €;01.02.2020;ja;x;5 %;no\n30;n/a;;;;;no\n30;abc;;;;;no\n")
    out, err = run(capfd, "predict", "t.json", "new.csv")
    assert out.splitlines()[:2] == ["prediction", "no"]
    assert "new.csv: column 'income': 1 of 2 cells is not a number ('abc' in line 4): read as missing" in err
    assert err.count("column 'income'") == 1
    out, _ = run(capfd, "explain", "t.json", "new.csv", "--row", "1")
    assert "income is 1000" in out
    out, _ = run(capfd, "explain", "t.json", "--set", "income=1.000,50 €")
    assert "income is 1000.5" in out
    out, err = run(capfd, "show", "t.json", "--test", "new.csv")
    assert "('abc' in line 4)" in err
    # a decimal point is no decimal comma: the option says so, where the file is written otherwise
    Path("point.csv").write_text("income,y\n1000.50,no\n8000.25,yes\n")
    assert "no cell of column 'income' can be read" in fails(capfd, "predict", "t.json", "point.csv")
    out, _ = run(capfd, "predict", "t.json", "point.csv", "--decimal", "point", "--thousands", "none")
    assert out.split() == ["prediction", "no", "yes"]


def test_streamed_pieces_count_once(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treewright.cli.tables.reader.CELLS_AT_ONCE", 1)
    Path("t.csv").write_text("a,y\n" + "".join(f"{i},{'uv'[i > 50]}\n" for i in range(100)))
    run(capfd, "fit", "t.csv", "--target", "y", "--no-report", "-o", "t.json")
    cells = ["1"] * 100 + ["x", "2", "y"] + ["99"] * 200
    Path("new.csv").write_text("a\n" + "\n".join(cells) + "\n")
    out, err = run(capfd, "predict", "t.json", "new.csv")
    assert len(out.splitlines()) == 304
    assert "new.csv: column 'a': 2 of 303 cells are not numbers ('x' in line 102): read as missing" in err
    assert "2 rows with missing values" in err
    assert out.splitlines()[1] == "u"
    assert out.splitlines()[-1] == "v"


@pytest.mark.slow
def test_targets_of_dirty_numbers(capfd: pytest.CaptureFixture[str]) -> None:
    rows = "".join(f"{i};{i},5 €\n" for i in range(40))
    Path("t.csv").write_text(f"a;price\n{rows}")
    out, err = run(capfd, "fit", "t.csv", "--target", "price", "--no-report", "-o", "t.json")
    assert "target price: numbers from 0.5 to 39.5" in out
    assert "target 'price' holds numbers as text ('0,5 €' in line 2)" in err
    run(capfd, "report", "t.json", "--train", "t.csv", "-o", "t.html")
    out, _ = run(capfd, "fit", "t.csv", "--target", "price", "--classes", "--no-report", "-o", "t.json")
    assert "40 classes" in out


def values(path: str, **options: Any) -> dict[str, Any]:
    """What `describe` says of each column."""
    from treewright.cli.tables.profiles import profiles_of

    source = open_source(path, Dialect(**options))
    profiles, _ = profiles_of(read(source, dict.fromkeys(source.names)), {})
    return {profile.name: (profile.kind, profile.least, profile.most) for profile in profiles}


@pytest.mark.slow
def test_marks_that_are_given() -> None:
    Path("t.csv").write_text("a;b;c\n1.234;1,5;5\n2.500;2,25;7\n")
    assert values("t.csv")["a"] == ("number", 1.234, 2.5)
    assert values("t.csv", decimal=["comma"])["a"] == ("number", 1234.0, 2500.0)
    assert values("t.csv", thousands=["."])["a"] == ("number", 1234.0, 2500.0)
    assert values("t.csv", decimal=["a=,"]) == {
        "a": ("number", 1234.0, 2500.0),
        "b": ("number", 1.5, 2.25),
        "c": ("number", 5, 7),
    }
    Path("quoted.csv").write_text('a,b\n"1,5",x\n"2,25",y\n')
    assert values("quoted.csv", decimal=[","])["a"] == ("number", 1.5, 2.25)


@pytest.mark.slow
def test_dates_that_are_given(capfd: pytest.CaptureFixture[str]) -> None:
    Path("t.csv").write_text("d,n,y\n03/04/2021,20210304,a\n05/06/2021,20210506,b\n")
    assert values("t.csv")["d"][0] == "category"
    for pattern, month in (("%d/%m/%Y", 4), ("%m/%d/%Y", 3)):
        kind, least, _ = values("t.csv", date_format=[f"d={pattern}"])["d"]
        assert (kind, least.month) == ("time", month)
    kind, least, _ = values("t.csv", date_format=["n=%Y%m%d"])["n"]
    assert (kind, least.isoformat()) == ("time", "2021-03-04T00:00:00")
    said = fails(capfd, "fit", "t.csv", "--target", "y", "--kinds", "d=time", "--test-size", "0")
    assert "'03/04/2021' in line 2 may be day/month/year or month/day/year" in said
    assert "--date-format" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--decimal", ";"], "--decimal ;: it must be a point or a comma"),
        (["--decimal", ",", "--thousands", ","], "do not go together"),
        (["--decimal", ",", "--decimal", "."], "--decimal"),
        (["--decimal", "z=,"], "no column 'z' (--decimal)"),
        (["--date-format", "%Q"], "--date-format: "),
        (["--thousands", "a=x"], "--thousands a=x: it must be a comma, point"),
    ],
)
def test_marks_that_cannot_be(capfd: pytest.CaptureFixture[str], options: list[str], message: str) -> None:
    Path("t.csv").write_text("a,y\n1,x\n")
    assert message in fails(capfd, "describe", "t.csv", *options)


@pytest.mark.slow
def test_kinds_that_are_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    rows = [f"{'x' if i % 3 else i},{i:03},{'ab'[i % 2]}\n" for i in range(60)]
    Path("t.csv").write_text("v,code,y\n" + "".join(rows))
    asked = ["--kinds", "v=number", "--kinds", "code=number"]
    _, err = run(capfd, "fit", "t.csv", "--target", "y", *asked, "--no-report", "-o", "t.json")
    assert (
        "column 'v': 40 of 60 cells are not numbers ('x' in line 3): read as numbers, these as missing" in err
    )
    assert [column.kind for column in load("t.json").schema.columns] == ["number", "number"]
    Path("t.csv").write_text("v,y\n@!,a\n@?,b\n")
    said = fails(capfd, "fit", "t.csv", "--target", "y", "--kinds", "v=number")
    assert "column 'v' is to be read as numbers, but no cell is a number; line 2 is '@!'" in said


def test_every_cell_unreadable_stays_categories(capfd: pytest.CaptureFixture[str]) -> None:
    Path("t.csv").write_text("v,x,y\n" + "".join(f"@@{i % 7}!,{i},{'ab'[i % 2]}\n" for i in range(60)))
    out, err = run(capfd, "fit", "t.csv", "--target", "y", "--no-report", "-o", "t.json")
    assert "1 number, 1 category" in out
    assert "'v'" not in err


def test_two_date_orders_in_one_column(capfd: pytest.CaptureFixture[str]) -> None:
    Path("t.csv").write_text("d,y\n" + "25/12/2020,a\n12/25/2020,b\n" * 30)
    _, err = run(capfd, "fit", "t.csv", "--target", "y", "--no-report", "-o", "t.json")
    assert "column 'd' stays categories: '25/12/2020' in line 2 has the day first" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "age,income,y\n" + "31,1200,50,a\n" * 30,
            "line 2 has 4 cells, but the first line names 3 columns (separated by commas); it looks like "
            "decimal commas in a comma-separated file",
        ),
        ("age,job,y\n" + "31,cook,x,a\n", "(separated by commas); mend or remove it"),
        ("age,job,y\n" + "31,cook\n", "line 2 has 2 cells"),
        (
            "Loans of 2026\n\nage,y\n31,a\n",
            "no column 'y' (--target); its only column is 'Loans of 2026'; is its first line a title",
        ),
        (
            "31,12.5,cook\n" + "44,0.5,cook\n62,1.5,smith\n" * 9,
            "its first line looks like a row, not like names of columns; --no-header",
        ),
        (
            "$31.20,05.03.2020,cook\n" + "$4.50,24.03.2020,cook\n$6.00,25.12.2020,smith\n" * 9,
            "looks like a row",
        ),
        ("?,12.5,cook\n" + "44,0.5,cook\n62,1.5,smith\n" * 9, "looks like a row"),
    ],
)
def test_lines_that_are_wrong(capfd: pytest.CaptureFixture[str], text: str, message: str) -> None:
    Path("t.csv").write_text(text)
    assert message in fails(capfd, "fit", "t.csv", "--target", "y")


def test_a_title_above_the_names(capfd: pytest.CaptureFixture[str]) -> None:
    Path("t.csv").write_text("Loans of 2026\n\nage,y\n31,a\n")
    told = fails(capfd, "describe", "t.csv")
    assert "line 3 has 2 cells" in told
    assert "if the first line is a title, delete the lines above the names" in told


@pytest.mark.parametrize("begin", ["", "\ufeff", "\n"])
def test_a_line_for_excel_names_the_separator(capfd: pytest.CaptureFixture[str], begin: str) -> None:
    Path("t.csv").write_text(f"{begin}sep=|\nname|x\n" + "".join(f"a,{i}|{i};5\n" for i in range(4)))
    cli.main(["describe", "t.csv", "--json"])
    told = json.loads(capfd.readouterr().out)
    assert (told["rows"], [column["name"] for column in told["columns"]]) == (4, ["name", "x"])
    Path("wrong.csv").write_text("sep=;\na;b\n1;2\n1;2;3\n")
    assert "wrong.csv, line 4 has 3 cells" in fails(capfd, "describe", "wrong.csv")


@pytest.mark.slow
def test_huge_cells_never_reach_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    huge = "x" * 3_000_000
    rows = "".join(f"{i},{huge if i % 3 == 0 else 'b'},{'uv'[i % 3 == 0]}\n" for i in range(30))
    Path("t.csv").write_text(f"a,t,y\n{rows}")
    for target in ("y", "t"):
        out, err = run(capfd, "fit", "t.csv", "--target", target, "--no-report", "-o", "t.json")
        assert len(out) + len(err) < 20_000
        for command in ("show t.json", "rules t.json", "explain t.json t.csv --row 1", "describe t.csv"):
            out, err = run(capfd, *command.split())
            assert len(out) + len(err) < 20_000, command
    assert "(3,000,000 characters)" in run(capfd, "show", "t.json")[0]


@pytest.mark.slow
def test_describe_says_how_and_what_next(capfd: pytest.CaptureFixture[str]) -> None:
    Path("t.csv").write_text(dirty())
    out, err = run(capfd, "describe", "t.csv")
    assert err == ""
    lines = {line.split()[0]: line for line in out.splitlines() if line}
    assert lines["income"].endswith("(decimal comma, dots between thousands, '€')")
    assert lines["day"].endswith("(day.month.year)")
    assert lines["share"].endswith("1 … 99 (with '%')")
    assert lines["Age"].split()[:3] == ["Age", "number", "0.3"]
    assert "• column 'order' stays categories" in out
    assert out.endswith(
        "Next, if 'y' is to be predicted (a guess by its name):\n  treewright fit t.csv --target y\n"
    )
    found = json.loads(run(capfd, "describe", "t.csv", "--json", "--target", "flag")[0])
    income = found["columns"][1]
    assert income["distinct_share"] == pytest.approx(1, abs=0.02)
    assert income["read_as"] == "decimal comma, dots between thousands, '€'"
    assert {"text-unread", "text-numbers", "text-date-order"} <= {each["code"] for each in found["advice"]}
    assert found["next"] == ["treewright", "fit", "t.csv", "--target", "flag"]


def test_the_next_command_works(capfd: pytest.CaptureFixture[str]) -> None:
    rows = "".join(f"{i};n{i};{i % 7};{'no' if i % 7 < 3 else 'yes'}\n" for i in range(1, 60))
    Path("my table.csv").write_text(f"nr;name;x;answer\n{rows}")
    found = json.loads(run(capfd, "describe", "my table.csv", "--json", "--na-values", "-1")[0])
    asked = ["--na-values", "-1", "--target", "answer", "--drop", "nr", "--drop", "name"]
    assert found["next"] == ["treewright", "fit", "my table.csv", *asked]
    out, _ = run(capfd, *found["next"][1:], "--no-report")
    assert "x <= 2.5" in out


@pytest.mark.slow
def test_recognised_numbers_equal_clean_ones(capfd: pytest.CaptureFixture[str]) -> None:
    """A dirty file gives the same tree as the clean one, up to how it says that texts are read."""
    draw = np.random.default_rng(0)
    numbers = draw.uniform(0, 5000, 200).round(2)
    days = draw.integers(1, 28, 200)
    labels = ["yes" if n > 2500 and d > 9 else "no" for n, d in zip(numbers, days, strict=True)]
    clean = [f"{n};2020-05-{d:02};{y}" for n, d, y in zip(numbers, days, labels, strict=True)]
    marked = [f"{n:,.2f}".translate(str.maketrans(",.", ".,")) for n in numbers]
    dirty = [f"{n} EUR;{d:02}.05.2020;{y}" for n, d, y in zip(marked, days, labels, strict=True)]
    shown = []
    for name, rows in (("clean", clean), ("dirty", dirty)):
        Path(f"{name}.csv").write_text("n;d;y\n" + "\n".join(rows) + "\n")
        run(capfd, "fit", f"{name}.csv", "--target", "y", "--no-report", "-o", f"{name}.json")
        out, _ = run(capfd, "predict", f"{name}.json", f"{name}.csv", "--proba")
        shown.append((run(capfd, "show", f"{name}.json")[0], out))
    assert shown[0] == shown[1]


def test_a_gzip_that_breaks_off_is_trouble() -> None:
    Path("t.csv.gz").write_bytes(gzip.compress(CAFE.encode("latin-1") * 9)[:-12])
    with pytest.raises(Trouble, match=r"t\.csv\.gz is damaged: it does not unpack"):
        open_source("t.csv.gz")
