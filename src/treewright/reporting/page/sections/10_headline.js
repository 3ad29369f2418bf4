// The headline: what the model predicts, its error with the certificate, and tiles of figures.

addSection({ id: "headline", place: "before-tree", build: (part) => {
  const { headline } = facts;
  document.title = facts.title;
  const tile = ([value, name]) => tag("div.tile", {}, tag("b", {}, value), tag("span", {}, name));
  appendAll(part, [
    tag("h1", { id: "headline-title" }, facts.title),
    tag("p.lead", {}, headline.text),
    tag("p.manager", { id: "manager" }, headline.manager),
    headline.metrics ? tag("p.comparison", {}, headline.metrics.comparison) : null,
    tag("div.tiles", { id: "tiles" }, headlineTiles().map(tile)),
    tag("div.tiles", { id: "metrics" }, metricTiles().map(tile)),
    tag("ul.notes", {}, (headline.notes || []).map((note) => tag("li", {}, note))),
  ]);
} });

/** Recall, precision, balanced accuracy and AUC, or R² and the mean absolute error. */
function metricTiles() {
  const { metrics } = facts.headline;
  if (!metrics) return [];
  const about = metrics.positive === null ? "" : ` of ${shorten(metrics.positive, 24)}`;
  return metrics.figures.map(([name, value]) => [value, name === "recall" || name === "precision" ? name + about : name]);
}

/** Four figures of the model, whatever the slider shows. */
function headlineTiles() {
  const path = facts.pruning[0], model = pruningAt(path, path.chosen);
  return [
    [lossWords(meanLoss(evalName, model.leaves)), `${lossName()} on ${countWords(facts.samples[evalName].rows)} ${SAMPLE_WORDS[evalName]} rows`],
    [countWords(model.leaves.length), model.leaves.length === 1 ? "leaf" : "leaves"],
    [countWords(model.depth), `${model.depth === 1 ? "test" : "tests"} on the longest path`],
    [countWords(model.columns.length), `of ${plural(facts.columns.length, "column", "columns")} tested`],
  ];
}
