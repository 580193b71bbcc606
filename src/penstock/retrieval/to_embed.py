"""What the embedding pass keeps of a page, and what it embeds of one.

Its rows lie in OUT/embed, like parsing's in OUT: an id, a digest of all that was embedded, the vectors.
A page that was read again since has another digest and is embedded again, under its next attempt.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.documents.pages.embedded_page import EmbeddedPage, VectorPart
from penstock.exports.page_rows import page_text
from penstock.page import Page
from penstock.region import MARGIN_LABELS, PICTURE_LABELS, Region, content_name
from penstock.stages.embed import EmbeddedRegions
from penstock.store.ledger import ITEMS_DIR, Entry
from penstock.store.out import Out
from penstock.store.schema import KEY, Rows
from penstock.store.shard_names import shards_in

PAGES_HOME, QUERIES_HOME = "embed/pages", "embed/queries"
PART_LABELS = (PICTURE_LABELS - {"header_image", "footer_image", "seal"}) | {"table"}
MIN_CHARS = 15  # of a paragraph worth a vector: page numbers and list marks are not
FAR = 0.08  # of the page's height: a caption stands right above or below what it names

_PART = pa.struct(
    [("index", pa.int32()), ("label", pa.string()), ("seen", pa.string()), ("vector", pa.binary())]
)
SCHEMA = pa.schema(
    [
        *KEY,
        ("num_failed_regions", pa.int32()),
        ("digest", pa.string()),
        ("image_vector", pa.binary()),
        ("text_vector", pa.binary()),
        ("parts", pa.list_(_PART)),
    ]
)


_VECTORS = ("digest", "image_vector", "text_vector")


def _columns(item: EmbeddedPage) -> dict[str, Any]:
    parts = [{field.name: getattr(part, field.name) for field in _PART} for part in item.parts]
    return {**{name: getattr(item, name) for name in _VECTORS}, "parts": parts}


def _fields(row: dict[str, Any]) -> dict[str, Any]:
    parts = tuple(VectorPart(words="", **part) for part in row["parts"])
    return {**{name: row[name] for name in _VECTORS}, "parts": parts}


VECTORS: Rows[EmbeddedPage] = Rows(SCHEMA, EmbeddedPage, _columns, _fields)


def list_pages(out: Out, regions: EmbeddedRegions = "visual") -> Iterator[EmbeddedPage]:
    """Yields every page of OUT with what is to be embedded, in source order; anew where that has changed."""
    known = _digests(out / PAGES_HOME)
    ledger = out.pages
    for entry in page_entries(out):
        yield _later(to_embed(ledger.item(entry), regions), known)


def list_queries(out: Out, queries: Iterable[tuple[str, str]]) -> Iterator[EmbeddedPage]:
    """Queries (id, text) as items, in their order."""
    known = _digests(out / QUERIES_HOME)
    for place, (id, text) in enumerate(queries):
        item = EmbeddedPage(
            id=id, uri="", document="queries", part=place, text=text, digest=digest_of([text])
        )
        yield _later(item, known)


def _later(item: EmbeddedPage, known: dict[str, tuple[int, str]]) -> EmbeddedPage:
    attempt, digest = known.get(item.id, (0, item.digest))
    return item if digest == item.digest else replace(item, attempt=attempt + 1)


def _digests(home: Path) -> dict[str, tuple[int, str]]:
    """Returns the latest attempt of each id with the digest of what it embedded."""
    found: dict[str, tuple[int, str]] = {}
    for shard in shards_in(home / ITEMS_DIR):
        columns = pq.read_table(shard, columns=["id", "attempt", "digest"]).to_pydict()
        for id, attempt, digest in zip(*columns.values(), strict=True):
            if attempt >= found.get(id, (0, ""))[0]:
                found[id] = (attempt, digest)
    return found


def page_entries(out: Out) -> list[Entry]:
    """Returns every page's entry in source order."""
    out.need_rows()
    return out.entries()


def to_embed(page: Page, regions: EmbeddedRegions = "visual") -> EmbeddedPage:
    """Returns the page without its regions: their words go along, as far as they are embedded.

    "visual" takes charts, tables and pictures; "all" every paragraph too.
    """
    names = ("id", "uri", "document", "part", "media", "rotation", "failure")
    same = {name: getattr(page, name) for name in names}
    if page.failure is not None:
        return EmbeddedPage(**same)
    text = page_text(page)
    parts = tuple(_part(region, page) for region in page.regions if _is_part(region, regions))
    shown = [f"{part.index}\0{part.label}\0{part.words}\0{part.crop_path}" for part in parts]
    return EmbeddedPage(**same, text=text, parts=parts, digest=digest_of([text, str(page.rotation), *shown]))


def _is_part(region: Region, regions: EmbeddedRegions) -> bool:
    if region.label in PART_LABELS:
        return True
    is_text = region.label not in MARGIN_LABELS and len(region.content or "") >= MIN_CHARS
    return regions == "all" and is_text


def _part(region: Region, page: Page) -> VectorPart:
    caption = caption_of(region, page) if region.label in PART_LABELS else ""
    words = "\n".join(filter(None, [caption, plain_text(region.content or "")]))
    return VectorPart(index=region.index, label=region.label, words=words, crop_path=region.crop_path)


def caption_of(region: Region, page: Page) -> str:
    """Returns the nearest figure title right above or below the region, or nothing."""
    left, top, right, bottom = region.box
    near: list[tuple[float, str]] = []
    for other in page.regions:
        if other.label != "figure_title" or not other.content:
            continue
        gap = max(other.box[1] - bottom, top - other.box[3])
        if gap <= FAR * page.height and other.box[0] < right and left < other.box[2]:
            near.append((gap, other.content))
    return min(near)[1] if near else ""


def plain_text(content: str) -> str:
    """Returns a table's words without its tags."""
    return html.unescape(re.sub(r"<[^>]*>", " ", content)).strip() if "<t" in content else content


def digest_of(parts: Iterable[str]) -> str:
    """A short name for these texts in this order; equal texts have equal names."""
    return content_name("\1".join(parts).encode("utf-8", "replace"))
