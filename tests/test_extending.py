"""Ordinary changes, made in a copy of the package: each in the files that CONTRIBUTING.md names, and used."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import treewright
from tests.parameters.test_declaration import FORESTS, TREES
from tests.test_contributing import ROWS, files_of

PACKAGE = Path(treewright.__file__).parent
SOURCE = "src/treewright/"


@dataclass(frozen=True)
class Change:
    """New files by their paths in the package, insertions by file as (the line before them, their text), and
    lines of Python that use what is new.
    """

    use: str
    files: dict[str, str] = field(default_factory=dict)
    insertions: dict[str, list[tuple[str, str]]] = field(default_factory=dict)


CHANGES = {
    "a pruning method": Change(
        files={
            "pruning/depth.py": '''
"""Depth: collapse everything below a given depth."""

import numpy as np

from treewright.pruning.path import PruningPath
from treewright.tree import Tree


def depth(tree: Tree, *, limit: int = 3) -> PruningPath:
    """Collapse the nodes at a depth.

    Parameters
    ----------
    limit : int
        The depth of the deepest leaves that remain.
    """
    nodes = np.flatnonzero((tree.levels == limit) & ~tree.is_leaf)
    return PruningPath.from_pair("depth", tree, tree.collapse(nodes.tolist()))
'''
        },
        use="""
from treewright.pruning.values import Depth
assert prune(tree, "depth", limit=1).pruned.height == 1
assert "depth" in treewright.pruning.methods()
fitted = DecisionTreeClassifier(pruning=Depth(limit=2)).fit(TABLE, LABELS)
assert fitted.get_depth() == 2 and fitted.set_params(pruning__limit=1).fit(TABLE, LABELS).get_depth() == 1
assert "The depth of the deepest leaves that remain." in Depth.__doc__
assert DecisionTreeClassifier(pruning="depth").fit(TABLE, LABELS).get_depth() == 3
call("prune", "tree.json", "--method", "depth", "--option", "limit=1", "-o", "short.json", "-q")
assert load("short.json").height == 1
assert "depth" in " ".join(call("prune", "--help").split())
""",
    ),
    "an export format or a programming language": Change(
        files={
            "exporting/outline.py": '''
"""The depth of each node, a line for each."""

from treewright.tree import Tree

SUFFIXES = (".outline", ".ol")


def render(tree: Tree, *, mark: str = "*") -> str:
    """A mark for each level."""
    return "\\n".join(mark * (level + 1) for level in tree.levels.tolist())
'''
        },
        use="""
assert export(tree, "outline", mark="-").splitlines()[:2] == ["-", "--"]
call("export", "tree.json", "-o", "tree.ol", "--option", 'mark="+"', "-q")
assert open("tree.ol").read().startswith("+\\n++")
shown = call("export", "--help")
assert ".outline, .ol" in " ".join(shown.replace("│", " ").split()) and "outline" in shown
""",
    ),
    "a parameter of all tree estimators and of `grow`": Change(
        insertions={
            "parameters/tree.py": [
                (
                    '    """When growing stops."""\n',
                    """
    max_patience: int = parameter(default=7, doc="How long growing may wait.", allowed=whole(1))
""",
                )
            ]
        },
        use=f"""
x, y = [[1.0], [2.0]], [0, 1]
for name in {[*TREES, *FORESTS]!r}:
    kind = getattr(treewright, name)
    assert inspect.signature(kind).parameters["max_patience"].default == 7, name
    assert "max_patience : int, default=7\\n    How long growing may wait." in kind.__doc__, name
    assert kind(max_patience=8).get_params()["max_patience"] == 8, name
    assert growing_options(kind(max_patience=8), 9, 2, 9.0)["max_patience"] == 8, name
    refused = refusal(lambda: kind(max_patience=0).fit(x, y))
    assert refused == name + ": max_patience=0 is not possible; it must be an int >= 1", refused
    kind(max_patience=9).fit(x, y)
one = DecisionTreeClassifier(max_patience=9)
assert BaggingClassifier(one, n_estimators=2).fit(x, y).estimators_[0].max_patience == 9
assert inspect.signature(grow).parameters["max_patience"].default == 7
assert "max_patience : int, default=7\\n    How long growing may wait." in grow.__doc__
data = encode(x, y)
refused = refusal(lambda: grow(data, max_patience=0))
assert refused == "grow: max_patience=0 is not possible; it must be an int >= 1", refused
assert grow(data, max_patience=8) == grow(data)
assert "max_patience" in GROW and of("max_patience").flag == "--max-patience"
option = from_spec("max_patience")
assert option.name == ("--max-patience",) and option.help == "How long growing may wait."
""",
    ),
    "a kind of column": Change(
        insertions={
            "encoding/kinds.py": [
                (
                    "KINDS: dict[str, Kind] = {kind.name: kind for kind in (Number(), Category(), Time())}\n",
                    """

class Percentage(Number):
    name, plural = "percentage", "percentages"
    test = "upto"

    def recognises(self, cells):
        return False

    def threshold_text(self, value):
        return f"{100 * value:g} %"


KINDS["percentage"] = Percentage()
""",
                )
            ]
        },
        use="""
shares = {"share": [0.1, 0.2, 0.3, 0.6, 0.7, 0.8]}
data = encode(shares, list("aaabbb"), kinds={"share": "percentage"})
text = str(grow(data))
assert "40 %" in text, text
grow(data).save("shares.json")
assert load("shares.json") == grow(data)
model = DecisionTreeClassifier(kinds={"share": "percentage"}).fit(shares, list("aaabbb"))
assert "40 %" in str(model.model_)
assert "percentage" in " ".join(call("describe", "--help").split())
assert "40 %" in call("fit", "shares.csv", "--target", "y", "--kinds", "share=percentage", *WHOLE)
""",
    ),
    "a kind of test at a node": Change(
        insertions={
            "tree/conditions.py": [
                (
                    'TESTS: dict[str, type[StoredTest]] = {"below": ThresholdTest, "among": SubsetTest}'
                    "  # by `Kind.test`\n",
                    """

class UptoTest(ThresholdTest):
    def text(self, is_left=True, longest=LONGEST_LIST):
        return f"{'at most' if is_left else 'over'} {self.column.threshold_text(self.threshold)}"


TESTS["upto"] = UptoTest
""",
                )
            ]
        },
        use="""
assert "share at most 40 %" in text and "share over 40 %" in text, text
assert "share at most 40 %" in export(load("shares.json"), "mermaid").replace("#37;", "%")
assert certify(grow(data)).value <= 1
""",
    ),
    "how missing values are worded": Change(
        insertions={"tree/conditions.py": [('OR_MISSING = "is known", "is missing", " or ', "otherwise ")]},
        use="""
holes = grow(encode({"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, None]}, list("aabbbba")))
assert "x <= 2.5 or otherwise missing" in str(holes), str(holes)
assert "or missing" not in str(holes) + str(treewright.rules(holes)) + report(holes).html
""",
    ),
    "a table library": Change(
        insertions={
            "encoding/tables.py": [
                (
                    '    """The right reader for a table."""\n',
                    """
    if is_a(table, "sheets", "Sheet"):
        return Table(table.n_rows, _texts(table.headings), table.columns)
""",
                )
            ],
            "encoding/readers.py": [
                (
                    '    """The cells of one column, whatever it comes from; `what` names it in errors."""\n',
                    """
    if is_a(column, "sheets", "Cells"):
        return from_objects([None if value == "-" else value for value in column.values], what)
""",
                )
            ],
        },
        use="""
sheets = types.ModuleType("sheets")
sheets.Sheet = type("Sheet", (), {})
sheets.Cells = type("Cells", (), {})
sys.modules["sheets"] = sheets
sheet, cells = sheets.Sheet(), sheets.Cells()
cells.values = [1.5, "-", 3.5, 4.5]
sheet.n_rows, sheet.headings, sheet.columns = 4, ["width"], [cells]
assert encode(sheet, list("aabb")).column(0).tolist()[2:] == [3.5, 4.5]
model = DecisionTreeClassifier().fit(sheet, list("aabb"))
assert model.predict(sheet).tolist() == list("aabb") and model.feature_names_in_.tolist() == ["width"]
""",
    ),
    "a section of the report": Change(
        files={
            "reporting/sections/levels.py": '''
"""How many nodes there are at each depth."""

import numpy as np


def values(context):
    """The numbers, from the root down."""
    return np.bincount(context.tree.levels).tolist()
''',
            "reporting/page/sections/85_levels.js": """
addSection({ id: "levels", title: "Levels", link: "Levels", place: "after-tree", build: (part) => {
  part.append(tag("p", {}, facts.levels.join(", ")));
} });
""",
        },
        use="""
page = report(tree, train=rows)
assert page.payload["levels"][:2] == [1, 2]
assert 'id: "levels"' in page.html and '"levels":[1,2' in page.html
call("report", "tree.json", "-o", "tree.html", "-q")
assert 'id: "levels"' in open("tree.html").read()
""",
    ),
    "the name of a command-line option": Change(
        insertions={
            "cli/options.py": [("    n_surrogates: Annotated[int, WHOLE, Parameter(", 'name="--stand-ins", ')]
        },
        use="""
assert "--stand-ins" in call("fit", "--help") and "--n-surrogates" not in call("fit", "--help")
call("fit", "table.csv", "--target", "y", "--missing", "surrogate", "--stand-ins", "2", *WHOLE)
from treewright.cli.options import Limits
from treewright.cli.shell import group_words
assert list(group_words(Limits(n_surrogates=2))) == ["--stand-ins", "2"]
""",
    ),
    "a certificate": Change(
        files={
            "certifying/worst.py": '''
"""The certificate that claims nothing."""

import numpy as np

from treewright.certifying.training_rows import TrainingMethod


class Worst(TrainingMethod):
    title, limit, needs_bits, other_parts = "Worst", "trivial", True, ()

    def bound(self, evidence):
        return np.ones_like(np.asarray(evidence.errors, float))


METHOD = Worst()
''',
            "certifying/lenient.py": '''
"""Held-out rows, as the other one."""

from treewright.certifying.held_out import HeldOut

METHOD = HeldOut()
METHOD.__class__ = type("Lenient", (HeldOut,), {"__module__": __name__})
''',
        },
        use="""
assert certify(tree, "worst").value == 1.0
assert "worst" in treewright.certifying.BOUNDS
assert prune(tree, "bound", f="worst", raising=False).method == "bound"
assert select(prune(tree, "cost_complexity"), method="worst", delta=0.1).pruned.n_leaves == 1
model = DecisionTreeClassifier().fit(TABLE, LABELS)
unseen = {"x": [i + 0.25 for i in range(30)], "z": [1.0] * 30}
assert model.certify(unseen, ["a"] * 30, method="lenient").method == "lenient"
assert "'lenient'" in refusal(lambda: model.certify(unseen, ["a"] * 30, method="no_such"))
""",
    ),
    "a rule for thresholds": Change(
        insertions={
            "growing/thresholds.py": [
                (
                    '    """A threshold in each gap (low, high) of tests of the columns `feature`."""\n',
                    '    if threshold == "lowest":\n        return low\n',
                )
            ],
            "parameters/tree.py": [('        allowed=one_of("readable", "midpoint"', ', "lowest"')],
        },
        use="""
lowest = grow(encode({"x": [1.0, 2.0, 3.0, 4.0]}, list("aabb")), threshold="lowest")
assert lowest.threshold[0] == 2.0
assert DecisionTreeClassifier(threshold="lowest").fit([[1], [2], [3]], [0, 0, 1]).model_.threshold[0] == 2
assert '{"readable", "midpoint", "lowest"}' in grow.__doc__
""",
    ),
    "a dtype of columns": Change(
        insertions={
            "encoding/readers.py": [
                (
                    "    match values.dtype.kind:\n",
                    """        case "S":
            return from_objects([value.decode() for value in values.tolist()], what)
""",
                )
            ]
        },
        use="""
assert encode({"x": np.array([b"low", b"high"])}, list("ab")).schema.columns[0].categories == ("high", "low")
assert DecisionTreeClassifier().fit({"x": np.array([b"low", b"high"])}, [0, 1]).get_depth() == 1
""",
    ),
}
MORE = {  # changes that are not in the table, as one file of a folder does it
    "cli/commands/size.py": '''
"""`treewright size`: the number of leaves of a saved tree."""

from treewright.cli import options as opt
from treewright.cli.console import Voice
from treewright.cli.model_files import open_model


def size(model: opt.Model, /, *, style: opt.Style = opt.TEXT) -> None:
    """Show the number of leaves of a saved tree.

    Examples
    --------
    treewright size loans.tree.json
        the number
    """
    tree = open_model(model)
    Voice(style).answer(lambda: str(tree.n_leaves), lambda: {"leaves": tree.n_leaves})
''',
    "selecting/smallest.py": '''
"""By size: the smallest tree."""

from treewright.pruning import PruningPath
from treewright.selecting.one_standard_error import choose


def smallest(path: PruningPath) -> PruningPath:
    """The tree with the fewest leaves."""
    return choose(path, int(path.leaves.argmin()), "the smallest")
''',
}
BEGIN = """
import contextlib, inspect, io, sys, types
import numpy as np
import treewright
from treewright import *
from treewright import BaggingClassifier, DecisionTreeClassifier
from treewright import certify, cli, encode, export, grow, load, prune, report, select
from treewright.cli.options import from_spec
from treewright.estimators.fitting import growing_options
from treewright.parameters import GROW, of

WHOLE = ("--prune", "none", "--validation-fraction", "0", "--test-size", "0")

def refusal(call):
    try:
        call()
    except (TypeError, ValueError) as error:
        return str(error)
    raise AssertionError("nothing was refused")

def call(*words):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            code = cli.main(list(words))
        except SystemExit as end:
            code = end.code
    assert not code, (words, out.getvalue())
    return out.getvalue()

TABLE = {"x": list(range(40)), "z": [1.0, 2.0] * 20}
LABELS = [("a", "b")[(i // 5) % 2] for i in range(40)]
rows = encode(TABLE, LABELS)
tree = grow(rows)
tree.save("tree.json")
with open("table.csv", "w") as file:
    print("x,z,y", *(f"{i},{i % 7},{label}" for i, label in enumerate(LABELS)), sep="\\n", file=file)
with open("shares.csv", "w") as file:
    shown = (0.1, 0.2, 0.3, 0.6, 0.7, 0.8)
    print("share,y", *(f"{share},{'ab'[share > 0.45]}" for share in shown), sep="\\n", file=file)
"""
END = """
assert call("size", "tree.json").strip() == str(tree.n_leaves)
assert "Show the number of leaves" in call("--help")
assert select(prune(tree, "cost_complexity"), "smallest").pruned.n_leaves == 1
assert "smallest" in " ".join(call("prune", "--help").split())
fitted = DecisionTreeClassifier(pruning=treewright.CostComplexity(select="smallest")).fit(TABLE, LABELS)
assert fitted.get_n_leaves() == 1
print("everything")
"""


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_touches_the_files_that_the_table_names(change: str) -> None:
    files = files_of(dict(ROWS)[change])
    for changed in CHANGES[change].insertions:
        assert SOURCE + changed in files
    for new in CHANGES[change].files:  # beside one that is named
        assert str(Path(SOURCE + new).parent) in {str(Path(file).parent) for file in files}


def test_what_needs_no_compiler_is_tried() -> None:
    compiled = {"a splitting criterion", "a loss of gradient boosting", "a metric of the k-d tree"}
    assert compiled | CHANGES.keys() == {change for change, _ in ROWS}
    assert all("src/core/" in dict(ROWS)[change] for change in compiled)


def insertions() -> Iterator[tuple[str, str, str]]:
    """(file, the text before an insertion, the text that is inserted) of all changes."""
    for change in CHANGES.values():
        for file, places in change.insertions.items():
            yield from ((file, before, text) for before, text in places)


@pytest.mark.slow
def test_ordinary_changes_work_where_they_are_made(tmp_path: Path) -> None:
    copied = tmp_path / "treewright"
    shutil.copytree(PACKAGE, copied, ignore=shutil.ignore_patterns("__pycache__"))
    for change in CHANGES.values():
        for new, content in change.files.items():
            (copied / new).write_text(content.lstrip("\n"), encoding="utf-8")
    for new, content in MORE.items():
        (copied / new).write_text(content.lstrip("\n"), encoding="utf-8")
    for file, before, text in insertions():
        source = (copied / file).read_text(encoding="utf-8")
        assert source.count(before) == 1, (file, before)
        (copied / file).write_text(source.replace(before, before + text), encoding="utf-8")
    script = tmp_path / "use.py"
    uses = "".join(f"\n# ---- {name}\n{change.use}" for name, change in CHANGES.items())
    script.write_text(BEGIN + uses + END, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "COLUMNS": "100"}
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout.strip() == "everything", done.stdout + done.stderr
