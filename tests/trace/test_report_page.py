"""The profile's page: well formed, whole in itself, and nothing foreign runs in it."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

from penstock.trace import report
from penstock.trace.profile import HardwareFacts, StageTimeline
from tests.support.profiles import profile, watched


def test_the_page_draws_what_was_watched() -> None:
    text = report.render_html(watched())
    page = Page(text)
    assert page.open == []
    assert page.fetched == []
    svgs = [svg for svg in re.findall(r"<svg.*?</svg>", text, re.DOTALL) if 'class="chart"' in svg]
    assert len(svgs) == 3
    for svg in svgs:
        ElementTree.fromstring(svg)
        drawn = re.findall(r'class="line \w+" d="([^"]*)"', svg)
        assert all(0 <= float(number) <= 300 for path in drawn for number in re.findall(r"[\d.-]+", path))
    for told in ("GPU load", "KV cache", "13.0 Wh", "tokens out a page", "raise --in-flight"):
        assert told in text
    assert "Cards and servers" not in report.render_html(profile())


def rows_of(text: str) -> list[list[str]]:
    """The cells of every row of every table, as text."""
    rows = re.findall(r"<tr>(.*?)</tr>", text, re.DOTALL)
    return [re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", row) for row in rows]


def test_the_page_has_the_numbers_of_cards_phases_servers_and_requests() -> None:
    found = rows_of(report.render_html(watched()))
    for row in (
        ["0: NVIDIA H200", "93 %", "97 %", "100 %", "41 %", "72 %", "120 GiB", "128 GiB", "140.4 GiB"],
        ["no stage at work", "4", "0 %", "2 %", "–", "–", "900 MiB", "1,000 MiB"],
        ["recognise", "35", "97 %", "100 %", "45 %", "72 %", "–", "–"],
        ["http://127.0.0.1:8000", "480", "512", "41 %", "62 %", "7,429", "880", "2 %", "0 %", "0"],
        ["as our client saw them", "640", "3", "7", "2.4 s", "840 ms", "9.0 s", "1 min 12 s", "1 min 20 s",
         "14,857", "1,760"],
    ):  # fmt: skip
        assert row in found


def test_what_servers_and_cards_are_called_is_escaped() -> None:
    made = watched()
    evil = '<script>alert("$HOME & co")</script>'
    assert made.gpu and made.servers and made.bounds
    cards = tuple(replace(card, name=evil) for card in made.gpu.cards)
    servers = tuple(replace(server, url=evil) for server in made.servers.each)
    text = report.render_html(
        replace(
            made,
            gpu=replace(made.gpu, cards=cards),
            servers=replace(made.servers, each=servers),
            bounds=replace(made.bounds, sentence=evil),
        )
    )
    assert "<script" not in text
    assert Page(text).open == []


class Page(HTMLParser):
    """Collects what a browser would fetch or run, and the tags left open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [str(value) for name, value in attrs if name in ("src", "href", "srcset", "action")]
        self.fetched += [tag] if tag in ("script", "link", "iframe", "object") else []
        if tag not in ("meta", "br", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A tag that closes itself."""

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_needs_nothing_else() -> None:
    text = report.render_html(profile())
    page = Page(text)
    assert page.open == []
    assert page.fetched == []
    assert not re.findall(r"@import|https?://|url\((?!#)", text)


def test_the_page_tells_what_the_text_tells() -> None:
    text = report.render_html(profile())
    for told in (
        "Bottleneck: <em>recognise</em>, busy 97 %",
        "812 MiB",
        "100,000",
        "A CPU, 2 cores",
        "2 processes",
    ):
        assert told in text
    assert "prefers-color-scheme: dark" in text


def test_the_pictures_are_well_formed_and_stay_in_their_lanes() -> None:
    bins = dict(profile().timeline.stages)
    bins["load"] = (*bins["load"][:3], (9.0, 9.0, 9.0), *bins["load"][4:])  # a span counted past its bin
    made = profile(seconds=39.3, timeline=StageTimeline(1.0, bins))
    svgs = re.findall(r"<svg.*?</svg>", report.render_html(made), re.DOTALL)
    assert len(svgs) == 2 + 3
    for svg in svgs:
        ElementTree.fromstring(svg)
    timeline = next(svg for svg in svgs if 'class="timeline"' in svg)
    assert "nan" not in timeline
    ys = [float(y) for y in re.findall(r"V(-?[\d.]+)", timeline)]
    assert min(ys) >= -0.1
    xs = [float(x) for x in re.findall(r"H(-?[\d.]+)", timeline)]
    assert max(xs) <= 960


def test_a_long_run_does_not_make_a_large_page() -> None:
    bins = dict.fromkeys(profile().timeline.stages, ((0.5, 0.3, 0.2),) * 40_000)
    made = profile(seconds=40_000.0, timeline=StageTimeline(1.0, bins))
    assert len(report.render_html(made)) < 200_000


def test_everything_foreign_is_escaped() -> None:
    made = profile()
    evil = '<script>alert("$HOME & co")</script>'
    made = replace(
        made,
        command=evil,
        executor=evil,
        started=evil,
        unit=evil,
        hardware=HardwareFacts(cpu=evil, gpus=(evil,)),
        stages=tuple(replace(one, name=one.name + evil) for one in made.stages),
        timeline=StageTimeline(1.0, {name + evil: bins for name, bins in made.timeline.stages.items()}),
        bottleneck=made.bottleneck + evil,
    )
    text = report.render_html(made)
    assert "<script" not in text
    assert Page(text).open == []
    assert "&lt;script&gt;alert(&quot;$HOME &amp; co&quot;)" in text
