// Try a row: a form of the columns that the tree tests, and where a row with these values goes.

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

/** One field for each column that the way of a row may depend on; those typed in before keep their values. */
function drawFields() {
  for (const column of view.shown.asked) if (!fields.has(column)) fields.set(column, newField(column));
  const wanted = view.shown.asked.map((column) => fields.get(column).line);
  const holder = byId("trial-fields");
  if (wanted.length === holder.children.length && wanted.every((line, i) => holder.children[i] === line)) return;
  refill(holder, wanted.length ? wanted : tag("p.faint", {}, "A single leaf asks nothing: every row gets the same answer."));
}

function newField(i) {
  const column = facts.columns[i], id = `field-${i}`;
  const isList = column.kind === "category" && column.categories.length <= MOST_OPTIONS;
  const input = isList ? categoryList(i, id) : typedField(i, id);
  input.addEventListener("input", () => readField(i, input, isList));
  const hint = fieldHint(column);
  const line = tag("div.field", {},
    tag("label", { for: id }, shortened(columnWords(i), 80)),
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
    optionsOf([[MISSING, "— missing —"], ...names, [OTHER, "— another one —"]], null));
}

function fieldHint(column) {
  if (column.kind === "category") {
    if (column.unnamed) return `${plural(column.unnamed, "rare one is", "rare ones are")} not listed`;
    return column.categories.length > MOST_OPTIONS ? `one of ${countWords(column.categories.length)}` : "";
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

/** What was typed: null is missing, undefined is nothing that a column of this kind can hold. */
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

/** Send the row down the tree shown: the decision, the steps, the way on the drawing. */
function followRow(isMoved) {
  const bad = view.shown.asked.filter((column) => wrong.has(column));
  const refused = tree.missing === "error" ? view.shown.used.filter((column) => isMissing(row.get(column))) : [];
  const parts = bad.length || refused.length ? [] : leavesOf(row, view.shown.ends);
  view.way = parts.length ? lineage(largestPart(parts).leaf).filter((node) => !isPart(node)) : [];
  if (view.isTrying && isMoved && view.way.length) showWaySoon();
  else markNodes();
  if (bad.length) tellWrong(bad[0]);
  else if (refused.length) tellRefused(refused[0]);
  else if (parts.length > 1) tellMixture(parts);
  else tellDecision();
}

function tellRefused(i) {
  refill(byId("decision"), tag("p.wrong", {},
    `${shortened(columnWords(i), 60)} is missing, and this tree takes rows without missing values only.`));
  refill(byId("trial-steps"));
}

const MOST_PARTS = 8;  // of a divided row that are listed

/** The answer to a row that goes to several leaves, and what each of them has to say in it. */
function tellMixture(parts) {
  const leaf = largestPart(parts).leaf, sorted = [...parts].sort((a, b) => b.share - a.share);
  const mixed = isClasses ? mixedShares(parts) : null;
  const code = mixed ? cheapestOf(mixed) : -1;
  const value = mixed ? null : mixedNumber(parts);
  const colour = mixed ? facts.colours[code] : valueColour(value);
  const words = mixed ? `${percentWords(mixed[code])} in a mixture of ` : "the mean of ";
  refill(byId("decision"),
    faint("The tree answers"),
    tag("strong.answer", { "data-leaf": leaf, "data-parts": parts.length }, swatch(colour),
      mixed ? classWords(code) : numberWords(value, 6)),
    tag("span", {}, `${words}${plural(parts.length, "leaf", "leaves")}: where a value is missing, the row goes down both sides`));
  refill(byId("trial-steps"),
    tag("h4", {}, "Its leaves"),
    tag("div.bars.wide-names", {}, sorted.slice(0, MOST_PARTS).map((part) => [
      tag("span.bar-name", {}, shortened(answerWords(part.leaf), 60), faint(` leaf ${part.leaf}`)),
      bar(part.share, colourOf(part.leaf)),
      tag("span.number", {}, percentWords(part.share))])),
    sorted.length > MOST_PARTS ? tag("p.faint", {}, `and ${plural(sorted.length - MOST_PARTS, "more", "more")}`) : null,
    tag("h4", {}, "The way of its largest part"), stepList());
}

let openedForRow = [], isWayWaiting = false;

/** Unfold the way of the row, and fold what only the last row needed; once in a frame however fast one types. */
function showWaySoon() {
  if (isWayWaiting) return;
  isWayWaiting = true;
  requestAnimationFrame(() => {
    isWayWaiting = false;
    if (!view.way.length) return;
    const leaf = view.way[view.way.length - 1], onWay = new Set(view.way);
    const gone = openedForRow.filter((node) => !onWay.has(node));
    for (const node of gone) view.isOpen[node] = 0;
    const opened = reveal(leaf);
    openedForRow = [...openedForRow.filter((node) => onWay.has(node)), ...opened];
    if (gone.length || opened.length) drawTree();
    else markNodes();
    bringIntoView(visibleFor(leaf), true);
  });
}

function tellWrong(i) {
  const what = facts.columns[i].kind === "time" ? "a date such as 2024-05-31 or 2024-05-31 14:30" : "a number such as 12.5";
  refill(byId("decision"), tag("p.wrong", {}, `${shortened(columnWords(i), 60)} must be ${what}, or empty if it is missing.`));
  refill(byId("trial-steps"));
}

function tellDecision() {
  const leaf = view.way[view.way.length - 1], rows = learnt.node_rows[leaf];
  const words = isClasses
    ? `${percentWords(confidenceAt(learning, leaf))} of ${rowsWords(rows)} in this leaf`
    : `the answer of a leaf of ${rowsWords(rows)}`;
  refill(byId("decision"),
    faint("The tree answers"),
    tag("strong.answer", { "data-leaf": leaf }, swatch(colourOf(leaf)), answerWords(leaf)),
    tag("span", {}, words));
  refill(byId("trial-steps"), tag("h4", {}, "Its way"), stepList());
}

/** Why a row without the value that was tested came to a node: what its surrogate says. */
function reasonFor(node) {
  const above = parentOf[node];
  const found = isMissing(valueAt(row, tree.feature[above])) ? standIn(above, row) : null;
  return found ? faint(`, as ${tidyWords(shortened(found.isLeft ? found.test.words : found.test.other_words, 60))}`) : null;
}

/** Each test on the way, and how the answer moved by it. */
function stepList() {
  const leaf = view.way[view.way.length - 1], last = view.way.slice(-MOST_CONDITIONS - 1);
  const worth = (node) => (isClasses ? shareAt(learning, node, tree.label[leaf]) : tree.value[node]);
  const text = (node) => (isClasses ? percentWords(worth(node), 0) : numberWords(worth(node)));
  const most = (node) => (isClasses ? worth(node) : (worth(node) - valueRange[0]) / (valueRange[1] - valueRange[0]));
  const name = isClasses ? shortened(classWords(tree.label[leaf]), 24) : "answer";
  return tag("div.bars.wide-names", {}, last.map((node) => [
    tag("span.bar-name", {}, shortened(node ? wordsInto(node) : `all rows (${name})`, 90), node ? reasonFor(node) : null),
    bar(most(node), colourOf(leaf)),
    tag("span.number", {}, text(node))]));
}
