"""`python -m drop_in [file ...] [option of pytest ...]`: scikit-learn's tests with treewright's classes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import sklearn

from drop_in.files import FILES
from drop_in.page import version_of_counts


def main(arguments: list[str]) -> int:
    """Run the files named, by default all; the other arguments are pytest's."""
    if sklearn.__version__ != version_of_counts():
        print(
            f"differences.toml is of scikit-learn {version_of_counts()}, and this is {sklearn.__version__}: "
            "its tests may be others",
            file=sys.stderr,
        )
    files = [FILES[name] for name in arguments if name in FILES] or list(FILES.values())
    options = [argument for argument in arguments if argument not in FILES]
    settings = ["-c", str(Path(__file__).with_name("pytest.ini")), "-p", "drop_in.binding"]
    # the names of tests begin with their files only below the root
    root = Path(sklearn.__file__).parent.parent
    return int(pytest.main([*settings, f"--rootdir={root}", "--pyargs", *files, *options]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
