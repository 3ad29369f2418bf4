"""A tree as an ONNX model in float64: a TreeEnsemble finds the leaf, and tables hold what it answers."""

from __future__ import annotations

import json
from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.exporting.onnx_inputs import Graph, Inputs, Layout, Made, demand_utf8
from treewright.exporting.pieces import Pieces, pieces
from treewright.exporting.probing import encoded, parts
from treewright.exporting.questions import refuse_parts
from treewright.tree.tree import Tree, as_array

TALLEST = 500  # levels of one tree of the ensemble: runtimes read it by calling themselves once per level
MOST_SHARES = 10_000_000  # numbers in the table of the classes' shares; a larger one is left out
OPSET, OPSET_ML, IR = 18, 5, 10
LEQ, MEMBER = 0, 6  # nodes_modes


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
    onnx = _onnx()
    layout = Layout(tree, inputs, missing)
    graph = Graph(onnx)
    made = Made(graph, tree, layout, layout.table(graph))
    leaf = _found_leaf(graph, tree, made)
    outputs = _answers(graph, tree, leaf, probabilities)
    model = onnx.helper.make_model(
        onnx.helper.make_graph(graph.nodes, "tree", layout.inputs(onnx), outputs, graph.tables),
        producer_name="treewright",
        opset_imports=[
            onnx.helper.make_opsetid("", OPSET),
            onnx.helper.make_opsetid("ai.onnx.ml", OPSET_ML),
        ],
        ir_version=IR,
    )
    onnx.helper.set_model_props(model, {"treewright.columns": json.dumps(layout.described())})
    written: bytes = model.SerializeToString()
    return written


def answers(
    rendered: bytes,
    tree: Tree,
    table: Any,
    *,
    inputs: Inputs | None = None,
    missing: str = "",
    probabilities: bool | None = None,
) -> NDArray[Any]:
    """What onnxruntime answers to the rows of a table by a rendered model."""
    try:
        import onnxruntime
    except ImportError:
        raise ImportError("to run ONNX models needs onnxruntime: pip install 'treewright[onnx]'") from None
    layout = Layout(tree, inputs, missing)
    session = onnxruntime.InferenceSession(rendered, providers=["CPUExecutionProvider"])
    targets = tree.schema.targets
    if not tree.schema.predicts_classes:
        wanted = ["value"]
    else:
        wanted = ["label"] if len(targets) == 1 else [f"label_{i}" for i in range(len(targets))]
    runs = [session.run(wanted, layout.fed(part)) for part in parts(encoded(table, tree))]
    found = [np.concatenate(answers) for answers in zip(*runs, strict=True)]
    if not tree.schema.predicts_classes:
        return np.asarray(found[0])
    labels = [
        np.asarray(label).astype(as_array(target.classes or ()).dtype)
        for label, target in zip(found, targets, strict=True)
    ]
    return labels[0] if len(labels) == 1 else np.stack(labels, axis=1)


def _onnx() -> Any:
    try:
        import onnx
    except ImportError:
        raise ImportError("to write ONNX models needs onnx: pip install 'treewright[onnx]'") from None
    return onnx


# ---- the way down ------------------------------------------------------------------------------------------


def _found_leaf(graph: Graph, tree: Tree, made: Made) -> str:
    """The place of each row's leaf among the leaves, as int64."""
    cut = pieces(tree, TALLEST)
    exits = graph.add("TreeEnsemble", [made.table], domain="ai.onnx.ml", **_ensemble(graph, tree, made, cut))
    exits = graph.add("Cast", [exits], to=graph.onnx.TensorProto.INT64)
    flat = graph.constant(np.array([-1], np.int64))
    leaf = graph.add("Gather", [exits, graph.constant(np.array([0], np.int64))], axis=1)
    if cut.levels > 1:  # where a piece ends at another piece, that one says how it goes on
        n_leaves = graph.constant(np.array(tree.n_leaves, np.int64))
        zero, wide = graph.constant(np.array(0, np.int64)), graph.constant(np.array([-1, 1], np.int64))
        for _ in range(cut.levels - 1):
            piece = graph.add("Max", [graph.add("Sub", [leaf, n_leaves]), zero])
            further = graph.add("GatherElements", [exits, graph.add("Reshape", [piece, wide])], axis=1)
            leaf = graph.add("Where", [graph.add("Less", [leaf, n_leaves]), leaf, further])
    return graph.add("Reshape", [leaf, flat])


def _ensemble(graph: Graph, tree: Tree, made: Made, cut: Pieces) -> dict[str, Any]:
    """The attributes of a TreeEnsemble: a tree for each piece, which tells where it ends in its own target.

    An end is the place of a leaf, or the number of leaves plus the number of the piece that follows.
    """
    inner = np.flatnonzero(~tree.is_leaf)
    if not inner.size:
        return _single_leaf(graph)
    number = np.full(tree.n_nodes, -1)  # of each branch among the branches, of each end among the ends
    number[inner] = np.arange(inner.size)
    ends = np.flatnonzero(tree.is_leaf | cut.is_root)[1 if cut.is_root[0] else 0 :]
    end_number = np.full(tree.n_nodes, -1)
    end_number[ends] = np.arange(ends.size)
    place = np.cumsum(tree.is_leaf) - 1
    told = np.where(tree.is_leaf, place, tree.n_leaves + cut.piece)[ends]
    # a test of categories lists those of the lighter side: what it does not know goes to the heavier one
    flipped = (tree.subset >= 0) & tree.heavier_left & ~made.is_made
    children = {
        "true": np.where(flipped, tree.right, tree.left)[inner],
        "false": np.where(flipped, tree.left, tree.right)[inner],
    }
    modes, splits, members = _tests(tree, inner, flipped, made)
    tensor = graph.onnx.numpy_helper.from_array
    attributes: dict[str, Any] = {
        "aggregate_function": 1,  # the sum, of one leaf
        "post_transform": 0,
        "n_targets": int(cut.piece.max()) + 1,
        "tree_roots": number[cut.is_root].tolist(),
        "nodes_featureids": made.column[inner].tolist(),
        "nodes_splits": tensor(splits, "splits"),
        "nodes_modes": tensor(modes, "modes"),
        "nodes_missing_value_tracks_true": (tree.missing_left != flipped)[inner].astype(int).tolist(),
        "leaf_targetids": cut.piece[tree.parent[ends]].tolist(),
        "leaf_weights": tensor(told.astype(np.float64), "leaves"),
    }
    for side, child in children.items():
        is_end = end_number[child] >= 0
        attributes[f"nodes_{side}leafs"] = is_end.astype(int).tolist()
        attributes[f"nodes_{side}nodeids"] = np.where(is_end, end_number[child], number[child]).tolist()
    if members:
        attributes["membership_values"] = tensor(np.array(members, np.float64), "members")
    return attributes


def _tests(
    tree: Tree, inner: NDArray[np.intp], flipped: NDArray[np.bool_], made: Made
) -> tuple[NDArray[np.uint8], NDArray[np.float64], list[float]]:
    """Modes, thresholds and, one list after the other with NaN between, the members of the tests."""
    splits, modes = made.threshold[inner], np.full(inner.size, LEQ, np.uint8)
    members: list[float] = []
    for place in np.flatnonzero((tree.subset >= 0)[inner] & ~made.is_made[inner]).tolist():
        node = int(inner[place])
        column = tree.schema.columns[tree.feature[node]]
        lefts = frozenset(tree.categories_left(node))
        own = [
            code + 1.0
            for code, category in enumerate(column.categories)
            if (category in lefts) != flipped[node]
        ]
        if own:
            modes[place], splits[place] = MEMBER, 0.0
            members += [*own, np.nan]
        else:  # no category goes there: a test that no code passes
            splits[place] = -np.inf
    return modes, splits, members


def _single_leaf(graph: Graph) -> dict[str, Any]:
    """A tree of one leaf: a test whose both sides are that leaf."""
    tensor = graph.onnx.numpy_helper.from_array
    return {
        "aggregate_function": 1,
        "post_transform": 0,
        "n_targets": 1,
        "tree_roots": [0],
        "nodes_featureids": [0],
        "nodes_splits": tensor(np.zeros(1), "splits"),
        "nodes_modes": tensor(np.zeros(1, np.uint8), "modes"),
        "nodes_missing_value_tracks_true": [0],
        "nodes_truenodeids": [0],
        "nodes_trueleafs": [1],
        "nodes_falsenodeids": [0],
        "nodes_falseleafs": [1],
        "leaf_targetids": [0],
        "leaf_weights": tensor(np.zeros(1), "leaves"),
    }


# ---- the answers -------------------------------------------------------------------------------------------


def _answers(graph: Graph, tree: Tree, leaf: str, probabilities: bool | None) -> list[Any]:
    """The outputs: what the leaves say, looked up by the place of each row's leaf."""
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
