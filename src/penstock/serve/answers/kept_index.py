"""The index of what a service reads: brought up to date before a question is answered."""

from __future__ import annotations

import threading

from penstock.errors import UsageError
from penstock.passes.index import index_out
from penstock.passes.service import item_class
from penstock.photo import Photo
from penstock.retrieval.index_folder import FOLDER
from penstock.serve.reading.service import Service
from penstock.store.contents import CORRECTIONS
from penstock.store.corrections import changed_ns
from penstock.store.ledger import ITEMS_DIR

COMMIT_S = 30.0  # for the rows of pages that are read to reach the disk, which may be busy


class NothingRead(UsageError):
    """There is no page to search in."""


class KeptIndex:
    """Indexes the rows of a service's run, and makes the missing index of a run that is only shown.

    Thread-safe.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._lock = threading.Lock()
        self._stamp = -1  # of the rows that the index was last made of

    def update(self) -> None:
        """Indexes what was committed since the last call. Raises NothingRead where no page is read yet."""
        service, rows = self._service, self._service.out / ITEMS_DIR
        with self._lock:
            if service.takes_documents and not service.waiting:
                service.settled.wait(COMMIT_S)
            if not rows.is_dir() or self._has_photos:
                raise NothingRead("No page is read yet.", "Call parse, or wait for it.")
            stamp, made = rows.stat().st_mtime_ns, changed_ns(service.out / FOLDER)
            is_stale = service.takes_documents and stamp != self._stamp
            if made and not is_stale and changed_ns(service.out / CORRECTIONS) < made:
                return
            index_out(service.out, holds_lock=service.takes_documents)
            self._stamp = stamp

    @property
    def _has_photos(self) -> bool:
        plan = self._service.plan
        return plan is not None and item_class(plan) is Photo
