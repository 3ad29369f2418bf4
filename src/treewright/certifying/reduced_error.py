"""The certificate from the rows that have pruned the tree, whatever the pruning method."""

from __future__ import annotations

from treewright.certifying.certificate import Certificate
from treewright.certifying.held_out import HeldOut
from treewright.certifying.tree_code import contents
from treewright.tree import Tree


class ReducedError(HeldOut):
    """Each pruning of the grown tree is written with one bit per node, a leaf or a split; prunings share δ by
    that.
    """

    options = HeldOut.options - {"choices"}

    def price(self, tree: Tree | None, choices: int) -> tuple[dict[str, float], str]:
        """The shape of the pruning."""
        assert tree is not None
        chose = "they may have chosen any pruning of a tree whose tests and answers were made without them"
        return {"shape": float(tree.n_nodes)}, chose

    def rows_text(self, certificate: Certificate) -> str:
        """They chose."""
        return "that chose among all prunings"

    def confirms(self, certificate: Certificate) -> bool:
        """Compares the bits of the shape."""
        return certificate.tree is None or certificate.bits == len(contents(certificate.tree).shape)


METHOD = ReducedError()
