// The path of a row: by tests, by surrogates where a value is missing, or in fractions along both branches.

const UNSEEN = -2;  // a category that training never saw
const INFINITE = { inf: Infinity, "-inf": -Infinity };
const asNumber = (value) => (typeof value === "string" ? INFINITE[value] : value);
const thresholds = tree.threshold.map(asNumber);
const subsets = new Map();
const isDivided = tree.missing === "fractional";

const isMissing = (value) => value === null || value === undefined || Number.isNaN(value);

/** Whether a code is in a list; the list is cached as a set. */
function isAmong(key, codes, code) {
  if (!subsets.has(key)) subsets.set(key, new Set(codes));
  return subsets.get(key).has(code);
}

const surrogatesOf = (node) => (facts.surrogates && Object.hasOwn(facts.surrogates, node) ? facts.surrogates[node] : []);

/** The first surrogate of a node whose value the row knows, and whether it sends the row left; or null. */
function activeSurrogate(node, row) {
  for (const test of surrogatesOf(node)) {
    const value = row.get(test.column);
    if (isMissing(value)) continue;
    if (!test.codes) return { test, isLeft: (value <= asNumber(test.threshold)) !== test.reversed };
    if (value !== UNSEEN) return { test, isLeft: isAmong(test, test.codes, value) !== test.reversed };
  }
  return null;
}

/** The value of a row that a test reads: a column, or a sum, which is missing where one of its columns is. */
function valueAt(row, tested) {
  const sum = sumOf(tested);
  if (!sum) return row.get(tested);
  let total = null;
  for (const [column, weight] of sum.terms) {
    const value = row.get(column);
    if (isMissing(value)) return null;
    total = total === null ? weight * value : total + weight * value;
  }
  return total;
}

/** Whether a row goes left at a node. */
function goesLeft(node, row) {
  const value = valueAt(row, tree.feature[node]);
  if (isMissing(value)) {
    const surrogate = activeSurrogate(node, row);
    return surrogate ? surrogate.isLeft : tree.missing_left[node] === 1;
  }
  if (thresholds[node] !== null) return value <= thresholds[node];
  if (value === UNSEEN) return tree.heavier_left[node] === 1;
  return isAmong(node, tree.left_categories[node], value);
}

/** The leaves of a row with its share in each, from left to right; `row` maps columns to values. */
function leavesOf(row, ends) {
  const parts = [], waiting = [{ node: 0, share: 1 }];
  while (waiting.length) {
    const { node, share } = waiting.pop();
    if (ends[node]) {
      parts.push({ leaf: node, share });
    } else if (isDivided && isMissing(valueAt(row, tree.feature[node]))) {
      const left = share * tree.left_share[node], right = share * tree.right_share[node];
      if (right > 0) waiting.push({ node: rightOf(node), share: right });
      if (left > 0) waiting.push({ node: leftOf(node), share: left });
    } else {
      waiting.push({ node: goesLeft(node, row) ? leftOf(node) : rightOf(node), share });
    }
  }
  return parts;
}

const largestPart = (parts) => parts.reduce((most, part) => (part.share > most.share ? part : most));

/** The share of each class at a leaf, as pairs [code, share]: exact ones, or from the weights on the page. */
function sharesAt(leaf) {
  if (tree.class_shares) return tree.class_shares[leaf];
  const node = populatedNode(leaf), weight = weightAt(trainName, node);
  return classPairs(trainName, node).map(([code, own]) => [code, own / weight]);
}

/** The shares of the classes in a mixture of leaves, summed in the order of the tree, so that they are equal to the bit. */
function mixedShares(parts) {
  const mixed = new Array(facts.classes.length).fill(0);
  for (const { leaf, share } of parts) {
    for (const [code, own] of sharesAt(leaf)) mixed[code] += share * own;
  }
  return mixed;
}

/** The class to predict from such shares: the largest, or the one with the lowest expected cost. */
function cheapestOf(mixed) {
  const worth = facts.costs
    ? mixed.map((_, answer) => -mixed.reduce((sum, share, truth) => sum + share * facts.costs[truth][answer], 0))
    : mixed;
  return worth.indexOf(Math.max(...worth));
}

const mixedNumber = (parts) => parts.reduce((sum, { leaf, share }) => sum + share * tree.value[leaf], 0);
