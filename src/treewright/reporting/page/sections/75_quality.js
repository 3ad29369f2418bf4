// The quality of the tree shown: confusion matrix, ROC and calibration, or residuals; and a table of its leaves.

const MOST_LEAVES = 25, MOST_BOXES = 40;
const quality = { code: firstCode(), sort: "rows", isUp: false, isEvery: false };

/** The second of two classes, else the one of most rows: others may have none. */
function firstCode() {
  const n = facts.classes.length;
  if (n < 3) return Math.max(0, n - 1);
  return classPairs(evalName, 0).reduce((most, pair) => (pair[1] > most[1] ? pair : most), [0, 0])[0];
}

addSection({ id: "quality", title: "Quality", link: "Quality", place: "workbench", build: (part) => {
  appendAll(part, [
    tag("p.hint", { id: "quality-hint" }),
    isClasses ? classChoice() : null,
    tag("div.pictures", { id: "pictures" }),
    tag("div.card", { id: "leaf-table" }),
  ]);
  slowDrawers.push(drawQuality, drawLeafTable);
  onNewWidth(part, drawQuality);
} });

function drawQuality() {
  const rows = plural(facts.samples[evalName].rows, `${SAMPLE_WORDS[evalName]} row`, `${SAMPLE_WORDS[evalName]} rows`);
  byId("quality-hint").textContent = `The tree shown (${leavesWords(view.pruning.leaves.length)}) on ${rows}.`
    + (isClasses && facts.samples[evalName].counts.top && !facts.samples[evalName].counts.whole ? " Only the most frequent classes of each leaf are counted below." : "")
    + (facts.samples[evalName].unknown ? " Rows of classes that the tree does not know count as errors and are not counted below." : "")
    + (evalName === "train" ? " It was grown from these rows, so these figures are optimistic." : "");
  if (!isClasses) {
    refill(byId("pictures"), residualCard());
    return;
  }
  const [roc, calibration] = [shape("svg.chart", { role: "img" }), shape("svg.chart", { role: "img" })];
  refill(byId("pictures"), confusionCard(), rocCard(roc), calibrationCard(calibration));
  drawRoc(roc);
  drawCalibration(calibration);
}

// ---- confusion -----------------------------------------------------------------------------------------------

function confusionCard() {
  const counts = facts.samples[evalName].counts, { leaves } = view.pruning;
  const loss = lossWords(meanLoss(evalName, leaves));
  if (counts.top) {
    const rows = frequentErrors(evalName, leaves, 12).map(([truth, answer, weight]) => [shorten(classWords(truth), 30), shorten(classWords(answer), 30), countWords(weight)]);
    return pictureCard("Most frequent confusions", `Of ${countWords(facts.classes.length)} classes; ${lossName()} ${loss}.`,
      table("Most frequent confusions", [{ text: "true class" }, { text: "predicted class" }, { text: "rows", number: true }], rows, "small"));
  }
  const cells = confusionOf(evalName, leaves);
  const card = pictureCard("Confusion matrix", `Rows: true class; columns: predicted class. ${capital(lossName())}: ${loss}.${facts.costs ? " Below each count of errors: cost per row = total cost." : ""}`,
    tag("div.pair", {}, scrollBox("Confusion matrix", confusionTable(cells)), classTable(cells)));
  card.classList.toggle("whole", cells.length > 2);
  return card;
}

/** Recall and precision of each class. */
function classTable(cells) {
  const rows = cells.map((line, code) => {
    const own = line.reduce((sum, weight) => sum + weight, 0), predicted = cells.reduce((sum, other) => sum + other[code], 0);
    return [[swatch(facts.colours[code]), shorten(classWords(code), 24)], percentWords(own ? line[code] / own : NaN), percentWords(predicted ? line[code] / predicted : NaN)];
  });
  return table("Each class", [{ text: "class" }, { text: "recall", number: true }, { text: "precision", number: true }], rows, "small");
}

function confusionTable(cells) {
  const names = facts.classes.map((_, code) => shorten(classWords(code), cells.length > 6 || (cells.length > 2 && innerWidth < 640) ? 9 : 16));
  const head = (code, scope) => tag("th", { scope, title: classWords(code).slice(0, 200) }, swatch(facts.colours[code]), names[code]);
  return tag("table.confusion", {},
    tag("caption.hidden", {}, "Rows by true class and predicted class"),
    tag("thead", {}, tag("tr", {}, tag("td", {}), names.map((_, code) => head(code, "col")))),
    tag("tbody", {}, cells.map((line, truth) => {
      const total = line.reduce((sum, weight) => sum + weight, 0);
      return tag("tr", {}, head(truth, "row"), [...line].map((weight, answer) => confusionCell(weight, total, truth, answer)));
    })));
}

function confusionCell(weight, total, truth, answer) {
  const share = total > 0 ? weight / total : 0, isRight = truth === answer;
  const cost = facts.costs ? facts.costs[truth][answer] : 0;
  const below = cost ? `× ${numberWords(cost)} = ${numberWords(weight * cost)}` : percentWords(share, 0);
  const cell = tag("td", { class: isRight ? "right" : "mistake", "data-cell": `${truth}/${answer}` },
    tag("b", {}, countWords(weight)), tag("small", {}, weight > 0 || cost ? below : ""));
  return weight > 0 ? withStyle(cell, { "--heat": `${Math.round(8 + 62 * share)}%` }) : cell;
}

// ---- ROC and calibration -------------------------------------------------------------------------------------

/** The choice of the class of ROC and calibration. */
function classChoice() {
  const classes = facts.classes.map((_, code) => [String(code), classWords(code)]);
  const select = tag("select", { id: "quality-class", onchange: () => { quality.code = Number(select.value); drawQuality(); } },
    optionsOf(classes, String(quality.code)));
  return tag("label.choice", { id: "class-choice" }, "ROC and calibration of the class ", select);
}

function rocCard(svg) {
  const { area } = rocOf(evalName, view.pruning.leaves, quality.code);
  return pictureCard("ROC", `True positive rate of “${shorten(classWords(quality.code), 30)}” against the false positive rate, for all thresholds.`,
    svg, tag("p.result", { id: "area" }, "Area under the curve ", tag("b", {}, Number.isFinite(area) ? area.toFixed(3) : "–")));
}

function drawRoc(svg) {
  const { points, area } = rocOf(evalName, view.pruning.leaves, quality.code);
  const { x, y, layer } = chartFrame(svg, 250, shareAxis("false positive rate"), shareAxis("true positive rate"));
  layer.append(stroke("diagonal", x(0), y(0), x(1), y(1)));
  if (!points.length) return;
  const at = points.map(([a, b]) => [x(a), y(b)]);
  layer.append(shape("path.area", { d: `M${x(0)} ${y(0)}${at.map(([a, b]) => `L${a.toFixed(1)} ${b.toFixed(1)}`).join("")}L${x(1)} ${y(0)}Z` }), polyline(at, `line ${evalName}`));
  if (points.length <= 60) layer.append(...at.map(([cx, cy]) => shape("circle", { class: `point ${evalName}`, cx, cy, r: 2.6 })));
  svg.setAttribute("aria-label", `ROC of ${shorten(classWords(quality.code), 60)}: area ${area.toFixed(3)}`);
}

function calibrationCard(svg) {
  const note = evalName === "train" ? "On training rows the predicted and the observed shares agree by construction."
    : `Predicted share of “${shorten(classWords(quality.code), 30)}” in the leaves against its observed share in ${SAMPLE_WORDS[evalName]} rows; they agree on the diagonal.`;
  return pictureCard("Calibration", note, svg, tag("p.result.faint", {}, "Larger dots have more rows; lines are approximate 95 % intervals (Wilson)."));
}

function drawCalibration(svg) {
  const groups = calibrationOf(evalName, view.pruning.leaves, quality.code);
  const { x, y, layer } = chartFrame(svg, 250, shareAxis("predicted"), shareAxis("observed"));
  layer.append(stroke("diagonal", x(0), y(0), x(1), y(1)));
  const most = Math.max(1, ...groups.map((group) => group.weight));
  for (const { predicted, observed, weight, interval } of groups) {
    layer.append(
      stroke("whisker", x(predicted), y(interval[0]), x(predicted), y(interval[1])),
      shape("circle", { class: `point ${evalName}`, cx: x(predicted), cy: y(observed), r: 3 + 6 * Math.sqrt(weight / most) },
        shape("title", {}, `predicted ${percentWords(predicted)}, observed ${percentWords(observed)}, ${rowsWords(weight)}`)));
  }
  svg.setAttribute("aria-label", groups.map(({ predicted, observed }) => `predicted ${percentWords(predicted, 0)}, observed ${percentWords(observed, 0)}`).join("; "));
}

// ---- residuals -----------------------------------------------------------------------------------------------

function residualCard() {
  const { residuals } = facts.samples[evalName];
  const known = view.pruning.leaves.filter((leaf) => residuals && residuals[leaf]);
  const rows = facts.samples[evalName].node_rows;
  const largest = [...known].sort((a, b) => rows[b] - rows[a] || a - b).slice(0, MOST_BOXES).sort((a, b) => tree.value[a] - tree.value[b]);
  const note = `True minus predicted values of ${SAMPLE_WORDS[evalName]} rows in each leaf: boxes hold half of them, whiskers 90 %.`
    + (known.length > largest.length ? ` The ${largest.length} leaves with the most rows, of ${countWords(known.length)}.` : "");
  if (!largest.length) return pictureCard("Residuals by leaf", "No rows with true values were given.");
  return tag("figure.card.whole", {}, tag("figcaption", {}, tag("h3", {}, "Residuals by leaf"), tag("p.faint", {}, note)),
    tag("div.residuals", {}, residualLines(largest)));
}

function residualLines(leaves) {
  const part = facts.samples[evalName], all = leaves.flatMap((leaf) => part.residuals[leaf]);
  const range = rangeOf([...all, 0]), x = (value) => 1 + 98 * (value - range[0]) / (range[1] - range[0]);
  const axis = shape("svg", { height: 18, class: "boxes", "aria-hidden": "true" },
    niceTicks(range[0], range[1], innerWidth < 640 ? 3 : 6).map((tick) => shape("text.tick", { x: `${Math.min(94, Math.max(6, x(tick)))}%`, y: 13, "text-anchor": "middle" }, numberWords(tick))));
  return [...leaves.map((leaf) => [
    leafLink(leaf, answerWords(leaf)),
    shape("svg", { height: 24, class: "boxes", role: "img" },
      shape("title", {}, `prediction ${answerWords(leaf)}: half of the residuals are between ${numberWords(part.residuals[leaf][1])} and ${numberWords(part.residuals[leaf][3])}`),
      stroke("axis", `${x(0)}%`, 0, `${x(0)}%`, 24),
      ...boxPlot(part.residuals[leaf], x, 12, colourOf(leaf))),
    tag("span.number.faint", {}, rowsWords(part.node_rows[leaf]))]),
  [tag("span", {}), axis, tag("span", {})]];
}

function leafLink(leaf, text) {
  const show = () => { goToNode(leaf); byId("tree").scrollIntoView({ behavior: prefersStill.matches ? "auto" : "smooth" }); };
  return withAttributes(button([swatch(colourOf(leaf)), text], show, "link"), "", { "aria-label": `${text}, show it in the tree` }, []);
}

// ---- table of leaves -----------------------------------------------------------------------------------------

function leafColumns() {
  const bound = facts.intervals ? [{ key: "upper", text: `${facts.costs ? "errors, " : ""}${numberWords(100 * (1 - facts.delta))} % interval`, number: true }] : [];
  return [{ key: "answer", text: "prediction" }, { key: "words", text: "last test" }, { key: "rows", text: `${SAMPLE_WORDS[evalName]} rows`, number: true },
    { key: "share", text: "share", number: true }, { key: "loss", text: lossName(), number: true }, ...bound,
    ...(evalName === trainName ? [] : [{ key: "trainRows", text: "training rows", number: true }])];
}

function drawLeafTable() {
  const columns = leafColumns(), lines = view.pruning.leaves.map(leafFacts);
  const { sort, isUp } = quality;
  lines.sort((a, b) => compareValues(a[sort], b[sort]) * (isUp ? 1 : -1) || a.leaf - b.leaf);
  const most = view.isPrinting && lines.length <= 200 ? 200 : quality.isEvery ? 2000 : MOST_LEAVES;
  const active = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.sort : null;
  refill(byId("leaf-table"),
    tag("h3", {}, "Leaves"),
    scrollBox("Leaves", tag("table.leaves", {},
      tag("caption.hidden", {}, "The leaves of the tree shown; select a heading to sort by it"),
      tag("thead", {}, tag("tr", {}, columns.map(sortHead))),
      tag("tbody", {}, lines.slice(0, most).map((line) => tag("tr", { "data-leaf": line.leaf }, columns.map((column) => leafCell(column, line))))))),
    lines.length > MOST_LEAVES ? button(quality.isEvery ? "Show fewer" : `Show ${lines.length > 2000 ? "2,000" : "all"} of ${countWords(lines.length)}`,
      () => { quality.isEvery = !quality.isEvery; drawLeafTable(); }, "quiet") : null);
  const again = active && byId("leaf-table").querySelector(`[data-sort="${active}"]`);
  if (again) again.focus();
}

/** The order of two numbers or texts; NaN is last in both directions. */
function compareValues(a, b) {
  if (typeof a === "string") return a < b ? -1 : a > b ? 1 : 0;
  const [one, two] = [a, b].map((value) => (Number.isNaN(value) ? (quality.isUp ? Infinity : -Infinity) : value));
  return one === two ? 0 : one - two;
}

function sortHead({ key, text, number }) {
  const isSorted = quality.sort === key;
  const button = tag("button", { type: "button", "data-sort": key, onclick: () => {
    quality.isUp = isSorted ? !quality.isUp : key === "answer" || key === "words";
    quality.sort = key;
    drawLeafTable();
  } }, text, tag("span", { "aria-hidden": "true" }, isSorted ? (quality.isUp ? " ▲" : " ▼") : ""));
  return tag("th", { scope: "col", class: number ? "number" : null, "aria-sort": isSorted ? (quality.isUp ? "ascending" : "descending") : "none" }, button);
}

function leafCell({ key, number }, line) {
  const words = {
    answer: () => leafLink(line.leaf, shorten(answerWords(line.leaf), 30)),
    words: () => shorten(line.words, 70),
    rows: () => countWords(line.rows),
    share: () => tag("span.with-bar", {}, bar(line.share), percentWords(line.share)),
    loss: () => lossWords(line.loss),
    upper: () => (line.rows ? `${percentWords(line.lower)} – ${percentWords(line.upper)}` : "–"),
    trainRows: () => countWords(line.trainRows),
  }[key]();
  return tag("td", { class: number ? "number" : null, "data-key": key }, words);
}
