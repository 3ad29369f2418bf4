"""The reference is made from the package: no public name, parameter, default, kind or example is missing."""

from __future__ import annotations

import importlib.util
import inspect
import re
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

import treewright
from treewright.exporting import formats
from treewright.parameters.spec import Parameters
from treewright.pruning import methods
from treewright.selecting import ways

DOCS = Path(__file__).parent.parent / "docs"


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference", DOCS / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


REFERENCE = script()


def arguments(item: object) -> list[inspect.Parameter]:
    """What a name takes, by position or by name."""
    if inspect.isclass(item) and issubclass(item, BaseException):
        return []
    known = inspect.signature(item).parameters.values()  # type: ignore[arg-type]
    return [each for each in known if not each.name.startswith("_") and each.kind is not each.VAR_KEYWORD]


def test_every_public_name_is_on_one_page() -> None:
    listed = [name for names in REFERENCE.pages().values() for name in names]
    assert sorted(listed) == sorted(treewright.__all__)
    assert set(REFERENCE.pages()) == {page.stem for page in (DOCS / "reference").glob("*.md")}


@pytest.mark.parametrize("name", treewright.__all__)
def test_a_public_name_is_described(name: str) -> None:
    """A summary, an example, each argument with its kind; declared defaults are those of the signature."""
    item = getattr(treewright, name)
    assert len(REFERENCE.summary(item)) > 10
    assert ">>> " in (inspect.getdoc(item) or ""), "an example is missing"
    sections = re.findall(r"^(\w[\w ]*)\n-{3,}$", inspect.getdoc(item) or "", re.MULTILINE)
    assert len(sections) == len(set(sections)), "a section is there twice"
    found = REFERENCE.entries(item)
    assert [each.name for each in arguments(item) if not found.get(each.name)] == []
    if inspect.isclass(item) and issubclass(item, Parameters):
        for each in arguments(item):
            assert item.parameters[each.name].default is each.default
            assert "default=" in found[each.name]


def test_members_are_those_of_the_package() -> None:
    found = REFERENCE.members(treewright.DecisionTreeClassifier)
    assert {"fit", "predict", "predict_proba", "certify", "model_"} - set(found) <= {"model_"}
    assert "get_metadata_routing" not in found
    assert REFERENCE.members(treewright.Surrogates) == []
    assert {"check", "bits", "confidence"} <= set(REFERENCE.members(treewright.Certificate))


@dataclass
class Example:
    """A class with fields."""

    one: int  # the first
    # The second, which takes
    # two lines.
    two: str = "b"


def test_fields_have_type_default_and_comment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Example, "__module__", "treewright.example")
    monkeypatch.setattr(inspect, "getsource", lambda _: SOURCE)
    assert REFERENCE.fields(Example)[2:-1] == [
        "one : ``int``",
        "    the first",
        "two : ``str``, default=\\ ``'b'``",
        "    The second, which takes two lines.",
    ]


SOURCE = inspect.getsource(Example)


def test_alternatives_are_all_there() -> None:
    for package, names in (("pruning", methods()), ("selecting", ways()), ("exporting", formats())):
        lines = "\n".join(REFERENCE.alternatives(package))
        for name in names:
            assert f"treewright.{package}.{name}." in lines
        assert f".. alternatives:: {package}" in (DOCS / "reference" / f"{package}.md").read_text("utf-8")


def test_the_index_has_every_parameter() -> None:
    text = "\n".join(REFERENCE.parameter_index())
    for owner, parameters in REFERENCE.owners().items():
        assert f"treewright.{owner}`" in text
        for name, each in parameters.items():
            assert f"**{name}**" in text
            assert " ".join(each.doc.split()) in text
    assert "**max_depth**, on the command line ``--max-depth``" in text


def test_what_is_missing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(treewright, "__all__", [*treewright.__all__, "Example"])
    monkeypatch.setattr(treewright, "Example", Example, raising=False)
    with pytest.raises(AssertionError):
        test_every_public_name_is_on_one_page()
    with pytest.raises(AssertionError, match="an example is missing"):
        test_a_public_name_is_described("Example")
    with pytest.raises(ValueError, match="no public name"):
        REFERENCE.public("nowhere")
