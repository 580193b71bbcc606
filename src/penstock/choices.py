"""Words that an option is one of, in a module that loads nothing: `penstock parse --help` needs them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from penstock.errors import UsageError

FlattenUse = Literal["auto", "off", "always"]  # of photographs of pages
LayerUse = Literal["auto", "always", "never"]  # of a PDF's own text
Merge = Literal["large", "small", "union"]  # of boxes inside boxes
OfficeUse = Literal["auto", "structure", "pages", "both"]  # of files that say themselves what they hold
PassageUnit = Literal["chunk", "page", "region"]  # what a document is cut into for retrieval
SecondReading = Literal["none", "builtin"]  # of what a served model reads: who reads it, too
Precision = Literal["fp32", "fp16", "bf16"]  # of the layout network
Unprinted = Literal["keep", "drop", "all"]  # what an Office file holds and does not show: comments, formulas
Prompts = Literal[
    "glm-ocr", "paddleocr-vl", "openai"
]  # whose words a server that reads regions is asked with


def check_choice(option: str, word: str, words: Iterable[str]) -> None:
    """Raises UsageError for a word that is none of an option's."""
    if word not in (known := tuple(words)):
        raise UsageError(f"{option} {word} is not known.", f"Choose from: {', '.join(known)}.")
