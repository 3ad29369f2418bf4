// The start: theme, links, printing, and the first drawing.

const THEMES = ["auto", "light", "dark"];

/** Light, dark, or the preference of the system; stored where that is allowed. */
function setTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  const button = byId("theme");
  button.textContent = `Theme: ${theme}`;
  button.setAttribute("aria-label", `Theme: ${theme}`);
  button.dataset.theme = theme;
}

function startTheme() {
  const theme = savedTheme();
  setTheme(THEMES.includes(theme) ? theme : "auto");
  byId("theme").addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf(byId("theme").dataset.theme) + 1) % THEMES.length];
    setTheme(next);
    try {
      localStorage.setItem("treewright-theme", next);
    } catch { /* frames and private windows keep nothing */ }
  });
}

function savedTheme() {
  try {
    return localStorage.getItem("treewright-theme");
  } catch {
    return null;
  }
}

/** Links within the page scroll by script: in the frame of a notebook an address would leave the page. */
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

const DEEPEST_ON_PAPER = 4;  // levels that are readable across a page; the whole tree is there as text

/** On paper, lists are complete and nothing is cut off. */
function startPrint() {
  let before = null;
  addEventListener("beforeprint", () => {
    before = { isOpen: view.isOpen.slice(), isShut: view.isShut.slice(), isPrinting: false };
    for (let node = 0; node < size; node++) view.isOpen[node] = depth[node] < DEEPEST_ON_PAPER ? 1 : 0;
    view.isPrinting = true;
    redrawNow();
  });
  addEventListener("afterprint", () => {
    Object.assign(view, before);
    redrawNow();
  });
}

function startReport() {
  byId("static").remove();
  byId("report").hidden = false;
  startTheme();
  startLinks();
  startPrint();
  drawClassLegend();
  startTree();
  startTabs();
  startTrial();
  startSlider();
  buildSections();
  showPruning(0, facts.pruning[0].chosen);
  requestAnimationFrame(() => requestAnimationFrame(() => zoomToFit(canvas.clientWidth < 600 ? 0.66 : 0.85)));
}

addEventListener("DOMContentLoaded", startReport);  // when the scripts of all sections have run
