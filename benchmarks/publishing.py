"""The measured parts of docs/benchmarks.md and README.md, written from the kept results alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import (
    distilling,
    forests,
    gradient_boosting,
    keeping,
    methods,
    neighbours,
    optimising,
    pruning,
)
from benchmarks.keeping import Origin, Section
from benchmarks.measuring import Result
from benchmarks.peers import PEERS
from benchmarks.reporting import OURS, find, peers, seconds, summary, times, wins_and_losses

ROOT = Path(__file__).parent.parent
README, PAGE = ROOT / "README.md", ROOT / "docs" / "benchmarks.md"
TITLES = {"growing": "one tree", "predicting": "predicting"}
HEADLINE = ("100k x 20", "1M x 20")  # the problems that README.md quotes


def publish() -> None:
    """Bring both pages up to date with the kept results."""
    for page in (README, PAGE):
        keeping.write(page, published(page.name, page.read_text(encoding="utf-8")))


def published(page: str, text: str) -> str:
    """The text of a page with all its parts."""
    for name, part in PARTS[page].items():
        text = inserted(text, name, part())
    return text


def inserted(text: str, name: str, part: str) -> str:
    """A text with `part` between the two marks of that name."""
    begin, end = marks(name)
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise ValueError(f"the page must hold {begin} once, and {end} once after it")
    before, rest = text.split(begin)
    return f"{before}{begin}\n{part}\n{end}{rest.split(end)[1]}"


def marks(name: str) -> tuple[str, str]:
    """What stands before and after a part."""
    return f"<!-- {name}: begin; `make bench` writes what follows -->", f"<!-- {name}: end -->"


def headline() -> str:
    """What growing one tree takes beside the peers, in a sentence per table."""
    _, sections = keeping.load_sections("growing")
    return "\n".join(
        _beside(problem.name, results) for problem, results in sections if problem.name in HEADLINE
    )


def _beside(name: str, results: list[Result]) -> str:
    ours, others = find(results, OURS), peers(results)
    assert ours is not None
    exact = [other for other in others if PEERS[other["peer"]].exact and other["peer"] != "scikit-learn"]
    binned = [other for other in others if not PEERS[other["peer"]].exact]
    told = [f"scikit-learn takes {times(find(results, 'scikit-learn'), ours)} as long"]
    for kind, members in (("other exact", exact), ("binned", binned)):
        fastest = min(members, key=lambda other: other["cpu"], default=None)
        if fastest is not None:
            told.append(f"the fastest {kind} library ({fastest['peer']}) {times(fastest, ours)}")
    return f"- {name}, grown to purity: {seconds(ours['cpu'])} of CPU time; {', '.join(told)}."


def one_tree() -> str:
    """A table for growing and predicting, where treewright is behind, and where all of it was measured."""
    rooms = {room: keeping.load_sections(room) for room in TITLES}
    parts = [_part(TITLES[room], sections) for room, (_, sections) in rooms.items()]
    origins = {room: origin for room, (origin, _) in rooms.items()}
    origins["importing"], figures = keeping.load("importing")
    return "\n".join([*parts, _importing(figures), *_origins(origins)])


def _part(title: str, sections: list[Section]) -> str:
    return f"{summary(sections, title)}\n{wins_and_losses(sections)}\n"


def _importing(figures: dict[str, dict[str, float]]) -> str:
    ours, theirs = "import treewright", "from sklearn.tree import DecisionTreeClassifier"
    told = f"On top of numpy, `{ours}` takes {seconds(figures[ours]['cpu'])}"
    if theirs in figures:
        told += f" (`{theirs}`: {seconds(figures[theirs]['cpu'])})"
    return f"{told}.\n"


def pruned() -> str:
    """What every method makes of one table, and what pruning costs."""
    origins = {}
    origins["methods"], figures = keeping.load("methods")
    origins["pruning"], measured = keeping.load_parts("pruning")
    return "\n".join([methods.short(figures), pruning.summary(measured), *_origins(origins)])


def in_short(room: str, short: Callable[[Any], str], load: Callable[[str], tuple[Origin, Any]]) -> str:
    """What a room says in short, and where it was measured."""
    origin, measured = load(room)
    return f"{short(measured)}\n{origin} All figures: `benchmarks/results/{room}.md`.\n"


def _origins(origins: dict[str, Origin]) -> list[str]:
    """Where the rooms were measured: once, if it was one run."""
    if len(set(map(str, origins.values()))) == 1:
        return [f"{next(iter(origins.values()))}"]
    return [f"**{room.capitalize()}.** {origin}\n" for room, origin in origins.items()]


# The parts of each page, by the name in their marks.
PARTS: dict[str, dict[str, Callable[[], str]]] = {
    README.name: {"headline": headline},
    PAGE.name: {
        "one tree": one_tree,
        "pruning": pruned,
        "many trees": lambda: in_short("forests", forests.short, keeping.load_parts),
        "gradient boosting": lambda: in_short(
            "gradient_boosting", gradient_boosting.short, keeping.load_parts
        ),
        "distilling": lambda: in_short("distilling", distilling.short, keeping.load),
        "neighbours": lambda: in_short("neighbours", neighbours.short, keeping.load_parts),
        "optimal trees": lambda: in_short("optimising", optimising.short, keeping.load),
    },
}
