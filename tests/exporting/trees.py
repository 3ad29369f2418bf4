"""Trees on which an export can go wrong: every kind of column, names that attack, chains, many nodes."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright import Among, Below, Branch, Column, Leaf, Schema, Target, Tree, encode, grow

HOSTILE = [
    'it\'s "quoted"',
    "two\nlines\r\n",
    "back\\slash\\",
    "*/ end /* begin",
    "${alert(1)} `tick`",
    "what??/ ??) trigraph",
    "naïve 東京 🌲",
    "class",
    "if",
    "__proto__",
    "constructor",
    "'; DROP TABLE t; --",
    "</script><script>alert(1)</script>",
    "<!-- comment",
    '"""',
    "'''",
    "% s %s %(x)s :name ?",
    "\u2028\u2029\x85",
    "a b",
    "a_b",
    "a-b",
    "1st",
    "",
    " ",
    "NULL",
    "nan",
    "row",
    "leaf",
    "x" * 10_000,
    "\x1b[31mred\x7f\t",
    "[bracket]",
    "a.b",
    "\\n not a newline \\u0041 \\x41 \\101",
]


def mixed_table(n: int = 1500, seed: int = 0) -> dict[str, Any]:
    """Columns of every kind, with missing values."""
    random = np.random.default_rng(seed)
    number = random.normal(size=n).round(2)
    number[::7] = np.nan
    infinite = random.choice([0.1, -0.0, 1e300, np.inf, -np.inf, 5e-324, 0.30000000000000004], n)
    when = np.array(random.integers(-(2**50), 2**50, n), "M8[us]")
    when[::11] = np.datetime64("NaT")
    return {
        "number": number,
        "infinite": infinite,
        "single": random.normal(size=n).astype(np.float32),
        "text": random.choice(np.array(["cook", "Cook", "clerk ", "clerk", None], object), n).tolist(),
        "code": random.choice(np.array([7, 8, 2**40, -1, None], object), n).tolist(),
        "flag": random.choice(np.array([True, False, None], object), n).tolist(),
        "ratio": random.choice([0.5, 1.0, 2.5], n),
        "when": when,
    }


@cache
def mixed_data(target: str, n: int = 1500, seed: int = 0) -> Any:
    """A data set of such a table with labels of a type, or numbers."""
    table = mixed_table(n, seed)
    random = np.random.default_rng(seed + 1)
    score = np.nan_to_num(table["number"]) + np.array([value in ("cook", "Cook") for value in table["text"]])
    score = score + np.array([value in (7, -1) for value in table["code"]]) * (table["ratio"] > 1)
    score = score + np.isnat(table["when"]) - np.array([value is True for value in table["flag"]])
    score = score + (table["infinite"] > 1) + random.normal(scale=0.3, size=n)
    grade = np.digitize(score, [0.0, 1.0, 2.0])
    labels: dict[str, Any] = {
        "texts": [["low", 'it\'s "mid"', "high\n", "東京"][g] for g in grade],
        "bools": grade > 1,
        "integers": np.array([-3, 0, 2**40, 7])[grade],
        "numbers": np.where(grade > 2, -0.0, score),
        "several": np.stack([grade.astype(str), (grade > 1).astype(str)], axis=1),
        "pairs": np.stack([score, -score], axis=1),
    }
    return encode(table, labels[target], kinds={"code": "category", "ratio": "category"})


@cache
def mixed_tree(target: str = "texts", **limits: Any) -> Tree:
    """A tree grown from every kind of column."""
    return grow(mixed_data(target), **limits)


@cache
def hostile_tree() -> Tree:
    """A tree whose columns, categories and classes all attack: a chain over all of them."""
    columns = []
    for i, name in enumerate(HOSTILE):
        categories = tuple(HOSTILE[i:] + HOSTILE[:i]) if i % 2 else ()
        columns.append(Column(name, "category" if i % 2 else "number", categories))
    schema = Schema(tuple(columns), (Target('y */ """ \n', tuple(HOSTILE)),))
    node: Branch | Leaf = Leaf(_weights(0))
    for i, column in enumerate(columns):
        test: Any = Below(column.name, 0.1 * i)
        if column.kind == "category":
            test = Among(column.name, column.categories[: 1 + i % 5])
        leaf = Leaf(_weights(i + 1))
        node = Branch(test, leaf, node, missing_left=i % 3 == 0)
    return Tree.write(schema, node)


def _weights(i: int) -> list[float]:
    weights = [0.0] * len(HOSTILE)
    weights[i % len(HOSTILE)] = 3.0
    weights[(i * 7) % len(HOSTILE)] += 1.0
    return weights


@cache
def edges_tree() -> Tree:
    """Thresholds at the ends of what a float can be, and where decimals round badly; answers likewise."""
    thresholds = [
        0.0, -0.0, 5e-324, -5e-324, 1.7976931348623157e308, -1.7976931348623157e308, np.inf, -np.inf,
        2.2250738585072014e-308, 0.1, 0.30000000000000004, 1e22, 1e23, 9007199254740993.0, 8.5e-19,
        5.764607523034235e-304, 123456789.12345679, 2.0**-1074 * 3, 1 / 3, -1e-5,
    ]  # fmt: skip
    schema = Schema((Column("x"), Column("other")), (Target("y"),))
    node: Branch | Leaf = Leaf([1.0, -0.0, 0.0])
    for i, threshold in enumerate(thresholds):
        answer = thresholds[(i + 3) % len(thresholds)]
        leaf = Leaf([1.0, answer if abs(answer) < 1e100 else float(i), 0.0])
        if i % 2:
            node = Branch(Below("x" if i % 3 else "other", threshold), leaf, node, missing_left=i % 5 < 2)
        else:
            node = Branch(Below("x" if i % 3 else "other", threshold), node, leaf, missing_left=i % 5 < 2)
    return Tree.write(schema, node)


@cache
def chain(depth: int, to_the_left: bool = False) -> Tree:
    """x <= 0, x <= 1, …: a leaf at each, on one side or the other; made of arrays, which is quick."""
    n = 2 * depth + 1
    number = np.arange(n)
    if to_the_left:
        end = np.concatenate([n - np.arange(depth), depth + 1 + np.arange(depth + 1)])
        inner = number < depth
        threshold = np.where(inner, depth - 1.0 - number, np.nan)
        rows = np.where(inner, depth + 1 - number, 1)
    else:
        inner = (number % 2 == 0) & (number < n - 1)
        end = np.where(number % 2 == 0, n, number + 1)
        threshold = np.where(inner, number / 2.0, np.nan)
        rows = np.where(inner, depth + 1 - number // 2, 1)
    rows = rows.astype(np.int64)
    even = np.zeros(n)
    leaf = np.flatnonzero(~inner)
    even[leaf] = leaf % 3 == 0
    total = np.concatenate([[0], np.cumsum(np.where(inner, 0, even))])
    weight = total[end] - total[:-1]
    return Tree(
        end=end.astype(np.int32),
        feature=np.where(inner, 0, -1).astype(np.int32),
        threshold=threshold,
        subset=np.full(n, -1, np.int64),
        missing_left=inner & (number % 4 == 0),
        step=np.where(inner, np.cumsum(inner) - 1, -1).astype(np.int32),
        rows=rows,
        statistic=np.stack([weight, rows - weight], axis=1),
        schema=Schema((Column("x"),), (Target("y", ("even", "odd")),)),
        criterion="gini",
    )


@cache
def large_tree(rows: int = 35_001) -> Tree:
    """A tree of numbers by chance, with two nodes for each row."""
    random = np.random.default_rng(3)
    job = random.choice([f"job {i}" for i in range(40)], rows)
    return grow(encode({"x": random.permutation(rows) / 8, "job": job}, random.normal(size=rows)))


def same_bits(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether two columns of answers are the same to the last bit, and of the same types."""
    if a.dtype.kind == "f" and b.dtype.kind == "f":
        return a.astype(np.float64).tobytes() == b.astype(np.float64).tobytes()
    first, second = a.ravel().tolist(), b.ravel().tolist()
    return first == second and list(map(type, first)) == list(map(type, second))
