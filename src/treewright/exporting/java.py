"""A tree as a Java class that needs the JDK only: `predict(row)` for a map of values."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treewright.encoding.schema import Column
from treewright.exporting import _tree
from treewright.exporting._check.running import engine, pack_table, run, runner, unpack
from treewright.exporting._program.form import Among, Table
from treewright.exporting._program.printer import array_lines
from treewright.exporting._program.row_printer import RowPrinter, is_function, program_code
from treewright.exporting._tree import Code, Style
from treewright.tree import Tree

_MOST_IN_LINE = 100  # elements of an array that stand in braces; longer ones are read from texts
_MOST_ARRAYS = 50  # of these: a class sets up its arrays in one method, which Java limits to 64 KB
_LINES_OF_TEXT = 200  # in one literal, which Java limits to 65,535 bytes
_MOST_STATEMENTS = 500  # in one method
_MOST_NESTED = 1000  # leaves, columns and parts of sums of tests within tests, which are one method
_RESERVED = _tree.words(
    """abstract assert boolean break byte case catch char class const continue default do double else enum
    extends false final finally float for goto if implements import instanceof int interface long native new
    null package private protected public record return sealed short static strictfp super switch
    synchronized this throw throws transient true try var void volatile while yield permits Arrays Boolean
    Date Double HashMap IllegalArgumentException Instant Integer LocalDate LocalDateTime Long Map Math Number
    Object Objects OffsetDateTime String StringBuilder System ZoneOffset ZonedDateTime java row"""
)


def render(
    tree: Tree, *, name: str = "DecisionTree", package: str | None = None, style: Style = "auto"
) -> str:
    """A class with `predict(row)`, and for classes `predictProba(row)` and `CLASSES`; `row` is a Map.

    A value that is null, NaN or not in the map is missing; a text where a number is expected is an
    IllegalArgumentException, and so is a missing value where the tree takes complete rows only. Numbers are
    any Number or Boolean; times are Instants, dates and times of java.time (in UTC where they name no zone),
    java.util.Dates, or microseconds since 1970. Labels are String, boolean, long or double. Probabilities are
    in the order of `CLASSES`. Of several targets the predictions are an array.

    `name` is that of the class, and of its file; `package` is what it belongs to; `style` is as for Python.

    >>> from treewright import encode, grow
    >>> tree = grow(encode({"petal": [1.4, 4.7, 6.0]}, ["setosa", "virginica", "virginica"]))
    >>> program = render(tree)
    >>> print(program[program.index("    public static int leaf") : program.index("    // adds")].rstrip())
        public static int leaf(Map<String, ?> row) {
            double petal = number(row, "petal");
            if (petal <= 3.0) {
                return 0;  // setosa: 1 row, 100 %
            } else {
                return 1;  // virginica: 2 rows, 100 %
            }
        }
    """
    code = program_code(tree, name, "name", _RESERVED)
    _tree.check_integers(code, "Java")
    for part in package.split(".") if package else ():
        _tree.check_name(part, "a part of package", _RESERVED)
    printer = _Java(code, "predict")
    uses = printer.uses("predictProba", "a Map; a value that is null, NaN or not there")
    lines = [*printer.heading(*uses), "", *([f"package {package};", ""] if package else [])]
    body = list(printer.body(_style(code, style)))
    if printer.has_texts:
        body += printer.source("texts")
    imports = [each for each in _IMPORTS if any(each.rpartition(".")[2] in line for line in body)]
    lines += [*(f"import {each};" for each in imports), "", f"public final class {name} {{"]
    lines += [f"    private {name}() {{}}", "", *(f"    {line}".rstrip() for line in body), "}"]
    return "\n".join(lines) + "\n"


def answers(rendered: str, tree: Tree, table: dict[str, Any], **options: Any) -> NDArray[Any]:
    """The predictions of the class for the rows of a table, compiled and run."""
    javac, java = engine("compiles Java", "javac"), engine("runs Java", "java")
    name, package = options.get("name", "DecisionTree"), options.get("package")
    columns = [(column.name, _tree.plain(table[column.name])) for column in Code(tree).columns]
    packed = pack_table(columns, len(next(iter(table.values()))))
    with tempfile.TemporaryDirectory() as folder:
        program, path = Path(folder, f"{name}.java"), Path(folder, "RunTree_.java")
        program.write_text(rendered, encoding="ascii")
        path.write_text(runner(path.name, TREE=f"{package}.{name}" if package else name), encoding="ascii")
        failure = "the java export does not compile"
        run([javac, "-Xlint:all", "-Werror", "-d", folder, program, path], failure)
        found = run([java, "-cp", folder, "RunTree_"], "the java export does not run", packed)
    return _tree.label_array(tree, unpack(found, len(tree.schema.targets)))


def _style(code: Code, style: str) -> str:
    """The style that a method of Java has room for."""
    parts = sum(len(code.terms(j)) for j in code.sums)
    size = max(code.tree.n_leaves, len(code.used), parts)
    if size <= _MOST_NESTED or not code.nests(style):
        return style
    if style == "nested":
        raise ValueError(
            f"a method of Java has no room for tests within tests of {size:,} leaves, columns or parts of "
            f"sums; style='nested' goes to {_MOST_NESTED:,}: use style='tables'"
        )
    return "tables"


# ---- the class ---------------------------------------------------------------------------------------------

_TYPES = {"text": "String", "bool": "boolean", "integer": "long", "float": "double"}
_IMPORTS = (
    "java.math.BigInteger", "java.time.Instant", "java.time.LocalDate", "java.time.LocalDateTime",
    "java.time.OffsetDateTime", "java.time.ZoneOffset", "java.time.ZonedDateTime", "java.util.Arrays",
    "java.util.Date", "java.util.HashMap", "java.util.Map", "java.util.Objects",
)  # fmt: skip


class _Java(RowPrinter):
    """Java, whose categories are compared by their names; large arrays are read from texts."""

    language = "java"
    infinity = "Double.POSITIVE_INFINITY"
    nan = "Double.NaN"
    to_int = "(int) {}"
    is_finite = "Double.isFinite({})"
    number_known = ("!Double.isNaN({})", "Double.isNaN({})")
    category_known = ("{} != null", "{} == null")
    types: ClassVar[dict[str, str]] = {
        "int": "int", "double": "double", "values": "double[]", "number": "double", "time": "double",
        "text": "String", "name": "Object",
    }  # fmt: skip
    array = "{type}[] {name} = new {type}[{size}];"
    refuse = "if ({condition}) throw new IllegalArgumentException({message});"
    signature = "{access} static {returns} {name}({parameters}) {{"
    parameters: ClassVar[dict[str, str]] = {
        "row": "Map<String, ?> {}", "values": "double[] {}", "ints": "int[] {}", "doubles": "double[] {}",
        "int": "int {}", "double": "double {}",
    }  # fmt: skip
    reserved = _RESERVED
    classes_name = "CLASSES"
    shares = ("found", "Arrays.copyOfRange(found, {}, {})", "new double[][] {{{}}}")

    def __init__(self, code: Code, predict: str) -> None:
        super().__init__(code, predict)
        self.n_arrays = 0
        self.has_texts = False

    def name(self, name: str) -> str:
        """Functions in camel case, tables in capitals."""
        return re.sub("_(.)", lambda found: found[1].upper(), name) if is_function(name) else name.upper()

    def remark(self, text: str) -> str:
        """A comment in ASCII, in which nothing is taken for the code of a character."""
        return "".join(c if c.isascii() else _unicode(c) for c in re.sub(r"\\(?=u)", r"\\ ", text))

    def integer(self, label: int) -> str:
        return f"{label}L"

    def text(self, label: str) -> str:
        """A text; one beyond the limit of a constant in parts."""
        step = 15_000
        parts = [_text(label[i : i + step]) for i in range(0, max(len(label), 1), step)]
        return parts[0] if len(parts) == 1 else f'String.join("", {", ".join(parts)})'

    def key(self, category: Any) -> str:
        """A category as `name` returns it: bools and whole floats as Longs."""
        is_long = isinstance(category, bool) or (isinstance(category, float) and abs(category) < 2**63)
        return self.literal(int(category) if is_long and category == int(category) else category)

    def answer_type(self) -> str:
        kinds = {_type(target.classes) for target in self.code.targets}
        kind = kinds.pop() if len(kinds) == 1 else "Object"
        return kind if len(self.code.targets) == 1 else f"{kind}[]"

    def sequence(self, values: list[str]) -> str:
        return f"new {self.answer_type()} {{{', '.join(values)}}}"

    # ---- arrays ------------------------------------------------------------------------------------------

    def array_of(self, kind: str, name: str, labels: Sequence[Any], access: str = "private") -> Iterator[str]:
        """An array of constants: in braces, or, if it is long, read from texts."""
        start = f"{access} static final {kind}[] {name}"
        if self.is_short(labels) or kind == "boolean":
            items = [self.literal(label) if kind != "int" else str(label) for label in labels]
            yield from array_lines(f"{start} = {{", items, "};")
        else:
            yield f"{start} = {self.from_texts(labels, kind)};"

    def is_short(self, labels: Sequence[Any]) -> bool:
        """Whether an array stands in braces; counts the arrays."""
        self.n_arrays += 1
        return len(labels) <= _MOST_IN_LINE and self.n_arrays <= _MOST_ARRAYS

    def from_texts(self, labels: Sequence[Any], kind: str) -> str:
        """An expression that reads an array from texts."""
        self.has_texts = True
        if not labels:
            return f"new {kind}[0]"
        if kind == "String":
            letters = frozenset().union(*map(frozenset, labels))
            separator = next(c for c in ("\n", *map(chr, range(1, 0xD800))) if c not in letters)
            return f"texts({_text(separator)}, {_pieces(separator.join(labels))})"
        texts = ("Infinity" if x == np.inf else "-Infinity" if x == -np.inf else str(x) for x in labels)
        return f"{kind}s({_pieces(' '.join(texts))})"

    def table(self, table: Table) -> Iterator[str]:
        kind = "double" if table.type == "double" else "int"
        yield from self.array_of(kind, self.name(table.name), table.values)

    def classes(self) -> Iterator[str]:
        several = len(self.code.targets) > 1
        names = [f"CLASSES_{k}" if several else "CLASSES" for k in range(len(self.code.targets))]
        for name, target in zip(names, self.code.targets, strict=True):
            kind, labels = _type(target.classes), target.classes or ()
            labels = tuple(map(float, labels)) if kind == "double" else labels  # type: ignore[arg-type]
            yield from self.array_of(kind, name, labels, "private" if several else "public")
        if several:
            yield f"public static final {self.answer_type()}[] CLASSES = {{{', '.join(names)}}};"

    # ---- rows --------------------------------------------------------------------------------------------

    def categories(self, place: int, column: Column) -> Iterator[str]:
        start = f"private static final Map<Object, Integer> CODES_{place} = codes("
        keys = list(map(self.key, column.categories))
        if self.is_short(keys):
            yield from array_lines(f"{start}new Object[] {{", keys, "});")
        elif _tree.family(column) == "text":
            yield f"{start}(Object[]) {self.from_texts(column.categories, 'String')});"
        else:
            texts = [key.replace("Double.POSITIVE_INFINITY", "Infinity") for key in keys]
            yield f"{start}{self.from_texts(texts, 'key')});"

    def read_function(self, values: list[str]) -> Iterator[str]:
        """The values of a row as an array; many of them by several methods."""
        lines = [f"values[{place}] = {value};" for place, value in enumerate(values)]
        for place, j in enumerate(self.code.sums, start=len(values)):
            for k, (column, weight) in enumerate(self.code.terms(j)):
                operator, part = "+=" if k else "=", self.code.used.index(column)
                lines.append(f"values[{place}] {operator} {weight!r} * values[{part}];")
        blocks = [lines[i : i + _MOST_STATEMENTS] for i in range(0, len(lines), _MOST_STATEMENTS)]
        calls = [f"read{k}(row, values);" for k in range(len(blocks))]
        size = str(len(values) + len(self.code.sums))
        yield from self.source("read", SIZE=size, VALUES=lines if len(blocks) <= 1 else calls)
        for k, block in enumerate(blocks if len(blocks) > 1 else []):
            yield from ["", f"private static void read{k}(Map<String, ?> row, double[] values) {{"]
            yield from [*(f"    {line}" for line in block), "}"]

    def complete(self, names: list[str]) -> Iterator[str]:
        """The function that refuses a row without a value in some columns, after the names of these."""
        yield from ["", *self.array_of("String", "DEMANDED", names)]
        yield from self.source("complete")

    # ---- expressions -------------------------------------------------------------------------------------

    def among(self, test: Among, around: int) -> str:
        items, name = self.members(test), self.variable(test.feature)
        text = f"Arrays.asList({', '.join(items)}).contains({name})"
        if len(items) == 1:
            text = f"Objects.equals({name}, {items[0]})"
        return f"!{text}" if test.negated else text


def _type(classes: tuple[Any, ...] | None) -> str:
    """The type of labels, or of numbers."""
    return "double" if classes is None else _TYPES[_tree.label_type(classes)]


def _text(text: str) -> str:
    """A literal in ASCII. What Java would read as the end of the line or of the text is a number in it."""
    return _tree.quote_text(text, '"', _escape, lambda c: " " <= c <= "~" and c not in '"\\')


def _escape(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return f"\\{ord(character):03o}" if character < "\u0080" else _unicode(character)


def _unicode(character: str) -> str:
    units = np.frombuffer(character.encode("utf-16-le", "surrogatepass"), "<u2").tolist()
    return "".join(f"\\u{unit:04x}" for unit in units)


def _pieces(text: str) -> str:
    """A long text as literals of some lines each."""
    lines = [_text(text[i : i + 90]) for i in range(0, len(text), 90)]
    literals = ["\n    + ".join(lines[i : i + _LINES_OF_TEXT]) for i in range(0, len(lines), _LINES_OF_TEXT)]
    return "\n    " + ",\n    ".join(literals)
