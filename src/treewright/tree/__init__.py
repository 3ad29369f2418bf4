"""The central value: a decision tree as frozen arrays in preorder, and what can be done with it alone."""

from treewright.tree.tree import Tree

__all__ = ["Tree"]
