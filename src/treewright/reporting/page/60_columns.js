// Columns: how much each matters, at which depth it is asked, and how its values lie in the leaves.

const MOST_COLUMNS = 15, MOST_DEPTHS = 10, MOST_HISTOGRAMS = 16;
let isEveryColumn = false, chosenDistribution = 0;

function startColumns() {
  slowDrawers.push(drawImportance, drawDepths, drawDistribution);
}

/** The share of the gain that each column has in the tree shown. */
function gainShares() {
  const gains = new Map();
  let total = 0;
  for (let node = 0; node < size; node = isEnd(node) ? tree.end[node] : node + 1) {
    if (isEnd(node)) continue;
    total += tree.gain[node];
    const parts = partsOf(tree.feature[node]);  // the columns of a sum share what it gains
    for (const column of parts) gains.set(column, (gains.get(column) || 0) + tree.gain[node] / parts.length);
  }
  for (const [column, gain] of gains) gains.set(column, total > 0 ? gain / total : 0);
  return gains;
}

function drawImportance() {
  const gains = gainShares(), told = new Map(toldImportance.map((item) => [item.column, item]));
  const columns = [...new Set([...gains.keys(), ...told.keys()])]
    .sort((a, b) => (gains.get(b) || 0) - (gains.get(a) || 0) || shuffled(told, b) - shuffled(told, a) || a - b);
  const shown = isEveryColumn ? columns : columns.slice(0, MOST_COLUMNS);
  const hasShuffled = facts.importance.columns.some((item) => item.permutation !== null);
  const range = shuffleRange(toldImportance);
  const names = [{ text: "column" }, { text: "share of the gain" }, { text: "", number: true },
    ...(hasShuffled ? [{ text: `${lossName()} added by shuffling it` }, { text: "", number: true }] : [])];
  const rows = shown.map((column) => [shortened(columnWords(column), 40), bar(gains.get(column) || 0), percentWords(gains.get(column) || 0),
    ...(hasShuffled ? shuffleCells(told.get(column), range) : [])]);
  refill(byId("importance"),
    tag("h3", {}, "Importance"),
    tag("p.faint", {}, `The gain is that of the tree shown.${hasShuffled ? ` Shuffling was tried with the model, ${facts.importance.rows}; lines are intervals.` : ""}`),
    columns.length ? scrolled("Importance", table("Importance of the columns", names, rows, "importance")) : tag("p", {}, "The tree tests no column."),
    columns.length > MOST_COLUMNS ? button(isEveryColumn ? "Show fewer" : `Show all ${columns.length}`,
      () => { isEveryColumn = !isEveryColumn; drawImportance(); drawDepths(); }, "quiet") : null,
    facts.importance.note ? tag("p.faint", {}, facts.importance.note) : null);
}

const shuffled = (told, column) => (told.has(column) && told.get(column).permutation) || 0;

function shuffleRange(items) {
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

/** What shuffling adds to the loss as it is shown: of a squared error, to its root. */
function addedLoss(added) {
  if (!isSquared() || !Number.isFinite(added)) return added;
  const path = facts.paths[0], loss = meanLoss(judging, pruningAt(path, path.chosen).leaves);
  return shownLoss(loss + added) - shownLoss(loss);
}

/** The columns of the model with what shuffling them adds. */
const toldImportance = facts.importance.columns.map((item) => ({ ...item,
  ...Object.fromEntries(["permutation", "lower", "upper"].map((name) => [name, addedLoss(item[name])])) }));
const addedWords = (added) => (facts.loss.share ? percentWords(added) : numberWords(added));

/** What shuffling costs, as a dot with its interval, and as a number. */
function shuffleCells(item, [least, most]) {
  if (!item || item.permutation === null) return ["", "–"];
  const x = (value) => 4 + 112 * (value - least) / (most - least);
  const picture = shape("svg", { viewBox: "0 0 120 16", class: "dots", "aria-hidden": "true" },
    stroke("axis", x(0), 1, x(0), 15),
    item.lower === null || item.upper === null ? null : stroke("range", x(item.lower), 8, x(item.upper), 8),
    shape("circle.seen", { cx: x(item.permutation), cy: 8, r: 4 }));
  const interval = item.lower === null ? null : `${addedWords(item.lower)} to ${addedWords(item.upper)}`;
  return [picture, tag("span", { title: interval }, addedWords(item.permutation))];
}

// ---- use per depth -------------------------------------------------------------------------------------------

function drawDepths() {
  const uses = new Map(), rows = learnt.node_rows, all = learnt.rows;
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
  const columns = [...uses.keys()].sort((a, b) => gains.get(b) - gains.get(a) || a - b).slice(0, isEveryColumn ? undefined : MOST_COLUMNS);
  refill(byId("depths"),
    tag("h3", {}, "Use at each depth"),
    tag("p.faint", {}, "How many branches test a column; darker where more training rows meet the test."),
    columns.length ? scrolled("Use at each depth", depthTable(columns, uses, deepest, all)) : tag("p", {}, "The tree tests no column."));
}

function depthTable(columns, uses, deepest, all) {
  const depths = Array.from({ length: deepest + 1 }, (_, at) => at);
  const name = (at) => (at === MOST_DEPTHS - 1 && deepest === at ? `${at}+` : String(at));
  return tag("table.heat", {},
    tag("caption.hidden", {}, "Number of branches that test each column, by depth"),
    tag("thead", {}, tag("tr", {}, tag("th", { scope: "col" }, "depth"), depths.map((at) => tag("th", { scope: "col" }, name(at))))),
    tag("tbody", {}, columns.map((column) => tag("tr", {},
      tag("th", { scope: "row" }, shortened(columnWords(column), 28)),
      depths.map((at) => heatCell(uses.get(column)[at], Math.min(1, uses.get(column)[at].rows / all)))))));
}

function heatCell({ times, rows }, share) {
  const cell = tag("td", { title: times ? `${plural(times, "branch", "branches")}, ${rowsWords(rows)}` : null }, times ? countWords(times) : "");
  return times ? styled(cell, { "--heat": `${Math.round(14 + 60 * Math.sqrt(share))}%` }) : cell;
}

// ---- distribution per leaf -----------------------------------------------------------------------------------

function drawDistribution() {
  const facet = facts.distributions, card = byId("distribution");
  if (!facet || !facet.columns.length) {
    card.hidden = true;
    return;
  }
  const select = tag("select", { id: "distribution-column", "aria-label": "Column" },
    optionsOf(facet.columns.map((item, i) => [String(i), columnWords(item.column)]), String(chosenDistribution)));
  select.addEventListener("change", () => { chosenDistribution = Number(select.value); drawDistribution(); byId("distribution-column").focus(); });
  const groups = distributionGroups(facet), told = groups.slice(0, MOST_HISTOGRAMS);
  const all = summed(facet, 0), item = facet.columns[chosenDistribution];
  refill(card,
    tag("h3", {}, "Values of a column in each leaf"),
    tag("p.choice", {}, select, " ", faint(groupWords(groups.length, told.length), " Outlines show all rows.")),
    tag("p", {}, faint(binWords(item, hasMissing(all)))),
    tag("div.histograms", {}, [0, ...told.filter((node) => node)].map((node) => histogram(node, summed(facet, node), all, item))));
}

/** Which leaves are drawn. */
function groupWords(groups, told) {
  const { length } = view.shown.leaves, rows = `${PART_WORDS[facts.distributions.sample]} rows`;
  if (groups < length) return `The largest parts of the tree, ${countWords(told)} of them, by their ${rows}.`;
  return told < groups ? `The ${countWords(told)} leaves with most ${rows}, of ${countWords(length)}.` : `All leaves, by their ${rows}.`;
}

/** What the bars stand for, for those who cannot point at them. */
function binWords(item, isMissing) {
  const column = facts.columns[item.column], last = isMissing ? "; the last one, apart, are missing values" : "";
  if (item.edges) return `Each bar runs from one of these values to the next: ${item.edges.map((edge) => valueWords(column, edge)).join(" · ")}${last}.`;
  return `Bars: ${item.labels.slice(0, -1).map((label) => shortened(label, 24)).join(" · ")}${last}.`;
}

/** The leaves of the tree shown; where counts are of a larger node, that node in their place. Most rows first. */
function distributionGroups(facet) {
  const rows = facts.samples[facet.sample].node_rows, known = facet.nodes, groups = new Set();
  for (const leaf of view.shown.leaves) {
    const at = lowerBound(known, leaf + 1) - 1;
    groups.add(at >= 0 && isInside(leaf, known[at]) ? known[at] : leaf);
  }
  return [...groups].sort((a, b) => rows[b] - rows[a] || a - b);
}

/** The bins of the chosen column at a node: the sum over the nodes inside it that were counted. */
function summed(facet, node) {
  let total = null;
  for (let i = lowerBound(facet.nodes, node); i < facet.nodes.length && facet.nodes[i] < tree.end[node]; i++) {
    const bins = facet.counts[facet.nodes[i]][chosenDistribution];
    total = total ? total.map((count, j) => count + bins[j]) : [...bins];
  }
  return total || [];
}

const hasMissing = (bins) => bins[bins.length - 1] > 0;

function histogram(node, bins, all, item) {
  const rows = bins.reduce((sum, count) => sum + count, 0), allRows = all.reduce((sum, count) => sum + count, 0);
  const top = Math.max(1e-9, ...bins.map((count) => count / Math.max(rows, 1)), ...all.map((count) => count / allRows));
  const wide = 200 / (hasMissing(all) ? all.length + 0.4 : all.length - 1), high = 64, last = all.length - 1;
  const drawn = all.slice(0, hasMissing(all) ? undefined : -1).flatMap((count, i) => {
    const x = i * wide + 1 + (i === last ? 0.4 * wide : 0);
    const own = high * (bins[i] || 0) / Math.max(rows, 1) / top, whole = high * count / allRows / top;
    const isMissing = i === last;
    return [
      shape("rect", { class: isMissing ? "bin missing" : "bin", x, width: Math.max(1, wide - 2), y: high - own, height: own, fill: node ? colourOf(node) : null },
        shape("title", {}, `${item.labels[i] || (isMissing ? "missing" : "")}: ${rowsWords(bins[i] || 0)}`)),
      shape("rect.outline", { x, width: Math.max(1, wide - 2), y: high - whole, height: whole }),
    ];
  });
  const ends = binEnds(item);
  return tag("figure.histogram", {},
    tag("figcaption", {}, histogramTitle(node), faint(rowsWords(rows))),
    shape("svg", { viewBox: `0 0 200 ${high + 16}`, role: "img", "aria-label": histogramWords(node, bins, item) }, drawn,
      stroke("axis", 0, high, 200, high),
      shape("text.tick", { x: 0, y: high + 12 }, ends[0]),
      shape("text.tick", { x: last * wide, y: high + 12, "text-anchor": "end" }, ends[1])));
}

function histogramWords(node, bins, item) {
  const rows = Math.max(1, bins.reduce((sum, count) => sum + count, 0));
  const said = bins.flatMap((count, i) => (count ? [`${item.labels[i]}: ${percentWords(count / rows, 0)}`] : []));
  return shortened(`${columnWords(item.column)} at node ${node}: ${said.join(", ")}`, 600);
}

function histogramTitle(node) {
  if (!node) return tag("b", {}, "All rows");
  return leafLink(node, shortened(`${answerWords(node)}: ${wordsInto(node)}`, 48));
}

function binEnds(item) {
  const column = facts.columns[item.column];
  if (item.edges) return [valueWords(column, item.edges[0]), valueWords(column, item.edges[item.edges.length - 1])];
  return [shortened(item.labels[0] || "", 14), item.labels.length > 2 ? shortened(item.labels[item.labels.length - 2], 14) : ""];
}
