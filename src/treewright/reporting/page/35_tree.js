// The drawing of the tree: from left to right, only what is unfolded; rows of boxes slide to their places.

const drawing = byId("drawing"), canvas = byId("canvas");
const edgeLayer = shape("g", { "aria-hidden": "true", role: "presentation" });
const boxLayer = shape("g", { role: "presentation" });
drawing.append(edgeLayer, boxLayer);

const drawn = new Map();  // node -> {box, edge, label, x, y, key}
let scale = 1, extent = { width: 1, height: 1 }, focused = 0, slide = 0;
const prefersStill = matchMedia("(prefers-reduced-motion: reduce)");

/** Places of the visible nodes: leaves one below the other, a branch between its first and its last child. */
function arranged(nodes) {
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
    const branches = branchesOf(nodes[i], view.shown.ends);
    place.y = (places.get(branches[0]).y + places.get(branches[branches.length - 1]).y) / 2;
  }
  extent = {
    width: 2 * BOX.margin + BOX.across * deepest + BOX.width + 40,
    height: 2 * BOX.margin + BOX.down * (row - 1) + BOX.height,
  };
  return places;
}

function drawTree() {
  const nodes = visibleNodes(), places = arranged(nodes), keep = new Set(nodes);
  for (const [node, item] of drawn) if (!keep.has(node)) forget(node, item);
  const isFirst = drawn.size === 0;
  const moves = nodes.map((node) => updated(node, places.get(node)));
  putInOrder(nodes);
  if (!keep.has(focused)) moveFocus(visibleFor(focused), boxLayer.contains(document.activeElement));
  markNodes();
  resize();
  slideTo(moves, isFirst || prefersStill.matches || nodes.length > 300);
}

/** Preorder is the order of reading. What is there stays where it is: a box that moves would lose the focus. */
function putInOrder(nodes) {
  let next = boxLayer.firstChild;
  for (const node of nodes) {
    const { box } = drawn.get(node);
    if (box === next) next = next.nextSibling;
    else boxLayer.insertBefore(box, next);
  }
}

function forget(node, item) {
  const hadFocus = document.activeElement === item.box;
  for (const part of [item.box, item.edge, item.label]) if (part) part.remove();
  drawn.delete(node);
  if (hadFocus) moveFocus(visibleFor(node), true);
}

/** The drawn node with its content up to date; returns where it comes from and where it goes. */
function updated(node, place) {
  let item = drawn.get(node);
  if (!item) {
    const above = drawn.get(parentOf[node]);
    item = { ...newItem(node), x: above ? above.x : place.x, y: above ? above.y : place.y, key: "" };
    drawn.set(node, item);
  }
  const key = boxKey(node);
  if (item.key !== key) refill(item.box, boxContent(node));
  item.key = key;
  describe(item.box, node);
  return { node, item, from: { x: item.x, y: item.y }, to: place };
}

function newItem(node) {
  const box = shape("g.node", { role: "treeitem", id: `node-${node}`, "data-node": node, tabindex: node === focused ? 0 : -1 });
  if (!node) return { box, edge: null, label: null };
  const share = learnt.node_rows[node] / learnt.rows;
  const edge = shape("path.edge", { "stroke-width": (1.2 + 7 * Math.sqrt(share)).toFixed(1) });
  const label = shape("text.edge-label", { "text-anchor": "end" }, edgeWords(node));
  edgeLayer.append(edge, label);
  return { box, edge, label };
}

/** Yes or no; or which of many branches it is. */
function edgeWords(node) {
  if (!tree.into_words || !Object.hasOwn(tree.into_words, node)) return node === leftOf(parentOf[node]) ? "yes" : "no";
  const words = splitWords(tree.into_words[node], tree.feature[parentOf[node]])[1].trim().replace(/^= /, "");
  return fitted(words, BOX.across - BOX.width - 10, `11px ${fontFamily()}`);
}

function describe(box, node) {
  const beside = node ? branchesOf(parentOf[node], view.shown.ends) : [0];
  box.setAttribute("aria-label", shortened(spokenWords(node), 400));
  box.setAttribute("aria-level", depth[node] + 1);
  box.setAttribute("aria-setsize", beside.length);
  box.setAttribute("aria-posinset", beside.indexOf(node) + 1);
  if (isEnd(node)) box.removeAttribute("aria-expanded");
  else box.setAttribute("aria-expanded", isUnfolded(node));
}

/** Classes that change often: the selected node, the way of the row that is tried, what was searched. */
function markNodes() {
  const onWay = new Set(view.isTrying ? view.way : []), found = new Set(view.found);
  for (const [node, item] of drawn) {
    item.box.classList.toggle("selected", node === view.selected);
    item.box.setAttribute("aria-selected", node === view.selected);
    item.box.classList.toggle("on-way", onWay.has(node));
    item.box.classList.toggle("found", found.has(node) && !isEnd(node));
    if (item.edge) item.edge.classList.toggle("on-way", onWay.has(node));
    if (item.label) item.label.classList.toggle("on-way", onWay.has(node));
  }
  drawing.classList.toggle("has-way", onWay.size > 0);
  drawing.classList.toggle("has-found", found.size > 0);
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
  const above = drawn.get(parentOf[node]);  // it is before its children in the list, so it is moved already
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
function zoomTo(wanted, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
  const before = scale;
  scale = Math.max(0.08, Math.min(2.5, wanted));
  const left = (canvas.scrollLeft + x) * scale / before - x, top = (canvas.scrollTop + y) * scale / before - y;
  resize();
  canvas.scrollTo(left, top);
}

/** Show all that is unfolded; or, to begin with, as much as can be read. */
function zoomToFit(least = 0.08) {
  const fit = Math.min(canvas.clientWidth / extent.width, canvas.clientHeight / extent.height, 1.3);
  zoomTo(Math.max(least, fit));
  const root = drawn.get(0);
  canvas.scrollTo(0, root ? (root.y + BOX.height / 2) * scale - canvas.clientHeight / 2 : 0);
}

/** Scroll the canvas, and only the canvas, until a node is in it. */
function bringIntoView(node, isCentred = false) {
  const nodes = visibleNodes(), place = arranged(nodes).get(node);
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
