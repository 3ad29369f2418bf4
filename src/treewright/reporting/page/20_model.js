// The tree, its prunings and their losses, from the payload; loops instead of recursion, since trees may be deep.

const facts = JSON.parse(byId("payload").textContent);
const tree = facts.tree;
const size = tree.end.length;
const parentOf = new Int32Array(size).fill(-1);
const depth = new Int32Array(size);
const isClasses = facts.kind === "classes";
const SAMPLE_WORDS = { train: "training", validation: "validation", test: "test" };
const sampleNames = ["train", "validation", "test"].filter((name) => facts.samples[name]);
const trainName = sampleNames[0];
const trainSample = facts.samples[trainName];
const evalName = sampleNames[sampleNames.length - 1];  // the most independent sample, for the section Quality

const leftOf = (node) => node + 1;
const rightOf = (node) => tree.end[node + 1];
const isBranch = (node) => tree.feature[node] >= 0;
const isInside = (node, above) => node >= above && node < tree.end[above];

const joined = tree.joined || new Uint8Array(size);  // nodes that are parts of the split above them

for (let node = 0; node < size; node++) {  // preorder: a parent comes before its children
  if (!isBranch(node)) continue;
  const split = joined[node] ? parentOf[node] : node;
  for (const child of [leftOf(node), rightOf(node)]) {
    parentOf[child] = split;
    depth[child] = depth[split] + 1;
  }
}

/** The nodes of the split at a node and its branches, where the tree shown ends at `ends`: [parts, branches]. */
function splitAt(node, ends) {
  const parts = [node], branches = [], waiting = [rightOf(node), leftOf(node)];
  while (waiting.length) {
    const child = waiting.pop();
    if (joined[child] && !ends[child]) {
      parts.push(child);
      waiting.push(rightOf(child), leftOf(child));
    } else branches.push(child);
  }
  return [parts, branches];
}

const branchesOf = (node, ends) => splitAt(node, ends)[1];
const gainOf = (node, ends) => splitAt(node, ends)[0].reduce((sum, part) => sum + tree.gain[part], 0);

/** The nodes from the root to `node`. */
function lineage(node) {
  const line = [];
  for (let at = node; at >= 0; at = parentOf[at]) line.push(at);
  return line.reverse();
}

/** The condition on the edge from the parent to a node. */
function conditionWords(node) {
  const above = parentOf[node];
  if (above < 0) return "all rows";
  if (tree.into_words && Object.hasOwn(tree.into_words, node)) return typeset(tree.into_words[node]);
  return typeset(node === leftOf(above) ? tree.left_words[above] : tree.right_words[above]);
}

const typeset = (words) => words.replace(/ <= /g, " ≤ ").replace(/ ([≤>]) -(?=\d)/g, " $1 −");

const sums = facts.sums || [];  // weighted sums of columns, which a test may be about; they follow the columns
const sumOf = (tested) => sums[tested - facts.columns.length];

/** The columns of the table that a test is about: one, or those of a sum. */
const partsOf = (tested) => (sumOf(tested) ? sumOf(tested).terms.map(([column]) => column) : [tested]);

/** The words of a test as [name, rest], so that a long name may be cut and the rest be kept. */
function splitWords(words, tested) {
  const { name } = sumOf(tested) || facts.columns[tested];
  if (words.indexOf(name) !== 0) return ["", typeset(words)];
  return [name, typeset(words.slice(name.length))];
}

// ---- rows, weights, losses of a sample at a node ---------------------------------------------------------------

/** The weight of each class at a node, as pairs [code, weight]; of very many classes the heaviest. */
function classPairs(part, node) {
  const counts = facts.samples[part].counts;
  if (counts.top) return counts.top[node];
  return counts[node].map((weight, code) => [code, weight]);
}

function weightAt(part, node) {
  const facet = facts.samples[part];
  if (isClasses && !facet.counts.top) return facet.counts[node].reduce((sum, weight) => sum + weight, facet.unknown ? facet.unknown[node] : 0);
  return facet.node_rows[node] * (facet.weight / facet.rows);
}

/** The share of a class among the rows of a part at a node; NaN where there are none. */
function shareAt(part, node, code) {
  const weight = weightAt(part, node);
  const own = facts.samples[part].counts.top
    ? (classPairs(part, node).find(([other]) => other === code) || [0, 0])[1]
    : facts.samples[part].counts[node][code];
  return weight > 0 ? own / weight : NaN;
}

/** The node whose training rows give the prediction of a node: itself, or without rows the nearest one above with rows. */
function populatedNode(node) {
  let at = node;
  while (at > 0 && (joined[at] || !(weightAt(trainName, at) > 0))) at = parentOf[at];
  return weightAt(trainName, node) > 0 ? node : at;
}

const lossAt = (part, node) => facts.samples[part].loss[node] / weightAt(part, node);

/** The share of rows that a node predicts correctly. */
const confidenceAt = (part, node) => shareAt(part, node, tree.label[node]);

/** The prediction of a node as text. */
function answerWords(node) {
  return isClasses ? classWords(tree.label[node]) : numberWords(tree.value[node], 6);
}

function colourOf(node) {
  return isClasses ? facts.colours[tree.label[node]] : valueColour(tree.value[node]);
}

// Five stops of a scale from violet to yellow, ordered for any kind of colour vision.
const SCALE = [[84, 48, 140], [58, 92, 160], [33, 145, 140], [110, 196, 90], [240, 216, 50]];
const valueRange = isClasses ? [0, 1] : rangeOf(tree.value);

function rangeOf(values) {
  let least = Infinity, most = -Infinity;
  for (const value of values) {
    if (value === null) continue;
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  return [least, most > least ? most : least + 1];
}

function valueColour(value) {
  const at = (SCALE.length - 1) * Math.max(0, Math.min(1, (value - valueRange[0]) / (valueRange[1] - valueRange[0])));
  const below = Math.min(Math.floor(at), SCALE.length - 2);
  const colour = SCALE[below].map((low, i) => Math.round(low + (at - below) * (SCALE[below + 1][i] - low)));
  return `rgb(${colour.join(", ")})`;
}

// ---- prunings ------------------------------------------------------------------------------------------------

/** The tree at a place of a path: {ends, leaves, depth, columns that it tests, columns that a prediction may need}. */
function pruningAt(path, place) {
  const cuts = path.cuts ? new Set(path.cuts[place]) : null;
  const ends = new Uint8Array(size);  // 1 where the tree shown ends
  const leaves = [];
  let deepest = 0;
  for (let node = 0; node < size;) {
    const isCut = cuts ? cuts.has(node) : path.leaf_from[node] >= 0 && path.leaf_from[node] <= place;
    if (isBranch(node) && !isCut) {
      node++;
      continue;
    }
    ends[node] = 1;
    leaves.push(node);
    deepest = Math.max(deepest, depth[node]);
    node = tree.end[node];
  }
  const { columns, others } = testedColumns(ends);
  return { ends, leaves, depth: deepest, columns, inputs: [...new Set([...columns, ...others])] };
}

/** The columns that a pruning tests, those nearest the root first, and the columns of its surrogates. */
function testedColumns(ends) {
  const first = new Map(), others = [];
  for (let node = 0; node < size; node++) {
    if (ends[node]) {
      node = tree.end[node] - 1;
      continue;
    }
    for (const column of partsOf(tree.feature[node])) {
      if (!first.has(column) || depth[node] < first.get(column)) first.set(column, depth[node]);
    }
    for (const test of surrogatesOf(node)) others.push(test.column);
  }
  const columns = [...first.keys()].sort((a, b) => first.get(a) - first.get(b) || a - b);
  return { columns, others };
}

/** The mean loss of the leaves on a sample. */
function meanLoss(part, leaves) {
  let total = 0;
  for (const leaf of leaves) total += facts.samples[part].loss[leaf];
  return total / facts.samples[part].weight;
}

/** The number of leaves of the tree shown below a node. */
function leavesBelow(node, leaves) {
  return lowerBound(leaves, tree.end[node]) - lowerBound(leaves, node);
}

function lowerBound(sorted, value) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const half = (low + high) >> 1;
    if (sorted[half] < value) low = half + 1;
    else high = half;
  }
  return low;
}
