// The model as text to copy: its rules, and the tree with indentation.

addSection({ id: "rules", title: "Rules", link: "Rules", place: "after-tree", build: (part) => {
  const model = facts.pruning[0].leaves[facts.pruning[0].chosen];
  const block = (title, text) => tag("details.card.text-block", { open: true },
    tag("summary", {}, tag("h3", {}, title)),
    copyButton(() => text), tag("pre", { tabindex: 0, "aria-label": title }, text));
  appendAll(part, [
    tag("p.hint", {}, `The model with its ${leavesWords(model)}, whatever the slider shows.`),
    tag("div", { id: "rules-body" }, block("As rules", facts.rules.rules), block("As a tree", facts.rules.tree)),
  ]);
} });
