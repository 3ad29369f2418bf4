// Elements from data: text is always text, so that no name can become markup.

const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);

/** An element ("p.faint": with a class), its attributes, listeners (on…: function) and children; text stays text. */
function tag(name, attributes, ...children) {
  return withAttributes(document.createElement(name.split(".", 1)[0]), name, attributes, children);
}

/** The same for pictures. */
function shape(name, attributes, ...children) {
  return withAttributes(document.createElementNS(SVG, name.split(".", 1)[0]), name, attributes, children);
}

function withAttributes(made, name, attributes, children) {
  const classes = name.split(".").slice(1);
  if (classes.length) made.classList.add(...classes);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  return appendAll(made, children);
}

function appendAll(made, children) {
  const kids = children.flat(Infinity).filter((child) => child !== null && child !== undefined);
  made.append(...(made.matches("p,li") ? kids.map(glued) : kids));
  return made;
}

/** No line breaks before a per cent sign. */
const glued = (child) => (child.replace ? child.replace(/ %/g, "\u00a0%") : child);

const faint = (...words) => tag("span.faint", {}, ...words);
const stroke = (name, x1, y1, x2, y2, ...children) => shape(`line.${name}`, { x1, y1, x2, y2 }, ...children);
const button = (words, onclick, kind = "plainly") => tag(`button.${kind}`, { type: "button", onclick }, words);

/** A box with a horizontal scroll bar, for what may be wider than the screen. */
const scrollBox = (name, content) => tag("div.scroll", { tabindex: 0, role: "region", "aria-label": name }, content);

function refill(made, ...children) {
  made.replaceChildren();
  return appendAll(made, children);
}

/** A style property that depends on data; the policy of the page forbids it as an attribute. */
function withStyle(made, properties) {
  for (const [key, value] of Object.entries(properties)) made.style.setProperty(key, value);
  return made;
}

/** A bar of `share` of the room there is. */
function bar(share, colour) {
  const fill = withStyle(tag("span", { class: "fill" }), { width: `${100 * Math.max(0, Math.min(1, share))}%` });
  if (colour) fill.style.setProperty("background", colour);
  return tag("span", { class: "meter", "aria-hidden": "true" }, fill);
}

function swatch(colour) {
  return withStyle(tag("span", { class: "swatch", "aria-hidden": "true" }), { background: colour });
}

/** A table: names of columns as {text, number}, rows of cells. */
function table(caption, names, rows, className) {
  const head = names.map((name) => tag("th", { scope: "col", class: name.number ? "number" : null }, name.text));
  const line = (cells) => cells.map((cell, i) => tag("td", { class: names[i].number ? "number" : null }, cell));
  return tag("table", { class: className },
    tag("caption", { class: "hidden" }, caption),
    tag("thead", {}, tag("tr", {}, head)),
    tag("tbody", {}, rows.map((cells) => tag("tr", {}, line(cells)))));
}

function optionsOf(names, selected) {
  return names.map(([value, text]) => tag("option", { value, selected: value === selected }, shorten(text, 60)));
}

/** Announce a text to screen readers. */
function announce(text) {
  byId("announcer").textContent = text;
}

/** A button that copies the result of `text`. */
function copyButton(text) {
  const copy = button("Copy", async () => {
    const isDone = await copyText(text());
    copy.textContent = isDone ? "Copied" : "Press Ctrl+C";
    setTimeout(() => { copy.textContent = "Copy"; }, 1600);
  }, "quiet.copy");
  return copy;
}

/** Files and frames have no clipboard API, so the older command is tried first. */
async function copyText(text) {
  if (copyBySelection(text)) return true;
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

function copyBySelection(text) {
  const area = tag("textarea", { class: "hidden", readonly: true });
  area.value = text;
  document.body.append(area);
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  return isDone;
}

let ruler = null;

/** The width of text in a font, measured on a hidden canvas. */
function textWidth(text, font) {
  ruler = ruler || document.createElement("canvas").getContext("2d");
  ruler.font = font;
  return ruler.measureText(text).width;
}

/** Text without its middle, not wider than `most`. */
function fitText(text, most, font) {
  if (text.length < 200 && textWidth(text, font) <= most) return text;
  let few = 1, many = Math.min(text.length, 200);
  while (few < many) {
    const half = (few + many + 1) >> 1;
    if (textWidth(shorten(text, half), font) <= most) few = half;
    else many = half - 1;
  }
  return shorten(text, few);
}

/** A tooltip beside the pointer, hidden again when the pointer leaves. */
function showTip(lines, x, y) {
  const tip = refill(byId("tip"), lines.map((line, i) => tag("div", { class: i ? null : "strong" }, line)));
  tip.hidden = false;
  const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
  const above = y - tip.offsetHeight - 14;
  withStyle(tip, { left: `${Math.max(8, Math.min(x + 12, room))}px`, top: `${above > 4 ? above : y + 18}px` });
}

function hideTip() {
  byId("tip").hidden = true;
}
