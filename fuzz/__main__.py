"""`python -m fuzz [target ...] [--seconds 30] [--seed 1]`: attack; a failure prints how to repeat it."""

from __future__ import annotations

import argparse
import pkgutil
import sys
from importlib import import_module
from pathlib import Path

PREFIX = "fuzz_"


def targets() -> list[str]:
    """The names of the targets: every `fuzz_<name>.py` of this folder.

    Each has `run(seconds, seed)`, which returns how many cases it tried and raises AssertionError with what
    repeats the failure.
    """
    modules = pkgutil.iter_modules([str(Path(__file__).parent)])
    return sorted(module.name.removeprefix(PREFIX) for module in modules if module.name.startswith(PREFIX))


def main() -> int:
    """Run the chosen targets, or all; the number of those that failed."""
    parser = argparse.ArgumentParser(prog="python -m fuzz")
    parser.add_argument("target", nargs="*", choices=[*targets(), []], help="all by default")
    parser.add_argument("--seconds", type=float, default=30.0, help="for each target")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    failed = 0
    for name in options.target or targets():
        try:
            cases = import_module(f"fuzz.{PREFIX}{name}").run(options.seconds, options.seed)
            print(f"{name}: {cases} cases, seed {options.seed}: nothing found", flush=True)
        except AssertionError as failure:
            failed += 1
            print(f"{name}: FAILED\n{failure}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
