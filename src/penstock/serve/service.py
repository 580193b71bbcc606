"""Reads what it is sent, for as long as it lives: a run over OUT/uploads whose listing never ends.

A document is on disk before it is promised, and its pages are rows of an ordinary ledger: kill the
service, start it again, and it goes on with what it had taken. Models stay loaded between documents.
"""

from __future__ import annotations

import logging
import math
import queue
import secrets
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from penstock import sources
from penstock.driver import Run
from penstock.errors import PenstockError, UsageError
from penstock.executors.local import Local
from penstock.item import Item
from penstock.names import safe_name
from penstock.plan import Plan
from penstock.serve.shelf import Shelf
from penstock.store.files import sync_folder
from penstock.trace.spans import Trace

log = logging.getLogger(__name__)

UPLOADS = "uploads"
INCOMING = ".incoming-"  # begins the name of a file that is still being sent
MOST_WAITING = 5_000  # pages promised and not read: hours of work on a laptop
END_S = 30.0  # for the pages in flight when the service ends; what is left is read after the next start


@dataclass(frozen=True, slots=True)
class Status:
    """How far a document is. `pages` is None until its pages were counted."""

    name: str
    pages: int | None
    done: int
    failed: int

    @property
    def ready(self) -> bool:
        return self.pages is not None and self.done + self.failed >= self.pages


class Service:
    """OUT over its documents. Without a plan it shows what is there and takes nothing."""

    def __init__(self, out: Path, plan: Plan | None = None) -> None:
        if plan is None and not out.is_dir():
            raise UsageError(f"{out} does not exist.", "Name a recipe to take documents: --recipe documents.")
        self.out = out
        self.shelf = Shelf(out, follows=plan is None)
        self.error: BaseException | None = None
        self._plan = plan
        self._lock = threading.Lock()
        self._counts: dict[str, int | None] = {}  # pages of each document that was sent, None: not counted
        self._waiting = 0  # pages that were promised and are not read; an uncounted document is one
        self._inbox: queue.SimpleQueue[Path | None] = queue.SimpleQueue()
        self._ending = False
        self._begun = threading.Event()
        self._thread = threading.Thread(target=self._work, name="serve", daemon=True)

    def __enter__(self) -> Service:
        if self._plan is not None:
            self._thread.start()
            self._begun.wait()
            if self.error is not None:
                raise self.error
        return self

    def __exit__(self, *_: object) -> None:
        self._ending = True
        self._inbox.put(None)
        if self._thread.is_alive():
            self._thread.join(END_S)

    @property
    def takes_documents(self) -> bool:
        return self._plan is not None

    @property
    def waiting(self) -> int:
        return self._waiting

    # what is there

    def documents(self, start: int = 0, most: int | None = None) -> list[Status]:
        """What was sent, the latest first, then what else the run holds."""
        with self._lock:
            sent = list(reversed(self._counts))
        names = list(dict.fromkeys([*sent, *self.shelf.documents()]))
        return [self._status(name) for name in names[start : None if most is None else start + most]]

    def status(self, name: str) -> Status | None:
        """A document's state, None if there is no such document."""
        status = self._status(name)
        return status if name in self._counts or status.pages else None

    def _status(self, name: str) -> Status:
        parts = self.shelf.parts(name)
        done = sum(parts.values())
        return Status(name, self._counts.get(name, len(parts)), done, len(parts) - done)

    # taking

    def incoming(self) -> Path:
        """A place below OUT for a file that is being sent."""
        folder = self.out / UPLOADS
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{INCOMING}{secrets.token_hex(8)}"

    def accept(self, incoming: Path, name: str, digest: str) -> Status:
        """Takes a file that has arrived. The same bytes under the same name are the same document."""
        target = self.out / UPLOADS / digest[:16] / safe_name(name)
        document = _document(target)
        with self._lock:
            if document not in self._counts:
                target.parent.mkdir(parents=True, exist_ok=True)
                incoming.replace(target)
                sync_folder(target.parent)
                self._counts[document] = None
                self._waiting += 1
                self._inbox.put(target)
        return self._status(document)

    # reading

    def _work(self) -> None:
        assert self._plan is not None
        run = Run(self._plan, Local(Trace(), stall_s=math.inf), self.out, facts={"inputs": [UPLOADS]})
        pages = run.pages(self._listing())
        try:
            for item in pages:
                self.shelf.put(item)
                self._count(-1)
                if not self._waiting:
                    run.commit()
                if self._ending:
                    break
            pages.close()  # type: ignore[attr-defined]
        except BaseException as exc:  # whoever asks next is told; without it the service would only be silent
            log.exception("the service no longer reads")
            self.error = (
                exc if isinstance(exc, PenstockError) else PenstockError(f"{type(exc).__name__}: {exc}")
            )
        finally:
            self._begun.set()

    def _count(self, pages: int) -> None:
        with self._lock:
            self._waiting += pages

    def _listing(self) -> Iterator[Item]:
        earlier = self._earlier()
        with self._lock:
            self._counts.update((_document(path), None) for path in earlier)
            self._waiting += len(earlier)
        self._begun.set()  # OUT is ours and its plan fits
        for path in earlier:
            yield from self._pages_of(path)
        while (sent := self._inbox.get()) is not None:
            yield from self._pages_of(sent)

    def _earlier(self) -> list[Path]:
        """What was taken before this start, oldest first; what was half sent is thrown away."""
        folder = self.out / UPLOADS
        for half in folder.glob(f"{INCOMING}*"):
            half.unlink(missing_ok=True)
        whole = [path for path in folder.glob("*/*") if path.is_file()]
        return sorted(whole, key=lambda path: path.stat().st_mtime_ns)

    def _pages_of(self, path: Path) -> Iterator[Item]:
        document = _document(path)
        items = [replace(item, document=document) for item in sources.list_items([str(path)])]
        read = self.shelf.parts(document)
        with self._lock:
            self._counts[document] = len(items)
            self._waiting += sum(item.part not in read for item in items) - 1
        for item in items:
            if self._ending:
                return
            yield item


def _document(path: Path) -> str:
    """The name of a document that was sent: two files may be called the same."""
    return f"{path.parent.name[:8]}/{path.name}"
