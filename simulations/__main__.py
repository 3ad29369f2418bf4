"""`python -m simulations [situation ...] [--draws 5000] [--delta 0.2]`: how often each certificate fails."""

from __future__ import annotations

import argparse
import sys

from simulations.counting import counted
from simulations.situations import SITUATIONS

SUSPICIOUS = 1e-4  # a chance that a whole run of some seventy counts stays above, if all certificates hold


def main() -> int:
    """Print a line for each certificate in each situation; the number of those that fail too often."""
    parser = argparse.ArgumentParser(prog="python -m simulations")
    parser.add_argument("situation", nargs="*", choices=[*SITUATIONS, []], help="all by default")
    parser.add_argument("--draws", type=int, default=5000, help="tables drawn for each situation")
    parser.add_argument(
        "--delta", type=float, default=0.2, help="the chance with which a certificate may fail"
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"δ = {options.delta:g}, {options.draws:,} draws, seed {options.seed}")
    print(f"{'situation':<16}{'certificate':<32}{'given':>8}{'failed':>8}{'share':>8}{'slack':>8}")
    false = 0
    for count in counted(options.draws, options.delta, options.seed, options.situation or None):
        share = f"{count.failed / count.given:.3f}" if count.given else "refused"
        slack = f"{count.slack / count.given:.3f}" if count.given else ""
        fails = count.chance(options.delta) < SUSPICIOUS
        wrong = "FALSE: fails more often than it says" if fails else "MISSING" if count.is_missing else ""
        false += bool(wrong)
        print(
            f"{count.situation:<16}{count.certificate:<32}{count.given:>8,}{count.failed:>8,}{share:>8}{slack:>8}"
            + f"   {wrong}".rstrip(),
            flush=True,
        )
    print(f"{false} certificates are false or missing" if false else "every certificate holds")
    return false


if __name__ == "__main__":
    sys.exit(main())
