// Numbers, shares, dates and names as text, and back.
"use strict";

const GROUPS = new Intl.NumberFormat("en-US");
const PLAIN = new Intl.NumberFormat("en-US", { maximumFractionDigits: 8 });
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

/** A number with four significant digits; powers of ten only for very large and very small ones. */
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
  return minus(PLAIN.format(rounded));
}

const minus = (text) => text.replace("-", "−");

/** A share in per cent; only a whole is 100 %, and only nothing 0 %: next to them there is a decimal place. */
function percentWords(share, digits = 1) {
  if (share === null || share === undefined || Number.isNaN(share)) return "–";
  if (share < 1 && share >= 0.9995) return "> 99.9 %";
  if (share > 0 && share < 0.0005) return "< 0.1 %";
  const isNearEnd = share >= 0.995 || (share > 0 && share < 0.005);
  const text = share === 1 ? "100" : toFixedEven(100 * share, Math.max(digits, isNearEnd ? 1 : 0)).replace(/^-(0\.?0*)$/, "$1");
  return `${minus(text)} %`;
}

/** toFixed, but halves go to even, as in Python, which writes the sentences of the page. */
function toFixedEven(x, digits) {
  const isHalf = Number.isInteger(x * 2 ** (digits + 1)) && Math.abs((x * 10 ** digits) % 1) === 0.5;
  return (isHalf ? (2 * Math.round((x * 10 ** digits) / 2)) / 10 ** digits : x).toFixed(digits);
}

// Squared errors are shown by their root, which has the unit of what is predicted.
const isSquared = () => facts.loss.name === "mean squared error";
const lossName = () => (isSquared() ? `root ${facts.loss.name}` : facts.loss.name);
const displayLoss = (loss) => (isSquared() ? Math.sqrt(Math.max(0, loss)) : loss);

/** A loss as text: in per cent, or as a number. */
function lossWords(loss) {
  return facts.loss.share ? percentWords(loss) : numberWords(displayLoss(loss));
}

/** An upper bound, rounded up so that it still holds. */
function boundWords(bound) {
  if (bound === null || bound === undefined) return "–";
  if (facts.loss.share) return `${(Math.ceil(bound * 1000 - 1e-9) / 10).toFixed(1)} %`;
  const unit = 10 ** (Math.floor(Math.log10(Math.max(bound, 1e-300))) - 3);
  return numberWords(Math.ceil(bound / unit - 1e-9) * unit);
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Text without its middle: long names often differ at the end. */
function shorten(text, most) {
  if (text.length <= most) return text;
  const tail = Math.floor((most - 1) / 3);
  return `${text.slice(0, most - 1 - tail)}…${tail ? text.slice(-tail) : ""}`;
}

/** The name of a class; an empty one must still be visible. */
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

/** A date from text as microseconds since 1970; NaN if it is none. */
function parseDate(text) {
  const match = DATE.exec(text.trim());
  if (!match) return NaN;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part || 0));
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60;
  if (!isReal || second > 59) return NaN;
  return date.getTime() * 1000 + Number((match[7] || "0").padEnd(6, "0"));
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** A number from text; NaN if it is none. Both minus signs and all names of infinity are accepted. */
function parseNumber(text) {
  const plain = text.trim().replace("−", "-").replace(/[\s_']/g, "");
  if (/^[+-]?(inf|infinity|∞)$/i.test(plain)) return plain.startsWith("-") ? -Infinity : Infinity;
  return NUMBER.test(plain) ? Number(plain) : NaN;
}

/** A value of a column as a user would type it. */
function typedWords(column, value) {
  if (value === null || value === undefined) return "";
  return column.kind === "time" ? dateWords(value) : String(value);
}

/** A value of a column as text. */
function valueWords(column, value) {
  if (column.kind === "time") return dateWords(value);
  return numberWords(value, 6);
}
