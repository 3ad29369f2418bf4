// The slider: the size of the tree shown, the method of pruning, and the losses of that tree.

const slider = byId("slider");
const SERIES = [...sampleNames, "certificate"];
const seriesWords = (name) => (name === "certificate" ? "Certificate" : capital(SAMPLE_WORDS[name]));

function seriesValues(path, name) {
  if (name === "certificate") return (path.certificate || []).map((bound) => (bound ? bound.upper : null));
  return (path.loss && path.loss[name]) || [];
}

function startSlider() {
  const methods = facts.pruning.map((path, i) => [String(i), path.title]);
  refill(byId("method"), optionsOf(methods, "0"));
  byId("method-label").hidden = methods.length < 2;
  byId("method").addEventListener("change", (event) => changeMethod(Number(event.target.value)));
  slider.addEventListener("input", () => showPruning(view.path, lastPlace() - Number(slider.value)));
  byId("to-chosen").addEventListener("click", () => showPruning(0, facts.pruning[0].chosen));
  quickDrawers.push(drawDial);
}

const isModel = () => view.path === 0 && view.place === facts.pruning[0].chosen;
const lastPlace = () => currentPath().leaves.length - 1;

/** Show the tree that another method selects. */
function changeMethod(path) {
  showPruning(path, facts.pruning[path].chosen);
}

function drawDial() {
  const path = currentPath(), place = view.place;
  slider.max = lastPlace();
  slider.value = lastPlace() - place;  // the largest tree is on the right, as on the curve
  slider.disabled = lastPlace() === 0;
  byId("method").value = String(view.path);
  byId("dial-leaves").textContent = leavesWords(view.pruning.leaves.length);
  const numbers = SERIES.map((name) => [name, seriesValues(path, name)[place]]).filter(([, value]) => Number.isFinite(value));
  refill(byId("dial-numbers"), numbers.map(([name, value]) => tag("span", { class: `series ${name}`, "data-series": name },
    tag("span.key", { "aria-hidden": "true" }), tag("span.series-name", {}, `${seriesWords(name)} `),
    tag("b", {}, name === "certificate" ? `≤ ${boundWords(value)}` : lossWords(value)))));
  slider.setAttribute("aria-valuetext", [leavesWords(view.pruning.leaves.length),
    ...numbers.map(([name, value]) => `${seriesWords(name)} ${name === "certificate" ? `at most ${boundWords(value)}` : lossWords(value)}`)].join(", "));
  byId("to-chosen").disabled = isModel();
}
