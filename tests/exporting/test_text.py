"""The tree as text: what it says is true, and nothing in a name can break it."""

from __future__ import annotations

import re
from datetime import datetime

import numpy as np
import pytest

from treewright import Among, Below, Branch, Column, Leaf, Schema, Target, Tree, encode, export, grow
from treewright._text import escape
from treewright.exporting import formats
from treewright.exporting.text import DEEPEST_INDENT, render

HOSTILE = [
    "two\nlines",
    "\x1b[31mred",
    "tab\tcarriage\rreturn",
    "\u202eright to left",
    "</script>",
    "null\x00",
    "",
]


def written(column: Column, test: Below | Among, *, missing_left: bool | None = None) -> str:
    """The two lines below the root of a tree with one test; more rows go to the right."""
    schema = Schema((column,), (Target("y", ("no", "yes")),))
    tree = Tree.write(schema, Branch(test, Leaf([1.0, 1.0]), Leaf([1.0, 3.0]), missing_left=missing_left))
    return "\n".join(re.split(r" {3,}", line)[0] for line in render(tree).splitlines()[1:])


def test_formats_are_the_files_of_the_folder() -> None:
    known = {"c", "dot", "javascript", "json", "latex", "mermaid", "onnx", "pmml", "python", "rules", "sql"}
    known |= {"excel", "java", "svg", "text", "treelite"}  # and not what helps several of them
    assert set(formats()) == known
    with pytest.raises(ValueError, match=r"format 'papyrus' is unknown; known: .*\btext\b"):
        export(grow(encode([[1.0], [2.0]], ["a", "b"])), "papyrus")
    with pytest.raises(ValueError, match="did you mean 'python'"):
        export(grow(encode([[1.0], [2.0]], ["a", "b"])), "pyton")
    with pytest.raises(TypeError, match=r"its options are .*; did you mean 'dialect'"):
        export(grow(encode([[1.0], [2.0]], ["a", "b"])), "sql", dialekt="duckdb")


def test_print_shows_the_text() -> None:
    tree = grow(encode({"x": [1.0, 2.0, 3.0]}, ["a", "a", "b"]))
    assert str(tree) == export(tree) == render(tree)
    assert render(tree) == "3 rows\n├─ x <= 2.5   a   2 rows   100 %\n└─ x > 2.5    b    1 row   100 %"


def test_a_leaf_alone() -> None:
    assert render(grow(encode([[1.0], [2.0]], ["a", "a"]))) == "a   2 rows   100 %"
    assert render(grow(encode([[1.0], [2.0]], ["", ""]))) == "''   2 rows   100 %"


def test_numbers() -> None:
    tree = grow(encode({"x": [1.0, 2.0, 3.0]}, [0.5, 0.5, 1e6 / 3]))
    assert render(tree) == "3 rows\n├─ x <= 2.5   0.5      2 rows\n└─ x > 2.5    333333    1 row"


def test_several_targets() -> None:
    labels = np.array([["a", "p"], ["a", "q"], ["b", "q"]])
    text = render(grow(encode({"x": [1.0, 2.0, 3.0]}, labels), max_leaf_nodes=2))
    assert re.search(r"[ab], [pq] +\d rows? +\d+(\.\d)? %, \d+(\.\d)? %", text)


@pytest.mark.parametrize(
    ("threshold", "shown"),
    [(0.055, "0.055"), (3.0, "3"), (-0.0, "-0"), (1e300, "1e+300"), (0.1 + 0.2, "0.30000000000000004")],
)
def test_a_threshold_is_shown_to_the_last_bit(threshold: float, shown: str) -> None:
    assert written(Column("x"), Below("x", threshold)) == f"├─ x <= {shown}\n└─ x > {shown}"
    assert float(shown) == threshold


def test_times_are_dates() -> None:
    def micros(moment: datetime) -> float:
        return (moment - datetime(1970, 1, 1)).total_seconds() * 1e6

    when = Column("when", "time")
    assert (
        written(when, Below("when", micros(datetime(2001, 5, 17))))
        == "├─ when <= 2001-05-17\n└─ when > 2001-05-17"
    )
    assert "1969-12-31 23:59:59.999999" in written(when, Below("when", -1.0))
    assert "1e+30 µs since 1970" in written(when, Below("when", 1e30))


def test_categories_take_the_shorter_list() -> None:
    job = Column("job", "category", ("clerk", "cook", "pilot"))
    assert written(job, Among("job", ("cook",))) == "├─ job = cook\n└─ job not in {cook}"
    assert written(job, Among("job", ("clerk", "cook"))) == "├─ job not in {pilot}\n└─ job = pilot"
    many = Column("n", "category", tuple(range(100)))
    assert "n in {0, 1, 2, 3, 4, 5, … 34 more}" in written(many, Among("n", tuple(range(40))))
    odd = Column("odd", "category", ("", " a", "a, b", "c"))
    assert "odd in {'', ' a'}" in written(odd, Among("odd", ("", " a")))


def test_missing_values_are_named_where_the_tree_has_learnt_of_them() -> None:
    x = Column("x")
    assert written(x, Below("x", 1.0)) == "├─ x <= 1\n└─ x > 1"
    assert written(x, Below("x", 1.0), missing_left=True) == "├─ x <= 1 or missing\n└─ x > 1"
    assert written(x, Below("x", np.inf), missing_left=False) == "├─ x is known\n└─ x is missing"
    tree = grow(encode({"job": ["a", "b", None, None]}, ["yes", "yes", "no", "no"]))
    assert "job is known" in render(tree)
    assert "job is missing" in render(tree)


@pytest.mark.parametrize("name", HOSTILE)
def test_names_cannot_break_the_text(name: str) -> None:
    schema = Schema(
        (Column(name, "category", (name + "a", name + "b")),), (Target("y", (name + "p", name + "q")),)
    )
    tree = Tree.write(schema, Branch(Among(name, (name + "a",)), Leaf([2.0, 0.0]), Leaf([0.0, 2.0])))
    text = render(tree)
    assert len(text.splitlines()) == 3
    assert text.count("2 rows") == 2
    assert all(character.isprintable() for line in text.splitlines() for character in line)


def test_escape_leaves_what_can_be_read() -> None:
    assert escape("naïve 東京 <b>") == "naïve 東京 <b>"
    assert escape("\udc80") == "\\udc80"


def test_a_share_below_one_is_never_shown_as_all() -> None:
    schema = Schema((Column("x"),), (Target("y", ("no", "yes")),))
    assert render(Tree.write(schema, Leaf([1.0, 99999.0]))).endswith("> 99.9 %")
    assert render(Tree.write(schema, Leaf([1.0, 1999.0]))).endswith("> 99.9 %")
    assert render(Tree.write(schema, Leaf([1.0, 3.0]))).endswith("75.0 %")


def test_max_depth_shows_the_top_and_counts_the_rest() -> None:
    rows = np.arange(8.0)[:, None]
    tree = grow(encode(rows, list("abcdefgh")))
    lines = render(tree, max_depth=1).splitlines()
    assert len(lines) == 3
    below = [int(found) for found in re.findall(r"\(… (\d+) leaves below\)", "\n".join(lines))]
    assert sum(below) + sum("below" not in line for line in lines[1:]) == 8
    assert render(tree, max_depth=0).splitlines() == ["a   8 rows   12.5 %   (… 8 leaves below)"]
    assert render(tree, max_depth=99) == render(tree)
    with pytest.raises(ValueError, match="max_depth is -1"):
        render(tree, max_depth=-1)


def test_color_changes_only_colors() -> None:
    tree = grow(encode({"x": [1.0, 2.0, 3.0]}, ["a", "a", "b"]))
    assert "\x1b[" in render(tree, color=True)
    assert re.sub(r"\x1b\[\d+m", "", render(tree, color=True)) == render(tree)


def chain(depth: int) -> Tree:
    """A tree of which every left child is a leaf."""
    n = 2 * depth + 1
    inner = np.arange(n) % 2 == 0
    inner[-1] = False
    rows = np.repeat(np.arange(depth + 1, 0, -1), 2)[: n + 1]
    rows[1:-1:2] = 1
    return Tree(
        end=np.where(inner | (np.arange(n) == n - 1), n, np.arange(n) + 1).astype(np.int32),
        feature=np.where(inner, 0, -1).astype(np.int32),
        threshold=np.where(inner, np.arange(n) / 2.0, np.nan),
        subset=np.full(n, -1, dtype=np.int64),
        missing_left=np.zeros(n, dtype=np.bool_),
        step=np.where(inner, np.arange(n) // 2, -1).astype(np.int32),
        rows=rows[:n].astype(np.int64),
        statistic=np.stack([rows[:n], np.zeros(n)], axis=1).astype(np.float64),
        subsets=np.zeros(0, dtype=np.uint8),
        schema=Schema((Column("x"),), (Target("y", ("no", "yes")),)),
        criterion="gini",
    )


@pytest.mark.slow
def test_any_depth_in_bounded_width() -> None:
    depth = 100_000
    lines = render(chain(depth)).splitlines()
    assert len(lines) == 2 * depth + 1
    assert max(map(len, lines)) < 3 * DEEPEST_INDENT + 120
    assert f"depth {depth}: x > {depth - 1}" in lines[-1]


def test_the_text_decides_like_the_tree() -> None:
    """Read back and followed, for rows at and next to every threshold, the text says what `predict` says."""
    random = np.random.default_rng(0)
    table = random.normal(size=(300, 3)).round(1)
    tree = grow(encode({f"x{k}": table[:, k] for k in range(3)}, (table[:, 0] * table[:, 1] > 0).astype(str)))
    lines = render(tree).splitlines()[1:]
    rows = [table[:50]]
    for feature, threshold in zip(tree.feature, tree.threshold, strict=True):
        if feature >= 0:
            probes = np.tile(table[:1], (3, 1))
            probes[:, feature] = [
                threshold,
                np.nextafter(threshold, np.inf),
                np.nextafter(threshold, -np.inf),
            ]
            rows.append(probes)
    probes = np.concatenate(rows)
    expected = tree.predict({f"x{k}": probes[:, k] for k in range(3)})
    assert [follow(lines, row) for row in probes] == list(expected)


def follow(lines: list[str], row: np.ndarray) -> str:
    """The label that a reader finds: down the lines, into each branch whose test the row passes."""
    wanted = 0
    for line in lines:
        bars, column, sign, number, end = re.fullmatch(r"([│├└─ ]+)x(\d) (<=|>) (\S+)(.*)", line).groups()
        depth = len(bars) // 3 - 1
        if depth != wanted:
            continue
        value = row[int(column)]
        if value <= float(number) if sign == "<=" else value > float(number):
            if end.strip():
                return end.split()[0]
            wanted += 1
    raise AssertionError("the row passes no test")


def test_narrow_lines_break_before_what_the_leaf_says() -> None:
    schema = Schema((Column("a long name of a column"), Column("x")), (Target("y", ("no", "yes")),))
    inner = Branch(Below("x", 1.0), Leaf([3.0, 0.0]), Leaf([0.0, 4.0]))
    tree = Tree.write(schema, Branch(Below("a long name of a column", 0.5), inner, Leaf([0.0, 5.0])))
    assert render(tree, width=44).splitlines() == [
        "12 rows",
        "├─ a long name of a column <= 0.5",
        "│  ├─ x <= 1   no    3 rows   100 %",
        "│  └─ x > 1    yes   4 rows   100 %",
        "└─ a long name of a column > 0.5",
        "               yes   5 rows   100 %",
    ]
    assert render(tree, width=20).splitlines()[2:4] == ["│  ├─ x <= 1", "│  │   no    3 rows   100 %"]
    assert render(tree, width=200) == render(tree)
