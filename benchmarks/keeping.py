"""Results as they are kept: the figures in JSON with the date, the machine, the versions and the command."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.measuring import Result
from benchmarks.peers import PEERS, version_of
from benchmarks.problems import Problem
from treewright._atomic import replacing

RESULTS = Path(__file__).parent / "results"
LOAD_BEFORE = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0  # before anything is measured
QUIET = 0.5  # the load up to which the machine counts as idle

Section = tuple[Problem, list[Result]]  # each result has "peer" and "threads" besides what was measured


@dataclass(frozen=True)
class Origin:
    """Where and when something was measured; no host names, no paths."""

    date: str
    machine: str
    versions: dict[str, str]
    command: str
    note: str = ""  # what a reader should know about the circumstances

    def __str__(self) -> str:
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        note = f" {self.note}" if self.note else ""
        return f"Measured on {self.date} on {self.machine}; {versions}; by `{self.command}`.{note}"


def here(packages: Sequence[str] = ()) -> Origin:
    """This run on this machine; by default with the versions of all peers that are installed."""
    names = dict.fromkeys(["treewright", "numpy", *(packages or (peer.package for peer in PEERS.values()))])
    found = {name: version_of(name) for name in names}
    versions = {"Python": platform.python_version()} | {name: v for name, v in found.items() if v is not None}
    command = " ".join(["python -m benchmarks", *sys.argv[1:]])
    note = f"Other work was using the machine (load {LOAD_BEFORE:.1f} at the start)." * (LOAD_BEFORE > QUIET)
    return Origin(str(date.today()), _machine(), versions, command, note)


def _machine() -> str:
    """The processor, how many of them, and the system."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = {line.split(":")[1].strip() for line in lines if line.startswith("model name")}
    model = ", ".join(sorted(models)) or platform.machine()
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"


def save(name: str, origin: Origin, figures: Any) -> None:
    """Keep figures under a name."""
    text = json.dumps({"origin": asdict(origin), "figures": figures}, indent=1, ensure_ascii=False)
    write(RESULTS / f"{name}.json", text + "\n")


def load(name: str) -> tuple[Origin, Any]:
    """The figures kept under a name."""
    kept = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return Origin(**kept["origin"]), kept["figures"]


def save_sections(name: str, origin: Origin, sections: Sequence[Section]) -> None:
    """Keep what was measured of several problems."""
    save(name, origin, [{"problem": asdict(problem), "results": results} for problem, results in sections])


def load_sections(name: str) -> tuple[Origin, list[Section]]:
    """What `save_sections` kept."""
    origin, figures = load(name)
    return origin, [(Problem(**figure["problem"]), figure["results"]) for figure in figures]


def save_parts(name: str, origin: Origin, parts: dict[str, list[Section]]) -> None:
    """Keep what was measured of several problems in each of several parts."""
    figures = {
        part: [{"problem": asdict(problem), "results": results} for problem, results in sections]
        for part, sections in parts.items()
    }
    save(name, origin, figures)


def load_parts(name: str) -> tuple[Origin, dict[str, list[Section]]]:
    """What `save_parts` kept."""
    origin, figures = load(name)
    return origin, {
        part: [(Problem(**figure["problem"]), figure["results"]) for figure in sections]
        for part, sections in figures.items()
    }


def write(path: Path, text: str) -> None:
    """Write a file as a whole or not at all."""
    with replacing(path) as file:
        file.write(text.encode())
