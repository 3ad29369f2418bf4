"""What is said in several files about the package agrees: versions, Pythons, commands of `make`, tools."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

import treewright

ROOT = Path(__file__).parent.parent
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
each_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)


def only_match(pattern: str, name: str) -> str:
    """What the group of the pattern matches at the one place in a file where the pattern occurs."""
    (found,) = re.findall(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
    return str(found)


def test_the_version_is_the_one_of_its_module() -> None:
    assert "version" not in PROJECT["project"]
    assert PROJECT["tool"]["scikit-build"]["metadata"]["version"]["input"] == "src/treewright/_version.py"
    assert only_match(r'^__version__ = "(.*)"$', "src/treewright/_version.py") == treewright.__version__
    assert only_match(r"^version: (.*)$", "CITATION.cff") == treewright.__version__


def test_the_changelog_begins_with_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version, state = re.findall(r"^## (\S+) \((.+)\)$", text, re.MULTILINE)[0]
    assert version == treewright.__version__
    assert state == "unreleased" or re.fullmatch(r"\d{4}-\d\d-\d\d", state)


def test_the_same_pythons_are_declared_and_tested() -> None:
    prefix = "Programming Language :: Python :: 3."
    declared = [
        each.removeprefix(prefix) for each in PROJECT["project"]["classifiers"] if each.startswith(prefix)
    ]
    tested = re.findall(r'"3\.(\d+)"', only_match(r"^ +python: \[(.*)\]$", ".github/workflows/tests.yml"))
    assert declared == tested
    assert PROJECT["project"]["requires-python"] == f">=3.{tested[0]}"
    sought = only_match(r"for name in python3 (.*); do", "Makefile").split()
    assert sought == [f"python3.{minor}" for minor in reversed(declared)]


@each_workflow
def test_workflows_may_do_little_and_end(path: Path) -> None:
    """Read only, unless a job says what else it needs; no job hangs for hours; no key is stored."""
    text = path.read_text(encoding="utf-8")
    assert re.search(r"^permissions:\n  contents: read\n\n", text, re.MULTILINE)
    assert re.search(r"^concurrency:\n  group: ", text, re.MULTILINE)
    jobs = re.findall(r"^    (?:runs-on|uses): ", text, re.MULTILINE)
    limits = re.findall(r"^    (?:timeout-minutes|uses): ", text, re.MULTILINE)
    assert len(jobs) == len(limits) > 0
    assert "secrets." not in text


@each_workflow
def test_actions_are_pinned_to_a_major_version(path: Path) -> None:
    for action in re.findall(r"uses: (\S+)", path.read_text(encoding="utf-8")):
        assert re.fullmatch(r"\./\.github/workflows/\w+\.yml|[\w/-]+@(v\d+|release/v\d+)", action), action


def commands(text: str) -> set[str]:
    """The targets of the calls of make in a text."""
    return set(re.findall(r"(?:`|run: |^)make ([a-z][a-z-]*)", text, re.MULTILINE))


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", ".github/pull_request_template.md"])
def test_commands_that_pages_name_exist(name: str) -> None:
    named = commands((ROOT / name).read_text(encoding="utf-8"))
    assert named
    for target in named:
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), f"{name} names `make {target}`"


def test_commands_of_workflows_exist() -> None:
    named = set(re.findall(r"\w+", only_match(r"^ +target: \[(.*)\]$", ".github/workflows/weekly.yml")))
    for path in WORKFLOWS:
        text = path.read_text(encoding="utf-8")
        named |= commands(text)
        for script in re.findall(r"run: (\.ci/\S+)", text):
            assert (ROOT / script).exists(), f"{path.name} runs {script}"
    for target in named:
        assert re.search(rf"^{target}:.* ## ", MAKEFILE, re.MULTILINE), f"a workflow runs `make {target}`"


def test_ci_runs_the_commands_of_the_readme_with_home_path_and_language_only() -> None:
    text = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    (bare,) = re.findall(r"^bare=\((.*)\)$", text, re.MULTILINE)
    assert re.findall(r'"(\w+)=', bare) == ["HOME", "PATH", "LANG"]
    run = " ".join(re.findall(r'^env -i "\$\{bare\[@\]\}" make (.*)$', text, re.MULTILINE)).split()
    assert {"demo", "test"} <= commands((ROOT / "README.md").read_text(encoding="utf-8"))
    assert {"demo", "test"} <= set(run)


@pytest.mark.parametrize("name", ["Makefile", ".ci/run", ".github/workflows/tests.yml"])
def test_what_is_defined_for_cmake_exists(name: str) -> None:
    """CMake ignores what it does not know: warnings would not be errors, and nobody would notice."""
    cmake = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    known = {"CMAKE_COMPILE_WARNING_AS_ERROR", "CMAKE_CXX_FLAGS"} | set(
        re.findall(r"set\((TREEWRIGHT_\w+) ", cmake)
    )
    defined = re.findall(
        r"cmake\.define\.(\w+)|CMAKE_DEFINE=(\w+)", (ROOT / name).read_text(encoding="utf-8")
    )
    assert defined
    assert {first or second for first, second in defined} <= known


def test_tests_on_windows_use_the_compiler_of_the_wheels() -> None:
    (chosen,) = re.findall(
        r"printf '%s\\n' (.*) >>", (ROOT / ".github/workflows/tests.yml").read_text("utf-8")
    )
    wanted = PROJECT["tool"]["cibuildwheel"]["windows"]["environment"]
    assert dict(each.split("=") for each in chosen.split()) == wanted


def test_tests_can_be_collected_with_what_the_extra_test_brings() -> None:
    """The tests on every platform have no more; other libraries are imported by `pytest.importorskip`."""
    extras = PROJECT["project"]["optional-dependencies"]
    brought = PROJECT["project"]["dependencies"] + extras["test"] + extras["cli"] + extras["plot"]
    known = {re.split(r"\W", each.replace("scikit-learn", "sklearn"))[0] for each in brought}
    known |= {"joblib", "threadpoolctl"}  # scikit-learn's own needs
    known |= sys.stdlib_module_names | {folder.name for folder in ROOT.iterdir() if folder.is_dir()}
    for path in (ROOT / "tests").rglob("*.py"):
        imported = re.findall(r"^(?:import|from) (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(imported) <= known, path


def test_the_core_reads_decimals_as_every_standard_library_can() -> None:
    """The C++ library of macOS has no std::from_chars of floating-point numbers."""
    for path in (ROOT / "src" / "core").rglob("*.[ch]pp"):
        assert "from_chars(" not in path.read_text(encoding="utf-8"), path


def test_every_command_is_phony_and_explained() -> None:
    phony = set(only_match(r"^\.PHONY: (.*)$", "Makefile").split())
    assert phony == set(re.findall(r"^([a-z-]+):.* ## .+$", MAKEFILE, re.MULTILINE))


def test_hooks_run_what_make_lint_runs() -> None:
    """A tool that checks commits also checks the whole, and belongs to the extra `dev`."""
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    installed = " ".join(PROJECT["project"]["optional-dependencies"]["dev"])
    lint = only_match(r"^lint: .*\n((?:\t.*\n)+)", "Makefile")
    for tool in set(re.findall(r"entry: \.venv/bin/([\w-]+)", hooks)):
        assert f"$(BIN)/{tool} " in lint
        assert tool in installed
    named = "--builtin-schema (\\S+)"
    assert re.findall(named, hooks) == re.findall(named, lint)
    assert "pre-commit" in installed
