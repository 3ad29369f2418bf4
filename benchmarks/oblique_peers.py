"""One library's trees of sums on one table: a script of its own, for any Python that has the library.

    python oblique_peers.py LIBRARY TABLE.npz     prints accuracy, leaves and CPU seconds as JSON

The depth of each tree is chosen by validation rows, alike for all; the time is that of a tree to purity.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from treewright.parameters import Oblique

DEPTHS = (1, 2, 3, 4, 6, 8, 12, None)
SPLITS = 4
RUNS = 2  # of a tree to purity, the least of which counts

Predict = Callable[[Any], Any]
Grow = Callable[[int | None], tuple[Predict, int]]  # (what answers rows, how many leaves)


def treewright_axis(rows: Any, classes: Any) -> Grow:
    """One column at a time."""
    return _treewright(rows, classes, split="axis")


def treewright_oblique(rows: Any, classes: Any) -> Grow:
    """Sums of two columns."""
    return _treewright(rows, classes, split="oblique")


def treewright_oblique_3(rows: Any, classes: Any) -> Grow:
    """Sums of up to three columns."""
    return _treewright(rows, classes, split=Oblique(3))


def _treewright(rows: Any, classes: Any, **how: Any) -> Grow:
    from treewright import encode, grow

    def grown(depth: int | None) -> tuple[Predict, int]:
        tree = grow(encode(rows, classes), max_depth=depth, **how)
        return tree.predict, tree.n_leaves

    return grown


def treeple(rows: Any, classes: Any) -> Grow:
    """Sparse projections of weights ±1."""
    from treeple.tree import ObliqueDecisionTreeClassifier

    def grown(depth: int | None) -> tuple[Predict, int]:
        model = ObliqueDecisionTreeClassifier(max_depth=depth, random_state=0).fit(rows, classes)
        return model.predict, int(model.get_n_leaves())

    return grown


def ydf(rows: Any, classes: Any) -> Grow:
    """CART with sparse projections, without its own pruning."""
    import ydf as library

    library.verbose(0)
    names = [f"x{j}" for j in range(rows.shape[1])]
    table = library.create_vertical_dataset(
        {**dict(zip(names, rows.T, strict=True)), "y": classes},
        columns=[("y", library.Semantic.CATEGORICAL)],
        include_all_columns=True,
    )
    told = np.unique(classes)

    def grown(depth: int | None) -> tuple[Predict, int]:
        learner = library.CartLearner(
            label="y",
            split_axis="SPARSE_OBLIQUE",
            max_depth=-1 if depth is None else depth + 1,  # its root stands at depth 1
            min_examples=1,
            validation_ratio=0.0,
            num_threads=1,
            random_seed=0,
        )
        model = learner.train(table)
        labels = np.array(model.label_classes()).astype(told.dtype)

        def predict(others: Any) -> Any:
            shares = model.predict(dict(zip(names, others.T, strict=True)))
            if shares.ndim == 1:
                return labels[(shares > 0.5).astype(int)]
            return labels[shares.argmax(axis=1)]

        return predict, _leaves(model.get_tree(0).root)

    return grown


def _leaves(root: Any) -> int:
    count, waiting = 0, [root]
    while waiting:
        node = waiting.pop()
        children = [getattr(node, side, None) for side in ("pos_child", "neg_child")]
        children = [child for child in children if child is not None]
        waiting += children
        count += not children
    return count


LIBRARIES = {
    "treewright, one column": treewright_axis,
    "treewright, sums of 2": treewright_oblique,
    "treewright, sums of 3": treewright_oblique_3,
    "treeple": treeple,
    "ydf": ydf,
}


def measured(library: str, path: str) -> dict[str, float]:
    """Means over the splits of the table: a quarter tests, a quarter of the rest chooses the depth."""
    table = np.load(path)
    rows, classes = table["rows"], table["classes"]
    found = []
    for seed in range(SPLITS):
        order = np.random.default_rng(seed).permutation(len(classes))
        test, rest = np.split(order, [len(order) // 4])
        judge, learn = np.split(rest, [len(rest) // 4])
        grow = LIBRARIES[library](rows[learn], classes[learn])
        trees = [grow(depth) for depth in DEPTHS]
        rights = [float((predict(rows[judge]) == classes[judge]).mean()) for predict, _ in trees]
        predict, leaves = trees[int(np.argmax(rights))]
        right = float((predict(rows[test]) == classes[test]).mean())
        found.append((right, leaves, min(_seconds(lambda grow=grow: grow(None)) for _ in range(RUNS))))
    return dict(zip(("accuracy", "leaves", "cpu"), np.mean(found, axis=0).tolist(), strict=True))


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    print(json.dumps(measured(*sys.argv[1:])))
