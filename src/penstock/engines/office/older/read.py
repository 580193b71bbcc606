"""The older Office kinds and Outlook's mail, by packages of the extra `office`.

docvortex reads DOC, PPT and the XLS of before 1997 and writes Markdown, python-oxmsg opens MSG. Neither runs
macros or fetches anything; both run in a process that can be killed and has nothing to lose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from penstock.engines.office.blocks import HIDDEN_TEXT, BlockFile, StructureBlock, as_hidden, in_units
from penstock.engines.office.html_blocks import html_blocks, no_picture
from penstock.engines.office.markdown import markdown_blocks
from penstock.engines.office.older.doc_records import doc_records
from penstock.engines.office.older.packages import needed
from penstock.engines.office.older.ppt_records import ppt_records
from penstock.engines.office.text import decoded
from penstock.errors import BadInput, first_line

MAX_PAGES = 20_000
NOTE = "page_footnote"  # a kind of block
Pages = list[list[StructureBlock]]


def read_older(path: str, kind: str) -> BlockFile:
    """Returns a slide or a sheet as a unit, and a text in units of bounded size. Raises BadInput."""
    docvortex = needed("docvortex", kind)
    try:
        found = docvortex.parse(path, file_suffix=kind)
        document = found.middle_json
        texts = [_rendered(docvortex, document, page) for page in document.pages[:MAX_PAGES]]
        pictures = dict(found.assets)
    except Exception as exc:  # foreign code on foreign bytes: whatever it raises, the file cannot be read
        raise BadInput(f"it is no {kind.upper()} that can be read: {first_line(exc)}.") from exc
    mark = "speaker_notes" if kind == "ppt" else "footnote"
    pages = [
        markdown_blocks(text, lambda name: pictures.get(name) or no_picture(name)) + _notes(notes, mark)
        for text, notes in texts
    ]
    pages = RECORDS[kind](path, pages) if pages and kind in RECORDS else pages
    return BlockFile([unit for page in pages for unit in in_units(page)])


def _rendered(docvortex: Any, document: Any, page: Any) -> tuple[str, str]:
    """Returns a page and its notes, both as Markdown."""
    parts: tuple[list[Any], list[Any]] = ([], [])
    for block in page.blocks:
        parts[block.type == NOTE].append(block)
    pages = (page.model_copy(update={"blocks": part}) for part in parts)
    alone = (document.model_copy(update={"pages": [each]}) for each in pages)
    text, notes = (decoded(docvortex.render_artifact(each, "markdown").content) for each in alone)
    return text, notes


def _notes(text: str, mark: str) -> list[StructureBlock]:
    return [replace(block, label="footnote", mark=mark) for block in markdown_blocks(text)]


def _with_slide_records(path: str, pages: Pages) -> Pages:
    """Returns the slides with their comments; those that are hidden are marked."""
    said = ppt_records(path)
    if len(said) != len(pages):  # which is of which slide is not known
        return pages
    return [
        [*(as_hidden(page, "hidden_slide") if one.is_hidden else page), *_asides(one.comments, "comment")]
        for one, page in zip(said, pages, strict=True)
    ]


def _with_text_records(path: str, pages: Pages) -> Pages:
    """Returns the pages. Comments, deleted and hidden words come last: their place is not known."""
    said = doc_records(path)
    marks = (("deleted", said.deleted), (HIDDEN_TEXT, said.hidden), ("comment", said.comments))
    return [*pages[:-1], [*pages[-1], *(block for mark, texts in marks for block in _asides(texts, mark))]]


def _asides(texts: Iterable[str], mark: str) -> list[StructureBlock]:
    return [StructureBlock(label="aside_text", text=text, mark=mark) for text in texts]


RECORDS: Mapping[str, Callable[[str, Pages], Pages]] = {
    "ppt": _with_slide_records, "doc": _with_text_records,
}  # fmt: skip


def read_msg(path: str) -> BlockFile:
    """Returns the mail's fields, its text, and the names of its attachments. Raises BadInput."""
    oxmsg = needed("oxmsg", "msg")
    try:
        message = oxmsg.Message.load(path)
        blocks = list(_mail_blocks(message))
    except Exception as exc:  # as above
        raise BadInput(f"it is no mail that can be read: {first_line(exc)}.") from exc
    return BlockFile(in_units(blocks))


def _mail_blocks(message: Any) -> list[StructureBlock]:
    blocks = [StructureBlock(label="doc_title", text=message.subject)] if message.subject else []
    to = ", ".join(f"{each.name} <{each.email_address}>" for each in message.recipients)
    fields = (("From", message.sender), ("To", to), ("Date", message.sent_date))
    lines = [f"{name}: {value}" for name, value in fields if value]
    blocks += [StructureBlock(label="text", text="\n".join(lines), mark="fields")] if lines else []
    if message.body:
        texts = str(message.body).replace("\r\n", "\n").split("\n\n")
        blocks += [StructureBlock(label="text", text=text.strip("\n")) for text in texts if text.strip()]
    elif message.html_body:
        blocks += html_blocks(str(message.html_body))
    names = (each.file_name or "unnamed" for each in message.attachments)
    return blocks + [
        StructureBlock(label="aside_text", text=f"Attachment: {n}", mark="attachment") for n in names
    ]
