"""treewright beside its peers, on the same data, in the same run: `python -m benchmarks --help`."""
