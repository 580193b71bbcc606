"""Says in Python's terms what a message says in the shell's: `dpi=300`, not `--dpi 300`.

Messages are written once, for the command line. This is the one place where those that a Python program
gets are translated: errors as they leave `penstock.convert` and its like, and the failures of pages.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from typing import TypeVar

from penstock.errors import Failure, PenstockError
from penstock.item import Item
from penstock.options.typed import (
    EmbedSettings,
    EnrichSettings,
    ExtractSettings,
    RunSettings,
    VolumesSettings,
)

ItemT = TypeVar("ItemT", bound=Item)

_SETTINGS = (RunSettings, EnrichSettings, ExtractSettings, EmbedSettings, VolumesSettings)
_OWN = "out crop_names data top"
_LISTS = {"box": "boxes", "depth": "depths", "known": "known"}  # options that are given several times
NAMES = {name for kind in _SETTINGS for name in kind.__annotations__} | set(_OWN.split()) | set(_LISTS)
FLAGS = frozenset({
    "crops", "polygons", "layout_nms", "layout_compile", "crop_mode", "trust_remote_code", "images",
    "retry_failed", "fresh",
})  # fmt: skip
# words that follow an option and are not its value
FOLLOWING = (
    "and|are|asks|differ|each|first|for|forbids|has|have|if|in|is|its|needs|of|on|only|or|out|say|says|"
    "several|take|takes|to|where|with|if|that|twice"
)
_VALUE = r"""'[^']*'|"[^"]*"|\S*[^\s.,;:)]"""
_SHELL = re.compile(
    r"(?P<command>\b(?:penstock|vllm|hf|pip) [a-z]+[^.;`]*)"
    r"|--(?P<no>no-)?(?P<name>[a-z][a-z0-9-]*[a-z0-9])"
    rf"(?:[ =](?P<value>(?!(?:{FOLLOWING}|--\S*)[\s.,;:)]|(?:{FOLLOWING})$)(?:{_VALUE})))?"
)


def python_terms(text: str) -> str:
    """Returns the text with our options as Python's arguments. Commands and others' options stay.

    >>> python_terms("--lang xx is not known. Leave --no-crops out.")
    "lang='xx' is not known. Leave crops=False out."
    """
    return _SHELL.sub(_argument, text)


def _argument(found: re.Match[str]) -> str:
    name = (found["name"] or "").replace("-", "_")
    refused = found.string[: found.start()].endswith("does not take ")
    if found["command"] or not (name in NAMES or refused):
        return found[0]
    value = found["value"]
    if name in FLAGS:
        return f"{name}={not found['no']}{f' {value}' if value else ''}"
    if value is None:
        return f"{_LISTS[name]}=[...]" if name in _LISTS else f"`{name}`"
    shown = value if re.fullmatch(r"-?\d+(\.\d+)?|'.*'|\".*\"", value) else repr(value)
    return f"{_LISTS[name]}=[{shown}]" if name in _LISTS else f"{name}={shown}"


@contextmanager
def in_python_terms() -> Iterator[None]:
    """Lets errors of ours pass, in Python's terms."""
    try:
        yield
    except PenstockError as exc:
        exc.message, exc.advice = python_terms(exc.message), python_terms(exc.advice)
        raise


def items_in_python_terms(items: Iterator[ItemT]) -> Generator[ItemT, None, None]:
    """Yields the items; what failed says why in Python's terms. Closing it ends the run behind `items`."""
    with in_python_terms(), closing(items) if isinstance(items, Generator) else nullcontext():
        for item in items:
            yield item if item.failure is None else replace(item, failure=_restated(item.failure))


def _restated(failure: Failure) -> Failure:
    return replace(failure, message=python_terms(failure.message), advice=python_terms(failure.advice))
