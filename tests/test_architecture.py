"""The architecture: imports go downhill, files and functions stay small, public names are explained."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import treewright

SOURCE = Path(__file__).resolve().parent.parent / "src"
PACKAGE = SOURCE / "treewright"
# From the bottom up: each package imports from the layers below it only.
LAYERS = {
    "support": {
        "_arrays",
        "_atomic",
        "_core",
        "_display",
        "_json",
        "_registry",
        "_suggestions",
        "_text",
        "_version",
        "advice",
        "datasets",
        "parameters",
    },
    "tables as arrays": {"encoding"},
    "the tree": {"tree"},
    "growing and measuring": {"growing", "certifying", "metrics"},
    "pictures": {"plotting"},
    "export formats": {"exporting"},
    "methods on trees": {"pruning", "explaining", "ensembles", "neighbours", "optimising"},
    "choices, files, advice": {"selecting", "feature_selection", "saving", "advising"},
    "Python entry points": {"estimators", "reporting"},
    "other libraries and the shell": {"converting", "cli"},
}
ENTRY = len(LAYERS)
LEVEL = {package: level for level, packages in enumerate(LAYERS.values()) for package in packages}
LEVEL |= {"__init__": ENTRY, "__main__": ENTRY}
LEVEL |= {"_text": -2, "_json": -2, "_suggestions": -1, "_display": -1}  # other support uses them
PYTHON = sorted(PACKAGE.rglob("*.py"))
# A tree prints, plots and saves itself: these two files import from above, when a method is called.
UPHILL = {PACKAGE / "tree" / "shortcuts.py", PACKAGE / "tree" / "rule_list.py"}
NATIVE = sorted(path for kind in ("*.cpp", "*.hpp") for path in SOURCE.rglob(kind))


def name_of(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def package_of(path: Path) -> str:
    """The package or top-level module that a file belongs to."""
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


@cache
def syntax(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path) -> tuple[tuple[int, str], ...]:
    """(line, absolute dotted name) of all that a file imports, within functions too, not for types only."""
    tree = syntax(path)
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    here = ["treewright", *path.relative_to(PACKAGE).with_suffix("").parts]
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            found += ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{stem}.{alias.name}" for alias in node.names] if stem == "treewright" else [stem]
            found += ((node.lineno, name) for name in names)
    return tuple(found)


def test_imports_go_downhill() -> None:
    uphill = []
    for path in PYTHON:
        package = package_of(path)
        assert package in LEVEL, f"{package} is in no layer"
        for line, name in imports(path):
            root, _, rest = name.partition(".")
            other = rest.partition(".")[0]
            if path in UPHILL or root != "treewright" or other in ("", package, "_core"):
                continue  # the compiled core imports nothing
            if not LEVEL.get(other, -3) < LEVEL[package]:
                uphill.append(f"{name_of(path)}:{line} imports {name}")
    assert not uphill


def test_layers_are_few_and_name_only_what_exists() -> None:
    present = {package_of(path) for path in PYTHON} | {"_core"}
    assert len(LAYERS) <= 10
    assert set(LEVEL) == present


def test_only_estimators_know_scikit_learn() -> None:
    guilty = [
        f"{name_of(path)}:{line} imports {name}"
        for path in PYTHON
        if package_of(path) != "estimators"
        for line, name in imports(path)
        if name.split(".")[0] == "sklearn"
    ]
    assert not guilty


def test_files_are_small_and_say_what_they_are_for() -> None:
    for path in PYTHON + NATIVE:
        lines = path.read_text(encoding="utf-8").splitlines()
        assert len(lines) <= 800, f"{name_of(path)} has {len(lines)} lines"
        if lines:
            assert lines[0].startswith(('"""', "//", "/*", "#pragma once")), (
                f"the first line of {name_of(path)} says what the file is for"
            )


def test_extensions_of_compilers_have_portable_names() -> None:
    extension = re.compile(
        r"__int128|__builtin_|__attribute__|__extension__|__restrict|\[\[(gnu|clang|msvc)::|\basm\b"
        r"|#pragma (?!once)|__GNUC__|_MSC_VER|_mm_|immintrin"
    )
    portable = {SOURCE / "core" / "support" / name for name in ("portable.hpp", "simd.hpp")}
    guilty = [
        f"{name_of(path)}:{number}: {line.strip()}"
        for path in NATIVE
        if path not in portable
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if extension.search(line)
    ]
    assert not guilty


def test_functions_fit_a_screen() -> None:
    long = []
    for path in PYTHON:
        for node in ast.walk(syntax(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node, clean=False) or ""  # explanations may take their room
                length = node.end_lineno - node.lineno + 1 - len(text.splitlines())
                if length > 70:
                    long.append(f"{name_of(path)}: {node.name} has {length} lines")
    assert not long


def test_importing_is_light() -> None:
    """Neither scikit-learn nor a table library is loaded before it is needed."""
    code = "import sys, treewright; print(' '.join(m for m in sys.modules if '.' not in m))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    heavy = {"sklearn", "scipy", "pandas", "polars", "pyarrow", "narwhals", "matplotlib", "rich"}
    assert not heavy & set(run.stdout.split())


def test_public_names_exist_and_are_explained() -> None:
    assert treewright.__doc__
    assert treewright.__all__
    for name in treewright.__all__:
        thing = getattr(treewright, name)
        if name.startswith("__"):
            continue
        assert inspect.getdoc(thing), f"treewright.{name} has no docstring"
        if inspect.isclass(thing):
            check_members(name, thing)


def check_members(name: str, thing: type) -> None:
    for member, value in vars(thing).items():
        if member.startswith("_") or not (inspect.isfunction(value) or isinstance(value, property)):
            continue
        assert inspect.getdoc(getattr(thing, member)), f"treewright.{name}.{member} has no docstring"


def test_the_readme_imports_public_names() -> None:
    text = (SOURCE.parent / "README.md").read_text(encoding="utf-8")
    imported = re.findall(r"^from treewright import (.+)$", text, re.MULTILINE)
    names = {name.strip() for line in imported for name in line.split(",")}
    assert "DecisionTreeClassifier" in names
    assert names <= set(treewright.__all__)
