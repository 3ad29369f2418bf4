// What is shown now: the pruning, what is unfolded, what is selected; and who redraws when it changes.

const UNFOLDED_BY_ITSELF = innerWidth < 700 ? 10 : 24;  // leaves that a reader is shown without asking
const UNFOLDED_AT_MOST = 400;  // leaves drawn at once, so that the page stays quick

const view = {
  path: 0,  // of facts.paths
  place: 0,  // on that path
  shown: null,  // the pruning there
  isOpen: new Uint8Array(size),  // branches that are unfolded
  isShut: new Uint8Array(size),  // branches that the reader folded: they stay so
  selected: 0,
  found: [],  // branches that test the searched columns
  way: [],  // of the row that is tried
  isTrying: false,
};

const currentPath = () => facts.paths[view.path];
const isEnd = (node) => view.shown.ends[node] === 1;
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

/** Unfold the branches with most rows until `most` leaves are drawn; what a reader folded only where `isAsked`. */
function unfoldWithin(top, most, isAsked) {
  const rows = learnt.node_rows;
  const isFoldedBranch = (node) => !isEnd(node) && !view.isOpen[node] && (isAsked || !view.isShut[node]);
  const nodes = visibleNodes().filter((node) => !isUnfolded(node));
  const waiting = nodes.filter((node) => isInside(node, top) && isFoldedBranch(node));
  for (let drawn = nodes.length; waiting.length && drawn < most;) {
    let best = 0;
    for (let i = 1; i < waiting.length; i++) if (rows[waiting[i]] > rows[waiting[best]]) best = i;
    const [node] = waiting.splice(best, 1);
    setOpen(node, true);
    const branches = branchesOf(node, view.shown.ends);
    for (const child of branches) if (isFoldedBranch(child)) waiting.push(child);
    drawn += branches.length - 1;
  }
  return waiting.length === 0;
}

function setOpen(node, isOpen) {
  view.isOpen[node] = isOpen ? 1 : 0;
  view.isShut[node] = isOpen ? 0 : 1;
}

/** Unfold all that stands above a node, so that it can be seen; those that it opened, none if they are too many. */
function reveal(node) {
  const folded = lineage(node).slice(0, -1).filter((above) => !isEnd(above) && !view.isOpen[above]);
  if (folded.length + visibleNodes().length / 2 > UNFOLDED_AT_MOST) return [];
  for (const above of folded) setOpen(above, true);
  return folded;
}

/** The node itself, or the leaf or folded branch that hides it. */
function visibleFor(node) {
  let seen = isPart(node) ? parentOf[node] : node;
  for (let at = seen; at >= 0; at = parentOf[at]) if (!isUnfolded(at)) seen = at;
  return seen;
}

// ---- redrawing -----------------------------------------------------------------------------------------------

const quickDrawers = [];  // at once: what the reader's hand is on
const slowDrawers = [];  // a moment later: tables and pictures further down
let slowTimer = 0;
let isWaiting = false;

/** Go to a place of a path; everything follows. */
function showPruning(path, place) {
  view.path = path;
  view.place = Math.max(0, Math.min(place, facts.paths[path].leaves.length - 1));
  view.shown = pruningAt(currentPath(), view.place);
  unfoldWithin(0, UNFOLDED_BY_ITSELF, false);
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
  document.documentElement.dataset.drawn = `${view.path}/${view.place}`;  // what the page shows, for those who wait
}

/** Everything now: before the page is printed. */
function redrawNow() {
  for (const draw of quickDrawers) draw();
  redrawSlow();
}
