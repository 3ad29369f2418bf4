"""A parameter is declared once: signature, documentation, get_params and validation follow."""

import inspect
import subprocess
import sys

import pytest
import sklearn.ensemble
from sklearn.base import clone

import treewright
from treewright import DecisionTreeClassifier, RandomForestClassifier, Surrogates, encode, grow
from treewright.parameters import GROW, of
from treewright.parameters.boosting import AdaBoostParameters, BoostParameters, GradientBoostingParameters

TREES = ["DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier", "ExtraTreeRegressor"]
FORESTS = ["RandomForestClassifier", "RandomForestRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor"]
VOTING = [*FORESTS, "BaggingClassifier", "BaggingRegressor"]
CLASSIC = [
    "CARTClassifier",
    "CARTRegressor",
    "C45Classifier",
    "ID3Classifier",
    "CHAIDClassifier",
    "TopDownClassifier",
]


def positional(kind: type) -> list[str]:
    """The parameters of a class that may be given by position."""
    known = inspect.signature(kind).parameters.values()
    return [each.name for each in known if each.kind is not each.KEYWORD_ONLY]


@pytest.mark.parametrize("name", VOTING)
def test_ensembles_have_the_parameters_of_scikit_learn_in_its_order(name: str) -> None:
    ours = list(inspect.signature(getattr(treewright, name)).parameters)
    theirs = list(inspect.signature(getattr(sklearn.ensemble, name)).parameters)
    assert ours[: len(theirs)] == theirs


def test_pickles_of_earlier_versions_load() -> None:
    x, y = [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1]
    forest = RandomForestClassifier(5, random_state=0).fit(x, y)
    state = forest.__getstate__() | {"missing": "surrogate", "n_surrogates": 3}
    del state["selection"]
    earlier = RandomForestClassifier.__new__(RandomForestClassifier)
    earlier.__setstate__(state)
    assert earlier.get_params()["missing"] == Surrogates(3)
    assert earlier.selection == "gain"
    assert earlier.predict(x).tolist() == forest.predict(x).tolist()


def test_grow_takes_what_is_declared_and_nothing_else() -> None:
    data = encode([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    known = inspect.signature(grow).parameters
    assert list(known) == ["data", "target", "weight", "kinds", *GROW]
    assert all(known[name].default is each.default for name, each in GROW.items())
    with pytest.raises(TypeError, match="grow has no parameter 'max_dept'; did you mean 'max_depth'"):
        grow(data, max_dept=2)  # type: ignore[call-arg]
    assert grow(data, min_samples_leaf=0.5).n_leaves == 2
    assert grow(data, min_samples_leaf=0.6).n_leaves == 1
    assert grow(data, max_features="sqrt", random_state=1).n_leaves == 2


@pytest.mark.parametrize("name", TREES + CLASSIC + VOTING)
def test_every_parameter_is_documented_where_it_is(name: str) -> None:
    kind = getattr(treewright, name)
    text, signature = inspect.getdoc(kind) or "", inspect.signature(kind)
    section = text[text.index("Parameters\n----------") : text.index("Attributes\n----------")]
    listed = [line.partition(" : ")[0] for line in section.splitlines()[2:] if line and line[0] != " "]
    assert sorted(listed) == sorted(signature.parameters)
    assert list(kind.parameters) == listed
    by_position = [each.name for each in signature.parameters.values() if each.kind is not each.KEYWORD_ONLY]
    theirs = getattr(sklearn.ensemble, name, None)
    assert by_position == ([] if theirs is None else positional(theirs))
    assert len(listed) <= 30
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


def facts_of_boosting() -> str:
    kinds = AdaBoostParameters, BoostParameters, GradientBoostingParameters
    found = [each for kind in kinds for each in kind.parameters.values()]
    words = [each.allowed.words if each.allowed else "" for each in found]
    return repr(
        [(each.name, each.doc, each.kind, each.group, own) for each, own in zip(found, words, strict=True)]
    )


@pytest.mark.parametrize("first", ["parameters.selectors", "parameters.boosting"])
def test_declarations_do_not_depend_on_what_is_imported_first(first: str) -> None:
    code = f"import treewright.{first}\n"
    code += "from treewright.parameters.boosting import *\n" + inspect.getsource(facts_of_boosting)
    code += "print(facts_of_boosting())"
    fresh = [sys.executable, "-c", code]
    run = subprocess.run(fresh, capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == facts_of_boosting()
