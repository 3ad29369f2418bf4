"""A tree as a TikZ picture for LaTeX: absolute positions, so that nothing nests; needs tikz only."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from treewright.parameters import takes
from treewright.plotting.scene.cards import Card, Picture, cards, shape
from treewright.plotting.scene.layout import level_starts, tidy
from treewright.plotting.scene.letters import shorten_to_fit, text_width
from treewright.tree import Tree
from treewright.tree.wording import note_on_missing

SUFFIXES = (".tex",)
_ROOM, _SIZE = 130.0, 9.0  # for a line, in points
_LARGEST = 16000.0  # TeX has no lengths beyond 16,383 points
_MACROS = {
    **{letter: rf"\{letter}" for letter in "{}$&#_%"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\char34}",
    "`": r"{\char96}",
    "'": r"{\char39}",
    "-": r"{-}",  # two of them would become a dash
    "…": r"\ldots{}",
    "≤": r"$\leq$",
    "µ": r"$\mu$",
}
_LATIN = set("ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿ")
# What pdfTeX has no letter for is written by its number there; other engines know all letters.
_LETTER = (
    r"\providecommand\twletter[2]{\ifdefined\directlua #2\else\ifdefined\XeTeXversion #2\else (U+#1)\fi\fi}"
)


@takes(Picture.parameters)
def render(tree: Tree, *, document: bool = False, **options: Any) -> str:
    r"""The tree as a ``tikzpicture``; with `document` as a whole file that compiles by itself.

    Parameters
    ----------
    document : bool
        Whether to write a document, on a page of the tree's size, instead of a picture to ``\input``.

    Examples
    --------
    >>> from treewright import encode, grow
    >>> tree = grow(encode({"50 %": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"]))
    >>> print(render(tree).splitlines()[5])
    \node[twtest] (n0) at (44.8pt,0pt) {50 \% $\leq$ 2.5\\{}4 rows};
    """
    shown = cards(tree, **options)
    lines = [card.lines(_ROOM, _SIZE) for card in shown]
    widths = np.array([max(text_width(line, _SIZE) for line in of) + 10 for of in lines])
    heights = np.array([1.25 * _SIZE * len(of) + 8 for of in lines])
    depths = np.array([card.depth for card in shown])
    x, y = tidy(shape(shown), widths, 8.0), level_starts(depths, heights, 26.0)[depths]
    wide, high = float((x + widths / 2).max()), float((y + heights).max())
    if max(wide, high) > _LARGEST:
        raise ValueError(
            f"the picture would be {max(wide, high):,.0f} points large, which TeX cannot do; give a smaller "
            "max_leaf_nodes or max_depth"
        )
    picture = [
        r"% \usepackage{tikz}",
        _LETTER,
        r"\begin{tikzpicture}[every node/.style={align=center, font=\fontsize{9}{11}\selectfont},",
        r"  twtest/.style={draw, rounded corners=2pt, anchor=north}, twleaf/.style={twtest, very thick},",
        r"  twword/.style={font=\fontsize{7}{8}\selectfont, fill=white, inner sep=1pt}]",
    ]
    total = max(int(tree.rows[0]), 1)
    for card, of, across, along in zip(shown, lines, x.tolist(), y.tolist(), strict=True):
        text = r"\\{}".join(map(_escape, of))  # the braces: a bracket after a line break would be its option
        place = f"({_points(across)},{_points(-along)})"
        picture.append(rf"\node[{_look(card)}] (n{card.node}) at {place} {{{text}}};")
    for card in shown[1:]:
        width = max(4.0 * card.rows / total, 0.3)
        word = _escape(shorten_to_fit(card.edge, _ROOM, _SIZE))
        picture.append(
            rf"\draw[line width={width:.2f}pt, gray!60] (n{shown[card.parent].node}.south) -- "
            rf"node[twword, text=black] {{{word}}} (n{card.node}.north);"
        )
    note = note_on_missing(tree)
    if note:
        picture.append(
            rf"\node[twword, anchor=north west] at (0pt,{_points(-high - 8)}) {{{_escape(note)}}};"
        )
        high += 20
    picture.append(r"\end{tikzpicture}")
    return "\n".join(_document(picture, wide, high) if document else picture) + "\n"


def _points(length: float) -> str:
    return f"{round(length, 1) + 0.0:g}pt"


def _look(card: Card) -> str:
    """A leaf has a frame in the colour of its class."""
    if not card.is_end:
        return "twtest"
    red, green, blue = (int(card.colour[i : i + 2], 16) for i in (1, 3, 5))
    dashed = ", dashed" if card.below else ""
    return f"twleaf{dashed}, draw={{rgb,255:red,{red};green,{green};blue,{blue}}}"


def _document(picture: list[str], wide: float, high: float) -> list[str]:
    size = f"paperwidth={wide + 40:.0f}pt,paperheight={high + 40:.0f}pt,margin=10pt"
    return [
        r"\documentclass{article}",
        rf"\usepackage[{size}]{{geometry}}",
        r"\usepackage[T1]{fontenc}",
        r"\usepackage{tikz}",
        r"\pagestyle{empty}",
        r"\begin{document}",
        r"\noindent",
        *picture,
        r"\end{document}",
    ]


def _escape(text: str) -> str:
    """Text that TeX prints as it is; spaces that it would swallow and commas that it would join are kept."""
    letters = []
    for letter in text:
        if letter in _MACROS or letter in _LATIN or (letter.isascii() and letter.isprintable()):
            letters.append(_MACROS.get(letter, letter))
        else:
            letters.append(rf"\twletter{{{ord(letter):04X}}}{{{letter}}}")
    text = re.sub(r",(?=,)", ",{}", "".join(letters))
    return re.sub(r" (?= )|^ | $", lambda _: r"\ ", text)
