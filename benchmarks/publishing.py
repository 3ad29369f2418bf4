"""The measured parts of README.md, written from the kept results alone: no figure is typed by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks import forests, gradient_boosting, keeping, methods, neighbours, pruning
from benchmarks.keeping import Origin, Section
from benchmarks.reporting import seconds, summary, wins_and_losses

README = Path(__file__).parent.parent / "README.md"
TITLES = {"growing": "one tree", "predicting": "predicting"}
# Part of README.md -> the room, and what it says in short; a part is empty until its room was measured.
SHORT: dict[str, tuple[str, Callable[[dict[str, list[Section]]], str]]] = {
    "many trees": ("forests", forests.short),
    "gradient boosting": ("gradient_boosting", gradient_boosting.short),
    "neighbours": ("neighbours", neighbours.short),
}


def publish() -> None:
    """Bring README.md up to date with the kept results."""
    keeping.write(README, published(README.read_text(encoding="utf-8")))


def published(text: str) -> str:
    """A text with every part that it has marks for."""
    text = inserted(inserted(text, "speed", speed()), "pruning", pruned())
    for name, (room, short) in SHORT.items():
        text = inserted(text, name, told(room, short))
    return text


def told(room: str, short: Callable[[dict[str, list[Section]]], str]) -> str:
    """What a room says in short, and where it was measured; nothing if it was not."""
    if not (keeping.RESULTS / f"{room}.json").exists():
        return ""
    origin, measured = keeping.load_parts(room)
    return f"{short(measured)}\n{origin} All figures: `benchmarks/results/{room}.md`.\n"


def inserted(text: str, name: str, part: str) -> str:
    """A text with `part` between the two marks of that name."""
    begin, end = marks(name)
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise ValueError(f"README.md must hold {begin} once, and {end} once after it")
    before, rest = text.split(begin)
    return f"{before}{begin}\n{part}\n{end}{rest.split(end)[1]}"


def marks(name: str) -> tuple[str, str]:
    """What stands before and after a part."""
    return f"<!-- {name}: begin; `make bench` writes what follows -->", f"<!-- {name}: end -->"


def pruned() -> str:
    """The part on pruning: what every method makes of one table, and what pruning costs."""
    origins = {}
    origins["methods"], figures = keeping.load("methods")
    origins["pruning"], measured = keeping.load_parts("pruning")
    return "\n".join([methods.short(figures), pruning.summary(measured), *_origins(origins)])


def speed() -> str:
    """The part itself: a table per room, where treewright is behind, and where all of it was measured."""
    rooms = {room: keeping.load_sections(room) for room in TITLES}
    parts = [_part(TITLES[room], sections) for room, (_, sections) in rooms.items()]
    origins = {room: origin for room, (origin, _) in rooms.items()}
    if (keeping.RESULTS / "importing.json").exists():
        origins["importing"], figures = keeping.load("importing")
        parts.append(_importing(figures))
    return "\n".join([*parts, *_origins(origins)])


def _part(title: str, sections: list[Section]) -> str:
    return f"{summary(sections, title)}\n{wins_and_losses(sections)}\n"


def _importing(figures: dict[str, dict[str, float]]) -> str:
    ours, theirs = "import treewright", "from sklearn.tree import DecisionTreeClassifier"
    told = f"On top of numpy, `{ours}` takes {seconds(figures[ours]['cpu'])}"
    if theirs in figures:
        told += f" (`{theirs}`: {seconds(figures[theirs]['cpu'])})"
    return f"{told}.\n"


def _origins(origins: dict[str, Origin]) -> list[str]:
    """Where the rooms were measured: once, if it was one run."""
    if len(set(map(str, origins.values()))) == 1:
        return [f"{next(iter(origins.values()))}"]
    return [f"**{room.capitalize()}.** {origin}\n" for room, origin in origins.items()]
