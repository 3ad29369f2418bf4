"""A tree as a Treelite model, in float64: for GTIL, TL2cgen and whatever reads Treelite's checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright.encoding import Dataset
from treewright.exporting._check.probes import encode_table, parts
from treewright.exporting._split_tests import Question, questions, refuse_parts, refuse_sums
from treewright.exporting._tree import in_columns, optional_module
from treewright.tree.tree import Tree, as_array

SUFFIXES = (".tl",)
Output = Literal["shares", "code"]

MOST_SHARES = 10_000_000  # numbers in all leaves together; beyond, leaves hold the code of their answer


def render(tree: Tree, *, output: Output | None = None) -> bytes:
    """The tree as the bytes of a Treelite checkpoint (`treelite.Model.deserialize_bytes` reads them).

    Its input is a matrix of float64 with the tree's columns in order: numbers; times as microseconds since
    1970; categories by their code, their place among the categories of the column, and the number of
    categories for one that is not among them. NaN is missing everywhere.

    Parameters
    ----------
    tree : Tree
        The tree.
    output : {"shares", "code"}, optional
        What leaves of classes hold: the share of each class, of which the largest (the first of them) is the
        answer; or the place of the answer among the classes. By default the shares, unless another class
        than the heaviest answers somewhere, as costs may have it, or there would be more than ten million.

    Returns
    -------
    bytes
        The checkpoint.

    Examples
    --------
    >>> import treelite
    >>> from treewright import encode, export, grow
    >>> tree = grow(encode({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"]))
    >>> model = treelite.Model.deserialize_bytes(export(tree, "treelite"))
    >>> treelite.gtil.predict(model, np.array([[2.5], [9.0]])).tolist()
    [[[1.0, 0.0]], [[0.0, 1.0]]]
    """
    refuse_parts(tree, "treelite")
    refuse_sums(tree, "treelite", "export it as onnx, pmml, sql or code")
    treelite = _treelite()
    leaf_values, n_classes = _leaves(tree, _output(tree, output))
    builder = _builder(treelite.model_builder, tree, n_classes)
    builder.start_tree()
    if len(tree.surrogates):
        _write_out(builder, tree, leaf_values)
    else:
        _write(builder, tree, leaf_values)
    builder.end_tree()
    written: bytes = builder.commit().serialize_bytes()
    return written


def _write(builder: Any, tree: Tree, leaf_values: list[Any]) -> None:
    arrays = tree.left, tree.right, tree.feature, tree.threshold, tree.missing_left, tree.subset >= 0
    nodes = zip(*(array.tolist() for array in arrays), strict=True)
    place = 0
    for node, (left, right, feature, threshold, missing_left, is_category) in enumerate(nodes):
        builder.start_node(node)
        children = {"default_left": missing_left, "left_child_key": left, "right_child_key": right}
        if feature < 0:
            builder.leaf(leaf_values[place])
            place += 1
        elif is_category:
            builder.categorical_test(feature, **_member_list(next(questions(tree, node))), **children)
        else:
            builder.numerical_test(feature, threshold, opname="<=", **children)
        builder.end_node()


def _write_out(builder: Any, tree: Tree, leaf_values: list[Any]) -> None:
    """A tree with surrogates, which Treelite does not know, as one of plain tests."""
    steps = surrogates_as_tests(tree)
    if steps is None:
        raise ValueError(
            f"treelite knows no surrogates, and written out as plain tests this tree would have more than "
            f"{MOST_NODES:,} nodes: prune it, or export it as onnx, pmml, sql or code"
        )
    for place, step in enumerate(steps):
        builder.start_node(place)
        children = {"left_child_key": step.left, "right_child_key": step.right}
        children["default_left"] = step.missing_left
        question = step.question
        if question is None:
            builder.leaf(leaf_values[step.leaf])
        elif question.is_category:
            builder.categorical_test(question.feature, **_step_members(step, question), **children)
        else:
            bound = np.inf if step.is_known_test else question.threshold
            if question.reversed and not step.is_known_test:
                children["left_child_key"], children["right_child_key"] = step.right, step.left
                children["default_left"] = not step.missing_left
            builder.numerical_test(question.feature, bound, opname="<=", **children)
        builder.end_node()


def _member_list(question: Question) -> dict[str, Any]:
    """The categories that a test lists, and whether these go right."""
    within, codes = question.listed
    return {"category_list": list(codes), "category_list_right_child": not within}


def _step_members(step: Step, question: Question) -> dict[str, Any]:
    if not step.is_known_test:
        return _member_list(question)
    codes = [] if question.unseen_left is not None else [*question.left, *question.right]
    return {"category_list": codes, "category_list_right_child": not codes}


def answers(rendered: bytes, tree: Tree, table: Any, *, output: Output | None = None) -> NDArray[Any]:
    """The predictions of a rendered model by Treelite for the rows of a table."""
    treelite = _treelite()
    model = treelite.Model.deserialize_bytes(rendered)
    outputs = np.concatenate(
        [treelite.gtil.predict(model, _matrix(part), nthread=1) for part in parts(encode_table(table, tree))]
    )
    if not tree.schema.predicts_classes:
        return in_columns(list(outputs[:, :, 0].T))
    columns, is_code = [], _output(tree, output) == "code"
    for own, target in zip(outputs.swapaxes(0, 1), tree.schema.targets, strict=True):
        classes = as_array(target.classes or ())
        codes = own[:, 0].astype(np.int64) if is_code else own[:, : len(classes)].argmax(axis=1)
        columns.append(classes[codes])
    return in_columns(columns)


def _treelite() -> Any:
    return optional_module("treelite", "Treelite's format", "treewright[treelite]")


def _output(tree: Tree, output: Output | None) -> Output:
    """What the leaves of classes hold."""
    if output not in (None, "shares", "code"):
        raise ValueError(f"output is {output!r}; it must be 'shares' or 'code'")
    if not tree.schema.predicts_classes:
        return "shares"
    if output == "code" or (output is None and tree.n_leaves * tree.schema.width > MOST_SHARES):
        return "code"
    leaves = np.flatnonzero(tree.is_leaf)
    heaviest = np.stack([shares.argmax(axis=1) for shares in tree.shares(leaves)], axis=1)
    if (heaviest == tree.label[leaves]).all():
        return "shares"
    if output == "shares":
        raise ValueError(
            "output is 'shares', but a leaf of this tree does not answer the class of its largest share: "
            "use output='code'"
        )
    return "code"


def _leaves(tree: Tree, output: Output) -> tuple[list[Any], list[int]]:
    """What each leaf holds, and the number of classes of each target (1 for numbers and codes)."""
    leaves, schema = np.flatnonzero(tree.is_leaf), tree.schema
    n_targets = len(schema.targets)
    if not schema.predicts_classes or output == "code":
        values = tree.label[leaves].astype(np.float64) if schema.predicts_classes else tree.value[leaves]
        return (values[:, 0] if n_targets == 1 else values).tolist(), [1] * n_targets
    widths = list(schema.block_widths)
    vectors = np.zeros((len(leaves), n_targets, max(widths)))
    for i, shares in enumerate(tree.shares(leaves)):
        vectors[:, i, : widths[i]] = shares
    flat = vectors.reshape(len(leaves), -1)
    return (flat if flat.shape[1] > 1 else flat[:, 0]).tolist(), widths


def _builder(builders: Any, tree: Tree, n_classes: list[int]) -> Any:
    """An empty model of one tree that answers for all targets and classes."""
    widest, n_targets = max(n_classes), len(n_classes)
    return builders.ModelBuilder(
        threshold_type="float64",
        leaf_output_type="float64",
        metadata=builders.Metadata(
            num_feature=len(tree.schema.columns),
            task_type="kRegressor" if widest == 1 else "kMultiClf",
            average_tree_output=False,
            num_target=n_targets,
            num_class=n_classes,
            leaf_vector_shape=(n_targets, widest),
        ),
        tree_annotation=builders.TreeAnnotation(
            num_tree=1,
            target_id=[0 if n_targets == 1 else -1],
            class_id=[0 if widest == 1 else -1],
        ),
        postprocessor=builders.PostProcessorFunc(name="identity" if widest == 1 else "identity_multiclass"),
        base_scores=[0.0] * (n_targets * widest),
    )


def _matrix(data: Dataset) -> NDArray[np.float64]:
    """An encoded table as the model wants it."""
    if isinstance(data.columns, np.ndarray):
        return np.ascontiguousarray(data.columns, np.float64)
    columns = []
    for values, column in zip(data.columns, data.schema.columns, strict=True):
        if column.is_category:  # code -1 is a missing value, -2 an unknown one
            codes = np.arange(len(column.categories) + 2, dtype=np.float64)
            codes[-1] = np.nan
            values = codes[values]
        columns.append(np.asarray(values, np.float64))
    return np.stack(columns, axis=1)


# ---- surrogates as plain tests -----------------------------------------------------------------------------

MOST_NODES = 200_000

# What is known of a column on the way to a node: that it has a value; a value that training saw; none; none
# that training saw.
Known = Literal["some", "seen", "none", "odd"]


@dataclass
class Step:
    """A node of the tree of plain tests; a leaf has no question, but its place in the original tree."""

    leaf: int = -1
    question: Question | None = None
    is_known_test: bool = False  # left if so; of a surrogate's category: if it is one that was seen
    missing_left: bool = False
    left: int = -1
    right: int = -1


class _Task(NamedTuple):
    """A node still to be written, from one of its questions on, and its parent."""

    node: int
    rank: int
    state: dict[int, Known]
    parent: int
    is_left: bool


def surrogates_as_tests(tree: Tree, most: int = MOST_NODES) -> list[Step] | None:
    """The nodes in preorder of the same tree without surrogates; None for more than `most`.

    What the path to a node implies about a column is not tested again there, and surrogates that cannot
    matter are left out; so a tree with surrogates in a few columns stays small.

    >>> from treewright import encode, grow
    >>> tree = grow(encode({"x": [1.0, 2.0, 3.0]}, ["a", "a", "b"]))
    >>> [(step.leaf, step.left, step.right) for step in surrogates_as_tests(tree)]
    [(-1, 1, 2), (0, -1, -1), (1, -1, -1)]
    """
    steps: list[Step] = []
    leaf_place = (tree.is_leaf.cumsum() - 1).tolist()
    by_node = {node: list(questions(tree, node)) for node in np.flatnonzero(~tree.is_leaf).tolist()}
    tasks = [_Task(0, 0, {}, -1, False)]
    while tasks:
        node, rank, state, parent, is_left = tasks.pop()
        if len(steps) == most:
            return None
        if parent >= 0:
            setattr(steps[parent], "left" if is_left else "right", len(steps))
        node, rank, question = _next(tree, by_node, node, rank, state)
        here = len(steps)
        if question is None:
            steps.append(Step(leaf=leaf_place[node]))
            continue
        left, right, j = node + 1, int(tree.right[node]), question.feature
        if len(by_node[node]) == 1:
            goes_left = bool(tree.missing_left[node])
            steps.append(Step(question=question, missing_left=goes_left))
            known: dict[int, Known] = {**state, j: state.get(j, "some")}
            tasks.append(_Task(right, 0, known if goes_left else state, here, False))
            tasks.append(_Task(left, 0, state if goes_left else known, here, True))
        elif _is_sure(question, state.get(j)):
            steps.append(Step(question=question))
            tasks += [_Task(right, 0, state, here, False), _Task(left, 0, state, here, True)]
        else:
            steps.append(Step(question=question, is_known_test=True))
            as_seen = question.is_category and question.unseen_left is None
            tasks.append(_Task(node, rank + 1, {**state, j: "odd" if as_seen else "none"}, here, False))
            tasks.append(_Task(node, rank, {**state, j: "seen" if as_seen else "some"}, here, True))
    return steps


def _next(
    tree: Tree, by_node: dict[int, list[Question]], node: int, rank: int, state: dict[int, Known]
) -> tuple[int, int, Question | None]:
    """The first question from there on that the path does not answer; None where it comes to a leaf."""
    while node in by_node:
        if len(by_node[node]) == 1:
            return node, 0, by_node[node][0]
        for place in range(rank, len(by_node[node])):
            question = by_node[node][place]
            known = state.get(question.feature)
            hopeless = known == "none" or (known == "odd" and question.unseen_left is None)
            if not hopeless:
                return node, place, question
        node, rank = (node + 1 if tree.missing_left[node] else int(tree.right[node])), 0
    return node, 0, None


def _is_sure(question: Question, known: Known | None) -> bool:
    """Whether the value that a question needs is there for certain."""
    if question.is_category and question.unseen_left is None:
        return known == "seen"
    return known in ("some", "seen")
