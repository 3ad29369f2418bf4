"""One HTML file of the facts and the page: nothing is fetched, and no name can become markup or script."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

ASSETS = "page"  # the folder of index.html, *.css and *.js beside this file
_LONGEST_RULES = 10_000  # characters; longer rules say only once more what the tree says
_MARK = re.compile(r"<!--(CSP|TITLE|STYLE|STATIC|PAYLOAD|SCRIPT)-->")

_FOR_AUTHORS = re.compile(r"(?m)^ *(?://.*|/\*(?:(?!\*/).)*\*/)? *\n|^ +")


def assembled(payload: dict[str, Any]) -> str:
    """The page as one text, its own script and style allowed by their hashes and no others."""
    template, style, script = _assets()
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "CSP": f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        "TITLE": html.escape(payload["title"]),
        "STYLE": f"<style>{style}</style>",
        "STATIC": static(payload),
        "PAYLOAD": f'<script type="application/json" id="payload">{as_json(payload)}</script>',
        "SCRIPT": f"<script>{script}</script>",
    }
    return _MARK.sub(
        lambda mark: parts[mark[1]], template
    )  # in one go: what is put in is not looked at again


def as_json(payload: Any) -> str:
    r"""JSON that no HTML parser mistakes for anything else.

    >>> print(as_json({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    text = json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def static(payload: dict[str, Any]) -> str:
    """What a reader without JavaScript gets: the headline, the tree and the rules as text."""
    headline = payload["headline"]
    paragraphs = [headline["text"], headline["manager"], *_beside(headline.get("metrics"))]
    said = "".join(f"<p>{html.escape(text)}</p>" for text in [*paragraphs, *headline["notes"]])
    advice = [". ".join(filter(None, (each["text"], each["try"]))) for each in payload.get("advice", ())]
    if advice:
        said += (
            f"<h2>Worth knowing</h2><ul>{''.join(f'<li>{html.escape(text)}</li>' for text in advice)}</ul>"
        )
    texts = {"The tree": payload["text"], "The rules": payload["rules"]}
    if len(payload["rules"]) > _LONGEST_RULES:
        del texts["The rules"]
    blocks = "".join(f"<h2>{title}</h2><pre>{html.escape(text)}</pre>" for title, text in texts.items())
    return f"<h1>{html.escape(payload['title'])}</h1>{said}{blocks}"


def _beside(metrics: dict[str, Any] | None) -> list[str]:
    """The error beside that of a constant answer, and other figures."""
    if metrics is None:
        return []
    about = "" if metrics["positive"] is None else f"For {metrics['positive']}: "
    return [metrics["comparison"], about + ", ".join(f"{name} {value}" for name, value in metrics["figures"])]


def framed(page: str) -> str:
    """The page within another one, such as a notebook, of which it can touch nothing."""
    return (
        f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts allow-downloads" '
        'title="treewright report" style="width: 100%; height: 800px; border: 0"></iframe>'
    )


@cache
def _assets() -> tuple[str, str, str]:
    """The template, the style and the script of the page."""
    folder = files("treewright.reporting") / ASSETS
    named = {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir() if file.is_file()}
    style = "\n".join(named[name] for name in sorted(named) if name.endswith(".css"))
    script = "\n".join(named[name] for name in sorted(named) if name.endswith(".js"))
    return named["index.html"], _lean(style), _lean(script)


def _lean(text: str) -> str:
    """Style or script without what only its authors read: indentation, and lines that are a comment."""
    return _FOR_AUTHORS.sub("", text)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
