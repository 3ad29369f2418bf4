"""What `import` costs on top of numpy, each time in a fresh process."""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

from benchmarks import keeping
from benchmarks.keeping import Origin
from benchmarks.measuring import Result
from benchmarks.peers import PEERS
from benchmarks.reporting import markdown, seconds

# What is imported -> the peer that must be there for it.
IMPORTS = {
    "import treewright": "treewright",
    "from treewright import DecisionTreeClassifier": "treewright",
    "from sklearn.tree import DecisionTreeClassifier": "scikit-learn",
    "from sklearnex.ensemble import RandomForestClassifier": "scikit-learn-intelex",
    "import snapml": "snapml exact",
    "import ydf": "ydf",
    "import xgboost": "XGBoost hist",
    "import lightgbm": "LightGBM",
}
ROUNDS = 5
CODE = """
import json, numpy, time
cpu, wall = time.process_time(), time.perf_counter()
{statement}
print(json.dumps({{"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}}))
"""


def run(chosen: Namespace) -> None:
    """Import each in turn, and keep the least seconds if nothing was left out."""
    statements = [line for line, peer in IMPORTS.items() if peer in chosen.peers and PEERS[peer].installed]
    rounds = [{line: once(line) for line in statements} for _ in range(1 if chosen.quick else ROUNDS)]
    figures = {
        line: {clock: min(times[line][clock] for times in rounds) for clock in ("cpu", "wall")}
        for line in statements
    }
    print(table(figures))
    if not chosen.partial:
        origin = keeping.here()
        keeping.save("importing", origin, figures)
        keeping.write(keeping.RESULTS / "importing.md", page(origin, figures))


def once(statement: str) -> Result:
    """CPU and wall seconds of one statement in a process that has imported numpy."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CODE.format(statement=statement)],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    result: Result = json.loads(done.stdout.splitlines()[-1])
    return result


def page(origin: Origin, figures: dict[str, Result]) -> str:
    """The figures as a page."""
    how = "Seconds on top of `import numpy`, each time in a fresh process; the least of the rounds."
    return "\n".join(["# Importing\n", f"{origin}\n", f"{how}\n", table(figures)])


def table(figures: dict[str, Result]) -> str:
    """One line per statement."""
    lines = [[f"`{line}`", seconds(time["cpu"]), seconds(time["wall"])] for line, time in figures.items()]
    return markdown(("statement", "CPU", "wall"), lines)
