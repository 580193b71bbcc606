"""Pages as text for standard output, where no OUT keeps them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from penstock.errors import UsageError
from penstock.exports.page_rows import page_text, result_row
from penstock.page import Page


def page_writer(formats: Sequence[str]) -> Callable[[Page], str]:
    """Returns what makes text of a page. Raises UsageError for a format that is no text."""
    if len(formats) != 1 or formats[0] not in _WRITERS:
        raise UsageError(
            f"Standard output takes one of {', '.join(_WRITERS)}, not {','.join(formats)}.",
            "Name a folder for other formats: -o OUT.",
        )
    return _WRITERS[formats[0]]


def _markdown(page: Page) -> str:
    return f"{page.markdown.rstrip()}\n" if page.markdown.strip() else ""


def _json_line(page: Page) -> str:
    return json.dumps(result_row(page), ensure_ascii=False)


_WRITERS: dict[str, Callable[[Page], str]] = {"md": _markdown, "text": page_text, "jsonl": _json_line}
