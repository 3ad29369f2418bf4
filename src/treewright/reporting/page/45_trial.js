// Try a row: a form of the columns that the tree tests, and the prediction for a row with these values.

const OTHER = "other", MISSING = "missing";
const MOST_OPTIONS = 300;  // categories in a list to choose from; more are typed
const row = new Map();  // column -> value; null is missing, UNSEEN a category never seen
const fields = new Map();  // column -> {line, input}
const wrong = new Set();  // columns whose field holds no value of their kind

function startTrial() {
  facts.columns.forEach((column, i) => row.set(i, column.typical));
  refill(byId("panel-trial"),
    tag("div.decision", { id: "decision", "aria-live": "polite", "aria-atomic": "true" }),
    tag("p.buttons.loose", {},
      button("Typical row", () => fillRow((column) => column.typical)),
      button("All missing", () => fillRow(() => null))),
    tag("div", { id: "trial-fields", class: "fields" }),
    tag("div", { id: "trial-steps" }));
  quickDrawers.push(drawFields, () => followRow(false));
}

/** A field for each column that the path of a row may depend on; existing fields keep their values. */
function drawFields() {
  for (const column of view.pruning.inputs) if (!fields.has(column)) fields.set(column, newField(column));
  const lines = view.pruning.inputs.map((column) => fields.get(column).line);
  const holder = byId("trial-fields");
  if (lines.length === holder.children.length && lines.every((line, i) => holder.children[i] === line)) return;
  refill(holder, lines.length ? lines : tag("p.faint", {}, "The tree is a single leaf: every row gets the same prediction."));
}

function newField(i) {
  const column = facts.columns[i], id = `field-${i}`;
  const isList = column.kind === "category" && column.categories.length <= MOST_OPTIONS;
  const input = isList ? categoryList(i, id) : typedField(i, id);
  input.addEventListener("input", () => readField(i, input, isList));
  const hint = fieldHint(column);
  const line = tag("div.field", {},
    tag("label", { for: id }, shorten(columnWords(i), 80)),
    input,
    hint ? tag("span.faint.field-hint", { id: `${id}-hint` }, hint) : null);
  if (hint) input.setAttribute("aria-describedby", `${id}-hint`);
  const field = { line, input, isList };
  writeField(i, field);
  return field;
}

function typedField(i, id) {
  const { kind } = facts.columns[i];
  return tag("input", {
    id, type: "text", autocomplete: "off", spellcheck: "false", placeholder: "missing",
    inputmode: kind === "number" ? "decimal" : null, "data-column": i,
  });
}

function categoryList(i, id) {
  const names = facts.columns[i].categories.map((text, code) => [String(code), text.trim() === "" ? "(empty)" : text]);
  return tag("select", { id, "data-column": i },
    optionsOf([[MISSING, "— missing —"], ...names, [OTHER, "— other —"]], null));
}

function fieldHint(column) {
  if (column.kind === "category") {
    if (column.unnamed) return `${plural(column.unnamed, "rare category", "rare categories")} not listed`;
    return column.categories.length > MOST_OPTIONS ? `one of ${countWords(column.categories.length)} categories` : "";
  }
  if (column.least === null || column.most === null) return "";
  return `${valueWords(column, column.least)} to ${valueWords(column, column.most)}`;
}

function readField(i, input, isList) {
  const text = input.value;
  const value = isList ? listedValue(text) : typedValue(facts.columns[i], text);
  const isWrong = value === undefined;
  if (isWrong) wrong.add(i);
  else wrong.delete(i);
  input.setAttribute("aria-invalid", isWrong);
  if (!isWrong) row.set(i, value);
  followRow(true);
}

function listedValue(text) {
  if (text === MISSING) return null;
  return text === OTHER ? UNSEEN : Number(text);
}

/** The value of a text: null is missing, undefined is invalid for this kind of column. */
function typedValue(column, text) {
  if (column.kind === "category") {
    if (text === "") return null;
    const code = column.categories.indexOf(text);
    return code < 0 ? UNSEEN : code;
  }
  if (text.trim() === "") return null;
  const value = column.kind === "time" ? parseDate(text) : parseNumber(text);
  return Number.isNaN(value) ? undefined : value;
}

function writeField(i, { input, isList }) {
  const column = facts.columns[i], value = row.get(i);
  if (isList) input.value = value === null ? MISSING : value === UNSEEN ? OTHER : String(value);
  else if (column.kind === "category") input.value = value === null || value === UNSEEN ? "" : column.categories[value];
  else input.value = typedWords(column, value);
  input.removeAttribute("aria-invalid");
}

function fillRow(valueOf) {
  facts.columns.forEach((column, i) => row.set(i, valueOf(column)));
  wrong.clear();
  for (const [i, field] of fields) writeField(i, field);
  followRow(true);
}

/** Apply the tree to the row: the prediction, the steps, the path in the drawing. */
function followRow(hasChanged) {
  const bad = view.pruning.inputs.filter((column) => wrong.has(column));
  const refused = tree.missing === "error" ? view.pruning.columns.filter((column) => isMissing(row.get(column))) : [];
  const parts = bad.length || refused.length ? [] : leavesOf(row, view.pruning.ends);
  view.rowPath = parts.length ? lineage(largestPart(parts).leaf).filter((node) => !isPart(node)) : [];
  if (view.isTrying && hasChanged && view.rowPath.length) showPathSoon();
  else markNodes();
  if (bad.length) showInvalid(bad[0]);
  else if (refused.length) showRefusal(refused[0]);
  else if (parts.length > 1) showMixture(parts);
  else showDecision();
}

function showRefusal(i) {
  refill(byId("decision"), tag("p.wrong", {},
    `${shorten(columnWords(i), 60)} is missing; this tree takes rows without missing values only.`));
  refill(byId("trial-steps"));
}

const MOST_PARTS = 8;  // of a divided row that are listed

/** The prediction for a row that is divided over several leaves, and the share of each leaf. */
function showMixture(parts) {
  const leaf = largestPart(parts).leaf, sorted = [...parts].sort((a, b) => b.share - a.share);
  const mixed = isClasses ? mixedShares(parts) : null;
  const code = mixed ? cheapestOf(mixed) : -1;
  const value = mixed ? null : mixedNumber(parts);
  const colour = mixed ? facts.colours[code] : valueColour(value);
  const words = mixed ? `${percentWords(mixed[code])} in a mixture of ` : "the mean of ";
  refill(byId("decision"),
    faint("Prediction"),
    tag("strong.answer", { "data-leaf": leaf, "data-parts": parts.length }, swatch(colour),
      mixed ? classWords(code) : numberWords(value, 6)),
    tag("span", {}, `${words}${plural(parts.length, "leaf", "leaves")}: where a value is missing, the row is divided over both branches`));
  refill(byId("trial-steps"),
    tag("h4", {}, "Leaves of the row"),
    tag("div.bars.wide-names", {}, sorted.slice(0, MOST_PARTS).map((part) => [
      tag("span.bar-name", {}, shorten(answerWords(part.leaf), 60), faint(` leaf ${part.leaf}`)),
      bar(part.share, colourOf(part.leaf)),
      tag("span.number", {}, percentWords(part.share))])),
    sorted.length > MOST_PARTS ? tag("p.faint", {}, `and ${plural(sorted.length - MOST_PARTS, "more", "more")}`) : null,
    tag("h4", {}, "Decision path of the largest part"), stepList());
}

let nodesOpenForRow = [], isPathWaiting = false;

/** Unfold the path of the row and fold what only the previous row needed; at most once per frame. */
function showPathSoon() {
  if (isPathWaiting) return;
  isPathWaiting = true;
  requestAnimationFrame(() => {
    isPathWaiting = false;
    if (!view.rowPath.length) return;
    const leaf = view.rowPath[view.rowPath.length - 1], onPath = new Set(view.rowPath);
    const gone = nodesOpenForRow.filter((node) => !onPath.has(node));
    for (const node of gone) view.isOpen[node] = 0;
    const opened = reveal(leaf);
    nodesOpenForRow = [...nodesOpenForRow.filter((node) => onPath.has(node)), ...opened];
    if (gone.length || opened.length) drawTree();
    else markNodes();
    bringIntoView(visibleFor(leaf), true);
  });
}

function showInvalid(i) {
  const what = facts.columns[i].kind === "time" ? "a date such as 2024-05-31 or 2024-05-31 14:30" : "a number such as 12.5";
  refill(byId("decision"), tag("p.wrong", {}, `${shorten(columnWords(i), 60)} must be ${what}, or empty if it is missing.`));
  refill(byId("trial-steps"));
}

function showDecision() {
  const leaf = view.rowPath[view.rowPath.length - 1], rows = trainSample.node_rows[leaf];
  const words = isClasses
    ? `${percentWords(confidenceAt(trainName, leaf))} of ${plural(rows, "training row", "training rows")} in this leaf`
    : `from a leaf of ${plural(rows, "training row", "training rows")}`;
  refill(byId("decision"),
    faint("Prediction"),
    tag("strong.answer", { "data-leaf": leaf }, swatch(colourOf(leaf)), answerWords(leaf)),
    tag("span", {}, words));
  refill(byId("trial-steps"), tag("h4", {}, "Decision path"), stepList());
}

/** The surrogate that decided for a row with a missing value. */
function surrogateNote(node) {
  const above = parentOf[node];
  const surrogate = isMissing(valueAt(row, tree.feature[above])) ? activeSurrogate(above, row) : null;
  if (!surrogate) return null;
  const { test, isLeft } = surrogate;
  return faint(`, by the surrogate ${typeset(shorten(isLeft ? test.words : test.other_words, 60))}`);
}

/** Each test on the path, and the prediction after it. */
function stepList() {
  const leaf = view.rowPath[view.rowPath.length - 1], last = view.rowPath.slice(-MOST_CONDITIONS - 1);
  const worth = (node) => (isClasses ? shareAt(trainName, node, tree.label[leaf]) : tree.value[node]);
  const text = (node) => (isClasses ? percentWords(worth(node), 0) : numberWords(worth(node)));
  const most = (node) => (isClasses ? worth(node) : (worth(node) - valueRange[0]) / (valueRange[1] - valueRange[0]));
  const name = isClasses ? shorten(classWords(tree.label[leaf]), 24) : "prediction";
  return tag("div.bars.wide-names", {}, last.map((node) => [
    tag("span.bar-name", {}, shorten(node ? conditionWords(node) : `all rows (${name})`, 90), node ? surrogateNote(node) : null),
    bar(most(node), colourOf(leaf)),
    tag("span.number", {}, text(node))]));
}
