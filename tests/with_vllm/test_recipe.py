"""The whole recipe through a real vLLM: right regions, right order, the server's own text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

import penstock
from penstock.engines.chat import recognisers
from penstock.engines.chat.region_tasks import token_budget
from penstock.engines.image.crop import as_jpeg, cut, sendable
from penstock.engines.image.decode import decode
from penstock.engines.vllm.server import ManagedServer
from penstock.errors import OpenError
from penstock.page import Page
from penstock.plan import Plan
from penstock.region import Region
from penstock.stage import Stage, Worker
from penstock.stages.compose import Compose
from penstock.stages.crop_regions import CropRegions
from penstock.stages.load import Load
from penstock.stages.recognise_remote import RecogniseRemote
from penstock.workers.crop_regions import SENT_QUALITY
from tests.with_vllm.test_client import ask_alone
from tests.with_vllm.tiny import PLAIN

SAMPLE = Path(penstock.__file__).parent / "sample" / "sample.pdf"
LABELS = ("doc_title", "text", "table", "image", "footer")

pytestmark = [pytest.mark.timeout(1_800), pytest.mark.usefixtures("tiny_recogniser")]


@dataclass(frozen=True, kw_only=True)
class KnownBoxes(Stage):
    """What a layout model would find, small enough for a CPU: bands, no two pages' the same."""

    name: ClassVar[str] = "layout"
    reads: ClassVar[tuple[str, ...]] = ("width", "height")
    writes: ClassVar[tuple[str, ...]] = ("regions",)
    labels: tuple[str, ...] = LABELS

    def open(self) -> _Boxes:
        return _Boxes(self.labels)


class _Boxes(Worker[Page]):
    def __init__(self, labels: tuple[str, ...]) -> None:
        self._labels = labels

    def __call__(self, items: list[Page]) -> list[Page]:
        return [replace(item, regions=self._regions(item)) for item in items]

    def close(self) -> None:
        pass

    def _regions(self, item: Page) -> tuple[Region, ...]:
        return tuple(
            Region(
                label=label, index=n, box=(40.0 + item.part, 60.0 + 40 * n, item.width - 40.0, 95.0 + 40 * n)
            )
            for n, label in enumerate(self._labels)
        )


def plan(url: str, labels: tuple[str, ...] = LABELS, **ask: Any) -> Plan:
    return Plan(
        Load(dpi=72, give="encoded", text_layer=False),
        KnownBoxes(labels=labels),
        CropRegions(),
        RecogniseRemote(recogniser="tiny", servers=(url,), in_flight=8, overlap=8, **ask),
        Compose(order="given"),
    )


def test_regions_order_and_text_are_what_the_server_alone_gives(server: ManagedServer) -> None:
    [page] = penstock.parse(
        SAMPLE, pages="1", recipe=plan(server.url, labels=("text", "image", "footer", "text"))
    )
    assert page.failure is None
    assert [(region.index, region.label) for region in page.regions] == [
        (0, "text"),
        (1, "image"),
        (2, "text"),
    ]
    [loaded] = Load(dpi=72, give="encoded", text_layer=False).open()(
        [Page(id=page.id, uri=page.uri, document=page.document, part=page.part, media=page.media)]
    )
    assert loaded.image is not None
    pixels = decode(loaded.image).pixels
    for region in (page.regions[0], page.regions[2]):
        crop = sendable(cut(pixels, region.box))
        budget = token_budget("text", crop.shape[1], crop.shape[0], PLAIN.max_tokens)
        assert region.content == ask_alone(server, as_jpeg(crop, SENT_QUALITY), budget).strip()


def test_a_refused_region_carries_the_servers_words(
    server: ManagedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    wordy = replace(PLAIN, prompts={**PLAIN.prompts, "table": "word " * 3_000})  # the context holds 2,048
    monkeypatch.setitem(recognisers.RECOGNISERS, "tiny", wordy)
    [page] = penstock.parse(SAMPLE, pages="1", recipe=plan(server.url, labels=("text", "table")))
    assert page.failure is None
    text, table = page.regions
    assert text.content and text.failure is None
    assert table.failure is not None
    assert "2048" in table.failure.message


def test_a_model_that_is_not_there_ends_the_run(server: ManagedServer) -> None:
    pages = penstock.parse(
        SAMPLE, pages="1", recipe=plan(server.url, labels=("text",), model="no-such-model")
    )
    with pytest.raises(OpenError, match="`no-such-model` does not exist"):
        list(pages)
