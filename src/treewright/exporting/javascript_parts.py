"""Parts of programs in JavaScript: how values are read, and how surrogates stand in for missing ones."""

from __future__ import annotations

STANDING_IN = """\
        let at = node, value = values[_column[node]];
        if (value !== value || value === -1 && _subset[node] >= 0) {
            for (let other = _others[node]; other < _others[node + 1]; other++) {
                const instead = values[_column[other]];
                if (instead >= 0 || instead === instead && _subset[other] < 0) {
                    at = other;
                    value = instead;
                    break;
                }
            }
        }
""".splitlines()

VALUE = """\
// the value of a column; null where it is missing
function _value(row, name) {
    if (!Object.prototype.hasOwnProperty.call(row, name)) return null;
    const value = row[name];
    return value === undefined || value !== value ? null : value;
}""".splitlines()

COMPLETE = [  # around the names of the columns
    "// throws where a value that a test asks is missing",
    "function _complete(row) {",
    "    for (const name of [",
    "    ]) {",
    "        if (_value(row, name) !== null) continue;",
    "        throw new RangeError(`column ${name} is missing, and this tree takes complete rows only`);",
    "    }",
    "}",
]

SOURCES = {
    "_number": """\
// the value of a column as a number; NaN where it is missing
function _number(row, name) {
    const value = _value(row, name);
    if (value === null) return NaN;
    if (typeof value === "bigint") {
        if (BigInt(Number(value)) === value) return Number(value);
        throw new RangeError(`column ${name} is ${value}, too large to be exact`);
    }
    if (typeof value === "number" || typeof value === "boolean") return Number(value);
    throw new TypeError(`column ${name} must be a number, not ${String(value)}`);
}""".splitlines(),
    "_time": """\
// the value of a column as microseconds since 1970; NaN where it is missing
function _time(row, name) {
    const value = _value(row, name);
    if (value === null) return NaN;
    if (value instanceof Date) return value.getTime() * 1000;
    if (typeof value === "number") return value;
    if (typeof value === "bigint" && BigInt(Number(value)) === value) return Number(value);
    throw new TypeError(`column ${name} must be a Date, or microseconds since 1970, not ${String(value)}`);
}""".splitlines(),
    "_text": """\
// the value of a column as a text; null where it is missing
function _text(row, name) {
    const value = _value(row, name);
    if (value === null || typeof value === "string") return value;
    throw new TypeError(`column ${name} must be a text, not ${String(value)}`);
}""".splitlines(),
    "_name": """\
// the value of a column whose categories are numbers or bools; null where it is missing
function _name(row, name) {
    const value = _value(row, name);
    if (value === null) return null;
    if (!["number", "boolean", "bigint"].includes(typeof value)) {
        throw new TypeError(`column ${name} must be a number or a bool, not ${String(value)}`);
    }
    const simple = Number(value);
    return Number.isInteger(simple) && !Number.isSafeInteger(simple) ? BigInt(value) : simple;
}""".splitlines(),
}
