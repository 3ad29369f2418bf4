"""Exports to SQL: run in DuckDB and SQLite, read by a parser for the others."""

from __future__ import annotations

import math
import re
import sqlite3
import struct
from typing import Any

import numpy as np
import pytest

from tests.exporting.trees import chain, edges_tree, hostile_tree, large_tree, mixed_tree, same_bits
from treewright import Among, Below, Branch, Column, Leaf, Schema, Target, Tree, encode, export, grow
from treewright.exporting._check.probes import probes
from treewright.exporting.dialects import DIALECTS
from treewright.exporting.sql import answers

duckdb = pytest.importorskip("duckdb")
RUN = ("duckdb", "sqlite")
TREES: dict[str, Any] = {
    "texts": mixed_tree,
    "bools": lambda: mixed_tree("bools", max_leaf_nodes=12),
    "integers": lambda: mixed_tree("integers"),
    "numbers": lambda: mixed_tree("numbers"),
    "hostile": hostile_tree,
    "edges": edges_tree,
    "leaf": lambda: mixed_tree("texts", max_leaf_nodes=2).collapse([0]),
}
NAMES = {"": "empty", "x" * 10_000: "long"}


def hostile_names(tree: Tree) -> dict[str, str]:
    """What databases do not take as a name is called otherwise there."""
    return {name: NAMES[name] for name in tree.schema.names if name in NAMES}


@pytest.mark.slow
@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("dialect", RUN)
@pytest.mark.parametrize("table", [None, "it's", ['s "1"', "t`.`"]])
def test_the_answers_are_those_of_the_tree(name: str, dialect: str, table: Any) -> None:
    tree = TREES[name]()
    rows = probes(tree, {"hostile": 400, "leaf": 10}.get(name, 10_000 if table is None else 1000))
    options = {"dialect": dialect, "table": table, "columns": hostile_names(tree)}
    found = answers(export(tree, "sql", **options), tree, rows, **options)
    assert same_bits(np.asarray(tree.predict(rows)), found)


@pytest.mark.parametrize("dialect", RUN)
def test_times_as_numbers_and_probabilities(dialect: str) -> None:
    tree = mixed_tree("texts", max_leaf_nodes=30)
    options = {"dialect": dialect, "table": "t", "times": "microseconds", "probabilities": True}
    rows = probes(tree, 2000)
    assert same_bits(
        np.asarray(tree.predict(rows)), answers(export(tree, "sql", **options), tree, rows, **options)
    )


def test_probabilities_are_those_of_the_tree() -> None:
    tree = mixed_tree("texts", max_leaf_nodes=10)
    query = export(tree, "sql", table="t", probabilities=True, column="says", dialect="sqlite")
    with sqlite3.connect(":memory:") as connection:
        columns = ", ".join(f'"{name}"' for name in tree.schema.names)
        connection.execute(f"CREATE TABLE t ({columns})")
        connection.execute("INSERT INTO t (number, text, code) VALUES (0.5, 'cook', 7), (NULL, NULL, NULL)")
        cursor = connection.execute(query)
        names = [part[0] for part in cursor.description][-5:]
        found = [row[-5:] for row in cursor.fetchall()]
    table = {name: [None, None] for name in tree.schema.names}
    table |= {"number": [0.5, None], "text": ["cook", None], "code": [7, None]}
    classes = tree.schema.targets[0].classes or ()
    assert names == ["says", *(f"probability_{label}" for label in classes)]
    assert [row[0] for row in found] == tree.predict(table).tolist()
    assert [list(row[1:]) for row in found] == tree.predict_proba(table).tolist()
    pure = grow(
        encode({"x": [1.0, 2.0, 3.0, 3.0]}, ["a", "b", "b", "c"])
    )  # classes that a leaf does not have
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.execute("INSERT INTO t VALUES (1.0), (2.0), (3.0)")
        found = connection.execute(export(pure, "sql", table="t", probabilities=True, dialect="sqlite"))
        assert [list(row[-3:]) for row in found] == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.5]]
    one = export(tree, "sql", dialect="sqlite", probability=classes[0])
    assert one.count("THEN") == tree.n_leaves - 1


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_parser_reads_every_dialect(dialect: str) -> None:
    sqlglot = pytest.importorskip("sqlglot")
    for tree in (
        mixed_tree("texts", max_leaf_nodes=40),
        mixed_tree("numbers", max_leaf_nodes=40),
        hostile_tree(),
    ):
        if dialect == "bigquery" and tree.depth == hostile_tree().depth:
            continue  # the parser does not know escapes in its names
        query = export(tree, "sql", dialect=dialect, table="t", columns=hostile_names(tree))
        (statement,) = sqlglot.parse(query, read=dialect)
        assert isinstance(statement, sqlglot.exp.Select)
        assert len(list(statement.find_all(sqlglot.exp.Case))) == query.count("CASE\n")
        (table,) = statement.find_all(sqlglot.exp.Table)
        assert table.name == "t"
        known = {hostile_names(tree).get(name, name) for name in tree.schema.names}
        assert {column.name for column in statement.find_all(sqlglot.exp.Column)} - {"*"} <= known


@pytest.mark.parametrize("dialect", DIALECTS)
def test_hostile_names_leave_no_code_outside_their_quotes(dialect: str) -> None:
    """With texts and names taken out by the dialect's own rules, only the words of a CASE are left."""
    tree = hostile_tree()
    query = export(tree, "sql", dialect=dialect, table="t", columns=hostile_names(tree))
    string = r"E?'(?:''|[^'])*'" if dialect in ("duckdb", "sqlite", "mysql") else r"E?'(?:''|\\.|[^'\\])*'"
    if dialect == "postgres":
        string = r"E'(?:''|\\.|[^'\\])*'|'(?:''|[^'])*'"
    name = {"bigquery": r"`(?:\\.|[^`\\])*`"}.get(
        dialect, "Q(?:QQ|[^Q])*Q".replace("Q", DIALECTS[dialect].quote)
    )
    rest = re.sub(f"{string}|{name}|/\\* [\\d,.e+-]+( rows?)? \\*/", " ", query, flags=re.DOTALL)
    words = set(re.findall(r"[^\s(),]+", rest))
    known = set("SELECT * CASE WHEN THEN ELSE END AS FROM IN NOT OR AND IS".split())  # noqa: SIM905
    known |= {"NULL", "<=", ">", "||", "CAST", "X", "TEXT", "CONVERT", "USING", "utf8mb4", "BINARY", "IS_NAN"}
    known |= {"::DOUBLE", "::float8", "::FLOAT", "FLOAT64", "chr", "/"}
    assert not {word for word in words - known if not re.fullmatch(r"-?[\d.]+(e[-+]?\d+)?(::float8)?", word)}


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("to_the_left", [False, True])
def test_a_chain_of_any_depth_nests_hardly(dialect: str, to_the_left: bool) -> None:
    tree = chain(100_000 if dialect == "mysql" else 5000, to_the_left)
    query = export(tree, "sql", dialect=dialect)
    assert query.count("CASE") == 1
    assert query.count("\n") == tree.n_leaves + 1


@pytest.mark.slow
@pytest.mark.parametrize("dialect", RUN)
@pytest.mark.parametrize("to_the_left", [False, True])
def test_a_chain_of_5000_tests_runs(dialect: str, to_the_left: bool) -> None:
    tree = chain(5000, to_the_left)
    rows = probes(tree, 200)
    query = export(tree, "sql", dialect=dialect)
    assert same_bits(tree.predict(rows), answers(query, tree, rows, dialect=dialect))


@pytest.mark.slow
def test_a_tree_of_70000_nodes_runs() -> None:
    tree = large_tree()
    query = export(tree, "sql", dialect="sqlite")
    deepest = max(len(line) - len(line.lstrip()) for line in query.splitlines()) // 4
    assert deepest <= 2 * (math.log2(tree.n_leaves) + 1)
    rows = probes(tree, 300)
    assert same_bits(tree.predict(rows), answers(query, tree, rows, dialect="sqlite"))


def test_sqlite_reads_each_number_to_the_last_bit() -> None:
    random = np.random.default_rng(0)
    numbers = [struct.unpack("d", random.bytes(8))[0] for _ in range(2000)]
    numbers += (random.random(2000) * 10.0 ** random.integers(-20, 20, 2000)).tolist()
    numbers += [0.1, 0.8, 3.0, 1e15, 1e16, 5e-324, -5e-324, 1.7976931348623157e308, -2.5, 2.0**53, 2.0**60]
    numbers = [x for x in numbers if math.isfinite(x)]
    write = DIALECTS["sqlite"].number
    with sqlite3.connect(":memory:") as connection:
        for x in numbers:
            assert connection.execute(f"SELECT {write(x)}").fetchone()[0] == x
    assert [write(x) for x in (0.1, 0.8, 2.5, -3.0, 1e-05)] == ["0.1", "0.8", "2.5", "-3.0", "1e-05"]
    assert write(1 / 3) == "(6004799503160661.0 / 18014398509481984.0 /* 0.3333333333333333 */)"


def test_nan_goes_with_the_missing_ones_unless_told_that_there_are_none() -> None:
    schema = Schema((Column("x"),), (Target("y", ("no", "yes")),))
    tree = Tree.write(schema, Branch(Below("x", 1.5), Leaf([5.0, 0.0]), Leaf([0.0, 2.0]), missing_left=True))
    rows = {"x": np.array([1.0, 2.0, np.nan, np.nan, np.inf, -np.inf])}
    assert answers(export(tree, "sql"), tree, rows).tolist() == ["no", "yes", "no", "no", "yes", "no"]
    assert "infinity" not in export(tree, "sql", nan=False)
    assert "IS_NAN" in export(tree, "sql", dialect="bigquery")
    assert "IS_NAN" not in export(tree, "sql", dialect="bigquery", nan=False)
    assert "NULL" in export(tree, "sql", nan=False, check=True)  # checked on a table without NaN


@pytest.mark.slow
def test_no_category_on_one_side() -> None:
    names = ("a", "b")
    schema = Schema((Column("c", "category", names),), (Target("y", ("no", "yes")),))
    for left in ((), names):
        for missing_left in (False, True):
            for weights in ((5.0, 1.0), (1.0, 5.0)):
                try:
                    tree = Tree.write(
                        schema,
                        Branch(
                            Among("c", left), Leaf([weights[0], 0.0]), Leaf([0.0, weights[1]]), missing_left
                        ),
                    )
                except ValueError:
                    continue  # a test that nothing passes is no test
                rows = {"c": ["a", "b", "c", None]}
                for dialect in RUN:
                    found = answers(export(tree, "sql", dialect=dialect), tree, rows, dialect=dialect)
                    assert found.tolist() == tree.predict(rows).tolist()


def test_what_cannot_be_said_is_refused() -> None:
    def of(column: Column, label: Any = "no") -> Tree:
        test = Among(column.name, column.categories[:1]) if column.categories else Below(column.name, 1.0)
        schema = Schema((column,), (Target("y", (label, "yes") if isinstance(label, str) else (label, 7)),))
        return Tree.write(schema, Branch(test, Leaf([1.0, 0.0]), Leaf([0.0, 2.0])))

    for tree, options, words in (
        (of(Column("x")), {"dialect": "oracle"}, "dialect is 'oracle'; known: duckdb, postgres"),
        (of(Column("")), {}, "takes no empty name"),
        (of(Column("a\0")), {}, "character NUL"),
        (of(Column("\udc80")), {}, "half a character"),
        (of(Column("c", "category", ("a\0", "b"))), {"dialect": "postgres"}, "character NUL"),
        (of(Column("x"), "\ud800"), {}, "half a character"),
        (of(Column("x"), 2**70), {}, "64 bits"),
        (of(Column("x")), {"table": ""}, "table is ''"),
        (of(Column("x")), {"columns": {"z": "q"}}, "columns: there is no column 'z'"),
        (of(Column("x")), {"times": "hours"}, "times is 'hours'"),
        (of(Column("x")), {"probabilities": True}, "say table="),
        (of(Column("x")), {"probability": "perhaps"}, "no class 'perhaps'"),
        (mixed_tree("several"), {}, "say target= one of"),
        (mixed_tree("numbers"), {"probability": 1}, "predicts numbers"),
    ):
        with pytest.raises(ValueError, match=re.escape(words)):
            export(tree, "sql", **options)
    far = Tree.write(
        Schema((Column("t", "time"),), (Target("y", ("no", "yes")),)),
        Branch(Below("t", 1e30), Leaf([1.0, 0.0]), Leaf([0.0, 2.0])),
    )
    with pytest.raises(ValueError, match="beyond the calendar"):
        export(far, "sql")
    assert "1e+30" in export(far, "sql", times="microseconds")


def test_columns_that_a_database_takes_for_one() -> None:
    schema = Schema((Column("x"), Column("X")), (Target("y", ("no", "yes")),))
    inner = Branch(Below("X", 2.0), Leaf([1.0, 0.0]), Leaf([0.0, 2.0]))
    tree = Tree.write(schema, Branch(Below("x", 1.0), inner, Leaf([0.0, 2.0])))
    with pytest.raises(ValueError, match="duckdb takes the columns 'x' and 'X' for one"):
        export(tree, "sql")
    assert '"X"' in export(tree, "sql", dialect="postgres")
    assert '"large"' in export(tree, "sql", columns={"X": "large"}, check=True)


def test_nul_and_control_characters_in_texts() -> None:
    names = ("a\0b", "a", "tab\t", "line\n", "esc\x1b'", "plain'")
    schema = Schema((Column("c", "category", names),), (Target("y", names),))
    leaf = Leaf([0.0] * 5 + [9.0])
    tree = Tree.write(schema, Branch(Among("c", names[::2]), Leaf([1.0] + [0.0] * 5), leaf))
    for dialect in RUN:
        assert export(tree, "sql", dialect=dialect, check={"c": [*names, None, "b", "a\0"]})
    said = {name: DIALECTS[name].label("a\\'\t") for name in DIALECTS}
    assert said == {  # no server's settings change what a backslash means there
        "duckdb": "('a\\''' || chr(9))",
        "postgres": r"E'a\\''\x09'",
        "sqlite": "CAST(X'615C2709' AS TEXT)",
        "mysql": "CONVERT(X'615C2709' USING utf8mb4)",
        "bigquery": r"'a\\\'\u0009'",
        "snowflake": r"'a\\\'\u0009'",
    }
    assert DIALECTS["postgres"].label("a\\") == r"E'a\\'"
    assert DIALECTS["mysql"].label("a\\") == "CONVERT(X'615C' USING utf8mb4)"
    assert DIALECTS["mysql"].label("a\t") == "CONVERT(X'6109' USING utf8mb4)"
    assert "_utf8mb4" not in export(tree, "sql", dialect="mysql")
    assert "\\" not in export(tree, "sql", dialect="mysql")
