// The drawing of the tree: from left to right, only what is unfolded; rows of boxes slide to their places.

const drawing = byId("drawing"), canvas = byId("canvas");
const edgeLayer = shape("g", { "aria-hidden": "true", role: "presentation" });
const boxLayer = shape("g", { role: "presentation" });
drawing.append(edgeLayer, boxLayer);

const items = new Map();  // node -> {box, edge, label, x, y, key}
let scale = 1, extent = { width: 1, height: 1 }, focusNode = 0, slide = 0;
const prefersStill = matchMedia("(prefers-reduced-motion: reduce)");

/** Places of the visible nodes: leaves one below the other, a branch between its first and its last child. */
function nodePlaces(nodes) {
  const places = new Map();
  let row = 0, deepest = 0;
  for (const node of nodes) {
    const y = isUnfolded(node) ? -1 : BOX.margin + BOX.down * row++;
    places.set(node, { x: BOX.margin + BOX.across * depth[node], y });
    deepest = Math.max(deepest, depth[node]);
  }
  for (let i = nodes.length - 1; i >= 0; i--) {  // children come after their parent
    const place = places.get(nodes[i]);
    if (place.y >= 0) continue;
    const branches = branchesOf(nodes[i], view.pruning.ends);
    place.y = (places.get(branches[0]).y + places.get(branches[branches.length - 1]).y) / 2;
  }
  extent = {
    width: 2 * BOX.margin + BOX.across * deepest + BOX.width + 40,
    height: 2 * BOX.margin + BOX.down * (row - 1) + BOX.height,
  };
  return places;
}

function drawTree() {
  const nodes = visibleNodes(), places = nodePlaces(nodes), keep = new Set(nodes);
  for (const [node, item] of items) if (!keep.has(node)) forget(node, item);
  const isFirst = items.size === 0;
  const moves = nodes.map((node) => updateNode(node, places.get(node)));
  putInOrder(nodes);
  if (!keep.has(focusNode)) moveFocus(visibleFor(focusNode), boxLayer.contains(document.activeElement));
  markNodes();
  resize();
  slideTo(moves, isFirst || prefersStill.matches || nodes.length > 300);
}

/** Preorder is the reading order. Boxes in place are not moved, since a moved box would lose the focus. */
function putInOrder(nodes) {
  let next = boxLayer.firstChild;
  for (const node of nodes) {
    const { box } = items.get(node);
    if (box === next) next = next.nextSibling;
    else boxLayer.insertBefore(box, next);
  }
}

function forget(node, item) {
  const hadFocus = document.activeElement === item.box;
  for (const part of [item.box, item.edge, item.label]) if (part) part.remove();
  items.delete(node);
  if (hadFocus) moveFocus(visibleFor(node), true);
}

/** Create or refresh the box of a node; returns its old and its new place. */
function updateNode(node, place) {
  let item = items.get(node);
  if (!item) {
    const above = items.get(parentOf[node]);
    item = { ...newItem(node), x: above ? above.x : place.x, y: above ? above.y : place.y, key: "" };
    items.set(node, item);
  }
  const key = boxKey(node);
  if (item.key !== key) refill(item.box, boxContent(node));
  item.key = key;
  describe(item.box, node);
  return { node, item, from: { x: item.x, y: item.y }, to: place };
}

function newItem(node) {
  const box = shape("g.node", { role: "treeitem", id: `node-${node}`, "data-node": node, tabindex: node === focusNode ? 0 : -1 });
  if (!node) return { box, edge: null, label: null };
  const share = trainSample.node_rows[node] / trainSample.rows;
  const edge = shape("path.edge", { "stroke-width": (1.2 + 7 * Math.sqrt(share)).toFixed(1) });
  const label = shape("text.edge-label", { "text-anchor": "end" }, edgeWords(node));
  edgeLayer.append(edge, label);
  return { box, edge, label };
}

/** Yes or no; or which of many branches it is. */
function edgeWords(node) {
  if (!tree.into_words || !Object.hasOwn(tree.into_words, node)) return node === leftOf(parentOf[node]) ? "yes" : "no";
  const words = splitWords(tree.into_words[node], tree.feature[parentOf[node]])[1].trim().replace(/^= /, "");
  return fitText(words, BOX.across - BOX.width - 10, `11px ${fontFamily()}`);
}

function describe(box, node) {
  const beside = node ? branchesOf(parentOf[node], view.pruning.ends) : [0];
  box.setAttribute("aria-label", shorten(ariaText(node), 400));
  box.setAttribute("aria-level", depth[node] + 1);
  box.setAttribute("aria-setsize", beside.length);
  box.setAttribute("aria-posinset", beside.indexOf(node) + 1);
  if (isEnd(node)) box.removeAttribute("aria-expanded");
  else box.setAttribute("aria-expanded", isUnfolded(node));
}

/** The CSS classes of the selected node, the path of the row in the form, and the matches of the search. */
function markNodes() {
  const onPath = new Set(view.isTrying ? view.rowPath : []), matches = new Set(view.matches);
  for (const [node, item] of items) {
    item.box.classList.toggle("selected", node === view.selected);
    item.box.setAttribute("aria-selected", node === view.selected);
    item.box.classList.toggle("on-way", onPath.has(node));
    item.box.classList.toggle("found", matches.has(node) && !isEnd(node));
    if (item.edge) item.edge.classList.toggle("on-way", onPath.has(node));
    if (item.label) item.label.classList.toggle("on-way", onPath.has(node));
  }
  drawing.classList.toggle("has-way", onPath.size > 0);
  drawing.classList.toggle("has-found", matches.size > 0);
}

function slideTo(moves, isAtOnce) {
  cancelAnimationFrame(slide);
  const begin = performance.now(), lasts = 240;
  const frame = (now) => {
    const passed = isAtOnce ? 1 : Math.min(1, Math.max(0, (now - begin) / lasts));
    const eased = 1 - (1 - passed) ** 3;
    for (const { node, item, from, to } of moves) {
      item.x = from.x + eased * (to.x - from.x);
      item.y = from.y + eased * (to.y - from.y);
      put(node, item);
    }
    if (passed < 1) slide = requestAnimationFrame(frame);
  };
  frame(begin);
}

function put(node, item) {
  item.box.setAttribute("transform", `translate(${item.x.toFixed(1)} ${item.y.toFixed(1)})`);
  if (!item.edge) return;
  const above = items.get(parentOf[node]);  // it is before its children in the list, so it is moved already
  const x0 = above.x + BOX.width, y0 = above.y + BOX.height / 2, x1 = item.x, y1 = item.y + BOX.height / 2;
  const bend = (x1 - x0) * 0.55;
  item.edge.setAttribute("d", `M${x0} ${y0}C${x0 + bend} ${y0} ${x1 - bend} ${y1} ${x1} ${y1}`);
  item.label.setAttribute("x", x1 - 5);
  item.label.setAttribute("y", y1 - 6);
}

// ---- zoom ----------------------------------------------------------------------------------------------------

function resize() {
  drawing.setAttribute("viewBox", `0 0 ${extent.width} ${extent.height}`);
  drawing.setAttribute("width", Math.round(extent.width * scale));
  drawing.setAttribute("height", Math.round(extent.height * scale));
}

/** Zoom about a point of the canvas (its middle by default), which stays where it is. */
function zoomTo(target, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
  const before = scale;
  scale = Math.max(0.08, Math.min(2.5, target));
  const left = (canvas.scrollLeft + x) * scale / before - x, top = (canvas.scrollTop + y) * scale / before - y;
  resize();
  canvas.scrollTo(left, top);
}

const READABLE = 0.7;  // the scale at which a whole tree is preferred to a part of it that is larger

/** Show all that is unfolded; or, to begin with, as much as can be read. */
function zoomToFit(least = 0.08) {
  const fit = Math.min(canvas.clientWidth / extent.width, canvas.clientHeight / extent.height, 1.3);
  zoomTo(fit >= READABLE ? fit : Math.max(least, fit));
  const root = items.get(0);
  canvas.scrollTo(0, root ? (root.y + BOX.height / 2) * scale - canvas.clientHeight / 2 : 0);
}

/** Scroll the canvas, and only the canvas, until a node is in it. */
function bringIntoView(node, isCentred = false) {
  const nodes = visibleNodes(), place = nodePlaces(nodes).get(node);
  if (!place) return;
  const spare = 30, box = { left: place.x * scale, top: place.y * scale, right: (place.x + BOX.width) * scale, bottom: (place.y + BOX.height) * scale };
  let { scrollLeft: left, scrollTop: top } = canvas;
  if (box.right + spare > left + canvas.clientWidth) left = box.right + spare - canvas.clientWidth;
  if (box.left - spare < left) left = box.left - spare;
  if (box.bottom + spare > top + canvas.clientHeight) top = box.bottom + spare - canvas.clientHeight;
  if (box.top - spare < top) top = box.top - spare;
  if (isCentred) top = (box.top + box.bottom - canvas.clientHeight) / 2;
  canvas.scrollTo({ left, top, behavior: prefersStill.matches ? "auto" : "smooth" });
}

// ---- legend --------------------------------------------------------------------------------------------------

function drawClassLegend() {
  const legend = byId("class-legend");
  if (isClasses && facts.classes.length <= 12) {
    refill(legend, facts.classes.map((_, code) => tag("span", {}, swatch(facts.colours[code]), shorten(classWords(code), 40))));
  } else if (!isClasses) {
    const ramp = SCALE.map((_, i) => swatch(valueColour(valueRange[0] + (valueRange[1] - valueRange[0]) * i / (SCALE.length - 1))));
    refill(legend, tag("span", {}, numberWords(valueRange[0]), " ", ramp, " ", numberWords(valueRange[1])));
  }
}
