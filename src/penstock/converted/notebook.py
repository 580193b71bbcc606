"""A converted document as a notebook shows it.

A document is a stranger's: its words and its name are escaped, and nothing of it is fetched or run.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from penstock.converted.outline import page_text
from penstock.page import Page

MAX_SHOWN_CHARS = 4000  # of a page
_BOX = "border:1px solid #8888;border-radius:4px;padding:0 12px;margin:8px 0;max-height:24em;overflow:auto"


def document_html(name: str, pages: Iterable[Page], count: str) -> str:
    """Returns the document's name, how many pages it has, and the words of some."""
    shown = "".join(_page_html(page) for page in pages)
    return f"<div><strong>{escape(name)}</strong> <small>{escape(count)}</small>{shown}</div>"


def _page_html(page: Page) -> str:
    text = page.failure.message if page.failure is not None else page_text(page)
    cut = text[:MAX_SHOWN_CHARS] + (" …" if len(text) > MAX_SHOWN_CHARS else "")
    words = f'<pre style="white-space:pre-wrap">{escape(cut)}</pre>'
    return f'<div style="{_BOX}"><small>page {page.number}</small>{words}</div>'
