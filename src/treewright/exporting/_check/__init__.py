"""Runs an export on difficult rows and compares its predictions with those of the tree."""
