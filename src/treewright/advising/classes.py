"""The classes of a target: two spellings of one, imbalance, too few rows to learn from."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from treewright._arrays import Array
from treewright._text import count, percent
from treewright.advice import Advice
from treewright.advising.naming import class_name, cost_option, listing, number_words
from treewright.advising.spellings import class_spellings
from treewright.encoding import Dataset
from treewright.metrics import class_weights

RARER_OF_TWO = 0.1
RARE_OF_MANY = 0.01
RARE_BESIDE_EVEN = 0.2  # of the share that each of very many equal classes has
LARGE_ERROR = 0.5  # of the majority class; nobody accepts a larger one
FEWEST_ROWS = 10  # of a class that can be learnt
LEAST_ROWS = 50  # of a table in which classes can be called rare


def class_advice(data: Dataset) -> list[Advice]:
    """What is worth knowing about the classes of a target; nothing if it is numeric."""
    target = data.schema.targets[0]
    if data.targets is None or not target.classes or data.n_counted < LEAST_ROWS:
        return []
    codes = data.target_array[0][data.counted]
    rows = np.bincount(codes[codes >= 0], minlength=len(target.classes))
    return [*class_spellings(data), *_too_few(target.classes, rows), *_imbalance(data, rows)]


def _too_few(labels: Sequence[Hashable], rows: Array) -> list[Advice]:
    """Classes with hardly any rows."""
    few = {str(labels[code]): count(int(n), "row") for code, n in enumerate(rows) if 0 < n < FEWEST_ROWS}
    if not few:
        return []
    remedy = "collect more rows, merge the class with a similar one, or leave its rows out"
    predicate = f"[has|have] fewer than {FEWEST_ROWS} rows, too few to learn [it|them] from"
    text = f"{listing(few, 'class')} {number_words(predicate, len(few))}"
    return [Advice("rare_class", text, remedy, f"{remedy} of the table")]


def _imbalance(data: Dataset, rows: Array) -> list[Advice]:
    """Classes so rare that a tree can ignore them at little cost; of several, only those with enough rows."""
    labels, weights = data.schema.targets[0].classes or (), class_weights(data)
    shares = weights / max(float(weights.sum()), 1e-300)
    present = np.flatnonzero(shares > 0)
    if len(present) < 2:
        return []
    most, limit = int(np.argmax(shares)), RARER_OF_TWO
    if len(present) > 2:
        limit = min(RARE_OF_MANY, RARE_BESIDE_EVEN / len(present))
    by_share = present[np.argsort(shares[present], kind="stable")].tolist()
    can_be_learnt = rows >= (0 if len(present) == 2 else FEWEST_ROWS)
    rare = [code for code in by_share if shares[code] < limit and can_be_learnt[code]]
    if not rare:
        return []
    code = rare[0]
    others = f" (and {count(len(rare) - 1, 'more class')} nearly as rare)" if len(rare) > 1 else ""
    share = percent(float(shares[code]))
    ratio = max(float(shares[most] / shares[code]), 2.0)
    wrong = 1 - float(shares[most])
    always = f"and always answering {class_name(labels[most])} is wrong for only {percent(wrong)}"
    if wrong > LARGE_ERROR:
        always = "and the error hardly shows whether it is found"
    return [
        Advice(
            "imbalance",
            f"class {class_name(labels[code])} is {share} of the rows{others}, {always}: "
            "judge by recall, precision, balanced accuracy or AUC instead of the error",
            'class_weight="balanced" or costs make rare classes count more',
            f"{cost_option(labels[code], labels[most], ratio)} makes a missed {class_name(labels[code])} "
            f"cost {ratio:.0f} times as much as the opposite mistake",
        )
    ]
