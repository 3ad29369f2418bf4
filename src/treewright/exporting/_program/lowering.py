"""A tree lowered to a program: nested tests for a tree that people can read, else tables and a loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from treewright.encoding.kinds import KINDS
from treewright.exporting._program import form
from treewright.exporting._split_tests import Question, has_surrogates, questions
from treewright.exporting._tree import Code, divides


def lower(code: Code, style: str, targets: Sequence[int], *, raises: bool = True) -> form.Program:
    """The program of a tree for some of its targets.

    `raises` tells whether the language refuses a row that lacks a value by an exception; otherwise `leaf`
    returns -1 for it.
    """
    nests = code.nests(style)
    found = (_nested if nests else _loop)(code, raises)
    tables = [] if nests else _node_tables(code)
    tables += _leaf_tables(code, targets)
    found += form.functions(_prediction(code, targets, raises))
    return form.Program(tuple(tables), tuple(found))


# ---- tests within tests ------------------------------------------------------------------------------------


def _nested(code: Code, raises: bool) -> tuple[form.Function, ...]:
    before, later = _demands(code, raises)
    missing = tuple((j, form.Known(j, negated=True)) for j in later)
    demand = (form.Demand(missing),) if missing else ()
    body: form.Block = (*before, form.ReadVariables(), *demand, *_subtree(code, 0))
    return (form.Function("leaf", LEAF, (("row", "row"),), "int", body),)


def _demands(code: Code, raises: bool) -> tuple[form.Block, list[int]]:
    """What checks a row before it is read, and the columns or sums that are checked after that.

    With exceptions missing values are found first, then values of a wrong type, then sums without a value.
    """
    if not raises or not code.required_columns:
        return (), code.required_columns
    complete = form.Do(form.Call("complete", (form.Name("row"),)))
    return (complete,), [j for j in code.required_columns if j in code.sums]


LEAF = "the leaf that a row comes to, counted from the left"


def _subtree(code: Code, node: int) -> form.Block:
    """The tests below a node; as deep as the tree, which `nests` limits."""
    tree = code.tree
    if tree.is_leaf[node]:
        return (form.Return(form.Constant(code.place[node]), code.leaf_in_words(node)),)
    condition, remark = _split(code, node)
    return (form.If(condition, _subtree(code, node + 1), _subtree(code, int(tree.right[node])), remark),)


def _split(code: Code, node: int) -> tuple[form.Expression, str]:
    """The condition for going left at a node, and its words where the condition does not tell all."""
    tree, words = code.tree, code.test_in_words(node)
    if has_surrogates(tree, node):
        found: form.Expression = form.Constant(bool(tree.missing_left[node]))
        for question in reversed(list(questions(tree, node))):
            for known, left in reversed(list(_ways(question))):
                found = form.Choice(known, left, found)
        return found, words
    j = int(tree.feature[node])
    if tree.subset[node] >= 0:
        within, codes, missing = code.among(node)
        if not codes and not missing:
            return form.Constant(not within), words
        return form.Among(j, codes, missing, not within), words
    threshold = float(tree.threshold[node])
    if tree.missing_left[node]:
        return form.Not(form.Operation(">", form.Value(j), form.Constant(threshold))), words
    if threshold == np.inf:
        return form.Known(j), words
    is_plain = tree.tested[j].threshold_text(threshold) == KINDS["number"].threshold_text(threshold)
    return form.Operation("<=", form.Value(j), form.Constant(threshold)), "" if is_plain else words


def _ways(question: Question) -> Iterator[tuple[form.Expression, form.Expression]]:
    """One test of a node with surrogates: when it decides, and whether the row then goes left."""
    j, bound = question.feature, form.Constant(question.threshold)
    if not question.is_category:
        yield form.Known(j), form.Operation(question.operator, form.Value(j), bound)
    elif question.unseen_left is None:
        sides = ((question.left, True), (question.right, False))
        yield from ((form.Among(j, codes), form.Constant(left)) for codes, left in sides if codes)
    else:
        within, codes = question.listed
        yield form.Known(j), form.Among(j, codes, False, not within) if codes else form.Constant(not within)


# ---- tables and a loop -------------------------------------------------------------------------------------


def _node_tables(code: Code) -> list[form.Table]:
    """The tests of a tree, one entry for each node; its surrogates follow the nodes."""
    tree, others = code.tree, code.tree.surrogates
    features = [*code.used, *code.sums]
    place = np.full(len(tree.tested) + 1, -1)
    place[features] = np.arange(len(features))
    threshold = np.concatenate([tree.threshold, others.threshold])
    missing_left = tree.heavier_left if divides(tree) else tree.missing_left
    sides = [missing_left + 2 * tree.heavier_left.astype(int), 8 + 4 * others.reversed.astype(int)]
    later = np.where(others.subset < 0, -1, others.subset + len(tree.subsets))
    bits = tree.subsets.tobytes() + others.subsets.tobytes()
    tables = [
        form.Table("column", "int", place[np.concatenate([tree.feature, others.feature])].tolist(), _NODES),
        form.Table("threshold", "double", np.where(np.isnan(threshold), 0.0, threshold).tolist()),
        form.Table("right", "int", np.where(tree.is_leaf, code.place, tree.right).tolist()),
        form.Table("sides", "byte", np.concatenate(sides).tolist()),
    ]
    if len(others):
        starts = tree.n_nodes + np.searchsorted(others.node, np.arange(tree.n_nodes + 1))
        tables.append(form.Table("surrogates", "int", starts.tolist(), _SURROGATES))
    if bits:
        tables.append(form.Table("subset", "int", np.concatenate([tree.subset, later]).tolist(), _SUBSETS))
        tables.append(form.Table("bits", "byte", list(bits)))
    if divides(tree):
        above = np.where(tree.parent < 0, 0, tree.parent)
        tables.append(form.Table("part", "double", (tree.weight / tree.weight[above]).tolist(), _PARTS))
    return tables


_NODES = (
    "for each node, in preorder: the place of its column (-1: a leaf), the threshold, the right child (of a "
    "leaf: its number), and bits: 1 missing values go left, 2 unseen categories go left, 4 the test is "
    "reversed, 8 a surrogate"
)
_SURROGATES = "where the surrogates of each node begin, after the nodes"
_SUBSETS = "for each node the first byte of the bits of the categories that go left (-1: a number); the bits"
_PARTS = "for each node the share of a divided row that goes there from its parent"


def _loop(code: Code, raises: bool) -> tuple[form.Function, ...]:
    tree, has_surrogate = code.tree, bool(len(code.tree.surrogates))
    side, step = _side(code), _STEP_BY_SIDE.format(surrogates=_ASK_SURROGATES if has_surrogate else "")
    if not has_surrogate and not divides(tree):  # a call for each node would double the time of a row
        side, step = "", _STEP_WITH_CATEGORIES if code.has_categories else _STEP
    text = f'''{side}
def leaf(row: row) -> int:
    """{"the leaf of the heaviest part of a row, counted from the left" if divides(tree) else LEAF}"""
    before
    values: values = read(row)
    demand
    node: int = 0
    while column[node] >= 0:
{step}
    return right[node]
'''
    before, later = _demands(code, raises)
    places = {j: i for i, j in enumerate([*code.used, *code.sums])}
    missing = tuple((j, _lacks(code, j, places[j])) for j in later)
    return form.functions(text, before=before, demand=(form.Demand(missing),) if missing else ())


def _side(code: Code) -> str:
    """`side`, the test of one node or surrogate."""
    has_surrogate = bool(len(code.tree.surrogates))
    flip = " ^ (sides[node] >> 2 & 1)" if has_surrogate else ""
    by_category = f"""
    if subset[node] >= 0:
        if value < 0.0:
            return -1 if value == -1.0 {"or (sides[node] & 8) != 0" if has_surrogate else ""} else {_UNSEEN}
        code: int = int(value)
        return (bits[subset[node] + (code >> 3)] >> (code & 7) & 1){flip}"""
    return f'''
def side(values: values, node: int) -> int:
    """whether a row goes left at a node: 1, 0, or -1 where the value is missing"""
    value: double = values[column[node]]{by_category if code.has_categories else ""}
    if isnan(value):
        return -1
    return (1 if value <= threshold[node] else 0){flip}
'''


_STEP = """
        value: double = values[column[node]]
        if value <= threshold[node] or isnan(value) and (sides[node] & 1) != 0:
            node = node + 1
        else:
            node = right[node]"""
_STEP_WITH_CATEGORIES = """
        value: double = values[column[node]]
        if subset[node] < 0:
            if value <= threshold[node] or isnan(value) and (sides[node] & 1) != 0:
                node = node + 1
            else:
                node = right[node]
        elif value < 0.0:
            side: int = sides[node] & (1 if value == -1.0 else 2)
            node = node + 1 if side != 0 else right[node]
        else:
            code: int = int(value)
            side: int = bits[subset[node] + (code >> 3)] >> (code & 7) & 1
            node = node + 1 if side != 0 else right[node]"""
_STEP_BY_SIDE = """
        left: int = side(values, node)
        {surrogates}
        if left < 0:
            left = sides[node] & 1
        node = node + 1 if left == 1 else right[node]"""
_UNSEEN = "sides[node] >> 1 & 1"
_ASK_SURROGATES = """at: int = surrogates[node]
        while left < 0 and at < surrogates[node + 1]:
            left = side(values, at)
            at = at + 1"""


def _lacks(code: Code, feature: int, place: int) -> form.Expression:
    value = form.Item("values", form.Constant(place))
    if code.tree.tested[feature].is_category:
        return form.Operation("==", value, form.Constant(-1.0))
    return form.Call("isnan", (value,))


# ---- predictions -------------------------------------------------------------------------------------------


def suffix(code: Code, target: int) -> str:
    """What the tables of one of several targets end in."""
    return f"_{target}" if len(code.targets) > 1 else ""


def offsets(code: Code, targets: Sequence[int]) -> list[int]:
    """Where the shares or numbers of each target begin in one array for all, and its length."""
    widths = [len(code.targets[k].classes or (0,)) for k in targets]
    return [0, *np.cumsum(widths).tolist()]


def _leaf_tables(code: Code, targets: Sequence[int]) -> list[form.Table]:
    """The predictions of the leaves, from left to right."""
    if code.formulas is not None:
        terms = [term for _, terms in code.formulas for term in terms]
        place = {j: i for i, j in enumerate(code.used)}
        starts = np.cumsum([0, *(len(terms) for _, terms in code.formulas)]).tolist()
        return [
            form.Table("intercept", "double", [first for first, _ in code.formulas], _FORMULAS),
            form.Table("term", "int", starts),
            form.Table("term_column", "int", [place[j] for j, _, _ in terms]),
            form.Table("coefficient", "double", [c for _, c, _ in terms]),
            form.Table("mean", "double", [mean for _, _, mean in terms]),
        ]
    tables: list[form.Table] = []
    for k in targets:
        end, target = suffix(code, k), code.targets[k]
        if target.classes is None:
            tables.append(form.Table(f"answers{end}", "double", code.answers(k), "for each leaf: its number"))
            continue
        shares = list(code.shares(k))
        pairs = [pair for leaf in shares for pair in leaf]
        tables += [
            form.Table(f"answers{end}", "int", code.answers(k), "for each leaf: the code of its class"),
            form.Table(f"first_share{end}", "int", np.cumsum([0, *map(len, shares)]).tolist(), _SHARES),
            form.Table(f"share_class{end}", "int", [place for place, _ in pairs]),
            form.Table(f"share{end}", "double", [share for _, share in pairs]),
        ]
        if divides(code.tree) and target.costs is not None:
            costs = [cost for row in target.costs for cost in row]
            tables.append(form.Table(f"costs{end}", "double", costs, _COSTS))
    return tables


_FORMULAS = (
    "for each leaf: the intercept of its formula and where its terms begin; for each term: the place of the "
    "column, the coefficient, and what a value that is missing or infinite counts as"
)
_SHARES = "for each leaf: where its classes begin; their codes, and their shares"
_COSTS = "what it costs to predict each class (across) where another one (down) is true"


def _prediction(code: Code, targets: Sequence[int], raises: bool) -> str:
    """`predict`, and for classes `shares`, which fills an array; what they need stands before them."""
    refusal = "" if raises or not code.required_columns else "if at < 0:\n        return nothing()"
    if code.formulas is not None:
        return f"{_PREDICT}    at: int = leaf(row)\n    {refusal}\n{_FORMULA}"
    ends, starts = [suffix(code, k) for k in targets], offsets(code, targets)
    answer = f"answer({', '.join(f'answers{end}[at]' for end in ends)})"
    adds = _adding(code, targets) if divides(code.tree) or code.predicts_classes else ""
    if divides(code.tree):
        mixed = [_mixture(code, k, start) for k, start in zip(targets, starts, strict=False)]
        width = starts[-1]
        text = adds + _MIX.format(depth=code.tree.depth, width=width) + _BEST
        text += "".join(_cheapest(code, k, start) for k, start in zip(targets, starts, strict=False))
        text += f"{_PREDICT}    mixed: doubles = {width}\n    at: int = mix(row, mixed)\n    if at >= 0:\n"
        text += f"        return {answer}\n    return answer({', '.join(mixed)})\n"
        return text + (_SHARES_OF_MIXTURE.format(width=width) if code.predicts_classes else "")
    text = f"{adds}{_PREDICT}    at: int = leaf(row)\n    {refusal}\n    return {answer}\n"
    if not code.predicts_classes:
        return text
    lost = _LOST.format(width=starts[-1]) if refusal else ""
    return text + _SHARES_OF_LEAF.format(width=starts[-1], lost=lost)


def _adding(code: Code, targets: Sequence[int]) -> str:
    """`add`, which adds a part of what a leaf predicts to an array."""
    text = "def add(leaf: int, part: double, mixed: doubles):\n"
    text += '    """adds a part of the prediction of a leaf"""\n'
    for k, start in zip(targets, offsets(code, targets), strict=False):
        end = suffix(code, k)
        if code.predicts_classes:
            at = f"mixed[{start} + share_class{end}[i]]" if start else f"mixed[share_class{end}[i]]"
            text += f"    for i in range(first_share{end}[leaf], first_share{end}[leaf + 1]):\n"
            text += f"        {at} = plus({at}, part, share{end}[i])\n"
        else:
            text += f"    mixed[{start}] = plus(mixed[{start}], part, answers{end}[leaf])\n"
    return text


def _mixture(code: Code, target: int, start: int) -> str:
    """The prediction for one target from a mixture."""
    classes = code.targets[target].classes
    if classes is None:
        return f"mixed[{start}]"
    if code.targets[target].costs is None:
        return f"best(mixed, {start}, {len(classes)})"
    return f"cheapest{suffix(code, target)}(mixed)"


def _cheapest(code: Code, target: int, start: int) -> str:
    """`cheapest` for a target with costs."""
    if code.targets[target].costs is None:
        return ""
    end, size = suffix(code, target), len(code.targets[target].classes or ())
    return f'''
def cheapest{end}(mixed: doubles) -> int:
    """the class with the least expected cost, the first of equal ones"""
    total: doubles = {size}
    best: int = 0
    for i in range(0, {size}):
        for k in range(0, {size}):
            total[k] = plus(total[k], mixed[{start} + i], costs{end}[i * {size} + k])
    for k in range(1, {size}):
        if total[k] < total[best]:
            best = k
    return best
'''


_PREDICT = '''
def predict(row: row) -> answer:
    """the prediction for a row"""
'''
_FORMULA = """\
    values: values = read(row)
    total: double = intercept[at]
    for i in range(term[at], term[at + 1]):
        value: double = values[term_column[i]]
        total = plus(total, coefficient[i], value if isfinite(value) else mean[i])
    return answer(total)
"""
_BEST = '''
def best(mixed: doubles, start: int, count: int) -> int:
    """the class with the largest share, the first of equal ones"""
    best: int = 0
    for k in range(1, count):
        if mixed[start + k] > mixed[start + best]:
            best = k
    return best
'''
_MIX = '''
def mix(row: row, mixed: doubles) -> int:
    """fills an array with the mixture of the leaves of a row; its leaf if it is the only one, else -1"""
    values: values = read(row)
    waiting: ints = {depth}
    part_waiting: doubles = {depth}
    n_waiting: int = 1
    count: int = 0
    last: int = -1
    for k in range(0, {width}):
        mixed[k] = 0.0
    waiting[0] = 0
    part_waiting[0] = 1.0
    while n_waiting > 0:
        n_waiting = n_waiting - 1
        node: int = waiting[n_waiting]
        share: double = part_waiting[n_waiting]
        while column[node] >= 0 and share > 0.0:
            left: int = side(values, node)
            if left == 1:
                node = node + 1
            elif left == 0:
                node = right[node]
            else:
                if share * part[right[node]] > 0.0:
                    waiting[n_waiting] = right[node]
                    part_waiting[n_waiting] = share * part[right[node]]
                    n_waiting = n_waiting + 1
                node = node + 1
                share = share * part[node]
        if share > 0.0:
            last = right[node]
            count = count + 1
            add(last, share, mixed)
    return last if count == 1 else -1
'''
_SHARES_OF_MIXTURE = '''
def shares(row: row, found: doubles):
    """fills an array with the share of each class for a row: of its leaf, or of a mixture of leaves"""
    at: int = mix(row, found)
    if at >= 0:
        for k in range(0, {width}):
            found[k] = 0.0
        add(at, 1.0, found)
'''
_SHARES_OF_LEAF = '''
def shares(row: row, found: doubles):
    """fills an array with the share of each class in the leaf of a row"""
    at: int = leaf(row)
    {lost}
    for k in range(0, {width}):
        found[k] = 0.0
    add(at, 1.0, found)
'''
_LOST = """if at < 0:
        for k in range(0, {width}):
            found[k] = nan
        return"""
