// Asks the search page of built docs: node search.js DOCS, a JSON list of queries on the standard input.
// Prints for each query the names of the documents found, best first, as the search page lists them.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

const docs = process.argv[2];
const page = vm.createContext({
  SPHINX_HIGHLIGHT_ENABLED: false,
  document: { getElementById: () => null },
  _: (text) => text,
  _ready: () => {},
});
page.window = page; // what a script declares, the others see
for (const file of ["base-stemmer.js", "english-stemmer.js", "language_data.js", "searchtools.js"].map((name) =>
  path.join("_static", name)).concat("searchindex.js")) {
  vm.runInContext(fs.readFileSync(path.join(docs, file), "utf8"), page, { filename: file });
}
page.queries = JSON.parse(fs.readFileSync(0, "utf8"));
const found = vm.runInContext(
  "queries.map((query) => Search._performSearch(...Search._parseQuery(query)).reverse())",
  page,
);
console.log(JSON.stringify(found.map((results) => results.map(([name]) => name))));
