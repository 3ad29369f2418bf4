// The dial: how large the tree is and by which method; the numbers and the curve that follow it.

const slider = byId("slider"), curve = byId("curve");
const SERIES = [...partNames, "certificate"];
const seriesWords = (name) => (name === "certificate" ? "Certificate" : capital(PART_WORDS[name]));

function seriesValues(path, name) {
  if (name === "certificate") return (path.certificate || []).map((bound) => (bound ? bound.upper : null));
  return (path.loss && path.loss[name]) || [];
}

function startPruning() {
  const methods = facts.paths.map((path, i) => [String(i), path.title]);
  refill(byId("method"), optionsOf(methods, "0"));
  byId("method-label").hidden = methods.length < 2;
  byId("method").addEventListener("change", (event) => changeMethod(Number(event.target.value)));
  slider.addEventListener("input", () => showPruning(view.path, lastPlace() - Number(slider.value)));
  byId("to-chosen").addEventListener("click", () => showPruning(0, facts.paths[0].chosen));
  byId("pruning-hint").textContent = pruningHint();
  listenToCurve();
  onNewWidth(curve.parentNode, drawCurve);
  quickDrawers.push(drawDial, drawCurve, drawNumbers);
}

const isModel = () => view.path === 0 && view.place === facts.paths[0].chosen;
const lastPlace = () => currentPath().leaves.length - 1;

/** Another method: its own choice, since its places mean something else. */
function changeMethod(path) {
  showPruning(path, facts.paths[path].chosen);
}

function pruningHint() {
  return "A large tree learns its training rows by heart. Drag the slider, or the curve: the tree folds from its leaves "
    + "and everything on this page follows.";
}

function drawDial() {
  const path = currentPath(), place = view.place;
  slider.max = lastPlace();
  slider.value = lastPlace() - place;  // the largest tree is on the right, as on the curve
  slider.disabled = lastPlace() === 0;
  byId("method").value = String(view.path);
  byId("dial-leaves").textContent = leavesWords(view.shown.leaves.length);
  const numbers = SERIES.map((name) => [name, seriesValues(path, name)[place]]).filter(([, value]) => Number.isFinite(value));
  refill(byId("dial-numbers"), numbers.map(([name, value]) => tag("span", { class: `series ${name}`, "data-series": name },
    tag("span.key", { "aria-hidden": "true" }), tag("span.series-name", {}, `${seriesWords(name)} `),
    tag("b", {}, name === "certificate" ? `≤ ${boundWords(value)}` : lossWords(value)))));
  slider.setAttribute("aria-valuetext", [leavesWords(view.shown.leaves.length),
    ...numbers.map(([name, value]) => `${seriesWords(name)} ${name === "certificate" ? `at most ${boundWords(value)}` : lossWords(value)}`)].join(", "));
  byId("to-chosen").disabled = isModel();
}

// ---- numbers -------------------------------------------------------------------------------------------------

function drawNumbers() {
  const path = currentPath(), place = view.place;
  const lines = partNames.map((name) => [capital(PART_WORDS[name]), countWords(facts.samples[name].rows), lossWords(meanLoss(name, view.shown.leaves))]);
  const bound = path.certificate && path.certificate[place];
  refill(byId("pruning-numbers"),
    tag("h3", {}, chosenWords(path, place)),
    table(`${capital(lossName())} of the tree shown`, [{ text: "sample" }, { text: "rows", number: true }, { text: lossName(), number: true }], lines, "small"),
    tag("p", {}, bound ? tag("b", {}, `At most ${boundWords(bound.upper)}. `) : null, path.certificate_words || "",
      bound && isModel() && path.leaves.length > 1 ? " The bound in the headline is closer: it is of the model alone." : null),
    tag("dl.facts", {}, sizes(path, place).map(([name, value]) => [tag("dt", {}, name), tag("dd", {}, value)])));
}

function chosenWords(path, place) {
  if (place !== path.chosen) return view.path === 0 ? "Not the model: a tree beside it" : `By ${path.title}`;
  const by = path.chosen_by ? `, chosen by ${path.chosen_by}` : "";
  return view.path === 0 ? `The model${by}` : `What ${path.title} chooses${path.chosen_by ? `, by ${path.chosen_by}` : ""}`;
}

function sizes(path, place) {
  const { leaves, used, depth: deepest } = view.shown;
  const list = [["Leaves", countWords(leaves.length)], ["Depth", countWords(deepest)],
    ["Columns used", `${countWords(used.length)} of ${countWords(facts.columns.length)}`]];
  if (path.alpha && path.alpha[place] !== null) list.push(["Price of a leaf", numberWords(path.alpha[place])]);
  return list;
}

// ---- curve ---------------------------------------------------------------------------------------------------

let curveFrame = null;

function drawCurve() {
  const path = currentPath(), leaves = path.leaves, most = Math.max(...leaves), least = Math.min(...leaves);
  const series = SERIES.map((name) => [name, seriesValues(path, name)]).filter(([, values]) => values.some(Number.isFinite))
    .map(([name, values]) => [name, values.map((value) => (Number.isFinite(value) ? shownLoss(value) : NaN))]);
  const top = Math.max(...series.map(([, values]) => Math.max(...values.filter(Number.isFinite)))) || 1;
  const isLog = most >= Math.max(40, 10 * least);
  const height = curve.parentNode.clientWidth < 480 ? 230 : 370;
  const ticks = isLog ? logTicks(least, most) : niceTicks(least, most, 8).filter(Number.isInteger);
  curveFrame = framed(curve, height,
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
    shape("title", {}, `chosen: ${leavesWords(chosen)}`)));
  for (const [name, values] of series) {
    const points = leaves.map((n, i) => [x(n), y(values[i])]).filter((_, i) => Number.isFinite(values[i]));
    layer.append(polyline(points, `line ${name}`));
  }
}

/** Where the slider stands: a stroke, and a dot on every line. */
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
