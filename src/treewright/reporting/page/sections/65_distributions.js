// The distribution of a column in each leaf of the tree shown.

const MOST_HISTOGRAMS = 16;
let chosenDistribution = 0;

if (facts.distributions && facts.distributions.columns.length) {
  addSection({ id: "distributions", title: "Distributions", link: "Distributions", place: "workbench", build: (part) => {
    part.append(tag("div.card", { id: "distribution" }));
    slowDrawers.push(drawDistribution);
  } });
}

function drawDistribution() {
  const facet = facts.distributions, card = byId("distribution");
  const select = tag("select", { id: "distribution-column", "aria-label": "Column" },
    optionsOf(facet.columns.map((item, i) => [String(i), columnWords(item.column)]), String(chosenDistribution)));
  select.addEventListener("change", () => { chosenDistribution = Number(select.value); drawDistribution(); byId("distribution-column").focus(); });
  const groups = distributionGroups(facet), nodes = groups.slice(0, MOST_HISTOGRAMS);
  const all = binCounts(facet, 0), item = facet.columns[chosenDistribution];
  refill(card,
    tag("h3", {}, "Values of a column in each leaf"),
    tag("p.choice", {}, select, " ", faint(groupWords(groups.length, nodes.length), " Outlines: all rows.")),
    tag("p", {}, faint(binWords(item, hasMissing(all)))),
    tag("div.histograms", {}, [0, ...nodes.filter((node) => node)].map((node) => histogram(node, binCounts(facet, node), all, item))));
}

/** Which leaves are drawn. */
function groupWords(groups, count) {
  const { length } = view.pruning.leaves, rows = `${SAMPLE_WORDS[facts.distributions.sample]} rows`;
  if (groups < length) return `The ${countWords(count)} largest parts of the tree, by ${rows}.`;
  return count < groups ? `The ${countWords(count)} leaves with the most ${rows}, of ${countWords(length)}.` : `All leaves, by ${rows}.`;
}

/** The meaning of the bars as text, for touch screens, print and screen readers. */
function binWords(item, isMissing) {
  const column = facts.columns[item.column], last = isMissing ? "; missing values are the last, separate bar" : "";
  if (item.edges) return `Edges of the bins: ${item.edges.map((edge) => valueWords(column, edge)).join(" · ")}${last}.`;
  return `Bars: ${item.labels.slice(0, -1).map((label) => shorten(label, 24)).join(" · ")}${last}.`;
}

/** The leaves of the tree shown; where counts are of a larger node, that node in their place. Most rows first. */
function distributionGroups(facet) {
  const rows = facts.samples[facet.sample].node_rows, known = facet.nodes, groups = new Set();
  for (const leaf of view.pruning.leaves) {
    const at = lowerBound(known, leaf + 1) - 1;
    groups.add(at >= 0 && isInside(leaf, known[at]) ? known[at] : leaf);
  }
  return [...groups].sort((a, b) => rows[b] - rows[a] || a - b);
}

/** The bins of the selected column at a node: the sum over the counted nodes below it. */
function binCounts(facet, node) {
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
  const bars = all.slice(0, hasMissing(all) ? undefined : -1).flatMap((count, i) => {
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
    shape("svg", { viewBox: `0 0 200 ${high + 16}`, role: "img", "aria-label": histogramWords(node, bins, item) }, bars,
      stroke("axis", 0, high, 200, high),
      shape("text.tick", { x: 0, y: high + 12 }, ends[0]),
      shape("text.tick", { x: last * wide, y: high + 12, "text-anchor": "end" }, ends[1])));
}

function histogramWords(node, bins, item) {
  const rows = Math.max(1, bins.reduce((sum, count) => sum + count, 0));
  const shares = bins.flatMap((count, i) => (count ? [`${item.labels[i]}: ${percentWords(count / rows, 0)}`] : []));
  return shorten(`${columnWords(item.column)} at node ${node}: ${shares.join(", ")}`, 600);
}

function histogramTitle(node) {
  if (!node) return tag("b", {}, "All rows");
  return leafLink(node, shorten(`${answerWords(node)}: ${conditionWords(node)}`, 48));
}

function binEnds(item) {
  const column = facts.columns[item.column];
  if (item.edges) return [valueWords(column, item.edges[0]), valueWords(column, item.edges[item.edges.length - 1])];
  return [shorten(item.labels[0] || "", 14), item.labels.length > 2 ? shorten(item.labels[item.labels.length - 2], 14) : ""];
}
