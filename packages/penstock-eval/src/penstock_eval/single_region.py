"""From a recipe that reads pages, the plan that shows whole pictures to the same recogniser.

A picture of a benchmark is a line, a table or a formula already: it becomes the one region of its page.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

from penstock.documents.pages.prompted_page import PromptedPage
from penstock.engines.image.codec import encode_png
from penstock.engines.image.crop import as_jpeg, is_sendable, scaled, sendable
from penstock.engines.image.decode import decode
from penstock.item import Item
from penstock.plan import Plan
from penstock.recipes.regions import FEEDING
from penstock.region import WHOLE, AskedTask, Region
from penstock.stage import Batch, Stage, Worker
from penstock.stages.crop_regions import MAX_PIXELS
from penstock.stages.load import Load
from penstock.stages.recognise import Recognise
from penstock.stages.recognise_remote import RecogniseRemote
from penstock.workers.crop_regions import SENT_QUALITY

BUILT_IN_TASKS: frozenset[AskedTask] = frozenset({"text", "table"})  # what there is a built-in engine for
LABELS: dict[AskedTask, str] = {
    "text": "text",
    "table": "table",
    "formula": "display_formula",
    "question": "text",
    "fields": "text",
}
TOGETHER = Batch(max_items=8, linger_ms=20.0)  # pictures a thread waits for: as many as a page has regions

Found = TypeVar("Found", bound=Stage)


def single_region_plan(plan: Plan, task: AskedTask) -> Plan | None:
    """Returns the plan that gives whole pictures to the recogniser of `plan`.

    None where it has no way to ask: a reader of whole pages, or built-in engines without one for the task.
    """
    load, ask, recognise = _stage(plan, Load), _stage(plan, RecogniseRemote), _stage(plan, Recognise)
    if load is not None and ask is not None:
        seen = replace(load, give="encoded", render="always", text_layer=False)
        cut = WholePicture(needs=FEEDING, workers=load.workers)
        return Plan(seen, cut, replace(ask, batch=TOGETHER), name=plan.name)
    if load is not None and recognise is not None and task in BUILT_IN_TASKS:
        seen = replace(load, give="pixels", render="always", text_layer=False)
        return Plan(seen, WholePicture(send=False), recognise, name=plan.name)
    return None


def _stage(plan: Plan, kind: type[Found]) -> Found | None:
    return next((stage for stage in plan if isinstance(stage, kind)), None)


@dataclass(frozen=True, kw_only=True)
class WholePicture(Stage):
    """Gives the page one region as large as itself, labelled by what is asked.

    With `send` the region gets its `request`: the picture's own bytes where a server takes them. A picture
    that is too thin for one gets white around it, one of more than MAX_PIXELS is scaled down.
    """

    name: ClassVar[str] = "whole_picture"
    worker: ClassVar[str] = "penstock_eval.single_region:WholePictureWorker"
    item: ClassVar[type[Item]] = PromptedPage
    writes: ClassVar[tuple[str, ...]] = ("regions",)
    send: bool = True

    @property
    def reads(self) -> tuple[str, ...]:
        return ("asking", "width", "height", *(("image",) if self.send else ()))


class WholePictureWorker(Worker[PromptedPage]):
    """Cuts nothing: the picture is what is asked about."""

    def __init__(self, stage: WholePicture) -> None:
        self._send = stage.send

    def __call__(self, items: list[PromptedPage]) -> list[PromptedPage]:
        return [replace(page, regions=(self._region(page),)) for page in items]

    def _region(self, page: PromptedPage) -> Region:
        assert page.asking is not None
        box = (0.0, 0.0, float(page.width), float(page.height))
        region = Region(label=LABELS[page.asking.task], native_label=WHOLE, box=box)
        return replace(region, request=_sent(page)) if self._send else region


def _sent(page: PromptedPage) -> bytes:
    assert page.image is not None
    scale = math.sqrt(MAX_PIXELS / (page.width * page.height))
    if scale >= 1.0 and is_sendable(page.width, page.height):
        return page.image
    pixels = sendable(scaled(decode(page.image).pixels, scale))
    # a thin line of print is small and goes without loss; a picture that was scaled has lost already
    return encode_png(pixels) if scale >= 1.0 else as_jpeg(pixels, SENT_QUALITY)
