// Advice on the data and the model, the most serious first, each with what to try.

if ((facts.advice || []).length) {
  addSection({ id: "advice", title: "Worth knowing", place: "before-tree", build: (part) => {
    part.append(tag("ul.card.advice", { id: "advice-list" }, facts.advice.map((each) => tag("li", {},
      tag("span", {}, `${capital(each.text)}.`), each.try ? faint(" ", remedy(`${capital(each.try)}.`)) : null))));
  } });

  // An option and its value stay on one line, unless they are long: browsers break lines after hyphens.
  function remedy(text) {
    return text.split(/(--[a-z-]+(?: [^ ]{1,20}(?= ))?)/).map((part, i) => (i % 2 ? tag("span.option", {}, part) : part));
  }
}
