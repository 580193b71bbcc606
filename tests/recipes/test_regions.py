"""The recipe for model servers, driven against a server that obeys vLLM's contract and misbehaves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import penstock
from penstock.engines.chat.client import ChatClient
from penstock.engines.chat.region_tasks import task_of, token_budget
from penstock.engines.image.codec import encode_jpeg
from penstock.errors import OpenError, UsageError
from penstock.page import Page
from penstock.plan import Plan
from penstock.recipes import build
from penstock.recipes.regions import glm_ocr
from penstock.region import Region
from penstock.stage import Stage, Worker
from penstock.stages.compose import Compose
from penstock.stages.crop_regions import CropRegions
from penstock.stages.load import Load
from penstock.stages.recognise_remote import RecogniseRemote
from penstock.store.ledger import Ledger
from penstock.store.schema import PAGES
from penstock.testing.fake_server import FakeServer, serving
from tests.support.asking import GLM, request
from tests.support.waiting import HANGS_S, wait_until

SAMPLE = Path(penstock.__file__).parent / "sample" / "sample.pdf"


@dataclass(frozen=True, kw_only=True)
class KnownBoxes(Stage):
    """Regions as a layout model would give them: text, a table, a chart, a formula, a header."""

    name: ClassVar[str] = "layout"
    reads: ClassVar[tuple[str, ...]] = ("width", "height")
    writes: ClassVar[tuple[str, ...]] = ("regions",)

    def open(self) -> _Boxes:
        return _Boxes()


class _Boxes(Worker[Page]):
    def __call__(self, items: list[Page]) -> list[Page]:
        return [replace(item, regions=_regions(item)) for item in items]

    def close(self) -> None:
        pass


def _regions(item: Page) -> tuple[Region, ...]:
    labels = ("header", "text", "table", "chart", "display_formula")
    top = item.height / 10
    return tuple(
        Region(
            label=label, index=n, box=(0.1 * item.width, top * (2 * n), 0.9 * item.width, top * (2 * n + 1.9))
        )
        for n, label in enumerate(labels)
    )


@dataclass
class Running:
    fake: FakeServer
    url: str


@contextmanager
def running(fake: FakeServer) -> Iterator[Running]:
    with serving(fake) as url:
        yield Running(fake, url)


@pytest.fixture
def server() -> Iterator[Running]:
    with running(FakeServer()) as started:
        yield started


def plan(url: str, **ask: Any) -> Plan:
    return Plan(
        Load(dpi=72, give="encoded", text_layer=False),
        KnownBoxes(),
        CropRegions(),
        RecogniseRemote(servers=(url,), overlap=8, in_flight=16, **ask),
        Compose(order="given"),
    )


def parsed(url: str, **ask: Any) -> list[Page]:
    pages = penstock.parse(SAMPLE, recipe=plan(url, **ask))
    return sorted(pages, key=lambda page: page.part)


@pytest.mark.parametrize("recipe", ["glm-ocr", "paddleocr-vl", "openai"])
def test_the_tokens_of_an_answer_are_the_users_to_choose(recipe: str, server: Running) -> None:
    [ask] = [
        stage
        for stage in build(recipe, {"max_tokens": 33, "layout": "cdla"})
        if isinstance(stage, RecogniseRemote)
    ]
    parsed(server.url, max_tokens=ask.max_tokens)
    assert server.fake.asked and {asked.max_tokens for asked in server.fake.asked} == {33}


def test_a_large_table_may_have_more_tokens_than_the_models_own_bound() -> None:
    table = Region(
        label="table", box=(0, 0, 2800, 1400), request=encode_jpeg(np.zeros((1400, 2800, 3), "u1"), 50)
    )
    with running(FakeServer(max_model_len=65_536)) as server:
        for bound in (0, 16_384):
            worker = RecogniseRemote(servers=(server.url,), max_tokens=bound).open()
            worker([Page(id=str(bound), uri="a", document="a", part=0, regions=(table,))])
            worker.close()
    assert [asked.max_tokens for asked in server.fake.asked] == [8_192, 16_384]


def test_every_region_is_asked_its_task_and_answers_find_their_place(server: Running) -> None:
    pages = parsed(server.url)
    assert [page.failure for page in pages] == [None] * 4
    for page in pages:
        by_label = {region.label: region for region in page.regions}
        assert "header" not in by_label
        for label, prompt in (("text", "Text"), ("table", "Table"), ("display_formula", "Formula")):
            if label in by_label:  # blank regions are not sent
                assert str(by_label[label].content).startswith(f"{prompt} Recognition:")
                assert by_label[label].crop is None
        assert by_label["chart"].crop_path
        assert by_label["chart"].content is None
        assert [region.index for region in page.regions] == list(range(len(page.regions)))


def test_without_crops_a_picture_keeps_its_place_and_has_no_file(server: Running) -> None:
    stages = [replace(s, crops=False) if isinstance(s, CropRegions) else s for s in plan(server.url)]
    [page, *_] = sorted(penstock.parse(SAMPLE, recipe=Plan(*stages)), key=lambda page: page.part)
    [chart] = [region for region in page.regions if region.label == "chart"]
    assert chart.crop is None
    assert chart.box[2] > chart.box[0]


def test_without_torch_the_built_in_network_finds_regions_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("penstock.recipes.regions.find_spec", lambda name: None)
    fallen_back = glm_ocr(server=("http://a",))
    assert [stage.name for stage in fallen_back][1] == "layout"
    [note] = fallen_back.notes
    assert note.startswith("Without torch and transformers the built-in network finds the regions")
    monkeypatch.setattr("penstock.recipes.regions.find_spec", lambda name: object())
    assert [stage.name for stage in glm_ocr(server=("http://a",))][1] == "doclayout"
    assert not glm_ocr(server=("http://a",), layout="cdla").notes


def test_a_model_that_the_server_does_not_have_ends_the_run(server: Running) -> None:
    with pytest.raises(OpenError, match="`nope` does not exist"):
        parsed(server.url, model="nope")


def test_margins_are_read_when_asked_for(server: Running) -> None:
    plan_ = plan(server.url, margins="read")
    stages = [replace(s, margins="read") if isinstance(s, CropRegions) else s for s in plan_]
    [page, *_] = sorted(penstock.parse(SAMPLE, recipe=Plan(*stages)), key=lambda page: page.part)
    assert "header" in {region.label for region in page.regions}


def test_a_region_the_server_cannot_read_fails_alone_with_the_reason() -> None:
    def refuse_tables(asked: Any) -> str | None:
        return "garbage" if asked.prompt.startswith("Table") else None

    with running(FakeServer(fault=refuse_tables)) as fake:
        pages = parsed(fake.url, timeout_s=60.0)
    failed = [r for page in pages for r in page.regions if r.failure is not None]
    assert failed
    assert {region.label for region in failed} == {"table"}
    assert all(region.failure and region.failure.message for region in failed)
    assert all(page.failure is None for page in pages)


@pytest.mark.parametrize("recipe", ["glm-ocr", "grounded"])
def test_a_wrong_address_ends_the_run_at_once(
    recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.engines.chat.client.FIRST_CONTACT_S", 0.5)
    options = {"server": ("http://127.0.0.1:9",), **({"layout": "cdla"} if recipe == "glm-ocr" else {})}
    with pytest.raises(OpenError, match=r"No model server answered .* cannot connect"):
        list(penstock.parse(SAMPLE, out=tmp_path, recipe=recipe, **options))
    assert not Ledger(tmp_path, PAGES).entries(), "no page has failed for it"


@pytest.mark.slow
def test_failed_regions_can_be_tried_again(tmp_path: Path) -> None:
    broken = [True]

    def refuse(asked: Any) -> str | None:
        return "garbage" if broken[0] and asked.prompt.startswith("Table") else None

    with running(FakeServer(fault=refuse)) as fake:
        recipe = plan(fake.url, timeout_s=60.0)
        list(penstock.parse(SAMPLE, out=tmp_path / "out", recipe=recipe, pages="3"))
        assert any(r.failure for page in penstock.read(tmp_path / "out") for r in page.regions)
        broken[0] = False
        list(penstock.parse(SAMPLE, out=tmp_path / "out", recipe=recipe, pages="3", retry_failed=True))
        pages = list(penstock.read(tmp_path / "out"))
    assert len(pages) == 1
    assert not any(region.failure for page in pages for region in page.regions)


def test_requests_of_many_pages_are_in_flight_together() -> None:
    with running(FakeServer(max_running=0)) as fake, ThreadPoolExecutor(1) as pool:
        pages = pool.submit(parsed, fake.url)
        wait_until(lambda: fake.fake.waiting >= 6)  # none is answered yet
        fake.fake.max_running = 1_000_000
        with ChatClient([fake.url], GLM) as client:
            client.ask([request()])  # when it ends, the next goes on
        assert [page.failure for page in pages.result(HANGS_S)] == [None] * 4


@pytest.mark.slow
def test_a_small_text_height_sends_fewer_pixels(server: Running) -> None:
    def sent(height: float) -> int:
        stages = [
            replace(s, text_height=height) if isinstance(s, CropRegions) else s for s in plan(server.url)
        ]
        before = len(server.fake.asked)
        list(penstock.parse(SAMPLE, recipe=Plan(*stages)))
        return sum(asked.width * asked.height for asked in server.fake.asked[before:])

    assert sent(8.0) < 0.9 * sent(0.0)


def test_the_embedded_layout_can_feed_a_server(server: Running) -> None:
    pages = list(penstock.parse(SAMPLE, recipe="glm-ocr", layout="cdla", server=(server.url,), pages="1,4"))
    assert all(page.failure is None for page in pages)
    assert sum(r.reader == "glm-ocr" for page in pages for r in page.regions) >= 8


def test_servers_and_limits_are_not_part_of_the_fingerprint() -> None:
    one = build("glm-ocr", {"server": ("http://a:1",), "in_flight": 8})
    two = build("glm-ocr", {"server": ("http://b:2", "http://c:3")})
    started = build("glm-ocr", {"preset": "l4"})
    assert one.fingerprint() == two.fingerprint() == started.fingerprint()
    assert build("paddleocr-vl", {}).fingerprint() != one.fingerprint()
    with pytest.raises(UsageError, match="--lang"):
        build("glm-ocr", {"lang": ("ko",)})


def test_tasks_and_budgets_follow_the_label() -> None:
    assert [task_of(label, "drop") for label in ("text", "table", "chart", "seal", "footer")] == [
        "text",
        "table",
        "keep",
        "text",
        "drop",
    ]
    assert token_budget("text", 1042, 351, 8192) < token_budget("table", 1042, 351, 8192)
    assert token_budget("text", 4000, 4000, 8192) == 8192


def test_a_region_says_how_sure_its_model_was_and_what_a_second_reader_thinks() -> None:
    with running(FakeServer(logprob=-0.1)) as fake:
        [alone, *_] = parsed(fake.url)
        [both, *_] = parsed(fake.url, second_reader="builtin")
    text = next(region for region in alone.regions if region.label == "text")
    assert text.signals is not None and text.signals.agreement is None
    assert text.signals.probability == pytest.approx(math.exp(-0.1))
    assert text.confidence is not None and text.confidence > 0.8
    doubted = next(region for region in both.regions if region.label == "text")
    assert doubted.signals is not None and doubted.signals.other_reader == "builtin"
    assert doubted.signals.agreement is not None and doubted.signals.agreement < 0.5  # the fake reads nothing
    assert doubted.confidence is not None and doubted.confidence < text.confidence


def test_an_answer_that_was_cut_is_marked() -> None:
    with running(FakeServer(says=lambda asked: "and so on " * 9_000)) as fake:
        page = parsed(fake.url, max_tokens=40)[0]
    marked = [region.signals.marks for region in page.regions if region.signals and region.content]
    assert marked and set(marked) <= {("cut off",), ("repeated",)}
    assert all(
        region.confidence is not None and region.confidence < 0.9 for region in page.regions if region.content
    )
