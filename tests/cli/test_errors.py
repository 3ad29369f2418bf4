"""What goes wrong on the command line is one line on stderr that helps, and nothing is left behind."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from treewright import cli

TABLE = "a,b,y\n1,2,x\n3,4,z\n5,6,x\n"

FILES: dict[str, bytes] = {
    "ok.csv": TABLE.encode(),
    "ok.xlsx": TABLE.encode(),
    "ok.ods": TABLE.encode(),
    "empty.csv": b"",
    "broken.jsonl": b"{",
    "other.csv": b"a,b,y\n2,3,x\n4,4,z\n7,6,x\n",
    "nameless.csv": b"5,2,x\n3,4,z\n5,6,x\n",
    "deep.json": b"[" * 100_000,
    "blank.csv": b"\n\n",
    "header.csv": b"a,b,y\n",
    "short.csv": b"a,b,y\n1,2,x\n3,4\n5,6,x\n",
    "long.csv": b'a,b,y\n1,2,x\n"q\nr",4,z,9\n5,6,x\n',
    "quote.csv": b'a,b,y\n1,2,x\n3,"4,z\n5,6,x\n',
    "binary.csv": b"PK\x03\x04\x00\x00\x08\xff",
    "dos.csv": "a,y\n1,x\n2,Müller\n".encode("cp850"),
    "cut_wide.csv": "a,y\n1,x\n2,z\n".encode("utf-16")[:-1],
    "zip.csv": b"PK\x03\x04" + bytes(range(256)) * 300,
    "noise.jsonl": bytes(range(250, -1, -1)) * 300,
    "empty.jsonl": b"",
    "hollow.jsonl": b"{}\n{}\n",
    "list.jsonl": b'[{"a": 1, "y": "x"}]\n',
    "torn.jsonl": b'{"a": 1, "y": "x"}\n\n{"a": 2\n',
    "bare.jsonl": b'{"a": 1, "y": "x"}\n3\n',
    "nested.jsonl": b'{"a": [1, 2], "y": "x"}\n',
    "cut.jsonl.gz": gzip.compress(b'{"a": 1}\n' * 9)[:20],
    "empty.parquet": b"",
    "names.csv": ("a,y\n" + "".join(f"{i},name {i}\n" for i in range(30))).encode(),
    "wordy.csv": f"{'long' * 2500},y\n1,x\n".encode(),
    "newer.json": b'{\n  "format": "treewright model",\n  "version": 99,\n  "news": []\n}\n',
    "twice.csv": b"a,a,y\n1,2,x\n",
    "rows.csv": ("a,y\n" + "".join(f"{i},{'xz'[i % 2]}\n" for i in range(60))).encode(),
    "copy.csv": ("a,y\n" + "".join(f"{i},{'xz'[i % 2]}\n" for i in range(59, 0, -1))).encode(),
    "new.csv": ("a,y\n" + "".join(f"{i},{'xz'[i % 2]}\n" for i in range(100, 160))).encode(),
    "some.csv": ("a,y\n" + "".join(f"{i},{'xz'[i % 2]}\n" for i in range(120, 180))).encode(),
    "no_y.csv": b"a,b\n1,2\n",
    "new_class.csv": b"a,b,y\n1,2,q\n",
    "one.csv": b"a,y\n1,x\n",
    "no_target.csv": b"a,y\n1,\n2,NA\n",
    "some_target.csv": b"a,y\n1,x\n2,NA\n3,\n",
    "only_target.csv": b"y\nx\nz\n",
    "ids.csv": b"id,y\n9007199254740992,x\n9007199254740993,z\n",
    "times.csv": b"a,y\n1,2020-01-01\n2,2020-01-02\n",
    "weights.csv": b"a,w,y\n1,1,x\n2,-1,z\n",
    "damaged.csv.gz": b"\x1f\x8bjunk",
    "text.parquet": TABLE.encode(),
    "cut.parquet": b"PAR1junkPAR1",
    "renamed.csv": b"PAR1junkPAR1",
    "lacks.csv": b"A,c\n1,2\n",
    "words.csv": b"a,b\n1,2\nfoo,4\n",
    "no_numbers.csv": b"a,b\nfoo,2\nbar,4\n",
    "damaged.json": b'{\n  "format": "treewright model",\n  "version": 1\n}',
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Path:
    """A folder of files, most of them bad, with a model of the good one."""
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "sub.csv").mkdir()
    cli.main(["fit", "ok.csv", "--target", "y", "-o", "m.json"])
    capfd.readouterr()
    return tmp_path


FIT = [
    ("nope.csv", "there is no file nope.csv"),
    ("okk.csv", "there is no file okk.csv; did you mean ok.csv?"),
    ("sub.csv", "sub.csv is a folder"),
    ("m.json", "m.json looks like a model, but a table is wanted"),
    ("ok.ods", "tables are read from CSV (.csv .tsv .tab .txt), JSON lines (.jsonl"),
    ("ok.xlsx", "ok.xlsx is not an Excel file (.xlsx), or it is damaged"),
    ("empty.csv", "empty.csv is empty"),
    ("blank.csv", "blank.csv is empty"),
    ("header.csv", "has names of columns but no rows"),
    ("short.csv", "short.csv, line 3 has 2 cells, but the first line names 3 columns (separated by commas)"),
    ("long.csv", "long.csv, line 3 has 4 cells"),
    ("quote.csv", "from line 3 on: its quotes do not close"),
    ("binary.csv", "binary.csv is not text"),
    (
        "dos.csv",
        "dos.csv, line 3 is not Windows-1252 text: it has the byte 0x81 after '2,M'; --encoding",
    ),
    ("cut_wide.csv", "cut_wide.csv, line 3 is not utf-16 text"),
    ("zip.csv", "zip.csv is not text (it has zero bytes); a table is read from CSV, JSON lines, Parquet"),
    ("noise.jsonl", "noise.jsonl is not text"),
    ("empty.jsonl", "empty.jsonl is empty"),
    ("hollow.jsonl", "hollow.jsonl has no rows with columns in them"),
    ("list.jsonl", "list.jsonl is one JSON list; JSON lines are objects, one per line"),
    ("torn.jsonl", "torn.jsonl, line 3 is not JSON"),
    ("bare.jsonl", "bare.jsonl, line 2 is no JSON object"),
    ("nested.jsonl", "nested.jsonl: 'a' holds lists or objects"),
    ("cut.jsonl.gz", "cut.jsonl.gz is damaged: it does not unpack"),
    ("empty.parquet", "is not a Parquet file, or it is damaged"),
    ("names.csv", "the target 'y' has 30 classes in 30 rows, too many to learn them; name another column"),
    ("twice.csv", "several columns have the name 'a'"),
    ("no_target.csv", "the target 'y' is missing in every row"),
    (
        "some_target.csv",
        "'y' is missing in line 3 (and in 1 more row); --drop-missing-target leaves such rows out",
    ),
    ("only_target.csv", "only_target.csv has no columns besides the target"),
    ("ids.csv", "column 'id': line 3 is 9007199254740993, beyond ±2^53"),
    ("times.csv", "target 'y' holds times"),
    ("damaged.csv.gz", "damaged.csv.gz is damaged"),
    ("text.parquet", "is not a Parquet file, or it is damaged"),
    ("cut.parquet", "is not a Parquet file, or it is damaged"),
    ("renamed.csv", "renamed.csv is a Parquet file"),
]
OTHER = [
    (1, "fit ok.csv --target Y", "ok.csv has no column 'Y' (--target); did you mean 'y'?"),
    (1, "fit ok.csv --target price", "the columns are 'a', 'b', 'y'"),
    (1, "fit wordy.csv --target z", "the columns are 'longlong"),
    (1, "fit ok.csv --target y --kinds c=number", "no column 'c' (--kinds)"),
    (1, "fit ok.csv --target y --monotonic-cst c=1", "monotonic_cst: there is no column 'c'"),
    (2, "fit ok.csv --target y --monotonic-cst a", "--monotonic-cst a: it must be COLUMN=1 or COLUMN=-1"),
    (2, "fit ok.csv --target y --monotonic-cst a=2", "--monotonic-cst a=2: it must be COLUMN=1 or COLUMN=-1"),
    (
        2,
        "fit ok.csv --target y --monotonic-cst a=1 --monotonic-cst a=-1",
        "column 'a' cannot have both 1 and -1",
    ),
    (2, "fit ok.csv --target y --missing surogate", "--missing surogate is unknown; did you mean surr"),
    (1, "describe nope.csv", "there is no file nope.csv"),
    (1, "describe header.csv", "header.csv has names of columns but no rows"),
    (1, "describe short.csv", "short.csv, line 3 has 2 cells"),
    (1, "describe ok.csv --drop q", "no column 'q' (--drop)"),
    (
        1,
        "describe ok.csv --kinds y=time",
        "column 'y' is to be read as times, but no cell is a date; line 2 is 'x'",
    ),
    (1, "describe m.json", "m.json looks like a model, but a table is wanted here"),
    (2, "describe ok.csv --drop a --drop b --drop y", "--drop leaves no column"),
    (1, "predict newer.json ok.csv", "was written by a newer treewright (format 99; this one reads"),
    (1, "show newer.json", "upgrade treewright"),
    (2, "show m.json --json --format svg", "--format svg"),
    (2, "predict m.json ok.csv --format xml", "--format xml is unknown; known: csv, tsv, jsonl"),
    (2, "predict m.json ok.csv --format tsv -o p.csv", "--format tsv is for the standard output"),
    (2, "predict m.json ok.csv --format tsv --json", "--json is a format of its own"),
    (2, "fit ok.csv --target y -o -", "the tree is saved to a file"),
    (2, "fit ok.csv --target y --kinds a", "--kinds a: it must be COLUMN=KIND"),
    (
        2,
        "fit ok.csv --target y --kinds a=numbr",
        "the kinds are number, category, time; did you mean a=number?",
    ),
    (2, "fit ok.csv --target y --kinds a=number --kinds a=time", "'a' cannot have both 'number' and 'time'"),
    (2, "fit ok.csv --target y --kinds a=number --drop a", "column 'a' is named for two things"),
    (2, "fit ok.csv --target y --separator ab", "--separator 'ab': it must be one character"),
    (2, "fit list.jsonl --target y --separator ;", "--separator is for CSV files; JSON lines have none"),
    (2, "fit text.parquet --target y --separator ;", "--separator is for CSV files; a Parquet file has none"),
    (1, "describe broken.jsonl", "broken.jsonl, line 1 is not JSON"),
    (1, "describe .", ". is a folder; name one CSV"),
    (1, "show -", "a model is read from a file, not from the standard input"),
    (2, "fit ok.csv --target y --random-state 1.5", "--random-state: '1.5' is not a whole number"),
    (2, "fit ok.csv --target y --max-leaf-nodes 2.7", "--max-leaf-nodes: '2.7' is not a whole number"),
    (2, "fit ok.csv --target y --n-jobs 0.5", "--n-jobs: '0.5' is not a whole number"),
    (2, "show m.json --max-depth 1e1", "--max-depth: '1e1' is not a whole number"),
    (2, "explain m.json ok.csv --row 1.9", "--row: '1.9' is not a whole number"),
    (2, "fit ok.csv --target y --cost x:z=nan", "--cost x:z=nan: the number must be finite and at least 0"),
    (2, "fit ok.csv --target y --prior x=inf --prior z=0", "--prior x=inf: the number must be finite"),
    (
        2,
        "export m.json --format python --option check=1",
        "--option: python has no option 'check'; its options",
    ),
    (2, "export m.json --format sql --option table=[1]", "--option: sql cannot work with one of the values"),
    (
        2,
        "export m.json --format svg --option title=5",
        "--option: svg cannot work with one of the values title=5",
    ),
    (
        2,
        "export m.json --option intervals=1",
        "--option: text cannot work with one of the values intervals=1",
    ),
    (1, "prune m.json --method srm --option c=[1]", "c is [1]; it must be a number >= 0 or 'cv'"),
    (1, "prune m.json --method bottom_up --option delta=null", "delta is None; it must be between 0 and 1"),
    (
        1,
        "prune m.json --method reduced_error --validation other.csv --option significance={}",
        "significance is {}; it must be between 0 and 1",
    ),
    (
        1,
        "prune m.json --method chi_squared --option significance=[1]",
        "significance is [1]; it must be between",
    ),
    (
        1,
        'prune m.json --method pessimistic --option raising=false --option confidence="x"',
        "confidence is 'x'; it must be above 0",
    ),
    (2, "fit --taget", "there is no option --taget here; did you mean --target?"),
    (2, "fit ok.csv --traget y", "there is no option --traget here; did you mean --target?"),
    (2, "fit ok.csv --traget=y", "there is no option --traget here; did you mean --target?"),
    (2, "fit --traget y ok.csv", "there is no option --traget here; did you mean --target?"),
    (
        2,
        "fit ok.csv --target y --max-depht 3",
        "there is no option --max-depht here; did you mean --max-depth?",
    ),
    (
        2,
        "fit ok.csv --target y -ox.json --no-repot",
        "there is no option --no-repot here; did you mean --no-re",
    ),
    (2, "describe ok.csv --jsno", "there is no option --jsno here; did you mean --json?"),
    (2, "describe --jsno", "there is no option --jsno here; did you mean --json?"),
    (2, "predict --prob m.json ok.csv", "there is no option --prob here; did you mean --proba?"),
    (2, "prune m.json --leafs 3", "there is no option --leafs here; did you mean --leaves?"),
    (2, "compare ok.csv --taget y", "there is no option --taget here; did you mean --target?"),
    (2, "explain m.json ok.csv --rwo 1", "there is no option --rwo here; did you mean --row?"),
    (2, "report m.json --tset ok.csv", "there is no option --tset here; did you mean --test?"),
    (2, "show m.json --max-dept 3", "there is no option --max-dept here; did you mean --max-depth?"),
    (2, "rules m.json --quit", "there is no option --quit here; did you mean --quiet?"),
    (2, "export m.json --formt sql", "there is no option --formt here; did you mean --format?"),
    (2, "demo --jsn", "there is no option --jsn here; did you mean --json?"),
    (2, "--verison", "there is no option --verison here; did you mean --version?"),
    (2, "--json describe ok.csv", "there is no option --json here (treewright --help tells more)"),
    (2, "describe ok.csv --zzz", "there is no option --zzz here (treewright describe"),
    (2, "describe -x.csv", "there is no option -x.csv here; a file of this name is ./-x.csv"),
    (2, "describe ok.csv --na-values --zzz --jsno", "there is no option --jsno here"),
    (2, "fit ok.csv --target y -o --json", "-o needs a value, and --json is an option"),
    (
        2,
        f"fit ok.csv --target y --option c={'[' * 100_000}",
        "--option: the value [[[[[[[[[[[[[[[[[[[[… is nested",
    ),
    (2, f"export m.json --option c={'[' * 100_000}", "--option: the value [[[[[[[[[[[[[[[[[[[[… is nested"),
    (
        1,
        "fit ok.csv --target y --cost deep.json",
        "deep.json cannot be read as JSON: maximum recursion depth",
    ),
    (2, "describe list.jsonl --no-header", "--no-header is for CSV and Excel files; JSON lines have"),
    (2, "describe text.parquet --header", "--header is for CSV and Excel files; a Parquet file has"),
    (
        1,
        "fit nameless.csv --target y",
        "looks like a row, not like names of columns; --no-header reads it as one",
    ),
    (
        1,
        "predict m.json nameless.csv",
        "looks like a row, not like names of columns; --no-header reads it as one",
    ),
    (1, "explain m.json nameless.csv --row 1", "looks like a row, not like names of columns; --no-header"),
    (1, "show m.json --test nameless.csv", "looks like a row, not like names of columns; --no-header"),
    (1, "fit ok.csv --target y --drop c", "no column 'c' (--drop)"),
    (1, "fit ok.csv --target y -o none/m.json", "there is no folder 'none'; make it first"),
    (1, "fit ok.csv --target y -o sub.csv", "sub.csv is a folder; name a file in it"),
    (1, "fit ok.csv --target y -o ok.csv", "ok.csv would be overwritten while it is read"),
    (1, "fit ok.csv --target y --test nope.csv", "there is no file nope.csv"),
    (1, "fit ok.csv --target y --test words.csv -o ./words.csv", "would be overwritten"),
    (1, "fit ok.csv --target y --validation no_y.csv", "no_y.csv has no column 'y' (--target)"),
    (1, "fit ok.csv --target y --validation header.csv", "header.csv has names of columns but no rows"),
    (1, "fit ok.csv --target y --validation new_class.csv", "'q'"),
    (1, "fit ok.csv --target y --criterion poisson", "criterion 'poisson' is not for classes"),
    (1, "fit ok.csv --target y --numbers", "ok.csv: target 'y': line 2 is 'x'; every row needs"),
    (
        1,
        "fit weights.csv --target y --weights w",
        "weight: line 3 is -1.0; weights must be finite and not negative",
    ),
    (2, "fit ok.csv", "--target is missing; name the column to predict: treewright describe ok.csv lists"),
    (2, "fit ok.csv --target y -o", "-o needs a value (treewright fit --help tells more)"),
    (2, "predict m.json ok.csv more.csv", "there is no place for 'more.csv'"),
    (1, "predict ok.csv m.json", "ok.csv looks like a table, but a model is wanted here"),
    (1, "predict m.json nope.csv", "there is no file nope.csv"),
    (1, "predict nope.json ok.csv", "there is no file nope.json"),
    (1, "predict damaged.json ok.csv", "damaged"),
    (
        1,
        "predict m.json lacks.csv",
        "lacks.csv has no column 'a', which the tree tests; did you mean 'A'?",
    ),
    (
        1,
        "predict m.json no_numbers.csv",
        "no_numbers.csv: no cell of column 'a' can be read as numbers ('foo' in line 2)",
    ),
    (1, "predict m.json ok.csv --keep q", "ok.csv has no column 'q' (--keep)"),
    (1, "predict m.json ok.csv -o ok.csv", "ok.csv would be overwritten"),
    (1, "predict m.json ok.csv -o p.xlsx", "end the name in .csv or .parquet or .jsonl"),
    (1, "predict m.json ok.csv -o none/p.csv", "there is no folder 'none'"),
    (1, "show ok.csv", "ok.csv looks like a table"),
    (1, "show .", ". is a folder"),
    (1, "show damaged.json", "damaged.json"),
    (2, "demmo", 'Unknown command "demmo"'),
    (2, "fit", "DATA"),
    (2, "fit ok.csv", "--target"),
    (2, "fit ok.csv more.csv --target y", "more.csv"),
    (2, "fit ok.csv --target y --max-depht 3", "--max-dep"),
    (2, "fit ok.csv --target y --max-depth 0", "--max-depth"),
    (2, "fit ok.csv --target y --max-leaf-nodes many", "--max-leaf-nodes"),
    (
        2,
        "fit ok.csv --target y --criterion ginni",
        "--criterion ginni is unknown; did you mean gini? known: absolute_error",
    ),
    (2, "fit ok.csv --target y --test 0.3", "there is no such file; a share of the rows is --test-size 0.3"),
    (2, "fit ok.csv --target y --test words.csv --test-size 0.3", "are two sets of rows; leave one of them"),
    (
        2,
        "fit ok.csv --target y --test-size 1.5",
        "--test-size 1.5: a share of the rows is at least 0 and less than 1",
    ),
    (2, "fit ok.csv --target y --test ok.csv", "--test ok.csv is the table itself; a row grows the tree,"),
    (2, "fit rows.csv --target y --test copy.csv", "--test copy.csv: its rows, or too many of them to be an"),
    (2, "fit rows.csv --target y --test new.csv --validation some.csv", "are in the file of --test as well"),
    (
        2,
        "fit ok.csv --target y --test words.csv --validation ./words.csv",
        "--validation ./words.csv is the file of --test",
    ),
    (
        2,
        "fit ok.csv --target y --validation-fraction 1",
        "--validation-fraction 1: a share of the rows is at least 0",
    ),
    (
        2,
        "fit ok.csv --target y --validation-fraction 0 --prune cost_complexity",
        "0: --prune cost_complexity takes rows that the tree is not grown from; --select folds needs none",
    ),
    (2, "fit ok.csv --target y --validation-fraction 0.5 --prune none", "without pruning uses no such rows"),
    (2, "fit ok.csv --target y --validation-fraction 0.5 --select srm", "--select srm uses no such rows"),
    (2, "fit ok.csv --target y --prune shears", "--prune shears is unknown; known: none, "),
    (2, "fit ok.csv --target y --prune cost-complexity", "did you mean cost_complexity?"),
    (2, "fit ok.csv --target y --select luck", "--select luck is unknown; known: certificate, folds,"),
    (2, "fit ok.csv --target y --select leaves", "--select leaves needs --leaves"),
    (2, "fit ok.csv --target y --select folds --leaves 3", "are two ways to choose a tree"),
    (2, "fit ok.csv --target y --leaves 0", "--leaves"),
    (2, "fit ok.csv --target y --alpha -1", "--alpha"),
    (
        2,
        "fit ok.csv --target y --prune minimum_errors --alpha 1",
        "which --prune minimum_errors does not have",
    ),
    (2, "fit ok.csv --target y --prune none --alpha 1", "--prune none leaves the tree as it is grown"),
    (2, "fit ok.csv --target y --option rule", "--option rule: it must be name=value"),
    (2, "fit ok.csv --target y --option rule=1 --option rule=2", "--option rule is given twice"),
    (2, "fit ok.csv --target y --alpha 1 --option alpha=2", "--alpha and --option alpha=… mean the same"),
    (2, "fit ok.csv --target y --option colour=red", "--option has 'colour', which cost_complexity does not"),
    (1, "fit ok.csv --target y --option rule=9-SE", "rule is '9-SE'; it must be one of 0-SE, 1-SE; did you"),
    (
        1,
        "fit ok.csv --target y --prune srm --option c=[]",
        "c is []; it must be a number >= 0 or 'cv'",
    ),
    (2, "fit ok.csv --target y --delta 2", "--delta 2: the probability of an error is between 0 and 1"),
    (2, "fit ok.csv --target y --delta 0", "--delta 0: the probability"),
    (2, "fit ok.csv --target y --delta nan", "--delta nan: the probability"),
    (2, "fit ok.csv --target y --loss-bound 3", "--loss-bound is for numbers"),
    (2, "fit one.csv --target y --test-size 0.5", "--test-size: of 1 row none can be set aside"),
    (
        2,
        "fit one.csv --target y --validation-fraction 0.5",
        "--validation-fraction: of 1 row none can be set aside",
    ),
    (2, "fit ok.csv --target y --weights y", "column 'y' is named for two things that exclude each other"),
    (2, "fit ok.csv --target y --n-jobs 0", "--n-jobs 0"),
    (2, "show m.json --format papyrus", "--format papyrus is unknown; known:"),
]
CASES = [(1, f"fit {name} --target y", message) for name, message in FIT] + OTHER


@pytest.mark.slow
@pytest.mark.parametrize(("code", "command", "message"), CASES, ids=[command[:80] for _, command, _ in CASES])
def test_trouble_is_one_line(
    folder: Path, capfd: pytest.CaptureFixture[str], code: int, command: str, message: str
) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    with pytest.raises(SystemExit) as stopped:
        cli.main(command.split())
    done = capfd.readouterr()
    assert stopped.value.code == code
    assert done.out == ""
    assert done.err.startswith("treewright: error: ")
    assert done.err.count("\n") == 1
    assert message in done.err
    assert len(done.err) < 500
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before


@pytest.mark.slow
def test_names_that_look_like_options_and_patterns(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Whatever a file is called, it can be read and written."""
    cli.main(["predict", "m.json", "ok.csv"])
    expected = capfd.readouterr().out
    for name in ("-x.csv", "--json.csv", "~.csv", "*.csv", "?.csv", "[a].csv", "a\\b.csv", "$x.csv", "-"):
        (folder / name).write_text(TABLE)
        if name != "-":
            cli.main(["predict", "m.json", f"./{name}"])
            assert capfd.readouterr().out == expected
            cli.main(["predict", "m.json", "--", name])
            assert capfd.readouterr().out == expected
        cli.main(["predict", "m.json", "ok.csv", "-o", f"./p{name}.csv"])
        assert (folder / f"p{name}.csv").read_text() == expected
        (folder / f"p{name}.csv").unlink()
    (folder / "-").unlink()
    cli.main(["export", "m.json", "--format", "sql", "-o", "./-"])
    assert (folder / "-").read_text().startswith("CASE")


def test_files_that_are_none(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for command, name in (("describe", "link.csv"), ("show", "link.json")):
        os.symlink("nowhere", name)
        with pytest.raises(SystemExit):
            cli.main([command, name])
        assert f"error: {name} is a link to nowhere, where there is no file\n" in capfd.readouterr().err
    for command in (["describe", ""], ["predict", "m.json", "ok.csv", "-o", ""]):
        with pytest.raises(SystemExit):
            cli.main(command)
        assert "error: " in (err := capfd.readouterr().err)
        assert "the name of a file is empty" in err


def test_messages_do_not_rule_the_terminal(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name in ("\x1b[31mred.csv", "two\nlines.csv", "bell\a.csv", "n" * 100_000):
        with pytest.raises(SystemExit):
            cli.main(["describe", name])
        err = capfd.readouterr().err
        assert err.count("\n") == 1
        assert err.rstrip("\n").isprintable()
        assert len(err) < 2500


@pytest.mark.slow
def test_a_first_line_without_names_is_noted(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for command in (
        "describe nameless.csv",
        "fit nameless.csv --target x -o n.json",
        "describe nameless.csv --json",
    ):
        cli.main(command.split())
        done = capfd.readouterr()
        said = done.out if "--json" in command else done.err
        assert "nameless.csv: its first line looks like a row, not like names of columns; --no-header" in said
    for option in ("--header", "--no-header", "--quiet"):
        cli.main(["describe", "nameless.csv", option])
        assert capfd.readouterr().err == ""
    cli.main(["fit", "nameless.csv", "--no-header", "--target", "column 3", "-o", "n.json", "--quiet"])
    cli.main(["predict", "n.json", "nameless.csv", "--no-header"])
    assert capfd.readouterr().out == "prediction\nx\nz\nx\n"


@pytest.mark.slow
def test_written_predictions_are_mentioned(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    cli.main(["predict", "m.json", "ok.csv", "-o", "p.csv"])
    done = capfd.readouterr()
    assert (done.out, done.err) == ("", "treewright: 3 predictions written to p.csv\n")
    cli.main(["predict", "m.json", "ok.csv", "-o", "p.csv", "--quiet"])
    done = capfd.readouterr()
    assert (done.out, done.err) == ("", "")
    cli.main(["predict", "m.json", "ok.csv", "-o", "p.csv", "--json"])
    assert capfd.readouterr().err == ""


def test_rows_without_a_target_may_be_dropped(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    cli.main(["fit", "some_target.csv", "--target", "y", "--drop-missing-target"])
    done = capfd.readouterr()
    assert "1 row, 1 column (1 number); 2 rows without a target left out" in done.out
    assert "all rows have the same 'y', 'x': the tree is a single leaf" in done.err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
@pytest.mark.parametrize("command", ["fit ok.csv --target y", "predict m.json ok.csv"])
def test_a_full_disk_is_told(folder: Path, capfd: pytest.CaptureFixture[str], command: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main([*command.split(), "-o", "/dev/full"])
    assert stopped.value.code == 1
    assert capfd.readouterr().err.startswith("treewright: error: /dev/full cannot be written: No space")


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_standard_output_is_told(folder: Path) -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "treewright", "predict", "m.json", "ok.csv"]
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=120
        )
    assert done.returncode == 1
    assert done.stderr.startswith("treewright: error: the standard output cannot be written: No space")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may do everything")
def test_permissions_are_told(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "locked").mkdir(mode=0o500)
    (folder / "ok.csv").chmod(0o000)
    for command in ("fit ok.csv --target y", "predict m.json words.csv -o locked/p.csv"):
        with pytest.raises(SystemExit):
            cli.main(command.split())
        assert "ermission" in capfd.readouterr().err


def interrupted(code: str, folder: Path, after: float = 0.0) -> tuple[int, str]:
    """The exit code and the messages of a program to which Ctrl-C comes `after` seconds from its "now"."""
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "now\n"
            time.sleep(after)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=30)
        finally:
            process.kill()
    return process.returncode, err


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("stage", ["reading", "growing", "pruning", "certifying", "writing"])
def test_ctrl_c_stops_and_leaves_nothing(tmp_path: Path, stage: str) -> None:
    """The signal comes while a stage is under way, which tells so itself."""
    rows = "".join(f"{i * 7919 % 10007},{i * 104729 % 10009},{i * i % 5}\n" for i in range(20_000))
    (tmp_path / "t.csv").write_text("a,b,y\n" + rows)
    code = (
        "import sys, threading, time\n"
        "from treewright.cli import console, main\n"
        "begin = console.Stages.begin\n"
        "def telling(self, name, what=''):\n"
        "    begin(self, name, what)\n"
        f"    if name == {stage!r}:\n"
        "        print('now', flush=True)\n"
        "        time.sleep(60)\n"
        "console.Stages.begin = telling\n"
        "main(['fit', 't.csv', '--target', 'y', '-o', 'm.json'])\n"
    )
    assert interrupted(code, tmp_path) == (130, "stopped\n")
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_is_heard_within_a_query(tmp_path: Path) -> None:
    """A query that would take minutes ends when it is interrupted, and so does the program."""
    code = (
        "from treewright.cli import main\n"
        "from treewright.cli.tables import reader\n"
        "def endless(source, *arguments, **options):\n"
        "    print('now', flush=True)\n"
        "    query = 'SELECT sum(hash(a.range + b.range)) FROM range(10000000) a, range(10000000) b'\n"
        "    reader._result(source.database, query)\n"
        "reader._load = endless\n"
        "main(['fit', 't.csv', '--target', 'y'])\n"
    )
    (tmp_path / "t.csv").write_text(TABLE)
    assert interrupted(code, tmp_path, after=0.3) == (130, "stopped\n")
