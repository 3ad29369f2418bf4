// The sections of the page, each added by a script in sections/; the order of the files is that on the page.

const SECTIONS = [];

// A section has an id, a title, the text of its link in the navigation, a place, and `build`, which fills its element.
// Places are "before-tree", "workbench" (for sections that follow the slider) and "after-tree". Functions that redraw
// a section when the slider moves are added to quickDrawers or slowDrawers.
function addSection(section) {
  SECTIONS.push(section);
}

function buildSections() {
  for (const { id, title, link, place, build } of SECTIONS) {
    const part = tag("section", { id, "aria-labelledby": `${id}-title` });
    if (title) part.append(tag("h2", { id: `${id}-title` }, title));
    if (link) byId("links").append(tag("a", { href: `#${id}` }, link));
    byId(place).append(part);
    build(part);
  }
}
