"""Measure treewright beside its peers, print tables, keep the results for docs/benchmarks.md."""

from __future__ import annotations

import argparse

from benchmarks import (
    adaboost,
    attributing,
    categories,
    comparing,
    counting,
    distilling,
    feature_selection,
    forests,
    gradient_boosting,
    importing,
    messy,
    methods,
    missing,
    neighbours,
    oblique,
    opening,
    optimising,
    options,
    pruning,
    publishing,
    rare_classes,
    scaling,
    streaming,
)
from benchmarks.peers import PEERS

ROOMS = {
    "growing": lambda chosen: comparing.run("growing", chosen),
    "predicting": lambda chosen: comparing.run("predicting", chosen),
    "importing": importing.run,
    "scaling": scaling.run,
    "pruning": pruning.run,
    "attributing": attributing.run,
    "methods": methods.run,
    "missing": missing.run,
    "categories": categories.run,
    "messy": messy.run,
    "feature_selection": feature_selection.run,
    "options": options.run,
    "adaboost": adaboost.run,
    "forests": forests.run,
    "distilling": distilling.run,
    "oblique": oblique.run,
    "neighbours": neighbours.run,
    "optimising": optimising.run,
    "gradient_boosting": gradient_boosting.run,
    "rare_classes": rare_classes.run,
    "streaming": streaming.run,
    "opening": opening.run,
    "counts": counting.run,
}
DEFAULT = tuple(room for room in ROOMS if room != "counts")


def arguments() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("rooms", nargs="*", help=f"{', '.join(ROOMS)} (default: all but counts)")
    parser.add_argument("--quick", action="store_true", help="a few small problems, in two minutes")
    parser.add_argument("--rows", type=int, help="only problems with at most so many rows")
    parser.add_argument("--only", help="only problems whose name contains this")
    parser.add_argument("--peers", help=f"only these, separated by commas: {', '.join(PEERS)}")
    parser.add_argument("--seconds", type=float, help="repeat each measurement for so long (default 1)")
    parser.add_argument(
        "--limit", type=float, default=180.0, help="give up on a run after so long (default 180)"
    )
    parser.add_argument(
        "--partial", action="store_true", help="print only; implied by --quick, --rows, --only and --peers"
    )
    parser.add_argument(
        "--reuse",
        action="store_true",
        help="messy and categories only: keep the last figures of peers whose version and table are the same",
    )
    parser.add_argument("--save", action="store_true", help="keep the new instruction counts (counts only)")
    parser.add_argument("--packages", action="store_true", help="print the PyPI names of the peers and stop")
    chosen = parser.parse_args()
    unknown = [f"{name!r}" for name in chosen.rooms if name not in ROOMS]
    if unknown:
        parser.error(f"there is nothing to measure called {', '.join(unknown)}; known: {', '.join(ROOMS)}")
    narrowed = chosen.quick or chosen.rows is not None or chosen.only is not None or chosen.peers is not None
    chosen.partial = chosen.partial or narrowed
    chosen.peers = [name.strip() for name in chosen.peers.split(",")] if chosen.peers else list(PEERS)
    unknown = [f"{name!r}" for name in chosen.peers if name not in PEERS]
    if unknown:
        parser.error(f"there is no peer called {', '.join(unknown)}; known: {', '.join(PEERS)}")
    if chosen.seconds is None:
        chosen.seconds = 0.5 if chosen.quick else 1.0
    return chosen


def main() -> None:
    """Measure room by room; the pages follow each, unless something was left out."""
    chosen = arguments()
    if chosen.packages:
        known = [*PEERS.values(), *neighbours.LIBRARIES.values()]
        print(*sorted({peer.package for peer in known} - {"treewright"}), sep="\n")
        return
    for room in chosen.rooms or DEFAULT:
        ROOMS[room](chosen)
        if not chosen.partial:
            publishing.publish()
    if chosen.partial:
        print("Part of the whole: neither benchmarks/results nor docs/benchmarks.md was changed.")


if __name__ == "__main__":
    main()
