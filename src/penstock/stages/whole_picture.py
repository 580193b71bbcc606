"""Makes a whole picture the one region of its page: it is a line, a table or a formula already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.documents.pages.prompted_page import PromptedPage
from penstock.item import Item
from penstock.stage import Stage
from penstock.stages.crop_regions import MAX_PIXELS


@dataclass(frozen=True, kw_only=True)
class WholePicture(Stage):
    """Gives the page one region as large as itself, labelled by what is asked.

    With `send` the region gets its `request`: the picture's own bytes where a server takes them. A picture
    that is too thin for one gets white around it, one of more than `max_pixels` is scaled down.
    """

    name: ClassVar[str] = "whole_picture"
    worker: ClassVar[str] = "penstock.workers.crop_regions:WholePictureWorker"
    item: ClassVar[type[Item]] = PromptedPage
    writes: ClassVar[tuple[str, ...]] = ("regions",)
    send: bool = True
    max_pixels: int = MAX_PIXELS

    @property
    def reads(self) -> tuple[str, ...]:
        return ("asking", "width", "height", *(("image",) if self.send else ()))
