"""Write docs/lecture_notes.md from docs/lecture_notes.toml: `python docs/lecture_notes.py`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
PAGE = FOLDER / "lecture_notes.md"
STATUSES = {
    "as stated": "",
    "corrected": "**Corrected.** ",
    "extended": "**Extended.** ",
    "otherwise": "**Done otherwise.** ",
    "absent": "**Not in the package.** ",
    "background": "**Background.** ",
}
HEAD = """# From the lecture notes

```{index} ! teaching, ! homework, ! course, ! university, ! lecture
```

treewright began as an implementation of five lecture notes on decision trees. This page lists what they
contain, in their order: every algorithm, definition, lemma, theorem, formula, figure, example and question,
with the function that does it, the page that explains it and the test below `tests/` that checks it. Where
a note has a slip, the entry says so and how it is corrected; [theory](theory.md) works the corrections out,
and [another page](lecture_examples.md) computes the smaller examples and shows what the lemmas say.

| label | meaning |
|---|---|
| *(none)* | the package does what the notes say |
| **Corrected** | the notes have a slip, or a constant that can be better |
| **Extended** | the package does more than the notes ask for |
| **Done otherwise** | the package differs on purpose |
| **Background** | a remark or a step of a proof; the function is the one that rests on it |
| **Not in the package** | nothing implements it |

"""


def load() -> list[dict[str, Any]]:
    """The notes with their entries."""
    return tomllib.loads((FOLDER / "lecture_notes.toml").read_text(encoding="utf-8"))["note"]


def anchors(page: Path) -> dict[str, str]:
    """The headings of a page by their anchors, as GitHub and MyST make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#{1,3} (.+)$", text, re.MULTILINE)
    plain = [re.sub(r"[`*]|\[|\]\([^)]*\)", "", heading).strip() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-"): name for name in plain}


def link(target: str) -> str:
    """The link to a page, or to the heading whose anchor begins with what follows the #."""
    name, _, beginning = target.partition("#")
    found = anchors(FOLDER / name)
    title = next(iter(found.values()))
    if not beginning:
        return f"[{title.partition(':')[0]}]({name})"
    matches = [anchor for anchor in found if anchor.startswith(beginning)]
    if not matches:
        raise ValueError(f"{name} has no heading whose anchor begins with {beginning!r}")
    heading = found[matches[0]].partition(":")[0]
    return f"[{title.partition(':')[0]}: {heading}]({name}#{matches[0]})"


def reference(name: str) -> str:
    """A name, with the link to its entry in the reference where it has one."""
    return f"{{py:obj}}`{name.removeprefix('treewright.')} <{name}>`"


def line(entry: dict[str, Any]) -> str:
    """An entry as an item of a list."""
    said = STATUSES[entry.get("status", "as stated")] + entry.get("remark", "")
    names = ", ".join(reference(name) for name in entry.get("functions", ()))
    pages = ", ".join(link(page) for page in entry.get("pages", ()))
    tests = ", ".join(f"`{test}`" for test in entry.get("tests", ()))
    parts = [f"**{entry['item']}**", said, names, pages, f"Tests: {tests}" if tests else ""]
    return "- " + "\\\n  ".join(part.strip() for part in parts if part)


def render() -> str:
    """The page."""
    text = [HEAD]
    for note in load():
        text.append(f"## {note['title']}\n\n{note['author']}.\n\n")
        for section in note["sections"]:
            entries = [entry for entry in note["entry"] if entry["section"] == section]
            text.append(f"### {section}\n\n" + "\n".join(map(line, entries)) + "\n\n")
    return "".join(text).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
