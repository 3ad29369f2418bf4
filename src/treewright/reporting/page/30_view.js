// The state of the page: the pruning, the open branches, the selection; and what to redraw when it changes.

const OPEN_AT_FIRST = innerWidth < 700 ? 10 : 24;  // leaves
const MOST_OPEN = 400;  // leaves drawn at once, so that the page stays fast

const view = {
  path: 0,  // of facts.pruning
  place: 0,  // on that path
  pruning: null,  // the tree there
  isOpen: new Uint8Array(size),  // branches that are unfolded
  isShut: new Uint8Array(size),  // branches that the user folded: they stay folded
  selected: 0,
  matches: [],  // branches that test the searched columns
  rowPath: [],  // nodes on the path of the row in the form
  isTrying: false,
  isPrinting: false,  // then lists are whole
};

const currentPath = () => facts.pruning[view.path];
const isEnd = (node) => view.pruning.ends[node] === 1;
const isPart = (node) => joined[node] === 1 && !isEnd(node);  // of a split into many branches: not drawn by itself
const isUnfolded = (node) => !isEnd(node) && view.isOpen[node] === 1;

/** The nodes to draw, in preorder. */
function visibleNodes() {
  const nodes = [];
  for (let node = 0; node < size; node = isPart(node) || isUnfolded(node) ? node + 1 : tree.end[node]) {
    if (!isPart(node)) nodes.push(node);
  }
  return nodes;
}

/** Unfold the branches with the most rows until `most` leaves are drawn; those that the user folded only if `isRequested`. */
function unfoldWithin(top, most, isRequested) {
  const rows = trainSample.node_rows;
  const isClosedBranch = (node) => !isEnd(node) && !view.isOpen[node] && (isRequested || !view.isShut[node]);
  const nodes = visibleNodes().filter((node) => !isUnfolded(node));
  const waiting = nodes.filter((node) => isInside(node, top) && isClosedBranch(node));
  for (let leaves = nodes.length; waiting.length && leaves < most;) {
    let best = 0;
    for (let i = 1; i < waiting.length; i++) if (rows[waiting[i]] > rows[waiting[best]]) best = i;
    const [node] = waiting.splice(best, 1);
    setOpen(node, true);
    const branches = branchesOf(node, view.pruning.ends);
    for (const child of branches) if (isClosedBranch(child)) waiting.push(child);
    leaves += branches.length - 1;
  }
  return waiting.length === 0;
}

function setOpen(node, isOpen) {
  view.isOpen[node] = isOpen ? 1 : 0;
  view.isShut[node] = isOpen ? 0 : 1;
}

/** Unfold the branches above a node to make it visible, unless they are too many; returns those that were folded. */
function reveal(node) {
  const folded = lineage(node).slice(0, -1).filter((above) => !isEnd(above) && !view.isOpen[above]);
  if (folded.length + visibleNodes().length / 2 > MOST_OPEN) return [];
  for (const above of folded) setOpen(above, true);
  return folded;
}

/** The node itself, or the leaf or folded branch that hides it. */
function visibleFor(node) {
  let top = isPart(node) ? parentOf[node] : node;
  for (let at = top; at >= 0; at = parentOf[at]) if (!isUnfolded(at)) top = at;
  return top;
}

// ---- redrawing -----------------------------------------------------------------------------------------------

const quickDrawers = [];  // immediately: what the user is operating
const slowDrawers = [];  // a moment later: tables and charts further down
let slowTimer = 0;
let isWaiting = false;

/** Show the tree at a place of a path. */
function showPruning(path, place) {
  view.path = path;
  view.place = Math.max(0, Math.min(place, facts.pruning[path].leaves.length - 1));
  view.pruning = pruningAt(currentPath(), view.place);
  unfoldWithin(0, OPEN_AT_FIRST, false);
  view.selected = visibleFor(view.selected);
  redrawSoon();
}

/** Many events within one frame are one redrawing. */
function redrawSoon() {
  if (isWaiting) return;
  isWaiting = true;
  requestAnimationFrame(() => {
    isWaiting = false;
    for (const draw of quickDrawers) draw();
    clearTimeout(slowTimer);
    slowTimer = setTimeout(redrawSlow, 60);
  });
}

function redrawSlow() {
  clearTimeout(slowTimer);
  for (const draw of slowDrawers) draw();
  document.documentElement.dataset.drawn = `${view.path}/${view.place}`;  // for scripts that wait for the page
}

/** Everything now: before the page is printed. */
function redrawNow() {
  for (const draw of quickDrawers) draw();
  redrawSlow();
}
