"""Answers to an agent: short texts that say how to get the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penstock.documents.formats.markdown import relink
from penstock.exports.inventory import Inventory, InventoryLine, failures, is_thing_unsure, likely
from penstock.exports.located import Located
from penstock.page import Page
from penstock.region import FROM_FILE, Region, plain_label
from penstock.retrieval.hits import Hit
from penstock.serve.reading.progress import Status
from penstock.trace.phrases import plural

CHARS, MAX_CHARS = 8_000, 20_000  # of an answer: some 2,000 and 5,000 tokens of English
MAX_FAILED = 5  # pages whose reasons are given
MAX_REGIONS = 200  # listed of one page
SHOWN = 60  # characters of a region in a list


def cut(text: str, start: int, chars: int, more: str) -> str:
    """Returns a piece of a text; where it does not end there, says how to go on. `more` has a {start}."""
    end = start + chars
    piece = text[start:end]
    if start and start >= len(text):
        return f"[The text has {len(text)} characters: there is nothing at {start}.]"
    if end >= len(text):
        return piece
    return f"{piece}\n\n[{end} of {len(text)} characters. Go on: {more.format(start=end)}]"


def page_markdown(page: Page) -> str:
    """Returns a page's Markdown without links: an agent gets pictures by their region."""
    if page.failure is not None:
        return f"[This page could not be read: {page.failure.message} {page.failure.advice}".rstrip() + "]"
    return relink(page.markdown, [path for one in page.regions if (path := one.crop_path)], None)


def page_answer(page: Page, pages: int | None, start: int, chars: int) -> str:
    of = f" of {pages}" if pages else ""
    head = f"{page.document}, page {page.number}{of}: {plural(len(page.regions), 'region')}."
    call = f'read_page(document="{page.document}", page={page.number}, start={{start}})'
    return f"{head}\n\n{cut(page_markdown(page), start, chars, call)}"


def regions_answer(page: Page) -> str:
    """Lists a page's regions: number, kind, box on a grid of 1,000 each way, and how they begin."""
    lines = [_region_line(region, page) for region in page.regions[:MAX_REGIONS]]
    if len(page.regions) > MAX_REGIONS:
        lines.append(f"[{len(page.regions) - MAX_REGIONS} more regions.]")
    return "\n".join(["number, kind, box (left, top, right, bottom of 1000), text", *lines])


def region_answer(page: Page, region: Region, start: int, chars: int) -> str:
    sure = _sure(region.confidence, region.reader)
    box = region.bbox_2d(page.width, page.height)
    what = f"{plain_label(region.label)}, box {box}{sure}"
    place = page.locator.at_region(region.index)
    head = f"{page.document}, page {page.number}, region {region.index}: {what}. Locator: {place}"
    text = region.content or f"[{region.note or 'It has no text.'} For its picture: picture=true.]"
    call = (
        f'read_region(document="{page.document}", page={page.number}, region={region.index}, start={{start}})'
    )
    return f"{head}\n\n{cut(text, start, chars, call)}"


def _sure(confidence: float | None, reader: str) -> str:
    if confidence is not None:
        return f", confidence {confidence:.2f}"
    return ", from the file" if reader.startswith(FROM_FILE) else ""


def located_answer(found: Located, chars: int) -> str:
    """Says what stands at an address: where it is, how sure it is, and its text."""
    place = "" if found.page is None else f", page {found.page}"
    region = "" if found.region is None else f", region {found.region} ({plain_label(found.label)})"
    box = "" if found.bbox is None else f", box {list(found.bbox)}"
    sure = _sure(found.confidence, found.reader)
    head = f"{found.kind} of {found.document}{place}{region}{box}{sure}. Locator: {found.locator}"
    return f"{head}\n\n{cut(found.text or '[It has no text.]', 0, chars, 'a larger max_chars')}"


def document_answer(status: Status, pages: Iterable[Page], chars: int) -> str:
    """Tells how far a document is, and begins with its Markdown."""
    parts, left = [_progress(status)], chars
    failed: list[str] = []
    for page in pages:
        if page.failure is not None and len(failed) < MAX_FAILED:
            failed.append(f"Page {page.number} failed: {page.failure.message}")
        if left <= 0:
            continue
        text = page_markdown(page)
        parts.append(f"<!-- page {page.number} -->\n\n{_page_piece(page, text, left)}")
        left -= len(text)
    parts[1:1] = failed
    if left <= 0:
        parts.append(
            f'[Cut after {chars} characters. Any page: read_page(document="{status.name}", page=N).]'
        )
    return "\n\n".join(parts)


def documents_answer(found: Sequence[Status], start: int, is_more: bool) -> str:
    if not found:
        return "There is no document yet. Read one with parse."
    lines = [_progress(status) for status in found]
    more = [f"[More: list_documents(start={start + len(found)})]"] if is_more else []
    return "\n".join([*lines, *more])


def hits_answer(hits: Sequence[Hit], chars: int) -> str:
    if not hits:
        return "Nothing was found."
    return cut(
        "\n".join(map(_hit_line, range(1, len(hits) + 1), hits)), 0, chars, "search with a smaller top"
    )


def things_answer(found: Inventory) -> str:
    """Tells the things of a photo, one a line, and the totals."""
    lines = [f"Failed: {name}: {reason}" for name, reason in failures(found)]
    lines += [_thing_line(line) for line in found.lines]
    if not any(line.counted for line in found.lines):
        return "\n".join([*lines, 'Nothing was measured. Say where a thing is: boxes=["x,y,w,h:label"].'])
    moving = found.moving
    return "\n".join(
        [
            *lines,
            f"Boxes as they stand: {found.boxes.cbm:.2f} m³.",
            f"To move: {moving.cbm:.2f} m³, likely {moving.low:.2f} to {moving.high:.2f} m³"
            f"{', unsure' if moving.is_unsure else ''}.",
        ]
    )


def _progress(status: Status) -> str:
    if status.ready:
        pages = plural(status.pages or 0, "page")
        failed = f", {status.failed} failed" if status.failed else ""
        return f"{status.name}: {pages}, all read{failed}."
    of = "" if status.pages is None else f" of {status.pages}"
    return (
        f"{status.name}: {status.done + status.failed}{of} pages are read so far. To wait, call parse again."
    )


def _page_piece(page: Page, text: str, left: int) -> str:
    if len(text) <= left:
        return text
    return (
        f'{text[:left]}\n\n[Go on: read_page(document="{page.document}", page={page.number}, start={left})]'
    )


def _region_line(region: Region, page: Page) -> str:
    text = " ".join((region.content or "").split())
    short = text if len(text) <= SHOWN else text[:SHOWN] + "…"
    return f"{region.index}, {plain_label(region.label)}, {region.bbox_2d(page.width, page.height)}, {short}"


def _hit_line(place: int, hit: Hit) -> str:
    region = "" if hit.region is None else f", region {hit.region} ({plain_label(hit.label or 'text')})"
    section = f", under {hit.section}" if hit.section else ""
    words = " ".join(hit.snippet.split())
    return f"{place}. {hit.document}, page {hit.page}{region}{section}\n   {words}\n   Locator: {hit.locator}"


def _thing_line(line: InventoryLine) -> str:
    thing = line.thing
    head = f"{line.number}. {thing.label}, box {[round(value) for value in thing.box]}"
    if thing.size is None or thing.bbox_cbm is None:
        return f"{head}: {thing.note or 'not measured'}"
    size = " x ".join(f"{side:.2f}" for side in thing.size)
    between = f", likely {likely(thing)}" if likely(thing) else ""
    unsure = ", unsure" if is_thing_unsure(thing) else ""
    return f"{head}: {size} m (width, depth, height), {thing.bbox_cbm:.2f} m³{between}{unsure}"
