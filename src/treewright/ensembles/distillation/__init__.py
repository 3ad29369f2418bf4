"""Distillation: one small tree that predicts like an ensemble, or like any other model.

distill       a tree of limited size that predicts nearly like any model
distillation  the same, with its fidelity, the accuracy of both and a certificate
born_again    the smallest tree that predicts exactly like a small forest
"""

from __future__ import annotations

from treewright.ensembles.distillation.distilled import Distillation, Fidelity, distill, distillation
from treewright.ensembles.distillation.reborn import BornAgain, born_again

__all__ = ["BornAgain", "Distillation", "Fidelity", "born_again", "distill", "distillation"]
