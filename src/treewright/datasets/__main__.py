"""`python -m treewright.datasets loans > loans.csv`: a built-in table as a CSV file."""

from __future__ import annotations

import sys
from importlib.resources import files

from treewright.datasets import csv_bytes


def main() -> int:
    """Write the table named on the command line to the standard output."""
    known = sorted(
        file.name.removesuffix(".csv.gz")
        for file in files("treewright.datasets").iterdir()
        if file.name.endswith(".csv.gz")
    )
    if len(sys.argv) != 2 or sys.argv[1] not in known:
        print(f"usage: python -m treewright.datasets {'|'.join(known)}", file=sys.stderr)
        return 2
    sys.stdout.buffer.write(csv_bytes(sys.argv[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
