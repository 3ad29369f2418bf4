// Numbers, shares, dates and names as people write them, and back.
"use strict";

const GROUPS = new Intl.NumberFormat("en-US");
const COMPACT = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 4 });  // 325.9M

/** A whole number with its thousands apart; weights keep two digits. */
function countWords(n) {
  return GROUPS.format(Math.abs(n - Math.round(n)) < 1e-9 ? Math.round(n) : Number(n.toFixed(2)));
}

function plural(n, one, many) {
  return `${countWords(n)} ${n === 1 ? one : many}`;
}

const rowsWords = (n) => plural(n, "row", "rows");
const leavesWords = (n) => plural(n, "leaf", "leaves");

/** A number with as many digits as people read: four, and powers of ten only where they must be. */
function numberWords(x, digits = 4) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  const size = Math.abs(x);
  if (size >= 1e7 && size < 1e15) return minus(COMPACT.format(x));
  if (size !== 0 && (size >= 1e15 || size < 1e-4)) {
    const [mantissa, power] = x.toExponential(digits - 1).split("e");
    return `${minus(Number(mantissa).toString())}·10^${minus(Number(power).toString())}`;
  }
  const whole = size >= 1 ? Math.floor(Math.log10(size)) + 1 : 0;
  const rounded = Number(x.toPrecision(Math.max(digits, Math.min(whole, 15))));
  return minus(new Intl.NumberFormat("en-US", { maximumFractionDigits: 8 }).format(rounded));
}

const minus = (text) => text.replace("-", "−");

/** A share as per cent; only all of it is 100 %. */
function percentWords(share, digits = 1) {
  if (share === null || share === undefined || Number.isNaN(share)) return "–";
  if (share < 1 && share >= 0.9995) return "> 99.9 %";
  if (share > 0 && share < 0.0005) return "< 0.1 %";
  const text = share === 1 ? "100" : (100 * share).toFixed(digits).replace(/^-(0\.?0*)$/, "$1");
  return `${minus(text)} %`;
}

// Squared errors are shown by their root, which has the unit of what is predicted.
const isSquared = () => facts.loss.name === "mean squared error";
const lossName = () => (isSquared() ? `root ${facts.loss.name}` : facts.loss.name);
const shownLoss = (loss) => (isSquared() ? Math.sqrt(Math.max(0, loss)) : loss);

/** A loss as it is shown: in per cent, or as a number. */
function lossWords(loss) {
  return facts.loss.share ? percentWords(loss) : numberWords(shownLoss(loss));
}

/** A bound from above is rounded up, so that what is quoted still holds. */
function boundWords(bound) {
  if (bound === null || bound === undefined) return "–";
  if (facts.loss.share) return `${(Math.ceil(bound * 1000 - 1e-9) / 10).toFixed(1)} %`;
  const unit = bound > 0 ? 10 ** (Math.floor(Math.log10(bound)) - 3) : 1;  // four digits are shown
  return numberWords(Math.ceil(bound / unit - 1e-9) * unit);
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Text cut in its middle: the ends of long names tell them apart. */
function shortened(text, most) {
  if (text.length <= most) return text;
  const tail = Math.floor((most - 1) / 3);
  return `${text.slice(0, most - 1 - tail)}…${tail ? text.slice(-tail) : ""}`;
}

/** A class as a word for people; an empty one must still be seen. */
function classWords(code) {
  const text = facts.classes[code];
  return text === undefined || text.trim() === "" ? "(empty)" : text;
}

function columnWords(column) {
  const text = facts.columns[column].name;
  return text.trim() === "" ? "(no name)" : text;
}

/** Microseconds since 1970 as a date, with the time of day where there is one. */
function dateWords(microseconds) {
  const seconds = Math.floor(microseconds / 1e6);
  const rest = microseconds - seconds * 1e6;
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return `${numberWords(microseconds)} µs since 1970`;
  const [day, time] = date.toISOString().replace("Z", "").split("T");
  const fraction = rest ? `.${String(rest).padStart(6, "0").replace(/0+$/, "")}` : "";
  const clock = time.slice(0, 8) + fraction;
  return clock === "00:00:00" ? day : `${day} ${clock}`;
}

const DATE = /^(\d{4,6})-(\d\d?)-(\d\d?)(?:[T ](\d\d?):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?)?$/;

/** A typed date as microseconds since 1970; NaN if it is none. */
function parseDate(text) {
  const found = DATE.exec(text.trim());
  if (!found) return NaN;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map((part) => Number(part || 0));
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60;
  if (!isReal || second > 59) return NaN;
  return date.getTime() * 1000 + Number((found[7] || "0").padEnd(6, "0"));
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** A typed number; NaN if it is none. Both signs of minus and both names of infinity are understood. */
function parseNumber(text) {
  const plain = text.trim().replace("−", "-").replace(/[\s_']/g, "");
  if (/^[+-]?(inf|infinity|∞)$/i.test(plain)) return plain.startsWith("-") ? -Infinity : Infinity;
  return NUMBER.test(plain) ? Number(plain) : NaN;
}

/** A value of a column in the form in which it may be typed again. */
function typedWords(column, value) {
  if (value === null || value === undefined) return "";
  return column.kind === "time" ? dateWords(value) : String(value);
}

/** A value of a column for people. */
function valueWords(column, value) {
  if (column.kind === "time") return dateWords(value);
  return numberWords(value, 6);
}
