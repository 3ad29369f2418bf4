"""A parameter is declared once: signature, documentation, get_params and validation follow."""

import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.base import clone

import treewright
from treewright import DecisionTreeClassifier
from treewright.parameters import GROW, of

TREES = ["DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier", "ExtraTreeRegressor"]
CLASSIC = [
    "CARTClassifier",
    "CARTRegressor",
    "C45Classifier",
    "ID3Classifier",
    "CHAIDClassifier",
    "TopDownClassifier",
]
PACKAGE = Path(treewright.__file__).parent

NEW = """
    max_patience: int = parameter(default=7, doc="How long growing may wait.", allowed=whole(1))
"""
USE = f"""
import inspect, treewright
for name in {TREES!r}:
    kind = getattr(treewright, name)
    assert inspect.signature(kind).parameters["max_patience"].default == 7, name
    assert "max_patience : int, default=7\\n    How long growing may wait." in kind.__doc__, name
    assert kind(max_patience=8).get_params()["max_patience"] == 8, name
    try:
        kind(max_patience=0).fit([[1.0], [2.0]], [0, 1])
    except ValueError as error:
        assert str(error) == name + ": max_patience=0 is not possible; it must be an int >= 1", error
    else:
        raise AssertionError(name)
    kind(max_patience=9).fit([[1.0], [2.0]], [0, 1])
from treewright.parameters import GROW, of
assert "max_patience" in GROW and of("max_patience").flag == "--max-patience"
print("everywhere")
"""


@pytest.mark.slow
def test_one_field_gives_a_parameter_to_all_trees(tmp_path: Path) -> None:
    copied = tmp_path / "treewright"
    shutil.copytree(PACKAGE, copied, ignore=shutil.ignore_patterns("__pycache__"))
    groups = copied / "parameters" / "tree.py"
    heading = '    """When growing stops."""\n'
    text = groups.read_text(encoding="utf-8")
    assert text.count(heading) == 1
    groups.write_text(text.replace(heading, heading + NEW), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", USE], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout.strip() == "everywhere", done.stderr


@pytest.mark.parametrize("name", TREES + CLASSIC)
def test_every_parameter_is_documented_where_it_is(name: str) -> None:
    kind = getattr(treewright, name)
    text, signature = inspect.getdoc(kind) or "", inspect.signature(kind)
    section = text[text.index("Parameters\n----------") : text.index("Attributes\n----------")]
    listed = [line.partition(" : ")[0] for line in section.splitlines()[2:] if line and line[0] != " "]
    assert sorted(listed) == sorted(signature.parameters)
    assert list(kind.parameters) == listed
    assert all(each.kind is each.KEYWORD_ONLY for each in signature.parameters.values())
    assert len(listed) <= 26
    assert clone(kind()).get_params() == kind().get_params()


def test_the_same_name_means_the_same_everywhere() -> None:
    for name in TREES:
        for each in getattr(treewright, name).parameters.values():
            assert each.doc, each.name
            if each.name != "criterion":
                assert each.doc == of(each.name).doc
    assert of("max_depth").flag == "--max-depth"
    assert of("splitter").choices == ("best", "random")
    assert "pruning" not in GROW
    with pytest.raises(KeyError, match="did you mean 'max_depth'"):
        of("max_dept")


def test_classes_with_their_own_init_keep_it() -> None:
    class Shallow(DecisionTreeClassifier):
        """Two levels."""

        def __init__(self, max_depth: int = 2) -> None:
            super().__init__(max_depth=max_depth)

    class Shallower(Shallow):
        """The same."""

    assert Shallower(1).fit([[1], [2], [3], [4]], [0, 1, 0, 1]).get_depth() == 1
    assert Shallower().get_params() == {"max_depth": 2}
