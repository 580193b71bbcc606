"""DocJSON files: written while pages stream by, read back without loss.

Each list of the document is spooled to its own temporary file and the parts are laid end to end, so a
file of any length takes the memory of one page.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from pydantic import BaseModel, ValidationError

from penstock.documents.docjson.assemble import Assembler
from penstock.documents.docjson.model import DocJSON
from penstock.documents.docjson.spool import Spool, spools
from penstock.errors import BadInput
from penstock.page import Page

LISTS = ("pages", "blocks", "sections", "relations", "joins", "assets", "chunks")


def write(file: IO[bytes], assembler: Assembler, items: Iterable[Page], folder: Path | None = None) -> None:
    """Writes the document of `items` while they stream by. Long lists wait in `folder`."""
    with spools(LISTS, folder) as lists:
        for item in items:
            piece = assembler.page(item)
            _add(lists["pages"], [piece.page])
            for name in ("blocks", "relations", "joins", "assets", "chunks"):
                _add(lists[name], getattr(piece, name))
        tail = assembler.finish()
        for name in ("sections", "joins", "chunks"):
            _add(lists[name], getattr(tail, name))
        _lay_out(file, assembler.head(), lists)


def _add(spool: Spool, things: Iterable[BaseModel]) -> None:
    spool.add([_line(thing) for thing in things])


def read(path: Path) -> DocJSON:
    """Returns the document of a DocJSON file. Raises BadInput with the first thing that is wrong."""
    try:
        return DocJSON.model_validate_json(path.read_bytes())
    except ValidationError as exc:
        first = exc.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise BadInput(f"{path} is not DocJSON: {where}: {first['msg']}.") from exc


def _lay_out(file: IO[bytes], head: DocJSON, spools: dict[str, Spool]) -> None:
    for place, name in enumerate(DocJSON.model_fields):
        file.write(b"{" if place == 0 else b",\n")
        if name in spools:
            file.write(f'"{name}":[\n'.encode())
            spools[name].pour(file)
            file.write(b"\n]")
        else:
            file.write(_field(head, name))
    file.write(b"}\n")


def _field(doc: DocJSON, name: str) -> bytes:
    value = doc.model_dump(mode="json", include={name})[name]
    return f'"{name}":{json.dumps(value, ensure_ascii=False)}'.encode("utf-8", "replace")


def _line(thing: BaseModel) -> bytes:
    return thing.model_dump_json(exclude_defaults=True).encode("utf-8", "replace")
