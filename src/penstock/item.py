"""What flows: one `Item` is one page or one photo, from source to store.

Items are frozen; change is `replace(item, regions=...)`. Boxes are (x0, y0, x1, y1) in pixels of
the item's picture, origin at its top left; `Region.bbox_2d` gives the published 0..1000 grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]  # (height, width, 3), RGB

Box = tuple[float, float, float, float]

# The one label vocabulary of all layout engines, PP-DocLayoutV3's 25 classes in its own order.
LABELS = (
    "abstract", "algorithm", "aside_text", "chart", "content", "display_formula", "doc_title",
    "figure_title", "footer", "footer_image", "footnote", "formula_number", "header",
    "header_image", "image", "inline_formula", "number", "paragraph_title", "reference",
    "reference_content", "seal", "table", "text", "vertical_text", "vision_footnote",
)  # fmt: skip
PICTURE_LABELS = frozenset({"image", "chart", "header_image", "footer_image", "seal"})
FORMULA_LABELS = frozenset({"display_formula", "inline_formula"})
FURNITURE_LABELS = frozenset({"header", "footer", "number", "header_image", "footer_image", "aside_text"})

# Fields an executor drops once no later stage reads them.
HEAVY_FIELDS = ("image", "pixels", "layer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why an item or a region has no result. `kind` is the name of the error's class."""

    stage: str
    kind: str
    message: str
    advice: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One word of a PDF's text layer. `size` is the font size in pixels of the picture."""

    text: str
    box: Box
    font: str = ""
    size: float = 0.0
    bold: bool = False
    italic: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """What a born-digital page says of itself, in the order the file gives it."""

    words: tuple[Word, ...] = ()
    strokes: tuple[Box, ...] = ()  # thin drawn lines and rectangle edges: table rulings
    pictures: tuple[Box, ...] = ()  # embedded images


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of text as an engine found it."""

    text: str
    box: Box
    confidence: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """One block of a page. `content` is plain text, table HTML or LaTeX, by label.

    `reader` names what read it ("layer", "ppocr", "tesseract", "slanet", ...); `note` tells a user
    why a region has no content although nothing failed.
    """

    label: str
    box: Box
    index: int = 0  # reading order on its page, from 0
    native_label: str = ""
    score: float = 1.0  # the layout engine's
    content: str | None = None
    confidence: float | None = None  # the recogniser's, 0..1
    reader: str = ""
    lines: tuple[Line, ...] = ()
    polygon: tuple[tuple[float, float], ...] = ()  # its outline, where an engine gives one
    crop: bytes | None = None  # encoded JPEG or PNG, until the store writes it
    crop_path: str | None = None  # relative to OUT, named by the crop's content
    note: str = ""
    failure: Failure | None = None

    def bbox_2d(self, width: int, height: int) -> list[int]:
        """The box on the published grid: integers 0..1000 of the page's width and height."""
        x0, y0, x1, y1 = self.box
        grid = (x0 / width, y0 / height, x1 / width, y1 / height)
        return [min(1000, max(0, round(v * 1000))) for v in grid]


@dataclass(frozen=True, slots=True, kw_only=True)
class PhotoObject:
    """One thing in a photo: where it is, how large, and how that is known.

    `estimate` is "metric" (reconstructed to scale), "anchored" (reconstructed, scaled by the photo's
    geometry) or "prior" (outline, camera and class). Lengths are metres, volumes cubic metres; the
    truth lies between `low_cbm` and `high_cbm` in 8 of 10 cases.
    """

    label: str  # as found or given; `kind` is its class in the furniture table
    box: Box
    index: int = 0  # in its photo, from 0
    kind: str = ""
    score: float = 1.0
    finder: str = ""  # the engine that found it
    mask: bytes | None = None  # one-bit PNG of the photo's size, until the store writes it
    mask_path: str | None = None  # relative to OUT, named by content
    cut: tuple[str, ...] = ()  # sides of the frame that cut it: left, top, right, bottom
    look: tuple[float, ...] = ()  # colour histogram, by which photos of one room are compared
    cloud: bytes | None = None  # Gaussian PLY, until the store writes it
    cloud_path: str | None = None
    num_gaussians: int = 0
    mesh: bytes | None = None  # GLB where asked for, until the store writes it
    mesh_path: str | None = None
    estimate: str = ""
    size: tuple[float, float, float] | None = None  # width, depth, height
    distance: float | None = None  # from the camera, along the floor
    bbox_cbm: float | None = None
    low_cbm: float | None = None
    high_cbm: float | None = None
    hull_cbm: float | None = None
    occupied_cbm: float | None = None
    moving_cbm: float | None = None  # the box as movers count it: taken apart, nested
    movable: bool = True
    note: str = ""
    failure: Failure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One page or one photo.

    `uri` is the file (or dataset shard) it comes from, `part` the page, frame or row in it,
    `document` the name its outputs carry (relative path of the input, or the dataset's name).
    """

    id: str
    uri: str
    document: str
    part: int = 0
    kind: Literal["page", "photo"] = "page"
    media: str = ""  # what the source found: "pdf", "image", "arrow", "parquet"
    attempt: int = 1
    width: int = 0
    height: int = 0
    dpi: float = 0.0  # of the picture, where known
    rotation: int = 0  # degrees clockwise the picture was turned to stand upright: 0, 90, 180, 270
    image: bytes | None = None  # encoded as found
    pixels: Pixels | None = None
    layer: Layer | None = None
    regions: tuple[Region, ...] = ()
    objects: tuple[PhotoObject, ...] = ()
    markdown: str = ""
    failure: Failure | None = None
