// Axes, ticks and lines of charts, drawn at their size on the screen so that text stays readable.

/** Round numbers between two, about `count` of them. */
function niceTicks(least, most, count) {
  if (!(most > least)) return [least];
  const rough = (most - least) / Math.max(1, count), power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough * 0.999) || 10);
  const ticks = [];
  for (let i = Math.ceil(least / step - 1e-9); i * step <= most + step * 1e-9; i++) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

/** 1, 2, 5, 10, … between two numbers; fewer where they are far apart. */
function logTicks(least, most) {
  const factors = most / least > 3000 ? [1] : most / least > 200 ? [1, 3] : [1, 2, 5];
  const ticks = [];
  for (let power = 1; power <= most; power *= 10) {
    for (const factor of factors) if (factor * power >= least && factor * power <= most) ticks.push(factor * power);
  }
  return ticks;
}

/** A frame with axes. `axis`: {range, ticks, words, label, isLog}; returns the scales and the layer to draw on. */
function chartFrame(svg, height, xAxis, yAxis) {
  const width = Math.max(240, svg.clientWidth || svg.parentNode.clientWidth || 600);
  const room = { left: yAxis.label ? 64 : 52, right: 16, top: 12, bottom: xAxis.label ? 44 : 26 };
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("height", height);
  const x = axisScale(xAxis, room.left, width - room.right), y = axisScale(yAxis, height - room.bottom, room.top);
  const grid = yAxis.ticks.map((tick) => [
    stroke("grid", room.left, y(tick), width - room.right, y(tick)),
    shape("text.tick", { x: room.left - 8, y: y(tick) + 4, "text-anchor": "end" }, yAxis.words(tick))]);
  const under = xAxis.ticks.map((tick) => shape("text",
    { class: "tick", x: x(tick), y: height - room.bottom + 18, "text-anchor": "middle" }, xAxis.words(tick)));
  const layer = shape("g", {});
  refill(svg, ...grid.flat(), stroke("axis", room.left, height - room.bottom, width - room.right, height - room.bottom),
    ...under, axisLabels(xAxis, yAxis, width, height, room), layer);
  return { x, y, layer, width, height, room };
}

function axisLabels(xAxis, yAxis, width, height, room) {
  const middle = (room.left + width - room.right) / 2, half = (room.top + height - room.bottom) / 2;
  return shape("g.axis-label", {},
    xAxis.label ? shape("text", { x: middle, y: height - 6, "text-anchor": "middle" }, xAxis.label) : null,
    yAxis.label ? shape("text", { x: 12, y: half, "text-anchor": "middle", transform: `rotate(-90 12 ${half})` }, yAxis.label) : null);
}

function axisScale({ range, isLog }, from, to) {
  const bend = isLog ? Math.log : (value) => value;
  const low = bend(range[0]), high = bend(range[1]);
  return (value) => from + (to - from) * (high > low ? (bend(value) - low) / (high - low) : 0.5);
}

function polyline(points, className) {
  return shape("path", { class: className, d: points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("") });
}

/** The card of a chart: title, explanation, content. */
function pictureCard(title, note, ...body) {
  return tag("figure.card", {}, tag("figcaption", {}, tag("h3", {}, title), note ? tag("p.faint", {}, note) : null), ...body);
}

/** Redraw when the width of an element changes. */
function onNewWidth(part, draw) {
  let width = 0;
  new ResizeObserver(([{ contentRect }]) => {
    if (width && Math.abs(contentRect.width - width) > 1) requestAnimationFrame(draw);
    width = contentRect.width;
  }).observe(part);
}

/** An axis of shares from 0 to 1. */
function shareAxis(label) {
  return { range: [0, 1], ticks: [0, 0.25, 0.5, 0.75, 1], words: (tick) => `${100 * tick} %`, label };
}
