// What there is to know about the selected node.

const MOST_CONDITIONS = 12;  // of the way to a node; of a longer one the last ones

function drawDetail() {
  const node = view.selected;
  refill(byId("panel-node"),
    detailHead(node),
    foldButtons(node),
    conditionsOf(node),
    isClasses ? classBars(node) : numberSummary(node),
    partsTable(node),
    isClasses ? intervalOf(node) : residualsOf(node),
    questionOf(node),
    rivalsOf(node),
    standInsAt(node));
}

function detailHead(node) {
  const kind = isEnd(node) ? "Leaf" : node ? "Branch" : "Root";
  return tag("div.detail-head", {},
    faint(`${kind} ${node}`),
    tag("h3", {}, swatch(colourOf(node)), answerWords(node)));
}

function foldButtons(node) {
  if (isEnd(node)) return null;
  return tag("p.buttons.loose", {},
    button(isUnfolded(node) ? "Fold" : "Unfold", () => toggleFold(node)),
    button("Unfold all below", () => unfoldBelow(node)));
}

function conditionsOf(node) {
  const line = lineage(node).slice(1);
  if (!line.length) return null;
  const shown = line.slice(-MOST_CONDITIONS);
  return tag("div", {},
    tag("h4", {}, "A row comes here if"),
    line.length > shown.length ? tag("p.faint", {}, `… ${plural(line.length - shown.length, "test", "tests")} above, and`) : null,
    tag("ol.conditions", {}, shown.map((at) => tag("li", {},
      button(shortened(wordsInto(at), 160), () => goToNode(parentOf[at]), "link")))));
}

/** Select a node from elsewhere on the page, and show it. */
function goToNode(node) {
  if (reveal(node).length) drawTree();
  selectNode(node);
  chooseTab("node");
  bringIntoView(visibleFor(node));
}

function classBars(node) {
  const weight = weightAt(learning, node);
  const pairs = [...classPairs(learning, node)].filter(([code, own]) => own > 0 || facts.classes.length <= 6)
    .sort((a, b) => (facts.classes.length <= 6 ? a[0] - b[0] : b[1] - a[1])).slice(0, 12);
  return tag("div", {},
    tag("h4", {}, `Classes of the ${PART_WORDS[learning]} rows`),
    tag("div.bars", {}, pairs.map(([code, own]) => [
      tag("span.bar-name", {}, shortened(classWords(code), 40)),
      bar(own / weight, facts.colours[code]),
      tag("span.number", {}, `${percentWords(own / weight)}`),
      tag("span.number.faint", {}, countWords(own))])));
}

function numberSummary(node) {
  const part = learnt;
  return tag("p.after", {}, `It answers ${answerWords(node)}; the ${PART_WORDS[learning]} rows here have the mean `
    + `${numberWords(part.mean[node])} and the standard deviation ${numberWords(part.deviation[node])}.`);
}

function partsTable(node) {
  const rows = partNames.map((name) => {
    const here = facts.samples[name].node_rows[node];
    return [capital(PART_WORDS[name]), countWords(here), percentWords(here / facts.samples[name].rows),
      here ? lossWords(lossAt(name, node)) : "–"];
  });
  const names = [{ text: "sample" }, { text: "rows", number: true }, { text: "share", number: true },
    { text: lossName(), number: true }];
  return table(`Rows and ${lossName()} of each sample at node ${node}`, names, rows, "small");
}

/** The interval of a node's own error, as a sentence and as a picture. */
function intervalOf(node) {
  const intervals = facts.intervals;
  if (!intervals) return null;
  const rows = facts.samples[intervals.sample].node_rows[node];
  if (!rows) return tag("p.faint", {}, `No ${PART_WORDS[intervals.sample]} row came here, so nothing is known of its error.`);
  const [low, high] = [intervals.lower[node], intervals.upper[node]];
  const sure = numberWords(100 * (1 - facts.delta));
  return tag("div", {},
    tag("p", {}, `Its true error lies between ${percentWords(low)} and ${percentWords(high)}, with ${sure} % confidence for this node by itself.`),
    intervalPicture(low, high, facts.loss.share ? lossAt(intervals.sample, node) : 1 - confidenceAt(intervals.sample, node)));
}

function intervalPicture(low, high, seen) {
  const x = (share) => 2 + 236 * share;
  return shape("svg", { viewBox: "0 0 240 26", class: "interval", "aria-hidden": "true" },
    stroke("axis", 2, 9, 238, 9),
    stroke("range", x(low), 9, Math.max(x(high), x(low) + 2), 9),
    shape("circle.seen", { cx: x(seen), cy: 9, r: 4.5 }),
    shape("text", { x: 2, y: 24, class: "faint" }, "0 %"),
    shape("text", { x: 238, y: 24, class: "faint", "text-anchor": "end" }, "100 %"));
}

function residualsOf(node) {
  const found = facts.samples[judging].residuals && facts.samples[judging].residuals[node];
  if (!found) return null;
  const reach = Math.max(...found.map(Math.abs)) || 1;
  return tag("div", {},
    tag("h4", {}, `How far ${PART_WORDS[judging]} rows lie from the answer`),
    shape("svg", { viewBox: "0 0 240 40", class: "interval", role: "img" },
      shape("title", {}, `Nine of ten lie between ${numberWords(found[0])} and ${numberWords(found[4])}, half between ${numberWords(found[1])} and ${numberWords(found[3])}`),
      ...boxPlot(found, (value) => 50 + 47 * value / reach, 13, colourOf(node)),
      stroke("axis", 120, 2, 120, 25),
      shape("text", { x: 2, y: 38, class: "faint" }, numberWords(found[0], 3)),
      shape("text", { x: 120, y: 38, class: "faint", "text-anchor": "middle" }, "0"),
      shape("text", { x: 238, y: 38, class: "faint", "text-anchor": "end" }, numberWords(found[4], 3))));
}

/** Quantiles (5, 25, 50, 75, 95 %) as a line, a box and a stroke; `x` gives per cent of the width. */
function boxPlot(quantiles, x, y, colour) {
  const at = quantiles.map(x);
  return [
    stroke("whisker", `${at[0]}%`, y, `${at[4]}%`, y),
    shape("rect.quartiles", { x: `${at[1]}%`, y: y - 7, width: `${Math.max(0.4, at[3] - at[1])}%`, height: 14, rx: 2, fill: colour }),
    stroke("median", `${at[2]}%`, y - 7, `${at[2]}%`, y + 7),
  ];
}

function questionOf(node) {
  if (!isBranch(node)) return null;
  const rows = learnt.node_rows;
  const side = (child) => tag("li", {},
    `${shortened(wordsInto(child), 300)} `, faint(`(${rowsWords(rows[child])})`));
  const title = isEnd(node) ? "The test that was pruned here" : "Its test";
  return tag("div", {},
    tag("h4", {}, title),
    tag("ul.plain", {}, branchesOf(node, view.shown.ends).map(side)),
    tag("p.faint", {}, `It takes away ${percentWords(gainOf(node, view.shown.ends), 2)} of the risk at the root.`));
}

/** Other columns that could be tested, each with a bar of how well. */
function rivalsOf(node) {
  const list = isBranch(node) && Object.hasOwn(facts.competitors, node) ? facts.competitors[node] : [];
  if (!list.length) return null;
  const gain = gainOf(node, view.shown.ends);
  const most = Math.max(gain, ...list.map((rival) => rival.gain));
  const own = { words: tree.left_words[node], gain, isOwn: true };
  return tag("div", {},
    tag("h4", {}, "Other columns that would split here"),
    tag("div.bars.wide-names", {}, [own, ...list].map((rival) => [
      tag("span", { class: rival.isOwn ? "bar-name strong" : "bar-name" }, tidyWords(shortened(rival.words, 80))),
      bar(rival.gain / most),
      tag("span.number", {}, percentWords(rival.gain, 2))])));
}

/** Where a row goes that misses the value: the surrogates in order, with how often they agree; or both sides. */
function standInsAt(node) {
  if (!isBranch(node) || isEnd(node) || !(facts.surrogates || isDivided)) return null;
  const title = tag("h4", {}, "If the value is missing");
  const name = (child, words) => tidyWords(shortened(words, 60));
  if (isDivided) {
    const left = tree.left_share[node];
    return tag("div", {}, title, tag("p", {},
      `${percentWords(left)} of the row goes with ${name(leftOf(node), tree.left_words[node])}, `
      + `${percentWords(1 - left)} with ${name(rightOf(node), tree.right_words[node])}.`));
  }
  const tests = standInsOf(node), side = tree.missing_left[node] ? "yes" : "no";
  const last = `It counts as ${side}${tests.length ? " where none of them is known." : "."}`;
  return tag("div", {}, title,
    tests.length ? tag("p.faint", {}, "It counts as yes by the first of these that is known:") : null,
    tests.length ? tag("div.bars.wide-names.stand-ins", {}, tests.map((test) => [
      tag("span.bar-name", {}, tidyWords(shortened(test.words, 80)), faint(` adjusted ${percentWords(test.adjusted)}`)),
      bar(test.agreement),
      tag("span.number", {}, percentWords(test.agreement))])) : null,
    tag("p.faint", {}, last));
}

// ---- tabs ----------------------------------------------------------------------------------------------------

const TABS = ["node", "trial"];

function chooseTab(wanted) {
  const isTrying = wanted === "trial";
  for (const name of TABS) {
    byId(`tab-${name}`).setAttribute("aria-selected", name === wanted);
    byId(`tab-${name}`).setAttribute("tabindex", name === wanted ? 0 : -1);
    byId(`panel-${name}`).hidden = name !== wanted;
  }
  if (view.isTrying === isTrying) return;
  view.isTrying = isTrying;
  if (isTrying) followRow(true);
  else markNodes();
}

function startTabs() {
  for (const name of TABS) {
    byId(`tab-${name}`).addEventListener("click", () => chooseTab(name));
    byId(`tab-${name}`).addEventListener("keydown", (event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      const other = TABS[1 - TABS.indexOf(name)];
      chooseTab(other);
      byId(`tab-${other}`).focus();
    });
  }
  quickDrawers.push(drawDetail);
}
