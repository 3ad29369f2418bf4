// The beginning: theme, links, print, and the first drawing.

const THEMES = ["auto", "light", "dark"];

/** Light, dark, or what the reader's system prefers; remembered where that is allowed. */
function setTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  const button = byId("theme");
  button.textContent = `Theme: ${theme}`;
  button.setAttribute("aria-label", `Theme: ${theme}`);
  button.dataset.theme = theme;
}

function startTheme() {
  const kept = remembered();
  setTheme(THEMES.includes(kept) ? kept : "auto");
  byId("theme").addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf(byId("theme").dataset.theme) + 1) % THEMES.length];
    setTheme(next);
    try {
      localStorage.setItem("treewright-theme", next);
    } catch { /* frames and private windows keep nothing */ }
  });
}

function remembered() {
  try {
    return localStorage.getItem("treewright-theme");
  } catch {
    return null;
  }
}

/** Links within the page scroll by script: in a frame of a notebook an address would lead out of it. */
function startLinks() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (!link) return;
    event.preventDefault();
    const target = document.querySelector(link.getAttribute("href"));
    target.scrollIntoView({ behavior: prefersStill.matches ? "auto" : "smooth" });
    target.setAttribute("tabindex", "-1");
    target.focus({ preventScroll: true });
  });
}

const DEEPEST_ON_PAPER = 4;  // so many levels can be read across a page; all of the tree stands there as text

/** On paper lists are whole and nothing is cut off. */
function startPrint() {
  let before = null;
  addEventListener("beforeprint", () => {
    before = { isOpen: view.isOpen.slice(), isShut: view.isShut.slice(), isEvery: quality.isEvery, isEveryColumn };
    for (let node = 0; node < size; node++) view.isOpen[node] = depth[node] < DEEPEST_ON_PAPER ? 1 : 0;
    quality.isEvery = view.shown.leaves.length <= 200;
    isEveryColumn = true;
    redrawNow();
  });
  addEventListener("afterprint", () => {
    Object.assign(view, { isOpen: before.isOpen, isShut: before.isShut });
    quality.isEvery = before.isEvery;
    isEveryColumn = before.isEveryColumn;
    redrawNow();
  });
}

function startReport() {
  byId("static").remove();
  byId("report").hidden = false;
  startTheme();
  startLinks();
  startPrint();
  drawHeadline();
  drawClassLegend();
  drawRules();
  drawReproduce();
  startTree();
  startTabs();
  startTrial();
  startPruning();
  startColumns();
  startQuality();
  showPruning(0, facts.paths[0].chosen);
  requestAnimationFrame(() => requestAnimationFrame(() => zoomToFit(canvas.clientWidth < 600 ? 0.66 : 0.85)));
}

startReport();
