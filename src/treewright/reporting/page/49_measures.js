// Measures of quality of some leaves on a sample: pure functions of the counts at the nodes.

/** Weights by [true class][predicted class]. */
function confusionOf(part, leaves) {
  const n = facts.classes.length;
  const cells = Array.from({ length: n }, () => new Float64Array(n));
  for (const leaf of leaves) {
    for (const [truth, weight] of classPairs(part, leaf)) cells[truth][tree.label[leaf]] += weight;
  }
  return cells;
}

/** The most frequent errors, where there are too many classes for a table: [true class, predicted class, weight]. */
function frequentErrors(part, leaves, most) {
  const sums = new Map();
  for (const leaf of leaves) {
    for (const [truth, weight] of classPairs(part, leaf)) {
      if (truth === tree.label[leaf]) continue;
      const key = truth * facts.classes.length + tree.label[leaf];
      sums.set(key, (sums.get(key) || 0) + weight);
    }
  }
  const errors = [...sums].sort((a, b) => b[1] - a[1]).slice(0, most);
  return errors.map(([key, weight]) => [Math.floor(key / facts.classes.length), key % facts.classes.length, weight]);
}

/** The predicted share of a class in each leaf with rows of a sample, their weight, and the weight of the class. */
function scores(part, leaves, code) {
  const list = [];
  for (const leaf of leaves) {
    const weight = weightAt(part, leaf);
    if (weight > 0) {
      list.push({ predicted: shareAt(trainName, populatedNode(leaf), code), weight, own: weight * shareAt(part, leaf, code) });
    }
  }
  return list;
}

/** The ROC curve of a class as points [false positive rate, true positive rate], and the area under it. */
function rocOf(part, leaves, code) {
  const list = scores(part, leaves, code).sort((a, b) => b.predicted - a.predicted);
  let truePositives = 0, falsePositives = 0;
  const sums = [[0, 0]];
  list.forEach(({ predicted, weight, own }, i) => {
    truePositives += own;
    falsePositives += weight - own;
    if (i === list.length - 1 || list[i + 1].predicted !== predicted) sums.push([falsePositives, truePositives]);  // equal scores are one step
  });
  if (!(truePositives > 0 && falsePositives > 0)) return { points: [], area: NaN };
  const points = sums.map(([x, y]) => [x / falsePositives, y / truePositives]);
  let area = 0;
  for (let i = 1; i < points.length; i++) area += (points[i][0] - points[i - 1][0]) * (points[i][1] + points[i - 1][1]) / 2;
  return { points, area };
}

/** Leaves in bins of the predicted share: mean prediction, observed share, weight, interval. */
function calibrationOf(part, leaves, code, bins = 10) {
  const groups = Array.from({ length: bins }, () => ({ predicted: 0, own: 0, weight: 0 }));
  for (const { predicted, weight, own } of scores(part, leaves, code)) {
    const group = groups[Math.min(bins - 1, Math.max(0, Math.ceil(predicted * bins - 1e-9) - 1))];  // bins include their upper edge
    group.predicted += predicted * weight;
    group.own += own;
    group.weight += weight;
  }
  return groups.filter((group) => group.weight > 0).map(({ predicted, own, weight }) => ({
    predicted: predicted / weight, observed: own / weight, weight, interval: wilson(own, weight),
  }));
}

/** Wilson's interval of a share at 95 %, approximate. */
function wilson(own, weight) {
  const z = 1.96, share = own / weight, shrunk = 1 + z * z / weight;
  const middle = (share + z * z / (2 * weight)) / shrunk;
  const reach = z * Math.sqrt(share * (1 - share) / weight + z * z / (4 * weight * weight)) / shrunk;
  return [Math.max(0, middle - reach), Math.min(1, middle + reach)];
}

/** One row of the table of leaves. */
function leafFacts(leaf) {
  const part = facts.samples[evalName], rows = part.node_rows[leaf];
  return {
    leaf,
    get words() { return conditionWords(leaf); },  // computed on demand: there may be 10,000 leaves
    answer: isClasses ? tree.label[leaf] : tree.value[leaf],
    rows,
    share: rows / part.rows,
    loss: rows ? lossAt(evalName, leaf) : NaN,
    lower: facts.intervals ? facts.intervals.lower[leaf] : NaN,
    upper: facts.intervals ? facts.intervals.upper[leaf] : NaN,
    trainRows: trainSample.node_rows[leaf],
  };
}
