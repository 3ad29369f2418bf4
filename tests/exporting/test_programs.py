"""Exports that are programs: they answer as the tree does to the last bit, and no name can break them."""

from __future__ import annotations

import datetime
import json
import math
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.exporting.trees import (
    HOSTILE,
    chain,
    edges_tree,
    hostile_tree,
    large_tree,
    mixed_data,
    mixed_tree,
    same_bits,
)
from treewright import (
    Among,
    Below,
    Branch,
    Column,
    DecisionTreeClassifier,
    Leaf,
    Schema,
    Target,
    Tree,
    encode,
    export,
    grow,
)
from treewright.exporting import FORMATS
from treewright.exporting._check.probes import probes
from treewright.exporting._tree import identifiers

pytestmark = pytest.mark.slow

CC = shutil.which("cc") or shutil.which("gcc")
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
needs_jdk = pytest.mark.skipif(shutil.which("javac") is None, reason="no JDK (javac) is installed")
needs_cc = pytest.mark.skipif(CC is None, reason="no C compiler is installed")
PROGRAMS = [
    pytest.param("python", {}, id="python"),
    pytest.param("python", {"style": "tables"}, id="python-tables"),
    pytest.param("json", {}, id="json"),
    pytest.param("javascript", {}, id="javascript", marks=needs_node),
    pytest.param(
        "javascript", {"style": "tables", "module": "esm"}, id="javascript-tables", marks=needs_node
    ),
    pytest.param("c", {}, id="c", marks=needs_cc),
    pytest.param("c", {"style": "tables", "name": "oak"}, id="c-tables", marks=needs_cc),
    pytest.param("java", {}, id="java", marks=needs_jdk),
    pytest.param(
        "java",
        {"style": "tables", "name": "Oak", "package": "org.trees"},
        id="java-tables",
        marks=needs_jdk,
    ),
]
ENGINES = {"c": "cc", "javascript": "node", "java": "javac"}
TREES: dict[str, Any] = {
    "texts": lambda: mixed_tree("texts", max_leaf_nodes=40),
    "bools": lambda: mixed_tree("bools", max_leaf_nodes=12),
    "integers": lambda: mixed_tree("integers"),
    "numbers": lambda: mixed_tree("numbers"),
    "hostile": hostile_tree,
    "edges": edges_tree,
    "costs": lambda: mixed_tree("bools", max_leaf_nodes=12).with_costs([[0, 9], [1, 0]]),
    "leaf": lambda: mixed_tree("texts", max_leaf_nodes=2).collapse([0]),
}


SIZES = {"texts": 10_000, "edges": 10_000, "hostile": 400, "leaf": 10}  # long labels make wide arrays


def run(tree: Tree, format: str, options: dict[str, Any], table: dict[str, Any]) -> np.ndarray:
    return FORMATS.module(format).answers(export(tree, format, **options), tree, table, **options)


def module_of(tree: Tree, **options: Any) -> dict[str, Any]:
    module: dict[str, Any] = {}
    exec(compile(export(tree, "python", **options), "<export>", "exec"), module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize(("format", "options"), PROGRAMS)
def test_the_answers_are_those_of_the_tree(name: str, format: str, options: dict[str, Any]) -> None:
    tree = TREES[name]()
    table = probes(tree, SIZES.get(name, 2000) if "style" not in options else 500)
    assert same_bits(np.asarray(tree.predict(table)), run(tree, format, options, table))


@pytest.mark.parametrize(
    "format",
    [
        "python",
        "json",
        pytest.param("javascript", marks=needs_node),
        pytest.param("java", marks=needs_jdk),
    ],
)
@pytest.mark.parametrize("target", ["several", "pairs"])
def test_several_targets(format: str, target: str) -> None:
    tree = mixed_tree(target, max_leaf_nodes=30)
    table = probes(tree, 2000)
    assert same_bits(np.asarray(tree.predict(table)), run(tree, format, {}, table))


@needs_cc
def test_c_takes_one_of_several_targets() -> None:
    tree = mixed_tree("several", max_leaf_nodes=30)
    table = probes(tree, 2000)
    name = tree.schema.targets[1].name
    assert run(tree, "c", {"target": name}, table).tolist() == tree.predict(table)[:, 1].tolist()
    with pytest.raises(ValueError, match=r"2 targets.*target= one of"):
        export(tree, "c")
    with pytest.raises(ValueError, match="no target 'nobody'"):
        export(tree, "c", target="nobody")


# ---- probabilities -----------------------------------------------------------------------------------------


def test_probabilities_in_python() -> None:
    for tree in (mixed_tree(max_leaf_nodes=20), mixed_tree("bools")):
        table = probes(tree, 500)
        predict_proba = module_of(tree)["predict_proba"]
        columns = {
            name: values if isinstance(values, list) else values.tolist() for name, values in table.items()
        }
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        found = [predict_proba(row) for row in rows]
        assert [list(shares.values()) for shares in found] == tree.predict_proba(table).tolist()
        assert tuple(found[0]) == tree.schema.targets[0].classes
        assert [type(label) for label in found[0]] == [
            type(label) for label in tree.schema.targets[0].classes
        ]
    several = mixed_tree("several", max_leaf_nodes=5)
    assert [sum(part.values()) for part in module_of(several)["predict_proba"]({})] == pytest.approx([1, 1])


@needs_node
def test_probabilities_in_javascript(tmp_path: Path) -> None:
    tree = mixed_tree(max_leaf_nodes=20)
    (tmp_path / "tree.js").write_text(export(tree, "javascript"), encoding="utf-8")
    table = {"number": np.array([0.5, -2.0, np.nan]), "text": ["cook", None, "new"]}
    whole = {name: column[:3] for name, column in probes(tree, 3).items()} | table
    for name in ("infinite", "single", "code", "flag", "ratio"):
        whole[name] = np.full(3, np.nan) if isinstance(whole[name], np.ndarray) else [None] * 3
    whole["when"] = np.array(["NaT"] * 3, "M8[us]")
    rows = '[{"number": 0.5, "text": "cook"}, {"number": -2, "text": null}, {"text": "new"}]'
    program = f'const t = require("./tree.js"); console.log(JSON.stringify({rows}.map(t.predictProba)))'
    assert json.loads(node(program, tmp_path)) == tree.predict_proba(whole).tolist()


@needs_cc
def test_probabilities_in_c(tmp_path: Path) -> None:
    tree = mixed_tree("integers", max_leaf_nodes=6)
    (tmp_path / "tree.h").write_text(export(tree, "c"), encoding="utf-8")
    values = {"number": 0.25, "text": "cook", "code": 7}
    table = {name: [None] for name in tree.schema.names} | {name: [value] for name, value in values.items()}
    sets = "".join(f"row.{c.name} = {missing(c)};" for c in used(tree) if c.name not in values)
    for column in used(tree):
        if column.name in values:
            value = json.dumps(values[column.name])
            code = f"treewright_code_{column.name}({value})" if column.kind == "category" else value
            sets += f"row.{column.name} = {code};"
    body = "double p[treewright_n_classes]; int k; treewright_row row; " + sets
    body += "treewright_predict_proba(&row, p); "
    body += 'for (k = 0; k < treewright_n_classes; ++k) printf("%.17g\\n", p[k]);'
    body += 'printf("%lld", treewright_class(treewright_predict(&row)));'
    source = f'#include <stdio.h>\n#include "tree.h"\nint main(void) {{ {body} return 0; }}\n'
    (tmp_path / "main.c").write_text(source)
    compile_c(tmp_path, "main.c", "-o", "main")
    told = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    *shares, label = told.split()
    assert list(map(float, shares)) == tree.predict_proba(table)[0].tolist()
    assert int(label) == tree.predict(table)[0]


def used(tree: Tree) -> list[Column]:
    return [tree.schema.columns[j] for j in np.unique(tree.feature[tree.feature >= 0])]


def missing(column: Column) -> str:
    return "-1" if column.kind == "category" else "NAN"


def node(program: str, folder: Path) -> str:
    run = subprocess.run(
        ["node", "-e", program], cwd=folder, capture_output=True, encoding="utf-8", check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def compile_c(folder: Path, *arguments: str, compiler: str | None = None, standard: str = "c99") -> None:
    flags = [f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    command = [compiler or CC or "cc", *flags, *arguments, "-lm"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert run.returncode == 0, run.stderr[:2000]


# ---- names that attack -------------------------------------------------------------------------------------


def test_a_program_of_hostile_names_is_a_program() -> None:
    tree = hostile_tree()
    for style in ("nested", "tables"):
        text = export(tree, "python", style=style)
        assert text == export(tree, "python", style=style)
        for line in text.splitlines():
            if line.lstrip().startswith("#"):
                assert all(character.isprintable() for character in line)
    assert json.loads(export(tree, "json"))["targets"][0]["classes"] == HOSTILE


@pytest.mark.slow
@needs_cc
@pytest.mark.parametrize("style", ["nested", "tables"])
def test_c_compiles_cleanly_and_as_cpp(tmp_path: Path, style: str) -> None:
    for name, tree in (
        ("hostile", hostile_tree()),
        ("mixed", mixed_tree(max_leaf_nodes=30)),
        ("edges", edges_tree()),
        ("leaf", TREES["leaf"]()),  # asks for no column
    ):
        (tmp_path / f"{name}.h").write_text(export(tree, "c", style=style, name=name), encoding="utf-8")
    lines = [f'#include "{name}.h"\n' for name in ("hostile", "mixed", "edges", "leaf", "mixed")]
    (tmp_path / "all.c").write_text("".join(lines) + "int main(void) { return 0; }\n")
    overlong = "-Wno-overlength-strings"  # of a class of 10,000 characters
    compile_c(tmp_path, overlong, "-c", "all.c", "-o", "all.o")
    cpp = shutil.which("g++") or shutil.which("c++")
    if cpp:
        for standard in ("c++11", "c++20"):
            compile_c(
                tmp_path, overlong, "-x", "c++", "-c", "all.c", "-o", "all.o", compiler=cpp, standard=standard
            )


def test_comments_of_c_end_where_they_end() -> None:
    for name in ("???/", "**//", "/*/", "*/*", "a*/b/*c", "??/\n"):
        tree = Tree.write(
            Schema((Column(name),), (Target(name, (name, name + "!")),)),
            Branch(Below(name, 1.0), Leaf([2.0, 0.0]), Leaf([0.0, 3.0])),
        )
        text = re.sub(r'"(\\.|[^"\\])*"', '""', export(tree, "c"))  # without its literals
        assert text.count("/*") == text.count("*/") == len(re.findall(r"/\*.*?\*/", text, re.DOTALL))
        assert "??" not in export(tree, "c")


@needs_node
def test_a_script_can_stand_in_a_page() -> None:
    text = export(hostile_tree(), "javascript")
    assert '\n"use strict";\n' in text
    assert '"use strict"' not in export(hostile_tree(), "javascript", module="esm")  # modules always are
    assert "</" not in text
    assert "<!--" not in text
    assert "\u2028" not in text


@needs_node
def test_inherited_properties_are_not_values(tmp_path: Path) -> None:
    column = Column("constructor", "category", ("a", "b"))
    schema = Schema((column, Column("__proto__")), (Target("y", ("no", "yes")),))
    branch = Branch(Below("__proto__", 1.0), Leaf([0.0, 1.0]), Leaf([1.0, 0.0]), missing_left=False)
    tree = Tree.write(
        schema, Branch(Among("constructor", ("a",)), branch, Leaf([0.0, 5.0]), missing_left=True)
    )
    (tmp_path / "tree.js").write_text(export(tree, "javascript"))
    rows = """[{}, {constructor: "b"}, JSON.parse('{"__proto__": 0.5}'), Object.create({constructor: "b"})]"""
    found = node(f'console.log(JSON.stringify({rows}.map(require("./tree.js").predict)))', tmp_path)
    assert json.loads(found) == ["no", "yes", "yes", "no"]


def test_identifiers_are_distinct_and_legal() -> None:
    names = identifiers([*HOSTILE, *HOSTILE], {"class", "if", "row"})
    assert len(set(names)) == len(names)
    assert all(name.isidentifier() and name.isascii() and len(name) < 50 for name in names)
    assert not {"class", "if", "row"} & set(names)
    assert len(set(identifiers(["x"] * 20_000, ()))) == 20_000


# ---- what a row may hold -----------------------------------------------------------------------------------


def test_rows_of_python() -> None:
    predict = module_of(mixed_tree(max_leaf_nodes=40))["predict"]
    tree = mixed_tree(max_leaf_nodes=40)
    nothing = tree.predict({name: [None] for name in tree.schema.names})[0]
    assert predict({}) == predict(dict.fromkeys(tree.schema.names)) == nothing
    assert predict(dict.fromkeys(tree.schema.names, math.nan)) == nothing
    for row, words in (
        ({"number": "3"}, "column 'number' must be a number, not '3'"),
        ({"text": 3}, "column 'text' must be a text, not 3"),
        ({"code": "7"}, "column 'code' must be a number or a bool, not '7'"),
        ({"when": "2020-01-01"}, "column 'when' must be a time, or microseconds since 1970"),
    ):
        if next(iter(row)) in {column.name for column in used(tree)}:
            with pytest.raises(TypeError, match=words):
                predict(row)
    with pytest.raises(ValueError, match="column 'number' is 9007199254740993, beyond"):
        predict({"number": 2**53 + 1})


def time_tree() -> Tree:
    schema = Schema((Column("when", "time"),), (Target("y", ("old", "new")),))
    noon = (datetime.datetime(2024, 5, 17, 12) - datetime.datetime(1970, 1, 1)) // datetime.timedelta(
        microseconds=1
    )
    return Tree.write(schema, Branch(Below("when", float(noon)), Leaf([3.0, 0.0]), Leaf([0.0, 2.0])))


def test_times_of_python() -> None:
    predict = module_of(time_tree())["predict"]
    noon = datetime.datetime(2024, 5, 17, 12)
    tick = datetime.timedelta(microseconds=1)
    assert [predict({"when": value}) for value in (noon, noon + tick, noon - tick)] == ["old", "new", "old"]
    assert predict({"when": datetime.date(2024, 5, 17)}) == "old"
    assert predict({"when": datetime.date(2024, 5, 18)}) == "new"
    east = datetime.timezone(datetime.timedelta(hours=2))
    assert predict({"when": noon.replace(tzinfo=east)}) == "old"
    assert predict({"when": (noon + datetime.timedelta(hours=2) + tick).replace(tzinfo=east)}) == "new"
    assert predict({"when": 1715947200000000}) == "old"
    assert predict({"when": 1715947200000001}) == "new"
    with pytest.raises(TypeError, match="time of Python's datetime"):
        predict({"when": np.datetime64("2024-05-17")})
    assert "# when <= 2024-05-17 12:00:00" in export(time_tree(), "python")


@needs_node
def test_times_of_javascript(tmp_path: Path) -> None:
    (tmp_path / "tree.js").write_text(export(time_tree(), "javascript"))
    noon = "2024-05-17T12:00:00"
    times = f"[new Date('{noon}Z'), new Date('{noon}.001Z'), 1715947200000001, new Date(NaN)]"
    answers = f'{times}.map((when) => require("./tree.js").predict({{when}}))'
    assert json.loads(node(f"console.log(JSON.stringify({answers}))", tmp_path)) == [
        "old",
        "new",
        "new",
        "old",
    ]


@needs_node
def test_errors_and_large_integers_of_javascript(tmp_path: Path) -> None:
    large = 2**60 + 1
    schema = Schema((Column("id", "category", (7, large)), Column("x")), (Target("y", (large, 7)),))
    inner = Branch(Below("x", 1.0), Leaf([1.0, 0.0]), Leaf([0.0, 1.0]))
    tree = Tree.write(schema, Branch(Among("id", (large,)), inner, Leaf([0.0, 3.0])))
    (tmp_path / "tree.js").write_text(export(tree, "javascript"))
    program = f"""const t = require("./tree.js");
    const told = (row) => {{ try {{ return String(t.predict(row)); }} catch (e) {{ return e.message; }} }};
    console.log(JSON.stringify([{{id: {large}n, x: 0}}, {{id: {large - 1}n, x: 0}}, {{id: 7n, x: 0}},
        {{id: "7"}}, {{x: "1"}}, {{id: {large}n, x: 2n ** 60n + 1n}}].map(told)));"""
    assert json.loads(node(program, tmp_path)) == [
        str(large),
        "7",
        "7",
        "column id must be a number or a bool, not 7",
        "column x must be a number, not 1",
        f"column x is {large}, too large to be exact",
    ]


def test_durations_and_other_numbers_of_python() -> None:
    schema = Schema((Column("x"),), (Target("y"),))
    tree = Tree.write(schema, Branch(Below("x", 90.5), Leaf([1.0, 0.5, 0.0]), Leaf([1.0, 2.5, 0.0])))
    predict = module_of(tree, function="guess")["guess"]
    assert predict({"x": datetime.timedelta(seconds=90, milliseconds=500)}) == 0.5
    assert predict({"x": np.float32(90.75)}) == 2.5
    assert predict({"x": True}) == 0.5
    with pytest.raises(TypeError, match="must be a number"):
        predict({"x": [1]})


# ---- size --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("to_the_left", [False, True])
@pytest.mark.parametrize(("format", "options"), [p for p in PROGRAMS if "style" not in p.values[1]])
def test_a_chain_of_5000_tests(format: str, options: dict[str, Any], to_the_left: bool) -> None:
    tree = chain(5000, to_the_left)
    table = probes(tree, 300)
    assert same_bits(tree.predict(table), run(tree, format, options, table))


@pytest.mark.slow
@pytest.mark.parametrize(("format", "options"), [p for p in PROGRAMS if "style" not in p.values[1]])
def test_a_chain_of_100000_tests(format: str, options: dict[str, Any]) -> None:
    tree = chain(100_000)
    table = {"x": np.array([-1.0, 0.0, 7.5, 40_000.0, 99_999.0, 1e9, np.nan])}
    assert same_bits(tree.predict(table), run(tree, format, options, table))


@pytest.mark.slow
@pytest.mark.parametrize(("format", "options"), [p for p in PROGRAMS if "style" not in p.values[1]])
def test_a_tree_of_70000_nodes(format: str, options: dict[str, Any]) -> None:
    tree = large_tree()
    assert tree.n_nodes > 70_000
    table = probes(tree, 200)
    assert same_bits(tree.predict(table), run(tree, format, options, table))


def test_many_classes_take_little_room() -> None:
    """Leaves list the classes that they have, not thousands of zeros."""
    n = 3000
    tree = grow(encode({"x": np.arange(float(n))}, [f"class {i}" for i in range(n)]), max_leaf_nodes=500)
    assert len(export(tree, "python")) < 60 * n
    shares = module_of(tree)["predict_proba"]({"x": 3.0})
    assert list(shares.values()) == tree.predict_proba({"x": [3.0]})[0].tolist()


# ---- style -------------------------------------------------------------------------------------------------


def test_small_trees_are_nested_and_large_ones_are_tables() -> None:
    small, large = mixed_tree(max_leaf_nodes=8), mixed_tree("numbers")
    assert "_COLUMN" not in export(small, "python")
    assert "_COLUMN" in export(small, "python", style="tables")
    assert "_COLUMN" in export(large, "python")
    assert "_COLUMN = tuple(map(int, " in export(large, "python")  # many numbers are read from a text
    for format in ("python", "c", "javascript"):
        assert max(map(len, export(large, format).splitlines())) <= 110
    with pytest.raises(ValueError, match="style='nested' goes to"):
        export(chain(300), "python", style="nested")
    with pytest.raises(ValueError, match="style is 'round'"):
        export(small, "c", style="round")
    for format, option in (
        ("python", "function"),
        ("javascript", "function"),
        ("c", "name"),
        ("java", "name"),
    ):
        for name in ("for", "a b", "1x", "_x", ""):
            with pytest.raises(ValueError, match=f"{option} is "):
                export(small, format, **{option: name})


def test_labels_that_no_program_can_say_are_refused() -> None:
    schema = Schema((Column("x"),), (Target("y", (np.int64(1), np.int64(2))),))
    tree = Tree.write(schema, Branch(Below("x", 1.0), Leaf([1.0, 0.0]), Leaf([0.0, 1.0])))
    for format in ("python", "javascript", "java", "c", "json", "sql"):
        with pytest.raises(TypeError, match=r"target 'y' holds .* of type int64"):
            export(tree, format)
    for labels, words in ((("a", "b\0"), "NUL"), ((1, 2**70), "beyond 64 bits")):
        schema = Schema((Column("x"),), (Target("y", labels),))
        tree = Tree.write(schema, Branch(Below("x", 1.0), Leaf([1.0, 0.0]), Leaf([0.0, 1.0])))
        with pytest.raises(ValueError, match=words):
            export(tree, "c")
        assert module_of(tree)["predict"]({"x": 9}) == labels[1]
    for last, fits in ((2**63 - 1, True), (2**63, False), (-(2**63) + 1, True)):
        schema = Schema((Column("x"),), (Target("y", (last, 7)),))
        tree = Tree.write(schema, Branch(Below("x", 1.0), Leaf([1.0, 0.0]), Leaf([0.0, 1.0])))
        if not fits:
            with pytest.raises(ValueError, match="beyond 64 bits"):
                export(tree, "c")
            continue
        assert f"const long long labels[] = {{{last}LL, 7LL}};" in export(tree, "c")
        assert "const int treewright_answers[] = {0, 1};" in export(tree, "c")


def test_a_fitted_model_is_exported_too() -> None:
    x = np.arange(12.0).reshape(6, 2)
    model = DecisionTreeClassifier().fit(x, [0, 0, 0, 1, 1, 1])
    assert module_of(model.model_)["predict"]({"x0": 0.0}) == 0
    assert export(model, "python", check=x) == export(model.model_, "python")


@pytest.mark.slow
def test_floats_as_classes_and_infinite_categories() -> None:
    schema = Schema(
        (Column("c", "category", (-math.inf, 0.5, 2.0, math.inf)),), (Target("y", (0.5, math.inf)),)
    )
    tree = Tree.write(schema, Branch(Among("c", (math.inf, 2.0)), Leaf([0.0, 2.0]), Leaf([3.0, 0.0])))
    table = {"c": [math.inf, -math.inf, 2.0, 0.5, 7.0, None]}
    for format, options in [p.values for p in PROGRAMS]:
        if format in ("python", "json") or shutil.which(
            {"c": "cc", "javascript": "node", "java": "javac"}[format]
        ):
            assert run(tree, format, options, table).tolist() == tree.predict(table).tolist()


@pytest.mark.slow
def test_every_category_of_a_wide_column() -> None:
    """More categories than are written into a test, in an order of their own."""
    names = tuple(np.random.default_rng(0).permutation([f"c{i}" for i in range(700)]).tolist())
    schema = Schema((Column("c", "category", names),), (Target("y", ("no", "yes")),))
    tree = Tree.write(schema, Branch(Among("c", names[::2]), Leaf([0.0, 2.0]), Leaf([3.0, 0.0])))
    table = {"c": [*names, "c", "c700", None]}
    for format, options in [p.values for p in PROGRAMS]:
        if format in ("python", "json") or shutil.which(
            {"c": "cc", "javascript": "node", "java": "javac"}[format]
        ):
            assert run(tree, format, options, table).tolist() == tree.predict(table).tolist()


@pytest.mark.slow
@pytest.mark.parametrize(("format", "options"), PROGRAMS)
def test_no_category_on_one_side(format: str, options: dict[str, Any]) -> None:
    """A test of whether a value is there, and what becomes of those never seen."""
    names = ("a", "b")
    schema = Schema((Column("c", "category", names),), (Target("y", ("no", "yes")),))
    table = {"c": ["a", "b", "c", None]}
    for left, missing_left in (((), True), (names, False)):
        for weights in ((5.0, 1.0), (1.0, 5.0)):
            leaves = Leaf([weights[0], 0.0]), Leaf([0.0, weights[1]])
            tree = Tree.write(schema, Branch(Among("c", left), *leaves, missing_left))
            assert run(tree, format, options, table).tolist() == tree.predict(table).tolist()


def test_the_rows_of_training_agree() -> None:
    data = mixed_data("texts")
    assert export(grow(data), "python", check=data)
