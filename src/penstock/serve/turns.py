"""Documents that take turns, a few pages each: a long one holds up nobody's short one."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Generic, TypeVar

T = TypeVar("T")

PAGES_A_TURN = 4  # those who read them open a file for each turn


class Turns(Generic[T]):
    """The pages of documents that are not read yet, shared out fairly."""

    def __init__(self) -> None:
        self._documents: deque[Iterator[T]] = deque()

    def __bool__(self) -> bool:
        return bool(self._documents)

    def add(self, pages: Iterable[T]) -> None:
        self._documents.append(iter(pages))

    def round(self) -> Iterator[T]:
        """Yields the next pages of every document that is there now."""
        for _ in range(len(self._documents)):
            pages = self._documents.popleft()
            turn = list(islice(pages, PAGES_A_TURN))
            if len(turn) == PAGES_A_TURN:
                self._documents.append(pages)
            yield from turn
