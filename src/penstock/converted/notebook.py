"""A converted document, and the progress of a run, as a notebook shows them.

A document is a stranger's: its words and its name are escaped, and nothing of it is fetched or run.
"""

from __future__ import annotations

import importlib
import math
import sys
import time
from collections.abc import Callable, Iterable
from html import escape
from typing import Any

from penstock.converted.outline import page_text
from penstock.page import Page
from penstock.passes.in_order import ParseProgress
from penstock.trace.progress import DRAW_EVERY_S, RecentRate, RunState, last_line, running_line

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


class NotebookBar:
    """A progress bar in a notebook's cell: a bar where HTML is shown, a line of words elsewhere.

    The first page that comes draws it; after that it changes in place, four times a second at most.
    """

    def __init__(self, display: Callable[..., Any], clock: Callable[[], float] = time.monotonic) -> None:
        self._display = display
        self._clock = clock
        self._began = clock()
        self._drawn_at = -math.inf
        self._rate = RecentRate()
        self._state = RunState()
        self._cell: Any = None

    def __call__(self, progress: ParseProgress) -> None:
        """Takes how far the run is."""
        elapsed_s = self._clock() - self._began
        done = progress.done - progress.failed - progress.resumed
        self._state = RunState(done, progress.failed, progress.resumed, progress.total, elapsed_s=elapsed_s)
        self._rate.add(self._state)
        if elapsed_s - self._drawn_at >= DRAW_EVERY_S or progress.done == progress.total:
            self._drawn_at = elapsed_s
            self._draw()

    def __repr__(self) -> str:
        if self._state.left == 0:
            return last_line(self._state)
        return running_line(self._state, self._rate.per_second(self._state))

    def _repr_html_(self) -> str:
        reached, total = self._state.finished + self._state.skipped, self._state.total
        known = "" if total is None else f' value="{reached}" max="{total}"'
        return f"<div><progress{known}></progress> <small>{escape(repr(self))}</small></div>"

    def _draw(self) -> None:
        if self._cell is None:
            self._cell = self._display(self, display_id=True)
        else:
            self._cell.update(self)


def notebook_bar() -> NotebookBar | None:
    """Returns a bar if this program is a notebook's kernel; None in scripts and terminals."""
    ipython = sys.modules.get("IPython")  # a kernel has imported it; nothing else needs it
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    return NotebookBar(importlib.import_module("IPython.display").display)
