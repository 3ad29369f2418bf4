// The box of a node: a branch with its test, a leaf or folded branch with its prediction.

const BOX = { width: 164, height: 42, across: tree.joined ? 270 : 212, down: 50, margin: 14 };
const fontFamily = () => getComputedStyle(document.body).fontFamily;

/** What a node's box holds; only redone when `boxKey` changes. */
function boxContent(node) {
  const isAnswer = !isUnfolded(node);
  const hidden = isEnd(node) ? 0 : leavesBelow(node, view.pruning.leaves);
  return [
    isAnswer && hidden ? shape("rect.under", { x: 4, y: 4, width: BOX.width, height: BOX.height, rx: 8 }) : null,
    shape("rect.box", { width: BOX.width, height: BOX.height, rx: 8 }),
    isAnswer ? shape("path", { d: `M8 0H7a7 7 0 0 0-7 7v${BOX.height - 14}a7 7 0 0 0 7 7h1z`, fill: colourOf(node) }) : null,
    isAnswer ? answerLine(node) : testLine(node),
    summaryLine(node),
    isEnd(node) ? null : handle(node, hidden),
  ];
}

function boxKey(node) {
  if (isUnfolded(node)) return "branch";
  return isEnd(node) ? "leaf" : `folded ${leavesBelow(node, view.pruning.leaves)}`;
}

function testLine(node) {
  const [name, rest] = splitWords(tree.left_words[node], tree.feature[node]);
  const room = BOX.width - 24, bold = `600 12px ${fontFamily()}`, plain = `12px ${fontFamily()}`;
  const width = Math.min(name.length < 200 ? textWidth(name, bold) : room, room * 0.45);
  const known = rest.endsWith(facts.or_missing) ? rest.slice(0, -facts.or_missing.length) : rest;  // the rest is in the details
  const condition = fitText(known, room - width, plain);
  const label = fitText(name, room - textWidth(condition, plain), bold);
  return shape("text", { x: 10, y: 17, class: "question" },
    shape("tspan.strong", {}, label), shape("tspan", {}, condition));
}

function answerLine(node) {
  const room = BOX.width - (isClasses ? 74 : 30);
  return [
    shape("text", { x: 16, y: 17, class: "strong" }, fitText(answerWords(node), room, `600 12px ${fontFamily()}`)),
    isClasses && trainSample.node_rows[node] ? shape("text", { x: BOX.width - 14, y: 17, "text-anchor": "end" }, percentWords(confidenceAt(trainName, node), 0)) : null,
  ];
}

function summaryLine(node) {
  const left = isUnfolded(node) ? 10 : 16;
  const rows = trainSample.node_rows[node] ? countWords(trainSample.node_rows[node]) : "no rows";
  return [
    ...(isClasses ? classBar(node, left, 27, 84) : valueMark(node, left, 27, 84)),
    shape("text", { x: BOX.width - 14, y: 34, "text-anchor": "end", class: "faint" }, rows),
  ];
}

/** The classes of a node's rows as one bar. */
function classBar(node, x, y, width) {
  const weight = weightAt(trainName, node) || 1;
  const parts = [shape("rect.track", { x, y, width, height: 6 })];
  let from = x;
  for (const [code, own] of [...classPairs(trainName, node)].sort((a, b) => a[0] - b[0])) {
    const wide = width * own / weight;
    if (wide > 0.3) parts.push(shape("rect", { x: from, y, width: wide, height: 6, fill: facts.colours[code] }));
    from += wide;
  }
  return parts;
}

/** The place of a node's number between the smallest and the largest of the tree. */
function valueMark(node, x, y, width) {
  const at = x + 3 + (width - 6) * (tree.value[node] - valueRange[0]) / (valueRange[1] - valueRange[0]);
  return [
    shape("rect.track", { x, y: y + 1, width, height: 4, rx: 2 }),
    shape("circle.mark", { cx: at, cy: y + 3, r: 4, fill: colourOf(node) }),
  ];
}

function handle(node, hidden) {
  const text = isUnfolded(node) ? "−" : `+${countWords(hidden)}`;
  const wide = Math.max(18, 10 + 7 * text.length);
  return shape("g.handle", { "data-handle": node, "aria-hidden": "true" },
    shape("rect", { x: BOX.width - 9, y: BOX.height / 2 - 9, width: wide, height: 18, rx: 9 }),
    shape("text", { x: BOX.width - 9 + wide / 2, y: BOX.height / 2 + 4, "text-anchor": "middle" }, text));
}

/** A node for screen readers. */
function ariaText(node) {
  const rows = rowsWords(trainSample.node_rows[node]);
  const answer = isClasses && trainSample.node_rows[node]
    ? `${answerWords(node)} ${percentWords(confidenceAt(trainName, node), 0)}`
    : `prediction ${answerWords(node)}`;
  const edge = node ? `${conditionWords(node)}: ` : "";
  if (isEnd(node)) return `${edge}leaf, ${answer}, ${rows}`;
  const test = `test ${typeset(tree.left_words[node])}`;
  const hidden = isUnfolded(node) ? "" : `, ${leavesWords(leavesBelow(node, view.pruning.leaves))} folded`;
  return `${edge}${test}, ${answer}, ${rows}${hidden}`;
}

function tipLines(node) {
  const lines = [node ? conditionWords(node) : "All rows"];
  for (const part of sampleNames) {
    const rows = rowsWords(facts.samples[part].node_rows[node]);
    lines.push(`${capital(SAMPLE_WORDS[part])}: ${rows}${facts.samples[part].node_rows[node] ? `, ${lossPhrase(part, node)}` : ""}`);
  }
  lines.splice(1, 0, `Prediction: ${shorten(answerWords(node), 60)}`);
  return lines;
}

function lossPhrase(part, node) {
  const loss = lossAt(part, node);
  return `${lossName()} ${lossWords(loss)}`;
}
