"""A tree as an ONNX model in float64: a TreeEnsemble finds the leaf, and tables hold what it answers."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.encoding import Dataset
from treewright.encoding.schema import Column, Schema
from treewright.exporting._check.probes import encode_table, parts
from treewright.exporting._split_tests import Question, has_surrogates, questions, refuse_parts
from treewright.exporting._subtrees import Pieces, pieces
from treewright.exporting._tree import Code, in_columns, optional_module, unknown_label
from treewright.tree.tree import Tree, as_array

Inputs = Literal["matrix", "columns"]

TALLEST = 500  # levels of one tree of the ensemble: runtimes read it by calling themselves once per level
MOST_SHARES = 10_000_000  # numbers in the table of the classes' shares; a larger one is left out
OPSET, OPSET_ML, IR = 18, 5, 10
LEQ, MEMBER = 0, 6  # nodes_modes
_SURROGATE = re.compile("[\ud800-\udfff]")  # what UTF-8 cannot hold


def render(
    tree: Tree, *, inputs: Inputs | None = None, missing: str = "", probabilities: bool | None = None
) -> bytes:
    """The tree as the bytes of an ONNX model, which decides in float64 as the tree does.

    The TreeEnsemble of the model finds the number of the leaf, and its answer is looked up, so that numbers,
    shares and labels come out as they are, to the last bit.

    Parameters
    ----------
    tree : Tree
        The tree.
    inputs : {"matrix", "columns"}, optional
        One input `X` of all columns (float64, rows by columns), or one input of shape (rows,) for each column
        that the tree tests, of the column's name: text for categories that are text, float64 for all else
        (times: microseconds since 1970). By default a matrix unless there are categories.
    missing : str
        What stands for a missing category in a column of texts; elsewhere NaN does.
    probabilities : bool, optional
        Whether the shares of the classes are an output; by default up to ten million of them in all.

    Returns
    -------
    bytes
        A model with the outputs `label` and `probabilities`, or `value` for numbers; with several targets
        `label_0`, `probabilities_0`, … or `value` of shape (rows, targets).

    Examples
    --------
    >>> from treewright import encode, export, grow
    >>> tree = grow(encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"]))
    >>> import onnxruntime
    >>> session = onnxruntime.InferenceSession(export(tree, "onnx"))
    >>> label, shares = session.run(None, {"X": np.array([[2.5], [9.0]])})
    >>> label.tolist(), shares.tolist()
    (['a', 'b'], [[1.0, 0.0], [0.0, 1.0]])
    """
    refuse_parts(tree, "onnx")
    onnx = optional_module("onnx", "to write ONNX models", "treewright[onnx]")
    layout = Layout(tree, inputs, missing)
    graph = Graph(onnx)
    matrix = Matrix(graph, tree, layout, layout.table(graph))
    leaf = _leaf_places(graph, tree, matrix)
    outputs = _answers(graph, tree, leaf, probabilities)
    model = onnx.helper.make_model(
        onnx.helper.make_graph(graph.nodes, "tree", layout.inputs(onnx), outputs, graph.tables),
        producer_name="treewright",
        opset_imports=[onnx.helper.make_opsetid(*each) for each in (("", OPSET), ("ai.onnx.ml", OPSET_ML))],
        ir_version=IR,
    )
    onnx.helper.set_model_props(model, {"treewright.columns": json.dumps(layout.description())})
    written: bytes = model.SerializeToString()
    return written


def answers(rendered: bytes, tree: Tree, table: Any, **options: Any) -> NDArray[Any]:
    """The predictions of a rendered model by onnxruntime for the rows of a table."""
    onnxruntime = optional_module("onnxruntime", "to run ONNX models", "treewright[onnx]")
    layout = Layout(tree, options.get("inputs"), options.get("missing", ""))
    session = onnxruntime.InferenceSession(rendered, providers=["CPUExecutionProvider"])
    targets = tree.schema.targets
    several = len(targets) > 1 and tree.schema.predicts_classes
    names = [f"label_{i}" for i in range(len(targets))] if several else ["label"]
    names = names if tree.schema.predicts_classes else ["value"]
    runs = [session.run(names, layout.feed(part)) for part in parts(encode_table(table, tree))]
    found = [np.concatenate(answers) for answers in zip(*runs, strict=True)]
    if not tree.schema.predicts_classes:
        return np.asarray(found[0])
    pairs = zip(found, targets, strict=True)
    return in_columns([labels.astype(as_array(target.classes or ()).dtype) for labels, target in pairs])


# ---- the leaf of a row -------------------------------------------------------------------------------------


def _leaf_places(graph: Graph, tree: Tree, matrix: Matrix) -> str:
    """The place of each row's leaf among the leaves, as int64."""
    if tree.n_leaves == 1:
        rows = graph.add("Shape", [matrix.table], end=1)
        return graph.add("ConstantOfShape", [rows], value=graph.tensor(np.zeros(1, np.int64)))
    cut = pieces(tree, TALLEST)
    exits = graph.add(
        "TreeEnsemble", [matrix.table], domain="ai.onnx.ml", **_ensemble(graph, tree, matrix, cut)
    )
    exits = graph.add("Cast", [exits], to=graph.onnx.TensorProto.INT64)
    leaf = graph.add("Gather", [exits, graph.ints([0])], axis=1)
    if cut.levels > 1:  # a piece may end at the root of another piece, which goes on
        n_leaves, zero, wide = graph.ints(tree.n_leaves), graph.ints(0), graph.ints([-1, 1])
        for _ in range(cut.levels - 1):
            piece = graph.add("Max", [graph.add("Sub", [leaf, n_leaves]), zero])
            further = graph.add("GatherElements", [exits, graph.add("Reshape", [piece, wide])], axis=1)
            leaf = graph.add("Where", [graph.add("Less", [leaf, n_leaves]), leaf, further])
    return graph.add("Reshape", [leaf, graph.ints([-1])])


def _ensemble(graph: Graph, tree: Tree, matrix: Matrix, cut: Pieces) -> dict[str, Any]:
    """The attributes of a TreeEnsemble: a tree for each piece, with a target of its own for where it ends.

    An end is the place of a leaf, or the number of leaves plus the number of the piece that follows.
    """
    inner = np.flatnonzero(~tree.is_leaf)
    number = np.full(tree.n_nodes, -1)  # of each branch among the branches, of each end among the ends
    number[inner] = np.arange(inner.size)
    ends = np.flatnonzero(tree.is_leaf | cut.is_root)[1 if cut.is_root[0] else 0 :]
    end_number = np.full(tree.n_nodes, -1)
    end_number[ends] = np.arange(ends.size)
    place = np.cumsum(tree.is_leaf) - 1
    exits = np.where(tree.is_leaf, place, tree.n_leaves + cut.piece)[ends]
    # a test lists the categories of the lighter side: unseen ones go to the heavier side
    flipped = (tree.subset >= 0) & tree.heavier_left & ~matrix.is_side
    children = {
        "true": np.where(flipped, tree.right, tree.left)[inner],
        "false": np.where(flipped, tree.left, tree.right)[inner],
    }
    modes, splits, members = _tests(tree, inner, matrix)
    tensor = graph.tensor
    attributes: dict[str, Any] = {
        "aggregate_function": 1,  # the sum, of one leaf
        "post_transform": 0,
        "n_targets": int(cut.piece.max()) + 1,
        "tree_roots": number[cut.is_root].tolist(),
        "nodes_featureids": matrix.column[inner].tolist(),
        "nodes_splits": tensor(splits, "splits"),
        "nodes_modes": tensor(modes, "modes"),
        "nodes_missing_value_tracks_true": (tree.missing_left != flipped)[inner].astype(int).tolist(),
        "leaf_targetids": cut.piece[tree.parent[ends]].tolist(),
        "leaf_weights": tensor(exits.astype(np.float64), "leaves"),
    }
    for side, child in children.items():
        is_end = end_number[child] >= 0
        attributes[f"nodes_{side}leafs"] = is_end.astype(int).tolist()
        attributes[f"nodes_{side}nodeids"] = np.where(is_end, end_number[child], number[child]).tolist()
    if members:
        attributes["membership_values"] = tensor(np.array(members, np.float64), "members")
    return attributes


def _tests(
    tree: Tree, inner: NDArray[np.intp], matrix: Matrix
) -> tuple[NDArray[np.uint8], NDArray[np.float64], list[float]]:
    """Modes, thresholds and, one list after the other with NaN between, the members of the tests."""
    splits, modes = matrix.threshold[inner], np.full(inner.size, LEQ, np.uint8)
    members: list[float] = []
    for place in np.flatnonzero((tree.subset >= 0)[inner] & ~matrix.is_side[inner]).tolist():
        node = int(inner[place])
        own = [code + 1.0 for code in next(questions(tree, node)).listed[1]]
        if own:
            modes[place], splits[place] = MEMBER, 0.0
            members += [*own, np.nan]
        else:  # no category goes there: a test that no code passes
            splits[place] = -np.inf
    return modes, splits, members


# ---- the answers -------------------------------------------------------------------------------------------


def _answers(graph: Graph, tree: Tree, leaf: str, probabilities: bool | None) -> list[Any]:
    """The outputs: the answers of the leaves, looked up by the place of each row's leaf."""
    schema, helper, kinds = tree.schema, graph.onnx.helper, graph.onnx.TensorProto
    leaves = np.flatnonzero(tree.is_leaf)
    several = len(schema.targets) > 1
    if not schema.predicts_classes:
        value = tree.value[leaves]
        graph.add("Gather", [graph.constant(value if several else value[:, 0]), leaf], "value", axis=0)
        shape = [None, len(schema.targets)] if several else [None]
        return [helper.make_tensor_value_info("value", kinds.DOUBLE, shape)]
    outputs = []
    if probabilities is None:
        probabilities = tree.n_leaves * schema.width <= MOST_SHARES
    shares = tree.shares(leaves) if probabilities else []
    for i, target in enumerate(schema.targets):
        end = f"_{i}" if several else ""
        labels = _label_array(target.classes or (), target.name)
        kind = kinds.STRING if labels.dtype == object else helper.np_dtype_to_tensor_dtype(labels.dtype)
        code = graph.add("Gather", [graph.constant(tree.label[leaves, i]), leaf], axis=0)
        graph.add("Gather", [graph.constant(labels), code], f"label{end}", axis=0)
        outputs.append(helper.make_tensor_value_info(f"label{end}", kind, [None]))
        if probabilities:
            graph.add("Gather", [graph.constant(shares[i]), leaf], f"probabilities{end}", axis=0)
            shape = [None, shares[i].shape[1]]
            outputs.append(helper.make_tensor_value_info(f"probabilities{end}", kinds.DOUBLE, shape))
    return outputs


def _label_array(classes: tuple[Hashable, ...], name: str) -> NDArray[Any]:
    """Classes as a table of a model: texts as objects, bools, int64 or float64."""
    if isinstance(classes[0], str):
        for label in classes:
            demand_utf8(str(label), f"a class of target {name!r}")
        return np.array(classes, object)
    array = np.array(classes)
    if array.dtype.kind not in "bif" or array.tolist() != list(classes):
        raise ValueError(
            f"the classes of target {name!r} are numbers that neither int64 nor float64 can hold"
        )
    return array.astype({"b": np.bool_, "i": np.int64, "f": np.float64}[array.dtype.kind])


# ---- inputs ------------------------------------------------------------------------------------------------


class Graph:
    """Nodes and tables, which refer to one another by names that no input has."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.tables: list[Any] = []

    def add(self, kind: str, inputs: Sequence[str], name: str | None = None, **attributes: Any) -> str:
        """A node; the name of what it makes."""
        name = name or f"treewright:{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def tensor(self, array: NDArray[Any], name: str = "") -> Any:
        """An array as the model holds it."""
        return self.onnx.numpy_helper.from_array(array, name)

    def ints(self, values: Any) -> str:
        """A constant of integers."""
        return self.constant(np.array(values, np.int64))

    def constant(self, array: NDArray[Any]) -> str:
        """A table that is part of the model."""
        name = f"treewright:table{len(self.tables)}"
        self.tables.append(self.tensor(array, name))
        return name


class Layout:
    """How the columns of a tree are passed to the model."""

    def __init__(self, tree: Tree, inputs: Inputs | None, missing: str) -> None:
        schema = tree.schema
        if inputs is None:
            has_categories = any(column.is_category for column in schema.columns)
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
        if column.is_category and self.is_matrix:
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
        info, kinds = onnx.helper.make_tensor_value_info, onnx.TensorProto
        if self.is_matrix:
            return [info("X", kinds.DOUBLE, [None, len(self.columns)])]
        types = [kinds.STRING if is_text(self.schema.columns[j]) else kinds.DOUBLE for j in self.columns]
        return [info(name, type, [None]) for name, type in zip(self.names, types, strict=True)]

    def table(self, graph: Graph) -> str:
        """The inputs as one matrix of doubles, categories as 1, 2, …; NaN where missing, 0 where unknown.

        Runtimes may take sets of whole numbers for bits, in which 2.5 is 2: so numbers are coded, too.
        """
        if self.is_matrix:
            return "X"
        wide = graph.ints([-1, 1])
        columns = []
        for name, j in zip(self.names, self.columns, strict=True):
            column = self.schema.columns[j]
            if column.is_category:
                keys, tensor = _keys(column, self.missing), graph.tensor
                codes = np.array([*range(1, len(keys)), np.nan])
                if not is_text(column):
                    name = graph.add("Add", [name, graph.constant(np.zeros(1))])  # -0.0 becomes 0.0
                pairs = {"keys_tensor": tensor(keys), "values_tensor": tensor(codes)}
                other = tensor(np.zeros(1))
                name = graph.add("LabelEncoder", [name], domain="ai.onnx.ml", **pairs, default_tensor=other)
            columns.append(graph.add("Reshape", [name, wide]))
        return graph.add("Concat", columns, axis=1)

    def feed(self, data: Dataset) -> dict[str, NDArray[Any]]:
        """The rows of an encoded table as the inputs of the model."""
        arrays = [_cells(data, j, self.missing) for j in self.columns]
        if self.is_matrix:
            return {"X": np.ascontiguousarray(np.stack(arrays, axis=1), np.float64)}
        return dict(zip(self.names, arrays, strict=True))

    def description(self) -> list[dict[str, str]]:
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


def _cells(data: Dataset, j: int, missing: str) -> NDArray[Any]:
    """One column as the model wants it: a category that the tree does not know as one that it cannot know."""
    column = data.schema.columns[j]
    values = data.column(j)
    if not column.is_category:
        return np.ascontiguousarray(values, np.float64)
    keys = _keys(column, missing)
    other = unknown_label([*keys.tolist(), "?"] if is_text(column) else column.categories or (0,))
    return np.insert(keys, len(keys) - 1, other)[values]  # code -1 is a missing value, -2 an unknown one


def _keys(column: Column, missing: str) -> NDArray[Any]:
    """The categories of a column as the model is given them, and last what stands for a missing one."""
    if is_text(column):
        return np.array([*column.categories, missing], object)
    return np.array([*column.categories, np.nan], np.float64) + 0.0


def _input_names(schema: Schema, columns: list[int]) -> list[str]:
    """The columns' own names; `column_3` where a model cannot have such a name or gives it to an output."""
    taken = {"value", "label", "probabilities"}
    taken |= {f"{word}_{i}" for word in ("label", "probabilities") for i in range(len(schema.targets))}
    own = {schema.columns[j].name for j in columns}
    names = []
    for j in columns:
        name = schema.columns[j].name
        is_odd = name.startswith("treewright:") or "\0" in name or _SURROGATE.search(name)
        if not name or name in taken or is_odd:
            name = f"column_{j}"
            while name in own:
                name += "_"
        names.append(name)
    return names


def demand_utf8(text: str, what: str) -> None:
    """ValueError about a text that no model can hold."""
    if _SURROGATE.search(text):
        raise ValueError(f"{what}, {text!r}, is no valid Unicode, so ONNX cannot hold it; rename it")


# ---- the matrix of the tests -------------------------------------------------------------------------------


class Matrix:
    """The matrix that the tests read: inputs, sums of columns, and a side for each branch with surrogates.

    The side, 0 for left and 1 for right, is computed before the ensemble, and the test of the branch reads
    it. All branches are computed at once, one rank of surrogates after the other.
    """

    def __init__(self, graph: Graph, tree: Tree, layout: Layout, table: str) -> None:
        self.graph, self.tree, self.table = graph, tree, table
        self.width = len(layout.columns)
        self.place = dict(layout.place)  # of each feature in the matrix
        self.threshold = tree.threshold.copy()
        self._add_sums(Code(tree))
        nodes = [node for node in np.unique(tree.surrogates.node).tolist() if has_surrogates(tree, node)]
        self.column = np.array([self.place.get(j, -1) for j in tree.feature.tolist()])
        self.is_side = np.zeros(tree.n_nodes, np.bool_)  # whether the test of a branch reads a side
        if nodes:
            self._add_sides(nodes)

    def _append(self, columns: str, count: int) -> None:
        self.table = self.graph.add("Concat", [self.table, columns], axis=1)
        self.width += count

    def _take(self, places: list[int]) -> str:
        return self.graph.add("Gather", [self.table, self.graph.ints(places)], axis=1)

    def _add_sums(self, code: Code) -> None:
        """Products in double precision, added up in their order."""
        graph, sums = self.graph, []
        for j in code.sums:
            parts = [
                graph.add("Mul", [self._take([self.place[c]]), graph.constant(np.array([[weight]]))])
                for c, weight in code.terms(j)
            ]
            total = parts[0]
            for part in parts[1:]:
                total = graph.add("Add", [total, part])
            sums.append(total)
            self.place[j] = self.width + len(sums) - 1
        if sums:
            self._append(sums[0] if len(sums) == 1 else graph.add("Concat", sums, axis=1), len(sums))

    def _add_sides(self, nodes: list[int]) -> None:
        graph = self.graph
        tests = [list(questions(self.tree, node)) for node in nodes]
        of_categories = [question for some in tests for question in some if question.is_category]
        places = self._add_categories(of_categories) if of_categories else {}
        side = graph.constant(np.where(self.tree.missing_left[nodes], 0.0, 1.0)[np.newaxis])
        for rank in range(max(map(len, tests)) - 1, -1, -1):
            some = [each[rank] if rank < len(each) else None for each in tests]
            value = self._take([self._place_of(question, places) for question in some])
            bound = [0.5 if q is None or q.is_category else q.threshold for q in some]
            left = graph.add("LessOrEqual", [value, graph.constant(np.array([bound]))])
            is_left = np.array([[q is None or q.is_category or not q.reversed for q in some]])
            right = graph.add("Xor", [left, graph.constant(is_left)])
            known = graph.add("Cast", [right], to=graph.onnx.TensorProto.DOUBLE)
            is_missing = graph.add("IsNaN", [value])
            absent = graph.constant(np.array([[q is None for q in some]]))
            side = graph.add("Where", [graph.add("Or", [is_missing, absent]), side, known])
        self.column[nodes] = self.width + np.arange(len(nodes))
        self.threshold[nodes] = 0.5
        self.is_side[nodes] = True
        self._append(side, len(nodes))

    def _place_of(self, question: Question | None, places: dict[Question, int]) -> int:
        if question is None:
            return 0
        return places[question] if question.is_category else self.place[question.feature]

    def _add_categories(self, of_categories: list[Question]) -> dict[Question, int]:
        """A column for each test of categories: 0 left, 1 right, NaN where the next surrogate decides."""
        graph, counts = self.graph, self.tree.schema.category_counts
        tests = list(dict.fromkeys(of_categories))
        sizes = np.array([counts[question.feature] for question in tests])
        tables = [_sides_by_code(question) for question in tests]
        starts = np.cumsum([0, *map(len, tables)])[:-1]
        codes = self._take([self.place[question.feature] for question in tests])
        missing = graph.constant((sizes + 1.0)[np.newaxis])
        codes = graph.add("Where", [graph.add("IsNaN", [codes]), missing, codes])
        cells = graph.add("Cast", [codes], to=graph.onnx.TensorProto.INT64)
        cells = graph.add("Add", [cells, graph.ints(starts[np.newaxis])])
        first = self.width
        self._append(graph.add("Gather", [graph.constant(np.concatenate(tables)), cells], axis=0), len(tests))
        return {question: first + i for i, question in enumerate(tests)}


def _sides_by_code(question: Question) -> NDArray[np.float64]:
    """Where each category goes: first one that was never seen, last a missing one."""
    sides = np.full(2 + len(question.left) + len(question.right), np.nan)
    sides[1 + np.array(question.left, np.int64)] = 0.0
    sides[1 + np.array(question.right, np.int64)] = 1.0
    if question.unseen_left is not None:
        sides[0] = 0.0 if question.unseen_left else 1.0
    return sides
