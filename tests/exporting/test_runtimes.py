"""ONNX, PMML and Treelite: what runs the exported file answers as the tree does, bit for bit."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import cache
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.tree.test_deep_trees import chain, schema_of
from treewright import Among, Below, Branch, Column, Leaf, Schema, Target, Tree, encode, export, grow
from treewright.exporting import FORMATS
from treewright.exporting._check.probes import probes
from treewright.exporting._subtrees import pieces

pytestmark = pytest.mark.slow

NEEDED = {"onnx": "onnxruntime", "treelite": "treelite", "pmml": "pypmml"}
HOSTILE = [
    'quo"te',
    "it's",
    "<script>&amp;",
    "naïve\n\t漢",
    "label",
    "x y",
    "; DROP TABLE",
    "\\",
    "{}",
    "null",
]


def usable(name: str) -> bool:
    has_java = name != "pmml" or shutil.which("java") is not None
    return has_java and importlib.util.find_spec(NEEDED[name]) is not None


@pytest.fixture(params=sorted(NEEDED))
def name(request: pytest.FixtureRequest) -> str:
    """A format whose engine is there."""
    if not usable(request.param):
        pytest.skip(f"{NEEDED[request.param]} is not installed")
    return str(request.param)


def check(tree: Tree, name: str, rows: int = 10_000, **options: Any) -> None:
    """The export answers rows of every unpleasantness as the tree does."""
    table = probes(tree, rows)
    rendered = export(tree, name, **options)
    told = FORMATS.module(name).answers(rendered, tree, table, **options)
    expected = tree.predict(table)
    assert told.dtype == expected.dtype
    assert told.shape == expected.shape
    np.testing.assert_array_equal(told, expected)


def mixed(seed: int = 0, n: int = 2000) -> dict[str, Any]:
    """A table of all kinds, with missing values and names that break what does not escape them."""
    rng = np.random.default_rng(seed)
    table: dict[str, Any] = {
        HOSTILE[0]: rng.normal(size=n),
        HOSTILE[2]: rng.normal(size=n).round(1),
        "label": rng.integers(0, 80, n).astype(float),
        HOSTILE[3]: rng.choice(HOSTILE, n).astype(object),
        "value": rng.choice([True, False, None], n),
        "when": rng.integers(-(10**14), 10**15, n).astype("datetime64[us]"),
    }
    for column in (HOSTILE[0], "label"):
        table[column][rng.random(n) < 0.1] = np.nan
    table[HOSTILE[3]][rng.random(n) < 0.1] = None
    table["when"][:100] = np.datetime64("NaT")
    return table


def targets(kind: str, n: int = 2000) -> Any:
    rng = np.random.default_rng(1)
    made = {
        "texts": rng.choice(HOSTILE[:4], n),
        "ints": rng.integers(-1, 3, n),
        "bools": rng.random(n) < 0.4,
        "floats": rng.choice([2.0, -0.0, 1e300], n),
        "numbers": rng.normal(size=n) * 1e-3,
    }
    return made[kind]


def grown(kind: str, **limits: Any) -> Tree:
    data = encode(mixed(), targets(kind), kinds={"label": "category"}, classes=kind != "numbers")
    return grow(data, **limits)


# ---- the law -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["texts", "ints", "bools", "floats", "numbers"])
def test_the_export_answers_as_the_tree(name: str, kind: str) -> None:
    check(grown(kind), name)


def test_small_and_pruned_trees(name: str) -> None:
    tree = grown("texts")
    check(tree.collapse([0]), name, 100)
    check(tree.first(1), name, 2000)
    check(tree.first(17), name, 2000)


def test_thresholds_at_the_ends_of_float64(name: str) -> None:
    """Infinite thresholds, which ask whether a value is known; the largest, the smallest, both zeros."""
    schema = Schema((Column("x"), Column("y")), (Target("z"),))
    ends = [np.inf, -np.inf, 1.7976931348623157e308, -1.7976931348623157e308, 5e-324, -5e-324, -0.0, 0.0, 0.1]
    root: Any = Leaf([1.0, 0.25, 0.0])
    for i, end in enumerate(ends):
        for j, missing_left in enumerate((True, False)):
            leaf = Leaf([2.0 + i, float(2 * i + j + 1) / 3, 0.5])
            test = Below("xy"[(i + j) % 2], end)
            sides = (leaf, root) if i % 2 else (root, leaf)
            root = Branch(test, *sides, missing_left)
    check(Tree.write(schema, root), name, 3000)


def test_subsets_of_every_size(name: str) -> None:
    """None, one, some and all categories on a side, missing and unseen ones on either."""
    categories = tuple(f"c{i}" for i in range(70))
    for labels in (categories, tuple(range(-3, 67))):
        schema = Schema((Column("c", "category", labels),), (Target("z"),))
        root: Any = Leaf([50.0, -1.0, 0.0])
        for i, size in enumerate((0, 1, 2, 33, 64, 69, 70)):
            for missing_left in (True, False):
                leaf = Leaf([10.0 ** (i % 3 + 1), float(7 * i + missing_left), 0.0])
                sides = (leaf, root) if i % 2 else (root, leaf)
                root = Branch(Among("c", labels[i : i + size]), *sides, missing_left)
        check(Tree.write(schema, root), name, 2000)


def test_costs_decide(name: str) -> None:
    tree = grow(encode(mixed(), targets("ints"), kinds={"label": "category"}), max_leaf_nodes=40)
    costly = tree.with_costs({2: {-1: 30, 0: 9, 1: 5}})
    assert (costly.label != tree.label).any()
    check(costly, name, 3000)


def test_several_targets(name: str) -> None:
    data = encode(
        mixed(), np.stack([targets("ints"), targets("ints") % 2], axis=1), kinds={"label": "category"}
    )
    numbers = encode(mixed(), np.stack([targets("numbers"), -targets("numbers")], axis=1))
    for tree in (grow(data, max_leaf_nodes=50), grow(numbers, max_leaf_nodes=50)):
        if name == "pmml":
            with pytest.raises(ValueError, match="one target"):
                export(tree, name)
        else:
            check(tree, name, 3000)


def test_float32_tables_and_names_by_position(name: str) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 3)).astype(np.float32)
    tree = grow(encode(X, rng.integers(0, 2, 500)))
    told = FORMATS.module(name).answers(export(tree, name), tree, X)
    np.testing.assert_array_equal(told, tree.predict(X))


@cache
def deep(depth: int) -> Tree:
    return Tree.write(schema_of(True), chain(True, True, depth))


@cache
def large() -> Tree:
    rng = np.random.default_rng(0)
    return grow(encode(rng.normal(size=(130_000, 4)), rng.integers(0, 2, 130_000)))


@pytest.mark.slow
def test_depth_of_100_000(name: str) -> None:
    depth = 20_000 if name == "pmml" else 100_000  # the reader of PMML takes half a minute for the latter
    check(deep(depth), name, 500)


@pytest.mark.slow
def test_the_other_lean(name: str) -> None:
    check(Tree.write(schema_of(False), chain(False, False, 3000)), name, 500)


@pytest.mark.slow
def test_pmml_of_depth_100_000_is_not_nested() -> None:
    text = str(export(deep(100_000), "pmml"))
    assert text.count("<Node ") == text.count("</Node>")
    assert text.count(" score=") == 100_001
    depth, deepest = 0, 0
    for line in text.splitlines():
        depth += line.startswith("<Node ") - line.startswith("</Node>")
        deepest = max(deepest, depth)
    assert deepest <= 203


@pytest.mark.slow
def test_70_000_nodes(name: str) -> None:
    assert large().n_nodes > 65_000
    check(large(), name, 1000)


@pytest.mark.slow
def test_thousands_of_classes_take_no_gigabytes(name: str) -> None:
    rng = np.random.default_rng(0)
    tree = grow(encode(rng.normal(size=(6000, 3)), rng.integers(0, 3000, 6000)))
    assert len(export(tree, name)) < 20_000_000
    check(tree, name, 500)


# ---- each format for itself --------------------------------------------------------------------------------


def test_onnx_takes_raw_columns_by_name() -> None:
    """Texts as they are, an empty one for a missing one; what was never seen, too."""
    onnxruntime = pytest.importorskip("onnxruntime")
    table = {"job": ["cook", "clerk", None, "cook"], "age": [30.0, np.nan, 40.0, 50.0], "k": [3, 7, 3, 8]}
    data = encode(table, [1.5, 2.5, 3.5, 4.5], kinds={"k": "category"})
    tree = grow(data)
    session = onnxruntime.InferenceSession(export(tree, "onnx"))
    asked = {
        "job": np.array(["cook", "", "pilot", "clerk", "cook"], object),
        "age": np.array([30.0, np.nan, 41.0, np.inf, 35.5]),
        "k": np.array([3.0, 7.0, 7.5, np.nan, -1.0]),
    }
    used = {given.name: asked[given.name] for given in session.get_inputs()}
    (told,) = session.run(None, used)
    rows = {**asked, "job": ["cook", None, "pilot", "clerk", "cook"]}
    np.testing.assert_array_equal(told, tree.predict(rows))


def test_onnx_takes_a_negative_zero_for_the_category_zero() -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    schema = Schema((Column("k", "category", (0, 3)),), (Target("y"),))
    tree = Tree.write(schema, Branch(Among("k", [0]), Leaf([1.0, 5.0, 0.0]), Leaf([3.0, 7.0, 0.0])))
    (told,) = onnxruntime.InferenceSession(export(tree, "onnx")).run(None, {"k": np.array([0.0, -0.0, 3.0])})
    assert told.tolist() == tree.predict({"k": [0.0, -0.0, 3.0]}).tolist()
    assert told[0] == told[1] != told[2]


def test_onnx_gives_the_shares_to_the_bit() -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), rng.choice(["a", "b", "c"], 300)
    tree = grow(encode(X, y, weight=rng.random(300)), max_leaf_nodes=9)
    label, shares = onnxruntime.InferenceSession(export(tree, "onnx")).run(None, {"X": X})
    np.testing.assert_array_equal(shares, tree.predict_proba(X))
    assert label.tolist() == tree.predict(X).tolist()
    without = export(tree, "onnx", probabilities=False)
    assert [o.name for o in onnxruntime.InferenceSession(without).get_outputs()] == ["label"]


def test_onnx_models_pass_the_checker_and_tell_their_columns() -> None:
    onnx = pytest.importorskip("onnx")
    model = onnx.load_from_string(export(grown("texts"), "onnx"))
    onnx.checker.check_model(model, full_check=True)
    told = {prop.key: prop.value for prop in model.metadata_props}
    columns = json.loads(told["treewright.columns"])
    assert {column["column"] for column in columns} <= set(mixed())
    assert "label" not in {column["input"] for column in columns}  # the name of an output
    assert all(node.op_type != "If" for node in model.graph.node)


def test_onnx_refusals_in_one_sentence() -> None:
    pytest.importorskip("onnx")
    tree = grown("texts")
    with pytest.raises(ValueError, match="use inputs='columns'"):
        export(tree, "onnx", inputs="matrix")
    with pytest.raises(ValueError, match="must be 'matrix' or 'columns'"):
        export(tree, "onnx", inputs="rows")
    with pytest.raises(ValueError, match="missing="):
        export(tree, "onnx", missing="null")
    schema = Schema((Column("c", "category", ("\ud800", "b")),), (Target("y"),))
    lone = Tree.write(schema, Branch(Among("c", ["b"]), Leaf([1, 2, 0]), Leaf([1, 3, 0])))
    with pytest.raises(ValueError, match="no valid Unicode"):
        export(lone, "onnx")
    huge = replace(schema, columns=(Column("c", "category", (2**60 + 1, 3)),))
    with pytest.raises(ValueError, match="column 'c'"):
        export(Tree.write(huge, Branch(Among("c", [3]), Leaf([1, 2, 0]), Leaf([1, 3, 0]))), "onnx")


def test_onnx_names_that_a_model_cannot_have() -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    schema = Schema(
        (Column("", "category", ("a", "b")), Column("label"), Column("column_0"), Column("a\0b")),
        (Target("y", ("no", "yes")),),
    )
    tree: Any = Leaf([1, 2])
    for test in (Below("label", 1.0), Below("column_0", 2.0), Below("a\0b", 3.0), Among("", ["a"])):
        tree = Branch(test, Leaf([9, 1]), tree)
    model = export(Tree.write(schema, tree), "onnx")
    names = [given.name for given in onnxruntime.InferenceSession(model).get_inputs()]
    assert names == ["column_0_", "column_1", "column_0", "column_3"]
    check(Tree.write(schema, tree), "onnx", 500)


def test_pmml_is_xml_that_holds_the_names() -> None:
    tree = grown("texts")
    root = ElementTree.fromstring(str(export(tree, "pmml", name='my "model"')))
    space = {"p": "http://www.dmg.org/PMML-4_4"}
    fields = [field.get("name") for field in root.findall("p:DataDictionary/p:DataField", space)]
    assert fields == [*tree.schema.names, "y"]
    assert root.find("p:TreeModel", space).get("modelName") == 'my "model"'
    labels = {node.get("score") for node in root.iter("{http://www.dmg.org/PMML-4_4}Node")} - {None}
    assert labels <= set(HOSTILE)


def test_pmml_refuses_what_xml_cannot_hold() -> None:
    schema = Schema((Column("bell\a"),), (Target("y"),))
    tree = Tree.write(schema, Branch(Below("bell\a", 1), Leaf([1, 2, 0]), Leaf([1, 3, 0])))
    with pytest.raises(ValueError, match="XML cannot"):
        export(tree, "pmml")
    for label in (2**53 + 1, np.inf):  # none that a double of PMML could be
        schema = Schema((Column("k", "category", (1, label)),), (Target("y"),))
        tree = Tree.write(schema, Branch(Among("k", [label]), Leaf([1, 2, 0]), Leaf([9, 3, 0])))
        with pytest.raises(ValueError, match=f"the category or class {label} is no finite float64"):
            export(tree, "pmml")


def test_a_target_named_like_a_column(name: str) -> None:
    schema = Schema((Column("answer"), Column("y")), (Target("y", ("no", "yes")),))
    tree = Tree.write(
        schema, Branch(Below("answer", 1), Leaf([1, 2]), Branch(Below("y", 1), Leaf([3, 0]), Leaf([0, 1])))
    )
    check(tree, name, 200)


def test_treelite_says_shares_unless_they_mislead() -> None:
    treelite = pytest.importorskip("treelite")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), rng.choice(["a", "b", "c"], 300)
    tree = grow(encode(X, y), max_leaf_nodes=9)
    model = treelite.Model.deserialize_bytes(export(tree, "treelite"))
    np.testing.assert_array_equal(treelite.gtil.predict(model, X)[:, 0], tree.predict_proba(X))
    told = json.loads(model.dump_as_json())
    assert (told["task_type"], told["postprocessor"]) == ("kMultiClf", "identity_multiclass")
    numbers = treelite.Model.deserialize_bytes(export(grow(encode(X, X[:, 0]), max_depth=1), "treelite"))
    told = json.loads(numbers.dump_as_json())
    assert (told["task_type"], told["postprocessor"]) == ("kRegressor", "identity")
    costly = tree.with_costs({"c": {"a": 50, "b": 50}})
    with pytest.raises(ValueError, match="output='code'"):
        export(costly, "treelite", output="shares")
    with pytest.raises(ValueError, match="must be 'shares' or 'code'"):
        export(tree, "treelite", output="label")
    model = treelite.Model.deserialize_bytes(export(costly, "treelite"))
    codes = treelite.gtil.predict(model, X)[:, 0, 0].astype(int)
    assert np.array(["a", "b", "c"])[codes].tolist() == costly.predict(X).tolist()


@pytest.mark.slow
def test_tl2cgen_compiles_the_treelite_model(tmp_path: Any) -> None:
    """C code of another generator, from our model: the same answers."""
    tl2cgen, treelite = pytest.importorskip("tl2cgen"), pytest.importorskip("treelite")
    if shutil.which("gcc") is None:
        pytest.skip("no compiler")
    data = encode(mixed(), targets("ints"), kinds={"label": "category"})
    tree = grow(data, max_leaf_nodes=60)
    model = treelite.Model.deserialize_bytes(export(tree, "treelite"))
    library = tmp_path / "tree.so"
    tl2cgen.export_lib(model, toolchain="gcc", libpath=library, params={"quantize": 0})
    table = probes(tree, 2000)
    matrix = FORMATS.module("treelite")._matrix(encode(table, schema=tree.schema))
    told = tl2cgen.Predictor(library).predict(tl2cgen.DMatrix(matrix, dtype="float64"))
    codes = told.reshape(len(matrix), -1).argmax(axis=1)
    # its code takes numbers for missing whose lower 32 bits are all set, such as the largest float64
    kept = (matrix.view(np.uint64) & 0xFFFFFFFF != 0xFFFFFFFF).all(axis=1)
    assert kept.mean() > 0.9
    assert np.array([-1, 0, 1, 2])[codes[kept]].tolist() == tree.predict(table)[kept].tolist()


@pytest.mark.slow
def test_a_missing_library_is_named() -> None:
    code = (
        "import sys; sys.modules['onnx'] = sys.modules['treelite'] = None\n"
        "from treewright import encode, export, grow\n"
        "tree = grow(encode({'x': [1.0, 2.0]}, ['a', 'b']))\n"
        "for name in ('onnx', 'treelite'):\n"
        "    try:\n        export(tree, name)\n    except ImportError as error:\n        print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert "pip install 'treewright[onnx]'" in run.stdout
    assert "pip install 'treewright[treelite]'" in run.stdout


# ---- pieces ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tallest", [1, 2, 3, 7, 100])
def test_pieces_are_low_and_few(tallest: int) -> None:
    tree = grown("numbers")
    cut = pieces(tree, tallest)
    above = np.where(cut.is_root, 0, 1)
    height = np.zeros(tree.n_nodes, int)
    for node in range(1, tree.n_nodes):
        height[node] = (height[tree.parent[node]] + 1) * above[node]
        assert cut.piece[node] == cut.piece[tree.parent[node]] or cut.is_root[node]
    below = height + 1  # what is cut off is an end of the piece, one level further down
    assert below[~tree.is_leaf].max(initial=0) <= tallest
    assert cut.is_root.sum() <= 1 + (~tree.is_leaf).sum() / tallest
    assert cut.piece[cut.is_root].tolist() == list(range(cut.is_root.sum()))
