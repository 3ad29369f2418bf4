"""The page of the report: names are only text, no row is in it, it is small, and always the same."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.reporting.cases import Payload, case, made
from treewright import Dataset, Schema, Target, encode, grow, report
from treewright.datasets import load_spam
from treewright.encoding.splits import split
from treewright.reporting import Report, html_page

HOSTILE = "</script><script>alert(1)</script><img src=x onerror='alert(2)'> & \"quoted\" \u2028 <!--STATIC-->"

TEMPLATE = """<!DOCTYPE html><html><head><!--CSP--><title><!--TITLE--></title><!--STYLE--></head>
<body><main><!--STATIC--></main><!--PAYLOAD--><!--SCRIPT--></body></html>"""


VOID = {"meta", "input", "br", "hr", "img", "link"}  # have no end
REAL = html_page._assets


@pytest.fixture(autouse=True)
def plain_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        html_page, "_assets", lambda: (TEMPLATE, "main { color: black }", "'use strict'; /* <b> */")
    )


class Seen(HTMLParser):
    """What a parser sees: tags with their attributes, and the text within each kind of tag."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, Any]] = []
        self.text: dict[str, str] = {}
        self._open = [""]
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, attrs))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag in VOID or self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text[self._open[-1]] = self.text.get(self._open[-1], "") + data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"the page has a comment: {data}")


def payload_in(page: str) -> Payload:
    """The facts as the page's script would read them."""
    found = re.search(r'<script type="application/json" id="payload">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    payload: Payload = json.loads(found[1])
    return payload


def hostile_report(names: list[str], classes: list[str], towns: list[str]) -> Report:
    rng = np.random.default_rng(0)
    x, town = rng.normal(size=300), rng.integers(0, 3, 300)
    y = np.array(classes)[(x + (town == 1) + rng.normal(size=300) / 2 > 0.3).astype(int)]
    data = encode({names[0]: x, names[1]: np.array(towns)[town]}, y)
    train, test = split(data, (0.7, 0.3))
    target = Target(names[2], train.schema.targets[0].classes)
    tree = grow(train, max_leaf_nodes=12)
    schema = Schema(tree.schema.columns, (target,))
    rows = [Dataset(schema, part.columns, part.targets) for part in (train, test)]
    return report(grow(rows[0], max_leaf_nodes=12), train=rows[0], test=rows[1], title=names[3])


def test_hostile_names_are_only_text() -> None:
    evil = hostile_report(
        [f"{HOSTILE}{i}" for i in range(4)], [f"{HOSTILE}a", f"{HOSTILE}b"], [f"{HOSTILE}{i}" for i in "xyz"]
    )
    tame = hostile_report([f"n{i}" for i in range(4)], ["a", "b"], ["x", "y", "z"])
    bad, good = Seen(evil.html), Seen(tame.html)
    assert bad.tags == good.tags  # no new element, no new attribute, the same policy
    assert bad.text["style"] == good.text["style"]
    assert bad.text["script"].endswith("/* <b> */")
    assert bad.text["script"].count("<") == 1  # the page's own
    assert payload_in(evil.html) == evil.payload
    assert evil.payload["title"].startswith("</script>")
    assert bad.text["title"] == evil.payload["title"]
    assert "alert(1)" in bad.text["pre"]
    assert "http" not in re.sub("http-equiv", "", evil.html)
    assert "\u2028" not in evil.html


def test_the_real_page_takes_hostile_names_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html_page, "_assets", REAL)
    evil, tame = (
        hostile_report([f"{HOSTILE}{i}" for i in range(4)], [f"{HOSTILE}a", "b"], [f"{HOSTILE}x", "y", "z"]),
        Report(made("two").payload),
    )
    bad, good = Seen(evil.html), Seen(tame.html)
    assert len(bad.tags) > 50
    assert bad.tags == good.tags
    assert payload_in(evil.html) == evil.payload
    assert not re.search(r"<!--|(?:src|href)=[\"']?\s*(?:http|//|javascript)", evil.html)


def test_names_that_are_no_text_of_utf_8() -> None:
    odd = ["\ud800", "a\x00b", "line\nbreak", "\u202egnirts"]
    made = hostile_report(odd, ["a\udfff", "b"], ["x\x1b[31m", "y", "z"])
    made.html.encode()
    assert [column["name"] for column in made.payload["columns"]] == ["\\ud800", "a\\x00b"]
    assert made.payload["target"] == "line\\nbreak"


def test_the_policy_allows_the_pages_own_script_and_style_and_nothing_else() -> None:
    page = made("two").html
    seen = Seen(page)
    (policy,) = [dict(attrs)["content"] for tag, attrs in seen.tags if tag == "meta"]
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy

    def hashed(text: str) -> str:
        return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

    (style,), (script,) = (
        re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL) for tag in ("style", "script")
    )
    assert f"script-src {hashed(script)};" in policy
    assert f"style-src {hashed(style)};" in policy


def test_readers_without_javascript_get_the_tree_and_the_rules() -> None:
    report = made("two")
    text = Seen(report.html).text
    assert report.payload["headline"]["manager"] in text["p"]
    assert report.payload["rules"]["tree"] in text["pre"]
    assert report.payload["rules"]["rules"] in text["pre"]


def test_in_a_notebook_it_is_a_frame_of_its_own() -> None:
    seen = Seen(made("two")._repr_html_())
    ((tag, attrs),) = seen.tags
    assert tag == "iframe"
    assert dict(attrs)["srcdoc"] == made("two").html
    assert "allow-same-origin" not in dict(attrs)["sandbox"]


def test_saving_is_whole_or_not_at_all(tmp_path: Path) -> None:
    made("two").save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == made("two").html
    with pytest.raises(FileNotFoundError):
        made("two").save(tmp_path / "nowhere" / "report.html")
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.slow
def test_same_input_same_bytes() -> None:
    _, path, (train, validation, test) = case("few")
    again = report(path, train=train, validation=validation, test=test)
    assert again.html == made("few").html
    assert (
        report(path, train=train, test=test, random_state=1).html != report(path, train=train, test=test).html
    )


def test_no_row_gets_into_the_page() -> None:
    rng = np.random.default_rng(0)
    secret, number = "the secret of row 17", 1234.56789
    x, note, y = rng.normal(size=200), np.array(["note"] * 200, object), rng.integers(0, 2, 200)
    note[17], pay = secret, rng.normal(size=200)
    pay[17] = number
    data = encode({"x": x, "note": note, "pay": pay}, np.where((x > 0) ^ (y > 1), "yes", "no"))
    tree = grow(data, max_leaf_nodes=2)
    assert set(tree.feature[~tree.is_leaf]) == {0}
    page = report(tree, train=data).html
    assert secret not in page
    assert "1234.5" not in page


def test_fingerprints_tell_rows_apart() -> None:
    tree, _, (_, validation, _) = case("two")
    marks = made("two").payload["reproduce"]["fingerprints"]
    assert re.fullmatch("sha256:[0-9a-f]{64}", marks["train"])
    assert len(set(marks.values())) == 3
    changed = validation.columns[0].copy()
    changed[3] += 1e-9
    other = Dataset(validation.schema, (changed, *validation.columns[1:]), validation.targets)
    assert (
        report(tree, validation=other).payload["reproduce"]["fingerprints"]["validation"]
        != marks["validation"]
    )
    relabelled = np.asarray(validation.targets).copy()
    relabelled[0, 3] = 1 - relabelled[0, 3]
    heavier = np.ones(validation.n_rows)
    heavier[3] = 2.0
    for rows in (
        Dataset(validation.schema, validation.columns, relabelled),
        Dataset(validation.schema, validation.columns, validation.targets, heavier),
    ):
        told = report(tree, validation=rows).payload["reproduce"]["fingerprints"]
        assert told["validation"] != marks["validation"]


@pytest.mark.slow
def test_size_of_a_hundred_leaves_of_spam() -> None:
    """With at most 120 kB of looks the page stays below 300 kB."""
    spam = load_spam()
    data = encode(spam.table(~spam.is_test), spam.target[~spam.is_test])
    test = encode(spam.table(spam.is_test), spam.target[spam.is_test], schema=data.schema)
    train, validation = split(data, (0.75, 0.25))
    tree = grow(train, max_leaf_nodes=100)
    made = report(tree, train=train, validation=validation, test=test)
    assert len(made.html.encode()) < 180_000


@pytest.mark.slow
def test_large_trees_stay_bounded() -> None:
    rng = np.random.default_rng(0)
    data = encode(rng.normal(size=(12_000, 4)), rng.integers(0, 2, 12_000))
    train, test = split(data, (0.75, 0.25))
    tree = grow(train)
    assert tree.n_leaves > 2000
    payload = report(tree, train=train, test=test).payload
    assert all(len(path["leaves"]) <= 200 for path in payload["pruning"])
    assert len(html_page.as_json(payload)) < 400 * tree.n_leaves
    assert "too many to read" in payload["rules"]["rules"]
    assert payload["rules"]["tree"].count("\n") < 1000
