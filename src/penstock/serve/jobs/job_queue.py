"""Jobs that wait for a run of their own, shared out fairly among those who sent them."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager

from penstock.serve.jobs.record import JobRecord


class JobQueue:
    """Any thread puts, several take. `end` wakes the takers for good.

    The next job is of the owner with the fewest at work; of several, the one who waited longest. A job that
    is put again while it is at work waits until that is over.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, deque[JobRecord]] = {}  # by owner; who was served last is last
        self._at_work: dict[str, str] = {}  # owners by job
        self._changed = threading.Condition()
        self._ended = False

    def __len__(self) -> int:
        with self._changed:
            return sum(map(len, self._waiting.values()))

    def put(self, record: JobRecord) -> None:
        with self._changed:
            self._waiting.setdefault(record.owner, deque()).append(record)
            self._changed.notify_all()

    def end(self) -> None:
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    @contextmanager
    def next(self) -> Iterator[JobRecord | None]:
        """Gives the next job, which is at work until the block ends. None: this is the end."""
        with self._changed:
            while (record := self._take()) is None and not self._ended:
                self._changed.wait()
        try:
            yield record if not self._ended else None
        finally:
            with self._changed:
                if record is not None:
                    del self._at_work[record.id]
                self._changed.notify_all()

    def _take(self) -> JobRecord | None:
        busy = Counter(self._at_work.values())
        for owner in sorted(self._waiting, key=busy.__getitem__):
            record = next((one for one in self._waiting[owner] if one.id not in self._at_work), None)
            if record is not None:
                others = self._waiting.pop(owner)
                others.remove(record)
                if others:
                    self._waiting[owner] = others
                self._at_work[record.id] = owner
                return record
        return None
