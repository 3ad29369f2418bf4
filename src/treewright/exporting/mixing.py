"""Programs of trees that divide rows: how Python, JavaScript and C come to all leaves of a row and mix what
these say, without calling themselves. The sums are those of the tree, added up in its order.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from treewright.tree import Tree

DEEPEST = 10_000  # tests in a row in C, where what is still to do lies on the stack


def parts(tree: Tree) -> list[float]:
    """For each node, how much of a divided row at the node above it goes there."""
    above = np.where(tree.parent < 0, 0, tree.parent)
    found: list[float] = (tree.weight / tree.weight[above]).tolist()
    return found


def python(function: str, *, classes: bool, several: bool, costs: bool) -> Iterator[str]:
    """`predict` and `predict_proba` of a module with `_parts(row)`."""
    yield from [
        "",
        f"def {function}(row):",
        '    """What is predicted for a row: by its leaf, or of a mixture."""',
    ]
    yield "    parts = _parts(row)"
    if not classes:
        yield from ["    if len(parts) == 1:", "        return _ANSWERS[parts[0][0]]"]
        if several:
            yield "    columns = zip(*(_ANSWERS[leaf] for leaf, _ in parts))"
            yield "    return tuple(_total(numbers, parts) for numbers in columns)"
        else:
            yield "    return _total([_ANSWERS[leaf] for leaf, _ in parts], parts)"
        yield from _PYTHON_TOTAL
        return
    place = "_best(_mixture(CLASSES, [_SHARES[leaf] for leaf, _ in parts], parts){})"
    if several:
        yield "    if len(parts) == 1:"
        yield "        return tuple(classes[place] for classes, place in zip(CLASSES, _ANSWERS[parts[0][0]]))"
        yield "    mixed = _mixtures(parts)"
        best = "_best(shares, costs)" if costs else "_best(shares)"
        of = "zip(CLASSES, mixed, _COSTS)" if costs else "zip(CLASSES, mixed)"
        names = "classes, shares, costs" if costs else "classes, shares"
        yield f"    return tuple(classes[{best}] for {names} in {of})"
    else:
        yield from ["    if len(parts) == 1:", "        return CLASSES[_ANSWERS[parts[0][0]]]"]
        yield f"    return CLASSES[{place.format(', _COSTS' if costs else '')}]"
    yield from [
        "",
        "",
        f"def {function}_proba(row):",
        '    """The share of each class, by the leaf or a mixture."""',
    ]
    yield "    parts = _parts(row)"
    if several:
        yield "    if len(parts) == 1:"
        yield "        return [_by_class(*both) for both in zip(CLASSES, _SHARES[parts[0][0]])]"
        yield "    return [dict(zip(*both)) for both in zip(CLASSES, _mixtures(parts))]"
        yield from _PYTHON_MIXTURES
    else:
        yield from ["    if len(parts) == 1:", "        return _by_class(CLASSES, _SHARES[parts[0][0]])"]
        yield "    return dict(zip(CLASSES, _mixture(CLASSES, [_SHARES[leaf] for leaf, _ in parts], parts)))"
    yield from _PYTHON_MIXTURE
    yield from _PYTHON_CHEAPEST if costs else _PYTHON_LARGEST


_PYTHON_TOTAL = '''

def _total(numbers, parts):
    """The mean by the shares of the parts."""
    total = 0.0
    for number, (_, share) in zip(numbers, parts):
        total += share * number
    return total
'''.splitlines()

_PYTHON_MIXTURES = '''

def _mixtures(parts):
    """The mixture for each target."""
    told = [_SHARES[leaf] for leaf, _ in parts] or [((),) * len(CLASSES)]
    return [_mixture(classes, pairs, parts) for classes, pairs in zip(CLASSES, zip(*told))]
'''.splitlines()

_PYTHON_MIXTURE = '''

def _mixture(classes, leaves, parts):
    """The share of each class by the leaves of a row, from left to right."""
    mixed = [0.0] * len(classes)
    for pairs, (_, share) in zip(leaves, parts):
        for place, part in zip(pairs[::2], pairs[1::2]):
            mixed[int(place)] += share * float(part)
    return mixed


def _by_class(classes, pairs):
    shares = dict.fromkeys(classes, 0.0)
    for place, share in zip(pairs[::2], pairs[1::2]):
        shares[classes[int(place)]] = float(share)
    return shares
'''.splitlines()

_PYTHON_LARGEST = '''

def _best(shares):
    """The place of the largest share, the first of equal ones."""
    return shares.index(max(shares))
'''.splitlines()

_PYTHON_CHEAPEST = '''

def _best(shares, costs):
    """The place of the class that costs least, the first of equal ones."""
    if costs is None:
        return shares.index(max(shares))
    totals = [0.0] * len(shares)
    for share, row in zip(shares, costs):
        totals = [total + share * cost for total, cost in zip(totals, row)]
    return totals.index(min(totals))
'''.splitlines()

PYTHON_WALK = '''
def _parts(row):
    """The leaves that a row comes to, from left to right, with its share in each."""
    values, found, waiting = _values(row), [], [(0, 1.0)]
    while waiting:
        node, share = waiting.pop()
        while _COLUMN[node] >= 0:
            left, right = node + 1, _RIGHT[node]
            side = _side(values, node)
            if side is not None:
                node = left if side else right
                continue
            if share * _PARTS[right] > 0:
                waiting.append((right, share * _PARTS[right]))
            share *= _PARTS[left]
            if not share > 0:
                break
            node = left
        else:
            found.append((_RIGHT[node], share))
    return found


def leaf(row):
    """The leaf of the heaviest part of a row, counted from the left."""
    values, node = _values(row), 0
    while _COLUMN[node] >= 0:
        side = _side(values, node)
        if side is None:
            side = _SIDES[node] & 1
        node = node + 1 if side else _RIGHT[node]
    return _RIGHT[node]


def _side(values, node):
    """Whether a row goes left at a node; None where the value is missing."""
    value = values[_COLUMN[node]]
    if value != value:
        return None
    if _SUBSET[node] < 0:
        return value <= _THRESHOLD[node]
    if value >= 0:
        return _BITS[_SUBSET[node] + (value >> 3)] >> (value & 7) & 1
    return None if value == -1 else _SIDES[node] >> 1 & 1
'''.splitlines()


def javascript(function: str, *, classes: bool, several: bool, costs: bool) -> Iterator[str]:
    """`predict` and `predictProba` of a program with `_parts(row)`."""
    yield from [f"function {function}(row) {{", "    const parts = _parts(row);"]
    if not classes:
        yield "    if (parts.length === 1) return _answers[parts[0][0]];"
        if several:
            yield "    return _answers[0].map((_, k) => _total(parts, (leaf) => _answers[leaf][k]));"
        else:
            yield "    return _total(parts, (leaf) => _answers[leaf]);"
        yield from ["}", *_JAVASCRIPT_TOTAL]
        return
    if several:
        yield "    if (parts.length === 1) return _answers[parts[0][0]].map((place, k) => classes[k][place]);"
        of = "_mixture(classes[k], parts, (leaf) => _shares[leaf][k])"
        yield f"    return classes.map((labels, k) => labels[_best({of}{', _costs[k]' if costs else ''})]);"
    else:
        yield "    if (parts.length === 1) return classes[_answers[parts[0][0]]];"
        of = "_mixture(classes, parts, (leaf) => _shares[leaf])"
        yield f"    return classes[_best({of}{', _costs' if costs else ''})];"
    yield from ["}", "", f"function {function}Proba(row) {{", "    const parts = _parts(row);"]
    if several:
        yield "    return classes.map((labels, k) => parts.length === 1"
        yield "        ? _byClass(labels, _shares[parts[0][0]][k])"
        yield "        : _mixture(labels, parts, (leaf) => _shares[leaf][k]));"
    else:
        yield "    if (parts.length === 1) return _byClass(classes, _shares[parts[0][0]]);"
        yield "    return _mixture(classes, parts, (leaf) => _shares[leaf]);"
    yield from ["}", *_JAVASCRIPT_MIXTURE, *(_JAVASCRIPT_CHEAPEST if costs else _JAVASCRIPT_LARGEST)]


_JAVASCRIPT_TOTAL = """
// the mean by the shares of the parts
function _total(parts, number) {
    let total = 0;
    for (const [leaf, share] of parts) total += share * number(leaf);
    return total;
}
""".splitlines()

_JAVASCRIPT_MIXTURE = """
// the share of each class by the leaves of a row, from left to right
function _mixture(classes, parts, told) {
    const mixed = new Array(classes.length).fill(0);
    for (const [leaf, share] of parts) {
        const pairs = told(leaf);
        for (let i = 0; i < pairs.length; i += 2) mixed[pairs[i]] += share * pairs[i + 1];
    }
    return mixed;
}

function _byClass(classes, pairs) {
    const shares = new Array(classes.length).fill(0);
    for (let i = 0; i < pairs.length; i += 2) shares[pairs[i]] = pairs[i + 1];
    return shares;
}
""".splitlines()

_JAVASCRIPT_LARGEST = """
// the place of the largest share, the first of equal ones
function _best(shares) {
    let best = 0;
    for (let k = 1; k < shares.length; k++) if (shares[k] > shares[best]) best = k;
    return best;
}
""".splitlines()

_JAVASCRIPT_CHEAPEST = """
// the place of the class that costs least, the first of equal ones
function _best(shares, costs) {
    const totals = shares.map((share, k) => costs === null ? -share : 0);
    if (costs !== null) {
        shares.forEach((share, i) => costs[i].forEach((cost, k) => { totals[k] += share * cost; }));
    }
    let best = 0;
    for (let k = 1; k < totals.length; k++) if (totals[k] < totals[best]) best = k;
    return best;
}
""".splitlines()

JAVASCRIPT_WALK = """
// the leaves that a row comes to, from left to right, with its share in each
function _parts(row) {
    const values = _values(row), found = [], waiting = [[0, 1]];
    while (waiting.length) {
        let [node, share] = waiting.pop();
        while (_column[node] >= 0 && share > 0) {
            const left = node + 1, right = _right[node], side = _side(values, node);
            if (side !== null) {
                node = side ? left : right;
                continue;
            }
            if (share * _parted[right] > 0) waiting.push([right, share * _parted[right]]);
            share *= _parted[left];
            node = left;
        }
        if (share > 0) found.push([_right[node], share]);
    }
    return found;
}

// the leaf of the heaviest part of a row, counted from the left
function leaf(row) {
    const values = _values(row);
    let node = 0;
    while (_column[node] >= 0) {
        const side = _side(values, node);
        node = (side === null ? _sides[node] & 1 : side) ? node + 1 : _right[node];
    }
    return _right[node];
}

// whether a row goes left at a node; null where the value is missing
function _side(values, node) {
    const value = values[_column[node]];
    if (value !== value) return null;
    if (_subset[node] < 0) return value <= _threshold[node];
    if (value >= 0) return _bits[_subset[node] + (value >> 3)] >> (value & 7) & 1;
    return value === -1 ? null : _sides[node] >> 1 & 1;
}
""".splitlines()
