// How to make the same report again: versions, parameters, fingerprints of the data, code.

addSection({ id: "reproduce", title: "How to reproduce", link: "Reproduce", place: "after-tree", build: (part) => {
  const { reproduce } = facts;
  const lines = [["treewright", reproduce.version], ["Python", reproduce.python], ["Seed", String(reproduce.seed)],
    ...Object.entries(reproduce.parameters || {}),
    ...Object.entries(reproduce.fingerprints || {}).map(([name, print]) => [`${capital(SAMPLE_WORDS[name] || name)} rows`, print])];
  part.append(tag("div.card", { id: "reproduce-body" },
    tag("dl.facts", {}, lines.map(([name, value]) => [tag("dt", {}, shorten(name, 80)), tag("dd", {}, value)])),
    reproduce.code ? tag("div.text-block", {}, tag("h3", {}, "In Python"), copyButton(() => reproduce.code), tag("pre", { tabindex: 0, "aria-label": "Code" }, reproduce.code)) : ""));
  byId("footer").textContent = `Made by treewright ${reproduce.version}. This page is self-contained and makes no network requests.`;
} });
