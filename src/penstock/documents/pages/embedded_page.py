"""A page or a query on its way to vectors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from penstock.item import PictureItem


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorPart:
    """A region that gets a vector of its own. `words` are its caption and, of a table, its text."""

    index: int
    label: str
    words: str
    crop_path: str | None = None
    vector: bytes | None = field(default=None, repr=False)  # float32, little-endian
    seen: str = ""  # "image" or "text": what the vector was made from


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedPage(PictureItem):
    """What is embedded of a page or a query, and its vectors. `digest` is of all that is embedded."""

    listed: ClassVar[frozenset[str]] = PictureItem.listed | {"text", "digest", "parts", "rotation"}

    text: str = ""
    digest: str = ""
    parts: tuple[VectorPart, ...] = ()
    image_vector: bytes | None = field(default=None, repr=False)
    text_vector: bytes | None = field(default=None, repr=False)
