"""Reads what it is sent, for as long as it lives: a run over OUT/uploads whose listing never ends.

A document is on disk before it is promised, and its pages are rows of an ordinary ledger: kill the
service, start it again, and it goes on with what it had taken. Models stay loaded between documents. A run
that breaks (a full disk, a model server that is not there) is told to whoever asks, and tried again.
"""

from __future__ import annotations

import hashlib
import itertools
import logging
import queue
import secrets
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from penstock import sources
from penstock.driver import Run
from penstock.errors import Failure, PenstockError, UsageError
from penstock.page import Page
from penstock.passes.service import item_class, service_run
from penstock.photo import Photo
from penstock.plan import Plan
from penstock.serve.catalogue import Catalogue, Place
from penstock.sources.safe_names import safe_name
from penstock.store.atomic_files import store_errors, sync_folder

log = logging.getLogger(__name__)
Sent = Page | Photo

UPLOADS = "uploads"
INCOMING = ".incoming-"  # begins the name of a file that is still being sent
FOLDER_DIGITS = 16  # of a hash of name and content: what was sent has a folder of its own
AT_ONCE = 64  # documents are listed together; starting the process that counts takes a third of a second
MAX_WAITING = 5_000  # pages promised and not read: hours of work on a laptop
AGAIN_S = 30.0  # after a run broke: a disk is emptied, a model server is started, by people
END_S = 30.0  # for the pages in flight when the service ends; what is left is read after the next start


@dataclass(frozen=True, slots=True)
class Status:
    """How far a document is. `pages` is None until they were counted; `failed` wholly or in a region."""

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
        self.catalogue = Catalogue(out, follows=plan is None)
        self.error: PenstockError | None = None
        self._plan = plan
        self._lock = threading.Lock()
        self._counts: dict[str, int | None] = {}  # pages of each document that was sent, None: not counted
        self._waiting = 0  # pages that were promised and are not read; an uncounted document is one
        self._inbox: queue.SimpleQueue[Path | None] = queue.SimpleQueue()
        self._again: set[Path] = set()  # of the inbox: what was sent once more because pages had failed
        self._ending = threading.Event()
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
        self._ending.set()
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

    def documents(self, start: int = 0, limit: int | None = None) -> list[Status]:
        """What was sent, the latest first, then what else the run holds."""
        with self._lock:
            sent = list(reversed(self._counts))
        names = list(dict.fromkeys([*sent, *self.catalogue.documents()]))
        return [self._status(name) for name in names[start : None if limit is None else start + limit]]

    def status(self, name: str) -> Status | None:
        """A document's state, None if there is no such document."""
        status = self._status(name)
        return status if name in self._counts or status.pages else None

    def _status(self, name: str) -> Status:
        places = self.catalogue.places(name)
        done = sum(place.ok for place in places.values())
        return Status(name, self._counts.get(name, len(places)), done, len(places) - done)

    # taking

    @contextmanager
    def incoming(self) -> Iterator[Path]:
        """A place below OUT for a file that is being sent; what is left there is removed."""
        path = self.out / UPLOADS / f"{INCOMING}{secrets.token_hex(8)}"
        with store_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)

    def accept(self, incoming: Path, name: str, digest: str) -> Status:
        """Takes a file that has arrived. The same bytes under the same name are the same document.

        Sent again, its pages that failed are read again: a model server may have been away.
        """
        name = safe_name(name)
        folder = hashlib.sha256(f"{digest}/{name}".encode()).hexdigest()[:FOLDER_DIGITS]
        target = self.out / UPLOADS / folder / name
        document = _document(target)
        with self._lock:
            if document not in self._counts:
                with store_errors(target):
                    target.parent.mkdir(parents=True, exist_ok=True)
                    incoming.replace(target)
                    sync_folder(target.parent)
                self._promise(target)
            elif (status := self._status(document)).ready and status.failed:
                self._again.add(target)
                self._promise(target)
        return self._status(document)

    def _promise(self, path: Path) -> None:
        self._counts[_document(path)] = None
        self._waiting += 1
        self._inbox.put(path)

    # reading

    def _work(self) -> None:
        while not self._read() and not self._ending.wait(AGAIN_S):
            log.warning("trying again")

    def _read(self) -> bool:
        """One run over all that was sent and will be; false if it broke and may do better the next time."""
        assert self._plan is not None
        run = service_run(self._plan, self.out, UPLOADS)
        try:
            with closing(run.items(self._listing())) as pages:
                for item in pages:
                    self._put(item, run)
                    if self._ending.is_set():
                        break
        except PenstockError as exc:
            self.error = exc
        except BaseException as exc:  # whoever asks next is told; without it the service would only be silent
            log.exception("a fault of ours")
            self.error = PenstockError(f"{type(exc).__name__}: {exc}")
        else:
            return True
        if not self._begun.is_set():  # OUT is another's, or of another plan: that is told at once
            self._begun.set()
            return True
        log.error("nothing is read: %s", self.error)
        self._inbox.put(None)  # its listing waits there still
        return False

    def _put(self, item: Sent, run: Run[Sent]) -> None:
        self.catalogue.put(item)
        with self._lock:
            self._waiting -= 1
            idle = not self._waiting
        if idle:
            run.commit()

    def _listing(self) -> Iterator[Sent]:
        if self._begun.is_set():
            self.catalogue.start_over()  # what the run that broke had not committed is read again
        with self._lock:
            # what the last one held lies in the folder with the rest
            inbox = self._inbox = queue.SimpleQueue()
            earlier = self._earlier()
            self._counts.update((_document(path), None) for path in earlier)
            self._waiting = len(earlier)
        self.error = None
        self._begun.set()  # OUT is ours and its plan fits
        for start in range(0, len(earlier), AT_ONCE):
            yield from self._pages_of(earlier[start : start + AT_ONCE])
        while sent := self._sent(inbox):
            yield from self._pages_of(sent)

    def _sent(self, inbox: queue.SimpleQueue[Path | None]) -> list[Path]:
        """What was sent since, as soon as there is something; nothing at the end."""
        sent: list[Path | None] = []
        while not self._ending.is_set() and (not sent or (len(sent) < AT_ONCE and not inbox.empty())):
            sent.append(inbox.get())
        return [path for path in sent if path is not None and not self._ending.is_set()]

    def _earlier(self) -> list[Path]:
        """What was taken before this start, oldest first; what was half sent is thrown away."""
        folder = self.out / UPLOADS
        for half in folder.glob(f"{INCOMING}*") if not self._begun.is_set() else ():
            half.unlink(missing_ok=True)
        whole = [path for path in folder.glob("*/*") if path.is_file()]
        return sorted(whole, key=lambda path: path.stat().st_mtime_ns)

    def _pages_of(self, paths: list[Path]) -> Iterator[Sent]:
        assert self._plan is not None
        for path, items in _listed(paths, item_class(self._plan)):
            document = _document(path)
            num_pages, places = len(items), self.catalogue.places(document)
            if path in self._again:
                self._again.discard(path)
                items = [replace(item, attempt=_attempts(item, places) + 1) for item in items]
                places = {part: place for part, place in places.items() if place.ok}
                items = [item for item in items if item.part not in places]
                self.catalogue.forget(document, {item.part for item in items})
            with self._lock:
                self._counts[document] = num_pages
                self._waiting += sum(item.part not in places for item in items) - 1
            for item in items:
                if self._ending.is_set():
                    return
                yield item


def _listed(paths: list[Path], kind: type[Sent]) -> Iterator[tuple[Path, list[Sent]]]:
    """Each file with its pages; one that has none with a page that failed.

    Together, because the process that counts pages takes longer to start than to count.
    """
    left = {path.parent.resolve().name: path for path in paths}
    place = len(paths[0].parent.resolve().parts) - 1
    why = "It holds no page."
    try:
        items = sources.list_items([str(path) for path in paths], kind)
        for folder, pages in itertools.groupby(items, key=lambda item: Path(item.uri).parts[place]):
            path = left.pop(folder)
            yield path, [_ours(item, path) for item in pages]
    except UsageError as exc:  # there is no page in any of those that are left
        why = exc.message
    for path in left.values():
        failure = Failure(stage="list", kind="BadInput", message=why)
        yield path, [_ours(kind(id="", uri=str(path), document="", failure=failure), path)]


def _ours(item: Sent, path: Path) -> Sent:
    """Named by what was sent: two datasets may have the same ids of their own."""
    return replace(item, id=f"{path.parent.name}/{item.part:05d}", document=_document(path))


def _attempts(item: Sent, places: Mapping[int, Place]) -> int:
    return places[item.part].attempt if item.part in places else 0


def _document(path: Path) -> str:
    """The name of a document that was sent: two files may be called the same."""
    return f"{path.parent.name}/{path.name}"
