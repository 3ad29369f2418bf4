"""A tree as a Mermaid flowchart, which many Markdown viewers and editors draw."""

from __future__ import annotations

from typing import Any

from treewright.parameters import takes
from treewright.plotting.scene.cards import Card, Picture, cards
from treewright.plotting.scene.letters import shorten_to_fit
from treewright.tree import Tree
from treewright.tree.wording import note_on_missing

SUFFIXES = (".mmd",)
_ROOM, _SIZE = 240.0, 11.0  # for a line
_PLAIN = set(" .,_-+=()/…≤%")  # with letters and digits: characters that mean nothing in a label


@takes(Picture.parameters)
def render(tree: Tree, **options: Any) -> str:
    """The tree as a flowchart, to be put into a fenced block of Markdown that is called ``mermaid``.

    Mermaid draws up to 500 arrows, that is 251 leaves, unless it is told otherwise.

    Examples
    --------
    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"]))
    >>> print(render(tree))
    flowchart TD
      n0["x ≤ 2.5<br>4 rows"]
      n1(["a<br>100 %<br>2 rows"])
      n2(["b<br>100 %<br>2 rows"])
      n0 -->|yes| n1
      n0 -->|no| n2
      style n1 fill:#FFFFFF,stroke:#0072B2,stroke-width:3px,color:#1F2933
      style n2 fill:#FFFFFF,stroke:#E69F00,stroke-width:3px,color:#1F2933
    <BLANKLINE>
    """
    shown = cards(tree, **options)
    lines = ["flowchart TD"]
    for card in shown:
        label = "<br>".join(map(_escape, card.lines(_ROOM, _SIZE)))
        begin, end = ("([", "])") if card.is_end else ("[", "]")
        lines.append(f'  n{card.node}{begin}"{label}"{end}')
    for card in shown[1:]:
        word = _escape(shorten_to_fit(card.edge, _ROOM, _SIZE))
        lines.append(f"  n{shown[card.parent].node} -->|{word}| n{card.node}")
    lines += [_style(card) for card in shown if card.is_end]
    note = note_on_missing(tree)
    lines += [f'  note["{_escape(note)}"]', "  style note fill:none,stroke:none"] if note else []
    return "\n".join(lines) + "\n"


def _style(card: Card) -> str:
    dashed = ",stroke-dasharray:4 3" if card.below else ""
    return f"  style n{card.node} fill:#FFFFFF,stroke:{card.colour},stroke-width:3px,color:#1F2933{dashed}"


def _escape(text: str) -> str:
    """Characters with a meaning in Mermaid or Markdown are written by their number."""
    return "".join(
        letter
        if letter.isalnum() or (letter in _PLAIN and not (letter in ".-+" and text[i + 1 : i + 2] == " "))
        else f"#{ord(letter)};"
        for i, letter in enumerate(text)
    )
