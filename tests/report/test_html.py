"""The page of a report: what stands on it, that it needs nothing, and that nothing of a host's becomes markup."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from xml.dom import minidom

import pytest
from report.accounts import HOSTILE, SECRETS, bare, failed, hostile

from bringup.report.account import Account
from bringup.report.accounts import of_hosts
from bringup.report.drawing.axis import axis_of, clock
from bringup.report.drawing.picture import picture
from bringup.report.html.page import POLICY, page
from bringup.report.markdown import markdown
from bringup.report.markup import element, render, style

VOID = {"meta", "br", "hr", "col"}
ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "main", "header", "section", "footer", "div", "span", "p", "b",
    "h1", "h2", "dl", "dt", "dd", "ul", "li", "pre", "i", "code", "table", "thead", "tbody", "tr", "th", "td",
    "details", "summary", "small", "svg", "desc", "rect", "line", "path", "circle", "text", "g",
}  # fmt: skip


class Reader(HTMLParser):
    """Collects the elements, their attributes and the text; raises where the tags do not fit each other."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.text.append(data)


def read(account: Account) -> Reader:
    reader = Reader()
    reader.feed(page(account))
    reader.close()
    assert reader.open == []
    return reader


def test_the_sections_in_their_order() -> None:
    reader = read(failed())
    headings = re.findall(r"<h2[^>]*>([^<]*)</h2>", page(failed()))
    assert headings == [
        "Cause: out of memory",
        "Timeline",
        "Ranks",
        "GPU memory",
        "Warnings",
        "Environment",
        "What the verdict rests on",
        "The last 2 lines of the log",
    ]
    text = "\n".join(reader.text)
    for words in (
        "failed",
        "Out of memory on TP2 while loading weights.",
        "Lower --mem-fraction-static.",
        "GPU 2 has 1.0 GiB left; GPU 3 has 1.1 GiB left",
        "Stop what else runs there.",
        "sglang 0.5.9",
        "4 ranks, tensor 4",
        "4 × NVIDIA H200 with 140 GiB each",
        "2026-03-02 09:15:15+00:00",
        "1 min 1 s",
        "41 s until it failed",
    ):
        assert words in text
    assert text.count("Stop what else runs there.") == 1
    assert '<span class="hit"><i>412</i>torch.OutOfMemoryError: CUDA out of memory.</span>' in page(failed())


def test_drawings_have_words_for_those_who_cannot_see_them() -> None:
    reader = read(failed())
    ids = [attributes["id"] for _, attributes in reader.seen if "id" in attributes]
    assert len(ids) == len(set(ids))
    charts = [attributes for tag, attributes in reader.seen if tag == "svg"]
    assert len(charts) == 3
    for chart in charts:
        assert chart["role"] == "img"
        assert set((chart["aria-labelledby"] or "").split()) <= set(ids)
    assert "TP2: error" in page(failed())
    assert "GPU 0: 20.0 GiB first, at most 60.0 GiB at 1:00, 60.0 GiB last" in page(failed())
    for tag, attributes in reader.seen:
        assert tag != "section" or attributes["aria-labelledby"] in ids


@pytest.mark.parametrize("make", [failed, hostile, bare])
def test_it_asks_nobody_for_anything(make: Callable[[], Account]) -> None:
    reader = read(make())
    policies = [a["content"] for tag, a in reader.seen if tag == "meta" and a.get("http-equiv")]
    assert policies == [POLICY]
    assert "default-src 'none'" in POLICY
    assert {tag for tag, _ in reader.seen} <= ALLOWED
    for _, attributes in reader.seen:
        assert not {"src", "href", "xlink:href", "style", "action", "data"} & set(attributes)
        assert not [name for name in attributes if name.startswith("on")]
    sheet = re.findall(r"<style>(.*?)</style>", page(make()), re.DOTALL)
    assert len(sheet) == 1
    assert not re.search(r"url\(|@import|expression|http", sheet[0])


def test_what_a_host_says_is_only_text() -> None:
    plain, told = read(failed()), read(hostile())
    text = "".join(told.text)
    assert "<script>alert(1)</script>" in text, "shown as it is"
    assert 'href="javascript:alert(3)"' in text
    assert len([tag for tag, _ in told.seen if tag == "style"]) == 1
    kinds = {tag for tag, _ in told.seen} - {tag for tag, _ in plain.seen}
    assert kinds <= {"small", "p"}


@pytest.mark.parametrize("form", [page, picture, markdown])
def test_nothing_secret_and_nothing_that_acts_leaves(form: Callable[[Account], str]) -> None:
    text = form(hostile())
    for secret in SECRETS:
        assert secret not in text
    for letter in "\x1b\x07\x9b\u202e\u200b\r\x00":
        assert letter not in text
    assert "***" in text
    assert "***" in form(failed()) or form is picture


def test_the_picture_is_a_document_of_its_own() -> None:
    for make in (failed, hostile, bare):
        root = minidom.parseString(picture(make())).documentElement
        assert root is not None
        assert root.tagName == "svg"
        assert root.getAttribute("xmlns") == "http://www.w3.org/2000/svg"
        names = {node.tagName for node in root.getElementsByTagName("*")}
        assert names <= {"title", "desc", "style", "rect", "g", "text", "line", "path", "circle"}


def test_a_start_without_times_or_ranks_is_told_without_drawings() -> None:
    account = bare()
    assert axis_of(account) is None
    text = page(account)
    assert "<svg" not in text
    assert "No server was started yet." in text


def test_a_log_that_carries_no_time_says_so() -> None:
    account = failed()
    verdict = replace(
        account.verdict,
        since=None,
        phases=tuple(replace(view, started=0.0, seconds=0.0) for view in account.verdict.phases),
    )
    assert "Its lines carry no time" in page(replace(account, verdict=verdict, points=()))


def test_serving_for_hours_takes_a_fifth_of_the_axis() -> None:
    account = failed()
    phases = account.verdict.phases
    up = replace(phases[-1], phase="serving", started=phases[-1].started + 41, seconds=36_000.0)
    ended = replace(phases[-1], ended=True)
    axis = axis_of(replace(account, verdict=replace(account.verdict, state="ready", phases=(phases[0], ended, up))))
    assert axis is not None
    assert axis.end - axis.begin == pytest.approx(61 / 0.8)


def test_times_of_the_axis() -> None:
    assert [clock(seconds) for seconds in (0, 45, 61, 3725)] == ["0", "45 s", "1:01", "1:02:05"]


def test_a_mark_up_tree_cannot_be_escaped_from() -> None:
    assert render(element("p", '<b>"&', title="\"'>")) == '<p title="&quot;&#x27;&gt;">&lt;b&gt;"&amp;</p>'
    assert render(element("meta", name="x")) == '<meta name="x">'
    assert render(element("rect", x=1.0, y=0.25)) == '<rect x="1" y="0.2"/>'
    with pytest.raises(ValueError, match="style sheet"):
        style("</style>")


def test_markdown_lets_nothing_be_markup_or_a_mention() -> None:
    text = markdown(hostile())
    outside = re.sub(r"(`{3,})text\n.*?\n\1\n", "", text, flags=re.DOTALL)
    outside = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", outside)
    assert not re.search(r"(?<!\\)<(?!!-- -->|/?details>|/?summary>)", outside)
    assert "@everyone" not in outside
    assert "https://" not in outside
    assert "http://evil" not in outside
    assert HOSTILE not in text


def test_markdown_tells_the_same() -> None:
    text = markdown(failed())
    for words in (
        "## ✕ FAILED: Out of memory on TP2 while loading weights.",
        "### Cause: out of memory",
        "> 412 torch.OutOfMemoryError: CUDA out of memory.",
        "**What to do:** Lower --mem-fraction-static.",
        "| TP2 | 2 | weights | 60% | maps | error, shard 19/32 |",
        "* **memory-tight** GPU 2 has 1.0 GiB left; GPU 3 has 1.1 GiB left",
        "| Engine | `sglang 0.5.9` |",
    ):
        assert words in text
    assert re.search(r"GPU 0 +[▁-█]+ 60\.0 of 140 GiB at the end, at most 60\.0", text)


def test_several_hosts_have_sections_of_their_own() -> None:
    """Headings name the host, and no identifier is there twice."""
    one = failed()
    whole = of_hosts(one.state, one.verdict, [replace(one, name="gpu-a"), replace(one, name="gpu-b")], one.points)
    text = page(whole)
    headings = re.findall(r"<h2[^>]*>([^<]*)</h2>", text)
    assert [heading for heading in headings if "gpu-" in heading] == [
        "GPU memory of gpu-a",
        "GPU memory of gpu-b",
        "The last 2 lines of the log of gpu-a",
        "The last 2 lines of the log of gpu-b",
    ]
    found = re.findall(r'\bid="([^"]*)"', text)
    assert len(found) == len(set(found))
    assert "failed: Out of memory on TP2" in text
    assert "Command of gpu-b" in text
    assert "GPU memory, at most" not in text, "their GPUs have the same numbers"
