// The importance of the columns: gain, permutation importance, and the depths at which they are tested.

const MOST_COLUMNS = 15, MOST_DEPTHS = 10;
let isEveryColumn = false;

addSection({ id: "importance", title: "Columns", link: "Columns", place: "workbench", build: (part) => {
  part.append(tag("div.two.even", {}, tag("div.card", { id: "gains" }), tag("div.card", { id: "depths" })));
  slowDrawers.push(drawImportance, drawDepths);
} });

/** The share of each column in the gain of the tree shown. */
function gainShares() {
  const gains = new Map();
  let total = 0;
  for (let node = 0; node < size; node = isEnd(node) ? tree.end[node] : node + 1) {
    if (isEnd(node)) continue;
    total += tree.gain[node];
    const parts = partsOf(tree.feature[node]);  // the columns of a sum share its gain
    for (const column of parts) gains.set(column, (gains.get(column) || 0) + tree.gain[node] / parts.length);
  }
  for (const [column, gain] of gains) gains.set(column, total > 0 ? gain / total : 0);
  return gains;
}

function drawImportance() {
  const gains = gainShares(), permutations = new Map(modelImportance.map((item) => [item.column, item]));
  const columns = [...new Set([...gains.keys(), ...permutations.keys()])]
    .sort((a, b) => (gains.get(b) || 0) - (gains.get(a) || 0) || permutationOf(permutations, b) - permutationOf(permutations, a) || a - b);
  const listed = isWhole() ? columns : columns.slice(0, MOST_COLUMNS);
  const hasPermutation = facts.importance.columns.some((item) => item.permutation !== null);
  const range = permutationRange(modelImportance);
  const names = [{ text: "column" }, { text: "share of gain" }, { text: "", number: true },
    ...(hasPermutation ? [{ text: `rise of the ${lossName()} by permutation` }, { text: "", number: true }] : [])];
  const rows = listed.map((column) => [shorten(columnWords(column), 40), bar(gains.get(column) || 0), percentWords(gains.get(column) || 0),
    ...(hasPermutation ? permutationCells(permutations.get(column), range) : [])]);
  refill(byId("gains"),
    tag("h3", {}, "Importance"),
    tag("p.faint", {}, `Gain of the tree shown.${hasPermutation ? ` Permutation importance of the model, ${facts.importance.rows}, with confidence intervals.` : ""}`),
    columns.length ? scrollBox("Importance", table("Importance of the columns", names, rows, "importance")) : tag("p", {}, "The tree tests no column."),
    columns.length > MOST_COLUMNS ? button(isEveryColumn ? "Show fewer" : `Show all ${columns.length}`,
      () => { isEveryColumn = !isEveryColumn; drawImportance(); drawDepths(); }, "quiet") : null,
    facts.importance.note ? tag("p.faint", {}, facts.importance.note) : null);
}

const isWhole = () => isEveryColumn || view.isPrinting;
const permutationOf = (items, column) => (items.has(column) && items.get(column).permutation) || 0;

function permutationRange(items) {
  let least = 0, most = 1e-12;
  for (const item of items) {
    for (const value of [item.permutation, item.lower, item.upper]) {
      if (!Number.isFinite(value)) continue;
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
  }
  return [least, most];
}

/** The rise of the loss in the units of the page: for a squared error, of its root. */
function addedLoss(added) {
  if (!isSquared() || !Number.isFinite(added)) return added;
  const path = facts.pruning[0], loss = meanLoss(evalName, pruningAt(path, path.chosen).leaves);
  return displayLoss(loss + added) - displayLoss(loss);
}

/** The columns of the model with their permutation importance. */
const modelImportance = facts.importance.columns.map((item) => ({ ...item,
  ...Object.fromEntries(["permutation", "lower", "upper"].map((name) => [name, addedLoss(item[name])])) }));
const addedWords = (added) => (facts.loss.share ? percentWords(added) : numberWords(added));

/** Permutation importance as a dot with its interval, and as a number. */
function permutationCells(item, [least, most]) {
  if (!item || item.permutation === null) return ["", "–"];
  const x = (value) => 4 + 112 * (value - least) / (most - least);
  const picture = shape("svg", { viewBox: "0 0 120 16", class: "dots", "aria-hidden": "true" },
    stroke("axis", x(0), 1, x(0), 15),
    item.lower === null || item.upper === null ? null : stroke("range", x(item.lower), 8, x(item.upper), 8),
    shape("circle.estimate", { cx: x(item.permutation), cy: 8, r: 4 }));
  const interval = item.lower === null ? null : `${addedWords(item.lower)} to ${addedWords(item.upper)}`;
  return [picture, tag("span", { title: interval }, addedWords(item.permutation))];
}

// ---- use per depth -------------------------------------------------------------------------------------------

function drawDepths() {
  const uses = new Map(), rows = trainSample.node_rows, all = trainSample.rows;
  let deepest = 0;
  for (let node = 0; node < size; node = isEnd(node) ? tree.end[node] : node + 1) {
    if (isEnd(node) || joined[node]) continue;
    const at = Math.min(depth[node], MOST_DEPTHS - 1);
    for (const column of partsOf(tree.feature[node])) {
      if (!uses.has(column)) uses.set(column, Array.from({ length: MOST_DEPTHS }, () => ({ times: 0, rows: 0 })));
      const cell = uses.get(column)[at];
      cell.times++;
      cell.rows += rows[node];
    }
    deepest = Math.max(deepest, at);
  }
  const gains = gainShares();
  const columns = [...uses.keys()].sort((a, b) => gains.get(b) - gains.get(a) || a - b).slice(0, isWhole() ? undefined : MOST_COLUMNS);
  refill(byId("depths"),
    tag("h3", {}, "Use at each depth"),
    tag("p.faint", {}, "Number of tests of each column; darker where more training rows reach them."),
    columns.length ? scrollBox("Use at each depth", depthTable(columns, uses, deepest, all)) : tag("p", {}, "The tree tests no column."));
}

function depthTable(columns, uses, deepest, all) {
  const depths = Array.from({ length: deepest + 1 }, (_, at) => at);
  const name = (at) => (at === MOST_DEPTHS - 1 && deepest === at ? `${at}+` : String(at));
  return tag("table.heat", {},
    tag("caption.hidden", {}, "Number of branches that test each column, by depth"),
    tag("thead", {}, tag("tr", {}, tag("th", { scope: "col" }, "depth"), depths.map((at) => tag("th", { scope: "col" }, name(at))))),
    tag("tbody", {}, columns.map((column) => tag("tr", {},
      tag("th", { scope: "row" }, shorten(columnWords(column), 28)),
      depths.map((at) => heatCell(uses.get(column)[at], Math.min(1, uses.get(column)[at].rows / all)))))));
}

function heatCell({ times, rows }, share) {
  const cell = tag("td", { title: times ? `${plural(times, "branch", "branches")}, ${rowsWords(rows)}` : null }, times ? countWords(times) : "");
  return times ? withStyle(cell, { "--heat": `${Math.round(14 + 60 * Math.sqrt(share))}%` }) : cell;
}
