"""One run over what was given to `convert`: pages are read when a document is asked for them."""

from __future__ import annotations

import threading

from penstock.converted.workspace import PageSpool, Workspace
from penstock.documents.docjson.model import Producer
from penstock.errors import UsageError
from penstock.page import Page
from penstock.passes.in_order import PageStream


class Conversion:
    """Takes pages from a run, in source order, and keeps each with its document.

    The documents of one call share it, and with it the run: models are loaded once for all of them.
    """

    def __init__(self, stream: PageStream, workspace: Workspace, producer: Producer) -> None:
        self.workspace = workspace
        self.producer = producer
        self._stream = stream
        self._spools: dict[str, PageSpool] = {}  # in source order
        self._ended = False
        self._trouble: BaseException | None = None
        self._lock = threading.RLock()

    @property
    def names(self) -> list[str]:
        """The documents of which a page was read."""
        return list(self._spools)

    @property
    def is_closed(self) -> bool:
        return self.workspace.is_closed

    @property
    def has_ended(self) -> bool:
        return self._ended

    def begin(self, name: str) -> None:
        """Makes room for a document, if it is a new one."""
        if name not in self._spools:
            self._spools[name] = PageSpool(self.workspace, len(self._spools))

    def num_pages(self, name: str) -> int:
        """Returns how many pages of a document were read so far."""
        return len(self._spools[name])

    def page(self, name: str, place: int) -> Page:
        """Returns a page that was read; its Markdown links to crops below the workspace."""
        self._check_open()
        return self._spools[name][place]

    def is_whole(self, name: str) -> bool:
        """Whether all pages of a document are here: a later document has begun, or the run has ended."""
        return self._ended or next(reversed(self._spools)) != name

    def advance(self) -> bool:
        """Reads the next page. Returns False when there is none."""
        with self._lock:
            self._check_open()
            self._check_trouble()
            if self._ended:
                return False
            try:
                page = next(self._stream, None)
            except BaseException as exc:
                self._trouble = exc  # the run is over: what is here must not pass for a whole document
                raise
            if page is None:
                self._ended = True
                return False
            self.begin(page.document)
            self._spools[page.document].add(page)
            return True

    def close(self) -> None:
        """Ends the run and removes what it kept."""
        with self._lock:
            self._stream.close()
            for spool in self._spools.values():
                spool.close()
            self.workspace.close()

    def _check_open(self) -> None:
        if self.workspace.is_closed:
            raise UsageError(
                "The document is closed.", "Read what you need inside its `with`, or convert it again."
            )

    def _check_trouble(self) -> None:
        if isinstance(self._trouble, Exception):
            raise self._trouble
        if self._trouble is not None:  # Ctrl-C: the next caller did not press it
            raise UsageError("The reading of the document was interrupted.", "Convert it again.")
