"""The HTML file of a report: payload, style and script in one; no name can become markup or script."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

ASSETS = "page"  # the folder of index.html, *.css, *.js and sections/*.js beside this file
_LONGEST_RULES = 10_000  # characters; longer rules only repeat the tree
_MARK = re.compile(r"<!--(CSP|TITLE|STYLE|STATIC|PAYLOAD|SCRIPT)-->")

_COMMENTS_AND_INDENTS = re.compile(r"(?m)^ *(?://.*|/\*(?:(?!\*/).)*\*/)? *\n|^ +")


def assemble(payload: dict[str, Any]) -> str:
    """The whole page; its content security policy allows its own script and style only, by their hashes."""
    template, style, script = _assets()
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    inserts = {
        "CSP": f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        "TITLE": html.escape(payload["title"]),
        "STYLE": f"<style>{style}</style>",
        "STATIC": static_text(payload),
        "PAYLOAD": f'<script type="application/json" id="payload">{as_json(payload)}</script>',
        "SCRIPT": f"<script>{script}</script>",
    }
    return _MARK.sub(lambda mark: inserts[mark[1]], template)  # one pass: inserted text is not searched again


def as_json(payload: Any) -> str:
    r"""JSON that is safe within an HTML page.

    >>> print(as_json({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    text = json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def static_text(payload: dict[str, Any]) -> str:
    """What browsers without JavaScript show: the headline, the tree and the rules as text."""
    headline = payload["headline"]
    paragraphs = [headline["text"], headline["manager"], *_metric_lines(headline.get("metrics"))]
    text = "".join(f"<p>{html.escape(paragraph)}</p>" for paragraph in [*paragraphs, *headline["notes"]])
    advice = [". ".join(filter(None, (each["text"], each["try"]))) for each in payload.get("advice", ())]
    if advice:
        text += (
            f"<h2>Worth knowing</h2><ul>{''.join(f'<li>{html.escape(text)}</li>' for text in advice)}</ul>"
        )
    texts = {"The tree": payload["rules"]["tree"], "The rules": payload["rules"]["rules"]}
    if len(texts["The rules"]) > _LONGEST_RULES:
        del texts["The rules"]
    blocks = "".join(f"<h2>{title}</h2><pre>{html.escape(text)}</pre>" for title, text in texts.items())
    return f"<h1>{html.escape(payload['title'])}</h1>{text}{blocks}"


def _metric_lines(metrics: dict[str, Any] | None) -> list[str]:
    """The error next to that of a constant prediction, and the other metrics."""
    if metrics is None:
        return []
    about = "" if metrics["positive"] is None else f"For {metrics['positive']}: "
    return [metrics["comparison"], about + ", ".join(f"{name} {value}" for name, value in metrics["figures"])]


def iframe(page: str) -> str:
    """The page in a sandboxed frame, for notebooks."""
    return (
        f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts allow-downloads" '
        'title="treewright report" style="width: 100%; height: 800px; border: 0"></iframe>'
    )


@cache
def _assets() -> tuple[str, str, str]:
    """The template, the style and the script of the page."""
    page = files("treewright.reporting") / ASSETS
    style, script = (_texts(page, kind) + _texts(page / "sections", kind) for kind in (".css", ".js"))
    return (page / "index.html").read_text(encoding="utf-8"), style, script


def _texts(folder: Traversable, ending: str) -> str:
    """The files of a folder in the order of their names, without indentation and lines of comment."""
    texts = {each.name: each for each in folder.iterdir() if each.name.endswith(ending)}
    return "".join(_COMMENTS_AND_INDENTS.sub("", texts[name].read_text("utf-8")) for name in sorted(texts))


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
