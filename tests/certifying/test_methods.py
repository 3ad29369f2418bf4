"""A file of the folder is a method: it certifies, is called by pruners, prints and checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tree.small_trees import stump
from treewright import certify, certifying
from treewright.certifying import BOUNDS, METHODS

FILE = '''
from math import log

from treewright.certifying.method import LN2
from treewright.certifying.training_rows import TrainingMethod, exact_upper

class Careful(TrainingMethod):
    """Occam's razor with half of δ."""

    title, limit, constant, needs_bits, other_parts = "careful Occam", "binomial", 2.0, True, ()

    def bound(self, seen):
        nats = seen.bits * LN2 + log(2 / seen.delta)
        return exact_upper(seen.errors, seen.rows, nats, seen.whole)

    def assumption(self, points):
        return "half of the chance is kept back"

METHOD = Careful()
'''


def test_the_folder_is_the_list() -> None:
    training = ("compression", "mdl", "occam", "occam_hoeffding", "pac_bayes", "vc")
    assert tuple(BOUNDS) == training
    assert METHODS.names == tuple(sorted((*training, "held_out", "reduced_error")))
    assert all(METHODS.function(name).name == name for name in METHODS.names)


def test_a_method_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "careful.py").write_text(FILE, encoding="utf-8")
    monkeypatch.setattr(certifying, "__path__", [*certifying.__path__, str(tmp_path)])
    monkeypatch.setitem(vars(METHODS), "path", certifying.__path__)
    monkeypatch.delitem(vars(METHODS), "names", raising=False)
    tree = stump([90, 10], [10, 90])
    careful, usual = certify(tree, "careful"), certify(tree, "occam", delta=0.025)
    assert careful.value == usual.value
    assert careful.check()
    assert "from them alone (careful Occam, " in str(careful)
    assert careful.assumptions == (*usual.assumptions, "half of the chance is kept back")
    with pytest.raises(ValueError, match="known: careful, compression"):
        certify(tree, "magic")
