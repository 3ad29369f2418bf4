// The headline, the rules to copy, and how to reproduce all this.

function drawHeadline() {
  const { headline } = facts;
  document.title = facts.title;
  byId("title").textContent = facts.title;
  byId("lead").textContent = headline.text;
  byId("manager").textContent = headline.manager;
  refill(byId("notes"), (headline.notes || []).map((note) => tag("li", {}, note)));
  const tile = ([value, name]) => tag("div.tile", {}, tag("b", {}, value), tag("span", {}, name));
  refill(byId("tiles"), headlineTiles().map(tile));
  refill(byId("metrics"), metricTiles().map(tile));
  byId("comparison").hidden = !headline.metrics;
  byId("comparison").textContent = headline.metrics ? headline.metrics.comparison : "";
  drawAdvice();
}

/** What the adviser found, the most serious first, each with what to try. */
function drawAdvice() {
  const advice = facts.advice || [];
  byId("advice").hidden = !advice.length;
  refill(byId("advice-list"), advice.map((each) => tag("li", {}, tag("span", {}, `${capital(each.text)}.`),
    each.try ? tag("span.faint", {}, ` ${capital(each.try)}.`) : null)));
}

/** Recall, precision, balanced accuracy and AUC, or R² and the mean absolute error. */
function metricTiles() {
  const { metrics } = facts.headline;
  if (!metrics) return [];
  const about = metrics.positive === null ? "" : ` of ${shortened(metrics.positive, 24)}`;
  return metrics.figures.map(([name, value]) => [value, name === "recall" || name === "precision" ? name + about : name]);
}

/** Four figures of the model, whatever the slider shows. */
function headlineTiles() {
  const path = facts.paths[0], model = pruningAt(path, path.chosen);
  return [
    [lossWords(meanLoss(judging, model.leaves)), `${lossName()} on ${countWords(facts.samples[judging].rows)} ${PART_WORDS[judging]} rows`],
    [countWords(model.leaves.length), model.leaves.length === 1 ? "leaf" : "leaves"],
    [countWords(model.depth), `${model.depth === 1 ? "test" : "tests"} at most for a row`],
    [countWords(model.used.length), `of ${plural(facts.columns.length, "column", "columns")} used`],
  ];
}

function drawClassLegend() {
  const legend = byId("class-legend");
  if (isClasses && facts.classes.length <= 12) {
    refill(legend, facts.classes.map((_, code) => tag("span", {}, swatch(facts.colours[code]), shortened(classWords(code), 40))));
  } else if (!isClasses) {
    const ramp = SCALE.map((_, i) => swatch(valueColour(valueRange[0] + (valueRange[1] - valueRange[0]) * i / (SCALE.length - 1))));
    refill(legend, tag("span", {}, numberWords(valueRange[0]), " ", ramp, " ", numberWords(valueRange[1])));
  }
}

function drawRules() {
  const model = facts.paths[0].leaves[facts.paths[0].chosen];
  const block = (title, text) => tag("details.card.text-block", { open: true },
    tag("summary", {}, tag("h3", {}, title)),
    copyButton(() => text), tag("pre", { tabindex: 0, "aria-label": title }, text));
  refill(byId("rules-body"),
    tag("p.hint", {}, `Those of the model, of ${leavesWords(model)}, wherever the slider stands.`),
    facts.rules ? block("As rules", facts.rules) : null,
    facts.text ? block("As a tree", facts.text) : null);
}

function drawReproduce() {
  const { reproduce } = facts;
  const lines = [["treewright", reproduce.version], ["Python", reproduce.python], ["Seed", String(reproduce.seed)],
    ...Object.entries(reproduce.parameters || {}),
    ...Object.entries(reproduce.fingerprints || {}).map(([name, print]) => [`${capital(PART_WORDS[name] || name)} rows`, print])];
  refill(byId("reproduce-body"),
    tag("dl.facts", {}, lines.map(([name, value]) => [tag("dt", {}, shortened(name, 80)), tag("dd", {}, value)])),
    reproduce.code ? tag("div.text-block", {}, tag("h3", {}, "In Python"), copyButton(() => reproduce.code), tag("pre", { tabindex: 0, "aria-label": "Code" }, reproduce.code)) : null);
  byId("footer").textContent = `Made by treewright ${reproduce.version}. This page holds all it shows and asks nothing of the network.`;
}
