"""How tables come into an ONNX model: its inputs, and columns that it makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.encoding import Dataset
from treewright.encoding.schema import Column, Schema
from treewright.exporting.coding import Code
from treewright.exporting.questions import Question, has_surrogates, questions
from treewright.tree import Tree

Inputs = Literal["matrix", "columns"]


class Graph:
    """Nodes and tables that refer to one another by names that no input has."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.tables: list[Any] = []

    def add(self, kind: str, inputs: Sequence[str], name: str | None = None, **attributes: Any) -> str:
        """A node; the name of what it makes."""
        made = name or f"treewright:{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), [made], **attributes))
        return made

    def constant(self, array: NDArray[Any]) -> str:
        """A table that is part of the model."""
        name = f"treewright:table{len(self.tables)}"
        self.tables.append(self.onnx.numpy_helper.from_array(array, name))
        return name


class Layout:
    """How the columns of a tree come into the model."""

    def __init__(self, tree: Tree, inputs: Inputs | None, missing: str) -> None:
        schema = tree.schema
        if inputs is None:
            has_categories = any(column.kind == "category" for column in schema.columns)
            inputs = "columns" if has_categories else "matrix"
        if inputs not in ("matrix", "columns"):
            raise ValueError(f"inputs is {inputs!r}; it must be 'matrix' or 'columns'")
        self.is_matrix = inputs == "matrix"
        tested = Code(tree).used or [0]
        self.columns: list[int] = list(range(len(schema.columns))) if self.is_matrix else tested
        self.schema, self.missing = schema, missing
        self.place = {column: place for place, column in enumerate(self.columns)}
        self.names = _input_names(schema, self.columns)
        for column in (schema.columns[j] for j in self.columns):
            self._check(column)

    def _check(self, column: Column) -> None:
        if column.kind == "category" and self.is_matrix:
            raise ValueError(
                f"column {column.name!r} holds categories, which a matrix of numbers does not: "
                "use inputs='columns'"
            )
        if not is_text(column):
            if any(float(c) != c for c in column.categories):  # type: ignore[arg-type]
                raise ValueError(f"column {column.name!r} has a category that float64 cannot hold exactly")
            return
        if self.missing in column.categories:
            raise ValueError(
                f"{self.missing!r} is a category of column {column.name!r}; "
                "name another text for missing values by missing="
            )
        for category in column.categories:
            demand_utf8(str(category), f"a category of column {column.name!r}")

    def inputs(self, onnx: Any) -> list[Any]:
        """The inputs of the model."""
        helper, kinds = onnx.helper, onnx.TensorProto
        if self.is_matrix:
            shape = [None, len(self.columns)]
            return [helper.make_tensor_value_info("X", kinds.DOUBLE, shape)]
        texts = [is_text(self.schema.columns[j]) for j in self.columns]
        return [
            helper.make_tensor_value_info(name, kinds.STRING if is_text else kinds.DOUBLE, [None])
            for name, is_text in zip(self.names, texts, strict=True)
        ]

    def table(self, graph: Graph) -> str:
        """The inputs as one matrix of doubles, categories as 1, 2, …; NaN where missing, 0 where unknown.

        Runtimes may take sets of whole numbers for bits, in which 2.5 is 2: so numbers are coded, too.
        """
        if self.is_matrix:
            return "X"
        wide = graph.constant(np.array([-1, 1], np.int64))
        columns = []
        for name, j in zip(self.names, self.columns, strict=True):
            column = self.schema.columns[j]
            if column.kind == "category":
                tensor = graph.onnx.numpy_helper.from_array
                keys = _keys(column, self.missing)
                codes = np.array([*range(1, len(keys)), np.nan])
                if not is_text(column):
                    name = graph.add("Add", [name, graph.constant(np.zeros(1))])  # -0.0 becomes 0.0
                name = graph.add(
                    "LabelEncoder",
                    [name],
                    domain="ai.onnx.ml",
                    keys_tensor=tensor(keys),
                    values_tensor=tensor(codes),
                    default_tensor=tensor(np.zeros(1)),
                )
            columns.append(graph.add("Reshape", [name, wide]))
        return graph.add("Concat", columns, axis=1)

    def fed(self, data: Dataset) -> dict[str, NDArray[Any]]:
        """The rows of an encoded table as the inputs of the model."""
        arrays = [_fed(data, j, self.missing) for j in self.columns]
        if self.is_matrix:
            return {"X": np.ascontiguousarray(np.stack(arrays, axis=1), np.float64)}
        return dict(zip(self.names, arrays, strict=True))

    def described(self) -> list[dict[str, str]]:
        """What the inputs are, for whoever opens the model."""
        names = [f"X[:, {j}]" for j in self.columns] if self.is_matrix else self.names
        columns = [self.schema.columns[j] for j in self.columns]
        return [
            {"input": name, "column": column.name, "kind": column.kind}
            for name, column in zip(names, columns, strict=True)
        ]


def is_text(column: Column) -> bool:
    """Whether a column holds categories that are texts."""
    return bool(column.categories) and isinstance(column.categories[0], str)


def _fed(data: Dataset, j: int, missing: str) -> NDArray[Any]:
    """One column as the model wants it: a category that the tree does not know as one that it cannot know."""
    column = data.schema.columns[j]
    values = data.columns[:, j] if isinstance(data.columns, np.ndarray) else data.columns[j]
    if column.kind != "category":
        return np.ascontiguousarray(values, np.float64)
    keys = _keys(column, missing)
    other: Any = "".join(map(str, (*keys, "?"))) if is_text(column) else _other_number(keys)
    return np.insert(keys, len(keys) - 1, other)[values]  # code -1 is a missing value, -2 an unknown one


def _keys(column: Column, missing: str) -> NDArray[Any]:
    """The categories of a column as the model is given them, and last what stands for a missing one."""
    if is_text(column):
        return np.array([*column.categories, missing], object)
    return np.array([*column.categories, np.nan], np.float64) + 0.0


def _other_number(keys: NDArray[np.float64]) -> float:
    """A number that is not among the keys."""
    known = set(keys.tolist())
    return next(float(number) for number in range(len(keys) + 1) if number not in known)


def _input_names(schema: Schema, columns: list[int]) -> list[str]:
    """The columns' own names; `column_3` where a model cannot have such a name or gives it to an output."""
    taken = {"value", "label", "probabilities"}
    taken |= {f"{word}_{i}" for word in ("label", "probabilities") for i in range(len(schema.targets))}
    own = {schema.columns[j].name for j in columns}
    names = []
    for j in columns:
        name = schema.columns[j].name
        usable = name and name not in taken and not name.startswith("treewright:") and _is_utf8(name)
        if not usable or "\0" in name:
            name = f"column_{j}"
            while name in own:
                name += "_"
        names.append(name)
    return names


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def demand_utf8(text: str, what: str) -> None:
    """ValueError about a text that no model can hold."""
    if not _is_utf8(text):
        raise ValueError(f"{what}, {text!r}, is no valid Unicode, so ONNX cannot hold it; rename it")


# ---- columns that are made ---------------------------------------------------------------------------------


class Made:
    """The matrix that the tests ask: the inputs, sums of columns, and where surrogates stand in, the sides.

    Of a branch with surrogates the model finds out itself where a row goes, 0 for left and 1 for right, and
    its test asks that column. All branches are done at once, one rank of surrogates after the other.
    """

    def __init__(self, graph: Graph, tree: Tree, layout: Layout, table: str) -> None:
        self.graph, self.tree, self.table = graph, tree, table
        self.width = len(layout.columns)
        self.place = dict(layout.place)  # of each feature in the matrix
        self.threshold = tree.threshold.copy()
        self._add_sums(Code(tree))
        nodes = [node for node in np.unique(tree.surrogates.node).tolist() if has_surrogates(tree, node)]
        self.column = np.array([self.place.get(j, -1) for j in tree.feature.tolist()])
        self.is_made = np.zeros(tree.n_nodes, np.bool_)  # whether a branch asks a side that is known already
        if nodes:
            self._add_sides(nodes)

    def _append(self, columns: str, count: int) -> None:
        self.table = self.graph.add("Concat", [self.table, columns], axis=1)
        self.width += count

    def _take(self, places: list[int]) -> str:
        return self.graph.add("Gather", [self.table, self._ints(places)], axis=1)

    def _ints(self, values: list[int]) -> str:
        return self.graph.constant(np.array(values, np.int64))

    def _add_sums(self, code: Code) -> None:
        """Products in double precision, added up in their order."""
        graph, made = self.graph, []
        for j in code.sums:
            parts = [
                graph.add("Mul", [self._take([self.place[c]]), graph.constant(np.array([[weight]]))])
                for c, weight in code.terms(j)
            ]
            total = parts[0]
            for part in parts[1:]:
                total = graph.add("Add", [total, part])
            made.append(total)
            self.place[j] = self.width + len(made) - 1
        if made:
            self._append(made[0] if len(made) == 1 else graph.add("Concat", made, axis=1), len(made))

    def _add_sides(self, nodes: list[int]) -> None:
        graph = self.graph
        asked = [list(questions(self.tree, node)) for node in nodes]
        by_name = [question for some in asked for question in some if question.is_category]
        places = self._add_categories(by_name) if by_name else {}
        side = graph.constant(np.where(self.tree.missing_left[nodes], 0.0, 1.0)[np.newaxis])
        for rank in range(max(map(len, asked)) - 1, -1, -1):
            some = [each[rank] if rank < len(each) else None for each in asked]
            value = self._take([self._asks(question, places) for question in some])
            bound = [0.5 if q is None or q.is_category else q.threshold for q in some]
            left = graph.add("LessOrEqual", [value, graph.constant(np.array([bound]))])
            is_left = np.array([[q is None or q.is_category or not q.reversed for q in some]])
            right = graph.add("Xor", [left, graph.constant(is_left)])
            known = graph.add("Cast", [right], to=graph.onnx.TensorProto.DOUBLE)
            asks_on = graph.add("IsNaN", [value])
            absent = graph.constant(np.array([[q is None for q in some]]))
            side = graph.add("Where", [graph.add("Or", [asks_on, absent]), side, known])
        self.column[nodes] = self.width + np.arange(len(nodes))
        self.threshold[nodes] = 0.5
        self.is_made[nodes] = True
        self._append(side, len(nodes))

    def _asks(self, question: Question | None, places: dict[Question, int]) -> int:
        if question is None:
            return 0
        return places[question] if question.is_category else self.place[question.feature]

    def _add_categories(self, by_name: list[Question]) -> dict[Question, int]:
        """A column for each question about categories: 0 left, 1 right, NaN where it is to be asked on."""
        graph, counts = self.graph, self.tree.schema.category_counts
        asked = list(dict.fromkeys(by_name))
        sizes = np.array([counts[question.feature] for question in asked])
        tables = [_sides_by_code(question) for question in asked]
        starts = np.cumsum([0, *map(len, tables)])[:-1]
        codes = self._take([self.place[question.feature] for question in asked])
        gone = graph.constant((sizes + 1.0)[np.newaxis])
        codes = graph.add("Where", [graph.add("IsNaN", [codes]), gone, codes])
        cells = graph.add("Cast", [codes], to=graph.onnx.TensorProto.INT64)
        cells = graph.add("Add", [cells, graph.constant(starts[np.newaxis].astype(np.int64))])
        first = self.width
        self._append(graph.add("Gather", [graph.constant(np.concatenate(tables)), cells], axis=0), len(asked))
        return {question: first + i for i, question in enumerate(asked)}


def _sides_by_code(question: Question) -> NDArray[np.float64]:
    """Where each category goes: first one that was never seen, last a missing one."""
    sides = np.full(2 + len(question.left) + len(question.right), np.nan)
    sides[1 + np.array(question.left, np.int64)] = 0.0
    sides[1 + np.array(question.right, np.int64)] = 1.0
    if question.unseen_left is not None:
        sides[0] = 0.0 if question.unseen_left else 1.0
    return sides
