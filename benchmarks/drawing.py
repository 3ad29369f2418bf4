"""Growth curves as pictures: small panels, for light and dark pages alike."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.keeping import Origin, Section
from benchmarks.measuring import Result
from benchmarks.problems import Problem
from benchmarks.reporting import OURS, find, seconds

INK = "#767676"  # as far from white as from black
ONE, TWO = "#0072B2", "#D55E00"  # of Okabe and Ito's colours, told apart by all eyes


@dataclass(frozen=True)
class Panel:
    """How one curve is drawn."""

    label: str  # of the lower axis
    place: Callable[[Problem, Result], float]  # of a point on it
    guide: Callable[[float], float] | None = None
    guide_name: str = ""
    last_name: str = ""  # written at the last point


PANELS = {
    "rows": Panel("rows (10 columns)", lambda problem, _: problem.rows, lambda n: n * math.log(n), "n·log n"),
    "columns": Panel("columns (10,000 rows)", lambda problem, _: problem.columns, lambda d: d, "linear"),
    "classes": Panel("classes (100,000 rows × 20 columns)", lambda problem, _: problem.classes),
    "depth limit": Panel(
        "depth of the tree (1,000,000 rows × 20 columns)",
        lambda _, result: result["depth"],
        last_name="no limit",
    ),
}
STYLE = {
    "svg.fonttype": "none",  # text stays text: small, and in the reader's font
    "svg.hashsalt": "treewright",  # the same figures give the same bytes
    "font.family": "sans-serif",
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
}


def picture(origin: Origin, measured: dict[str, list[Section]]) -> str:
    """The curves as SVG."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(8, 6.2), layout="constrained")
        panels = figure.subplots(2, 2).ravel()
        for axes, (name, panel) in zip(panels, PANELS.items(), strict=True):
            _draw(axes, panel, measured[name])
        caption = (
            f"treewright {origin.versions['treewright']}, one tree, whole fit call, float32; "
            f"{origin.date}; {origin.machine}\n{origin.note}"
        )
        figure.supxlabel(caption, fontsize=7)
        figure.supylabel("time", fontsize=9)
        return _svg(figure)


@dataclass(frozen=True)
class Line:
    """One curve of a picture of growth."""

    name: str
    points: list[tuple[float, float]]  # a size and its seconds
    style: str
    color: str


def growth(origin: Origin, panels: dict[str, list[Line]], what: str) -> str:
    """Times against sizes on logarithmic axes as SVG, a panel for each label of the lower axis."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(8, 3.4), layout="constrained")
        for axes, (label, lines) in zip(figure.subplots(1, len(panels)), panels.items(), strict=True):
            for line in lines:
                x, y = zip(*line.points, strict=True)
                axes.loglog(x, y, line.style, color=line.color, markersize=4, label=line.name)
            axes.set_xlabel(label)
            axes.xaxis.set_major_formatter(lambda value, _: _short(value))
            axes.yaxis.set_major_formatter(lambda value, _: seconds(value))
            axes.minorticks_off()
            axes.grid(color=INK, alpha=0.2, linewidth=0.5)
            axes.legend(frameon=False, fontsize=8)
        caption = f"{what}; {origin.date}; {origin.machine}\n{origin.note}"
        figure.supxlabel(caption, fontsize=7)
        figure.supylabel("CPU time", fontsize=9)
        return _svg(figure)


def _svg(figure: Any) -> str:
    """A figure as the same bytes each time."""
    file = io.StringIO()
    figure.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


def _draw(axes: Any, panel: Panel, sections: list[Section]) -> None:
    from matplotlib.ticker import LogLocator

    points = [
        (panel.place(problem, one), one["cpu"], two["wall"])
        for problem, results in sections
        if (one := find(results, OURS)) and (two := find(results, OURS, threads=2))
    ]
    x, cpu, wall = zip(*points, strict=True)
    axes.loglog(x, cpu, "o-", color=ONE, markersize=4, label="1 thread, CPU time")
    axes.loglog(x, wall, "s--", color=TWO, markersize=4, label="2 threads, wall time")
    if panel.guide is not None:
        guide = [cpu[0] * panel.guide(place) / panel.guide(x[0]) for place in x]
        axes.loglog(x, guide, ":", color=INK, linewidth=1, label=panel.guide_name)
        axes.legend(frameon=False, fontsize=8)
    above = {"xytext": (0, 6), "textcoords": "offset points", "ha": "right", "fontsize": 8}
    axes.annotate(panel.last_name, (x[-1], cpu[-1]), **above)
    axes.set_xlabel(panel.label)
    axes.set_xticks(x, [_short(place) for place in x])
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 3)))
    axes.yaxis.set_major_formatter(lambda value, _: seconds(value))
    axes.minorticks_off()
    axes.grid(color=INK, alpha=0.2, linewidth=0.5)


def _short(count: float) -> str:
    """A count in a few letters: 300, 10k, 3M."""
    for scale, unit in ((1_000_000, "M"), (1_000, "k")):
        if count >= scale:
            return f"{count / scale:g}{unit}"
    return f"{count:g}"
