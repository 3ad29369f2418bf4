// The details of the selected node.

const MOST_CONDITIONS = 12;  // of the path to a node; of a longer one the last ones

function drawDetail() {
  const node = view.selected;
  refill(byId("panel-node"),
    detailHead(node),
    foldButtons(node),
    conditionsCard(node),
    isClasses ? classBars(node) : numberSummary(node),
    samplesTable(node),
    isClasses ? intervalCard(node) : residualsCard(node),
    testCard(node),
    competitorsCard(node),
    surrogatesCard(node));
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

function conditionsCard(node) {
  const line = lineage(node).slice(1);
  if (!line.length) return null;
  const last = line.slice(-MOST_CONDITIONS);
  return tag("div", {},
    tag("h4", {}, "Conditions for this node"),
    line.length > last.length ? tag("p.faint", {}, `… ${plural(line.length - last.length, "test", "tests")} above`) : null,
    tag("ol.conditions", {}, last.map((at) => tag("li", {},
      button(shorten(conditionWords(at), 160), () => goToNode(parentOf[at]), "link")))));
}

/** Select a node from elsewhere on the page, and show it. */
function goToNode(node) {
  if (reveal(node).length) drawTree();
  selectNode(node);
  chooseTab("node");
  bringIntoView(visibleFor(node));
}

function classBars(node) {
  const weight = weightAt(trainName, node);
  const pairs = [...classPairs(trainName, node)].filter(([code, own]) => own > 0 || facts.classes.length <= 6)
    .sort((a, b) => (facts.classes.length <= 6 ? a[0] - b[0] : b[1] - a[1])).slice(0, 12);
  const others = weight - pairs.reduce((sum, [, own]) => sum + own, 0);
  return tag("div", {},
    tag("h4", {}, `Classes of the ${SAMPLE_WORDS[trainName]} rows`),
    tag("div.bars", {}, pairs.map(([code, own]) => line(shorten(classWords(code), 40), own, facts.colours[code])),
      others > 1e-6 * weight ? line("all others", others, "var(--faint)") : null));

  function line(name, own, colour) {
    return [tag("span.bar-name", {}, name), bar(own / weight, colour),
      tag("span.number", {}, percentWords(own / weight)), tag("span.number.faint", {}, countWords(own))];
  }
}

function numberSummary(node) {
  const part = trainSample;
  return tag("p.after", {}, `Prediction: ${answerWords(node)}. The ${SAMPLE_WORDS[trainName]} rows of this node have the mean `
    + `${numberWords(part.mean[node])} and the standard deviation ${numberWords(part.deviation[node])}.`);
}

function samplesTable(node) {
  const rows = sampleNames.map((name) => {
    const here = facts.samples[name].node_rows[node];
    return [capital(SAMPLE_WORDS[name]), countWords(here), percentWords(here / facts.samples[name].rows),
      here ? lossWords(lossAt(name, node)) : "–"];
  });
  const names = [{ text: "sample" }, { text: "rows", number: true }, { text: "share", number: true },
    { text: lossName(), number: true }];
  return table(`Rows and ${lossName()} of each sample at node ${node}`, names, rows, "small");
}

/** The confidence interval of a node's error rate, as a sentence and as a picture. */
function intervalCard(node) {
  const intervals = facts.intervals;
  if (!intervals) return null;
  const rows = facts.samples[intervals.sample].node_rows[node];
  if (!rows) return tag("p.faint", {}, `No ${SAMPLE_WORDS[intervals.sample]} row reaches this node, so its error rate is unknown.`);
  const [low, high] = [intervals.lower[node], intervals.upper[node]];
  const sure = numberWords(100 * (1 - facts.delta));
  return tag("div", {},
    tag("p", {}, `The true error rate of this node is between ${percentWords(low)} and ${percentWords(high)}, with ${sure} % confidence for this node alone.`),
    intervalPicture(low, high, facts.loss.share ? lossAt(intervals.sample, node) : 1 - confidenceAt(intervals.sample, node)));
}

function intervalPicture(low, high, estimate) {
  const x = (share) => 2 + 236 * share;
  return shape("svg", { viewBox: "0 0 240 26", class: "interval", "aria-hidden": "true" },
    stroke("axis", 2, 9, 238, 9),
    stroke("range", x(low), 9, Math.max(x(high), x(low) + 2), 9),
    shape("circle.estimate", { cx: x(estimate), cy: 9, r: 4.5 }),
    shape("text", { x: 2, y: 24, class: "faint" }, "0 %"),
    shape("text", { x: 238, y: 24, class: "faint", "text-anchor": "end" }, "100 %"));
}

function residualsCard(node) {
  const quantiles = facts.samples[evalName].residuals && facts.samples[evalName].residuals[node];
  if (!quantiles) return null;
  const reach = Math.max(...quantiles.map(Math.abs)) || 1;
  return tag("div", {},
    tag("h4", {}, `Residuals of the ${SAMPLE_WORDS[evalName]} rows`),
    shape("svg", { viewBox: "0 0 240 40", class: "interval", role: "img" },
      shape("title", {}, `90 % of the residuals are between ${numberWords(quantiles[0])} and ${numberWords(quantiles[4])}, half between ${numberWords(quantiles[1])} and ${numberWords(quantiles[3])}`),
      ...boxPlot(quantiles, (value) => 50 + 47 * value / reach, 13, colourOf(node)),
      stroke("axis", 120, 2, 120, 25),
      shape("text", { x: 2, y: 38, class: "faint" }, numberWords(quantiles[0], 3)),
      shape("text", { x: 120, y: 38, class: "faint", "text-anchor": "middle" }, "0"),
      shape("text", { x: 238, y: 38, class: "faint", "text-anchor": "end" }, numberWords(quantiles[4], 3))));
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

function testCard(node) {
  if (!isBranch(node)) return null;
  const rows = trainSample.node_rows;
  const side = (child) => tag("li", {},
    `${shorten(conditionWords(child), 300)} `, faint(`(${rowsWords(rows[child])})`));
  const title = isEnd(node) ? "Pruned split" : "Split";
  return tag("div", {},
    tag("h4", {}, title),
    tag("ul.plain", {}, branchesOf(node, view.pruning.ends).map(side)),
    tag("p.faint", {}, `Risk reduction: ${percentWords(gainOf(node, view.pruning.ends), 2)} of the risk at the root.`));
}

/** The competitor splits of other columns, with bars of their risk reduction. */
function competitorsCard(node) {
  const list = isBranch(node) && Object.hasOwn(facts.competitors, node) ? facts.competitors[node] : [];
  if (!list.length) return null;
  const gain = gainOf(node, view.pruning.ends);
  const most = Math.max(gain, ...list.map((competitor) => competitor.gain));
  const own = { words: tree.left_words[node], gain, isOwn: true };
  return tag("div", {},
    tag("h4", {}, "Competitor splits by other columns"),
    tag("div.bars.wide-names", {}, [own, ...list].map((competitor) => [
      tag("span", { class: competitor.isOwn ? "bar-name strong" : "bar-name" }, typeset(shorten(competitor.words, 80))),
      bar(competitor.gain / most),
      tag("span.number", {}, percentWords(competitor.gain, 2))])));
}

/** The treatment of a missing value: the surrogates in order with their agreement, or the fractions of both branches. */
function surrogatesCard(node) {
  if (!isBranch(node) || isEnd(node) || !(facts.surrogates || isDivided)) return null;
  const title = tag("h4", {}, "If the value is missing");
  const name = (child, words) => typeset(shorten(words, 60));
  if (isDivided) {
    const left = tree.left_share[node];
    return tag("div", {}, title, tag("p", {},
      `The row is divided: ${percentWords(left)} of it to ${name(leftOf(node), tree.left_words[node])}, `
      + `${percentWords(1 - left)} to ${name(rightOf(node), tree.right_words[node])}.`));
  }
  const tests = surrogatesOf(node), side = tree.missing_left[node] ? "yes" : "no";
  const last = tests.length ? `If none is known: ${side}.` : `The result of the test is ${side}.`;
  return tag("div", {}, title,
    tests.length ? tag("p.faint", {}, "The first surrogate with a known value decides; yes if:") : null,
    tests.length ? tag("div.bars.wide-names.surrogates", {}, tests.map((test) => [
      tag("span.bar-name", {}, typeset(shorten(test.words, 80)), faint(` adjusted ${percentWords(test.adjusted)}`)),
      bar(test.agreement),
      tag("span.number", {}, percentWords(test.agreement))])) : null,
    tag("p.faint", {}, last));
}

// ---- tabs ----------------------------------------------------------------------------------------------------

const TABS = ["node", "trial"];

function chooseTab(tab) {
  const isTrying = tab === "trial";
  for (const name of TABS) {
    byId(`tab-${name}`).setAttribute("aria-selected", name === tab);
    byId(`tab-${name}`).setAttribute("tabindex", name === tab ? 0 : -1);
    byId(`panel-${name}`).hidden = name !== tab;
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
