"""Distilling: one small tree that answers like many, or like any other model.

distill       a tree that answers nearly like any model, of as few leaves as wanted
distillation  the same, with figures: how often it agrees, how often both are right, a certificate
born_again    the smallest tree that answers exactly like a small forest
"""

from __future__ import annotations

from treewright.ensembles.distillation.distilled import Distillation, Fidelity, distill, distillation
from treewright.ensembles.distillation.reborn import BornAgain, born_again

__all__ = ["BornAgain", "Distillation", "Fidelity", "born_again", "distill", "distillation"]
