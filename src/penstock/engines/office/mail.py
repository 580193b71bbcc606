"""Mail: its fields and its text. Attachments are named."""

from __future__ import annotations

import email
from collections.abc import Iterator
from email.message import EmailMessage
from email.policy import EmailPolicy
from itertools import islice
from typing import Any
from urllib.parse import unquote

from penstock.engines.office.blocks import BlockFile, StructureBlock, in_units
from penstock.engines.office.html_blocks import html_blocks, no_picture
from penstock.engines.office.text import decoded
from penstock.errors import BadInput

MAX_FIELD_CHARS = 4_000  # that are parsed: it takes time that grows with their square
FIELDS = ("From", "To", "Cc", "Date", "Subject")
MAX_PARTS = 2_000


def read_eml(data: bytes) -> BlockFile:
    """Returns the mail's subject as its title, its other fields, its text, and the names of attachments."""
    message = email.message_from_bytes(data, policy=_BoundedFields())
    if not isinstance(message, EmailMessage) or not message.keys():
        raise BadInput("it is no mail: it has no fields.")
    fields = {name: str(message.get(name, "")).strip() for name in FIELDS}
    blocks = [StructureBlock(label="doc_title", text=fields["Subject"])] if fields["Subject"] else []
    lines = [f"{name}: {fields[name]}" for name in FIELDS[:4] if fields[name]]
    blocks += [StructureBlock(label="text", text="\n".join(lines), mark="fields")] if lines else []
    blocks += _body(message)
    blocks += [
        StructureBlock(label="aside_text", text=f"Attachment: {name}", mark="attachment")
        for name in _attached(message)
    ]
    return BlockFile(in_units(blocks))


class _BoundedFields(EmailPolicy):
    """Python's policy for mail; a field that is too long stays as it is written."""

    def header_fetch_parse(self, name: str, value: str) -> Any:
        if len(value) <= MAX_FIELD_CHARS:
            return super().header_fetch_parse(name, value)
        if name.lower().startswith("content-"):  # what a part is, stands first
            return super().header_fetch_parse(name, value[:MAX_FIELD_CHARS])
        return " ".join(value.split())


def _body(message: EmailMessage) -> list[StructureBlock]:
    part = message.get_body(("html", "plain"))
    if part is None:
        return []
    data = part.get_payload(decode=True)
    text = decoded(data if isinstance(data, bytes) else b"", part.get_content_charset() or "")
    if part.get_content_type() == "text/html":
        return html_blocks(text, _MailPictures(message).picture)
    paragraphs = text.replace("\r\n", "\n").split("\n\n")
    return [StructureBlock(label="text", text=each.strip("\n")) for each in paragraphs if each.strip()]


class _MailPictures:
    """The pictures that a mail brings for its text, which names them by "cid:"."""

    def __init__(self, message: EmailMessage) -> None:
        self._message = message
        self._found: dict[str, bytes] | None = None

    def picture(self, source: str) -> bytes:
        if not source.lower().startswith("cid:"):
            return no_picture(source)
        if self._found is None:
            self._found = dict(self._named())
        return self._found.get(unquote(source[4:]), b"")

    def _named(self) -> Iterator[tuple[str, bytes]]:
        for part in islice(self._message.walk(), MAX_PARTS):
            id = str(part.get("Content-ID", "")).strip().strip("<>")
            data = part.get_payload(decode=True) if id and part.get_content_maintype() == "image" else None
            if isinstance(data, bytes):
                yield id, data


def _attached(message: EmailMessage) -> list[str]:
    parts = list(message.iter_attachments())[:MAX_PARTS] if message.is_multipart() else []
    return [part.get_filename() or part.get_content_type() for part in parts]
