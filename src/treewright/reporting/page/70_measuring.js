// What the leaves of a pruning are worth on the rows of a part: pure functions of node counts.

/** Weights by [truth][answer]. */
function confusionOf(part, leaves) {
  const n = facts.classes.length;
  const cells = Array.from({ length: n }, () => new Float64Array(n));
  for (const leaf of leaves) {
    for (const [truth, weight] of classPairs(part, leaf)) cells[truth][tree.label[leaf]] += weight;
  }
  return cells;
}

/** The heaviest mistakes where there are too many classes for a table: [truth, answer, weight]. */
function worstMistakes(part, leaves, most) {
  const sums = new Map();
  for (const leaf of leaves) {
    for (const [truth, weight] of classPairs(part, leaf)) {
      if (truth === tree.label[leaf]) continue;
      const key = truth * facts.classes.length + tree.label[leaf];
      sums.set(key, (sums.get(key) || 0) + weight);
    }
  }
  const found = [...sums].sort((a, b) => b[1] - a[1]).slice(0, most);
  return found.map(([key, weight]) => [Math.floor(key / facts.classes.length), key % facts.classes.length, weight]);
}

/** What the leaves say of a class, and what is true of a part: {said, weight, own} of each leaf with rows. */
function scores(part, leaves, code) {
  const found = [];
  for (const leaf of leaves) {
    const weight = weightAt(part, leaf);
    if (weight > 0) {
      found.push({ said: shareAt(learning, answeringOf(leaf), code), weight, own: weight * shareAt(part, leaf, code) });
    }
  }
  return found;
}

/** The ROC curve of a class as points [false alarms, hits], and the area under it. */
function rocOf(part, leaves, code) {
  const list = scores(part, leaves, code).sort((a, b) => b.said - a.said);
  let hits = 0, alarms = 0;
  const sums = [[0, 0]];
  list.forEach(({ said, weight, own }, i) => {
    hits += own;
    alarms += weight - own;
    if (i === list.length - 1 || list[i + 1].said !== said) sums.push([alarms, hits]);  // equal scores are one step
  });
  if (!(hits > 0 && alarms > 0)) return { points: [], area: NaN };
  const points = sums.map(([x, y]) => [x / alarms, y / hits]);
  let area = 0;
  for (let i = 1; i < points.length; i++) area += (points[i][0] - points[i - 1][0]) * (points[i][1] + points[i - 1][1]) / 2;
  return { points, area };
}

/** Leaves that say about the same, together: what they say, what is true, and how many rows that rests on. */
function calibrationOf(part, leaves, code, bins = 10) {
  const groups = Array.from({ length: bins }, () => ({ said: 0, own: 0, weight: 0 }));
  for (const { said, weight, own } of scores(part, leaves, code)) {
    const group = groups[Math.min(bins - 1, Math.max(0, Math.ceil(said * bins - 1e-9) - 1))];  // a share on a border is below it
    group.said += said * weight;
    group.own += own;
    group.weight += weight;
  }
  return groups.filter((group) => group.weight > 0).map(({ said, own, weight }) => ({
    said: said / weight, seen: own / weight, weight, interval: wilson(own, weight),
  }));
}

/** Wilson's interval of a share at 95 %: for the eye, not to be quoted. */
function wilson(own, weight) {
  const z = 1.96, share = own / weight, shrunk = 1 + z * z / weight;
  const middle = (share + z * z / (2 * weight)) / shrunk;
  const reach = z * Math.sqrt(share * (1 - share) / weight + z * z / (4 * weight * weight)) / shrunk;
  return [Math.max(0, middle - reach), Math.min(1, middle + reach)];
}

/** One line of the table of leaves. */
function leafFacts(leaf) {
  const part = facts.samples[judging], rows = part.node_rows[leaf];
  return {
    leaf,
    get words() { return wordsInto(leaf); },  // only where they are seen: there may be 10,000 leaves
    answer: isClasses ? tree.label[leaf] : tree.value[leaf],
    rows,
    share: rows / part.rows,
    loss: rows ? lossAt(judging, leaf) : NaN,
    lower: facts.intervals ? facts.intervals.lower[leaf] : NaN,
    upper: facts.intervals ? facts.intervals.upper[leaf] : NaN,
    learnt: learnt.node_rows[leaf],
  };
}
