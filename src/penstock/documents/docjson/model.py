"""DocJSON: one document as data, whichever recipe read it.

Blocks of seven categories in reading order, sections as ranges of them, captions and references as
relations, tables as cells, and chunks for retrieval. Version 1.0; `docjson.schema.json` next to this file
is its JSON Schema. `DocJSON.model_validate_json(text)` reads a file back without loss.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

VERSION = "1.0"

Category = Literal[
    "text_header", "text_section", "text_paragraph", "table", "graph", "diagram", "complex_image"
]
VisualCategory = Literal["table", "graph", "diagram", "complex_image"]
CategorySource = Literal["label", "rule", "model"]
# "furniture" is the format's word, here and in `Block.layer`, for what stands in the margins: headers,
# footers, page numbers (Docling says so too). Code calls these regions margins.
Role = Literal["", "caption", "footnote", "formula", "list", "reference", "code", "contents", "furniture"]
PageStatus = Literal["ok", "partial", "failed"]
RelationType = Literal["caption_of", "footnote_of", "continues", "refers_to"]
ChunkKind = Literal["text", "table", "visual"]
Norm = tuple[int, int, int, int]  # on the 0..999 grid of the page
Pixels = tuple[float, float, float, float]


class DocModel(BaseModel):
    """Unknown fields are mistakes: a later version says so in `schema_version`."""

    model_config = ConfigDict(extra="forbid")


class DocOrigin(DocModel):
    path: str = ""
    mimetype: str = ""
    page_count: int = 0  # pages in this document, read or failed


class Producer(DocModel):
    """What made it: enough to make it again."""

    version: str = ""  # of Penstock
    recipe: str = ""
    fingerprint: str = ""
    model: str = ""
    enrich_fingerprint: str = ""


class Attempt(DocModel):
    """One try at a page. `finish_reason` is the server's: stop, length, repetition, or error."""

    n: int
    way: str  # what was asked: page, other guard, smaller, text only, halves
    finish_reason: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    ms: float = 0.0
    issues: list[str] = Field(default_factory=list)


class Quality(DocModel):
    box_issues: int = 0
    unlabelled_chars: int = 0
    failed_blocks: int = 0
    mean_confidence: float | None = None


class DocPage(DocModel):
    page_no: int  # from 1
    page_id: str
    locator: str = ""
    width_px: int = 0
    height_px: int = 0
    dpi: float = 0.0
    rotation: int = 0
    flattened: str = ""  # what was done to a photograph of a page before it was read
    status: PageStatus = "ok"
    reason: str = ""  # why it is partial or failed
    attempts: list[Attempt] = Field(default_factory=list)
    raw_output_path: str = ""
    quality: Quality = Field(default_factory=Quality)


class BBox(DocModel):
    norm999: Norm
    px: Pixels


class Cell(DocModel):
    """A cell. Its locator leads to where it was read, also from a table that was put together over pages."""

    locator: str = ""
    r: int
    c: int
    rs: int = 1
    cs: int = 1
    text: str = ""
    is_header: bool = False
    bbox: BBox | None = None  # where it is known
    confidence: float | None = None
    inner: list[str | list[Cell]] = []  # texts and tables in order, where it holds a table; `text` says all


class Table(DocModel):
    num_rows: int = 0
    num_cols: int = 0
    cells: list[Cell] = Field(default_factory=list)
    html: str = ""  # only where it is not one plain table, so that `cells` cannot say it
    is_complex: bool = False
    complexity_reasons: list[str] = Field(default_factory=list)


class BilingualText(DocModel):
    ko: str = ""
    en: str = ""


class Keywords(DocModel):
    ko: list[str] = Field(default_factory=list)
    en: list[str] = Field(default_factory=list)


class Enrichment(DocModel):
    """Pass 2. `flags` name what a reader should doubt, such as numbers that the content does not hold."""

    summary: BilingualText = Field(default_factory=BilingualText)
    keywords: Keywords = Field(default_factory=Keywords)
    items: list[str] = Field(default_factory=list)
    figure_type: str = ""
    visible: str = ""  # what a vision model said of the picture
    visible_model: str = ""  # which one that was
    method: Literal["none", "rule", "llm"] = "none"
    model: str = ""  # that wrote the summary; "" where rules did
    prompt_id: str = ""
    context_block_ids: list[str] = Field(default_factory=list)
    status: Literal["ok", "fallback", "failed"] = "ok"
    flags: list[str] = Field(default_factory=list)


class Block(DocModel):
    """One block. `doc_index` counts blocks of the body and of the margins together, in reading order."""

    id: str
    locator: str = ""
    doc_index: int
    page_no: int
    order: int
    category: Category
    category_source: CategorySource = "label"
    role: Role = ""
    native_label: str = ""
    label: str = ""
    layer: Literal["body", "furniture"] = "body"
    bbox: BBox
    text: str = ""
    text_format: Literal["plain", "html", "latex"] = "plain"
    level: int | None = None
    numbering: str = ""
    confidence: float | None = None
    reader: str = ""
    issues: list[str] = Field(default_factory=list)
    asset_id: str = ""
    caption_ids: list[str] = Field(default_factory=list)
    footnote_ids: list[str] = Field(default_factory=list)
    section_id: str = ""
    table: Table | None = None
    enrichment: Enrichment | None = None


class Section(DocModel):
    """A heading and what stands under it: the blocks with `span[0] <= doc_index < span[1]`."""

    id: str
    number: str = ""
    title: str
    level: int
    path: list[str]
    heading_block_id: str
    parent_id: str = ""
    span: tuple[int, int]
    page_span: tuple[int, int]


class Relation(DocModel):
    type: RelationType
    source: str
    target: str
    score: float = 1.0


class Join(DocModel):
    """A paragraph or table that a page break cut, whole again; its blocks keep their pages."""

    id: str
    kind: Literal["paragraph", "table"]
    block_ids: list[str]
    page_span: tuple[int, int]
    text: str
    table: Table | None = None


class DocAsset(DocModel):
    id: str
    block_id: str
    kind: Literal["crop"] = "crop"
    path: str  # relative to OUT; named by its content, or by its page where an export was asked for that
    sha256_24: str  # the first 24 hexadecimal digits of its content's hash


class ChunkPlace(DocModel):
    """A block of a chunk: the locator of its region, its page, its box there and how surely it was read."""

    locator: str
    page_no: int
    norm999: Norm
    confidence: float | None = None


class Chunk(DocModel):
    """A piece for retrieval. `block_ids` and `places` say where it comes from, `section_path` what it stands
    under."""

    id: str
    locator: str = ""
    kind: ChunkKind
    text: str
    block_ids: list[str]
    places: list[ChunkPlace] = Field(default_factory=list)
    section_path: list[str] = Field(default_factory=list)
    page_span: tuple[int, int]
    keywords: list[str] = Field(default_factory=list)
    asset_ids: list[str] = Field(default_factory=list)
    token_estimate: int = 0


class DocJSON(DocModel):
    """A whole document. Field order is file order: what is small and asked for first stands first."""

    schema_name: Literal["DocJSON"] = "DocJSON"
    schema_version: Literal["1.0"] = "1.0"
    doc_id: str
    name: str
    title: str = ""
    languages: list[str] = Field(default_factory=list)
    origin: DocOrigin = Field(default_factory=DocOrigin)
    producer: Producer = Field(default_factory=Producer)
    pages: list[DocPage] = Field(default_factory=list)
    blocks: list[Block] = Field(default_factory=list)
    sections: list[Section] = Field(default_factory=list)
    relations: list[Relation] = Field(default_factory=list)
    joins: list[Join] = Field(default_factory=list)
    assets: list[DocAsset] = Field(default_factory=list)
    chunks: list[Chunk] = Field(default_factory=list)
    counts: dict[str, int] = Field(default_factory=dict)  # blocks by category
