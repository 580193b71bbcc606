"""What DeepSeek-OCR models can be asked about a page, in the words they were taught.

The model is sensitive to its words: these are the authors' own. The server or the processor sets the
picture before them, so a prompt has no `<image>`. The second model was taught `markdown` and `free` only.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from penstock.choices import check_choice
from penstock.errors import UsageError

PROMPTS: Mapping[str, str] = MappingProxyType(
    {
        "markdown": "<|grounding|>Convert the document to markdown.",  # blocks with labels and boxes
        "ocr": "<|grounding|>OCR this image.",  # lines with boxes
        "free": "Free OCR.",  # text without boxes
        "figure": "Parse the figure.",
        "describe": "Describe this image in detail.",
    }
)
MARKDOWN, FREE = PROMPTS["markdown"], PROMPTS["free"]
_LOCATE = "Locate <|ref|>{}<|/ref|> in the image."
_PICTURE = "<image>"


def prompt_words(mode: str = "", own: str = "", locate: str = "") -> str:
    """Returns the words to send: those of a mode, the user's own, or those that ask where something is."""
    if sum(map(bool, (mode, own, locate))) > 1:
        raise UsageError("--prompt-mode, --prompt and --locate each say what is asked.", "Give one of them.")
    if own:
        return _own(own)
    if locate:
        return _locate(locate)
    mode = mode or "markdown"
    check_choice("--prompt-mode", mode, PROMPTS)
    return PROMPTS[mode]


def _own(prompt: str) -> str:
    """The model's card writes the picture's place into the prompt; here it always comes first."""
    words = prompt.strip().removeprefix(_PICTURE).strip()
    if not words or _PICTURE in words:
        raise UsageError(f"--prompt {prompt!r} has no words.", f"Write words; {_PICTURE} is set before them.")
    return words


def _locate(wanted: str) -> str:
    if not wanted.strip() or "<|" in wanted:
        raise UsageError(f"--locate {wanted!r} is not text of a page.", "Write the words to look for.")
    return _LOCATE.format(wanted.strip())


def is_of_pages(prompt: str) -> bool:
    """Returns whether a prompt wants all of a page, so that two halves or plain text are an answer too."""
    return prompt in (MARKDOWN, PROMPTS["ocr"], FREE)


def names_words(prompt: str) -> bool:
    """Whether the answer's anchors name words of the page; elsewhere they name classes: text, table, ..."""
    return prompt == PROMPTS["ocr"] or "<|ref|>" in prompt


def is_grounded(prompt: str) -> bool:
    """Whether the answer of a page that is not empty has blocks with boxes."""
    return prompt.startswith("<|grounding|>")
