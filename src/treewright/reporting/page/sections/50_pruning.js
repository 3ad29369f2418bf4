// Pruning: the losses of all trees of a path as a chart to drag on, and the numbers of the tree shown.

let curve = null, curveFrame = null;

addSection({ id: "pruning", title: "Pruning", link: "Pruning", place: "workbench", build: (part) => {
  curve = shape("svg.chart", { id: "curve", role: "img", "aria-labelledby": "pruning-title pruning-hint" });
  appendAll(part, [
    tag("p.hint", { id: "pruning-hint" }, "A large tree overfits its training rows. Move the slider, or drag on the curve: "
      + "the tree is pruned, and every section up to Quality shows the pruned tree."),
    tag("div.two", {},
      tag("figure.card", {}, tag("figcaption.legend", { id: "curve-legend" }), curve),
      tag("div.card", { id: "pruning-numbers" })),
  ]);
  listenToCurve();
  onNewWidth(curve.parentNode, drawCurve);
  quickDrawers.push(drawCurve, drawNumbers);
} });

// ---- numbers -------------------------------------------------------------------------------------------------

function drawNumbers() {
  const path = currentPath(), place = view.place;
  const lines = sampleNames.map((name) => [capital(SAMPLE_WORDS[name]), countWords(facts.samples[name].rows), lossWords(meanLoss(name, view.pruning.leaves))]);
  const bound = path.certificate && path.certificate[place];
  refill(byId("pruning-numbers"),
    tag("h3", {}, chosenWords(path, place)),
    table(`${capital(lossName())} of the tree shown`, [{ text: "sample" }, { text: "rows", number: true }, { text: lossName(), number: true }], lines, "small"),
    tag("p", {}, bound ? tag("b", {}, `At most ${boundWords(bound.upper)}. `) : null, path.certificate_words || "",
      bound && isModel() && path.leaves.length > 1 ? " The bound in the headline is tighter: it is for the model alone." : null),
    tag("dl.facts", {}, sizes(path, place).map(([name, value]) => [tag("dt", {}, name), tag("dd", {}, value)])));
}

function chosenWords(path, place) {
  if (place !== path.chosen) return view.path === 0 ? "Another tree on the path of the model" : `Pruned by ${path.title}`;
  const by = path.chosen_by ? `, selected by ${path.chosen_by}` : "";
  return view.path === 0 ? `The model${by}` : `Pruned by ${path.title}${by}`;
}

function sizes(path, place) {
  const { leaves, columns, depth: deepest } = view.pruning;
  const list = [["Leaves", countWords(leaves.length)], ["Depth", countWords(deepest)],
    ["Columns tested", `${countWords(columns.length)} of ${countWords(facts.columns.length)}`]];
  if (path.alpha && path.alpha[place] !== null) list.push(["Complexity parameter α", numberWords(path.alpha[place])]);
  return list;
}

// ---- curve ---------------------------------------------------------------------------------------------------

function drawCurve() {
  const path = currentPath(), leaves = path.leaves, most = Math.max(...leaves), least = Math.min(...leaves);
  const series = SERIES.map((name) => [name, seriesValues(path, name)]).filter(([, values]) => values.some(Number.isFinite))
    .map(([name, values]) => [name, values.map((value) => (Number.isFinite(value) ? displayLoss(value) : NaN))]);
  const top = Math.max(...series.map(([, values]) => Math.max(...values.filter(Number.isFinite)))) || 1;
  const isLog = most >= Math.max(40, 10 * least);
  const height = curve.parentNode.clientWidth < 480 ? 230 : 370;
  const ticks = isLog ? logTicks(least, most) : niceTicks(least, most, 8).filter(Number.isInteger);
  curveFrame = chartFrame(curve, height,
    { range: [least, Math.max(most, least + 1)], isLog, ticks, words: countWords, label: "leaves" },
    { range: [0, top * 1.05], ticks: niceTicks(0, top * 1.05, 5), words: (tick) => (facts.loss.share ? `${numberWords(100 * tick)} %` : numberWords(tick, 3)) });
  drawSeries(series, leaves);
  drawMarker(series, leaves[view.place]);
  refill(byId("curve-legend"), series.map(([name]) => tag("span", { class: `series ${name}` },
    tag("span.key", { "aria-hidden": "true" }), seriesWords(name))), tag("span.grow", {}), faint(lossName()));
}

function drawSeries(series, leaves) {
  const { x, y, layer, height, room } = curveFrame, chosen = leaves[currentPath().chosen];
  layer.append(stroke("chosen", x(chosen), room.top, x(chosen), height - room.bottom,
    shape("title", {}, `selected: ${leavesWords(chosen)}`)));
  for (const [name, values] of series) {
    const points = leaves.map((n, i) => [x(n), y(values[i])]).filter((_, i) => Number.isFinite(values[i]));
    layer.append(polyline(points, `line ${name}`));
  }
}

/** The position of the slider: a vertical line, and a dot on every curve. */
function drawMarker(series, here) {
  const { x, y, layer, height, room, width } = curveFrame;
  layer.append(stroke("marker", x(here), room.top, x(here), height - room.bottom));
  for (const [name, values] of series) {
    const value = values[view.place];
    if (Number.isFinite(value)) layer.append(shape("circle", { class: `dot ${name}`, cx: x(here), cy: y(value), r: 5 }));
  }
  const isRight = x(here) > width * 0.75;
  layer.append(shape("text.marker-words", { x: x(here) + (isRight ? -7 : 7), y: room.top + 8, "text-anchor": isRight ? "end" : "start" }, leavesWords(here)));
}

/** The place whose tree has the size under the pointer. */
function placeAt(event) {
  const frame = curve.getBoundingClientRect(), { leaves } = currentPath();
  const at = (event.clientX - frame.left) * curveFrame.width / frame.width;
  let best = 0;
  leaves.forEach((n, i) => { if (Math.abs(curveFrame.x(n) - at) < Math.abs(curveFrame.x(leaves[best]) - at)) best = i; });
  return best;
}

function listenToCurve() {
  curve.addEventListener("pointerdown", (event) => {
    curve.setPointerCapture(event.pointerId);
    showPruning(view.path, placeAt(event));
  });
  curve.addEventListener("pointermove", (event) => {
    if (curve.hasPointerCapture(event.pointerId)) showPruning(view.path, placeAt(event));
  });
}
