"""SVG, dot, Mermaid, LaTeX and notebooks: read back by their own grammar, names are data in each of them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.exporting.test_text import chain
from tests.plotting.pictured_trees import (
    HOSTILE,
    hostile_tree,
    many_classes,
    number_tree,
    several_targets,
    spam_tree,
    wide_tree,
)
from treewright import Tree, encode, export, grow, prune, select
from treewright._text import escape, label_text
from treewright.exporting.notebook_html import path_as_html
from treewright.plotting.scene.cards import Card, cards
from treewright.plotting.scene.scenes import Words, scene

SVG = "{http://www.w3.org/2000/svg}"
TREES = {
    "spam": spam_tree(17),
    "wide": wide_tree(30),
    "long": wide_tree(10, long=40),
    "numbers": number_tree(9),
    "several numbers": number_tree(9, targets=3),
    "several": several_targets(9),
    "classes": many_classes(12),
    "leaf": grow(encode([[1.0], [2.0]], ["a", "a"])),
    **{f"hostile {i}": hostile_tree(name) for i, name in enumerate(HOSTILE)},
}
every_tree = pytest.mark.parametrize("tree", TREES.values(), ids=TREES)


# ---- SVG -------------------------------------------------------------------------------------------


def parsed(svg: str) -> ElementTree.Element:
    """The picture by a parser of XML; only harmless elements and attributes are in it."""
    root = ElementTree.fromstring(svg)
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in {"svg", "g", "title", "rect", "circle", "path", "text"}
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert "href" not in name
            assert name != "style"
            assert name == "aria-label" or "url" not in value
    return root


@every_tree
def test_svg_is_well_formed_and_shows_every_node(tree: Tree) -> None:
    root = parsed(tree.to_svg())
    groups = [group for group in root.findall(f"{SVG}g") if group.find(f"{SVG}title") is not None]
    assert len(groups) == tree.n_nodes
    assert [group.find(f"{SVG}title").text for group in groups] == [card.title for card in cards(tree)]
    width, height = float(root.get("width")), float(root.get("height"))
    for text in root.iter(f"{SVG}text"):
        assert 0 <= float(text.get("x")) <= width
        assert 0 <= float(text.get("y")) <= height
        assert len(text.text) < 120


@pytest.mark.parametrize("direction", ["down", "right"])
def test_svg_has_the_words_of_the_scene(direction: str) -> None:
    tree = spam_tree(17)
    picture = scene(tree, direction=direction)
    marks = [mark for group in picture.groups for mark in group.marks] + list(picture.keys)
    words = [mark for mark in marks if isinstance(mark, Words)]
    found = list(parsed(tree.to_svg(direction=direction)).iter(f"{SVG}text"))
    assert [text.text for text in found] == [each.text for each in words]
    assert [text.get("text-anchor", "start") for text in found] == [each.anchor for each in words]
    assert [text.get("font-weight") == "bold" for text in found] == [each.bold for each in words]
    assert [float(text.get("x")) for text in found] == pytest.approx([each.x for each in words], abs=0.01)


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_the_tooltip_has_the_name_up_to_a_length_that_can_be_read(name: str) -> None:
    titles = [title.text for title in parsed(hostile_tree(name).to_svg()).iter(f"{SVG}title")]
    shown = escape(name if len(name) <= 120 else f"{name[:100]}… ({len(name):,} characters)")
    assert titles[0].startswith(f"{shown} <= 0.5?\n{shown} = {label_text(name)}\n{label_text(name)} 61.5 %")
    assert titles[1].startswith(f"job = {label_text(name)}?")


def test_svg_options() -> None:
    tree = spam_tree(17)
    assert "leaves below" in tree.to_svg(max_depth=2)
    assert len(tree.to_svg(max_leaf_nodes=4)) < len(tree.to_svg())
    down, right = (parsed(tree.to_svg(direction=direction)) for direction in ("down", "right"))
    assert float(down.get("height")) != float(right.get("height"))
    assert "Is it spam?" in tree.to_svg(title="Is it spam?")
    with pytest.raises(TypeError, match="svg has no option 'colour'"):
        tree.to_svg(colour="red")


def test_slices_have_the_shares() -> None:
    tree = grow(encode({"x": [1, 1, 1, 1]}, ["a", "b", "b", "b"]))
    root = parsed(tree.to_svg())
    colours = [path.get("fill") for path in root.iter(f"{SVG}path") if path.get("fill")]
    assert colours == ["#0072B2", "#E69F00"]
    slices = [path.get("d") for path in root.iter(f"{SVG}path") if path.get("fill")]
    assert [re.search(r" 0 ([01]) 1 ", path)[1] for path in slices] == ["0", "1"]  # a quarter and three


# ---- dot -------------------------------------------------------------------------------------------

TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|->|[{}\[\];=,]|#?[\w.]+)', re.DOTALL)


def dot_tokens(text: str) -> list[str]:
    """By Graphviz's grammar: what cannot be read is an error."""
    tokens, at = [], 0
    while text[at:].strip():
        found = TOKEN.match(text, at)
        assert found, text[at : at + 60]
        tokens.append(found[1])
        at = found.end()
    return tokens


def dot_parsed(text: str) -> tuple[dict[str, dict[str, str]], list[tuple[str, str]]]:
    """The nodes with their attributes, and the edges."""
    first, name, brace, *tokens, last = dot_tokens(text)
    assert (first, brace, last) == ("digraph", "{", "}")
    assert name.startswith('"')
    nodes: dict[str, dict[str, str]] = {}
    edges = []
    while tokens:
        end = tokens.index(";")
        statement, tokens = tokens[:end], tokens[end + 1 :]
        opening = statement.index("[")
        assert statement[-1] == "]"
        attributes = dict(
            zip(*[iter(t for t in statement[opening + 1 : -1] if t not in ",=")] * 2, strict=True)
        )
        if statement[1] == "->":
            edges.append((statement[0], statement[2]))
        else:
            assert opening == 1
            nodes[statement[0]] = attributes
    return nodes, edges


def dot_lines(quoted: str) -> list[str]:
    """The lines of a label as Graphviz shows them."""
    lines, line, rest = [], "", quoted[1:-1]
    while rest:
        taken = 2 if rest[0] == "\\" else 1
        part, rest = rest[:taken], rest[taken:]
        if part == "\\n":
            lines.append(line)
            line = ""
        else:
            assert taken == 1 or part[1] in '\\"'
            line += part[-1]
    return [line.replace("&amp;", "&") for line in [*lines, line]]


@every_tree
def test_dot_reads_back(tree: Tree) -> None:
    nodes, edges = dot_parsed(str(export(tree, "dot")))
    shown = cards(tree)
    assert list(nodes)[2:] == [f"n{card.node}" for card in shown]
    assert edges == [(f"n{shown[card.parent].node}", f"n{card.node}") for card in shown[1:]]
    flows = [
        float(width) for width in re.findall(r"(?:yes|no)\", penwidth=([\d.]+)\]", str(export(tree, "dot")))
    ]
    rows = [max(8 * card.rows / shown[0].rows, 0.5) for card in shown[1:]]
    assert flows == pytest.approx(rows, abs=0.006)
    for card in shown:
        assert dot_lines(nodes[f"n{card.node}"]["label"]) == card.lines(240.0, 11.0)
        tip = "\n".join(dot_lines(nodes[f"n{card.node}"]["tooltip"]))
        assert tip == card.title or (len(tip) == 2001 and card.title.startswith(tip[:-1]))


@pytest.mark.skipif(not shutil.which("dot"), reason="graphviz is not installed")
@every_tree
def test_graphviz_reads_dot(tree: Tree) -> None:
    run = subprocess.run(
        ["dot", "-Tsvg"],
        input=str(export(tree, "dot")),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr


# ---- Mermaid ---------------------------------------------------------------------------------------


@every_tree
def test_mermaid_reads_back(tree: Tree) -> None:
    first, *lines = str(export(tree, "mermaid")).splitlines()
    assert first == "flowchart TD"
    shown = cards(tree)
    labels = [
        re.fullmatch(r'  n(\d+)(\[|\(\[)"([^"`{}<>\\]|<br>)*"(\]|\]\))', line) for line in lines[: len(shown)]
    ]
    for card, found in zip(shown, labels, strict=True):
        assert found
        assert int(found[1]) == card.node
        label = re.search(r'"(.*)"', found[0])[1]
        told = [re.sub(r"#(\d+);", lambda code: chr(int(code[1])), part) for part in label.split("<br>")]
        assert told == card.lines(240.0, 11.0)
    arrows = lines[len(shown) : 2 * len(shown) - 1]
    assert all(re.fullmatch(r"  n\d+ -->\|(yes|no)\| n\d+", arrow) for arrow in arrows)
    styles = lines[2 * len(shown) - 1 :]
    assert len(styles) == sum(card.is_end for card in shown)
    assert all(
        re.fullmatch(r"  style n\d+ fill:#[0-9A-F]{6},stroke:#[0-9A-F]{6},[\w:,# -]+", s) for s in styles
    )


def test_mermaid_keeps_to_its_limits() -> None:
    text = str(export(wide_tree(300, long=40), "mermaid"))
    assert len(text) < 50_000
    assert text.count("-->") < 500


# ---- LaTeX -----------------------------------------------------------------------------------------

MACROS = {
    r"\textbackslash{}": "\\",
    r"\textasciitilde{}": "~",
    r"\textasciicircum{}": "^",
    r"\textless{}": "<",
    r"\textgreater{}": ">",
    r"\textbar{}": "|",
    r"{\char34}": '"',
    r"{\char96}": "`",
    r"{\char39}": "'",
    r"{-}": "-",
    r"\ldots{}": "…",
    r"$\leq$": "≤",
    r"$\mu$": "µ",
    r"\ ": " ",
    ",{}": ",",
    **{f"\\{letter}": letter for letter in "{}$&#_%"},
}


def tex_text(source: str) -> str:
    """What TeX prints; whatever is not known to be harmless is an error."""
    printed = ""
    while source:
        letter = re.match(r"\\twletter\{([0-9A-F]{4,6})\}\{(.)\}", source)
        known = next((macro for macro in MACROS if source.startswith(macro)), None)
        if letter:
            assert chr(int(letter[1], 16)) == letter[2]
            printed, source = printed + letter[2], source[letter.end() :]
        elif known:
            printed, source = printed + MACROS[known], source[len(known) :]
        else:
            assert source[0] not in "\\{}$&#_%~^<>|\"`'", source[:40]
            assert source[0].isascii() or source[0] in "ïéöüß"
            printed, source = printed + source[0], source[1:]
    return printed


def tex_nodes(text: str) -> dict[int, list[str]]:
    found = re.findall(
        r"^\\node\[[^\]]*\] \(n(\d+)\) at \(-?[\d.]+pt,-?[\d.]+pt\) \{(.*)\};$", text, re.MULTILINE
    )
    return {int(node): [tex_text(line) for line in source.split(r"\\{}")] for node, source in found}


@every_tree
def test_latex_reads_back(tree: Tree) -> None:
    text = str(export(tree, "latex"))
    shown = cards(tree)
    assert tex_nodes(text) == {card.node: card.lines(130.0, 9.0) for card in shown}
    assert text.count(r"\draw") == len(shown) - 1
    plain = re.sub(r"\\\\|\\[{}]", "", text)
    assert plain.count("{") == plain.count("}")
    whole = str(export(tree, "latex", document=True))
    assert whole.startswith(r"\documentclass{article}")
    assert set(re.findall(r"\\usepackage(?:\[.*?\])?\{(\w+)\}", whole)) == {"geometry", "fontenc", "tikz"}


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="pdflatex is not installed")
@every_tree
def test_latex_compiles(tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "tree.tex").write_text(str(export(tree, "latex", document=True)), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tree.tex"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
    assert run.returncode == 0, run.stdout[-2000:]


@pytest.mark.slow
def test_latex_refuses_what_tex_cannot_hold() -> None:
    with pytest.raises(ValueError, match="give a smaller max_leaf_nodes or max_depth"):
        export(chain(2000), "latex", max_leaf_nodes=None)


# ---- all of them -----------------------------------------------------------------------------------

ARROWS = {
    "dot": r'n(\d+) -> n(\d+) \[label="(yes|no)"',
    "mermaid": r"n(\d+) -->\|(?P<word>yes|no)\| n(\d+)",
    "latex": r"\(n(\d+)\.south\) -- node\[twword, text=black\] \{(?P<word>yes|no)\} \(n(\d+)\.north\)",
}


@pytest.mark.parametrize("format", ARROWS)
def test_yes_leads_to_the_left(format: str) -> None:
    tree = spam_tree(17)
    found = re.findall(ARROWS[format], str(export(tree, format)))
    assert len(found) == tree.n_nodes - 1
    for parts in found:
        word = next(part for part in parts if part in ("yes", "no"))
        parent, child = (int(part) for part in parts if part != word)
        assert child == (tree.left if word == "yes" else tree.right)[parent]


@pytest.mark.slow
@pytest.mark.parametrize("format", ["svg", "dot", "mermaid"])
def test_any_depth(format: str) -> None:
    assert "99,938 leaves below" in str(export(chain(100_000), format))
    tree = chain(3_000)
    whole = str(export(tree, format, max_leaf_nodes=None))
    assert len(whole) < 3_000 * 2500
    if format == "svg":
        assert sum(1 for _ in parsed(whole).iter(f"{SVG}title")) == tree.n_nodes


@pytest.mark.parametrize("format", ["svg", "dot", "mermaid", "latex"])
def test_the_default_is_a_picture_of_64_leaves(format: str) -> None:
    tree = spam_tree(10_000)
    few, some = str(export(tree, format)), str(export(tree, format, max_leaf_nodes=64))
    assert few == some
    assert few.count("leaves below") > 0
    assert "leaves below" not in str(export(tree, format, max_leaf_nodes=None))


def test_the_picture_is_the_same_every_time() -> None:
    assert spam_tree(17).to_svg() == spam_tree(17).to_svg()


# ---- notebooks -------------------------------------------------------------------------------------


@every_tree
def test_a_tree_in_a_notebook(tree: Tree) -> None:
    page = ElementTree.fromstring(tree._repr_html_())
    assert page.find(f"{SVG}svg") is not None
    assert f"depth {tree.depth}" in page.find("div").text


def test_a_large_tree_in_a_notebook() -> None:
    shown = spam_tree(10_000)._repr_html_()
    assert "the first 16 of" in shown
    assert len(shown) < 60_000


@pytest.mark.parametrize("validated", [True, False])
def test_a_path_in_a_notebook(validated: bool) -> None:
    chance = np.random.default_rng(0)
    data = encode(chance.normal(size=(300, 3)), chance.choice(["a", "b"], 300))
    path = prune(grow(data))
    if validated:
        path = select(path, validation=encode(chance.normal(size=(90, 3)), chance.choice(["a", "b"], 90)))
    page = ElementTree.fromstring(path._repr_html_())
    rows = page.findall(".//tr")
    told = [" ".join(cell.text or "" for cell in row) for row in rows]
    assert [line.split() for line in told] == [line.split() for line in str(path).splitlines()[1:]]
    bold = [row for row in rows if "bold" in row[0].get("style", "")]
    assert len(bold) == validated
    if validated:
        assert bold[0][2].text == str(path.pruned.n_leaves)
    assert len(page.findall(f".//{SVG}polyline")) == 1 + validated
    assert len(page.findall(f".//{SVG}circle")) == validated


def test_a_path_of_one_tree_in_a_notebook() -> None:
    path = prune(grow(encode({"x": [1.0, 1.0]}, ["a", "b"])))
    assert ElementTree.fromstring(path._repr_html_()).find(".//table") is not None


def test_words_in_a_notebook_are_escaped() -> None:
    leaves, loss = np.array([1]), {"<b>": np.zeros(1)}
    page = path_as_html("<script>", [["<i>"], ["&"]], 1, leaves, loss, 0)
    assert not re.search("<(script|i|b>&lt;b)>", page)
    assert "&lt;script&gt;" in page


def test_cards_know_their_words() -> None:
    card: Card = cards(wide_tree(16))[0]
    assert card.tests[0].startswith(("= ", "in {", "not in {"))
    assert [len(test) for test in card.tests] == sorted((len(test) for test in card.tests), reverse=True)
