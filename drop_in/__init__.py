"""scikit-learn's own tests, run with treewright's classes in place of scikit-learn's: `make drop-in`."""
