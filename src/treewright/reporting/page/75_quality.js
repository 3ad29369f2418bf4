// Quality of the tree shown: confusion, calibration, ROC or residuals, and a table of its leaves.

const MOST_LEAVES = 25, MOST_BOXES = 40;
const quality = { code: facts.classes.length === 2 ? 1 : 0, sort: "rows", isUp: false, isEvery: false };

function startQuality() {
  startClassChoice();
  slowDrawers.push(drawQuality, drawLeafTable);
  onNewWidth(byId("quality"), drawQuality);
}

function drawQuality() {
  const rows = plural(facts.samples[judging].rows, `${PART_WORDS[judging]} row`, `${PART_WORDS[judging]} rows`);
  byId("quality-hint").textContent = `The tree shown, of ${leavesWords(view.shown.leaves.length)}, on the ${rows}.`
    + (isClasses && facts.samples[judging].counts.top && !facts.samples[judging].counts.whole ? " Of so many classes a leaf knows its most frequent ones; others in it are left out below." : "")
    + (facts.samples[judging].unknown ? " Rows of classes that the tree does not know count as mistakes and are left out below." : "")
    + (judging === "train" ? " It was grown from these rows: on others it does worse." : "");
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
  const counts = facts.samples[judging].counts, { leaves } = view.shown;
  const loss = lossWords(meanLoss(judging, leaves));
  if (counts.top) {
    const rows = worstMistakes(judging, leaves, 12).map(([truth, answer, weight]) => [shortened(classWords(truth), 30), shortened(classWords(answer), 30), countWords(weight)]);
    return pictureCard("Worst confusions", `Of ${countWords(facts.classes.length)} classes, those most often mistaken; ${lossName()} ${loss}.`,
      table("Worst confusions", [{ text: "truth" }, { text: "answer" }, { text: "rows", number: true }], rows, "small"));
  }
  const cells = confusionOf(judging, leaves);
  const card = pictureCard("Confusion", `Lines are the truth, columns the answer; ${lossName()} ${loss}.${facts.costs ? " Below a mistake: what one costs, and what all of them cost." : ""}`,
    tag("div.pair", {}, scrolled("Confusion", confusionTable(cells)), classTable(cells)));
  card.classList.toggle("whole", cells.length > 2);
  return card;
}

/** How well each class is found, and how far the answer can be trusted. */
function classTable(cells) {
  const rows = cells.map((line, code) => {
    const own = line.reduce((sum, weight) => sum + weight, 0), said = cells.reduce((sum, other) => sum + other[code], 0);
    return [[swatch(facts.colours[code]), shortened(classWords(code), 24)], percentWords(own ? line[code] / own : NaN), percentWords(said ? line[code] / said : NaN)];
  });
  return table("Each class", [{ text: "class" }, { text: "recall", number: true }, { text: "precision", number: true }], rows, "small");
}

function confusionTable(cells) {
  const names = facts.classes.map((_, code) => shortened(classWords(code), cells.length > 6 || (cells.length > 2 && innerWidth < 640) ? 9 : 16));
  const head = (code, scope) => tag("th", { scope, title: classWords(code).slice(0, 200) }, swatch(facts.colours[code]), names[code]);
  return tag("table.confusion", {},
    tag("caption.hidden", {}, "Rows by their class and by the answer of the tree"),
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
  return weight > 0 ? styled(cell, { "--heat": `${Math.round(8 + 62 * share)}%` }) : cell;
}

// ---- ROC and calibration -------------------------------------------------------------------------------------

/** Which class ROC and calibration are about. */
function startClassChoice() {
  byId("class-choice").hidden = !isClasses;
  const select = refill(byId("quality-class"), optionsOf(facts.classes.map((_, code) => [String(code), classWords(code)]), String(quality.code)));
  select.addEventListener("change", () => { quality.code = Number(select.value); drawQuality(); });
}

function rocCard(svg) {
  const { area } = rocOf(judging, view.shown.leaves, quality.code);
  return pictureCard("ROC", `How many of “${shortened(classWords(quality.code), 30)}” are found, at the price of how many false alarms.`,
    svg, tag("p.result", { id: "area" }, "Area under the curve ", tag("b", {}, Number.isFinite(area) ? area.toFixed(3) : "–")));
}

function drawRoc(svg) {
  const { points, area } = rocOf(judging, view.shown.leaves, quality.code);
  const { x, y, layer } = framed(svg, 250, shareAxis("false positive rate"), shareAxis("true positive rate"));
  layer.append(stroke("diagonal", x(0), y(0), x(1), y(1)));
  if (!points.length) return;
  const at = points.map(([a, b]) => [x(a), y(b)]);
  layer.append(shape("path.area", { d: `M${x(0)} ${y(0)}${at.map(([a, b]) => `L${a.toFixed(1)} ${b.toFixed(1)}`).join("")}L${x(1)} ${y(0)}Z` }), polyline(at, `line ${judging}`));
  if (points.length <= 60) layer.append(...at.map(([cx, cy]) => shape("circle", { class: `point ${judging}`, cx, cy, r: 2.6 })));
  svg.setAttribute("aria-label", `ROC of ${shortened(classWords(quality.code), 60)}: area ${area.toFixed(3)}`);
}

function calibrationCard(svg) {
  const note = judging === "train" ? "Shares in the leaves against themselves: on training rows they agree by construction."
    : `What the leaves say of “${shortened(classWords(quality.code), 30)}” against what is true of ${PART_WORDS[judging]} rows; on the line they agree.`;
  return pictureCard("Calibration", note, svg, tag("p.result.faint", {}, "Larger dots rest on more rows; lines are 95 % intervals for the eye."));
}

function drawCalibration(svg) {
  const groups = calibrationOf(judging, view.shown.leaves, quality.code);
  const { x, y, layer } = framed(svg, 250, shareAxis("predicted"), shareAxis("observed"));
  layer.append(stroke("diagonal", x(0), y(0), x(1), y(1)));
  const most = Math.max(1, ...groups.map((group) => group.weight));
  for (const { said, seen, weight, interval } of groups) {
    layer.append(
      stroke("whisker", x(said), y(interval[0]), x(said), y(interval[1])),
      shape("circle", { class: `point ${judging}`, cx: x(said), cy: y(seen), r: 3 + 6 * Math.sqrt(weight / most) },
        shape("title", {}, `predicted ${percentWords(said)}, observed ${percentWords(seen)}, ${rowsWords(weight)}`)));
  }
  svg.setAttribute("aria-label", groups.map(({ said, seen }) => `predicted ${percentWords(said, 0)}, observed ${percentWords(seen, 0)}`).join("; "));
}

// ---- residuals -----------------------------------------------------------------------------------------------

function residualCard() {
  const { residuals } = facts.samples[judging];
  const known = view.shown.leaves.filter((leaf) => residuals && residuals[leaf]);
  const rows = facts.samples[judging].node_rows;
  const shown = [...known].sort((a, b) => rows[b] - rows[a] || a - b).slice(0, MOST_BOXES).sort((a, b) => tree.value[a] - tree.value[b]);
  const note = `Truth minus answer of ${PART_WORDS[judging]} rows, leaf by leaf: half lie in the box, nine of ten on the line.`
    + (known.length > shown.length ? ` The ${shown.length} leaves with most rows, of ${countWords(known.length)}.` : "");
  if (!shown.length) return pictureCard("Residuals by leaf", "No rows were given to compare with the answers.");
  return tag("figure.card.whole", {}, tag("figcaption", {}, tag("h3", {}, "Residuals by leaf"), tag("p.faint", {}, note)),
    tag("div.residuals", {}, residualLines(shown)));
}

function residualLines(leaves) {
  const part = facts.samples[judging], all = leaves.flatMap((leaf) => part.residuals[leaf]);
  const range = rangeOf([...all, 0]), x = (value) => 1 + 98 * (value - range[0]) / (range[1] - range[0]);
  const axis = shape("svg", { height: 18, class: "boxes", "aria-hidden": "true" },
    niceTicks(range[0], range[1], innerWidth < 640 ? 3 : 6).map((tick) => shape("text.tick", { x: `${Math.min(94, Math.max(6, x(tick)))}%`, y: 13, "text-anchor": "middle" }, numberWords(tick))));
  return [...leaves.map((leaf) => [
    leafLink(leaf, answerWords(leaf)),
    shape("svg", { height: 24, class: "boxes", role: "img" },
      shape("title", {}, `answer ${answerWords(leaf)}: half of the residuals between ${numberWords(part.residuals[leaf][1])} and ${numberWords(part.residuals[leaf][3])}`),
      stroke("axis", `${x(0)}%`, 0, `${x(0)}%`, 24),
      ...boxPlot(part.residuals[leaf], x, 12, colourOf(leaf))),
    tag("span.number.faint", {}, rowsWords(part.node_rows[leaf]))]),
  [tag("span", {}), axis, tag("span", {})]];
}

function leafLink(leaf, text) {
  const show = () => { goToNode(leaf); byId("tree").scrollIntoView({ behavior: prefersStill.matches ? "auto" : "smooth" }); };
  return dressed(button([swatch(colourOf(leaf)), text], show, "link"), "", { "aria-label": `${text}, show it in the tree` }, []);
}

// ---- table of leaves -----------------------------------------------------------------------------------------

function leafColumns() {
  const bound = facts.intervals ? [{ key: "upper", text: `${facts.costs ? "errors, " : ""}${numberWords(100 * (1 - facts.delta))} % interval`, number: true }] : [];
  return [{ key: "answer", text: "answer" }, { key: "words", text: "last test" }, { key: "rows", text: `${PART_WORDS[judging]} rows`, number: true },
    { key: "share", text: "share", number: true }, { key: "loss", text: lossName(), number: true }, ...bound,
    ...(judging === learning ? [] : [{ key: "learnt", text: "training rows", number: true }])];
}

function drawLeafTable() {
  const columns = leafColumns(), lines = view.shown.leaves.map(leafFacts);
  const { sort, isUp } = quality;
  lines.sort((a, b) => compared(a[sort], b[sort]) * (isUp ? 1 : -1) || a.leaf - b.leaf);
  const shown = quality.isEvery ? lines.slice(0, 2000) : lines.slice(0, MOST_LEAVES);
  const active = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.sort : null;
  refill(byId("leaf-table"),
    tag("h3", {}, "Leaf by leaf"),
    scrolled("Leaf by leaf", tag("table.leaves", {},
      tag("caption.hidden", {}, "The leaves of the tree shown; choose a heading to sort by it"),
      tag("thead", {}, tag("tr", {}, columns.map(sortHead))),
      tag("tbody", {}, shown.map((line) => tag("tr", { "data-leaf": line.leaf }, columns.map((column) => leafCell(column, line))))))),
    lines.length > MOST_LEAVES ? button(quality.isEvery ? "Show fewer" : `Show ${lines.length > 2000 ? "2,000" : "all"} of ${countWords(lines.length)}`,
      () => { quality.isEvery = !quality.isEvery; drawLeafTable(); }, "quiet") : null);
  const again = active && byId("leaf-table").querySelector(`[data-sort="${active}"]`);
  if (again) again.focus();
}

/** Numbers and words in order; what is not known comes last whichever way. */
function compared(a, b) {
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
    answer: () => leafLink(line.leaf, shortened(answerWords(line.leaf), 30)),
    words: () => shortened(line.words, 70),
    rows: () => countWords(line.rows),
    share: () => tag("span.with-bar", {}, bar(line.share), percentWords(line.share)),
    loss: () => lossWords(line.loss),
    upper: () => (line.rows ? `${percentWords(line.lower)} – ${percentWords(line.upper)}` : "–"),
    learnt: () => countWords(line.learnt),
  }[key]();
  return tag("td", { class: number ? "number" : null, "data-key": key }, words);
}
