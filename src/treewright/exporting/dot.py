"""A tree in the language of Graphviz, which many tools read."""

from __future__ import annotations

from typing import Any

from treewright._text import escape
from treewright.parameters import takes
from treewright.plotting.scene.cards import Card, Picture, cards
from treewright.plotting.scene.letters import shorten_to_fit
from treewright.tree import Tree
from treewright.tree.wording import note_on_missing

SUFFIXES = (".dot", ".gv")
_ROOM, _SIZE = 240.0, 11.0  # for a line
_LONGEST = 2000  # letters of a tooltip: old readers take no string of more than 16,384
_WIDEST_FLOW = 8.0


@takes(Picture.parameters)
def render(tree: Tree, **options: Any) -> str:
    r"""The tree as a digraph; names are shortened, and stand in full in the tooltips.

    Examples
    --------
    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"]))
    >>> print(render(tree).splitlines()[4])
      n1 [label="a\n100 %\n2 rows", tooltip="y = a\na 100 %\n2 rows, 50.0 % of all", color="#0072B2", ...
    """
    shown = cards(tree, **options)
    lines = [
        f"digraph {_quote([escape(tree.schema.targets[0].name)])} {{",
        '  node [shape=box, style="rounded,filled", fillcolor="#FFFFFF", fontname="Helvetica", fontsize=11];',
        '  edge [color="#B8C1CC", fontname="Helvetica", fontsize=9, arrowhead=none];',
    ]
    note = note_on_missing(tree)
    lines += [f'  label={_quote([note])}; fontname="Helvetica"; fontsize=9;'] if note else []
    total = max(int(tree.rows[0]), 1)
    for card in shown:
        lines.append(f"  n{card.node} [{_node(card)}];")
        if card.parent >= 0:
            word = _quote([shorten_to_fit(card.edge, _ROOM, _SIZE)])
            width = max(_WIDEST_FLOW * card.rows / total, 0.5)
            lines.append(
                f"  n{shown[card.parent].node} -> n{card.node} [label={word}, penwidth={width:.2f}];"
            )
    return "\n".join([*lines, "}"]) + "\n"


def _node(card: Card) -> str:
    label = _quote(card.lines(_ROOM, _SIZE))
    title = card.title if len(card.title) <= _LONGEST else f"{card.title[:_LONGEST]}…"
    known = f"label={label}, tooltip={_quote(title.split(chr(10)))}"
    known += f', color="{card.colour}", penwidth={2.5 if card.is_end else 1}'
    return known + (', style="rounded,dashed"' if card.below else "")


def _quote(lines: list[str]) -> str:
    r"""A quoted string of several lines: quotes and backslashes are escaped, and so are HTML's entities."""
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") for line in lines)
    return '"' + "\\n".join(escaped) + '"'
