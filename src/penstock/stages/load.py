"""Turns a listed page into a picture: renders PDFs, decodes images, copies encoded bytes.

Runs in processes of its own, because PDFium is not thread-safe and native decoders can hang or
crash on bytes we did not make. Files stay open between pages: page 4,001 of a PDF does not parse
the first 4,000 again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from penstock.choices import OfficeUse, Unprinted
from penstock.errors import PlanError
from penstock.item import Item, PictureItem
from penstock.stage import Needs, Stage, secret, tuning

DPI = 200.0  # the GLM-OCR SDK's
MAX_SIDE = 3500  # pixels of a rendered page's long side, the GLM-OCR SDK's bound
MAX_PIXELS = 89_478_485  # of an image: 256 MiB as RGB, Pillow's own alarm; A3 at 600 dpi has 70 million

Give = Literal["pixels", "encoded"]
Render = Literal["always", "auto", "never"]


@dataclass(frozen=True, kw_only=True)
class Load(Stage):
    """Gives items their picture, and PDF pages their text layer.

    `give="encoded"` carries PNG or JPEG bytes instead of pixels: untouched where the source is
    one that every reader shows alike, else made anew. `render="never"` sets size and layer only;
    "auto" renders the PDF pages that the layer alone does not tell: scans, and pages with pictures.
    """

    name: ClassVar[str] = "load"
    worker: ClassVar[str] = "penstock.workers.load:LoadWorker"
    item: ClassVar[type[Item]] = PictureItem

    dpi: float = DPI
    max_side: int = MAX_SIDE
    max_pixels: int = MAX_PIXELS
    give: Give = "pixels"
    render: Render = "always"
    text_layer: bool = True
    office: OfficeUse = "structure"  # "both": a printed page gets the words of its file
    unprinted: Unprinted = "keep"
    crops: bool = True  # of pictures that files themselves hold
    read_pictures: bool = False  # gives these to the stage that reads
    password: str | None = secret()  # opens a file or does not: it changes no result

    needs: Needs = tuning(Needs(process=True, confined=True))

    def __post_init__(self) -> None:
        if self.dpi <= 0 or self.max_side < 1 or self.max_pixels < 1:
            raise PlanError("Load needs a dpi, max_side and max_pixels above zero.")

    @property
    def writes(self) -> tuple[str, ...]:
        picture = () if self.render == "never" else ("pixels" if self.give == "pixels" else "image",)
        layer = ("layer",) if self.text_layer else ()
        return (*picture, *layer, "width", "height", "dpi")
