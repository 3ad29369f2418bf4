// Elements made of data: text is always text, so that no name can become markup.

const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);

/** An element with attributes, listeners (on…: function) and children; text children become text. */
function element(tag, attributes, ...children) {
  return dressed(document.createElement(tag), attributes, children);
}

function shape(tag, attributes, ...children) {
  return dressed(document.createElementNS(SVG, tag), attributes, children);
}

function dressed(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return made;
}

function refill(parent, ...children) {
  parent.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return parent;
}

/** A style property that depends on data; the policy of the page forbids it as an attribute. */
function styled(made, properties) {
  for (const [key, value] of Object.entries(properties)) made.style.setProperty(key, value);
  return made;
}

/** A bar of `share` of the room there is. */
function bar(share, colour) {
  const fill = styled(element("span", { class: "fill" }), { width: `${100 * Math.max(0, Math.min(1, share))}%` });
  if (colour) fill.style.setProperty("background", colour);
  return element("span", { class: "meter", "aria-hidden": "true" }, fill);
}

function swatch(colour) {
  return styled(element("span", { class: "swatch", "aria-hidden": "true" }), { background: colour });
}

/** A table: names of columns as {text, number}, rows of cells. */
function table(caption, names, rows, className) {
  const head = names.map((name) => element("th", { scope: "col", class: name.number ? "number" : null }, name.text));
  const line = (cells) => cells.map((cell, i) => element("td", { class: names[i].number ? "number" : null }, cell));
  return element("table", { class: className },
    element("caption", { class: "hidden" }, caption),
    element("thead", {}, element("tr", {}, head)),
    element("tbody", {}, rows.map((cells) => element("tr", {}, line(cells)))));
}

function optionsOf(names, chosen) {
  return names.map(([value, text]) => element("option", { value, selected: value === chosen }, shortened(text, 60)));
}

/** Say something to screen readers. */
function announce(text) {
  byId("announcer").textContent = text;
}

/** A button that copies what `text` gives; says so where it is. */
function copyButton(text) {
  const button = element("button", { type: "button", class: "quiet copy" }, "Copy");
  button.addEventListener("click", async () => {
    const isDone = await copied(text());
    button.textContent = isDone ? "Copied" : "Press Ctrl+C";
    setTimeout(() => { button.textContent = "Copy"; }, 1600);
  });
  return button;
}

/** Files and frames have no clipboard of their own; so the old way goes first. */
async function copied(text) {
  if (copiedBySelection(text)) return true;
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

function copiedBySelection(text) {
  const area = element("textarea", { class: "hidden", readonly: true });
  area.value = text;
  document.body.append(area);
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  return isDone;
}

let ruler = null;

/** The width of text in a font, by a canvas that is never shown. */
function textWidth(text, font) {
  ruler = ruler || document.createElement("canvas").getContext("2d");
  ruler.font = font;
  return ruler.measureText(text).width;
}

/** Text cut in its middle until it is not wider than `most`. */
function fitted(text, most, font) {
  if (text.length < 200 && textWidth(text, font) <= most) return text;
  let few = 1, many = Math.min(text.length, 200);
  while (few < many) {
    const half = (few + many + 1) >> 1;
    if (textWidth(shortened(text, half), font) <= most) few = half;
    else many = half - 1;
  }
  return shortened(text, few);
}

/** A small text beside the pointer, for what has more to tell; hidden again when the pointer leaves. */
function showTip(lines, x, y) {
  const tip = refill(byId("tip"), lines.map((line, i) => element("div", { class: i ? null : "strong" }, line)));
  tip.hidden = false;
  const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
  const above = y - tip.offsetHeight - 14;
  styled(tip, { left: `${Math.max(8, Math.min(x + 12, room))}px`, top: `${above > 4 ? above : y + 18}px` });
}

function hideTip() {
  byId("tip").hidden = true;
}
