"""The only code that calls a worker, for every executor.

Failed items pass by untouched, and so do pages that are read already. A failing batch is bisected, so one
bad page fails alone. The same ids must come back in the same order. Heavy fields go once they have had their
last reader.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

from penstock.errors import Failure, ItemError, PenstockError, WorkerDied
from penstock.item import Item
from penstock.stage import Stage, Worker

log = logging.getLogger(__name__)


class Runner:
    """Calls `worker` for `stage`. Returns the same ids in the same order, some with a failure."""

    def __init__(self, stage: Stage, worker: Worker[Any], drops: tuple[str, ...] = ()) -> None:
        self._stage = stage
        self._worker = worker
        self._drops = drops

    def __call__(self, items: list[Item]) -> list[Item]:
        results = iter(self._run([item for item in items if not self._passes(item)]))
        return [item if self._passes(item) else self._light(next(results)) for item in items]

    def _run(self, items: list[Item], died_before: bool = False) -> list[Item]:
        if not items:
            return []
        try:
            return self._checked(items, self._worker(items))
        except ItemError as exc:
            return self._after(exc, items, died_before)
        except PenstockError:
            raise  # a broken plan, missing weights, a full disk: the run's own end
        except Exception as exc:  # the seam to foreign code: whatever a worker throws costs one item
            return self._after(exc, items, died_before)

    def _after(self, exc: Exception, items: list[Item], died_before: bool) -> list[Item]:
        if len(items) > 1:  # bisect: one bad page must not fail its batch
            self._log_again(items, exc, "each half of the batch")
            middle = len(items) // 2
            return self._run(items[:middle]) + self._run(items[middle:])
        if isinstance(exc, WorkerDied) and not died_before:
            # memory may have been short because of another page: a death gets one more chance
            self._log_again(items, exc, "it")
            return self._run(items, died_before=True)
        return [_failed(items[0], self._stage.name, exc)]

    def _log_again(self, items: list[Item], exc: Exception, what: str) -> None:
        name, ids = self._stage.name, [item.id for item in items]
        log.warning(
            "retry: %s tries %s again after %s (first %s, %d in all)", name, what, exc, ids[0], len(ids),
            extra={"stage": name, "items": ids, "reason": str(exc)},
        )  # fmt: skip

    def _checked(self, sent: list[Item], got: list[Item]) -> list[Item]:
        if [item.id for item in sent] != [item.id for item in got]:
            raise ItemError(
                f"Stage {self._stage.name!r} was given {len(sent)} items, first {sent[0].id},"
                f" and returned {len(got)} that are not the same in the same order."
            )
        return got

    def _passes(self, item: Item) -> bool:
        return item.failure is not None or (item.is_read and not self._stage.takes_read)

    def _light(self, item: Item) -> Item:
        return without(item, item.heavy if item.failure is not None else self._drops)


def _failed(item: Item, stage: str, exc: Exception) -> Item:
    return replace(without(item, item.heavy), failure=Failure.of(exc, stage))


def without(item: Item, fields: tuple[str, ...]) -> Item:
    """Returns the item with these heavy fields empty."""
    change: dict[str, Any] = {field: None for field in fields if getattr(item, field) is not None}
    return replace(item, **change) if change else item
