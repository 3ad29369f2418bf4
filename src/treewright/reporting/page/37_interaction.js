// Interaction with the tree: clicks, keys, dragging, zooming, and the search for a column.

function selectNode(node) {
  view.selected = node;
  moveFocus(visibleFor(node), false);
  markNodes();
  drawDetail();
}

/** The one node that the Tab key reaches. */
function moveFocus(node, takesFocus) {
  const old = items.get(focusNode), item = items.get(node);
  if (old) old.box.setAttribute("tabindex", -1);
  focusNode = node;
  if (!item) return;
  item.box.setAttribute("tabindex", 0);
  if (takesFocus) item.box.focus({ preventScroll: true });
}

function toggleFold(node) {
  if (isEnd(node)) return;
  const isOpening = !isUnfolded(node);
  if (isOpening && !hasRoom()) return;
  setOpen(node, isOpening);
  if (!isOpening) view.selected = visibleFor(view.selected);
  drawTree();
  drawDetail();
  announce(isOpening ? "unfolded" : "folded");
}

function hasRoom() {
  if (items.size < 2 * MOST_OPEN) return true;
  showTreeHint(`${MOST_OPEN} leaves are shown, which is the maximum; fold some branches first.`);
  return false;
}

function unfoldBelow(node) {
  const isAll = unfoldWithin(node, MOST_OPEN, true);
  drawTree();
  drawDetail();
  showTreeHint(isAll ? "" : `The ${MOST_OPEN} leaves with the most training rows are shown.`);
}

function foldAll() {
  for (const node of visibleNodes()) if (isUnfolded(node) && node) setOpen(node, false);
  view.selected = visibleFor(view.selected);
  drawTree();
  drawDetail();
  zoomToFit(0.85);
}

function nodeOf(target) {
  const box = target.closest("[data-node]");
  return box ? Number(box.dataset.node) : -1;
}

function listenToPointer() {
  let isDragged = false;
  drawing.addEventListener("click", (event) => {
    const node = nodeOf(event.target);
    if (node < 0 || isDragged) return;
    if (event.target.closest("[data-handle]")) toggleFold(node);
    else chooseNode(node);
  });
  drawing.addEventListener("dblclick", (event) => {
    const node = nodeOf(event.target);
    if (node >= 0 && !event.target.closest("[data-handle]")) toggleFold(node);
  });
  drawing.addEventListener("pointermove", (event) => {
    const node = event.pointerType === "mouse" && !event.buttons ? nodeOf(event.target) : -1;
    if (node >= 0) showTip(tipLines(node).map((line) => shorten(line, 120)), event.clientX, event.clientY);
    else hideTip();
  });
  drawing.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("pointerdown", (event) => {
    isDragged = false;
    if (event.pointerType === "mouse" && event.button === 0) drag(event, () => { isDragged = true; });
  });
}

/** A click opens the tab of the node, also from the form. */
function chooseNode(node) {
  selectNode(node);
  chooseTab("node");
  if (items.has(node)) moveFocus(node, true);
}

/** Pan with the mouse; touch and wheel scroll natively. */
function drag(start, onMove) {
  const { scrollLeft, scrollTop } = canvas;
  const move = (event) => {
    const dx = event.clientX - start.clientX, dy = event.clientY - start.clientY;
    if (Math.abs(dx) + Math.abs(dy) < 5) return;
    onMove();
    canvas.classList.add("dragged");
    canvas.scrollTo(scrollLeft - dx, scrollTop - dy);
  };
  const stop = () => {
    canvas.classList.remove("dragged");
    removeEventListener("pointermove", move);
  };
  addEventListener("pointermove", move);
  addEventListener("pointerup", stop, { once: true });
}

function listenToZoom() {
  byId("zoom-in").addEventListener("click", () => zoomTo(scale * 1.25));
  byId("zoom-out").addEventListener("click", () => zoomTo(scale / 1.25));
  byId("zoom-fit").addEventListener("click", () => zoomToFit());
  byId("fold-all").addEventListener("click", foldAll);
  byId("unfold-all").addEventListener("click", () => unfoldBelow(0));
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;  // plain wheels scroll
    event.preventDefault();
    const frame = canvas.getBoundingClientRect();
    zoomTo(scale * Math.exp(-event.deltaY / 300), event.clientX - frame.left, event.clientY - frame.top);
  }, { passive: false });
  listenToPinch();
}

function listenToPinch() {
  let apart = 0, from = 1;
  const distance = ([a, b]) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
  canvas.addEventListener("touchstart", (event) => {
    if (event.touches.length === 2) [apart, from] = [distance(event.touches), scale];
  }, { passive: true });
  canvas.addEventListener("touchmove", (event) => {
    if (event.touches.length !== 2) return;
    event.preventDefault();
    const frame = canvas.getBoundingClientRect(), [a, b] = event.touches;
    zoomTo(from * distance(event.touches) / apart, (a.clientX + b.clientX) / 2 - frame.left, (a.clientY + b.clientY) / 2 - frame.top);
  }, { passive: false });
}

// ---- keys ----------------------------------------------------------------------------------------------------

/** The node that a key leads to, as in a tree view; undefined if none. */
function keyTarget(key, node, nodes) {
  const at = nodes.indexOf(node);
  if (key === "ArrowDown") return nodes[at + 1];
  if (key === "ArrowUp") return nodes[at - 1];
  if (key === "Home") return nodes[0];
  if (key === "End") return nodes[nodes.length - 1];
  if (key === "ArrowRight" && isUnfolded(node)) return branchesOf(node, view.pruning.ends)[0];
  if (key === "ArrowLeft" && !isUnfolded(node) && node) return parentOf[node];
  return undefined;
}

function listenToKeys() {
  drawing.addEventListener("keydown", (event) => {
    const node = nodeOf(event.target);
    if (node < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event, isFolding = key === "ArrowRight" ? !isUnfolded(node) : key === "ArrowLeft" && isUnfolded(node);
    const target = isFolding ? undefined : keyTarget(key, node, visibleNodes());
    if (isFolding) toggleFold(node);
    else if (target !== undefined) focusOn(target);
    else if (key === "Enter" || key === " ") chooseNode(node);
    else if (key === "*") unfoldBelow(node);
    else if (key === "+" || key === "=") zoomTo(scale * 1.25);
    else if (key === "-") zoomTo(scale / 1.25);
    else if (key === "0") zoomToFit();
    else if (!key.startsWith("Arrow")) return;
    event.preventDefault();
  });
}

function focusOn(node) {
  view.selected = node;
  moveFocus(node, true);
  markNodes();
  drawDetail();
  bringIntoView(node);
}

// ---- search --------------------------------------------------------------------------------------------------

let matchIndex = -1;

/** The branches of the tree shown that test a column whose name holds the text. */
function searchColumns() {
  const text = byId("search").value.trim().toLowerCase();
  const columns = new Set();
  if (text) facts.columns.forEach((column, i) => { if (column.name.toLowerCase().includes(text)) columns.add(i); });
  view.matches = [];
  for (let node = 0; node < size; node = isEnd(node) ? tree.end[node] : node + 1) {
    const isMatch = () => partsOf(tree.feature[node]).some((column) => columns.has(column));
    if (!isEnd(node) && !joined[node] && isMatch()) view.matches.push(node);
  }
  byId("search-next").hidden = view.matches.length === 0;
  byId("search-found").textContent = matchWords(text, columns.size);
  markNodes();
}

function matchWords(text, columns) {
  if (!text) return "";
  if (!columns) return "no such column";
  if (!view.matches.length) return `${plural(columns, "column", "columns")}, not tested in this tree`;
  return `${plural(view.matches.length, "branch", "branches")}${columns > 1 ? ` of ${columns} columns` : ""}`;
}

function showNextMatch() {
  if (!view.matches.length) return;
  matchIndex = (matchIndex + 1) % view.matches.length;
  const node = view.matches[matchIndex];
  reveal(node);
  drawTree();
  selectNode(node);
  chooseTab("node");
  bringIntoView(node);
  byId("search-found").textContent = `${matchIndex + 1} of ${plural(view.matches.length, "branch", "branches")}`;
}

function listenToSearch() {
  const search = byId("search");
  const names = facts.columns.filter((column) => column.used).slice(0, 500);
  refill(byId("search-names"), names.map((column) => tag("option", { value: shorten(column.name, 200) })));
  search.addEventListener("input", () => { matchIndex = -1; searchColumns(); });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); showNextMatch(); }
    if (event.key === "Escape") { search.value = ""; searchColumns(); }
  });
  byId("search-next").addEventListener("click", showNextMatch);
}

function showTreeHint(text) {
  byId("tree-hint").textContent = text || treeHint();
}

function treeHint() {
  return "Read from left to right: rows that pass a test take the upper branch, all others the lower one. "
    + "Lines are wider where more training rows pass. Select a node for its details.";
}

function startTree() {
  showTreeHint("");
  listenToPointer();
  listenToZoom();
  listenToKeys();
  listenToSearch();
  quickDrawers.push(drawTree);
  slowDrawers.push(searchColumns);
}
