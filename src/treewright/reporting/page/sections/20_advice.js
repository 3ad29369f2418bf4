// Advice on the data and the model, the most serious first, each with what to try.

if ((facts.advice || []).length) {
  addSection({ id: "advice", title: "Worth knowing", place: "before-tree", build: (part) => {
    part.append(tag("ul.card.advice", { id: "advice-list" }, facts.advice.map((each) => tag("li", {},
      tag("span", {}, `${capital(each.text)}.`), each.try ? faint(` ${capital(each.try)}.`) : null))));
  } });
}
