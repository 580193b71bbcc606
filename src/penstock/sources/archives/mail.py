"""Reads the attachments of mails: documents of their own, named after their mail."""

from __future__ import annotations

import email
import email.policy
import importlib
from collections.abc import Iterator
from email.message import EmailMessage
from email.utils import parsedate_to_datetime
from pathlib import Path, PurePosixPath
from typing import Any

from penstock.sources.archives.members import MAX_MEMBER_BYTES, LeftOut, Member, is_document

MAX_MAIL_BYTES = 512 << 20
MAX_PARTS = 2_000


def eml_members(path: str) -> Iterator[Member | LeftOut]:
    """Yields the attachments of a mail; nothing where it cannot be read: the row of the mail says so."""
    if Path(path).stat().st_size > MAX_MAIL_BYTES:
        return
    message = email.message_from_bytes(Path(path).read_bytes(), policy=email.policy.default)
    if not isinstance(message, EmailMessage) or not message.is_multipart():
        return
    modified = _sent(message)
    for number, part in enumerate(message.iter_attachments()):
        if number >= MAX_PARTS:
            return
        yield _attached(part, number, modified)


def _attached(part: Any, number: int, modified: float) -> Member | LeftOut:
    try:
        name = part.get_filename() or f"attachment-{number + 1}"
        if part.get_content_type() == "message/rfc822":
            data = part.get_payload(0).as_bytes()
            name = name if name.lower().endswith(".eml") else f"{name}.eml"
        else:
            data = part.get_payload(decode=True) or b""
    except (ValueError, LookupError, TypeError, AttributeError):  # a part that is not what it says
        return LeftOut("damaged part")
    return _member(name, data, modified)


def msg_members(path: str) -> Iterator[Member | LeftOut]:
    """Yields the attachments of one of Outlook's mails, as `eml_members` does."""
    try:
        oxmsg = importlib.import_module("oxmsg")
        message = oxmsg.Message.load(path)
        attached = list(message.attachments)[:MAX_PARTS]
        sent = message.sent_date
    except Exception:  # foreign code on foreign bytes: the row of the mail says what is wrong
        return
    modified = sent.timestamp() if sent is not None else 0.0
    for number, part in enumerate(attached):
        yield _member(part.file_name or f"attachment-{number + 1}", part.file_bytes or b"", modified)


def _member(name: str, data: bytes, modified: float) -> Member | LeftOut:
    if len(data) > MAX_MEMBER_BYTES:
        return Member(name, modified, problem=f"is larger than {MAX_MEMBER_BYTES:,} bytes.")
    if data and is_document(data, name, with_text=True):
        return Member(name, modified, data)
    return LeftOut(PurePosixPath(name).suffix.lower() or "no ending")


def _sent(message: EmailMessage) -> float:
    """Returns when it was sent, so that pages of its attachments have the same ids on every machine."""
    try:
        return parsedate_to_datetime(str(message["Date"])).timestamp()
    except (ValueError, TypeError, OverflowError, OSError):
        return 0.0
