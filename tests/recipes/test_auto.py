"""The recipe that chooses: who reads a page and why, and when a server's answer replaces what was read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

import penstock
from penstock.documents.confidence.page_doubts import choice_of, doubts_of
from penstock.errors import MissingModel, UsageError
from penstock.page import Page, ReaderChoice
from penstock.plan import Plan
from penstock.recipes import build
from penstock.region import Line, Region
from penstock.stage import Stage, Worker
from penstock.stages.choose import Choose
from penstock.stages.compose import Compose
from penstock.stages.load import Load
from penstock.stages.reread import Reread
from penstock.testing.fake_server import Asked, FakeServer, serving
from penstock.trace.profile import Profile
from penstock.trace.report import render_text
from penstock.workers.choosing import choose
from tests.recipes.test_regions import SAMPLE

SURELY, UNSURELY = 1.0, 0.4


@pytest.fixture(autouse=True)
def _no_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise MissingModel("It is not here.", "")

    monkeypatch.setattr(choose, "Handwriting", missing)


def region(text: str, confidence: float | None, reader: str = "ppocr", **more: Any) -> Region:
    lines = (Line(text=text, box=(20, 20, 400, 60), confidence=confidence),)
    given = {"label": "text", "box": (20, 20, 400, 60), "content": text, "confidence": confidence}
    return Region(**{**given, "reader": reader, "lines": lines, **more})


def page(*regions: Region, **more: Any) -> Page:
    pixels = np.full((300, 500, 3), 255, np.uint8)
    pixels[24:56:4, 24:390] = 0
    given = {"id": "a", "uri": "a", "document": "a", "width": 500, "height": 300, "pixels": pixels}
    return Page(**{**given, "regions": regions, **more})


FROM_FILE = region("Said by the file itself.", None, "layer")
READ_WELL = region("Read without doubt.", SURELY)
READ_BADLY = region("Rcad w1th d0ubt.", UNSURELY)


@pytest.mark.parametrize(
    ("made", "reader", "word"),
    [
        (page(FROM_FILE), "layer", "file itself"),
        (page(READ_WELL), "built-in", "accepted"),
        (page(READ_BADLY), "server", "read unsurely"),
        (page(replace(READ_WELL, label="table")), "server", "tables in pictures"),
        (page(replace(FROM_FILE, label="display_formula")), "server", "formulas"),
        (page(), "server", "ink that no text explains"),
    ],
)
def test_a_page_goes_to_the_cheapest_reader_that_reads_it_well(made: Page, reader: str, word: str) -> None:
    choice = choice_of(doubts_of(made), 0.05, has_server=True)
    assert choice.reader == reader and word in choice.reason


def test_handwriting_is_sent_although_networks_for_print_are_sure() -> None:
    choice = choice_of(doubts_of(page(READ_WELL), handwriting=1.0), 0.05, has_server=True)
    assert choice.reader == "server" and "handwriting" in choice.reason


def test_the_user_moves_the_threshold_and_without_a_server_none_is_chosen() -> None:
    doubts = doubts_of(page(READ_WELL, replace(READ_BADLY, confidence=0.98)))
    assert 0.0 < doubts.likely_wrong < 0.2
    assert choice_of(doubts, 0.0, has_server=True).reader == "server"
    assert choice_of(doubts, 0.2, has_server=True).reader == "built-in"
    choice = choice_of(doubts, 0.0, has_server=False)
    assert choice.reader == "built-in" and "No server was given" in choice.reason


def test_without_a_server_the_recipe_has_no_stage_for_one() -> None:
    names = [stage.name for stage in build("auto", {})]
    assert names[-2:] == ["choose", "compose"] and "reread" not in names
    plan = build("auto", {"server": ("http://a:1",), "lang": ("ko",)})
    assert [stage.name for stage in plan][-3:] == ["choose", "reread", "compose"]
    assert plan.fingerprint() != build("auto", {"lang": ("ko",)}).fingerprint()
    with pytest.raises(UsageError, match="no part of a page"):
        build("auto", {"accept_errors": 7.0})


@dataclass(frozen=True, kw_only=True)
class CheaplyRead(Stage):
    """Every second page is read well, as the built-in readers would have it."""

    name: ClassVar[str] = "recognise"
    reads: ClassVar[tuple[str, ...]] = ("pixels", "layer")
    writes: ClassVar[tuple[str, ...]] = ("regions",)

    def open(self) -> _Reads:
        return _Reads()


class _Reads(Worker[Page]):
    def __call__(self, items: list[Page]) -> list[Page]:
        whole = {"box": (0.0, 0.0, 10_000.0, 10_000.0), "lines": ()}
        made = (READ_WELL, READ_BADLY)
        return [replace(item, regions=(replace(made[item.part % 2], **whole),)) for item in items]


@dataclass
class Run:
    fake: FakeServer
    plan: Plan


@pytest.fixture
def run() -> Iterator[Run]:
    fake = FakeServer(says=lambda asked: "Read with a server.")
    with serving(fake) as url:
        ask = Reread(servers=(url,), overlap=4, in_flight=8, page_s=5.0)
        choosing = Choose(accept_errors=0.05, has_server=True)
        yield Run(fake, Plan(Load(dpi=36), CheaplyRead(), choosing, ask, Compose()))


def test_only_chosen_pages_are_asked_and_the_row_says_why(run: Run, tmp_path: Any) -> None:
    out = tmp_path / "out"
    for _ in penstock.parse(SAMPLE, recipe=run.plan, out=out):
        pass
    pages = sorted(penstock.read(out), key=lambda item: item.part)
    assert len(run.fake.asked) == 2
    assert [item.choice and item.choice.reader for item in pages] == ["built-in", "server"] * 2
    assert [item.regions[0].content for item in pages] == ["Read without doubt.", "Read with a server."] * 2
    assert "Read with a server." in pages[1].markdown and pages[1].regions[0].reader == "glm-ocr"
    signals = pages[1].regions[0].signals
    assert signals is not None and (signals.other, signals.other_reader) == ("Rcad w1th d0ubt.", "ppocr")
    assert signals.agreement is not None and 0.0 < signals.agreement < 1.0


@pytest.mark.parametrize("fault", ["loop", "length"])
def test_an_answer_that_went_wrong_does_not_replace_what_was_read(run: Run, fault: str) -> None:
    run.fake.fault = lambda asked: fault
    read = sorted(penstock.parse(SAMPLE, recipe=run.plan), key=lambda item: item.part)
    assert read[1].regions[0].content == "Rcad w1th d0ubt."
    assert "was not used" in read[1].regions[0].note
    assert read[1].regions[0].signals is not None and read[1].regions[0].signals.marks


def test_a_server_that_fails_costs_no_text_and_the_page_is_tried_again(run: Run, tmp_path: Any) -> None:
    failing = True

    def fault(asked: Asked) -> str | None:
        return "500" if failing else None

    run.fake.fault = fault
    out = tmp_path / "out"
    read = sorted(penstock.parse(SAMPLE, recipe=run.plan, out=out), key=lambda item: item.part)
    assert read[1].regions[0].content == "Rcad w1th d0ubt."
    assert read[1].shortfall is not None and "built-in readers' text stays" in read[1].shortfall.message
    assert read[0].shortfall is None
    failing = False
    for _ in penstock.parse(SAMPLE, recipe=run.plan, out=out, retry_failed=True):
        pass
    again = sorted(penstock.read(out), key=lambda item: item.part)
    assert again[1].regions[0].content == "Read with a server." and again[1].shortfall is None


def test_what_the_file_itself_says_is_not_asked_for(run: Run) -> None:
    chosen = ReaderChoice(reader="server", reason="", likely_wrong=1.0)
    made = page(FROM_FILE, replace(FROM_FILE, label="display_formula"), READ_BADLY, choice=chosen)
    [stage] = [stage for stage in run.plan if isinstance(stage, Reread)]
    worker = stage.open()
    [answered] = worker([made])
    worker.close()
    assert len(run.fake.asked) == 2
    assert [one.reader for one in answered.regions] == ["layer", "glm-ocr", "glm-ocr"]


def test_the_profile_says_what_was_saved() -> None:
    profile = Profile(items=40, seconds=10.0, readers={"layer": 22, "built-in": 8, "server": 10})
    assert "The server read 10 of 40 pages (25 %), the built-in readers 8, 22 are from their files." in (
        render_text(profile)
    )
    assert Profile.from_dict(profile.to_dict()).readers == profile.readers
    assert "The server read" not in render_text(Profile(items=40, seconds=10.0))
