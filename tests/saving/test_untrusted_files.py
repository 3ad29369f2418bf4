"""Model files of strangers: damage is noticed, lies are refused, memory is bounded, nothing is run."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz import fuzz_saving
from fuzz.fuzz_saving import laid_out, signed

from tests.saving.small_models import by_hand, labelled, parsed, refuse
from treewright import encode, grow, load, saving
from treewright.growing import memory

ROOT = Path(__file__).parents[2]

# ---- damage ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("mask", [0x01, 0x20, 0xFF])
def test_any_changed_byte_is_noticed(mask: int, tmp_path: Path) -> None:
    by_hand().collapse([0]).save(tmp_path / "tree.json")
    content = (tmp_path / "tree.json").read_bytes()
    version = content.index(b'"version": ') + len('"version": ')
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= mask
        other = "|does not hold a tree" if place == version else ""  # an older one has other lines
        refuse(bytes(changed), tmp_path, "damaged|not a treewright model|newer treewright" + other)


def test_any_cut_or_addition_is_noticed(tmp_path: Path) -> None:
    by_hand().save(tmp_path / "tree.json")
    content = (tmp_path / "tree.json").read_bytes()
    for size in range(len(content)):
        refuse(content[:size], tmp_path, "damaged|not a treewright model")
    for more in (b"\n", b" ", b"\0", content, b"x" * 3 * 2**20):
        refuse(content + more, tmp_path, "goes on after its end")
        refuse(more + content, tmp_path, "damaged|not a treewright model")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"null",
        b"\x80\x04N.",
        b"[" * 10**6,
        b'{"format": "treewright model"}',
        b"\xff\xfe{\0}\0",
        b"PK\3\4",
    ],
    ids=lambda content: repr(content[:9]),
)
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    assert "is not a treewright model" in refuse(content, tmp_path)


def test_a_tree_that_memory_cannot_hold_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of nodes by classes can take far more than its file, which lists only what is not zero."""
    y = np.arange(256).repeat(2)
    grow(encode({"x": y.astype(float)}, y, classes=True)).save(tmp_path / "wide.json")
    monkeypatch.setattr(memory, "_PLENTY", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 10**6)
    with pytest.raises(MemoryError, match="a tree of 511 nodes and 256 classes needs about"):
        load(tmp_path / "wide.json")


def test_newer_files_say_so(tmp_path: Path) -> None:
    message = refuse(signed(b"{anything}", version=7), tmp_path)
    assert "was written by a newer treewright (format 7; this one reads 6): upgrade" in message
    assert "newer" in refuse(b'{\n  "format": "treewright model",\n  "version": 999999999999', tmp_path)
    refuse(signed(b"{anything}", version=0), tmp_path, "damaged")


def test_missing_files_folders_and_devices(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="none"):
        load(tmp_path / "none.json")
    with pytest.raises(OSError, match=re.escape(tmp_path.name)):
        load(tmp_path)
    with pytest.raises(TypeError):
        load(0)  # type: ignore[arg-type]
    if os.path.exists("/dev/zero"):
        with pytest.raises(ValueError, match="not a treewright model"):
            load("/dev/zero")
    refuse(signed(b"{}").replace(b'"length": 2', b'"length": 999999999999999999'), tmp_path, "ends too early")


# ---- strangers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("end", [3, 2, True], "whole numbers"),
        ("end", [3, 2, 3.0], "whole numbers"),
        ("end", [3, 2, "3"], "whole numbers"),
        ("end", [3, 2, None], "whole numbers"),
        ("end", [3, 2, 2**31], "whole numbers"),
        ("end", [3, 2, 2**32 + 3], "whole numbers"),
        ("end", [3, 2, 10**400], "whole numbers"),
        ("end", [3, 2, [3]], "whole numbers"),
        ("end", [3, 2, 4], "outside"),
        ("end", 3, r'"end": \['),
        ("end", [], "0 nodes|2 values|values"),
        ("subset", [2**63, -1, -1], "whole numbers"),
        ("subsets", [256], "whole numbers"),
        ("subsets", [-1], "whole numbers"),
        ("subsets", [0] * 100, "outside"),
        ("missing_left", [1, 0, 0], "true or false"),
        ("threshold", [1, None, None], "decimal numbers"),
        ("threshold", [True, None, None], "decimal numbers"),
        ("threshold", ["nan", None, None], "decimal numbers"),
        ("threshold", [float("nan"), None, None], "decimal numbers"),
        ("threshold", [float("inf"), None, None], "decimal numbers"),
        ("threshold", [0.5, None], "has 2 values"),
        ("threshold", [0.5, None, None, None], "has 4 values"),
        ("statistic start", [0, 1, 4, 4], "not in order|beyond"),
        ("statistic start", [1, 2, 3, 4], "rise from 0"),
        ("statistic start", [0, 3, 2, 4], "rise from 0"),
        ("statistic start", [0, 2, 3, 2**62], "needs 4611686018427387904"),
        ("statistic class", [0, 0, 0, 1], "not in order"),
        ("statistic class", [0, 1, 0, 2], "class beyond"),
        ("statistic class", [0, 1, 0, -1], "class beyond"),
        ("statistic weight", [1.0, 2.0, 1.0, "inf"], "not finite"),
        ("statistic weight", [1.0, 2.0, 1.0, None], "not finite"),
        ("criterion", "ginni", "'ginni'"),
        ("criterion", ["gini"], "cannot be read"),
        ("criterion", "squared_error", "not one of classes"),
        ("columns", [], "an entry|cannot be read"),
        ("columns", [{"name": "x", "kind": "number"}] * 2, "same name"),
        ("columns", [{"name": "x", "kind": "number", "categories": []}], "cannot be read"),
        ("columns", [{"name": "x", "kind": "category"}], "'\"categories\":' is missing"),
        ("columns", [{"kind": "number", "name": "x"}], "cannot be read"),
        ("columns", [{"name": 7, "kind": "number"}], "text"),
        ("columns", [{"name": "x", "kind": "numbers"}], "unknown kind"),
        ("targets", [{"name": "y", "classes": ["a", "a"]}], "equal"),
        ("targets", [{"name": "y", "classes": ["a", ["b"]]}], "cannot be read"),
        ("targets", [{"name": "y", "classes": ["a", None]}], "cannot be read"),
        ("targets", [{"name": "y", "classes": [0, float("nan")]}], "cannot be read"),
        ("targets", [{"name": "y", "classes": [0, float("inf")]}], "cannot be read"),
        ("targets", [{"name": "y", "classes": [0, 10**2000]}], "too large"),
        ("targets", [{"name": "y", "classes": None}], "line"),
    ],
)
def test_wrong_content_is_refused_though_it_is_signed(
    key: str, value: Any, message: str, tmp_path: Path
) -> None:
    model = parsed(by_hand(), tmp_path)
    assert refuse(signed(laid_out([*{**model, key: value}.items()])), tmp_path, message)


def test_keys_come_once_and_in_order(tmp_path: Path) -> None:
    lines = list(parsed(by_hand(), tmp_path).items())
    (tmp_path / "good.json").write_bytes(signed(laid_out(lines)))
    assert load(tmp_path / "good.json") == by_hand()
    for place in range(len(lines)):
        refuse(signed(laid_out(lines[:place] + lines[place + 1 :])), tmp_path, "line")
        refuse(signed(laid_out([*lines[:place], lines[place], *lines[place:]])), tmp_path, "line")
        refuse(signed(laid_out([*lines[:place], ("extra", 1), *lines[place:]])), tmp_path, "line")
        refuse(
            signed(laid_out([*lines[:place], ("Extra", lines[place][1]), *lines[place + 1 :]])),
            tmp_path,
            "line",
        )


@pytest.mark.slow
@pytest.mark.parametrize("depth", [100, 10**6])
def test_nested_values_are_refused(depth: int, tmp_path: Path) -> None:
    model = laid_out(list(parsed(by_hand(), tmp_path).items()))
    for target in (b"[3,2,3]", b'"gini"', b'"clerk"', b"0.5", b"false", b'"x"'):
        for bomb in (b"[" * depth, b'{"a":' * depth, b"[" * depth + b"]" * depth, b"9" * depth, b"-" * depth):
            refuse(signed(model.replace(target, bomb, 1)), tmp_path, "line|all text")


def test_numbers_in_another_form_are_read_or_refused_but_never_guessed(tmp_path: Path) -> None:
    model = laid_out(list(parsed(by_hand(), tmp_path).items()))
    for form in (
        b"Infinity",
        b"1e999",
        b"-1e999",
        b"nan",
        b"0x1",
        b"1_0",
        b"",
        b"0.5.5",
        b'"0.5"',
        b".5",
        b"+1.0",
    ):
        refuse(signed(model.replace(b"0.5", form)), tmp_path, "decimal numbers")
    for form in (b"03", b"3 ", b"3,", b",3", b"-", b"3e0", b"\xd9\xa3", b"+3", b"0b1"):
        refuse(signed(model.replace(b"[3,2,3]", b"[3,2," + form + b"]")), tmp_path, "whole numbers")
    for form in (b'"\\u0061"', b'{"characters": [97]}', b'"a" ', b"1.50", b"1e1", b'{"float": "nan"}', b"-0"):
        refuse(signed(model.replace(b'"a"', form)), tmp_path, "cannot be read")


def test_a_comma_at_the_border_of_a_piece(tmp_path: Path) -> None:
    """Long arrays are read piece by piece; a comma too many is one wherever the pieces end."""
    model = laid_out(list(parsed(by_hand(), tmp_path).items()))
    for zeros in range(2**15 - 3, 2**15 + 3):
        refuse(
            signed(model.replace(b'"subsets": []', b'"subsets": [' + b"0," * zeros + b"]")), tmp_path, "line"
        )
    refuse(
        signed(model.replace(b'"subsets": []', b'"subsets": [' + b"0" * 10**6 + b"]")),
        tmp_path,
        "whole numbers",
    )


@pytest.mark.parametrize("module", ["__init__", "ensembles", "reader", "scanner", "writer"])
def test_loading_can_neither_run_nor_import_nor_unpack(module: str) -> None:
    source = Path(saving.__file__).with_name(f"{module}.py").read_text(encoding="utf-8")
    allowed = {
        "__future__",
        "collections",
        "contextlib",
        "hashlib",
        "json",
        "numpy",
        "operator",
        "os",
        "re",
        "treewright",
        "typing",
    }
    forbidden = {"eval", "exec", "compile", "__import__", "globals", "vars"}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            assert {alias.name.split(".")[0] for alias in node.names} <= allowed
        elif isinstance(node, ast.ImportFrom):
            assert (node.module or "").split(".")[0] in allowed
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            assert (node.value.id, node.attr) not in {("np", "load"), ("os", "system"), ("os", "popen")}
        elif isinstance(node, ast.Name):
            assert node.id not in forbidden, f"line {node.lineno}: {node.id}"


def peak(path: Path) -> float:
    """The memory that loading takes, in sizes of the file."""
    load(path)  # whatever is set up once
    tracemalloc.start()
    load(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most / path.stat().st_size


@pytest.mark.slow
def test_memory_is_bounded_by_the_size_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "tree.json"
    random = np.random.default_rng(0)
    x = random.normal(size=(6000, 4))
    grow(encode(x, random.normal(size=6000))).save(path)
    assert peak(path) < 5
    grow(encode(x, random.integers(0, 2, 6000))).save(path)
    assert peak(path) < 8
    names = tuple(f"{i}\U0001f600" for i in range(20000))  # wide characters widen their own line only
    labelled(names).save(path)
    assert peak(path) < 25


@pytest.mark.slow
def test_a_hostile_file_takes_no_more_memory_than_a_sound_one(tmp_path: Path) -> None:
    model = laid_out(list(parsed(by_hand(), tmp_path).items()))
    size = 3 * 10**5
    for filling in (b"0,", b"[],", b"{},", b'"",', b"1,", b"null,", b"true,", b"9"):
        for target in (b"[3,2,3", b'["clerk"', b"[0.5"):
            content = signed(model.replace(target, b"[" + filling * (size // len(filling))))
            tracemalloc.start()
            refuse(content, tmp_path, "line|tree")
            _, most = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            assert most < 16 * len(content)


# ---- random files ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_random_files_do_no_harm(tmp_path: Path) -> None:
    """A short run of `python -m fuzz saving`, which attacks for as long as one likes."""
    accepted = sum(fuzz_saving.attack(0, number, tmp_path) for number in range(300))
    assert 20 < accepted < 250


@pytest.mark.slow
def test_fuzzing_from_the_command_line() -> None:
    command = [sys.executable, "-m", "fuzz", "saving", "--seconds", "0.1", "--seed", "3"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout
    assert "nothing found" in done.stdout
