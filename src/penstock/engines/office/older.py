"""The older Office kinds and Outlook's mail, by packages of the extra `office`.

docvortex reads DOC, PPT and XLS and writes Markdown, python-oxmsg opens MSG. Neither runs macros or fetches
anything; both run in a process that can be killed and has nothing to lose.
"""

from __future__ import annotations

import importlib
from typing import Any

from penstock.engines.office.blocks import BlockFile, StructureBlock, in_units
from penstock.engines.office.html_blocks import html_blocks
from penstock.engines.office.markdown import markdown_blocks
from penstock.engines.office.text import decoded
from penstock.errors import BadInput, first_line, install_advice

MAX_PAGES = 20_000


def read_older(path: str, kind: str) -> BlockFile:
    """Returns a slide or a sheet as a unit, and a text in units of bounded size. Raises BadInput."""
    docvortex = _needed("docvortex", kind)
    try:
        document = docvortex.parse(path, file_suffix=kind).middle_json
        pages = [document.model_copy(update={"pages": [page]}) for page in document.pages[:MAX_PAGES]]
        texts = [decoded(docvortex.render_artifact(page, "markdown").content) for page in pages]
    except Exception as exc:  # foreign code on foreign bytes: whatever it raises, the file cannot be read
        raise BadInput(f"it is no {kind.upper()} that can be read: {first_line(exc)}.") from exc
    return BlockFile([unit for text in texts for unit in in_units(markdown_blocks(text))])


def read_msg(path: str) -> BlockFile:
    """Returns the mail's fields, its text, and the names of its attachments. Raises BadInput."""
    oxmsg = _needed("oxmsg", "msg")
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


def _needed(name: str, kind: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as exc:
        raise BadInput(f"reading {kind.upper()} needs {name}.", install_advice("office")) from exc
